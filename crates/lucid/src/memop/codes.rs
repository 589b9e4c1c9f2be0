// SPDX-License-Identifier: Apache-2.0
//! Codes of memops that no stateful ALU can run, `LU-E02xx`. Each message is written where the check finds
//! the error.

use source::{Code, Explanation};

/// The body of a two-argument memop has another form than one return, or an if with two.
pub const FORM: Code = Code("LU-E0201");
/// A variable that one expression uses twice.
pub const VARIABLE_TWICE: Code = Code("LU-E0202");
/// An operator that a stateful ALU lacks.
pub const OPERATOR: Code = Code("LU-E0203");
/// More comparisons than a stateful ALU makes.
pub const COMPOUND: Code = Code("LU-E0204");
/// A memop's parameters: number and names.
pub const PARAMETERS: Code = Code("LU-E0205");
/// A method that cannot run the memop it is passed.
pub const METHOD: Code = Code("LU-E0206");
/// The body of a memop of three or four arguments has another form than the hardware.
pub const COMPLEX_FORM: Code = Code("LU-E0207");
/// A guard that is not a combination of the memop's booleans.
pub const GUARD: Code = Code("LU-E0208");
/// A memop of three or four arguments that returns what is not a cell.
pub const COMPLEX_RETURN: Code = Code("LU-E0209");

/// What `plane explain` says about each.
pub const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: FORM,
        title: "a memop whose body is not one return, or an if with one return a branch",
        text: "A memop of two arguments is what one half of a stateful ALU computes while it reads \
               or writes a cell: one expression, or a choice between two (Lucid §4.2). It has no \
               variables, no loops and no second decision. Compute what it needs into a variable \
               before the call and pass that as the argument, split it over two memops in two \
               accesses, or use a memop of three arguments with Array.update_complex.",
        wrong: "memop bump(int stored, int limit) {\n    if (stored < limit) { return stored + 1; \
                }\n    return stored;\n}\n",
        right: "memop bump(int stored, int limit) {\n    if (stored < limit) { return stored + 1; } \
                else { return stored; }\n}\n",
    },
    Explanation {
        code: VARIABLE_TWICE,
        title: "a memop that uses a variable twice in one expression",
        text: "Each expression of a memop gets the stored value once and the argument once into \
               the ALU; constants do not count (Lucid §4.2). With three or four arguments it gets \
               one of the stored values and one of the arguments. Compute what needs the argument \
               twice into a variable before the call. A condition that tests the stored value \
               twice takes both comparators of the ALU, so it fits only a memop of three or four \
               arguments, as two booleans (Lucid appendix C).",
        wrong: "memop fresh(int stored, int y) {\n    if (stored == 1 || stored == 2) { return \
                stored; } else { return y; }\n}\n",
        right: "memop fresh(int stored, int y, int unused) {\n    bool b1 = stored == 1;\n    bool b2 \
                = stored == 2;\n    if (b1 || b2) { cell1 = stored; } else { if (true) { cell1 = y; \
                } }\n    if (true) { return cell1; }\n}\n",
    },
    Explanation {
        code: OPERATOR,
        title: "an operator that a stateful ALU lacks",
        text: "Memops compute with `+`, `-`, `&` and `|`, compare, and combine comparisons with \
               `&&`, `||` and `!` (Lucid §4.2). Parts without the stored value can be computed in \
               the handler before the call. Where the stored value is needed, read it in one \
               event, compute, and write it in an event that the handler generates.",
        wrong: "memop mix(int stored, int x) { return stored + (x << 2); }\n",
        right: "memop mix(int stored, int x4) { return stored + x4; }\n",
    },
    Explanation {
        code: COMPOUND,
        title: "a memop that compares too often",
        text: "A stateful ALU makes at most two comparisons for a cell. The conditions of one \
               memop, all booleans of a memop of three or four arguments together, may hold no \
               more. Decide about values that are not stored before the call and pass the outcome.",
        wrong: "memop pick(int stored, int x, int y) {\n    bool b1 = stored == 1 && x == 2;\n    \
                bool b2 = stored == 3;\n    if (b1 || b2) { cell1 = y; }\n}\n",
        right: "memop pick(int stored, int x, int y) {\n    bool b1 = stored == 1;\n    bool b2 = \
                stored == 3;\n    if (b1 || b2) { cell1 = y; }\n}\n",
    },
    Explanation {
        code: PARAMETERS,
        title: "parameters that a memop cannot have",
        text: "A memop takes the stored value and one argument; or the stored value and two \
               arguments; or two stored values and two arguments. None may be called `cell1` or \
               `cell2`, which are the new values.",
        wrong: "memop keep(int stored) { return stored; }\n",
        right: "memop keep(int stored, int unused) { return stored; }\n",
    },
    Explanation {
        code: METHOD,
        title: "a method that cannot run the memop it is passed",
        text: "Array.update runs two memops in one instruction, so each may use half of the \
               stateful ALU: one comparison. A memop with a compound condition fits only a method \
               that runs nothing beside it: Array.getm and Array.setm. Memops of three arguments \
               fit Array.update_complex, those of four PairArray.update (Lucid §4.2, appendix C).",
        wrong: "global Array.t<32> a = Array.create(4);\nmemop both(int stored, int x) {\n    if \
                (stored == 1 && x == 2) { return 0; } else { return stored; }\n}\nmemop old(int \
                stored, int x) { return stored; }\nevent e(int x) { int y = Array.update(a, 0, old, \
                0, both, x); }\n",
        right: "global Array.t<32> a = Array.create(4);\nmemop both(int stored, int x) {\n    if \
                (stored == 1 && x == 2) { return 0; } else { return stored; }\n}\nevent e(int x) { \
                Array.setm(a, 0, both, x); }\n",
    },
    Explanation {
        code: COMPLEX_FORM,
        title: "a memop of three or four arguments that does not have the hardware's form",
        text: "Such a memop names the parts of one stateful ALU instruction in order: at most two \
               booleans; for each cell at most two guarded new values, `if (...) { cell1 = ...; } \
               else { if (...) { cell1 = ...; } }`; and one guarded return. Each part may be left \
               out. A guard that always holds is `true`.",
        wrong: "memop roll(int stored, int limit, int unused) {\n    bool full = stored == limit;\n    \
                if (full) { return stored; } else { return limit; }\n}\n",
        right: "memop roll(int stored, int limit, int unused) {\n    bool full = stored == limit;\n    \
                if (full) { cell2 = stored; } else { if (true) { cell2 = limit; } }\n    if (true) { \
                return cell2; }\n}\n",
    },
    Explanation {
        code: GUARD,
        title: "a guard that computes its own condition",
        text: "The guards of a memop of three or four arguments choose by its two booleans, which \
               the ALU computes first. Give a condition a name and use that.",
        wrong: "memop cap(int stored, int limit, int x) {\n    if (stored < limit) { cell1 = x; }\n}\n",
        right: "memop cap(int stored, int limit, int x) {\n    bool room = stored < limit;\n    if \
                (room) { cell1 = x; }\n}\n",
    },
    Explanation {
        code: COMPLEX_RETURN,
        title: "a memop of three or four arguments that returns what is not a cell",
        text: "What such a memop returns is `cell1` or `cell2` after the update, or an old value of \
               a cell. Other values go through `cell2`, which a memop of three arguments does not \
               store.",
        wrong: "memop take(int stored, int x, int y) {\n    if (true) { return x; }\n}\n",
        right: "memop take(int stored, int x, int y) {\n    if (true) { cell2 = x; }\n    if (true) { \
                return cell2; }\n}\n",
    },
];
