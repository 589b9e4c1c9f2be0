// SPDX-License-Identifier: Apache-2.0
//! [`IrWork`]: a control in stages as [`Work`]: packets are contexts of the interpreter, each pipeline has its own cells.

use crate::staged::StagedControl;
use crate::work::{Access, Comparable, Group, StageOutcome, Work};
use interpreter::random::RandomKey;
use interpreter::{Environment, ExternCall, Interpreter, Outcome, PacketContext};
use ir::{Bits, CounterId};
use state::{Cells, Configuration};
use std::sync::Arc;

/// A packet in flight.
#[derive(Clone, Debug)]
pub struct IrPacket {
    /// Its slots, bytes and requests.
    pub context: PacketContext,
    /// The time of its arrival, which it keeps for the whole pass, in picoseconds.
    pub time_ps: u64,
    /// Its length in bytes.
    pub length_bytes: u64,
    /// The key of its random numbers.
    pub random_key: RandomKey,
    /// What it was when it arrived, with the answers of the code in front.
    front: Option<Box<PacketContext>>,
    /// The groups of its resolved accesses.
    resolved: Vec<u32>,
}

impl IrPacket {
    /// A packet at the beginning of the control.
    pub fn new(
        context: PacketContext,
        time_ps: u64,
        length_bytes: u64,
        random_key: RandomKey,
    ) -> IrPacket {
        IrPacket { context, time_ps, length_bytes, random_key, front: None, resolved: Vec::new() }
    }
}

/// A control in stages, with the cells of all pipelines.
#[derive(Clone, Debug)]
pub struct IrWork {
    control: Arc<StagedControl>,
    groups: Vec<Group>,
    stages: Interpreter,
    front: Interpreter,
    configuration: Arc<Configuration>,
    cells: Vec<Cells>,
    /// What the code in front reads; nobody reads what it counts.
    front_cells: Cells,
    failure: Option<String>,
}

impl IrWork {
    /// A control on several pipelines, all of whose cells have these values.
    pub fn new(
        control: Arc<StagedControl>,
        configuration: Arc<Configuration>,
        cells: &Cells,
        pipelines: usize,
    ) -> IrWork {
        let groups = control.groups.iter().map(|group| Group {
            name: group.name.clone(),
            stage: group.stage,
            cells: group.cells,
        });
        IrWork {
            groups: groups.collect(),
            stages: Interpreter::new(control.program.clone()),
            front: Interpreter::new(control.front.clone()),
            configuration,
            cells: vec![cells.clone(); pipelines],
            front_cells: cells.clone(),
            failure: None,
            control,
        }
    }

    /// An interpreter of the program in stages, for blocks in front of and behind the control.
    pub fn interpreter(&self) -> &Interpreter {
        &self.stages
    }

    /// The tables, and the cells of a pipeline, for blocks that access no registers.
    pub fn outside(&mut self) -> (&Configuration, &mut Cells) {
        (&*self.configuration, &mut self.cells[0])
    }

    /// Why a block did not run to its end, if one did not: an assertion or an extern.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Returns the cells of the program: each cell of a group from the pipeline where it is active, counters summed. `map` has
    /// the pipeline of each cell by group.
    pub fn cells(&self, map: &[Vec<u8>]) -> Cells {
        let mut all = self.cells[0].clone();
        for (group, cells) in self.control.groups.iter().zip(map) {
            for (cell, pipeline) in cells.iter().enumerate() {
                let from = &self.cells[usize::from(*pipeline)];
                copy(group, cell as u64, from, &mut all);
            }
        }
        for counter in 0..self.control.program.counters.len() {
            let counter = CounterId(counter as u32);
            for index in 0..all.counter_size(counter) {
                let counts = self.cells.iter().filter_map(|cells| cells.counter(counter, index));
                let sum = counts.fold(Default::default(), |mut sum: state::CounterValue, one| {
                    sum.packets = sum.packets.wrapping_add(one.packets);
                    sum.bytes = sum.bytes.wrapping_add(one.bytes);
                    sum
                });
                all.set_counter(counter, index, sum);
            }
        }
        all
    }
}

/// Copies a cell of all registers of a group; all cells of a group that is not sharded.
fn copy(group: &crate::staged::StagedGroup, cell: u64, from: &Cells, to: &mut Cells) {
    for register in &group.registers {
        let (Some(from), Some(to)) = (from.register(*register), to.register_mut(*register)) else {
            continue;
        };
        let cells = if group.is_sharded { cell..cell + 1 } else { 0..from.size() };
        for index in cells {
            if let Some(value) = from.read(index) {
                to.write(index, value);
            }
        }
    }
}

/// The services for a packet: everything is as at its arrival.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    time_ps: u64,
    length_bytes: u64,
    random_key: RandomKey,
}

