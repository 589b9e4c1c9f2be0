// SPDX-License-Identifier: Apache-2.0
//! Codes of errors in a program's text, LU-E00xx and LU-W00xx, and their explanations.

use source::{Code, Explanation};

/// A character that is part of nothing.
pub const UNKNOWN_CHARACTER: Code = Code("LU-E0001");
/// A block comment without its end.
pub const UNTERMINATED_COMMENT: Code = Code("LU-E0002");
/// A string without its end.
pub const UNTERMINATED_STRING: Code = Code("LU-E0003");
/// A number that is none, or too large.
pub const MALFORMED_NUMBER: Code = Code("LU-E0004");
/// Too many errors.
pub const TOO_MANY_ERRORS: Code = Code("LU-E0005");
/// A comment of another language.
pub const FOREIGN_COMMENT: Code = Code("LU-E0006");
/// An included file that is not there.
pub const INCLUDE_NOT_FOUND: Code = Code("LU-E0007");
/// An included file that cannot be read.
pub const INCLUDE_UNREADABLE: Code = Code("LU-E0008");
/// Files that include each other.
pub const INCLUDE_CYCLE: Code = Code("LU-E0009");
/// Too many files, or too much text.
pub const INCLUDE_LIMIT: Code = Code("LU-E0010");
/// Another token than the grammar requires.
pub const UNEXPECTED_TOKEN: Code = Code("LU-E0011");
/// No `;`.
pub const MISSING_SEMICOLON: Code = Code("LU-E0012");
/// A brace, bracket or parenthesis that is not closed.
pub const UNCLOSED_DELIMITER: Code = Code("LU-E0013");
/// A `}` that closes nothing.
pub const STRAY_BRACE: Code = Code("LU-E0014");
/// A reserved word as a name.
pub const RESERVED_WORD: Code = Code("LU-E0015");
/// Too many levels.
pub const NESTED_TOO_DEEPLY: Code = Code("LU-E0016");
/// `+=`, `++`.
pub const COMPOUND_ASSIGNMENT: Code = Code("LU-E0017");
/// `* / % ?`.
pub const UNSUPPORTED_OPERATOR: Code = Code("LU-E0018");
/// `int x;`.
pub const LOCAL_WITHOUT_VALUE: Code = Code("LU-E0019");
/// `while`, `switch`, `for` as in C.
pub const UNSUPPORTED_STATEMENT: Code = Code("LU-E0020");
/// `return a, b;`.
pub const RETURNED_LIST: Code = Code("LU-E0021");
/// `if (x = 1)`.
pub const ASSIGNMENT_IN_CONDITION: Code = Code("LU-E0022");
/// A body without braces.
pub const BRACES_REQUIRED: Code = Code("LU-E0023");
/// `a < b < c`.
pub const CHAINED_COMPARISON: Code = Code("LU-E0024");
/// A declaration between statements.
pub const MISPLACED_DECLARATION: Code = Code("LU-E0025");
/// A statement between declarations.
pub const MISPLACED_STATEMENT: Code = Code("LU-E0026");
/// A value as a statement.
pub const EXPRESSION_AS_STATEMENT: Code = Code("LU-E0027");
/// A parser without an end, or with two.
pub const MISSING_PARSER_STEP: Code = Code("LU-E0028");
/// The formatter would change the program.
pub const FORMATTER_CHANGED_TOKENS: Code = Code("LU-E0029");
/// `a || b && c`.
pub const MIXED_OPERATORS: Code = Code("LU-W0001");
/// `@something`.
pub const UNKNOWN_PRAGMA: Code = Code("LU-W0002");

