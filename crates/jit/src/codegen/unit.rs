// SPDX-License-Identifier: Apache-2.0
//! A unit as a function: its steps in order, its exits, and how it returns.

use super::batched_lookups::BatchedLookups;
use super::burst_loop::{Loop, Output, load_received};
use super::call::{PreserveAllCalls, Signatures};
use super::code_budget::CodeBudget;
use super::facts::Facts;
use super::function::{FunctionCompiler, RegionExits, SlotLocation};
use super::path::{PathFacts, UsedResults};
use super::values::{ConstantPool, ScratchSlots, Val};
use crate::runtime::pass::{ENDED, Instance, Pass, Received};
use crate::unit::{Condition, Gate, Step, StepValue, Unit};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Function, InstBuilder, MemFlagsData, Value, types};
use cranelift_codegen::isa::{CallConv, TargetFrontendConfig};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use ir::analysis::Analysis;
use ir::{HeaderId, Operation, Program, RegionKind, SlotId, StackId, StorageLayout, ValueType};
use std::collections::HashMap;
use std::mem::offset_of;

/// Inputs of compilation that the units of a program share.
#[derive(Clone, Copy)]
pub(crate) struct UnitContext<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its analysis.
    pub analysis: &'a Analysis<'a>,
    /// The layout of its slots in storage.
    pub layout: &'a StorageLayout,
    /// The machine's calling convention.
    pub call_conv: CallConv,
    /// Functions for calls from cold code.
    pub preserve_all_calls: &'a PreserveAllCalls,
    /// The machine, for Cranelift's frontend.
    pub frontend_config: TargetFrontendConfig,
}

/// Whether a unit has a table lookup that can be prefetched.
pub(crate) fn looks_up(program: &Program, unit: &Unit) -> bool {
    unit.steps.iter().any(|step| matches!(step, Step::Block(block) if applies(program, *block)))
}

fn applies(program: &Program, block: usize) -> bool {
    let region = &program.regions[program.blocks[block].region.index()];
    let mut instructions = region.blocks.iter().flat_map(|block| &block.instructions);
    instructions.any(|instruction| matches!(instruction.operation, Operation::Apply { .. }))
}

/// Whether a function that prefetches skips a block: it has no lookup and rarely changes keys of later ones,
/// such as a control that verifies checksums.
fn may_be_left_out(program: &Program, block: usize) -> bool {
    let region = &program.regions[program.blocks[block].region.index()];
    region.kind != RegionKind::Parser && !applies(program, block)
}

/// The purpose of a function.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose<'a> {
    /// Runs the unit.
    Run,
    /// Runs the unit up to its first lookups and prefetches for them, without code that does not lead there.
    Prefetch,
    /// Makes these lookups, or prefetches for them, without running the unit.
    BatchLookups(&'a BatchedLookups),
}

/// Builds a function of the signature `(pass) -> code`. Returns the unit's lookups.
pub(crate) fn build(
    context: UnitContext<'_>,
    unit: &Unit,
    purpose: Purpose<'_>,
    function: &mut Function,
    function_context: &mut FunctionBuilderContext,
    constants: &mut ConstantPool,
) -> BatchedLookups {
    let (mut indexed, mut may_batch) = (Vec::new(), true);
    let signature = function.signature.clone();
    loop {
        let facts = Facts::new(context.analysis, unit, &indexed);
        let path = (purpose, may_batch && facts.is_fresh);
        let (unresolved, lookups) =
            build_once(context, unit, path, &facts, function, function_context, constants);
        // When other lookups need a prefetch that runs through the unit, no lookup is batched.
        let finds_in_vain = lookups.batched_count() > 0 && !lookups.are_known();
        if unresolved.is_empty() && !finds_in_vain {
            return lookups;
        }
        may_batch &= !finds_in_vain;
        indexed.extend(unresolved);
        function.clear();
        function.signature = signature.clone();
    }
}

