// SPDX-License-Identifier: Apache-2.0
//! Codes of elaboration and symbolics: `LU-E04xx`.

use source::{Code, Explanation};

/// Symbolics without a value.
pub const MISSING_SYMBOLIC: Code = Code("LU-E0401");
/// A symbolic's value is of another kind or does not fit.
pub const SYMBOLIC_VALUE: Code = Code("LU-E0402");
/// A file of symbolics that cannot be read.
pub const SYMBOLICS_FILE: Code = Code("LU-E0403");
/// An integer of no bits or of too many.
pub const WIDTH: Code = Code("LU-E0410");
/// An array or table without cells or with too many.
pub const LENGTH: Code = Code("LU-E0411");
/// An index beyond a vector's end.
pub const INDEX: Code = Code("LU-E0412");
/// A slice beyond its operand, or upside down.
pub const SLICE: Code = Code("LU-E0413");
/// A number that does not fit its width.
pub const DOES_NOT_FIT: Code = Code("LU-E0414");
/// A type of too many parts.
pub const TOO_MANY_PARTS: Code = Code("LU-E0415");
/// Something has to be known before the run.
pub const NOT_KNOWN: Code = Code("LU-E0420");
/// State, events or output where only values may be.
pub const EFFECT: Code = Code("LU-E0421");
/// A global that depends on what happens in the run.
pub const GLOBAL_IN_RUN: Code = Code("LU-E0422");
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
/// Two events with one number on the wire.
pub const WIRE_NUMBER: Code = Code("LU-E0440");
/// An event with globals that a run names and that there is not.
pub const ROOT: Code = Code("LU-E0441");
/// What elaboration does not do.
pub const UNSUPPORTED: Code = Code("LU-E0499");

/// What `plane explain` says about each.
pub const EXPLANATIONS: &[Explanation] = &[];
