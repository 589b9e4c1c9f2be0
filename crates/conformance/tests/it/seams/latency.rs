// SPDX-License-Identifier: Apache-2.0
//! Drivers that take time: which item takes effect when, who is served first, and what batches promise that do
//! not take effect at one moment.

use crate::seams::{answer, bound, entry, exact, program, register, table};
use control::latency::{DriverModel, Duration, LatencyModel};
use control::target::{
    Batch, DeviceItem, Fault, Outcome, Reply, Target, Ticket, Visibility, prepare_entry,
};
use device::{Device, DeviceOptions, DeviceTarget, EngineChoice};
use ir::{Bits, Program};
use state::{Atomicity, CellRange, CellValues, Configuration, Read, Store, Update, UpdateError};
use std::sync::{Arc, LazyLock};

/// What each item takes where nothing else is said.
const ITEM_PS: u64 = 1_000;

static PROGRAM: LazyLock<Arc<Program>> = LazyLock::new(|| program(include_str!("latency.p4")));

fn device(control_latency: Option<LatencyModel>) -> Device {
    let options = DeviceOptions {
        engine: EngineChoice::Interpreter,
        control_latency,
        ..DeviceOptions::default()
    };
    Device::new(PROGRAM.clone(), options).expect("it loads")
}

fn item_wise() -> Device {
    device(Some(LatencyModel::per_item(ITEM_PS)))
}

fn insert(key: u64) -> Update {
    let ports = table(&PROGRAM, "ports");
    let action = bound(&PROGRAM, ports, "send", &[9]);
    Update::InsertEntry { table: ports, entry: entry(&PROGRAM, ports, &[key], action) }
}

fn delete(key: u64) -> Update {
    let ports = table(&PROGRAM, "ports");
    Update::DeleteEntry { table: ports, keys: exact(&PROGRAM, ports, &[key]), priority: 0 }
}

fn set_mode(mode: u64) -> Update {
    let of = table(&PROGRAM, "mode");
    let action = Some(bound(&PROGRAM, of, "set_mode", &[mode]));
    Update::SetDefaultAction { table: of, action }
}

fn write_cells(value: u64) -> Update {
    let values = CellValues::Same(Bits::from_u64(32, value));
    let cells = CellRange { first: 0, count: None };
    Update::WriteRegister { register: register(&PROGRAM, "cells"), cells, values }
}

/// The keys of the entries of a device.
fn keys(device: &Device) -> Vec<u64> {
    let configuration = device.configuration();
    let ports = configuration.table(table(&PROGRAM, "ports")).expect("it is there");
    let key = |entry: &Arc<state::EntryRecord>| match &entry.keys[0] {
        ir::KeyPattern::Exact(key) => key.low_u64(),
        other => panic!("{other:?}"),
    };
    let mut keys: Vec<u64> = ports.entries().map(key).collect();
    keys.sort();
    keys
}

fn cells(device: &Device) -> Vec<u64> {
    let cells = device.cells();
    let array = cells.register(register(&PROGRAM, "cells")).expect("it is there");
    (0..4).map(|index| array.read(index).map_or(0, |value| value.low_u64())).collect()
}

fn advance(device: &mut Device, until_ps: u64) {
    device.advance(until_ps).expect("no assertion fails");
}

#[test]
fn a_batch_on_an_idle_device_is_done_at_once_in_software() {
    let device = device(None);
    let outcome = device.execute(Batch::of([insert(1), write_cells(5)]));
    assert!(outcome.is_ok(), "{outcome:?}");
    assert_eq!((outcome.applied_ps, outcome.known_ps, device.next_event_ps()), (0, 0, None));
    assert_eq!((keys(&device), cells(&device)), (vec![1], vec![5; 4]));
    assert_eq!(device.target().visibility(), Visibility::Moment);
}

#[test]
fn a_batch_on_an_idle_device_with_a_slow_driver_takes_the_time_of_the_driver() {
    let mut device = item_wise();
    let mut target = device.target();
    let ticket = target.submit(Batch::of([insert(1), insert(2)]), 0);
    let outcome = target.wait(ticket);
    assert_eq!(outcome.first_fault(), Some((0, &Fault::TakesTime)));
    assert!(keys(&device).is_empty());
    // No packet is needed for the clock to go on.
    device.run_to_completion().expect("no assertion fails");
    let outcome = target.poll(ticket).expect("it was carried out");
    assert!(outcome.is_ok(), "{outcome:?}");
    assert_eq!((outcome.applied_ps, outcome.known_ps, device.now_ps()), (2_000, 2_000, 2_000));
    assert_eq!(keys(&device), [1, 2]);
}

