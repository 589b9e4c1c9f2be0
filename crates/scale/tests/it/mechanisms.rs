// SPDX-License-Identifier: Apache-2.0
//! Each mechanism is needed: with it switched off, generated programs show a difference from one pipeline, a broken rule or a machine that
//! stalls. And what the mechanisms do to packets: marks, starvation, counters that are full.

use crate::equivalence::judged;
use crate::generate::{Case, case};
use scale::checker::{Rule, check};
use scale::design::{Design, Figure6, FirstMap, Mechanisms, Remap};
use scale::machine::outcome::{Arrival, Cause};
use scale::machine::{Settings, run};
use scale::synthetic::{Packet, Program, Step, Synthetic};
use scale::work::{Access, Group};
use std::sync::Arc;
use testing::choices::Choices;

/// What went wrong in all cases together: cases with differences from one pipeline, with broken rules, that stalled.
#[derive(Debug, Default)]
struct Wrong {
    differences: usize,
    rules: Vec<Rule>,
    stalls: usize,
}

/// Runs 60 cases in a design.
fn wrong(design: &Design, depth: Option<usize>) -> Wrong {
    let mut wrong = Wrong::default();
    for seed in 0..60 {
        let case = case(&mut Choices::from_seed(seed));
        let run = judged(&case, design, depth);
        let verdict = &run.verdict;
        let has_difference = !verdict.cells.is_empty()
            || !verdict.packets.is_empty()
            || !verdict.accesses.is_empty();
        wrong.differences += usize::from(has_difference);
        wrong.stalls += usize::from(run.outcome.measures.stalled > 0);
        wrong.rules.extend(check(&run.trace).iter().map(|violation| violation.rule));
    }
    wrong.rules.sort_unstable();
    wrong.rules.dedup();
    wrong
}

/// MP5 with mechanisms switched off.
fn without(change: impl Fn(&mut Mechanisms)) -> Design {
    let mut design = Design::mp5(5);
    change(&mut design.mechanisms);
    design
}

#[test]
fn with_all_mechanisms_nothing_is_wrong() {
    let wrong = wrong(&Design::mp5(5), None);
    assert_eq!((wrong.differences, wrong.stalls, wrong.rules.len()), (0, 0, 0), "{wrong:?}");
}

#[test]
fn without_phantoms_packets_overtake() {
    let wrong = wrong(&Design::without_order(5), None);
    assert!(wrong.differences > 0 && wrong.rules.contains(&Rule::AccessOrder), "{wrong:?}");
}

#[test]
fn without_tie_order_packets_of_one_cycle_overtake() {
    let wrong = wrong(&without(|on| on.tie_order = false), None);
    assert!(wrong.differences > 0 && wrong.rules.contains(&Rule::AccessOrder), "{wrong:?}");
}

#[test]
fn without_directory_packets_take_the_place_of_others() {
    let wrong = wrong(&without(|on| on.directory = false), None);
    assert!(wrong.differences > 0, "{wrong:?}");
}

#[test]
fn without_in_flight_check_packets_find_cells_gone() {
    let wrong = wrong(&without(|on| on.in_flight_check = false), None);
    assert!(wrong.differences > 0 && wrong.rules.contains(&Rule::OneActivePipeline), "{wrong:?}");
}

#[test]
fn without_cancellations_queues_stall() {
    let wrong = wrong(&without(|on| on.cancel = false), None);
    assert!(wrong.stalls > 0, "{wrong:?}");
}

#[test]
fn without_cancellations_of_dropped_packets_queues_stall() {
    let wrong_by_program = wrong(&without(|on| on.cancel_on_drop = false), None);
    assert!(wrong_by_program.stalls > 0, "{wrong_by_program:?}");
}

/// A program of one array in the second of three stages, whose flow `n` accesses cell `n`, and a last flow that accesses nothing.
fn plain(cells: u32) -> Arc<Program> {
    let group = Group { name: "array".to_string(), stage: 1, cells };
    let mut flows: Vec<Vec<Step>> =
        (0..cells).map(|cell| vec![Step::plain(Access { group: 0, cell })]).collect();
    flows.push(Vec::new());
    Arc::new(Program { stages: 3, groups: vec![group], flows })
}

