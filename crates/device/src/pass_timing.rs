// SPDX-License-Identifier: Apache-2.0
//! `PassTiming`: the times at which a timed pass accesses state, and the schedule that follows for a program's blocks.
//! `timed_run` runs timed passes.

use crate::output::LoadError;
use crate::pass::Gress;
use ir::Program;
use ir::moments::{self, Moments};
use std::collections::{BTreeMap, BTreeSet};

/// Times of the stages of a pass, alike for ingress and egress.
///
/// Each access belongs to a stage ([`ir::moments`]), counted from 0 in ingress and in egress. The time of an access is
/// the same for every packet, so packets reach each access in the order of their arrival. Ingress and egress end after
/// their last stage, or after [`crate::DeviceOptions::ingress_latency_ps`] or
/// [`crate::DeviceOptions::egress_latency_ps`] if that is later.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassTiming {
    /// Time from the begin of ingress or egress to stage 0, in picoseconds: the time of a parser, for example.
    pub first_stage_ps: u64,
    /// Time from one stage to the next, in picoseconds.
    pub stage_ps: u64,
    /// Stages of tables, registers, counters, meters, value sets and calculations, by control-plane name. Other objects
    /// are in the stage after the last one on any path to them.
    pub stages: BTreeMap<String, u32>,
}

impl PassTiming {
    /// Returns the begin of a stage after the begin of ingress or egress.
    pub(crate) fn offset_ps(&self, stage: u32) -> u64 {
        self.first_stage_ps.saturating_add(self.stage_ps.saturating_mul(u64::from(stage)))
    }

    /// Returns the last stage that has begun after `elapsed_ps`.
    pub(crate) fn stage_after(&self, elapsed_ps: u64) -> Option<u32> {
        let in_stages_ps = elapsed_ps.checked_sub(self.first_stage_ps)?;
        let stage = in_stages_ps.checked_div(self.stage_ps).unwrap_or(u64::MAX);
        Some(u32::try_from(stage).unwrap_or(u32::MAX))
    }
}

/// The schedule of ingress or of egress.
#[derive(Debug)]
pub(crate) struct HalfSchedule {
    /// The moments of each block, in the order of the blocks.
    pub moments: Vec<Moments>,
    /// The duration in picoseconds.
    pub duration_ps: u64,
}

/// The schedule of a program's passes.
#[derive(Debug)]
pub(crate) struct PassSchedule {
    pub timing: PassTiming,
    pub ingress: HalfSchedule,
    pub egress: HalfSchedule,
    /// Notes for users on what is slow.
    pub notes: Vec<String>,
}

impl PassSchedule {
    /// Makes the schedule of a program from the blocks and minimum durations of ingress and egress.
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
