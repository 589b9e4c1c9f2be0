// SPDX-License-Identifier: Apache-2.0
//! What sharing needs: three programs behind maps, and a controller without a map, each on its own portion of one
//! target. Random batches, reads, packets and notifications of each have to be those of the same program on a
//! device of its own; maps and portions with a mistake are caught by the same comparison.

use crate::{answer, bound, cases, program, table};
use conformance::differential::choices::Choices;
use control::latency::LatencyModel;
use control::map::{IdRanges, Mapped, Physical, SharedTarget, TargetIndex, Translation, Virtual};
use control::target::{Batch, Fault, Item, Notification, Outcome, Reply, Target};
use device::{Device, DeviceOptions, EngineChoice};
use ir::{Bits, KeyPattern, Program, TableId};
use state::{
    ActionData, Atomicity, CloneSession, Configuration, CounterValue, EntryRecord, EntryReference,
    EntryTarget, EntryWithCells, MulticastGroup, NewEntry, Read, Replica, Update,
};
use std::sync::{Arc, LazyLock};

/// From one round of batches to the packets after it, and from them to the next round.
const ROUND_PS: u64 = 1_000_000_000;

/// How long entries may go without a hit: two rounds and a half.
const TIMEOUT_NS: u64 = 5 * ROUND_PS / 2_000;

/// Numbers of groups and sessions that a program has.
pub(crate) const IDS: u32 = 10;

/// The names of the tables of each program; equal ones stand for different tables.
pub(crate) const NAMES: [[&str; 2]; 3] = [["acl", "forward"], ["forward", "acl"], ["acl", "marks"]];

pub(crate) struct Programs {
    persona: Arc<Program>,
    pub written: [Arc<Program>; 3],
}

pub(crate) static PROGRAMS: LazyLock<Programs> = LazyLock::new(|| {
    let text = include_str!("share.p4");
    let written = NAMES.map(|[first, second]| {
        let defines = [("FIRST", first), ("SECOND", second)]
            .map(|(what, name)| format!("#define {what} {name}\n#define {what}_NAME \"{name}\"\n"));
        program(&format!("{}{}{text}", defines[0], defines[1]))
    });
    Programs { persona: program(&format!("#define AS_RUN\n{text}")), written }
});

/// What is wrong, if anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    None,
    /// The map of program 1 leaves its key open in the second table.
    KeyLeftOpen,
    /// The map of program 1 writes rows of program 2.
    WrongKey,
    /// The controller without a map has the target instead of a portion.
    NoPortion,
    /// The programs' groups and sessions have the same numbers below.
    OverlappingIds,
    /// The map of program 1 passes digests of all programs.
    AllDigests,
}

/// A program as rows of the persona.
#[derive(Debug)]
struct Row {
    written: Arc<Program>,
    number: u64,
    /// The first of its numbers of groups and sessions.
    base: u32,
    mistake: Mistake,
}

impl Row {
    /// The persona's table, and the key that tells programs apart there.
    fn below(&self, of: TableId) -> (TableId, KeyPattern) {
        let names = NAMES[self.number as usize - 1];
        let is_first = self.written.tables[of.index()].name.ends_with(names[0]);
        let own = KeyPattern::Exact(Bits::from_u64(4, self.number));
        let key = match (self.mistake, self.number, is_first) {
            (Mistake::KeyLeftOpen, 1, false) => KeyPattern::Any,
            (Mistake::WrongKey, 1, _) => KeyPattern::Exact(Bits::from_u64(4, 2)),
            _ => own,
        };
        (table(&PROGRAMS.persona, if is_first { "first" } else { "second" }), key)
    }

    fn keys(&self, of: TableId, keys: &[KeyPattern]) -> (TableId, Vec<KeyPattern>) {
        let (below, own) = self.below(of);
        (below, std::iter::once(own).chain(keys.iter().cloned()).collect())
    }

    fn entry(&self, of: TableId, entry: &NewEntry) -> (TableId, NewEntry) {
        let (below, keys) = self.keys(of, &entry.keys);
        let ActionData::Direct(action) = &entry.action else { unreachable!("no profiles here") };
        let name = &*self.written.actions[action.action.index()].name;
        let mut arguments: Vec<u64> = action.arguments.iter().map(Bits::low_u64).collect();
        if name.ends_with("flood") || name.ends_with("copy") {
            arguments[0] += u64::from(self.base);
        }
        let action = ActionData::Direct(bound(&PROGRAMS.persona, below, name, &arguments));
        (below, NewEntry { keys, action, ..entry.clone() })
    }

