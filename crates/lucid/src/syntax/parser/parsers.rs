// SPDX-License-Identifier: Apache-2.0
//! Parsers of packets: `parser main(bitstring b) { ... }`.

use super::super::ast::{
    DeclarationKind, Expression, ExpressionKind, ParserAction, ParserActionKind, ParserBlock,
    ParserBranch, ParserStep, Type, TypeKind,
};
use super::super::codes;
use super::super::token::{Role, TokenKind};
use super::{Parsed, Parser, RecursiveDescent};
use source::Diagnostic;

impl Parser {
    pub(super) fn parser_declaration(&mut self) -> Parsed<DeclarationKind> {
        self.bump();
        let name = self.binder("a parser")?;
        let parameters = self.parameters("a parser")?;
        let body = self.parser_block()?;
        Ok(DeclarationKind::Parser { name, parameters, body })
    }

    /// Actions and then one step.
    fn parser_block(&mut self) -> Parsed<ParserBlock> {
        let opener = self.span();
        self.mark(Role::BlockOpen);
        self.expect(TokenKind::OpenBrace, "before the body of a parser")?;
        self.nested(|parser| {
            let mut actions = Vec::new();
            let mut step = None;
            let mut failed = false;
            while !parser.at_block_end(opener) {
                if parser.eat(TokenKind::Semicolon) {
                    continue;
                }
                let before = parser.cursor.position;
                parser.mark_beginning();
                let read = match parser.at_parser_step() {
                    true => parser.parser_step(&mut step),
                    false => parser.parser_action(step.as_ref()).map(|action| actions.push(action)),
                };
                if read.is_err() {
                    failed = true;
                    parser.skip_statement();
                }
                if parser.cursor.position == before {
                    parser.bump();
                }
            }
            let end = parser.span();
            parser.close_block(opener, "a parser");
            let span = parser.span_from(opener);
            let step = match step {
                Some(step) => step,
                None => {
                    if !failed {
                        parser.report_read(
                            Diagnostic::error(
                                codes::MISSING_PARSER_STEP,
                                end,
                                "this parser does not say how it ends",
                            )
                            .here("expected a last step before this")
                            .label(opener, "of this block")
                            .help(
                                "end it with `generate e(...);`, a call of another parser, \
                                 `match ... with`, or `drop;`",
                            ),
                        );
                    }
                    ParserStep::Drop { span: end }
                }
            };
            Ok(ParserBlock { actions, step, span })
        })
    }

    fn at_parser_step(&self) -> bool {
        match self.kind() {
            TokenKind::Match | TokenKind::Generate => true,
            TokenKind::Identifier if self.at_word("drop") => self.ahead(1) == TokenKind::Semicolon,
            TokenKind::Identifier if self.at_word("skip") => false,
            TokenKind::Identifier => self.after_path().0 == TokenKind::OpenParen,
            _ => false,
        }
    }

    /// Reads a step; a second one is reported.
    fn parser_step(&mut self, step: &mut Option<ParserStep>) -> Parsed<()> {
        let start = self.span();
        let read = match self.kind() {
            TokenKind::Match => {
                self.bump();
                let subjects = self.subjects()?;
                let mut branches = Vec::new();
                while self.at(TokenKind::Pipe) {
                    let start = self.span();
                    let patterns = self.branch_patterns()?;
                    let body = self.parser_block()?;
                    branches.push(ParserBranch { patterns, body, span: self.span_from(start) });
                }
                if branches.is_empty() {
                    return Err(self.unexpected("a branch `| pattern -> { ... }`"));
                }
                ParserStep::Match { subjects, branches, span: self.span_from(start) }
            }
            TokenKind::Generate => {
                self.bump();
                let event = self.expression()?;
                self.expect_semicolon("the event")?;
                ParserStep::Generate { event, span: self.span_from(start) }
            }
            _ if self.at_word("drop") => {
                self.bump();
                self.expect_semicolon("`drop`")?;
                ParserStep::Drop { span: self.span_from(start) }
            }
            _ => {
                let parser = self.path("a parser")?;
                let arguments = self.arguments()?;
                self.expect_semicolon("a call")?;
                ParserStep::Call { parser, arguments, span: self.span_from(start) }
            }
        };
        if let Some(first) = step {
            let diagnostic = Diagnostic::error(
                codes::MISSING_PARSER_STEP,
                start,
                "a parser ends with its first step, so this is never reached",
            )
            .label(step_span(first), "the parser ends here")
            .help("make the first one a `match` with this in a branch, or remove one of them");
            self.report_read(diagnostic);
        }
        step.get_or_insert(read);
        Ok(())
    }

