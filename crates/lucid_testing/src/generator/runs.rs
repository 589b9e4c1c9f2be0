// SPDX-License-Identifier: Apache-2.0
//! Generates the specification of a program's run: what comes in, commands, links.

use super::{Generator, SWITCHES, State};

impl Generator {
    pub(super) fn run(&mut self) -> String {
        let switches = if self.features.network { SWITCHES } else { 1 };
        let mut inputs = Vec::new();
        let most = if self.features.packets { 10 } else { 5 };
        for _ in 0..1 + self.choose(most) {
            inputs.push(self.input(switches));
        }
        for at in 0..self.states.len() {
            inputs.extend(self.commands(at));
        }
        let mut fields = String::new();
        if switches > 1 {
            fields.push_str(&self.links());
            if self.features.packets && self.choose(8) == 1 {
                fields.push_str("\"recirculation ports\": [196, 68, 200], ");
            }
        }
        if self.features.timing && switches > 1 && self.choose(12) == 1 {
            let time_ns = self.time();
            inputs.push(format!(
                "{{\"type\": \"link\", \"link\": \"0:1\", \"state\": \"down\", \"timestamp\": {time_ns}}}"
            ));
        }
        let max_time_ns = self.timing.max_time_ns;
        if self.timing.granularity_ns > 0 {
            fields.push_str(&format!("\"delay granularity\": {}, ", self.timing.granularity_ns));
        }
        let seed = self.any();
        format!(
            "{{\"switches\": {switches}, {fields}\"max time\": {max_time_ns}, \"random seed\": {seed}, \
             \"events\": [\n  {}\n]}}\n",
            inputs.join(",\n  ")
        )
    }

    /// An event or a packet.
    fn input(&mut self, switches: u32) -> String {
        let is_packet = self.has_parser && self.choose(3) == 2;
        let what = if is_packet {
            format!("\"type\": \"packet\", \"bytes\": \"{}\"", self.packet())
        } else {
            let event = self.choose(self.events.len());
            format!("\"name\": \"event{event}\", \"args\": [{}]", self.arguments(event))
        };
        let switch = self.any() % switches;
        let time_ns = self.any() % 2000;
        // Of a packet event that is named the parser has to make this event.
        let port = match self.any() % 4 {
            port if Some(port) == self.parser_port && !is_packet => 3,
            port => port,
        };
        format!("{{{what}, \"locations\": [\"{switch}:{port}\"], \"timestamp\": {time_ns}}}")
    }

    /// A time within the run.
    fn time(&mut self) -> u64 {
        let part = self.choose(100) as u64;
        self.timing.max_time_ns * part / 100
    }

    /// Commands on a global: entries at the beginning and later, numbers in between.
    fn commands(&mut self, at: usize) -> Vec<String> {
        let mut commands = Vec::new();
        if !self.features.tables {
            return commands;
        }
        let count = match self.states[at] {
            State::Table(_) => 2 + self.choose(4),
            _ => self.choose(5).saturating_sub(3),
        };
        for _ in 0..count {
            let command = match self.states[at].clone() {
                State::Table(table) => self.table_command(at, &table),
                State::Array { width, length } => {
                    let value = self.constant(width);
                    format!(
                        "\"name\": \"Array.set\", \"args\": {{\"array\": \"state{at}\", \
                         \"index\": {}, \"value\": [{value}]}}",
                        self.choose(length as usize)
                    )
                }
                State::Pairs { length } => {
                    let (one, other) = (self.constant(32), self.constant(32));
                    format!(
                        "\"name\": \"Array.set\", \"args\": {{\"array\": \"state{at}\", \
                         \"index\": {}, \"value\": [{one}, {other}]}}",
                        self.choose(length as usize)
                    )
                }
                State::Counter => continue,
            };
            let time_ns = match self.choose(3) {
                0 => 0,
                1 => self.choose(4000) as u64,
                _ => self.time(),
            };
            let place = match self.choose(3) {
                2 => format!("\"{}:0\"", self.choose(if self.features.network { 3 } else { 1 })),
                _ => "\"all\"".to_owned(),
            };
            commands.push(format!(
                "{{\"type\": \"command\", {command}, \"locations\": {place}, \"timestamp\": {time_ns}}}"
            ));
        }
        commands
    }

    /// A triangle with ports 1 and 2 at each switch.
    fn links(&mut self) -> String {
        let kind = if self.features.timing { self.choose(6) } else { 0 };
        match kind {
            2 => "\"links\": [{\"ends\": [\"0:1\", \"1:2\"], \"latency\": \"1500ns\"}, \
                  {\"ends\": [\"1:1\", \"2:2\"], \"rate\": \"1Gbps\"}, [\"2:1\", \"0:2\"]], "
                .to_owned(),
            3 => "\"links\": [{\"ends\": [\"0:1\", \"1:2\"], \"jitter\": \"500ns\"}, \
                  [\"1:1\", \"2:2\"]], "
                .to_owned(),
            4 => "\"links\": [[\"0:1\", \"1:2\"]], ".to_owned(),
            _ => "\"links\": {\"0:1\": \"1:2\", \"1:1\": \"2:2\", \"2:1\": \"0:2\"}, ".to_owned(),
        }
    }
}
