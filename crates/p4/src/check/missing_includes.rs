// SPDX-License-Identifier: Apache-2.0
//! The `#include` that a program lacks: which built-in interface declares a name that the program
//! uses and does not declare.

use crate::interfaces::{InterfacesOnly, interface, interface_names};
use crate::parser::parse;
use crate::preprocessor::{PreprocessorOptions, preprocess};
use rustc_hash::FxHashMap;
use source::{Diagnostics, SourceMap};
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

/// Returns the built-in interface to include for `name`, unless several declare it.
pub(super) fn interface_declaring(name: &str) -> Option<&'static str> {
    static DECLARED: OnceLock<FxHashMap<Arc<str>, Option<&'static str>>> = OnceLock::new();
    *DECLARED.get_or_init(declared_names).get(name)?
}

/// Returns the names that the interfaces declare at their top level, each with its interface, or
/// `None` if several interfaces declare it. An interface that only one other includes is a part of that one.
fn declared_names() -> FxHashMap<Arc<str>, Option<&'static str>> {
    let mut declared: FxHashMap<Arc<str>, Option<&'static str>> = FxHashMap::default();
    let mut includers: FxHashMap<Arc<str>, BTreeSet<&'static str>> = FxHashMap::default();
    // Those in folders are editions of the others.
    for name in interface_names().filter(|name| !name.contains('/')) {
        let mut map = SourceMap::new();
        let file = map.add(name, interface(name).unwrap_or(""));
        let mut found = Diagnostics::new();
        let options = PreprocessorOptions::default();
        let tokens = preprocess(&mut map, &InterfacesOnly, file, &options, &mut found);
        for declaration in &parse(tokens, &mut found).declarations {
            if declaration.span.file != file {
                if let Some(library) = map.library(declaration.span) {
                    includers.entry(library.name.clone()).or_default().insert(name);
                }
                continue;
            }
            declared
                .entry(declaration.name.text.clone())
                .and_modify(|first| *first = first.filter(|first| *first == name))
                .or_insert(Some(name));
        }
    }
    for interface in declared.values_mut().flatten() {
        if let Some(by) = includers.get(*interface)
            && let (Some(only), 1) = (by.first(), by.len())
        {
            *interface = only;
        }
    }
    declared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_the_interface_that_programs_include() {
        for (name, interface) in [
            ("packet_in", "core.p4"),
            ("standard_metadata_t", "v1model.p4"),
            ("ingress_intrinsic_metadata_t", "tna.p4"),
            ("RegisterAction", "tna.p4"),
        ] {
            assert_eq!(interface_declaring(name), Some(interface), "{name}");
        }
    }
}
