// SPDX-License-Identifier: Apache-2.0
//! Each instruction, from IR text: what it leaves in storage, how the block ends, what it emits.

use crate::harness::{Run, bits, run, run_with};
use interpreter::{Environment, Outcome};
use ir::{Bits, RegisterId};
use state::{BoundAction, Cells, NewEntry, Update};

/// Runs control code and compares slots afterwards: `name = value` separated by blanks.
fn check(code: &str, expected: &str) {
    let run = run("control", code, &[]);
    assert_eq!(run.outcome, Outcome::Returned, "{code}");
    check_slots(&run, expected, code);
}

fn check_slots(run: &Run, expected: &str, code: &str) {
    for pair in expected.split_whitespace() {
        let (name, value) = pair.split_once('=').expect("name=value");
        assert_eq!(run.slot(name).to_string(), value, "{name} after\n{code}");
    }
}

#[test]
fn arithmetic_goes_through_temporaries() {
    check(
        "t0: bit<8> = add 8w200, 8w100
         store a, t0
         t1: bit<8> = not t0
         store b, t1
         t2: bit<16> = concat t0, t1
         t3: bit<12> = slice t2[11:0]
         t4: bit<16> = sign_extend t3
         store c, t4
         return",
        "a=8w0x2c b=8w0xd3 c=16w0xfcd3",
    );
    check(
        "t0: bit<1> = less_signed 8w0xff, 8w1
         t1: bit<8> = select t0, 8w7, 8w9
         store a, t1
         t2: bit<8> = truncate 16w0x1234
         store b, t2
         t3: bit<16> = zero_extend t2
         store c, t3
         return",
        "a=8w7 b=8w0x34 c=16w0x34",
    );
}

#[test]
fn terminators_choose_blocks() {
    let code = |value| {
        format!(
            "t0: bit<8> = add 8w0, 8w{value}
             switch t0 {{ 8w1: block1, 8w2: block2 }} default block3
             block1:
             store a, 8w11
             goto block3
             block2:
             store a, 8w22
             exit
             block3:
             t1: bit<8> = load a
             t2: bit<1> = equal t1, 8w0
             branch t2, block4, block5
             block4:
             store b, 8w1
             return
             block5:
             store b, 8w2
             return"
        )
    };
    check(&code(1), "a=8w0xb b=8w2");
    check(&code(9), "a=8w0 b=8w1");
    let run = run("control", &code(2), &[]);
    assert_eq!((run.outcome.clone(), run.slot("b").to_string()), (Outcome::Exited, "8w0".into()));
}

#[test]
fn endless_loops_are_stopped() {
    let code = "t0: bit<16> = load c
                t1: bit<16> = add t0, 16w1
                store c, t1
                goto block0";
    let run = run("control", code, &[]);
    assert_eq!(run.outcome, Outcome::StepLimit);
    assert_eq!(run.slot("c"), bits(16, u64::from(ir::STEP_LIMIT)));
}

#[test]
fn stack_elements_are_reached_by_index() {
    check(
        "store element s[8w1] member 0 field 0, 1w1
         store element s[8w1] member 0 field 1, 8w42
         store element s[8w3] member 0 field 1, 8w43
         t0: bit<8> = load element s[32w1] member 0 field 1
         store a, t0
         store b, 8w9
         t1: bit<8> = load element s[32w3] member 0 field 1
         store b, t1
         return",
        "s[1].$valid=1w1 s[1].x=8w0x2a s[2].x=8w0 a=8w0x2a b=8w0",
    );
}

const FILL_STACK: &str = "store s[0].$valid, 1w1
    store s[0].x, 8w1
    store s[1].$valid, 1w1
    store s[1].x, 8w2
    store s.$next, 32w2\n";

#[test]
fn stacks_shift() {
    let shifted = |by: i32| format!("{FILL_STACK}shift_stack s by {by}\nreturn");
    check(
        &shifted(1),
        "s[0].$valid=1w0 s[1].$valid=1w1 s[1].x=8w1 s[2].$valid=1w1 s[2].x=8w2 s.$next=32w3",
    );
    check(&shifted(2), "s[0].$valid=1w0 s[1].$valid=1w0 s[2].x=8w1 s[2].$valid=1w1 s.$next=32w3");
    check(&shifted(-1), "s[0].$valid=1w1 s[0].x=8w2 s[1].$valid=1w0 s[2].$valid=1w0 s.$next=32w1");
    check(&shifted(-9), "s[0].$valid=1w0 s[1].$valid=1w0 s[2].$valid=1w0 s.$next=32w0");
    check(&shifted(9), "s[0].$valid=1w0 s[1].$valid=1w0 s[2].$valid=1w0 s.$next=32w3");
}

