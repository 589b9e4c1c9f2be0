// SPDX-License-Identifier: Apache-2.0
//! The report on sharding as a picture (SVG): for each control the stages as columns, those of address resolution first,
//! and the groups as boxes over all pipelines or in one. Colours follow the reader's preference for light or dark.

use super::{ControlReport, GroupReport, PhantomCondition, Report};
use std::fmt::Write as _;

/// Widths and heights in pixels.
const MARGIN: usize = 16;
const LABELS: usize = 96;
const COLUMN: usize = 132;
const LANE: usize = 26;
const LINE: usize = 15;
const HEADING: usize = 64;

/// Pipelines that are drawn; the rest is counted.
const MAX_LANES: usize = 8;
/// Characters of a line that fit into a box.
const MAX_CHARACTERS: usize = 18;

const STYLE: &str = "\
svg{font:12px system-ui,sans-serif;background:#fff}\
.page{fill:#fff}.text{fill:#1d2733}.faint{fill:#5b6875}.head{font-weight:600}\
.title{font-size:16px;font-weight:600}.lane{fill:#f3f5f8;stroke:#d5dbe2}.front{fill:#e6eaef;stroke:#b9c3cd}\
.sharded{fill:#dff3e3;stroke:#78b586}.single{fill:#fbe0d5;stroke:#d07a58}.may{stroke-dasharray:4 3}\
@media (prefers-color-scheme:dark){svg{background:#14181d}.page{fill:#14181d}\
.text{fill:#e4e9ef}.faint{fill:#9aa7b4}.lane{fill:#1c2229;stroke:#343d47}.front{fill:#2a323b;stroke:#4a5560}\
.sharded{fill:#1d3d27;stroke:#4f8f5f}.single{fill:#4a2717;stroke:#a9603c}}";

/// Returns the picture.
pub fn svg(report: &Report) -> String {
    let lanes = (report.pipelines as usize).clamp(1, MAX_LANES);
    let columns =
        |control: &ControlReport| (control.stages + control.resolution_stages.unwrap_or(0)).max(1);
    let widest = report.controls.iter().map(columns).max().unwrap_or(1);
    let width = MARGIN * 2 + LABELS + widest * COLUMN;
    let mut body = String::new();
    let mut top = HEADING;
    for control in &report.controls {
        top += of_control(&mut body, control, (top, lanes, report.pipelines as usize)) + MARGIN * 2;
    }
    let height = top + MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">\n<style>{STYLE}</style>\n\
         <rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n"
    );
    let title = format!("{} on {} pipelines", report.program, report.pipelines);
    text(&mut out, (MARGIN, 28), "text title", &title);
    let counts: Vec<String> =
        report.counts().iter().map(|(rule, count)| format!("{count} {}", rule.name())).collect();
    text(&mut out, (MARGIN, 48), "faint", &counts.join(", "));
    out.push_str(&body);
    out.push_str("</svg>\n");
    out
}

/// Draws a control. Returns its height.
fn of_control(
    out: &mut String,
    control: &ControlReport,
    (top, lanes, pipelines): (usize, usize, usize),
) -> usize {
    let front = control.resolution_stages.unwrap_or(0);
    let heading = format!("{} {}", control.gress, control.name);
    text(out, (MARGIN, top + LINE), "text head", &heading);
    let lanes_top = top + LINE * 3;
    let height = lanes * LANE;
    for stage in 0..front + control.stages {
        let left = MARGIN + LABELS + stage * COLUMN;
        let (label, class) = match stage.checked_sub(front) {
            Some(stage) => (format!("stage {stage}"), "lane"),
            None => ("addresses".to_string(), "front"),
        };
        text(out, (left + 4, lanes_top - 6), "faint", &label);
        for lane in 0..lanes {
            rect(out, (left, lanes_top + lane * LANE), (COLUMN, LANE), class, "");
        }
    }
    for lane in 0..lanes {
        let label = format!("pipeline {lane}");
        text(out, (MARGIN, lanes_top + lane * LANE + 17), "faint", &label);
    }
    if pipelines > lanes {
        let label = format!("and {} more", pipelines - lanes);
        text(out, (MARGIN, lanes_top + height + LINE), "faint", &label);
    }
    for stage in 0..control.stages {
        let groups: Vec<&GroupReport> =
            control.groups.iter().filter(|group| group.stage == stage).collect();
        let count = groups.len().max(1);
        for (at, group) in groups.into_iter().enumerate() {
            let left = MARGIN + LABELS + (front + stage) * COLUMN + at * COLUMN / count + 3;
            let tall = if group.is_sharded { height } else { LANE };
            let class = match (group.is_sharded, group.phantom) {
                (true, PhantomCondition::State) => "sharded may",
                (true, _) => "sharded",
                (false, PhantomCondition::State) => "single may",
                (false, _) => "single",
            };
            let names = group.arrays.join(" + ");
            let tip = format!("{names}: {} cells", group.cells);
            rect(out, (left, lanes_top + 3), (COLUMN / count - 6, tall - 6), class, &tip);
            let room = MAX_CHARACTERS / count;
            text(out, (left + 4, lanes_top + 17), "text", &shortened(&names, room));
        }
    }
    LINE * 3 + height + if pipelines > lanes { LINE } else { 0 }
}

fn shortened(name: &str, room: usize) -> String {
    if name.chars().count() <= room {
        return name.to_string();
    }
    let mut short: String = name.chars().take(room.saturating_sub(1)).collect();
    short.push('\u{2026}');
    short
}

fn text(out: &mut String, (x, y): (usize, usize), class: &str, text: &str) {
    let _ = writeln!(out, "<text x=\"{x}\" y=\"{y}\" class=\"{class}\">{}</text>", escaped(text));
}

fn rect(
    out: &mut String,
    (x, y): (usize, usize),
    (width, height): (usize, usize),
    class: &str,
    tip: &str,
) {
    let tip = match tip.is_empty() {
        true => String::new(),
        false => format!("<title>{}</title>", escaped(tip)),
    };
    let _ = writeln!(
        out,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" class=\"{class}\">{tip}</rect>"
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
