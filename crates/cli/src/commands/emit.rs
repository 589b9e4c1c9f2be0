// SPDX-License-Identifier: Apache-2.0
//! `plane emit`: compiles a program to P4_16 files for a target, where its language has an emitter, or to hardware.

use crate::arguments::{Emit, EmitClock, EmitRecirculation, name_of};
use crate::programs::{ended, language, on_disk};
use frontend::{Console, EmitRequest, ExitStatus, Failure};
use toolchain::scaling::hardware::{self, HardwareRequest};
use toolchain::{files, layouts, selection};

/// Runs it.
pub fn run(arguments: &Emit, console: &dyn Console) -> ExitStatus {
    ended(emit(arguments, console).map(|()| ExitStatus::Fine), console)
}

fn emit(arguments: &Emit, console: &dyn Console) -> Result<(), Failure> {
    if arguments.target == hardware::TARGET {
        return emit_hardware(arguments, console);
    }
    if let Some(option) = first_given(&options_of_hardware(arguments)) {
        let message = format!("{option} applies only to --target {}", hardware::TARGET);
        return Err(Failure::Usage(message));
    }
    let emitter = selection::emitter_of(&arguments.program)?;
    arguments.spec.as_deref().map_or(Ok(()), selection::check_specification)?;
    let time_limit = arguments.time_limit.map(layouts::time_limit).transpose();
    let layout = arguments.layout.map(|layout| name_of(&layout));
    let delay = arguments.delay.map(|delay| name_of(&delay));
    let request = EmitRequest {
        target: &arguments.target,
        delay: delay.as_deref(),
        clock: &name_of(&arguments.clock.unwrap_or(EmitClock::Ns)),
        recirculation: &name_of(&arguments.recirculation.unwrap_or(EmitRecirculation::Port)),
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

/// Options that apply only to hardware, and whether each is given.
fn options_of_hardware(arguments: &Emit) -> [(&'static str, bool); 4] {
    [
        ("--pipelines", arguments.pipelines.is_some()),
        ("--depth", arguments.depth.is_some()),
        ("--remap-every", arguments.remap_every.is_some()),
        ("--stages", arguments.stages.is_some()),
    ]
}

/// Options that apply only to P4_16, and whether each is given.
fn options_of_p4(arguments: &Emit) -> [(&'static str, bool); 10] {
    [
        ("--delay", arguments.delay.is_some()),
        ("--clock", arguments.clock.is_some()),
        ("--recirculation", arguments.recirculation.is_some()),
        ("--layout", arguments.layout.is_some()),
        ("--time-limit", arguments.time_limit.is_some()),
        ("--bmv2", arguments.bmv2),
        ("--after", arguments.after.is_some()),
        ("--spec", arguments.spec.is_some()),
        ("--p4-before", arguments.user_p4.p4_before.is_some()),
        ("--p4-after", arguments.user_p4.p4_after.is_some()),
    ]
}

fn first_given(options: &[(&'static str, bool)]) -> Option<&'static str> {
    options.iter().find(|(_, is_given)| *is_given).map(|(name, _)| *name)
}

/// Writes hardware, of a program of any language.
fn emit_hardware(arguments: &Emit, console: &dyn Console) -> Result<(), Failure> {
    if let Some(option) = first_given(&options_of_p4(arguments)) {
        let message = format!("{option} applies only to targets in P4_16, not to --target rtl");
        return Err(Failure::Usage(message));
    }
    let Some(pipelines) = arguments.pipelines else {
        let message = "--target rtl needs --pipelines K, the number of pipelines";
        return Err(Failure::Usage(message.to_string()));
    };
    let Some(folder) = &arguments.output else {
        let message = "--target rtl writes several files: name their folder with -o DIR";
        return Err(Failure::Usage(message.to_string()));
    };
    let language = language(&arguments.program)?;
    let options = arguments.reading.options();
    let file = on_disk(&arguments.program, &options);
    let request = HardwareRequest {
        pipelines,
        stages: arguments.stages,
        depth: arguments.depth,
        remap_every: arguments.remap_every,
    };
    let emitted = hardware::emit(language, &file, &request, console)?;
    files::write_texts(folder, &emitted.files)?;
    console.print(&emitted.summary);
    Ok(())
}
