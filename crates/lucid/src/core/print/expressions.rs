// SPDX-License-Identifier: Apache-2.0
//! Prints core expressions. Operands that are operations are parenthesized, so the reader needs no
//! precedence.

use super::{Printer, constant_text, list, type_text};
use crate::core::{
    CONDITION_1, CONDITION_2, EventId, Expression, ExpressionKind, Local, LocalId, NEW_CELL_1,
    NEW_CELL_2,
};

/// What locals are called.
pub(in crate::core) struct Names(Vec<String>);

impl Names {
    /// Those of a body.
    pub(in crate::core) fn locals(locals: &[Local]) -> Names {
        Names(locals.iter().map(|local| local.name.to_string()).collect())
    }

    /// The names in a memop with this number of arguments: cells, arguments, conditions, new cells.
    pub(in crate::core) fn memop(argument_count: u32) -> Names {
        let parameters: &[&str] = match argument_count {
            2 => &["cell", "x"],
            3 => &["cell", "x", "y"],
            _ => &["cell1", "cell2", "x", "y"],
        };
        let mut names: Vec<String> = parameters.iter().map(|name| (*name).to_owned()).collect();
        let special =
            [(CONDITION_1, "b1"), (CONDITION_2, "b2"), (NEW_CELL_1, "new1"), (NEW_CELL_2, "new2")];
        for (local, name) in special {
            while names.len() < local.0 as usize {
                names.push(format!("local?{}", names.len()));
            }
            names.push(name.to_owned());
        }
        Names(names)
    }

    pub(in crate::core) fn of(&self, local: LocalId) -> String {
        match self.0.get(local.0 as usize) {
            Some(name) => name.clone(),
            None => format!("local?{}", local.0),
        }
    }
}

impl Printer<'_> {
    pub(in crate::core) fn event_name(&self, event: EventId) -> String {
        match self.program.events.get(event.0 as usize) {
            Some(event) => event.name.to_string(),
            None => format!("event?{}", event.0),
        }
    }

    pub(in crate::core) fn expression(&self, expression: &Expression, names: &Names) -> String {
        stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.whole_expression(expression, names))
    }

    /// In parentheses if it has operands side by side.
    fn operand(&self, expression: &Expression, names: &Names) -> String {
        let text = self.expression(expression, names);
        match &expression.kind {
            ExpressionKind::Binary(..) | ExpressionKind::Flood(_) => format!("({text})"),
            _ => text,
        }
    }

    fn all(&self, expressions: &[Expression], names: &Names) -> String {
        list(expressions, |expression| self.expression(expression, names))
    }

    fn whole_expression(&self, expression: &Expression, names: &Names) -> String {
        let ty = expression.ty;
        match &expression.kind {
            ExpressionKind::Constant(constant) => constant_text(constant),
            ExpressionKind::Local(local) => names.of(*local),
            ExpressionKind::Extern(external) => {
                match self.program.externs.get(external.0 as usize) {
                    Some(external) => external.name.to_string(),
                    None => format!("extern?{}", external.0),
                }
            }
            ExpressionKind::SelfSwitch => format!("self<{}>", super::width(ty)),
            ExpressionKind::IngressPort => format!("ingress_port<{}>", super::width(ty)),
            ExpressionKind::RecirculationPort => {
                format!("recirculation_port<{}>", super::width(ty))
            }
            ExpressionKind::Time => format!("time<{}>", super::width(ty)),
            ExpressionKind::DequeueDepth => format!("dequeue_depth<{}>", super::width(ty)),
            ExpressionKind::This => "this".to_owned(),
            ExpressionKind::Unary(operator, operand) => {
                format!("{}{}", operator.symbol(), self.operand(operand, names))
            }
            ExpressionKind::Binary(operator, left, right) => format!(
                "{} {} {}",
                self.operand(left, names),
                operator.symbol(),
                self.operand(right, names)
            ),
            ExpressionKind::Cast(operand) => {
                format!("({}){}", type_text(ty), self.operand(operand, names))
            }
            ExpressionKind::Slice(operand, low) => {
                let high = low + super::width(ty).max(1) - 1;
                format!("{}[{high}:{low}]", self.operand(operand, names))
            }
            ExpressionKind::Hash { seed, arguments } => format!(
                "hash<{}>({}; {})",
                super::width(ty),
                self.expression(seed, names),
                self.all(arguments, names)
            ),
            ExpressionKind::Checksum { arguments } => {
                format!("checksum({})", self.all(arguments, names))
            }
            ExpressionKind::Event { event, arguments } => {
                format!("{}({})", self.event_name(*event), self.all(arguments, names))
            }
            ExpressionKind::Delay { event, nanoseconds } => format!(
                "delay({}, {})",
                self.expression(event, names),
                self.expression(nanoseconds, names)
            ),
            ExpressionKind::Locate { event, switch } => format!(
                "locate({}, {})",
                self.expression(event, names),
                self.expression(switch, names)
            ),
            ExpressionKind::LocateMany { event, switches } => format!(
                "locate_many({}, {})",
                self.expression(event, names),
                self.expression(switches, names)
            ),
            ExpressionKind::Flood(port) => format!("flood {}", self.operand(port, names)),
            ExpressionKind::EmptyPayload => "empty_payload".to_owned(),
        }
    }
}
