// SPDX-License-Identifier: Apache-2.0
//! What a unit looks up by bits of the packet as it came, noted while the unit is compiled, and code that
//! fetches ahead for such lookups without running through the unit. Whether a packet comes to a lookup at
//! all does not matter: fetching for nothing does no harm.

use super::function::{FunctionCompiler, Known};
use super::tables::Keys;
use super::values::Val;
use crate::runtime::pass::{ENDED, TAILROOM_BYTES};
use ir::{MatchKind, Operand, TableId, ValueType};

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
}

impl FunctionCompiler<'_, '_> {
    /// Notes a lookup on the running way.
    pub fn note_lookup(&mut self, table: TableId, keys: &[Operand]) {
        let declared = &self.program.tables[table.index()].keys;
        let parts: Option<Vec<Part>> = declared
            .iter()
            .zip(keys)
            .filter(|(key, _)| key.match_kind != MatchKind::Selector)
            .map(|(_, operand)| self.part(operand))
            .collect();
        match parts {
            Some(parts) => {
                let lookup = Lookup { table, parts };
                if !self.lookups.known.contains(&lookup) {
                    self.lookups.known.push(lookup);
                }
            }
            // What an earlier lookup says cannot be known ahead anyway.
            None if self.path.has_looked_up => {}
            None => self.lookups.unknown.push(table),
        }
        self.path.has_looked_up = true;
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

    /// For one packet: fetches what lookups in large tables read first.
    pub fn fetch_ahead(&mut self, lookups: &Lookups) {
        for Lookup { table, parts } in &lookups.known {
            let is_large = self.is_large(*table);
            let joined = self.when(is_large);
            let mut keys = Keys { matched: Vec::new(), selector: Vec::new() };
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
            let mark = self.scratch.mark();
            self.fetch(*table, &keys);
            self.scratch.release(mark);
            self.go_on(joined);
        }
        let code = self.number(ENDED);
        self.finish(code);
    }
}
