// SPDX-License-Identifier: Apache-2.0
//! [`StagedControl`]: a control as a machine runs it: a block for each stage, address resolution in front, and for each group
//! whose predicate depends on state a block that decides once the state is known (MP5 §3.3).
//!
//! The blocks in front are of a program of their own, because their tables run no actions. Both programs have the same
//! storage.

mod not_staged;

pub use not_staged::NotStaged;

use crate::resolution::{GroupSlots, Resolution, add_decision, resolution_in, state_of_predicate};
use crate::sharding::ControlSharding;
use crate::work::Group;
use ir::analysis::{ControlValues, Point, Value, ValueId};
use ir::effects::Location;
use ir::stages::{Constraints, MovedActions, Staged, behind_tables, cut};
use ir::{
    Display, Instruction, Operation, Place, Program, RegionKind, RegisterId, Slot, SlotId, Temp,
    Terminator,
};
use state::MovedCells;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A control in stages.
#[derive(Clone, Debug)]
pub struct StagedControl {
    /// The program with a block for each stage.
    pub program: Arc<Program>,
    /// The blocks of the stages.
    pub stages: Vec<usize>,
    /// The program with the blocks in front and the decisions.
    pub front: Arc<Program>,
    /// The block of address resolution.
    pub resolution: usize,
    /// How many stages address resolution takes.
    pub resolution_stages: usize,
    /// The groups.
    pub groups: Vec<StagedGroup>,
    /// Slots of what stages have read, which decisions need.
    pub reads: Vec<SlotId>,
}

impl StagedControl {
    /// Returns the groups as machines know them.
    pub fn work_groups(&self) -> Vec<Group> {
        let group = |group: &StagedGroup| Group {
            name: group.name.clone(),
            stage: group.stage,
            cells: group.cells,
        };
        self.groups.iter().map(group).collect()
    }
}

/// A group of a control in stages.
#[derive(Clone, Debug)]
pub struct StagedGroup {
    /// Its arrays' names.
    pub name: String,
    /// The stage.
    pub stage: usize,
    /// The arrays: registers, meters and externs.
    pub arrays: Vec<Location>,
    /// The number of cells that are mapped to pipelines; 1 if all cells lie in one pipeline.
    pub cells: u32,
    /// Whether cells lie in several pipelines.
    pub is_sharded: bool,
    /// What address resolution says of it.
    pub slots: GroupSlots,
    /// What decides later whether a packet accesses it.
    pub decision: Option<Decision>,
}

impl StagedGroup {
    /// Returns which cells of its arrays move with a cell that is mapped to pipelines.
    pub fn moved_cells(&self, cell: u64) -> MovedCells {
        if self.is_sharded { MovedCells::One(cell) } else { MovedCells::All }
    }

    /// Returns its registers.
    pub fn registers(&self) -> impl Iterator<Item = RegisterId> + '_ {
        self.arrays.iter().filter_map(|array| match array {
            Location::Register(register) => Some(*register),
            _ => None,
        })
    }
}

/// What decides whether a packet accesses a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The stage after which it is known.
    pub after: usize,
    /// The block of the program in front.
    pub block: usize,
    /// The slot of the answer, one bit.
    pub slot: SlotId,
}

/// Cuts a control into stages. The sharding is of the program.
///
/// # Errors
///
/// Why no machine runs it.
pub fn stage(control: &mut ControlSharding<'_>) -> Result<StagedControl, NotStaged> {
    let mut staged = stage_all(std::slice::from_mut(control))?;
    staged.pop().ok_or(NotStaged::Values)
}

