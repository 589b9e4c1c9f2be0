// SPDX-License-Identifier: Apache-2.0
//! Expressions of integers as operations of one ALU each, with temporaries between them (Lucid §6.1).

use super::super::codes;
use super::super::program::{AluOperator, Given, Hash, Operand, Operation};
use super::super::tree::{Branch, Node};
use super::builder::{Translator, width_of};
use lucid::core::arithmetic::mask;
use lucid::core::{Constant, Expression, ExpressionKind, Type};
use lucid::syntax::ast::{BinaryOperator, UnaryOperator};
use pisa::{Condition, VariableId};
use std::collections::{BTreeMap, BTreeSet};

/// Widest number that an ALU adds, in bits.
pub(in super::super) const ALU_BITS: u32 = 32;

/// Widths at which an ALU saturates upwards: those of containers.
const SATURATING_BITS: [u32; 3] = [8, 16, 32];

impl Translator<'_> {
    /// The expression in a variable, or a constant. Booleans are one bit.
    pub(super) fn operand(&mut self, expression: &Expression) -> Operand {
        let width = width_of(expression.ty).unwrap_or(1);
        match &expression.kind {
            ExpressionKind::Constant(Constant::Int(value, _)) => Operand::Constant(*value),
            ExpressionKind::Constant(Constant::Bool(value)) => {
                Operand::Constant(u128::from(*value))
            }
            ExpressionKind::Local(local) => Operand::Variable(self.local(*local)),
            ExpressionKind::SelfSwitch => self.given("self", Given::SelfSwitch, width),
            ExpressionKind::IngressPort => self.given("ingress_port", Given::IngressPort, width),
            ExpressionKind::RecirculationPort => {
                self.given("recirculation_port", Given::RecirculationPort, width)
            }
            ExpressionKind::Time => self.given("time", Given::Time, width),
            ExpressionKind::DequeueDepth => self.given("dequeue_depth", Given::DequeueDepth, width),
            ExpressionKind::Extern(id) => {
                let name = self.program.externs[id.0 as usize].name.clone();
                self.given(&name, Given::Extern(*id), width)
            }
            // Narrower than asked: its readers extend it with zeros.
            ExpressionKind::Cast(inner)
                if width_of(inner.ty).is_some_and(|inner| inner <= width)
                    && inner.ty != Type::Bool =>
            {
                self.operand(inner)
            }
            _ => {
                let to = self.temporary(&self.temporary_name(expression), width);
                self.assign(to, expression);
                Operand::Variable(to)
            }
        }
    }

    fn temporary_name(&self, expression: &Expression) -> String {
        match &expression.kind {
            ExpressionKind::Hash { .. } => "hash".to_owned(),
            ExpressionKind::Checksum { .. } => "checksum".to_owned(),
            _ => "t".to_owned(),
        }
    }

    /// Statements after which `to` has the value.
    pub(super) fn assign(&mut self, to: VariableId, expression: &Expression) {
        stacker::maybe_grow(128 * 1024, 1024 * 1024, || self.assign_deep(to, expression));
    }

    fn assign_deep(&mut self, to: VariableId, expression: &Expression) {
        if expression.ty == Type::Bool {
            return self.assign_condition(to, expression);
        }
        let width = width_of(expression.ty).unwrap_or(1);
        match &expression.kind {
            ExpressionKind::Unary(operator, inner) => {
                let value = self.operand(inner);
                match operator {
                    UnaryOperator::Negate => {
                        self.narrow_enough(width, expression);
                        self.compute(to, AluOperator::Subtract, Operand::Constant(0), value);
                    }
                    UnaryOperator::BitNot | UnaryOperator::Not => {
                        let ones = Operand::Constant(mask(width));
                        self.compute(to, AluOperator::Xor, value, ones);
                    }
                }
            }
            ExpressionKind::Binary(operator, left, right) => {
                self.binary(to, *operator, left, right, expression);
            }
            ExpressionKind::Cast(inner) if inner.ty == Type::Bool => {
                self.assign_condition(to, inner);
            }
            ExpressionKind::Cast(inner) => match self.operand(inner) {
                Operand::Variable(from) if width < self.width(Operand::Variable(from), width) => {
                    self.emit(Operation::Slice { to, from, low: 0, width_bits: width });
                }
                from => self.emit(Operation::Move { to, from }),
            },
            ExpressionKind::Slice(inner, low) => match self.operand(inner) {
                Operand::Variable(from) => {
                    self.emit(Operation::Slice { to, from, low: *low, width_bits: width });
                }
                Operand::Constant(value) => {
                    let from = Operand::Constant(value >> low & mask(width));
                    self.emit(Operation::Move { to, from });
                }
            },
            ExpressionKind::Hash { seed, arguments } => {
                let ExpressionKind::Constant(Constant::Int(seed, _)) = seed.kind else {
                    return self.error(
                        codes::SEED,
                        expression.span,
                        "the seed of this hash is not a constant",
                    );
                };
                let arguments = self.operands(arguments);
                let hash = Hash { seed: seed as u32, width_bits: width, arguments };
                self.emit(Operation::Hash { to, hash });
            }
            ExpressionKind::Checksum { arguments } => {
                let arguments = self.operands(arguments);
                self.emit(Operation::Checksum { to, arguments });
            }
            ExpressionKind::Constant(_)
            | ExpressionKind::Local(_)
            | ExpressionKind::Extern(_)
            | ExpressionKind::SelfSwitch
            | ExpressionKind::IngressPort
            | ExpressionKind::RecirculationPort
            | ExpressionKind::Time
            | ExpressionKind::DequeueDepth => {
                let from = self.operand(expression);
                self.emit(Operation::Move { to, from });
            }
            _ => self.error(codes::STATEMENT, expression.span, "this value has no place here"),
        }
    }

    fn operands(&mut self, expressions: &[Expression]) -> Vec<(Operand, u32)> {
        let of = |expression: &Expression| {
            (self.operand(expression), width_of(expression.ty).unwrap_or(1))
        };
        expressions.iter().map(of).collect()
    }

    pub(super) fn compute(
        &mut self,
        to: VariableId,
        operator: AluOperator,
        left: Operand,
        right: Operand,
    ) {
        self.emit(Operation::Compute { to, operator, left, right });
    }

    fn narrow_enough(&mut self, width: u32, expression: &Expression) {
        if width > ALU_BITS {
            let message = format!("no ALU adds or subtracts numbers of {width} bits");
            self.error(codes::WIDE_ARITHMETIC, expression.span, message);
        }
    }

    fn binary(
        &mut self,
        to: VariableId,
        operator: BinaryOperator,
        left: &Expression,
        right: &Expression,
        whole: &Expression,
    ) {
        let width = width_of(whole.ty).unwrap_or(1);
        use BinaryOperator as B;
        let simple = match operator {
            B::Add => AluOperator::Add,
            B::Subtract => AluOperator::Subtract,
            B::SaturatingSubtract => AluOperator::SaturatingSubtract,
            B::SaturatingAdd => return self.saturating_add(to, left, right, whole),
            B::BitAnd => AluOperator::And,
            B::BitOr => AluOperator::Or,
            B::BitXor => AluOperator::Xor,
            B::ShiftLeft | B::ShiftRight => return self.shift(to, operator, left, right, whole),
            B::Concatenate => {
                let sides =
                    [left, right].map(|side| (self.operand(side), width_of(side.ty).unwrap_or(1)));
                let [left, right] = sides;
                return self.emit(Operation::Concatenate { to, left, right });
            }
            B::Equal
            | B::NotEqual
            | B::Less
            | B::Greater
            | B::LessOrEqual
            | B::GreaterOrEqual
            | B::And
            | B::Or => return self.assign_condition(to, whole),
        };
        if matches!(operator, B::Add | B::Subtract | B::SaturatingSubtract) {
            self.narrow_enough(width, whole);
        }
        let left = self.operand(left);
        let right = self.operand(right);
        self.compute(to, simple, left, right);
    }

    fn shift(
        &mut self,
        to: VariableId,
        operator: BinaryOperator,
        left: &Expression,
        right: &Expression,
        whole: &Expression,
    ) {
        let width = width_of(whole.ty).unwrap_or(1);
        let left = self.operand(left);
        let by = match self.operand(right) {
            Operand::Constant(by) => {
                if operator == BinaryOperator::ShiftLeft && by < u128::from(width) {
                    self.narrow_enough(width, whole);
                }
                return self.shift_by(to, operator, left, by, width);
            }
            Operand::Variable(by) => by,
        };
        if width > ALU_BITS {
            let message = format!("no ALU shifts numbers of {width} bits by a variable");
            return self.error(codes::SHIFT_BY_VARIABLE, whole.span, message);
        }
        // The number of bits is part of an instruction: a table has one for each.
        let by = self.subject(by, &BTreeSet::from([to]));
        let by_bits = self.graph.program.variable(by).width_bits;
        let distances = match by_bits {
            0..=7 => u128::from(width).min(1 << by_bits),
            _ => u128::from(width),
        };
        let mut rules = Vec::new();
        let mut arms = Vec::new();
        for distance in 0..distances {
            let condition = Condition::Ternary { value: distance, mask: mask(by_bits) };
            rules.push((BTreeMap::from([(by, condition)]), arms.len()));
            arms.push(self.arm(|this| this.shift_by(to, operator, left, distance, width)));
        }
        rules.push((BTreeMap::new(), arms.len()));
        arms.push(self.arm(|this| {
            this.emit(Operation::Move { to, from: Operand::Constant(0) });
        }));
        self.push(Node::Branch(Branch { rules, arms, span: whole.span }));
    }

    /// By a known number of bits.
    fn shift_by(
        &mut self,
        to: VariableId,
        operator: BinaryOperator,
        left: Operand,
        by: u128,
        width: u32,
    ) {
        if by >= u128::from(width) {
            return self.emit(Operation::Move { to, from: Operand::Constant(0) });
        }
        match (operator, left) {
            // Moves of bits between containers, whatever the width.
            (BinaryOperator::ShiftRight, Operand::Variable(from)) => {
                let low = by as u32;
                self.emit(Operation::Slice { to, from, low, width_bits: width - low });
            }
            (BinaryOperator::ShiftRight, _) => {
                self.compute(to, AluOperator::ShiftRight, left, Operand::Constant(by));
            }
            _ => self.compute(to, AluOperator::ShiftLeft, left, Operand::Constant(by)),
        }
    }

    /// At the width of a container the ALU saturates; else the sum with its carry says whether to.
    fn saturating_add(
        &mut self,
        to: VariableId,
        left: &Expression,
        right: &Expression,
        whole: &Expression,
    ) {
        let width = width_of(whole.ty).unwrap_or(1);
        self.narrow_enough(width, whole);
        let left = self.operand(left);
        let right = self.operand(right);
        if SATURATING_BITS.contains(&width) {
            return self.compute(to, AluOperator::SaturatingAdd, left, right);
        }
        let sum = self.temporary("sum", width + 1);
        self.compute(sum, AluOperator::Add, left, right);
        let carry = 1 << width;
        let carries = Condition::Ternary { value: carry, mask: carry };
        let all = self.arm(|translator| {
            let from = Operand::Constant(mask(width));
            translator.emit(Operation::Move { to, from });
        });
        let some = self.arm(|translator| {
            translator.emit(Operation::Slice { to, from: sum, low: 0, width_bits: width });
        });
        self.push(Node::Branch(Branch {
            rules: vec![(BTreeMap::from([(sum, carries)]), 0), (BTreeMap::new(), 1)],
            arms: vec![all, some],
            span: whole.span,
        }));
    }
}
