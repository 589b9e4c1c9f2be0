// SPDX-License-Identifier: Apache-2.0
//! Effects: what instructions, regions and, through origins, statements of the source read and write beyond
//! temporaries. The program has to be a verified one.
//!
//! Effects are what *may* happen: a guarded write is a write. [`slots_surely_written`] returns what always
//! happens, which liveness needs. Passes that share values between statements, such as value numbering, move
//! reads from one statement to another: compute effects of statements before they run.

use crate::{
    ActionProfileId, CounterId, ExternAccess, ExternId, HeaderId, HeaderRef, MeterId, Operation,
    OriginId, Place, Program, RegionId, RegionKind, RegisterId, SlotId, StackId, TableId,
    Terminator, ValueSetId,
};
use p4::ast::NodeId;
use std::collections::BTreeSet;

/// Something that code can read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Location {
    /// A slot. A stack's field at an index known only at run time is all slots of that field.
    Slot(SlotId),
    /// How far the parser has read, and with that the rest of the packet.
    PacketCursor,
    /// The packet that the deparser makes.
    PacketOutput,
    /// A table's entries and default action; code only reads them.
    Table(TableId),
    /// Members and groups of an action profile; code only reads them.
    ActionProfile(ActionProfileId),
    /// A value set's members; code only reads them.
    ValueSet(ValueSetId),
    /// A register array, all its cells.
    Register(RegisterId),
    /// A counter, all its cells.
    Counter(CounterId),
    /// A meter, all its cells.
    Meter(MeterId),
    /// The state of an extern.
    Extern(ExternId),
    /// The sequence of random numbers.
    Random,
    /// The list of requests to the device, whose order counts.
    Requests,
    /// The log.
    Log,
}

impl Location {
    /// In words, with the item's name.
    pub fn describe(self, program: &Program) -> String {
        macro_rules! named {
            ($what:literal, $list:ident, $id:expr) => {
                match program.$list.get($id.index()) {
                    Some(item) => format!("{} {}", $what, item.name),
                    None => format!("{} #{}", $what, $id.0),
                }
            };
        }
        match self {
            Location::Slot(id) => named!("slot", slots, id),
            Location::PacketCursor => "packet cursor".into(),
            Location::PacketOutput => "packet output".into(),
            Location::Table(id) => named!("table", tables, id),
            Location::ActionProfile(id) => named!("action profile", action_profiles, id),
            Location::ValueSet(id) => named!("value set", value_sets, id),
            Location::Register(id) => named!("register", registers, id),
            Location::Counter(id) => named!("counter", counters, id),
            Location::Meter(id) => named!("meter", meters, id),
            Location::Extern(id) => match program.externs.get(id.index()) {
                Some(item) if item.instance.is_empty() => format!("extern {}", item.type_name),
                Some(item) => format!("extern {}", item.instance),
                None => format!("extern #{}", id.0),
            },
            Location::Random => "random numbers".into(),
            Location::Requests => "requests".into(),
            Location::Log => "log".into(),
        }
    }
}

/// What some code may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Locations that it may read.
    pub reads: BTreeSet<Location>,
    /// Locations that it may write.
    pub writes: BTreeSet<Location>,
    /// Whether it may end the programmable block early: by raising an error, by `exit`, by `reject`, by
    /// an assertion.
    pub may_end_block: bool,
}

impl Effects {
    /// Adds what other code may do.
    pub fn include(&mut self, other: &Effects) {
        self.reads.extend(&other.reads);
        self.writes.extend(&other.writes);
        self.may_end_block |= other.may_end_block;
    }

    /// Whether the order of both matters: one writes what the other reads or writes, or one may end the
    /// block and the other writes anything or may end it too.
    pub fn conflicts_with(&self, other: &Effects) -> bool {
        let ends = |ending: &Effects, other: &Effects| {
            ending.may_end_block && (other.may_end_block || !other.writes.is_empty())
        };
        !self.writes.is_disjoint(&other.reads)
            || !self.writes.is_disjoint(&other.writes)
            || !self.reads.is_disjoint(&other.writes)
            || ends(self, other)
            || ends(other, self)
    }

    /// The slots that it may read.
    pub fn slots_read(&self) -> BTreeSet<SlotId> {
        slots(&self.reads)
    }

    /// The slots that it may write.
    pub fn slots_written(&self) -> BTreeSet<SlotId> {
        slots(&self.writes)
    }

    fn read(&mut self, location: Location) {
        self.reads.insert(location);
    }

    fn write(&mut self, location: Location) {
        self.writes.insert(location);
    }

