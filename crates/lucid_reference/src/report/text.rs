// SPDX-License-Identifier: Apache-2.0
//! The event log for people: one line an observation, with the effects of a handler indented below it.

use super::values::{
    call_argument_text, cell_text, event_text, global_name, hexadecimal, real_port, reason_text,
};
use crate::simulation::{Destination, Observation, ObservationKind, Observer, Stage};
use lucid::core::Program;
use source::quantity::nanoseconds;

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
}

/// Width of times in characters.
const TIME_WIDTH: usize = 10;

impl<'p, W: FnMut(&str)> TextLog<'p, W> {
    /// A log of runs of this program.
    pub fn new(program: &'p Program, detail: Detail, write: W) -> TextLog<'p, W> {
        TextLog { program, detail, write, above: None, recirculation_ports: &[] }
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
        let time = nanoseconds(observation.time_ps);
        (self.write)(&format!("{time:>TIME_WIDTH$} ns  switch {}  {text}\n", observation.switch));
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
                let event = event_text(program, event);
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
                let event = event_text(program, event);
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
                let mut text = format!("left{by}: {}", event_text(program, event));
                if let Some(bytes) = bytes {
                    let plural = if bytes.len() == 1 { "" } else { "s" };
                    let bytes = (bytes.len(), hexadecimal(bytes));
                    text.push_str(&format!(" as {} byte{plural} {}", bytes.0, bytes.1));
                }
                self.line(&observation, &text);
            }
            ObservationKind::Dropped { event, reason, .. } => {
                let event = match event {
                    Some(event) => event_text(program, event),
                    None => "a packet".to_string(),
                };
                self.line(&observation, &format!("dropped, {}: {event}", reason_text(*reason)));
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
                let plural = if bytes.len() == 1 { "" } else { "s" };
                let (count, digits) = (bytes.len(), hexadecimal(bytes));
                let text =
                    format!("left{by}: {count} byte{plural} {digits}, no event of a handler");
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

    fn logged(detail: Detail) -> String {
        let program = example::program();
        let mut text = String::new();
        let mut log = TextLog::new(&program, detail, |line| text.push_str(line))
            .with_recirculation_ports(&[196, 1]);
        for observation in example::observations() {
            log.observe(observation);
        }
        text
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
