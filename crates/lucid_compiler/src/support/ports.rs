// SPDX-License-Identifier: Apache-2.0
//! Warns about constant ports that no compiled switch has, for `plane check`, which compiles for no target.
//! `bodies` refuses the same ports for a target.

use crate::{codes, wire};
use lucid::core::walk::{bodies, each_statement};
use lucid::core::{Constant, Destination, Expression, ExpressionKind, Program, StatementKind};
use source::{Diagnostic, Diagnostics, Span};
use std::collections::HashSet;

/// Warns about events that a handler generates for a constant port above the largest.
pub fn known_ports(program: &Program) -> Diagnostics {
    let mut found = Diagnostics::new();
    let mut reported = HashSet::new();
    for body in program.events.iter().flat_map(bodies) {
        each_statement(&body.statements, &mut |statement| {
            let StatementKind::Generate { destination, .. } = &statement.kind else { return };
            for (port, span) in ports(destination) {
                if port > wire::LARGEST_PORT.into() && reported.insert((port, span)) {
                    found.push(warning(port, span));
                }
            }
        });
    }
    found
}

fn ports(destination: &Destination) -> Vec<(u128, Span)> {
    let known = |ports: &Expression| match &ports.kind {
        ExpressionKind::Constant(Constant::Int(port, _)) => vec![(*port, ports.span)],
        ExpressionKind::Constant(Constant::Group(members)) => {
            members.iter().map(|port| (u128::from(*port), ports.span)).collect()
        }
        _ => Vec::new(),
    };
    match destination {
        Destination::Port(port) | Destination::Ports(port) => known(port),
        _ => Vec::new(),
    }
}

fn warning(port: u128, span: Span) -> Diagnostic {
    Diagnostic::warning(codes::UNUSABLE_PORT, span, format!("no compiled switch has a port {port}"))
        .note("`plane emit` and compiled runs refuse this program; --engine reference runs it")
        .help(format!("take one of the ports 0 to {}", wire::LARGEST_PORT))
}
