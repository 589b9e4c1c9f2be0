// SPDX-License-Identifier: Apache-2.0
//! Records of table entries: the action and arguments in a record, and the jump to its action's arm. A record
//! is a value: its address, or a packed record itself.

use super::super::function::FunctionCompiler;
use super::super::values::Val;
use crate::runtime::tables as runtime;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::Switch;
use ir::{Bits, TableId, ValueType};
use state::forwarding::{INDIRECT_ACTION, PackedBits, RecordLayout};

/// Actions that are distinguished by comparisons; more of them by a jump table.
const MAX_COMPARED_ACTIONS: usize = 3;

/// A record whose action runs, and the action's index.
#[derive(Clone, Copy)]
pub(super) struct Running {
    pub record: Value,
    pub action: Value,
    /// Whether the action may be missing from the table.
    pub may_be_none: bool,
    /// Whether it is an entry's record, not the default action's.
    pub is_entry: bool,
}

impl Running {
    /// A record with an action of the table.
    pub fn new(record: Value, action: Value) -> Running {
        Running { record, action, may_be_none: false, is_entry: false }
    }
}

impl FunctionCompiler<'_, '_> {
    /// The index of the action in a record.
    pub(super) fn action_of(&mut self, table: TableId, record: Value) -> Value {
        match RecordLayout::new(self.program, table).packed {
            Some(packed) => self.packed_bits(record, packed.action),
            None => self.builder.ins().uload32(MemFlagsData::trusted(), record, 0),
        }
    }

    fn packed_bits(&mut self, record: Value, bits: PackedBits) -> Value {
        if bits.width_bits == 0 {
            return self.number(0);
        }
        let shifted = match bits.shift {
            0 => record,
            shift => self.builder.ins().ushr_imm_u(record, i64::from(shift)),
        };
        self.builder.ins().band_imm_u(shifted, (1 << bits.width_bits) - 1)
    }

    /// The record that runs for an entry: its own, or for an indirect entry the one that the runtime chooses.
    pub(super) fn resolved(
        &mut self,
        table: TableId,
        entry: Running,
        selector: &[(ValueType, Val)],
    ) -> Running {
        let calling = self.builder.create_block();
        let joined = self.builder.create_block();
        let record = self.builder.append_block_param(joined, types::I64);
        let is_indirect = self.compare(IntCC::Equal, entry.action, u64::from(INDIRECT_ACTION));
        let own = [entry.record.into()];
        self.builder.ins().brif(is_indirect, calling, &[], joined, &own);
        self.builder.seal_block(calling);
        self.builder.switch_to_block(calling);
        let words = self.words_buffer(selector);
        let runtime_context = self.runtime_context();
        let number = self.number(u64::from(table.0));
        let arguments = [runtime_context, number, entry.record, words];
        let found = self.call_for_word(runtime::resolve(), &arguments);
        self.builder.ins().jump(joined, &[found.into()]);
        self.builder.seal_block(joined);
        self.builder.switch_to_block(joined);
        let action = self.action_of(table, record);
        Running { may_be_none: true, ..Running::new(record, action) }
    }

    /// Jumps to the arm of the record's action.
    pub(super) fn dispatch(&mut self, running: Running, arms: &[Block], none: Block) {
        // Without members every record has an action of the table, so the last action needs no test.
        let (tested, last) = match arms.split_last() {
            Some((last, others)) if !running.may_be_none => (others, *last),
            _ => (arms, none),
        };
        if tested.len() < MAX_COMPARED_ACTIONS {
            for (index, arm) in tested.iter().enumerate() {
                let is_it = self.compare(IntCC::Equal, running.action, index as u64);
                let next = self.builder.create_block();
                self.builder.ins().brif(is_it, *arm, &[], next, &[]);
                self.builder.seal_block(next);
                self.builder.switch_to_block(next);
            }
            self.builder.ins().jump(last, &[]);
            return;
        }
        let mut switch = Switch::new();
        for (index, arm) in tested.iter().enumerate() {
            switch.set_entry(index as u128, *arm);
        }
        let index = self.builder.ins().ireduce(types::I32, running.action);
        switch.emit(&mut self.builder, index, last);
    }

    /// Types of the arguments of an action of the table.
    pub(super) fn argument_types(&self, table: TableId, index: usize) -> Vec<ValueType> {
        let action = self.program.tables[table.index()].actions[index].action;
        let parameters = &self.program.actions[action.index()].parameters;
        parameters.iter().map(|it| self.program.slots[it.slot.index()].ty).collect()
    }

    /// Arguments in a record. Records do not change while packets read them.
    pub(super) fn record_arguments(
        &mut self,
        table: TableId,
        index: usize,
        running: Running,
    ) -> Vec<Val> {
        let Running { record, is_entry, .. } = running;
        let layout = RecordLayout::new(self.program, table);
        let types = self.argument_types(table, index);
        let mut values = Vec::with_capacity(types.len());
        for (parameter, ty) in types.into_iter().enumerate() {
            if let Some(packed) = &layout.packed {
                let bits = packed.argument(index, parameter);
                // The default action's record has more bits above.
                let is_alone = is_entry && packed.is_topmost(index, parameter);
                let argument = match is_alone && bits.width_bits > 0 {
                    true => self.builder.ins().ushr_imm_u(record, i64::from(bits.shift)),
                    false => self.packed_bits(record, bits),
                };
                values.push(Val::Word(argument));
                continue;
            }
            let offset_bytes = layout.argument_word(index, parameter) as i32 * 8;
            values.push(match ty {
                ValueType::Bits(0..=64) => Val::Word(self.load_word(record, offset_bytes)),
                ValueType::Bits(65..=128) => {
                    let low = self.load_word(record, offset_bytes);
                    Val::Pair(low, self.load_word(record, offset_bytes + 8))
                }
                ValueType::Bits(_) => {
                    Val::Memory(self.builder.ins().iadd_imm_s(record, i64::from(offset_bytes)))
                }
                ValueType::Varbit(width_bits) => Val::Varbit {
                    length_bits: self.number(u64::from(width_bits)),
                    words: self.builder.ins().iadd_imm_s(record, i64::from(offset_bytes)),
                },
            });
        }
        values
    }

    /// Arguments that are constants of the program.
    pub(super) fn constant_arguments(
        &mut self,
        table: TableId,
        index: usize,
        given: &[Bits],
    ) -> Vec<Val> {
        let types = self.argument_types(table, index);
        let mut values = Vec::with_capacity(types.len());
        for (ty, bits) in types.into_iter().zip(given) {
            let constant = self.values().constant(bits);
            let found = ValueType::Bits(bits.width_bits());
            values.push(self.values().as_type(ty, found, constant));
        }
        values
    }
}
