// SPDX-License-Identifier: Apache-2.0
//! From a file to its tree: preprocessing with the built-in `hashes.h`, then parsing.

use super::ast::File;
use super::parser;
use super::token::Token;
use p4::dialect::Foreign;
use p4::preprocessor::{IncludeLoader, PreprocessorOptions, preprocess_dialect};
use source::{Diagnostics, SourceMap};

/// The name of the header that declares the hashes. Whatever folder it is included from, it is the built-in one.
pub const HASHES: &str = "hashes.h";

/// The text of the built-in header. The hashes are built in, so programs without the header may not use them.
const HASHES_TEXT: &str = "#define __DOMINO_HASHES__ 1\n__domino_hashes__\n";

/// The word that the built-in header leaves among the tokens.
pub(super) const HASHES_WORD: &str = "__domino_hashes__";

/// Loads included files; `hashes.h` is built in.
struct Loader<'l>(&'l dyn IncludeLoader);

impl IncludeLoader for Loader<'_> {
    fn load(&self, path: &str) -> Result<Option<String>, String> {
        match path.rsplit('/').next() {
            Some(HASHES) => Ok(Some(HASHES_TEXT.to_string())),
            _ => self.0.load(path),
        }
    }
}

/// A program that has been read, as far as it could be.
#[derive(Debug)]
pub struct ReadFile {
    /// All files.
    pub map: SourceMap,
    /// The tree.
    pub file: File,
    /// The program includes `hashes.h`.
    pub has_hashes: bool,
    /// Errors.
    pub diagnostics: Diagnostics,
}

/// Reads a program and what it includes.
pub fn read(
    name: &str,
    text: impl Into<std::sync::Arc<str>>,
    loader: &dyn IncludeLoader,
    options: &PreprocessorOptions,
) -> ReadFile {
    let mut map = SourceMap::new();
    let main = map.add(name, text);
    let mut diagnostics = Diagnostics::new();
    let loader = Loader(loader);
    let preprocessed =
        preprocess_dialect(&mut map, &loader, main, options, Foreign::c(), &mut diagnostics);
    let mut tokens: Vec<Token> = preprocessed.tokens.into_iter().map(Token::of).collect();
    let count = tokens.len();
    tokens.retain(|token| &*token.text != HASHES_WORD);
    let has_hashes = tokens.len() < count;
    let file = parser::parse(tokens, &mut diagnostics);
    ReadFile { map, file, has_hashes, diagnostics }
}
