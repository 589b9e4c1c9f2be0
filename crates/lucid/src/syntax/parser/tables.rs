// SPDX-License-Identifier: Apache-2.0
//! The older spelling of tables, `table_type`, `action_constr`, `table_create`, `table_match` and
//! `table_install`, as the tree of what is written `Table.t`, `action` and `Table.create` today.

use super::super::ast::{
    DeclarationKind, Expression, ExpressionKind, Spelling, StatementKind, TableEntry, Type,
    TypeKind,
};
use super::super::token::{Role, TokenKind};
use super::{Parsed, Parser, RecursiveDescent};
use source::Span;

impl Parser {
    /// `table_create<t>((a, b), n, a(x))` and `table_match(t, keys, arguments)`.
    pub(super) fn table_expression(&mut self) -> Parsed<Option<Expression>> {
        let start = self.span();
        if self.at_word("table_match") && self.ahead(1) == TokenKind::OpenParen {
            self.bump();
            let function = self.made_path(&["Table", "lookup"], start);
            let arguments = self.arguments()?;
            let kind = ExpressionKind::Call { function, arguments, unordered: false };
            return Ok(Some(self.node(kind, start)));
        }
        if !self.at_word("table_create") || self.ahead(1) != TokenKind::Less {
            return Ok(None);
        }
        self.bump();
        let function = self.made_path(&["Table", "create"], start);
        let angle = self.span();
        self.mark(Role::AngleOpen);
        self.bump();
        // The type of what is declared says the same.
        let _ = self.ty()?;
        self.expect_close_angle(angle)?;
        let opener = self.span();
        self.expect(TokenKind::OpenParen, "before the arguments of `table_create`")?;
        let actions = self.expression()?;
        let actions_span = actions.span;
        let actions = match actions.kind {
            ExpressionKind::Tuple(list) => list,
            kind => vec![Expression { kind, ..actions }],
        };
        let actions =
            Expression { id: self.id(), kind: ExpressionKind::Vector(actions), span: actions_span };
        self.expect(TokenKind::Comma, "after the actions")?;
        let length = self.expression()?;
        self.expect(TokenKind::Comma, "after the number of entries")?;
        let default = self.expression()?;
        self.expect_close(TokenKind::CloseParen, opener)?;
        let (default, installed) = self.default_action(default);
        let arguments = vec![length, actions, default, installed];
        let kind = ExpressionKind::Call { function, arguments, unordered: false };
        Ok(Some(self.node(kind, start)))
    }

    /// `miss(1)` taken apart into the action and its installed arguments.
    fn default_action(&mut self, default: Expression) -> (Expression, Expression) {
        let span = default.span;
        let (action, mut arguments) = match default.kind {
            ExpressionKind::Call { function, arguments, .. } => {
                (Expression { kind: ExpressionKind::Name(function), ..default }, arguments)
            }
            kind => (Expression { kind, ..default }, Vec::new()),
        };
        let installed = match arguments.pop() {
            Some(only) if arguments.is_empty() => only,
            last => {
                arguments.extend(last);
                Expression { id: self.id(), kind: ExpressionKind::Tuple(arguments), span }
            }
        };
        (action, installed)
    }

    /// `table_type t = { key_type: (int, int) arg_type: () ret_type: bool }`: the type
    /// `Table.t<<(int, int), auto, (), bool>>`. What is installed differs between the actions there.
    pub(super) fn table_type(&mut self) -> Parsed<DeclarationKind> {
        self.bump();
        let name = self.binder("a table type")?;
        self.expect(TokenKind::Assign, "after the name of a table type")?;
        let start = self.span();
        self.mark(Role::BlockOpen);
        self.expect(TokenKind::OpenBrace, "before the types of a table")?;
        let key = self.labelled_type("key_type")?;
        let argument = self.labelled_type("arg_type")?;
        let result = self.labelled_type("ret_type")?;
        self.mark(Role::BlockClose);
        self.expect_close(TokenKind::CloseBrace, start)?;
        self.eat(TokenKind::Semicolon);
        let path = self.made_path(&["Table", "t"], start);
        let installed = Type { kind: TypeKind::Auto, span: start };
        let arguments = vec![key, installed, argument, result];
        let ty = Type { kind: TypeKind::Applied { path, arguments }, span: self.span_from(start) };
        Ok(DeclarationKind::UserType { name, parameters: Vec::new(), ty })
    }

