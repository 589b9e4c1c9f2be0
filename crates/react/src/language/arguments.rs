// SPDX-License-Identifier: Apache-2.0
//! The arguments of reactions: resolves and checks them, and writes the interface that the C side reads.

use super::check::{constant_word, type_text, unresolved};
use super::codes;
use super::declarations::{ArgumentSource, ReactionArgument, ReactionDeclaration};
use super::paths::{Path, fields, resolve, scalar};
use super::program::{Gress, P4rProgram};
use crate::interface::{
    Argument, ArgumentKind, Interface, MalleableField, MalleableValue, PathStep, Reaction, Scalar,
};
use p4::ast::{
    Annotation, AnnotationBody, Declaration, DeclarationKind, Expression, ExpressionKind, NodeId,
};
use p4::typed::{Constant, Type, TypeKind, TypedProgram};
use source::{Diagnostic, Diagnostics, Span};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The simulated time of a reaction's body without `@cost`.
pub const DEFAULT_COST_PS: u64 = 500_000;

/// Writes the interface of a program; tables are missing.
pub(super) fn interface(program: &P4rProgram, found: &mut Diagnostics) -> Interface {
    let typed = &program.typed;
    let declarations = &program.declarations;
    let ty = |node: NodeId| {
        let written = typed.type_refs.get(&node);
        written.and_then(|ty| scalar(typed, ty)).unwrap_or(Scalar::unsigned(1))
    };
    let values = declarations.values.iter().map(|value| {
        let ty = ty(value.ty.id);
        let initial = constant_word(program, &value.initial, ty.width_bits).unwrap_or(0);
        MalleableValue { name: value.name.text.clone(), span: value.span, ty, initial }
    });
    let fields = declarations.fields.iter().map(|field| MalleableField {
        name: field.name.text.clone(),
        span: field.span,
        ty: ty(field.ty.id),
        alternatives: field.alternatives.iter().map(|path| path.text().into()).collect(),
        initial: field.initial_index(),
    });
    let reactions = declarations.reactions.iter();
    Interface {
        values: values.collect(),
        fields: fields.collect(),
        tables: Vec::new(),
        reactions: reactions.map(|reaction| read_reaction(program, reaction, found)).collect(),
        init: declarations.init.first().cloned(),
        shared: declarations.shared.clone(),
        state: declarations.state.clone(),
        constants: constants(typed),
        ordinary_tables: Vec::new(),
        defines: Vec::new(),
    }
}

/// The names of the constants at file level.
fn constants(typed: &TypedProgram) -> Vec<Arc<str>> {
    let declarations = typed.program.declarations.iter();
    let constants = declarations.filter(|one| matches!(one.kind, DeclarationKind::Constant { .. }));
    constants.map(|one| one.name.text.clone()).collect()
}

fn read_reaction(
    program: &P4rProgram,
    declaration: &ReactionDeclaration,
    found: &mut Diagnostics,
) -> Reaction {
    let mut arguments = Vec::new();
    let mut validities: Vec<Vec<PathStep>> = Vec::new();
    for written in &declaration.arguments {
        let Some((kind, header)) = read_argument(program, written, found) else { continue };
        if let Some(header) = header
            && !validities.contains(&header)
        {
            validities.push(header);
        }
        let name = written.renamed.as_ref().map(|name| name.text.clone());
        arguments.push(Argument { name, span: written.span, kind });
    }
    check_names(declaration, found);
    check_annotations(declaration, found);
    let mut time = |name: &str| {
        let annotation = declaration.annotations.iter().find(|one| &*one.name.text == name)?;
        annotation_time(annotation, found)
    };
    Reaction {
        name: declaration.name.text.clone(),
        span: declaration.span,
        arguments,
        validities,
        body: declaration.body.clone(),
        rate_ps: time("rate"),
        cost_ps: time("cost").unwrap_or(DEFAULT_COST_PS),
    }
}

/// Warns of annotations that reactions do not have.
fn check_annotations(declaration: &ReactionDeclaration, found: &mut Diagnostics) {
    let known = ["rate", "cost"];
    for annotation in &declaration.annotations {
        let name = &annotation.name.text;
        if known.contains(&&**name) {
            continue;
        }
        let message = format!("reactions have no annotation `@{name}`");
        let warning = Diagnostic::warning(codes::UNKNOWN_ANNOTATION, annotation.span, message);
        found.push(match source::nearest(name, known) {
            Some(nearest) => warning.help(format!("did you mean `@{nearest}`?")),
            None => warning.help("remove it: reactions have `@rate` and `@cost`"),
        });
    }
}

