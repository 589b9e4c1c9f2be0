// SPDX-License-Identifier: Apache-2.0
//! Reads programs of several files: each file is read once, and its declarations replace its first
//! `include` stands. A [`Loader`] supplies the files.

use super::ast::{Declaration, Include, Program};
use super::codes;
use super::lexer::lex;
use super::parser::{ParsedFile, parse_tokens};
use source::{Diagnostic, Diagnostics, FileId, SourceMap, Span};
use std::collections::HashMap;

/// How many files a program may have.
pub const FILE_LIMIT: usize = 1000;

/// How much text a program may have, in bytes.
pub const TEXT_LIMIT_BYTES: u64 = 64 << 20;

/// Where the text of included files comes from.
pub trait Loader {
    /// The text of the file at `path`, which is relative to where the main file's name is; `None` if
    /// there is no such file.
    ///
    /// # Errors
    ///
    /// Why a file that is there cannot be read.
    fn load(&self, path: &str) -> Result<Option<String>, String>;
}

/// No files: every `include` is an error.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Loader for NoFiles {
    fn load(&self, _: &str) -> Result<Option<String>, String> {
        Ok(None)
    }
}

/// A file in the chain of includes from the main file.
struct OpenFile {
    path: String,
    /// The `include` that is being followed.
    include: Span,
}

pub(super) struct Reader<'a> {
    pub map: &'a mut SourceMap,
    pub loader: &'a dyn Loader,
    pub diagnostics: Diagnostics,
    pub next_id: u32,
    loaded: HashMap<String, FileId>,
    chain: Vec<OpenFile>,
    bytes: u64,
    /// A limit was reached and reported.
    stopped: bool,
}

impl<'a> Reader<'a> {
    pub fn new(map: &'a mut SourceMap, loader: &'a dyn Loader) -> Reader<'a> {
        Reader {
            map,
            loader,
            diagnostics: Diagnostics::new(),
            next_id: 0,
            loaded: HashMap::new(),
            chain: Vec::new(),
            bytes: 0,
            stopped: false,
        }
    }

    /// The program whose main file is `text`.
    pub fn program(mut self, name: &str, text: String) -> (Program, Diagnostics) {
        let mut program = Program::default();
        let path = normalized(name);
        let file = self.map.add(name, text);
        self.loaded.insert(path.clone(), file);
        self.chain.push(OpenFile { path, include: Span::NONE });
        self.file(file, &mut program.declarations, &mut program.includes);
        program.node_count = self.next_id;
        (program, self.diagnostics)
    }

    fn file(
        &mut self,
        file: FileId,
        declarations: &mut Vec<Declaration>,
        includes: &mut Vec<Include>,
    ) {
        self.bytes = self.bytes.saturating_add(self.map.text(file).len() as u64);
        let mut found = Diagnostics::new();
        let lexed = lex(self.map, file, &mut found);
        let parsed = parse_tokens(self.map, lexed, &mut self.next_id, &mut found);
        self.diagnostics.append(super::in_order_of_place(found));
        let ParsedFile { declarations: own, includes: wanted, .. } = parsed;
        let mut own = own.into_iter();
        let mut taken = 0;
        for (before, include) in wanted {
            declarations.extend(own.by_ref().take(before - taken));
            taken = before;
            self.include(&include, declarations, includes);
        }
        declarations.extend(own);
    }

    fn include(
        &mut self,
        include: &Include,
        declarations: &mut Vec<Declaration>,
        includes: &mut Vec<Include>,
    ) {
        includes.push(include.clone());
        if self.stopped {
            return;
        }
        let from = self.chain.last().map_or("", |open| open.path.as_str());
        let path = relative_to(from, &include.file);
        if let Some(at) = self.chain.iter().position(|open| open.path == path) {
            self.report_cycle(at, include);
            return;
        }
        if self.loaded.contains_key(&path) {
            return;
        }
        if self.loaded.len() >= FILE_LIMIT || self.bytes > TEXT_LIMIT_BYTES {
            self.stopped = true;
            let message = format!(
                "this program has more than {FILE_LIMIT} files or {} MiB of text",
                TEXT_LIMIT_BYTES >> 20
            );
            self.diagnostics.push(Diagnostic::error(codes::INCLUDE_LIMIT, include.span, message));
            return;
        }
        let text = match self.loader.load(&path) {
            Ok(Some(text)) => text,
            Ok(None) => {
                let diagnostic = Diagnostic::error(
                    codes::INCLUDE_NOT_FOUND,
                    include.span,
                    format!("there is no file `{path}`"),
                )
                .help("the name is relative to the file that includes");
                self.diagnostics.push(diagnostic);
                return;
            }
            Err(reason) => {
                let message = format!("`{path}` cannot be read: {reason}");
                let code = codes::INCLUDE_UNREADABLE;
                self.diagnostics.push(Diagnostic::error(code, include.span, message));
                return;
            }
        };
        let file = self.map.add(path.as_str(), text);
        self.loaded.insert(path.clone(), file);
        self.chain.push(OpenFile { path, include: include.span });
        // A chain of includes is as deep as there are files.
        stacker::maybe_grow(256 * 1024, 2 * 1024 * 1024, || {
            self.file(file, declarations, includes);
        });
        self.chain.pop();
    }

    fn report_cycle(&mut self, at: usize, include: &Include) {
        let names: Vec<&str> = self.chain[at..]
            .iter()
            .chain(&self.chain[at..=at])
            .map(|open| open.path.as_str())
            .collect();
        let mut diagnostic = Diagnostic::error(
            codes::INCLUDE_CYCLE,
            include.span,
            format!("`{}` includes itself", names[0]),
        )
        .note(format!("each includes the next: {}", names.join(" -> ")))
        .help("move what both need into a file of its own");
        for open in &self.chain[at + 1..] {
            diagnostic = diagnostic.label(open.include, format!("includes `{}`", open.path));
        }
        self.diagnostics.push(diagnostic);
    }
}

/// The path of a file relative to the file `from`.
fn relative_to(from: &str, name: &str) -> String {
    if name.starts_with('/') {
        return normalized(name);
    }
    match from.rfind('/') {
        Some(end) => normalized(&format!("{}/{name}", &from[..end])),
        None => normalized(name),
    }
}

/// The path without `.` and, where it can be said, without `..`.
fn normalized(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if path.starts_with('/') => {}
            part => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}
