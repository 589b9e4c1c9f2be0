// SPDX-License-Identifier: Apache-2.0
//! Commands as lines of BMv2's command text, in the forms that its own command line takes. Reading is in the file above.

use crate::command::{Arguments, Command, EntryAction, MatchText, Matches, MeterRate, Priority};

/// Writes a command as one line without its end; `None` if BMv2 has no such command, or the command names keys or
/// arguments.
pub fn write(command: &Command) -> Option<String> {
    Some(match command {
        Command::TableAdd { table, matches, target, priority, timeout_ms: None, label: None } => {
            let Matches::Positional(keys) = matches else { return None };
            let keys: Vec<String> = keys.iter().map(key).collect::<Option<_>>()?;
            let priority = match priority {
                Priority::Absent => String::new(),
                Priority::SmallestWins(number) => format!(" {number}"),
                Priority::LargestWins(_) => return None,
            };
            let (command, action, arguments) = match target {
                EntryAction::Action(name, arguments) => {
                    ("table_add", format!(" {name}"), words(arguments)?)
                }
                EntryAction::Member(member) => {
                    ("table_indirect_add", String::new(), format!(" {member}"))
                }
                EntryAction::Group(group) => {
                    ("table_indirect_add_with_group", String::new(), format!(" {group}"))
                }
                EntryAction::Missing => return None,
            };
            format!("{command} {table}{action} {} =>{arguments}{priority}", keys.join(" "))
        }
        Command::TableSetDefault { table, target: EntryAction::Action(name, arguments) } => {
            format!("table_set_default {table} {name}{}", words(arguments)?)
        }
        Command::TableResetDefault { table } => format!("table_reset_default {table}"),
        Command::TableModify { table, target: EntryAction::Action(name, arguments), handle } => {
            // BMv2's command line looks for an arrow or an argument there.
            let arguments = match words(arguments)? {
                none if none.is_empty() => " =>".to_string(),
                arguments => arguments,
            };
            format!("table_modify {table} {name} {handle}{arguments}")
        }
        Command::TableSetTimeout { table, handle, timeout_ms } => {
            format!("table_set_timeout {table} {handle} {timeout_ms}")
        }
        Command::TableDelete { table, handle } => format!("table_delete {table} {handle}"),
        Command::TableClear { table } => format!("table_clear {table}"),
        Command::MulticastGroupCreate { group } => format!("mc_mgrp_create {group}"),
        Command::MulticastGroupDestroy { group } => format!("mc_mgrp_destroy {group}"),
        Command::MulticastNodeCreate { rid, ports } => {
            format!("mc_node_create {rid}{}", numbers(ports))
        }
        Command::MulticastNodeUpdate { node, ports } => {
            format!("mc_node_update {node}{}", numbers(ports))
        }
        Command::MulticastNodeDestroy { node } => format!("mc_node_destroy {node}"),
        Command::MulticastNodeAssociate { group, node } => {
            format!("mc_node_associate {group} {node}")
        }
        Command::MulticastNodeDissociate { group, node } => {
            format!("mc_node_dissociate {group} {node}")
        }
        Command::CloneSession { session, replicas, group, truncate_bytes: 0, class: 0 } => {
            match (replicas.as_slice(), group) {
                ([(port, 0)], None) => format!("mirroring_add {session} {port}"),
                ([], Some(group)) => format!("mirroring_add_mc {session} {group}"),
                _ => return None,
            }
        }
        Command::CloneSessionDelete { session } => format!("mirroring_delete {session}"),
        Command::RegisterWrite { register, index: Some(index), value } => {
            format!("register_write {register} {index} {value}")
        }
        Command::RegisterReset { register } => format!("register_reset {register}"),
        Command::RegisterRead { register, index: Some(index) } => {
            format!("register_read {register} {index}")
        }
        Command::RegisterRead { register, index: None } => format!("register_read {register}"),
        Command::CounterWrite { counter, index, packets, bytes } => {
            format!("counter_write {counter} {index} {packets} {bytes}")
        }
        Command::CounterReset { counter } => format!("counter_reset {counter}"),
        Command::CounterRead { counter, index } => format!("counter_read {counter} {index}"),
        Command::MeterSetRates { meter, index: Some(index), rates } => {
            format!("meter_set_rates {meter} {index}{}", self::rates(rates))
        }
        Command::MeterSetRates { meter, index: None, rates } => {
            format!("meter_array_set_rates {meter}{}", self::rates(rates))
        }
        Command::ValueSetAdd { set, value } => format!("pvs_add {set} {}", single(value)?),
        Command::ValueSetRemove { set, value } => format!("pvs_remove {set} {}", single(value)?),
        Command::ValueSetClear { set } => format!("pvs_clear {set}"),
        Command::QueueRate { packets_per_second, port, priority } => {
            format!("set_queue_rate {packets_per_second}{}", queue(*port, *priority)?)
        }
        Command::QueueDepth { packets, port, priority } => {
            format!("set_queue_depth {packets}{}", queue(*port, *priority)?)
        }
        _ => return None,
    })
}

