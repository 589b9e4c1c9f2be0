// SPDX-License-Identifier: Apache-2.0
//! v1model's fast path: all six blocks as one unit, from the ingress port to the port that ingress chose, for packets
//! that issue no request and find their queue empty. It has the same effects as the slow path from `begin_ingress` to
//! `transmit`; a packet that needs more takes an exit and continues in `finish`.

use super::block_effects::block_effects;
use super::finish::EgressContext;
use super::metadata::InstanceType;
use super::model::V1Model;
use super::replicas;
use crate::architectures::storage_field::StorageField;
use crate::fast_path::{
    EXIT_EGRESS_DROP, EXIT_INGRESS_DROP, FIRST_OWN_OUTPUT, FastPath, FastPathExit, INPUT_PORT,
    INPUT_TIME, OUTPUT_PORT, OUTPUT_QUEUE, OUTPUT_QUEUED_LENGTH,
};
use crate::output::DeviceError;
use crate::packet::{PendingRequests, QueuedPacket, Reception};
use crate::pass::{Departure, PassInfo};
use crate::services::Services;
use crate::trace::Cause;
use crate::traffic_manager::{DEPTH, GATE_ROWS};
use ir::Program;
use ir::effects::{self, Effects, Location};
use jit::{Condition, Gate, Step, StepValue, Storage, Unit};

/// Exit after the ingress block.
const AFTER_INGRESS: u32 = 1;
/// Exit after the egress block.
const AFTER_EGRESS: u32 = 2;
/// Exit before the deparser.
const BEFORE_DEPARSER: u32 = 3;

/// Output: the packet's length as received and the bytes of its valid headers before egress.
const OUTPUT_LENGTH_AND_HEADERS: usize = FIRST_OWN_OUTPUT;

/// Measures of the length of valid headers: before the parser, when no header is valid.
const AT_START: usize = 0;
const AFTER_PARSER: usize = 1;
const BEFORE_EGRESS: usize = 2;

/// Notes a header that is not a whole number of bytes, which only the runtime can parse.
fn part_bytes(program: &Program) -> Option<String> {
    let ends_within_a_byte = |header: &&ir::Header| {
        !program.header_types[header.ty.index()].fixed_bits().is_multiple_of(8)
    };
    let header = program.headers.iter().find(ends_within_a_byte)?;
    Some(format!("header `{}` is no whole number of bytes, so headers are copied", header.name))
}

/// Describes the fast path of a program, or says why it has none.
pub(super) fn describe(
    model: &V1Model,
    program: &Program,
    min_queue_count: u32,
) -> Result<FastPath, String> {
    let describe = |waiting| describe_unit(model, program, min_queue_count, waiting);
    let plain = describe(Waiting::Never)?;
    let gated = describe(Waiting::OnSlowPath)?.unit;
    let planned = match can_plan(model, program) && plain.unit.in_place {
        true => Some(describe(Waiting::Planned)?.unit),
        false => None,
    };
    Ok(FastPath { gated: Some(gated), planned, ..plain })
}

/// What a unit does with packets that wait in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    /// No packet has to wait.
    Never,
    /// A packet whose gate is closed takes the exit before the queue.
    OnSlowPath,
    /// Egress runs when a packet is queued; a packet whose gate is closed takes the exit.
    Planned,
}

/// Returns whether the blocks behind the queue give the same bytes when they run before it: they read nothing that is
/// known only at the end of the queue, share no state with other packets, drop and ask nothing, and all packets use
/// queue 0.
fn can_plan(model: &V1Model, program: &Program) -> bool {
    let (metadata, blocks) = (&model.metadata, &model.blocks);
    let of = |block: usize| effects::of_region(program, program.blocks[block].region);
    let mut later = Effects::default();
    for block in blocks.behind_queue() {
        later.include(&of(block));
    }
    let is_own = |location: &Location| {
        matches!(
            location,
            Location::Slot(_)
                | Location::PacketCursor
                | Location::PacketOutput
                | Location::Table(_)
                | Location::ActionProfile(_)
                | Location::ValueSet(_)
        )
    };
    let known_later =
        [metadata.deq_timedelta, metadata.deq_qdepth, metadata.egress_global_timestamp];
    let reads = |field: &StorageField| {
        field.slot().is_some_and(|slot| later.reads.contains(&Location::Slot(slot)))
    };
    let is_written = |field: StorageField, by: &Effects| {
        field.slot().is_some_and(|slot| by.writes.contains(&Location::Slot(slot)))
    };
    let sets_priority =
        blocks.before_queue().any(|block| is_written(metadata.priority, &of(block)));
    later.reads.iter().chain(&later.writes).all(is_own)
        && !known_later.iter().any(reads)
        && !is_written(metadata.egress_spec, &later)
        && !sets_priority
}

