// SPDX-License-Identifier: Apache-2.0
//! Generates statements of a handler.

use super::events::{Event, Sort};
use super::{Generator, MAX_GENERATED, SWITCHES, State, Variable, type_text};

impl Generator {
    pub(super) fn statements(&mut self, count: usize, depth: u32) {
        for _ in 0..count {
            self.statement(depth);
        }
    }

    /// Statements in braces; variables that they declare are theirs.
    fn block(&mut self, depth: u32) {
        let kept = (self.variables.len(), self.event_variables.len(), self.group_variables.len());
        let payloads = self.payload_variables.len();
        self.depth += 1;
        let count = 1 + self.choose(3);
        self.statements(count, depth);
        self.depth -= 1;
        self.variables.truncate(kept.0);
        self.event_variables.truncate(kept.1);
        self.group_variables.truncate(kept.2);
        self.payload_variables.truncate(payloads);
    }

    fn statement(&mut self, depth: u32) {
        match self.choose(18) {
            0 | 1 => self.declaration(),
            2 => self.assignment(),
            3..=5 => self.access(),
            6 | 7 if depth > 0 => self.decision(depth - 1),
            8 if depth > 0 => self.match_numbers(depth - 1),
            9 if depth > 0 && self.features.event_values => self.match_events(depth - 1),
            10 if self.features.event_values => self.event_variable(),
            11 if self.features.event_values && self.features.network => self.group_variable(),
            12 if self.features.prints => {
                let value = self.integer(32, 2);
                self.line(&format!("printf(\"%d\", {value});"));
            }
            13 if self.features.random => {
                let name = self.name("r");
                self.line(&format!("int {name} = Sys.random();"));
                self.variables.push(Variable { name, width: 32 });
            }
            14 if self.features.packets && !self.payload_variables.is_empty() => {
                self.payload_variable();
            }
            _ => self.generate(),
        }
    }

    pub(super) fn declaration(&mut self) {
        let width = [32, 8, 16, 0, 9][self.choose(5)];
        let value = self.value(width, 2);
        let name = self.name("v");
        self.line(&format!("{} {name} = {value};", type_text(width)));
        self.variables.push(Variable { name, width });
    }

    fn assignment(&mut self) {
        // The hops stay as they are, so that runs end.
        let Some(at) = self.variables.len().checked_sub(1).filter(|last| *last > 0) else {
            return self.declaration();
        };
        let at = 1 + self.choose(at);
        let Variable { name, width } = self.variables[at].clone();
        let value = match self.choose(3) {
            2 if width > 0 => self.constant(width).to_string(),
            _ => self.value(width, 2),
        };
        self.line(&format!("{name} = {value};"));
    }

    pub(super) fn access(&mut self) {
        let left = self.end_state - self.next_state;
        if left == 0 {
            return self.declaration();
        }
        let at = self.next_state + self.choose(left);
        self.next_state = at + 1;
        let name = self.name("s");
        let width = match self.states[at].clone() {
            State::Array { width, length } => {
                let index = self.index(length);
                let (one, other) = (self.integer(width, 1), self.integer(width, 1));
                let memops = ["plus", "mix", "least", "once"];
                let (get, set) = (memops[self.choose(4)], memops[self.choose(4)]);
                let text = match self.choose(6) {
                    0 => format!("Array.get(state{at}, {index})"),
                    1 => {
                        self.line(&format!("Array.set(state{at}, {index}, {one});"));
                        return;
                    }
                    2 => {
                        self.line(&format!("Array.setm(state{at}, {index}, {set}, {one});"));
                        return;
                    }
                    3 => format!("Array.getm(state{at}, {index}, {get}, {one})"),
                    4 if width == 32 => {
                        format!(
                            "Array.update_complex(state{at}, {index}, three, {one}, {other}, 7)"
                        )
                    }
                    _ => format!("Array.update(state{at}, {index}, {get}, {one}, {set}, {other})"),
                };
                self.line(&format!("int<{width}> {name} = {text};"));
                width
            }
            State::Pairs { length } => {
                let index = self.index(length);
                let (one, other) = (self.integer(32, 1), self.integer(32, 1));
                self.line(&format!(
                    "int {name} = PairArray.update(state{at}, {index}, both, {one}, {other}, 9);"
                ));
                32
            }
            State::Table(table) => {
                let text = self.lookup(at, &table);
                self.line(&format!("int {name} = {text};"));
                32
            }
            State::Counter => {
                let value = self.integer(32, 1);
                self.line(&format!("int {name} = Counter.add(state{at}, {value});"));
                32
            }
        };
        self.variables.push(Variable { name, width });
    }

