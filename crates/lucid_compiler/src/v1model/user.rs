// SPDX-License-Identifier: Apache-2.0
//! The user's P4_16 in front of the dispatcher and behind it (Lucid §8.1): every token keeps its
//! place in the user's files, so diagnostics name it.

use super::{Context, builder};
use crate::options::{Options, UserP4};
use p4::preprocessor::{IncludeLoader, PreprocessorOptions, preprocess};
use p4::token::{Token, TokenKind};
use source::{Diagnostic, Diagnostics, FileId, SourceMap, Span};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Texts of included files by path, or why one cannot be read.
type Included = BTreeMap<String, Result<Arc<str>, String>>;

/// Files that were read before.
struct Known<'a>(&'a Included);

impl IncludeLoader for Known<'_> {
    fn load(&self, path: &str) -> Result<Option<String>, String> {
        self.0.get(path).cloned().transpose().map(|text| text.map(|text| text.to_string()))
    }
}

/// Keeps what it reads.
struct Reading<'a> {
    files: &'a dyn IncludeLoader,
    read: RefCell<Included>,
}

impl IncludeLoader for Reading<'_> {
    fn load(&self, path: &str) -> Result<Option<String>, String> {
        let found = self.files.load(path);
        if let Some(kept) = found.clone().transpose() {
            self.read.borrow_mut().insert(path.to_string(), kept.map(Arc::from));
        }
        found
    }
}

impl UserP4 {
    /// A file of the user's with all that it includes. Compiling reports its mistakes.
    pub fn read(
        name: &str,
        text: &str,
        options: &PreprocessorOptions,
        files: &dyn IncludeLoader,
    ) -> UserP4 {
        let user = UserP4 {
            name: name.into(),
            text: text.into(),
            include_dirs: options.include_dirs.clone(),
            defines: options.defines.clone(),
            included: BTreeMap::new(),
        };
        let reading = Reading { files, read: RefCell::default() };
        let _ = user.tokens(&reading, &mut SourceMap::new(), &mut Diagnostics::new());
        UserP4 { included: reading.read.into_inner(), ..user }
    }

    /// Its tokens but for those of the built-in interfaces, which every program has. The files are added to
    /// the map, this one first.
    fn tokens(
        &self,
        files: &dyn IncludeLoader,
        map: &mut SourceMap,
        found: &mut Diagnostics,
    ) -> (FileId, Vec<Token>) {
        let options = PreprocessorOptions {
            include_dirs: self.include_dirs.clone(),
            defines: self.defines.clone(),
        };
        let main = map.add(self.name.clone(), self.text.clone());
        let mut tokens = preprocess(map, files, main, &options, found);
        tokens.retain(|token| {
            token.kind != TokenKind::End
                && !map.name(token.span.file).starts_with(p4::preprocessor::BUILT_IN)
        });
        (main, tokens)
    }
}

/// The tokens of a file of the user's and of what it includes; its own number, and those of all its files.
pub(crate) fn tokens(
    given: &UserP4,
    map: &mut SourceMap,
    found: &mut Diagnostics,
) -> (FileId, Vec<FileId>, Vec<Token>) {
    let first = map.file_count() as u32;
    let (main, tokens) = given.tokens(&Known(&given.included), map, found);
    (main, (first..map.file_count() as u32).map(FileId).collect(), tokens)
}

/// Adds the user's files to a map as [`crate::compile`] does, to show what it says.
pub fn add_files(map: &mut SourceMap, options: &Options) {
    for user in [&options.before, &options.after].into_iter().flatten() {
        user.tokens(&Known(&user.included), map, &mut Diagnostics::new());
    }
}

/// The user's declarations.
#[derive(Default)]
pub(super) struct UserDeclarations {
    pub(super) tokens: Vec<Token>,
    /// Where in the program they stand: in front of the piece of this number.
    pub(super) position: usize,
    /// Their files, and of each hook where it is declared.
    files: Vec<FileId>,
    hooks: Vec<Span>,
}

/// Reads the user's declarations and reports syntax errors at their places.
pub(super) fn read(context: &mut Context<'_>, map: &mut SourceMap) -> UserDeclarations {
    let options = context.options;
    let position = context.pieces.len();
    let mut user = UserDeclarations { position, ..UserDeclarations::default() };
    for (hook, given) in [("before", &options.before), ("after", &options.after)] {
        let Some(given) = given else { continue };
        let (main, files, tokens) = self::tokens(given, map, &mut context.found);
        user.files.extend(files);
        let is_hook =
            |pair: &&[Token]| pair[0].kind == TokenKind::Control && &*pair[1].text == hook;
        match tokens.windows(2).find(is_hook) {
            Some(pair) => user.hooks.push(pair[1].span),
            None => context.refuse(
                Span::new(main, 0, 0),
                format!("`{}` declares no control `{hook}`", given.name),
                format!("declare `control {hook}{}`", *super::interface::PARAMETERS),
            ),
        }
        user.tokens.extend(tokens);
        if context.found.has_errors() {
            continue;
        }
        let mut trial = builder(context, map.clone());
        trial.put_tokens(&user.tokens);
        let end = map.text(main).len() as u32;
        let wrong = trial.syntax(Span::new(main, end, end));
        context.found.append(wrong);
    }
    user
}

impl UserDeclarations {
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Moves the checker's diagnostics of the whole program to the user's declarations: it is right without them.
    pub(super) fn blamed(&self, wrong: &Diagnostics) -> Diagnostics {
        let mut found = Diagnostics::new();
        let is_users = |span: &Span| self.files.contains(&span.file);
        for one in wrong.iter() {
            let mut moved = one.clone();
            if is_users(&one.primary.span) {
                found.push(moved);
                continue;
            }
            // The user's declaration clashes with one of the program's.
            let label = one.labels.iter().map(|label| label.span).find(|span| is_users(span));
            let Some(span) = label.or(self.hooks.first().copied()) else { continue };
            moved = Diagnostic::error(
                super::codes::USER_P4,
                span,
                format!("this does not go with the rest of the program: {}", one.message),
            );
            found.push(moved.help("`plane emit` without this file prints what the rest declares"));
        }
        found
    }
}
