// SPDX-License-Identifier: Apache-2.0
//! Exact layout: the least number of stages, or a bound on it. A constraint solver assigns a stage to each cluster (units
//! that have to sit in one stage). `packing` then packs the clusters of each stage into tables with the cost model, because
//! cross products do not add up. Clusters that cannot be packed become a clause that holds for every stage, and the solver
//! runs again. The solver never sees tables, so its proofs hold for every merge.

mod model;
mod packing;

use crate::cost::Model;
use crate::greedy::{self, Clusters};
use crate::layout::{Layout, Optimality, PlacedTable, Stage};
use crate::problem::Problem;
use crate::target::HardwareModel;
use model::{Answer, StageModel};
use packing::{Packer, Packing};
use source::Diagnostics;
use std::collections::BTreeSet;

/// The state of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Stages of the best layout so far.
    pub stages: u32,
    /// A lower bound on the stages of every layout.
    pub at_least: u32,
    /// Assignments of stages that were tried.
    pub assignments: u64,
}

/// Steps of the solver that the first attempt at a number of stages gets.
const FIRST_BUDGET: u64 = 2_000;

/// Returns a layout with the fewest stages, or the best one when `stop` ends the search. The search calls `stop` often
/// and reads no clock. The result never has more stages than [`greedy::greedy`]'s.
/// When even the best does not fit the target, the diagnostics are those of the greedy layout.
pub fn exact(
    problem: &Problem,
    target: &HardwareModel,
    stop: &mut dyn FnMut(Progress) -> bool,
) -> Result<Layout, Diagnostics> {
    let fitting = greedy::greedy(problem, target);
    let start = match &fitting {
        Ok(layout) => layout.clone(),
        Err(_) => greedy::greedy_unlimited(problem, target)?,
    };
    let model = Model::new(problem, target);
    let Ok(clusters) = Clusters::of(problem) else { return fitting };
    let mut search = Search {
        packer: Packer::new(&model, &clusters),
        model: &model,
        clusters: &clusters,
        limit: fitting.as_ref().ok().map(|_| target.stages()),
        best: start,
        at_least: greedy::bound::least_stages(problem, target),
        assignments: 0,
        refuted: BTreeSet::new(),
        is_sure: true,
        stop,
    };
    search.run();
    let (mut best, at_least) = (search.best, search.at_least);
    best.optimality = match best.stages.len() as u32 <= at_least {
        true => Optimality::Optimal,
        false => Optimality::AtLeast(at_least),
    };
    match fitting {
        Ok(_) => Ok(best),
        // The greedy layout was too long; the exact one may fit.
        Err(diagnostics) if !crate::check::check(problem, target, &best).is_empty() => {
            Err(diagnostics)
        }
        Err(_) => Ok(best),
    }
}

struct Search<'a, 's> {
    model: &'a Model<'a>,
    clusters: &'a Clusters,
    packer: Packer<'a>,
    /// The target's stages, once a layout within them is known.
    limit: Option<u32>,
    best: Layout,
    at_least: u32,
    assignments: u64,
    /// Sets of clusters that no stage can take.
    refuted: BTreeSet<Vec<usize>>,
    /// Whether each refuted set is proved to be one.
    is_sure: bool,
    stop: &'s mut dyn FnMut(Progress) -> bool,
}

/// How an attempt ended.
enum Attempt {
    Found(Layout),
    /// There is none.
    Refuted,
    /// The budget is used up.
    Open,
    /// The caller does not want to wait any longer.
    Stopped,
}

impl Search<'_, '_> {
    fn stages(&self) -> u32 {
        self.best.stages.len() as u32
    }

    fn progress(&self) -> Progress {
        Progress { stages: self.stages(), at_least: self.at_least, assignments: self.assignments }
    }

