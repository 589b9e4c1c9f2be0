// SPDX-License-Identifier: Apache-2.0
//! `Device`: the public interface of a switch. Packets go in and out, time advances, programs are loaded and swapped, and
//! controllers get targets. The state behind the lock is in `switch`.

use crate::burst::Burst;
use crate::circulation::CirculationRule;
use crate::control_request::{SharedProgram, TargetProgram};
use crate::control_target::DeviceTarget;
use crate::engine::Engine;
use crate::event::Event;
use crate::options::{DeviceOptions, EngineChoice};
use crate::output::{AppliedUpdate, DeviceError, DigestMessage, LoadError, LogLine, Transmitted};
use crate::outputs::Outputs;
use crate::packet::ProgramId;
use crate::shared_switch::{Running, Shared};
use crate::statistics::Statistics;
use crate::switch::Switch;
use crate::tap::{Tap, Tapped};
use crate::trace::PacketTrace;
use crate::traffic_manager::{CongestionSignal, DepthTimes, QueueStatistics};
use crate::wire::OutputPath;
use control::latency::LatencyModel;
use control::target::{Batch, Outcome, Target, Visibility};
use ir::Program;
use state::{Cells, Configuration};
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

/// A read guard for a device's registers, counters and meters. Other calls of the device and its targets wait until it
/// is dropped.
pub struct CellsView<'d>(Running<'d>, ProgramId);

impl Deref for CellsView<'_> {
    type Target = Cells;

    fn deref(&self) -> &Cells {
        let program = self.0.programs.get(self.1).unwrap_or_else(|| self.0.programs.main());
        program.cells()
    }
}

/// A switch.
#[derive(Debug)]
pub struct Device {
    shared: Arc<Shared>,
    /// The options, completed by the program's architecture.
    options: DeviceOptions,
}

impl Drop for Device {
    fn drop(&mut self) {
        self.shared.inbox.close();
    }
}

impl Device {
    /// Makes a device that runs a program, at time 0. Compiles the program with [`EngineChoice::Jit`].
    pub fn new(program: Arc<Program>, options: DeviceOptions) -> Result<Device, LoadError> {
        Ok(Device::of(Switch::load(program, options, None)?))
    }

    /// Makes another device for this one's main program, with its own state. The devices share machine code unless
    /// their options differ in the drop port or in the smallest number of a port's queues.
    pub fn sharing_code_with(&self, options: DeviceOptions) -> Result<Device, LoadError> {
        let switch = self.switch();
        let like = switch.programs.main();
        let other = Switch::load(like.program().clone(), options, Some(like))?;
        drop(switch);
        Ok(Device::of(other))
    }

    fn of(switch: Switch) -> Device {
        let options = switch.core.options.clone();
        Device { shared: Arc::new(Shared::new(switch)), options }
    }

