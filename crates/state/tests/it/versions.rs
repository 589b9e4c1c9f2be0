// SPDX-License-Identifier: Apache-2.0
//! Pinned versions on both sides: reads through each pin against a model of its version, limits of pins for writers, wakeups
//! at releases, and costs of pins.

use ir::{ActionId, Bits, KeyPattern, TableId};
use proptest::prelude::*;
use state::forwarding::ForwardingState;
use state::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

const PROGRAM: &str = r#"ir test
origin @0
slot value: bit<64> unsigned @0
slot short: bit<8> unsigned @0
action set(value at value) runs set @0
action set_short(short at short) runs set @0
region action set {
  block0:
    return @0
}
table records {
  key k: exact bit<32> unsigned
  action set
  default set(64w0)
} @0
table prefixes {
  key k: lpm bit<32> unsigned
  action set_short
  default set_short(8w0)
} @0
table masks {
  key k: ternary bit<32> unsigned
  action set
  default set(64w0)
  direct_counter hits
} @0
counter hits: packets direct @0
register cells: bit<8> unsigned size 4 initial 8w0 @0
"#;

const TABLES: usize = 3;
const MOST: usize = Store::MAX_PINNED_VERSIONS;

/// Keys that entries may have.
const KEYS: u64 = 6;

/// Content of the tables: values by key, and the values of default actions.
#[derive(Clone, Debug, Default, PartialEq)]
struct Model {
    entries: [BTreeMap<u64, u64>; TABLES],
    defaults: [u64; TABLES],
}

impl Model {
    fn value(&self, table: usize, key: u64) -> u64 {
        self.entries[table].get(&key).copied().unwrap_or(self.defaults[table])
    }
}

fn switch() -> (Store, Cells) {
    let program = ir::text::parse(PROGRAM).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let program = Arc::new(program);
    (Store::new(program.clone()).expect("a sound program"), Cells::new(&program))
}

fn action(table: usize, value: u64) -> BoundAction {
    let (action, width_bits) = if table == 1 { (1, 8) } else { (0, 64) };
    BoundAction { action: ActionId(action), arguments: vec![Bits::from_u64(width_bits, value)] }
}

fn entry(table: usize, key: u64, value: u64) -> NewEntry {
    let keys = vec![KeyPattern::Exact(Bits::from_u64(32, key))];
    NewEntry::direct(keys, 1, action(table, value))
}

/// One change of a table; values fit into eight bits.
#[derive(Clone, Debug)]
enum Change {
    Set(u64, u64),
    Delete(u64),
    Default(u64),
    Clear,
}

/// The update of a change, which also changes the model.
fn update(model: &mut Model, at: usize, change: &Change) -> Update {
    let table = TableId(at as u32);
    let entries = &mut model.entries[at];
    match *change {
        Change::Set(key, value) => {
            let entry = entry(at, key, value);
            match entries.insert(key, value) {
                Some(_) => Update::ModifyEntry { table, entry },
                None => Update::InsertEntry { table, entry },
            }
        }
        Change::Delete(key) if entries.remove(&key).is_some() => {
            Update::DeleteEntry { table, keys: entry(at, key, 0).keys, priority: 1 }
        }
        Change::Delete(value) | Change::Default(value) => {
            model.defaults[at] = value;
            Update::SetDefaultAction { table, action: Some(action(at, value)) }
        }
        Change::Clear => {
            entries.clear();
            Update::ClearEntries { table }
        }
    }
}

enum Pin {
    Configuration(Arc<Configuration>),
    Forwarding(Arc<ForwardingState>),
}

impl Pin {
    fn version(&self) -> u64 {
        match self {
            Pin::Configuration(configuration) => configuration.version(),
            Pin::Forwarding(state) => state.version(),
        }
    }

    fn value(&self, at: usize, key: u64) -> u64 {
        let id = TableId(at as u32);
        match self {
            Pin::Configuration(configuration) => {
                let table = configuration.table(id).expect("a table");
                let value = |action: &BoundAction| action.arguments[0].low_u64();
                match table.lookup(&[Bits::from_u64(32, key)]).map(|entry| &entry.action) {
                    Some(ActionData::Direct(action)) => value(action),
                    _ => value(&table.default_action().action),
                }
            }
            Pin::Forwarding(state) => {
                let table = state.table(id).expect("a table");
                let record = table.find_word(key).unwrap_or_else(|| table.default_record());
                let record = table.record_words(record).expect("a record");
                record[table.layout().argument_word(0, 0)]
            }
        }
    }

