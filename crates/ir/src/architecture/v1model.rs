// SPDX-License-Identifier: Apache-2.0
//! v1model, the architecture of BMv2's simple_switch, as data. Lengths of valid headers are measured behind the
//! parser, ingress and egress. A clone made in ingress has the headers of a second run of the parser; one made
//! in egress has those at the end of egress. The meaning of externs is in `externs`.

mod calculations;
pub(super) mod externs;

use super::description::{
    BlockRole, Description, Gress, Kept, MetadataField, Ports, TableProperty, Transition,
};
use crate::BlockKind;

/// The description.
pub(super) static DESCRIPTION: Description = Description {
    name: "v1model",
    title: "BMv2's simple_switch",
    package: "V1Switch",
    marker: None,
    interface: "v1model.p4",
    blocks: &[PARSER, VERIFY, INGRESS, EGRESS, COMPUTE, DEPARSER],
    metadata: &[
        INGRESS_PORT,
        EGRESS_SPEC,
        EGRESS_PORT,
        INSTANCE_TYPE,
        PACKET_LENGTH,
        ENQ_TIMESTAMP,
        ENQ_QDEPTH,
        DEQ_TIMEDELTA,
        DEQ_QDEPTH,
        INGRESS_GLOBAL_TIMESTAMP,
        EGRESS_GLOBAL_TIMESTAMP,
        MCAST_GRP,
        EGRESS_RID,
        PRIORITY,
    ],
    requests: &["clone_i2e", "clone_e2e", "resubmit", "recirculate", "truncate", "digest"],
    ports: Some(Ports { width_bits: 9, drop: Some(511), recirculation: None }),
    table_properties: &[
        ("size", TableProperty::Size),
        ("support_timeout", TableProperty::IdleTimeout),
        ("implementation", TableProperty::Object),
        ("counters", TableProperty::Object),
        ("meters", TableProperty::Object),
    ],
    calculation_stem: Some("calc"),
    whole_byte_headers: true,
    single_prefix_key: true,
    action_data_bits: None,
};

/// Storage of the third parameter of the parser, ingress and egress.
const STANDARD_METADATA: &str = "standard_metadata";

const fn field(name: &'static str) -> MetadataField {
    MetadataField::new(STANDARD_METADATA, name)
}

const fn optional(name: &'static str) -> MetadataField {
    MetadataField::optional(STANDARD_METADATA, name)
}

const INGRESS_PORT: MetadataField = field("ingress_port");
const EGRESS_SPEC: MetadataField = field("egress_spec");
const EGRESS_PORT: MetadataField = field("egress_port");
const INSTANCE_TYPE: MetadataField = optional("instance_type");
const PACKET_LENGTH: MetadataField = optional("packet_length");
const ENQ_TIMESTAMP: MetadataField = optional("enq_timestamp");
const ENQ_QDEPTH: MetadataField = optional("enq_qdepth");
const DEQ_TIMEDELTA: MetadataField = optional("deq_timedelta");
const DEQ_QDEPTH: MetadataField = optional("deq_qdepth");
const INGRESS_GLOBAL_TIMESTAMP: MetadataField = optional("ingress_global_timestamp");
const EGRESS_GLOBAL_TIMESTAMP: MetadataField = optional("egress_global_timestamp");
const MCAST_GRP: MetadataField = optional("mcast_grp");
const EGRESS_RID: MetadataField = optional("egress_rid");
const PRIORITY: MetadataField = optional("priority");

/// Fields that the switch writes when a packet enters ingress again.
const WRITTEN_ON_ARRIVAL: &[MetadataField] = &[INSTANCE_TYPE, PACKET_LENGTH];

/// Fields that the switch writes between the queue and egress.
const WRITTEN_BEFORE_EGRESS: &[MetadataField] = &[
    INSTANCE_TYPE,
    ENQ_TIMESTAMP,
    ENQ_QDEPTH,
    EGRESS_GLOBAL_TIMESTAMP,
    DEQ_TIMEDELTA,
    DEQ_QDEPTH,
    EGRESS_PORT,
    EGRESS_SPEC,
    PACKET_LENGTH,
];

const CLONES: &[&str] = &["clone_i2e", "clone_e2e"];

const fn back_to_parser(on_requests: &'static [&'static str]) -> Transition {
    let kept = Kept::FieldLists;
    Transition { on_requests, kept, writes: WRITTEN_ON_ARRIVAL, ..Transition::new("p") }
}

const PARSER: BlockRole = BlockRole {
    role: "p",
    display_name: "parser",
    storage: &["", "hdr", "meta", STANDARD_METADATA],
    parser_error: Some(field("parser_error")),
    is_first: true,
    measures_headers: true,
    transitions: &[
        Transition::new("vr"),
        Transition { on_requests: CLONES, kept: Kept::Headers, ..Transition::new("eg") },
    ],
    ..BlockRole::new(BlockKind::Parser, Gress::Ingress)
};

/// Hardware verifies checksums in the parser, not in a stage.
const VERIFY: BlockRole = BlockRole {
    role: "vr",
    takes_stages: false,
    display_name: "checksum verification",
    storage: &["hdr", "meta"],
    transitions: &[Transition::new("ig")],
    ..BlockRole::new(BlockKind::Control, Gress::Ingress)
};

const INGRESS: BlockRole = BlockRole {
    role: "ig",
    display_name: "ingress",
    storage: &["hdr", "meta", STANDARD_METADATA],
    measures_headers: true,
    reads: &[MCAST_GRP, EGRESS_SPEC, PRIORITY],
    requests: &["clone_i2e", "resubmit", "truncate", "digest"],
    transitions: &[
        Transition { writes: WRITTEN_BEFORE_EGRESS, ..Transition::new("eg") },
        back_to_parser(&["resubmit"]),
    ],
    ..BlockRole::new(BlockKind::Control, Gress::Ingress)
};

const EGRESS: BlockRole = BlockRole {
    role: "eg",
    display_name: "egress",
    storage: &["hdr", "meta", STANDARD_METADATA],
    measures_headers: true,
    reads: &[EGRESS_SPEC],
    drop_only: &[EGRESS_SPEC],
    requests: &["clone_e2e", "recirculate", "truncate"],
    transitions: &[
        Transition::new("ck"),
        Transition {
            on_requests: CLONES,
            kept: Kept::HeadersAndFieldLists,
            reads: &[PRIORITY],
            writes: WRITTEN_BEFORE_EGRESS,
            ..Transition::new("eg")
        },
    ],
    ..BlockRole::new(BlockKind::Control, Gress::Egress)
};

/// Hardware computes checksums in the deparser, not in a stage.
const COMPUTE: BlockRole = BlockRole {
    role: "ck",
    takes_stages: false,
    display_name: "checksum computation",
    storage: &["hdr", "meta"],
    transitions: &[Transition::new("dep")],
    ..BlockRole::new(BlockKind::Control, Gress::Egress)
};

const DEPARSER: BlockRole = BlockRole {
    role: "dep",
    display_name: "deparser",
    storage: &["", "hdr"],
    transitions: &[back_to_parser(&["recirculate"])],
    ..BlockRole::new(BlockKind::Deparser, Gress::Egress)
};
