// SPDX-License-Identifier: Apache-2.0
//! Gates of basic blocks: a guard where static branches since some earlier block decide whether the block runs, otherwise
//! the gateways and tables whose results it waits for.

use super::atom::{AtomId, Cell, Gate};
use super::walk::{Branch, Start, Walk};
use crate::guard::{Guard, GuardRule};
use std::collections::{BTreeMap, BTreeSet, HashMap};

impl Walk<'_, '_> {
    /// The gate of an atom at an instruction.
    pub fn gate_at(&mut self, block: usize, at: usize) -> Gate {
        let Some(start) = self.gates.get(&block).cloned() else { return Gate::default() };
        if at < start.stale_from || start.guard.is_none() {
            return Gate { after: start.after, guard: start.guard };
        }
        // A variable of the guard has changed by now: gateways where it still was what it was.
        let mut after = BTreeSet::new();
        for head in self.flow.deciders(block) {
            after.extend(self.decider(head));
        }
        Gate { after, guard: None }
    }

    /// Returns the atoms that decide a branch; a static branch gets a gateway.
    fn decider(&mut self, head: usize) -> BTreeSet<AtomId> {
        if let Some(known) = self.gateways.get(&head) {
            return known.clone();
        }
        let targets = match self.branches.get(&head) {
            Some(Branch::Dynamic(after)) => return after.clone(),
            Some(Branch::Static(targets)) => targets.clone(),
            None => return BTreeSet::new(),
        };
        let here = &self.flow.region.blocks[head];
        let (at, origin) = (here.instructions.len(), here.origin);
        let mut matches = BTreeMap::new();
        for variable in targets.iter().flat_map(|(_, guard)| guard.variables()) {
            matches.insert(self.variables.cell(variable), at);
        }
        let gateway = self.gateway((head, at), matches, BTreeSet::new(), origin);
        self.gateways.insert(head, gateway.clone());
        gateway
    }

    /// When a block runs.
    pub fn start_of(&mut self, block: usize) -> Start {
        let always =
            |root| Start { after: BTreeSet::new(), root, guard: None, stale_from: usize::MAX };
        let heads = self.flow.deciders(block);
        let entry = self.flow.order.first().copied().unwrap_or(0);
        if heads.is_empty() {
            return always(entry);
        }
        if let ([_], Some(Branch::Dynamic(after))) = (&heads[..], self.branches.get(&heads[0])) {
            return Start { after: after.clone(), ..always(block) };
        }
        if let Some(start) = self.static_start(block, &heads) {
            return start;
        }
        let mut after = BTreeSet::new();
        for head in heads {
            after.extend(self.decider(head));
        }
        Start { after, ..always(block) }
    }

    /// When only static branches since the same beginning decide.
    fn static_start(&self, block: usize, heads: &[usize]) -> Option<Start> {
        let first = self.gates.get(heads.first()?)?;
        for head in heads {
            let gate = self.gates.get(head)?;
            let is_static = matches!(self.branches.get(head), Some(Branch::Static(_)));
            if !is_static || gate.root != first.root || gate.after != first.after {
                return None;
            }
        }
        // Branches before the root belong to what the root waits for.
        let mut relevant = BTreeSet::new();
        let mut open: Vec<usize> = heads.to_vec();
        while let Some(head) = open.pop() {
            let inside = head == first.root || self.flow.reaches(first.root, head);
            if inside && relevant.insert(head) {
                open.extend(self.flow.deciders(head));
            }
        }
        let guard = self.guard_from(first.root, block, &relevant, &mut HashMap::new())?;
        let mut stale_from = usize::MAX;
        for variable in guard.variables() {
            let Cell::Location(location) = self.variables.cell(variable) else { continue };
            for &head in &relevant {
                let Some(Branch::Static(targets)) = self.branches.get(&head) else { continue };
                if !targets.iter().any(|(_, guard)| guard.variables().contains(&variable)) {
                    continue;
                }
                let between = (0..self.flow.rank.len()).any(|middle| {
                    self.flow.writes(middle).contains(&location)
                        && self.flow.reaches(head, middle)
                        && self.flow.reaches(middle, block)
                });
                if between {
                    stale_from = 0;
                }
            }
            if let Some(at) = self.flow.first_write(block, location) {
                stale_from = stale_from.min(at + 1);
            }
        }
        Some(Start { after: first.after.clone(), root: first.root, guard: Some(guard), stale_from })
    }

    /// The guard of reaching `target` from `at`, by the branches that matter.
    fn guard_from(
        &self,
        at: usize,
        target: usize,
        relevant: &BTreeSet<usize>,
        known: &mut HashMap<usize, Guard>,
    ) -> Option<Guard> {
        let mut current = at;
        loop {
            if current == target {
                return Some(Guard::always());
            }
            if !self.flow.reaches(current, target) {
                return Some(Guard::never());
            }
            if relevant.contains(&current) {
                break;
            }
            // This branch does not matter: follow any successor that leads to the target.
            let next = self.flow.region.blocks[current].terminator.successors();
            let next = next.into_iter().map(|it| it.index()).filter(|&next| {
                self.flow.rank[next] > self.flow.rank[current]
                    && (next == target || self.flow.reaches(next, target))
            });
            current = next.min_by_key(|next| self.flow.rank[*next])?;
        }
        if let Some(guard) = known.get(&current) {
            return Some(guard.clone());
        }
        let Some(Branch::Static(targets)) = self.branches.get(&current) else { return None };
        let mut result = Guard::never();
        for (next, condition) in targets.clone().into_iter().rev() {
            let then = self.guard_from(next, target, relevant, known)?;
            result = choose(&condition, &then, &result)?;
        }
        known.insert(current, result.clone());
        Some(result)
    }
}

/// The most rules of a guard; with more the decision is left to gateways.
pub(super) const MAX_RULES: usize = 64;

/// By a condition, one guard or the other.
pub(super) fn choose(condition: &Guard, then: &Guard, otherwise: &Guard) -> Option<Guard> {
    if condition.is_always() {
        return Some(then.clone());
    }
    if then == otherwise {
        return Some(then.clone());
    }
    let result = if let Some(result) = prefixed(condition, then, otherwise) {
        result
    } else if otherwise.rules.is_empty() {
        condition.and(then)
    } else {
        condition.and(then).or(&condition.negated().and(otherwise))
    };
    (result.rules.len() <= MAX_RULES).then_some(result)
}

/// The same for a condition of one rule that decides at once: the rule in front of the others.
fn prefixed(condition: &Guard, then: &Guard, otherwise: &Guard) -> Option<Guard> {
    let ([rule], true) = (&condition.rules[..], then.rules.is_empty() || then.is_always()) else {
        return None;
    };
    let runs = then.is_always();
    let is_apart = |other: &GuardRule| {
        rule.conditions.iter().any(|(variable, condition)| {
            let both = other.conditions.get(variable).map(|it| it.intersection(condition));
            both.is_some_and(|both| both.is_empty())
        })
    };
    if !rule.runs || rule.conditions.is_empty() {
        return None;
    }
    if !runs && otherwise.rules.iter().all(is_apart) {
        return Some(otherwise.clone());
    }
    let first = GuardRule { conditions: rule.conditions.clone(), runs };
    Some(Guard { rules: std::iter::once(first).chain(otherwise.rules.iter().cloned()).collect() })
}
