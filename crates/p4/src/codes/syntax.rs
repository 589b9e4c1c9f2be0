// SPDX-License-Identifier: Apache-2.0
//! Codes of the parser: `P4-E01xx` and `P4-W01xx`. The parser words each
//! message where it finds the mistake.

use source::{Code, Explanation};

/// A token that the grammar does not allow at its place.
pub const UNEXPECTED_TOKEN: Code = Code("P4-E0101");
/// A parenthesis, bracket or brace that nothing closes.
pub const UNCLOSED_DELIMITER: Code = Code("P4-E0102");
/// A closing parenthesis, bracket or brace that was never opened.
pub const UNMATCHED_DELIMITER: Code = Code("P4-E0103");
/// A statement, field or declaration without its `;`.
pub const MISSING_SEMICOLON: Code = Code("P4-E0104");
/// A reserved word where a name or value should be.
pub const RESERVED_WORD: Code = Code("P4-E0105");
/// An integer that cannot be read.
pub const MALFORMED_NUMBER: Code = Code("P4-E0106");
/// A program nested deeper than the documented limits.
pub const NESTED_TOO_DEEPLY: Code = Code("P4-E0107");
/// A declaration or statement where it may not stand.
pub const MISPLACED_DECLARATION: Code = Code("P4-E0108");
/// A control without an `apply` block.
pub const CONTROL_WITHOUT_APPLY: Code = Code("P4-E0109");
/// A parser without a state.
pub const PARSER_WITHOUT_STATES: Code = Code("P4-E0110");
/// A state named without `transition`.
pub const MISSING_TRANSITION: Code = Code("P4-E0111");
/// A type of C or another language.
pub const FOREIGN_TYPE: Code = Code("P4-E0112");
/// A statement of C.
pub const FOREIGN_STATEMENT: Code = Code("P4-E0113");
/// `++` or `--` used to change a variable.
pub const INCREMENT: Code = Code("P4-E0114");
/// `=` inside an expression.
pub const ASSIGNMENT_IN_EXPRESSION: Code = Code("P4-E0115");
/// An expression where a statement should be.
pub const EXPRESSION_AS_STATEMENT: Code = Code("P4-E0116");
/// A key without its match kind.
pub const KEY_WITHOUT_MATCH_KIND: Code = Code("P4-E0117");
/// `else` without `if`.
pub const ELSE_WITHOUT_IF: Code = Code("P4-E0118");
/// An annotation where none may stand.
pub const MISPLACED_ANNOTATION: Code = Code("P4-E0119");
/// A method without a result type.
pub const METHOD_WITHOUT_RESULT: Code = Code("P4-E0120");
/// A built-in type where a value should be.
pub const TYPE_AS_VALUE: Code = Code("P4-E0121");
/// A statement that parser states do not have.
pub const STATEMENT_IN_STATE: Code = Code("P4-E0122");
/// A program in P4_14.
pub const OLDER_LANGUAGE: Code = Code("P4-E0123");
/// A construct of a dialect in a P4_16 program, or one that refers to nothing.
pub const FORM_OF_A_DIALECT: Code = Code("P4-E0124");
/// The formatter gave up on a file.
pub const FORMATTER_CHANGED_TOKENS: Code = Code("P4-E0190");
/// A number too large for its width.
pub const VALUE_TOO_LARGE: Code = Code("P4-W0101");
/// The size of a stack after a name instead of in its type.
pub const SIZE_AFTER_NAME: Code = Code("P4-W0102");
/// `a ? b : c ? d : e` without parentheses.
pub const CHAINED_CONDITIONAL: Code = Code("P4-W0103");

