// SPDX-License-Identifier: Apache-2.0
//! [`behind_tables`]: moves the code of actions behind the applications of their tables, so that it can be in later
//! stages than the lookup. The engine stores an entry's arguments in the slots of the action's parameters; what an
//! action leaves there is the entry's data for the code behind the table.

use super::carried::CarriedSlots;
use super::constraints::Constraints;
use super::obstacles::exits;
use super::pieces::Pieces;
use crate::analysis::{Analysis, Point};
use crate::effects::{Effects, Location};
use crate::{
    ActionId, BasicBlock, Bits, BlockId, Instruction, Operand, Operation, OriginId, Place, Program,
    Region, RegionId, Slot, Temp, Terminator, effects,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Which actions of a control's tables lose their code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MovedActions {
    /// Those that access registers, counters, meters or externs by an index or as a whole, and those that `exit`.
    Stateful,
    /// All that have code.
    All,
}

/// A program with code of actions behind their tables.
#[derive(Clone, Debug)]
pub struct Moved {
    /// The program. State, tables, actions and earlier slots have the numbers that they had.
    pub program: Program,
    /// For each instruction of the control, the instruction of the program before that it is, or whose result it
    /// carries; also one of an action.
    pub sources: BTreeMap<Point, Point>,
}

/// Moves the code of actions of a control's tables behind each application of a table that lists them; `Apply`'s
/// number of the action selects which runs. Direct counters and meters stay in the action, because they belong to the
/// entry, with all code that they depend on. `exit` ends the control as before. Instructions keep their origins.
///
/// An action that other controls' tables list loses its code there, too. Actions with loops at run time stay.
pub fn behind_tables(program: &Program, block: usize, moved: MovedActions) -> Moved {
    let mut program = program.clone();
    let marks = mark(&mut program);
    move_code(&mut program, block, moved);
    Moved { sources: marks.take(&mut program, block), program }
}

/// Marks of instructions: an origin for each.
struct Marks {
    /// How many origins there were.
    first: usize,
    /// For each mark the instruction and its origin.
    marked: Vec<(Point, OriginId)>,
}

fn mark(program: &mut Program) -> Marks {
    let mut marks = Marks { first: program.origins.len(), marked: Vec::new() };
    for (region, code) in program.regions.iter_mut().enumerate() {
        for (block, code) in code.blocks.iter_mut().enumerate() {
            for (at, instruction) in code.instructions.iter_mut().enumerate() {
                let point = Point::new(RegionId(region as u32), block, at);
                let origin = instruction.origin;
                instruction.origin = OriginId(program.origins.len() as u32);
                let copy = program.origins[origin.index()].clone();
                program.origins.push(copy);
                marks.marked.push((point, origin));
            }
        }
    }
    marks
}

impl Marks {
    /// Gives all items their origins back, and returns the sources of the instructions of a block.
    fn take(self, program: &mut Program, block: usize) -> BTreeMap<Point, Point> {
        let mut sources = BTreeMap::new();
        let marked = |origin: &mut OriginId| {
            let number = origin.index().checked_sub(self.first)?;
            let (point, original) = self.marked[number];
            *origin = original;
            Some(point)
        };
        let control = program.blocks.get(block).map(|block| block.region.index());
        for (region, code) in program.regions.iter_mut().enumerate() {
            for (block, code) in code.blocks.iter_mut().enumerate() {
                marked(&mut code.origin);
                for (at, instruction) in code.instructions.iter_mut().enumerate() {
                    let source = marked(&mut instruction.origin);
                    if let Some(source) = source.filter(|_| Some(region) == control) {
                        sources.insert(Point::new(RegionId(region as u32), block, at), source);
                    }
                }
            }
        }
        for slot in &mut program.slots {
            marked(&mut slot.origin);
        }
        program.origins.truncate(self.first);
        sources
    }
}

fn move_code(program: &mut Program, block: usize, moved: MovedActions) {
    let Some(control) = program.blocks.get(block) else { return };
    let mut actions: BTreeSet<ActionId> = BTreeSet::new();
    for table in applied_tables(&program.regions[control.region.index()]) {
        for listed in &program.tables[table].actions {
            actions.insert(listed.action);
        }
    }
    let mut bodies: BTreeMap<ActionId, Region> = BTreeMap::new();
    // Actions may share a region.
    let mut by_region: HashMap<RegionId, Region> = HashMap::new();
    for action in actions {
        let region = program.actions[action.index()].region;
        if let Some(body) = by_region.get(&region) {
            bodies.insert(action, body.clone());
        } else if let Some(body) = take_body(program, region, moved) {
            by_region.insert(region, body.clone());
            bodies.insert(action, body);
        }
    }
    // Any other action with one of these regions runs its code behind its table, too.
    for (at, action) in program.actions.iter().enumerate() {
        if let Some(body) = by_region.get(&action.region) {
            bodies.insert(ActionId(at as u32), body.clone());
        }
    }
    let regions: Vec<RegionId> = program.blocks.iter().map(|block| block.region).collect();
    for region in regions {
        put_behind_applications(program, region, &bodies);
    }
}

