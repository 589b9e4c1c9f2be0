// SPDX-License-Identifier: Apache-2.0
//! Region builder: creates basic blocks and temporaries, folds single operations on constants, and spills
//! temporaries that another block uses to slots. Independent of P4.

use super::{Lowered, Lowering};
use crate::{
    BasicBlock, BinaryOperation, Bits, BlockId, Instruction, Operand, Operation, OriginId, Place,
    Region, RegionKind, ResizeKind, SlotId, Temp, Terminator, UnaryOperation, ValueType,
};
use std::collections::HashMap;
use std::sync::Arc;

/// Code that was removed from the region under construction.
pub(super) struct TakenBlock {
    pub(super) instructions: Vec<Instruction>,
    pub(super) terminator: Option<Terminator>,
}

struct OpenBlock {
    name: Arc<str>,
    instructions: Vec<Instruction>,
    terminator: Option<(Terminator, OriginId)>,
}

/// A region under construction.
pub(super) struct Builder {
    name: Arc<str>,
    kind: RegionKind,
    temps: Vec<ValueType>,
    homes: Vec<BlockId>,
    blocks: Vec<OpenBlock>,
    current: BlockId,
    spills: HashMap<Temp, SlotId>,
    reloads: HashMap<(Temp, BlockId), Temp>,
}

impl Builder {
    pub(super) fn new(name: Arc<str>, kind: RegionKind) -> Builder {
        let entry = OpenBlock { name: "".into(), instructions: Vec::new(), terminator: None };
        Builder {
            name,
            kind,
            temps: Vec::new(),
            homes: Vec::new(),
            blocks: vec![entry],
            current: BlockId(0),
            spills: HashMap::new(),
            reloads: HashMap::new(),
        }
    }

    pub(super) fn kind(&self) -> RegionKind {
        self.kind
    }

    fn new_temp(&mut self, ty: ValueType) -> Temp {
        self.temps.push(ty);
        self.homes.push(self.current);
        Temp(self.temps.len() as u32 - 1)
    }

    /// The finished region: blocks that nothing reaches are gone, and chains of unnamed blocks are
    /// joined.
    pub(super) fn finish(mut self, origin: OriginId) -> Region {
        self.thread_empty_blocks();
        self.join_chains();
        let mut order = vec![0usize];
        let mut numbers: HashMap<usize, u32> = HashMap::from([(0, 0)]);
        let mut at = 0;
        while at < order.len() {
            for target in successors(self.blocks[order[at]].terminator.as_ref()) {
                if let std::collections::hash_map::Entry::Vacant(entry) = numbers.entry(target) {
                    entry.insert(order.len() as u32);
                    order.push(target);
                }
            }
            at += 1;
        }
        let mut blocks = Vec::with_capacity(order.len());
        for index in order {
            let block = &mut self.blocks[index];
            let (mut terminator, origin) =
                block.terminator.take().unwrap_or((Terminator::Return, origin));
            renumber(&mut terminator, &numbers);
            blocks.push(BasicBlock {
                name: block.name.clone(),
                instructions: std::mem::take(&mut block.instructions),
                terminator,
                origin,
            });
        }
        Region { name: self.name, kind: self.kind, temps: self.temps, blocks }
    }

    /// Redirects jumps to an empty block without a name to its target.
    fn thread_empty_blocks(&mut self) {
        let forward: Vec<usize> = (0..self.blocks.len())
            .map(|start| {
                let mut at = start;
                for _ in 0..self.blocks.len() {
                    let block = &self.blocks[at];
                    match block.terminator {
                        Some((Terminator::Goto(next), _))
                            if block.instructions.is_empty() && block.name.is_empty() =>
                        {
                            at = next.index();
                        }
                        _ => return at,
                    }
                }
                start
            })
            .collect();
        let numbers: HashMap<usize, u32> =
            forward.iter().enumerate().map(|(from, to)| (from, *to as u32)).collect();
        for block in &mut self.blocks {
            if let Some((terminator, _)) = &mut block.terminator {
                renumber(terminator, &numbers);
            }
        }
    }

