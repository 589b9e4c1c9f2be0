// SPDX-License-Identifier: Apache-2.0
//! The P4 control of handlers in the making: its variables, lines and tables, and the names that expressions of the
//! handler have in it. Statements are written by `handlers`, `accesses`, `tables` and `generated`.

use super::calculations::{checksum_text, hash_text, joined};
use super::context::{Context, Piece};
use crate::expressions::{self, BuiltIn, Environment, type_text, wire_bits};
use crate::names::{Names, identifier};
use crate::normal::GenerateSlots;
use crate::options::Clock;
use lucid::core::{Body, EventId, Expression, ExpressionKind, GlobalId, LocalId, Type};
use source::Span;

/// A table that a control has.
pub(super) struct DeclaredTable {
    pub(super) table: GlobalId,
    pub(super) name: String,
    pub(super) keys: Vec<String>,
    pub(super) arguments: Vec<String>,
    pub(super) results: Vec<String>,
}

/// A control in the making.
pub(super) struct Control<'c, 'p> {
    pub(super) context: &'c mut Context<'p>,
    pub(super) names: Names,
    pub(super) declarations: Vec<Piece>,
    pub(super) lines: Vec<Piece>,
    pub(super) egress: bool,
    pub(super) tables: Vec<DeclaredTable>,
    /// Names of the handler's locals, as they get one.
    pub(super) locals: Vec<Option<String>>,
    pub(super) body: &'p Body,
    pub(super) event: EventId,
    pub(super) slots: GenerateSlots,
    pub(super) next_generate: usize,
    /// The statement that is being written.
    pub(super) span: Span,
}

impl<'p> Control<'_, 'p> {
    /// Names of registers and headers are visible in controls; locals must not hide them.
    pub(super) fn reserve_globals(&mut self) {
        for place in &self.context.globals {
            if let crate::compiled::GlobalPlace::Register { name, .. } = place {
                self.names.fresh(name);
            }
        }
        for shape in &self.context.shapes.events {
            self.names.fresh(&shape.constant);
        }
    }

    pub(super) fn line(&mut self, span: Span, text: String) {
        self.lines.push((span, text));
    }

    /// A line of the statement that is being written.
    pub(super) fn put(&mut self, text: String) {
        self.lines.push((self.span, text));
    }

    /// A variable of the control.
    pub(super) fn declare(&mut self, span: Span, ty: &str, wanted: &str) -> String {
        let name = self.names.fresh(wanted);
        self.declarations.push((span, format!("{ty} {name};")));
        name
    }

    /// A variable with this value.
    pub(super) fn held(&mut self, ty: &str, wanted: &str, value: &str) -> String {
        let name = self.declare(self.span, ty, wanted);
        self.put(format!("{name} = {value};"));
        name
    }

    pub(super) fn text(&mut self, expression: &Expression) -> String {
        expressions::text(expression, self)
    }

    pub(super) fn operand(&mut self, expression: &Expression) -> String {
        expressions::operand(expression, self)
    }

    /// The value as a name or a literal, in a variable if it is neither.
    pub(super) fn leaf(&mut self, expression: &Expression, wanted: &str) -> String {
        let text = self.operand(expression);
        let plain = |kind: &ExpressionKind| {
            matches!(kind, ExpressionKind::Local(_) | ExpressionKind::Constant(_))
        };
        if plain(&expression.kind) {
            return text;
        }
        self.held(&type_text(expression.ty), wanted, &text)
    }

    /// The variable of a local.
    pub(super) fn local(&mut self, local: LocalId) -> String {
        let at = local.0 as usize;
        if let Some(name) = &self.locals[at] {
            return name.clone();
        }
        let local = &self.body.locals[at];
        let name = self.declare(local.span, &type_text(local.ty), &identifier(&local.name));
        self.locals[at] = Some(name.clone());
        name
    }
}

impl Environment for Control<'_, '_> {
    fn local(&mut self, local: LocalId) -> String {
        Control::local(self, local)
    }

    fn built_in(&mut self, value: BuiltIn, span: Span) -> (String, u32) {
        match value {
            BuiltIn::SelfSwitch => ("meta.self".to_string(), 32),
            // In egress it is the port where the event leaves.
            BuiltIn::IngressPort if self.egress => ("standard_metadata.egress_port".to_string(), 9),
            BuiltIn::IngressPort => ("meta.ingress_port".to_string(), 9),
            BuiltIn::RecirculationPort => ("meta.recirculation_port".to_string(), 9),
            BuiltIn::Time => {
                let stamp = match self.egress {
                    true => "standard_metadata.egress_global_timestamp",
                    false => self.context.ingress_time(),
                };
                match self.context.options.clock {
                    Clock::Nanoseconds => (stamp.to_string(), 48),
                    Clock::Microseconds => (format!("({stamp} * 1000)"), 48),
                }
            }
            BuiltIn::DequeueDepth if self.egress => {
                ("standard_metadata.deq_qdepth".to_string(), 19)
            }
            BuiltIn::DequeueDepth => {
                self.context.refuse(
                    span,
                    "the depth of a queue is known in egress only",
                    "read it in an egress handler",
                );
                ("19w0".to_string(), 19)
            }
            BuiltIn::Extern(number) => {
                let field = self.context.extern_field(number);
                match self.context.program.externs[number.0 as usize].ty {
                    Type::Bool => (format!("(meta.{field} == 1)"), 0),
                    ty => (format!("meta.{field}"), wire_bits(ty)),
                }
            }
        }
    }

    fn hash(&mut self, seed: u32, values: &[(String, u32)], width_bits: u32, _: Span) -> String {
        let mut parts = Vec::new();
        for part in 0..width_bits.div_ceil(32) {
            let polynomial = lucid::core::hash::polynomial(seed.wrapping_add(part));
            let mark = self.context.calculation(Some(polynomial));
            let hashed = self.declare(self.span, "bit<32>", "hashed");
            self.put(hash_text(&mark, &hashed, values));
            parts.insert(0, hashed);
        }
        joined(&parts, width_bits)
    }

    fn checksum(&mut self, values: &[(String, u32)], _: Span) -> String {
        let sum = self.declare(self.span, "bit<16>", "checksum");
        let mark = self.context.calculation(None);
        self.put(checksum_text(&mark, &sum, values));
        sum
    }

    fn impossible(&mut self, span: Span) {
        self.context.refuse(
            span,
            "this target has no place for such a value",
            "use integers and booleans known to the handler; seeds of hashes must be constants",
        );
    }
}
