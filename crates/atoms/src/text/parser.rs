// SPDX-License-Identifier: Apache-2.0
//! The parser of files of atoms and codelets: items, declarations and statements.

use super::codes;
use super::lexer::{Kind, Token, tokens};
use super::tree::{Item, Member, Name, Statement};
use source::parse::{Cursor, NestingLimit, Parsed, RecursiveDescent, SyntaxCodes};
use source::{Diagnostics, FileId};
use std::sync::Arc;

/// Reads a file. Items that cannot be read are left out.
pub fn parse(file: FileId, text: Arc<str>) -> (Vec<Item>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let (tokens, broken) = tokens(file, &text, &mut diagnostics);
    let mut parser = Parser { cursor: Cursor::new(tokens, broken), text };
    let mut items = Vec::new();
    while !parser.at(Kind::End) {
        match parser.item() {
            Ok(item) => items.push(item),
            Err(_) => parser.skip_item(),
        }
    }
    parser.report_suppressed();
    diagnostics.append(parser.cursor.diagnostics);
    (items, diagnostics)
}

/// A parser at a token of a file.
pub struct Parser {
    cursor: Cursor<Token>,
    text: Arc<str>,
}

impl RecursiveDescent for Parser {
    type Token = Token;
    type Kind = Kind;
    const CODES: SyntaxCodes = SyntaxCodes {
        unexpected_token: codes::UNEXPECTED_TOKEN,
        missing_semicolon: codes::MISSING_SEMICOLON,
        unclosed_delimiter: codes::UNCLOSED_DELIMITER,
        reserved_word: codes::RESERVED_WORD,
        nested_too_deeply: codes::NESTED_TOO_DEEPLY,
        too_many_errors: codes::TOO_MANY_ERRORS,
    };
    const NESTING: NestingLimit =
        NestingLimit { levels: 200, help: "give an inner expression a name with `define`" };

    fn cursor(&self) -> &Cursor<Token> {
        &self.cursor
    }

    fn cursor_mut(&mut self) -> &mut Cursor<Token> {
        &mut self.cursor
    }

    fn text_of<'t>(&'t self, token: &'t Token) -> &'t str {
        self.text.get(token.span.start as usize..token.span.end as usize).unwrap_or("")
    }

    fn can_follow_semicolon(&self) -> bool {
        self.at_recovery_point() || self.at(Kind::Name) || self.at(Kind::CloseBrace)
    }

    fn at_recovery_point(&self) -> bool {
        use Kind as K;
        matches!(self.kind(), K::Atom | K::Codelet | K::State | K::Input | K::Define | K::If)
    }

    fn statement_continues(&self) -> bool {
        self.at(Kind::Else)
    }
}

impl Parser {
    /// Skips to the next item.
    fn skip_item(&mut self) {
        while !matches!(self.kind(), Kind::End | Kind::Atom | Kind::Codelet) {
            self.bump();
        }
    }

    fn item(&mut self) -> Parsed<Item> {
        let is_atom = match self.kind() {
            Kind::Atom => true,
            Kind::Codelet => false,
            _ => {
                let unparsed = self.unexpected("`atom` or `codelet`");
                self.bump();
                return Err(unparsed);
            }
        };
        self.bump();
        let mut name = self.name("an item")?;
        while self.eat(Kind::Dot) {
            let part = self.name("an item")?;
            name.text = format!("{}.{}", name.text, part.text);
            name.span = name.span.to(part.span);
        }
        let opener = self.span();
        self.expect(Kind::OpenBrace, "after the name")?;
        let (mut states, mut inputs, mut members) = (Vec::new(), Vec::new(), Vec::new());
        while !matches!(self.kind(), Kind::CloseBrace | Kind::End | Kind::Atom | Kind::Codelet) {
            let read = match self.kind() {
                Kind::State => self.names("a state variable", &mut states),
                Kind::Input => self.names("an input", &mut inputs),
                Kind::Define => self.define().map(|define| members.push(define)),
                _ => self.statement().map(|read| members.push(Member::Statement(read))),
            };
            if read.is_err() {
                self.skip_broken_statement();
            }
        }
        self.expect_close(Kind::CloseBrace, opener)?;
        Ok(Item { is_atom, name, states, inputs, members })
    }

    /// Skips a statement with an error; at least one token.
    fn skip_broken_statement(&mut self) {
        let start = self.cursor.position;
        self.skip_statement();
        if self.cursor.position == start && !self.at(Kind::CloseBrace) {
            self.bump();
        }
    }

    /// Reads `word a, b;`.
    fn names(&mut self, what: &str, names: &mut Vec<Name>) -> Parsed<()> {
        self.bump();
        loop {
            names.push(self.name(what)?);
            if !self.eat(Kind::Comma) {
                return self.expect_semicolon("the declaration");
            }
        }
    }

    /// Reads a name.
    pub(super) fn name(&mut self, what: &str) -> Parsed<Name> {
        use Kind as K;
        match self.kind() {
            K::Name => {}
            K::Rel
            | K::Ar
            | K::Opt
            | K::Hole
            | K::Unsigned
            | K::If
            | K::Else
            | K::State
            | K::Input
            | K::Define
            | K::Atom
            | K::Codelet => self.reserved_word(what)?,
            _ => return Err(self.unexpected(&format!("the name of {what}"))),
        }
        let name = Name { text: self.text_of(self.token()).to_owned(), span: self.span() };
        self.bump();
        Ok(name)
    }

    fn define(&mut self) -> Parsed<Member> {
        self.bump();
        let name = self.name("a definition")?;
        let mut parameters = Vec::new();
        let opener = self.span();
        if self.eat(Kind::OpenParen) {
            loop {
                parameters.push(self.name("a parameter")?);
                if !self.eat(Kind::Comma) {
                    break;
                }
            }
            self.expect_close(Kind::CloseParen, opener)?;
        }
        self.expect(Kind::Assign, "in the definition")?;
        let value = self.expression()?;
        self.expect_semicolon("the definition")?;
        Ok(Member::Define { name, parameters, value })
    }

    fn statement(&mut self) -> Parsed<Statement> {
        if !self.eat(Kind::If) {
            let target = self.name("a state variable")?;
            self.expect(Kind::Assign, "in the assignment")?;
            let value = self.expression()?;
            self.expect_semicolon("the assignment")?;
            return Ok(Statement::Assign { target, value });
        }
        let opener = self.span();
        self.expect(Kind::OpenParen, "after `if`")?;
        let test = self.expression()?;
        self.expect_close(Kind::CloseParen, opener)?;
        let then = self.nested(Self::block)?;
        let otherwise = match self.eat(Kind::Else) {
            true => self.nested(Self::block)?,
            false => Vec::new(),
        };
        Ok(Statement::If { test, then, otherwise })
    }

    /// Reads a block in braces, or one statement.
    fn block(&mut self) -> Parsed<Vec<Statement>> {
        let opener = self.span();
        if !self.eat(Kind::OpenBrace) {
            return Ok(vec![self.statement()?]);
        }
        let mut block = Vec::new();
        while !matches!(self.kind(), Kind::CloseBrace | Kind::End | Kind::Atom | Kind::Codelet) {
            match self.statement() {
                Ok(statement) => block.push(statement),
                Err(_) => self.skip_broken_statement(),
            }
        }
        self.expect_close(Kind::CloseBrace, opener)?;
        Ok(block)
    }
}
