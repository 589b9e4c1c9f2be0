// SPDX-License-Identifier: Apache-2.0
//! BMv2's command text: one command a line, as its command line and the P4 tutorials' `cli_input` files have it. Reads and
//! writes the form; `session` checks names and values. A comment may give the time of the commands behind it.

mod generator;
mod writing;

pub use writing::write;

use crate::command::{
    Arguments, Command, EntryAction, Located, MatchText, Matches, MeterRate, Origin, Priority,
};
use crate::error::{ControlError, SYNTAX, UNKNOWN_COMMAND};

const COMMANDS: &[&str] = &[
    "table_add",
    "table_set_default",
    "table_reset_default",
    "table_modify",
    "table_set_timeout",
    "table_delete",
    "table_clear",
    "table_indirect_add",
    "table_indirect_add_with_group",
    "table_indirect_set_default",
    "table_indirect_set_default_with_group",
    "table_indirect_delete",
    "table_indirect_reset_default",
    "act_prof_create_member",
    "act_prof_modify_member",
    "act_prof_delete_member",
    "act_prof_create_group",
    "act_prof_delete_group",
    "act_prof_add_member_to_group",
    "act_prof_remove_member_from_group",
    "table_indirect_create_member",
    "table_indirect_create_group",
    "table_indirect_add_member_to_group",
    "mc_mgrp_create",
    "mc_mgrp_destroy",
    "mc_node_create",
    "mc_node_update",
    "mc_node_destroy",
    "mc_node_associate",
    "mc_node_dissociate",
    "mc_exclude_node",
    "mc_exclude_ports",
    "mirroring_add",
    "mirroring_add_mc",
    "mirroring_delete",
    "register_read",
    "register_write",
    "register_reset",
    "counter_read",
    "counter_write",
    "counter_reset",
    "meter_set_rates",
    "meter_array_set_rates",
    "pvs_add",
    "pvs_remove",
    "pvs_clear",
    "set_crc16_parameters",
    "set_crc32_parameters",
    "set_queue_rate",
    "set_queue_depth",
    "pktgen_timer",
    "pktgen_stop",
];

/// Commands of BMv2 that only show things or concern its process: accepted and without effect here.
const WITHOUT_EFFECT: &[&str] = &[
    "show_tables",
    "show_actions",
    "show_ports",
    "show_pvs",
    "table_info",
    "table_dump",
    "table_num_entries",
    "table_show_actions",
    "table_dump_entry",
    "mc_dump",
    "act_prof_dump",
    "mirroring_get",
    "meter_get_rates",
    "pvs_get",
    "switch_info",
    "port_add",
    "port_remove",
    "help",
    "EOF",
    "exit",
    "quit",
];

/// Reads a whole file. All mistakes are reported; the commands that could be read are returned too.
pub fn read(file: &str, text: &str) -> (Vec<Located>, Vec<ControlError>) {
    let mut commands = Vec::new();
    let errors = each_line(file, text, |origin, line| {
        let command = read_line(&origin, line)?;
        commands.extend(command.map(|command| Located { origin, command }));
        Ok(())
    });
    (commands, errors)
}

/// A command with its time in picoseconds.
pub type Timed = (u64, Located);

/// Writes the comment that gives the commands behind it a time, in picoseconds: `# at 31300 ns`, with the end of the line.
pub fn time_line(time_ps: u64) -> String {
    format!("# at {}\n", source::quantity::in_largest_unit(time_ps))
}

/// Reads a file whose commands have times ([`time_line`]); those in front of the first time have time 0. Times do not go
/// back. All mistakes are reported; the commands that could be read are returned too.
pub fn read_timed(file: &str, text: &str) -> (Vec<Timed>, Vec<ControlError>) {
    let mut commands = Vec::new();
    let mut now_ps = 0;
    let errors = each_line(file, text, |origin, line| {
        if let Some(time) = line_time(&origin, line) {
            let time_ps = time?;
            if time_ps < now_ps {
                let message = "this time is before that of the commands in front of it";
                return Err(ControlError::new(SYNTAX, &origin, message));
            }
            now_ps = time_ps;
        }
        let command = read_line(&origin, line)?;
        commands.extend(command.map(|command| (now_ps, Located { origin, command })));
        Ok(())
    });
    (commands, errors)
}

/// Calls a function for each line with its place, and collects the errors.
fn each_line(
    file: &str,
    text: &str,
    mut take: impl FnMut(Origin, &str) -> Result<(), ControlError>,
) -> Vec<ControlError> {
    let lines = text.lines().enumerate();
    let taken = lines.map(|(number, line)| {
        take(Origin { file: file.to_string(), place: (number + 1).to_string() }, line)
    });
    taken.filter_map(Result::err).collect()
}

