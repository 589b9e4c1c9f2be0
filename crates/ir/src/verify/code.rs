// SPDX-License-Identifier: Apache-2.0
//! Verifies regions: control flow, definitions before uses, types of operands, and which instructions
//! are allowed where.

use super::Verifier;
use crate::{
    BinaryOperation, BlockId, HashAlgorithm, HeaderRef, HeaderType, Instruction, ItemRef, Operand,
    Operation, Place, Region, RegionId, RegionKind, RegisterUpdate, ResizeKind, Temp, Terminator,
    ValueType,
};
use std::collections::HashSet;

/// One region under verification.
struct Code<'a, 'v> {
    verifier: &'v mut Verifier<'a>,
    region: &'a Region,
    /// Defined anywhere in the region so far.
    defined: Vec<bool>,
    /// Usable at the present place.
    visible: HashSet<Temp>,
    /// The present place.
    item: ItemRef,
}

impl<'a> Verifier<'a> {
    pub(super) fn region(&mut self, id: RegionId) {
        let region = &self.program.regions[id.index()];
        for ty in &region.temps {
            self.width(ItemRef::Region(id), ty.width_bits());
        }
        if region.blocks.is_empty() {
            self.error(ItemRef::Region(id), "the region has no block");
        }
        let mut code = Code {
            verifier: self,
            region,
            defined: vec![false; region.temps.len()],
            visible: HashSet::new(),
            item: ItemRef::Region(id),
        };
        for (at, block) in region.blocks.iter().enumerate() {
            let block_id = BlockId(at as u32);
            code.visible.clear();
            for (number, instruction) in block.instructions.iter().enumerate() {
                code.item = ItemRef::Instruction(id, block_id, number as u32);
                code.instruction(instruction);
            }
            code.item = ItemRef::Terminator(id, block_id);
            code.verifier.origin(code.item, block.origin);
            code.terminator(&block.terminator);
        }
    }
}

impl Code<'_, '_> {
    fn error(&mut self, message: impl Into<String>) {
        self.verifier.error(self.item, message);
    }

    fn require(&mut self, condition: bool, message: &str) {
        if !condition {
            self.error(message);
        }
    }

    fn allowed_in(&mut self, kinds: &[RegionKind], what: &str) {
        if !kinds.contains(&self.region.kind) {
            self.error(format!("{what} cannot stand in a region of this kind"));
        }
    }

    /// The type of a used operand; `None` when it cannot be known.
    fn operand(&mut self, operand: &Operand) -> Option<ValueType> {
        match operand {
            Operand::Constant(value) => {
                self.verifier.width(self.item, value.width_bits());
                Some(ValueType::Bits(value.width_bits()))
            }
            Operand::Temp(temp) => {
                if !self.visible.contains(temp) {
                    self.error(format!("t{} is not defined before in this block", temp.0));
                }
                self.region.temps.get(temp.index()).copied()
            }
        }
    }

    /// Defines a temporary and gives its type.
    fn result(&mut self, temp: Temp) -> Option<ValueType> {
        let Some(known) = self.defined.get_mut(temp.index()) else {
            self.error(format!("there is no temporary t{}", temp.0));
            return None;
        };
        if std::mem::replace(known, true) {
            self.error(format!("t{} is defined already", temp.0));
        }
        self.visible.insert(temp);
        self.region.temps.get(temp.index()).copied()
    }

    /// The width of an operand that must not be a varbit.
    fn bits(&mut self, operand: &Operand) -> Option<u32> {
        match self.operand(operand)? {
            ValueType::Bits(width) => Some(width),
            ValueType::Varbit(_) => {
                self.error("a varbit cannot stand here");
                None
            }
        }
    }

    fn bits_result(&mut self, temp: Temp) -> Option<u32> {
        match self.result(temp)? {
            ValueType::Bits(width) => Some(width),
            ValueType::Varbit(_) => {
                self.error(format!("t{} cannot be a varbit here", temp.0));
                None
            }
        }
    }

    fn same_width(&mut self, what: &str, found: Option<u32>, expected: Option<u32>) {
        if let (Some(found), Some(expected)) = (found, expected)
            && found != expected
        {
            self.error(format!("{what} has {found} bits, not {expected}"));
        }
    }

    fn has_width(&mut self, what: &str, operand: &Operand, expected: u32) {
        let found = self.bits(operand);
        self.same_width(what, found, Some(expected));
    }

