// SPDX-License-Identifier: Apache-2.0
//! Statements in P4_16. Accesses of cells that may be outside of their array stand under a comparison with its size.

use super::Printer;
use crate::core::{Callee, Expression, Range, Statement, StatementKind};
use source::Span;

/// How an index of an array is reached.
enum Index {
    /// It is in range.
    Inside(String),
    /// It has to be compared with the size.
    Guarded(String, u32),
    /// It is never in range.
    Outside,
}

impl Printer<'_> {
    pub(super) fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Assign(variable, value) => {
                let text = self.value(value, span);
                let name = &self.variables[variable.index()];
                if *name != text {
                    self.put(span, format!("{name} = {text};"));
                }
                let range = self.ranges.of(value);
                self.ranges.set(*variable, range);
            }
            StatementKind::Read(variable, global, index) => {
                let index = self.index(*global, index, span);
                let (name, register) =
                    (&self.variables[variable.index()], &self.registers[*global]);
                let text = match index {
                    Index::Inside(index) => format!("{register}.read({name}, {index});"),
                    Index::Guarded(index, size) => format!(
                        "{name} = 32w0; if ({index} < 32w{size}) {{ {register}.read({name}, {index}); }}"
                    ),
                    Index::Outside => format!("{name} = 32w0;"),
                };
                self.put(span, text);
                self.ranges.set(*variable, Range::ALL);
            }
            StatementKind::Write(global, index, value) => {
                let index = self.index(*global, index, span);
                let value = self.value(value, span);
                let register = &self.registers[*global];
                let text = match index {
                    Index::Inside(index) => format!("{register}.write({index}, {value});"),
                    Index::Guarded(index, size) => {
                        format!(
                            "if ({index} < 32w{size}) {{ {register}.write({index}, {value}); }}"
                        )
                    }
                    Index::Outside => return,
                };
                self.put(span, text);
            }
            // Programs are compiled with helpers in the place of their calls.
            StatementKind::Call(_, Callee::Helper(_), _) => {}
            StatementKind::Call(variable, Callee::Hash, arguments) => {
                let mut bytes = Vec::new();
                for argument in arguments {
                    let text = self.simple(argument, span);
                    bytes.extend(
                        [(7, 0), (15, 8), (23, 16), (31, 24)]
                            .map(|(high, low)| format!("{text}[{high}:{low}]")),
                    );
                }
                let name = &self.variables[variable.index()];
                let bytes = bytes.join(", ");
                self.put(
                    span,
                    format!("hash({name}, HashAlgorithm.crc16, 32w0, {{ {bytes} }}, 32w65536);"),
                );
                self.ranges.set(*variable, Range::of_call(Callee::Hash));
            }
            StatementKind::If(condition, then, otherwise) => {
                self.branches(condition, then, otherwise, span)
            }
        }
    }

    fn branches(
        &mut self,
        condition: &Expression,
        then: &[Statement],
        otherwise: &[Statement],
        span: Span,
    ) {
        let text = self.condition(condition, span);
        self.put(span, format!("if ({text}) {{"));
        let mut changes = Vec::new();
        for (list, holds) in [(then, true), (otherwise, false)] {
            if !holds && !list.is_empty() {
                self.put(span, "else {");
            }
            let begin = self.ranges.begin();
            self.ranges.assume(condition, holds);
            self.statements(list);
            changes.push(self.ranges.end(begin));
            if holds || !list.is_empty() {
                self.put(span, "}");
            }
        }
        self.ranges.join(&changes[0], &changes[1]);
    }

    fn index(&mut self, global: usize, index: &Expression, span: Span) -> Index {
        let size = self.core.globals[global].cells() as u32;
        let range = self.ranges.of(index);
        if range.is_below(size) {
            Index::Inside(self.value(index, span))
        } else if range.is_never_below(size) {
            Index::Outside
        } else {
            Index::Guarded(self.simple(index, span), size)
        }
    }
}
