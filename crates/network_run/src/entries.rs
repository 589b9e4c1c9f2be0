// SPDX-License-Identifier: Apache-2.0
//! Routes of generated topologies as control commands of any router program. The tables are found by their shape:
//!
//! - the *routes*: a table with one longest-prefix key of 32 bits;
//! - a *next hop* is an action with a port (9 to 16 bits), an Ethernet address (48 bits) of the next hop and, if it has a second
//!   one, the switch's own address. A parameter whose name contains `src` is the own address;
//! - if the routes have no such action, they have one with a number of a next hop, or with a group and the number of its
//!   members; another table with one exact key (the number), or with two (group and member), has the next hops;
//! - a table without keys whose action has a parameter `seed` gets the switch's number, so that switches hash differently.
//!
//! Without groups, of several next hops of equal cost each prefix takes one.

use ir::{Action, MatchKind, Program, Table};
use network_file::Mac;
use network_file::model::{GeneratedRoutes, NextHop};
use source::{Code, Explanation};
use std::fmt::Write;

/// A program has no table for the routes of a generated topology.
pub const NO_ROUTES_TABLE: Code = Code("NW-E0404");

pub(crate) const EXPLANATIONS: &[Explanation] = &[Explanation {
    code: NO_ROUTES_TABLE,
    title: "a program has no table for the routes of a generated topology",
    text: "A generated topology fills in the routes of its switches if the program has a table with one key of 32 bits that \
           is matched by longest prefix, and next hops in this table or in one behind it: an action with a port and an \
           Ethernet address. Other programs get their entries from files: write `entries:` for the switches.",
    wrong: "",
    right: "",
}];

/// What the parameters of an action that forwards mean, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Argument {
    Port,
    NextHopMac,
    OwnMac,
}

