// SPDX-License-Identifier: Apache-2.0
//! Merging of control-flow paths: paths with equal header layout are merged, others go on in copies of the
//! code as long as the unit's budget lasts (tail duplication).

use super::function::FunctionCompiler;
use super::path::{Applied, Path, Way};
use crate::unit::Condition;
use cranelift_codegen::ir::InstBuilder;
use ir::SlotId;

/// What decides whether ways go on together.
#[derive(Default, PartialEq, Eq, PartialOrd, Ord)]
struct LayoutKey {
    cursor: Option<u32>,
    valid: Vec<Option<u64>>,
    stacks: Vec<Option<u64>>,
    flags: Vec<Option<u64>>,
    applied: Applied,
    leaves: bool,
}

impl FunctionCompiler<'_, '_> {
    /// Gives fields and copies a place outside the packet that are as in the packet here, but not wherever
    /// code goes on with `wanted`.
    pub fn settle(&mut self, wanted: &Path) {
        for (slot, _) in self.path.copies.clone() {
            if self.path.copy_of(slot) != wanted.copy_of(slot) {
                let value = self.load_slot(slot);
                self.write_home(slot, value);
            }
        }
        for at in 0..self.facts.field_of.len() {
            let slot = SlotId(at as u32);
            let is_moved = self.facts.field_of[at].is_some()
                && self.path.is_pristine(slot)
                && !wanted.is_pristine(slot);
            if is_moved {
                let value = self.load_slot(slot);
                self.write_home(slot, value);
            }
        }
        self.path = wanted.clone();
    }

    /// What is known wherever some ways lead.
    pub fn common<'w>(ways: impl IntoIterator<Item = &'w Way>) -> Option<Path> {
        let mut ways = ways.into_iter();
        let mut path = ways.next()?.path.clone();
        ways.for_each(|way| path.narrow(&way.path));
        Some(path)
    }

    /// Joins ways.
    pub fn joined(&mut self, mut ways: Vec<Way>) -> Option<Way> {
        if ways.len() < 2 {
            return ways.pop();
        }
        let path = Self::common(&ways)?;
        let block = self.builder.create_block();
        for way in ways {
            self.enter(way);
            self.settle(&path);
            self.builder.ins().jump(block, &[]);
        }
        self.builder.seal_block(block);
        Some(Way { block, path })
    }

    /// Joins ways that are alike, and more of them when there are too many.
    pub fn grouped(&mut self, ways: Vec<Way>) -> Vec<Way> {
        if ways.len() < 2 {
            return ways;
        }
        let allowed = if self.may_split { self.copies.allowed(self.step) } else { 1 };
        let mut groups: Vec<(LayoutKey, Vec<Way>)> = Vec::new();
        for way in ways {
            let key = if allowed > 1 { self.layout_key(&way.path) } else { LayoutKey::default() };
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, ways)) => ways.push(way),
                None => groups.push((key, vec![way])),
            }
        }
        if groups.len() > allowed {
            // Ways that leave cost little; of the others those that read most come first.
            groups.sort_by_key(|(key, _)| {
                (!key.leaves, std::cmp::Reverse(key.cursor.map_or(0, |cursor| cursor + 1)))
            });
            let others: Vec<Way> = groups.drain(allowed - 1..).flat_map(|(_, ways)| ways).collect();
            let mut joined: Vec<Way> =
                groups.into_iter().filter_map(|(_, ways)| self.joined(ways)).collect();
            joined.extend(self.joined(others));
            return joined;
        }
        groups.into_iter().filter_map(|(_, ways)| self.joined(ways)).collect()
    }

    /// Goes on where several ways meet.
    pub fn go_on_with(&mut self, ways: Vec<Way>) {
        match self.joined(ways) {
            Some(way) => self.enter(way),
            None => self.begin_dead(),
        }
    }

    fn layout_key(&self, path: &Path) -> LayoutKey {
        let number = |slot| path.number(self.facts, slot);
        let program = self.program;
        LayoutKey {
            cursor: path.cursor,
            valid: program.headers.iter().map(|header| number(header.valid_slot())).collect(),
            flags: self.facts.flags.iter().map(|slot| number(*slot)).collect(),
            applied: Applied {
                hit: path.applied.hit.filter(|_| self.tells_apart.0),
                action: path.applied.action.filter(|_| self.tells_apart.1),
            },
            stacks: program.stacks.iter().map(|stack| number(stack.next)).collect(),
            leaves: self.copies.leaving.iter().any(|condition| self.surely_leaves(condition, path)),
        }
    }

    fn surely_leaves(&self, condition: &Condition, path: &Path) -> bool {
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
