// SPDX-License-Identifier: Apache-2.0
//! Facts known along one control-flow path: constant slots, header offsets, fields unchanged since
//! extraction. Which paths are merged is decided in `merging`.

use super::facts::{Facts, fields_of};
use super::hash_inputs::KnownSum;
use super::short_crcs::KnownCrcs;
use super::temporaries::PacketBits;
use cranelift_codegen::ir::{Block, Value};
use cranelift_frontend::Variable;
use ir::{HeaderId, Program, SlotId, SlotSet, Temp};

/// Where a header that stays in the packet lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// It was never extracted: its fields were zero at the start.
    Never,
    /// So many bytes after the packet's first one.
    At(u32),
    /// At the address in the header's variable.
    Somewhere,
}

/// What is known on one way.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// Fields (of headers that stay in the packet) that are as in the packet, or zero when their header
    /// was never extracted.
    pristine: SlotSet,
    /// By slot: the number that it holds.
    numbers: Vec<Option<u64>>,
    /// Slots other than fields that hold bits of the packet as it came. Their places may hold anything.
    pub copies: Vec<(SlotId, PacketBits)>,
    /// By header.
    sources: Vec<Source>,
    /// How far the packet has been read in bytes.
    pub cursor: Option<u32>,
    /// The packet is at least so many bytes long.
    pub least_bytes: u32,
    /// Whether something was asked of the device.
    pub requests: Option<bool>,
    /// Sums that were computed.
    pub sums: Vec<KnownSum>,
    /// CRCs that were computed.
    pub crcs: Vec<KnownCrcs>,
    /// Whether some table was looked up in.
    pub has_looked_up: bool,
    /// Whether the table that is being applied was hit, and the index of the action that ran.
    pub applied: Applied,
}

/// What is known of a table's application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Applied {
    /// 1 or 0.
    pub hit: Option<u64>,
    /// All ones when none ran.
    pub action: Option<u64>,
}

impl Path {
    /// At the start of a unit.
    pub fn at_start(program: &Program, facts: &Facts) -> Path {
        let mut pristine = SlotSet::empty(program);
        for (at, field) in facts.field_of.iter().enumerate() {
            if field.is_some() {
                pristine.insert(SlotId(at as u32));
            }
        }
        Path {
            pristine,
            numbers: vec![None; program.slots.len()],
            copies: Vec::new(),
            sources: vec![Source::Never; program.headers.len()],
            cursor: (facts.is_fresh && facts.whole_bytes).then_some(0),
            least_bytes: 0,
            requests: Some(false),
            sums: Vec::new(),
            crcs: Vec::new(),
            has_looked_up: false,
            applied: Applied::default(),
        }
    }

    /// Whether a field is as in the packet.
    pub fn is_pristine(&self, slot: SlotId) -> bool {
        self.pristine.contains(slot)
    }

    /// Where a header lies.
    pub fn source(&self, header: HeaderId) -> Source {
        self.sources[header.index()]
    }

    /// The number that a slot holds, if that is known.
    pub fn number(&self, facts: &Facts, slot: SlotId) -> Option<u64> {
        match facts.field_of[slot.index()] {
            Some((header, _)) if self.is_pristine(slot) => {
                (self.source(header) == Source::Never).then_some(0)
            }
            _ => self.numbers[slot.index()],
        }
    }

    /// A slot was written; the number is known or not.
    pub fn written(&mut self, slot: SlotId, number: Option<u64>) {
        self.pristine.remove(slot);
        self.numbers[slot.index()] = number;
        self.copies.retain(|(copy, _)| *copy != slot);
    }

    /// A slot that is no field holds bits of the packet from now on, and is read there.
    pub fn copied_from_packet(&mut self, slot: SlotId, bits: PacketBits) {
        self.written(slot, None);
        self.copies.push((slot, bits));
    }

    /// The bits of the packet that a slot holds which is no field.
    pub fn copy_of(&self, slot: SlotId) -> Option<PacketBits> {
        self.copies.iter().find(|(copy, _)| *copy == slot).map(|(_, bits)| *bits)
    }

