// SPDX-License-Identifier: Apache-2.0
//! From packed keys to the record of the entry that wins: by arrays that are read inline where the
//! table's index has them, else by asking the runtime. What is done with a record is decided above.

use super::super::function::FunctionCompiler;
use super::Keys;
use crate::runtime::pass::{Instance, Shortcut};
use crate::runtime::tables as runtime;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value, types};
use ir::TableId;
use state::forwarding::index::{
    ASK, BLOCK_BITS, BUCKET_BYTES, DirectForm, FRONT_BITS, HASH_MULTIPLIER, IS_NO_LEAF, KeyLayout,
    NO_MATCH, Packing, WORD_SLOTS,
};
use state::forwarding::{ForwardingTable, RecordLayout};
use std::mem::offset_of;

/// Which record a lookup leads to.
#[derive(Clone, Copy)]
pub(super) struct Found {
    /// Its address; that of the default action's on a miss.
    pub record: Value,
    /// 1 or 0.
    pub is_hit: Value,
}

/// Bits of a key that a front takes: its first ones, left aligned.
const ALIGNED_BITS: u32 = 32;

/// Up to so many tables of a unit, what is read of them is kept from packet to packet.
const MOST_TABLES_KEPT: usize = 8;

impl FunctionCompiler<'_, '_> {
    pub(super) fn table_address(&mut self, table: TableId) -> Value {
        let tables = self.load_lasting(self.instance, offset_of!(Instance, tables) as i32);
        let distance = table.index() * size_of::<ForwardingTable>();
        self.builder.ins().iadd_imm_s(tables, distance as i64)
    }

    /// Loads a word of the table's [`Shortcut`].
    fn shortcut(&mut self, table: TableId, offset_bytes: usize) -> Value {
        let shortcuts = self.load_lasting(self.instance, offset_of!(Instance, shortcuts) as i32);
        let distance = table.index() * size_of::<Shortcut>() + offset_bytes;
        match self.facts.tables <= MOST_TABLES_KEPT {
            true => self.load_lasting(shortcuts, distance as i32),
            false => self.load_word(shortcuts, distance as i32),
        }
    }

    /// The address of the default action's record.
    pub(super) fn default_record(&mut self, table: TableId) -> Value {
        self.shortcut(table, offset_of!(Shortcut, default_record))
    }

    /// The leaf of the entry that wins.
    pub(super) fn find(&mut self, table: TableId, keys: &Keys) -> Value {
        let layout = KeyLayout::new(&self.program.tables[table.index()]);
        let words = self.packed_key(&layout, &keys.matched);
        match (layout.direct(), &words[..]) {
            (DirectForm::Array, [key]) => self.find_in_array(table, *key),
            (DirectForm::Buckets { seed }, [key]) => self.find_in_buckets(table, *key, seed),
            (DirectForm::Front { width_bits }, [key]) => {
                self.find_in_front(table, *key, width_bits)
            }
            _ => self.ask(table, &layout, &words),
        }
    }

    /// The record of an entry.
    pub(super) fn own_record(&mut self, table: TableId, leaf: Value) -> Value {
        let records = self.shortcut(table, offset_of!(Shortcut, records));
        let stride_bytes = RecordLayout::new(self.program, table).stride_words as u64 * 8;
        let number = self.builder.ins().uextend(types::I64, leaf);
        let stride = self.number(stride_bytes);
        let distance = self.builder.ins().imul(number, stride);
        self.builder.ins().iadd(records, distance)
    }

    /// The record of the entry that wins, or the default action's.
    pub(super) fn record_of(&mut self, table: TableId, leaf: Value) -> Found {
        let no_match = self.builder.ins().iconst(types::I32, i64::from(NO_MATCH));
        let is_hit = self.builder.ins().icmp(IntCC::NotEqual, leaf, no_match);
        let default = self.default_record(table);
        let own = self.own_record(table, leaf);
        let record = self.builder.ins().select(is_hit, own, default);
        Found { record, is_hit: self.builder.ins().uextend(types::I64, is_hit) }
    }

