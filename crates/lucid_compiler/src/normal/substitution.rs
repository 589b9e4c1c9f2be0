// SPDX-License-Identifier: Apache-2.0
//! Puts the known values of locals into an expression and simplifies it.

use super::facts::Facts;
use super::simplify::simplify;
use lucid::core::walk::each_expression_mut;
use lucid::core::{Expression, ExpressionKind};

/// Replaces reads by what they are worth, and simplifies.
pub(super) fn put(expression: &mut Expression, facts: &Facts) {
    each_expression_mut(expression, &mut |inner| {
        if let ExpressionKind::Local(local) = inner.kind
            && let Some(worth) = facts.worth(local, inner)
        {
            *inner = worth;
        }
    });
    simplify(expression);
    let mut decided = false;
    each_expression_mut(expression, &mut |inner| {
        if let Some(truth) = facts.decide(inner) {
            *inner = Expression::bool(truth, inner.span);
            decided = true;
        }
    });
    if decided {
        simplify(expression);
    }
}
