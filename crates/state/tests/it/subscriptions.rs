// SPDX-License-Identifier: Apache-2.0
//! Subscriptions to changes of tables with random programs and batches: they name exactly the tables with changes of
//! content, including the content of profiles, before the version is visible, and they wake waiting threads.

use crate::programs::{batches, program, shapes};
use ir::TableId;
use proptest::prelude::*;
use state::{Batch, Configuration, Read, Reply, Store, Subscription, TableChange, Update};
use std::sync::Arc;
use std::time::Duration;

/// Content of a table and its action profile for packets.
fn content(configuration: &Configuration, cells: &state::Cells, table: TableId) -> Vec<Reply> {
    let program = configuration.program();
    let mut reads = vec![Read::Entries { table }, Read::DefaultAction { table }];
    if let Some(profile) = program.tables[table.index()].implementation {
        reads.push(Read::Members { profile, member: None });
        reads.push(Read::Groups { profile, group: None });
    }
    reads.iter().map(|read| configuration.answer(cells, read).expect("it can be read")).collect()
}

fn tables(changes: &[TableChange]) -> Vec<TableId> {
    changes.iter().map(|change| change.table).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::cases(64), ..ProptestConfig::default() })]

    #[test]
    fn subscribers_hear_of_their_tables(
        (shape, batches) in shapes().prop_flat_map(|shape| (Just(shape.clone()), batches(shape))),
        of_two in any::<u8>(),
    ) {
        let program = Arc::new(program(&shape));
        let cells = state::Cells::new(&program);
        let store = Store::new(program.clone()).expect("the program is sound");
        let all: Vec<TableId> = (0..program.tables.len() as u32).map(TableId).collect();
        let some: Vec<TableId> =
            all.iter().copied().filter(|table| of_two >> (table.0 % 8) & 1 == 1).collect();
        let subscriptions = [store.subscribe(all.clone()), store.subscribe(some.clone())];
        // A subscription that is read only at the end.
        let late = store.subscribe(all.clone());
        let mut ever = Vec::new();
        for batch in batches {
            let before = store.configuration();
            let outcome = store.write_configuration(batch.clone());
            let after = store.configuration();
            let heard = subscriptions.each_ref().map(Subscription::take);
            for changes in &heard {
                prop_assert!(changes.iter().all(|change| change.version == after.version()));
            }
            let differs = |table: &TableId| {
                content(&before, &cells, *table) != content(&after, &cells, *table)
            };
            for table in all.iter().filter(|table| differs(table)) {
                prop_assert!(heard[0].iter().any(|change| change.table == *table), "{table:?}");
            }
            // Of the others, only tables that an update named, possibly with an equal write.
            if outcome.rolled_back || after.version() == before.version() {
                prop_assert_eq!(heard[0].len(), 0);
            }
            let wanted: Vec<TableId> =
                some.iter().copied().filter(|table| tables(&heard[0]).contains(table)).collect();
            prop_assert_eq!(tables(&heard[1]), wanted);
            prop_assert!(subscriptions.iter().all(|subscription| !subscription.has_changed()));
            for change in &heard[0] {
                ever.retain(|other: &TableChange| other.table != change.table);
                ever.push(*change);
            }
        }
        ever.sort_by_key(|change| change.table);
        prop_assert_eq!(late.take(), ever);
        drop(store);
        prop_assert!(late.is_over());
    }

    #[test]
    fn batches_for_other_tables_are_not_heard(
        (shape, batches) in shapes().prop_flat_map(|shape| (Just(shape.clone()), batches(shape))),
    ) {
        let program = Arc::new(program(&shape));
        let store = Store::new(program.clone()).expect("the program is sound");
        let first = store.subscribe([TableId(0)]);
        let profile = program.tables[0].implementation;
        for batch in batches {
            let may_change = |item: &state::BatchItem| match item {
                state::BatchItem::Update(update) => {
                    let text = format!("{update:?}");
                    text.contains("table: TableId(0)")
                        || profile.is_some() && text.contains("profile:")
                }
                state::BatchItem::Read(_) => false,
            };
            let may_change = batch.items.iter().any(may_change);
            store.write_configuration(batch);
            prop_assert!(may_change || !first.has_changed());
            first.take();
        }
    }
}

#[test]
fn a_change_is_notified_before_its_version_is_visible() {
    let text = include_str!("programs/one_table.ir");
    let program = Arc::new(ir::text::parse(text).unwrap_or_else(|errors| panic!("{}", errors[0])));
    let store = Store::new(program).expect("the program is sound");
    let table = TableId(0);
    let subscription = store.subscribe([table]);
    assert!(!subscription.wait(Duration::from_millis(1)));
    const CHANGES: u64 = 200;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..CHANGES {
                let update = Update::SetDefaultAction { table, action: None };
                assert!(store.write_configuration(Batch::updates(0, [update])).is_ok());
            }
        });
        let mut last = 0;
        while last < CHANGES {
            // Waiting threads are woken.
            assert!(subscription.wait(Duration::from_secs(60)), "after version {last}");
            let seen = store.configuration().version();
            for change in subscription.take() {
                assert!(change.version > last);
                last = change.version;
            }
            assert!(last >= seen, "version {seen} is visible, the last change is of {last}");
        }
    });
    assert!(!subscription.has_changed());
}
