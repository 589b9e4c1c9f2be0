// SPDX-License-Identifier: Apache-2.0
//! Places where tables are applied: on a miss the default table follows, `hit`, `miss` and `action_run` answer as written,
//! and labels list the specialised actions.

use super::architectures::Style;
use super::tables::{ExpandedTable, MISS};
use super::translator::Translator;
use crate::language::codes;
use p4::ast::{
    ControlDeclaration, DeclarationKind, Expression, ExpressionKind, NodeId, Statement,
    StatementKind, SwitchCase, TablePropertyKind, UnaryOperator,
};
use p4::typed::{Callee, Definition};
use p4::visit::{Visit, walk_expression};
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

impl Applies<'_, '_, '_> {
    /// Whether a body applies a table or a control. BMv2 wants one successor of each table, so it refuses two copies of such
    /// a body; Tofino's compiler joins them.
    fn applies_anything(&self, cases: &[SwitchCase]) -> bool {
        struct Applied<'t, 'p>(&'t Translator<'p>, bool);
        impl<'a> Visit<'a> for Applied<'_, '_> {
            fn expression(&mut self, expression: &'a Expression) {
                let node = self.0.model(expression.id);
                self.1 |= matches!(
                    self.0.program.typed.calls.get(&node).map(|call| call.callee),
                    Some(Callee::TableApply(_) | Callee::BlockApply(_) | Callee::DirectApply(_))
                );
                walk_expression(self, expression);
            }
        }
        let mut applied = Applied(self.translator, false);
        let bodies = cases.iter().filter_map(|case| case.body.as_ref());
        bodies.for_each(|body| applied.block(body));
        applied.1
    }

    /// Rewrites a switch whose bodies stand once: table and default table say in a variable which body follows.
    fn switch_by_arm(&mut self, table: &ExpandedTable, statement: &mut Statement) {
        let StatementKind::Switch { cases, .. } = &mut statement.kind else { return };
        let span = statement.span;
        let variable = format!("p4r_{}_arm", table.name);
        let mut bodies = Vec::new();
        for case in cases.iter_mut() {
            let Some(body) = &mut case.body else { continue };
            let text = format!("{variable} = {};", bodies.len() + 1);
            let mark = self.translator.statements(span, &text, Vec::new());
            bodies.push(std::mem::replace(&mut body.statements, mark));
        }
        self.switch(table, cases);
        let width = if bodies.len() < 256 { 8 } else { 32 };
        let mut follows: Vec<Statement> = Vec::new();
        for (at, body) in bodies.into_iter().enumerate().rev() {
            let text =
                format!("if ({variable} == {}) {{ ${{body}} }} else {{ ${{rest}} }}", at + 1);
            let holes = vec![("body", body.into()), ("rest", follows.into())];
            follows = self.translator.statements(span, &text, holes);
        }
        let id = self.translator.rewriter.fresh_id();
        let empty = Statement { id, span, kind: StatementKind::Empty };
        let asked = std::mem::replace(statement, empty);
        let text = format!("{{ bit<{width}> {variable} = 0; ${{asked}} ${{follows}} }}");
        let holes = vec![("asked", asked.into()), ("follows", follows.into())];
        if let Some(made) = self.translator.statement(span, &text, holes) {
            *statement = made;
        }
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
                    let stand_once = self.translator.style == Style::V1model
                        && table.default_table.is_some()
                        && self.applies_anything(cases);
                    for case in cases.iter_mut() {
                        if let Some(body) = &mut case.body {
                            body.statements.iter_mut().for_each(|inner| self.statement(inner));
                        }
                    }
                    match stand_once {
                        true => self.switch_by_arm(table, statement),
                        false => self.switch(table, cases),
                    }
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
