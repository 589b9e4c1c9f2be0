// SPDX-License-Identifier: Apache-2.0
//! The report on a run of a machine, beside the judge's verdict.

use crate::judge::Verdict;
use crate::machine::outcome::{Cause, Outcome};
use crate::work::{Access, Group};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Differences that are named; the rest is counted.
const MAX_NAMED: usize = 5;

/// What is reported on a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunReport {
    /// It is the machine of egress.
    pub is_egress: bool,
    /// The design's name.
    pub design: String,
    /// The number of pipelines.
    pub pipelines: usize,
    /// Packets that arrived, that the program dropped, and that the machine lost.
    pub packets: [u64; 3],
    /// Reads and writes of cells by the control plane.
    pub control: [u64; 2],
    /// The last cycle of a departure.
    pub last_departure: u64,
    /// The last arrival over the last departure.
    pub throughput: f64,
    /// Packets that left over those that could leave, at most 1, in the last three quarters of the time of arrivals.
    pub steady: f64,
    /// The most entries in a queue, phantoms included.
    pub queue_entries: u32,
    /// Mean and largest number of cycles of a packet.
    pub latency: (f64, u64),
    /// The number of accesses.
    pub accesses: u64,
    /// Cycles spent on entries of accesses that did not happen.
    pub wasted: u64,
    /// Cells that moved.
    pub moved: u64,
    /// Packets that met a cell after one that arrived later.
    pub reordered: u64,
    /// What differs from one pipeline.
    pub verdict: Verdict,
    /// The names of groups.
    pub groups: Vec<String>,
    /// Rules of the machine that the checker found broken.
    pub violations: Vec<String>,
}

/// What is reported on the machines of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineReport {
    /// The machine of ingress.
    pub ingress: RunReport,
    /// The machine of egress, if there is one.
    pub egress: Option<RunReport>,
}

impl MachineReport {
    /// Returns the reports of the machines.
    pub fn halves(&self) -> impl Iterator<Item = &RunReport> {
        [&self.ingress].into_iter().chain(&self.egress)
    }

    /// Returns the report as text.
    pub fn text(&self) -> String {
        self.halves().map(RunReport::text).collect()
    }

    /// Returns the report as JSON, which ends with a line break.
    pub fn json(&self) -> String {
        document(&self.value())
    }

    fn value(&self) -> Value {
        let mut value = self.ingress.value();
        if let Some(egress) = &self.egress {
            value["egress"] = egress.value();
        }
        value
    }
}

/// What is reported on a switch whose pipelines several programs share.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedReport {
    /// The pipelines of the switch.
    pub pipelines: usize,
    /// The programs with their reports, in the order of their pipelines.
    pub programs: Vec<(String, MachineReport)>,
}

impl SharedReport {
    /// The programs with their first pipelines, from 0.
    fn places(&self) -> impl Iterator<Item = (usize, &(String, MachineReport))> {
        let mut next = 0;
        self.programs.iter().map(move |program| {
            let first = next;
            next += program.1.ingress.pipelines;
            (first, program)
        })
    }

    /// Returns the report as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (first, (name, report)) in self.places() {
            let last = first + report.ingress.pipelines - 1;
            let own = match last == first {
                true => format!("pipeline {first}"),
                false => format!("pipelines {first} to {last}"),
            };
            let _ = writeln!(text, "{name} in {own} of {}", self.pipelines);
            text.push_str(&report.text());
        }
        text
    }

    /// Returns the report as JSON, which ends with a line break.
    pub fn json(&self) -> String {
        let programs = self.places().map(|(first, (name, report))| {
            let mut value = report.value();
            value["program"] = Value::from(name.as_str());
            value["first_pipeline"] = Value::from(first);
            value
        });
        let programs: Vec<Value> = programs.collect();
        document(&json!({ "pipelines": self.pipelines, "programs": programs }))
    }
}

