// SPDX-License-Identifier: Apache-2.0
//! Where probes stand in a compiled program, and which slots of the lowered program hold events there: so a run sees
//! handlers that nothing outside a pipeline shows, and the program's text has nothing for it. Lowering makes the probes
//! ([`ir::ready::ReadyProgram::lower_with_probes`]); `lucid_network` reads them.

use ir::lowering::{ProbeEnd, probe_label};
use lucid::core::EventId;

/// One end of a control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbePoint {
    /// The control-plane name of the control.
    pub control: String,
    /// Which end.
    pub end: ProbeEnd,
}

impl ProbePoint {
    pub(crate) fn begin(control: impl Into<String>) -> ProbePoint {
        ProbePoint { control: control.into(), end: ProbeEnd::Begin }
    }

    pub(crate) fn end(control: impl Into<String>) -> ProbePoint {
        ProbePoint { control: control.into(), end: ProbeEnd::End }
    }

    /// The label of its probe's request.
    pub fn label(&self) -> String {
        probe_label(&self.control, self.end)
    }
}

/// The event that came in, by its number in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventSlots {
    /// Its number on the wire.
    pub number: u32,
    /// Slot of each parameter; `None` for a payload.
    pub parameters: Vec<Option<String>>,
}

/// One of the headers that an event that a handler generates may be in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedSlots {
    /// Its frame.
    pub frame: String,
    /// The event.
    pub event: EventId,
    /// Slot of each parameter; `None` for a payload.
    pub parameters: Vec<Option<String>>,
}

/// Probes around handlers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandlerProbes {
    /// The events that are handled between them.
    pub events: Vec<EventId>,
    /// Whether the handlers are egress handlers.
    pub is_egress: bool,
    /// Where the event that is handled is in its slots.
    pub input: ProbePoint,
    /// The slot with the number of this event.
    pub number: String,
    /// Where the generated events are in theirs.
    pub output: ProbePoint,
}

/// Everything that probes see of a compiled program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Probes {
    /// Probes around handlers.
    pub handlers: Vec<HandlerProbes>,
    /// The user's controls, `before` and `after` the dispatcher.
    pub user_controls: Vec<String>,
    /// All events, as they come in.
    pub events: Vec<EventSlots>,
    /// Where generated events are.
    pub generated: Vec<GeneratedSlots>,
    /// The slot with the port that a handler sees.
    pub ingress_port: String,
    /// The slot that says whether the payload is empty whatever the packet has.
    pub is_payload_empty: Option<String>,
    /// Headers that are the packet's event and the generated ones.
    pub headers: Vec<String>,
    /// Slots besides that say which event a packet is.
    pub identity: Vec<String>,
    /// Slots that say where a packet goes: ports, groups, queues.
    pub destination: Vec<String>,
}

impl Probes {
    /// The controls that have probes: the user's, and those around egress handlers, and all around handlers where
    /// there are controls of the user's.
    pub fn controls(&self) -> Vec<&str> {
        let mut found: Vec<&str> = self.user_controls.iter().map(String::as_str).collect();
        for handler in &self.handlers {
            if handler.is_egress || !self.user_controls.is_empty() {
                found.extend([handler.input.control.as_str(), handler.output.control.as_str()]);
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Slots of an event's parameters in a header, by the names of the fields; `None` where a parameter has none.
pub(crate) fn parameters(
    header: Option<&str>,
    fields: &[Option<(String, u32)>],
) -> Vec<Option<String>> {
    let slot = |field: &Option<(String, u32)>| {
        let (name, _) = field.as_ref()?;
        Some(format!("{}.{name}", header?))
    };
    fields.iter().map(slot).collect()
}
