// SPDX-License-Identifier: Apache-2.0
//! Egress of a packet that runs ahead of its arrival, on the worker that has run its ingress: queue, egress, checksum computation
//! and deparser of a packet that finds its queue empty. It has the same effects as the slow path from `after_ingress` to
//! `transmit`. A packet that needs more stays as ingress left it.

use super::block_effects::block_effects;
use super::metadata::InstanceType;
use super::model::V1Model;
use crate::drop_reason::DropReason;
use crate::engine::{BlockOutputs, BlockRunner};
use crate::output::DeviceError;
use crate::pass::{EgressAhead, EmptyQueues, Pass, PassInfo};
use interpreter::Outcome;
use ir::Program;
use ir::effects::{self, Location};

/// Returns whether the blocks behind the queues depend on the packet and the configuration only, and leave counts and log lines
/// at most.
pub(super) fn is_possible(model: &V1Model, program: &Program) -> bool {
    let is_fine = |location: &Location| match location {
        Location::Slot(_)
        | Location::PacketCursor
        | Location::PacketOutput
        | Location::ActionProfile(_)
        | Location::ValueSet(_)
        | Location::Counter(_)
        | Location::Log => true,
        // The time of each hit counts, in the order of packets.
        Location::Table(table) => !program.tables[table.index()].idle_timeout,
        _ => false,
    };
    model.blocks.behind_queue().all(|block| {
        let found = block_effects(program, block);
        let effects = effects::of_region(program, program.blocks[block].region);
        !found.may_assert
            && !found.calls_externs
            && effects.reads.iter().chain(&effects.writes).all(is_fine)
    })
}

/// Runs a packet whose pass through ingress has run.
pub(super) fn run(
    model: &V1Model,
    runner: &mut BlockRunner,
    pass: &mut Pass,
    queues: EmptyQueues,
) -> Result<EgressAhead, DeviceError> {
    let (metadata, blocks) = (&model.metadata, &model.blocks);
    let Pass { packet, view: Some(view), run, record, header_bytes, began_ps, .. } = pass else {
        return Ok(EgressAhead::No);
    };
    let with_headers = packet.received_bytes + metadata.header_bytes(&packet.context);
    let length_bytes = with_headers.saturating_sub(*header_bytes);
    let context = &mut packet.context;
    let port = metadata.egress_spec.get(context) as u32;
    let queue = metadata.priority.get(context) as u32;
    let goes_to_one_queue = context.requests.is_empty()
        && context.actions.is_empty()
        && metadata.mcast_grp.get(context) == 0
        && port != model.drop_port
        && port <= metadata.ingress_port.largest()
        && queue < queues.count;
    if !goes_to_one_queue {
        return Ok(EgressAhead::No);
    }
    for (field, value) in [
        (metadata.instance_type, InstanceType::Normal as u64),
        (metadata.enq_timestamp, queues.timestamp),
        (metadata.enq_qdepth, 0),
        (metadata.egress_global_timestamp, queues.timestamp),
        (metadata.deq_timedelta, 0),
        (metadata.deq_qdepth, 0),
        (metadata.egress_port, u64::from(port)),
        (metadata.egress_spec, u64::from(model.drop_port) + 1),
        (metadata.packet_length, u64::from(length_bytes)),
    ] {
        field.set(context, value);
    }
    let now_ps = *began_ps;
    let counted_bytes = packet.received_bytes;
    let run = PassInfo { pass_number: run.pass_number + 1, counted_bytes, ..*run };
    for block in blocks.behind_queue() {
        if block == blocks.compute.start
            && metadata.egress_spec.get(context) as u32 == model.drop_port
        {
            return Ok(EgressAhead::Dropped(DropReason::EgressDrop));
        }
        let outputs = BlockOutputs { now_ps, log: &mut record.log, tap: None };
        let outcome = runner.run(block, context, view, &run, outputs, None)?;
        if !matches!(outcome, Outcome::Returned | Outcome::Exited) {
            let (reason, error) = runner.consequences(block, &outcome, &run, now_ps);
            let dropped = EgressAhead::Dropped(reason.unwrap_or(DropReason::StepLimit));
            return error.map_or(Ok(dropped), Err);
        }
    }
    Ok(EgressAhead::Sent { port, queue })
}
