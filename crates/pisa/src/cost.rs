// SPDX-License-Identifier: Apache-2.0
//! Resources that tables take: of a table's own limits, of an array's, and of their stage's. [`crate::check`] computes
//! them a second time, with code of its own.

mod model;

pub use model::Model;

use crate::guard::VariableId;
use crate::problem::{ArrayId, Problem, Resource, UnitId};
use crate::target::{HardwareModel, Limits, Scope};
use std::collections::BTreeMap;

/// Amounts by resource; a resource that is not in it has the amount 0.
pub type Demand = BTreeMap<Resource, u64>;

/// The resources of one table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableCost {
    /// Of the table's limits and of its stage's. The match bits of a stage are not the sum: see
    /// [`stage`].
    pub demand: Demand,
    /// Of each of its arrays' limits.
    pub arrays: BTreeMap<ArrayId, Demand>,
    /// The matched variables.
    pub matched: BTreeMap<VariableId, MatchedBits>,
    /// Rules of the cross product, where its rules are static. If they are more than the target's
    /// limit, the limit and one.
    pub rules: u64,
}

/// Bits of a variable that the match memories see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatchedBits {
    /// By exact match.
    pub exact: u64,
    /// In TCAM; ranges count as often as the target says.
    pub ternary: u64,
}

/// That a limit is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Excess {
    /// Whose limit.
    pub scope: Scope,
    /// Of what.
    pub resource: Resource,
    /// So much is taken. For static entries: at least.
    pub needed: u64,
    /// So much there is.
    pub limit: u64,
    /// The array, if it is an array's limit.
    pub array: Option<ArrayId>,
}

/// What a table of these units takes. To ask for many tables of one problem, keep a [`Model`].
pub fn table(problem: &Problem, target: &HardwareModel, units: &[UnitId]) -> TableCost {
    Model::new(problem, target).table(units)
}

/// What a stage with these tables takes (of one gress, where stages are not shared): the sum, but
/// a bit of the match crossbars serves all tables that match on it.
pub fn stage<'a>(tables: impl IntoIterator<Item = &'a TableCost>) -> Demand {
    let mut demand = Demand::new();
    let mut matched: BTreeMap<VariableId, MatchedBits> = BTreeMap::new();
    for table in tables {
        for (resource, amount) in &table.demand {
            let sum = demand.entry(*resource).or_default();
            *sum = sum.saturating_add(*amount);
        }
        for (variable, bits) in &table.matched {
            let all = matched.entry(*variable).or_default();
            all.exact = all.exact.max(bits.exact);
            all.ternary = all.ternary.max(bits.ternary);
        }
    }
    let exact = matched.values().map(|bits| bits.exact).sum();
    let ternary = matched.values().map(|bits| bits.ternary).sum();
    let both = matched.values().map(|bits| bits.exact.max(bits.ternary)).sum();
    set(&mut demand, Resource::ExactMatchBits, exact);
    set(&mut demand, Resource::TernaryMatchBits, ternary);
    set(&mut demand, Resource::MatchBits, both);
    demand
}

/// Which limits of a table and of its arrays it passes.
pub fn table_excess(target: &HardwareModel, cost: &TableCost) -> Vec<Excess> {
    let mut list = excess(Scope::Table, None, &target.table, &cost.demand);
    for (array, demand) in &cost.arrays {
        list.extend(excess(Scope::Array, Some(*array), &target.array, demand));
    }
    list
}

/// Which limits of a stage a stage with these tables passes.
pub fn stage_excess<'a>(
    target: &HardwareModel,
    tables: impl IntoIterator<Item = &'a TableCost>,
) -> Vec<Excess> {
    excess(Scope::Stage, None, &target.stage, &stage(tables))
}

fn excess(scope: Scope, array: Option<ArrayId>, limits: &Limits, demand: &Demand) -> Vec<Excess> {
    limits
        .iter()
        .filter_map(|(&resource, &limit)| {
            let needed = demand.get(&resource).copied().unwrap_or(0);
            (needed > limit).then_some(Excess { scope, resource, needed, limit, array })
        })
        .collect()
}

fn set(demand: &mut Demand, resource: Resource, amount: u64) {
    if amount > 0 {
        demand.insert(resource, amount);
    } else {
        demand.remove(&resource);
    }
}

#[cfg(test)]
mod tests;
