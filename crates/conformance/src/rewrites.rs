// SPDX-License-Identifier: Apache-2.0
//! Rewrites that keep the meaning of a program, as tests of `p4::rewrite`: nothing changed, everything copied,
//! everything renamed. [`check`] says what must hold of them for every accepted program.

use ir::Program;
use ir::ready::ReadyProgram;
use p4::ast::{Declaration, DeclaredName, EnumMember, Field, Node, Parameter, State, Variable};
use p4::printer::print;
use p4::rewrite::{ControlPlaneName, EditError, Problem, Rewriter, Rewritten};
use p4::typed::TypedProgram;
use p4::visit::{Visit, walk_program};
use source::{Diagnostics, RenderOptions, SourceMap};
use std::any::Any;
use std::sync::Arc;

/// Checks what must hold for every accepted program: unchanged and copied it prints and lowers to the same texts;
/// renamed it is accepted and has the same control-plane names; pruned it is accepted. `lowered` is its IR, if it has a
/// `main`.
///
/// # Errors
///
/// The first difference, as text.
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
        return Err(format!("renamed: the control-plane name of {old} is {new}"));
    }
    if old.len() != new.len() {
        return Err("renamed: the number of control-plane names differs".to_owned());
    }
    let mut rewriter = Rewriter::of(typed, map.clone());
    rewriter.prune();
    let rewritten = finished(rewriter).map_err(|why| format!("pruned: {why}"))?;
    lower(&rewritten).map_err(|why| format!("pruned: {why}"))?;
    Ok(())
}

/// Lowers a program; `None` without a `main`.
fn lower(rewritten: &Rewritten) -> Result<Option<Arc<Program>>, String> {
    let mut found = Diagnostics::new();
    let ready = ReadyProgram::lower(rewritten.program.clone(), &mut found);
    match found.has_errors() {
        true => Err(source::render_text(&rewritten.map, &found, RenderOptions::default())),
        false => Ok(ready.map(|ready| ready.lowered().clone())),
    }
}

/// Returns the control-plane names of a program.
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

/// Rewrites a program without any change.
///
/// # Errors
///
/// The diagnostics of the checker, as text.
pub fn unchanged(typed: &Arc<TypedProgram>, map: &SourceMap) -> Result<Rewritten, String> {
    finished(Rewriter::of(typed, map.clone()))
}

/// Replaces each declaration of a program by a copy.
///
/// # Errors
///
/// The error of the rewriter or the checker, as text.
pub fn copied(typed: &Arc<TypedProgram>, map: &SourceMap) -> Result<Rewritten, String> {
    let mut rewriter = Rewriter::of(typed, map.clone());
    copy_all(&mut rewriter).map_err(|error| error.to_string())?;
    finished(rewriter)
}

/// Renames everything in a program that can have another name; control-plane names stay.
///
/// # Errors
///
/// The error of the rewriter or the checker, as text.
pub fn renamed(typed: &Arc<TypedProgram>, map: &SourceMap) -> Result<Rewritten, String> {
    let mut rewriter = Rewriter::of(typed, map.clone());
    rename_all(&mut rewriter).map_err(|error| error.to_string())?;
    finished(rewriter)
}

/// Checks the program of a rewriter.
///
/// # Errors
///
/// The diagnostics of the checker, as text.
pub fn finished(rewriter: Rewriter) -> Result<Rewritten, String> {
    rewriter
        .finish()
        .map_err(|(found, map)| source::render_text(&map, &found, RenderOptions::default()))
}

/// Returns the declarations that no library contains.
pub fn own(rewriter: &Rewriter) -> impl Iterator<Item = &Declaration> {
    let map = rewriter.map();
    let declarations = rewriter.program().declarations.iter();
    declarations.filter(|declaration| map.library(declaration.span).is_none())
}

/// Replaces each declaration of the program by a copy.
///
/// # Errors
///
/// An edit that the rewriter refuses.
pub fn copy_all(rewriter: &mut Rewriter) -> Result<(), EditError> {
    let own: Vec<Declaration> = own(rewriter).cloned().collect();
    let copies = rewriter.copy(&own);
    for (old, new) in own.iter().zip(copies) {
        rewriter.replace(old.id, new)?;
    }
    Ok(())
}

/// Collects what `pick` returns for each node outside of libraries.
pub fn collect<T>(rewriter: &Rewriter, pick: impl FnMut(&dyn Any) -> Option<T>) -> Vec<T> {
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

/// Renames everything that can have another name; the control plane sees the old names.
///
/// # Errors
///
/// An edit that the rewriter refuses.
pub fn rename_all(rewriter: &mut Rewriter) -> Result<(), EditError> {
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