/// The time in picoseconds that a line gives; `None` for other lines. A comment that begins with `at` and a number is meant
/// as a time.
fn line_time(origin: &Origin, line: &str) -> Option<Result<u64, ControlError>> {
    let words = line.trim().strip_prefix('#')?.trim_start().strip_prefix("at ")?.trim();
    let is_meant = words.starts_with(|first: char| first.is_ascii_digit());
    is_meant.then(|| {
        source::quantity::duration_ps(words).map_err(|why| {
            ControlError::new(SYNTAX, origin, why).help(
                "a comment that begins with `at` and a number gives a time, such as: # at 31300 ns",
            )
        })
    })
}

/// The words of one line after the command.
struct Words<'a> {
    origin: &'a Origin,
    command: &'a str,
    words: std::collections::VecDeque<&'a str>,
}

impl<'a> Words<'a> {
    fn error(&self, message: impl Into<String>) -> ControlError {
        ControlError::new(SYNTAX, self.origin, format!("{}: {}", self.command, message.into()))
    }

    fn word(&mut self, what: &str) -> Result<String, ControlError> {
        match self.words.pop_front() {
            Some(word) => Ok(word.to_string()),
            None => Err(self.error(format!("{what} is missing"))),
        }
    }

    fn number(&mut self, what: &str) -> Result<u64, ControlError> {
        let word = self.word(what)?;
        number(&word).ok_or_else(|| self.error(format!("{what} must be a number, not `{word}`")))
    }

    fn numbers(&mut self, what: &str) -> Result<Vec<u64>, ControlError> {
        let mut list = Vec::new();
        while !self.words.is_empty() {
            list.push(self.number(what)?);
        }
        Ok(list)
    }

    fn truth(&mut self, what: &str) -> Result<bool, ControlError> {
        let word = self.word(what)?;
        match word.to_ascii_lowercase().as_str() {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(self.error(format!("{what} must be true or false, not `{word}`"))),
        }
    }

    fn rest(&mut self) -> Vec<String> {
        self.words.drain(..).map(str::to_string).collect()
    }

    /// The words up to `=>`, which is taken away.
    fn until_arrow(&mut self) -> Result<Vec<&'a str>, ControlError> {
        let Some(at) = self.words.iter().position(|word| *word == "=>") else {
            return Err(self
                .error("`=>` is missing between the keys and the action's arguments")
                .help("write: table_add TABLE ACTION KEY... => ARGUMENT... [PRIORITY]"));
        };
        let keys = self.words.drain(..at).collect();
        self.words.pop_front();
        Ok(keys)
    }

    fn rates(&mut self) -> Result<Vec<MeterRate>, ControlError> {
        let mut rates = Vec::new();
        for word in self.rest() {
            let rate = word.split_once(':').and_then(|(rate, burst)| {
                let per_microsecond: f64 = rate.parse().ok()?;
                let burst = number(burst)?;
                (per_microsecond.is_finite() && per_microsecond >= 0.0)
                    .then_some(MeterRate { per_microsecond, burst })
            });
            rates.push(rate.ok_or_else(|| {
                self.error(format!("`{word}` is not RATE:BURST"))
                    .help("the rate is in packets or bytes per microsecond, such as 0.001:10")
            })?);
        }
        Ok(rates)
    }

    fn done(&mut self) -> Result<(), ControlError> {
        match self.words.front() {
            None => Ok(()),
            Some(word) => Err(self.error(format!("`{word}` is one word too many"))),
        }
    }
}

/// A decimal, 0x, 0o or 0b number.
pub fn number(text: &str) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    if let Some(digits) = lower.strip_prefix("0x") {
        u64::from_str_radix(digits, 16).ok()
    } else if let Some(digits) = lower.strip_prefix("0b") {
        u64::from_str_radix(digits, 2).ok()
    } else if let Some(digits) = lower.strip_prefix("0o") {
        u64::from_str_radix(digits, 8).ok()
    } else {
        lower.parse().ok()
    }
}

