// SPDX-License-Identifier: Apache-2.0
//! From a program of the IR to a [`Plan`]: a control that is cut into stages, its address resolution, and the groups of its arrays.

use crate::codes;
pub use crate::logic::FirstValues;
use crate::logic::{Header, Logic, Port, constant};
use crate::plan::{Array, Group, Plan, Stage, index_bits};
use crate::shape::Shape;
use ir::{Operation, Place, Program, RegionId, RegisterId, SlotId};
use source::{Diagnostic, Diagnostics, Span};
use std::collections::{BTreeMap, BTreeSet};

/// A program to make hardware of.
#[derive(Clone, Debug)]
pub struct Source<'p> {
    /// For people.
    pub name: String,
    /// The program whose control is one region a stage.
    pub program: &'p Program,
    /// The regions of the stages.
    pub stages: Vec<RegionId>,
    /// What resolves addresses.
    pub resolution: Resolution<'p>,
    /// The groups, in ascending order of stages.
    pub groups: Vec<SourceGroup>,
    /// The values of arrays' cells at the start, where they are not those of the program's declarations.
    pub first_values: FirstValues,
}

/// What resolves addresses: code, or nothing if every packet accesses every group, all in one pipeline.
#[derive(Clone, Debug)]
pub enum Resolution<'p> {
    /// Every packet accesses cell 0 of every group.
    Always,
    /// Code.
    Code {
        /// The program. Its first slots are those that the uncut control has.
        program: &'p Program,
        /// The code's region.
        region: RegionId,
        /// The number of slots that both programs have.
        shared_slots: usize,
        /// Slots that stages write for decisions; others decisions find as they were at the packet's arrival.
        reads: Vec<SlotId>,
        /// For each group the slot that says whether a packet accesses it, and the slot of the cell.
        answers: Vec<(SlotId, Option<SlotId>)>,
    },
}

/// A group of arrays.
#[derive(Clone, Debug)]
pub struct SourceGroup {
    /// For people.
    pub name: String,
    /// The stage that accesses it.
    pub stage: usize,
    /// The number of cells that are sharded; 1 for a group that lies in one pipeline.
    pub cells: u32,
    /// Its arrays.
    pub registers: Vec<RegisterId>,
    /// What decides behind an earlier stage whether a packet accesses it.
    pub decision: Option<SourceDecision>,
}

/// Code that decides whether a packet accesses a group (MP5 §3.3): from the packet as it arrived, with address resolution's answers,
/// and from what stages have read.
#[derive(Clone, Debug)]
pub struct SourceDecision {
    /// The stage behind which it is known.
    pub after: usize,
    /// The code's region, of the program that resolves addresses.
    pub region: RegionId,
    /// The slot of the answer.
    pub answer: SlotId,
}

/// The slots that a region and the actions of its tables load and store.
fn slots_of(program: &Program, region: RegionId, slots: &mut BTreeSet<SlotId>) {
    for instruction in program.regions[region.index()].blocks.iter().flat_map(|it| &it.instructions)
    {
        match &instruction.operation {
            Operation::Load { place, .. } | Operation::Store { place, .. } => match place {
                Place::Slot(slot) => {
                    slots.insert(*slot);
                }
                Place::Element { stack, member, field, .. } => {
                    let declared = &program.stacks[stack.index()];
                    slots.extend((0..declared.size).map(|element| {
                        let header = declared.first_header.0
                            + element * declared.headers_per_element
                            + member;
                        SlotId(program.headers[header as usize].first_slot.0 + field)
                    }));
                }
            },
            Operation::Apply { table, .. } => {
                for listed in &program.tables[table.index()].actions {
                    let action = &program.actions[listed.action.index()];
                    slots.extend(action.parameters.iter().map(|parameter| parameter.slot));
                    slots_of(program, action.region, slots);
                }
            }
            _ => {}
        }
    }
}

