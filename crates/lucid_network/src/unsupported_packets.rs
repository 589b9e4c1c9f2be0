// SPDX-License-Identifier: Apache-2.0
//! Diagnostics of packets that a compiled program cannot take as the source means it.

use super::arrival::{ADDRESS_BYTES, Arrival};
use lucid::core::EventId;
use lucid_compiler::Backend;
use lucid_reference::simulation::Setup;
use lucid_reference::simulation::codes::MISFIT;
use lucid_reference::specification::InputKind;
use source::{Diagnostic, Span};

/// Where an event comes in by its name, or where it is declared.
fn place(setup: &Setup, event: EventId) -> Span {
    let declared = &setup.program().events[event.0 as usize];
    let input = setup.run().inputs.iter().find(|input| {
        matches!(&input.kind, InputKind::Event { name, .. } if **name == *declared.name
            || **name == *declared.declared_name)
    });
    input.map_or(declared.span, |input| input.field_spans.whole)
}

/// Of the bytes of a packet event that comes in from outside the parser makes something else.
pub(super) fn not_itself(setup: &Setup, event: EventId) -> Diagnostic {
    let declared = &setup.program().events[event.0 as usize];
    let name = &declared.declared_name;
    let message = format!("the parser `main` does not make `{name}` of the bytes of this event");
    Diagnostic::error(MISFIT, place(setup, event), message)
        .label(declared.span, "a packet event: a compiled switch gets its bytes")
        .help("give what comes in as a packet (`\"type\": \"packet\"`, `bytes`)")
        .help("--engine reference handles the event as it is named")
}

/// A packet of which the source's parser makes an event, and which is too short for the parser of a program
/// for Tofino: that looks at a whole Ethernet header before anything else.
pub(super) fn short_for_tofino(
    (setup, target): (&Setup, Backend),
    at: u32,
    arrival: &Arrival,
    bytes: &[u8],
) -> Option<Diagnostic> {
    let (Arrival::Dispatch { event, .. } | Arrival::NoHandler { event, .. }) = arrival else {
        return None;
    };
    if target != Backend::Tna || bytes.len() >= ADDRESS_BYTES {
        return None;
    }
    let declared = &setup.program().events[event.0 as usize];
    let message = format!(
        "`{}` comes to switch {at} as a packet of {} bytes, and a program for Tofino takes none of less than \
         {ADDRESS_BYTES}, an Ethernet header",
        declared.declared_name,
        bytes.len()
    );
    let diagnostic = Diagnostic::error(MISFIT, place(setup, *event), message)
        .label(declared.span, "declared here")
        .help(format!(
            "give the packet more bytes, or run the program with --target {}",
            Backend::default().name()
        ));
    Some(diagnostic)
}
