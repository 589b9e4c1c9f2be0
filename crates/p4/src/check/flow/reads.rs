// SPDX-License-Identifier: Apache-2.0
//! Reads and calls in the flow analysis: the locations that an expression reads, those that a
//! call writes, and whether a location that is read can have a value.

use super::facts::{Decision, FlowFacts, Unset};
use super::{Flow, tables};
use crate::ast::{Argument, BinaryOperator, Call, Direction, Expression, ExpressionKind, NodeId};
use crate::check::locations::{Location, location};
use crate::codes::typing as codes;
use crate::typed::{Callee, Definition, TypeKind, TypedProgram};
use source::Diagnostic;

impl<'a> Flow<'a> {
    /// Assumes that a header is valid in code that depends on its `isValid()`.
    pub(super) fn assume(&mut self, condition: &'a Expression, state: &mut Option<FlowFacts>) {
        match &condition.kind {
            ExpressionKind::Call(call) => {
                if let (Some(info), ExpressionKind::Member(base, _)) =
                    (self.program.calls.get(&condition.id), &call.callee.kind)
                    && info.callee == Callee::IsValid
                    && let Some(place) = location(self.program, base)
                    && let Some(known) = state
                {
                    known.make_valid(&place);
                }
            }
            ExpressionKind::Unary(_, inner) | ExpressionKind::Cast(_, inner) => {
                self.assume(inner, state);
            }
            ExpressionKind::Binary(_, left, right) => {
                self.assume(left, state);
                self.assume(right, state);
            }
            _ => {}
        }
    }

    pub(super) fn read_indexes(&mut self, target: &'a Expression, state: &mut Option<FlowFacts>) {
        match &target.kind {
            ExpressionKind::Member(base, _) | ExpressionKind::Slice { base, .. } => {
                self.read_indexes(base, state);
            }
            ExpressionKind::Index(base, index) => {
                self.read(index, state);
                self.read_indexes(base, state);
            }
            ExpressionKind::PlusSlice { base, low, .. } => {
                self.read(low, state);
                self.read_indexes(base, state);
            }
            _ => {}
        }
    }

    pub(super) fn read(&mut self, expression: &'a Expression, state: &mut Option<FlowFacts>) {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.read_inner(expression, state));
    }

    pub(super) fn read_inner(&mut self, expression: &'a Expression, state: &mut Option<FlowFacts>) {
        match &expression.kind {
            ExpressionKind::Path(_) => self.check_read(expression, state),
            ExpressionKind::Member(base, _) => {
                if location(self.program, expression).is_some() {
                    self.read_indexes(expression, state);
                    self.check_read(expression, state);
                } else {
                    self.read(base, state);
                }
            }
            ExpressionKind::Index(base, index) => {
                self.read(index, state);
                if location(self.program, expression).is_some() {
                    self.check_read(expression, state);
                } else {
                    self.read(base, state);
                }
            }
            ExpressionKind::Slice { base, .. } => self.read(base, state),
            ExpressionKind::PlusSlice { base, low, .. } => {
                self.read(base, state);
                self.read(low, state);
            }
            ExpressionKind::Unary(_, value) | ExpressionKind::Cast(_, value) => {
                self.read(value, state);
            }
            ExpressionKind::Binary(operator, left, right) => {
                if !matches!(operator, BinaryOperator::And | BinaryOperator::Or) {
                    self.read(left, state);
                    self.read(right, state);
                    return;
                }
                // The right side is only evaluated if the left one leaves the result open.
                let (holds, fails) = self.condition(left, state);
                let is_and = *operator == BinaryOperator::And;
                let (mut open, decided) = if is_and { (holds, fails) } else { (fails, holds) };
                self.read(right, &mut open);
                let (holds, fails) = if is_and { (open, decided) } else { (decided, open) };
                *state = self.join_branches(left, holds, fails);
            }
            ExpressionKind::Conditional(condition, then, otherwise) => {
                let (mut holds, mut fails) = self.condition(condition, state);
                self.read(then, &mut holds);
                self.read(otherwise, &mut fails);
                *state = self.join_branches(condition, holds, fails);
            }
            ExpressionKind::List(elements) | ExpressionKind::TupleKeyset(elements) => {
                for element in elements {
                    self.read(element, state);
                }
            }
            ExpressionKind::Struct { fields, .. } => {
                for (_, value) in fields {
                    self.read(value, state);
                }
            }
            ExpressionKind::Mask(left, right) | ExpressionKind::Range(left, right) => {
                self.read(left, state);
                self.read(right, state);
            }
            ExpressionKind::Call(call) => self.call(expression, call, state),
            _ => {}
        }
    }

