// SPDX-License-Identifier: Apache-2.0
//! The compiler from P4R to P4_16 (Mantis §4, Mantis §5). It makes two programs of one text. The program *as written* has values,
//! selectors and measurements, and reads a malleable field by a chain of conditions; its tables are those of the text, and
//! the control plane speaks of it. The program *as run* has expanded and versioned tables. [`Plan`] says how the second
//! carries out what is said of the first.

mod actions;
mod applies;
pub mod architectures;
mod ends;
mod entries;
mod finishing;
mod groups;
mod init;
mod joined_ends;
mod loads;
mod measure;
mod names;
mod packing;
mod plan;
mod references;
mod register_actions;
mod register_writes;
mod registers;
mod resolve;
mod tables;
mod tails;
mod translator;
mod usage;

use crate::interface::Interface;
use crate::language::{Gress, P4rProgram};
use finishing as finish_control;
use ir::ready::ReadyProgram;
pub(crate) use names::working_copy_group;
use names::{STATE, STATE_TYPE};
use p4::ast::{Argument, Declaration, DeclarationKind, Expression, ExpressionKind, NodeId};
use p4::compile::Compilation;
use p4::rewrite::Rewritten;
use p4::typed::{Callee, TypedProgram};
use p4::visit_mut::{VisitMut, walk_expression};
pub use packing::{BinLimits, sorted_first_fit};
pub use plan::*;
use source::{Diagnostics, SourceMap, Span};
use std::collections::BTreeSet;
use tables::ExpandedTable;
use translator::{Choice, Translator};

/// Which program to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The one that the control plane speaks of.
    Written,
    /// The one that runs.
    Run,
}

/// Limits of a target that the compiler keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of the arguments of an init action.
    pub init: BinLimits,
    /// Of the combinations of alternatives for which actions and rows are expanded. Beyond, fields are loaded in front of
    /// the table or the action.
    pub combinations: usize,
}

/// Combinations of alternatives that are expanded by default.
const COMBINATIONS: usize = 64;

impl Limits {
    /// Those of an architecture.
    pub fn of(architecture: &str) -> Limits {
        let description = ir::architecture::named(architecture);
        let bits = description.and_then(|description| description.action_data_bits);
        let init = BinLimits { bits: bits.unwrap_or(u32::MAX), items: usize::MAX };
        Limits { init, combinations: COMBINATIONS }
    }
}

/// A compiled P4R program.
#[derive(Clone, Debug)]
pub struct CompiledProgram {
    /// The program as written.
    pub written: ReadyProgram,
    /// The program as run.
    pub run: ReadyProgram,
    /// The program as run, as text that other compilers take.
    pub text: String,
    /// The program as written, as text.
    pub written_text: String,
    /// The files of both, for messages.
    pub map: SourceMap,
    /// How the one carries out the other.
    pub plan: Plan,
    /// What reactions see.
    pub interface: Interface,
    /// Warnings about the program as written.
    pub warnings: Diagnostics,
}

/// One translated program.
struct Translation {
    rewritten: Rewritten,
    parts: PlannedParts,
}

/// What the controls and registers of a program become, by local names.
#[derive(Default)]
struct PlannedParts {
    tables: Vec<ExpandedTable>,
    pipelines: Vec<PipelinePlan>,
    packs: Vec<MeasuredPack>,
    registers: Vec<(NodeId, MeasuredRegister)>,
}

/// Compiles a program.
///
/// # Errors
///
/// What is wrong with it, with the map to show it with.
#[allow(clippy::result_large_err, reason = "once a program, and then the run is over")]
pub fn compile(
    program: &P4rProgram,
    limits: Limits,
) -> Result<CompiledProgram, (Diagnostics, SourceMap)> {
    if let Some(error) = architectures::unsupported(program) {
        let mut found = Diagnostics::new();
        found.push(error);
        return Err((found, program.map.clone()));
    }
    let written = translate(program, Mode::Written, limits)?;
    let run = translate(program, Mode::Run, limits)?;
    let written_text = written.rewritten.print();
    let text = run.rewritten.print();
    let mut compilation = Compilation {
        map: written.rewritten.map.clone(),
        diagnostics: Diagnostics::new(),
        program: Some(written.rewritten.program.clone()),
        macros: Vec::new(),
    };
    let ready_written = ReadyProgram::of(&mut compilation);
    let warnings = compilation.diagnostics;
    let Some(ready_written) = ready_written.filter(|_| !warnings.has_errors()) else {
        return Err((warnings, compilation.map));
    };
    let mut found = Diagnostics::new();
    let ready_run = ReadyProgram::lower(run.rewritten.program.clone(), &mut found);
    let map = run.rewritten.map.clone();
    let Some(ready_run) = ready_run.filter(|_| !found.has_errors()) else {
        return Err((found, map));
    };
    let (plan, interface) = match resolve::resolve(program, &run, &ready_written, &ready_run) {
        Ok(resolved) => resolved,
        Err(found) => return Err((found, map)),
    };
    Ok(CompiledProgram {
        written: ready_written,
        run: ready_run,
        text,
        written_text,
        map,
        plan,
        interface,
        warnings,
    })
}

