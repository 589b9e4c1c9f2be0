// SPDX-License-Identifier: Apache-2.0
//! The examples and the library's tests, each with its run.

use crate::oracle::{Judged, judge};
use device::EngineChoice;
use lucid::compile::{Delay, Options, Target};
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

/// Runs a specification compiled.
fn run_compiled(path: &Path, options: &Options, engine: EngineChoice) -> Result<Judged, String> {
    let name = path.display().to_string();
    let mut map = SourceMap::new();
    let file = map.add(name.as_str(), std::fs::read_to_string(path).expect("a run"));
    let (run, said) = specification::read(&map, file, Format::Yaml);
    let run = run.ok_or_else(|| format!("{said:?}"))?;
    let program = path.with_file_name(run.program.clone().expect("a program"));
    let text = std::fs::read_to_string(&program).expect("its program");
    let analysis = front::analyse(&mut map, &program.display().to_string(), text, &Disk);
    let roots = specification::roots(&run, &analysis.checked);
    let core = analysis.elaborate(&run.symbolics, &roots).map_err(|said| format!("{said:?}"))?;
    judge(&map, &core, &run, path.parent().expect("a folder"), options, engine)
}

fn examples_run_compiled(target: Target) {
    let runs = runs();
    assert!(runs.len() >= 17, "only {} runs", runs.len());
    let mut wrong = Vec::new();
    for path in runs {
        let name = path.display().to_string();
        let options = Options { target, ..Options::default() };
        match run_compiled(&path, &options, EngineChoice::Jit) {
            Ok(Judged::Same(verified, warnings)) => {
                if !warnings.is_empty() {
                    wrong.push(format!("{name}: {warnings}"));
                }
                println!(
                    "{name}: {} dispatches, {} cells, {} packets",
                    verified.schedule.dispatches.len(),
                    verified.cells,
                    verified.packets
                );
                if verified.schedule.dispatches.len() < 2 {
                    wrong.push(format!("{name}: nothing happened"));
                }
            }
            Ok(Judged::Refused(said)) => wrong.push(format!("{name}: refused: {said}")),
            Err(said) => wrong.push(format!("{name}: {said}")),
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn examples_run_compiled_for_v1model() {
    examples_run_compiled(Target::V1Model);
}

#[test]
fn examples_run_compiled_for_tna() {
    examples_run_compiled(Target::Tna);
}

/// Timers wait by going round.
#[test]
fn delays_by_recirculation_run_for_tna() {
    let options =
        Options { target: Target::Tna, delay: Delay::Recirculation, ..Options::default() };
    let mut delayed = 0;
    for path in runs().iter().filter(|path| path.ends_with("library/tests/timer.yaml")) {
        for engine in [EngineChoice::Jit, EngineChoice::Interpreter] {
            match run_compiled(path, &options, engine) {
                Ok(Judged::Same(verified, _)) => delayed += verified.schedule.dispatches.len(),
                Ok(Judged::Refused(said)) | Err(said) => panic!("{}: {said}", path.display()),
            }
        }
    }
    assert!(delayed > 10, "only {delayed} dispatches");
}
