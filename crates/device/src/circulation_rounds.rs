// SPDX-License-Identifier: Apache-2.0
//! Rounds of circulating packets ([`crate::circulation`]): which packets circulate, one round after another, and many
//! rounds at once when they repeat. The event loop handles everything else.

use crate::circulation::{Circulating, CirculatingPackets, CirculationRule, LastPasses};
use crate::event::NextEvent;
use crate::packet::Arrival;
use crate::switch::Switch;
use crate::switch_core::SwitchCore;
use crate::wire::OutputPath;
use std::sync::Arc;

impl SwitchCore {
    /// Decides whether a packet that a pass sends by a loopback port circulates.
    pub fn begin_circulation(&mut self, arrival: &mut Arrival) {
        arrival.circulating = None;
        let Some(rule) = &self.circulating.rule else { return };
        let sent_ps = self.now_ps;
        if let Some(circulation) = rule.circulation(arrival.port, &arrival.bytes, sent_ps) {
            let way_ps = arrival.arrived_ps - sent_ps;
            let longest_wait_ps = circulation.max_round_ps.saturating_sub(way_ps);
            let until_ps = circulation.until_ps;
            let state = &mut self.circulating;
            (state.earliest_until_ps, state.longest_wait_ps) = match state.count {
                0 => (until_ps, longest_wait_ps),
                _ => (
                    state.earliest_until_ps.min(until_ps),
                    state.longest_wait_ps.min(longest_wait_ps),
                ),
            };
            state.count += 1;
            let passes = LastPasses { last_ps: sent_ps, before_ps: sent_ps };
            arrival.circulating = Some(Circulating { circulation, passes, is_stale: false });
        }
    }

    /// Gives a packet that needs the program the bytes that its last pass sent.
    pub fn end_circulation(&mut self, arrival: &mut Arrival) {
        let Some(circulating) = arrival.circulating.take() else { return };
        self.circulating.count -= 1;
        if let Some(rule) = self.circulating.rule.as_ref().filter(|_| circulating.is_stale) {
            rule.update(&mut arrival.bytes, circulating.circulation, circulating.passes);
        }
    }

    /// Notes that something other than a skipped round happens.
    #[inline]
    pub fn interrupt_circulation(&mut self) {
        self.circulating.equal_rounds = 0;
    }

    /// Returns whether packets with this length may circulate now: a pass takes no time, and a packet leaves its queue at
    /// once.
    fn can_circulate(&mut self, length_bytes: usize, now_ps: u64) -> bool {
        self.circulating.rule.is_some()
            && self.options.pass_limit.is_none()
            && self.options.ingress_latency_ps == 0
            && self.options.egress_latency_ps == 0
            && self.options.pass_timing.is_none()
            && self.recorder.is_none()
            && !self.caller_takes_any()
            && self.traffic.can_transmit_now(length_bytes as u64, now_ps)
    }

    /// Makes the round of a circulating packet that ingress takes now. Hands the packet back if it needs the program.
    fn skip_round(&mut self, mut arrival: Box<Arrival>) -> Option<Box<Arrival>> {
        let (now_ps, length) = (self.now_ps, arrival.bytes.len());
        let circulating = arrival.circulating.filter(|one| one.skips(now_ps));
        let Some(circulating) = circulating.filter(|_| self.can_circulate(length, now_ps)) else {
            self.end_circulation(&mut arrival);
            return Some(arrival);
        };
        let before_ps = circulating.passes.last_ps;
        let round_ps = now_ps - before_ps;
        let state = &mut self.circulating;
        let is_equal = state.round_ps == round_ps;
        state.equal_rounds = if is_equal { state.equal_rounds + 1 } else { 1 };
        state.round_ps = round_ps;
        let passes = LastPasses { last_ps: now_ps, before_ps };
        arrival.circulating = Some(Circulating { passes, is_stale: true, ..circulating });
        arrival.reception.add_passes(2);
        let port = arrival.port;
        self.statistics.went_round(port, 1, length as u64);
        if let Some(tap) = &mut self.tap {
            tap.record_rounds(now_ps, 1);
        }
        let path = OutputPath::Port(port);
        arrival.arrived_ps = self.traffic.transmit(path, length as u64, now_ps);
        self.send_back_by_loopback(arrival);
        None
    }

