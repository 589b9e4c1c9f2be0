// SPDX-License-Identifier: Apache-2.0
//! Refuses what a network file may say and a network does not do: it must not be ignored.

use network_file::model::{Application, ApplicationKind, Arrivals, Engine, Network, TcpOptions};
use source::{Code, Diagnostic, Diagnostics, Explanation, Span};

/// Something that a network cannot do.
pub const NOT_SIMULATED: Code = Code("NW-E0403");

pub(crate) const EXPLANATIONS: &[Explanation] = &[Explanation {
    code: NOT_SIMULATED,
    title: "a network cannot do this",
    text: "The file is right, but networks do not have this feature yet; the message names it.",
    wrong: "",
    right: "",
}];

/// Reports applications with fields that the hosts of a simulation do not act on.
pub(crate) fn check_applications(network: &Network, found: &mut Diagnostics) {
    for application in network.hosts.iter().flat_map(|host| &host.applications) {
        if matches!(application.kind, ApplicationKind::Command { .. }) {
            let Application { name, span, .. } = application;
            let message =
                format!("application `{name}` is a program, and simulated hosts run none");
            let error = Diagnostic::error(NOT_SIMULATED, *span, message);
            found.push(error.help("run the network with --live"));
        }
        if let Some(field) = ignored_field(&application.kind) {
            let Application { name, span, .. } = application;
            let message = format!("application `{name}`: `{field}` has no effect in a simulation");
            let error = Diagnostic::error(NOT_SIMULATED, *span, message);
            found.push(error.help("leave the field out"));
        }
    }
}

/// Reports what neither a simulation nor a live network does.
pub(crate) fn check(network: &Network, found: &mut Diagnostics) {
    let mut refuse = |span: Span, message: String, help: &str| {
        found.push(Diagnostic::error(NOT_SIMULATED, span, message).help(help));
    };
    for switch in &network.switches {
        if let Some(engine) = switch.engine.as_ref().filter(|one| one.value == Engine::Reference) {
            let message = format!("switch `{}` is a device, not a reference machine", switch.name);
            refuse(engine.span, message, "write `engine: jit` or `engine: interp`");
        }
    }
}

/// A field with a value that the hosts do not act on.
fn ignored_field(kind: &ApplicationKind) -> Option<&'static str> {
    let of_tcp = |tcp: &TcpOptions| (tcp.tos != 0).then_some("tos");
    match kind {
        ApplicationKind::Ping { tos, .. } => (*tos != 0).then_some("tos"),
        ApplicationKind::Tcp { tcp, .. }
        | ApplicationKind::RequestResponse { tcp, .. }
        | ApplicationKind::Flows { tcp, .. }
        | ApplicationKind::Incast { tcp, .. } => of_tcp(tcp),
        ApplicationKind::MemcachedClient { arrivals, .. } => {
            (*arrivals == Arrivals::Constant).then_some("arrivals: constant")
        }
        _ => None,
    }
}
