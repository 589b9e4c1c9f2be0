// SPDX-License-Identifier: Apache-2.0
//! `Test`: a condition in a form that tells whether the outcome of another condition decides it, as `!a` is
//! decided by `a && b`. Only conditions without effects have one.

use crate::ast::{BinaryOperator, Expression, ExpressionKind, UnaryOperator};
use crate::check::locations::{Location, location};
use crate::typed::{Callee, Constant, TypedProgram};
use num_bigint::BigInt;
use std::rc::Rc;

/// An expression by the locations that it reads and its text, which is empty for a location.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Subject {
    text: String,
    reads: Vec<Location>,
}

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test {
    /// The subject has one of these values; a condition has the value `true`.
    OneOf(Subject, Vec<Constant>),
    /// The subject is a number from the first to the second, both included, where given.
    Within(Subject, Option<BigInt>, Option<BigInt>),
    Not(Rc<Test>),
    And(Rc<Test>, Rc<Test>),
    Or(Rc<Test>, Rc<Test>),
}

impl Test {
    /// The test of a condition.
    pub(super) fn of(program: &TypedProgram, condition: &Expression) -> Option<Rc<Test>> {
        let test = match &condition.kind {
            ExpressionKind::Unary(UnaryOperator::Not, inner) => {
                Test::Not(Test::of(program, inner)?)
            }
            ExpressionKind::Binary(BinaryOperator::And, left, right) => {
                Test::And(Test::of(program, left)?, Test::of(program, right)?)
            }
            ExpressionKind::Binary(BinaryOperator::Or, left, right) => {
                Test::Or(Test::of(program, left)?, Test::of(program, right)?)
            }
            ExpressionKind::Binary(operator, left, right) => {
                let values = (program.constants.get(&left.id), program.constants.get(&right.id));
                let compared = match values {
                    (_, Some(value)) => Test::compared(program, left, *operator, value),
                    (Some(value), _) => Test::compared(program, right, mirrored(*operator), value),
                    _ => None,
                };
                match compared {
                    Some(test) => return Some(test),
                    None => Test::holds(Subject::of(program, condition)?),
                }
            }
            _ => Test::holds(Subject::of(program, condition)?),
        };
        Some(Rc::new(test))
    }

    fn holds(subject: Subject) -> Test {
        Test::OneOf(subject, vec![Constant::Bool(true)])
    }

    /// The test of a comparison with a constant on the right.
    fn compared(
        program: &TypedProgram,
        subject: &Expression,
        operator: BinaryOperator,
        value: &Constant,
    ) -> Option<Rc<Test>> {
        let subject = Subject::of(program, subject)?;
        let test = match (operator, value) {
            (BinaryOperator::Equal, Constant::Bool(true))
            | (BinaryOperator::NotEqual, Constant::Bool(false)) => Test::holds(subject),
            (BinaryOperator::Equal, Constant::Bool(false))
            | (BinaryOperator::NotEqual, Constant::Bool(true)) => {
                Test::Not(Rc::new(Test::holds(subject)))
            }
            (BinaryOperator::Equal, value) => Test::OneOf(subject, vec![value.clone()]),
            (BinaryOperator::NotEqual, value) => {
                Test::Not(Rc::new(Test::OneOf(subject, vec![value.clone()])))
            }
            (BinaryOperator::Less, Constant::Integer(value)) => {
                Test::Within(subject, None, Some(value - 1))
            }
            (BinaryOperator::LessEqual, Constant::Integer(value)) => {
                Test::Within(subject, None, Some(value.clone()))
            }
            (BinaryOperator::Greater, Constant::Integer(value)) => {
                Test::Within(subject, Some(value + 1), None)
            }
            (BinaryOperator::GreaterEqual, Constant::Integer(value)) => {
                Test::Within(subject, Some(value.clone()), None)
            }
            _ => return None,
        };
        Some(Rc::new(test))
    }