    /// Makes all rounds that need no program before a time, if the packets go round in equal times.
    fn skip_equal_rounds(&mut self, before_ps: u64) {
        let CirculatingPackets { round_ps, equal_rounds, .. } = self.circulating;
        let count = self.looped_back.len() + self.waiting_for_ingress().len();
        // All packets went round twice and nothing else happened, so what happens now repeats.
        let repeats = equal_rounds >= 2 * count && equal_rounds.is_multiple_of(count);
        if !repeats || count == 0 || round_ps == 0 {
            return;
        }
        let looped_back = self.looped_back.iter().map(|(_, arrival)| &**arrival);
        let waiting = self.waiting_for_ingress().iter().map(|(_, arrival)| &**arrival);
        let until_ps = |arrival: &Arrival| {
            arrival.circulating.map_or(0, |circulating| circulating.circulation.until_ps)
        };
        let first_ps = looped_back.chain(waiting).map(until_ps).min().unwrap_or(0);
        let listed_ps = self.events.first_key_value().map_or(u64::MAX, |(key, _)| key.time_ps);
        let before_ps = before_ps.min(first_ps).min(listed_ps);
        let rounds = before_ps.saturating_sub(self.now_ps + 1) / round_ps;
        if rounds == 0 {
            return;
        }
        let later_ps = rounds * round_ps;
        let mut counted: Vec<(u32, u64)> = Vec::with_capacity(count);
        let mut skip = |arrival: &mut Arrival| {
            arrival.arrived_ps += later_ps;
            if let Some(circulating) = &mut arrival.circulating {
                circulating.passes.last_ps += later_ps;
                circulating.passes.before_ps += later_ps;
                circulating.is_stale = true;
            }
            arrival.reception.add_passes(2 * rounds);
            counted.push((arrival.port, arrival.bytes.len() as u64));
        };
        for (key, arrival) in &mut self.looped_back {
            key.time_ps += later_ps;
            skip(arrival);
        }
        self.delay_ingress(later_ps, skip);
        self.now_ps += later_ps;
        for (port, length_bytes) in counted {
            self.statistics.went_round(port, rounds, rounds * length_bytes);
        }
        if let Some(tap) = &mut self.tap {
            tap.record_rounds(self.now_ps, rounds * count as u64);
        }
    }

    /// Returns a time before which no recirculating packet needs the program.
    fn first_effect_of_looped_back_ps(&mut self) -> u64 {
        let waiting = self.waiting_for_ingress();
        let looped_back = self.looped_back.iter();
        let is_plain = |arrival: &Arrival| arrival.circulating.is_none();
        let mut first_ps = u64::MAX;
        if self.circulating.count < self.looped_back.len() + waiting.len() {
            let plain = looped_back.clone().find(|(_, arrival)| is_plain(arrival));
            first_ps = plain.map_or(u64::MAX, |(key, _)| key.time_ps);
            if let (Some(at), Some(slot_ps)) =
                (waiting.iter().position(|(_, arrival)| is_plain(arrival)), self.next_slot_ps)
            {
                first_ps = first_ps.min(slot_ps + at as u64 * self.options.ingress_interval_ps);
            }
        }
        if self.circulating.count > 0 && self.circulating.earliest_until_ps <= self.now_ps {
            // The packet that this time was of may have left.
            let arrivals = looped_back.map(|(_, arrival)| arrival);
            let arrivals = arrivals.chain(waiting.iter().map(|(_, arrival)| arrival));
            let until_ps = arrivals.filter_map(|arrival| arrival.circulating);
            let until_ps = until_ps.map(|circulating| circulating.circulation.until_ps).min();
            self.circulating.earliest_until_ps = until_ps.unwrap_or(u64::MAX);
        }
        match self.circulating.count {
            0 => first_ps,
            _ => first_ps.min(self.circulating.earliest_until_ps),
        }
    }
}

