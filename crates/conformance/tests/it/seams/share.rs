// SPDX-License-Identifier: Apache-2.0
//! What sharing needs: three programs behind maps, and a controller without a map, each on its own portion of one
//! target. Random batches, reads, packets and notifications of each have to be those of the same program on a
//! device of its own; maps and portions with a mistake are caught by the same comparison.

use crate::seams::tenants::{Counts, History, Tenant};
use crate::seams::{bound, program, table};
use control::latency::{DriverModel, LatencyModel};
use control::map::{IdRanges, Mapped, Physical, SharedTarget, TargetIndex, Translation, Virtual};
use control::target::{Fault, Notification, Target};
use device::{Device, DeviceOptions, EngineChoice};
use ir::{Bits, KeyPattern, Program, TableId};
use state::{ActionData, CloneSession, Configuration, EntryReference, NewEntry, Read, Update};
use std::sync::{Arc, LazyLock};
use testing::{Choices, cases};

/// From one round of batches to the packets after it, and from them to the next round.
pub(crate) const ROUND_PS: u64 = 1_000_000_000;

/// How long entries may go without a hit: two rounds and a half.
pub(crate) const TIMEOUT_NS: u64 = 5 * ROUND_PS / 2_000;

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
        let knows_living_entries = number > 0;
        Tenant { program, number, shared: target, alone, alone_target, knows_living_entries }
    }

    /// A sentence about what a program sees of others, if it does.
    fn run(&self, seed: u64, counts: &mut Counts) -> Result<(), String> {
        let mut choices = Choices::from_seed(seed);
        let device = self.like[0].sharing_code_with(self.options.clone()).expect("it loads");
        let shared = SharedTarget::new(Box::new(device.target()));
        let tenants: Vec<Tenant> =
            (0..4).map(|number| self.tenant(number, &shared, &device)).collect();
        History { device, tenants }.play(&mut choices, counts, |_, _, _| {})
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
    let model = Some(DriverModel::pcie_chip().model);
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
