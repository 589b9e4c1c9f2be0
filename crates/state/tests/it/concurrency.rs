// SPDX-License-Identifier: Apache-2.0
//! Writes of a control thread under traffic: readers see whole batches, long readers do not block the writer, and memory
//! does not grow. `forwarding` compares the content with the configuration.

use ir::{ActionId, Bits, KeyPattern, TableId};
use state::forwarding::{ForwardingCache, ForwardingState};
use state::{Atomicity, Batch, BoundAction, CellRange, Cells, NewEntry, Store, Update};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const PROGRAM: &str = r#"ir test
origin @0
slot value: bit<64> unsigned @0
action set(value at value) runs set @0
region action set {
  block0:
    return @0
}
table shared {
  key k: exact bit<32> unsigned
  action set
  default set(64w0)
} @0
table counted {
  key k: lpm bit<32> unsigned
  action set
  default set(64w0)
  direct_counter hits
} @0
counter hits: packets direct @0
register cells: bit<8> unsigned size 4 initial 8w0 @0
"#;

const KEY: u64 = 7;

fn store() -> Store {
    let program = ir::text::parse(PROGRAM).unwrap_or_else(|errors| panic!("{}", errors[0]));
    Store::new(Arc::new(program)).expect("a sound program")
}

fn entry(value: u64) -> NewEntry {
    let action = BoundAction { action: ActionId(0), arguments: vec![Bits::from_u64(64, value)] };
    NewEntry::direct(vec![KeyPattern::Exact(Bits::from_u64(32, KEY))], 0, action)
}

/// Sets `value` in both tables: with new entries in each third step, else with changed entries.
fn flip(value: u64) -> Batch {
    let mut updates = Vec::new();
    for table in [TableId(0), TableId(1)] {
        let entry = entry(value);
        if value.is_multiple_of(3) {
            let keys = entry.keys.clone();
            updates.push(Update::DeleteEntry { table, keys, priority: 0 });
            updates.push(Update::InsertEntry { table, entry });
        } else {
            updates.push(Update::ModifyEntry { table, entry });
        }
    }
    Batch { atomicity: Atomicity::DataplaneAtomic, ..Batch::updates(0, updates) }
}

fn begin(store: &Store) {
    let inserts =
        [TableId(0), TableId(1)].map(|table| Update::InsertEntry { table, entry: entry(0) });
    assert!(store.write_configuration(Batch::updates(0, inserts)).is_ok());
}

/// The values of both tables.
fn values(state: &ForwardingState) -> [u64; 2] {
    [0, 1].map(|at| {
        let table = state.table(TableId(at)).expect("a table");
        let record = table.find_word(KEY).and_then(|record| table.record_words(record));
        let record = record.expect("a hit");
        record[table.layout().argument_word(0, 0)]
    })
}

#[test]
fn readers_see_whole_batches_in_order() {
    const BATCHES: u64 = 5_000;
    let store = store();
    begin(&store);
    let is_done = AtomicBool::new(false);
    let seen = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let (mut seen, mut last) = (0u64, (0, 0));
            loop {
                let is_last = is_done.load(Ordering::Acquire);
                let state = store.forwarding();
                let [one, other] = values(&state);
                assert_eq!(one, other);
                assert!((state.version(), one) >= last, "time runs backwards");
                seen += u64::from((state.version(), one) != last);
                last = (state.version(), one);
                if is_last {
                    assert_eq!(one, BATCHES);
                    return seen;
                }
            }
        });
        drop(store.forwarding());
        for value in 1..=BATCHES {
            assert!(store.write_configuration(flip(value)).is_ok());
        }
        is_done.store(true, Ordering::Release);
        reader.join().expect("the reader ends well")
    });
    assert!(seen > 1);
}

#[test]
fn memory_does_not_grow() {
    let store = store();
    begin(&store);
    drop(store.forwarding());
    assert_eq!(store.forwarding_copies(), 1);
    let is_done = AtomicBool::new(false);
    let most = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while !is_done.load(Ordering::Acquire) {
                let state = store.forwarding();
                assert!(
                    state.table(TableId(0)).is_some_and(|table| table.find_word(KEY).is_some())
                );
            }
        });
        let modify = |value| Update::ModifyEntry { table: TableId(0), entry: entry(value) };
        let mut most = 0;
        let mut bytes = Vec::new();
        for value in 1..=100_000 {
            assert!(store.write_configuration(Batch::updates(0, [modify(value % 1000)])).is_ok());
            if value % 1000 == 0 {
                most = most.max(store.forwarding_copies());
                bytes.push(store.forwarding().memory_bytes());
            }
        }
        is_done.store(true, Ordering::Release);
        reader.join().expect("the reader ends well");
        assert_eq!(bytes.iter().max(), bytes[..50].iter().max(), "{bytes:?}");
        most
    });
    // A descheduled reader may have caused a third copy for some time.
    assert!(most <= 3, "{most} copies");
    // An unneeded copy is dropped after some batches.
    for value in 100_001..100_021 {
        assert!(store.write_configuration(flip(value)).is_ok());
    }
    assert!(store.forwarding_copies() <= 2);
}

