// SPDX-License-Identifier: Apache-2.0
//! Interfaces of modules.

use super::super::ast::{InterfaceItem, InterfaceItemKind};
use super::super::token::{Role, TokenKind};
use super::{Parsed, Parser, RecursiveDescent};

impl Parser {
    /// `{ fun int f(t p) [start <= p]; ... }`
    pub(super) fn interface(&mut self) -> Parsed<Vec<InterfaceItem>> {
        let opener = self.span();
        self.mark(Role::BlockOpen);
        self.expect(TokenKind::OpenBrace, "before an interface")?;
        self.nested(|parser| {
            let mut items = Vec::new();
            while !matches!(parser.kind(), TokenKind::CloseBrace | TokenKind::End) {
                if parser.eat(TokenKind::Semicolon) {
                    continue;
                }
                let before = parser.cursor.position;
                let start = parser.span();
                parser.mark_beginning();
                match parser.interface_item() {
                    Ok(kind) => items.push(InterfaceItem { kind, span: parser.span_from(start) }),
                    Err(_) => parser.skip_statement(),
                }
                if parser.cursor.position == before {
                    parser.bump();
                }
            }
            parser.close_block(opener, "an interface");
            Ok(items)
        })
    }

    fn interface_item(&mut self) -> Parsed<InterfaceItemKind> {
        match self.kind() {
            TokenKind::Size => {
                self.bump();
                let name = self.binder("a size")?;
                self.expect_semicolon("a size")?;
                Ok(InterfaceItemKind::Size { name })
            }
            TokenKind::Fun => self.interface_function(),
            TokenKind::Constructor => {
                self.bump();
                let ty = self.ty()?;
                let name = self.binder("a constructor")?;
                let parameters = self.parameters("a constructor")?;
                self.expect_semicolon("a constructor")?;
                Ok(InterfaceItemKind::Constructor { name, ty, parameters })
            }
            TokenKind::Global if self.ahead(1) == TokenKind::Type => {
                self.bump();
                self.interface_type(true)
            }
            TokenKind::Type => self.interface_type(false),
            // `event e;` would be a value of type `event`.
            TokenKind::Event if self.ahead(2) != TokenKind::Semicolon => {
                self.bump();
                let name = self.binder("an event")?;
                let parameters = self.parameters("an event")?;
                let constraints = self.constraints()?;
                self.expect_semicolon("an event")?;
                Ok(InterfaceItemKind::Event { name, parameters, constraints })
            }
            TokenKind::Memop if self.ahead(1) == TokenKind::Identifier => {
                self.bump();
                let name = self.binder("a memop")?;
                let parameters = self.parameters("a memop")?;
                self.expect_semicolon("a memop")?;
                Ok(InterfaceItemKind::Memop { name, parameters })
            }
            TokenKind::Module => {
                self.bump();
                let name = self.binder("a module")?;
                self.expect(TokenKind::Colon, "after the name of a module")?;
                let interface = self.interface()?;
                Ok(InterfaceItemKind::Module { name, interface })
            }
            _ if self.at_type_word() || self.at(TokenKind::Identifier) => {
                let ty = self.ty()?;
                let name = self.binder("a value")?;
                self.expect_semicolon("a value")?;
                Ok(InterfaceItemKind::Value { name, ty })
            }
            _ => Err(self.unexpected("an entry of an interface, such as `fun int f(int x);`")),
        }
    }

    fn interface_function(&mut self) -> Parsed<InterfaceItemKind> {
        self.bump();
        let return_type = self.ty()?;
        let name = self.binder("a function")?;
        let parameters = self.parameters("a function")?;
        let constraints = self.constraints()?;
        self.expect_semicolon("a function of an interface")?;
        Ok(InterfaceItemKind::Function { name, return_type, parameters, constraints })
    }

    /// `type t<'a>;`, `type t<'a> = { ... }`
    fn interface_type(&mut self, is_global: bool) -> Parsed<InterfaceItemKind> {
        self.bump();
        let name = self.binder("a type")?;
        let parameters = self.size_parameters()?;
        let ty = match self.eat(TokenKind::Assign) {
            true => {
                let ty = self.ty()?;
                self.eat(TokenKind::Semicolon);
                Some(ty)
            }
            false => {
                self.expect_semicolon("a type")?;
                None
            }
        };
        Ok(InterfaceItemKind::Type { name, parameters, ty, is_global })
    }
}
