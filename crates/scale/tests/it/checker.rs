// SPDX-License-Identifier: Apache-2.0
//! The checker finds a mutation of each of its rules.

use crate::equivalence::judged;
use crate::generate::case;
use scale::checker::{Rule, check};
use scale::design::{Design, Figure6, Remap};
use scale::trace::{Event, Kind, Trace};
use testing::choices::Choices;

/// Traces without violations, with accesses, moves and cancellations.
fn traces() -> Vec<Trace> {
    let design = Design { remap: Remap::Figure6(Figure6::artifact(4)), ..Design::mp5(4) };
    let traces =
        (0..40).map(|seed| judged(&case(&mut Choices::from_seed(seed)), &design, None).trace);
    traces.filter(|trace| trace.shape.pipelines > 1 && check(trace).is_empty()).collect()
}

/// Checks that each trace with a place to mutate breaks the rule after it, and that at least three have one.
fn catches(rule: Rule, mutate: impl Fn(&mut Trace) -> bool) {
    let mut count = 0;
    for mut trace in traces() {
        if mutate(&mut trace) {
            count += 1;
            let found = check(&trace);
            assert!(found.iter().any(|violation| violation.rule == rule), "{rule:?}: {found:?}");
        }
    }
    assert!(count >= 3, "{rule:?}: {count} traces to mutate");
}

/// The index of the first event of a kind.
fn first(trace: &Trace, is_it: impl Fn(&Kind) -> bool) -> Option<usize> {
    trace.events.iter().position(|event| is_it(&event.kind))
}

#[test]
fn two_packets_in_a_stage() {
    catches(Rule::OnePacketPerStage, |trace| {
        let Some(index) = first(trace, |kind| matches!(kind, Kind::Processed { .. })) else {
            return false;
        };
        let Event { cycle, kind: Kind::Processed { stage, pipeline, .. } } = trace.events[index]
        else {
            return false;
        };
        let kind = Kind::Wasted { stage, pipeline };
        trace.events.insert(index, Event { cycle, kind });
        true
    });
}

#[test]
fn a_stage_left_out() {
    catches(Rule::FeedForward, |trace| {
        let index = first(trace, |kind| matches!(kind, Kind::Processed { access: None, .. }));
        index.map(|index| trace.events.remove(index)).is_some()
    });
}

#[test]
fn a_stage_too_late() {
    catches(Rule::FeedForward, |trace| {
        let Some(index) =
            trace.events.iter().rposition(|event| matches!(event.kind, Kind::Crossed { .. }))
        else {
            return false;
        };
        for event in &mut trace.events[index..] {
            event.cycle += 1;
        }
        let is_later_stage =
            matches!(trace.events[index].kind, Kind::Crossed { stage, .. } if stage > 0);
        is_later_stage
    });
}

#[test]
fn a_pipeline_where_the_packet_did_not_go() {
    catches(Rule::OneCrossbarOutput, |trace| {
        let pipelines = trace.shape.pipelines;
        for event in &mut trace.events {
            if let Kind::Processed { pipeline, access: None, .. } = &mut event.kind {
                *pipeline = (*pipeline + 1) % pipelines;
                return true;
            }
        }
        false
    });
}

#[test]
fn a_packet_that_enters_again() {
    // It has left, and the checker has forgotten it.
    catches(Rule::FeedForward, |trace| {
        let Some(index) = first(trace, |kind| matches!(kind, Kind::Departed { .. })) else {
            return false;
        };
        let Event { cycle, kind: Kind::Departed { packet } } = trace.events[index] else {
            return false;
        };
        let again = [Kind::Resolved { packet, pipeline: 0 }, Kind::Dropped { packet }];
        for kind in again.into_iter().rev() {
            trace.events.insert(index + 1, Event { cycle, kind });
        }
        true
    });
}

#[test]
fn a_packet_that_leaves_twice() {
    catches(Rule::FeedForward, |trace| {
        let index = first(trace, |kind| matches!(kind, Kind::Departed { .. }));
        index.map(|index| trace.events.insert(index + 1, trace.events[index])).is_some()
    });
}

#[test]
fn two_packets_to_one_slot() {
    catches(Rule::OneCrossbarOutput, |trace| {
        let is_slot = |kind: &Kind| matches!(kind, Kind::Crossed { is_queued: false, .. });
        let Some(index) = first(trace, is_slot) else { return false };
        let event = trace.events[index];
        trace.events.insert(index, event);
        true
    });
}

#[test]
fn a_stateless_packet_in_a_queue() {
    catches(Rule::StatelessNeverWaits, |trace| {
        for event in &mut trace.events {
            if let Kind::Crossed { is_queued: is_queued @ false, .. } = &mut event.kind {
                *is_queued = true;
                return true;
            }
        }
        false
    });
}

#[test]
fn a_cell_in_another_pipeline() {
    catches(Rule::OneActivePipeline, |trace| {
        let accessed = trace.events.iter().find_map(|event| match event.kind {
            Kind::Processed { access, .. } => access,
            _ => None,
        });
        let Some(access) = accessed else { return false };
        let pipelines = trace.shape.pipelines as u8;
        let place = &mut trace.shape.first_map[access.group as usize][access.cell as usize];
        *place = (*place + 1) % pipelines;
        true
    });
}

#[test]
fn a_move_from_where_the_cell_is_not() {
    catches(Rule::OneActivePipeline, |trace| {
        let pipelines = trace.shape.pipelines;
        for event in &mut trace.events {
            if let Kind::Remapped { from, .. } = &mut event.kind {
                *from = (*from + 1) % pipelines;
                return true;
            }
        }
        false
    });
}

#[test]
fn two_accesses_in_the_wrong_order() {
    // Two packets exchange their names.
    catches(Rule::AccessOrder, |trace| {
        let mut accesses = trace.events.iter().filter_map(|event| match event.kind {
            Kind::Processed { packet, access: Some(access), .. } => Some((access, packet)),
            _ => None,
        });
        let Some((access, one)) = accesses.next() else { return false };
        let Some((_, other)) = accesses.find(|(at, packet)| *at == access && *packet != one) else {
            return false;
        };
        for event in &mut trace.events {
            match &mut event.kind {
                Kind::Resolved { packet, .. }
                | Kind::Planned { packet, .. }
                | Kind::Crossed { packet, .. }
                | Kind::PhantomQueued { packet, .. }
                | Kind::MovedWithCell { packet, .. }
                | Kind::Processed { packet, .. }
                | Kind::Cancelled { packet, .. }
                | Kind::Dropped { packet }
                | Kind::Departed { packet } => {
                    if *packet == one {
                        *packet = other;
                    } else if *packet == other {
                        *packet = one;
                    }
                }
                Kind::Wasted { .. } | Kind::Remapped { .. } => {}
            }
        }
        true
    });
}

#[test]
fn an_access_left_out() {
    catches(Rule::EveryAccess, |trace| {
        for event in &mut trace.events {
            if let Kind::Processed { access: access @ Some(_), .. } = &mut event.kind {
                *access = None;
                return true;
            }
        }
        false
    });
}

#[test]
fn a_cancellation_of_an_access_that_was_made() {
    catches(Rule::EveryAccess, |trace| {
        let Some(index) =
            first(trace, |kind| matches!(kind, Kind::Processed { access: Some(_), .. }))
        else {
            return false;
        };
        let Event { cycle, kind: Kind::Processed { packet, access: Some(access), .. } } =
            trace.events[index]
        else {
            return false;
        };
        trace.events.insert(index + 1, Event { cycle, kind: Kind::Cancelled { packet, access } });
        true
    });
}
