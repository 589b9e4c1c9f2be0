// SPDX-License-Identifier: Apache-2.0
//! Reads STF: table entries, packets in, packets expected, counters checked. A statement may go over
//! several lines; a statement starts with its keyword at the beginning of a word.

use control::command::{
    Arguments, Command, EntryAction, Located, MatchText, Matches, MeterRate, Origin, Priority,
};
use control::error::{ControlError, SYNTAX, UNKNOWN_COMMAND};

/// One nibble of an expected packet: a value, or anything.
pub type Nibble = Option<u8>;

/// How a packet is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The port.
    pub port: u32,
    /// Nibbles that the packet starts with; `None` accepts any packet.
    pub nibbles: Option<Vec<Nibble>>,
    /// Whether the packet may have no further bytes.
    pub exact_length: bool,
}

/// Which cell a counter check reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CounterIndex {
    /// By number.
    Number(u64),
    /// Of the entry with this label.
    Label(String),
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

impl Comparison {
    /// Whether it holds.
    pub fn holds(self, left: u64, right: u64) -> bool {
        match self {
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
            Comparison::Less => left < right,
            Comparison::LessEqual => left <= right,
            Comparison::Greater => left > right,
            Comparison::GreaterEqual => left >= right,
        }
    }

    /// As written.
    pub fn spelling(self) -> &'static str {
        match self {
            Comparison::Equal => "==",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterEqual => ">=",
        }
    }
}

/// One statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A control command.
    Control(Box<Command>),
    /// A packet in.
    Packet {
        /// The port.
        port: u32,
        /// The bytes.
        data: Vec<u8>,
    },
    /// A packet out.
    Expect(Expected),
    /// No packet comes out of any port beyond those expected.
    NoPacket,
    /// Waits until all is quiet.
    Wait,
    /// Removes all entries of all tables.
    RemoveAll,
    /// Compares a counter.
    CheckCounter {
        /// The counter's name.
        counter: String,
        /// The cell.
        index: CounterIndex,
        /// Bytes instead of packets.
        bytes: bool,
        /// How to compare.
        comparison: Comparison,
        /// With what.
        value: u64,
    },
}

/// A statement and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct LocatedStep {
    /// Where.
    pub origin: Origin,
    /// What.
    pub step: Step,
}

/// Reads a whole file. All mistakes are reported; the steps that could be read are returned too.
pub fn read(file: &str, text: &str) -> (Vec<LocatedStep>, Vec<ControlError>) {
    let mut steps = Vec::new();
    let mut errors = Vec::new();
    for (line, statement) in statements(text) {
        let origin = Origin { file: file.to_string(), place: line.to_string() };
        let mut words = Words { origin: &origin, text: &statement, at: 0 };
        match statement_from(&mut words) {
            Ok(step) => steps.push(LocatedStep { origin, step }),
            Err(error) => errors.push(error),
        }
    }
    (steps, errors)
}

const KEYWORDS: &[&str] = &[
    "add",
    "setdefault",
    "packet",
    "expect",
    "no_packet",
    "wait",
    "remove",
    "check_counter",
    "mirroring_add",
    "mirroring_add_mc",
    "mirroring_delete",
    "mirroring_get",
    "mc_mgrp_create",
    "mc_node_create",
    "mc_node_update",
    "mc_node_associate",
    "counter_read",
    "counter_write",
    "counter_reset",
    "register_read",
    "register_write",
    "register_reset",
    "meter_get_rates",
    "meter_set_rates",
    "meter_array_set_rates",
];

fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word.to_ascii_lowercase().as_str())
}

/// Cuts the text into statements: a line that does not start with a keyword goes on with the one
/// before, unless that one was unknown.
fn statements(text: &str) -> Vec<(usize, String)> {
    let mut list: Vec<(usize, String)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        let first = line.split(|c: char| c.is_whitespace()).next().unwrap_or("");
        if first.is_empty() {
            continue;
        }
        let looks_like_data =
            first.bytes().all(|b| b.is_ascii_hexdigit() || b == b'*' || b == b'$');
        let goes_on = match list.last() {
            Some((_, before)) => {
                let before = before.split_whitespace().next().unwrap_or("").to_ascii_lowercase();
                let takes_data = before == "packet" || before == "expect";
                !is_keyword(first) && is_keyword(&before) && (!takes_data || looks_like_data)
            }
            None => false,
        };
        match list.last_mut() {
            Some((_, before)) if goes_on => {
                before.push(' ');
                before.push_str(line);
            }
            _ => list.push((number + 1, line.to_string())),
        }
    }
    list
}

