// SPDX-License-Identifier: Apache-2.0
//! What a unit looks up by bits of the packet as it came, noted while the unit is compiled, and code that
//! makes such lookups for a whole burst before the unit runs, or fetches ahead for them. Nothing else stands
//! between one packet's lookup and the next one's then, so that they wait for memory together. Whether a
//! packet comes to a lookup at all does not matter: looking up for nothing does no harm.

use super::function::{FunctionCompiler, Known};
use super::tables::Keys;
use super::values::Val;
use crate::runtime::pass::{ENDED, FOUND_AHEAD, Received, TAILROOM_BYTES};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value};
use ir::{MatchKind, Operand, TableId, ValueType};
use std::mem::offset_of;

/// Where a part of a key comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Bits of the packet, counted from its first one.
    Packet { offset_bits: u32, width_bits: u32 },
    /// The low bits of input 0.
    Input { width_bits: u32 },
}

/// A lookup whose key is known from the packet as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Lookup {
    table: TableId,
    parts: Vec<Part>,
    /// Where packets have what it led to; `None` if it is only fetched for.
    found_ahead: Option<usize>,
}

/// The lookups of a unit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lookups {
    known: Vec<Lookup>,
    /// Tables looked up in by something else, before any result of a lookup could be part of it.
    unknown: Vec<TableId>,
}

impl Lookups {
    /// Whether it is worth while, and enough, to fetch ahead for the lookups that are known.
    pub fn are_known(&self) -> bool {
        let is_known = |table: &TableId| self.known.iter().any(|lookup| lookup.table == *table);
        !self.known.is_empty() && self.unknown.iter().all(is_known)
    }

    /// How many are made ahead.
    pub fn found_ahead(&self) -> usize {
        self.known.iter().filter(|lookup| lookup.found_ahead.is_some()).count()
    }
}

impl FunctionCompiler<'_, '_> {
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
        let is_found = self.finds_ahead && count < FOUND_AHEAD && self.can_find_ahead(table);
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

    /// For one packet: makes the lookups, or fetches what they read first in large tables.
    pub fn look_ahead(&mut self, lookups: &Lookups) {
        for lookup in &lookups.known {
            let mark = self.scratch.mark();
            match lookup.found_ahead {
                Some(at) => {
                    let keys = self.keys_ahead(&lookup.parts);
                    let place = self.find_ahead(lookup.table, &keys);
                    let flags = MemFlagsData::trusted();
                    self.builder.ins().istore32(flags, place, self.received, offset_of_found(at));
                }
                None => {
                    let is_large = self.is_large(lookup.table);
                    let joined = self.when(is_large);
                    let keys = self.keys_ahead(&lookup.parts);
                    self.fetch(lookup.table, &keys);
                    self.go_on(joined);
                }
            }
            self.scratch.release(mark);
        }
        let code = self.number(ENDED);
        self.finish(code);
    }

    fn keys_ahead(&mut self, parts: &[Part]) -> Keys {
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

/// Where a packet of a burst has what a lookup made ahead led to.
fn offset_of_found(at: usize) -> i32 {
    (offset_of!(Received, found) + at * size_of::<u32>()) as i32
}
