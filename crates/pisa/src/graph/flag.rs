// SPDX-License-Identifier: Apache-2.0
//! Register arrays that several pieces of code access. An array is attached to one table, so all its
//! accesses have to be merged into one, and merging needs static matches. An access in an action of a
//! table whose entries are constant matches on what the table matches on. Another one that waits for the
//! result of a table or a gateway gets a bit that a statement sets by that result, and matches on the
//! bit a stage later.

use super::atom::{Atom, AtomId, AtomKind, Cell, Gate};
use super::gate::MAX_RULES;
use super::order::Control;
use super::variables::Variables;
use crate::guard::{Condition, Guard};
use crate::problem::{DependencyKind, Resource};
use ir::{Program, RegisterId};
use std::collections::{BTreeMap, BTreeSet};

/// Gives accesses of shared arrays static guards.
pub(super) fn flag_shared_arrays(
    program: &Program,
    controls: &mut [Control<'_>],
    variables: &mut Variables,
) {
    let mut accesses: BTreeMap<RegisterId, Vec<(usize, AtomId)>> = BTreeMap::new();
    for (control, found) in controls.iter_mut().enumerate() {
        for (index, atom) in found.atoms.iter_mut().enumerate() {
            // Room for a flag in front of each atom.
            atom.position.part = 2 * atom.position.part + 1;
            if let Some((register, _)) = &atom.array {
                accesses.entry(*register).or_default().push((control, AtomId(index)));
            }
        }
    }
    let mut flags = 0;
    for list in accesses.into_values().filter(|list| list.len() > 1) {
        for (control, AtomId(index)) in list {
            let atoms = &mut controls[control].atoms;
            let atom = &mut atoms[index];
            if atom.kind == AtomKind::Table || atom.gate.after.is_empty() {
                continue;
            }
            if let Some(guard) = by_entries(atom) {
                atom.gate = Gate { after: BTreeSet::new(), guard: Some(guard) };
                atom.explicit.retain(|(_, kind)| *kind != DependencyKind::Successor);
                atom.kind = AtomKind::Statement;
                atom.source = None;
                continue;
            }
            let cell = Cell::Flag(flags);
            flags += 1;
            let variable = variables.of(program, cell);
            let mut position = atom.position;
            position.part -= 1;
            let name = format!("{} (whether)", atom.name);
            let mut flag = Atom::new(name, atom.origin, position, AtomKind::Statement);
            let guard = Guard::when(variable, Condition::Ternary { value: 1, mask: 1 });
            flag.gate = std::mem::replace(
                &mut atom.gate,
                Gate { after: BTreeSet::new(), guard: Some(guard) },
            );
            let is_control =
                |(_, kind): &(AtomId, DependencyKind)| matches!(kind, DependencyKind::Successor);
            flag.explicit = atom.explicit.iter().filter(|it| is_control(it)).copied().collect();
            atom.explicit.retain(|it| !is_control(it));
            atom.kind = AtomKind::Statement;
            flag.writes.insert(cell);
            flag.take(Resource::Statements, 1);
            flag.take(Resource::Instructions, 1);
            atoms.push(flag);
        }
    }
}

/// When an access in an action of a table runs, as a match on the table's keys. It has to be one that
/// waits for nothing else that the action does.
fn by_entries(atom: &Atom) -> Option<Guard> {
    let chosen = atom.chosen.as_ref()?;
    let waits = atom.explicit.iter().any(|(_, kind)| kind.distance() > 0);
    let is_under_condition = atom.gate.guard.is_some() || !chosen.gate.after.is_empty();
    if waits || is_under_condition || !chosen.choice.is_constant() {
        return None;
    }
    let entries = chosen.choice.guard(&chosen.actions).simplified();
    let guard = match &chosen.gate.guard {
        Some(outer) => outer.and(&entries),
        None => entries,
    };
    (guard.rules.len() <= MAX_RULES).then_some(guard)
}
