// SPDX-License-Identifier: Apache-2.0
//! The event log for people: one line an observation, with the effects of a handler indented below it. Repeated equal
//! drops are summed up at the end.

use super::values::{
    ShownBytes, call_argument_text, cell_text, event_text_with, global_name, packet_text,
    real_port, reason_text,
};
use crate::interpreter::EventValue;
use crate::simulation::{Destination, Observation, ObservationKind, Observer, Stage};
use lucid::core::Program;
use source::quantity::nanoseconds;
use std::collections::HashMap;

/// The level of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What programs print, what leaves, what commands answer, what goes wrong.
    Results,
    /// Besides, every handler with what it generated.
    Everything,
}

/// Writes lines, with their line ends, to the given sink.
pub struct TextLog<'p, W> {
    program: &'p Program,
    detail: Detail,
    write: W,
    /// Time and switch of the handler above, for indentation.
    above: Option<(u64, u32)>,
    /// Of each switch.
    recirculation_ports: &'p [u32],
    shown_bytes: ShownBytes,
    /// Drops by switch and text, in the order of the first of each.
    drops: Vec<RepeatedDrop>,
    drop_places: HashMap<(u32, String), usize>,
}

/// A drop that a log of results shows once.
struct RepeatedDrop {
    switch: u32,
    reason: &'static str,
    event: String,
    /// Those after the first.
    more: u64,
    last_ps: u64,
}

/// Width of times in characters.
const TIME_WIDTH: usize = 10;

impl<'p, W: FnMut(&str)> TextLog<'p, W> {
    /// A log of runs of this program.
    pub fn new(program: &'p Program, detail: Detail, write: W) -> TextLog<'p, W> {
        TextLog {
            program,
            detail,
            write,
            above: None,
            recirculation_ports: &[],
            shown_bytes: ShownBytes::default(),
            drops: Vec::new(),
            drop_places: HashMap::new(),
        }
    }

    /// The same, with payloads and packets of so many bytes.
    pub fn with_bytes(self, shown_bytes: ShownBytes) -> TextLog<'p, W> {
        TextLog { shown_bytes, ..self }
    }

    /// Writes how often drops were repeated after the first.
    pub fn finish(mut self) {
        for drop in std::mem::take(&mut self.drops).into_iter().filter(|drop| drop.more > 0) {
            let RepeatedDrop { reason, event, more, .. } = &drop;
            let times = if *more == 1 { "time" } else { "times" };
            let text = format!("dropped {more} more {times} until now, {reason}: {event}");
            self.line_at(drop.last_ps, drop.switch, &text);
        }
    }

    fn event_text(&self, event: &EventValue) -> String {
        event_text_with(self.program, event, self.shown_bytes)
    }

    /// A drop; a log of results has the first of equal ones only.
    fn dropped(&mut self, observation: &Observation, reason: &'static str, event: String) {
        let text = format!("dropped, {reason}: {event}");
        if self.detail == Detail::Everything {
            return self.line(observation, &text);
        }
        let switch = observation.switch;
        match self.drop_places.get(&(switch, text.clone())) {
            Some(at) => {
                let drop = &mut self.drops[*at];
                (drop.more, drop.last_ps) = (drop.more + 1, observation.time_ps);
            }
            None => {
                self.line(observation, &text);
                self.drop_places.insert((switch, text), self.drops.len());
                self.drops.push(RepeatedDrop { switch, reason, event, more: 0, last_ps: 0 });
            }
        }
    }