    /// Takes the lock.
    pub(crate) fn switch(&self) -> Running<'_> {
        self.shared.run()
    }

    /// Returns a target for this device's current main program, usable from any thread.
    pub fn target(&self) -> DeviceTarget {
        self.new_target((TargetProgram::Main, None))
    }

    /// Sets the latency model of controllers' batches from now on. Batches that wait keep their order.
    pub fn set_control_latency(&mut self, model: Option<LatencyModel>) {
        self.options.control_latency.clone_from(&model);
        self.shared.inbox.set_has_latency(model.is_some());
        self.switch().driver.model = model;
    }

    /// Returns a target for a program of this device, usable from any thread; `None` if the program is not loaded. It
    /// receives the notifications of that program.
    pub fn target_of(&self, program: ProgramId) -> Option<DeviceTarget> {
        let switch = self.switch();
        let shared_program =
            switch.programs.get(switch.programs.code_of(program)?)?.shared_program.clone();
        drop(switch);
        Some(self.new_target((TargetProgram::Loaded(program), Some(shared_program))))
    }

    fn new_target(&self, target: (TargetProgram, Option<Arc<SharedProgram>>)) -> DeviceTarget {
        let visibility = match &self.options.control_latency {
            None => Visibility::Moment,
            Some(model) if model.is_atomic => Visibility::Moment,
            Some(_) => Visibility::Items,
        };
        let shared = Arc::downgrade(&self.shared);
        DeviceTarget::new(shared, self.shared.inbox.clone(), target, visibility)
    }

    /// Applies a batch now, through a new target.
    pub fn execute(&self, batch: Batch) -> Outcome {
        self.target().execute(batch)
    }

    /// Returns the engine that runs the blocks.
    pub fn engine_choice(&self) -> EngineChoice {
        self.options.effective_engine()
    }

    /// Returns the engine's name: `jit` or `interpreter`.
    pub fn engine_name(&self) -> &'static str {
        self.engine_choice().name()
    }

    /// Returns the time spent on compilation of the main program so far; `None` with the interpreter. It grows when the
    /// first packet needs further blocks.
    pub fn compile_time(&self) -> Option<Duration> {
        match self.switch().programs.main().engine() {
            Engine::Jit(compiled) => Some(compiled.compile_time()),
            Engine::Interpreter(_) => None,
        }
    }

    /// Returns the number of compilations of the main program so far, by all devices that share its code; 0 with the
    /// interpreter.
    pub fn compilations(&self) -> u64 {
        match self.switch().programs.main().engine() {
            Engine::Jit(compiled) => compiled.code().compilations(),
            Engine::Interpreter(_) => 0,
        }
    }

    /// Returns the size of the main program's machine code so far.
    pub fn code_bytes(&self) -> usize {
        match self.switch().programs.main().engine() {
            Engine::Jit(compiled) => compiled.code_bytes(),
            Engine::Interpreter(_) => 0,
        }
    }

    /// Returns notes for users on what makes the main program slow on its engine, one sentence each.
    pub fn notes(&self) -> Vec<String> {
        let switch = self.switch();
        match (switch.programs.main().engine(), &switch.programs.main().schedule) {
            (Engine::Jit(compiled), _) => compiled.notes().to_vec(),
            (Engine::Interpreter(_), Some(schedule)) => schedule.notes.clone(),
            (Engine::Interpreter(_), None) => Vec::new(),
        }
    }

    /// Returns the main program.
    pub fn program(&self) -> Arc<Program> {
        self.shared.inbox.main.program()
    }

    /// Returns the current version of the main program's configuration.
    pub fn configuration(&self) -> Arc<Configuration> {
        self.shared.inbox.main.configuration()
    }

    /// Returns the number of copies of the forwarding state in memory, including copies that only packets hold.
    pub fn forwarding_copies(&self) -> usize {
        self.switch().programs.main().store.forwarding_copies()
    }

    /// Returns the main program's registers, counters and meters for reading.
    pub fn cells(&self) -> CellsView<'_> {
        let switch = self.switch();
        let main = switch.programs.main_id();
        CellsView(switch, main)
    }

    /// Changes the main program's registers, counters and meters.
    pub fn change_cells<T>(&mut self, change: impl FnOnce(&mut Cells) -> T) -> T {
        let mut switch = self.switch();
        let main = switch.programs.main_id();
        let program = switch.programs.get_mut(main).expect("there is a main program");
        change(program.state_mut().1)
    }

    /// Returns the device's options.
    pub fn options(&self) -> &DeviceOptions {
        &self.options
    }

    /// Returns the device's time in picoseconds.
    pub fn now_ps(&self) -> u64 {
        self.switch().core.now_ps
    }

    /// Returns the largest port number of the architecture.
    pub fn largest_port(&self) -> u32 {
        self.switch().largest_port
    }

    /// Schedules the arrival of a packet at a port; [`Device::advance`] runs it. Packets of one time and port arrive in
    /// the order of the calls. Returns the packet's number, which [`Transmitted::packet`] repeats.
    ///
    /// A time before the device's clock and a port above [`Device::largest_port`] are errors.
    pub fn inject(&mut self, port: u32, time_ps: u64, bytes: Vec<u8>) -> Result<u64, DeviceError> {
        self.switch().inject(port, time_ps, bytes)
    }

    /// Advances the device to the arrival of a packet at a port and runs it, as [`Device::inject`] and then
    /// [`Device::advance`] to that time do; but events of that time whose place is behind the arrivals remain for a later
    /// call, so that other packets may arrive at the same time. Times of calls may not decrease, and ports of calls at
    /// one time neither. Behind its bytes the packet has zeros that are not stored; where the program reads no payload,
    /// the transmitted packet does not store them either. Appends what the device has sent so far to `outputs`.
    pub fn receive(
        &mut self,
        port: u32,
        time_ps: u64,
        bytes: Vec<u8>,
        absent_bytes: u32,
        outputs: &mut Outputs,
    ) -> Result<(), DeviceError> {
        let mut switch = self.switch();
        switch.receive(port, time_ps, (bytes, absent_bytes))?;
        switch.drain_into(outputs);
        Ok(())
    }

    /// [`Device::advance`], and then appends as above.
    pub fn advance_into(
        &mut self,
        until_ps: u64,
        outputs: &mut Outputs,
    ) -> Result<(), DeviceError> {
        let mut switch = self.switch();
        switch.advance(until_ps)?;
        switch.drain_into(outputs);
        Ok(())
    }

    /// Returns the main program's number.
    pub fn program_id(&self) -> ProgramId {
        self.switch().programs.main().name()
    }

    /// Sets the rule by which looped-back packets circulate without the program ([`crate::circulation`]); `None` is no
    /// packet. It applies to packets that are sent from now on.
    /// Devices with a pass limit, with time in their pipelines, with several programs or with traces run the program all
    /// the same.
    pub fn set_circulation_rule(&mut self, rule: Option<Arc<dyn CirculationRule>>) {
        self.switch().set_circulation_rule(rule);
    }

    /// Makes rounds of circulating packets until this time, inclusive, or until something else is next. The clock is then
    /// that of the last round.
    pub fn run_circulation(&mut self, until_ps: u64) {
        self.switch().run_circulation(until_ps);
    }

    /// Returns a time before which nothing happens but rounds of circulating packets, in picoseconds. `None` if nothing
    /// happens.
    pub fn next_effect_ps(&mut self) -> Option<u64> {
        self.switch().next_effect_ps()
    }

    /// Returns the time of the next event, in picoseconds.
    pub fn next_event_ps(&self) -> Option<u64> {
        self.switch().next_event_ps()
    }

    /// Runs all events until this time, inclusive, and sets the clock to it.
    pub fn advance(&mut self, until_ps: u64) -> Result<(), DeviceError> {
        self.switch().advance(until_ps)
    }

    /// Runs until only paused packets are left. Endless trains of generated packets continue as long as there are other
    /// events, or packets that flow control has paused.
    pub fn run_to_completion(&mut self) -> Result<(), DeviceError> {
        self.switch().run_to_completion()
    }

    /// Returns whether packets are in the device. Future packets of endless trains do not count.
    pub fn is_busy(&self) -> bool {
        self.switch().is_busy()
    }

    /// Returns whether [`Device::run_to_completion`] would run an event.
    pub fn has_work(&self) -> bool {
        self.switch().has_work()
    }

    /// Takes the tapped events since the last call, in order; empty unless [`DeviceOptions::tap`] is set.
    pub fn drain_taps(&mut self) -> Vec<Tapped> {
        self.switch().core.tap.as_mut().map_or_else(Vec::new, Tap::take)
    }

    /// Takes the packets transmitted since the last call, in order of time, port and sequence. A packet is listed when
    /// its transmission starts, so its time may be later than the device's.
    pub fn drain_transmitted(&mut self) -> Vec<Transmitted> {
        let mut transmitted = Vec::new();
        self.switch().take_transmitted(&mut transmitted);
        transmitted
    }

    /// Takes the digests since the last call, in order.
    pub fn drain_digests(&mut self) -> Vec<DigestMessage> {
        let mut switch = self.switch();
        switch.publish();
        let digests = std::mem::take(&mut switch.core.digests);
        switch.core.digest_programs.clear();
        switch.forget_published();
        digests
    }

    /// Takes the log lines since the last call, in order.
    pub fn drain_log(&mut self) -> Vec<LogLine> {
        std::mem::take(&mut self.switch().core.log)
    }

    /// Takes the updates of controllers that took effect since the last call, in order; none unless
    /// [`DeviceOptions::records_updates`] is set.
    pub fn drain_updates(&mut self) -> Vec<AppliedUpdate> {
        std::mem::take(&mut self.switch().driver.applied)
    }

    /// Takes the congestion signals since the last call, in order.
    pub fn drain_congestion_signals(&mut self) -> Vec<CongestionSignal> {
        self.switch().core.traffic.drain_signals()
    }

    /// Takes the traces since the last call, one for each received packet with all its passes and copies, bounded as
    /// [`crate::trace`] says; empty unless [`DeviceOptions::trace`] is set. Call it when no packet is in the device: the
    /// rest of an unfinished packet's trace comes as a separate tree.
    pub fn drain_traces(&mut self) -> Vec<PacketTrace> {
        self.switch().core.recorder.as_mut().map_or_else(Vec::new, |recorder| recorder.drain())
    }

    /// Returns the device's counters.
    pub fn statistics(&self) -> Statistics {
        let switch = self.switch();
        let mut statistics = switch.core.statistics.clone();
        switch.core.fast_path.add_to(&mut statistics);
        for (port, (packets, bytes)) in switch.core.traffic.leaving_later(switch.core.now_ps) {
            statistics.not_sent_yet(port, packets, bytes);
        }
        statistics
    }

    /// Returns how many received packets began on the fast path. A low number explains a slow device.
    pub fn fast_path_packets(&self) -> u64 {
        self.switch().core.fast_path.begun()
    }

    /// Pauses a queue of a path, or the whole path. Returns whether the queue exists.
    pub fn pause(&mut self, path: OutputPath, queue: Option<u32>) -> bool {
        let switch = &mut *self.switch();
        switch.core.traffic.set_paused(path, queue, true, switch.core.now_ps)
    }

    /// Resumes a queue of a path, or the whole path. Returns whether the queue exists.
    pub fn resume(&mut self, path: OutputPath, queue: Option<u32>) -> bool {
        let switch = &mut *self.switch();
        switch.core.traffic.set_paused(path, queue, false, switch.core.now_ps)
    }

    /// Schedules a pause or a resumption of a queue, or of a whole path; a time before the clock means now. The device
    /// ignores a queue that does not exist, as it ignores a flow control frame for such a queue.
    pub fn schedule_pause(
        &mut self,
        time_ps: u64,
        path: OutputPath,
        queue: Option<u32>,
        paused: bool,
    ) {
        let core = &mut self.switch().core;
        let time_ps = time_ps.max(core.now_ps);
        core.schedule(time_ps, Event::FlowControl { path, queue, paused });
    }

    /// Returns the statistics of a queue; `None` if it does not exist.
    pub fn queue_statistics(&self, path: OutputPath, queue: u32) -> Option<QueueStatistics> {
        let switch = self.switch();
        switch.core.traffic.queue_statistics(path, queue, switch.core.now_ps)
    }

    /// Returns for how long a queue had how many packets; `None` if it does not exist.
    pub fn queue_depth_times(&self, path: OutputPath, queue: u32) -> Option<DepthTimes> {
        let switch = self.switch();
        switch.core.traffic.depth_times(path, queue, switch.core.now_ps)
    }

    /// Returns the bytes in all queues.
    pub fn buffered_bytes(&self) -> u64 {
        self.switch().core.traffic.buffered_bytes()
    }

    /// Returns the largest number of bytes that all queues held together for any time.
    pub fn peak_buffered_bytes(&self) -> u64 {
        self.switch().core.traffic.peak_buffered_bytes()
    }

    /// Returns the number of packets in a queue.
    pub fn queue_depth(&self, path: OutputPath, queue: u32) -> u32 {
        let core = &self.switch().core;
        core.traffic.depth_packets(path, queue, core.now_ps)
    }

    /// Returns a program's registers, counters and meters for reading; `None` if it is not loaded.
    pub fn cells_of(&self, program: ProgramId) -> Option<CellsView<'_>> {
        let switch = self.switch();
        let code = switch.programs.code_of(program)?;
        Some(CellsView(switch, code))
    }

    /// Notifies controllers that a link of a port came up or went down.
    pub fn note_link(&mut self, port: u32, is_up: bool) {
        self.switch().note_link(port, is_up);
    }

    /// Returns the number of injected packets so far.
    pub(crate) fn receptions(&self) -> u64 {
        self.switch().receptions
    }

    /// Forwards the packets of a burst that no device has taken yet, in order. Each packet arrives at the device's time
    /// and runs to its end, as by [`Device::inject`] and [`Device::run_to_completion`], before the next one arrives.
    /// Transmitted packets are in the burst's outputs, not in [`Device::drain_transmitted`]. After an error another call
    /// forwards the packets behind the failing one.
    ///
    /// Compiled code changes a packet in place, without an allocation or a lock, if the packet goes to one port and that
    /// port has no rate, latency, pause or other cause of waiting.
    pub fn forward(&mut self, burst: &mut Burst) -> Result<(), DeviceError> {
        let mut switch = self.switch();
        let already = burst.sent_count();
        let done = switch.forward(burst);
        switch.publish_burst(burst, already);
        done
    }
}
