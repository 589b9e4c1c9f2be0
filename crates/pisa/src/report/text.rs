// SPDX-License-Identifier: Apache-2.0
//! The words of the text report.

use super::{Reasons, Why};
use crate::cost::{self, Demand, Model, TableCost};
use crate::greedy::Clusters;
use crate::layout::Layout;
use crate::problem::{DependencyKind, Gress, Problem, Resource, UnitId};
use crate::target::HardwareModel;
use std::fmt::Write as _;

/// Resources with a column of their own; the rest only shows in messages.
const COLUMNS: [(Resource, &str); 8] = [
    (Resource::Tables, "tables"),
    (Resource::StatefulAlus, "sALUs"),
    (Resource::SramBlocks, "SRAM"),
    (Resource::ArrayBlocks, "arrays"),
    (Resource::TcamBlocks, "TCAM"),
    (Resource::HashUnits, "hashes"),
    (Resource::TernaryMatchBits, "ternary b"),
    (Resource::ExactMatchBits, "exact b"),
];

/// What no model has, so that a chip may need more stages than its model (docs/targets.md).
const LEFT_OUT: &str = "The model leaves out which containers of the packet header vector hold a field and which of \
     them an action reaches, the wiring of\ncrossbars and hash bits, buses between memory rows, parser and deparser. The \
     chip may need more stages (docs/targets.md).";

/// How much of another unit's name a reason quotes.
const REASON_CHARACTERS: usize = 48;

/// The whole report. `place` tells where a unit is in the source, such as `nat.dpt:12`; empty if that
/// is not known.
pub fn text(
    problem: &Problem,
    target: &HardwareModel,
    layout: &Layout,
    place: &dyn Fn(UnitId) -> String,
) -> String {
    let model = Model::new(problem, target);
    let mut text = heading(problem, target, layout);
    text.push('\n');
    text.push_str(&usage(&model, layout));
    let clusters = Clusters::of(problem).ok();
    let reasons = clusters.as_ref().map(|clusters| Reasons::new(&model, clusters, layout));
    for (index, stage) in layout.stages.iter().enumerate() {
        let _ = writeln!(text, "\nstage {index}");
        for (number, table) in stage.tables.iter().enumerate() {
            let cost = model.table(&table.units);
            let _ = writeln!(text, "  table {number}{}", of_table(problem, table.gress, &cost));
            // An action in several branches gives equal lines.
            let mut lines: Vec<(String, u32)> = Vec::new();
            for unit in &table.units {
                let why = reasons.as_ref().map(|reasons| reasons.why(*unit));
                let line = unit_line(problem, *unit, place, why);
                match lines.iter_mut().find(|(known, _)| *known == line) {
                    Some((_, count)) => *count += 1,
                    None => lines.push((line, 1)),
                }
            }
            for (line, count) in lines {
                let _ = match count {
                    1 => writeln!(text, "    {line}"),
                    _ => writeln!(text, "    {line}, {count} times"),
                };
            }
        }
    }
    let _ = writeln!(text, "\n{LEFT_OUT}");
    text
}

fn heading(problem: &Problem, target: &HardwareModel, layout: &Layout) -> String {
    let used = layout.stages.len();
    let proved = layout.optimality;
    let has = if target.ingress_stages == target.egress_stages {
        target.ingress_stages.to_string()
    } else {
        format!("{} and {}", target.ingress_stages, target.egress_stages)
    };
    let name = if problem.name.is_empty() { "the program" } else { &problem.name };
    let stages = if has == "1" { "stage" } else { "stages" };
    format!("{name} on {}: {used} of {has} {stages} ({proved})\n", target.name)
}

fn usage(model: &Model<'_>, layout: &Layout) -> String {
    let gresses: &[Option<Gress>] = match model.target.shared {
        true => &[None],
        false => &[Some(Gress::Ingress), Some(Gress::Egress)],
    };
    let mut rows: Vec<(String, Demand)> = Vec::new();
    for gress in gresses {
        for (index, stage) in layout.stages.iter().enumerate() {
            let costs: Vec<TableCost> = stage
                .tables
                .iter()
                .filter(|table| gress.is_none_or(|gress| gress == table.gress))
                .map(|table| model.table(&table.units))
                .collect();
            if gress.is_some() && costs.is_empty() {
                continue;
            }
            let half = gress.map_or("", half_words);
            rows.push((format!("{half}{index}"), cost::stage(&costs)));
        }
    }
    let limit = |resource: Resource| model.target.stage.get(&resource).copied();
    let columns: Vec<(Resource, &str)> = COLUMNS
        .into_iter()
        .filter(|(resource, _)| {
            limit(*resource).is_some()
                && rows.iter().any(|(_, demand)| demand.get(resource).is_some_and(|n| *n > 0))
        })
        .collect();
    let mut table: Vec<Vec<String>> = Vec::new();
    table.push(
        std::iter::once("stage".to_string())
            .chain(columns.iter().map(|(_, name)| name.to_string()))
            .collect(),
    );
    for (name, demand) in &rows {
        let amounts = columns
            .iter()
            .map(|(resource, _)| demand.get(resource).copied().unwrap_or(0).to_string());
        table.push(std::iter::once(name.clone()).chain(amounts).collect());
    }
    let limits = columns
        .iter()
        .map(|(resource, _)| limit(*resource).map_or_else(String::new, |limit| limit.to_string()));
    table.push(std::iter::once("of".to_string()).chain(limits).collect());
    aligned(&table)
}

fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}")).collect();
        text.push_str(&cells.join("  "));
        text.push('\n');
    }
    text
}

fn half_words(gress: Gress) -> &'static str {
    match gress {
        Gress::Ingress => "ingress ",
        Gress::Egress => "egress ",
    }
}

fn of_table(problem: &Problem, gress: Gress, cost: &TableCost) -> String {
    let mut parts: Vec<String> = Vec::new();
    if gress == Gress::Egress {
        parts.push("egress".to_string());
    }
    let matched: Vec<String> = cost
        .matched
        .keys()
        .filter_map(|variable| problem.variables.get(variable.0 as usize))
        .map(|variable| variable.name.to_string())
        .collect();
    if !matched.is_empty() {
        parts.push(format!("matches {}", matched.join(", ")));
    }
    for (array, demand) in &cost.arrays {
        let name = problem.arrays.get(array.0 as usize).map_or("", |array| &array.name);
        let blocks = demand.get(&Resource::ArrayBlocks).copied().unwrap_or(0);
        let plural = if blocks == 1 { "" } else { "s" };
        parts.push(format!("array {name} ({blocks} block{plural})"));
    }
    let count = |resource: Resource| cost.demand.get(&resource).copied().unwrap_or(0);
    for (resource, one, many) in [
        (Resource::Entries, "static entry", "static entries"),
        (Resource::Actions, "action", "actions"),
    ] {
        match count(resource) {
            0 => {}
            1 => parts.push(format!("1 {one}")),
            number => parts.push(format!("{number} {many}")),
        }
    }
    if parts.is_empty() { String::new() } else { format!(": {}", parts.join("; ")) }
}

fn unit_line(
    problem: &Problem,
    unit: UnitId,
    place: &dyn Fn(UnitId) -> String,
    why: Option<Why>,
) -> String {
    let mut line = name(problem, unit).to_string();
    let place = place(unit);
    if !place.is_empty() {
        let _ = write!(line, "  ({place})");
    }
    if let Some(reason) = why.and_then(|why| reason_words(problem, why)) {
        let _ = write!(line, " <- {reason}");
    }
    line
}

/// A reason in words; nothing for the first stage.
pub fn reason_words(problem: &Problem, why: Why) -> Option<String> {
    let reason = match why {
        Why::First => return None,
        Why::Free => "could sit a stage earlier".to_string(),
        Why::After { unit, kind } => {
            let name = shortened(problem, unit);
            match kind {
                DependencyKind::Match => format!("matches on what `{name}` writes"),
                DependencyKind::Action => format!("needs what `{name}` writes"),
                DependencyKind::Successor => format!("runs by the outcome of `{name}`"),
                DependencyKind::Anti => format!("writes what `{name}` reads"),
            }
        }
        Why::With { unit, array } => {
            let with = shortened(problem, unit);
            match array.and_then(|array| problem.arrays.get(array.0 as usize)) {
                Some(array) => format!("array {} is here because of `{with}`", array.name),
                None => format!("shares a stage with `{with}`"),
            }
        }
        Why::Full { stage, excess } => {
            let list: Vec<String> = excess
                .iter()
                .map(|each| format!("{} {} of {}", each.needed, each.resource.words(), each.limit))
                .collect();
            format!("stage {stage} is full: {}", list.join(", "))
        }
    };
    Some(reason)
}

/// A name in a reason: as much of it as tells which one is meant.
fn shortened(problem: &Problem, unit: UnitId) -> String {
    let name = name(problem, unit);
    match name.char_indices().nth(REASON_CHARACTERS) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_string(),
    }
}

fn name(problem: &Problem, unit: UnitId) -> &str {
    problem.units.get(unit.0 as usize).map_or("", |unit| &unit.name)
}
