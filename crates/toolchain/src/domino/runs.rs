// SPDX-License-Identifier: Apache-2.0
//! `plane run --packets`: packets of a CSV file through a Domino program, by a device that runs the compiled program or by
//! the reference interpreter. The packets that leave are written in the order of those that enter. A device may have several
//! pipelines, a thread each.

use super::words::{Packets, WORD_BYTES, words, write_frame};
use crate::threads::{Pipelines, Plan, plan};
use crate::{control_files, files};
use control::session::Session;
use device::{Device, DeviceOptions, EngineChoice};
use domino::compiler::{self, Layout};
use domino::interpreter::{State, run as interpret};
use domino::{Checked, csv, state_json};
use frontend::{
    Compiled, Console, ExitStatus, Failure, FieldExecution, FieldProgram, FieldRun, FieldWriter,
    ProgramFile, count,
};
use ir::{Program as IrProgram, RegisterId};
use source::SourceMap;
use state::Cells;
use std::path::Path;
use std::sync::Arc;

/// The packets that left, in the order of those that entered, and the state. A dropped packet is `None`.
struct Ran {
    packets: Vec<Option<Vec<u32>>>,
    state: State,
    /// What ran the packets, if the user wants several pipelines.
    pipelines: Option<Pipelines>,
}

/// A checked program.
struct Program<'p> {
    file: &'p ProgramFile<'p>,
    checked: &'p Checked,
    /// The field that drops packets.
    drop_field: Option<usize>,
}

/// Runs a program.
pub(super) fn run(
    file: &ProgramFile<'_>,
    run: &FieldRun<'_>,
    console: &dyn Console,
) -> Result<ExitStatus, Failure> {
    let checked = super::read(file)?;
    console.warnings(&checked.map, &checked.warnings);
    for path in run.packets_out.into_iter().chain(run.state_out) {
        files::not_overwritten(path, [file.path, run.packets].into_iter())?;
        files::check_output(path)?;
    }
    let packets = packets_of(&checked, run.packets)?;
    let drop_field = super::binding(file, &checked)?.and_then(|binding| binding.drop_field());
    let program = Program { file, checked: &checked, drop_field };
    let ran = match run.execution {
        FieldExecution::Reference => by_reference(&program, &packets),
        FieldExecution::Device(engine) => on_device(&program, &packets, run, engine, console)?,
        FieldExecution::Verified => {
            let ran = on_device(&program, &packets, run, EngineChoice::Jit, console)?;
            if let Some(difference) = difference(&program, &packets, &ran) {
                console.error(&difference);
                return Ok(ExitStatus::WrongInput);
            }
            ran
        }
    };
    if let Some(path) = run.packets_out {
        let packets = ran.packets.iter().map(Option::as_deref);
        files::write_text(path, &csv::write(&checked.program.fields, packets))?;
    }
    if let Some(path) = run.state_out {
        files::write_text(path, &state_json::write(&checked.program, &ran.state))?;
    }
    if !console.is_quiet() {
        let dropped = ran.packets.iter().filter(|packet| packet.is_none()).count();
        let verified = match run.execution {
            FieldExecution::Verified => ", equal to the reference interpreter",
            _ => "",
        };
        console.note(&format!("{}, {dropped} dropped{verified}", count(packets.len(), "packet")));
        if let Some(pipelines) = &ran.pipelines {
            console.note(pipelines.text().trim_end());
        }
    }
    Ok(ExitStatus::Fine)
}

/// Reads packets.
fn packets_of(checked: &Checked, path: &Path) -> Result<Vec<Vec<u32>>, Failure> {
    let text = files::read_text(path)?;
    let mut map = SourceMap::new();
    let name = match path.as_os_str() == "-" {
        true => "standard input".to_string(),
        false => path.display().to_string(),
    };
    let csv_file = map.add(name, text.as_str());
    csv::read(csv_file, &text, &checked.program.fields).map_err(|found| Failure::Found(map, found))
}

/// Compiles a program for frames of words, and reads the packets.
pub(super) fn prepare(
    file: &ProgramFile<'_>,
    packets: &Path,
    console: &dyn Console,
) -> Result<FieldProgram, Failure> {
    let checked = super::read(file)?;
    console.warnings(&checked.map, &checked.warnings);
    let packets = packets_of(&checked, packets)?;
    let drop_field = super::binding(file, &checked)?.and_then(|binding| binding.drop_field());
    let program = Program { file, checked: &checked, drop_field };
    let OfWords { compiled, registers, commands } = of_words(&program)?;
    let frames = packets.iter().map(|packet| {
        let mut frame = Vec::with_capacity(packet.len() * WORD_BYTES);
        write_frame(packet, &mut frame);
        frame
    });
    let frames = frames.collect();
    let writer = Box::new(Writer { checked, registers });
    Ok(FieldProgram { compiled, commands, frames, writer })
}

/// A program that was compiled for frames of words.
struct OfWords {
    compiled: Compiled,
    /// The names of the registers of its globals.
    registers: Vec<Option<String>>,
    /// The commands that write the first values.
    commands: String,
}

/// Compiles a program for frames of words.
fn of_words(program: &Program<'_>) -> Result<OfWords, Failure> {
    let Program { file, checked, drop_field } = *program;
    let compiled = super::compile_for(checked, &Layout::Words { drop_field })?;
    let compiler::Compiled { built, registers, commands } = compiled;
    Ok(OfWords { compiled: Compiled::lower(built, file)?, registers, commands })
}

/// Writes packets and state of a program.
struct Writer {
    checked: Checked,
    registers: Vec<Option<String>>,
}

