// SPDX-License-Identifier: Apache-2.0
//! What expressions mention and statements change, for the order of evaluation.

use super::{Statement, StatementKind};
use crate::program::{self, ExpressionKind as Kind, Place, Program};

/// Whether a local's initialiser mentions the local.
pub(super) fn mentions(expression: &program::Expression, local: usize) -> bool {
    let inside = |one: &program::Expression| mentions(one, local);
    let in_place = |place: &Place| match place {
        Place::Local(named) => *named == local,
        Place::Cell(_, index) => inside(index),
        Place::Field(_) | Place::Scalar(_) => false,
    };
    match &expression.kind {
        Kind::Constant(_) => false,
        Kind::Read(place) | Kind::Step(place, _) => in_place(place),
        Kind::Call(_, arguments) | Kind::Hash(arguments) => arguments.iter().any(inside),
        Kind::Unary(_, one) => inside(one),
        Kind::Binary(_, one, two) | Kind::Logical(_, one, two) => inside(one) || inside(two),
        Kind::Conditional(one, two, three) => inside(one) || inside(two) || inside(three),
        Kind::Assign(place, _, value) => in_place(place) || inside(value),
    }
}

/// Whether statements only set variables that are newer than `mark`.
pub(super) fn has_no_effect(statements: &[Statement], mark: usize) -> bool {
    statements.iter().all(|statement| match &statement.kind {
        StatementKind::Write(..) => false,
        StatementKind::If(_, then, otherwise) => {
            has_no_effect(then, mark) && has_no_effect(otherwise, mark)
        }
        other => other.target().is_none_or(|target| target.index() >= mark),
    })
}

/// Returns for each function whether it has a value and neither it nor the functions that it calls access a global.
pub(super) fn without_globals(program: &Program) -> Vec<bool> {
    let mut found: Vec<bool> = Vec::new();
    for (index, function) in program.functions.iter().enumerate() {
        let is_pure = index != program.packet_function
            && function.returns.is_some()
            && function.body.iter().all(|statement| is_pure_statement(statement, &found));
        found.push(is_pure);
    }
    found
}

fn is_pure_statement(statement: &program::Statement, found: &[bool]) -> bool {
    let all = |list: &[program::Statement]| list.iter().all(|one| is_pure_statement(one, found));
    let of = |one: &program::Expression| is_pure(one, found);
    match statement {
        program::Statement::Evaluate(value) => of(value),
        program::Statement::Call(function, arguments, _) => {
            found[*function] && arguments.iter().all(of)
        }
        program::Statement::Declare(_, value, _) | program::Statement::Return(value, _) => {
            value.as_ref().is_none_or(of)
        }
        program::Statement::If(condition, then, otherwise, _) => {
            of(condition) && all(then) && all(otherwise)
        }
        program::Statement::For(each) => {
            all(&each.begin) && of(&each.condition) && of(&each.step) && all(&each.body)
        }
    }
}

fn is_pure(expression: &program::Expression, found: &[bool]) -> bool {
    let of = |one: &program::Expression| is_pure(one, found);
    let is_local = |place: &Place| matches!(place, Place::Local(_));
    match &expression.kind {
        Kind::Constant(_) => true,
        Kind::Read(place) | Kind::Step(place, _) => is_local(place),
        Kind::Call(function, arguments) => found[*function] && arguments.iter().all(of),
        Kind::Hash(arguments) => arguments.iter().all(of),
        Kind::Unary(_, one) => of(one),
        Kind::Binary(_, one, two) | Kind::Logical(_, one, two) => of(one) && of(two),
        Kind::Conditional(one, two, three) => of(one) && of(two) && of(three),
        Kind::Assign(place, _, value) => is_local(place) && of(value),
    }
}
