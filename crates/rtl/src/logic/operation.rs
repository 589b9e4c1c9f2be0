// SPDX-License-Identifier: Apache-2.0
//! Instructions as wires.

use super::{Logic, Reached, constant};
use crate::codes;
use ir::{
    BinaryOperation, HeaderRef, Instruction, Operand, Operation, OriginId, Place, ResizeKind,
    StackId, Temp, UnaryOperation, ValueType,
};

impl Logic<'_> {
    /// Lowers an instruction. `None`: nothing behind it is reached.
    pub(super) fn instruction(
        &mut self,
        instruction: &Instruction,
        place: &mut Reached,
        types: &[ValueType],
        exits: &mut Vec<Reached>,
    ) -> Option<()> {
        let origin = instruction.origin;
        match &instruction.operation {
            Operation::Load { result, place: from } => {
                let value = self.load(from, place, types, origin);
                self.temps.insert(*result, value);
            }
            Operation::Store { place: to, value } => self.store(to, value, place, types, origin),
            Operation::RegisterAccess { register, index, guard, old, update } => {
                let access = (*register, index, guard.as_ref(), *old, update.as_ref());
                self.register_access(access, &place.condition, types, origin);
            }
            Operation::Apply { table, keys, hit, action } => {
                let keys: Vec<String> = keys.iter().map(|key| self.operand(key)).collect();
                let found = self.apply(*table, &keys, place, origin);
                self.temps.insert(*hit, found.hit);
                self.temps.insert(*action, found.action);
                exits.extend(found.exits);
                *place = found.place?;
            }
            // Nothing that leaves the machine depends on them.
            Operation::Log { .. }
            | Operation::Assert { .. }
            | Operation::Count { .. }
            | Operation::CountDirect { .. } => {}
            other => self.pure(other, types, origin),
        }
        Some(())
    }

    /// Lowers an operation that only computes.
    pub(super) fn pure(&mut self, operation: &Operation, types: &[ValueType], origin: OriginId) {
        let width = |temp: &Temp| types[temp.index()].width_bits() as usize;
        let (result, value) = match operation {
            Operation::Unary { result, operation, operand } => {
                let operand = self.operand(operand);
                let sign = match operation {
                    UnaryOperation::Not => "~",
                    UnaryOperation::Negate => "-",
                };
                (result, format!("{sign}{operand}"))
            }
            Operation::Binary { result, operation, left, right } => {
                let operand_width = self.width_of(left, types);
                let right_width = self.width_of(right, types);
                let is_division = matches!(
                    operation,
                    BinaryOperation::DivideUnsigned | BinaryOperation::RemainderUnsigned
                );
                if is_division && !matches!(right, Operand::Constant(_)) {
                    let help = "divide by a constant";
                    let message = "a stage has no divider of two variables".to_owned();
                    self.refuse(codes::DIVISION, origin, message, help);
                    return;
                }
                if is_division && matches!(right, Operand::Constant(bits) if bits.is_zero()) {
                    (result, "'0".to_owned())
                } else {
                    let (left, right) = (self.operand(left), self.operand(right));
                    let value = self.binary(*operation, &left, &right, operand_width, right_width);
                    (result, value)
                }
            }
            Operation::Resize { result, kind, operand } => {
                let from = self.width_of(operand, types);
                let to = width(result);
                let operand = self.operand(operand);
                let value = match kind {
                    _ if from == 0 => "'0".to_owned(),
                    ResizeKind::Truncate => format!("{operand}[{}:0]", to.max(1) - 1),
                    _ if to == from => operand,
                    ResizeKind::ZeroExtend => format!("{{{}'d0, {operand}}}", to - from),
                    ResizeKind::SignExtend => {
                        format!("{{{{{}{{{operand}[{}]}}}}, {operand}}}", to - from, from - 1)
                    }
                };
                (result, value)
            }
            Operation::Slice { result, operand, high, low } => {
                let operand = self.operand(operand);
                (result, format!("{operand}[{high}:{low}]"))
            }
            Operation::Select { result, condition, then, otherwise } => {
                let condition = self.operand(condition);
                let (then, otherwise) = (self.operand(then), self.operand(otherwise));
                (result, format!("{condition} ? {then} : {otherwise}"))
            }
            Operation::Hash { result, algorithm, inputs, payload } => {
                if *payload {
                    let help = "hash header fields only";
                    let message = "a stage does not see the payload".to_owned();
                    self.refuse(codes::OPERATION, origin, message, help);
                    return;
                }
                let inputs = self.hash_inputs(inputs, types);
                (result, self.hash(*algorithm, &inputs, width(result)))
            }
            other => {
                let help =
                    "compute the value in front of the machine and hand it over in a header field";
                let message = format!("a stage has no hardware for {}", name(other));
                self.refuse(codes::OPERATION, origin, message, help);
                return;
            }
        };
        if matches!(types[result.index()], ValueType::Varbit(_)) {
            let help = "use a field of type `bit<N>`";
            let message = "a value of variable length has no wires".to_owned();
            self.refuse(codes::VARBIT, origin, message, help);
            return;
        }
        let wire = self.wire(width(result), &value);
        self.temps.insert(*result, wire);
    }

    /// The width of an operand.
    pub(super) fn width_of(&self, operand: &Operand, types: &[ValueType]) -> usize {
        match operand {
            Operand::Constant(bits) => bits.width_bits() as usize,
            Operand::Temp(temp) => types[temp.index()].width_bits() as usize,
        }
    }

    /// The value of an operation with two operands of a width.
    fn binary(
        &mut self,
        operation: BinaryOperation,
        left: &str,
        right: &str,
        width: usize,
        right_width: usize,
    ) -> String {
        use BinaryOperation as B;
        let infix = match operation {
            B::Add => "+",
            B::Subtract => "-",
            B::Multiply => "*",
            B::DivideUnsigned => "/",
            B::RemainderUnsigned => "%",
            B::And => "&",
            B::Or => "|",
            B::Xor => "^",
            B::ShiftLeft => "<<",
            B::ShiftRightLogical => ">>",
            B::Equal => "==",
            B::NotEqual => "!=",
            B::LessUnsigned => "<",
            B::LessEqualUnsigned => "<=",
            B::ShiftRightArithmetic => return format!("$signed({left}) >>> {right}"),
            B::LessSigned => return format!("$signed({left}) < $signed({right})"),
            B::LessEqualSigned => return format!("$signed({left}) <= $signed({right})"),
            B::Concat => {
                return match (width, right_width) {
                    (0, 0) => "'0".to_owned(),
                    (0, _) => right.to_owned(),
                    (_, 0) => left.to_owned(),
                    _ => format!("{{{left}, {right}}}"),
                };
            }
            B::AddSaturatingUnsigned | B::SubtractSaturatingUnsigned => {
                let (sign, full) = match operation {
                    B::AddSaturatingUnsigned => ("+", "'1"),
                    _ => ("-", "'0"),
                };
                let sum =
                    self.wire(width + 1, &format!("{{1'b0, {left}}} {sign} {{1'b0, {right}}}"));
                return format!("{sum}[{width}] ? {full} : {sum}[{}:0]", width.max(1) - 1);
            }
            B::AddSaturatingSigned | B::SubtractSaturatingSigned => {
                let sign = if operation == B::AddSaturatingSigned { "+" } else { "-" };
                let high = width.max(1) - 1;
                let sum = self.wire(
                    width + 1,
                    &format!("{{{left}[{high}], {left}}} {sign} {{{right}[{high}], {right}}}"),
                );
                let most = self.wire(width, &format!("{{{width}{{1'b1}}}} >> 1"));
                return format!(
                    "{sum}[{width}] == {sum}[{high}] ? {sum}[{high}:0] : {sum}[{width}] ? ~{most} : {most}"
                );
            }
        };
        format!("{left} {infix} {right}")
    }

    /// The elements of a stack's field: slots.
    fn elements(&self, stack: StackId, member: u32, field: u32) -> Vec<ir::SlotId> {
        let declared = &self.program.stacks[stack.index()];
        (0..declared.size)
            .map(|element| {
                let header =
                    declared.first_header.0 + element * declared.headers_per_element + member;
                let first = self.program.headers[header as usize].first_slot;
                ir::SlotId(first.0 + field)
            })
            .collect()
    }

    fn load(
        &mut self,
        from: &Place,
        place: &Reached,
        types: &[ValueType],
        origin: OriginId,
    ) -> String {
        match from {
            Place::Slot(slot) => {
                if matches!(self.program.slots[slot.index()].ty, ValueType::Varbit(_)) {
                    let help = "use a field of type `bit<N>`";
                    let message = "a field of variable length has no wires".to_owned();
                    self.refuse(codes::VARBIT, origin, message, help);
                }
                self.slot(&place.slots, *slot)
            }
            Place::Element { stack, member, field, index } => {
                let elements = self.elements(*stack, *member, *field);
                let width = elements.first().map_or(1, |slot| self.slot_width(*slot));
                let bits = self.width_of(index, types);
                let index = self.operand(index);
                let mut value = "'0".to_owned();
                for (number, slot) in elements.iter().enumerate().rev() {
                    if bits < 64 && number >= 1 << bits {
                        continue;
                    }
                    let element = self.slot(&place.slots, *slot);
                    value = format!("{index} == {bits}'d{number} ? {element} : {value}");
                }
                self.wire(width, &value)
            }
        }
    }

    fn store(
        &mut self,
        to: &Place,
        value: &Operand,
        place: &mut Reached,
        types: &[ValueType],
        origin: OriginId,
    ) {
        let value_wire = self.operand(value);
        match to {
            Place::Slot(slot) => {
                if matches!(self.program.slots[slot.index()].ty, ValueType::Varbit(_)) {
                    let help = "use a field of type `bit<N>`";
                    let message = "a field of variable length has no wires".to_owned();
                    self.refuse(codes::VARBIT, origin, message, help);
                }
                place.slots.insert(*slot, value_wire);
            }
            Place::Element { stack, member, field, index } => {
                let bits = self.width_of(index, types);
                let index = self.operand(index);
                for (number, slot) in self.elements(*stack, *member, *field).into_iter().enumerate()
                {
                    if bits < 64 && number >= 1 << bits {
                        continue;
                    }
                    let before = self.slot(&place.slots, slot);
                    let width = self.slot_width(slot);
                    let after = self.wire(
                        width,
                        &format!("{index} == {bits}'d{number} ? {value_wire} : {before}"),
                    );
                    place.slots.insert(slot, after);
                }
            }
        }
    }

    /// The inputs of a hash, end to end, with their bits.
    fn hash_inputs(&mut self, inputs: &[Operand], types: &[ValueType]) -> Vec<(String, usize)> {
        inputs
            .iter()
            .map(|input| match input {
                Operand::Constant(bits) => (constant(bits), bits.width_bits() as usize),
                Operand::Temp(_) => (self.operand(input), self.width_of(input, types)),
            })
            .collect()
    }
}

/// An operation for people.
fn name(operation: &Operation) -> &'static str {
    match operation {
        Operation::Extract { .. } | Operation::Lookahead { .. } | Operation::Advance { .. } => {
            "parsing"
        }
        Operation::PacketLength { .. } => "the packet's length",
        Operation::Emit { header: HeaderRef::Header(_) | HeaderRef::Element { .. } } => "deparsing",
        Operation::ShiftStack { .. } => "push and pop of header stacks",
        Operation::Meter { .. } | Operation::MeterDirect { .. } => "meters",
        Operation::ValueSetContains { .. } => "value sets",
        Operation::Random { .. } => "random numbers",
        Operation::Request { .. } => "requests to the device, such as clones and digests",
        Operation::CallExtern { .. } => "externs",
        _ => "this operation",
    }
}
