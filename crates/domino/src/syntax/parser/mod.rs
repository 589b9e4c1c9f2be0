// SPDX-License-Identifier: Apache-2.0
//! Tokens to tree: recursive descent, with precedence climbing for expressions. A tree always comes out; what cannot be
//! read is reported and left out. What C has and Domino does not have gets an error with advice.

mod declarations;
mod expressions;
mod foreign;
mod statements;

use super::ast::{File, Name};
use super::token::{QUALIFIERS, Token, TokenKind};
use crate::codes::syntax as codes;
use source::parse::{Cursor, NestingLimit, Parsed, RecursiveDescent, SyntaxCodes};
use source::{Diagnostic, Diagnostics};

/// How deep statements and parentheses may nest, together.
pub(crate) const NESTING_LIMIT: u32 = 200;

/// How high the tree of one expression may be. `a + b + c` is one higher with each operator.
pub(crate) const HEIGHT_LIMIT: u32 = 200;

/// Reads a preprocessed program.
pub(super) fn parse(tokens: Vec<Token>, diagnostics: &mut Diagnostics) -> File {
    let mut parser = Parser { cursor: Cursor::new(tokens, Vec::new()) };
    // A text that was not read to its end says nothing about what is missing.
    parser.cursor.silent = diagnostics.has_errors();
    let file = parser.file();
    parser.report_suppressed();
    diagnostics.append(parser.cursor.diagnostics);
    file
}

/// The state of one run over the tokens.
struct Parser {
    cursor: Cursor<Token>,
}

impl RecursiveDescent for Parser {
    type Token = Token;
    type Kind = TokenKind;

    const CODES: SyntaxCodes = SyntaxCodes {
        unexpected_token: codes::UNEXPECTED_TOKEN,
        missing_semicolon: codes::MISSING_SEMICOLON,
        unclosed_delimiter: codes::UNCLOSED_DELIMITER,
        reserved_word: codes::RESERVED_WORD,
        nested_too_deeply: codes::NESTED_TOO_DEEPLY,
        too_many_errors: codes::TOO_MANY_ERRORS,
    };

    const NESTING: NestingLimit = NestingLimit {
        levels: NESTING_LIMIT,
        help: "move the inner part to a helper function or to a local",
    };

    fn cursor(&self) -> &Cursor<Token> {
        &self.cursor
    }

    fn cursor_mut(&mut self) -> &mut Cursor<Token> {
        &mut self.cursor
    }

    fn text_of<'t>(&'t self, token: &'t Token) -> &'t str {
        &token.text
    }

    fn can_follow_semicolon(&self) -> bool {
        use TokenKind as T;
        matches!(
            self.kind(),
            T::Identifier
                | T::CloseBrace
                | T::OpenBrace
                | T::PlusPlus
                | T::MinusMinus
                | T::Semicolon
        ) || self.at_recovery_point()
    }

    fn at_recovery_point(&self) -> bool {
        use TokenKind as T;
        let begins = matches!(
            self.kind(),
            T::Int | T::Unsigned | T::Signed | T::Void | T::Struct | T::If | T::For | T::While
        );
        begins || self.at(T::Do) || self.at(T::Return)
    }

    fn statement_continues(&self) -> bool {
        self.at(TokenKind::Else)
    }

    fn foreign_operator(&mut self) -> Option<source::parse::Unparsed> {
        self.foreign_behind_expression()
    }
}

impl Parser {
    /// Reads a name; `what` says what it names, with its article.
    fn name(&mut self, what: &str) -> Parsed<Name> {
        let token = self.token().clone();
        match token.kind {
            TokenKind::Identifier => {
                self.bump();
                Ok(Name { text: token.text, span: token.span })
            }
            kind if is_word(kind) => {
                self.reserved_word(what)?;
                self.bump();
                Ok(Name { text: token.text, span: token.span })
            }
            _ => Err(self.unexpected(&format!("the name of {what}"))),
        }
    }

    /// Whether the current token is one of these words.
    fn at_word(&self, words: &[&str]) -> bool {
        words.contains(&&*self.token().text)
            && matches!(self.kind(), TokenKind::Identifier | TokenKind::Reserved)
    }

    /// Reports `const`, `static` and the like, and skips them.
    fn qualifiers(&mut self) {
        while self.at_word(QUALIFIERS) {
            let token = self.token().clone();
            let help = match &*token.text {
                "const" => "leave it out, or write a constant as `#define NAME value`",
                _ => "leave it out",
            };
            let message = format!("Domino has no `{}`", token.text);
            self.report_read(Diagnostic::error(codes::QUALIFIER, token.span, message).help(help));
            self.bump();
        }
    }
}

/// Whether a token is a reserved word.
fn is_word(kind: TokenKind) -> bool {
    kind == TokenKind::Reserved
        || kind.spelling().starts_with(|first: char| first.is_ascii_alphabetic())
            && TokenKind::of_spelling(kind.spelling()).is_some()
}
