// SPDX-License-Identifier: Apache-2.0
//! Codes of elaboration and symbolics: `LU-E04xx`.

use source::{Code, Explanation};

/// Symbolics without a value.
pub const MISSING_SYMBOLIC: Code = Code("LU-E0401");
/// A symbolic's value is of another kind or does not fit.
pub const SYMBOLIC_VALUE: Code = Code("LU-E0402");
/// An integer of no bits or of too many.
pub const WIDTH: Code = Code("LU-E0410");
/// An array or table without cells or with too many.
pub const LENGTH: Code = Code("LU-E0411");
/// An index beyond a vector's end.
pub const INDEX: Code = Code("LU-E0412");
/// A slice beyond its operand, or with swapped bounds.
pub const SLICE: Code = Code("LU-E0413");
/// A number that does not fit its width.
pub const DOES_NOT_FIT: Code = Code("LU-E0414");
/// A type of too many parts.
pub const TOO_MANY_PARTS: Code = Code("LU-E0415");
/// Something has to be known before the run.
pub const NOT_KNOWN: Code = Code("LU-E0420");
/// State, events or output where only values may be.
pub const EFFECT: Code = Code("LU-E0421");
/// A memop that depends on what happens in the run.
pub const MEMOP_IN_RUN: Code = Code("LU-E0422");
/// An action that its table does not list.
pub const UNLISTED_ACTION: Code = Code("LU-E0423");
/// An action that does more than return a value.
pub const ACTION_BODY: Code = Code("LU-E0424");
/// Something a parser cannot do.
pub const PARSER_EXPRESSION: Code = Code("LU-E0425");
/// A value that cannot be hashed, compared, printed or matched.
pub const OPERAND: Code = Code("LU-E0426");
/// Too many statements in one handler.
pub const TOO_MANY_STATEMENTS: Code = Code("LU-E0430");
/// Calls nested too deep.
pub const TOO_DEEP: Code = Code("LU-E0431");
/// Too many events.
pub const TOO_MANY_EVENTS: Code = Code("LU-E0432");
/// An event with globals that a run names and that there is not.
pub const ROOT: Code = Code("LU-E0441");
/// A construct that elaboration does not support.
pub const UNSUPPORTED: Code = Code("LU-E0499");

/// An access with a constant index beyond the end of the array.
pub const BEYOND_END: Code = Code("LU-W0401");
/// A value for a symbolic that the program does not have.
pub const UNKNOWN_SYMBOLIC: Code = Code("LU-W0402");

/// What `plane explain` says about each.
pub const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: MISSING_SYMBOLIC,
        title: "symbolics without a value",
        text: "`symbolic size` and `symbolic int` leave a value open that has to be given \
               before the program runs: in a file of symbolics, `{\"sizes\": {\"n\": 4}, \
               \"symbolics\": {\"limit\": 100}}`, or in the specification of a run. The message \
               names all that are missing.",
        wrong: r#"symbolic int limit;
event over(int x) { if (x > limit) { printf("over"); } }
"#,
        right: r#"const int limit = 100;
