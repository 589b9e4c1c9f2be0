// SPDX-License-Identifier: Apache-2.0
//! From atoms to a problem: what depends on what, by cells and by the order of the code, and which
//! atoms make one unit. Statements under a condition that no static match can say cannot be merged by
//! cross products, so those of a block that can run in one stage are grouped here.

use super::atom::{Atom, AtomId, AtomKind, Cell};
use super::flow::Flow;
use super::variables::Variables;
use crate::guard::Guard;
use crate::problem::{
    Array, ArrayId, Dependency, DependencyKind, Gress, Problem, Resource, Unit, UnitId,
};
use ir::effects::Location;
use ir::{Program, RegisterId};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The cells that an atom's guard matches on.
pub(super) fn guard_cells(atom: &Atom, variables: &Variables) -> BTreeSet<Cell> {
    let guard = atom.gate.guard.iter();
    guard.flat_map(|guard| guard.variables()).map(|it| variables.cell(it)).collect()
}

/// One control with its atoms.
pub(super) struct Control<'a> {
    /// Which half of the switch.
    pub gress: Gress,
    /// Shape of its code.
    pub flow: Flow<'a>,
    /// What was found in it.
    pub atoms: Vec<Atom>,
}

/// All atoms of one half, by their places.
struct Linker<'a, 'c> {
    controls: &'c [Control<'a>],
    /// Control and index there.
    all: Vec<(usize, usize)>,
    /// The reverse.
    numbers: HashMap<(usize, usize), usize>,
}

