// SPDX-License-Identifier: Apache-2.0
//! Closed types taken apart: which core types they have at their leaves, how many, and locals for
//! them.

use super::builder::Builder;
use super::values::Value;
use super::{Done, Elaborator, LEAF_LIMIT, codes};
use crate::check::Type;
use crate::core;
use source::{Diagnostic, Span};
use std::sync::Arc;

/// Deepest nesting of records, vectors and tuples in a type.
const DEPTH_LIMIT: u32 = 100;

/// How many leaves a type has and how deep it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub leaves: u64,
    pub depth: u32,
}

impl Elaborator<'_> {
    /// How large a closed type is; an error if it is too large to take apart.
    pub(super) fn extent(&mut self, ty: &Type, span: Span) -> Done<Extent> {
        self.extent_within(ty, span, 0)
    }

    fn extent_within(&mut self, ty: &Type, span: Span, depth: u32) -> Done<Extent> {
        if depth > DEPTH_LIMIT {
            return Err(self.too_many_parts(ty, span));
        }
        if let Some(extent) = self.type_extents.get(ty) {
            return Ok(*extent);
        }
        let extent = match ty {
            Type::User { .. } => {
                let shape = self.shape(ty, span)?;
                self.extent_within(&shape, span, depth + 1)?
            }
            Type::Record(fields) => {
                let mut all = Extent { leaves: 0, depth: 0 };
                for (_, field) in fields {
                    all = sum(all, self.extent_within(field, span, depth + 1)?);
                }
                Extent { depth: all.depth + 1, ..all }
            }
            Type::Tuple(types) => {
                let mut all = Extent { leaves: 0, depth: 0 };
                for ty in types {
                    all = sum(all, self.extent_within(ty, span, depth + 1)?);
                }
                Extent { depth: all.depth + 1, ..all }
            }
            Type::Vector(element, length) => {
                let inner = self.extent_within(element, span, depth + 1)?;
                let length = u64::try_from(length.constant).unwrap_or(u64::MAX);
                // Vectors of nothing are gone through too.
                let leaves = inner.leaves.max(1).saturating_mul(length);
                Extent { leaves, depth: inner.depth + 1 }
            }
            Type::Void => Extent { leaves: 0, depth: 0 },
            _ => Extent { leaves: 1, depth: 0 },
        };
        if extent.leaves > LEAF_LIMIT || extent.depth > DEPTH_LIMIT {
            return Err(self.too_many_parts(ty, span));
        }
        if matches!(ty, Type::User { .. }) {
            self.type_extents.insert(ty.clone(), extent);
        }
        Ok(extent)
    }

    fn too_many_parts(&mut self, ty: &Type, span: Span) -> super::Stop {
        let shown = self.checked.show(ty);
        let diagnostic =
            Diagnostic::error(codes::TOO_MANY_PARTS, span, format!("`{shown}` has too many parts"));
        self.report(diagnostic.note(format!(
            "records and vectors are taken apart into single values, at most {LEAF_LIMIT} of them, \
             nested at most {DEPTH_LIMIT} deep"
        )))
    }

    /// The type of a leaf that a local can have; `None` for what exists only before the run.
    pub(super) fn leaf_type(&mut self, ty: &Type, span: Span) -> Done<Option<core::Type>> {
        Ok(match ty {
            Type::Bool => Some(core::Type::Bool),
            Type::Int(size) => Some(core::Type::Int(self.width_of(size.constant, span)?)),
            Type::Event => Some(core::Type::Event),
            Type::Group => Some(core::Type::Group),
            Type::Payload => Some(core::Type::Payload),
            _ => None,
        })
    }

    /// Whether a closed type holds something that exists only before the run.
    pub(super) fn is_static(&mut self, ty: &Type, span: Span) -> Done<bool> {
        match self.shape(ty, span)? {
            Type::Record(fields) => {
                for (_, field) in &fields {
                    if self.is_static(field, span)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Type::Tuple(types) => {
                for ty in &types {
                    if self.is_static(ty, span)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Type::Vector(element, _) => self.is_static(&element, span),
            Type::Array(_)
            | Type::PairArray(_)
            | Type::Counter(_)
            | Type::Table(_)
            | Type::Memop { .. }
            | Type::Action(_) => Ok(true),
            _ => Ok(false),
        }
    }

    /// The leaves of a closed type that locals can have, with their names.
    pub(super) fn flatten(
        &mut self,
        name: &str,
        ty: &Type,
        span: Span,
    ) -> Done<Vec<(String, core::Type)>> {
        self.extent(ty, span)?;
        let mut leaves = Vec::new();
        self.flatten_into(name, ty, span, &mut leaves)?;
        Ok(leaves)
    }

    fn flatten_into(
        &mut self,
        name: &str,
        ty: &Type,
        span: Span,
        leaves: &mut Vec<(String, core::Type)>,
    ) -> Done<()> {
        match self.shape(ty, span)? {
            Type::Record(fields) => {
                for (label, field) in &fields {
                    self.flatten_into(&field_name(name, label), field, span, leaves)?;
                }
            }
            Type::Tuple(types) => {
                for (at, ty) in types.iter().enumerate() {
                    self.flatten_into(&format!("{name}.{at}"), ty, span, leaves)?;
                }
            }
            Type::Vector(element, length) => {
                for at in 0..length.constant {
                    self.flatten_into(&format!("{name}[{at}]"), &element, span, leaves)?;
                }
            }
            Type::Void => {}
            shape => match self.leaf_type(&shape, span)? {
                Some(ty) => leaves.push((name.to_owned(), ty)),
                None => {
                    let shown = self.checked.show(&shape);
                    return Err(self.internal(span, &format!("`{shown}` where a value is needed")));
                }
            },
        }
        Ok(())
    }

    /// New locals for a value of a closed type; the value made of them.
    pub(super) fn declare(
        &mut self,
        builder: &mut Builder,
        name: &str,
        ty: &Type,
        span: Span,
    ) -> Done<Value> {
        self.extent(ty, span)?;
        let name = builder.unique(name);
        self.declare_within(builder, &name, ty, span)
    }

    fn declare_within(
        &mut self,
        builder: &mut Builder,
        name: &str,
        ty: &Type,
        span: Span,
    ) -> Done<Value> {
        Ok(match self.shape(ty, span)? {
            Type::Record(fields) => {
                let mut values = Vec::with_capacity(fields.len());
                for (label, field) in &fields {
                    let name = field_name(name, label);
                    values.push((label.clone(), self.declare_within(builder, &name, field, span)?));
                }
                Value::record(values)
            }
            Type::Tuple(types) => {
                let mut values = Vec::with_capacity(types.len());
                for (at, ty) in types.iter().enumerate() {
                    let name = format!("{name}.{at}");
                    values.push(self.declare_within(builder, &name, ty, span)?);
                }
                Value::Tuple(values.into())
            }
            Type::Vector(element, length) => {
                let mut values = Vec::new();
                for at in 0..length.constant {
                    let name = format!("{name}[{at}]");
                    values.push(self.declare_within(builder, &name, &element, span)?);
                }
                Value::vector(values)
            }
            Type::Void => Value::Void,
            shape => match self.leaf_type(&shape, span)? {
                Some(ty) => {
                    let local = builder.local(Arc::from(name), ty, span);
                    Value::local(local, ty, span)
                }
                None => {
                    let shown = self.checked.show(&shape);
                    let diagnostic = Diagnostic::error(
                        codes::GLOBAL_IN_RUN,
                        span,
                        format!("a `{shown}` cannot depend on what happens in the run"),
                    );
                    let help = "decide with `if` or `match` and access the global in each branch";
                    return Err(self.report_in(builder, diagnostic.help(help)));
                }
            },
        })
    }
}

/// `name#label`; a record without a name has its labels alone.
fn field_name(name: &str, label: &str) -> String {
    if name.is_empty() { label.to_owned() } else { format!("{name}#{label}") }
}

fn sum(one: Extent, other: Extent) -> Extent {
    Extent { leaves: one.leaves.saturating_add(other.leaves), depth: one.depth.max(other.depth) }
}
