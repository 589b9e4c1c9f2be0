// SPDX-License-Identifier: Apache-2.0
//! [`Boundaries`]: what a device does to a packet's slots between the blocks of a program: which blocks may run
//! next on the same storage, which slots the device overwrites in between, and which it reads. They are computed
//! from the architecture's [`Description`]; `device` implements them and `analysis` relies on them.

use super::description::{Description, Kept, MetadataField};
use super::registry;
use crate::effects;
use crate::{BlockKind, HeaderRef, Program, RegionId, SlotSet, ValueType};

/// A block that may run next on a packet's storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextBlock {
    /// Its index in [`Program::blocks`].
    pub to: usize,
    /// Slots that keep their values. The device writes the others, or they begin at zero.
    pub keeps: SlotSet,
}

/// The continuation after a block, for every outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockEnd {
    /// Slots whose values the device looks at.
    pub reads: SlotSet,
    /// Which blocks may run next on this storage, or on storage that keeps part of it.
    pub next: Vec<NextBlock>,
}

/// What happens between the blocks of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boundaries {
    /// By block, in the order of [`Program::blocks`].
    pub ends: Vec<BlockEnd>,
    /// Blocks that begin with a packet's storage: all slots zero but for what the device writes.
    pub first: Vec<usize>,
}

impl Boundaries {
    /// The boundaries that the program's architecture describes. Without a described device the blocks run in
    /// the order of the package, slots that a device can name are read after each, and field lists come back to
    /// the first block.
    pub fn of(program: &Program) -> Boundaries {
        let described =
            registry::of(program).and_then(|description| described(program, description));
        described.unwrap_or_else(|| in_package_order(program))
    }

    /// What holds of every device: any block may run after any other on the storage that it left, and every
    /// slot that a device can name is read. Passes that hold for every device use it.
    pub fn of_any_device(program: &Program) -> Boundaries {
        let mut reads = nameable_slots(program);
        let mut is_run = vec![false; program.regions.len()];
        let actions = program.actions.iter().map(|action| action.region);
        for region in program.blocks.iter().map(|block| block.region).chain(actions) {
            is_run[region.index()] = true;
        }
        // Regions that the program does not run may still be run by a tool.
        for at in (0..is_run.len()).filter(|at| !is_run[*at]) {
            reads.extend(effects::of_region(program, RegionId(at as u32)).slots_read());
        }
        let next: Vec<NextBlock> = (0..program.blocks.len())
            .map(|to| NextBlock { to, keeps: SlotSet::full(program) })
            .collect();
        let end = BlockEnd { reads, next };
        Boundaries {
            ends: vec![end; program.blocks.len()],
            first: (0..program.blocks.len()).collect(),
        }
    }
}

/// Slots that something outside the program's code can name: parameters of blocks, where parser errors go,
/// field lists, headers and stacks, parameters of actions.
pub fn nameable_slots(program: &Program) -> SlotSet {
    let mut slots = SlotSet::empty(program);
    for block in &program.blocks {
        slots.extend(block.parser_error);
        slots.extend(block.parameters.iter().flat_map(|parameter| &parameter.slots).copied());
    }
    slots.extend(program.field_lists.iter().flat_map(|list| &list.slots).copied());
    slots.unite(&header_slots(program));
    for action in &program.actions {
        slots.extend(action.parameters.iter().map(|parameter| parameter.slot));
    }
    slots
}

/// Slots of all headers, and the `nextIndex` of all stacks.
fn header_slots(program: &Program) -> SlotSet {
    let mut slots = SlotSet::empty(program);
    for at in 0..program.headers.len() as u32 {
        let header = HeaderRef::Header(crate::HeaderId(at));
        slots.extend(effects::header_reference_slots(program, &header));
    }
    slots.extend(program.stacks.iter().map(|stack| stack.next));
    slots
}

fn in_package_order(program: &Program) -> Boundaries {
    let count = program.blocks.len();
    let reads = nameable_slots(program);
    let field_lists = field_list_slots(program);
    let ends = (0..count).map(|at| {
        let again = NextBlock { to: 0, keeps: field_lists.clone() };
        let later = (at + 1..count).map(|to| NextBlock { to, keeps: SlotSet::full(program) });
        BlockEnd { reads: reads.clone(), next: std::iter::once(again).chain(later).collect() }
    });
    Boundaries { ends: ends.collect(), first: (0..count.min(1)).collect() }
}

fn field_list_slots(program: &Program) -> SlotSet {
    SlotSet::of(program, program.field_lists.iter().flat_map(|list| &list.slots).copied())
}

/// `None` when no device is described or the program lacks a block.
fn described(program: &Program, description: &Description) -> Option<Boundaries> {
    description.ports?;
    let position = |role: &str| Some(program.blocks_with_role(role)).filter(|it| !it.is_empty());
    let measured = measured_slots(program);
    let mut ends =
        vec![BlockEnd { reads: SlotSet::empty(program), next: Vec::new() }; program.blocks.len()];
    let mut first = Vec::new();
    for role in description.blocks {
        let blocks = position(role.role)?;
        first.extend(role.is_first.then_some(blocks.start));
        let at = blocks.end - 1;
        // Between the stages of a control the device does nothing.
        for (stage, end) in ends.iter_mut().enumerate().take(at).skip(blocks.start) {
            let keeps = SlotSet::full(program);
            end.next.push(NextBlock { to: stage + 1, keeps });
        }
        let BlockEnd { reads, next } = &mut ends[at];
        if role.measures_headers {
            reads.unite(&measured);
        }
        reads.unite(&slots_of(program, role.reads));
        for transition in role.transitions {
            let is_requested =
                |request: &crate::Request| transition.on_requests.contains(&&*request.name);
            if !transition.on_requests.is_empty() && !program.requests.iter().any(is_requested) {
                continue;
            }
            reads.unite(&slots_of(program, transition.reads));
            let mut keeps = match transition.kept {
                Kept::All => SlotSet::full(program),
                Kept::Headers => header_slots(program),
                Kept::FieldLists => field_list_slots(program),
                Kept::HeadersAndFieldLists => {
                    let mut slots = header_slots(program);
                    slots.unite(&field_list_slots(program));
                    slots
                }
            };
            keeps.subtract(&slots_of(program, transition.writes));
            next.push(NextBlock { to: position(transition.to)?.start, keeps });
        }
    }
    Some(Boundaries { ends, first })
}

/// Slots of metadata fields, as far as the program has them.
fn slots_of(program: &Program, fields: &[MetadataField]) -> SlotSet {
    SlotSet::of(program, fields.iter().filter_map(|field| program.slot_named(&field.slot_name())))
}

/// What the length of a packet's headers depends on: validity and variable lengths of what deparsers get.
fn measured_slots(program: &Program) -> SlotSet {
    let deparsers = program.blocks.iter().filter(|block| block.kind == BlockKind::Deparser);
    let deparsed = deparsers.flat_map(|block| &block.parameters).flat_map(|it| &it.slots);
    let deparsed = SlotSet::of(program, deparsed.copied());
    let mut measured = SlotSet::empty(program);
    for (at, header) in program.headers.iter().enumerate() {
        if !deparsed.contains(header.valid_slot()) {
            continue;
        }
        measured.insert(header.valid_slot());
        let slots = effects::header_reference_slots(
            program,
            &HeaderRef::Header(crate::HeaderId(at as u32)),
        );
        measured.extend(
            slots
                .into_iter()
                .filter(|slot| matches!(program.slots[slot.index()].ty, ValueType::Varbit(_))),
        );
    }
    measured
}
