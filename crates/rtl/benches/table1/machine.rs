// SPDX-License-Identifier: Apache-2.0
//! The measured machine: every stage has one array, as in the paper's artifact every stage has queues. Numbers of instances by part.

use crate::Sums;
use crate::yosys::{Modules, Synthesised};
use rtl::{Array, Group, Plan, Stage};

/// Cells of each array; maps and counters are memories and count as bits.
const CELLS: u32 = 1000;

/// A part of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Rings,
    Queues,
    Crossbars,
    Slots,
    Phantoms,
    Cancellations,
    Entry,
    Remaps,
    Wiring,
}

impl Part {
    pub fn name(self) -> &'static str {
        match self {
            Part::Rings => "rings with directory",
            Part::Queues => "choice of the oldest",
            Part::Crossbars => "crossbars",
            Part::Slots => "slots and stage registers",
            Part::Phantoms => "phantom channel",
            Part::Cancellations => "cancellations",
            Part::Entry => "spray and entry registers",
            Part::Remaps => "remaps and counters",
            Part::Wiring => "wiring of stages",
        }
    }
}

/// A machine whose stages add 1 to a cell.
pub fn plan(pipelines: usize, stages: usize, header_bits: usize) -> Plan {
    let body = |stage: usize| {
        format!(
            "assign header_out = header_in;\nassign dropped = 1'b0;\nassign g{stage}_a0_index = g{stage}_cell;\nassign g{stage}_a0_write = 1'b1;\nassign g{stage}_a0_next = g{stage}_a0_value + 1'b1;\n"
        )
    };
    // What a packet carries for its accesses is part of the same bits for any number of stages.
    let carried = 1 + rtl::plan::index_bits(pipelines as u64) + 10;
    let header_bits = (header_bits + 4 * carried).saturating_sub(stages * carried).max(16);
    let resolution: String = (0..stages)
        .map(|stage| {
            // Different bits of the header for each stage.
            let first = stage * 11 % (header_bits.max(12) - 11).max(1);
            let width = 10.min(header_bits - 1);
            format!("assign g{stage}_access = header_in[{first}];\nassign g{stage}_cell = 10'(header_in[{} +: {width}]);\n", first.min(header_bits - width))
        })
        .collect();
    Plan {
        program: "Table 1".to_owned(),
        pipelines,
        depth: 8,
        remap_every: Some(100),
        header_bits,
        groups: (0..stages)
            .map(|stage| Group {
                name: format!("array{stage}"),
                stage,
                cells: CELLS,
                arrays: vec![Array {
                    name: format!("array{stage}"),
                    width: 32,
                    cells: CELLS,
                    initial: "'0".to_owned(),
                    first: Vec::new(),
                }],
            })
            .collect(),
        resolution: format!("assign header_out = header_in;\n{resolution}"),
        stages: (0..stages)
            .map(|stage| Stage { body: body(stage), can_drop: false, cancels: Vec::new() })
            .collect(),
    }
}

/// The part of a module of a machine that is elaborated whole; `None` of what belongs to the program.
fn part_of(module: &str, width: usize) -> Option<Part> {
    Some(match module {
        "mp5_ring" | "mp5_directory" => Part::Rings,
        "mp5_queue" | "mp5_oldest" => Part::Queues,
        "mp5_crossbar" => Part::Crossbars,
        "mp5_slot" => Part::Slots,
        "mp5_spray" => Part::Entry,
        "mp5_hop" if width > 256 => Part::Entry,
        "mp5_hop" | "mp5_channel" => Part::Phantoms,
        "mp5_remap" | "mp5_map" | "mp5_accesses" | "mp5_tally" => Part::Remaps,
        "mp5_machine" => Part::Wiring,
        _ => return None,
    })
}

/// Sums of a machine that was elaborated whole, by the instances that Yosys found.
pub fn elaborated(modules: &Modules) -> Sums {
    let mut sums = Sums::new();
    for module in modules.list() {
        let Some(part) = part_of(&module.base, module.width) else { continue };
        let sum = sums.entry(part).or_default();
        *sum = sum.plus(&module.own, modules.instances(&module.name));
    }
    sums
}

/// Sums of a machine with a number of stages, from the modules of one with 4 stages.
pub fn sums(modules: &Modules, pipelines: usize, stages: usize) -> Sums {
    let k = pipelines as u64;
    let s = stages as u64;
    let mut sums = Sums::new();
    let mut add = |part: Part, module: &Synthesised, count: u64| {
        let sum = sums.entry(part).or_default();
        *sum = sum.plus(module, count);
    };
    // A queue has a cancellation port for each earlier stage and pipeline, at least one.
    for (part, base, count) in [(Part::Rings, "mp5_ring", k * k), (Part::Queues, "mp5_queue", k)] {
        // Of one port, and of those of 1, 2 and 3 earlier stages.
        let forms = modules.forms(base);
        let [first, second, third, fourth] = forms[..] else {
            panic!("{base}: {} forms", forms.len())
        };
        let port = fourth.minus(&third);
        for stage in 0..stages {
            add(part, &first, count);
            if stage > 0 {
                add(Part::Cancellations, &second.minus(&first), count);
                add(Part::Cancellations, &port, count * (stage as u64 - 1));
            }
        }
    }
    add(Part::Queues, &modules.one("mp5_oldest"), k * s);
    // Each ring looks once for each packet that comes in, and once for each cancellation.
    add(Part::Rings, &modules.one("mp5_directory"), k * k * s * (k + 1));
    let ports: u64 = (1..s).map(|stage| stage * k - 1).sum();
    add(Part::Cancellations, &modules.one("mp5_directory"), k * k * ports);
    add(Part::Crossbars, &modules.one("mp5_crossbar"), s);
    add(Part::Slots, &modules.one("mp5_slot"), k * s);
    add(Part::Entry, &modules.one("mp5_spray"), 1);
    let mut hops: Vec<_> = modules.list().filter(|module| module.base == "mp5_hop").collect();
    hops.sort_by_key(|module| module.width);
    // Lost phantoms, cancellations, phantoms, packets, by width; the first two may have one width.
    let by_width = |width: usize| {
        hops.iter()
            .min_by_key(|module| module.width.abs_diff(width))
            .map(|module| module.own)
            .unwrap_or_default()
    };
    let lane = rtl::plan::index_bits(k);
    let id = rtl::machine::ID_BITS;
    add(Part::Phantoms, &by_width(10 + lane + id + lane), k * s * (s + 1) / 2);
    add(Part::Remaps, &by_width(10), k * s);
    let distances: u64 =
        (0..s).map(|target| (0..target).map(|source| target - source).sum::<u64>()).sum();
    add(Part::Cancellations, &by_width(lane + lane + id), k * distances);
    let widest = hops.last().map(|module| module.own).unwrap_or_default();
    add(Part::Entry, &widest, 2 * k);
    add(Part::Remaps, &modules.one("mp5_remap"), s);
    for base in ["mp5_map", "mp5_accesses"] {
        add(Part::Remaps, &modules.one(base), k * s);
    }
    add(Part::Remaps, &modules.one("mp5_tally"), 3 * k * s);
    let wiring = modules.one("mp5_machine");
    add(Part::Wiring, &wiring.scaled(s as f64 / 4.0), 1);
    sums
}
