// SPDX-License-Identifier: Apache-2.0
//! Dependencies between the atoms of one half: by the cells that they read, match on and write, by the order of the code,
//! and by results. Atoms whose guards exclude each other do not depend on each other (Lucid §6.2). Edges that others
//! imply are left out where that keeps their number small.

use super::atom::{Atom, Cell};
use super::order::{AtomOrder, is_order_kept, stronger};
use super::variables::Variables;
use crate::guard::{Guard, GuardRule, VariableId, never_all};
use crate::problem::DependencyKind;
use ir::effects::Location;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// Kinds by numbers of atoms, the first before the second.
pub(super) type Edges = BTreeMap<(usize, usize), DependencyKind>;

/// The cells that an atom's guard matches on.
pub(super) fn guard_cells(atom: &Atom, variables: &Variables) -> BTreeSet<Cell> {
    let guard = atom.gate.guard.iter();
    guard.flat_map(|guard| guard.variables()).map(|it| variables.cell(it)).collect()
}

/// The atoms that read and write a cell, in the order of the code.
#[derive(Default)]
struct Users {
    writers: Vec<usize>,
    readers: Vec<Reader>,
}

/// Which atom reads, at which instruction of its block, and whether to match.
#[derive(Clone, Copy)]
struct Reader {
    number: usize,
    at: usize,
    is_match: bool,
}

/// Finds them all.
pub(super) fn edges(order: &AtomOrder<'_, '_>, variables: &Variables) -> Edges {
    let mut users: HashMap<Cell, Users> = HashMap::new();
    for number in 0..order.len() {
        let atom = order.atom(number);
        for cell in &atom.writes {
            if is_order_kept(cell) {
                users.entry(*cell).or_default().writers.push(number);
            }
        }
        let at = atom.position.instruction;
        let guards = guard_cells(atom, variables);
        let guards = guards.into_iter().map(|cell| (cell, at, true));
        for (cell, at, is_match) in atom.all_reads().chain(guards) {
            users.entry(cell).or_default().readers.push(Reader { number, at, is_match });
        }
    }
    let mut edges = Edges::new();
    let mut exclusion = Exclusion::new(order, variables, &users);
    for (cell, users) in users.iter().filter(|(_, users)| !users.writers.is_empty()) {
        by_cell(order, *cell, users, &mut exclusion, &mut edges);
    }
    by_results(order, &mut exclusion, &mut edges);
    edges
}

fn add(edges: &mut Edges, before: usize, after: usize, kind: DependencyKind) {
    let known = edges.entry((before, after)).or_insert(kind);
    *known = stronger(*known, kind);
}

/// Edges for one cell. Going back from each atom, the search ends at a writer that runs whenever the code
/// comes by: what is before it waits for it, or it for that.
fn by_cell(
    order: &AtomOrder<'_, '_>,
    cell: Cell,
    users: &Users,
    exclusion: &mut Exclusion<'_, '_, '_>,
    edges: &mut Edges,
) {
    let is_computed = !matches!(cell, Cell::Location(_));
    let read_place = |reader: &Reader| {
        let (control, block, _) = order.place(reader.number);
        (control, block, reader.at)
    };
    for reader in &users.readers {
        let kind = match reader.is_match {
            true => DependencyKind::Match,
            false => DependencyKind::Action,
        };
        let end = users.writers.partition_point(|writer| *writer < reader.number);
        for &writer in users.writers[..end].iter().rev() {
            let comes = is_computed || order.comes_before(order.place(writer), read_place(reader));
            let ends = (
                Use::write(writer),
                Use { number: reader.number, is_match: reader.is_match, is_write: false },
            );
            if comes && exclusion.both_run(ends, cell) {
                add(edges, writer, reader.number, kind);
                if is_unconditional(order, writer, cell) {
                    break;
                }
            }
        }
    }
    for (index, &writer) in users.writers.iter().enumerate() {
        let mut stop = None;
        for &earlier in users.writers[..index].iter().rev() {
            let comes = order.comes_before(order.place(earlier), order.place(writer));
            let ends = (Use::write(earlier), Use::write(writer));
            if comes && exclusion.both_run(ends, cell) {
                add(edges, earlier, writer, DependencyKind::Action);
                if is_unconditional(order, earlier, cell) {
                    stop = Some(earlier);
                    break;
                }
            }
        }
        if is_computed {
            continue;
        }
        let end = users.readers.partition_point(|reader| reader.number < writer);
        for reader in users.readers[..end].iter().rev() {
            if stop.is_some_and(|stop| reader.number < stop) {
                break;
            }
            let read = read_place(reader);
            let is_later = order.comes_before(order.place(writer), read);
            let ends = (
                Use { number: reader.number, is_match: reader.is_match, is_write: false },
                Use::write(writer),
            );
            if !is_later
                && order.comes_before(read, order.place(writer))
                && exclusion.both_run(ends, cell)
            {
                add(edges, reader.number, writer, DependencyKind::Anti);
            }
        }
    }
}