/// Makes the problem.
pub(super) fn problem(
    program: &Program,
    mut controls: Vec<Control<'_>>,
    mut variables: Variables,
) -> Problem {
    super::flag::flag_shared_arrays(program, &mut controls, &mut variables);
    let mut problem = Problem { name: program.architecture.clone(), ..Problem::default() };
    let mut arrays: BTreeMap<RegisterId, ArrayId> = BTreeMap::new();
    let mut actions: HashMap<(ArrayId, String), u32> = HashMap::new();
    for gress in [Gress::Ingress, Gress::Egress] {
        let linker = Linker::new(&controls, gress);
        if linker.all.is_empty() {
            continue;
        }
        let edges = linker.edges(&variables);
        let homes = linker.grouped(&edges);
        let first = problem.units.len() as u32;
        let count = homes.iter().copied().max().map_or(0, |most| most + 1);
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (number, home) in homes.iter().enumerate() {
            members[*home].push(number);
        }
        for list in &members {
            let atoms: Vec<&Atom> = list.iter().map(|number| linker.atom(*number)).collect();
            let mut unit = unit(program, &atoms, gress);
            if let Some((register, action)) = atoms.iter().find_map(|atom| atom.array.as_ref()) {
                let next = ArrayId(problem.arrays.len() as u32);
                let array = *arrays.entry(*register).or_insert(next);
                if array == next {
                    problem.arrays.push(self::array(program, *register));
                }
                let number = actions.keys().filter(|(other, _)| *other == array).count() as u32;
                let number = *actions.entry((array, action.clone())).or_insert(number);
                unit.array = Some(array);
                unit.register_action = number;
            }
            problem.units.push(unit);
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
    problem
}

fn stronger(left: DependencyKind, right: DependencyKind) -> DependencyKind {
    let rank = |kind| match kind {
        DependencyKind::Match => 3,
        DependencyKind::Action => 2,
        DependencyKind::Successor => 1,
        DependencyKind::Anti => 0,
    };
    if rank(left) >= rank(right) { left } else { right }
}

fn array(program: &Program, register: RegisterId) -> Array {
    let register = &program.registers[register.index()];
    Array {
        name: register.name.clone(),
        cell_bits: register.width_bits,
        length: register.size,
        span: super::span(program, register.origin),
    }
}

fn unit(program: &Program, atoms: &[&Atom], gress: Gress) -> Unit {
    let first = atoms[0];
    let mut demand: BTreeMap<Resource, u64> = BTreeMap::new();
    for (resource, amount) in atoms.iter().flat_map(|atom| &atom.demand) {
        *demand.entry(*resource).or_default() += amount;
    }
    let name = match atoms {
        [only] => only.name.clone(),
        [first, rest @ ..] => format!("{} and {} more", first.name, rest.len()),
        [] => String::new(),
    };
    let is_plain = atoms.iter().all(|atom| atom.kind == AtomKind::Statement);
    Unit {
        name: name.into(),
        span: super::span(program, first.origin),
        gress,
        guard: first.gate.guard.clone().unwrap_or_else(Guard::always),
        mergeable: is_plain && first.gate.after.is_empty(),
        table: first.table.clone(),
        array: None,
        register_action: 0,
        demand,
    }
}

impl<'a, 'c> Linker<'a, 'c> {
    fn new(controls: &'c [Control<'a>], gress: Gress) -> Linker<'a, 'c> {
        let mut all: Vec<(usize, usize)> = Vec::new();
        for (at, control) in controls.iter().enumerate() {
            if control.gress == gress {
                all.extend((0..control.atoms.len()).map(|index| (at, index)));
            }
        }
        let key = |&(control, index): &(usize, usize)| {
            let position = controls[control].atoms[index].position;
            let rank = controls[control].flow.rank[position.block];
            (control, rank, position.instruction, position.part)
        };
        all.sort_by_key(key);
        let numbers = all.iter().enumerate().map(|(number, place)| (*place, number)).collect();
        Linker { controls, all, numbers }
    }

    fn atom(&self, number: usize) -> &'c Atom {
        let (control, index) = self.all[number];
        &self.controls[control].atoms[index]
    }

    fn number(&self, control: usize, id: AtomId) -> usize {
        self.numbers[&(control, id.0)]
    }

    /// Whether code at one place runs before code at another, in some run of the program. Atoms of one
    /// instruction are told by themselves what they wait for.
    fn comes_before(&self, from: (usize, usize, usize), to: (usize, usize, usize)) -> bool {
        let (control, block, at) = from;
        if control != to.0 {
            return control < to.0;
        }
        if block == to.1 { at < to.2 } else { self.controls[control].flow.reaches(block, to.1) }
    }

    fn place(&self, number: usize) -> (usize, usize, usize) {
        let position = self.atom(number).position;
        (self.all[number].0, position.block, position.instruction)
    }

    /// What depends on what, by numbers of atoms.
    fn edges(&self, variables: &Variables) -> BTreeMap<(usize, usize), DependencyKind> {
        let mut writers: HashMap<Cell, Vec<usize>> = HashMap::new();
        let mut readers: HashMap<Cell, Vec<(usize, usize, bool)>> = HashMap::new();
        for number in 0..self.all.len() {
            let atom = self.atom(number);
            for cell in &atom.writes {
                if orders(cell) {
                    writers.entry(*cell).or_default().push(number);
                }
            }
            let at = atom.position.instruction;
            let guards = guard_cells(atom, variables);
            let guards = guards.into_iter().map(|cell| (cell, at, true));
            for (cell, at, is_match) in atom.all_reads().chain(guards) {
                readers.entry(cell).or_default().push((number, at, is_match));
            }
        }
        let mut edges = BTreeMap::new();
        let mut add = |before: usize, after: usize, kind| {
            if before < after {
                let known = edges.entry((before, after)).or_insert(kind);
                *known = stronger(*known, kind);
            }
        };
        for (cell, list) in &writers {
            for (index, &writer) in list.iter().enumerate() {
                for &later in &list[index + 1..] {
                    if self.comes_before(self.place(writer), self.place(later)) {
                        add(writer, later, DependencyKind::Action);
                    }
                }
                for &(reader, at, is_match) in readers.get(cell).into_iter().flatten() {
                    let (control, block, _) = self.place(reader);
                    let read = (control, block, at);
                    if reader == writer {
                        continue;
                    }
                    let is_computed = !matches!(cell, Cell::Location(_));
                    if is_computed || self.comes_before(self.place(writer), read) {
                        let kind =
                            if is_match { DependencyKind::Match } else { DependencyKind::Action };
                        add(writer, reader, kind);
                    } else if self.comes_before(read, self.place(writer)) {
                        add(reader, writer, DependencyKind::Anti);
                    }
                }
            }
        }
        for number in 0..self.all.len() {
            let atom = self.atom(number);
            let control = self.all[number].0;
            for before in &atom.gate.after {
                add(self.number(control, *before), number, DependencyKind::Successor);
            }
            for (before, kind) in &atom.explicit {
                add(self.number(control, *before), number, *kind);
            }
            if atom.ends_block {
                for later in number + 1..self.all.len() {
                    if self.all[later].0 == control
                        && !self.atom(later).is_speculative
                        && self.comes_before(self.place(number), self.place(later))
                    {
                        add(number, later, DependencyKind::Successor);
                    }
                }
            }
        }
        edges
    }

    /// For each atom the unit that it belongs to. Units are numbered in an order in which they could
    /// run.
    fn grouped(&self, edges: &BTreeMap<(usize, usize), DependencyKind>) -> Vec<usize> {
        let alone: Vec<usize> = (0..self.all.len()).collect();
        let mut incoming: Vec<Vec<(usize, DependencyKind)>> = vec![Vec::new(); self.all.len()];
        for ((before, after), kind) in edges {
            incoming[*after].push((*before, *kind));
        }
        // Statements between two tables of a block, by how far they have to be apart there.
        let mut segments: Vec<(usize, usize, usize)> = Vec::new();
        let mut segment = 0;
        let mut levels = vec![0usize; self.all.len()];
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
            }
            levels[number] = incoming[number]
                .iter()
                .filter(|(before, _)| segments[*before] == segments[number])
                .map(|(before, kind)| levels[*before] + kind.distance() as usize)
                .max()
                .unwrap_or(0);
        }
        let mut homes: HashMap<(usize, usize, Option<RegisterId>), usize> = HashMap::new();
        let mut order: Vec<(usize, usize, usize)> = Vec::new();
        let mut group_of = Vec::new();
        for number in 0..self.all.len() {
            let atom = self.atom(number);
            let next = order.len();
            let group = if self.can_group(number) {
                let array = atom.array.as_ref().map(|(register, _)| *register);
                let key = (segments[number].2, levels[number], array);
                let group = *homes.entry(key).or_insert(next);
                // All of a group have one gate; another gate needs another group.
                let same = order
                    .get(group)
                    .is_none_or(|(_, _, first)| self.atom(*first).gate == atom.gate);
                if same { group } else { next }
            } else {
                next
            };
            if group == next {
                order.push((segments[number].2, levels[number], number));
            }
            group_of.push(group);
        }
        let mut sorted: Vec<usize> = (0..order.len()).collect();
        sorted.sort_by_key(|group| order[*group]);
        let mut rank = vec![0; order.len()];
        for (at, group) in sorted.into_iter().enumerate() {
            rank[group] = at;
        }
        let homes: Vec<usize> = group_of.into_iter().map(|group| rank[group]).collect();
        // Groups that would have to wait for one another fall apart again.
        let is_forward = edges.keys().all(|(before, after)| homes[*before] <= homes[*after]);
        if is_forward { homes } else { alone }
    }

    fn can_group(&self, number: usize) -> bool {
        let atom = self.atom(number);
        atom.kind == AtomKind::Statement && !atom.gate.after.is_empty()
    }
}

/// Whether the order of two writes counts. Counters commute, draws are independent, and logs are for
/// people.
fn orders(cell: &Cell) -> bool {
    !matches!(
        cell,
        Cell::Location(
            Location::Counter(_) | Location::Meter(_) | Location::Random | Location::Log
        )
    )
}
