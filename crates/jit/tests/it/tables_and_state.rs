// SPDX-License-Identifier: Apache-2.0
//! Tables, registers, counters, meters and what asks the surroundings, on both engines: a block a
//! feature, run on random values, whose storage, outcome, requests and log have to agree after every
//! block, and the cells at the end.

use interpreter::random::RandomKey;
use interpreter::{Environment, ExternCall, Interpreter, Outcome, PacketContext};
use ir::{ActionId, Bits, KeyPattern, Program, TableId};
use jit::{BoundInstance, Compiled, Unit};
use proptest::prelude::*;
use state::{
    ActionData, Batch, BatchItem, BoundAction, CellRange, Cells, EntryReference, Group, GroupId,
    GroupMember, MemberId, MeterConfiguration, NewEntry, Read, Reply, Store, TokenRate, Update,
    WeightedAction,
};
use std::sync::Arc;

/// What all blocks share. Actions: 0 nothing, 1 set, 2 wide, 3 leave, 4 counted, 5 metered, 6 branching.
const ITEMS: &str = include_str!("tables_and_state.txt");

/// Name and code of each block.
const BLOCKS: &[(&str, &str)] = &[
    ("exact", "t0: bit<8> = load a\nt1: bit<1>, t2: bit<32> = apply exact_word(t0)"),
    (
        "pair",
        "t0: bit<8> = load a\nt3: bit<100> = load d\nt1: bit<1>, t2: bit<32> = apply pair(t0, t3)",
    ),
    (
        "words",
        "t0: bit<200> = load e\nt3: bit<8> = load a\nt1: bit<1>, t2: bit<32> = apply words(t0, t3)",
    ),
    ("prefix", "t0: bit<64> = load w\nt1: bit<1>, t2: bit<32> = apply prefix_table(t0)"),
    (
        "ternary",
        "t0: bit<8> = load a\nt3: bit<16> = load c\nt1: bit<1>, t2: bit<32> = apply masks(t0, t3)",
    ),
    (
        "range",
        "t0: bit<16> = load c\nt3: bit<8> = load a\nt1: bit<1>, t2: bit<32> = apply ranges(t0, t3)",
    ),
    ("counted", "t0: bit<8> = load a\nt1: bit<1>, t2: bit<32> = apply counted_table(t0)"),
    (
        "selected",
        "t0: bit<8> = load a\nt3: bit<16> = load c\nt4: bit<200> = load e
         t1: bit<1>, t2: bit<32> = apply selected(t0, t3, t4)",
    ),
    (
        "profiled",
        "t0: bit<8> = load a\nt3: bit<16> = load c\nt1: bit<1>, t2: bit<32> = apply profiled(t0)",
    ),
    ("keyless", "t0: bit<8> = load a\nt1: bit<1>, t2: bit<32> = apply keyless()"),
    ("keyless_const", "t0: bit<8> = load a\nt1: bit<1>, t2: bit<32> = apply keyless_const()"),
    ("const_exact", "t0: bit<8> = load a\nt1: bit<1>, t2: bit<32> = apply const_exact(t0)"),
    ("const_open", "t0: bit<8> = load b\nt1: bit<1>, t2: bit<32> = apply const_open(t0)"),
    (
        "const_prefix",
        "t0: bit<8> = load a\nt3: bit<16> = load c
         t1: bit<1>, t2: bit<32> = apply const_prefix(t0, t3)",
    ),
    (
        "const_masks",
        "t0: bit<8> = load a\nt3: bit<16> = load c
         t1: bit<1>, t2: bit<32> = apply const_masks(t0, t3)",
    ),
    (
        "const_wide",
        "t0: bit<200> = load e\nt3: bit<100> = load d
         t1: bit<1>, t2: bit<32> = apply const_wide(t0, t3)",
    ),
    ("const_none", "t0: bit<8> = load b\nt1: bit<1>, t2: bit<32> = apply const_none(t0)"),
    ("const_many", "t0: bit<8> = load b\nt1: bit<1>, t2: bit<32> = apply const_many(t0)"),
];

