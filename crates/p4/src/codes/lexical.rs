// SPDX-License-Identifier: Apache-2.0
//! Codes of the lexer and the preprocessor: `P4-E00xx` and `P4-W00xx`. The code that finds
//! a fault words the message.

use source::{Code, Explanation};

/// Text that is no token of P4.
pub const UNKNOWN_CHARACTER: Code = Code("P4-E0001");
/// `/*` without `*/`.
pub const UNTERMINATED_COMMENT: Code = Code("P4-E0002");
/// A string without its closing quote.
pub const UNTERMINATED_STRING: Code = Code("P4-E0003");
/// An included file does not exist.
pub const INCLUDE_NOT_FOUND: Code = Code("P4-E0010");
/// `#include` without a file name.
pub const MALFORMED_INCLUDE: Code = Code("P4-E0011");
/// Files that include one another without end.
pub const INCLUDE_TOO_DEEP: Code = Code("P4-E0012");
/// An included file exists but cannot be read.
pub const INCLUDE_UNREADABLE: Code = Code("P4-E0013");
/// `#include` between the parentheses of a macro's use.
pub const INCLUDE_IN_ARGUMENTS: Code = Code("P4-E0014");
/// `#define`, `#undef`, `#ifdef` or `-D` without a usable name.
pub const MALFORMED_MACRO_NAME: Code = Code("P4-E0020");
/// A parameter list of a macro that cannot be read.
pub const MALFORMED_PARAMETERS: Code = Code("P4-E0021");
/// A macro used with too many or too few arguments.
pub const ARGUMENT_COUNT: Code = Code("P4-E0022");
/// A macro's use without its closing parenthesis.
pub const UNTERMINATED_ARGUMENTS: Code = Code("P4-E0023");
/// `##` that makes no token.
pub const INVALID_PASTE: Code = Code("P4-E0024");
/// `##` at the start or end of a macro.
pub const MISPLACED_PASTE: Code = Code("P4-E0025");
/// `#if` without `#endif`.
pub const UNTERMINATED_CONDITION: Code = Code("P4-E0030");
/// `#else`, `#elif` or `#endif` that belongs to no `#if`.
pub const STRAY_CONDITION: Code = Code("P4-E0031");
/// A condition that cannot be evaluated.
pub const MALFORMED_CONDITION: Code = Code("P4-E0032");
/// A division by zero in a condition.
pub const CONDITION_DIVISION: Code = Code("P4-E0033");
/// `#error`.
pub const ERROR_DIRECTIVE: Code = Code("P4-E0040");
/// Expansion went beyond a documented limit.
pub const EXPANSION_LIMIT: Code = Code("P4-E0041");
/// Reading stopped after too many errors.
pub const TOO_MANY_ERRORS: Code = Code("P4-E0042");
/// `#warning`.
pub const WARNING_DIRECTIVE: Code = Code("P4-W0001");
/// A macro defined again, differently.
pub const MACRO_REDEFINED: Code = Code("P4-W0002");
/// An unknown directive.
pub const UNKNOWN_DIRECTIVE: Code = Code("P4-W0003");
/// Text after a directive that takes none.
pub const TEXT_AFTER_DIRECTIVE: Code = Code("P4-W0004");