    /// An index, in most cases within the array.
    fn index(&mut self, length: u32) -> String {
        match self.choose(4) {
            0 => format!("{}", self.choose(length as usize)),
            3 => self.integer(8, 1),
            _ => {
                let inner = self.integer(32, 1);
                format!("({inner} & {})", length - 1)
            }
        }
    }

    /// Two blocks; the path behind them may touch what neither has touched.
    fn decision(&mut self, depth: u32) {
        let condition = self.condition(2);
        self.line(&format!("if ({condition}) {{"));
        let before = (self.next_state, self.generated);
        self.block(depth);
        let then = (self.next_state, self.generated);
        if self.choose(2) == 1 {
            self.line("} else {");
            (self.next_state, self.generated) = before;
            self.block(depth);
        } else {
            (self.next_state, self.generated) = before;
        }
        self.line("}");
        self.next_state = self.next_state.max(then.0);
        self.generated = self.generated.max(then.1);
    }

    fn match_numbers(&mut self, depth: u32) {
        let width = [32, 8][self.choose(2)];
        let subject = self.integer(width, 1);
        let two = self.choose(2) == 1;
        let second = self.integer(32, 0);
        let subjects = if two { format!("({subject}, {second})") } else { format!("({subject})") };
        self.line(&format!("match {subjects} with"));
        let before = (self.next_state, self.generated);
        let mut after = before;
        let branches = 1 + self.choose(3);
        let closed = self.choose(2) == 1;
        for at in 0..branches + usize::from(closed) {
            let last = closed && at == branches;
            let first = if last { "_".to_owned() } else { self.pattern(width) };
            let pattern = match (two, last) {
                (false, _) => first,
                (true, true) => "_, _".to_owned(),
                (true, false) => {
                    let other = self.choose(3);
                    let other = if other == 0 { "_".to_owned() } else { other.to_string() };
                    format!("{first}, {other}")
                }
            };
            self.line(&format!("| {pattern} -> {{"));
            (self.next_state, self.generated) = before;
            self.block(depth);
            self.line("}");
            after = (after.0.max(self.next_state), after.1.max(self.generated));
        }
        (self.next_state, self.generated) = after;
    }

    fn pattern(&mut self, width: u32) -> String {
        match self.choose(4) {
            3 if width == 8 => {
                let bits = self.any();
                let digit = |at: u32| ['0', '1', '*', '*'][(bits >> (2 * at) & 3) as usize];
                format!("0b{}", (0..8).map(digit).collect::<String>())
            }
            _ => self.choose(4).to_string(),
        }
    }

    /// An event value, perhaps with a delay and a place.
    fn event(&mut self) -> String {
        let known = self.event_variables.len();
        let mut event = match self.choose(3) {
            2 if known > 0 => self.known_event(),
            _ => self.constructor(),
        };
        if self.at_egress {
            return event;
        }
        if self.choose(3) == 2 {
            let delay = self.delay();
            event = format!("Event.delay({event}, {delay})");
        }
        if self.features.network && self.choose(4) == 3 {
            let place = match self.choose(5) {
                4 => "{0, 2}".to_owned(),
                _ => self.switch(),
            };
            event = format!("Event.locate({event}, {place})");
        }
        event
    }

    /// A variable with an event; there is one.
    fn known_event(&mut self) -> String {
        let at = self.choose(self.event_variables.len());
        self.event_variables[at].clone()
    }

    /// A variable with a group; there is one.
    fn known_group(&mut self) -> String {
        let at = self.choose(self.group_variables.len());
        self.group_variables[at].clone()
    }