    /// The test whether a location has a value.
    pub(super) fn is(place: Location, value: Constant) -> (Rc<Test>, bool) {
        let subject = Subject { text: String::new(), reads: vec![place] };
        match value {
            Constant::Bool(value) => (Rc::new(Test::holds(subject)), value),
            value => (Rc::new(Test::OneOf(subject, vec![value])), true),
        }
    }

    /// The location that is tested, when the test is whether a boolean location holds.
    fn tested_flag(&self) -> Option<&Location> {
        match self {
            Test::OneOf(Subject { text, reads }, values)
                if text.is_empty() && **values == [Constant::Bool(true)] =>
            {
                reads.first()
            }
            _ => None,
        }
    }

    /// The same test with flags replaced by the conditions that they hold the results of.
    pub(super) fn resolved(
        test: &Rc<Test>,
        condition_of: &impl Fn(&Location) -> Option<Rc<Test>>,
    ) -> Rc<Test> {
        let inside = |inner: &Rc<Test>| Test::resolved(inner, condition_of);
        match &**test {
            Test::Not(inner) => Rc::new(Test::Not(inside(inner))),
            Test::And(left, right) => Rc::new(Test::And(inside(left), inside(right))),
            Test::Or(left, right) => Rc::new(Test::Or(inside(left), inside(right))),
            flag => flag.tested_flag().and_then(condition_of).unwrap_or_else(|| test.clone()),
        }
    }

    /// The test whether a value is one of these.
    pub(super) fn one_of(
        program: &TypedProgram,
        subject: &Expression,
        values: Vec<Constant>,
    ) -> Option<Rc<Test>> {
        Some(Rc::new(Test::OneOf(Subject::of(program, subject)?, values)))
    }

    /// Whether it reads a location or a part of it.
    pub(super) fn reads(&self, place: &Location) -> bool {
        match self {
            Test::Within(subject, ..) | Test::OneOf(subject, _) => {
                subject.reads.iter().any(|read| read.overlaps(place))
            }
            Test::Not(inner) => inner.reads(place),
            Test::And(left, right) | Test::Or(left, right) => {
                left.reads(place) || right.reads(place)
            }
        }
    }

    /// The tests whose outcomes follow from that of this one, itself among them.
    pub(super) fn literals(test: &Rc<Test>, outcome: bool) -> Vec<(Rc<Test>, bool)> {
        let mut literals = vec![(test.clone(), outcome)];
        match (&**test, outcome) {
            (Test::Not(inner), _) => literals.extend(Test::literals(inner, !outcome)),
            (Test::And(left, right), true) | (Test::Or(left, right), false) => {
                literals.extend(Test::literals(left, outcome));
                literals.extend(Test::literals(right, outcome));
            }
            _ => {}
        }
        literals
    }

