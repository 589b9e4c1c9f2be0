// SPDX-License-Identifier: Apache-2.0
//! Random edits of a typed program that keep its meaning: copies, new names, statements without effect, blocks around
//! statements, declarations that are added and removed.

use conformance::rewrites::{collect, copy_all, finished, own, rename_all};
use p4::ast::{
    Block, Declaration, DeclarationKind, Field, KeyElement, Statement, StatementKind, TypeRef,
    TypeRefKind,
};
use p4::parser::pieces::tokens_at;
use p4::rewrite::{ControlPlaneName, EditError, Problem, Rewriter, Rewritten};
use p4::typed::{Definition, TypedProgram};
use source::{Diagnostics, SourceMap, Span};
use std::sync::Arc;
use testing::Choices;

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