    fn reference(&self, entry: &EntryReference) -> EntryReference {
        let EntryReference::Entry { keys, priority } = entry else { return entry.clone() };
        let first = table(&self.written, NAMES[self.number as usize - 1][0]);
        let keys = self.keys(first, keys).1;
        EntryReference::Entry { keys, priority: *priority }
    }

    fn session(&self, content: &CloneSession) -> CloneSession {
        let multicast_group = content.multicast_group.map(|group| group + self.base);
        CloneSession { multicast_group, ..content.clone() }
    }
}

impl Translation for Row {
    fn program(&self) -> Arc<Program> {
        self.written.clone()
    }

    fn update(&mut self, update: &Update, _: &Configuration) -> Result<Vec<Physical>, Fault> {
        let base = self.base;
        let below = match update.clone() {
            Update::InsertEntry { table, entry } => {
                let (table, entry) = self.entry(table, &entry);
                Update::InsertEntry { table, entry }
            }
            Update::ModifyEntry { table, entry } => {
                let (table, entry) = self.entry(table, &entry);
                Update::ModifyEntry { table, entry }
            }
            Update::DeleteEntry { table, keys, priority } => {
                let (table, keys) = self.keys(table, &keys);
                Update::DeleteEntry { table, keys, priority }
            }
            Update::WriteDirectCounter { counter, entry, value } => {
                let entry = self.reference(&entry);
                Update::WriteDirectCounter { counter, entry, value }
            }
            Update::InsertMulticastGroup { group, content } => {
                Update::InsertMulticastGroup { group: group + base, content }
            }
            Update::ModifyMulticastGroup { group, content } => {
                Update::ModifyMulticastGroup { group: group + base, content }
            }
            Update::DeleteMulticastGroup { group } => {
                Update::DeleteMulticastGroup { group: group + base }
            }
            Update::InsertCloneSession { session, content } => Update::InsertCloneSession {
                session: session + base,
                content: self.session(&content),
            },
            Update::ModifyCloneSession { session, content } => Update::ModifyCloneSession {
                session: session + base,
                content: self.session(&content),
            },
            Update::DeleteCloneSession { session } => {
                Update::DeleteCloneSession { session: session + base }
            }
            _ => return Err(Fault::Unsupported("not in this trial".to_string())),
        };
        Ok(vec![Physical::at(TargetIndex(0), below)])
    }

    fn read(&mut self, read: &Read, _: &Configuration) -> Result<Vec<Physical>, Fault> {
        let below = match read {
            Read::DirectCounter { counter, entry: Some(entry) } => {
                Read::DirectCounter { counter: *counter, entry: Some(self.reference(entry)) }
            }
            Read::EntriesWithCells {
                table,
                entry: Some(EntryReference::Entry { keys, priority }),
            } => {
                let (table, keys) = self.keys(*table, keys);
                let entry = Some(EntryReference::Entry { keys, priority: *priority });
                Read::EntriesWithCells { table, entry }
            }
            _ => return Err(Fault::Unsupported("not in this trial".to_string())),
        };
        Ok(vec![Physical::at(TargetIndex(0), below)])
    }

    fn combine(&mut self, _: &Read, replies: Vec<state::Reply>) -> Result<state::Reply, Fault> {
        replies.into_iter().next().ok_or(Fault::Gone)
    }

    fn notify(
        &mut self,
        _: TargetIndex,
        notification: Notification,
        state: &Configuration,
    ) -> Vec<Notification> {
        let is_own = |value: &Bits| value.low_u64() == self.number;
        match notification {
            Notification::Digest { time_ps, name, fields } => {
                let passes = is_own(&fields[0].1) || self.mistake == Mistake::AllDigests;
                let fields = fields[1..].to_vec();
                passes
                    .then_some(Notification::Digest { time_ps, name, fields })
                    .into_iter()
                    .collect()
            }
            Notification::IdleTimeout { time_ps, entry, .. } => {
                let table = table(&self.written, NAMES[self.number as usize - 1][0]);
                let handle = state.entry_handle(table, &entry.keys[1..], entry.priority).ok();
                let entry = handle.and_then(|handle| state.table(table)?.shared_entry(handle));
                let idle = entry.map(|entry| Notification::IdleTimeout { time_ps, table, entry });
                idle.into_iter().collect()
            }
            other => vec![other],
        }
    }
}