    /// A header was extracted from there.
    pub fn extracted(&mut self, program: &Program, header: HeaderId, source: Source) {
        self.sources[header.index()] = source;
        for (slot, _, _) in fields_of(program, header) {
            self.pristine.insert(slot);
            self.numbers[slot.index()] = None;
        }
    }

    /// The fields of a header become those of another one of the same type, that stays as it is.
    pub fn copied(&mut self, program: &Program, from: HeaderId, to: HeaderId) {
        self.sources[to.index()] = self.sources[from.index()];
        let (from, to) = (&program.headers[from.index()], &program.headers[to.index()]);
        let count = program.header_types[from.ty.index()].fields.len() as u32;
        for offset in 0..=count {
            let (from, to) = (SlotId(from.first_slot.0 + offset), SlotId(to.first_slot.0 + offset));
            self.numbers[to.index()] = self.numbers[from.index()];
            let copy = self.copy_of(from);
            self.copies.retain(|(copy, _)| *copy != to);
            self.copies.extend(copy.map(|bits| (to, bits)));
            match self.pristine.contains(from) {
                true => self.pristine.insert(to),
                false => self.pristine.remove(to),
            }
        }
    }

    /// The packet's address is known as another value from now on.
    pub fn packet_moved(&mut self, before: Value, after: Value) {
        self.copies.iter_mut().for_each(|(_, bits)| bits.packet_moved(before, after));
        self.sums.iter_mut().for_each(|sum| sum.packet_moved(before, after));
        self.crcs.iter_mut().for_each(|crcs| crcs.packet_moved(before, after));
    }

    /// Keeps what holds on another way too.
    pub fn narrow(&mut self, other: &Path) {
        self.pristine.intersect(&other.pristine);
        for (number, other) in self.numbers.iter_mut().zip(&other.numbers) {
            if *number != *other {
                *number = None;
            }
        }
        for (source, other) in self.sources.iter_mut().zip(&other.sources) {
            if *source != *other {
                *source = Source::Somewhere;
            }
        }
        if self.cursor != other.cursor {
            self.cursor = None;
        }
        self.least_bytes = self.least_bytes.min(other.least_bytes);
        if self.requests != other.requests {
            self.requests = None;
        }
        self.has_looked_up |= other.has_looked_up;
        if self.applied.hit != other.applied.hit {
            self.applied.hit = None;
        }
        if self.applied.action != other.applied.action {
            self.applied.action = None;
        }
        self.copies.retain(|copy| other.copies.contains(copy));
        self.sums.retain(|sum| other.sums.contains(sum));
        self.crcs.retain(|crcs| other.crcs.contains(crcs));
    }

    /// Forgets whatever these slots hold, what was extracted to these headers, the cursor and requests.
    pub fn forget(&mut self, program: &Program, written: &SlotSet, extracted: &[HeaderId]) {
        self.pristine.subtract(written);
        for (at, number) in self.numbers.iter_mut().enumerate() {
            if written.contains(SlotId(at as u32)) {
                *number = None;
            }
        }
        for header in extracted {
            // Fields stay as in the packet, wherever that is.
            self.sources[header.index()] = Source::Somewhere;
            self.numbers[program.headers[header.index()].valid_slot().index()] = None;
            fields_of(program, *header).for_each(|(slot, ..)| self.numbers[slot.index()] = None);
        }
        self.copies.retain(|(copy, _)| !written.contains(*copy));
        self.cursor = None;
        self.requests = None;
        self.sums.clear();
        self.crcs.clear();
    }
}

/// Code that is reached by one jump or more from elsewhere, and holds nothing yet.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    /// Where it begins; all jumps there are made.
    pub block: Block,
    /// What is known there.
    pub path: Path,
}

/// Where the results of an application go: temporaries, and until it is clear which of them are known,
/// variables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Results {
    pub hit: Temp,
    pub action: Temp,
    pub is_used: (bool, bool),
    pub hit_variable: Variable,
    pub action_variable: Variable,
}

/// A way that goes on behind the application of a table.
#[derive(Debug)]
pub(crate) struct Split {
    /// The way.
    pub way: Way,
    /// What is defined there.
    pub results: Results,
}