/// A statement's text, taken apart from left to right.
struct Words<'a> {
    origin: &'a Origin,
    text: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    fn error(&self, message: impl Into<String>) -> ControlError {
        ControlError::new(SYNTAX, self.origin, message)
    }

    fn rest(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    /// The next run of characters that belong to a name or number, or one other character.
    fn next(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let first = rest.chars().next()?;
        if first == '"' {
            let end = rest[1..].find('"').map_or(rest.len(), |at| at + 2);
            self.at += end;
            return Some(rest[1..end].trim_end_matches('"'));
        }
        let part_of_word = |c: char| {
            c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '*' | '[' | ']' | '&' | '-' | '+')
        };
        let end = if part_of_word(first) {
            rest.find(|c| !part_of_word(c)).unwrap_or(rest.len())
        } else {
            match rest.get(..2) {
                Some("==" | "!=" | "<=" | ">=") => 2,
                _ => first.len_utf8(),
            }
        };
        self.at += end;
        Some(&rest[..end])
    }

    fn peek(&mut self) -> Option<&'a str> {
        let at = self.at;
        let word = self.next();
        self.at = at;
        word
    }

    fn word(&mut self, what: &str) -> Result<&'a str, ControlError> {
        self.next().ok_or_else(|| self.error(format!("{what} is missing")))
    }

    fn number(&mut self, what: &str) -> Result<u64, ControlError> {
        let word = self.word(what)?;
        control::command_text::number(word)
            .ok_or_else(|| self.error(format!("{what} must be a number, not `{word}`")))
    }

    fn port(&mut self) -> Result<u32, ControlError> {
        let port = self.number("the port")?;
        u32::try_from(port).map_err(|_| self.error(format!("port {port} is too large")))
    }

    fn symbol(&mut self, symbol: &str) -> Result<(), ControlError> {
        match self.next() {
            Some(word) if word == symbol => Ok(()),
            Some(word) => Err(self.error(format!("expected `{symbol}`, found `{word}`"))),
            None => Err(self.error(format!("expected `{symbol}` at the end"))),
        }
    }

    fn accept(&mut self, symbol: &str) -> bool {
        let found = self.peek() == Some(symbol);
        if found {
            self.next();
        }
        found
    }

    fn done(&mut self) -> Result<(), ControlError> {
        match self.next() {
            None => Ok(()),
            Some(word) => Err(self.error(format!("`{word}` is too much here"))),
        }
    }
}

fn statement_from(words: &mut Words<'_>) -> Result<Step, ControlError> {
    let keyword = words.word("a command")?.to_ascii_lowercase();
    let step = match keyword.as_str() {
        "packet" => {
            let port = words.port()?;
            let digits: String = words.rest().chars().filter(|c| !c.is_whitespace()).collect();
            words.at = words.text.len();
            return Ok(Step::Packet { port, data: bytes(words, &digits)? });
        }
        "expect" => {
            let port = words.port()?;
            let digits: String = words.rest().chars().filter(|c| !c.is_whitespace()).collect();
            words.at = words.text.len();
            return Ok(Step::Expect(expected(words, port, &digits)?));
        }
        "no_packet" => Step::NoPacket,
        "wait" => Step::Wait,
        "remove" => {
            let what = words.word("`all`")?;
            if !what.eq_ignore_ascii_case("all") {
                return Err(words.error(format!("only `remove all` is known, not `{what}`")));
            }
            Step::RemoveAll
        }
        "check_counter" => check_counter(words)?,
        _ if is_keyword(&keyword) => Step::Control(Box::new(control_command(&keyword, words)?)),
        _ => {
            let error = ControlError::new(
                UNKNOWN_COMMAND,
                words.origin,
                format!("no such STF command: `{keyword}`"),
            );
            return Err(match source::nearest(&keyword, KEYWORDS.iter().copied()) {
                Some(name) => error.help(format!("did you mean `{name}`?")),
                None => error,
            });
        }
    };
    words.done()?;
    Ok(step)
}

