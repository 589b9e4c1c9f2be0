// SPDX-License-Identifier: Apache-2.0
//! Lookups: from keys to the record of the entry that wins, by the form of the table's index; and prefetches of
//! what a lookup reads first.

use super::super::function::FunctionCompiler;
use super::keys::Keys;
use super::search::{Search, direct_form};
use crate::runtime::pass::TableView;
use crate::runtime::tables as runtime;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use ir::TableId;
use state::forwarding::index::{BUCKET_BYTES, DirectForm, JOINED_BUCKET_BYTES, KeyLayout, Packing};
use std::mem::offset_of;

/// The result of a lookup.
#[derive(Clone, Copy)]
pub(super) struct Found {
    /// The record; the default action's on a miss.
    pub record: Value,
    /// 1 or 0.
    pub is_hit: Value,
}

impl FunctionCompiler<'_, '_> {
    /// Searches for the entry that wins, or takes the result of a batched lookup. No block is current
    /// afterwards.
    pub(super) fn find(&mut self, table: TableId, keys: &Keys) -> Search {
        let [hit, miss] = [(); 2].map(|()| self.builder.create_block());
        let leaf = self.builder.append_block_param(hit, types::I64);
        let search = Search { table, hit, leaf, miss };
        match keys.batch_index {
            Some(at) => self.search_batched(search, at),
            None => self.search(search, keys),
        }
        self.builder.seal_block(hit);
        self.builder.seal_block(miss);
        search
    }

    pub(super) fn search(&mut self, search: Search, keys: &Keys) {
        let table = search.table;
        let layout = KeyLayout::new(&self.program.tables[table.index()]);
        let words = self.packed_key(&layout, &keys.matched);
        match (direct_form(self.program, table), &words[..]) {
            (DirectForm::Array, [key]) => self.find_in_array(search, *key),
            (DirectForm::Joined { leaf_bits }, [key]) => {
                self.find_in_joined(search, *key, leaf_bits);
            }
            (DirectForm::Buckets, [key]) => self.find_in_buckets(search, *key),
            (DirectForm::DoubleBuckets { seed }, [low, high]) => {
                self.find_in_double_buckets(search, [*low, *high], seed);
            }
            (DirectForm::DirectTable, [key]) => self.find_in_direct_table(search, *key),
            _ if layout.has_rules() => self.call_find_rule(search, layout.packing, &words),
            _ => self.call_find(search, layout.packing, &words, false),
        }
    }

    /// Prefetches what a lookup in a large table reads first; in a direct table the last item.
    pub fn prefetch_lookup(&mut self, table: TableId, keys: &Keys) {
        let layout = KeyLayout::new(&self.program.tables[table.index()]);
        let words = self.packed_key(&layout, &keys.matched);
        let items = self.table_word(table, offset_of!(TableView, items));
        let address = match (direct_form(self.program, table), &words[..]) {
            (DirectForm::Array, [key]) => self.item_address(items, *key),
            (DirectForm::Joined { .. }, [key]) => {
                let hash = self.spread_word(*key);
                self.bucket(table, items, hash, JOINED_BUCKET_BYTES)
            }
            (DirectForm::Buckets, [key]) => {
                let hash = self.spread_word(*key);
                self.bucket(table, items, hash, BUCKET_BYTES)
            }
            (DirectForm::DoubleBuckets { seed }, [low, high]) => {
                let hash = self.hash_double(*low, *high, seed);
                self.bucket(table, items, hash, BUCKET_BYTES)
            }
            (DirectForm::DirectTable, [key]) => {
                let place = self.place_of(table, items, *key);
                self.item_address(items, place)
            }
            _ => return self.call_prefetch(table, layout.packing, &words),
        };
        self.prefetch_at(address);
    }

    /// Calls the runtime to prefetch what a lookup reads first.
    fn call_prefetch(&mut self, table: TableId, packing: Packing, words: &[Value]) {
        let address = self.table_address(table);
        match (packing, words) {
            (Packing::Word, [key]) => {
                self.call(runtime::prefetch_word(), &[address, *key]);
            }
            (Packing::DoubleWord, [low, high]) => {
                self.call(runtime::prefetch_double(), &[address, *low, *high]);
            }
            (_, words) => {
                let [key, count] = self.key_in_memory(words);
                self.call(runtime::prefetch_words(), &[address, key, count]);
            }
        }
    }

    /// The record of the entry that a search finds, or the default action's.
    pub(super) fn record_of(&mut self, search: Search) -> Found {
        let joined = self.builder.create_block();
        let record = self.builder.append_block_param(joined, types::I64);
        self.builder.switch_to_block(search.miss);
        let default = self.default_record(search.table);
        self.builder.ins().jump(joined, &[default.into()]);
        self.builder.switch_to_block(search.hit);
        let own = self.record_of_leaf(search.table, search.leaf);
        self.builder.ins().jump(joined, &[own.into()]);
        self.switch_to_sealed(joined);
        // No entry's record is the default action's. Cranelift drops this comparison when it is unused.
        let default = self.default_record(search.table);
        let is_hit = self.builder.ins().icmp(IntCC::NotEqual, record, default);
        Found { record, is_hit: self.builder.ins().uextend(types::I64, is_hit) }
    }
}