/// Runs parser code on a packet; the outcome is `accept` or the error's name.
fn check_parser(code: &str, packet: &[u8], outcome: &str, expected: &str) {
    let run = run("parser", code, packet);
    let name = match &run.outcome {
        Outcome::Returned => "accept".to_owned(),
        Outcome::Rejected(error) => run.program.errors[*error as usize].to_string(),
        other => format!("{other:?}"),
    };
    assert_eq!(name, outcome, "{code}");
    check_slots(&run, expected, code);
}

#[test]
fn headers_are_extracted() {
    let code = "extract h\nreturn";
    check_parser(
        code,
        &[0xab, 0xcd, 0xef],
        "accept",
        "h.$valid=1w1 h.p=4w0xa h.q=12w0xbcd cursor=16 error=16w0",
    );
    check_parser(code, &[0xab], "PacketTooShort", "h.$valid=1w0 h.p=4w0 cursor=0 error=16w1");
    let last = "store s.$next, 32w2
        t0: bit<32> = load s.$next
        extract element s[t0] member 0
        extract element s[32w3] member 0
        return";
    check_parser(last, &[7, 8], "StackOutOfBounds", "s[2].$valid=1w1 s[2].x=8w7 error=16w2");
}

#[test]
fn varbits_take_their_length() {
    let code = |length: u32| format!("extract v varbit 32w{length}\nreturn");
    check_parser(&code(16), &[1, 2, 3, 4], "accept", "v.n=8w1 v.o=16w0x203 v.z=8w4 cursor=32");
    check_parser(&code(0), &[1, 4], "accept", "v.n=8w1 v.o=0w0 v.z=8w4");
    check_parser(&code(12), &[1, 2, 3, 4], "ParserInvalidArgument", "v.$valid=1w0");
    check_parser(&code(24), &[1, 2, 3, 4], "PacketTooShort", "v.$valid=1w0");
    check_parser(&code(48), &[0; 20], "HeaderTooShort", "v.$valid=1w0 cursor=0");
    check_parser(&code(u32::MAX), &[0; 20], "ParserInvalidArgument", "v.$valid=1w0");
}

#[test]
fn parsers_look_ahead_and_advance() {
    check_parser(
        "advance 32w4
         t0: bit<8> = lookahead
         store a, t0
         t1: bit<32> = packet_length
         t2: bit<8> = truncate t1
         store b, t2
         return",
        &[0xab, 0xcd],
        "accept",
        "a=8w0xbc b=8w2 cursor=4",
    );
    check_parser("t0: bit<17> = lookahead\nreturn", &[0xab, 0xcd], "PacketTooShort", "cursor=0");
    check_parser("advance 32w16\nadvance 32w1\nreturn", &[1, 2], "PacketTooShort", "cursor=16");
    check_parser("advance 32w0xffffffff\nreturn", &[1, 2], "PacketTooShort", "cursor=0");
    check_parser("reject 16w4", &[], "ParserInvalidArgument", "error=16w4");
}

#[test]
fn deparsers_emit_valid_headers() {
    let code = "store h.$valid, 1w1
        store h.p, 4w1
        store h.q, 12w0x234
        store v.$valid, 1w1
        store v.n, 8w5
        emit h
        emit s[0]
        emit v
        store s[1].$valid, 1w1
        store s[1].x, 8w9
        emit element s[8w1] member 0
        emit element s[8w7] member 0
        return";
    let mut run = run("deparser", code, &[0xaa, 0xbb]);
    assert_eq!(run.context.emitted.as_bytes(), [0x12, 0x34, 5, 0, 9]);
    assert_eq!(run.context.outgoing_packet(), [0x12, 0x34, 5, 0, 9, 0xaa, 0xbb]);
    run.context.cursor_bits = 8;
    assert_eq!(run.context.outgoing_packet(), [0x12, 0x34, 5, 0, 9, 0xbb]);
    assert_eq!(run.context.payload(), [0xbb]);
}

