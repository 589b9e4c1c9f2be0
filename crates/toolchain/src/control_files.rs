// SPDX-License-Identifier: Apache-2.0
//! Applies files of control commands to a switch: entries before a run, reads after it. Reports all errors of a file, in
//! the order of its lines.

use crate::files;
use control::ControlError;
use control::session::Session;
use control::target::Target;
use frontend::Console;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// The maximum number of errors of one file that are printed.
const MAX_ERRORS: usize = 50;

/// Applies the commands of all files, in batches of at most `batch_size` items, and prints the answers of reads. Returns
/// the number of commands, or `None` if one was wrong.
pub fn apply(
    paths: &[PathBuf],
    batch_size: Option<NonZeroUsize>,
    session: &mut Session,
    target: &mut dyn Target,
    console: &dyn Console,
) -> Result<Option<usize>, String> {
    let mut done = 0;
    let mut fine = true;
    for path in paths {
        let text = files::read_text(path)?;
        match apply_text(&path.display().to_string(), &text, batch_size, session, target, console) {
            Some(more) => done += more,
            None => fine = false,
        }
    }
    Ok(if fine { Some(done) } else { None })
}

/// Applies the commands of one text.
pub fn apply_text(
    name: &str,
    text: &str,
    batch_size: Option<NonZeroUsize>,
    session: &mut Session,
    target: &mut dyn Target,
    console: &dyn Console,
) -> Option<usize> {
    let mut done = 0;
    let (commands, mut errors) = control::entries::read(name, text);
    let answers = session.apply_all(&commands, target, batch_size);
    for (located, answer) in commands.iter().zip(answers) {
        match answer {
            Ok(answer) => {
                done += 1;
                if let Some(text) = answer.read_text(&located.command) {
                    console.print(&format!("{text}\n"));
                }
            }
            Err(error) => errors.push(error),
        }
    }
    print_errors(errors, console).then_some(done)
}

/// Prints the errors of a file in the order of its lines. Returns whether there are none.
pub(crate) fn print_errors(mut errors: Vec<ControlError>, console: &dyn Console) -> bool {
    errors.sort_by_key(|error| error.origin.place.parse::<usize>().unwrap_or(0));
    for error in errors.iter().take(MAX_ERRORS) {
        console.note(&error.to_string());
    }
    if errors.len() > MAX_ERRORS {
        console.note(&format!("... and {} more errors", errors.len() - MAX_ERRORS));
    }
    errors.is_empty()
}
