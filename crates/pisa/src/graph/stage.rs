// SPDX-License-Identifier: Apache-2.0
//! The abilities of a stage that the graph assumes for every target: operations of ALUs, inputs and outputs of
//! stateful ALUs, sizes of containers, counters and memory blocks. Limits of one target are in its file.

use ir::{BinaryOperation, Operand, Operation};

/// Operations that a stateful ALU can do between the cell and its output: a comparison of sums, a choice, and
/// an operation on either side (Lucid §4.2, "memops").
pub(super) const MAX_OUTPUT_OPERATIONS: usize = 8;

/// Words that a stateful ALU gets besides the cell (Lucid §4.2, "memops": two arguments).
pub(super) const MAX_ALU_INPUTS: usize = 2;

/// Bits of the hash by which a selector chooses.
pub(super) const SELECTOR_HASH_BITS: u64 = 32;

const CONTAINER_BITS: u32 = 32;

const COUNTER_BITS: u64 = 64;

const SRAM_BLOCK_BITS: u64 = 128 * 1024;

/// Returns the number of containers that a value takes.
pub(super) fn containers(width_bits: u32) -> u64 {
    u64::from(width_bits.div_ceil(CONTAINER_BITS)).max(1)
}

/// Returns the number of SRAM blocks that the cells of a counter take.
pub(super) fn counter_blocks(cells: u64) -> u64 {
    cells.saturating_mul(COUNTER_BITS).div_ceil(SRAM_BLOCK_BITS)
}

/// Whether an operation only moves bits.
pub(super) fn is_wiring(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Resize { .. }
            | Operation::Slice { .. }
            | Operation::Binary { operation: BinaryOperation::Concat, .. }
    )
}

/// Whether a stateful ALU has an operation.
pub(super) fn is_in_stateful_alu(operation: &Operation) -> bool {
    !matches!(
        operation,
        Operation::Binary {
            operation: BinaryOperation::Multiply
                | BinaryOperation::DivideUnsigned
                | BinaryOperation::RemainderUnsigned,
            ..
        }
    )
}

/// Describes an operation that no ALU has, with advice: multiplication and division, unless by a power of two.
pub(super) fn unsupported(operation: &Operation) -> Option<(&'static str, &'static str)> {
    const REPLACED: &str = "use a table of results, or sums of shifts";
    let Operation::Binary { operation, left, right, .. } = operation else { return None };
    let is_power = |operand: &Operand| match operand {
        Operand::Constant(bits) => bits.to_biguint().count_ones() <= 1,
        Operand::Temp(_) => false,
    };
    match operation {
        BinaryOperation::Multiply if !is_power(left) && !is_power(right) => {
            Some(("multiply", REPLACED))
        }
        BinaryOperation::DivideUnsigned if !is_power(right) => Some(("divide", REPLACED)),
        BinaryOperation::RemainderUnsigned if !is_power(right) => Some((
            "take a remainder",
            "a remainder by a constant power of two only takes bits: give `%`, or the last argument of `hash`, a \
             constant such as 16; or choose among members with an action selector",
        )),
        _ => None,
    }
}
