// SPDX-License-Identifier: Apache-2.0
//! Runs a program as written on a device of its own and through maps, with the same batches and packets, and
//! finds the first difference.

use crate::control_maps::batches;
use control::target::{
    Batch, Fault, Notification, Outcome, Prepared, Reply, Target, prepare_entry,
};
use device::{Device, DeviceOptions, EngineChoice};
use ir::{Program, TableId};
use state::{Atomicity, EntryRecord, EntryReference, EntryTarget, Read, Reply as StateReply};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;
use testing::Choices;

/// What was compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compared {
    pub cases: u64,
    pub batches: u64,
    pub items: u64,
    pub refused: u64,
    pub packets: u64,
    pub transmitted: u64,
    pub digests: u64,
    pub idle_timeouts: u64,
    /// Of these, entries that were hit again before a map could ask.
    pub hit_since: u64,
    pub packets_in: u64,
}

impl Compared {
    pub fn add(&mut self, other: Compared) {
        self.cases += other.cases;
        self.batches += other.batches;
        self.items += other.items;
        self.refused += other.refused;
        self.packets += other.packets;
        self.transmitted += other.transmitted;
        self.digests += other.digests;
        self.idle_timeouts += other.idle_timeouts;
        self.hit_since += other.hit_since;
        self.packets_in += other.packets_in;
    }
}

/// The port of packets for the control plane.
const CPU_PORT: u32 = 4;

/// A device with an engine.
pub fn device(program: &Arc<Program>, engine: EngineChoice) -> Device {
    let options = DeviceOptions { engine, cpu_port: Some(CPU_PORT), ..DeviceOptions::default() };
    Device::new(program.clone(), options).expect("the program loads")
}

/// A program as written: a target, and the devices behind it.
pub struct Subject {
    pub name: &'static str,
    pub target: Box<dyn Target>,
    pub devices: Vec<Device>,
    /// With the widths of the values that they take.
    prepared: Vec<(Option<Prepared>, Vec<u32>)>,
}

impl Subject {
    pub fn new(name: &'static str, target: Box<dyn Target>, devices: Vec<Device>) -> Subject {
        let mut subject = Subject { name, target, devices, prepared: Vec::new() };
        // The first call begins to listen.
        subject.target.notifications();
        subject
    }

    pub fn advance(&mut self, time_ps: u64) {
        for device in &mut self.devices {
            device.advance(time_ps).expect("the device runs");
        }
    }
}

/// How much happens in a case, and where packets go.
pub struct Course {
    pub steps: u32,
    /// Which device takes a packet.
    pub device_of: fn(&[u8], usize) -> usize,
    /// Whether places of entries are compared too.
    pub compares_places: bool,
    /// Whether batches ask to be seen by packets at one moment.
    pub asks_for_moments: bool,
}

/// The only device.
pub fn first_device(_: &[u8], _: usize) -> usize {
    0
}

/// Runs a case. The first subject is the direct one; its device tells what there is to change.
pub fn compare(
    choices: &mut Choices,
    subjects: &mut [Subject],
    course: &Course,
) -> Result<Compared, String> {
    let program = subjects[0].target.program();
    let mut compared = Compared { cases: 1, ..Compared::default() };
    let mut log = String::new();
    let mut time_ps = 1_000;
    for _ in 0..course.steps {
        let state = subjects[0].devices[0].configuration();
        let batch = batches::batch(choices, &program, &state);
        let made_for = choices.chance(30).then(|| program.clone());
        let mut batch = Batch { program: made_for, ..batch };
        if !course.asks_for_moments && batch.atomicity == Atomicity::DataplaneAtomic {
            batch.atomicity = Atomicity::RollbackOnError;
        }
        exchange(subjects, |_| Ok(batch.clone()), course, &mut compared, &mut log)?;
        if choices.chance(30) {
            prepare(choices, subjects, &program, &mut log);
        }
        if choices.chance(30) && !subjects[0].prepared.is_empty() {
            let at = choices.below(subjects[0].prepared.len());
            let seed = choices.word();
            let make = |subject: &Subject| {
                let (prepared, widths_bits) = &subject.prepared[at];
                let mut random = Choices::from_seed(seed);
                let value = |width: &u32| random.value(*width, batches::PALETTE);
                let values = widths_bits.iter().map(value).collect();
                prepared.as_ref().ok_or(Fault::Gone)?.batch(values)
            };
            exchange(subjects, make, course, &mut compared, &mut log)?;
        }
        for _ in 0..choices.below(4) {
            // Timeouts are whole nanoseconds: no packet comes just when an entry has idled.
            time_ps += u64::from(choices.between(2_000, 30_000)) | 1;
            let bytes = packet(choices);
            let port = choices.between(0, 3);
            let _ = writeln!(log, "packet at {time_ps} port {port}: {bytes:x?}");
            for subject in subjects.iter_mut() {
                // Everything due before the packet is reported before it.
                subject.advance(time_ps - 1);
            }
            notifications(subjects, &mut compared, &log)?;
            for subject in subjects.iter_mut() {
                let at = (course.device_of)(&bytes, subject.devices.len());
                subject.devices[at].inject(port, time_ps, bytes.clone()).expect("the port exists");
                subject.advance(time_ps);
            }
            compared.packets += 1;
            transmitted(subjects, &mut compared, &log)?;
            notifications(subjects, &mut compared, &log)?;
        }
        let all = batches::everything(&program);
        exchange(subjects, |_| Ok(all.clone()), course, &mut compared, &mut log)?;
    }
    time_ps += 200_000;
    subjects.iter_mut().for_each(|subject| subject.advance(time_ps));
    notifications(subjects, &mut compared, &log)?;
    Ok(compared)
}