/// Returns a JSON document, which ends with a line break.
fn document(value: &Value) -> String {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

impl RunReport {
    /// Gathers it. `arrivals` are the cycles of arrivals.
    pub fn new<P>(
        design: &str,
        pipelines: usize,
        (outcome, arrivals): (&Outcome<P>, &[u64]),
        (verdict, violations): (Verdict, Vec<String>),
        groups: &[Group],
    ) -> RunReport {
        let measures = &outcome.measures;
        let of_program =
            outcome.dropped.iter().filter(|dropped| dropped.cause == Cause::Program).count() as u64;
        RunReport {
            is_egress: false,
            design: design.to_string(),
            pipelines,
            packets: [measures.arrivals, of_program, verdict.lost.len() as u64],
            control: [0; 2],
            last_departure: measures.last_departure,
            throughput: measures.throughput(),
            steady: outcome.steady(arrivals, pipelines, measures.last_arrival + 1),
            queue_entries: measures.queue_entries,
            latency: (outcome.mean_latency(), measures.latency_max),
            accesses: measures.accesses,
            wasted: measures.wasted,
            moved: measures.remaps + measures.touches,
            reordered: measures.reordered,
            verdict,
            groups: groups.iter().map(|group| group.name.clone()).collect(),
            violations,
        }
    }

    /// Whether the run is not the one that one pipeline makes, though nothing was lost.
    pub fn is_different(&self) -> bool {
        self.verdict.lost.is_empty() && !self.verdict.is_equivalent()
    }

    fn cell(&self, access: &Access) -> String {
        let group = self.groups.get(access.group as usize).map_or("", String::as_str);
        format!("{group}[{}]", access.cell)
    }

    /// Returns the report as text.
    fn text(&self) -> String {
        let [arrived, dropped, lost] = self.packets;
        let half = if self.is_egress { "egress: " } else { "" };
        let mut out = format!(
            "{half}{arrived} packets on {} pipelines ({}): {dropped} dropped by the program, {lost} lost\n",
            self.pipelines, self.design
        );
        let _ = writeln!(
            out,
            "  throughput {:.3} (steady {:.3}), last departure in cycle {}",
            self.throughput, self.steady, self.last_departure
        );
        let _ = writeln!(
            out,
            "  latency {:.1} cycles, at most {}; longest queue {} entries",
            self.latency.0, self.latency.1, self.queue_entries
        );
        let _ = writeln!(
            out,
            "  {} accesses, {} cycles wasted on accesses that did not happen; {} cells moved",
            self.accesses, self.wasted, self.moved
        );
        if self.control != [0; 2] {
            let [reads, writes] = self.control;
            let _ = writeln!(out, "  control plane: {reads} cells read, {writes} written");
        }
        if self.verdict.is_equivalent() {
            out.push_str(
                "  equal to one pipeline: all cells, all counters, all packets, the order of all accesses\n",
            );
        } else {
            if self.verdict.has_other_counts {
                out.push_str("  counters differ from one pipeline\n");
            }
            let numbers = |packets: &[u64]| -> Vec<String> {
                packets.iter().map(|packet| (packet + 1).to_string()).collect()
            };
            let cells = |cells: &[Access]| -> Vec<String> {
                cells.iter().map(|access| self.cell(access)).collect()
            };
            for (what, differing) in [
                ("lost packets", numbers(&self.verdict.lost)),
                ("packets that differ from one pipeline", numbers(&self.verdict.packets)),
                ("cells that differ from one pipeline", cells(&self.verdict.cells)),
                ("cells met by other packets or in another order", cells(&self.verdict.accesses)),
            ] {
                if !differing.is_empty() {
                    let named = &differing[..differing.len().min(MAX_NAMED)];
                    let rest = match differing.len() - named.len() {
                        0 => String::new(),
                        rest => format!(" and {rest} more"),
                    };
                    let _ = writeln!(out, "  {what}: {}{rest}", named.join(", "));
                }
            }
        }
        for violation in self.violations.iter().take(MAX_NAMED) {
            let _ = writeln!(out, "  rule broken: {violation}");
        }
        out
    }

    /// Returns the report as JSON.
    fn value(&self) -> Value {
        let cells = |list: &[Access]| -> Vec<Value> {
            list.iter().map(|access| Value::from(self.cell(access))).collect()
        };
        let [arrived, dropped, lost] = self.packets;
        json!({
            "design": self.design,
            "pipelines": self.pipelines,
            "packets": arrived,
            "dropped": dropped,
            "lost": lost,
            "control_reads": self.control[0],
            "control_writes": self.control[1],
            "last_departure": self.last_departure,
            "throughput": self.throughput,
            "steady": self.steady,
            "queue_entries": self.queue_entries,
            "mean_latency": self.latency.0,
            "max_latency": self.latency.1,
            "accesses": self.accesses,
            "wasted": self.wasted,
            "moved": self.moved,
            "reordered": self.reordered,
            "equivalent": self.verdict.is_equivalent(),
            "differing_packets": self.verdict.packets,
            "differing_cells": cells(&self.verdict.cells),
            "differing_orders": cells(&self.verdict.accesses),
            "differing_counters": self.verdict.has_other_counts,
            "violations": self.violations,
        })
    }
}
