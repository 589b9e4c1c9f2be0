// SPDX-License-Identifier: Apache-2.0
//! Whole files and declarations. Interfaces are in `interfaces`, tables in `tables`, parsers in
//! `parsers`.

use super::super::ast::{
    Constraint, Declaration, DeclarationKind, EventSort, HandlerSort, Include, Segment,
    SizeParameter, Type, TypeKind,
};
use super::super::codes;
use super::super::token::{Role, TokenKind};
use super::{Parsed, ParsedFile, Parser, RecursiveDescent};
use source::{Diagnostic, Span};

impl Parser {
    /// Reads the whole file.
    pub(super) fn file(&mut self) -> ParsedFile {
        let mut file = ParsedFile::default();
        while !self.at(TokenKind::End) {
            let before = self.cursor.position;
            if self.at(TokenKind::Include) {
                self.mark_beginning();
                match self.include() {
                    Ok(include) => file.includes.push((file.declarations.len(), include)),
                    Err(_) => self.skip_declaration(),
                }
            } else if self.at(TokenKind::CloseBrace) {
                self.report_stray_brace();
                self.skip_to_declaration();
            } else {
                file.declarations.extend(self.one_declaration());
            }
            if self.cursor.position == before {
                self.bump();
            }
        }
        file
    }

    /// Reads a declaration and skips past it; `None` if there is an error in it.
    fn one_declaration(&mut self) -> Option<Declaration> {
        if self.eat(TokenKind::Semicolon) {
            return None;
        }
        self.mark_beginning();
        match self.declaration() {
            Ok(declaration) => Some(declaration),
            Err(_) => {
                self.skip_declaration();
                None
            }
        }
    }

    /// `include "x.dpt"`, with or without `;`.
    fn include(&mut self) -> Parsed<Include> {
        let start = self.span();
        self.bump();
        let file = self.span();
        if !self.at(TokenKind::String) {
            return Err(self.unexpected("the name of a file in double quotes"));
        }
        self.bump();
        let include = Include { file: self.string_text(file), span: self.span_from(start) };
        self.eat(TokenKind::Semicolon);
        Ok(include)
    }

    fn declaration(&mut self) -> Parsed<Declaration> {
        let start = self.span();
        let mut pragmas = Vec::new();
        let mut egress = None;
        while self.at(TokenKind::Annotation) {
            let token = *self.token();
            let text = self.text_of(&token).to_owned();
            match text.as_str() {
                "@egress" => egress = Some(token.span),
                "@main" | "@noinline" => {}
                _ => {
                    let diagnostic = Diagnostic::warning(
                        codes::UNKNOWN_PRAGMA,
                        token.span,
                        format!("`{text}` is not known and is ignored"),
                    )
                    .note("known are `@main`, `@egress` and `@noinline`");
                    self.warn(diagnostic);
                }
            }
            if egress != Some(token.span) {
                let mut name = token;
                name.span.start += 1;
                pragmas.push(Segment { name: self.intern(name), span: token.span });
            }
            self.bump();
        }
        let kind = match egress {
            Some(span) if !self.at(TokenKind::Handle) => {
                return Err(self.egress_without_handler(span));
            }
            Some(_) => self.handler(HandlerSort::Egress)?,
            None => self.declaration_kind()?,
        };
        Ok(Declaration { kind, span: self.span_from(start), pragmas })
    }

    fn declaration_kind(&mut self) -> Parsed<DeclarationKind> {
        match self.kind() {
            TokenKind::Size => self.size_declaration(),
            TokenKind::Const => self.constant(),
            TokenKind::Group => self.group(),
            TokenKind::Symbolic => self.symbolic(),
            TokenKind::Extern => self.extern_declaration(),
            TokenKind::Global => self.global(),
            TokenKind::Event => self.event(EventSort::Background),
            TokenKind::Handle => self.handler(HandlerSort::Ingress),
            TokenKind::Fun => self.function(),
            TokenKind::Memop => self.memop(),
            TokenKind::Type => self.user_type(),
            TokenKind::Constructor => self.constructor(),
            TokenKind::Module => self.module(),
            TokenKind::Action => self.action(),
            TokenKind::Parser => self.parser_declaration(),
            TokenKind::Identifier => self.worded_declaration(),
            TokenKind::Include => Err(self.misplaced_include()),
            _ => Err(self.no_declaration()),
        }
    }

