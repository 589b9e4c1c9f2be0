// SPDX-License-Identifier: Apache-2.0
//! A site is one item of a program, such as a slot, a table's entry or an instruction: what the
//! verifier complains about and what the text form knows the line of. Nothing here looks inside items.

use crate::{BlockId, OriginId, Program, RegionId};
use std::fmt;

/// One item of a program. Numbers are indices into the list that the name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Site {
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

impl Site {
    /// Where the item comes from, when it or what it belongs to says so.
    pub fn origin(self, program: &Program) -> Option<OriginId> {
        let block = |region: RegionId, block: BlockId| {
            program.regions.get(region.index())?.blocks.get(block.index())
        };
        let instruction =
            |region, at, number: u32| block(region, at)?.instructions.get(number as usize);
        match self {
            Site::Slot(at) => program.slots.get(at as usize).map(|slot| slot.origin),
            Site::Table(at)
            | Site::TableKey(at, _)
            | Site::TableAction(at, _)
            | Site::TableDefault(at) => program.tables.get(at as usize).map(|table| table.origin),
            Site::TableEntry(table, at) => {
                let table = program.tables.get(table as usize)?;
                table.entries.get(at as usize).map(|entry| entry.origin)
            }
            Site::Action(at) => program.actions.get(at as usize).map(|action| action.origin),
            Site::Register(at) => program.registers.get(at as usize).map(|array| array.origin),
            Site::Counter(at) => program.counters.get(at as usize).map(|counter| counter.origin),
            Site::Meter(at) => program.meters.get(at as usize).map(|meter| meter.origin),
            Site::ActionProfile(at) => {
                program.action_profiles.get(at as usize).map(|profile| profile.origin)
            }
            Site::ValueSet(at) => program.value_sets.get(at as usize).map(|set| set.origin),
            Site::Calculation(at) => program.calculations.get(at as usize).map(|item| item.origin),
            Site::Extern(at) => program.externs.get(at as usize).map(|item| item.origin),
            Site::Block(at) => program.blocks.get(at as usize).map(|block| block.origin),
            Site::BasicBlock(region, at) | Site::Terminator(region, at) => {
                block(region, at).map(|block| block.origin)
            }
            Site::Instruction(region, at, number)
            | Site::UpdateInstruction(region, at, number, _) => {
                instruction(region, at, number).map(|instruction| instruction.origin)
            }
            Site::Program
            | Site::Error(_)
            | Site::Origin(_)
            | Site::HeaderType(_)
            | Site::Header(_)
            | Site::Stack(_)
            | Site::Union(_)
            | Site::Request(_)
            | Site::FieldList(_)
            | Site::Region(_) => None,
        }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Site::Program => write!(formatter, "program"),
            Site::Error(at) => write!(formatter, "error #{at}"),
            Site::Origin(at) => write!(formatter, "origin @{at}"),
            Site::Slot(at) => write!(formatter, "slot #{at}"),
            Site::HeaderType(at) => write!(formatter, "header type #{at}"),
            Site::Header(at) => write!(formatter, "header #{at}"),
            Site::Stack(at) => write!(formatter, "stack #{at}"),
            Site::Union(at) => write!(formatter, "union #{at}"),
            Site::Table(at) => write!(formatter, "table #{at}"),
            Site::TableKey(table, at) => write!(formatter, "table #{table}, key {at}"),
            Site::TableAction(table, at) => write!(formatter, "table #{table}, action {at}"),
            Site::TableDefault(table) => write!(formatter, "table #{table}, default action"),
            Site::TableEntry(table, at) => write!(formatter, "table #{table}, entry {at}"),
            Site::Action(at) => write!(formatter, "action #{at}"),
            Site::Register(at) => write!(formatter, "register #{at}"),
            Site::Counter(at) => write!(formatter, "counter #{at}"),
            Site::Meter(at) => write!(formatter, "meter #{at}"),
            Site::ActionProfile(at) => write!(formatter, "action profile #{at}"),
            Site::ValueSet(at) => write!(formatter, "value set #{at}"),
            Site::Calculation(at) => write!(formatter, "calculation #{at}"),
            Site::Request(at) => write!(formatter, "request #{at}"),
            Site::Extern(at) => write!(formatter, "extern #{at}"),
            Site::FieldList(at) => write!(formatter, "field list #{at}"),
            Site::Region(region) => write!(formatter, "region #{}", region.0),
            Site::Block(at) => write!(formatter, "block #{at}"),
            Site::BasicBlock(region, block) => {
                write!(formatter, "region #{}, block{}", region.0, block.0)
            }
            Site::Instruction(region, block, at) => {
                write!(formatter, "region #{}, block{}, instruction {at}", region.0, block.0)
            }
            Site::UpdateInstruction(region, block, at, inner) => write!(
                formatter,
                "region #{}, block{}, instruction {at}, update instruction {inner}",
                region.0, block.0
            ),
            Site::Terminator(region, block) => {
                write!(formatter, "region #{}, end of block{}", region.0, block.0)
            }
        }
    }
}
