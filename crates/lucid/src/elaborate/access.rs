// SPDX-License-Identifier: Apache-2.0
//! Elaborates accesses to arrays, pair arrays and counters: each call becomes one statement on one global.

use super::builder::Builder;
use super::calls::{Call, ResultUse, result};
use super::values::Value;
use super::{Elaborated, Elaborator};
use crate::check::Builtin;
use crate::core::{Access, Expression, GlobalId, GlobalKind, MemopId, Type, Use};
use source::Span;

/// Width of the index of a counter's only cell; nothing depends on it.
const COUNTER_INDEX_BITS: u32 = 32;

impl<'a> Elaborator<'a> {
    pub(super) fn access(
        &mut self,
        builtin: Builtin,
        call: Call<'a>,
        arguments: Vec<Value>,
        result_use: ResultUse,
        builder: &mut Builder,
    ) -> Elaborated<Value> {
        let span = call.expression.span;
        let mut arguments = arguments.into_iter();
        let (global, width) = match arguments.next() {
            Some(Value::Global(id)) => match self.cell_width(id) {
                Some(width) => (id, width),
                None => return Err(self.internal(span, "an access to a table")),
            },
            _ => return Err(self.internal(span, "an access to something that is no global")),
        };
        let cell = Type::Int(width);
        let index = match builtin {
            Builtin::CounterAdd => Expression::int(0, COUNTER_INDEX_BITS, span),
            _ => self.next_scalar(&mut arguments, span)?,
        };
        let rest: Vec<Value> = arguments.collect();
        let access = match (builtin, rest.as_slice()) {
            (Builtin::ArrayGet, []) => Access::Simple { get: Some(Use::Old), set: None },
            (Builtin::ArrayGet | Builtin::ArrayGetm, [memop, value]) => {
                let get = Some(self.memop_use(memop, value, width, span)?);
                Access::Simple { get, set: None }
            }
            (Builtin::ArraySet, [value]) => {
                let value = self.as_scalar(value.clone(), span)?;
                Access::Simple { get: None, set: Some(Use::Value(value)) }
            }
            (Builtin::ArraySet | Builtin::ArraySetm, [memop, value]) => {
                let set = Some(self.memop_use(memop, value, width, span)?);
                Access::Simple { get: None, set }
            }
            (Builtin::ArrayUpdate, [get, got, set, value]) => Access::Simple {
                get: Some(self.memop_use(get, got, width, span)?),
                set: Some(self.memop_use(set, value, width, span)?),
            },
            (
                Builtin::ArrayUpdateComplex | Builtin::PairArrayUpdate,
                [memop, first, second, default],
            ) => Access::Complex {
                memop: self.memop_id(memop, width, span)?,
                arguments: [
                    self.as_scalar(first.clone(), span)?,
                    self.as_scalar(second.clone(), span)?,
                ],
                default: self.as_scalar(default.clone(), span)?,
            },
            (Builtin::CounterAdd, [value]) => {
                let value = self.as_scalar(value.clone(), span)?;
                Access::Simple { get: Some(Use::Old), set: Some(Use::Add(value)) }
            }
            _ => return Err(self.internal(span, "an access with other arguments")),
        };
        let reads = !matches!(access, Access::Simple { get: None, .. });
        let local = if reads {
            let name = format!("{}.value", self.program.globals[global.0 as usize].name);
            result_use.local(&name, cell, span, builder)
        } else {
            None
        };
        builder.access(global, index, access, local, span);
        Ok(result(local, cell, span))
    }

    fn next_scalar(
        &mut self,
        values: &mut dyn Iterator<Item = Value>,
        span: Span,
    ) -> Elaborated<Expression> {
        match values.next() {
            Some(value) => self.as_scalar(value, span),
            None => Err(self.internal(span, "an access without an index")),
        }
    }

    /// Width in bits of the cells of a global that has cells.
    fn cell_width(&self, id: GlobalId) -> Option<u32> {
        match self.program.globals.get(id.0 as usize)?.kind {
            GlobalKind::Array { width_bits, .. }
            | GlobalKind::PairArray { width_bits, .. }
            | GlobalKind::Counter { width_bits, .. } => Some(width_bits),
            GlobalKind::Table(_) => None,
        }
    }

    fn memop_use(
        &mut self,
        memop: &Value,
        value: &Value,
        width: u32,
        span: Span,
    ) -> Elaborated<Use> {
        let memop = self.memop_id(memop, width, span)?;
        Ok(Use::Memop(memop, self.as_scalar(value.clone(), span)?))
    }

    fn memop_id(&mut self, memop: &Value, width: u32, span: Span) -> Elaborated<MemopId> {
        match memop {
            Value::Memop(id) => self.memop_at(*id, width, span),
            _ => Err(self.internal(span, "a memop that is not known")),
        }
    }
}