    pub(super) fn call(
        &mut self,
        expression: &'a Expression,
        call: &'a Call,
        state: &mut Option<FlowFacts>,
    ) {
        let callee = self.program.calls.get(&expression.id).map(|info| info.callee);
        match callee {
            Some(Callee::TableApply(table)) => {
                let outcomes = self.apply(table, expression.span, state);
                *state = tables::all_of(&outcomes, |_| true);
                return;
            }
            Some(Callee::Action(action)) => {
                let (id, site) = (expression.id, expression.span);
                self.call_action(id, Some(action), &call.arguments, site, state);
                return;
            }
            _ => {}
        }
        if let ExpressionKind::Member(base, _) = &call.callee.kind {
            match callee {
                Some(Callee::SetValid | Callee::PushFront | Callee::PopFront) => {
                    self.write(base, state);
                }
                Some(Callee::SetInvalid) => {
                    if let (Some(place), Some(known)) = (location(self.program, base), &mut *state)
                        && !is_moving(self.program, base)
                    {
                        known.invalidate(place);
                    }
                }
                Some(Callee::IsValid) => {}
                _ => {
                    if matches!(base.kind, ExpressionKind::Call(_)) {
                        self.read(base, state);
                    }
                }
            }
        }
        if matches!(callee, Some(Callee::SizeOf | Callee::Constructor(..))) {
            return;
        }
        let directions = self.read_arguments(expression.id, &call.arguments, state);
        self.write_arguments(&directions, &call.arguments, state);
    }

    /// Reads `in` arguments and returns the directions of all, where they are known.
    pub(super) fn read_arguments(
        &mut self,
        id: NodeId,
        arguments: &'a [Argument],
        state: &mut Option<FlowFacts>,
    ) -> Vec<Option<Direction>> {
        let Some(info) = self.program.calls.get(&id) else { return Vec::new() };
        let node = match info.callee {
            Callee::Function(node)
            | Callee::ExternFunction(node)
            | Callee::Action(node)
            | Callee::ExternMethod(node)
            | Callee::AbstractMethod(node)
            | Callee::BlockApply(node)
            | Callee::DirectApply(node) => Some(node),
            _ => None,
        };
        let directions = node.and_then(|node| self.directions.get(&node)).cloned();
        let direction_of = |argument: usize| {
            let parameter = info.arguments.iter().position(|bound| *bound == Some(argument));
            match (parameter, &directions) {
                (Some(parameter), Some(directions)) => directions.get(parameter).copied(),
                _ => None,
            }
        };
        let given: Vec<Option<Direction>> = (0..arguments.len()).map(direction_of).collect();
        for (argument, direction) in arguments.iter().zip(&given) {
            match direction {
                Some(Direction::Out | Direction::InOut) => {}
                _ => self.read(&argument.value, state),
            }
        }
        given
    }

    pub(super) fn write_arguments(
        &mut self,
        directions: &[Option<Direction>],
        arguments: &'a [Argument],
        state: &mut Option<FlowFacts>,
    ) {
        for (argument, direction) in arguments.iter().zip(directions) {
            // Without a known direction it may be written.
            if matches!(direction, Some(Direction::Out | Direction::InOut) | None) {
                self.write(&argument.value, state);
            }
        }
    }