    fn both(&mut self, location: Location) {
        self.read(location);
        self.write(location);
    }
}

fn slots(locations: &BTreeSet<Location>) -> BTreeSet<SlotId> {
    let slot = |location: &Location| match location {
        Location::Slot(slot) => Some(*slot),
        _ => None,
    };
    locations.iter().filter_map(slot).collect()
}

/// All slots of a header.
fn header_slots(program: &Program, header: HeaderId) -> Vec<SlotId> {
    let Some(header) = program.headers.get(header.index()) else { return Vec::new() };
    let fields = program.header_types.get(header.ty.index()).map_or(0, |ty| ty.fields.len() as u32);
    (header.first_slot.0..=header.first_slot.0.saturating_add(fields)).map(SlotId).collect()
}

/// The headers that are member `member` of a stack's elements.
fn member_headers(program: &Program, stack: StackId, member: u32) -> Vec<HeaderId> {
    let Some(stack) = program.stacks.get(stack.index()) else { return Vec::new() };
    (0..stack.size)
        .map(|element| {
            HeaderId(stack.first_header.0 + element * stack.headers_per_element + member)
        })
        .collect()
}

/// The slots that a place may denote.
pub fn place_slots(program: &Program, place: &Place) -> Vec<SlotId> {
    match place {
        Place::Slot(slot) => vec![*slot],
        Place::Element { stack, member, field, .. } => member_headers(program, *stack, *member)
            .into_iter()
            .filter_map(|header| program.headers.get(header.index()))
            .map(|header| SlotId(header.first_slot.0 + field))
            .collect(),
    }
}

/// The headers that a reference may denote.
pub fn headers_of(program: &Program, header: &HeaderRef) -> Vec<HeaderId> {
    match header {
        HeaderRef::Header(header) => vec![*header],
        HeaderRef::Element { stack, member, .. } => member_headers(program, *stack, *member),
    }
}

/// The slots of all headers that a reference may denote.
pub fn header_reference_slots(program: &Program, header: &HeaderRef) -> Vec<SlotId> {
    let headers = headers_of(program, header).into_iter();
    headers.flat_map(|header| header_slots(program, header)).collect()
}

/// What an operation may do. For `Apply` that includes the actions of the table.
pub fn of_operation(program: &Program, operation: &Operation) -> Effects {
    let mut effects = Effects { may_end_block: may_end_block(operation), ..Effects::default() };
    match operation {
        Operation::Unary { .. }
        | Operation::Binary { .. }
        | Operation::Resize { .. }
        | Operation::Slice { .. }
        | Operation::Select { .. }
        | Operation::PacketLength { .. } => {}
        Operation::Load { place, .. } => {
            effects.reads.extend(place_slots(program, place).into_iter().map(Location::Slot));
        }
        Operation::Store { place, .. } => {
            effects.writes.extend(place_slots(program, place).into_iter().map(Location::Slot));
        }
        Operation::Extract { header, .. } => {
            effects.both(Location::PacketCursor);
            let slots = header_reference_slots(program, header);
            effects.writes.extend(slots.into_iter().map(Location::Slot));
        }
        Operation::Lookahead { .. } => {
            effects.read(Location::PacketCursor);
        }
        Operation::Advance { .. } => {
            effects.both(Location::PacketCursor);
        }
        Operation::Emit { header } => {
            effects.both(Location::PacketOutput);
            let slots = header_reference_slots(program, header);
            effects.reads.extend(slots.into_iter().map(Location::Slot));
        }
        Operation::ShiftStack { stack, .. } => {
            let Some(layout) = program.stacks.get(stack.index()) else { return effects };
            effects.both(Location::Slot(layout.next));
            for member in 0..layout.headers_per_element {
                for header in member_headers(program, *stack, member) {
                    for slot in header_slots(program, header) {
                        effects.both(Location::Slot(slot));
                    }
                }
            }
        }
        Operation::Apply { table, .. } => of_table(program, *table, &mut effects),
        Operation::RegisterAccess { register, old, update, .. } => {
            if old.is_some() {
                effects.read(Location::Register(*register));
            }
            if update.is_some() {
                effects.write(Location::Register(*register));
            }
        }
        Operation::Count { counter, .. } | Operation::CountDirect { counter } => {
            effects.both(Location::Counter(*counter));
        }
        Operation::Meter { meter, .. } | Operation::MeterDirect { meter, .. } => {
            effects.both(Location::Meter(*meter));
        }
        Operation::ValueSetContains { set, .. } => effects.read(Location::ValueSet(*set)),
        Operation::Hash { payload, .. } => {
            if *payload {
                effects.read(Location::PacketCursor);
            }
        }
        Operation::Random { .. } => effects.both(Location::Random),
        Operation::Request { .. } => effects.both(Location::Requests),
        Operation::Log { .. } => effects.both(Location::Log),
        Operation::Assert { .. } => {
            effects.both(Location::Log);
        }
        Operation::CallExtern { target, effects: declared, .. } => {
            match declared.access {
                ExternAccess::Pure => {}
                ExternAccess::Reads => effects.read(Location::Extern(*target)),
                ExternAccess::Any => {
                    effects.both(Location::Extern(*target));
                    effects.both(Location::Requests);
                }
            }
            if declared.random.is_some() {
                effects.both(Location::Random);
            }
        }
    }
    effects
}