/// The explanations that `plane explain` prints.
pub static EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: UNKNOWN_CHARACTER,
        title: "text that is no token of P4",
        text: "P4 programs are written in ASCII outside of comments and strings, and some ASCII \
               characters (such as `'`, `$` and the backquote) have no meaning in P4 at all \
               (P4_16 v1.2.5 §6.4). The usual causes are text pasted from a document, with \
               typographic quotes or invisible spaces, and a missing comment mark.",
        wrong: "const bit<8> a = 1 $ 2;\n",
        right: "const bit<8> a = 1 + 2;\n",
    },
    Explanation {
        code: UNTERMINATED_COMMENT,
        title: "a comment that is never closed",
        text: "A comment that starts with `/*` runs to the next `*/`; such comments do not nest \
               (P4_16 v1.2.5 §6.4.2). The lexer read nothing after the `/*`.",
        wrong: "/* the last table\n",
        right: "/* the last table */\n",
    },
    Explanation {
        code: UNTERMINATED_STRING,
        title: "a string that is never closed",
        text: "A string runs to the next `\"` that is not escaped by a backslash, over line ends \
               too (P4_16 v1.2.5 §6.4.3.3). No such quote follows, so the lexer ended the string with its \
               line.",
        wrong: "@name(\"the_table)\nconst bit<8> a = 1;\n",
        right: "@name(\"the_table\")\nconst bit<8> a = 1;\n",
    },
    Explanation {
        code: INCLUDE_NOT_FOUND,
        title: "an included file does not exist",
        text: "`#include \"x\"` looks beside the file that includes, then in the include \
               directories (-I), then among the built-in interfaces; `#include <x>` leaves out \
               the first. Built in are core.p4 and the interfaces of the published \
               architectures.",
        wrong: "#include <cor.p4>\n",
        right: "#include <core.p4>\n",
    },
    Explanation {
        code: MALFORMED_INCLUDE,
        title: "#include without a file name",
        text: "Write `#include \"file\"` or `#include <file>`, or a macro that expands to one of \
               them (P4_16 v1.2.5 §6.2).",
        wrong: "#include core.p4\n",
        right: "#include <core.p4>\n",
    },
    Explanation {
        code: INCLUDE_TOO_DEEP,
        title: "files include one another too deeply",
        text: "Included files may include others, at most 64 deep and 20000 in all. Most often a \
               file includes itself, directly or through others, and has no guard. Begin such a \
               file with `#ifndef NAME` and `#define NAME` and end it with `#endif`.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: INCLUDE_UNREADABLE,
        title: "an included file cannot be read",
        text: "The file exists, but reading it failed, or it is not UTF-8 text. The message has \
               the reason.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: INCLUDE_IN_ARGUMENTS,
        title: "#include among the arguments of a macro",
        text: "Between the parentheses of a macro's use, conditions and definitions may stand, but \
               no `#include`. Include the file before.",
        wrong: "#define ID(x) x\nID(\n#include <core.p4>\n)\n",
        right: "#define ID(x) x\n#include <core.p4>\nID()\n",
    },
    Explanation {
        code: MALFORMED_MACRO_NAME,
        title: "a directive needs the name of a macro",
        text: "`#define`, `#undef`, `#ifdef`, `#ifndef` and `defined` are followed by a name: \
               letters, digits and `_`, not starting with a digit. `defined` itself cannot be a \
               macro.",
        wrong: "#define 2nd_port 2\n",
        right: "#define SECOND_PORT 2\n",
    },
    Explanation {
        code: MALFORMED_PARAMETERS,
        title: "a macro's parameter list cannot be read",
        text: "A macro with parameters is written `#define NAME(a, b) ...`, with the parenthesis \
               right after the name. Each parameter is a different name; the last may be `...` for \
               any number of arguments, which are then `__VA_ARGS__`.",
        wrong: "#define MAX(a, a) a\n",
        right: "#define MAX(a, b) a\n",
    },
    Explanation {
        code: ARGUMENT_COUNT,
        title: "a macro used with the wrong number of arguments",
        text: "A macro takes as many arguments as it has parameters; one with `...` takes at \
               least as many as come before. Commas inside parentheses do not separate \
               arguments, those inside braces, brackets and angle brackets do.",
        wrong: "#define MAX(a, b) a\nconst int x = MAX(1);\n",
        right: "#define MAX(a, b) a\nconst int x = MAX(1, 2);\n",
    },
    Explanation {
        code: UNTERMINATED_ARGUMENTS,
        title: "the arguments of a macro are never closed",
        text: "The opening parenthesis after the macro's name has no closing one in the same file.",
        wrong: "#define ID(x) x\nconst int x = ID((1);\n",
        right: "#define ID(x) x\nconst int x = ID((1));\n",
    },
    Explanation {
        code: INVALID_PASTE,
        title: "## does not make one token",
        text: "`##` joins the token before it and the token after it. What it makes must be one \
               token, such as a longer name or number.",
        wrong: "#define JOIN(a, b) a ## b\nconst int x = JOIN(-, 1);\n",
        right: "#define JOIN(a, b) a ## b\nconst int x = JOIN(1, 2);\n",
    },
    Explanation {
        code: MISPLACED_PASTE,
        title: "## at the start or end of a macro",
        text: "`##` stands between two tokens of a macro's body; at its start or end there is \
               nothing to join.",
        wrong: "#define TAIL(a) a ##\n",
        right: "#define TAIL(a) a ## _tail\n",
    },
    Explanation {
        code: UNTERMINATED_CONDITION,
        title: "#if without #endif",
        text: "Each `#if`, `#ifdef` and `#ifndef` needs an `#endif` in the same file.",
        wrong: "#ifdef FAST\nconst int x = 1;\n",
        right: "#ifdef FAST\nconst int x = 1;\n#endif\n",
    },
    Explanation {
        code: STRAY_CONDITION,
        title: "#else, #elif or #endif that belongs to no #if",
        text: "There is no open `#if` in this file, or its `#else` has been seen already.",
        wrong: "#endif\n",
        right: "#if 1\n#endif\n",
    },
    Explanation {
        code: MALFORMED_CONDITION,
        title: "a condition that cannot be evaluated",
        text: "The condition of `#if` and `#elif` is an expression of integers, macros, \
               `defined(NAME)` and the operators of C. Names that are no macro count as 0. \
               Numbers with a width, such as 8w5, are no preprocessor numbers.",
        wrong: "#if PORTS >\n#endif\n",
        right: "#if PORTS > 4\n#endif\n",
    },
    Explanation {
        code: CONDITION_DIVISION,
        title: "a division by zero in a condition",
        text: "A name that is no macro counts as 0, so dividing by it is dividing by zero. Check \
               first: `#if defined(N) && 10 / N > 2`.",
        wrong: "#if 10 / N > 2\n#endif\n",
        right: "#if defined(N) && 10 / N > 2\n#endif\n",
    },
    Explanation {
        code: ERROR_DIRECTIVE,
        title: "the program contains #error",
        text: "The source contains an `#error` directive where the conditions around it hold. Its \
               text says what is missing, most often a macro to define with -D.",
        wrong: "#ifndef PORTS\n#error PORTS must be defined\n#endif\n",
        right: "#define PORTS 4\n#ifndef PORTS\n#error PORTS must be defined\n#endif\n",
    },
    Explanation {
        code: EXPANSION_LIMIT,
        title: "macros or included files produce too much text",
        text: "The preprocessor makes at most 8 million tokens, does at most 2 million steps of \
               expansion, reads at most 256 MiB and nests macro uses at most 200 deep. Macros that \
               double at each level reach these limits quickly.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: TOO_MANY_ERRORS,
        title: "reading stopped after too many errors",
        text: "After a hundred errors in the text the rest is not read, and after a hundred syntax \
               errors no more are shown. The file is probably not a P4 program, or one mistake near \
               its beginning makes the rest unreadable.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: WARNING_DIRECTIVE,
        title: "the program contains #warning",
        text: "The source contains a `#warning` directive where the conditions around it hold.",
        wrong: "#warning not tested with more than 4 ports\n",
        right: "// Not tested with more than 4 ports.\n",
    },
    Explanation {
        code: MACRO_REDEFINED,
        title: "a macro is defined again, differently",
        text: "The later definition counts from here on. If you mean that, write `#undef NAME` \
               first; if the first one is a default, put `#ifndef NAME` around the second.",
        wrong: "#define PORTS 4\n#define PORTS 8\n",
        right: "#define PORTS 4\n#undef PORTS\n#define PORTS 8\n",
    },
    Explanation {
        code: UNKNOWN_DIRECTIVE,
        title: "an unknown preprocessor directive",
        text: "The preprocessor ignored the line. It knows include, define, undef, if, ifdef, ifndef, elif, \
               elifdef, elifndef, else, endif, error, warning, pragma and line.",
        wrong: "#inclde <core.p4>\n",
        right: "#include <core.p4>\n",
    },
    Explanation {
        code: TEXT_AFTER_DIRECTIVE,
        title: "text after a directive that takes none",
        text: "`#else` and `#endif` take nothing, `#ifdef`, `#ifndef` and `#undef` one name, and \
               `#include` one file. The preprocessor ignores what follows; if it is a remark, make it a \
               comment.",
        wrong: "#if 1\n#endif PORTS\n",
        right: "#if 1\n#endif // PORTS\n",
    },
];