impl FieldWriter for Writer {
    fn packets(&self, frames: &[Option<Vec<u8>>]) -> String {
        let packets: Vec<Option<Vec<u32>>> =
            frames.iter().map(|frame| frame.as_deref().map(words)).collect();
        csv::write(&self.checked.program.fields, packets.iter().map(Option::as_deref))
    }

    fn state(&self, program: &IrProgram, cells: &Cells) -> String {
        let state = state_of(&self.checked, &self.registers, program, cells);
        state_json::write(&self.checked.program, &state)
    }
}

/// Returns the values of globals from the registers that hold them.
fn state_of(
    checked: &Checked,
    registers: &[Option<String>],
    program: &IrProgram,
    cells: &Cells,
) -> State {
    let mut state = State::initial(&checked.program);
    for (register, values) in registers.iter().zip(&mut state.cells) {
        let Some(name) = register else { continue };
        let is_it = |one: &&ir::RegisterArray| one.name.rsplit('.').next() == Some(name.as_str());
        let Some(at) = program.registers.iter().position(|one| is_it(&one)) else { continue };
        let Some(array) = cells.register(RegisterId(at as u32)) else { continue };
        for (index, value) in values.iter_mut().enumerate() {
            let bits = array.read(index as u64);
            *value = bits.map_or(0, |bits| bits.low_u64() as u32);
        }
    }
    state
}

/// Runs the reference interpreter.
fn by_reference(program: &Program<'_>, packets: &[Vec<u32>]) -> Ran {
    let Program { checked, drop_field, .. } = program;
    let mut state = State::initial(&checked.program);
    let packets = packets.iter().map(|packet| {
        let mut packet = packet.clone();
        interpret(&checked.program, &mut state, &mut packet);
        let is_dropped = drop_field.is_some_and(|field| packet[field] != 0);
        (!is_dropped).then_some(packet)
    });
    Ran { packets: packets.collect(), state, pipelines: None }
}

/// Returns the first difference from the reference interpreter.
fn difference(program: &Program<'_>, packets: &[Vec<u32>], ran: &Ran) -> Option<String> {
    let expected = by_reference(program, packets);
    let checked = program.checked;
    let line = |packet: &Option<Vec<u32>>| match packet {
        None => "dropped".to_string(),
        Some(packet) => {
            let fields = checked.program.fields.iter().zip(packet);
            let fields = fields.map(|(field, value)| {
                format!("{} = {}", field.name, csv::number(*value, field.ty))
            });
            fields.collect::<Vec<_>>().join(", ")
        }
    };
    for (at, (found, expected)) in ran.packets.iter().zip(&expected.packets).enumerate() {
        if found != expected {
            return Some(format!(
                "packet {} differs: the device has {}, the reference interpreter {}",
                at + 1,
                line(found),
                line(expected)
            ));
        }
    }
    for (global, (found, expected)) in ran.state.cells.iter().zip(&expected.state.cells).enumerate()
    {
        if let Some(cell) = (0..found.len()).find(|cell| found[*cell] != expected[*cell]) {
            let global = &checked.program.globals[global];
            return Some(format!(
                "cell {cell} of `{}` differs: the device has {}, the reference interpreter {}",
                global.name,
                csv::number(found[cell], global.ty),
                csv::number(expected[cell], global.ty)
            ));
        }
    }
    None
}

/// Runs the compiled program on a device.
fn on_device(
    program: &Program<'_>,
    packets: &[Vec<u32>],
    run: &FieldRun<'_>,
    engine: EngineChoice,
    console: &dyn Console,
) -> Result<Ran, Failure> {
    let OfWords { compiled, registers, commands } = of_words(program)?;
    let options = DeviceOptions { engine, seed: run.seed, ..DeviceOptions::default() };
    let plan = plan(&compiled, &options, run.pipelines)?;
    let program_in_device = match &plan {
        Plan::Many(control) => &control.program,
        Plan::NotWanted | Plan::One(_) => compiled.ready.program(),
    };
    let device = with_first_values(program_in_device, options, &commands, console)?;
    let packets = Packets { packets, fields: program.checked.program.fields.len() };
    let (device, left, pipelines) = match plan {
        Plan::Many(control) => {
            let workers = run.pipelines.unwrap_or(1) as usize;
            let (device, left, pipelines) = packets.ahead(device, control, workers, console)?;
            (device, left, Some(pipelines))
        }
        Plan::One(reason) => {
            let (device, left) = packets.in_bursts(device, console)?;
            (device, left, Some(Pipelines::One(reason)))
        }
        Plan::NotWanted => {
            let (device, left) = packets.in_bursts(device, console)?;
            (device, left, None)
        }
    };
    let (running, cells) = (device.program(), device.cells());
    let state = state_of(program.checked, &registers, &running, &cells);
    Ok(Ran { packets: left, state, pipelines })
}

/// Makes a device whose registers have the first values of the program's globals.
fn with_first_values(
    program: &Arc<IrProgram>,
    options: DeviceOptions,
    commands: &str,
    console: &dyn Console,
) -> Result<Device, Failure> {
    let device = Device::new(program.clone(), options).map_err(|error| error.to_string())?;
    let mut target = device.target();
    let mut session = Session::new(program.clone());
    let name = "first values";
    let applied =
        control_files::apply_text(name, commands, None, &mut session, &mut target, console);
    if applied.is_none() {
        let message = "the first values of the compiled program are wrong: this is a mistake in Planewright, please \
                       report it with the program";
        return Err(Failure::Message(message.to_string()));
    }
    Ok(device)
}