/// Cuts controls of one program into stages: one program has the stages of all, and one has what runs in front. The
/// controls are in the order of the program's blocks.
///
/// # Errors
///
/// Why no machine runs one of them.
pub fn stage_all(controls: &mut [ControlSharding<'_>]) -> Result<Vec<StagedControl>, NotStaged> {
    let Some(first) = controls.first() else { return Ok(Vec::new()) };
    let mut program = first.values.as_ref().ok_or(NotStaged::Values)?.program().clone();
    let mut cuts: Vec<Cut> = Vec::new();
    // A cut moves the blocks behind it only.
    for control in controls.iter().rev() {
        movable(control)?;
        let (staged, reads) = cut_control(program, control)?;
        let added = staged.stages.len() - 1;
        for later in &mut cuts {
            later.stages.iter_mut().for_each(|block| *block += added);
        }
        program = staged.program;
        cuts.push(Cut { stages: staged.stages, reads });
    }
    let mut front = without_blocks(&program);
    let mut made = Vec::new();
    for (control, cut) in controls.iter_mut().zip(cuts.into_iter().rev()) {
        let mut resolution = resolution_in(control, front).ok_or(NotStaged::Values)?;
        let groups = groups(control, &mut resolution, &cut.reads);
        front = resolution.program;
        made.push((cut, resolution.block, resolution.stages, groups));
    }
    program.slots.clone_from(&front.slots);
    program.origins.clone_from(&front.origins);
    let (program, front) = (Arc::new(program), Arc::new(front));
    let staged =
        made.into_iter().map(|(cut, resolution, resolution_stages, groups)| StagedControl {
            program: program.clone(),
            stages: cut.stages,
            resolution,
            resolution_stages,
            front: front.clone(),
            groups,
            reads: cut.reads.into_values().collect(),
        });
    Ok(staged.collect())
}

/// The blocks of a control in stages, and the slots of what its accesses have read.
struct Cut {
    stages: Vec<usize>,
    reads: BTreeMap<ValueId, SlotId>,
}

/// Checks that machines can move the arrays of a control.
fn movable(control: &ControlSharding<'_>) -> Result<(), NotStaged> {
    for array in &control.arrays {
        if array.rule == crate::sharding::Rule::TwoControls {
            let reason = "ingress and egress both access it";
            return Err(NotStaged::Array(array.object, array.name.clone(), reason));
        }
    }
    Ok(())
}

/// Cuts a control of a program in which controls behind it may be cut already.
fn cut_control(
    program: Program,
    control: &ControlSharding<'_>,
) -> Result<(Staged, BTreeMap<ValueId, SlotId>), NotStaged> {
    let values = control.values.as_ref().ok_or(NotStaged::Values)?;
    let moved = behind_tables(&program, control.block, MovedActions::Stateful);
    let (mut program, mut sources) = (moved.program, moved.sources);
    let mut needed: BTreeSet<(usize, ValueId)> = BTreeSet::new();
    for group in control.groups.iter().filter(|group| group.known_after.is_some()) {
        needed.extend(state_of_predicate(values, group));
    }
    let reads = store_reads(&mut program, &mut sources, control.block, values, &needed);
    let assignment = {
        let constraints = Constraints::of(&program, control.block).map_err(NotStaged::Cut)?;
        let mut wanted: BTreeMap<Point, u32> = BTreeMap::new();
        let mut given = Vec::new();
        for group in &control.groups {
            for array in group.arrays.iter().map(|array| &control.arrays[*array]) {
                if let Some(class) = constraints.class_of_object(array.object) {
                    let point = constraints.classes()[class][0];
                    wanted.insert(point, group.stage as u32);
                    given.push((point, group.stage as u32, array));
                }
            }
        }
        let assignment = constraints.at_least(&wanted, control.stages.max(1) as u32);
        // The stages of the sharding keep the order of the constraints.
        for (point, stage, array) in given {
            if assignment.stage(point) != Some(stage) {
                return Err(NotStaged::Stage(array.object, array.name.clone()));
            }
        }
        assignment
    };
    let staged = cut(&program, control.block, &assignment).map_err(NotStaged::Cut)?;
    Ok((staged, reads))
}

/// Returns the program without the code of its controls.
fn without_blocks(program: &Program) -> Program {
    let mut empty = program.clone();
    for block in &program.blocks {
        let region = &mut empty.regions[block.region.index()];
        if region.kind == RegionKind::Control {
            region.temps.clear();
            region.blocks.truncate(1);
            for code in &mut region.blocks {
                code.instructions.clear();
                code.terminator = Terminator::Return;
            }
        }
    }
    empty
}

/// Makes the groups, and the decisions of those whose predicate is known in front of their stage.
fn groups(
    control: &mut ControlSharding<'_>,
    front: &mut Resolution,
    reads: &BTreeMap<ValueId, SlotId>,
) -> Vec<StagedGroup> {
    let mut groups = Vec::new();
    for at in 0..control.groups.len() {
        let group = control.groups[at].clone();
        let decision = group.known_after.and_then(|after| {
            let values = control.values.as_ref()?;
            let state = state_of_predicate(values, &group);
            let of_group = state.into_iter().map(|(_, value)| Some((value, *reads.get(&value)?)));
            let of_group: BTreeMap<ValueId, SlotId> = of_group.collect::<Option<_>>()?;
            let (block, slot) = add_decision(front, control, at, &of_group)?;
            Some(Decision { after, block, slot })
        });
        let arrays = group.arrays.iter().map(|array| &control.arrays[*array]);
        let names: Vec<&str> = arrays.clone().map(|array| &*array.name).collect();
        let slots = front.slots[at];
        let is_sharded = group.is_sharded && slots.index.is_some();
        groups.push(StagedGroup {
            name: names.join("+"),
            stage: group.stage,
            arrays: arrays.map(|array| array.object).collect(),
            cells: if is_sharded { u32::try_from(group.cells).unwrap_or(u32::MAX) } else { 1 },
            is_sharded,
            slots,
            decision,
        });
    }
    groups
}

/// Stores what accesses have read in slots of their own, behind the accesses. An access that the program has several times has
/// none.
fn store_reads(
    program: &mut Program,
    sources: &mut BTreeMap<Point, Point>,
    block: usize,
    values: &ControlValues<'_>,
    needed: &BTreeSet<(usize, ValueId)>,
) -> BTreeMap<ValueId, SlotId> {
    let mut slots = BTreeMap::new();
    // By basic block and instruction: what to store there.
    let mut inserted: BTreeMap<(usize, usize), Vec<(SlotId, Temp)>> = BTreeMap::new();
    let region = program.blocks[block].region;
    for (access, value) in needed {
        let at = values.accesses()[*access].at;
        let copies = values.accesses().iter().filter(|other| other.at == at).count();
        let mut places = sources.iter().filter(|(_, source)| **source == at).map(|(at, _)| *at);
        let is_access = |point: &Point| {
            let code = &program.regions[region.index()].blocks[point.block.index()].instructions;
            matches!(code[point.instruction as usize].operation, Operation::RegisterAccess { .. })
        };
        let (Some(point), None, 1) = (places.find(is_access), places.find(is_access), copies)
        else {
            continue;
        };
        let code = &program.regions[region.index()].blocks[point.block.index()].instructions;
        let Operation::RegisterAccess { old: Some(old), .. } =
            code[point.instruction as usize].operation
        else {
            continue;
        };
        let Value::Read(_, _, ty) = *values.values().value(*value) else { continue };
        let slot = SlotId(program.slots.len() as u32);
        program.slots.push(Slot {
            name: format!("mp5.read{access}").into(),
            ty,
            display: Display::Unsigned,
            origin: values.accesses()[*access].origin,
        });
        slots.insert(*value, slot);
        let place = (point.block.index(), point.instruction as usize);
        inserted.entry(place).or_default().push((slot, old));
    }
    for ((block, at), stores) in inserted.iter().rev() {
        let code = &mut program.regions[region.index()].blocks[*block].instructions;
        let origin = code[*at].origin;
        for (slot, old) in stores {
            let value = ir::Operand::Temp(*old);
            let operation = Operation::Store { place: Place::Slot(*slot), value };
            code.insert(at + 1, Instruction { operation, origin });
        }
    }
    let before = std::mem::take(sources);
    for (point, source) in before {
        let first = (point.block.index(), 0);
        let here = (point.block.index(), point.instruction as usize);
        let shift: usize = inserted.range(first..here).map(|(_, stores)| stores.len()).sum();
        let place = Point::new(point.region, here.0, here.1 + shift);
        sources.insert(place, source);
    }
    slots
}
