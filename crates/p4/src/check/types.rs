// SPDX-License-Identifier: Apache-2.0
//! Written types to types: names, widths, sizes, type arguments, and which types may be part of
//! which (P4_16 v1.2.5 §7.1.1, §7.1.4, §7.1.5, §7.1.6.2, §7.1.6.3, §7.1.6.4, §7.1.6.5, §7.2.3,
//! §7.2.4, §7.2.7, §7.2.8, §7.2.12). Also queries about types. Inference is in
//! `inference`.

use super::nesting::Container;
use super::type_names::count;
use super::{Checker, FieldType, MAX_STACK_SIZE, MAX_WIDTH_BITS, Node};
use crate::ast::{DeclarationKind, Expression, ExpressionKind, NodeId, Path, TypeRef, TypeRefKind};
use crate::codes::typing as codes;
use crate::typed::{Constant, Definition, Type, TypeKind};
use num_traits::ToPrimitive;
use source::{Diagnostic, Span};
use std::rc::Rc;
use std::sync::Arc;

impl<'a> Checker<'a> {
    /// The type that is written; what is wrong with it is reported and gives `Unknown`.
    pub(super) fn resolve_type(&mut self, written: &'a TypeRef) -> Type {
        self.resolve_bounded(written, false)
    }

    /// As [`Checker::resolve_type`], for constructors: type arguments may be left out, then they are
    /// inferred.
    pub(super) fn resolve_constructed_type(&mut self, written: &'a TypeRef) -> Type {
        self.resolve_bounded(written, true)
    }

    /// Resolves a type and reports one beyond the documented size.
    fn resolve_bounded(&mut self, written: &'a TypeRef, constructed: bool) -> Type {
        let ty = self.deeper(|checker| checker.resolve_type_inner(written, constructed));
        let is_composite = matches!(
            written.kind,
            TypeRefKind::Specialized(..)
                | TypeRefKind::Stack(..)
                | TypeRefKind::Tuple(_)
                | TypeRefKind::List(_)
        );
        let ty = if !is_composite || self.check_extent(self.extent(&ty), written.span) {
            ty
        } else {
            self.known.unknown.clone()
        };
        self.typed.type_refs.insert(written.id, ty.clone());
        ty
    }

    fn resolve_type_inner(&mut self, written: &'a TypeRef, constructed: bool) -> Type {
        match &written.kind {
            TypeRefKind::Bool => self.known.bool.clone(),
            TypeRefKind::Error => self.known.error.clone(),
            TypeRefKind::MatchKind => self.known.match_kind.clone(),
            TypeRefKind::String => self.known.string.clone(),
            TypeRefKind::Void => self.known.void.clone(),
            TypeRefKind::Integer => self.known.integer.clone(),
            TypeRefKind::Bit(None) => self.known.bit1.clone(),
            TypeRefKind::Bit(Some(width)) => match self.width(width, "bit", 0) {
                Some(width) => Arc::new(TypeKind::Bit(width)),
                None => self.known.unknown.clone(),
            },
            TypeRefKind::SignedBit(width) => match self.width(width, "int", 1) {
                Some(width) => Arc::new(TypeKind::Int(width)),
                None => self.known.unknown.clone(),
            },
            TypeRefKind::Varbit(width) => match self.width(width, "varbit", 0) {
                Some(width) => Arc::new(TypeKind::Varbit(width)),
                None => self.known.unknown.clone(),
            },
            TypeRefKind::Named(path) => self.named_type(written, path, None, constructed),
            TypeRefKind::Specialized(path, arguments) => {
                self.named_type(written, path, Some(arguments), constructed)
            }
            TypeRefKind::Stack(element, size) => {
                let element_type = if constructed {
                    self.resolve_constructed_type(element)
                } else {
                    self.resolve_type(element)
                };
                self.check_nesting(&element_type, Container::Array, element.span, None);
                match self.stack_size(size) {
                    Some(size) => Arc::new(TypeKind::Stack(element_type, size)),
                    None => self.known.unknown.clone(),
                }
            }
            TypeRefKind::Tuple(elements) => {
                let types = elements
                    .iter()
                    .map(|element| {
                        let ty = self.resolve_type(element);
                        if matches!(&*ty, TypeKind::DontCare) && !constructed {
                            self.error(
                                codes::INVALID_NESTING,
                                element.span,
                                "a tuple cannot hold type `_`",
                            );
                        }
                        self.check_nesting(&ty, Container::Tuple, element.span, None);
                        ty
                    })
                    .collect();
                Arc::new(TypeKind::Tuple(types))
            }
            TypeRefKind::List(element) => {
                let ty = self.resolve_type(element);
                self.check_nesting(&ty, Container::List, element.span, None);
                Arc::new(TypeKind::List(ty))
            }
            TypeRefKind::DontCare => self.known.dont_care.clone(),
            TypeRefKind::Invalid => self.known.unknown.clone(),
        }
    }

