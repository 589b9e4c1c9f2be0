// SPDX-License-Identifier: Apache-2.0
//! Types, sizes and parameters as written.

use super::super::ast::{Parameter, Path, Size, SizeKind, Spelling, Type, TypeKind};
use super::super::token::{Role, TokenKind};
use super::{LOOKAHEAD_LIMIT, Parsed, Parser, RecursiveDescent};
use source::Span;

impl Parser {
    /// Whether a type begins here that no expression can be.
    pub(super) fn at_type_word(&self) -> bool {
        matches!(
            self.kind(),
            TokenKind::Int
                | TokenKind::Bool
                | TokenKind::Void
                | TokenKind::Event
                | TokenKind::Group
                | TokenKind::Auto
                | TokenKind::Memop
                | TokenKind::Bitstring
                | TokenKind::Variable
        )
    }

    pub(super) fn ty(&mut self) -> Parsed<Type> {
        self.nested(|parser| {
            let start = parser.span();
            let kind = parser.type_without_lengths()?;
            let mut ty = Type { kind, span: parser.span_from(start) };
            let mut lengths = 0;
            while parser.at(TokenKind::OpenBracket) {
                lengths += 1;
                if lengths > super::NESTING_LIMIT {
                    return Err(parser.unexpected("a name after so many lengths"));
                }
                let opener = parser.span();
                parser.bump();
                let length = parser.size()?;
                parser.expect_close(TokenKind::CloseBracket, opener)?;
                let kind = TypeKind::Vector(Box::new(ty), length);
                ty = Type { kind, span: parser.span_from(start) };
            }
            Ok(ty)
        })
    }

    fn type_without_lengths(&mut self) -> Parsed<TypeKind> {
        let token = *self.token();
        let simple = match token.kind {
            TokenKind::Bool => Some(TypeKind::Bool),
            TokenKind::Void => Some(TypeKind::Void),
            TokenKind::Event => Some(TypeKind::Event),
            TokenKind::Group => Some(TypeKind::Group),
            TokenKind::Auto => Some(TypeKind::Auto),
            TokenKind::Bitstring => Some(TypeKind::Bitstring),
            _ => None,
        };
        if let Some(kind) = simple {
            self.bump();
            return Ok(kind);
        }
        match token.kind {
            TokenKind::Int => {
                self.bump();
                Ok(TypeKind::Int(self.optional_size()?))
            }
            TokenKind::Variable => Ok(TypeKind::Variable(self.variable())),
            TokenKind::Memop => {
                self.bump();
                Ok(TypeKind::Memop(self.sizes()?.0))
            }
            // The artifact's events that many places may get.
            TokenKind::Identifier if self.at_word("mevent") => {
                self.bump();
                Ok(TypeKind::Event)
            }
            TokenKind::Identifier => {
                let path = self.path("a type")?;
                self.named_type(path)
            }
            TokenKind::OpenBrace => self.record_type(),
            TokenKind::OpenParen => {
                self.bump();
                let mut members = Vec::new();
                while !self.at(TokenKind::CloseParen) {
                    members.push(self.ty()?);
                    if !self.eat(TokenKind::Comma) {
                        break;
                    }
                }
                self.expect_close(TokenKind::CloseParen, token.span)?;
                Ok(TypeKind::Tuple(members))
            }
            _ => Err(self.unexpected("a type")),
        }
    }

    /// The quoted name here, without the quote.
    pub(super) fn variable(&mut self) -> super::super::ast::Segment {
        let mut token = *self.token();
        let span = token.span;
        token.span.start = token.span.start.saturating_add(1).min(token.span.end);
        let name = self.intern(token);
        self.bump();
        super::super::ast::Segment { name, span }
    }

    /// Reads a named type behind its name.
    fn named_type(&mut self, path: Path) -> Parsed<TypeKind> {
        if !self.at(TokenKind::ShiftLeft) {
            let (sizes, _) = self.sizes()?;
            return Ok(TypeKind::Named { path, sizes, spelling: Spelling::Later });
        }
        if self.holds_only_sizes() && &*path.segments[0].name != "Table" {
            let (sizes, _) = self.sizes()?;
            return Ok(TypeKind::Named { path, sizes, spelling: Spelling::Paper });
        }
        let opener = self.span();
        self.mark(Role::AngleOpen);
        self.bump();
        let mut arguments = vec![self.ty()?];
        while self.eat(TokenKind::Comma) {
            arguments.push(self.ty()?);
        }
        self.expect_close_double_angle(opener)?;
        Ok(TypeKind::Applied { path, arguments })
    }

    /// Whether between the `<<` here and its `>>` nothing but sizes stands.
    fn holds_only_sizes(&self) -> bool {
        for distance in 1..LOOKAHEAD_LIMIT {
            match self.ahead(distance) {
                TokenKind::ShiftRight => return true,
                TokenKind::Number
                | TokenKind::Identifier
                | TokenKind::Variable
                | TokenKind::Auto
                | TokenKind::Dot
                | TokenKind::Plus
                | TokenKind::Comma => {}
                _ => return false,
            }
        }
        false
    }

