// SPDX-License-Identifier: Apache-2.0
//! The Rust files of the repository's crates, for tests of their structure.

use std::path::{Path, PathBuf};

/// Returns the folder of crates.
pub fn crates_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of crates")
}

/// Returns the folders of all crates.
pub fn crates() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(crates_folder()).expect("the folder of crates");
    let folders = entries.map(|entry| entry.expect("a crate").path());
    folders.filter(|folder| folder.join("src").is_dir()).collect()
}

/// Returns all Rust files of a folder and those below, except tests.
pub fn product_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            if name != "tests" {
                found.extend(product_files(&path));
            }
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push(path);
        }
    }
    found
}

/// Reads a Rust file without its tests and comments; strings stay.
pub fn product_code(file: &Path) -> String {
    let code = std::fs::read_to_string(file).expect("a file of the repository");
    without_comments(code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default())
}

/// Returns Rust code without comments; strings stay.
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
