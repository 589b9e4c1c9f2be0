// SPDX-License-Identifier: Apache-2.0
//! Flattens closed types: the core types of their leaves, their number, and locals for them.

use super::builder::Builder;
use super::values::Value;
use super::{Elaborated, Elaborator, LEAF_LIMIT, codes};
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
    /// Reports a closed type that is too large to flatten.
    pub(super) fn small_enough(&mut self, ty: &Type, span: Span) -> Elaborated<()> {
        if self.extent(ty, span, 0)?.is_some() {
            return Ok(());
        }
        let shown = self.checked.show(ty);
        let message = format!("`{shown}` has too many parts");
        let diagnostic = Diagnostic::error(codes::TOO_MANY_PARTS, span, message);
        Err(self.report(diagnostic.note(format!(
            "records and vectors are taken apart into single values, at most {LEAF_LIMIT} of them, \
             nested at most {DEPTH_LIMIT} deep"
        ))))
    }

    /// The extent of a closed type; `None` if it is too large to flatten.
    fn extent(&mut self, ty: &Type, span: Span, depth: u32) -> Elaborated<Option<Extent>> {
        if depth > DEPTH_LIMIT {
            return Ok(None);
        }
        if let Some(extent) = self.type_extents.get(ty) {
            return Ok(Some(*extent));
        }
        let inside = match ty {
            Type::User { .. } => {
                let shape = self.shape(ty, span)?;
                self.extent(&shape, span, depth + 1)?
            }
            Type::Record(fields) => {
                let types: Vec<&Type> = fields.iter().map(|(_, ty)| ty).collect();
                self.sum_of_extents(&types, span, depth)?
            }
            Type::Tuple(types) => {
                let types: Vec<&Type> = types.iter().collect();
                self.sum_of_extents(&types, span, depth)?
            }
            Type::Vector(element, length) => {
                let length = u64::try_from(length.constant).unwrap_or(u64::MAX);
                // Counts vectors of empty elements too.
                self.extent(element, span, depth + 1)?.map(|inner| Extent {
                    leaves: inner.leaves.max(1).saturating_mul(length),
                    depth: inner.depth + 1,
                })
            }
            Type::Void => Some(Extent { leaves: 0, depth: 0 }),
            _ => Some(Extent { leaves: 1, depth: 0 }),
        };
        let extent =
            inside.filter(|extent| extent.leaves <= LEAF_LIMIT && extent.depth <= DEPTH_LIMIT);
        if let (Type::User { .. }, Some(extent)) = (ty, extent) {
            self.type_extents.insert(ty.clone(), extent);
        }
        Ok(extent)
    }

    fn sum_of_extents(
        &mut self,
        types: &[&Type],
        span: Span,
        depth: u32,
    ) -> Elaborated<Option<Extent>> {
        let mut all = Extent { leaves: 0, depth: 0 };
        for ty in types {
            let Some(extent) = self.extent(ty, span, depth + 1)? else { return Ok(None) };
            all.leaves = all.leaves.saturating_add(extent.leaves);
            all.depth = all.depth.max(extent.depth);
        }
        Ok(Some(Extent { depth: all.depth + 1, ..all }))
    }

    /// The type of a leaf that a local can have; `None` for values that exist only at compile time.
    pub(super) fn leaf_type(&mut self, ty: &Type, span: Span) -> Elaborated<Option<core::Type>> {
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
    pub(super) fn is_static(&mut self, ty: &Type, span: Span) -> Elaborated<bool> {
        match ty {
            Type::User { definition, .. } => {
                // Sizes do not matter.
                if let Some(known) = self.static_types.get(definition) {
                    return Ok(*known);
                }
                let shape = self.shape(ty, span)?;
                let found = self.is_static(&shape, span)?;
                self.static_types.insert(*definition, found);
                Ok(found)
            }
            Type::Record(fields) => {
                for (_, field) in fields {
                    if self.is_static(field, span)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Type::Tuple(types) => {
                for ty in types {
                    if self.is_static(ty, span)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Type::Vector(element, _) => self.is_static(element, span),
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
    ) -> Elaborated<Vec<(String, core::Type)>> {
        self.small_enough(ty, span)?;
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
    ) -> Elaborated<()> {
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
    ) -> Elaborated<Value> {
        self.small_enough(ty, span)?;
        let name = builder.unique(name);
        self.declare_within(builder, &name, ty, span)
    }

    fn declare_within(
        &mut self,
        builder: &mut Builder,
        name: &str,
        ty: &Type,
        span: Span,
    ) -> Elaborated<Value> {
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
                        codes::MEMOP_IN_RUN,
                        span,
                        format!("a `{shown}` cannot depend on what happens in the run"),
                    );
                    let help = "decide with `if` or `match`, and use it in each branch";
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
