// SPDX-License-Identifier: Apache-2.0
//! Events that wait for their time by going round: what each round of the emitted program does to the frame of an event,
//! so that devices need not run the program for it. `scheduler/controls.p4` of the compiler is the program.

use super::arrival::ADDRESS_BYTES;
use device::circulation::{Circulation, CirculationRule, LastPasses};
use lucid::core::LUCID_ETHER_TYPE;
use lucid_compiler::expressions::wire_bits;
use lucid_compiler::wire::{FRAME_BYTES, PlaceKind, SOURCE_PREFIX};
use lucid_compiler::{Backend, Clock, Compiled, Delay, Recirculation};
use lucid_reference::simulation::Setup;
use std::collections::HashMap;

/// Frames count a round by 16 bits of nanoseconds, on Tofino sometimes two.
const MAX_ROUND_PS: u64 = (u16::MAX as u64 / 2) * NANOSECOND_PS;

const NANOSECOND_PS: u64 = 1000;

/// Where a frame has the time at which it left egress, and how much longer it waits then.
const STAMP: std::ops::Range<usize> = 6..8;
const DELAY: std::ops::Range<usize> = 8..12;

/// The length of an event's frame.
#[derive(Clone, Copy, Debug)]
struct FrameLength {
    bytes: usize,
    /// Whether a payload may follow.
    has_payload: bool,
}

/// Frames of events that wait in the recirculation port of a switch.
#[derive(Debug)]
pub(super) struct WaitingFrames {
    target: Backend,
    recirculation_port: u32,
    /// By the number of the event on the wire.
    lengths: HashMap<u16, FrameLength>,
    /// The places for which events may wait without the program.
    places: [PlaceKind; 6],
}

impl WaitingFrames {
    /// The frames that wait at a switch of a run. `None` if events do not wait by going round, if P4 of the user's sees
    /// the rounds, or if it is not known here what a round does.
    pub(super) fn of(setup: &Setup, compiled: &Compiled, switch: u32) -> Option<WaitingFrames> {
        let options = &compiled.options;
        let is_known = options.delay == Delay::Recirculation
            && options.recirculation == Recirculation::Port
            && options.clock == Clock::Nanoseconds
            && !options.has_user_p4();
        let length = |event: &lucid::core::Event| {
            let bits: u32 = event.parameters.iter().map(|one| wire_bits(one.ty)).sum();
            FrameLength {
                bytes: FRAME_BYTES + bits.div_ceil(8) as usize,
                has_payload: event
                    .parameters
                    .iter()
                    .any(|one| one.ty == lucid::core::Type::Payload),
            }
        };
        let events = &setup.program().events;
        // On Tofino an event that waits here for its egress handler gets this place in its first round.
        let has_egress = setup.prepared().events.iter().any(|event| event.egress.is_some());
        let here = match options.target {
            Backend::Tna if has_egress => PlaceKind::Later,
            Backend::V1Model | Backend::Tna => PlaceKind::Here,
        };
        is_known.then(|| WaitingFrames {
            target: options.target,
            recirculation_port: setup.recirculation_ports()[switch as usize],
            lengths: events.iter().map(|event| (event.wire_number as u16, length(event))).collect(),
            places: [
                here,
                PlaceKind::Switch,
                PlaceKind::Port,
                PlaceKind::Group,
                PlaceKind::Flood,
                PlaceKind::Switches,
            ],
        })
    }
}

fn word(bytes: &[u8], range: std::ops::Range<usize>) -> Option<u64> {
    let bytes = bytes.get(range)?;
    Some(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

impl WaitingFrames {
    /// The time that the stamp of a frame says, which left egress by the last of these passes. Where the stamp would be
    /// the source address of a frame without one, the frame has an earlier one: on v1model that of the nanosecond
    /// before, on Tofino that of the pass before.
    fn stamped_ns(&self, passes: LastPasses) -> u64 {
        let sent_ns = passes.last_ps / NANOSECOND_PS;
        match (sent_ns as u16 == SOURCE_PREFIX, self.target) {
            (false, _) => sent_ns,
            (true, Backend::V1Model) => sent_ns - 1,
            (true, Backend::Tna) => passes.before_ps / NANOSECOND_PS,
        }
    }
}

impl CirculationRule for WaitingFrames {
    fn circulation(&self, port: u32, bytes: &[u8], sent_ps: u64) -> Option<Circulation> {
        let is_frame =
            word(bytes, ADDRESS_BYTES - 2..ADDRESS_BYTES)? == u64::from(LUCID_ETHER_TYPE);
        let delay_ns = word(bytes, DELAY)?;
        if !is_frame || delay_ns == 0 || port != self.recirculation_port {
            return None;
        }
        let length = self.lengths.get(&(word(bytes, ADDRESS_BYTES..FRAME_BYTES)? as u16))?;
        // v1model cuts off what does not belong to an event.
        let is_whole = match length.has_payload || self.target == Backend::Tna {
            true => bytes.len() >= length.bytes,
            false => bytes.len() == length.bytes,
        };
        let kind = word(bytes, 0..2)? as u16;
        let is_known_place = self.places.iter().any(|place| place.field() == kind);
        let stamp = word(bytes, STAMP)? as u16;
        let sent_ns = sent_ps / NANOSECOND_PS;
        let age_ns = u64::from((sent_ns as u16).wrapping_sub(stamp));
        let stamped_ns = sent_ns.checked_sub(age_ns)?;
        let is_stamped = match (sent_ns as u16 == SOURCE_PREFIX, self.target) {
            (false, _) => age_ns == 0,
            (true, Backend::V1Model) => age_ns == 1,
            (true, Backend::Tna) => (1..=MAX_ROUND_PS / NANOSECOND_PS).contains(&age_ns),
        };
        let until_ps = (stamped_ns + delay_ns) * NANOSECOND_PS;
        let circulation = Circulation { until_ps, max_round_ps: MAX_ROUND_PS };
        (is_whole && is_known_place && is_stamped).then_some(circulation)
    }

    fn update(&self, bytes: &mut [u8], circulation: Circulation, passes: LastPasses) {
        let stamped_ns = self.stamped_ns(passes);
        let delay_ns = circulation.until_ps / NANOSECOND_PS - stamped_ns;
        bytes[STAMP].copy_from_slice(&(stamped_ns as u16).to_be_bytes());
        bytes[DELAY].copy_from_slice(&(delay_ns as u32).to_be_bytes());
    }
}
