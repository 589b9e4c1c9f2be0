// SPDX-License-Identifier: Apache-2.0
//! The parts of a program in their order: constants and headers, metadata, and the six blocks of a
//! pipe. What is in the blocks comes from the other modules.

use super::codes::{INTERNAL, NOT_ON_TARGET};
use super::context::{Context, Made, Piece};
use super::event_headers::Chunk;
use super::parts::{Part, SchedulerPart};
use super::{
    conditions, egress_parser, events, memory, parsers, probes, scheduler_tables, slots, tables,
};
use crate::atomic;
use crate::atomic::program::{Operation, VariableKind};
use crate::compiled::Compiled;
use crate::options::Delay;
use lucid::core::EventId;
use p4::build::ProgramBuilder;
use pisa::{Gress, VariableId};
use source::{Diagnostic, Diagnostics, FileId, SourceMap, Span};
use std::collections::BTreeSet;

/// The P4_16 program of a layout.
pub(super) fn emit(made: &Made<'_>, mut map: SourceMap) -> Result<Compiled, Diagnostics> {
    let mut context = Context::new(made);
    let read = parsers::ingress(&mut context);
    let ingress_parser = std::mem::take(&mut context.pieces);
    let last = end_of_headers(&context, &read);
    let ingress = control(&mut context, Gress::Ingress, &last);
    let egress = control(&mut context, Gress::Egress, "");
    memory::absent(&mut context);
    egress_parser::write(&mut context);
    let egress_parser = std::mem::take(&mut context.pieces);
    events::write(&mut context, read.chunks);
    let types = std::mem::take(&mut context.types);
    context.pieces.extend(types);
    metadata(&mut context, Gress::Ingress);
    metadata(&mut context, Gress::Egress);
    context.pieces.extend(ingress_parser);
    let user = user(&mut context, &mut map);
    context.pieces.extend(ingress);
    ingress_deparser(&mut context);
    context.pieces.extend(egress_parser);
    context.pieces.extend(egress);
    egress_deparser(&mut context);
    context.put(
        Span::NONE,
        "Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), \
         EgressDeparser()) pipe; Switch(pipe) main;",
    );
    if context.found.has_errors() {
        return Err(context.found);
    }
    finish(context, map, &user)
}

/// Parameters of an ingress control, the user's too.
const INGRESS_PARAMETERS: &str = "(inout headers_t hdr, inout ig_md_t ig_md, \
     in ingress_intrinsic_metadata_t ig_intr_md, \
     in ingress_intrinsic_metadata_from_parser_t ig_prsr_md, \
     inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md, \
     inout ingress_intrinsic_metadata_for_tm_t ig_tm_md)";

/// The user's P4_16 in front of the dispatcher and behind it; which files it is.
fn user(context: &mut Context<'_>, map: &mut SourceMap) -> Vec<FileId> {
    let mut files = Vec::new();
    for (hook, given) in [("before", &context.options.before), ("after", &context.options.after)] {
        let Some(given) = given else { continue };
        let hook = (hook, INGRESS_PARAMETERS);
        let (found, pieces) =
            crate::user::read(map, given, hook, NOT_ON_TARGET, &mut context.found);
        files.extend(found);
        context.pieces.extend(pieces);
    }
    files
}

/// Where in what ingress applies the user's control stands in front of handlers.
fn before_handlers(apply: &[String]) -> usize {
    let values = apply.iter().position(|one| one.starts_with("switch_values.apply"));
    values.map_or(0, |at| at + 1)
}

/// Puts the user's controls around what ingress applies; `self` and externs are known to them.
fn with_user(context: &mut Context<'_>, apply: &mut Vec<String>) {
    for (hook, given) in [("before", &context.options.before), ("after", &context.options.after)] {
        if given.is_none() {
            continue;
        }
        context.pieces.push((Span::NONE, format!("{hook}() {hook}_here;")));
        let call = user_call(context, hook);
        if hook == "after" {
            apply.push(call);
            continue;
        }
        apply.insert(before_handlers(apply), call);
    }
}

/// The call of a control of the user's. Frames that time the delay queue do not meet it.
fn user_call(context: &Context<'_>, hook: &str) -> String {
    let call =
        format!("{hook}_here.apply(hdr, ig_md, ig_intr_md, ig_prsr_md, ig_dprsr_md, ig_tm_md);");
    match context.options.delay {
        Delay::Queue => format!("if (!hdr.pause.isValid()) {{ {call} }}"),
        Delay::Recirculation => call,
    }
}

