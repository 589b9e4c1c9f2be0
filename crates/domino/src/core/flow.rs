// SPDX-License-Identifier: Apache-2.0
//! Where functions return: whether statements may or must return, and whether a function needs a flag for it.

use crate::program::Statement;

/// Whether a statement may return.
pub(super) fn may_return(statement: &Statement) -> bool {
    match statement {
        Statement::Return(..) => true,
        Statement::If(_, then, otherwise, _) => {
            then.iter().any(may_return) || otherwise.iter().any(may_return)
        }
        Statement::For(each) => each.turns > 0 && each.body.iter().any(may_return),
        Statement::Evaluate(_) | Statement::Call(..) | Statement::Declare(..) => false,
    }
}

/// Whether a list of statements always returns.
pub(super) fn always_returns(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Return(..) => true,
        Statement::If(_, then, otherwise, _) => always_returns(then) && always_returns(otherwise),
        Statement::For(each) => each.turns > 0 && always_returns(&each.body),
        Statement::Evaluate(_) | Statement::Call(..) | Statement::Declare(..) => false,
    })
}

/// How the statements behind one that may return are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// Behind the statement.
    Behind,
    /// Never.
    Nowhere,
    /// In its first branch.
    InThen,
    /// In its second branch.
    InElse,
    /// Under a flag.
    Flagged,
}

/// Returns where the statements behind a statement go.
pub(super) fn rest_of(statement: &Statement) -> Rest {
    if !may_return(statement) {
        return Rest::Behind;
    }
    if always_returns(std::slice::from_ref(statement)) {
        return Rest::Nowhere;
    }
    let Statement::If(_, then, otherwise, _) = statement else { return Rest::Flagged };
    let (then_may, else_may) = (then.iter().any(may_return), otherwise.iter().any(may_return));
    if always_returns(then) && !else_may {
        Rest::InElse
    } else if always_returns(otherwise) && !then_may {
        Rest::InThen
    } else {
        Rest::Flagged
    }
}

/// Whether a list of statements needs a flag that says whether the function has returned. `is_last` says that nothing
/// follows the list.
pub(super) fn needs_flag(statements: &[Statement]) -> bool {
    statements.iter().enumerate().any(|(at, statement)| {
        let is_last = at + 1 == statements.len();
        let inside = match statement {
            Statement::If(_, then, otherwise, _) => needs_flag(then) || needs_flag(otherwise),
            Statement::For(each) => each.turns > 0 && each.body.iter().any(may_return),
            _ => false,
        };
        inside || !is_last && rest_of(statement) == Rest::Flagged
    })
}
