// SPDX-License-Identifier: Apache-2.0
//! [`Reload`]: new reactions for a running agent. It exchanges the C, the rates and the costs of reactions; the program that
//! packets run stays, so everything that the agent has measured, committed and prepared stays valid.

use super::difference::difference;
use crate::compiler::CompiledProgram;
use crate::interface::Interface;
use crate::module::{Code, StateAfterReload};
use std::sync::Arc;

/// New reactions for a running agent.
#[derive(Clone, Debug)]
pub struct Reload {
    pub(super) interface: Arc<Interface>,
    pub(super) code: Code,
    pub(super) state: StateAfterReload,
    pub(super) runs_init: bool,
}

impl Reload {
    /// The reactions of `new` for an agent of `running`. Their `init` runs, and is committed, only if `runs_init`.
    ///
    /// # Errors
    ///
    /// What differs so that packets would need another program.
    pub fn new(
        running: &CompiledProgram,
        new: &CompiledProgram,
        code: Code,
        state: StateAfterReload,
        runs_init: bool,
    ) -> Result<Reload, String> {
        match difference(running, new) {
            Some(what) => Err(what),
            None => {
                Ok(Reload { interface: Arc::new(new.interface.clone()), code, state, runs_init })
            }
        }
    }
}