/// Describes the unit. A metadata field that the program's interface lacks reads as 0.
fn describe_unit(
    model: &V1Model,
    program: &Program,
    min_queue_count: u32,
    waiting: Waiting,
) -> Result<FastPath, String> {
    let (metadata, blocks) = (&model.metadata, &model.blocks);
    if (0..program.blocks.len()).any(|at| block_effects(program, at).calls_stateful_externs) {
        return Err(
            "it calls externs that keep state or act on packets, so it runs block by block; \
                    `@pure` before a declaration says that an extern only computes"
                .to_string(),
        );
    }
    // Ports, groups and priorities are read as 32 bits.
    let Some(egress_spec) = metadata.egress_spec.slot() else {
        return Err("its standard metadata has no `egress_spec`".to_string());
    };
    for (name, field) in [
        ("egress_spec", metadata.egress_spec),
        ("mcast_grp", metadata.mcast_grp),
        ("priority", metadata.priority),
    ] {
        if field.width_bits().is_some_and(|width_bits| width_bits > 32) {
            return Err(format!("`{name}` of its standard metadata has more than 32 bits"));
        }
    }
    let mut steps = Vec::new();
    let mut notes: Vec<String> = part_bytes(program).into_iter().collect();
    fn set(steps: &mut Vec<Step>, field: StorageField, value: StepValue) {
        steps.extend(field.slot().map(|slot| Step::Set(slot, value)));
    }
    fn exit_if(steps: &mut Vec<Step>, condition: Condition, exit: u32) {
        steps.push(Step::ExitIf(condition, exit));
    }
    // The slow path reads standard metadata after an exit; the unit saves headers by itself.
    let observed = metadata.slots();
    let mut finish = |steps, last_pass, in_place, note: Option<&str>| {
        let unit = Unit {
            name: "fast path".to_string(),
            steps,
            storage: Storage::Fresh,
            observed: observed.clone(),
            in_place,
        };
        notes.extend(note.map(str::to_string));
        let replicas = replicas::describe(model, program, min_queue_count);
        let notes = std::mem::take(&mut notes);
        Ok(FastPath { unit, gated: None, planned: None, last_pass, replicas, notes })
    };

    // To the end of ingress.
    steps.push(Step::Measure(AT_START));
    set(&mut steps, metadata.ingress_port, StepValue::Input(INPUT_PORT));
    set(&mut steps, metadata.ingress_global_timestamp, StepValue::Input(INPUT_TIME));
    let normal = StepValue::Constant(InstanceType::Normal as u64);
    set(&mut steps, metadata.instance_type, normal.clone());
    set(&mut steps, metadata.packet_length, StepValue::PacketLength);
    steps.push(Step::Block(blocks.parser));
    steps.push(Step::Measure(AFTER_PARSER));
    steps.extend(blocks.verify.clone().map(Step::Block));
    steps.extend(blocks.ingress.clone().map(Step::Block));
    steps.push(Step::Measure(BEFORE_EGRESS));
    let length = StepValue::Length { plus: BEFORE_EGRESS, minus: AFTER_PARSER };
    steps.push(Step::OutputAtExit(OUTPUT_QUEUED_LENGTH, length.clone()));
    exit_if(&mut steps, Condition::RequestsPending, AFTER_INGRESS);
    if let Some(group) = metadata.mcast_grp.slot() {
        exit_if(&mut steps, Condition::Differs(group, 0), AFTER_INGRESS);
    }
    let drop_port = u64::from(model.drop_port);
    exit_if(&mut steps, Condition::Equals(egress_spec, drop_port), EXIT_INGRESS_DROP);
    let no_port = u64::from(metadata.ingress_port.largest()) + 1;
    if u64::from(metadata.egress_spec.largest()) >= no_port {
        exit_if(&mut steps, Condition::AtLeast(egress_spec, no_port), AFTER_INGRESS);
    }
    let priority = metadata.priority.slot();
    if let Some(priority) = priority
        && metadata.priority.largest() >= min_queue_count
    {
        let no_queue = u64::from(min_queue_count);
        exit_if(&mut steps, Condition::AtLeast(priority, no_queue), AFTER_INGRESS);
    }
    if waiting != Waiting::Never {
        let bit = priority.filter(|_| waiting == Waiting::OnSlowPath);
        let gate = Gate { row: egress_spec, rows: GATE_ROWS, bit };
        exit_if(&mut steps, Condition::Closed(gate), AFTER_INGRESS);
    }
    if blocks.behind_queue().any(|block| block_effects(program, block).uses_random) {
        // Random draws are numbered within a pass, and egress is another pass.
        exit_if(&mut steps, Condition::Always, AFTER_INGRESS);
        let note = "egress draws random numbers, so it runs by itself";
        return finish(steps, 0, false, Some(note));
    }

    // The queue, and egress.
    steps.push(Step::Output(OUTPUT_PORT, StepValue::Slot(egress_spec)));
    let queue = priority.map_or(StepValue::Constant(0), StepValue::Slot);
    steps.push(Step::Output(OUTPUT_QUEUE, queue));
    set(&mut steps, metadata.instance_type, normal);
    set(&mut steps, metadata.enq_timestamp, StepValue::Input(INPUT_TIME));
    let depth = match waiting {
        Waiting::Planned => {
            steps.push(Step::Output(OUTPUT_QUEUED_LENGTH, length.clone()));
            StepValue::Row { row: egress_spec, rows: GATE_ROWS, column: DEPTH as u32 }
        }
        Waiting::Never | Waiting::OnSlowPath => StepValue::Constant(0),
    };
    set(&mut steps, metadata.enq_qdepth, depth);
    set(&mut steps, metadata.egress_global_timestamp, StepValue::Input(INPUT_TIME));
    set(&mut steps, metadata.deq_timedelta, StepValue::Constant(0));
    set(&mut steps, metadata.deq_qdepth, StepValue::Constant(0));
    set(&mut steps, metadata.egress_port, StepValue::Slot(egress_spec));
    set(&mut steps, metadata.egress_spec, StepValue::Constant(drop_port + 1));
    set(&mut steps, metadata.packet_length, length);
    if blocks.egress.clone().any(|block| block_effects(program, block).issues_requests) {
        let before = StepValue::Length { plus: BEFORE_EGRESS, minus: AT_START };
        steps.push(Step::OutputAtExit(OUTPUT_LENGTH_AND_HEADERS, before));
    }
    steps.extend(blocks.egress.clone().map(Step::Block));
    exit_if(&mut steps, Condition::RequestsPending, AFTER_EGRESS);
    exit_if(&mut steps, Condition::Equals(egress_spec, drop_port), EXIT_EGRESS_DROP);
    steps.extend(blocks.compute.clone().map(Step::Block));
    exit_if(&mut steps, Condition::RequestsPending, BEFORE_DEPARSER);

    // The deparser overwrites the packet, so there is no exit after it.
    let without_deparser = steps.clone();
    steps.push(Step::Block(blocks.deparser));
    let whole = Unit {
        name: String::new(),
        steps: steps.clone(),
        storage: Storage::Fresh,
        observed: Vec::new(),
        in_place: true,
    };
    let in_deparser = block_effects(program, blocks.deparser);
    if !in_deparser.issues_requests && whole.can_deparse_in_place(program) {
        return finish(steps, 1, true, None);
    }
    let mut steps = without_deparser;
    exit_if(&mut steps, Condition::Always, BEFORE_DEPARSER);
    finish(steps, 1, false, Some("the deparser does not work in the packet's own memory"))
}

