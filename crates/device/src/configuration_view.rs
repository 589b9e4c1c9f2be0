// SPDX-License-Identifier: Apache-2.0
//! The version of the configuration that one pass of a packet reads, from the side of the state store that its engine
//! reads.

use state::forwarding::ForwardingState;
use state::{Configuration, Replication};
use std::sync::Arc;

/// One version of the configuration, held for one pass or one burst.
#[derive(Clone, Debug)]
pub(crate) enum ConfigurationView {
    /// For the interpreter.
    Configuration(Arc<Configuration>),
    /// For compiled code.
    Forwarding(Arc<ForwardingState>),
}

impl ConfigurationView {
    /// Returns multicast groups and clone sessions.
    pub fn replication(&self) -> &Replication {
        match self {
            ConfigurationView::Configuration(configuration) => configuration.replication(),
            ConfigurationView::Forwarding(forwarding) => forwarding.replication(),
        }
    }
}
