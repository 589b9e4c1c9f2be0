// SPDX-License-Identifier: Apache-2.0
//! `plane scale --packets`: packets of a CSV file through the machine, K a cycle in the order of lines. The judge compares the
//! run with the same stages on one pipeline, the checker reads the machine's trace.

use super::{ScaleRequest, Scaled};
use crate::{control_files, files};
use control::session::Session;
use device::{Device, DeviceOptions};
use frontend::{Console, ExitStatus, Failure, FieldProgram, Frontend, ProgramFile};
use interpreter::random::RandomKey;
use interpreter::{Interpreter, PacketContext};
use ir::Program;
use scale::checker;
use scale::codes;
use scale::ir_work::{Arrived, IrPacket, IrWork};
use scale::judge::{judge, reference};
use scale::machine::outcome::{Arrival, Outcome};
use scale::machine::{Settings, run};
use scale::presets::{PRESETS, Place, Preset};
use scale::report::RunReport;
use scale::staged::{NotStaged, StagedControl, stage};
use scale::trace::Trace;
use source::{Diagnostic, Diagnostics, SourceMap, Span};
use state::{Cells, Configuration};
use std::path::Path;
use std::sync::Arc;

/// Time between packets, in picoseconds.
const PACKET_GAP_PS: u64 = 1_000_000;

/// The port with which v1model drops packets.
const DROP_PORT: u64 = 511;

/// Where v1model's programs put the port.
const EGRESS_SPEC: &str = "standard_metadata.egress_spec";

/// A run of a machine, as its user describes it.
#[derive(Clone, Copy, Debug)]
pub struct MachineRun<'r> {
    /// The packets that enter.
    pub packets: &'r Path,
    /// The file for the packets that leave, in the order of those that enter.
    pub packets_out: Option<&'r Path>,
    /// The file for the state at the end.
    pub state_out: Option<&'r Path>,
    /// The design's name.
    pub design: &'r str,
    /// Entries of a ring; `None` for queues without a bound.
    pub depth: Option<u64>,
    /// Cycles between two remaps.
    pub remap_every: u64,
    /// The seed of everything random.
    pub seed: u64,
}

/// Checks the numbers and names of a run.
fn check(run: &MachineRun<'_>) -> Diagnostics {
    let mut found = Diagnostics::new();
    if run.depth == Some(0) {
        found.push(
            Diagnostic::error(codes::DEPTH, Span::NONE, "--depth 0: no packet has a place in a queue")
                .help("write a number from 1, such as 8, or leave the option out for queues without a bound"),
        );
    }
    if run.remap_every == 0 {
        found.push(
            Diagnostic::error(
                codes::REMAP,
                Span::NONE,
                "--remap-every 0: remaps are some cycles apart",
            )
            .help("write a number from 1, such as 100; the design `static-modulo` has no remaps"),
        );
    }
    if Preset::find(run.design).is_none() {
        let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        let message = format!("there is no design `{}`", run.design);
        let mut diagnostic = Diagnostic::error(codes::DESIGN, Span::NONE, message);
        if let Some(nearest) = source::nearest(run.design, names.iter().copied()) {
            diagnostic = diagnostic.help(format!("did you mean `{nearest}`?"));
        }
        found.push(diagnostic.note(format!("designs are {}", names.join(", "))));
    }
    found
}

