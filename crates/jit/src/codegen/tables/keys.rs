// SPDX-License-Identifier: Apache-2.0
//! Keys of table applications: their values, packed into words like in the table's index; and keys of batched
//! lookups, which come from the received packet.

use super::super::batched_lookups::{BatchedLookup, KeyPart, batched_item_offset};
use super::super::function::FunctionCompiler;
use super::super::temporaries::TempValue;
use super::super::values::Val;
use super::search::direct_form;
use crate::runtime::pass::{MAX_BATCHED_LOOKUPS, TAILROOM_BYTES};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value};
use ir::{MatchKind, Operand, TableId, ValueType};
use state::forwarding::index::{DirectForm, KeyLayout};

/// The keys of an application: those that are matched, and those of the selector.
#[derive(Default)]
pub(crate) struct Keys {
    pub matched: Vec<(ValueType, Val)>,
    pub selector: Vec<(ValueType, Val)>,
    /// Index of the batched lookup of these keys.
    pub batch_index: Option<usize>,
}

impl FunctionCompiler<'_, '_> {
    /// The keys of an application, without the matched ones of a batched lookup.
    pub(super) fn table_keys(
        &mut self,
        table: TableId,
        keys: &[Operand],
        batch_index: Option<usize>,
    ) -> Keys {
        let mut sorted = Keys { batch_index, ..Keys::default() };
        let declared = &self.program.tables[table.index()].keys;
        for (key, operand) in declared.iter().zip(keys) {
            let values = match (&key.match_kind, batch_index) {
                (MatchKind::Selector, _) => &mut sorted.selector,
                (_, None) => &mut sorted.matched,
                (_, Some(_)) => continue,
            };
            values.push((self.operand_type(operand), self.operand(operand)));
        }
        sorted
    }

    /// The words of the matched keys as in the table's index.
    pub(super) fn packed_key(
        &mut self,
        layout: &KeyLayout,
        keys: &[(ValueType, Val)],
    ) -> Vec<Value> {
        let mut packed: Vec<Option<Value>> = vec![None; layout.words()];
        for (field, (ty, value)) in layout.fields.iter().zip(keys) {
            if field.width_bits == 0 {
                continue;
            }
            let words = self.values().words(ty.width_bits(), *value);
            for (at, word) in words.into_iter().enumerate() {
                let first = field.word + at;
                if field.shift == 0 {
                    self.combine(&mut packed[first], word);
                    continue;
                }
                let low = self.builder.ins().ishl_imm_u(word, i64::from(field.shift));
                self.combine(&mut packed[first], low);
                let left_bits = (field.width_bits - 64 * at as u32).min(64);
                if field.shift + left_bits > 64 {
                    let high = self.builder.ins().ushr_imm_u(word, i64::from(64 - field.shift));
                    self.combine(&mut packed[first + 1], high);
                }
            }
        }
        packed
            .into_iter()
            .map(|word| match word {
                Some(word) => word,
                None => self.number(0),
            })
            .collect()
    }

    fn combine(&mut self, into: &mut Option<Value>, word: Value) {
        *into = Some(match *into {
            None => word,
            Some(before) => self.builder.ins().bor(before, word),
        });
    }

    /// Records a lookup on the current path. Returns its index if it is batched.
    pub fn record_lookup(&mut self, table: TableId, keys: &[Operand]) -> Option<usize> {
        let declared = &self.program.tables[table.index()].keys;
        let parts: Option<Vec<KeyPart>> = declared
            .iter()
            .zip(keys)
            .filter(|(key, _)| key.match_kind != MatchKind::Selector)
            .map(|(_, operand)| self.part(operand))
            .collect();
        let has_looked_up = std::mem::replace(&mut self.path.has_looked_up, true);
        let Some(parts) = parts else {
            // Keys that depend on an earlier lookup cannot be prefetched anyway.
            if !has_looked_up {
                self.lookups.unknown.push(table);
            }
            return None;
        };
        let is_same = |lookup: &&BatchedLookup| lookup.table == table && lookup.parts == parts;
        if let Some(lookup) = self.lookups.known.iter().find(is_same) {
            return lookup.batch_index;
        }
        let count = self.lookups.batched_count();
        let is_found = self.may_batch
            && count < MAX_BATCHED_LOOKUPS
            && direct_form(self.program, table) == DirectForm::DirectTable;
        let batch_index = is_found.then_some(count);
        self.lookups.known.push(BatchedLookup { table, parts, batch_index });
        batch_index
    }

    fn part(&mut self, operand: &Operand) -> Option<KeyPart> {
        if let Some(bits) = self.packet_operand(operand) {
            let end_bits = bits.offset_bits + bits.width_bits;
            let is_readable = end_bits.div_ceil(8) + 8 <= TAILROOM_BYTES as u32;
            return (bits.address == self.packet && is_readable).then_some(KeyPart::Packet {
                offset_bits: bits.offset_bits,
                width_bits: bits.width_bits,
            });
        }
        let ValueType::Bits(width_bits) = self.operand_type(operand) else { return None };
        match self.known(operand) {
            Some(TempValue::Computed(Val::Word(word))) if self.packet_inputs.contains(&word) => {
                Some(KeyPart::Input { width_bits })
            }
            _ => None,
        }
    }

    pub fn packet_keys(&mut self, parts: &[KeyPart]) -> Keys {
        let mut keys = Keys::default();
        for part in parts {
            let (width_bits, value) = match *part {
                KeyPart::Packet { offset_bits, width_bits } => {
                    (width_bits, self.load_value(self.packet, offset_bits, width_bits))
                }
                KeyPart::Input { width_bits } => {
                    let input = self.packet_input();
                    (width_bits, Val::Word(self.mask(input, width_bits)))
                }
            };
            keys.matched.push((ValueType::Bits(width_bits), value));
        }
        keys
    }

    /// The keys of a batched lookup.
    pub fn batched_keys(&mut self, at: usize) -> Keys {
        let mut known = self.lookups.known.iter();
        let parts = match known.find(|lookup| lookup.batch_index == Some(at)) {
            Some(lookup) => lookup.parts.clone(),
            None => Vec::new(),
        };
        self.packet_keys(&parts)
    }

    /// The index of the item that a batched lookup found.
    pub fn batched_item(&mut self, at: usize) -> Value {
        let flags = MemFlagsData::trusted();
        self.builder.ins().uload32(flags, self.received, batched_item_offset(at))
    }
}