/// Headers that are read and leave nowhere: the program says that they end here. The deparser computes checksums of some.
fn end_of_headers(context: &Context<'_>, read: &parsers::Read) -> String {
    let atomic = context.atomic;
    let events = &context.events;
    let mut summed: BTreeSet<String> = BTreeSet::new();
    for statement in &atomic.statements {
        let Operation::Checksum { arguments, .. } = &statement.operation else { continue };
        for id in arguments.iter().filter_map(|(operand, _)| operand.variable()) {
            if let VariableKind::Parameter { event, parameter } = atomic.variable(id).kind {
                summed.insert(events.incoming(Gress::Ingress, event, parameter));
            }
        }
    }
    let ended = (0..events.events.len() as u32).map(EventId).filter(|id| {
        let event = events.event(*id);
        let leaves = events.passing.contains(id)
            || events.leaving.contains(id)
            || event.has_egress
            || events.slots.iter().any(|slot| slot.contains(id));
        let has_own = event.ty.is_some() && !events.parsed.contains_key(id);
        event.is_handled && has_own && !leaves
    });
    let mut headers: Vec<String> = ended.map(|id| events.incoming_header(id)).collect();
    headers.extend(read.has_number.then(|| "hdr.number".to_string()));
    headers.extend(read.chunks.iter().map(Chunk::header));
    let is_summed = |header: &String| {
        let field_of = |field: &String| {
            field.strip_prefix(header.as_str()).is_some_and(|rest| rest.starts_with('.'))
        };
        summed.iter().any(field_of)
    };
    headers.retain(|header| !is_summed(header));
    headers.iter().map(|header| format!("{header}.setInvalid();")).collect()
}

/// A control with its tables, and statements at its end.
fn control(context: &mut Context<'_>, gress: Gress, last: &str) -> Vec<Piece> {
    memory::write(context, gress);
    let mut apply = tables::write(context, gress);
    if gress == Gress::Ingress {
        with_user(context, &mut apply);
    }
    let body = std::mem::take(&mut context.pieces);
    let head = match gress {
        Gress::Ingress => {
            format!("control Ingress{INGRESS_PARAMETERS} {{")
        }
        Gress::Egress => "control Egress(inout headers_t hdr, inout eg_md_t eg_md, \
             in egress_intrinsic_metadata_t eg_intr_md, \
             in egress_intrinsic_metadata_from_parser_t eg_prsr_md, \
             inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md, \
             inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {"
            .to_string(),
    };
    let mut pieces = vec![(Span::NONE, head)];
    pieces.extend(body);
    let end = match gress {
        Gress::Ingress => last.to_string(),
        // The bridge ends here, and events in whose place egress handlers generated others.
        Gress::Egress => {
            let events = context
                .events
                .events
                .iter()
                .zip(0..)
                .filter(|(event, _)| event.has_egress && event.ty.is_some());
            let replaced: String = events
                .map(|(_, at)| context.events.incoming_header(EventId(at)) + ".setInvalid();")
                .collect();
            match replaced.is_empty() {
                true => "hdr.bridge.setInvalid();".to_string(),
                false => {
                    format!("if (eg_md.generated == 1) {{ {replaced} }} hdr.bridge.setInvalid();")
                }
            }
        }
    };
    pieces.push((Span::NONE, format!("apply {{ {} {end} }} }}", apply.join(" "))));
    pieces
}

/// The struct of metadata of one half.
fn metadata(context: &mut Context<'_>, gress: Gress) {
    let mut used: BTreeSet<VariableId> = BTreeSet::new();
    let atomic = context.atomic;
    for statement in atomic.statements.iter().filter(|one| one.gress == gress) {
        used.extend(statement.guard.variables());
        used.extend(atomic.reads(statement));
        used.extend(statement.operation.writes());
    }
    let name = match gress {
        Gress::Ingress => "ig_md_t",
        Gress::Egress => "eg_md_t",
    };
    context.put(
        Span::NONE,
        format!("struct {name} {{ {}", scheduler_tables::metadata(context, gress)),
    );
    for id in used {
        let variable = atomic.variable(id);
        if variable.kind == VariableKind::Temporary {
            let field = &context.fields[id.0 as usize];
            let text = format!("bit<{}> {field};", variable.width_bits);
            context.put(variable.span, text);
        }
    }
    context.put(Span::NONE, "}");
}

fn ingress_deparser(context: &mut Context<'_>) {
    context.put(
        Span::NONE,
        "control IngressDeparser(packet_out pkt, inout headers_t hdr, in ig_md_t ig_md, \
         in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md, \
         in ingress_intrinsic_metadata_t ig_intr_md) {",
    );
    let sums = checksums(context, Gress::Ingress);
    context.put(Span::NONE, "apply {");
    context.pieces.extend(sums);
    context.put(Span::NONE, "pkt.emit(hdr.bridge);");
    if context.options.delay == Delay::Queue {
        context.put(Span::NONE, "pkt.emit(hdr.pause);");
    }
    context.put(Span::NONE, "pkt.emit(hdr.frame);");
    for id in context.events.passing.clone() {
        if context.events.event(id).ty.is_some() {
            let header = context.events.incoming_header(id);
            context.put(Span::NONE, format!("pkt.emit({header});"));
        }
    }
    emit_slots(context);
    context.put(Span::NONE, "} }");
}

