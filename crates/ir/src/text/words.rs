// SPDX-License-Identifier: Apache-2.0
//! The keywords that stand for members of plain enumerations, each once, for the printer and the parser.

use crate::{
    BinaryOperation, BlockKind, CountUnit, CrcParameters, HashAlgorithm, MatchKind, RegionKind,
    ResizeKind, UnaryOperation,
};

/// Pairs of a member and its keyword.
pub(super) type Words<T> = [(T, &'static str)];

/// The keyword of a member.
pub(super) fn word_of<T: PartialEq>(words: &Words<T>, member: &T) -> &'static str {
    words.iter().find(|(known, _)| known == member).map_or("unknown", |(_, word)| word)
}

/// The member with this keyword.
pub(super) fn member_of<T: Clone>(words: &Words<T>, word: &str) -> Option<T> {
    words.iter().find(|(_, known)| *known == word).map(|(member, _)| member.clone())
}

pub(super) const UNARY: &Words<UnaryOperation> =
    &[(UnaryOperation::Not, "not"), (UnaryOperation::Negate, "negate")];

pub(super) const BINARY: &Words<BinaryOperation> = &[
    (BinaryOperation::Add, "add"),
    (BinaryOperation::Subtract, "subtract"),
    (BinaryOperation::Multiply, "multiply"),
    (BinaryOperation::DivideUnsigned, "divide_unsigned"),
    (BinaryOperation::RemainderUnsigned, "remainder_unsigned"),
    (BinaryOperation::AddSaturatingUnsigned, "add_saturating_unsigned"),
    (BinaryOperation::AddSaturatingSigned, "add_saturating_signed"),
    (BinaryOperation::SubtractSaturatingUnsigned, "subtract_saturating_unsigned"),
    (BinaryOperation::SubtractSaturatingSigned, "subtract_saturating_signed"),
    (BinaryOperation::And, "and"),
    (BinaryOperation::Or, "or"),
    (BinaryOperation::Xor, "xor"),
    (BinaryOperation::ShiftLeft, "shift_left"),
    (BinaryOperation::ShiftRightLogical, "shift_right_logical"),
    (BinaryOperation::ShiftRightArithmetic, "shift_right_arithmetic"),
    (BinaryOperation::Equal, "equal"),
    (BinaryOperation::NotEqual, "not_equal"),
    (BinaryOperation::LessUnsigned, "less_unsigned"),
    (BinaryOperation::LessEqualUnsigned, "less_equal_unsigned"),
    (BinaryOperation::LessSigned, "less_signed"),
    (BinaryOperation::LessEqualSigned, "less_equal_signed"),
    (BinaryOperation::Concat, "concat"),
];

pub(super) const RESIZE: &Words<ResizeKind> = &[
    (ResizeKind::ZeroExtend, "zero_extend"),
    (ResizeKind::SignExtend, "sign_extend"),
    (ResizeKind::Truncate, "truncate"),
];

/// Those without a calculation of their own; [`HashAlgorithm::Custom`] is written `custom` and its name.
pub(super) const HASH: &Words<HashAlgorithm> = &[
    (HashAlgorithm::Crc32, "crc32"),
    (HashAlgorithm::Crc16, "crc16"),
    (HashAlgorithm::Random, "random"),
    (HashAlgorithm::Identity, "identity"),
    (HashAlgorithm::Csum16, "csum16"),
    (HashAlgorithm::Xor16, "xor16"),
    (HashAlgorithm::OnesComplement16, "ones_complement16"),
    (HashAlgorithm::TargetDefault, "target_default"),
];

/// The text form of a hash algorithm.
pub(super) fn hash_text(algorithm: &HashAlgorithm) -> String {
    let HashAlgorithm::Crc(crc) = algorithm else { return word_of(HASH, algorithm).to_string() };
    let reflected = match (crc.reflect_input, crc.reflect_output) {
        (true, true) => " reflected",
        (true, false) => " reflect_input",
        (false, true) => " reflect_output",
        (false, false) => "",
    };
    let CrcParameters { width_bits, polynomial, initial, final_xor, .. } = crc;
    format!("crc {width_bits} {polynomial} {initial} {final_xor}{reflected}")
}

pub(super) const COUNT_UNIT: &Words<CountUnit> = &[
    (CountUnit::Packets, "packets"),
    (CountUnit::Bytes, "bytes"),
    (CountUnit::PacketsAndBytes, "packets_and_bytes"),
];

pub(super) const REGION_KIND: &Words<RegionKind> = &[
    (RegionKind::Parser, "parser"),
    (RegionKind::Control, "control"),
    (RegionKind::Deparser, "deparser"),
    (RegionKind::Action, "action"),
];

pub(super) const BLOCK_KIND: &Words<BlockKind> = &[
    (BlockKind::Parser, "parser"),
    (BlockKind::Control, "control"),
    (BlockKind::Deparser, "deparser"),
];

/// Those without a name of their own; [`MatchKind::Other`] is written `other` and its name.
pub(super) const MATCH_KIND: &Words<MatchKind> = &[
    (MatchKind::Exact, "exact"),
    (MatchKind::Lpm, "lpm"),
    (MatchKind::Ternary, "ternary"),
    (MatchKind::Range, "range"),
    (MatchKind::Optional, "optional"),
    (MatchKind::Selector, "selector"),
];
