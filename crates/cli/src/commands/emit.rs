// SPDX-License-Identifier: Apache-2.0
//! `plane emit`: compiles a program to P4_16 files for a target, where its language has an emitter.

use crate::arguments::{Emit, name_of};
use crate::programs::{ended, on_disk};
use frontend::{Console, EmitRequest, ExitStatus, Failure};
use toolchain::{layouts, selection};

/// Runs it.
pub fn run(arguments: &Emit, console: &dyn Console) -> ExitStatus {
    ended(emit(arguments, console).map(|()| ExitStatus::Fine), console)
}

fn emit(arguments: &Emit, console: &dyn Console) -> Result<(), Failure> {
    let emitter = selection::emitter_of(&arguments.program)?;
    arguments.spec.as_deref().map_or(Ok(()), selection::check_specification)?;
    let time_limit = arguments.time_limit.map(layouts::time_limit).transpose();
    let layout = arguments.layout.map(|layout| name_of(&layout));
    let delay = arguments.delay.map(|delay| name_of(&delay));
    let request = EmitRequest {
        target: &arguments.target,
        delay: delay.as_deref(),
        clock: &name_of(&arguments.clock),
        recirculation: &name_of(&arguments.recirculation),
        layout: layout.as_deref(),
        time_limit: time_limit.map_err(Failure::Usage)?,
        bmv2: arguments.bmv2,
        after: arguments.after.as_deref(),
        user_p4: arguments.user_p4.files(),
        specification: arguments.spec.as_deref(),
        output: arguments.output.as_deref(),
    };
    let options = arguments.reading.options();
    emitter.emit(&on_disk(&arguments.program, &options), &request, console)
}
