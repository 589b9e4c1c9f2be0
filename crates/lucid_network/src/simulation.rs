// SPDX-License-Identifier: Apache-2.0
//! [`CompiledSimulation`]: the devices of a run of a compiled program and what the run knows of their packets. Each
//! device is built from the device file of its switch. `event_loop` runs it.

use super::handler_runs::{ExpectedEvent, Replayed};
use super::in_flight::{InFlightPacket, Provenance, TakenPacket};
use super::ports::{check_input, check_ports};
use super::probed::ProbeReader;
use super::switch::{INTERNAL, InstalledSwitch, LoadError, Position, ready_with_probes};
use super::waiting_frames::WaitingFrames;
use arithmetic::random::stream::Stream;
use device::{Device, DeviceOptions, EngineChoice};
use ir::Program;
use lucid::core::GlobalId;
use lucid_compiler::Compiled;
use lucid_reference::interpreter::State;
use lucid_reference::simulation::inputs::Inputs;
use lucid_reference::simulation::random::Purpose;
use lucid_reference::simulation::schedule::Replayer;
use lucid_reference::simulation::{Counts, Setup};
use lucid_reference::specification;
use network::event_loop::Fabric;
use network::links::Links;
use source::{Code, Diagnostic, Diagnostics, Span};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// A switch of the run.
#[derive(Debug)]
pub(super) struct Switch {
    pub(super) installed: InstalledSwitch,
    /// Packets that the device has and that ingress has not taken, by their numbers.
    pub(super) arriving: HashMap<u64, Provenance>,
    /// Packets that come back by the recirculation port, in order; `None` for those of packet generators.
    pub(super) looping: VecDeque<Option<Provenance>>,
    /// Packets in queues, by port and queue, in order; `None` as above.
    pub(super) queued: HashMap<(u32, u32), VecDeque<Option<Arc<TakenPacket>>>>,
    pub(super) counts: Counts,
    /// Whether its forwarding table is as the links are.
    pub(super) knows_links: bool,
    /// For events that get to other switches directly.
    pub(super) direct_loss: Stream,
}

/// A run of a compiled program.
#[derive(Debug)]
pub struct CompiledSimulation {
    pub(super) setup: Arc<Setup>,
    pub(super) compiled: Arc<Compiled>,
    pub(super) probes: ProbeReader,
    pub(super) switches: Vec<Switch>,
    /// Links, and packets on them.
    pub(super) fabric: Fabric<InFlightPacket>,
    pub(super) inputs: Inputs,
    occurrences: u64,
    pub(super) handled: u64,
    pub(super) passes: u64,
    pub(super) skipped_rounds: u64,
    pub(super) rounds: u64,
    /// Passes in which P4 of the user's changed something.
    pub(super) changed_by_user: u64,
    /// The reference interpreter beside the devices.
    pub(super) replayer: Replayer,
    /// Events that handlers generated, by the occurrence whose handler it was, until devices send them.
    pub(super) expected: HashMap<u64, Vec<ExpectedEvent>>,
    /// Handlers that ran since the observer was called.
    pub(super) batch: Vec<Replayed>,
    pub(super) stopped: Option<Box<Diagnostic>>,
    pub(super) warnings: Diagnostics,
}

impl CompiledSimulation {
    /// At time 0, with each switch installed.
    ///
    /// # Errors
    ///
    /// A program that does not lower, a device that refuses it or a command: mistakes of the compiler.
    pub fn new(
        setup: Arc<Setup>,
        compiled: Arc<Compiled>,
        engine: EngineChoice,
    ) -> Result<CompiledSimulation, LoadError> {
        CompiledSimulation::with_devices(setup, compiled, engine, &|_| {})
    }

    /// The same, with devices whose options are changed from what their device files say.
    ///
    /// # Errors
    ///
    /// As for [`CompiledSimulation::new`].
    pub fn with_devices(
        setup: Arc<Setup>,
        compiled: Arc<Compiled>,
        engine: EngineChoice,
        change: &dyn Fn(&mut DeviceOptions),
    ) -> Result<CompiledSimulation, LoadError> {
        CompiledSimulation::with_program(setup, compiled, engine, change, &|_| {})
    }

