// SPDX-License-Identifier: Apache-2.0
//! Packs clusters into one stage: a search distributes groups that may merge over tables, exhaustively up to a limit of
//! steps. Costs only grow with more groups, so a search drops a partial packing that exceeds a limit.

use crate::cost::{self, Model, TableCost};
use crate::greedy::{Clusters, Group};
use crate::layout::PlacedTable;
use crate::problem::{DependencyKind, Gress, Problem, Resource, UnitId};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// Steps of one search.
const STEPS: u32 = 20_000;
/// Steps of a search that reduces a known conflict.
const REDUCTION_STEPS: u32 = 500;

/// Steps between two calls of `stop`.
const STEPS_PER_POLL: u32 = 64;

/// Asks the caller whether to stop.
pub(super) type Stop<'a> = &'a mut dyn FnMut() -> bool;

/// The result of packing a stage.
pub(super) enum Packing {
    /// A packing.
    Tables(Vec<PlacedTable>),
    /// No packing exists.
    None,
    /// The steps were used up.
    Unknown,
}

/// Packs stages of one problem.
pub(super) struct Packer<'a> {
    model: &'a Model<'a>,
    clusters: &'a Clusters,
    costs: HashMap<Vec<UnitId>, Option<Rc<TableCost>>>,
    successors: BTreeSet<(UnitId, UnitId)>,
    /// Units that some other unit may not share a table with.
    paired: BTreeSet<UnitId>,
    known: HashMap<Vec<usize>, Known>,
}

#[derive(Clone)]
enum Known {
    Tables(Vec<PlacedTable>),
    None,
}

/// A table under construction.
#[derive(Clone)]
struct Open {
    gress: Gress,
    units: Vec<UnitId>,
    cost: Rc<TableCost>,
}

