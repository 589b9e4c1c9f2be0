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

/// Offset of a header that stays in the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeaderOffset {
    /// It was not extracted; its fields are zero.
    NotExtracted,
    /// Bytes from the packet's first one.
    Constant(u32),
    /// Known at run time only: the header's variable has its address.
    Variable,
}

/// Facts along one path.
#[derive(Clone, Debug)]
pub(crate) struct PathFacts {
    /// Fields of headers that stay in the packet which are unchanged since extraction, or zero when their
    /// header was not extracted.
    pristine: SlotSet,
    /// By slot: its value, if that is constant.
    numbers: Vec<Option<u64>>,
    /// Slots other than fields that are copies of bits of the received packet. Their variables or storage are
    /// not written.
    pub copies: Vec<(SlotId, PacketBits)>,
    /// By header.
    header_offsets: Vec<HeaderOffset>,
    /// The parser's cursor in bytes.
    pub cursor: Option<u32>,
    /// Length in bytes that the packet has at least.
    pub min_length_bytes: u32,
    /// Whether the packet has pending requests.
    pub requests: Option<bool>,
    /// Checksums computed so far.
    pub sums: Vec<KnownSum>,
    /// CRCs computed so far.
    pub crcs: Vec<KnownCrcs>,
    /// Whether some lookup was made.
    pub has_looked_up: bool,
    /// Facts of the table application under construction.
    pub applied: ApplyFacts,
}

/// Facts of a table's application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ApplyFacts {
    /// 1 for a hit, 0 for a miss.
    pub hit: Option<u64>,
    /// Index of the action that ran; all ones when no action ran.
    pub action: Option<u64>,
}

impl PathFacts {
    /// Facts at the start of a unit.
    pub fn at_start(program: &Program, facts: &Facts) -> PathFacts {
        let mut pristine = SlotSet::empty(program);
        for (at, field) in facts.field_of.iter().enumerate() {
            if field.is_some() {
                pristine.insert(SlotId(at as u32));
            }
        }
        PathFacts {
            pristine,
            numbers: vec![None; program.slots.len()],
            copies: Vec::new(),
            header_offsets: vec![HeaderOffset::NotExtracted; program.headers.len()],
            cursor: (facts.is_fresh && facts.whole_bytes).then_some(0),
            min_length_bytes: 0,
            requests: Some(false),
            sums: Vec::new(),
            crcs: Vec::new(),
            has_looked_up: false,
            applied: ApplyFacts::default(),
        }
    }

    /// Whether a field is unchanged since extraction.
    pub fn is_pristine(&self, slot: SlotId) -> bool {
        self.pristine.contains(slot)
    }

    /// Offset of a header.
    pub fn header_offset(&self, header: HeaderId) -> HeaderOffset {
        self.header_offsets[header.index()]
    }

    /// The value of a slot, if that is constant.
    pub fn number(&self, facts: &Facts, slot: SlotId) -> Option<u64> {
        match facts.field_of[slot.index()] {
            Some((header, _)) if self.is_pristine(slot) => {
                (self.header_offset(header) == HeaderOffset::NotExtracted).then_some(0)
            }
            _ => self.numbers[slot.index()],
        }
    }

    /// Records a write of a slot, with its value if that is constant.
    pub fn written(&mut self, slot: SlotId, number: Option<u64>) {
        self.pristine.remove(slot);
        self.numbers[slot.index()] = number;
        self.copies.retain(|(copy, _)| *copy != slot);
    }

    /// Records that a slot which is not a field became a copy of bits of the packet. Reads of the slot read the
    /// packet.
    pub fn copied_from_packet(&mut self, slot: SlotId, bits: PacketBits) {
        self.written(slot, None);
        self.copies.push((slot, bits));
    }

    /// The bits of the packet that a slot which is not a field is a copy of.
    pub fn copy_of(&self, slot: SlotId) -> Option<PacketBits> {
        self.copies.iter().find(|(copy, _)| *copy == slot).map(|(_, bits)| *bits)
    }

    /// Records that a header was extracted at an offset.
    pub fn extracted(&mut self, program: &Program, header: HeaderId, source: HeaderOffset) {
        self.header_offsets[header.index()] = source;
        for (slot, _, _) in fields_of(program, header) {
            self.pristine.insert(slot);
            self.numbers[slot.index()] = None;
        }
    }

    /// Records that the fields of header `from` were copied to header `to`, of the same type.
    pub fn copied(&mut self, program: &Program, from: HeaderId, to: HeaderId) {
        self.header_offsets[to.index()] = self.header_offsets[from.index()];
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

    /// Replaces the value that is the packet's address.
    pub fn packet_moved(&mut self, before: Value, after: Value) {
        self.copies.iter_mut().for_each(|(_, bits)| bits.packet_moved(before, after));
        self.sums.iter_mut().for_each(|sum| sum.packet_moved(before, after));
        self.crcs.iter_mut().for_each(|crcs| crcs.packet_moved(before, after));
    }

    /// Keeps the facts that hold on another path too.
    pub fn intersect(&mut self, other: &PathFacts) {
        self.pristine.intersect(&other.pristine);
        for (number, other) in self.numbers.iter_mut().zip(&other.numbers) {
            if *number != *other {
                *number = None;
            }
        }
        for (source, other) in self.header_offsets.iter_mut().zip(&other.header_offsets) {
            if *source != *other {
                *source = HeaderOffset::Variable;
            }
        }
        if self.cursor != other.cursor {
            self.cursor = None;
        }
        self.min_length_bytes = self.min_length_bytes.min(other.min_length_bytes);
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

    /// Forgets facts of these slots, offsets of these headers, the cursor and requests.
    pub fn forget(&mut self, program: &Program, written: &SlotSet, extracted: &[HeaderId]) {
        self.pristine.subtract(written);
        for (at, number) in self.numbers.iter_mut().enumerate() {
            if written.contains(SlotId(at as u32)) {
                *number = None;
            }
        }
        for header in extracted {
            // Fields stay unchanged since extraction, at an unknown offset.
            self.header_offsets[header.index()] = HeaderOffset::Variable;
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

/// A control-flow path that continues at an empty block.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// The block; all jumps to it exist.
    pub block: Block,
    /// Facts there.
    pub facts: PathFacts,
}

/// Which results of an application later code uses. Paths with different used results are not merged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UsedResults {
    /// Whether the table was hit.
    pub hit: bool,
    /// Which action ran.
    pub action: bool,
}

/// Where the results of an application go: temporaries, and until the arms end, variables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ApplyResults {
    pub hit: Temp,
    pub action: Temp,
    pub used: UsedResults,
    pub hit_variable: Variable,
    pub action_variable: Variable,
}

/// A path that continues after the application of a table.
#[derive(Debug)]
pub(crate) struct SplitPath {
    /// The path.
    pub path: Path,
    /// The results to define there.
    pub results: ApplyResults,
}
