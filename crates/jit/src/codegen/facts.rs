// SPDX-License-Identifier: Apache-2.0
//! Facts of a unit, decided before its code is emitted: which headers stay in the packet, and where slots live.

use super::short_crcs::{self, Crcs};
use crate::unit::{Step, StepValue, Storage, Unit};
use ir::analysis::Analysis;
use ir::effects;
use ir::{
    ActionId, HeaderId, HeaderRef, Operand, Operation, Place, Program, Region, RegionId, SlotId,
    SlotSet, StackId, TableId, ValueType,
};

/// Limit of a unit with duplicated paths, in instructions of the IR. Paths of larger units are not duplicated.
pub(crate) const MAX_DUPLICATED_OPERATIONS: usize = 3_000;

/// In units with more instructions slots live in storage, as variables would make compiling slow.
const MAX_INSTRUCTIONS_WITH_VARIABLES: usize = 12_000;

/// An instruction that emits a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Emit {
    /// The header.
    pub header: HeaderId,
    /// Basic block and index of the instruction.
    pub place: (u32, u32),
}

/// Facts of a unit.
#[derive(Debug)]
pub(crate) struct Facts {
    /// Whether all headers have whole bytes, so that the cursor counts bytes.
    pub whole_bytes: bool,
    /// By header: whether it stays in the packet, where its fields are read until they are written.
    pub in_packet: Vec<bool>,
    /// By slot: the header and first bit of a field of a header that stays in the packet.
    pub field_of: Vec<Option<(HeaderId, u32)>>,
    /// By slot: whether it lives in storage rather than in variables.
    pub in_storage: Vec<bool>,
    /// By slot: whether it needs a variable or storage.
    pub needs_location: Vec<bool>,
    /// The emissions of the unit's in-place deparser, in order.
    pub emits: Vec<Emit>,
    /// Headers that count for the length of a packet: those that the program's deparsers get.
    pub deparsed: Vec<HeaderId>,
    /// Whether the unit begins with all slots zero.
    pub is_fresh: bool,
    /// Whether the unit ends with an in-place deparser.
    pub in_place: bool,
    /// Whether the unit has too many instructions to duplicate paths. Its written fields live in storage, as
    /// the compile time grows with the variables at merges.
    pub is_large: bool,
    /// CRCs of few bytes.
    pub crcs: Vec<Crcs>,
    /// Slots of one bit outside headers, such as flags that decide where packets go. Paths with different flags
    /// are not merged.
    pub flags: Vec<SlotId>,
    /// Whether the unit has a request.
    pub asks: bool,
    /// By step of a fresh unit: slots that are live after an exit there.
    pub observed: Vec<SlotSet>,
}

/// Bits of a header's fields without its varbit.
pub(crate) fn fixed_bits(program: &Program, header: HeaderId) -> u32 {
    program.header_type(header).fixed_bits()
}

/// Fields of a header: slot, type, and first bit if all fields before have fixed widths.
pub(crate) fn fields_of(
    program: &Program,
    header: HeaderId,
) -> impl Iterator<Item = (SlotId, ValueType, u32)> + '_ {
    let header = &program.headers[header.index()];
    let mut offset_bits = 0;
    program.header_types[header.ty.index()].fields.iter().enumerate().map(move |(at, field)| {
        let first = offset_bits;
        if let ValueType::Bits(width_bits) = field.ty {
            offset_bits += width_bits;
        }
        (header.field_slot(at), field.ty, first)
    })
}

/// Whether a header has a field of variable length.
pub(crate) fn has_varbit(program: &Program, header: HeaderId) -> bool {
    program.header_type(header).varbit_field().is_some()
}

/// Headers of a stack.
pub(crate) fn stack_headers(program: &Program, stack: StackId) -> impl Iterator<Item = HeaderId> {
    let stack = &program.stacks[stack.index()];
    let first = stack.first_header.0;
    (first..first + stack.size * stack.headers_per_element).map(HeaderId)
}

