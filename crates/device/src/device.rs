// SPDX-License-Identifier: Apache-2.0
//! The device itself: packets in, time forward, packets out, and targets for controllers. A second program
//! can be loaded while the first forwards, and be swapped in between two packets. What happens inside is in
//! `switch`.

use crate::burst::Burst;
use crate::control_target::{DeviceTarget, Entry, try_lock};
use crate::engine::{Engine, Runner};
use crate::machine::Event;
use crate::options::{DeviceOptions, EngineChoice};
use crate::output::{DeviceError, DigestMessage, LoadError, LogLine, Transmitted};
use crate::statistics::Statistics;
use crate::switch::Switch;
use crate::tap::{Tap, Tapped};
use crate::trace::PacketTrace;
use crate::traffic_manager::{CongestionSignal, OutputPath, QueueStatistics};
use control::target::{Batch, Notification, Outcome, Target, Visibility};
use ir::Program;
use state::{Cells, Configuration};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A switch that its device and its targets share.
#[derive(Debug)]
pub(crate) struct Shared {
    switch: Mutex<Switch>,
    entry: Arc<Entry>,
}

impl Shared {
    /// The switch, as soon as nobody else has it.
    pub fn run(&self) -> Running<'_> {
        let switch = self.switch.lock().unwrap_or_else(PoisonError::into_inner);
        Running { shared: self, switch: Some(switch) }
    }

    /// The switch, if nobody else has it.
    pub fn try_run(&self) -> Option<Running<'_>> {
        try_lock(&self.switch).map(|switch| Running { shared: self, switch: Some(switch) })
    }

    /// Serves requests that wait, unless the one who has the switch will.
    pub fn serve_if_idle(&self) {
        while self.entry.has_waiting()
            && let Some(mut switch) = try_lock(&self.switch)
        {
            switch.serve_waiting();
            switch.publish();
        }
    }
}

/// The switch in somebody's hands. When it is given back, requests that came meanwhile have been served.
pub(crate) struct Running<'s> {
    shared: &'s Shared,
    /// `None` only while it is given back.
    switch: Option<MutexGuard<'s, Switch>>,
}

const ALWAYS_THERE: &str = "the switch is there until it is given back";

impl Deref for Running<'_> {
    type Target = Switch;

    #[inline]
    fn deref(&self) -> &Switch {
        self.switch.as_ref().expect(ALWAYS_THERE)
    }
}

impl DerefMut for Running<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Switch {
        self.switch.as_mut().expect(ALWAYS_THERE)
    }
}

impl Drop for Running<'_> {
    #[inline]
    fn drop(&mut self) {
        self.publish();
        self.shared.entry.note_time(self.machine.now_ps);
        self.switch = None;
        if self.shared.entry.has_waiting() {
            self.shared.serve_if_idle();
        }
    }
}

/// A look at a device's registers, counters and meters. Other calls of the device, and its targets, wait for
/// it to go.
pub struct CellsView<'d>(Running<'d>);

impl Deref for CellsView<'_> {
    type Target = Cells;

    fn deref(&self) -> &Cells {
        &self.0.current.cells
    }
}

/// A program made ready for a device, on any thread. See [`Device::prepare`].
#[derive(Debug)]
pub struct PreparedProgram(Box<Engine>);

/// One switch.
#[derive(Debug)]
pub struct Device {
    shared: Arc<Shared>,
    /// As its program's architecture has completed them.
    options: DeviceOptions,
}

impl Drop for Device {
    fn drop(&mut self) {
        self.shared.entry.close();
    }
}

impl Device {
    /// A device that runs a program, at time 0. With [`EngineChoice::Jit`] the program is compiled here.
    pub fn new(program: Arc<Program>, options: DeviceOptions) -> Result<Device, LoadError> {
        Ok(Device::of(Switch::load(program, options, None)?))
    }

