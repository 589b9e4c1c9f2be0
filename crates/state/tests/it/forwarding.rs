// SPDX-License-Identifier: Apache-2.0
//! The forwarding side against the configuration: with random programs and batches, each key has the same action and
//! arguments on both sides after each batch. Tests with several threads are in `concurrency`.

use crate::programs::{Shape, batches, keys_of, program, shapes};
use ir::TableId;
use proptest::prelude::*;
use state::forwarding::index::KeyLayout;
use state::forwarding::{
    ForwardingState, ForwardingTable, INDIRECT_ACTION, NO_ACTION, RecordLayout,
};
use state::{BoundAction, Cells, Configuration, EntryRecord, Store};
use std::sync::Arc;

/// The result of a lookup: hit or miss, and the action.
#[derive(Debug, PartialEq)]
struct Found {
    /// Place + 1 and generation, in tables that need identity.
    identity: Option<(u32, u64)>,
    is_hit: bool,
    action: Option<BoundAction>,
    /// The action's index in the table's list.
    action_index: u32,
}

const HASH: u64 = 0x9e37_79b9_7f4a_7c15;

fn in_configuration(configuration: &Configuration, id: TableId, keys: &[ir::Bits]) -> Found {
    let declared = &configuration.program().tables[id.index()];
    let table = configuration.table(id).expect("the table");
    let entry = table.lookup(keys);
    let needs_identity = RecordLayout::new(configuration.program(), id).generation_word.is_some();
    let identity = |entry: Option<&EntryRecord>| {
        needs_identity.then(|| entry.map_or((0, 0), |e| (e.handle.0 + 1, e.generation)))
    };
    match entry {
        Some(entry) => {
            let action = configuration.select_action(id, &entry.action, || HASH);
            let index = action.map(|action| table.action_index(action.action));
            assert!(declared.actions.len() < NO_ACTION as usize);
            Found {
                identity: identity(Some(entry)),
                is_hit: true,
                action: action.cloned(),
                action_index: index.flatten().unwrap_or(NO_ACTION),
            }
        }
        None => Found {
            identity: identity(None),
            is_hit: false,
            action: Some(table.default_action().action.clone()),
            action_index: table.default_action().action_index,
        },
    }
}

fn find(table: &ForwardingTable, declared: &ir::Table, keys: &[ir::Bits]) -> Option<usize> {
    let layout = KeyLayout::new(declared);
    let matched: Vec<ir::Bits> = declared
        .keys
        .iter()
        .zip(keys)
        .filter(|(key, _)| key.match_kind != ir::MatchKind::Selector)
        .map(|(_, value)| value.clone())
        .collect();
    let mut words = vec![0; layout.words()];
    layout.pack(&matched, &mut words);
    match words[..] {
        [word] => table.find_word(word),
        [low, high] => table.find_double(low, high),
        _ => table.find_words(&words),
    }
}

fn in_forwarding(
    state: &ForwardingState,
    program: &ir::Program,
    id: TableId,
    keys: &[ir::Bits],
) -> Found {
    let table = state.table(id).expect("a table");
    let declared = &program.tables[id.index()];
    let entry = find(table, declared, keys);
    let is_hit = entry.is_some();
    let own = entry.unwrap_or(table.default_record());
    assert!(!is_hit || own != table.default_record(), "no entry's is the default action's");
    let first = table.record_words(own).expect("a record");
    let identity =
        table.layout().generation_word.map(|word| ((first[0] >> 32) as u32, first[word]));
    let is_indirect = first[0] as u32 == INDIRECT_ACTION;
    let resolved = match declared.implementation {
        Some(_) if is_hit => Some(state.resolve(id, own, HASH)).filter(|record| *record != 0),
        _ => Some(own),
    };
    assert_eq!(is_indirect, resolved != Some(own));
    if state.needs_hash(id, own) {
        assert!(is_indirect);
    }
    let record = resolved.and_then(|record| table.record_words(record));
    let action_index = record.as_ref().map_or(NO_ACTION, |record| record[0] as u32);
    let action = declared.actions.get(action_index as usize).map(|listed| {
        let record = record.as_ref().expect("an action has a record");
        let action = &program.actions[listed.action.index()];
        let arguments = action.parameters.iter().enumerate().map(|(at, parameter)| {
            let width_bits = program.slots[parameter.slot.index()].ty.width_bits();
            let word = table.layout().argument_word(action_index as usize, at);
            ir::Bits::from_words(width_bits, &record[word..])
        });
        BoundAction { action: listed.action, arguments: arguments.collect() }
    });
    Found { identity, is_hit, action, action_index }
}

