// SPDX-License-Identifier: Apache-2.0
//! Commands that are one item and use no handles of the session, so that many of them share a batch.

use crate::command::{Command, EntryAction};
use crate::error::{BAD_VALUE, ControlError, SYNTAX};
use crate::lookup;
use crate::resolve::Resolver;
use crate::target::{DeviceItem, Item};
use crate::values::{self, Wanted};
use ir::{CrcParameters, KeyPattern, TableId};
use state::{CellRange, CellValues, CounterValue, Read, Update};

/// How the session answers a plain command once its item is applied.
#[derive(Debug)]
pub(super) enum Plain {
    /// Nothing.
    Done,
    /// A handle for the entry.
    Entry { table: TableId, keys: Vec<KeyPattern>, priority: i64, label: Option<String> },
    /// The values that were read.
    Registers,
    /// The value that was read.
    Counter,
}

type Resolved = Result<(Item, Plain), ControlError>;

fn done(item: impl Into<Item>) -> Resolved {
    Ok((item.into(), Plain::Done))
}

/// Resolves a command to its item; `None` for commands with handles, and for those of several items.
pub(super) fn resolve(resolver: Resolver<'_>, command: &Command) -> Option<Resolved> {
    let Resolver { program, origin, .. } = resolver;
    Some(match command {
        Command::TableAdd { .. }
        | Command::TableSetDefault { .. }
        | Command::TableResetDefault { .. } => table(resolver, command),
        Command::ValueSetAdd { .. }
        | Command::ValueSetRemove { .. }
        | Command::ValueSetClear { .. } => value_set(resolver, command),
        Command::RegisterWrite { .. }
        | Command::RegisterReset { .. }
        | Command::RegisterRead { .. } => register(resolver, command),
        Command::CounterWrite { counter: name, .. }
        | Command::CounterRead { counter: name, .. }
        | Command::CounterReset { counter: name } => {
            let counter = match lookup::counter(program, name, origin) {
                Ok(counter) => counter,
                Err(error) => return Some(Err(error)),
            };
            // A direct counter's cells have the handles of entries.
            program.counters[counter.index()].size?;
            let cells = CellRange::all();
            match command {
                Command::CounterWrite { index, packets, bytes, .. } => {
                    let value = CounterValue { packets: *packets, bytes: *bytes };
                    let (cells, values) = (CellRange::one(*index), value.into());
                    done(Update::WriteCounter { counter, cells, values })
                }
                Command::CounterRead { index, .. } => {
                    let cells = CellRange::one(*index);
                    Ok((Read::Counter { counter, cells }.into(), Plain::Counter))
                }
                _ => {
                    let values = CellValues::Same(CounterValue::default());
                    done(Update::WriteCounter { counter, cells, values })
                }
            }
        }
        Command::NodeExclusion { .. }
        | Command::PortExclusion { .. }
        | Command::CrcParameters { .. }
        | Command::QueueRate { .. }
        | Command::QueueDepth { .. }
        | Command::GeneratorTimer(_)
        | Command::GeneratorStop { .. } => other(resolver, command),
        _ => return None,
    })
}

fn table(resolver: Resolver<'_>, command: &Command) -> Resolved {
    let Resolver { program, origin, .. } = resolver;
    match command {
        Command::TableAdd { table, matches, target, priority, timeout_ms, label } => {
            let table = lookup::table(program, table, origin)?;
            let entry = resolver.entry(table, matches, target, *priority, *timeout_ms)?;
            let plain = Plain::Entry {
                table,
                keys: entry.keys.clone(),
                priority: entry.priority,
                label: label.clone(),
            };
            Ok((Update::InsertEntry { table, entry }.into(), plain))
        }
        Command::TableSetDefault { table, target } => {
            let table = lookup::table(program, table, origin)?;
            let EntryAction::Action(action, arguments) = target else {
                let message = "a default action is an action with arguments here";
                return Err(resolver.error(SYNTAX, message));
            };
            let (action, _) = resolver.bound_action(table, action, arguments, false)?;
            done(Update::SetDefaultAction { table, action: Some(action) })
        }
        Command::TableResetDefault { table } => {
            let table = lookup::table(program, table, origin)?;
            done(Update::SetDefaultAction { table, action: None })
        }
        _ => unreachable!("`resolve` sends commands about tables here"),
    }
}

