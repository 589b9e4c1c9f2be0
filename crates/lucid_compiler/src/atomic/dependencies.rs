// SPDX-License-Identifier: Apache-2.0
//! What has to wait for what, by data flow alone (Lucid §6.2): reading after writing, writing after
//! reading, writing after writing, unless the two never both run. Random numbers of a pass are drawn in
//! the source's order, since schedules list them so. Orders that branches gave are gone: they are in the
//! guards.

use super::program::{AtomicProgram, Operation, Statement, StatementId};
use pisa::guard::exclusive;
use pisa::{Dependency, DependencyKind, UnitId, VariableId};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What one statement does to a variable.
#[derive(Clone, Copy, Debug, Default)]
struct Uses {
    matches: bool,
    reads: bool,
    writes: bool,
}

/// Dependencies between the statements of a program; units have the numbers of statements.
pub fn dependencies(program: &AtomicProgram) -> Vec<Dependency> {
    let mut by_variable: BTreeMap<VariableId, BTreeMap<usize, Uses>> = BTreeMap::new();
    for (at, statement) in program.statements.iter().enumerate() {
        let mut uses = |id: VariableId, note: fn(&mut Uses)| {
            note(by_variable.entry(id).or_default().entry(at).or_default());
        };
        for id in statement.guard.variables() {
            uses(id, |uses| uses.matches = true);
        }
        for id in program.reads(statement) {
            // A table of the program matches on its key.
            match is_key(&statement.operation, id) {
                true => uses(id, |uses| uses.matches = true),
                false => uses(id, |uses| uses.reads = true),
            }
        }
        for id in statement.operation.writes() {
            uses(id, |uses| uses.writes = true);
        }
    }
    let mut exclusion = Exclusion { program, known: HashMap::new() };
    let mut found: BTreeMap<(usize, usize), DependencyKind> = BTreeMap::new();
    for uses in by_variable.values() {
        let writers: BTreeSet<usize> =
            uses.iter().filter(|(_, uses)| uses.writes).map(|(at, _)| *at).collect();
        for writer in writers {
            for (other, of) in uses {
                let (before, after) = (writer.min(*other), writer.max(*other));
                if before == after || (of.writes && *other < writer) {
                    continue;
                }
                let Some(kind) = kind(program, writer, *other, *of) else { continue };
                if exclusion.both_run(before, after) {
                    let known = found.entry((before, after)).or_insert(kind);
                    *known = stronger(*known, kind);
                }
            }
        }
    }
    let draws: Vec<usize> =
        (0..program.statements.len()).filter(|at| is_draw(&program.statements[*at])).collect();
    for (number, after) in draws.iter().enumerate() {
        for before in &draws[..number] {
            if exclusion.both_run(*before, *after) {
                // The same stage will do.
                found.entry((*before, *after)).or_insert(DependencyKind::Anti);
            }
        }
    }
    found
        .into_iter()
        .map(|((before, after), kind)| Dependency {
            before: UnitId(before as u32),
            after: UnitId(after as u32),
            kind,
        })
        .collect()
}

fn is_draw(statement: &Statement) -> bool {
    matches!(statement.operation, Operation::Random { .. })
}

/// Whether both draw a random number, perhaps in the same pass, and the first comes first in the source.
pub(crate) fn draws_before(
    program: &AtomicProgram,
    first: StatementId,
    second: StatementId,
) -> bool {
    let [one, other] = [first, second].map(|id| &program.statements[id.0 as usize]);
    first < second && is_draw(one) && is_draw(other) && both_run(one, other)
}

fn is_key(operation: &Operation, id: VariableId) -> bool {
    match operation {
        Operation::Lookup { key, .. } => key.iter().any(|part| part.variable() == Some(id)),
        _ => false,
    }
}

/// Why the later of the two waits, if it does.
fn kind(
    program: &AtomicProgram,
    writer: usize,
    other: usize,
    uses: Uses,
) -> Option<DependencyKind> {
    if other < writer {
        return Some(DependencyKind::Anti);
    }
    // The deparser reads at the end.
    if matches!(program.statements[other].operation, Operation::Checksum { .. }) {
        return Some(DependencyKind::Successor);
    }
    if uses.matches {
        Some(DependencyKind::Match)
    } else if uses.reads || uses.writes {
        Some(DependencyKind::Action)
    } else {
        None
    }
}

fn stronger(one: DependencyKind, other: DependencyKind) -> DependencyKind {
    let rank = |kind: DependencyKind| match kind {
        DependencyKind::Match => 3,
        DependencyKind::Action => 2,
        DependencyKind::Anti => 1,
        DependencyKind::Successor => 0,
    };
    if rank(other) > rank(one) { other } else { one }
}

/// Whether two statements may both run in a pass.
struct Exclusion<'a> {
    program: &'a AtomicProgram,
    known: HashMap<(usize, usize), bool>,
}

impl Exclusion<'_> {
    fn both_run(&mut self, one: usize, other: usize) -> bool {
        *(self.known.entry((one, other))).or_insert_with(|| {
            both_run(&self.program.statements[one], &self.program.statements[other])
        })
    }
}

fn both_run(one: &Statement, other: &Statement) -> bool {
    let of_two_handlers =
        one.handler.is_some() && other.handler.is_some() && one.handler != other.handler;
    one.gress == other.gress && !of_two_handlers && !exclusive(&one.guard, &other.guard)
}
