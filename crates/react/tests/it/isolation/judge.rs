// SPDX-License-Identifier: Apache-2.0
//! The judge of histories: packets, commits, legacy writes and measurements must have one order. Each packet leaves as the
//! program as written makes it with one committed configuration, configurations never go back, fields come from one
//! packet, and each cell of a register is what the packets and legacy writes up to that moment made of it.

use super::history::{History, counted};
use super::log::{CellWrite, Commit};
use crate::generated::Target as Architecture;
use crate::script::Call;
use control::target::{Batch, Item};
use device::{Device, DeviceOptions, EngineChoice};
use ir::{Bits, RegisterId, TableId};
use react::compiler::CompiledProgram;
use react::interface::{Argument, ArgumentKind, Reaction};
use state::{BatchItem, BoundAction, CellRange, CellValues, Read, Reply, Update};
use std::collections::{BTreeSet, HashMap};

/// What no packet writes.
const UNWRITTEN: u64 = 0xdead_beef;

/// The program as written with each committed configuration.
struct Configurations {
    devices: Vec<Device>,
    register: RegisterId,
}

/// Batches as their controllers meant them: the agent writes all parameters of an init table, of which it means those
/// that it changes.
fn meant(compiled: &CompiledProgram, commits: &[Commit]) -> Vec<Option<Batch>> {
    let program = compiled.written.program();
    let inits = compiled.plan.pipelines.iter().filter_map(|pipeline| pipeline.inits.first());
    let inits: Vec<TableId> = inits
        .filter_map(|init| program.tables.iter().position(|table| table.name == init.table))
        .map(|at| TableId(at as u32))
        .collect();
    let initial = |table: &TableId| {
        let table = &program.tables[table.index()];
        (table.default_action.arguments.clone(), table.default_action.arguments.clone())
    };
    // What the agent wrote last, and what is there.
    let mut words: HashMap<TableId, (Vec<Bits>, Vec<Bits>)> =
        inits.iter().map(|table| (*table, initial(table))).collect();
    let mut meant = Vec::new();
    for commit in commits {
        if !commit.is_ok {
            meant.push(None);
            continue;
        }
        let mut batch = Batch { program: None, ..commit.batch.clone() };
        for item in &mut batch.items {
            let Item::State(BatchItem::Update(Update::SetDefaultAction { table, action })) = item
            else {
                continue;
            };
            let (Some((last, current)), Some(BoundAction { arguments, .. })) =
                (words.get_mut(table), action.as_mut())
            else {
                continue;
            };
            let written = arguments.clone();
            for (at, argument) in arguments.iter_mut().enumerate() {
                if commit.is_agent && written[at] == last[at] {
                    argument.clone_from(&current[at]);
                }
            }
            current.clone_from(arguments);
            if commit.is_agent {
                *last = written;
            }
        }
        meant.push(Some(batch));
    }
    meant
}

impl Configurations {
    fn new(compiled: &CompiledProgram, commits: &[Commit]) -> Configurations {
        let program = compiled.written.program().clone();
        let at = program.registers.iter().position(|register| register.name.ends_with("I.r"));
        let at = at.expect("the register of all programs");
        let options =
            DeviceOptions { engine: EngineChoice::Interpreter, ..DeviceOptions::default() };
        let first = Device::new(program, options.clone()).expect("it loads");
        let meant = meant(compiled, commits);
        let mut devices = Vec::new();
        for count in 0..=commits.len() {
            let device = first.sharing_code_with(options.clone()).expect("it loads");
            for batch in meant[..count].iter().flatten() {
                assert_eq!(device.execute(batch.clone()).first_fault(), None);
            }
            devices.push(device);
        }
        Configurations { devices, register: RegisterId(at as u32) }
    }

    /// What a packet becomes with a configuration and this register.
    fn outcome(&mut self, configuration: usize, bytes: &[u8], before: &[u64]) -> Vec<Vec<u8>> {
        let (register, cells) = (self.register, CellRange::all());
        let before = before.iter().map(|value| Bits::from_u64(32, *value)).collect();
        let values = CellValues::Each(before);
        let device = &mut self.devices[configuration];
        let written = Batch::one(Update::WriteRegister { register, cells, values });
        assert_eq!(device.execute(written).first_fault(), None);
        let now_ps = device.now_ps();
        device.inject(0, now_ps, bytes.to_vec()).expect("it is taken");
        device.run_to_completion().expect("it runs");
        device.drain_transmitted().into_iter().map(|sent| sent.bytes.clone()).collect()
    }