/// When what a batch does is seen: the mode, the entry, and each cell.
fn seen_ps(model: LatencyModel) -> (Outcome, [Option<u64>; 6]) {
    let mut device = device(Some(model));
    let mut target = device.target();
    let ticket = target.submit(Batch::of([set_mode(7), insert(1), write_cells(5)]), 0);
    let mut seen = [None; 6];
    while let Some(next_ps) = device.next_event_ps() {
        advance(&mut device, next_ps);
        let configuration = device.configuration();
        let mode = configuration.table(table(&PROGRAM, "mode")).expect("it is there");
        let mut now = vec![!mode.default_action().is_initial, !keys(&device).is_empty()];
        now.extend(cells(&device).iter().map(|value| *value == 5));
        for (seen, now) in seen.iter_mut().zip(now) {
            *seen = seen.or(now.then_some(next_ps));
        }
    }
    (target.poll(ticket).expect("it was carried out"), seen)
}

#[test]
fn items_and_cells_take_effect_at_their_own_times() {
    let reply = Duration::Constant(1_000_000);
    let model = LatencyModel {
        reply,
        batch: Duration::Constant(500_000),
        ..DriverModel::pcie_chip().model
    };
    // 3 us for a default action, 5 us for an entry, 4 us and 80 ns a byte for cells of 4 bytes.
    let cells = [1, 2, 3, 4].map(|number| 500_000 + 12_000_000 + number * 320_000);
    let (outcome, seen) = seen_ps(model.clone());
    let [mode, entry, of_cells @ ..] = seen;
    assert_eq!((mode, entry), (Some(3_500_000), Some(8_500_000)));
    assert_eq!(of_cells, cells.map(Some));
    assert_eq!((outcome.applied_ps, outcome.known_ps), (cells[3], cells[3] + 1_000_000));
    // As an atomic driver, it takes as long, and everything is seen in the end.
    let (outcome, seen) = seen_ps(LatencyModel { is_atomic: true, ..model });
    assert_eq!(seen, [Some(cells[3]); 6]);
    assert_eq!((outcome.applied_ps, outcome.known_ps), (cells[3], cells[3] + 1_000_000));
}

#[test]
fn controllers_are_served_first_come_first_served() {
    let mut device = item_wise();
    let (mut one, mut two) = (device.target(), device.target());
    // The third request is made for later, and comes while the driver is busy with the second.
    let first = one.submit(Batch::of([insert(1), insert(2)]), 0);
    let third = one.submit(Batch::one(insert(4)), 2_500);
    advance(&mut device, 500);
    let second = two.submit(Batch::one(insert(3)), 500);
    let late = two.submit(Batch::one(insert(5)), 10_000);
    device.run_to_completion().expect("no assertion fails");
    let done_ps = |target: &mut DeviceTarget, ticket| target.poll(ticket).map(|done| done.known_ps);
    assert_eq!(done_ps(&mut one, first), Some(2_000));
    assert_eq!(done_ps(&mut two, second), Some(3_000));
    assert_eq!(done_ps(&mut one, third), Some(4_000));
    assert_eq!(done_ps(&mut two, late), Some(11_000));
}

#[test]
fn a_batch_that_is_refused_leaves_the_driver_to_the_next_one() {
    let mut device = item_wise();
    let mut target = device.target();
    let twice = Batch::of([insert(1), insert(1)]).with(Atomicity::RollbackOnError);
    let refused = target.submit(twice, 0);
    let next = target.submit(Batch::one(insert(2)), 0);
    let next = answer(&mut device, &mut target, next);
    assert_eq!(next.known_ps, 2_000);
    assert_eq!(target.poll(refused).map(|outcome| outcome.known_ps), Some(1_000));
}

#[test]
fn a_range_read_tears_unless_the_driver_is_atomic() {
    let torn = |is_atomic: bool| {
        let mut model = LatencyModel::per_item(ITEM_PS);
        model.other_items.byte_ps = 250;
        model.is_atomic = is_atomic;
        let mut device = device(Some(model));
        let mut target = device.target();
        let read = || {
            Batch::one(Read::Register {
                register: register(&PROGRAM, "cells"),
                cells: CellRange { first: 0, count: None },
            })
        };
        for number in 1..100_u32 {
            let bytes = number.to_be_bytes().to_vec();
            device.inject(1, u64::from(number) * 3_000, bytes).expect("a time to come");
        }
        let mut torn = 0;
        for number in 1..50 {
            let ticket = target.submit(read(), number * 6_000 + number % 7 * 900);
            let outcome = answer(&mut device, &mut target, ticket);
            match &outcome.results[0] {
                Ok(Reply::State(state::Reply::Registers(cells))) => {
                    assert_eq!(cells.len(), 4);
                    torn += usize::from(cells[0] != cells[3]);
                }
                other => panic!("{other:?}"),
            }
        }
        torn
    };
    let (item_wise, atomic) = (torn(false), torn(true));
    println!("of 49 reads, {item_wise} are torn item by item, {atomic} at one moment");
    assert!(item_wise >= 10, "{item_wise}");
    assert_eq!(atomic, 0);
}

