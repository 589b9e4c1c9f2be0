// SPDX-License-Identifier: Apache-2.0
//! Blocks and statements.

use super::super::ast::{
    Block, Branch, ExpressionKind, GenerateTarget, Pattern, PatternKind, Statement, StatementKind,
};
use super::super::codes;
use super::super::token::{Role, TokenKind};
use super::{LOOKAHEAD_LIMIT, Parsed, Parser, RecursiveDescent};
use source::{Diagnostic, Span};

impl Parser {
    /// `{ ... }`; `what` is what the block belongs to, with its article.
    pub(super) fn block(&mut self, what: &str) -> Parsed<Block> {
        let opener = self.span();
        self.mark(Role::BlockOpen);
        if !self.eat(TokenKind::OpenBrace) {
            let message =
                format!("expected `{{` before the body of {what}, found {}", self.found());
            let diagnostic = Diagnostic::error(codes::UNEXPECTED_TOKEN, self.span(), message)
                .here("expected `{`");
            return Err(self.report(diagnostic));
        }
        self.nested(|parser| {
            let mut statements = Vec::new();
            while !parser.at_block_end(opener) {
                if parser.eat(TokenKind::Semicolon) {
                    continue;
                }
                let before = parser.cursor.position;
                parser.mark_beginning();
                match parser.statement() {
                    Ok(statement) => statements.push(statement),
                    Err(_) => parser.skip_statement(),
                }
                if parser.cursor.position == before {
                    parser.bump();
                }
            }
            parser.close_block(opener, what);
            Ok(Block { statements, span: parser.span_from(opener) })
        })
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let start = self.span();
        let id = self.id();
        let kind = self.statement_kind()?;
        Ok(Statement { id, kind, span: self.span_from(start) })
    }

    fn statement_kind(&mut self) -> Parsed<StatementKind> {
        match self.kind() {
            TokenKind::If => self.if_statement(),
            TokenKind::Match => self.match_statement(),
            TokenKind::Return => self.return_statement(),
            TokenKind::Printf => self.print(),
            TokenKind::Generate | TokenKind::GenerateMany => {
                let target = match self.kind() {
                    TokenKind::Generate => GenerateTarget::Event,
                    _ => GenerateTarget::Many,
                };
                self.bump();
                let event = self.expression()?;
                self.expect_semicolon("the event")?;
                Ok(StatementKind::Generate { target, event })
            }
            TokenKind::GenerateSwitch | TokenKind::GeneratePort | TokenKind::GeneratePorts => {
                self.generate_at()
            }
            TokenKind::For => self.for_statement(),
            TokenKind::Annotation => {
                if self.text_of(self.token()) != "@noinline" {
                    return Err(self.unexpected("a statement"));
                }
                self.bump();
                self.without_inlining()
            }
            TokenKind::Identifier => self.named_statement(),
            TokenKind::OpenBrace if !self.begins_record_local() => self.bare_block(),
            TokenKind::OpenBrace => self.local(false),
            TokenKind::Size => Err(self.misplaced_declaration()),
            _ if self.at_type_word() => self.local(false),
            _ => Err(self.no_statement()),
        }
    }

    /// Reads a statement that begins with a word that is not reserved.
    fn named_statement(&mut self) -> Parsed<StatementKind> {
        let next = self.ahead(1);
        if self.at_word("skip") && next == TokenKind::Semicolon {
            self.bump();
            self.bump();
            return Ok(StatementKind::Skip);
        }
        let is_install = self.at_word("table_install") || self.at_word("table_multi_install");
        if is_install && next == TokenKind::OpenParen {
            return self.table_install();
        }
        let begins_type = next == TokenKind::Identifier || self.type_word_ahead(1);
        if self.at_word("noinline") && begins_type {
            self.bump();
            return self.without_inlining();
        }
        if let Some(unparsed) = self.foreign_statement() {
            return Err(unparsed);
        }
        match self.after_path() {
            (TokenKind::Assign, _) => self.assignment(false),
            (TokenKind::OpenParen, _) => self.call(),
            (TokenKind::Less, at) if self.word_ahead(at + 1, "unordered") => self.call(),
            (TokenKind::ShiftLeft, at) if self.ahead(at + 1) == TokenKind::Assign => {
                Err(self.no_effect())
            }
            (TokenKind::Less | TokenKind::ShiftLeft, at) if self.at_sizes_of_call(at) => {
                self.call()
            }
            (TokenKind::Identifier | TokenKind::Less | TokenKind::ShiftLeft, _) => {
                self.local(false)
            }
            (kind, _) if kind.is_reserved() => self.local(false),
            (TokenKind::OpenBracket, at) if self.names_local(at) => self.local(false),
            _ => Err(self.no_effect()),
        }
    }

