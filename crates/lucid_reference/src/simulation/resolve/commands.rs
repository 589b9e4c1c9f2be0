// SPDX-License-Identifier: Apache-2.0
//! Resolves commands of a specification: arrays, tables and actions by name, with indices and values that
//! fit.

use super::super::codes;
use super::super::commands::ResolvedCommand;
use super::{Resolver, fit};
use crate::interpreter::Entry;
use crate::specification::{Argument, Command, FieldSpans, KeyPattern, find_member, find_name};
use lucid::core::arithmetic::mask;
use lucid::core::{ActionId, GlobalId, GlobalKind, Table, Type};
use source::{Diagnostic, Span};

/// Of entries whose command says no priority, as of those that programs install.
const DEFAULT_PRIORITY: u32 = 10;

impl<'a> Resolver<'a> {
    pub(super) fn command(
        &mut self,
        command: &Command,
        field_spans: &FieldSpans,
    ) -> Option<ResolvedCommand> {
        match command {
            Command::ArrayGet { array, start, end } => {
                let (array, ..) = self.array(array, field_spans)?;
                let last = end.unwrap_or(start.saturating_add(1));
                self.within(array, *start, last, field_spans)?;
                let single = end.is_none();
                Some(ResolvedCommand::ArrayGet { array, start: *start, end: last, single })
            }
            Command::ArraySet { array, start, end, values } => {
                let (array, width_bits, cells) = self.array(array, field_spans)?;
                let end = end.unwrap_or(start.saturating_add(1));
                self.within(array, *start, end, field_spans)?;
                let global = &self.program.globals[array.0 as usize];
                if values.len() != cells {
                    let message = format!(
                        "{} values for `{}`, whose indices have {cells}",
                        values.len(),
                        global.name
                    );
                    let error =
                        Diagnostic::error(codes::ARGUMENT_COUNT, field_spans.whole, message);
                    self.found.push(error.label(global.span, "declared here"));
                    return None;
                }
                if let Some(value) = values.iter().find(|value| **value > mask(width_bits)) {
                    let message = format!(
                        "{value} does not fit in the cells of `{}`, int<{width_bits}>",
                        global.name
                    );
                    let error = Diagnostic::error(codes::MISFIT, field_spans.whole, message);
                    self.found.push(error.label(global.span, "declared here"));
                    return None;
                }
                let second = values.get(1).copied().unwrap_or(0);
                Some(ResolvedCommand::ArraySet {
                    array,
                    start: *start,
                    end,
                    values: [values[0], second],
                })
            }
            Command::TableInstall { table, key, priority, action, arguments } => {
                let (table, what) = self.table(table, field_spans)?;
                let key = self.key(table, what, key, field_spans)?;
                let action = self.action(table, what, action, field_spans)?;
                let arguments = self.action_arguments(action, arguments, field_spans)?;
                let priority = priority.unwrap_or(DEFAULT_PRIORITY);
                let entry = Entry { key, priority, action, arguments };
                Some(ResolvedCommand::TableInstall { table, entry })
            }
            Command::TableRemove { table, key } => {
                let (table, what) = self.table(table, field_spans)?;
                let key = self.key(table, what, key, field_spans)?;
                Some(ResolvedCommand::TableRemove { table, key })
            }
            Command::TableGet { table } => {
                let (table, _) = self.table(table, field_spans)?;
                Some(ResolvedCommand::TableGet { table })
            }
        }
    }

    fn global(&mut self, name: &str, field_spans: &FieldSpans, wanted: &str) -> Option<GlobalId> {
        let globals = &self.program.globals;
        let names = globals.iter().map(|global| global.name.as_ref());
        if let Some(at) = find_name(names, name) {
            return Some(GlobalId(at as u32));
        }
        let message = format!("the program has no {wanted} `{name}`");
        let mut error = Diagnostic::error(codes::UNKNOWN_GLOBAL, field_spans.name, message);
        if let Some(meant) =
            source::nearest(name, globals.iter().map(|global| global.name.as_ref()))
        {
            error = error.help(format!("did you mean `{meant}`?"));
        } else if let Some(global) = globals.first() {
            error = error.help(format!("its globals are named like `{}`", global.name));
        }
        self.found.push(error);
        None
    }

    fn wrong_kind(&mut self, id: GlobalId, field_spans: &FieldSpans, wanted: &str) {
        let global = &self.program.globals[id.0 as usize];
        let message = format!("`{}` is not {wanted}", global.name);
        let error = Diagnostic::error(codes::UNKNOWN_GLOBAL, field_spans.name, message);
        self.found.push(error.label(global.span, "declared here"));
    }

    /// An array, array of pairs or counter: its width in bits and cells an index.
    fn array(&mut self, name: &str, field_spans: &FieldSpans) -> Option<(GlobalId, u32, usize)> {
        let id = self.global(name, field_spans, "array")?;
        match self.program.globals[id.0 as usize].kind {
            GlobalKind::Array { width_bits, .. } | GlobalKind::Counter { width_bits, .. } => {
                Some((id, width_bits, 1))
            }
            GlobalKind::PairArray { width_bits, .. } => Some((id, width_bits, 2)),
            GlobalKind::Table(_) => {
                self.wrong_kind(id, field_spans, "an array");
                None
            }
        }
    }

