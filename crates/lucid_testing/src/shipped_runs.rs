// SPDX-License-Identifier: Apache-2.0
//! The shipped runs, read and elaborated: those of the examples and of the library's tests.

use crate::programs::Disk;
use lucid::core::Program;
use lucid::front;
use lucid_reference::specification::{self, Format, Run};
use source::SourceMap;
use std::path::{Path, PathBuf};

fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/lucid");
    let mut folders: Vec<PathBuf> = (std::fs::read_dir(&root).expect("the examples").flatten())
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    folders.push(root.join("library/tests"));
    let mut found = Vec::new();
    for folder in folders {
        for entry in std::fs::read_dir(folder).expect("an example").flatten() {
            let is_network = entry.file_name() == "network.yaml";
            if !is_network && entry.path().extension().is_some_and(|end| end == "yaml") {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

/// A run that is shipped.
pub struct Shipped {
    /// The specification's file.
    pub name: String,
    /// The sources.
    pub map: SourceMap,
    /// The core program.
    pub program: Program,
    /// What the specification says.
    pub run: Run,
    /// Where its captures are.
    pub folder: PathBuf,
}

/// All of them, in order of their names.
pub fn runs() -> Vec<Shipped> {
    let found: Vec<Shipped> = files().iter().map(|path| read(path)).collect();
    assert!(found.len() >= 17, "only {} runs", found.len());
    found
}

fn read(path: &Path) -> Shipped {
    let name = path.display().to_string();
    let mut map = SourceMap::new();
    let file = map.add(name.as_str(), std::fs::read_to_string(path).expect("a run"));
    let (run, said) = specification::read(&map, file, Format::Yaml);
    let run = run.unwrap_or_else(|| panic!("{name}: {said:?}"));
    let program = path.with_file_name(run.program.clone().expect("a program"));
    let text = std::fs::read_to_string(&program).expect("its program");
    let analysis = front::analyse(&mut map, &program.display().to_string(), text, &Disk);
    let roots = specification::roots(&run, &analysis.checked);
    let program = analysis.elaborate(&run.symbolics, &roots);
    let program = program.unwrap_or_else(|said| panic!("{name}: {said:?}"));
    let folder = path.parent().expect("a folder").to_path_buf();
    Shipped { name, map, program, run, folder }
}
