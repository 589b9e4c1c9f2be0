// SPDX-License-Identifier: Apache-2.0
//! Control commands with times: [`Recorder`] writes the updates of a run's control plane as a file, [`Replay`] is the
//! controller that applies such a file. `control::recording` has the form.

use crate::{control_files, files};
use control::command::{Command, Located};
use control::command_text;
use control::recording::Recording;
use control::session::Session;
use control::state_target::StateTarget;
use control::target::Target;
use device::Device;
use frontend::{Console, Controller, count};
use ir::Program;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

/// Records the updates of a device, if the user wants them.
pub(crate) struct Recorder<'r>(Option<(&'r Path, Recording)>);

impl<'r> Recorder<'r> {
    /// Records updates of this program for a file.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub(crate) fn new(
        file: Option<&'r Path>,
        program: Arc<Program>,
    ) -> Result<Recorder<'r>, String> {
        file.map_or(Ok(()), files::check_output)?;
        Ok(Recorder(file.map(|file| (file, Recording::new(program)))))
    }

    /// Takes what a device has applied since the last call.
    pub(crate) fn take(&mut self, device: &mut Device) {
        if let Some((_, recording)) = &mut self.0 {
            for applied in device.drain_updates() {
                recording.record(applied.time_ps, &applied.item, &applied.reply);
            }
        }
    }

    /// Writes the file, and says how many commands it has and which updates are not among them.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub(crate) fn finish(self, console: &dyn Console) -> Result<(), String> {
        let Some((path, recording)) = self.0 else { return Ok(()) };
        files::write_text(path, &recording.text())?;
        for (kind, number) in recording.unwritten() {
            let updates = count(number, "update");
            console.warning(&format!(
                "{updates} not recorded, as BMv2 has no command for them: {kind}"
            ));
        }
        if !console.is_quiet() {
            let commands = count(recording.command_count(), "command");
            console.note(&format!("{commands} in {}", path.display()));
        }
        Ok(())
    }
}

/// Says whether a file has a command about a counter. Errors in the text are found by [`Replay::read`].
///
/// # Errors
///
/// The file cannot be read.
pub(crate) fn names_counters(path: &Path) -> Result<bool, String> {
    let text = files::read_text(path)?;
    let (commands, _) = command_text::read_timed(&path.display().to_string(), &text);
    let is_about_counter = |(_, located): &(u64, Located)| {
        use Command::{CounterRead, CounterReset, CounterWrite};
        matches!(located.command, CounterRead { .. } | CounterReset { .. } | CounterWrite { .. })
    };
    Ok(commands.iter().any(is_about_counter))
}

/// Applies commands at their times.
pub(crate) struct Replay {
    session: Session,
    /// Commands that have not been applied, in the order of their times.
    left: VecDeque<(u64, Located)>,
    log: Vec<String>,
}

impl Replay {
    /// Reads a file of commands for a program. Returns `None` after printing what is wrong with them.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub(crate) fn read(
        path: &Path,
        program: &Arc<Program>,
        console: &dyn Console,
    ) -> Result<Option<Replay>, String> {
        let text = files::read_text(path)?;
        let (commands, mut errors) = command_text::read_timed(&path.display().to_string(), &text);
        // A target without a device finds what a run would find, but for the state that packets make.
        let mut target = StateTarget::new(program.clone()).map_err(|error| error.to_string())?;
        let of_state = commands.iter().filter(|(_, located)| !is_about_device(&located.command));
        let of_state: Vec<Located> = of_state.map(|(_, located)| located.clone()).collect();
        let mut session = Session::new(program.clone());
        let answers = session.apply_all(&of_state, &mut target, None);
        errors.extend(answers.into_iter().filter_map(Result::err));
        if !control_files::print_errors(errors, console) {
            return Ok(None);
        }
        let session = Session::new(program.clone());
        Ok(Some(Replay { session, left: commands.into(), log: Vec::new() }))
    }

    /// Returns the time of the next command, in picoseconds.
    pub(crate) fn next_ps(&self) -> Option<u64> {
        self.left.front().map(|(time_ps, _)| *time_ps)
    }

    /// Takes the texts of what commands have read.
    pub(crate) fn take_log(&mut self) -> Vec<String> {
        std::mem::take(&mut self.log)
    }

    /// Applies the commands until a time. Returns the time of the next one.
    pub(crate) fn apply(
        &mut self,
        switch: &mut dyn Target,
        until_ps: u64,
    ) -> Result<Option<u64>, String> {
        let due = self.left.partition_point(|(time_ps, _)| *time_ps <= until_ps);
        let due: Vec<Located> = self.left.drain(..due).map(|(_, located)| located).collect();
        let answers = self.session.apply_all(&due, switch, None);
        for (located, answer) in due.iter().zip(answers) {
            let answer = answer.map_err(|error| error.to_string())?;
            self.log.extend(answer.read_text(&located.command));
        }
        Ok(self.left.front().map(|(time_ps, _)| *time_ps))
    }
}

/// Whether a command is about queues or the packet generator.
fn is_about_device(command: &Command) -> bool {
    matches!(
        command,
        Command::QueueRate { .. }
            | Command::QueueDepth { .. }
            | Command::GeneratorTimer(_)
            | Command::GeneratorStop { .. }
    )
}

impl Controller for Replay {
    fn name(&self) -> &str {
        "replayed commands"
    }

    fn prologue(&mut self, switch: &mut dyn Target) -> Result<Option<u64>, String> {
        self.apply(switch, 0)
    }

    fn round(&mut self, switch: &mut dyn Target) -> Result<Option<u64>, String> {
        let now_ps = switch.now_ps();
        self.apply(switch, now_ps)
    }

    fn drain_log(&mut self) -> Vec<String> {
        self.take_log()
    }
}
