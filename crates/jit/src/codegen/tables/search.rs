// SPDX-License-Identifier: Apache-2.0
//! Searches for the entry that wins: how they end, with an entry's leaf or without one, and calls of the
//! runtime. The forms of indexes that are read inline are in `buckets` and `direct_table`.

use super::super::function::FunctionCompiler;
use crate::runtime::pass::{Instance, Shortcut};
use crate::runtime::tables as runtime;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value, types};
use ir::{Program, TableId};
use state::forwarding::RecordLayout;
use state::forwarding::index::{DirectForm, KeyLayout, NO_MATCH, Packing};
use std::mem::offset_of;

/// A search in a table: where code goes on with an entry's leaf, and where without one.
#[derive(Clone, Copy)]
pub(super) struct Search {
    pub table: TableId,
    pub hit: Block,
    /// The entry's leaf as a word, in `hit`.
    pub leaf: Value,
    pub miss: Block,
}

/// Where a table's [`Shortcut`] stands, from the instance on.
fn shortcut_offset(table: TableId) -> usize {
    size_of::<Instance>() + table.index() * size_of::<Shortcut>()
}

/// The form in which a table's index can be read inline.
pub(super) fn direct_form(program: &Program, table: TableId) -> DirectForm {
    let leaf_bits = RecordLayout::new(program, table).leaf_bits();
    KeyLayout::new(&program.tables[table.index()]).direct(leaf_bits)
}

impl FunctionCompiler<'_, '_> {
    pub(super) fn table_address(&mut self, table: TableId) -> Value {
        // Loaded where it is wanted, which is seldom.
        let offset = shortcut_offset(table) + offset_of!(Shortcut, table);
        self.load_word(self.instance, offset as i32)
    }

    /// Loads a word of the table's [`Shortcut`], which stand behind the instance.
    pub(super) fn shortcut(&mut self, table: TableId, offset_bytes: usize) -> Value {
        let offset = shortcut_offset(table) + offset_bytes;
        // Code that looks ahead has registers for what it reads of tables; a unit has not.
        match self.prefetching {
            true => self.load_lasting(self.instance, offset as i32),
            false => self.load_word(self.instance, offset as i32),
        }
    }

    /// Whether fetching ahead pays for the table, and can be done.
    pub fn is_large(&mut self, table: TableId) -> Value {
        self.shortcut(table, offset_of!(Shortcut, is_large))
    }

    /// The default action's record.
    pub(super) fn default_record(&mut self, table: TableId) -> Value {
        self.shortcut(table, offset_of!(Shortcut, default_record))
    }

    pub(super) fn record_of_leaf(&mut self, table: TableId, leaf: Value) -> Value {
        let layout = RecordLayout::new(self.program, table);
        if layout.packed.is_some() {
            return leaf;
        }
        let records = self.shortcut(table, offset_of!(Shortcut, records));
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

    /// Address and number of the words of a key, as the runtime takes it.
    pub(super) fn key_in_memory(&mut self, words: &[Value]) -> [Value; 2] {
        let address = self.scratch.allocate(&mut self.builder, words.len() as u32);
        for (at, word) in words.iter().enumerate() {
            self.store_word(*word, address, at as i32 * 8);
        }
        [address, self.number(words.len() as u64)]
    }

    /// Asks the runtime for the leaf, where code comes or where it seldom comes.
    pub(super) fn ask(
        &mut self,
        search: Search,
        packing: Packing,
        words: &[Value],
        is_seldom: bool,
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
        let leaf = match is_seldom {
            true => self.call_seldom(function, &arguments),
            false => self.call(function, &arguments),
        };
        let leaf = match leaf {
            Some(leaf) => leaf,
            None => self.number(0),
        };
        let leaf = self.builder.ins().ireduce(types::I32, leaf);
        self.end_with_either(search, leaf);
    }

    /// Asks the runtime for the leaf in a table of entries with masks.
    pub(super) fn ask_for_rule(&mut self, search: Search, packing: Packing, words: &[Value]) {
        let address = self.table_address(search.table);
        let leaf = match (packing, words) {
            (Packing::Word, [key]) => {
                self.call_for_word(runtime::find_rule_word(), &[address, *key])
            }
            (Packing::DoubleWord, [low, high]) => {
                self.call_for_word(runtime::find_rule_double(), &[address, *low, *high])
            }
            _ => return self.ask(search, packing, words, false),
        };
        let leaf = self.builder.ins().ireduce(types::I32, leaf);
        self.end_with_either(search, leaf);
    }

    /// In a block of its own, seldom reached: asks.
    pub(super) fn ask_aside(
        &mut self,
        search: Search,
        packing: Packing,
        words: &[Value],
        asking: Block,
    ) {
        self.builder.set_cold_block(asking);
        self.switch_to_sealed(asking);
        self.ask(search, packing, words, true);
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