/// One for each code.
pub const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: UNKNOWN_CHARACTER,
        title: "a character that Lucid does not know",
        text: "Programs are made of names, numbers, strings and operators. Outside of \
               comments and strings nothing else may stand. There are no character literals; \
               write the character's number.",
        wrong: "event e();\nhandle e() { int x = 5$; }\n",
        right: "event e();\nhandle e() { int x = 5; }\n",
    },
    Explanation {
        code: UNTERMINATED_COMMENT,
        title: "a comment that is never closed",
        text: "A comment that begins with `/*` ends with `*/`. Comments nest: a `/*` inside \
               needs its own `*/`.",
        wrong: "event e();\n/* all about e\n",
        right: "event e();\n/* all about e */\n",
    },
    Explanation {
        code: UNTERMINATED_STRING,
        title: "a string that is not closed on its line",
        text: "A string ends with `\"` on the line it begins on.",
        wrong: "event e() { printf(\"got it); }\n",
        right: "event e() { printf(\"got it\"); }\n",
    },
    Explanation {
        code: MALFORMED_NUMBER,
        title: "a number that cannot be read",
        text: "Numbers are decimal (`10`), hexadecimal (`0xff`) or binary (`0b101`), and may \
               say their width in bits: `10w16`, in the paper's spelling `10<<16>>`. They fit \
               in 128 bits. A name does not begin with a digit.",
        wrong: "const int K = 0xfg;\n",
        right: "const int K = 0xff;\n",
    },
    Explanation {
        code: TOO_MANY_ERRORS,
        title: "too many errors to report them all",
        text: "After a hundred errors in one file the others are only counted. The file is \
               probably no Lucid program, or one mistake near its beginning makes the rest \
               unreadable.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: FOREIGN_COMMENT,
        title: "a comment of another language",
        text: "Comments are `// ...` and `/* ... */`. Some very old programs have those of \
               OCaml, `(* ... *)`.",
        wrong: "(* counts *)\nevent e();\n",
        right: "/* counts */\nevent e();\n",
    },
    Explanation {
        code: INCLUDE_NOT_FOUND,
        title: "an included file is not there",
        text: "The name of an included file is relative to the file that includes it.",
        wrong: "include \"missing.dpt\"\n",
        right: "event e();\n",
    },
    Explanation {
        code: INCLUDE_UNREADABLE,
        title: "an included file cannot be read",
        text: "The file exists, but reading it failed, or it is not UTF-8 text. The message \
               has the reason.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: INCLUDE_CYCLE,
        title: "a file that includes itself",
        text: "Files are included once, each before what follows its first `include`. A file \
               that includes itself, also through others, has no such order. Move what both \
               need into a file of its own.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: INCLUDE_LIMIT,
        title: "too many files or too much text",
        text: "A program has at most 1000 files and 64 MiB of text.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: UNEXPECTED_TOKEN,
        title: "something else is expected here",
        text: "The message says what could stand here. Where another language has a word or a \
               sign that Lucid does not, the help says what Lucid has instead.",
        wrong: "event (int x);\n",
        right: "event e(int x);\n",
    },
    Explanation {
        code: MISSING_SEMICOLON,
        title: "a missing `;`",
        text: "Statements and most declarations end with `;`. Blocks in braces do not.",
        wrong: "event e() { int x = 5 }\n",
        right: "event e() { int x = 5; }\n",
    },
    Explanation {
        code: UNCLOSED_DELIMITER,
        title: "a brace, bracket or parenthesis that is not closed",
        text: "The message shows what was opened. When the `}` of a block is missing, the \
               indentation of the lines may show which one; the message then shows that block \
               too.",
        wrong: "event e() {\n    if (true) {\n        skip;\n}\n",
        right: "event e() {\n    if (true) {\n        skip;\n    }\n}\n",
    },
    Explanation {
        code: STRAY_BRACE,
        title: "a `}` that closes nothing",
        text: "There are more `}` than `{` before this place. Perhaps a block ended earlier \
               than was meant.",
        wrong: "event e() { skip; } }\n",
        right: "event e() { skip; }\n",
    },
    Explanation {
        code: RESERVED_WORD,
        title: "a reserved word as a name",
        text: "Words that begin declarations, statements and types cannot be names: `include \
               true false if else int bool void event generate mgenerate generate_switch \
               generate_port generate_ports printf handle fun memop return size global const \
               extern symbolic hash auto group match with type constr constructor module for \
               size_to_int flood action parser bitstring`.",
        wrong: "event e(int match);\n",
        right: "event e(int matches);\n",
    },
    Explanation {
        code: NESTED_TOO_DEEPLY,
        title: "too many levels",
        text: "Blocks, parentheses and types nest at most 256 deep, together, and the tree of \
               an expression is at most 512 high. Move the inner part into a function or a \
               variable of its own; a long `else if` chain is better a `match`.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: COMPOUND_ASSIGNMENT,
        title: "`+=`, `++` and their relatives",
        text: "Lucid has one form of assignment, `x = e;`.",
        wrong: "event e(int x) { int y = x; y += 1; }\n",
        right: "event e(int x) { int y = x; y = y + 1; }\n",
    },
    Explanation {
        code: UNSUPPORTED_OPERATOR,
        title: "an operator that Lucid does not have",
        text: "Switches do not multiply or divide (Lucid §3): shift and mask by powers of two \
               instead. For `a ? b : c` use an `if`. Sizes have `+` only.",
        wrong: "event e(int x) { int y = x % 8; }\n",
        right: "event e(int x) { int y = x & 7; }\n",
    },
    Explanation {
        code: LOCAL_WITHOUT_VALUE,
        title: "a variable without a value",
        text: "A variable gets its value where it is declared.",
        wrong: "event e() { int x; }\n",
        right: "event e() { int x = 0; }\n",
    },
    Explanation {
        code: UNSUPPORTED_STATEMENT,
        title: "a statement that Lucid does not have",
        text: "A packet passes the switch once, so nothing loops while the program runs: a \
               handler generates an event to go on later (Lucid §3.1). `for (i < 4)` is \
               unrolled before. For `switch` use `match`.",
        wrong: "event e(int x) { while (x > 0) { skip; } }\n",
        right: "event e(int x) { if (x > 0) { generate e(x - 1); } }\n",
    },
    Explanation {
        code: RETURNED_LIST,
        title: "more than one value returned",
        text: "A function returns one value. Put several into a record.",
        wrong: "fun int f(int x) { return x, x; }\n",
        right: "type two = { int a; int b; }\nfun two f(int x) { return {a = x; b = x}; }\n",
    },
    Explanation {
        code: ASSIGNMENT_IN_CONDITION,
        title: "`=` where a comparison is meant",
        text: "`==` compares; `=` assigns, and only in statements.",
        wrong: "event e(int x) { if (x = 1) { skip; } }\n",
        right: "event e(int x) { if (x == 1) { skip; } }\n",
    },
    Explanation {
        code: BRACES_REQUIRED,
        title: "a body without braces",
        text: "The statements after `if (...)` and `else` need braces, also when it is one \
               statement.",
        wrong: "event e(int x) { if (x == 1) skip; }\n",
        right: "event e(int x) { if (x == 1) { skip; } }\n",
    },
    Explanation {
        code: CHAINED_COMPARISON,
        title: "comparisons in a row",
        text: "A comparison gives a `bool`, which cannot be compared with a number.",
        wrong: "event e(int x) { if (1 < x < 4) { skip; } }\n",
        right: "event e(int x) { if (1 < x && x < 4) { skip; } }\n",
    },
    Explanation {
        code: MISPLACED_DECLARATION,
        title: "a declaration between statements",
        text: "Events, handlers, functions, constants, sizes and globals are declared outside \
               of handlers and functions. If this one is meant to be outside, a `}` is \
               missing before it.",
        wrong: "event e(int x) {\n    const int K = 4;\n}\n",
        right: "const int K = 4;\nevent e(int x) { skip; }\n",
    },
    Explanation {
        code: MISPLACED_STATEMENT,
        title: "a statement between declarations",
        text: "Statements stand in handlers, functions and memops. Values that never change \
               are `const`, values that stay are `global` arrays.",
        wrong: "int x = 5;\n",
        right: "const int x = 5;\n",
    },
    Explanation {
        code: EXPRESSION_AS_STATEMENT,
        title: "a value that is not used",
        text: "A statement assigns, calls, generates or decides. Parts of records, vectors \
               and arrays cannot be assigned: make the whole anew, or use `Array.set`.",
        wrong: "event e(int x) { x; }\n",
        right: "event e(int x) { int y = x; }\n",
    },
    Explanation {
        code: MISSING_PARSER_STEP,
        title: "a parser without one end",
        text: "A parser's block is a list of actions and then one step: `generate e(...);`, a \
               call of another parser, `match`, or `drop;`.",
        wrong: "parser main(bitstring b) { int x = read(b); }\n",
        right: "parser main(bitstring b) { int x = read(b); drop; }\n",
    },
    Explanation {
        code: FORMATTER_CHANGED_TOKENS,
        title: "a mistake of the formatter",
        text: "The formatter checks that what it writes has the same words and comments as \
               before, and writes nothing otherwise. Please report this with the file.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: MIXED_OPERATORS,
        title: "operators that bind equally, unlike in C",
        text: "`&&` and `||` bind equally in Lucid, and so do `&`, `|`, `^^`, `<<` and `>>`: \
               a row of them reads from left to right. `a || b && c` is `(a || b) && c`. \
               Parentheses say what is meant.",
        wrong: "event e(bool a, bool b, bool c) { if (a || b && c) { skip; } }\n",
        right: "event e(bool a, bool b, bool c) { if (a || (b && c)) { skip; } }\n",
    },
    Explanation {
        code: UNKNOWN_PRAGMA,
        title: "an unknown pragma",
        text: "Known are `@main` before a declaration, `@egress` before a handler and \
               `@noinline` before a declaration or a variable. Others are ignored.",
        wrong: "@inline\nevent e();\n",
        right: "@main\nevent e();\n",
    },
];
