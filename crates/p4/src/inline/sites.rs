// SPDX-License-Identifier: Apache-2.0
//! Where a call stands: the statement that evaluates it, its part in that statement, and the lists of
//! statements in which other statements can take its place.

use super::obstacle::Obstacle;
use crate::ast::{
    Block, Declaration, DeclarationKind, Expression, ExpressionKind, NodeId, Program, Statement,
    StatementKind, TableProperty, TablePropertyKind, Transition, TypeRef, TypeRefKind,
};
use crate::visit::{
    Visit, walk_declaration, walk_expression, walk_program, walk_statement, walk_table_property,
};

/// The part that a call has in its statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    /// The statement is the call.
    Whole,
    /// The statement's only expression is the call: a condition, a subject, a value returned, a first value, or
    /// a value assigned to a plain variable or field.
    OnlyValue,
    /// The call is evaluated before all else in the statement.
    First,
    /// The call is inside of a larger expression, or of a statement with others.
    Inside,
    /// The call may not be evaluated: an operand of `&&`, `||` or `? :`.
    Conditional,
}

/// Whether an expression contains a call.
pub(super) fn contains(expression: &Expression, call: NodeId) -> bool {
    struct Find(NodeId, bool);
    impl<'a> Visit<'a> for Find {
        fn expression(&mut self, expression: &'a Expression) {
            self.1 |= expression.id == self.0;
            if !self.1 {
                walk_expression(self, expression);
            }
        }
    }
    let mut find = Find(call, false);
    find.expression(expression);
    find.1
}

/// The calls in a part, in the order of the text.
#[derive(Default)]
pub(super) struct Calls(pub(super) Vec<NodeId>);

impl<'a> Visit<'a> for Calls {
    fn expression(&mut self, expression: &'a Expression) {
        walk_expression(self, expression);
        if matches!(expression.kind, ExpressionKind::Call(_)) {
            self.0.push(expression.id);
        }
    }

    fn table_property(&mut self, property: &'a TableProperty) {
        // A default action is written as a call, but called by the table.
        if let TablePropertyKind::Key(_) = property.kind {
            walk_table_property(self, property);
        }
    }
}

/// Returns the position of a call in an expression that a statement evaluates.
fn position_in(expression: &Expression, call: NodeId) -> Option<Position> {
    if expression.id == call {
        return Some(Position::OnlyValue);
    }
    if !contains(expression, call) {
        return None;
    }
    struct ConditionalUse(NodeId, bool);
    impl<'a> Visit<'a> for ConditionalUse {
        fn expression(&mut self, expression: &'a Expression) {
            use crate::ast::BinaryOperator as B;
            match &expression.kind {
                ExpressionKind::Binary(B::And | B::Or, _, right) => {
                    self.1 |= contains(right, self.0);
                }
                ExpressionKind::Conditional(_, then, otherwise) => {
                    self.1 |= contains(then, self.0) || contains(otherwise, self.0);
                }
                _ => {}
            }
            walk_expression(self, expression);
        }
    }
    let mut conditional = ConditionalUse(call, false);
    conditional.expression(expression);
    Some(match conditional.1 {
        true => Position::Conditional,
        false if is_first(expression, call) => Position::First,
        false => Position::Inside,
    })
}

/// Whether an expression evaluates a call first.
fn is_first(expression: &Expression, call: NodeId) -> bool {
    let first = match &expression.kind {
        _ if expression.id == call => return true,
        ExpressionKind::Unary(_, inner)
        | ExpressionKind::Cast(_, inner)
        | ExpressionKind::Member(inner, _)
        | ExpressionKind::Binary(_, inner, _)
        | ExpressionKind::Index(inner, _)
        | ExpressionKind::Slice { base: inner, .. }
        | ExpressionKind::PlusSlice { base: inner, .. }
        | ExpressionKind::Conditional(inner, ..) => Some(&**inner),
        ExpressionKind::List(items) => items.first(),
        ExpressionKind::Struct { fields, .. } => fields.first().map(|(_, value)| value),
        ExpressionKind::Call(outer) => outer.arguments.first().map(|argument| &argument.value),
        _ => None,
    };
    first.is_some_and(|first| is_first(first, call))
}

