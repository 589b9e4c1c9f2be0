// SPDX-License-Identifier: Apache-2.0
//! [`difference`]: what differs between two programs so that the one's reactions cannot take the place of the other's.

use crate::compiler::CompiledProgram;
use crate::interface::{
    ArgumentKind, Interface, MalleableField, MalleableValue, Reaction, ReactionTable,
};
use std::sync::Arc;

/// The first difference, a sentence such as "the type of malleable value `v` differs"; `None` if only the C, rates and
/// costs differ.
pub(super) fn difference(running: &CompiledProgram, new: &CompiledProgram) -> Option<String> {
    of_interfaces(&running.interface, &new.interface)
        .or_else(|| of_texts(&running.written_text, &new.written_text))
        .or_else(|| of_texts(&running.text, &new.text))
}

fn of_interfaces(running: &Interface, new: &Interface) -> Option<String> {
    let values = of_lists("malleable value", |value| &value.name, &running.values, &new.values);
    let fields = of_lists("malleable field", |field| &field.name, &running.fields, &new.fields);
    let tables = of_lists("malleable table", |table| &table.name, &running.tables, &new.tables);
    let reactions =
        of_lists("reaction", |reaction| &reaction.name, &running.reactions, &new.reactions);
    let names = values.or(fields).or(tables).or(reactions);
    names
        .or_else(|| running.values.iter().zip(&new.values).find_map(of_values))
        .or_else(|| running.fields.iter().zip(&new.fields).find_map(of_fields))
        .or_else(|| running.tables.iter().zip(&new.tables).find_map(of_tables))
        .or_else(|| running.reactions.iter().zip(&new.reactions).find_map(of_reactions))
}

/// Compares the names of two lists.
fn of_lists<T>(
    what: &str,
    name: impl Fn(&T) -> &Arc<str>,
    running: &[T],
    new: &[T],
) -> Option<String> {
    let running: Vec<&Arc<str>> = running.iter().map(&name).collect();
    let new: Vec<&Arc<str>> = new.iter().map(&name).collect();
    if running == new {
        return None;
    }
    let gone = running.iter().find(|name| !new.contains(name));
    let added = new.iter().find(|name| !running.contains(name));
    Some(match (gone, added) {
        (Some(name), _) => format!("{what} `{name}` is gone"),
        (None, Some(name)) => format!("{what} `{name}` is new"),
        (None, None) => format!("the order of {what}s differs"),
    })
}

fn of_values((old, new): (&MalleableValue, &MalleableValue)) -> Option<String> {
    let what = match (old.ty == new.ty, old.initial == new.initial) {
        (false, _) => "type",
        (true, false) => "initial value",
        (true, true) => return None,
    };
    Some(format!("the {what} of malleable value `{}` differs", old.name))
}

fn of_fields((old, new): (&MalleableField, &MalleableField)) -> Option<String> {
    let what = if old.ty != new.ty {
        "type"
    } else if old.alternatives != new.alternatives {
        "list of alternatives"
    } else if old.initial != new.initial {
        "initial alternative"
    } else {
        return None;
    };
    Some(format!("the {what} of malleable field `{}` differs", old.name))
}

fn of_tables((old, new): (&ReactionTable, &ReactionTable)) -> Option<String> {
    let what = if (&old.keys, old.has_priorities) != (&new.keys, new.has_priorities) {
        "key"
    } else if (&old.actions, old.default_may_change) != (&new.actions, new.default_may_change) {
        "list of actions"
    } else {
        return None;
    };
    Some(format!("the {what} of malleable table `{}` differs", old.name))
}

fn of_reactions((old, new): (&Reaction, &Reaction)) -> Option<String> {
    let measured = |reaction: &Reaction| -> Vec<ArgumentKind> {
        let arguments = reaction.arguments.iter().map(|argument| match &argument.kind {
            // Its value is compiled into the C.
            ArgumentKind::Constant { constant, ty, .. } => {
                ArgumentKind::Constant { constant: constant.clone(), ty: *ty, value: 0 }
            }
            kind => kind.clone(),
        });
        arguments.collect()
    };
    let are_equal = (measured(old), &old.validities) == (measured(new), &new.validities);
    (!are_equal).then(|| format!("the list of arguments of reaction `{}` differs", old.name))
}

/// Compares lines without their indentation.
fn of_texts(running: &str, new: &str) -> Option<String> {
    let code = |text: &str| -> Vec<String> {
        let lines = text.lines().map(str::trim);
        lines.filter(|line| !line.is_empty()).map(str::to_string).collect()
    };
    let (running, new) = (code(running), code(new));
    let at = running.iter().zip(&new).take_while(|(old, new)| old == new).count();
    match (running.get(at), new.get(at)) {
        (Some(old), Some(new)) => Some(format!("the P4 code differs: `{old}` became `{new}`")),
        (Some(old), None) => Some(format!("the P4 code differs: `{old}` is gone")),
        (None, Some(new)) => Some(format!("the P4 code differs: `{new}` is new")),
        (None, None) => None,
    }
}
