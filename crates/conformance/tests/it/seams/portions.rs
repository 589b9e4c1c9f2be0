// SPDX-License-Identifier: Apache-2.0
//! Portions of a shared target, case by case: what each owns, what it does not reach, and when it hears of entries
//! that idle.

use crate::seams::share::{IDS, NAMES, PROGRAMS};
use crate::seams::{answer, bound, entry, table};
use control::latency::LatencyModel;
use control::map::{CellArray, IdRanges, Portion, SharedTarget};
use control::state_target::StateTarget;
use control::target::{Batch, Fault, Notification, Outcome, Reply, Target};
use device::{Device, DeviceOptions, EngineChoice};
use ir::{Bits, CalculationId, KeyPattern, Program, TableId, ValueSetId};
use state::{
    ActionData, Atomicity, CellRange, CounterValue, EntryHandle, EntryReference, NewEntry, Read,
    Update,
};
use std::sync::Arc;

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
    // A rolled-back insertion leaves no owner.
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

#[test]
fn a_portion_that_waits_does_not_hold_up_another() {
    let options = DeviceOptions { engine: EngineChoice::Interpreter, ..DeviceOptions::default() };
    let device = Device::new(PROGRAMS.written[0].clone(), options).expect("it loads");
    let ([mut one, mut two], [acl, _]) = portions(Box::new(device.target()));
    let insert = |key| Update::InsertEntry { table: acl, entry: acl_entry(key, key, 0) };
    // A reservation of another controller keeps writes out; reads go on.
    let mut third = device.target();
    let reservation = third.reserve(Batch::one(insert(9)), 0);
    assert!(third.wait(reservation).is_ok());
    let held = one.submit(Batch::one(insert(1)), 0);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| one.wait(held));
        std::thread::sleep(std::time::Duration::from_millis(20));
        let is_waiting = !waiting.is_finished();
        // The target answers its requests in their order, but takes them.
        let theirs = two.submit(Batch::one(insert(2)), 0);
        let early = two.poll(theirs);
        let heard = two.notifications().len();
        third.release(reservation);
        assert!(waiting.join().expect("it returns").is_ok());
        assert!(two.wait(theirs).is_ok());
        assert_eq!((is_waiting, early, heard), (true, None, 0));
    });
    assert_eq!(values(&mut one, acl), [1]);
}

/// A program with a value set, a custom CRC and arrays of cells.
fn everything() -> Arc<Program> {
    crate::seams::program(include_str!("../control_maps/everything.p4"))
}

#[test]
fn value_sets_calculations_and_cells_are_divided() {
    let program = everything();
    let target = StateTarget::new(program.clone()).expect("the program is whole");
    let shared = SharedTarget::new(Box::new(target));
    let sums = crate::seams::register(&program, "sums");
    let [mut one, mut two] = [0_u32, 1].map(|number| {
        let ids = IdRanges::same(number * IDS..(number + 1) * IDS);
        let first = u64::from(number) * 2;
        shared.portion_with_cells(ids, [(CellArray::Register(sums), first..first + 2)])
    });
    let set = ValueSetId(0);
    let member = |value| vec![KeyPattern::Exact(Bits::from_u64(8, value))];
    let insert = |value| Update::InsertValueSetMember { set, member: member(value) };
    let delete = |value| Update::DeleteValueSetMember { set, member: member(value) };
    let replace = |values: &[u64]| {
        let members = values.iter().map(|value| member(*value)).collect();
        Update::SetValueSet { set, members }
    };
    let members = |portion: &mut Portion| -> Vec<u64> {
        match portion.execute(Batch::one(Read::ValueSet { set })).into_reply() {
            Ok(state::Reply::ValueSet(list)) => { list.iter() }
                .map(|member| match &member[0] {
                    KeyPattern::Exact(value) => value.low_u64(),
                    other => panic!("{other:?}"),
                })
                .collect(),
            other => panic!("{other:?}"),
        }
    };
    assert!(one.execute(Batch::of([insert(1), insert(2)])).is_ok());
    let outcome = two.execute(Batch::of([insert(1), insert(3), delete(2), replace(&[2, 4])]));
    assert_eq!(codes(&outcome), ["ST-E31", "ok", "ST-E32", "ST-E31"]);
    assert!(two.execute(Batch::one(replace(&[4, 5]))).is_ok());
    // The set has room for four; what is refused claims nothing.
    assert_eq!(codes(&one.execute(Batch::of([insert(6), replace(&[1, 2, 6])]))), ["ST-E30"; 2]);
    assert_eq!((members(&mut one), members(&mut two)), (vec![1, 2], vec![4, 5]));
    assert!(one.execute(Batch::one(replace(&[]))).is_ok());
    assert!(two.execute(Batch::one(replace(&[4, 6, 1]))).is_ok());
    assert_eq!((members(&mut one), members(&mut two)), (vec![], vec![4, 6, 1]));

    let calculation = CalculationId(0);
    let parameters = program.calculations[0].parameters;
    let crc = |parameters| Update::SetCrcParameters { calculation, parameters };
    assert!(one.execute(Batch::one(crc(Some(parameters)))).is_ok());
    assert!(!two.execute(Batch::one(crc(None))).is_ok());
    assert!(one.execute(Batch::one(crc(None))).is_ok());
    assert!(two.execute(Batch::one(crc(Some(parameters)))).is_ok());

    let write = |cells, value| Update::WriteRegister {
        register: sums,
        cells,
        values: Bits::from_u64(16, value).into(),
    };
    assert!(one.execute(Batch::one(write(CellRange::range(0, 2), 7))).is_ok());
    assert!(two.execute(Batch::one(write(CellRange { first: 2, count: None }, 8))).is_ok());
    let read = |cells| Read::Register { register: sums, cells };
    for cells in [CellRange::all(), CellRange::one(2), CellRange::range(1, 2)] {
        let outcomes =
            [one.execute(Batch::one(read(cells))), one.execute(Batch::one(write(cells, 9)))];
        for outcome in outcomes {
            let code = codes(&outcome).remove(0);
            assert!(code.contains("cells this controller has 0 to 1"), "{code}");
        }
    }
    // Outside the array the store says what is wrong.
    assert_eq!(codes(&one.execute(Batch::one(read(CellRange::one(4))))), ["ST-E33"]);
    let replies = [
        one.execute(Batch::one(read(CellRange::range(0, 2)))),
        two.execute(Batch::one(read(CellRange::range(2, 2)))),
    ];
    for (outcome, value) in replies.into_iter().zip([7, 8]) {
        let cells = vec![Bits::from_u64(16, value); 2];
        assert_eq!(outcome.into_reply(), Ok(state::Reply::Registers(cells)));
    }
}

