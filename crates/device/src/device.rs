// SPDX-License-Identifier: Apache-2.0
//! The device itself: packets in, time forward, packets out, and targets for controllers. A second program
//! can be loaded while the first forwards, and be swapped in between two packets. What happens inside is in
//! `switch`.

use crate::admission::Admission;
use crate::burst::Burst;
use crate::control_request::{Known, TargetProgram};
use crate::control_target::DeviceTarget;
use crate::engine::Engine;
use crate::event::Event;
use crate::executor::Executor;
use crate::loaded_program::LoadedProgram;
use crate::options::{DeviceOptions, EngineChoice};
use crate::output::{DeviceError, DigestMessage, LoadError, LogLine, Transmitted};
use crate::packet::ProgramId;
use crate::pass::{CallerPasses, Pass};
use crate::shared_switch::{Running, Shared};
use crate::statistics::Statistics;
use crate::switch::Switch;
use crate::tap::{Tap, Tapped};
use crate::trace::PacketTrace;
use crate::traffic_manager::{CongestionSignal, QueueStatistics};
use crate::wire::OutputPath;
use control::target::{Batch, Outcome, Target, Visibility};
use ir::Program;
use state::{Cells, Configuration};
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

/// A look at a device's registers, counters and meters. Other calls of the device, and its targets, wait for
/// it to go.
pub struct CellsView<'d>(Running<'d>, ProgramId);

impl Deref for CellsView<'_> {
    type Target = Cells;

    fn deref(&self) -> &Cells {
        let program = self.0.programs.get(self.1).unwrap_or_else(|| self.0.programs.main());
        program.cells()
    }
}

