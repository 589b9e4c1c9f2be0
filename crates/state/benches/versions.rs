// SPDX-License-Identifier: Apache-2.0
//! Costs of pinned versions for writers, on both sides of a store with 100,000 routes:
//!
//!     cargo bench -p state --bench versions
//!
//! Memory above the unpinned store and time of each write while 16 versions are pinned, each with one entry
//! changed; and the time of a single-entry batch without pins. Times are medians, with the longest beside.
//! `--only TEXT` selects sides by name.

use ir::{ActionId, Bits, KeyPattern, TableId};
use peak_alloc::PeakAlloc;
use state::{Batch, BoundAction, NewEntry, Store, Update};
use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[global_allocator]
static PEAK_ALLOC: PeakAlloc = PeakAlloc;

const ROUTES: u64 = 100_000;
const PINS: usize = 16;
const BATCHES: u64 = 20_000;

const PROGRAM: &str = r#"ir test
origin @0
slot hop: bit<16> unsigned @0
action set(hop at hop) runs set @0
region action set {
  block0:
    return @0
}
table routes {
  key dst: lpm bit<32> unsigned
  action set
  default set(16w0)
} @0
table hops {
  key hop: exact bit<16> unsigned
  action set
  default set(16w0)
} @0
"#;

/// The reader of the store.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Configuration,
    Forwarding,
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Side::Configuration => "configuration",
            Side::Forwarding => "forwarding",
        }
    }

    fn pin(self, store: &Store) -> Arc<dyn Any> {
        match self {
            Side::Configuration => store.configuration(),
            Side::Forwarding => store.forwarding(),
        }
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Modify,
    DeleteAndInsert,
}

fn entry(route: u64, hop: u64) -> NewEntry {
    let value = Bits::from_u64(32, 0x0a00_0000 + (route << 8));
    let arguments = vec![Bits::from_u64(16, hop % 200)];
    let action = BoundAction { action: ActionId(0), arguments };
    NewEntry::direct(vec![KeyPattern::Prefix { value, length_bits: 24 }], 0, action)
}

/// Changes one route.
fn batch(kind: Kind, number: u64) -> Batch {
    let table = TableId(0);
    let entry = entry(number.wrapping_mul(7919) % ROUTES, number + 1);
    let keys = entry.keys.clone();
    match kind {
        Kind::Modify => Batch::updates(0, [Update::ModifyEntry { table, entry }]),
        Kind::DeleteAndInsert => {
            let delete = Update::DeleteEntry { table, keys, priority: 0 };
            Batch::updates(0, [delete, Update::InsertEntry { table, entry }])
        }
    }
}

fn filled_store() -> Store {
    let program = ir::text::parse(PROGRAM).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let store = Store::new(Arc::new(program)).expect("a sound program");
    let inserts =
        (0..ROUTES).map(|route| Update::InsertEntry { table: TableId(0), entry: entry(route, 0) });
    assert!(store.write_configuration(Batch::updates(0, inserts)).is_ok());
    store
}

fn write(store: &Store, batch: Batch) -> Duration {
    let start = Instant::now();
    let outcome = store.write_configuration(batch);
    let time = start.elapsed();
    assert!(outcome.is_ok());
    time
}

fn median_and_longest(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort();
    let microseconds = |time: Duration| time.as_secs_f64() * 1e6;
    (microseconds(times[times.len() / 2]), microseconds(times[times.len() - 1]))
}

fn row(side: Side, kind: Kind) {
    let store = filled_store();
    let mut number = 0;
    let mut next = || {
        number += 1;
        batch(kind, number)
    };
    if side == Side::Forwarding {
        drop(store.forwarding());
    }
    for _ in 0..BATCHES {
        write(&store, next());
    }
    let unpinned = median_and_longest((0..BATCHES).map(|_| write(&store, next())).collect());
    let bytes_before = PEAK_ALLOC.current_usage();
    let mut pins = Vec::new();
    let mut times = Vec::new();
    for _ in 0..PINS {
        pins.push(side.pin(&store));
        times.push(write(&store, next()));
    }
    let bytes = PEAK_ALLOC.current_usage() - bytes_before;
    let pinned = median_and_longest(times);
    drop(pins);
    for _ in 0..BATCHES {
        write(&store, next());
    }
    let bytes_after = PEAK_ALLOC.current_usage() as f64 - bytes_before as f64;
    let kind = match kind {
        Kind::Modify => "modify",
        Kind::DeleteAndInsert => "delete, insert",
    };
    println!(
        "{:>14} {kind:>15} {:>9.2} {:>9.1} {:>11.1} {:>9.1} {:>12.3} {:>12.3}",
        side.name(),
        unpinned.0,
        unpinned.1,
        pinned.0,
        pinned.1,
        bytes as f64 / 1e6,
        bytes_after / 1e6,
    );
}

/// Nanoseconds a lookup by the interpreter.
fn lookup() -> f64 {
    let configuration = filled_store().configuration();
    let table = configuration.table(TableId(0)).expect("the routes");
    let key = |number: u64| {
        let route = number.wrapping_mul(2_654_435_761) % ROUTES;
        [Bits::from_u64(32, 0x0a00_0007 + (route << 8))]
    };
    let rounds = (0..21).map(|_| {
        let start = Instant::now();
        let hits = (0..BATCHES).filter(|number| table.lookup(&key(*number)).is_some()).count();
        assert_eq!(hits as u64, BATCHES);
        start.elapsed() / BATCHES as u32
    });
    median_and_longest(rounds.collect()).0 * 1e3
}

fn main() {
    println!("{ROUTES} routes; one batch changes one; {PINS} versions pinned, one a batch");
    println!(
        "{:>14} {:>15} {:>9} {:>9} {:>11} {:>9} {:>12} {:>12}",
        "pinned side",
        "batch",
        "alone, us",
        "longest",
        "pinned, us",
        "longest",
        "memory, MB",
        "after, MB"
    );
    let only = std::env::args().skip_while(|argument| argument != "--only").nth(1);
    for side in [Side::Configuration, Side::Forwarding] {
        if only.as_ref().is_some_and(|only| !side.name().contains(only.as_str())) {
            continue;
        }
        for kind in [Kind::Modify, Kind::DeleteAndInsert] {
            row(side, kind);
        }
    }
    println!("a lookup by the interpreter takes {:.0} ns", lookup());
}
