// SPDX-License-Identifier: Apache-2.0
//! [`Controller`]: control-plane code that a compiled program brings along. It reaches its switch as a target
//! of crate `control`. When controllers are started and woken is in `toolchain::controllers`.

use control::target::Target;
use ir::ready::ReadyProgram;

/// Control-plane code that came with a program. Errors end the run; they are whole messages.
pub trait Controller: Send {
    /// What messages call it.
    fn name(&self) -> &str;

    /// Runs before the first packet, after the entries of the user. The answer is when the controller wants to
    /// be woken first, in picoseconds of the switch's clock; `None` if never.
    ///
    /// # Errors
    ///
    /// Why the run cannot begin.
    fn prologue(&mut self, switch: &mut dyn Target) -> Result<Option<u64>, String>;

    /// Runs one round of the controller's loop at the time it asked for. The answer is the time of the next
    /// round, which must be later; `None` ends the loop.
    ///
    /// # Errors
    ///
    /// Why the run cannot go on.
    fn round(&mut self, switch: &mut dyn Target) -> Result<Option<u64>, String>;

    /// Takes over after the switch has swapped to another program, which brought this controller; the state of
    /// the one before is what the switch kept. The answer is as that of [`Controller::prologue`], which is what
    /// a controller does that keeps nothing.
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
