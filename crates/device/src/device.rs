// SPDX-License-Identifier: Apache-2.0
//! The device itself: packets in, time forward, packets out, and the control plane's access to the
//! state of the program that runs. A second program can be loaded while the first forwards, and be
//! swapped in between two packets.

use crate::burst::Burst;
use crate::control_handle::{ControlHandle, ControlReceiver};
use crate::engine::{Engine, Runner};
use crate::machine::{Event, EventKey, Machine, NextEvent};
use crate::options::{DeviceOptions, EngineChoice};
use crate::output::{DeviceError, DigestMessage, LoadError, LogLine, Transmitted};
use crate::packet::{Arrival, Entrance, Generation, Queued, Reception};
use crate::packet_generator::{GeneratorApplication, TrainTarget};
use crate::statistics::Statistics;
use crate::tap::{Tap, Tapped};
use crate::trace::PacketTrace;
use crate::traffic_manager::{CongestionSignal, Dequeued, OutputPath, QueueStatistics};
use ir::Program;
use state::{Batch, BatchOutcome, Cells, Store};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// One switch.
#[derive(Debug)]
pub struct Device {
    pub(crate) machine: Machine,
    /// Apart from the others, as nearly all packets meet it.
    current: Engine,
    /// One that waits, and those whose last packets are under way.
    others: BTreeMap<Generation, Engine>,
    pub(crate) receptions: u64,
    /// For packets that take the straight way one at a time.
    pub(crate) single: Option<Box<Burst>>,
    control: Option<ControlReceiver>,
}

/// What comes next.
enum Next {
    Path(OutputPath),
    Event(EventKey, NextEvent),
}

impl Device {
    /// A device that runs a program, at time 0. With [`EngineChoice::Jit`] the program is compiled here.
    pub fn new(program: Arc<Program>, options: DeviceOptions) -> Result<Device, LoadError> {
        Device::load(program, options, None)
    }

    /// Another device that runs this one's current program, with a state of its own. Machine code is shared
    /// unless the options differ in the drop port or the least number of a port's queues.
    pub fn another(&self, options: DeviceOptions) -> Result<Device, LoadError> {
        Device::load(self.current.program.clone(), options, Some(&self.current))
    }

    fn load(
        program: Arc<Program>,
        mut options: DeviceOptions,
        like: Option<&Engine>,
    ) -> Result<Device, LoadError> {
        let engine = Engine::load(program, 0, &options, like)?;
        engine.set_defaults(&mut options);
        Ok(Device {
            machine: Machine::new(options),
            current: engine,
            others: BTreeMap::new(),
            receptions: 0,
            single: None,
            control: None,
        })
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.current
    }

    pub(crate) fn current_engine_and_machine(&mut self) -> (&mut Engine, &mut Machine) {
        (&mut self.current, &mut self.machine)
    }

    /// What runs the blocks.
    pub fn engine_choice(&self) -> EngineChoice {
        self.machine.options.effective_engine()
    }

