// SPDX-License-Identifier: Apache-2.0
//! `plane run` of a compiled program on captures, through one device, with the controllers that the program
//! brings. Both engines side by side are in `side_by_side`.

use crate::control_files;
use crate::controllers::Controllers;
use crate::files;
use crate::port_captures::{PortCaptures, Written, written_text};
use crate::side_by_side;
use control::session::Session;
use device::{Device, DeviceOptions, DigestMessage, EngineChoice};
use frontend::{Compiled, Console, Deployment, ExitStatus, Failure, Work, coded, count};
use network::capture::{CaptureReader, MergedCaptures};
use network::replay::{Progress, ReplayError, replay};
use source::{SourceMap, quantity};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Captures by the port that their packets arrive at.
type Readers = Vec<(u32, CaptureReader<BufReader<File>>)>;

/// What is asked of a run.
#[derive(Clone, Copy, Debug)]
pub struct DeviceRun<'r> {
    /// The program's file.
    pub program: &'r Path,
    /// Captures by the port that their packets arrive at.
    pub captures: &'r [(u32, PathBuf)],
    /// The folder for captures of what is sent.
    pub out: &'r Path,
    /// Files of control commands for before the run.
    pub entries: &'r [PathBuf],
    /// Files of control commands for after the run.
    pub after: &'r [PathBuf],
    /// Print digests.
    pub digests: bool,
    /// What runs the program.
    pub engine: EngineChoice,
    /// Both engines run it side by side.
    pub verify: bool,
    /// Print what happened to each packet.
    pub trace: bool,
    /// The same as JSON.
    pub trace_json: bool,
    /// Seed of everything random.
    pub seed: u64,
    /// When the run ends, by the device's clock.
    pub until_ps: Option<u64>,
    /// The device file.
    pub device: Option<&'r Path>,
    /// The port of the CPU, over that of the device file.
    pub cpu_port: Option<u32>,
}

/// `PORT=FILE` taken apart.
pub fn inputs(texts: &[String]) -> Result<Vec<(u32, PathBuf)>, String> {
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

/// Runs a program.
///
/// # Errors
///
/// Why there is no run. What goes wrong in the run is printed.
pub fn run(
    compiled: Compiled,
    run: &DeviceRun<'_>,
    console: &dyn Console,
) -> Result<ExitStatus, Failure> {
    let Compiled { ready, map, setup, controllers, .. } = compiled;
    let (program, setup) = (ready.program().clone(), setup.first());
    let built = device_options(run, setup)?;
    let options = DeviceOptions {
        seed: run.seed,
        cpu_port: run.cpu_port.or(built.cpu_port),
        engine: run.engine,
        trace: run.trace || run.trace_json,
        ..built
    };
    if run.verify {
        return side_by_side::run(program, options, setup, controllers, run, &map, console);
    }
    let quiet = console.is_quiet();
    let mut device = Device::new(program.clone(), options)
        .map_err(|error| coded(error.code().0, &error.to_string()))?;
    if !ports_exist(run, device.largest_port(), console) {
        return Ok(ExitStatus::WrongUsage);
    }
    let mut session = Session::new(program);
    if !set_up(setup, run, &mut [(&mut session, &mut device)], console)? {
        return Ok(ExitStatus::WrongInput);
    }
    let mut controllers = Controllers::start(controllers, &mut [&mut device])?;
    if !quiet && device.engine_choice() != run.engine {
        console.note("traces come from the interpreter, so it runs everything");
    }
    let readers = readers(run.captures)?;
    let mut captures = PortCaptures::in_folder(run.out, inputs_of(run))?;
    let running = device.program().clone();
    let places = |origin| place(&running, &map, origin);
    let spinner = console.spinner(Work::Packets, quiet || run.trace || run.trace_json);
    let packets = MergedCaptures::new(readers);
    let ran =
        replay(&mut device, packets, run.until_ps, &mut controllers, |device, progress, sent| {
            spinner.set_position(progress.packets_in);
            if run.trace || run.trace_json {
                for trace in device.drain_traces() {
                    console.print(&if run.trace {
                        device::trace::text_with_places(&trace, &places)
                    } else {
                        device::trace::json_with_places(&trace, &places) + "\n"
                    });
                }
            }
            for digest in device.drain_digests() {
                if run.digests {
                    console.print(&digest_line(&digest));
                }
            }
            for line in device.drain_log() {
                console.note(&format!("log: {}", line.text));
            }
            sent.iter().try_for_each(|(time_ps, sent)| captures.write(*time_ps, sent))
        });
    drop(spinner);
    let (progress, problem) = match ran {
        Ok(progress) => (Some(progress), None),
        Err(error) => (None, Some(problem_text(&error, &device, &map))),
    };
    // First of all why it stopped: what follows may fail too.
    if let Some(problem) = &problem {
        console.error(problem);
    }
    let written = captures.finish()?;
    if !quiet {
        note_compilation(&device, console);
        let summary = summary(&device, progress, run, &written);
        // Readers of traces as JSON get nothing else on standard output.
        if run.trace_json {
            console.note(summary.trim_end());
        } else {
            console.print(&summary);
        }
    }
    let asked = control_files::apply(run.after, &mut session, &mut device, console)?;
    Ok(match problem.is_none() && asked.is_some() {
        true => ExitStatus::Fine,
        false => ExitStatus::WrongInput,
    })
}

/// Carries out the control commands of the program's deployment and of the user's files; `false` when one was
/// wrong, which has been printed.
pub(crate) fn set_up(
    setup: Option<&Deployment>,
    run: &DeviceRun<'_>,
    devices: &mut [(&mut Session, &mut Device)],
    console: &dyn Console,
) -> Result<bool, String> {
    if let Some(setup) = setup
        && control_files::apply_text("deployment", &setup.commands, devices, console).is_none()
    {
        return Err("the program's own set-up is wrong; this is a mistake in Planewright".into());
    }
    match control_files::apply_to_all(run.entries, devices, console)? {
        None => {
            console.error("nothing was run: mend the entries first");
            return Ok(false);
        }
        Some(done) if done > 0 && !console.is_quiet() => {
            console.note(&format!("{} applied", count(done, "control command")));
        }
        Some(_) => {}
    }
    Ok(true)
}

/// Where the captures are.
pub(crate) fn inputs_of<'r>(run: &DeviceRun<'r>) -> impl Iterator<Item = &'r Path> + use<'r> {
    run.captures.iter().map(|(_, path)| path.as_path())
}

