// SPDX-License-Identifier: Apache-2.0
//! The ends of a pipeline's control on v1model: statements that measure a packet stand in front of each `return` and `exit`.

use super::translator::Translator;
use p4::ast::{Statement, StatementKind};
use p4::visit_mut::{VisitMut, walk_statement};

/// Puts statements in front of `return` and `exit` in a pipeline's control.
pub(super) struct Ends<'t, 'p, 'x> {
    pub(super) translator: &'t mut Translator<'p>,
    pub(super) text: &'x str,
}

impl Ends<'_, '_, '_> {
    fn end(&mut self, statement: &mut Statement) {
        let span = statement.span;
        let id = self.translator.rewriter.fresh_id();
        let empty = Statement { id, span, kind: StatementKind::Empty };
        let end = std::mem::replace(statement, empty);
        let text = format!("{{ {} ${{end}} }}", self.text);
        if let Some(made) = self.translator.statement(span, &text, vec![("end", end.into())]) {
            *statement = made;
        }
    }
}

impl VisitMut for Ends<'_, '_, '_> {
    fn statement(&mut self, statement: &mut Statement) {
        match statement.kind {
            StatementKind::Return(_) | StatementKind::Exit => self.end(statement),
            _ => walk_statement(self, statement),
        }
    }
}

/// The same for `exit` only.
pub(super) struct Exits<'e, 't, 'p, 'x> {
    pub(super) ends: &'e mut Ends<'t, 'p, 'x>,
}

impl VisitMut for Exits<'_, '_, '_, '_> {
    fn statement(&mut self, statement: &mut Statement) {
        match statement.kind {
            StatementKind::Exit => self.ends.end(statement),
            _ => walk_statement(self, statement),
        }
    }
}
