// SPDX-License-Identifier: Apache-2.0
//! [`Compiled`]: a compiled program of any source language, the set-up of its switches, and its controllers.

use crate::console::Failure;
use crate::controller::{Controller, ControllerOptions, Reloads};
use crate::program_file::ProgramFile;
use control::latency::LatencyModel;
use control::target::Target;
use device::DeviceOptions;
use ir::ready::ReadyProgram;
use p4::compile::Compilation;
use source::{Diagnostics, SourceMap};
use std::sync::Arc;

/// A compiled program.
pub struct Compiled {
    /// The program.
    pub ready: ReadyProgram,
    /// The files that its spans point into.
    pub map: SourceMap,
    /// Warnings.
    pub warnings: Diagnostics,
    /// The set-up of switches; empty if the user provides all of it.
    pub setup: Vec<Deployment>,
    /// Controllers that start with a switch that runs the program.
    pub controllers: Vec<Box<dyn Controller>>,
    /// The program that the control plane speaks of, if it is another one.
    pub written: Option<Arc<dyn WrittenProgram>>,
}

impl Compiled {
    /// The program that the control plane speaks of.
    pub fn spoken_of(&self) -> &ReadyProgram {
        self.written.as_ref().map_or(&self.ready, |written| written.program())
    }

    /// Lowers a checked P4_16 program, without set-up and controllers.
    ///
    /// # Errors
    ///
    /// Errors of checking or lowering, or that the program has no `main`.
    pub fn lower(
        compilation: impl Into<Compilation>,
        program: &ProgramFile<'_>,
    ) -> Result<Compiled, Failure> {
        let mut compilation = compilation.into();
        let ready = ReadyProgram::of(&mut compilation);
        let Compilation { map, diagnostics: warnings, .. } = compilation;
        if warnings.has_errors() {
            return Err(Failure::Found(map, warnings));
        }
        match ready {
            Some(ready) => Ok(Compiled {
                ready,
                map,
                warnings,
                setup: Vec::new(),
                controllers: Vec::new(),
                written: None,
            }),
            None => {
                let name = program.quoted_name();
                let advice = "instantiate a package such as V1Switch";
                Err(Failure::Message(format!("{name} has no `main`: {advice}")))
            }
        }
    }
}

/// The program as written, where a transformation runs another one for it.
pub trait WrittenProgram: Send + Sync {
    /// The program as written: entries, commands and controllers speak of it.
    fn program(&self) -> &ReadyProgram;

    /// Puts the control map in front of the target of a switch that runs the transformed program, and makes the
    /// controllers of that switch.
    ///
    /// # Errors
    ///
    /// Why the switch cannot be controlled.
    fn deploy(
        &self,
        switch: Box<dyn Target>,
        options: &ControllerOptions,
    ) -> Result<Deployed, String>;

    /// The latency model of the switch's simulated driver once the run has begun, if no device file gives one.
    fn driver(&self) -> Option<LatencyModel> {
        None
    }
}

/// A switch behind its control map.
pub struct Deployed {
    /// The program as written, as a target.
    pub target: Box<dyn Target>,
    /// Controllers of this switch; they take turns with others at the target.
    pub controllers: Vec<Box<dyn Controller>>,
    /// Exchanges their code.
    pub reloads: Option<Box<dyn Reloads>>,
}

/// One switch with the program.
#[derive(Clone, Debug)]
pub struct Deployment {
    /// Its number.
    pub switch: u32,
    /// The device options.
    pub options: DeviceOptions,
    /// Control commands to run before the first packet, as `control::entries` reads them.
    pub commands: String,
}