/// Returns the position of a call among the expressions of a statement, not of statements inside of
/// it.
pub(super) fn position(statement: &Statement, call: NodeId) -> Option<Result<Position, Obstacle>> {
    let found = match &statement.kind {
        StatementKind::Call(expression) if expression.id == call => Some(Position::Whole),
        StatementKind::Call(expression) => position_in(expression, call),
        StatementKind::Assign { target, operator, value } => {
            let place = position_in(value, call)
                .or_else(|| position_in(target, call).map(|_| Position::Inside));
            place.map(|place| match place {
                Position::OnlyValue if operator.is_none() && is_plain(target) => place,
                Position::First if operator.is_none() && is_plain(target) => place,
                Position::OnlyValue | Position::First => Position::Inside,
                other => other,
            })
        }
        StatementKind::If { condition, .. } => position_in(condition, call),
        StatementKind::Switch { subject, .. } => position_in(subject, call),
        StatementKind::Return(Some(value)) => position_in(value, call),
        StatementKind::Declaration(declaration) => match &declaration.kind {
            DeclarationKind::Variable { initializer: Some(value), .. } => position_in(value, call),
            _ => None,
        },
        StatementKind::For { init, condition, update, .. } => {
            let among = |list: &[Statement]| list.iter().any(|each| position(each, call).is_some());
            if contains(condition, call) || among(init) || among(update) {
                return Some(Err(Obstacle::InLoopHeader));
            }
            None
        }
        StatementKind::ForIn { collection, .. } if contains(collection, call) => {
            return Some(Err(Obstacle::InLoopHeader));
        }
        _ => None,
    };
    found.map(Ok)
}

/// Whether evaluating an l-value reads nothing.
pub(super) fn is_plain(target: &Expression) -> bool {
    match &target.kind {
        ExpressionKind::Path(_) => true,
        ExpressionKind::Member(base, name) => {
            !matches!(&*name.text, "next" | "last" | "lastIndex") && is_plain(base)
        }
        ExpressionKind::Index(base, index) => {
            is_plain(base) && matches!(index.kind, ExpressionKind::Integer { .. })
        }
        ExpressionKind::Slice { base, .. } => is_plain(base),
        _ => false,
    }
}

/// Returns the replacement of a statement. The second argument says whether the statement is a branch or
/// a loop's body, which exactly one statement may replace.
pub(super) type Replace<'f> =
    &'f mut dyn FnMut(Statement, bool) -> Result<Vec<Statement>, Obstacle>;

