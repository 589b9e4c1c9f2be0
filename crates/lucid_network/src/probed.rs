// SPDX-License-Identifier: Apache-2.0
//! Events at probes of a compiled program ([`lucid_compiler::probes`]): which handler ran on what, what it generated,
//! and whether the user's controls changed the packet or where it goes.

use ir::lowering::{PROBE_REQUEST, ProbeEnd, probe_label};
use ir::{Bits, RequestId};
use lucid::core::{EventId, Program, Type};
use lucid_compiler::probes::{HandlerProbes, Probes};
use lucid_reference::interpreter::{EventValue, Place, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// What a slot says of a packet at a control of the user's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SlotRole {
    /// Which event it is; where the slot is in a header, the place of the header's validity.
    Identity { validity: Option<usize> },
    /// Where it goes.
    Destination,
    /// Nothing of both.
    Other,
}

/// A probe of the lowered program.
#[derive(Debug)]
struct Probe {
    label: Arc<str>,
    /// Places of slots among its values.
    places: HashMap<Arc<str>, usize>,
    roles: Vec<SlotRole>,
}

/// Reads the values of a program's probes.
#[derive(Debug)]
pub(super) struct ProbeReader {
    probes: Probes,
    known: HashMap<RequestId, Probe>,
}

/// Values at a probe.
struct Sighting<'s> {
    probe: &'s Probe,
    values: &'s [Bits],
}

impl Sighting<'_> {
    fn value(&self, slot: &str) -> Option<u128> {
        self.values.get(*self.probe.places.get(slot)?)?.to_u128()
    }

    /// Values of slots that say which event the packet is, and of those that say where it goes. Fields of invalid
    /// headers count as zero.
    fn view(&self) -> [Vec<u128>; 2] {
        let [mut identity, mut destination] = [Vec::new(), Vec::new()];
        for (role, value) in self.probe.roles.iter().zip(self.values) {
            let number = || value.to_u128().unwrap_or_default();
            match role {
                SlotRole::Identity { validity } => {
                    let valid = validity.and_then(|at| self.values.get(at));
                    identity.push(if valid.is_none_or(Bits::is_true) { number() } else { 0 });
                }
                SlotRole::Destination => destination.push(number()),
                SlotRole::Other => {}
            }
        }
        [identity, destination]
    }
}

/// A pass through ingress as probes see it.
#[derive(Debug, Default)]
pub(super) struct ProbedPass {
    /// Which handler ran, and the port that it saw.
    pub(super) handled: Option<(Arc<EventValue>, u32)>,
    /// Whether `before` made another event of the packet.
    pub(super) is_remade: bool,
    /// Whether it goes where neither its handler nor the dispatcher sent it, or as something else.
    pub(super) is_diverted: bool,
    pub(super) generated: Vec<Arc<EventValue>>,
}

impl ProbeReader {
    /// Of a compiled program, lowered with its probes.
    pub(super) fn new(probes: &Probes, lowered: &ir::Program) -> ProbeReader {
        let requests = (0..).map(RequestId).zip(&lowered.requests);
        let of_probes = requests.filter(|(_, request)| &*request.name == PROBE_REQUEST);
        let known = of_probes.map(|(id, request)| {
            let names = request.fields.iter().map(|(name, _)| name.clone());
            let places: HashMap<Arc<str>, usize> = names.zip(0..).collect();
            let role = |name: &str| {
                let header = name.rsplit_once('.').map_or("", |(header, _)| header);
                if probes.destination.iter().any(|slot| slot == name) {
                    SlotRole::Destination
                } else if probes.identity.iter().any(|slot| slot == name) {
                    SlotRole::Identity { validity: None }
                } else if probes.headers.iter().any(|one| one == header) {
                    let validity = places.get(&*format!("{header}.$valid")).copied();
                    SlotRole::Identity { validity }
                } else {
                    SlotRole::Other
                }
            };
            let roles = request.fields.iter().map(|(name, _)| role(name)).collect();
            (id, Probe { label: request.label.clone(), places, roles })
        });
        ProbeReader { known: known.collect(), probes: probes.clone() }
    }