#[test]
fn an_item_wise_driver_refuses_what_packets_must_see_at_one_moment() {
    let outcome = |model: LatencyModel, batch: Batch| {
        let mut device = device(Some(model));
        let mut target = device.target();
        let ticket = target.submit(batch.with(Atomicity::DataplaneAtomic), 0);
        (answer(&mut device, &mut target, ticket), keys(&device))
    };
    let item_wise = || LatencyModel::per_item(ITEM_PS);
    for batch in [Batch::of([insert(1), insert(2)]), Batch::one(write_cells(1))] {
        let (outcome, keys) = outcome(item_wise(), batch);
        assert!(outcome.rolled_back);
        assert!(matches!(outcome.results[0], Err(Fault::Unsupported(_))), "{outcome:?}");
        assert!(keys.is_empty());
    }
    let (one, _) = outcome(item_wise(), Batch::one(insert(1)));
    assert!(one.is_ok(), "{one:?}");
    let atomic = LatencyModel { is_atomic: true, ..item_wise() };
    let (both, keys) = outcome(atomic, Batch::of([insert(1), insert(2)]));
    assert!(both.is_ok(), "{both:?}");
    assert_eq!(keys, [1, 2]);
}

#[test]
fn a_batch_that_rolls_back_item_by_item_leaves_nothing_at_any_time() {
    for (atomicity, expected) in [
        (Atomicity::RollbackOnError, vec![]),
        // The counterpart, so that the test can fail.
        (Atomicity::ContinueOnError, vec![1, 2]),
    ] {
        let mut device = item_wise();
        let mut target = device.target();
        let batch = Batch::of([insert(1), insert(2), insert(1), delete(7)]).with(atomicity);
        let ticket = target.submit(batch, 0);
        let mut most = Vec::new();
        while let Some(next_ps) = device.next_event_ps() {
            advance(&mut device, next_ps);
            most = most.max(keys(&device));
        }
        let outcome = target.poll(ticket).expect("it was carried out");
        let rolls_back = atomicity == Atomicity::RollbackOnError;
        assert_eq!(outcome.rolled_back, rolls_back);
        assert_eq!(outcome.results[0].is_err(), rolls_back);
        let (at, fault) = outcome.first_fault().expect("an entry cannot be there twice");
        assert_eq!(at, 2);
        assert!(matches!(fault, Fault::Refused(UpdateError::EntryExists { .. })), "{fault:?}");
        assert_eq!((most, keys(&device)), (expected.clone(), expected));
    }
}

#[test]
fn a_prepared_operation_is_refused_after_its_entry_was_deleted_and_added_again() {
    let device = device(None);
    let mut target = device.target();
    let ports = table(&PROGRAM, "ports");
    let action = bound(&PROGRAM, ports, "send", &[0]).action;
    assert!(target.execute(Batch::one(insert(1))).is_ok());
    let prepared = prepare_entry(&mut target, ports, exact(&PROGRAM, ports, &[1]), 0, action)
        .expect("it is there");
    let batch = |port| prepared.batch(vec![Bits::from_u64(9, port)]).expect("it fits");
    assert!(target.execute(batch(3)).is_ok());
    assert!(target.execute(batch(4)).is_ok());
    // Deleted and added again, it has its place, but is another entry.
    assert!(target.execute(Batch::of([delete(1), insert(1)])).is_ok());
    let before = device.configuration();
    let outcome = target.execute(batch(5));
    let fault = outcome.first_fault().map(|(_, fault)| fault);
    let is_refused = matches!(fault, Some(Fault::Refused(UpdateError::EntryChanged { .. })));
    assert!(is_refused, "{outcome:?}");
    let entries = |configuration: &Configuration| -> Vec<_> {
        configuration.table(ports).expect("it is there").entries().cloned().collect()
    };
    assert_eq!(entries(&device.configuration()), entries(&before));
}

