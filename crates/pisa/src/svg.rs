// SPDX-License-Identifier: Apache-2.0
//! A layout as a picture (SVG): stages as columns, their tables and arrays as boxes, and below, for
//! each resource, how much of it a stage takes. Tooltips tell the source line of each part and why it
//! sits there. Colours follow the reader's preference for light or dark.

use crate::cost::{self, Demand, Model, TableCost};
use crate::greedy::Clusters;
use crate::layout::{Layout, Optimality, PlacedTable, Stage};
use crate::problem::{Gress, Problem, Resource, UnitId};
use crate::report::{Reasons, reason_words};
use crate::target::HardwareModel;
use std::fmt::Write as _;

/// Widths and heights in pixels.
const MARGIN: usize = 16;
const LABELS: usize = 136;
const COLUMN: usize = 216;
const GAP: usize = 10;
const LINE: usize = 15;
const PADDING: usize = 6;
const HEADING: usize = 64;
const BAR: usize = 20;

/// Lines of a table that are shown; the rest is counted.
const MAX_LINES: usize = 12;
/// Characters of a line that fit into a box.
const MAX_CHARACTERS: usize = 27;

const STYLE: &str = "\
svg{font:12px system-ui,sans-serif;background:#fff}\
.page{fill:#fff}.text{fill:#1d2733}.faint{fill:#5b6875}.head{font-weight:600}\
.title{font-size:16px;font-weight:600}.stage{fill:#f3f5f8;stroke:#d5dbe2}\
.table{fill:#dbe9fb;stroke:#7da7dc}.own{fill:#dff3e3;stroke:#78b586}.egress{fill:#f2e5f7;stroke:#b68bc8}\
.array{fill:#fdebc8;stroke:#d9a441}.back{fill:#e6eaef}.bar{fill:#5b8fd0}.full{fill:#d0683e}\
@media (prefers-color-scheme:dark){svg{background:#14181d}.page{fill:#14181d}\
.text{fill:#e4e9ef}.faint{fill:#9aa7b4}.stage{fill:#1c2229;stroke:#343d47}\
.table{fill:#1f3654;stroke:#4a7bb8}.own{fill:#1d3d27;stroke:#4f8f5f}.egress{fill:#3b2547;stroke:#8a5f9e}\
.array{fill:#4a3711;stroke:#a97c26}.back{fill:#2a323b}.bar{fill:#5b8fd0}.full{fill:#d97a4e}}";

/// Resources that are drawn, if the target limits them and the program takes some.
const DRAWN: [Resource; 14] = [
    Resource::Tables,
    Resource::TernaryTables,
    Resource::Gateways,
    Resource::SramBlocks,
    Resource::TcamBlocks,
    Resource::StatefulAlus,
    Resource::ArrayBlocks,
    Resource::HashUnits,
    Resource::ExactMatchBits,
    Resource::TernaryMatchBits,
    Resource::MatchBits,
    Resource::ActionDataBits,
    Resource::Instructions,
    Resource::Counters,
];

/// One line of a box.
struct Line {
    text: String,
    class: &'static str,
    tip: String,
}

/// A box.
struct Block {
    class: &'static str,
    title: String,
    lines: Vec<Line>,
    arrays: Vec<Line>,
}

impl Block {
    fn height(&self) -> usize {
        let arrays = self.arrays.len() * (LINE + 4);
        PADDING * 2 + self.lines.len() * LINE + arrays
    }
}

