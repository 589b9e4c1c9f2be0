// SPDX-License-Identifier: Apache-2.0
//! Diagnostics about a program that does not fit: the lines of the source, the resource that ran out and by how much, and
//! advice. Each part that does not fit is named.

use super::cluster::{Cluster, Clusters, Fault};
use super::codes::{ARRAY_SHARED, ARRAY_TWICE, CIRCLE, FULL, ORDERS, TOO_LARGE, TOO_LONG};
use super::place::{self, Stuck};
use crate::cost::{Excess, Model};
use crate::layout::Layout;
use crate::problem::{ArrayId, DependencyKind, Gress, Problem, Resource, UnitId};
use crate::report::{self, Why};
use crate::target::Scope;
use source::{Diagnostic, Diagnostics, Span};
use std::collections::BTreeMap;

/// Names in a list, at most.
const MAX_NAMES: usize = 16;

/// Places shown with one diagnostic, at most; a note counts the others.
const MAX_LABELS: usize = 8;

pub(super) fn impossible(model: &Model<'_>, faults: &[Fault]) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    for fault in faults {
        diagnostics.push(impossible_one(model, fault));
    }
    diagnostics
}

fn impossible_one(model: &Model<'_>, fault: &Fault) -> Diagnostic {
    let problem = model.problem;
    match fault {
        Fault::Apart { array, chain, kind } => {
            let (first, last) = (chain.first().copied(), chain.last().copied());
            let message = format!(
                "array `{}` is accessed twice in one pass, and the second access {}",
                array_name(problem, *array),
                match kind {
                    _ if chain.len() > 2 => "has to come after what needs the first",
                    DependencyKind::Match => "runs or not by what the first gives",
                    DependencyKind::Action => "needs what the first gives",
                    DependencyKind::Successor => "runs or not by the outcome of the first",
                    DependencyKind::Anti => "has to come later",
                }
            );
            let mut diagnostic = Diagnostic::error(ARRAY_TWICE, unit_span(problem, last), message)
                .here("second access")
                .label(unit_span(problem, first), "first access");
            for between in chain.iter().skip(1).take(MAX_LABELS).filter(|unit| Some(**unit) != last)
            {
                diagnostic = diagnostic.label(
                    unit_span(problem, Some(*between)),
                    "this comes after the first access and before the second",
                );
            }
            diagnostic
                .note("an array sits in one stage, and a packet passes a stage once")
                .help("merge both accesses into one, or make the second one in another pass")
        }
        Fault::BothHalves { array, ingress, egress } => Diagnostic::error(
            ARRAY_SHARED,
            unit_span(problem, Some(*egress)),
            format!("array `{}` is used in ingress and in egress", array_name(problem, *array)),
        )
        .here("in egress")
        .label(unit_span(problem, Some(*ingress)), "in ingress")
        .note("an array is attached to one table of one half")
        .help("use an array for each half, or move one of the accesses"),
        Fault::TwoTables { array, first, second } => Diagnostic::error(
            ARRAY_SHARED,
            unit_span(problem, Some(*second)),
            format!(
                "array `{}` is used by `{}` and by `{}`",
                array_name(problem, *array),
                unit_name(problem, *first),
                unit_name(problem, *second)
            ),
        )
        .here("used here")
        .label(unit_span(problem, Some(*first)), "and here")
        .note("an array is attached to one table, and tables of the program are not merged")
        .help("move the accesses into one table, or use an array for each"),
        Fault::Orders { legs } => orders(problem, legs),
        Fault::Circle { chain } => {
            let last = chain.last().copied();
            let names: Vec<String> =
                chain.iter().map(|unit| format!("`{}`", unit_name(problem, *unit))).collect();
            Diagnostic::error(
                CIRCLE,
                unit_span(problem, last),
                format!("these wait for each other: {}", names.join(", ")),
            )
            .help("please report this: the program was accepted, so its parts have an order")
        }
    }
}

