// SPDX-License-Identifier: Apache-2.0
//! Which egress handler of a program for Tofino runs on a packet from a queue, read from the bytes that
//! ingress made: only bytes go from there to egress. It is what the emitted egress parser does
//! (`lucid_compiler::tna`), as `arrival` does what the ingress parser does.

use lucid::core::EventId;
use lucid::syntax::ast::EventSort;
use lucid_compiler::Compiled;
use lucid_compiler::bridge::{Bridge, Task};
use lucid_compiler::expressions::wire_bits;
use lucid_compiler::wire::{FRAME_BYTES, PlaceKind, SOURCE_CUT};
use lucid_reference::interpreter::{EventValue, Parsed, Place, from_wire};
use lucid_reference::simulation::Setup;
use std::sync::Arc;

/// Bytes of a frame before the event's number.
const NUMBER_AT: usize = FRAME_BYTES - 2;

/// A frame in front of its event's parameters.
struct Framed<'b> {
    /// Whether its egress handler runs as it goes round: nothing of its delay is left, and no place. An exit
    /// event only goes round to leave.
    meets_going_round: bool,
    /// Whether it goes round before to lose the payload of its packet.
    is_cut: bool,
    event: EventId,
    /// Number and parameters.
    numbered: &'b [u8],
}

/// Takes a frame with its event's parameters off.
fn take<'b>(setup: &Setup, bytes: &mut &'b [u8]) -> Option<Framed<'b>> {
    let head = bytes.get(..FRAME_BYTES)?;
    let number = u32::from(u16::from_be_bytes([head[NUMBER_AT], head[NUMBER_AT + 1]]));
    let at = setup.prepared().events.iter().position(|event| event.wire_number == number)?;
    let parameters = &setup.program().events[at].parameters;
    let bits: u32 = parameters.iter().map(|parameter| wire_bits(parameter.ty)).sum();
    let (taken, rest) = bytes.split_at_checked(FRAME_BYTES + bits.div_ceil(8) as usize)?;
    *bytes = rest;
    Some(Framed {
        meets_going_round: u16::from(head[1] & 7) == PlaceKind::Here as u16
            && head[8..12] == [0; 4]
            && setup.program().events[at].sort != EventSort::Exit,
        is_cut: head[6..8] == SOURCE_CUT.to_be_bytes(),
        event: EventId(at as u32),
        numbered: &taken[NUMBER_AT..],
    })
}

/// The event whose egress handler runs on a copy with a replica number; `bytes` begin with the bridge.
pub(super) fn handled_at_egress(
    setup: &Setup,
    compiled: &Compiled,
    replica: u32,
    bytes: &[u8],
) -> Option<Arc<EventValue>> {
    let (bridge, mut rest) =
        Bridge::read(compiled.most_generated, compiled.options.stamp_shift(), bytes)?;
    let mut handled = None;
    match bridge.task {
        Task::Round => {
            handled = Some(take(setup, &mut rest)?).filter(|framed| framed.meets_going_round)
        }
        Task::Leave => handled = Some(take(setup, &mut rest)?),
        Task::Copies { leaves } => {
            for slot in (0..).zip(&bridge.slots).filter(|slot| *slot.1).map(|slot| slot.0) {
                let framed = take(setup, &mut rest)?;
                let runs = match leaves {
                    Some(direct) if direct == slot => replica == 0,
                    _ => replica == slot + 1 && framed.meets_going_round && !framed.is_cut,
                };
                if runs {
                    handled = Some(framed);
                }
            }
        }
        Task::Other => {}
    }
    let Framed { event, numbered, .. } = handled?;
    setup.prepared().events[event.0 as usize].egress.as_ref()?;
    // The payload is behind all of them.
    let mut bytes = numbered.to_vec();
    bytes.extend_from_slice(rest);
    let Parsed::Event(event, arguments) = from_wire(setup.prepared(), &bytes) else { return None };
    let arguments = arguments.values(&setup.prepared().events[event.0 as usize].slots);
    Some(Arc::new(EventValue { event, arguments, delay_ns: 0, place: Place::Here }))
}
