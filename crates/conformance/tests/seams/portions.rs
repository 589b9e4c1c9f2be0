// SPDX-License-Identifier: Apache-2.0
//! Portions of a shared target, case by case: what each owns, what it does not reach, and when it hears of entries
//! that idle.

use crate::share::{IDS, NAMES, PROGRAMS};
use crate::{answer, bound, entry, table};
use control::latency::LatencyModel;
use control::map::{IdRanges, Portion, SharedTarget};
use control::state_target::StateTarget;
use control::target::{Batch, Fault, Notification, Outcome, Reply, Target};
use device::{Device, DeviceOptions, EngineChoice};
use ir::TableId;
use state::{
    ActionData, Atomicity, CounterValue, EntryHandle, EntryReference, NewEntry, Read, Update,
};

/// Two portions of a target of the first program as written, and its tables.
fn portions(target: Box<dyn Target>) -> ([Portion; 2], [TableId; 2]) {
    let program = target.program();
    let shared = SharedTarget::new(target);
    let portions = [0, IDS].map(|base| shared.portion(IdRanges::same(base..base + IDS)));
    (portions, NAMES[0].map(|name| table(&program, name)))
}

fn state_target() -> Box<dyn Target> {
    Box::new(StateTarget::new(PROGRAMS.written[0].clone()).expect("the program is whole"))
}

/// An entry of the table `acl`; its priority means nothing there.
fn acl_entry(key: u64, value: u64, priority: i64) -> NewEntry {
    let program = &PROGRAMS.written[0];
    let acl = table(program, "acl");
    let action = bound(program, acl, "send", &[value, 8]);
    NewEntry { priority, ..entry(program, acl, &[key], action) }
}

fn codes(outcome: &Outcome) -> Vec<String> {
    let code = |result: &Result<Reply, Fault>| match result {
        Ok(_) => "ok".to_string(),
        Err(Fault::Refused(error)) => error.code().to_string(),
        Err(fault) => fault.to_string(),
    };
    outcome.results.iter().map(code).collect()
}

const NO_SUCH_ENTRY: &str = "ST-E04";
const ENTRY_EXISTS: &str = "ST-E03";
const ABORTED: &str = "ST-E44";
const ENTRY_CHANGED: &str = "ST-E49";