/// The time in `@name("10ms")`.
fn annotation_time(annotation: &Annotation, found: &mut Diagnostics) -> Option<u64> {
    let text = match &annotation.body {
        AnnotationBody::Unstructured(tokens) => match tokens.as_slice() {
            [token] => Some(token.text.to_string()),
            _ => None,
        },
        _ => None,
    };
    let name = &annotation.name.text;
    let why = match text.as_deref().map(source::quantity::duration_ps) {
        Some(Ok(time_ps)) => return Some(time_ps),
        Some(Err(why)) => why,
        None => "it has no time".to_string(),
    };
    let message = format!("`@{name}` is wrong: {why}");
    found.push(
        Diagnostic::error(codes::ANNOTATION, annotation.span, message)
            .help(format!("write a number with a unit, such as `@{name}(\"10us\")`")),
    );
    None
}

/// Words that C reserves.
const C_KEYWORDS: &[&str] = &[
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else",
    "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register",
    "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef",
    "union", "unsigned", "void", "volatile", "while", "_Bool",
];

/// Checks the names of arguments in C.
fn check_names(declaration: &ReactionDeclaration, found: &mut Diagnostics) {
    // The first name of a path is a struct that several fields share; all others stand alone.
    let mut known: BTreeMap<String, (Span, bool)> = BTreeMap::new();
    for argument in &declaration.arguments {
        let (names, is_shared): (Vec<String>, bool) = match (&argument.renamed, &argument.source) {
            (Some(name), _) => (vec![name.text.to_string()], false),
            (None, ArgumentSource::Packet { path, .. }) if path.steps.len() > 1 => {
                let names = path.steps.iter().filter_map(|step| match step {
                    PathStep::Name(name) => Some(name.to_string()),
                    PathStep::Index(_) => None,
                });
                (names.collect(), true)
            }
            (None, ArgumentSource::Malleable { name, .. }) => (vec![name.to_string()], false),
            (
                None,
                ArgumentSource::Packet { path, .. }
                | ArgumentSource::Register { path, .. }
                | ArgumentSource::Constant(path),
            ) => {
                let last = path.steps.iter().rev().find_map(|step| match step {
                    PathStep::Name(name) => Some(name.to_string()),
                    PathStep::Index(_) => None,
                });
                (last.into_iter().collect(), false)
            }
        };
        for name in &names {
            if C_KEYWORDS.contains(&name.as_str()) {
                let message = format!("`{name}` is a word of C");
                found.push(
                    Diagnostic::error(codes::ARGUMENT_NAME, argument.span, message)
                        .help("give the argument another name with `as NAME`"),
                );
            }
        }
        let Some(first) = names.into_iter().next() else { continue };
        let whole = match (&argument.renamed, &argument.source) {
            (None, ArgumentSource::Packet { path, .. }) => path.text(),
            _ => first.clone(),
        };
        let clash = match (known.get(&first), is_shared) {
            (Some((span, was_shared)), is_shared) if !(*was_shared && is_shared) => Some(*span),
            _ => known.get(&whole).filter(|_| is_shared && whole != first).map(|(span, _)| *span),
        };
        if let Some(span) = clash {
            let message = format!("two arguments are `{whole}` in C");
            found.push(
                Diagnostic::error(codes::ARGUMENT_NAME, argument.span, message)
                    .label(span, "the other one")
                    .help("give one of them another name with `as NAME`"),
            );
        }
        known.insert(first, (argument.span, is_shared));
        known.insert(whole, (argument.span, is_shared));
    }
}

