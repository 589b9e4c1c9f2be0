// SPDX-License-Identifier: Apache-2.0
//! Paths to fields, headers and registers, such as `hdr.vlan[0].id`: read from tokens, and resolved among the parameters,
//! variables and instances of a control.

use crate::interface::{PathStep, Scalar, path_text};
use p4::ast::{ControlDeclaration, Declaration, DeclarationKind, FieldList, NodeId, TypedefTarget};
use p4::token::{Token, TokenKind as T};
use p4::typed::{Type, TypeKind, TypedProgram};
use source::Span;
use std::sync::Arc;

/// A path as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// Its steps; the first one is a name.
    pub steps: Vec<PathStep>,
    /// All of it.
    pub span: Span,
}

impl Path {
    /// The path as P4 writes it.
    pub fn text(&self) -> String {
        path_text(&self.steps)
    }

    /// The first name.
    pub fn first(&self) -> Arc<str> {
        match self.steps.first() {
            Some(PathStep::Name(name)) => name.clone(),
            _ => "".into(),
        }
    }

    /// Reads a path from tokens; returns how many it has.
    pub(super) fn read(tokens: &[&Token]) -> Option<(Path, usize)> {
        let first = tokens.first()?;
        let mut steps = vec![PathStep::Name(first.text.clone())];
        let mut span = first.span;
        let mut at = 1;
        loop {
            let kind = |ahead: usize| tokens.get(at + ahead).map(|token| token.kind);
            match (kind(0), kind(1), kind(2)) {
                (Some(T::Dot), Some(_), _) => {
                    steps.push(PathStep::Name(tokens[at + 1].text.clone()));
                    span = span.to(tokens[at + 1].span);
                    at += 2;
                }
                (Some(T::OpenBracket), Some(T::Integer), Some(T::CloseBracket)) => {
                    let index = tokens[at + 1].text.parse().unwrap_or(u32::MAX);
                    steps.push(PathStep::Index(index));
                    span = span.to(tokens[at + 2].span);
                    at += 3;
                }
                _ => return Some((Path { steps, span }, at)),
            }
        }
    }
}

/// What a path leads to.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// Its type.
    pub ty: Type,
    /// How many steps lead to the last header on the way, if there is one.
    pub header_steps: Option<usize>,
}

/// Why a path leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unresolved {
    /// The step that is not there.
    pub step: usize,
    /// The names that could stand there.
    pub candidates: Vec<Arc<str>>,
}

/// Returns the top-level declaration of a node, also inside a `typedef`.
pub fn declaration(typed: &TypedProgram, node: NodeId) -> Option<&Declaration> {
    typed.program.declarations.iter().find_map(|declaration| match &declaration.kind {
        _ if declaration.id == node => Some(declaration),
        DeclarationKind::Typedef(TypedefTarget::Declaration(inner)) if inner.id == node => {
            Some(&**inner)
        }
        _ => None,
    })
}

/// Returns the fields of a struct, header or union type.
pub fn fields<'t>(typed: &'t TypedProgram, ty: &Type) -> Option<&'t FieldList> {
    let node = match &**ty {
        TypeKind::Struct(node, _) | TypeKind::Header(node, _) | TypeKind::HeaderUnion(node, _) => {
            *node
        }
        _ => return None,
    };
    match &declaration(typed, node)?.kind {
        DeclarationKind::Struct(list)
        | DeclarationKind::Header(list)
        | DeclarationKind::HeaderUnion(list) => Some(list),
        _ => None,
    }
}

/// Resolves a path among the parameters and local variables of a control.
pub fn resolve(
    typed: &TypedProgram,
    control: &ControlDeclaration,
    path: &Path,
) -> Result<Resolved, Unresolved> {
    let first = path.first();
    let parameters = || control.signature.parameters.iter();
    let variables = || {
        let is_variable = |local: &&Declaration| {
            matches!(
                local.kind,
                DeclarationKind::Variable { .. } | DeclarationKind::Constant { .. }
            )
        };
        control.locals.iter().filter(is_variable)
    };
    let node = parameters().find(|parameter| parameter.name.text == first).map(|found| found.id);
    let node =
        node.or_else(|| variables().find(|local| local.name.text == first).map(|local| local.id));
    let Some(mut ty) = node.and_then(|node| typed.declared_types.get(&node).cloned()) else {
        let names = parameters().map(|parameter| parameter.name.text.clone());
        let candidates = names.chain(variables().map(|local| local.name.text.clone())).collect();
        return Err(Unresolved { step: 0, candidates });
    };
    let mut header_steps = matches!(&*ty, TypeKind::Header(..)).then_some(1);
    for (at, step) in path.steps.iter().enumerate().skip(1) {
        ty = match step {
            PathStep::Index(index) => match &*ty {
                TypeKind::Stack(element, size) if index < size => element.clone(),
                _ => return Err(Unresolved { step: at, candidates: Vec::new() }),
            },
            PathStep::Name(name) => {
                let list = fields(typed, &ty).map_or(&[][..], |list| &list.fields);
                let field = list.iter().find(|field| field.name.text == *name);
                match field.and_then(|field| typed.declared_types.get(&field.id)) {
                    Some(found) => found.clone(),
                    None => {
                        let candidates = list.iter().map(|field| field.name.text.clone()).collect();
                        return Err(Unresolved { step: at, candidates });
                    }
                }
            }
        };
        if matches!(&*ty, TypeKind::Header(..)) {
            header_steps = Some(at + 1);
        }
    }
    Ok(Resolved { ty, header_steps })
}

/// The type of a value as reactions see it: `bit<W>`, `int<W>`, `bool`, and enums and new types over them.
pub fn scalar(typed: &TypedProgram, ty: &Type) -> Option<Scalar> {
    match &**ty {
        TypeKind::Bit(width_bits) => Some(Scalar::unsigned(*width_bits)),
        TypeKind::Int(width_bits) => {
            Some(Scalar { is_signed: true, ..Scalar::unsigned(*width_bits) })
        }
        TypeKind::Bool => Some(Scalar { is_bool: true, ..Scalar::unsigned(1) }),
        TypeKind::SerializableEnum(node) => match &declaration(typed, *node)?.kind {
            DeclarationKind::Enum { underlying: Some(underlying), .. } => {
                scalar(typed, typed.type_refs.get(&underlying.id)?)
            }
            _ => None,
        },
        TypeKind::NewType(node) => match &declaration(typed, *node)?.kind {
            DeclarationKind::NewType(underlying) => {
                scalar(typed, typed.type_refs.get(&underlying.id)?)
            }
            _ => None,
        },
        _ => None,
    }
}
