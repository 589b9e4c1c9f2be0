// SPDX-License-Identifier: Apache-2.0
//! [`Forms`]: one program in several forms that must mean the same: the IR as lowered, simplified with fused register
//! accesses, lowered again from the printed program, with calls inlined, and after edits that keep the meaning.

use crate::edits::edited;
use ir::Program;
use ir::ready::ReadyProgram;
use p4::inline::{Inlined, Obstacle};
use p4::interfaces::InterfacesOnly;
use p4::preprocessor::PreprocessorOptions;
use source::{Diagnostics, RenderOptions, Severity, SourceMap};
use std::cell::OnceCell;
use std::fmt;
use std::sync::Arc;
use testing::Choices;

/// Which form of a program a subject runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As lowered.
    Lowered,
    /// Simplified, with register accesses fused, as `plane run` has it.
    Simplified,
    /// Printed, read, lowered and simplified again.
    Reprinted,
    /// With all calls inlined that can be, printed, read, lowered and simplified again.
    Inlined,
    /// After random edits of the typed program that change nothing of what it does, lowered and simplified.
    Rewritten,
}

/// Why a form cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormError {
    /// The front end or lowering refused the program.
    Rejected(String),
    /// The verifier found something wrong with the IR.
    Unverified(String),
    /// The printed program was refused.
    PrintRejected(String),
    /// The program with its calls inlined was refused.
    InliningRejected(String),
    /// An edit was refused, or the edited program was.
    RewriteRejected(String),
}

impl fmt::Display for FormError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FormError::Rejected(why) => write!(formatter, "the program is refused: {why}"),
            FormError::Unverified(why) => write!(formatter, "the IR does not verify: {why}"),
            FormError::PrintRejected(why) => {
                write!(formatter, "the printed program is refused: {why}")
            }
            FormError::InliningRejected(why) => {
                write!(formatter, "the program with its calls inlined is refused: {why}")
            }
            FormError::RewriteRejected(why) => {
                write!(formatter, "the rewritten program is refused: {why}")
            }
        }
    }
}

/// A compiled program; forms other than the first are made when they are asked for.
#[derive(Debug)]
pub struct Forms {
    ready: ReadyProgram,
    map: SourceMap,
    inlined: OnceCell<Result<(Inlined, Arc<Program>), FormError>>,
    simplified: OnceCell<Result<Arc<Program>, FormError>>,
    reprinted: OnceCell<Result<Arc<Program>, FormError>>,
    rewritten: OnceCell<Result<Arc<Program>, FormError>>,
}

fn compile(text: &str) -> Result<(ReadyProgram, SourceMap), String> {
    let options = PreprocessorOptions::default();
    let mut compiled =
        p4::compile::compile("program.p4", text.to_string(), &InterfacesOnly, &options);
    let ready = ReadyProgram::of(&mut compiled);
    if let Some(error) = compiled.diagnostics.iter().find(|each| each.severity == Severity::Error) {
        let line = compiled.map.location(error.primary.span).map_or(0, |place| place.line);
        let shown = match line.checked_sub(1).and_then(|at| text.lines().nth(at as usize)) {
            Some(shown) => format!("\n    {}", shown.trim()),
            None => String::new(),
        };
        return Err(format!("line {line}: {}: {}{shown}", error.code, error.message));
    }
    let ready = ready.ok_or_else(|| "there is no main".to_string())?;
    Ok((ready, compiled.map))
}

fn verified(program: &Arc<Program>) -> Result<Arc<Program>, FormError> {
    match ir::verify(program) {
        Ok(()) => Ok(program.clone()),
        Err(errors) => Err(FormError::Unverified(
            errors.first().map(|error| error.to_string()).unwrap_or_default(),
        )),
    }
}

impl Forms {
    /// Compiles a program's text.
    pub fn of_text(text: &str) -> Result<Forms, FormError> {
        let (ready, map) = compile(text).map_err(FormError::Rejected)?;
        verified(ready.lowered())?;
        Ok(Forms {
            ready,
            map,
            inlined: OnceCell::new(),
            simplified: OnceCell::new(),
            reprinted: OnceCell::new(),
            rewritten: OnceCell::new(),
        })
    }

    /// The IR as lowered.
    pub fn lowered(&self) -> &Arc<Program> {
        self.ready.lowered()
    }

    /// The checked program.
    pub fn typed(&self) -> &Arc<p4::typed::TypedProgram> {
        self.ready.typed()
    }

    /// A form.
    pub fn form(&self, form: Form) -> Result<Arc<Program>, FormError> {
        match form {
            Form::Lowered => Ok(self.ready.lowered().clone()),
            Form::Simplified => {
                self.simplified.get_or_init(|| verified(self.ready.program())).clone()
            }
            Form::Reprinted => self
                .reprinted
                .get_or_init(|| {
                    let printed = p4::printer::print(&self.ready.typed().program);
                    let (ready, _) = compile(&printed).map_err(FormError::PrintRejected)?;
                    verified(ready.program())
                })
                .clone(),
            Form::Inlined => self.inlined().map(|(_, program)| program.clone()),
            Form::Rewritten => self.rewritten.get_or_init(|| self.rewrite()).clone(),
        }
    }

    /// The program with its calls inlined, and what was inlined.
    pub fn inlined(&self) -> Result<&(Inlined, Arc<Program>), FormError> {
        let made = self.inlined.get_or_init(|| {
            let inlined = p4::inline::inline_all(self.ready.typed(), self.map.clone());
            let inlined = inlined.map_err(|(found, _)| {
                let first = found.iter().find(|each| each.severity == Severity::Error);
                FormError::InliningRejected(first.map_or(String::new(), |one| one.message.clone()))
            })?;
            let refused = |obstacle: &Obstacle| matches!(obstacle, Obstacle::Refused(_));
            if let Some((_, obstacle)) = inlined.refused.iter().find(|(_, why)| refused(why)) {
                return Err(FormError::InliningRejected(obstacle.to_string()));
            }
            let printed = inlined.program.print();
            let (ready, _) = compile(&printed)
                .map_err(|why| FormError::InliningRejected(format!("{why}\n{printed}")))?;
            let program = verified(ready.program())?;
            Ok((inlined, program))
        });
        made.as_ref().map_err(Clone::clone)
    }

    /// The edits follow from the program alone, so that a program that is made small is edited alike.
    fn rewrite(&self) -> Result<Arc<Program>, FormError> {
        let typed = self.ready.typed();
        let mut choices = Choices::from_seed(u64::from(typed.program.node_count));
        let rewritten =
            edited(typed, &self.map, &mut choices).map_err(FormError::RewriteRejected)?;
        let mut found = Diagnostics::new();
        let ready =
            ReadyProgram::lower(rewritten.program.clone(), &mut found).ok_or_else(|| {
                let options = RenderOptions::default();
                FormError::RewriteRejected(source::render_text(&rewritten.map, &found, options))
            })?;
        verified(ready.program())
    }
}
