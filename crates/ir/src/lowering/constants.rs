// SPDX-License-Identifier: Apache-2.0
//! Converts the checker's constants to values of the lowering, and values back to numbers. `expressions`
//! evaluates expressions.

use super::{Lowered, Lowering, Shape, Value, bit, codes, number};
use crate::{Bits, Operand};
use num_bigint::BigInt;
use p4::ast::{DeclarationKind, Expression, NodeId};
use p4::typed::{Constant, Type, TypeKind};
use std::sync::Arc;

impl<'a> Lowering<'a> {
    /// A constant of a type.
    pub(crate) fn constant_value(&mut self, constant: &Constant, ty: &Type) -> Lowered<Value> {
        let raw = match constant {
            Constant::Bool(value) => Value::Scalar(bit(*value)),
            Constant::Integer(value) => Value::Integer(value.clone()),
            Constant::String(text) => Value::String(text.clone()),
            Constant::Error(name) => Value::Scalar(self.error_operand(name)),
            Constant::MatchKind(_) => Value::Void,
            Constant::EnumMember(declaration, index) => self.enum_member(*declaration, *index)?,
            Constant::List(items) => {
                let types = self.item_types(ty, items.len())?;
                let mut fields = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    let value = match types.get(index) {
                        Some(ty) => self.constant_value(item, &ty.clone())?,
                        None => self.untyped_constant(item)?,
                    };
                    fields.push((Arc::from(index.to_string()), value));
                }
                Value::Struct(fields)
            }
            Constant::Struct(items) => {
                let types = self.fields_of(ty)?;
                let mut fields = Vec::with_capacity(items.len());
                for (name, item) in items {
                    let value = match types.iter().find(|(field, _)| field == name) {
                        Some((_, ty)) => self.constant_value(item, &ty.clone())?,
                        None => self.untyped_constant(item)?,
                    };
                    fields.push((name.clone(), value));
                }
                Value::Struct(fields)
            }
            Constant::InvalidHeader => Value::InvalidHeader,
        };
        self.cast(raw, None, ty)
    }

    fn untyped_constant(&mut self, constant: &Constant) -> Lowered<Value> {
        self.constant_value(constant, &Arc::new(TypeKind::DontCare))
    }

    fn item_types(&mut self, ty: &Type, count: usize) -> Lowered<Vec<Type>> {
        Ok(match &**ty {
            TypeKind::Stack(element, _) | TypeKind::List(element) => vec![element.clone(); count],
            _ => self.fields_of(ty)?.into_iter().map(|(_, ty)| ty).collect(),
        })
    }

    /// The number of an error as an operand.
    pub(crate) fn error_operand(&self, name: &str) -> Operand {
        number(16, u64::from(self.program.error_number(name).unwrap_or(0)))
    }

    /// A member of an enum by its index.
    pub(crate) fn enum_member(&mut self, declaration: NodeId, index: usize) -> Lowered<Value> {
        let Some(found) = self.nodes.declaration(declaration) else {
            return Err(self.missing_fact("an enum"));
        };
        let DeclarationKind::Enum { underlying, members } = &found.kind else {
            return Err(self.missing_fact("the members of an enum"));
        };
        let ty: Type = match underlying {
            Some(_) => Arc::new(TypeKind::SerializableEnum(declaration)),
            None => Arc::new(TypeKind::Enum(declaration)),
        };
        let Shape::Scalar(scalar, _) = self.shape(&ty)? else {
            return Err(self.missing_fact("the type of an enum"));
        };
        let value = match underlying {
            None => BigInt::from(index),
            Some(_) => {
                let member = members.get(index).map(|member| member.id);
                match member.and_then(|member| self.serializable_member(declaration, member)) {
                    Some(value) => value,
                    None => return Err(self.missing_fact("the value of an enum's member")),
                }
            }
        };
        Ok(Value::Scalar(Operand::Constant(Bits::from_bigint(scalar.width_bits(), &value))))
    }

    /// The name of the enum member that an expression is at compile time.
    pub(crate) fn enum_member_name(&mut self, expression: &'a Expression) -> Lowered<Arc<str>> {
        if let Some(Constant::EnumMember(id, index)) = self.typed.constants.get(&expression.id)
            && let Some(declaration) = self.nodes.declaration(*id)
            && let DeclarationKind::Enum { members, .. } = &declaration.kind
            && let Some(member) = members.get(*index)
        {
            return Ok(member.name.text.clone());
        }
        let ty = self.type_of(expression)?;
        let value = self.evaluate(expression)?;
        self.enum_name_of(&value, &ty)
    }

    /// The name of the enum member that a constant value is.
    pub(crate) fn enum_name_of(&mut self, value: &Value, ty: &Type) -> Lowered<Arc<str>> {
        if let Value::Scalar(Operand::Constant(bits)) = value
            && let Shape::Scalar(_, crate::Display::Enum(_, members)) = self.shape(ty)?
            && let Some((name, _)) = members.iter().find(|(_, member)| member == bits)
        {
            return Ok(name.clone());
        }
        Err(self.error(codes::NOT_CONSTANT, "this enum value must be known at compile time"))
    }

    /// A number that must be known at compile time.
    pub(crate) fn known_integer(&mut self, expression: &'a Expression) -> Lowered<BigInt> {
        let span = expression.span;
        if let Some(Constant::Integer(value)) = self.typed.constants.get(&expression.id) {
            return Ok(value.clone());
        }
        match self.evaluate(expression)? {
            Value::Integer(value) => Ok(value),
            Value::Scalar(Operand::Constant(bits)) => {
                let ty = self.result_type(expression)?;
                Ok(if self.is_signed(&ty) {
                    bits.to_signed_bigint()
                } else {
                    bits.to_biguint().into()
                })
            }
            _ => Err(self.error_at(
                span,
                codes::NOT_CONSTANT,
                "this number must be known when the program is compiled",
            )),
        }
    }

    /// A small number that must be known at compile time.
    pub(crate) fn known_u64(&mut self, expression: &'a Expression) -> Lowered<u64> {
        let value = self.known_integer(expression)?;
        u64::try_from(&value).map_err(|_| {
            self.error_at(
                expression.span,
                codes::NOT_CONSTANT,
                format!("{value} is not a number from 0 to 2^64 - 1"),
            )
        })
    }

    /// Whether an operand is known to be true.
    pub(crate) fn known_true(&self, operand: &Operand) -> bool {
        super::constant(operand).is_some_and(Bits::is_true)
    }
}
