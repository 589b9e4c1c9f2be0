// SPDX-License-Identifier: Apache-2.0
//! [`Controller`]: control-plane code that a compiled program brings along, and [`ControlAccess`], through
//! which it reaches its switch. When controllers are started and woken is in `toolchain::controllers`.

use ir::Program;
use ir::ready::ReadyProgram;
use state::{Batch, BatchOutcome};
use std::sync::Arc;

/// The switch as a controller sees it.
///
/// To become the control target of crate `control`: what a controller needs of it is the program whose names it
/// writes to, batches with their outcomes (now and at a later time, with the latency of the control channel),
/// and notifications (digests, idle timeouts, packets to the CPU, program swapped).
pub trait ControlAccess {
    /// The program that runs.
    fn program(&self) -> &Arc<Program>;

    /// The switch's clock, in picoseconds.
    fn now_ps(&self) -> u64;

    /// Carries out a batch of updates and reads at the switch's time.
    fn submit(&mut self, batch: Batch) -> BatchOutcome;
}

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
    fn prologue(&mut self, switch: &mut dyn ControlAccess) -> Result<Option<u64>, String>;

    /// Runs one round of the controller's loop at the time it asked for. The answer is the time of the next
    /// round, which must be later; `None` ends the loop.
    ///
    /// # Errors
    ///
    /// Why the run cannot go on.
    fn round(&mut self, switch: &mut dyn ControlAccess) -> Result<Option<u64>, String>;

    /// Takes over after the switch has swapped to another program, which brought this controller; the state of
    /// the one before is what the switch kept. The answer is as that of [`Controller::prologue`], which is what
    /// a controller does that keeps nothing.
    ///
    /// # Errors
    ///
    /// Why the new program cannot be controlled.
    fn reload(
        &mut self,
        switch: &mut dyn ControlAccess,
        _program: &ReadyProgram,
    ) -> Result<Option<u64>, String> {
        self.prologue(switch)
    }
}
