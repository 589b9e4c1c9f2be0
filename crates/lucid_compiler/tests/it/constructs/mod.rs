// SPDX-License-Identifier: Apache-2.0
//! The constructs of Lucid, each with a small program that uses it and how it is compiled on each
//! target. A test compiles every program for every target and compares; the table in the
//! documentation is written from this list. Programs are in modules by subject.

mod declarations;
mod expressions;
mod statements;

use lucid_compiler::Backend;
use source::Code;
use std::fmt::Write as _;

/// How a construct is compiled on a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// It compiles.
    Compiles,
    /// It compiles to something that takes a word of explanation.
    As(&'static str),
    /// It is left out, with this warning.
    LeftOut(Code),
    /// It is refused with this error.
    Refused(Code),
}

/// A construct of the language.
#[derive(Clone, Copy, Debug)]
pub struct Construct {
    /// What it is called, with an example of its spelling.
    pub name: &'static str,
    /// A program that uses it. Symbolics `n` and `w` are 4 and 8; there is a file `memops.dpt`.
    pub source: &'static str,
    /// On v1model.
    pub v1model: On,
    /// On Tofino.
    pub tna: On,
}

impl Construct {
    /// How it is compiled on a target.
    pub fn on(&self, target: Backend) -> On {
        match target {
            Backend::V1Model => self.v1model,
            Backend::Tna => self.tna,
        }
    }
}

const fn both(name: &'static str, source: &'static str) -> Construct {
    Construct { name, source, v1model: On::Compiles, tna: On::Compiles }
}

const fn on(name: &'static str, source: &'static str, v1model: On, tna: On) -> Construct {
    Construct { name, source, v1model, tna }
}

/// All constructs, by subject.
pub const CONSTRUCTS: &[(&str, &[Construct])] = &[
    ("Declarations", declarations::LIST),
    ("Statements and events", statements::LIST),
    ("Types, expressions and built-ins", expressions::LIST),
];

/// What a code stands for: the title of its explanation.
fn title(code: Code) -> &'static str {
    let own = lucid_compiler::codes::EXPLANATIONS;
    let all = own.iter().chain(lucid_compiler::atomic::codes::EXPLANATIONS);
    all.into_iter().find(|one| one.code == code).map_or("", |one| one.title)
}

/// The table of the documentation, as markdown.
pub fn table() -> String {
    let mut text = String::from(
        "# Lucid constructs by target\n\nThe test `constructs` of crate `lucid_compiler` writes this file \
         (`PLANEWRIGHT_BLESS=1`); do not edit it. The test compiles a program for each line, for both \
         targets. The reference interpreter (`plane run --engine reference`) runs all of them. \
         `plane explain CODE` explains a code. A construct that compiles may still need more stages \
         than a pipeline has; `plane layout` shows the stages.\n",
    );
    for (subject, constructs) in CONSTRUCTS {
        let _ = write!(text, "\n## {subject}\n\n| construct | v1model | Tofino |\n");
        text.push_str("| --- | --- | --- |\n");
        for construct in *constructs {
            let cell = |on: On| match on {
                On::Compiles => "yes".to_owned(),
                On::As(what) => format!("yes: {what}"),
                On::LeftOut(code) => format!("left out ({code}): {}", title(code)),
                On::Refused(code) => format!("no ({code}): {}", title(code)),
            };
            let name = construct.name.replace('|', "\\|");
            let (v1model, tna) = (cell(construct.v1model), cell(construct.tna));
            let _ = writeln!(text, "| {name} | {v1model} | {tna} |");
        }
    }
    text
}