/// The header that a constant index names; `None` outside the stack.
pub(crate) fn constant_element(
    program: &Program,
    stack: StackId,
    member: u32,
    index: &ir::Bits,
) -> Option<HeaderId> {
    let stack = &program.stacks[stack.index()];
    let index = index.to_u64().filter(|&index| index < u64::from(stack.size))? as u32;
    Some(HeaderId(stack.first_header.0 + index * stack.headers_per_element + member))
}

/// The slot of a place. The outer `None` is a place chosen at run time, the inner one a place outside its
/// stack.
pub(crate) fn known_slot(program: &Program, place: &Place) -> Option<Option<SlotId>> {
    match place {
        Place::Slot(slot) => Some(Some(*slot)),
        Place::Element { stack, member, field, index: Operand::Constant(index) } => {
            let header = constant_element(program, *stack, *member, index);
            Some(header.map(|header| SlotId(program.headers[header.index()].first_slot.0 + field)))
        }
        Place::Element { .. } => None,
    }
}

/// Regions of a unit: those of its blocks with the actions of their tables.
fn regions_of(program: &Program, unit: &Unit) -> Vec<RegionId> {
    let mut regions = Vec::new();
    for step in &unit.steps {
        let Step::Block(block) = step else { continue };
        for region in program.regions_of_block(*block) {
            if !regions.contains(&region) {
                regions.push(region);
            }
        }
    }
    regions
}

fn operations(region: &Region) -> impl Iterator<Item = &Operation> {
    region
        .blocks
        .iter()
        .flat_map(|block| block.instructions.iter().map(|instruction| &instruction.operation))
}

/// Actions of a table.
pub(crate) fn table_actions(
    program: &Program,
    table: TableId,
) -> impl Iterator<Item = ActionId> + '_ {
    program.tables[table.index()].actions.iter().map(|listed| listed.action)
}

/// By step: slots that are live after the block before it or before the blocks after it, and those that the
/// unit observes.
fn observed(analysis: &Analysis<'_>, unit: &Unit) -> Vec<SlotSet> {
    let program = analysis.program();
    let liveness = analysis.liveness();
    let mut later = SlotSet::of(program, unit.observed.iter().copied());
    let mut sets = vec![later.clone(); unit.steps.len()];
    for (at, step) in unit.steps.iter().enumerate().rev() {
        match step {
            Step::Block(block) => {
                later.unite(liveness.at_block_start(*block));
            }
            Step::Set(_, StepValue::Slot(slot) | StepValue::Row { row: slot, .. })
            | Step::Output(_, StepValue::Slot(slot))
            | Step::OutputAtExit(_, StepValue::Slot(slot)) => {
                later.insert(*slot);
            }
            _ => {}
        }
        sets[at].unite(&later);
    }
    let mut before = SlotSet::empty(program);
    for (set, step) in sets.iter_mut().zip(&unit.steps) {
        if let Step::Block(block) = step {
            before = liveness.at_block_end(*block).clone();
        }
        set.unite(&before);
    }
    // Applications write an entry's arguments before actions read them.
    let parameters = || program.actions.iter().flat_map(|action| &action.parameters);
    for set in &mut sets {
        parameters().for_each(|parameter| set.remove(parameter.slot));
    }
    sets
}

impl Facts {
    /// Whether a stack is in storage, where run-time indices can reach its elements.
    pub fn is_in_storage(&self, program: &Program, stack: StackId) -> bool {
        let first = program.stacks[stack.index()].first_header;
        program
            .headers
            .get(first.index())
            .is_none_or(|header| self.in_storage[header.valid_slot().index()])
    }

