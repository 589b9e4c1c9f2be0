// SPDX-License-Identifier: Apache-2.0
//! Errors of controllers, as diagnostics at their place in the network file.

use super::interface::NoLine;
use source::{Code, Diagnostic, Explanation, Span, printable};

/// A line of a controller program is not what the protocol has.
pub const WRONG_LINE: Code = Code("NW-E0420");
/// A switch refused the command of a controller.
pub const COMMAND_FAILED: Code = Code("NW-E0421");
/// The program of a controller cannot run.
pub const NO_PROGRAM: Code = Code("NW-E0422");

pub(crate) const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: WRONG_LINE,
        title: "a line of a controller program is not one of the protocol",
        text: "A controller program writes one JSON object a line: a command for a switch, a packet, or the end of its turn, \
               `{\"done\": true}` or `{\"wake_ps\": 2000000}`. docs/networks.md lists the fields. What is meant for people \
               belongs to standard error.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: COMMAND_FAILED,
        title: "a switch refused the command of a controller",
        text: "Commands are those of docs/control-commands.md; a note has the reason. A program whose command has an `id` gets \
               the reason as a result instead, and the run goes on.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: NO_PROGRAM,
        title: "the program of a controller cannot run",
        text: "The program could not be started, ended during the run, or wrote nothing for 10 s of real time while the \
               simulation waited for the end of its turn. Many languages keep what a program writes in a buffer: flush \
               standard output after each turn.",
        wrong: "",
        right: "",
    },
];

/// Longer lines are cut in messages.
const MAX_LINE_LENGTH: usize = 200;

/// A controller in messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Who<'c> {
    pub name: &'c str,
    pub span: Span,
}

/// A mistake in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    pub what: String,
    pub help: String,
}

impl Mistake {
    pub fn new(what: impl Into<String>, help: impl Into<String>) -> Mistake {
        Mistake { what: what.into(), help: help.into() }
    }
}

/// Why a switch did not carry out a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub code: Option<Code>,
    pub why: String,
    pub help: Option<String>,
}

impl From<String> for Refusal {
    fn from(why: String) -> Refusal {
        Refusal { code: None, why, help: None }
    }
}

/// A line of a controller program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// From 1, of all its lines.
    pub number: u64,
    pub text: String,
}

impl Line {
    fn note(&self) -> String {
        let mut text: String = self.text.chars().take(MAX_LINE_LENGTH).collect();
        if text.len() < self.text.len() {
            text.push_str("...");
        }
        format!(
            "line {} of its standard output: {}",
            self.number,
            printable(&text, MAX_LINE_LENGTH)
        )
    }
}

pub(super) fn wrong_line(who: Who<'_>, line: &Line, mistake: &Mistake) -> Diagnostic {
    let message = format!("controller `{}`: {}", who.name, mistake.what);
    let error = Diagnostic::error(WRONG_LINE, who.span, message).note(line.note());
    match mistake.help.is_empty() {
        true => error,
        false => error.help(mistake.help.clone()),
    }
}

/// A command of a program that failed, and that has no `id`.
pub(super) fn command_failed(who: Who<'_>, line: &Line, refusal: &Refusal) -> Diagnostic {
    let message = format!("controller `{}`: a switch refused its command", who.name);
    let error = Diagnostic::error(COMMAND_FAILED, who.span, message).note(line.note());
    let Refusal { code, why, help } = refusal;
    let error = error.note(match code {
        Some(code) => format!("{code}: {why}"),
        None => why.clone(),
    });
    let error = help.iter().fold(error, |error, help| error.help(help.clone()));
    error.help("give the command an `id` if the program shall get the error as a result")
}

/// Commands at a time that failed.
pub(super) fn commands_wrong(who: Who<'_>, place: Span, errors: &[String]) -> Diagnostic {
    let message = format!("the commands of controller `{}` are wrong", who.name);
    let error = Diagnostic::error(COMMAND_FAILED, place, message);
    errors.iter().fold(error, |error, each| error.note(each.clone()))
}

/// A program without a line; `None` if the user interrupted it.
pub(super) fn no_line(who: Who<'_>, why: NoLine) -> Option<Diagnostic> {
    match why {
        NoLine::Failed { what, help } => {
            let message = format!("controller `{}`: {what}", who.name);
            Some(Diagnostic::error(NO_PROGRAM, who.span, message).help(help))
        }
        NoLine::Interrupted => None,
    }
}
