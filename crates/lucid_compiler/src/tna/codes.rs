// SPDX-License-Identifier: Apache-2.0
//! Codes of what P4_16 for Tofino cannot say: `LU-E078x`.

use source::{Code, Explanation};

/// What a pipeline of Tofino has no means for.
pub const NOT_ON_TARGET: Code = Code("LU-E0780");
/// More programs than a stateful ALU holds.
pub const TOO_MANY_REGISTER_ACTIONS: Code = Code("LU-E0781");
/// A memop that Tofino's compiler does not take.
pub const REFUSED_MEMOP: Code = Code("LU-W0782");
/// Ranges of wide values that take too many entries.
pub const TOO_MANY_ENTRIES: Code = Code("LU-E0783");
/// The made program is wrong: a mistake of the compiler's.
pub const INTERNAL: Code = Code("LU-E0789");

/// What `plane explain` says about each.
pub const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: NOT_ON_TARGET,
        title: "the target tna cannot do this",
        text: "The reference interpreter runs it, but Tofino's pipelines have no means for it; the \
               message says what would do instead. Parsers there read whole bytes and compute nothing, \
               and they cannot cut off the rest of a packet.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: TOO_MANY_REGISTER_ACTIONS,
        title: "an array with too many kinds of access",
        text: "A register of Tofino can have four register actions: different memops, or the same memop \
               with different operands, count as different. Use the same memop with the same \
               variable or constant in several places, or split the array into two.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: REFUSED_MEMOP,
        title: "a memop that Tofino's compiler refuses",
        text: "Our devices run it, but a stateful ALU of Tofino cannot. It compares without wrapping around, so a \
               comparison cannot subtract a constant greater than 1: add it on the other side, if that cannot wrap \
               around. What it gives to the packet has one source, so a memop that only reads cannot give a value \
               of the packet in one branch and anything else in the other: give a constant and compare in the \
               handler, or store what it gives with the same memop.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: TOO_MANY_ENTRIES,
        title: "ranges that take too many entries of a table",
        text: "A table of Tofino matches ranges of at most 16 bits. A range of a wider value becomes several entries, each \
               a value with a mask: up to 62 for 32 bits. Ranges of several values in one decision multiply: three \
               may take 62 * 62 * 62 entries, and a table gets 2,048. Decide in two steps: generate an event if the \
               first comparisons hold, and write the others in its handler. Or compare slices of at most 16 \
               bits, such as `x[31:16]`. A bound just below a power of two takes few entries.",
        wrong: "event all(int x, int y, int z);\nexit event out(int x);\nhandle all(int x, int y, int z) {\n    \
                if (x > 1000 && x < 4000000001 && y > 77777 && y < 4000000003 && z > 5 && z < 3000000001) {\n        \
                generate_port(1, out(x));\n    }\n}\n",
        right: "event all(int x, int y, int z);\nevent rest(int x, int z);\nexit event out(int x);\n\
                handle all(int x, int y, int z) {\n    \
                if (x > 1000 && x < 4000000001 && y > 77777 && y < 4000000003) {\n        \
                generate rest(x, z);\n    }\n}\nhandle rest(int x, int z) {\n    \
                if (z > 5 && z < 3000000001) {\n        generate_port(1, out(x));\n    }\n}\n",
    },
    Explanation {
        code: INTERNAL,
        title: "the compiler made a wrong P4_16 program for tna",
        text: "This is a mistake in Planewright. The notes tell what the P4_16 checker found; please \
               report them with the program.",
        wrong: "",
        right: "",
    },
];