#[test]
fn registers_are_transactions() {
    let code = "t0: bit<12> = register_access r[8w2] update {
           t1: bit<12> = add t0, 12w10
           yield t1
         }
         t2: bit<12> = register_access r[8w2]
         t3: bit<8> = truncate t0
         store a, t3
         t4: bit<8> = truncate t2
         store b, t4
         t5: bit<12> = register_access r[8w2] guard 1w0 update {
           yield 12w0
         }
         t6: bit<16> = zero_extend t5
         store c, t6
         register_access r[8w8] update {
           yield 12w1
         }
         t7: bit<12> = register_access r[16w300]
         return";
    check(code, "a=8w5 b=8w0xf c=16w0");
    let run = run("control", code, &[]);
    let cells = run.cells.register(RegisterId(0)).expect("it is there");
    let values: Vec<u64> = (0..4).filter_map(|at| Some(cells.read(at)?.low_u64())).collect();
    assert_eq!(values, [5, 5, 15, 5]);
}

#[test]
fn counters_and_meters() {
    let code = "count n[8w1]
        count n[8w1]
        count n[8w4]
        t0: bit<2> = meter m[8w1]
        t1: bit<8> = zero_extend t0
        store a, t1
        t2: bit<2> = meter m[8w1]
        t3: bit<8> = zero_extend t2
        store b, t3
        t4: bit<8> = meter m[8w9]
        return";
    let rate = |burst| state::TokenRate::per_second(1, burst);
    let values = Some(state::MeterConfiguration { committed: rate(100), peak: rate(200) }).into();
    let cells = state::CellRange::one(1);
    let meter = Update::WriteMeter { meter: ir::MeterId(0), cells, values };
    let run = run_with("control", code, &[0; 100], vec![meter]);
    check_slots(&run, "a=8w0 b=8w1", code);
    let counter = |index| run.cells.counter(ir::CounterId(0), index).map(|value| value.bytes);
    assert_eq!([counter(0), counter(1), counter(4)], [Some(0), Some(200), None]);
}

const APPLY: &str = "t0: bit<8> = load a
    t1: bit<1>, t2: bit<32> = apply t(t0)
    t3: bit<16> = zero_extend t1
    store c, t3
    t4: bit<8> = truncate t2
    store b, t4
    return";

fn entry(key: u64, action: u32, arguments: &[u64]) -> Update {
    let action = BoundAction {
        action: ir::ActionId(action),
        arguments: arguments.iter().map(|&value| bits(8, value)).collect(),
    };
    let keys = vec![ir::KeyPattern::Exact(bits(8, key))];
    Update::InsertEntry { table: ir::TableId(0), entry: NewEntry::direct(keys, 0, action) }
}

#[test]
fn tables_run_what_they_find() {
    let missed = run_with("control", APPLY, &[], vec![]);
    check_slots(&missed, "c=16w0 b=8w1 value=8w0", APPLY);
    // The default action counts nothing by itself.
    assert_eq!(missed.cells.direct_counter(ir::CounterId(2), None).packets, 0);
    // The action that counts for itself does so without an entry too.
    assert_eq!(missed.cells.direct_counter(ir::CounterId(1), None).packets, 1);

    let hit = run_with("control", APPLY, &[], vec![entry(0, 0, &[77])]);
    check_slots(&hit, "c=16w1 b=8w0 value=8w0x4d", APPLY);
    let configuration = hit.store.configuration();
    let found = configuration.table(ir::TableId(0)).and_then(|table| table.lookup(&[bits(8, 0)]));
    assert!(found.is_some());
    assert_eq!(hit.cells.direct_counter(ir::CounterId(2), found).packets, 1);
    assert_eq!(hit.cells.direct_counter(ir::CounterId(1), found).packets, 0);

    let left = run_with("control", APPLY, &[], vec![entry(0, 2, &[])]);
    assert_eq!(left.outcome, Outcome::Exited);
    check_slots(&left, "c=16w0 b=8w0", APPLY);
}

#[test]
fn selectors_choose_by_hash() {
    let code = "t0: bit<16> = load c
        t1: bit<1>, t2: bit<32> = apply u(8w0, t0)
        t3: bit<8> = truncate t2
        store b, t3
        return";
    let choice = |port: u64| state::WeightedAction {
        action: BoundAction { action: ir::ActionId(0), arguments: vec![bits(8, port)] },
        weight: 1,
        watch_port: vec![],
    };
    let data = state::ActionData::OneShot((0..3).map(choice).collect());
    let keys = vec![ir::KeyPattern::Exact(bits(8, 0))];
    let insert = |action| {
        let entry = NewEntry { action, ..NewEntry::direct(keys.clone(), 0, choice(0).action) };
        Update::InsertEntry { table: ir::TableId(1), entry }
    };
    let run = run_with("control", &format!("store c, 16w0x0105\n{code}"), &[], vec![insert(data)]);
    // The selector's hash is the input itself, cut to 8 bits: 5 modulo 3.
    check_slots(&run, "b=8w0 value=8w2", code);

    let group = state::GroupId(1);
    let empty = Update::InsertGroup {
        profile: ir::ActionProfileId(0),
        group,
        content: state::Group::default(),
    };
    let run = run_with("control", code, &[], vec![empty, insert(state::ActionData::Group(group))]);
    assert_eq!(run.outcome, Outcome::Returned);
    check_slots(&run, "b=8w0xff value=8w0", code);
}

