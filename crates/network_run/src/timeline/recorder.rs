// SPDX-License-Identifier: Apache-2.0
//! The time line as a watcher of the run.

use super::events::{DepthSample, EventKind, FrameEvent, NONE};
use super::fields::FlowKey;
use super::packets::Known;
use super::{Flow, MAX_FLOW_BUCKETS, Outage, Remark, TimeLine};
use device::traffic_manager::transmission_ps;
use device::{IngressSource, OutputPath, Tapped, TappedEvent};
use network::frame::Frame;
use network::links::{End, Loss};
use network::node::Note;
use network::simulation::{Movement, Watcher};

impl TimeLine {
    /// What is known of a frame from its bytes.
    fn known(&mut self, frame: &Frame) -> Known {
        let flow = self.flow_numbers.number(FlowKey::of(frame));
        let length_bytes = u32::try_from(frame.length_bytes()).unwrap_or(u32::MAX);
        Known { flow, length_bytes, ..Known::NOTHING }
    }

    fn event(&mut self, time_ps: u64, kind: EventKind, port: u32, known: Known, reason: u8) -> u32 {
        self.events.add(FrameEvent {
            time_ps,
            kind,
            reason,
            port,
            flow: known.flow,
            length_bytes: known.length_bytes,
            cause: known.event,
        })
    }

    fn sent(&mut self, time_ps: u64, from: End, accepted_ps: u64, frame: &Frame) {
        let Some(number) = self.port_at(from) else { return };
        self.scale.reach(time_ps);
        let length_bytes = frame.length_bytes();
        let port = &mut self.ports[number as usize];
        let on_wire_bytes = length_bytes + port.overhead_bytes;
        let wire_ps = port.rate_bps.map_or(0, |rate| transmission_ps(on_wire_bytes, Some(rate)));
        let begun_ps = time_ps.saturating_sub(wire_ps);
        if from.0 >= self.switches && begun_ps > accepted_ps {
            port.series.wait_until(&self.scale, accepted_ps, begun_ps);
            let depth = port.series.depth();
            self.events.sample(DepthSample { time_ps: accepted_ps, port: number, depth });
        }
        port.series.send(&self.scale, (begun_ps, time_ps), length_bytes);
        let is_next = |leaving: &(u64, u32)| leaving.0 == time_ps;
        let before = port.leaving.iter().position(is_next).and_then(|at| port.leaving.remove(at));
        let event = before.map_or(NONE, |(_, event)| event);
        let known = Known { event, ..self.known(frame) };
        let event = self.event(time_ps, EventKind::Sent, number, known, 0);
        self.ports[number as usize].flying.push_back((time_ps, event));
    }

    /// The departure of a frame that arrives or is lost.
    fn departure(&mut self, from: End, departed_ps: u64, is_last: bool) -> u32 {
        let Some(number) = self.port_at(from) else { return NONE };
        let flying = &mut self.ports[number as usize].flying;
        let Some(at) = flying.iter().position(|flying| flying.0 == departed_ps) else {
            return NONE;
        };
        let event = flying[at].1;
        if is_last {
            flying.remove(at);
        }
        event
    }

    fn received(&mut self, time_ps: u64, at: End, (from, departed_ps): (End, u64), frame: &Frame) {
        let Some(number) = self.port_at(at) else { return };
        self.scale.reach(time_ps);
        let departure = self.departure(from, departed_ps, true);
        let known = Known { event: departure, ..self.known(frame) };
        let event = self.event(time_ps, EventKind::Received, number, known, 0);
        match at.0 < self.switches {
            true => {
                let known = Known { event, port: number, ..known };
                self.ports[number as usize].arrived.push_back((time_ps, known));
            }
            false => self.delivered(time_ps, known),
        }
    }

    /// A host got a frame.
    fn delivered(&mut self, time_ps: u64, known: Known) {
        let at = known.flow as usize;
        if self.flows.len() <= at {
            self.flows.resize_with(at + 1, Flow::default);
        }
        let has_room = self.flow_buckets < MAX_FLOW_BUCKETS;
        let scale = &self.scale;
        let mut add = |flow: &mut Flow| {
            let before = flow.series.count();
            *flow.series.at(scale, time_ps) += u64::from(known.length_bytes);
            self.flow_buckets = self.flow_buckets + flow.series.count() - before;
        };
        let flow = &mut self.flows[at];
        flow.frames += 1;
        flow.bytes += u64::from(known.length_bytes);
        match has_room || flow.series.count() > 0 {
            true => add(flow),
            // The sum of all flows without room.
            false => add(&mut self.flows[0]),
        }
    }