    fn assert_equals(&self, model: &Model) {
        for table in 0..TABLES {
            for key in 0..KEYS {
                assert_eq!(self.value(table, key), model.value(table, key), "{table} {key}");
            }
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// A batch in which one of three updates may fail, and which of the three calls writes it.
    Write(Vec<(usize, Change)>, bool, u8),
    Pin(bool),
    Drop(usize),
    Check(Vec<(usize, Change)>),
}

fn changes() -> impl Strategy<Value = Vec<(usize, Change)>> {
    let change = prop_oneof![
        6 => (0..KEYS, 0u64..256).prop_map(|(key, value)| Change::Set(key, value)),
        3 => (0..KEYS).prop_map(Change::Delete),
        1 => (0u64..256).prop_map(Change::Default),
        1 => Just(Change::Clear),
    ];
    prop::collection::vec((0..TABLES, change), 1..4)
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (changes(), prop::bool::weighted(0.2), 0u8..3)
            .prop_map(|(changes, fails, by)| Step::Write(changes, fails, by)),
        8 => any::<bool>().prop_map(Step::Pin),
        3 => any::<usize>().prop_map(Step::Drop),
        1 => changes().prop_map(Step::Check),
    ];
    prop::collection::vec(step, 1..120)
}

proptest! {
    #[test]
    fn pins_keep_their_versions_and_limit_the_writers(steps in steps(), asks_first in any::<bool>()) {
        let (store, mut cells) = switch();
        if asks_first {
            drop(store.forwarding());
        }
        let mut model = Model::default();
        let mut pins: Vec<(Pin, Model)> = Vec::new();
        for step in steps {
            match step {
                Step::Pin(true) => pins.push((Pin::Configuration(store.configuration()), model.clone())),
                Step::Pin(false) => pins.push((Pin::Forwarding(store.forwarding()), model.clone())),
                Step::Drop(at) if !pins.is_empty() => {
                    pins.swap_remove(at % pins.len());
                }
                Step::Drop(_) => {}
                Step::Check(changes) => {
                    let mut next = model.clone();
                    let updates =
                        changes.iter().map(|(table, change)| update(&mut next, *table, change));
                    prop_assert!(store.check_configuration(Batch::updates(0, updates)).is_ok());
                }
                Step::Write(changes, fails, by) => {
                    let mut next = model.clone();
                    let mut updates: Vec<_> = changes
                        .iter()
                        .map(|(table, change)| update(&mut next, *table, change))
                        .collect();
                    if fails {
                        updates.push(Update::DeleteMulticastGroup { group: 1 });
                    }
                    let atomicity = Atomicity::RollbackOnError;
                    let batch = Batch { atomicity, ..Batch::updates(0, updates) };
                    let written = match by {
                        0 => store.try_write_configuration(batch.clone()),
                        1 => store.try_write_batch(&mut cells, batch.clone()),
                        _ => store.try_write_batch_in_place(&mut cells, batch.clone()),
                    };
                    let pinned = pinned(&store, &pins);
                    match written {
                        Ok(outcome) => {
                            prop_assert_eq!(outcome.rolled_back, fails);
                            // This batch may have turned one more version into an older one.
                            prop_assert!(pinned <= MOST + 1);
                            if !fails {
                                model = next;
                            }
                        }
                        Err(refused) => {
                            prop_assert_eq!(refused, batch);
                            prop_assert!(pinned > MOST);
                        }
                    }
                }
            }
            prop_assert_eq!(store.pinned_versions(), pinned(&store, &pins));
            pins.iter().for_each(|(pin, model)| pin.assert_equals(model));
            Pin::Configuration(store.configuration()).assert_equals(&model);
        }
        Pin::Forwarding(store.forwarding()).assert_equals(&model);
        drop(pins);
        prop_assert_eq!(store.pinned_versions(), 0);
        // Unneeded spares are dropped.
        for value in 0..40 {
            let change = Change::Set(0, value);
            let updates: Vec<_> =
                (0..TABLES).map(|table| update(&mut model, table, &change)).collect();
            prop_assert!(store.write_configuration(Batch::updates(0, updates)).is_ok());
        }
        prop_assert!(store.forwarding_copies() <= 2);
        Pin::Forwarding(store.forwarding()).assert_equals(&model);
    }
}

/// Different older versions among the pins.
fn pinned(store: &Store, pins: &[(Pin, Model)]) -> usize {
    let current = store.configuration().version();
    let versions: BTreeSet<u64> = pins.iter().map(|(pin, _)| pin.version()).collect();
    versions.into_iter().filter(|version| *version != current).count()
}

/// All tables have the value for key 0.
fn set_all(model: &mut Model, value: u64) -> Batch {
    let change = Change::Set(0, value % 256);
    Batch::updates(0, (0..TABLES).map(|table| update(model, table, &change)).collect::<Vec<_>>())
}

#[test]
fn any_number_of_pins_reads_its_versions_on_either_side() {
    for sides in 1..4 {
        for count in 0..=20 {
            let (store, _) = switch();
            let mut model = Model::default();
            let mut pins = Vec::new();
            for value in 0..count {
                if sides & 1 != 0 {
                    pins.push((Pin::Configuration(store.configuration()), model.clone()));
                }
                if sides & 2 != 0 {
                    pins.push((Pin::Forwarding(store.forwarding()), model.clone()));
                }
                let mut next = model.clone();
                let written = store.try_write_configuration(set_all(&mut next, value));
                // The pin is of an older version only after the batch.
                assert_eq!(written.is_ok(), value as usize <= MOST, "{count} pins, {value}");
                if written.is_ok() {
                    model = next;
                }
            }
            pins.iter().for_each(|(pin, model)| pin.assert_equals(model));
            let expected = (count as usize).min(MOST + 1);
            assert_eq!(store.pinned_versions(), expected);
            let statistics = store.version_statistics();
            assert_eq!((statistics.pinned, statistics.most_pinned), (expected, expected));
            assert_eq!(statistics.refused_batches, count.saturating_sub(MOST as u64 + 1));
        }
    }
}

/// A store that refuses batches because of pinned older versions.
fn crowded_store() -> (Store, Cells, Model, Vec<Arc<ForwardingState>>) {
    let (store, cells) = switch();
    let mut model = Model::default();
    let mut pins = Vec::new();
    for value in 0..=MOST as u64 {
        pins.push(store.forwarding());
        assert!(store.write_configuration(set_all(&mut model, value)).is_ok());
    }
    (store, cells, model, pins)
}

#[test]
fn reads_checks_and_cells_are_never_refused() {
    let (store, mut cells, mut model, pins) = crowded_store();
    let register = ir::RegisterId(0);
    let write = Update::WriteRegister {
        register,
        cells: CellRange::all(),
        values: Bits::from_u64(8, 1).into(),
    };
    let read = BatchItem::Read(Read::Entries { table: TableId(0) });
    let items = vec![BatchItem::Update(write), read];
    let batch = Batch { items, ..Batch::updates(0, []) };
    let version = store.configuration().version();
    assert!(store.try_write_batch(&mut cells, batch.clone()).is_ok_and(|it| it.is_ok()));
    assert!(store.try_write_batch_in_place(&mut cells, batch).is_ok_and(|it| it.is_ok()));
    let batch = set_all(&mut model.clone(), 99);
    assert!(store.check_batch(&mut cells, batch.clone()).is_ok());
    // Cells belong to no version.
    assert_eq!(store.configuration().version(), version);
    assert_eq!(store.version_statistics().refused_batches, 0);
    assert_eq!(store.try_write_batch(&mut cells, batch.clone()), Err(batch.clone()));
    assert_eq!(store.try_write_batch_in_place(&mut cells, batch.clone()), Err(batch));
    assert_eq!(store.version_statistics().refused_batches, 2);
    drop(pins);
    assert!(store.try_write_configuration(set_all(&mut model, 99)).is_ok());
}

#[test]
fn a_release_wakes_refused_writers() {
    let (store, _, mut model, mut pins) = crowded_store();
    let releases = Arc::new(AtomicUsize::new(0));
    let counted = releases.clone();
    store.on_release(move || {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    // No writer was refused.
    drop(pins.pop());
    assert_eq!(releases.load(Ordering::Relaxed), 0);
    pins.push(store.forwarding());
    assert!(store.try_write_configuration(set_all(&mut model, 50)).is_ok());
    assert!(store.try_write_configuration(set_all(&mut model.clone(), 51)).is_err());
    assert!(!store.wait_for_release(Duration::from_millis(2)));
    drop(pins.pop());
    assert_eq!(releases.load(Ordering::Relaxed), 1);
    assert!(store.wait_for_release(Duration::ZERO));
    assert!(store.try_write_configuration(set_all(&mut model, 51)).is_ok());
}

#[test]
fn a_blocked_writer_resumes_at_a_release() {
    let (store, _, model, mut pins) = crowded_store();
    let mut next = model.clone();
    let batch = set_all(&mut next, 77);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| store.write_configuration(batch));
        while store.version_statistics().refused_batches == 0 {
            std::thread::yield_now();
        }
        // Readers continue meanwhile.
        Pin::Configuration(store.configuration()).assert_equals(&model);
        assert!(!writer.is_finished());
        drop(pins.pop());
        assert!(writer.join().expect("it ends well").is_ok());
    });
    Pin::Forwarding(store.forwarding()).assert_equals(&next);
    assert_eq!(store.version_statistics().refused_batches, 1);
}