    fn switch(&mut self) -> String {
        match self.choose(3) {
            2 => "self".to_owned(),
            1 => {
                let inner = self.integer(32, 0);
                format!("({inner} & 1)")
            }
            _ => self.choose(SWITCHES as usize).to_string(),
        }
    }

    fn event_variable(&mut self) {
        // Events in variables carry the hops less one, which has to be there.
        if !self.may_generate {
            return self.declaration();
        }
        let event = self.event();
        let known = self.event_variables.len();
        if known > 0 && self.choose(2) == 1 {
            let name = self.known_event();
            self.line(&format!("{name} = {event};"));
        } else {
            let name = self.name("e");
            self.line(&format!("event {name} = {event};"));
            self.event_variables.push(name);
        }
    }

    fn group(&mut self) -> String {
        let known = self.group_variables.len();
        match self.choose(5) {
            4 if known > 0 => self.known_group(),
            1 => "{1}".to_owned(),
            2 => format!("flood {}", self.choose(4)),
            3 => "flood ingress_port".to_owned(),
            _ => "{1, 2}".to_owned(),
        }
    }

    fn group_variable(&mut self) {
        let group = self.group();
        let known = self.group_variables.len();
        if known > 0 && self.choose(2) == 1 {
            let name = self.known_group();
            self.line(&format!("{name} = {group};"));
        } else {
            let name = self.name("g");
            self.line(&format!("group {name} = {group};"));
            self.group_variables.push(name);
        }
    }

    fn match_events(&mut self, depth: u32) {
        let known = self.event_variables.len();
        if known == 0 {
            return self.event_variable();
        }
        let name = self.known_event();
        self.line(&format!("match {name} with"));
        let before = (self.next_state, self.generated);
        let mut after = before;
        for _ in 0..1 + self.choose(2) {
            let event = self.choose(self.events.len());
            let Event { sort, parameters, has_payload, .. } = self.events[event].clone();
            let mut names = vec![Variable { name: self.name("m"), width: 8 }];
            if sort == Sort::Packet {
                names.push(Variable { name: self.name("m"), width: 8 });
                names.push(Variable { name: self.name("m"), width: 96 });
            }
            for width in parameters {
                names.push(Variable { name: self.name("m"), width });
            }
            let mut declared: Vec<String> = (names.iter())
                .map(|one| format!("{} {}", type_text(one.width), one.name))
                .collect();
            let payloads = self.payload_variables.len();
            if has_payload {
                let name = self.name("rest");
                declared.push(format!("Payload.t {name}"));
                if !self.at_egress {
                    self.payload_variables.push(name);
                }
            }
            self.line(&format!("| event{event}({}) -> {{", declared.join(", ")));
            let kept = self.variables.len();
            self.variables.extend(names.into_iter().filter(|one| one.width < 96));
            (self.next_state, self.generated) = before;
            self.block(depth);
            self.variables.truncate(kept);
            self.payload_variables.truncate(payloads);
            self.line("}");
            after = (after.0.max(self.next_state), after.1.max(self.generated));
        }
        self.line("| _ -> {");
        (self.next_state, self.generated) = before;
        self.block(depth);
        self.line("}");
        (self.next_state, self.generated) =
            (after.0.max(self.next_state), after.1.max(self.generated));
    }

    pub(super) fn generate(&mut self) {
        let most = if self.at_egress { 1 } else { MAX_GENERATED };
        if !self.may_generate || self.generated >= most {
            return self.declaration();
        }
        self.generated += 1;
        let event = self.event();
        let destinations = if self.features.network && !self.at_egress { 6 } else { 1 };
        let text = match self.choose(destinations) {
            2 => {
                let switch = self.switch();
                format!("generate_switch({switch}, {event});")
            }
            3 => format!("generate_port({}, {event});", 1 + self.choose(2)),
            4 => {
                let port = self.integer(9, 1);
                format!("generate_port(({port} & 3), {event});")
            }
            5 => {
                let group = self.group();
                format!("generate_ports({group}, {event});")
            }
            _ => format!("generate {event};"),
        };
        self.line(&text);
    }
}
