// SPDX-License-Identifier: Apache-2.0
//! Compiled arithmetic against [`ir::Bits`], on values of all widths.

use super::harness::Harness;
use super::*;
use BinaryOperation as Op;
use ir::{BinaryOperation, ResizeKind, UnaryOperation};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Computation {
    Unary(UnaryOperation),
    Binary(BinaryOperation),
    Resize(ResizeKind, u32),
    /// High and low bit.
    Slice(u32, u32),
    /// By the lowest bit of the right operand.
    Select,
    Saturated,
    /// Words one by one.
    Words,
}

/// One function and the operands that it runs with. Those of constants are built in.
#[derive(Clone, Debug)]
struct Case {
    computation: Computation,
    left: Vec<Bits>,
    left_is_constant: bool,
    right: Vec<Bits>,
    right_is_constant: bool,
}

impl Case {
    fn widths(&self) -> [u32; 2] {
        [self.left[0].width_bits(), self.right[0].width_bits()]
    }

    fn expected(&self, left: &Bits, right: &Bits) -> Bits {
        match self.computation {
            Computation::Unary(operation) => left.unary(operation),
            Computation::Binary(operation) => left.binary(operation, right),
            Computation::Resize(kind, width_bits) => left.resize(kind, width_bits),
            Computation::Slice(high, low) => left.slice(high, low),
            Computation::Select if right.low_u64() & 1 == 1 => left.clone(),
            Computation::Select => Bits::ones(left.width_bits()),
            Computation::Saturated => Bits::from_u64(64, left.to_u64().unwrap_or(u64::MAX)),
            Computation::Words => left.clone(),
        }
    }

    fn emit(&self, values: &mut Values<'_, '_>, result: Value, operands: [Value; 2]) {
        let types = self.widths().map(ValueType::Bits);
        let left = match self.left_is_constant {
            true => values.constant(&self.left[0]),
            false => values.load_words(types[0], operands[0], 0),
        };
        let right = match self.right_is_constant {
            true => values.constant(&self.right[0]),
            false => values.load_words(types[1], operands[1], 0),
        };
        let [width_bits, right_width_bits] = self.widths();
        let (computed_bits, computed) = match self.computation {
            Computation::Unary(operation) => {
                (width_bits, values.unary(operation, width_bits, left))
            }
            Computation::Binary(operation) => {
                let computed = values.binary(operation, (types[0], left), (types[1], right));
                let expected = self.expected(&self.left[0], &self.right[0]);
                (expected.width_bits(), computed)
            }
            Computation::Resize(kind, to_bits) => {
                (to_bits, values.resize(kind, width_bits, to_bits, left))
            }
            Computation::Slice(high, low) => {
                (high - low + 1, values.slice(width_bits, high, low, left))
            }
            Computation::Select => {
                let bit = values.slice(right_width_bits, 0, 0, right);
                let condition = values.truth(bit);
                let otherwise = values.constant(&Bits::ones(width_bits));
                (width_bits, values.select(condition, types[0], left, otherwise))
            }
            Computation::Saturated => {
                (64, Val::Word(values.low_word_or_saturated(width_bits, left)))
            }
            Computation::Words => {
                let words = values.words(width_bits, left);
                for (at, word) in words.into_iter().enumerate() {
                    values.store_word(word, result, word_offset(at as u32));
                }
                return;
            }
        };
        values.store_words(ValueType::Bits(computed_bits), computed, result, 0);
    }
}

fn words_of(bits: &Bits) -> Vec<u64> {
    let mut words = vec![0; word_count(bits.width_bits()) as usize];
    bits.write_words(&mut words);
    words
}

fn check(cases: &[Case], level: &str) -> Result<(), TestCaseError> {
    let mut harness = Harness::with_level(level);
    for case in cases {
        harness.function(|values, result, operands| case.emit(values, result, operands));
    }
    let compiled = harness.compile();
    for (at, case) in cases.iter().enumerate() {
        let lefts = &case.left[..if case.left_is_constant { 1 } else { case.left.len() }];
        let rights = &case.right[..if case.right_is_constant { 1 } else { case.right.len() }];
        for (left, right) in
            lefts.iter().flat_map(|left| rights.iter().map(move |right| (left, right)))
        {
            let expected = words_of(&case.expected(left, right));
            let found = compiled.run(at, [&words_of(left), &words_of(right)], expected.len());
            prop_assert_eq!(found, expected, "{:?} {} {}", case, left, right);
        }
    }
    Ok(())
}

fn width() -> impl Strategy<Value = u32> {
    prop_oneof![
        6 => 0u32..=130,
        2 => prop::sample::select(vec![1u32, 8, 16, 32, 48, 63, 64, 65, 127, 128, 129, 192, 256]),
        2 => 129u32..=300,
        1 => 960u32..=1100,
        1 => prop::sample::select(vec![2047u32, 2048, 2112]),
    ]
}