/// A controller's program, and how its batches are drawn.
struct Tenant {
    program: Arc<Program>,
    /// Its number, by which it draws; the controller without a map is 0.
    number: usize,
    /// The shared target, through a map or a portion.
    shared: Box<dyn Target>,
    /// A device of its own.
    alone: Device,
    alone_target: device::DeviceTarget,
}

impl Tenant {
    fn tables(&self) -> [TableId; 2] {
        let names = match self.number {
            0 => ["first", "second"],
            number => NAMES[number - 1],
        };
        names.map(|name| table(&self.program, name))
    }

    /// Keys of a table; the controller without a map is program 0.
    fn keys(&self, of: TableId, choices: &mut Choices) -> Vec<KeyPattern> {
        let own = (self.number == 0).then(|| KeyPattern::Exact(Bits::from_u64(4, 0)));
        let key = if of == self.tables()[0] {
            KeyPattern::Exact(Bits::from_u64(8, choices.below(6) as u64))
        } else {
            let mask = *choices.pick(&[0_u64, 1, 3, 0xff]);
            let value = choices.below(4) as u64;
            let [value, mask] = [value & mask, mask].map(|bits| Bits::from_u64(8, bits));
            KeyPattern::Ternary { value, mask }
        };
        own.into_iter().chain([key]).collect()
    }

    /// The name of an entry, of one that is there in most cases.
    fn name(&self, of: TableId, choices: &mut Choices) -> (Vec<KeyPattern>, i64) {
        let configuration = self.alone.configuration();
        let entries = configuration.table(of).into_iter().flat_map(|table| table.entries());
        let entries: Vec<_> = entries.cloned().collect();
        match choices.chance(85) && !entries.is_empty() {
            true => {
                let entry = choices.pick(&entries);
                (entry.keys.clone(), entry.priority)
            }
            false => (self.keys(of, choices), choices.below(3) as i64),
        }
    }

    fn new_entry(&self, of: TableId, choices: &mut Choices) -> NewEntry {
        let id = u64::from(choices.between(1, 3));
        let random = choices.below(1000) as u64;
        let port = u64::from(choices.between(8, 11));
        let action = |name, arguments: &[u64]| bound(&self.program, of, name, arguments);
        let action = if of != self.tables()[0] {
            action("mark", &[random])
        } else {
            match choices.below(6) {
                // The controller without a map has no groups and sessions.
                0 if self.number > 0 => action("flood", &[id]),
                1 if self.number > 0 => action("copy", &[id]),
                2 => action("tell", &[]),
                _ => action("send", &[random, port]),
            }
        };
        let idle_timeout_ns =
            if of == self.tables()[0] && choices.chance(50) { TIMEOUT_NS } else { 0 };
        let priority = choices.below(3) as i64;
        let keys = self.keys(of, choices);
        NewEntry { idle_timeout_ns, ..NewEntry::direct(keys, priority, action) }
    }

