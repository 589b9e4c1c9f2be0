// SPDX-License-Identifier: Apache-2.0
//! Which place in the packet each generated event takes: how many events the path to a `Generate`
//! generated before it. Exclusive paths share places. Changes nothing.

use lucid::core::walk::{blocks, deep};
use lucid::core::{Body, Statement, StatementKind};

/// How many events were generated before a `Generate`, by path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// On the path with the fewest.
    pub least: u32,
    /// On the path with the most. If this is `least`, the slot is known before the run; else a back
    /// end may count, or may give the event the slot `most` and leave those before it empty: no
    /// other `Generate` that can run in the same pass has `most` too.
    pub most: u32,
}

/// The slots of a body's `Generate` statements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GenerateSlots {
    /// In the order in which the statements stand in the body (`then` before `otherwise`, branches in
    /// order).
    pub slots: Vec<Slots>,
    /// Most events that a path generates: how many slots there are.
    pub most: u32,
    /// Fewest events that a path generates.
    pub least: u32,
}

/// Counts a body's generated events, path by path.
pub fn generate_slots(body: &Body) -> GenerateSlots {
    let mut slots = Vec::new();
    let end = count(&body.statements, Slots { least: 0, most: 0 }, &mut slots);
    GenerateSlots { slots, most: end.most, least: end.least }
}

/// What was generated after these statements if `before` was before them.
fn count(statements: &[Statement], before: Slots, found: &mut Vec<Slots>) -> Slots {
    let mut now = before;
    for statement in statements {
        if let StatementKind::Generate { .. } = statement.kind {
            found.push(now);
            now = Slots { least: now.least + 1, most: now.most + 1 };
            continue;
        }
        let blocks = blocks(statement);
        let Some((first, others)) = blocks.split_first() else { continue };
        let mut after = deep(|| count(first, now, found));
        let mut add = |end: Slots| {
            after = Slots { least: after.least.min(end.least), most: after.most.max(end.most) };
        };
        for block in others {
            add(deep(|| count(block, now, found)));
        }
        if may_pass_by(statement) {
            add(now);
        }
        now = after;
    }
    now
}

/// Whether a `Match` may take none of its branches.
pub(super) fn may_pass_by(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Match { branches, .. } => {
            !branches.iter().any(|branch| branch.patterns.iter().all(|pattern| pattern.mask == 0))
        }
        _ => false,
    }
}
