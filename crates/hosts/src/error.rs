// SPDX-License-Identifier: Apache-2.0
//! [`AddError`]: why a host cannot run an application.

use std::fmt;

/// Why a host cannot run an application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddError {
    /// Another application of the host serves the port.
    PortInUse(u16),
    /// An option has a value that cannot work; the text names it and says what to write.
    Option(String),
}

impl fmt::Display for AddError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AddError::PortInUse(port) => {
                write!(formatter, "another application of this host serves port {port}")
            }
            AddError::Option(text) => formatter.write_str(text),
        }
    }
}

impl std::error::Error for AddError {}