#[test]
fn versions_share_tables_that_do_not_change() {
    let (store, _) = switch();
    let mut model = Model::default();
    assert!(store.write_configuration(set_all(&mut model, 1)).is_ok());
    let addresses = |state: &ForwardingState| -> Vec<usize> {
        state.tables().map(|table| std::ptr::from_ref(table) as usize).collect()
    };
    let mut pins = vec![store.forwarding()];
    for value in 2..10 {
        let change = update(&mut model, 1, &Change::Set(0, value));
        assert!(store.write_configuration(Batch::updates(0, [change])).is_ok());
        pins.push(store.forwarding());
    }
    let addresses: Vec<_> = pins.iter().map(|pin| addresses(pin)).collect();
    let different = |at: usize| addresses.iter().map(|of| of[at]).collect::<BTreeSet<_>>().len();
    assert_eq!([0, 1, 2].map(different), [1, 9, 1]);
    let identities: BTreeSet<_> = pins.iter().map(|pin| pin.identity()).collect();
    assert_eq!(identities.len(), 9);
    assert_eq!(store.forwarding_copies(), 9);
    let statistics = store.version_statistics();
    assert_eq!((statistics.copies, statistics.copied_tables), (8, 8));
    drop(pins);
    let change = update(&mut model, 1, &Change::Set(0, 11));
    assert!(store.write_configuration(Batch::updates(0, [change])).is_ok());
    assert!(store.forwarding_copies() <= 3);
}

