// SPDX-License-Identifier: Apache-2.0
//! The text form of atoms and codelets: lexer, parser and elaboration. `docs/atoms.md` describes it.

pub mod codes;
mod elaborate;
mod expressions;
mod lexer;
mod parser;
mod tree;

use crate::codelet::Codelet;
use crate::template::Template;
use source::{Diagnostics, FileId, SourceMap};

/// The atoms and codelets of a file, in its order.
#[derive(Clone, Debug, Default)]
pub struct Items {
    /// Templates of atoms.
    pub templates: Vec<Template>,
    /// Codelets.
    pub codelets: Vec<Codelet>,
}

/// Reads the atoms and codelets of a file of `map`. Items with errors are left out.
pub fn read(map: &SourceMap, file: FileId) -> (Items, Diagnostics) {
    let (trees, mut diagnostics) = parser::parse(file, map.text(file).clone());
    let items = elaborate::elaborate(&trees, &mut diagnostics);
    (items, diagnostics)
}

/// Returns the atoms of Banzai from `rw` to `pair`, from the least to the greatest, and `mul_acc`.
///
/// # Panics
/// Never: a test reads the file.
pub fn banzai() -> Vec<Template> {
    let mut map = SourceMap::new();
    let file = map.add("banzai.atoms", include_str!("banzai.atoms"));
    let (items, diagnostics) = read(&map, file);
    assert!(diagnostics.is_empty(), "banzai.atoms has mistakes: {diagnostics:?}");
    items.templates
}
