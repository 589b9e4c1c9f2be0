// SPDX-License-Identifier: Apache-2.0
//! `Macro`, and its definition by `#define`, `#undef`, `-D` and the built-in ones. `expansion` uses
//! macros.

use super::{PreprocessingToken, PreprocessingTokenKind, Preprocessor, Symbol};
use crate::codes::lexical;
use crate::token::TokenKind;
use source::{Diagnostic, Span};
use std::cell::Cell;
use std::rc::Rc;

/// A macro whose expansion depends on where it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Builtin {
    /// `__FILE__`
    File,
    /// `__LINE__`
    Line,
}

/// The parameters of a function-like macro.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parameters {
    /// Their names; the last one of a variadic macro takes all further arguments.
    pub names: Vec<Symbol>,
    pub variadic: bool,
}

/// A token of a macro's body.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyToken {
    pub token: PreprocessingToken,
    /// Which parameter it is.
    pub parameter: Option<u32>,
}

/// A macro.
#[derive(Debug)]
pub(super) struct Macro {
    pub name: Symbol,
    /// `None` for an object-like macro.
    pub parameters: Option<Parameters>,
    pub body: Vec<BodyToken>,
    /// The name in its `#define`.
    pub definition: Span,
    pub builtin: Option<Builtin>,
    /// Its expansion is being read, so its name is not expanded.
    pub disabled: Cell<bool>,
}

impl Macro {
    /// Whether a second definition is the same, which is allowed (C11 6.10.3).
    fn same_as(&self, other: &Macro) -> bool {
        self.builtin == other.builtin
            && self.parameters == other.parameters
            && self.body.len() == other.body.len()
            && self.body.iter().zip(&other.body).all(|(one, two)| {
                one.token.kind == two.token.kind
                    && one.token.symbol == two.token.symbol
                    && one.token.spaced == two.token.spaced
            })
    }
}

