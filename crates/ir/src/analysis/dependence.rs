// SPDX-License-Identifier: Apache-2.0
//! [`Dependences`]: on which instructions and state a value depends, over the whole program: through
//! temporaries and slots, basic blocks, actions and programmable blocks, and through the branches, table
//! results and early ends that decide what runs. A [`Slice`] is the closure of that. Definitions are searched
//! backwards from each use, in the contexts of [`Frames`].
//!
//! Blocks run as [`Boundaries`] say. Values that leave in a packet's bytes and return in them are not followed.

use super::frames::{FrameId, Frames};
use super::points::{Point, Use};
use super::region_facts::RegionFacts;
use crate::architecture::boundaries::Boundaries;
use crate::effects::{self, Location};
use crate::{
    ExternAccess, Operand, Operation, Program, RegionKind, SlotId, SlotSet, TableId, Terminator,
};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// The code and the state that a value depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// Instructions and terminators, which are named by the points in front of them. A branch is among them
    /// where it decides what others do; an application of a table where its action's data or choice matters.
    pub code: BTreeSet<Point>,
    /// State that the code reads: registers, meters, externs, tables, value sets, calculations' parameters
    /// left out; [`Location::Random`] for random numbers.
    pub sources: BTreeSet<Location>,
    /// Slots whose values come from the device or from the beginning of the packet, where all are zero.
    pub inputs: BTreeSet<SlotId>,
    /// Whether the value depends on bytes or length of the packet.
    pub reads_packet: bool,
}

impl Slice {
    /// Adds another slice.
    pub fn include(&mut self, other: &Slice) {
        self.code.extend(&other.code);
        self.sources.extend(&other.sources);
        self.inputs.extend(&other.inputs);
        self.reads_packet |= other.reads_packet;
    }

    /// Whether it depends on state that packets change: registers, meters, externs.
    pub fn depends_on_state(&self) -> bool {
        self.sources.iter().any(is_state)
    }

    /// Whether it depends on what the control plane has configured: tables, value sets.
    pub fn depends_on_configuration(&self) -> bool {
        self.sources.iter().any(|it| matches!(it, Location::Table(_) | Location::ValueSet(_)))
    }
}

/// Whether packets change it.
fn is_state(location: &Location) -> bool {
    matches!(location, Location::Register(_) | Location::Meter(_) | Location::Extern(_))
}

/// What a definition is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Variable {
    Slot(SlotId),
    /// How far the parser has read.
    Cursor,
    /// Whether the block has ended already.
    Ended,
}

/// An instruction or terminator in a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct FramePoint {
    frame: FrameId,
    block: usize,
    instruction: usize,
}

/// A node of the graph of dependences: the results of an instruction, or its execution, which also
/// depends on whether it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Node {
    point: FramePoint,
    acts: bool,
}

/// What a node depends on directly.
#[derive(Clone, Debug, Default)]
struct Direct {
    nodes: Vec<Node>,
    sources: Vec<Location>,
    inputs: Vec<SlotId>,
    reads_packet: bool,
}

/// How an operation changes a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    None,
    May,
    Surely,
}

/// Work list of a backward search, each point once.
#[derive(Default)]
struct Search {
    open: Vec<FramePoint>,
    seen: HashSet<FramePoint>,
}

impl Search {
    fn push(&mut self, point: FramePoint) {
        if self.seen.insert(point) {
            self.open.push(point);
        }
    }
}

/// Dependences of a program.
#[derive(Debug)]
pub(super) struct Dependences<'a, 'p> {
    program: &'p Program,
    boundaries: &'a Boundaries,
    regions: &'a [RegionFacts<'p>],
    frames: &'a Frames,
    known: RefCell<HashMap<Node, Rc<Direct>>>,
    predecessors: Vec<Vec<Vec<usize>>>,
}

