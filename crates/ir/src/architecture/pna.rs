// SPDX-License-Identifier: Apache-2.0
//! PNA, the Portable NIC Architecture, as data. No device is described. The meaning of externs is in `externs`.

pub(super) mod externs;

use super::description::{BlockRole, Description, Gress, MetadataField, TableProperty};
use crate::BlockKind;

/// The description.
pub(super) static DESCRIPTION: Description = Description {
    name: "pna",
    title: "Portable NIC Architecture",
    package: "PNA_NIC",
    marker: None,
    interface: "pna.p4",
    blocks: &[PRE_CONTROL, MAIN_PARSER, MAIN_CONTROL, MAIN_DEPARSER],
    metadata: &[],
    requests: &[],
    ports: None,
    table_properties: &[
        ("size", TableProperty::Size),
        ("pna_idle_timeout", TableProperty::IdleTimeout),
        ("pna_implementation", TableProperty::Object),
        ("pna_direct_counter", TableProperty::Object),
        ("pna_direct_meter", TableProperty::Object),
    ],
    calculation_stem: None,
    whole_byte_headers: false,
    single_prefix_key: false,
    action_data_bits: None,
};

const PRE_CONTROL: BlockRole = BlockRole {
    role: "pre_control",
    display_name: "pre control",
    storage: &["pre_hdr", "pre_user_meta", "pre_input_metadata", "pre_output_metadata"],
    ..BlockRole::new(BlockKind::Control, Gress::Ingress)
};

const MAIN_PARSER: BlockRole = BlockRole {
    role: "main_parser",
    display_name: "main parser",
    storage: &["", "main_hdr", "main_user_meta", "main_parser_input_metadata"],
    parser_error: Some(MetadataField::new("main_input_metadata", "parser_error")),
    ..BlockRole::new(BlockKind::Parser, Gress::Ingress)
};

const MAIN_CONTROL: BlockRole = BlockRole {
    role: "main_control",
    display_name: "main control",
    storage: &["main_hdr", "main_user_meta", "main_input_metadata", "main_output_metadata"],
    ..BlockRole::new(BlockKind::Control, Gress::Ingress)
};

const MAIN_DEPARSER: BlockRole = BlockRole {
    role: "main_deparser",
    display_name: "main deparser",
    storage: &["", "main_hdr", "main_user_meta", "main_output_metadata"],
    ..BlockRole::new(BlockKind::Deparser, Gress::Ingress)
};
