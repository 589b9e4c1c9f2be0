// SPDX-License-Identifier: Apache-2.0
//! Keysets of `select` as conditions, and parser value sets (P4_16 v1.2.5 §8.16, §13.11). Keysets of
//! table entries are in `entries`.

use super::names::{annotation_named, control_plane_name};
use super::{Lowered, Lowering, Shape, Value, bit, codes};
use crate::{
    BinaryOperation, Bits, Key, MatchKind, Operand, Operation, ValueSet, ValueSetId, ValueType,
};
use p4::ast::{AnnotationBody, Declaration, DeclarationKind, Expression, ExpressionKind, TypeRef};
use p4::typed::{Definition, Type, TypeKind};
use std::sync::Arc;

impl<'a> Lowering<'a> {
    /// Whether a value is in a keyset: one bit.
    pub(super) fn keyset_matches(
        &mut self,
        subject: &Value,
        keyset: &'a Expression,
    ) -> Lowered<Operand> {
        match &keyset.kind {
            ExpressionKind::Default | ExpressionKind::DontCare | ExpressionKind::Dots => {
                Ok(bit(true))
            }
            ExpressionKind::Mask(value, mask) => {
                let subject = self.single(subject, keyset)?;
                let value = self.sized_operand(value, &subject)?;
                let mask = self.sized_operand(mask, &subject)?;
                let left = self.and(subject, mask.clone());
                let right = self.and(value, mask);
                Ok(self.binary(BinaryOperation::Equal, left, right))
            }
            ExpressionKind::Range(low, high) => {
                let ty = self.result_type(low)?;
                let operation = match self.is_signed(&ty) {
                    true => BinaryOperation::LessEqualSigned,
                    false => BinaryOperation::LessEqualUnsigned,
                };
                let subject = self.single(subject, keyset)?;
                let low = self.sized_operand(low, &subject)?;
                let high = self.sized_operand(high, &subject)?;
                let above = self.binary(operation, low, subject.clone());
                let below = self.binary(operation, subject, high);
                Ok(self.and(above, below))
            }
            ExpressionKind::TupleKeyset(items) | ExpressionKind::List(items) => {
                let parts: Vec<Value> = match subject {
                    Value::Struct(fields) => fields.iter().map(|(_, part)| part.clone()).collect(),
                    other => vec![other.clone()],
                };
                if parts.len() != items.len() {
                    return Err(self.missing_fact("a keyset of the select's length"));
                }
                let mut all = bit(true);
                for (part, item) in parts.iter().zip(items) {
                    let matches = self.keyset_matches(part, item)?;
                    all = self.and(all, matches);
                }
                Ok(all)
            }
            _ => {
                if let Some(set) = self.value_set_of(keyset)? {
                    let keys = self.flatten(subject);
                    let result = self.temp(ValueType::Bits(1));
                    self.emit(Operation::ValueSetContains { result, set, keys });
                    return Ok(Operand::Temp(result));
                }
                let value = self.evaluate(keyset)?;
                match (&value, subject) {
                    (Value::Struct(fields), scalar @ Value::Scalar(_)) if fields.len() == 1 => {
                        self.equal(scalar, &fields[0].1)
                    }
                    _ => self.equal(subject, &value),
                }
            }
        }
    }

    fn single(&mut self, subject: &Value, at: &'a Expression) -> Lowered<Operand> {
        match subject {
            Value::Struct(fields) if fields.len() == 1 => {
                let value = fields[0].1.clone();
                self.scalar(value, at)
            }
            other => self.scalar(other.clone(), at),
        }
    }

    /// An operand as wide as another.
    fn sized_operand(&mut self, expression: &'a Expression, like: &Operand) -> Lowered<Operand> {
        let width = self.width(like);
        match self.evaluate(expression)? {
            Value::Integer(value) => Ok(Operand::Constant(Bits::from_bigint(width, &value))),
            value => {
                let ty = self.result_type(expression)?;
                let signed = self.is_signed(&ty);
                let operand = self.scalar(value, expression)?;
                Ok(self.resize(operand, width, signed))
            }
        }
    }

