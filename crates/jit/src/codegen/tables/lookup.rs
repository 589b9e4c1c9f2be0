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
use state::forwarding::RecordLayout;
use state::forwarding::index::{
    BUCKET_BYTES, DOUBLE_SLOTS, DirectForm, HASH_MULTIPLIER, HASH_SECOND_MULTIPLIER,
    JOINED_BUCKET_BYTES, JOINED_SLOTS, KeyLayout, NO_MATCH, Packing, WORD_SLOTS,
};
use std::mem::offset_of;

/// Which record a lookup leads to.
#[derive(Clone, Copy)]
pub(super) struct Found {
    /// The record; the default action's on a miss.
    pub record: Value,
    /// 1 or 0.
    pub is_hit: Value,
}

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

    /// Searches for the entry that wins, or takes what was found ahead. No block is current afterwards.
    pub(super) fn find(&mut self, table: TableId, keys: &Keys) -> Search {
        let [hit, miss] = [(); 2].map(|()| self.builder.create_block());
        let leaf = self.builder.append_block_param(hit, types::I64);
        let search = Search { table, hit, leaf, miss };
        match keys.found_ahead {
            Some(at) => self.take_found(search, at),
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
        match (self.direct_form(table), &words[..]) {
            (DirectForm::Array, [key]) => self.find_in_array(search, *key),
            (DirectForm::Joined { leaf_bits }, [key]) => {
                self.find_in_joined(search, *key, leaf_bits);
            }
            (DirectForm::Buckets, [key]) => self.find_in_buckets(search, *key),
            (DirectForm::DoubleBuckets { seed }, [low, high]) => {
                self.find_in_double_buckets(search, [*low, *high], seed);
            }
            (DirectForm::DirectTable, [key]) => self.find_in_direct_table(search, *key),
            _ if layout.has_rules() => self.ask_for_rule(search, layout.packing, &words),
            _ => self.ask(search, layout.packing, &words, false),
        }
    }

    /// Fetches what a lookup in a large table reads first, or last of the two items that it reads, into the
    /// cache.
    pub fn fetch(&mut self, table: TableId, keys: &Keys) {
        let layout = KeyLayout::new(&self.program.tables[table.index()]);
        let words = self.packed_key(&layout, &keys.matched);
        let items = self.shortcut(table, offset_of!(Shortcut, items));
        let address = match (self.direct_form(table), &words[..]) {
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
            _ => return self.ask_to_fetch(table, layout.packing, &words),
        };
        self.prefetch_at(address);
    }

    /// Asks the runtime to find out what a lookup reads first.
    fn ask_to_fetch(&mut self, table: TableId, packing: Packing, words: &[Value]) {
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
        // No entry's record is the default action's. Where nobody asks, this is no code.
        let default = self.default_record(search.table);
        let is_hit = self.builder.ins().icmp(IntCC::NotEqual, record, default);
        Found { record, is_hit: self.builder.ins().uextend(types::I64, is_hit) }
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

    fn is_match(&mut self, leaf: Value) -> Value {
        let no_match = self.builder.ins().iconst(types::I32, i64::from(NO_MATCH));
        self.builder.ins().icmp(IntCC::NotEqual, leaf, no_match)
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

    /// Asks the runtime for the leaf, where code comes or where it seldom comes.
    fn ask(&mut self, search: Search, packing: Packing, words: &[Value], is_seldom: bool) {
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
    fn ask_for_rule(&mut self, search: Search, packing: Packing, words: &[Value]) {
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

    pub(super) fn switch_to_sealed(&mut self, block: Block) {
        self.builder.seal_block(block);
        self.builder.switch_to_block(block);
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

    pub(super) fn direct_form(&self, table: TableId) -> DirectForm {
        let leaf_bits = RecordLayout::new(self.program, table).leaf_bits();
        KeyLayout::new(&self.program.tables[table.index()]).direct(leaf_bits)
    }

    /// [`DirectForm::Array`].
    fn find_in_array(&mut self, search: Search, key: Value) {
        let [inside, outside, asking] = [(); 3].map(|()| self.builder.create_block());
        let array = self.shortcut(search.table, offset_of!(Shortcut, items));
        let length = self.shortcut(search.table, offset_of!(Shortcut, length));
        let is_inside = self.builder.ins().icmp(IntCC::UnsignedLessThan, key, length);
        self.builder.ins().brif(is_inside, inside, &[], outside, &[]);

        self.switch_to_sealed(inside);
        let item = self.load_item(array, key);
        self.end_with_item(search, item);

        self.switch_to_sealed(outside);
        self.builder.ins().brif(length, search.miss, &[], asking, &[]);
        self.ask_aside(search, Packing::Word, &[key], asking);
    }

    /// Both halves of a product by exclusive or.
    fn fold(&mut self, left: Value, right: Value) -> Value {
        let low = self.builder.ins().imul(left, right);
        let high = self.builder.ins().umulhi(left, right);
        self.builder.ins().bxor(low, high)
    }

    /// A key of one word, spread over the highest bits.
    fn spread_word(&mut self, key: Value) -> Value {
        let multiplier = self.number(HASH_MULTIPLIER);
        self.builder.ins().imul(key, multiplier)
    }

    /// The hash of a key of two words.
    fn hash_double(&mut self, low: Value, high: Value, seed: u64) -> Value {
        let seed = self.number(seed);
        let multiplier = self.number(HASH_SECOND_MULTIPLIER);
        let seeded_low = self.builder.ins().bxor(low, seed);
        let seeded_high = self.builder.ins().bxor(high, multiplier);
        self.fold(seeded_low, seeded_high)
    }

    /// [`DirectForm::Joined`]: the bucket that the key leads to, and when that is full the one behind it.
    fn find_in_joined(&mut self, search: Search, key: Value, leaf_bits: u32) {
        let [reading, hit, behind, asking] = [(); 4].map(|()| self.builder.create_block());
        let found = self.builder.append_block_param(hit, types::I64);
        let buckets = self.shortcut(search.table, offset_of!(Shortcut, items));
        self.builder.ins().brif(buckets, reading, &[], asking, &[]);

        self.switch_to_sealed(reading);
        let hash = self.spread_word(key);
        let bucket = self.bucket(search.table, buckets, hash, JOINED_BUCKET_BYTES);
        let wanted = match leaf_bits {
            0 => key,
            _ => self.builder.ins().ishl_imm_u(key, i64::from(leaf_bits)),
        };
        self.find_in_joined_bucket((bucket, wanted, leaf_bits), hit, (behind, search.miss));

        self.builder.set_cold_block(behind);
        self.switch_to_sealed(behind);
        // Behind the last one comes the first one; that is left to who is asked.
        let again = self.builder.create_block();
        self.builder.set_cold_block(again);
        let shift = self.shortcut(search.table, offset_of!(Shortcut, length));
        let ones = self.number(u64::MAX);
        let last = self.builder.ins().ushr(ones, shift);
        let distance = self.builder.ins().isub(bucket, buckets);
        let index = self
            .builder
            .ins()
            .ushr_imm_u(distance, i64::from(JOINED_BUCKET_BYTES.trailing_zeros()));
        let is_last = self.builder.ins().icmp(IntCC::Equal, index, last);
        self.builder.ins().brif(is_last, asking, &[], again, &[]);
        self.switch_to_sealed(again);
        let next = self.builder.ins().iadd_imm_s(bucket, JOINED_BUCKET_BYTES as i64);
        self.find_in_joined_bucket((next, wanted, leaf_bits), hit, (asking, search.miss));

        self.switch_to_sealed(hit);
        self.builder.ins().jump(search.hit, &[found.into()]);
        self.ask_aside(search, Packing::Word, &[key], asking);
    }

    /// Looks into one bucket for a key, above so many bits of its leaf: goes on with the leaf, or where the
    /// bucket is full, or not.
    fn find_in_joined_bucket(
        &mut self,
        (bucket, wanted, leaf_bits): (Value, Value, u32),
        hit: Block,
        (full, free): (Block, Block),
    ) {
        // Where the keys are equal they leave the leaf, else something above it: so the least counts.
        let mut leaf = None;
        for slot in 0..JOINED_SLOTS {
            let word = self.load_word(bucket, (slot * 8) as i32);
            let left = self.builder.ins().bxor(wanted, word);
            leaf = Some(match leaf {
                None => left,
                Some(least) => self.builder.ins().umin(least, left),
            });
        }
        let Some(leaf) = leaf else { return };
        let elsewhere = self.builder.create_block();
        let is_found = self.compare(IntCC::UnsignedLessThan, leaf, 1 << leaf_bits);
        self.builder.ins().brif(is_found, hit, &[leaf.into()], elsewhere, &[]);

        self.switch_to_sealed(elsewhere);
        let last = self.load_word(bucket, (JOINED_SLOTS as i32 - 1) * 8);
        let is_full = self.compare(IntCC::NotEqual, last, u64::MAX);
        self.builder.ins().brif(is_full, full, &[], free, &[]);
    }

    /// [`DirectForm::Buckets`].
    fn find_in_buckets(&mut self, search: Search, key: Value) {
        let reading = self.builder.create_block();
        let asking = self.builder.create_block();
        let buckets = self.shortcut(search.table, offset_of!(Shortcut, items));
        self.builder.ins().brif(buckets, reading, &[], asking, &[]);

        self.switch_to_sealed(reading);
        let hash = self.spread_word(key);
        let bucket = self.bucket(search.table, buckets, hash, BUCKET_BYTES);
        let equal = |compiler: &mut Self, slot: usize| {
            let own_key = compiler.load_word(bucket, (slot * 8) as i32);
            compiler.builder.ins().icmp(IntCC::Equal, key, own_key)
        };
        self.find_in_bucket(search, bucket, WORD_SLOTS, 8, asking, equal);
        self.ask_aside(search, Packing::Word, &[key], asking);
    }

    /// [`DirectForm::DoubleBuckets`].
    fn find_in_double_buckets(&mut self, search: Search, [low, high]: [Value; 2], seed: u64) {
        let reading = self.builder.create_block();
        let asking = self.builder.create_block();
        let buckets = self.shortcut(search.table, offset_of!(Shortcut, items));
        self.builder.ins().brif(buckets, reading, &[], asking, &[]);

        self.switch_to_sealed(reading);
        let hash = self.hash_double(low, high, seed);
        let bucket = self.bucket(search.table, buckets, hash, BUCKET_BYTES);
        let equal = |compiler: &mut Self, slot: usize| {
            let own_low = compiler.load_word(bucket, (slot * 16) as i32);
            let own_high = compiler.load_word(bucket, (slot * 16 + 8) as i32);
            let low = compiler.builder.ins().bxor(low, own_low);
            let high = compiler.builder.ins().bxor(high, own_high);
            let different = compiler.builder.ins().bor(low, high);
            compiler.compare(IntCC::Equal, different, 0)
        };
        self.find_in_bucket(search, bucket, DOUBLE_SLOTS, 16, asking, equal);
        self.ask_aside(search, Packing::DoubleWord, &[low, high], asking);
    }

    /// The address of the bucket that a hash leads to.
    fn bucket(&mut self, table: TableId, buckets: Value, hash: Value, bytes: usize) -> Value {
        let shift = self.shortcut(table, offset_of!(Shortcut, length));
        let home = self.builder.ins().ushr(hash, shift);
        let distance = self.builder.ins().ishl_imm_u(home, i64::from(bytes.trailing_zeros()));
        self.builder.ins().iadd(buckets, distance)
    }

    /// Looks into one bucket; `equal` tells whether a slot has the key.
    fn find_in_bucket(
        &mut self,
        search: Search,
        bucket: Value,
        slots: usize,
        key_bytes: usize,
        asking: Block,
        equal: impl Fn(&mut Self, usize) -> Value,
    ) {
        let [hit, elsewhere] = [(); 2].map(|()| self.builder.create_block());
        let leaf_of = |compiler: &mut Self, slot: usize| {
            let offset = (slots * key_bytes + slot * 4) as i32;
            compiler.builder.ins().load(types::I32, MemFlagsData::trusted(), bucket, offset)
        };
        let no_match = self.builder.ins().iconst(types::I32, i64::from(NO_MATCH));
        // All slots without a branch: where in the bucket a key is cannot be foretold.
        let mut found = no_match;
        for slot in (0..slots).rev() {
            let own_leaf = leaf_of(self, slot);
            let is_it = equal(self, slot);
            found = self.builder.ins().select(is_it, own_leaf, found);
        }
        let is_found = self.is_match(found);
        self.builder.ins().brif(is_found, hit, &[], elsewhere, &[]);

        self.switch_to_sealed(elsewhere);
        let last = leaf_of(self, slots - 1);
        let is_full = self.is_match(last);
        self.builder.ins().brif(is_full, asking, &[], search.miss, &[]);

        self.switch_to_sealed(hit);
        self.end_with_leaf(search, found);
    }
}