/// Each leg is an access to one array and a later access to another.
fn orders(problem: &Problem, legs: &[Vec<UnitId>]) -> Diagnostic {
    let array = |unit: Option<&UnitId>| {
        let array = unit.and_then(|unit| problem.units.get(unit.0 as usize)?.array);
        array.map_or("", |array| array_name(problem, array))
    };
    let names: Vec<String> = legs.iter().map(|leg| format!("`{}`", array(leg.first()))).collect();
    let message = format!("arrays {} are not accessed in one order", names.join(" and "));
    let last = legs.last().and_then(|leg| leg.last()).copied();
    let mut diagnostic = Diagnostic::error(ORDERS, unit_span(problem, last), message);
    for (number, leg) in legs.iter().enumerate() {
        let (from, to) = (array(leg.first()), array(leg.last()));
        let after = format!("`{to}` here, after `{from}`");
        diagnostic = match number + 1 == legs.len() {
            true => diagnostic.here(after),
            false => diagnostic.label(unit_span(problem, leg.last().copied()), after),
        };
        let first = unit_span(problem, leg.first().copied());
        diagnostic = diagnostic.label(first, format!("`{from}` here, before `{to}`"));
        if let [first, between @ .., last] = leg.as_slice()
            && !between.is_empty()
        {
            let between: Vec<String> =
                between.iter().map(|unit| format!("`{}`", unit_name(problem, *unit))).collect();
            diagnostic = diagnostic.note(format!(
                "`{}` needs {}, which needs `{}`",
                unit_name(problem, *last),
                between.iter().rev().cloned().collect::<Vec<_>>().join(", which needs "),
                unit_name(problem, *first)
            ));
        }
    }
    diagnostic
        .note("an array sits in one stage, and a packet passes the stages in one order")
        .help("access them in the same order everywhere, or do one part in another pass")
}

pub(super) fn too_large(model: &Model<'_>, clusters: &Clusters, stuck: &[Stuck]) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    for each in stuck {
        let cluster = &clusters.clusters[each.cluster];
        let worst = worst(&each.excess);
        let mut message = format!(
            "{} does not fit into a stage of `{}`",
            subject(model, clusters, cluster),
            model.target.name
        );
        if let Some(worst) = worst {
            message.push_str(&format!(": {}", lack(&worst)));
        }
        let mut diagnostic =
            Diagnostic::error(TOO_LARGE, span(model.problem, clusters, cluster), message);
        diagnostic = users(diagnostic, model.problem, cluster);
        if let Some(room) = worst.and_then(|worst| array_room(model, &worst)) {
            diagnostic = diagnostic.note(room);
        }
        for other in each.excess.iter().filter(|excess| Some(**excess) != worst) {
            diagnostic = diagnostic.note(lack(other));
        }
        if let Some(worst) = worst {
            diagnostic = diagnostic.help(advice(worst.resource, worst.scope));
        }
        diagnostics.push(diagnostic);
    }
    diagnostics
}

/// How many cells an array could have that has too many.
fn array_room(model: &Model<'_>, excess: &Excess) -> Option<String> {
    let blocks = matches!(excess.resource, Resource::ArrayBlocks | Resource::SramBlocks);
    let array = model.problem.arrays.get(excess.array.filter(|_| blocks)?.0 as usize)?;
    let bits = u64::from(array.cell_bits);
    let widths = &model.target.stateful_alu.cell_bits;
    let cell = widths.iter().copied().find(|width| *width >= bits).unwrap_or(bits).max(1);
    let memory = &model.target.memory;
    let block = memory.sram_block_words.saturating_mul(memory.sram_block_bits);
    let cells = excess.limit.saturating_mul(block) / cell;
    let blocks = excess.limit;
    Some(format!(
        "{blocks} blocks hold {cells} cells of {cell} bits; `{}` has {} of {bits}",
        array.name, array.length
    ))
}

