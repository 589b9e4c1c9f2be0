// SPDX-License-Identifier: Apache-2.0
//! Names of what the compiler adds to a program.

/// The variable or parameter that holds values, selectors and version bits.
pub(super) const STATE: &str = "p4r";
/// Its type.
pub(super) const STATE_TYPE: &str = "p4r_t";
/// The beginning of the fields of the state that say which copy packets measure into.
const WORKING_COPY: &str = "p4r__mv";
/// The field of the state that says which version of malleable tables packets match.
pub(super) const VERSION: &str = "p4r__vv";

/// The field of the state that says that a packet has left the pipeline's control, on Tofino.
pub(super) const LEFT: &str = "p4r__left";
/// The type of cells of the copies of measured registers, on Tofino.
pub(super) const CELL_TYPE: &str = "p4r_cell_t";

/// The field of the state that says which copy packets measure a group of measurements into.
pub(super) fn working_copy(group: usize) -> String {
    match group {
        0 => WORKING_COPY.to_string(),
        group => format!("{WORKING_COPY}{group}"),
    }
}

/// The group whose working copy a parameter of an init action is.
pub(crate) fn working_copy_group(parameter: &str) -> Option<usize> {
    match parameter.strip_prefix(WORKING_COPY)? {
        "" => Some(0),
        number => number.parse().ok(),
    }
}
