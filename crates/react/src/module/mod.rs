// SPDX-License-Identifier: Apache-2.0
//! Compiled reactions at work: in this process ([`InProcess`]), or in a process of their own ([`WorkerProcess`]) that may
//! crash or never return. [`Module`] exchanges their code between two calls.

mod code;
#[cfg(unix)]
mod in_process;
#[cfg(target_os = "linux")]
mod mailbox;
mod shape;
#[cfg(unix)]
mod unsafe_calls;
#[cfg(target_os = "linux")]
mod worker_entry;
#[cfg(target_os = "linux")]
mod worker_process;

pub use code::{ABI_VERSION, Code, LoadError, StateAfterReload};
#[cfg(unix)]
pub use in_process::InProcess;
pub use shape::Shape;
#[cfg(target_os = "linux")]
pub use worker_entry::serve;
#[cfg(target_os = "linux")]
pub use worker_process::{DEFAULT_LIMIT, WORKER_ARGUMENT, WorkerOptions, WorkerProcess};

use crate::interface::{Host, Reactions, Stopped};

/// What is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Called {
    /// The reaction of this index.
    Reaction(usize),
    /// `init`.
    Init,
}

/// Reactions whose code can be exchanged. Reactions that have no code refuse it.
pub trait Module: Reactions {
    /// Replaces the code between two calls. After [`crate::interface::Stopped`] it starts afresh. The caller calls
    /// [`Reactions::call_init`] if the new code is to run it.
    ///
    /// # Errors
    ///
    /// The new code is not loaded; the old code still runs.
    fn reload(&mut self, _code: &Code, _state: StateAfterReload) -> Result<(), LoadError> {
        Err(LoadError("these reactions have no code".to_string()))
    }

    /// Begins a call of a reaction, or of `init`, that runs beside the caller; [`Module::poll`] completes it.
    ///
    /// # Errors
    ///
    /// The reactions do not run, or do not run beside the caller.
    fn begin(&mut self, _call: Called, _input: &[u64], _malleables: &[u64]) -> Result<(), Stopped> {
        Err(Stopped::Gone("these reactions do not run beside the agent".to_string()))
    }

    /// Answers what a call asks that [`Module::begin`] began. Returns its end if it came, with the malleables changed in
    /// place as by [`Reactions::call`].
    fn poll(
        &mut self,
        _malleables: &mut [u64],
        _host: &mut dyn Host,
    ) -> Option<Result<(), Stopped>> {
        Some(Err(Stopped::Gone("no call was begun".to_string())))
    }

    /// Starts afresh after [`crate::interface::Stopped`], with initial state.
    ///
    /// # Errors
    ///
    /// The code is not loaded.
    fn restart(&mut self, code: &Code) -> Result<(), LoadError> {
        self.reload(code, StateAfterReload::Fresh)
    }
}

/// Refuses code that takes other arguments than the code that it replaces.
fn check_shape(old: &Shape, new: &Shape) -> Result<(), LoadError> {
    if old == new {
        return Ok(());
    }
    let differs = |(old, new): &(&(String, usize), &(String, usize))| old != new;
    let reaction = old.reactions.iter().zip(&new.reactions).find(differs);
    let what = match reaction {
        Some((old, _)) => format!("the arguments of reaction `{}` differ", old.0),
        None => "the reactions, malleables or malleable tables differ".to_string(),
    };
    Err(LoadError(format!("{what}: only the C of a running program can be reloaded")))
}
