// SPDX-License-Identifier: Apache-2.0
//! What the group locals of a body can be, found without regard to order, and the numbers that tell
//! these groups apart.

use crate::normal::locals::bits_for;
use lucid::core::walk::{each_expression, each_statement, expressions};
use lucid::core::{
    Body, Constant, Expression, ExpressionKind, ExternId, LocalId, StatementKind, Type,
};
use std::collections::{BTreeSet, HashMap};

/// What a group can be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    /// These members, ascending.
    Members(Vec<u32>),
    /// The value of an extern.
    Extern(ExternId),
    /// All ports but one that is known when the handler runs.
    Flood,
}

/// What the group locals of a body can be.
#[derive(Debug)]
pub(super) struct Sources {
    of: HashMap<LocalId, BTreeSet<Source>>,
    /// The number of a source is its place here; the first is the empty group.
    numbered: Vec<Source>,
    /// Widest port of a flood in bits.
    pub(super) port_bits: u32,
}

/// Members as a group has them: ascending, each once.
pub(super) fn members(of: &[u32]) -> Vec<u32> {
    let mut members = of.to_vec();
    members.sort_unstable();
    members.dedup();
    members
}

impl Sources {
    pub(super) fn of(body: &Body) -> Sources {
        let empty = Source::Members(Vec::new());
        let mut of: HashMap<LocalId, BTreeSet<Source>> = HashMap::new();
        for (at, local) in body.locals.iter().enumerate() {
            if local.ty == Type::Group {
                // Before it is assigned it is empty.
                of.insert(LocalId(at as u32), [empty.clone()].into());
            }
        }
        let (mut port_bits, mut assignments, mut mentioned) = (1, Vec::new(), BTreeSet::new());
        each_statement(&body.statements, &mut |statement| {
            if let StatementKind::Assign { local, value, .. } = &statement.kind
                && value.ty == Type::Group
            {
                assignments.push((*local, value));
            }
            for expression in expressions(statement) {
                each_expression(expression, &mut |inner| {
                    mentioned.extend(source(inner));
                    if let ExpressionKind::Flood(port) = &inner.kind
                        && let Type::Int(width) = port.ty
                    {
                        port_bits = port_bits.max(width);
                    }
                });
            }
        });
        loop {
            let before: usize = of.values().map(BTreeSet::len).sum();
            for (local, value) in &assignments {
                let new = match &value.kind {
                    ExpressionKind::Local(from) => of.get(from).cloned().unwrap_or_default(),
                    _ => source(value).into_iter().collect(),
                };
                of.entry(*local).or_default().extend(new);
            }
            if of.values().map(BTreeSet::len).sum::<usize>() == before {
                break;
            }
        }
        mentioned.remove(&empty);
        let numbered = std::iter::once(empty).chain(mentioned).collect();
        Sources { of, numbered, port_bits }
    }

    /// What a local can be.
    pub(super) fn of_local(&self, local: LocalId) -> BTreeSet<Source> {
        self.of.get(&local).cloned().unwrap_or_default()
    }

    /// Width of the numbers in bits.
    pub(super) fn bits(&self) -> u32 {
        bits_for(self.numbered.len().saturating_sub(1))
    }

    /// The number of a group that is no local.
    pub(super) fn number(&self, value: &Expression) -> u128 {
        source(value).map_or(0, |source| self.number_of(&source))
    }

    pub(super) fn number_of(&self, source: &Source) -> u128 {
        self.numbered.iter().position(|one| one == source).map_or(0, |at| at as u128)
    }

    /// Whether a group may be an extern, whose members are known in the run only.
    pub(super) fn is_open(&self, value: &Expression) -> bool {
        match &value.kind {
            ExpressionKind::Local(local) => {
                let sources = self.of.get(local).into_iter().flatten();
                sources.into_iter().any(|source| matches!(source, Source::Extern(_)))
            }
            kind => matches!(kind, ExpressionKind::Extern(_)),
        }
    }
}

/// What a group is that is no local.
fn source(value: &Expression) -> Option<Source> {
    match &value.kind {
        ExpressionKind::Constant(Constant::Group(list)) => Some(Source::Members(members(list))),
        ExpressionKind::Extern(id) if value.ty == Type::Group => Some(Source::Extern(*id)),
        ExpressionKind::Flood(_) => Some(Source::Flood),
        _ => None,
    }
}
