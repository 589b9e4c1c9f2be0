// SPDX-License-Identifier: Apache-2.0
//! The sources of packets at ingress: ports, the packet generator, externs and the internal paths.

/// The source of a packet at ingress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IngressSource {
    /// A port, from outside.
    Wire,
    /// A loopback port of this device.
    Loopback,
    /// The packet generator, which names a port.
    Generator,
    /// From an extern, as if by a port.
    Extern,
    /// By the resubmission path.
    Resubmission,
    /// By the recirculation path.
    Recirculation,
}

impl IngressSource {
    /// Returns whether the packet is a new arrival at a numbered port, not a further pass by an internal path.
    pub fn is_port(self) -> bool {
        match self {
            IngressSource::Wire
            | IngressSource::Loopback
            | IngressSource::Generator
            | IngressSource::Extern => true,
            IngressSource::Resubmission | IngressSource::Recirculation => false,
        }
    }

    /// Returns its name in traces.
    pub(crate) fn name(self) -> &'static str {
        match self {
            IngressSource::Wire => "port",
            IngressSource::Loopback => "loopback",
            IngressSource::Generator => "generator",
            IngressSource::Extern => "extern",
            IngressSource::Resubmission => "resubmission",
            IngressSource::Recirculation => "recirculation",
        }
    }
}
