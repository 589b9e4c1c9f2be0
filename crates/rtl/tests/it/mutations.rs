// SPDX-License-Identifier: Apache-2.0
//! Mistakes in the modules, one at least in each, that the comparison with the simulator must find.

use crate::lockstep::{Case, compare};
use std::collections::BTreeSet;

/// A mistake: in a file, a text that is there once, and what stands in its place.
const MUTATIONS: &[(&str, &str, &str)] = &[
    ("mp5_hop", "in_valid && !rst", "in_valid && !out_valid && !rst"),
    ("mp5_channel", "valids[HOPS]", "valids[0]"),
    ("mp5_directory", " && ids[entry*ID +: ID] == id", ""),
    ("mp5_directory", "valid && waiting", "waiting"),
    ("mp5_ring", "used != USED'(DEPTH) || pop;", "used != USED'(DEPTH);"),
    ("mp5_ring", "|| arriving[head] ||", "||"),
    ("mp5_ring", "cancelled <= cancelled | cancelling;", "cancelled <= cancelled;"),
    ("mp5_ring", "arriving[head] ? arriving_packet : packets[head]", "packets[head]"),
    ("mp5_oldest", "difference[STAMP-1])", "!difference[STAMP-1])"),
    ("mp5_queue", "oldest & head_ready : '0", "head_ready & (~head_ready + 1'b1) : '0"),
    ("mp5_queue", "popped = |(pop & ~head_cancelled)", "popped = |pop"),
    ("mp5_crossbar", "in_to[source*LANE +: LANE] == LANE'(to)", "source == to"),
    ("mp5_slot", "take = !pass", "take = 1'b1"),
    ("mp5_slot", "work && !done_dropped && !rst", "work && !rst"),
    ("mp5_spray", "SUM'(next_lane) + count", "SUM'(count)"),
    ("mp5_map", "if (move) ", "if (move && scan == move_cell) "),
    ("mp5_accesses", "WIDTH'(odd_value != '1)", "WIDTH'(odd_value != '0)"),
    ("mp5_accesses", "if (epoch ? clear : count)", "if (!epoch && count)"),
    ("mp5_tally", "if (count) ", "if (count && asked != cell_index) "),
    ("mp5_remap", "in_flight == '0 && ", ""),
    ("mp5_remap", " && !is_resolving", ""),
    ("mp5_remap", "value > best_count", "value >= best_count"),
    ("mp5_remap", "clear = state == FIND", "clear = state == ADD"),
    ("mp5_cells", "if (arrives) ", "if (arrives && !write) "),
    ("mp5_cells", "memory[move_cell] <= arriving", "memory[move_cell] <= value"),
];

#[test]
fn comparison_finds_a_mistake_in_every_module() {
    for module in rtl::modules::MODULES {
        let is_mutated = MUTATIONS.iter().any(|(file, ..)| *file == module.name);
        assert!(is_mutated, "{} has no mutation", module.name);
    }
    let case = Case::TWO_PIPELINES;
    let files = rtl::files(&case.plan());
    for (name, text, _) in MUTATIONS {
        let file = files.iter().find(|file| file.name == format!("{name}.sv")).unwrap();
        assert_eq!(file.text.matches(text).count(), 1, "{name}: {text}");
    }
    let Ok(wanted) = std::env::var("PLANEWRIGHT_RTL_MUTATIONS") else {
        let why = "they take minutes; PLANEWRIGHT_RTL_MUTATIONS=first|all|MODULE runs them";
        return testing::programs::not_run("mutations of hardware modules", why);
    };
    if !testing::verilator::has_tool("verilator", "mutations of hardware modules") {
        return;
    }
    let mut seen = BTreeSet::new();
    let chosen = MUTATIONS.iter().filter(|(name, ..)| match &*wanted {
        "all" => true,
        "first" => seen.insert(*name),
        module => *name == module,
    });
    let mut missed = Vec::new();
    for (name, text, other) in chosen {
        let mut mutated = files.clone();
        let file = mutated.iter_mut().find(|file| file.name == format!("{name}.sv")).unwrap();
        file.text = file.text.replace(text, other);
        match compare(&case, &mutated).difference {
            Some(difference) => println!("{name}: {other}: {difference}"),
            None => missed.push(format!("{name}: {text} -> {other}")),
        }
    }
    assert!(missed.is_empty(), "not found: {missed:#?}");
}