    /// Another device that runs this one's current program, with a state of its own. Machine code is shared
    /// unless the options differ in the drop port or the least number of a port's queues.
    pub fn another(&self, options: DeviceOptions) -> Result<Device, LoadError> {
        let switch = self.switch();
        let like = &switch.current;
        let other = Switch::load(like.program.clone(), options, Some(like))?;
        drop(switch);
        Ok(Device::of(other))
    }

    fn of(switch: Switch) -> Device {
        let options = switch.machine.options.clone();
        let entry = switch.driver.entry.clone();
        let shared = Arc::new(Shared { switch: Mutex::new(switch), entry });
        Device { shared, options }
    }

    fn switch(&self) -> Running<'_> {
        self.shared.run()
    }

    /// A controller's access to this device, from any thread.
    pub fn target(&self) -> DeviceTarget {
        let visibility = match &self.options.control_latency {
            None => Visibility::Moment,
            Some(model) if model.is_atomic => Visibility::Moment,
            Some(_) => Visibility::Items,
        };
        let shared = Arc::downgrade(&self.shared);
        DeviceTarget::new(shared, self.shared.entry.clone(), visibility)
    }

    /// Applies a batch now, as by a target of its own.
    pub fn execute(&self, batch: Batch) -> Outcome {
        self.target().execute(batch)
    }

    /// What runs the blocks.
    pub fn engine_choice(&self) -> EngineChoice {
        self.options.effective_engine()
    }

    /// Its name: `jit` or `interpreter`.
    pub fn engine_name(&self) -> &'static str {
        self.engine_choice().name()
    }

    /// How long compiling the current program took so far; `None` with the interpreter. Blocks are
    /// compiled one by one when the first packet needs them, so it may grow.
    pub fn compile_time(&self) -> Option<Duration> {
        match &self.switch().current.runner {
            Runner::Jit(compiled) => Some(compiled.compile_time()),
            Runner::Interpreter(_) => None,
        }
    }

    /// How often code of the current program was compiled so far, for all devices that share it; 0 with the
    /// interpreter.
    pub fn compilations(&self) -> u64 {
        match &self.switch().current.runner {
            Runner::Jit(compiled) => compiled.code().compilations(),
            Runner::Interpreter(_) => 0,
        }
    }

    /// Bytes of machine code of the current program so far.
    pub fn code_bytes(&self) -> usize {
        match &self.switch().current.runner {
            Runner::Jit(compiled) => compiled.code_bytes(),
            Runner::Interpreter(_) => 0,
        }
    }

    /// What keeps the current program from being as fast on its engine as can be, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        let switch = self.switch();
        match (&switch.current.runner, &switch.current.schedule) {
            (Runner::Jit(compiled), _) => compiled.notes().to_vec(),
            (Runner::Interpreter(_), Some(schedule)) => schedule.notes.clone(),
            (Runner::Interpreter(_), None) => Vec::new(),
        }
    }

    /// The program that new packets meet.
    pub fn program(&self) -> Arc<Program> {
        self.shared.entry.program()
    }

    /// The current version of its configuration, to read it.
    pub fn configuration(&self) -> Arc<Configuration> {
        self.shared.entry.configuration()
    }

    /// Copies of the forwarding side in memory, those included that only packets hold. For watching memory.
    pub fn forwarding_copies(&self) -> usize {
        self.switch().current.store.forwarding_copies()
    }

    /// Its registers, counters and meters, to read them.
    pub fn cells(&self) -> CellsView<'_> {
        CellsView(self.switch())
    }

    /// How it was built.
    pub fn options(&self) -> &DeviceOptions {
        &self.options
    }

    /// The device's time in picoseconds.
    pub fn now_ps(&self) -> u64 {
        self.switch().machine.now_ps
    }

    /// The largest port that the architecture has bits for.
    pub fn largest_port(&self) -> u32 {
        self.switch().current.largest_port()
    }

    /// A packet will arrive at a port at a time, to be run by [`Device::advance`]. Packets of one
    /// time and port arrive in the order of the calls. Returns its number, which
    /// [`Transmitted::packet`] names.
    ///
    /// A time that is over and a port whose number the architecture has no bits for are errors.
    pub fn inject(&mut self, port: u32, time_ps: u64, bytes: Vec<u8>) -> Result<u64, DeviceError> {
        self.switch().inject(port, time_ps, bytes)
    }

    /// When the device next has something to do, in picoseconds.
    pub fn next_event_ps(&self) -> Option<u64> {
        self.switch().next_event_ps()
    }

    /// Does everything due until this time, included, and sets the clock to it.
    pub fn advance(&mut self, until_ps: u64) -> Result<(), DeviceError> {
        self.switch().advance(until_ps)
    }

    /// Runs until nothing is left to do but what is paused. Trains of generated packets that have no end
    /// go on as long as there is something else to do, or flow control holds packets up.
    pub fn run_to_completion(&mut self) -> Result<(), DeviceError> {
        self.switch().run_to_completion()
    }

    /// Whether packets are on their way or wait, but for those that endless trains have still to make.
    pub fn is_busy(&self) -> bool {
        self.switch().is_busy()
    }

    /// What happened to packets since the last call, in order; empty unless [`DeviceOptions::tap`] is set.
    pub fn drain_taps(&mut self) -> Vec<Tapped> {
        self.switch().machine.tap.as_mut().map_or_else(Vec::new, Tap::take)
    }

    /// Packets that left since the last call, in order of time, port and sequence. A packet is
    /// listed as soon as it starts on the wire, so its time may lie ahead of the device's.
    pub fn drain_transmitted(&mut self) -> Vec<Transmitted> {
        let mut switch = self.switch();
        switch.publish();
        let mut transmitted = std::mem::take(&mut switch.machine.transmitted);
        switch.forget_published();
        drop(switch);
        transmitted.sort_by_key(|packet| (packet.time_ps, packet.port, packet.sequence));
        transmitted
    }

    /// Digests since the last call, in order.
    pub fn drain_digests(&mut self) -> Vec<DigestMessage> {
        let mut switch = self.switch();
        switch.publish();
        let digests = std::mem::take(&mut switch.machine.digests);
        switch.forget_published();
        digests
    }

    /// Lines written to the log since the last call, in order.
    pub fn drain_log(&mut self) -> Vec<LogLine> {
        std::mem::take(&mut self.switch().machine.log)
    }

    /// Congestion signals since the last call, in order.
    pub fn drain_congestion_signals(&mut self) -> Vec<CongestionSignal> {
        self.switch().machine.traffic.drain_signals()
    }

    /// Traces since the last call, one a received packet with all its passes and copies, bounded as
    /// [`crate::trace`] says; empty unless [`DeviceOptions::trace`] is set. To be called when no
    /// packet is under way, else the rest of a packet's trace comes as a tree of its own.
    pub fn drain_traces(&mut self) -> Vec<PacketTrace> {
        self.switch().machine.recorder.as_mut().map_or_else(Vec::new, |recorder| recorder.drain())
    }

    /// What was counted so far.
    pub fn statistics(&self) -> Statistics {
        let switch = self.switch();
        let mut statistics = switch.machine.statistics.clone();
        switch.machine.straight.add_to(&mut statistics);
        statistics
    }

    /// How many of the packets that came in began on the straight way; whoever wants to know why a device is
    /// slow looks here.
    pub fn straight_packets(&self) -> u64 {
        self.switch().machine.straight.begun()
    }

    /// Pauses a queue of a path, or the path. Returns whether the queue exists.
    pub fn pause(&mut self, path: OutputPath, queue: Option<u32>) -> bool {
        let switch = &mut *self.switch();
        switch.machine.traffic.set_paused(path, queue, true, switch.machine.now_ps)
    }

    /// Lets a paused queue, or path, go on. Returns whether the queue exists.
    pub fn resume(&mut self, path: OutputPath, queue: Option<u32>) -> bool {
        let switch = &mut *self.switch();
        switch.machine.traffic.set_paused(path, queue, false, switch.machine.now_ps)
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
        let machine = &mut self.switch().machine;
        let time_ps = time_ps.max(machine.now_ps);
        machine.schedule(time_ps, Event::FlowControl { path, queue, paused });
    }

    /// What is known of a queue; `None` when it does not exist.
    pub fn queue_statistics(&self, path: OutputPath, queue: u32) -> Option<QueueStatistics> {
        let switch = self.switch();
        switch.machine.traffic.queue_statistics(path, queue, switch.machine.now_ps)
    }

    /// Bytes that all queues hold together now.
    pub fn buffered_bytes(&self) -> u64 {
        self.switch().machine.traffic.buffered_bytes()
    }

    /// The most bytes that all queues together held for any time.
    pub fn most_buffered_bytes(&self) -> u64 {
        self.switch().machine.traffic.most_buffered_bytes()
    }

    /// Packets waiting in a queue.
    pub fn queue_depth(&self, path: OutputPath, queue: u32) -> u32 {
        self.switch().machine.traffic.depth_packets(path, queue)
    }

    /// How many programs are loaded: the current one, one that waits, and those whose last packets
    /// are still under way.
    pub fn loaded_programs(&self) -> usize {
        self.switch().others.len() + 1
    }

    /// Makes a program ready for this device, on any thread: with [`EngineChoice::Jit`] it is compiled here.
    pub fn prepare(
        program: Arc<Program>,
        options: &DeviceOptions,
    ) -> Result<PreparedProgram, LoadError> {
        Ok(PreparedProgram(Box::new(Engine::load(program, 0, options, None)?)))
    }

    /// Loads a second program beside the one that forwards, in place of one loaded before and not
    /// swapped in. Its state starts as the program says. With [`EngineChoice::Jit`] it is compiled here.
    pub fn load_second(&mut self, program: Arc<Program>) -> Result<(), LoadError> {
        let mut switch = self.switch();
        let engine = Engine::load(program, 0, &self.options, Some(&switch.current))?;
        switch.take_second(engine);
        Ok(())
    }

    /// The same for a program that was made ready before, with these or equal options.
    pub fn take_second(&mut self, program: PreparedProgram) {
        self.switch().take_second(*program.0);
    }

    /// Swaps the second program in: the next packet from a port meets it. Packets under way,
    /// resubmitted and recirculated ones too, end with the program that they began with. State of equal
    /// name and shape goes over as [`state::carry`] says: registers, counters, meters, and entries where
    /// the second program's tables are as the program gave them. Returns whether there was a second
    /// program.
    pub fn swap(&mut self) -> bool {
        self.switch().swap()
    }

    /// Tells controllers that listen that a link of a port came up or went down.
    pub fn note_link(&mut self, port: u32, is_up: bool) {
        let mut switch = self.switch();
        let time_ps = switch.machine.now_ps;
        switch.notify(&Notification::Link { time_ps, port, is_up });
    }

    /// How many packets it was given so far.
    pub(crate) fn receptions(&self) -> u64 {
        self.switch().receptions
    }

    /// Forwards the packets of a burst that no device has taken yet, in order. Each arrives at the
    /// device's time and runs to its end, as by [`Device::inject`] and [`Device::run_to_completion`],
    /// before the next one arrives; what leaves is in the burst's outputs, and not in
    /// [`Device::drain_transmitted`]. After an error the packets behind the failing one can be forwarded
    /// by another call.
    ///
    /// With compiled code, and as long as its port has no rate, latency, pause or anything else that would
    /// hold it up, a packet that goes from one port to one other is changed in place, without an
    /// allocation or a lock.
    pub fn forward(&mut self, burst: &mut Burst) -> Result<(), DeviceError> {
        let mut switch = self.switch();
        let already = burst.sent_count();
        let done = switch.forward(burst);
        switch.publish_burst(burst, already);
        done
    }
}
