// SPDX-License-Identifier: Apache-2.0
//! Checkpoints as text: one line an object, by name, in a fixed order, without the places, generations and times of one
//! target. Two checkpoints are equal when their texts are.

use super::{Checkpoint, cell_reads};
use crate::map::Reconciliation;
use crate::target::Item;
use ir::{KeyPattern, Program};
use state::{ActionData, BatchItem, BoundAction, EntryRecord, EntryTarget, Read, Reply};
use std::fmt;

impl fmt::Display for Checkpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = &*self.program;
        let mut lines = Vec::new();
        let reads = Reconciliation::new(self.program.clone()).reads().items;
        for (read, reply) in reads.iter().zip(&self.configuration) {
            if let Item::State(BatchItem::Read(read)) = read {
                reply_lines(program, read, reply, &mut lines);
            }
        }
        for (read, reply) in cell_reads(program).iter().zip(&self.cells) {
            reply_lines(program, read, reply, &mut lines);
        }
        // Objects in the order of their names, the facts of each in their own order.
        lines.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (object, fact) in lines {
            writeln!(formatter, "{object} {fact}")?;
        }
        for setting in self.settings.iter().flatten() {
            writeln!(formatter, "device {setting:?}")?;
        }
        Ok(())
    }
}

impl PartialEq for Checkpoint {
    fn eq(&self, other: &Checkpoint) -> bool {
        self.to_string() == other.to_string()
    }
}

fn keys(keys: &[KeyPattern]) -> String {
    let keys: Vec<String> = keys.iter().map(|key| format!("{key:?}")).collect();
    format!("[{}]", keys.join(", "))
}

fn action(program: &Program, action: &BoundAction) -> String {
    let name = program.actions.get(action.action.index()).map_or("?", |action| &action.name);
    let arguments: Vec<String> =
        action.arguments.iter().map(|argument| format!("{argument:?}")).collect();
    format!("{name}({})", arguments.join(", "))
}

fn data(program: &Program, data: &ActionData) -> String {
    match data {
        ActionData::Direct(bound) => action(program, bound),
        ActionData::Member(member) => format!("member {}", member.0),
        ActionData::Group(group) => format!("group {}", group.0),
        ActionData::OneShot(list) => {
            let choice = |choice: &state::WeightedAction| {
                let of = action(program, &choice.action);
                format!("{of} weight {} watch {:?}", choice.weight, choice.watch_port)
            };
            list.iter().map(choice).collect::<Vec<_>>().join(" | ")
        }
    }
}

fn entry_name(entry: &EntryRecord) -> String {
    format!("{} priority {}", keys(&entry.keys), entry.priority)
}

fn reply_lines(program: &Program, read: &Read, reply: &Reply, lines: &mut Vec<(String, String)>) {
    let object = match read {
        Read::Entries { table } | Read::DefaultAction { table } => {
            format!("table {}", program.tables[table.index()].name)
        }
        Read::EntriesWithCells { table, .. } => {
            format!("table {} cells", program.tables[table.index()].name)
        }
        Read::Members { profile, .. } | Read::Groups { profile, .. } => {
            format!("profile {}", program.action_profiles[profile.index()].name)
        }
        Read::ValueSet { set } => format!("value set {}", program.value_sets[set.index()].name),
        Read::Register { register, .. } => {
            format!("register {}", program.registers[register.index()].name)
        }
        Read::Counter { counter, .. } => {
            format!("counter {}", program.counters[counter.index()].name)
        }
        Read::Meter { meter, .. } => format!("meter {}", program.meters[meter.index()].name),
        Read::CrcParameters { calculation } => {
            format!("calculation {}", program.calculations[calculation.index()].name)
        }
        _ => "replication".to_string(),
    };
    let mut add = |fact: String| lines.push((object.clone(), fact));
    match reply {
        Reply::Entries(list) => {
            for entry in list {
                let EntryRecord { idle_timeout_ns, metadata, cookie, .. } = &**entry;
                add(format!(
                    "entry {} {} timeout {idle_timeout_ns} metadata {metadata:?} cookie {cookie}",
                    entry_name(entry),
                    data(program, &entry.action),
                ));
            }
        }
        Reply::DefaultAction { action: bound, is_initial } => {
            let whose = if *is_initial { "the program's" } else { "set" };
            add(format!("default {} {whose}", action(program, bound)));
        }
        Reply::EntriesWithCells(list) => {
            for cells in list {
                let name = match &cells.target {
                    EntryTarget::Default => "default".to_string(),
                    EntryTarget::Entry(entry) => entry_name(entry),
                };
                add(format!("{name} {:?} {:?}", cells.counters, cells.meters));
            }
        }
        Reply::Members(list) => {
            for (member, bound) in list {
                add(format!("member {} {}", member.0, action(program, bound)));
            }
        }
        Reply::Groups(list) => {
            list.iter().for_each(|(group, content)| add(format!("group {} {content:?}", group.0)));
        }
        Reply::ValueSet(list) => list.iter().for_each(|member| add(keys(member))),
        Reply::Registers(list) => add(format!("{list:?}")),
        Reply::Counters(list) => add(format!("{list:?}")),
        Reply::Meters(list) => add(format!("{list:?}")),
        Reply::MulticastGroups(list) => {
            list.iter().for_each(|(group, content)| add(format!("group {group} {content:?}")));
        }
        Reply::CloneSessions(list) => {
            list.iter()
                .for_each(|(session, content)| add(format!("session {session} {content:?}")));
        }
        Reply::Exclusions(exclusions) => add(format!("{exclusions:?}")),
        Reply::Crc(parameters) => add(format!("{parameters:?}")),
        Reply::Done | Reply::Inserted(_) | Reply::DirectCounters(_) | Reply::DirectMeters(_) => {}
    }
}