/// Declares the checksums of a deparser and gives its statements.
fn checksums(context: &mut Context<'_>, gress: Gress) -> Vec<Piece> {
    let mut sums = Vec::new();
    let atomic = context.atomic;
    for statement in atomic.statements.iter().filter(|one| one.gress == gress) {
        let Operation::Checksum { to, arguments } = &statement.operation else { continue };
        let name = context.names.fresh("checksum");
        let mut values = Vec::new();
        let mut bits = 0;
        for (operand, width_bits) in arguments {
            values.push(context.operand(*operand, *width_bits, gress));
            bits += width_bits;
        }
        let padding_bits = bits.next_multiple_of(16) - bits;
        if padding_bits > 0 {
            values.push(format!("{padding_bits}w0"));
        }
        context.put(statement.span, format!("Checksum() {name};"));
        let target = context.target(*to, gress);
        let sum = format!("{target} = {name}.update({{ {} }});", values.join(", "));
        // Different generates may put different sums into one slot.
        let text = match conditions::condition(context, &statement.guard, gress) {
            Some(condition) => format!("if ({condition}) {{ {sum} }}"),
            None => sum,
        };
        sums.push((statement.span, text));
    }
    sums
}

fn egress_deparser(context: &mut Context<'_>) {
    context.put(
        Span::NONE,
        "control EgressDeparser(packet_out pkt, inout headers_t hdr, in eg_md_t eg_md, \
         in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {",
    );
    let sums = checksums(context, Gress::Egress);
    let mut text = String::new();
    if context.events.has_cuts() {
        context.put(Span::NONE, "Mirror() mirror;");
        text.push_str(
            "if (eg_dprsr_md.mirror_type == 1) { \
             mirror.emit<mirror_h>(eg_md.session, { eg_md.mirrored }); }",
        );
    }
    context.put(Span::NONE, "apply {");
    context.pieces.extend(sums);
    text.push_str("pkt.emit(hdr.frame);");
    for id in context.events.at_egress() {
        if context.events.event(id).ty.is_some() {
            text.push_str(&format!("pkt.emit({});", context.events.incoming_header(id)));
        }
    }
    for id in &context.events.leaving {
        if context.events.event(*id).ty.is_some() {
            text.push_str(&format!("pkt.emit({});", context.events.leaving_header(*id)));
        }
    }
    context.put(Span::NONE, format!("{text} }} }}"));
}

fn emit_slots(context: &mut Context<'_>) {
    let mut text = String::new();
    for slot in 0..context.events.slots.len() as u32 {
        text.push_str(&format!("pkt.emit(hdr.slot{slot});"));
        for header in context.events.slot_headers(slot) {
            text.push_str(&format!("pkt.emit({header});"));
        }
    }
    context.put(Span::NONE, text);
}

fn finish(context: Context<'_>, map: SourceMap, user: &[FileId]) -> Result<Compiled, Diagnostics> {
    let mut builder = ProgramBuilder::new(map, &["core.p4", "tna.p4"]);
    for (declaration, text) in &context.comments {
        builder.comment(declaration, text.as_str());
    }
    for (span, text) in &context.pieces {
        builder.put(*span, text);
    }
    let built = builder.finish().map_err(|(wrong, _)| internal(&wrong, user, &context.pieces))?;
    let groups = atomic::Groups::of(context.program);
    let floods = slots::slot_shapes(context.atomic)
        .iter()
        .any(|shape| shape.ports.contains(&crate::wire::PlaceKind::Flood));
    Ok(Compiled {
        warnings: source::Diagnostics::new(),
        probes: probes::probes(&context),
        built,
        options: context.options.clone(),
        globals: context.globals,
        port_groups: groups.port_groups(),
        switch_groups: groups.switch_groups(),
        mixes: false,
        addresses_packets: crate::addressed::sends_packets(context.program),
        egress_values: context.parts.contains(&Part::Scheduler(SchedulerPart::EgressValues)),
        floods,
        most_generated: context.events.slots.len() as u32,
        cut_lengths: context.events.cut_lengths(),
        hashes: Vec::new(),
        delay_period_ps: match context.options.delay {
            Delay::Queue => context.options.delay_period_ps,
            Delay::Recirculation => 0,
        },
    })
}

/// The P4_16 checker does not take what was made.
fn internal(wrong: &Diagnostics, user: &[FileId], pieces: &[Piece]) -> Diagnostics {
    let mut found = Diagnostics::new();
    for one in wrong.iter() {
        if user.contains(&one.primary.span.file) {
            found.push(one.clone());
            continue;
        }
        let message = format!("the P4_16 program made of this is wrong: {}", one.message);
        let help = "this is a mistake in Planewright; please report it with the program";
        let mut diagnostic = Diagnostic::error(INTERNAL, one.primary.span, message).help(help);
        if one.primary.span.is_none() {
            let text: Vec<&str> = pieces.iter().map(|(_, text)| text.as_str()).collect();
            diagnostic = diagnostic.note(text.join("\n"));
        }
        found.push(diagnostic);
    }
    found
}
