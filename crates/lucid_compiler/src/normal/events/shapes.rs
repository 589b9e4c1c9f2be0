// SPDX-License-Identifier: Apache-2.0
//! What the event locals of a body can be: constructors, whether delayed, which places. Found for the
//! whole body at once, by going through the assignments until nothing is new.

use crate::normal::event_values::{Base, Place, taken_apart};
use crate::normal::locals::bits_for;
use lucid::core::walk::each_statement;
use lucid::core::{Body, EventId, Expression, LocalId, StatementKind, Type};
use std::collections::{BTreeSet, HashMap};

/// What one event local can be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) constructors: BTreeSet<EventId>,
    pub(super) delayed: bool,
    pub(super) switch: bool,
    pub(super) switches: bool,
}

/// What the event locals of a body can be.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    of: HashMap<LocalId, Shape>,
    /// Constructors of all of them; the number of the n-th is n + 1.
    numbered: Vec<EventId>,
    /// Widest delay in bits.
    pub(super) delay_bits: u32,
    /// Widest number of a switch in bits.
    pub(super) switch_bits: u32,
}

impl Shapes {
    pub(super) fn of(body: &Body) -> Shapes {
        let mut shapes = Shapes { delay_bits: 1, switch_bits: 1, ..Shapes::default() };
        let mut assignments: Vec<(LocalId, &Expression)> = Vec::new();
        each_statement(&body.statements, &mut |statement| {
            if let StatementKind::Assign { local, value, .. } = &statement.kind
                && value.ty == Type::Event
            {
                assignments.push((*local, value));
            }
        });
        loop {
            let mut changed = false;
            for (local, value) in &assignments {
                let mut shape = shapes.of_local(*local);
                shapes.add(value, &mut shape);
                changed |= shapes.of.get(local) != Some(&shape);
                shapes.of.insert(*local, shape);
            }
            if !changed {
                break;
            }
        }
        let all: BTreeSet<EventId> =
            shapes.of.values().flat_map(|shape| shape.constructors.iter().copied()).collect();
        shapes.numbered = all.into_iter().collect();
        shapes
    }

    fn add(&mut self, value: &Expression, shape: &mut Shape) {
        let Some(made) = taken_apart(value) else { return };
        match made.base {
            Base::Constructor(event, _) => {
                shape.constructors.insert(event);
            }
            Base::Local(from) => {
                let from = self.of_local(from);
                shape.constructors.extend(from.constructors);
                shape.delayed |= from.delayed;
                shape.switch |= from.switch;
                shape.switches |= from.switches;
            }
        }
        if let Some(delay) = made.delay {
            shape.delayed = true;
            self.delay_bits = self.delay_bits.max(width(delay));
        }
        match made.place {
            Some(Place::Switch(switch)) => {
                shape.switch = true;
                self.switch_bits = self.switch_bits.max(width(switch));
            }
            Some(Place::Switches(_)) => shape.switches = true,
            None => {}
        }
    }

    /// What a local can be; nothing if it is never assigned.
    pub(super) fn of_local(&self, local: LocalId) -> Shape {
        self.of.get(&local).cloned().unwrap_or_default()
    }

    /// The number of a constructor in a tag.
    pub(super) fn number(&self, event: EventId) -> u128 {
        self.numbered.iter().position(|one| *one == event).map_or(0, |at| at as u128 + 1)
    }

    pub(super) fn tag_bits(&self) -> u32 {
        bits_for(self.numbered.len())
    }
}

fn width(expression: &Expression) -> u32 {
    match expression.ty {
        Type::Int(width) => width,
        _ => 1,
    }
}