/// The values of the entries that a portion sees in table `acl`.
fn values(portion: &mut Portion, acl: TableId) -> Vec<u64> {
    match portion.execute(Batch::one(Read::Entries { table: acl })).into_reply() {
        Ok(state::Reply::Entries(list)) => { list.iter() }
            .map(|entry| match &entry.action {
                ActionData::Direct(action) => action.arguments[0].low_u64(),
                other => panic!("{other:?}"),
            })
            .collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_portion_does_not_reach_an_entry_of_another_after_an_insertion_that_is_refused() {
    let ([mut one, mut two], [acl, _]) = portions(state_target());
    let insert = |value| Update::InsertEntry { table: acl, entry: acl_entry(1, value, 0) };
    // Table `acl` has no priorities, so this is the same entry.
    let modify = Update::ModifyEntry { table: acl, entry: acl_entry(1, 66, 5) };
    let keys = acl_entry(1, 0, 0).keys;
    let delete = Update::DeleteEntry { table: acl, keys, priority: 7 };
    assert!(one.execute(Batch::one(insert(1))).is_ok());
    let outcome = two.execute(Batch::of([insert(2), modify.clone(), delete.clone()]));
    assert_eq!(codes(&outcome), [ENTRY_EXISTS, NO_SUCH_ENTRY, NO_SUCH_ENTRY]);
    assert_eq!((values(&mut one, acl), values(&mut two, acl)), (vec![1], vec![]));
    // Its owner reaches it with any priority.
    assert!(one.execute(Batch::of([modify])).is_ok());
    assert_eq!(values(&mut one, acl), [66]);
    assert!(one.execute(Batch::of([delete])).is_ok());
    assert!(two.execute(Batch::of([insert(2)])).is_ok());
    assert_eq!((values(&mut one, acl), values(&mut two, acl)), (vec![], vec![2]));
}

#[test]
fn a_portion_does_not_reach_an_entry_of_another_by_its_place() {
    let ([mut one, mut two], [acl, _]) = portions(state_target());
    let insert = Update::InsertEntry { table: acl, entry: acl_entry(1, 1, 0) };
    assert!(one.execute(Batch::one(insert)).is_ok());
    let handle = EntryHandle(0);
    let generation = match one.execute(Batch::one(Read::Entries { table: acl })).into_reply() {
        Ok(state::Reply::Entries(list)) => list[0].generation,
        other => panic!("{other:?}"),
    };
    let action = acl_entry(1, 5, 0).action;
    let modify = Update::ModifyEntryAt { table: acl, handle, generation, action };
    let delete = Update::DeleteEntryAt { table: acl, handle, generation };
    let counter = PROGRAMS.written[0].tables[acl.index()].direct_counters[0];
    let count = Update::WriteDirectCounter {
        counter,
        entry: EntryReference::At { handle, generation },
        value: CounterValue::default(),
    };
    let items = [modify, count, delete];
    let outcome = two.execute(Batch::of(items.clone()));
    assert_eq!(codes(&outcome), [ENTRY_CHANGED; 3]);
    let outcome = one.execute(Batch::of(items));
    assert_eq!(codes(&outcome), ["ok"; 3]);
}

#[test]
fn a_batch_that_rolls_back_leaves_nothing_when_a_portion_refuses_a_part() {
    let ([mut one, mut two], [acl, _]) = portions(state_target());
    let insert = |key| Update::InsertEntry { table: acl, entry: acl_entry(key, key, 0) };
    assert!(one.execute(Batch::one(insert(1))).is_ok());
    let batch = Batch::of([insert(2), insert(1)]).with(Atomicity::RollbackOnError);
    let outcome = two.execute(batch);
    assert_eq!(codes(&outcome), [ABORTED, ENTRY_EXISTS]);
    assert!(outcome.rolled_back);
    assert!(values(&mut two, acl).is_empty());
    // Nobody owns what was not inserted.
    assert!(one.execute(Batch::one(insert(2))).is_ok());
}

#[test]
fn a_reservation_of_a_portion_owns_its_entries_until_it_is_released() {
    let ([mut one, mut two], [acl, _]) = portions(state_target());
    let insert = |value| Update::InsertEntry { table: acl, entry: acl_entry(1, value, 0) };
    let reservation = one.reserve(Batch::one(insert(1)), 0);
    assert!(one.wait(reservation).is_ok());
    assert_eq!(codes(&two.execute(Batch::one(insert(2)))), [ENTRY_EXISTS]);
    one.release(reservation);
    assert!(two.execute(Batch::one(insert(2))).is_ok());
    let keys = acl_entry(1, 0, 0).keys;
    let delete = Update::DeleteEntry { table: acl, keys, priority: 0 };
    let reservation = two.reserve(Batch::of([delete, insert(3)]), 0);
    assert_eq!(codes(&two.wait(reservation)), ["ok"; 2]);
    let commit = two.commit(reservation, 0);
    assert_eq!(codes(&two.wait(commit)), ["ok"; 2]);
    assert_eq!((values(&mut one, acl), values(&mut two, acl)), (vec![], vec![3]));
}

#[test]
fn a_portion_owns_what_it_has_asked_for_before_the_answer() {
    let options = DeviceOptions {
        engine: EngineChoice::Interpreter,
        control_latency: Some(LatencyModel::per_item(1_000)),
        ..DeviceOptions::default()
    };
    let mut device = Device::new(PROGRAMS.written[0].clone(), options).expect("it loads");
    let ([mut one, mut two], [acl, _]) = portions(Box::new(device.target()));
    let insert = |value| Update::InsertEntry { table: acl, entry: acl_entry(1, value, 0) };
    let modify = Update::ModifyEntry { table: acl, entry: acl_entry(1, 5, 0) };
    let first = one.submit(Batch::one(insert(1)), 0);
    // The device has not answered; it serves both in their order.
    let second = one.submit(Batch::one(modify), 0);
    let theirs = two.submit(Batch::one(insert(2)), 0);
    // An answer that takes time is still to come.
    let early = one.wait(first);
    assert_eq!(early.first_fault(), Some((0, &Fault::TakesTime)));
    let outcomes = [first, second].map(|ticket| answer(&mut device, &mut one, ticket));
    assert!(outcomes.iter().all(Outcome::is_ok), "{outcomes:?}");
    assert_eq!(codes(&answer(&mut device, &mut two, theirs)), [ENTRY_EXISTS]);
}

#[test]
fn an_entry_that_idled_once_and_was_hit_idles_again() {
    let options = DeviceOptions { engine: EngineChoice::Interpreter, ..DeviceOptions::default() };
    let mut device = Device::new(PROGRAMS.written[0].clone(), options).expect("it loads");
    let mut target = device.target();
    target.notifications();
    let acl = table(&PROGRAMS.written[0], "acl");
    let entry = NewEntry { idle_timeout_ns: 1_000, ..acl_entry(1, 1, 0) };
    assert!(target.execute(Batch::one(Update::InsertEntry { table: acl, entry })).is_ok());
    device.inject(1, 5_500_000, vec![0, 1, 0, 0, 0, 0]).expect("a time to come");
    device.advance(20_000_000).expect("no assertion fails");
    let times: Vec<u64> = target.notifications().iter().map(Notification::time_ps).collect();
    assert_eq!(times, [1_000_000, 6_500_000]);
}

#[test]
fn an_entry_that_was_given_a_timeout_too_late_idles_at_once() {
    let options = DeviceOptions { engine: EngineChoice::Interpreter, ..DeviceOptions::default() };
    let mut device = Device::new(PROGRAMS.written[0].clone(), options).expect("it loads");
    let mut target = device.target();
    target.notifications();
    let acl = table(&PROGRAMS.written[0], "acl");
    let insert = Update::InsertEntry { table: acl, entry: acl_entry(1, 1, 0) };
    assert!(target.execute(Batch::one(insert)).is_ok());
    device.advance(5_000_000).expect("no assertion fails");
    let entry = NewEntry { idle_timeout_ns: 1_000, ..acl_entry(1, 1, 0) };
    assert!(target.execute(Batch::one(Update::ModifyEntry { table: acl, entry })).is_ok());
    device.advance(20_000_000).expect("no assertion fails");
    let times: Vec<u64> = target.notifications().iter().map(Notification::time_ps).collect();
    assert_eq!(times, [5_000_000]);
}

#[test]
fn changes_of_a_device_s_tables_are_told_until_its_program_is_swapped() {
    let options = DeviceOptions { engine: EngineChoice::Interpreter, ..DeviceOptions::default() };
    let mut device = Device::new(PROGRAMS.written[0].clone(), options).expect("it loads");
    let ([mut one, mut two], [acl, forward]) = portions(Box::new(device.target()));
    let subscription = one.subscribe(&[acl]).expect("a device can tell");
    let insert = Update::InsertEntry { table: acl, entry: acl_entry(1, 1, 0) };
    assert!(two.execute(Batch::of([Update::ClearEntries { table: forward }])).is_ok());
    assert!(!subscription.has_changed());
    assert!(two.execute(Batch::one(insert)).is_ok());
    let version = device.configuration().version();
    let changes = subscription.take();
    assert_eq!(changes, [state::TableChange { table: acl, version }]);
    assert!(!subscription.is_over());
    device.load_second(PROGRAMS.written[1].clone()).expect("it loads");
    assert!(device.swap());
    device.advance(1_000).expect("no assertion fails");
    assert!(subscription.is_over());
}