#[test]
fn a_held_version_stays_the_current_one_when_nothing_changes() {
    let (store, mut cells) = switch();
    let held = store.configuration();
    let fails = [
        Update::SetDefaultAction { table: TableId(0), action: Some(action(0, 1)) },
        Update::DeleteMulticastGroup { group: 1 },
    ];
    let batch = Batch { atomicity: Atomicity::RollbackOnError, ..Batch::updates(0, fails) };
    assert!(store.write_configuration(batch).rolled_back);
    let write = Update::WriteRegister {
        register: ir::RegisterId(0),
        cells: CellRange::one(1),
        values: Bits::from_u64(8, 1).into(),
    };
    assert!(store.write_batch(&mut cells, Batch::updates(0, [write])).is_ok());
    assert!(Arc::ptr_eq(&held, &store.configuration()));
    assert_eq!((store.pinned_versions(), store.version_statistics().copies), (0, 0));
}

/// Writers next to readers that hold versions for random times, on both sides. Some batches wait.
#[test]
fn readers_hold_versions_while_writers_write() {
    const MIN_BATCHES: u64 = 400;
    const MAX_BATCHES: u64 = 100_000;
    let (store, _) = switch();
    let mut model = Model::default();
    assert!(store.write_configuration(set_all(&mut model, 0)).is_ok());
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (store, is_done) = (&store, &is_done);
        let writers: Vec<_> = (0..2)
            .map(|writer| {
                let mut model = model.clone();
                scope.spawn(move || {
                    for number in 0..MAX_BATCHES {
                        let batch = set_all(&mut model, number * 2 + writer);
                        assert!(store.write_configuration(batch).is_ok());
                        std::thread::yield_now();
                        let has_waited = store.version_statistics().refused_batches > 0;
                        if number >= MIN_BATCHES && has_waited {
                            return number + 1;
                        }
                    }
                    panic!("no batch had to wait");
                })
            })
            .collect();
        for reader in 0..3u64 {
            scope.spawn(move || {
                let mut random = reader;
                let mut pins: Vec<(Pin, u64)> = Vec::new();
                while !is_done.load(Ordering::Acquire) {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    if (random >> 33) % 9 >= pins.len() as u64 {
                        let pin = match random >> 40 & 1 {
                            0 => Pin::Configuration(store.configuration()),
                            _ => Pin::Forwarding(store.forwarding()),
                        };
                        let value = pin.value(0, 0);
                        pins.push((pin, value));
                    } else {
                        let (pin, value) = pins.swap_remove(random as usize % pins.len());
                        assert_eq!([0, 1, 2].map(|table| pin.value(table, 0)), [value; 3]);
                    }
                    std::thread::yield_now();
                }
            });
        }
        let batches: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        is_done.store(true, Ordering::Release);
        let batches: u64 = batches.into_iter().map(|count| count.expect("it ends well")).sum();
        assert_eq!(store.configuration().version(), 1 + batches);
    });
    assert_eq!(store.pinned_versions(), 0);
    let statistics = store.version_statistics();
    assert_eq!(statistics.most_pinned, MOST + 1);
}

/// Writers and readers never wait actively for each other.
#[test]
fn nothing_spins_or_sleeps() {
    fn check(folder: &std::path::Path, files: &mut usize) {
        for file in std::fs::read_dir(folder).expect("the sources are there") {
            let path = file.expect("a file").path();
            if path.is_dir() {
                check(&path, files);
                continue;
            }
            *files += 1;
            let text = std::fs::read_to_string(&path).expect("a source");
            for word in ["spin_loop", "yield_now", "thread::sleep"] {
                assert!(!text.contains(word), "{word} in {}", path.display());
            }
        }
    }
    let mut files = 0;
    check(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    assert!(files > 40);
}
