// SPDX-License-Identifier: Apache-2.0
//! Codes of errors and warnings about the meaning, `DO-E01xx` and `DO-W00xx`, with their explanations.

use source::{Code, Explanation};

/// A name that is not declared.
pub const UNDECLARED: Code = Code("DO-E0101");
/// A name that is declared twice.
pub const DUPLICATE: Code = Code("DO-E0102");
/// A call of a function that is not defined before.
pub const UNKNOWN_FUNCTION: Code = Code("DO-E0103");
/// Another number of arguments than the function has parameters.
pub const ARGUMENT_COUNT: Code = Code("DO-E0104");
/// A function that calls itself, or a call of the packet function.
pub const RECURSION: Code = Code("DO-E0105");
/// No packet function, or one that is not `void` with the packet as its parameter.
pub const PACKET_FUNCTION: Code = Code("DO-E0106");
/// Two packet functions.
pub const SECOND_PACKET_FUNCTION: Code = Code("DO-E0107");
/// No struct for the packet, a second struct, or one without fields.
pub const PACKET_STRUCT: Code = Code("DO-E0108");
/// A field that the packet does not have.
pub const UNKNOWN_FIELD: Code = Code("DO-E0109");
/// An array without an index.
pub const ARRAY_AS_SCALAR: Code = Code("DO-E0110");
/// An index behind something that is no array.
pub const NOT_AN_ARRAY: Code = Code("DO-E0111");
/// An assignment to what is no variable.
pub const NOT_ASSIGNABLE: Code = Code("DO-E0112");
/// A size or first value that is no constant.
pub const NOT_CONSTANT: Code = Code("DO-E0113");
/// A constant that divides by 0.
pub const CONSTANT_DIVISION: Code = Code("DO-E0114");
/// An array without a possible size.
pub const ARRAY_SIZE: Code = Code("DO-E0115");
/// More first values than cells.
pub const TOO_MANY_INITIALIZERS: Code = Code("DO-E0116");
/// A `return` or call that does not fit the function's type.
pub const RETURN: Code = Code("DO-E0117");
/// A program that grows too large.
pub const PROGRAM_TOO_LARGE: Code = Code("DO-E0118");
/// The whole packet as a value.
pub const PACKET_AS_VALUE: Code = Code("DO-E0119");
/// An index that is always outside of its array.
pub const OUTSIDE_ARRAY: Code = Code("DO-W0001");
/// A division that is always by 0.
pub const DIVISION_BY_ZERO: Code = Code("DO-W0002");
/// A shift by 32 bits or more.
pub const SHIFT_COUNT: Code = Code("DO-W0003");
/// A loop in the packet function.
pub const LOOP_IN_PACKET_FUNCTION: Code = Code("DO-E0120");

/// An array that is accessed by two indices, in a program for a pipeline of atoms.
pub const SECOND_INDEX: Code = Code("DO-E0121");
/// A codelet that no atom can be asked about.
pub const NOT_FOR_ATOMS: Code = Code("DO-W0004");

