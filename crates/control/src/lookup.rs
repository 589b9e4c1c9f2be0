// SPDX-License-Identifier: Apache-2.0
//! Names of a program's objects to their handles, with messages for names that are not there.

use crate::command::Origin;
use crate::error::{AMBIGUOUS_NAME, ControlError, UNKNOWN_NAME};
use crate::names::{NotFound, find};
use crate::p4info_ids;
use ir::{
    ActionProfileId, CalculationId, CounterId, MeterId, Program, RegisterId, TableId, ValueSetId,
};

/// `ids` are the P4Info numbers that `#number` speaks of.
fn search<'a>(
    kind: &str,
    wanted: &str,
    names: impl Iterator<Item = &'a str> + Clone,
    ids: impl FnOnce() -> Vec<u32>,
    origin: &Origin,
) -> Result<u32, ControlError> {
    if let Some(number) = wanted.strip_prefix('#') {
        let at = ids().iter().position(|id| id.to_string() == number);
        return at.map(|at| at as u32).ok_or_else(|| {
            let message = format!("the program has no {kind} with P4Info number {number}");
            ControlError::new(UNKNOWN_NAME, origin, message)
        });
    }
    match find(wanted, names.clone()) {
        Ok(at) => Ok(at as u32),
        Err(NotFound::Unknown(near)) => {
            let message = format!("the program has no {kind} `{wanted}`");
            let error = ControlError::new(UNKNOWN_NAME, origin, message);
            Err(match near {
                Some(name) => error.help(format!("did you mean `{name}`?")),
                None => match some_of(names) {
                    Some(list) => error.help(format!("it has {list}")),
                    None => error,
                },
            })
        }
        Err(NotFound::Ambiguous(list)) => Err(ControlError::new(
            AMBIGUOUS_NAME,
            origin,
            format!("`{wanted}` fits several: {}", list.join(", ")),
        )
        .help("write more of the path")),
    }
}

/// Numbers of objects of which some are direct, in their order.
fn ids_by_kind<'a>(
    names: impl Iterator<Item = &'a str>,
    direct: impl Iterator<Item = bool>,
    indirect_prefix: u32,
    direct_prefix: u32,
) -> Vec<u32> {
    let all: Vec<(&str, bool)> = names.zip(direct).collect();
    let ids = |prefix, wanted| {
        let names = all.iter().filter(|(_, direct)| *direct == wanted).map(|(name, _)| *name);
        p4info_ids::named(prefix, names).into_iter()
    };
    let (mut indirect_ids, mut direct_ids) =
        (ids(indirect_prefix, false), ids(direct_prefix, true));
    all.iter()
        .filter_map(|(_, direct)| if *direct { direct_ids.next() } else { indirect_ids.next() })
        .collect()
}

/// The first few names, for a message.
fn some_of<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    let shown: Vec<String> = names.clone().take(8).map(|name| format!("`{name}`")).collect();
    let more = if names.count() > shown.len() { " and more" } else { "" };
    if shown.is_empty() { None } else { Some(shown.join(", ") + more) }
}

/// The table with this name.
pub fn table(program: &Program, name: &str, origin: &Origin) -> Result<TableId, ControlError> {
    let names = program.tables.iter().map(|table| &*table.name);
    search("table", name, names, || p4info_ids::tables(program), origin).map(TableId)
}

/// The custom CRC of this width with this name.
pub fn calculation(
    program: &Program,
    name: &str,
    width_bits: u32,
    origin: &Origin,
) -> Result<CalculationId, ControlError> {
    let has_width = |item: &&ir::Calculation| item.parameters.width_bits == width_bits;
    let found =
        program.calculations.iter().position(|item| has_width(&item) && *item.name == *name);
    if let Some(at) = found {
        return Ok(CalculationId(at as u32));
    }
    let message = format!("the program has no custom CRC of {width_bits} bits `{name}`");
    let error = ControlError::new(UNKNOWN_NAME, origin, message);
    // Names are numbers, so a near one is no better guess than another.
    let known = program.calculations.iter().filter(has_width).map(|item| &*item.name);
    let known: std::collections::BTreeSet<&str> = known.collect();
    Err(match some_of(known.iter().copied()) {
        Some(list) => error.help(format!("it has {list}")),
        None => error,
    })
}

/// The register array with this name.
pub fn register(program: &Program, name: &str, at: &Origin) -> Result<RegisterId, ControlError> {
    let names = program.registers.iter().map(|register| &*register.name);
    search("register", name, names.clone(), || p4info_ids::named(p4info_ids::REGISTER, names), at)
        .map(RegisterId)
}

/// The counter with this name.
pub fn counter(program: &Program, name: &str, origin: &Origin) -> Result<CounterId, ControlError> {
    let names = program.counters.iter().map(|counter| &*counter.name);
    let ids = || {
        let direct = program.counters.iter().map(|counter| counter.size.is_none());
        ids_by_kind(names.clone(), direct, p4info_ids::COUNTER, p4info_ids::DIRECT_COUNTER)
    };
    search("counter", name, names.clone(), ids, origin).map(CounterId)
}

