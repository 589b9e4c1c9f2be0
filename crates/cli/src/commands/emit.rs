// SPDX-License-Identifier: Apache-2.0
//! `plane emit`: compiles a program to P4_16 files for a target, where its language has an emitter.

use crate::arguments::{Emit, name_of};
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
    let of_hardware =
        [arguments.pipelines, arguments.depth, arguments.remap_every, arguments.stages];
    if of_hardware.iter().any(Option::is_some) {
        let message = "--pipelines, --depth, --remap-every and --stages apply only to --target rtl";
        return Err(Failure::Usage(message.to_string()));
    }
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

/// Writes hardware, of a program of any language.
fn emit_hardware(arguments: &Emit, console: &dyn Console) -> Result<(), Failure> {
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