/// One for each code.
pub const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: UNDECLARED,
        title: "a name that is not declared",
        text: "Fields are written with the packet's name, as in `p.port`. Globals and locals are declared before they are used.",
        wrong: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { p.a = count; }\n",
        right: "struct Packet { int a; int b; };\nint count;\nvoid func(struct Packet p) { p.a = count; }\n",
    },
    Explanation {
        code: DUPLICATE,
        title: "a name that is declared twice",
        text: "A name has one meaning in a scope. An inner block may declare it anew.",
        wrong: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { int x = 1; int x = 2; }\n",
        right: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { int x = 1; int y = 2; }\n",
    },
    Explanation {
        code: UNKNOWN_FUNCTION,
        title: "a call of a function that is not defined before",
        text: "A function is defined, with its body, before the functions that call it. The hashes `hash2`, `hash2a`, `hash2b`, `hash2c` and `hash3` need `#include \"hashes.h\"`.",
        wrong: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { p.a = hash2(p.a, p.b); }\n",
        right: "#include \"hashes.h\"\nstruct Packet { int a; int b; };\nvoid func(struct Packet p) { p.a = hash2(p.a, p.b); }\n",
    },
    Explanation {
        code: ARGUMENT_COUNT,
        title: "another number of arguments than the function has parameters",
        text: "A call gives one argument for each parameter.",
        wrong: "struct Packet { int a; int b; };\nint twice(int x) { return x + x; }\nvoid func(struct Packet p) { p.a = twice(p.a, p.b); }\n",
        right: "struct Packet { int a; int b; };\nint twice(int x) { return x + x; }\nvoid func(struct Packet p) { p.a = twice(p.a); }\n",
    },
    Explanation {
        code: RECURSION,
        title: "a function that calls itself, or a call of the packet function",
        text: "The compiler puts the body of a helper in the place of its call, so functions call only earlier ones. The packet function runs once for each packet.",
        wrong: "struct Packet { int a; int b; };\nint sum(int n) { if (n) return n + sum(n - 1); return 0; }\nvoid func(struct Packet p) { p.a = sum(3); }\n",
        right: "struct Packet { int a; int b; };\nint sum(int n) { int s = 0; for (int i = 1; i <= 3; i++) s += i; return s; }\nvoid func(struct Packet p) { p.a = sum(3); }\n",
    },
    Explanation {
        code: PACKET_FUNCTION,
        title: "no packet function, or one that is not `void` with the packet as its parameter",
        text: "A program has one function with the packet as its only parameter, by value: `void func(struct Packet p)`.",
        wrong: "struct Packet { int a; int b; };\nint func(struct Packet p) { return 0; }\n",
        right: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { }\n",
    },
    Explanation {
        code: SECOND_PACKET_FUNCTION,
        title: "two packet functions",
        text: "One function runs for each packet. Helpers take the values that they need as parameters.",
        wrong: "struct Packet { int a; int b; };\nvoid f(struct Packet p) { p.a = 1; }\nvoid g(struct Packet p) { p.b = 1; }\n",
        right: "struct Packet { int a; int b; };\nvoid f(struct Packet p) { p.a = 1; p.b = 1; }\n",
    },
    Explanation {
        code: PACKET_STRUCT,
        title: "no struct for the packet, a second struct, or one without fields",
        text: "A program has one struct. Its members are the packet's fields.",
        wrong: "struct Packet { int a; };\nstruct Flow { int b; };\nvoid func(struct Packet p) { }\n",
        right: "struct Packet { int a; };\nvoid func(struct Packet p) { }\n",
    },
    Explanation {
        code: UNKNOWN_FIELD,
        title: "a field that the packet does not have",
        text: "The struct declares the packet's fields.",
        wrong: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { p.c = 1; }\n",
        right: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { p.b = 1; }\n",
    },
    Explanation {
        code: ARRAY_AS_SCALAR,
        title: "an array without an index",
        text: "An array has no value; its cells have one.",
        wrong: "struct Packet { int a; int b; };\nint s[4];\nvoid func(struct Packet p) { p.a = s; }\n",
        right: "struct Packet { int a; int b; };\nint s[4];\nvoid func(struct Packet p) { p.a = s[0]; }\n",
    },
    Explanation {
        code: NOT_AN_ARRAY,
        title: "an index behind something that is no array",
        text: "Only globals that are declared with a size have cells.",
        wrong: "struct Packet { int a; int b; };\nint s;\nvoid func(struct Packet p) { p.a = s[0]; }\n",
        right: "struct Packet { int a; int b; };\nint s;\nvoid func(struct Packet p) { p.a = s; }\n",
    },
    Explanation {
        code: NOT_ASSIGNABLE,
        title: "an assignment to what is no variable",
        text: "Fields, locals, scalars and cells of arrays can be assigned to, and only they have `++` and `--`.",
        wrong: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { p.a + 1 = p.b; }\n",
        right: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { p.b = p.a + 1; }\n",
    },
    Explanation {
        code: NOT_CONSTANT,
        title: "a size or first value that is no constant",
        text: "Sizes and first values are computed from numbers before the program runs.",
        wrong: "struct Packet { int a; int b; };\nint size = 4;\nint s[size];\nvoid func(struct Packet p) { }\n",
        right: "#define SIZE 4\nstruct Packet { int a; int b; };\nint s[SIZE];\nvoid func(struct Packet p) { }\n",
    },
    Explanation {
        code: CONSTANT_DIVISION,
        title: "a constant that divides by 0",
        text: "A division by 0 while the program runs gives 0. In a size or first value it is a mistake.",
        wrong: "struct Packet { int a; int b; };\nint s = 1 / 0;\nvoid func(struct Packet p) { }\n",
        right: "struct Packet { int a; int b; };\nint s = 1 / 1;\nvoid func(struct Packet p) { }\n",
    },
    Explanation {
        code: ARRAY_SIZE,
        title: "an array without a possible size",
        text: "An array has at least one cell. All globals together have at most 67,108,864.",
        wrong: "struct Packet { int a; int b; };\nint s[0];\nvoid func(struct Packet p) { }\n",
        right: "struct Packet { int a; int b; };\nint s[1];\nvoid func(struct Packet p) { }\n",
    },
    Explanation {
        code: TOO_MANY_INITIALIZERS,
        title: "more first values than cells",
        text: "An array takes at most one first value for each cell, a scalar one.",
        wrong: "struct Packet { int a; int b; };\nint s[2] = {1, 2, 3};\nvoid func(struct Packet p) { }\n",
        right: "struct Packet { int a; int b; };\nint s[3] = {1, 2, 3};\nvoid func(struct Packet p) { }\n",
    },
    Explanation {
        code: RETURN,
        title: "a `return` or call that does not fit the function's type",
        text: "A function of type `int` or `unsigned` returns a value, a `void` function does not and has no value.",
        wrong: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { return 1; }\n",
        right: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { return; }\n",
    },
    Explanation {
        code: PROGRAM_TOO_LARGE,
        title: "a program that grows too large",
        text: "The compiler unrolls loops and puts helpers in the place of their calls. The result has at most 100,000 statements.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: PACKET_AS_VALUE,
        title: "the whole packet as a value",
        text: "The packet has no value of its own; its fields have one. Helpers take fields as `int` parameters.",
        wrong: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { p.a = p; }\n",
        right: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { p.a = p.b; }\n",
    },
    Explanation {
        code: LOOP_IN_PACKET_FUNCTION,
        title: "a loop in the packet function",
        text: "The packet function has no loops, because a stage of a pipeline does its work once. A helper may have loops with a constant bound, which the compiler unrolls.",
        wrong: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { for (int i = 0; i < 4; i++) p.a += i; }\n",
        right: "struct Packet { int a; int b; };\nint sum() { int s = 0; for (int i = 0; i < 4; i++) s += i; return s; }\nvoid func(struct Packet p) { p.a += sum(); }\n",
    },
    Explanation {
        code: SECOND_INDEX,
        title: "an array that is accessed by two indices",
        text: "A stage of Banzai reads and writes one cell of an array for each packet. Programs that access two cells run, and are compiled to P4_16, but have no codelets.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: OUTSIDE_ARRAY,
        title: "an index that is always outside of its array",
        text: "A cell outside of an array reads 0 and keeps nothing that is assigned to it.",
        wrong: "struct Packet { int a; int b; };\nint s[4];\nvoid func(struct Packet p) { s[4] = p.a; }\n",
        right: "struct Packet { int a; int b; };\nint s[4];\nvoid func(struct Packet p) { s[3] = p.a; }\n",
    },
    Explanation {
        code: DIVISION_BY_ZERO,
        title: "a division that is always by 0",
        text: "`x / 0` and `x % 0` give 0.",
        wrong: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { p.a = p.b / 0; }\n",
        right: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { p.a = p.b / 2; }\n",
    },
    Explanation {
        code: SHIFT_COUNT,
        title: "a shift by 32 bits or more",
        text: "A shift count is read as 32 unsigned bits. From 32 on the result is 0, or the sign for a right shift of an `int`.",
        wrong: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { p.a = p.b << 32; }\n",
        right: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { p.a = p.b << 31; }\n",
    },
    Explanation {
        code: NOT_FOR_ATOMS,
        title: "a codelet that no atom can be asked about",
        text: "`plane atoms` states what a codelet does to its globals as an expression of operators. An index that depends on the codelet's own state has no such expression. An expression has at most 4096 parts.",
        wrong: "",
        right: "",
    },
];
