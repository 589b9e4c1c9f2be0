// SPDX-License-Identifier: Apache-2.0
//! The variables of `state` blocks and their types. A type is its text with the definitions of all names in it, so that two
//! types with equal texts have equal values.

use super::codes::{NOT_STATE, POINTER_IN_STATE};
use super::lexer::{KEYWORDS, Kind, Token, tokens};
use super::names::closing;
use crate::interface::{CText, Interface};
use source::{Diagnostic, Diagnostics, Span};
use std::collections::{BTreeMap, BTreeSet};

/// A variable that survives a reload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateVariable {
    /// Its name.
    pub name: String,
    /// Its type with all definitions that it needs.
    pub ty: String,
}

/// Returns the variables of all `state` blocks, and reports what is no variable.
pub fn state_variables(interface: &Interface, diagnostics: &mut Diagnostics) -> Vec<StateVariable> {
    let definitions = Definitions::of(interface);
    let mut variables = Vec::new();
    for text in &interface.state {
        let tokens: Vec<Token<'_>> =
            tokens(&text.text).into_iter().filter(|token| !token.is_directive).collect();
        let mut reader = Reader { text, tokens: &tokens, diagnostics, variables: Vec::new() };
        for (from, to) in split(&tokens, 0, tokens.len(), ";") {
            reader.declaration(from, to);
        }
        for Declared { name, ty, has_pointer, at } in reader.variables {
            let (ty, needs_pointer) = definitions.closed(&ty);
            if has_pointer || needs_pointer {
                let message = format!("`{name}` has a pointer, which a reload does not keep valid");
                let help = "keep values in an array of fixed size, and refer to them by index";
                diagnostics.push(Diagnostic::warning(POINTER_IN_STATE, at, message).help(help));
            }
            variables.push(StateVariable { name, ty });
        }
    }
    variables
}

/// Splits a range of tokens at separators outside of brackets. The last part is not empty.
fn split(tokens: &[Token<'_>], from: usize, to: usize, separator: &str) -> Vec<(usize, usize)> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (from, from);
    while at < to {
        if ["(", "[", "{"].iter().any(|open| tokens[at].is(open)) {
            at = closing(tokens, at, to).unwrap_or(to - 1);
        } else if tokens[at].is(separator) {
            parts.push((start, at));
            start = at + 1;
        }
        at += 1;
    }
    if start < to {
        parts.push((start, to));
    }
    parts
}

struct Declared {
    name: String,
    ty: String,
    has_pointer: bool,
    at: Span,
}

struct Reader<'r> {
    text: &'r CText,
    tokens: &'r [Token<'r>],
    diagnostics: &'r mut Diagnostics,
    variables: Vec<Declared>,
}

impl Reader<'_> {
    fn span(&self, from: usize, to: usize) -> Span {
        let start = self.text.span.start;
        let (first, last) = (self.tokens[from].start as u32, self.tokens[to - 1].end as u32);
        Span::new(self.text.span.file, start + first, start + last)
    }

    fn report(&mut self, from: usize, to: usize, what: &str) {
        let message = format!("a `state` block declares variables; this is {what}");
        let help = "move it into `c { }`";
        self.diagnostics
            .push(Diagnostic::error(NOT_STATE, self.span(from, to), message).help(help));
    }

    /// Reads a declaration without its `;`.
    fn declaration(&mut self, from: usize, to: usize) {
        if from == to {
            return;
        }
        let first = self.tokens[from];
        if first.is_word("typedef") || first.is_word("_Static_assert") {
            return;
        }
        let mut specifiers: Option<String> = None;
        for (start, end) in split(self.tokens, from, to, ",") {
            let equals = split(self.tokens, start, end, "=");
            let end = equals.first().map_or(end, |(_, end)| *end);
            if start == end {
                // The C compiler reports it.
                return;
            }
            let name = self.declared_name(start, end, specifiers.is_none());
            let Some(name) = name else {
                self.no_variable(start, end, specifiers.is_some());
                return;
            };
            let text = |from: usize, to: usize| joined(&self.tokens[from..to]);
            let before = text(start, name);
            let base = specifiers.get_or_insert_with(|| before.trim_end_matches(" *").to_string());
            let pointers = before.strip_prefix(base.as_str()).unwrap_or(&before).to_string();
            let ty = normal_type(&format!("{base} {pointers} {}", text(name + 1, end)));
            let has_pointer = self.tokens[start..end].iter().any(|token| token.is("*"));
            if ty.split(' ').any(|word| word == "const") && !has_pointer {
                continue;
            }
            let at = self.span(name, name + 1);
            let name = self.tokens[name].text.to_string();
            self.variables.push(Declared { name, ty, has_pointer, at });
        }
    }

    /// Returns the index of the name that a declarator declares; `None` if it declares no variable.
    fn declared_name(&self, from: usize, to: usize, has_specifiers: bool) -> Option<usize> {
        let mut found = None;
        let mut at = from;
        let mut tag = false;
        while at < to {
            let token = self.tokens[at];
            if token.is("(") {
                let close = closing(self.tokens, at, to)?;
                let after_attribute = at > from && is_attribute(&self.tokens[at - 1]);
                if !after_attribute && self.tokens.get(at + 1).is_some_and(|token| token.is("*")) {
                    let inner = (at + 1..close).find(|inner| {
                        self.tokens[*inner].kind == Kind::Identifier
                            && !KEYWORDS.contains(&self.tokens[*inner].text)
                    });
                    return inner;
                }
                if !after_attribute && at > from && found == Some(at - 1) {
                    return None;
                }
                at = close;
            } else if token.is("[") {
                at = closing(self.tokens, at, to)?;
            } else if token.is("{") {
                tag = false;
                at = closing(self.tokens, at, to)?;
            } else if token.kind == Kind::Identifier {
                let is_tag_word = ["struct", "union", "enum"].contains(&token.text);
                if is_tag_word {
                    tag = true;
                } else if std::mem::take(&mut tag) {
                    found = None;
                } else if !KEYWORDS.contains(&token.text) && !is_attribute(&token) {
                    found = Some(at);
                }
            }
            at += 1;
        }
        // A single word is a type alone.
        found.filter(|found| !has_specifiers || *found > from)
    }

    /// Reports what is neither a variable nor the definition of a type.
    fn no_variable(&mut self, from: usize, to: usize, follows_variable: bool) {
        let words = &self.tokens[from..to];
        let defines_type = ["struct", "union", "enum"].iter().any(|word| words[0].is_word(word));
        let is_function = words.iter().any(|token| token.is("("));
        if is_function {
            self.report(from, to, "a function");
        } else if follows_variable || !defines_type {
            self.report(from, to, "no variable");
        }
    }
}

