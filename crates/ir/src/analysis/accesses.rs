// SPDX-License-Identifier: Apache-2.0
//! [`StateAccess`]: each access of state that packets share: registers, counters and meters, also direct ones,
//! and externs. Names of accesses and their origins survive the passes; what index and guard depend on is
//! computed by `dependence`.

use super::dependence::Slice;
use super::points::Point;
use crate::effects::{self, Location};
use crate::{ExternAccess, Instruction, Operand, Operation, OriginId, Program, RegionId};

/// Which cell of its object an access is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellIndex {
    /// The cell of this number.
    Operand(Operand),
    /// The cell of the entry that the table's application found, or of its default action.
    Entry,
    /// All of the object's state.
    Whole,
}

/// An access of state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateAccess {
    /// The instruction. Of direct counters that count by themselves it is the application of their table.
    pub at: Point,
    /// What is accessed: a register, a counter, a meter or an extern.
    pub object: Location,
    /// Which cell.
    pub index: CellIndex,
    /// The guard that the instruction itself has.
    pub guard: Option<Operand>,
    /// Whether the program uses the value that it reads.
    pub reads: bool,
    /// Whether it changes the state.
    pub writes: bool,
    /// Its origin, or those of all accesses that were fused into it, in order.
    pub origins: Vec<OriginId>,
    /// A name for each of the origins: the object, the typed program's nodes from the outermost call to the
    /// access, and a number where the same node makes several accesses, as in an unrolled loop. Passes keep
    /// names, so an access of the program as lowered is found in the program as run.
    pub names: Vec<String>,
}

/// What an access depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessSlices {
    /// The inputs of its index. For an access at an entry: the inputs of the lookup.
    pub index: Slice,
    /// What decides that it happens: branches, applications of tables, early ends, and its own guard.
    pub guard: Slice,
}

/// All accesses of a program, in the order of regions and instructions.
pub(super) fn accesses(program: &Program) -> Vec<StateAccess> {
    let mut accesses = Vec::new();
    for (region_at, region) in program.regions.iter().enumerate() {
        for (block_at, block) in region.blocks.iter().enumerate() {
            for (at, instruction) in block.instructions.iter().enumerate() {
                let point = Point::new(RegionId(region_at as u32), block_at, at);
                of_instruction(program, point, instruction, &mut accesses);
            }
        }
    }
    accesses
}

fn of_instruction(
    program: &Program,
    at: Point,
    instruction: &Instruction,
    accesses: &mut Vec<StateAccess>,
) {
    let mut guard_operand = None;
    let (object, index, reads, writes) = match &instruction.operation {
        Operation::RegisterAccess { register, index, guard, old, update } => {
            guard_operand = guard.clone();
            let index = CellIndex::Operand(index.clone());
            (Location::Register(*register), index, old.is_some(), update.is_some())
        }
        Operation::Count { counter, index } => {
            (Location::Counter(*counter), CellIndex::Operand(index.clone()), false, true)
        }
        Operation::CountDirect { counter } => {
            (Location::Counter(*counter), CellIndex::Entry, false, true)
        }
        Operation::Meter { meter, index, .. } => {
            (Location::Meter(*meter), CellIndex::Operand(index.clone()), true, true)
        }
        Operation::MeterDirect { meter, .. } => {
            (Location::Meter(*meter), CellIndex::Entry, true, true)
        }
        Operation::CallExtern { target, effects, .. } if effects.access != ExternAccess::Pure => {
            let writes = effects.access == ExternAccess::Any;
            (Location::Extern(*target), CellIndex::Whole, true, writes)
        }
        Operation::Apply { table, .. } => {
            for counter in program.automatic_counters(*table) {
                let object = Location::Counter(counter);
                let index = CellIndex::Entry;
                accesses.push(access(
                    program,
                    instruction.origin,
                    (at, object, index),
                    (false, true),
                ));
            }
            return;
        }
        _ => return,
    };
    let found = access(program, instruction.origin, (at, object, index), (reads, writes));
    accesses.push(StateAccess { guard: guard_operand, ..found });
}

fn access(
    program: &Program,
    origin: OriginId,
    (at, object, index): (Point, Location, CellIndex),
    (reads, writes): (bool, bool),
) -> StateAccess {
    let origins = program.merged_origins(origin);
    let names = origins.iter().map(|origin| name(program, object, *origin)).collect();
    StateAccess { at, object, index, guard: None, reads, writes, origins, names }
}

/// The name of an access of this origin.
fn name(program: &Program, object: Location, origin: OriginId) -> String {
    let mut nodes = effects::call_chain(program, origin);
    nodes.reverse();
    let nodes: Vec<String> = nodes.iter().map(|node| node.0.to_string()).collect();
    let mut name = format!("{}@{}", object.describe(program), nodes.join("."));
    let repetition = program.origins.get(origin.index()).map_or(0, |origin| origin.repetition);
    if repetition > 0 {
        name.push_str(&format!("#{repetition}"));
    }
    name
}
