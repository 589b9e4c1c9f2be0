// SPDX-License-Identifier: Apache-2.0
//! Histories: passes that take time, a driver that applies one operation after the other, random reactions, legacy updates
//! and traffic. Nothing here knows versions. `log` has what controllers wrote.

use super::broken_map::{self, BrokenMap};
use super::driver::{self, Driver};
use super::legacy::Legacy;
use super::log::{CellWrite, Commit, Logged, SharedLog, lock};
use crate::generated::{Target as Architecture, packet};
use crate::script::{Call, Script};
use control::latency::{BarrierKind, LatencyModel};
use control::map::{Mapped, Translation, Virtual};
use control::target::{Batch, Outcome, Target, Ticket};
use device::{Device, DeviceOptions, DeviceTarget, EngineChoice, PassTiming};
use ir::{Bits, Program, RegisterId, TableId};
use react::agent::{self, Agent, AgentOptions};
use react::compiler::CompiledProgram;
use react::map::MalleableMap;
use state::{Atomicity, CellRange, Configuration, Read, Reply, Update};
use std::sync::{Arc, Mutex};
use testing::Choices;

/// From one stage to the next.
const STAGE_PS: u64 = 100_000;

/// Packets of a history.
pub const PACKETS: u16 = 80;

/// A mistake of a legacy controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LegacyMistake {
    /// None.
    #[default]
    None,
    /// Rows are written one after the other beside the map.
    CopyByCopy,
    /// The master entry is written beside the map.
    Master,
    /// Registers are written beside the map.
    Registers,
}

/// Which part has which mistake.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mistakes {
    pub map: broken_map::Mistake,
    pub driver: driver::Mistake,
    pub agent: agent::Mistake,
    pub legacy: LegacyMistake,
}

/// A packet on its way.
#[derive(Clone, Debug)]
pub struct Passed {
    pub bytes: Vec<u8>,
    pub arrived_ps: u64,
    pub left: Option<(u64, Vec<u8>)>,
}

/// What happened.
pub struct History {
    pub packets: Vec<Passed>,
    pub commits: Vec<Commit>,
    pub cells: Vec<CellWrite>,
    pub calls: Vec<Call>,
    /// The measured register at the beginning and at the end.
    pub registers: [Vec<u64>; 2],
    /// Packets by the direct counters of all entries and of the default action of a table.
    pub counted: Vec<(TableId, u64)>,
    /// Legacy updates that waited for other plans and continue on errors, so that those that wait together are one commit.
    pub waiting: usize,
}

fn model(choices: &mut Choices) -> LatencyModel {
    let item_ps = [40_000, 150_000, 500_000][choices.below(3)];
    LatencyModel { barrier: BarrierKind::Counted, ..LatencyModel::per_item(item_ps) }
}

type Below = Arc<Mutex<Mapped<Virtual<BrokenMap>>>>;

/// Writes of a legacy controller that go on.
struct LegacyWrites {
    controller: Legacy,
    mistake: LegacyMistake,
    /// Its target, with what it asked there.
    target: Logged<Below>,
    asked: Vec<Ticket>,
    /// Its way beside the map, with the commits that it made there by their places in the log.
    beside: DeviceTarget,
    asked_beside: Vec<(usize, Vec<Ticket>)>,
    /// What is written beside the map when no plan runs.
    waiting: Option<Update>,
    /// The master entry as written with its handle as run.
    master: Option<(TableId, TableId)>,
    /// Updates so far; one of four may be undone, the others continue on errors.
    updates: usize,
    waited: usize,
}

impl LegacyWrites {
    /// Takes answers; returns whether there are more to come.
    fn take_answers(&mut self, now_ps: u64) -> bool {
        let target = &mut self.target;
        self.asked.retain(|ticket| target.poll(*ticket).is_none());
        let (beside, log) = (&mut self.beside, &self.target.log);
        self.asked_beside.retain_mut(|(at, tickets)| {
            tickets.retain(|ticket| beside.poll(*ticket).is_none());
            if tickets.is_empty() {
                let commit = &mut lock(log).commits[*at];
                (commit.known_ps, commit.is_ok) = (Some(now_ps), true);
            }
            !tickets.is_empty()
        });
        !self.asked.is_empty() || !self.asked_beside.is_empty()
    }

