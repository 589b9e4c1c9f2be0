// SPDX-License-Identifier: Apache-2.0
//! Codes of mistakes in network files. Each message is written where the mistake is found.

use source::Code;

/// Not JSON, YAML or TOML.
pub const SYNTAX: Code = Code("NW-E0301");
/// A value of another type is expected.
pub const WRONG_TYPE: Code = Code("NW-E0302");
/// A required field is missing.
pub const MISSING: Code = Code("NW-E0303");
/// A quantity, word or other value that its field does not take.
pub const BAD_VALUE: Code = Code("NW-E0304");
/// An unknown field or kind.
pub const UNKNOWN_FIELD: Code = Code("NW-E0305");
/// A field or name that is there twice.
pub const REPEATED_FIELD: Code = Code("NW-E0306");
/// A switch, host, port or controller that the network does not have.
pub const UNKNOWN_NODE: Code = Code("NW-E0307");
/// Links that cannot all exist.
pub const BAD_LINK: Code = Code("NW-E0308");
/// An address that a host cannot have or reach.
pub const BAD_ADDRESS: Code = Code("NW-E0309");
/// Fields that exclude each other.
pub const CONFLICT: Code = Code("NW-E0310");
/// A topology that cannot be generated.
pub const BAD_TOPOLOGY: Code = Code("NW-E0311");
/// A host without an address in an application that needs one.
pub const NO_ADDRESS: Code = Code("NW-E0312");
/// An expectation about something that the network does not have.
pub const UNKNOWN_SUBJECT: Code = Code("NW-E0313");
/// A name that an item cannot have.
pub const BAD_NAME: Code = Code("NW-E0314");
/// A shell command that is not understood.
pub const UNKNOWN_COMMAND: Code = Code("NW-W0301");
/// Something that happens after the end of the run.
pub const TOO_LATE: Code = Code("NW-W0302");
/// A node or interface without links.
pub const NOT_CONNECTED: Code = Code("NW-W0303");
/// An IPv6 address to which generated routes do not lead.
pub const NOT_ROUTED: Code = Code("NW-W0304");