pub(crate) fn of_table(program: &Program, id: TableId, effects: &mut Effects) {
    effects.read(Location::Table(id));
    let Some(table) = program.tables.get(id.index()) else { return };
    if let Some(profile) = table.implementation {
        effects.read(Location::ActionProfile(profile));
    }
    for counter in &table.direct_counters {
        effects.both(Location::Counter(*counter));
    }
    for meter in &table.direct_meters {
        effects.both(Location::Meter(*meter));
    }
    for listed in &table.actions {
        let Some(action) = program.actions.get(listed.action.index()) else { continue };
        for parameter in &action.parameters {
            effects.write(Location::Slot(parameter.slot));
        }
        effects.include(&of_region(program, action.region));
    }
}

/// What the end of a basic block may do: `exit` and `reject` end the block.
pub fn of_terminator(terminator: &Terminator) -> Effects {
    Effects {
        may_end_block: matches!(terminator, Terminator::Exit | Terminator::Reject(_)),
        ..Effects::default()
    }
}

/// What a region may do; of a parser that includes its blocks' error slots.
pub fn of_region(program: &Program, id: RegionId) -> Effects {
    let mut effects = Effects::default();
    let Some(region) = program.regions.get(id.index()) else { return effects };
    for block in &region.blocks {
        for instruction in &block.instructions {
            effects.include(&of_operation(program, &instruction.operation));
        }
        effects.include(&of_terminator(&block.terminator));
    }
    if region.kind == RegionKind::Parser && effects.may_end_block {
        for block in program.blocks.iter().filter(|block| block.region == id) {
            effects.writes.extend(block.parser_error.map(Location::Slot));
        }
    }
    effects
}

/// The slots that an operation, when it does not end the block, has written for certain.
pub fn slots_surely_written(program: &Program, operation: &Operation) -> Vec<SlotId> {
    match operation {
        Operation::Store { place: Place::Slot(slot), .. } => vec![*slot],
        Operation::Extract { header: HeaderRef::Header(header), .. } => {
            header_slots(program, *header)
        }
        _ => Vec::new(),
    }
}

/// Gives each slot whose value from before an operation it may use; those of a table's actions are not among
/// them.
pub fn visit_slots_read(program: &Program, operation: &Operation, mut visit: impl FnMut(SlotId)) {
    match operation {
        Operation::Load { place: Place::Slot(slot), .. } => visit(*slot),
        Operation::Load { place, .. } => place_slots(program, place).into_iter().for_each(visit),
        Operation::Emit { header } => {
            header_reference_slots(program, header).into_iter().for_each(visit);
        }
        Operation::ShiftStack { .. } => {
            of_operation(program, operation).slots_read().into_iter().for_each(visit);
        }
        _ => {}
    }
}

/// Whether an operation may end the programmable block early; not whether a table's actions may.
pub fn may_end_block(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Extract { .. }
            | Operation::Lookahead { .. }
            | Operation::Advance { .. }
            | Operation::Assert { .. }
    )
}

/// The typed program's nodes of an origin: its own, then those of the calls that it was inlined through, the
/// innermost first.
pub fn call_chain(program: &Program, origin: OriginId) -> Vec<NodeId> {
    let mut nodes = Vec::new();
    let mut next = Some(origin);
    // A verified program has no cycle; the limit only keeps others from hanging.
    for _ in 0..=program.origins.len() {
        let Some(origin) = next.and_then(|id| program.origins.get(id.index())) else { break };
        nodes.extend(origin.node);
        next = origin.parent;
    }
    nodes
}

/// The typed program's nodes that an origin stands for: its own and those it was inlined through, for all
/// origins that were merged into it.
pub fn origin_nodes(program: &Program, origin: OriginId) -> Vec<NodeId> {
    let merged = program.merged_origins(origin);
    merged.into_iter().flat_map(|origin| call_chain(program, origin)).collect()
}
