// SPDX-License-Identifier: Apache-2.0
//! Places clusters one by one, each in the earliest stage that dependencies and resources allow. The number of stages is
//! not limited here; `greedy` compares it with the target's.

use super::cluster::{Cluster, Clusters, Group, dependencies};
use crate::cost::{self, Demand, Excess, Model, TableCost};
use crate::problem::{DependencyKind, Gress, Resource, UnitId};
use std::collections::BTreeSet;

/// Which table a unit goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    /// One that is there, the one that grows least; a new one if none has room.
    Merge,
    /// The one that grows least, a new one counted alike.
    LeastGrowth,
    /// A new one; one that is there if the stage has no room for more.
    Spread,
}

/// A table that is being filled.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) gress: Gress,
    /// Ascending.
    pub(super) units: Vec<UnitId>,
    pub(super) cost: TableCost,
    may_merge: bool,
}

/// A stage that is being filled.
#[derive(Clone, Debug, Default)]
pub(super) struct Filling {
    pub(super) tables: Vec<Table>,
}

/// All stages.
#[derive(Clone, Debug, Default)]
pub(super) struct Placement {
    pub(super) stages: Vec<Filling>,
}

/// A cluster that an empty stage cannot take, with what it lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stuck {
    pub(super) cluster: usize,
    pub(super) excess: Vec<Excess>,
}

/// Takes clusters in this order. If some are too large for a stage of their own, all those.
pub(super) fn place(
    model: &Model<'_>,
    clusters: &Clusters,
    order: &[usize],
    policy: Policy,
) -> Result<Placement, Vec<Stuck>> {
    let mut placer = Placer::new(model, policy);
    let mut placement = Placement::default();
    let mut stage_of: Vec<usize> = vec![0; clusters.clusters.len()];
    let mut stuck = Vec::new();
    for &index in order {
        let cluster = &clusters.clusters[index];
        let earliest = cluster
            .before
            .iter()
            .map(|(before, distance)| stage_of[*before] + *distance as usize)
            .max()
            .unwrap_or(0);
        let mut stage = earliest;
        loop {
            if stage >= placement.stages.len() {
                let mut fresh = Filling::default();
                if let Err(excess) = placer.put(&mut fresh, clusters, cluster) {
                    stuck.push(Stuck { cluster: index, excess });
                } else {
                    placement.stages.resize_with(stage, Filling::default);
                    placement.stages.push(fresh);
                }
                break;
            }
            if placer.put(&mut placement.stages[stage], clusters, cluster).is_ok() {
                break;
            }
            stage += 1;
        }
        stage_of[index] = stage;
    }
    if stuck.is_empty() { Ok(placement) } else { Err(stuck) }
}

/// What keeps a cluster out of a stage that holds these tables; nothing if it fits.
pub(crate) fn obstacles(
    model: &Model<'_>,
    clusters: &Clusters,
    cluster: &Cluster,
    tables: &[(Gress, Vec<UnitId>)],
) -> Vec<Excess> {
    let mut filling = Filling::default();
    for (gress, units) in tables {
        let may_merge = units.iter().all(|unit| model.problem.units[unit.0 as usize].may_merge());
        let (gress, units, cost) = (*gress, units.clone(), model.table(units));
        filling.tables.push(Table { gress, units, cost, may_merge });
    }
    Placer::new(model, Policy::Merge).put(&mut filling, clusters, cluster).err().unwrap_or_default()
}

struct Placer<'a> {
    model: &'a Model<'a>,
    policy: Policy,
    /// Pairs that may not share a table though they may share a stage.
    successors: BTreeSet<(UnitId, UnitId)>,
}

