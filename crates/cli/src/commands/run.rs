// SPDX-License-Identifier: Apache-2.0
//! `plane run`: a P4 program on captures. Lucid programs go to `lucid::run`.

use crate::arguments::{Engine, Run};
use crate::file_kind::{Language, language};
use crate::port_captures::{PortCaptures, Written};
use crate::{Ending, control_files, files, output};
use control::session::Session;
use device::{Device, DeviceOptions, DigestMessage, EngineChoice};
use network::capture::{CaptureReader, MergedCaptures};
use network::replay::{Progress, ReplayError, replay};
use source::SourceMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Captures by the port that their packets arrive at.
type Readers = Vec<(u32, CaptureReader<BufReader<File>>)>;

/// Runs it.
pub fn run(arguments: &Run, quiet: bool) -> Ending {
    match language(&arguments.program) {
        Ok(Language::Lucid) => return super::lucid::run::run(arguments, quiet),
        Ok(Language::P4) => {}
        Err(message) => {
            output::error(&message);
            return Ending::WrongInput;
        }
    }
    let (inputs, out) = match usage(arguments) {
        Ok(usage) => usage,
        Err(message) => {
            output::error(&message);
            return Ending::WrongUsage;
        }
    };
    let compiled = super::compile_or_report(&arguments.program, &arguments.reading, quiet);
    let Some((compiled, lowered)) = compiled else { return Ending::WrongInput };
    let Some(program) = lowered else {
        output::error(&format!(
            "`{}` has no `main`, so there is nothing to run: instantiate a package such as V1Switch",
            arguments.program.display()
        ));
        return Ending::WrongInput;
    };
    match run_program(arguments, (inputs, out), program, &compiled.map, quiet) {
        Ok(ending) => ending,
        Err(message) => {
            output::error(&message);
            Ending::WrongInput
        }
    }
}

/// Captures by port, and the folder for what is sent.
pub(super) type Places<'a> = (Vec<(u32, PathBuf)>, &'a Path);

/// What the command line has to say for P4 programs.
fn usage(arguments: &Run) -> Result<Places<'_>, String> {
    let lucid = &arguments.lucid;
    for (flag, given) in [
        ("--engine reference", arguments.engine == Some(Engine::Reference)),
        ("--spec", lucid.spec.is_some()),
        ("--target", lucid.target.is_some()),
        ("--p4-before", lucid.user_p4.p4_before.is_some()),
        ("--p4-after", lucid.user_p4.p4_after.is_some()),
        ("--symbolics", lucid.symbolics.is_some()),
        ("--json", lucid.json),
        ("--state-out", lucid.state_out.is_some()),
        ("--timeline", lucid.timeline.is_some()),
        ("--record", lucid.record.is_some()),
        ("--replay", lucid.replay.is_some()),
    ] {
        if given {
            let program = arguments.program.display();
            return Err(format!("{flag} is for Lucid programs (.dpt), and `{program}` is none"));
        }
    }
    match (arguments.inputs.is_empty(), &arguments.out) {
        (true, None) => {
            Err("no packets to run: name captures with --in PORT=FILE, and a folder for \
                             what is sent with --out DIR"
                .to_string())
        }
        (true, Some(_)) => Err("no packets to run: name captures with --in PORT=FILE".to_string()),
        (false, None) => {
            let traces = match arguments.trace || arguments.trace_json {
                true => "; traces are printed besides",
                false => "",
            };
            Err(format!("nowhere to write what is sent: name a folder with --out DIR{traces}"))
        }
        (false, Some(out)) => Ok((inputs(&arguments.inputs)?, out)),
    }
}