/// Whether it writes the cell whenever the code comes by.
fn is_unconditional(order: &AtomOrder<'_, '_>, number: usize, cell: Cell) -> bool {
    let atom = order.atom(number);
    let is_chosen = atom.chosen.as_ref().is_some_and(|chosen| chosen.writes.contains_key(&cell));
    atom.gate.after.is_empty() && atom.gate.guard.is_none() && !is_chosen
}

/// Adds edges by the results of tables and gateways, explicit ones, and those of atoms that may end a block.
fn by_results(order: &AtomOrder<'_, '_>, exclusion: &mut Exclusion<'_, '_, '_>, edges: &mut Edges) {
    let mut put = |before: usize, after: usize, kind| {
        if before < after {
            add(edges, before, after, kind);
        }
    };
    for number in 0..order.len() {
        let atom = order.atom(number);
        let control = order.control(number);
        for before in &atom.gate.after {
            put(order.number(control, *before), number, DependencyKind::Successor);
        }
        for (before, kind) in &atom.explicit {
            put(order.number(control, *before), number, *kind);
        }
        if atom.ends_block {
            for later in number + 1..order.len() {
                if order.control(later) == control
                    && !order.atom(later).is_speculative
                    && order.comes_before(order.place(number), order.place(later))
                    && exclusion.may_both_run(number, later)
                {
                    put(number, later, DependencyKind::Successor);
                }
            }
        }
    }
}

/// What an atom does to a cell.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Use {
    number: usize,
    is_match: bool,
    is_write: bool,
}

impl Use {
    fn write(number: usize) -> Use {
        Use { number, is_match: false, is_write: true }
    }
}

/// A guard, by number.
type GuardId = usize;

/// What has to hold first, what then, and which variables may have changed between.
type Question = (Vec<GuardId>, Vec<GuardId>, BTreeSet<VariableId>);

/// Whether two atoms may both run in a pass.
struct Exclusion<'l, 'a, 'c> {
    order: &'l AtomOrder<'a, 'c>,
    variables: &'l Variables,
    users: &'l HashMap<Cell, Users>,
    guards: Vec<(Rc<Guard>, BTreeSet<VariableId>)>,
    numbers: HashMap<Rc<Guard>, GuardId>,
    /// Of each atom: its gate, and that of the table that it belongs to.
    gates: Vec<Vec<GuardId>>,
    chosen: HashMap<(usize, BTreeSet<usize>), GuardId>,
    known: HashMap<Question, bool>,
}