    /// Asks the runtime for the leaf.
    fn ask(&mut self, table: TableId, layout: &KeyLayout, words: &[Value]) -> Value {
        let address = self.table_address(table);
        let leaf = match (layout.packing, words) {
            (Packing::Word, [key]) => self.call_for_word(runtime::find_word(), &[address, *key]),
            (Packing::DoubleWord, [low, high]) => {
                self.call_for_word(runtime::find_double(), &[address, *low, *high])
            }
            (_, words) => {
                let [key, count] = self.key_in_memory(words);
                self.call_for_word(runtime::find_words(), &[address, key, count])
            }
        };
        self.builder.ins().ireduce(types::I32, leaf)
    }

    /// In a block of its own: asks, and goes on with the leaf. Tables that are read inline come here
    /// seldom, so whatever is in registers stays there.
    fn ask_aside(&mut self, table: TableId, key: Value, asking: Block, joined: Block) {
        self.builder.set_cold_block(asking);
        self.switch_to_sealed(asking);
        let address = self.table_address(table);
        let leaf = match self.call_seldom(runtime::find_word(), &[address, key]) {
            Some(leaf) => leaf,
            None => self.number(0),
        };
        let leaf = self.builder.ins().ireduce(types::I32, leaf);
        self.builder.ins().jump(joined, &[leaf.into()]);
    }

    fn switch_to_sealed(&mut self, block: Block) {
        self.builder.seal_block(block);
        self.builder.switch_to_block(block);
    }

    /// Loads item `index` of an array of 32-bit items.
    fn load_item(&mut self, array: Value, index: Value) -> Value {
        let distance = self.builder.ins().ishl_imm_u(index, 2);
        let address = self.builder.ins().iadd(array, distance);
        self.builder.ins().load(types::I32, MemFlagsData::trusted(), address, 0)
    }

    /// [`DirectForm::Array`].
    fn find_in_array(&mut self, table: TableId, key: Value) -> Value {
        let [inside, outside, asking, joined] = [(); 4].map(|()| self.builder.create_block());
        let leaf = self.builder.append_block_param(joined, types::I32);
        let array = self.shortcut(table, offset_of!(Shortcut, items));
        let length = self.shortcut(table, offset_of!(Shortcut, length));
        let is_inside = self.builder.ins().icmp(IntCC::UnsignedLessThan, key, length);
        self.builder.ins().brif(is_inside, inside, &[], outside, &[]);

        self.switch_to_sealed(inside);
        let item = self.load_item(array, key);
        self.builder.ins().jump(joined, &[item.into()]);

        self.switch_to_sealed(outside);
        let no_match = self.builder.ins().iconst(types::I32, i64::from(NO_MATCH));
        self.builder.ins().brif(length, joined, &[no_match.into()], asking, &[]);

        self.ask_aside(table, key, asking, joined);
        self.switch_to_sealed(joined);
        leaf
    }

