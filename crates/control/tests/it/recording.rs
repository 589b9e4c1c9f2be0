// SPDX-License-Identifier: Apache-2.0
//! Recordings of random updates: their text makes the same state again.

use crate::session::program;
use control::checkpoint::Checkpoint;
use control::command_text;
use control::recording::Recording;
use control::session::Session;
use control::state_target::StateTarget;
use control::target::{Batch, DeviceItem, Item, Reply, Target};
use ir::{ActionId, Bits, CounterId, KeyPattern, MeterId, RegisterId, TableId};
use state::{
    BoundAction, CellRange, CellValues, CloneSession, CounterValue, MeterConfiguration,
    MulticastGroup, NewEntry, Replica, TokenRate, Update,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use testing::Choices;

const UPDATES: usize = 300;

/// A random update; it may be refused.
fn update(program: &ir::Program, choices: &mut Choices) -> Update {
    let tables = ["exact_table", "lpm_table", "ternary_table", "aging", "by_names", "fixed"];
    let name = tables[choices.below(tables.len())];
    let at = program.tables.iter().position(|table| table.name.ends_with(name)).expect("a table");
    let (table, declared) = (TableId(at as u32), &program.tables[at]);
    let keys: Vec<KeyPattern> =
        declared.keys.iter().map(|key| pattern(&key.match_kind, key.width_bits, choices)).collect();
    // The others keep a priority without a meaning.
    let priority = match declared.has_priorities() {
        true => choices.below(4) as i64 * 1_000_000_007 - 5,
        false => 0,
    };
    let action = |choices: &mut Choices| {
        let listed = &declared.actions[choices.below(declared.actions.len())];
        let known = &program.actions[listed.action.index()];
        let width = |slot: ir::SlotId| program.slots[slot.index()].ty.width_bits();
        let arguments = known.parameters.iter();
        let arguments =
            arguments.map(|each| Bits::from_u64(width(each.slot), choices.below(200) as u64));
        BoundAction { action: ActionId(listed.action.0), arguments: arguments.collect() }
    };
    let entry = |choices: &mut Choices| {
        let mut entry = NewEntry::direct(keys.clone(), priority, action(choices));
        if name == "aging" && choices.flag() {
            entry.idle_timeout_ns = choices.below(3) as u64 * 1_000_000;
        }
        entry
    };
    let group = choices.between(1, 3);
    let content = |choices: &mut Choices| {
        let replica = |choices: &mut Choices| Replica {
            egress_port: choices.between(0, 7),
            instance: choices.between(0, 1),
        };
        let mut replicas: Vec<Replica> = (0..choices.below(5)).map(|_| replica(choices)).collect();
        replicas.sort_by_key(|replica| (replica.instance, replica.egress_port));
        replicas.dedup();
        MulticastGroup { replicas, metadata: Vec::new() }
    };
    match choices.below(16) {
        0..=4 => Update::InsertEntry { table, entry: entry(choices) },
        5 | 6 => Update::ModifyEntry { table, entry: entry(choices) },
        7 | 8 => Update::DeleteEntry { table, keys, priority },
        9 if choices.one_in(4) => Update::ClearEntries { table },
        9 => Update::SetDefaultAction { table, action: choices.flag().then(|| action(choices)) },
        10 => {
            let value = |choices: &mut Choices| Bits::from_u64(16, choices.below(3) as u64);
            let cells = CellRange::range(choices.below(6) as u64, 2);
            let (cells, values) = match choices.below(3) {
                0 => (cells, CellValues::Each(vec![value(choices), value(choices)])),
                1 => (cells, CellValues::Same(value(choices))),
                _ => (CellRange::all(), CellValues::Same(value(choices))),
            };
            Update::WriteRegister { register: RegisterId(0), cells, values }
        }
        11 => {
            let counter = program.counters.iter().position(|counter| counter.size.is_some());
            let counter = CounterId(counter.expect("a counter") as u32);
            let value = CounterValue { packets: choices.below(9) as u64, bytes: 0 };
            Update::WriteCounter { counter, cells: CellRange::one(1), values: value.into() }
        }
        12 => {
            let rate = TokenRate::per_second(choices.below(1_000_000) as u64, 20);
            let configuration = MeterConfiguration { committed: rate, peak: rate };
            let values = CellValues::Same(Some(configuration));
            Update::WriteMeter { meter: MeterId(0), cells: CellRange::one(2), values }
        }
        13 => Update::InsertMulticastGroup { group, content: content(choices) },
        14 => Update::ModifyMulticastGroup { group, content: content(choices) },
        _ => Update::DeleteMulticastGroup { group },
    }
}

fn pattern(kind: &ir::MatchKind, width_bits: u32, choices: &mut Choices) -> KeyPattern {
    let value = |choices: &mut Choices| Bits::from_u64(width_bits, choices.below(3) as u64);
    match kind {
        ir::MatchKind::Lpm => {
            let length_bits = choices.between(0, width_bits);
            let mask = Bits::prefix_mask(width_bits, length_bits);
            let value = value(choices).binary(ir::BinaryOperation::And, &mask);
            KeyPattern::Prefix { value, length_bits }
        }
        ir::MatchKind::Ternary if choices.flag() => KeyPattern::Any,
        ir::MatchKind::Ternary => {
            let mask = Bits::from_u64(width_bits, 3);
            KeyPattern::Ternary { value: value(choices), mask }
        }
        ir::MatchKind::Range if choices.flag() => KeyPattern::Any,
        ir::MatchKind::Range => {
            KeyPattern::Range { low: value(choices), high: Bits::from_u64(width_bits, 9) }
        }
        _ => KeyPattern::Exact(value(choices)),
    }
}

/// Applies an update, and records it if it is not refused.
fn apply(target: &mut StateTarget, recording: &mut Recording, time_ps: u64, item: Item) {
    target.set_now_ps(time_ps);
    if let Ok(reply) = target.execute(Batch::one(item.clone())).into_reply() {
        recording.record(time_ps, &item, &Reply::State(reply));
    }
}

/// The state as text, with ranks in place of priorities, whose numbers recordings choose.
fn state_text(target: &mut StateTarget) -> String {
    let text = Checkpoint::read(target).expect("the target answers").to_string();
    let priority = |line: &str| -> Option<i64> {
        let (_, behind) = line.split_once(" priority ")?;
        behind.split(' ').next()?.parse().ok()
    };
    let object = |line: &str| line.split(" [").next().unwrap_or_default().to_string();
    let mut ranks: BTreeMap<String, BTreeSet<i64>> = BTreeMap::new();
    for line in text.lines() {
        ranks.entry(object(line)).or_default().extend(priority(line));
    }
    let ranked = text.lines().map(|line| match priority(line) {
        Some(given) => {
            let rank = ranks[&object(line)].iter().filter(|other| **other < given).count();
            line.replace(&format!("priority {given}"), &format!("rank {rank}"))
        }
        None => line.to_string(),
    });
    ranked.collect::<Vec<_>>().join("\n")
}

#[test]
fn recorded_updates_make_the_same_state_again() {
    let program = program();
    let start = || StateTarget::new(program.clone()).expect("the program's entries are right");
    let (mut commands, mut kept) = (0, 0);
    for seed in testing::seeds(40) {
        let mut choices = Choices::from_seed(seed);
        let (mut first, mut recording) = (start(), Recording::new(program.clone()));
        for at in 0..UPDATES {
            let item = Item::from(update(&program, &mut choices));
            apply(&mut first, &mut recording, at as u64 / 4 * 1500, item);
        }
        let text = recording.text();
        assert!(recording.unwritten().is_empty(), "{:?}", recording.unwritten());
        let mut second = start();
        replay(&program, &text, &mut second);
        assert_eq!(state_text(&mut second), state_text(&mut first), "seed {seed}:\n{text}");
        commands += recording.command_count();
        kept += text.matches("table_modify").count();
    }
    assert!(commands > 3000 && kept > 100, "{commands} commands, {kept} modifications");
}

/// Runs a recording's text.
fn replay(program: &Arc<ir::Program>, text: &str, target: &mut StateTarget) {
    let (commands, errors) = command_text::read_timed("recorded", text);
    assert!(errors.is_empty(), "{errors:?}");
    let mut session = Session::new(program.clone());
    for (time_ps, command) in commands {
        target.set_now_ps(time_ps);
        let answer = session.apply(&command, target);
        assert!(answer.is_ok(), "{answer:?}\n{text}");
    }
}

/// Commands that BMv2 has only in some forms count as what their text has.
#[test]
fn updates_that_cannot_be_written_are_counted_by_their_kinds() {
    let program = program();
    let mut recording = Recording::new(program.clone());
    let session = |egress_ports: &[u32], packet_length_bytes| Update::InsertCloneSession {
        session: 1,
        content: CloneSession {
            replicas: egress_ports
                .iter()
                .map(|port| Replica { egress_port: *port, instance: 0 })
                .collect(),
            packet_length_bytes,
            ..CloneSession::default()
        },
    };
    let depth = |port, priority| DeviceItem::QueueDepth { packets: 9, port, priority };
    let items: [Item; 6] = [
        session(&[3], None).into(),
        session(&[3, 4], None).into(),
        session(&[3], Some(64)).into(),
        depth(None, None).into(),
        depth(Some(2), Some(1)).into(),
        depth(None, Some(1)).into(),
    ];
    for item in items {
        recording.record(0, &item, &Reply::Done);
    }
    assert_eq!(recording.command_count(), 3);
    let unwritten: Vec<(&str, usize)> = recording.unwritten().into_iter().collect();
    let kinds = [
        ("clone sessions with several copies, a length or a class", 2),
        ("rates and depths of one priority at all ports", 1),
    ];
    assert_eq!(unwritten, kinds);
    let text = recording.text();
    let commands: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(commands, ["mirroring_add 1 3", "set_queue_depth 9", "set_queue_depth 9 2 1"]);
    assert_eq!(text.matches("# not a command of BMv2: ").count(), 3, "{text}");
}

#[test]
fn times_are_comments_that_do_not_go_back() {
    let text = "table_clear t\n# at 5 us\n# at once\ntable_clear t # at 9 us\n# at 4 us\ntable_clear\n#at 7 uss";
    let (commands, errors) = command_text::read_timed("f", text);
    assert_eq!(commands.iter().map(|(time_ps, _)| *time_ps).collect::<Vec<_>>(), [0, 5_000_000]);
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        errors,
        [
            "error[CTL-E0101]: f:5: this time is before that of the commands in front of it",
            "error[CTL-E0101]: f:6: table_clear: the table is missing",
            "error[CTL-E0101]: f:7: `uss` is not a unit of time; units are ps, ns, us, ms, s, min\n  help: a comment that begins with `at` and a number gives a time, such as: # at 31300 ns",
        ]
    );
}
