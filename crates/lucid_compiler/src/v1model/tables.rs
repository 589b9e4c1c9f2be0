// SPDX-License-Identifier: Apache-2.0
//! Match tables: key, arguments and results go through variables of the control that has the table,
//! since several statements may look it up. Entries are the control plane's.

use super::calculations::{checksum_text, hash_text, joined};
use super::control::{Control, DeclaredTable};
use crate::compiled::{GlobalPlace, TableCopy};
use crate::expressions::{self, BuiltIn, Environment, literal, type_text, wire_bits};
use crate::names::Names;
use lucid::core::{Action, Constant, Expression, GlobalId, GlobalKind, LocalId, Table, Type};
use source::Span;
use std::sync::Arc;

/// Writes one lookup.
pub(super) fn lookup(
    control: &mut Control<'_, '_>,
    table: GlobalId,
    key: &[Expression],
    arguments: &[Expression],
    results: &[LocalId],
) {
    let at = declared(control, table);
    let Some(at) = at else { return };
    for (field, value) in key.iter().enumerate() {
        let text = expressions::bits(value, control);
        let name = &control.tables[at].keys[field];
        let line = format!("{name} = {text};");
        control.put(line);
    }
    for (number, value) in arguments.iter().enumerate() {
        let text = control.text(value);
        let line = format!("{} = {text};", control.tables[at].arguments[number]);
        control.put(line);
    }
    let line = format!("{}.apply();", control.tables[at].name);
    control.put(line);
    for (number, result) in results.iter().enumerate() {
        let result = control.local(*result);
        let line = format!("{result} = {};", control.tables[at].results[number]);
        control.put(line);
    }
}

/// The table's number in the control; declares it the first time.
fn declared(control: &mut Control<'_, '_>, id: GlobalId) -> Option<usize> {
    if let Some(at) = control.tables.iter().position(|known| known.table == id) {
        return Some(at);
    }
    let program = control.context.program;
    let global = &program.globals[id.0 as usize];
    let GlobalKind::Table(table) = &global.kind else { return None };
    let span = global.span;
    let name = control.names.fresh(&global.name);
    // Seen by the control plane under a name of the whole program.
    let public = control.context.names.fresh(&global.name);
    let variables = |control: &mut Control<'_, '_>, what: &str, types: &[Type]| {
        types
            .iter()
            .enumerate()
            .map(|(at, ty)| control.declare(span, &type_text(*ty), &format!("{name}_{what}_{at}")))
            .collect::<Vec<_>>()
    };
    let key_types: Vec<Type> = table.key_widths.iter().map(|width| Type::Int(*width)).collect();
    let keys = variables(control, "key", &key_types);
    let arguments = variables(control, "argument", &table.argument_types);
    let results = variables(control, "result", &table.result_types);
    let mut actions = Vec::new();
    let mut listed = table.actions.clone();
    let default_at = listed.iter().position(|action| *action == table.default_action);
    if default_at.is_none() {
        listed.push(table.default_action);
    }
    for action in &listed {
        let action = &program.actions[action.0 as usize];
        let own = control.names.fresh(&format!("{name}_{}", action.name));
        let public = control.context.names.fresh(&format!("{public}_{}", action.name));
        let text = action_text(control, action, &arguments, &results);
        control
            .declarations
            .push((action.span, format!("@name(\".{public}\") action {own}{text}")));
        actions.push((own, public));
    }
    let default = &actions[default_at.unwrap_or(actions.len() - 1)].0;
    let text = table_text(&(name.as_str(), public.as_str()), table, &keys, &actions, default);
    control.declarations.push((span, text));
    let public_actions =
        actions.iter().take(table.actions.len()).map(|(_, name)| Arc::from(name.as_str()));
    let copy = TableCopy { name: Arc::from(public), actions: public_actions.collect() };
    control.context.globals[id.0 as usize] = GlobalPlace::Table { global: id, copies: vec![copy] };
    control.tables.push(DeclaredTable { table: id, name, keys, arguments, results });
    Some(control.tables.len() - 1)
}

