// SPDX-License-Identifier: Apache-2.0
//! Loops in the flow analysis: a body begins with what holds before the loop, less what the loop may change.

use super::Flow;
use super::facts::{Decision, FlowFacts, join};
use crate::ast::{DeclarationKind, Expression, ExpressionKind, Statement, StatementKind};
use crate::check::locations::{Location, location};
use crate::typed::{Constant, TypeKind};
use crate::visit::{Visit, walk_expression, walk_statement};
use source::Span;

/// What is known at the `break` and `continue` statements of a loop.
#[derive(Default)]
pub(super) struct Loop {
    pub(super) breaks: Vec<FlowFacts>,
    pub(super) continues: Vec<FlowFacts>,
}

impl<'a> Flow<'a> {
    /// The rounds of a loop behind its condition, to what is known behind the loop.
    pub(super) fn rounds(
        &mut self,
        body: &'a Statement,
        update: &'a [Statement],
        span: Span,
        skipped: Option<FlowFacts>,
        state: &mut Option<FlowFacts>,
    ) {
        self.loops.push(Loop::default());
        self.statement(body, state);
        let ended = self.loops.pop().unwrap_or_default();
        let continues = ended.continues.into_iter().map(|known| (Some(known), None));
        *state = join(continues.chain([(state.take(), None)]));
        if state.is_some() {
            self.statements(update, state);
        }
        let skip = Decision { span, text: "this loop has no round".into(), test: None };
        let breaks = ended.breaks.into_iter().map(|known| (Some(known), None));
        *state = join(breaks.chain([(state.take(), None), (skipped, Some(skip))]));
    }

    /// The outcome of a loop's condition before its first round, where both sides are known.
    pub(super) fn first_outcome(
        &self,
        init: &'a [Statement],
        condition: &'a Expression,
    ) -> Option<bool> {
        use crate::ast::BinaryOperator as Operator;
        let ExpressionKind::Binary(operator, left, right) = &condition.kind else { return None };
        let value = |expression: &Expression| -> Option<Constant> {
            if let Some(value) = self.program.constants.get(&expression.id) {
                return Some(value.clone());
            }
            let place = location(self.program, expression).filter(|it| it.path.is_empty())?;
            init.iter().find_map(|statement| match &statement.kind {
                StatementKind::Declaration(declaration) if declaration.id == place.root => {
                    match &declaration.kind {
                        DeclarationKind::Variable { initializer: Some(value), .. } => {
                            self.program.constants.get(&value.id).cloned()
                        }
                        _ => None,
                    }
                }
                StatementKind::Assign { target, operator: None, value }
                    if location(self.program, target).as_ref() == Some(&place) =>
                {
                    self.program.constants.get(&value.id).cloned()
                }
                _ => None,
            })
        };
        let (Constant::Integer(left), Constant::Integer(right)) = (value(left)?, value(right)?)
        else {
            return None;
        };
        Some(match operator {
            Operator::Less => left < right,
            Operator::LessEqual => left <= right,
            Operator::Greater => left > right,
            Operator::GreaterEqual => left >= right,
            Operator::Equal => left == right,
            Operator::NotEqual => left != right,
            _ => return None,
        })
    }

    /// Whether a loop over the collection has a round for certain.
    pub(super) fn has_elements(&self, collection: &'a Expression) -> bool {
        if let ExpressionKind::Range(low, high) = &collection.kind {
            return match (self.program.constants.get(&low.id), self.program.constants.get(&high.id))
            {
                (Some(Constant::Integer(low)), Some(Constant::Integer(high))) => low <= high,
                _ => false,
            };
        }
        match self.program.expression_types.get(&collection.id).map(|ty| &**ty) {
            Some(TypeKind::Stack(_, size)) => *size > 0,
            _ => true,
        }
    }

    /// What the statements of a loop change may be changed when its body begins again.
    pub(super) fn loosen(
        &mut self,
        statements: impl Iterator<Item = &'a Statement>,
        state: &mut Option<FlowFacts>,
    ) {
        let Some(known) = state else { return };
        let outer = (self.quiet, self.is_trial);
        (self.quiet, self.is_trial) = (true, true);
        let mut writes = Writes { flow: self, state: Some(known.clone()), changed: Vec::new() };
        statements.for_each(|statement| writes.statement(statement));
        let (after, changed) = (writes.state.take(), std::mem::take(&mut writes.changed));
        (self.quiet, self.is_trial) = outer;
        known.loosen(after.unwrap_or_default(), &changed);
    }
}

/// Applies all assignments, calls and declarations of a statement in the order of the text, as if nothing
/// returned and every branch was taken.
struct Writes<'f, 'a> {
    flow: &'f mut Flow<'a>,
    state: Option<FlowFacts>,
    changed: Vec<Location>,
}

impl<'a> Visit<'a> for Writes<'_, 'a> {
    fn statement(&mut self, statement: &'a Statement) {
        match &statement.kind {
            StatementKind::Assign { target, .. } => {
                self.changed.extend(location(self.flow.program, target));
                self.flow.statement_inner(statement, &mut self.state);
                return;
            }
            StatementKind::Call(_) | StatementKind::Declaration(_) => {
                self.flow.statement_inner(statement, &mut self.state);
            }
            StatementKind::If { condition, .. } => self.flow.read(condition, &mut self.state),
            _ => {}
        }
        walk_statement(self, statement);
    }

    fn expression(&mut self, expression: &'a Expression) {
        // Arguments and objects of calls may be changed by them.
        if let ExpressionKind::Call(call) = &expression.kind {
            let objects = match &call.callee.kind {
                ExpressionKind::Member(base, _) => Some(&**base),
                _ => None,
            };
            let arguments = call.arguments.iter().map(|argument| &argument.value);
            let places = objects.into_iter().chain(arguments);
            self.changed.extend(places.filter_map(|it| location(self.flow.program, it)));
        }
        walk_expression(self, expression);
    }
}
