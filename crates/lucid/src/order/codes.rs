// SPDX-License-Identifier: Apache-2.0
//! Codes of programs that access globals out of order, `LU-E03xx`. `report` words the messages about
//! accesses, the other checks word their own.

use source::{Code, Explanation};

/// Globals accessed in another order than they are declared in.
pub const DISORDER: Code = Code("LU-E0301");
/// A second access to a global in one pass.
pub const REPEATED: Code = Code("LU-E0302");
/// An order without a constraint.
pub const UNDECLARED: Code = Code("LU-E0303");
/// Orders that exclude each other.
pub const CONTRADICTION: Code = Code("LU-E0304");
/// An interface that is weaker than its module needs.
pub const INTERFACE: Code = Code("LU-E0305");
/// A global that the compiler cannot determine.
pub const WHICH_GLOBAL: Code = Code("LU-E0306");
/// A constraint that states no order.
pub const CONSTRAINT: Code = Code("LU-E0307");
/// A global in both pipelines.
pub const BOTH_PIPELINES: Code = Code("LU-E0308");
/// Globals passed in another order than a constraint demands.
pub const ARGUMENTS: Code = Code("LU-E0309");

/// What `plane explain` says about each.
pub const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: DISORDER,
        title: "globals accessed in another order than they are declared in",
        text: "Each global is in a stage of the pipeline, in the order of the declarations, and a \
               packet passes the stages once, so a handler accesses globals in that order (Lucid \
               §5). Fields of a record are ordered as they are declared, elements of a vector by \
               their index. Swap the declarations if no other handler needs them as they are, move \
               the access, or generate an event that does the second part in a further pass.",
        wrong: "global Array.t<32> arr1 = Array.create(16);\nglobal Array.t<32> arr2 = \
                Array.create(16);\nevent set(int i) {\n    int x = Array.get(arr2, i);\n    \
                Array.set(arr1, i, x);\n}\n",
        right: "global Array.t<32> arr2 = Array.create(16);\nglobal Array.t<32> arr1 = \
                Array.create(16);\nevent set(int i) {\n    int x = Array.get(arr2, i);\n    \
                Array.set(arr1, i, x);\n}\n",
    },
    Explanation {
        code: REPEATED,
        title: "a second access to a global in one pass",
        text: "A stage is passed once, so a path through a handler accesses each global at most \
               once (Lucid §5.2). Array.update reads and writes a cell in one access. For two cells \
               of one array, generate an event that accesses the second, or declare two arrays. In \
               a loop, use another element of a vector of globals in each round.",
        wrong: "global Array.t<32> a = Array.create(16);\nevent bump(int i) {\n    int x = \
                Array.get(a, i);\n    Array.set(a, i, x + 1);\n}\n",
        right: "global Array.t<32> a = Array.create(16);\nmemop plus(int stored, int x) { return \
                stored + x; }\nevent bump(int i) {\n    Array.setm(a, i, plus, 1);\n}\n",
    },
    Explanation {
        code: UNDECLARED,
        title: "an order that nothing declares",
        text: "The handler of an event over globals runs for whatever globals the event was made \
               with, so it may rely only on the constraints that the event declares. Those are \
               checked wherever an event value is made. (Functions need no declarations: what they \
               need is inferred and checked at their calls.)",
        wrong: "event move(Array.t<32> from, Array.t<32> to, int i);\nhandle move(Array.t<32> from, \
                Array.t<32> to, int i) {\n    int x = Array.get(from, i);\n    Array.set(to, i, \
                x);\n}\n",
        right: "event move(Array.t<32> from, Array.t<32> to, int i)[from < to];\nhandle \
                move(Array.t<32> from, Array.t<32> to, int i) {\n    int x = Array.get(from, i);\n    \
                Array.set(to, i, x);\n}\n",
    },
    Explanation {
        code: CONTRADICTION,
        title: "orders that no globals can have at once",
        text: "What a body needs of its parameters cannot hold for any globals: one would have to \
               be both before and behind another. Access each global once, in one order on all \
               paths; constraints that are declared count too.",
        wrong: "fun void twice(Array.t<32> a, Array.t<32> b, int i) {\n    int x = Array.get(a, \
                i);\n    Array.set(b, i, x);\n    Array.set(a, i, 0);\n}\n",
        right: "memop old(int stored, int x) { return stored; }\nmemop new_value(int stored, int x) { \
                return x; }\nfun void twice(Array.t<32> a, Array.t<32> b, int i) {\n    int x = \
                Array.update(a, i, old, 0, new_value, 0);\n    Array.set(b, i, x);\n}\n",
    },
    Explanation {
        code: INTERFACE,
        title: "an interface that is weaker than its module needs",
        text: "Callers outside a module know only the interface of a function: `start <= \
               p` that p has not been passed before, `p < q` in which order globals are, `end q` \
               that q and what comes before it have been passed. These must imply what the body \
               needs and does. With one global as its only one, `[start <= p; end p]` may be left \
               out.",
        wrong: "module M : {\n    fun void put(Array.t<32> a, Array.t<32> b, int i)[start <= a; end \
                b];\n} {\n    fun void put(Array.t<32> a, Array.t<32> b, int i) {\n        \
                Array.set(a, i, 1);\n        Array.set(b, i, 1);\n    }\n}\n",
        right: "module M : {\n    fun void put(Array.t<32> a, Array.t<32> b, int i)[start <= a; a < \
                b; end b];\n} {\n    fun void put(Array.t<32> a, Array.t<32> b, int i) {\n        \
                Array.set(a, i, 1);\n        Array.set(b, i, 1);\n    }\n}\n",
    },
    Explanation {
        code: WHICH_GLOBAL,
        title: "a global that is not known at compile time",
        text: "Globals are ordered by their declarations, so each access names one: a declared \
               global, a parameter that stands for one, or a part of these. What a function gives \
               back has no place in that order.",
        wrong: "global Array.t<32> a = Array.create(4);\nfun 'x same('x y) { return y; }\nevent e() \
                { Array.set(same(a), 0, 1); }\n",
        right: "global Array.t<32> a = Array.create(4);\nevent e() { Array.set(a, 0, 1); }\n",
    },
    Explanation {
        code: CONSTRAINT,
        title: "a constraint that states no order",
        text: "Constraints are chains `p < q <= r` over parameters that are globals and declared \
               globals; `start` may begin one; `end p` stands at most once.",
        wrong: "fun void put(Array.t<32> a, int i)[a < start] { Array.set(a, i, 1); }\n",
        right: "fun void put(Array.t<32> a, int i)[start <= a] { Array.set(a, i, 1); }\n",
    },
    Explanation {
        code: BOTH_PIPELINES,
        title: "a global in both pipelines",
        text: "Handlers run as events arrive, egress handlers as they leave. These are two \
               pipelines, and a global is in a stage of one of them. Use a second global, or pass \
               what the other pipeline needs in the event.",
        wrong: "global Counter.t<32> c = Counter.create(0);\nevent e();\nhandle e() { \
                Counter.add(c, 1); }\n@egress handle e() { Counter.add(c, 1); }\n",
        right: "global Counter.t<32> c = Counter.create(0);\nglobal Counter.t<32> d = \
                Counter.create(0);\nevent e();\nhandle e() { Counter.add(c, 1); }\n@egress handle \
                e() { Counter.add(d, 1); }\n",
    },
    Explanation {
        code: ARGUMENTS,
        title: "globals passed in another order than a constraint requires",
        text: "An event, a function or an interface declares in which order its globals must be; \
               here it is given globals that are in another order.",
        wrong: "global Array.t<32> a = Array.create(4);\nglobal Array.t<32> b = \
                Array.create(4);\nevent move(Array.t<32> from, Array.t<32> to)[from < to] {\n    int \
                x = Array.get(from, 0);\n    Array.set(to, 0, x);\n}\nevent e() { generate move(b, \
                a); }\n",
        right: "global Array.t<32> a = Array.create(4);\nglobal Array.t<32> b = \
                Array.create(4);\nevent move(Array.t<32> from, Array.t<32> to)[from < to] {\n    int \
                x = Array.get(from, 0);\n    Array.set(to, 0, x);\n}\nevent e() { generate move(a, \
                b); }\n",
    },
];
