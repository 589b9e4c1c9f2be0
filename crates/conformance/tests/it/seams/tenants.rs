// SPDX-License-Identifier: Apache-2.0
//! Programs that share a device, each beside the same program alone on a device of its own: random batches, reads,
//! packets and notifications of both have to be equal.

use crate::seams::share::{NAMES, ROUND_PS, TIMEOUT_NS};
use crate::seams::{answer, bound, table};
use control::target::{Batch, Fault, Item, Notification, Outcome, Reply, Target};
use device::Device;
use ir::{Bits, KeyPattern, Program, TableId};
use state::{
    Atomicity, CloneSession, CounterValue, EntryRecord, EntryReference, EntryTarget,
    EntryWithCells, MulticastGroup, NewEntry, Read, Replica, Update,
};
use std::sync::Arc;
use testing::Choices;

/// A controller's program, and how its batches are drawn.
pub(crate) struct Tenant {
    pub program: Arc<Program>,
    /// Its number, by which it draws; the controller without a map is 0.
    pub number: usize,
    /// The shared target, through a map or a portion.
    pub shared: Box<dyn Target>,
    /// A device of its own.
    pub alone: Device,
    pub alone_target: device::DeviceTarget,
    /// Whether the shared target tells of idle entries only while they are there.
    pub knows_living_entries: bool,
}

impl Tenant {
    /// The port by which its packets come.
    pub(crate) fn port(&self) -> u32 {
        if self.number == 0 { 5 } else { self.number as u32 }
    }

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

/// What notifications of packets and entries say, without their times.
fn news(notifications: &[Notification]) -> Vec<String> {
    let text = |notification: &Notification| match notification {
        Notification::Digest { name, fields, .. } => format!("{name} {fields:?}"),
        Notification::IdleTimeout { table, entry, .. } => {
            format!("{table:?} {:?} idle", entry.keys)
        }
        other => format!("{other:?}"),
    };
    let is_compared =
        |notification: &&Notification| !matches!(notification, Notification::Swapped { .. });
    let mut list: Vec<String> = notifications.iter().filter(is_compared).map(text).collect();
    list.sort();
    list
}

#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub batches: usize,
    pub faults: usize,
    pub packets: usize,
    pub sent: usize,
    pub notifications: usize,
}

/// A device that programs share, and their tenants.
pub(crate) struct History {
    pub device: Device,
    pub tenants: Vec<Tenant>,
}

impl History {
    /// Draws batches and packets, and compares each program with itself alone on a device. `between` may change
    /// the device before a round, from 1. The error is a sentence about what a program sees of others.
    pub(crate) fn play(
        mut self,
        choices: &mut Choices,
        counts: &mut Counts,
        mut between: impl FnMut(u64, &mut Device, &mut [Tenant]),
    ) -> Result<(), String> {
        let History { device, tenants } = &mut self;
        for tenant in tenants.iter_mut() {
            tenant.shared.notifications();
            tenant.alone_target.notifications();
        }
        for round in 1..=8 {
            between(round, device, tenants);
            for _ in 0..3 {
                let mut under_way = Vec::new();
                let now_ps = device.now_ps();
                for (at, tenant) in tenants.iter_mut().enumerate() {
                    let batch = tenant.batch(choices);
                    let ticket = tenant.shared.submit(batch.clone(), now_ps);
                    under_way.push((at, ticket, batch));
                }
                for (at, ticket, batch) in under_way {
                    let Tenant { shared, alone, alone_target, number, .. } = &mut tenants[at];
                    let is_mapped = *number > 0;
                    let takes_time = device.options().control_latency.is_some();
                    let together = answer(device, &mut **shared, ticket);
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
            for tenant in tenants.iter_mut() {
                tenant.alone.advance(packets_ps).map_err(|error| error.to_string())?;
            }
            for _ in 0..6 {
                counts.packets += 1;
                let at = choices.below(tenants.len());
                let bytes = vec![choices.below(5) as u8, choices.below(6) as u8, 0, 0, 0, 0];
                let port = tenants[at].port();
                let send = |device: &mut Device| {
                    device.inject(port, packets_ps, bytes.clone()).expect("a time to come");
                    device.advance(packets_ps).expect("no assertion fails");
                    let sent = device.drain_transmitted();
                    let mut sent: Vec<_> =
                        sent.into_iter().map(|packet| (packet.port, packet.bytes)).collect();
                    sent.sort();
                    sent
                };
                let together = send(device);
                let expected = send(&mut tenants[at].alone);
                counts.sent += expected.len();
                if together != expected {
                    return Err(format!(
                        "packet {bytes:?} of program {at}: {together:?} instead of {expected:?}"
                    ));
                }
            }
            for tenant in tenants.iter_mut() {
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
                    Notification::IdleTimeout { table, entry, .. }
                        if tenant.knows_living_entries =>
                    {
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
}
