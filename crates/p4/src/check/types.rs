// SPDX-License-Identifier: Apache-2.0
//! Written types to types: names, widths, sizes, type arguments, and which types may be part of
//! which (P4_16 v1.2.5 §7). Also the questions others ask of types. Inference is elsewhere.

use super::{Checker, FieldType, MAXIMUM_STACK_SIZE, MAXIMUM_WIDTH_BITS, Node, Place};
use crate::ast::{DeclarationKind, Expression, ExpressionKind, NodeId, Path, TypeRef, TypeRefKind};
use crate::codes::typing as codes;
use crate::typed::{Constant, Definition, Type, TypeKind};
use num_traits::ToPrimitive;
use source::{Diagnostic, Span};
use std::rc::Rc;
use std::sync::Arc;

/// What holds a type that is checked for nesting.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Container {
    Header,
    HeaderUnion,
    Struct,
    Tuple,
    List,
    Array,
}

impl Container {
    fn describe(self) -> &'static str {
        match self {
            Container::Header => "header",
            Container::HeaderUnion => "header union",
            Container::Struct => "struct",
            Container::Tuple => "tuple",
            Container::List => "list",
            Container::Array => "array",
        }
    }
}

impl<'a> Checker<'a> {
    /// The type that is written; what is wrong with it is reported and gives `Unknown`.
    pub(super) fn resolve_type(&mut self, written: &'a TypeRef) -> Type {
        let ty = self.deeper(|checker| checker.resolve_type_inner(written, false));
        self.typed.type_refs.insert(written.id, ty.clone());
        ty
    }