    /// Begins another write if one is due.
    fn go_on(&mut self, device: &Device) {
        let now_ps = device.now_ps();
        let is_free = self.asked_beside.is_empty() && lock(&self.target.target).backlog() == (0, 0);
        if is_free && let Some(update) = self.waiting.take() {
            match self.mistake {
                LegacyMistake::Master => self.write_master(device),
                _ => self.write_copies(&update, now_ps),
            }
        }
        if !self.controller.is_due() {
            return;
        }
        if self.controller.writes_register() {
            let (cell, value, update) = self.controller.register_write();
            if self.mistake == LegacyMistake::Registers {
                self.write_cell_beside(cell, value, update, now_ps);
            } else {
                let ticket = self.target.submit(Batch::one(update), now_ps);
                self.asked.push(ticket);
            }
            return;
        }
        let update = self.controller.table_update();
        match self.mistake {
            LegacyMistake::CopyByCopy | LegacyMistake::Master if self.waiting.is_none() => {
                self.waiting = Some(update);
            }
            _ => {
                self.updates += 1;
                let atomicity = match self.updates.is_multiple_of(4) {
                    true => Atomicity::RollbackOnError,
                    false => Atomicity::ContinueOnError,
                };
                let batch = Batch::one(update).with(atomicity);
                self.asked.push(self.target.submit(batch, now_ps));
                let (_, waiting) = lock(&self.target.target).backlog();
                self.waited += usize::from(atomicity == Atomicity::ContinueOnError && waiting > 0);
            }
        }
    }

    fn write_cell_beside(&mut self, cell: u64, value: u64, update: Update, now_ps: u64) {
        let register = self.beside.program();
        let register = register.registers.iter().position(|array| array.name.ends_with("I.r"));
        let register = RegisterId(register.expect("the register of all programs") as u32);
        let Update::WriteRegister { cells, values, .. } = update else { return };
        let update = Update::WriteRegister { register, cells, values };
        let ticket = self.beside.submit(Batch::one(update), now_ps);
        let known_ps = Some(now_ps + 20 * STAGE_PS);
        let write = CellWrite { cell, value, submitted_ps: now_ps, known_ps, ticket };
        lock(&self.target.log).cells.push(write);
    }

    /// Writes the rows of an update one after the other, those that packets match first.
    fn write_copies(&mut self, update: &Update, now_ps: u64) {
        let (mut map, before) = {
            let mapped = lock(&self.target.target);
            (mapped.map().translation().map.clone(), mapped.map().configuration())
        };
        // What the update needs of entries must be there.
        let exists = match update {
            Update::ModifyEntry { table, entry } => {
                before.entry_handle(*table, &entry.keys, entry.priority).is_ok()
            }
            Update::SetDefaultAction { .. } => true,
            _ => false,
        };
        let Some(mut items) = map.update(update, &before).ok().filter(|_| exists) else { return };
        items.sort_by_key(|item| std::cmp::Reverse(item.phase));
        let mut tickets = Vec::new();
        for (at, one) in items.into_iter().enumerate() {
            let at_ps = now_ps + 1 + at as u64 * 40 * STAGE_PS;
            tickets.push(self.beside.submit(Batch::one(one.item), at_ps));
        }
        self.log_beside(Batch::one(update.clone()), tickets, now_ps);
    }

    /// Writes a value into the master entry.
    fn write_master(&mut self, device: &Device) {
        let now_ps = device.now_ps();
        let Some((written, run)) = self.master else { return };
        let changed = |configuration: &Configuration, table: TableId| {
            let mut bound = configuration.table(table)?.default_action().action.clone();
            let program = configuration.program();
            let parameters = &program.actions[bound.action.index()].parameters;
            let at = parameters.iter().position(|parameter| &*parameter.name == "v0")?;
            let value = &mut bound.arguments[at];
            *value = Bits::from_u64(value.width_bits(), 3 ^ value.low_u64());
            Some(Batch::one(Update::SetDefaultAction { table, action: Some(bound) }))
        };
        let above = lock(&self.target.target).map().configuration();
        let batches = (changed(&above, written), changed(&device.configuration(), run));
        if let (Some(batch), Some(below)) = batches {
            let ticket = self.beside.submit(below, now_ps);
            self.log_beside(batch, vec![ticket], now_ps);
        }
    }