fn key(text: &MatchText) -> Option<String> {
    Some(match text {
        MatchText::Value(value) => value.clone(),
        MatchText::Prefix(value, length) => format!("{value}/{length}"),
        MatchText::Masked(value, mask) => format!("{value}&&&{mask}"),
        MatchText::Range(low, high) => format!("{low}->{high}"),
        MatchText::Wildcard(_) | MatchText::Pair(..) | MatchText::Any => return None,
    })
}

/// Arguments, each behind a space.
fn words(arguments: &Arguments) -> Option<String> {
    let Arguments::Positional(arguments) = arguments else { return None };
    Some(arguments.iter().map(|argument| format!(" {argument}")).collect())
}

fn numbers(numbers: &[u64]) -> String {
    numbers.iter().map(|number| format!(" {number}")).collect()
}

fn rates(rates: &[MeterRate]) -> String {
    let rate = |rate: &MeterRate| format!(" {}:{}", rate.per_microsecond, rate.burst);
    rates.iter().map(rate).collect()
}

/// The one exact component of a value set's member.
fn single(value: &[MatchText]) -> Option<&str> {
    match value {
        [MatchText::Value(value)] => Some(value),
        _ => None,
    }
}

/// Port and priority of a queue. A priority of all ports cannot be written.
fn queue(port: Option<u64>, priority: Option<u64>) -> Option<String> {
    Some(match (port, priority) {
        (None, None) => String::new(),
        (Some(port), None) => format!(" {port}"),
        (Some(port), Some(priority)) => format!(" {port} {priority}"),
        (None, Some(_)) => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::command_text::{read, write};

    /// Lines that are read, written and read again.
    #[test]
    fn what_is_written_reads_as_the_same_command() {
        let lines = "table_add I.t forward 1 2&&&3 10/8 0->5 => 7 8
            table_indirect_add I.t 1 => 3
            table_indirect_add_with_group I.t 1 => 3
            table_set_default I.t forward 1 2
            table_reset_default I.t
            table_modify I.t forward 16777216 1 2
            table_modify I.t drop 3 =>
            table_set_timeout I.t 3 100
            table_delete I.t 16777217
            table_clear I.t
            mc_mgrp_create 7
            mc_mgrp_destroy 7
            mc_node_create 1 2 3
            mc_node_update 0 4
            mc_node_destroy 0
            mc_node_associate 7 0
            mc_node_dissociate 7 0
            mirroring_add 5 3
            mirroring_add_mc 5 7
            mirroring_delete 5
            register_write I.r 3 99
            register_reset I.r
            register_read I.r 3
            register_read I.r
            counter_write I.c 1 2 3
            counter_reset I.c
            counter_read I.c 1
            meter_set_rates I.m 1 0.001:10 0.5:20
            meter_array_set_rates I.m 0.001:10 12:20
            pvs_add P.s 5
            pvs_remove P.s 5
            pvs_clear P.s
            set_queue_rate 100
            set_queue_rate 100 2
            set_queue_depth 16 2 1";
        for line in lines.lines().map(str::trim) {
            let (commands, errors) = read("f", line);
            assert_eq!((commands.len(), errors.len()), (1, 0), "{line}: {errors:?}");
            assert_eq!(write(&commands[0].command).as_deref(), Some(line));
        }
    }

    #[test]
    fn commands_that_bmv2_lacks_are_not_written() {
        for line in [
            "table_add I.t forward 1** =>",
            "mirroring_add 5 3 100",
            "mc_exclude_node 1 2",
            "pktgen_stop 1",
        ] {
            let (commands, errors) = read("f", line);
            assert_eq!((commands.len(), errors.len()), (1, 0), "{line}: {errors:?}");
            assert_eq!(write(&commands[0].command), None, "{line}");
        }
    }
}