    fn join_chains(&mut self) {
        let mut reachable = vec![false; self.blocks.len()];
        let mut predecessors = vec![0u32; self.blocks.len()];
        let mut work = vec![0usize];
        reachable[0] = true;
        predecessors[0] = 1;
        while let Some(index) = work.pop() {
            for target in successors(self.blocks[index].terminator.as_ref()) {
                predecessors[target] += 1;
                if !reachable[target] {
                    reachable[target] = true;
                    work.push(target);
                }
            }
        }
        for index in 0..self.blocks.len() {
            if !reachable[index] {
                continue;
            }
            while let Some((Terminator::Goto(next), _)) = self.blocks[index].terminator {
                let next = next.index();
                // Names of parser states are kept; the entry takes that of the first.
                let named = !self.blocks[next].name.is_empty();
                let takes_name = index == 0 && self.blocks[0].name.is_empty();
                let joinable =
                    next != index && predecessors[next] == 1 && next != 0 && (!named || takes_name);
                if !joinable {
                    break;
                }
                if named {
                    self.blocks[index].name = self.blocks[next].name.clone();
                }
                let moved = std::mem::take(&mut self.blocks[next].instructions);
                self.blocks[index].instructions.extend(moved);
                self.blocks[index].terminator = self.blocks[next].terminator.take();
                if self.blocks[index].terminator.is_none() {
                    break;
                }
                reachable[next] = false;
            }
        }
    }
}

fn successors(terminator: Option<&(Terminator, OriginId)>) -> Vec<usize> {
    match terminator {
        Some((Terminator::Goto(target), _)) => vec![target.index()],
        Some((Terminator::Branch { then, otherwise, .. }, _)) => {
            vec![then.index(), otherwise.index()]
        }
        Some((Terminator::Switch { cases, default, .. }, _)) => {
            cases.iter().map(|(_, target)| target.index()).chain([default.index()]).collect()
        }
        _ => Vec::new(),
    }
}

fn renumber(terminator: &mut Terminator, numbers: &HashMap<usize, u32>) {
    let change = |block: &mut BlockId| block.0 = numbers.get(&block.index()).copied().unwrap_or(0);
    match terminator {
        Terminator::Goto(target) => change(target),
        Terminator::Branch { then, otherwise, .. } => {
            change(then);
            change(otherwise);
        }
        Terminator::Switch { cases, default, .. } => {
            cases.iter_mut().for_each(|(_, target)| change(target));
            change(default);
        }
        _ => {}
    }
}

/// A constant of one bit.
pub(crate) fn bit(value: bool) -> Operand {
    Operand::Constant(Bits::from_bit(value))
}

/// A constant.
pub(crate) fn number(width_bits: u32, value: u64) -> Operand {
    Operand::Constant(Bits::from_u64(width_bits, value))
}

/// The constant, when it is one.
pub(crate) fn constant(operand: &Operand) -> Option<&Bits> {
    match operand {
        Operand::Constant(bits) => Some(bits),
        Operand::Temp(_) => None,
    }
}

