// SPDX-License-Identifier: Apache-2.0
//! What people write who come from C, P4 or OCaml, told in terms of what Lucid has instead. Each
//! function here reports at the current token; the caller goes on or recovers.

use super::super::ast::{
    BinaryOperator, Binder, Expression, ExpressionKind, Spelling, StatementKind, Type, TypeKind,
};
use super::super::codes;
use super::super::token::TokenKind;
use super::{Parsed, Parser, Unparsed};
use source::{Diagnostic, Span};

/// What to do instead of an operator that Lucid does not have.
fn instead_of(kind: TokenKind) -> Option<(&'static str, &'static str)> {
    Some(match kind {
        TokenKind::Star => (
            "multiplication",
            "switches cannot multiply: shift by a power of two, `x << 3` for eight times, or add up \
             shifted values",
        ),
        TokenKind::Slash => {
            ("division", "switches cannot divide: shift by a power of two, `x >> 3` for an eighth")
        }
        TokenKind::Percent => (
            "remainder",
            "switches cannot divide: mask by a power of two less one, `x & 7` for the remainder of \
             eight, or compare and start again from 0 where it counts",
        ),
        TokenKind::Question => (
            "conditional expression",
            "use an `if` with an assignment in each branch, or a `match`",
        ),
        _ => return None,
    })
}