    /// The token behind the path at the cursor, and its distance in tokens.
    pub(super) fn after_path(&self) -> (TokenKind, usize) {
        let mut distance = 1;
        while self.ahead(distance) == TokenKind::Dot && self.ahead(distance + 1) != TokenKind::End {
            distance += 2;
        }
        (self.ahead(distance), distance)
    }

    /// Whether behind the lengths in brackets `distance` ahead a name follows.
    fn names_local(&self, mut distance: usize) -> bool {
        while self.ahead(distance) == TokenKind::OpenBracket {
            loop {
                match self.ahead(distance) {
                    TokenKind::CloseBracket => break,
                    TokenKind::End | TokenKind::Semicolon | TokenKind::Assign => return false,
                    _ if distance > LOOKAHEAD_LIMIT => return false,
                    _ => distance += 1,
                }
            }
            distance += 1;
        }
        self.ahead(distance) == TokenKind::Identifier
    }

    /// Whether the braces here are a record type with the name of a local behind it.
    fn begins_record_local(&self) -> bool {
        let mut depth = 0usize;
        for distance in 0..LOOKAHEAD_LIMIT {
            match self.ahead(distance) {
                TokenKind::OpenBrace => depth += 1,
                TokenKind::CloseBrace => {
                    depth -= 1;
                    if depth == 0 {
                        return self.ahead(distance + 1) == TokenKind::Identifier
                            && self.ahead(distance + 2) == TokenKind::Assign;
                    }
                }
                TokenKind::End | TokenKind::Assign | TokenKind::OpenParen => return false,
                _ => {}
            }
        }
        false
    }

    /// Parses the statement behind `noinline`.
    fn without_inlining(&mut self) -> Parsed<StatementKind> {
        if self.at(TokenKind::Identifier) && self.after_path().0 == TokenKind::Assign {
            return self.assignment(true);
        }
        self.local(true)
    }

    /// `int x = e;`
    fn local(&mut self, no_inline: bool) -> Parsed<StatementKind> {
        let start = self.span();
        let ty = self.ty()?;
        let name = self.binder("a variable")?;
        if let Some(problem) = self.local_without_value(start, &ty, &name) {
            return problem;
        }
        self.expect(TokenKind::Assign, "after the name of a variable")?;
        let value = self.expression()?;
        self.report_further_locals()?;
        self.expect_semicolon("the value of a variable")?;
        Ok(StatementKind::Local { name, ty, value, no_inline })
    }

    /// `x = e;`
    fn assignment(&mut self, no_inline: bool) -> Parsed<StatementKind> {
        let target = self.path("a variable")?;
        self.expect(TokenKind::Assign, "after the name of a variable")?;
        let value = self.expression()?;
        self.expect_semicolon("an assignment")?;
        Ok(StatementKind::Assign { target, value, no_inline })
    }

    /// `f(x);`
    fn call(&mut self) -> Parsed<StatementKind> {
        let call = self.prefix()?;
        if !matches!(call.kind, ExpressionKind::Call { .. }) {
            let diagnostic = Diagnostic::error(
                codes::EXPRESSION_AS_STATEMENT,
                call.span,
                "this value is computed but not used",
            )
            .help("assign it to a variable");
            self.report_read(diagnostic);
        }
        self.expect_semicolon("a call")?;
        Ok(StatementKind::Call(call))
    }