    fn sightings<'s>(&'s self, probed: &'s [(RequestId, Vec<Bits>)]) -> Vec<Sighting<'s>> {
        let sighting = |(request, values): &'s (RequestId, Vec<Bits>)| {
            Some(Sighting { probe: self.known.get(request)?, values })
        };
        probed.iter().filter_map(sighting).collect()
    }

    /// An event from the slots of its parameters. The payload is the packet's unless it is empty.
    fn event(
        &self,
        program: &Program,
        (event, parameters): (EventId, &[Option<String>]),
        (sighting, payload): (&Sighting<'_>, Option<&Arc<[u8]>>),
    ) -> Option<Arc<EventValue>> {
        let declared = program.events.get(event.0 as usize)?;
        let mut arguments = Vec::new();
        for (parameter, slot) in declared.parameters.iter().zip(parameters) {
            let value = || sighting.value(slot.as_deref()?);
            arguments.push(match parameter.ty {
                Type::Int(_) => Value::Int(value()?),
                Type::Bool => Value::Bool(value()? != 0),
                Type::Payload => Value::Payload(payload.cloned().unwrap_or_else(|| [].into())),
                Type::Event | Type::Group => return None,
            });
        }
        Some(Arc::new(EventValue { event, arguments, delay_ns: 0, place: Place::Here }))
    }

    /// The event that a handler ran on.
    fn input(
        &self,
        program: &Program,
        handler: &HandlerProbes,
        (sighting, payload): (&Sighting<'_>, Option<&Arc<[u8]>>),
    ) -> Option<Arc<EventValue>> {
        let number = sighting.value(&handler.number)?;
        let event = handler
            .events
            .iter()
            .find(|event| u128::from(self.probes.events[event.0 as usize].number) == number)?;
        let is_empty = self.probes.is_payload_empty.as_ref();
        let is_empty = is_empty.and_then(|slot| sighting.value(slot)) == Some(1);
        let parameters = &self.probes.events[event.0 as usize].parameters;
        let payload = payload.filter(|_| !is_empty);
        self.event(program, (*event, parameters), (sighting, payload))
    }

    /// The event that an egress handler ran on in a pass, if one did.
    pub(super) fn egress_handler(
        &self,
        program: &Program,
        payload: Option<&Arc<[u8]>>,
        probed: &[(RequestId, Vec<Bits>)],
    ) -> Option<Arc<EventValue>> {
        let sightings = self.sightings(probed);
        let handlers = self.probes.handlers.iter().filter(|handler| handler.is_egress);
        let mut events = handlers.flat_map(|handler| {
            let label = handler.input.label();
            let here = sightings.iter().filter(move |one| *one.probe.label == *label);
            here.filter_map(|one| self.input(program, handler, (one, payload)))
        });
        events.next()
    }

    /// What a pass through ingress did, of a program with controls of the user's.
    pub(super) fn ingress(
        &self,
        program: &Program,
        payload: Option<&Arc<[u8]>>,
        probed: &[(RequestId, Vec<Bits>)],
    ) -> ProbedPass {
        let mut pass = ProbedPass::default();
        let sightings = self.sightings(probed);
        let at = |label: &str| sightings.iter().find(|one| *one.probe.label == *label);
        for handler in self.probes.handlers.iter().filter(|handler| !handler.is_egress) {
            let Some(input) = at(&handler.input.label()) else { continue };
            if let Some(event) = self.input(program, handler, (input, payload)) {
                let port = input.value(&self.probes.ingress_port).unwrap_or_default();
                pass.handled = Some((event, port as u32));
            }
            let Some(output) = at(&handler.output.label()) else { continue };
            for slots in &self.probes.generated {
                let frame = |field: &str| output.value(&format!("{}.{field}", slots.frame));
                let number = self.probes.events[slots.event.0 as usize].number;
                if frame("$valid") == Some(1) && frame("number") == Some(number.into()) {
                    let event = (slots.event, slots.parameters.as_slice());
                    pass.generated.extend(self.event(program, event, (output, payload)));
                }
            }
        }
        for control in &self.probes.user_controls {
            let Some(begin) = at(&probe_label(control, ProbeEnd::Begin)) else { continue };
            let end = at(&probe_label(control, ProbeEnd::End));
            let [identity, destination] = begin.view();
            // A packet that left the control by `exit` has no end.
            let changed = match end.map(Sighting::view) {
                Some([other, elsewhere]) => [identity != other, destination != elsewhere],
                None => [true, true],
            };
            let is_before = control.ends_with("before_here");
            pass.is_remade |= is_before && changed[0];
            pass.is_diverted |= changed[1] || !is_before && changed[0];
        }
        pass
    }
}
