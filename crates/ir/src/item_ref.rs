// SPDX-License-Identifier: Apache-2.0
//! [`ItemRef`]: refers to one item of a program, such as a slot, a table's entry or an instruction: the verifier's
//! errors name it, and the text form knows its line.

use crate::{BlockId, OriginId, Program, RegionId};
use std::fmt;

/// One item of a program. Numbers are indices into the list that the name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ItemRef {
    /// The program as a whole.
    Program,
    /// An error name.
    Error(u32),
    /// An origin.
    Origin(u32),
    /// A slot.
    Slot(u32),
    /// A header type.
    HeaderType(u32),
    /// A header instance.
    Header(u32),
    /// A header stack.
    Stack(u32),
    /// A header union.
    Union(u32),
    /// A table.
    Table(u32),
    /// A key of a table.
    TableKey(u32, u32),
    /// An action in a table's list.
    TableAction(u32, u32),
    /// A table's default action.
    TableDefault(u32),
    /// An entry of a table.
    TableEntry(u32, u32),
    /// An action.
    Action(u32),
    /// A register array.
    Register(u32),
    /// A counter.
    Counter(u32),
    /// A meter.
    Meter(u32),
    /// An action profile.
    ActionProfile(u32),
    /// A value set.
    ValueSet(u32),
    /// A calculation.
    Calculation(u32),
    /// A request.
    Request(u32),
    /// An extern.
    Extern(u32),
    /// A field list.
    FieldList(u32),
    /// A region.
    Region(RegionId),
    /// A programmable block.
    Block(u32),
    /// A basic block.
    BasicBlock(RegionId, BlockId),
    /// An instruction of a basic block.
    Instruction(RegionId, BlockId, u32),
    /// An instruction in the update of a register access: which instruction, and which of its body.
    UpdateInstruction(RegionId, BlockId, u32, u32),
    /// The end of a basic block.
    Terminator(RegionId, BlockId),
}

impl ItemRef {
    /// The origin of the item or of its owner, if it has one.
    pub fn origin(self, program: &Program) -> Option<OriginId> {
        let block = |region: RegionId, block: BlockId| {
            program.regions.get(region.index())?.blocks.get(block.index())
        };
        let instruction =
            |region, at, number: u32| block(region, at)?.instructions.get(number as usize);
        match self {
            ItemRef::Slot(at) => program.slots.get(at as usize).map(|slot| slot.origin),
            ItemRef::Table(at)
            | ItemRef::TableKey(at, _)
            | ItemRef::TableAction(at, _)
            | ItemRef::TableDefault(at) => {
                program.tables.get(at as usize).map(|table| table.origin)
            }
            ItemRef::TableEntry(table, at) => {
                let table = program.tables.get(table as usize)?;
                table.entries.get(at as usize).map(|entry| entry.origin)
            }
            ItemRef::Action(at) => program.actions.get(at as usize).map(|action| action.origin),
            ItemRef::Register(at) => program.registers.get(at as usize).map(|array| array.origin),
            ItemRef::Counter(at) => program.counters.get(at as usize).map(|counter| counter.origin),
            ItemRef::Meter(at) => program.meters.get(at as usize).map(|meter| meter.origin),
            ItemRef::ActionProfile(at) => {
                program.action_profiles.get(at as usize).map(|profile| profile.origin)
            }
            ItemRef::ValueSet(at) => program.value_sets.get(at as usize).map(|set| set.origin),
            ItemRef::Calculation(at) => {
                program.calculations.get(at as usize).map(|item| item.origin)
            }
            ItemRef::Extern(at) => program.externs.get(at as usize).map(|item| item.origin),
            ItemRef::Block(at) => program.blocks.get(at as usize).map(|block| block.origin),
            ItemRef::BasicBlock(region, at) | ItemRef::Terminator(region, at) => {
                block(region, at).map(|block| block.origin)
            }
            ItemRef::Instruction(region, at, number)
            | ItemRef::UpdateInstruction(region, at, number, _) => {
                instruction(region, at, number).map(|instruction| instruction.origin)
            }
            ItemRef::Program
            | ItemRef::Error(_)
            | ItemRef::Origin(_)
            | ItemRef::HeaderType(_)
            | ItemRef::Header(_)
            | ItemRef::Stack(_)
            | ItemRef::Union(_)
            | ItemRef::Request(_)
            | ItemRef::FieldList(_)
            | ItemRef::Region(_) => None,
        }
    }
}

impl fmt::Display for ItemRef {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ItemRef::Program => write!(formatter, "program"),
            ItemRef::Error(at) => write!(formatter, "error #{at}"),
            ItemRef::Origin(at) => write!(formatter, "origin @{at}"),
            ItemRef::Slot(at) => write!(formatter, "slot #{at}"),
            ItemRef::HeaderType(at) => write!(formatter, "header type #{at}"),
            ItemRef::Header(at) => write!(formatter, "header #{at}"),
            ItemRef::Stack(at) => write!(formatter, "stack #{at}"),
            ItemRef::Union(at) => write!(formatter, "union #{at}"),
            ItemRef::Table(at) => write!(formatter, "table #{at}"),
            ItemRef::TableKey(table, at) => write!(formatter, "table #{table}, key {at}"),
            ItemRef::TableAction(table, at) => write!(formatter, "table #{table}, action {at}"),
            ItemRef::TableDefault(table) => write!(formatter, "table #{table}, default action"),
            ItemRef::TableEntry(table, at) => write!(formatter, "table #{table}, entry {at}"),
            ItemRef::Action(at) => write!(formatter, "action #{at}"),
            ItemRef::Register(at) => write!(formatter, "register #{at}"),
            ItemRef::Counter(at) => write!(formatter, "counter #{at}"),
            ItemRef::Meter(at) => write!(formatter, "meter #{at}"),
            ItemRef::ActionProfile(at) => write!(formatter, "action profile #{at}"),
            ItemRef::ValueSet(at) => write!(formatter, "value set #{at}"),
            ItemRef::Calculation(at) => write!(formatter, "calculation #{at}"),
            ItemRef::Request(at) => write!(formatter, "request #{at}"),
            ItemRef::Extern(at) => write!(formatter, "extern #{at}"),
            ItemRef::FieldList(at) => write!(formatter, "field list #{at}"),
            ItemRef::Region(region) => write!(formatter, "region #{}", region.0),
            ItemRef::Block(at) => write!(formatter, "block #{at}"),
            ItemRef::BasicBlock(region, block) => {
                write!(formatter, "region #{}, block{}", region.0, block.0)
            }
            ItemRef::Instruction(region, block, at) => {
                write!(formatter, "region #{}, block{}, instruction {at}", region.0, block.0)
            }
            ItemRef::UpdateInstruction(region, block, at, inner) => write!(
                formatter,
                "region #{}, block{}, instruction {at}, update instruction {inner}",
                region.0, block.0
            ),
            ItemRef::Terminator(region, block) => {
                write!(formatter, "region #{}, end of block{}", region.0, block.0)
            }
        }
    }
}