    fn item(&self, choices: &mut Choices) -> Item {
        let of = *choices.pick(&self.tables());
        let (keys, priority) = self.name(of, choices);
        let group = choices.between(1, 3);
        let replicas = |choices: &mut Choices| -> Vec<Replica> {
            let count = choices.between(0, 2);
            let ports = 12..12 + count;
            ports.map(|egress_port| Replica { egress_port, instance: 1 }).collect()
        };
        // Without a map, rows are the only thing to be written and asked for.
        let what = choices.below(if self.number == 0 { 70 } else { 100 });
        match what {
            0..25 => Update::InsertEntry { table: of, entry: self.new_entry(of, choices) }.into(),
            25..40 => {
                let entry = NewEntry { keys, priority, ..self.new_entry(of, choices) };
                Update::ModifyEntry { table: of, entry }.into()
            }
            40..52 => Update::DeleteEntry { table: of, keys, priority }.into(),
            52..54 => Update::ClearEntries { table: of }.into(),
            54..64 => Read::Entries { table: of }.into(),
            64..70 => Read::Entry { table: of, keys, priority }.into(),
            70..75 => {
                let content =
                    MulticastGroup { replicas: replicas(choices), ..MulticastGroup::default() };
                match choices.below(3) {
                    0 => Update::InsertMulticastGroup { group, content }.into(),
                    1 => Update::ModifyMulticastGroup { group, content }.into(),
                    _ => Update::DeleteMulticastGroup { group }.into(),
                }
            }
            75..80 => {
                let content =
                    CloneSession { replicas: replicas(choices), ..CloneSession::default() };
                match choices.below(3) {
                    0 => Update::InsertCloneSession { session: group, content }.into(),
                    1 => Update::ModifyCloneSession { session: group, content }.into(),
                    _ => Update::DeleteCloneSession { session: group }.into(),
                }
            }
            80..84 => Read::MulticastGroups { group: None }.into(),
            84..88 => Read::CloneSessions { session: None }.into(),
            _ => {
                let first = self.tables()[0];
                let (keys, priority) = self.name(first, choices);
                let entry = EntryReference::Entry { keys, priority };
                let counter = self.program.tables[first.index()].direct_counters[0];
                match choices.below(4) {
                    0 => {
                        let value = CounterValue { packets: 5, bytes: 50 };
                        Update::WriteDirectCounter { counter, entry, value }.into()
                    }
                    1 => Read::EntriesWithCells { table: first, entry: Some(entry) }.into(),
                    _ => Read::DirectCounter { counter, entry: Some(entry) }.into(),
                }
            }
        }
    }

    fn batch(&self, choices: &mut Choices) -> Batch {
        let mut items: Vec<Item> = (0..choices.between(1, 4)).map(|_| self.item(choices)).collect();
        if choices.chance(20) && self.number > 0 {
            items.extend(self.by_place(choices));
        }
        let atomicity = *choices.pick(&[Atomicity::ContinueOnError, Atomicity::RollbackOnError]);
        Batch::of(items).with(atomicity)
    }

    /// An update of an entry by its place, as prepared operations are.
    fn by_place(&self, choices: &mut Choices) -> Option<Item> {
        let of = *choices.pick(&self.tables());
        let configuration = self.alone.configuration();
        let entries: Vec<_> = configuration.table(of)?.entries().cloned().collect();
        let entry = entries.get(choices.below(entries.len().max(1)))?;
        let (handle, generation) = (entry.handle, entry.generation);
        let action = self.new_entry(of, choices).action;
        Some(match choices.chance(70) {
            true => Update::ModifyEntryAt { table: of, handle, generation, action }.into(),
            false => Update::DeleteEntryAt { table: of, handle, generation }.into(),
        })
    }
}

/// What an answer says. Places and generations of entries that come without a map are the target's, and where
/// batches take time the times of insertion differ.
fn essence(outcome: &Outcome, is_mapped: bool, takes_time: bool) -> String {
    if outcome.rolled_back && !is_mapped {
        // What a portion refuses comes before what the target would refuse.
        return "rolled back".to_string();
    }
    let record = |entry: &EntryRecord| {
        let place = is_mapped.then_some((entry.handle, entry.generation));
        let inserted_ps = (!takes_time).then_some(entry.inserted_ps);
        format!("{place:?} {inserted_ps:?} {:?}", entry.to_new_entry())
    };
    let target = |target: &EntryTarget| match target {
        EntryTarget::Entry(entry) => record(entry),
        EntryTarget::Default => "default".to_string(),
    };
    let result = |result: &Result<Reply, Fault>| match result {
        Ok(Reply::State(state::Reply::Inserted(_))) if !is_mapped => vec!["inserted".to_string()],
        Ok(Reply::State(state::Reply::Entries(entries))) => {
            entries.iter().map(|entry| record(entry)).collect()
        }
        Ok(Reply::State(state::Reply::EntriesWithCells(list))) => {
            let cells =
                |cells: &EntryWithCells| format!("{} {:?}", target(&cells.target), cells.counters);
            list.iter().map(cells).collect()
        }
        Ok(Reply::State(state::Reply::DirectCounters(list))) => {
            list.iter().map(|(of, value)| format!("{} {value:?}", target(of))).collect()
        }
        Err(Fault::Refused(error)) => vec![error.code().to_string()],
        other => vec![format!("{other:?}")],
    };
    let results: Vec<Vec<String>> = outcome.results.iter().map(result).collect();
    format!("{results:?}, rolled back: {}", outcome.rolled_back)
}

