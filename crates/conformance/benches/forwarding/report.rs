// SPDX-License-Identifier: Apache-2.0
//! The tables, for the terminal and as Markdown: both are the same text.

use super::engine::EngineName;
use super::measurement::{Measured, Results, Row};
use super::processes::Side;

const SIDES: [Side; 1 + EngineName::ALL.len()] = {
    let mut sides = [Side::ByHand; 1 + EngineName::ALL.len()];
    let mut at = 0;
    while at < EngineName::ALL.len() {
        sides[at + 1] = Side::Ours(EngineName::ALL[at]);
        at += 1;
    }
    sides
};

/// Both tables.
pub fn tables(results: &[Results]) -> String {
    let speeds = std::iter::once(speed_heads())
        .chain(results.iter().flat_map(|result| &result.rows).map(speed_line));
    let needs = std::iter::once(need_heads()).chain(results.iter().map(need_line));
    format!("{}\n{}", aligned(&speeds.collect::<Vec<_>>()), aligned(&needs.collect::<Vec<_>>()))
}

fn is_interpreter(side: Side) -> bool {
    side == Side::Ours(EngineName::Interpreter)
}

fn speed_heads() -> Vec<String> {
    let mut heads = vec!["workload".to_string(), "bytes".to_string()];
    heads.extend(SIDES.map(|side| format!("{} packets/s", side.name())));
    for side in SIDES {
        if side != Side::ByHand {
            heads.push(format!("{} / C", side.name()));
        }
    }
    for side in SIDES {
        if !is_interpreter(side) && side != Side::ByHand {
            heads.push(format!("{} / interpreter", side.name()));
        }
    }
    heads.extend(SIDES.map(|side| format!("{} instructions/packet", side.name())));
    heads
}

fn speed_line(row: &Row) -> Vec<String> {
    let find = |side: Side| row.sides.iter().find(|measured| measured.side == side);
    let show = |side: Side, what: &dyn Fn(&Measured) -> Option<String>| {
        find(side).and_then(what).unwrap_or_else(|| "-".to_string())
    };
    let mut line = vec![row.workload.clone(), row.sizes.name().to_string()];
    line.extend(
        SIDES.map(|side| show(side, &|measured| Some(grouped(measured.packets_per_second)))),
    );
    for side in SIDES {
        if side != Side::ByHand {
            line.push(show(side, &|measured| measured.by_c.map(ratio)));
        }
    }
    for side in SIDES {
        if !is_interpreter(side) && side != Side::ByHand {
            line.push(show(side, &|measured| measured.by_interpreter.map(ratio)));
        }
    }
    line.extend(SIDES.map(|side| show(side, &|measured| measured.instructions.map(grouped))));
    line
}

fn need_heads() -> Vec<String> {
    let mut heads = vec!["workload".to_string()];
    heads.extend(SIDES.map(|side| format!("{} MiB", side.name())));
    for side in SIDES {
        if side != Side::ByHand {
            for step in STEPS {
                heads.push(format!("{} {} ms", side.name(), step.replace('_', " ")));
            }
        }
    }
    heads
}

/// Steps of getting ready, as children name them.
const STEPS: [&str; 4] = ["front_end", "load", "entries", "compile"];

fn need_line(results: &Results) -> Vec<String> {
    let find = |side: Side| results.needs.iter().find(|needs| needs.side == side);
    let dash = || "-".to_string();
    let mut line = vec![results.workload.clone()];
    line.extend(SIDES.map(|side| {
        let bytes = find(side).and_then(|needs| needs.memory_bytes);
        bytes.map_or_else(dash, |bytes| grouped(bytes as f64 / 1048576.0))
    }));
    for side in SIDES {
        if side == Side::ByHand {
            continue;
        }
        for step in STEPS {
            let taken_ns = find(side).and_then(|needs| {
                needs.preparation.iter().find(|(name, _)| name == step).map(|(_, value)| *value)
            });
            line.push(taken_ns.map_or_else(dash, |value| format!("{:.1}", value / 1e6)));
        }
    }
    line
}

fn ratio(value: f64) -> String {
    if value < 0.1 {
        format!("{value:.4}")
    } else if value < 10.0 {
        format!("{value:.2}")
    } else {
        grouped(value)
    }
}

/// A whole number with commas.
pub fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn aligned(lines: &[Vec<String>]) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let widths: Vec<usize> =
        (0..columns).map(|at| lines.iter().map(|line| line[at].len()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        let cells: Vec<String> = line
            .iter()
            .zip(&widths)
            .enumerate()
            .map(
                |(at, (cell, width))| {
                    if at == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
                },
            )
            .collect();
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
        if number == 0 {
            let rules: Vec<String> = widths
                .iter()
                .enumerate()
                .map(|(at, width)| {
                    let dashes = "-".repeat(width.saturating_sub(usize::from(at > 0)).max(2));
                    if at == 0 { dashes } else { format!("{dashes}:") }
                })
                .collect();
            text.push_str(&format!("| {} |\n", rules.join(" | ")));
        }
    }
    text
}