    /// The outcome that follows from those of other tests.
    pub(super) fn outcome(&self, known: &[(Rc<Test>, bool)]) -> Option<bool> {
        if let Some((_, outcome)) = known.iter().find(|(test, _)| **test == *self) {
            return Some(*outcome);
        }
        match self {
            Test::Not(inner) => inner.outcome(known).map(|outcome| !outcome),
            Test::And(left, right) => match (left.outcome(known), right.outcome(known)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Test::Or(left, right) => match (left.outcome(known), right.outcome(known)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            Test::OneOf(subject, values) => known.iter().find_map(|(test, outcome)| {
                let is_among = |value: &Constant, list: &[Constant]| list.contains(value);
                match (&**test, outcome) {
                    (Test::OneOf(other, _) | Test::Within(other, ..), _) if other != subject => {
                        None
                    }
                    (Test::OneOf(_, known), true) => all_or_none(known, |it| is_among(it, values)),
                    (Test::OneOf(_, known), false) => {
                        values.iter().all(|value| is_among(value, known)).then_some(false)
                    }
                    (Test::Within(_, low, high), outcome) => {
                        let meets =
                            |value: &Constant| is_within(value, low, high) == Some(*outcome);
                        (!values.iter().any(meets)).then_some(false)
                    }
                    _ => None,
                }
            }),
            Test::Within(subject, low, high) => {
                known.iter().find_map(|(test, outcome)| match (&**test, outcome) {
                    (Test::OneOf(other, known), true) if other == subject => {
                        all_or_none(known, |value| is_within(value, low, high) == Some(true))
                    }
                    (Test::Within(other, from, to), true) if other == subject => {
                        let is_above = |bound: &Option<BigInt>, limit: &Option<BigInt>| {
                            bound.as_ref().zip(limit.as_ref()).is_some_and(|(a, b)| a > b)
                        };
                        let fits_low = low.is_none()
                            || from.as_ref().is_some_and(|from| Some(from) >= low.as_ref());
                        let fits_high = match (to, high) {
                            (_, None) => true,
                            (Some(to), Some(high)) => to <= high,
                            (None, Some(_)) => false,
                        };
                        match fits_low && fits_high {
                            true => Some(true),
                            false => (is_above(from, high) || is_above(low, to)).then_some(false),
                        }
                    }
                    _ => None,
                })
            }
        }
    }
}

/// The same comparison with its sides exchanged.
fn mirrored(operator: BinaryOperator) -> BinaryOperator {
    match operator {
        BinaryOperator::Less => BinaryOperator::Greater,
        BinaryOperator::LessEqual => BinaryOperator::GreaterEqual,
        BinaryOperator::Greater => BinaryOperator::Less,
        BinaryOperator::GreaterEqual => BinaryOperator::LessEqual,
        other => other,
    }
}

/// Whether all values satisfy the predicate, or none; `None` when some do.
fn all_or_none(values: &[Constant], test: impl Fn(&Constant) -> bool) -> Option<bool> {
    match values.iter().filter(|value| test(value)).count() {
        0 => Some(false),
        count => (count == values.len()).then_some(true),
    }
}

fn is_within(value: &Constant, low: &Option<BigInt>, high: &Option<BigInt>) -> Option<bool> {
    let Constant::Integer(value) = value else { return None };
    Some(
        low.as_ref().is_none_or(|low| low <= value)
            && high.as_ref().is_none_or(|high| value <= high),
    )
}

impl Subject {
    fn of(program: &TypedProgram, expression: &Expression) -> Option<Subject> {
        let mut reads = Vec::new();
        collect_reads(program, expression, &mut reads)?;
        let text = match expression.kind {
            ExpressionKind::Path(_) | ExpressionKind::Member(..) if reads.len() == 1 => {
                String::new()
            }
            _ => crate::printer::print_expression(expression),
        };
        Some(Subject { text, reads })
    }
}

/// The locations that an expression reads; `None` if its value depends on something else.
fn collect_reads(
    program: &TypedProgram,
    expression: &Expression,
    reads: &mut Vec<Location>,
) -> Option<()> {
    if program.constants.contains_key(&expression.id) {
        return Some(());
    }
    match &expression.kind {
        ExpressionKind::Path(_) | ExpressionKind::Member(..) => {
            let mut base = expression;
            while let ExpressionKind::Member(inner, name) = &base.kind {
                if matches!(&*name.text, "next" | "last" | "lastIndex") {
                    return None;
                }
                base = inner;
            }
            reads.push(location(program, expression)?);
        }
        ExpressionKind::Index(base, index) => {
            reads.push(location(program, expression)?);
            collect_reads(program, base, reads)?;
            collect_reads(program, index, reads)?;
        }
        ExpressionKind::Slice { base, .. } => collect_reads(program, base, reads)?,
        ExpressionKind::Unary(_, value) | ExpressionKind::Cast(_, value) => {
            collect_reads(program, value, reads)?;
        }
        ExpressionKind::Binary(_, left, right) => {
            collect_reads(program, left, reads)?;
            collect_reads(program, right, reads)?;
        }
        ExpressionKind::Call(call) => {
            let info = program.calls.get(&expression.id)?;
            match (&call.callee.kind, info.callee) {
                (ExpressionKind::Member(base, _), Callee::IsValid) => {
                    collect_reads(program, base, reads)?;
                }
                _ => return None,
            }
        }
        _ => return None,
    }
    Some(())
}
