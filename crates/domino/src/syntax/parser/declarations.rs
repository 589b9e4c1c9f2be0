// SPDX-License-Identifier: Apache-2.0
//! The struct, globals and functions.

use super::Parser;
use crate::codes::syntax as codes;
use crate::syntax::ast::{
    File, Function, Global, Initializer, Item, Parameter, ParameterType, Struct, Type,
};
use crate::syntax::token::{OTHER_TYPES, QUALIFIERS, TokenKind};
use source::Diagnostic;
use source::parse::{Parsed, RecursiveDescent};

impl Parser {
    pub(super) fn file(&mut self) -> File {
        let mut file = File::default();
        while !self.at(TokenKind::End) {
            let start = self.cursor.position;
            if self.declaration(&mut file.items).is_err() {
                self.skip_declaration(start);
            }
        }
        file
    }

    /// Skips to where the next declaration begins.
    fn skip_declaration(&mut self, start: usize) {
        loop {
            self.skip_statement();
            // A `}` here closes nothing.
            if self.at(TokenKind::CloseBrace) {
                self.bump();
            }
            let begins = matches!(
                self.kind(),
                TokenKind::End
                    | TokenKind::Int
                    | TokenKind::Unsigned
                    | TokenKind::Signed
                    | TokenKind::Void
                    | TokenKind::Struct
            ) || self.at_word(QUALIFIERS)
                || self.at_word(OTHER_TYPES);
            if begins && self.cursor.position > start || self.at(TokenKind::End) {
                return;
            }
            if self.cursor.position == start {
                self.bump();
            }
        }
    }

    /// Reads a type, if one begins here.
    pub(super) fn value_type(&mut self) -> Option<Type> {
        let ty = match self.kind() {
            TokenKind::Int => Type::Int,
            TokenKind::Signed => Type::Int,
            TokenKind::Unsigned => Type::Unsigned,
            _ => return None,
        };
        let is_sign = !self.at(TokenKind::Int);
        self.bump();
        if is_sign {
            self.eat(TokenKind::Int);
        } else if self.eat(TokenKind::Unsigned) {
            return Some(Type::Unsigned);
        }
        Some(ty)
    }

    fn declaration(&mut self, items: &mut Vec<Item>) -> Parsed<()> {
        self.qualifiers();
        if self.eat(TokenKind::Semicolon) {
            return Ok(());
        }
        if let Some(unparsed) = self.other_type() {
            return Err(unparsed);
        }
        if self.at(TokenKind::Struct) {
            items.push(Item::Struct(self.structure()?));
            return Ok(());
        }
        if self.at(TokenKind::CloseBrace) {
            let message = "this `}` closes nothing";
            let found = Diagnostic::error(codes::UNEXPECTED_TOKEN, self.span(), message);
            return Err(self.report(found.help("remove it, or add the `{` that it closes")));
        }
        let is_void = self.at(TokenKind::Void);
        let ty = match self.value_type() {
            _ if is_void => {
                self.bump();
                None
            }
            Some(ty) => Some(ty),
            None => return Err(self.unexpected("`struct`, `int`, `unsigned` or `void`")),
        };
        self.qualifiers();
        self.pointer()?;
        let name = self.name("a global or a function")?;
        if self.at(TokenKind::OpenParen) {
            let parameters = self.parameters()?;
            let body = match self.at(TokenKind::OpenBrace) {
                true => Some(self.block("the function's body")?),
                false => {
                    self.expect_semicolon("the function's parameters")?;
                    None
                }
            };
            items.push(Item::Function(Function { name, returns: ty, parameters, body }));
            return Ok(());
        }
        let Some(ty) = ty else {
            let message = format!("a global has a value, so `{}` cannot be `void`", name.text);
            let found = Diagnostic::error(codes::UNSUPPORTED_TYPE, name.span, message);
            return Err(self.report(found.help("write `int` or `unsigned`")));
        };
        let mut name = name;
        loop {
            let size = self.array_size()?;
            let initializer = match self.eat(TokenKind::Assign) {
                true => Some(self.initializer()?),
                false => None,
            };
            items.push(Item::Global(Global { name, ty, size, initializer }));
            if !self.eat(TokenKind::Comma) {
                break;
            }
            self.pointer()?;
            name = self.name("a global")?;
        }
        self.expect_semicolon("the declaration")
    }