fn bits(width_bits: u32) -> impl Strategy<Value = Bits> {
    let word = prop_oneof![
        Just(0),
        Just(u64::MAX),
        Just(1),
        Just(1 << 63),
        any::<u64>(),
        any::<u64>(),
        0u64..300
    ];
    let words = prop::collection::vec(word, word_count(width_bits) as usize);
    prop_oneof![
        4 => words.prop_map(move |words| Bits::from_words(width_bits, &words)),
        1 => (0..=width_bits).prop_map(move |length| Bits::prefix_mask(width_bits, length)),
        1 => (0..=u64::from(width_bits) + 2).prop_map(move |number| Bits::from_u64(width_bits, number)),
    ]
}

/// Edge values after two random ones.
fn operand(width_bits: u32) -> impl Strategy<Value = Vec<Bits>> {
    let edges = [
        Bits::zero(width_bits),
        Bits::ones(width_bits),
        Bits::from_u64(width_bits, 1),
        Bits::prefix_mask(width_bits, 1),
    ];
    prop::collection::vec(bits(width_bits), 3).prop_map(move |mut values| {
        values.extend(edges.clone());
        values
    })
}

const BINARY_OPERATIONS: [BinaryOperation; 22] = [
    Op::Add,
    Op::Subtract,
    Op::Multiply,
    Op::DivideUnsigned,
    Op::RemainderUnsigned,
    Op::AddSaturatingUnsigned,
    Op::AddSaturatingSigned,
    Op::SubtractSaturatingUnsigned,
    Op::SubtractSaturatingSigned,
    Op::And,
    Op::Or,
    Op::Xor,
    Op::ShiftLeft,
    Op::ShiftRightLogical,
    Op::ShiftRightArithmetic,
    Op::Equal,
    Op::NotEqual,
    Op::LessUnsigned,
    Op::LessEqualUnsigned,
    Op::LessSigned,
    Op::LessEqualSigned,
    Op::Concat,
];

/// What is computed, and the widths of the operands.
fn computation() -> impl Strategy<Value = (Computation, u32, u32)> {
    let binary = (prop::sample::select(BINARY_OPERATIONS.to_vec()), width(), width()).prop_map(
        |(operation, left, right)| {
            let has_own_width = matches!(
                operation,
                Op::ShiftLeft | Op::ShiftRightLogical | Op::ShiftRightArithmetic | Op::Concat
            );
            (Computation::Binary(operation), left, if has_own_width { right } else { left })
        },
    );
    let unary = prop::sample::select(vec![UnaryOperation::Not, UnaryOperation::Negate]);
    let unary =
        (unary, width()).prop_map(|(operation, width)| (Computation::Unary(operation), width, 1));
    let kind = prop::sample::select(vec![
        ResizeKind::ZeroExtend,
        ResizeKind::SignExtend,
        ResizeKind::Truncate,
    ]);
    let resize = (kind, width(), width())
        .prop_map(|(kind, from, to)| (Computation::Resize(kind, to), from, 1));
    let slice = (width(), any::<[u32; 2]>()).prop_map(|(width, ends)| {
        let width = width.max(1);
        let [high, low] = ends.map(|end| end % width);
        (Computation::Slice(high.max(low), high.min(low)), width, 1)
    });
    let other =
        prop::sample::select(vec![Computation::Select, Computation::Saturated, Computation::Words]);
    let other = (other, width()).prop_map(|(computation, width)| (computation, width, 8));
    prop_oneof![10 => binary, 1 => unary, 2 => resize, 2 => slice, 1 => other]
}