/// Builds a function. When stack indices that the facts assume constant are not, it returns these stacks, and
/// the caller discards the function.
fn build_once(
    context: UnitContext<'_>,
    unit: &Unit,
    (purpose, may_batch): (Purpose<'_>, bool),
    facts: &Facts,
    function: &mut Function,
    function_context: &mut FunctionBuilderContext,
    constants: &mut ConstantPool,
) -> (Vec<StackId>, BatchedLookups) {
    let prefetching = !matches!(purpose, Purpose::Run);
    let program = context.program;
    let mut builder = FunctionBuilder::new(function, function_context);
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    builder.seal_block(entry);
    let pass = builder.block_params(entry)[0];
    let instance = builder.ins().iadd_imm_s(pass, size_of::<Pass>() as i64);
    let flags = MemFlagsData::trusted();
    let word = |builder: &mut FunctionBuilder<'_>, offset: usize| {
        builder.ins().load(types::I64, flags, pass, offset as i32)
    };
    let leave = builder.create_block();
    builder.append_block_param(leave, types::I64);
    let (packet, length_bytes, received, storage, burst_loop, finish);
    if facts.is_fresh {
        let is_in_registers = matches!(purpose, Purpose::BatchLookups(_));
        let head = Loop::new(&mut builder, pass, is_in_registers);
        (packet, length_bytes, storage) = (head.packet, head.length_bytes, None);
        received = head.received;
        finish = builder.create_block();
        burst_loop = Some(head);
    } else {
        packet = word(&mut builder, offset_of!(Pass, packet));
        length_bytes = word(&mut builder, offset_of!(Pass, length_bytes));
        storage = Some(word(&mut builder, offset_of!(Pass, storage)));
        (received, burst_loop, finish) = (pass, None, leave);
    }
    let cursor_bytes = builder.declare_var(types::I64);
    let has_requests = builder.declare_var(types::I64);
    let emitted = facts.emits.iter().map(|_| builder.declare_var(types::I64)).collect();
    let header_addresses: HashMap<_, _> = (0..program.headers.len() as u32)
        .map(HeaderId)
        .filter(|header| facts.in_packet[header.index()])
        .map(|header| (header, builder.declare_var(types::I64)))
        .collect();
    let slot_locations = (0..program.slots.len())
        .map(|at| {
            let slot = ir::SlotId(at as u32);
            if facts.in_storage[at] || !facts.needs_location[at] {
                SlotLocation::Storage(context.layout.offset_words(slot) as i32 * 8)
            } else {
                let words = match program.slots[at].ty {
                    ValueType::Bits(65..) => 2,
                    _ => 1,
                };
                SlotLocation::Variables(
                    (0..words).map(|_| builder.declare_var(types::I64)).collect(),
                )
            }
        })
        .collect();
    let path = PathFacts::at_start(program, facts);
    let outcome = builder.declare_var(types::I64);
    let mut compiler = FunctionCompiler {
        program,
        layout: context.layout,
        facts,
        builder,
        signatures: Signatures::default(),
        call_conv: context.call_conv,
        preserve_all_calls: context.preserve_all_calls,
        pass,
        instance,
        packet,
        length_bytes,
        received,
        is_duplicated: false,
        storage,
        cursor_bytes,
        header_addresses,
        slot_locations,
        path,
        is_unreachable: false,
        may_duplicate: facts.is_fresh && !prefetching,
        budget: CodeBudget::new(program, unit),
        exits: RegionExits::default(),
        split_paths: Vec::new(),
        used_results: UsedResults::default(),
        unresolved: Vec::new(),
        temps: Vec::new(),
        temp_types: &[],
        entry: None,
        has_requests,
        block: 0,
        outcome,
        emitted,
        prefetching,
        leads_to_lookup: Vec::new(),
        lookups: BatchedLookups::default(),
        may_batch,
        packet_inputs: Vec::new(),
        outputs: Vec::new(),
        step: 0,
        leave,
        finish,
        burst_loop,
        constants,
        scratch: ScratchSlots::default(),
    };
    match purpose {
        Purpose::BatchLookups(lookups) => compiler.batch_lookups(lookups),
        _ => compiler.unit(unit),
    }
    let unresolved = std::mem::take(&mut compiler.unresolved);
    let lookups = std::mem::take(&mut compiler.lookups);
    let mut builder = compiler.builder;
    if let Some(burst_loop) = burst_loop {
        burst_loop.close(&mut builder, pass, finish);
    }
    builder.seal_block(leave);
    builder.switch_to_block(leave);
    let code = builder.block_params(leave)[0];
    builder.ins().return_(&[code]);
    builder.seal_all_blocks();
    builder.finalize(context.frontend_config);
    (unresolved, lookups)
}

impl FunctionCompiler<'_, '_> {
    fn unit(&mut self, unit: &Unit) {
        self.begin();
        self.steps(unit, 0, HashMap::new());
    }

