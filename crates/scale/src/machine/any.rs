// SPDX-License-Identifier: Apache-2.0
//! [`AnyMachine`]: the machine of a design, with or without crossbars, and whole runs of it.

use super::outcome::{Arrival, Left, Outcome};
use super::recirculation::Lanes;
use super::{Machine, Settings};
use crate::design::{Design, Path};
use crate::trace::Recorder;
use crate::work::Work;

/// A machine of any design at work.
pub enum AnyMachine<P> {
    /// With a crossbar and queues in front of each stage.
    Crossbars(Box<Machine<P>>),
    /// Without. It records no events.
    Lanes(Box<Lanes<P>>),
}

impl<P> AnyMachine<P> {
    /// An empty machine of a design for a program. Panics as [`Machine::new`].
    pub fn new<W: Work<Packet = P>>(
        work: &W,
        settings: Settings,
        design: &Design,
        recorder: &mut impl Recorder,
    ) -> AnyMachine<P> {
        match design.path {
            Path::Crossbars => {
                AnyMachine::Crossbars(Box::new(Machine::new(work, settings, design, recorder)))
            }
            Path::Recirculation { .. } | Path::Local => {
                AnyMachine::Lanes(Box::new(Lanes::new(work, settings, design)))
            }
        }
    }

    /// Gives the machine a packet. Packets come in the order of (cycle, port), and none comes for a cycle that has passed.
    pub fn offer(&mut self, arrival: Arrival<P>) {
        match self {
            AnyMachine::Crossbars(machine) => machine.offer(arrival),
            AnyMachine::Lanes(lanes) => lanes.offer(arrival),
        }
    }

    /// Returns the current cycle.
    pub fn cycle(&self) -> u64 {
        match self {
            AnyMachine::Crossbars(machine) => machine.cycle(),
            AnyMachine::Lanes(lanes) => lanes.cycle(),
        }
    }

    /// Says whether no packet is in the machine or in front of it.
    pub fn is_empty(&self) -> bool {
        match self {
            AnyMachine::Crossbars(machine) => machine.is_empty(),
            AnyMachine::Lanes(lanes) => lanes.is_empty(),
        }
    }

    /// Says whether packets are in front of the machine.
    pub fn is_waiting(&self) -> bool {
        match self {
            AnyMachine::Crossbars(machine) => machine.is_waiting(),
            AnyMachine::Lanes(lanes) => !lanes.is_empty(),
        }
    }

    /// Lets cycles pass while the machine is empty.
    pub fn skip_to<W: Work<Packet = P>>(
        &mut self,
        cycle: u64,
        work: &mut W,
        recorder: &mut impl Recorder,
    ) {
        match self {
            AnyMachine::Crossbars(machine) => machine.skip_to(cycle, work, recorder),
            AnyMachine::Lanes(lanes) => lanes.skip_to(cycle),
        }
    }

    /// Runs one cycle. Says whether anything moved. The recorder is of one type in all cycles.
    pub fn step<W: Work<Packet = P>>(
        &mut self,
        work: &mut W,
        recorder: &mut impl Recorder,
    ) -> bool {
        match self {
            AnyMachine::Crossbars(machine) => machine.step(work, recorder),
            AnyMachine::Lanes(lanes) => {
                lanes.step(work);
                true
            }
        }
    }

    /// Takes the packets that have left.
    pub fn take_left(&mut self) -> Left<P> {
        match self {
            AnyMachine::Crossbars(machine) => machine.take_left(),
            AnyMachine::Lanes(lanes) => lanes.take_left(),
        }
    }

    /// Ends the run.
    pub fn finish(self) -> Outcome<P> {
        match self {
            AnyMachine::Crossbars(machine) => machine.finish(),
            AnyMachine::Lanes(lanes) => lanes.finish(),
        }
    }
}

/// Runs packets through a machine: sorts them by (cycle, port), and drains the machine. Designs without crossbars record no events.
pub fn run<W: Work>(
    work: &mut W,
    mut arrivals: Vec<Arrival<W::Packet>>,
    settings: Settings,
    design: &Design,
    recorder: &mut impl Recorder,
) -> Outcome<W::Packet> {
    arrivals.sort_by_key(|arrival| (arrival.cycle, arrival.port));
    let mut machine = AnyMachine::new(work, settings, design, recorder);
    arrivals.into_iter().for_each(|arrival| machine.offer(arrival));
    match &mut machine {
        AnyMachine::Crossbars(machine) => machine.drain(work, recorder),
        AnyMachine::Lanes(lanes) => {
            while !lanes.is_empty() {
                lanes.step(work);
            }
        }
    }
    machine.finish()
}
