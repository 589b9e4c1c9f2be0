// SPDX-License-Identifier: Apache-2.0
//! What the body of a macro becomes: parameters replaced, `#` and `##` done (C11 6.10.3.1 to
//! 6.10.3.3). The result is read again for further macros by `expansion`.

use super::definitions::{BodyToken, Macro};
use super::{Local, LocalKind, Preprocessor};
use crate::codes::lexical;
use crate::lexer::cursor::{PieceKind, single_piece};
use crate::token::TokenKind;
use source::{Diagnostic, Span};

impl Preprocessor<'_> {
    /// The body with the arguments of one use.
    pub(super) fn substitute(
        &mut self,
        definition: &Macro,
        arguments: &[Vec<Local>],
        site: Span,
    ) -> Vec<Local> {
        let body = &definition.body;
        let function_like = definition.parameters.is_some();
        let variadic = definition
            .parameters
            .as_ref()
            .filter(|parameters| parameters.variadic)
            .map(|parameters| parameters.names.len() as u32 - 1);
        let mut expanded: Vec<Option<Vec<Local>>> = vec![None; arguments.len()];
        let mut result: Vec<Local> = Vec::with_capacity(body.len());
        let mut pasting = false;
        let mut at = 0;
        while at < body.len() && !self.stopped {
            let item = body[at];
            at += 1;
            if item.token.kind == LocalKind::HashHash && !result.is_empty() {
                pasting = true;
                continue;
            }
            let before_paste = is_paste(body.get(at));
            let mut operand = match item.parameter {
                None if function_like && item.token.kind == LocalKind::Hash => {
                    match body.get(at).and_then(|next| next.parameter) {
                        Some(parameter) => {
                            at += 1;
                            let argument = &arguments[parameter as usize];
                            vec![self.stringize(argument, item.token, site)]
                        }
                        None => vec![at_site(item.token, site)],
                    }
                }
                None => vec![at_site(item.token, site)],
                Some(parameter) => {
                    let argument = &arguments[parameter as usize];
                    let after_comma = pasting
                        && Some(parameter) == variadic
                        && result.last().is_some_and(|last| last.is_symbol(TokenKind::Comma));
                    if after_comma {
                        // GNU C: `, ## __VA_ARGS__` drops the comma when there is nothing after.
                        pasting = false;
                        if argument.is_empty() {
                            result.pop();
                        }
                    }
                    let tokens = if pasting || before_paste {
                        argument.clone()
                    } else {
                        let index = parameter as usize;
                        if expanded[index].is_none() {
                            let tokens = self.expand_argument(argument, site);
                            expanded[index] = Some(tokens);
                        }
                        expanded[index].clone().unwrap_or_default()
                    };
                    self.spend(tokens.len(), site);
                    tokens
                }
            };
            if operand.is_empty() {
                if !pasting && !before_paste {
                    continue;
                }
                let kind = LocalKind::Placemarker;
                operand.push(Local { kind, symbol: self.known.empty, ..at_site(item.token, site) });
            }
            operand[0].spaced = item.token.spaced;
            let mut operand = operand.into_iter();
            if pasting {
                pasting = false;
                if let (Some(left), Some(right)) = (result.pop(), operand.next()) {
                    self.paste(left, right, definition, site, &mut result);
                }
            }
            result.extend(operand);
        }
        result.retain(|token| token.kind != LocalKind::Placemarker);
        result
    }

    /// Joins two tokens into one; if they make none, reports that and keeps both.
    fn paste(
        &mut self,
        left: Local,
        right: Local,
        definition: &Macro,
        site: Span,
        result: &mut Vec<Local>,
    ) {
        if right.kind == LocalKind::Placemarker {
            result.push(left);
            return;
        }
        if left.kind == LocalKind::Placemarker {
            result.push(Local { spaced: left.spaced, ..right });
            return;
        }
        let text = format!("{}{}", self.spelled(left), self.spelled(right));
        self.spend(text.len(), site);
        let kind = match single_piece(&text) {
            Some(PieceKind::Word) => LocalKind::Word,
            Some(PieceKind::Number) => LocalKind::Number,
            Some(PieceKind::Symbol(kind)) => LocalKind::Symbol(kind),
            Some(PieceKind::HashHash) => LocalKind::HashHash,
            Some(PieceKind::Hash) => LocalKind::Hash,
            _ => {
                let name = self.names.text(definition.name);
                let mut error = Diagnostic::error(
                    lexical::INVALID_PASTE,
                    site,
                    format!("in the macro `{name}`, `##` makes `{text}`, which is no token"),
                );
                if !definition.definition.is_none() {
                    error = error.label(definition.definition, "defined here");
                }
                self.report(error);
                result.push(left);
                result.push(right);
                return;
            }
        };
        result.push(Local {
            kind,
            symbol: self.names.intern(&text),
            span: site,
            spaced: left.spaced,
            painted: false,
            from_macro: true,
        });
    }

    /// The argument as a string, as it was written, blanks reduced to one space.
    fn stringize(&mut self, argument: &[Local], hash: Local, site: Span) -> Local {
        let mut text = String::new();
        for (index, token) in argument.iter().enumerate() {
            if index > 0 && token.spaced {
                text.push(' ');
            }
            let spelled = self.spelled(*token);
            if matches!(token.kind, LocalKind::String | LocalKind::Character) {
                for character in spelled.chars() {
                    if matches!(character, '"' | '\\') {
                        text.push('\\');
                    }
                    text.push(character);
                }
            } else {
                text.push_str(&spelled);
            }
        }
        self.spend(text.len(), site);
        let symbol = self.names.intern(&text);
        Local { kind: LocalKind::String, symbol, ..at_site(hash, site) }
    }

    /// A token as it is written in a file.
    pub(super) fn spelled(&self, token: Local) -> String {
        let text = self.names.text(token.symbol);
        if token.kind == LocalKind::String { format!("\"{text}\"") } else { text.to_string() }
    }
}

fn is_paste(item: Option<&BodyToken>) -> bool {
    item.is_some_and(|item| item.token.kind == LocalKind::HashHash)
}

/// A token of a body, placed where the macro is used.
fn at_site(token: Local, site: Span) -> Local {
    Local { span: site, from_macro: true, painted: false, ..token }
}
