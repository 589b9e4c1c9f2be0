// SPDX-License-Identifier: Apache-2.0
//! Files of control commands applied to a device: entries before a run, questions after it. All
//! mistakes of a file are reported, in the order of its lines.

use crate::{files, output};
use control::ControlError;
use control::command::{Command, Located};
use control::session::{Answer, Session};
use device::Device;
use network::device_commands::carry_out;
use std::path::PathBuf;

/// How many mistakes of one file are printed.
const MOST_ERRORS: usize = 50;

/// Applies the commands of all files; answers to questions go to standard output. Returns how many
/// commands were applied, or `None` when one was wrong.
pub fn apply(
    paths: &[PathBuf],
    session: &mut Session,
    device: &mut Device,
) -> Result<Option<usize>, String> {
    apply_to_all(paths, &mut [(session, device)])
}

/// The same on several devices that run the same program; answers come from the first, and so do
/// mistakes.
pub fn apply_to_all(
    paths: &[PathBuf],
    devices: &mut [(&mut Session, &mut Device)],
) -> Result<Option<usize>, String> {
    let mut done = 0;
    let mut fine = true;
    for path in paths {
        let text = files::read_text(path)?;
        let (commands, mut errors) = control::entries::read(&path.display().to_string(), &text);
        for located in commands {
            for (at, (session, device)) in devices.iter_mut().enumerate() {
                match one(&located, session, device, at == 0) {
                    Ok(()) => done += usize::from(at == 0),
                    Err(error) if at == 0 => errors.push(error),
                    Err(_) => {}
                }
            }
        }
        errors.sort_by_key(|error| error.origin.place.parse::<usize>().unwrap_or(0));
        for error in errors.iter().take(MOST_ERRORS) {
            output::note(&error.to_string());
        }
        if errors.len() > MOST_ERRORS {
            output::note(&format!("... and {} more errors", errors.len() - MOST_ERRORS));
        }
        fine &= errors.is_empty();
    }
    Ok(if fine { Some(done) } else { None })
}

fn one(
    located: &Located,
    session: &mut Session,
    device: &mut Device,
    prints: bool,
) -> Result<(), ControlError> {
    let now_ps = device.now_ps();
    let (store, cells) = device.store_and_cells_mut();
    match session.apply(located, store, cells, now_ps)? {
        Answer::Device(command) => carry_out(device, command)
            .map_err(|why| ControlError::new(control::error::BAD_VALUE, &located.origin, why))?,
        _ if !prints => {}
        Answer::Registers(values) => {
            let values: Vec<String> =
                values.iter().map(|value| value.to_biguint().to_string()).collect();
            output::print(&format!("{} = {}\n", question(&located.command), values.join(" ")));
        }
        Answer::Counter(value) => output::print(&format!(
            "{} = {} packets, {} bytes\n",
            question(&located.command),
            value.packets,
            value.bytes
        )),
        Answer::Done | Answer::Handle(_) => {}
    }
    Ok(())
}

/// What was asked for, as a person would write it.
fn question(command: &Command) -> String {
    match command {
        Command::RegisterRead { register, index: Some(index) } => format!("{register}[{index}]"),
        Command::RegisterRead { register, index: None } => register.clone(),
        Command::CounterRead { counter, index } => format!("{counter}[{index}]"),
        _ => String::new(),
    }
}
