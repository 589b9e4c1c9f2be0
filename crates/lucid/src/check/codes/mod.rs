// SPDX-License-Identifier: Apache-2.0
//! Codes of the errors in names and types, `LU-E01xx`, and of warnings, `LU-W01xx`. Each message is written
//! where the check finds the error.

mod explanations;

pub use explanations::EXPLANATIONS;

use source::Code;

/// A name that is not declared, or only later, or not visible.
pub const UNDECLARED: Code = Code("LU-E0101");
/// Two declarations of one name in one place.
pub const DUPLICATE: Code = Code("LU-E0102");
/// A value of another type than is expected.
pub const TYPE_MISMATCH: Code = Code("LU-E0103");
/// An integer of another width than is expected.
pub const WIDTH_MISMATCH: Code = Code("LU-E0104");
/// Too many or too few arguments.
pub const ARGUMENT_COUNT: Code = Code("LU-E0105");
/// A literal larger than its width can hold.
pub const LITERAL_TOO_WIDE: Code = Code("LU-E0106");
/// A construct in a place that does not allow it: a memop that is called, an event without arguments.
pub const WRONG_KIND: Code = Code("LU-E0107");
/// A handler of no event.
pub const HANDLER: Code = Code("LU-E0108");
/// A handler whose parameters are not those of its event.
pub const HANDLER_PARAMETERS: Code = Code("LU-E0109");
/// Functions that call themselves.
pub const RECURSION: Code = Code("LU-E0110");
/// A `return` that does not fit: in a handler, or with or without a value.
pub const RETURN: Code = Code("LU-E0111");
/// A function with a path that returns no value.
pub const MISSING_RETURN: Code = Code("LU-E0112");
/// An assignment to something that is no local.
pub const NOT_ASSIGNABLE: Code = Code("LU-E0113");
/// Persistent state where there can be none, or none where it must be.
pub const GLOBAL_MISUSE: Code = Code("LU-E0114");
/// Numbers of events on the wire that clash or are too large.
pub const WIRE_NUMBER: Code = Code("LU-E0115");
/// A module that does not fit its interface.
pub const INTERFACE: Code = Code("LU-E0116");
/// A module alias of two modules that differ.
pub const ALIAS: Code = Code("LU-E0117");
/// A field that a record lacks, or a value without fields.
pub const FIELD: Code = Code("LU-E0118");
/// An index of a vector that is not surely inside.
pub const INDEX: Code = Code("LU-E0119");
/// A slice of bits that are not there.
pub const SLICE: Code = Code("LU-E0120");
/// A `printf` text that does not fit its values.
pub const FORMAT: Code = Code("LU-E0121");
/// A type with wrong sizes.
pub const SIZES: Code = Code("LU-E0122");
/// A pattern that does not fit what is matched.
pub const PATTERN: Code = Code("LU-E0123");
/// Something that parsers, or only parsers, can do.
pub const PARSER: Code = Code("LU-E0124");
/// A type or size that cannot be inferred.
pub const NOT_DETERMINED: Code = Code("LU-E0125");
/// A type that inference makes larger than any program needs.
pub const TYPE_TOO_LARGE: Code = Code("LU-E0126");

/// A local that is never read.
pub const UNUSED_LOCAL: Code = Code("LU-W0101");
/// A parameter of a function that is never read.
pub const UNUSED_PARAMETER: Code = Code("LU-W0102");
/// An unused function, memop or action.
pub const UNUSED_FUNCTION: Code = Code("LU-W0103");
/// An unused global.
pub const UNUSED_GLOBAL: Code = Code("LU-W0104");
/// An event that is generated and has no handler.
pub const UNHANDLED_EVENT: Code = Code("LU-W0105");
/// An event that is made and dropped.
pub const EVENT_DROPPED: Code = Code("LU-W0106");
/// A pattern that cannot match.
pub const PATTERN_NEVER_MATCHES: Code = Code("LU-W0107");
/// A comparison that takes integers for signed.
pub const SIGNED_COMPARISON: Code = Code("LU-W0108");
