// SPDX-License-Identifier: Apache-2.0
//! The event scheduler in P4_16 for v1model (Lucid §3.2): which frames are for this switch, which
//! handler runs, and how generated events get out of the packet. What a frame is stands in
//! [`super::wire`]; handlers are `v1model`'s.

pub(super) mod egress;
pub(super) mod ingress;
pub(super) mod probes;

use super::expressions::wire_bits;
use super::v1model::Context;
use super::wire::{self, PlaceKind};
use crate::options::Recirculation;
use lucid::core::{LUCID_ETHER_TYPE, Type};
use source::Span;

/// An event that leaves by a port below this, by a linked one or out of the network does not wait for
/// others of the same handler; by other ports it goes round with them.
pub const SERIALISER_PORTS: u32 = 64;

/// Constants and the header of frames.
pub(super) fn constants(context: &mut Context<'_>) {
    let kinds = [
        ("PLACE_HERE", PlaceKind::Here),
        ("PLACE_SWITCH", PlaceKind::Switch),
        ("PLACE_PORT", PlaceKind::Port),
        ("PLACE_GROUP", PlaceKind::Group),
        ("PLACE_FLOOD", PlaceKind::Flood),
        ("PLACE_SWITCHES", PlaceKind::Switches),
    ];
    for (name, kind) in kinds {
        context.put(Span::NONE, format!("const bit<16> {name} = 16w{:#x};", kind.field()));
    }
    context.put(Span::NONE, format!("const bit<16> SOURCE = 16w{:#x};", wire::SOURCE_PREFIX));
    context.put(Span::NONE, format!("const bit<16> ETHERTYPE_LUCID = {LUCID_ETHER_TYPE};"));
    if context.recirculates() {
        context.put(Span::NONE, "const bit<32> RECIRCULATED = 4;");
        let comment = "The instance_type of what `recirculate` brings back.";
        context.comments.push(("RECIRCULATED".to_string(), comment.to_string()));
    }
    context.put(
        Span::NONE,
        "header lucid_t { bit<16> place_kind; bit<32> place; bit<16> source_kind; bit<32> delay_ns; \
         bit<16> ether_type; bit<16> number; }",
    );
    let comment = "The frame of an event: where it is to be handled, how much longer it has to wait, \
                   and which event it is.\nInside the switch source_kind has the low bits of the \
                   time when the frame left egress.";
    context.comments.push(("lucid_t".to_string(), comment.to_string()));
    let comment = "Where an event is to be handled, or to leave.";
    context.comments.push(("PLACE_HERE".to_string(), comment.to_string()));
}

impl Context<'_> {
    fn recirculates(&self) -> bool {
        self.options.recirculation == Recirculation::Primitive
    }

    /// In ingress, whether the packet came by the recirculation port. What the primitive brings back has
    /// no `ingress_port`.
    fn came_round(&self) -> &'static str {
        match self.recirculates() {
            true => "standard_metadata.instance_type == RECIRCULATED",
            false => "standard_metadata.ingress_port == meta.recirculation_port",
        }
    }

    /// The time in ingress, in units of the clock, 48 bits. What the primitive brings back has no
    /// `ingress_global_timestamp`; it has the time when its round began in egress.
    pub(super) fn ingress_time(&self) -> &'static str {
        match self.recirculates() {
            true => "meta.ingress_time",
            false => "standard_metadata.ingress_global_timestamp",
        }
    }

    /// The port by which the packet came, in the parser, 9 bits.
    pub(super) fn parser_ingress_port(&self) -> &'static str {
        match self.recirculates() {
            // One of them is 0.
            true => "(standard_metadata.ingress_port | meta.ingress_port)",
            false => "standard_metadata.ingress_port",
        }
    }
}

/// What the parts of the program tell each other about a packet. Fields in list 0 are kept when the
/// packet is recirculated by the primitive.
pub(super) fn metadata(context: &mut Context<'_>) {
    let ingress = match context.recirculates() {
        true => "@field_list(0) bit<9> ingress_port; @field_list(0) bit<48> ingress_time;",
        false => "bit<9> ingress_port;",
    };
    let mut text = format!(
        "struct metadata_t {{ bit<16> event; {ingress} bit<9> recirculation_port; \
         bit<32> self; bit<8> generated; bit<8> copies; bit<1> leaves; bit<1> whole; bit<1> empty;",
    );
    if context.has_egress_handlers() {
        text.push_str("bit<1> waited; bit<1> transit;");
    }
    if context.mixes {
        text.push_str("bit<8> direct; bit<9> direct_port;");
    }
    for slot in 0..context.shapes.slot_count {
        text.push_str(&format!("bit<1> empty_{slot};"));
    }
    context.put(Span::NONE, text);
    for (at, declared) in context.program.externs.iter().enumerate() {
        let width_bits = match declared.ty {
            Type::Int(_) | Type::Bool => wire_bits(declared.ty),
            _ => continue,
        };
        let field = context.externs[at].clone();
        context.put(declared.span, format!("bit<{width_bits}> {field};"));
    }
    context.put(Span::NONE, "}");
}

/// Checksums, the deparser and the switch.
pub(super) fn deparser(context: &mut Context<'_>) {
    let empty = "(inout headers_t hdr, inout metadata_t meta) { apply { } }";
    let mut text = format!("control verify_checksums{empty} control compute_checksums{empty}");
    text.push_str("control deparser(packet_out packet, in headers_t hdr) { apply {");
    text.push_str("packet.emit(hdr.frame);");
    for (_, name) in context.shapes.events.iter().filter_map(|shape| shape.header.as_ref()) {
        text.push_str(&format!("packet.emit(hdr.{name});"));
    }
    for name in context.shapes.slots.values().flatten() {
        text.push_str(&format!("packet.emit(hdr.{name});"));
    }
    text.push_str(
        "} } V1Switch(packet_parser(), verify_checksums(), ingress(), egress(), \
         compute_checksums(), deparser()) main;",
    );
    context.put(Span::NONE, text);
}
