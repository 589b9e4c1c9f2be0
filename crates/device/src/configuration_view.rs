// SPDX-License-Identifier: Apache-2.0
//! What one pass of a packet reads as configuration: one version, from the side of the state store that
//! its engine reads.

use state::forwarding::ForwardingState;
use state::{Configuration, Replication};
use std::sync::Arc;

/// One version of the configuration. It is held for one pass, or for one burst.
#[derive(Clone, Debug)]
pub(crate) enum ConfigurationView {
    /// For the interpreter.
    Configuration(Arc<Configuration>),
    /// For compiled code.
    Forwarding(Arc<ForwardingState>),
}

impl ConfigurationView {
    /// Multicast groups and clone sessions.
    pub fn replication(&self) -> &Replication {
        match self {
            ConfigurationView::Configuration(configuration) => configuration.replication(),
            ConfigurationView::Forwarding(forwarding) => forwarding.replication(),
        }
    }
}
