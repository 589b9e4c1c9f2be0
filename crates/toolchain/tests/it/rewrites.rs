// SPDX-License-Identifier: Apache-2.0
//! Rewrites that change nothing, on what Lucid's examples compile to for each target.

use conformance::rewrites;
use frontend::ProgramFile;
use p4::preprocessor::PreprocessorOptions;
use std::path::{Path, PathBuf};
use toolchain::{files::Disk, selection};

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/lucid");
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the examples")
        .flatten()
        .flat_map(|folder| std::fs::read_dir(folder.path()).into_iter().flatten().flatten())
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "dpt"))
        .collect();
    found.sort();
    found
}

#[test]
fn compiled_examples_of_lucid_are_rewritten_without_a_change() {
    let preprocessing = PreprocessorOptions::default();
    let mut checked = 0;
    for path in examples() {
        let language = selection::of(&path).expect("a language");
        let file = ProgramFile { path: &path, files: &Disk, preprocessing: &preprocessing };
        for target in language.emitter().expect("an emitter").targets() {
            // Some examples are not for every target.
            let Ok(compiled) = language.compile(&file, Some(target.name)) else { continue };
            let ready = &compiled.ready;
            if let Err(why) = rewrites::check(ready.typed(), &compiled.map, Some(ready.lowered())) {
                panic!("{} for {}: {why}", path.display(), target.name);
            }
            checked += 1;
        }
    }
    assert!(checked >= 19, "only {checked} programs");
}
