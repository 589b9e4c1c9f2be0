// SPDX-License-Identifier: Apache-2.0
//! Values of source expressions during elaboration: core expressions at the leaves of records, vectors and
//! tuples, and values that exist only at compile time, such as globals and memops.

use crate::core::walk::each_read;
use crate::core::{ActionId, Expression, ExpressionKind, GlobalId, GlobalKind, LocalId, Type};
use crate::syntax::ast::NodeId;
use source::Span;
use std::sync::Arc;

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// An integer, boolean, event, group or payload.
    Scalar(Expression),
    /// Fields in order of the type.
    Record(Arc<Record>),
    /// Elements.
    Vector(Arc<Vector>),
    /// Parts.
    Tuple(Arc<[Value]>),
    /// An array, pair array, counter or table.
    Global(GlobalId),
    /// State that a constructor made, still without a name and a position in the order.
    New(Arc<NewGlobal>),
    /// A memop by its binder; its width is that of the cells it is used on.
    Memop(NodeId),
    /// An action.
    Action(ActionId),
    /// What entries of tables match: a value and which bits of it count; no mask: all.
    Pattern { value: Expression, mask: Option<Expression> },
    /// A text.
    Text(Arc<str>),
    /// The unread bits of a packet.
    Bitstring,
    /// Nothing.
    Void,
}

/// A record.
#[derive(Debug)]
pub(super) struct Record {
    pub fields: Vec<(Arc<str>, Value)>,
    /// Its name, if it is a global or a part of one.
    pub name: Option<Arc<str>>,
}

/// A vector.
#[derive(Debug)]
pub(super) struct Vector {
    pub elements: Vec<Value>,
    /// As of [`Record`].
    pub name: Option<Arc<str>>,
}

/// What a constructor of the language made.
#[derive(Debug)]
pub(super) struct NewGlobal {
    /// Tells it from others.
    pub number: u32,
    pub kind: GlobalKind,
}

impl Value {
    pub fn record(fields: Vec<(Arc<str>, Value)>) -> Value {
        Value::Record(Arc::new(Record { fields, name: None }))
    }

    pub fn vector(elements: Vec<Value>) -> Value {
        Value::Vector(Arc::new(Vector { elements, name: None }))
    }

    pub fn int(value: u128, width_bits: u32, span: Span) -> Value {
        Value::Scalar(Expression::int(value, width_bits, span))
    }

    pub fn local(local: LocalId, ty: Type, span: Span) -> Value {
        Value::Scalar(Expression::local(local, ty, span))
    }

    /// The parts that a value is made of, in order; none of one that has no parts.
    pub fn parts(&self) -> Vec<&Value> {
        match self {
            Value::Record(record) => record.fields.iter().map(|(_, value)| value).collect(),
            Value::Vector(vector) => vector.elements.iter().collect(),
            Value::Tuple(parts) => parts.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// Maps the leaves of a value.
    pub fn map<E>(&self, leaf: &mut dyn FnMut(&Value) -> Result<Value, E>) -> Result<Value, E> {
        Ok(match self {
            Value::Record(record) => {
                let mut fields = Vec::with_capacity(record.fields.len());
                for (label, value) in &record.fields {
                    fields.push((label.clone(), value.map(leaf)?));
                }
                Value::Record(Arc::new(Record { fields, name: record.name.clone() }))
            }
            Value::Vector(vector) => {
                let mut elements = Vec::with_capacity(vector.elements.len());
                for value in &vector.elements {
                    elements.push(value.map(leaf)?);
                }
                Value::Vector(Arc::new(Vector { elements, name: vector.name.clone() }))
            }
            Value::Tuple(parts) => {
                let mut mapped = Vec::with_capacity(parts.len());
                for value in parts.iter() {
                    mapped.push(value.map(leaf)?);
                }
                Value::Tuple(mapped.into())
            }
            _ => leaf(self)?,
        })
    }

    /// Everything at the leaves, in order.
    pub fn leaves(&self) -> Vec<&Value> {
        let mut leaves = Vec::new();
        self.collect_leaves(&mut leaves);
        leaves
    }

    fn collect_leaves<'v>(&'v self, leaves: &mut Vec<&'v Value>) {
        match self {
            Value::Record(record) => {
                for (_, value) in &record.fields {
                    value.collect_leaves(leaves);
                }
            }
            Value::Vector(vector) => {
                for value in &vector.elements {
                    value.collect_leaves(leaves);
                }
            }
            Value::Tuple(parts) => {
                for value in parts.iter() {
                    value.collect_leaves(leaves);
                }
            }
            Value::Void => {}
            _ => leaves.push(self),
        }
    }

    /// The globals in it, in order.
    pub fn globals(&self) -> Vec<GlobalId> {
        let global = |leaf: &Value| match leaf {
            Value::Global(id) => Some(*id),
            _ => None,
        };
        self.leaves().into_iter().filter_map(global).collect()
    }

    /// A text that is the same for values that are the same: the identity of what exists before
    /// the run, constants by their value. `None` if some part is known only in the run.
    pub fn identity(&self) -> Option<String> {
        let mut text = String::new();
        for leaf in self.leaves() {
            let part = match leaf {
                Value::Scalar(Expression { kind: ExpressionKind::Constant(known), .. }) => {
                    crate::core::constant_text(known)
                }
                Value::Global(id) => format!("global {}", id.0),
                Value::New(new) => format!("new {}", new.number),
                Value::Memop(id) => format!("memop {}", id.0),
                Value::Action(id) => format!("action {}", id.0),
                Value::Text(text) => format!("{text:?}"),
                _ => return None,
            };
            text.push_str(&part);
            text.push(';');
        }
        Some(text)
    }
}

/// Whether an expression mentions this local.
pub(super) fn mentions(expression: &Expression, wanted: &dyn Fn(LocalId) -> bool) -> bool {
    let mut found = false;
    each_read(expression, &mut |local| found |= wanted(local));
    found
}
