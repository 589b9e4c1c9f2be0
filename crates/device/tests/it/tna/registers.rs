// SPDX-License-Identifier: Apache-2.0
//! Register actions against a model in Rust, and their IR.

use super::harness::{compiled, program, sent, side_by_side};
use device::DeviceOptions;
use ir::Operation;
use proptest::prelude::*;

const PROGRAM: &str = include_str!("registers.p4");

/// The registers of the program, 16 cells each.
struct Model {
    counts: [u32; 16],
    pairs: [(u32, u32); 16],
    marks: [u32; 16],
    small: [u16; 16],
}

impl Model {
    fn new() -> Model {
        Model { counts: [100; 16], pairs: [(3, 7); 16], marks: [0; 16], small: [0; 16] }
    }

    /// The results of an order. Indexes outside an array give zero and change nothing.
    fn step(&mut self, what: u8, index: usize, value: u32, before: (u32, u32)) -> (u32, u32) {
        let mut outside = (0, (0, 0), 0, 0);
        let (count, pair, mark, small) = match index {
            0..16 => (
                &mut self.counts[index],
                &mut self.pairs[index],
                &mut self.marks[index],
                &mut self.small[index],
            ),
            _ => (&mut outside.0, &mut outside.1, &mut outside.2, &mut outside.3),
        };
        let (mut first, mut second) = before;
        match what {
            0 => {
                first = *count;
                *count = if *count >= 102 { 0 } else { *count + 1 };
            }
            1 => {
                *count = value.max(*count);
                first = *count;
            }
            2 => first = *count,
            3 => *count = 0,
            4 if value == 0 => first = 1,
            4 => {
                let (low, high) = *pair;
                if low > high && value & 1 == 1 {
                    pair.0 = high.wrapping_sub(value);
                    first = low;
                } else if low == high || value > 1000 {
                    pair.1 = high.saturating_add(value);
                    first = pair.1;
                } else {
                    *pair = (high, low.wrapping_add(value));
                    first = pair.0;
                }
            }
            5 => {
                (first, second) = *pair;
                pair.0 ^= value;
            }
            6 => {
                first = 1 - *mark;
                *mark = 1;
            }
            7 if *small < value as u16 => {
                *small = value as u16;
                second = 1;
            }
            8 => {
                *count = value;
                first = if index < 16 { value } else { 0 };
                second = 50;
            }
            _ => {}
        }
        (first, second)
    }
}

fn order(what: u8, index: u8, value: u32, results: (u32, u32)) -> Vec<u8> {
    let mut bytes = vec![what, index];
    for number in [value, results.0, results.1] {
        bytes.extend_from_slice(&number.to_be_bytes());
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::cases(8), ..ProptestConfig::default() })]

    #[test]
    fn registers_are_as_in_the_model(orders in prop::collection::vec(
        (
            0u8..10,
            prop_oneof![9 => 0u8..4, 1 => any::<u8>()],
            prop_oneof![0u32..5, 100u32..110, 999u32..1003, any::<u32>()],
            any::<(u32, u32)>(),
        ),
        60..200,
    )) {
        let program = program(PROGRAM);
        let mut both = side_by_side(&program, &DeviceOptions::default(), &[]);
        let mut model = Model::new();
        for (what, index, value, before) in orders {
            let now_ps = both.now_ps();
            let agreed = both.receive(1, now_ps, order(what, index, value, before));
            let left: Vec<Vec<u8>> =
                agreed.expect("engines agree").transmitted.into_iter().map(|it| it.bytes).collect();
            let results = model.step(what, usize::from(index), value, before);
            prop_assert_eq!(left, [order(what, index, value, results)], "order {}", what);
        }
    }
}

#[test]
fn an_execution_is_one_access() {
    let program = program(PROGRAM);
    let accesses = |name: &str| {
        let action = program.actions.iter().find(|action| action.name.ends_with(name));
        let region = action.expect("the action").region;
        let blocks = &program.regions[region.index()].blocks;
        let instructions = blocks.iter().flat_map(|block| &block.instructions);
        instructions
            .filter(|it| matches!(it.operation, Operation::RegisterAccess { .. }))
            .map(|it| matches!(it.operation, Operation::RegisterAccess { update: Some(_), .. }))
            .collect::<Vec<bool>>()
    };
    for name in ["do_count", "do_largest", "do_forget", "do_turn", "do_both", "do_mark"] {
        assert_eq!(accesses(name), [true], "{name}");
    }
    assert_eq!(accesses("do_look"), [false]);
    for action in &program.actions {
        assert_eq!(program.regions[action.region.index()].blocks.len(), 1, "{}", action.name);
    }
}

