// SPDX-License-Identifier: Apache-2.0
//! Random Lucid programs with runs, as source text: for oracles that need programs of all shapes. A
//! program is a function of a *tape* of numbers: each choice takes the next one; behind its end a tape
//! gives zeros, the simplest choices. A shorter tape of smaller numbers is a simpler program, so shrinking
//! the tape shrinks the program. `testing::tape` makes tapes from seeds.
//!
//! Every program checks and elaborates: it accesses arrays and tables in the order of their declaration, at
//! most once a path; events carry a number of hops, so that runs end, or come again at a period until the run ends.
//! Programs keep to what all targets take but for their size.

mod events;
mod expressions;
mod packets;
mod runs;
mod statements;
mod tables;
mod timing;

use events::{Event, Sort};
use tables::Table;
use testing::Choices;
use timing::Timing;

/// Which constructs may be used.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    /// `printf`.
    pub prints: bool,
    /// `Sys.random()`.
    pub random: bool,
    /// `Sys.time()`.
    pub time: bool,
    /// Several switches: places, ports, groups, floods.
    pub network: bool,
    /// Event values and groups in variables, `match` on events.
    pub event_values: bool,
    /// Arrays whose cells are 8 or 16 bits wide, pair arrays and counters.
    pub all_state: bool,
    /// Egress handlers, with arrays of their own.
    pub egress: bool,
    /// Egress handlers of exit events.
    pub exits_at_egress: bool,
    /// Tables that several places look up, with entries that come and go.
    pub tables: bool,
    /// Packet events, parsers, payloads; events that leave or have no handler.
    pub packets: bool,
    /// Delays of up to a second, delay queues, periodic events; links with latencies and failures.
    pub timing: bool,
}

impl Features {
    /// Everything.
    pub const ALL: Features = Features {
        exits_at_egress: true,
        tables: true,
        packets: true,
        timing: true,
        ..Features::HANDLERS
    };

    /// Handlers with arrays, events of numbers and short delays.
    pub const HANDLERS: Features = Features {
        prints: true,
        random: true,
        time: true,
        network: true,
        event_values: true,
        all_state: true,
        egress: true,
        exits_at_egress: false,
        tables: false,
        packets: false,
        timing: false,
    };
}

/// A program and a run of it.
#[derive(Clone, Debug)]
pub struct Generated {
    /// Lucid source.
    pub source: String,
    /// A run's specification as JSON.
    pub run: String,
}

/// What a program's globals are.
#[derive(Clone, Debug)]
enum State {
    Array { width: u32, length: u32 },
    Pairs { length: u32 },
    Counter,
    Table(Table),
}

/// A variable that a handler can read: its name, and its width or zero for a boolean.
#[derive(Clone, Debug)]
struct Variable {
    name: String,
    width: u32,
}

struct Generator {
    choices: Choices,
    features: Features,
    states: Vec<State>,
    events: Vec<Event>,
    has_parser: bool,
    /// A port by which the parser makes other events of packets.
    parser_port: Option<u32>,
    timing: Timing,
    text: String,
    depth: usize,
    /// Of the generated handler.
    variables: Vec<Variable>,
    event_variables: Vec<String>,
    group_variables: Vec<String>,
    payload_variables: Vec<String>,
    /// Whether the handler's event is a packet, with `tag` and `fill`.
    has_fill: bool,
    /// The first state that the path may still touch, and the end of those that are the handler's.
    next_state: usize,
    end_state: usize,
    /// Whether it is an egress handler.
    at_egress: bool,
    names: u32,
    /// How many events the path has generated.
    generated: u32,
    /// Whether the hops are known to be left.
    may_generate: bool,
}

/// Most events that a handler generates; an egress handler generates one.
const MAX_GENERATED: u32 = 3;

/// Switches of a network.
const SWITCHES: u32 = 3;

/// Numbers in front of a tape that decide what comes in, so that runs of large programs are no empty ones.
const RUN_NUMBERS: usize = 150;

/// The program of a tape.
pub fn generate(tape: &[u32], features: Features) -> Generated {
    let for_run = if features.packets { RUN_NUMBERS.min(tape.len() / 2) } else { 0 };
    let (for_run, tape) = tape.split_at(for_run);
    let mut generator = Generator {
        choices: Choices::from_tape(tape.iter().copied()),
        features,
        states: Vec::new(),
        events: Vec::new(),
        has_parser: false,
        parser_port: None,
        timing: Timing::SHORT,
        text: String::new(),
        depth: 0,
        variables: Vec::new(),
        event_variables: Vec::new(),
        group_variables: Vec::new(),
        payload_variables: Vec::new(),
        has_fill: false,
        next_state: 0,
        end_state: 0,
        at_egress: false,
        names: 0,
        generated: 0,
        may_generate: false,
    };
    generator.program();
    if features.packets {
        generator.choices = Choices::from_tape(for_run.iter().copied());
    }
    let run = generator.run();
    Generated { source: generator.text, run }
}

impl Generator {
    /// A choice from 0 to `count` - 1.
    fn choose(&mut self, count: usize) -> usize {
        self.choices.below(count)
    }

    fn any(&mut self) -> u32 {
        self.choices.word() as u32
    }

