// SPDX-License-Identifier: Apache-2.0
//! The source map: file names and texts, byte spans, and lines and columns computed on demand.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A file of a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A byte range `start..end` in one file. Spans of text that a macro produced point at the place
/// where the macro was used; [`SourceMap::macro_use`] tells which macro that was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span for things that no source wrote. It renders without a snippet.
    pub const NONE: Span = Span { file: FileId(u32::MAX), start: 0, end: 0 };

    /// The span from `start` to `end` (bytes) of `file`.
    pub fn new(file: FileId, start: u32, end: u32) -> Span {
        Span { file, start, end }
    }

    /// Whether this is [`Span::NONE`].
    pub fn is_none(self) -> bool {
        self.file.0 == u32::MAX
    }

    /// The smallest span that covers both; when they are in different files, `self`.
    pub fn to(self, other: Span) -> Span {
        if self.is_none() {
            return other;
        }
        if self.file != other.file {
            return self;
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The empty span at the end of this one.
    pub fn after(self) -> Span {
        Span { start: self.end, ..self }
    }
}

/// A macro expansion: where tokens at a use site really come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MacroUse {
    /// The macro's name.
    pub name: Arc<str>,
    /// Where it was defined.
    pub definition: Span,
}

/// A place as a person reads it. Lines and columns count from 1; columns count characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file's name as the user gave it.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// `FILE:LINE`
impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.file, self.line)
    }
}

/// A library as programs include it: text that other tools have too, so that a printed program may
/// include it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// The name that the program includes it by, such as `v1model.p4`.
    pub name: Arc<str>,
    /// Macros of the program that the library's text may ask for: the name, and the directive that
    /// defines it. In an order in which they can be defined.
    pub macros: Vec<(Arc<str>, Arc<str>)>,
}

#[derive(Clone, Debug)]
struct File {
    name: Arc<str>,
    text: Arc<str>,
    line_starts: Vec<u32>,
    /// The library that the file is part of: an index into [`SourceMap::libraries`].
    library: Option<u32>,
}

/// All files of one compilation.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<File>,
    libraries: Vec<Library>,
    /// By where the use starts: a larger span that starts with a use is found too.
    macro_uses: HashMap<(FileId, u32), MacroUse>,
}

impl SourceMap {
    /// An empty map.
    pub fn new() -> SourceMap {
        SourceMap::default()
    }

    /// Adds a file and returns its handle. Texts over 4 GiB are cut there.
    pub fn add(&mut self, name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> FileId {
        let text: Arc<str> = text.into();
        let mut line_starts = vec![0u32];
        let bytes = text.as_bytes();
        // A carriage return alone ends a line too.
        let ends_line = |at: usize| match bytes[at] {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        line_starts.extend((0..bytes.len()).filter(|at| ends_line(*at)).map(|at| at as u32 + 1));
        self.files.push(File { name: name.into(), text, line_starts, library: None });
        FileId(self.files.len() as u32 - 1)
    }

    /// The file's name as it was given to [`SourceMap::add`].
    pub fn name(&self, file: FileId) -> &Arc<str> {
        &self.files[file.0 as usize].name
    }

    /// The file's whole text.
    pub fn text(&self, file: FileId) -> &Arc<str> {
        &self.files[file.0 as usize].text
    }

    /// The text that a span covers; empty for [`Span::NONE`].
    pub fn slice(&self, span: Span) -> &str {
        if span.is_none() {
            return "";
        }
        self.text(span.file).get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Marks a file as the first of a library.
    pub fn mark_library(&mut self, file: FileId, library: Library) {
        let index = self.libraries.len() as u32;
        self.libraries.push(library);
        self.files[file.0 as usize].library = Some(index);
    }

    /// Adds a file to the library of another file, and adds macros that it
    /// may ask for. Macros of the library are not replaced.
    pub fn join_library(
        &mut self,
        file: FileId,
        other: FileId,
        macros: impl IntoIterator<Item = (Arc<str>, Arc<str>)>,
    ) {
        let index = self.files[other.0 as usize].library;
        self.files[file.0 as usize].library = index;
        let Some(library) = index.and_then(|index| self.libraries.get_mut(index as usize)) else {
            return;
        };
        for (name, definition) in macros {
            if !library.macros.iter().any(|(known, _)| *known == name) {
                library.macros.push((name, definition));
            }
        }
    }

    /// The library that a place is in; `None` in the user's files and for [`Span::NONE`].
    pub fn library(&self, span: Span) -> Option<&Library> {
        let file = self.files.get(span.file.0 as usize)?;
        self.libraries.get(file.library? as usize)
    }

    /// How many files there are; their ids are `0..count`.
    pub fn file_count(&self) -> usize {
        self.files.len()
    }

    /// Where a span starts, for a person; `None` for [`Span::NONE`].
    pub fn location(&self, span: Span) -> Option<Location> {
        if span.is_none() {
            return None;
        }
        let file = &self.files[span.file.0 as usize];
        let line = file.line_starts.partition_point(|start| *start <= span.start) - 1;
        let line_start = file.line_starts[line] as usize;
        let column =
            file.text.get(line_start..span.start as usize).map_or(0, |text| text.chars().count());
        Some(Location { file: file.name.clone(), line: line as u32 + 1, column: column as u32 + 1 })
    }

    /// Records that the tokens with exactly this span come from a macro.
    pub fn record_macro_use(&mut self, use_site: Span, macro_use: MacroUse) {
        self.macro_uses.entry((use_site.file, use_site.start)).or_insert(macro_use);
    }

    /// The macro whose expansion starts at this span's start, if any.
    pub fn macro_use(&self, span: Span) -> Option<&MacroUse> {
        self.macro_uses.get(&(span.file, span.start))
    }

    /// The number of the line (from 0) that a byte of a file is on.
    pub(crate) fn line_index(&self, file: FileId, offset: u32) -> usize {
        let file = &self.files[file.0 as usize];
        file.line_starts.partition_point(|start| *start <= offset) - 1
    }

    /// The bytes of a line (from 0) without its end.
    pub(crate) fn line_range(&self, file: FileId, line: usize) -> Range<usize> {
        let file = &self.files[file.0 as usize];
        let start = file.line_starts[line] as usize;
        let end = file.line_starts.get(line + 1).map_or(file.text.len(), |next| *next as usize);
        let text = &file.text[start..end];
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        start..start + text.len()
    }
}
