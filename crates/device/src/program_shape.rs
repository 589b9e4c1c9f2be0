// SPDX-License-Identifier: Apache-2.0
//! Compares the state objects of two programs: tables, parameters of actions, registers, counters, meters, profiles, value
//! sets, calculations and externs. If names, widths, sizes and order are equal, the code of one program runs on the
//! configuration and the cells of the other.

use ir::{
    Action, ActionProfile, Calculation, Counter, Extern, Key, Meter, Program, RegisterArray, Table,
    ValueSet,
};
use std::sync::Arc;

/// A property of an item that has to be equal in both programs.
type Property<T> = (&'static str, fn(&T, &T, Programs<'_>) -> bool);

type Programs<'p> = (&'p Program, &'p Program);

/// Describes the first difference, for users; `None` if the state objects are equal.
pub(crate) fn difference(one: &Program, other: &Program) -> Option<String> {
    if one.architecture != other.architecture {
        return Some(format!(
            "one is for `{}`, the other for `{}`",
            one.architecture, other.architecture
        ));
    }
    let both = (one, other);
    let tables: &[Property<Table>] = &[
        ("keys", |one, other, _| same_keys(&one.keys, &other.keys)),
        ("actions", |one, other, _| one.actions == other.actions),
        ("default action", |one, other, _| {
            one.default_action == other.default_action
                && one.const_default_action == other.const_default_action
        }),
        ("entries", |one, other, _| {
            one.const_entries == other.const_entries && same_entries(one, other)
        }),
        ("size", |one, other, _| one.size == other.size),
        ("profile", |one, other, _| one.implementation == other.implementation),
        ("direct counters", |one, other, _| one.direct_counters == other.direct_counters),
        ("direct meters", |one, other, _| one.direct_meters == other.direct_meters),
        ("idle timeout", |one, other, _| one.idle_timeout == other.idle_timeout),
    ];
    let actions: &[Property<Action>] = &[("parameters", same_parameters)];
    let registers: &[Property<RegisterArray>] = &[
        ("width", |one, other, _| one.width_bits == other.width_bits),
        ("size", |one, other, _| one.size == other.size),
    ];
    let counters: &[Property<Counter>] = &[
        ("unit", |one, other, _| one.unit == other.unit),
        ("size", |one, other, _| one.size == other.size),
    ];
    let meters: &[Property<Meter>] = &[
        ("unit", |one, other, _| one.unit == other.unit),
        ("size", |one, other, _| one.size == other.size),
    ];
    let profiles: &[Property<ActionProfile>] = &[
        ("size", |one, other, _| one.size == other.size),
        ("selector", |one, other, _| one.selector == other.selector),
    ];
    let value_sets: &[Property<ValueSet>] = &[
        ("keys", |one, other, _| same_keys(&one.components, &other.components)),
        ("size", |one, other, _| one.size == other.size),
    ];
    let calculations: &[Property<Calculation>] =
        &[("width", |one, other, _| one.parameters.width_bits == other.parameters.width_bits)];
    let externs: &[Property<Extern>] = &[
        ("type", |one, other, _| one.type_name == other.type_name),
        ("constructor", |one, other, _| one.arguments == other.arguments),
    ];
    first_difference("table", (&one.tables, &other.tables), |it| &it.name, tables, both)
        .or_else(|| {
            first_difference("action", (&one.actions, &other.actions), |it| &it.name, actions, both)
        })
        .or_else(|| {
            let all = (&one.registers[..], &other.registers[..]);
            first_difference("register", all, |it| &it.name, registers, both)
        })
        .or_else(|| {
            let all = (&one.counters[..], &other.counters[..]);
            first_difference("counter", all, |it| &it.name, counters, both)
        })
        .or_else(|| {
            first_difference("meter", (&one.meters, &other.meters), |it| &it.name, meters, both)
        })
        .or_else(|| {
            let all = (&one.action_profiles[..], &other.action_profiles[..]);
            first_difference("action profile", all, |it| &it.name, profiles, both)
        })
        .or_else(|| {
            let all = (&one.value_sets[..], &other.value_sets[..]);
            first_difference("value set", all, |it| &it.name, value_sets, both)
        })
        .or_else(|| {
            let all = (&one.calculations[..], &other.calculations[..]);
            first_difference("calculation", all, |it| &it.name, calculations, both)
        })
        .or_else(|| {
            let all = (&one.externs[..], &other.externs[..]);
            first_difference("extern", all, extern_name, externs, both)
        })
}

fn extern_name(item: &Extern) -> &Arc<str> {
    if item.instance.is_empty() { &item.type_name } else { &item.instance }
}

fn first_difference<T>(
    kind: &str,
    (one, other): (&[T], &[T]),
    name: impl Fn(&T) -> &Arc<str>,
    properties: &[Property<T>],
    programs: Programs<'_>,
) -> Option<String> {
    for at in 0..one.len().max(other.len()) {
        match (one.get(at), other.get(at)) {
            (Some(old), Some(new)) if name(old) != name(new) => {
                return Some(format!(
                    "{kind} {at} is `{}` in one, `{}` in the other",
                    name(old),
                    name(new)
                ));
            }
            (Some(old), Some(new)) => {
                let differs = |property: &&Property<T>| !property.1(old, new, programs);
                if let Some((property, _)) = properties.iter().find(differs) {
                    return Some(format!("the {property} of {kind} `{}` differs", name(old)));
                }
            }
            (Some(missing), None) | (None, Some(missing)) => {
                return Some(format!("only one of them has the {kind} `{}`", name(missing)));
            }
            (None, None) => {}
        }
    }
    None
}

fn same_keys(one: &[Key], other: &[Key]) -> bool {
    let shape = |key: &Key| (key.name.clone(), key.match_kind.clone(), key.width_bits);
    one.iter().map(shape).eq(other.iter().map(shape))
}

fn same_entries(one: &Table, other: &Table) -> bool {
    let entry = |entry: &ir::Entry| (entry.keys.clone(), entry.call.clone(), entry.priority);
    one.entries.iter().map(entry).eq(other.entries.iter().map(entry))
}

fn same_parameters(one: &Action, other: &Action, programs: Programs<'_>) -> bool {
    let shape = |action: &Action, program: &Program| {
        let parameter = |parameter: &ir::ActionParameter| {
            let ty = program.slots.get(parameter.slot.index()).map(|slot| slot.ty);
            (parameter.name.clone(), ty)
        };
        action.parameters.iter().map(parameter).collect::<Vec<_>>()
    };
    shape(one, programs.0) == shape(other, programs.1)
}
