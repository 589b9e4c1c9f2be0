// SPDX-License-Identifier: Apache-2.0
//! The walk through a control: basic blocks in the order in which they run, actions where their tables are applied. Where
//! paths meet, slots that differ become choices by the predicates of the paths.

use super::super::Point;
use super::super::predicates::Predicate;
use super::store::{Value, ValueId, Values};
use super::{AccessedCell, Application, ControlAccess, ControlValues, Unknown};
use crate::control_flow::reverse_postorder;
use crate::effects::Location;
use crate::{
    Bits, ExternAccess, Instruction, Operand, Operation, Program, Region, RegionId, RegisterId,
    SlotId, Temp, Terminator, ValueType,
};
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// What slots hold.
pub(super) type Storage = Rc<Vec<ValueId>>;

/// A path that has reached a place: when it is taken, and what slots hold on it.
#[derive(Clone)]
pub(super) struct Path {
    pub predicate: Predicate,
    pub storage: Storage,
}

pub(super) struct Walk<'p> {
    pub program: &'p Program,
    pub values: Values,
    pub accesses: Vec<ControlAccess>,
    pub applications: Vec<Application>,
    /// Registers that are state.
    pub state: BTreeSet<RegisterId>,
    /// How often the code of the program draws at each site of random numbers.
    draws: HashMap<u64, usize>,
}

/// The application in whose action code stands, with the place of the action in its table.
pub(super) type Within = Option<(usize, usize)>;

pub(super) fn values(
    program: &Program,
    region: RegionId,
    state: BTreeSet<RegisterId>,
) -> Result<ControlValues<'_>, Unknown> {
    let mut draws: HashMap<u64, usize> = HashMap::new();
    let blocks = program.regions.iter().flat_map(|region| &region.blocks);
    for instruction in blocks.flat_map(|block| &block.instructions) {
        if let Operation::Random { site, .. } = &instruction.operation {
            *draws.entry(site.number()).or_default() += 1;
        }
    }
    let mut walk = Walk {
        program,
        values: Values::default(),
        accesses: Vec::new(),
        applications: Vec::new(),
        state,
        draws,
    };
    let start = (0..program.slots.len()).map(|at| {
        let ty = program.slots[at].ty;
        walk.values.start(SlotId(at as u32), ty)
    });
    let storage = Rc::new(start.collect());
    walk.region(region, Path { predicate: Predicate::TRUE, storage }, None)?;
    let Walk { values, accesses, applications, .. } = walk;
    match values.predicates().is_full() {
        true => Err(Unknown::Conditions),
        false => Ok(ControlValues { program, values, accesses, applications }),
    }
}

impl<'p> Walk<'p> {
    /// Walks through a region. Returns the path on which the code behind it runs; `None` if there is none.
    fn region(
        &mut self,
        id: RegionId,
        path: Path,
        within: Within,
    ) -> Result<Option<Path>, Unknown> {
        let program = self.program;
        let region = &program.regions[id.index()];
        let mut arriving: Vec<Vec<Path>> = vec![Vec::new(); region.blocks.len()];
        let mut left: Vec<Path> = Vec::new();
        arriving[0].push(path);
        let order = reverse_postorder(region);
        let mut done = vec![false; region.blocks.len()];
        for block in order {
            done[block] = true;
            let Some(mut path) = self.meet(std::mem::take(&mut arriving[block])) else { continue };
            if self.values.predicates().is_full() {
                return Err(Unknown::Conditions);
            }
            let mut temps: HashMap<Temp, ValueId> = HashMap::new();
            let code = &region.blocks[block];
            let mut is_ended = false;
            for (at, instruction) in code.instructions.iter().enumerate() {
                let at = Point::new(id, block, at);
                is_ended =
                    self.instruction(region, (at, instruction, within), &mut path, &mut temps)?;
                if is_ended {
                    break;
                }
            }
            if is_ended {
                continue;
            }
            let mut leave = |to: usize, path: Path| match done[to] {
                true => Err(Unknown::Loop),
                false => {
                    if path.predicate != Predicate::FALSE {
                        arriving[to].push(path);
                    }
                    Ok(())
                }
            };
            match &code.terminator {
                Terminator::Goto(next) => leave(next.index(), path)?,
                Terminator::Branch { condition, then, otherwise } => {
                    let condition = self.operand(condition, &temps);
                    let condition = self.values.predicate(condition);
                    let (yes, no) = self.split(&path, condition);
                    leave(then.index(), yes)?;
                    leave(otherwise.index(), no)?;
                }
                Terminator::Switch { value, cases, default } => {
                    let value = self.operand(value, &temps);
                    for (number, next) in cases {
                        let number = self.values.constant(number.clone());
                        let is = self.values.equal(value, number);
                        let (yes, no) = self.split(&path, is);
                        leave(next.index(), yes)?;
                        path = no;
                    }
                    leave(default.index(), path)?;
                }
                Terminator::Return => left.push(path),
                Terminator::Exit | Terminator::Reject(_) => {}
            }
        }
        Ok(self.meet(left))
    }