/// The picture. `place` tells where a unit is in the source, such as `nat.dpt:12`; empty if that is
/// not known.
pub fn svg(
    problem: &Problem,
    target: &HardwareModel,
    layout: &Layout,
    place: &dyn Fn(UnitId) -> String,
) -> String {
    let model = Model::new(problem, target);
    let clusters = Clusters::of(problem).ok();
    let reasons = clusters.as_ref().map(|clusters| Reasons::new(&model, clusters, layout));
    let tip = |id: UnitId| {
        let mut tip = problem.units[id.0 as usize].name.to_string();
        let place = place(id);
        if !place.is_empty() {
            let _ = write!(tip, "\n{place}");
        }
        let why = reasons.as_ref().and_then(|reasons| reason_words(problem, reasons.why(id)));
        if let Some(why) = why {
            let _ = write!(tip, "\n{why}");
        }
        tip
    };
    let costs: Vec<Vec<TableCost>> = layout
        .stages
        .iter()
        .map(|stage| stage.tables.iter().map(|table| model.table(&table.units)).collect())
        .collect();
    let columns: Vec<Vec<Block>> = layout
        .stages
        .iter()
        .zip(&costs)
        .map(|(stage, costs)| {
            let tables = stage.tables.iter().zip(costs).enumerate();
            tables.map(|(at, (table, cost))| block(problem, at, table, cost, &tip)).collect()
        })
        .collect();
    let tallest = columns
        .iter()
        .map(|blocks| blocks.iter().map(|block| block.height() + GAP).sum::<usize>())
        .max()
        .unwrap_or(0);
    let stages = layout.stages.iter().zip(&costs);
    let demands: Vec<Demand> = stages.map(|(stage, costs)| fullest(target, stage, costs)).collect();
    let drawn: Vec<(Resource, u64)> = DRAWN
        .into_iter()
        .filter_map(|resource| Some((resource, *target.stage.get(&resource)?)))
        .filter(|(resource, _)| demands.iter().any(|demand| demand.contains_key(resource)))
        .collect();
    let top = HEADING + LINE * 2;
    let bars = top + tallest + GAP;
    let width = MARGIN * 2 + LABELS + columns.len() * (COLUMN + GAP);
    let height = bars + drawn.len() * BAR + MARGIN + GAP;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\">\n<style>{STYLE}</style>\n\
         <rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n"
    );
    heading(&mut text, problem, target, layout);
    for (number, blocks) in columns.iter().enumerate() {
        let x = MARGIN + LABELS + number * (COLUMN + GAP);
        let _ = writeln!(
            text,
            "<rect class=\"stage\" x=\"{x}\" y=\"{}\" width=\"{COLUMN}\" height=\"{}\" rx=\"5\"/>\n\
             <text class=\"text head\" x=\"{}\" y=\"{}\">stage {number}</text>",
            HEADING,
            bars - HEADING,
            x + PADDING,
            HEADING + LINE + 2,
        );
        let mut y = top;
        for block in blocks {
            draw(&mut text, block, x + PADDING, y);
            y += block.height() + GAP;
        }
        for (row, (resource, limit)) in drawn.iter().enumerate() {
            let used = demands[number].get(resource).copied().unwrap_or(0);
            bar(&mut text, (x, bars + GAP + row * BAR), *resource, used, *limit);
        }
    }
    for (row, (resource, _)) in drawn.iter().enumerate() {
        let y = bars + GAP + row * BAR + 13;
        let name = resource.words();
        let _ = writeln!(text, "<text class=\"faint\" x=\"{MARGIN}\" y=\"{y}\">{name}</text>");
    }
    text.push_str("</svg>\n");
    text
}

/// The resources that a stage takes; where the halves do not share stages, those of the fuller half, by resource.
fn fullest(target: &HardwareModel, stage: &Stage, costs: &[TableCost]) -> Demand {
    let of = |wanted: Option<Gress>| {
        let tables = stage.tables.iter().zip(costs);
        let here = tables.filter(|(table, _)| wanted.is_none_or(|it| it == table.gress));
        cost::stage(here.map(|(_, cost)| cost))
    };
    if target.shared {
        return of(None);
    }
    let mut demand = of(Some(Gress::Ingress));
    for (resource, amount) in of(Some(Gress::Egress)) {
        let known = demand.entry(resource).or_default();
        *known = amount.max(*known);
    }
    demand
}

fn heading(text: &mut String, problem: &Problem, target: &HardwareModel, layout: &Layout) {
    let proved = match layout.optimality {
        Optimality::Optimal => "no layout has fewer".to_string(),
        Optimality::AtLeast(bound) => format!("at least {bound} are needed"),
        Optimality::Unknown => "how few there could be is not known".to_string(),
    };
    let _ = writeln!(
        text,
        "<text class=\"text title\" x=\"{MARGIN}\" y=\"28\">{} on {}: {} of {} stages</text>\n\
         <text class=\"faint\" x=\"{MARGIN}\" y=\"48\">{proved}</text>",
        escaped(&problem.name),
        escaped(&layout.target),
        layout.stages.len(),
        target.stages(),
    );
}