    fn parser_action(&mut self, step: Option<&ParserStep>) -> Parsed<ParserAction> {
        let start = self.span();
        if let Some(step) = step {
            let diagnostic = Diagnostic::error(
                codes::MISSING_PARSER_STEP,
                start,
                "a parser ends with its first step, so this is never reached",
            )
            .label(step_span(step), "the parser ends here")
            .help("move this before the step");
            self.report_read(diagnostic);
        }
        let kind = self.parser_action_kind()?;
        Ok(ParserAction { kind, span: self.span_from(start) })
    }

    /// What `skip` passes over: a type, or a number of bits.
    fn skipped(&mut self) -> Parsed<Type> {
        let span = self.span();
        if !self.at(TokenKind::Number) {
            return self.ty();
        }
        let bits = self.size_term()?;
        Ok(Type { kind: TypeKind::Int(Some(bits)), span })
    }

    /// `read eth_t e;`, as it once was.
    fn reading_without_source(&mut self) -> super::Unparsed {
        let diagnostic = Diagnostic::error(
            codes::UNEXPECTED_TOKEN,
            self.span(),
            "`read` takes what it reads from, and gives a value",
        )
        .help("write `eth_t e = read(pkt);`, where `pkt` is the parser's `bitstring pkt`");
        self.report(diagnostic)
    }

    fn parser_action_kind(&mut self) -> Parsed<ParserActionKind> {
        if self.at_word("skip") && self.ahead(1) == TokenKind::OpenParen {
            self.bump();
            let opener = self.span();
            self.bump();
            let ty = self.skipped()?;
            self.expect(TokenKind::Comma, "after the type that is skipped")?;
            let source = self.expression()?;
            self.expect_close(TokenKind::CloseParen, opener)?;
            self.expect_semicolon("`skip`")?;
            return Ok(ParserActionKind::Skip { ty, source });
        }
        let is_target = self.at(TokenKind::Identifier)
            && matches!(self.after_path().0, TokenKind::Assign | TokenKind::Hash);
        if is_target {
            let target = self.prefix()?;
            self.expect(TokenKind::Assign, "after what is assigned")?;
            let value = self.expression()?;
            self.expect_semicolon("an assignment")?;
            return Ok(ParserActionKind::Assign { target, value });
        }
        if self.at_word("read") && self.ahead(1) == TokenKind::Identifier {
            return Err(self.reading_without_source());
        }
        if !self.at_type_word() && !self.at(TokenKind::Identifier) {
            return Err(self.unexpected("an action or a step of a parser"));
        }
        let ty = self.ty()?;
        let name = self.binder("a variable")?;
        self.expect(TokenKind::Assign, "after the name of a variable")?;
        let mut value = self.expression()?;
        self.expect_semicolon("the value of a variable")?;
        Ok(match read_source(&mut value) {
            Some(source) => ParserActionKind::Read { name, ty, source },
            None => ParserActionKind::Local { name, ty, value },
        })
    }
}

/// Takes what `read(b)` reads from; leaves other values as they are.
fn read_source(value: &mut Expression) -> Option<Expression> {
    match &mut value.kind {
        ExpressionKind::Call { function, arguments, .. }
            if arguments.len() == 1
                && function.segments.len() == 1
                && &*function.segments[0].name == "read" =>
        {
            arguments.pop()
        }
        _ => None,
    }
}

fn step_span(step: &ParserStep) -> source::Span {
    match step {
        ParserStep::Match { span, .. }
        | ParserStep::Generate { span, .. }
        | ParserStep::Call { span, .. }
        | ParserStep::Drop { span } => *span,
    }
}