/// Parameters and body of an action: installed arguments are parameters, others are variables.
fn action_text(
    control: &mut Control<'_, '_>,
    action: &Action,
    arguments: &[String],
    results: &[String],
) -> String {
    let mut names = super::interface::INTERFACE.names();
    for name in arguments.iter().chain(results) {
        names.fresh(name);
    }
    let mut locals = Vec::new();
    let mut parameters = Vec::new();
    let installed = action.install_count as usize;
    for (at, parameter) in action.parameters.iter().enumerate() {
        if at < installed {
            let name = names.fresh(&parameter.name);
            // Control planes know bits only.
            parameters.push(format!("bit<{}> {name}", wire_bits(parameter.ty)));
            locals.push(match parameter.ty {
                Type::Bool => format!("({name} == 1)"),
                _ => name,
            });
        } else {
            locals.push(arguments[at - installed].clone());
        }
    }
    let mut inside = Inside { control, locals: &locals, names, before: String::new() };
    let mut values = Vec::new();
    for (result, value) in results.iter().zip(&action.results) {
        let value = expressions::text(value, &mut inside);
        values.push(format!("{result} = {value};"));
    }
    format!("({}) {{ {} {} }}", parameters.join(", "), inside.before, values.join(" "))
}

fn table_text(
    (name, public): &(&str, &str),
    table: &Table,
    keys: &[String],
    actions: &[(String, String)],
    default: &str,
) -> String {
    let mut text = format!("@name(\".{public}\") table {name} {{");
    if !keys.is_empty() {
        text.push_str("key = {");
        for (at, key) in keys.iter().enumerate() {
            text.push_str(&format!("{key}: ternary @name(\"key_{at}\");"));
        }
        text.push('}');
    }
    text.push_str("actions = {");
    for (action, _) in actions {
        text.push_str(&format!("{action};"));
    }
    let defaults: Vec<String> = table
        .default_arguments
        .iter()
        .map(|argument| match argument {
            Constant::Int(value, width_bits) => literal(*value, *width_bits),
            Constant::Bool(value) => literal(u128::from(*value), 1),
            Constant::Group(_) => literal(0, 1),
        })
        .collect();
    text.push_str(&format!(
        "}} default_action = {default}({}); size = {}; }}",
        defaults.join(", "),
        table.capacity
    ));
    text
}

/// What an action sees: its parameters, and what the control does.
struct Inside<'a, 'c, 'p> {
    control: &'a mut Control<'c, 'p>,
    locals: &'a [String],
    names: Names,
    /// Calculations, in front of the results.
    before: String,
}

impl Environment for Inside<'_, '_, '_> {
    fn local(&mut self, local: LocalId) -> String {
        self.locals[local.0 as usize].clone()
    }

    fn built_in(&mut self, value: BuiltIn, span: Span) -> (String, u32) {
        self.control.built_in(value, span)
    }

    fn hash(&mut self, seed: u32, values: &[(String, u32)], width_bits: u32, _: Span) -> String {
        let mut parts = Vec::new();
        for part in 0..width_bits.div_ceil(32) {
            let polynomial = lucid::core::hash::polynomial(seed.wrapping_add(part));
            let mark = self.control.context.calculation(Some(polynomial));
            let hashed = self.names.fresh("hashed");
            self.before.push_str(&format!("bit<32> {hashed};"));
            self.before.push_str(&hash_text(&mark, &hashed, values));
            parts.insert(0, hashed);
        }
        joined(&parts, width_bits)
    }

    fn checksum(&mut self, values: &[(String, u32)], _: Span) -> String {
        let mark = self.control.context.calculation(None);
        let sum = self.names.fresh("checksum");
        self.before.push_str(&format!("bit<16> {sum};"));
        self.before.push_str(&checksum_text(&mark, &sum, values));
        sum
    }

    fn impossible(&mut self, span: Span) {
        self.control.impossible(span);
    }
}
