// SPDX-License-Identifier: Apache-2.0
//! Reads and writes of ranges of cells against a model, with undone and checked batches between them.

use ir::{Bits, CounterId, MeterId, RegisterId};
use proptest::prelude::*;
use state::*;
use std::sync::Arc;

const PROGRAM: &str = r#"ir test
origin @0
counter packets: packets size 6 @0
meter rates: bytes size 6 @0
register narrow: bit<12> unsigned size 6 initial 12w5 @0
register wide: bit<100> unsigned size 6 initial 100w0 @0
register sparse: bit<32> unsigned size 1099511627776 initial 32w3 @0
"#;

const SIZE: u64 = 6;

/// Values of the arrays' first cells: a counter, a meter, and two registers.
type Model = [[u64; SIZE as usize]; 4];

const INITIAL: Model = [[0; 6], [0; 6], [5; 6], [0; 6]];

fn switch() -> (Store, Cells) {
    let program = ir::text::parse(PROGRAM).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let program = Arc::new(program);
    (Store::new(program.clone()).expect("a sound program"), Cells::new(&program))
}

fn counted(packets: u64) -> CounterValue {
    CounterValue { packets, bytes: packets * 10 }
}

/// 0 is no configuration.
fn rates(number: u64) -> Option<MeterConfiguration> {
    let rate = |burst| TokenRate::per_second(1, burst);
    (number > 0).then(|| MeterConfiguration { committed: rate(number), peak: rate(number + 1) })
}

fn map<T>(values: &CellValues<u64>, value: impl Fn(u64) -> T) -> CellValues<T> {
    match values {
        CellValues::Same(number) => CellValues::Same(value(*number)),
        CellValues::Each(numbers) => {
            CellValues::Each(numbers.iter().map(|number| value(*number)).collect())
        }
    }
}

fn write(array: usize, cells: CellRange, values: &CellValues<u64>) -> Update {
    match array {
        0 => Update::WriteCounter { counter: CounterId(0), cells, values: map(values, counted) },
        1 => Update::WriteMeter { meter: MeterId(0), cells, values: map(values, rates) },
        _ => Update::WriteRegister {
            register: RegisterId(array as u32 - 2),
            cells,
            values: map(values, |number| Bits::from_u64(64, number)),
        },
    }
}

fn read(array: usize, cells: CellRange) -> Read {
    match array {
        0 => Read::Counter { counter: CounterId(0), cells },
        1 => Read::Meter { meter: MeterId(0), cells },
        _ => Read::Register { register: RegisterId(array as u32 - 2), cells },
    }
}

fn reply(array: usize, values: &[u64]) -> Reply {
    let values = values.iter().copied();
    match array {
        0 => Reply::Counters(values.map(counted).collect()),
        1 => Reply::Meters(values.map(rates).collect()),
        2 => Reply::Registers(values.map(|value| Bits::from_u64(12, value)).collect()),
        _ => Reply::Registers(values.map(|value| Bits::from_u64(100, value)).collect()),
    }
}

/// Writes to the model; `false` when the update has to be refused.
fn write_model(
    model: &mut Model,
    array: usize,
    range: CellRange,
    values: &CellValues<u64>,
) -> bool {
    let end = range.count.map_or(SIZE, |count| range.first + count);
    if range.first > SIZE || end > SIZE {
        return false;
    }
    let cells = &mut model[array][range.first as usize..end as usize];
    match values {
        CellValues::Same(value) => cells.fill(*value),
        CellValues::Each(values) if values.len() != cells.len() => return false,
        CellValues::Each(values) => cells.copy_from_slice(values),
    }
    true
}

fn ranges() -> impl Strategy<Value = CellRange> {
    prop_oneof![
        Just(CellRange::all()),
        (0..=SIZE).prop_map(CellRange::one),
        (0..SIZE + 2, 0..SIZE).prop_map(|(first, count)| CellRange::range(first, count)),
        (0..SIZE + 2).prop_map(|first| CellRange { first, count: None }),
    ]
}

/// A write, usually with one value per cell of the range.
fn writes() -> impl Strategy<Value = (usize, CellRange, CellValues<u64>)> {
    let numbers = prop::collection::vec(0u64..50, 8);
    (0usize..4, ranges(), numbers, 0u8..8).prop_map(|(array, range, mut numbers, choice)| {
        let count = range.count.unwrap_or(SIZE.saturating_sub(range.first));
        let values = match choice {
            0..3 => CellValues::Same(numbers[0]),
            3 => CellValues::Each(numbers),
            _ => {
                numbers.truncate(count as usize);
                CellValues::Each(numbers)
            }
        };
        (array, range, values)
    })
}