/// A random packet.
pub fn packet(choices: &mut Choices) -> Vec<u8> {
    let mut bytes = Vec::new();
    for width_bits in [8, 8, 16, 8, 8, 8, 8, 8] {
        bytes.extend(choices.value(width_bits, batches::PALETTE).to_bytes_be());
    }
    bytes.extend(vec![0; choices.below(20)]);
    bytes
}

/// Prepares the change of one entry at every subject.
fn prepare(
    choices: &mut Choices,
    subjects: &mut [Subject],
    program: &Arc<Program>,
    log: &mut String,
) {
    let table = TableId(choices.below(program.tables.len()) as u32);
    let state = subjects[0].devices[0].configuration();
    let Some(state) = state.table(table) else { return };
    let entries: Vec<_> = state.entries().cloned().collect();
    if entries.is_empty() {
        return;
    }
    let entry = choices.pick(&entries).clone();
    let action = choices.pick(&program.tables[table.index()].actions).action;
    let _ = writeln!(log, "prepare {:?} for {action:?}", entry.keys);
    let parameters = program.actions[action.index()].parameters.iter();
    let widths_bits: Vec<u32> =
        parameters.map(|one| program.slots[one.slot.index()].ty.width_bits()).collect();
    for subject in subjects.iter_mut() {
        let (keys, priority) = (entry.keys.clone(), entry.priority);
        let prepared = prepare_entry(&mut *subject.target, table, keys, priority, action);
        subject.prepared.push((prepared.ok(), widths_bits.clone()));
    }
}

/// Has every subject do a batch, and compares the outcomes.
fn exchange(
    subjects: &mut [Subject],
    make: impl Fn(&Subject) -> Result<Batch, Fault>,
    course: &Course,
    compared: &mut Compared,
    log: &mut String,
) -> Result<(), String> {
    let mut reports: Vec<String> = Vec::new();
    for subject in subjects.iter_mut() {
        let mut text = String::new();
        match make(subject) {
            Ok(batch) => {
                if reports.is_empty() {
                    compared.batches += 1;
                    compared.items += batch.items.len() as u64;
                    let _ = writeln!(log, "batch {:?} {:?}", batch.atomicity, batch.items);
                }
                let now_ps = subject.target.now_ps();
                let outcome = subject.target.execute(batch);
                if reports.is_empty() {
                    let refused = outcome.results.iter().filter(|result| result.is_err()).count();
                    compared.refused += refused as u64;
                }
                tell(&outcome, now_ps, course, &mut text);
            }
            Err(fault) => {
                let _ = writeln!(text, "not prepared: {fault}");
            }
        }
        reports.push(text);
    }
    agree(subjects, &reports, "the batch", log)
}

fn agree(subjects: &[Subject], reports: &[String], what: &str, log: &str) -> Result<(), String> {
    for (subject, text) in subjects.iter().zip(reports).skip(1) {
        if *text != reports[0] {
            return Err(format!(
                "{what}: {} and {} differ\n--- {}\n{}--- {}\n{text}--- after\n{log}",
                subjects[0].name, subject.name, subjects[0].name, reports[0], subject.name
            ));
        }
    }
    Ok(())
}

fn record(entry: &EntryRecord, course: &Course) -> String {
    let EntryRecord { keys, priority, action, idle_timeout_ns, metadata, cookie, .. } = entry;
    let mut text = format!(
        "{keys:?} priority {priority} {action:?} idle {idle_timeout_ns} {metadata:?} {cookie} at {}",
        entry.inserted_ps
    );
    if course.compares_places {
        let _ = write!(text, " place {} generation {}", entry.handle.0, entry.generation);
    }
    text
}