    fn table(&mut self, name: &str, field_spans: &FieldSpans) -> Option<(GlobalId, &'a Table)> {
        let id = self.global(name, field_spans, "table")?;
        match &self.program.globals[id.0 as usize].kind {
            GlobalKind::Table(table) => Some((id, table)),
            _ => {
                self.wrong_kind(id, field_spans, "a table");
                None
            }
        }
    }

    /// That cells `start` to `end`, without `end`, are there.
    fn within(
        &mut self,
        array: GlobalId,
        start: u64,
        end: u64,
        field_spans: &FieldSpans,
    ) -> Option<()> {
        let global = &self.program.globals[array.0 as usize];
        let length = match global.kind {
            GlobalKind::Array { length, .. } | GlobalKind::PairArray { length, .. } => length,
            GlobalKind::Counter { .. } => 1,
            GlobalKind::Table(_) => 0,
        };
        if end <= length && start <= end {
            return Some(());
        }
        let what = if start > end {
            format!("the range begins at {start} and ends at {end}")
        } else {
            format!("index {} is beyond the end of `{}`", (end - 1).max(start), global.name)
        };
        let error = Diagnostic::error(codes::BEYOND_THE_END, field_spans.whole, what);
        let label = format!("it has the indices 0 to {}", length.saturating_sub(1));
        self.found.push(error.label(global.span, label));
        None
    }

    fn entry_error(&self, table: GlobalId, place: Span, message: String) -> Diagnostic {
        let span = self.program.globals[table.0 as usize].span;
        Diagnostic::error(codes::ENTRY_MISFIT, place, message)
            .label(span, "the table is declared here")
    }

    fn key(
        &mut self,
        id: GlobalId,
        table: &Table,
        key: &[KeyPattern],
        field_spans: &FieldSpans,
    ) -> Option<Vec<(u128, u128)>> {
        let widths = &table.key_widths;
        if key.len() != widths.len() {
            let message =
                format!("the key has {} fields and the table's has {}", key.len(), widths.len());
            let error = self.entry_error(id, field_spans.whole, message);
            self.found.push(error);
            return None;
        }
        let mut fields = Vec::with_capacity(key.len());
        for (at, (pattern, width_bits)) in key.iter().zip(widths).enumerate() {
            let ones = mask(*width_bits);
            let field_mask = pattern.mask.unwrap_or(ones);
            if pattern.value > ones || (field_mask > ones && pattern.mask != Some(u128::MAX)) {
                let message = format!(
                    "field {at} of the key, {}, does not fit in int<{width_bits}>",
                    if pattern.value > ones { pattern.value } else { field_mask }
                );
                let place = field_spans.key.get(at).copied().unwrap_or(field_spans.whole);
                let error = self.entry_error(id, place, message);
                self.found.push(error);
                return None;
            }
            fields.push((pattern.value, field_mask & ones));
        }
        Some(fields)
    }

    /// An action of a table. Users may write the table or the module before it.
    fn action(
        &mut self,
        id: GlobalId,
        table: &Table,
        name: &str,
        field_spans: &FieldSpans,
    ) -> Option<ActionId> {
        let actions = &self.program.actions;
        let name_of = |action: &ActionId| actions[action.0 as usize].name.as_ref();
        let last = |name: &str| name.rsplit('.').next().map(str::to_string);
        let found = find_member(table.actions.iter().map(name_of), name)
            .and_then(|at| table.actions.get(at))
            .or_else(|| table.actions.iter().find(|action| last(name_of(action)) == last(name)));
        if found.is_none() {
            let message = format!("the table has no action `{name}`");
            let list: Vec<&str> = table.actions.iter().map(name_of).collect();
            let error = self.entry_error(id, field_spans.action, message);
            self.found.push(error.help(format!("its actions are {}", list.join(", "))));
        }
        found.copied()
    }

    fn action_arguments(
        &mut self,
        action: ActionId,
        arguments: &[Argument],
        field_spans: &FieldSpans,
    ) -> Option<Vec<crate::interpreter::Value>> {
        let action = &self.program.actions[action.0 as usize];
        let wanted = &action.parameters[..action.install_count as usize];
        let types: Vec<Type> = wanted.iter().map(|parameter| parameter.ty).collect();
        let mut parts = Vec::new();
        super::flatten(&mut super::numbered(arguments), &types, &mut parts);
        if parts.len() != wanted.len() {
            let message = format!(
                "action `{}` takes {} arguments and is given {}",
                action.name,
                wanted.len(),
                parts.len()
            );
            let error = Diagnostic::error(codes::ENTRY_MISFIT, field_spans.whole, message);
            self.found.push(error.label(action.span, "the action is declared here"));
            return None;
        }
        let mut values = Vec::with_capacity(parts.len());
        for (part, parameter) in parts.iter().zip(wanted) {
            match fit(part.argument, parameter.ty) {
                Ok(value) => values.push(value),
                Err(why) => {
                    let message =
                        format!("argument `{}` of `{}`: {why}", parameter.name, action.name);
                    let error =
                        Diagnostic::error(codes::ENTRY_MISFIT, part.span(field_spans), message);
                    self.found.push(error.label(parameter.span, "declared here"));
                    return None;
                }
            }
        }
        Some(values)
    }
}
