// SPDX-License-Identifier: Apache-2.0
//! Matches the objects of a checkpoint with those of a program, by name and shape.

use super::Checkpoint;
use crate::map::Handles;
use ir::{ActionId, ActionProfileId, Key, Program, Table};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// An object of a checkpoint that a program lacks, or has in another shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Its kind, such as `table`.
    pub kind: &'static str,
    /// Its name.
    pub name: Arc<str>,
    /// What is different.
    pub why: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mismatch { kind, name, why } = self;
        write!(formatter, "{kind} `{name}` {why}")
    }
}

/// Returns the objects of a program for those of a checkpoint, or all mismatches.
pub(super) fn handles(
    checkpoint: &Checkpoint,
    program: &Arc<Program>,
) -> Result<Handles, Vec<Mismatch>> {
    let own = checkpoint.program();
    let mut misfits = Vec::new();
    macro_rules! objects {
        ($list:ident, $id:path, $kind:literal, $differs:expr) => {{
            let places: HashMap<&str, usize> =
                program.$list.iter().enumerate().map(|(at, one)| (&*one.name, at)).collect();
            let mut found = Vec::with_capacity(own.$list.len());
            for one in &own.$list {
                let place = places.get(&*one.name).copied();
                let why = match place {
                    None => Some("is not there".to_string()),
                    Some(at) => $differs(one, &program.$list[at]),
                };
                if let Some(why) = why {
                    misfits.push(Mismatch { kind: $kind, name: one.name.clone(), why });
                }
                found.push($id(place.unwrap_or(usize::MAX) as u32));
            }
            found
        }};
    }
    let handles = Handles {
        actions: objects!(actions, ActionId, "action", |one: &ir::Action, other: &ir::Action| {
            let same = widths(own, one) == widths(program, other);
            (!same).then(|| "has other parameters".to_string())
        }),
        tables: objects!(tables, ir::TableId, "table", |one: &Table, other: &Table| {
            table((own, one), (program, other))
        }),
        registers: objects!(
            registers,
            ir::RegisterId,
            "register",
            |one: &ir::RegisterArray, other: &ir::RegisterArray| {
                let shape = |array: &ir::RegisterArray| (array.width_bits, array.size);
                differs(&shape(one), &shape(other), "has another width or size")
            }
        ),
        counters: objects!(
            counters,
            ir::CounterId,
            "counter",
            |one: &ir::Counter, other: &ir::Counter| {
                let shape = |array: &ir::Counter| (array.unit, array.size);
                differs(&shape(one), &shape(other), "counts another unit or has another size")
            }
        ),
        meters: objects!(meters, ir::MeterId, "meter", |one: &ir::Meter, other: &ir::Meter| {
            let shape = |array: &ir::Meter| (array.unit, array.size);
            differs(&shape(one), &shape(other), "meters another unit or has another size")
        }),
        profiles: objects!(
            action_profiles,
            ActionProfileId,
            "action profile",
            |one: &ir::ActionProfile, other: &ir::ActionProfile| {
                let is_selector = |profile: &ir::ActionProfile| profile.selector.is_some();
                differs(
                    &is_selector(one),
                    &is_selector(other),
                    "is a selector in one of the two only",
                )
            }
        ),
        value_sets: objects!(
            value_sets,
            ir::ValueSetId,
            "value set",
            |one: &ir::ValueSet, other: &ir::ValueSet| {
                differs(&keys(&one.components), &keys(&other.components), "has other components")
            }
        ),
        calculations: objects!(
            calculations,
            ir::CalculationId,
            "calculation",
            |one: &ir::Calculation, other: &ir::Calculation| {
                differs(
                    &one.parameters.width_bits,
                    &other.parameters.width_bits,
                    "has another width",
                )
            }
        ),
    };
    if misfits.is_empty() { Ok(handles) } else { Err(misfits) }
}

fn differs<T: PartialEq>(one: &T, other: &T, why: &str) -> Option<String> {
    (one != other).then(|| why.to_string())
}

fn widths(program: &Program, action: &ir::Action) -> Vec<u32> {
    let width = |parameter: &ir::ActionParameter| {
        program.slots.get(parameter.slot.index()).map_or(0, |slot| slot.ty.width_bits())
    };
    action.parameters.iter().map(width).collect()
}

fn keys(keys: &[Key]) -> Vec<(ir::MatchKind, u32)> {
    keys.iter().map(|key| (key.match_kind.clone(), key.width_bits)).collect()
}

/// How two tables of one name differ.
fn table(one: (&Program, &Table), other: (&Program, &Table)) -> Option<String> {
    if keys(&one.1.keys) != keys(&other.1.keys) {
        return Some("has other keys".to_string());
    }
    let actions = |(program, table): (&Program, &Table)| {
        let name = |action: ActionId| program.actions.get(action.index()).map(|it| it.name.clone());
        let names = table.actions.iter().map(|listed| name(listed.action));
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    };
    if actions(one) != actions(other) {
        return Some("has other actions".to_string());
    }
    let cells = |(program, table): (&Program, &Table)| {
        let counters = table.direct_counters.iter();
        let counters: Vec<_> =
            counters.map(|id| program.counters[id.index()].name.clone()).collect();
        let meters = table.direct_meters.iter();
        let meters: Vec<_> = meters.map(|id| program.meters[id.index()].name.clone()).collect();
        (counters, meters)
    };
    if cells(one) != cells(other) {
        return Some("has other direct counters or meters".to_string());
    }
    let profile = |(program, table): (&Program, &Table)| {
        let profile = table.implementation?;
        Some(program.action_profiles[profile.index()].name.clone())
    };
    let flags = |(_, table): (&Program, &Table)| {
        (table.const_entries, table.const_default_action, table.idle_timeout)
    };
    if profile(one) != profile(other) || flags(one) != flags(other) {
        return Some("has another implementation, or other properties".to_string());
    }
    None
}
