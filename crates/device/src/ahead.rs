// SPDX-License-Identifier: Apache-2.0
//! Passes ahead of the device's time: a caller begins and runs the ingress pass of a packet before the packet arrives, and
//! the device finishes it at its arrival, in the order of events.

use crate::device::Device;
use crate::output::DeviceError;
use crate::packet::{Arrival, ProgramId};
use crate::pass::{EgressAhead, EmptyQueues, Pass};
use crate::switch::Switch;

impl Device {
    /// Begins the pass through ingress of a packet that arrives at a port at a later time, without advancing. The pass
    /// reads the configuration of now, so call it only if nothing changes the configuration before that time. After
    /// [`crate::Executor`]s have run its blocks, [`Device::finish_ahead`] lets the packet arrive. `None` at the pass limit.
    ///
    /// The packet is with the main program, enters ingress when it arrives and is no flow control frame: the device admits
    /// all packets to one program and has neither ports in loopback nor an ingress interval nor flow control nor traces. The
    /// errors are those of [`Device::inject`].
    pub fn begin_ahead(
        &mut self,
        port: u32,
        time_ps: u64,
        bytes: Vec<u8>,
    ) -> Result<Option<Box<Pass>>, DeviceError> {
        self.switch().begin_ahead(port, time_ps, bytes)
    }

    /// Advances the device to the arrival of a packet whose pass was begun by [`Device::begin_ahead`] and has run, and finishes
    /// the pass, as [`Device::receive`] does. Packets arrive in the order of the calls. A time before the device's clock
    /// and a pass of another device are errors, and what stops the run.
    pub fn finish_ahead(&mut self, pass: Box<Pass>) -> Result<(), DeviceError> {
        self.switch().finish_ahead(*pass)
    }
}

impl Switch {
    /// See [`crate::Device::begin_ahead`].
    pub fn begin_ahead(
        &mut self,
        port: u32,
        time_ps: u64,
        mut bytes: Vec<u8>,
    ) -> Result<Option<Box<Pass>>, DeviceError> {
        let number = self.check_arrival(port, time_ps)?;
        // Compiled code asks for this room. Here it does not take memory of one thread on another.
        bytes.reserve(jit::TAILROOM_BYTES);
        let id = self.programs.main_id();
        let queues = self.empty_queues(id, bytes.len(), time_ps);
        let arrival = Arrival::from_wire(number, port, time_ps, (bytes, 0));
        let now_ps = std::mem::replace(&mut self.core.now_ps, time_ps);
        let begun = self.program_and_core(id).and_then(|(program, core)| {
            let (architecture, mut services) = program.with_services(core);
            let mut pass = Box::new(architecture.begin_ingress(&mut services, arrival)?);
            pass.view = Some(program.view());
            pass.hold = Some(program.membership.hold.clone());
            if let Some(count) = queues {
                let timestamp = core.timestamp();
                pass.egress = EgressAhead::Allowed(EmptyQueues { count, timestamp });
            }
            Some(pass)
        });
        self.core.now_ps = now_ps;
        Ok(begun)
    }

    /// Returns the number of queues that each port has at least, if egress of a packet may run ahead: a program whose egress may,
    /// and queues that are empty at the arrival, because ports are ideal.
    fn empty_queues(&mut self, id: ProgramId, length_bytes: usize, time_ps: u64) -> Option<u32> {
        let program = self.programs.get(id)?;
        let options = &self.core.options;
        let may = program.egress_runs_ahead()
            && options.may_use_fast_path()
            && options.pass_timing.is_none()
            && options.pass_limit.is_none_or(|limit| limit >= 2)
            && !self.core.caller_takes_any();
        let length_bytes = length_bytes as u64 + program.max_header_bytes();
        let count = options.traffic_manager.min_queue_count();
        (may && self.core.traffic.can_bypass_queues(length_bytes, time_ps)).then_some(count)
    }

    /// See [`crate::Device::finish_ahead`].
    pub fn finish_ahead(&mut self, pass: Pass) -> Result<(), DeviceError> {
        let (now_ps, given_ps) = (self.core.now_ps, pass.began_ps());
        if given_ps < now_ps {
            return Err(DeviceError::TimeWentBack { now_ps, given_ps });
        }
        self.advance_to_arrival(given_ps)?;
        let bytes = pass.packet.received_bytes as usize;
        self.core.statistics.received(pass.ingress_port(), bytes);
        match pass.egress {
            EgressAhead::No | EgressAhead::Allowed(_) => {
                self.finish_driven(pass)?;
                self.empty_ready_queues(given_ps)
            }
            EgressAhead::Sent { .. } | EgressAhead::Dropped(_) => {
                let id = self.code_of_pass(&pass)?;
                self.with_program(id, |program, core| program.finish_behind_egress(core, pass))
            }
        }
    }
}
