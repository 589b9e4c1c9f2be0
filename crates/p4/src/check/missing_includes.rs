// SPDX-License-Identifier: Apache-2.0
//! The `#include` that a program lacks: which built-in interface declares a name that the program
//! uses and does not declare.

use crate::interfaces::{InterfacesOnly, interface, interface_names};
use crate::parser::parse;
use crate::preprocessor::{PreprocessorOptions, preprocess};
use rustc_hash::FxHashMap;
use source::{Diagnostics, SourceMap};
use std::sync::{Arc, OnceLock};

/// Returns the built-in interface that declares `name`, unless several do.
pub(super) fn interface_declaring(name: &str) -> Option<&'static str> {
    static DECLARED: OnceLock<FxHashMap<Arc<str>, Option<&'static str>>> = OnceLock::new();
    *DECLARED.get_or_init(declared_names).get(name)?
}

/// Returns the names that the interfaces declare at their top level, each with its interface, or
/// `None` if several interfaces declare it.
fn declared_names() -> FxHashMap<Arc<str>, Option<&'static str>> {
    let mut declared: FxHashMap<Arc<str>, Option<&'static str>> = FxHashMap::default();
    // Those in folders are editions of the others.
    for name in interface_names().filter(|name| !name.contains('/')) {
        let mut map = SourceMap::new();
        let file = map.add(name, interface(name).unwrap_or(""));
        let mut found = Diagnostics::new();
        let options = PreprocessorOptions::default();
        let tokens = preprocess(&mut map, &InterfacesOnly, file, &options, &mut found);
        let declarations = parse(tokens, &mut found).declarations;
        for declaration in declarations.iter().filter(|each| each.span.file == file) {
            declared
                .entry(declaration.name.text.clone())
                .and_modify(|first| *first = first.filter(|first| *first == name))
                .or_insert(Some(name));
        }
    }
    declared
}
