// SPDX-License-Identifier: Apache-2.0
//! Finds all calls in a body, in the order they are written.

use crate::syntax::ast::{
    Block, Expression, ExpressionKind, GenerateTarget, Statement, StatementKind,
};

/// Stack kept free, and added when there is less, in bytes.
const STACK_FREE: usize = 128 << 10;
const STACK_MORE: usize = 2 << 20;

/// Hands over each `Call` of a block.
pub(crate) fn each_call<'p>(block: &'p Block, visit: &mut dyn FnMut(&'p Expression)) {
    stacker::maybe_grow(STACK_FREE, STACK_MORE, || {
        for statement in &block.statements {
            in_statement(statement, visit);
        }
    });
}

fn in_statement<'p>(statement: &'p Statement, visit: &mut dyn FnMut(&'p Expression)) {
    match &statement.kind {
        StatementKind::Skip | StatementKind::Return(None) => {}
        StatementKind::Local { value, .. }
        | StatementKind::Assign { value, .. }
        | StatementKind::Call(value)
        | StatementKind::Return(Some(value)) => in_expression(value, visit),
        StatementKind::If { condition, then, otherwise } => {
            in_expression(condition, visit);
            each_call(then, visit);
            if let Some(otherwise) = otherwise {
                each_call(otherwise, visit);
            }
        }
        StatementKind::Match { subjects, branches } => {
            in_all(subjects, visit);
            for branch in branches {
                each_call(&branch.body, visit);
            }
        }
        StatementKind::Print { arguments, .. } => in_all(arguments, visit),
        StatementKind::Generate { target, event } => {
            match target {
                GenerateTarget::Event | GenerateTarget::Many => {}
                GenerateTarget::Switch(place)
                | GenerateTarget::Port(place)
                | GenerateTarget::Ports(place) => in_expression(place, visit),
            }
            in_expression(event, visit);
        }
        StatementKind::For { body, .. } => each_call(body, visit),
        StatementKind::TableInstall { table, entries } => {
            in_expression(table, visit);
            for entry in entries {
                in_all(&entry.patterns, visit);
                in_all(&entry.arguments, visit);
            }
        }
    }
}

fn in_all<'p>(list: &'p [Expression], visit: &mut dyn FnMut(&'p Expression)) {
    for expression in list {
        in_expression(expression, visit);
    }
}

fn in_expression<'p>(expression: &'p Expression, visit: &mut dyn FnMut(&'p Expression)) {
    stacker::maybe_grow(STACK_FREE, STACK_MORE, || match &expression.kind {
        ExpressionKind::Integer { .. }
        | ExpressionKind::Boolean(_)
        | ExpressionKind::String(_)
        | ExpressionKind::Name(_)
        | ExpressionKind::SizeToInt { .. }
        | ExpressionKind::Pattern(_) => {}
        ExpressionKind::Call { arguments, .. } => {
            in_all(arguments, visit);
            visit(expression);
        }
        ExpressionKind::New { arguments, .. } | ExpressionKind::Hash { arguments, .. } => {
            in_all(arguments, visit);
        }
        ExpressionKind::Unary { operand, .. }
        | ExpressionKind::Cast { operand, .. }
        | ExpressionKind::Slice { operand, .. }
        | ExpressionKind::Flood(operand) => in_expression(operand, visit),
        ExpressionKind::Binary { left, right, .. } => {
            in_expression(left, visit);
            in_expression(right, visit);
        }
        ExpressionKind::Record(fields) => {
            fields.iter().for_each(|(_, value)| in_expression(value, visit));
        }
        ExpressionKind::With { record, fields } => {
            in_expression(record, visit);
            fields.iter().for_each(|(_, value)| in_expression(value, visit));
        }
        ExpressionKind::Field { record, .. } => in_expression(record, visit),
        ExpressionKind::Index { vector, .. } => in_expression(vector, visit),
        ExpressionKind::Vector(parts)
        | ExpressionKind::Tuple(parts)
        | ExpressionKind::Group(parts) => in_all(parts, visit),
        ExpressionKind::Comprehension { element, .. } => in_expression(element, visit),
        ExpressionKind::Masked { value, mask } => {
            in_expression(value, visit);
            in_expression(mask, visit);
        }
    });
}