impl Lowering<'_> {
    /// The type of an operand.
    pub(crate) fn operand_type(&self, operand: &Operand) -> ValueType {
        match operand {
            Operand::Constant(bits) => ValueType::Bits(bits.width_bits()),
            Operand::Temp(temp) => {
                self.builder.temps.get(temp.index()).copied().unwrap_or(ValueType::Bits(0))
            }
        }
    }

    /// Its width, or the largest width of a varbit.
    pub(crate) fn width(&self, operand: &Operand) -> u32 {
        self.operand_type(operand).width_bits()
    }

    /// A fresh temporary, to be defined by the next instruction.
    pub(crate) fn temp(&mut self, ty: ValueType) -> Temp {
        self.builder.new_temp(ty)
    }

    /// The operand as the current block may use it: a temporary of another block is stored there and
    /// loaded here.
    pub(super) fn reach(&mut self, operand: &mut Operand) {
        let Operand::Temp(temp) = *operand else { return };
        let home = self.builder.homes[temp.index()];
        let current = self.builder.current;
        if home == current {
            return;
        }
        if let Some(reloaded) = self.builder.reloads.get(&(temp, current)) {
            *operand = Operand::Temp(*reloaded);
            return;
        }
        let ty = self.builder.temps[temp.index()];
        let origin = self.origin;
        let slot = match self.builder.spills.get(&temp) {
            Some(slot) => *slot,
            None => {
                let name = format!("{}.$carry", self.builder.name);
                let slot = self.add_slot(&name, ty, crate::Display::Unsigned);
                self.builder.blocks[home.index()].instructions.push(Instruction {
                    operation: Operation::Store {
                        place: Place::Slot(slot),
                        value: Operand::Temp(temp),
                    },
                    origin,
                });
                self.builder.spills.insert(temp, slot);
                slot
            }
        };
        let reloaded = self.builder.new_temp(ty);
        let load = Operation::Load { result: reloaded, place: Place::Slot(slot) };
        self.builder.blocks[current.index()]
            .instructions
            .push(Instruction { operation: load, origin });
        self.builder.reloads.insert((temp, current), reloaded);
        *operand = Operand::Temp(reloaded);
    }

    /// Removes the code of a block and of all later blocks.
    pub(super) fn take_blocks(&mut self, first: BlockId) -> Vec<TakenBlock> {
        let blocks = self.builder.blocks.iter_mut().skip(first.index());
        blocks
            .map(|block| TakenBlock {
                instructions: std::mem::take(&mut block.instructions),
                terminator: block.terminator.take().map(|(terminator, _)| terminator),
            })
            .collect()
    }

    /// The temporary of a block before this one that a slot carries over block borders.
    pub(super) fn carried_by(&self, slot: SlotId, before: BlockId) -> Option<Temp> {
        let (temp, _) = self.builder.spills.iter().find(|(_, known)| **known == slot)?;
        (self.builder.homes[temp.index()] < before).then_some(*temp)
    }

    /// Appends an instruction to the current block.
    pub(crate) fn emit(&mut self, mut operation: Operation) {
        self.instruction_count += 1;
        for operand in operands_outside_body(&mut operation) {
            self.reach(operand);
        }
        // A fresh temporary was made before its operands were reloaded, in the same block.
        let origin = self.origin;
        let current = self.builder.current.index();
        self.builder.blocks[current].instructions.push(Instruction { operation, origin });
    }

    /// Ends the current block, unless it has ended. Later code is unreachable until a new block
    /// starts.
    pub(crate) fn terminate(&mut self, mut terminator: Terminator) {
        match &mut terminator {
            Terminator::Branch { condition, then, otherwise } => {
                if let Some(known) = constant(condition) {
                    terminator = Terminator::Goto(if known.is_true() { *then } else { *otherwise });
                } else {
                    self.reach(condition);
                }
            }
            Terminator::Switch { value, cases, default } => {
                if let Some(known) = constant(value) {
                    let target = cases
                        .iter()
                        .find(|(case, _)| case == known)
                        .map_or(*default, |(_, target)| *target);
                    terminator = Terminator::Goto(target);
                } else {
                    self.reach(value);
                }
            }
            Terminator::Reject(error) => self.reach(error),
            _ => {}
        }
        let origin = self.origin;
        let current = self.builder.current.index();
        self.builder.blocks[current].terminator.get_or_insert((terminator, origin));
        let dead = self.new_block("");
        self.start_block(dead);
    }

    /// Whether the region being made is an action's.
    pub(crate) fn is_in_action(&self) -> bool {
        self.builder.kind == RegionKind::Action
    }

    /// A new empty block.
    pub(crate) fn new_block(&mut self, name: &str) -> BlockId {
        self.builder.blocks.push(OpenBlock {
            name: name.into(),
            instructions: Vec::new(),
            terminator: None,
        });
        BlockId(self.builder.blocks.len() as u32 - 1)
    }

    /// Where instructions go at the moment.
    pub(crate) fn current_block(&self) -> BlockId {
        self.builder.current
    }

    /// Whether anything made so far leads to the current block.
    pub(super) fn is_reached(&self) -> bool {
        let (blocks, mut work) = (&self.builder.blocks, vec![0usize]);
        let mut reached = vec![false; blocks.len()];
        while let Some(index) = work.pop() {
            if !std::mem::replace(&mut reached[index], true) {
                work.extend(successors(blocks[index].terminator.as_ref()));
            }
        }
        reached[self.builder.current.index()]
    }

    /// Instructions go there from now on.
    pub(crate) fn start_block(&mut self, block: BlockId) {
        self.builder.current = block;
    }

    /// Jumps to a block and starts it.
    pub(crate) fn goto_and_start(&mut self, block: BlockId) {
        self.terminate(Terminator::Goto(block));
        self.start_block(block);
    }

    /// Branches to two new blocks.
    pub(crate) fn branch(&mut self, condition: Operand) -> (BlockId, BlockId) {
        let then = self.new_block("");
        let otherwise = self.new_block("");
        self.terminate(Terminator::Branch { condition, then, otherwise });
        (then, otherwise)
    }

    /// Reads a place.
    pub(crate) fn load_place(&mut self, place: Place, ty: ValueType) -> Operand {
        let result = self.temp(ty);
        self.emit(Operation::Load { result, place });
        Operand::Temp(result)
    }

    /// Writes a place.
    pub(crate) fn store_place(&mut self, place: Place, value: Operand) {
        self.emit(Operation::Store { place, value });
    }

    /// Reads a slot.
    pub(crate) fn load_slot(&mut self, slot: SlotId) -> Operand {
        let ty = self.program.slots[slot.index()].ty;
        self.load_place(Place::Slot(slot), ty)
    }

    /// Writes a slot.
    pub(crate) fn store_slot(&mut self, slot: SlotId, value: Operand) {
        self.store_place(Place::Slot(slot), value);
    }

    /// An operation with one operand.
    pub(crate) fn unary(&mut self, operation: UnaryOperation, operand: Operand) -> Operand {
        if let Some(known) = constant(&operand) {
            return Operand::Constant(known.unary(operation));
        }
        let result = self.temp(self.operand_type(&operand));
        self.emit(Operation::Unary { result, operation, operand });
        Operand::Temp(result)
    }

    /// An operation with two operands.
    pub(crate) fn binary(
        &mut self,
        operation: BinaryOperation,
        left: Operand,
        right: Operand,
    ) -> Operand {
        use BinaryOperation as B;
        if let (Some(left), Some(right)) = (constant(&left), constant(&right)) {
            return Operand::Constant(left.binary(operation, right));
        }
        if let Some(simple) = simplify(operation, &left, &right) {
            return simple;
        }
        let width = match operation {
            B::Equal
            | B::NotEqual
            | B::LessUnsigned
            | B::LessEqualUnsigned
            | B::LessSigned
            | B::LessEqualSigned => 1,
            B::Concat => self.width(&left).saturating_add(self.width(&right)),
            _ => self.width(&left),
        };
        let result = self.temp(ValueType::Bits(width));
        self.emit(Operation::Binary { result, operation, left, right });
        Operand::Temp(result)
    }

    /// One-bit negation.
    pub(crate) fn not(&mut self, operand: Operand) -> Operand {
        self.unary(UnaryOperation::Not, operand)
    }

    /// One-bit and.
    pub(crate) fn and(&mut self, left: Operand, right: Operand) -> Operand {
        self.binary(BinaryOperation::And, left, right)
    }

    /// One-bit or.
    pub(crate) fn or(&mut self, left: Operand, right: Operand) -> Operand {
        self.binary(BinaryOperation::Or, left, right)
    }

    /// To another width; sign extension when `signed`.
    pub(crate) fn resize(&mut self, operand: Operand, width: u32, signed: bool) -> Operand {
        let old = self.width(&operand);
        if old == width {
            return operand;
        }
        let kind = match (width < old, signed) {
            (true, _) => ResizeKind::Truncate,
            (false, true) => ResizeKind::SignExtend,
            (false, false) => ResizeKind::ZeroExtend,
        };
        if let Some(known) = constant(&operand) {
            return Operand::Constant(known.resize(kind, width));
        }
        let result = self.temp(ValueType::Bits(width));
        self.emit(Operation::Resize { result, kind, operand });
        Operand::Temp(result)
    }

    /// Bits `high..=low`.
    pub(crate) fn slice(&mut self, operand: Operand, high: u32, low: u32) -> Operand {
        if low == 0 && high + 1 == self.width(&operand) {
            return operand;
        }
        if let Some(known) = constant(&operand) {
            return Operand::Constant(known.slice(high, low));
        }
        let result = self.temp(ValueType::Bits(high - low + 1));
        self.emit(Operation::Slice { result, operand, high, low });
        Operand::Temp(result)
    }

    /// One of two by a bit.
    pub(crate) fn select(
        &mut self,
        condition: Operand,
        then: Operand,
        otherwise: Operand,
    ) -> Operand {
        if let Some(known) = constant(&condition) {
            return if known.is_true() { then } else { otherwise };
        }
        if then == otherwise {
            return then;
        }
        let ty = match self.operand_type(&then) {
            ValueType::Bits(_) => self.operand_type(&otherwise),
            varbit => varbit,
        };
        let result = self.temp(ty);
        self.emit(Operation::Select { result, condition, then, otherwise });
        Operand::Temp(result)
    }

    /// Whether more code may be made; reports once when not.
    pub(crate) fn check_growth(&mut self) -> Lowered<()> {
        if self.instruction_count > super::INSTRUCTION_LIMIT {
            return Err(self.error(
                crate::codes::lowering::CODE_GROWTH,
                format!("the program grows beyond {} instructions", super::INSTRUCTION_LIMIT),
            ));
        }
        Ok(())
    }
}

