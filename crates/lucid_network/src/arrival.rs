// SPDX-License-Identifier: Apache-2.0
//! What a packet at a switch's port means to a compiled program, read from its bytes as
//! [`lucid_compiler::wire`] says. Nothing here is sent or run.

use lucid::core::NO_PORT;
use lucid::core::{EventId, LUCID_ETHER_TYPE, Type};
use lucid::syntax::ast::EventSort;
use lucid_compiler::expressions::wire_bits;
use lucid_compiler::wire::{
    FRAME_BYTES, PLACE_PREFIX, PlaceKind, SOURCE_PREFIX, remaining_delay_ns,
};
use lucid_compiler::{Backend, Compiled};
use lucid_reference::interpreter::{
    Arguments, EventValue, Parsed, Place, SwitchContext, from_wire, packet_bytes, parse,
};
use lucid_reference::simulation::Setup;

/// Bytes before an event's number: two addresses and a type.
pub(super) const ADDRESS_BYTES: usize = FRAME_BYTES - 2;

/// A frame taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) place: PlaceKind,
    pub(super) place_number: u32,
    pub(super) source_kind: u16,
    pub(super) delay_ns: u32,
    /// Wire number of the event.
    number: u16,
    /// `None` if no event has the number or the frame is too short for its parameters.
    pub(super) event: Option<(EventId, Arguments)>,
}

/// How a compiled program takes a packet that arrives at a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// A handler runs; the port that it sees.
    Dispatch { event: EventId, arguments: Arguments, port: u32, is_packet: bool },
    /// It has no handler here; the port that it came by, [`NO_PORT`] if it only went round to leave.
    NoHandler { event: EventId, arguments: Arguments, port: u32 },
    /// In transit to a place or time: the event in it, where it has one.
    Transit(Option<(EventId, Arguments)>),
    /// Nothing that the program knows.
    Dropped,
}

fn big_endian(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// What is left of a frame's delay when it comes out of the recirculation port of a v1model program: inside a switch the
/// source address has the low bits of the time when it left egress.
pub(super) fn left_of_delay_ns(frame: &Frame, now_ns: u64) -> u32 {
    remaining_delay_ns(frame.source_kind, frame.delay_ns, Some(now_ns))
}

/// The bytes as a frame, if they are one.
pub(super) fn frame(setup: &Setup, bytes: &[u8]) -> Option<Frame> {
    let ether_type = bytes.get(ADDRESS_BYTES - 2..ADDRESS_BYTES)?;
    if ether_type != LUCID_ETHER_TYPE.to_be_bytes() {
        return None;
    }
    let kind = big_endian(&bytes[..2]) as u16;
    let place = [
        PlaceKind::Switch,
        PlaceKind::Port,
        PlaceKind::Group,
        PlaceKind::Flood,
        PlaceKind::Switches,
        PlaceKind::Later,
    ]
    .into_iter()
    .find(|place| place.field() == kind)
    .unwrap_or(PlaceKind::Here);
    let event = match from_wire(setup.prepared(), &bytes[ADDRESS_BYTES..]) {
        Parsed::Event(event, arguments) => Some((event, arguments)),
        Parsed::Dropped => None,
    };
    Some(Frame {
        place,
        place_number: big_endian(&bytes[2..6]),
        source_kind: big_endian(&bytes[6..8]) as u16,
        delay_ns: big_endian(&bytes[8..12]),
        number: bytes.get(ADDRESS_BYTES..FRAME_BYTES).map_or(0, big_endian) as u16,
        event,
    })
}

/// The addresses of the frame of an event that has no place and no delay.
pub(super) fn sent_addresses() -> Vec<u8> {
    let mut bytes = PLACE_PREFIX.to_be_bytes().to_vec();
    bytes.extend([0; 4]);
    bytes.extend(SOURCE_PREFIX.to_be_bytes());
    bytes.extend([0; 4]);
    bytes
}

/// An event's frame for the switch that it goes to.
pub(super) fn frame_for_here(setup: &Setup, event: EventId, arguments: &Arguments) -> Vec<u8> {
    let mut bytes = sent_addresses();
    bytes.extend(LUCID_ETHER_TYPE.to_be_bytes());
    bytes.extend(lucid_reference::interpreter::to_wire(setup.prepared(), event, arguments));
    bytes
}

/// An event as it is on the wire when it leaves the network.
pub(super) fn wire_bytes(setup: &Setup, event: EventId, arguments: &Arguments) -> Vec<u8> {
    match is_bare(setup, event) {
        true => packet_bytes(setup.prepared(), event, arguments),
        false => frame_for_here(setup, event, arguments),
    }
}

/// What follows an event's parameters on Tofino when it leaves without a handler, beside its payload: all that the parser
/// of the arrived bytes did not read.
pub(super) fn unread<'b>(
    (setup, compiled): (&Setup, &Compiled),
    context: &SwitchContext<'_>,
    event: EventId,
    bytes: &'b [u8],
) -> &'b [u8] {
    let parameters = &setup.program().events[event.0 as usize].parameters;
    if parameters.iter().any(|one| one.ty == Type::Payload) {
        return &[];
    }
    let Some((bytes, ingress_port)) = read_by_main((setup, compiled), context, bytes) else {
        let bits: u32 = parameters.iter().map(|parameter| wire_bits(parameter.ty)).sum();
        return bytes.get(FRAME_BYTES + bits.div_ceil(8) as usize..).unwrap_or_default();
    };
    let context = &SwitchContext { ingress_port, ..*context };
    let whole = parse(setup.prepared(), bytes, context);
    let is_read = |count: usize| parse(setup.prepared(), &bytes[..count], context) == whole;
    // The shortest beginning that parses as the whole; every longer one does too.
    let (mut short, mut long) = (0, bytes.len());
    while short < long {
        let middle = (short + long) / 2;
        match is_read(middle) {
            true => long = middle,
            false => short = middle + 1,
        }
    }
    &bytes[long..]
}

