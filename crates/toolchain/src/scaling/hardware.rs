// SPDX-License-Identifier: Apache-2.0
//! `plane emit --target rtl`: MP5's machine for a program as SystemVerilog. Crate `rtl` writes it; here programs of any language are
//! compiled, and the ingress control is taken.

use super::{ScaleRequest, Scaled};
use crate::control_files::apply_text;
use control::session::Session;
use device::{Device, DeviceOptions};
use frontend::{Compiled, Console, Failure, Frontend, ProgramFile};
use ir::RegisterId;
use pisa::Gress;
use rtl::codes;
use rtl::control::{ControlPlan, control_plan};
use rtl::program::FirstValues;
use rtl::shape::{PAPER_DEPTH, Shape};
use source::{Diagnostic, SourceMap, Span};
use std::fmt::Write;

/// The name of the target.
pub const TARGET: &str = "rtl";

/// The cycles between two remaps in MP5 §4.3.1.
const PAPER_REMAP_CYCLES: u64 = 100;

/// What hardware is wanted.
#[derive(Clone, Copy, Debug)]
pub struct HardwareRequest {
    /// The number of pipelines.
    pub pipelines: u64,
    /// The stages of a pipeline; `None` for those of the language's hardware model.
    pub stages: Option<u64>,
    /// The entries of a ring; `None` for the paper's.
    pub depth: Option<u64>,
    /// The cycles between two remaps, 0 for none; `None` for the paper's.
    pub remap_every: Option<u64>,
}

/// Emitted hardware.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// Files: name and text.
    pub files: Vec<(String, String)>,
    /// What was written, for people.
    pub summary: String,
}

/// Writes the hardware of a program. Prints warnings.
///
/// # Errors
///
/// Errors of the program or of the request, and what hardware cannot hold.
pub fn emit(
    language: &dyn Frontend,
    file: &ProgramFile<'_>,
    request: &HardwareRequest,
    console: &dyn Console,
) -> Result<Emitted, Failure> {
    Ok(emitted(&made(language, file, request, console)?.control))
}

/// Hardware of a program, with what a run needs.
#[derive(Clone, Debug)]
pub struct Made {
    /// The plan, and the control in stages.
    pub control: ControlPlan,
    /// The values of all cells at the start.
    pub first_values: FirstValues,
}

/// Makes the plan of a program's hardware. Prints warnings.
///
/// # Errors
///
/// Errors of the program or of the request, and what hardware cannot hold.
pub fn made(
    language: &dyn Frontend,
    file: &ProgramFile<'_>,
    request: &HardwareRequest,
    console: &dyn Console,
) -> Result<Made, Failure> {
    let number = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    let shape = Shape {
        pipelines: number(request.pipelines),
        depth: request.depth.map_or(PAPER_DEPTH, number),
        remap_every: Some(request.remap_every.unwrap_or(PAPER_REMAP_CYCLES)).filter(|it| *it > 0),
    };
    shape.check().map_err(|found| Failure::Found(SourceMap::new(), found))?;
    let scaled = Scaled::new(
        language,
        file,
        &ScaleRequest {
            pipelines: request.pipelines,
            stages: request.stages,
            target: None,
            read_only_is_state: false,
            counters_are_state: false,
        },
        console,
    )?;
    let program = scaled.compiled.ready.program();
    let mut controls = scaled.controls(program);
    let mut found = scaled.limits(program, &controls, request.pipelines);
    controls.retain(|control| control.gress == Gress::Ingress && !control.is_empty());
    let map = &scaled.compiled.map;
    let Some(control) = controls.first_mut() else {
        let message = format!("{} has no ingress control with register arrays", file.quoted_name());
        found.push(
            Diagnostic::error(codes::CONTROL, Span::NONE, message)
                .help("a program without state runs on any number of pipelines as it is"),
        );
        return Err(Failure::Found(map.clone(), found));
    };
    let first_values = first_values(&scaled.compiled, console)?;
    match control_plan(control, &file.title(), shape, &first_values) {
        Ok(control) if !found.has_errors() => {
            console.warnings(map, &control.warnings);
            Ok(Made { control, first_values })
        }
        Ok(_) => Err(Failure::Found(map.clone(), found)),
        Err(errors) => {
            found.append(errors);
            Err(Failure::Found(map.clone(), found))
        }
    }
}

/// The files of a plan, with a table of where packets carry what.
fn emitted(made: &ControlPlan) -> Emitted {
    let plan = &made.plan;
    let files = rtl::files(plan).into_iter().map(|file| (file.name, file.text));
    let mut files: Vec<(String, String)> = files.collect();
    let mut header = String::from("first bit,bits,field\n");
    for (slot, (first, width)) in &made.header.slots {
        let name = &made.staged.program.slots[slot.index()].name;
        let _ = writeln!(header, "{first},{width},{name}");
    }
    files.push(("mp5_header.csv".to_owned(), header));
    let sram = rtl::sram::overhead(plan);
    let summary = format!(
        "{} stages, {} pipelines, rings of {}, {} bits a packet\n{} bytes of maps and counters a pipeline, {} in the widths of MP5 §4.2\n",
        plan.stages.len(),
        plan.pipelines,
        plan.depth,
        plan.header_bits,
        sram.bytes_per_pipeline(),
        sram.paper_bytes()
    );
    Emitted { files, summary }
}

/// Applies the set-up of a program to a device of it or of its stages.
///
/// # Errors
///
/// What keeps the device from the set-up.
pub(super) fn set_up(
    device: &mut Device,
    compiled: &Compiled,
    console: &dyn Console,
) -> Result<(), Failure> {
    for deployment in &compiled.setup {
        let mut session = Session::new(device.program());
        let mut target = device.target();
        let commands = &deployment.commands;
        let applied =
            apply_text("first values", commands, None, &mut session, &mut target, console);
        if applied.is_none() {
            return Err(Failure::Message("the set-up of the program does not apply".to_owned()));
        }
    }
    Ok(device.run_to_completion().map_err(|error| error.to_string())?)
}

/// The values of all cells behind the program's set-up.
///
/// # Errors
///
/// What keeps a device from the program or its set-up.
fn first_values(compiled: &Compiled, console: &dyn Console) -> Result<FirstValues, Failure> {
    let program = compiled.ready.program().clone();
    let device = Device::new(program.clone(), DeviceOptions::default());
    let mut device = device.map_err(|error| error.to_string())?;
    set_up(&mut device, compiled, console)?;
    let cells = device.cells();
    let mut values = FirstValues::new();
    for (number, declared) in program.registers.iter().enumerate() {
        let register = RegisterId(number as u32);
        let Some(array) = cells.register(register) else { continue };
        let of_cells = (0..declared.size).filter_map(|index| array.read(index));
        values.insert(register, of_cells.collect());
    }
    Ok(values)
}
