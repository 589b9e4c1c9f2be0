// SPDX-License-Identifier: Apache-2.0
//! Searches in direct tables ([`DirectForm::DirectTable`]): for the running packet, or batched for a whole
//! burst.

use super::super::function::FunctionCompiler;
use super::keys::Keys;
use super::search::Search;
use crate::runtime::pass::TableView;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use ir::TableId;
use state::forwarding::index::{
    BLOCK_BITS, DIRECT_BITS, FALL_BACK_TO_TRIE, IS_NO_LEAF, KeyLayout, Packing, SMALL_BLOCK_BITS,
};
use std::mem::offset_of;

/// Bits of a left-aligned key of a direct table.
const ALIGNED_BITS: u32 = 32;

impl FunctionCompiler<'_, '_> {
    /// Makes a batched lookup: returns the index of the keys' item, and prefetches the item.
    pub fn batch_lookup(&mut self, table: TableId, keys: &Keys) -> Value {
        let key = self.direct_key(table, keys);
        let array = self.table_word(table, offset_of!(TableView, items));
        let place = self.place_of(table, array, key);
        let address = self.item_address(array, place);
        self.prefetch_at(address);
        place
    }

    pub(super) fn search_batched(&mut self, search: Search, at: usize) {
        let place = self.batched_item(at);
        let array = self.table_word(search.table, offset_of!(TableView, items));
        let item = self.load_item(array, place);
        self.end_with_direct_item(search, item, |compiler| {
            let keys = compiler.batched_keys(at);
            compiler.direct_key(search.table, &keys)
        });
    }

    /// The one word of a direct table's key.
    fn direct_key(&mut self, table: TableId, keys: &Keys) -> Value {
        let layout = KeyLayout::new(&self.program.tables[table.index()]);
        self.packed_key(&layout, &keys.matched)[0]
    }

    /// The key of a direct table, left aligned.
    fn aligned(&mut self, table: TableId, key: Value) -> Value {
        let width_bits = self.program.tables[table.index()].keys[0].width_bits;
        self.builder.ins().ishl_imm_u(key, i64::from(ALIGNED_BITS - width_bits))
    }

    /// The index of a key's item: in the direct table, or in the block that the table points to. Most searches
    /// end there.
    pub(super) fn place_of(&mut self, table: TableId, array: Value, key: Value) -> Value {
        let [in_block, settled] = [(); 2].map(|()| self.builder.create_block());
        let place = self.builder.append_block_param(settled, types::I64);
        let aligned = self.aligned(table, key);
        let at = self.builder.ins().ushr_imm_u(aligned, i64::from(ALIGNED_BITS - DIRECT_BITS));
        let first = self.load_item(array, at);
        let is_block = self.is_block(first);
        self.builder.ins().brif(is_block, in_block, &[], settled, &[at.into()]);
        self.switch_to_sealed(in_block);
        let below = (ALIGNED_BITS - DIRECT_BITS - BLOCK_BITS, BLOCK_BITS);
        let at = self.place_in(first, aligned, below);
        self.builder.ins().jump(settled, &[at.into()]);
        self.switch_to_sealed(settled);
        place
    }

    /// Whether an item of a direct table points to a block.
    fn is_block(&mut self, item: Value) -> Value {
        // As signed numbers blocks are below `FALL_BACK_TO_TRIE`, which is -2, and leaves are not negative.
        let asked = self.builder.ins().iconst(types::I64, i64::from(FALL_BACK_TO_TRIE as i32));
        self.builder.ins().icmp(IntCC::SignedLessThan, item, asked)
    }

    /// The index of the item that `bits` bits of an aligned key choose in a block; `left_bits` bits follow
    /// them.
    fn place_in(&mut self, first: Value, aligned: Value, (left_bits, bits): (u32, u32)) -> Value {
        let start = self.builder.ins().band_imm_u(first, i64::from(!IS_NO_LEAF));
        let at = match left_bits {
            0 => aligned,
            _ => self.builder.ins().ushr_imm_u(aligned, i64::from(left_bits)),
        };
        let at = self.builder.ins().band_imm_u(at, (1 << bits) - 1);
        self.builder.ins().iadd(start, at)
    }

    /// [`DirectForm::DirectTable`].
    pub(super) fn find_in_direct_table(&mut self, search: Search, key: Value) {
        let array = self.table_word(search.table, offset_of!(TableView, items));
        let place = self.place_of(search.table, array, key);
        let item = self.load_item(array, place);
        self.end_with_direct_item(search, item, |_| key);
    }

    /// Ends a search with the item that most searches end with. Other searches continue with `key`.
    fn end_with_direct_item(
        &mut self,
        search: Search,
        item: Value,
        key: impl FnOnce(&mut Self) -> Value,
    ) {
        let [special, no_match, calling] = [(); 3].map(|()| self.builder.create_block());
        let zero = self.number(0);
        let is_special = self.builder.ins().icmp(IntCC::SignedLessThan, item, zero);
        self.builder.ins().brif(is_special, special, &[], search.hit, &[item.into()]);

        self.builder.set_cold_block(special);
        self.switch_to_sealed(special);
        let key = key(self);
        let array = self.table_word(search.table, offset_of!(TableView, items));
        let aligned = self.aligned(search.table, key);
        let mut item = item;
        for left_bits in [SMALL_BLOCK_BITS, 0] {
            let [in_block, settled, hit] = [(); 3].map(|()| self.builder.create_block());
            [in_block, settled, hit]
                .into_iter()
                .for_each(|block| self.builder.set_cold_block(block));
            let next = self.builder.append_block_param(settled, types::I64);
            let is_block = self.is_block(item);
            self.builder.ins().brif(is_block, in_block, &[], settled, &[item.into()]);
            self.switch_to_sealed(in_block);
            let at = self.place_in(item, aligned, (left_bits, SMALL_BLOCK_BITS));
            let item_behind = self.load_item(array, at);
            let is_leaf =
                self.builder.ins().icmp(IntCC::SignedGreaterThanOrEqual, item_behind, zero);
            self.builder.ins().brif(is_leaf, hit, &[], settled, &[item_behind.into()]);
            self.switch_to_sealed(hit);
            self.builder.ins().jump(search.hit, &[item_behind.into()]);
            self.switch_to_sealed(settled);
            item = next;
        }
        let asked = self.builder.ins().iconst(types::I64, i64::from(FALL_BACK_TO_TRIE as i32));
        let asks = self.builder.ins().icmp(IntCC::Equal, item, asked);
        self.builder.ins().brif(asks, calling, &[], no_match, &[]);

        self.builder.set_cold_block(no_match);
        self.switch_to_sealed(no_match);
        let default_leaf = self.table_word(search.table, offset_of!(TableView, default_leaf));
        let default_leaf = self.builder.ins().ireduce(types::I32, default_leaf);
        self.end_with_either(search, default_leaf);

        self.call_find_cold(search, Packing::Word, &[key], calling);
    }
}
