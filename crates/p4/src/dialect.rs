// SPDX-License-Identifier: Apache-2.0
//! `Dialect`: declarations, statements and expressions beyond P4_16, such as Mantis' malleables or
//! Flightplan's `flyto()`. A dialect says which characters and forms it adds and of what type its
//! expressions are; the tree holds them as [`Extension`]s, which are visited, printed and formatted
//! like the rest. Running them is not possible: a rewriter replaces them by P4_16. Without a dialect,
//! all passes are strict.

use crate::ast::{Block, Expression, Extension, Name, Parameter, Program, TypeRef};
use crate::token::{Token, TokenKind};
pub use source::parse::Unparsed;
use std::ops::Range;

/// A place where a form of a dialect may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormPlace {
    /// Among the declarations of the program.
    TopLevel,
    /// Among the declarations of a parser.
    Parser,
    /// Among the declarations of a control.
    Control,
    /// Among statements, or as the body of one.
    Statement,
    /// As an operand.
    Expression,
}

/// A language that extends P4_16.
pub trait Dialect: Sync {
    /// Its name, as users know it.
    fn name(&self) -> &'static str;

    /// Characters that P4_16 does not have; each is a token of the kind [`TokenKind::Foreign`]. With `$`
    /// among them, `${name}` without blanks is one such token.
    fn characters(&self) -> &'static str {
        ""
    }

    /// Returns the places of texts in another language, such as C, from an opening brace to behind the one that closes it,
    /// in order. Each is one token of the kind [`TokenKind::Verbatim`]; nothing reads its inside.
    fn verbatim(&self, text: &str) -> Vec<Range<usize>> {
        let _ = text;
        Vec::new()
    }

    /// Whether a word before a declaration is an annotation of it: `word declaration` is short for `@word declaration`.
    fn is_annotation(&self, word: &Token, next: &Token) -> bool {
        let _ = (word, next);
        false
    }

    /// Returns the form that begins at the next token, if it is one of the dialect's. It goes
    /// before what P4_16 has at that place. `ahead` looks at the tokens from the next one on.
    fn form<'t>(
        &self,
        place: FormPlace,
        ahead: &dyn Fn(usize) -> &'t Token,
    ) -> Option<&'static str>;

    /// Reads such a form from its first token to its last, a closing `;` included.
    ///
    /// # Errors
    ///
    /// The reader has reported what is wrong.
    fn read(&self, form: &'static str, reader: &mut dyn ExtensionReader) -> Result<(), Unparsed>;

    /// Returns the type of an expression of the dialect: a type that is written in the program,
    /// such as that of the declaration which the expression names. `None` if there is none.
    fn type_of<'p>(&self, extension: &Extension, program: &'p Program) -> Option<&'p TypeRef>;

    /// Returns the names that expressions of the dialect may refer to, for advice.
    fn declared<'p>(&self, program: &'p Program) -> Vec<&'p str> {
        let _ = program;
        Vec::new()
    }

    /// Whether an expression of the dialect may be assigned to.
    fn is_variable(&self, extension: &Extension) -> bool {
        let _ = extension;
        false
    }
}

/// The tokens that a text may have beyond those of P4_16.
#[derive(Clone, Copy, Default)]
pub struct Foreign<'d> {
    characters: &'d str,
    dialect: Option<&'d dyn Dialect>,
    /// The text is C: `--` and `->` are tokens, and so is every text that P4_16 does not know.
    is_c: bool,
}

impl<'d> Foreign<'d> {
    /// The tokens of a dialect.
    pub fn of(dialect: Option<&'d dyn Dialect>) -> Foreign<'d> {
        let characters = dialect.map_or("", |dialect| dialect.characters());
        Foreign { characters, dialect, is_c: false }
    }

    /// The tokens of C: `--`, `->`, character constants, and every other text that P4_16 does not know. The reader of the
    /// tokens reports those that C does not know either.
    pub fn c() -> Foreign<'static> {
        Foreign { is_c: true, ..Foreign::default() }
    }

    /// These characters, each a token.
    pub fn characters(characters: &'d str) -> Foreign<'d> {
        Foreign { characters, dialect: None, is_c: false }
    }

    /// Whether an unknown text has only characters that are allowed.
    pub(crate) fn allows(&self, text: &str) -> bool {
        self.is_c || text.chars().all(|character| self.characters.contains(character))
    }

    /// Whether `--` and `->` are tokens.
    pub(crate) fn is_c(&self) -> bool {
        self.is_c
    }

    /// The places of texts in another language.
    pub(crate) fn verbatim(&self, text: &str) -> Vec<Range<usize>> {
        self.dialect.map_or_else(Vec::new, |dialect| dialect.verbatim(text))
    }
}

/// Reads the parts of a form; each becomes a part of the extension in order.
pub trait ExtensionReader {
    /// Looks at a token from the next one on.
    fn ahead(&self, distance: usize) -> &Token;

    /// Takes the next token, whatever it is.
    fn token(&mut self) -> Token;

    /// Takes a token of this kind. `place` ends the sentence "expected `:` ...".
    ///
    /// # Errors
    ///
    /// It is another token.
    fn expect(&mut self, kind: TokenKind, place: &str) -> Result<(), Unparsed>;

    /// Takes a name; `what` says what it names, with its article.
    ///
    /// # Errors
    ///
    /// There is none.
    fn name(&mut self, what: &str) -> Result<Name, Unparsed>;

    /// Reads a type.
    ///
    /// # Errors
    ///
    /// There is none.
    fn type_ref(&mut self) -> Result<&TypeRef, Unparsed>;

    /// Reads an expression.
    ///
    /// # Errors
    ///
    /// There is none.
    fn expression(&mut self) -> Result<&Expression, Unparsed>;

    /// Reads parameters in parentheses.
    ///
    /// # Errors
    ///
    /// There are none.
    fn parameters(&mut self) -> Result<&[Parameter], Unparsed>;

    /// Reads a block of statements; `what` names it in messages.
    ///
    /// # Errors
    ///
    /// There is none.
    fn block(&mut self, what: &str) -> Result<&Block, Unparsed>;

    /// Takes a text of [`Dialect::verbatim`]; `place` ends the sentence "expected `{` ...".
    ///
    /// # Errors
    ///
    /// No such text stands here.
    fn verbatim(&mut self, place: &str) -> Result<(), Unparsed>;

    /// Takes tokens from an opening parenthesis, bracket or brace to the one that closes it: text in
    /// another language.
    ///
    /// # Errors
    ///
    /// No such text stands here, or it has no end.
    fn balanced(&mut self) -> Result<(), Unparsed>;

    /// Reports that something else is expected here.
    fn unexpected(&mut self, expected: &str) -> Unparsed;
}

#[cfg(test)]
mod tests;
