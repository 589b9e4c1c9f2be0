// SPDX-License-Identifier: Apache-2.0
//! Runs the fast path of a multicast group's copies: one unit for each copy, in the order in which their ports
//! send. What the units do is the architecture's.

use super::Services;
use crate::compiled_program::{Bound, BoundReplicaPath};
use crate::configuration_view::ConfigurationView;
use crate::drop_reason::DropReason;
use crate::engine::{BlockOutputs, Engine};
use crate::fast_path::{FastPathExit, INPUT_INSTANCE, INPUT_LENGTH, INPUT_PORT, INPUT_TIME};
use crate::output::DeviceError;
use crate::pass::PassInfo;
use jit::UnitExit;
use state::Replica;
use std::cell::Cell;

/// What a packet's copies have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copies {
    pub group: u32,
    pub queue: u32,
    /// What a copy fills of the buffer.
    pub length_bytes: u32,
    pub largest_port: u32,
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

impl Services<'_> {
    /// Sends the copies of a packet that left the fast path, if nothing would hold a copy up. Else the packet is
    /// handed back.
    pub fn send_copies(
        &mut self,
        left: FastPathExit,
        copies: &Copies,
    ) -> Result<Option<FastPathExit>, DeviceError> {
        if !self.core.can_replicate_now() {
            return Ok(Some(left));
        }
        let ConfigurationView::Forwarding(forwarding) = &left.view else { return Ok(Some(left)) };
        let Some(found) = forwarding.replication().multicast_group(copies.group) else {
            return Ok(Some(left));
        };
        let random = self.runner.random();
        let (engine, cells) = (&mut self.runner.engine, &mut self.runner.cells);
        let Engine::Jit(compiled) = engine else { return Ok(Some(left)) };
        let bound = compiled.replicas();
        let bound = bound.map_err(|error| DeviceError::NotCompiled { message: error.message })?;
        let Some(replicas) = bound else { return Ok(Some(left)) };
        let BoundReplicaPath { bound, share_bytes, min_queue_count, storage, ordered } = replicas;
        let limit = self.core.options.pass_limit;
        let goes_at_once = copies.queue < *min_queue_count
            && order(&found.replicas, copies.largest_port, ordered)
            && limit.is_none_or(|limit| limit as usize > ordered.len());
        if !goes_at_once {
            return Ok(Some(left));
        }
        let (queue, program) = (copies.queue, self.membership.lease.id);

        let FastPathExit { mut context, number, view, .. } = left;
        let ConfigurationView::Forwarding(forwarding) = &view else { return Ok(None) };
        let counted_bytes = u32::try_from(context.packet.len()).unwrap_or(u32::MAX);
        let time_ps = self.core.now_ps.saturating_add(self.core.options.egress_latency_ps);
        let mut inputs = [0; jit::MAX_INPUTS];
        inputs[INPUT_TIME] = self.core.timestamp();
        inputs[INPUT_LENGTH] = u64::from(copies.length_bytes);
        storage.clear();
        storage.extend_from_slice(context.storage());
        self.core.statistics.replicated += ordered.len() as u64;
        let mut log = std::mem::take(&mut self.core.log);
        let run = Cell::new(PassInfo { packet: number, pass_number: 0, counted_bytes, pass: None });
        let clock = Cell::new(self.core.now_ps);
        let outputs = BlockOutputs { now_ps: self.core.now_ps, log: &mut log, tap: None };
        let mut environment = random.environment(&clock, &run, outputs);
        let Bound { code, instance } = bound;
        let mut runs = code.begin(instance, forwarding, cells, &mut environment);
        // What the last copy sent.
        context.emitted.clear();
        let mut has_bytes = false;
        for (replica, pass_number) in ordered.iter().zip(1..) {
            context.storage_mut().copy_from_slice(storage);
            context.draws.clear();
            let port = replica.egress_port;
            inputs[INPUT_PORT] = u64::from(port);
            inputs[INPUT_INSTANCE] = u64::from(replica.instance);
            run.set(PassInfo { packet: number, pass_number, counted_bytes, pass: None });
            if !*share_bytes {
                context.emitted.clear();
                has_bytes = false;
            }
            let mut ending = runs.run(0, &inputs, &mut context);
            if *share_bytes && !has_bytes && ending == UnitExit::Done {
                context.emitted.clear();
                ending = runs.run(1, &inputs, &mut context);
            }
            match ending {
                UnitExit::Done => {
                    if !has_bytes {
                        context.emitted.push_rest(&context.packet, context.cursor_bits);
                        has_bytes = true;
                    }
                    let bytes = self.core.copy_of(context.emitted.as_bytes());
                    self.core.fast_path.sent(port, bytes.len() as u32);
                    self.core.list_sent(program, port, time_ps, bytes, number, queue);
                }
                UnitExit::StepLimit { .. } => self.core.drop_packet(DropReason::StepLimit, None),
                // Nothing else ends a unit that asserts nothing and calls nothing.
                _ => self.core.fast_path.dropped(0, 1),
            }
        }
        // Whoever wrote in the meantime wrote behind what stood there.
        std::mem::swap(&mut self.core.log, &mut log);
        self.core.log.append(&mut log);
        self.runner.recycle(context);
        Ok(None)
    }
}
