// SPDX-License-Identifier: Apache-2.0
//! `Switch`: the state behind a device's lock (loaded programs, admission rule, switch core and controllers' driver).
//! `event_loop` runs it, `program_changes` loads, swaps and unloads programs, `device` has the public interface.

use crate::admission::{Admission, Admitted};
use crate::burst::Burst;
use crate::driver::Driver;
use crate::drop_reason::DropReason;
use crate::loaded_program::LoadedProgram;
use crate::options::DeviceOptions;
use crate::output::{DeviceError, LoadError, Transmitted};
use crate::outputs::Outputs;
use crate::packet::ProgramId;
use crate::packet_generator::GeneratorApplication;
use crate::programs::Programs;
use crate::switch_core::SwitchCore;
use ir::Program;
use std::sync::Arc;

/// The state of a device.
#[derive(Debug)]
pub(crate) struct Switch {
    pub core: SwitchCore,
    pub programs: Programs,
    /// The admission rule by public program numbers.
    pub admission: Admission,
    /// The admission rule by code numbers.
    pub admitted_code: Admission,
    /// The code of the only admitted program, if the rule admits all packets to one.
    pub only_program: Option<ProgramId>,
    /// The largest port of all admitted programs.
    pub largest_port: u32,
    pub receptions: u64,
    /// A burst for single packets on the fast path.
    pub single: Option<Box<Burst>>,
    /// For the current burst, the first output of each program, recorded while controllers listen.
    pub burst_programs: Vec<(usize, ProgramId)>,
    pub driver: Driver,
}

/// What the admission rule decides about a packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AdmissionOutcome {
    /// The program with this code processes it.
    Program(ProgramId),
    Dropped(DropReason),
}

impl Switch {
    /// Makes a switch at time 0. Shares the machine code of `like` if that fits.
    pub fn load(
        program: Arc<Program>,
        mut options: DeviceOptions,
        like: Option<&LoadedProgram>,
    ) -> Result<Switch, LoadError> {
        let first = LoadedProgram::load(program, &options, like)?;
        first.set_defaults(&mut options);
        let model = options.control_latency.clone();
        let mut driver = Driver::new(model, options.seed, first.program(), &first.store);
        driver.records_updates = options.records_updates;
        let programs = Programs::new(first);
        let id = programs.main_id();
        let mut switch = Switch {
            core: SwitchCore::new(options),
            admission: Admission::all(id),
            admitted_code: Admission::all(id),
            only_program: Some(id),
            largest_port: programs.main().largest_port(),
            programs,
            receptions: 0,
            single: None,
            burst_programs: Vec::new(),
            driver,
        };
        switch.update_write_path();
        Ok(switch)
    }

    /// Returns a program and the switch core.
    pub fn program_and_core(
        &mut self,
        id: ProgramId,
    ) -> Option<(&mut LoadedProgram, &mut SwitchCore)> {
        Some((self.programs.get_mut(id)?, &mut self.core))
    }

    /// Moves the transmitted packets behind those of a list, in order of time, port and sequence.
    pub fn take_transmitted(&mut self, transmitted: &mut Vec<Transmitted>) {
        self.publish();
        let first = transmitted.len();
        transmitted.append(&mut self.core.transmitted);
        self.core.cpu_packets.clear();
        self.forget_published();
        let taken = &mut transmitted[first..];
        if taken.len() > 1 {
            taken.sort_by_key(|packet| (packet.time_ps, packet.port, packet.sequence));
        }
    }

    /// Moves what the switch has sent behind earlier outputs.
    pub fn drain_into(&mut self, outputs: &mut Outputs) {
        self.take_transmitted(&mut outputs.transmitted);
        if self.core.traffic.has_signals() {
            outputs.signals.append(&mut self.core.traffic.drain_signals());
        }
        outputs.next_event_ps = self.next_event_ps();
    }

    /// Applies the admission rule to an arriving packet.
    #[inline]
    pub fn admit_packet(&self, port: u32, frame: &[u8]) -> AdmissionOutcome {
        match self.only_program {
            Some(id) => AdmissionOutcome::Program(id),
            None => self.admit_by_rule(port, frame),
        }
    }

    fn admit_by_rule(&self, port: u32, frame: &[u8]) -> AdmissionOutcome {
        let Admitted::Program(id) = self.admitted_code.of(port, frame) else {
            return AdmissionOutcome::Dropped(DropReason::NotAdmitted);
        };
        match self.programs.get(id).is_some_and(|program| port <= program.largest_port()) {
            true => AdmissionOutcome::Program(id),
            false => AdmissionOutcome::Dropped(DropReason::NoSuchPort),
        }
    }

    /// Sets an application of the packet generator and restarts its timer, which starts `offset_ps` from now. A port above
    /// the largest port is an error.
    pub fn set_generator_application(
        &mut self,
        application: GeneratorApplication,
    ) -> Result<(), DeviceError> {
        let (port, largest) = (application.port, self.largest_port);
        if port > largest {
            return Err(DeviceError::NoSuchPort { port, largest });
        }
        self.core.set_generator_application(application);
        Ok(())
    }
}