    fn return_statement(&mut self) -> Parsed<StatementKind> {
        self.bump();
        if self.eat(TokenKind::Semicolon) {
            return Ok(StatementKind::Return(None));
        }
        if self.at(TokenKind::CloseBrace) {
            self.expect_semicolon("`return`")?;
            return Ok(StatementKind::Return(None));
        }
        let value = self.expression()?;
        if self.at(TokenKind::Comma) {
            return Err(self.returned_list());
        }
        self.expect_semicolon("the value that is returned")?;
        Ok(StatementKind::Return(Some(value)))
    }

    /// `printf("...", a, b);`
    fn print(&mut self) -> Parsed<StatementKind> {
        self.bump();
        let opener = self.span();
        self.expect(TokenKind::OpenParen, "after `printf`")?;
        let format_span = self.span();
        if !self.at(TokenKind::String) {
            return Err(self.unexpected("a format string"));
        }
        self.bump();
        let format = self.string_text(format_span);
        let arguments = match self.eat(TokenKind::Comma) {
            true => self.list(TokenKind::CloseParen)?,
            false => Vec::new(),
        };
        self.expect_close(TokenKind::CloseParen, opener)?;
        self.expect_semicolon("`printf`")?;
        Ok(StatementKind::Print { format, format_span, arguments })
    }

    /// `generate_switch(s, e);` and its relatives.
    fn generate_at(&mut self) -> Parsed<StatementKind> {
        let word = *self.token();
        self.bump();
        let opener = self.span();
        self.expect(TokenKind::OpenParen, "before where the event goes")?;
        let place = self.expression()?;
        self.expect(TokenKind::Comma, "between where the event goes and the event")?;
        let event = self.expression()?;
        self.expect_close(TokenKind::CloseParen, opener)?;
        self.expect_semicolon("the event")?;
        let target = match word.kind {
            TokenKind::GenerateSwitch => GenerateTarget::Switch(place),
            TokenKind::GeneratePort => GenerateTarget::Port(place),
            _ => GenerateTarget::Ports(place),
        };
        Ok(StatementKind::Generate { target, event })
    }

    /// `for (i < 4) { ... }`
    fn for_statement(&mut self) -> Parsed<StatementKind> {
        let start = self.span();
        self.bump();
        let opener = self.span();
        self.expect(TokenKind::OpenParen, "after `for`")?;
        if let Some(unparsed) = self.foreign_loop(start, opener) {
            return Err(unparsed);
        }
        let variable = self.binder("a size")?;
        self.mark(Role::Binary);
        self.expect(TokenKind::Less, "between the variable of a loop and its bound")?;
        let bound = self.size()?;
        self.expect_close(TokenKind::CloseParen, opener)?;
        let body = self.block("a loop")?;
        Ok(StatementKind::For { variable, bound, body })
    }

    fn if_statement(&mut self) -> Parsed<StatementKind> {
        self.bump();
        let opener = self.span();
        self.expect(TokenKind::OpenParen, "after `if`")?;
        let condition = self.expression()?;
        self.report_assignment_in_condition()?;
        self.expect_close(TokenKind::CloseParen, opener)?;
        let then = self.block_or_statement("an `if`")?;
        let otherwise = match self.eat(TokenKind::Else) {
            true => Some(self.else_block()?),
            false => None,
        };
        Ok(StatementKind::If { condition, then, otherwise })
    }

    /// Parses the branch behind `else`; `else if` is a block with that `if`.
    fn else_block(&mut self) -> Parsed<Block> {
        if !self.at(TokenKind::If) {
            return self.block_or_statement("an `else`");
        }
        let start = self.span();
        let statement = self.nested(|parser| parser.statement())?;
        Ok(Block { statements: vec![statement], span: self.span_from(start) })
    }