/// The tables that a region applies, as indices.
fn applied_tables(region: &Region) -> BTreeSet<usize> {
    let code = region.blocks.iter().flat_map(|block| &block.instructions);
    code.filter_map(|instruction| match &instruction.operation {
        Operation::Apply { table, .. } => Some(table.index()),
        _ => None,
    })
    .collect()
}

/// Takes the code out of an action's region; `None` if all of it stays.
fn take_body(program: &mut Program, region: RegionId, moved: MovedActions) -> Option<Region> {
    let code = &program.regions[region.index()];
    let has_code = code.blocks.iter().any(|block| !block.instructions.is_empty()) || exits(code);
    let analysis = Analysis::of(program);
    let facts = analysis.region(region);
    let effects = effects::of_region(program, region);
    let is_moved = match moved {
        MovedActions::All => has_code,
        MovedActions::Stateful => exits(code) || accesses_state(program, &effects),
    };
    if !is_moved || facts.has_loop {
        return None;
    }
    let constraints = Constraints::of_region(&analysis, region);
    let staying = staying_classes(&constraints, code);
    let stage_of = |block: usize, at: usize| {
        let class = constraints.class_of(Point::new(region, block, at));
        u32::from(class.is_some_and(|class| !staying.contains(&class)))
    };
    let pieces = Pieces { facts, stage_of: &stage_of, count: 2, exits_in: Some(1) };
    let name = code.name.clone();
    let mut slots = CarriedSlots::new(program, &name);
    let (mut regions, _) = pieces.cut(&mut slots);
    let slots: Vec<Slot> = slots.finish();
    let body = regions.pop()?;
    let rest = regions.pop()?;
    program.slots.extend(slots);
    program.regions[region.index()] = rest;
    Some(body)
}

/// Whether code accesses an object that packets share, direct ones left out.
fn accesses_state(program: &Program, effects: &Effects) -> bool {
    effects.reads.union(&effects.writes).any(|location| match location {
        Location::Register(_) | Location::Extern(_) => true,
        Location::Counter(id) => program.counters[id.index()].size.is_some(),
        Location::Meter(id) => program.meters[id.index()].size.is_some(),
        _ => false,
    })
}

/// The classes of direct counters and meters, and of everything that precedes them.
fn staying_classes(constraints: &Constraints, code: &Region) -> BTreeSet<usize> {
    let is_direct = |point: &Point| {
        let code = &code.blocks[point.block.index()].instructions[point.instruction as usize];
        matches!(code.operation, Operation::CountDirect { .. } | Operation::MeterDirect { .. })
    };
    let mut staying = BTreeSet::new();
    for (class, points) in constraints.classes().iter().enumerate().rev() {
        let stays = points.iter().any(is_direct)
            || constraints.successors(class).iter().any(|after| staying.contains(after));
        if stays {
            staying.insert(class);
        }
    }
    staying
}

/// Splits a control's basic blocks behind applications, and puts the bodies of actions there.
fn put_behind_applications(
    program: &mut Program,
    id: RegionId,
    bodies: &BTreeMap<ActionId, Region>,
) {
    let original = program.clone();
    let region = &mut program.regions[id.index()];
    let name = region.name.clone();
    let mut slots = CarriedSlots::new(&original, &name);
    let mut open: Vec<usize> = (0..region.blocks.len()).collect();
    while let Some(block) = open.pop() {
        let code = &region.blocks[block].instructions;
        let site = code.iter().enumerate().find_map(|(at, instruction)| {
            let Operation::Apply { table, action, .. } = &instruction.operation else {
                return None;
            };
            let listed = original.tables[table.index()].actions.iter().zip(0u32..);
            let cases: Vec<(u32, &Region)> = listed
                .filter_map(|(listed, number)| Some((number, bodies.get(&listed.action)?)))
                .collect();
            (!cases.is_empty()).then_some((at, *action, instruction.origin, cases))
        });
        if let Some((at, action, origin, cases)) = site {
            let rest = split(region, block, at + 1, &mut slots);
            let cases = cases
                .into_iter()
                .map(|(number, body)| {
                    let start = append(region, body, rest);
                    (Bits::from_u64(32, u64::from(number)), start)
                })
                .collect();
            let value = Operand::Temp(action);
            let code = &mut region.blocks[block];
            code.terminator = Terminator::Switch { value, cases, default: rest };
            code.origin = origin;
            open.push(rest.index());
        }
    }
    crate::passes::renumber_temps(region);
    program.slots.extend(slots.finish());
}