fn is_attribute(token: &Token<'_>) -> bool {
    ["__attribute__", "_Alignas", "__extension__", "typeof", "__typeof__", "_Atomic"]
        .contains(&token.text)
}

fn joined(tokens: &[Token<'_>]) -> String {
    let words: Vec<&str> = tokens.iter().map(|token| token.text).collect();
    words.join(" ")
}

/// Returns a type without storage classes.
fn normal_type(text: &str) -> String {
    let words =
        text.split(' ').filter(|word| !matches!(*word, "" | "static" | "extern" | "register"));
    words.collect::<Vec<_>>().join(" ")
}

/// Definitions in the C texts: of `struct`, `union` and `enum` tags, of types and of macros.
#[derive(Default)]
struct Definitions {
    by_name: BTreeMap<String, Definition>,
}

struct Definition {
    text: String,
    has_pointer: bool,
}

impl Definitions {
    fn of(interface: &Interface) -> Definitions {
        let mut definitions = Definitions::default();
        for (name, replacement) in &interface.defines {
            definitions.add(name, &tokens(replacement), false);
        }
        for text in interface.shared.iter().chain(&interface.state) {
            definitions.read(&text.text);
        }
        definitions
    }

    fn add(&mut self, name: &str, tokens: &[Token<'_>], is_type: bool) {
        let mut depth = 0usize;
        let mut has_pointer = false;
        for token in tokens {
            match token.text {
                "[" => depth += 1,
                "]" => depth = depth.saturating_sub(1),
                "*" => has_pointer |= is_type && depth == 0,
                _ => {}
            }
        }
        self.by_name.insert(name.to_string(), Definition { text: joined(tokens), has_pointer });
    }

    fn read(&mut self, text: &str) {
        let tokens = tokens(text);
        for at in 0..tokens.len() {
            let token = tokens[at];
            let is_tag = ["struct", "union", "enum"].iter().any(|word| token.is_word(word));
            match (tokens.get(at + 1), tokens.get(at + 2)) {
                (Some(name), Some(open)) if is_tag && open.is("{") => {
                    let close = closing(&tokens, at + 2, tokens.len()).unwrap_or(at + 2);
                    self.add(name.text, &tokens[at..=close], true);
                }
                (Some(define), Some(name))
                    if token.is("#") && token.is_directive && define.is_word("define") =>
                {
                    let is_next = |token: &Token<'_>| !token.is_directive || token.is("#");
                    let line = &tokens[at + 3..];
                    let end = line.iter().position(is_next).unwrap_or(line.len());
                    self.add(name.text, &line[..end], false);
                }
                _ if token.is_word("typedef") => {
                    let end =
                        split(&tokens, at, tokens.len(), ";").first().map_or(at, |part| part.1);
                    let mut names =
                        tokens[at..end].iter().filter(|token| token.kind == Kind::Identifier);
                    if let Some(name) = names.next_back() {
                        self.add(name.text, &tokens[at..end], true);
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns a type followed by the definitions that it needs, each once, and whether one of them has a pointer.
    fn closed(&self, ty: &str) -> (String, bool) {
        let mut text = ty.to_string();
        let mut has_pointer = false;
        let mut known = BTreeSet::new();
        let mut waiting: Vec<&str> = ty.split(' ').collect();
        while let Some(word) = waiting.pop() {
            if let Some(definition) = self.by_name.get(word).filter(|_| known.insert(word)) {
                text.push_str("; ");
                text.push_str(&definition.text);
                has_pointer |= definition.has_pointer;
                waiting.extend(definition.text.split(' '));
            }
        }
        (text, has_pointer)
    }
}