/// The same for blocks that apply no table.
const STATE_BLOCKS: &[(&str, &str)] = &[
    (
        "registers",
        "t0: bit<8> = load a\nt1: bit<16> = load c
         t2: bit<9> = register_access narrow[t0] update {
           t3: bit<9> = zero_extend t0
           t4: bit<9> = add t2, t3
           yield t4
         }
         t5: bit<16> = zero_extend t2
         store c, t5
         t6: bit<1> = less_unsigned t0, 8w3
         t7: bit<100> = load d
         t8: bit<100> = register_access middle[t1] guard t6 update {
           t9: bit<100> = xor t8, t7
           yield t9
         }
         store d, t8
         t10: bit<200> = load e
         t11: bit<200> = register_access broad[t0] update {
           t12: bit<200> = add t11, t10
           yield t12
         }
         store e, t11
         t13: bit<100> = add t7, t8
         store d, t13",
    ),
    (
        "constant_cells",
        "t0: bit<9> = register_access narrow[8w1] update {
           yield 9w77
         }
         t1: bit<9> = register_access narrow[64w9]
         t2: bit<9> = register_access narrow[8w2] guard 1w0 update {
           yield 9w1
         }
         register_access narrow[2w3] guard 1w1 update {
           yield 9w5
         }
         t3: bit<9> = add t0, t1
         t4: bit<9> = add t3, t2
         t5: bit<16> = zero_extend t4
         store c, t5
         t6: bit<200> = load e
         t7: bit<200> = register_access broad[t6]
         store e, t7",
    ),
    (
        "sparse",
        "t0: bit<64> = load w\nt1: bit<100> = load d
         t2: bit<100> = register_access sparse[t0] update {
           t3: bit<100> = add t2, t1
           yield t3
         }
         store d, t2
         t4: bit<8> = load a
         register_access sparse[t4] update {
           t5: bit<100> = zero_extend t4
           yield t5
         }",
    ),
    (
        "counters",
        "t0: bit<8> = load a\nt1: bit<64> = load w\nt2: bit<200> = load e
         count n[t0]\ncount n[8w2]\ncount n[8w200]\ncount n[t2]
         count sparse_n[t1]\ncount full_n[t0]",
    ),
    (
        "meters",
        "t0: bit<8> = load a
         t1: bit<2> = meter m[t0]
         t2: bit<8> = zero_extend t1
         store b, t2
         t3: bit<100> = meter m[8w1]
         store d, t3",
    ),
    (
        "value_sets",
        "t0: bit<16> = load c\nt1: bit<100> = load d
         t2: bit<1> = value_set_contains vs(t0, t1)
         t3: bit<8> = zero_extend t2
         store b, t3",
    ),
    (
        "randoms",
        "t0: bit<16> = load c
         t1: bit<16> = random 16w10 to t0 at s
         store c, t1
         t2: bit<100> = load d
         t3: bit<100> = random t2 to 100w0xffffffffffffffffffffffff at s
         store d, t3
         t4: bit<200> = load e
         t5: bit<200> = random 200w5 to t4 at s
         store e, t5",
    ),
    (
        "requests",
        "t0: bit<8> = load a\nt1: bit<200> = load e\nt2: varbit<40> = load vb
         request digest(t0, t1, t2)
         request digest(8w7, 200w9, 16w0x1234)
         t3: bit<1> = less_unsigned t0, 8w2
         branch t3, block1, block2
         block1:
         request plain()
         goto block2
         block2:",
    ),
    (
        "logs",
        "t0: bit<8> = load a\nt1: bit<200> = load e\nt2: varbit<40> = load vb
         log \"a {} e {} vb {} c {}\" (t0, t1, t2, 16w300)",
    ),
    (
        "externs",
        "t0: bit<8> = load a\nt1: bit<100> = load d\nt2: bit<200> = load e
         t3: bit<8>, t4: bit<100>, t5: bit<200>, t6: varbit<40> = call doubler method all (t0, t1, t2)
         store b, t3\nstore d, t4\nstore e, t5\nstore vb, t6",
    ),
    ("assertion", "t0: bit<8> = load a\nt1: bit<1> = less_unsigned t0, 8w4\nassert t1"),
    ("failing_extern", "t0: bit<8> = load b\ncall unknown (t0)"),
];

