// SPDX-License-Identifier: Apache-2.0
//! Lookups that compiled code does itself, in tables of many entries that come and go: arrays of short
//! keys, hash tables of exact words, and arrays in front of prefixes, against the interpreter. Records are
//! read from memory or, where they are short, from the index.

use interpreter::random::RandomKey;
use interpreter::{Environment, ExternCall, Interpreter, PacketContext};
use ir::{ActionId, Bits, KeyPattern, Program, TableId};
use jit::{BoundInstance, Compiled, Unit};
use state::{Atomicity, Batch, BatchItem, BoundAction, Cells, NewEntry, Store, Update};
use std::sync::Arc;

/// Tables, how their one key is matched, and how wide it is.
const TABLES: [(&str, &str, u32); 13] = [
    ("short", "exact", 16),
    ("word", "exact", 48),
    ("whole_word", "exact", 64),
    ("front", "lpm", 32),
    ("narrow", "lpm", 20),
    ("double", "exact", DOUBLE_BITS),
    ("joined_number", "exact", 32),
    ("short_packed", "exact", 16),
    ("joined_packed", "exact", 48),
    ("widest_joined_packed", "exact", 63 - PACKED_BITS),
    ("word_packed", "exact", 64 - PACKED_BITS),
    ("front_packed", "lpm", 32),
    ("double_packed", "exact", DOUBLE_BITS),
];

/// Of two actions with at most one argument of eleven bits.
const PACKED_BITS: u32 = 12;

/// The action of a table's entries, and the width of its argument.
fn action_of(table: &str) -> (&'static str, u32) {
    if table.ends_with("packed") { ("mark", 11) } else { ("set", 32) }
}

/// Of a key that is a number and behind it its low 48 bits.
const DOUBLE_BITS: u32 = 112;

fn program() -> Arc<Program> {
    let mut text = String::from(
        "ir test\nerror NoError\nslot key: bit<64> unsigned @0\nslot value: bit<32> unsigned @0\n\
         slot short: bit<11> unsigned @0\nslot hit: bit<1> unsigned @0\nslot ran: bit<32> unsigned @0\n",
    );
    for (name, kind, width_bits) in TABLES {
        text.push_str(&format!(
            "table {name} {{\n  key k: {kind} bit<{width_bits}> unsigned\n  action nothing\n  \
             action {}\n  default nothing()\n}} @0\n",
            action_of(name).0
        ));
    }
    text.push_str("action nothing() runs nothing @0\naction set(value at value) runs set @0\n");
    text.push_str("action mark(value at short) runs mark @0\n");
    for action in ["nothing", "set", "mark"] {
        text.push_str(&format!("region action {action} {{\n  block0:\n    return @0\n}}\n"));
    }
    for (name, _, width_bits) in TABLES {
        let (key, cut) = match width_bits {
            64 => ("t0", String::new()),
            DOUBLE_BITS => {
                let cut = "t3: bit<48> = truncate t0\nt4: bit<112> = concat t0, t3\n";
                ("t4", cut.to_string())
            }
            _ => ("t3", format!("t3: bit<{width_bits}> = truncate t0\n")),
        };
        text.push_str(&format!(
            "region control {name}_code {{\nblock0 start:\nt0: bit<64> = load key\n{cut}\
             t1: bit<1>, t2: bit<32> = apply {name}({key})\nstore hit, t1\nstore ran, t2\nreturn\n}}\n\
             block {name} control {name} runs {name}_code {{\n}} @0\n"
        ));
    }
    let program = ir::text::parse(&text).unwrap_or_else(|errors| panic!("{}", errors[0]));
    if let Err(errors) = ir::verify(&program) {
        panic!("{}", errors[0]);
    }
    Arc::new(program)
}

struct Quiet;

impl Environment for Quiet {
    fn now_ps(&self) -> u64 {
        0
    }

    fn packet_length_bytes(&self) -> u64 {
        64
    }

    fn random_key(&self) -> RandomKey {
        RandomKey::default()
    }

    fn log_line(&mut self, _: &str) {}

    fn call_extern(&mut self, _: ExternCall<'_>) -> Result<Vec<Bits>, String> {
        Err(String::new())
    }
}