    /// As [`Checker::resolve_type`], for constructors: type arguments may be left out, then they are
    /// inferred.
    pub(super) fn resolve_constructed_type(&mut self, written: &'a TypeRef) -> Type {
        let ty = self.deeper(|checker| checker.resolve_type_inner(written, true));
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
            Some(bits) if (least..=MAXIMUM_WIDTH_BITS).contains(&bits) => Some(bits),
            _ => {
                self.report(
                    Diagnostic::error(
                        codes::INVALID_WIDTH,
                        width.span,
                        format!("`{name}<{value}>` has no valid width"),
                    )
                    .here(format!("a width is from {least} to {MAXIMUM_WIDTH_BITS} bits")),
                );
                None
            }
        }
    }

    fn stack_size(&mut self, size: &'a Expression) -> Option<u32> {
        let value = self.constant_integer(size, "the size of an array")?;
        match value.to_u32() {
            Some(elements) if elements <= MAXIMUM_STACK_SIZE => Some(elements),
            _ => {
                self.report(
                    Diagnostic::error(
                        codes::INVALID_STACK_SIZE,
                        size.span,
                        format!("an array cannot have {value} elements"),
                    )
                    .here(format!("a size is from 0 to {MAXIMUM_STACK_SIZE}")),
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
        let ty = self.at_place(self.place, |checker| checker.synthesize(expression));
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

    /// A generic struct or header with arguments: its fields must still be allowed there.
    pub(super) fn check_specialization(&mut self, ty: &Type, span: Span) {
        let (arguments, container) = match &**ty {
            TypeKind::Struct(_, arguments) => (arguments, Container::Struct),
            TypeKind::Header(_, arguments) => (arguments, Container::Header),
            TypeKind::HeaderUnion(_, arguments) => (arguments, Container::HeaderUnion),
            _ => return,
        };
        if arguments.is_empty()
            || arguments.iter().any(has_open_parts)
            || !self.checked_specializations.insert(ty.clone())
        {
            return;
        }
        for field in self.fields_of(ty).iter() {
            let field_type = field.ty.clone();
            self.check_nesting(&field_type, container, span, Some(field));
            self.check_specialization(&field_type, span);
        }
    }

    /// Fields of a struct, header or union, with type arguments put in; empty for other types.
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

    /// The type of one field, with type arguments put in.
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

    /// Reports a type that may not be part of the container (§7.2.8).
    pub(super) fn check_nesting(
        &mut self,
        ty: &Type,
        container: Container,
        span: Span,
        field: Option<&FieldType>,
    ) -> bool {
        if self.may_nest(ty, container) {
            return true;
        }
        let shown = self.show(ty);
        let mut diagnostic = Diagnostic::error(
            codes::INVALID_NESTING,
            span,
            match field {
                Some(field) => format!(
                    "field `{}` of a {} cannot have type `{shown}`",
                    field.name,
                    container.describe()
                ),
                None => format!("a {} cannot hold type `{shown}`", container.describe()),
            },
        );
        if let Some(field) = field
            && field.span != span
        {
            diagnostic = diagnostic.label(field.span, "the field");
        }
        if container == Container::Header && matches!(&**ty, TypeKind::Enum(_)) {
            diagnostic =
                diagnostic.help("give the enum an underlying type: `enum bit<8> Name {...}`");
        }
        self.report(diagnostic);
        false
    }

    fn may_nest(&self, ty: &Type, container: Container) -> bool {
        use Container::{Array, Header, HeaderUnion, List, Struct, Tuple};
        match &**ty {
            TypeKind::Unknown
            | TypeKind::Variable(_)
            | TypeKind::Inferred(_)
            | TypeKind::DontCare => true,
            TypeKind::NewType(node) => {
                self.underlying.get(node).is_none_or(|ty| self.may_nest(ty, container))
            }
            TypeKind::Bit(_) | TypeKind::Int(_) | TypeKind::Varbit(_) | TypeKind::Bool => {
                matches!(container, Header | Struct | Tuple | List | Array)
            }
            TypeKind::SerializableEnum(_) => {
                matches!(container, Header | Struct | Tuple | List | Array)
            }
            TypeKind::String => container == List,
            // In tuples as well, as p4c has it: lists of tuples describe entries.
            TypeKind::Integer | TypeKind::MatchKind => matches!(container, Tuple | List),
            TypeKind::Error => matches!(container, Struct | Tuple | List | Array),
            TypeKind::Enum(_) => matches!(container, Struct | Tuple | List | Array),
            TypeKind::Header(..) => container != Header,
            TypeKind::HeaderUnion(..) => matches!(container, Struct | Tuple | List | Array),
            TypeKind::Stack(element, _) => match container {
                Struct | Tuple | List => true,
                Array => true,
                Header => {
                    !matches!(&**element, TypeKind::Header(..) | TypeKind::HeaderUnion(..))
                        && self.fits_header_array(element)
                }
                HeaderUnion => false,
            },
            TypeKind::Struct(..) => match container {
                Header => self.fits_header_array(ty),
                HeaderUnion => false,
                _ => true,
            },
            TypeKind::Tuple(_) => matches!(container, Struct | Tuple | List),
            TypeKind::List(_) => container == List,
            TypeKind::AnonymousStruct(_) => matches!(container, Struct | Tuple | List),
            TypeKind::Extern(..) => container == Array,
            _ => false,
        }
    }

    /// Whether a struct or array element has a fixed format, so that it may stand in a header.
    fn fits_header_array(&self, ty: &Type) -> bool {
        match &**ty {
            TypeKind::Struct(..) => {
                self.fields_of(ty).iter().all(|field| self.fits_header_array(&field.ty))
            }
            TypeKind::Bit(_)
            | TypeKind::Int(_)
            | TypeKind::Bool
            | TypeKind::SerializableEnum(_)
            | TypeKind::Variable(_)
            | TypeKind::Inferred(_)
            | TypeKind::DontCare
            | TypeKind::Unknown => true,
            TypeKind::NewType(node) => {
                self.underlying.get(node).is_none_or(|ty| self.fits_header_array(ty))
            }
            TypeKind::Stack(element, _) => self.fits_header_array(element),
            _ => false,
        }
    }

    /// Whether values of a type exist at run time or compile time and may be kept in variables.
    pub(super) fn is_value_type(&self, ty: &Type) -> bool {
        !matches!(
            &**ty,
            TypeKind::Void
                | TypeKind::Extern(..)
                | TypeKind::Parser(..)
                | TypeKind::Control(..)
                | TypeKind::Package(..)
                | TypeKind::Table(_)
                | TypeKind::ApplyResult(_)
                | TypeKind::ActionRun(_)
                | TypeKind::Action(_)
                | TypeKind::Function
                | TypeKind::Set(_)
                | TypeKind::DontCare
        )
    }

    /// Whether a value of this type exists only at compile time, as a whole or in a part.
    pub(super) fn is_compile_time_only(&self, ty: &Type) -> bool {
        match &**ty {
            TypeKind::Integer | TypeKind::String | TypeKind::MatchKind | TypeKind::List(_) => true,
            TypeKind::Tuple(elements) => {
                elements.iter().any(|element| self.is_compile_time_only(element))
            }
            _ => false,
        }
    }

    /// The type beneath any `type` declarations.
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

    /// Size in bits (least and greatest); `None` where the type has no size (§9).
    pub(super) fn size_bits(&self, ty: &Type) -> Option<(u64, u64)> {
        Some(match &**ty {
            TypeKind::Bool => (1, 1),
            TypeKind::Bit(width) | TypeKind::Int(width) => (u64::from(*width), u64::from(*width)),
            TypeKind::Varbit(width) => (0, u64::from(*width)),
            TypeKind::SerializableEnum(node) | TypeKind::NewType(node) => {
                self.size_bits(self.underlying.get(node)?)?
            }
            TypeKind::Struct(..) | TypeKind::Header(..) => {
                let mut total = (0u64, 0u64);
                for field in self.fields_of(ty).iter() {
                    let (least, greatest) = self.size_bits(&field.ty)?;
                    total.0 = total.0.saturating_add(least);
                    total.1 = total.1.saturating_add(greatest);
                }
                total
            }
            TypeKind::Tuple(elements) => {
                let mut total = (0u64, 0u64);
                for element in elements {
                    let (least, greatest) = self.size_bits(element)?;
                    total.0 = total.0.saturating_add(least);
                    total.1 = total.1.saturating_add(greatest);
                }
                total
            }
            TypeKind::HeaderUnion(..) => {
                let mut total: Option<(u64, u64)> = None;
                for field in self.fields_of(ty).iter() {
                    let (least, greatest) = self.size_bits(&field.ty)?;
                    total = Some(match total {
                        None => (least, greatest),
                        Some((low, high)) => (low.min(least), high.max(greatest)),
                    });
                }
                total.unwrap_or((0, 0))
            }
            TypeKind::Stack(element, size) => {
                let (least, greatest) = self.size_bits(element)?;
                (least.saturating_mul(u64::from(*size)), greatest.saturating_mul(u64::from(*size)))
            }
            _ => return None,
        })
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

    /// Reports a type that a variable, constant or result cannot have.
    pub(super) fn require_value_type(&mut self, ty: &Type, span: Span, what: &str) -> bool {
        if self.is_value_type(ty) {
            return true;
        }
        let shown = self.show(ty);
        let mut diagnostic = Diagnostic::error(
            codes::INVALID_VALUE_TYPE,
            span,
            format!("{what} cannot have type `{shown}`"),
        );
        if matches!(&**ty, TypeKind::Extern(..)) && self.place != Place::TopLevel {
            diagnostic =
                diagnostic.help("an extern object is instantiated: `Name(arguments) name;`");
        }
        self.report(diagnostic);
        false
    }
}

/// Whether a type has parts that are not settled: type parameters or inference variables.
pub(super) fn has_open_parts(ty: &Type) -> bool {
    match &**ty {
        TypeKind::Variable(_) | TypeKind::Inferred(_) | TypeKind::Unknown | TypeKind::DontCare => {
            true
        }
        TypeKind::Struct(_, parts)
        | TypeKind::Header(_, parts)
        | TypeKind::HeaderUnion(_, parts)
        | TypeKind::Extern(_, parts)
        | TypeKind::Parser(_, parts)
        | TypeKind::Control(_, parts)
        | TypeKind::Package(_, parts)
        | TypeKind::Tuple(parts) => parts.iter().any(has_open_parts),
        TypeKind::Stack(part, _) | TypeKind::List(part) | TypeKind::Set(part) => {
            has_open_parts(part)
        }
        TypeKind::AnonymousStruct(fields) => fields.iter().any(|(_, ty)| has_open_parts(ty)),
        _ => false,
    }
}

/// `1 argument`, `2 arguments`.
pub(super) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