fn value_set(resolver: Resolver<'_>, command: &Command) -> Resolved {
    let find = |name: &str| lookup::value_set(resolver.program, name, resolver.origin);
    done(match command {
        Command::ValueSetAdd { set, value } => {
            let set = find(set)?;
            Update::InsertValueSetMember { set, member: resolver.value_set_member(set, value)? }
        }
        Command::ValueSetRemove { set, value } => {
            let set = find(set)?;
            Update::DeleteValueSetMember { set, member: resolver.value_set_member(set, value)? }
        }
        Command::ValueSetClear { set } => {
            Update::SetValueSet { set: find(set)?, members: Vec::new() }
        }
        _ => unreachable!("`resolve` sends commands about value sets here"),
    })
}

fn register(resolver: Resolver<'_>, command: &Command) -> Resolved {
    let Resolver { program, origin, .. } = resolver;
    let find = |name: &str| lookup::register(program, name, origin);
    match command {
        Command::RegisterWrite { register, index, value } => {
            let register = find(register)?;
            let declared = &program.registers[register.index()];
            let value = values::read(
                value,
                Wanted {
                    width_bits: declared.width_bits,
                    display: &declared.display,
                    errors: &program.errors,
                },
            )
            .map_err(|why| {
                let message = format!("register `{}`: {why}", declared.name);
                resolver.error(BAD_VALUE, message)
            })?;
            let (cells, values) = ((*index).into(), value.into());
            done(Update::WriteRegister { register, cells, values })
        }
        Command::RegisterReset { register } => {
            let register = find(register)?;
            let values = program.registers[register.index()].initial.clone().into();
            done(Update::WriteRegister { register, cells: CellRange::all(), values })
        }
        Command::RegisterRead { register, index } => {
            let read = Read::Register { register: find(register)?, cells: (*index).into() };
            Ok((read.into(), Plain::Registers))
        }
        _ => unreachable!("`resolve` sends commands about registers here"),
    }
}

fn other(resolver: Resolver<'_>, command: &Command) -> Resolved {
    match command {
        Command::NodeExclusion { rid, exclusion } => {
            let instance = resolver.small(*rid, "replication id")?;
            let exclusion = resolver.small_option(*exclusion, "exclusion id")?;
            done(Update::SetNodeExclusion { instance, exclusion })
        }
        Command::PortExclusion { exclusion, ports } => {
            let exclusion = resolver.small(*exclusion, "exclusion id")?;
            done(Update::SetPortExclusion { exclusion, ports: resolver.ports(ports)? })
        }
        Command::CrcParameters {
            width_bits,
            name,
            polynomial,
            initial,
            final_xor,
            reflect_input,
            reflect_output,
        } => {
            let calculation =
                lookup::calculation(resolver.program, name, *width_bits, resolver.origin)?;
            let parameters = CrcParameters {
                width_bits: *width_bits,
                polynomial: resolver.small(*polynomial, "the polynomial")?.into(),
                initial: resolver.small(*initial, "the initial remainder")?.into(),
                final_xor: resolver.small(*final_xor, "the final value")?.into(),
                reflect_input: *reflect_input,
                reflect_output: *reflect_output,
            };
            done(Update::SetCrcParameters { calculation, parameters: Some(parameters) })
        }
        Command::QueueRate { packets_per_second, port, priority } => done(DeviceItem::QueueRate {
            packets_per_second: *packets_per_second,
            port: resolver.small_option(*port, "port")?,
            priority: resolver.small_option(*priority, "priority")?,
        }),
        Command::QueueDepth { packets, port, priority } => done(DeviceItem::QueueDepth {
            packets: *packets,
            port: resolver.small_option(*port, "port")?,
            priority: resolver.small_option(*priority, "priority")?,
        }),
        Command::GeneratorTimer(timer) => done(DeviceItem::GeneratorTimer(timer.clone())),
        Command::GeneratorStop { application } => {
            done(DeviceItem::GeneratorStop { application: *application })
        }
        _ => unreachable!("`resolve` sends these commands here"),
    }
}