    /// `key_type: (int)`; one type in parentheses is that type.
    fn labelled_type(&mut self, label: &str) -> Parsed<Type> {
        if !self.at_word(label) {
            return Err(self.unexpected(&format!("`{label}:`")));
        }
        self.mark_beginning();
        self.bump();
        self.mark(Role::LabelColon);
        self.expect(TokenKind::Colon, &format!("after `{label}`"))?;
        let ty = self.ty()?;
        self.eat(TokenKind::Semicolon);
        let span = ty.span;
        match ty.kind {
            TypeKind::Tuple(mut members) if members.len() == 1 => match members.pop() {
                Some(only) => Ok(Type { span, ..only }),
                None => Ok(Type { kind: TypeKind::Tuple(members), span }),
            },
            kind => Ok(Type { kind, span }),
        }
    }

    /// `action r f(int d)(int q) { ... }`
    pub(super) fn action(&mut self) -> Parsed<DeclarationKind> {
        self.bump();
        let return_type = self.ty()?;
        let name = self.binder("an action")?;
        let install_parameters = self.parameters("an action")?;
        let match_parameters = self.parameters("an action, those of the lookup")?;
        let body = self.block("an action")?;
        Ok(DeclarationKind::Action {
            name,
            return_type,
            install_parameters,
            match_parameters,
            body,
            spelling: Spelling::Later,
        })
    }

    /// `action_constr f(int d) = { return action r anonymous(int q) { ... }; };`
    pub(super) fn action_constructor(&mut self) -> Parsed<DeclarationKind> {
        self.bump();
        let name = self.binder("an action")?;
        let install_parameters = self.parameters("an action")?;
        self.expect(TokenKind::Assign, "after the parameters of `action_constr`")?;
        let opener = self.span();
        self.mark(Role::BlockOpen);
        self.expect(TokenKind::OpenBrace, "before the action that is made")?;
        self.mark_beginning();
        self.expect(TokenKind::Return, "before the action that is made")?;
        self.expect(TokenKind::Action, "after `return`")?;
        let return_type = self.ty()?;
        // Nothing can name it.
        if !self.eat(TokenKind::Underscore) {
            let _ = self.segment("an action")?;
        }
        let match_parameters = self.parameters("an action, those of the lookup")?;
        let body = self.block("an action")?;
        self.expect_semicolon("the action that is made")?;
        self.mark(Role::BlockClose);
        self.expect_close(TokenKind::CloseBrace, opener)?;
        self.expect_semicolon("`action_constr`")?;
        Ok(DeclarationKind::Action {
            name,
            return_type,
            install_parameters,
            match_parameters,
            body,
            spelling: Spelling::Paper,
        })
    }

    /// `table_install(t, { (1, _) -> hit(3); [10](2, 0b1*) -> miss() });`
    pub(super) fn table_install(&mut self) -> Parsed<StatementKind> {
        self.bump();
        let opener = self.span();
        self.bump();
        let table = self.expression()?;
        self.expect(TokenKind::Comma, "after the table")?;
        let brace = self.span();
        self.mark(Role::RecordOpen);
        self.expect(TokenKind::OpenBrace, "before the entries")?;
        let mut entries = Vec::new();
        while !self.at(TokenKind::CloseBrace) {
            entries.push(self.table_entry()?);
            if !self.eat(TokenKind::Semicolon) {
                break;
            }
        }
        self.expect_close(TokenKind::CloseBrace, brace)?;
        self.expect_close(TokenKind::CloseParen, opener)?;
        self.expect_semicolon("the entries of a table")?;
        Ok(StatementKind::TableInstall { table, entries })
    }

    fn table_entry(&mut self) -> Parsed<TableEntry> {
        let start = self.span();
        let priority = self.priority()?;
        let patterns = self.arguments()?;
        self.expect(TokenKind::Arrow, "after the patterns of an entry")?;
        let action = self.path("an action")?;
        let arguments = self.arguments()?;
        Ok(TableEntry { priority, patterns, action, arguments, span: self.span_from(start) })
    }

    /// `[10]`
    fn priority(&mut self) -> Parsed<Option<(u128, Span)>> {
        let opener = self.span();
        if !self.at(TokenKind::OpenBracket) {
            return Ok(None);
        }
        self.mark(Role::VectorOpen);
        self.bump();
        let span = self.span();
        let value = self.number("a priority")?;
        self.expect_close(TokenKind::CloseBracket, opener)?;
        Ok(Some((value, span)))
    }
}
