// SPDX-License-Identifier: Apache-2.0
//! What is known on one way through a unit: numbers that slots hold, where headers lie in the packet,
//! which fields are still as they were extracted. Ways on which the packet is laid out alike are joined,
//! others go on in copies of the code, as long as that stays small.

use super::crcs::KnownCrcs;
use super::facts::{Facts, MOST_OPERATIONS_OF_COPIES, fields_of};
use super::function::{FunctionCompiler, Home, PacketBits};
use super::sums::KnownSum;
use crate::unit::{Condition, Step, Unit};
use cranelift_codegen::ir::{Block, InstBuilder, TrapCode, Value};
use ir::{HeaderId, Program, SlotId, SlotSet};

/// A way that stops being one: what comes after it is never reached.
const NEVER_REACHED: u8 = 1;

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
    copies: Vec<(SlotId, PacketBits)>,
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
    fn narrow(&mut self, other: &Path) {
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

/// What decides whether ways go on together.
#[derive(Default, PartialEq, Eq, PartialOrd, Ord)]
struct LayoutKey {
    cursor: Option<u32>,
    valid: Vec<Option<u64>>,
    stacks: Vec<Option<u64>>,
    flags: Vec<Option<u64>>,
    applied: Applied,
    leaves: bool,
}

/// How much code there may be, and how much there is.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    /// By step of the unit: instructions from there on.
    rest: Vec<usize>,
    /// Instructions emitted so far.
    pub emitted: usize,
    /// What is going to be emitted for ways that wait.
    reserved: usize,
    /// Slots and numbers that lead out of the unit.
    leaving: Vec<Condition>,
}

impl Copies {
    /// For a unit that is emitted from its start.
    pub fn new(program: &Program, unit: &Unit) -> Copies {
        let size = |step: &Step| match step {
            Step::Block(block) => program
                .regions_of_block(*block)
                .into_iter()
                .flat_map(|region| &program.regions[region.index()].blocks)
                .map(|block| block.instructions.len() + 1)
                .sum(),
            Step::ExitIf(..) => program.slots.len() / 4,
            _ => 1,
        };
        let mut rest = Vec::with_capacity(unit.steps.len() + 1);
        let mut sum: usize = 0;
        rest.push(sum);
        for step in unit.steps.iter().rev() {
            sum += size(step);
            rest.push(sum);
        }
        rest.reverse();
        let leaving = unit.steps.iter().filter_map(|step| match step {
            Step::ExitIf(condition, _) => Some(condition.clone()),
            _ => None,
        });
        Copies { rest, emitted: 0, reserved: 0, leaving: leaving.collect() }
    }

    /// How many ways may go on from a step on without joining.
    pub fn allowed(&self, step: usize) -> usize {
        let left = MOST_OPERATIONS_OF_COPIES.saturating_sub(self.emitted + self.reserved);
        1 + left / self.rest[step].max(1)
    }

    /// Ways from a step on wait until others are emitted.
    pub fn reserve(&mut self, step: usize, ways: usize) {
        self.reserved += ways * self.rest[step];
    }

    /// They are going to be emitted now.
    pub fn release(&mut self, step: usize, ways: usize) {
        self.reserved -= ways * self.rest[step];
    }
}

impl FunctionCompiler<'_, '_> {
    /// Ends the running block with a jump to a new one.
    pub fn way(&mut self) -> Way {
        let block = self.builder.create_block();
        self.builder.ins().jump(block, &[]);
        self.builder.seal_block(block);
        Way { block, path: self.path.clone() }
    }

    /// Goes on there.
    pub fn enter(&mut self, way: Way) {
        self.builder.switch_to_block(way.block);
        self.path = way.path;
        self.is_dead = false;
    }

    /// What follows is not reached, as the running block is filled. Code may still be emitted, for
    /// nobody, up to [`Self::end_dead`].
    pub fn begin_dead(&mut self) {
        let block = self.builder.create_block();
        self.builder.seal_block(block);
        self.builder.switch_to_block(block);
        self.is_dead = true;
    }

    /// Ends code that is not reached.
    pub fn end_dead(&mut self) {
        if let Some(code) = TrapCode::user(NEVER_REACHED) {
            self.builder.ins().trap(code);
        }
    }

    /// The number that a value is known to be.
    pub fn known_number(&mut self, value: Value) -> Option<u64> {
        self.values().known_word(value)
    }