    /// Emits the steps from one on, on the current path.
    fn steps(&mut self, unit: &Unit, from: usize, mut measures: HashMap<usize, Value>) {
        for (number, step) in unit.steps.iter().enumerate().skip(from) {
            self.step = number;
            let mark = self.scratch.mark();
            match step {
                Step::Block(block) if self.prefetching && may_be_left_out(self.program, *block) => {
                }
                Step::Block(block) => {
                    let paths = self.program_block(*block);
                    self.scratch.release(mark);
                    if self.prefetching && applies(self.program, *block) {
                        // These paths made no lookup.
                        for path in paths {
                            self.enter(path);
                            let code = self.number(ENDED);
                            self.finish(code);
                        }
                        return;
                    }
                    let outputs = self.outputs.clone();
                    self.budget.reserve(number, paths.len());
                    // Most paths part at the first duplication; later duplicates are short.
                    let are_duplicated = paths.len() > 1 && !self.is_duplicated;
                    let (packet, length_bytes) = (self.packet, self.length_bytes);
                    let received = self.received;
                    for path in paths {
                        self.step = number;
                        self.budget.release(number, 1);
                        self.enter(path);
                        if are_duplicated {
                            self.reload_packet();
                            self.is_duplicated = true;
                        }
                        self.outputs = outputs.clone();
                        self.steps(unit, number + 1, measures.clone());
                        if are_duplicated {
                            (self.packet, self.length_bytes) = (packet, length_bytes);
                            (self.received, self.is_duplicated) = (received, false);
                        }
                    }
                    return;
                }
                Step::Set(slot, value) => {
                    let width_bits = self.slot_type(*slot).width_bits();
                    let number = self.step_value(value, &measures);
                    let number = self.mask(number, width_bits.min(64));
                    if let StepValue::Input(0) = value {
                        self.packet_inputs.push(number);
                    }
                    let value = match width_bits {
                        0..=64 => Val::Word(number),
                        _ => self.values().resize(
                            ir::ResizeKind::ZeroExtend,
                            64,
                            width_bits,
                            Val::Word(number),
                        ),
                    };
                    self.store_slot(*slot, value);
                }
                Step::Measure(at) => {
                    let measure = self.measure();
                    measures.insert(*at, measure);
                }
                Step::ExitIf(condition, exit) => self.exit_if(condition, *exit),
                Step::Output(at, value) => {
                    let number = self.step_value(value, &measures);
                    let (at, width_bits) = (*at, self.step_width_bits(value));
                    self.outputs.push(Output { at, number, width_bits, is_for_exits: false });
                }
                Step::OutputAtExit(at, value) => {
                    let number = self.step_value(value, &measures);
                    let (at, width_bits) = (*at, self.step_width_bits(value));
                    self.outputs.push(Output { at, number, width_bits, is_for_exits: true });
                }
            }
            self.scratch.release(mark);
            if self.is_unreachable {
                return self.end_unreachable();
            }
        }
        if self.prefetching {
            // The caller reads nothing.
        } else if self.facts.in_place {
            let packet = self.deparse_in_place();
            if self.is_unreachable {
                return self.end_unreachable();
            }
            if self.facts.is_fresh {
                return self.finish_at(packet);
            }
        } else {
            self.store_outputs(false);
            self.publish_cursor();
        }
        if !self.facts.is_fresh {
            let outcome = self.builder.use_var(self.outcome);
            self.store_word(outcome, self.pass, offset_of!(Pass, outcome) as i32);
        }
        let code = self.number(ENDED);
        self.finish(code);
    }

    /// The number of bits that a step's value has at most.
    fn step_width_bits(&self, value: &StepValue) -> u32 {
        match value {
            StepValue::Constant(number) => u64::BITS - number.leading_zeros(),
            StepValue::Slot(from) => self.slot_type(*from).width_bits(),
            _ => u64::BITS,
        }
    }

    fn step_value(&mut self, value: &StepValue, measures: &HashMap<usize, Value>) -> Value {
        match value {
            StepValue::Constant(number) => self.number(*number),
            StepValue::Slot(from) => self.slot_number(*from),
            StepValue::Row { row, rows, column } => {
                let place = self.gate_place(*row);
                self.load_word(place, (rows * column * 8) as i32)
            }
            StepValue::PacketLength => self.length_bytes,
            StepValue::Input(at) => match (at, self.facts.is_fresh) {
                (0, true) => self.packet_input(),
                _ => {
                    let offset = offset_of!(Pass, inputs) + at * 8;
                    self.load_readonly(self.pass, offset as i32)
                }
            },
            StepValue::Length { plus, minus } => {
                let known = (self.known_number(measures[plus]), self.known_number(measures[minus]));
                if let (Some(plus), Some(minus)) = known
                    && plus >= minus
                {
                    let length = self.length_bytes;
                    return match plus - minus {
                        0 => length,
                        more => self.builder.ins().iadd_imm_s(length, more as i64),
                    };
                }
                let length = self.length_bytes;
                let sum = self.builder.ins().iadd(length, measures[plus]);
                let less = measures[minus];
                let is_less = self.builder.ins().icmp(IntCC::UnsignedLessThan, sum, less);
                let difference = self.builder.ins().isub(sum, less);
                let zero = self.number(0);
                self.builder.ins().select(is_less, zero, difference)
            }
        }
    }

