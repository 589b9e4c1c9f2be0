// SPDX-License-Identifier: Apache-2.0
//! Codes of the parser: `P4-E01xx` and `P4-W01xx`. The words of a particular report are where it is
//! found, not here.

use source::{Code, Explanation};

/// Something other than what the grammar asks for.
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
/// The formatter gave up on a file.
pub const FORMATTER_CHANGED_TOKENS: Code = Code("P4-E0190");
/// A number too large for its width.
pub const VALUE_TOO_LARGE: Code = Code("P4-W0101");
/// The size of a stack after a name instead of in its type.
pub const SIZE_AFTER_NAME: Code = Code("P4-W0102");
/// `a ? b : c ? d : e` without parentheses.
pub const CHAINED_CONDITIONAL: Code = Code("P4-W0103");

/// What `plane explain` says about each.
pub static EXPLANATIONS: &[Explanation] = &[];
