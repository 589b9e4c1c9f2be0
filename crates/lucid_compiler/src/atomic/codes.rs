// SPDX-License-Identifier: Apache-2.0
//! Codes of what atomic statements cannot express: `LU-E076x`.

use source::{Code, Explanation};

/// Arithmetic wider than an ALU.
pub const WIDE_ARITHMETIC: Code = Code("LU-E0760");
/// A shift by something that is not known.
pub const SHIFT_BY_VARIABLE: Code = Code("LU-E0761");
/// A hash whose seed is not known.
pub const SEED: Code = Code("LU-E0762");
/// A statement that no stage of a pipeline can do.
pub const STATEMENT: Code = Code("LU-E0763");
/// A condition that takes too many match rules.
pub const CONDITION: Code = Code("LU-E0764");

/// What `plane explain` says about each.
pub const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: WIDE_ARITHMETIC,
        title: "arithmetic wider than an ALU",
        text: "The ALUs of a pipeline's stages add, subtract and compare numbers of at most 32 \
               bits; bitwise operators, copies, slices and tests for equality take any width.",
        wrong: "event e(int<48> x) { int<48> y = x + 1; generate e(y); }\n",
        right: "event e(int<32> x) { int<32> y = x + 1; generate e(y); }\n",
    },
    Explanation {
        code: SHIFT_BY_VARIABLE,
        title: "a number too wide to be shifted by a variable",
        text: "An ALU of a pipeline shifts by a number of bits that is part of its instruction, so a shift \
               by a variable is a table with an instruction for each number of bits. Numbers of more than \
               32 bits are in several containers, between which no instruction shifts. Shift the halves, or \
               by a constant.",
        wrong: "event e(int<48> x, int n) { generate e(x >> n, n); }\n",
        right: "event e(int<48> x, int n) { generate e(x >> 3, n); }\n",
    },
    Explanation {
        code: SEED,
        title: "a hash whose seed is not known",
        text: "The polynomial of a hash unit is set before the program runs, and it comes from the \
               seed. So the seed has to be a constant; hash a variable as one of the values instead.",
        wrong: "event e(int x, int s) { generate e(hash<32>(s, x), s); }\n",
        right: "event e(int x, int s) { generate e(hash<32>(7, s, x), s); }\n",
    },
    Explanation {
        code: STATEMENT,
        title: "a statement that no stage of a pipeline can do",
        text: "What a handler does in a pipeline is arithmetic, one access an array, lookups in \
               tables, and generating events. New table entries come from the control plane.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: CONDITION,
        title: "a condition that takes too many match rules",
        text: "Conditions become match rules of tables. A condition that joins many comparisons with \
               ranges takes very many of them. Compute parts of it into variables before.",
        wrong: "",
        right: "",
    },
];
