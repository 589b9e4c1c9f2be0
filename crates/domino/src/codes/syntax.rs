// SPDX-License-Identifier: Apache-2.0
//! Codes of errors in the syntax, `DO-E00xx`, with their explanations.

use source::{Code, Explanation};

/// Another token than the grammar requires.
pub const UNEXPECTED_TOKEN: Code = Code("DO-E0001");
/// A statement or declaration without its `;`.
pub const MISSING_SEMICOLON: Code = Code("DO-E0002");
/// A parenthesis, bracket or brace that is not closed.
pub const UNCLOSED_DELIMITER: Code = Code("DO-E0003");
/// A reserved word of C as a name.
pub const RESERVED_WORD: Code = Code("DO-E0004");
/// Statements or expressions nest too deeply.
pub const NESTED_TOO_DEEPLY: Code = Code("DO-E0005");
/// Too many syntax errors to report them all.
pub const TOO_MANY_ERRORS: Code = Code("DO-E0006");
/// Text that is no token of C.
pub const UNKNOWN_CHARACTER: Code = Code("DO-E0007");
/// A number that cannot be read.
pub const MALFORMED_NUMBER: Code = Code("DO-E0008");
/// A number that does not fit.
pub const NUMBER_TOO_LARGE: Code = Code("DO-E0009");
/// A type that Domino does not have.
pub const UNSUPPORTED_TYPE: Code = Code("DO-E0010");
/// A pointer.
pub const POINTER: Code = Code("DO-E0011");
/// A statement that Domino does not have.
pub const UNSUPPORTED_STATEMENT: Code = Code("DO-E0012");
/// A loop without a constant bound.
pub const LOOP_BOUND: Code = Code("DO-E0013");
/// An expression that Domino does not have.
pub const UNSUPPORTED_EXPRESSION: Code = Code("DO-E0014");
/// A qualifier that Domino does not have.
pub const QUALIFIER: Code = Code("DO-E0015");
/// A designator in an initialiser.
pub const DESIGNATOR: Code = Code("DO-E0016");
/// The formatter would change the program.
pub const FORMATTER: Code = Code("DO-E0017");