/// `PORT=FILE` taken apart.
pub(super) fn inputs(texts: &[String]) -> Result<Vec<(u32, PathBuf)>, String> {
    let mut inputs: Vec<(u32, PathBuf)> = Vec::new();
    for text in texts {
        let (port, file) = text
            .split_once('=')
            .ok_or_else(|| format!("--in {text}: write PORT=FILE, such as 1=capture.pcap"))?;
        let port: u32 =
            port.trim().parse().map_err(|_| format!("--in {text}: `{port}` is no port number"))?;
        if file.is_empty() {
            return Err(format!("--in {text}: the file is missing"));
        }
        inputs.push((port, PathBuf::from(file)));
    }
    Ok(inputs)
}

fn run_program(
    arguments: &Run,
    (inputs, out): Places<'_>,
    program: ir::Program,
    map: &SourceMap,
    quiet: bool,
) -> Result<Ending, String> {
    let program = Arc::new(program);
    let Some(built) = device_options(arguments)? else { return Ok(Ending::WrongInput) };
    // Machine code runs a pass in one moment.
    let default_engine = match built.pass_timing {
        Some(_) if !arguments.verify => Engine::Interp,
        _ => Engine::Jit,
    };
    let engine = arguments.engine.unwrap_or(default_engine).choice();
    let options = DeviceOptions {
        seed: arguments.seed.unwrap_or(0),
        cpu_port: arguments.cpu_port.or(built.cpu_port),
        engine,
        trace: arguments.trace || arguments.trace_json,
        ..built
    };
    let wrong = ports_that_are_not_there(arguments, &inputs, &program, &options)?;
    if !wrong.is_empty() {
        wrong.iter().for_each(|message| output::error(message));
        return Ok(Ending::WrongUsage);
    }
    if arguments.verify {
        let inputs = (inputs, out);
        return super::verify::run_program(arguments, inputs, program, options, map, quiet);
    }
    let mut device = Device::new(program.clone(), options)
        .map_err(|error| output::coded(error.code().0, &error.to_string()))?;
    let mut session = Session::new(program);
    match control_files::apply(&arguments.entries, &mut session, &mut device)? {
        None => {
            output::error("nothing was run: mend the entries first");
            return Ok(Ending::WrongInput);
        }
        Some(done) if done > 0 && !quiet => {
            output::note(&format!("{} applied", output::count(done, "control command")));
        }
        Some(_) => {}
    }
    if !quiet && device.engine_choice() != engine {
        output::note("traces come from the interpreter, so it runs everything");
    }
    let readers = readers(&inputs)?;
    let mut captures = PortCaptures::in_folder(out, inputs.iter().map(|(_, path)| path.as_path()))?;
    let running = device.program().clone();
    let places = |origin| super::place(&running, map, origin);
    let bar = progress_bar(quiet || arguments.trace || arguments.trace_json);
    let packets = MergedCaptures::new(readers);
    let ran = replay(&mut device, packets, arguments.until_ps, |device, progress, sent| {
        bar.set_position(progress.packets_in);
        if arguments.trace || arguments.trace_json {
            for trace in device.drain_traces() {
                output::print(&if arguments.trace {
                    device::trace::text_with_places(&trace, &places)
                } else {
                    device::trace::json_with_places(&trace, &places) + "\n"
                });
            }
        }
        for digest in device.drain_digests() {
            if arguments.digests {
                output::print(&digest_line(&digest));
            }
        }
        for line in device.drain_log() {
            output::note(&format!("log: {}", line.text));
        }
        sent.iter().try_for_each(|(time_ps, sent)| captures.write(*time_ps, sent))
    });
    bar.finish_and_clear();
    let (progress, problem) = match ran {
        Ok(progress) => (Some(progress), None),
        Err(error) => (None, Some(problem_text(&error, &device, map))),
    };
    // First of all why it stopped: what follows may fail too.
    if let Some(problem) = &problem {
        output::error(problem);
    }
    let written = captures.finish()?;
    if !quiet {
        note_compilation(&device);
        let summary = summary(&device, progress, arguments, &written);
        // Whoever reads the traces as JSON reads nothing else there.
        if arguments.trace_json {
            output::note(summary.trim_end());
        } else {
            output::print(&summary);
        }
    }
    let asked = control_files::apply(&arguments.after, &mut session, &mut device)?;
    Ok(if problem.is_none() && asked.is_some() { Ending::Fine } else { Ending::WrongInput })
}