fn control_command(keyword: &str, words: &mut Words<'_>) -> Result<Command, ControlError> {
    Ok(match keyword {
        "add" => add(words)?,
        "setdefault" => {
            let table = words.word("the table")?.to_string();
            let (action, arguments) = action(words)?;
            Command::TableSetDefault { table, target: EntryAction::Action(action, arguments) }
        }
        "meter_set_rates" | "meter_array_set_rates" => {
            let meter = words.word("the meter")?.to_string();
            let index = match keyword {
                "meter_set_rates" => Some(words.number("the index")?),
                _ => None,
            };
            let mut rates = Vec::new();
            while words.peek().is_some() {
                let rate = words.word("the rate")?;
                let per_microsecond: f64 = match rate.parse() {
                    Ok(rate) if f64::is_finite(rate) && rate >= 0.0 => rate,
                    _ => return Err(words.error(format!("`{rate}` is no rate"))),
                };
                words.symbol(":")?;
                rates.push(MeterRate { per_microsecond, burst: words.number("the burst")? });
            }
            Command::MeterSetRates { meter, index, rates }
        }
        _ => {
            // The rest is BMv2's command text as it is.
            let line = words.text.trim();
            words.at = words.text.len();
            let lower = keyword.to_string() + &line[keyword.len()..];
            let (mut commands, mut errors) = control::command_text::read("", &lower);
            match (commands.pop(), errors.pop()) {
                (Some(Located { command, .. }), None) => command,
                (_, Some(error)) => {
                    return Err(ControlError { origin: words.origin.clone(), ..error });
                }
                // Commands that only show something.
                (None, None) => return Err(words.error(format!("`{keyword}` has no effect here"))),
            }
        }
    })
}

fn add(words: &mut Words<'_>) -> Result<Command, ControlError> {
    let table = words.word("the table")?.to_string();
    let mut priority = Priority::Absent;
    let mut matches = Vec::new();
    let (action, arguments) = loop {
        let start = words.at;
        let word = words.word("a key or the action")?.to_string();
        match words.peek() {
            Some(":") => {
                words.next();
                let value = words.word("the key's value")?;
                let matched = if words.accept("/") {
                    let length = words.number("the prefix length")?;
                    let length = u32::try_from(length)
                        .map_err(|_| words.error("the prefix length is too large"))?;
                    MatchText::Prefix(value.to_string(), length)
                } else {
                    control::command_text::match_text(value)
                };
                matches.push((word, matched));
            }
            Some("(") => {
                words.at = start;
                break action(words)?;
            }
            _ => match word.parse() {
                Ok(number) if matches.is_empty() && priority == Priority::Absent => {
                    // BMv2's STF runner turns the priority round before it hands it to BMv2, whose
                    // smallest wins: here the largest wins.
                    priority = Priority::LargestWins(number);
                }
                _ => {
                    return Err(words
                        .error(format!("`{word}` is neither a key nor an action"))
                        .help("write: add TABLE [PRIORITY] KEY:VALUE... ACTION(NAME:VALUE,...)"));
                }
            },
        }
    };
    let label = if words.accept("=") { Some(words.word("a label")?.to_string()) } else { None };
    let target = EntryAction::Action(action, arguments);
    let matches = Matches::Named(matches);
    Ok(Command::TableAdd { table, matches, target, priority, timeout_ms: None, label })
}

fn action(words: &mut Words<'_>) -> Result<(String, Arguments), ControlError> {
    let name = words.word("the action")?.to_string();
    words.symbol("(")?;
    let mut arguments = Vec::new();
    while !words.accept(")") {
        let name = words.word("an argument or `)`")?.to_string();
        words.symbol(":")?;
        arguments.push((name, words.word("the argument's value")?.to_string()));
        if !words.accept(",") {
            words.symbol(")")?;
            break;
        }
    }
    Ok((name, Arguments::Named(arguments)))
}

fn check_counter(words: &mut Words<'_>) -> Result<Step, ControlError> {
    let counter = words.word("the counter")?.to_string();
    words.symbol("(")?;
    let index = words.word("the index")?;
    let index = match control::command_text::number(index) {
        Some(number) => CounterIndex::Number(number),
        None => CounterIndex::Label(index.trim_start_matches('$').to_string()),
    };
    words.symbol(")")?;
    let mut bytes = false;
    let mut comparison = Comparison::Equal;
    let mut value = 0;
    if words.peek().is_some() {
        match words.word("packets or bytes")?.to_ascii_lowercase().as_str() {
            "packets" => {}
            "bytes" => bytes = true,
            other => {
                return Err(words.error(format!("expected packets or bytes, found `{other}`")));
            }
        }
        comparison = match words.word("a comparison")? {
            "==" => Comparison::Equal,
            "!=" => Comparison::NotEqual,
            "<" => Comparison::Less,
            "<=" => Comparison::LessEqual,
            ">" => Comparison::Greater,
            ">=" => Comparison::GreaterEqual,
            other => return Err(words.error(format!("`{other}` is no comparison"))),
        };
        value = words.number("the number compared with")?;
    }
    Ok(Step::CheckCounter { counter, index, bytes, comparison, value })
}

