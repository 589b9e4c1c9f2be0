// SPDX-License-Identifier: Apache-2.0
//! [`Parts`]: the text around the statements, and what it has in every layout of frames.

/// The parts around the statements.
pub(super) struct Parts {
    /// Behind the header and parser: up to the declarations of the control.
    pub control_begin: String,
    /// Before the first statement.
    pub apply_begin: String,
    /// Behind the last statement.
    pub apply_end: String,
    /// Behind the control.
    pub rest: String,
}

/// The beginning of the control with the statements.
pub(super) const CONTROL: &str = "
control DominoIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
";

/// The controls behind the one with the statements that every layout has.
pub(super) const EGRESS: &str = "
control DominoEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}
";

/// The package.
pub(super) const PACKAGE: &str = "
V1Switch(DominoParser(), DominoVerifyChecksum(), DominoIngress(), DominoEgress(), DominoComputeChecksum(),
         DominoDeparser()) main;
";
