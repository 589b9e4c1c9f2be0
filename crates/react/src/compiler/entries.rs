// SPDX-License-Identifier: Apache-2.0
//! Constant entries of expanded tables: a row for each combination of alternatives and each version, as the control map
//! makes them of entries that come later.

use super::tables::ExpandedTable;
use super::translator::Translator;
use p4::ast::{Entry, Expression, ExpressionKind};
use p4::typed::Callee;
use std::collections::BTreeSet;

impl Translator<'_> {
    /// Makes the rows of an entry of the program.
    pub(super) fn expand_entry(
        &mut self,
        entry: &Entry,
        table: &ExpandedTable,
        rows: &mut Vec<Entry>,
    ) {
        let node = match self.program.typed.calls.get(&entry.action.id).map(|call| call.callee) {
            Some(Callee::Action(node)) => node,
            _ => return,
        };
        let ExpandedTable { keys, selectors, .. } = table;
        let Some(action) = table.actions.iter().find(|action| action.action == node) else {
            return;
        };
        let key_fields = keys.iter().flat_map(|key| key.fields()).copied();
        let fields: Vec<usize> = key_fields
            .chain(action.fields.iter().copied())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let parts: Vec<Expression> = match &entry.keyset.kind {
            ExpressionKind::TupleKeyset(parts) | ExpressionKind::List(parts)
                if parts.len() == keys.len() =>
            {
                parts.clone()
            }
            _ if keys.len() <= 1 => vec![entry.keyset.clone()],
            _ => vec![entry.keyset.clone(); keys.len()],
        };
        let versions: &[Option<u8>] =
            if table.is_malleable { &[Some(0), Some(1)] } else { &[None] };
        for version in versions {
            for index in 0..self.combinations(&fields) {
                let choice = self.choice(&fields, index);
                let mut columns: Vec<Expression> = Vec::new();
                let any = |translator: &mut Translator<'_>| {
                    let id = translator.rewriter.fresh_id();
                    Expression { id, span: entry.span, kind: ExpressionKind::DontCare }
                };
                for (key, part) in keys.iter().zip(&parts) {
                    let own = key.fields();
                    for combination in 0..self.combinations(own) {
                        let is_it = self
                            .choice(own, combination)
                            .iter()
                            .all(|(field, at)| choice[field] == *at);
                        columns.push(match is_it {
                            true => self.rewriter.copy(part),
                            false => any(self),
                        });
                    }
                }
                for field in selectors {
                    if self.alternatives[*field] == 1 {
                        continue;
                    }
                    columns.push(match choice.get(field) {
                        Some(at) => {
                            match self.expression(entry.span, &at.to_string(), Vec::new()) {
                                Some(made) => made,
                                None => return,
                            }
                        }
                        None => any(self),
                    });
                }
                if let Some(version) = version {
                    columns.extend(self.expression(entry.span, &version.to_string(), Vec::new()));
                }
                let action_choice = action.fields.iter();
                let at = action_choice
                    .fold(0, |at, field| at * self.alternatives[*field] + choice[field]);
                let mut row = self.rewriter.copy(entry);
                row.action.path.name.text = action.specialised[at].1.as_str().into();
                row.keyset = match columns.len() {
                    1 => columns.remove(0),
                    _ => {
                        let id = self.rewriter.fresh_id();
                        let kind = ExpressionKind::TupleKeyset(columns);
                        Expression { id, span: entry.keyset.span, kind }
                    }
                };
                rows.push(row);
            }
        }
    }
}
