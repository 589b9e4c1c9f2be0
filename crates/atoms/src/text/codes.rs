// SPDX-License-Identifier: Apache-2.0
//! The codes of mistakes in files of atoms and codelets: `AT-E01xx` syntax, `AT-E02xx` meaning.

use source::{Code, Explanation};

macro_rules! codes {
    ($($name:ident = $code:literal, $title:literal, $text:literal, $wrong:literal, $right:literal;)*) => {
        $(#[doc = $title] pub const $name: Code = Code($code);)*

        /// What `plane explain` says about each.
        pub const EXPLANATIONS: &[Explanation] = &[
            $(Explanation { code: $name, title: $title, text: $text, wrong: $wrong, right: $right },)*
        ];
    };
}

codes! {
    UNEXPECTED_TOKEN = "AT-E0101", "something else was expected here",
        "A file is a list of `atom NAME { ... }` and `codelet NAME { ... }`. An item has `state a, b;`, `input p, q;`, `define name = expression;`, `if (condition) { ... } else { ... }` and assignments `a = expression;`.",
        "atom a { state s; s + 1; }", "atom a { state s; s = s + 1; }";
    MISSING_SEMICOLON = "AT-E0102", "a semicolon is missing",
        "Declarations and assignments end with a semicolon.",
        "atom a { state s; s = C }", "atom a { state s; s = C; }";
    UNCLOSED_DELIMITER = "AT-E0103", "a bracket or brace is not closed",
        "The message shows the bracket that is open. `|` between `[` and `]` separates alternatives; a bitwise or among them needs parentheses.",
        "atom a { state s; s = [s | C; }", "atom a { state s; s = [s | C]; }";
    RESERVED_WORD = "AT-E0104", "a name is a reserved word",
        "`C`, `rel`, `ar`, `opt`, `u` and the words that begin declarations and statements cannot be names.",
        "atom a { state s, C; s = 1; }", "atom a { state s, c; s = 1; }";
    NESTED_TOO_DEEPLY = "AT-E0105", "expressions or blocks nest too deeply",
        "Give an inner expression a name with `define`.", "", "";
    TOO_MANY_ERRORS = "AT-E0106", "there are too many syntax errors",
        "The first hundred are shown; correct these first.", "", "";
    BAD_CHARACTER = "AT-E0107", "a character means nothing here",
        "Names are letters, digits and `_`. Comments begin with `#` or `//` and end with the line.",
        "atom a { state s; s = s @ 1; }", "atom a { state s; s = s + 1; }";
    NUMBER_TOO_LARGE = "AT-E0108", "a number does not fit 32 bits",
        "Numbers are decimal or hexadecimal, at most 4294967295.",
        "atom a { state s; s = 4294967296; }", "atom a { state s; s = 4294967295; }";
    UNKNOWN_NAME = "AT-E0201", "a name is not declared",
        "State variables, inputs and definitions are declared before the statement that uses them. A definition uses only definitions above it.",
        "atom a { state count; s = count + 1; }", "atom a { state count; count = count + 1; }";
    DECLARED_TWICE = "AT-E0202", "a name is declared twice",
        "State variables, inputs and definitions of an item share one name space, and so do the items of a file.",
        "atom a { state s; input s; s = 1; }", "atom a { state s; input p; s = p; }";
    HOLE_IN_CODELET = "AT-E0203", "a codelet has a hole",
        "Constants `C`, alternatives in brackets, `opt`, `rel` and `ar` are for atoms. A codelet says exactly what happens.",
        "codelet c { state s; s = s + C; }", "codelet c { state s; s = s + 1; }";
    ASSIGNED_TWICE = "AT-E0204", "a state variable is assigned twice for one packet",
        "All assignments of an item happen at once, so a second one on the same path has no meaning. Combine them into one expression, or put them into different branches.",
        "codelet c { state s; s = s + 1; if (s > 5) { s = 0; } }",
        "codelet c { state s; if (s + 1 > 5) { s = 0; } else { s = s + 1; } }";
    NOT_A_STATE = "AT-E0205", "something that is no state variable is assigned",
        "Only state variables are assigned. A value with a name is a definition: `define name = expression;`.",
        "codelet c { state s; input p; p = s; }", "codelet c { state s; input p; s = p; }";
    WRONG_ARGUMENTS = "AT-E0206", "a definition is used with another number of arguments",
        "A definition with parameters is used with as many arguments, one without parameters by its name alone.",
        "atom a { state s; define add(x) = x + C; s = add(s, s); }",
        "atom a { state s; define add(x) = x + C; s = add(s); }";
    TOO_LARGE = "AT-E0207", "an item is too large",
        "An item has at most 4096 parts after its definitions are expanded, an atom at most four state variables and eight inputs, a codelet at most 16 of each. Each use of a definition makes new holes.",
        "", "";
    MIXED_OPERATORS = "AT-E0208", "alternative operators bind differently",
        "The operators in one pair of brackets stand at one place of the expression, so they are all comparisons, bitwise (`|`, `^`, `&`), `+` and `-`, shifts, or `*`, `/` and `%`.",
        "atom a { state s; s = s [+ | *] C; }", "atom a { state s; s = s [+ | -] C; }";
    EMPTY_RANGE = "AT-E0209", "the range of a constant is empty",
        "`C(low..high)` includes both ends, so `low` is at most `high`.",
        "atom a { state s; s = C(7..0); }", "atom a { state s; s = C(0..7); }";
    NO_STATE = "AT-E0210", "an item has no state variable",
        "Declare at least one: `state s;`.",
        "codelet c { input p; }", "codelet c { state s; input p; s = p; }";
    NO_ATOM = "AT-E0211", "a file has no atom",
        "`plane atoms --atom FILE` tries the atoms of the file, from the first to the last.", "", "";
    NO_CODELET = "AT-E0212", "a file has no codelet",
        "`plane atoms FILE.atoms` asks about the codelets of the file.", "", "";
}