    /// Whether a value fits where `expected` is required (C3).
    fn fits(&mut self, what: &str, operand: &Operand, expected: Option<ValueType>) {
        let (Some(found), Some(expected)) = (self.operand(operand), expected) else { return };
        let fits = match (operand, found, expected) {
            (Operand::Constant(_), ValueType::Bits(width), ValueType::Varbit(limit)) => {
                width <= limit
            }
            _ => found == expected,
        };
        if !fits {
            let describe = |ty| match ty {
                ValueType::Bits(width) => format!("bit<{width}>"),
                ValueType::Varbit(width) => format!("varbit<{width}>"),
            };
            self.error(format!("{what} is {}, not {}", describe(found), describe(expected)));
        }
    }

    fn handle(&mut self, what: &str, index: u32, count: usize) -> bool {
        self.verifier.handle(self.item, what, index, count)
    }

    fn member(&mut self, stack: u32, member: u32) -> bool {
        if !self.handle("stack", stack, self.verifier.program.stacks.len()) {
            return false;
        }
        let count = self.verifier.program.stacks[stack as usize].headers_per_element;
        if member >= count {
            self.error(format!(
                "elements of the stack have {count} headers, not {member} and more"
            ));
        }
        member < count
    }

    fn place(&mut self, place: &Place) -> Option<ValueType> {
        match place {
            Place::Slot(slot) => {
                let slots = &self.verifier.program.slots;
                self.handle("slot", slot.0, slots.len()).then(|| slots[slot.index()].ty)
            }
            Place::Element { stack, member, field, index } => {
                self.bits(index);
                if !self.member(stack.0, *member) {
                    return None;
                }
                let Some(field) = field.checked_sub(1) else { return Some(ValueType::Bits(1)) };
                let ty = self.verifier.member_type(stack.0, *member)?;
                let found = ty.fields.get(field as usize).map(|field| field.ty);
                self.require(found.is_some(), "the header has no such field");
                found
            }
        }
    }

    fn header(&mut self, header: &HeaderRef) -> Option<HeaderType> {
        let program = self.verifier.program;
        match header {
            HeaderRef::Header(header) => {
                if !self.handle("header", header.0, program.headers.len()) {
                    return None;
                }
                let ty = program.headers[header.index()].ty;
                program.header_types.get(ty.index()).cloned()
            }
            HeaderRef::Element { stack, member, index } => {
                self.bits(index);
                if !self.member(stack.0, *member) {
                    return None;
                }
                self.verifier.member_type(stack.0, *member).cloned()
            }
        }
    }

    fn binary(
        &mut self,
        result: Temp,
        operation: BinaryOperation,
        left: &Operand,
        right: &Operand,
    ) {
        use BinaryOperation as Op;
        match operation {
            Op::Equal | Op::NotEqual => {
                // Varbits may be compared with one another.
                let (left_type, right_type) = (self.operand(left), self.operand(right));
                if let (Some(left_type), Some(right_type)) = (left_type, right_type)
                    && left_type != right_type
                    && !matches!((left_type, right), (ValueType::Varbit(_), Operand::Constant(_)))
                    && !matches!((right_type, left), (ValueType::Varbit(_), Operand::Constant(_)))
                {
                    self.error("the operands are not of the same type");
                }
                let found = self.bits_result(result);
                self.same_width("the result", found, Some(1));
            }
            Op::LessUnsigned | Op::LessEqualUnsigned | Op::LessSigned | Op::LessEqualSigned => {
                let (left, right) = (self.bits(left), self.bits(right));
                self.same_width("the right operand", right, left);
                let found = self.bits_result(result);
                self.same_width("the result", found, Some(1));
            }
            Op::Concat => {
                let (left, right) = (self.bits(left), self.bits(right));
                let sum = left.zip(right).map(|(left, right)| left.saturating_add(right));
                let found = self.bits_result(result);
                self.same_width("the result", found, sum);
            }
            Op::ShiftLeft | Op::ShiftRightLogical | Op::ShiftRightArithmetic => {
                let left = self.bits(left);
                self.bits(right);
                let found = self.bits_result(result);
                self.same_width("the result", found, left);
            }
            _ => {
                let (left, right) = (self.bits(left), self.bits(right));
                self.same_width("the right operand", right, left);
                let found = self.bits_result(result);
                self.same_width("the result", found, left);
            }
        }
    }

