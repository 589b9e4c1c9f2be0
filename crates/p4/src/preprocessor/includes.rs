// SPDX-License-Identifier: Apache-2.0
//! Opening and closing files: the main one, and those that `#include` names, searched beside the
//! including file, in the include directories and among the built-in interfaces.

use super::{
    INCLUDE_COUNT_LIMIT, INCLUDE_DEPTH_LIMIT, PreprocessingToken, PreprocessingTokenKind,
    Preprocessor, Reader, TEXT_LIMIT_BYTES,
};
use crate::codes::lexical;
use crate::interfaces::{interface, interface_names};
use crate::lexer::cursor::Cursor;
use crate::token::TokenKind;
use source::{Diagnostic, FileId, Span};

/// The beginning of the names of built-in files in messages. No path of a user's file begins like this.
pub const BUILT_IN: &str = "<built-in>/";

/// A file as `#include` names it.
struct IncludeName {
    name: String,
    /// In double quotes: search beside the including file first.
    quoted: bool,
    span: Span,
}

impl Preprocessor<'_> {
    /// Starts reading a file that is in the map already.
    pub(super) fn open_main(&mut self, file: FileId) {
        let name = self.map.name(file).to_string();
        self.loaded.entry(name).or_insert(file);
        self.open(file, Span::NONE);
    }

    fn open(&mut self, file: FileId, included_at: Span) {
        let text = self.map.text(file).clone();
        self.read_bytes = self.read_bytes.saturating_add(text.len() as u64);
        if self.read_bytes > TEXT_LIMIT_BYTES || u32::try_from(text.len()).is_err() {
            self.stop(Diagnostic::error(
                lexical::EXPANSION_LIMIT,
                included_at,
                format!("the program has more than {} MiB of text", TEXT_LIMIT_BYTES >> 20),
            ));
            return;
        }
        let verbatim = self.foreign.verbatim(&text);
        let cursor =
            Cursor::new(file, text).with_verbatim(verbatim).with_c_operators(self.foreign.is_c());
        self.readers.push(Reader { cursor, conditions: Vec::new(), included_at });
    }

    /// Closes the file at its end.
    pub(super) fn close_file(&mut self) {
        if let Some(reader) = self.readers.pop() {
            self.report_open_conditions(&reader.conditions);
        }
    }

    /// Applies `#include`; `text_start` is where the text after the word begins.
    pub(super) fn include(
        &mut self,
        directive: Span,
        text_start: usize,
        rest: &[PreprocessingToken],
    ) {
        let Some(wanted) = self.include_name(directive, text_start, rest) else {
            return;
        };
        let span = directive.to(wanted.span);
        if self.collecting {
            self.report(Diagnostic::error(
                lexical::INCLUDE_IN_ARGUMENTS,
                span,
                "a file cannot be included between the parentheses of a macro's use",
            ));
            return;
        }
        if self.readers.len() > INCLUDE_DEPTH_LIMIT {
            self.report_too_deep(span);
            return;
        }
        self.include_count += 1;
        if self.include_count > INCLUDE_COUNT_LIMIT {
            self.stop(Diagnostic::error(
                lexical::INCLUDE_TOO_DEEP,
                span,
                format!("more than {INCLUDE_COUNT_LIMIT} files are included"),
            ));
            return;
        }
        match self.find(&wanted) {
            Ok(Some(file)) => {
                if !self.once.contains(&file) {
                    self.open(file, span);
                }
            }
            Ok(None) => self.report_missing(&wanted),
            Err((path, reason)) => self.report(Diagnostic::error(
                lexical::INCLUDE_UNREADABLE,
                wanted.span,
                format!("`{path}` cannot be read: {reason}"),
            )),
        }
    }

    /// Reads the file name after `#include`, expanding macros if there is none yet.
    fn include_name(
        &mut self,
        directive: Span,
        text_start: usize,
        rest: &[PreprocessingToken],
    ) -> Option<IncludeName> {
        let (Some(first), Some(last)) = (rest.first(), rest.last()) else {
            return self.malformed_include(directive.after());
        };
        if first.kind == PreprocessingTokenKind::String {
            let name = self.names.text(first.symbol).to_string();
            self.nothing_more("#include \"file\"", &rest[1..]);
            return self.nonempty(IncludeName { name, quoted: true, span: first.span });
        }
        if first.is_symbol(TokenKind::OpenAngle) {
            // From the text, not the tokens: a name may hold `//` or blanks.
            let text = self.map.text(directive.file);
            let start = (first.span.end as usize).max(text_start);
            let line = text[start..].lines().next().unwrap_or("");
            let Some(length) = line.find('>') else {
                return self.malformed_include(first.span.to(last.span));
            };
            let name = line[..length].to_owned();
            let end = start + length + 1;
            let span = Span { end: end as u32, ..first.span };
            let after: Vec<PreprocessingToken> =
                rest.iter().filter(|token| token.span.start as usize >= end).copied().collect();
            self.nothing_more("#include <file>", &after);
            return self.nonempty(IncludeName { name, quoted: false, span });
        }
        let span = first.span.to(last.span);
        let expanded = self.expand_alone(rest);
        match expanded.first() {
            Some(token) if token.kind == PreprocessingTokenKind::String => {
                let name = self.names.text(token.symbol).to_string();
                self.nonempty(IncludeName { name, quoted: true, span })
            }
            Some(token) if token.is_symbol(TokenKind::OpenAngle) => {
                let mut name = String::new();
                for token in &expanded[1..] {
                    if token.is_symbol(TokenKind::CloseAngle) {
                        return self.nonempty(IncludeName { name, quoted: false, span });
                    }
                    if token.spaced && !name.is_empty() {
                        name.push(' ');
                    }
                    name.push_str(&self.spelled(*token));
                }
                self.malformed_include(span)
            }
            _ => self.malformed_include(span),
        }
    }

    fn nonempty(&mut self, name: IncludeName) -> Option<IncludeName> {
        if name.name.trim().is_empty() {
            return self.malformed_include(name.span);
        }
        Some(name)
    }

    fn malformed_include(&mut self, span: Span) -> Option<IncludeName> {
        self.report(
            Diagnostic::error(
                lexical::MALFORMED_INCLUDE,
                span,
                "`#include` needs a file in double quotes or angle brackets",
            )
            .help("write `#include \"file.p4\"` or `#include <core.p4>`"),
        );
        None
    }

    /// Loads a file, at most once; an error has the path and the reason.
    fn find(&mut self, wanted: &IncludeName) -> Result<Option<FileId>, (String, String)> {
        for path in self.candidates(&wanted.name, wanted.quoted, wanted.span.file) {
            if let Some(file) = self.loaded.get(&path) {
                return Ok(Some(*file));
            }
            let text = match path.strip_prefix(BUILT_IN) {
                Some(name) => interface(name).map(str::to_owned),
                None => match self.loader.load(&path) {
                    Ok(text) => text,
                    Err(reason) => return Err((path, reason)),
                },
            };
            if let Some(text) = text {
                let file = self.map.add(path.as_str(), text);
                self.note_library(file, wanted.span.file, &wanted.name, wanted.quoted);
                self.loaded.insert(path, file);
                return Ok(Some(file));
            }
        }
        Ok(None)
    }

    /// Returns the paths to try, in order.
    fn candidates(&self, name: &str, quoted: bool, from: FileId) -> Vec<String> {
        if is_absolute(name) {
            return vec![name.to_owned()];
        }
        let mut paths = Vec::new();
        if quoted {
            paths.push(format!("{}{name}", directory(self.map.name(from))));
        }
        if self.map.name(from).starts_with(BUILT_IN) {
            // The built-in interfaces belong together: a user's file never comes between them.
            paths.push(format!("{BUILT_IN}{name}"));
        }
        for dir in &self.options.include_dirs {
            let slash = if dir.is_empty() || dir.ends_with('/') { "" } else { "/" };
            paths.push(format!("{dir}{slash}{name}"));
        }
        paths.push(format!("{BUILT_IN}{name}"));
        paths
    }

    fn report_missing(&mut self, wanted: &IncludeName) {
        let mut searched = Vec::new();
        if !is_absolute(&wanted.name) {
            if wanted.quoted {
                let beside = directory(self.map.name(wanted.span.file)).trim_end_matches('/');
                let beside = if beside.is_empty() { "the current directory" } else { beside };
                searched.push(beside.to_owned());
            }
            searched.extend(self.options.include_dirs.iter().cloned());
            searched.push("the built-in interfaces".to_owned());
        }
        let mut error = Diagnostic::error(
            lexical::INCLUDE_NOT_FOUND,
            wanted.span,
            format!("there is no file `{}`", wanted.name),
        );
        if !searched.is_empty() {
            error = error.note(format!("searched: {}", searched.join(", ")));
        }
        error = match self.near_file(wanted) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help("add the directory it is in with `-I DIRECTORY`"),
        };
        self.report(error);
    }

    /// Returns a name that exists and is probably meant.
    fn near_file(&self, wanted: &IncludeName) -> Option<String> {
        let name = wanted.name.as_str();
        let base = name.rsplit('/').next().unwrap_or(name);
        let trials = [
            format!("{name}.p4"),
            name.trim().to_owned(),
            base.to_owned(),
            name.to_lowercase(),
            name.replace('-', "_"),
            name.replace('_', "-"),
        ];
        for trial in trials {
            let exists = trial != name
                && self.candidates(&trial, true, wanted.span.file).into_iter().any(
                    |path| match path.strip_prefix(BUILT_IN) {
                        Some(name) => interface(name).is_some(),
                        None => matches!(self.loader.load(&path), Ok(Some(_))),
                    },
                );
            if exists {
                return Some(trial);
            }
        }
        source::nearest(name, interface_names()).map(str::to_owned)
    }

    /// Reports that too many files are open, most often because one includes itself.
    fn report_too_deep(&mut self, span: Span) {
        let open: Vec<(FileId, Span)> =
            self.readers.iter().map(|reader| (reader.cursor.file(), reader.included_at)).collect();
        // The innermost file, and where it was open before: the chain between repeats.
        let last = open.len().saturating_sub(1);
        let cycle = open[..last].iter().rposition(|(file, _)| *file == open[last].0);
        let mut error = match cycle {
            Some(start) => {
                let chain: Vec<String> = open[start..]
                    .iter()
                    .map(|(file, _)| self.map.name(*file).to_string())
                    .collect();
                Diagnostic::error(
                    lexical::INCLUDE_TOO_DEEP,
                    span,
                    format!("`{}` includes itself without end", chain[0]),
                )
                .note(format!("the chain: {}", chain.join(" -> ")))
                .help("put `#ifndef NAME`, `#define NAME` and `#endif` around what is in the file")
            }
            None => Diagnostic::error(
                lexical::INCLUDE_TOO_DEEP,
                span,
                format!("included files nest more than {INCLUDE_DEPTH_LIMIT} deep"),
            ),
        };
        if let Some((_, first)) = open.get(1).filter(|(_, first)| *first != span) {
            error = error.label(*first, "the outermost `#include`");
        }
        self.stop(error);
    }
}

/// Returns the directory part of a path with its final slash; empty for the current directory.
fn directory(path: &str) -> &str {
    path.rfind('/').map_or("", |at| &path[..=at])
}

fn is_absolute(name: &str) -> bool {
    name.starts_with('/')
}
