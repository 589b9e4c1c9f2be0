// SPDX-License-Identifier: Apache-2.0
//! The switch behind a device's lock: the loaded programs, the rule by which packets meet them, the switch core
//! they share, and the controllers' driver. What happens next is in `event_loop`; the public interface and the
//! lock are in `device`; loading, swapping and unloading are in `program_changes`.

use crate::admission::{Admission, Admitted};
use crate::burst::Burst;
use crate::driver::Driver;
use crate::drop_reason::DropReason;
use crate::loaded_program::LoadedProgram;
use crate::options::DeviceOptions;
use crate::output::{DeviceError, LoadError};
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
    /// By programs as users know them.
    pub admission: Admission,
    /// The same by their code.
    pub admitted_code: Admission,
    /// The code that all packets meet, where that is one.
    pub only_program: Option<ProgramId>,
    /// The largest port of all programs that packets may meet.
    pub largest_port: u32,
    pub receptions: u64,
    /// For packets that take the fast path one at a time.
    pub single: Option<Box<Burst>>,
    /// Outputs of the burst that is forwarded, by the first one of each program, where controllers listen.
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
    /// A switch at time 0; code is shared with a loaded program that is like it.
    pub fn load(
        program: Arc<Program>,
        mut options: DeviceOptions,
        like: Option<&LoadedProgram>,
    ) -> Result<Switch, LoadError> {
        let first = LoadedProgram::load(program, &options, like)?;
        first.set_defaults(&mut options);
        let model = options.control_latency.clone();
        let driver = Driver::new(model, options.seed, first.program(), &first.store);
        let programs = Programs::new(first);
        let id = programs.main_id();
        Ok(Switch {
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
        })
    }

    /// A program, if it is there, and the switch core.
    pub fn program_and_core(
        &mut self,
        id: ProgramId,
    ) -> Option<(&mut LoadedProgram, &mut SwitchCore)> {
        Some((self.programs.get_mut(id)?, &mut self.core))
    }

    /// What is done with a packet that arrives now. It is asked once for each.
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

    /// Sets an application of the packet generator, in place of what it was; its timer starts `offset_ps`
    /// from now. A port that no program has bits for is an error.
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
