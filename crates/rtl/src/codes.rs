// SPDX-License-Identifier: Apache-2.0
//! Codes of what hardware cannot hold: `RTL-E01xx`.

use source::{Code, Explanation};

/// A number of pipelines, entries or cycles that hardware does not have.
pub const SHAPE: Code = Code("RTL-E0101");
/// A table whose entries the control plane writes.
pub const TABLE: Code = Code("RTL-E0102");
/// An operation without hardware.
pub const OPERATION: Code = Code("RTL-E0103");
/// A loop at run time.
pub const LOOP: Code = Code("RTL-E0104");
/// Two accesses of an array by one packet.
pub const TWO_ACCESSES: Code = Code("RTL-E0105");
/// A division by a number that is not constant.
pub const DIVISION: Code = Code("RTL-E0106");
/// A value of variable length.
pub const VARBIT: Code = Code("RTL-E0107");
/// A program whose controls hardware cannot spread.
pub const CONTROL: Code = Code("RTL-E0108");

/// Counters that the hardware does not have.
pub const COUNTERS: Code = Code("RTL-W0101");

/// What `plane explain` says about each.
pub const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: SHAPE,
        title: "a machine that cannot be built",
        text: "A machine has 1 to 64 pipelines, rings of 1 to 4,096 entries, and remaps that begin at least every 2 cycles. \
               Rings are bounded in hardware; the paper's have 8 entries (MP5 §4.2).",
        wrong: "",
        right: "",
    },
    Explanation {
        code: TABLE,
        title: "a table whose entries are written at run time",
        text: "The hardware has a table's entries as constants, so it needs to know them when it is written. Declare the \
               entries with `const entries`, or replace the table by conditions.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: OPERATION,
        title: "an operation that the stages do not have",
        text: "A stage computes with header fields, constants and the cells of its arrays. It does not ask the device for \
               clones or digests, draws no random numbers, reads no payload, has no meters, and calls no \
               externs. Compute the value in front of the machine and hand it over in a header field.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: LOOP,
        title: "a loop at run time",
        text: "A stage computes everything in one cycle, so its code runs once. Loops whose number of rounds is a constant \
               are unrolled: write a bound.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: TWO_ACCESSES,
        title: "one packet accesses two cells of an array",
        text: "The memory of an array has one address a cycle. Access one cell, or use two arrays.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: DIVISION,
        title: "a division by a number that is not constant",
        text: "A divider of two variables takes many cycles, and a stage has one. Divide by a constant, best by a power of \
               two.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: VARBIT,
        title: "a value of variable length",
        text: "A packet's fields are wires, and their number is fixed. Use a field of type `bit<N>` that is long enough.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: CONTROL,
        title: "a program without one control that can be spread",
        text: "The machine is one control with its register arrays: the stages of an ingress. Parsers and deparsers stand in \
               front of it and behind it. The control may not have loops, and its arrays must be registers.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: COUNTERS,
        title: "counters that the hardware does not have",
        text: "Counters change no packet, and the emitted machine leaves them out. A register array counts too, and stays.",
        wrong: "",
        right: "",
    },
];
