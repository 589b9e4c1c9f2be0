// SPDX-License-Identifier: Apache-2.0
//! Declarations of the headers of events and of the struct of all headers; `shapes` lays them out.

use super::context::Context;

/// Declares the headers and the struct of all headers.
pub(super) fn write(context: &mut Context<'_>) {
    let program = context.program;
    for (at, event) in program.events.iter().enumerate() {
        let shape = &context.shapes.events[at];
        let constant = format!("const bit<16> {} = {};", shape.constant, event.wire_number);
        let mut declaration = None;
        if let Some((ty, _)) = &shape.header {
            let mut text = format!("header {ty} {{");
            for (name, width_bits) in shape.fields.iter().flatten() {
                text.push_str(&format!("bit<{width_bits}> {name};"));
            }
            if shape.padding_bits > 0 {
                text.push_str(&format!("bit<{}> padding;", shape.padding_bits));
            }
            text.push('}');
            declaration = Some((ty.clone(), text));
        }
        context.put(event.span, constant);
        if let Some((ty, text)) = declaration {
            context.put(event.span, text);
            context.comments.push((ty, format!("event {}", event.name)));
        }
    }
    for chunk in &context.shapes.chunks {
        context.pieces.push((chunk.span, chunk.declaration.clone()));
    }
    let mut text = String::from("struct headers_t { lucid_t frame;");
    for slot in 0..context.shapes.slot_count {
        text.push_str(&format!("lucid_t frame_{slot};"));
    }
    for (ty, name) in context.shapes.events.iter().filter_map(|shape| shape.header.as_ref()) {
        text.push_str(&format!("{ty} {name};"));
    }
    for ((_, event), name) in &context.shapes.slots {
        if let (Some((ty, _)), Some(name)) = (&context.shapes.event(*event).header, name) {
            text.push_str(&format!("{ty} {name};"));
        }
    }
    context.pieces.push((source::Span::NONE, text));
    let chunks = std::mem::take(&mut context.shapes.chunks);
    for chunk in chunks {
        context.put(chunk.span, format!("{} {};", chunk.ty, chunk.name));
    }
    context.put(source::Span::NONE, "}");
}