/// Reads one argument; with it the header whose validity is measured.
fn read_argument(
    program: &P4rProgram,
    argument: &ReactionArgument,
    found: &mut Diagnostics,
) -> Option<(ArgumentKind, Option<Vec<PathStep>>)> {
    let typed = &program.typed;
    match &argument.source {
        ArgumentSource::Packet { in_egress, is_header, path } => {
            let gress = if *in_egress { Gress::Egress } else { Gress::Ingress };
            let Some((declaration, control)) = program.pipeline(gress) else {
                let message = format!("the program has no {} control", gress.name());
                found.push(Diagnostic::error(codes::NO_PIPELINE, argument.span, message));
                return None;
            };
            let resolved = match resolve(typed, control, path) {
                Ok(resolved) => resolved,
                Err(why) => {
                    found.push(unresolved(path, &declaration.name.text, &why));
                    return None;
                }
            };
            let header = resolved.header_steps.map(|count| path.steps[..count].to_vec());
            let steps = path.steps.clone();
            if *is_header {
                return header_argument(program, path, &resolved.ty, found)
                    .map(|fields| (ArgumentKind::Header { path: steps, fields }, header));
            }
            match scalar(typed, &resolved.ty) {
                Some(ty) => Some((ArgumentKind::Field { path: steps, ty }, header)),
                None => {
                    let is = type_text(program, &resolved.ty);
                    let message = format!("`{}` has type {is}, which is no value", path.text());
                    let error = Diagnostic::error(codes::ARGUMENT_TYPE, path.span, message);
                    found.push(match &*resolved.ty {
                        TypeKind::Header(..) => {
                            error.help("write `header` before it to measure all its fields")
                        }
                        _ => error.help("list its fields one by one"),
                    });
                    None
                }
            }
        }
        ArgumentSource::Malleable { name, .. } => {
            let value = program.declarations.value(name).map(|value| value.ty.id);
            let node = value.or_else(|| program.declarations.field(name).map(|field| field.ty.id));
            let Some(node) = node else {
                let message = format!("`${{{name}}}` refers to no malleable");
                found.push(Diagnostic::error(codes::NO_SUCH_FIELD, argument.span, message));
                return None;
            };
            let ty = scalar(typed, typed.type_refs.get(&node)?)?;
            Some((ArgumentKind::Malleable { malleable: name.clone(), ty }, None))
        }
        ArgumentSource::Register { path, range } => {
            register_argument(program, path, range.as_deref(), found).map(|kind| (kind, None))
        }
        ArgumentSource::Constant(path) => {
            constant_argument(program, path, found).map(|kind| (kind, None))
        }
    }
}

fn header_argument(
    program: &P4rProgram,
    path: &Path,
    ty: &Type,
    found: &mut Diagnostics,
) -> Option<Vec<(std::sync::Arc<str>, Scalar)>> {
    let typed = &program.typed;
    let list = match &**ty {
        TypeKind::Header(..) => fields(typed, ty)?,
        _ => {
            let is = type_text(program, ty);
            let message = format!("`{}` has type {is}, which is no header", path.text());
            found.push(Diagnostic::error(codes::ARGUMENT_TYPE, path.span, message));
            return None;
        }
    };
    let mut scalars = Vec::new();
    for field in &list.fields {
        match typed.declared_types.get(&field.id).and_then(|ty| scalar(typed, ty)) {
            Some(ty) => scalars.push((field.name.text.clone(), ty)),
            None => {
                let message =
                    format!("field `{}` of `{}` is no value", field.name.text, path.text());
                found.push(
                    Diagnostic::error(codes::ARGUMENT_TYPE, path.span, message)
                        .label(field.span, "this field")
                        .help("list the other fields of the header one by one"),
                );
                return None;
            }
        }
    }
    Some(scalars)
}

/// The declaration of a register: in the pipelines' controls, in controls of the program, or at file level.
pub(crate) fn register<'t>(
    program: &'t P4rProgram,
    path: &Path,
) -> Option<(&'t Declaration, Option<NodeId>)> {
    let wanted = path.steps.iter().rev().find_map(|step| match step {
        PathStep::Name(name) => Some(name.clone()),
        PathStep::Index(_) => None,
    })?;
    let is_it = |declaration: &&Declaration| {
        declaration.name.text == wanted
            && matches!(declaration.kind, DeclarationKind::Instance { .. })
    };
    let pipelines = program.pipelines.iter().map(|pipeline| pipeline.control);
    let all = &program.typed.program.declarations;
    let others =
        all.iter().filter(|declaration| matches!(declaration.kind, DeclarationKind::Control(_)));
    for node in pipelines.chain(others.map(|declaration| declaration.id)) {
        let Some((_, control)) = program.control(node) else { continue };
        if let Some(local) = control.locals.iter().find(is_it) {
            return Some((local, Some(node)));
        }
    }
    all.iter().find(is_it).map(|declaration| (declaration, None))
}

/// The type of a register's cells and their number.
pub(crate) fn register_shape(
    typed: &TypedProgram,
    declaration: &Declaration,
) -> Option<(Type, u64)> {
    let DeclarationKind::Instance { arguments, .. } = &declaration.kind else { return None };
    let ty = typed.declared_types.get(&declaration.id)?;
    let TypeKind::Extern(node, type_arguments) = &**ty else { return None };
    let object = super::paths::declaration(typed, *node)?;
    if !matches!(&*object.name.text, "register" | "Register") {
        return None;
    }
    let size = match typed.constants.get(&arguments.first()?.value.id) {
        Some(Constant::Integer(size)) => u64::try_from(size).ok()?,
        _ => return None,
    };
    Some((type_arguments.first()?.clone(), size))
}

