// SPDX-License-Identifier: Apache-2.0
//! Searches in arrays and in hash tables of buckets ([`DirectForm`]), read inline.

use super::super::function::FunctionCompiler;
use super::search::Search;
use crate::runtime::pass::TableView;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value, types};
use ir::TableId;
use state::forwarding::index::{
    BUCKET_BYTES, DOUBLE_SLOTS, HASH_MULTIPLIER, HASH_SECOND_MULTIPLIER, JOINED_BUCKET_BYTES,
    JOINED_SLOTS, NO_MATCH, Packing, WORD_SLOTS,
};
use std::mem::offset_of;

impl FunctionCompiler<'_, '_> {
    /// [`DirectForm::Array`].
    pub(super) fn find_in_array(&mut self, search: Search, key: Value) {
        let [inside, outside, calling] = [(); 3].map(|()| self.builder.create_block());
        let array = self.table_word(search.table, offset_of!(TableView, items));
        let length = self.table_word(search.table, offset_of!(TableView, length));
        let is_inside = self.builder.ins().icmp(IntCC::UnsignedLessThan, key, length);
        self.builder.ins().brif(is_inside, inside, &[], outside, &[]);

        self.switch_to_sealed(inside);
        let item = self.load_item(array, key);
        self.end_with_item(search, item);

        self.switch_to_sealed(outside);
        self.builder.ins().brif(length, search.miss, &[], calling, &[]);
        self.call_find_cold(search, Packing::Word, &[key], calling);
    }

    /// The exclusive or of both halves of a product.
    fn fold(&mut self, left: Value, right: Value) -> Value {
        let low = self.builder.ins().imul(left, right);
        let high = self.builder.ins().umulhi(left, right);
        self.builder.ins().bxor(low, high)
    }

    /// The hash of a key of one word; its highest bits count.
    pub(super) fn spread_word(&mut self, key: Value) -> Value {
        let multiplier = self.number(HASH_MULTIPLIER);
        self.builder.ins().imul(key, multiplier)
    }

    /// The hash of a key of two words.
    pub(super) fn hash_double(&mut self, low: Value, high: Value, seed: u64) -> Value {
        let seed = self.number(seed);
        let multiplier = self.number(HASH_SECOND_MULTIPLIER);
        let seeded_low = self.builder.ins().bxor(low, seed);
        let seeded_high = self.builder.ins().bxor(high, multiplier);
        self.fold(seeded_low, seeded_high)
    }

    /// [`DirectForm::Joined`]: the bucket of the key's hash, and the next one when that is full.
    pub(super) fn find_in_joined(&mut self, search: Search, key: Value, leaf_bits: u32) {
        let [reading, hit, behind, calling] = [(); 4].map(|()| self.builder.create_block());
        let found = self.builder.append_block_param(hit, types::I64);
        let buckets = self.table_word(search.table, offset_of!(TableView, items));
        self.builder.ins().brif(buckets, reading, &[], calling, &[]);

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
        // After the last bucket comes the first one; the runtime searches there.
        let again = self.builder.create_block();
        self.builder.set_cold_block(again);
        let shift = self.table_word(search.table, offset_of!(TableView, length));
        let ones = self.number(u64::MAX);
        let last = self.builder.ins().ushr(ones, shift);
        let distance = self.builder.ins().isub(bucket, buckets);
        let index = self
            .builder
            .ins()
            .ushr_imm_u(distance, i64::from(JOINED_BUCKET_BYTES.trailing_zeros()));
        let is_last = self.builder.ins().icmp(IntCC::Equal, index, last);
        self.builder.ins().brif(is_last, calling, &[], again, &[]);
        self.switch_to_sealed(again);
        let next = self.builder.ins().iadd_imm_s(bucket, JOINED_BUCKET_BYTES as i64);
        self.find_in_joined_bucket((next, wanted, leaf_bits), hit, (calling, search.miss));

        self.switch_to_sealed(hit);
        self.builder.ins().jump(search.hit, &[found.into()]);
        self.call_find_cold(search, Packing::Word, &[key], calling);
    }

    /// Searches one bucket for a key, which is above `leaf_bits` bits of its leaf. Jumps to `hit` with the
    /// leaf, to `full` when the bucket is full, else to `free`.
    fn find_in_joined_bucket(
        &mut self,
        (bucket, wanted, leaf_bits): (Value, Value, u32),
        hit: Block,
        (full, free): (Block, Block),
    ) {
        // Equal keys leave the leaf alone, others leave bits above it, so the minimum decides.
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
    pub(super) fn find_in_buckets(&mut self, search: Search, key: Value) {
        let reading = self.builder.create_block();
        let calling = self.builder.create_block();
        let buckets = self.table_word(search.table, offset_of!(TableView, items));
        self.builder.ins().brif(buckets, reading, &[], calling, &[]);

        self.switch_to_sealed(reading);
        let hash = self.spread_word(key);
        let bucket = self.bucket(search.table, buckets, hash, BUCKET_BYTES);
        let equal = |compiler: &mut Self, slot: usize| {
            let own_key = compiler.load_word(bucket, (slot * 8) as i32);
            compiler.builder.ins().icmp(IntCC::Equal, key, own_key)
        };
        self.find_in_bucket(search, bucket, WORD_SLOTS, 8, calling, equal);
        self.call_find_cold(search, Packing::Word, &[key], calling);
    }

    /// [`DirectForm::DoubleBuckets`].
    pub(super) fn find_in_double_buckets(
        &mut self,
        search: Search,
        [low, high]: [Value; 2],
        seed: u64,
    ) {
        let reading = self.builder.create_block();
        let calling = self.builder.create_block();
        let buckets = self.table_word(search.table, offset_of!(TableView, items));
        self.builder.ins().brif(buckets, reading, &[], calling, &[]);

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
        self.find_in_bucket(search, bucket, DOUBLE_SLOTS, 16, calling, equal);
        self.call_find_cold(search, Packing::DoubleWord, &[low, high], calling);
    }

    /// The address of a hash's bucket.
    pub(super) fn bucket(
        &mut self,
        table: TableId,
        buckets: Value,
        hash: Value,
        bytes: usize,
    ) -> Value {
        let shift = self.table_word(table, offset_of!(TableView, length));
        let home = self.builder.ins().ushr(hash, shift);
        let distance = self.builder.ins().ishl_imm_u(home, i64::from(bytes.trailing_zeros()));
        self.builder.ins().iadd(buckets, distance)
    }

    /// Searches one bucket; `equal` emits whether a slot has the key.
    fn find_in_bucket(
        &mut self,
        search: Search,
        bucket: Value,
        slots: usize,
        key_bytes: usize,
        calling: Block,
        equal: impl Fn(&mut Self, usize) -> Value,
    ) {
        let [hit, elsewhere] = [(); 2].map(|()| self.builder.create_block());
        let leaf_of = |compiler: &mut Self, slot: usize| {
            let offset = (slots * key_bytes + slot * 4) as i32;
            compiler.builder.ins().load(types::I32, MemFlagsData::trusted(), bucket, offset)
        };
        let no_match = self.builder.ins().iconst(types::I32, i64::from(NO_MATCH));
        // All slots without a branch: the slot of a key is unpredictable.
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
        self.builder.ins().brif(is_full, calling, &[], search.miss, &[]);

        self.switch_to_sealed(hit);
        self.end_with_leaf(search, found);
    }
}
