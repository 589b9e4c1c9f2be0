// SPDX-License-Identifier: Apache-2.0
//! The uses of types: which may be part of which (P4_16 v1.2.5 §7.2.9), which have values, and the
//! sizes of these (§9).

use super::inference::has_open_parts;
use super::{Checker, FieldType, SyntacticContext};
use crate::codes::typing as codes;
use crate::typed::{Type, TypeKind};
use source::{Diagnostic, Span};

/// The kinds of types that contain others.
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

/// The types that a type may consist of, arrays counted once.
const MAX_TYPE_PARTS: u32 = 50_000;

/// The depth to which types may nest.
const MAX_TYPE_DEPTH: u32 = 200;

/// How large and how deep a type is.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    parts: u32,
    depth: u32,
}

impl Extent {
    /// Returns the extent of a type without parts.
    pub(super) fn one() -> Extent {
        Extent { parts: 1, depth: 1 }
    }

    pub(super) fn holds(self, inner: Extent) -> Extent {
        Extent {
            parts: self.parts.saturating_add(inner.parts),
            depth: self.depth.max(inner.depth.saturating_add(1)),
        }
    }

    pub(super) fn is_too_large(self) -> bool {
        self.parts > MAX_TYPE_PARTS || self.depth > MAX_TYPE_DEPTH
    }
}

impl<'a> Checker<'a> {
    /// Returns the extent of a type. It stops early when that is too large: types that double with
    /// each declaration grow exponentially.
    pub(super) fn extent(&self, ty: &Type) -> Extent {
        let mut total = Extent::one();
        let parts: &[Type] = match &**ty {
            TypeKind::Struct(node, arguments)
            | TypeKind::Header(node, arguments)
            | TypeKind::HeaderUnion(node, arguments) => {
                if arguments.is_empty() {
                    return self.extents.get(node).copied().unwrap_or(total);
                }
                for argument in arguments {
                    total = total.holds(self.extent(argument));
                    if total.is_too_large() {
                        return total;
                    }
                }
                for field in self.fields_of(ty).iter() {
                    total = total.holds(self.extent(&field.ty));
                    if total.is_too_large() {
                        return total;
                    }
                }
                return total;
            }
            TypeKind::Extern(_, parts)
            | TypeKind::Parser(_, parts)
            | TypeKind::Control(_, parts)
            | TypeKind::Package(_, parts)
            | TypeKind::Tuple(parts) => parts,
            TypeKind::Stack(part, _) | TypeKind::List(part) | TypeKind::Set(part) => {
                std::slice::from_ref(part)
            }
            _ => return total,
        };
        for part in parts {
            total = total.holds(self.extent(part));
            if total.is_too_large() {
                break;
            }
        }
        total
    }

    /// Reports a type that is too large; true when it is not.
    pub(super) fn check_extent(&mut self, extent: Extent, span: Span) -> bool {
        if !extent.is_too_large() {
            return true;
        }
        self.report(
            Diagnostic::error(codes::INVALID_NESTING, span, "this type is too large").note(
                format!("a type is made of at most {MAX_TYPE_PARTS} others, {MAX_TYPE_DEPTH} deep"),
            ),
        );
        false
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

    /// Reports a type that may not be part of the container (§7.2.9).
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

    pub(super) fn may_nest(&self, ty: &Type, container: Container) -> bool {
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
            TypeKind::Error => matches!(container, Struct | Tuple | List),
            TypeKind::Enum(_) => matches!(container, Struct | Tuple | List | Array),
            TypeKind::Header(..) => container != Header,
            TypeKind::HeaderUnion(..) => matches!(container, Struct | Tuple | List | Array),
            TypeKind::Stack(element, _) => match container {
                Struct | Tuple | List => true,
                Array => !matches!(&**element, TypeKind::Header(..) | TypeKind::HeaderUnion(..)),
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
    pub(super) fn fits_header_array(&self, ty: &Type) -> bool {
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

    /// Returns the minimum and maximum size in bits; `None` where the type has no size (§9).
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
                        Some((low, high)) => (low.max(least), high.max(greatest)),
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
        if matches!(&**ty, TypeKind::Extern(..)) && self.context != SyntacticContext::TopLevel {
            diagnostic =
                diagnostic.help("an extern object is instantiated: `Name(arguments) name;`");
        }
        self.report(diagnostic);
        false
    }
}
