// SPDX-License-Identifier: Apache-2.0
//! Elaborates memops at the widths of their uses. `memop::shape` has taken the bodies apart; parameters,
//! booleans and cells become the locals that `core::MemopBody` defines.

use super::builder::{Builder, Purpose};
use super::values::Value;
use super::{Elaborated, Elaborator, Scope};
use crate::check::{Size, Type};
use crate::core::{
    self, CONDITION_1, CONDITION_2, Expression, LocalId, Memop, MemopBody, MemopId, NEW_CELL_1,
    NEW_CELL_2,
};
use crate::memop::{Shape, shape};
use crate::syntax::ast::{self, NodeId};
use source::Span;

/// The meaning of `cell1` and `cell2` in the current part of a memop.
pub(super) const CELLS: [LocalId; 2] = [NEW_CELL_1, NEW_CELL_2];

impl<'a> Elaborator<'a> {
    /// The memop at a width.
    pub(super) fn memop_at(&mut self, id: NodeId, width: u32, span: Span) -> Elaborated<MemopId> {
        if let Some(memop) = self.memops.get(&(id, width)) {
            return Ok(*memop);
        }
        let Some(declaration) = self.index.memops.get(&id).copied() else {
            return Err(self.internal(span, "a memop that is not declared"));
        };
        let Some(shape) = shape(self.checked, id) else {
            return Err(self.internal(declaration.span, "a memop that breaks the rules of memops"));
        };
        let cell = core::Type::Int(width);
        let mut scope = Scope::default();
        for (at, parameter) in declaration.parameters.iter().enumerate() {
            if let Some(ty) = self.checked.types.get(&parameter.name.id).cloned() {
                let closed = Type::Int(Size::constant(u128::from(width)));
                self.match_types(&ty, &closed, &mut scope, parameter.name.span)?;
            }
            let value = Value::local(LocalId(at as u32), cell, parameter.name.span);
            scope.locals.insert(parameter.name.id, value);
        }
        let body = match shape {
            Shape::Return(value) => MemopBody::Return(self.memop_part(value, &mut scope)?),
            Shape::If(condition, then, otherwise) => MemopBody::If(
                self.memop_part(condition, &mut scope)?,
                self.memop_part(then, &mut scope)?,
                self.memop_part(otherwise, &mut scope)?,
            ),
            Shape::Complex(parts) => {
                let mut conditions = [None, None];
                let locals = [CONDITION_1, CONDITION_2];
                for (at, condition) in parts.conditions.iter().enumerate() {
                    if let Some((_, value)) = condition {
                        conditions[at] = Some(self.memop_part(value, &mut scope)?);
                    }
                }
                for (condition, local) in parts.conditions.iter().zip(locals) {
                    if let Some((binder, _)) = condition {
                        let value = Value::local(local, core::Type::Bool, binder.span);
                        scope.locals.insert(binder.id, value);
                    }
                }
                let cell1 = self.memop_updates(&parts.cell1, &mut scope)?;
                let cell2 = self.memop_updates(&parts.cell2, &mut scope)?;
                let returned = match parts.returned {
                    Some((guard, value)) => Some((
                        self.memop_part(guard, &mut scope)?,
                        self.memop_returned(value, cell, &mut scope)?,
                    )),
                    None => None,
                };
                MemopBody::Complex { conditions, cell1, cell2, returned }
            }
        };
        let memop = MemopId(self.program.memops.len() as u32);
        self.program.memops.push(Memop {
            name: self.full_name(id),
            span: declaration.span,
            width_bits: width,
            argument_count: declaration.parameters.len() as u32,
            body,
        });
        self.memops.insert((id, width), memop);
        Ok(memop)
    }

    fn memop_updates(
        &mut self,
        updates: &[(&'a ast::Expression, &'a ast::Expression)],
        scope: &mut Scope,
    ) -> Elaborated<Vec<(Expression, Expression)>> {
        let mut parts = Vec::with_capacity(updates.len());
        for (guard, value) in updates {
            parts.push((self.memop_part(guard, scope)?, self.memop_part(value, scope)?));
        }
        Ok(parts)
    }

    fn memop_part(
        &mut self,
        expression: &'a ast::Expression,
        scope: &mut Scope,
    ) -> Elaborated<Expression> {
        let mut builder = Builder::new(Purpose::Constant("a memop"));
        let value = self.scalar(expression, scope, &mut builder)?;
        match builder.statements.first() {
            Some(statement) => Err(self.internal(statement.span, "a call in a memop")),
            None => Ok(value),
        }
    }

    /// What a memop returns: a cell after the update, or what else its rules allow.
    fn memop_returned(
        &mut self,
        expression: &'a ast::Expression,
        cell: core::Type,
        scope: &mut Scope,
    ) -> Elaborated<Expression> {
        use crate::check::{Builtin, Definition};
        if let ast::ExpressionKind::Name(path) = &expression.kind {
            let local = match self.definition(path)? {
                Definition::Builtin(Builtin::Cell1) => Some(CELLS[0]),
                Definition::Builtin(Builtin::Cell2) => Some(CELLS[1]),
                _ => None,
            };
            if let Some(local) = local {
                let kind = core::ExpressionKind::Local(local);
                return Ok(Expression { kind, ty: cell, span: expression.span });
            }
        }
        self.memop_part(expression, scope)
    }
}