/// What is wrong with ports of the command line: the largest depends on the program's architecture. Printed;
/// `false` if there is something.
pub(crate) fn ports_exist(run: &DeviceRun<'_>, largest: u32, console: &dyn Console) -> bool {
    let captures = run.captures.iter();
    let inputs = captures.map(|(port, file)| (*port, format!("--in {port}={}", file.display())));
    let cpu_port = run.cpu_port.map(|port| (port, format!("--cpu-port {port}")));
    let wrong: Vec<_> = inputs.chain(cpu_port).filter(|(port, _)| *port > largest).collect();
    for (port, given) in &wrong {
        console.error(&format!("{given}: there is no port {port}: the largest is {largest}"));
    }
    wrong.is_empty()
}

/// What the device file says, or else the program's deployment.
fn device_options(
    run: &DeviceRun<'_>,
    setup: Option<&Deployment>,
) -> Result<DeviceOptions, Failure> {
    let Some(path) = run.device else {
        return Ok(setup.map(|setup| setup.options.clone()).unwrap_or_default());
    };
    let text = files::read_text(path)?;
    let mut map = SourceMap::new();
    let file = map.add(path.display().to_string(), text.as_str());
    device::configuration::read(file, &text).map_err(|diagnostics| Failure::Found(map, diagnostics))
}

/// Where an item of a program stands in the source: `file:line`.
pub(crate) fn place(
    program: &ir::Program,
    map: &SourceMap,
    origin: ir::OriginId,
) -> Option<String> {
    let place = map.location(program.origins.get(origin.index())?.span)?;
    Some(format!("{}:{}", place.file, place.line))
}

pub(crate) fn digest_line(digest: &DigestMessage) -> String {
    let fields: Vec<String> = digest
        .fields
        .iter()
        .map(|(name, value)| format!("{name} = 0x{:x}", value.to_biguint()))
        .collect();
    format!("digest {} of packet {}: {}\n", digest.name, digest.packet, fields.join(", "))
}

/// How the program was compiled, which differs from run to run.
pub(crate) fn note_compilation(device: &Device, console: &dyn Console) {
    if let Some(time) = device.compile_time() {
        console.note(&format!(
            "compiled in {} ms: {} bytes of machine code",
            time.as_millis(),
            device.code_bytes()
        ));
    }
    for note in device.notes() {
        console.note(&format!("slow on this engine: {note}"));
    }
}

/// The captures, opened.
pub(crate) fn readers(inputs: &[(u32, PathBuf)]) -> Result<Readers, String> {
    let open = |(port, path): &(u32, PathBuf)| {
        let reader = CaptureReader::open(path)
            .map_err(|error| coded(error.code().0, &error.with_path(path).to_string()))?;
        Ok((*port, reader))
    };
    inputs.iter().map(open).collect()
}

pub(crate) fn problem_text(error: &ReplayError, device: &Device, map: &SourceMap) -> String {
    if let ReplayError::Capture(error) = error {
        let message = format!("{error}; the packets before it were run");
        return coded(error.code().0, &message);
    }
    if let ReplayError::Device(device::DeviceError::AssertionFailed { origin, .. }) = error
        && let Some(place) = place(device.program(), map, *origin)
    {
        return format!("{place}: {error}");
    }
    error.to_string()
}

pub(crate) fn summary(
    device: &Device,
    progress: Option<Progress>,
    run: &DeviceRun<'_>,
    written: &Written,
) -> String {
    let statistics = device.statistics();
    let engine = match run.verify {
        true => "jit and interpreter side by side",
        false => device.engine_name(),
    };
    let mut text = format!("{} ({engine})\n", run.program.display());
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
    if let Some(until_ps) = run.until_ps {
        let left = [
            (device.is_busy(), "packets were on their way"),
            (progress.is_some_and(|progress| progress.is_cut), "the captures have later packets"),
        ];
        let left: Vec<&str> = left.iter().filter(|left| left.0).map(|left| left.1).collect();
        if !left.is_empty() {
            let end = quantity::nanoseconds(until_ps);
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