/// Makes the plan of a program, and tells where packets carry which slots.
///
/// # Errors
///
/// What hardware cannot hold, all of it.
pub fn plan(source: &Source<'_>, shape: Shape) -> Result<(Plan, Header), Diagnostics> {
    let mut found = Diagnostics::new();
    if let Err(errors) = shape.check() {
        found.append(errors);
    }
    let mut slots = BTreeSet::new();
    for region in &source.stages {
        slots_of(source.program, *region, &mut slots);
    }
    if let Resolution::Code { program, region, shared_slots, .. } = &source.resolution {
        let mut own = BTreeSet::new();
        slots_of(program, *region, &mut own);
        slots.extend(own.into_iter().filter(|slot| slot.index() < *shared_slots));
    }
    let mut header = Header::of(source.program, slots);
    let arrived = arrived_slots(source, &mut header);
    // A packet is at least one wire.
    header.bits = header.bits.max(1);
    let mut stages = Vec::new();
    for (number, region) in source.stages.iter().enumerate() {
        let ports = ports(source, number);
        let lowered = Logic::lower(source.program, *region, &header, &ports, &source.first_values);
        let lowered = lowered.and_then(|(body, ends)| {
            let mut stage = Stage { body, can_drop: false, cancels: Vec::new() };
            stage.body += "assign dropped = 1'b0;\n";
            let forgotten = if number + 1 == source.stages.len() { Some(&arrived) } else { None };
            stage.body += &carried(&header, &ends, forgotten);
            decisions(source, number, &arrived, &ends, &mut stage)?;
            Ok(stage)
        });
        match lowered {
            Ok(stage) => stages.push(stage),
            Err(errors) => found.append(errors),
        }
    }
    let resolution = match resolution(source, &header, &arrived) {
        Ok(text) => text,
        Err(errors) => {
            found.append(errors);
            String::new()
        }
    };
    if found.has_errors() {
        return Err(found);
    }
    let groups = source.groups.iter().map(|group| Group {
        name: group.name.clone(),
        stage: group.stage,
        cells: group.cells,
        arrays: group
            .registers
            .iter()
            .map(|register| {
                let declared = &source.program.registers[register.index()];
                Array {
                    name: declared.name.to_string(),
                    width: declared.width_bits as usize,
                    cells: declared.size as u32,
                    initial: constant(&declared.initial),
                    first: first_values(source, *register),
                }
            })
            .collect(),
    });
    let plan = Plan {
        program: source.name.clone(),
        pipelines: shape.pipelines,
        depth: shape.depth,
        remap_every: shape.remap_every,
        header_bits: header.bits,
        groups: groups.collect(),
        resolution,
        stages,
    };
    Ok((plan, header))
}

/// The values of the first cells of an array, up to the last that differs from the declaration's.
fn first_values(source: &Source<'_>, register: RegisterId) -> Vec<String> {
    let declared = &source.program.registers[register.index()];
    let Some(values) = source.first_values.get(&register) else { return Vec::new() };
    let differs = values.iter().rposition(|value| *value != declared.initial);
    values[..differs.map_or(0, |last| last + 1)].iter().map(constant).collect()
}

/// The ports of a stage's arrays.
fn ports(source: &Source<'_>, stage: usize) -> BTreeMap<RegisterId, Port> {
    let mut ports = BTreeMap::new();
    for (index, group) in source.groups.iter().enumerate() {
        for (place, register) in group.registers.iter().enumerate() {
            if group.stage == stage {
                let size = source.program.registers[register.index()].size;
                let (name, index_bits) = (format!("g{index}_a{place}"), index_bits(size));
                ports.insert(*register, Port { name, index_bits });
            }
        }
    }
    ports
}

/// The places of slots that decisions find as they were at the packet's arrival: copies behind the slots themselves.
fn arrived_slots(source: &Source<'_>, header: &mut Header) -> BTreeMap<SlotId, (usize, usize)> {
    let mut slots = BTreeSet::new();
    let mut places = BTreeMap::new();
    let Resolution::Code { program, reads, .. } = &source.resolution else { return places };
    for decision in source.groups.iter().filter_map(|group| group.decision.as_ref()) {
        slots_of(program, decision.region, &mut slots);
        slots.remove(&decision.answer);
    }
    for slot in slots.into_iter().filter(|slot| !reads.contains(slot)) {
        let width = program.slots[slot.index()].ty.width_bits() as usize;
        places.insert(slot, (header.bits, width));
        header.bits += width;
    }
    places
}