/// For a layout that goes on beyond the last stage.
pub(super) fn too_many_stages(
    model: &Model<'_>,
    clusters: &Clusters,
    layout: &Layout,
) -> Diagnostics {
    let stage_of = report::stages_of(model.problem, layout);
    let limit = |gress: Gress| match gress {
        Gress::Ingress => model.target.ingress_stages,
        Gress::Egress => model.target.egress_stages,
    };
    let stage = |cluster: &Cluster| {
        cluster.units.first().and_then(|unit| stage_of[unit.0 as usize]).unwrap_or(0)
    };
    let mut outside: Vec<usize> = (0..clusters.clusters.len())
        .filter(|at| stage(&clusters.clusters[*at]) >= limit(clusters.clusters[*at].gress))
        .collect();
    outside.sort_by_key(|at| (stage(&clusters.clusters[*at]), *at));
    // A cluster that only waits for another one that does not fit is reported with that one.
    let mut roots: Vec<usize> = Vec::new();
    let mut followers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut root_of: BTreeMap<usize, usize> = BTreeMap::new();
    for &at in &outside {
        let cluster = &clusters.clusters[at];
        let blocker = cluster
            .before
            .iter()
            .filter(|(before, distance)| {
                stage(&clusters.clusters[*before]) + distance >= limit(cluster.gress)
            })
            .find_map(|(before, _)| root_of.get(before).copied());
        match blocker {
            Some(root) => followers.entry(root).or_default().push(at),
            None => roots.push(at),
        }
        root_of.insert(at, blocker.unwrap_or(at));
    }
    let mut diagnostics = Diagnostics::new();
    for root in roots {
        let cluster = &clusters.clusters[root];
        let stages = limit(cluster.gress);
        let earliest = cluster
            .before
            .iter()
            .map(|(before, distance)| stage(&clusters.clusters[*before]) + distance)
            .max()
            .unwrap_or(0);
        let mut diagnostic = if earliest >= stages {
            chain(model, clusters, cluster, layout, stages)
        } else {
            full(model, clusters, cluster, layout, earliest..stages)
        };
        let waiting = followers.remove(&root).unwrap_or_default();
        let units: Vec<UnitId> =
            waiting.iter().flat_map(|at| clusters.clusters[*at].units.iter().copied()).collect();
        for unit in units.iter().take(MAX_LABELS) {
            let span = unit_span(model.problem, Some(*unit));
            diagnostic = diagnostic.label(span, "waits for it, and does not fit either");
        }
        if !units.is_empty() {
            let names: Vec<String> = units
                .iter()
                .take(MAX_NAMES)
                .map(|unit| format!("`{}`", unit_name(model.problem, *unit)))
                .collect();
            let more = match units.len().saturating_sub(MAX_NAMES) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            diagnostic = diagnostic.note(format!("what waits for it: {}{more}", names.join(", ")));
        }
        diagnostic = diagnostic.note(format!(
            "the whole program would need {} stages laid out like this; `{}` has {stages}",
            layout.stages.len(),
            model.target.name
        ));
        diagnostics.push(diagnostic);
    }
    diagnostics
}

/// Dependencies alone, in the end, lead beyond the last stage.
fn chain(
    model: &Model<'_>,
    clusters: &Clusters,
    cluster: &Cluster,
    layout: &Layout,
    stages: u32,
) -> Diagnostic {
    let problem = model.problem;
    // Back from the unit, each time to the one that kept it from the stage before.
    let reasons = report::Reasons::new(model, clusters, layout);
    let mut links: Vec<UnitId> = Vec::new();
    let mut next = cluster
        .units
        .iter()
        .copied()
        .find(|unit| matches!(reasons.why(*unit), Why::After { .. }))
        .or(cluster.units.first().copied());
    let mut begin = None;
    while let Some(unit) = next {
        links.push(unit);
        next = match reasons.why(unit) {
            Why::After { unit: before, .. } => Some(before),
            Why::With { unit: other, .. } if !links.contains(&other) => Some(other),
            other => {
                begin = Some(other);
                None
            }
        };
        if links.len() > problem.units.len() {
            break;
        }
    }
    let last = links.first().copied();
    let stage = |unit: UnitId| reasons.stage(unit).unwrap_or(0);
    let message = format!(
        "{} does not fit into {} of `{}`: it comes at the end of a chain of {} that each wait for the \
         one before",
        subject(model, clusters, cluster),
        stages_text(stages),
        model.target.name,
        links.len()
    );
    let mut diagnostic = Diagnostic::error(TOO_LONG, unit_span(problem, last), message)
        .here(format!("this would be in stage {}", last.map_or(0, stage)));
    // Several links may come from one expression.
    let mut places: Vec<(Span, Vec<u32>)> = Vec::new();
    for link in links.iter().skip(1) {
        let span = unit_span(problem, Some(*link));
        match places.iter_mut().find(|(other, _)| *other == span) {
            Some((_, stages)) => stages.push(stage(*link)),
            None => places.push((span, vec![stage(*link)])),
        }
    }
    let primary = diagnostic.primary.span;
    for (span, stages) in places.into_iter().filter(|(span, _)| *span != primary).take(MAX_LABELS) {
        diagnostic = diagnostic.label(span, format!("before it, in {}", stage_list(stages)));
    }
    let names: Vec<String> = links
        .iter()
        .rev()
        .map(|unit| format!("`{}` ({})", unit_name(problem, *unit), stage(*unit)))
        .collect();
    diagnostic = diagnostic.note(format!("the chain, with stages: {}", names.join(", ")));
    if let (Some(Why::Full { stage, excess }), Some(first)) = (begin, links.last())
        && let Some(worst) = worst(&excess)
    {
        diagnostic = diagnostic.note(format!(
            "`{}`, where it begins, is not in stage {stage} because {}",
            unit_name(problem, *first),
            lack(&worst)
        ));
    }
    diagnostic.help(
        "compute side by side what does not need each other, or split the work over two passes",
    )
}

