// SPDX-License-Identifier: Apache-2.0
//! Inputs of a run in order of time: single inputs of the specification, generators that make their events on
//! demand, and events injected during the run. `resolve` has looked up the names; the simulation executes the
//! inputs.

use super::commands::ResolvedCommand;
use super::random::{Purpose, up_to_wide};
use crate::interpreter::{Arguments, Slot, Value};
use crate::specification::Gap;
use arithmetic::random::stream::Stream;
use lucid::core::EventId;
use lucid::core::arithmetic::mask;
use network::event_loop::{Phase, rank};
use network::links::End;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// An input of a specification, ready to happen.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// When, or from when on, in picoseconds.
    pub time_ps: u64,
    /// What.
    pub kind: SourceKind,
}

/// Kinds of sources.
#[derive(Clone, Debug, PartialEq)]
pub enum SourceKind {
    /// A single input.
    Single(Input),
    /// A generator of events.
    Generator(Generator),
}

/// Something that happens once.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// An event comes in.
    Event {
        /// Where.
        at: End,
        /// Which event.
        event: EventId,
        /// With these arguments.
        arguments: Arguments,
    },
    /// A packet comes in.
    Packet {
        /// Where.
        at: End,
        /// Its bytes.
        bytes: Arc<[u8]>,
    },
    /// The control plane commands something.
    Command {
        /// At which switch.
        switch: u32,
        /// What.
        command: Arc<ResolvedCommand>,
    },
    /// A link fails or comes back.
    Link {
        /// Its ends.
        ends: [End; 2],
        /// Whether it is up from now on.
        up: bool,
    },
}

impl Input {
    fn rank(&self) -> u64 {
        match self {
            Input::Event { at, .. } | Input::Packet { at, .. } => rank(Phase::Ingress, at.0, at.1),
            Input::Command { switch, .. } => rank(Phase::Control, *switch, 0),
            Input::Link { ends, .. } => rank(Phase::Control, ends[0].0, ends[0].1),
        }
    }
}

/// Events at a rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Generator {
    /// In order of switch and port; each event comes in at all of them.
    pub(crate) locations: Vec<End>,
    pub(crate) event: EventId,
    pub(crate) slots: Vec<Slot>,
    pub(crate) draws: Vec<ResolvedDraw>,
    pub(crate) count: u64,
    pub(crate) gap: Gap,
}

/// Where an argument's value comes from; all values fit its type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ResolvedDraw {
    Constant(Value),
    Uniform(u128, u128),
    Zipf {
        items: u64,
        exponent: f64,
        offset: u128,
    },
    /// Wraps at the width.
    Sequence {
        start: u128,
        step: u128,
        width_bits: u32,
    },
}

/// A generator at work.
#[derive(Clone, Debug)]
struct Running {
    number: usize,
    randomness: Stream,
    /// Events made so far, and of the present one the places where it came in.
    made: u64,
    places: usize,
    present: Arguments,
}

/// The next input that is not in the sorted list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    Generator(usize),
    Injected(usize),
}

/// All inputs of a run in order.
#[derive(Clone, Debug)]
pub struct Inputs {
    sources: Arc<Vec<Source>>,
    /// Single inputs by time, rank and number; `position` of them are over.
    order: Vec<(u64, u64, u32)>,
    position: usize,
    running: Vec<Running>,
    injected: Vec<Option<Input>>,
    /// By time, rank and number.
    later: BinaryHeap<Reverse<(u64, u64, usize, Next)>>,
}

impl Inputs {
    /// From the beginning; the seed is the run's.
    pub fn new(sources: Arc<Vec<Source>>, seed: u64) -> Inputs {
        let mut inputs = Inputs {
            order: Vec::new(),
            position: 0,
            running: Vec::new(),
            injected: Vec::new(),
            later: BinaryHeap::new(),
            sources,
        };
        let sources = inputs.sources.clone();
        for (number, source) in sources.iter().enumerate() {
            match &source.kind {
                SourceKind::Single(input) => {
                    inputs.order.push((source.time_ps, input.rank(), number as u32));
                }
                SourceKind::Generator(generator) => {
                    if generator.count > 0 && !generator.locations.is_empty() {
                        let randomness = Purpose::Generator.stream(seed, number as u64);
                        let present = Arguments::default();
                        let running = Running { number, randomness, made: 0, places: 0, present };
                        inputs.running.push(running);
                        inputs.draw(inputs.running.len() - 1, generator);
                        inputs.schedule(inputs.running.len() - 1, generator, source.time_ps);
                    }
                }
            }
        }
        inputs.order.sort_unstable();
        inputs
    }