    /// Reads a block, or one statement without the braces it needs.
    fn block_or_statement(&mut self, what: &str) -> Parsed<Block> {
        if self.at(TokenKind::OpenBrace) || !self.begins_statement() {
            return self.block(what);
        }
        let start = self.span();
        let diagnostic = Diagnostic::error(
            codes::BRACES_REQUIRED,
            start,
            format!("expected `{{` before the body of {what}, found {}", self.found()),
        )
        .here("expected `{`")
        .help("put braces around the statement, also when it is only one");
        let _ = self.report(diagnostic);
        // What it says may have its own mistake.
        self.cursor.reported_at = None;
        let statement = self.nested(|parser| parser.statement())?;
        Ok(Block { statements: vec![statement], span: self.span_from(start) })
    }

    /// `match (a, b) with | 1, _ -> { ... }`
    fn match_statement(&mut self) -> Parsed<StatementKind> {
        self.bump();
        let subjects = self.subjects()?;
        let mut branches = Vec::new();
        while self.at(TokenKind::Pipe) {
            let start = self.span();
            let patterns = self.branch_patterns()?;
            let body = self.block("a branch")?;
            branches.push(Branch { patterns, body, span: self.span_from(start) });
        }
        if branches.is_empty() {
            return Err(self.unexpected("a branch `| pattern -> { ... }`"));
        }
        Ok(StatementKind::Match { subjects, branches })
    }

    /// Parses the subjects of a `match`, and its `with`.
    pub(super) fn subjects(&mut self) -> Parsed<Vec<super::super::ast::Expression>> {
        let first = self.expression()?;
        let mut subjects = match first.kind {
            ExpressionKind::Tuple(list) if !list.is_empty() => list,
            kind => vec![super::super::ast::Expression { kind, ..first }],
        };
        while self.eat(TokenKind::Comma) {
            subjects.push(self.expression()?);
        }
        self.expect(TokenKind::With, "after what `match` looks at")?;
        Ok(subjects)
    }

    /// `| 1, _ ->`
    pub(super) fn branch_patterns(&mut self) -> Parsed<Vec<Pattern>> {
        self.mark(Role::Branch);
        self.bump();
        let opener = self.span();
        let parenthesized = self.eat(TokenKind::OpenParen);
        let mut patterns = vec![self.pattern()?];
        while self.eat(TokenKind::Comma) {
            patterns.push(self.pattern()?);
        }
        if parenthesized {
            self.expect_close(TokenKind::CloseParen, opener)?;
        }
        self.expect(TokenKind::Arrow, "after the patterns of a branch")?;
        Ok(patterns)
    }

    fn pattern(&mut self) -> Parsed<Pattern> {
        let start = self.span();
        let kind = match self.kind() {
            TokenKind::Underscore => {
                self.bump();
                PatternKind::Wildcard
            }
            TokenKind::Number => PatternKind::Number(self.pattern_number()?),
            TokenKind::BitPattern => self.bits(),
            TokenKind::True | TokenKind::False => return Err(self.boolean_pattern()),
            TokenKind::Identifier => {
                let path = self.path("a constant")?;
                if self.at(TokenKind::OpenParen) {
                    let parameters = self.parameters("an event")?;
                    PatternKind::Event { event: path, parameters }
                } else {
                    PatternKind::Named(path)
                }
            }
            _ => return Err(self.unexpected("a pattern")),
        };
        Ok(Pattern { kind, span: self.span_from(start) })
    }

    /// Reads a number of a pattern; a width that is written says nothing that its subject does not.
    fn pattern_number(&mut self) -> Parsed<u128> {
        match self.integer()? {
            ExpressionKind::Integer { value, .. } => Ok(value),
            _ => Err(self.unexpected("a number")),
        }
    }

    /// Reads a block on its own, which Lucid does not have.
    fn bare_block(&mut self) -> Parsed<StatementKind> {
        let opener: Span = self.span();
        let diagnostic =
            Diagnostic::error(codes::UNEXPECTED_TOKEN, opener, "expected a statement, found `{`")
                .here("a block on its own")
                .help("braces stand after `if`, `else`, `for` and `->` only; leave them out here");
        let _ = self.report(diagnostic);
        let _ = self.block("this")?;
        Ok(StatementKind::Skip)
    }
}
