// SPDX-License-Identifier: Apache-2.0
//! Access of engines to cells: contiguous words, access by number, stable addresses. Updates of cells by a control plane are
//! in `batches`.

use ir::{Bits, CounterId, MeterId, RegisterId, TableId};
use proptest::prelude::*;
use state::*;
use std::sync::Arc;

const PROGRAM: &str = r#"ir test
origin @0
action drop() runs drop @0
region action drop {
  block0:
    return @0
}
table t {
  key k: exact bit<8> unsigned
  action drop
  default drop()
  entry priority 0 (exact 8w1) runs drop() @0
  direct_counter hits
  direct_meter rates
  idle_timeout
} @0
counter hits: packets direct @0
counter packets: packets size 4 @0
counter sparse: packets size 33554432 @0
meter rates: packets direct @0
register narrow: bit<12> unsigned size 4 initial 12w5 @0
register wide: bit<100> unsigned size 4 initial 100w0x80000000000000000000001 @0
register wider: bit<200> unsigned size 4 initial 200w7 @0
register sparse: bit<100> unsigned size 8388609 initial 100w1 @0
"#;

fn switch() -> (Store, Cells) {
    let program = ir::text::parse(PROGRAM).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let cells = Cells::new(&program);
    (Store::new(Arc::new(program)).expect("a sound program"), cells)
}

#[test]
fn words_are_the_cells() {
    let (_, mut cells) = switch();
    let words = |cells: &mut Cells, register| {
        cells.register_words_mut(RegisterId(register)).map(|words| words.to_vec())
    };
    assert_eq!(words(&mut cells, 0), Some(vec![5; 4]));
    assert_eq!(words(&mut cells, 1), Some([1, 0x800_0000].repeat(4)));
    assert_eq!(words(&mut cells, 2), Some([7, 0, 0, 0].repeat(4)));
    // More than 2^24 words.
    assert_eq!(words(&mut cells, 3), None);
    assert_eq!(words(&mut cells, 4), None);
    let sparse = cells.register_mut(RegisterId(3)).expect("sparse");
    sparse.write(0x80_0000, Bits::from_u64(100, 9));
    assert_eq!(sparse.read(0x80_0000), Some(Bits::from_u64(100, 9)));
    assert_eq!(sparse.read(0), Some(Bits::from_u64(100, 1)));

    cells.count(CounterId(1), 2, 64);
    let packets = cells.counter_cells_mut(CounterId(1)).expect("packets");
    assert_eq!(packets, [[0, 0], [0, 0], [1, 64], [0, 0]]);
    packets[3] = [7, 8];
    let value = CounterValue { packets: 7, bytes: 8 };
    assert_eq!(cells.counter(CounterId(1), 3), Some(value));
    assert_eq!(cells.counter_cells_mut(CounterId(0)), Some(&mut [][..]));
    assert_eq!(cells.counter_cells_mut(CounterId(2)), None);
}

proptest! {
    #[test]
    fn words_and_values_agree(
        register in 0u32..3,
        writes in prop::collection::vec((0u64..5, any::<[u64; 4]>()), 1..10),
    ) {
        let (_, mut cells) = switch();
        let array = cells.register_mut(RegisterId(register)).expect("a register");
        let width_bits = array.width_bits();
        let mut expected: Vec<Bits> = (0..4).filter_map(|at| array.read(at)).collect();
        for (index, words) in writes {
            let value = Bits::from_words(width_bits, &words);
            array.write(index, value.clone());
            if let Some(cell) = expected.get_mut(index as usize) {
                *cell = value;
            }
        }
        let read: Vec<Bits> = (0..5).filter_map(|at| array.read(at)).collect();
        prop_assert_eq!(&read, &expected);
        let words = cells.register_words_mut(RegisterId(register)).expect("flat");
        let from_words: Vec<Bits> = words
            .chunks(width_bits.div_ceil(64) as usize)
            .map(|cell| Bits::from_words(width_bits, cell))
            .collect();
        prop_assert_eq!(&from_words, &expected);
    }
}

#[test]
fn addresses_hold_as_long_as_the_identity() {
    let (store, mut cells) = switch();
    let identity = cells.identity();
    let addresses = |cells: &mut Cells| {
        let registers = [0, 1, 2].map(|register| {
            cells.register_words_mut(RegisterId(register)).map(|words| words.as_ptr() as usize)
        });
        let counter = cells.counter_cells_mut(CounterId(1)).map(|cells| cells.as_ptr() as usize);
        (registers, counter)
    };
    let before = addresses(&mut cells);
    // A batch that writes all cells and is undone.
    let fill = |value| Update::WriteRegister {
        register: RegisterId(1),
        cells: CellRange::all(),
        values: Bits::from_u64(100, value).into(),
    };
    let impossible = Update::DeleteMulticastGroup { group: 1 };
    let batch =
        Batch { atomicity: Atomicity::RollbackOnError, ..Batch::updates(0, [fill(3), impossible]) };
    assert!(store.write_batch(&mut cells, batch).rolled_back);
    let first = cells.register(RegisterId(1)).and_then(|register| register.read(0));
    assert_eq!(first.map(|first| first.low_u64()), Some(1));
    let other = cells.clone();
    if let (Some(mine), Some(other)) =
        (cells.register_mut(RegisterId(1)), other.register(RegisterId(1)))
    {
        mine.clone_from(other);
    }
    let mut moved = Box::new(cells);
    assert_eq!((moved.identity(), addresses(&mut moved)), (identity, before));
    let mut copy = moved.clone();
    assert!(copy.identity() != identity && other.identity() != copy.identity());
    assert!(addresses(&mut copy) != before);
}

#[test]
fn numbers_name_the_same_cells_as_records() {
    let (store, mut cells) = switch();
    let configuration = store.configuration();
    let table = TableId(0);
    let entry = configuration
        .table(table)
        .and_then(|table| table.lookup(&[Bits::from_u64(8, 1)]))
        .expect("a hit");
    let (place_plus_one, generation) = (entry.handle.0 + 1, entry.generation);
    cells.count_direct(CounterId(0), Some(entry), 10);
    cells.count_direct_at(CounterId(0), place_plus_one, generation, 20);
    cells.count_direct_at(CounterId(0), 0, 0, 5);
    let bytes = |cells: &Cells, entry| cells.direct_counter(CounterId(0), entry).bytes;
    assert_eq!((bytes(&cells, Some(entry)), bytes(&cells, None)), (30, 5));
    // A younger entry in the same place starts at zero, and the older one is not counted.
    cells.count_direct_at(CounterId(0), place_plus_one, generation + 1, 1);
    cells.count_direct(CounterId(0), Some(entry), 1);
    assert_eq!(bytes(&cells, Some(entry)), 0);

    let rate = TokenRate::per_second(1, 2);
    let rates = MeterConfiguration { committed: rate, peak: rate };
    cells.configure_direct_meter(MeterId(0), Some(entry), Some(rates), 0);
    let marks = [
        cells.mark_direct_at(MeterId(0), place_plus_one, generation, 1, 0),
        cells.mark_direct(MeterId(0), Some(entry), 1, 0),
        cells.mark_direct_at(MeterId(0), place_plus_one, generation, 1, 0),
        cells.mark_direct_at(MeterId(0), 0, 0, 1, 0),
    ];
    assert_eq!(marks, [Colour::Green, Colour::Green, Colour::Red, Colour::Green]);

    cells.note_hit_at(table, place_plus_one, generation, 500);
    assert_eq!(cells.last_hit_ps(table, entry), 500);
    cells.note_hit(table, entry, 600);
    assert_eq!(cells.last_hit_ps(table, entry), 600);
}
