// SPDX-License-Identifier: Apache-2.0
//! Why a unit is not in an earlier stage. Computed from the layout alone, so it holds for any layouter.

use super::stages_of;
use crate::cost::{Excess, Model};
use crate::greedy::cluster::{Clusters, dependencies};
use crate::greedy::place::obstacles;
use crate::layout::Layout;
use crate::problem::{ArrayId, DependencyKind, Gress, Problem, UnitId};

/// What keeps a unit out of the stage before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// It is in the first stage.
    First,
    /// It waits for this one.
    After {
        /// For which.
        unit: UnitId,
        /// Why.
        kind: DependencyKind,
    },
    /// It sits with another unit, which could not sit earlier.
    With {
        /// The other.
        unit: UnitId,
        /// The array that both update; none if they share a stage for the sake of several arrays.
        array: Option<ArrayId>,
    },
    /// The stage before has no room.
    Full {
        /// The stage before.
        stage: u32,
        /// What is short there, if it goes where least is short.
        excess: Vec<Excess>,
    },
    /// Nothing: it could be moved a stage earlier.
    Free,
}

/// Reasons for one layout.
#[derive(Debug)]
pub struct Reasons<'a> {
    model: &'a Model<'a>,
    clusters: &'a Clusters,
    layout: &'a Layout,
    stage_of: Vec<Option<u32>>,
    before: Vec<Vec<(UnitId, DependencyKind)>>,
}

impl<'a> Reasons<'a> {
    /// For a layout of the model's problem.
    pub fn new(model: &'a Model<'a>, clusters: &'a Clusters, layout: &'a Layout) -> Reasons<'a> {
        let stage_of = stages_of(model.problem, layout);
        let before = waits(model.problem);
        Reasons { model, clusters, layout, stage_of, before }
    }

    /// Where a unit sits.
    pub fn stage(&self, unit: UnitId) -> Option<u32> {
        self.stage_of.get(unit.0 as usize).copied().flatten()
    }

    /// Why it does not sit earlier.
    pub fn why(&self, unit: UnitId) -> Why {
        let (Some(stage), Some(cluster)) =
            (self.stage(unit), self.clusters.of_unit.get(unit.0 as usize))
        else {
            return Why::Free;
        };
        if stage == 0 {
            return Why::First;
        }
        if let Some(why) = self.waits_for(unit, stage) {
            return why;
        }
        let cluster = &self.clusters.clusters[*cluster];
        let bound = cluster
            .units
            .iter()
            .find(|other| **other != unit && self.waits_for(**other, stage).is_some());
        if let Some(other) = bound {
            let group = |unit: UnitId| self.clusters.group_of_unit[unit.0 as usize];
            let array = (group(unit) == group(*other))
                .then(|| self.clusters.groups[group(unit)].array)
                .flatten();
            return Why::With { unit: *other, array };
        }
        let tables: Vec<(Gress, Vec<UnitId>)> = self
            .layout
            .stages
            .get(stage as usize - 1)
            .map(|stage| stage.tables.iter().map(|t| (t.gress, t.units.clone())).collect())
            .unwrap_or_default();
        let excess = obstacles(self.model, self.clusters, cluster, &tables);
        if excess.is_empty() { Why::Free } else { Why::Full { stage: stage - 1, excess } }
    }

    /// The unit of another cluster that keeps this one out of the stage before.
    fn waits_for(&self, unit: UnitId, stage: u32) -> Option<Why> {
        let cluster = |unit: UnitId| self.clusters.of_unit.get(unit.0 as usize);
        self.before
            .get(unit.0 as usize)?
            .iter()
            .filter(|(before, _)| cluster(*before) != cluster(unit))
            .filter(|(before, kind)| {
                self.stage(*before).is_some_and(|at| at + kind.distance() >= stage)
            })
            .max_by_key(|(before, kind)| (kind.distance(), std::cmp::Reverse(*before)))
            .map(|(before, kind)| Why::After { unit: *before, kind: *kind })
    }
}

fn waits(problem: &Problem) -> Vec<Vec<(UnitId, DependencyKind)>> {
    let mut before = vec![Vec::new(); problem.units.len()];
    for (first, then, kind) in dependencies(problem) {
        before[then.0 as usize].push((first, kind));
    }
    before
}