    /// A width in bits, at least `least`.
    fn width(&mut self, width: &'a Expression, name: &str, least: u32) -> Option<u32> {
        let value = self.constant_integer(width, "a width")?;
        match value.to_u32() {
            Some(bits) if (least..=MAX_WIDTH_BITS).contains(&bits) => Some(bits),
            _ => {
                self.report(
                    Diagnostic::error(
                        codes::INVALID_WIDTH,
                        width.span,
                        format!("`{name}<{value}>` has no valid width"),
                    )
                    .here(format!("a width is from {least} to {MAX_WIDTH_BITS} bits")),
                );
                None
            }
        }
    }

    fn stack_size(&mut self, size: &'a Expression) -> Option<u32> {
        let value = self.constant_integer(size, "the size of an array")?;
        match value.to_u32() {
            Some(elements) if elements <= MAX_STACK_SIZE => Some(elements),
            _ => {
                self.report(
                    Diagnostic::error(
                        codes::INVALID_STACK_SIZE,
                        size.span,
                        format!("an array cannot have {value} elements"),
                    )
                    .here(format!("a size is from 0 to {MAX_STACK_SIZE}")),
                );
                None
            }
        }
    }

    /// The value of an expression that has to be an integer known at compile time.
    pub(super) fn constant_integer(
        &mut self,
        expression: &'a Expression,
        what: &str,
    ) -> Option<num_bigint::BigInt> {
        let ty = self.in_context(self.context, |checker| checker.synthesize(expression));
        let ty = self.enum_to_underlying(expression, &ty);
        match &*ty {
            TypeKind::Unknown => return None,
            TypeKind::Integer | TypeKind::Bit(_) | TypeKind::Int(_) => {}
            _ => {
                let shown = self.show(&ty);
                self.error(
                    codes::TYPE_MISMATCH,
                    expression.span,
                    format!("{what} is an integer, not a value of type `{shown}`"),
                );
                return None;
            }
        }
        match self.typed.constants.get(&expression.id) {
            Some(Constant::Integer(value)) => Some(value.clone()),
            _ => {
                self.report_not_constant(expression, what);
                None
            }
        }
    }

    fn named_type(
        &mut self,
        written: &'a TypeRef,
        path: &'a Path,
        arguments: Option<&'a [TypeRef]>,
        constructed: bool,
    ) -> Type {
        let resolved_arguments: Option<Vec<Type>> = arguments.map(|arguments| {
            arguments.iter().map(|argument| self.resolve_type(argument)).collect()
        });
        let Some(node) = self.lookup_type(path) else {
            match self.lookup(path).and_then(|nodes| nodes.first().copied()) {
                Some(other) => {
                    let span = self.span_of(other);
                    self.report(
                        Diagnostic::error(
                            codes::NOT_A_TYPE,
                            path.name.span,
                            format!("`{}` is not a type", path.name.text),
                        )
                        .label(span, "it is declared here"),
                    );
                }
                None => self.report_not_found(path, "type"),
            }
            return self.known.unknown.clone();
        };
        self.used.insert(node);
        self.typed.definitions.insert(written.id, Definition::Node(node));
        self.type_of_node(node, resolved_arguments, written.span, constructed)
    }

