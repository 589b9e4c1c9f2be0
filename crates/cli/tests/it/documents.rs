// SPDX-License-Identifier: Apache-2.0
//! The documents of the repository: tables stay readable, and the README shows what its first command prints.

use std::path::{Path, PathBuf};
use std::process::Command;

const MAX_CELL_CHARACTERS: usize = 200;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Collects the markdown files of a folder and of its subfolders.
fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder can be read").flatten() {
        let path = entry.path();
        if path.is_dir() {
            documents(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// A cell as a reader sees it: links without their addresses.
fn visible(cell: &str) -> String {
    let mut text = String::new();
    let mut rest = cell;
    while let Some(end) = rest.find("](") {
        text.push_str(&rest[..end]);
        rest = rest[end..].split_once(')').map_or("", |(_, rest)| rest);
    }
    text + rest
}

#[test]
fn table_cells_are_short() {
    let mut files = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    files.push(root().join("ARCHITECTURE.md"));
    for folder in ["docs", "examples", "benches"] {
        documents(&root().join(folder), &mut files);
    }
    let mut long = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("the document can be read");
        for (at, line) in text.lines().enumerate().filter(|(_, line)| line.starts_with('|')) {
            for cell in line.replace("\\|", "").split('|') {
                let length = visible(cell.trim()).chars().count();
                if length > MAX_CELL_CHARACTERS {
                    let file = file.strip_prefix(root()).unwrap_or(&file).display();
                    long.push(format!("{file}:{}: {length} characters", at + 1));
                }
            }
        }
    }
    assert!(long.is_empty(), "more than {MAX_CELL_CHARACTERS}:\n{}", long.join("\n"));
}

#[test]
fn the_readme_shows_what_its_first_command_prints() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("the README");
    let command = readme.lines().find_map(|line| line.strip_prefix("    cargo run "));
    let words = command.and_then(|command| command.split_once(" -- ")).expect("a command").1;
    let shown = readme.split("```text\n").nth(1).and_then(|rest| rest.split("```").next());
    let out = tempfile::tempdir().expect("a temporary folder");
    let folder = out.path().display().to_string();
    let ran = Command::new(env!("CARGO_BIN_EXE_plane"))
        .args(words.split_whitespace().map(|word| word.replace("out/router", &folder)))
        .current_dir(root())
        .output()
        .expect("plane starts");
    let printed = String::from_utf8_lossy(&ran.stdout).replace(&folder, "out/router");
    assert_eq!(Some(printed.as_str()), shown);
}
