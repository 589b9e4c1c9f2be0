// SPDX-License-Identifier: Apache-2.0
//! Substitutes locals in core expressions, and evaluates at compile time the statements of functions whose
//! arguments are constants. `core::fold` folds the operators.

use super::builder::{Environment, Purpose};
use super::{Elaborated, Elaborator, codes};
use crate::core::walk::operands;
use crate::core::{Expression, ExpressionKind, Statement, StatementKind, Type};
use crate::syntax::ast::BinaryOperator;
use source::{Diagnostic, Span};

/// Limit of nodes that substitution may make for one value.
const NODE_LIMIT: usize = 2_000;

/// The expression with locals replaced by their values, and folded; `None` if that is too
/// large.
pub(super) fn substitute(
    expression: &Expression,
    environment: &Environment,
    budget: &mut usize,
) -> Option<Expression> {
    stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
        *budget = budget.checked_sub(1)?;
        let Expression { kind, ty, span } = expression;
        let (ty, span) = (*ty, *span);
        let mut one = |operand: &Expression| substitute(operand, environment, budget).map(Box::new);
        let kind = match kind {
            ExpressionKind::Local(local) => {
                return match environment.get(local) {
                    Some(value) => {
                        let size = nodes(value);
                        *budget = budget.checked_sub(size)?;
                        Some(value.clone())
                    }
                    None => Some(expression.clone()),
                };
            }
            ExpressionKind::Constant(_)
            | ExpressionKind::Extern(_)
            | ExpressionKind::SelfSwitch
            | ExpressionKind::IngressPort
            | ExpressionKind::RecirculationPort
            | ExpressionKind::Time
            | ExpressionKind::DequeueDepth
            | ExpressionKind::This
            | ExpressionKind::EmptyPayload => return Some(expression.clone()),
            ExpressionKind::Unary(operator, operand) => {
                return Some(Expression::unary(*operator, *one(operand)?, span));
            }
            ExpressionKind::Binary(operator, left, right) => {
                return Some(Expression::binary(*operator, *one(left)?, *one(right)?, ty, span));
            }
            ExpressionKind::Cast(operand) => match ty {
                Type::Int(width) => return Some(Expression::cast(*one(operand)?, width, span)),
                _ => ExpressionKind::Cast(one(operand)?),
            },
            ExpressionKind::Slice(operand, low) => match ty {
                Type::Int(width) => {
                    return Some(Expression::slice(*one(operand)?, *low, width, span));
                }
                _ => ExpressionKind::Slice(one(operand)?, *low),
            },
            ExpressionKind::Hash { seed, arguments } => {
                let seed = one(seed)?;
                ExpressionKind::Hash { seed, arguments: all(arguments, environment, budget)? }
            }
            ExpressionKind::Checksum { arguments } => {
                ExpressionKind::Checksum { arguments: all(arguments, environment, budget)? }
            }
            ExpressionKind::Event { event, arguments } => ExpressionKind::Event {
                event: *event,
                arguments: all(arguments, environment, budget)?,
            },
            ExpressionKind::Delay { event, nanoseconds } => {
                ExpressionKind::Delay { event: one(event)?, nanoseconds: one(nanoseconds)? }
            }
            ExpressionKind::Locate { event, switch } => {
                ExpressionKind::Locate { event: one(event)?, switch: one(switch)? }
            }
            ExpressionKind::LocateMany { event, switches } => {
                ExpressionKind::LocateMany { event: one(event)?, switches: one(switches)? }
            }
            ExpressionKind::Flood(port) => ExpressionKind::Flood(one(port)?),
        };
        Some(Expression { kind, ty, span })
    })
}

fn all(
    expressions: &[Expression],
    environment: &Environment,
    budget: &mut usize,
) -> Option<Vec<Expression>> {
    expressions.iter().map(|one| substitute(one, environment, budget)).collect()
}

/// A boolean that holds if all of these (or, with `Or`, any of them) do, as a balanced tree.
pub(super) fn joined(
    operator: BinaryOperator,
    mut parts: Vec<Expression>,
    empty: bool,
    span: Span,
) -> Expression {
    while parts.len() > 1 {
        let mut pairs = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(left) = rest.next() {
            pairs.push(match rest.next() {
                Some(right) => Expression::binary(operator, left, right, Type::Bool, span),
                None => left,
            });
        }
        parts = pairs;
    }
    parts.pop().unwrap_or_else(|| Expression::bool(empty, span))
}