    /// The type that a declaration names, specialized.
    pub(super) fn type_of_node(
        &mut self,
        node: NodeId,
        arguments: Option<Vec<Type>>,
        span: Span,
        constructed: bool,
    ) -> Type {
        let parameters = self.type_parameters.get(&node).copied().unwrap_or(&[]);
        let arguments = match arguments {
            Some(arguments) => {
                if arguments.len() != parameters.len() {
                    let name = self.name_of(node).to_string();
                    let declared = self.span_of(node);
                    self.report(
                        Diagnostic::error(
                            codes::TYPE_ARGUMENT_COUNT,
                            span,
                            format!(
                                "`{name}` takes {}, but {} given",
                                count(parameters.len(), "type argument"),
                                if arguments.len() == 1 {
                                    "1 is".to_string()
                                } else {
                                    format!("{} are", arguments.len())
                                }
                            ),
                        )
                        .label(declared, "declared here"),
                    );
                    return self.known.unknown.clone();
                }
                arguments
            }
            None if parameters.is_empty() => Vec::new(),
            None if constructed => {
                parameters.iter().map(|_| self.known.dont_care.clone()).collect()
            }
            None => {
                let name = self.name_of(node).to_string();
                let declared = self.span_of(node);
                self.report(
                    Diagnostic::error(
                        codes::TYPE_ARGUMENT_COUNT,
                        span,
                        format!(
                            "`{name}` is generic and needs {}",
                            count(parameters.len(), "type argument")
                        ),
                    )
                    .label(declared, "declared here"),
                );
                return self.known.unknown.clone();
            }
        };
        // A struct cannot see itself while it is declared, so `S<S<T>>` is no recursion.
        let is_struct = matches!(self.node(node), Node::Declaration(declaration)
            if matches!(declaration.kind, DeclarationKind::Struct(_)
                | DeclarationKind::Header(_) | DeclarationKind::HeaderUnion(_)));
        if !is_struct && arguments.iter().any(|argument| mentions_node(argument, node)) {
            let name = self.name_of(node).to_string();
            self.error(
                codes::RECURSIVE_DECLARATION,
                span,
                format!("`{name}` is a type argument of itself"),
            );
            return self.known.unknown.clone();
        }
        let kind = match self.node(node) {
            Node::TypeParameter(_) => TypeKind::Variable(node),
            Node::Declaration(declaration) => match &declaration.kind {
                DeclarationKind::ExternObject { .. } => TypeKind::Extern(node, arguments),
                DeclarationKind::Parser(_) | DeclarationKind::ParserType(_) => {
                    TypeKind::Parser(node, arguments)
                }
                DeclarationKind::Control(_) | DeclarationKind::ControlType(_) => {
                    TypeKind::Control(node, arguments)
                }
                DeclarationKind::PackageType(_) => TypeKind::Package(node, arguments),
                DeclarationKind::Header(_) => TypeKind::Header(node, arguments),
                DeclarationKind::HeaderUnion(_) => TypeKind::HeaderUnion(node, arguments),
                DeclarationKind::Struct(_) => TypeKind::Struct(node, arguments),
                DeclarationKind::Enum { underlying: None, .. } => TypeKind::Enum(node),
                DeclarationKind::Enum { underlying: Some(_), .. } => {
                    TypeKind::SerializableEnum(node)
                }
                DeclarationKind::NewType(_) => TypeKind::NewType(node),
                DeclarationKind::Typedef(_) => {
                    return self
                        .aliases
                        .get(&node)
                        .cloned()
                        .unwrap_or_else(|| self.known.unknown.clone());
                }
                _ => TypeKind::Unknown,
            },
            _ => TypeKind::Unknown,
        };
        let ty = Arc::new(kind);
        self.check_specialization(&ty, span);
        ty
    }