    pub(super) fn check_read(&mut self, expression: &'a Expression, state: &mut Option<FlowFacts>) {
        let Some(known) = state else { return };
        let Some(place) = location(self.program, expression) else { return };
        let Some(ty) = self.program.expression_types.get(&expression.id) else { return };
        if !is_scalar(ty) {
            return;
        }
        if let Some(header) = enclosing_header(self.program, expression) {
            let Some(header_place) = location(self.program, header) else { return };
            if known.is_invalid(&header_place) {
                let name = describe(&header_place, self.program, header);
                self.report(
                    expression.span,
                    Diagnostic::warning(
                        codes::INVALID_HEADER_READ,
                        expression.span,
                        format!("header {name} is never valid here, so its fields have no value"),
                    ),
                );
            }
            return;
        }
        let (Some(unset), Some(tracked)) = (known.unset(&place), self.tracked.get(&place.root))
        else {
            return;
        };
        let name = std::iter::once(&tracked.name).chain(&place.path);
        let name = name.map(|part| &**part).collect::<Vec<&str>>().join(".");
        let diagnostic = match unset.is_partial {
            false => Diagnostic::warning(
                codes::UNINITIALIZED_READ,
                expression.span,
                format!("`{name}` is read, but nothing has written it"),
            ),
            true => with_path(
                Diagnostic::warning(
                    codes::MAYBE_UNINITIALIZED_READ,
                    expression.span,
                    format!("`{name}` has no value here on some path"),
                ),
                unset,
            ),
        };
        let diagnostic = diagnostic.label(tracked.span, "declared here, without a value");
        // One report for each variable on a path.
        known.write(&place);
        self.report(expression.span, diagnostic);
    }
}

/// Names the decisions of the shortest path without a value.
pub(super) fn with_path(mut diagnostic: Diagnostic, unset: &Unset) -> Diagnostic {
    let visible = |path: &Vec<Decision>| -> Vec<Decision> {
        path.iter().filter(|decision| !decision.text.is_empty()).cloned().collect()
    };
    let shortest = unset.paths.iter().map(visible).min_by_key(Vec::len);
    let mut decisions = shortest.unwrap_or_default();
    decisions.sort_by_key(|decision| decision.span);
    decisions.dedup_by_key(|decision| decision.span);
    for (at, decision) in decisions.iter().enumerate() {
        let text = match at {
            0 => format!("it has no value if {}", decision.text),
            _ => format!("and {}", decision.text),
        };
        diagnostic = diagnostic.label(decision.span, text);
    }
    diagnostic
}

/// Returns the header whose field an expression is, if it is one.
fn enclosing_header<'a>(
    program: &TypedProgram,
    expression: &'a Expression,
) -> Option<&'a Expression> {
    let base = match &expression.kind {
        ExpressionKind::Member(base, _) | ExpressionKind::Index(base, _) => base,
        _ => return None,
    };
    match program.expression_types.get(&base.id).map(|ty| &**ty) {
        Some(TypeKind::Header(..)) => Some(base),
        Some(TypeKind::Struct(..) | TypeKind::Stack(..)) => enclosing_header(program, base),
        _ => None,
    }
}

/// Whether an expression names another element of a stack each time.
fn is_moving(program: &TypedProgram, expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Member(base, _) => {
            matches!(
                program.expression_types.get(&base.id).map(|ty| &**ty),
                Some(TypeKind::Stack(..))
            ) || is_moving(program, base)
        }
        ExpressionKind::Index(base, index) => {
            !program.constants.contains_key(&index.id) || is_moving(program, base)
        }
        _ => false,
    }
}

fn describe(place: &Location, program: &TypedProgram, expression: &Expression) -> String {
    let last = place.path.last().map(|part| part.to_string());
    match (last, &expression.kind) {
        (Some(last), _) => format!("`{last}`"),
        (None, ExpressionKind::Path(path)) => format!("`{}`", path.name.text),
        _ => match program.definitions.get(&expression.id) {
            Some(Definition::Node(_)) => "of this variable".to_string(),
            _ => String::new(),
        },
    }
}

pub(super) fn is_scalar(ty: &TypeKind) -> bool {
    matches!(
        ty,
        TypeKind::Bit(_)
            | TypeKind::Int(_)
            | TypeKind::Bool
            | TypeKind::Varbit(_)
            | TypeKind::Enum(_)
            | TypeKind::SerializableEnum(_)
            | TypeKind::NewType(_)
            | TypeKind::Error
    )
}
