// SPDX-License-Identifier: Apache-2.0
//! Reactions in this process: the fastest calls. A reaction that crashes ends the process, an endless one stops it.

use super::Module;
use super::code::{Code, LoadError, StateAfterReload};
use super::shape::Shape;
use super::unsafe_calls::LoadedCode;
use crate::interface::{Host, Reactions, Stopped};

/// Reactions that run in this process.
pub struct InProcess {
    loaded: LoadedCode,
    shape: Shape,
}

impl InProcess {
    /// Loads code.
    ///
    /// # Errors
    ///
    /// The system does not load it.
    pub fn load(code: &Code) -> Result<InProcess, LoadError> {
        let file = code.file()?;
        let loaded = LoadedCode::open(file.path())?;
        Ok(InProcess { loaded, shape: code.shape().clone() })
    }
}

impl Reactions for InProcess {
    fn call(
        &mut self,
        reaction: usize,
        input: &[u64],
        malleables: &mut [u64],
        host: &mut dyn Host,
    ) -> Result<(), Stopped> {
        self.loaded.call(reaction, input, malleables, host);
        Ok(())
    }

    fn call_init(&mut self, malleables: &mut [u64], host: &mut dyn Host) -> Result<(), Stopped> {
        self.loaded.call_init(malleables, host);
        Ok(())
    }
}

impl Module for InProcess {
    fn reload(&mut self, code: &Code, state: StateAfterReload) -> Result<(), LoadError> {
        super::check_shape(&self.shape, code.shape())?;
        let file = code.file()?;
        let mut loaded = LoadedCode::open(file.path())?;
        if state == StateAfterReload::Carried {
            loaded.carry_state_from(&self.loaded);
        }
        self.loaded = loaded;
        Ok(())
    }

    fn restart(&mut self, code: &Code) -> Result<(), LoadError> {
        *self = InProcess::load(code)?;
        Ok(())
    }
}