/// Neutral and absorbing operands, which inlining makes often.
fn simplify(operation: BinaryOperation, left: &Operand, right: &Operand) -> Option<Operand> {
    use BinaryOperation as B;
    let zero = |operand: &Operand| constant(operand).is_some_and(Bits::is_zero);
    let true_bit = |operand: &Operand| {
        constant(operand).is_some_and(|bits| bits.width_bits() == 1 && bits.is_true())
    };
    match operation {
        B::And if zero(left) || true_bit(right) => Some(left.clone()),
        B::And if zero(right) || true_bit(left) => Some(right.clone()),
        B::Or if zero(left) || true_bit(right) => Some(right.clone()),
        B::Or if zero(right) || true_bit(left) => Some(left.clone()),
        B::Concat if constant(left).is_some_and(|bits| bits.width_bits() == 0) => {
            Some(right.clone())
        }
        B::Concat if constant(right).is_some_and(|bits| bits.width_bits() == 0) => {
            Some(left.clone())
        }
        _ => None,
    }
}

/// The operands that the current block has to provide. A register update's body is left out: its
/// operands are its own, or were reached when the body was made.
fn operands_outside_body(operation: &mut Operation) -> Vec<&mut Operand> {
    match operation {
        Operation::RegisterAccess { index, guard, update, .. } => {
            let value = update.as_mut().map(|update| &mut update.value);
            std::iter::once(index).chain(guard).chain(value).collect()
        }
        _ => operation.operands_mut(),
    }
}