    /// Decides the facts of a unit, under the assumption that indices of all stacks but the `indexed` ones are
    /// constant on every path.
    pub fn new(analysis: &Analysis<'_>, unit: &Unit, indexed: &[StackId]) -> Facts {
        let program = analysis.program();
        let regions = regions_of(program, unit);
        let all = || regions.iter().flat_map(|id| operations(&program.regions[id.index()]));
        let is_fresh = unit.storage == Storage::Fresh;
        let count = all().count();

        let mut written = SlotSet::empty(program);
        // Extraction leaves fields equal to the packet.
        let regions_facts = regions.iter().map(|region| analysis.region(*region));
        for (facts, block) in regions_facts.flat_map(|it| it.order.iter().map(move |at| (it, *at)))
        {
            let code = facts.region.blocks[block].instructions.iter().enumerate();
            for (at, instruction) in code {
                if !matches!(instruction.operation, Operation::Extract { .. }) {
                    written.extend(facts.effects(block, at).slots_written());
                }
            }
        }

        // Headers that run-time indices choose.
        let mut is_indexed = vec![false; program.headers.len()];
        // Without duplicated paths hardly any index is constant.
        let is_large = count > MAX_DUPLICATED_OPERATIONS;
        let is_followed =
            is_fresh && unit.in_place && indexed.len() < program.stacks.len() && !is_large;
        let mut index_stack = |stack: StackId| {
            if is_followed && !indexed.contains(&stack) {
                return;
            }
            stack_headers(program, stack).for_each(|header| is_indexed[header.index()] = true);
        };
        // Units share the cursor, so all regions of the program count.
        let mut whole_bytes = true;
        for operation in program.regions.iter().flat_map(operations) {
            match operation {
                Operation::Load { place, .. } | Operation::Store { place, .. } => {
                    if let Place::Element { stack, index: Operand::Temp(_), .. } = place {
                        index_stack(*stack);
                    }
                }
                Operation::Extract { header, .. } | Operation::Emit { header } => match header {
                    HeaderRef::Header(id) => {
                        whole_bytes &= fixed_bits(program, *id).is_multiple_of(8)
                    }
                    HeaderRef::Element { stack, index, .. } => {
                        if matches!(index, Operand::Temp(_)) {
                            index_stack(*stack);
                        }
                        for header in stack_headers(program, *stack) {
                            whole_bytes &= fixed_bits(program, header).is_multiple_of(8);
                        }
                    }
                },
                Operation::ShiftStack { stack, .. } => index_stack(*stack),
                Operation::Advance { bits } => {
                    whole_bytes &= match bits {
                        Operand::Constant(bits) => bits.low_u64() % 8 == 0,
                        Operand::Temp(_) => false,
                    };
                }
                _ => {}
            }
        }

        let emits = deparser_emits(program, unit, whole_bytes);
        let in_place = unit.in_place && emits.is_some();
        if is_followed && !in_place {
            // Without headers in the packet no stack gains.
            let all: Vec<StackId> = (0..program.stacks.len() as u32).map(StackId).collect();
            return Facts::new(analysis, unit, &all);
        }
        let emits = emits.filter(|_| in_place).unwrap_or_default();

        let in_packet: Vec<bool> = (0..program.headers.len())
            .map(|at| {
                let id = HeaderId(at as u32);
                in_place
                    && whole_bytes
                    && !is_indexed[at]
                    && !has_varbit(program, id)
                    && fixed_bits(program, id) > 0
            })
            .collect();

        let with_variables = is_fresh && count <= MAX_INSTRUCTIONS_WITH_VARIABLES;
        let mut in_storage: Vec<bool> = program
            .slots
            .iter()
            .map(|slot| match slot.ty {
                ValueType::Bits(width_bits) => !with_variables || width_bits > 128,
                ValueType::Varbit(_) => true,
            })
            .collect();
        let mut field_of = vec![None; program.slots.len()];
        let mut needs_location = vec![true; program.slots.len()];
        for (at, header) in program.headers.iter().enumerate() {
            let id = HeaderId(at as u32);
            let by_runtime = !whole_bytes || is_indexed[at] || has_varbit(program, id);
            if by_runtime {
                in_storage[header.valid_slot().index()] = true;
            }
            for (slot, _, offset_bits) in fields_of(program, id) {
                if by_runtime {
                    in_storage[slot.index()] = true;
                }
                if in_packet[at] {
                    field_of[slot.index()] = Some((id, offset_bits));
                    in_storage[slot.index()] |= is_large;
                    needs_location[slot.index()] = written.contains(slot);
                }
            }
        }
        for stack in &program.stacks {
            // The runtime shifts stacks together with their counters.
            if is_indexed.get(stack.first_header.index()).copied().unwrap_or(false) {
                in_storage[stack.next.index()] = true;
            }
        }

        let mut flags: Vec<SlotId> = (0..program.slots.len() as u32)
            .map(SlotId)
            .filter(|slot| program.slots[slot.index()].ty == ValueType::Bits(1))
            .collect();
        let of_headers = |slot: &SlotId| {
            program.headers.iter().enumerate().any(|(at, header)| {
                let fields = program.header_type(HeaderId(at as u32)).fields.len() as u32;
                (header.first_slot.0..=header.first_slot.0 + fields).contains(&slot.0)
            })
        };
        flags.retain(|slot| !in_storage[slot.index()] && !of_headers(slot));

        Facts {
            whole_bytes,
            in_packet,
            field_of,
            in_storage,
            needs_location,
            emits,
            deparsed: deparsed_headers(program),
            is_fresh,
            in_place,
            is_large,
            crcs: short_crcs::in_regions(program, &regions),
            observed: if is_fresh { observed(analysis, unit) } else { Vec::new() },
            flags,
            asks: all().any(|operation| matches!(operation, Operation::Request { .. })),
        }
    }
}

