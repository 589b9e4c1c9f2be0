// SPDX-License-Identifier: Apache-2.0
//! What the constraint solver knows: a stage for each cluster, distances between them, what each takes
//! of its stage whatever else sits there, and sets that do not fit into one stage. Tables are not
//! known here.

use crate::cost::Model;
use crate::greedy::{Clusters, bound};
use crate::problem::{Gress, Resource};
use pumpkin_solver::Solver;
use pumpkin_solver::conflict_resolvers::resolvers::ResolutionResolver;
use pumpkin_solver::core::predicate;
use pumpkin_solver::core::results::{ProblemSolution, SatisfactionResult};
use pumpkin_solver::core::termination::TerminationCondition;
use pumpkin_solver::core::variables::{DomainId, TransformableVariable};
use std::collections::BTreeMap;

/// A constraint problem for one number of stages.
pub(super) struct StageModel {
    solver: Solver,
    resolver: ResolutionResolver,
    stage_of: Vec<DomainId>,
    stages: i32,
}

/// What the solver says.
pub(super) enum Answer {
    /// A stage for each cluster.
    Assigned(Vec<u32>),
    /// There is no such assignment.
    None,
    /// It was stopped.
    Unknown,
}

struct Until<'a>(&'a mut dyn FnMut() -> bool);

impl TerminationCondition for Until<'_> {
    fn should_stop(&mut self) -> bool {
        (self.0)()
    }
}

impl StageModel {
    /// Nothing when it is plain that there are too few stages.
    pub fn new(model: &Model<'_>, clusters: &Clusters, stages: u32) -> Option<StageModel> {
        let mut solver = Solver::default();
        let (depths, heights) = (clusters.depths(), clusters.heights());
        let target = model.target;
        let mut stage_of = Vec::new();
        for (at, cluster) in clusters.clusters.iter().enumerate() {
            let half = match cluster.gress {
                Gress::Ingress => target.ingress_stages,
                Gress::Egress => target.egress_stages,
            };
            // Beyond the target's stages a layout only tells how long it would be.
            let stages = if stages <= target.stages() { stages.min(half) } else { stages };
            let latest = stages.checked_sub(1 + heights[at])?;
            if latest < depths[at] {
                return None;
            }
            let (low, high) = (i32::try_from(depths[at]).ok()?, i32::try_from(latest).ok()?);
            stage_of.push(solver.new_bounded_integer(low, high));
        }
        for (at, cluster) in clusters.clusters.iter().enumerate() {
            for &(after, distance) in &cluster.after {
                let tag = solver.new_constraint_tag();
                let terms = vec![stage_of[at].scaled(1), stage_of[after].scaled(-1)];
                let distance = i32::try_from(distance).ok()?;
                let order = pumpkin_solver::less_than_or_equals(terms, -distance, tag);
                solver.add_constraint(order).post();
            }
        }
        let halves: Vec<Vec<usize>> = if target.shared {
            vec![(0..stage_of.len()).collect()]
        } else {
            let of = |gress| {
                (0..stage_of.len()).filter(|at| clusters.clusters[*at].gress == gress).collect()
            };
            vec![of(Gress::Ingress), of(Gress::Egress)]
        };
        let least: Vec<BTreeMap<Resource, u64>> =
            (0..stage_of.len()).map(|at| bound::least_demand(model, clusters, at)).collect();
        for half in halves {
            for (resource, limit) in capacities(model) {
                let takers: Vec<(usize, u64)> =
                    half.iter().filter_map(|at| Some((*at, *least[*at].get(&resource)?))).collect();
                let all: u64 =
                    takers.iter().map(|(_, amount)| *amount).fold(0, u64::saturating_add);
                if all <= limit {
                    continue;
                }
                if takers.iter().any(|(_, amount)| *amount > limit) {
                    return None;
                }
                let tag = solver.new_constraint_tag();
                let cumulative = pumpkin_solver::cumulative(
                    takers.iter().map(|(at, _)| stage_of[*at]).collect::<Vec<_>>(),
                    vec![1; takers.len()],
                    takers
                        .iter()
                        .map(|(_, amount)| i32::try_from(*amount).ok())
                        .collect::<Option<Vec<i32>>>()?,
                    i32::try_from(limit).ok()?,
                    tag,
                );
                solver.add_constraint(cumulative).post();
            }
        }
        let stages = i32::try_from(stages).ok()?;
        Some(StageModel { solver, resolver: ResolutionResolver::default(), stage_of, stages })
    }

    /// No stage has all of these.
    pub fn forbid(&mut self, set: &[usize]) {
        for stage in 0..self.stages {
            if set.iter().any(|at| !self.solver.contains(&self.stage_of[*at], stage)) {
                continue;
            }
            let tag = self.solver.new_constraint_tag();
            let clause: Vec<_> = set
                .iter()
                .map(|at| {
                    let variable = self.stage_of[*at];
                    predicate!(variable != stage)
                })
                .collect();
            self.solver.add_clause(clause, tag);
        }
    }

    /// An assignment that nothing forbids.
    pub fn next(&mut self, stop: &mut dyn FnMut() -> bool) -> Answer {
        if self.solver.is_inconsistent() {
            return Answer::None;
        }
        let mut brancher = self.solver.default_brancher();
        let result = self.solver.satisfy(&mut brancher, &mut Until(stop), &mut self.resolver);
        match result {
            SatisfactionResult::Satisfiable(found) => {
                let solution = found.solution();
                let stages = self.stage_of.iter().map(|variable| {
                    u32::try_from(solution.get_integer_value(*variable)).unwrap_or(0)
                });
                Answer::Assigned(stages.collect())
            }
            SatisfactionResult::Unsatisfiable(..) => Answer::None,
            SatisfactionResult::Unknown(..) => Answer::Unknown,
        }
    }
}

/// What a stage has of each resource, and what its tables have together of what only tables limit.
fn capacities(model: &Model<'_>) -> BTreeMap<Resource, u64> {
    let target = model.target;
    let mut capacities = target.stage.clone();
    if let Some(&tables) = target.stage.get(&Resource::Tables) {
        for (resource, limit) in &target.table {
            let all = limit.saturating_mul(tables);
            let known = capacities.entry(*resource).or_insert(all);
            *known = (*known).min(all);
        }
    }
    capacities
}