fn register_argument(
    program: &P4rProgram,
    path: &Path,
    range: Option<&(Expression, Expression)>,
    found: &mut Diagnostics,
) -> Option<ArgumentKind> {
    let typed = &program.typed;
    let shape = register(program, path)
        .and_then(|(declaration, _)| Some((declaration, register_shape(typed, declaration)?)));
    let Some((declaration, (cell, size))) = shape else {
        let all = typed.program.declarations.iter();
        let locals = all.clone().filter_map(|found| match &found.kind {
            DeclarationKind::Control(control) => Some(&control.locals[..]),
            _ => None,
        });
        let registers =
            locals.flatten().chain(all).filter(|one| register_shape(typed, one).is_some());
        let names: Vec<&str> = registers.map(|one| &*one.name.text).collect();
        let message = format!("there is no register `{}`", path.text());
        let error = Diagnostic::error(codes::NO_SUCH_REGISTER, path.span, message);
        found.push(match source::nearest(&path.text(), names.iter().copied()) {
            Some(nearest) => error.help(format!("did you mean `{nearest}`?")),
            None if names.is_empty() => error,
            None => error.help(format!("the program has `{}`", names.join("`, `"))),
        });
        return None;
    };
    let Some(ty) = scalar(typed, &cell) else {
        let is = type_text(program, &cell);
        let message = format!("the cells of register `{}` have type {is}", path.text());
        found.push(
            Diagnostic::error(codes::ARGUMENT_TYPE, path.span, message)
                .help("a reaction reads registers of `bit<W>`, `int<W>` or `bool`"),
        );
        return None;
    };
    let (first, last) = match range {
        None => (0, size.saturating_sub(1)),
        Some((first, last)) => {
            let value = |expression: &Expression| constant_word(program, expression, 64);
            match (value(first), value(last)) {
                (Some(low), Some(high)) if low <= high && high < size => (low, high),
                (Some(low), Some(high)) => {
                    let message = match low > high {
                        true => format!("the range [{low}:{high}] is empty"),
                        false => format!(
                            "the range [{low}:{high}] lies beyond `{}`, which has {size} cells",
                            path.text()
                        ),
                    };
                    found.push(
                        Diagnostic::error(codes::RANGE, first.span.to(last.span), message)
                            .label(declaration.name.span, "the register")
                            .help(format!("both ends are included; the last cell is {}", size - 1)),
                    );
                    return None;
                }
                _ => {
                    let message = "the range of cells is not constant";
                    found.push(Diagnostic::error(codes::RANGE, first.span.to(last.span), message));
                    return None;
                }
            }
        }
    };
    Some(ArgumentKind::Register { register: declaration.name.text.clone(), ty, first, last })
}

fn constant_argument(
    program: &P4rProgram,
    path: &Path,
    found: &mut Diagnostics,
) -> Option<ArgumentKind> {
    let typed = &program.typed;
    let constant = path.first();
    let mut all = typed.program.declarations.iter();
    let declaration = all.find(|one| one.name.text == constant);
    let read = declaration.and_then(|declaration| match &declaration.kind {
        DeclarationKind::Constant { ty, value } => {
            let ty = typed.type_refs.get(&ty.id)?;
            // `int` has no width; a reaction sees 64 bits.
            let ty = match &**ty {
                TypeKind::Integer => Scalar { is_signed: true, ..Scalar::unsigned(64) },
                _ => scalar(typed, ty)?,
            };
            let is_constant =
                matches!(value.kind, ExpressionKind::Integer { .. } | ExpressionKind::Bool(_))
                    || typed.constants.contains_key(&value.id);
            let value = constant_word(program, value, ty.width_bits).filter(|_| is_constant)?;
            Some(ArgumentKind::Constant { constant: constant.clone(), ty, value })
        }
        _ => None,
    });
    if read.is_none() {
        let message = format!("`{}` is no argument of a reaction", path.text());
        found.push(
            Diagnostic::error(codes::NO_SUCH_FIELD, path.span, message)
                .help("write `ing` or `egr` before a field, `reg` before a register, or the name of a constant"),
        );
    }
    read
}