    /// Reads a declaration that begins with a word that is not reserved.
    fn worded_declaration(&mut self) -> Parsed<DeclarationKind> {
        if self.ahead(1) == TokenKind::Event {
            let sort = match self.text_of(self.token()) {
                "packet" => Some(EventSort::Packet),
                "entry" => Some(EventSort::Entry),
                "exit" => Some(EventSort::Exit),
                _ => None,
            };
            if let Some(sort) = sort {
                self.bump();
                return self.event(sort);
            }
        }
        if self.at_word("control") && self.ahead(1) == TokenKind::Handle {
            self.bump();
            return self.handler(HandlerSort::Control);
        }
        if self.at_word("table_type") && self.ahead(1) == TokenKind::Identifier {
            return self.table_type();
        }
        if self.at_word("action_constr") && self.ahead(1) == TokenKind::Identifier {
            return self.action_constructor();
        }
        if self.at_word("mevent") && self.ahead(1) == TokenKind::Identifier {
            return self.event(EventSort::Background);
        }
        Err(self.no_declaration())
    }

    /// `size n = 8;`
    fn size_declaration(&mut self) -> Parsed<DeclarationKind> {
        self.bump();
        let name = self.binder("a size")?;
        self.expect(TokenKind::Assign, "after the name of a size")?;
        let value = self.size()?;
        self.expect_semicolon("a size")?;
        Ok(DeclarationKind::Size { name, value: Some(value) })
    }

    /// `const int K = 4;`
    fn constant(&mut self) -> Parsed<DeclarationKind> {
        self.bump();
        if self.at(TokenKind::Identifier) && self.ahead(1) == TokenKind::Assign {
            return Err(self.constant_without_type());
        }
        let ty = self.ty()?;
        let name = self.binder("a constant")?;
        self.expect(TokenKind::Assign, "after the name of a constant")?;
        let value = self.expression()?;
        self.expect_semicolon("a constant")?;
        Ok(DeclarationKind::Constant { name, ty, value })
    }

    /// `group G = {1, 2};`, a constant of type `group`.
    fn group(&mut self) -> Parsed<DeclarationKind> {
        let ty = Type { kind: TypeKind::Group, span: self.span() };
        self.bump();
        let name = self.binder("a group")?;
        self.expect(TokenKind::Assign, "after the name of a group")?;
        let value = self.expression()?;
        self.expect_semicolon("a group")?;
        Ok(DeclarationKind::Constant { name, ty, value })
    }

    /// `symbolic int n;`, `symbolic size n;`
    fn symbolic(&mut self) -> Parsed<DeclarationKind> {
        self.bump();
        let kind = if self.eat(TokenKind::Size) {
            DeclarationKind::Size { name: self.binder("a size")?, value: None }
        } else {
            let ty = self.ty()?;
            DeclarationKind::Symbolic { ty, name: self.binder("a symbolic value")? }
        };
        self.expect_semicolon("a symbolic value")?;
        Ok(kind)
    }

    /// `extern int n;`, `extern f(int x);`
    fn extern_declaration(&mut self) -> Parsed<DeclarationKind> {
        self.bump();
        let kind = if self.at(TokenKind::Identifier) && self.ahead(1) == TokenKind::OpenParen {
            let name = self.binder("an extern")?;
            let parameters = self.parameters("an extern")?;
            DeclarationKind::ExternFunction { name, parameters }
        } else {
            let ty = self.ty()?;
            DeclarationKind::Extern { ty, name: self.binder("an extern")? }
        };
        self.expect_semicolon("an extern")?;
        Ok(kind)
    }

