// SPDX-License-Identifier: Apache-2.0
//! Codes of what is wrong with a program's text, LU-E00xx and LU-W00xx, and their explanations.

use source::{Code, Explanation};

/// A character that is part of nothing.
pub const UNKNOWN_CHARACTER: Code = Code("LU-E0001");
/// A block comment without its end.
pub const UNTERMINATED_COMMENT: Code = Code("LU-E0002");
/// A string without its end.
pub const UNTERMINATED_STRING: Code = Code("LU-E0003");
/// A number that is none, or too large.
pub const MALFORMED_NUMBER: Code = Code("LU-E0004");
/// Too many errors to tell.
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
/// Something else stands where a token is expected.
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
pub const MIXED_LOGICAL: Code = Code("LU-W0001");
/// `@something`.
pub const UNKNOWN_PRAGMA: Code = Code("LU-W0002");

/// One for each code.
pub const EXPLANATIONS: &[Explanation] = &[];
