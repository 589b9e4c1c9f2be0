// SPDX-License-Identifier: Apache-2.0
//! Parsers with their states (P4_16 v1.2.5 §13) and controls with their declarations (§14). Tables
//! are in `tables`, the statements inside in `statements`.

use super::scopes::NameClass;
use super::{Parsed, Parser, RecursiveDescent};
use crate::ast::{
    Annotation, Block, ControlDeclaration, Declaration, DeclarationKind, Name, ParserDeclaration,
    SelectCase, State, StateRef, Statement, StatementKind, Transition,
};
use crate::codes::syntax;
use crate::dialect::{FormPlace, Unparsed};
use crate::token::TokenKind as T;
use source::{Diagnostic, Span};

impl Parser<'_> {
    /// Reads a parser, or the type of one.
    pub(super) fn parser_declaration(
        &mut self,
        start: Span,
        annotations: Vec<Annotation>,
    ) -> Parsed<Declaration> {
        self.bump();
        let name = self.name("a parser")?;
        self.scopes.declare(&name.text, NameClass::Type);
        let kind = self.parser_after_name(&name);
        self.scopes.close();
        let kind = kind?;
        Ok(self.make_declaration(start, annotations, name, kind))
    }

    fn parser_after_name(&mut self, name: &Name) -> Parsed<DeclarationKind> {
        let signature = self.block_signature()?;
        if self.eat(T::Semicolon) {
            return Ok(DeclarationKind::ParserType(signature));
        }
        let constructor_parameters =
            if self.at(T::OpenParen) { self.parameters()? } else { Vec::new() };
        let opener = self.span();
        self.expect(T::OpenBrace, &format!("or `;` after the parameters of `{}`", name.text))?;
        let errors_before = self.cursor.error_count;
        let mut locals = Vec::new();
        let mut states: Vec<State> = Vec::new();
        while !self.at_block_end() {
            let before = self.cursor.position;
            if self.eat(T::Semicolon) {
                continue;
            }
            if self.at(T::ListHole) {
                self.parser_elements_hole(&mut locals, &mut states);
                continue;
            }
            if let Err(Unparsed) = self.parser_element(&mut locals, &mut states) {
                self.skip_statement();
            }
            if self.cursor.position == before {
                self.bump();
            }
        }
        let what = format!("the parser `{}`", name.text);
        if states.is_empty() && self.at(T::CloseBrace) && self.cursor.error_count == errors_before {
            let diagnostic = Diagnostic::error(
                syntax::PARSER_WITHOUT_STATES,
                name.span,
                format!("{what} has no state"),
            )
            .help("a parser begins in `state start { ... }`");
            let _ = self.report(diagnostic);
        }
        self.close_block(opener, &what);
        let parser = ParserDeclaration { signature, constructor_parameters, locals, states };
        Ok(DeclarationKind::Parser(Box::new(parser)))
    }

    pub(super) fn parser_element(
        &mut self,
        locals: &mut Vec<Declaration>,
        states: &mut Vec<State>,
    ) -> Parsed<()> {
        let start = self.span();
        let mut annotations = self.annotations()?;
        if let Some(read) = self.declaration_extension(FormPlace::Parser, start, &mut annotations) {
            locals.push(read?);
            return Ok(());
        }
        if self.at(T::State) && super::cursor::is_name(self.ahead(1)) {
            states.push(self.state(start, annotations)?);
            return Ok(());
        }
        let declaration = match self.kind() {
            T::Const => self.constant(start, annotations)?,
            T::ValueSet => self.value_set(start, annotations)?,
            T::Action | T::Table => {
                let word = self.token().text.clone();
                let diagnostic = Diagnostic::error(
                    syntax::MISPLACED_DECLARATION,
                    self.span(),
                    format!("`{word}` cannot be declared in a parser"),
                )
                .help("actions and tables belong to controls");
                return Err(self.report(diagnostic));
            }
            _ if self.begins_statement_keyword() || self.at_statement() => {
                let diagnostic = Diagnostic::error(
                    syntax::MISPLACED_DECLARATION,
                    self.span(),
                    "a statement stands outside of a state",
                )
                .help("statements of a parser stand in `state name { ... }`");
                return Err(self.report(diagnostic));
            }
            _ => {
                if !self.at_type() && !self.at_name() && !self.at(T::Dot) {
                    return Err(self.unexpected("a declaration or `state`"));
                }
                self.variable_or_instance(start, annotations)?
            }
        };
        if let Some(state) = states.first() {
            let diagnostic = Diagnostic::error(
                syntax::MISPLACED_DECLARATION,
                declaration.name.span,
                format!("`{}` is declared after a state", declaration.name.text),
            )
            .label(state.name.span, "the states begin here")
            .help("move the declaration before the first state");
            self.report_read(diagnostic);
        }
        locals.push(declaration);
        Ok(())
    }

    /// Whether an assignment or a member's call begins here, where only declarations may.
    pub(super) fn at_statement(&self) -> bool {
        self.at(T::OpenBrace)
            || (self.at(T::Identifier)
                && !self.at_type()
                && matches!(self.ahead(1), T::Assign | T::Dot))
    }

    /// `value_set<T>(size) name;`
    fn value_set(&mut self, start: Span, annotations: Vec<Annotation>) -> Parsed<Declaration> {
        self.bump();
        let opener = self.span();
        self.expect(T::OpenAngle, "after `value_set`")?;
        let element = self.type_ref()?;
        self.expect_close_angle(opener)?;
        let paren = self.span();
        self.expect(T::OpenParen, "and a size after the type of a value set")?;
        let size = self.expression()?;
        self.expect_close(T::CloseParen, paren)?;
        let name = self.name("a value set")?;
        self.scopes.declare(&name.text, NameClass::Value);
        self.expect_semicolon("this value set")?;
        let kind = DeclarationKind::ValueSet { element, size };
        Ok(self.make_declaration(start, annotations, name, kind))
    }

    fn state(&mut self, start: Span, annotations: Vec<Annotation>) -> Parsed<State> {
        self.bump();
        let name = self.name("a state")?;
        let opener = self.span();
        self.expect(T::OpenBrace, "after the name of a state")?;
        self.scopes.open();
        let mut statements = Vec::new();
        let mut transition = None;
        while !self.at_block_end() && !self.at_next_state() {
            let before = self.cursor.position;
            if self.at(T::ListHole) {
                statements.extend(self.statements_hole());
                continue;
            }
            let read = if self.at(T::Transition) {
                if transition.is_some() {
                    let diagnostic = Diagnostic::error(
                        syntax::MISPLACED_DECLARATION,
                        self.span(),
                        "a second transition stands in this state",
                    )
                    .help("choose between states with `transition select (...)`");
                    let _ = self.report(diagnostic);
                }
                self.transition().map(|read| transition = Some(read))
            } else {
                self.state_statement(&mut statements, transition.is_some())
            };
            if read.is_err() {
                self.skip_statement();
            }
            if self.cursor.position == before {
                self.bump();
            }
        }
        self.scopes.close();
        self.close_block(opener, &format!("the state `{}`", name.text));
        let span = self.span_from(start);
        Ok(State { id: self.id(), span, annotations, name, statements, transition })
    }

    /// `state name {` inside a state: a `}` is missing before it.
    fn at_next_state(&self) -> bool {
        self.at(T::State) && super::cursor::is_name(self.ahead(1)) && self.ahead(2) == T::OpenBrace
    }

    fn state_statement(
        &mut self,
        statements: &mut Vec<Statement>,
        after_transition: bool,
    ) -> Parsed<()> {
        if after_transition && !self.at(T::Semicolon) {
            let diagnostic = Diagnostic::error(
                syntax::MISPLACED_DECLARATION,
                self.span(),
                "a statement stands after the transition of its state",
            )
            .help("`transition` is the last statement of a state");
            let _ = self.report(diagnostic);
        }
        let bare_state = super::cursor::is_value_name(self.kind()) && self.ahead(1) == T::Semicolon;
        if bare_state || self.at(T::Select) {
            return self.report_missing_transition();
        }
        let statement = self.statement_or_declaration()?;
        let word = match &statement.kind {
            StatementKind::Switch { .. } => "switch",
            StatementKind::Return(_) => "return",
            StatementKind::Exit => "exit",
            StatementKind::For { .. } | StatementKind::ForIn { .. } => "for",
            StatementKind::Break => "break",
            StatementKind::Continue => "continue",
            _ => {
                statements.push(statement);
                return Ok(());
            }
        };
        let diagnostic = Diagnostic::error(
            syntax::STATEMENT_IN_STATE,
            statement.span,
            format!("`{word}` cannot stand in a parser state"),
        )
        .help("choose the next state with `transition select (...)`");
        self.report_read(diagnostic);
        Ok(())
    }

    fn report_missing_transition(&mut self) -> Parsed<()> {
        let text = self.token().text.clone();
        let diagnostic = Diagnostic::error(
            syntax::MISSING_TRANSITION,
            self.span(),
            format!("expected `transition` before `{text}`"),
        )
        .help(if self.at(T::Select) {
            "write `transition select (...) { ... }`".to_owned()
        } else {
            format!("write `transition {text};`")
        });
        let unparsed = self.report(diagnostic);
        if self.at(T::Select) {
            self.select()?;
            return Ok(());
        }
        Err(unparsed)
    }

    fn transition(&mut self) -> Parsed<Transition> {
        self.bump();
        if self.at(T::Select) {
            return self.select();
        }
        let target = self.state_ref()?;
        self.expect_semicolon("this transition")?;
        Ok(Transition::Direct(target))
    }

    fn state_ref(&mut self) -> Parsed<StateRef> {
        let name = self.name("a state")?;
        Ok(StateRef { id: self.id(), name })
    }

    fn select(&mut self) -> Parsed<Transition> {
        let start = self.span();
        self.bump();
        let paren = self.span();
        self.expect(T::OpenParen, "after `select`")?;
        let mut subjects = Vec::new();
        while !self.at(T::CloseParen) {
            subjects.push(self.expression()?);
            if !self.eat(T::Comma) {
                break;
            }
        }
        self.expect_close(T::CloseParen, paren)?;
        let opener = self.span();
        self.expect(T::OpenBrace, "before the cases of `select`")?;
        let mut cases = Vec::new();
        while !self.at_block_end() && !self.at_next_state() {
            let before = self.cursor.position;
            match self.select_case() {
                Ok(case) => cases.push(case),
                Err(_) => self.skip_statement(),
            }
            if self.cursor.position == before {
                self.bump();
            }
        }
        self.close_block(opener, "this `select`");
        let span = self.span_from(start);
        Ok(Transition::Select { id: self.id(), span, subjects, cases })
    }

    fn select_case(&mut self) -> Parsed<SelectCase> {
        let keyset = self.keyset()?;
        self.expect(T::Colon, "and a state after what this case matches")?;
        let target = self.state_ref()?;
        self.expect_semicolon("this case")?;
        Ok(SelectCase { keyset, target })
    }

    /// Reads a control, or the type of one.
    pub(super) fn control_declaration(
        &mut self,
        start: Span,
        annotations: Vec<Annotation>,
    ) -> Parsed<Declaration> {
        self.bump();
        let name = self.name("a control")?;
        self.scopes.declare(&name.text, NameClass::Type);
        let kind = self.control_after_name(&name);
        self.scopes.close();
        let kind = kind?;
        Ok(self.make_declaration(start, annotations, name, kind))
    }

    fn control_after_name(&mut self, name: &Name) -> Parsed<DeclarationKind> {
        let signature = self.block_signature()?;
        if self.eat(T::Semicolon) {
            return Ok(DeclarationKind::ControlType(signature));
        }
        let constructor_parameters =
            if self.at(T::OpenParen) { self.parameters()? } else { Vec::new() };
        let opener = self.span();
        self.expect(T::OpenBrace, &format!("or `;` after the parameters of `{}`", name.text))?;
        let what = format!("the control `{}`", name.text);
        let errors_before = self.cursor.error_count;
        let mut locals = Vec::new();
        let mut body: Option<Block> = None;
        while !self.at_block_end() {
            let before = self.cursor.position;
            if self.eat(T::Semicolon) {
                continue;
            }
            if self.at(T::ListHole) {
                locals.extend(self.declarations_hole());
                continue;
            }
            if let Err(Unparsed) = self.control_element(&mut locals, &mut body) {
                self.skip_statement();
            }
            if self.cursor.position == before {
                self.bump();
            }
        }
        if body.is_none() && self.at(T::CloseBrace) && self.cursor.error_count == errors_before {
            let diagnostic = Diagnostic::error(
                syntax::CONTROL_WITHOUT_APPLY,
                name.span,
                format!("{what} has no `apply` block"),
            )
            .help("end the control with `apply { ... }`");
            let _ = self.report(diagnostic);
        }
        let end = self.span();
        self.close_block(opener, &what);
        let body =
            body.unwrap_or(Block { annotations: Vec::new(), statements: Vec::new(), span: end });
        let control = ControlDeclaration { signature, constructor_parameters, locals, body };
        Ok(DeclarationKind::Control(Box::new(control)))
    }

    pub(super) fn control_element(
        &mut self,
        locals: &mut Vec<Declaration>,
        body: &mut Option<Block>,
    ) -> Parsed<()> {
        let start = self.span();
        let mut annotations = self.annotations()?;
        if let Some(read) = self.declaration_extension(FormPlace::Control, start, &mut annotations)
        {
            locals.push(read?);
            return Ok(());
        }
        let begins_apply = self.at(T::Apply) && matches!(self.ahead(1), T::OpenBrace | T::At);
        if begins_apply {
            self.reject_annotations("`apply`");
            self.bump();
            let annotations = self.annotations()?;
            let read = self.block(annotations, "the `apply` block")?;
            if body.is_some() {
                let diagnostic = Diagnostic::error(
                    syntax::MISPLACED_DECLARATION,
                    start,
                    "this control has a second `apply` block",
                );
                self.report_read(diagnostic);
            }
            *body = Some(read);
            return Ok(());
        }
        let declaration = match self.kind() {
            T::Const => self.constant(start, annotations)?,
            T::Action => self.action(start, annotations)?,
            T::Table => self.table(start, annotations)?,
            T::State | T::ValueSet
                if super::cursor::is_name(self.ahead(1)) || self.ahead(1) == T::OpenAngle =>
            {
                let word = self.token().text.clone();
                let diagnostic = Diagnostic::error(
                    syntax::MISPLACED_DECLARATION,
                    self.span(),
                    format!("`{word}` can be declared only in a parser"),
                );
                return Err(self.report(diagnostic));
            }
            _ if self.begins_statement_keyword() || self.at_statement() => {
                let diagnostic = Diagnostic::error(
                    syntax::MISPLACED_DECLARATION,
                    self.span(),
                    "a statement stands outside of the `apply` block",
                )
                .help("statements of a control stand in `apply { ... }` or in its actions");
                return Err(self.report(diagnostic));
            }
            _ => {
                if !self.at_type() && !self.at_name() && !self.at(T::Dot) {
                    return Err(self.unexpected("a declaration or `apply`"));
                }
                self.variable_or_instance(start, annotations)?
            }
        };
        if body.is_some() {
            let diagnostic = Diagnostic::error(
                syntax::MISPLACED_DECLARATION,
                declaration.name.span,
                format!("`{}` is declared after the `apply` block", declaration.name.text),
            )
            .help("move it before `apply`");
            self.report_read(diagnostic);
        }
        locals.push(declaration);
        Ok(())
    }
}