impl<'l, 'a, 'c> Exclusion<'l, 'a, 'c> {
    fn new(
        order: &'l AtomOrder<'a, 'c>,
        variables: &'l Variables,
        users: &'l HashMap<Cell, Users>,
    ) -> Exclusion<'l, 'a, 'c> {
        let mut exclusion = Exclusion {
            order,
            variables,
            users,
            guards: Vec::new(),
            numbers: HashMap::new(),
            gates: Vec::new(),
            chosen: HashMap::new(),
            known: HashMap::new(),
        };
        for number in 0..order.len() {
            let atom = order.atom(number);
            let table = atom.chosen.iter().filter_map(|chosen| chosen.gate.guard.as_ref());
            let ids: BTreeSet<GuardId> = (atom.gate.guard.iter().chain(table))
                .filter(|guard| !guard.is_always())
                .map(|guard| exclusion.number(guard))
                .collect();
            exclusion.gates.push(ids.into_iter().collect());
        }
        exclusion
    }

    fn number(&mut self, guard: &Guard) -> GuardId {
        if let Some(known) = self.numbers.get(guard) {
            return *known;
        }
        let guard = Rc::new(guard.clone());
        self.guards.push((guard.clone(), guard.variables()));
        self.numbers.insert(guard, self.guards.len() - 1);
        self.guards.len() - 1
    }

    /// What has to hold for an atom to run, and to do this to the cell.
    fn conditions(&mut self, of: Use, cell: Cell) -> Vec<GuardId> {
        let chosen = self.order.atom(of.number).chosen.as_ref();
        let actions = chosen.and_then(|chosen| match (of.is_write, of.is_match) {
            (true, _) => chosen.writes.get(&cell),
            (false, true) => chosen.matches.get(&cell),
            (false, false) => chosen.reads.get(&cell),
        });
        self.conditions_with(of.number, actions.cloned())
    }

    fn conditions_with(&mut self, number: usize, actions: Option<BTreeSet<usize>>) -> Vec<GuardId> {
        let mut ids = self.gates[number].clone();
        let chosen = self.order.atom(number).chosen.as_ref();
        if let (Some(chosen), Some(actions)) = (chosen, actions) {
            let key = (number, actions);
            let id = match self.chosen.get(&key) {
                Some(known) => *known,
                None => {
                    let id = self.number(&chosen.choice.guard(&key.1));
                    self.chosen.insert(key, id);
                    id
                }
            };
            ids.push(id);
        }
        ids
    }

    /// Whether both may do this to the cell in one pass.
    fn both_run(&mut self, (before, after): (Use, Use), cell: Cell) -> bool {
        let (first, second) = (self.conditions(before, cell), self.conditions(after, cell));
        self.together((before.number, first), (after.number, second))
    }

    /// Whether both may run in one pass; the first before the second.
    fn may_both_run(&mut self, before: usize, after: usize) -> bool {
        let actions = |number: usize| {
            let chosen = self.order.atom(number).chosen.as_ref();
            chosen.map(|chosen| chosen.actions.clone())
        };
        let (one, other) = (actions(before), actions(after));
        let (first, second) =
            (self.conditions_with(before, one), self.conditions_with(after, other));
        self.together((before, first), (after, second))
    }

    fn together(
        &mut self,
        (before, first): (usize, Vec<GuardId>),
        (after, second): (usize, Vec<GuardId>),
    ) -> bool {
        if first.is_empty() || second.is_empty() || first == second {
            return true;
        }
        let of = |ids: &[GuardId]| -> BTreeSet<VariableId> {
            ids.iter().flat_map(|id| &self.guards[*id].1).copied().collect()
        };
        let common: Vec<VariableId> = of(&first).intersection(&of(&second)).copied().collect();
        let changed: BTreeSet<VariableId> =
            common.iter().copied().filter(|it| self.is_changed(*it, before, after)).collect();
        if changed.len() == common.len() {
            return true;
        }
        let key = (first, second, changed);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let (first, second, changed) = &key;
        let renamed: Vec<Guard> =
            second.iter().map(|id| renamed(&self.guards[*id].0, changed)).collect();
        let earlier = first.iter().map(|id| &*self.guards[*id].0);
        let answer = !never_all(&earlier.chain(&renamed).collect::<Vec<_>>());
        self.known.insert(key, answer);
        answer
    }

    /// Whether something may write the variable from when the first decides until the second does.
    fn is_changed(&self, variable: VariableId, before: usize, after: usize) -> bool {
        let cell = self.variables.cell(variable);
        if !matches!(cell, Cell::Location(Location::Slot(_))) {
            return false;
        }
        let Some(users) = self.users.get(&cell) else { return false };
        let reaches = |from: usize, to: usize| {
            let (from, to) = (self.order.place(from), self.order.place(to));
            from == to || self.order.comes_before(from, to)
        };
        let from = users.writers.partition_point(|writer| *writer < before);
        let between = users.writers[from..].iter().take_while(|writer| **writer < after);
        between.copied().any(|writer| reaches(before, writer) && reaches(writer, after))
    }
}

/// The guard with these variables taken for others, of which nothing is known.
fn renamed(guard: &Guard, changed: &BTreeSet<VariableId>) -> Guard {
    let rules = guard.rules.iter().map(|rule| GuardRule {
        conditions: rule
            .conditions
            .iter()
            .map(|(variable, condition)| {
                let is_other = changed.contains(variable);
                let variable = if is_other { VariableId(u32::MAX - variable.0) } else { *variable };
                (variable, *condition)
            })
            .collect(),
        runs: rule.runs,
    });
    Guard { rules: rules.collect() }
}
