// SPDX-License-Identifier: Apache-2.0
//! PSA, the Portable Switch Architecture, as data. Ingress and egress have headers and metadata of their own;
//! metadata that crosses between them is storage with one name. No device is described. The meaning of externs
//! is in `externs`.

pub(super) mod externs;

use super::description::{BlockRole, Description, Gress, MetadataField, TableProperty};
use crate::BlockKind;

/// The description.
pub(super) static DESCRIPTION: Description = Description {
    name: "psa",
    title: "Portable Switch Architecture",
    package: "PSA_Switch",
    marker: None,
    interface: "psa.p4",
    blocks: &[INGRESS_PARSER, INGRESS, INGRESS_DEPARSER, EGRESS_PARSER, EGRESS, EGRESS_DEPARSER],
    metadata: &[],
    requests: &[],
    ports: None,
    table_properties: &[
        ("size", TableProperty::Size),
        ("psa_idle_timeout", TableProperty::IdleTimeout),
        ("psa_implementation", TableProperty::Object),
        ("psa_direct_counter", TableProperty::Object),
        ("psa_direct_meter", TableProperty::Object),
    ],
    calculation_stem: None,
    whole_byte_headers: false,
    single_prefix_key: false,
    action_data_bits: None,
};

const INGRESS_PARSER: BlockRole = BlockRole {
    role: "ingress.ip",
    display_name: "ingress parser",
    storage: &[
        "",
        "ingress.hdr",
        "ingress.meta",
        "ingress_parser_input_metadata",
        "resubmit_meta",
        "recirculate_meta",
    ],
    parser_error: Some(MetadataField::new("ingress_input_metadata", "parser_error")),
    ..BlockRole::new(BlockKind::Parser, Gress::Ingress)
};

const INGRESS: BlockRole = BlockRole {
    role: "ingress.ig",
    display_name: "ingress",
    storage: &["ingress.hdr", "ingress.meta", "ingress_input_metadata", "ingress_output_metadata"],
    ..BlockRole::new(BlockKind::Control, Gress::Ingress)
};

const INGRESS_DEPARSER: BlockRole = BlockRole {
    role: "ingress.id",
    display_name: "ingress deparser",
    storage: &[
        "",
        "clone_i2e_meta",
        "resubmit_meta",
        "normal_meta",
        "ingress.hdr",
        "ingress.meta",
        "ingress_output_metadata",
    ],
    ..BlockRole::new(BlockKind::Deparser, Gress::Ingress)
};

const EGRESS_PARSER: BlockRole = BlockRole {
    role: "egress.ep",
    display_name: "egress parser",
    storage: &[
        "",
        "egress.hdr",
        "egress.meta",
        "egress_parser_input_metadata",
        "normal_meta",
        "clone_i2e_meta",
        "clone_e2e_meta",
    ],
    parser_error: Some(MetadataField::new("egress_input_metadata", "parser_error")),
    ..BlockRole::new(BlockKind::Parser, Gress::Egress)
};

const EGRESS: BlockRole = BlockRole {
    role: "egress.eg",
    display_name: "egress",
    storage: &["egress.hdr", "egress.meta", "egress_input_metadata", "egress_output_metadata"],
    ..BlockRole::new(BlockKind::Control, Gress::Egress)
};

const EGRESS_DEPARSER: BlockRole = BlockRole {
    role: "egress.ed",
    display_name: "egress deparser",
    storage: &[
        "",
        "clone_e2e_meta",
        "recirculate_meta",
        "egress.hdr",
        "egress.meta",
        "egress_output_metadata",
        "egress_deparser_input_metadata",
    ],
    ..BlockRole::new(BlockKind::Deparser, Gress::Egress)
};
