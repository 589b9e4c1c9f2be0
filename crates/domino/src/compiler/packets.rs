// SPDX-License-Identifier: Apache-2.0
//! The parts of the P4_16 program around the statements, by the layout of frames: words, or the headers of a binding.

use super::bound;
use super::parts::{CONTROL, EGRESS, PACKAGE, Parts};
use crate::binding::Binding;
use crate::core::{Core, each_target};
use p4::build::ProgramBuilder;
use source::Span;
use std::collections::HashSet;

/// How frames hold the packet's fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// A 32-bit big-endian word for each field in the order of declaration, from byte 0. A shorter frame is dropped and
    /// counted. Others leave by the port that they entered by, unless the field with this index is not 0.
    Words {
        /// The field that drops packets.
        drop_field: Option<usize>,
    },
    /// Fields stand for header fields and the like. Frames without these headers pass without the program, and are counted.
    Bound(Binding),
}

impl Default for Layout {
    fn default() -> Layout {
        Layout::Words { drop_field: None }
    }
}

/// Returns the parts of a program; `fields` says how its fields are written.
pub(super) fn parts(core: &Core, layout: &Layout, fields: &[String]) -> Parts {
    match layout {
        Layout::Words { drop_field } => words(drop_field.and_then(|field| fields.get(field))),
        Layout::Bound(binding) => {
            let mut assigned = HashSet::new();
            each_target(&core.body, &mut |variable| {
                assigned.insert(variable.index());
            });
            bound::parts(binding, fields, &assigned)
        }
    }
}

/// Declares headers and parser.
pub(super) fn declare(
    builder: &mut ProgramBuilder,
    core: &Core,
    layout: &Layout,
    fields: &[String],
) {
    if let Layout::Bound(_) = layout {
        builder.put(Span::NONE, bound::DECLARATIONS);
        return;
    }
    builder
        .comment("packet_t", "The packet: a word for each field in the order of its declaration.");
    builder.put(Span::NONE, "header packet_t {");
    for (field, name) in core.fields.iter().zip(fields) {
        let name = name.strip_prefix(PREFIX).unwrap_or(name);
        builder.put(field.span, &format!("bit<32> {name};"));
    }
    builder.put(Span::NONE, "}");
    builder.put(Span::NONE, WORDS_BEGIN);
}

/// How a field of the header of words is written.
pub(super) const PREFIX: &str = "hdr.packet.";

const WORDS_BEGIN: &str = "
struct headers_t { packet_t packet; }
struct metadata_t { }
parser DominoParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start { packet.extract(hdr.packet); transition accept; }
}
control DominoVerifyChecksum(inout headers_t hdr, inout metadata_t meta) { apply { } }
";

fn words(drop_field: Option<&String>) -> Parts {
    let drop = drop_field.map_or(String::new(), |field| {
        format!("if ({field} != 32w0) {{ mark_to_drop(standard_metadata); }}")
    });
    let rest = "
control DominoComputeChecksum(inout headers_t hdr, inout metadata_t meta) { apply { } }
control DominoDeparser(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.packet); } }
";
    Parts {
        control_begin: format!("{CONTROL} counter(32w1, CounterType.packets) short_packets;"),
        apply_begin: "apply { if (hdr.packet.isValid()) {
            standard_metadata.egress_spec = standard_metadata.ingress_port;"
            .to_string(),
        apply_end: format!(
            "{drop} }} else {{ short_packets.count(32w0); mark_to_drop(standard_metadata); }} }} }}"
        ),
        rest: format!("{EGRESS}{rest}{PACKAGE}"),
    }
}
