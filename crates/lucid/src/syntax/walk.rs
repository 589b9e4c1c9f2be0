// SPDX-License-Identifier: Apache-2.0
//! Walkers of syntax trees: expressions of a statement, its nested blocks, operands of an expression, and
//! all expressions of a block.

use super::ast::{Block, Expression, ExpressionKind, GenerateTarget, Statement, StatementKind};

/// Runs something that calls itself, with stack enough: programs nest as deep as they like.
pub fn deep<T>(run: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(128 << 10, 2 << 20, run)
}

/// The expressions of a statement itself, in the order they are written; not those of statements inside.
pub fn expressions(statement: &Statement) -> Vec<&Expression> {
    match &statement.kind {
        StatementKind::Skip | StatementKind::Return(None) | StatementKind::For { .. } => Vec::new(),
        StatementKind::Local { value, .. }
        | StatementKind::Assign { value, .. }
        | StatementKind::Call(value)
        | StatementKind::Return(Some(value))
        | StatementKind::If { condition: value, .. } => vec![value],
        StatementKind::Match { subjects: list, .. }
        | StatementKind::Print { arguments: list, .. } => list.iter().collect(),
        StatementKind::Generate { target, event } => match target {
            GenerateTarget::Event | GenerateTarget::Many => vec![event],
            GenerateTarget::Switch(place)
            | GenerateTarget::Port(place)
            | GenerateTarget::Ports(place) => vec![place, event],
        },
        StatementKind::TableInstall { table, entries } => {
            let parts =
                entries.iter().flat_map(|entry| entry.patterns.iter().chain(&entry.arguments));
            std::iter::once(table).chain(parts).collect()
        }
    }
}

/// The blocks inside a statement, in order.
pub fn blocks(statement: &Statement) -> Vec<&Block> {
    match &statement.kind {
        StatementKind::If { then, otherwise, .. } => {
            std::iter::once(then).chain(otherwise).collect()
        }
        StatementKind::Match { branches, .. } => {
            branches.iter().map(|branch| &branch.body).collect()
        }
        StatementKind::For { body, .. } => vec![body],
        _ => Vec::new(),
    }
}

/// The operands of an expression, left to right.
pub fn operands(expression: &Expression) -> Vec<&Expression> {
    match &expression.kind {
        ExpressionKind::Integer { .. }
        | ExpressionKind::Boolean(_)
        | ExpressionKind::String(_)
        | ExpressionKind::Name(_)
        | ExpressionKind::SizeToInt { .. }
        | ExpressionKind::Pattern(_) => Vec::new(),
        ExpressionKind::Call { arguments: list, .. }
        | ExpressionKind::New { arguments: list, .. }
        | ExpressionKind::Hash { arguments: list, .. }
        | ExpressionKind::Vector(list)
        | ExpressionKind::Tuple(list)
        | ExpressionKind::Group(list) => list.iter().collect(),
        ExpressionKind::Unary { operand, .. }
        | ExpressionKind::Cast { operand, .. }
        | ExpressionKind::Slice { operand, .. }
        | ExpressionKind::Flood(operand)
        | ExpressionKind::Field { record: operand, .. }
        | ExpressionKind::Index { vector: operand, .. }
        | ExpressionKind::Comprehension { element: operand, .. } => vec![operand],
        ExpressionKind::Binary { left, right, .. }
        | ExpressionKind::Masked { value: left, mask: right } => vec![left, right],
        ExpressionKind::Record(fields) => fields.iter().map(|(_, value)| value).collect(),
        ExpressionKind::With { record, fields } => {
            std::iter::once(&**record).chain(fields.iter().map(|(_, value)| value)).collect()
        }
    }
}

/// Visits all expressions of a block in the order they are written, operands first.
pub fn each_expression<'p>(block: &'p Block, visit: &mut dyn FnMut(&'p Expression)) {
    for statement in &block.statements {
        expressions(statement).into_iter().for_each(|expression| inside(expression, visit));
        deep(|| blocks(statement).into_iter().for_each(|block| each_expression(block, visit)));
    }
}

fn inside<'p>(expression: &'p Expression, visit: &mut dyn FnMut(&'p Expression)) {
    deep(|| operands(expression).into_iter().for_each(|operand| inside(operand, visit)));
    visit(expression);
}