    fn lost(&mut self, time_ps: u64, from: End, loss: Loss, departed_ps: u64, frame: &Frame) {
        let Some(number) = self.port_at(from) else { return };
        self.scale.reach(time_ps);
        let departure = self.departure(from, departed_ps, true);
        let known = Known { event: departure, ..self.known(frame) };
        let reason = self.events.reason(match loss {
            Loss::Down => "link down",
            Loss::Random => "random loss",
        });
        self.event(time_ps, EventKind::Lost, number, known, reason);
        self.ports[number as usize].series.series.at(&self.scale, time_ps).lost += 1;
    }

    /// A node dropped a packet, at a port or where it came in.
    fn dropped(&mut self, time_ps: u64, node: u32, port: Option<u32>, known: Known, reason: &str) {
        self.scale.reach(time_ps);
        let first = self.ports_of.get(node as usize).and_then(|ports| ports.first());
        let came_in = (known.port != NONE).then_some(known.port);
        let Some(number) = port.or(came_in).or(first.map(|port| port.1)) else { return };
        let reason = self.events.reason(reason);
        self.event(time_ps, EventKind::Dropped, number, known, reason);
        self.ports[number as usize].series.series.at(&self.scale, time_ps).dropped += 1;
    }

    fn change_queue(
        &mut self,
        node: u32,
        path: (u32, u32),
        time_ps: u64,
        change: impl FnOnce(u32) -> u32,
    ) {
        let Some(number) = self.port_at((node, path.0)) else { return };
        self.scale.reach(time_ps);
        let port = &mut self.ports[number as usize].series;
        port.change_queue(&self.scale, time_ps, path.1, change);
        let depth = port.depth();
        self.events.sample(DepthSample { time_ps, port: number, depth });
    }

    fn tapped(&mut self, node: u32, tapped: &Tapped) {
        let time_ps = tapped.time_ps;
        match &tapped.what {
            TappedEvent::Ingress { port, by: IngressSource::Wire, arrived_ps, .. } => {
                let Some(number) = self.port_at((node, *port)) else { return };
                let arrived = &mut self.ports[number as usize].arrived;
                while arrived.front().is_some_and(|(time_ps, _)| time_ps < arrived_ps) {
                    arrived.pop_front();
                }
                if let Some((_, known)) = arrived.pop_front() {
                    self.packets[node as usize].insert(tapped.packet, known);
                }
            }
            TappedEvent::Queued { path: OutputPath::Port(port), queue, .. } => {
                self.change_queue(node, (*port, *queue), time_ps, |depth| depth + 1);
            }
            TappedEvent::Egress { port, queue, depth_packets, .. } => {
                self.change_queue(node, (*port, *queue), time_ps, |_| *depth_packets);
            }
            TappedEvent::Sent { port, arrives_ps, comes_back: false, .. } => {
                let event = self.packets[node as usize].get(tapped.packet).event;
                if let Some(number) = self.port_at((node, *port)) {
                    self.ports[number as usize].leaving.push_back((*arrives_ps, event));
                }
            }
            TappedEvent::Dropped { reason, refused_by } => {
                let port = match refused_by {
                    Some(OutputPath::Port(port)) => self.port_at((node, *port)),
                    _ => None,
                };
                let known = self.packets[node as usize].get(tapped.packet);
                self.dropped(time_ps, node, port, known, reason.name());
            }
            _ => {}
        }
    }
}

impl Watcher for TimeLine {
    fn moved(&mut self, time_ps: u64, movement: Movement, frame: &Frame) {
        match movement {
            Movement::Sent { from, accepted_ps } => self.sent(time_ps, from, accepted_ps, frame),
            Movement::Received { at, from, departed_ps } => {
                self.received(time_ps, at, (from, departed_ps), frame);
            }
            Movement::Lost { from, loss, departed_ps } => {
                self.lost(time_ps, from, loss, departed_ps, frame);
            }
            // Ports without a link have no row.
            Movement::Undelivered { .. } => {}
        }
    }

    fn link_changed(&mut self, time_ps: u64, end: End, is_up: bool) {
        let Some(port) = self.port_at(end) else { return };
        // Both ports of a link are neighbours.
        let is_same = |outage: &&mut Outage| outage.to_ps.is_none() && outage.port / 2 == port / 2;
        match (self.outages.iter_mut().rev().find(is_same), is_up) {
            (Some(outage), true) => outage.to_ps = Some(time_ps),
            (None, false) => self.outages.push(Outage { port, from_ps: time_ps, to_ps: None }),
            // The link is so already.
            _ => return,
        }
        let state = if is_up { "up" } else { "down" };
        self.push_remark(Remark {
            time_ps,
            controller: None,
            node: Some(port),
            text: state.to_string(),
        });
    }

    fn wants_notes(&self) -> bool {
        true
    }

    fn noted(&mut self, time_ps: u64, node: u32, note: &Note) {
        match note {
            Note::Device(tapped) => self.tapped(node, tapped),
            Note::Dropped { reason, frame } => {
                let known = self.known(frame);
                self.dropped(time_ps, node, None, known, reason);
            }
        }
    }
}
