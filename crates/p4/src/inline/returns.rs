// SPDX-License-Identifier: Apache-2.0
//! Removes `return` from an inlined body: code behind a statement that may return runs only if it has
//! not returned. Where a branch of an `if` always returns, that code moves into the other branch; elsewhere
//! a flag guards it.

use super::node_builder::NodeBuilder;
use super::obstacle::Obstacle;
use crate::ast::{Block, Expression, Statement, StatementKind, SwitchCase};
use std::sync::Arc;

/// Removes the returns of a body.
pub(super) struct Returns<'m, 'r> {
    pub(super) builder: &'m mut NodeBuilder<'r>,
    /// The variable that takes the value returned.
    pub(super) result: Option<Arc<str>>,
    /// The variable that says that the body has returned.
    pub(super) flag: Arc<str>,
    /// Whether the flag is needed.
    pub(super) needs_flag: bool,
}

impl Returns<'_, '_> {
    /// A list without returns. After a return in it, `is_last` code follows nowhere else, or the flag
    /// has to be set.
    pub(super) fn list(
        &mut self,
        statements: Vec<Statement>,
        is_last: bool,
    ) -> Result<Vec<Statement>, Obstacle> {
        let mut done = Vec::with_capacity(statements.len());
        let mut rest = statements.into_iter();
        while let Some(statement) = rest.next() {
            if !may_return(&statement) {
                done.push(statement);
                continue;
            }
            let rest: Vec<Statement> = rest.collect();
            self.returning(statement, rest, is_last, &mut done)?;
            break;
        }
        Ok(done)
    }

    fn returning(
        &mut self,
        statement: Statement,
        rest: Vec<Statement>,
        is_last: bool,
        done: &mut Vec<Statement>,
    ) -> Result<(), Obstacle> {
        let Statement { id, span, kind } = statement;
        let is_end = rest.is_empty();
        let mut after = Some(rest);
        let kind = match kind {
            StatementKind::Return(value) => {
                self.take_value(value, done);
                if !is_last {
                    self.set_flag(done);
                }
                return Ok(());
            }
            StatementKind::Block(block) => {
                StatementKind::Block(self.block(block, is_last && is_end)?)
            }
            StatementKind::If { condition, then, otherwise } => {
                let then_ends = ends(&then);
                let else_ends = otherwise.as_deref().is_some_and(ends);
                let else_returns = otherwise.as_deref().is_some_and(may_return);
                let then_returns = may_return(&then);
                if then_ends && !else_returns && !is_end {
                    let mut follow: Vec<Statement> =
                        otherwise.map(|other| *other).into_iter().collect();
                    follow.extend(self.list(after.take().unwrap_or_default(), is_last)?);
                    let then = self.branch(*then, is_last)?;
                    let otherwise = Some(Box::new(self.builder.block(follow)));
                    StatementKind::If { condition, then: Box::new(then), otherwise }
                } else if else_ends && !then_returns && !is_end {
                    let mut follow = vec![*then];
                    follow.extend(self.list(after.take().unwrap_or_default(), is_last)?);
                    let then = Box::new(self.builder.block(follow));
                    let otherwise = match otherwise {
                        Some(other) => Some(Box::new(self.branch(*other, is_last)?)),
                        None => None,
                    };
                    StatementKind::If { condition, then, otherwise }
                } else {
                    if then_ends && else_ends {
                        after = None;
                    }
                    let is_last = is_last && (is_end || after.is_none());
                    let then = Box::new(self.branch(*then, is_last)?);
                    let otherwise = match otherwise {
                        Some(other) => Some(Box::new(self.branch(*other, is_last)?)),
                        None => None,
                    };
                    StatementKind::If { condition, then, otherwise }
                }
            }
            StatementKind::Switch { subject, cases } => {
                let mut done = Vec::with_capacity(cases.len());
                for SwitchCase { label, body } in cases {
                    let body = match body {
                        Some(body) => Some(self.block(body, is_last && is_end)?),
                        None => None,
                    };
                    done.push(SwitchCase { label, body });
                }
                StatementKind::Switch { subject, cases: done }
            }
            _ => return Err(Obstacle::ReturnInLoop),
        };
        done.push(Statement { id, span, kind });
        if let Some(rest) = after.filter(|rest| !rest.is_empty()) {
            self.needs_flag = true;
            let rest = self.list(rest, is_last)?;
            let flag = self.flag.clone();
            done.push(self.builder.unless(&flag, rest));
        }
        Ok(())
    }

    fn branch(&mut self, statement: Statement, is_last: bool) -> Result<Statement, Obstacle> {
        let mut statements = self.list(vec![statement], is_last)?;
        if statements.len() == 1
            && let Some(only) = statements.pop()
        {
            return Ok(only);
        }
        Ok(self.builder.block(statements))
    }

    fn block(&mut self, block: Block, is_last: bool) -> Result<Block, Obstacle> {
        let statements = self.list(block.statements, is_last)?;
        Ok(Block { statements, ..block })
    }

    fn take_value(&mut self, value: Option<Expression>, done: &mut Vec<Statement>) {
        if let (Some(value), Some(result)) = (value, self.result.clone()) {
            let target = self.builder.path(&result);
            done.push(self.builder.assign(target, value));
        }
    }

    fn set_flag(&mut self, done: &mut Vec<Statement>) {
        self.needs_flag = true;
        let flag = self.flag.clone();
        let target = self.builder.path(&flag);
        let value = self.builder.expression(crate::ast::ExpressionKind::Bool(true));
        done.push(self.builder.assign(target, value));
    }
}

/// Whether a statement has a `return` in it.
pub(super) fn may_return(statement: &Statement) -> bool {
    any(statement, &|kind| matches!(kind, StatementKind::Return(_)))
}

/// Whether a statement has an `exit` in it.
pub(super) fn may_exit(statement: &Statement) -> bool {
    any(statement, &|kind| matches!(kind, StatementKind::Exit))
}

/// Whether a statement or one inside of it is of a kind.
fn any(statement: &Statement, is: &dyn Fn(&StatementKind) -> bool) -> bool {
    if is(&statement.kind) {
        return true;
    }
    match &statement.kind {
        StatementKind::If { then, otherwise, .. } => {
            any(then, is) || otherwise.as_ref().is_some_and(|other| any(other, is))
        }
        StatementKind::Block(block) => block.statements.iter().any(|inner| any(inner, is)),
        StatementKind::Switch { cases, .. } => cases
            .iter()
            .filter_map(|case| case.body.as_ref())
            .any(|block| block.statements.iter().any(|inner| any(inner, is))),
        StatementKind::For { body, .. } | StatementKind::ForIn { body, .. } => any(body, is),
        _ => false,
    }
}

/// Whether all branches of a statement leave, so that the code behind it is unreachable.
fn ends(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Return(_) | StatementKind::Exit => true,
        StatementKind::Block(block) => block.statements.iter().any(ends),
        StatementKind::If { then, otherwise, .. } => {
            ends(then) && otherwise.as_ref().is_some_and(|other| ends(other))
        }
        _ => false,
    }
}