fn program() -> Arc<Program> {
    let mut text = String::from(ITEMS);
    let stored = "store hit, t1\nstore ran, t2\n";
    for ((name, code), after) in BLOCKS
        .iter()
        .map(|block| (block, stored))
        .chain(STATE_BLOCKS.iter().map(|block| (block, "")))
    {
        text.push_str(&format!(
            "region control {name}_code {{\nblock0 start:\n{code}\n{after}return\n}}\n\
             block {name} control {name} runs {name}_code {{\n}} @0\n"
        ));
    }
    let program = ir::text::parse(&text).unwrap_or_else(|errors| panic!("{}", errors[0]));
    if let Err(errors) = ir::verify(&program) {
        panic!("{}", errors[0]);
    }
    Arc::new(program)
}

struct Around {
    now_ps: u64,
    log: Vec<String>,
}

impl Environment for Around {
    fn now_ps(&self) -> u64 {
        self.now_ps
    }

    fn packet_length_bytes(&self) -> u64 {
        100
    }

    fn random_key(&self) -> RandomKey {
        RandomKey { seed: 1, device: 0, packet: self.now_ps, pass: 0 }
    }

    fn log_line(&mut self, line: &str) {
        self.log.push(line.to_owned());
    }

    fn call_extern(&mut self, call: ExternCall<'_>) -> Result<Vec<Bits>, String> {
        match call.method {
            "all" => {
                let double = |value: &Bits| value.binary(ir::BinaryOperation::Add, value);
                let mut results: Vec<Bits> = call.arguments.iter().map(double).collect();
                results.push(call.arguments[0].clone());
                Ok(results)
            }
            _ => Err("there is no such extern".into()),
        }
    }
}

fn bits(width_bits: u32, value: u64) -> Bits {
    Bits::from_u64(width_bits, value)
}

fn bound(action: u32, arguments: &[(u32, u64)]) -> BoundAction {
    let arguments = arguments.iter().map(|&(width_bits, value)| bits(width_bits, value)).collect();
    BoundAction { action: ActionId(action), arguments }
}

/// An action by a number: without side effects of its own first.
fn some_action(number: u64) -> BoundAction {
    match number % 5 {
        0 => bound(0, &[]),
        1 => bound(1, &[(8, number)]),
        2 => bound(2, &[(64, number), (100, number * 3), (200, number * 5)]),
        3 => bound(6, &[(8, number)]),
        _ => bound(3, &[]),
    }
}

