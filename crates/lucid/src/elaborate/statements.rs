// SPDX-License-Identifier: Apache-2.0
//! Elaborates statements of handlers and of inlined functions, and unrolls loops. If some paths of a
//! statement return, the statements behind it move into the one branch that falls through; if several
//! branches fall through, a boolean records whether the function has returned.

use super::builder::Builder;
use super::calls::{Call, ResultUse};
use super::frame::Returns;
use super::values::Value;
use super::{Elaborated, Elaborator, Scope, codes};
use crate::core::{self, Expression, LocalId, StatementKind as Core};
use crate::syntax::ast::{self, Block, ExpressionKind, Statement, StatementKind};
use source::{Diagnostic, Span};

/// How deep what follows may be pushed into branches before a boolean takes over.
const PUSH_LIMIT: u32 = 32;

/// The statements that run after a list of statements, if its end is reached.
pub(super) struct Continuation<'c, 'a> {
    list: &'a [Statement],
    next: Option<&'c Continuation<'c, 'a>>,
}

impl<'a> Elaborator<'a> {
    /// Elaborates statements, and what follows them.
    pub(super) fn statements(
        &mut self,
        list: &'a [Statement],
        rest: Option<&Continuation<'_, 'a>>,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<()> {
        stacker::maybe_grow(256 * 1024, 2 * 1024 * 1024, || {
            for (at, statement) in list.iter().enumerate() {
                let paths = self.index.paths(statement);
                if !paths.returns {
                    self.statement(statement, None, scope, builder)?;
                    continue;
                }
                let after = &list[at + 1..];
                let nothing_follows = after.is_empty() && rest.is_none();
                if paths.falls == 0 || nothing_follows {
                    // What stands behind a `return` on all paths never runs.
                    return self.statement(statement, None, scope, builder);
                }
                if matches!(scope.frame.returns, Returns::Handler) {
                    self.statement(statement, None, scope, builder)?;
                    continue;
                }
                let after = Continuation { list: after, next: rest };
                if paths.falls == 1 && scope.frame.pushed < PUSH_LIMIT {
                    scope.frame.pushed += 1;
                    let done = self.statement(statement, Some(&after), scope, builder);
                    scope.frame.pushed -= 1;
                    return done;
                }
                return self.ask_whether_returned(statement, &after, scope, builder);
            }
            match rest {
                Some(rest) => self.statements(rest.list, rest.next, scope, builder),
                None => Ok(()),
            }
        })
    }

    /// Elaborates a statement on whose paths some return and several fall through, and what follows
    /// it, in pieces side by side that run if the function has not returned.
    fn ask_whether_returned(
        &mut self,
        statement: &'a Statement,
        after: &Continuation<'_, 'a>,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<()> {
        let returned = begin_asking(statement.span, scope, builder);
        let pushed = std::mem::replace(&mut scope.frame.pushed, 0);
        self.statement(statement, None, scope, builder)?;
        let mut asking = true;
        let mut next = Some(after);
        while let Some(Continuation { list, next: then }) = next {
            let mut list: &'a [Statement] = list;
            while !list.is_empty() {
                let returning = list.iter().position(|one| self.index.paths(one).returns);
                let (piece, behind) = list.split_at(returning.map_or(list.len(), |at| at + 1));
                let ends = piece.last().is_some_and(|last| self.index.paths(last).falls == 0);
                if ends || (behind.is_empty() && then.is_none()) {
                    // No test of the boolean follows the last piece.
                    scope.frame.asked -= 1;
                    asking = false;
                }
                let outer = builder.open();
                for one in piece {
                    self.statement(one, None, scope, builder)?;
                }
                let statements = builder.close(outer);
                unless(returned, statements, statement.span, builder);
                if !asking {
                    scope.frame.pushed = pushed;
                    return Ok(());
                }
                list = behind;
            }
            next = *then;
        }
        scope.frame.pushed = pushed;
        scope.frame.asked -= 1;
        Ok(())
    }

    /// Elaborates a block in a block of its own.
    pub(super) fn block(
        &mut self,
        list: &'a [Statement],
        rest: Option<&Continuation<'_, 'a>>,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<Vec<core::Statement>> {
        let outer = builder.open();
        let done = self.statements(list, rest, scope, builder);
        let inner = builder.close(outer);
        done.map(|()| inner)
    }

    fn statement(
        &mut self,
        statement: &'a Statement,
        rest: Option<&Continuation<'_, 'a>>,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<()> {
        let span = statement.span;
        self.step(span, builder)?;
        match &statement.kind {
            StatementKind::Skip => Ok(()),
            StatementKind::Local { name, value, no_inline, .. } => {
                self.local(name, value, *no_inline, span, scope, builder)
            }
            StatementKind::Assign { target, value, no_inline } => {
                self.assignment(target, value, *no_inline, span, scope, builder)
            }
            StatementKind::Call(expression) => self.discarded(expression, scope, builder),
            StatementKind::If { condition, then, otherwise } => {
                self.conditional(condition, then, otherwise.as_ref(), rest, span, scope, builder)
            }
            StatementKind::Match { subjects, branches } => {
                self.match_statement(subjects, branches, rest, span, scope, builder)
            }
            StatementKind::Return(value) => self.returned(value.as_ref(), span, scope, builder),
            StatementKind::Print { format, arguments, format_span } => {
                self.print(format, *format_span, arguments, span, scope, builder)
            }
            StatementKind::Generate { target, event } => {
                self.generate(target, event, span, scope, builder)
            }
            StatementKind::For { variable, body, .. } => {
                self.unrolled(variable, body, span, scope, builder)
            }
            StatementKind::TableInstall { table, entries } => {
                self.install_statement(table, entries, scope, builder)
            }
        }
    }

    fn local(
        &mut self,
        name: &'a ast::Binder,
        value: &'a ast::Expression,
        no_inline: bool,
        span: Span,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<()> {
        let ty = self.type_of(name.id, scope, name.span)?;
        if self.is_static(&ty, name.span)? {
            // A memop; globals are never in locals.
            let value = self.expression(value, scope, builder)?;
            scope.locals.insert(name.id, value);
            return Ok(());
        }
        let target = self.declare(builder, &name.name, &ty, name.span)?;
        self.expression_into(value, &target, no_inline, span, scope, builder)?;
        scope.locals.insert(name.id, target);
        Ok(())
    }

    fn assignment(
        &mut self,
        target: &'a ast::Path,
        value: &'a ast::Expression,
        no_inline: bool,
        span: Span,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<()> {
        let local = match self.definition(target)? {
            crate::check::Definition::Local(id) => scope.locals.get(&id).cloned(),
            _ => None,
        };
        let Some(local) = local else {
            return Err(self.internal(target.span, "an assignment to something that is no local"));
        };
        self.expression_into(value, &local, no_inline, span, scope, builder)
    }

    /// Evaluates an expression into locals.
    fn expression_into(
        &mut self,
        expression: &'a ast::Expression,
        target: &Value,
        no_inline: bool,
        span: Span,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<()> {
        let result_use = ResultUse::Into(target.clone());
        let value = self.expression_to(expression, result_use, scope, builder)?;
        self.assign(target, &value, no_inline, span, builder)
    }

    /// Evaluates an expression; calls may assign their results to `result_use`.
    pub(super) fn expression_to(
        &mut self,
        expression: &'a ast::Expression,
        result_use: ResultUse,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<Value> {
        match &expression.kind {
            ExpressionKind::Call { function, arguments, .. } => {
                self.step(expression.span, builder)?;
                let call = Call { expression, function, arguments };
                stacker::maybe_grow(256 * 1024, 2 * 1024 * 1024, || {
                    self.call(call, result_use, scope, builder)
                })
            }
            _ => self.expression(expression, scope, builder),
        }
    }

    /// Evaluates an expression for its effects.
    pub(super) fn discarded(
        &mut self,
        expression: &'a ast::Expression,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<()> {
        self.expression_to(expression, ResultUse::Discard, scope, builder).map(|_| ())
    }

    /// Assigns the parts of a value to locals, all at once. Parts that are there already stay.
    pub(super) fn assign(
        &mut self,
        target: &Value,
        value: &Value,
        no_inline: bool,
        span: Span,
        builder: &mut Builder,
    ) -> Elaborated<()> {
        let (targets, values) = (target.leaves(), value.leaves());
        if targets.len() != values.len() {
            return Err(self.internal(span, "an assignment of another type"));
        }
        let mut pairs: Vec<(LocalId, Expression)> = Vec::with_capacity(targets.len());
        for (target, value) in targets.into_iter().zip(values) {
            match (super::builder::as_local(target), value) {
                (Some(local), Value::Scalar(value)) => {
                    let itself = matches!(&value.kind,
                        core::ExpressionKind::Local(from) if *from == local);
                    if !itself {
                        pairs.push((local, value.clone()));
                    }
                }
                _ if target.identity().is_some() && target.identity() == value.identity() => {}
                _ => {
                    let diagnostic = Diagnostic::error(
                        codes::MEMOP_IN_RUN,
                        span,
                        "which memop this is would depend on what happens in the run",
                    );
                    let help = "decide with `if` or `match`, and use the memop in each branch";
                    return Err(self.report_in(builder, diagnostic.help(help)));
                }
            }
        }
        builder.assign_together(pairs, no_inline, span);
        Ok(())
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of the statement")]
    fn conditional(
        &mut self,
        condition: &'a ast::Expression,
        then: &'a Block,
        otherwise: Option<&'a Block>,
        rest: Option<&Continuation<'_, 'a>>,
        span: Span,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<()> {
        let condition = self.scalar(condition, scope, builder)?;
        let otherwise = otherwise.map_or(&[][..], |block| block.statements.as_slice());
        if let Some(truth) = Self::known_truth(&condition) {
            let chosen = if truth { then.statements.as_slice() } else { otherwise };
            return self.statements(chosen, rest, scope, builder);
        }
        let then = self.block(&then.statements, rest, scope, builder)?;
        let otherwise = self.block(otherwise, rest, scope, builder)?;
        builder.choose(condition, then, otherwise, span);
        Ok(())
    }

    fn returned(
        &mut self,
        value: Option<&'a ast::Expression>,
        span: Span,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<()> {
        match scope.frame.returns.clone() {
            Returns::Handler => {
                if let Some(value) = value {
                    self.discarded(value, scope, builder)?;
                }
                self.effects_allowed(span, builder)?;
                builder.emit(Core::Return, span);
                return Ok(());
            }
            Returns::Nothing => {
                if let Some(value) = value {
                    self.discarded(value, scope, builder)?;
                }
            }
            Returns::Into(target) => {
                let Some(value) = value else {
                    return Err(self.internal(span, "`return` without a value"));
                };
                self.expression_into(value, &target, false, span, scope, builder)?;
            }
        }
        if scope.frame.asked > 0
            && let Some(returned) = scope.frame.returned
        {
            let truth = Expression::bool(true, span);
            builder.assign(returned, truth, false, span);
        }
        Ok(())
    }

    fn unrolled(
        &mut self,
        variable: &'a ast::Binder,
        body: &'a Block,
        span: Span,
        scope: &mut Scope,
        builder: &mut Builder,
    ) -> Elaborated<()> {
        let bound = self.loop_bound(variable, scope)?;
        let leaves_function = bound > 1
            && !matches!(scope.frame.returns, Returns::Handler)
            && body.statements.iter().any(|statement| self.index.paths(statement).returns);
        let returned = leaves_function.then(|| begin_asking(span, scope, builder));
        for at in 0..bound {
            self.step(span, builder)?;
            scope.loops.insert(variable.id, at);
            match returned {
                Some(returned) if at > 0 => {
                    let then = self.block(&body.statements, None, scope, builder)?;
                    unless(returned, then, span, builder);
                }
                _ => self.statements(&body.statements, None, scope, builder)?,
            }
        }
        scope.loops.remove(&variable.id);
        if returned.is_some() {
            scope.frame.asked -= 1;
        }
        Ok(())
    }
}

/// From here on `return` sets the boolean.
fn begin_asking(span: Span, scope: &mut Scope, builder: &mut Builder) -> LocalId {
    let returned = match scope.frame.returned {
        Some(returned) => returned,
        None => builder.temporary("returned", core::Type::Bool, span),
    };
    scope.frame.returned = Some(returned);
    if scope.frame.asked == 0 {
        let truth = Expression::bool(false, span);
        builder.assign(returned, truth, false, span);
    }
    scope.frame.asked += 1;
    returned
}

/// `if (!returned) { then }`
fn unless(returned: LocalId, then: Vec<core::Statement>, span: Span, builder: &mut Builder) {
    let kind = core::ExpressionKind::Local(returned);
    let condition = Expression { kind, ty: core::Type::Bool, span };
    builder.choose(condition, Vec::new(), then, span);
}