    /// Gives fields and copies a place outside the packet that are as in the packet here, but not wherever
    /// code goes on with `wanted`.
    pub fn settle(&mut self, wanted: &Path) {
        for (slot, _) in self.path.copies.clone() {
            if self.path.copy_of(slot) != wanted.copy_of(slot) {
                let value = self.load_slot(slot);
                self.write_home(slot, value);
            }
        }
        for at in 0..self.facts.field_of.len() {
            let slot = SlotId(at as u32);
            let is_moved = self.facts.field_of[at].is_some()
                && self.path.is_pristine(slot)
                && !wanted.is_pristine(slot);
            if is_moved {
                let value = self.load_slot(slot);
                self.write_home(slot, value);
            }
        }
        self.path = wanted.clone();
    }

    /// What is known wherever some ways lead.
    pub fn common<'w>(ways: impl IntoIterator<Item = &'w Way>) -> Option<Path> {
        let mut ways = ways.into_iter();
        let mut path = ways.next()?.path.clone();
        ways.for_each(|way| path.narrow(&way.path));
        Some(path)
    }

    /// Joins ways.
    pub fn joined(&mut self, mut ways: Vec<Way>) -> Option<Way> {
        if ways.len() < 2 {
            return ways.pop();
        }
        let path = Self::common(&ways)?;
        let block = self.builder.create_block();
        for way in ways {
            self.enter(way);
            self.settle(&path);
            self.builder.ins().jump(block, &[]);
        }
        self.builder.seal_block(block);
        Some(Way { block, path })
    }

    /// Joins ways that are alike, and more of them when there are too many.
    pub fn grouped(&mut self, ways: Vec<Way>) -> Vec<Way> {
        if ways.len() < 2 {
            return ways;
        }
        let allowed = if self.may_split { self.copies.allowed(self.step) } else { 1 };
        let mut groups: Vec<(LayoutKey, Vec<Way>)> = Vec::new();
        for way in ways {
            let key = if allowed > 1 { self.layout_key(&way.path) } else { LayoutKey::default() };
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, ways)) => ways.push(way),
                None => groups.push((key, vec![way])),
            }
        }
        if groups.len() > allowed {
            // Ways that leave cost little; of the others those that read most come first.
            groups.sort_by_key(|(key, _)| {
                (!key.leaves, std::cmp::Reverse(key.cursor.map_or(0, |cursor| cursor + 1)))
            });
            let others: Vec<Way> = groups.drain(allowed - 1..).flat_map(|(_, ways)| ways).collect();
            let mut joined: Vec<Way> =
                groups.into_iter().filter_map(|(_, ways)| self.joined(ways)).collect();
            joined.extend(self.joined(others));
            return joined;
        }
        groups.into_iter().filter_map(|(_, ways)| self.joined(ways)).collect()
    }

    fn layout_key(&self, path: &Path) -> LayoutKey {
        let number = |slot| path.number(self.facts, slot);
        let program = self.program;
        LayoutKey {
            cursor: path.cursor,
            valid: program.headers.iter().map(|header| number(header.valid_slot())).collect(),
            flags: self.facts.flags.iter().map(|slot| number(*slot)).collect(),
            applied: Applied {
                hit: path.applied.hit.filter(|_| self.tells_apart.0),
                action: path.applied.action.filter(|_| self.tells_apart.1),
            },
            stacks: program.stacks.iter().map(|stack| number(stack.next)).collect(),
            leaves: self.copies.leaving.iter().any(|condition| self.surely_leaves(condition, path)),
        }
    }

    fn surely_leaves(&self, condition: &Condition, path: &Path) -> bool {
        let number = |slot: &SlotId| path.number(self.facts, *slot);
        match condition {
            Condition::Always | Condition::Closed(_) => false,
            Condition::RequestsPending => self.facts.asks && path.requests == Some(true),
            Condition::Equals(slot, wanted) => number(slot) == Some(*wanted),
            Condition::Differs(slot, wanted) => number(slot).is_some_and(|it| it != *wanted),
            Condition::AtLeast(slot, least) => number(slot).is_some_and(|it| it >= *least),
        }
    }

    /// Whether a slot's numbers are known by the path: it lives in one variable.
    pub fn is_followed(&self, slot: SlotId) -> bool {
        matches!(&self.homes[slot.index()], Home::Variables(variables) if variables.len() == 1)
    }
}