/// Adds what a stage cancels: accesses that, behind it, are known not to happen.
fn decisions(
    source: &Source<'_>,
    stage: usize,
    arrived: &BTreeMap<SlotId, (usize, usize)>,
    ends: &BTreeMap<SlotId, String>,
    logic: &mut Stage,
) -> Result<(), Diagnostics> {
    const PREFIXES: [&str; 8] = ["d0_", "d1_", "d2_", "d3_", "d4_", "d5_", "d6_", "d7_"];
    let Resolution::Code { program, reads, .. } = &source.resolution else { return Ok(()) };
    let none = BTreeMap::new();
    for (index, group) in source.groups.iter().enumerate() {
        let Some(decision) = group.decision.as_ref().filter(|it| it.after == stage) else {
            continue;
        };
        let Some(prefix) = PREFIXES.get(logic.cancels.len()) else {
            let message =
                format!("more than {} accesses are decided in stage {stage}", PREFIXES.len());
            let mut found = Diagnostics::new();
            let help = "make fewer accesses depend on state";
            found.push(Diagnostic::error(codes::OPERATION, Span::NONE, message).help(help));
            return Err(found);
        };
        let mut start: BTreeMap<SlotId, String> = arrived
            .iter()
            .map(|(slot, (first, width))| (*slot, format!("header_in[{first} +: {width}]")))
            .collect();
        for slot in reads {
            if let Some(value) = ends.get(slot) {
                start.insert(*slot, value.clone());
            }
        }
        let (text, ends) = Logic::lower_from(
            program,
            decision.region,
            start,
            (&none, &source.first_values),
            prefix,
        )?;
        logic.body += &text;
        let answer = ends.get(&decision.answer).map_or("1'b0", |wire| wire);
        logic.body += &format!("assign g{index}_cancelled = ~{answer};\n");
        logic.cancels.push(index);
    }
    Ok(())
}

/// Drives the outgoing header. What is forgotten becomes 0.
fn carried(
    header: &Header,
    ends: &BTreeMap<SlotId, String>,
    forgotten: Option<&BTreeMap<SlotId, (usize, usize)>>,
) -> String {
    let mut text = String::from("always_comb begin\n  header_out = header_in;\n");
    for (first, width) in forgotten.into_iter().flat_map(BTreeMap::values) {
        text += &format!("  header_out[{first} +: {width}] = '0;\n");
    }
    for (slot, (first, width)) in &header.slots {
        if let Some(value) = ends.get(slot) {
            text += &format!("  header_out[{first} +: {width}] = {value};\n");
        }
    }
    text + "end\n"
}

/// The body of address resolution.
fn resolution(
    source: &Source<'_>,
    header: &Header,
    arrived: &BTreeMap<SlotId, (usize, usize)>,
) -> Result<String, Diagnostics> {
    let mut text = String::new();
    match &source.resolution {
        Resolution::Always => {
            text += "assign header_out = header_in;\n";
            for index in 0..source.groups.len() {
                text += &format!("assign g{index}_access = 1'b1;\nassign g{index}_cell = '0;\n");
            }
        }
        Resolution::Code { program, region, shared_slots, answers, .. } => {
            let shared = header.slots.iter().filter(|(slot, _)| slot.index() < *shared_slots);
            let shared = Header {
                slots: shared.map(|(slot, place)| (*slot, *place)).collect(),
                bits: header.bits,
            };
            let none = BTreeMap::new();
            let (code, ends) =
                Logic::lower(program, *region, &shared, &none, &source.first_values)?;
            text += &code;
            text += "always_comb begin\n  header_out = header_in;\n";
            for (slot, (first, width)) in arrived {
                let value = ends.get(slot).map_or("'0", |wire| wire);
                text += &format!("  header_out[{first} +: {width}] = {value};\n");
            }
            text += "end\n";
            for (index, (happens, cell)) in answers.iter().enumerate() {
                let group = &source.groups[index];
                let happens = ends.get(happens).map_or("1'b0", |wire| wire);
                text += &format!("assign g{index}_access = {happens};\n");
                let bits = group.cell_bits();
                let value = cell.filter(|_| group.cells > 1).and_then(|slot| {
                    let width = program.slots[slot.index()].ty.width_bits() as usize;
                    let wire = ends.get(&slot)?;
                    Some(match width {
                        _ if width > bits => format!("{wire}[{}:0]", bits - 1),
                        _ if width < bits => format!("{{{}'d0, {wire}}}", bits - width),
                        _ => wire.clone(),
                    })
                });
                let value = value.unwrap_or_else(|| "'0".to_owned());
                text += &format!("assign g{index}_cell = {value};\n");
            }
        }
    }
    Ok(text)
}

impl SourceGroup {
    fn cell_bits(&self) -> usize {
        index_bits(u64::from(self.cells))
    }
}
