// SPDX-License-Identifier: Apache-2.0
//! The ends of a pipeline's control on Tofino: all packets reach the last statement, so that one access of each array
//! measures them. `return` and `exit` become a flag, and what follows them is skipped where it is set.

use super::names::{LEFT, STATE};
use super::translator::Translator;
use crate::language::{Gress, codes};
use p4::ast::{
    Block, ControlDeclaration, DeclarationKind, Expression, ExpressionKind, Statement,
    StatementKind, TablePropertyKind,
};
use p4::visit::{Visit, walk_expression, walk_statement};
use source::{Diagnostic, Span};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Translator<'_> {
    /// Makes all packets reach the end of a pipeline's control.
    pub(super) fn join_ends(&mut self, gress: Gress, control: &mut ControlDeclaration) {
        let mut exiting = self.exiting_actions(control);
        let lists = |exiting: &BTreeSet<Arc<str>>, kind: &DeclarationKind| match kind {
            DeclarationKind::Table(table) => table.properties.iter().any(|one| match &one.kind {
                TablePropertyKind::Actions(refs) => {
                    refs.iter().any(|action| exiting.contains(&action.path.name.text))
                }
                _ => false,
            }),
            _ => false,
        };
        let tables = control.locals.iter().filter(|local| lists(&exiting, &local.kind));
        let tables: Vec<Arc<str>> = tables.map(|table| table.name.text.clone()).collect();
        exiting.extend(tables);
        let mut joined = Joined { translator: self, exiting, uses_flag: false };
        for local in &mut control.locals {
            if let DeclarationKind::Action { body, .. } = &mut local.kind
                && joined.exiting.contains(&local.name.text)
            {
                joined.action(body);
            }
        }
        let statements = std::mem::take(&mut control.body.statements);
        control.body.statements = joined.list(statements);
        if joined.uses_flag {
            let reset = format!("{STATE}.{LEFT} = 0; ");
            self.beginnings.entry(gress).or_default().resets.push_str(&reset);
        }
    }

    /// The actions of a control that contain `exit`, and those that call them.
    fn exiting_actions(&mut self, control: &ControlDeclaration) -> BTreeSet<Arc<str>> {
        let mut exiting = BTreeSet::new();
        loop {
            let before = exiting.len();
            for local in &control.locals {
                let DeclarationKind::Action { body, .. } = &local.kind else { continue };
                let mut leaving = Leaving { exiting: &exiting, found: false, in_action: true };
                leaving.block(body);
                if leaving.found {
                    exiting.insert(local.name.text.clone());
                }
            }
            if exiting.len() == before {
                return exiting;
            }
        }
    }
}

/// Looks for `return`, `exit`, and names of what contains `exit`.
struct Leaving<'e> {
    exiting: &'e BTreeSet<Arc<str>>,
    found: bool,
    /// `return` in an action ends the action only.
    in_action: bool,
}

impl<'a> Visit<'a> for Leaving<'_> {
    fn statement(&mut self, statement: &'a Statement) {
        match statement.kind {
            StatementKind::Exit => self.found = true,
            StatementKind::Return(_) => self.found |= !self.in_action,
            _ => walk_statement(self, statement),
        }
    }

    fn expression(&mut self, expression: &'a Expression) {
        if let ExpressionKind::Path(path) = &expression.kind {
            self.found |= self.exiting.contains(&path.name.text);
        }
        walk_expression(self, expression);
    }
}

struct Joined<'t, 'p> {
    translator: &'t mut Translator<'p>,
    /// Names of actions that contain `exit`, and of tables that have such actions.
    exiting: BTreeSet<Arc<str>>,
    uses_flag: bool,
}

impl Joined<'_, '_> {
    fn leaves(&self, statement: &Statement) -> bool {
        let mut leaving = Leaving { exiting: &self.exiting, found: false, in_action: false };
        leaving.statement(statement);
        leaving.found
    }

    fn asks_leaving(&self, expression: &Expression) -> bool {
        let mut leaving = Leaving { exiting: &self.exiting, found: false, in_action: false };
        leaving.expression(expression);
        leaving.found
    }

    fn flag(&mut self, span: Span) -> Option<Statement> {
        self.uses_flag = true;
        self.translator.statement(span, &format!("{STATE}.{LEFT} = 1;"), Vec::new())
    }

    /// The statements where the flag is not set.
    fn unless_left(&mut self, statements: Vec<Statement>) -> Vec<Statement> {
        if statements.is_empty() {
            return statements;
        }
        self.uses_flag = true;
        let span = statements[0].span;
        let text = format!("if ({STATE}.{LEFT} == 0) {{ ${{rest}} }}");
        let made = self.translator.statement(span, &text, vec![("rest", statements.into())]);
        made.into_iter().collect()
    }