impl<'a, 'p> Dependences<'a, 'p> {
    pub(super) fn new(
        program: &'p Program,
        boundaries: &'a Boundaries,
        regions: &'a [RegionFacts<'p>],
        frames: &'a Frames,
    ) -> Dependences<'a, 'p> {
        let predecessors = program.regions.iter().map(crate::control_flow::predecessors).collect();
        Dependences {
            program,
            boundaries,
            regions,
            frames,
            known: RefCell::default(),
            predecessors,
        }
    }

    /// Everything that some values depend on. Uses at points of an action count in all its contexts; those at
    /// points that nothing reaches depend on nothing.
    pub(super) fn slice(&self, wanted: &[Use]) -> Slice {
        let mut direct = Direct::default();
        for one in wanted {
            let point = match one {
                Use::Operand(point, _) | Use::Slot(point, _) | Use::Reached(point) => *point,
            };
            let facts = &self.regions[point.region.index()];
            if facts.rank.get(point.block.index()).is_none_or(|rank| *rank == usize::MAX) {
                continue;
            }
            for &frame in self.frames.of_region(point.region) {
                let (block, instruction) = (point.block.index(), point.instruction as usize);
                let point = FramePoint { frame, block, instruction };
                match one {
                    Use::Operand(_, operand) => self.operands(point, [operand], &mut direct),
                    Use::Slot(_, slot) => {
                        self.definitions(point, Variable::Slot(*slot), &mut direct);
                    }
                    Use::Reached(_) => {
                        self.reached(point, &mut direct);
                        let code = &facts.region.blocks[block].instructions;
                        if let Some(Operation::RegisterAccess { guard: Some(guard), .. }) =
                            code.get(instruction).map(|it| &it.operation)
                        {
                            self.operands(point, [guard], &mut direct);
                        }
                    }
                }
            }
        }
        self.closure(direct)
    }

    fn closure(&self, direct: Direct) -> Slice {
        let mut slice = Slice::default();
        let mut seen: HashSet<Node> = HashSet::new();
        let mut open: Vec<Rc<Direct>> = vec![Rc::new(direct)];
        while let Some(direct) = open.pop() {
            slice.sources.extend(&direct.sources);
            slice.inputs.extend(&direct.inputs);
            slice.reads_packet |= direct.reads_packet;
            for &node in &direct.nodes {
                if seen.insert(node) {
                    let FramePoint { frame, block, instruction } = node.point;
                    let region = self.frames.frame(frame).region;
                    slice.code.insert(Point::new(region, block, instruction));
                    open.push(self.direct(node));
                }
            }
        }
        slice
    }

    fn facts(&self, point: FramePoint) -> &'a RegionFacts<'p> {
        &self.regions[self.frames.frame(point.frame).region.index()]
    }

    fn operation(&self, point: FramePoint) -> Option<&'p Operation> {
        let code = &self.facts(point).region.blocks[point.block].instructions;
        code.get(point.instruction).map(|instruction| &instruction.operation)
    }

    fn direct(&self, node: Node) -> Rc<Direct> {
        if let Some(known) = self.known.borrow().get(&node) {
            return known.clone();
        }
        let mut direct = Direct::default();
        let point = node.point;
        match self.operation(point) {
            None => {
                let terminator = &self.facts(point).region.blocks[point.block].terminator;
                self.operands(point, terminator.operand(), &mut direct);
            }
            Some(operation) => self.value(point, operation, &mut direct),
        }
        if node.acts {
            self.reached(point, &mut direct);
        }
        let direct = Rc::new(direct);
        self.known.borrow_mut().insert(node, direct.clone());
        direct
    }

    /// What the results of an operation depend on.
    fn value(&self, point: FramePoint, operation: &Operation, direct: &mut Direct) {
        self.operands(point, operation.operands(), direct);
        effects::visit_slots_read(self.program, operation, |slot| {
            self.definitions(point, Variable::Slot(slot), direct);
        });
        match operation {
            Operation::Extract { .. } | Operation::Lookahead { .. } | Operation::Advance { .. } => {
                direct.reads_packet = true;
                self.definitions(point, Variable::Cursor, direct);
            }
            Operation::Hash { payload: true, .. } => {
                direct.reads_packet = true;
                self.definitions(point, Variable::Cursor, direct);
            }
            Operation::PacketLength { .. } => direct.reads_packet = true,
            Operation::Apply { table, .. } => direct.sources.push(Location::Table(*table)),
            Operation::RegisterAccess { register, .. } => {
                direct.sources.push(Location::Register(*register));
            }
            Operation::Meter { meter, .. } | Operation::MeterDirect { meter, .. } => {
                direct.sources.push(Location::Meter(*meter));
            }
            Operation::ValueSetContains { set, .. } => {
                direct.sources.push(Location::ValueSet(*set));
            }
            Operation::CallExtern { target, effects, .. } => {
                if effects.access != ExternAccess::Pure {
                    direct.sources.push(Location::Extern(*target));
                }
                if effects.random.is_some() {
                    direct.sources.push(Location::Random);
                }
            }
            Operation::Random { .. } => direct.sources.push(Location::Random),
            _ => {}
        }
    }

    fn operands<'o>(
        &self,
        point: FramePoint,
        operands: impl IntoIterator<Item = &'o Operand>,
        direct: &mut Direct,
    ) {
        for operand in operands {
            let Operand::Temp(temp) = operand else { continue };
            // What an update's body defines has no definition here; its operands are all listed.
            if let Some((at, _)) = self.facts(point).definition(*temp)
                && at != point.instruction
            {
                let point = FramePoint { instruction: at, ..point };
                direct.nodes.push(Node { point, acts: false });
            }
        }
    }

    /// What reaching a place depends on: decisions of branches, the table whose action it is
    /// in, and instructions before that may end the block.
    fn reached(&self, point: FramePoint, direct: &mut Direct) {
        let facts = self.facts(point);
        for decision in &facts.decisions[point.block] {
            let instruction = facts.region.blocks[decision.block].instructions.len();
            let point = FramePoint { block: decision.block, instruction, ..point };
            direct.nodes.push(Node { point, acts: true });
        }
        if let Some(by) = self.frames.frame(point.frame).applied_by {
            let point =
                FramePoint { frame: by.frame, block: by.block, instruction: by.instruction };
            direct.nodes.push(Node { point, acts: true });
        }
        self.definitions(point, Variable::Ended, direct);
    }

    fn change(&self, operation: &Operation, variable: Variable) -> Change {
        match variable {
            Variable::Slot(slot) => {
                if effects::slots_surely_written(self.program, operation).contains(&slot) {
                    return Change::Surely;
                }
                let writes = match operation {
                    Operation::Store { place, .. } => effects::place_slots(self.program, place),
                    Operation::Extract { header, .. } => {
                        effects::header_reference_slots(self.program, header)
                    }
                    Operation::ShiftStack { .. } => {
                        let effects = effects::of_operation(self.program, operation);
                        effects.slots_written().into_iter().collect()
                    }
                    _ => return Change::None,
                };
                if writes.contains(&slot) { Change::May } else { Change::None }
            }
            Variable::Cursor => match operation {
                Operation::Extract { .. } | Operation::Advance { .. } => Change::May,
                _ => Change::None,
            },
            Variable::Ended => match effects::may_end_block(operation) {
                true => Change::May,
                false => Change::None,
            },
        }
    }

    /// Adds the definitions of a variable that reach a place.
    fn definitions(&self, at: FramePoint, variable: Variable, direct: &mut Direct) {
        let mut search = Search::default();
        search.push(at);
        while let Some(point) = search.open.pop() {
            let facts = self.facts(point);
            let code = &facts.region.blocks[point.block].instructions;
            let may_change = match variable {
                Variable::Slot(slot) => facts.writes(point.block).contains(&Location::Slot(slot)),
                Variable::Cursor => facts.writes(point.block).contains(&Location::PacketCursor),
                Variable::Ended => true,
            };
            let from = if may_change { point.instruction.min(code.len()) } else { 0 };
            let mut goes_on = true;
            for instruction in (0..from).rev() {
                let here = FramePoint { instruction, ..point };
                let operation = &code[instruction].operation;
                if let Operation::Apply { table, .. } = operation {
                    goes_on = self.through_table(here, *table, variable, (&mut search, direct));
                } else {
                    let change = self.change(operation, variable);
                    if change != Change::None {
                        direct.nodes.push(Node { point: here, acts: true });
                    }
                    goes_on = change != Change::Surely;
                }
                if !goes_on {
                    break;
                }
            }
            if goes_on {
                self.before_block(point, variable, (&mut search, direct));
            }
        }
    }

    /// Searches the actions of an application. Returns whether the search continues before it in any case.
    fn through_table(
        &self,
        point: FramePoint,
        table: TableId,
        variable: Variable,
        (search, direct): (&mut Search, &mut Direct),
    ) -> bool {
        let effects = self.facts(point).effects(point.block, point.instruction);
        let may_change = match variable {
            Variable::Slot(slot) => effects.writes.contains(&Location::Slot(slot)),
            Variable::Cursor => false,
            Variable::Ended => effects.may_end_block,
        };
        if !may_change {
            return true;
        }
        let children = self.frames.children((point.frame, point.block, point.instruction));
        for &frame in children {
            let facts = &self.regions[self.frames.frame(frame).region.index()];
            for &block in &facts.order {
                let code = &facts.region.blocks[block];
                let end = FramePoint { frame, block, instruction: code.instructions.len() };
                match variable {
                    Variable::Ended => {
                        if matches!(code.terminator, Terminator::Exit) {
                            direct.nodes.push(Node { point: end, acts: true });
                        }
                        for instruction in 0..code.instructions.len() {
                            if facts.effects(block, instruction).may_end_block {
                                let point = FramePoint { instruction, ..end };
                                direct.nodes.push(Node { point, acts: true });
                            }
                        }
                    }
                    _ if matches!(code.terminator, Terminator::Return) => search.push(end),
                    _ => {}
                }
            }
        }
        let table = &self.program.tables[table.index()];
        variable == Variable::Ended || table.implementation.is_some() || children.is_empty()
    }

    /// Continues the search at the ends of the predecessors of a basic block.
    fn before_block(
        &self,
        point: FramePoint,
        variable: Variable,
        (search, direct): (&mut Search, &mut Direct),
    ) {
        let frame = self.frames.frame(point.frame);
        let facts = self.facts(point);
        for &block in &self.predecessors[frame.region.index()][point.block] {
            let instruction = facts.region.blocks[block].instructions.len();
            search.push(FramePoint { block, instruction, ..point });
        }
        if point.block != 0 {
            return;
        }
        if let Some(by) = frame.applied_by {
            let place =
                FramePoint { frame: by.frame, block: by.block, instruction: by.instruction };
            let parameters = &self.program.actions[by.action.index()].parameters;
            match variable {
                Variable::Slot(slot) if parameters.iter().any(|it| it.slot == slot) => {
                    direct.nodes.push(Node { point: place, acts: true });
                }
                // That it runs at all is said by `reached` of the application.
                Variable::Ended => {}
                _ => search.push(place),
            }
            return;
        }
        let Some(block) = frame.program_block else {
            if let Variable::Slot(slot) = variable {
                direct.inputs.push(slot);
            }
            return;
        };
        let keeps = |keeps: &SlotSet| match variable {
            Variable::Slot(slot) => keeps.contains(slot),
            Variable::Cursor => facts.region.kind != RegionKind::Parser,
            Variable::Ended => false,
        };
        let mut comes_from_outside = self.boundaries.first.contains(&block);
        for (from, end) in self.boundaries.ends.iter().enumerate() {
            for passage in end.next.iter().filter(|passage| passage.to == block) {
                match keeps(&passage.keeps) {
                    true => self.at_block_end(from, variable, (search, direct)),
                    false => comes_from_outside = true,
                }
            }
        }
        if let (true, Variable::Slot(slot)) = (comes_from_outside, variable) {
            direct.inputs.push(slot);
        }
    }

    /// All ends of a programmable block, `exit` and errors among them.
    fn at_block_end(
        &self,
        block: usize,
        variable: Variable,
        (search, direct): (&mut Search, &mut Direct),
    ) {
        let Some(frame) = self.frames.of_block(self.program, block) else { return };
        let declared = &self.program.blocks[block];
        let facts = &self.regions[declared.region.index()];
        let is_parser = facts.region.kind == RegionKind::Parser;
        // A parser that does not accept stores its error.
        let error = declared.parser_error.filter(|_| is_parser).map(Variable::Slot);
        for &at in &facts.order {
            let code = &facts.region.blocks[at];
            let point = FramePoint { frame, block: at, instruction: code.instructions.len() };
            match &code.terminator {
                Terminator::Return => search.push(point),
                Terminator::Exit | Terminator::Reject(_) if error == Some(variable) => {
                    direct.nodes.push(Node { point, acts: true });
                }
                Terminator::Exit | Terminator::Reject(_) => search.push(point),
                _ => {}
            }
            for instruction in 0..code.instructions.len() {
                if !facts.effects(at, instruction).may_end_block {
                    continue;
                }
                let here = FramePoint { instruction, ..point };
                let children = self.frames.children((frame, at, instruction));
                match error == Some(variable) {
                    true => direct.nodes.push(Node { point: here, acts: true }),
                    false if children.is_empty() => search.push(here),
                    false => children.iter().for_each(|child| self.exits_of_action(*child, search)),
                }
            }
        }
    }

    fn exits_of_action(&self, frame: FrameId, search: &mut Search) {
        let facts = &self.regions[self.frames.frame(frame).region.index()];
        for &block in &facts.order {
            let code = &facts.region.blocks[block];
            let end = code.instructions.len();
            if matches!(code.terminator, Terminator::Exit) {
                search.push(FramePoint { frame, block, instruction: end });
            }
            for instruction in 0..end {
                if facts.effects(block, instruction).may_end_block {
                    search.push(FramePoint { frame, block, instruction });
                }
            }
        }
    }
}
