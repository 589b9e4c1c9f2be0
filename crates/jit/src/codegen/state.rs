// SPDX-License-Identifier: Apache-2.0
//! Registers, counters and meters, as compiled code: flat arrays are read and written inline, everything else
//! by the runtime.

use super::function::FunctionCompiler;
use super::values::{Val, parts_of, value_of_parts, words_of};
use crate::runtime::pass::{Instance, Pass};
use crate::runtime::state as runtime;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use ir::{CounterId, MeterId, Operand, RegisterId, RegisterUpdate, Temp, ValueType};
use state::forwarding::RecordLayout;
use std::mem::offset_of;

/// Arrays up to this many words are flat in [`state::Cells`]; the runtime accesses others.
pub(crate) const LARGEST_FLAT_ARRAY_WORDS: u64 = 1 << 24;

/// The condition of an access.
#[derive(Clone, Copy, Debug)]
enum AccessWhen {
    Always,
    Never,
    /// If this 64-bit value is not zero.
    If(Value),
}

/// A cell of a register array whose index is inside.
#[derive(Clone, Copy, Debug)]
struct Cell {
    register: RegisterId,
    ty: ValueType,
    index: Value,
    is_flat: bool,
}

/// Whether an array of `size` cells of `cell_words` words is flat.
pub(crate) fn is_flat(size: u64, cell_words: usize) -> bool {
    size.checked_mul(cell_words as u64).is_some_and(|words| words <= LARGEST_FLAT_ARRAY_WORDS)
}

impl FunctionCompiler<'_, '_> {
    /// The condition that an index is inside an array.
    fn inside(&mut self, operand: &Operand, index: Value, size: u64) -> AccessWhen {
        if let Operand::Constant(index) = operand {
            return match index.to_u64() {
                Some(index) if index < size => AccessWhen::Always,
                _ => AccessWhen::Never,
            };
        }
        let width_bits = self.operand_type(operand).width_bits();
        if width_bits < 64 && 1 << width_bits <= size {
            return AccessWhen::Always;
        }
        let is_inside = self.compare(IntCC::UnsignedLessThan, index, size);
        AccessWhen::If(self.builder.ins().uextend(types::I64, is_inside))
    }

    fn guarded(&mut self, when: AccessWhen, guard: Option<&Operand>) -> AccessWhen {
        let Some(guard) = guard else { return when };
        if let Operand::Constant(guard) = guard {
            return if guard.is_true() { when } else { AccessWhen::Never };
        }
        match when {
            AccessWhen::Never => AccessWhen::Never,
            AccessWhen::Always => AccessWhen::If(self.truth(guard)),
            AccessWhen::If(condition) => {
                let guard = self.truth(guard);
                AccessWhen::If(self.builder.ins().band(condition, guard))
            }
        }
    }

    /// `Operation::RegisterAccess`
    pub fn register_access(
        &mut self,
        register: RegisterId,
        index: &Operand,
        guard: Option<&Operand>,
        old: Option<Temp>,
        update: Option<&RegisterUpdate>,
    ) {
        if old.is_none() && update.is_none() {
            return;
        }
        let array = &self.program.registers[register.index()];
        let ty = ValueType::Bits(array.width_bits);
        let is_flat = is_flat(array.size, words_of(ty));
        let number = self.index_operand(index);
        let inside = self.inside(index, number, array.size);
        let cell = Cell { register, ty, index: number, is_flat };
        match self.guarded(inside, guard) {
            AccessWhen::Never => {
                if let Some(old) = old {
                    let zero = self.zero(ty);
                    self.define(old, zero);
                }
            }
            AccessWhen::Always => {
                // Other code does not use temporaries of the update, and values that it computes first stay
                // valid.
                self.access_cell(cell, old, update);
            }
            AccessWhen::If(condition) => {
                let accessing = self.builder.create_block();
                let joined = self.builder.create_block();
                let zeros: Vec<BlockArg> = match old {
                    Some(_) => {
                        let zero = self.zero(ty);
                        parts_of(zero).into_iter().map(BlockArg::from).collect()
                    }
                    None => Vec::new(),
                };
                for _ in &zeros {
                    self.builder.append_block_param(joined, types::I64);
                }
                self.builder.ins().brif(condition, accessing, &[], joined, &zeros);
                self.builder.seal_block(accessing);
                self.builder.switch_to_block(accessing);
                // Values that are computed here do not dominate later code.
                let outer_temps = self.temps.clone();
                let before = self.access_cell(cell, old, update);
                self.temps = outer_temps;
                let before: Vec<BlockArg> = match (old, before) {
                    (Some(_), Some(before)) => {
                        parts_of(before).into_iter().map(BlockArg::from).collect()
                    }
                    _ => Vec::new(),
                };
                self.builder.ins().jump(joined, &before);
                self.builder.seal_block(joined);
                self.builder.switch_to_block(joined);
                if let Some(old) = old {
                    let value = value_of_parts(ty, self.builder.block_params(joined));
                    self.define(old, value);
                }
            }
        }
    }

