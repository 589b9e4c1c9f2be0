// SPDX-License-Identifier: Apache-2.0
//! Architectures are described once: product code names two of them, as identifiers or in strings, only in their
//! folders, in registries, and in the places listed here. Comments and tests may name them anywhere.

use crate::sources::{crates, crates_folder, product_code, product_files};

const WORDS: [&str; 2] = ["v1model", "tna"];

/// Beginnings of paths below `crates`, each with the reason.
const ALLOWED: &[(&str, &str)] = &[
    ("p4/src/interfaces.rs", "registry of interfaces"),
    ("ir/src/architecture/mod.rs", "declares the folders"),
    ("ir/src/architecture/registry.rs", "registry of descriptions"),
    ("ir/src/architecture/v1model", "the description"),
    ("ir/src/architecture/tna", "the description"),
    ("ir/src/codes/lints.rs", "examples of warnings about one architecture's blocks"),
    ("device/src/architectures.rs", "registry of devices"),
    ("domino/src/compiler/mod.rs", "the backend"),
    ("lucid_compiler/src/lib.rs", "registry of backends"),
    ("lucid_compiler/src/options.rs", "registry of targets"),
    ("lucid_compiler/src/codes.rs", "explains limits of both backends"),
    ("lucid_compiler/src/scheduler/", "the event scheduler of one backend"),
    ("lucid_compiler/src/user.rs", "reads the user's P4 as one backend does"),
    ("lucid_compiler/src/v1model", "the backend"),
    ("lucid_compiler/src/tna", "the backend"),
    ("lucid_network/src/deploy.rs", "writes the control commands of both backends"),
    ("lucid_network/src/installed.rs", "writes the control commands of both backends"),
    ("react/src/compiler/architectures.rs", "registry of architectures"),
    ("react/src/c/codes.rs", "examples of mistakes in C"),
    ("toolchain/src/lucid/", "layout and emission, which one backend has"),
    ("testing/src/p4/", "generates programs for one architecture"),
    ("figures/src/lucid/", "compares both backends"),
    ("figures/src/mantis/", "generates programs for one architecture"),
];

fn names_an_architecture(code: &str) -> bool {
    let is_part_of_name = |character: char| character.is_alphanumeric() || character == '_';
    code.split(|character| !is_part_of_name(character)).any(|name| WORDS.contains(&name))
}

#[test]
fn words_of_architectures_stay_in_their_places() {
    let mut used = vec![false; ALLOWED.len()];
    let mut strays = Vec::new();
    for file in crates().iter().flat_map(|each| product_files(&each.join("src"))) {
        if !names_an_architecture(&product_code(&file)) {
            continue;
        }
        let path = file.strip_prefix(crates_folder()).expect("a crate's file");
        let path = path.display().to_string();
        match ALLOWED.iter().position(|(allowed, _)| path.starts_with(allowed)) {
            Some(at) => used[at] = true,
            None => strays.push(path),
        }
    }
    let unused: Vec<&str> =
        ALLOWED.iter().zip(used).filter(|(_, used)| !used).map(|(allowed, _)| allowed.0).collect();
    assert!(strays.is_empty(), "ask the architecture's description instead: {strays:#?}");
    assert!(unused.is_empty(), "these places need no permission any more: {unused:#?}");
}