/// Runs a program, and writes packets and state.
///
/// # Errors
///
/// Errors of the program, of its packets or of the request, and why no machine runs it.
pub fn run_fields(
    language: &dyn Frontend,
    file: &ProgramFile<'_>,
    (request, run): (&ScaleRequest<'_>, &MachineRun<'_>),
    console: &dyn Console,
) -> Result<(RunReport, ExitStatus), Failure> {
    let found = check(run);
    if found.has_errors() {
        return Err(Failure::Found(SourceMap::new(), found));
    }
    let Some(fields) = language.field_runs() else {
        let name = language.name();
        let message =
            format!("--packets does not apply to {name} programs: their packets are frames");
        return Err(Failure::Usage(message));
    };
    for path in run.packets_out.into_iter().chain(run.state_out) {
        files::check_output(path)?;
    }
    let FieldProgram { compiled, commands, frames, writer } =
        fields.prepare(file, run.packets, console)?;
    let scaled = Scaled::of(compiled, language, file, request)?;
    let program = scaled.compiled.ready.program().clone();
    let map = &scaled.compiled.map;
    let (configuration, cells) = first_state(&program, &commands, console)?;
    let mut controls = scaled.controls(&program);
    let memory = scaled.limits(&program, &controls, request.pipelines);
    if memory.has_errors() {
        return Err(Failure::Found(map.clone(), memory));
    }
    let [control, others @ ..] = controls.as_mut_slice() else {
        return Err(not_run(map, "it has no control that takes stages"));
    };
    if let Some(array) = others.iter().flat_map(|control| &control.arrays).next() {
        let reason = format!("`{}` is accessed in egress", array.name);
        return Err(not_run(map, &reason));
    }
    let staged = stage(control).map_err(|error| match error {
        NotStaged::Cut(found) => Failure::Found(map.clone(), found),
        NotStaged::Array(name, reason) => not_run(map, &format!("`{name}`: {reason}")),
        NotStaged::Stage(name) => {
            not_run(map, &format!("`{name}` cannot be accessed in one stage"))
        }
        NotStaged::Values => not_run(map, "its control has a loop or too many conditions"),
    })?;
    let pipelines = request.pipelines as usize;
    let ends = Ends::new(&staged, run.seed);
    let (outcome, report, mut work) =
        simulate(Arc::new(staged), &ends, (&frames, run, pipelines), (configuration, cells));
    if let Some(failure) = work.failure() {
        return Err(not_run(map, failure));
    }
    if let Some(path) = run.packets_out {
        let mut left: Vec<Option<Vec<u8>>> = vec![None; frames.len()];
        for departure in outcome.departures {
            let mut packet = departure.packet;
            left[departure.sequence as usize] = ends.end(&mut work, &mut packet);
        }
        files::write_text(path, &writer.packets(&left))?;
    }
    if let Some(path) = run.state_out {
        files::write_text(path, &writer.state(&program, &work.cells(&outcome.map)))?;
    }
    let is_wrong = report.is_different()
        && Preset::find(run.design).is_some_and(|preset| preset.is_equivalent);
    let is_wrong = is_wrong || !report.violations.is_empty();
    Ok((report, if is_wrong { ExitStatus::WrongInput } else { ExitStatus::Fine }))
}

