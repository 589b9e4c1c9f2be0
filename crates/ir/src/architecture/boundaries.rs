// SPDX-License-Identifier: Apache-2.0
//! [`Boundaries`]: what a device does to a packet's slots between the blocks of a program: which blocks may
//! run next on the same storage, which slots the device overwrites on the way, and which it reads. One table
//! an architecture; `device` implements them and the analyses of `analysis` rely on them. For packages without a
//! description every slot that a device can name is read at the end of each block.

use crate::effects;
use crate::{BlockKind, HeaderRef, Program, RegionId, SlotId, SlotSet, ValueType};

/// A packet's storage goes from the end of one block to the beginning of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The block that runs next, by its index in [`Program::blocks`].
    pub to: usize,
    /// Slots that keep their values. The device writes the others, or they begin at zero.
    pub keeps: SlotSet,
}

/// What follows the end of a block, however it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockEnd {
    /// Slots whose values the device looks at.
    pub reads: SlotSet,
    /// Which blocks may run next on this storage, or on storage that keeps part of it.
    pub next: Vec<Passage>,
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
    /// What the program's architecture says. Of an architecture without a device: the blocks run in the order
    /// of the package, slots that a device can name are read after each, and field lists come back to the
    /// first block.
    pub fn of(program: &Program) -> Boundaries {
        let known = match &*program.architecture {
            "v1model" => v1model(program),
            "tna" => tna(program),
            _ => None,
        };
        known.unwrap_or_else(|| in_package_order(program))
    }

    /// What holds of every device: any block may run after any other on the storage that it left, and every
    /// slot that a device can name is read. Passes that must not ask which device runs the program use it.
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
        let next: Vec<Passage> = (0..program.blocks.len())
            .map(|to| Passage { to, keeps: SlotSet::full(program) })
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
        let again = Passage { to: 0, keeps: field_lists.clone() };
        let later = (at + 1..count).map(|to| Passage { to, keeps: SlotSet::full(program) });
        BlockEnd { reads: reads.clone(), next: std::iter::once(again).chain(later).collect() }
    });
    Boundaries { ends: ends.collect(), first: (0..count.min(1)).collect() }
}

fn field_list_slots(program: &Program) -> SlotSet {
    SlotSet::of(program, program.field_lists.iter().flat_map(|list| &list.slots).copied())
}

fn requests(program: &Program, wanted: &[&str]) -> bool {
    program.requests.iter().any(|request| wanted.contains(&&*request.name))
}

/// Blocks by their roles; `None` when one is missing.
fn blocks<const COUNT: usize>(program: &Program, roles: [&str; COUNT]) -> Option<[usize; COUNT]> {
    let found = roles.map(|role| program.blocks.iter().position(|block| &*block.role == role));
    found.iter().all(Option::is_some).then(|| found.map(Option::unwrap_or_default))
}

/// Slots of these fields of a storage, as far as they are there.
fn fields(program: &Program, storage: &str, names: &[&str]) -> Vec<SlotId> {
    names.iter().filter_map(|name| program.slot_named(&format!("{storage}.{name}"))).collect()
}

/// Fields that v1model's switch writes when a packet comes to ingress, also to one that comes back.
const V1MODEL_ARRIVAL: &[&str] = &["instance_type", "packet_length"];
/// Fields that it writes between the queue and egress.
const V1MODEL_QUEUE: &[&str] = &[
    "instance_type",
    "enq_timestamp",
    "enq_qdepth",
    "egress_global_timestamp",
    "deq_timedelta",
    "deq_qdepth",
    "egress_port",
    "egress_spec",
    "packet_length",
];

