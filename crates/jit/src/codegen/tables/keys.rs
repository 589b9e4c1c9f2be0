// SPDX-License-Identifier: Apache-2.0
//! Keys of table applications: their values, packed into words as the table's index has them; and keys that are
//! known from the packet as received, of lookups made for a whole burst.

use super::super::batched_lookups::{Lookup, Part, offset_of_found};
use super::super::function::FunctionCompiler;
use super::super::temporaries::Known;
use super::super::values::Val;
use super::search::direct_form;
use crate::runtime::pass::{FOUND_AHEAD, TAILROOM_BYTES};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value};
use ir::{MatchKind, Operand, TableId, ValueType};
use state::forwarding::index::{DirectForm, KeyLayout};

/// The keys of an application, those that are matched and those that choose.
#[derive(Default)]
pub(crate) struct Keys {
    pub matched: Vec<(ValueType, Val)>,
    pub selector: Vec<(ValueType, Val)>,
    /// Where the burst's packets have what was found ahead for these keys.
    pub found_ahead: Option<usize>,
}

impl FunctionCompiler<'_, '_> {
    /// The keys of an application. Those that something was found for ahead are not wanted.
    pub(super) fn table_keys(
        &mut self,
        table: TableId,
        keys: &[Operand],
        found_ahead: Option<usize>,
    ) -> Keys {
        let mut sorted = Keys { found_ahead, ..Keys::default() };
        let declared = &self.program.tables[table.index()].keys;
        for (key, operand) in declared.iter().zip(keys) {
            let values = match (&key.match_kind, found_ahead) {
                (MatchKind::Selector, _) => &mut sorted.selector,
                (_, None) => &mut sorted.matched,
                (_, Some(_)) => continue,
            };
            values.push((self.operand_type(operand), self.operand(operand)));
        }
        sorted
    }

    /// The words of the matched keys as the table's index has them.
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

    /// Notes a lookup on the running way. Returns where packets have what it led to, if it is made ahead.
    pub fn note_lookup(&mut self, table: TableId, keys: &[Operand]) -> Option<usize> {
        let declared = &self.program.tables[table.index()].keys;
        let parts: Option<Vec<Part>> = declared
            .iter()
            .zip(keys)
            .filter(|(key, _)| key.match_kind != MatchKind::Selector)
            .map(|(_, operand)| self.part(operand))
            .collect();
        let has_looked_up = std::mem::replace(&mut self.path.has_looked_up, true);
        let Some(parts) = parts else {
            // What an earlier lookup says cannot be known ahead anyway.
            if !has_looked_up {
                self.lookups.unknown.push(table);
            }
            return None;
        };
        let is_same = |lookup: &&Lookup| lookup.table == table && lookup.parts == parts;
        if let Some(lookup) = self.lookups.known.iter().find(is_same) {
            return lookup.found_ahead;
        }
        let count = self.lookups.found_ahead();
        let is_found = self.finds_ahead
            && count < FOUND_AHEAD
            && direct_form(self.program, table) == DirectForm::DirectTable;
        let found_ahead = is_found.then_some(count);
        self.lookups.known.push(Lookup { table, parts, found_ahead });
        found_ahead
    }

    fn part(&mut self, operand: &Operand) -> Option<Part> {
        if let Some(bits) = self.packet_operand(operand) {
            let end_bits = bits.offset_bits + bits.width_bits;
            let is_readable = end_bits.div_ceil(8) + 8 <= TAILROOM_BYTES as u32;
            return (bits.address == self.packet && is_readable).then_some(Part::Packet {
                offset_bits: bits.offset_bits,
                width_bits: bits.width_bits,
            });
        }
        let ValueType::Bits(width_bits) = self.operand_type(operand) else { return None };
        match self.known(operand) {
            Some(Known::Val(Val::Word(word))) if self.own_inputs.contains(&word) => {
                Some(Part::Input { width_bits })
            }
            _ => None,
        }
    }

    pub fn keys_ahead(&mut self, parts: &[Part]) -> Keys {
        let mut keys = Keys::default();
        for part in parts {
            let (width_bits, value) = match *part {
                Part::Packet { offset_bits, width_bits } => {
                    (width_bits, self.load_value(self.packet, offset_bits, width_bits))
                }
                Part::Input { width_bits } => {
                    let input = self.own_input();
                    (width_bits, Val::Word(self.mask(input, width_bits)))
                }
            };
            keys.matched.push((ValueType::Bits(width_bits), value));
        }
        keys
    }

    /// The keys of a lookup made ahead.
    pub fn keys_found_ahead(&mut self, at: usize) -> Keys {
        let mut known = self.lookups.known.iter();
        let parts = match known.find(|lookup| lookup.found_ahead == Some(at)) {
            Some(lookup) => lookup.parts.clone(),
            None => Vec::new(),
        };
        self.keys_ahead(&parts)
    }

    /// Where the item is that a lookup made ahead led to.
    pub fn found_ahead(&mut self, at: usize) -> Value {
        let flags = MemFlagsData::trusted();
        self.builder.ins().uload32(flags, self.received, offset_of_found(at))
    }
}