    /// The same, with the recirculation port of each switch.
    pub fn with_recirculation_ports(self, recirculation_ports: &'p [u32]) -> TextLog<'p, W> {
        TextLog { recirculation_ports, ..self }
    }

    /// A port with its number, and what it is for.
    fn port_text(&self, switch: u32, port: u32) -> String {
        match self.recirculation_ports.get(switch as usize) == Some(&port) {
            true => format!("port {port} (recirculation)"),
            false => format!("port {port}"),
        }
    }

    fn line(&mut self, observation: &Observation, text: &str) {
        self.line_at(observation.time_ps, observation.switch, text);
    }

    fn line_at(&mut self, time_ps: u64, switch: u32, text: &str) {
        let time = nanoseconds(time_ps);
        (self.write)(&format!("{time:>TIME_WIDTH$} ns  switch {switch}  {text}\n"));
    }

    /// A line below that of a handler; on its own if the log has no line of the handler.
    fn below(&mut self, observation: &Observation, text: &str) {
        let place = (observation.time_ps, observation.switch);
        if self.detail == Detail::Everything && self.above == Some(place) {
            (self.write)(&format!("{:TIME_WIDTH$}       {text}\n", ""));
        } else {
            self.line(observation, text);
        }
    }
}

impl<W: FnMut(&str)> Observer for TextLog<'_, W> {
    fn wants_accesses(&self) -> bool {
        self.detail == Detail::Everything
    }

    fn observe(&mut self, observation: Observation) {
        let everything = self.detail == Detail::Everything;
        let program = self.program;
        match &observation.kind {
            ObservationKind::Handled { event, port, stage, is_packet, .. } => {
                if !everything {
                    return;
                }
                let packet = if *is_packet { "packet " } else { "" };
                let event = self.event_text(event);
                let port = self.port_text(observation.switch, *port);
                let text = match stage {
                    Stage::Ingress => format!("{packet}{event} at {port}"),
                    Stage::Egress => format!("{packet}{event} leaving by {port}"),
                    Stage::Control => format!("{packet}{event} at the control processor"),
                };
                self.line(&observation, &text);
                self.above = Some((observation.time_ps, observation.switch));
                return;
            }
            ObservationKind::Generated { event, destination, .. } => {
                if !everything {
                    return;
                }
                let event = self.event_text(event);
                let text = format!("-> {event} {}", destination_text(destination));
                self.below(&observation, &text);
                return;
            }
            ObservationKind::Printed { text, .. } => {
                let text = text.trim_end_matches('\n');
                let mark = if everything { "| " } else { "" };
                for line in text.split('\n') {
                    self.below(&observation, &format!("{mark}{line}"));
                }
                return;
            }
            ObservationKind::OutOfRange { global, index, .. } => {
                let global = global_name(program, *global);
                let text = format!("! index {index} is beyond the end of `{global}`");
                self.below(&observation, &text);
                return;
            }
            ObservationKind::TableFull { table, .. } => {
                let table = global_name(program, *table);
                let text = format!("! table `{table}` is full: the entry was not installed");
                self.below(&observation, &text);
                return;
            }
            ObservationKind::Called { function, arguments, .. } => {
                let arguments: Vec<String> =
                    arguments.iter().map(|each| call_argument_text(program, each)).collect();
                let text = format!("* {function}({})", arguments.join(", "));
                self.below(&observation, &text);
                return;
            }
            ObservationKind::Accessed { global, index, before, after, .. } => {
                if everything {
                    let global = global_name(program, *global);
                    let (before, after) = (cell_text(before), cell_text(after));
                    let text = match before == after {
                        true => format!(". {global}[{index}] is {before}"),
                        false => format!(". {global}[{index}] was {before}, is {after}"),
                    };
                    self.below(&observation, &text);
                }
                return;
            }
            ObservationKind::LookedUp { table, key, action, hit, .. } => {
                if everything {
                    let table = global_name(program, *table);
                    let key: Vec<String> = key.iter().map(u128::to_string).collect();
                    let action =
                        program.actions.get(action.0 as usize).map_or("?", |action| &action.name);
                    let how = if *hit { "hit" } else { "miss" };
                    let text = format!(". {table}[{}]: {how}, {action}", key.join(", "));
                    self.below(&observation, &text);
                }
                return;
            }
            ObservationKind::Left { event, port, bytes, .. } => {
                let by = real_port(*port).map(|port| self.port_text(observation.switch, port));
                let by = by.map_or(String::new(), |port| format!(" by {port}"));
                let mut text = format!("left{by}: {}", self.event_text(event));
                if let Some(bytes) = bytes {
                    text.push_str(&format!(" as {}", packet_text(bytes, self.shown_bytes)));
                }
                self.line(&observation, &text);
            }
            ObservationKind::Dropped { event, reason, .. } => {
                let event = match event {
                    Some(event) => self.event_text(event),
                    None => "a packet".to_string(),
                };
                self.dropped(&observation, reason_text(*reason), event);
            }
            ObservationKind::Commanded { text, result } => {
                let text = match result {
                    Some(result) => format!("command {text} = {result}"),
                    None => format!("command {text}"),
                };
                self.line(&observation, &text);
            }
            ObservationKind::LeftAsBytes { port, bytes } => {
                let by = real_port(*port).map(|port| self.port_text(observation.switch, port));
                let by = by.map_or(String::new(), |port| format!(" by {port}"));
                let bytes = packet_text(bytes, self.shown_bytes);
                let text = format!("left{by}: {bytes}, no event of a handler");
                self.line(&observation, &text);
            }
            ObservationKind::Link { ends: [from, to], up } => {
                let state = if *up { "up" } else { "down" };
                let text = format!("link {}:{} - {}:{} is {state}", from.0, from.1, to.0, to.1);
                self.line(&observation, &text);
            }
        }
        self.above = None;
    }
}