impl Switch {
    /// See [`crate::Device::set_circulation_rule`].
    pub fn set_circulation_rule(&mut self, rule: Option<Arc<dyn CirculationRule>>) {
        let core = &mut self.core;
        let before = core.circulating.rule.take();
        let end = |arrival: &mut Arrival| {
            let circulating = arrival.circulating.take();
            if let (Some(circulating), Some(rule)) = (circulating, &before)
                && circulating.is_stale
            {
                rule.update(&mut arrival.bytes, circulating.circulation, circulating.passes);
            }
        };
        core.looped_back.iter_mut().for_each(|(_, arrival)| end(arrival));
        core.delay_ingress(0, end);
        core.circulating = CirculatingPackets { rule, ..CirculatingPackets::default() };
    }

    /// Makes the round of a circulating packet that ingress takes now. Hands the packet back if it needs the program.
    #[inline]
    pub fn circulate(&mut self, mut arrival: Box<Arrival>) -> Option<Box<Arrival>> {
        match arrival.circulating {
            Some(_) if self.only_program.is_some() => self.core.skip_round(arrival),
            Some(_) => {
                self.core.end_circulation(&mut arrival);
                Some(arrival)
            }
            None => Some(arrival),
        }
    }

    /// See [`crate::Device::run_circulation`].
    pub fn run_circulation(&mut self, until_ps: u64) {
        if self.core.circulating.count == 0
            || self.only_program.is_none()
            || self.core.has_flow_control()
        {
            return;
        }
        let core = &mut self.core;
        while core.traffic.next_ready().is_none()
            && let Some((key, next)) = core.next_event()
            && key.time_ps <= until_ps
        {
            let now_ps = core.now_ps.max(key.time_ps);
            let (arrival, is_taken_now) = match next {
                NextEvent::Listed => return,
                NextEvent::LoopedBack => match core.looped_back.front() {
                    Some((_, arrival)) => (arrival, core.is_ingress_free(now_ps)),
                    None => return,
                },
                NextEvent::IngressSlot => match core.first_waiting() {
                    Some((None, arrival)) => (arrival, true),
                    _ => return,
                },
            };
            let Some(circulating) = arrival.circulating else { return };
            let length = arrival.bytes.len();
            if is_taken_now && !(circulating.skips(now_ps) && core.can_circulate(length, now_ps)) {
                return;
            }
            core.now_ps = now_ps;
            let taken = match next {
                NextEvent::IngressSlot => core.take_waiting().map(|(_, arrival)| arrival),
                _ => {
                    let front = core.looped_back.pop_front();
                    front.and_then(|(_, arrival)| core.wait_for_ingress(None, arrival))
                }
            };
            if let Some(arrival) = taken {
                // It was asked above.
                let _ = core.skip_round(arrival);
                core.skip_equal_rounds(until_ps.saturating_add(1));
            }
        }
    }

    /// See [`crate::Device::next_effect_ps`].
    pub fn next_effect_ps(&mut self) -> Option<u64> {
        let next_ps = self.next_event_ps()?;
        let core = &mut self.core;
        if core.circulating.count == 0 {
            return Some(next_ps);
        }
        let packets = core.waiting_for_ingress().len() + core.looped_back.len();
        let turn_ps = packets as u64 * core.options.ingress_interval_ps;
        let now_ps = core.now_ps;
        if self.only_program.is_none()
            || core.has_flow_control()
            || core.traffic.next_ready().is_some()
            || !core.can_circulate(0, now_ps)
            || turn_ps > core.circulating.longest_wait_ps
        {
            return Some(next_ps);
        }
        let listed_ps = core.events.first_key_value().map_or(u64::MAX, |(key, _)| key.time_ps);
        Some(core.first_effect_of_looped_back_ps().min(listed_ps).max(next_ps))
    }
}
