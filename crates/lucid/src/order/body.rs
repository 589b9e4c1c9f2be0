// SPDX-License-Identifier: Apache-2.0
//! Walks statements and expressions in execution order, and finds the places of expressions that are
//! globals. Calls are in `calls`, loops in `loops`.

use super::body_check::BodyCheck;
use super::effect::Flow;
use super::place::{Base, Place, Step};
use crate::check::{Definition, Size, SizeTerm, Type, UserTypeBody};
use crate::syntax::ast::{
    Block, Branch, Expression, ExpressionKind, NodeId, PatternKind, Segment, Statement,
    StatementKind,
};
use crate::syntax::walk;
use source::{Diagnostic, Span};
use std::sync::Arc;

impl<'p> BodyCheck<'_, 'p> {
    /// The statements of a block.
    pub(crate) fn block(&mut self, block: &'p Block, flow: &mut Flow) {
        walk::deep(|| {
            for statement in &block.statements {
                self.statement(statement, flow);
            }
        });
    }

    fn statement(&mut self, statement: &'p Statement, flow: &mut Flow) {
        // Locals hold no globals; checking sees to that. The entries of a table are installed by the switch's
        // processor, so no stage is passed.
        self.expressions(walk::expressions(statement), flow);
        match &statement.kind {
            StatementKind::If { then, otherwise, .. } => {
                let mut other = flow.clone();
                self.block(then, flow);
                if let Some(otherwise) = otherwise {
                    self.block(otherwise, &mut other);
                }
                *flow = std::mem::take(flow).join(other);
            }
            StatementKind::Match { branches, .. } => self.branches(branches, flow),
            StatementKind::Return(_) => self.leave(flow),
            StatementKind::For { variable, body, .. } => {
                self.repeated(variable.id, flow, &mut |unit, flow| unit.block(body, flow))
            }
            StatementKind::Skip
            | StatementKind::Local { .. }
            | StatementKind::Assign { .. }
            | StatementKind::Call(_)
            | StatementKind::Print { .. }
            | StatementKind::Generate { .. }
            | StatementKind::TableInstall { .. } => {}
        }
    }

    /// The branches of a `match`. If none matches, nothing happens.
    fn branches(&mut self, branches: &'p [Branch], flow: &mut Flow) {
        let before = std::mem::take(flow);
        let mut after = Flow { passed: Vec::new(), stopped: true };
        let mut complete = false;
        for branch in branches {
            let mut own = before.clone();
            for pattern in &branch.patterns {
                if let PatternKind::Event { event, parameters } = &pattern.kind {
                    self.event_pattern(event, parameters);
                }
            }
            complete |= branch.patterns.iter().all(|pattern| pattern.kind == PatternKind::Wildcard);
            self.block(&branch.body, &mut own);
            after = after.join(own);
        }
        *flow = if complete { after } else { after.join(before) };
    }

    /// Expressions one after the other.
    pub(crate) fn expressions(
        &mut self,
        list: impl IntoIterator<Item = &'p Expression>,
        flow: &mut Flow,
    ) {
        for expression in list {
            self.expression(expression, flow);
        }
    }

    /// What an expression does, operands left to right.
    pub(crate) fn expression(&mut self, expression: &'p Expression, flow: &mut Flow) {
        walk::deep(|| self.expression_parts(expression, flow));
    }

    fn expression_parts(&mut self, expression: &'p Expression, flow: &mut Flow) {
        match &expression.kind {
            ExpressionKind::Call { function, arguments, unordered } => {
                self.expressions(arguments, flow);
                self.call(expression.span, function, arguments, *unordered, flow);
            }
            ExpressionKind::Comprehension { element, variable, .. } => {
                self.repeated(variable.id, flow, &mut |unit, flow| unit.expression(element, flow))
            }
            _ => self.expressions(walk::operands(expression), flow),
        }
    }

    /// Whether an expression is or holds persistent state.
    pub(crate) fn holds_globals(&self, expression: &Expression) -> bool {
        let program = self.order.program;
        program.types.get(&expression.id).is_some_and(|ty| program.is_global(ty))
    }

    /// The place of an expression that is a global or a part of one.
    pub(crate) fn place(&self, expression: &Expression) -> Option<Place> {
        let program = self.order.program;
        match &expression.kind {
            ExpressionKind::Name(path) => match program.definitions.get(&path.id)? {
                Definition::Local(id) => self.places.get(id).cloned(),
                Definition::Global(id) => {
                    let number = self.order.index.global_numbers.get(id)?;
                    Some(Place::whole(Base::Global(*number)))
                }
                _ => None,
            },
            ExpressionKind::Field { record, label } => {
                let place = self.place(record)?;
                let step = self.field(record, label)?;
                Some(place.part(step))
            }
            ExpressionKind::Index { vector, .. } => {
                let place = self.place(vector)?;
                let index = program.expression_sizes.get(&expression.id)?.first()?;
                let index = index.replace(|term| match term {
                    SizeTerm::Loop(id) => self.rounds.get(&id).cloned(),
                    _ => None,
                });
                Some(place.part(Step::Element(index)))
            }
            // Fields that hold globals must stay, or it would stand for two globals.
            ExpressionKind::With { record, fields } => {
                let kept = fields.iter().all(|(_, value)| !self.holds_globals(value));
                if kept { self.place(record) } else { None }
            }
            _ => None,
        }
    }

    /// The step from a record to a field.
    fn field(&self, record: &Expression, label: &Segment) -> Option<Step> {
        let program = self.order.program;
        let mut ty = program.types.get(&record.id)?;
        let mut declared = None;
        // A chain of user types cannot be longer than there are user types.
        for _ in 0..=program.user_types.len() {
            match ty {
                Type::User { definition, .. } => {
                    declared = self.order.index.field(*definition, &label.name).or(declared);
                    ty = match &program.user_types.get(definition)?.body {
                        UserTypeBody::Known(ty) => ty,
                        UserTypeBody::Aliased { .. } => return None,
                    };
                }
                Type::Record(fields) => {
                    let position = fields.iter().position(|(own, _)| *own == label.name)?;
                    return Some(Step::Field {
                        position: position as u32,
                        label: label.name.clone(),
                        declared: declared.unwrap_or(Span::NONE),
                    });
                }
                _ => return None,
            }
        }
        None
    }

    /// Reports that the check cannot determine which global an expression is.
    pub(crate) fn no_place(&mut self, expression: &Expression) {
        // The type checker has reported globals that are built in a body.
        if matches!(
            expression.kind,
            ExpressionKind::Record(_)
                | ExpressionKind::With { .. }
                | ExpressionKind::Vector(_)
                | ExpressionKind::Comprehension { .. }
        ) {
            return;
        }
        self.order.found.push(
            Diagnostic::error(
                super::codes::WHICH_GLOBAL,
                expression.span,
                "the compiler cannot determine which global this is",
            )
            .note("which stage an access needs must be known before the program runs")
            .help("hand over the global itself, by its name"),
        );
    }

    /// The bound of a loop, if it is known.
    pub(crate) fn bound(&self, variable: NodeId) -> Option<u128> {
        let bound = self.order.program.loop_bounds.get(&variable)?;
        let replaced = bound.replace(|term| match term {
            SizeTerm::Loop(id) => self.rounds.get(&id).cloned(),
            _ => None,
        });
        replaced.known()
    }

    /// The name of a loop's variable.
    pub(crate) fn loop_variable(&self, variable: NodeId) -> Size {
        Size::term(SizeTerm::Loop(variable))
    }

    /// The name of a function or event here.
    pub(crate) fn name_of(&self, id: NodeId) -> Arc<str> {
        self.order.index.name_from(id, &self.around)
    }
}
