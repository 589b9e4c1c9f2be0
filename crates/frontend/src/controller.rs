// SPDX-License-Identifier: Apache-2.0
//! [`Controller`]: control-plane code of a compiled program. It accesses its switch as a [`Target`].
//! `toolchain::controllers` starts and wakes controllers; [`ControllerOptions`] say how they run, and [`Reloads`] exchanges
//! their code.

use crate::console::Failure;
use crate::program_file::ProgramFile;
use control::target::Target;
use ir::ready::ReadyProgram;
use source::{Diagnostics, SourceMap};
use std::time::Duration;

/// How the controllers that a program brings run beside its switch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ControllerOptions {
    /// How long a call of user code may take; `None` is one second.
    pub watchdog: Option<Duration>,
    /// Whether user code runs in this process instead of one of its own: calls are faster, and a crash ends the command.
    pub in_process: bool,
    /// What the driver costs.
    pub driver: Driver,
    /// When controllers begin, in picoseconds; at 0 what precedes the first packet takes no time.
    pub boot_ps: u64,
    /// The share of a processor that a controller takes at most beside a live switch; `None` for simulated switches.
    pub live_share: Option<f64>,
    /// Whether [`Controller::drain_activities`] is wanted.
    pub records: bool,
}

/// The costs of a driver between a controller and its switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Driver {
    /// Those of a latency model; runs repeat.
    #[default]
    Simulated,
    /// None: work takes the time that the machine needs. Runs do not repeat.
    InProcess,
}

/// What a controller did, for traces and time lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// When it began, in picoseconds of the switch's clock.
    pub began_ps: u64,
    /// When it ended.
    pub ended_ps: u64,
    /// What came of it.
    pub kind: ActivityKind,
    /// All of it, as text.
    pub text: String,
}

/// What came of an activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActivityKind {
    /// Nothing changed.
    Idle,
    /// A change was committed.
    Commit,
    /// A commit failed, or user code crashed.
    Failure,
}

/// A request to exchange the code of controllers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReloadRequest {
    /// When, in picoseconds of the switch's clock; in the past as soon as possible.
    pub at_ps: u64,
    /// Whether the new code runs its initialisation.
    pub runs_init: bool,
    /// Whether variables begin anew instead of keeping their values.
    pub is_fresh: bool,
}

/// Exchanges the code of a switch's controllers while it runs, from any thread.
pub trait Reloads: Send + Sync {
    /// Compiles a program and hands its controllers' code over. Returns its warnings.
    ///
    /// # Errors
    ///
    /// The program is wrong, or switches would need other P4 code for it. The code before goes on.
    fn reload(
        &self,
        program: &ProgramFile<'_>,
        request: ReloadRequest,
    ) -> Result<(SourceMap, Diagnostics), Failure>;
}

/// Control-plane code of a program. Errors end the run; they are whole messages.
pub trait Controller: Send {
    /// Returns the name for messages.
    fn name(&self) -> &str;

    /// Runs before the first packet, after the entries of the user. Returns the time of the first round in picoseconds of
    /// the switch's clock; `None` means no rounds.
    ///
    /// # Errors
    ///
    /// Why the run cannot begin.
    fn prologue(&mut self, switch: &mut dyn Target) -> Result<Option<u64>, String>;

    /// Runs one round of the controller's loop at the time that it returned before. Returns the time of the next round,
    /// which must be later; `None` ends the loop.
    ///
    /// # Errors
    ///
    /// Why the run cannot go on.
    fn round(&mut self, switch: &mut dyn Target) -> Result<Option<u64>, String>;

    /// Returns lines for the user since the last call, such as messages of the program.
    fn drain_log(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Returns what the controller did since the last call; a run prints it with traces of packets.
    fn drain_activities(&mut self) -> Vec<Activity> {
        Vec::new()
    }

    /// Returns a line about the whole run for its summary.
    fn summary(&self) -> Option<String> {
        None
    }

    /// Begins after the switch has swapped to the program of this controller; the switch has migrated the state of the
    /// program before. Returns the time of the first round. The default runs [`Controller::prologue`].
    ///
    /// # Errors
    ///
    /// Why the new program cannot be controlled.
    fn reload(
        &mut self,
        switch: &mut dyn Target,
        _program: &ReadyProgram,
    ) -> Result<Option<u64>, String> {
        self.prologue(switch)
    }
}
