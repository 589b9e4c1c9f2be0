// SPDX-License-Identifier: Apache-2.0
//! Constructs of a dialect as pieces: their tokens and the P4_16 between them.

use super::emitter::Emitter;
use crate::ast::{Extension, ExtensionPart};
use crate::token::{Token, TokenKind as T};

impl Emitter {
    pub(super) fn extension(&mut self, extension: &Extension) {
        for part in &extension.parts {
            match part {
                ExtensionPart::Token(token) => self.foreign_token(token),
                ExtensionPart::Name(name) => self.name(name),
                ExtensionPart::Type(ty) => self.type_ref(ty),
                ExtensionPart::Expression(expression) => self.expression(expression),
                ExtensionPart::Parameters(parameters) => self.parameters(parameters),
                ExtensionPart::Block(block) => self.block(block),
            }
        }
    }

    fn foreign_token(&mut self, token: &Token) {
        match token.kind {
            // The text is as it was written, escapes included.
            T::String => self.text(T::String, format!("\"{}\"", token.text)),
            // Spaced as a name is.
            T::Foreign => self.text(T::Identifier, token.text.to_string()),
            kind => self.text(kind, token.text.to_string()),
        }
    }
}