    /// The path on which a predicate holds, and the one on which it does not.
    fn split(&mut self, path: &Path, condition: Predicate) -> (Path, Path) {
        let predicates = self.values.predicates_mut();
        let yes = predicates.and(path.predicate, condition);
        let not = predicates.not(condition);
        let no = predicates.and(path.predicate, not);
        let with = |predicate| Path { predicate, storage: path.storage.clone() };
        (with(yes), with(no))
    }

    /// Makes one path of those that meet. At most one of them is taken.
    fn meet(&mut self, mut paths: Vec<Path>) -> Option<Path> {
        paths.retain(|path| path.predicate != Predicate::FALSE);
        let mut met = paths.pop()?;
        while let Some(path) = paths.pop() {
            let predicates = self.values.predicates_mut();
            let either = predicates.or(path.predicate, met.predicate);
            let first = predicates.restrict(path.predicate, either);
            if !Rc::ptr_eq(&path.storage, &met.storage) {
                let mut storage = met.storage.as_ref().clone();
                for (slot, other) in storage.iter_mut().zip(path.storage.iter()) {
                    if slot != other {
                        *slot = self.values.choice(first, *other, *slot);
                    }
                }
                met.storage = Rc::new(storage);
            }
            met.predicate = either;
        }
        Some(met)
    }

    /// The value of an operand. What the body of an update defines is not known.
    pub fn operand(&mut self, operand: &Operand, temps: &HashMap<Temp, ValueId>) -> ValueId {
        match operand {
            Operand::Constant(bits) => self.values.constant(bits.clone()),
            Operand::Temp(temp) => match temps.get(temp) {
                Some(value) => *value,
                None => self.values.unknown(ValueType::Bits(1)),
            },
        }
    }

