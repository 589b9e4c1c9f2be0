// SPDX-License-Identifier: Apache-2.0
//! Damaged programs get messages, never a panic: pieces of the examples are taken out, doubled, exchanged.

use p4::interfaces::InterfacesOnly;
use p4::preprocessor::PreprocessorOptions;
use react::compiler::{Limits, compile};
use react::language::{P4R, read};
use std::path::Path;
use testing::{Choices, seeds};

/// The texts of the examples.
fn programs() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/react");
    let folders = std::fs::read_dir(root).expect("the examples").flatten();
    let mut files: Vec<_> = folders
        .filter_map(|folder| {
            let name = folder.file_name().into_string().ok()?;
            Some(folder.path().join(format!("{name}.p4r")))
        })
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    files.iter().map(|path| std::fs::read_to_string(path).expect("a program")).collect()
}

/// Cuts a text into words, marks and blanks.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let end = match is_word(first) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        pieces.push(&rest[..end]);
        rest = &rest[end..];
    }
    pieces
}

fn damaged(text: &str, choices: &mut Choices) -> String {
    let mut pieces = pieces(text);
    for _ in 0..1 + choices.below(3) {
        let (at, other) = (choices.below(pieces.len()), choices.below(pieces.len()));
        match choices.below(4) {
            0 => {
                pieces.remove(at);
            }
            1 => pieces.insert(at, pieces[other]),
            2 => pieces.swap(at, other),
            _ => pieces.truncate(at.max(1)),
        }
    }
    pieces.concat()
}

#[test]
fn damaged_programs_get_messages() {
    let programs = programs();
    assert!(programs.len() >= 11, "only {} examples", programs.len());
    let (mut wrong, mut right) = (0, 0);
    for seed in seeds(150) {
        let mut choices = Choices::from_seed(seed);
        let program: &String = choices.pick(&programs);
        let text = damaged(program, &mut choices);
        let _ = p4::format::format_dialect(&text, Some(&P4R));
        let options = PreprocessorOptions::default();
        let is_right = match read("test.p4r", text, &InterfacesOnly, &options) {
            Ok((program, _)) => match compile(&program, Limits::of(program.architecture)) {
                Ok(_) => true,
                Err((found, _)) => {
                    assert!(found.has_errors(), "seed {seed}");
                    false
                }
            },
            Err((_, found)) => {
                assert!(found.has_errors(), "seed {seed}");
                false
            }
        };
        if is_right { right += 1 } else { wrong += 1 }
    }
    println!("{wrong} wrong programs, {right} right ones");
    assert!(wrong > right / 4, "the damage is too small");
}