/// The pattern of entry `number` of a table: prefixes of several lengths, many under few first bits.
fn pattern(kind: &str, width_bits: u32, number: u64) -> KeyPattern {
    let scattered = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    if width_bits == DOUBLE_BITS {
        let low = Bits::from_u64(48, scattered);
        let value = Bits::from_u64(64, scattered).concat(&low);
        return KeyPattern::Exact(value);
    }
    let scattered = scattered >> (64 - width_bits);
    if kind == "exact" {
        return KeyPattern::Exact(Bits::from_u64(width_bits, scattered));
    }
    let length_bits = match number % 7 {
        0 => (scattered % u64::from(width_bits + 1)) as u32,
        1 => width_bits,
        _ => width_bits * 3 / 4,
    };
    let crowded = if number.is_multiple_of(3) {
        scattered
    } else {
        number << (width_bits - 24.min(width_bits - 2))
    };
    let value = Bits::from_u64(width_bits, crowded)
        .binary(ir::BinaryOperation::And, &Bits::prefix_mask(width_bits, length_bits));
    KeyPattern::Prefix { value, length_bits }
}

fn number_of(pattern: &KeyPattern) -> u64 {
    match pattern {
        KeyPattern::Exact(value) if value.width_bits() == DOUBLE_BITS => {
            value.slice(DOUBLE_BITS - 1, DOUBLE_BITS - 64).low_u64()
        }
        KeyPattern::Exact(value) | KeyPattern::Prefix { value, .. } => value.low_u64(),
        _ => 0,
    }
}

#[test]
fn lookups_inline_are_the_interpreters() {
    let program = program();
    let units: Vec<Unit> =
        TABLES.iter().enumerate().map(|(block, (name, ..))| Unit::block(name, block)).collect();
    let compiled = Compiled::new(program.clone(), &units).expect("it compiles");
    let interpreter = Interpreter::new(program.clone());
    let store = Store::new(program.clone()).expect("the program is sound");
    let mut cells = Cells::new(&program);
    let mut instance = BoundInstance::new();
    let key_slot = program.slot_named("key").expect("the slot");
    let one = Bits::from_u64(1, 1);
    let (mut hits, mut misses) = (0, 0);
    // Entries come in rounds, and every third goes again.
    for round in 0..4u64 {
        let mut items = Vec::new();
        for (at, (name, kind, width_bits)) in TABLES.iter().enumerate() {
            let table = TableId(at as u32);
            let (action, argument_bits) = action_of(name);
            let action = ActionId(if action == "set" { 1 } else { 2 });
            for number in round * 400..(round + 1) * 400 {
                let argument = Bits::from_u64(argument_bits, number.wrapping_mul(5));
                let action = BoundAction { action, arguments: vec![argument] };
                let keys = vec![pattern(kind, *width_bits, number)];
                let entry = NewEntry::direct(keys, 0, action);
                items.push(BatchItem::Update(Update::InsertEntry { table, entry }));
            }
            for number in (round * 400..(round + 1) * 400).step_by(3).filter(|_| round % 2 == 1) {
                let keys = vec![pattern(kind, *width_bits, number - 400)];
                items.push(BatchItem::Update(Update::DeleteEntry { table, keys, priority: 0 }));
            }
        }
        // Equal patterns are refused, and go only once.
        let atomicity = Atomicity::ContinueOnError;
        store.write_batch(&mut cells, Batch { items, atomicity, now_ps: 0 });
        let configuration = store.configuration();
        let forwarding = store.forwarding();
        for (block, (name, kind, width_bits)) in TABLES.iter().enumerate() {
            for number in 0..(round + 2) * 400 {
                let near = number_of(&pattern(kind, *width_bits, number));
                for key in [near, near ^ 1, near ^ 0x81, near ^ 0x4000] {
                    let mut contexts = [(); 2].map(|()| PacketContext::new(&program));
                    let [left, right] = &mut contexts;
                    left.set_number(key_slot, key);
                    right.set_number(key_slot, key);
                    interpreter.run_block(
                        block,
                        left,
                        &configuration,
                        &mut cells,
                        &mut Quiet,
                        None,
                    );
                    compiled.run_on_context(
                        block,
                        right,
                        &mut instance,
                        &forwarding,
                        &mut cells,
                        &mut Quiet,
                    );
                    for slot in ["hit", "ran", "value", "short"] {
                        let id = program.slot_named(slot).expect("the slot");
                        assert_eq!(right.value(id), left.value(id), "{name} {key:x}: {slot}");
                    }
                    let hit = program.slot_named("hit").expect("the slot");
                    if left.value(hit) == one {
                        hits += 1;
                    } else {
                        misses += 1;
                    }
                }
            }
        }
    }
    assert!(hits > 1000 && misses > 1000, "{hits} hits, {misses} misses");
}
