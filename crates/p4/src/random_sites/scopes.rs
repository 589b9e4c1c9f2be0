// SPDX-License-Identifier: Apache-2.0
//! The scopes of declarations that only one path of calls reaches: the bodies of blocks that the package
//! names once, and their actions and tables. A drawing call there has a key that is known before lowering.

use super::walk::{Step, units, walk_unit};
use crate::ast::*;
use crate::check::annotation_string;
use crate::typed::{Callee, Definition, TypedProgram};
use std::collections::{HashMap, HashSet};

/// A declaration and the scope that its calls have.
pub(super) struct Scoped<'a> {
    /// The declaration.
    pub(super) declaration: &'a Declaration,
    /// The scope.
    pub(super) scope: String,
    /// Whether it is an action that is called, too; then its calls have another scope as well.
    pub(super) is_called: bool,
}

/// Returns the declarations that only one path of calls reaches, with the scope of their calls.
pub(super) fn scopes(typed: &TypedProgram) -> Vec<Scoped<'_>> {
    let mut roles: HashMap<NodeId, Vec<String>> = HashMap::new();
    let declared: HashMap<NodeId, &Declaration> =
        typed.program.declarations.iter().map(|each| (each.id, each)).collect();
    if let Some(main) = typed.main.and_then(|id| declared.get(&id)) {
        add_roles(typed, &declared, main, "", &mut roles);
    }
    let mut made: HashMap<NodeId, u32> = HashMap::new();
    for info in typed.calls.values() {
        if let Callee::Constructor(id, _) | Callee::DirectApply(id) = info.callee {
            *made.entry(id).or_insert(0) += 1;
        }
    }
    let mut called: HashSet<NodeId> = HashSet::new();
    for unit in units(&typed.program) {
        walk_unit(unit, &mut |step| {
            if let Step::Call(call) = step
                && let Some(info) = typed.calls.get(&call.id)
                && let Callee::Action(id) = info.callee
            {
                called.insert(id);
            }
        });
    }
    let names: Vec<String> = roles
        .keys()
        .filter_map(|id| declared.get(id))
        .map(|declaration| control_plane_name("", declaration))
        .collect();
    let mut found = Vec::new();
    for declaration in &typed.program.declarations {
        let locals = match &declaration.kind {
            DeclarationKind::Action { .. } => {
                let scope = format!("action {}", control_plane_name("", declaration));
                let is_called = called.contains(&declaration.id);
                found.push(Scoped { declaration, scope, is_called });
                continue;
            }
            DeclarationKind::Parser(parser) => &parser.locals,
            DeclarationKind::Control(control) => &control.locals,
            _ => continue,
        };
        let Some([role]) = roles.get(&declaration.id).map(Vec::as_slice) else { continue };
        let name = control_plane_name("", declaration);
        let has_name_alone = names.iter().filter(|other| **other == name).count() == 1;
        if made.get(&declaration.id) != Some(&1) || !has_name_alone {
            continue;
        }
        found.push(Scoped { declaration, scope: format!("block {role}"), is_called: false });
        for local in locals {
            let kind = match &local.kind {
                DeclarationKind::Action { .. } => "action",
                DeclarationKind::Table(_) => "table",
                _ => continue,
            };
            let scope = format!("{kind} {}", control_plane_name(&name, local));
            let is_called = called.contains(&local.id);
            found.push(Scoped { declaration: local, scope, is_called });
        }
    }
    found
}

/// The roles of the blocks of a package instance.
fn add_roles(
    typed: &TypedProgram,
    declared: &HashMap<NodeId, &Declaration>,
    instance: &Declaration,
    prefix: &str,
    roles: &mut HashMap<NodeId, Vec<String>>,
) {
    if let DeclarationKind::Instance { arguments, .. } = &instance.kind {
        add_constructed(typed, declared, (instance.id, arguments), prefix, roles);
    }
}

fn add_constructed(
    typed: &TypedProgram,
    declared: &HashMap<NodeId, &Declaration>,
    (node, arguments): (NodeId, &[Argument]),
    prefix: &str,
    roles: &mut HashMap<NodeId, Vec<String>>,
) {
    let Some(info) = typed.calls.get(&node) else { return };
    let Callee::Constructor(id, _) = info.callee else { return };
    let Some(declaration) = declared.get(&id) else { return };
    let DeclarationKind::PackageType(package) = &declaration.kind else {
        roles.entry(id).or_default().push(prefix.to_owned());
        return;
    };
    for (parameter, argument) in package.parameters.iter().zip(&info.arguments) {
        let Some(argument) = argument.and_then(|at| arguments.get(at)) else { continue };
        let role = match prefix {
            "" => parameter.name.text.to_string(),
            _ => format!("{prefix}.{}", parameter.name.text),
        };
        match &argument.value.kind {
            ExpressionKind::Call(call) => {
                let made = (argument.value.id, call.arguments.as_slice());
                add_constructed(typed, declared, made, &role, roles);
            }
            _ => {
                if let Some(Definition::Node(id)) = typed.definitions.get(&argument.value.id)
                    && let Some(instance) = declared.get(id)
                {
                    add_roles(typed, declared, instance, &role, roles);
                }
            }
        }
    }
}

/// Returns a control-plane name below a prefix.
fn control_plane_name(prefix: &str, declaration: &Declaration) -> String {
    let given = declaration
        .annotations
        .iter()
        .find(|annotation| &*annotation.name.text == "name")
        .and_then(annotation_string);
    let name = given.as_deref().unwrap_or(&declaration.name.text);
    match name.strip_prefix('.') {
        Some(absolute) => absolute.to_owned(),
        None if prefix.is_empty() => name.to_owned(),
        None => format!("{prefix}.{name}"),
    }
}
