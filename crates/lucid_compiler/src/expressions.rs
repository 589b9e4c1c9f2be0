// SPDX-License-Identifier: Apache-2.0
//! Expressions of the normal form as P4_16 text, for all targets. What locals, built-ins, hashes and
//! checksums are called is the target's to say, by an [`Environment`].

use lucid::core::arithmetic::mask;
use lucid::core::walk::deep;
use lucid::core::{Constant, Expression, ExpressionKind, ExternId, LocalId, Type};
use lucid::syntax::ast::{BinaryOperator, UnaryOperator};
use source::Span;

/// Values that a switch knows by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuiltIn {
    /// `self`, 32 bits.
    SelfSwitch,
    /// `ingress_port`
    IngressPort,
    /// `recirculation_port`
    RecirculationPort,
    /// `Sys.time()`, nanoseconds.
    Time,
    /// `Sys.dequeue_depth()`
    DequeueDepth,
    /// The value of an extern.
    Extern(ExternId),
}

/// What a target calls things. Texts are operands: names, calls, or in parentheses.
pub trait Environment {
    /// A local, of type `bit` or `bool`.
    fn local(&mut self, local: LocalId) -> String;
    /// A built-in value, with its width in bits; booleans are `bool` and have width 0.
    /// Where an expression has none, the default stands in.
    fn built_in(&mut self, _value: BuiltIn, _span: Span) -> (String, u32) {
        ("0".into(), 0)
    }
    /// A hash: the result is an operand of the width. Values are texts with widths in bits.
    fn hash(
        &mut self,
        _seed: u32,
        _values: &[(String, u32)],
        width_bits: u32,
        _span: Span,
    ) -> String {
        literal(0, width_bits)
    }
    /// The internet checksum of the values, an operand of 16 bits.
    fn checksum(&mut self, _values: &[(String, u32)], _span: Span) -> String {
        literal(0, 16)
    }
    /// Handles an expression that no P4 program has (an event, a group, a hash with a variable seed).
    fn impossible(&mut self, _span: Span) {}
}

/// A literal with its width.
pub fn literal(value: u128, width_bits: u32) -> String {
    let value = value & mask(width_bits);
    if value < 1024 { format!("{width_bits}w{value}") } else { format!("{width_bits}w{value:#x}") }
}

/// The P4 type of an integer or boolean.
pub fn type_text(ty: Type) -> String {
    match ty {
        Type::Int(width_bits) => format!("bit<{width_bits}>"),
        _ => "bool".to_string(),
    }
}

/// Width in bits of an integer, of a boolean as it is on the wire; 0 for what has none.
pub fn wire_bits(ty: Type) -> u32 {
    match ty {
        Type::Int(width_bits) => width_bits,
        Type::Bool => 1,
        Type::Event | Type::Group | Type::Payload => 0,
    }
}

/// The expression, as it may stand on the right of an assignment.
pub fn text(expression: &Expression, environment: &mut dyn Environment) -> String {
    Texts { environment }.whole(expression)
}

/// The expression as an operand: in parentheses unless it is a name, a literal or a call.
pub fn operand(expression: &Expression, environment: &mut dyn Environment) -> String {
    Texts { environment }.operand(expression)
}

/// The expression as a string of bits: booleans as `bit<1>`.
pub fn bits(expression: &Expression, environment: &mut dyn Environment) -> String {
    Texts { environment }.bits(expression)
}

/// An operand of a width cast to another.
pub fn cast(operand: String, from_bits: u32, to_bits: u32) -> String {
    if from_bits == to_bits { operand } else { format!("(bit<{to_bits}>){operand}") }
}

struct Texts<'e> {
    environment: &'e mut dyn Environment,
}

