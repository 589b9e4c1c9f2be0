// SPDX-License-Identifier: Apache-2.0
//! Events over globals that a specification has as inputs. Elaboration copies an event for each choice
//! of globals in the program; the roots here add the choices that only inputs name.

use super::run::{Argument, InputKind, Run};
use lucid::check::CheckedProgram;
use lucid::elaborate::Root;
use lucid::syntax::ast::{Declaration, DeclarationKind, NodeId};

/// The copies that the inputs of a run need. What does not fit its event is left out: it is reported
/// when the run is made ready.
pub fn roots(run: &Run, program: &CheckedProgram) -> Vec<Root> {
    let mut events = Vec::new();
    collect(&program.tree.declarations, "", &mut events);
    let mut roots: Vec<Root> = Vec::new();
    for input in &run.inputs {
        let InputKind::Event { name, arguments } = &input.kind else { continue };
        for (event, binder) in events.iter().filter(|(event, _)| event == name) {
            let Some(signature) = program.signatures.get(binder) else { continue };
            let is_global: Vec<bool> =
                signature.parameters.iter().map(|ty| program.is_global(ty)).collect();
            if arguments.len() != is_global.len() || !is_global.contains(&true) {
                continue;
            }
            let given = arguments.iter().zip(&is_global).filter(|(_, is_global)| **is_global);
            let globals: Option<Vec<String>> = given
                .map(|(argument, _)| match argument {
                    Argument::Text(name) => Some(name.clone()),
                    _ => None,
                })
                .collect();
            let Some(globals) = globals else { continue };
            let known = |root: &Root| root.event == *event && root.globals == globals;
            if !roots.iter().any(known) {
                roots.push(Root { event: event.clone(), globals, span: input.field_spans.name });
            }
        }
    }
    roots
}

/// Events with their full names.
fn collect(declarations: &[Declaration], prefix: &str, events: &mut Vec<(String, NodeId)>) {
    for declaration in declarations {
        match &declaration.kind {
            DeclarationKind::Event { name, .. } => {
                events.push((format!("{prefix}{}", name.name), name.id));
            }
            DeclarationKind::Module { name, declarations, .. } => {
                collect(declarations, &format!("{prefix}{}.", name.name), events);
            }
            _ => {}
        }
    }
}
