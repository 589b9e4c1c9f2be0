// SPDX-License-Identifier: Apache-2.0
//! Inlining over files: each program that is accepted is inlined, printed, read again, and must be
//! accepted and have the same control-plane names. Counts of calls by kind, and of refusals by reason:
//!
//!     cargo run --release -p conformance --example inline_corpus -- -I DIR FILE...

use conformance::inlining::{Trial, trial};
use ir::ready::ReadyProgram;
use p4::compile::compile;
use p4::preprocessor::PreprocessorOptions;
use std::collections::BTreeMap;
use std::process::ExitCode;
use testing::Disk;

fn main() -> ExitCode {
    let mut options = PreprocessorOptions::default();
    let mut files = Vec::new();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "-I" => options.include_dirs.extend(words.next()),
            _ => files.push(word),
        }
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut failed = 0;
    for file in files {
        let Ok(text) = std::fs::read(&file) else { continue };
        let text = String::from_utf8_lossy(&text).into_owned();
        let mut count = |what: String, number: usize| *counts.entry(what).or_default() += number;
        let mut compiled = compile(&file, text, &Disk, &options);
        let ready = ReadyProgram::of(&mut compiled);
        let Some(typed) = compiled.program.filter(|_| !compiled.diagnostics.has_errors()) else {
            count("programs not accepted".to_string(), 1);
            continue;
        };
        match trial(&typed, compiled.map, ready.as_ref(), &Disk, &options) {
            Trial::Same(inlined) => {
                count("programs".to_string(), 1);
                let changed = usize::from(!inlined.inlined.is_empty());
                count("programs with calls inlined".to_string(), changed);
                for (kind, number) in &inlined.inlined {
                    count(format!("{kind:?} inlined"), *number);
                }
                for (_, obstacle) in &inlined.refused {
                    count(format!("refused: {obstacle}"), 1);
                }
            }
            Trial::Broken(why) => {
                failed += 1;
                println!("{file}: {why}");
                count("broken".to_string(), 1);
            }
        }
    }
    for (what, count) in &counts {
        println!("{count:>8} {what}");
    }
    match failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
