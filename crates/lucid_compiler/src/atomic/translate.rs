// SPDX-License-Identifier: Apache-2.0
//! From the normal form to the atomic table graph: expressions are taken apart into operations of one
//! ALU, comparisons of variables become a difference and a test, conditions become branch tables
//! (Lucid §6.1). Statements keep their order; better orders are the business of [`super::dataflow`].

mod builder;
pub(super) mod conditions;
pub(super) mod expressions;
mod statements;

use super::program::Handler;
use super::tree::AtomicGraph;
use crate::normal::generate_slots;
use builder::Translator;
pub(super) use conditions::same_test;
use lucid::core::{Body, Event, EventId, Program};
use pisa::Gress;
use source::Diagnostics;

/// The atomic table graph of a program in normal form.
///
/// # Errors
///
/// What no ALU can do, each with its place.
pub fn translate(program: &Program) -> Result<AtomicGraph, Diagnostics> {
    let mut translator = Translator::new(program);
    for (at, event) in program.events.iter().enumerate() {
        let id = EventId(at as u32);
        if let Some(body) = &event.handler {
            translator.handler(id, event, Gress::Ingress, body);
        }
        if let Some(body) = &event.egress_handler {
            translator.handler(id, event, Gress::Egress, body);
        }
    }
    translator.finish()
}

impl<'a> Translator<'a> {
    fn handler(&mut self, id: EventId, event: &'a Event, gress: Gress, body: &'a Body) {
        let name = match gress {
            Gress::Ingress => event.name.clone(),
            Gress::Egress => format!("{} (egress)", event.name).into(),
        };
        self.graph.program.handlers.push(Handler { event: id, gress, name });
        self.begin(id, event, gress, body, generate_slots(body));
        self.statements(&body.statements);
        let nodes = self.take_nodes();
        self.graph.bodies.push(nodes);
    }
}
