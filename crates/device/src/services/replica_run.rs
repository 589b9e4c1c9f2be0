// SPDX-License-Identifier: Apache-2.0
//! Runs the fast path of a multicast group's copies: the unit of the architecture once for each copy, in the order of
//! their ports.

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

/// Properties that the copies of a packet share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copies {
    pub group: u32,
    pub queue: u32,
    /// Length of a copy in the buffer.
    pub length_bytes: u32,
    pub largest_port: u32,
}

/// Sorts copies by port, the order in which ports transmit. Returns whether all ports are distinct and exist.
fn order(replicas: &[Replica], largest_port: u32, ordered: &mut Vec<Replica>) -> bool {
    ordered.clear();
    ordered.extend_from_slice(replicas);
    ordered.sort_unstable_by_key(|replica| replica.egress_port);
    let is_alone = ordered.windows(2).all(|pair| pair[0].egress_port != pair[1].egress_port);
    is_alone && ordered.last().is_some_and(|last| last.egress_port <= largest_port)
}

impl Services<'_> {
    /// Sends the copies of a packet that took the exit after ingress, if no copy has to wait. Else returns the packet.
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
        // `context.emitted` keeps the headers of the last copy.
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
                    self.core.list_sent(program, port, time_ps, (bytes, 0), number, queue);
                }
                UnitExit::StepLimit { .. } => self.core.drop_packet(DropReason::StepLimit, None),
                // A unit without assertions and externs ends otherwise only by the drop exit.
                _ => self.core.fast_path.dropped(0, 1),
            }
        }
        // Lines written during the run follow the earlier ones.
        std::mem::swap(&mut self.core.log, &mut log);
        self.core.log.append(&mut log);
        self.runner.recycle(context);
        Ok(None)
    }
}