    /// Its name: `jit` or `interpreter`.
    pub fn engine_name(&self) -> &'static str {
        self.engine_choice().name()
    }

    /// How long compiling the current program took so far; `None` with the interpreter. Blocks are
    /// compiled one by one when the first packet needs them, so it may grow.
    pub fn compile_time(&self) -> Option<Duration> {
        match &self.current.runner {
            Runner::Jit(compiled) => Some(compiled.compile_time()),
            Runner::Interpreter(_) => None,
        }
    }

    /// How often code of the current program was compiled so far, for all devices that share it; 0 with the
    /// interpreter.
    pub fn compilations(&self) -> u64 {
        match &self.current.runner {
            Runner::Jit(compiled) => compiled.code().compilations(),
            Runner::Interpreter(_) => 0,
        }
    }

    /// Bytes of machine code of the current program so far.
    pub fn code_bytes(&self) -> usize {
        match &self.current.runner {
            Runner::Jit(compiled) => compiled.code_bytes(),
            Runner::Interpreter(_) => 0,
        }
    }

    /// What keeps the current program from being as fast on its engine as can be, a sentence each.
    pub fn notes(&self) -> &[String] {
        match &self.current.runner {
            Runner::Jit(compiled) => compiled.notes(),
            Runner::Interpreter(_) => &[],
        }
    }

    /// A control plane's access to this device from other threads.
    pub fn control_handle(&mut self) -> ControlHandle {
        self.current.forget_tables();
        let (program, store) = (&self.current.program, &self.current.store);
        let control = self
            .control
            .get_or_insert_with(|| ControlReceiver::new(program.clone(), store.clone()));
        control.handle()
    }

    /// Carries out what control handles asked for.
    #[inline]
    pub(crate) fn obey_control(&mut self) {
        let Some(control) = &self.control else { return };
        if control.note_time(self.machine.now_ps) {
            let Engine { program, store, cells, .. } = &mut self.current;
            let now_ps = self.machine.now_ps;
            control.carry_out(program, |batch| store.write_batch(cells, Batch { now_ps, ..batch }));
        }
    }

    /// The program that new packets meet.
    pub fn program(&self) -> &Arc<Program> {
        &self.engine().program
    }

    /// Its configuration, to read it. Whoever writes uses [`Device::write_batch`],
    /// [`Device::store_and_cells_mut`] or a [`ControlHandle`]: this may be held up by what the device keeps.
    pub fn store(&self) -> &Store {
        &self.engine().store
    }

    /// Its registers, counters and meters.
    pub fn cells(&self) -> &Cells {
        &self.engine().cells
    }

    /// Its registers, counters and meters, to change them between packets.
    pub fn cells_mut(&mut self) -> &mut Cells {
        &mut self.current.cells
    }

    /// Its configuration and cells, to change both between packets.
    pub fn store_and_cells_mut(&mut self) -> (&Store, &mut Cells) {
        let engine = &mut self.current;
        engine.forget_tables();
        (&engine.store, &mut engine.cells)
    }

    /// Carries a batch of updates and reads out between two packets, at the device's time.
    pub fn write_batch(&mut self, batch: Batch) -> BatchOutcome {
        self.current.forget_tables();
        let Engine { store, cells, .. } = &mut self.current;
        match Arc::get_mut(store) {
            Some(store) => store.write_batch_mut(cells, batch),
            None => store.write_batch(cells, batch),
        }
    }

    /// How it was built.
    pub fn options(&self) -> &DeviceOptions {
        &self.machine.options
    }

    /// The device's time in picoseconds.
    pub fn now_ps(&self) -> u64 {
        self.machine.now_ps
    }

    /// The largest port that the architecture has bits for.
    pub fn largest_port(&self) -> u32 {
        self.engine().largest_port()
    }

    /// A packet will arrive at a port at a time, to be run by [`Device::advance`]. Packets of one
    /// time and port arrive in the order of the calls. Returns its number, which
    /// [`Transmitted::packet`] names.
    ///
    /// A time that is over and a port whose number the architecture has no bits for are errors.
    pub fn inject(&mut self, port: u32, time_ps: u64, bytes: Vec<u8>) -> Result<u64, DeviceError> {
        let largest = self.engine().largest_port();
        if port > largest {
            return Err(DeviceError::NoSuchPort { port, largest });
        }
        let now_ps = self.machine.now_ps;
        if time_ps < now_ps {
            return Err(DeviceError::TimeWentBack { now_ps, given_ps: time_ps });
        }
        let number = self.receptions;
        self.receptions += 1;
        let arrival = Arrival {
            reception: Reception::new(number),
            entrance: Entrance::Port,
            port,
            arrived_ps: time_ps,
            bytes,
            preserved: Vec::new(),
            parent: None,
        };
        self.machine.schedule(time_ps, Event::Reception(Box::new(arrival)));
        Ok(number)
    }

    fn next(&self) -> Option<(u64, Next)> {
        let path = self.machine.traffic.next_ready();
        let event = self.machine.next_event();
        match (path, event) {
            (Some((path_ps, path)), event) if event.is_none_or(|(key, _)| path_ps <= key.0) => {
                Some((path_ps, Next::Path(path)))
            }
            (_, Some((key, next))) => Some((key.0, Next::Event(key, next))),
            (_, None) => None,
        }
    }

    /// When the device next has something to do, in picoseconds.
    pub fn next_event_ps(&self) -> Option<u64> {
        self.next().map(|(time_ps, _)| time_ps.max(self.machine.now_ps))
    }

    /// Does everything due until this time, included, and sets the clock to it.
    pub fn advance(&mut self, until_ps: u64) -> Result<(), DeviceError> {
        self.obey_control();
        while let Some((time_ps, next)) = self.next().filter(|next| next.0 <= until_ps) {
            self.step(time_ps, next)?;
            self.run_rounds(until_ps)?;
        }
        self.machine.now_ps = self.machine.now_ps.max(until_ps);
        Ok(())
    }

    /// Runs until nothing is left to do but what is paused. Trains of generated packets that have no end
    /// go on as long as there is something else to do, or flow control holds packets up.
    pub fn run_to_completion(&mut self) -> Result<(), DeviceError> {
        self.obey_control();
        while let Some((time_ps, next)) = self.next() {
            if self.machine.has_only_endless_events() {
                break;
            }
            self.step(time_ps, next)?;
            self.run_rounds(u64::MAX)?;
        }
        Ok(())
    }

    /// Whether packets are on their way or wait, but for those that endless trains have still to make.
    pub fn is_busy(&self) -> bool {
        self.buffered_bytes() > 0
            || self.next().is_some() && !self.machine.has_only_endless_events()
    }

    fn step(&mut self, time_ps: u64, next: Next) -> Result<(), DeviceError> {
        self.obey_control();
        let machine = &mut self.machine;
        machine.now_ps = machine.now_ps.max(time_ps);
        match next {
            Next::Path(path) => {
                let Some(dequeued) = machine.traffic.dequeue(path, machine.now_ps) else {
                    return Ok(());
                };
                self.leave_queue(path, dequeued)
            }
            Next::Event(key, NextEvent::Listed) => match machine.take_event(&key) {
                Some(event) => self.happen(event),
                None => Ok(()),
            },
            Next::Event(_, NextEvent::ComingBack) => match machine.coming_back.pop_front() {
                Some((_, arrival)) => self.come_by_port(arrival),
                None => Ok(()),
            },
            Next::Event(_, NextEvent::Admission) => match machine.admit() {
                Some((generation, arrival)) => self.enter_ingress(generation, arrival),
                None => Ok(()),
            },
        }
    }

    /// Runs something on the program that a packet belongs to; a program that was swapped out goes
    /// when its last packet is done.
    fn with_engine(
        &mut self,
        generation: Generation,
        work: impl FnOnce(&mut Engine, &mut Machine) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        if generation == self.current.generation {
            return work(&mut self.current, &mut self.machine);
        }
        let Some(engine) = self.others.get_mut(&generation) else { return Ok(()) };
        let result = work(engine, &mut self.machine);
        if engine.in_flight == 0 && !engine.is_waiting {
            self.others.remove(&generation);
        }
        result
    }

    fn leave_queue(
        &mut self,
        path: OutputPath,
        dequeued: Dequeued<Queued>,
    ) -> Result<(), DeviceError> {
        let Dequeued { item, queue, enqueued_ps, depth_packets } = dequeued;
        match (item, path) {
            (Queued::Traveller(generation, packet), OutputPath::Port(port)) => {
                let dequeued = Dequeued { item: *packet, queue, enqueued_ps, depth_packets };
                self.with_engine(generation, |engine, machine| {
                    engine.in_flight -= 1;
                    engine.egress(machine, port, dequeued)
                })
            }
            (Queued::Arrival(generation, arrival), path) => {
                let length = arrival.bytes.len() as u64;
                let machine = &mut self.machine;
                let arrives_ps = machine.traffic.transmit(path, length, machine.now_ps);
                let arrival = Box::new(Arrival { arrived_ps: arrives_ps, ..*arrival });
                machine.schedule(arrives_ps, Event::Reentry(generation, arrival));
                Ok(())
            }
            // Internal paths carry arrivals only.
            (Queued::Traveller(..), _) => Ok(()),
        }
    }

    fn happen(&mut self, event: Event) -> Result<(), DeviceError> {
        match event {
            Event::FlowControl { path, queue, paused } => {
                let machine = &mut self.machine;
                machine.traffic.set_paused(path, queue, paused, machine.now_ps);
                Ok(())
            }
            Event::Enqueue(generation, port, packet) => {
                self.with_engine(generation, |engine, machine| {
                    engine.in_flight -= 1;
                    engine.enqueue(machine, port, *packet);
                    Ok(())
                })
            }
            Event::Reentry(generation, arrival) => {
                let statistics = &mut self.machine.statistics;
                match arrival.entrance {
                    Entrance::Resubmission => statistics.resubmitted += 1,
                    Entrance::Recirculation => statistics.recirculated += 1,
                    Entrance::Port | Entrance::Loopback | Entrance::Generator => {}
                }
                self.come_to_ingress(Some(generation), arrival)
            }
            Event::Loopback(arrival) | Event::Reception(arrival) => self.come_by_port(arrival),
            Event::Generation(source) => match self.machine.generate(source) {
                Some((arrival, TrainTarget::Mac)) => self.come_by_port(arrival),
                Some((arrival, TrainTarget::Ingress)) => self.come_to_ingress(None, arrival),
                None => Ok(()),
            },
            Event::FlowControlEnd { path, queue } => {
                let machine = &mut self.machine;
                machine.traffic.end_flow_pause(path, queue, machine.now_ps);
                Ok(())
            }
        }
    }

    /// A packet comes to the MAC of its port.
    fn come_by_port(&mut self, arrival: Box<Arrival>) -> Result<(), DeviceError> {
        match self.machine.obey_flow_control(&arrival) {
            true => Ok(()),
            false => self.come_to_ingress(None, arrival),
        }
    }

    /// A packet is there for the program of this generation, or for whatever program runs now.
    fn come_to_ingress(
        &mut self,
        generation: Option<Generation>,
        arrival: Box<Arrival>,
    ) -> Result<(), DeviceError> {
        match self.machine.take_turn(generation, arrival) {
            Some(arrival) => self.enter_ingress(generation, arrival),
            None => Ok(()),
        }
    }

    fn enter_ingress(
        &mut self,
        generation: Option<Generation>,
        arrival: Box<Arrival>,
    ) -> Result<(), DeviceError> {
        if let Some(generation) = generation {
            return self.with_engine(generation, |engine, machine| {
                engine.in_flight -= 1;
                engine.ingress(machine, *arrival)
            });
        }
        let Some(arrival) = self.receive_straight(arrival)? else { return Ok(()) };
        self.machine.statistics.received(arrival.port, arrival.bytes.len());
        self.current.ingress(&mut self.machine, *arrival)
    }

    /// What happened to packets since the last call, in order; empty unless [`DeviceOptions::tap`] is set.
    pub fn drain_taps(&mut self) -> Vec<Tapped> {
        self.machine.tap.as_mut().map_or_else(Vec::new, Tap::take)
    }

    /// Packets that left since the last call, in order of time, port and sequence. A packet is
    /// listed as soon as it starts on the wire, so its time may lie ahead of the device's.
    pub fn drain_transmitted(&mut self) -> Vec<Transmitted> {
        let mut transmitted = std::mem::take(&mut self.machine.transmitted);
        transmitted.sort_by_key(|packet| (packet.time_ps, packet.port, packet.sequence));
        transmitted
    }

    /// Digests since the last call, in order.
    pub fn drain_digests(&mut self) -> Vec<DigestMessage> {
        std::mem::take(&mut self.machine.digests)
    }

    /// Lines written to the log since the last call, in order.
    pub fn drain_log(&mut self) -> Vec<LogLine> {
        std::mem::take(&mut self.machine.log)
    }

    /// Congestion signals since the last call, in order.
    pub fn drain_congestion_signals(&mut self) -> Vec<CongestionSignal> {
        self.machine.traffic.drain_signals()
    }

    /// Traces since the last call, one a received packet with all its passes and copies, bounded as
    /// [`crate::trace`] says; empty unless [`DeviceOptions::trace`] is set. To be called when no
    /// packet is under way, else the rest of a packet's trace comes as a tree of its own.
    pub fn drain_traces(&mut self) -> Vec<PacketTrace> {
        self.machine.recorder.as_mut().map_or_else(Vec::new, |recorder| recorder.drain())
    }

    /// What was counted so far.
    pub fn statistics(&self) -> Statistics {
        let mut statistics = self.machine.statistics.clone();
        self.machine.straight.add_to(&mut statistics);
        statistics
    }

    /// How many of the packets that came in began on the straight way; whoever wants to know why a device is
    /// slow looks here.
    pub fn straight_packets(&self) -> u64 {
        self.machine.straight.begun()
    }

    /// Pauses a queue of a path, or the path. Returns whether the queue exists.
    pub fn pause(&mut self, path: OutputPath, queue: Option<u32>) -> bool {
        self.machine.traffic.set_paused(path, queue, true, self.machine.now_ps)
    }

    /// Lets a paused queue, or path, go on. Returns whether the queue exists.
    pub fn resume(&mut self, path: OutputPath, queue: Option<u32>) -> bool {
        self.machine.traffic.set_paused(path, queue, false, self.machine.now_ps)
    }

    /// Will pause a queue of a path, or the path, or let it go on, when the clock comes to a time; a
    /// time that is over means now. A queue that does not exist is ignored, as a frame of priority
    /// flow control for it would be.
    pub fn schedule_pause(
        &mut self,
        time_ps: u64,
        path: OutputPath,
        queue: Option<u32>,
        paused: bool,
    ) {
        let time_ps = time_ps.max(self.machine.now_ps);
        self.machine.schedule(time_ps, Event::FlowControl { path, queue, paused });
    }

    /// Sets an application of the packet generator, in place of what it was; its timer starts `offset_ps`
    /// from now. A port that the architecture has no bits for is an error.
    pub fn set_generator_application(
        &mut self,
        application: GeneratorApplication,
    ) -> Result<(), DeviceError> {
        let (port, largest) = (application.port, self.engine().largest_port());
        if port > largest {
            return Err(DeviceError::NoSuchPort { port, largest });
        }
        self.machine.set_generator_application(application);
        Ok(())
    }

    /// Stops an application of the packet generator. Returns whether it was set.
    pub fn stop_generator_application(&mut self, id: u8) -> bool {
        self.machine.stop_generator_application(id)
    }

    /// Sets the depth limit in packets of a queue, or of all queues of a path.
    pub fn set_queue_depth(&mut self, path: OutputPath, queue: Option<u32>, packets: u32) -> bool {
        self.machine.traffic.set_depth_limit(path, queue, packets)
    }

    /// Sets the rate in packets per second of a queue, or of all queues of a path; 0 is no limit.
    pub fn set_queue_rate(&mut self, path: OutputPath, queue: Option<u32>, rate_pps: u64) -> bool {
        self.machine.traffic.set_queue_rate(path, queue, rate_pps)
    }

    /// Sets a path's rate in bits per second; `None` is infinite.
    pub fn set_rate_bps(&mut self, path: OutputPath, rate_bps: Option<u64>) {
        self.machine.wires_take_time = true;
        self.machine.traffic.set_rate_bps(path, rate_bps);
    }

    /// What is known of a queue; `None` when it does not exist.
    pub fn queue_statistics(&self, path: OutputPath, queue: u32) -> Option<QueueStatistics> {
        self.machine.traffic.queue_statistics(path, queue, self.machine.now_ps)
    }

    /// Bytes that all queues hold together now.
    pub fn buffered_bytes(&self) -> u64 {
        self.machine.traffic.buffered_bytes()
    }

    /// The most bytes that all queues together held for any time.
    pub fn most_buffered_bytes(&self) -> u64 {
        self.machine.traffic.most_buffered_bytes()
    }

    /// Packets waiting in a queue.
    pub fn queue_depth(&self, path: OutputPath, queue: u32) -> u32 {
        self.machine.traffic.depth_packets(path, queue)
    }

    /// Loads a second program beside the one that forwards, in place of one loaded before and not
    /// swapped in. Its state starts as the program says. With [`EngineChoice::Jit`] it is compiled here.
    pub fn load_second(&mut self, program: Arc<Program>) -> Result<(), LoadError> {
        let last = self.others.last_key_value().map_or(0, |(last, _)| *last);
        let generation = last.max(self.current.generation) + 1;
        let options = &self.machine.options;
        let mut engine = Engine::load(program, generation, options, Some(&self.current))?;
        engine.is_waiting = true;
        self.others.retain(|_, engine| !engine.is_waiting);
        self.others.insert(generation, engine);
        Ok(())
    }

    /// The loaded second program's configuration and cells, to prepare them.
    pub fn second_mut(&mut self) -> Option<(&Arc<Program>, &Store, &mut Cells)> {
        let engine = self.others.values_mut().find(|engine| engine.is_waiting)?;
        Some((&engine.program, &engine.store, &mut engine.cells))
    }

    /// Swaps the second program in: the next packet from a port meets it. Packets under way,
    /// resubmitted and recirculated ones too, end with the program that they began with. State of equal
    /// name and shape goes over as [`state::carry`] says: registers, counters, meters, and entries where
    /// the second program's tables are as the program gave them. Returns whether there was a second
    /// program.
    pub fn swap(&mut self) -> bool {
        self.obey_control();
        let waiting = self.others.iter().find(|(_, engine)| engine.is_waiting);
        let Some(next) = waiting.map(|(number, _)| *number) else { return false };
        let Some(mut engine) = self.others.remove(&next) else { return false };
        // No other thread writes from here until handles know the second program.
        let mut known = self.control.as_ref().map(ControlReceiver::current);
        engine.is_waiting = false;
        engine.carry_state_from(&self.current);
        if let Some(known) = &mut known {
            known.program = engine.program.clone();
            known.store = engine.store.clone();
        }
        drop(known);
        let before = std::mem::replace(&mut self.current, engine);
        if before.in_flight > 0 {
            self.others.insert(before.generation, before);
        }
        true
    }

    /// How many programs are loaded: the current one, one that waits, and those whose last packets
    /// are still under way.
    pub fn loaded_programs(&self) -> usize {
        self.others.len() + 1
    }
}
