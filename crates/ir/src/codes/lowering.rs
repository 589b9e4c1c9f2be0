// SPDX-License-Identifier: Apache-2.0
//! Codes of what a checked program may not do when it is lowered to the pipeline IR: `IR-E02xx`. The
//! words of a particular report are where it is found, not here.

use source::{Code, Explanation};

/// Inlining and unrolling made too much code.
pub const CODE_GROWTH: Code = Code("IR-E0201");
/// A construct that the pipeline IR cannot express.
pub const NOT_EXPRESSIBLE: Code = Code("IR-E0202");
/// A value wider than any engine handles.
pub const TOO_WIDE: Code = Code("IR-E0203");
/// Something must be known when the program is compiled, and is not.
pub const NOT_CONSTANT: Code = Code("IR-E0204");
/// A function, action, parser or control that reaches itself.
pub const RECURSION: Code = Code("IR-E0205");
/// An entry or value of a table that its keys or actions do not fit.
pub const ENTRY_MISMATCH: Code = Code("IR-E0206");
/// Priorities of entries outside the range of the specification.
pub const ENTRY_PRIORITY: Code = Code("IR-E0207");
/// Two tables or objects of one kind with the same name for the control plane.
pub const DUPLICATE_NAME: Code = Code("IR-E0208");
/// Something that the program's architecture cannot do.
pub const TARGET_LIMIT: Code = Code("IR-E0209");
/// A header that does not end at a byte, for a target that handles whole bytes.
pub const HEADER_NOT_BYTES: Code = Code("IR-W0201");
/// The typed program lacks a fact that the checker should have found.
pub const INTERNAL: Code = Code("IR-E0299");

/// What `plane explain` says about each.
pub static EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: CODE_GROWTH,
        title: "inlining and unrolling make too much code",
        text: "Controls, parsers, functions and actions are inlined where they are applied or \
               called, and loops with a known number of rounds are unrolled. A program whose \
               nesting multiplies to more instructions than the documented limit is refused, \
               because no target could hold it either. Apply a table or a control once and pass \
               what differs as an argument, or loop less often.",
        wrong: "control Block<H>(inout H hdr);\n\
                package Single<H>(Block<H> c);\n\
                control c(inout bit<8> x) {\n\
                \x20   apply {\n\
                \x20       for (bit<16> i = 0; i < 1000; i = i + 1) {\n\
                \x20           for (bit<16> j = 0; j < 1000; j = j + 1) { x = x + x; }\n\
                \x20       }\n\
                \x20   }\n\
                }\n\
                Single(c()) main;\n",
        right: "control Block<H>(inout H hdr);\n\
                package Single<H>(Block<H> c);\n\
                control c(inout bit<8> x) {\n\
                \x20   apply {\n\
                \x20       for (bit<16> i = 0; i < 10; i = i + 1) { x = x + x; }\n\
                \x20   }\n\
                }\n\
                Single(c()) main;\n",
    },
    Explanation {
        code: NOT_EXPRESSIBLE,
        title: "a construct that cannot be lowered",
        text: "The program is correct P4_16, but uses something that has no meaning in a packet \
               pipeline: for example an extern object chosen at run time, or a control applied \
               from a table's action. The message names the construct.",
        wrong: "#include <core.p4>\n\
                control Block<H>(inout H hdr);\n\
                package Single<H>(Block<H> c);\n\
                control c(inout bit<8> x) {\n\
                \x20   table which { actions = { NoAction; } }\n\
                \x20   action set(in bit<8> to) { x = to; }\n\
                \x20   table t { actions = { set(which.apply().hit ? 8w1 : 8w2); } }\n\
                \x20   apply { t.apply(); }\n\
                }\n\
                Single(c()) main;\n",
        right: "#include <core.p4>\n\
                control Block<H>(inout H hdr);\n\
                package Single<H>(Block<H> c);\n\
                control c(inout bit<8> x) {\n\
                \x20   bit<8> to = 2;\n\
                \x20   table which { actions = { NoAction; } }\n\
                \x20   action set() { x = to; }\n\
                \x20   table t { actions = { set; NoAction; } }\n\
                \x20   apply {\n\
                \x20       if (which.apply().hit) { to = 1; }\n\
                \x20       t.apply();\n\
                \x20   }\n\
                }\n\
                Single(c()) main;\n",
    },
    Explanation {
        code: TOO_WIDE,
        title: "a value that is too wide",
        text: "P4_16 leaves the largest width to the implementation (P4_16 v1.2.5 §7.1.6). Every \
               engine here handles values up to 16384 bits. Split the field or the expression.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: NOT_CONSTANT,
        title: "something must be known when the program is compiled",
        text: "Constructor arguments, sizes of state, arguments of entries and default actions, and \
               parameters without direction of parsers and controls are compile-time known values \
               (P4_16 v1.2.5 §18.1).",
        wrong: "",
        right: "",
    },
    Explanation {
        code: RECURSION,
        title: "something that reaches itself",
        text: "P4 has no recursion: an action, function, parser or control may not be reached from \
               its own body (P4_16 v1.2.5 §10), because packets are processed in bounded time.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: ENTRY_MISMATCH,
        title: "an entry that does not fit its table",
        text: "An entry gives one keyset for each key, of a form that the key's match kind allows: \
               a value for exact, a prefix mask for lpm, a value or mask for ternary, a range for \
               range, a value or `_` for optional (P4_16 v1.2.5 §14.2.1.4). Its action is in the \
               table's list.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: ENTRY_PRIORITY,
        title: "priorities of entries that cannot be used",
        text: "When one entry of a table has a priority, the first one must have one too, and no \
               priority may be negative (P4_16 v1.2.5 §14.2.1.4).",
        wrong: "",
        right: "",
    },
    Explanation {
        code: DUPLICATE_NAME,
        title: "two things with the same control-plane name",
        text: "The control plane finds tables, registers, counters, meters, action profiles and value \
               sets by their full names (P4_16 v1.2.5 §18.3). Two of one kind have the same full name, \
               usually because of `@name` annotations. Rename one of them.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: TARGET_LIMIT,
        title: "something that the architecture cannot do",
        text: "The program is correct P4_16, but its architecture does not allow it. A table of BMv2 \
               has at most one `lpm` key, because one entry must have the longest prefix. Make \
               all but one of them `ternary`.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: HEADER_NOT_BYTES,
        title: "a header that does not end at a byte",
        text: "BMv2 reads and writes headers of whole bytes only. A field that \
               pads the header to a multiple of 8 bits makes the program run there too.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: INTERNAL,
        title: "a fact about the program is missing",
        text: "This is a mistake of the toolchain, not of the program: the type checker accepted \
               something without recording what the lowering needs. Please report it with the \
               program.",
        wrong: "",
        right: "",
    },
];