/// Packets of flows, so many a cycle.
fn arrivals(flows: impl IntoIterator<Item = u32>, per_cycle: u64) -> Vec<Arrival<Packet>> {
    let packets = (0..).zip(flows);
    packets
        .map(|(id, flow)| Arrival {
            cycle: id / per_cycle,
            port: (id % per_cycle) as u32,
            packet: Packet::new(id, flow),
        })
        .collect()
}

#[test]
fn packets_that_come_to_long_queues_are_marked() {
    let mut work = Synthetic::new(plain(1), 2);
    let settings = Settings { congestion_threshold: Some(3), ..Settings::new(2) };
    let packets = arrivals([0; 20], 2);
    let outcome = run(&mut work, packets, settings, &Design::mp5(100), &mut ());
    let marked: Vec<u64> =
        outcome.departures.iter().filter(|left| left.is_marked).map(|left| left.sequence).collect();
    // Two come and one goes in each cycle.
    assert_eq!(marked, (4..20).collect::<Vec<_>>());
}

#[test]
fn stateful_packets_that_wait_too_long_go_first() {
    // A packet for the cell, then stateless packets in all slots of all pipelines.
    let flows = std::iter::once(0).chain([1; 39]);
    let packets = arrivals(flows, 2);
    let case = Case { program: plain(1), arrivals: packets, pipelines: 2 };
    let patient = judged(&case, &Design::mp5(100), None);
    let last = patient.outcome.departures.iter().position(|left| left.sequence == 0);
    assert_eq!((last, patient.outcome.dropped.len()), (Some(0), 0));
    let case = Case { arrivals: arrivals([1].into_iter().chain([0; 1]).chain([1; 38]), 2), ..case };
    let patient = judged(&case, &Design::mp5(100), None);
    let last = patient.outcome.departures.iter().position(|left| left.sequence == 1);
    assert_eq!((last, patient.outcome.dropped.len()), (Some(39), 0));
    let design = Design { starvation_threshold: Some(4), ..Design::mp5(100) };
    let starving = judged(&case, &design, None);
    let causes: Vec<Cause> = starving.outcome.dropped.iter().map(|dropped| dropped.cause).collect();
    assert_eq!(causes, [Cause::Starvation]);
    let latency =
        starving.outcome.departures.iter().find(|left| left.sequence == 1).map(|left| left.cycle);
    // Stage 1 in cycle 1, 5 cycles of waiting, stage 2.
    assert_eq!(latency, Some(8));
    assert_eq!(check(&starving.trace), []);
}

#[test]
fn a_cell_with_a_full_in_flight_counter_never_moves_again() {
    // Cells 0 and 2 are in pipeline 0. 600 packets for cell 0 fill its counter.
    let mut packets = arrivals([0; 600], 2);
    for id in 0..4000 {
        let flow = if id % 3 == 0 { 0 } else { 2 };
        packets.push(Arrival { cycle: 1000 + id, port: 0, packet: Packet::new(1000 + id, flow) });
    }
    let case = Case { program: plain(3), arrivals: packets, pipelines: 2 };
    let figure = Figure6 { takes_half: true, ..Figure6::paper(50) };
    let remap = Remap::Figure6(figure);
    let design = Design { remap, first_map: FirstMap::FirstPipeline, ..Design::mp5(1) };
    let run = judged(&case, &design, None);
    assert_eq!(run.outcome.measures.pinned, [Access { group: 0, cell: 0 }]);
    assert_eq!(run.outcome.map[0][0], 0);
    assert!(run.verdict.is_equivalent() && check(&run.trace).is_empty());
    assert_eq!(run.outcome.measures.in_flight, 0);
}

#[test]
fn a_cancelled_entry_costs_its_cycle() {
    // The first array decides whether the second is accessed.
    let group = |name: &str, stage| Group { name: name.to_string(), stage, cells: 1 };
    let access = |group| Access { group, cell: 0 };
    let conditional = Step { predicate: Some((0, true)), ..Step::plain(access(1)) };
    let program = Program {
        stages: 4,
        groups: vec![group("decides", 0), group("depends", 2)],
        flows: vec![vec![Step::plain(access(0)), conditional]],
    };
    let case = Case { program: Arc::new(program), arrivals: arrivals([0; 30], 1), pipelines: 2 };
    let run = judged(&case, &Design::mp5(100), None);
    let made = run.outcome.measures.accesses - 30;
    assert_eq!(run.outcome.measures.wasted, 30 - made);
    assert!(made > 0 && made < 30 && run.verdict.is_equivalent());
}