/// v1model: `p`, `vr`, `ig`, queue, `eg`, `ck`, `dep`. Lengths of valid headers are measured after the parser,
/// after ingress and after egress. A clone made in ingress has the headers of a second run of the parser; one
/// made in egress has those at the end of egress.
fn v1model(program: &Program) -> Option<Boundaries> {
    let [parser, verify, ingress, egress, compute, deparser] =
        blocks(program, ["p", "vr", "ig", "eg", "ck", "dep"])?;
    let metadata = program.blocks[parser]
        .parameters
        .last()
        .map(|parameter| &*parameter.storage)
        .filter(|storage| !storage.is_empty())
        .unwrap_or("standard_metadata");
    let named = |names: &[&str]| SlotSet::of(program, fields(program, metadata, names));
    let all_but = |names: &[&str]| {
        let mut keeps = SlotSet::full(program);
        keeps.subtract(&named(names));
        keeps
    };
    let measured = measured_slots(program);
    let preserved = field_list_slots(program);
    let again = |keeps: bool| {
        let mut keeps_slots = preserved.clone();
        keeps_slots.subtract(&named(V1MODEL_ARRIVAL));
        keeps.then_some(Passage { to: parser, keeps: keeps_slots })
    };
    let clones = requests(program, &["clone_i2e", "clone_e2e"]);
    let headers = header_slots(program);

    let mut ends =
        vec![BlockEnd { reads: SlotSet::empty(program), next: Vec::new() }; program.blocks.len()];
    let full = |to: usize| Passage { to, keeps: SlotSet::full(program) };
    ends[parser].reads = measured.clone();
    ends[parser].next.push(full(verify));
    if clones {
        ends[parser].next.push(Passage { to: egress, keeps: headers.clone() });
    }
    ends[verify].next.push(full(ingress));
    ends[ingress].reads = measured.clone();
    ends[ingress].reads.unite(&named(&["mcast_grp", "egress_spec", "priority"]));
    ends[ingress].next.push(Passage { to: egress, keeps: all_but(V1MODEL_QUEUE) });
    ends[ingress].next.extend(again(requests(program, &["resubmit"])));
    ends[egress].reads = measured;
    ends[egress].reads.unite(&named(&["egress_spec"]));
    ends[egress].next.push(full(compute));
    if clones {
        ends[egress].reads.unite(&named(&["priority"]));
        let mut keeps = headers;
        keeps.unite(&preserved);
        keeps.subtract(&named(V1MODEL_QUEUE));
        ends[egress].next.push(Passage { to: egress, keeps });
    }
    ends[compute].next.push(full(deparser));
    ends[deparser].next.extend(again(requests(program, &["recirculate"])));
    Some(Boundaries { ends, first: vec![parser] })
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

/// What ingress tells the traffic manager of Tofino.
const TNA_FOR_TRAFFIC_MANAGER: &[&str] = &[
    "ucast_egress_port",
    "$ucast_set",
    "bypass_egress",
    "ingress_cos",
    "qid",
    "copy_to_cpu",
    "mcast_grp_a",
    "mcast_grp_b",
    "rid",
    "level1_exclusion_id",
    "level2_exclusion_id",
];

/// TNA: parser, control and deparser of ingress; then, on new storage, those of egress. Time stamps are
/// written behind each parser, and parser errors are read there.
fn tna(program: &Program) -> Option<Boundaries> {
    let ingress =
        blocks(program, ["pipe0.ingress_parser", "pipe0.ingress", "pipe0.ingress_deparser"])?;
    let egress = blocks(program, ["pipe0.egress_parser", "pipe0.egress", "pipe0.egress_deparser"])?;
    let named = |storage, names: &[&str]| SlotSet::of(program, fields(program, storage, names));
    let mut ends =
        vec![BlockEnd { reads: SlotSet::empty(program), next: Vec::new() }; program.blocks.len()];
    for ([parser, control, deparser], from_parser, for_deparser) in [
        (ingress, "ig_intr_md_from_prsr", "ig_intr_md_for_dprsr"),
        (egress, "eg_intr_md_from_prsr", "eg_intr_md_for_dprsr"),
    ] {
        ends[parser].reads = named(from_parser, &["$error"]);
        let mut keeps = SlotSet::full(program);
        keeps.subtract(&named(from_parser, &["global_tstamp"]));
        ends[parser].next.push(Passage { to: control, keeps });
        ends[control].next.push(Passage { to: deparser, keeps: SlotSet::full(program) });
        ends[deparser].reads = named(for_deparser, &["drop_ctl"]);
    }
    ends[ingress[2]].reads.unite(&named("ig_intr_md_for_tm", TNA_FOR_TRAFFIC_MANAGER));
    Some(Boundaries { ends, first: vec![ingress[0], egress[0]] })
}