fn owner(target: &EntryTarget, course: &Course) -> String {
    target.entry().map_or("default".to_string(), |entry| record(entry, course))
}

fn tell(outcome: &Outcome, now_ps: u64, course: &Course, text: &mut String) {
    let Outcome { results, rolled_back, applied_ps, known_ps } = outcome;
    let _ = writeln!(text, "rolled back {rolled_back} times {applied_ps} {known_ps} of {now_ps}");
    for result in results {
        let _ = match result {
            Err(Fault::Refused(error)) => writeln!(text, "{:?}: {error}", error.class()),
            Err(fault) => writeln!(text, "{fault}"),
            Ok(Reply::State(StateReply::Entries(list))) => {
                let list: Vec<String> = list.iter().map(|entry| record(entry, course)).collect();
                writeln!(text, "entries {list:#?}")
            }
            Ok(Reply::State(StateReply::Inserted(handle))) => match course.compares_places {
                true => writeln!(text, "inserted {handle:?}"),
                false => writeln!(text, "inserted"),
            },
            Ok(Reply::State(StateReply::DirectCounters(list))) => {
                let value = |(target, value): &(EntryTarget, _)| {
                    format!("{}: {value:?}", owner(target, course))
                };
                writeln!(text, "{:#?}", list.iter().map(value).collect::<Vec<_>>())
            }
            Ok(Reply::State(StateReply::EntriesWithCells(list))) => {
                let value = |cells: &state::EntryWithCells| {
                    let (counters, hit) = (&cells.counters, cells.last_hit_ps);
                    format!("{}: {counters:?} hit {hit:?}", owner(&cells.target, course))
                };
                writeln!(text, "{:#?}", list.iter().map(value).collect::<Vec<_>>())
            }
            Ok(reply) => writeln!(text, "{reply:?}"),
        };
    }
}

fn transmitted(subjects: &mut [Subject], compared: &mut Compared, log: &str) -> Result<(), String> {
    let mut reports = Vec::new();
    for subject in subjects.iter_mut() {
        let mut text = String::new();
        for device in &mut subject.devices {
            for packet in device.drain_transmitted() {
                compared.transmitted += u64::from(reports.is_empty());
                let (port, time_ps, bytes) = (packet.port, packet.time_ps, packet.bytes);
                let _ = writeln!(text, "port {port} at {time_ps}: {bytes:x?}");
            }
        }
        reports.push(text);
    }
    agree(subjects, &reports, "packets", log)
}

fn notifications(
    subjects: &mut [Subject],
    compared: &mut Compared,
    log: &str,
) -> Result<(), String> {
    let mut reports = Vec::new();
    // A map asks for the hits of an entry after its rows have idled. Of an entry that was hit between, it
    // cannot tell, and says nothing until the entry idles again.
    let mut hit_since = BTreeSet::new();
    for subject in subjects.iter_mut() {
        let mut lines = Vec::new();
        for notification in subject.target.notifications() {
            let is_first = u64::from(reports.is_empty());
            let time_ps = notification.time_ps();
            lines.push(match notification {
                Notification::Digest { name, fields, .. } => {
                    compared.digests += is_first;
                    format!("{time_ps}: digest {name} {fields:?}")
                }
                Notification::IdleTimeout { table, entry, .. } => {
                    compared.idle_timeouts += is_first;
                    let EntryRecord { keys, priority, action, cookie, .. } = &*entry;
                    let line = format!(
                        "{time_ps}: idle {table:?} {keys:?} {priority} {action:?} {cookie}"
                    );
                    if is_first == 1 && last_hit_ps(subject, table, &entry) >= Some(time_ps) {
                        compared.hit_since += 1;
                        hit_since.insert(line.clone());
                    }
                    line
                }
                Notification::PacketIn { port, bytes, .. } => {
                    compared.packets_in += is_first;
                    format!("{time_ps}: packet by {port}: {bytes:x?}")
                }
                other => format!("{time_ps}: {other:?}"),
            });
        }
        // Of equal times, entries come in the order of tables below.
        lines.retain(|line| !hit_since.contains(line));
        lines.sort();
        reports.push(lines.join("\n") + "\n");
    }
    agree(subjects, &reports, "notifications", log)
}

/// When an entry was last hit, or inserted.
fn last_hit_ps(subject: &mut Subject, table: TableId, entry: &EntryRecord) -> Option<u64> {
    let (keys, priority) = (entry.keys.clone(), entry.priority);
    let entry = Some(EntryReference::Entry { keys, priority });
    let read = Read::EntriesWithCells { table, entry };
    match subject.target.execute(Batch::one(read)).into_reply() {
        Ok(StateReply::EntriesWithCells(list)) => list.first()?.last_hit_ps,
        _ => None,
    }
}