    /// Reads and writes a cell that is inside the array; returns its old value if `old` names a temporary.
    fn access_cell(
        &mut self,
        cell: Cell,
        old: Option<Temp>,
        update: Option<&RegisterUpdate>,
    ) -> Option<Val> {
        let address = cell.is_flat.then(|| self.cell_address(cell));
        let before = old.map(|old| {
            let before = match address {
                Some(address) => self.values().load_words(cell.ty, address, 0),
                None => self.read_sparse(cell),
            };
            self.define(old, before);
            before
        });
        if let Some(update) = update {
            for instruction in &update.body {
                self.pure(&instruction.operation);
            }
            let value = self.operand(&update.value);
            match address {
                Some(address) => self.values().store_words(cell.ty, value, address, 0),
                None => {
                    let words = self.words_buffer(&[(cell.ty, value)]);
                    let runtime_context = self.runtime_context();
                    let register = self.number(u64::from(cell.register.0));
                    let arguments = [runtime_context, register, cell.index, words];
                    self.call(runtime::write_register(), &arguments);
                }
            }
        }
        before
    }

    fn cell_address(&mut self, cell: Cell) -> Value {
        let arrays = self.load_readonly(self.instance, offset_of!(Instance, registers) as i32);
        let first = self.load_word(arrays, cell.register.0 as i32 * 8);
        let distance = self.builder.ins().imul_imm_s(cell.index, words_of(cell.ty) as i64 * 8);
        self.builder.ins().iadd(first, distance)
    }

    fn read_sparse(&mut self, cell: Cell) -> Val {
        let words = self.scratch.allocate(&mut self.builder, words_of(cell.ty) as u32);
        let runtime_context = self.runtime_context();
        let register = self.number(u64::from(cell.register.0));
        self.call(runtime::read_register(), &[runtime_context, register, cell.index, words]);
        self.values().load_words(cell.ty, words, 0)
    }

    /// The packet's length for counters and meters.
    fn counted_bytes(&mut self) -> Value {
        match self.facts.is_fresh {
            true => self.length_bytes,
            false => self.load_word(self.pass, offset_of!(Pass, counted_bytes) as i32),
        }
    }

    fn now_ps(&mut self) -> Value {
        self.load_word(self.pass, offset_of!(Pass, now_ps) as i32)
    }

    /// `Operation::Count`
    pub fn count(&mut self, counter: CounterId, index: &Operand) {
        let size = self.program.counters[counter.index()].size.unwrap_or(0);
        let number = self.index_operand(index);
        let joined = match self.inside(index, number, size) {
            AccessWhen::Never => return,
            AccessWhen::Always => None,
            AccessWhen::If(condition) => Some(self.begin_if(condition)),
        };
        let bytes = self.counted_bytes();
        if size <= LARGEST_FLAT_ARRAY_WORDS {
            let arrays = self.load_readonly(self.instance, offset_of!(Instance, counters) as i32);
            let first = self.load_word(arrays, counter.0 as i32 * 8);
            let distance = self.builder.ins().imul_imm_s(number, size_of::<[u64; 2]>() as i64);
            let cell = self.builder.ins().iadd(first, distance);
            let packets_before = self.load_word(cell, 0);
            let one = self.number(1);
            let packets = self.builder.ins().iadd(packets_before, one);
            self.store_word(packets, cell, 0);
            let bytes_before = self.load_word(cell, 8);
            let bytes = self.builder.ins().iadd(bytes_before, bytes);
            self.store_word(bytes, cell, 8);
        } else {
            let runtime_context = self.runtime_context();
            let counter = self.number(u64::from(counter.0));
            self.call(runtime::count(), &[runtime_context, counter, number, bytes]);
        }
        if let Some(joined) = joined {
            self.end_if(joined);
        }
    }

    /// `Operation::Meter`
    pub fn meter(&mut self, meter: MeterId, index: &Operand, result: Temp) {
        let index = self.index_operand(index);
        let runtime_context = self.runtime_context();
        let meter = self.number(u64::from(meter.0));
        let (bytes, now_ps) = (self.counted_bytes(), self.now_ps());
        let arguments = [runtime_context, meter, index, bytes, now_ps];
        let colour = self.call_for_word(runtime::mark(), &arguments);
        self.define_number(result, colour);
    }

    /// The cell of the entry whose action is under construction, and its generation; those of the
    /// default action are 0.
    pub(super) fn entry_cell(&mut self) -> (Value, Value) {
        if let Some((record, table)) = self.entry
            && let Some(word) = RecordLayout::new(self.program, table).generation_word
        {
            let first = self.load_word(record, 0);
            let cell = self.builder.ins().ushr_imm_u(first, 32);
            return (cell, self.load_word(record, word as i32 * 8));
        }
        (self.number(0), self.number(0))
    }

    /// `Operation::CountDirect`
    pub fn count_direct(&mut self, counter: CounterId) {
        let (cell, generation) = self.entry_cell();
        let runtime_context = self.runtime_context();
        let counter = self.number(u64::from(counter.0));
        let bytes = self.counted_bytes();
        self.call(runtime::count_direct(), &[runtime_context, counter, cell, generation, bytes]);
    }

    /// `Operation::MeterDirect`
    pub fn meter_direct(&mut self, meter: MeterId, result: Temp) {
        let (cell, generation) = self.entry_cell();
        let runtime_context = self.runtime_context();
        let meter = self.number(u64::from(meter.0));
        let (bytes, now_ps) = (self.counted_bytes(), self.now_ps());
        let arguments = [runtime_context, meter, cell, generation, bytes, now_ps];
        let colour = self.call_for_word(runtime::mark_direct(), &arguments);
        self.define_number(result, colour);
    }

    /// Records a hit of the entry whose action is under construction.
    pub(super) fn note_hit(&mut self, table: ir::TableId) {
        let (cell, generation) = self.entry_cell();
        let runtime_context = self.runtime_context();
        let table = self.number(u64::from(table.0));
        let now_ps = self.now_ps();
        self.call(runtime::note_hit(), &[runtime_context, table, cell, generation, now_ps]);
    }
}
