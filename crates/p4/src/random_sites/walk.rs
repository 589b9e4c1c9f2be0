// SPDX-License-Identifier: Apache-2.0
//! The walk through what a declaration evaluates, in the order of the text. It meets calls, and what has a
//! `@random_site`; `random_sites` decides which calls draw.

use super::{ANNOTATION, has_annotation};
use crate::ast::*;
use crate::visit::{self, Visit as _};

/// One step of a walk through a declaration, in the order of the text.
pub(super) enum Step<'a> {
    /// Something with `@random_site` begins.
    Enter(&'a [Annotation]),
    /// It ends.
    Leave,
    /// A call, before its arguments.
    Call(&'a Expression),
}

/// What a walk meets.
pub(super) type Visit<'v, 'a> = &'v mut dyn FnMut(Step<'a>);

/// Declarations with calls of their own: functions, actions, parsers, controls and tables.
pub(super) fn units(program: &Program) -> Vec<&Declaration> {
    let mut found = Vec::new();
    for declaration in &program.declarations {
        add_units(declaration, &mut found);
    }
    found
}

fn add_units<'a>(declaration: &'a Declaration, found: &mut Vec<&'a Declaration>) {
    match &declaration.kind {
        DeclarationKind::Instance { body, .. } => {
            for inner in body.iter().flatten() {
                add_units(inner, found);
            }
        }
        DeclarationKind::Function { .. }
        | DeclarationKind::Action { .. }
        | DeclarationKind::Table(_) => found.push(declaration),
        DeclarationKind::Parser(parser) => {
            found.push(declaration);
            for local in &parser.locals {
                add_units(local, found);
            }
        }
        DeclarationKind::Control(control) => {
            found.push(declaration);
            for local in &control.locals {
                add_units(local, found);
            }
        }
        _ => {}
    }
}

/// Walks what a declaration of [`units`] evaluates.
pub(super) fn walk_unit<'a>(unit: &'a Declaration, visit: Visit<'_, 'a>) {
    annotated(&unit.annotations, visit, &mut |visit| match &unit.kind {
        DeclarationKind::Function { body, .. } | DeclarationKind::Action { body, .. } => {
            walk_statements(&body.statements, visit);
        }
        DeclarationKind::Parser(parser) => {
            walk_variables(&parser.locals, visit);
            for state in &parser.states {
                annotated(&state.annotations, visit, &mut |visit| {
                    walk_statements(&state.statements, visit);
                    walk_transition(state, visit);
                });
            }
        }
        DeclarationKind::Control(control) => {
            walk_variables(&control.locals, visit);
            walk_statements(&control.body.statements, visit);
        }
        DeclarationKind::Table(table) => {
            walk_table(table, visit);
        }
        _ => {}
    });
}

fn annotated<'a>(
    annotations: &'a [Annotation],
    visit: Visit<'_, 'a>,
    inside: &mut dyn FnMut(Visit<'_, 'a>),
) {
    let is_ours = has_annotation(annotations, ANNOTATION);
    if is_ours {
        visit(Step::Enter(annotations));
    }
    inside(visit);
    if is_ours {
        visit(Step::Leave);
    }
}

/// Walks what applying a table evaluates: its key, and arguments that it binds to actions.
pub(super) fn walk_table<'a>(table: &'a TableDeclaration, visit: Visit<'_, 'a>) {
    for property in &table.properties {
        match &property.kind {
            TablePropertyKind::Key(elements) => {
                for element in elements {
                    walk_expression(&element.expression, visit);
                }
            }
            TablePropertyKind::Actions(actions) => {
                for argument in actions.iter().flat_map(|action| action.arguments.iter().flatten())
                {
                    walk_expression(&argument.value, visit);
                }
            }
            _ => {}
        }
    }
}

fn walk_variables<'a>(locals: &'a [Declaration], visit: Visit<'_, 'a>) {
    for local in locals {
        walk_variable(local, visit);
    }
}

fn walk_variable<'a>(local: &'a Declaration, visit: Visit<'_, 'a>) {
    if let DeclarationKind::Variable { initializer: Some(value), .. } = &local.kind {
        annotated(&local.annotations, visit, &mut |visit| walk_expression(value, visit));
    }
}

/// Walks the expressions of a `select`.
pub(super) fn walk_transition<'a>(state: &'a State, visit: Visit<'_, 'a>) {
    if let Some(Transition::Select { subjects, .. }) = &state.transition {
        for subject in subjects {
            walk_expression(subject, visit);
        }
    }
}

/// Statements in order.
pub(super) fn walk_statements<'a>(statements: &'a [Statement], visit: Visit<'_, 'a>) {
    for statement in statements {
        walk_statement(statement, visit);
    }
}

fn walk_statement<'a>(statement: &'a Statement, visit: Visit<'_, 'a>) {
    let loops = match &statement.kind {
        StatementKind::For { annotations, .. } | StatementKind::ForIn { annotations, .. } => {
            annotations.as_slice()
        }
        _ => &[],
    };
    annotated(loops, visit, &mut |visit| {
        walk_own_expressions(statement, visit);
        match &statement.kind {
            StatementKind::If { then, otherwise, .. } => {
                walk_statement(then, visit);
                if let Some(otherwise) = otherwise {
                    walk_statement(otherwise, visit);
                }
            }
            StatementKind::Block(block) => annotated(&block.annotations, visit, &mut |visit| {
                walk_statements(&block.statements, visit);
            }),
            StatementKind::Switch { cases, .. } => {
                for body in cases.iter().filter_map(|case| case.body.as_ref()) {
                    annotated(&body.annotations, visit, &mut |visit| {
                        walk_statements(&body.statements, visit);
                    });
                }
            }
            StatementKind::For { body, .. } | StatementKind::ForIn { body, .. } => {
                walk_statement(body, visit);
            }
            StatementKind::Declaration(declaration) => walk_variable(declaration, visit),
            _ => {}
        }
    });
}

/// The expressions of a statement that stand in no statement inside of it; for a loop those of its head.
pub(super) fn walk_own_expressions<'a>(statement: &'a Statement, visit: Visit<'_, 'a>) {
    match &statement.kind {
        StatementKind::Assign { target, value, .. } => {
            walk_expression(target, visit);
            walk_expression(value, visit);
        }
        StatementKind::Call(expression)
        | StatementKind::If { condition: expression, .. }
        | StatementKind::Return(Some(expression))
        | StatementKind::Switch { subject: expression, .. }
        | StatementKind::ForIn { collection: expression, .. } => walk_expression(expression, visit),
        StatementKind::For { init, condition, update, .. } => {
            walk_statements(init, visit);
            walk_expression(condition, visit);
            walk_statements(update, visit);
        }
        _ => {}
    }
}

/// An expression.
pub(super) fn walk_expression<'a>(expression: &'a Expression, visit: Visit<'_, 'a>) {
    Calls(visit).expression(expression);
}

struct Calls<'v, 'a>(Visit<'v, 'a>);

impl<'a> visit::Visit<'a> for Calls<'_, 'a> {
    fn expression(&mut self, expression: &'a Expression) {
        if matches!(expression.kind, ExpressionKind::Call(_)) {
            (self.0)(Step::Call(expression));
        }
        visit::walk_expression(self, expression);
    }

    fn type_ref(&mut self, _: &'a TypeRef) {}
}
