// SPDX-License-Identifier: Apache-2.0
//! Rewrites that leave the meaning of a program as it is, to test `p4::rewrite` on any program: nothing
//! changed, everything copied, everything renamed, and random edits that do nothing; and what must
//! hold of the first three.

use crate::differential::choices::Choices;
use ir::Program;
use ir::ready::ReadyProgram;
use p4::ast::{
    Block, Declaration, DeclarationKind, DeclaredName, EnumMember, Field, KeyElement, Node,
    Parameter, State, Statement, StatementKind, TypeRef, TypeRefKind, Variable,
};
use p4::parser::pieces::tokens_at;
use p4::printer::print;
use p4::rewrite::{ControlPlaneName, EditError, Problem, Rewriter, Rewritten};
use p4::typed::{Definition, TypedProgram};
use p4::visit::{Visit, walk_program};
use source::{Diagnostics, RenderOptions, SourceMap, Span};
use std::any::Any;
use std::sync::Arc;

/// What must hold for every accepted program: unchanged it prints and lowers to the same texts, and so it
/// does copied; renamed it is accepted, and a control plane sees no difference; pruned it is accepted.
/// `lowered` is its IR, where it has a `main`.
///
/// # Errors
///
/// What does not hold, as text.
pub fn check(
    typed: &Arc<TypedProgram>,
    map: &SourceMap,
    lowered: Option<&Program>,
) -> Result<(), String> {
    let printed = print(&typed.program);
    for (name, rewritten) in [("unchanged", unchanged(typed, map)), ("copied", copied(typed, map))]
    {
        let rewritten = rewritten.map_err(|why| format!("{name}: {why}"))?;
        if print(&rewritten.program.program) != printed {
            return Err(format!("{name}: prints differently"));
        }
        let text = |program: &Program| match name {
            // All nodes are as they were, so even the origins are.
            "unchanged" => ir::text::print(program),
            _ => ir::text::print_without_origins(program),
        };
        let again = lower(&rewritten).map_err(|why| format!("{name}: {why}"))?;
        if again.as_deref().map(text) != lowered.map(text) {
            return Err(format!("{name}: lowers differently"));
        }
    }
    let rewritten = renamed(typed, map).map_err(|why| format!("renamed: {why}"))?;
    let again = lower(&rewritten).map_err(|why| format!("renamed: {why}"))?;
    let old = lowered.map(control_plane_names).unwrap_or_default();
    let new = again.as_deref().map(control_plane_names).unwrap_or_default();
    if let Some((old, new)) = old.iter().zip(&new).find(|(old, new)| old != new) {
        return Err(format!("renamed: the control plane sees {new} instead of {old}"));
    }
    if old.len() != new.len() {
        return Err("renamed: the control plane sees more or less".to_owned());
    }
    let mut rewriter = Rewriter::of(typed, map.clone());
    rewriter.prune();
    let rewritten = finished(rewriter).map_err(|why| format!("pruned: {why}"))?;
    lower(&rewritten).map_err(|why| format!("pruned: {why}"))?;
    Ok(())
}

/// The IR of a program with a `main`.
fn lower(rewritten: &Rewritten) -> Result<Option<Arc<Program>>, String> {
    let mut found = Diagnostics::new();
    let ready = ReadyProgram::lower(rewritten.program.clone(), &mut found);
    match found.has_errors() {
        true => Err(source::render_text(&rewritten.map, &found, RenderOptions::default())),
        false => Ok(ready.map(|ready| ready.lowered().clone())),
    }
}

/// What a control plane calls by name.
fn control_plane_names(program: &Program) -> Vec<String> {
    let mut names = Vec::new();
    for table in &program.tables {
        names.push(format!("table {}", table.name));
        names.extend(table.keys.iter().map(|key| format!("key {}", key.name)));
    }
    for action in &program.actions {
        names.push(format!("action {}", action.name));
        names.extend(action.parameters.iter().map(|parameter| format!("data {}", parameter.name)));
    }
    names.extend(program.registers.iter().map(|register| format!("register {}", register.name)));
    names.extend(program.counters.iter().map(|counter| format!("counter {}", counter.name)));
    names.extend(program.meters.iter().map(|meter| format!("meter {}", meter.name)));
    names
}

/// The program with nothing changed.
///
/// # Errors
///
/// What the checker says, as text.
pub fn unchanged(typed: &Arc<TypedProgram>, map: &SourceMap) -> Result<Rewritten, String> {
    finished(Rewriter::of(typed, map.clone()))
}