    fn log_beside(&mut self, batch: Batch, tickets: Vec<Ticket>, submitted_ps: u64) {
        let mut log = lock(&self.target.log);
        self.asked_beside.push((log.commits.len(), tickets));
        let (known_ps, is_ok, is_agent, ticket) = (None, true, false, None);
        log.commits.push(Commit { batch, submitted_ps, known_ps, is_ok, is_agent, ticket });
    }
}

/// The cells of the measured register of a device.
fn register_of(device: &Device, program: &Program) -> Vec<u64> {
    let at = program.registers.iter().position(|register| register.name.ends_with("I.r"));
    let register = RegisterId(at.expect("the register of all programs") as u32);
    match device
        .execute(Batch::one(Read::Register { register, cells: CellRange::all() }))
        .into_reply()
    {
        Ok(Reply::Registers(values)) => values.iter().map(Bits::low_u64).collect(),
        other => panic!("{other:?}"),
    }
}

/// The packets that the direct counters of each table counted.
pub fn counted(
    program: &Program,
    mut execute: impl FnMut(Batch) -> Outcome,
) -> Vec<(TableId, u64)> {
    let tables = program.tables.iter().enumerate();
    let counters = tables.flat_map(|(at, table)| {
        table.direct_counters.iter().map(move |counter| (TableId(at as u32), *counter))
    });
    let sum = |(table, counter)| {
        let read = Read::DirectCounter { counter, entry: None };
        match execute(Batch::one(read)).into_reply() {
            Ok(Reply::DirectCounters(list)) => {
                (table, list.iter().map(|(_, value)| value.packets).sum())
            }
            // Rows are missing, where something is broken.
            _ => (table, u64::MAX),
        }
    };
    counters.map(sum).collect()
}

/// A device with map, agent and legacy controller.
struct Setting {
    device: Device,
    agent: Agent,
    target: Logged<Below>,
    legacy: LegacyWrites,
    calls: crate::script::Calls,
    log: SharedLog,
    next_ps: u64,
    before: Vec<u64>,
}

impl Setting {
    fn new(
        compiled: &CompiledProgram,
        seed: u64,
        mistakes: Mistakes,
        architecture: Architecture,
    ) -> Setting {
        let options = DeviceOptions {
            engine: EngineChoice::Interpreter,
            pass_timing: Some(PassTiming { stage_ps: STAGE_PS, ..PassTiming::default() }),
            ..DeviceOptions::default()
        };
        let device = Device::new(compiled.run.program().clone(), options).expect("it loads");
        let mut below = device.target();
        let (written, run) = (compiled.written.program().clone(), below.program());
        let map = MalleableMap::new(&compiled.plan, written.clone(), run.clone());
        let map = map.expect("all objects are there");
        let legacy_writes = map.legacy_writes();
        assert_eq!(below.execute(map.prologue()).first_fault(), None);
        let map = BrokenMap::new(map, &compiled.plan, &run, mistakes.map);
        let state = Virtual::new(map).expect("the program is whole");
        let driver = Driver::new(Box::new(below), seed, mistakes.driver);
        let mapped = Arc::new(Mutex::new(Mapped::new(state, vec![Box::new(driver)])));
        let log = SharedLog::default();
        let logged = |is_agent| Logged { target: mapped.clone(), log: log.clone(), is_agent };
        let mut controller = Legacy::new(written.clone(), seed, architecture);
        // The register has values before the agent comes.
        for _ in 0..4 {
            let (_, _, update) = controller.register_write();
            assert_eq!(lock(&mapped).execute(Batch::one(update)).first_fault(), None);
        }
        let before = register_of(&device, &run);
        let (script, calls) = Script::new(&compiled.interface, seed);
        let agent = Agent::new(compiled, Box::new(script), legacy_writes, AgentOptions::default());
        let mut agent = agent.expect("all objects are there").with_mistake(mistakes.agent);
        let mut target = logged(true);
        let next_ps = agent.prologue(&mut target).expect("it begins").expect("it reacts");
        let init = compiled.plan.pipelines.iter().find_map(|pipeline| pipeline.inits.first());
        let place = |program: &Program, name: &Arc<str>| {
            let at = program.tables.iter().position(|table| table.name == *name)?;
            Some(TableId(at as u32))
        };
        let master =
            init.and_then(|init| Some((place(&written, &init.table)?, place(&run, &init.table)?)));
        let legacy = LegacyWrites {
            controller,
            mistake: mistakes.legacy,
            target: logged(false),
            asked: Vec::new(),
            beside: device.target(),
            asked_beside: Vec::new(),
            waiting: None,
            master,
            updates: 0,
            waited: 0,
        };
        Setting { device, agent, target, legacy, calls, log, next_ps, before }
    }