    /// `{ int a; int b; }`
    fn record_type(&mut self) -> Parsed<TypeKind> {
        let opener = self.span();
        self.mark(Role::TypeOpen);
        self.bump();
        let mut fields = Vec::new();
        while !matches!(self.kind(), TokenKind::CloseBrace | TokenKind::End) {
            self.mark_beginning();
            let ty = self.ty()?;
            let name = self.binder("a field")?;
            fields.push(Parameter { ty, name });
            if self.at(TokenKind::CloseBrace) {
                break;
            }
            if self.at(TokenKind::Comma) {
                let _ = self.unexpected("`;` after a field");
                self.bump();
                continue;
            }
            self.expect_semicolon("a field")?;
        }
        self.mark(Role::TypeClose);
        self.expect_close(TokenKind::CloseBrace, opener)?;
        Ok(TypeKind::Record(fields))
    }

    /// Reads the sizes in `<...>` or `<<...>>`, if there are any, and which spelling it is.
    pub(super) fn sizes(&mut self) -> Parsed<(Vec<Size>, Spelling)> {
        let opener = self.span();
        let spelling = match self.kind() {
            TokenKind::Less => Spelling::Later,
            TokenKind::ShiftLeft => Spelling::Paper,
            _ => return Ok((Vec::new(), Spelling::Later)),
        };
        self.mark(Role::AngleOpen);
        self.bump();
        let mut sizes = vec![self.size()?];
        while self.eat(TokenKind::Comma) {
            sizes.push(self.size()?);
        }
        match spelling {
            Spelling::Later => self.expect_close_angle(opener)?,
            Spelling::Paper => self.expect_close_double_angle(opener)?,
        }
        Ok((sizes, spelling))
    }

    /// Reads one size in `<...>` or `<<...>>`, if there is one.
    pub(super) fn optional_size(&mut self) -> Parsed<Option<Size>> {
        let start = self.span();
        let (mut sizes, _) = self.sizes()?;
        if sizes.len() > 1 {
            let diagnostic = source::Diagnostic::error(
                super::super::codes::UNEXPECTED_TOKEN,
                self.span_from(start),
                format!("expected one size here, found {}", sizes.len()),
            );
            self.report_read(diagnostic);
        }
        sizes.truncate(1);
        Ok(sizes.pop())
    }

    /// `32`, `n`, `'a`, `auto`, and sums of these.
    pub(super) fn size(&mut self) -> Parsed<Size> {
        let start = self.span();
        let first = self.size_term()?;
        if !self.at(TokenKind::Plus) {
            if let Some(unparsed) = self.foreign_size_operator() {
                return Err(unparsed);
            }
            return Ok(first);
        }
        let mut terms = vec![first];
        while self.at(TokenKind::Plus) {
            self.mark(Role::Binary);
            self.bump();
            terms.push(self.size_term()?);
        }
        if let Some(unparsed) = self.foreign_size_operator() {
            return Err(unparsed);
        }
        Ok(Size { kind: SizeKind::Sum(terms), span: self.span_from(start) })
    }

    pub(super) fn size_term(&mut self) -> Parsed<Size> {
        let start = self.span();
        let kind = match self.kind() {
            TokenKind::Number => SizeKind::Number(self.number("a size")?),
            TokenKind::Identifier => SizeKind::Named(self.path("a size")?),
            TokenKind::Variable => SizeKind::Variable(self.variable()),
            TokenKind::Auto => {
                self.bump();
                SizeKind::Auto
            }
            TokenKind::OpenParen => {
                self.bump();
                let inner = self.nested(|parser| parser.size())?;
                self.expect_close(TokenKind::CloseParen, start)?;
                inner.kind
            }
            _ => return Err(self.unexpected("a size")),
        };
        Ok(Size { kind, span: self.span_from(start) })
    }

    /// `(int a, bool b)`
    pub(super) fn parameters(&mut self, of: &str) -> Parsed<Vec<Parameter>> {
        let opener = self.span();
        self.expect(TokenKind::OpenParen, &format!("before the parameters of {of}"))?;
        let mut parameters = Vec::new();
        // `(void)` as in C.
        if self.at(TokenKind::Void) && self.ahead(1) == TokenKind::CloseParen {
            let _ = self.unexpected("`)` or a parameter");
            self.bump();
        }
        while !self.at(TokenKind::CloseParen) {
            parameters.push(self.parameter(opener)?);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect_close(TokenKind::CloseParen, opener)?;
        Ok(parameters)
    }

    fn parameter(&mut self, opener: Span) -> Parsed<Parameter> {
        if self.at(TokenKind::End) {
            self.expect_close(TokenKind::CloseParen, opener)?;
        }
        let ty = self.ty()?;
        if matches!(self.kind(), TokenKind::Comma | TokenKind::CloseParen) {
            return Err(self.parameter_without_type(&ty));
        }
        Ok(Parameter { ty, name: self.binder("a parameter")? })
    }
}
