// SPDX-License-Identifier: Apache-2.0
//! TNA, the architecture of Tofino 1, as data. Ingress and egress have headers and metadata of their own;
//! only the packet's bytes cross from one to the other. Time stamps are written behind each parser, and parser
//! errors are read there. The meaning of externs is in `externs`.
//!
//! Two slots are not in the interface: `ig_intr_md_for_tm.$ucast_set` is 1 once the program has set
//! `ucast_egress_port`, and a parser's error number goes to `$error` beside `parser_err`.

pub(super) mod externs;
mod methods;
mod objects;

use super::description::{
    BlockRole, Description, Gress, MetadataField, Ports, TableProperty, Transition,
};
use crate::BlockKind;

/// The description.
pub(super) static DESCRIPTION: Description = Description {
    name: "tna",
    title: "Tofino Native Architecture",
    package: "Switch",
    marker: Some("ingress_intrinsic_metadata_for_tm_t"),
    interface: "tna.p4",
    blocks: &[INGRESS_PARSER, INGRESS, INGRESS_DEPARSER, EGRESS_PARSER, EGRESS, EGRESS_DEPARSER],
    metadata: &[
        INGRESS_TIME,
        field(FROM_INGRESS_PARSER, "parser_err"),
        INGRESS_ERROR,
        INGRESS_DROP,
        EGRESS_TIME,
        field(FROM_EGRESS_PARSER, "parser_err"),
        EGRESS_ERROR,
        EGRESS_DROP,
        for_tm("ucast_egress_port"),
        for_tm(UNICAST_FLAG),
        for_tm("bypass_egress"),
        for_tm("ingress_cos"),
        for_tm("qid"),
        for_tm("copy_to_cpu"),
        for_tm("mcast_grp_a"),
        for_tm("mcast_grp_b"),
        for_tm("rid"),
        for_tm("level1_exclusion_id"),
        for_tm("level2_exclusion_id"),
    ],
    requests: &["mirror", "resubmit", "digest"],
    ports: Some(Ports { width_bits: 9, drop: None, recirculation: Some(68) }),
    table_properties: &[
        ("size", TableProperty::Size),
        ("idle_timeout", TableProperty::IdleTimeout),
        ("implementation", TableProperty::Object),
        ("counters", TableProperty::Object),
        ("meters", TableProperty::Object),
    ],
    calculation_stem: None,
    whole_byte_headers: false,
    single_prefix_key: false,
    action_data_bits: Some(512),
};

const INGRESS_HEADERS: &str = "ingress.hdr";
const INGRESS_USER: &str = "ingress.md";
const INGRESS_INTRINSIC: &str = "ig_intr_md";
const FROM_INGRESS_PARSER: &str = "ig_intr_md_from_prsr";
const FOR_INGRESS_DEPARSER: &str = "ig_intr_md_for_dprsr";
/// Storage for the traffic manager, written in ingress.
const FOR_TRAFFIC_MANAGER: &str = "ig_intr_md_for_tm";
const EGRESS_HEADERS: &str = "egress.hdr";
const EGRESS_USER: &str = "egress.md";
const EGRESS_INTRINSIC: &str = "eg_intr_md";
const FROM_EGRESS_PARSER: &str = "eg_intr_md_from_prsr";
const FOR_EGRESS_DEPARSER: &str = "eg_intr_md_for_dprsr";
const FOR_OUTPUT_PORT: &str = "eg_intr_md_for_oport";

/// Set when `ucast_egress_port` is: without, there is no unicast copy, and 0 is a port.
const UNICAST_FLAG: &str = "$ucast_set";
/// A parser's error as a number of the program's errors.
const ERROR: &str = "$error";

const fn field(storage: &'static str, name: &'static str) -> MetadataField {
    MetadataField::new(storage, name)
}

const fn for_tm(name: &'static str) -> MetadataField {
    MetadataField::new(FOR_TRAFFIC_MANAGER, name)
}