/// What is wrong with ports on the command line: which there are depends on the program's architecture.
fn ports_that_are_not_there(
    arguments: &Run,
    inputs: &[(u32, PathBuf)],
    program: &Arc<ir::Program>,
    options: &DeviceOptions,
) -> Result<Vec<String>, String> {
    let options = DeviceOptions { engine: EngineChoice::Interpreter, ..options.clone() };
    let device = Device::new(program.clone(), options)
        .map_err(|error| output::coded(error.code().0, &error.to_string()))?;
    let largest = device.largest_port();
    let inputs =
        inputs.iter().map(|(port, file)| (*port, format!("--in {port}={}", file.display())));
    let cpu_port = arguments.cpu_port.map(|port| (port, format!("--cpu-port {port}")));
    let wrong = inputs.chain(cpu_port).filter(|(port, _)| *port > largest);
    Ok(wrong
        .map(|(port, given)| format!("{given}: there is no port {port}: the largest is {largest}"))
        .collect())
}

/// What the device file says; `None` when it is wrong, which was told.
fn device_options(arguments: &Run) -> Result<Option<DeviceOptions>, String> {
    let Some(path) = &arguments.device else { return Ok(Some(DeviceOptions::default())) };
    let text = files::read_text(path)?;
    let mut map = SourceMap::new();
    let file = map.add(path.display().to_string(), text.as_str());
    match device::configuration::read(file, &text) {
        Ok(options) => Ok(Some(options)),
        Err(diagnostics) => {
            output::diagnostics(&map, &diagnostics);
            Ok(None)
        }
    }
}

pub(super) fn digest_line(digest: &DigestMessage) -> String {
    let fields: Vec<String> = digest
        .fields
        .iter()
        .map(|(name, value)| format!("{name} = 0x{:x}", value.to_biguint()))
        .collect();
    format!("digest {} of packet {}: {}\n", digest.name, digest.packet, fields.join(", "))
}

/// How the program was compiled, which differs from run to run.
pub(super) fn note_compilation(device: &Device) {
    if let Some(time) = device.compile_time() {
        output::note(&format!(
            "compiled in {} ms: {} bytes of machine code",
            time.as_millis(),
            device.code_bytes()
        ));
    }
    for note in device.notes() {
        output::note(&format!("slow on this engine: {note}"));
    }
}

/// The captures, opened.
pub(super) fn readers(inputs: &[(u32, PathBuf)]) -> Result<Readers, String> {
    let open = |(port, path): &(u32, PathBuf)| {
        let reader = CaptureReader::open(path)
            .map_err(|error| output::coded(error.code().0, &error.with_path(path).to_string()))?;
        Ok((*port, reader))
    };
    inputs.iter().map(open).collect()
}

pub(super) fn progress_bar(hidden: bool) -> indicatif::ProgressBar {
    if hidden {
        return indicatif::ProgressBar::hidden();
    }
    let bar = indicatif::ProgressBar::new_spinner();
    if let Ok(style) =
        indicatif::ProgressStyle::with_template("{spinner} {human_pos} packets, {per_sec}")
    {
        bar.set_style(style);
    }
    bar
}

pub(super) fn problem_text(error: &ReplayError, device: &Device, map: &SourceMap) -> String {
    if let ReplayError::Capture(error) = error {
        let message = format!("{error}; the packets before it were run");
        return output::coded(error.code().0, &message);
    }
    if let ReplayError::Device(device::DeviceError::AssertionFailed { origin, .. }) = error
        && let Some(place) = super::place(&device.program(), map, *origin)
    {
        return format!("{place}: {error}");
    }
    error.to_string()
}

