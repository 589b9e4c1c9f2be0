// SPDX-License-Identifier: Apache-2.0
//! Directions of the parameters that calls pass arguments to (P4_16 v1.2.5 §6.8).

use p4::ast::{Argument, Call, DeclarationKind, Direction, NodeId, Parameter};
use p4::typed::{Callee, TypedProgram};
use std::collections::HashMap;

/// The directions of the parameters of all functions, methods, actions and controls of a program.
#[derive(Clone, Debug, Default)]
pub struct Directions(HashMap<NodeId, Vec<Direction>>);

impl Directions {
    /// The directions of a program.
    pub fn of(typed: &TypedProgram) -> Directions {
        let mut found = Directions::default();
        for declaration in &typed.program.declarations {
            found.add(declaration.id, &declaration.kind);
        }
        found
    }

    fn add(&mut self, id: NodeId, kind: &DeclarationKind) {
        let mut insert = |id: NodeId, parameters: &[Parameter]| {
            self.0.insert(id, parameters.iter().map(|parameter| parameter.direction).collect());
        };
        match kind {
            DeclarationKind::Action { parameters, .. } => insert(id, parameters),
            DeclarationKind::Function { signature, .. }
            | DeclarationKind::ExternFunction(signature) => insert(id, &signature.parameters),
            DeclarationKind::ExternObject { methods, .. } => {
                for method in methods {
                    insert(method.id, &method.signature.parameters);
                }
            }
            DeclarationKind::ControlType(signature) | DeclarationKind::ParserType(signature) => {
                insert(id, &signature.parameters);
            }
            DeclarationKind::Control(control) => {
                insert(id, &control.signature.parameters);
                for local in &control.locals {
                    self.add(local.id, &local.kind);
                }
            }
            _ => {}
        }
    }

    /// The arguments of a call, each with the direction of its parameter.
    pub fn of_arguments<'c>(
        &self,
        typed: &TypedProgram,
        call_id: NodeId,
        call: &'c Call,
    ) -> Vec<(&'c Argument, Direction)> {
        let Some(info) = typed.calls.get(&call_id) else { return Vec::new() };
        let node = match info.callee {
            Callee::Function(node)
            | Callee::ExternFunction(node)
            | Callee::Action(node)
            | Callee::ExternMethod(node)
            | Callee::AbstractMethod(node)
            | Callee::BlockApply(node)
            | Callee::DirectApply(node) => node,
            _ => return Vec::new(),
        };
        let Some(directions) = self.0.get(&node) else { return Vec::new() };
        let pairs = directions
            .iter()
            .zip(&info.arguments)
            .filter_map(|(direction, index)| Some((call.arguments.get((*index)?)?, *direction)));
        pairs.collect()
    }
}