/// Splits a basic block in front of an instruction. Temporaries that are used behind it become slots. Returns the
/// second part; the first has no terminator yet.
fn split(region: &mut Region, block: usize, at: usize, slots: &mut CarriedSlots<'_>) -> BlockId {
    let mut rest = region.blocks[block].instructions.split_off(at);
    let code = &mut region.blocks[block];
    let mut terminator = std::mem::replace(&mut code.terminator, Terminator::Return);
    let origin = code.origin;
    let mut used: BTreeSet<Temp> = BTreeSet::new();
    let operands = rest.iter().flat_map(|instruction| instruction.operation.operands());
    for operand in operands.chain(terminator.operand()) {
        if let Operand::Temp(temp) = operand {
            used.insert(*temp);
        }
    }
    let mut loads: Vec<Instruction> = Vec::new();
    let mut renamed: HashMap<Temp, Temp> = HashMap::new();
    let mut first: Vec<Instruction> = Vec::new();
    for instruction in std::mem::take(&mut code.instructions) {
        let Instruction { operation, origin } = &instruction;
        let mut stores = Vec::new();
        for (number, temp) in operation.results().into_iter().enumerate() {
            if !used.contains(&temp) {
                continue;
            }
            let ty = region.temps[temp.index()];
            let place = match operation {
                // It is carried already.
                Operation::Load { place: Place::Slot(slot), .. } if slots.is_new(*slot) => {
                    Place::Slot(*slot)
                }
                _ => {
                    let place = Place::Slot(slots.add(operation, number, ty, *origin));
                    let value = Operand::Temp(temp);
                    let store = Operation::Store { place: place.clone(), value };
                    stores.push(Instruction { operation: store, origin: *origin });
                    place
                }
            };
            let result = Temp(region.temps.len() as u32);
            region.temps.push(ty);
            let load = Operation::Load { result, place };
            loads.push(Instruction { operation: load, origin: *origin });
            renamed.insert(temp, result);
        }
        first.push(instruction);
        first.extend(stores);
    }
    region.blocks[block].instructions = first;
    for instruction in &mut rest {
        for operand in instruction.operation.operands_mut() {
            rename(operand, &renamed);
        }
    }
    terminator.operand_mut().into_iter().for_each(|operand| rename(operand, &renamed));
    loads.extend(rest);
    let rest = BasicBlock { name: "".into(), instructions: loads, terminator, origin };
    push(region, rest)
}

fn push(region: &mut Region, block: BasicBlock) -> BlockId {
    region.blocks.push(block);
    BlockId(region.blocks.len() as u32 - 1)
}

fn rename(operand: &mut Operand, renamed: &HashMap<Temp, Temp>) {
    if let Operand::Temp(temp) = operand
        && let Some(other) = renamed.get(temp)
    {
        *temp = *other;
    }
}

/// Appends a copy of an action's code, which continues at `rest` where the action returned.
fn append(region: &mut Region, body: &Region, rest: BlockId) -> BlockId {
    let first_temp = region.temps.len() as u32;
    let first_block = region.blocks.len() as u32;
    region.temps.extend(&body.temps);
    for block in &body.blocks {
        let mut block = block.clone();
        shift_temps(&mut block.instructions, first_temp);
        if let Some(Operand::Temp(temp)) = block.terminator.operand_mut() {
            temp.0 += first_temp;
        }
        for successor in block.terminator.successors_mut() {
            successor.0 += first_block;
        }
        if block.terminator == Terminator::Return {
            block.terminator = Terminator::Goto(rest);
        }
        region.blocks.push(block);
    }
    BlockId(first_block)
}

fn shift_temps(instructions: &mut [Instruction], by: u32) {
    for instruction in instructions {
        let operation = &mut instruction.operation;
        for operand in operation.operands_mut() {
            if let Operand::Temp(temp) = operand {
                temp.0 += by;
            }
        }
        operation.results_mut().into_iter().for_each(|temp| temp.0 += by);
        if let Operation::RegisterAccess { update: Some(update), .. } = operation {
            shift_results(&mut update.body, by);
        }
    }
}

/// What an update's body defines; operands are shifted with those of the access.
fn shift_results(body: &mut [Instruction], by: u32) {
    for instruction in body {
        instruction.operation.results_mut().into_iter().for_each(|temp| temp.0 += by);
    }
}
