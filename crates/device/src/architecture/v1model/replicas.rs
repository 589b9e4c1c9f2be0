// SPDX-License-Identifier: Apache-2.0
//! Copies of a multicast group that nothing holds up: from ingress to their ports as one unit, without
//! queues between. It is the parent module's way from `multicast` to `transmit`; copies that have to
//! wait, or whose egress asks for something, go that way.

use super::V1Model;
use super::metadata::{Field, InstanceType};
use super::straight::doings;
use crate::architecture::{EXIT_EGRESS_DROP, LeftStraight, Replicas};
use crate::compiled_program::{Bound, BoundReplicas};
use crate::engine::{Engine, Runner};
use crate::environment::BlockEnvironment;
use crate::machine::Machine;
use crate::output::{DeviceError, Transmitted};
use crate::pass::Run;
use crate::statistics::DropReason;
use crate::view::View;
use ir::effects::Location;
use ir::{Program, SlotId};
use jit::{Condition, Ending, Step, StepValue, Unit};
use state::Replica;
use std::cell::Cell;

/// Input: the port of the copy.
const INPUT_PORT: usize = 0;
/// Input: device time in the unit of time stamps.
const INPUT_TIME: usize = 1;
/// Input: what tells the copy from others.
const INPUT_INSTANCE: usize = 2;
/// Input: the length that the copy has for its queue.
const INPUT_LENGTH: usize = 3;

/// The way of a copy from the multicast group on, on storage as ingress left it. A program whose egress
/// may ask for something, draw a number or fail has none: its copies have to stand in queues meanwhile.
pub(super) fn describe(
    model: &V1Model,
    program: &Program,
    least_queue_count: u32,
) -> Option<Replicas> {
    let (metadata, blocks) = (&model.metadata, model.blocks);
    let later = [blocks.egress, blocks.compute, blocks.deparser];
    let is_plain = |block: usize| {
        let doings = doings(program, block);
        !doings.asks && !doings.draws && !doings.asserts
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
    Some(Replicas { units, least_queue_count })
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

/// Puts copies in the order in which their ports send. Returns whether none has to wait for another or
/// goes where nothing is.
fn order(replicas: &[Replica], largest_port: u32, ordered: &mut Vec<Replica>) -> bool {
    ordered.clear();
    ordered.extend_from_slice(replicas);
    ordered.sort_unstable_by_key(|replica| replica.egress_port);
    let is_alone = ordered.windows(2).all(|pair| pair[0].egress_port != pair[1].egress_port);
    is_alone && ordered.last().is_some_and(|last| last.egress_port <= largest_port)
}

/// Sends the copies of a packet that left the straight way after ingress, if that is all that becomes of
/// it and nothing would hold a copy up. Else the packet is handed back.
pub(super) fn send(
    model: &V1Model,
    engine: &mut Engine,
    machine: &mut Machine,
    left: LeftStraight,
) -> Result<Option<LeftStraight>, DeviceError> {
    let metadata = &model.metadata;
    let group = metadata.mcast_grp.get(&left.context) as u32;
    if group == 0 || !left.context.requests.is_empty() || !machine.lets_copies_through() {
        return Ok(Some(left));
    }
    let View::Forwarding(forwarding) = &left.view else { return Ok(Some(left)) };
    let Some(found) = forwarding.replication().multicast_group(group) else {
        return Ok(Some(left));
    };
    let Runner::Jit(compiled) = &mut engine.runner else { return Ok(Some(left)) };
    let bound = compiled.replicas();
    let bound = bound.map_err(|error| DeviceError::NotCompiled { message: error.message })?;
    let Some(replicas) = bound else { return Ok(Some(left)) };
    let BoundReplicas { bound, share_bytes, least_queue_count, storage, ordered } = replicas;
    let queue = metadata.priority.get(&left.context) as u32;
    let goes_straight = queue < *least_queue_count
        && order(&found.replicas, metadata.ingress_port.largest(), ordered)
        && machine.options.pass_limit.is_none_or(|limit| limit as usize > ordered.len());
    if !goes_straight {
        return Ok(Some(left));
    }

    let LeftStraight { mut context, outputs, number, view, .. } = left;
    let View::Forwarding(forwarding) = &view else { return Ok(None) };
    let counted_bytes = u32::try_from(context.packet.len()).unwrap_or(u32::MAX);
    let time_ps = machine.now_ps.saturating_add(machine.options.egress_latency_ps);
    let mut inputs = [0; jit::NUMBERS];
    inputs[INPUT_TIME] = machine.timestamp();
    inputs[INPUT_LENGTH] = u64::from(outputs[super::straight::OUTPUT_QUEUED_LENGTH]);
    storage.clear();
    storage.extend_from_slice(context.storage());
    machine.statistics.replicated += ordered.len() as u64;
    let mut log = std::mem::take(&mut machine.log);
    let run = Cell::new(Run { packet: number, pass_number: 0, counted_bytes, pass: None });
    let clock = Cell::new(machine.now_ps);
    let mut environment = BlockEnvironment {
        clock: &clock,
        seed: machine.options.seed,
        device_id: machine.options.device_id,
        run: &run,
        burst: None,
        log: &mut log,
        tap: None,
    };
    let Bound { code, instance } = bound;
    let mut runs = code.begin(instance, forwarding, &mut engine.cells, &mut environment);
    // What the last copy sent.
    context.emitted.clear();
    let mut has_bytes = false;
    for (replica, pass_number) in ordered.iter().zip(1..) {
        context.storage_mut().copy_from_slice(storage);
        context.draws.clear();
        let port = replica.egress_port;
        inputs[INPUT_PORT] = u64::from(port);
        inputs[INPUT_INSTANCE] = u64::from(replica.instance);
        run.set(Run { packet: number, pass_number, counted_bytes, pass: None });
        if !*share_bytes {
            context.emitted.clear();
            has_bytes = false;
        }
        let mut ending = runs.run(0, &inputs, &mut context);
        if *share_bytes && !has_bytes && ending == Ending::Done {
            context.emitted.clear();
            ending = runs.run(1, &inputs, &mut context);
        }
        match ending {
            Ending::Done => {
                if !has_bytes {
                    context.emitted.push_rest(&context.packet, context.cursor_bits);
                    has_bytes = true;
                }
                let bytes = machine.copy_of(context.emitted.as_bytes());
                machine.straight.sent(port, bytes.len() as u32);
                let sequence = machine.sent;
                machine.sent += 1;
                let packet = number;
                machine.transmitted.push(Transmitted {
                    port,
                    time_ps,
                    bytes,
                    packet,
                    queue,
                    sequence,
                });
            }
            Ending::StepLimit { .. } => machine.drop_packet(DropReason::StepLimit, None),
            // Nothing else ends a unit that asserts nothing and calls nothing.
            _ => machine.straight.dropped(0, 1),
        }
    }
    // Whoever wrote in the meantime wrote behind what stood there.
    std::mem::swap(&mut machine.log, &mut log);
    machine.log.append(&mut log);
    engine.recycle(context);
    Ok(None)
}