    /// [`DirectForm::Buckets`].
    fn find_in_buckets(&mut self, table: TableId, key: Value, seed: u64) -> Value {
        let [reading, elsewhere, asking, joined] = [(); 4].map(|()| self.builder.create_block());
        let leaf = self.builder.append_block_param(joined, types::I32);
        let buckets = self.shortcut(table, offset_of!(Shortcut, items));
        self.builder.ins().brif(buckets, reading, &[], asking, &[]);

        self.switch_to_sealed(reading);
        let seed = self.number(seed);
        let multiplier = self.number(HASH_MULTIPLIER);
        let seeded = self.builder.ins().bxor(key, seed);
        let low = self.builder.ins().imul(seeded, multiplier);
        let high = self.builder.ins().umulhi(seeded, multiplier);
        let hash = self.builder.ins().bxor(low, high);
        let shift = self.shortcut(table, offset_of!(Shortcut, length));
        let home = self.builder.ins().ushr(hash, shift);
        let bucket_bytes = self.number(BUCKET_BYTES as u64);
        let distance = self.builder.ins().imul(home, bucket_bytes);
        let bucket = self.builder.ins().iadd(buckets, distance);
        let no_match = self.builder.ins().iconst(types::I32, i64::from(NO_MATCH));
        // All slots without a branch: where in the bucket a key is cannot be foretold.
        let mut found = no_match;
        let mut last = no_match;
        for slot in (0..WORD_SLOTS).rev() {
            let own_key = self.load_word(bucket, (slot * 8) as i32);
            let is_it = self.builder.ins().icmp(IntCC::Equal, key, own_key);
            let offset = (WORD_SLOTS * 8 + slot * 4) as i32;
            let flags = MemFlagsData::trusted();
            let own_leaf = self.builder.ins().load(types::I32, flags, bucket, offset);
            if slot == WORD_SLOTS - 1 {
                last = own_leaf;
            }
            found = self.builder.ins().select(is_it, own_leaf, found);
        }
        let is_found = self.builder.ins().icmp(IntCC::NotEqual, found, no_match);
        self.builder.ins().brif(is_found, joined, &[found.into()], elsewhere, &[]);

        self.switch_to_sealed(elsewhere);
        let is_last_free = self.builder.ins().icmp(IntCC::Equal, last, no_match);
        self.builder.ins().brif(is_last_free, joined, &[no_match.into()], asking, &[]);

        self.ask_aside(table, key, asking, joined);
        self.switch_to_sealed(joined);
        leaf
    }

    /// [`DirectForm::Front`].
    fn find_in_front(&mut self, table: TableId, key: Value, width_bits: u32) -> Value {
        let [reading, in_block, settled, special, no_match, asking, joined] =
            [(); 7].map(|()| self.builder.create_block());
        let leaf = self.builder.append_block_param(joined, types::I32);
        let item = self.builder.append_block_param(settled, types::I32);
        let array = self.shortcut(table, offset_of!(Shortcut, items));
        self.builder.ins().brif(array, reading, &[], asking, &[]);

        self.switch_to_sealed(reading);
        let aligned = self.builder.ins().ishl_imm_u(key, i64::from(ALIGNED_BITS - width_bits));
        let index = self.builder.ins().ushr_imm_u(aligned, i64::from(ALIGNED_BITS - FRONT_BITS));
        let first = self.load_item(array, index);
        let asked = self.builder.ins().iconst(types::I32, i64::from(ASK));
        // As signed numbers blocks are below `ASK`, which is -2, and leaves are not negative.
        let is_block = self.builder.ins().icmp(IntCC::SignedLessThan, first, asked);
        self.builder.ins().brif(is_block, in_block, &[], settled, &[first.into()]);

        self.switch_to_sealed(in_block);
        let start = self.builder.ins().band_imm_u(first, i64::from(!IS_NO_LEAF));
        let start = self.builder.ins().uextend(types::I64, start);
        let below = i64::from(ALIGNED_BITS - FRONT_BITS - BLOCK_BITS);
        let at = self.builder.ins().ushr_imm_u(aligned, below);
        let at = self.builder.ins().band_imm_u(at, (1 << BLOCK_BITS) - 1);
        let at = self.builder.ins().iadd(start, at);
        let second = self.load_item(array, at);
        self.builder.ins().jump(settled, &[second.into()]);

        self.switch_to_sealed(settled);
        let zero = self.builder.ins().iconst(types::I32, 0);
        let is_special = self.builder.ins().icmp(IntCC::SignedLessThan, item, zero);
        self.builder.ins().brif(is_special, special, &[], joined, &[item.into()]);

        self.switch_to_sealed(special);
        let asks = self.builder.ins().icmp(IntCC::Equal, item, asked);
        self.builder.ins().brif(asks, asking, &[], no_match, &[]);

        self.switch_to_sealed(no_match);
        let default_leaf = self.shortcut(table, offset_of!(Shortcut, default_leaf));
        let default_leaf = self.builder.ins().ireduce(types::I32, default_leaf);
        self.builder.ins().jump(joined, &[default_leaf.into()]);

        self.ask_aside(table, key, asking, joined);
        self.switch_to_sealed(joined);
        leaf
    }
}
