// SPDX-License-Identifier: Apache-2.0
//! The examples and the library's tests, each with its run, as atomic programs.

use crate::oracle::same_as_interpreter;
use lucid::elaborate::Symbolics;
use lucid::front;
use lucid::specification::{self, Format};
use lucid::syntax::Loader;
use source::SourceMap;
use std::path::{Path, PathBuf};

struct Disk;

impl Loader for Disk {
    fn load(&self, path: &str) -> Result<Option<String>, String> {
        Ok(std::fs::read_to_string(path).ok())
    }
}

fn runs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/lucid");
    let mut folders: Vec<PathBuf> = (std::fs::read_dir(&root).expect("the examples").flatten())
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    folders.push(root.join("library/tests"));
    let mut found = Vec::new();
    for folder in folders {
        for entry in std::fs::read_dir(folder).expect("an example").flatten() {
            if entry.path().extension().is_some_and(|end| end == "yaml") {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn examples_do_the_same_as_interpreter() {
    let runs = runs();
    assert!(runs.len() >= 17, "only {} runs", runs.len());
    for path in runs {
        let name = path.display().to_string();
        let mut map = SourceMap::new();
        let file = map.add(name.as_str(), std::fs::read_to_string(&path).expect("a run"));
        let (run, said) = specification::read(&map, file, Format::Yaml);
        let run = run.unwrap_or_else(|| panic!("{name}: {said:?}"));
        let program = run.program.clone().expect("a program");
        let program = path.with_file_name(program);
        let text = std::fs::read_to_string(&program).expect("its program");
        let program = program.display().to_string();
        let analysis = front::analyse(&mut map, &program, text, &Disk);
        let roots = specification::roots(&run, &analysis.checked);
        let symbolics = Symbolics { ..run.symbolics.clone() };
        let core = analysis.elaborate(&symbolics, &roots);
        let core = core.unwrap_or_else(|said| panic!("{name}: {said:?}"));
        let folder = path.parent().expect("a folder");
        match same_as_interpreter(&core, &run, folder) {
            Ok(dispatches) => assert!(dispatches > 0, "{name}: {dispatches} dispatches"),
            Err(said) => panic!("{name}: {said}"),
        }
    }
}
