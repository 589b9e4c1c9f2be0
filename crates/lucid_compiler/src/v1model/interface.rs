// SPDX-License-Identifier: Apache-2.0
//! The interface of v1model in compiled programs: the names that are taken, and the parameters of controls.

use crate::interface::TargetInterface;
use std::sync::LazyLock;

/// The interface that programs include.
pub(super) const FILE: &str = "v1model.p4";

/// Names that the compiler declares in a program.
const OWN_NAMES: &[&str] = &[
    "standard_metadata",
    "hdr",
    "meta",
    "packet",
    "headers_t",
    "metadata_t",
    "lucid_t",
    "packet_parser",
    "ingress",
    "egress",
    "deparser",
    "verify_checksums",
    "compute_checksums",
    "before",
    "after",
    "configuration",
    "configure",
    "forward",
    "forward_to",
    "unreachable",
    "at_once",
    "known",
    "member",
    "at_switch",
    "lengths",
    "measure",
    "PLACE_HERE",
    "PLACE_SWITCH",
    "PLACE_PORT",
    "PLACE_GROUP",
    "PLACE_FLOOD",
    "PLACE_SWITCHES",
    "SOURCE",
    "RECIRCULATED",
    "ETHERTYPE_LUCID",
    "this_switch",
];

pub(super) static INTERFACE: LazyLock<TargetInterface> =
    LazyLock::new(|| TargetInterface::new(FILE, OWN_NAMES));

/// Parameters of every control that the compiler writes, and of the user's.
pub(super) static PARAMETERS: LazyLock<String> =
    LazyLock::new(|| INTERFACE.parameters("Ingress", &["headers_t", "metadata_t"]));
