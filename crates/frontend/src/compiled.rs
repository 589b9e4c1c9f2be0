// SPDX-License-Identifier: Apache-2.0
//! [`Compiled`]: a compiled program of any source language, the set-up of its switches, and its controllers.

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
    /// The set-up of switches; empty if the user provides all of it.
    pub setup: Vec<Deployment>,
    /// Controllers that start with a switch that runs the program.
    pub controllers: Vec<Box<dyn Controller>>,
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
