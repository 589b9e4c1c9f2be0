// SPDX-License-Identifier: Apache-2.0
//! Codes of what no pipeline can do, whatever its size.

use source::{Code, Explanation};

/// A loop at run time.
pub const LOOP: Code = Code("PI-E0301");
/// An operation that no ALU of a stage has.
pub const OPERATION: Code = Code("PI-E0302");

/// What `plane explain` says about each.
pub const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: LOOP,
        title: "a loop that is not unrolled",
        text: "A packet passes each stage once, so code that may come round again at run time cannot \
               be laid out. Loops whose number of rounds is a constant are unrolled; write a bound, \
               or go round with the packet: recirculate it.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: OPERATION,
        title: "an operation that stages do not have",
        text: "The ALUs of a match-action stage add, subtract, shift, compare and combine bits. They \
               do not multiply or divide, but for powers of two, which are shifts. Use a table of \
               results, a sum of shifts, or an approximation.",
        wrong: "",
        right: "",
    },
];