impl Preprocessor<'_> {
    /// Defines `__FILE__` and `__LINE__`.
    pub(super) fn define_builtins(&mut self) {
        for (name, builtin) in [(self.known.file, Builtin::File), (self.known.line, Builtin::Line)]
        {
            let definition = Macro {
                name,
                parameters: None,
                body: Vec::new(),
                definition: Span::NONE,
                builtin: Some(builtin),
                disabled: Cell::new(false),
            };
            self.names.define(name, Some(Rc::new(definition)));
        }
    }

    /// Defines the macros of the command line, as if a file had defined them.
    pub(super) fn define_from_options(&mut self) {
        if self.options.defines.is_empty() {
            return;
        }
        let mut text = String::new();
        for (name, body) in &self.options.defines {
            let body = body.as_deref().unwrap_or("1");
            text.push_str("#define ");
            for part in [name.as_str(), " ", body] {
                text.extend(part.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }));
            }
            // A backslash at the end would join the next definition to this one.
            while text.ends_with('\\') {
                text.pop();
            }
            text.push('\n');
        }
        let file = self.map.add("<command line>", text);
        self.open_main(file);
        self.run();
    }

    /// Applies `#define`; `tokens` are the rest of its line.
    pub(super) fn define(&mut self, directive: Span, tokens: &[PreprocessingToken]) {
        let Some(name) = self.macro_name(directive, tokens.first()) else {
            return;
        };
        let mut body = &tokens[1..];
        let mut parameters = None;
        if let Some(open) = body.first().filter(|token| token.is_symbol(TokenKind::OpenParen))
            && !open.spaced
        {
            match self.parameters(&body[1..], open.span) {
                Some((list, rest)) => {
                    parameters = Some(list);
                    body = rest;
                }
                None => return,
            }
        }
        let place = |symbol: Symbol| {
            let names = &parameters.as_ref()?.names;
            names.iter().position(|name| *name == symbol).map(|at| at as u32)
        };
        let mut body: Vec<BodyToken> = body
            .iter()
            .map(|token| {
                let parameter = match token.kind {
                    PreprocessingTokenKind::Word => place(token.symbol),
                    _ => None,
                };
                BodyToken { token: *token, parameter }
            })
            .collect();
        if let Some(first) = body.first_mut() {
            first.token.spaced = false;
        }
        let at_an_end = [body.first(), body.last()]
            .into_iter()
            .flatten()
            .find(|item| item.token.kind == PreprocessingTokenKind::HashHash);
        if let Some(paste) = at_an_end {
            self.report(
                Diagnostic::error(
                    lexical::MISPLACED_PASTE,
                    paste.token.span,
                    "`##` stands between two tokens of a macro",
                )
                .here("there is nothing to join on one side"),
            );
            return;
        }
        let definition = Macro {
            name: name.symbol,
            parameters,
            body,
            definition: name.span,
            builtin: None,
            disabled: Cell::new(false),
        };
        let definition = Rc::new(definition);
        let earlier = self.names.define(name.symbol, Some(definition.clone()));
        if let Some(earlier) = earlier
            && !earlier.same_as(&definition)
        {
            let text = self.names.text(name.symbol);
            let mut warning = Diagnostic::warning(
                lexical::MACRO_REDEFINED,
                name.span,
                format!("the macro `{text}` is defined again, differently"),
            );
            if !earlier.definition.is_none() {
                warning = warning.label(earlier.definition, "first defined here");
            }
            let help = format!("if that is meant, put `#undef {text}` before it");
            self.report(warning.help(help));
        }
    }

    /// Applies `#undef`; `tokens` are the rest of its line.
    pub(super) fn undefine(&mut self, directive: Span, tokens: &[PreprocessingToken]) {
        if let Some(name) = self.macro_name(directive, tokens.first()) {
            self.names.define(name.symbol, None);
            self.nothing_more("#undef NAME", &tokens[1..]);
        }
    }

    /// Returns the macro name of a directive, or reports that there is none.
    pub(super) fn macro_name(
        &mut self,
        directive: Span,
        token: Option<&PreprocessingToken>,
    ) -> Option<PreprocessingToken> {
        match token {
            Some(name)
                if name.kind == PreprocessingTokenKind::Word
                    && name.symbol != self.known.defined =>
            {
                Some(*name)
            }
            Some(other) => {
                let text = self.names.text(other.symbol).clone();
                self.report(
                    Diagnostic::error(
                        lexical::MALFORMED_MACRO_NAME,
                        other.span,
                        format!("`{text}` cannot be the name of a macro"),
                    )
                    .note("a name has letters, digits and `_`, and does not start with a digit"),
                );
                None
            }
            None => {
                self.report(Diagnostic::error(
                    lexical::MALFORMED_MACRO_NAME,
                    directive.after(),
                    "the name of a macro is missing",
                ));
                None
            }
        }
    }

    /// Reads the parameters after the opening parenthesis; returns them and the tokens behind them.
    fn parameters<'line>(
        &mut self,
        tokens: &'line [PreprocessingToken],
        open: Span,
    ) -> Option<(Parameters, &'line [PreprocessingToken])> {
        let mut names: Vec<Symbol> = Vec::new();
        let mut variadic = false;
        let mut at = 0;
        if tokens.first().is_some_and(|token| token.is_symbol(TokenKind::CloseParen)) {
            return Some((Parameters { names, variadic }, &tokens[1..]));
        }
        while let Some(token) = tokens.get(at) {
            at += 1;
            match token.kind {
                PreprocessingTokenKind::Word if names.contains(&token.symbol) => {
                    let text = self.names.text(token.symbol).clone();
                    self.report(Diagnostic::error(
                        lexical::MALFORMED_PARAMETERS,
                        token.span,
                        format!("the macro has two parameters named `{text}`"),
                    ));
                    return None;
                }
                PreprocessingTokenKind::Word => {
                    names.push(token.symbol);
                    // GNU C: `rest...` names what would be `__VA_ARGS__`.
                    if tokens.get(at).is_some_and(|next| next.is_symbol(TokenKind::Dots)) {
                        variadic = true;
                        at += 1;
                    }
                }
                PreprocessingTokenKind::Symbol(TokenKind::Dots) => {
                    names.push(self.known.variadic);
                    variadic = true;
                }
                _ => break,
            }
            match tokens.get(at) {
                Some(next) if next.is_symbol(TokenKind::CloseParen) => {
                    return Some((Parameters { names, variadic }, &tokens[at + 1..]));
                }
                Some(next) if next.is_symbol(TokenKind::Comma) && !variadic => at += 1,
                _ => break,
            }
        }
        let span = tokens.get(at).or(tokens.last()).map_or(open, |token| token.span);
        self.report(
            Diagnostic::error(
                lexical::MALFORMED_PARAMETERS,
                span,
                "the parameters of the macro cannot be read",
            )
            .label(open, "the parameter list starts here")
            .help("write `#define NAME(first, second) body`; the last parameter may be `...`")
            .help("if the parenthesis belongs to the body, put a space before it"),
        );
        None
    }
}
