// SPDX-License-Identifier: Apache-2.0
//! Functions of the runtime for lookups: one for each packing of keys, each with a variant for processors that
//! count bits in one instruction. Matching itself is in `state`.

use super::RuntimeFunction;
use super::hashes::hash_of;
use super::prefetch;
use super::state::{functions, runtime_context, words_at};
use interpreter::bit_string::BitString;
use ir::{Bits, MatchKind, TableId};
use state::forwarding::{ForwardingTable, NO_ACTION};

/// The record of a lookup when no action runs.
static NO_ACTION_RECORD: u64 = NO_ACTION as u64;

functions! {
    /// Runtime context, table, address of an indirect record, words of the selector keys; the address of the
    /// record to run.
    resolve = giving_4(resolve_record);
    /// Any number: prefetches the cache line at this address.
    prefetch_address = taking_1(prefetch_line);
}

unsafe extern "C" fn prefetch_line(address: u64) {
    prefetch(address as usize);
}

/// The table at an address.
///
/// # Safety
///
/// The table lives as long as the result, and no code changes it.
unsafe fn table_at<'t>(address: u64) -> &'t ForwardingTable {
    // SAFETY: as the caller promises.
    unsafe { &*(address as *const ForwardingTable) }
}

/// Declares lookups in two variants: for every processor, and for those with the features that make
/// counting and picking bits one instruction each.
macro_rules! lookups {
    ($(
        $(#[$doc:meta])*
        $name:ident = $constructor:ident, $plain:ident, $fast:ident
            |$table:ident $(, $parameter:ident)*| $(-> $result:ty)? $body:block
    )*) => {$(
        $(#[$doc])*
        pub(crate) fn $name() -> RuntimeFunction {
            #[cfg(target_arch = "x86_64")]
            if has_bit_instructions() {
                return RuntimeFunction::$constructor($fast);
            }
            RuntimeFunction::$constructor($plain)
        }

        unsafe extern "C" fn $plain(table: u64 $(, $parameter: u64)*) $(-> $result)? {
            // SAFETY: compiled code hands in a table of its pass's forwarding state, which is held.
            let $table = unsafe { table_at(table) };
            $body
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "popcnt,bmi1,bmi2,lzcnt,avx2")]
        unsafe extern "C" fn $fast(table: u64 $(, $parameter: u64)*) $(-> $result)? {
            // SAFETY: compiled code hands in a table of its pass's forwarding state, which is held.
            let $table = unsafe { table_at(table) };
            $body
        }
    )*};
}

lookups! {
    /// Table, key of one word; the number of the record, or
    /// [`state::forwarding::index::NO_MATCH`].
    find_word = giving_2, find_word_plain, find_word_fast
    |table, key| -> u64 { u64::from(table.index().find_word(key)) }

    /// Table, key of two words, the low one first; as above.
    find_double = giving_3, find_double_plain, find_double_fast
    |table, low, high| -> u64 { u64::from(table.index().find_double(low, high)) }

    /// As [`find_word`], of a table with [`state::forwarding::index::KeyLayout::has_rules`].
    find_rule_word = giving_2, find_rule_word_plain, find_rule_word_fast
    |table, key| -> u64 { u64::from(table.index().find_rule_word(key)) }

    /// As [`find_double`], of a table with [`state::forwarding::index::KeyLayout::has_rules`].
    find_rule_double = giving_3, find_rule_double_plain, find_rule_double_fast
    |table, low, high| -> u64 { u64::from(table.index().find_rule_double(low, high)) }

    /// Table, address of the key, number of its words; as above.
    find_words = giving_3, find_words_plain, find_words_fast
    |table, address, count| -> u64 {
        // SAFETY: compiled code laid out so many words there.
        let key = unsafe { words_at(address, count as usize) };
        u64::from(table.index().find_words(key))
    }

    /// Table, key of one word: prefetches what [`find_word`] reads first.
    prefetch_word = taking_2, prefetch_word_plain, prefetch_word_fast
    |table, key| { prefetch(table.first_touch_word(key)) }

    /// The same for [`find_double`].
    prefetch_double = taking_3, prefetch_double_plain, prefetch_double_fast
    |table, low, high| { prefetch(table.first_touch_double(low, high)) }

    /// The same for [`find_words`].
    prefetch_words = taking_3, prefetch_words_plain, prefetch_words_fast
    |table, address, count| {
        // SAFETY: compiled code laid out so many words there.
        let key = unsafe { words_at(address, count as usize) };
        prefetch(table.first_touch_words(key));
    }
}

#[cfg(target_arch = "x86_64")]
fn has_bit_instructions() -> bool {
    is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("avx2")
}

unsafe extern "C" fn resolve_record(context: u64, table: u64, record: u64, words: u64) -> u64 {
    // SAFETY: compiled code passes its own runtime context.
    let context = unsafe { runtime_context(context) };
    let id = TableId(table as u32);
    let mut hash = 0;
    let declared = &context.program.tables[id.index()];
    let selector = declared
        .implementation
        .and_then(|profile| context.program.action_profiles.get(profile.index())?.selector);
    if let Some((algorithm, width_bits)) = selector
        && context.forwarding.needs_hash(id, record as usize)
    {
        let mut input = BitString::new();
        let mut next = words;
        for key in declared.keys.iter().filter(|key| key.match_kind == MatchKind::Selector) {
            let count = state::forwarding::words_of_width(key.width_bits);
            // SAFETY: compiled code laid out the selector keys there, each in so many words.
            let words = unsafe { words_at(next, count) };
            match words {
                [word] => input.push_number(u128::from(*word), key.width_bits),
                words => input.push(&Bits::from_words(key.width_bits, words)),
            }
            next += count as u64 * 8;
        }
        let replication = context.forwarding.replication();
        hash = hash_of(algorithm, input.as_bytes(), replication);
        hash = Bits::from_u64(width_bits, hash).low_u64();
    }
    match context.forwarding.resolve(id, record as usize, hash) {
        0 => &raw const NO_ACTION_RECORD as u64,
        record => record as u64,
    }
}
