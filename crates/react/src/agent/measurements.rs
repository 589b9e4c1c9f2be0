// SPDX-License-Identifier: Apache-2.0
//! [`Measurements`]: reads the copies that packets wrote, and keeps the last values (Mantis §5.2). Packed fields have a
//! sequence number and register cells a count of writes; where these are as at the last read of the same copy, no packet has
//! written since, and the kept value stays. The agent flips and reads a group at a time: what exactly the same reactions take.

use super::Mistake;
use crate::compiler::{MeasuredPack, MeasuredRegister, Plan};
use crate::handles::register;
use crate::interface::{ArgumentKind, Interface};
use control::target::{Batch, Fault, Item, Outcome, Reply};
use ir::{Bits, Program, RegisterId};
use state::{CellRange, Read, Reply as StateReply};
use std::sync::Arc;

#[derive(Clone, Debug)]
struct Pack {
    plan: MeasuredPack,
    words: Vec<RegisterId>,
    sequence: RegisterId,
    /// The sequence number of each copy when it was read last.
    seen: [u64; 2],
    cached: Vec<u64>,
    /// The words that were read last.
    read: Vec<u64>,
}

#[derive(Clone, Debug)]
struct Register {
    plan: MeasuredRegister,
    original: RegisterId,
    copies: RegisterId,
    /// `None`: the number of writes is in the lower half of the cells of the copies.
    times: Option<RegisterId>,
    width_bits: u32,
    /// The cells that reactions read.
    first: u64,
    count: u64,
    /// The write counts of both copies when they were read last.
    seen: [Vec<u64>; 2],
    cached: Vec<Bits>,
    /// Cells that a legacy controller wrote while packets wrote the copy that they write now.
    pending: Vec<bool>,
    /// Cells that it wrote before that copy began.
    legacy: Vec<bool>,
    /// Values of such cells, read while packets wrote the copy that is read next.
    originals: Vec<Option<Bits>>,
}

impl Register {
    /// The value and the number of writes in a cell of the copies.
    fn split(&self, pair: &Bits) -> (Bits, Bits) {
        let word = pair.low_u64();
        (
            Bits::from_u64(self.width_bits, word >> 32),
            Bits::from_u64(32, word & u64::from(u32::MAX)),
        )
    }
}

/// All measurements.
#[derive(Clone, Debug)]
pub(super) struct Measurements {
    packs: Vec<Pack>,
    registers: Vec<Register>,
    /// The reactions that take each group.
    groups: Vec<Vec<usize>>,
    interface: Arc<Interface>,
    mistake: Mistake,
    reads: u64,
}

impl Measurements {
    pub(super) fn new(
        plan: &Plan,
        interface: Arc<Interface>,
        written: &Program,
    ) -> Result<Measurements, String> {
        let mut packs = Vec::new();
        for pack in &plan.packs {
            let words = pack.words.iter().map(|word| register(written, word));
            packs.push(Pack {
                words: words.collect::<Result<_, _>>()?,
                sequence: register(written, &pack.sequence)?,
                seen: [0, 0],
                cached: vec![0; pack.words.len()],
                read: Vec::new(),
                plan: pack.clone(),
            });
        }
        let mut registers = Vec::new();
        for measured in &plan.registers {
            let original = register(written, &measured.register)?;
            let width_bits = written.registers[original.index()].width_bits;
            let arguments = interface.reactions.iter().flat_map(|reaction| &reaction.arguments);
            let ranges = arguments.filter_map(|argument| match &argument.kind {
                ArgumentKind::Register { register, first, last, .. }
                    if *register == measured.name =>
                {
                    Some((*first, *last))
                }
                _ => None,
            });
            let (first, last) = ranges
                .fold((u64::MAX, 0), |(low, high), (first, last)| (low.min(first), high.max(last)));
            let count = (last + 1).saturating_sub(first);
            registers.push(Register {
                original,
                copies: register(written, &measured.copies)?,
                times: match &measured.times {
                    Some(times) => Some(register(written, times)?),
                    None => None,
                },
                width_bits,
                first,
                count,
                seen: [vec![0; count as usize], vec![0; count as usize]],
                cached: vec![Bits::zero(width_bits); count as usize],
                pending: vec![false; count as usize],
                legacy: vec![false; count as usize],
                originals: vec![None; count as usize],
                plan: measured.clone(),
            });
        }
        let (groups, mistake) = (plan.groups.clone(), Mistake::None);
        Ok(Measurements { packs, registers, groups, interface, mistake, reads: 0 })
    }