/// "stages 3, 4 and 6".
fn stage_list(mut stages: Vec<u32>) -> String {
    stages.sort_unstable();
    stages.dedup();
    let words: Vec<String> = stages.iter().map(u32::to_string).collect();
    match words.as_slice() {
        [] => String::new(),
        [single] => format!("stage {single}"),
        [most @ .., last] => format!("stages {} and {last}", most.join(", ")),
    }
}

/// Resources keep it out of the stages that dependencies allow.
fn full(
    model: &Model<'_>,
    clusters: &Clusters,
    cluster: &Cluster,
    layout: &Layout,
    allowed: std::ops::Range<u32>,
) -> Diagnostic {
    let mut lacks: Vec<(u32, Excess)> = Vec::new();
    for stage in allowed.clone() {
        let tables: Vec<(Gress, Vec<UnitId>)> = layout
            .stages
            .get(stage as usize)
            .map(|stage| stage.tables.iter().map(|t| (t.gress, t.units.clone())).collect())
            .unwrap_or_default();
        let excess = place::obstacles(model, clusters, cluster, &tables);
        lacks.extend(worst(&excess).map(|worst| (stage, worst)));
    }
    // The resource that is short in most stages; of those, short by least where it is closest.
    let mut counts: BTreeMap<Resource, usize> = BTreeMap::new();
    for (_, excess) in &lacks {
        *counts.entry(excess.resource).or_default() += 1;
    }
    let main = counts.iter().max_by_key(|(_, count)| **count).map(|(resource, _)| *resource);
    let closest = lacks
        .iter()
        .filter(|(_, excess)| Some(excess.resource) == main)
        .min_by_key(|(_, excess)| excess.needed - excess.limit);
    let mut message = format!(
        "{} does not fit into {} of `{}`",
        subject(model, clusters, cluster),
        stages_text(allowed.end),
        model.target.name
    );
    if let Some((stage, excess)) = closest {
        message.push_str(&format!(
            ": {} run out (stage {stage}, which comes closest, is short of {})",
            excess.resource.words(),
            excess.needed - excess.limit
        ));
    }
    let mut diagnostic = Diagnostic::error(FULL, span(model.problem, clusters, cluster), message);
    diagnostic = users(diagnostic, model.problem, cluster);
    diagnostic = diagnostic.note(format!(
        "dependencies allow it from stage {} on; {}",
        allowed.start,
        by_stages(&lacks)
    ));
    match closest {
        Some((_, excess)) => diagnostic.help(advice(excess.resource, excess.scope)),
        None => diagnostic,
    }
}

/// What stages lack, those that lack the same together.
fn by_stages(lacks: &[(u32, Excess)]) -> String {
    let mut runs: Vec<(u32, u32, Excess)> = Vec::new();
    for (stage, excess) in lacks {
        match runs.last_mut() {
            Some((_, last, other)) if other == excess && *last + 1 == *stage => *last = *stage,
            _ => runs.push((*stage, *stage, *excess)),
        }
    }
    let texts: Vec<String> = runs
        .into_iter()
        .map(|(first, last, excess)| match first == last {
            true => format!("stage {first}: {}", lack(&excess)),
            false => format!("stages {first} to {last}: {}", lack(&excess)),
        })
        .collect();
    texts.join("; ")
}

/// The name of what is placed: the array of a group that has one, else the unit.
fn subject(model: &Model<'_>, clusters: &Clusters, cluster: &Cluster) -> String {
    let arrays: Vec<String> = cluster
        .groups
        .iter()
        .filter_map(|group| clusters.groups[*group].array)
        .map(|array| format!("`{}`", array_name(model.problem, array)))
        .collect();
    match (arrays.as_slice(), cluster.units.first()) {
        ([], Some(unit)) => format!("`{}`", unit_name(model.problem, *unit)),
        ([array], _) => format!("array {array}"),
        (arrays, _) => format!("arrays {} (which have to share a stage)", arrays.join(" and ")),
    }
}

