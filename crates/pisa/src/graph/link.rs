// SPDX-License-Identifier: Apache-2.0
//! From atoms to a problem: which atoms make one unit, and what the units depend on. Statements under a condition that no static match can say cannot be merged by
//! cross products, so those of a block that can run in one stage are grouped here.

use super::atom::{Atom, AtomKind, OTHER_ACTION};
use super::edges::edges;
use super::flag::flag_shared_arrays;
use super::order::{AtomOrder, Control, span, stronger};
use super::variables::Variables;
use crate::guard::Guard;
use crate::problem::{
    Array, ArrayId, Dependency, DependencyKind, Gress, Problem, Resource, Unit, UnitId,
};
use ir::analysis::Point;
use ir::{Program, RegisterId, TableId};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Makes the problem, and lists for each unit the instructions that it stands for.
pub(super) fn problem(
    program: &Program,
    mut controls: Vec<Control<'_>>,
    mut variables: Variables,
) -> (Problem, Vec<BTreeSet<Point>>) {
    flag_shared_arrays(program, &mut controls, &mut variables);
    let mut problem = Problem { name: program.architecture.clone(), ..Problem::default() };
    let mut code: Vec<BTreeSet<Point>> = Vec::new();
    let mut arrays: BTreeMap<RegisterId, ArrayId> = BTreeMap::new();
    let mut actions: HashMap<(ArrayId, String), u32> = HashMap::new();
    for gress in [Gress::Ingress, Gress::Egress] {
        let order = AtomOrder::new(&controls, gress);
        if order.all.is_empty() {
            continue;
        }
        let edges = edges(&order, &variables);
        let homes = order.grouped(&edges);
        let first = problem.units.len() as u32;
        let count = homes.iter().copied().max().map_or(0, |most| most + 1);
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (number, home) in homes.iter().enumerate() {
            members[*home].push(number);
        }
        for list in &members {
            let atoms: Vec<&Atom> = list.iter().map(|number| order.atom(*number)).collect();
            let mut unit = unit(program, &atoms, gress);
            if let Some((register, action)) = atoms.iter().find_map(|atom| atom.array.as_ref()) {
                let next = ArrayId(problem.arrays.len() as u32);
                let array = *arrays.entry(*register).or_insert(next);
                if array == next {
                    problem.arrays.push(self::array(program, *register));
                }
                let mut several = action.split(OTHER_ACTION);
                let action = several.next().unwrap_or_default().to_string();
                let further = several.count() as u64;
                if further > 0 {
                    unit.demand.insert(Resource::RegisterActions, further);
                }
                let number = actions.keys().filter(|(other, _)| *other == array).count() as u32;
                let number = *actions.entry((array, action)).or_insert(number);
                unit.array = Some(array);
                unit.register_action = number;
            }
            problem.units.push(unit);
            code.push(atoms.iter().flat_map(|atom| &atom.code).copied().collect());
        }
        let mut kinds: BTreeMap<(usize, usize), DependencyKind> = BTreeMap::new();
        for ((before, after), kind) in edges {
            let (before, after) = (homes[before], homes[after]);
            if before != after {
                let known = kinds.entry((before, after)).or_insert(kind);
                *known = stronger(*known, kind);
            }
        }
        for ((before, after), kind) in kinds {
            problem.dependencies.push(Dependency {
                before: UnitId(first + before as u32),
                after: UnitId(first + after as u32),
                kind,
            });
        }
    }
    problem.variables = variables.list;
    (problem, code)
}

fn array(program: &Program, register: RegisterId) -> Array {
    let register = &program.registers[register.index()];
    Array {
        name: register.name.clone(),
        cell_bits: register.width_bits,
        length: register.size,
        span: span(program, register.origin),
    }
}

fn unit(program: &Program, atoms: &[&Atom], gress: Gress) -> Unit {
    let first = atoms[0];
    let is_table = first.source.is_some();
    let mut demand: BTreeMap<Resource, u64> = BTreeMap::new();
    // Applications of one table take what the table takes, once.
    let counted = if is_table { &atoms[..1] } else { atoms };
    for (resource, amount) in counted.iter().flat_map(|atom| &atom.demand) {
        *demand.entry(*resource).or_default() += amount;
    }
    let hashes: BTreeMap<&String, u64> =
        counted.iter().flat_map(|atom| &atom.hashes).map(|(what, bits)| (what, *bits)).collect();
    if !hashes.is_empty() {
        *demand.entry(Resource::HashUnits).or_default() += hashes.len() as u64;
        *demand.entry(Resource::HashBits).or_default() += hashes.values().sum::<u64>();
    }
    let name = match atoms {
        [only] => only.name.clone(),
        [first, ..] if is_table => first.name.clone(),
        [first, rest @ ..] => format!("{} and {} more", first.name, rest.len()),
        [] => String::new(),
    };
    let is_plain = atoms.iter().all(|atom| atom.kind == AtomKind::Statement);
    let is_static = atoms.iter().all(|atom| atom.gate.after.is_empty());
    let guard = match is_static || atoms.len() == 1 || !is_table {
        // Any of the applications.
        true => atoms[1..].iter().fold(guard_of(first), |guard, atom| match is_table {
            true => guard.or(&guard_of(atom)),
            false => guard,
        }),
        // Told by what decides in front of each.
        false => Guard::always(),
    };
    Unit {
        name: name.into(),
        span: span(program, first.origin),
        gress,
        guard,
        mergeable: is_plain && is_static,
        table: first.table.clone(),
        array: None,
        register_action: 0,
        demand,
    }
}