    pub(super) fn set_mistake(&mut self, mistake: Mistake) {
        self.mistake = mistake;
    }

    /// Whether these reactions take something.
    pub(super) fn are_taken(&self, reactions: &[usize]) -> bool {
        (0..self.groups.len()).any(|group| self.is_taken(group, reactions))
    }

    /// Whether one of these reactions takes something of a group.
    pub(super) fn is_taken(&self, group: usize, reactions: &[usize]) -> bool {
        self.groups[group].iter().any(|reaction| reactions.contains(reaction))
    }

    /// The copy of a group that is read while packets write its working copy.
    fn copy_to_read(&self, group: usize, working_copies: &[u64]) -> u64 {
        match self.mistake {
            Mistake::NoFlip => working_copies[group],
            _ => working_copies[group] ^ 1,
        }
    }

    /// Reads of the registers themselves, for the values before the first packet.
    pub(super) fn originals(&self) -> Batch {
        Batch::of(self.registers.iter().map(|one| Read::Register {
            register: one.original,
            cells: CellRange::range(one.first, one.count),
        }))
    }

    pub(super) fn take_originals(&mut self, outcome: &Outcome) {
        if self.mistake == Mistake::NoOriginals {
            return;
        }
        for (register, result) in self.registers.iter_mut().zip(&outcome.results) {
            if let Ok(Reply::State(StateReply::Registers(values))) = result {
                register.cached.clone_from(values);
            }
        }
    }

    /// Adds reads of what these reactions take, each of the copy of its group, in the order of
    /// [`Measurements::take_reads`].
    pub(super) fn reads(&self, working_copies: &[u64], reactions: &[usize], items: &mut Vec<Item>) {
        for pack in self.packs.iter().filter(|pack| self.is_taken(pack.plan.group, reactions)) {
            let cells = CellRange::one(self.copy_to_read(pack.plan.group, working_copies));
            let registers = pack.words.iter().chain([&pack.sequence]);
            items.extend(registers.map(|own| Read::Register { register: *own, cells }.into()));
        }
        for register in &self.registers {
            if !self.is_taken(register.plan.group, reactions) {
                continue;
            }
            let copy = self.copy_to_read(register.plan.group, working_copies);
            let first = copy * register.plan.copy_cells + register.first;
            let cells = CellRange::range(first, register.count);
            for register in [register.copies].into_iter().chain(register.times) {
                items.push(Read::Register { register, cells }.into());
            }
            if register.legacy.contains(&true) {
                let cells = CellRange::range(register.first, register.count);
                items.push(Read::Register { register: register.original, cells }.into());
            }
        }
    }

