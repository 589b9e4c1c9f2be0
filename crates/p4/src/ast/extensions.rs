// SPDX-License-Identifier: Apache-2.0
//! `Extension`: a declaration, statement or expression of a dialect, as its tokens and the parts of P4_16
//! between them, so that passes walk and print it without knowing the dialect.

use super::{Block, Expression, Name, Parameter, TypeRef};
use crate::token::Token;

/// A form that P4_16 does not have.
#[derive(Clone, Debug)]
pub struct Extension {
    /// The dialect's name, such as `P4R`.
    pub dialect: &'static str,
    /// Which of the dialect's forms it is, such as `malleable value`.
    pub form: &'static str,
    /// Its tokens and parts, in order. The annotations of a declaration are the declaration's.
    pub parts: Vec<ExtensionPart>,
}

/// A piece of an [`Extension`].
#[derive(Clone, Debug)]
pub enum ExtensionPart {
    /// A word, number, operator or bracket of the form.
    Token(Token),
    /// A name, declared or used.
    Name(Name),
    /// A type.
    Type(TypeRef),
    /// An expression.
    Expression(Expression),
    /// Parameters with their parentheses.
    Parameters(Vec<Parameter>),
    /// A block with its braces.
    Block(Block),
}

impl Extension {
    /// Returns the names among the parts, in order.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.parts.iter().filter_map(|part| match part {
            ExtensionPart::Name(name) => Some(name),
            _ => None,
        })
    }

    /// Returns the types among the parts, in order.
    pub fn types(&self) -> impl Iterator<Item = &TypeRef> {
        self.parts.iter().filter_map(|part| match part {
            ExtensionPart::Type(ty) => Some(ty),
            _ => None,
        })
    }

    /// Returns the expressions among the parts, in order.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.parts.iter().filter_map(|part| match part {
            ExtensionPart::Expression(expression) => Some(expression),
            _ => None,
        })
    }

    /// Returns the tokens among the parts, in order.
    pub fn tokens(&self) -> impl Iterator<Item = &Token> {
        self.parts.iter().filter_map(|part| match part {
            ExtensionPart::Token(token) => Some(token),
            _ => None,
        })
    }
}