impl Unit {
    /// Whether the deparser of this unit can work in place, where [`Unit::in_place`] asks for that. Code
    /// that cannot appends what it emits to the outgoing bits.
    pub fn can_deparse_in_place(&self, program: &Program) -> bool {
        Facts::new(&Analysis::of(program), self, &[]).in_place
    }
}

/// The emissions of the deparser at the end of a unit, in order. `None` if it cannot work in place: it has a
/// loop, writes headers or applies a table.
fn deparser_emits(program: &Program, unit: &Unit, whole_bytes: bool) -> Option<Vec<Emit>> {
    let block = unit.steps.iter().rev().find_map(|step| match step {
        Step::Block(block) => Some(*block),
        _ => None,
    })?;
    let region = &program.regions[program.blocks[block].region.index()];
    if !whole_bytes || region.kind != ir::RegionKind::Deparser {
        return None;
    }
    let is_ordered = region
        .blocks
        .iter()
        .enumerate()
        .all(|(at, block)| block.terminator.successors().iter().all(|next| next.index() > at));
    if !is_ordered {
        return None;
    }
    let mut emits = Vec::new();
    let mut writes = SlotSet::empty(program);
    writes.extend(effects::of_region(program, program.blocks[block].region).slots_written());
    let places = region.blocks.iter().enumerate().flat_map(|(at, block)| {
        let instructions = block.instructions.iter().enumerate();
        instructions.map(move |(number, instruction)| ((at as u32, number as u32), instruction))
    });
    for (place, instruction) in places {
        match &instruction.operation {
            Operation::Emit { header: HeaderRef::Header(id) } => {
                emits.push(Emit { header: *id, place });
            }
            Operation::Emit {
                header: HeaderRef::Element { stack, member, index: Operand::Constant(index) },
            } => {
                let header = constant_element(program, *stack, *member, index);
                emits.extend(header.map(|header| Emit { header, place }));
            }
            Operation::Emit { .. } | Operation::Apply { .. } | Operation::ShiftStack { .. } => {
                return None;
            }
            _ => {}
        }
    }
    let is_written = emits.iter().any(|&Emit { header: id, .. }| {
        writes.contains(program.headers[id.index()].valid_slot())
            || fields_of(program, id).any(|(slot, _, _)| writes.contains(slot))
    });
    let has_varbit = emits.iter().any(|emit| has_varbit(program, emit.header));
    (!is_written && !has_varbit).then_some(emits)
}

/// Headers that the program's deparsers get.
fn deparsed_headers(program: &Program) -> Vec<HeaderId> {
    let mut slots = SlotSet::empty(program);
    for block in program.blocks.iter().filter(|block| block.kind == ir::BlockKind::Deparser) {
        for &slot in block.parameters.iter().flat_map(|parameter| &parameter.slots) {
            slots.insert(slot);
        }
    }
    (0..program.headers.len() as u32)
        .map(HeaderId)
        .filter(|id| slots.contains(program.headers[id.index()].valid_slot()))
        .collect()
}
