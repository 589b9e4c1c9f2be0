// SPDX-License-Identifier: Apache-2.0
//! Generates what packets have besides numbers: the parser, tags by which it knows events, payloads.

use super::events::{Event, Sort};
use super::{Generator, Variable, type_text};
use std::fmt::Write as _;

/// The tag of a program's first event; the others follow.
const FIRST_TAG: usize = 10;

/// The tag of packets of which the parser makes an event of another sort.
const OTHER_TAG: usize = 30;

/// What fills packets to an Ethernet header. The last 16 bits stand where its type is.
const FILLS: [u64; 4] = [0x0a0b, 0x8808, 0x0800, 0x1234_5678_0001];

impl Generator {
    /// The tag of a packet event as it is generated: that by which the parser knows it, as a rule.
    pub(super) fn tag(&mut self, event: usize) -> String {
        match self.choose(8) {
            7 => self.integer(8, 1),
            6 => format!("{OTHER_TAG}w8"),
            _ => format!("{}w8", FIRST_TAG + event),
        }
    }

    pub(super) fn fill(&mut self) -> String {
        match self.choose(2) {
            0 if self.has_fill => "fill".to_owned(),
            _ => format!("{}w96", FILLS[self.choose(FILLS.len())]),
        }
    }

    /// The packet's payload, or none.
    pub(super) fn payload(&mut self) -> String {
        let known = self.payload_variables.len();
        match known {
            0 => "Payload.empty()".to_owned(),
            _ if self.at_egress => self.payload_variables[0].clone(),
            _ => match self.choose(4) {
                3 => "Payload.empty()".to_owned(),
                _ => {
                    let at = self.choose(known);
                    self.payload_variables[at].clone()
                }
            },
        }
    }

    /// Puts a payload into a variable.
    pub(super) fn payload_variable(&mut self) {
        if self.at_egress || self.payload_variables.is_empty() {
            return self.declaration();
        }
        let payload = self.payload();
        let known = self.payload_variables.len();
        if self.choose(2) == 1 {
            let at = self.choose(known);
            let name = self.payload_variables[at].clone();
            self.line(&format!("{name} = {payload};"));
        } else {
            let name = self.name("rest");
            self.line(&format!("Payload.t {name} = {payload};"));
            self.payload_variables.push(name);
        }
    }

    pub(super) fn parser(&mut self) {
        self.variables = vec![
            Variable { name: "hops".to_owned(), width: 8 },
            Variable { name: "tag".to_owned(), width: 8 },
        ];
        self.line("parser main(bitstring pkt) {");
        self.depth += 1;
        self.line("int<8> hops = read(pkt);");
        self.line("int<8> tag = read(pkt);");
        self.line("int<96> fill = read(pkt);");
        let asks_for_port = self.choose(4) == 3;
        self.line(if asks_for_port { "match (tag, ingress_port) with" } else { "match tag with" });
        let other = self.choose(self.events.len());
        if asks_for_port {
            let port = [0, 2, 196][self.choose(3)];
            self.parser_port = Some(port);
            self.parser_branch(&format!("{FIRST_TAG}, {port}"), other);
        }
        let any = if asks_for_port { ", _" } else { "" };
        for at in 0..self.events.len() {
            if self.events[at].sort == Sort::Packet {
                self.parser_branch(&format!("{}{any}", FIRST_TAG + at), at);
            }
        }
        self.parser_branch(&format!("{OTHER_TAG}{any}"), other);
        self.line(if asks_for_port { "| _, _ -> { drop; }" } else { "| _ -> { drop; }" });
        self.depth -= 1;
        self.line("}");
    }

    /// Reads an event; what no whole bytes have is constant. Periodic events come from the run only.
    fn parser_branch(&mut self, pattern: &str, event: usize) {
        let Event { sort, parameters, has_payload, is_periodic, .. } = self.events[event].clone();
        if is_periodic {
            return self.line(&format!("| {pattern} -> {{ drop; }}"));
        }
        self.line(&format!("| {pattern} -> {{"));
        self.depth += 1;
        let mut text = format!("generate(event{event}(hops");
        if sort == Sort::Packet {
            text.push_str(", tag, fill");
        }
        for (at, width) in parameters.into_iter().enumerate() {
            let name = format!("q{at}");
            match width {
                0 => text.push_str(", true"),
                8 | 16 | 32 => {
                    self.line(&format!("{} {name} = read(pkt);", type_text(width)));
                    let _ = write!(text, ", {name}");
                }
                _ => {
                    let _ = write!(text, ", 5w{width}");
                }
            }
        }
        if has_payload {
            text.push_str(", Payload.parse(pkt)");
        }
        self.line(&format!("{text}));"));
        self.depth -= 1;
        self.line("}");
    }

    /// Hexadecimal digits.
    pub(super) fn bytes(&mut self) -> String {
        let count = [0, 0, 1, 3, 46, 200][self.choose(6)];
        let first = self.any();
        (0..count).map(|at| format!("{:02x}", first.wrapping_add(at) as u8)).collect()
    }

    /// The bytes of a packet that comes in: an event's, or others.
    pub(super) fn packet(&mut self) -> String {
        let tag = match self.choose(6) {
            5 => self.any() as usize % 256,
            4 => OTHER_TAG,
            _ => FIRST_TAG + self.choose(self.events.len()),
        };
        let fill = FILLS[self.choose(FILLS.len())];
        let mut bytes = format!("{:02x}{tag:02x}{fill:024x}", self.any() % 4);
        let count = [24, 4, 0, 12, 80][self.choose(5)];
        let first = self.any();
        for at in 0..count {
            let _ = write!(bytes, "{:02x}", first.wrapping_add(at * 37) as u8);
        }
        bytes
    }

    /// The arguments of an event that comes in, as JSON.
    pub(super) fn arguments(&mut self, event: usize) -> String {
        let Event { sort, parameters, has_payload, is_periodic, .. } = self.events[event].clone();
        let hops = self.any();
        let hops = match (is_periodic, self.features.packets) {
            (true, _) => hops % 2,
            (false, true) => [0, 2, 3, 1, 3, 2][hops as usize % 6],
            (false, false) => hops % 4,
        };
        let mut arguments = vec![hops.to_string()];
        if sort == Sort::Packet {
            arguments.push((FIRST_TAG + event).to_string());
            arguments.push(FILLS[self.choose(FILLS.len())].to_string());
        }
        for width in parameters {
            arguments.push(match width {
                0 => (self.any() % 2 == 1).to_string(),
                _ => self.constant(width).to_string(),
            });
        }
        if has_payload {
            arguments.push(format!("\"{}\"", self.bytes()));
        }
        arguments.join(", ")
    }
}