/// The meter with this name.
pub fn meter(program: &Program, name: &str, origin: &Origin) -> Result<MeterId, ControlError> {
    let names = program.meters.iter().map(|meter| &*meter.name);
    let ids = || {
        let direct = program.meters.iter().map(|meter| meter.size.is_none());
        ids_by_kind(names.clone(), direct, p4info_ids::METER, p4info_ids::DIRECT_METER)
    };
    search("meter", name, names.clone(), ids, origin).map(MeterId)
}

/// The action profile or selector with this name; a table's name means its profile.
pub fn profile(
    program: &Program,
    name: &str,
    origin: &Origin,
) -> Result<ActionProfileId, ControlError> {
    let names = program.action_profiles.iter().map(|profile| &*profile.name);
    let found = search(
        "action profile",
        name,
        names.clone(),
        || p4info_ids::named(p4info_ids::ACTION_PROFILE, names),
        origin,
    )
    .map(ActionProfileId);
    if found.is_err()
        && let Ok(table) = table(program, name, origin)
        && let Some(profile) = program.tables[table.index()].implementation
    {
        return Ok(profile);
    }
    found
}

/// The parser value set with this name.
pub fn value_set(program: &Program, name: &str, at: &Origin) -> Result<ValueSetId, ControlError> {
    let names = program.value_sets.iter().map(|set| &*set.name);
    search("value set", name, names.clone(), || p4info_ids::named(p4info_ids::VALUE_SET, names), at)
        .map(ValueSetId)
}

/// The key of a table with this name, as an index. `$valid$`, `valid` and `isValid()` are one, and
/// `$3` may stand for `[3]`.
pub fn key(
    program: &Program,
    table: TableId,
    name: &str,
    origin: &Origin,
) -> Result<usize, ControlError> {
    let table = &program.tables[table.index()];
    if let Some(number) = name.strip_prefix('#') {
        let at = p4info_ids::match_fields(table).iter().position(|id| id.to_string() == number);
        return at.ok_or_else(|| {
            let message = format!("table `{}` has no match field {number}", table.name);
            ControlError::new(UNKNOWN_NAME, origin, message)
        });
    }
    let plain = |name: &str| {
        let name = name.replace("isValid()", "valid").replace("$valid$", "valid");
        match name.split_once('$') {
            Some((front, rest)) => {
                let digits =
                    rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
                match digits {
                    0 => front.to_string() + rest,
                    _ => format!("{front}[{}]{}", &rest[..digits], &rest[digits..]),
                }
            }
            None => name,
        }
    };
    let names: Vec<String> = table.keys.iter().map(|key| plain(&key.name)).collect();
    match find(&plain(name), names.iter().map(String::as_str)) {
        Ok(at) => Ok(at),
        Err(NotFound::Ambiguous(list)) => Err(ControlError::new(
            AMBIGUOUS_NAME,
            origin,
            format!("table `{}`: `{name}` fits several keys: {}", table.name, list.join(", ")),
        )),
        Err(NotFound::Unknown(_)) => {
            let message = format!("table `{}` has no key `{name}`", table.name);
            let error = ControlError::new(UNKNOWN_NAME, origin, message);
            let known = || table.keys.iter().map(|key| &*key.name);
            Err(match (source::nearest(name, known()), some_of(known())) {
                (Some(near), _) => error.help(format!("did you mean `{near}`?")),
                (None, Some(list)) => error.help(format!("it has {list}")),
                (None, None) => error.help("it has no keys"),
            })
        }
    }
}

/// The parameter of an action with this name, as an index.
pub fn parameter(action: &ir::Action, name: &str) -> Option<usize> {
    match name.strip_prefix('#') {
        Some(number) => {
            p4info_ids::parameters(action).iter().position(|id| id.to_string() == number)
        }
        None => action.parameters.iter().position(|each| *each.name == *name),
    }
}

/// The action of a table with this name, as an index into the table's actions.
pub fn table_action(
    program: &Program,
    table: TableId,
    name: &str,
    origin: &Origin,
) -> Result<usize, ControlError> {
    let declared = &program.tables[table.index()];
    let names = declared.actions.iter().map(|each| &*program.actions[each.action.index()].name);
    let ids = || {
        let all = p4info_ids::actions(program);
        declared.actions.iter().map(|each| all[each.action.index()]).collect()
    };
    let found = search("such action", name, names, ids, origin);
    found.map(|at| at as usize).map_err(|error| {
        if error.code != UNKNOWN_NAME {
            return error;
        }
        let message = format!("table `{}` has no action `{name}`", declared.name);
        ControlError { message, ..error }
    })
}