    /// The packets that the direct counters of each table counted.
    fn counted(&self, configuration: usize) -> Vec<(TableId, u64)> {
        let device = &self.devices[configuration];
        counted(&device.program(), |batch| device.execute(batch))
    }

    /// The register after the last packet with a configuration.
    fn register_after(&self, configuration: usize) -> Vec<u64> {
        let read = Read::Register { register: self.register, cells: CellRange::all() };
        match self.devices[configuration].execute(Batch::one(read)).into_reply() {
            Ok(Reply::Registers(values)) => values.iter().map(Bits::low_u64).collect(),
            other => panic!("{other:?}"),
        }
    }
}

/// Something that happens to a cell, in the order of packets and measurements.
enum CellEvent {
    /// A packet that writes it.
    Packet { arrived_ps: u64, left_ps: u64, value: u64 },
    /// A measurement of the cell. Legacy writes that are known at `since_ps` are in it.
    Measured { since_ps: u64, at_ps: u64, call: usize, value: u64 },
}

/// Why no order of the legacy writes of a cell explains its events.
fn cell_fault(
    initial: u64,
    last: u64,
    events: &[CellEvent],
    writes: &[&CellWrite],
) -> Option<String> {
    // How many legacy writes there were, and the value.
    let mut states = BTreeSet::from([(0, initial)]);
    for event in events {
        let (begin_ps, end_ps) = match event {
            CellEvent::Packet { arrived_ps, left_ps, .. } => (*arrived_ps, *left_ps),
            CellEvent::Measured { since_ps, at_ps, .. } => (*since_ps, *at_ps),
        };
        let is_before = |write: &&CellWrite| write.known_ps.is_some_and(|known| known < begin_ps);
        let least = writes.iter().take_while(|write| is_before(write)).count();
        let most = writes.iter().take_while(|write| write.submitted_ps <= end_ps).count();
        let mut next = BTreeSet::new();
        for (count, value) in states {
            for upto in count.max(least)..=most.max(count) {
                let value = if upto > count { writes[upto - 1].value } else { value };
                match event {
                    CellEvent::Packet { value, .. } => {
                        next.insert((upto, *value));
                    }
                    CellEvent::Measured { value: measured, .. } if value == *measured => {
                        next.insert((upto, value));
                    }
                    CellEvent::Measured { .. } => {}
                }
            }
        }
        states = next;
        if states.is_empty() {
            return Some(match event {
                CellEvent::Measured { call, value, .. } => {
                    format!("call {call} got {value}, which the cell never was then")
                }
                CellEvent::Packet { .. } => "a legacy write has no place".to_string(),
            });
        }
    }
    let is_last = |(count, value): &(usize, u64)| {
        let value = if *count < writes.len() { writes[writes.len() - 1].value } else { *value };
        value == last
    };
    (!states.iter().any(is_last)).then(|| format!("the cell is {last} in the end"))
}

/// Why a history has no serial order.
pub fn fault(
    compiled: &CompiledProgram,
    history: &History,
    architecture: Architecture,
) -> Option<String> {
    let mut configurations = Configurations::new(compiled, &history.commits);
    let mut last = 0;
    let mut written: Vec<Vec<Option<u64>>> = Vec::new();
    let mut register = history.registers[0].clone();
    let mut hits: HashMap<TableId, u64> = HashMap::new();
    for (id, packet) in history.packets.iter().enumerate() {
        let Some((left_ps, bytes)) = &packet.left else {
            return Some(format!("packet {id} is lost"));
        };
        let is_known = |commit: &&Commit| {
            commit.is_ok && commit.known_ps.is_some_and(|known_ps| known_ps < packet.arrived_ps)
        };
        let first =
            history.commits.iter().rposition(|commit| is_known(&commit)).map_or(0, |at| at + 1);
        let end = history.commits.iter().filter(|commit| commit.submitted_ps < *left_ps).count();
        let mut candidates = last.max(first)..=end;
        let found = candidates
            .find(|at| configurations.outcome(*at, &packet.bytes, &register) == [bytes.clone()]);
        let Some(found) = found else {
            return Some(format!(
                "packet {id} saw no committed configuration from {} to {end}",
                last.max(first)
            ));
        };
        last = found;
        written.push(match architecture {
            // Register actions read the register, and no legacy controller writes it.
            Architecture::Tna => {
                register = configurations.register_after(found);
                register.iter().copied().map(Some).collect()
            }
            Architecture::V1model => {
                let unwritten = vec![UNWRITTEN; register.len()];
                let before = configurations.counted(found);
                configurations.outcome(found, &packet.bytes, &unwritten);
                for (at, (table, count)) in configurations.counted(found).into_iter().enumerate() {
                    *hits.entry(table).or_insert(0) += count - before[at].1;
                }
                let after = configurations.register_after(found).into_iter();
                after.map(|value| Some(value).filter(|value| *value != UNWRITTEN)).collect()
            }
        });
    }
    let reactions = compiled.interface.reactions.iter().enumerate();
    let measured = |(number, reaction): (usize, &Reaction)| {
        let own = history.calls.iter().filter(|call| call.reaction == number);
        let calls: Vec<&Call> = own.collect();
        let has_register = |argument: &Argument| matches!(&argument.kind, ArgumentKind::Register { register, .. } if &**register == "r");
        let of_cells = || match reaction.arguments.iter().any(has_register) {
            true => measured_cells(history, &calls, &written),
            false => None,
        };
        let fault = measured_fields(history, &calls).or_else(of_cells);
        fault.map(|fault| format!("reaction {}, {fault}", reaction.name))
    };
    let found = { reactions }.find_map(measured);
    found.or_else(|| counted_packets(history, &hits))
}