pub(super) fn summary(
    device: &Device,
    progress: Option<Progress>,
    arguments: &Run,
    written: &Written,
) -> String {
    let statistics = device.statistics();
    let engine = match arguments.verify {
        true => "jit and interpreter side by side",
        false => device.engine_name(),
    };
    let mut text = format!("{} ({engine})\n", arguments.program.display());
    text.push_str(&format!(
        "\n{:>8} {:>12} {:>14} {:>12} {:>14}\n",
        "port", "packets in", "bytes in", "packets out", "bytes out"
    ));
    let mut total = device::PortStatistics::default();
    let row = |name: &str, port: &device::PortStatistics, what: &str| {
        format!(
            "{name:>8} {:>12} {:>14} {:>12} {:>14}{what}\n",
            port.received_packets, port.received_bytes, port.sent_packets, port.sent_bytes
        )
    };
    for (number, port) in &statistics.ports {
        text.push_str(&row(&number.to_string(), port, &within(device.options(), *number)));
        total.received_packets += port.received_packets;
        total.received_bytes += port.received_bytes;
        total.sent_packets += port.sent_packets;
        total.sent_bytes += port.sent_bytes;
    }
    text.push_str(&row("all", &total, ""));
    let dropped = statistics.dropped_packets();
    let reasons: Vec<String> =
        statistics.drops.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
    text.push_str(&format!("\ndropped: {dropped}"));
    if !reasons.is_empty() {
        text.push_str(&format!(" ({})", reasons.join(", ")));
    }
    text.push('\n');
    let further = [
        ("copies made by multicast groups", statistics.replicated),
        ("clones", statistics.cloned),
        ("resubmitted", statistics.resubmitted),
        ("recirculated", statistics.recirculated),
        ("digests", statistics.digests),
    ];
    for (what, count) in further.iter().filter(|(_, count)| *count > 0) {
        text.push_str(&format!("{what}: {count}\n"));
    }
    if let Some(progress) = progress.filter(|progress| progress.packets_snapped > 0) {
        text.push_str(&format!(
            "{} packets were cut short by their capture and run as they are\n",
            progress.packets_snapped
        ));
    }
    if let Some(until_ps) = arguments.until_ps {
        let left = [
            (device.is_busy(), "packets were on their way"),
            (progress.is_some_and(|progress| progress.is_cut), "the captures have later packets"),
        ];
        let left: Vec<&str> = left.iter().filter(|left| left.0).map(|left| left.1).collect();
        if !left.is_empty() {
            let end = lucid::report::nanoseconds(until_ps);
            text.push_str(&format!("the run was over at {end} ns; {}\n", left.join("; ")));
        }
    }
    text.push_str(&written_text(written));
    text
}

/// What a port has of packets that come from within the device; nothing for a port that leads outside.
fn within(options: &DeviceOptions, port: u32) -> String {
    let loopback = options.traffic_manager.is_loopback(port);
    let trains = options.packet_generator.iter().map(|train| train.port);
    let applications = options.generator_applications.iter().map(|application| application.port);
    let generates = trains.chain(applications).any(|generator| generator == port);
    match (loopback, generates) {
        (true, true) => "  (loopback, packet generator)".to_string(),
        (true, false) => "  (loopback)".to_string(),
        (false, true) => "  (packet generator)".to_string(),
        (false, false) => String::new(),
    }
}

/// Which captures were written, for people.
pub(super) fn written_text(written: &Written) -> String {
    let mut text = String::new();
    let names = |paths: &[PathBuf]| {
        paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    };
    match written.written.is_empty() {
        true => text.push_str("written: nothing, as no packet was sent\n"),
        false => text.push_str(&format!("written: {}\n", names(&written.written))),
    }
    if !written.earlier.is_empty() {
        text.push_str(&format!("not of this run: {}\n", names(&written.earlier)));
    }
    text
}
