// SPDX-License-Identifier: Apache-2.0
//! Names of what the compiler adds to a program.

/// The variable or parameter that holds values, selectors and version bits.
pub(super) const STATE: &str = "p4r";
/// Its type.
pub(super) const STATE_TYPE: &str = "p4r_t";
/// The field of the state that says which copy packets measure into.
pub(super) const WORKING_COPY: &str = "p4r__mv";
/// The field of the state that says which version of malleable tables packets match.
pub(super) const VERSION: &str = "p4r__vv";

/// The field of the state that says that a packet has left the pipeline's control, on Tofino.
pub(super) const LEFT: &str = "p4r__left";
/// The type of cells of the copies of measured registers, on Tofino.
pub(super) const CELL_TYPE: &str = "p4r_cell_t";
