// SPDX-License-Identifier: Apache-2.0
//! Casts, written or implicit (P4_16 v1.2.5 §8.12): between numbers, and from lists and struct
//! expressions to structs, headers, unions and stacks.

use super::{Lowered, Lowering, Shape, Value, bit, number};
use crate::{Bits, HeaderTypeId, Operand, ValueType};
use p4::typed::{Type, TypeKind};
use std::sync::Arc;

impl Lowering<'_> {
    /// Converts a value. A widened number is signed if `from` is.
    pub(crate) fn cast(&mut self, value: Value, from: Option<&Type>, to: &Type) -> Lowered<Value> {
        let to = self.close(to);
        match &*to {
            TypeKind::DontCare | TypeKind::Function | TypeKind::Extern(..) => return Ok(value),
            TypeKind::Integer => {
                return Ok(match value {
                    Value::Scalar(Operand::Constant(bits)) => {
                        let signed = from.is_some_and(|from| self.is_signed(from));
                        Value::Integer(if signed {
                            bits.to_signed_bigint()
                        } else {
                            bits.to_biguint().into()
                        })
                    }
                    other => other,
                });
            }
            TypeKind::List(_) | TypeKind::String => return Ok(value),
            _ => {}
        }
        let signed = from.is_some_and(|from| self.is_signed(from));
        let shape = self.shape(&to)?;
        self.fit(value, signed, &shape)
    }

    /// Makes a value fit a layout.
    pub(crate) fn fit(&mut self, value: Value, signed: bool, shape: &Shape) -> Lowered<Value> {
        match (value, shape) {
            (Value::Default, shape) => Ok(self.default_value(shape)),
            (Value::Scalar(operand), Shape::Scalar(ValueType::Bits(width), _)) => {
                match self.operand_type(&operand) {
                    ValueType::Varbit(_) => Ok(Value::Scalar(operand)),
                    ValueType::Bits(_) => Ok(Value::Scalar(self.resize(operand, *width, signed))),
                }
            }
            (Value::Integer(integer), Shape::Scalar(ty, _)) => {
                let bits = Bits::from_bigint(ty.width_bits(), &integer);
                Ok(Value::Scalar(Operand::Constant(bits)))
            }
            (Value::Struct(values), Shape::Struct(fields)) => {
                let fields = fields.clone();
                let values = self.arrange(values, &fields)?;
                Ok(Value::Struct(values))
            }
            (Value::Struct(values), Shape::Header(ty)) => self.header_from(values, *ty),
            (Value::Struct(values), Shape::Stack(element, size)) => {
                let mut elements = Vec::with_capacity(*size as usize);
                let mut rest = false;
                for (_, value) in values {
                    rest |= value == Value::Default;
                    elements.push(self.fit(value, false, element)?);
                }
                if elements.len() < *size as usize && (rest || elements.is_empty()) {
                    let missing = self.default_value(element);
                    elements.resize(*size as usize, missing);
                }
                elements.truncate(*size as usize);
                Ok(Value::Stack { elements, next: number(32, 0) })
            }
            (Value::InvalidHeader, Shape::Header(ty)) => Ok(self.invalid_header(*ty)),
            (Value::InvalidHeader, Shape::Union(_)) => Ok(self.default_value(shape)),
            // The checker rejects a header in place of a struct, and the like.
            (value, _) => Ok(value),
        }
    }

    /// The values in the order of the fields: by name where they have names, else by position; what is
    /// left out gets its default (§8.14, §8.28).
    fn arrange(
        &mut self,
        values: Vec<(Arc<str>, Value)>,
        fields: &[(Arc<str>, Shape)],
    ) -> Lowered<Vec<(Arc<str>, Value)>> {
        let by_position =
            values.iter().any(|(name, _)| name.starts_with(|first: char| first.is_ascii_digit()));
        let mut arranged = Vec::with_capacity(fields.len());
        for (index, (name, shape)) in fields.iter().enumerate() {
            let found = if by_position {
                values.get(index)
            } else {
                values.iter().find(|(field, _)| field == name)
            };
            let value = match found {
                Some((_, value)) => self.fit(value.clone(), false, shape)?,
                None => self.default_value(shape),
            };
            arranged.push((name.clone(), value));
        }
        Ok(arranged)
    }

    fn header_from(&mut self, values: Vec<(Arc<str>, Value)>, ty: HeaderTypeId) -> Lowered<Value> {
        let shapes = self.header_fields(ty);
        let arranged = self.arrange(values, &shapes)?;
        let fields = self.flatten(&Value::Struct(arranged));
        Ok(Value::Header { ty, valid: bit(true), fields })
    }
}
