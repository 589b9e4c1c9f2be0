// SPDX-License-Identifier: Apache-2.0
//! Tables of the program as P4_16: their keys, their actions, and what they look up. Entries are to come.

use super::conditions::condition;
use super::context::{Context, control_name};
use crate::atomic::program::{Operand, Operation, StatementId};
use crate::compiled::TableCopy;
use crate::expressions::{self, Environment, literal, type_text};
use lucid::core::{ActionId, Constant, Expression, GlobalId, GlobalKind, LocalId, Type};
use pisa::{Gress, MatchKind, UnitId, VariableId};

/// Locals of an action of the program: installed ones are parameters, the others what is looked up with.
struct ActionNames {
    names: Vec<String>,
}

// Elaboration leaves only locals in actions' results.
impl Environment for ActionNames {
    fn local(&mut self, local: LocalId) -> String {
        self.names.get(local.0 as usize).cloned().unwrap_or_else(|| "0".to_string())
    }
}

/// The table of a lookup; what stands in `apply` comes back.
pub(super) fn lookup(
    context: &mut Context<'_>,
    stage: usize,
    unit: UnitId,
    statement: StatementId,
    gress: Gress,
) -> Option<String> {
    let found = context.atomic.statements[statement.0 as usize].clone();
    let Operation::Lookup { table: id, key, arguments, results } = &found.operation else {
        return None;
    };
    let global = context.program.globals.get(id.0 as usize)?;
    let GlobalKind::Table(table) = &global.kind else { return None };
    let own = context.problem.units.get(unit.0 as usize)?.table.clone();
    let name = context.names.fresh(&global.name);
    let mut action_names = Vec::new();
    for action in &table.actions {
        let action_name = context.names.fresh(&context.program.actions[action.0 as usize].name);
        own_action(context, *action, &action_name, arguments, results, gress);
        action_names.push(action_name);
    }
    let mut text = format!("@stage({stage}) table {name} {{ key = {{");
    for (at, (operand, width_bits)) in key.iter().zip(&table.key_widths).enumerate() {
        let kind = match own.as_ref().and_then(|own| own.keys.get(at)).map(|key| key.kind) {
            Some(MatchKind::Exact) => "exact",
            Some(MatchKind::LongestPrefix) => "lpm",
            Some(MatchKind::Range) => "range",
            Some(MatchKind::Ternary) | None => "ternary",
        };
        let field = context.operand(*operand, *width_bits, gress);
        text.push_str(&format!("{field} : {kind} @name(\"{}\");", key_field(at)));
    }
    text.push_str("} actions = {");
    for action_name in &action_names {
        text.push_str(&format!("{action_name};"));
    }
    let default = table.actions.iter().position(|action| *action == table.default_action);
    let default = match default {
        Some(at) => action_names[at].clone(),
        None => {
            let action = &context.program.actions[table.default_action.0 as usize];
            let action_name = context.names.fresh(&action.name);
            own_action(context, table.default_action, &action_name, arguments, results, gress);
            text.push_str(&format!("@defaultonly {action_name};"));
            action_name
        }
    };
    let defaults: Vec<String> = table.default_arguments.iter().map(constant).collect();
    let size = table.capacity.max(1);
    text.push_str(&format!(
        "}} default_action = {default}({}); size = {size}; }}",
        defaults.join(", ")
    ));
    context.put(found.span, text);
    let control = super::parts::control(gress);
    let copy = TableCopy {
        name: control_name(control, &name),
        actions: action_names.iter().map(|action| control_name(control, action)).collect(),
    };
    context.place_copy(GlobalId(id.0), copy);
    Some(match condition(context, &found.guard, gress) {
        None => format!("{name}.apply();"),
        Some(condition) => format!("if ({condition}) {{ {name}.apply(); }}"),
    })
}

fn constant(constant: &Constant) -> String {
    match constant {
        Constant::Int(value, width_bits) => literal(*value, *width_bits),
        Constant::Bool(value) => literal(u128::from(*value), 1),
        Constant::Group(_) => literal(0, 1),
    }
}

/// The field of an entry that holds an installed argument.
pub fn data_field(at: usize, parameter: &str) -> String {
    format!("data{at}_{}", crate::names::identifier(parameter))
}

/// The field of an entry that holds a part of the key.
pub fn key_field(at: usize) -> String {
    format!("key{at}")
}

fn own_action(
    context: &mut Context<'_>,
    id: ActionId,
    name: &str,
    arguments: &[Operand],
    results: &[Option<VariableId>],
    gress: Gress,
) {
    let action = &context.program.actions[id.0 as usize];
    let installed = action.install_count as usize;
    let mut names = ActionNames { names: Vec::new() };
    let mut parameters = Vec::new();
    for (at, parameter) in action.parameters.iter().enumerate() {
        // Booleans are one bit outside of expressions and `bool` in them.
        let width_bits = expressions::wire_bits(parameter.ty).max(1);
        let text = if at < installed {
            let field = data_field(at, &parameter.name);
            parameters.push(format!("{} {field}", type_text(Type::Int(width_bits))));
            field
        } else {
            arguments.get(at - installed).map_or_else(
                || literal(0, width_bits),
                |operand| context.operand(*operand, width_bits, gress),
            )
        };
        names.names.push(match parameter.ty {
            Type::Bool => format!("({text} == 1w1)"),
            _ if text.starts_with('(') => format!("({text})"),
            _ => text,
        });
    }
    let mut body = String::new();
    for (result, to) in action.results.iter().zip(results) {
        let Some(to) = to else { continue };
        let value = result_text(result, context.width(*to), &mut names);
        body.push_str(&format!("{} = {value};", context.target(*to, gress)));
    }
    context.put(action.span, format!("action {name}({}) {{ {body} }}", parameters.join(", ")));
}

fn result_text(result: &Expression, width_bits: u32, names: &mut ActionNames) -> String {
    let own_bits = expressions::wire_bits(result.ty).max(1);
    let bits = match result.ty {
        Type::Bool => expressions::bits(result, names),
        _ => expressions::operand(result, names),
    };
    expressions::cast(bits, own_bits, width_bits)
}