impl Texts<'_> {
    fn bits(&mut self, expression: &Expression) -> String {
        let text = self.operand(expression);
        match expression.ty {
            Type::Bool => format!("(bit<1>){text}"),
            _ => text,
        }
    }

    fn operand(&mut self, expression: &Expression) -> String {
        let text = deep(|| self.whole(expression));
        let is_operand = match &expression.kind {
            ExpressionKind::Unary(..) | ExpressionKind::Binary(..) => false,
            _ => !text.starts_with('('),
        };
        if is_operand { text } else { format!("({text})") }
    }

    fn whole(&mut self, expression: &Expression) -> String {
        match &expression.kind {
            ExpressionKind::Constant(Constant::Int(value, width)) => literal(*value, *width),
            ExpressionKind::Constant(Constant::Bool(value)) => value.to_string(),
            ExpressionKind::Local(local) => self.environment.local(*local),
            ExpressionKind::Extern(number) => self.built_in(BuiltIn::Extern(*number), expression),
            ExpressionKind::SelfSwitch => self.built_in(BuiltIn::SelfSwitch, expression),
            ExpressionKind::IngressPort => self.built_in(BuiltIn::IngressPort, expression),
            ExpressionKind::RecirculationPort => {
                self.built_in(BuiltIn::RecirculationPort, expression)
            }
            ExpressionKind::Time => self.built_in(BuiltIn::Time, expression),
            ExpressionKind::DequeueDepth => self.built_in(BuiltIn::DequeueDepth, expression),
            ExpressionKind::Unary(operator, inner) => {
                let inner = self.operand(inner);
                match operator {
                    UnaryOperator::Not => format!("!{inner}"),
                    UnaryOperator::BitNot => format!("~{inner}"),
                    UnaryOperator::Negate => format!("-{inner}"),
                }
            }
            ExpressionKind::Binary(operator, left, right) => self.binary(*operator, left, right),
            ExpressionKind::Cast(inner) => {
                let to_bits = wire_bits(expression.ty);
                match inner.ty {
                    Type::Bool if to_bits == 1 => self.bits(inner),
                    Type::Bool => format!("(bit<{to_bits}>){}", self.bits(inner)),
                    _ => {
                        let text = self.operand(inner);
                        cast(text, wire_bits(inner.ty), to_bits)
                    }
                }
            }
            ExpressionKind::Slice(inner, low) => {
                let high = low + wire_bits(expression.ty) - 1;
                format!("{}[{high}:{low}]", self.operand(inner))
            }
            ExpressionKind::Hash { seed, arguments } => {
                let ExpressionKind::Constant(Constant::Int(seed, _)) = seed.kind else {
                    self.environment.impossible(seed.span);
                    return literal(0, wire_bits(expression.ty));
                };
                let values = self.values(arguments);
                let width_bits = wire_bits(expression.ty);
                // Only the low 32 bits of a seed count, as in the interpreter.
                self.environment.hash(seed as u32, &values, width_bits, expression.span)
            }
            ExpressionKind::Checksum { arguments } => {
                let values = self.values(arguments);
                self.environment.checksum(&values, expression.span)
            }
            ExpressionKind::Constant(Constant::Group(_))
            | ExpressionKind::This
            | ExpressionKind::Event { .. }
            | ExpressionKind::Delay { .. }
            | ExpressionKind::Locate { .. }
            | ExpressionKind::LocateMany { .. }
            | ExpressionKind::Flood(_)
            | ExpressionKind::EmptyPayload => {
                self.environment.impossible(expression.span);
                literal(0, 1)
            }
        }
    }

    fn values(&mut self, arguments: &[Expression]) -> Vec<(String, u32)> {
        arguments.iter().map(|value| (self.bits(value), wire_bits(value.ty))).collect()
    }

    /// A built-in value at the width of the expression's type.
    fn built_in(&mut self, value: BuiltIn, expression: &Expression) -> String {
        let (text, width_bits) = self.environment.built_in(value, expression.span);
        match expression.ty {
            Type::Bool => text,
            ty => cast(text, width_bits, wire_bits(ty)),
        }
    }

    fn binary(
        &mut self,
        operator: BinaryOperator,
        left: &Expression,
        right: &Expression,
    ) -> String {
        if let (
            BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight,
            ExpressionKind::Constant(Constant::Int(by, _)),
        ) = (operator, &right.kind)
        {
            // Without its width, which P4 does not ask for.
            return match *by >= u128::from(wire_bits(left.ty)) {
                true => literal(0, wire_bits(left.ty)),
                false => format!("{} {} {by}", self.operand(left), symbol(operator)),
            };
        }
        let left = self.operand(left);
        format!("{left} {} {}", symbol(operator), self.operand(right))
    }
}

/// An operator of P4_16; on unsigned integers they mean what Lucid's do.
pub fn symbol(operator: BinaryOperator) -> &'static str {
    match operator {
        BinaryOperator::Add => "+",
        BinaryOperator::Subtract => "-",
        BinaryOperator::SaturatingAdd => "|+|",
        BinaryOperator::SaturatingSubtract => "|-|",
        BinaryOperator::BitAnd => "&",
        BinaryOperator::BitOr => "|",
        BinaryOperator::BitXor => "^",
        BinaryOperator::ShiftLeft => "<<",
        BinaryOperator::ShiftRight => ">>",
        BinaryOperator::Concatenate => "++",
        BinaryOperator::Equal => "==",
        BinaryOperator::NotEqual => "!=",
        BinaryOperator::Less => "<",
        BinaryOperator::Greater => ">",
        BinaryOperator::LessOrEqual => "<=",
        BinaryOperator::GreaterOrEqual => ">=",
        BinaryOperator::And => "&&",
        BinaryOperator::Or => "||",
    }
}