    /// The same, with the lowered program changed by a pass that keeps its meaning.
    ///
    /// # Errors
    ///
    /// As for [`CompiledSimulation::new`].
    pub fn with_program(
        setup: Arc<Setup>,
        compiled: Arc<Compiled>,
        engine: EngineChoice,
        change: &dyn Fn(&mut DeviceOptions),
        pass: &dyn Fn(&mut Program),
    ) -> Result<CompiledSimulation, LoadError> {
        if let Some(wrong) = check_ports(&setup).iter().next() {
            return Err(LoadError { switch: 0, message: wrong.message.clone() });
        }
        let mut pipeline = ready_with_probes(&compiled)?.program().clone();
        pass(Arc::make_mut(&mut pipeline));
        let mut switches: Vec<Switch> = Vec::new();
        for number in 0..setup.switches() {
            let place =
                Position { number, engine, like: switches.first().map(|one| &one.installed) };
            let mut installed = InstalledSwitch::new(&setup, &compiled, &pipeline, place, change)?;
            if let Some(frames) = WaitingFrames::of(&setup, &compiled, number) {
                installed.device.set_circulation_rule(Some(Arc::new(frames)));
            }
            switches.push(Switch {
                installed,
                arriving: HashMap::new(),
                looping: VecDeque::new(),
                queued: HashMap::new(),
                counts: Counts::default(),
                knows_links: true,
                direct_loss: Purpose::DirectLoss.stream(setup.seed(), number.into()),
            });
        }
        let mut simulation = CompiledSimulation {
            probes: ProbeReader::new(&compiled.probes, &pipeline),
            switches,
            fabric: Fabric::new(setup.topology()),
            inputs: Inputs::new(setup.sources().clone(), setup.seed()),
            occurrences: 0,
            handled: 0,
            passes: 0,
            skipped_rounds: 0,
            rounds: 0,
            changed_by_user: 0,
            replayer: Replayer::new(&setup),
            expected: HashMap::new(),
            batch: Vec::new(),
            stopped: None,
            warnings: Diagnostics::new(),
            setup,
            compiled,
        };
        for at in 0..simulation.setup.switches() {
            // Packet generators begin by themselves.
            simulation.schedule_wake(at);
        }
        Ok(simulation)
    }

    /// Has the program make each round of events that wait by going round. Without this the devices make most of them
    /// without the program, which only takes less time.
    pub fn run_every_round(&mut self) {
        for at in 0..self.setup.switches() {
            self.switches[at as usize].installed.device.set_circulation_rule(None);
            // The switch wakes for rounds too.
            self.schedule_wake(at);
        }
    }

    /// What it runs.
    pub fn setup(&self) -> &Arc<Setup> {
        &self.setup
    }

    /// Warnings of the run so far.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// How far it came, in picoseconds.
    pub fn now_ps(&self) -> u64 {
        self.fabric.now_ps()
    }

    /// Handlers run at all switches.
    pub fn handled(&self) -> u64 {
        self.handled
    }

    /// Packets through pipelines: handlers, and frames in transit.
    pub fn passes(&self) -> u64 {
        self.passes
    }

    /// Passes in which the program only sent an event on its way.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Rounds of events that waited that devices made without the program. They count as passes.
    pub fn skipped_rounds(&self) -> u64 {
        self.skipped_rounds
    }

    /// The state of a switch as the program's globals.
    pub fn state(&self, switch: u32) -> Option<State> {
        self.switches.get(switch as usize).map(|switch| switch.installed.state())
    }

    /// The cell of a switch at an index, or the two of a pair.
    pub fn cell(&self, switch: u32, global: GlobalId, index: u64) -> Option<Vec<u128>> {
        self.switches.get(switch as usize)?.installed.cell(global, index)
    }

    /// Counters of a switch.
    pub fn counts(&self, switch: u32) -> Option<Counts> {
        self.switches.get(switch as usize).map(|switch| switch.counts)
    }

    /// The device of a switch.
    pub fn device(&self, switch: u32) -> Option<&Device> {
        self.switches.get(switch as usize).map(|switch| &switch.installed.device)
    }

    /// Whether no packet is in flight or waits, but for those that packet generators make.
    pub(super) fn is_quiet(&self) -> bool {
        let is_quiet = |one: &Switch| {
            one.arriving.is_empty()
                && one.looping.is_empty()
                && one.installed.device.buffered_bytes() == 0
        };
        self.fabric.in_flight() == 0
            && self.inputs.peek().is_none()
            && self.switches.iter().all(is_quiet)
    }

    /// When the next input comes, in picoseconds.
    pub fn next_input_ps(&self) -> Option<u64> {
        self.inputs.peek().map(|next| next.0)
    }

    /// Adds an input of a specification, at its time or now, whichever is later.
    ///
    /// # Errors
    ///
    /// The input names something that the program, the network or a compiled switch does not have.
    pub fn inject(&mut self, input: &specification::Input) -> Result<(), Diagnostics> {
        if let Some(wrong) = check_input(input) {
            let mut found = Diagnostics::new();
            found.push(wrong);
            return Err(found);
        }
        for one in self.setup.inputs(input)? {
            self.inputs.inject(input.time_ps.unwrap_or(0).max(self.now_ps()), one);
        }
        Ok(())
    }

    /// The links of the run.
    pub(super) fn links(&self) -> &Links {
        &self.fabric.links
    }

    /// What it was compiled to.
    pub fn compiled(&self) -> &Compiled {
        &self.compiled
    }

    pub(super) fn next_occurrence(&mut self) -> u64 {
        self.occurrences += 1;
        self.occurrences - 1
    }

    /// Stops the run: a device does not do what the compiler promised.
    pub(super) fn fault(&mut self, at: u32, message: &str) {
        let text = format!("the compiled program stopped at switch {at}: {message}");
        let help = "this is a mistake in Planewright; please report it with the program";
        let fault = Diagnostic::error(Code(INTERNAL), Span::NONE, text).help(help);
        self.stopped.get_or_insert(Box::new(fault));
    }
}
