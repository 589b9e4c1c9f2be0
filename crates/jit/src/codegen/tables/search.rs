// SPDX-License-Identifier: Apache-2.0
//! Searches for the entry that wins: how they end, with an entry's leaf or without one, and calls of the
//! runtime. Forms of indexes that are read inline are in `buckets` and `direct_table`.

use super::super::function::FunctionCompiler;
use crate::runtime::pass::{Instance, TableView};
use crate::runtime::tables as runtime;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value, types};
use ir::{Program, TableId};
use state::forwarding::RecordLayout;
use state::forwarding::index::{DirectForm, KeyLayout, NO_MATCH, Packing};
use std::mem::offset_of;

/// A search in a table, with the blocks that it jumps to.
#[derive(Clone, Copy)]
pub(super) struct Search {
    pub table: TableId,
    pub hit: Block,
    /// The entry's leaf as a word, in `hit`.
    pub leaf: Value,
    pub miss: Block,
}

/// Offset of a table's [`TableView`] from the instance.
fn table_view_offset(table: TableId) -> usize {
    size_of::<Instance>() + table.index() * size_of::<TableView>()
}

/// The form in which a table's index can be read inline.
pub(super) fn direct_form(program: &Program, table: TableId) -> DirectForm {
    let leaf_bits = RecordLayout::new(program, table).leaf_bits();
    KeyLayout::new(&program.tables[table.index()]).direct(leaf_bits)
}

impl FunctionCompiler<'_, '_> {
    pub(super) fn table_address(&mut self, table: TableId) -> Value {
        // Loaded at each use, which is rare.
        let offset = table_view_offset(table) + offset_of!(TableView, table);
        self.load_word(self.instance, offset as i32)
    }

    /// Loads a word of the table's [`TableView`].
    pub(super) fn table_word(&mut self, table: TableId, offset_bytes: usize) -> Value {
        let offset = table_view_offset(table) + offset_bytes;
        // A function that prefetches has registers for words of tables; a unit has not.
        match self.prefetching {
            true => self.load_readonly(self.instance, offset as i32),
            false => self.load_word(self.instance, offset as i32),
        }
    }

    /// Whether prefetching is possible and pays for the table.
    pub fn is_large(&mut self, table: TableId) -> Value {
        self.table_word(table, offset_of!(TableView, is_large))
    }

    /// The default action's record.
    pub(super) fn default_record(&mut self, table: TableId) -> Value {
        self.table_word(table, offset_of!(TableView, default_record))
    }

    pub(super) fn record_of_leaf(&mut self, table: TableId, leaf: Value) -> Value {
        let layout = RecordLayout::new(self.program, table);
        if layout.packed.is_some() {
            return leaf;
        }
        let records = self.table_word(table, offset_of!(TableView, records));
        let stride_bytes = layout.stride_words as u64 * 8;
        let stride = self.number(stride_bytes);
        let distance = self.builder.ins().imul(leaf, stride);
        self.builder.ins().iadd(records, distance)
    }

    /// Ends a search with an entry's leaf, of 32 bits.
    pub(super) fn end_with_leaf(&mut self, search: Search, leaf: Value) {
        let leaf = self.builder.ins().uextend(types::I64, leaf);
        self.builder.ins().jump(search.hit, &[leaf.into()]);
    }

    /// Ends a search with an item, which is a leaf or [`NO_MATCH`].
    pub(super) fn end_with_item(&mut self, search: Search, item: Value) {
        let zero = self.number(0);
        let is_miss = self.builder.ins().icmp(IntCC::SignedLessThan, item, zero);
        self.builder.ins().brif(is_miss, search.miss, &[], search.hit, &[item.into()]);
    }

    /// Ends a search with a leaf, or with [`NO_MATCH`].
    pub(super) fn end_with_either(&mut self, search: Search, leaf: Value) {
        let hit = self.builder.create_block();
        if self.builder.current_block().is_some_and(|block| self.builder.func.layout.is_cold(block))
        {
            self.builder.set_cold_block(hit);
        }
        let no_match = self.builder.ins().iconst(types::I32, i64::from(NO_MATCH));
        let is_miss = self.builder.ins().icmp(IntCC::Equal, leaf, no_match);
        self.builder.ins().brif(is_miss, search.miss, &[], hit, &[]);
        self.switch_to_sealed(hit);
        self.end_with_leaf(search, leaf);
    }

    pub(super) fn is_match(&mut self, leaf: Value) -> Value {
        let no_match = self.builder.ins().iconst(types::I32, i64::from(NO_MATCH));
        self.builder.ins().icmp(IntCC::NotEqual, leaf, no_match)
    }

    /// Stores a key for the runtime. Returns the address and number of its words.
    pub(super) fn key_in_memory(&mut self, words: &[Value]) -> [Value; 2] {
        let address = self.scratch.allocate(&mut self.builder, words.len() as u32);
        for (at, word) in words.iter().enumerate() {
            self.store_word(*word, address, at as i32 * 8);
        }
        [address, self.number(words.len() as u64)]
    }

    /// Calls the runtime to find the leaf, from hot or cold code.
    pub(super) fn call_find(
        &mut self,
        search: Search,
        packing: Packing,
        words: &[Value],
        is_cold: bool,
    ) {
        let address = self.table_address(search.table);
        let mut arguments = vec![address];
        let function = match (packing, words) {
            (Packing::Word, [key]) => {
                arguments.push(*key);
                runtime::find_word()
            }
            (Packing::DoubleWord, [low, high]) => {
                arguments.extend([*low, *high]);
                runtime::find_double()
            }
            (_, words) => {
                arguments.extend(self.key_in_memory(words));
                runtime::find_words()
            }
        };
        let leaf = match is_cold {
            true => self.call_preserving_all(function, &arguments),
            false => self.call(function, &arguments),
        };
        let leaf = match leaf {
            Some(leaf) => leaf,
            None => self.number(0),
        };
        let leaf = self.builder.ins().ireduce(types::I32, leaf);
        self.end_with_either(search, leaf);
    }

    /// Calls the runtime to find the leaf in a table of entries with masks.
    pub(super) fn call_find_rule(&mut self, search: Search, packing: Packing, words: &[Value]) {
        let address = self.table_address(search.table);
        let leaf = match (packing, words) {
            (Packing::Word, [key]) => {
                self.call_for_word(runtime::find_rule_word(), &[address, *key])
            }
            (Packing::DoubleWord, [low, high]) => {
                self.call_for_word(runtime::find_rule_double(), &[address, *low, *high])
            }
            _ => return self.call_find(search, packing, words, false),
        };
        let leaf = self.builder.ins().ireduce(types::I32, leaf);
        self.end_with_either(search, leaf);
    }

    /// Calls the runtime to find the leaf, in a cold block.
    pub(super) fn call_find_cold(
        &mut self,
        search: Search,
        packing: Packing,
        words: &[Value],
        calling: Block,
    ) {
        self.builder.set_cold_block(calling);
        self.switch_to_sealed(calling);
        self.call_find(search, packing, words, true);
    }

    /// Loads item `index` of an array of items of 32 bits, as a signed number: leaves are not negative.
    pub(super) fn load_item(&mut self, array: Value, index: Value) -> Value {
        let address = self.item_address(array, index);
        self.builder.ins().sload32(MemFlagsData::trusted(), address, 0)
    }

    pub(super) fn item_address(&mut self, array: Value, index: Value) -> Value {
        let distance = self.builder.ins().ishl_imm_u(index, 2);
        self.builder.ins().iadd(array, distance)
    }
}