impl<'a> Packer<'a> {
    /// Creates a packer with empty caches.
    pub fn new(model: &'a Model<'a>, clusters: &'a Clusters) -> Packer<'a> {
        let successors = successors(model.problem);
        let paired = successors.iter().flat_map(|(one, other)| [*one, *other]).collect();
        let (costs, known) = (HashMap::new(), HashMap::new());
        Packer { model, clusters, costs, successors, paired, known }
    }

    /// Packs these clusters into one stage.
    pub fn pack(&mut self, clusters: &[usize], stop: Stop<'_>) -> Packing {
        self.pack_within(clusters, STEPS, stop)
    }

    /// Some of these clusters that no stage can take together; all of them when nothing smaller is
    /// found soon.
    pub fn smallest(&mut self, clusters: &[usize], stop: Stop<'_>) -> Vec<usize> {
        let mut set = clusters.to_vec();
        let mut at = 0;
        while at < set.len() && !stop() {
            let mut fewer = set.clone();
            fewer.remove(at);
            match self.pack_within(&fewer, REDUCTION_STEPS, stop) {
                Packing::None => set = fewer,
                _ => at += 1,
            }
        }
        set
    }

    fn pack_within(&mut self, clusters: &[usize], steps: u32, stop: Stop<'_>) -> Packing {
        match self.known.get(clusters) {
            Some(Known::Tables(tables)) => return Packing::Tables(tables.clone()),
            Some(Known::None) => return Packing::None,
            None => {}
        }
        let groups: Vec<&'a Group> = clusters
            .iter()
            .flat_map(|at| &self.clusters.clusters[*at].groups)
            .map(|group| &self.clusters.groups[*group])
            .collect();
        let mut tables: Vec<Open> = Vec::new();
        for group in groups.iter().filter(|group| !group.may_merge) {
            let Some(cost) = self.cost(&group.units) else { return self.refused(clusters) };
            tables.push(Open { gress: group.gress, units: group.units.clone(), cost });
        }
        let fixed = tables.len();
        if !self.fits(&tables) {
            return self.refused(clusters);
        }
        let mut free: Vec<&'a Group> = groups.into_iter().filter(|group| group.may_merge).collect();
        // The demanding ones first; those with like conditions after one another.
        free.sort_by_cached_key(|group| {
            let variables: BTreeSet<_> =
                group.units.iter().flat_map(|id| self.unit_variables(*id)).collect();
            let rules = &self.model.problem.units[group.units[0].0 as usize].guard.rules;
            let variables = (std::cmp::Reverse(variables.len()), variables);
            (group.array.is_none(), variables, rules.clone(), group.units[0])
        });
        let mut left = steps;
        match self.place(&free, &mut tables, (fixed, None), (&mut left, stop)) {
            Some(true) => {
                let tables: Vec<PlacedTable> = tables
                    .into_iter()
                    .map(|table| PlacedTable { gress: table.gress, units: table.units })
                    .collect();
                self.known.insert(clusters.to_vec(), Known::Tables(tables.clone()));
                Packing::Tables(tables)
            }
            Some(false) => self.refused(clusters),
            None => Packing::Unknown,
        }
    }

    fn refused(&mut self, clusters: &[usize]) -> Packing {
        self.known.insert(clusters.to_vec(), Known::None);
        Packing::None
    }

    fn unit_variables(&self, id: UnitId) -> BTreeSet<crate::guard::VariableId> {
        self.model.problem.units[id.0 as usize].guard.variables()
    }

    /// Places the rest; nothing when the steps are used up.
    fn place(
        &mut self,
        rest: &[&Group],
        tables: &mut Vec<Open>,
        (fixed, last): (usize, Option<(&Group, usize)>),
        (left, stop): (&mut u32, Stop<'_>),
    ) -> Option<bool> {
        let Some((group, rest)) = rest.split_first() else { return Some(true) };
        if *left == 0 || (*left % STEPS_PER_POLL == 0 && stop()) {
            return None;
        }
        *left -= 1;
        // Groups that are alike could change places: only one of their orders is tried.
        let first = match last {
            Some((other, at)) if self.are_alike(other, group) => at,
            _ => fixed,
        };
        // Each table that takes it, the one that grows least first, then a new one.
        let mut choices: Vec<(u64, usize, Open)> = Vec::new();
        for (at, table) in tables.iter().enumerate().skip(first) {
            if table.gress != group.gress || !self.may_share(&table.units, group) {
                continue;
            }
            let mut units = table.units.clone();
            units.extend(&group.units);
            units.sort_unstable();
            if let Some(cost) = self.cost(&units) {
                let growth = self.size(&cost).saturating_sub(self.size(&table.cost));
                choices.push((growth, at, Open { gress: group.gress, units, cost }));
            }
        }
        choices.sort_by_key(|(growth, at, _)| (*growth, *at));
        if let Some(cost) = self.cost(&group.units) {
            let alone = Open { gress: group.gress, units: group.units.clone(), cost };
            choices.push((0, tables.len(), alone));
        }
        for (_, at, table) in choices {
            let before = if at < tables.len() {
                Some(std::mem::replace(&mut tables[at], table))
            } else {
                tables.push(table);
                None
            };
            let placed = match self.fits(tables) {
                true => {
                    let last = Some((*group, at));
                    self.place(rest, tables, (fixed, last), (&mut *left, &mut *stop))
                }
                false => Some(false),
            };
            match placed {
                Some(false) => {}
                done => return done,
            }
            match before {
                Some(before) => tables[at] = before,
                None => {
                    tables.pop();
                }
            }
        }
        Some(false)
    }

    /// Whether two groups differ in nothing that matters to a table.
    fn are_alike(&self, one: &Group, other: &Group) -> bool {
        let ([first], [second]) = (&one.units[..], &other.units[..]) else { return false };
        let units = &self.model.problem.units;
        let (left, right) = (&units[first.0 as usize], &units[second.0 as usize]);
        let is_free = |unit: &UnitId| !self.paired.contains(unit);
        left.array.is_none()
            && right.array.is_none()
            && left.gress == right.gress
            && left.guard == right.guard
            && left.demand == right.demand
            && is_free(first)
            && is_free(second)
    }

    /// What matters of a cost when it is asked which table grows least.
    fn size(&self, cost: &TableCost) -> u64 {
        let of = |resource| cost.demand.get(&resource).copied().unwrap_or(0);
        of(Resource::Entries) * 4 + of(Resource::MatchBits) + of(Resource::TcamBlocks) * 64
    }

    /// The cost of a table; nothing if no table can be like that.
    fn cost(&mut self, units: &[UnitId]) -> Option<Rc<TableCost>> {
        if let Some(known) = self.costs.get(units) {
            return known.clone();
        }
        let cost = self.model.table(units);
        let fits = cost::table_excess(self.model.target, &cost).is_empty();
        let cost = fits.then(|| Rc::new(cost));
        self.costs.insert(units.to_vec(), cost.clone());
        cost
    }

    fn fits(&self, tables: &[Open]) -> bool {
        let target = self.model.target;
        let within = |gress: Option<Gress>| {
            let here = tables.iter().filter(|table| gress.is_none_or(|it| it == table.gress));
            cost::stage_excess(target, here.map(|table| &*table.cost)).is_empty()
        };
        if target.shared {
            within(None)
        } else {
            within(Some(Gress::Ingress)) && within(Some(Gress::Egress))
        }
    }

    fn may_share(&self, units: &[UnitId], group: &Group) -> bool {
        let pairs =
            units.iter().flat_map(|one| group.units.iter().map(move |other| (*one, *other)));
        !pairs.into_iter().any(|(one, other)| {
            self.successors.contains(&(one, other)) || self.successors.contains(&(other, one))
        })
    }
}

/// Pairs that may share a stage and no table.
fn successors(problem: &Problem) -> BTreeSet<(UnitId, UnitId)> {
    let list = problem.dependencies.iter();
    list.filter(|each| each.kind == DependencyKind::Successor)
        .map(|each| (each.before, each.after))
        .collect()
}