fn updates(program: &Program) -> Vec<Update> {
    let table = |name: &str| {
        let at = program.tables.iter().position(|table| &*table.name == name);
        TableId(at.expect("the table") as u32)
    };
    let exact = |width_bits, value| KeyPattern::Exact(bits(width_bits, value));
    let insert = |name: &str, keys, priority, action| Update::InsertEntry {
        table: table(name),
        entry: NewEntry::direct(keys, priority, action),
    };
    let mut updates = Vec::new();
    for key in 0..5 {
        updates.push(insert("exact_word", vec![exact(8, key)], 0, some_action(key)));
        let keys = vec![exact(8, key), exact(100, key ^ 1)];
        updates.push(insert("pair", keys, 0, some_action(key + 1)));
        let keys = vec![exact(200, key), exact(8, key)];
        updates.push(insert("words", keys, 0, some_action(key + 2)));
        let keys = vec![KeyPattern::Prefix { value: bits(64, key), length_bits: 64 - key as u32 }];
        updates.push(insert("prefix_table", keys, 0, some_action(key + 3)));
        let keys = vec![
            KeyPattern::Ternary { value: bits(8, key), mask: bits(8, 3) },
            KeyPattern::Ternary { value: bits(16, key), mask: bits(16, key) },
        ];
        updates.push(insert("masks", keys, key as i64, some_action(key)));
        let keys = vec![
            KeyPattern::Range { low: bits(16, key), high: bits(16, key + 2) },
            if key % 2 == 0 { KeyPattern::Any } else { exact(8, key) },
        ];
        updates.push(insert("ranges", keys, 9 - key as i64, some_action(key + 4)));
        let action = match key % 3 {
            0 => bound(1, &[(8, key)]),
            1 => bound(4, &[]),
            _ => bound(5, &[]),
        };
        let mut entry = NewEntry::direct(vec![exact(8, key)], 0, action);
        entry.idle_timeout_ns = 1_500;
        updates.push(Update::InsertEntry { table: table("counted_table"), entry });
        let rate = |burst| TokenRate::per_second(1, burst);
        let configuration = Some(MeterConfiguration { committed: rate(1), peak: rate(2) });
        updates.push(Update::WriteDirectMeter {
            meter: ir::MeterId(1),
            entry: EntryReference::Entry { keys: vec![exact(8, key)], priority: 0 },
            configuration,
        });
    }
    for profile in [0, 1].map(ir::ActionProfileId) {
        for member in 0..4 {
            updates.push(Update::InsertMember {
                profile,
                member: MemberId(member),
                action: some_action(u64::from(member)),
            });
        }
    }
    let profile = ir::ActionProfileId(0);
    let member =
        |member, weight| GroupMember { member: MemberId(member), weight, watch_port: vec![] };
    let groups = [vec![], vec![member(0, 1), member(1, 2), member(2, 1), member(3, 3)]];
    for (group, members) in groups.into_iter().enumerate() {
        let content = Group { members, max_size: 0 };
        updates.push(Update::InsertGroup { profile, group: GroupId(group as u32), content });
    }
    let choice = |number: u64| WeightedAction {
        action: some_action(number),
        weight: number as u32 % 3 + 1,
        watch_port: vec![],
    };
    let chosen = [
        ActionData::Group(GroupId(0)),
        ActionData::Group(GroupId(1)),
        ActionData::Member(MemberId(2)),
        ActionData::OneShot((0..4).map(choice).collect()),
    ];
    for (key, action) in chosen.into_iter().enumerate() {
        let keys = vec![exact(8, key as u64)];
        let entry = NewEntry { action, ..NewEntry::direct(keys, 0, bound(0, &[])) };
        updates.push(Update::InsertEntry { table: table("selected"), entry });
    }
    for key in 0..3 {
        let action = ActionData::Member(MemberId(key));
        let keys = vec![exact(8, u64::from(key))];
        let entry = NewEntry { action, ..NewEntry::direct(keys, 0, bound(0, &[])) };
        updates.push(Update::InsertEntry { table: table("profiled"), entry });
    }
    for name in ["keyless", "const_exact"] {
        let action = Some(bound(2, &[(64, 1), (100, 2), (200, 3)]));
        updates.push(Update::SetDefaultAction { table: table(name), action });
    }
    let rate = |burst| TokenRate::per_second(1, burst);
    let values = Some(MeterConfiguration { committed: rate(100), peak: rate(300) }).into();
    updates.push(Update::WriteMeter { meter: ir::MeterId(0), cells: CellRange::all(), values });
    let member = vec![
        KeyPattern::Ternary { value: bits(16, 0), mask: bits(16, 1) },
        KeyPattern::Range { low: bits(100, 2), high: bits(100, 4) },
    ];
    updates.push(Update::InsertValueSetMember { set: ir::ValueSetId(0), member });
    updates
}

/// All cells that the blocks may have written.
fn read_cells(program: &Program, store: &Store, cells: &mut Cells) -> Vec<String> {
    let mut reads = vec![
        Read::Register { register: ir::RegisterId(0), cells: CellRange::all() },
        Read::Register { register: ir::RegisterId(1), cells: CellRange::all() },
        Read::Register { register: ir::RegisterId(2), cells: CellRange::all() },
    ];
    for index in 0..8 {
        reads.push(Read::Register { register: ir::RegisterId(3), cells: CellRange::one(index) });
    }
    for (at, counter) in program.counters.iter().enumerate() {
        let counter_id = ir::CounterId(at as u32);
        match counter.size {
            None => reads.push(Read::DirectCounter { counter: counter_id, entry: None }),
            Some(size) => {
                reads.extend((0..size.min(8)).map(|index| Read::Counter {
                    counter: counter_id,
                    cells: CellRange::one(index),
                }))
            }
        }
    }
    let items = reads.into_iter().map(BatchItem::Read).collect();
    let batch = Batch { items, ..Batch::updates(0, vec![]) };
    let results = store.write_batch(cells, batch).results;
    results.iter().map(|result: &Result<Reply, _>| format!("{result:?}")).collect()
}

struct Bench {
    program: Arc<Program>,
    interpreter: Interpreter,
    compiled: Compiled,
}

impl Bench {
    fn new() -> Bench {
        let program = program();
        let units: Vec<Unit> =
            (0..program.blocks.len()).map(|at| Unit::block("block", at)).collect();
        let compiled = Compiled::new(program.clone(), &units).expect("it compiles");
        Bench { interpreter: Interpreter::new(program.clone()), compiled, program }
    }