impl Parser<'_> {
    /// Reports an operator that Lucid does not have, if one stands here.
    pub(super) fn foreign_operator(&mut self) -> Option<Unparsed> {
        let (name, help) = instead_of(self.kind())?;
        let text = self.text_of(self.token());
        let diagnostic = Diagnostic::error(
            codes::UNSUPPORTED_OPERATOR,
            self.span(),
            format!("Lucid has no `{text}`: there is no {name}"),
        )
        .here("not an operator of Lucid")
        .help(help);
        Some(self.report(diagnostic))
    }

    /// The same among sizes, which have `+` only.
    pub(super) fn foreign_size_operator(&mut self) -> Option<Unparsed> {
        let foreign = matches!(
            self.kind(),
            TokenKind::Star
                | TokenKind::Slash
                | TokenKind::Percent
                | TokenKind::Minus
                | TokenKind::Ampersand
                | TokenKind::Pipe
        );
        if !foreign {
            return None;
        }
        let text = self.text_of(self.token());
        let diagnostic = Diagnostic::error(
            codes::UNSUPPORTED_OPERATOR,
            self.span(),
            format!("sizes can be added but have no `{text}`"),
        )
        .here("not an operator of sizes")
        .help("declare a size with the value you need: `size n = 8;`")
        .note("sizes are known before the program runs: they say how wide values are and how long vectors");
        Some(self.report(diagnostic))
    }

    /// Where an expression should begin, and does not.
    pub(super) fn no_expression(&mut self) -> Unparsed {
        if let Some(unparsed) = self.foreign_operator() {
            return unparsed;
        }
        let previous = match self.position.checked_sub(1) {
            Some(before) => self.tokens[before],
            None => self.token(),
        };
        let (previous_text, text) = (self.text_of(previous), self.text_of(self.token()));
        let adjacent = previous.span.end == self.span().start;
        if adjacent && previous.kind == TokenKind::Plus && self.at(TokenKind::Plus) {
            return self.increment("++", previous.span);
        }
        let is_compound = matches!(
            previous.kind,
            TokenKind::Plus
                | TokenKind::Minus
                | TokenKind::Ampersand
                | TokenKind::Pipe
                | TokenKind::Caret
                | TokenKind::CaretCaret
                | TokenKind::ShiftLeft
                | TokenKind::ShiftRight
        );
        if adjacent && is_compound && self.at(TokenKind::Assign) {
            let spelled = format!("{previous_text}{text}");
            return self.compound(&spelled, previous_text.to_owned(), previous.span);
        }
        if self.at(TokenKind::Assign) && previous.kind == TokenKind::EqualEqual {
            let diagnostic = Diagnostic::error(
                codes::UNEXPECTED_TOKEN,
                previous.span.to(self.span()),
                "Lucid has no `===`",
            )
            .help("compare with `==`");
            return self.report(diagnostic);
        }
        if self.at_type_word() {
            let diagnostic = Diagnostic::error(
                codes::UNEXPECTED_TOKEN,
                self.span(),
                format!("expected a value, found the type `{text}`"),
            )
            .here("expected a value");
            return self.report(diagnostic);
        }
        self.unexpected("a value")
    }

    fn increment(&mut self, spelled: &str, start: Span) -> Unparsed {
        let operator = &spelled[..1];
        let diagnostic = Diagnostic::error(
            codes::COMPOUND_ASSIGNMENT,
            start.to(self.span()),
            format!("Lucid has no `{spelled}`"),
        )
        .help(format!("write `x = x {operator} 1;`"));
        self.report(diagnostic)
    }

    fn compound(&mut self, spelled: &str, operator: String, start: Span) -> Unparsed {
        let operator = if operator == "^" { "^^".to_owned() } else { operator };
        let diagnostic = Diagnostic::error(
            codes::COMPOUND_ASSIGNMENT,
            start.to(self.span()),
            format!("Lucid has no `{spelled}`"),
        )
        .help(format!("write the variable again: `x = x {operator} y;`"));
        self.report(diagnostic)
    }

    /// `a ++ b` and `a += b` behind the first character of the operator, which was taken.
    pub(super) fn report_doubled_operator(
        &mut self,
        operator: BinaryOperator,
        span: Span,
    ) -> Parsed<()> {
        let adjacent = span.end == self.span().start;
        let doubled = operator == BinaryOperator::Add && self.at(TokenKind::Plus);
        if adjacent && (doubled || self.at(TokenKind::Assign)) {
            return Err(self.no_expression());
        }
        Ok(())
    }

    /// `r#f.g` and `f(x).g`.
    pub(super) fn dot_for_field(&mut self) -> Unparsed {
        let diagnostic = Diagnostic::error(
            codes::UNEXPECTED_TOKEN,
            self.span(),
            "a field of a record stands behind `#`, not behind `.`",
        )
        .here("expected `#`")
        .help("write `r#f`; a `.` stands behind the name of a module only");
        self.report(diagnostic)
    }

    /// `while`, `switch`, `break` and so on, at a name.
    pub(super) fn foreign_statement(&mut self) -> Option<Unparsed> {
        let next = self.ahead(1);
        let word = self.text_of(self.token()).to_owned();
        let (fits, help) = match word.as_str() {
            "while" => (
                next == TokenKind::OpenParen,
                "a packet passes a switch once, so nothing loops at run time: generate an event that \
                 goes on, or use `for (i < 4) { ... }` with a bound that is known before",
            ),
            "do" => (
                next == TokenKind::OpenBrace,
                "a packet passes a switch once, so nothing loops at run time: generate an event that \
                 goes on",
            ),
            "switch" => {
                (next == TokenKind::OpenParen, "use `match x with | 1 -> { ... } | _ -> { ... }`")
            }
            "break" | "continue" => {
                (next == TokenKind::Semicolon, "put what should not run into an `if`")
            }
            "goto" => (next == TokenKind::Identifier, "generate an event"),
            "var" | "let" => (next == TokenKind::Identifier, "write `auto x = ...;`"),
            "struct" => (
                next == TokenKind::Identifier || next == TokenKind::OpenBrace,
                "declare a type outside of functions: `type t = { int a; int b; }`",
            ),
            "unsigned" | "signed" | "long" | "short" => (
                next == TokenKind::Identifier || self.type_word_ahead(1),
                "integers are unsigned and `int<N>` is N bits wide, such as `int<16>`",
            ),
            "static" => (
                next == TokenKind::Identifier || self.type_word_ahead(1),
                "values that stay are arrays: `global Array.t<32> a = Array.create(1);` outside of \
                 functions",
            ),
            "const" => return None,
            _ => return None,
        };
        if !fits {
            return None;
        }
        let diagnostic = Diagnostic::error(
            codes::UNSUPPORTED_STATEMENT,
            self.span(),
            format!("Lucid has no `{word}`"),
        )
        .here("not a statement of Lucid")
        .help(help);
        Some(self.report(diagnostic))
    }

    /// A `for` loop of C, behind its `(`.
    pub(super) fn foreign_loop(&mut self, start: Span, opener: Span) -> Option<Unparsed> {
        let named = self.at(TokenKind::Identifier)
            && matches!(self.ahead(1), TokenKind::Assign | TokenKind::LessEqual);
        if !self.at_type_word() && !named && !self.at(TokenKind::Semicolon) {
            return None;
        }
        let diagnostic = Diagnostic::error(
            codes::UNSUPPORTED_STATEMENT,
            start.to(self.span()),
            "Lucid has no such `for` loop",
        )
        .help("write `for (i < 4) { ... }`: the size `i` counts from 0 to one less than the bound")
        .note("loops are unrolled before the program runs, so the bound is a number or a size");
        let unparsed = self.report(diagnostic);
        // Past the parentheses, whose semicolons end no statement.
        let mut depth = 1usize;
        while depth > 0 && !self.at(TokenKind::End) && !self.at(TokenKind::OpenBrace) {
            match self.kind() {
                TokenKind::OpenParen => depth += 1,
                TokenKind::CloseParen => depth -= 1,
                _ => {}
            }
            self.bump();
        }
        let _ = opener;
        Some(unparsed)
    }

    /// Where a statement should begin, and does not.
    pub(super) fn no_statement(&mut self) -> Unparsed {
        if self.at(TokenKind::Else) {
            let diagnostic = Diagnostic::error(
                codes::UNEXPECTED_TOKEN,
                self.span(),
                "this `else` belongs to no `if`",
            )
            .help("an `if` ends with the `}` of its block; a `;` behind it ends it too");
            return self.report(diagnostic);
        }
        if self.at_declaration() {
            return self.misplaced_declaration();
        }
        if self.at(TokenKind::Const) {
            return self.misplaced_declaration();
        }
        if matches!(self.kind(), TokenKind::Plus | TokenKind::Minus) {
            let (first, second) = (self.token(), self.token_ahead(1));
            if first.kind == second.kind && first.span.end == second.span.start {
                let spelled = if first.kind == TokenKind::Plus { "++" } else { "--" };
                return self.increment(spelled, first.span);
            }
        }
        self.unexpected("a statement")
    }

    /// Where a statement begins with a name but is none.
    pub(super) fn no_effect(&mut self) -> Unparsed {
        let start = self.span();
        let (kind, distance) = self.after_path();
        let operator = self.token_ahead(distance);
        let next = self.token_ahead(distance + 1);
        let adjacent = operator.span.end == next.span.start;
        let name: String = {
            let end = self.token_ahead(distance - 1).span.end;
            self.text.get(start.start as usize..end as usize).unwrap_or("x").to_owned()
        };
        let spelled = format!("{}{}", self.text_of(operator), self.text_of(next));
        let place = operator.span.to(next.span);
        let step_doubled = matches!(kind, TokenKind::Plus | TokenKind::Minus) && next.kind == kind;
        if adjacent && step_doubled {
            let sign = &spelled[..1];
            let diagnostic = Diagnostic::error(
                codes::COMPOUND_ASSIGNMENT,
                place,
                format!("Lucid has no `{spelled}`"),
            )
            .help(format!("write `{name} = {name} {sign} 1;`"));
            return self.report(diagnostic);
        }
        let known = super::operators::binary_operator(kind).is_some()
            || instead_of(kind).is_some_and(|_| kind != TokenKind::Question);
        if adjacent && known && next.kind == TokenKind::Assign {
            let sign = match self.text_of(operator) {
                "^" => "^^",
                sign => sign,
            };
            let mut diagnostic = Diagnostic::error(
                codes::COMPOUND_ASSIGNMENT,
                place,
                format!("Lucid has no `{spelled}`"),
            );
            diagnostic = match instead_of(kind) {
                Some((_, help)) => diagnostic.help(help),
                None => diagnostic.help(format!("write `{name} = {name} {sign} ...;`")),
            };
            return self.report(diagnostic);
        }
        match kind {
            TokenKind::OpenBracket | TokenKind::Hash => self.assigned_part(&name, kind),
            TokenKind::Semicolon => {
                let diagnostic = Diagnostic::error(
                    codes::EXPRESSION_AS_STATEMENT,
                    start.to(self.token_ahead(distance - 1).span),
                    format!("`{name}` alone does nothing"),
                )
                .help(format!("call it, `{name}();`, or assign to it"));
                self.report(diagnostic)
            }
            _ => {
                let found = self.describe(operator);
                let diagnostic = Diagnostic::error(
                    codes::UNEXPECTED_TOKEN,
                    operator.span,
                    format!("expected `=`, `(` or a name after `{name}`, found {found}"),
                )
                .here("expected `=`, `(` or a name");
                self.report(diagnostic)
            }
        }
    }

    /// `a[i] = 5;` and `r#f = 5;`
    fn assigned_part(&mut self, name: &str, kind: TokenKind) -> Unparsed {
        let place = self.span();
        let (message, help) = match kind {
            TokenKind::Hash => (
                "a field cannot be assigned on its own",
                format!(
                    "make a record with the field changed: `{name} = {{{name} with f = ...}};`"
                ),
            ),
            _ => (
                "an element cannot be assigned on its own",
                format!(
                    "write to a persistent array with `Array.set({name}, i, x);`, and make a vector \
                     as a whole: `[a; b]`, `[e for i < n]`"
                ),
            ),
        };
        let diagnostic =
            Diagnostic::error(codes::EXPRESSION_AS_STATEMENT, place, message).help(help);
        self.report(diagnostic)
    }

    /// `int x;`, which Lucid does not have; gives 0 to go on with.
    pub(super) fn local_without_value(
        &mut self,
        start: Span,
        ty: &Type,
        name: &Binder,
    ) -> Option<Parsed<StatementKind>> {
        if self.at(TokenKind::OpenParen) {
            let diagnostic = Diagnostic::error(
                codes::MISPLACED_DECLARATION,
                name.span,
                "functions and events are declared outside of handlers and functions",
            )
            .help("move it out, and write `fun` before a function: `fun int f(int x) { ... }`");
            return Some(Err(self.report(diagnostic)));
        }
        if !matches!(self.kind(), TokenKind::Semicolon | TokenKind::Comma) {
            return None;
        }
        let spelled = self.text.get(start.start as usize..self.previous_span().end as usize);
        let example = spelled.unwrap_or("int x").to_owned();
        let zero = match ty.kind {
            TypeKind::Bool => "false",
            TypeKind::Int(_) | TypeKind::Auto => "0",
            _ => "...",
        };
        let diagnostic = Diagnostic::error(
            codes::LOCAL_WITHOUT_VALUE,
            name.span,
            format!("`{}` needs a value", name.name),
        )
        .here("expected ` = ...` after this")
        .help(format!("write `{example} = {zero};`"));
        self.report_read(diagnostic);
        let value = Expression {
            id: self.id(),
            kind: match ty.kind {
                TypeKind::Bool => ExpressionKind::Boolean(false),
                _ => ExpressionKind::Integer { value: 0, width: None, spelling: Spelling::Later },
            },
            span: name.span.after(),
        };
        if self.at(TokenKind::Comma) {
            // One report is enough for `int a, b, c;`.
            while !matches!(
                self.kind(),
                TokenKind::Semicolon | TokenKind::CloseBrace | TokenKind::End
            ) {
                self.bump();
            }
        }
        self.eat(TokenKind::Semicolon);
        let local =
            StatementKind::Local { name: name.clone(), ty: ty.clone(), value, no_inline: false };
        Some(Ok(local))
    }

    /// `int x = 1, y = 2;`
    pub(super) fn report_further_locals(&mut self) -> Parsed<()> {
        if !self.at(TokenKind::Comma) {
            return Ok(());
        }
        let diagnostic = Diagnostic::error(
            codes::UNEXPECTED_TOKEN,
            self.span(),
            "a declaration gives one variable: expected `;`, found `,`",
        )
        .here("expected `;`")
        .help("declare each variable on its own: `int x = 1; int y = 2;`");
        Err(self.report(diagnostic))
    }

    /// `return a, b;`
    pub(super) fn returned_list(&mut self) -> Unparsed {
        let diagnostic = Diagnostic::error(
            codes::RETURNED_LIST,
            self.span(),
            "a function returns one value: expected `;`, found `,`",
        )
        .here("expected `;`")
        .help("return a record: `type pair = { int a; int b; }` and `return {a = x; b = y};`");
        self.report(diagnostic)
    }

    /// `if (x = 1)`
    pub(super) fn report_assignment_in_condition(&mut self) -> Parsed<()> {
        if !self.at(TokenKind::Assign) {
            return Ok(());
        }
        let diagnostic = Diagnostic::error(
            codes::ASSIGNMENT_IN_CONDITION,
            self.span(),
            "a condition compares with `==`; `=` assigns",
        )
        .here("expected `==`")
        .help("write `==`");
        self.report_read(diagnostic);
        self.bump();
        self.expression().map(|_| ())
    }

    /// `true` as a pattern.
    pub(super) fn boolean_pattern(&mut self) -> Unparsed {
        let text = self.text_of(self.token());
        let diagnostic = Diagnostic::error(
            codes::UNEXPECTED_TOKEN,
            self.span(),
            format!("expected a pattern, found `{text}`"),
        )
        .here("expected a pattern")
        .help("`match` compares integers and events; use `if` for a `bool`");
        self.report(diagnostic)
    }

    /// `(x, y)` for parameters.
    pub(super) fn parameter_without_type(&mut self, ty: &Type) -> Unparsed {
        let is_name = matches!(ty.kind, TypeKind::Named { ref sizes, .. } if sizes.is_empty());
        let (what, help) = match is_name {
            true => ("type", "write `int x` for a parameter of 32 bits"),
            false => ("name", "write the type and then the name, such as `int x`"),
        };
        let diagnostic = Diagnostic::error(
            codes::UNEXPECTED_TOKEN,
            ty.span,
            format!("this parameter has no {what}"),
        )
        .here("expected a type and a name")
        .help(help);
        self.report(diagnostic)
    }

    /// A declaration between statements.
    pub(super) fn misplaced_declaration(&mut self) -> Unparsed {
        let text = self.text_of(self.token());
        let diagnostic = Diagnostic::error(
            codes::MISPLACED_DECLARATION,
            self.span(),
            format!("`{text}` declares something outside of handlers and functions only"),
        )
        .here("expected a statement")
        .help("move it out; or, if the block should have ended before, add the missing `}`")
        .note("variables of a handler are declared with their type: `int x = 5;`");
        self.report(diagnostic)
    }

    /// `include` inside of a module.
    pub(super) fn misplaced_include(&mut self) -> Unparsed {
        let diagnostic = Diagnostic::error(
            codes::MISPLACED_DECLARATION,
            self.span(),
            "files are included outside of modules only",
        )
        .help("move it to the beginning of the file");
        self.report(diagnostic)
    }

    /// `@egress` before something else than a handler.
    pub(super) fn egress_without_handler(&mut self, pragma: Span) -> Unparsed {
        let message = format!("expected `handle` after `@egress`, found {}", self.found());
        let diagnostic = Diagnostic::error(codes::UNEXPECTED_TOKEN, self.span(), message)
            .here("expected `handle`")
            .label(pragma, "which says that a handler runs as events leave the switch");
        self.report(diagnostic)
    }

    /// `const K = 4;`
    pub(super) fn constant_without_type(&mut self) -> Unparsed {
        let name = self.text_of(self.token());
        let help = format!("write `const int {name} = ...;`");
        let diagnostic = Diagnostic::error(
            codes::UNEXPECTED_TOKEN,
            self.span(),
            "expected the type of the constant before its name",
        )
        .help(help);
        self.report(diagnostic)
    }

    /// `fun f(int x) { ... }`
    pub(super) fn function_without_type(&mut self) -> Unparsed {
        let name = self.text_of(self.token());
        let help = format!("write `fun void {name}(...)` if it returns nothing");
        let diagnostic = Diagnostic::error(
            codes::UNEXPECTED_TOKEN,
            self.span(),
            "expected the type that the function returns before its name",
        )
        .help(help);
        self.report(diagnostic)
    }

    /// Where a declaration should begin, and does not. Skips to the next one if what stands here is a
    /// statement, of which more will follow.
    pub(super) fn no_declaration(&mut self) -> Unparsed {
        if self.at(TokenKind::Hash) {
            return self.directive();
        }
        if self.at_type_word() && self.ahead(1) == TokenKind::Identifier {
            return self.typed_like_c();
        }
        if self.at(TokenKind::Int) {
            let mut distance = 1;
            while !matches!(
                self.ahead(distance),
                TokenKind::Identifier
                    | TokenKind::Semicolon
                    | TokenKind::OpenBrace
                    | TokenKind::End
            ) {
                distance += 1;
            }
            if self.ahead(distance) == TokenKind::Identifier {
                return self.typed_like_c();
            }
        }
        let word = self.text_of(self.token()).to_owned();
        let named = match word.as_str() {
            "struct" | "header" | "typedef" => Some("write `type t = { int a; int b; }`"),
            "control" => {
                Some("write `control handle e(int x) { ... }` for a handler on the processor")
            }
            "table" => Some("write `global Table.t<<key, installed, argument, result>> t = ...;`"),
            "import" | "using" | "open" => Some("write `include \"file.dpt\"`"),
            "function" | "def" | "func" | "fn" | "let" => Some("write `fun int f(int x) { ... }`"),
            "handler" => Some("write `handle e(int x) { ... }`"),
            "var" | "static" | "register" => {
                Some("write `global Array.t<32> a = Array.create(8);` for values that stay")
            }
            "enum" => Some("write a `const int` for each value"),
            _ => None,
        };
        if let Some(help) = named {
            let diagnostic = Diagnostic::error(
                codes::UNEXPECTED_TOKEN,
                self.span(),
                format!("expected a declaration, found `{word}`"),
            )
            .here("expected a declaration")
            .help(help);
            return self.report(diagnostic);
        }
        let begins_statement = self.begins_statement() || self.at(TokenKind::Else);
        if !begins_statement {
            return self.unexpected("a declaration, such as `event`, `handle`, `fun` or `global`");
        }
        let mut diagnostic = Diagnostic::error(
            codes::MISPLACED_STATEMENT,
            self.span(),
            format!("expected a declaration, found {}", self.found()),
        )
        .here("expected a declaration")
        .help("statements stand in handlers, functions and memops");
        if self.position > 0 && self.tokens[self.position - 1].kind == TokenKind::CloseBrace {
            diagnostic =
                diagnostic.label(self.previous_span(), "the declaration before ended here");
        }
        let unparsed = self.report(diagnostic);
        self.skip_to_declaration();
        self.recovered = true;
        unparsed
    }

    /// `int x = 5;` and `int f(int x) { ... }` outside of everything.
    fn typed_like_c(&mut self) -> Unparsed {
        let mut distance = 1;
        while !matches!(
            self.ahead(distance),
            TokenKind::Assign | TokenKind::OpenParen | TokenKind::Semicolon | TokenKind::End
        ) {
            distance += 1;
        }
        let (message, help) = match self.ahead(distance) {
            TokenKind::OpenParen => (
                "a function begins with `fun`",
                "write `fun int f(int x) { ... }`; a handler is `handle e(int x) { ... }`",
            ),
            _ => (
                "expected a declaration, found a type",
                "write `const int x = ...;` for a value that never changes, and \
                 `global Array.t<32> x = Array.create(1);` for one that stays and changes",
            ),
        };
        let diagnostic =
            Diagnostic::error(codes::MISPLACED_STATEMENT, self.span(), message).help(help);
        self.report(diagnostic)
    }

    /// `#include` and `#define`.
    fn directive(&mut self) -> Unparsed {
        let word = self.text_of(self.token_ahead(1)).to_owned();
        let help = match word.as_str() {
            "include" => "write `include \"file.dpt\"`",
            "define" => "write `const int NAME = 5;` or `size name = 5;`",
            _ => "there are no macros; `symbolic` values can be given from outside",
        };
        let place = self.span().to(self.token_ahead(1).span);
        let diagnostic =
            Diagnostic::error(codes::UNEXPECTED_TOKEN, place, "Lucid has no preprocessor")
                .help(help);
        let unparsed = self.report(diagnostic);
        // The directive ends with its line.
        let end = self.span().end as usize;
        let line = self.text.get(end..).and_then(|rest| rest.find('\n')).map(|at| end + at);
        let limit = line.unwrap_or(self.text.len()) as u32;
        while !self.at(TokenKind::End) && self.span().start < limit {
            self.bump();
        }
        self.recovered = true;
        unparsed
    }
}
