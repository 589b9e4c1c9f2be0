// SPDX-License-Identifier: Apache-2.0
//! `plane run --verify`: captures through both engines at once, until they differ. What is compared is
//! in `device::side_by_side`.

use super::run::{Places, digest_line, note_compilation, progress_bar, readers, summary};
use crate::arguments::Run;
use crate::port_captures::PortCaptures;
use crate::{Ending, control_files, output};
use control::session::Session;
use device::DeviceOptions;
use device::side_by_side::{Agreed, SideBySide, Stop};
use network::capture::MergedCaptures;
use network::replay::{Clock, ReplayError};
use source::SourceMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Runs a program on both engines.
pub(super) fn run_program(
    arguments: &Run,
    (inputs, out): Places<'_>,
    program: Arc<ir::Program>,
    options: DeviceOptions,
    map: &SourceMap,
    quiet: bool,
) -> Result<Ending, String> {
    let mut both = SideBySide::new(program.clone(), options)
        .map_err(|error| output::coded(error.code().0, &error.to_string()))?;
    let mut sessions = [Session::new(program.clone()), Session::new(program.clone())];
    let done = apply(&arguments.entries, &mut sessions, &mut both)?;
    match done {
        None => {
            output::error("nothing was run: mend the entries first");
            return Ok(Ending::WrongInput);
        }
        Some(done) if done > 0 && !quiet => {
            output::note(&format!("{} applied", output::count(done, "control command")));
        }
        Some(_) => {}
    }
    let packets = MergedCaptures::new(readers(&inputs)?);
    let mut captures = PortCaptures::in_folder(out, inputs.iter().map(|(_, path)| path.as_path()))?;
    let bar = progress_bar(quiet);
    let mut clock = Clock::until(arguments.until_ps);
    let mut write = |clock: &Clock, agreed: Agreed| -> Result<(), String> {
        for digest in agreed.digests.iter().filter(|_| arguments.digests) {
            output::print(&digest_line(digest));
        }
        for line in &agreed.log {
            output::note(&format!("log: {}", line.text));
        }
        let mut sent = agreed.transmitted.iter();
        sent.try_for_each(|sent| captures.write(clock.capture_time_ps(sent.time_ps), sent))
    };
    let mut ran = Ok(());
    let mut stopped = None;
    for packet in packets {
        let arriving = match packet.map_err(ReplayError::Capture) {
            Ok(arriving) => arriving,
            Err(error) => {
                stopped = Some(error);
                break;
            }
        };
        let time_ps = match clock.arrival_ps(&arriving, both.now_ps()) {
            Ok(Some(time_ps)) => time_ps,
            Ok(None) => break,
            Err(error) => {
                stopped = Some(error);
                break;
            }
        };
        bar.set_position(clock.progress().packets_in);
        match both.receive(arriving.port, time_ps, arriving.packet.data) {
            Ok(agreed) => write(&clock, agreed)?,
            Err(stop) => {
                ran = Err(stop);
                break;
            }
        }
    }
    if ran.is_ok() {
        match both.finish(arguments.until_ps) {
            Ok(agreed) => write(&clock, agreed)?,
            Err(stop) => ran = Err(stop),
        }
    }
    bar.finish_and_clear();
    let problem = match (ran, stopped) {
        (Err(stop), _) => Some(match *stop {
            Stop::Difference(difference) => difference.to_string(),
            Stop::Error(error) => {
                super::run::problem_text(&ReplayError::Device(error), both.jit(), map)
            }
        }),
        (Ok(()), Some(error)) => Some(super::run::problem_text(&error, both.jit(), map)),
        (Ok(()), None) => None,
    };
    if let Some(problem) = &problem {
        output::error(problem);
    }
    let written = captures.finish()?;
    if !quiet {
        note_compilation(both.jit());
        let progress = problem.is_none().then(|| clock.progress());
        output::print(&summary(both.jit(), progress, arguments, &written));
        if problem.is_none() {
            let packets = clock.progress().packets_in;
            output::print(&format!("both engines agree on {packets} packets\n"));
        }
    }
    let asked = apply(&arguments.after, &mut sessions, &mut both)?;
    Ok(if problem.is_none() && asked.is_some() { Ending::Fine } else { Ending::WrongInput })
}

fn apply(
    paths: &[PathBuf],
    sessions: &mut [Session; 2],
    both: &mut SideBySide,
) -> Result<Option<usize>, String> {
    let mut devices: Vec<_> = sessions.iter_mut().zip(both.devices_mut()).collect();
    control_files::apply_to_all(paths, &mut devices)
}
