// SPDX-License-Identifier: Apache-2.0
//! Architectures are described once: product code names two of them, as identifiers or in strings, only in their
//! folders, in registries, and in the places listed here. Comments and tests may name them anywhere.

use std::path::{Path, PathBuf};

const WORDS: [&str; 2] = ["v1model", "tna"];

/// Beginnings of paths below `crates`, each with the reason.
const ALLOWED: &[(&str, &str)] = &[
    ("p4/src/interfaces.rs", "registry of interfaces"),
    ("ir/src/architecture/mod.rs", "declares the folders"),
    ("ir/src/architecture/registry.rs", "registry of descriptions"),
    ("ir/src/architecture/extern_meanings.rs", "registry of extern meanings"),
    ("ir/src/architecture/v1model", "the description"),
    ("ir/src/architecture/tna", "the description"),
    ("device/src/architectures.rs", "registry of devices"),
    ("device/src/architectures/tna", "the device"),
    ("lucid_compiler/src/lib.rs", "registry of backends"),
    ("lucid_compiler/src/options.rs", "registry of targets"),
    ("lucid_compiler/src/codes.rs", "explains limits of both backends"),
    ("lucid_compiler/src/scheduler/", "the event scheduler of one backend"),
    ("lucid_compiler/src/user.rs", "reads the user's P4 as one backend does"),
    ("lucid_compiler/src/v1model", "the backend"),
    ("lucid_compiler/src/tna", "the backend"),
    ("toolchain/src/lucid/", "layout and emission, which one backend has"),
    ("testing/src/p4/", "generates programs for one architecture"),
    ("figures/src/lucid/", "compares both backends"),
];

/// All Rust files of a folder and those below, apart from tests.
fn product_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            if name != "tests" {
                product_files(&path, found);
            }
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

/// Rust code without comments; strings stay.
fn without_comments(code: &str) -> String {
    let mut kept = String::new();
    for line in code.lines() {
        let (mut in_string, mut end, bytes) = (false, line.len(), line.as_bytes());
        let mut at = 0;
        while at < bytes.len() {
            match bytes[at] {
                b'\\' => at += 1,
                b'"' if at == 0 || bytes[at - 1] != b'\'' => in_string = !in_string,
                b'/' if !in_string && bytes.get(at + 1) == Some(&b'/') => {
                    end = at;
                    break;
                }
                _ => {}
            }
            at += 1;
        }
        kept.push_str(&line[..end]);
        kept.push('\n');
    }
    kept
}

fn names_an_architecture(code: &str) -> bool {
    let is_part_of_name = |character: char| character.is_alphanumeric() || character == '_';
    code.split(|character| !is_part_of_name(character)).any(|name| WORDS.contains(&name))
}

#[test]
fn words_of_architectures_stay_in_their_places() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of crates");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(crates).expect("the folder of crates") {
        let folder = entry.expect("a crate").path().join("src");
        if folder.is_dir() {
            product_files(&folder, &mut files);
        }
    }
    let mut used = vec![false; ALLOWED.len()];
    let mut strays = Vec::new();
    for file in files {
        let code = std::fs::read_to_string(&file).expect("a file of the repository");
        let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        if !names_an_architecture(&without_comments(code)) {
            continue;
        }
        let path = file.strip_prefix(crates).expect("a crate's file").display().to_string();
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