fn bytes(words: &Words<'_>, digits: &str) -> Result<Vec<u8>, ControlError> {
    if !digits.len().is_multiple_of(2) {
        return Err(words.error("the packet has an odd number of hexadecimal digits"));
    }
    let nibble = |digit: u8| {
        (digit as char).to_digit(16).map(|value| value as u8).ok_or_else(|| {
            words.error(format!("`{}` is no hexadecimal digit", digit.escape_ascii()))
        })
    };
    digits.as_bytes().chunks(2).map(|pair| Ok(nibble(pair[0])? << 4 | nibble(pair[1])?)).collect()
}

fn expected(words: &Words<'_>, port: u32, digits: &str) -> Result<Expected, ControlError> {
    if digits.is_empty() {
        return Ok(Expected { port, nibbles: None, exact_length: false });
    }
    let (digits, exact_length) = match digits.strip_suffix('$') {
        Some(digits) => (digits, true),
        None => (digits, false),
    };
    let mut nibbles = Vec::new();
    for digit in digits.chars() {
        nibbles.push(match (digit, digit.to_digit(16)) {
            ('*', _) => None,
            (_, Some(value)) => Some(value as u8),
            _ => return Err(words.error(format!("`{digit}` is neither a digit nor `*`"))),
        });
    }
    Ok(Expected { port, nibbles: Some(nibbles), exact_length })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(text: &str) -> Vec<Step> {
        let (steps, errors) = read("t.stf", text);
        assert_eq!(errors, []);
        steps.into_iter().map(|step| step.step).collect()
    }

    #[test]
    fn packets() {
        let read = steps(
            "# a test\npacket 0 0102 0a0B\n  ff\nexpect 1 01**$\nexpect 2\nno_packet\nwait\n",
        );
        assert_eq!(read[0], Step::Packet { port: 0, data: vec![1, 2, 10, 11, 255] });
        let nibbles = Some(vec![Some(0), Some(1), None, None]);
        assert_eq!(read[1], Step::Expect(Expected { port: 1, nibbles, exact_length: true }));
        assert_eq!(read[2], Step::Expect(Expected { port: 2, nibbles: None, exact_length: false }));
        assert_eq!(read[3..], [Step::NoPacket, Step::Wait]);
    }

    #[test]
    fn entries() {
        let read = steps(
            "add test2 100 data.f2:0x04** h[0].x:5/8 c4_6(val4:0x4040, port:2) = A\nsetdefault t l2()",
        );
        let Step::Control(command) = &read[0] else { panic!("no command") };
        let Command::TableAdd { table, matches, target, priority, label, .. } = &**command else {
            panic!("no entry");
        };
        assert_eq!((table.as_str(), label.as_deref()), ("test2", Some("A")));
        assert_eq!(*priority, Priority::LargestWins(100));
        let keys = vec![
            ("data.f2".to_string(), MatchText::Wildcard("0x04**".into())),
            ("h[0].x".to_string(), MatchText::Prefix("5".into(), 8)),
        ];
        assert_eq!(*matches, Matches::Named(keys));
        let arguments = vec![("val4".into(), "0x4040".into()), ("port".into(), "2".into())];
        assert_eq!(*target, EntryAction::Action("c4_6".into(), Arguments::Named(arguments)));
    }

    #[test]
    fn counters_and_mistakes() {
        assert_eq!(
            steps("check_counter c.x($A) packets >= 3")[0],
            Step::CheckCounter {
                counter: "c.x".into(),
                index: CounterIndex::Label("A".into()),
                bytes: false,
                comparison: Comparison::GreaterEqual,
                value: 3
            }
        );
        let (_, errors) =
            read("t.stf", "packt 0 11\npacket 0 123\nexpect 1 0g\nadd t x\nregister_write r 1");
        let shown: Vec<String> = errors.iter().map(|error| error.to_string()).collect();
        assert_eq!(
            shown.join("\n"),
            "error[CTL-E0102]: t.stf:1: no such STF command: `packt`\n  help: did you mean `packet`?\n\
             error[CTL-E0101]: t.stf:2: the packet has an odd number of hexadecimal digits\n\
             error[CTL-E0101]: t.stf:3: `g` is neither a digit nor `*`\n\
             error[CTL-E0101]: t.stf:4: `x` is neither a key nor an action\n  help: write: add TABLE [PRIORITY] KEY:VALUE... ACTION(NAME:VALUE,...)\n\
             error[CTL-E0101]: t.stf:5: register_write: the value is missing"
        );
    }
}
