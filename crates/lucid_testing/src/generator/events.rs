// SPDX-License-Identifier: Apache-2.0
//! Generates the events of a program: sorts, parameters, which of them have handlers.

use super::{Generator, type_text};
use std::fmt::Write as _;

/// The sort of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Plain,
    /// With a number in the packet that says which event it is, and filled to an Ethernet header.
    Packet,
    Exit,
}

/// An event: the widths of its parameters behind those that all of its sort have; a zero is a boolean.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) sort: Sort,
    pub(super) parameters: Vec<u32>,
    pub(super) has_payload: bool,
    pub(super) has_handler: bool,
    /// Its handler generates it again, with a delay. Nothing else does.
    pub(super) is_periodic: bool,
}

impl Generator {
    pub(super) fn declare_events(&mut self) {
        self.has_parser = self.features.packets && self.choose(2) == 1;
        let count = 1 + self.choose(3);
        for at in 0..count {
            let event = self.new_event(at + 1 == count && at > 0);
            self.events.push(event);
        }
        if self.features.timing && self.choose(3) == 1 {
            let parameters = vec![32; self.choose(3)];
            self.events.push(Event {
                sort: Sort::Plain,
                parameters,
                has_payload: false,
                has_handler: true,
                is_periodic: true,
            });
        }
        for at in 0..self.events.len() {
            let declared = self.declared(at);
            let sort = match self.events[at].sort {
                Sort::Plain => "",
                Sort::Packet => "packet ",
                Sort::Exit => "exit ",
            };
            self.line(&format!("{sort}event event{at}({declared});"));
        }
    }

    fn new_event(&mut self, is_last: bool) -> Event {
        let mut event = Event {
            sort: Sort::Plain,
            parameters: Vec::new(),
            has_payload: false,
            has_handler: true,
            is_periodic: false,
        };
        if self.features.packets {
            event.sort = match self.choose(if self.has_parser { 6 } else { 8 }) {
                1..=3 => Sort::Packet,
                4 => Sort::Exit,
                _ => Sort::Plain,
            };
            event.has_payload = event.sort != Sort::Exit && self.choose(2) == 1;
            event.has_handler = !(is_last && self.choose(4) == 1);
        }
        // The payload of a packet begins at a whole byte.
        let widths = match event.sort {
            Sort::Packet => [32, 8, 16, 8, 32, 16],
            _ => [32, 8, 16, 0, 32, 9],
        };
        let count = self.choose(4);
        event.parameters = (0..count).map(|_| widths[self.choose(widths.len())]).collect();
        event
    }

    /// The parameters of an event as they are declared.
    pub(super) fn declared(&self, event: usize) -> String {
        let Event { sort, parameters, has_payload, .. } = &self.events[event];
        let mut text = "int<8> hops".to_owned();
        if *sort == Sort::Packet {
            text.push_str(", int<8> tag, int<96> fill");
        }
        for (at, width) in parameters.iter().enumerate() {
            let _ = write!(text, ", {} p{at}", type_text(*width));
        }
        if *has_payload {
            text.push_str(", Payload.t rest");
        }
        text
    }

    /// A constructor over expressions, one hop less. What an egress handler generates is the event that
    /// leaves; it keeps the payload of its packet.
    pub(super) fn constructor(&mut self) -> String {
        let keeps = self.at_egress && !self.payload_variables.is_empty();
        let fits = |event: &Event| !event.is_periodic && (event.has_payload || !keeps);
        let known: Vec<usize> =
            (0..self.events.len()).filter(|at| fits(&self.events[*at])).collect();
        let event = known[self.choose(known.len())];
        let hops = if self.at_egress { "hops" } else { "hops - 1" };
        self.constructor_of(event, hops)
    }

    pub(super) fn constructor_of(&mut self, event: usize, hops: &str) -> String {
        let Event { sort, parameters, has_payload, .. } = self.events[event].clone();
        let mut text = format!("event{event}({hops}");
        if sort == Sort::Packet {
            let tag = self.tag(event);
            let fill = self.fill();
            let _ = write!(text, ", {tag}, {fill}");
        }
        for width in parameters {
            text.push_str(", ");
            text.push_str(&self.value(width, 1));
        }
        if has_payload {
            text.push_str(", ");
            text.push_str(&self.payload());
        }
        text.push(')');
        text
    }
}