#[allow(clippy::result_large_err, reason = "once a program, and then the run is over")]
fn translate(
    program: &P4rProgram,
    mode: Mode,
    limits: Limits,
) -> Result<Translation, (Diagnostics, SourceMap)> {
    let mut translator = Translator::new(program, mode, limits);
    if translator.style == architectures::Style::Tna {
        translator.refuse_wide_cells();
    }
    let mut parts = PlannedParts::default();
    let all: Vec<Declaration> = program.typed.program.declarations.clone();
    let mut is_first = true;
    for declaration in &all {
        if mode == Mode::Run && translator.is_applied_while_measuring(declaration.id) {
            translator.refuse_exits(declaration);
        }
        match &declaration.kind {
            DeclarationKind::Extension(_) => {
                let removed = translator.rewriter.remove(declaration.id);
                debug_assert!(removed.is_ok(), "{removed:?}");
            }
            DeclarationKind::Control(_) if translator.usage.needing.contains(&declaration.id) => {
                if std::mem::take(&mut is_first) {
                    let state = translator.state_type();
                    let put = translator.rewriter.insert_before(declaration.id, state);
                    debug_assert!(put.is_ok(), "{put:?}");
                }
                translate_control(&mut translator, declaration, mode, &mut parts);
            }
            DeclarationKind::Control(_) => translator.read_copies(declaration),
            DeclarationKind::Struct(_) => translator.add_copies(declaration),
            DeclarationKind::Instance { .. } => {
                if translator.actions.contains_key(&declaration.id) {
                    let mut changed = declaration.clone();
                    translator.return_what_is_written(&mut changed);
                    let replaced = translator.rewriter.replace(declaration.id, changed);
                    debug_assert!(replaced.is_ok(), "{replaced:?}");
                }
                if let Some((node, register, text)) = translator.register_copies(declaration) {
                    let copies = translator.declarations(Span::NONE, &text);
                    let put = translator.rewriter.insert_after(declaration.id, copies);
                    debug_assert!(put.is_ok(), "{put:?}");
                    parts.registers.push((node, register));
                }
            }
            _ => {}
        }
    }
    let Translator { rewriter, found, faults, .. } = translator;
    if found.has_errors() || faults.has_errors() {
        let map = rewriter.map().clone();
        let mut all = found;
        all.append(faults);
        return Err((all, map));
    }
    let rewritten = rewriter.finish()?;
    Ok(Translation { rewritten, parts })
}

fn translate_control(
    translator: &mut Translator<'_>,
    declaration: &Declaration,
    mode: Mode,
    parts: &mut PlannedParts,
) {
    let id = declaration.id;
    let mut changed = declaration.clone();
    let mut expanded = Vec::new();
    if let DeclarationKind::Control(control) = &mut changed.kind {
        translator.plan_loads(control);
        match mode {
            Mode::Run => {
                expanded = translator.expand_tables(control);
                applies::Applies { translator, tables: &expanded }.control(control);
            }
            Mode::Written => finish_control::name_keys(translator, control),
        }
        parts.registers.extend(translator.mirror_registers(control));
    }
    translator.replace_references(&mut changed, &Choice::new(), false);
    translator.declare_variables(&mut changed);
    let pipelines: Vec<Gress> = {
        let pipelines = translator.program.pipelines.iter();
        pipelines.filter(|pipeline| pipeline.control == id).map(|pipeline| pipeline.gress).collect()
    };
    PassState { translator }.declaration(&mut changed);
    if let DeclarationKind::Control(control) = &mut changed.kind {
        match pipelines.first() {
            Some(gress) => {
                parts.packs.extend(translator.add_measurements(*gress, control));
                parts.pipelines.push(translator.add_init(*gress, control, mode));
            }
            None => {
                let text = format!("control x(inout {STATE_TYPE} {STATE}) {{ apply {{ }} }}");
                let made = translator.declarations(Span::NONE, &text).pop();
                if let Some(Declaration { kind: DeclarationKind::Control(made), .. }) = made {
                    control.signature.parameters.extend(made.signature.parameters);
                }
            }
        }
        finish_control::remove_unused_actions(control, &expanded);
    }
    parts.tables.extend(expanded);
    let replaced = translator.rewriter.replace(id, changed);
    debug_assert!(replaced.is_ok(), "{replaced:?}");
}

/// Passes the state to controls that need it.
struct PassState<'t, 'p> {
    translator: &'t mut Translator<'p>,
}

impl PassState<'_, '_> {
    fn applies_needing(&self, typed: &TypedProgram, expression: &Expression) -> bool {
        let needing: &BTreeSet<NodeId> = &self.translator.usage.needing;
        match typed.calls.get(&self.translator.model(expression.id)).map(|call| call.callee) {
            Some(Callee::BlockApply(node) | Callee::DirectApply(node)) => needing.contains(&node),
            _ => false,
        }
    }
}

impl VisitMut for PassState<'_, '_> {
    fn expression(&mut self, expression: &mut Expression) {
        let typed = self.translator.program.typed.clone();
        if self.applies_needing(&typed, expression) {
            let span = expression.span;
            let state = self.translator.expression(span, STATE, Vec::new());
            if let (ExpressionKind::Call(call), Some(value)) = (&mut expression.kind, state) {
                let is_named = call.arguments.iter().any(|argument| argument.name.is_some());
                let name = is_named.then(|| p4::ast::Name { text: STATE.into(), span });
                call.arguments.push(Argument { name, value });
            }
        }
        walk_expression(self, expression);
    }
}
