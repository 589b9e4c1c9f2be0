// SPDX-License-Identifier: Apache-2.0
//! When the accesses of a pass to state happen, where a pass takes time: what a user sets, and what follows
//! for the blocks of a program. Passes under way are in `timed_pass`.

use crate::output::LoadError;
use crate::pass::Gress;
use ir::Program;
use ir::moments::{self, Moments};
use std::collections::{BTreeMap, BTreeSet};

/// Times of the stages of a pass, alike for ingress and egress.
///
/// Each access stands in a stage ([`ir::moments`]), counted from 0 in each half of the pass, so its time is
/// the same for every packet: packets pass each access in the order of their arrival, and none overtakes
/// another. A half ends when its last stage is over, or after [`crate::DeviceOptions::ingress_latency_ps`]
/// or [`crate::DeviceOptions::egress_latency_ps`] if that is later, for every packet of a program alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassTiming {
    /// From the beginning of the half to stage 0, in picoseconds: a parser's time, say.
    pub first_stage_ps: u64,
    /// From one stage to the next, in picoseconds.
    pub stage_ps: u64,
    /// Stages of tables, registers, counters, meters, value sets and calculations, by control-plane names.
    /// Others stand in the stage after the last one on any path to them.
    pub stages: BTreeMap<String, u32>,
}

impl PassTiming {
    /// When a stage begins, from the beginning of the half.
    pub(crate) fn offset_ps(&self, stage: u32) -> u64 {
        self.first_stage_ps.saturating_add(self.stage_ps.saturating_mul(u64::from(stage)))
    }

    /// The last stage that has begun after so long.
    pub(crate) fn stage_after(&self, elapsed_ps: u64) -> Option<u32> {
        let in_stages_ps = elapsed_ps.checked_sub(self.first_stage_ps)?;
        let stage = in_stages_ps.checked_div(self.stage_ps).unwrap_or(u64::MAX);
        Some(u32::try_from(stage).unwrap_or(u32::MAX))
    }
}

/// The blocks of one half of a pass in time.
#[derive(Debug)]
pub(crate) struct HalfSchedule {
    /// The moments of each block, in the order in which blocks run.
    pub moments: Vec<Moments>,
    /// From the half's beginning to its end.
    pub duration_ps: u64,
}

/// A program's passes in time.
#[derive(Debug)]
pub(crate) struct PassSchedule {
    pub timing: PassTiming,
    pub ingress: HalfSchedule,
    pub egress: HalfSchedule,
    /// What is slow, for people.
    pub notes: Vec<String>,
}

impl PassSchedule {
    /// The schedule of a program whose halves consist of these blocks and take at least these times.
    pub fn new(
        program: &Program,
        timing: &PassTiming,
        (ingress, ingress_ps): (&[usize], u64),
        (egress, egress_ps): (&[usize], u64),
    ) -> Result<PassSchedule, LoadError> {
        refuse_unknown_names(program, timing, ingress.iter().chain(egress))?;
        Ok(PassSchedule {
            ingress: HalfSchedule::new(program, timing, ingress, ingress_ps)?,
            egress: HalfSchedule::new(program, timing, egress, egress_ps)?,
            timing: timing.clone(),
            notes: vec![
                "passes take time, so the interpreter runs them moment by moment".to_string(),
            ],
        })
    }

    pub fn half(&self, gress: Gress) -> &HalfSchedule {
        match gress {
            Gress::Ingress => &self.ingress,
            Gress::Egress => &self.egress,
        }
    }
}

impl HalfSchedule {
    fn new(
        program: &Program,
        timing: &PassTiming,
        blocks: &[usize],
        min_ps: u64,
    ) -> Result<HalfSchedule, LoadError> {
        let mut last_stage = None;
        let mut all = Vec::with_capacity(blocks.len());
        for &block in blocks {
            let region = program.blocks[block].region;
            let moments = moments::of_region(program, region, last_stage, &timing.stages)
                .map_err(|error| LoadError::PassTiming(error.to_string()))?;
            last_stage = moments.last_stage();
            all.push(moments);
        }
        let stages = last_stage.map_or(0, |last| last.saturating_add(1));
        Ok(HalfSchedule { moments: all, duration_ps: timing.offset_ps(stages).max(min_ps) })
    }
}

fn refuse_unknown_names<'b>(
    program: &Program,
    timing: &PassTiming,
    blocks: impl Iterator<Item = &'b usize>,
) -> Result<(), LoadError> {
    let known: BTreeSet<&str> = blocks
        .map(|block| program.blocks[*block].region)
        .flat_map(|region| &program.regions[region.index()].blocks)
        .flat_map(|block| &block.instructions)
        .filter_map(|instruction| moments::name_of_moment(program, &instruction.operation))
        .map(|name| &**name)
        .collect();
    match timing.stages.keys().find(|name| !known.contains(name.as_str())) {
        None => Ok(()),
        Some(name) => Err(LoadError::PassTiming(format!(
            "`{name}` is given a stage, but ingress and egress of the program access nothing of that name"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_begin_at_their_offsets() {
        let timing = PassTiming { first_stage_ps: 50, stage_ps: 10, ..PassTiming::default() };
        let stages = [49, 50, 59, 60, 85].map(|elapsed_ps| timing.stage_after(elapsed_ps));
        assert_eq!(stages, [None, Some(0), Some(0), Some(1), Some(3)]);
        assert_eq!(timing.offset_ps(3), 80);
    }

    #[test]
    fn stages_without_a_length_are_all_at_once() {
        let timing = PassTiming { first_stage_ps: 7, ..PassTiming::default() };
        assert_eq!([6, 7].map(|elapsed_ps| timing.stage_after(elapsed_ps)), [None, Some(u32::MAX)]);
        assert_eq!(timing.offset_ps(1000), 7);
    }

    #[test]
    fn the_longest_times_do_not_overflow() {
        let timing = PassTiming { stage_ps: u64::MAX, ..PassTiming::default() };
        assert_eq!(timing.offset_ps(2), u64::MAX);
        assert_eq!(timing.stage_after(u64::MAX), Some(1));
    }
}