#[test]
fn the_same_seed_gives_the_same_times() {
    let times = |seed: u64| -> Vec<(u64, u64)> {
        let mut model = LatencyModel::per_item(0);
        model.batch = Duration::Exponential { min_ps: 10, mean_ps: 1_000 };
        model.other_items.base = Duration::Uniform { min_ps: 1, max_ps: 5_000 };
        model.reply = Duration::Measured(vec![(10, 3), (700, 1)]);
        let options = DeviceOptions { seed, ..device(Some(model)).options().clone() };
        let mut device = Device::new(PROGRAM.clone(), options).expect("it loads");
        let mut target = device.target();
        let tickets: Vec<Ticket> =
            (0..20).map(|key| target.submit(Batch::one(insert(key)), 0)).collect();
        device.run_to_completion().expect("no assertion fails");
        let outcomes = tickets.into_iter().filter_map(|ticket| target.poll(ticket));
        outcomes.map(|outcome| (outcome.applied_ps, outcome.known_ps)).collect()
    };
    assert_eq!(times(1).len(), 20);
    assert_eq!(times(1), times(1));
    assert_ne!(times(1), times(2));
}

/// Versions that readers hold, so many that the next write has to wait.
fn pin_versions(device: &mut Device) -> Vec<Arc<Configuration>> {
    let mut target = device.target();
    let pin = |number: usize| {
        let ticket = target.submit(Batch::one(set_mode(number as u64)), 0);
        let outcome = answer(device, &mut target, ticket);
        assert!(outcome.is_ok(), "{outcome:?}");
        device.configuration()
    };
    (0..Store::MAX_PINNED_VERSIONS + 2).map(pin).collect()
}

#[test]
fn a_job_that_pinned_versions_held_up_keeps_its_turn() {
    let mut device = item_wise();
    let pinned = pin_versions(&mut device);
    let begin_ps = device.now_ps();
    let (mut one, mut two) = (device.target(), device.target());
    let first = one.submit(Batch::of([insert(1), insert(2), insert(3)]), 0);
    let second = two.submit(Batch::one(insert(4)), 0);
    advance(&mut device, begin_ps + 10_000);
    assert!(keys(&device).is_empty());
    drop(pinned);
    let second = answer(&mut device, &mut two, second);
    assert_eq!(one.poll(first).map(|outcome| outcome.applied_ps), Some(begin_ps + 12_000));
    assert_eq!(second.applied_ps, begin_ps + 13_000);
}

#[test]
fn a_batch_with_items_about_the_device_waits_for_pinned_versions_as_a_whole() {
    let mut device = device(None);
    let pinned = pin_versions(&mut device);
    let mut target = device.target();
    let depth = DeviceItem::QueueDepth { packets: 3, port: Some(9), priority: None };
    let items = [insert(1).into(), depth.into(), insert(2).into()];
    let ticket = target.submit(Batch { items: items.to_vec(), ..Batch::default() }, 0);
    assert_eq!(target.poll(ticket), None);
    drop(pinned);
    let outcome = target.poll(ticket).expect("nothing holds it up");
    assert_eq!(outcome.results.len(), 3);
    assert!(outcome.is_ok(), "{outcome:?}");
    assert_eq!(keys(&device), [1, 2]);
}

#[test]
fn a_batch_is_of_the_program_that_ran_when_it_arrived() {
    let mut device = item_wise();
    let mut target = device.target();
    let ticket = target.submit(Batch::of([insert(1), insert(2)]), 0);
    let other = Arc::new(Program::clone(&PROGRAM));
    device.load_second(other).expect("it loads");
    advance(&mut device, 1_500);
    assert!(device.swap());
    let outcome = answer(&mut device, &mut target, ticket);
    assert_eq!(outcome.first_fault(), Some((0, &Fault::Swapped)));
    // State of equal names went over; the second item came too late.
    assert_eq!(keys(&device), [1]);
}

#[test]
fn a_reservation_waits_for_batches_before_it() {
    let mut device = item_wise();
    let (mut one, mut two) = (device.target(), device.target());
    let batch = one.submit(Batch::one(insert(1)), 0);
    // It would be possible now, but not when it is committed.
    let impossible = two.reserve(Batch::one(insert(1)), 0);
    let outcome = answer(&mut device, &mut two, impossible);
    assert!(!outcome.is_ok(), "{outcome:?}");
    assert!(one.poll(batch).is_some_and(|outcome| outcome.is_ok()));
    let possible = two.reserve(Batch::of([insert(2), insert(3)]), 0);
    assert!(answer(&mut device, &mut two, possible).is_ok());
    // Until the commit no other controller writes.
    let theirs = one.submit(Batch::one(insert(2)), 0);
    advance(&mut device, 50_000);
    assert_eq!(one.poll(theirs), None);
    let commit = two.commit(possible, 0);
    let outcome = answer(&mut device, &mut two, commit);
    assert!(outcome.is_ok(), "{outcome:?}");
    assert_eq!(outcome.applied_ps, 52_000);
    assert!(!answer(&mut device, &mut one, theirs).is_ok());
    assert_eq!(keys(&device), [1, 2, 3]);
}