    fn line(&mut self, text: &str) {
        for _ in 0..self.depth {
            self.text.push_str("    ");
        }
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn name(&mut self, word: &str) -> String {
        self.names += 1;
        format!("{word}{}", self.names)
    }

    fn program(&mut self) {
        let at_ingress = 1 + self.choose(4);
        let at_egress = if self.features.egress { self.choose(3) } else { 0 };
        for _ in 0..at_ingress + at_egress {
            self.state();
        }
        self.text.push_str(MEMOPS);
        if self.features.timing {
            self.timing = self.choose_timing();
        }
        self.declare_events();
        for at in 0..self.events.len() {
            if !self.events[at].has_handler {
                continue;
            }
            (self.at_egress, self.next_state, self.end_state) = (false, 0, at_ingress);
            self.handler(at);
            let may_egress = self.features.exits_at_egress || self.events[at].sort != Sort::Exit;
            if self.features.egress && may_egress && self.choose(3) == 1 {
                let end = self.states.len();
                (self.at_egress, self.next_state, self.end_state) = (true, at_ingress, end);
                self.handler(at);
            }
        }
        if self.has_parser {
            self.parser();
        }
    }

    /// Declares an array, a counter or a table.
    fn state(&mut self) {
        let kinds = match (self.features.all_state, self.features.tables) {
            (_, true) => 9,
            (true, false) => 6,
            (false, false) => 1,
        };
        let state = match self.choose(kinds) {
            3 => State::Array { width: 16, length: 4 },
            4 => State::Pairs { length: 4 },
            5 => State::Counter,
            2 => State::Array { width: 8, length: 8 },
            6.. => State::Table(self.table()),
            _ => State::Array { width: 32, length: 8 },
        };
        let at = self.states.len();
        let text = match &state {
            State::Array { width, length } => {
                format!("global Array.t<{width}> state{at} = Array.create({length});")
            }
            State::Pairs { length } => {
                format!("global PairArray.t<32> state{at} = PairArray.create({length});")
            }
            State::Counter => format!("global Counter.t<32> state{at} = Counter.create(3);"),
            State::Table(table) => table.declaration(at),
        };
        self.line(&text);
        self.states.push(state);
    }

    fn handler(&mut self, event: usize) {
        let Event { parameters, sort, has_payload, is_periodic, .. } = self.events[event].clone();
        self.variables = vec![Variable { name: "hops".to_owned(), width: 8 }];
        self.has_fill = matches!(sort, Sort::Packet);
        if self.has_fill {
            self.variables.push(Variable { name: "tag".to_owned(), width: 8 });
        }
        for (at, width) in parameters.into_iter().enumerate() {
            self.variables.push(Variable { name: format!("p{at}"), width });
        }
        self.event_variables.clear();
        self.group_variables.clear();
        self.payload_variables.clear();
        if has_payload {
            self.payload_variables.push("rest".to_owned());
        }
        (self.generated, self.may_generate) = (0, false);
        let declared = self.declared(event);
        let egress = if self.at_egress { "@egress " } else { "" };
        self.line(&format!("{egress}handle event{event}({declared}) {{"));
        self.depth += 1;
        if self.at_egress && self.choose(3) == 1 {
            let name = self.name("d");
            self.line(&format!("int {name} = (int<32>) Sys.dequeue_depth();"));
            self.variables.push(Variable { name, width: 32 });
        }
        let count = 1 + self.choose(5);
        self.statements(count, 3);
        let outside = self.variables.len();
        let outside_payloads = self.payload_variables.len();
        self.line("if (hops != 0) {");
        self.depth += 1;
        self.may_generate = true;
        let count = 1 + self.choose(5);
        self.statements(count, 3);
        self.generate();
        self.depth -= 1;
        self.line("}");
        self.variables.truncate(outside);
        self.payload_variables.truncate(outside_payloads);
        if is_periodic && !self.at_egress {
            self.come_again(event);
        }
        self.show();
        self.depth -= 1;
        self.line("}");
    }

    /// Shows what the handler's variables are in the end, by printing them or in state that is left.
    fn show(&mut self) {
        let integers: Vec<String> = (self.variables.iter())
            .filter(|variable| variable.width > 0)
            .map(|variable| variable.name.clone())
            .collect();
        if self.features.prints {
            let format = vec!["%d"; integers.len()].join(" ");
            self.line(&format!("printf(\"{format}\", {});", integers.join(", ")));
        }
        while self.next_state < self.end_state {
            self.access();
        }
    }

    /// A constant of a width that programs like: small, or with high bits.
    fn constant(&mut self, width: u32) -> u64 {
        let number = u64::from(self.any());
        let mask = (1u64 << width) - 1;
        match number % 3 {
            0 | 1 => (number / 3 % 5) & mask,
            _ => (number.wrapping_mul(0x9e37_79b9)) & mask,
        }
    }
}

fn type_text(width: u32) -> String {
    if width == 0 { "bool".to_owned() } else { format!("int<{width}>") }
}

const MEMOPS: &str = "
memop plus(int<'a> stored, int<'a> x) { return stored + x; }
memop mix(int<'a> stored, int<'a> x) { return stored & x; }
memop least(int<'a> stored, int<'a> x) {
    if (stored < x) { return stored; } else { return x; }
}
memop once(int<'a> stored, int<'a> x) {
    if (stored == 0) { return x; } else { return stored; }
}
memop three(int<'a> stored, int<'a> x, int<'a> y) {
    bool full = stored > x;
    if (full) { cell1 = y; } else { if (!full) { cell1 = stored + x; } }
    if (full) { return cell1; }
}
memop both(int<'a> c1, int<'a> c2, int<'a> x, int<'a> y) {
    bool low = c1 < x;
    bool same = c2 == y;
    if (low && same) { cell1 = c1 + x; } else { if (low) { cell1 = y; } }
    if (low || same) { cell2 = c2 + 1; }
    if (low) { return c1; }
}
";