fn block(
    problem: &Problem,
    number: usize,
    table: &PlacedTable,
    cost: &TableCost,
    tip: &dyn Fn(UnitId) -> String,
) -> Block {
    let own = table.units.iter().find(|id| problem.units[id.0 as usize].table.is_some());
    let class = match (table.gress, own) {
        (Gress::Egress, _) => "egress",
        (Gress::Ingress, Some(_)) => "own",
        (Gress::Ingress, None) => "table",
    };
    let matched: Vec<&str> =
        cost.matched.keys().map(|variable| &*problem.variables[variable.0 as usize].name).collect();
    let mut title = format!("table {number}");
    if table.gress == Gress::Egress {
        title.push_str(", egress");
    }
    if !matched.is_empty() {
        let _ = write!(title, "\nmatches {}", matched.join(", "));
    }
    for resource in Resource::ALL {
        if let Some(amount) = cost.demand.get(&resource).filter(|amount| **amount > 0) {
            let _ = write!(title, "\n{amount} {}", resource.words());
        }
    }
    let mut lines: Vec<Line> = Vec::new();
    for (at, id) in table.units.iter().enumerate() {
        if at + 1 >= MAX_LINES && table.units.len() > MAX_LINES {
            let rest: Vec<String> = table.units[at..].iter().map(|id| tip(*id)).collect();
            let text = format!("and {} more", rest.len());
            lines.push(Line { text, class: "faint", tip: rest.join("\n\n") });
            break;
        }
        let unit = &problem.units[id.0 as usize];
        let class = if unit.table.is_some() { "text head" } else { "text" };
        lines.push(Line { text: unit.name.to_string(), class, tip: tip(*id) });
    }
    let arrays = cost
        .arrays
        .iter()
        .map(|(id, demand)| {
            let array = &problem.arrays[id.0 as usize];
            let blocks = demand.get(&Resource::ArrayBlocks).copied().unwrap_or(0);
            let size = format!("{} x {} bits", array.length, array.cell_bits);
            let tip = format!("array {}\n{size}\n{blocks} blocks of SRAM", array.name);
            Line { text: format!("{}: {size}", array.name), class: "text", tip }
        })
        .collect();
    Block { class, title, lines, arrays }
}

fn draw(text: &mut String, block: &Block, x: usize, y: usize) {
    let width = COLUMN - 2 * PADDING;
    let _ = writeln!(
        text,
        "<g><title>{}</title><rect class=\"{}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" \
         height=\"{}\" rx=\"4\"/></g>",
        escaped(&block.title),
        block.class,
        block.height(),
    );
    let mut at = y + PADDING;
    for line in &block.lines {
        let _ = writeln!(
            text,
            "<g><title>{}</title><text class=\"{}\" x=\"{}\" y=\"{}\">{}</text></g>",
            escaped(&line.tip),
            line.class,
            x + PADDING,
            at + 11,
            escaped(&shortened(&line.text)),
        );
        at += LINE;
    }
    for line in &block.arrays {
        let _ = writeln!(
            text,
            "<g><title>{}</title><rect class=\"array\" x=\"{}\" y=\"{}\" width=\"{}\" \
             height=\"{LINE}\" rx=\"3\"/><text class=\"{}\" x=\"{}\" y=\"{}\">{}</text></g>",
            escaped(&line.tip),
            x + 4,
            at + 1,
            width - 8,
            line.class,
            x + PADDING + 3,
            at + 12,
            escaped(&shortened(&line.text)),
        );
        at += LINE + 4;
    }
}

fn bar(text: &mut String, (x, y): (usize, usize), resource: Resource, used: u64, limit: u64) {
    let room = COLUMN - 70;
    let filled = match limit {
        0 => 0,
        limit => (used.min(limit).saturating_mul(room as u64) / limit) as usize,
    };
    let class = if used >= limit { "full" } else { "bar" };
    let _ = writeln!(
        text,
        "<g><title>{used} of {limit} {}</title><rect class=\"back\" x=\"{x}\" y=\"{}\" \
         width=\"{room}\" height=\"10\" rx=\"2\"/><rect class=\"{class}\" x=\"{x}\" y=\"{}\" \
         width=\"{filled}\" height=\"10\" rx=\"2\"/><text class=\"faint\" x=\"{}\" y=\"{}\">\
         {used}/{limit}</text></g>",
        resource.words(),
        y + 4,
        y + 4,
        x + room + 6,
        y + 13,
    );
}

/// Shortens a name at its beginning, which names its control, and a statement at its end.
fn shortened(text: &str) -> String {
    let count = text.chars().count();
    if count <= MAX_CHARACTERS {
        return text.to_string();
    }
    // A statement begins with what it writes.
    if text.contains(" = ") {
        let kept: String = text.chars().take(MAX_CHARACTERS - 1).collect();
        return format!("{kept}\u{2026}");
    }
    let kept: String = text.chars().skip(count - MAX_CHARACTERS + 1).collect();
    format!("\u{2026}{kept}")
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(character),
            control if control.is_control() => escaped.push('?'),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests;