#[test]
fn a_long_reader_does_not_block_the_writer() {
    let store = store();
    begin(&store);
    let held = store.forwarding();
    let (version, before) = (held.version(), values(&held));
    for value in 1..=100 {
        assert!(store.write_configuration(flip(value)).is_ok());
        assert_eq!(values(&store.forwarding()), [value; 2]);
    }
    assert_eq!((held.version(), values(&held)), (version, before));
    assert_eq!(store.forwarding_copies(), 3);
    drop(held);
    // The spare copy stays for some batches, for later readers.
    for value in 101..=120 {
        assert!(store.write_configuration(flip(value)).is_ok());
        assert!(store.forwarding_copies() <= 3);
    }
    assert_eq!(store.forwarding_copies(), 2);
}

#[test]
fn a_single_owner_keeps_one_copy() {
    let store = store();
    let mut cells = Cells::new(store.configuration().program());
    begin(&store);
    let address = Arc::as_ptr(&store.forwarding());
    for value in 1..=100 {
        assert!(store.write_batch_in_place(&mut cells, flip(value)).is_ok());
        assert_eq!(values(&store.forwarding()), [value; 2]);
    }
    assert_eq!(Arc::as_ptr(&store.forwarding()), address);
    assert_eq!(store.forwarding_copies(), 1);
    // A held version is still unchanged.
    let held = store.forwarding();
    assert!(store.write_batch_in_place(&mut cells, flip(101)).is_ok());
    assert_eq!((values(&held), values(&store.forwarding())), ([100; 2], [101; 2]));
    // Both kinds of writes mix.
    drop(held);
    for value in 102..200 {
        let outcome = match value % 4 {
            0 => store.write_configuration(flip(value)),
            _ => store.write_batch_in_place(&mut cells, flip(value)),
        };
        assert!(outcome.is_ok());
        assert_eq!(values(&store.forwarding()), [value; 2]);
    }
}

#[test]
fn a_cache_follows_and_is_dropped_before_writing_in_place() {
    let store = store();
    let mut cells = Cells::new(store.configuration().program());
    begin(&store);
    let mut cache = store.forwarding_cache();
    let seen = |cache: &mut ForwardingCache| cache.get().map(|state| values(state));
    for value in 1..=4 {
        assert!(store.write_configuration(flip(value)).is_ok());
        assert_eq!(seen(&mut cache), Some([value; 2]));
        assert_eq!(seen(&mut cache), Some([value; 2]));
        assert_eq!(store.forwarding_copies(), 2);
    }
    for value in 5..100 {
        drop(cache);
        assert!(store.write_batch_in_place(&mut cells, flip(value)).is_ok());
        cache = store.forwarding_cache();
        assert_eq!(seen(&mut cache), Some([value; 2]));
    }
    assert!(store.forwarding_copies() <= 2);
    // A reader that keeps its version still reads.
    assert!(store.write_batch_in_place(&mut cells, flip(100)).is_ok());
    assert_eq!(seen(&mut cache), Some([100; 2]));
}

#[test]
fn large_batches_give_the_second_copy_up() {
    let store = store();
    drop(store.forwarding());
    let insert = |number: u64| Update::InsertEntry {
        table: TableId(0),
        entry: NewEntry {
            keys: vec![KeyPattern::Exact(Bits::from_u64(32, number))],
            ..entry(number)
        },
    };
    assert!(store.write_configuration(Batch::updates(0, (0..10_000).map(insert))).is_ok());
    assert_eq!(store.forwarding_copies(), 1);
    assert!(store.write_configuration(Batch::updates(0, [insert(10_000)])).is_ok());
    assert_eq!(store.forwarding_copies(), 2);
    let state = store.forwarding();
    let table = state.table(TableId(0)).expect("a table");
    for number in [0, 9_999, 10_000] {
        assert!(table.find_word(number).is_some());
    }
    assert_eq!(table.find_word(10_001), None);
}

#[test]
fn configuration_writes_do_not_reach_cells() {
    let store = store();
    let write = Update::WriteRegister {
        register: ir::RegisterId(0),
        cells: CellRange::one(0),
        values: Bits::from_u64(8, 1).into(),
    };
    let outcome = store.write_configuration(Batch::updates(0, [write]));
    let (_, error) = outcome.first_error().expect("a refusal");
    assert_eq!(
        format!("{} {error}", error.code()),
        "ST-E46 registers, counters and meters belong to the device that runs the program: ask the \
         device"
    );
    let counter = ir::CounterId(0);
    let read = state::Read::DirectCounter { counter, entry: None };
    let items = vec![state::BatchItem::Read(read)];
    let outcome = store.write_configuration(Batch { items, ..Batch::updates(0, []) });
    assert_eq!(outcome.results, [Err(state::UpdateError::CellsAreTheDevices)]);
}

#[test]
fn a_store_is_shared_by_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Store>();
    is_shared::<ForwardingState>();
}
