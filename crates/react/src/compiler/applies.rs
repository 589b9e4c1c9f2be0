// SPDX-License-Identifier: Apache-2.0
//! Places where tables are applied: on a miss the default table follows, `hit`, `miss` and `action_run` answer as written,
//! and labels list the specialised actions.

use super::tables::{ExpandedTable, MISS};
use super::translator::Translator;
use crate::language::codes;
use p4::ast::{
    ControlDeclaration, DeclarationKind, Expression, ExpressionKind, NodeId, Statement,
    StatementKind, SwitchCase, TablePropertyKind, UnaryOperator,
};
use p4::typed::{Callee, Definition};
use p4::visit_mut::{VisitMut, walk_statement};
use source::Diagnostic;

/// Rewrites the applications of expanded tables.
pub(super) struct Applies<'t, 'p, 'e> {
    pub(super) translator: &'t mut Translator<'p>,
    pub(super) tables: &'e [ExpandedTable],
}

/// What a condition asks about a table.
struct Asked<'e> {
    table: &'e ExpandedTable,
    /// Whether the `then` branch is that of a hit.
    then_on_hit: bool,
}

impl<'e> Applies<'_, '_, 'e> {
    /// Rewrites the statements of a control; keys that apply tables are errors.
    pub(super) fn control(&mut self, control: &mut ControlDeclaration) {
        control.body.statements.iter_mut().for_each(|statement| self.statement(statement));
        for local in &mut control.locals {
            let DeclarationKind::Table(table) = &mut local.kind else { continue };
            for property in &mut table.properties {
                if let TablePropertyKind::Key(elements) = &mut property.kind {
                    elements
                        .iter_mut()
                        .for_each(|element| self.expression(&mut element.expression));
                }
            }
        }
    }

    /// The expanded table that an expression applies.
    fn applied(&self, expression: &Expression) -> Option<&'e ExpandedTable> {
        let node = self.translator.model(expression.id);
        match self.translator.program.typed.calls.get(&node)?.callee {
            Callee::TableApply(table) => self.tables.iter().find(|one| one.table == table),
            _ => None,
        }
    }

    fn asked(&self, condition: &Expression) -> Option<Asked<'e>> {
        match &condition.kind {
            ExpressionKind::Member(base, name) => {
                let table = self.applied(base)?;
                Some(Asked { table, then_on_hit: &*name.text == "hit" })
            }
            ExpressionKind::Unary(UnaryOperator::Not, inner) => {
                let asked = self.asked(inner)?;
                Some(Asked { then_on_hit: !asked.then_on_hit, ..asked })
            }
            _ => None,
        }
    }

    /// Puts the application of a default table in front of a branch.
    fn with_default(
        &mut self,
        table: &ExpandedTable,
        branch: Option<Statement>,
    ) -> Option<Statement> {
        let (_, name) = table.default_table.as_ref()?;
        let span = branch.as_ref().map_or(source::Span::NONE, |branch| branch.span);
        if branch.is_none() {
            return self.translator.statement(span, &format!("{name}.apply();"), Vec::new());
        }
        let branch: Vec<Statement> = branch.into_iter().collect();
        let text = format!("{{ {name}.apply(); ${{branch}} }}");
        self.translator.statement(span, &text, vec![("branch", branch.into())])
    }

    fn switch(&mut self, table: &ExpandedTable, cases: &mut Vec<SwitchCase>) {
        let typed = self.translator.program.typed.clone();
        let action = |translator: &Translator<'_>, label: &Expression| -> Option<NodeId> {
            match typed.definitions.get(&translator.model(label.id)) {
                Some(Definition::Node(node)) => Some(*node),
                _ => None,
            }
        };
        let mut made: Vec<SwitchCase> = Vec::new();
        for case in std::mem::take(cases) {
            let expanded = action(self.translator, &case.label)
                .and_then(|node| table.actions.iter().find(|one| one.action == node));
            match expanded.filter(|one| !one.fields.is_empty()) {
                None => made.push(case),
                Some(expanded) => {
                    let names: Vec<String> =
                        expanded.specialised.iter().map(|(_, name)| name.clone()).collect();
                    let (last, first) = names.split_last().unwrap_or((&names[0], &[]));
                    for name in first {
                        let label = self.translator.expression(case.label.span, name, Vec::new());
                        made.extend(label.map(|label| SwitchCase { label, body: None }));
                    }
                    let label = self.translator.expression(case.label.span, last, Vec::new());
                    made.extend(label.map(|label| SwitchCase { label, body: case.body }));
                }
            }
        }
        if let Some((_, name)) = &table.default_table {
            let copies = copy_cases(self.translator, &made);
            let span = source::Span::NONE;
            let text = format!("switch ({name}.apply().action_run) {{ {MISS}: {{ }} }}");
            let inner = self.translator.statement(span, &text, Vec::new());
            let outer =
                format!("switch ({name}.apply().action_run) {{ {MISS}: {{ ${{inner}} }} }}");
            let Some(mut inner) = inner else { return };
            if let StatementKind::Switch { cases, .. } = &mut inner.kind {
                *cases = copies;
            }
            let holes = vec![("inner", inner.into())];
            if let Some(Statement { kind: StatementKind::Switch { cases: mut miss, .. }, .. }) =
                self.translator.statement(span, &outer, holes)
            {
                // In front of `default`, which is the last label.
                let at =
                    made.iter().position(|case| matches!(case.label.kind, ExpressionKind::Default));
                let at = at.unwrap_or(made.len());
                made.splice(at..at, miss.drain(..));
            }
        }
        *cases = made;
    }
}

