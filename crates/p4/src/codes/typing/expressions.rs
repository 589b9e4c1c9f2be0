// SPDX-License-Identifier: Apache-2.0
//! Explanations of the codes about expressions, their constants and the values they read.

use super::explain;
use source::Explanation;

/// The explanations that `plane explain` prints.
pub static EXPLANATIONS: &[Explanation] = &[
    explain(
        super::INVALID_OPERAND,
        "an operator on a type it is not defined for",
        "Arithmetic and bitwise operators take numbers, `!`, `&&` and `||` take `bool`, and new types \
         made by `type` take no operator but comparison until they are cast (P4_16 v1.2.5 §8.5 to \
         §8.10).",
        "void f(inout bool a) { a = ~a; }\n",
        "void f(inout bool a) { a = !a; }\n",
    ),
    explain(
        super::OPERANDS_DIFFER,
        "operands of different types",
        "Both operands have the same type; only a number without width takes the type of the other \
         side. P4 never widens by itself (P4_16 v1.2.5 §8.12.3).",
        "void f(in bit<8> a, inout bit<16> b) { b = b + a; }\n",
        "void f(in bit<8> a, inout bit<16> b) { b = b + (bit<16>) a; }\n",
    ),
    explain(
        super::NOT_CONSTANT,
        "a value that has to be known at compile time",
        "Widths, sizes, slices, constants, constructor arguments, labels and entries are fixed before \
         the first packet: by literals, constants, constructor parameters and expressions of these \
         (P4_16 v1.2.5 §18.1).",
        "void f(in bit<8> a) { const bit<8> b = a; }\n",
        "void f(in bit<8> a) { bit<8> b = a; }\n",
    ),
    explain(
        super::INVALID_DIVISION,
        "a division that is not defined",
        "Division and modulo are not defined by zero and for negative numbers (P4_16 v1.2.5 §8.9).",
        "const int a = 1 / 0;\n",
        "const int a = 1 / 2;\n",
    ),
    explain(
        super::INVALID_SHIFT,
        "a shift by an invalid amount",
        "The amount is an unsigned number or a constant that is not negative; a number without width is \
         shifted by constants only (P4_16 v1.2.5 §8.10.2).",
        "void f(inout bit<8> a) { a = a << -1; }\n",
        "void f(inout bit<8> a) { a = a >> 1; }\n",
    ),
    explain(
        super::INVALID_SLICE,
        "a slice outside of its base",
        "`x[high:low]` counts bits from 0 at the right, with `high` not below `low` and both inside of \
         `x`, which is `bit<W>` or `int<W>` (P4_16 v1.2.5 §8.7).",
        "void f(in bit<8> a, out bit<4> b) { b = a[8:5]; }\n",
        "void f(in bit<8> a, out bit<4> b) { b = a[7:4]; }\n",
    ),
    explain(
        super::INVALID_CAST,
        "a cast that does not exist",
        "Casts change the width or the sign of a number, one at a time; go between `bool` and `bit<1>`, \
         between an enum or new type and the type beneath it, and give lists their type (P4_16 v1.2.5 \
         §8.12.1).",
        "void f(in bit<8> a, out int<16> b) { b = (int<16>) a; }\n",
        "void f(in bit<8> a, out int<16> b) { b = (int<16>) (int<8>) a; }\n",
    ),
    explain(
        super::INVALID_INDEX,
        "an index outside of its base",
        "Arrays and header stacks have elements from 0 to their size less one, tuples likewise; other \
         values have no elements (P4_16 v1.2.5 §8.13, §8.19).",
        "header H { bit<8> a; }\nvoid f(inout H[2] h) { h[2].a = 1; }\n",
        "header H { bit<8> a; }\nvoid f(inout H[2] h) { h[1].a = 1; }\n",
    ),
    explain(
        super::NOT_AN_L_VALUE,
        "an assignment to something that cannot be written",
        "Variables, `out` and `inout` parameters, and their fields, elements and slices can be written. \
         Constants, `in` parameters and parameters without direction cannot (P4_16 v1.2.5 §6.7, §6.8).",
        "void f(in bit<8> a) { a = 1; }\n",
        "void f(inout bit<8> a) { a = 1; }\n",
    ),
    explain(
        super::CONDITION_NOT_BOOL,
        "a condition that is not `bool`",
        "P4 does not take numbers for conditions: compare them (P4_16 v1.2.5 §8.5, §12.6).",
        "void f(inout bit<8> a) { if (a) { a = 0; } }\n",
        "void f(inout bit<8> a) { if (a != 0) { a = 0; } }\n",
    ),
    explain(
        super::INVALID_FIELDS,
        "fields missing, unknown or given twice",
        "`{ ... }` gives each field of a struct or header a value: all in order, or each by its name. \
         The last element `...` gives the others their defaults (P4_16 v1.2.5 §8.14, §8.28).",
        "struct S { bit<8> a; bit<8> b; }\nconst S s = { a = 1 };\n",
        "struct S { bit<8> a; bit<8> b; }\nconst S s = { a = 1, ... };\n",
    ),
    explain(
        super::MISPLACED_FORM,
        "a form that may not stand here",
        "`default`, masks and ranges stand in keysets, `_` in keysets and for `out` arguments, `...` at the \
         end of lists, `this` in object initializers.",
        "extern void g(in bit<8> x);\ncontrol c() { apply { g(_); } }\n",
        "extern void g(out bit<8> x);\ncontrol c() { apply { g(_); } }\n",
    ),
    explain(
        super::NUMBER_TOO_LARGE,
        "a number too large to compute",
        "Compile-time integers are unbounded in the language, but Planewright computes them only up to a documented size.",
        "const int a = 1 << 1000000;\n",
        "const int a = 1 << 100;\n",
    ),
    explain(
        super::STACK_CURSOR_OUTSIDE_PARSER,
        "`next`, `last` or `lastIndex` outside of a parser",
        "They follow the extraction of a header stack, so only parsers have them (P4_16 v1.2.5 §8.20).",
        "header H { bit<8> a; }\ncontrol c(inout H[2] h) { apply { h.last.setInvalid(); } }\n",
        "header H { bit<8> a; }\ncontrol c(inout H[2] h) { apply { h[1].setInvalid(); } }\n",
    ),
    explain(
        super::VALUE_TRUNCATED,
        "a number that does not fit its type",
        "The number takes the type of the place where it stands and loses its upper bits (P4_16 v1.2.5 \
         §8.12.2).",
        "const bit<4> a = 20;\n",
        "const bit<5> a = 20;\n",
    ),
    explain(
        super::CONSTANT_COMPARISON,
        "a comparison with only one outcome",
        "The type's range decides the comparison whatever the value is; an unsigned number is never \
         below 0.",
        "void f(inout bit<8> a) { if (a < 0) { a = 1; } }\n",
        "void f(inout bit<8> a) { if (a < 1) { a = 1; } }\n",
    ),
    explain(
        super::SHIFT_TOO_FAR,
        "a shift by the whole width or more",
        "No bit of the value is left: the result is 0, or all sign bits (P4_16 v1.2.5 §8.10.2).",
        "void f(inout bit<8> a) { a = a << 8; }\n",
        "void f(inout bit<8> a) { a = a << 7; }\n",
    ),
    explain(
        super::UNINITIALIZED_READ,
        "a variable read before it is written",
        "No path to this place writes the variable or `out` parameter, so its value is undefined (P4_16 \
         v1.2.5 §8.27).",
        "void f(out bit<8> a) {\n    bit<8> x;\n    a = x;\n}\n",
        "void f(out bit<8> a) {\n    bit<8> x = 1;\n    a = x;\n}\n",
    ),
    explain(
        super::OUT_NOT_WRITTEN,
        "an `out` parameter that is never written",
        "The caller gets an undefined value. Write the parameter, or give it the direction `in` or \
         `inout` (P4_16 v1.2.5 §6.8).",
        "void f(out bit<8> a) { }\n",
        "void f(out bit<8> a) { a = 0; }\n",
    ),
    explain(
        super::INVALID_HEADER_READ,
        "a field of a header that is not valid",
        "No path to this place makes the header valid: no path extracts it, assigns it or sets it valid, in \
         this block or in those that the package runs before it. The fields of an invalid header have no \
         defined value, and writes of them are lost (P4_16 v1.2.5 §8.18, §8.27).",
        "header H { bit<8> a; }\nvoid f(inout H h, out bit<8> x) {\n    h.setInvalid();\n    x = h.a;\n}\n",
        "header H { bit<8> a; }\nvoid f(inout H h, out bit<8> x) {\n    x = h.a;\n    h.setInvalid();\n}\n",
    ),
    explain(
        super::MAYBE_UNINITIALIZED_READ,
        "a variable that has no value on some path",
        "Some paths to this place write the variable or `out` parameter, and others do not; on those its \
         value is undefined (P4_16 v1.2.5 §8.27). Give it a value where it is declared, or write it on \
         the path that the message names. Paths differ in the outcomes of conditions, the actions of \
         tables, the cases of a `switch` and the parser states; a path whose conditions contradict each other does not count.",
        "void f(in bool b, out bit<8> a) {\n    bit<8> x;\n    if (b) { x = 1; }\n    a = x;\n}\n",
        "void f(in bool b, out bit<8> a) {\n    bit<8> x = 0;\n    if (b) { x = 1; }\n    a = x;\n}\n",
    ),
    explain(
        super::OUT_NOT_ALWAYS_WRITTEN,
        "an `out` parameter that some path does not write",
        "On the path that the message names the caller gets an undefined value (P4_16 v1.2.5 §6.8, §8.27). \
         Write the parameter there, or at the beginning.",
        "void f(in bool b, out bit<8> a) {\n    if (b) { a = 1; }\n}\n",
        "void f(in bool b, out bit<8> a) {\n    a = 0;\n    if (b) { a = 1; }\n}\n",
    ),
];