    /// Takes the packets that left.
    fn take(&mut self, packets: &mut [Passed]) {
        for sent in self.device.drain_transmitted() {
            let id = usize::from(u16::from_be_bytes([sent.bytes[0], sent.bytes[1]]));
            packets[id].left = Some((sent.time_ps, sent.bytes.clone()));
        }
    }

    fn end(mut self, packets: Vec<Passed>) -> History {
        self.device.set_control_latency(None);
        let after = register_of(&self.device, &self.device.program());
        let counted = counted(&self.target.program(), |batch| self.target.execute(batch));
        let log = std::mem::take(&mut *lock(&self.log));
        let calls = lock(&self.calls).clone();
        let registers = [self.before, after];
        let (commits, cells, waiting) = (log.commits, log.cells, self.legacy.waited);
        History { packets, commits, cells, calls, registers, counted, waiting }
    }
}

/// Runs a program for a while.
pub fn history(
    compiled: &CompiledProgram,
    seed: u64,
    mistakes: Mistakes,
    architecture: Architecture,
) -> History {
    let mut setting = Setting::new(compiled, seed, mistakes, architecture);
    let mut choices = Choices::from_seed(seed ^ 0x150_1a7e);
    setting.device.set_control_latency(Some(model(&mut choices)));
    let mut packets: Vec<Passed> = Vec::new();
    let mut arrival_ps = STAGE_PS;
    // Calls of `round` since the last packet and since the last legacy write.
    let (mut after_last, mut after_legacy) = (0, 0);
    while packets.len() < usize::from(PACKETS) || after_legacy < 100 {
        let has_more = packets.len() < usize::from(PACKETS);
        if has_more && arrival_ps <= setting.next_ps {
            setting.device.advance(arrival_ps).expect("it runs");
            let bytes = packet(&mut choices, packets.len() as u16);
            packets.push(Passed { bytes: bytes.clone(), arrived_ps: arrival_ps, left: None });
            setting.device.inject(0, arrival_ps, bytes).expect("it is taken");
            // Now and then nothing arrives for a while, so that copies get old.
            let spacing = match choices.one_in(12) {
                true => 40 * STAGE_PS,
                false => (choices.below(8) as u64) * STAGE_PS / 2,
            };
            arrival_ps += spacing + 1;
        } else {
            after_last += u64::from(!has_more);
            setting.device.advance(setting.next_ps).expect("it runs");
            let next = setting.agent.round(&mut setting.target);
            setting.next_ps = next.expect("it reacts").expect("it goes on");
        }
        if after_last < 50 {
            setting.legacy.go_on(&setting.device);
        }
        // The last dialogues see what the legacy controller did.
        let goes_on = setting.legacy.take_answers(setting.device.now_ps()) || after_last < 50;
        after_legacy = if goes_on { 0 } else { after_legacy + 1 };
        setting.take(&mut packets);
    }
    setting.device.advance(setting.next_ps + 100 * STAGE_PS).expect("it runs");
    setting.take(&mut packets);
    setting.end(packets)
}