fn copy_cases(translator: &mut Translator<'_>, cases: &[SwitchCase]) -> Vec<SwitchCase> {
    let copies = cases.iter().map(|case| SwitchCase {
        label: translator.rewriter.copy(&case.label),
        body: case.body.as_ref().map(|body| translator.rewriter.copy(body)),
    });
    copies.collect()
}

impl VisitMut for Applies<'_, '_, '_> {
    fn statement(&mut self, statement: &mut Statement) {
        let span = statement.span;
        match &mut statement.kind {
            StatementKind::Call(call) => {
                if let Some(table) = self.applied(call)
                    && table.default_table.is_some()
                {
                    let missed = self.with_default(table, None);
                    let name = &table.name;
                    let text = format!("if ({name}.apply().miss) {{ ${{missed}} }}");
                    let holes = missed.map(|missed| ("missed", missed.into()));
                    let made = self.translator.statement(span, &text, holes.into_iter().collect());
                    if let Some(made) = made {
                        *statement = made;
                    }
                    return;
                }
            }
            StatementKind::If { condition, then, otherwise } => {
                if let Some(asked) = self.asked(condition) {
                    self.statement(then);
                    if let Some(otherwise) = otherwise {
                        self.statement(otherwise);
                    }
                    if asked.table.default_table.is_none() {
                        return;
                    }
                    if asked.then_on_hit {
                        let branch = otherwise.take().map(|branch| *branch);
                        *otherwise = self.with_default(asked.table, branch).map(Box::new);
                    } else {
                        let id = then.id;
                        let empty = Statement { id, span, kind: StatementKind::Empty };
                        let branch = std::mem::replace(&mut **then, empty);
                        if let Some(made) = self.with_default(asked.table, Some(branch)) {
                            **then = made;
                        }
                    }
                    return;
                }
            }
            StatementKind::Switch { subject, cases } => {
                if let ExpressionKind::Member(base, _) = &subject.kind
                    && let Some(table) = self.applied(base)
                {
                    for case in cases.iter_mut() {
                        if let Some(body) = &mut case.body {
                            body.statements.iter_mut().for_each(|inner| self.statement(inner));
                        }
                    }
                    self.switch(table, cases);
                    return;
                }
            }
            _ => {}
        }
        walk_statement(self, statement);
    }

    fn expression(&mut self, expression: &mut Expression) {
        if let Some(table) = self.applied(expression)
            && table.default_table.is_some()
        {
            let message =
                format!("the result of `{}.apply()` is used inside an expression", table.name);
            self.translator.found.push(
                Diagnostic::error(codes::APPLY_IN_EXPRESSION, expression.span, message).help(
                    "write `if (table.apply().hit) { ... } else { ... }`, which can apply the default action of the miss",
                ),
            );
        }
        p4::visit_mut::walk_expression(self, expression);
    }
}
