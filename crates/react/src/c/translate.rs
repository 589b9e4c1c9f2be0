// SPDX-License-Identifier: Apache-2.0
//! Translates `${v}` and `${f}` in C texts to macros, and alternatives of malleable fields to their indices. Every line and
//! column stays where it is.

use super::codes::{UNKNOWN_ALTERNATIVE, UNKNOWN_MALLEABLE};
use super::lexer::{Kind, Token, tokens};
use super::names::{closing, path_at};
use crate::interface::{CText, Interface, MalleableField, PathStep, path_text};
use source::{Diagnostic, Diagnostics, Span, nearest};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

const ASSIGNMENTS: [&str; 11] = ["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="];

/// Stands in C for a malleable that does not exist, so that other mistakes are found too.
pub const UNKNOWN: &str = "$$";

/// What the texts of a program can name.
pub struct Names<'i> {
    interface: &'i Interface,
    /// First steps of alternatives, such as `hdr`.
    roots: HashSet<Arc<str>>,
}

impl<'i> Names<'i> {
    /// Collects the names of an interface.
    pub fn new(interface: &'i Interface) -> Names<'i> {
        let alternatives = interface.fields.iter().flat_map(|field| &field.alternatives);
        let roots = alternatives.filter_map(|text| text.split(['.', '[']).next());
        Names { interface, roots: roots.map(Arc::from).collect() }
    }

    fn field(&self, name: &str) -> Option<&'i MalleableField> {
        self.interface.fields.iter().find(|field| &*field.name == name)
    }

    fn has_value(&self, name: &str) -> bool {
        self.interface.values.iter().any(|value| &*value.name == name)
    }
}

/// Returns a text with `${v}` replaced, and reports malleables and alternatives that do not exist.
pub fn translate(text: &CText, names: &Names<'_>, diagnostics: &mut Diagnostics) -> String {
    let tokens = tokens(&text.text);
    let mut translation =
        Translation { text, names, tokens: &tokens, edits: Vec::new(), diagnostics };
    translation.malleables();
    translation.alternatives();
    edited(&text.text, &tokens, translation.edits)
}

/// Returns a text with edits of ranges that do not overlap. An edit is padded with blanks and keeps the ends of lines, so what
/// follows stays in its place. Compilers count the columns of the result alike: it has no tabs outside of literals, and in
/// comments no characters of several bytes.
fn edited(text: &str, tokens: &[Token<'_>], mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let mut edits = edits.into_iter().peekable();
    let mut result = Vec::with_capacity(text.len() + 16);
    let bytes = text.as_bytes();
    let blank = |bytes: &[u8], result: &mut Vec<u8>| {
        result.extend(bytes.iter().map(|byte| match *byte {
            b'\t' => b' ',
            0x80.. => b'?',
            byte => byte,
        }));
    };
    let mut at = 0;
    for token in tokens.iter().filter(|token| token.end > token.start) {
        if token.start < at {
            continue;
        }
        blank(&bytes[at..token.start], &mut result);
        at = token.end;
        match edits.next_if(|(range, _)| range.start == token.start) {
            None => result.extend(&bytes[token.start..token.end]),
            Some((range, with)) => {
                result.extend(with.as_bytes());
                let rest = bytes.get(range.start + with.len()..range.end).unwrap_or_default();
                result.extend(rest.iter().map(|byte| if *byte == b'\n' { b'\n' } else { b' ' }));
                at = range.end;
            }
        }
    }
    blank(&bytes[at..], &mut result);
    String::from_utf8_lossy(&result).into_owned()
}

struct Translation<'t, 'i> {
    text: &'t CText,
    names: &'t Names<'i>,
    tokens: &'t [Token<'t>],
    edits: Vec<(Range<usize>, String)>,
    diagnostics: &'t mut Diagnostics,
}