fn destination_text(destination: &Destination) -> String {
    match destination {
        Destination::Recirculated { due_ps } => {
            format!("to itself, at {} ns", nanoseconds(*due_ps))
        }
        Destination::Switch { switch, arrives_ps } => {
            format!("to switch {switch}, at {} ns", nanoseconds(*arrives_ps))
        }
        Destination::Port { port, to: Some((switch, at)), arrives_ps } => {
            let time = nanoseconds(*arrives_ps);
            format!("by port {port} to switch {switch} port {at}, at {time} ns")
        }
        Destination::Port { port, to: None, .. } => match real_port(*port) {
            Some(port) => format!("by port {port}"),
            None => "out of the network".to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use crate::simulation::{DropReason, Occurrence};

    fn logged(detail: Detail) -> String {
        let program = example::program();
        let mut text = String::new();
        let mut log = TextLog::new(&program, detail, |line| text.push_str(line))
            .with_recirculation_ports(&[196, 1]);
        for observation in example::observations() {
            log.observe(observation);
        }
        log.finish();
        text
    }

    fn dropped_and_left(detail: Detail, shown: ShownBytes) -> String {
        let program = example::program();
        let mut text = String::new();
        let mut log = TextLog::new(&program, detail, |line| text.push_str(line)).with_bytes(shown);
        for (number, value) in [7, 8, 7, 7, 8, 9].into_iter().enumerate() {
            log.observe(Observation {
                time_ps: number as u64 * 1000,
                switch: u32::from(number == 3),
                kind: ObservationKind::Dropped {
                    occurrence: Occurrence(number as u64),
                    event: Some(example::reply(value)),
                    reason: DropReason::LinkDown,
                },
            });
        }
        for length in [0, 1, 16, 17, 1500] {
            log.observe(Observation {
                time_ps: 9000,
                switch: 0,
                kind: ObservationKind::LeftAsBytes { port: 1, bytes: vec![0xab; length].into() },
            });
        }
        log.finish();
        text
    }

    #[test]
    fn repeated_drops_are_summed_up_and_long_packets_cut() {
        testing::assert_snapshot!(dropped_and_left(Detail::Results, ShownBytes::First));
    }

    #[test]
    fn all_drops_and_all_bytes_on_demand() {
        let text = dropped_and_left(Detail::Everything, ShownBytes::All);
        assert_eq!(text.matches("dropped, ").count(), 6, "{text}");
        assert!(text.contains(&"ab".repeat(1500)), "{text}");
    }

    #[test]
    fn everything() {
        testing::assert_snapshot!(logged(Detail::Everything));
    }

    #[test]
    fn results() {
        testing::assert_snapshot!(logged(Detail::Results));
    }
}
