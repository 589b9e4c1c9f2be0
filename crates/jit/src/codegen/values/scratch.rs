// SPDX-License-Identifier: Apache-2.0
//! Memory for wide values of compiled code: constants, which live as long as the code, and a part of the
//! function's stack frame that is allocated and released as a stack.

use cranelift_codegen::ir::{InstBuilder, StackSlot, StackSlotData, StackSlotKind, Value, types};
use cranelift_frontend::FunctionBuilder;
use ir::Bits;
use std::collections::HashMap;

/// The words of constants wider than 128 bits. Compiled code has their addresses in it, so the pool
/// must live as long as the code; moving the pool moves no words.
#[derive(Debug, Default)]
pub(crate) struct ConstantPool {
    constants: HashMap<Bits, Box<[u64]>>,
    tables: Vec<Box<[u64]>>,
}

impl ConstantPool {
    /// The address of the constant's words, low word first.
    pub fn address(&mut self, bits: &Bits) -> usize {
        if !self.constants.contains_key(bits) {
            let mut words = vec![0; super::words::word_count(bits.width_bits()) as usize];
            bits.write_words(&mut words);
            self.constants.insert(bits.clone(), words.into_boxed_slice());
        }
        self.constants[bits].as_ptr() as usize
    }

    /// Keeps words. Returns their address.
    pub fn keep(&mut self, words: Vec<u64>) -> usize {
        let words = words.into_boxed_slice();
        let known = self.tables.iter().position(|known| *known == words);
        let at = known.unwrap_or_else(|| {
            self.tables.push(words);
            self.tables.len() - 1
        });
        self.tables[at].as_ptr() as usize
    }
}

/// A part of the stack frame of one function, allocated as a stack. Temporaries live within one basic block, so
/// the caller may take a mark before a block and releases to it after the block.
#[derive(Debug, Default)]
pub(crate) struct ScratchSlots {
    /// One slot of the frame, which grows with the largest use.
    slot: Option<StackSlot>,
    used_bytes: u32,
    /// One basic block of thousands of wide temporaries can need megabytes; `Compiled::new` refuses frames that
    /// are too large.
    largest_bytes: u32,
}

/// A height of the stack of scratch memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScratchMark {
    used_bytes: u32,
}

impl ScratchSlots {
    /// The current height.
    pub fn mark(&self) -> ScratchMark {
        ScratchMark { used_bytes: self.used_bytes }
    }

    /// Releases what was allocated since the mark; values in it are lost.
    pub fn release(&mut self, mark: ScratchMark) {
        debug_assert!(mark.used_bytes <= self.used_bytes);
        self.used_bytes = mark.used_bytes;
    }

    /// Allocates words of unknown content. Returns their address.
    pub fn allocate(&mut self, builder: &mut FunctionBuilder<'_>, words: u32) -> Value {
        let slot = *self.slot.get_or_insert_with(|| {
            let align_shift = 3;
            let data = StackSlotData::new(StackSlotKind::ExplicitSlot, 0, align_shift);
            builder.create_sized_stack_slot(data)
        });
        let offset_bytes = self.used_bytes;
        self.used_bytes = self.used_bytes.saturating_add(words * 8);
        self.largest_bytes = self.largest_bytes.max(self.used_bytes);
        builder.func.sized_stack_slots[slot].size = self.largest_bytes;
        builder.ins().stack_addr(types::I64, slot, offset_bytes as i32)
    }
}
