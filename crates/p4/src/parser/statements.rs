// SPDX-License-Identifier: Apache-2.0
//! Statements and blocks (P4_16 v1.2.5 §12), and the declarations among statements. Which
//! statements may stand in a parser state is decided in `parsers`.

use super::scopes::NameClass;
use super::{ELSE_IF_LIMIT, Parsed, Parser, RecursiveDescent};
use crate::ast::{
    Annotation, Block, Declaration, DeclarationKind, Expression, ExpressionKind, Name, Statement,
    StatementKind, SwitchCase, TypeRef, TypeRefKind, Variable,
};
use crate::codes::syntax;
use crate::dialect::Unparsed;
use crate::token::TokenKind as T;
use source::{Diagnostic, Span};

impl Parser<'_> {
    pub(super) fn make_statement(&mut self, start: Span, kind: StatementKind) -> Statement {
        let span = self.span_from(start);
        Statement { id: self.id(), span, kind }
    }

    /// `{ statements }` in a scope of its own; `what` names the block in messages.
    pub(super) fn block(&mut self, annotations: Vec<Annotation>, what: &str) -> Parsed<Block> {
        let opener = self.span();
        if !self.eat(T::OpenBrace) {
            return Err(self.expected_block(what));
        }
        self.scopes.open();
        let statements = self.nested(|parser| Ok(parser.statements()));
        self.scopes.close();
        let statements = match statements {
            Ok(statements) => statements,
            Err(_) => {
                self.cursor.position = self.cursor.position.saturating_sub(1);
                self.skip_braces();
                return Err(Unparsed);
            }
        };
        self.close_block(opener, what);
        Ok(Block { annotations, statements, span: self.span_from(opener) })
    }

    fn expected_block(&mut self, what: &str) -> Unparsed {
        let message = format!("expected `{{` to open {what}, found {}", self.found());
        let diagnostic =
            Diagnostic::error(syntax::UNEXPECTED_TOKEN, self.span(), message).here("expected `{`");
        self.report(diagnostic)
    }

    pub(super) fn statements(&mut self) -> Vec<Statement> {
        let mut statements = Vec::new();
        while !self.at_block_end() {
            let before = self.cursor.position;
            if self.at(T::ListHole) {
                statements.extend(self.statements_hole());
                continue;
            }
            match self.statement_or_declaration() {
                Ok(statement) => statements.push(statement),
                Err(_) => self.skip_statement(),
            }
            if self.cursor.position == before {
                self.bump();
            }
        }
        statements
    }

    /// Reads a statement, a variable, a constant or (which only the type checker refuses) an
    /// instance.
    pub(super) fn statement_or_declaration(&mut self) -> Parsed<Statement> {
        self.statement_in(true)
    }

    /// Reads a statement where no declaration may stand, as after `if`.
    fn statement(&mut self) -> Parsed<Statement> {
        self.nested(|parser| parser.statement_in(false))
    }

    fn statement_in(&mut self, declarations: bool) -> Parsed<Statement> {
        let start = self.span();
        let annotations = self.annotations()?;
        if let Some(read) = self.statement_extension(start) {
            if self.annotations_start.is_some() {
                self.reject_annotations("this statement");
            }
            return read;
        }
        match self.kind() {
            T::OpenBrace => {
                let block = self.block(annotations, "this block")?;
                return Ok(self.make_statement(start, StatementKind::Block(block)));
            }
            T::For => return self.for_statement(start, annotations),
            T::ListHole => {
                let statements = self.statements_hole();
                let block = Block { annotations, statements, span: start };
                return Ok(self.make_statement(start, StatementKind::Block(block)));
            }
            T::Const if declarations => {
                let declaration = self.constant(start, annotations)?;
                return Ok(self.declaration_statement(start, declaration));
            }
            _ => {}
        }
        if self.at(T::Identifier)
            && let Some(unparsed) = self.report_mistyped_transition()
        {
            return Err(unparsed);
        }
        if self.at_declaration() {
            let declaration = self.variable_or_instance(start, annotations)?;
            if !declarations {
                self.report_bare_declaration(&declaration);
            }
            return Ok(self.declaration_statement(start, declaration));
        }
        if self.annotations_start.is_some() {
            self.reject_annotations("this statement");
        }
        match self.kind() {
            T::Semicolon => {
                self.bump();
                Ok(self.make_statement(start, StatementKind::Empty))
            }
            T::If => self.if_statement(start),
            T::Switch => self.switch_statement(start),
            T::Exit => self.word_statement(start, StatementKind::Exit, "`exit`"),
            T::Break => self.word_statement(start, StatementKind::Break, "`break`"),
            T::Continue => self.word_statement(start, StatementKind::Continue, "`continue`"),
            T::Return => self.return_statement(start),
            T::Else => {
                let diagnostic = Diagnostic::error(
                    syntax::ELSE_WITHOUT_IF,
                    start,
                    "this `else` belongs to no `if`",
                )
                .help("only one statement or one block may stand between `if (...)` and `else`");
                let _ = self.report(diagnostic);
                self.bump();
                self.statement()
            }
            T::Action | T::Table | T::State | T::ValueSet | T::Transition | T::Const
                if self.is_misplaced_keyword() =>
            {
                Err(self.report_misplaced_keyword())
            }
            T::Identifier if self.is_foreign_statement() => Err(self.report_foreign_statement()),
            _ => {
                let statement = self.simple_statement(start)?;
                match statement {
                    Simple::Statement(statement, after) => {
                        self.expect_semicolon(after)?;
                        let span = self.span_from(start);
                        Ok(Statement { span, ..statement })
                    }
                    Simple::InstanceOf(call) => {
                        let declaration = self.instance_of_call(start, annotations, call)?;
                        Ok(self.declaration_statement(start, declaration))
                    }
                }
            }
        }
    }

    fn is_misplaced_keyword(&self) -> bool {
        match self.kind() {
            // `state` can name a value.
            T::State => super::cursor::is_name(self.ahead(1)) && self.ahead(2) == T::OpenBrace,
            _ => true,
        }
    }

    fn report_misplaced_keyword(&mut self) -> Unparsed {
        let word = self.token().text.clone();
        let (message, help) = match self.kind() {
            T::Action | T::Table | T::ValueSet => (
                format!("`{word}` cannot be declared inside a block"),
                "declare it in the control, before `apply`",
            ),
            T::State => (
                "a state cannot be declared here".to_owned(),
                "states stand directly in a parser; is a `}` missing before this?",
            ),
            T::Transition => (
                "`transition` can stand only at the end of a parser state".to_owned(),
                "leave a control with `return` or `exit`",
            ),
            _ => (
                "a constant cannot be declared here".to_owned(),
                "put braces around this statement",
            ),
        };
        let diagnostic =
            Diagnostic::error(syntax::MISPLACED_DECLARATION, self.span(), message).help(help);
        self.report(diagnostic)
    }

    fn declaration_statement(&mut self, start: Span, declaration: Declaration) -> Statement {
        self.make_statement(start, StatementKind::Declaration(Box::new(declaration)))
    }

    fn report_bare_declaration(&mut self, declaration: &Declaration) {
        let diagnostic = Diagnostic::error(
            syntax::MISPLACED_DECLARATION,
            declaration.span,
            "a declaration cannot be the whole body of a statement",
        )
        .help("put braces around it");
        self.report_read(diagnostic);
    }

    /// Whether a variable or instance is declared here: a type begins, and no member of it is
    /// taken (`T.apply()` is a statement).
    fn at_declaration(&self) -> bool {
        let certain = self.at_type();
        if !certain {
            return self.at_unknown_type_declaration();
        }
        if self.is_base_type_at(self.cursor.position) {
            return true;
        }
        match self.type_end(self.cursor.position) {
            Some(end) => !matches!(
                self.kind_at(end),
                T::Dot | T::Assign | T::CloseParen | T::Comma | T::Semicolon
            ),
            None => true,
        }
    }

    /// `T name`, `T name = value`, `T(arguments) name`, up to and with the `;`.
    pub(super) fn variable_or_instance(
        &mut self,
        start: Span,
        annotations: Vec<Annotation>,
    ) -> Parsed<Declaration> {
        let ty = self.type_ref()?;
        if self.at(T::OpenParen) {
            return self.instance(start, annotations, ty);
        }
        self.variable_after_type(start, annotations, ty)
    }

    fn variable_after_type(
        &mut self,
        start: Span,
        annotations: Vec<Annotation>,
        ty: TypeRef,
    ) -> Parsed<Declaration> {
        let (name, ty) = self.declarator(ty, "a variable")?;
        let declaration = self.variable_after_name(start, annotations, ty, name)?;
        self.expect_semicolon("this declaration")?;
        Ok(Declaration { span: self.span_from(start), ..declaration })
    }

    /// ` = value` after the name of a variable.
    fn variable_after_name(
        &mut self,
        start: Span,
        annotations: Vec<Annotation>,
        ty: TypeRef,
        name: Name,
    ) -> Parsed<Declaration> {
        let initializer = if self.eat(T::Assign) { Some(self.expression()?) } else { None };
        self.scopes.declare(&name.text, NameClass::Value);
        let kind = DeclarationKind::Variable { ty, initializer };
        Ok(self.make_declaration(start, annotations, name, kind))
    }

    /// Reads a name with the sizes of C after it, which other P4 compilers take as those of the
    /// type.
    pub(super) fn declarator(&mut self, ty: TypeRef, what: &str) -> Parsed<(Name, TypeRef)> {
        let name = self.name(what)?;
        if !self.at(T::OpenBracket) {
            return Ok((name, ty));
        }
        let bracket = self.span();
        let ty = self.stack_sizes(ty)?;
        let diagnostic = Diagnostic::warning(
            syntax::SIZE_AFTER_NAME,
            self.span_from(bracket),
            "the size of a stack belongs to its type",
        )
        .help(format!("write `T[size] {}`", name.text));
        self.cursor.diagnostics.push(diagnostic);
        Ok((name, ty))
    }

    fn word_statement(
        &mut self,
        start: Span,
        kind: StatementKind,
        after: &str,
    ) -> Parsed<Statement> {
        self.bump();
        self.expect_semicolon(after)?;
        Ok(self.make_statement(start, kind))
    }

    fn return_statement(&mut self, start: Span) -> Parsed<Statement> {
        self.bump();
        let value = if matches!(self.kind(), T::Semicolon | T::CloseBrace) {
            None
        } else {
            Some(self.expression()?)
        };
        self.expect_semicolon("`return`")?;
        Ok(self.make_statement(start, StatementKind::Return(value)))
    }

    /// `(condition)` after `if` or `switch`.
    fn parenthesised_condition(&mut self, word: &str) -> Parsed<Expression> {
        let opener = self.span();
        if !self.eat(T::OpenParen) {
            let diagnostic = Diagnostic::error(
                syntax::UNEXPECTED_TOKEN,
                self.span(),
                format!("expected `(` after `{word}`, found {}", self.found()),
            )
            .here("expected `(`")
            .help(format!("write `{word} (...) {{ ... }}`"));
            return Err(self.report(diagnostic));
        }
        let condition = self.expression()?;
        if self.at(T::Assign) {
            let _ = self.report_assignment_in_expression();
            self.bump();
            self.expression()?;
        }
        self.expect_close(T::CloseParen, opener)?;
        Ok(condition)
    }

    /// Reads an `if`. A chain of `else if` is read in a loop and put together from its end, so that long ones
    /// need no stack.
    fn if_statement(&mut self, start: Span) -> Parsed<Statement> {
        let mut branches = Vec::new();
        let mut start = start;
        let mut otherwise = loop {
            self.bump();
            let condition = match self.parenthesised_condition("if") {
                Ok(condition) => condition,
                Err(_) => self.skip_to_block(),
            };
            let then = Box::new(self.statement()?);
            branches.push((start, condition, then));
            if branches.len() > ELSE_IF_LIMIT {
                let diagnostic = Diagnostic::error(
                    syntax::NESTED_TOO_DEEPLY,
                    start,
                    format!("this chain of `else if` has more than {ELSE_IF_LIMIT} branches"),
                )
                .help("look the values up in a table, or use `switch`");
                let unparsed = self.report(diagnostic);
                self.abandon();
                return Err(unparsed);
            }
            if !self.eat(T::Else) {
                break None;
            }
            if !self.at(T::If) {
                break Some(Box::new(self.statement()?));
            }
            start = self.span();
        };
        loop {
            let Some((start, condition, then)) = branches.pop() else { return Err(Unparsed) };
            let statement =
                self.make_statement(start, StatementKind::If { condition, then, otherwise });
            if branches.is_empty() {
                return Ok(statement);
            }
            otherwise = Some(Box::new(statement));
        }
    }

    /// After an error in a condition: the block that follows is still read.
    fn skip_to_block(&mut self) -> Expression {
        let span = self.span();
        while !matches!(self.kind(), T::OpenBrace | T::Semicolon | T::CloseBrace | T::End) {
            self.bump();
        }
        Expression { id: self.id(), span, kind: ExpressionKind::Invalid }
    }

    fn switch_statement(&mut self, start: Span) -> Parsed<Statement> {
        self.bump();
        let subject = match self.parenthesised_condition("switch") {
            Ok(subject) => subject,
            Err(_) => self.skip_to_block(),
        };
        let opener = self.span();
        self.expect(T::OpenBrace, "before the cases of `switch`")?;
        let mut cases = Vec::new();
        while !self.at_block_end() {
            let before = self.cursor.position;
            match self.switch_case() {
                Ok(case) => cases.push(case),
                Err(_) => self.skip_statement(),
            }
            if self.cursor.position == before {
                self.bump();
            }
        }
        self.close_block(opener, "this `switch`");
        Ok(self.make_statement(start, StatementKind::Switch { subject, cases }))
    }

    fn switch_case(&mut self) -> Parsed<SwitchCase> {
        if self.at(T::Identifier) && self.is_foreign_statement() {
            return Err(self.report_foreign_statement());
        }
        let label = if self.at(T::Default) {
            let span = self.span();
            self.bump();
            Expression { id: self.id(), span, kind: ExpressionKind::Default }
        } else {
            self.expression()?
        };
        self.expect(T::Colon, "after this label")?;
        let body = if matches!(self.kind(), T::OpenBrace | T::At) {
            let annotations = self.annotations()?;
            Some(self.block(annotations, "this case")?)
        } else {
            None
        };
        Ok(SwitchCase { label, body })
    }

    /// §12.8
    fn for_statement(&mut self, start: Span, annotations: Vec<Annotation>) -> Parsed<Statement> {
        self.scopes.open();
        let result = self.for_in_scope(start, annotations);
        self.scopes.close();
        result
    }

    fn for_in_scope(&mut self, start: Span, annotations: Vec<Annotation>) -> Parsed<Statement> {
        self.bump();
        let opener = self.span();
        self.expect(T::OpenParen, "after `for`")?;
        let mut init = Vec::new();
        while !matches!(self.kind(), T::Semicolon | T::CloseParen) {
            let first = self.span();
            let inner = self.annotations()?;
            if self.at_declaration() {
                let ty = self.type_ref()?;
                let (name, ty) = self.declarator(ty, "a loop variable")?;
                if init.is_empty() && self.eat(T::In) {
                    self.scopes.declare(&name.text, NameClass::Value);
                    let variable = Variable { id: self.id(), annotations: inner, ty, name };
                    return self.for_in(start, opener, annotations, variable);
                }
                let declaration = self.variable_after_name(first, inner, ty, name)?;
                init.push(self.declaration_statement(first, declaration));
            } else {
                self.reject_annotations("this statement");
                init.push(self.statement_without_semicolon()?);
            }
            if !self.eat(T::Comma) {
                break;
            }
        }
        self.expect(T::Semicolon, "after the first part of `for`")?;
        let condition = self.expression()?;
        self.expect(T::Semicolon, "after the condition of `for`")?;
        let mut update = Vec::new();
        while !self.at(T::CloseParen) {
            update.push(self.statement_without_semicolon()?);
            if !self.eat(T::Comma) {
                break;
            }
        }
        self.expect_close(T::CloseParen, opener)?;
        let body = Box::new(self.statement()?);
        let kind = StatementKind::For { annotations, init, condition, update, body };
        Ok(self.make_statement(start, kind))
    }

    fn for_in(
        &mut self,
        start: Span,
        opener: Span,
        annotations: Vec<Annotation>,
        variable: Variable,
    ) -> Parsed<Statement> {
        let variable = Box::new(variable);
        let first = self.span();
        let mut collection = self.expression()?;
        if self.eat(T::Range) {
            let high = self.expression()?;
            let span = self.span_from(first);
            let kind = ExpressionKind::Range(Box::new(collection), Box::new(high));
            collection = Expression { id: self.id(), span, kind };
        }
        self.expect_close(T::CloseParen, opener)?;
        let body = Box::new(self.statement()?);
        let kind = StatementKind::ForIn { annotations, variable, collection, body };
        Ok(self.make_statement(start, kind))
    }

    fn statement_without_semicolon(&mut self) -> Parsed<Statement> {
        let start = self.span();
        match self.simple_statement(start)? {
            Simple::Statement(statement, _) => Ok(statement),
            Simple::InstanceOf(_) => Err(self.unexpected("`,`, `;` or `)`")),
        }
    }

    /// Reads an assignment or a call, without its `;`.
    fn simple_statement(&mut self, start: Span) -> Parsed<Simple> {
        if self.kind().is_keyword() && !self.at_name() && !self.begins_expression_keyword() {
            return Err(self.unexpected("a statement"));
        }
        if matches!(self.kind(), T::CloseParen | T::CloseBracket | T::Colon | T::Comma) {
            return Err(self.unexpected("a statement"));
        }
        let target = self.expression()?;
        let kind = self.kind();
        if kind == T::Assign || super::operators::assignment_operator(kind).is_some() {
            self.bump();
            let operator = super::operators::assignment_operator(kind);
            let value = self.expression()?;
            if self.at(T::Assign) {
                return Err(self.report_assignment_in_expression());
            }
            let kind = StatementKind::Assign { target, operator, value };
            return Ok(Simple::Statement(self.make_statement(start, kind), "this assignment"));
        }
        match &target.kind {
            ExpressionKind::Call(_) if self.at_name() => Ok(Simple::InstanceOf(target)),
            ExpressionKind::Call(_) => {
                let kind = StatementKind::Call(target);
                Ok(Simple::Statement(self.make_statement(start, kind), "this call"))
            }
            _ => Err(self.report_effectless(&target)),
        }
    }

    fn begins_expression_keyword(&self) -> bool {
        matches!(self.kind(), T::This | T::Error | T::True | T::False)
    }

    /// An expression stands as a statement: say what was probably meant.
    fn report_effectless(&mut self, target: &Expression) -> Unparsed {
        let mut diagnostic = match &target.kind {
            ExpressionKind::Path(path) if path.name.text.as_ref() == "accept" => {
                Diagnostic::error(syntax::MISSING_TRANSITION, target.span, "`accept` is a state")
                    .help("write `transition accept;`")
            }
            ExpressionKind::Binary(crate::ast::BinaryOperator::Equal, ..) => Diagnostic::error(
                syntax::EXPRESSION_AS_STATEMENT,
                target.span,
                "this compares two values and does nothing with the result",
            )
            .help("to assign, write `=`"),
            _ => Diagnostic::error(
                syntax::EXPRESSION_AS_STATEMENT,
                target.span,
                format!("expected an assignment or a call, found {}", self.found()),
            )
            .help("a statement is `target = value;` or `name(arguments);`"),
        };
        if self.at(T::Semicolon) || self.at(T::CloseBrace) {
            diagnostic = diagnostic.here("this has no effect");
        }
        self.report(diagnostic)
    }

    /// `Unknown(arguments) name;` was read as a call up to the name.
    fn instance_of_call(
        &mut self,
        start: Span,
        annotations: Vec<Annotation>,
        call: Expression,
    ) -> Parsed<Declaration> {
        let span = call.span;
        let ExpressionKind::Call(call) = call.kind else { return Err(self.unexpected("`;`")) };
        let ExpressionKind::Path(path) = call.callee.kind else {
            return match self.expect_semicolon("this call") {
                Ok(()) | Err(Unparsed) => Err(Unparsed),
            };
        };
        let kind = if call.type_arguments.is_empty() {
            TypeRefKind::Named(path)
        } else {
            TypeRefKind::Specialized(path, call.type_arguments)
        };
        let ty = TypeRef { id: self.id(), span, kind };
        self.instance_after_arguments(start, annotations, ty, call.arguments)
    }
}

/// A statement without its `;`.
enum Simple {
    /// An assignment or a call, and how it is called in a message.
    Statement(Statement, &'static str),
    /// A call followed by a name: an instance of a type that is not known.
    InstanceOf(Expression),
}
