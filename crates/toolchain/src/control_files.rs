// SPDX-License-Identifier: Apache-2.0
//! Files of control commands applied to a device: entries before a run, questions after it. All
//! mistakes of a file are reported, in the order of its lines.

use crate::files;
use control::command::Command;
use control::session::{Answer, Session};
use device::Device;
use frontend::Console;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// How many mistakes of one file are printed.
const MOST_ERRORS: usize = 50;

/// Applies the commands of all files; answers to questions go to standard output. Returns how many
/// commands were applied, or `None` when one was wrong.
pub fn apply(
    paths: &[PathBuf],
    session: &mut Session,
    device: &mut Device,
    console: &dyn Console,
) -> Result<Option<usize>, String> {
    apply_to_all(paths, None, &mut [(session, device)], console)
}

/// The same on several devices that run the same program, in batches of at most so many items; answers come
/// from the first device, and so do mistakes.
pub fn apply_to_all(
    paths: &[PathBuf],
    batch_size: Option<NonZeroUsize>,
    devices: &mut [(&mut Session, &mut Device)],
    console: &dyn Console,
) -> Result<Option<usize>, String> {
    let mut done = 0;
    let mut fine = true;
    for path in paths {
        let text = files::read_text(path)?;
        match apply_text(&path.display().to_string(), &text, batch_size, devices, console) {
            Some(more) => done += more,
            None => fine = false,
        }
    }
    Ok(if fine { Some(done) } else { None })
}

/// The same with the commands of one text.
pub fn apply_text(
    name: &str,
    text: &str,
    batch_size: Option<NonZeroUsize>,
    devices: &mut [(&mut Session, &mut Device)],
    console: &dyn Console,
) -> Option<usize> {
    let mut done = 0;
    let (commands, mut errors) = control::entries::read(name, text);
    for (at, (session, device)) in devices.iter_mut().enumerate() {
        let answers = session.apply_all(&commands, &mut device.target(), batch_size);
        if at > 0 {
            continue;
        }
        for (located, answer) in commands.iter().zip(answers) {
            match answer {
                Ok(answer) => {
                    done += 1;
                    show(&located.command, &answer, console);
                }
                Err(error) => errors.push(error),
            }
        }
    }
    errors.sort_by_key(|error| error.origin.place.parse::<usize>().unwrap_or(0));
    for error in errors.iter().take(MOST_ERRORS) {
        console.note(&error.to_string());
    }
    if errors.len() > MOST_ERRORS {
        console.note(&format!("... and {} more errors", errors.len() - MOST_ERRORS));
    }
    errors.is_empty().then_some(done)
}

/// Prints the answer to a question.
fn show(command: &Command, answer: &Answer, console: &dyn Console) {
    match answer {
        Answer::Registers(values) => {
            let values: Vec<String> =
                values.iter().map(|value| value.to_biguint().to_string()).collect();
            console.print(&format!("{} = {}\n", question(command), values.join(" ")));
        }
        Answer::Counter(value) => console.print(&format!(
            "{} = {} packets, {} bytes\n",
            question(command),
            value.packets,
            value.bytes
        )),
        Answer::Done | Answer::Handle(_) => {}
    }
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