    /// Returns the fields of a struct, header or union, with type arguments put in; none for other types.
    pub(super) fn fields_of(&self, ty: &Type) -> Rc<Vec<FieldType>> {
        let (node, arguments) = match &**ty {
            TypeKind::Struct(node, arguments)
            | TypeKind::Header(node, arguments)
            | TypeKind::HeaderUnion(node, arguments) => (*node, arguments),
            _ => return Rc::new(Vec::new()),
        };
        let Some(fields) = self.fields.get(&node) else { return Rc::new(Vec::new()) };
        if arguments.is_empty() {
            return fields.clone();
        }
        let substitution = self.substitution(node, arguments);
        Rc::new(
            fields
                .iter()
                .map(|field| FieldType { ty: substitution.apply(&field.ty), ..field.clone() })
                .collect(),
        )
    }

    /// Returns the type of one field, with type arguments put in.
    pub(super) fn field_type(&self, ty: &Type, name: &str) -> Option<Type> {
        let (node, arguments) = match &**ty {
            TypeKind::Struct(node, arguments)
            | TypeKind::Header(node, arguments)
            | TypeKind::HeaderUnion(node, arguments) => (*node, arguments),
            TypeKind::AnonymousStruct(fields) => {
                return fields.iter().find(|(field, _)| **field == *name).map(|(_, ty)| ty.clone());
            }
            _ => return None,
        };
        let field = self.fields.get(&node)?.iter().find(|field| *field.name == *name)?;
        if arguments.is_empty() {
            return Some(field.ty.clone());
        }
        Some(self.substitution(node, arguments).apply(&field.ty))
    }

    /// Returns the type beneath any `type` declarations.
    pub(super) fn representation(&self, ty: &Type) -> Type {
        let mut ty = ty.clone();
        while let TypeKind::NewType(node) = &*ty {
            match self.underlying.get(node) {
                Some(underlying) => ty = underlying.clone(),
                None => break,
            }
        }
        ty
    }

    /// The type that an expression names, if it names one.
    pub(super) fn type_expression(&mut self, expression: &'a Expression) -> Option<Type> {
        match &expression.kind {
            ExpressionKind::Type(written) => {
                let ty = self.resolve_constructed_type(written);
                self.typed.expression_types.insert(expression.id, ty.clone());
                if let Some(definition) = self.typed.definitions.get(&written.id).copied() {
                    self.typed.definitions.insert(expression.id, definition);
                }
                Some(ty)
            }
            ExpressionKind::Path(path) => {
                let node = self.lookup(path).and_then(|nodes| nodes.first().copied())?;
                if !super::scopes::is_type(self.node(node)) {
                    return None;
                }
                self.used.insert(node);
                let ty = self.type_of_node(node, None, expression.span, true);
                self.typed.definitions.insert(expression.id, Definition::Node(node));
                self.typed.expression_types.insert(expression.id, ty.clone());
                Some(ty)
            }
            _ => None,
        }
    }
}

/// Whether a type is, or is made of, what a node declares.
fn mentions_node(ty: &Type, wanted: NodeId) -> bool {
    match &**ty {
        TypeKind::Struct(node, parts)
        | TypeKind::Header(node, parts)
        | TypeKind::HeaderUnion(node, parts)
        | TypeKind::Extern(node, parts)
        | TypeKind::Parser(node, parts)
        | TypeKind::Control(node, parts)
        | TypeKind::Package(node, parts) => {
            *node == wanted || parts.iter().any(|part| mentions_node(part, wanted))
        }
        TypeKind::Tuple(parts) => parts.iter().any(|part| mentions_node(part, wanted)),
        TypeKind::Stack(part, _) | TypeKind::List(part) | TypeKind::Set(part) => {
            mentions_node(part, wanted)
        }
        _ => false,
    }
}
