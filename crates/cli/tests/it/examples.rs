// SPDX-License-Identifier: Apache-2.0
//! Every example's README is run to the letter: its `plane run` commands, with the output folder
//! replaced, must write exactly the captures in the example's `expected` folder.

use std::path::{Path, PathBuf};
use std::process::Command;

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The `plane run` commands in a README's fenced blocks, as words.
pub fn commands(readme: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for block in readme.split("```").skip(1).step_by(2) {
        let block = block.replace("\\\n", " ");
        for line in block.lines() {
            if line.trim_start().starts_with("plane run") {
                found.push(line.split_whitespace().skip(1).map(str::to_string).collect());
            }
        }
    }
    found
}

/// The folders in a folder of the repository, in the order of their names.
pub fn subfolders(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).expect("a folder").flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.is_dir());
    paths.sort();
    paths
}

pub fn captures(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| {
            let entry = entry.expect("readable folder");
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, std::fs::read(entry.path()).expect("readable file"))
        })
        .collect();
    files.sort();
    files
}

#[test]
fn readme_commands_write_the_expected_captures() {
    let mut examples = 0;
    let mut failures = Vec::new();
    let mut examples_of_p4 = subfolders("examples");
    // Lucid's examples and networks have tests of their own.
    let others = ["lucid", "networks", "react"];
    examples_of_p4.retain(|folder| others.iter().all(|other| !folder.ends_with(other)));
    let examples_of_p4r = subfolders("examples/react");
    for folder in examples_of_p4.iter().chain(&examples_of_p4r) {
        let readme = std::fs::read_to_string(folder.join("README.md")).expect("a README");
        let commands = commands(&readme);
        assert!(!commands.is_empty(), "{} has no `plane run`", folder.display());
        for mut words in commands {
            examples += 1;
            let out = tempfile::tempdir().expect("a temporary folder");
            let is_output = |word: &String| word == "--out" || word == "--packets-out";
            let at = words.iter().position(is_output).expect("--out or --packets-out") + 1;
            let name = Path::new(&words[at]).file_name().expect("a name").to_os_string();
            let path = match words[at - 1] == "--out" {
                true => out.path().to_path_buf(),
                false => out.path().join(&name),
            };
            words[at] = path.display().to_string();
            let ran = Command::new(env!("CARGO_BIN_EXE_plane"))
                .args(&words)
                .current_dir(root())
                .output()
                .expect("plane starts");
            let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
            if ran.status.code() != Some(0) {
                failures.push(format!("{}: {}\n{errors}", words.join(" "), ran.status));
                continue;
            }
            // A second command of an example may write the same as the first, or have its own folder.
            let own = folder.join("expected").join(&name);
            let expected = if own.is_dir() { own } else { folder.join("expected") };
            if testing::golden::is_blessing() {
                let _ = std::fs::remove_dir_all(&expected);
                std::fs::create_dir_all(&expected).expect("a folder");
                for (name, bytes) in captures(out.path()) {
                    std::fs::write(expected.join(name), bytes).expect("a file");
                }
            }
            let (wanted, found) = (captures(&expected), captures(out.path()));
            let names = |list: &[(String, Vec<u8>)]| {
                list.iter()
                    .map(|(name, bytes)| format!("{name} ({} bytes)", bytes.len()))
                    .collect::<Vec<_>>()
            };
            if wanted != found {
                failures.push(format!(
                    "{}: wrote {:?}, expected {:?}",
                    words.join(" "),
                    names(&found),
                    names(&wanted)
                ));
            }
        }
    }
    assert!(examples >= 20, "only {examples} examples were found");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn stf_tests_of_examples_pass() {
    let folders = std::fs::read_dir(root().join("examples")).expect("examples");
    let mut tests = Vec::new();
    for folder in folders.flatten().filter(|folder| folder.path().is_dir()) {
        let files = std::fs::read_dir(folder.path()).expect("readable folder").flatten();
        let paths = files.map(|file| file.path());
        tests.extend(paths.filter(|path| path.extension().is_some_and(|end| end == "stf")));
    }
    assert!(!tests.is_empty(), "no STF test was found");
    let ran = Command::new(env!("CARGO_BIN_EXE_plane")).arg("test").args(&tests).output();
    let ran = ran.expect("plane starts");
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stdout));
}
