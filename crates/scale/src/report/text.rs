// SPDX-License-Identifier: Apache-2.0
//! The report on sharding as text.

use super::{ControlReport, GroupReport, PhantomCondition, Report};
use crate::resolution::PAPER_PHANTOM_BITS;
use std::fmt::Write as _;

/// Lines of accesses that are shown; the rest is counted.
const MAX_LINES: usize = 6;

/// Returns the text.
pub fn text(report: &Report) -> String {
    let mut out = String::new();
    let counts = report.counts();
    let all: usize = counts.values().sum();
    let sharded: usize =
        counts.iter().filter(|(rule, _)| rule.is_sharded()).map(|(_, count)| count).sum();
    let pipelines = count(report.pipelines as usize, "pipeline");
    let _ = writeln!(
        out,
        "{}: {}, {sharded} sharded over {pipelines}",
        report.program,
        count(all, "array")
    );
    for remark in &report.remarks {
        let _ = writeln!(out, "  {remark}");
    }
    for control in &report.controls {
        out.push('\n');
        of_control(&mut out, control);
    }
    if all > 0 {
        out.push_str("\nArrays by rule:\n");
        for (rule, number) in &counts {
            let is = if rule.is_sharded() { "sharded" } else { "not sharded" };
            let _ = writeln!(out, "  {number:>4}  {:<17} {is}: {}", rule.name(), rule.sentence());
        }
    }
    out
}

fn of_control(out: &mut String, control: &ControlReport) {
    let stages = count(control.stages, "stage");
    let _ =
        write!(out, "{} `{}`: {stages} ({})", control.gress, control.name, control.stage_source);
    match control.resolution_stages {
        Some(number) => {
            let _ = writeln!(out, ", {} in front for addresses", count(number, "stage"));
        }
        None => out.push('\n'),
    }
    let widths = [
        control.arrays.iter().map(|array| array.name.len()).max().unwrap_or(0).max(5),
        control.arrays.iter().map(|array| array.cells.to_string().len()).max().unwrap_or(0).max(5),
    ];
    if !control.arrays.is_empty() {
        let _ = writeln!(
            out,
            "  {:<name$}  {:>cells$}  bits  sharded  stage  group  rule",
            "array",
            "cells",
            name = widths[0],
            cells = widths[1]
        );
    }
    for array in &control.arrays {
        let or_dash = |number: Option<usize>| number.map_or("-".to_string(), |it| it.to_string());
        let bits = if array.width_bits == 0 { "-".into() } else { array.width_bits.to_string() };
        let _ = writeln!(
            out,
            "  {:<name$}  {:>cells$}  {bits:>4}  {:<7}  {:>5}  {:>5}  {}",
            array.name,
            array.cells,
            if array.rule.is_sharded() { "yes" } else { "no" },
            or_dash(array.stage),
            or_dash(array.group),
            array.rule.name(),
            name = widths[0],
            cells = widths[1]
        );
        let _ = writeln!(out, "      {}", array.rule.sentence());
        if !array.lines.is_empty() {
            let _ = writeln!(out, "      accessed at {}", some(&array.lines));
        }
        if !array.because.is_empty() {
            let lines: Vec<String> =
                array.because.iter().map(|(line, name)| format!("{line} (`{name}`)")).collect();
            let _ = writeln!(out, "      because of {}", some(&lines));
        }
    }
    for (number, group) in control.groups.iter().enumerate() {
        let _ = writeln!(out, "  group {number}: {}", of_group(group));
    }
    if !control.counters.is_empty() {
        let _ = writeln!(out, "  kept by each pipeline: {}", some(&control.counters));
    }
    if let Some(phantom) = control.phantom {
        let _ = writeln!(
            out,
            "  phantoms: {} bits ({} packet, {} stage, {} pipeline, {} index, {} kind); the paper has {PAPER_PHANTOM_BITS}",
            phantom.bits(),
            phantom.packet,
            phantom.stage,
            phantom.pipeline,
            phantom.index,
            phantom.kind
        );
    }
}

fn of_group(group: &GroupReport) -> String {
    let mut text = group.arrays.join(" + ");
    let _ = match group.is_sharded {
        true => write!(text, ", {} over the pipelines", count(group.cells as usize, "cell")),
        false => write!(text, " in one pipeline"),
    };
    let _ = write!(text, ", stage {}", group.stage);
    if let Some(before) = group.moved_from {
        let _ = write!(text, " (moved from {before})");
    }
    text.push_str(match group.phantom {
        PhantomCondition::Always => "; every packet accesses it",
        PhantomCondition::Exact => "; the packet tells whether it is accessed",
        PhantomCondition::State => "; a phantom holds the place of packets that may access it",
    });
    if group.phantom == PhantomCondition::State {
        let _ = match group.known_after {
            Some(stage) => write!(text, ", and is cancelled after stage {stage} if they do not"),
            None => write!(text, ", and costs its cycle if they do not"),
        };
    }
    text
}

/// The first of some words, and how many follow.
fn some(words: &[String]) -> String {
    match words.len().checked_sub(MAX_LINES) {
        None | Some(0) => words.join(", "),
        Some(rest) => format!("{} and {rest} more", words[..MAX_LINES].join(", ")),
    }
}

/// A count with its noun.
fn count(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}