impl Environment for Arrived {
    fn now_ps(&self) -> u64 {
        self.time_ps
    }

    fn packet_length_bytes(&self) -> u64 {
        self.length_bytes
    }

    fn random_key(&self) -> RandomKey {
        self.random_key
    }

    fn log_line(&mut self, _: &str) {}

    fn call_extern(&mut self, call: ExternCall<'_>) -> Result<Vec<Bits>, String> {
        Err(format!("`{}` has no provider here", call.declaration.type_name))
    }
}

/// Runs a block. Returns why it did not end as blocks do.
fn run_block(
    engine: &Interpreter,
    block: usize,
    packet: (&mut PacketContext, Arrived),
    (configuration, cells): (&Configuration, &mut Cells),
) -> Option<String> {
    let (context, mut arrived) = packet;
    match engine.run_block(block, context, configuration, cells, &mut arrived, None) {
        Outcome::Returned | Outcome::Exited | Outcome::Rejected(_) => None,
        Outcome::StepLimit => Some("a block takes too many steps".to_string()),
        Outcome::AssertionFailed { .. } => Some("an assertion does not hold".to_string()),
        Outcome::ExternFailed { message, .. } => Some(message),
    }
}

impl Work for IrWork {
    type Packet = IrPacket;

    fn stages(&self) -> usize {
        self.control.stages.len()
    }

    fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn resolve(&mut self, packet: &mut IrPacket, accesses: &mut Vec<Access>) {
        let mut front = Box::new(packet.context.clone());
        let arrived = packet.arrived();
        let state = (&*self.configuration, &mut self.front_cells);
        let failed = run_block(&self.front, self.control.resolution, (&mut front, arrived), state);
        self.failure = self.failure.take().or(failed);
        packet.resolved.clear();
        for (at, group) in (0..).zip(&self.control.groups) {
            if front.flag(group.slots.happens) {
                let cell = group.slots.index.map_or(0, |slot| front.number(slot) as u32);
                accesses.push(Access { group: at, cell });
                packet.resolved.push(at);
            }
        }
        packet.front = Some(front);
    }

    fn run(&mut self, stage: usize, pipeline: usize, packet: &mut IrPacket) -> StageOutcome {
        let control = &self.control;
        let arrived = packet.arrived();
        let state = (&*self.configuration, &mut self.cells[pipeline]);
        let block = control.stages[stage];
        let mut failed = run_block(&self.stages, block, (&mut packet.context, arrived), state);
        let mut outcome = StageOutcome::default();
        for (entry, group) in packet.resolved.iter().enumerate() {
            let Some(decision) = control.groups[*group as usize].decision else { continue };
            if decision.after != stage {
                continue;
            }
            let Some(front) = &mut packet.front else { continue };
            for slot in &control.reads {
                front.set_slot(*slot, &packet.context.value(*slot));
            }
            let state = (&*self.configuration, &mut self.front_cells);
            let found = run_block(&self.front, decision.block, (front.as_mut(), arrived), state);
            failed = failed.or(found);
            if !front.flag(decision.slot) {
                outcome.cancelled |= 1 << entry;
            }
        }
        self.failure = self.failure.take().or(failed);
        outcome
    }

    fn move_cell(&mut self, access: Access, from: usize, to: usize) {
        if from == to {
            return;
        }
        let group = &self.control.groups[access.group as usize];
        let (low, high) = self.cells.split_at_mut(from.max(to));
        let (from, to) = match from < to {
            true => (&low[from], &mut high[0]),
            false => (&high[0], &mut low[to]),
        };
        copy(group, u64::from(access.cell), from, to);
    }
}

impl IrPacket {
    /// Returns the services for the packet.
    pub fn arrived(&self) -> Arrived {
        Arrived {
            time_ps: self.time_ps,
            length_bytes: self.length_bytes,
            random_key: self.random_key,
        }
    }
}

impl Comparable for IrWork {
    fn is_same_packet(&self, packet: &IrPacket, reference: &IrPacket) -> bool {
        packet.context.storage() == reference.context.storage()
            && packet.context.requests == reference.context.requests
    }

    fn is_same_cell(&self, access: Access, pipeline: usize, reference: &IrWork) -> bool {
        let group = &self.control.groups[access.group as usize];
        group.registers.iter().all(|register| {
            let (found, expected) =
                (self.cells[pipeline].register(*register), reference.cells[0].register(*register));
            let (Some(found), Some(expected)) = (found, expected) else { return true };
            let cell = u64::from(access.cell);
            let mut cells = if group.is_sharded { cell..cell + 1 } else { 0..found.size() };
            cells.all(|index| found.read(index) == expected.read(index))
        })
    }
}