/// The text of one key: `v`, `v/len`, `v&&&m`, `low->high`, `low..high`, `*`.
pub fn match_text(text: &str) -> MatchText {
    if text == "*" {
        return MatchText::Any;
    }
    if let Some((value, mask)) = text.split_once("&&&") {
        return MatchText::Masked(value.to_string(), mask.to_string());
    }
    if let Some((low, high)) = text.split_once("->").or_else(|| text.split_once("..")) {
        return MatchText::Range(low.to_string(), high.to_string());
    }
    if let Some((value, length)) = text.split_once('/') {
        return match length.parse() {
            Ok(length) => MatchText::Prefix(value.to_string(), length),
            Err(_) if length.contains(['.', ':', 'x', 'X']) => {
                MatchText::Masked(value.to_string(), length.to_string())
            }
            Err(_) => MatchText::Value(text.to_string()),
        };
    }
    if text.contains('*') {
        return MatchText::Wildcard(text.to_string());
    }
    MatchText::Value(text.to_string())
}

fn read_line(origin: &Origin, line: &str) -> Result<Option<Command>, ControlError> {
    let line = line.split('#').next().unwrap_or("").trim();
    if line.is_empty() || line.starts_with("//") {
        return Ok(None);
    }
    let mut words: std::collections::VecDeque<&str> = line.split_whitespace().collect();
    let command = words.pop_front().unwrap_or("");
    if WITHOUT_EFFECT.contains(&command) {
        return Ok(None);
    }
    let mut words = Words { origin, command, words };
    let read = command_from(command, &mut words)?;
    words.done()?;
    Ok(Some(read))
}

fn table_add(words: &mut Words<'_>, direct: bool, group: bool) -> Result<Command, ControlError> {
    let table = words.word("the table")?;
    let action = if direct { Some(words.word("the action")?) } else { None };
    let keys: Vec<MatchText> = words.until_arrow()?.into_iter().map(match_text).collect();
    let mut rest = words.rest();
    // Whether the last number is a priority depends on how many parameters the action has, which only
    // the program knows: `session` takes a surplus argument for it.
    let target = match action {
        Some(action) => {
            EntryAction::Action(action, Arguments::Positional(std::mem::take(&mut rest)))
        }
        None => {
            let what = if group { "the group" } else { "the member" };
            if rest.is_empty() {
                return Err(words.error(format!("{what} is missing after `=>`")));
            }
            let handle = number(&rest.remove(0))
                .ok_or_else(|| words.error(format!("{what} must be a number")))?;
            if group { EntryAction::Group(handle) } else { EntryAction::Member(handle) }
        }
    };
    let priority = match rest.as_slice() {
        [] => Priority::Absent,
        [one] => match one.parse() {
            Ok(priority) => Priority::SmallestWins(priority),
            Err(_) => {
                return Err(words.error(format!("the priority must be a number, not `{one}`")));
            }
        },
        [_, extra, ..] => return Err(words.error(format!("`{extra}` is one word too many"))),
    };
    let matches = Matches::Positional(keys);
    Ok(Command::TableAdd { table, matches, target, priority, timeout_ms: None, label: None })
}