/// Continues a packet on the slow path after the block whose exit it took.
pub(super) fn leave(
    model: &V1Model,
    services: &mut Services<'_>,
    left: FastPathExit,
) -> Result<(), DeviceError> {
    let is_in_ingress = left.exit == Some(AFTER_INGRESS);
    let left = match is_in_ingress {
        true => {
            let length_bytes = left.outputs[OUTPUT_QUEUED_LENGTH];
            match replicas::send(model, services, left, length_bytes)? {
                Some(left) => left,
                None => return Ok(()),
            }
        }
        false => left,
    };
    let passes = if is_in_ingress { 1 } else { 2 };
    let reception = left.reception.unwrap_or_else(|| Reception::new(left.number));
    reception.add_passes(passes);
    let received_bytes = u32::try_from(left.context.packet.len()).unwrap_or(u32::MAX);
    let run = PassInfo {
        packet: left.number,
        pass_number: reception.passes() - 1,
        counted_bytes: received_bytes,
        pass: None,
    };
    let packet = Box::new(QueuedPacket {
        reception,
        ingress_port: left.port,
        context: left.context,
        received_bytes,
        length_bytes: left.outputs[OUTPUT_QUEUED_LENGTH],
        requests: PendingRequests::default(),
        cause: Cause::Queue,
        parent: None,
        epoch: services.pass_epoch(),
        time_to_queues_ps: services.options().ingress_latency_ps,
    });
    if is_in_ingress {
        return model.after_ingress(services, &left.view, &run, packet);
    }
    let departure = Departure {
        port: left.outputs[OUTPUT_PORT],
        queue: left.outputs[OUTPUT_QUEUE],
        dequeued_ps: services.now_ps(),
        time_to_wire_ps: services.options().egress_latency_ps,
    };
    let egress = EgressContext { view: &left.view, run: &run, departure };
    if left.exit == Some(AFTER_EGRESS) {
        let before_bytes = left.outputs[OUTPUT_LENGTH_AND_HEADERS] - received_bytes;
        return model.after_egress(services, &egress, packet, before_bytes);
    }
    // The packet has the requests of the checksum computation.
    model.deparse(services, &egress, packet)
}