event over(int x) { if (x > limit) { printf("over"); } }
"#,
    },
    Explanation {
        code: SYMBOLIC_VALUE,
        title: "a symbolic's value that it cannot have",
        text: "The value given for a symbolic has to fit its width; a boolean is `true` or \
               `false` (or 1 or 0).",
        wrong: "",
        right: "",
    },
    Explanation {
        code: WIDTH,
        title: "an integer of no bits or of more than 128",
        text: "Integers have 1 to 128 bits. Widths can come from sizes, symbolics and \
               concatenations, so this is found once these are known.",
        wrong: r#"event join(int<100> a, int<100> b) { printf("%d", a ^ b); }
"#,
        right: r#"event join(int<64> a, int<64> b) { printf("%d", a ^ b); }
"#,
    },
    Explanation {
        code: LENGTH,
        title: "an array or table of impossible length",
        text: "Arrays have 1 to 2^28 cells, tables room for 1 to 2^28 entries.",
        wrong: r#"const int slots = 0;
global Array.t<32> seen = Array.create(slots);
event go(int i) { Array.set(seen, i, 1); }
"#,
        right: r#"const int slots = 16;
global Array.t<32> seen = Array.create(slots);
event go(int i) { Array.set(seen, i, 1); }
"#,
    },
    Explanation {
        code: INDEX,
        title: "an index beyond a vector's end",
        text: "Vectors have a fixed number of elements, counted from 0. Most such mistakes are \
               found with types; this one is found when sizes are known.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: SLICE,
        title: "a slice that is not in its operand",
        text: "`x[7:0]` takes bits 7 to 0 of `x`, counted from the least significant one. Both \
               bounds have to be bits of `x`, the higher one first. In a function for all \
               widths this is found where it is called.",
        wrong: r#"fun int<4> top(int<'w> x) { return x[9:6]; }
event go(int<8> x) { printf("%d", top(x)); }
"#,
        right: r#"fun int<4> top(int<'w> x) { return x[9:6]; }
event go(int<16> x) { printf("%d", top(x)); }
"#,
    },
    Explanation {
        code: DOES_NOT_FIT,
        title: "a number that does not fit its width",
        text: "In a function for all widths a number takes the width of the call, and has to \
               fit there; so does the value of a loop variable as an integer.",
        wrong: r#"fun int<'w> raise(int<'w> x) { return x + 300; }
event go(int<8> x) { printf("%d", raise(x)); }
"#,
        right: r#"fun int<'w> raise(int<'w> x) { return x + 300; }
event go(int<16> x) { printf("%d", raise(x)); }
"#,
    },
    Explanation {
        code: TOO_MANY_PARTS,
        title: "a type of too many parts",
        text: "Records and vectors are taken apart into single values, as they are in a \
               packet's header. A value may have at most 65536 parts; state of more belongs in \
               an array.",
        wrong: r#"event go(int[1000][1000] x) { skip; }
"#,
        right: r#"event go(int[10][10] x) { skip; }
"#,
    },
    Explanation {
        code: NOT_KNOWN,
        title: "something that has to be known before the run",
        text: "Lengths of arrays, members of groups, conditions of module aliases and patterns \
               of parsers are fixed when the program is compiled. They may use numbers, sizes, \
               constants, symbolics and functions of these, but no externs and nothing that \
               depends on the switch.",
        wrong: r#"extern int slots;
global Array.t<32> seen = Array.create(slots);
event go(int i) { Array.set(seen, i, 1); }
"#,
        right: r#"const int slots = 16;
global Array.t<32> seen = Array.create(slots);
event go(int i) { Array.set(seen, i, 1); }
"#,
    },
    Explanation {
        code: EFFECT,
        title: "something that happens where only a value may be",
        text: "Constants and actions of tables are values: a function used there may not print, \
               access state, draw random numbers or generate events.",
        wrong: r#"fun int shown(int x) { printf("%d", x); return x; }
const int k = shown(3);
event go() { printf("%d", k); }
"#,
        right: r#"fun int next(int x) { return x + 1; }
const int k = next(3);
event go() { printf("%d", k); }
"#,
    },
    Explanation {
        code: MEMOP_IN_RUN,
        title: "a memop that depends on what happens in the run",
        text: "Which memop an access uses is part of the program that is put on the switch, so \
               it cannot be chosen by a value of the run.",
        wrong: r#"memop keep(int cell, int x) { return cell; }
memop take(int cell, int x) { return x; }
global Array.t<32> seen = Array.create(4);
event go(bool b) {
  auto op = keep;
  if (b) { op = take; }
  Array.setm(seen, 0, op, 1);
}
"#,
        right: r#"memop keep(int cell, int x) { return cell; }
memop take(int cell, int x) { return x; }
global Array.t<32> seen = Array.create(4);
event go(bool b) {
  if (b) { Array.setm(seen, 0, take, 1); } else { Array.setm(seen, 0, keep, 1); }
}
"#,
    },
    Explanation {
        code: UNLISTED_ACTION,
        title: "an entry with an action that the table does not list",
        text: "A table is made with the list of all actions that its entries may have.",
        wrong: r#"action int as_is(int v)() { return v; }
action int more(int v)() { return v + 1; }
global Table.t<<int, int, (), int>> ports = Table.create(4, [as_is], as_is, 0);
event learn(int k, int v) { Table.install(ports, k, more, v); }
"#,
        right: r#"action int as_is(int v)() { return v; }
action int more(int v)() { return v + 1; }
global Table.t<<int, int, (), int>> ports = Table.create(4, [as_is; more], as_is, 0);
event learn(int k, int v) { Table.install(ports, k, more, v); }
"#,
    },
    Explanation {
        code: ACTION_BODY,
        title: "an action that does more than return a value",
        text: "The action of the entry that matches gives the result of the lookup: one \
               expression of what was installed and what the lookup hands over. What needs a \
               decision belongs after the lookup.",
        wrong: r#"action int pick(int v)(int x) { if (x == 0) { return v; } return x; }
global Table.t<<int, int, int, int>> t = Table.create(4, [pick], pick, 0);
event go(int k) { printf("%d", Table.lookup(t, k, k)); }
"#,
        right: r#"action int pick(int v)(int x) { return v; }
global Table.t<<int, int, int, int>> t = Table.create(4, [pick], pick, 0);
event go(int k) {
  int found = Table.lookup(t, k, k);
  if (k != 0) { found = k; }
  printf("%d", found);
}
"#,
    },
    Explanation {
        code: PARSER_EXPRESSION,
        title: "something that a parser cannot do",
        text: "A parser reads bits, assigns, and decides with a `match` at the end of a block. \
               It has no state and prints nothing; functions used in it may only compute.",
        wrong: r#"packet event seen(int x) { skip; }
fun int cut(int x) { if (x > 9) { return 9; } return x; }
parser main(bitstring pkt) { int x = read(pkt); generate seen(cut(x)); }
"#,
        right: r#"fun int cut(int x) { if (x > 9) { return 9; } return x; }
packet event seen(int x) { printf("%d", cut(x)); }
parser main(bitstring pkt) { int x = read(pkt); generate seen(x); }
"#,
    },
    Explanation {
        code: OPERAND,
        title: "a value that cannot be used like this",
        text: "Hashes take integers, booleans, and records and vectors of these; keys of tables \
               and `match` take integers and booleans; externs hold integers, booleans and \
               groups.",
        wrong: r#"event go() { printf("%d", hash<8>(1, {1, 2})); }
"#,
        right: r#"event go() { printf("%d", hash<8>(1, [1; 2])); }
"#,
    },
    Explanation {
        code: TOO_MANY_STATEMENTS,
        title: "a handler of too many statements",
        text: "Functions are inlined and loops unrolled, as a pipeline has neither. A handler \
               may become at most 200000 statements, a program 2000000.",
        wrong: r#"event go(int x) { for (i < 10000) { for (j < 10000) { x = x + 1; } } }
"#,
        right: r#"event go(int x) { x = x + 1; if (x < 100000) { generate go(x); } }
"#,
    },
    Explanation {
        code: TOO_DEEP,
        title: "calls or decisions nested too deep",
        text: "Functions and constructors are evaluated where they are called. Calls nest at \
               most 100 deep, blocks 256 deep once functions are inlined, and an expression that \
               is computed before the run has at most 2000 operators and operands.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: TOO_MANY_EVENTS,
        title: "too many events",
        text: "An event with globals has a copy for each choice of globals it is generated \
               with. All copies together may be at most 20000.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: ROOT,
        title: "an event with globals that there is not",
        text: "The specification of a run may name an event with the globals it is for. The \
               event has to be there, take globals in that number, and they have to be of the \
               types it takes.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: UNSUPPORTED,
        title: "what elaboration does not know",
        text: "The checks in front let something through that elaboration has no meaning for. \
               This is a mistake of this tool; please report it with the program.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: BEYOND_END,
        title: "an access with a constant index beyond the end of the array",
        text: "An array of n cells has the indexes 0 to n - 1. In a run an access beyond the end reads 0, writes \
               nothing and is counted as `out of range`; hardware may do something else.",
        wrong: r#"global Array.t<32> a = Array.create(4);
event go(int x) { Array.set(a, 4, x); }
"#,
        right: r#"global Array.t<32> a = Array.create(4);
event go(int x) { Array.set(a, 3, x); }
"#,
    },
    Explanation {
        code: UNKNOWN_SYMBOLIC,
        title: "a value for a symbolic that the program does not have",
        text: "`sizes` gives values to each `symbolic size`, `symbolics` to each other `symbolic` of the program; \
               a name that no symbolic has is ignored. Sizes and constants with a value in the program are not \
               replaced.",
        wrong: "",
        right: "",
    },
];
