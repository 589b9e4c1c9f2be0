// SPDX-License-Identifier: Apache-2.0
//! What the agent has read: packed fields by their sequence numbers, registers by the write counts of their cells
//! (Mantis §5.2). A copy that no packet has written since it was read last has nothing new.

use super::Mistake;
use crate::compiler::{MeasuredPack, MeasuredRegister, Plan};
use crate::handles::register;
use crate::interface::{ArgumentKind, Interface};
use control::target::{Batch, Fault, Item, Outcome, Reply};
use ir::{Bits, Program, RegisterId};
use state::{CellRange, CellValues, Read, Reply as StateReply};
use std::sync::Arc;

#[derive(Clone, Debug)]
struct Pack {
    plan: MeasuredPack,
    words: Vec<RegisterId>,
    sequence: RegisterId,
    /// The sequence number of each copy when it was read last.
    seen: [u64; 2],
    cached: Vec<u64>,
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
                plan: measured.clone(),
            });
        }
        Ok(Measurements { packs, registers, interface, mistake: Mistake::None, reads: 0 })
    }

    pub(super) fn set_mistake(&mut self, mistake: Mistake) {
        self.mistake = mistake;
    }

    /// Whether there is anything to measure.
    pub(super) fn is_needed(&self) -> bool {
        !self.packs.is_empty() || !self.registers.is_empty()
    }

    /// Reads of the registers themselves, for the values before the first packet.
    pub(super) fn originals(&self) -> Batch {
        Batch::of(self.registers.iter().map(|one| Read::Register {
            register: one.original,
            cells: CellRange::range(one.first, one.count),
        }))
    }

    pub(super) fn take_originals(&mut self, outcome: &Outcome) {
        for (register, result) in self.registers.iter_mut().zip(&outcome.results) {
            if let Ok(Reply::State(StateReply::Registers(values))) = result {
                register.cached.clone_from(values);
            }
        }
    }

    /// Reads of a copy, in the order of [`Measurements::take_reads`].
    pub(super) fn reads(&self, copy: u64) -> Vec<Item> {
        let mut items: Vec<Item> = Vec::new();
        for pack in &self.packs {
            for register in pack.words.iter().chain([&pack.sequence]) {
                items.push(
                    Read::Register { register: *register, cells: CellRange::one(copy) }.into(),
                );
            }
        }
        for register in &self.registers {
            let first = copy * register.plan.copy_cells + register.first;
            let cells = CellRange::range(first, register.count);
            for register in [register.copies].into_iter().chain(register.times) {
                items.push(Read::Register { register, cells }.into());
            }
        }
        items
    }

    /// Takes the replies to the reads of a copy.
    pub(super) fn take_reads<'r>(
        &mut self,
        copy: u64,
        replies: &mut impl Iterator<Item = &'r Result<Reply, Fault>>,
    ) {
        let mut values = || match replies.next() {
            Some(Ok(Reply::State(StateReply::Registers(values)))) => values.as_slice(),
            _ => &[],
        };
        let copy = copy as usize;
        self.reads += 1;
        for pack in &mut self.packs {
            let words: Vec<u64> =
                pack.words.iter().map(|_| values().first().map_or(0, Bits::low_u64)).collect();
            let sequence = values().first().map_or(0, Bits::low_u64);
            if sequence != pack.seen[copy] || self.mistake == Mistake::NoSequence {
                pack.seen[copy] = sequence;
                pack.cached = words;
            }
        }
        for register in &mut self.registers {
            let split: (Vec<Bits>, Vec<Bits>);
            let (cells, times) = match register.times {
                Some(_) => (values(), values()),
                None => {
                    split = values().iter().map(|pair| register.split(pair)).unzip();
                    (split.0.as_slice(), split.1.as_slice())
                }
            };
            if self.mistake == Mistake::SkippedArrays && self.reads.is_multiple_of(2) {
                continue;
            }
            for (at, (cell, time)) in cells.iter().zip(times).enumerate() {
                let time = time.low_u64();
                if time != register.seen[copy][at] || self.mistake == Mistake::NoTimestamps {
                    register.seen[copy][at] = time;
                    register.cached[at] = cell.clone();
                }
            }
        }
    }

    /// Records that a controller wrote cells of a measured register.
    pub(super) fn overwrite(
        &mut self,
        register: usize,
        cells: CellRange,
        values: &CellValues<Bits>,
    ) {
        let Some(register) = self.registers.get_mut(register) else { return };
        let count = cells.count.unwrap_or(register.plan.size.saturating_sub(cells.first));
        for place in 0..count {
            let value = match values {
                CellValues::Each(list) => list.get(place as usize).cloned(),
                CellValues::Same(value) => Some(value.clone()),
            };
            let index = cells.first + place;
            if let (Some(value), Some(at)) = (value, index.checked_sub(register.first))
                && let Some(cached) = register.cached.get_mut(at as usize)
            {
                *cached = value;
            }
        }
    }

    /// The input of a reaction.
    pub(super) fn input(&self, reaction: usize) -> Vec<u64> {
        let interface = &self.interface.reactions[reaction];
        let mut input = vec![0u64; interface.input_words()];
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
        input
    }
}
