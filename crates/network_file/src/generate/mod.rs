// SPDX-License-Identifier: Apache-2.0
//! Generates topologies: names, addresses and links of each kind ([`plan`]), and the routes of the switches
//! ([`add_routes`]).

mod fat_tree;
mod plain;
mod plan;
mod routes;

pub use plan::{Plan, PlannedNode};
pub use routes::add_routes;

use crate::codes;
use crate::format::value::Record;
use document::Messages;

/// A field with an example, if the field is required.
type KindField = (&'static str, Option<&'static str>);

/// The fields of each kind.
const KINDS: &[(&str, &[KindField])] = &[
    ("line", &[("switches", Some("`switches: 3`")), ("hosts_per_switch", None)]),
    ("star", &[("size", Some("`size: 4`"))]),
    ("tree", &[("depth", Some("`depth: 2`")), ("fanout", Some("`fanout: 3`"))]),
    (
        "leaf-spine",
        &[
            ("leaves", Some("`leaves: 4`")),
            ("spines", Some("`spines: 2`")),
            ("hosts_per_leaf", Some("`hosts_per_leaf: 8`")),
        ],
    ),
    ("fat-tree", &[("k", Some("`k: 4`"))]),
    ("dumbbell", &[("hosts_per_side", Some("`hosts_per_side: 2`")), ("bottleneck", None)]),
];

/// Most switches, and most hosts, of a topology.
const MAX_NODES: u64 = 65_535;

/// Plans a topology; reports fields that its kind lacks or does not have.
pub fn plan(record: &Record, messages: &Messages) -> Option<Plan> {
    let kind = record.word("kind")?;
    let (_, fields) = KINDS.iter().find(|(name, _)| *name == kind)?;
    for (other, others) in KINDS {
        for (name, _) in others.iter().filter(|(name, _)| record.is_written(name)) {
            if fields.iter().all(|(own, _)| own != name) {
                let message = format!("a topology of the kind `{kind}` has no field `{name}`");
                let help = format!("`{name}` belongs to the kind `{other}`");
                messages.error(codes::CONFLICT, record.span_of(name), message, &help);
            }
        }
    }
    for (name, example) in *fields {
        if let Some(example) = example
            && !record.is_written(name)
        {
            let message = format!("a topology of the kind `{kind}` has no `{name}`");
            messages.error(codes::MISSING, record.span, message, &format!("such as {example}"));
        }
    }
    let number = |name: &str| record.number(name).map(|number| number as u32);
    let too_large = |switches: u64, hosts: u64| {
        let is_too_large = switches.max(hosts) > MAX_NODES;
        if is_too_large {
            let message = format!("the topology has more than {MAX_NODES} switches or hosts");
            messages.error(codes::BAD_TOPOLOGY, record.span_of("kind"), message, "");
        }
        is_too_large
    };
    Some(match kind {
        "line" => {
            let (switches, each) = (number("switches")?, number("hosts_per_switch").unwrap_or(1));
            if too_large(switches.into(), u64::from(switches) * u64::from(each)) {
                return None;
            }
            plain::line(switches, each)
        }
        "star" => plain::star(number("size")?),
        "tree" => {
            let (depth, fanout) = (number("depth")?, number("fanout")?);
            let level = |level: u32| u64::from(fanout).saturating_pow(level);
            let switches = (0..depth).fold(0_u64, |sum, at| sum.saturating_add(level(at)));
            if too_large(switches, level(depth)) {
                return None;
            }
            plain::tree(depth, fanout)
        }
        "leaf-spine" => {
            let (leaves, spines) = (number("leaves")?, number("spines")?);
            let each = number("hosts_per_leaf")?;
            if too_large((leaves + spines).into(), u64::from(leaves) * u64::from(each)) {
                return None;
            }
            plain::leaf_spine(leaves, spines, each)
        }
        "fat-tree" => {
            let k = number("k")?;
            if !k.is_multiple_of(2) {
                let message = format!("the k of a fat tree must be even, not {k}");
                let help = "half of the k ports of a switch lead down, the other half up";
                messages.error(codes::BAD_TOPOLOGY, record.span_of("k"), message, help);
                return None;
            }
            fat_tree::fat_tree(k)
        }
        _ => plain::dumbbell(number("hosts_per_side")?),
    })
}
