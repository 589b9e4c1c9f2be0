// SPDX-License-Identifier: Apache-2.0
//! v1model's fast path for copies of a multicast group: egress, checksum computation and deparser as a unit, without
//! queues. It has the same effects as the slow path from `multicast` to `transmit`, which takes copies that have to
//! wait or whose egress issues requests. `services::replica_run` runs the unit.

use super::block_effects::block_effects;
use super::metadata::InstanceType;
use super::model::V1Model;
use crate::architectures::storage_field::StorageField;
use crate::fast_path::{
    EXIT_EGRESS_DROP, FastPathExit, INPUT_INSTANCE, INPUT_LENGTH, INPUT_PORT, INPUT_TIME,
    ReplicaPath,
};
use crate::output::DeviceError;
use crate::services::Services;
use crate::services::replica_run::Copies;
use ir::effects::Location;
use ir::{Program, SlotId};
use jit::{Condition, Step, StepValue, Unit};
use std::collections::BTreeSet;

/// Describes the fast path of a copy, on the storage that ingress left. A program whose egress may issue a request,
/// draw a random number or fail has none: its copies have to wait in queues.
pub(super) fn describe(
    model: &V1Model,
    program: &Program,
    min_queue_count: u32,
) -> Option<ReplicaPath> {
    let (metadata, blocks) = (&model.metadata, &model.blocks);
    let is_plain = |block: usize| {
        let effects = block_effects(program, block);
        !effects.issues_requests
            && !effects.uses_random
            && !effects.may_assert
            && !effects.calls_externs
    };
    metadata.mcast_grp.slot()?;
    let egress_spec = metadata.egress_spec.slot()?;
    if !blocks.behind_queue().all(is_plain) {
        return None;
    }
    let drop_port = u64::from(model.drop_port);
    let values: [(StorageField, StepValue); 9] = [
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
    let set = |(field, value): (StorageField, StepValue)| Some(Step::Set(field.slot()?, value));
    let mut steps: Vec<Step> = values.into_iter().filter_map(set).collect();
    steps.push(Step::Set(egress_spec, StepValue::Constant(drop_port + 1)));
    steps.extend(blocks.egress.clone().map(Step::Block));
    steps.push(Step::ExitIf(Condition::Equals(egress_spec, drop_port), EXIT_EGRESS_DROP));
    let mut to_bytes: Vec<Step> = blocks.to_bytes().map(Step::Block).collect();
    let own: Vec<SlotId> =
        [metadata.egress_port, metadata.egress_rid].iter().filter_map(|it| it.slot()).collect();
    let later: Vec<usize> = blocks.to_bytes().collect();
    let shares_bytes = are_alike(program, &own, blocks.egress.clone(), &later);
    if !shares_bytes {
        steps.append(&mut to_bytes);
    }
    let unit = |name: &str, steps: Vec<Step>| Unit {
        name: name.to_string(),
        steps,
        ..Unit::block("", blocks.deparser)
    };
    let mut units = vec![unit("replica", steps)];
    if shares_bytes {
        units.push(unit("bytes of replicas", to_bytes));
    }
    Some(ReplicaPath { units, min_queue_count })
}

/// Returns whether later blocks give the same bytes for every copy and write no state: they read nothing that an
/// earlier block writes or that differs between copies.
fn are_alike(
    program: &Program,
    own: &[SlotId],
    earlier: std::ops::Range<usize>,
    later: &[usize],
) -> bool {
    let effects = |block: usize| ir::effects::of_region(program, program.blocks[block].region);
    let mut differing: BTreeSet<Location> =
        earlier.flat_map(|block| effects(block).writes).collect();
    differing.extend(own.iter().copied().map(Location::Slot));
    later.iter().all(|block| {
        let effects = effects(*block);
        let leaves_trace =
            |location: &Location| !matches!(location, Location::Slot(_) | Location::PacketOutput);
        effects.reads.is_disjoint(&differing) && !effects.writes.iter().any(leaves_trace)
    })
}

/// Sends the copies of a packet that took the exit after ingress, if it issued no request and no copy has to wait.
/// Else returns the packet. `length_bytes` is a copy's length in its queue.
pub(super) fn send(
    model: &V1Model,
    services: &mut Services<'_>,
    left: FastPathExit,
    length_bytes: u32,
) -> Result<Option<FastPathExit>, DeviceError> {
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