fn compare(store: &Store, shape: &Shape) {
    compare_sides(&store.configuration(), &store.forwarding(), shape);
}

fn compare_sides(configuration: &Configuration, state: &ForwardingState, shape: &Shape) {
    assert_eq!(state.version(), configuration.version());
    let program = configuration.program();
    for at in 0..program.tables.len() {
        let id = TableId(at as u32);
        for keys in keys_of(shape, at) {
            let expected = in_configuration(configuration, id, &keys);
            let found = in_forwarding(state, program, id, &keys);
            assert_eq!(found, expected, "table {at}, keys {keys:?}");
        }
    }
    for at in 0..program.value_sets.len() {
        let set = ir::ValueSetId(at as u32);
        assert_eq!(Some(state.value_set(set)), configuration.value_set(set));
    }
    assert_eq!(*state.replication(), **configuration.replication());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testing::cases(150)))]

    #[test]
    fn both_sides_agree_after_every_batch(
        (shape, batches) in shapes().prop_flat_map(|shape| (Just(shape.clone()), batches(shape))),
        first_asked_after in 0usize..3,
        is_exclusive in any::<bool>(),
        held in any::<u8>(),
    ) {
        let program = Arc::new(program(&shape));
        let store = Store::new(program.clone()).expect("the program is sound");
        let mut cells = Cells::new(&program);
        let mut kept = Vec::new();
        for (at, batch) in batches.into_iter().enumerate() {
            if at >= first_asked_after {
                compare(&store, &shape);
            }
            match is_exclusive {
                true => store.write_batch_in_place(&mut cells, batch),
                false => store.write_configuration(batch),
            };
            // Some readers hold versions for a long time, on one side or both.
            if held >> (at % 8) & 1 == 1 {
                kept.push((store.configuration(), store.forwarding()));
            }
        }
        compare(&store, &shape);
        for (configuration, state) in &kept {
            compare_sides(configuration, state, &shape);
        }
        drop(kept);
        compare(&store, &shape);
    }

    #[test]
    fn what_is_rolled_back_leaves_no_trace(
        (shape, batches) in shapes().prop_flat_map(|shape| (Just(shape.clone()), batches(shape))),
    ) {
        // One store also gets failing batches, its twin does not.
        let program = Arc::new(program(&shape));
        let stores = [0, 1].map(|_| Store::new(program.clone()).expect("the program is sound"));
        stores.iter().for_each(|store| drop(store.forwarding()));
        for (at, batch) in batches.into_iter().enumerate() {
            if at % 2 == 0 {
                let mut failing = batch;
                failing.atomicity = state::Atomicity::DataplaneAtomic;
                let impossible = state::Update::DeleteMulticastGroup { group: 99 };
                failing.items.push(state::BatchItem::Update(impossible));
                prop_assert!(stores[0].write_configuration(failing).rolled_back);
            } else {
                let outcomes = [0, 1].map(|at| stores[at].write_configuration(batch.clone()));
                prop_assert_eq!(&outcomes[0].rolled_back, &outcomes[1].rolled_back);
            }
            compare(&stores[0], &shape);
            crate::programs::assert_same_content(&stores[0], &stores[1]);
        }
    }

    #[test]
    fn checked_batches_leave_no_trace(
        (shape, batches) in shapes().prop_flat_map(|shape| (Just(shape.clone()), batches(shape))),
        held in any::<u8>(),
    ) {
        // Every batch is checked on one store and then written to it; its twin only gets the writes.
        let program = Arc::new(program(&shape));
        let stores = [0, 1].map(|_| Store::new(program.clone()).expect("the program is sound"));
        for (at, batch) in batches.into_iter().enumerate() {
            let identity = stores[0].forwarding().identity();
            let version = stores[0].configuration().version();
            let kept = (held >> (at % 8) & 1 == 1).then(|| stores[0].configuration());
            let checked = stores[0].check_configuration(batch.clone());
            if let Some(kept) = &kept {
                prop_assert!(Arc::ptr_eq(kept, &stores[0].configuration()));
            }
            prop_assert_eq!(stores[0].forwarding().identity(), identity);
            prop_assert_eq!(stores[0].configuration().version(), version);
            compare(&stores[0], &shape);
            crate::programs::assert_same_content(&stores[0], &stores[1]);
            let outcomes = [0, 1].map(|at| stores[at].write_configuration(batch.clone()));
            prop_assert_eq!(&checked, &outcomes[0]);
            prop_assert_eq!(&outcomes[0], &outcomes[1]);
            crate::programs::assert_same_content(&stores[0], &stores[1]);
        }
    }
}