    /// An action: `exit` is its last statement.
    fn action(&mut self, body: &mut Block) {
        let ends = |statement: &Statement| match &statement.kind {
            StatementKind::Exit => true,
            // A call of an action that ends so.
            StatementKind::Call(call) => self.asks_leaving(call),
            _ => false,
        };
        if let Some(at) = body.statements.iter().position(ends) {
            let last = &body.statements[at];
            let (span, is_exit) = (last.span, matches!(last.kind, StatementKind::Exit));
            body.statements.truncate(at + usize::from(!is_exit));
            if is_exit {
                body.statements.extend(self.flag(span));
            }
        }
        struct Inner(Vec<Span>);
        impl<'a> Visit<'a> for Inner {
            fn statement(&mut self, statement: &'a Statement) {
                if matches!(statement.kind, StatementKind::Exit) {
                    self.0.push(statement.span);
                }
                walk_statement(self, statement);
            }
        }
        let mut inner = Inner(Vec::new());
        inner.block(body);
        for span in inner.0 {
            let message = "`exit` stands under a condition in an action";
            let error = Diagnostic::error(codes::EXIT, span, message);
            self.translator.found.push(
                error.help(
                    "write `exit` into the control behind the action, under the same condition",
                ),
            );
        }
    }

    fn list(&mut self, statements: Vec<Statement>) -> Vec<Statement> {
        let mut made = Vec::new();
        let mut rest = statements.into_iter();
        while let Some(mut statement) = rest.next() {
            match &statement.kind {
                StatementKind::Exit | StatementKind::Return(_) => {
                    made.extend(self.flag(statement.span));
                    return made;
                }
                _ if !self.leaves(&statement) => {
                    made.push(statement);
                    continue;
                }
                _ => {}
            }
            let rest = rest.collect();
            match self.with_rest_as_else(&mut statement, rest) {
                None => made.push(statement),
                Some(rest) => {
                    self.inside(&mut statement);
                    made.push(statement);
                    let rest = self.list(rest);
                    made.extend(self.unless_left(rest));
                }
            }
            return made;
        }
        made
    }

    /// `if (c) { ...; return; } rest` becomes `if (c) { ... } else { rest }`, where nothing else leaves; returns the
    /// rest otherwise.
    fn with_rest_as_else(
        &mut self,
        statement: &mut Statement,
        rest: Vec<Statement>,
    ) -> Option<Vec<Statement>> {
        let span = statement.span;
        let StatementKind::If { condition, then, otherwise: otherwise @ None } =
            &mut statement.kind
        else {
            return Some(rest);
        };
        let is_end =
            |last: &Statement| matches!(last.kind, StatementKind::Exit | StatementKind::Return(_));
        let ends = match &then.kind {
            StatementKind::Block(block) => {
                block.statements.split_last().is_some_and(|(last, before)| {
                    is_end(last) && !before.iter().any(|one| self.leaves(one))
                })
            }
            _ => is_end(then),
        };
        if !ends || self.asks_leaving(condition) {
            return Some(rest);
        }
        match &mut then.kind {
            StatementKind::Block(block) => {
                block.statements.pop();
            }
            kind => *kind = StatementKind::Empty,
        }
        let rest = self.list(rest);
        if !rest.is_empty() {
            let made = self.translator.statement(span, "{ ${rest} }", vec![("rest", rest.into())]);
            *otherwise = made.map(Box::new);
        }
        None
    }

    /// Changes what stands in a statement.
    fn inside(&mut self, statement: &mut Statement) {
        match &mut statement.kind {
            StatementKind::Block(block) => self.block(block, false),
            StatementKind::If { condition, then, otherwise } => {
                let asks = self.asks_leaving(condition);
                self.branch(then, asks);
                if let Some(otherwise) = otherwise {
                    self.branch(otherwise, asks);
                }
            }
            StatementKind::Switch { subject, cases } => {
                let asks = self.asks_leaving(subject);
                for case in cases {
                    if let Some(body) = &mut case.body {
                        self.block(body, asks);
                    }
                }
            }
            StatementKind::For { body, .. } | StatementKind::ForIn { body, .. } => {
                let span = body.span;
                let message = "a loop contains `return`, `exit`, or a table with such an action";
                self.translator.found.push(
                    Diagnostic::error(codes::EXIT, span, message)
                        .help("leave the loop with `break`, and test a flag behind it"),
                );
            }
            _ => {}
        }
    }

    fn block(&mut self, block: &mut Block, asks: bool) {
        let made = self.list(std::mem::take(&mut block.statements));
        block.statements = if asks { self.unless_left(made) } else { made };
    }

    fn branch(&mut self, branch: &mut Statement, asks: bool) {
        let span = branch.span;
        if let StatementKind::Block(block) = &mut branch.kind {
            self.block(block, asks);
            return;
        }
        let made = self.list(vec![branch.clone()]);
        let made = if asks { self.unless_left(made) } else { made };
        if let Some(made) =
            self.translator.statement(span, "{ ${all} }", vec![("all", made.into())])
        {
            *branch = made;
        }
    }
}