    fn instruction(&mut self, instruction: &Instruction) {
        let program = self.verifier.program;
        self.verifier.origin(self.item, instruction.origin);
        match &instruction.operation {
            Operation::Unary { result, operand, .. } => {
                let width = self.bits(operand);
                let found = self.bits_result(*result);
                self.same_width("the result", found, width);
            }
            Operation::Binary { result, operation, left, right } => {
                self.binary(*result, *operation, left, right);
            }
            Operation::Resize { result, kind, operand } => {
                let width = self.bits(operand);
                let found = self.bits_result(*result);
                if let (Some(from), Some(to)) = (width, found) {
                    let fits = match kind {
                        ResizeKind::ZeroExtend | ResizeKind::SignExtend => to >= from,
                        ResizeKind::Truncate => to <= from,
                    };
                    self.require(fits, "the result's width is on the wrong side of the operand's");
                }
            }
            Operation::Slice { result, operand, high, low } => {
                let width = self.bits(operand);
                let found = self.bits_result(*result);
                match (width, high.checked_sub(*low)) {
                    (Some(width), _) if *high >= width => {
                        self.error(format!("the operand has only {width} bits"));
                    }
                    (_, None) => self.error("the highest bit is below the lowest"),
                    (_, Some(above)) => {
                        self.same_width("the result", found, Some(above.saturating_add(1)));
                    }
                }
            }
            Operation::Select { result, condition, then, otherwise } => {
                self.has_width("the condition", condition, 1);
                let ty = self.region.temps.get(result.index()).copied();
                self.fits("the first choice", then, ty);
                self.fits("the second choice", otherwise, ty);
                self.result(*result);
            }
            Operation::Load { result, place } => {
                let expected = self.place(place);
                let found = self.result(*result);
                if let (Some(expected), Some(found)) = (expected, found) {
                    self.require(expected == found, "the result does not have the place's type");
                }
            }
            Operation::Store { place, value } => {
                let expected = self.place(place);
                self.fits("the value", value, expected);
            }
            Operation::Extract { header, varbit_bits } => {
                self.allowed_in(&[RegionKind::Parser], "extract");
                let ty = self.header(header);
                if let Some(bits) = varbit_bits {
                    self.bits(bits);
                }
                if let Some(ty) = ty {
                    let varbit =
                        ty.fields.iter().any(|field| matches!(field.ty, ValueType::Varbit(_)));
                    match (varbit, varbit_bits.is_some()) {
                        (true, false) => self.error("the varbit field needs a length"),
                        (false, true) => self.error("there is no varbit field to give a length"),
                        _ => {}
                    }
                }
            }
            Operation::Lookahead { result } => {
                self.allowed_in(&[RegionKind::Parser], "lookahead");
                self.bits_result(*result);
            }
            Operation::Advance { bits } => {
                self.allowed_in(&[RegionKind::Parser], "advance");
                self.has_width("the number of bits", bits, 32);
            }
            Operation::PacketLength { result } => {
                self.allowed_in(&[RegionKind::Parser], "packet_length");
                let found = self.bits_result(*result);
                self.same_width("the result", found, Some(32));
            }
            Operation::Emit { header } => {
                self.allowed_in(&[RegionKind::Deparser], "emit");
                self.header(header);
            }
            Operation::ShiftStack { stack, .. } => {
                self.handle("stack", stack.0, program.stacks.len());
            }
            Operation::Apply { table, keys, hit, action } => {
                self.allowed_in(&[RegionKind::Control, RegionKind::Deparser], "apply");
                if self.handle("table", table.0, program.tables.len()) {
                    let widths: Vec<u32> = program.tables[table.index()]
                        .keys
                        .iter()
                        .map(|key| key.width_bits)
                        .collect();
                    self.keys(keys, &widths);
                }
                let found = self.bits_result(*hit);
                self.same_width("the hit result", found, Some(1));
                let found = self.bits_result(*action);
                self.same_width("the action result", found, Some(32));
            }
            Operation::RegisterAccess { register, index, guard, old, update } => {
                self.bits(index);
                if let Some(guard) = guard {
                    self.has_width("the guard", guard, 1);
                }
                let width = self
                    .handle("register", register.0, program.registers.len())
                    .then(|| program.registers[register.index()].width_bits);
                if let Some(old) = old {
                    let found = self.bits_result(*old);
                    self.same_width("the old value", found, width);
                }
                if let Some(update) = update {
                    self.update(update, width);
                }
            }
            Operation::Count { counter, index } => {
                self.bits(index);
                if self.handle("counter", counter.0, program.counters.len()) {
                    let direct = program.counters[counter.index()].size.is_none();
                    self.require(!direct, "a direct counter has no index");
                }
            }
            Operation::Meter { meter, index, result } => {
                self.bits(index);
                self.colour(*result);
                if self.handle("meter", meter.0, program.meters.len()) {
                    let direct = program.meters[meter.index()].size.is_none();
                    self.require(!direct, "a direct meter has no index");
                }
            }
            Operation::CountDirect { counter } => {
                self.allowed_in(&[RegionKind::Action], "count_direct");
                if self.handle("counter", counter.0, program.counters.len()) {
                    let direct = program.counters[counter.index()].size.is_none();
                    self.require(direct, "the counter is not direct");
                }
            }
            Operation::MeterDirect { meter, result } => {
                self.allowed_in(&[RegionKind::Action], "meter_direct");
                self.colour(*result);
                if self.handle("meter", meter.0, program.meters.len()) {
                    let direct = program.meters[meter.index()].size.is_none();
                    self.require(direct, "the meter is not direct");
                }
            }
            Operation::ValueSetContains { result, set, keys } => {
                if self.handle("value set", set.0, program.value_sets.len()) {
                    let components = &program.value_sets[set.index()].components;
                    let widths: Vec<u32> = components.iter().map(|key| key.width_bits).collect();
                    self.keys(keys, &widths);
                }
                let found = self.bits_result(*result);
                self.same_width("the result", found, Some(1));
            }
            Operation::Hash { result, algorithm, inputs, .. } => {
                match algorithm {
                    HashAlgorithm::Crc(crc) if !crc.is_valid() => {
                        self.error("a CRC has 1 to 64 bits, and its parameters are no wider");
                    }
                    HashAlgorithm::Custom(id) => {
                        self.handle("calculation", id.0, program.calculations.len());
                    }
                    _ => {}
                }
                for input in inputs {
                    self.operand(input);
                }
                self.bits_result(*result);
            }
            Operation::Random { result, low, high, .. } => {
                let (low, high) = (self.bits(low), self.bits(high));
                self.same_width("the largest number", high, low);
                let found = self.bits_result(*result);
                self.same_width("the result", found, low);
            }
            Operation::Request { request, arguments } => {
                if !self.handle("request", request.0, program.requests.len()) {
                    return;
                }
                let fields = &program.requests[request.index()].fields;
                if fields.len() != arguments.len() {
                    return self.error(format!(
                        "the request has {} fields, here are {} arguments",
                        fields.len(),
                        arguments.len()
                    ));
                }
                for ((name, ty), argument) in fields.iter().zip(arguments) {
                    self.fits(&format!("argument `{name}`"), argument, Some(*ty));
                }
            }
            Operation::Log { arguments, .. } => {
                for argument in arguments {
                    self.operand(argument);
                }
            }
            Operation::Assert { condition, .. } => self.has_width("the condition", condition, 1),
            Operation::CallExtern { target, arguments, results, .. } => {
                self.handle("extern", target.0, program.externs.len());
                for argument in arguments {
                    self.operand(argument);
                }
                for result in results {
                    self.result(*result);
                }
            }
        }
    }

