// SPDX-License-Identifier: Apache-2.0
//! What controllers need of files: commands at times, and the programs that are started.

use super::controller_program::{Process, StandardError};
use crate::files;
use control::entries;
use control::error::ControlError;
use frontend::{Console, Failure};
use network_file::model::{Behaviour, CommandSource, Controller};
use network_run::controllers::{Conversation, NoLine, Programs, TimedCommands};
use network_run::timeline::{Activity, ActivityKind};
use network_run::{Built, RunError};
use source::{Diagnostics, SourceMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Reads the commands of controllers.
///
/// # Errors
///
/// A file cannot be read, or a line is no command; its reasons have been printed.
pub(super) fn commands(
    controllers: &[Controller],
    folder: &Path,
    console: &dyn Console,
) -> Result<Vec<Vec<TimedCommands>>, Failure> {
    let mut all = Vec::new();
    let mut wrong: Vec<String> = Vec::new();
    for controller in controllers {
        let Behaviour::Commands(timed) = &controller.behaviour else {
            all.push(Vec::new());
            continue;
        };
        let mut own = Vec::new();
        for one in timed {
            let (name, text) = match &one.commands {
                CommandSource::Text(text) => {
                    (format!("controller `{}`", controller.name), text.value.clone())
                }
                CommandSource::File(file) => {
                    let path = folder.join(&file.value);
                    (path.display().to_string(), files::read_text(&path)?)
                }
            };
            let (commands, errors) = entries::read(&name, &text);
            errors.iter().map(ControlError::to_string).for_each(|error| console.note(&error));
            if !errors.is_empty() && !wrong.contains(&controller.name) {
                wrong.push(controller.name.clone());
            }
            let commands = commands.into();
            let text = text.into();
            own.push(TimedCommands { at_ps: one.at_ps, commands, text, span: one.span });
        }
        all.push(own);
    }
    match &wrong[..] {
        [] => Ok(all),
        [name, ..] => {
            let message = format!("not run: the commands of controller `{name}` are wrong");
            Err(Failure::Message(message))
        }
    }
}

/// Prints what controllers have read and what their programs wrote to standard error, and records what agents did.
pub(super) fn pass_on(built: &mut Built, standard_error: &StandardError, console: &dyn Console) {
    for line in standard_error.take() {
        console.note(&line);
    }
    for (switch, activity) in standard_error.take_activities() {
        let frontend::Activity { began_ps, ended_ps, kind, text } = activity;
        let kind = match kind {
            frontend::ActivityKind::Idle => ActivityKind::Idle,
            frontend::ActivityKind::Commit => ActivityKind::Commit,
            frontend::ActivityKind::Failure => ActivityKind::Failure,
        };
        built.record_activity(switch, Activity { began_ps, ended_ps, kind, text });
    }
    for line in built.take_reads() {
        console.print(&format!("{line}\n"));
    }
}

/// The failure of a run; `None` if the user interrupted it.
pub(super) fn failure(error: RunError, map: &SourceMap) -> Option<Failure> {
    match error {
        RunError::Simulation(error) => Some(error.to_string().into()),
        RunError::Controller(diagnostic) => {
            let mut found = Diagnostics::new();
            found.push(*diagnostic);
            Some(Failure::Found(map.clone(), found))
        }
        RunError::Interrupted => None,
    }
}

/// Starts the programs of a network's controllers in the folder of its file.
pub(super) struct ControllerPrograms {
    /// Name and words of each controller; of controllers with commands there are no words.
    programs: Vec<(String, Vec<String>)>,
    folder: PathBuf,
    interrupted: Arc<AtomicBool>,
    standard_error: StandardError,
}

impl ControllerPrograms {
    pub(super) fn new(
        controllers: &[Controller],
        folder: &Path,
        interrupted: &Arc<AtomicBool>,
        standard_error: &StandardError,
    ) -> ControllerPrograms {
        let programs = controllers.iter().map(|controller| {
            let words = match &controller.behaviour {
                Behaviour::Program(words) => words.iter().map(|word| word.value.clone()).collect(),
                Behaviour::Commands(_) => Vec::new(),
            };
            (controller.name.clone(), words)
        });
        ControllerPrograms {
            programs: programs.collect(),
            folder: folder.to_path_buf(),
            interrupted: interrupted.clone(),
            standard_error: standard_error.clone(),
        }
    }
}

impl Programs for ControllerPrograms {
    fn start(&mut self, controller: usize) -> Result<Box<dyn Conversation>, NoLine> {
        let (name, words) = &self.programs[controller];
        let interrupted = self.interrupted.clone();
        let process = Process::start(name, words, &self.folder, interrupted, &self.standard_error)?;
        Ok(Box::new(process))
    }
}
