// SPDX-License-Identifier: Apache-2.0
//! Lookups against a reference that scans all entries: random tables of every match kind, random
//! insertions and deletions, random keys.

use ir::{Bits, KeyPattern, TableId};
use proptest::prelude::*;
use state::{ActionData, Batch, BoundAction, Cells, NewEntry, Store, Update};
use std::sync::Arc;

/// A match kind by its word in the text form, and a width.
type KeyShape = (&'static str, u32);

fn program(keys: &[KeyShape]) -> Arc<ir::Program> {
    let mut text = String::from("ir test\norigin @0\nslot port: bit<32> unsigned @0\n");
    text.push_str("action set(port at port) runs set @0\n");
    text.push_str("region action set {\n block0:\n return @0\n}\n");
    text.push_str("table t {\n");
    for (at, (kind, width)) in keys.iter().enumerate() {
        text.push_str(&format!("key k{at}: {kind} bit<{width}> unsigned\n"));
    }
    text.push_str("action set\ndefault set(32w0)\n} @0\n");
    Arc::new(ir::text::parse(&text).unwrap_or_else(|errors| panic!("{}\n{text}", errors[0])))
}

/// A pattern that a key of this kind may have.
fn pattern(kind: &str, width: u32, [a, b, choice]: [u64; 3]) -> KeyPattern {
    // Numbers of a wide key repeat, so that matches are common.
    let bits = |number: u64| {
        let bytes: Vec<u8> = number.to_be_bytes().repeat(width.div_ceil(64) as usize);
        Bits::from_bytes_be(width, &bytes)
    };
    match kind {
        "exact" => KeyPattern::Exact(bits(a)),
        "lpm" => {
            KeyPattern::Prefix { value: bits(a), length_bits: (b % (u64::from(width) + 1)) as u32 }
        }
        "ternary" => KeyPattern::Ternary { value: bits(a), mask: bits(b) },
        "range" => {
            let (low, high) = (bits(a), bits(b));
            let (low, high) =
                if low.cmp_unsigned(&high).is_le() { (low, high) } else { (high, low) };
            KeyPattern::Range { low, high }
        }
        _ if choice % 2 == 0 => KeyPattern::Any,
        _ => KeyPattern::Exact(bits(a)),
    }
}

fn matches(pattern: &KeyPattern, value: &Bits) -> bool {
    let number = |bits: &Bits| bits.to_biguint();
    let value_number = number(value);
    match pattern {
        KeyPattern::Any => true,
        KeyPattern::Exact(wanted) => value_number == number(wanted),
        KeyPattern::Prefix { value: wanted, length_bits } => {
            let dropped = value.width_bits() - length_bits;
            value_number >> dropped == number(wanted) >> dropped
        }
        KeyPattern::Ternary { value: wanted, mask } => {
            &value_number & number(mask) == number(wanted) & number(mask)
        }
        KeyPattern::Range { low, high } => {
            number(low) <= value_number && value_number <= number(high)
        }
    }
}

/// The position in the list of the entry that wins.
fn reference(
    entries: &[(Vec<KeyPattern>, i64)],
    has_priorities: bool,
    keys: &[Bits],
) -> Option<usize> {
    let rank = |(patterns, priority): &(Vec<KeyPattern>, i64)| {
        if has_priorities {
            return *priority;
        }
        patterns
            .iter()
            .map(|pattern| match pattern {
                KeyPattern::Prefix { length_bits, .. } => i64::from(*length_bits),
                _ => 0,
            })
            .sum()
    };
    entries
        .iter()
        .enumerate()
        .filter(|(_, entry)| entry.0.iter().zip(keys).all(|(pattern, key)| matches(pattern, key)))
        .max_by_key(|(at, entry)| (rank(entry), std::cmp::Reverse(*at)))
        .map(|(at, _)| at)
}

fn shapes() -> impl Strategy<Value = Vec<KeyShape>> {
    let width = prop::sample::select(vec![1u32, 3, 8, 32, 64, 100, 128, 200]);
    let with_priorities = prop::collection::vec(
        (prop::sample::select(vec!["exact", "lpm", "ternary", "range", "optional"]), width.clone()),
        1..4,
    );
    let exact = prop::collection::vec((Just("exact"), width.clone()), 1..4);
    let lpm = (prop::collection::vec((Just("exact"), width.clone()), 0..2), width).prop_map(
        |(mut keys, width)| {
            keys.push(("lpm", width));
            keys
        },
    );
    prop_oneof![with_priorities, exact, lpm]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testing::cases(400)))]
    #[test]
    fn lookups_agree_with_a_scan(
        shape in shapes(),
        entries in prop::collection::vec((prop::collection::vec(prop::array::uniform3(0u64..6), 3), 1i64..4, any::<bool>()), 0..40),
        lookups in prop::collection::vec(prop::collection::vec(0u64..6, 3), 1..30),
    ) {
        let store = Store::new(program(&shape)).expect("the program is sound");
        let mut cells = Cells::new(store.configuration().program());
        let table = TableId(0);
        let has_priorities =
            shape.iter().any(|(kind, _)| !matches!(*kind, "exact" | "lpm"));
        let mut kept: Vec<(Vec<KeyPattern>, i64, u64)> = Vec::new();
        for (number, (seeds, priority, is_deleted)) in entries.into_iter().enumerate() {
            let keys: Vec<KeyPattern> = shape
                .iter()
                .zip(&seeds)
                .map(|((kind, width), seed)| pattern(kind, *width, *seed))
                .collect();
            let action = BoundAction {
                action: ir::ActionId(0),
                arguments: vec![Bits::from_u64(32, number as u64)],
            };
            let entry = NewEntry::direct(keys.clone(), priority, action);
            let outcome = store.write_batch(
                &mut cells,
                Batch::updates(0, [Update::InsertEntry { table, entry }]),
            );
            if outcome.is_ok() {
                kept.push((keys, priority, number as u64));
            }
            if is_deleted && !kept.is_empty() {
                let (keys, priority, _) = kept.remove(number % kept.len());
                let update = Update::DeleteEntry { table, keys, priority };
                prop_assert!(store.write_batch(&mut cells, Batch::updates(0, [update])).is_ok());
            }
        }
        let configuration = store.configuration();
        let state = configuration.table(table).expect("the table is there");
        prop_assert_eq!(state.len(), kept.len());
        let entries: Vec<_> =
            kept.iter().map(|(keys, priority, _)| (keys.clone(), *priority)).collect();
        for numbers in lookups {
            let keys: Vec<Bits> = shape
                .iter()
                .zip(numbers)
                .map(|((_, width), number)| {
                    Bits::from_bytes_be(*width, &number.to_be_bytes().repeat(4))
                })
                .collect();
            let expected = reference(&entries, has_priorities, &keys).map(|at| kept[at].2);
            let found = state.lookup(&keys).map(|entry| match &entry.action {
                ActionData::Direct(action) => action.arguments[0].low_u64(),
                other => panic!("{other:?}"),
            });
            prop_assert_eq!(found, expected, "{:?}", keys);
        }
    }
}

#[test]
fn a_thousand_routes_are_all_found() {
    let store = Store::new(program(&[("lpm", 32)])).expect("the program is sound");
    let mut cells = Cells::new(store.configuration().program());
    let updates = (0..1000u64).map(|number| Update::InsertEntry {
        table: TableId(0),
        entry: NewEntry::direct(
            vec![KeyPattern::Prefix { value: Bits::from_u64(32, number << 12), length_bits: 20 }],
            0,
            BoundAction { action: ir::ActionId(0), arguments: vec![Bits::from_u64(32, number)] },
        ),
    });
    assert!(store.write_batch(&mut cells, Batch::updates(0, updates)).is_ok());
    let configuration = store.configuration();
    let table = configuration.table(TableId(0)).expect("the table is there");
    for number in 0..1000u64 {
        let entry = table.lookup(&[Bits::from_u64(32, number << 12 | 0xabc)]).expect("a route");
        assert_eq!(
            entry.action,
            ActionData::Direct(BoundAction {
                action: ir::ActionId(0),
                arguments: vec![Bits::from_u64(32, number)]
            })
        );
    }
    assert!(table.lookup(&[Bits::from_u64(32, 1000 << 12)]).is_none());
}