fn guard_of(atom: &Atom) -> Guard {
    atom.gate.guard.clone().unwrap_or_else(Guard::always)
}

impl<'a, 'c> AtomOrder<'a, 'c> {
    /// For each atom the unit that it belongs to. Units are numbered in an order in which they could
    /// run.
    fn grouped(&self, edges: &BTreeMap<(usize, usize), DependencyKind>) -> Vec<usize> {
        let alone: Vec<usize> = (0..self.all.len()).collect();
        let statements = self.statement_groups(edges);
        // Groups that would have to wait for one another fall apart again.
        [self.table_groups(&statements), statements]
            .iter()
            .find_map(|groups| ordered(groups, edges))
            .unwrap_or(alone)
    }

    /// Applications of one table on exclusive branches are one table, if they look the same values
    /// up: a key that is a constant on one branch is none on the other.
    fn table_groups(&self, groups: &[usize]) -> Vec<usize> {
        let mut groups = groups.to_vec();
        let mut sources: BTreeMap<TableId, BTreeMap<usize, Vec<usize>>> = BTreeMap::new();
        for number in 0..self.all.len() {
            if let Some((table, part)) = self.atom(number).source {
                sources.entry(table).or_default().entry(part).or_default().push(number);
            }
        }
        for parts in sources.values() {
            let applications = parts.get(&0).map_or(&[][..], Vec::as_slice);
            let alike = applications.iter().enumerate().all(|(at, &one)| {
                applications[at + 1..].iter().all(|&other| {
                    self.all[one].0 == self.all[other].0
                        && self.atom(one).table == self.atom(other).table
                        && !self.comes_before(self.place(one), self.place(other))
                        && !self.comes_before(self.place(other), self.place(one))
                })
            });
            for list in parts.values().filter(|_| alike) {
                for number in list {
                    groups[*number] = groups[list[0]];
                }
            }
        }
        groups
    }

    /// Statements under one condition that can run in one stage; the number of a group is that of its
    /// first atom.
    fn statement_groups(&self, edges: &BTreeMap<(usize, usize), DependencyKind>) -> Vec<usize> {
        let mut incoming: Vec<Vec<(usize, DependencyKind)>> = vec![Vec::new(); self.all.len()];
        for ((before, after), kind) in edges {
            incoming[*after].push((*before, *kind));
        }
        // Statements between two tables of a block, by how far they have to be apart there.
        let mut segments: Vec<(usize, usize, usize)> = Vec::new();
        let mut segment = 0;
        let mut levels = vec![0usize; self.all.len()];
        let mut homes: HashMap<(usize, usize, Option<RegisterId>), usize> = HashMap::new();
        let mut groups: Vec<usize> = Vec::new();
        for number in 0..self.all.len() {
            let (control, block, _) = self.place(number);
            let is_plain = self.can_group(number);
            if let Some(&(last_control, last_block, _)) = segments.last()
                && (!is_plain || (last_control, last_block) != (control, block))
            {
                segment += 1;
            }
            segments.push((control, block, segment));
            if !is_plain {
                segment += 1;
                groups.push(number);
                continue;
            }
            levels[number] = incoming[number]
                .iter()
                .filter(|(before, _)| segments[*before] == segments[number])
                .map(|(before, kind)| levels[*before] + kind.distance() as usize)
                .max()
                .unwrap_or(0);
            let atom = self.atom(number);
            let array = atom.array.as_ref().map(|(register, _)| *register);
            let key = (segments[number].2, levels[number], array);
            let first = *homes.entry(key).or_insert(number);
            // All of a group have one gate.
            let same = self.atom(first).gate == atom.gate;
            groups.push(if same { first } else { number });
        }
        groups
    }

    fn can_group(&self, number: usize) -> bool {
        let atom = self.atom(number);
        atom.kind == AtomKind::Statement && !atom.gate.after.is_empty()
    }
}

/// Groups numbered in an order in which they could run, as near to that of the code as can be; nothing
/// if there is no such order.
fn ordered(
    groups: &[usize],
    edges: &BTreeMap<(usize, usize), DependencyKind>,
) -> Option<Vec<usize>> {
    let mut waiting: BTreeMap<usize, usize> = groups.iter().map(|group| (*group, 0)).collect();
    let between: BTreeSet<(usize, usize)> = edges
        .keys()
        .map(|(before, after)| (groups[*before], groups[*after]))
        .filter(|(before, after)| before != after)
        .collect();
    let mut after: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (from, to) in between {
        *waiting.entry(to).or_default() += 1;
        after.entry(from).or_default().push(to);
    }
    let mut ready: BTreeSet<usize> =
        waiting.iter().filter(|(_, count)| **count == 0).map(|(group, _)| *group).collect();
    let mut ranks: HashMap<usize, usize> = HashMap::new();
    while let Some(group) = ready.pop_first() {
        ranks.insert(group, ranks.len());
        for next in after.get(&group).into_iter().flatten() {
            let count = waiting.entry(*next).or_default();
            *count -= 1;
            if *count == 0 {
                ready.insert(*next);
            }
        }
    }
    groups.iter().map(|group| ranks.get(group).copied()).collect()
}
