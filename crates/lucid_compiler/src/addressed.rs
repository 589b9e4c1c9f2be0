// SPDX-License-Identifier: Apache-2.0
//! Packet events for switches by number. Such an event comes to its switch in a frame ([`crate::wire`]), and the parser
//! of that switch reads the bytes behind the frame as the program's parser `main` does, with ingress port 0. Programs
//! that send none have no such states; what their text is stands in the parsers of the targets.

use lucid::core::walk::{bodies, deep, each_expression, each_statement};
use lucid::core::{
    Destination, Expression, ExpressionKind, ParserAction, ParserBlock, ParserStep, Program,
    StatementKind,
};
use lucid::syntax::ast::EventSort;

/// Whether a program in normal form sends packet events to switches by number.
pub(crate) fn sends_packets(program: &Program) -> bool {
    let mut found = false;
    let is_packet = |event: &Expression| {
        let mut is_packet = false;
        each_expression(event, &mut |inner| {
            if let ExpressionKind::Event { event, .. } = &inner.kind {
                is_packet |= program.events[event.0 as usize].sort == EventSort::Packet;
            }
        });
        is_packet
    };
    for body in program.events.iter().flat_map(bodies) {
        each_statement(&body.statements, &mut |statement| {
            if let StatementKind::Generate { event, destination } = &statement.kind
                && matches!(destination, Destination::Switch(_) | Destination::Switches(_))
            {
                found |= is_packet(event);
            }
        });
    }
    found && program.main_parser.is_some()
}

/// Whether a parser asks for the port by which its packet came.
pub(crate) fn parsers_ask_for_port(program: &Program) -> bool {
    program.parsers.iter().any(|parser| asks_for_port(&parser.block))
}

fn asks_for_port(block: &ParserBlock) -> bool {
    let asks = |value: &Expression| {
        let mut found = false;
        each_expression(value, &mut |inner| {
            found |= matches!(inner.kind, ExpressionKind::IngressPort);
        });
        found
    };
    let assigned = block.actions.iter().any(|action| match action {
        ParserAction::Assign(_, value) => asks(value),
        ParserAction::Read(_) | ParserAction::Skip(_) | ParserAction::Rest(_) => false,
    });
    assigned
        || match &block.step {
            ParserStep::Match { subjects, branches } => {
                subjects.iter().any(asks)
                    || branches.iter().any(|(_, inner)| deep(|| asks_for_port(inner)))
            }
            ParserStep::Generate(event) => asks(event),
            ParserStep::Call { arguments, .. } => arguments.iter().any(asks),
            ParserStep::LucidEvent | ParserStep::Drop => false,
        }
}