#[test]
fn what_a_stateful_unit_cannot_do_is_refused() {
    let check = |body: &str, expected: &str| {
        let text = PROGRAM
            .replace("value = max(value, hdr.order.value);\n            result = value;", body);
        assert_ne!(text, PROGRAM);
        let (report, program) = compiled(&text);
        assert!(program.is_none(), "{body}");
        assert!(report.contains("IR-E0202") && report.contains(expected), "{body}: {report}");
    };
    check("result = value; hdr.order.first = value;", "assignment to something else");
    check(
        "result = value;
         for (bit<32> at = 0; at < hdr.order.value; at = at + 1) { value = value - at; }",
        "a loop",
    );
    check("result = counts.read(0);", "a call that a stateful unit cannot make");
}

#[test]
fn the_first_results() {
    let program = program(PROGRAM);
    let mut device =
        super::harness::device(&program, &DeviceOptions::default(), Default::default(), &[]);
    let left = sent(&mut device, 1, &order(0, 3, 0, (9, 9)));
    assert_eq!(left, [(1, order(0, 3, 0, (100, 9)))]);
    let left = sent(&mut device, 1, &order(5, 3, 1, (9, 9)));
    assert_eq!(left, [(1, order(5, 3, 1, (3, 7)))]);
}

/// Errors have the place of the register action.
#[test]
fn forms_of_unknown_hardware_support_are_refused() {
    let check = |from: &str, to: &str, expected: &str| {
        let text = PROGRAM.replacen(from, to, 1);
        assert_ne!(text, PROGRAM);
        let (report, program) = compiled(&text);
        assert!(program.is_none(), "{to}");
        assert!(report.contains("IR-E0202") && report.contains(expected), "{to}: {report}");
        assert!(report.contains(to.lines().next().unwrap_or("")), "{to}: {report}");
    };
    let before = "    Register<bit<32>, bit<8>>(16, 100) counts;";
    let with = |object: &str| format!("    {object}\n{before}");
    check(before, &with("MathUnit<bit<32>>(MathOp_t.SQR, 1) unit;"), "is not public");
    check(before, &with("Lpf<bit<32>, bit<8>>(16) filter;"), "not public");
    check(before, &with("DirectRegister<bit<32>>() direct;"), "use a `Register`");
    check(
        before,
        &with("CRCPolynomial<bit<32>>(7, true, true, false, 0, 0) polynomial;"),
        "`msb` set",
    );
    check(before, &with("Hash<bit<8>>(HashAlgorithm_t.CUSTOM) hash;"), "`CRCPolynomial`");
    check("forget.execute(hdr.order.index);", "forget.execute_log();", "`execute_log`");
    check("Switch(pipe) main;", "Switch(pipe, pipe) main;", "a device here is one pipe");
}

/// The body reads a value parameter of its control from several blocks.
#[test]
fn a_body_sees_the_parameters_of_its_control() {
    let inner = "control Inner(in bit<32> step, inout bit<32> sum)(bit<32> start) {
        Register<bit<32>, bit<8>>(4, start) sums;
        RegisterAction<bit<32>, bit<8>, bit<32>>(sums) add = {
            void apply(inout bit<32> value, out bit<32> result) {
                if (step != 7) { value = value + step; }
                result = value;
            }
        };
        apply {
            if (step > 10) {
                sum = add.execute(0);
            } else if (add.execute(1) == 9) {
                sum = 99;
            }
        }
    }

    control Ingress(";
    let text = PROGRAM.replacen("control Ingress(", inner, 1).replacen(
        "    apply {\n        for_tm.ucast_egress_port = 1;",
        "    Inner(5) inner;
    apply {
        inner.apply(hdr.order.value + 1, hdr.order.second);
        for_tm.ucast_egress_port = 1;",
        1,
    );
    assert!(text.contains("Inner(5) inner") && text.contains("control Inner"));
    let program = program(&text);
    let mut both = side_by_side(&program, &DeviceOptions::default(), &[]);
    let mut check = |value, second| {
        let now_ps = both.now_ps();
        let agreed = both.receive(1, now_ps, order(200, 0, value, (0, 0))).expect("engines agree");
        assert_eq!(agreed.transmitted[0].bytes, order(200, 0, value, (0, second)), "{value}");
    };
    check(19, 25);
    check(19, 45);
    check(3, 99);
    check(3, 0);
    check(6, 0);
    check(99, 145);
}