/// The program with a copy in the place of each declaration of its own.
///
/// # Errors
///
/// What the rewriter or the checker says, as text.
pub fn copied(typed: &Arc<TypedProgram>, map: &SourceMap) -> Result<Rewritten, String> {
    let mut rewriter = Rewriter::of(typed, map.clone());
    copy_all(&mut rewriter).map_err(|error| error.to_string())?;
    finished(rewriter)
}

/// The program with another name for everything that can have one; a control plane sees the old names.
///
/// # Errors
///
/// What the rewriter or the checker says, as text.
pub fn renamed(typed: &Arc<TypedProgram>, map: &SourceMap) -> Result<Rewritten, String> {
    let mut rewriter = Rewriter::of(typed, map.clone());
    rename_all(&mut rewriter).map_err(|error| error.to_string())?;
    finished(rewriter)
}

/// The program after random edits that change nothing of what it does.
///
/// # Errors
///
/// What the rewriter or the checker says, as text.
pub fn edited(
    typed: &Arc<TypedProgram>,
    map: &SourceMap,
    choices: &mut Choices,
) -> Result<Rewritten, String> {
    let mut rewriter = Rewriter::of(typed, map.clone());
    for _ in 0..choices.between(1, 3) {
        let outcome = match choices.below(6) {
            0 => copy_all(&mut rewriter),
            1 => rename_all(&mut rewriter),
            2 => insert_nothing(&mut rewriter, choices),
            3 => use_copies_of_controls(&mut rewriter),
            4 => add_and_remove(&mut rewriter),
            _ => wrap_statements(&mut rewriter, choices),
        };
        outcome.map_err(|error| error.to_string())?;
        // The next edits know all references of the ones before.
        rewriter = Rewriter::of_rewritten(finished(rewriter)?);
    }
    finished(rewriter)
}

fn finished(rewriter: Rewriter) -> Result<Rewritten, String> {
    rewriter
        .finish()
        .map_err(|(found, map)| source::render_text(&map, &found, RenderOptions::default()))
}

/// The declarations that are not a library's.
fn own(rewriter: &Rewriter) -> impl Iterator<Item = &Declaration> {
    let map = rewriter.map();
    let declarations = rewriter.program().declarations.iter();
    declarations.filter(|declaration| map.library(declaration.span).is_none())
}

fn copy_all(rewriter: &mut Rewriter) -> Result<(), EditError> {
    let own: Vec<Declaration> = own(rewriter).cloned().collect();
    let copies = rewriter.copy(&own);
    for (old, new) in own.iter().zip(copies) {
        rewriter.replace(old.id, new)?;
    }
    Ok(())
}

/// Collects what `pick` makes of each node outside of libraries.
fn collect<T>(rewriter: &Rewriter, pick: impl FnMut(&dyn Any) -> Option<T>) -> Vec<T> {
    struct Collect<'m, T, F> {
        map: &'m SourceMap,
        pick: F,
        found: Vec<T>,
    }
    impl<'a, T, F: FnMut(&dyn Any) -> Option<T>> Visit<'a> for Collect<'_, T, F> {
        fn enter<N: Node>(&mut self, node: &'a N) -> bool {
            if self.map.library(node.span()).is_some() {
                return false;
            }
            self.found.extend((self.pick)(node));
            true
        }
    }
    let mut collect = Collect { map: rewriter.map(), pick, found: Vec::new() };
    walk_program(&mut collect, rewriter.program());
    collect.found
}