/// Whether operators are nested deeper than this.
pub(super) fn is_deeper(expression: &Expression, depth: u32) -> bool {
    match depth.checked_sub(1) {
        None => true,
        Some(depth) => operands(expression).into_iter().any(|part| is_deeper(part, depth)),
    }
}

fn nodes(expression: &Expression) -> usize {
    stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
        1 + operands(expression).into_iter().map(nodes).sum::<usize>()
    })
}

impl Elaborator<'_> {
    /// Evaluates statements over locals whose values are expressions. Conditions must be constant.
    pub(super) fn run(
        &mut self,
        statements: &[Statement],
        environment: &mut Environment,
        purpose: Purpose,
    ) -> Elaborated<()> {
        for statement in statements {
            stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
                self.run_one(statement, environment, purpose)
            })?;
        }
        Ok(())
    }

    fn run_one(
        &mut self,
        statement: &Statement,
        environment: &mut Environment,
        purpose: Purpose,
    ) -> Elaborated<()> {
        match &statement.kind {
            StatementKind::Assign { local, value, .. } => {
                let value = self.replaced(value, environment)?;
                environment.insert(*local, value);
                Ok(())
            }
            StatementKind::If { condition, then, otherwise } => {
                let condition = self.replaced(condition, environment)?;
                match condition.as_bool() {
                    Some(true) => self.run(then, environment, purpose),
                    Some(false) => self.run(otherwise, environment, purpose),
                    None => Err(self.not_decided(condition.span, purpose, &statement.inlined_at)),
                }
            }
            StatementKind::Match { subjects, branches } => {
                let mut values = Vec::with_capacity(subjects.len());
                for subject in subjects {
                    let subject = self.replaced(subject, environment)?;
                    match subject.as_int() {
                        Some(value) => values.push(value),
                        None => {
                            return Err(self.not_decided(
                                subject.span,
                                purpose,
                                &statement.inlined_at,
                            ));
                        }
                    }
                }
                let chosen = branches.iter().find(|branch| {
                    let mut pairs = branch.patterns.iter().zip(&values);
                    pairs.all(|(pattern, value)| value & pattern.mask == pattern.value)
                });
                match chosen {
                    Some(branch) => self.run(&branch.statements, environment, purpose),
                    None => Ok(()),
                }
            }
            _ => Err(self.effect(statement.span, purpose, &statement.inlined_at)),
        }
    }

    /// An expression with locals replaced.
    pub(super) fn replaced(
        &mut self,
        expression: &Expression,
        environment: &Environment,
    ) -> Elaborated<Expression> {
        match substitute(expression, environment, &mut NODE_LIMIT.clone()) {
            Some(value) => Ok(value),
            None => {
                let message = "this expression becomes too large when it is evaluated";
                let diagnostic = Diagnostic::error(codes::TOO_DEEP, expression.span, message);
                Err(self.report(
                    diagnostic.note(format!(
                        "an expression may have {NODE_LIMIT} operators and operands"
                    )),
                ))
            }
        }
    }

    fn not_decided(&mut self, span: Span, purpose: Purpose, calls: &[Span]) -> super::Reported {
        let Purpose::Constant(what) = purpose else {
            return self.not_only_a_value(span, calls);
        };
        let message = format!("{what} depends on values that are not known at compile time");
        self.report_through(calls, Diagnostic::error(codes::NOT_KNOWN, span, message))
    }

    /// Something that happens in the run where only a value may be.
    pub(super) fn effect(
        &mut self,
        span: Span,
        purpose: Purpose,
        calls: &[Span],
    ) -> super::Reported {
        let what = match purpose {
            Purpose::Constant(what) => what,
            Purpose::Action => "an action",
            Purpose::Parser => "a parser",
            Purpose::Handler => "this place",
        };
        let message = format!("{what} cannot do this");
        let diagnostic = Diagnostic::error(codes::EFFECT, span, message).note(
            "state, random numbers, events and output belong to handlers and their functions",
        );
        self.report_through(calls, diagnostic)
    }
}