/// Where an array is declared, or the unit.
fn span(problem: &Problem, clusters: &Clusters, cluster: &Cluster) -> Span {
    let array = cluster.groups.iter().find_map(|group| clusters.groups[*group].array);
    let declared = array.and_then(|array| problem.arrays.get(array.0 as usize));
    match declared.map(|array| array.span).filter(|span| !span.is_none()) {
        Some(span) => span,
        None => unit_span(problem, cluster.units.first().copied()),
    }
}

/// Names the units of a group that an array keeps together.
fn users(mut diagnostic: Diagnostic, problem: &Problem, cluster: &Cluster) -> Diagnostic {
    for unit in &cluster.units {
        let span = unit_span(problem, Some(*unit));
        if span != diagnostic.primary.span && diagnostic.labels.len() < MAX_LABELS {
            let text = format!("`{}` belongs to it", unit_name(problem, *unit));
            diagnostic = diagnostic.label(span, text);
        }
    }
    if cluster.units.len() > MAX_LABELS {
        diagnostic = diagnostic.note(format!("{} accesses belong to it", cluster.units.len()));
    }
    diagnostic
}

fn worst(excess: &[Excess]) -> Option<Excess> {
    excess.iter().copied().max_by_key(|each| {
        let part = (each.needed - each.limit).saturating_mul(1000) / each.limit.max(1);
        (part, each.resource)
    })
}

/// "it would need 5 stateful ALUs, and a stage has 4".
pub(crate) fn lack(excess: &Excess) -> String {
    let least = if excess.resource == Resource::Entries { "at least " } else { "" };
    let has = match excess.scope {
        Scope::Stage => "a stage has",
        Scope::Table => "a table can have",
        Scope::Array => "an array can have",
    };
    format!(
        "{least}{} {} are needed, and {has} {}",
        excess.needed,
        excess.resource.words(),
        excess.limit
    )
}

fn advice(resource: Resource, scope: Scope) -> &'static str {
    match resource {
        Resource::SramBlocks | Resource::ArrayBlocks if scope == Scope::Array => {
            "make the array shorter or its cells narrower, or split it into two arrays"
        }
        Resource::SramBlocks | Resource::ArrayBlocks => {
            "make arrays and tables smaller, or spread what uses them over more stages"
        }
        Resource::StatefulAlus => {
            "use fewer arrays: two that are always accessed alike can be one array of pairs"
        }
        Resource::HashUnits | Resource::HashBits => {
            "compute fewer hashes, or narrower ones: the result of one can be used several times"
        }
        Resource::Tables | Resource::TernaryTables | Resource::Gateways => {
            "use fewer tables: merge those that match on the same fields"
        }
        Resource::TcamBlocks | Resource::TernaryMatchBits => {
            "match exactly where that will do, on fewer bits, or with fewer entries"
        }
        Resource::ExactMatchBits | Resource::MatchBits => "match on fewer or narrower fields",
        Resource::ActionDataBits => "give actions fewer or narrower parameters",
        Resource::Instructions | Resource::Statements | Resource::Actions => {
            "do less in one place: move statements that can wait to another pass"
        }
        Resource::Entries => "let fewer different conditions decide what runs there",
        Resource::RegisterActions => "use fewer different memops (register actions) on this array",
        Resource::Counters => "use fewer counters and meters",
    }
}

fn unit_name(problem: &Problem, unit: UnitId) -> &str {
    problem.units.get(unit.0 as usize).map_or("", |unit| &unit.name)
}

fn array_name(problem: &Problem, array: ArrayId) -> &str {
    problem.arrays.get(array.0 as usize).map_or("", |array| &array.name)
}

fn unit_span(problem: &Problem, unit: Option<UnitId>) -> Span {
    unit.and_then(|unit| problem.units.get(unit.0 as usize)).map_or(Span::NONE, |unit| unit.span)
}

/// All stages of a target.
fn stages_text(stages: u32) -> String {
    match stages {
        1 => "the only stage".to_string(),
        _ => format!("the {stages} stages"),
    }
}