/// Runs the machine, the judge and the checker.
fn simulate(
    staged: Arc<StagedControl>,
    ends: &Ends,
    (frames, request, pipelines): (&[Vec<u8>], &MachineRun<'_>, usize),
    (configuration, cells): (Arc<Configuration>, Cells),
) -> (Outcome<IrPacket>, RunReport, IrWork) {
    let mut work = IrWork::new(staged.clone(), configuration.clone(), &cells, pipelines);
    let mut single = IrWork::new(staged, configuration, &cells, 1);
    let arrivals: Vec<Arrival<IrPacket>> = frames
        .iter()
        .enumerate()
        .map(|(number, frame)| Arrival {
            cycle: (number / pipelines) as u64,
            port: (number % pipelines) as u32,
            packet: ends.begin(&mut work, number as u64, frame),
        })
        .collect();
    let cycles: Vec<u64> = arrivals.iter().map(|arrival| arrival.cycle).collect();
    let reference = reference(&mut single, &arrivals);
    let groups = scale::work::Work::groups(&work).to_vec();
    let place = Place {
        pipelines,
        ports: pipelines as u32,
        remap_every: request.remap_every,
        counts: reference.counts(&groups),
        seed: request.seed,
    };
    let design = Preset::find(request.design).map(|preset| preset.design(&place));
    let design = design.unwrap_or_else(|| scale::design::Design::mp5(request.remap_every));
    let settings =
        Settings { depth: request.depth.map(|depth| depth as usize), ..Settings::new(pipelines) };
    let mut trace = Trace::default();
    let outcome = run(&mut work, arrivals, settings, &design, &mut trace);
    let verdict = judge(&work, &outcome, &mut single, &reference);
    // Designs without phantoms break the order of accesses on purpose, and those without crossbars have no trace.
    let violations = match design.has_phantoms {
        true => checker::check(&trace),
        false => Vec::new(),
    };
    let violations = violations
        .into_iter()
        .map(|violation| format!("cycle {}: {}", violation.cycle, violation.message));
    let report = RunReport::new(
        request.design,
        pipelines,
        (&outcome, &cycles),
        (verdict, violations.collect()),
        &groups,
    );
    (outcome, report, work)
}

/// Returns tables and cells before the first packet.
fn first_state(
    program: &Arc<Program>,
    commands: &str,
    console: &dyn Console,
) -> Result<(Arc<Configuration>, Cells), Failure> {
    let mut device = Device::new(program.clone(), DeviceOptions::default())
        .map_err(|error| error.to_string())?;
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
    device.run_to_completion().map_err(|error| error.to_string())?;
    let cells = Cells::clone(&device.cells());
    Ok((device.configuration(), cells))
}

fn not_run(map: &SourceMap, reason: &str) -> Failure {
    let mut found = Diagnostics::new();
    let message = format!("no machine runs the program: {reason}");
    found.push(
        Diagnostic::error(codes::NOT_RUN, Span::NONE, message)
            .help("`plane scale` without --packets reports on each array"),
    );
    Failure::Found(map.clone(), found)
}

/// The blocks in front of the control and behind it.
struct Ends {
    front: Vec<usize>,
    behind: Vec<usize>,
    seed: u64,
}

impl Ends {
    fn new(staged: &StagedControl, seed: u64) -> Ends {
        let first = staged.stages.first().copied().unwrap_or(0);
        let last = staged.stages.last().copied().unwrap_or(0);
        Ends {
            front: (0..first).collect(),
            behind: (last + 1..staged.program.blocks.len()).collect(),
            seed,
        }
    }

    fn run(work: &mut IrWork, blocks: &[usize], context: &mut PacketContext, mut arrived: Arrived) {
        let engine: Interpreter = work.interpreter().clone();
        let (configuration, cells) = work.outside();
        for block in blocks {
            engine.run_block(*block, context, configuration, cells, &mut arrived, None);
        }
    }

    /// Returns a packet at the beginning of the control.
    fn begin(&self, work: &mut IrWork, number: u64, frame: &[u8]) -> IrPacket {
        let mut context = work.interpreter().context();
        context.set_packet(frame);
        let random_key = RandomKey { seed: self.seed, packet: number, ..RandomKey::default() };
        let time_ps = (number + 1) * PACKET_GAP_PS;
        let mut packet = IrPacket::new(context, time_ps, frame.len() as u64, random_key);
        let arrived = packet.arrived();
        Ends::run(work, &self.front, &mut packet.context, arrived);
        packet
    }

    /// Returns the bytes of a packet that leaves; nothing if it is dropped.
    fn end(&self, work: &mut IrWork, packet: &mut IrPacket) -> Option<Vec<u8>> {
        let slot = work.interpreter().program().slot_named(EGRESS_SPEC);
        let is_dropped =
            |context: &PacketContext| slot.is_some_and(|slot| context.number(slot) == DROP_PORT);
        if is_dropped(&packet.context) {
            return None;
        }
        let arrived = packet.arrived();
        Ends::run(work, &self.behind, &mut packet.context, arrived);
        if is_dropped(&packet.context) {
            return None;
        }
        let mut bytes = packet.context.emitted.clone();
        bytes.push_bytes(&packet.context.payload());
        Some(bytes.into_bytes())
    }
}
