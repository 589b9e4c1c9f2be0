// SPDX-License-Identifier: Apache-2.0
//! What the tests of the order check and of memops share: programs read and checked, and expected
//! texts beside them.

#![allow(dead_code, reason = "each test file uses a part of it")]

use lucid::check::CheckedProgram;
use lucid::syntax::{Loader, load};
use proptest::prelude::*;
use source::{Diagnostics, RenderOptions, SourceMap, render_text};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

/// Programs of a folder, in order.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    found.retain(|path| path.extension().is_some_and(|own| own == "dpt"));
    found.sort();
    assert!(!found.is_empty(), "nothing in {folder:?}");
    found
}

/// Programs of a folder and of the folders in it, with their texts.
pub fn corpus(folder: &str) -> Vec<(PathBuf, String)> {
    let mut work = vec![root().join(folder)];
    let mut found = Vec::new();
    while let Some(folder) = work.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder is there") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                work.push(path);
            } else if path.extension().is_some_and(|own| own == "dpt") {
                let text = std::fs::read_to_string(&path).expect("a program");
                found.push((path, text));
            }
        }
    }
    found.sort();
    found
}

struct Folder(PathBuf);

impl Loader for Folder {
    fn load(&self, path: &str) -> Result<Option<String>, String> {
        Ok(std::fs::read_to_string(self.0.join(path)).ok())
    }
}

/// What was said about a program.
pub struct Said {
    map: SourceMap,
    /// By syntax and types.
    pub before: Diagnostics,
    /// By the check at hand.
    pub found: Diagnostics,
}

impl Said {
    /// What the check at hand said.
    pub fn own(&self) -> String {
        render_text(&self.map, &self.found, RenderOptions::default())
    }

    /// All that was said.
    pub fn text(&self) -> String {
        render_text(&self.map, &self.before, RenderOptions::default()) + &self.own()
    }
}

/// Checks a program without includes.
pub fn said(name: &str, text: &str, check: impl Fn(&CheckedProgram) -> Diagnostics) -> Said {
    said_in(&root().join(name), text, check)
}

/// Checks a program at a path.
pub fn said_in(path: &Path, text: &str, check: impl Fn(&CheckedProgram) -> Diagnostics) -> Said {
    let mut map = SourceMap::new();
    let folder = Folder(path.parent().expect("a folder").to_path_buf());
    let name = path.file_name().expect("a name").to_string_lossy();
    let (tree, mut before) = load(&mut map, &name, text.to_owned(), &folder);
    let (program, types) = lucid::check::check(Arc::new(tree));
    before.append(types);
    let found = check(&program);
    Said { map, before, found }
}

/// Compares with the text beside a program.
pub fn compare(path: &Path, found: &str) {
    let expected = path.with_extension("expected");
    if testing::golden::is_blessing() {
        std::fs::write(&expected, found).expect("writable");
        return;
    }
    let wanted = std::fs::read_to_string(&expected).unwrap_or_default();
    assert!(wanted == found, "{} differs; found:\n{found}", expected.display());
}

/// Changes to the words of a program: where, from where, and whether to remove, insert or swap.
pub type Change = (prop::sample::Index, prop::sample::Index, u8);

pub fn changes() -> impl Strategy<Value = Vec<Change>> {
    let index = any::<prop::sample::Index>;
    prop::collection::vec((index(), index(), 0u8..3), 1..10)
}

pub fn changed(text: &str, changes: &[Change]) -> String {
    let mut words: Vec<&str> =
        text.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_').collect();
    for (at, other, change) in changes {
        if words.is_empty() {
            break;
        }
        let (at, other) = (at.index(words.len()), other.index(words.len()));
        match change {
            0 => {
                words.remove(at);
            }
            1 => words.insert(at, words[other]),
            _ => words.swap(at, other),
        }
    }
    words.concat()
}