    /// `global Array.t<32> a = Array.create(8);`, `global a = new Array<<32>>(8);`
    fn global(&mut self) -> Parsed<DeclarationKind> {
        self.bump();
        let is_typed = !(self.at(TokenKind::Identifier) && self.ahead(1) == TokenKind::Assign);
        let ty = match is_typed {
            true => Some(self.ty()?),
            false => None,
        };
        let name = self.binder("a global")?;
        self.expect(TokenKind::Assign, "after the name of a global")?;
        let value = self.expression()?;
        self.expect_semicolon("a global")?;
        Ok(DeclarationKind::Global { name, ty, value })
    }

    /// `event e@7(int x)[...];` or with a handler's body.
    fn event(&mut self, sort: EventSort) -> Parsed<DeclarationKind> {
        self.bump();
        let name = self.binder("an event")?;
        let mut wire_number = None;
        if self.at(TokenKind::Annotation) {
            wire_number = Some(self.wire_number()?);
        }
        let parameters = self.parameters("an event")?;
        let constraints = self.constraints()?;
        let body = match self.at(TokenKind::OpenBrace) {
            true => Some(self.block("a handler")?),
            false => {
                self.expect_semicolon("an event")?;
                None
            }
        };
        Ok(DeclarationKind::Event { name, sort, wire_number, parameters, constraints, body })
    }

    /// `@7`
    fn wire_number(&mut self) -> Parsed<(u128, Span)> {
        let token = *self.token();
        let number = self.text_of(&token).strip_prefix('@').and_then(|text| text.parse().ok());
        let Some(number) = number else {
            return Err(self.unexpected("the event's number, such as `@7`, or its parameters"));
        };
        self.bump();
        Ok((number, token.span))
    }

    /// `handle e(int x) { ... }`
    fn handler(&mut self, sort: HandlerSort) -> Parsed<DeclarationKind> {
        self.bump();
        let event = self.path("an event")?;
        let parameters = self.parameters("a handler")?;
        let body = self.block("a handler")?;
        Ok(DeclarationKind::Handler { event, sort, parameters, body })
    }

    /// `fun int f(int x)[...] { ... }`
    fn function(&mut self) -> Parsed<DeclarationKind> {
        self.bump();
        if self.at(TokenKind::Identifier) && self.ahead(1) == TokenKind::OpenParen {
            return Err(self.function_without_type());
        }
        let return_type = self.ty()?;
        let name = self.binder("a function")?;
        let parameters = self.parameters("a function")?;
        let constraints = self.constraints()?;
        let body = self.block("a function")?;
        Ok(DeclarationKind::Function { name, return_type, parameters, constraints, body })
    }

    /// `memop f(int stored, int x) { ... }`
    fn memop(&mut self) -> Parsed<DeclarationKind> {
        self.bump();
        self.report_memop_type()?;
        let name = self.binder("a memop")?;
        let parameters = self.parameters("a memop")?;
        let body = self.block("a memop")?;
        Ok(DeclarationKind::Memop { name, parameters, body })
    }

    /// `type t<'a> = { ... }`
    fn user_type(&mut self) -> Parsed<DeclarationKind> {
        self.bump();
        let name = self.binder("a type")?;
        let parameters = self.size_parameters()?;
        self.expect(TokenKind::Assign, "after the name of a type")?;
        let ty = self.ty()?;
        self.eat(TokenKind::Semicolon);
        Ok(DeclarationKind::UserType { name, parameters, ty })
    }

