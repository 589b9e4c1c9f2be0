// SPDX-License-Identifier: Apache-2.0
//! Types as they are written (P4_16 v1.2.5 §7): built-in types, names, type arguments, stacks, and
//! lists of type parameters. Where only a type can stand, any name is read as one.

use super::scopes::NameClass;
use super::{EXPRESSION_HEIGHT_LIMIT, Parsed, Parser, RecursiveDescent};
use crate::ast::{DeclaredName, Expression, Path, TypeParameter, TypeRef, TypeRefKind};
use crate::codes::syntax;
use crate::token::TokenKind as T;
use source::{Diagnostic, Span};

impl Parser<'_> {
    /// Reads a type with any `[size]` after it.
    pub(super) fn type_ref(&mut self) -> Parsed<TypeRef> {
        let element = self.type_without_size()?;
        self.stack_sizes(element)
    }

    /// Adds the `[size]` parts that stand here to a type.
    pub(super) fn stack_sizes(&mut self, element: TypeRef) -> Parsed<TypeRef> {
        let mut ty = element;
        let mut height = self.height;
        while self.at(T::OpenBracket) {
            let opener = self.span();
            self.bump();
            let size = self.unrestricted(|parser| parser.expression())?;
            self.expect_close(T::CloseBracket, opener)?;
            height = self.one_higher(height.max(self.height))?;
            let span = self.span_from(ty.span);
            let kind = TypeRefKind::Stack(Box::new(ty), Box::new(size));
            ty = TypeRef { id: self.id(), span, kind };
        }
        self.height = height;
        Ok(ty)
    }

    /// Returns one more than the height below, or reports that the tree is too high.
    pub(super) fn one_higher(&mut self, height: u32) -> Parsed<u32> {
        if height < EXPRESSION_HEIGHT_LIMIT {
            return Ok(height + 1);
        }
        let diagnostic = Diagnostic::error(
            syntax::NESTED_TOO_DEEPLY,
            self.previous_span(),
            format!("this expression has more than {EXPRESSION_HEIGHT_LIMIT} operators in a chain"),
        )
        .help("compute a part of it in a variable or constant of its own");
        Err(self.report(diagnostic))
    }

    fn type_without_size(&mut self) -> Parsed<TypeRef> {
        let start = self.span();
        self.height = 0;
        if self.at(T::TypeHole) {
            return self.type_hole();
        }
        let kind = match self.kind() {
            T::Bool => self.word(TypeRefKind::Bool),
            T::Error => self.word(TypeRefKind::Error),
            T::MatchKind => self.word(TypeRefKind::MatchKind),
            T::StringType => self.word(TypeRefKind::String),
            T::Void => self.word(TypeRefKind::Void),
            T::Bit => {
                self.bump();
                TypeRefKind::Bit(self.optional_width()?.map(Box::new))
            }
            T::Int => {
                self.bump();
                match self.optional_width()? {
                    Some(width) => TypeRefKind::SignedBit(Box::new(width)),
                    None => TypeRefKind::Integer,
                }
            }
            T::Varbit => {
                self.bump();
                if !self.at(T::OpenAngle) {
                    return Err(self.unexpected("`<` and the largest width after `varbit`"));
                }
                match self.optional_width()? {
                    Some(width) => TypeRefKind::Varbit(Box::new(width)),
                    None => TypeRefKind::Invalid,
                }
            }
            T::Tuple => {
                self.bump();
                TypeRefKind::Tuple(self.type_arguments()?)
            }
            T::List if self.ahead(1) == T::OpenAngle => {
                self.bump();
                let opener = self.span();
                let mut arguments = self.type_arguments()?;
                match (arguments.pop(), arguments.is_empty()) {
                    (Some(element), true) => TypeRefKind::List(Box::new(element)),
                    _ => {
                        let diagnostic = Diagnostic::error(
                            syntax::UNEXPECTED_TOKEN,
                            self.span_from(opener),
                            "`list` takes one type argument",
                        );
                        self.report_read(diagnostic);
                        TypeRefKind::Invalid
                    }
                }
            }
            _ if self.at_name() || self.at(T::Dot) => {
                let path = self.path("a type")?;
                self.named_type(path)?
            }
            kind if kind.is_keyword() && self.ahead(1) == T::Identifier => {
                return Err(self.unexpected("a type"));
            }
            _ => return Err(self.unexpected("a type")),
        };
        let span = self.span_from(start);
        Ok(TypeRef { id: self.id(), span, kind })
    }

    fn word(&mut self, kind: TypeRefKind) -> TypeRefKind {
        self.bump();
        kind
    }

    /// Returns a named type, with its type arguments if it has any.
    pub(super) fn named_type(&mut self, path: Path) -> Parsed<TypeRefKind> {
        self.report_c_type(&path);
        if self.at(T::OpenAngle) {
            let arguments = self.type_arguments()?;
            Ok(TypeRefKind::Specialized(path, arguments))
        } else {
            self.height = 0;
            Ok(TypeRefKind::Named(path))
        }
    }

    /// `<W>` after `bit`, `int` or `varbit`.
    fn optional_width(&mut self) -> Parsed<Option<Expression>> {
        self.height = 0;
        if !self.at(T::OpenAngle) {
            return Ok(None);
        }
        let opener = self.span();
        self.bump();
        let outer = std::mem::replace(&mut self.greater_closes, true);
        let width = self.nested(|parser| parser.expression());
        self.greater_closes = outer;
        let width = width?;
        self.expect_close_angle(opener)?;
        self.height = self.one_higher(self.height)?;
        Ok(Some(width))
    }

    /// `<T, U>` where it certainly stands for type arguments.
    pub(super) fn type_arguments(&mut self) -> Parsed<Vec<TypeRef>> {
        let opener = self.span();
        self.expect(T::OpenAngle, "before the type arguments")?;
        let mut arguments = Vec::new();
        let mut height = 0;
        let closes = |parser: &Self| matches!(parser.kind(), T::CloseAngle | T::ShiftRight);
        while !closes(self) {
            arguments.push(self.nested(|parser| parser.type_argument())?);
            height = height.max(self.height);
            if !self.eat(T::Comma) {
                break;
            }
        }
        self.expect_close_angle(opener)?;
        self.height = self.one_higher(height)?;
        Ok(arguments)
    }

    fn type_argument(&mut self) -> Parsed<TypeRef> {
        if self.at(T::Underscore) {
            let span = self.span();
            self.bump();
            self.height = 0;
            return Ok(TypeRef { id: self.id(), span, kind: TypeRefKind::DontCare });
        }
        self.type_ref()
    }

    /// `<T, U>` after the name of something generic. The names are declared in the current scope.
    pub(super) fn type_parameters(&mut self) -> Parsed<Vec<TypeParameter>> {
        let mut parameters = Vec::new();
        if !self.at(T::OpenAngle) {
            return Ok(parameters);
        }
        let opener = self.span();
        self.bump();
        while !self.at(T::CloseAngle) {
            let name = self.name("a type parameter")?;
            self.scopes.declare(&name.text, NameClass::Type);
            parameters.push(DeclaredName { id: self.id(), name });
            if !self.eat(T::Comma) {
                break;
            }
        }
        self.expect_close_angle(opener)?;
        Ok(parameters)
    }

    /// Reports the name of a type of C, unless the program has declared one by this name.
    pub(super) fn report_c_type(&mut self, path: &Path) {
        let known = if path.absolute {
            self.scopes.class_at_top(&path.name.text)
        } else {
            self.scopes.class(&path.name.text)
        };
        if known.is_some() {
            return;
        }
        if let Some(replacement) = c_type_replacement(&path.name.text) {
            self.report_foreign_type(&path.name.text.clone(), path.name.span, replacement);
        }
    }

    fn report_foreign_type(&mut self, name: &str, span: Span, replacement: &str) {
        let diagnostic =
            Diagnostic::error(syntax::FOREIGN_TYPE, span, format!("P4 has no type `{name}`"))
                .here(format!("write `{replacement}`"));
        self.report_read(diagnostic);
    }

    /// Reads something in which `>` is an operator again, such as what stands in parentheses.
    pub(super) fn unrestricted<R>(&mut self, read: impl FnOnce(&mut Self) -> R) -> R {
        let outer = std::mem::replace(&mut self.greater_closes, false);
        let result = read(self);
        self.greater_closes = outer;
        result
    }
}

/// Returns the P4 type to write for a type of C, Go or Rust.
fn c_type_replacement(name: &str) -> Option<&'static str> {
    Some(match name {
        "uint8_t" | "u8" | "uint8" | "u_int8_t" | "byte" | "u_char" | "char" | "uchar" => "bit<8>",
        "uint16_t" | "u16" | "uint16" | "u_int16_t" | "ushort" | "u_short" => "bit<16>",
        "uint32_t" | "u32" | "uint32" | "u_int32_t" | "uint" | "u_int" | "unsigned" => "bit<32>",
        "uint64_t" | "u64" | "uint64" | "u_int64_t" | "size_t" => "bit<64>",
        "int8_t" | "i8" | "int8" => "int<8>",
        "int16_t" | "i16" | "int16" | "short" => "int<16>",
        "int32_t" | "i32" | "int32" | "signed" => "int<32>",
        "int64_t" | "i64" | "int64" | "long" => "int<64>",
        "boolean" | "_Bool" => "bool",
        _ => return None,
    })
}