fn rename_all(rewriter: &mut Rewriter) -> Result<(), EditError> {
    let named = collect(rewriter, |node| {
        if let Some(node) = node.downcast_ref::<Declaration>() {
            Some((node.id, node.name.text.clone()))
        } else if let Some(node) = node.downcast_ref::<Parameter>() {
            Some((node.id, node.name.text.clone()))
        } else if let Some(node) = node.downcast_ref::<Field>() {
            Some((node.id, node.name.text.clone()))
        } else if let Some(node) = node.downcast_ref::<State>() {
            Some((node.id, node.name.text.clone()))
        } else if let Some(node) = node.downcast_ref::<EnumMember>() {
            Some((node.id, node.name.text.clone()))
        } else if let Some(node) = node.downcast_ref::<DeclaredName>() {
            Some((node.id, node.name.text.clone()))
        } else {
            node.downcast_ref::<Variable>().map(|node| (node.id, node.name.text.clone()))
        }
    });
    for (id, name) in named {
        match rewriter.rename_freshly(id, &format!("{name}_r"), ControlPlaneName::Keep) {
            Ok(_) | Err(EditError { problem: Problem::FixedName { .. }, .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn statements(rewriter: &mut Rewriter, text: &str) -> Vec<Statement> {
    let tokens = tokens_at(Span::NONE, text, &mut Diagnostics::new());
    rewriter.pieces().statements(tokens).unwrap_or_default()
}

fn insert_nothing(rewriter: &mut Rewriter, choices: &mut Choices) -> Result<(), EditError> {
    let places = collect(rewriter, |node| node.downcast_ref::<Statement>().map(|node| node.id));
    for place in places {
        if !choices.chance(30) {
            continue;
        }
        let name = rewriter.fresh_name(Some(place), "unused")?.text;
        let code = match choices.below(3) {
            0 => ";".to_string(),
            1 => "{ }".to_string(),
            _ => format!("{{ bit<8> {name} = 1; {name} = {name} + 1; }}"),
        };
        let code = statements(rewriter, &code);
        let outcome = match choices.chance(50) {
            true => rewriter.insert_before(place, code),
            false => rewriter.insert_after(place, code),
        };
        match outcome {
            // Such code cannot be in the parentheses of a `for`.
            Ok(()) | Err(EditError { problem: Problem::NotInLoopHeader, .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Puts statements into blocks of their own. Declarations stay in scope.
fn wrap_statements(rewriter: &mut Rewriter, choices: &mut Choices) -> Result<(), EditError> {
    let places = collect(rewriter, |node| {
        let statement = node.downcast_ref::<Statement>()?;
        (!matches!(statement.kind, StatementKind::Declaration(_))).then_some(statement.id)
    });
    for place in places {
        if !choices.chance(30) {
            continue;
        }
        let inner = rewriter.get::<Statement>(place)?.clone();
        let block = Block { annotations: Vec::new(), statements: Vec::new(), span: inner.span };
        let kind = StatementKind::Block(block);
        let block = Statement { id: rewriter.fresh_id(), span: inner.span, kind };
        let id = block.id;
        match rewriter.insert_before(place, vec![block]) {
            Ok(()) => {
                let inner = rewriter.take::<Statement>(place)?;
                rewriter.append(id, vec![inner])?;
            }
            Err(EditError { problem: Problem::NotInLoopHeader, .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Puts a copy behind each control and has it used instead; the control plane sees the old name.
fn use_copies_of_controls(rewriter: &mut Rewriter) -> Result<(), EditError> {
    let controls: Vec<Declaration> = own(rewriter)
        .filter(|declaration| matches!(declaration.kind, DeclarationKind::Control(_)))
        .cloned()
        .collect();
    for control in controls {
        // The control gets another name and the copy its old one, so that the references to the old
        // one have to change.
        let id = control.id;
        let unused = rewriter.rename_freshly(id, "unused", ControlPlaneName::Keep)?;
        let renamed = rewriter.get::<Declaration>(id)?.clone();
        let mut copy = rewriter.copy(&renamed);
        copy.name.text = control.name.text.clone();
        rewriter.insert_after(id, vec![copy])?;
        let users = collect(rewriter, |node| {
            let ty = node.downcast_ref::<TypeRef>()?;
            (rewriter.definition(ty.id) == Some(Definition::Node(id))).then_some(ty.id)
        });
        for user in users {
            rewriter.edit(user, |ty: &mut TypeRef| {
                if let TypeRefKind::Named(path) | TypeRefKind::Specialized(path, _) = &mut ty.kind {
                    assert_eq!(path.name.text, unused, "the reference was renamed");
                    path.name.text = control.name.text.clone();
                }
            })?;
        }
        rewriter.remove(id)?;
    }
    Ok(())
}

/// Adds a field to each struct and header and a key to each table, and removes them again.
fn add_and_remove(rewriter: &mut Rewriter) -> Result<(), EditError> {
    let fields = collect(rewriter, |node| node.downcast_ref::<Field>().cloned());
    let keys = collect(rewriter, |node| node.downcast_ref::<KeyElement>().cloned());
    for field in fields {
        let mut copy = rewriter.copy(&field);
        copy.name = rewriter.fresh_name(Some(field.id), &field.name.text)?;
        let id = copy.id;
        rewriter.insert_after(field.id, vec![copy])?;
        rewriter.remove(id)?;
    }
    for key in keys {
        let copy = rewriter.copy(&key);
        let id = copy.id;
        rewriter.insert_before(key.id, vec![copy])?;
        rewriter.remove(id)?;
    }
    Ok(())
}
