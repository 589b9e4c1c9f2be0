// SPDX-License-Identifier: Apache-2.0
//! Generated events: into the headers of their places, with where they go and how long they wait. What
//! sends them is `scheduler`.

use super::control::Control;
use crate::compiled::PortGroup;
use crate::expressions::{self, Environment, literal, wire_bits};
use crate::options::Clock;
use crate::wire;
use lucid::core::walk::is_leaf;
use lucid::core::{Constant, Destination, EventId, Expression, ExpressionKind, Type};
use lucid::syntax::ast::EventSort;

impl Control<'_, '_> {
    /// Puts a generated event into its place.
    pub(super) fn generate(&mut self, event: &Expression, destination: &Destination) {
        let slot = self.slots.slots[self.next_generate].most;
        self.next_generate += 1;
        let (event, delay) = match &event.kind {
            ExpressionKind::Delay { event, nanoseconds } => (&**event, Some(&**nanoseconds)),
            _ => (event, None),
        };
        let ExpressionKind::Event { event: generated, arguments } = &event.kind else {
            self.impossible(event.span);
            return;
        };
        if self.egress && slot > 0 {
            self.context.refuse(
                self.span,
                "an egress handler cannot generate a second event: the packet leaves as one",
                "generate the others in the ingress handler",
            );
            return;
        }
        let mut values = Vec::new();
        let mut empties = false;
        for argument in arguments {
            match &argument.kind {
                ExpressionKind::EmptyPayload => empties = true,
                _ if argument.ty == Type::Payload => {}
                _ => values.push(expressions::bits(argument, self)),
            }
        }
        let shape = self.context.shapes.event(*generated);
        let constant = shape.constant.clone();
        if shape.padding_bits > 0 {
            values.push(literal(0, shape.padding_bits));
        }
        let header = self.context.shapes.slots.get(&(slot, *generated)).cloned().flatten();
        if let Some(header) = header {
            self.put(format!("hdr.{header} = {{ {} }};", values.join(", ")));
        }
        let (kind, place) = self.place(*generated, destination);
        self.context.delays |= delay.is_some();
        self.context.mixes |= kind == "PLACE_PORT" && self.slots.most > 1;
        let delay = delay.map_or_else(|| "0".to_string(), |delay| self.delay(delay));
        self.put(format!(
            "hdr.frame_{slot} = {{ {kind}, {place}, SOURCE, {delay}, ETHERTYPE_LUCID, {constant} }};"
        ));
        if empties {
            self.put(format!("meta.empty_{slot} = 1;"));
        }
        self.put("meta.generated = meta.generated + 1;".to_string());
        self.put(format!("meta.copies = {};", slot + 1));
    }

    /// The kind of place and the place of a generated event.
    fn place(&mut self, event: EventId, destination: &Destination) -> (&'static str, String) {
        let is_exit = self.context.program.events[event.0 as usize].sort == EventSort::Exit;
        match destination {
            Destination::Event if is_exit => ("PLACE_PORT", wire::OUTSIDE_PORT.to_string()),
            Destination::Event => ("PLACE_HERE", "0".to_string()),
            Destination::Switch(switch) => ("PLACE_SWITCH", self.number(switch)),
            Destination::Port(port) => ("PLACE_PORT", self.number(port)),
            Destination::Ports(group) | Destination::Switches(group) => match &group.kind {
                ExpressionKind::Flood(port) => {
                    self.context.floods = true;
                    ("PLACE_FLOOD", self.number(port))
                }
                _ => {
                    let group = match &group.kind {
                        ExpressionKind::Constant(Constant::Group(members)) => {
                            PortGroup::Ports(members.clone())
                        }
                        ExpressionKind::Extern(number) => PortGroup::Extern(*number),
                        _ => {
                            self.impossible(group.span);
                            return ("PLACE_HERE", "0".to_string());
                        }
                    };
                    let context = &mut self.context;
                    match destination {
                        Destination::Switches(_) => {
                            let number = super::group_number(&mut context.switch_groups, group);
                            ("PLACE_SWITCHES", number.to_string())
                        }
                        _ => {
                            let number = super::group_number(&mut context.port_groups, group);
                            ("PLACE_GROUP", number.to_string())
                        }
                    }
                }
            },
        }
    }

    /// A port or switch as 32 bits; what does not fit is a number that none has.
    fn number(&mut self, value: &Expression) -> String {
        let width_bits = wire_bits(value.ty);
        if let ExpressionKind::Constant(Constant::Int(value, _)) = value.kind {
            return u32::try_from(value).unwrap_or(u32::MAX).to_string();
        }
        self.narrowed(value, width_bits)
    }

    /// An integer as 32 bits: all ones for larger ones.
    pub(super) fn narrowed(&mut self, value: &Expression, width_bits: u32) -> String {
        if width_bits <= 32 {
            let text = self.operand(value);
            return expressions::cast(text, width_bits, 32);
        }
        let text = self.leaf(value, "wide");
        format!("({text}[{}:32] == 0 ? {text}[31:0] : 32w0xffffffff)", width_bits - 1)
    }

    /// A delay in nanoseconds: one unit of the clock more, since both ends of it are rounded down and no
    /// event may come early.
    fn delay(&mut self, delay: &Expression) -> String {
        let more = match self.context.options.clock {
            Clock::Nanoseconds => 1,
            Clock::Microseconds => 1000,
        };
        if let ExpressionKind::Constant(Constant::Int(value, _)) = delay.kind {
            let value = u32::try_from(value).unwrap_or(u32::MAX);
            return if value == 0 { value } else { value.saturating_add(more) }.to_string();
        }
        let text = self.narrowed(delay, wire_bits(delay.ty));
        let text = if is_leaf(delay) { text } else { self.held("bit<32>", "delay", &text) };
        format!("({text} == 0 ? 0 : {text} |+| {more})")
    }
}