impl<'i> Translation<'_, 'i> {
    fn span(&self, first: usize, end: usize) -> Span {
        let start = self.text.span.start;
        let (from, to) = (self.tokens[first].start, self.tokens[end - 1].end);
        Span::new(self.text.span.file, start + from as u32, start + to as u32)
    }

    fn replace(&mut self, first: usize, end: usize, with: String) {
        self.edits.push((self.tokens[first].start..self.tokens[end - 1].end, with));
    }

    /// Replaces `${v}` by the macro `$v`, which is its value, or `$$v`, which can be assigned.
    fn malleables(&mut self) {
        for at in 0..self.tokens.len() {
            let token = self.tokens[at];
            if token.kind != Kind::Malleable {
                continue;
            }
            if !self.names.has_value(token.text) && self.names.field(token.text).is_none() {
                self.report_unknown(at);
                self.replace(at, at + 1, UNKNOWN.to_string());
                continue;
            }
            let prefix = if self.is_assigned(at) { "$$" } else { "$" };
            self.replace(at, at + 1, format!("{prefix}{}", token.text));
        }
    }

    fn is_assigned(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map(|before| self.tokens[before]);
        let after = self.tokens[at + 1..].iter().find(|token| !token.is(")"));
        let is_step = |token: &Token<'_>| token.is("++") || token.is("--");
        let is_assignment =
            |token: &Token<'_>| token.kind == Kind::Punctuator && ASSIGNMENTS.contains(&token.text);
        before.is_some_and(|token| is_step(&token))
            || after.is_some_and(|token| is_step(token) || is_assignment(token))
    }

    fn report_unknown(&mut self, at: usize) {
        let name = self.tokens[at].text;
        let interface = self.names.interface;
        let values = interface.values.iter().map(|value| &*value.name);
        let known: Vec<&str> =
            values.chain(interface.fields.iter().map(|field| &*field.name)).collect();
        let message = format!("`${{{name}}}` is not a malleable value or field");
        let mut diagnostic = Diagnostic::error(UNKNOWN_MALLEABLE, self.span(at, at + 1), message);
        let table = interface.tables.iter().find(|table| &*table.name == name);
        if let Some(table) = table {
            diagnostic = diagnostic.label(table.span, "a malleable table").help(format!(
                "write entries of the table by its functions, such as {name}_add_...(...) or {name}_del(handle)"
            ));
        } else if let Some(nearest) = nearest(name, known.iter().copied()) {
            diagnostic = diagnostic.help(format!("did you mean `${{{nearest}}}`?"));
        } else if known.is_empty() {
            diagnostic = diagnostic.help(format!("declare it: `malleable value {name} {{ ... }}`"));
        } else {
            let known: Vec<String> = known.iter().map(|name| format!("${{{name}}}")).collect();
            diagnostic = diagnostic.note(format!("malleables: {}", known.join(", ")));
        }
        self.diagnostics.push(diagnostic);
    }

    fn field_at(&self, at: usize) -> Option<&'i MalleableField> {
        let token = self.tokens.get(at).filter(|token| token.kind == Kind::Malleable)?;
        self.names.field(token.text)
    }

    /// Replaces alternatives that are assigned to malleable fields, compared with them, or labels of a `switch` on one.
    fn alternatives(&mut self) {
        let mut depth = 0usize;
        let mut switches: Vec<(usize, Option<&'i MalleableField>)> = Vec::new();
        let mut opening: Option<(usize, Option<&'i MalleableField>)> = None;
        for at in 0..self.tokens.len() {
            let token = self.tokens[at];
            if token.is("{") {
                depth += 1;
                if let Some((_, field)) = opening.take_if(|(brace, _)| *brace == at) {
                    switches.push((depth, field));
                }
            } else if token.is("}") {
                switches.pop_if(|(of, _)| *of == depth);
                depth = depth.saturating_sub(1);
            } else if token.is_word("switch") {
                opening = self.switch_at(at);
            } else if token.is_word("case") {
                if let Some((_, Some(field))) = switches.last() {
                    let colon = (at..self.tokens.len()).find(|end| self.tokens[*end].is(":"));
                    self.alternative(field, at + 1, colon.unwrap_or(at + 1));
                }
            } else if let Some(field) = self.field_at(at) {
                match self.tokens.get(at + 1) {
                    Some(next) if next.is("=") => {
                        let end = self.expression_end(at + 2);
                        self.alternative(field, at + 2, end);
                    }
                    Some(next) if next.is("==") || next.is("!=") => {
                        let end = self.operand_end(at + 2);
                        self.alternative(field, at + 2, end);
                    }
                    _ => {}
                }
            } else if let Some(path) = path_at(self.tokens, at) {
                let compares = |token: &Token<'_>| token.is("==") || token.is("!=");
                if self.tokens.get(path.end).is_some_and(compares)
                    && let Some(field) = self.field_at(path.end + 1)
                {
                    self.alternative(field, at, path.end);
                }
            }
        }
    }

    /// Returns the brace that opens a `switch` and the malleable field that it tests.
    fn switch_at(&self, at: usize) -> Option<(usize, Option<&'i MalleableField>)> {
        let close = closing(self.tokens, at + 1, self.tokens.len())?;
        let field = (close == at + 3).then(|| self.field_at(at + 2)).flatten();
        Some((close + 1, field))
    }

    /// Returns the token behind the expression that begins at `from`.
    fn expression_end(&self, from: usize) -> usize {
        let mut at = from;
        while let Some(token) = self.tokens.get(at) {
            let opens = token.is("(") || token.is("[") || token.is("{");
            let ends = [";", ",", ")", "]", "}"].iter().any(|end| token.is(end));
            if opens {
                let close = closing(self.tokens, at, self.tokens.len());
                at = close.unwrap_or(self.tokens.len() - 1) + 1;
            } else if ends {
                break;
            } else {
                at += 1;
            }
        }
        at
    }

    /// Returns the token behind the operand of `==` that begins at `from`: a path, or an expression in parentheses.
    fn operand_end(&self, from: usize) -> usize {
        if self.tokens.get(from).is_some_and(|token| token.is("(")) {
            return closing(self.tokens, from, self.tokens.len()).map_or(from, |close| close + 1);
        }
        match self.field_at(from) {
            Some(_) => from + 1,
            None => path_at(self.tokens, from).map_or(from, |path| path.end),
        }
    }

    /// Replaces the alternatives that are the value of an expression. Other expressions are indices, which C computes.
    fn alternative(&mut self, field: &'i MalleableField, from: usize, to: usize) {
        let Some(first) = self.tokens.get(from).filter(|_| from < to) else { return };
        if first.is("(") && closing(self.tokens, from, to) == Some(to - 1) {
            return self.alternative(field, from + 1, to - 1);
        }
        if let Some((question, colon)) = self.choice(from, to) {
            self.alternative(field, question + 1, colon);
            return self.alternative(field, colon + 1, to);
        }
        if let Some(other) = self.field_at(from) {
            let is_assigned = self.tokens.get(from + 1).is_some_and(|token| token.is("="));
            if from + 1 == to || is_assigned {
                self.check_same_alternatives(field, other, from);
            }
            return;
        }
        let Some(path) = path_at(self.tokens, from).filter(|path| path.end == to) else { return };
        let written = self.expanded(&path.steps);
        let index = field.alternatives.iter().position(|known| **known == *written);
        match index {
            Some(index) => self.replace(from, to, index.to_string()),
            None if path.steps.len() > 1 => self.report_alternative(field, &path.steps, from, to),
            // A variable that holds an index.
            None => {}
        }
    }

    /// Returns the text of a path. A macro of the P4 text is replaced.
    fn expanded(&self, steps: &[PathStep]) -> String {
        let written = path_text(steps);
        let defines = &self.names.interface.defines;
        match defines.iter().find(|(name, _)| *name == written) {
            Some((_, replacement)) => {
                replacement.chars().filter(|character| !character.is_whitespace()).collect()
            }
            None => written,
        }
    }

    /// Returns `?` and `:` of the conditional expression in a range.
    fn choice(&self, from: usize, to: usize) -> Option<(usize, usize)> {
        let mut at = from;
        let mut question = None;
        let mut nested = 0usize;
        while at < to {
            let token = self.tokens[at];
            if token.is("(") || token.is("[") || token.is("{") {
                at = closing(self.tokens, at, to)?;
            } else if token.is("=") {
                return None;
            } else if token.is("?") {
                match question {
                    None => question = Some(at),
                    Some(_) => nested += 1,
                }
            } else if token.is(":") {
                match nested.checked_sub(1) {
                    None => return Some((question?, at)),
                    Some(left) => nested = left,
                }
            }
            at += 1;
        }
        None
    }

    fn check_same_alternatives(
        &mut self,
        field: &MalleableField,
        other: &MalleableField,
        at: usize,
    ) {
        if field.alternatives == other.alternatives {
            return;
        }
        let message = format!("`{}` and `{}` have different alternatives", field.name, other.name);
        let alternatives = |field: &MalleableField| {
            format!("alternatives of `{}`: {}", field.name, field.alternatives.join(", "))
        };
        self.diagnostics.push(
            Diagnostic::error(UNKNOWN_ALTERNATIVE, self.span(at, at + 1), message)
                .note(alternatives(field))
                .note(alternatives(other))
                .help("name the alternative instead"),
        );
    }

    /// Reports a path that is not an alternative, unless its root is a variable of C.
    fn report_alternative(
        &mut self,
        field: &MalleableField,
        steps: &[PathStep],
        from: usize,
        to: usize,
    ) {
        let written = path_text(steps);
        let nearest = nearest(&written, field.alternatives.iter().map(|known| &**known));
        let PathStep::Name(root) = &steps[0] else { return };
        if nearest.is_none() && !self.names.roots.contains(root) {
            return;
        }
        let message = format!("`{written}` is not an alternative of `{}`", field.name);
        let mut diagnostic = Diagnostic::error(UNKNOWN_ALTERNATIVE, self.span(from, to), message)
            .label(field.span, "declared here")
            .note(format!("alternatives: {}", field.alternatives.join(", ")));
        diagnostic = match nearest {
            Some(nearest) => diagnostic.help(format!("did you mean `{nearest}`?")),
            None => diagnostic.help(format!("write an alternative, or add `{written}` to `alts`")),
        };
        self.diagnostics.push(diagnostic);
        self.replace(from, to, "0".to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::{Names, translate};
    use crate::interface::{CText, Interface, MalleableField, MalleableValue, Scalar};
    use source::{Diagnostics, FileId, Span};
    use std::sync::Arc;

    fn interface() -> Interface {
        let (name, span, ty): (Arc<str>, _, _) = ("v".into(), Span::NONE, Scalar::unsigned(8));
        let alternatives = ["hdr.a.x", "hdr.b.y"].map(Arc::from).to_vec();
        let value = MalleableValue { name, span, ty, initial: 0 };
        let field = MalleableField { name: "f".into(), span, ty, alternatives, initial: 0 };
        Interface { values: vec![value], fields: vec![field], ..Interface::default() }
    }

    fn translated(text: &str) -> String {
        let interface = interface();
        let span = Span::new(FileId(0), 0, text.len() as u32);
        let text = CText { text: text.into(), span };
        translate(&text, &Names::new(&interface), &mut Diagnostics::new())
    }

    #[test]
    fn what_follows_a_malleable_keeps_its_column() {
        assert_eq!(translated("${v} = ${ v };\tx"), "$$v  = $v    ; x");
        assert_eq!(translated("${f} = hdr.b.y; z"), "$$f  = 1      ; z");
        assert_eq!(translated("${f} == hdr .\n a.x; z"), "$f   == 0    \n    ; z");
        assert_eq!(translated("f(${v}) == ++${v}"), "f($v  ) == ++$$v ");
        assert_eq!(translated("\"${v}\t\" /* ä\t */"), "\"${v}\t\" /* ??  */");
    }

    #[test]
    fn random_texts_keep_lines_and_length() {
        const PIECES: [&str; 24] = [
            "${v}",
            "${f}",
            "${x}",
            "${",
            "(",
            ")",
            "{",
            "}",
            ";",
            "=",
            "==",
            "?",
            ":",
            "hdr.a.x",
            "hdr . b\n.y",
            "hdr.c",
            ",",
            "/*",
            "*/",
            "//",
            "\n",
            "\"",
            "switch(${f}){",
            "case ",
        ];
        for seed in testing::seeds(5000) {
            let mut choices = testing::Choices::from_seed(seed);
            let count = choices.below(20);
            let text: String = (0..count).map(|_| PIECES[choices.below(PIECES.len())]).collect();
            let found = translated(&text);
            let ends = |text: &str| -> Vec<usize> {
                text.bytes()
                    .enumerate()
                    .filter(|(_, byte)| *byte == b'\n')
                    .map(|(at, _)| at)
                    .collect()
            };
            assert_eq!(
                (found.len(), ends(&found)),
                (text.len(), ends(&text)),
                "seed {seed}: {text}"
            );
        }
    }
}
