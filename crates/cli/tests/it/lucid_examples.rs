// SPDX-License-Identifier: Apache-2.0
//! Every Lucid example keeps what its README and its run promise: programs check without a word, the
//! README's `plane run` commands work to the letter and draw their time line, and `plane test` finds all
//! expectations met, for the applications and for the library.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn plane(words: &[String]) -> Output {
    let ran = Command::new(env!("CARGO_BIN_EXE_plane")).args(words).current_dir(root()).output();
    ran.expect("plane starts")
}

/// Files with this extension, in the folders of the examples and in the library's tests.
fn files(extension: &str) -> Vec<String> {
    let lucid = root().join("examples/lucid");
    let folders = std::fs::read_dir(&lucid).expect("examples").flatten();
    let mut folders: Vec<_> = folders.map(|folder| folder.path()).collect();
    folders.push(lucid.join("library/tests"));
    let mut found = Vec::new();
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        for file in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = file.path();
            // Networks have a test of their own.
            let is_network = path.file_name().is_some_and(|name| name == "network.yaml");
            if path.extension().is_some_and(|end| end == extension) && !is_network {
                found.push(path.display().to_string());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn programs_check_without_a_word() {
    let programs = files("dpt");
    assert!(programs.len() >= 26, "only {} programs were found", programs.len());
    let ran = plane(&[vec!["check".to_string()], programs].concat());
    let said =
        String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{said}");
    assert!(!said.contains("warning"), "{said}");
}

#[test]
fn listings_of_the_paper_check() {
    let folder = root().join("tests/paper_listings/lucid");
    let files = std::fs::read_dir(&folder).expect("listings").flatten();
    let paths = files.map(|file| file.path().display().to_string());
    let programs: Vec<_> = paths.filter(|path| path.ends_with(".dpt")).collect();
    assert!(programs.len() >= 3, "only {} listings were found", programs.len());
    let ran = plane(&[vec!["check".to_string()], programs].concat());
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn expectations_are_met() {
    let runs = files("yaml");
    assert!(runs.len() >= 17, "only {} runs were found", runs.len());
    let ran = plane(&[vec!["test".to_string()], runs].concat());
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stdout));
}

/// Folders of tests may have networks; one that is named gets the command for networks as answer.
#[test]
fn networks_are_left_to_plane_net() {
    let network = "examples/lucid/nat/network.yaml";
    let ran = plane(&["test", network].map(str::to_string));
    let told = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert_eq!(ran.status.code(), Some(1), "{told}");
    assert!(told.contains(&format!("describes a network: `plane net {network}`")), "{told}");
}

/// All runs of the folder, on devices, beside the reference interpreter.
#[test]
fn expectations_are_met_on_each_target() {
    let count = files("yaml").len();
    for target in ["v1model", "tna"] {
        let words = ["test", "examples/lucid", "--target", target, "--verify"];
        let ran = plane(&words.map(str::to_string));
        let told = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert_eq!(ran.status.code(), Some(0), "{target}: {told}");
        assert!(
            told.contains(&format!("{count} passed, 0 failed (compiled for {target}")),
            "{told}"
        );
    }
}

#[test]
fn readme_commands_work() {
    let mut commands = 0;
    for folder in std::fs::read_dir(root().join("examples/lucid")).expect("examples").flatten() {
        let Ok(readme) = std::fs::read_to_string(folder.path().join("README.md")) else { continue };
        for line in readme.replace("\\\n", " ").lines() {
            if !line.trim_start().starts_with("plane run") {
                continue;
            }
            commands += 1;
            let mut words: Vec<_> = line.split_whitespace().skip(1).map(str::to_string).collect();
            let out = tempfile::tempdir().expect("a temporary folder");
            let page = out.path().join("timeline.html");
            let at = words.iter().position(|word| word == "--timeline").expect("--timeline") + 1;
            words[at] = page.display().to_string();
            let ran = plane(&words);
            let errors = String::from_utf8_lossy(&ran.stderr);
            assert_eq!(ran.status.code(), Some(0), "{}: {errors}", words.join(" "));
            let drawn = std::fs::read_to_string(&page).expect("a time line");
            assert!(drawn.contains("</html>"), "{}", words.join(" "));
        }
    }
    assert!(commands >= 10, "only {commands} commands were found");
}