    /// `<'a, 'b>`, if there.
    pub(super) fn size_parameters(&mut self) -> Parsed<Vec<SizeParameter>> {
        let opener = self.span();
        let double = self.at(TokenKind::ShiftLeft);
        if !double && !self.at(TokenKind::Less) {
            return Ok(Vec::new());
        }
        self.mark(Role::AngleOpen);
        self.bump();
        let mut parameters = Vec::new();
        loop {
            let Segment { name, span } = match self.at(TokenKind::Variable) {
                true => self.variable(),
                false => self.segment("a size parameter")?,
            };
            let name = super::super::ast::Binder { id: self.id(), name, span };
            parameters.push(SizeParameter { name });
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        match double {
            true => self.expect_close_double_angle(opener)?,
            false => self.expect_close_angle(opener)?,
        }
        Ok(parameters)
    }

    /// `constr t<'a> create(int n) = { ... };`
    fn constructor(&mut self) -> Parsed<DeclarationKind> {
        self.bump();
        let ty = self.ty()?;
        let name = self.binder("a constructor")?;
        let parameters = self.parameters("a constructor")?;
        self.expect(TokenKind::Assign, "after the parameters of a constructor")?;
        let value = self.expression()?;
        // The reference wants a `;` after the `}` too; nothing is unclear without.
        if !(self.at_declaration() || self.at(TokenKind::CloseBrace)) {
            self.expect_semicolon("a constructor")?;
        }
        Ok(DeclarationKind::Constructor { name, ty, parameters, value })
    }

    /// `module M : { interface } { ... }`, `module F = A if b else B;`
    fn module(&mut self) -> Parsed<DeclarationKind> {
        self.bump();
        let name = self.binder("a module")?;
        if self.eat(TokenKind::Assign) {
            let then = self.path("a module")?;
            self.expect(TokenKind::If, "after the first module")?;
            let condition = self.expression()?;
            self.expect(TokenKind::Else, "after the condition")?;
            let otherwise = self.path("a module")?;
            self.expect_semicolon("a module")?;
            return Ok(DeclarationKind::ModuleAlias { name, condition, then, otherwise });
        }
        let interface = match self.eat(TokenKind::Colon) {
            true => Some(self.interface()?),
            false => None,
        };
        let opener = self.span();
        self.mark(Role::BlockOpen);
        self.expect(TokenKind::OpenBrace, "before the declarations of a module")?;
        let declarations = self.nested(|parser| {
            let mut declarations = Vec::new();
            while !matches!(parser.kind(), TokenKind::CloseBrace | TokenKind::End) {
                let before = parser.cursor.position;
                declarations.extend(parser.one_declaration());
                if parser.cursor.position == before {
                    parser.bump();
                }
            }
            Ok(declarations)
        })?;
        self.close_block(opener, "a module");
        Ok(DeclarationKind::Module { name, interface, declarations })
    }

    /// `[p < q; end q]`, if there.
    pub(super) fn constraints(&mut self) -> Parsed<Vec<Constraint>> {
        let opener = self.span();
        if !self.at(TokenKind::OpenBracket) {
            return Ok(Vec::new());
        }
        self.mark(Role::ConstraintOpen);
        self.bump();
        let mut constraints = Vec::new();
        while !self.at(TokenKind::CloseBracket) {
            constraints.push(self.constraint()?);
            if !self.eat(TokenKind::Semicolon) && !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect_close(TokenKind::CloseBracket, opener)?;
        Ok(constraints)
    }

    fn constraint(&mut self) -> Parsed<Constraint> {
        let start = self.span();
        if self.at_word("end") && self.ahead(1) == TokenKind::Identifier {
            self.bump();
            let operand = self.path("a global")?;
            return Ok(Constraint::End { operand, span: self.span_from(start) });
        }
        let mut operands = vec![self.path("a global")?];
        let mut strict = Vec::new();
        while matches!(self.kind(), TokenKind::Less | TokenKind::LessEqual) {
            strict.push(self.at(TokenKind::Less));
            self.mark(Role::Binary);
            self.bump();
            operands.push(self.path("a global")?);
        }
        if strict.is_empty() {
            return Err(self.unexpected("`<` or `<=`"));
        }
        Ok(Constraint::Chain { operands, strict, span: self.span_from(start) })
    }
}