fn case() -> impl Strategy<Value = Case> {
    computation().prop_flat_map(|(computation, left, right)| {
        (operand(left), any::<bool>(), operand(right), any::<bool>()).prop_map(
            move |(left, first, right, second)| Case {
                computation,
                left,
                // Mostly memory.
                left_is_constant: first && !second,
                right,
                right_is_constant: second,
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::cases(16), ..ProptestConfig::default() })]
    #[test]
    fn as_bits_compute(
        cases in prop::collection::vec(case(), 100),
        level in prop::sample::select(vec!["speed", "none"]),
    ) {
        check(&cases, level)?;
    }
}

/// Every operation at the widths where the representation changes.
#[test]
fn at_all_borders_of_representation() {
    let value = |width_bits: u32, seed: u64| {
        let words: Vec<u64> = (0..u64::from(word_count(width_bits)))
            .map(|at| (at + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15))
            .collect();
        Bits::from_words(width_bits, &words)
    };
    let mut cases = Vec::new();
    for operation in BINARY_OPERATIONS {
        for width_bits in [0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1024, 1025, 16_384] {
            let operand = |seed| {
                vec![
                    value(width_bits, seed),
                    Bits::zero(width_bits),
                    Bits::ones(width_bits),
                    Bits::prefix_mask(width_bits, 1),
                    Bits::from_u64(width_bits, 3),
                ]
            };
            cases.push(Case {
                computation: Computation::Binary(operation),
                left: operand(1),
                left_is_constant: false,
                right: operand(2),
                right_is_constant: false,
            });
        }
    }
    for level in ["speed", "none"] {
        check(&cases, level).expect("as `Bits` compute");
    }
}

/// Amounts around the sizes of words, in widths that just hold them and in wider ones.
#[test]
fn shifts_by_amounts_of_any_width() {
    let mut cases = Vec::new();
    for operation in [Op::ShiftLeft, Op::ShiftRightLogical, Op::ShiftRightArithmetic] {
        for width_bits in [1, 7, 63, 64, 65, 127, 128, 129, 200] {
            for amount_bits in [0, 1, 5, 6, 7, 8, 9, 64, 65, 130] {
                let amounts = [0, 1, 31, 63, 64, 65, 127, 128, 129, 199, 255, u64::MAX];
                let mut right = amounts.map(|amount| Bits::from_u64(amount_bits, amount)).to_vec();
                right.push(Bits::ones(amount_bits));
                right.push(Bits::prefix_mask(amount_bits, 1));
                cases.push(Case {
                    computation: Computation::Binary(operation),
                    left: vec![Bits::ones(width_bits), Bits::from_u64(width_bits, 0x5a5a)],
                    left_is_constant: false,
                    right,
                    right_is_constant: false,
                });
            }
        }
    }
    check(&cases, "speed").expect("as `Bits` compute");
}

#[derive(Clone, Debug)]
struct VarbitCase {
    limit_bits: u32,
    left: Bits,
    right: Bits,
    right_is_constant: bool,
}

impl VarbitCase {
    /// The length, then the words.
    fn words(&self, bits: &Bits) -> Vec<u64> {
        let mut words = vec![0; 1 + word_count(self.limit_bits) as usize];
        words[0] = u64::from(bits.width_bits());
        bits.write_words(&mut words[1..]);
        words
    }
}

/// A limit, and lengths up to it, often equal.
fn varbit_case() -> impl Strategy<Value = VarbitCase> {
    let lengths = width().prop_flat_map(|limit| {
        let length = prop_oneof![0..=limit, Just(limit)];
        (Just(limit), length.clone(), prop_oneof![length.prop_map(Some), Just(None)])
    });
    lengths.prop_flat_map(|(limit_bits, left, right)| {
        (bits(left), bits(right.unwrap_or(left)), any::<[bool; 2]>()).prop_map(
            move |(left, right, [is_same, right_is_constant])| VarbitCase {
                limit_bits,
                right: if is_same { left.clone() } else { right },
                left,
                right_is_constant,
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: testing::cases(4), ..ProptestConfig::default() })]

    /// Equality, inequality, then a choice by it, of two varbits or of a varbit and a constant.
    #[test]
    fn varbits_are_compared_and_chosen(cases in prop::collection::vec(varbit_case(), 60)) {
        let mut harness = Harness::new();
        for case in &cases {
            harness.function(|values, result, [left, right]| {
                let varbit = ValueType::Varbit(case.limit_bits);
                let left = values.load_words(varbit, left, 8);
                let (right_type, right) = match case.right_is_constant {
                    true => {
                        let ty = ValueType::Bits(case.right.width_bits());
                        (ty, values.constant(&case.right))
                    }
                    false => (varbit, values.load_words(varbit, right, 8)),
                };
                for (at, operation) in [Op::Equal, Op::NotEqual].into_iter().enumerate() {
                    let equal = values.binary(operation, (varbit, left), (right_type, right));
                    values.store_words(ValueType::Bits(1), equal, result, word_offset(at as u32));
                }
                let condition = values.load_word(result, 0);
                let right = values.as_type(varbit, right_type, right);
                let chosen = values.select(condition, varbit, left, right);
                values.store_words(varbit, chosen, result, 24);
            });
        }
        let compiled = harness.compile();
        for (at, case) in cases.iter().enumerate() {
            let operands = [case.words(&case.left), case.words(&case.right)];
            let is_equal = u64::from(case.left == case.right);
            let mut expected = vec![is_equal, 1 - is_equal];
            expected.extend(&operands[1]);
            let found = compiled.run(at, [&operands[0], &operands[1]], expected.len());
            prop_assert_eq!(found, expected, "{:?}", case);
        }
    }
}
