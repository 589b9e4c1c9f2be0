// SPDX-License-Identifier: Apache-2.0
//! [`Controller`]: control-plane code of a compiled program. It accesses its switch as a [`Target`].
//! `toolchain::controllers` starts and wakes controllers.

use control::target::Target;
use ir::ready::ReadyProgram;

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

    /// Returns what the controller did since the last call, as text; a run prints it with traces of packets.
    fn drain_trace(&mut self) -> Vec<String> {
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