/// What a notification says, without its time.
fn news(notifications: &[Notification]) -> Vec<String> {
    let text = |notification: &Notification| match notification {
        Notification::Digest { name, fields, .. } => format!("{name} {fields:?}"),
        Notification::IdleTimeout { table, entry, .. } => {
            format!("{table:?} {:?} idle", entry.keys)
        }
        other => format!("{other:?}"),
    };
    let mut list: Vec<String> = notifications.iter().map(text).collect();
    list.sort();
    list
}

#[derive(Debug, Default)]
struct Counts {
    batches: usize,
    faults: usize,
    packets: usize,
    sent: usize,
    notifications: usize,
}

struct Scene {
    mistake: Mistake,
    options: DeviceOptions,
    /// The devices that those of histories are like: the persona's, and one a program.
    like: [Device; 4],
}

impl Scene {
    fn new(mistake: Mistake, engine: EngineChoice, control_latency: Option<LatencyModel>) -> Scene {
        let options = DeviceOptions { engine, control_latency, ..DeviceOptions::default() };
        let Programs { persona, written: [one, two, three] } = &*PROGRAMS;
        let device = |program: &Arc<Program>| {
            Device::new(program.clone(), options.clone()).expect("it loads")
        };
        let like = [persona, one, two, three].map(device);
        Scene { mistake, options, like }
    }

    fn tenant(&self, number: usize, shared: &SharedTarget, device: &Device) -> Tenant {
        let base = match self.mistake {
            Mistake::OverlappingIds => IDS,
            _ => IDS * number as u32,
        };
        let portion = shared.portion(IdRanges::same(base..base + IDS));
        let alone = self.like[number].sharing_code_with(self.options.clone()).expect("it loads");
        let program = alone.program();
        let target: Box<dyn Target> = match number {
            0 if self.mistake == Mistake::NoPortion => Box::new(device.target()),
            0 => Box::new(portion),
            number => {
                let row = Row {
                    written: program.clone(),
                    number: number as u64,
                    base,
                    mistake: self.mistake,
                };
                let map = Virtual::new(row).expect("the program is whole");
                Box::new(Mapped::new(map, vec![Box::new(portion)]))
            }
        };
        let alone_target = alone.target();
        Tenant { program, number, shared: target, alone, alone_target }
    }

