// SPDX-License-Identifier: Apache-2.0
//! [`Compiled`]: what compiling gives, whatever the source language is: a program ready to run, how switches
//! with it are built and set up, and the controllers that it brings.

use crate::controller::Controller;
use device::DeviceOptions;
use ir::ready::ReadyProgram;
use source::{Diagnostics, SourceMap};

/// A compiled program.
pub struct Compiled {
    /// The program.
    pub ready: ReadyProgram,
    /// The files that its spans point into.
    pub map: SourceMap,
    /// Warnings.
    pub warnings: Diagnostics,
    /// How switches are built and set up; empty if the user says all of it.
    pub setup: Vec<Deployment>,
    /// Controllers to start with a switch that runs the program.
    pub controllers: Vec<Box<dyn Controller>>,
}

/// One switch with the program.
#[derive(Clone, Debug)]
pub struct Deployment {
    /// Its number.
    pub switch: u32,
    /// How it is built.
    pub options: DeviceOptions,
    /// Control commands for before the first packet, as `control::entries` reads them.
    pub commands: String,
}