    /// Defines all variables before the first step.
    fn begin(&mut self) {
        let zero = self.number(0);
        self.builder.def_var(self.has_requests, zero);
        self.builder.def_var(self.outcome, zero);
        for variable in self.emitted.clone() {
            self.builder.def_var(variable, zero);
        }
        let cursor = if self.facts.is_fresh {
            zero
        } else {
            let bits = self.load_word(self.pass, offset_of!(Pass, cursor_bits) as i32);
            self.builder.ins().ushr_imm_u(bits, 3)
        };
        self.builder.def_var(self.cursor_bytes, cursor);
        if self.facts.is_fresh {
            if !self.facts.whole_bytes {
                // The pass keeps a cursor in bits.
                self.store_word(zero, self.pass, offset_of!(Pass, cursor_bits) as i32);
            }
            self.begin_fresh();
        }
        if !self.header_addresses.is_empty() {
            let zeros = self.load_readonly(self.instance, offset_of!(Instance, zeros) as i32);
            let header_addresses: Vec<_> = self.header_addresses.values().copied().collect();
            header_addresses.into_iter().for_each(|source| self.builder.def_var(source, zeros));
        }
    }

    /// Reloads address and length of a burst's packet at the start of a duplicated path, so that these values
    /// live in no register and no stack slot on other paths.
    pub fn reload_packet(&mut self) {
        if self.facts.is_fresh {
            let packet = self.load_word(self.pass, offset_of!(Pass, packet) as i32);
            let before = std::mem::replace(&mut self.packet, packet);
            self.path.packet_moved(before, packet);
            self.received = self.load_word(self.pass, offset_of!(Pass, received) as i32);
            let offset = offset_of!(Received, length_bytes);
            self.length_bytes = load_received(&mut self.builder, self.received, offset);
        }
    }

    /// The address of the gates that a slot names.
    fn gate_place(&mut self, row: SlotId) -> Value {
        let gates = self.load_word(self.pass, offset_of!(Pass, gates) as i32);
        let row = self.slot_number(row);
        let distance = self.builder.ins().ishl_imm_u(row, 3);
        self.builder.ins().iadd(gates, distance)
    }

    /// Returns 1 when a gate is closed, else 0.
    fn closed(&mut self, gate: &Gate) -> Value {
        let place = self.gate_place(gate.row);
        let word = self.load_word(place, 0);
        let bits = match gate.bit {
            Some(bit) => {
                let bit = self.slot_number(bit);
                self.builder.ins().ushr(word, bit)
            }
            None => word,
        };
        self.builder.ins().band_imm_u(bits, 1)
    }

    fn exit_if(&mut self, condition: &Condition, exit: u32) {
        let condition = match condition {
            Condition::Always => self.number(1),
            Condition::RequestsPending if !self.facts.asks => return,
            Condition::RequestsPending => match self.path.requests {
                Some(requests) => self.number(u64::from(requests)),
                None => self.builder.use_var(self.has_requests),
            },
            Condition::Equals(slot, number) => {
                let value = self.slot_number(*slot);
                self.compare(IntCC::Equal, value, *number)
            }
            Condition::Differs(slot, number) => {
                let value = self.slot_number(*slot);
                self.compare(IntCC::NotEqual, value, *number)
            }
            Condition::AtLeast(slot, number) => {
                let value = self.slot_number(*slot);
                self.compare(IntCC::UnsignedGreaterThanOrEqual, value, *number)
            }
            Condition::Closed(gate) => {
                for (slot, count) in [(Some(gate.row), u64::from(gate.rows)), (gate.bit, 64)] {
                    let Some(slot) = slot else { continue };
                    let width_bits = self.slot_type(slot).width_bits();
                    if width_bits >= 64 || count >> width_bits == 0 {
                        let value = self.slot_number(slot);
                        let is_beyond =
                            self.compare(IntCC::UnsignedGreaterThanOrEqual, value, count);
                        self.leave_if(is_beyond, u64::from(exit), None);
                        if self.is_unreachable {
                            return;
                        }
                    }
                }
                self.closed(gate)
            }
        };
        self.leave_if(condition, u64::from(exit), None);
    }
}