    /// The value set that a keyset names.
    fn value_set_of(&mut self, keyset: &'a Expression) -> Lowered<Option<ValueSetId>> {
        let Some(Definition::Node(id)) = self.typed.definitions.get(&keyset.id) else {
            return Ok(None);
        };
        let Some(declaration) = self.nodes.declaration(*id) else { return Ok(None) };
        let DeclarationKind::ValueSet { element, size } = &declaration.kind else {
            return Ok(None);
        };
        let Some(instance) = self.instance else { return Ok(None) };
        let key = (instance, declaration.id);
        if let Some(known) = self.value_sets.get(&key) {
            return Ok(Some(*known));
        }
        let set = self.value_set(declaration, element, size)?;
        self.value_sets.insert(key, set);
        Ok(Some(set))
    }

    fn value_set(
        &mut self,
        declaration: &'a Declaration,
        element: &'a TypeRef,
        size: &'a Expression,
    ) -> Lowered<ValueSetId> {
        let Some(ty) = self.written_type(element) else {
            return Err(self.missing_fact("the type of a value set"));
        };
        let size = self.known_u64(size)?;
        let prefix = self.prefix();
        let name = control_plane_name(&prefix, &declaration.annotations, &declaration.name.text);
        self.claim_name("value set", &name)?;
        let declared_kind = match_annotation(&declaration.annotations);
        let mut components = Vec::new();
        self.components(&ty, "", &declared_kind, &mut components)?;
        let origin = self.add_origin(declaration.span, Some(declaration.id), Some(name.clone()));
        self.program.value_sets.push(ValueSet { name, components, size, origin });
        Ok(ValueSetId(self.program.value_sets.len() as u32 - 1))
    }

    fn components(
        &mut self,
        ty: &Type,
        name: &str,
        kind: &Option<Arc<str>>,
        components: &mut Vec<Key>,
    ) -> Lowered<()> {
        if let Shape::Scalar(scalar, display) = self.shape(ty)? {
            let match_kind = match kind {
                Some(kind) => match_kind(kind),
                None => MatchKind::Exact,
            };
            components.push(Key {
                name: name.into(),
                match_kind,
                width_bits: scalar.width_bits(),
                display,
                annotations: Vec::new(),
            });
            return Ok(());
        }
        let kinds = self.field_match_kinds(ty);
        for (index, (field, ty)) in self.fields_of(ty)?.into_iter().enumerate() {
            let below = match name {
                "" => field.to_string(),
                _ => format!("{name}.{field}"),
            };
            let kind = kinds.get(index).cloned().flatten().or_else(|| kind.clone());
            self.components(&ty, &below, &kind, components)?;
        }
        if components.is_empty() {
            return Err(
                self.error(codes::NOT_EXPRESSIBLE, "the members of this value set are empty")
            );
        }
        Ok(())
    }

    /// The `@match(kind)` of each field of a struct.
    fn field_match_kinds(&self, ty: &Type) -> Vec<Option<Arc<str>>> {
        let TypeKind::Struct(id, _) = &**ty else { return Vec::new() };
        match self.nodes.declaration(*id).map(|declaration| &declaration.kind) {
            Some(DeclarationKind::Struct(list)) => {
                list.fields.iter().map(|field| match_annotation(&field.annotations)).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// The match kind in `@match(kind)`.
fn match_annotation(annotations: &[p4::ast::Annotation]) -> Option<Arc<str>> {
    match &annotation_named(annotations, "match")?.body {
        AnnotationBody::Unstructured(tokens) => tokens.first().map(|token| token.text.clone()),
        AnnotationBody::Expressions(items) => match items.first().map(|item| &item.kind) {
            Some(ExpressionKind::Path(path)) => Some(path.name.text.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// A match kind by name.
pub(super) fn match_kind(name: &str) -> MatchKind {
    match name {
        "exact" => MatchKind::Exact,
        "lpm" => MatchKind::Lpm,
        "ternary" => MatchKind::Ternary,
        "range" => MatchKind::Range,
        "optional" => MatchKind::Optional,
        "selector" => MatchKind::Selector,
        other => MatchKind::Other(other.into()),
    }
}