    fn array_size(&mut self) -> Parsed<Option<Option<crate::syntax::ast::Expression>>> {
        if !self.at(TokenKind::OpenBracket) {
            return Ok(None);
        }
        let opener = self.span();
        self.bump();
        let size = match self.at(TokenKind::CloseBracket) {
            true => None,
            false => Some(self.expression()?),
        };
        self.expect_close(TokenKind::CloseBracket, opener)?;
        if self.at(TokenKind::OpenBracket) {
            let message = "arrays have one dimension";
            let found = Diagnostic::error(codes::UNSUPPORTED_TYPE, self.span(), message);
            return Err(self.report(found.help(
                "declare one of rows times columns cells, and index it by `row * COLUMNS + column`",
            )));
        }
        Ok(Some(size))
    }

    fn initializer(&mut self) -> Parsed<Initializer> {
        if !self.at(TokenKind::OpenBrace) {
            return Ok(Initializer::Value(self.assignment()?));
        }
        let opener = self.span();
        self.bump();
        let mut values = Vec::new();
        while !self.at(TokenKind::CloseBrace) {
            if matches!(self.kind(), TokenKind::Dot | TokenKind::OpenBracket) {
                let message = "Domino has no designators";
                let found = Diagnostic::error(codes::DESIGNATOR, self.span(), message);
                return Err(self.report(
                    found.help("list the values from cell 0 on; the cells behind them are 0"),
                ));
            }
            values.push(self.assignment()?);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect_close(TokenKind::CloseBrace, opener)?;
        Ok(Initializer::List(values, self.span_from(opener)))
    }

    fn structure(&mut self) -> Parsed<Struct> {
        self.bump();
        let name = self.name("a struct")?;
        let opener = self.span();
        self.expect(TokenKind::OpenBrace, "of the struct's fields")?;
        let mut fields = Vec::new();
        while !self.at(TokenKind::CloseBrace) && !self.at(TokenKind::End) {
            if self.field(&mut fields).is_err() {
                self.skip_statement();
            }
        }
        self.expect_close(TokenKind::CloseBrace, opener)?;
        self.expect_semicolon("the struct")?;
        Ok(Struct { name, fields })
    }

    fn field(&mut self, fields: &mut Vec<(super::Name, Type)>) -> Parsed<()> {
        self.qualifiers();
        if let Some(unparsed) = self.other_type() {
            return Err(unparsed);
        }
        let Some(ty) = self.value_type() else {
            if matches!(self.kind(), TokenKind::Struct | TokenKind::Void) {
                let message = "a field is `int` or `unsigned`";
                let found = Diagnostic::error(codes::UNSUPPORTED_TYPE, self.span(), message);
                return Err(self.report(found.help("write a field for each member")));
            }
            return Err(self.unexpected("a field such as `int port;`"));
        };
        loop {
            self.pointer()?;
            fields.push((self.name("a field")?, ty));
            if matches!(self.kind(), TokenKind::OpenBracket | TokenKind::Colon) {
                let (what, help) = match self.at(TokenKind::Colon) {
                    true => ("bit-fields", "leave the width out; every field has 32 bits"),
                    false => ("arrays in the packet", "write a field for each cell"),
                };
                let message = format!("Domino has no {what}");
                let found = Diagnostic::error(codes::UNSUPPORTED_TYPE, self.span(), message);
                return Err(self.report(found.help(help)));
            }
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect_semicolon("the field")
    }

    fn parameters(&mut self) -> Parsed<Vec<Parameter>> {
        let opener = self.span();
        self.bump();
        let mut parameters = Vec::new();
        if self.at(TokenKind::Void) && self.ahead(1) == TokenKind::CloseParen {
            self.bump();
        }
        while !self.at(TokenKind::CloseParen) {
            self.qualifiers();
            if let Some(unparsed) = self.other_type() {
                return Err(unparsed);
            }
            let ty = match self.eat(TokenKind::Struct) {
                true => ParameterType::Struct(self.name("a struct")?),
                false => match self.value_type() {
                    Some(ty) => ParameterType::Value(ty),
                    None => return Err(self.unexpected("a parameter such as `int a`")),
                },
            };
            if self.at(TokenKind::Star) {
                return Err(self.pointer_at(self.span(), "pass the value itself"));
            }
            let name = self.name("a parameter")?;
            if self.at(TokenKind::OpenBracket) {
                let span = self.span();
                return Err(
                    self.pointer_at(span, "a function can read and write the global array itself")
                );
            }
            parameters.push(Parameter { name, ty });
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect_close(TokenKind::CloseParen, opener)?;
        Ok(parameters)
    }
}