/// One for each code.
pub const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: UNEXPECTED_TOKEN,
        title: "another token than the grammar requires",
        text: "A program is a struct, globals and functions, in the grammar of C. The message names what belongs at the place.",
        wrong: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { p.a = ; }\n",
        right: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { p.a = 1; }\n",
    },
    Explanation {
        code: MISSING_SEMICOLON,
        title: "a statement or declaration without its `;`",
        text: "Statements, declarations and the struct end with `;`.",
        wrong: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { p.a = 1\n p.b = 2; }\n",
        right: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { p.a = 1;\n p.b = 2; }\n",
    },
    Explanation {
        code: UNCLOSED_DELIMITER,
        title: "a parenthesis, bracket or brace that is not closed",
        text: "Each `(`, `[` and `{` needs its closing counterpart.",
        wrong: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { p.a = (p.b + 1; }\n",
        right: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { p.a = (p.b + 1); }\n",
    },
    Explanation {
        code: RESERVED_WORD,
        title: "a reserved word of C as a name",
        text: "The words of C are reserved, also those without a meaning in Domino.",
        wrong: "struct Packet { int register; };\nvoid func(struct Packet p) { }\n",
        right: "struct Packet { int index; };\nvoid func(struct Packet p) { }\n",
    },
    Explanation {
        code: NESTED_TOO_DEEPLY,
        title: "statements or expressions nest too deeply",
        text: "Statements and parentheses nest up to 200 levels together, and one expression has at most 200 operators in a row.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: TOO_MANY_ERRORS,
        title: "too many syntax errors to report them all",
        text: "After a hundred syntax errors the others are only counted. The file is probably no Domino program, or one mistake near its beginning makes the rest unreadable.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: UNKNOWN_CHARACTER,
        title: "text that is no token of C",
        text: "Programs consist of names, numbers and the operators of C.",
        wrong: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { p.a = 5 $ 3; }\n",
        right: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { p.a = 5 + 3; }\n",
    },
    Explanation {
        code: MALFORMED_NUMBER,
        title: "a number that cannot be read",
        text: "Numbers are decimal (`10`), hexadecimal (`0xa`), binary (`0b1010`) or octal (`012`). `u` behind a number makes it `unsigned`. There are no fractions.",
        wrong: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { p.a = 0xfg; }\n",
        right: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { p.a = 0xff; }\n",
    },
    Explanation {
        code: NUMBER_TOO_LARGE,
        title: "a number that does not fit",
        text: "Values have 32 bits. Decimal numbers are `int`, so the largest is 2147483647; 2147483648 is accepted behind a minus sign. Hexadecimal and octal numbers over it, and numbers with `u`, are `unsigned`.",
        wrong: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { p.a = 3000000000; }\n",
        right: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { p.a = 3000000000u; }\n",
    },
    Explanation {
        code: UNSUPPORTED_TYPE,
        title: "a type that Domino does not have",
        text: "Values are `int` or `unsigned`, of 32 bits. Globals are scalars or arrays of one dimension; fields and locals are scalars.",
        wrong: "struct Packet { char a; };\nvoid func(struct Packet p) { }\n",
        right: "struct Packet { int a; };\nvoid func(struct Packet p) { }\n",
    },
    Explanation {
        code: POINTER,
        title: "a pointer",
        text: "Domino has no pointers, because no operation of a pipeline stage follows an address. Arrays are read and written by an index.",
        wrong: "struct Packet { int a; int b; };\nint *s;\nvoid func(struct Packet p) { }\n",
        right: "struct Packet { int a; int b; };\nint s[8];\nvoid func(struct Packet p) { }\n",
    },
    Explanation {
        code: UNSUPPORTED_STATEMENT,
        title: "a statement that Domino does not have",
        text: "Functions consist of expressions, declarations, `if`, `return` and, in helpers, `for`.",
        wrong: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { switch (p.a) { } }\n",
        right: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { if (p.a == 1) { p.b = 2; } }\n",
    },
    Explanation {
        code: LOOP_BOUND,
        title: "a loop without a constant bound",
        text: "The compiler unrolls loops, so the number of turns must follow from the program's text: a local counts from a constant, is compared with a constant, and steps by a constant. At most 4,096 turns are unrolled.",
        wrong: "struct Packet { int a; int b; };\nint ones(int n) { int c = 0; for (int i = 0; i < n; i++) c += i; return c; }\nvoid func(struct Packet p) { p.b = ones(p.a); }\n",
        right: "struct Packet { int a; int b; };\nint ones(int n) { int c = 0; for (int i = 0; i < 8; i++) c += n; return c; }\nvoid func(struct Packet p) { p.b = ones(p.a); }\n",
    },
    Explanation {
        code: UNSUPPORTED_EXPRESSION,
        title: "an expression that Domino does not have",
        text: "There are no casts, comma operators, `sizeof`, strings and character constants.",
        wrong: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { p.a = (unsigned) p.b; }\n",
        right: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { unsigned u = p.b; p.a = u; }\n",
    },
    Explanation {
        code: QUALIFIER,
        title: "a qualifier that Domino does not have",
        text: "`const`, `static`, `volatile` and the like are not part of Domino. A global that no statement writes is read-only without them.",
        wrong: "struct Packet { int a; int b; };\nvoid func(struct Packet p) { const int limit = 5; p.a = limit; }\n",
        right: "#define LIMIT 5\nstruct Packet { int a; int b; };\nvoid func(struct Packet p) { p.a = LIMIT; }\n",
    },
    Explanation {
        code: DESIGNATOR,
        title: "a designator in an initialiser",
        text: "The values of an initialiser are those of cell 0, cell 1 and so on. The cells behind them are 0.",
        wrong: "struct Packet { int a; int b; };\nint s[4] = {[2] = 7};\nvoid func(struct Packet p) { }\n",
        right: "struct Packet { int a; int b; };\nint s[4] = {0, 0, 7};\nvoid func(struct Packet p) { }\n",
    },
    Explanation {
        code: FORMATTER,
        title: "the formatter would change the program",
        text: "The formatter compares the tokens before and after. This is a mistake of the formatter; the file is left as it is.",
        wrong: "",
        right: "",
    },
];
