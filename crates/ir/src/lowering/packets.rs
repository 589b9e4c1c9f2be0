// SPDX-License-Identifier: Apache-2.0
//! Methods of `packet_in` and `packet_out` (P4_16 v1.2.5 §13.8.1, §13.8.2, §13.8.3, §13.8.4, §13.9,
//! §16.1): extracting, looking ahead, skipping and emitting, for headers, unions, stacks and
//! structs of them.

use super::{Location, Lowered, Lowering, Value, bit, codes, number};
use crate::{BinaryOperation, HeaderTypeId, Operand, Operation, StackId, Temp, ValueType};
use p4::ast::{Expression, ExpressionKind, Method};
use p4::typed::Type;
use source::Diagnostic;

impl<'a> Lowering<'a> {
    pub(super) fn packet_method(
        &mut self,
        owner: &str,
        method: &'a Method,
        arguments: &[Option<&'a Expression>],
        result: &Type,
    ) -> Lowered<Value> {
        match (owner, &*method.name.text, arguments) {
            ("packet_in", "extract", [Some(header)]) => self.extract(header, None),
            ("packet_in", "extract", [Some(header), Some(bits)]) => {
                self.extract(header, Some(bits))
            }
            ("packet_in", "lookahead", []) => self.lookahead(result),
            ("packet_in", "advance", [Some(bits)]) => {
                let bits = self.operand(bits)?;
                self.emit(Operation::Advance { bits });
                Ok(Value::Void)
            }
            ("packet_in", "length", []) => {
                let result = self.temp(ValueType::Bits(32));
                self.emit(Operation::PacketLength { result });
                Ok(Value::Scalar(Operand::Temp(result)))
            }
            ("packet_out", "emit", [Some(data)]) => self.emit_data(data),
            (_, name, _) => {
                Err(self.not_expressible(format!("`{owner}` has no method `{name}` here")))
            }
        }
    }

    fn extract(
        &mut self,
        header: &'a Expression,
        varbit_bits: Option<&'a Expression>,
    ) -> Lowered<Value> {
        if matches!(header.kind, ExpressionKind::DontCare) {
            return self.skip_header(header);
        }
        let (location, next) = match self.next_of(header)? {
            Some((location, stack)) => (location, Some(stack)),
            None => (self.target(header)?, None),
        };
        let (header, siblings) = self.header_of(&location)?;
        let varbit_bits = match varbit_bits {
            Some(bits) => Some(self.operand(bits)?),
            None => None,
        };
        if let Location::Header { ty, .. } = &location {
            self.warn_of_part_bytes(*ty);
        }
        self.emit(Operation::Extract { header, varbit_bits });
        for sibling in siblings {
            let place = self.header_place(&sibling, 0);
            self.store_place(place, bit(false));
        }
        if let Some(stack) = next {
            let increased = self.next_plus(stack, BinaryOperation::Add);
            let slot = self.program.stacks[stack.index()].next;
            self.store_slot(slot, increased);
        }
        Ok(Value::Void)
    }

    /// Some targets, such as BMv2, only read and write headers of whole bytes.
    fn warn_of_part_bytes(&mut self, ty: HeaderTypeId) {
        let header = &self.program.header_types[ty.index()];
        let width_bits: u64 =
            header.fields.iter().map(|field| u64::from(field.ty.width_bits())).sum();
        if width_bits.is_multiple_of(8)
            || !self.architecture().is_some_and(|it| it.whole_byte_headers)
            || self.header_types_warned.contains(&ty)
        {
            return;
        }
        let message = format!(
            "header `{}` has {width_bits} bits, but BMv2 only handles whole bytes",
            header.name
        );
        self.header_types_warned.insert(ty);
        self.diagnostics.push(
            Diagnostic::warning(codes::HEADER_NOT_BYTES, self.span, message)
                .help("add a field that pads it to a multiple of 8 bits"),
        );
    }

    /// `extract(_)`: the header's bits are passed over (§13.8.1).
    fn skip_header(&mut self, expression: &'a Expression) -> Lowered<Value> {
        let ty = self.result_type(expression)?;
        let shape = self.shape(&ty)?;
        let width = self.packed_width(&shape);
        self.emit(Operation::Advance { bits: number(32, u64::from(width)) });
        Ok(Value::Void)
    }

    /// The next element of a stack, or a member of the next union, and the stack; unlike elsewhere an
    /// element that does not exist is for `extract` to find.
    pub(super) fn next_of(
        &mut self,
        expression: &'a Expression,
    ) -> Lowered<Option<(Location, StackId)>> {
        let ExpressionKind::Member(base, name) = &expression.kind else { return Ok(None) };
        if &*name.text == "next" && self.is_stack(base) {
            let Some(Location::Stack(stack, element)) = self.locate(base)? else {
                return Ok(None);
            };
            let index = self.next_index(stack, false)?;
            return Ok(Some((self.element_location(stack, &element, &index), stack)));
        }
        match self.next_of(base)? {
            Some((union, stack)) => {
                Ok(self.member_location(&union, &name.text).map(|member| (member, stack)))
            }
            None => Ok(None),
        }
    }

    /// `lookahead<T>()`: the bits of a `T` laid end to end; headers become valid.
    fn lookahead(&mut self, result: &Type) -> Lowered<Value> {
        let shape = self.shape(result)?;
        let width = self.packed_width(&shape);
        let temp: Temp = self.temp(ValueType::Bits(width));
        self.emit(Operation::Lookahead { result: temp });
        Ok(self.unpack(&Operand::Temp(temp), &shape))
    }

    fn emit_data(&mut self, data: &'a Expression) -> Lowered<Value> {
        if let Some(location) = self.locate(data)? {
            self.emit_location(&location)?;
            return Ok(Value::Void);
        }
        // A value without storage is stored first.
        let value = self.evaluate(data)?;
        let ty = self.result_type(data)?;
        self.emit_value(value, &ty)?;
        Ok(Value::Void)
    }

    fn emit_value(&mut self, value: Value, ty: &Type) -> Lowered<()> {
        let shape = self.shape(ty)?;
        let name = self.local_name("$emitted");
        let location = self.allocate(&shape, &name)?;
        let value = self.fit(value, false, &shape)?;
        self.store(&location, &value)?;
        self.emit_location(&location)
    }

    fn emit_location(&mut self, location: &Location) -> Lowered<()> {
        match location {
            Location::Header { header, ty, .. } => {
                self.warn_of_part_bytes(*ty);
                self.emit(Operation::Emit { header: header.clone() });
                Ok(())
            }
            Location::Struct(fields) | Location::Union(fields) => {
                for (_, field) in fields.iter() {
                    self.emit_location(field)?;
                }
                Ok(())
            }
            Location::Stack(stack, element) => {
                for element in self.elements(*stack, element) {
                    self.emit_location(&element)?;
                }
                Ok(())
            }
            _ => Err(self.not_expressible("only headers can be emitted")),
        }
    }
}
