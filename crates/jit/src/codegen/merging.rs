// SPDX-License-Identifier: Apache-2.0
//! Merging of control-flow paths: paths with equal header layout are merged, others are duplicated up to the
//! unit's code budget (tail duplication).

use super::function::FunctionCompiler;
use super::path::{ApplyFacts, Path, PathFacts};
use crate::unit::Condition;
use cranelift_codegen::ir::InstBuilder;
use ir::SlotId;

/// Facts that decide whether paths are merged: those with equal keys are.
#[derive(Default, PartialEq, Eq, PartialOrd, Ord)]
struct LayoutKey {
    cursor: Option<u32>,
    valid: Vec<Option<u64>>,
    stacks: Vec<Option<u64>>,
    flags: Vec<Option<u64>>,
    applied: ApplyFacts,
    leaves: bool,
}

impl FunctionCompiler<'_, '_> {
    /// Writes fields and copies to their variables or storage that can be read from the packet here but not
    /// under the facts `wanted`. Continues with these facts.
    pub fn materialize(&mut self, wanted: &PathFacts) {
        for (slot, _) in self.path.copies.clone() {
            if self.path.copy_of(slot) != wanted.copy_of(slot) {
                let value = self.load_slot(slot);
                self.write_location(slot, value);
            }
        }
        for at in 0..self.facts.field_of.len() {
            let slot = SlotId(at as u32);
            let is_moved = self.facts.field_of[at].is_some()
                && self.path.is_pristine(slot)
                && !wanted.is_pristine(slot);
            if is_moved {
                let value = self.load_slot(slot);
                self.write_location(slot, value);
            }
        }
        self.path = wanted.clone();
    }

    /// Facts that hold on all these paths.
    pub fn common_facts<'w>(paths: impl IntoIterator<Item = &'w Path>) -> Option<PathFacts> {
        let mut paths = paths.into_iter();
        let mut facts = paths.next()?.facts.clone();
        paths.for_each(|path| facts.intersect(&path.facts));
        Some(facts)
    }

    /// Merges paths.
    pub fn merged(&mut self, mut paths: Vec<Path>) -> Option<Path> {
        if paths.len() < 2 {
            return paths.pop();
        }
        let facts = Self::common_facts(&paths)?;
        let block = self.builder.create_block();
        for path in paths {
            self.enter(path);
            self.materialize(&facts);
            self.builder.ins().jump(block, &[]);
        }
        self.builder.seal_block(block);
        Some(Path { block, facts })
    }

    /// Merges paths with equal layout, and more of them when the budget does not allow as many.
    pub fn merged_by_layout(&mut self, paths: Vec<Path>) -> Vec<Path> {
        if paths.len() < 2 {
            return paths;
        }
        let allowed = if self.may_duplicate { self.budget.allowed(self.step) } else { 1 };
        let mut groups: Vec<(LayoutKey, Vec<Path>)> = Vec::new();
        for path in paths {
            let key = if allowed > 1 { self.layout_key(&path.facts) } else { LayoutKey::default() };
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, paths)) => paths.push(path),
                None => groups.push((key, vec![path])),
            }
        }
        if groups.len() > allowed {
            // Paths that leave the unit cost little. Of the others those that parsed most come first.
            groups.sort_by_key(|(key, _)| {
                (!key.leaves, std::cmp::Reverse(key.cursor.map_or(0, |cursor| cursor + 1)))
            });
            let others: Vec<Path> =
                groups.drain(allowed - 1..).flat_map(|(_, paths)| paths).collect();
            let mut joined: Vec<Path> =
                groups.into_iter().filter_map(|(_, paths)| self.merged(paths)).collect();
            joined.extend(self.merged(others));
            return joined;
        }
        groups.into_iter().filter_map(|(_, paths)| self.merged(paths)).collect()
    }

    /// Merges paths and continues there.
    pub fn continue_merged(&mut self, paths: Vec<Path>) {
        match self.merged(paths) {
            Some(path) => self.enter(path),
            None => self.begin_unreachable(),
        }
    }

    fn layout_key(&self, path: &PathFacts) -> LayoutKey {
        let number = |slot| path.number(self.facts, slot);
        let program = self.program;
        LayoutKey {
            cursor: path.cursor,
            valid: program.headers.iter().map(|header| number(header.valid_slot())).collect(),
            flags: self.facts.flags.iter().map(|slot| number(*slot)).collect(),
            applied: ApplyFacts {
                hit: path.applied.hit.filter(|_| self.used_results.hit),
                action: path.applied.action.filter(|_| self.used_results.action),
            },
            stacks: program.stacks.iter().map(|stack| number(stack.next)).collect(),
            leaves: self.budget.leaving.iter().any(|condition| self.surely_leaves(condition, path)),
        }
    }

    fn surely_leaves(&self, condition: &Condition, path: &PathFacts) -> bool {
        let number = |slot: &SlotId| path.number(self.facts, *slot);
        match condition {
            Condition::Always | Condition::Closed(_) => false,
            Condition::RequestsPending => self.facts.asks && path.requests == Some(true),
            Condition::Equals(slot, wanted) => number(slot) == Some(*wanted),
            Condition::Differs(slot, wanted) => number(slot).is_some_and(|it| it != *wanted),
            Condition::AtLeast(slot, least) => number(slot).is_some_and(|it| it >= *least),
        }
    }
}