fn assert_equals_model((store, cells): &(Store, Cells), model: &Model) {
    let configuration = store.configuration();
    for (array, expected) in model.iter().enumerate() {
        let all = configuration.answer(cells, &read(array, CellRange::all()));
        assert_eq!(all, Ok(reply(array, expected)));
        for (first, end) in [(0, 2), (1, 5), (3, 3), (5, 6)] {
            let range = CellRange::range(first as u64, (end - first) as u64);
            let part = configuration.answer(cells, &read(array, range));
            assert_eq!(part, Ok(reply(array, &expected[first..end])));
        }
    }
}

proptest! {
    #[test]
    fn ranges_of_cells_follow_the_model(
        batches in prop::collection::vec((prop::collection::vec(writes(), 1..5), 0u8..3), 1..12),
    ) {
        let mut switch = switch();
        let mut model = INITIAL;
        for (writes, mode) in batches {
            let atomicity = match mode {
                0 => Atomicity::ContinueOnError,
                _ => Atomicity::RollbackOnError,
            };
            let updates = writes.iter().map(|(array, range, values)| write(*array, *range, values));
            let batch = Batch { atomicity, ..Batch::updates(0, updates) };
            let mut next = model;
            let mut works = true;
            let mut expected = Vec::new();
            for (array, range, values) in &writes {
                let is_ok = write_model(&mut next, *array, *range, values);
                works &= is_ok;
                expected.push(is_ok);
            }
            let (store, cells) = &mut switch;
            let checked = store.check_batch(cells, batch.clone());
            assert_equals_model(&switch, &model);
            let (store, cells) = &mut switch;
            let outcome = store.write_batch(cells, batch);
            prop_assert_eq!(&checked, &outcome);
            if atomicity == Atomicity::ContinueOnError {
                let done: Vec<_> = outcome.results.iter().map(Result::is_ok).collect();
                prop_assert_eq!(done, expected);
            } else {
                prop_assert_eq!(outcome.is_ok(), works);
            }
            if works || atomicity == Atomicity::ContinueOnError {
                model = next;
            }
            assert_equals_model(&switch, &model);
        }
    }
}

#[test]
fn a_range_of_a_large_array_is_written_and_undone() {
    let (store, mut cells) = switch();
    let register = RegisterId(2);
    let at = |number: u64| CellRange::range((1 << 39) + number, 3);
    let values = |numbers: [u64; 3]| {
        CellValues::Each(numbers.map(|number| Bits::from_u64(32, number)).to_vec())
    };
    let write = Update::WriteRegister { register, cells: at(0), values: values([1, 2, 3]) };
    assert!(store.write_batch(&mut cells, Batch::updates(0, [write])).is_ok());
    let failing = [
        Update::WriteRegister { register, cells: at(1), values: values([7, 8, 9]) },
        Update::DeleteMulticastGroup { group: 1 },
    ];
    let batch = Batch { atomicity: Atomicity::RollbackOnError, ..Batch::updates(0, failing) };
    assert!(store.write_batch(&mut cells, batch).rolled_back);
    let reply = store.configuration().answer(&cells, &Read::Register { register, cells: at(1) });
    let expected = [2, 3, 3].map(|number| Bits::from_u64(32, number)).to_vec();
    assert_eq!(reply, Ok(Reply::Registers(expected)));
}

#[test]
fn wrong_ranges_and_counts_name_array_index_and_size() {
    let (store, mut cells) = switch();
    let mut refused = |update| {
        let outcome = store.write_batch(&mut cells, Batch::updates(0, [update]));
        let error = outcome.results[0].clone().expect_err("it is refused");
        format!("{} {error}", error.code())
    };
    assert_eq!(
        refused(write(2, CellRange::range(4, 3), &CellValues::Same(1))),
        "ST-E33 index 6 is outside `narrow`, which has 6 cells"
    );
    assert_eq!(
        refused(write(0, CellRange::all(), &CellValues::Each(vec![1, 2]))),
        "ST-E48 2 value(s) given for 6 cell(s) of `packets`"
    );
    assert_eq!(
        refused(write(2, CellRange::range(0, 2), &CellValues::Each(vec![1, 4096]))),
        "ST-E34 4096 does not fit a cell of register `narrow`, which has 12 bits"
    );
    let many = (1 << 24) + 1;
    let values = CellValues::Same(Bits::from_u64(32, 1));
    let cells = CellRange::range(5, many);
    assert_eq!(
        refused(Update::WriteRegister { register: RegisterId(2), cells, values }),
        "ST-E45 `sparse` has 1099511627776 cells, too many for one request: name a range of them"
    );
}
