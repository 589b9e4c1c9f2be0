// SPDX-License-Identifier: Apache-2.0
//! Macro expansion: finds uses, collects arguments, and rescans expansions for further uses. A name
//! inside its own expansion is painted and never expanded (C11 6.10.3.4). `substitution` replaces the
//! parameters in a body.

use super::definitions::{Builtin, Macro};
use super::{
    ARGUMENT_DEPTH_LIMIT, EXPANSION_LIMIT, PreprocessingToken, PreprocessingTokenKind, Preprocessor,
};
use crate::codes::lexical;
use crate::token::TokenKind;
use source::{Diagnostic, MacroUse, Span};
use std::rc::Rc;

/// Tokens to read before those outside: an expansion, or tokens put back.
pub(super) struct Context {
    pub tokens: Vec<PreprocessingToken>,
    pub position: usize,
    /// The macro that made them; usable again once they are read.
    pub definition: Option<Rc<Macro>>,
}

/// The arguments of one use, and the place of the whole use.
struct Arguments {
    list: Vec<Vec<PreprocessingToken>>,
    close: PreprocessingToken,
}

impl Preprocessor<'_> {
    /// Reads the next token with all macros expanded.
    pub(super) fn next_expanded(&mut self) -> Option<PreprocessingToken> {
        loop {
            let token = self.next_unexpanded()?;
            if token.kind != PreprocessingTokenKind::Word || token.painted {
                return Some(token);
            }
            let Some(definition) = self.names.definition(token.symbol) else {
                return Some(token);
            };
            let definition = definition.clone();
            if !self.invoke(token, &definition) {
                return Some(token);
            }
        }
    }

    /// Reads the next token without expansion; the names of macros that are being read are painted.
    pub(super) fn next_unexpanded(&mut self) -> Option<PreprocessingToken> {
        while self.contexts.len() > self.floor {
            if self.stopped {
                return None;
            }
            let context = self.contexts.last_mut()?;
            if let Some(token) = context.tokens.get(context.position) {
                let mut token = *token;
                context.position += 1;
                if token.kind == PreprocessingTokenKind::Word
                    && let Some(definition) = self.names.definition(token.symbol)
                    && definition.disabled.get()
                {
                    token.painted = true;
                }
                return Some(token);
            }
            if let Some(definition) = self.contexts.pop().and_then(|context| context.definition) {
                definition.disabled.set(false);
            }
        }
        if self.isolated { None } else { self.next_from_file() }
    }

    /// Expands tokens without looking at the tokens after them.
    pub(super) fn expand_alone(
        &mut self,
        tokens: &[PreprocessingToken],
    ) -> Vec<PreprocessingToken> {
        let mut expanded = Vec::new();
        self.alone(tokens, |preprocessor| {
            while let Some(token) = preprocessor.next_expanded() {
                expanded.push(token);
            }
        });
        expanded
    }

    /// Runs `work` with `tokens` as the only input.
    pub(super) fn alone(&mut self, tokens: &[PreprocessingToken], read: impl FnOnce(&mut Self)) {
        let outer = (self.floor, self.isolated);
        self.floor = self.contexts.len();
        self.isolated = true;
        let context = Context { tokens: tokens.to_vec(), position: 0, definition: None };
        self.contexts.push(context);
        read(self);
        while self.contexts.len() > self.floor {
            if let Some(definition) = self.contexts.pop().and_then(|context| context.definition) {
                definition.disabled.set(false);
            }
        }
        (self.floor, self.isolated) = outer;
    }

    /// Counts a step of expansion; reports and stops beyond the limit.
    pub(super) fn spend(&mut self, tokens: usize, span: Span) {
        self.expanded += tokens as u64 + 1;
        if self.expanded > EXPANSION_LIMIT && !self.stopped {
            self.stop(
                Diagnostic::error(
                    lexical::EXPANSION_LIMIT,
                    span,
                    format!("the macros of this program make more than {EXPANSION_LIMIT} tokens"),
                )
                .here("expansion stopped here"),
            );
        }
    }

    /// Replaces a use of a macro by its expansion; `false` if the name is no use of it.
    fn invoke(&mut self, name: PreprocessingToken, definition: &Rc<Macro>) -> bool {
        if self.stopped {
            return false;
        }
        if let Some(builtin) = definition.builtin {
            let token = self.builtin(builtin, name);
            self.push_context(vec![token], None);
            return true;
        }
        let (arguments, site) = match &definition.parameters {
            None => (Vec::new(), name.span),
            Some(_) => {
                if !self.opening_parenthesis_follows() {
                    return false;
                }
                let Some(arguments) = self.collect_arguments(name, definition) else {
                    return false;
                };
                let site = match arguments.close {
                    close if name.from_macro || close.from_macro => name.span,
                    close => name.span.to(close.span),
                };
                (arguments.list, site)
            }
        };
        if !name.from_macro {
            let macro_use = MacroUse {
                name: self.names.text(definition.name).clone(),
                definition: definition.definition,
            };
            self.map.record_macro_use(site, macro_use);
        }
        let mut expansion = self.substitute(definition, &arguments, site);
        if let Some(first) = expansion.first_mut() {
            first.spaced = name.spaced;
        }
        self.spend(expansion.len(), site);
        definition.disabled.set(true);
        self.push_context(expansion, Some(definition.clone()));
        true
    }

    fn push_context(&mut self, tokens: Vec<PreprocessingToken>, definition: Option<Rc<Macro>>) {
        self.contexts.push(Context { tokens, position: 0, definition });
    }

    fn builtin(&mut self, builtin: Builtin, name: PreprocessingToken) -> PreprocessingToken {
        let location = self.map.location(name.span);
        let (kind, text) = match builtin {
            Builtin::File => {
                let file = location.map_or_else(String::new, |place| place.file.to_string());
                (PreprocessingTokenKind::String, file.replace('\\', "\\\\").replace('"', "\\\""))
            }
            Builtin::Line => {
                (PreprocessingTokenKind::Number, location.map_or(0, |place| place.line).to_string())
            }
        };
        PreprocessingToken { kind, symbol: self.names.intern(&text), from_macro: true, ..name }
    }

    /// Takes the `(` after a function-like macro's name. Anything else is put back.
    fn opening_parenthesis_follows(&mut self) -> bool {
        let outer = std::mem::replace(&mut self.collecting, true);
        let next = self.next_unexpanded();
        self.collecting = outer;
        match next {
            Some(token) if token.is_symbol(TokenKind::OpenParen) => true,
            Some(token) => {
                self.push_context(vec![token], None);
                false
            }
            None => false,
        }
    }

    /// Reads the arguments up to the closing parenthesis. A use with a wrong count or a missing
    /// parenthesis is reported and dropped.
    fn collect_arguments(
        &mut self,
        name: PreprocessingToken,
        definition: &Macro,
    ) -> Option<Arguments> {
        let parameters = definition.parameters.as_ref()?;
        let mut list = vec![Vec::new()];
        let mut depth = 0u32;
        let outer = std::mem::replace(&mut self.collecting, true);
        let close = loop {
            let Some(token) = self.next_unexpanded() else {
                break None;
            };
            match token.kind {
                PreprocessingTokenKind::Symbol(TokenKind::OpenParen) => depth += 1,
                PreprocessingTokenKind::Symbol(TokenKind::CloseParen) if depth == 0 => {
                    break Some(token);
                }
                PreprocessingTokenKind::Symbol(TokenKind::CloseParen) => depth -= 1,
                PreprocessingTokenKind::Symbol(TokenKind::Comma)
                    if depth == 0
                        && !(parameters.variadic && list.len() >= parameters.names.len()) =>
                {
                    list.push(Vec::new());
                    continue;
                }
                _ => {}
            }
            if let Some(argument) = list.last_mut() {
                argument.push(token);
            }
        };
        self.collecting = outer;
        self.spend(list.iter().map(Vec::len).sum(), name.span);
        let text = self.names.text(name.symbol).clone();
        let Some(close) = close else {
            self.report(
                Diagnostic::error(
                    lexical::UNTERMINATED_ARGUMENTS,
                    name.span,
                    format!("the arguments of the macro `{text}` are never closed"),
                )
                .help("add the missing `)`"),
            );
            return None;
        };
        let wanted = parameters.names.len();
        if wanted == 0 && list.len() == 1 && list[0].is_empty() {
            list.clear();
        }
        // The part for `...` may be left out altogether.
        if parameters.variadic && list.len() + 1 == wanted {
            list.push(Vec::new());
        }
        if list.len() != wanted {
            let given = list.len();
            let least = if parameters.variadic { "at least " } else { "" };
            let wanted = if parameters.variadic { wanted - 1 } else { wanted };
            let plural = if wanted == 1 { "" } else { "s" };
            let mut error = Diagnostic::error(
                lexical::ARGUMENT_COUNT,
                name.span,
                format!("the macro `{text}` takes {least}{wanted} argument{plural}, not {given}"),
            );
            if !definition.definition.is_none() {
                error = error.label(definition.definition, "defined here");
            }
            self.report(error);
            return None;
        }
        Some(Arguments { list, close })
    }

    /// Expands the macros in an argument.
    pub(super) fn expand_argument(
        &mut self,
        argument: &[PreprocessingToken],
        site: Span,
    ) -> Vec<PreprocessingToken> {
        let plain = argument.iter().all(|token| {
            token.kind != PreprocessingTokenKind::Word
                || token.painted
                || self.names.definition(token.symbol).is_none()
        });
        if plain {
            return argument.to_vec();
        }
        if self.argument_depth >= ARGUMENT_DEPTH_LIMIT {
            self.stop(Diagnostic::error(
                lexical::EXPANSION_LIMIT,
                site,
                format!("uses of macros nest more than {ARGUMENT_DEPTH_LIMIT} deep"),
            ));
            return Vec::new();
        }
        self.argument_depth += 1;
        self.spend(argument.len(), site);
        let expanded = self.expand_alone(argument);
        self.argument_depth -= 1;
        expanded
    }
}