    fn run(&mut self) {
        let mut budget = FIRST_BUDGET;
        while self.stages() > self.at_least {
            // From below, where a failure is a better bound, and from above, where a success is a
            // better layout; each gets longer until one of them ends it.
            let wanted = [self.at_least, self.stages() - 1];
            for (at, stages) in wanted.into_iter().enumerate() {
                if stages < self.at_least
                    || stages >= self.stages()
                    || (at == 1 && stages == wanted[0])
                {
                    continue;
                }
                match self.attempt(stages, budget) {
                    Attempt::Found(layout) => self.best = layout,
                    // With fewer stages there is none either.
                    Attempt::Refuted if self.is_sure => self.at_least = stages + 1,
                    // A search for a packing was given up, so the bound is not proved.
                    Attempt::Refuted if at == 1 || wanted[0] == wanted[1] => return,
                    Attempt::Refuted | Attempt::Open => {}
                    Attempt::Stopped => return,
                }
            }
            budget = budget.saturating_mul(2);
        }
    }

    /// Looks for a layout of at most that many stages.
    fn attempt(&mut self, stages: u32, budget: u64) -> Attempt {
        let Some(mut solver) = StageModel::new(self.model, self.clusters, stages) else {
            return Attempt::Refuted;
        };
        for set in &self.refuted {
            solver.forbid(set);
        }
        let mut left = budget;
        loop {
            let progress = self.progress();
            let mut is_stopped = false;
            let stop = &mut self.stop;
            let mut polls = 0u32;
            let answer = solver.next(&mut || {
                polls += 1;
                if polls % 256 == 1 && stop(progress) {
                    is_stopped = true;
                }
                left = left.saturating_sub(1);
                is_stopped || left == 0
            });
            let stage_of = match answer {
                Answer::Assigned(stage_of) => stage_of,
                Answer::None => return Attempt::Refuted,
                Answer::Unknown if is_stopped => return Attempt::Stopped,
                Answer::Unknown => return Attempt::Open,
            };
            self.assignments += 1;
            let progress = self.progress();
            if (self.stop)(progress) {
                return Attempt::Stopped;
            }
            match self.packed(&stage_of, stages) {
                Ok(layout) => return Attempt::Found(layout),
                Err(sets) => {
                    for set in sets {
                        solver.forbid(&set);
                        self.refuted.insert(set);
                    }
                }
            }
        }
    }

    /// Tables for each stage, or sets of clusters that cannot share a stage.
    fn packed(&mut self, stage_of: &[u32], stages: u32) -> Result<Layout, Vec<Vec<usize>>> {
        let mut tables: Vec<Stage> = Vec::new();
        let mut refuted = Vec::new();
        let progress = self.progress();
        let stop = &mut self.stop;
        let mut is_stopped = || stop(progress);
        for stage in 0..stages {
            let here: Vec<usize> =
                (0..stage_of.len()).filter(|at| stage_of[*at] == stage).collect();
            match self.packer.pack(&here, &mut is_stopped) {
                Packing::Tables(list) => tables.push(Stage { tables: list }),
                Packing::None => {
                    refuted.push(self.packer.smallest(&here, &mut is_stopped));
                }
                Packing::Unknown => {
                    self.is_sure = false;
                    refuted.push(here);
                }
            }
        }
        if !refuted.is_empty() {
            return Err(refuted);
        }
        while tables.last().is_some_and(|stage| stage.tables.is_empty()) {
            tables.pop();
        }
        for stage in &mut tables {
            stage.tables.sort_by_key(|table: &PlacedTable| table.units.first().copied());
        }
        let target = self.model.target.name.clone();
        let layout = Layout { target, stages: tables, optimality: Optimality::Unknown };
        let limited = match self.limit {
            Some(_) => crate::check::check(self.model.problem, self.model.target, &layout),
            None => {
                let wide = self.model.target.with_stages(stages.max(1));
                crate::check::check(self.model.problem, &wide, &layout)
            }
        };
        if limited.is_empty() {
            return Ok(layout);
        }
        // The checker counts by itself. Where it counts more, the assignment is not taken, and what is
        // proved is not sure.
        self.is_sure = false;
        let here = (0..stages).map(|stage| {
            (0..stage_of.len()).filter(|at| stage_of[*at] == stage).collect::<Vec<usize>>()
        });
        Err(here.filter(|set| !set.is_empty()).collect())
    }
}

#[cfg(test)]
mod tests;
