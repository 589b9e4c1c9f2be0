// SPDX-License-Identifier: Apache-2.0
//! Annotations (P4_16 v1.2.5 §20): `@name`, `@name(tokens)`, `@name[expressions]`, and pragmas,
//! which are annotations that end with their line. The parser does not interpret them.

use super::pragma_lines::balanced;
use super::{Parsed, Parser, RecursiveDescent};
use crate::ast::{Annotation, AnnotationBody, Name};
use crate::codes::syntax;
use crate::lexer;
use crate::token::{Token, TokenKind};
use source::{Diagnostic, Diagnostics, SourceMap};

impl Parser<'_> {
    /// Reads all annotations that stand here.
    pub(super) fn annotations(&mut self) -> Parsed<Vec<Annotation>> {
        let mut annotations = Vec::new();
        self.annotations_start = None;
        let mut start = None;
        loop {
            if let Some(pragmas) = self.pragmas.remove(&self.cursor.position) {
                annotations.extend(pragmas.iter().filter_map(pragma));
            }
            if self.at_annotation_word() {
                start = start.or(Some(self.span()));
                let name = self.take_name();
                let span = name.span;
                annotations.push(Annotation { name, body: AnnotationBody::Empty, span });
                continue;
            }
            if !self.at(TokenKind::At) {
                self.annotations_start = start;
                return Ok(annotations);
            }
            start = start.or(Some(self.span()));
            annotations.push(self.annotation()?);
        }
    }

    /// Whether a word of the dialect that is an annotation stands here.
    fn at_annotation_word(&self) -> bool {
        self.dialect.is_some_and(|dialect| {
            let next = self.token_at(self.cursor.position + 1);
            dialect.is_annotation(self.token(), next)
        })
    }

    fn annotation(&mut self) -> Parsed<Annotation> {
        let start = self.span();
        self.bump();
        // Any word may name an annotation, reserved or not.
        let name = if self.at(TokenKind::Identifier) || self.kind().is_keyword() {
            self.take_name()
        } else {
            return Err(self.unexpected("the name of an annotation"));
        };
        let body = match self.kind() {
            TokenKind::OpenParen => AnnotationBody::Unstructured(self.balanced_tokens()?),
            TokenKind::OpenBracket => self.structured_body()?,
            _ => AnnotationBody::Empty,
        };
        Ok(Annotation { name, body, span: self.span_from(start) })
    }

    /// Everything between the parentheses that stand here.
    fn balanced_tokens(&mut self) -> Parsed<Vec<Token>> {
        let opener = self.span();
        self.bump();
        let mut depth = 0u32;
        let mut tokens = Vec::new();
        loop {
            match self.kind() {
                TokenKind::OpenParen => depth += 1,
                TokenKind::CloseParen if depth == 0 => {
                    self.bump();
                    return Ok(tokens);
                }
                TokenKind::CloseParen => depth -= 1,
                TokenKind::End => {
                    return Err(self
                        .expect_close(TokenKind::CloseParen, opener)
                        .err()
                        .unwrap_or(super::Unparsed));
                }
                _ => {}
            }
            tokens.push(self.token().clone());
            self.bump();
        }
    }

    fn structured_body(&mut self) -> Parsed<AnnotationBody> {
        let opener = self.span();
        self.bump();
        if self.at_name() && self.ahead(1) == TokenKind::Assign {
            let mut pairs = Vec::new();
            while !self.at(TokenKind::CloseBracket) {
                let key = self.name("a key")?;
                self.expect(TokenKind::Assign, "after this key")?;
                pairs.push((key, self.expression()?));
                if !self.eat(TokenKind::Comma) {
                    break;
                }
            }
            self.expect_close(TokenKind::CloseBracket, opener)?;
            return Ok(AnnotationBody::Pairs(pairs));
        }
        let mut expressions = Vec::new();
        while !self.at(TokenKind::CloseBracket) {
            expressions.push(self.expression()?);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect_close(TokenKind::CloseBracket, opener)?;
        Ok(AnnotationBody::Expressions(expressions))
    }

    /// Reports annotations just read where none may stand. Pragmas are let pass: a pragma that
    /// belongs to nothing is ignored.
    pub(super) fn reject_annotations(&mut self, before: &str) {
        if let Some(span) = self.annotations_start.take() {
            let diagnostic = Diagnostic::error(
                syntax::MISPLACED_ANNOTATION,
                span,
                format!("an annotation cannot stand before {before}"),
            )
            .help("annotate the declaration or the block around it");
            self.report_read(diagnostic);
        }
    }
}

/// Returns the annotation of a `#pragma` or `@pragma` line: its first word is the name.
fn pragma(token: &Token) -> Option<Annotation> {
    let mut map = SourceMap::new();
    let file = map.add("pragma", token.text.clone());
    // A pragma may hold any text, so characters that are no tokens of P4 are no errors.
    let mut ignored = Diagnostics::new();
    let mut tokens = lexer::lex(&map, file, &mut ignored).into_iter().filter_map(|mut inner| {
        inner.span = token.span;
        (inner.kind != TokenKind::End && inner.kind != TokenKind::Unknown).then_some(inner)
    });
    let first = tokens.next()?;
    if first.kind != TokenKind::Identifier && !first.kind.is_keyword() {
        return None;
    }
    let rest: Vec<Token> = tokens.collect();
    let body = if rest.is_empty() || !balanced(&rest) {
        AnnotationBody::Empty
    } else {
        AnnotationBody::Unstructured(rest)
    };
    Some(Annotation { name: Name { text: first.text, span: token.span }, body, span: token.span })
}
