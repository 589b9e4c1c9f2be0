// SPDX-License-Identifier: Apache-2.0
//! The order in which p4c numbers the calculations of a program's controls. p4c moves the statements of `apply`
//! into actions and numbers action by action: declared actions come first, and a run of statements comes after the
//! branch that ends it. Checked against the JSON files of p4c 1.2.5.

use p4::ast::{
    ControlDeclaration, Declaration, DeclarationKind, Expression, ExpressionKind, NodeId,
    Statement, StatementKind,
};
use p4::typed::{Callee, TypedProgram};
use p4::visit::{Visit, walk_expression};
use std::collections::HashMap;

/// The arguments of all calls of extern functions that the controls of `main` reach, by the calls' order in p4c.
pub fn calculation_order(typed: &TypedProgram) -> Vec<NodeId> {
    let mut order = Order { typed, controls: HashMap::new(), arguments: Vec::new() };
    let mut main = None;
    for declaration in &typed.program.declarations {
        match &declaration.kind {
            DeclarationKind::Control(control) => {
                order.controls.insert(declaration.id, control);
            }
            _ if Some(declaration.id) == typed.main => main = Some(declaration),
            _ => {}
        }
    }
    if let Some(main) = main {
        Blocks(&mut order).declaration(main);
    }
    order.arguments
}

struct Order<'a> {
    typed: &'a TypedProgram,
    controls: HashMap<NodeId, &'a ControlDeclaration>,
    arguments: Vec<NodeId>,
}

/// Visits the constructor calls of `main`.
struct Blocks<'o, 'a>(&'o mut Order<'a>);

impl<'a> Visit<'a> for Blocks<'_, 'a> {
    fn expression(&mut self, expression: &'a Expression) {
        if let Some(control) = self.0.constructed(expression.id) {
            self.0.actions(control);
            let mut run = Vec::new();
            self.0.statements(&control.body.statements, &mut run);
            self.0.arguments.append(&mut run);
        }
        walk_expression(self, expression);
    }
}

/// Collects the arguments of calls of extern functions.
struct Calls<'o, 'a> {
    typed: &'a TypedProgram,
    arguments: &'o mut Vec<NodeId>,
}

/// Whether a statement contains `c ? a : b`, which p4c turns into a branch in front of the statement.
struct Conditional(bool);

impl<'a> Visit<'a> for Conditional {
    fn expression(&mut self, expression: &'a Expression) {
        self.0 |= matches!(expression.kind, ExpressionKind::Conditional(..));
        walk_expression(self, expression);
    }
}

impl<'a> Visit<'a> for Calls<'_, 'a> {
    fn expression(&mut self, expression: &'a Expression) {
        if let ExpressionKind::Call(call) = &expression.kind
            && let Some(info) = self.typed.calls.get(&expression.id)
            && let Callee::ExternFunction(_) = info.callee
        {
            self.arguments.extend(call.arguments.iter().map(|argument| argument.value.id));
        }
        walk_expression(self, expression);
    }
}

impl<'a> Order<'a> {
    /// The control that a constructor call or an instance constructs.
    fn constructed(&self, call: NodeId) -> Option<&'a ControlDeclaration> {
        match self.typed.calls.get(&call)?.callee {
            Callee::Constructor(control, _) => self.controls.get(&control).copied(),
            _ => None,
        }
    }

    /// Adds the calls in declared actions. p4c hoists those of inlined controls to the places of their instances.
    fn actions(&mut self, control: &'a ControlDeclaration) {
        for local in &control.locals {
            match &local.kind {
                DeclarationKind::Action { .. } => self.calls_of(local),
                DeclarationKind::Instance { .. } => {
                    if let Some(inner) = self.constructed(local.id) {
                        self.actions(inner);
                    }
                }
                _ => {}
            }
        }
    }

    fn calls_of(&mut self, declaration: &'a Declaration) {
        Calls { typed: self.typed, arguments: &mut self.arguments }.declaration(declaration);
    }

    /// Adds calls of statements to `run`, the action in the making. A branch ends the action, after the actions of
    /// the branch itself.
    fn statements(&mut self, statements: &'a [Statement], run: &mut Vec<NodeId>) {
        for statement in statements {
            match &statement.kind {
                StatementKind::Block(block) => self.statements(&block.statements, run),
                StatementKind::If { then, otherwise, .. } => {
                    self.branch(std::slice::from_ref(then));
                    if let Some(otherwise) = otherwise {
                        self.branch(std::slice::from_ref(otherwise));
                    }
                    self.arguments.append(run);
                }
                StatementKind::Switch { cases, .. } => {
                    for body in cases.iter().filter_map(|case| case.body.as_ref()) {
                        self.branch(&body.statements);
                    }
                    self.arguments.append(run);
                }
                StatementKind::For { body, .. } | StatementKind::ForIn { body, .. } => {
                    self.branch(std::slice::from_ref(body));
                    self.arguments.append(run);
                }
                StatementKind::Call(call) => {
                    let Some(info) = self.typed.calls.get(&call.id) else { continue };
                    match info.callee {
                        Callee::BlockApply(id) | Callee::DirectApply(id) => {
                            if let Some(control) = self.controls.get(&id).copied() {
                                self.statements(&control.body.statements, run);
                            }
                        }
                        Callee::TableApply(_) | Callee::Action(_) => self.arguments.append(run),
                        _ => self.straight(statement, run),
                    }
                }
                _ => self.straight(statement, run),
            }
        }
    }

    /// Adds the calls of a statement that p4c moves into an action.
    fn straight(&mut self, statement: &'a Statement, run: &mut Vec<NodeId>) {
        let mut conditional = Conditional(false);
        conditional.statement(statement);
        if conditional.0 {
            self.arguments.append(run);
        }
        Calls { typed: self.typed, arguments: run }.statement(statement);
    }

    fn branch(&mut self, statements: &'a [Statement]) {
        let mut run = Vec::new();
        self.statements(statements, &mut run);
        self.arguments.append(&mut run);
    }
}