/// How a program stores next hops.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Shape<'p> {
    /// In the routes.
    Direct { action: &'p str, arguments: Vec<Argument> },
    /// In another table, by one key.
    Numbered { route: &'p str, hops: &'p str, action: &'p str, arguments: Vec<Argument> },
    /// In another table, by group and member.
    Grouped { route: &'p str, hops: &'p str, action: &'p str, arguments: Vec<Argument> },
}

fn actions<'p>(program: &'p Program, table: &'p Table) -> impl Iterator<Item = &'p Action> {
    table.actions.iter().map(|action| &program.actions[action.action.index()])
}

fn width(program: &Program, action: &Action, at: usize) -> u32 {
    program.slots[action.parameters[at].slot.index()].ty.width_bits()
}

/// The meaning of an action's parameters, if it forwards.
fn forwards(program: &Program, action: &Action) -> Option<Vec<Argument>> {
    let mut arguments = Vec::new();
    for (at, parameter) in action.parameters.iter().enumerate() {
        let name = parameter.name.to_ascii_lowercase();
        arguments.push(match width(program, action, at) {
            48 if name.contains("src") || name.contains("smac") => Argument::OwnMac,
            48 if arguments.contains(&Argument::NextHopMac) => Argument::OwnMac,
            48 => Argument::NextHopMac,
            9..=16 => Argument::Port,
            _ => return None,
        });
    }
    let has = |wanted| arguments.iter().filter(|argument| **argument == wanted).count() == 1;
    (has(Argument::Port) && has(Argument::NextHopMac)).then_some(arguments)
}

fn exact_keys(table: &Table) -> Option<usize> {
    table.keys.iter().all(|key| key.match_kind == MatchKind::Exact).then_some(table.keys.len())
}

fn shape<'p>(program: &'p Program, routes: &'p Table) -> Option<Shape<'p>> {
    let direct = actions(program, routes)
        .find_map(|action| Some((&*action.name, forwards(program, action)?)));
    if let Some((action, arguments)) = direct {
        return Some(Shape::Direct { action, arguments });
    }
    // Groups before numbers: they use all next hops.
    for count in [2, 1] {
        let Some(route) = actions(program, routes).find(|one| one.parameters.len() == count) else {
            continue;
        };
        let behind = program.tables.iter().filter(|table| exact_keys(table) == Some(count));
        let found = behind.into_iter().find_map(|table| {
            let is_number = count == 2 || table.keys[0].width_bits == width(program, route, 0);
            let action = actions(program, table)
                .find_map(|action| Some((&*action.name, forwards(program, action)?)));
            action.filter(|_| is_number).map(|action| (&*table.name, action))
        });
        if let Some((hops, (action, arguments))) = found {
            let route = &*route.name;
            return Some(match count {
                2 => Shape::Grouped { route, hops, action, arguments },
                _ => Shape::Numbered { route, hops, action, arguments },
            });
        }
    }
    None
}

fn hop(arguments: &[Argument], hop: &NextHop, own: impl Fn(u32) -> Option<Mac>) -> String {
    let one = |argument: &Argument| match argument {
        Argument::Port => hop.port.to_string(),
        Argument::NextHopMac => hop.mac.to_string(),
        Argument::OwnMac => own(hop.port).unwrap_or(hop.mac).to_string(),
    };
    arguments.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// Writes the routes of a switch as control commands; `None` if the program has no table for them.
pub fn commands(program: &Program, switch: usize, generated: &GeneratedRoutes) -> Option<String> {
    let is_routes = |table: &&Table| matches!(&table.keys[..], [key] if key.match_kind == MatchKind::Lpm && key.width_bits == 32);
    let (routes, shape) = program
        .tables
        .iter()
        .filter(is_routes)
        .find_map(|table| Some((&*table.name, shape(program, table)?)))?;
    let own = |port| generated.ports.iter().find(|own| own.port == port).map(|own| own.mac);
    let mut text = seeds(program, switch);
    let mut put = |line: String| {
        let _ = writeln!(text, "{line}");
    };
    match &shape {
        Shape::Direct { .. } => {}
        Shape::Numbered { hops, action, arguments, .. } => {
            for (number, group) in generated.groups.iter().enumerate() {
                let chosen = hop(arguments, &group[switch % group.len()], own);
                put(format!("table_add {hops} {action} {} => {chosen}", number + 1));
            }
        }
        Shape::Grouped { hops, action, arguments, .. } => {
            for (number, group) in generated.groups.iter().enumerate() {
                for (member, next) in group.iter().enumerate() {
                    let chosen = hop(arguments, next, own);
                    put(format!("table_add {hops} {action} {} {member} => {chosen}", number + 1));
                }
            }
        }
    }
    for (at, route) in generated.routes.iter().enumerate() {
        let group = &generated.groups[route.group];
        let prefix = route.prefix;
        match &shape {
            Shape::Direct { action, arguments } => {
                // Different prefixes take different next hops of equal cost.
                let chosen = hop(arguments, &group[(at + switch) % group.len()], own);
                put(format!("table_add {routes} {action} {prefix} => {chosen}"));
            }
            Shape::Numbered { route: action, .. } => {
                put(format!("table_add {routes} {action} {prefix} => {}", route.group + 1));
            }
            Shape::Grouped { route: action, .. } => put(format!(
                "table_add {routes} {action} {prefix} => {} {}",
                route.group + 1,
                group.len()
            )),
        }
    }
    Some(text)
}

/// The commands that give a switch a seed of its own.
fn seeds(program: &Program, switch: usize) -> String {
    let mut text = String::new();
    for table in program.tables.iter().filter(|table| table.keys.is_empty()) {
        let is_seed =
            |action: &&Action| matches!(&action.parameters[..], [one] if &*one.name == "seed");
        if let Some(action) = actions(program, table).find(is_seed) {
            let _ =
                writeln!(text, "table_set_default {} {} {}", table.name, action.name, switch + 1);
        }
    }
    text
}
