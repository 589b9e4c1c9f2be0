// SPDX-License-Identifier: Apache-2.0
//! Substitution in the body of a macro: parameters, `#` and `##` (C11 6.10.3.1 to 6.10.3.3).
//! `expansion` rescans the result for further macros.

use super::definitions::{BodyToken, Macro};
use super::{PreprocessingToken, PreprocessingTokenKind, Preprocessor};
use crate::codes::lexical;
use crate::lexer::cursor::{LexemeKind, single_lexeme};
use crate::token::TokenKind;
use source::{Diagnostic, Span};

impl Preprocessor<'_> {
    /// Substitutes the arguments of one use in the body.
    pub(super) fn substitute(
        &mut self,
        definition: &Macro,
        arguments: &[Vec<PreprocessingToken>],
        site: Span,
    ) -> Vec<PreprocessingToken> {
        let body = &definition.body;
        let function_like = definition.parameters.is_some();
        let variadic = definition
            .parameters
            .as_ref()
            .filter(|parameters| parameters.variadic)
            .map(|parameters| parameters.names.len() as u32 - 1);
        let mut expanded: Vec<Option<Vec<PreprocessingToken>>> = vec![None; arguments.len()];
        let mut result: Vec<PreprocessingToken> = Vec::with_capacity(body.len());
        let mut pasting = false;
        let mut at = 0;
        while at < body.len() && !self.stopped {
            let item = body[at];
            at += 1;
            if item.token.kind == PreprocessingTokenKind::HashHash && !result.is_empty() {
                pasting = true;
                continue;
            }
            let before_paste = is_paste(body.get(at));
            let mut operand = match item.parameter {
                None if function_like && item.token.kind == PreprocessingTokenKind::Hash => {
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
                let kind = PreprocessingTokenKind::Placemarker;
                operand.push(PreprocessingToken {
                    kind,
                    symbol: self.known.empty,
                    ..at_site(item.token, site)
                });
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
        result.retain(|token| token.kind != PreprocessingTokenKind::Placemarker);
        result
    }

    /// Joins two tokens into one; if they make none, reports that and keeps both.
    fn paste(
        &mut self,
        left: PreprocessingToken,
        right: PreprocessingToken,
        definition: &Macro,
        site: Span,
        result: &mut Vec<PreprocessingToken>,
    ) {
        if right.kind == PreprocessingTokenKind::Placemarker {
            result.push(left);
            return;
        }
        if left.kind == PreprocessingTokenKind::Placemarker {
            result.push(PreprocessingToken { spaced: left.spaced, ..right });
            return;
        }
        let text = format!("{}{}", self.spelled(left), self.spelled(right));
        self.spend(text.len(), site);
        let kind = match single_lexeme(&text) {
            Some(LexemeKind::Word) => PreprocessingTokenKind::Word,
            Some(LexemeKind::Number) => PreprocessingTokenKind::Number,
            Some(LexemeKind::Symbol(kind)) => PreprocessingTokenKind::Symbol(kind),
            Some(LexemeKind::HashHash) => PreprocessingTokenKind::HashHash,
            Some(LexemeKind::Hash) => PreprocessingTokenKind::Hash,
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
        result.push(PreprocessingToken {
            kind,
            symbol: self.names.intern(&text),
            span: site,
            spaced: left.spaced,
            painted: false,
            from_macro: true,
        });
    }

    /// Makes a string of an argument's text, with blanks reduced to one space.
    fn stringize(
        &mut self,
        argument: &[PreprocessingToken],
        hash: PreprocessingToken,
        site: Span,
    ) -> PreprocessingToken {
        let mut text = String::new();
        for (index, token) in argument.iter().enumerate() {
            if index > 0 && token.spaced {
                text.push(' ');
            }
            let spelled = self.spelled(*token);
            if matches!(
                token.kind,
                PreprocessingTokenKind::String | PreprocessingTokenKind::Character
            ) {
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
        PreprocessingToken { kind: PreprocessingTokenKind::String, symbol, ..at_site(hash, site) }
    }

    /// Converts a token of a file.
    pub(super) fn spelled(&self, token: PreprocessingToken) -> String {
        let text = self.names.text(token.symbol);
        if token.kind == PreprocessingTokenKind::String {
            format!("\"{text}\"")
        } else {
            text.to_string()
        }
    }
}

fn is_paste(item: Option<&BodyToken>) -> bool {
    item.is_some_and(|item| item.token.kind == PreprocessingTokenKind::HashHash)
}

/// Returns a token of a body, placed where the macro is used.
fn at_site(token: PreprocessingToken, site: Span) -> PreprocessingToken {
    PreprocessingToken { span: site, from_macro: true, painted: false, ..token }
}