/// The explanations that `plane explain` prints.
pub static EXPLANATIONS: &[Explanation] = &[
    Explanation {
        code: UNEXPECTED_TOKEN,
        title: "unexpected token",
        text: "The text does not follow the grammar of P4_16 (P4_16 v1.2.5, appendix G). The \
               message says what could stand at this place and what stands there. Often the \
               mistake is a little before the place shown.",
        wrong: "control c(inout bit<8> x) {\n    apply {\n        x = 1 + ;\n    }\n}\n",
        right: "control c(inout bit<8> x) {\n    apply {\n        x = x + 1;\n    }\n}\n",
    },
    Explanation {
        code: UNCLOSED_DELIMITER,
        title: "a parenthesis, bracket or brace is not closed",
        text: "Every `(`, `[`, `{` and every `<` before type arguments needs its closing \
               delimiter. The message shows the one that is not closed and where the parser \
               expected the closing one.",
        wrong: "control c(inout bit<8> x) {\n    apply {\n        x = (x + 1;\n    }\n}\n",
        right: "control c(inout bit<8> x) {\n    apply {\n        x = (x + 1);\n    }\n}\n",
    },
    Explanation {
        code: UNMATCHED_DELIMITER,
        title: "a closing brace that closes nothing",
        text: "There are more closing braces, brackets or parentheses than opened ones. \
               Usually a block above has one `}` too many.",
        wrong: "control c() {\n    apply {\n    }\n}\n}\n",
        right: "control c() {\n    apply {\n    }\n}\n",
    },
    Explanation {
        code: MISSING_SEMICOLON,
        title: "a semicolon is missing",
        text: "Statements, fields, constants, instances and most properties of tables end \
               with `;`. The parser continued as if it were there.",
        wrong: "control c(inout bit<8> x) {\n    apply {\n        x = 1\n        x = x + 1;\n    }\n}\n",
        right: "control c(inout bit<8> x) {\n    apply {\n        x = 1;\n        x = x + 1;\n    }\n}\n",
    },
    Explanation {
        code: RESERVED_WORD,
        title: "a reserved word is used as a name",
        text: "Words such as `table`, `state` or `default` belong to the language (P4_16 \
               v1.2.5 §6.4.1). `apply`, `key`, `actions`, `state`, `entries`, `type`, \
               `priority` and `list` may be names where the grammar does not need them; the \
               others never.",
        wrong: "header h_t {\n    bit<8> table;\n}\n",
        right: "header h_t {\n    bit<8> table_number;\n}\n",
    },
    Explanation {
        code: MALFORMED_NUMBER,
        title: "a number that cannot be read",
        text: "A number is an optional width with `w` (unsigned) or `s` (signed), an optional \
               base (`0x`, `0o`, `0b`, `0d`) and digits of that base, with underscores \
               between them if you like (P4_16 v1.2.5 §6.4.3.2).",
        wrong: "const bit<8> a = 8w0b12;\n",
        right: "const bit<8> a = 8w0b10;\n",
    },
    Explanation {
        code: NESTED_TOO_DEEPLY,
        title: "nested too deeply",
        text: "Statements, parentheses and types may nest 500 levels deep, a chain of `else \
               if` may have 10000 branches, and one expression may have a chain of 1000 \
               operators. Generated programs reach these limits; let the generator use \
               variables, tables or `switch`.",
        wrong: "#define A(x) ((((((((((((((((((((x))))))))))))))))))))\n#define B(x) A(A(A(A(A(A(A(A(A(A(x))))))))))\nconst bit<8> a = B(B(B(1)));\n",
        right: "#define A(x) ((((((((((((((((((((x))))))))))))))))))))\n#define B(x) A(A(A(A(A(A(A(A(A(A(x))))))))))\nconst bit<8> a = B(1);\n",
    },
    Explanation {
        code: MISPLACED_DECLARATION,
        title: "this cannot stand here",
        text: "Tables, actions, variables and instances of a control stand before its `apply` \
               block, those of a parser before its first state; statements stand inside \
               `apply`, actions, functions or states. At the top level there are no \
               variables: values that a program keeps stand in registers and other externs.",
        wrong: "bit<8> count = 0;\n",
        right: "const bit<8> count = 0;\n",
    },
    Explanation {
        code: CONTROL_WITHOUT_APPLY,
        title: "a control without an apply block",
        text: "A control ends with `apply { ... }`, which says what it does when it is \
               applied (P4_16 v1.2.5 §14).",
        wrong: "control c() {\n    action a() {}\n}\n",
        right: "control c() {\n    action a() {}\n    apply {\n        a();\n    }\n}\n",
    },
    Explanation {
        code: PARSER_WITHOUT_STATES,
        title: "a parser without a state",
        text: "A parser has at least the state `start`, where it begins (P4_16 v1.2.5 §13).",
        wrong: "parser p() {\n}\n",
        right: "parser p() {\n    state start {\n        transition accept;\n    }\n}\n",
    },
    Explanation {
        code: MISSING_TRANSITION,
        title: "`transition` is missing",
        text: "A state names the state that follows it with `transition name;` or `transition \
               select (...) { ... }` (P4_16 v1.2.5 §13.5). Without one it goes to `reject`.",
        wrong: "parser p() {\n    state start {\n        accept;\n    }\n}\n",
        right: "parser p() {\n    state start {\n        transition accept;\n    }\n}\n",
    },
    Explanation {
        code: FOREIGN_TYPE,
        title: "a type of another language",
        text: "P4 has no types such as `uint8_t` or `char`. Unsigned numbers are `bit<W>`, \
               signed ones `int<W>`, with any width in bits (P4_16 v1.2.5 §7.1).",
        wrong: "header h_t {\n    uint16_t port;\n}\n",
        right: "header h_t {\n    bit<16> port;\n}\n",
    },
    Explanation {
        code: FOREIGN_STATEMENT,
        title: "a statement of another language",
        text: "P4 has no `while`, `do` or `goto`, and the labels of `switch` are written \
               without `case`. Loops are `for` (P4_16 v1.2.5 §12.8), and parsers may go back \
               to an earlier state.",
        wrong: "control c(inout bit<8> x) {\n    apply {\n        while (x > 0) {\n            x = x - 1;\n        }\n    }\n}\n",
        right: "control c(inout bit<8> x) {\n    apply {\n        for (bit<8> i in 0 .. 3) {\n            x = x - 1;\n        }\n    }\n}\n",
    },
    Explanation {
        code: INCREMENT,
        title: "`++` does not change a variable",
        text: "In P4 `a ++ b` joins the bits of two values (P4_16 v1.2.5 §8.10.1). There is no \
               operator that changes a variable inside an expression.",
        wrong: "control c(inout bit<8> x) {\n    apply {\n        x++;\n    }\n}\n",
        right: "control c(inout bit<8> x) {\n    apply {\n        x = x + 1;\n    }\n}\n",
    },
    Explanation {
        code: ASSIGNMENT_IN_EXPRESSION,
        title: "an assignment inside an expression",
        text: "An assignment is a statement and has no value. To compare, write `==`.",
        wrong: "control c(inout bit<8> x) {\n    apply {\n        if (x = 1) {\n            x = 2;\n        }\n    }\n}\n",
        right: "control c(inout bit<8> x) {\n    apply {\n        if (x == 1) {\n            x = 2;\n        }\n    }\n}\n",
    },
    Explanation {
        code: EXPRESSION_AS_STATEMENT,
        title: "an expression is no statement",
        text: "A statement does something: it assigns, calls, or controls what is done next \
               (P4_16 v1.2.5 §12). An expression by itself has no effect.",
        wrong: "control c(inout bit<8> x) {\n    apply {\n        x == 1;\n    }\n}\n",
        right: "control c(inout bit<8> x) {\n    apply {\n        x = 1;\n    }\n}\n",
    },
    Explanation {
        code: KEY_WITHOUT_MATCH_KIND,
        title: "a key without a match kind",
        text: "Each element of a table's key says how it is matched: `exact`, `lpm`, \
               `ternary` or another match kind that the architecture declares (P4_16 v1.2.5 \
               §14.2.1.1).",
        wrong: "control c(inout bit<8> x) {\n    action a() {}\n    table t {\n        key = {\n            x;\n        }\n        actions = {\n            a;\n        }\n        default_action = a();\n    }\n    apply {\n        t.apply();\n    }\n}\n",
        right: "match_kind {\n    exact\n}\ncontrol c(inout bit<8> x) {\n    action a() {}\n    table t {\n        key = {\n            x: exact;\n        }\n        actions = {\n            a;\n        }\n        default_action = a();\n    }\n    apply {\n        t.apply();\n    }\n}\n",
    },
    Explanation {
        code: ELSE_WITHOUT_IF,
        title: "`else` without `if`",
        text: "Between `if (...)` and `else` stands exactly one statement or one block. A `;` \
               after the block ends the `if`.",
        wrong: "control c(inout bit<8> x) {\n    apply {\n        if (x == 1) {\n            x = 2;\n        };\n        else {\n            x = 3;\n        }\n    }\n}\n",
        right: "control c(inout bit<8> x) {\n    apply {\n        if (x == 1) {\n            x = 2;\n        } else {\n            x = 3;\n        }\n    }\n}\n",
    },
    Explanation {
        code: MISPLACED_ANNOTATION,
        title: "an annotation that belongs to nothing",
        text: "Annotations can stand before declarations, parameters, fields, blocks and \
               loops (P4_16 v1.2.5 §20), not before assignments, calls or conditions.",
        wrong: "control c(inout bit<8> x) {\n    apply {\n        @fast x = 1;\n    }\n}\n",
        right: "control c(inout bit<8> x) {\n    apply {\n        @fast {\n            x = 1;\n        }\n    }\n}\n",
    },
    Explanation {
        code: METHOD_WITHOUT_RESULT,
        title: "a method without a result type",
        text: "Methods of an extern have a result type, `void` if there is no result. Only \
               constructors have none, and they have the name of the extern (P4_16 v1.2.5 \
               §7.2.11.2).",
        wrong: "extern counter_t {\n    counter_t();\n    count(in bit<32> index);\n}\n",
        right: "extern counter_t {\n    counter_t();\n    void count(in bit<32> index);\n}\n",
    },
    Explanation {
        code: TYPE_AS_VALUE,
        title: "a type where a value is expected",
        text: "A type alone has no value. A cast has its type in parentheses: `(bit<8>) x`.",
        wrong: "control c(inout bit<8> x) {\n    apply {\n        x = bit<8>(1);\n    }\n}\n",
        right: "control c(inout bit<8> x) {\n    apply {\n        x = (bit<8>) 1;\n    }\n}\n",
    },
    Explanation {
        code: STATEMENT_IN_STATE,
        title: "a statement that parser states do not have",
        text: "States may declare, assign, call methods and use `if`, but not `switch`, \
               `for`, `return` or `exit` (P4_16 v1.2.5 §13.4). What comes next is chosen by \
               `transition select`.",
        wrong: "parser p() {\n    state start {\n        return;\n    }\n}\n",
        right: "parser p() {\n    state start {\n        transition accept;\n    }\n}\n",
    },
    Explanation {
        code: OLDER_LANGUAGE,
        title: "a program in P4_14",
        text: "The declarations are those of P4_14, the language before P4_16: `header_type` with \
               `fields`, parsers that are single states, tables outside of controls. Programs \
               in it must be translated first.",
        wrong: "header_type h_t {\n    fields {\n        a : 8;\n    }\n}\n",
        right: "header h_t {\n    bit<8> a;\n}\n",
    },
    Explanation {
        code: FORM_OF_A_DIALECT,
        title: "a construct of a dialect of P4_16",
        text: "Dialects such as P4R add declarations, statements and expressions to P4_16. A program in \
               one is translated to P4_16 before it is checked or run as such, and a reference of \
               a dialect needs the declaration that it refers to.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: FORMATTER_CHANGED_TOKENS,
        title: "the formatter did not change a file",
        text: "The formatter read its output again and found another program, so it did not \
               change the file. This is a fault of the formatter; please report it with \
               the file.",
        wrong: "",
        right: "",
    },
    Explanation {
        code: VALUE_TOO_LARGE,
        title: "a number too large for its width",
        text: "`8w300` asks for 300 in 8 bits, where the largest number is 255. The upper \
               bits are dropped (P4_16 v1.2.5 §6.4.3.2). A signed number of W bits reaches \
               from -2^(W-1) to 2^(W-1)-1.",
        wrong: "const bit<8> a = 8w300;\n",
        right: "const bit<8> a = 8w44;\n",
    },
    Explanation {
        code: SIZE_AFTER_NAME,
        title: "the size of a stack after a name",
        text: "In P4 the size of a stack belongs to its type: `h_t[4] name`. Planewright \
               reads `h_t name[4]` like that, as some compilers do, but others refuse it.",
        wrong: "header h_t {\n    bit<8> a;\n}\nstruct s_t {\n    h_t stack[4];\n}\n",
        right: "header h_t {\n    bit<8> a;\n}\nstruct s_t {\n    h_t[4] stack;\n}\n",
    },
    Explanation {
        code: CHAINED_CONDITIONAL,
        title: "`? :` in a chain",
        text: "By the grammar of P4, `a ? b : c ? d : e` means `(a ? b : c) ? d : e`, unlike \
               in C. Parentheses say what you mean.",
        wrong: "const bit<8> a = true ? true : false ? 1 : 2;\n",
        right: "const bit<8> a = true ? 1 : (false ? 1 : 2);\n",
    },
];