impl<'a> Placer<'a> {
    fn new(model: &'a Model<'a>, policy: Policy) -> Placer<'a> {
        let successors = dependencies(model.problem)
            .filter(|(_, _, kind)| *kind == DependencyKind::Successor)
            .map(|(before, after, _)| (before, after))
            .collect();
        Placer { model, policy, successors }
    }

    /// Puts all groups of a cluster into a stage, or leaves it as it was and says what it lacks.
    fn put(
        &mut self,
        filling: &mut Filling,
        clusters: &Clusters,
        cluster: &Cluster,
    ) -> Result<(), Vec<Excess>> {
        let undo = (cluster.groups.len() > 1).then(|| filling.tables.clone());
        for group in &cluster.groups {
            if let Err(excess) = self.put_group(filling, &clusters.groups[*group]) {
                if let Some(tables) = undo {
                    filling.tables = tables;
                }
                return Err(excess);
            }
        }
        Ok(())
    }

    fn put_group(&self, filling: &mut Filling, group: &Group) -> Result<(), Vec<Excess>> {
        let least = self.least(group);
        let mut best: Option<(f64, Option<usize>, Table)> = None;
        // The message is about the attempt that lacks least.
        let mut nearest: Option<Vec<Excess>> = None;
        let mut failed = |excess: Vec<Excess>| {
            if nearest.as_ref().is_none_or(|other| badness(&excess) < badness(other)) {
                nearest = Some(excess);
            }
        };
        let merged = (0..filling.tables.len()).map(Some);
        let places: Vec<Option<usize>> = match self.policy {
            Policy::Spread => std::iter::once(None).chain(merged).collect(),
            _ => merged.chain(std::iter::once(None)).collect(),
        };
        for place in places {
            let units = match place {
                Some(at) => {
                    let table = &filling.tables[at];
                    if !self.may_share(table, group) {
                        continue;
                    }
                    // Sums alone often say no, without a cross product.
                    let quick = self.sums_exceed(&table.cost.demand, &least);
                    if !quick.is_empty() {
                        failed(quick);
                        continue;
                    }
                    let mut units = table.units.clone();
                    units.extend(&group.units);
                    units.sort_unstable();
                    units
                }
                None => match self.policy {
                    Policy::Merge if best.is_some() => continue,
                    _ => group.units.clone(),
                },
            };
            let cost = self.model.table(&units);
            let mut excess = cost::table_excess(self.model.target, &cost);
            excess.extend(self.stage_excess(filling, place, group.gress, &cost));
            if !excess.is_empty() {
                failed(excess);
                continue;
            }
            let growth = self.growth(place.map(|at| &filling.tables[at].cost), &cost);
            if best.as_ref().is_none_or(|(other, ..)| growth < *other) {
                let may_merge = group.may_merge;
                let table = Table { gress: group.gress, units, cost, may_merge };
                best = Some((growth, place, table));
            }
            if self.policy == Policy::Spread {
                break;
            }
        }
        match best {
            Some((_, Some(at), table)) => filling.tables[at] = table,
            Some((_, None, table)) => filling.tables.push(table),
            None => return Err(nearest.unwrap_or_default()),
        }
        Ok(())
    }

    fn may_share(&self, table: &Table, group: &Group) -> bool {
        table.may_merge
            && group.may_merge
            && table.gress == group.gress
            && !table.units.iter().any(|one| {
                group.units.iter().any(|other| {
                    self.successors.contains(&(*one, *other))
                        || self.successors.contains(&(*other, *one))
                })
            })
    }

    /// What a group adds to any table at least.
    fn least(&self, group: &Group) -> Demand {
        let mut demand = Demand::new();
        for unit in group.units.iter().filter_map(|id| self.model.problem.units.get(id.0 as usize))
        {
            for (resource, amount) in &unit.demand {
                let sum = demand.entry(*resource).or_default();
                *sum = sum.saturating_add(*amount);
            }
        }
        if group.array.is_some() {
            *demand.entry(Resource::StatefulAlus).or_default() += 1;
        }
        demand
    }

    fn sums_exceed(&self, table: &Demand, least: &Demand) -> Vec<Excess> {
        let limits = &self.model.target.table;
        least
            .iter()
            .filter_map(|(&resource, amount)| {
                let limit = *limits.get(&resource)?;
                let needed = table.get(&resource).copied().unwrap_or(0).saturating_add(*amount);
                let scope = crate::target::Scope::Table;
                (needed > limit).then_some(Excess { scope, resource, needed, limit, array: None })
            })
            .collect()
    }

    fn stage_excess(
        &self,
        filling: &Filling,
        place: Option<usize>,
        gress: Gress,
        cost: &TableCost,
    ) -> Vec<Excess> {
        let shared = self.model.target.shared;
        let others = filling
            .tables
            .iter()
            .enumerate()
            .filter(|(at, table)| Some(*at) != place && (shared || table.gress == gress))
            .map(|(_, table)| &table.cost);
        cost::stage_excess(self.model.target, others.chain(std::iter::once(cost)))
    }

    /// How much more of the stage it takes: the sum over resources of parts of their limits.
    fn growth(&self, before: Option<&TableCost>, after: &TableCost) -> f64 {
        let target = self.model.target;
        let part = |resource: &Resource, limit: u64| {
            let of = |cost: &TableCost| cost.demand.get(resource).copied().unwrap_or(0);
            let more = of(after).saturating_sub(before.map_or(0, of));
            more as f64 / limit.max(1) as f64
        };
        let stage: f64 = target.stage.iter().map(|(resource, limit)| part(resource, *limit)).sum();
        let entries = part(&Resource::Entries, target.entries_limit());
        stage + entries
    }
}

/// How far over the limits, relative to them.
fn badness(excess: &[Excess]) -> u64 {
    excess
        .iter()
        .map(|each| (each.needed - each.limit).saturating_mul(1000) / each.limit.max(1) + 1)
        .fold(0, u64::saturating_add)
}