/// Replaces the statement of a list, or of a list inside of it, that evaluates a call. `false` if no
/// statement does.
pub(super) fn replace_in_list(
    list: &mut Vec<Statement>,
    call: NodeId,
    replace: Replace<'_>,
) -> Result<bool, Obstacle> {
    for index in 0..list.len() {
        if position(&list[index], call).is_some() {
            let statement = list.remove(index);
            let new = replace(statement, false)?;
            list.splice(index..index, new);
            return Ok(true);
        }
        if replace_inside(&mut list[index], call, replace)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn replace_inside(
    statement: &mut Statement,
    call: NodeId,
    replace: Replace<'_>,
) -> Result<bool, Obstacle> {
    match &mut statement.kind {
        StatementKind::If { then, otherwise, .. } => {
            if replace_branch(then, call, replace)? {
                return Ok(true);
            }
            match otherwise {
                Some(otherwise) => replace_branch(otherwise, call, replace),
                None => Ok(false),
            }
        }
        StatementKind::Block(block) => replace_in_list(&mut block.statements, call, replace),
        StatementKind::Switch { cases, .. } => {
            for case in cases {
                if let Some(body) = &mut case.body
                    && replace_in_list(&mut body.statements, call, replace)?
                {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        StatementKind::For { body, .. } | StatementKind::ForIn { body, .. } => {
            replace_branch(body, call, replace)
        }
        _ => Ok(false),
    }
}

fn replace_branch(
    statement: &mut Statement,
    call: NodeId,
    replace: Replace<'_>,
) -> Result<bool, Obstacle> {
    if position(statement, call).is_none() {
        return replace_inside(statement, call, replace);
    }
    let (id, span) = (statement.id, statement.span);
    let empty = Statement { id, span, kind: StatementKind::Empty };
    let mut new = replace(std::mem::replace(statement, empty), true)?;
    if let Some(only) = new.pop() {
        *statement = only;
    }
    Ok(true)
}

/// A part of a top-level declaration that has statements of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// The `apply` of a control.
    Apply,
    /// An action or function at this place among the declarations; `None` for a top-level one.
    Code(Option<usize>),
    /// A state of a parser.
    State(usize),
}

/// Finds the body of a declaration that a call stands in.
pub(super) fn body_of(declaration: &Declaration, call: NodeId) -> Result<Body, Obstacle> {
    let in_block = |block: &Block| {
        let mut calls = Calls::default();
        calls.block(block);
        calls.0.contains(&call)
    };
    match &declaration.kind {
        DeclarationKind::Action { body, .. } | DeclarationKind::Function { body, .. }
            if in_block(body) =>
        {
            Ok(Body::Code(None))
        }
        DeclarationKind::Control(control) => {
            if in_block(&control.body) {
                return Ok(Body::Apply);
            }
            let local = control.locals.iter().position(|local| match &local.kind {
                DeclarationKind::Action { body, .. } => in_block(body),
                _ => false,
            });
            local.map(|index| Body::Code(Some(index))).ok_or(Obstacle::OutsideStatements)
        }
        DeclarationKind::Parser(parser) => {
            let state = parser.states.iter().position(|state| {
                let mut calls = Calls::default();
                for statement in &state.statements {
                    calls.statement(statement);
                }
                calls.0.contains(&call)
            });
            state.map(Body::State).ok_or(Obstacle::OutsideStatements)
        }
        _ => Err(Obstacle::OutsideStatements),
    }
}

/// Whether a transition contains a call.
pub(super) fn transition_contains(transition: &Transition, call: NodeId) -> bool {
    match transition {
        Transition::Direct(_) => false,
        Transition::Select { subjects, cases, .. } => {
            subjects.iter().any(|subject| contains(subject, call))
                || cases.iter().any(|case| contains(&case.keyset, call))
        }
    }
}

/// Returns the call with this identity in a declaration.
pub(super) fn find_call(declaration: &Declaration, call: NodeId) -> Option<&Expression> {
    struct Find<'a>(NodeId, Option<&'a Expression>);
    impl<'a> Visit<'a> for Find<'a> {
        fn expression(&mut self, expression: &'a Expression) {
            if expression.id == self.0 {
                self.1 = Some(expression);
            } else if self.1.is_none() {
                walk_expression(self, expression);
            }
        }
        fn statement(&mut self, statement: &'a Statement) {
            if self.1.is_none() {
                walk_statement(self, statement);
            }
        }
        fn declaration(&mut self, declaration: &'a Declaration) {
            if self.1.is_none() {
                walk_declaration(self, declaration);
            }
        }
    }
    let mut find = Find(call, None);
    find.declaration(declaration);
    find.1
}

/// Whether a declaration computes a hash whose place in a program gives names to the control plane:
/// v1model counts all calculations, and names those with a custom CRC by their numbers.
pub(super) fn is_numbered(program: &Program, declaration: &Declaration) -> bool {
    struct Hashes {
        any: bool,
        custom: bool,
    }
    impl<'a> Visit<'a> for Hashes {
        fn expression(&mut self, expression: &'a Expression) {
            if let ExpressionKind::Member(base, member) = &expression.kind
                && let ExpressionKind::Type(TypeRef { kind: TypeRefKind::Named(path), .. }) =
                    &base.kind
                && &*path.name.text == "HashAlgorithm"
            {
                self.any = true;
                self.custom |= member.text.ends_with("_custom");
            }
            walk_expression(self, expression);
        }
    }
    let mut here = Hashes { any: false, custom: false };
    here.declaration(declaration);
    let mut all = Hashes { any: false, custom: false };
    if here.any {
        walk_program(&mut all, program);
    }
    here.any && all.custom
}