#[test]
fn value_sets_are_asked() {
    let code = "t0: bit<1> = value_set_contains vs(16w0x801)
        t1: bit<8> = zero_extend t0
        store a, t1
        return";
    check(code, "a=8w0");
    let member = vec![ir::KeyPattern::Ternary { value: bits(16, 0x800), mask: bits(16, 0xff00) }];
    let update = Update::InsertValueSetMember { set: ir::ValueSetId(0), member };
    check_slots(&run_with("control", code, &[], vec![update]), "a=8w1", code);
}

#[test]
fn hashes_take_inputs_in_order() {
    // "12345678" and "9" as numbers of several widths, then the payload.
    check(
        "t0: bit<32> = hash crc32 (64w0x3132333435363738, 8w0x39)
         t1: bit<16> = slice t0[31:16]
         store c, t1
         t2: bit<8> = truncate t0
         store a, t2
         return",
        "c=16w0xcbf4 a=8w0x26",
    );
    let code = "advance 32w8
        t0: bit<16> = hash crc16 (4w3, 4w1) payload
        store c, t0
        return";
    check_parser(code, b"_23456789", "accept", "c=16w0xbb3d");
    check(
        "t0: bit<16> = hash identity (4w0xa)
         store c, t0
         t1: bit<4> = hash crc32 (8w0x31)
         t2: bit<8> = zero_extend t1
         store a, t2
         return",
        // The last byte is filled with zeros; the CRC-32 of \"1\" is 0x83dcefb7.
        "c=16w0xa0 a=8w7",
    );
}

#[test]
fn random_numbers_repeat() {
    let code = "t0: bit<8> = random 8w10 to 8w20 at s
        store a, t0
        t1: bit<8> = random 8w10 to 8w20 at s
        store b, t1
        t2: bit<16> = random 16w9 to 16w3 at s
        store c, t2
        return";
    let first = run("control", code, &[]);
    let second = run("control", code, &[]);
    assert_eq!(first.context.storage(), second.context.storage());
    for name in ["a", "b"] {
        assert!((10..=20).contains(&first.slot(name).low_u64()));
    }
    assert_eq!(first.slot("c"), bits(16, 9));
}

#[test]
fn requests_and_logs_are_kept() {
    let code = "request clone(32w7, 8w1)
        log \"a {} b {}\" (8w5, 16w300)
        request clone(32w8, 8w2)
        return";
    let run = run("control", code, &[]);
    let requests: Vec<Vec<u64>> = run
        .context
        .requests
        .iter()
        .map(|(_, values)| values.iter().map(Bits::low_u64).collect())
        .collect();
    assert_eq!(requests, [[7, 1], [8, 2]]);
    assert_eq!(run.environment.log, ["a 5 b 300"]);
}

#[test]
fn assertions_stop_the_run() {
    check("assert 1w1\nassume 1w1\nreturn", "");
    for (word, is_assume) in [("assert", false), ("assume", true)] {
        let run = run("control", &format!("{word} 1w0\nreturn"), &[]);
        assert!(
            matches!(run.outcome, Outcome::AssertionFailed { is_assume: found, .. } if found == is_assume)
        );
    }
}

#[test]
fn externs_are_called() {
    check(
        "t0: bit<8>, t1: bit<16> = call doubler method both (8w3, 16w4)
         store a, t0
         store c, t1
         return",
        "a=8w6 c=16w8",
    );
    let run = run("control", "call unknown ()\nreturn", &[]);
    assert!(
        matches!(run.outcome, Outcome::ExternFailed { message, .. } if message == "there is no such extern")
    );
}

#[test]
fn contexts_are_used_again() {
    let mut run = run("parser", "extract h\nrequest clone(32w7, 8w1)\nreturn", &[1, 2]);
    assert_eq!(run.context.requests.len(), 1);
    run.context.reset();
    assert!(run.context.requests.is_empty() && run.context.packet.is_empty());
    assert!(run.context.storage().iter().all(|word| *word == 0));
    assert_eq!(run.environment.packet_length_bytes(), 2);
    let _: &Cells = &run.cells;
}