#[test]
fn claims_go_over_to_the_program_that_was_swapped_in() {
    let before = everything();
    let text = include_str!("../control_maps/everything.p4");
    let after = crate::seams::program(&format!("#define OTHER_ORDER\n{text}"));
    let options = DeviceOptions { engine: EngineChoice::Interpreter, ..DeviceOptions::default() };
    let mut device = Device::new(before.clone(), options).expect("it loads");
    let shared = SharedTarget::new(Box::new(device.target()));
    let [mut one, mut two] = [0, IDS].map(|base| shared.portion(IdRanges::same(base..base + IDS)));
    let painted = |program: &Program| table(program, "painted");
    let insert = |program: &Program, key: u64| {
        let value = Bits::from_u64(8, key);
        let keys = vec![KeyPattern::Exact(value), KeyPattern::Any];
        let action = bound(program, painted(program), "paint", &[key]);
        Update::InsertEntry { table: painted(program), entry: NewEntry::direct(keys, 1, action) }
    };
    let entries = |portion: &mut Portion, program: &Program| match portion
        .execute(Batch::one(Read::Entries { table: painted(program) }))
        .into_reply()
    {
        Ok(state::Reply::Entries(list)) => list,
        other => panic!("{other:?}"),
    };
    assert!(one.execute(Batch::of([insert(&before, 1), insert(&before, 2)])).is_ok());
    assert!(two.execute(Batch::one(insert(&before, 3))).is_ok());
    // The answer to this one is taken after the swap.
    let late = one.submit(Batch::one(insert(&before, 4)), 0);
    device.load_second(after.clone()).expect("it loads");
    assert!(device.swap());
    assert!(one.wait(late).is_ok());
    assert_eq!((entries(&mut one, &after).len(), entries(&mut two, &after).len()), (2, 1));
    assert_eq!(codes(&two.execute(Batch::one(insert(&after, 1)))), [ENTRY_EXISTS]);
    let own = entries(&mut one, &after);
    let place = |at: usize| Update::DeleteEntryAt {
        table: painted(&after),
        handle: own[at].handle,
        generation: own[at].generation,
    };
    assert_eq!(codes(&two.execute(Batch::one(place(0)))), [ENTRY_CHANGED]);
    assert_eq!(codes(&one.execute(Batch::of([place(0), place(1)]))), ["ok"; 2]);
    assert!(two.execute(Batch::one(insert(&after, 1))).is_ok());
    assert_eq!((entries(&mut one, &after).len(), entries(&mut two, &after).len()), (0, 2));
}