/// Why direct counters have not counted the packets that hit entries. Counts of deleted entries are lost.
fn counted_packets(history: &History, hits: &HashMap<TableId, u64>) -> Option<String> {
    let done = history.commits.iter().filter(|commit| commit.is_ok);
    let items = done.flat_map(|commit| &commit.batch.items);
    let deletions: Vec<TableId> = items
        .filter_map(|item| match item {
            Item::State(BatchItem::Update(Update::DeleteEntry { table, .. })) => Some(*table),
            _ => None,
        })
        .collect();
    let hits = |table: &TableId| hits.get(table).copied().unwrap_or(0);
    let is_wrong =
        |(table, count): &&(TableId, u64)| !deletions.contains(table) && *count != hits(table);
    let (table, count) = history.counted.iter().find(is_wrong)?;
    Some(format!("table {} counted {count} of {} hits", table.0, hits(table)))
}

/// How many packets are in a measurement.
fn packets_in(input: &[u64]) -> usize {
    if input.last() == Some(&1) { input[0] as usize + 1 } else { 0 }
}

/// Why fields do not come from one packet, and from later and later ones.
fn measured_fields(history: &History, calls: &[&Call]) -> Option<String> {
    let mut last = 0;
    for (number, call) in calls.iter().enumerate() {
        let count = packets_in(&call.input);
        if count < last {
            let [now, before] = [count, last].map(|count| count as i64 - 1);
            return Some(format!("call {number} got packet {now} after packet {before}"));
        }
        last = count;
        if count > 0 {
            let bytes = &history.packets[count - 1].left.as_ref().expect("it left").1;
            let word = |range: std::ops::Range<usize>| {
                bytes[range].iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte))
            };
            if call.input[1..4] != [word(2..6), word(14..16), word(20..21)] {
                return Some(format!("call {number} got fields of several packets"));
            }
        }
    }
    None
}

/// Why cells have no order.
fn measured_cells(
    history: &History,
    all: &[&Call],
    written: &[Vec<Option<u64>>],
) -> Option<String> {
    let [before, after] = &history.registers;
    for (cell, (initial, last)) in before.iter().zip(after).enumerate() {
        let mut events = Vec::new();
        let mut calls = all.iter().enumerate().peekable();
        for (id, packet) in history.packets.iter().map(Some).chain([None]).enumerate() {
            while let Some((number, call)) =
                calls.next_if(|(_, call)| packets_in(&call.input) == id)
                && (2..=9).contains(&cell)
            {
                // Two dialogues begin after what is known two calls before.
                let since = number.checked_sub(2).map_or(0, |at| all[at].at_ns * 1000);
                events.push(CellEvent::Measured {
                    since_ps: since,
                    at_ps: (call.at_ns + 1) * 1000,
                    call: number,
                    value: call.input[4 + cell - 2],
                });
            }
            let Some(packet) = packet else { break };
            if let Some(value) = written[id][cell] {
                let left_ps = packet.left.as_ref().map_or(u64::MAX, |(left_ps, _)| *left_ps);
                events.push(CellEvent::Packet { arrived_ps: packet.arrived_ps, left_ps, value });
            }
        }
        let writes: Vec<&CellWrite> =
            history.cells.iter().filter(|write| write.cell == cell as u64).collect();
        if let Some(why) = cell_fault(*initial, *last, &events, &writes) {
            return Some(format!("cell {cell}: {why}"));
        }
    }
    None
}
