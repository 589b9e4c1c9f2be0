// SPDX-License-Identifier: Apache-2.0
//! Copies of a multicast group that nothing holds up: from ingress to their ports as one unit, without
//! queues between. It does what the slow path does from `multicast` to `transmit`; copies that have to
//! wait, or whose egress asks for something, take that. Running the unit is a service.

use super::block_effects::block_effects;
use super::metadata::{Field, InstanceType};
use super::model::V1Model;
use crate::fast_path::{
    EXIT_EGRESS_DROP, INPUT_INSTANCE, INPUT_LENGTH, INPUT_PORT, INPUT_TIME, LeftFastPath,
    ReplicaPath,
};
use crate::output::DeviceError;
use crate::services::Services;
use crate::services::replica_run::Copies;
use ir::effects::Location;
use ir::{Program, SlotId};
use jit::{Condition, Step, StepValue, Unit};

/// The fast path of a copy from the multicast group on, on storage as ingress left it. A program whose egress
/// may ask for something, draw a number or fail has none: its copies have to stand in queues meanwhile.
pub(super) fn describe(
    model: &V1Model,
    program: &Program,
    least_queue_count: u32,
) -> Option<ReplicaPath> {
    let (metadata, blocks) = (&model.metadata, model.blocks);
    let later = [blocks.egress, blocks.compute, blocks.deparser];
    let is_plain = |block: usize| {
        let effects = block_effects(program, block);
        !effects.issues_requests
            && !effects.uses_random
            && !effects.may_assert
            && !effects.calls_externs
    };
    metadata.mcast_grp.slot()?;
    let egress_spec = metadata.egress_spec.slot()?;
    if !later.into_iter().all(is_plain) {
        return None;
    }
    let drop_port = u64::from(model.drop_port);
    let values: [(Field, StepValue); 9] = [
        (metadata.instance_type, StepValue::Constant(InstanceType::Replicated as u64)),
        (metadata.egress_rid, StepValue::Input(INPUT_INSTANCE)),
        (metadata.enq_timestamp, StepValue::Input(INPUT_TIME)),
        (metadata.enq_qdepth, StepValue::Constant(0)),
        (metadata.egress_global_timestamp, StepValue::Input(INPUT_TIME)),
        (metadata.deq_timedelta, StepValue::Constant(0)),
        (metadata.deq_qdepth, StepValue::Constant(0)),
        (metadata.egress_port, StepValue::Input(INPUT_PORT)),
        (metadata.packet_length, StepValue::Input(INPUT_LENGTH)),
    ];
    let set = |(field, value): (Field, StepValue)| Some(Step::Set(field.slot()?, value));
    let mut steps: Vec<Step> = values.into_iter().filter_map(set).collect();
    steps.push(Step::Set(egress_spec, StepValue::Constant(drop_port + 1)));
    steps.push(Step::Block(blocks.egress));
    steps.push(Step::ExitIf(Condition::Equals(egress_spec, drop_port), EXIT_EGRESS_DROP));
    let mut to_bytes = vec![Step::Block(blocks.compute), Step::Block(blocks.deparser)];
    let own: Vec<SlotId> =
        [metadata.egress_port, metadata.egress_rid].iter().filter_map(|it| it.slot()).collect();
    let shares_bytes = are_alike(program, &own, blocks.egress, &[blocks.compute, blocks.deparser]);
    if !shares_bytes {
        steps.append(&mut to_bytes);
    }
    let unit = |name: &str, steps: Vec<Step>| Unit {
        name: name.to_string(),
        steps,
        ..Unit::block("", blocks.egress)
    };
    let mut units = vec![unit("replica", steps)];
    if shares_bytes {
        units.push(unit("bytes of replicas", to_bytes));
    }
    Some(ReplicaPath { units, least_queue_count })
}

/// Whether later blocks make the same of every copy and leave no trace: they read nothing that an
/// earlier block writes or that is a copy's own.
fn are_alike(program: &Program, own: &[SlotId], earlier: usize, later: &[usize]) -> bool {
    let effects = |block: usize| ir::effects::of_region(program, program.blocks[block].region);
    let mut differing = effects(earlier).writes;
    differing.extend(own.iter().copied().map(Location::Slot));
    later.iter().all(|block| {
        let effects = effects(*block);
        let leaves_trace =
            |location: &Location| !matches!(location, Location::Slot(_) | Location::PacketOutput);
        effects.reads.is_disjoint(&differing) && !effects.writes.iter().any(leaves_trace)
    })
}

/// Sends the copies of a packet that left the fast path after ingress, if that is all that follows for it and
/// nothing would hold a copy up. Else the packet is handed back. A copy has so many bytes for its queue.
pub(super) fn send(
    model: &V1Model,
    services: &mut Services<'_>,
    left: LeftFastPath,
    length_bytes: u32,
) -> Result<Option<LeftFastPath>, DeviceError> {
    let metadata = &model.metadata;
    let group = metadata.mcast_grp.get(&left.context) as u32;
    if group == 0 || !left.context.requests.is_empty() {
        return Ok(Some(left));
    }
    let copies = Copies {
        group,
        queue: metadata.priority.get(&left.context) as u32,
        length_bytes,
        largest_port: metadata.ingress_port.largest(),
    };
    services.send_copies(left, &copies)
}