const INGRESS_TIME: MetadataField = field(FROM_INGRESS_PARSER, "global_tstamp");
const INGRESS_ERROR: MetadataField = field(FROM_INGRESS_PARSER, ERROR);
const INGRESS_DROP: MetadataField = field(FOR_INGRESS_DEPARSER, "drop_ctl");
const EGRESS_TIME: MetadataField = field(FROM_EGRESS_PARSER, "global_tstamp");
const EGRESS_ERROR: MetadataField = field(FROM_EGRESS_PARSER, ERROR);
const EGRESS_DROP: MetadataField = field(FOR_EGRESS_DEPARSER, "drop_ctl");

const fn transition(to: &'static str, writes: &'static [MetadataField]) -> Transition {
    Transition { writes, ..Transition::new(to) }
}

const INGRESS_PARSER: BlockRole = BlockRole {
    role: "pipe0.ingress_parser",
    display_name: "ingress parser",
    storage: &[
        "",
        INGRESS_HEADERS,
        INGRESS_USER,
        INGRESS_INTRINSIC,
        FOR_TRAFFIC_MANAGER,
        FROM_INGRESS_PARSER,
    ],
    // `parser_err` has bits of its own; `externs` gives the parser a slot for the number.
    is_first: true,
    reads: &[INGRESS_ERROR],
    transitions: &[transition("pipe0.ingress", &[INGRESS_TIME])],
    ..BlockRole::new(BlockKind::Parser, Gress::Ingress)
};

const INGRESS: BlockRole = BlockRole {
    role: "pipe0.ingress",
    display_name: "ingress",
    storage: &[
        INGRESS_HEADERS,
        INGRESS_USER,
        INGRESS_INTRINSIC,
        FROM_INGRESS_PARSER,
        FOR_INGRESS_DEPARSER,
        FOR_TRAFFIC_MANAGER,
    ],
    transitions: &[transition("pipe0.ingress_deparser", &[])],
    ..BlockRole::new(BlockKind::Control, Gress::Ingress)
};

const INGRESS_DEPARSER: BlockRole = BlockRole {
    role: "pipe0.ingress_deparser",
    display_name: "ingress deparser",
    storage: &["", INGRESS_HEADERS, INGRESS_USER, FOR_INGRESS_DEPARSER, INGRESS_INTRINSIC],
    requests: &["mirror", "resubmit", "digest"],
    reads: &[
        INGRESS_DROP,
        for_tm("ucast_egress_port"),
        for_tm(UNICAST_FLAG),
        for_tm("bypass_egress"),
        for_tm("ingress_cos"),
        for_tm("qid"),
        for_tm("copy_to_cpu"),
        for_tm("mcast_grp_a"),
        for_tm("mcast_grp_b"),
        for_tm("rid"),
        for_tm("level1_exclusion_id"),
        for_tm("level2_exclusion_id"),
    ],
    ..BlockRole::new(BlockKind::Deparser, Gress::Ingress)
};

const EGRESS_PARSER: BlockRole = BlockRole {
    role: "pipe0.egress_parser",
    display_name: "egress parser",
    storage: &["", EGRESS_HEADERS, EGRESS_USER, EGRESS_INTRINSIC, FROM_EGRESS_PARSER],
    is_first: true,
    reads: &[EGRESS_ERROR],
    transitions: &[transition("pipe0.egress", &[EGRESS_TIME])],
    ..BlockRole::new(BlockKind::Parser, Gress::Egress)
};

const EGRESS: BlockRole = BlockRole {
    role: "pipe0.egress",
    display_name: "egress",
    storage: &[
        EGRESS_HEADERS,
        EGRESS_USER,
        EGRESS_INTRINSIC,
        FROM_EGRESS_PARSER,
        FOR_EGRESS_DEPARSER,
        FOR_OUTPUT_PORT,
    ],
    transitions: &[transition("pipe0.egress_deparser", &[])],
    ..BlockRole::new(BlockKind::Control, Gress::Egress)
};

const EGRESS_DEPARSER: BlockRole = BlockRole {
    role: "pipe0.egress_deparser",
    display_name: "egress deparser",
    storage: &[
        "",
        EGRESS_HEADERS,
        EGRESS_USER,
        FOR_EGRESS_DEPARSER,
        EGRESS_INTRINSIC,
        FROM_EGRESS_PARSER,
    ],
    reads: &[EGRESS_DROP],
    requests: &["mirror"],
    ..BlockRole::new(BlockKind::Deparser, Gress::Egress)
};