fn command_from(command: &str, words: &mut Words<'_>) -> Result<Command, ControlError> {
    Ok(match command {
        "table_add" => table_add(words, true, false)?,
        "table_indirect_add" => table_add(words, false, false)?,
        "table_indirect_add_with_group" => table_add(words, false, true)?,
        "table_set_default" => Command::TableSetDefault {
            table: words.word("the table")?,
            target: EntryAction::Action(words.word("the action")?, {
                let mut rest = words.rest();
                rest.retain(|word| word != "=>");
                Arguments::Positional(rest)
            }),
        },
        "table_indirect_set_default" => Command::TableSetDefault {
            table: words.word("the table")?,
            target: EntryAction::Member(words.number("the member")?),
        },
        "table_indirect_set_default_with_group" => Command::TableSetDefault {
            table: words.word("the table")?,
            target: EntryAction::Group(words.number("the group")?),
        },
        "table_reset_default" | "table_indirect_reset_default" => {
            Command::TableResetDefault { table: words.word("the table")? }
        }
        "table_modify" => {
            let table = words.word("the table")?;
            let action = words.word("the action")?;
            let handle = words.number("the entry's handle")?;
            let mut rest = words.rest();
            rest.retain(|word| word != "=>");
            let target = EntryAction::Action(action, Arguments::Positional(rest));
            Command::TableModify { table, target, handle }
        }
        "table_set_timeout" => Command::TableSetTimeout {
            table: words.word("the table")?,
            handle: words.number("the entry's handle")?,
            timeout_ms: words.number("the timeout in milliseconds")?,
        },
        "table_delete" | "table_indirect_delete" => Command::TableDelete {
            table: words.word("the table")?,
            handle: words.number("the entry's handle")?,
        },
        "table_clear" => Command::TableClear { table: words.word("the table")? },
        "act_prof_create_member" | "table_indirect_create_member" => Command::MemberCreate {
            profile: words.word("the action profile")?,
            action: words.word("the action")?,
            arguments: Arguments::Positional(words.rest()),
        },
        "act_prof_modify_member" => Command::MemberModify {
            profile: words.word("the action profile")?,
            action: words.word("the action")?,
            member: words.number("the member")?,
            arguments: Arguments::Positional(words.rest()),
        },
        "act_prof_delete_member" => Command::MemberDelete {
            profile: words.word("the action profile")?,
            member: words.number("the member")?,
        },
        "act_prof_create_group" | "table_indirect_create_group" => {
            Command::GroupCreate { profile: words.word("the action selector")? }
        }
        "act_prof_delete_group" => Command::GroupDelete {
            profile: words.word("the action selector")?,
            group: words.number("the group")?,
        },
        "act_prof_add_member_to_group" | "table_indirect_add_member_to_group" => {
            Command::GroupAddMember {
                profile: words.word("the action selector")?,
                member: words.number("the member")?,
                group: words.number("the group")?,
            }
        }
        "act_prof_remove_member_from_group" => Command::GroupRemoveMember {
            profile: words.word("the action selector")?,
            member: words.number("the member")?,
            group: words.number("the group")?,
        },
        "mc_mgrp_create" => {
            Command::MulticastGroupCreate { group: words.number("the multicast group")? }
        }
        "mc_mgrp_destroy" => {
            Command::MulticastGroupDestroy { group: words.number("the multicast group")? }
        }
        "mc_node_create" => Command::MulticastNodeCreate {
            rid: words.number("the replication id")?,
            ports: words.numbers("a port")?,
        },
        "mc_node_update" => Command::MulticastNodeUpdate {
            node: words.number("the node's handle")?,
            ports: words.numbers("a port")?,
        },
        "mc_node_destroy" => {
            Command::MulticastNodeDestroy { node: words.number("the node's handle")? }
        }
        "mc_node_associate" => Command::MulticastNodeAssociate {
            group: words.number("the multicast group")?,
            node: words.number("the node's handle")?,
        },
        "mc_node_dissociate" => Command::MulticastNodeDissociate {
            group: words.number("the multicast group")?,
            node: words.number("the node's handle")?,
        },
        "mc_exclude_node" => Command::NodeExclusion {
            rid: words.number("the replication id")?,
            exclusion: if words.words.is_empty() {
                None
            } else {
                Some(words.number("the exclusion id")?)
            },
        },
        "mc_exclude_ports" => Command::PortExclusion {
            exclusion: words.number("the exclusion id")?,
            ports: words.numbers("a port")?,
        },
        "mirroring_add" => {
            let session = words.number("the session")?;
            let port = words.number("the port")?;
            let replicas = vec![(port, 0)];
            let mut optional = |what: &str| {
                let number = if words.words.is_empty() { 0 } else { words.number(what)? };
                u32::try_from(number).map_err(|_| words.error(format!("{what} is too large")))
            };
            let truncate_bytes = optional("the number of bytes")?;
            let class = optional("the class of service")?;
            Command::CloneSession { session, replicas, group: None, truncate_bytes, class }
        }
        "mirroring_add_mc" => {
            let session = words.number("the session")?;
            let group = Some(words.number("the multicast group")?);
            let (replicas, truncate_bytes, class) = (Vec::new(), 0, 0);
            Command::CloneSession { session, replicas, group, truncate_bytes, class }
        }
        "mirroring_delete" => Command::CloneSessionDelete { session: words.number("the session")? },
        "register_read" => Command::RegisterRead {
            register: words.word("the register")?,
            index: if words.words.is_empty() { None } else { Some(words.number("the index")?) },
        },
        "register_write" => Command::RegisterWrite {
            register: words.word("the register")?,
            index: Some(words.number("the index")?),
            value: words.word("the value")?,
        },
        "register_reset" => Command::RegisterReset { register: words.word("the register")? },
        "counter_read" => Command::CounterRead {
            counter: words.word("the counter")?,
            index: words.number("the index")?,
        },
        "counter_write" => Command::CounterWrite {
            counter: words.word("the counter")?,
            index: words.number("the index")?,
            packets: words.number("the number of packets")?,
            bytes: words.number("the number of bytes")?,
        },
        "counter_reset" => Command::CounterReset { counter: words.word("the counter")? },
        "meter_set_rates" => Command::MeterSetRates {
            meter: words.word("the meter")?,
            index: Some(words.number("the index")?),
            rates: words.rates()?,
        },
        "meter_array_set_rates" => Command::MeterSetRates {
            meter: words.word("the meter")?,
            index: None,
            rates: words.rates()?,
        },
        "pvs_add" => Command::ValueSetAdd {
            set: words.word("the value set")?,
            value: words.rest().iter().map(|word| match_text(word)).collect(),
        },
        "pvs_remove" => Command::ValueSetRemove {
            set: words.word("the value set")?,
            value: words.rest().iter().map(|word| match_text(word)).collect(),
        },
        "pvs_clear" => Command::ValueSetClear { set: words.word("the value set")? },
        "set_crc16_parameters" | "set_crc32_parameters" => Command::CrcParameters {
            width_bits: if command == "set_crc16_parameters" { 16 } else { 32 },
            name: words.word("the calculation")?,
            polynomial: words.number("the polynomial")?,
            initial: words.number("the initial remainder")?,
            final_xor: words.number("the final value")?,
            reflect_input: words.truth("whether data is reflected")?,
            reflect_output: words.truth("whether the remainder is reflected")?,
        },
        "set_queue_rate" | "set_queue_depth" => {
            let amount = words.number("the number of packets")?;
            let port = if words.words.is_empty() { None } else { Some(words.number("the port")?) };
            let priority =
                if words.words.is_empty() { None } else { Some(words.number("the priority")?) };
            if command == "set_queue_rate" {
                Command::QueueRate { packets_per_second: amount, port, priority }
            } else {
                Command::QueueDepth { packets: amount, port, priority }
            }
        }
        "pktgen_timer" => generator::timer(words)?,
        "pktgen_stop" => Command::GeneratorStop { application: words.number("the application")? },
        _ => {
            let error = ControlError::new(
                UNKNOWN_COMMAND,
                words.origin,
                format!("no such command: `{command}`"),
            );
            return Err(match source::nearest(command, COMMANDS.iter().copied()) {
                Some(name) => error.help(format!("did you mean `{name}`?")),
                None => error,
            });
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> Result<Command, String> {
        let (commands, errors) = read("c.txt", line);
        match errors.first() {
            Some(error) => Err(error.to_string()),
            None => Ok(commands[0].command.clone()),
        }
    }

    #[test]
    fn the_document_names_every_command() {
        let document = include_str!("../../../docs/control-commands.md");
        let missing: Vec<_> =
            COMMANDS.iter().filter(|name| !document.contains(&format!("{name}`"))).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn entries() {
        let Ok(Command::TableAdd { table, matches, target, .. }) =
            one("table_add ipv4_lpm fwd 10.0.0.0/8 1&&&0xff 1->5 => 00:01:02:03:04:05 7  # x")
        else {
            panic!("not read");
        };
        assert_eq!(table, "ipv4_lpm");
        assert_eq!(
            matches,
            Matches::Positional(vec![
                MatchText::Prefix("10.0.0.0".into(), 8),
                MatchText::Masked("1".into(), "0xff".into()),
                MatchText::Range("1".into(), "5".into()),
            ])
        );
        let arguments = vec!["00:01:02:03:04:05".to_string(), "7".to_string()];
        assert_eq!(target, EntryAction::Action("fwd".into(), Arguments::Positional(arguments)));
    }

    #[test]
    fn mistakes_are_all_reported() {
        let (commands, errors) = read(
            "c.txt",
            "tabel_add t a 1 =>\ntable_add t a 1\n\nmc_mgrp_create x\nmirroring_add 5 1\nmirroring_add 5 1 2 3 4",
        );
        assert_eq!(commands.len(), 1);
        let shown: Vec<String> = errors.iter().map(|error| error.to_string()).collect();
        assert_eq!(
            shown.join("\n"),
            "error[CTL-E0102]: c.txt:1: no such command: `tabel_add`\n  help: did you mean `table_add`?\n\
             error[CTL-E0101]: c.txt:2: table_add: `=>` is missing between the keys and the action's arguments\n  \
             help: write: table_add TABLE ACTION KEY... => ARGUMENT... [PRIORITY]\n\
             error[CTL-E0101]: c.txt:4: mc_mgrp_create: the multicast group must be a number, not `x`\n\
             error[CTL-E0101]: c.txt:6: mirroring_add: `4` is one word too many"
        );
    }

    #[test]
    fn every_command_is_known() {
        for command in COMMANDS {
            let (_, errors) = read("c.txt", command);
            assert!(errors.iter().all(|error| error.code == SYNTAX), "{command}");
        }
    }
}