    /// Takes the replies to the reads of what these reactions take.
    pub(super) fn take_reads<'r>(
        &mut self,
        working_copies: &[u64],
        reactions: &[usize],
        replies: impl Iterator<Item = &'r Result<Reply, Fault>>,
    ) {
        let mut replies = replies.map(|reply| match reply {
            Ok(Reply::State(StateReply::Registers(values))) => values.as_slice(),
            _ => &[],
        });
        let mut values = || replies.next().unwrap_or_default();
        let mut word = || values().first().map_or(0, Bits::low_u64);
        self.reads += 1;
        for at in 0..self.packs.len() {
            let group = self.packs[at].plan.group;
            if !self.is_taken(group, reactions) {
                continue;
            }
            let copy = self.copy_to_read(group, working_copies) as usize;
            let pack = &mut self.packs[at];
            pack.read.clear();
            pack.read.extend(pack.words.iter().map(|_| word()));
            let sequence = word();
            if sequence != pack.seen[copy] || self.mistake == Mistake::NoSequence {
                pack.seen[copy] = sequence;
                std::mem::swap(&mut pack.cached, &mut pack.read);
            }
        }
        for at in 0..self.registers.len() {
            let group = self.registers[at].plan.group;
            if !self.is_taken(group, reactions) {
                continue;
            }
            let copy = self.copy_to_read(group, working_copies) as usize;
            let register = &mut self.registers[at];
            let split: (Vec<Bits>, Vec<Bits>);
            let (cells, times) = match register.times {
                Some(_) => (values(), values()),
                None => {
                    split = values().iter().map(|pair| register.split(pair)).unzip();
                    (split.0.as_slice(), split.1.as_slice())
                }
            };
            let is_written = register.legacy.contains(&true);
            let originals = if is_written { values() } else { &[] };
            if self.mistake == Mistake::SkippedArrays && self.reads.is_multiple_of(2) {
                continue;
            }
            if self.mistake == Mistake::LostCache && self.reads.is_multiple_of(7) {
                register.cached.iter_mut().for_each(|cell| *cell = Bits::zero(cell.width_bits()));
            }
            for (at, (cell, time)) in cells.iter().zip(times).enumerate() {
                let time = match self.mistake {
                    Mistake::ShortTimestamps => time.low_u64() & 3,
                    _ => time.low_u64(),
                };
                if time != register.seen[copy][at] || self.mistake == Mistake::NoTimestamps {
                    register.seen[copy][at] = time;
                    if self.mistake == Mistake::SharedTimestamps {
                        register.seen[copy ^ 1][at] = time;
                    }
                    register.cached[at] = cell.clone();
                } else if let Some(original) = register.originals[at].take() {
                    // No packet wrote the cell since the legacy controller did and the original was read.
                    register.cached[at] = original;
                }
            }
            let own = register.originals.iter_mut().zip(&mut register.legacy);
            for (at, (original, is_written)) in own.enumerate() {
                *original = originals.get(at).filter(|_| *is_written).cloned();
                *is_written = false;
            }
        }
    }

    /// Records that a legacy controller writes cells of a measured register before the next flip of its group. The copies lack
    /// the writes, so the original is read after that flip; its value counts if no packet writes the cell until the flip
    /// behind it.
    pub(super) fn note_legacy(&mut self, register: usize, cells: CellRange) {
        let Some(register) = self.registers.get_mut(register) else { return };
        let end = cells.count.map_or(u64::MAX, |count| cells.first.saturating_add(count));
        for (index, is_written) in (register.first..).zip(&mut register.pending) {
            *is_written |= (cells.first..end).contains(&index);
        }
    }

    /// Begins the other copies of what these reactions take: the legacy writes so far precede them.
    pub(super) fn begin_copies(&mut self, reactions: &[usize]) {
        let Measurements { registers, groups, .. } = self;
        let is_taken = |one: &&mut Register| {
            groups[one.plan.group].iter().any(|reaction| reactions.contains(reaction))
        };
        for register in registers.iter_mut().filter(is_taken) {
            for (is_legacy, is_pending) in register.legacy.iter_mut().zip(&mut register.pending) {
                *is_legacy |= std::mem::take(is_pending);
            }
        }
    }

    /// Fills the input of a reaction.
    pub(super) fn input(&self, reaction: usize, input: &mut Vec<u64>) {
        let interface = &self.interface.reactions[reaction];
        input.resize(interface.input_words(), 0);
        for pack in self.packs.iter().filter(|pack| pack.plan.reaction == reaction) {
            for value in &pack.plan.values {
                let mut low = 0;
                for piece in &value.pieces {
                    let word = pack.cached[piece.word] >> piece.low;
                    let bits = word & (u64::MAX >> (64 - piece.width));
                    input[value.input + (low / 64) as usize] |= bits << (low % 64);
                    low += piece.width;
                }
            }
        }
        let mut at = 0;
        for argument in &interface.arguments {
            if let ArgumentKind::Register { register, ty, first, last } = &argument.kind
                && let Some(own) = self.registers.iter().find(|one| one.plan.name == *register)
            {
                for (place, index) in (*first..=*last).enumerate() {
                    let words = ty.words();
                    let slot = at + place * words;
                    own.cached[(index - own.first) as usize]
                        .write_words(&mut input[slot..slot + words]);
                }
            }
            at += argument.kind.words();
        }
    }
}