    /// A sentence about what a program sees of others, if it does.
    fn run(&self, seed: u64, counts: &mut Counts) -> Result<(), String> {
        let mut choices = Choices::from_seed(seed);
        let mut device = self.like[0].sharing_code_with(self.options.clone()).expect("it loads");
        let shared = SharedTarget::new(Box::new(device.target()));
        let mut tenants: Vec<Tenant> =
            (0..4).map(|number| self.tenant(number, &shared, &device)).collect();
        for tenant in &mut tenants {
            tenant.shared.notifications();
            tenant.alone_target.notifications();
        }
        for round in 1..=8 {
            for _ in 0..3 {
                let mut under_way = Vec::new();
                let now_ps = device.now_ps();
                for (at, tenant) in tenants.iter_mut().enumerate() {
                    let batch = tenant.batch(&mut choices);
                    let ticket = tenant.shared.submit(batch.clone(), now_ps);
                    under_way.push((at, ticket, batch));
                }
                for (at, ticket, batch) in under_way {
                    let Tenant { shared, alone, alone_target, number, .. } = &mut tenants[at];
                    let is_mapped = *number > 0;
                    let takes_time = self.options.control_latency.is_some();
                    let together = answer(&mut device, &mut **shared, ticket);
                    let now_ps = alone.now_ps();
                    let ticket = alone_target.submit(batch.clone(), now_ps);
                    let expected = answer(alone, alone_target, ticket);
                    counts.batches += 1;
                    counts.faults += usize::from(!expected.is_ok());
                    let [together, expected] = [together, expected]
                        .map(|outcome| essence(&outcome, is_mapped, takes_time));
                    if together != expected {
                        return Err(format!(
                            "program {at}, {batch:?}: {together} instead of {expected}"
                        ));
                    }
                }
            }
            let packets_ps = round * ROUND_PS;
            device.advance(packets_ps).map_err(|error| error.to_string())?;
            for tenant in &mut tenants {
                tenant.alone.advance(packets_ps).map_err(|error| error.to_string())?;
            }
            for _ in 0..6 {
                counts.packets += 1;
                let at = choices.below(4);
                let bytes = vec![choices.below(5) as u8, choices.below(6) as u8, 0, 0, 0, 0];
                let port = if at == 0 { 5 } else { at as u32 };
                let send = |device: &mut Device| {
                    device.inject(port, packets_ps, bytes.clone()).expect("a time to come");
                    device.advance(packets_ps).expect("no assertion fails");
                    let sent = device.drain_transmitted();
                    let mut sent: Vec<_> =
                        sent.into_iter().map(|packet| (packet.port, packet.bytes)).collect();
                    sent.sort();
                    sent
                };
                let together = send(&mut device);
                let expected = send(&mut tenants[at].alone);
                counts.sent += expected.len();
                if together != expected {
                    return Err(format!(
                        "packet {bytes:?} of program {at}: {together:?} instead of {expected:?}"
                    ));
                }
            }
            for tenant in &mut tenants {
                let together = tenant.shared.notifications();
                let mut expected = tenant.alone_target.notifications();
                // Digests of all programs come to a controller without a map.
                let own = |notification: &Notification| match notification {
                    Notification::Digest { fields, .. } => fields[0].1.is_zero(),
                    _ => true,
                };
                let together: Vec<Notification> = match tenant.number {
                    0 => together.into_iter().filter(own).collect(),
                    _ => together,
                };
                let configuration = tenant.alone.configuration();
                expected.retain(|notification| match notification {
                    // The maps of this trial know nothing of entries that have gone since.
                    Notification::IdleTimeout { table, entry, .. } if tenant.number > 0 => {
                        configuration.entry_handle(*table, &entry.keys, entry.priority).is_ok()
                    }
                    notification => tenant.number > 0 || own(notification),
                });
                counts.notifications += expected.len();
                let [together, expected] = [together, expected].map(|list| news(&list));
                if together != expected {
                    let number = tenant.number;
                    return Err(format!(
                        "program {number} hears {together:?} instead of {expected:?}"
                    ));
                }
            }
        }
        Ok(())
    }

    #[track_caller]
    fn is_right(&self, histories: u64) {
        let mut counts = Counts::default();
        for seed in 0..histories {
            if let Err(what) = self.run(seed, &mut counts) {
                panic!("seed {seed}: {what}");
            }
        }
        println!("{histories} histories: {counts:?}");
        assert!(counts.faults * 3 < counts.batches * 2, "{counts:?}");
        assert!(counts.sent * 5 > counts.packets && counts.notifications > 0, "{counts:?}");
    }

    #[track_caller]
    fn is_caught(&self, histories: u64) {
        let mut counts = Counts::default();
        let (mut caught, mut first) = (0, None);
        for seed in 0..histories {
            if let Err(what) = self.run(seed, &mut counts) {
                caught += 1;
                first.get_or_insert((counts.batches, counts.packets, what));
            }
        }
        let mistake = self.mistake;
        let (batches, packets, what) = first.unwrap_or_else(|| panic!("{mistake:?} is not caught"));
        let what: String =
            what.chars().rev().take(150).collect::<Vec<_>>().into_iter().rev().collect();
        println!(
            "{mistake:?}: caught in {caught} of {histories} histories, first after {batches} batches and {packets} packets: ...{what}"
        );
    }
}

#[test]
fn programs_that_share_a_target_do_not_see_one_another() {
    Scene::new(Mistake::None, EngineChoice::Interpreter, None).is_right(cases(40));
    Scene::new(Mistake::None, EngineChoice::Jit, None).is_right(cases(20));
}

#[test]
fn programs_that_share_a_slow_target_do_not_see_one_another() {
    let model = Some(LatencyModel::pcie_chip());
    Scene::new(Mistake::None, EngineChoice::Interpreter, model).is_right(cases(20));
}

#[test]
fn mistakes_of_maps_and_portions_are_caught() {
    for mistake in [
        Mistake::KeyLeftOpen,
        Mistake::WrongKey,
        Mistake::NoPortion,
        Mistake::OverlappingIds,
        Mistake::AllDigests,
    ] {
        Scene::new(mistake, EngineChoice::Interpreter, None).is_caught(10);
    }
}
