// SPDX-License-Identifier: Apache-2.0
//! The row of pieces the printer makes, and how names, lists and annotations become pieces. What
//! the parts of a program look like is in the other modules; where lines end is `format`'s.

use crate::ast::{Annotation, AnnotationBody, Argument, Name, Path};
use crate::format::pieces::{Piece, PieceKind, Role};
use crate::token::{Token, TokenKind as T};
use std::borrow::Cow;

pub(super) struct Emitter {
    pub(super) pieces: Vec<Piece<'static>>,
    lines_before: u8,
}

impl Emitter {
    pub(super) fn new() -> Emitter {
        Emitter { pieces: Vec::new(), lines_before: 0 }
    }

    fn push(&mut self, kind: PieceKind, text: Cow<'static, str>, role: Role) {
        let lines_before = std::mem::take(&mut self.lines_before);
        self.pieces.push(Piece { kind, text, lines_before, role, column: 0 });
    }

    /// A token that has one spelling.
    pub(super) fn token(&mut self, kind: T) {
        self.role(kind, Role::Unknown);
    }

    /// A token with a known part to play.
    pub(super) fn role(&mut self, kind: T, role: Role) {
        self.push(PieceKind::Token(kind), Cow::Borrowed(kind.spelling()), role);
    }

    pub(super) fn tokens(&mut self, kinds: &[T]) {
        for kind in kinds {
            self.token(*kind);
        }
    }

    /// A token with a spelling of its own.
    pub(super) fn text(&mut self, kind: T, text: String) {
        self.push(PieceKind::Token(kind), Cow::Owned(text), Role::Unknown);
    }

    pub(super) fn name(&mut self, name: &Name) {
        let kind = T::keyword(&name.text).unwrap_or(T::Identifier);
        self.text(kind, name.text.to_string());
    }

    pub(super) fn path(&mut self, path: &Path) {
        if path.absolute {
            self.role(T::Dot, Role::LeadingDot);
        }
        self.name(&path.name);
    }

    /// A string literal: quotes and backslashes are escaped (P4_16 v1.2.5 §6.4.3.3).
    pub(super) fn string(&mut self, value: &str) {
        let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
        self.text(T::String, format!("\"{escaped}\""));
    }

    /// The next piece begins a line.
    pub(super) fn line(&mut self) {
        self.lines_before = self.lines_before.max(1);
    }

    /// The next piece begins a line after an empty one.
    pub(super) fn blank_line(&mut self) {
        self.lines_before = 2;
    }

    /// Elements with commas between them.
    pub(super) fn comma_list<R>(&mut self, elements: &[R], emit: impl Fn(&mut Self, &R)) {
        for (at, element) in elements.iter().enumerate() {
            if at > 0 {
                self.token(T::Comma);
            }
            emit(self, element);
        }
    }

    /// `<a, b>`, or nothing for no elements.
    pub(super) fn angles<R>(&mut self, elements: &[R], emit: impl Fn(&mut Self, &R)) {
        if !elements.is_empty() {
            self.angle_list(elements, emit);
        }
    }

    /// `<a, b>`, even when it is empty.
    pub(super) fn angle_list<R>(&mut self, elements: &[R], emit: impl Fn(&mut Self, &R)) {
        self.role(T::OpenAngle, Role::AngleOpen);
        self.comma_list(elements, emit);
        self.role(T::CloseAngle, Role::AngleClose);
    }

    pub(super) fn arguments(&mut self, arguments: &[Argument]) {
        self.token(T::OpenParen);
        self.comma_list(arguments, |emitter, argument| {
            if let Some(name) = &argument.name {
                emitter.name(name);
                emitter.token(T::Assign);
            }
            emitter.expression(&argument.value);
        });
        self.token(T::CloseParen);
    }

    /// Annotations before something on the same line.
    pub(super) fn annotations(&mut self, annotations: &[Annotation]) {
        for annotation in annotations {
            self.annotation(annotation);
        }
    }

    /// Annotations, each on a line of its own.
    pub(super) fn annotation_lines(&mut self, annotations: &[Annotation]) {
        for annotation in annotations {
            self.annotation(annotation);
            self.line();
        }
    }

    fn annotation(&mut self, annotation: &Annotation) {
        self.token(T::At);
        self.name(&annotation.name);
        match &annotation.body {
            AnnotationBody::Empty => {}
            AnnotationBody::Unstructured(tokens) => {
                let text = format!("({})", spelled(tokens));
                self.push(PieceKind::AnnotationBody, Cow::Owned(text), Role::Plain);
            }
            AnnotationBody::Expressions(expressions) => {
                self.token(T::OpenBracket);
                self.comma_list(expressions, |emitter, value| emitter.expression(value));
                self.token(T::CloseBracket);
            }
            AnnotationBody::Pairs(pairs) => {
                self.token(T::OpenBracket);
                self.comma_list(pairs, |emitter, (key, value)| {
                    emitter.name(key);
                    emitter.token(T::Assign);
                    emitter.expression(value);
                });
                self.token(T::CloseBracket);
            }
        }
    }
}

/// Any tokens, with blanks that keep them apart.
fn spelled(tokens: &[Token]) -> String {
    let mut text = String::new();
    let mut before: Option<T> = None;
    for token in tokens {
        let tight = match (before, token.kind) {
            (None | Some(T::OpenParen), _) => true,
            (_, T::CloseParen | T::Comma) => true,
            (Some(T::Identifier | T::Dot), T::Dot) => before == Some(T::Identifier),
            (Some(T::Dot), T::Identifier) => true,
            (Some(T::Identifier), T::OpenParen) => true,
            _ => false,
        };
        if !tight {
            text.push(' ');
        }
        if token.kind == T::String {
            text.push('"');
            text.push_str(&token.text);
            text.push('"');
        } else {
            text.push_str(&token.text);
        }
        before = Some(token.kind);
    }
    text
}