/// The packet event whose bytes these are: the first of the candidates that fits.
pub(super) fn bare_event(
    setup: &Setup,
    candidates: &[EventId],
    bytes: &[u8],
) -> Option<EventValue> {
    candidates.iter().find_map(|event| {
        let prepared = &setup.prepared().events[event.0 as usize];
        let mut numbered = prepared.wire_number.to_be_bytes()[2..].to_vec();
        numbered.extend_from_slice(bytes);
        let Parsed::Event(_, arguments) = from_wire(setup.prepared(), &numbered) else {
            return None;
        };
        // Without a payload nothing may be left over.
        if lucid_reference::interpreter::packet_bytes(setup.prepared(), *event, &arguments).len()
            != bytes.len()
        {
            return None;
        }
        let arguments = arguments.values(&prepared.slots);
        Some(EventValue { event: *event, arguments, delay_ns: 0, place: Place::Here })
    })
}

/// Whether an event travels as its bytes alone.
pub(super) fn is_bare(setup: &Setup, event: EventId) -> bool {
    setup.prepared().main_parser.is_some()
        && setup.program().events[event.0 as usize].sort == EventSort::Packet
}

/// The bytes that the parser `main` reads of a packet, and the ingress port that it sees; `None` if it reads none of them.
/// Of a frame it reads a packet event that is due at this switch by its number.
fn read_by_main<'b>(
    (setup, compiled): (&Setup, &Compiled),
    context: &SwitchContext<'_>,
    bytes: &'b [u8],
) -> Option<(&'b [u8], u32)> {
    let Some(frame) = frame(setup, bytes) else { return Some((bytes, context.ingress_port)) };
    let is_for_here = compiled.addresses_packets
        && frame.place == PlaceKind::Switch
        && frame.place_number == context.switch
        && event_numbered(setup, frame.number).is_some_and(|event| is_bare(setup, event));
    let is_due = match compiled.options.target {
        // Its parser does not count the time of the round; the dispatcher sends what is due by it round once more.
        Backend::V1Model => frame.delay_ns == 0,
        Backend::Tna => frame_delay_ns(&frame, compiled, context) == 0,
    };
    (is_for_here && is_due).then(|| (&bytes[FRAME_BYTES..], 0))
}

fn event_numbered(setup: &Setup, number: u16) -> Option<EventId> {
    let events = &setup.prepared().events;
    let at = events.iter().position(|event| event.wire_number == u32::from(number))?;
    Some(EventId(at as u32))
}

/// What is left of a frame's delay where it arrives.
fn frame_delay_ns(frame: &Frame, compiled: &Compiled, context: &SwitchContext<'_>) -> u32 {
    if context.ingress_port == context.recirculation_port {
        match compiled.options.target {
            Backend::V1Model => left_of_delay_ns(frame, context.time_ns),
            Backend::Tna => frame.delay_ns,
        }
    } else if frame.source_kind == SOURCE_PREFIX {
        frame.delay_ns
    } else {
        0
    }
}

/// Classifies a packet at a port of a switch.
pub(super) fn classify(
    (setup, compiled): (&Setup, &Compiled),
    context: &SwitchContext<'_>,
    bytes: &[u8],
) -> Arrival {
    let by_main = read_by_main((setup, compiled), context, bytes);
    let framed = if by_main.is_none() { frame(setup, bytes) } else { None };
    let (event, arguments, port, is_packet) = match framed {
        Some(frame) => {
            let elsewhere = match frame.place {
                PlaceKind::Here => false,
                // It goes through egress once more.
                PlaceKind::Later => frame
                    .event
                    .as_ref()
                    .is_some_and(|one| setup.prepared().events[one.0.0 as usize].egress.is_some()),
                PlaceKind::Switch => frame.place_number != context.switch,
                PlaceKind::Port | PlaceKind::Group | PlaceKind::Flood | PlaceKind::Switches => true,
            };
            let delay_ns = frame_delay_ns(&frame, compiled, context);
            let Some((event, arguments)) = frame.event else { return Arrival::Dropped };
            // What has waited goes round once more to meet its egress handler.
            let meets_egress = setup.prepared().events[event.0 as usize].egress.is_some()
                && frame.delay_ns > 0
                && frame.place == PlaceKind::Here;
            if elsewhere || delay_ns > 0 || meets_egress || is_bare(setup, event) {
                return Arrival::Transit(Some((event, arguments)));
            }
            let goes_round = context.ingress_port == context.recirculation_port;
            if goes_round && setup.program().events[event.0 as usize].sort == EventSort::Exit {
                // It leaves.
                return Arrival::NoHandler { event, arguments, port: NO_PORT };
            }
            let port = if frame.place == PlaceKind::Switch { 0 } else { context.ingress_port };
            (event, arguments, port, false)
        }
        None => {
            let (bytes, port) = by_main.unwrap_or((bytes, context.ingress_port));
            let context = SwitchContext { ingress_port: port, ..*context };
            match parse(setup.prepared(), bytes, &context) {
                Parsed::Event(event, arguments) => (event, arguments, port, true),
                Parsed::Dropped => return Arrival::Dropped,
            }
        }
    };
    let prepared = &setup.prepared().events[event.0 as usize];
    if prepared.ingress.is_none() && prepared.control.is_none() {
        return Arrival::NoHandler { event, arguments, port };
    }
    Arrival::Dispatch { event, arguments, port, is_packet }
}