    /// Walks through an instruction. Returns whether no path leads behind it.
    fn instruction(
        &mut self,
        region: &'p Region,
        (at, instruction, within): (Point, &'p Instruction, Within),
        path: &mut Path,
        temps: &mut HashMap<Temp, ValueId>,
    ) -> Result<bool, Unknown> {
        let type_of = |temp: &Temp| region.temps[temp.index()];
        let defined = match &instruction.operation {
            Operation::Unary { result, operation, operand } => {
                let operand = self.operand(operand, temps);
                Some((*result, self.values.unary(*operation, operand)))
            }
            Operation::Binary { result, operation, left, right } => {
                let (left, right) = (self.operand(left, temps), self.operand(right, temps));
                let width_bits = type_of(result).width_bits();
                Some((*result, self.values.binary(*operation, left, right, width_bits)))
            }
            Operation::Resize { result, kind, operand } => {
                let operand = self.operand(operand, temps);
                Some((*result, self.values.resize(*kind, operand, type_of(result).width_bits())))
            }
            Operation::Slice { result, operand, high, low } => {
                let operand = self.operand(operand, temps);
                Some((*result, self.values.slice(operand, *high, *low)))
            }
            Operation::Select { result, condition, then, otherwise } => {
                let condition = self.operand(condition, temps);
                let condition = self.values.predicate(condition);
                let (then, other) = (self.operand(then, temps), self.operand(otherwise, temps));
                Some((*result, self.values.choice(condition, then, other)))
            }
            Operation::Load { result, place } => {
                Some((*result, self.load(place, type_of(result), path, temps)))
            }
            Operation::Store { place, value } => {
                let value = self.operand(value, temps);
                self.store(place, value, path, temps);
                None
            }
            Operation::ShiftStack { stack, by } => {
                self.shift_stack(*stack, *by, path);
                None
            }
            Operation::Hash { result, algorithm, inputs, payload } => {
                let inputs = inputs.iter().map(|input| self.operand(input, temps)).collect();
                let (ty, algorithm) = (type_of(result), *algorithm);
                let width_bits = ty.width_bits();
                let hash = Value::Hash { algorithm, inputs, payload: *payload, width_bits };
                Some((*result, self.values.other(hash, ty)))
            }
            Operation::Random { result, low, high, site } => {
                let (low, high) = (self.operand(low, temps), self.operand(high, temps));
                let is_only = self.draws.get(&site.number()) == Some(&1) && within.is_none();
                let ty = type_of(result);
                let value = match is_only {
                    true => self.values.other(Value::Random { low, high, site: site.clone() }, ty),
                    false => self.values.unknown(ty),
                };
                Some((*result, value))
            }
            Operation::Apply { .. } => return self.apply((at, instruction), path, temps),
            Operation::Assert { condition, is_assume: false } => {
                let condition = self.operand(condition, temps);
                let condition = self.values.predicate(condition);
                *path = self.split(path, condition).0;
                return Ok(path.predicate == Predicate::FALSE);
            }
            Operation::CallExtern { target, method, arguments, results, effects }
                if effects.access == ExternAccess::Pure && effects.random.is_none() =>
            {
                let arguments: Vec<ValueId> =
                    arguments.iter().map(|argument| self.operand(argument, temps)).collect();
                for (number, result) in (0..).zip(results) {
                    let (ty, method) = (type_of(result), method.clone());
                    let (target, arguments) = (*target, arguments.clone());
                    let call = Value::Call { target, method, arguments, result: number, ty };
                    temps.insert(*result, self.values.other(call, ty));
                }
                None
            }
            operation => {
                self.access((at, instruction, within), path, temps);
                for result in operation.results() {
                    if let Entry::Vacant(place) = temps.entry(result) {
                        place.insert(self.values.unknown(type_of(&result)));
                    }
                }
                return Ok(false);
            }
        };
        temps.extend(defined);
        Ok(false)
    }

    /// Follows all actions of a table.
    fn apply(
        &mut self,
        (at, instruction): (Point, &'p Instruction),
        path: &mut Path,
        temps: &mut HashMap<Temp, ValueId>,
    ) -> Result<bool, Unknown> {
        let Operation::Apply { table, keys, hit, action } = &instruction.operation else {
            return Ok(false);
        };
        let program = self.program;
        let declared = &program.tables[table.index()];
        let keys: Vec<ValueId> = keys.iter().map(|key| self.operand(key, temps)).collect();
        let mut reads = BTreeSet::new();
        keys.iter().for_each(|key| reads.extend(self.values.reads_of(*key)));
        let number = self.applications.len();
        self.applications.push(Application {
            at,
            table: *table,
            keys,
            predicate: path.predicate,
            actions: declared.actions.iter().map(|listed| listed.action).collect(),
        });
        let found = self.values.other(Value::Hit(number), ValueType::Bits(1));
        let ran = self.values.other(Value::Action(number), ValueType::Bits(32));
        self.values.set_reads(found, reads.clone());
        self.values.set_reads(ran, reads.clone());
        temps.insert(*hit, found);
        temps.insert(*action, ran);
        for counter in program.automatic_counters(*table) {
            let predicate = self.values.predicate(found);
            let predicate = self.values.predicates_mut().and(path.predicate, predicate);
            self.accesses.push(ControlAccess {
                at,
                application: None,
                object: Location::Counter(counter),
                cell: AccessedCell::Entry(number),
                predicate,
                inputs: Vec::new(),
                reads: false,
                writes: true,
                origin: instruction.origin,
            });
        }
        let mut behind: Vec<Path> = Vec::new();
        // Without an action profile some action runs.
        let may_be_none = declared.implementation.is_some();
        let mut rest = path.clone();
        for (place, listed) in declared.actions.iter().enumerate() {
            let is_last = place + 1 == declared.actions.len() && !may_be_none;
            let mut this = if is_last {
                rest.clone()
            } else {
                let constant = self.values.constant(Bits::from_u64(32, place as u64));
                let is = self.values.equal(ran, constant);
                let (yes, no) = self.split(&rest, is);
                rest = no;
                yes
            };
            if this.predicate == Predicate::FALSE {
                continue;
            }
            let action = &program.actions[listed.action.index()];
            for (parameter, declared) in action.parameters.iter().enumerate() {
                let ty = program.slots[declared.slot.index()].ty;
                let argument = Value::Argument(number, place, parameter, ty);
                let argument = self.values.other(argument, ty);
                self.values.set_reads(argument, reads.clone());
                Rc::make_mut(&mut this.storage)[declared.slot.index()] = argument;
            }
            behind.extend(self.region(action.region, this, Some((number, place)))?);
        }
        if may_be_none || declared.actions.is_empty() {
            behind.push(rest);
        }
        match self.meet(behind) {
            Some(met) => {
                *path = met;
                Ok(false)
            }
            None => Ok(true),
        }
    }
}
