// SPDX-License-Identifier: Apache-2.0
//! Codes of what does not fit on a target.

use source::{Code, Explanation};

/// Dependencies ask for more stages than there are.
pub const TOO_LONG: Code = Code("PI-E0201");
/// A resource runs out.
pub const FULL: Code = Code("PI-E0202");
/// Not even an empty stage can take it.
pub const TOO_LARGE: Code = Code("PI-E0203");
/// Accesses to one array that cannot be in one table.
pub const ARRAY_TWICE: Code = Code("PI-E0204");
/// An array that two tables or both halves use.
pub const ARRAY_SHARED: Code = Code("PI-E0205");
/// Parts that wait for each other.
pub const CIRCLE: Code = Code("PI-E0206");
/// Arrays accessed in two orders.
pub const ORDERS: Code = Code("PI-E0207");

/// What `plane explain` says about each.
pub const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: TOO_LONG,
        title: "a chain of dependencies is longer than the pipeline",
        text: "A stage's tables and actions see what earlier stages wrote, never what their own \
               stage writes, so what reads a result sits in a later stage than what computes it. The \
               message shows the chain. Compute things that do not need each other side by side, or \
               split the work over two passes: in Lucid, generate an event that goes on with it.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: FULL,
        title: "the program does not fit on the target: a resource runs out",
        text: "Each stage has so many tables, memory blocks, stateful ALUs, hash units and so on \
               (`plane layout` shows all of them). The message names the resource that kept a part \
               out of each stage that dependencies would have allowed, and by how much.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: TOO_LARGE,
        title: "a table or array is larger than a stage",
        text: "A table and the arrays it updates sit in one stage. If an empty stage cannot take \
               them, no layout can: make the table or array smaller, or split it in two.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: ARRAY_TWICE,
        title: "one pass accesses an array twice",
        text: "An array is attached to one table of one stage, and a packet passes a stage once. An \
               access that needs the result of another access to the same array, directly or through \
               what lies between, would have to come a stage later. Merge both into one access (one \
               memop or register action), or make the second one in another pass.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: ARRAY_SHARED,
        title: "an array is used from two tables",
        text: "An array is attached to one table, in ingress or in egress. Tables of the program stay \
               as they are, so two of them cannot use one array, and both halves cannot either. Move \
               the accesses into one table, or use an array each.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: CIRCLE,
        title: "parts of a program wait for each other",
        text: "A packet passes the stages in one direction. Parts that each need another's result first cannot be laid \
               out. This is a mistake of the compiler that made the dependencies if the program was \
               accepted: please report it.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: ORDERS,
        title: "arrays are accessed in one order here and in another there",
        text: "An array sits in one stage, so if one part of a program needs array `a` before array \
               `b`, no other part can need `b` before `a`. The message shows an access of each. \
               Access them in the same order everywhere, or do one of the parts in two passes.",
        wrong: "",
        right: "",
    },
];
