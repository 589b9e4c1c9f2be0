// SPDX-License-Identifier: Apache-2.0
//! New locals of a body, with names of their own, and constructors of the expressions and
//! statements that passes make.

use crate::names::Unique;
use lucid::core::{
    Body, Expression, ExpressionKind, Local, LocalId, Statement, StatementKind, Type,
};
use lucid::syntax::ast::BinaryOperator;
use source::Span;

/// Adds locals to a body.
pub(crate) struct NewLocals<'a> {
    locals: &'a mut Vec<Local>,
    names: Unique,
}

impl<'a> NewLocals<'a> {
    pub(super) fn of(body: &'a mut Body) -> NewLocals<'a> {
        NewLocals::among(&mut body.locals)
    }

    pub(crate) fn among(locals: &'a mut Vec<Local>) -> NewLocals<'a> {
        let names = locals.iter().map(|local| local.name.clone()).collect();
        NewLocals { locals, names }
    }

    /// A new local with this name, or with a number behind it if the name is taken.
    pub(crate) fn add(&mut self, name: &str, ty: Type, span: Span) -> LocalId {
        let unique = self.names.fresh(name, '~', |_| true);
        self.locals.push(Local { name: unique, ty, span });
        LocalId((self.locals.len() - 1) as u32)
    }

    pub(super) fn get(&self, local: LocalId) -> Option<&Local> {
        self.locals.get(local.0 as usize)
    }

    pub(super) fn len(&self) -> usize {
        self.locals.len()
    }
}

/// An integer, filled with zeros up to a width that is no smaller than its own.
pub(super) fn widened(value: Expression, width_bits: u32) -> Expression {
    let span = value.span;
    Expression::cast(value, width_bits, span)
}

/// `left == right`
pub(super) fn equal(left: Expression, right: Expression, span: Span) -> Expression {
    let kind = ExpressionKind::Binary(BinaryOperator::Equal, Box::new(left), Box::new(right));
    Expression { kind, ty: Type::Bool, span }
}

/// A statement at the place of another.
pub(super) fn at(place: &Statement, kind: StatementKind) -> Statement {
    Statement { kind, span: place.span, inlined_at: place.inlined_at.clone() }
}

/// `local = value`
pub(super) fn assign(place: &Statement, local: LocalId, value: Expression) -> Statement {
    at(place, StatementKind::Assign { local, value, no_inline: false })
}

/// Least width in bits of numbers up to `most`.
pub(super) fn bits_for(most: usize) -> u32 {
    (usize::BITS - most.leading_zeros()).max(1)
}