    fn check(&self, packets: &[[u64; 6]]) {
        let program = &self.program;
        let store = Store::new(program.clone()).expect("the program is sound");
        let mut cells = Cells::new(program);
        for (at, result) in store
            .write_batch(&mut cells, Batch::updates(0, updates(program)))
            .results
            .into_iter()
            .enumerate()
        {
            result.unwrap_or_else(|error| panic!("update {at}: {error}"));
        }
        let (mut left_cells, mut right_cells) = (cells.clone(), cells);
        let (configuration, forwarding) = (store.configuration(), store.forwarding());
        let mut instance = BoundInstance::default();
        for (number, values) in packets.iter().enumerate() {
            for block in 0..program.blocks.len() {
                let mut contexts = [PacketContext::new(program), PacketContext::new(program)];
                let now_ps = number as u64 * 1_000_000;
                let mut around = [0; 2].map(|_| Around { now_ps, log: Vec::new() });
                for context in &mut contexts {
                    let slots = ["a", "b", "c", "w", "d", "e"];
                    for (slot, value) in slots.into_iter().zip(values) {
                        let slot = program.slot_named(slot).expect("the slot");
                        let width_bits = program.slots[slot.index()].ty.width_bits();
                        let words = [*value, value >> 60, value >> 61, value >> 62];
                        context.set_slot(slot, &Bits::from_words(width_bits, &words));
                    }
                    let varbit = program.slot_named("vb").expect("the slot");
                    let length_bits = (values[0] % 6 * 8) as u32;
                    context.set_slot(varbit, &bits(length_bits, values[1]));
                }
                let [left, right] = &mut contexts;
                let [left_around, right_around] = &mut around;
                let expected = self.interpreter.run_block(
                    block,
                    left,
                    &configuration,
                    &mut left_cells,
                    left_around,
                    None,
                );
                let found = self.compiled.run_on_context(
                    block,
                    right,
                    &mut instance,
                    &forwarding,
                    &mut right_cells,
                    right_around,
                );
                let what = format!("{} of {values:?}", program.blocks[block].name);
                assert_eq!(found, expected, "{what}");
                for (at, slot) in program.slots.iter().enumerate() {
                    let id = ir::SlotId(at as u32);
                    assert_eq!(right.value(id), left.value(id), "{what}: {}", slot.name);
                }
                assert_eq!(right.requests, left.requests, "{what}");
                assert_eq!(right.draws, left.draws, "{what}");
                assert_eq!(right_around.log, left_around.log, "{what}");
            }
        }
        let now_ps = packets.len() as u64 * 1_000_000;
        assert_eq!(
            right_cells.take_idle_entries(&configuration, now_ps),
            left_cells.take_idle_entries(&configuration, now_ps)
        );
        let [expected, found] =
            [&mut left_cells, &mut right_cells].map(|cells| read_cells(program, &store, cells));
        assert_eq!(found, expected);
    }
}

#[test]
fn both_engines_agree() {
    let bench = Bench::new();
    // Everything small once, so that each entry is hit and each cell written.
    let small: Vec<[u64; 6]> =
        (0..32).map(|at| [at % 8, at % 7, at % 5, at, at % 6, at % 8]).collect();
    bench.check(&small);
    let value = prop_oneof![0u64..8, any::<u64>()];
    let packets = prop::collection::vec(prop::array::uniform6(value), 1..12);
    let mut runner = proptest::test_runner::TestRunner::default();
    runner
        .run(&packets, |packets| {
            bench.check(&packets);
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn what_stops_a_run_is_told() {
    let bench = Bench::new();
    let outcomes = ["assertion", "failing_extern"].map(|name| {
        let block = bench.program.blocks.iter().position(|block| &*block.name == name);
        let store = Store::new(bench.program.clone()).expect("the program is sound");
        let mut cells = Cells::new(&bench.program);
        let mut context = PacketContext::new(&bench.program);
        context.set_number(bench.program.slot_named("a").expect("the slot"), 9);
        bench.compiled.run_on_context(
            block.expect("the block"),
            &mut context,
            &mut BoundInstance::default(),
            &store.forwarding(),
            &mut cells,
            &mut Around { now_ps: 0, log: Vec::new() },
        )
    });
    assert!(matches!(outcomes[0], Outcome::AssertionFailed { is_assume: false, .. }));
    assert!(matches!(&outcomes[1], Outcome::ExternFailed { message, .. }
        if message == "there is no such extern"));
}