/// A program made ready for a device, on any thread. See [`Device::prepare`].
#[derive(Debug)]
pub struct PreparedProgram(Box<LoadedProgram>);

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

    fn switch(&self) -> Running<'_> {
        self.shared.run()
    }

    /// A controller's access to this device's main program, whichever it is, from any thread.
    pub fn target(&self) -> DeviceTarget {
        self.new_target((TargetProgram::Main, None))
    }

    /// A controller's access to a program of this device, from any thread; `None` where it is not loaded. Its
    /// notifications are those of the program.
    pub fn target_of(&self, program: ProgramId) -> Option<DeviceTarget> {
        let switch = self.switch();
        let known = switch.programs.get(switch.programs.code_of(program)?)?.known.clone();
        drop(switch);
        Some(self.new_target((TargetProgram::Loaded(program), Some(known))))
    }

    fn new_target(&self, of: (TargetProgram, Option<Arc<Known>>)) -> DeviceTarget {
        let visibility = match &self.options.control_latency {
            None => Visibility::Moment,
            Some(model) if model.is_atomic => Visibility::Moment,
            Some(_) => Visibility::Items,
        };
        let shared = Arc::downgrade(&self.shared);
        DeviceTarget::new(shared, self.shared.entry.clone(), of, visibility)
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
        match self.switch().programs.main().engine() {
            Engine::Jit(compiled) => Some(compiled.compile_time()),
            Engine::Interpreter(_) => None,
        }
    }

    /// How often code of the current program was compiled so far, for all devices that share it; 0 with the
    /// interpreter.
    pub fn compilations(&self) -> u64 {
        match self.switch().programs.main().engine() {
            Engine::Jit(compiled) => compiled.code().compilations(),
            Engine::Interpreter(_) => 0,
        }
    }

    /// Bytes of machine code of the current program so far.
    pub fn code_bytes(&self) -> usize {
        match self.switch().programs.main().engine() {
            Engine::Jit(compiled) => compiled.code_bytes(),
            Engine::Interpreter(_) => 0,
        }
    }

    /// What keeps the current program from being as fast on its engine as can be, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        let switch = self.switch();
        match (switch.programs.main().engine(), &switch.programs.main().schedule) {
            (Engine::Jit(compiled), _) => compiled.notes().to_vec(),
            (Engine::Interpreter(_), Some(schedule)) => schedule.notes.clone(),
            (Engine::Interpreter(_), None) => Vec::new(),
        }
    }

    /// The program that new packets meet.
    pub fn program(&self) -> Arc<Program> {
        self.shared.entry.main.program()
    }

    /// The current version of its configuration, to read it.
    pub fn configuration(&self) -> Arc<Configuration> {
        self.shared.entry.main.configuration()
    }

    /// Copies of the forwarding side in memory, those included that only packets hold. For watching memory.
    pub fn forwarding_copies(&self) -> usize {
        self.switch().programs.main().store.forwarding_copies()
    }

    /// Its registers, counters and meters, to read them.
    pub fn cells(&self) -> CellsView<'_> {
        let switch = self.switch();
        let main = switch.programs.main_id();
        CellsView(switch, main)
    }

    /// How it was built.
    pub fn options(&self) -> &DeviceOptions {
        &self.options
    }

    /// The device's time in picoseconds.
    pub fn now_ps(&self) -> u64 {
        self.switch().core.now_ps
    }

    /// The largest port that the architecture has bits for.
    pub fn largest_port(&self) -> u32 {
        self.switch().largest_port
    }

    /// A packet will arrive at a port at a time, to be run by [`Device::advance`]. Packets of one
    /// time and port arrive in the order of the calls. Returns its number, which
    /// [`Transmitted::packet`] names.
    ///
    /// A time that is over and a port whose number the architecture has no bits for are errors.
    pub fn inject(&mut self, port: u32, time_ps: u64, bytes: Vec<u8>) -> Result<u64, DeviceError> {
        self.switch().inject(port, time_ps, bytes)
    }

    /// A packet arrives at a port at a time, and its pass through ingress is given to the caller when it begins.
    /// The device comes to that time first, with all that is due until then. `None`: the packet ended before
    /// its pass (at the port's MAC, by the pass limit), or it waits for ingress
    /// ([`DeviceOptions::ingress_interval_ps`]) and the device runs it when its turn comes, unless
    /// [`Device::give_passes`] says otherwise. Errors are those of [`Device::inject`].
    ///
    /// [`Executor`]s run the pass's blocks, here or on other threads; [`Device::finish`] finishes it. Until then it
    /// pins its version of the configuration ([`state::Store::MOST_PINNED_VERSIONS`]).
    pub fn begin(
        &mut self,
        port: u32,
        time_ps: u64,
        bytes: Vec<u8>,
    ) -> Result<Option<Pass>, DeviceError> {
        self.switch().begin(port, time_ps, bytes)
    }

    /// Says which passes the device gives to its caller from now on in place of running them, at the times at
    /// which it would run them. [`Device::take_passes`] has them.
    pub fn give_passes(&mut self, passes: CallerPasses) {
        self.switch().core.caller_passes = passes;
    }

    /// Passes that have begun for the caller since the last call, in the order in which they began.
    pub fn take_passes(&mut self) -> Vec<Pass> {
        std::mem::take(&mut self.switch().core.handed_out)
    }

    /// Finishes a pass at the device's time, as if its last block had ended now: makes clones and copies, sends
    /// digests, queues the packet or sends it. Passes are finished in the order of the calls. A pass that has
    /// ended is counted as dropped. [`DeviceOptions::ingress_latency_ps`] comes on top of the time that the
    /// caller took. A pass of another device is an error.
    pub fn finish(&mut self, pass: Pass) -> Result<(), DeviceError> {
        self.switch().finish(pass)
    }

    /// Makes another pass of one: the packet's bytes, headers, metadata and configuration are those of the pass
    /// as it is now; its number is the next of the packet. `None` for a pass of another device, and for one
    /// too many ([`DeviceOptions::pass_limit`]), which is counted as dropped.
    pub fn fork(&mut self, pass: &Pass) -> Option<Pass> {
        self.switch().fork(pass)
    }

    /// A further pipeline instance of a loaded program, with registers, counters and meters of its own in their
    /// initial state. It shares the program's code and runs passes on the configurations that they began with.
    pub fn executor(&self, program: ProgramId) -> Option<Executor> {
        let switch = self.switch();
        let code = switch.programs.code_of(program)?;
        switch.programs.get(code).map(|program| program.executor.sharing_code())
    }

    /// The main program, by number.
    pub fn program_id(&self) -> ProgramId {
        self.switch().programs.main().name()
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
        self.switch().core.tap.as_mut().map_or_else(Vec::new, Tap::take)
    }

    /// Packets that left since the last call, in order of time, port and sequence. A packet is
    /// listed as soon as it starts on the wire, so its time may lie ahead of the device's.
    pub fn drain_transmitted(&mut self) -> Vec<Transmitted> {
        let mut switch = self.switch();
        switch.publish();
        let mut transmitted = std::mem::take(&mut switch.core.transmitted);
        switch.core.cpu_packets.clear();
        switch.forget_published();
        drop(switch);
        transmitted.sort_by_key(|packet| (packet.time_ps, packet.port, packet.sequence));
        transmitted
    }

    /// Digests since the last call, in order.
    pub fn drain_digests(&mut self) -> Vec<DigestMessage> {
        let mut switch = self.switch();
        switch.publish();
        let digests = std::mem::take(&mut switch.core.digests);
        switch.core.digest_programs.clear();
        switch.forget_published();
        digests
    }

    /// Lines written to the log since the last call, in order.
    pub fn drain_log(&mut self) -> Vec<LogLine> {
        std::mem::take(&mut self.switch().core.log)
    }

    /// Congestion signals since the last call, in order.
    pub fn drain_congestion_signals(&mut self) -> Vec<CongestionSignal> {
        self.switch().core.traffic.drain_signals()
    }

    /// Traces since the last call, one a received packet with all its passes and copies, bounded as
    /// [`crate::trace`] says; empty unless [`DeviceOptions::trace`] is set. To be called when no
    /// packet is under way, else the rest of a packet's trace comes as a tree of its own.
    pub fn drain_traces(&mut self) -> Vec<PacketTrace> {
        self.switch().core.recorder.as_mut().map_or_else(Vec::new, |recorder| recorder.drain())
    }

    /// What was counted so far.
    pub fn statistics(&self) -> Statistics {
        let switch = self.switch();
        let mut statistics = switch.core.statistics.clone();
        switch.core.fast_path.add_to(&mut statistics);
        statistics
    }

    /// How many of the packets that came in began on the fast path. A low number explains a slow device.
    pub fn fast_path_packets(&self) -> u64 {
        self.switch().core.fast_path.begun()
    }

    /// Pauses a queue of a path, or the path. Returns whether the queue exists.
    pub fn pause(&mut self, path: OutputPath, queue: Option<u32>) -> bool {
        let switch = &mut *self.switch();
        switch.core.traffic.set_paused(path, queue, true, switch.core.now_ps)
    }

    /// Lets a paused queue, or path, go on. Returns whether the queue exists.
    pub fn resume(&mut self, path: OutputPath, queue: Option<u32>) -> bool {
        let switch = &mut *self.switch();
        switch.core.traffic.set_paused(path, queue, false, switch.core.now_ps)
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
        let core = &mut self.switch().core;
        let time_ps = time_ps.max(core.now_ps);
        core.schedule(time_ps, Event::FlowControl { path, queue, paused });
    }

    /// What is known of a queue; `None` when it does not exist.
    pub fn queue_statistics(&self, path: OutputPath, queue: u32) -> Option<QueueStatistics> {
        let switch = self.switch();
        switch.core.traffic.queue_statistics(path, queue, switch.core.now_ps)
    }

    /// Bytes that all queues hold together now.
    pub fn buffered_bytes(&self) -> u64 {
        self.switch().core.traffic.buffered_bytes()
    }

    /// The most bytes that all queues together held for any time.
    pub fn most_buffered_bytes(&self) -> u64 {
        self.switch().core.traffic.most_buffered_bytes()
    }

    /// Packets waiting in a queue.
    pub fn queue_depth(&self, path: OutputPath, queue: u32) -> u32 {
        self.switch().core.traffic.depth_packets(path, queue)
    }

    /// How many programs are loaded: the current one, one that waits, and those whose last packets
    /// are still under way.
    pub fn loaded_programs(&self) -> usize {
        self.switch().loaded_programs()
    }

    /// Makes a program ready for this device, on any thread: with [`EngineChoice::Jit`] it is compiled here.
    pub fn prepare(
        program: Arc<Program>,
        options: &DeviceOptions,
    ) -> Result<PreparedProgram, LoadError> {
        Ok(PreparedProgram(Box::new(LoadedProgram::load(program, options, None)?)))
    }

    /// Loads a program beside the others, with state of its own as the program says. Packets meet it when a rule
    /// says so ([`Device::admit`]). With [`EngineChoice::Jit`] it is compiled here. Ports, queues and the
    /// options are those of the device.
    pub fn load(&mut self, program: Arc<Program>) -> Result<ProgramId, LoadError> {
        let mut switch = self.switch();
        let loaded = LoadedProgram::load(program, &self.options, Some(switch.programs.main()))?;
        Ok(switch.add_program(loaded))
    }

    /// The same for a program that was made ready before, with these or equal options.
    pub fn load_prepared(&mut self, program: PreparedProgram) -> ProgramId {
        self.switch().add_program(*program.0)
    }

    /// Unloads a program: it goes when the last packet that entered it has left. The main program, and one that
    /// the admission rule names, stays, and that is an error.
    pub fn unload(&mut self, program: ProgramId) -> Result<(), LoadError> {
        self.switch().unload(program)
    }

    /// Changes the rule by which packets meet programs, at once and as a whole. A packet is asked for when
    /// ingress takes it that came by a port, by a loopback port, or from the packet generator; its clones and
    /// copies, and it itself when it is resubmitted or recirculated, stay with the program. The program of
    /// [`Admission::otherwise`] becomes the main program, which [`Device::target`], [`Device::program`],
    /// [`Device::cells`] and [`Device::swap`] are about; where that is no program, it stays as it is. Programs
    /// that are not loaded are an error.
    pub fn admit(&mut self, admission: Admission) -> Result<(), LoadError> {
        self.switch().admit(admission)
    }

    /// The rule by which packets meet programs. At first all meet the program that the device was made with.
    pub fn admission(&self) -> Admission {
        self.switch().admission.clone()
    }

    /// Replaces the code of a program: the next pass runs on that of another program, whose tables, actions,
    /// registers and so on are equal, while entries and cells stay. Packets under way end on the code that they
    /// began with, and so do passes that a caller runs; for those of the new code it needs new executors. What
    /// differs, if something does, is in the error.
    pub fn replace_code(
        &mut self,
        program: ProgramId,
        code: PreparedProgram,
    ) -> Result<(), LoadError> {
        self.switch().replace_code(program, *code.0)
    }

    /// Registers, counters and meters of a program, to read them; `None` where it is not loaded.
    pub fn cells_of(&self, program: ProgramId) -> Option<CellsView<'_>> {
        let switch = self.switch();
        let code = switch.programs.code_of(program)?;
        Some(CellsView(switch, code))
    }

    /// Loads a second program beside the main one, in place of one loaded before and not
    /// swapped in. Its state starts as the program says. With [`EngineChoice::Jit`] it is compiled here.
    pub fn load_second(&mut self, program: Arc<Program>) -> Result<(), LoadError> {
        let mut switch = self.switch();
        let second = LoadedProgram::load(program, &self.options, Some(switch.programs.main()))?;
        switch.take_second(second);
        Ok(())
    }

    /// The same for a program that was made ready before, with these or equal options.
    pub fn take_second(&mut self, program: PreparedProgram) {
        self.switch().take_second(*program.0);
    }

    /// Swaps the second program in: it becomes the main program, the admission rule names it in place of the one
    /// before, and the next packet from a port meets it. Packets under way, resubmitted and recirculated ones too, end with the program that they began with. State of equal
    /// name and shape goes over as [`state::carry`] says: registers, counters, meters, and entries where
    /// the second program's tables are as the program gave them. Returns whether there was a second
    /// program.
    pub fn swap(&mut self) -> bool {
        self.switch().swap()
    }

    /// Tells controllers that listen that a link of a port came up or went down.
    pub fn note_link(&mut self, port: u32, is_up: bool) {
        self.switch().note_link(port, is_up);
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