    /// Draws the values of a generator's next event.
    fn draw(&mut self, at: usize, generator: &Generator) {
        let running = &mut self.running[at];
        let made = u128::from(running.made);
        let randomness = &mut running.randomness;
        let values: Vec<Value> = generator
            .draws
            .iter()
            .map(|draw| match draw {
                ResolvedDraw::Constant(value) => value.clone(),
                ResolvedDraw::Uniform(low, high) => {
                    Value::Int(low + up_to_wide(randomness, high - low))
                }
                ResolvedDraw::Zipf { items, exponent, offset } => {
                    Value::Int(offset + u128::from(randomness.zipf(*items, *exponent)))
                }
                ResolvedDraw::Sequence { start, step, width_bits } => {
                    let value = start.wrapping_add(step.wrapping_mul(made));
                    Value::Int(value & mask(*width_bits))
                }
            })
            .collect();
        running.present.set(&values, &generator.slots);
    }

    fn schedule(&mut self, at: usize, generator: &Generator, time_ps: u64) {
        let running = &self.running[at];
        let (switch, port) = generator.locations[running.places];
        let rank = rank(Phase::Ingress, switch, port);
        self.later.push(Reverse((time_ps, rank, running.number, Next::Generator(at))));
    }

    /// Adds an input during the run. It comes after inputs of the specification of the same time and place.
    pub fn inject(&mut self, time_ps: u64, input: Input) {
        let number = self.sources.len() + self.injected.len();
        let next = Next::Injected(self.injected.len());
        self.later.push(Reverse((time_ps, input.rank(), number, next)));
        self.injected.push(Some(input));
    }

    /// Time and rank of the next input.
    #[inline]
    pub fn peek(&self) -> Option<(u64, u64)> {
        let single = self.order.get(self.position).map(|next| (next.0, next.1));
        let later = self.later.peek().map(|Reverse(next)| (next.0, next.1));
        match (single, later) {
            (Some(single), Some(later)) => Some(single.min(later)),
            (single, later) => single.or(later),
        }
    }

    /// The next input with its time.
    pub fn pop(&mut self) -> Option<(u64, Input)> {
        let single = self.order.get(self.position).map(|next| (next.0, next.1, next.2 as usize));
        let later = self.later.peek().map(|Reverse(next)| (next.0, next.1, next.2));
        let take_single = match (single, later) {
            (Some(single), Some(later)) => single < later,
            (single, _) => single.is_some(),
        };
        if take_single {
            let (time_ps, _, number) = *self.order.get(self.position)?;
            self.position += 1;
            let SourceKind::Single(input) = &self.sources[number as usize].kind else {
                return None;
            };
            return Some((time_ps, input.clone()));
        }
        let Reverse((time_ps, _, _, next)) = self.later.pop()?;
        match next {
            Next::Injected(at) => {
                let input = self.injected[at].take()?;
                if self.injected.iter().all(Option::is_none) && self.later.is_empty() {
                    self.injected.clear();
                }
                Some((time_ps, input))
            }
            Next::Generator(at) => Some((time_ps, self.generate(at, time_ps)?)),
        }
    }

    fn generate(&mut self, at: usize, time_ps: u64) -> Option<Input> {
        let sources = self.sources.clone();
        let SourceKind::Generator(generator) = &sources[self.running[at].number].kind else {
            return None;
        };
        let running = &mut self.running[at];
        let input = Input::Event {
            at: generator.locations[running.places],
            event: generator.event,
            arguments: running.present.clone(),
        };
        running.places += 1;
        if running.places < generator.locations.len() {
            self.schedule(at, generator, time_ps);
            return Some(input);
        }
        (running.places, running.made) = (0, running.made + 1);
        if running.made < generator.count {
            let gap_ps = match generator.gap {
                Gap::Constant(gap_ps) => gap_ps,
                Gap::Exponential(mean_ps) => running.randomness.exponential(mean_ps) as u64,
            };
            self.draw(at, generator);
            self.schedule(at, generator, time_ps.saturating_add(gap_ps));
        }
        Some(input)
    }
}