    fn keys(&mut self, keys: &[Operand], widths: &[u32]) {
        if keys.len() != widths.len() {
            self.error(format!("{} operands for {} keys", keys.len(), widths.len()));
            return;
        }
        for (number, (key, width)) in keys.iter().zip(widths).enumerate() {
            self.has_width(&format!("key {number}"), key, *width);
        }
    }

    fn colour(&mut self, result: Temp) {
        let width = self.bits_result(result);
        self.require(width.is_none_or(|width| width >= 2), "a colour needs at least 2 bits");
    }

    fn update(&mut self, update: &RegisterUpdate, width: Option<u32>) {
        let (outer, item) = (self.visible.clone(), self.item);
        for (number, instruction) in update.body.iter().enumerate() {
            if let ItemRef::Instruction(region, block, at) = item {
                self.item = ItemRef::UpdateInstruction(region, block, at, number as u32);
            }
            if instruction.operation.is_pure() {
                self.instruction(instruction);
            } else {
                self.error("only pure instructions can stand in a register update");
            }
        }
        self.item = item;
        let found = self.bits(&update.value);
        self.same_width("the new value", found, width);
        self.visible = outer;
    }

    fn target(&mut self, block: BlockId) {
        self.handle("block", block.0, self.region.blocks.len());
    }

    fn terminator(&mut self, terminator: &Terminator) {
        for block in terminator.successors() {
            self.target(block);
        }
        match terminator {
            Terminator::Branch { condition, .. } => self.has_width("the condition", condition, 1),
            Terminator::Switch { value, cases, .. } => {
                let width = self.bits(value);
                let mut seen = HashSet::new();
                for (case, _) in cases {
                    self.same_width("a case", Some(case.width_bits()), width);
                    if !seen.insert(case) {
                        self.error(format!("there are two cases {case}"));
                    }
                }
            }
            Terminator::Exit => self.allowed_in(
                &[RegionKind::Control, RegionKind::Deparser, RegionKind::Action],
                "exit",
            ),
            Terminator::Reject(error) => {
                self.allowed_in(&[RegionKind::Parser], "reject");
                self.has_width("the error", error, 16);
            }
            Terminator::Goto(_) | Terminator::Return => {}
        }
    }
}
