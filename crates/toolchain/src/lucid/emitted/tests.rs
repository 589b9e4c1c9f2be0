// SPDX-License-Identifier: Apache-2.0
//! A compiled run executes the program that `plane emit` writes, on the devices that its device files describe.

use crate::files::Disk;
use crate::lucid::emit::emit;
use crate::lucid::executor::{Executor, Verification};
use crate::lucid::inputs::{LucidRun, RunRequest, read_run};
use crate::lucid::targets::target_of;
use device::{Device, DeviceOptions, EngineChoice};
use frontend::{Console, EmitRequest, ProgramFile, Spinner, UserP4Files, Work};
use lucid_compiler::{Backend, Options};
use p4::preprocessor::PreprocessorOptions;
use source::{Diagnostics, SourceMap};
use std::path::{Path, PathBuf};

struct Silent;

struct Hidden;

impl Spinner for Hidden {
    fn set_position(&self, _position: u64) {}

    fn set_message(&self, _message: String) {}
}

impl Console for Silent {
    fn is_quiet(&self) -> bool {
        true
    }

    fn print(&self, _text: &str) {}

    fn note(&self, _text: &str) {}

    fn error(&self, text: &str) {
        panic!("{text}");
    }

    fn diagnostics(&self, _map: &SourceMap, _diagnostics: &Diagnostics) {}

    fn spinner(&self, _work: Work, _is_hidden: bool) -> Box<dyn Spinner> {
        Box::new(Hidden)
    }
}

/// The specifications of the examples and of the library's tests.
fn specifications() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/lucid");
    let folders = std::fs::read_dir(&root).expect("the examples").flatten();
    let folders = folders.map(|entry| entry.path()).chain([root.join("library/tests")]);
    let entries = folders.filter(|path| path.is_dir()).flat_map(|folder| {
        std::fs::read_dir(folder).expect("an example").flatten().map(|entry| entry.path())
    });
    let mut found: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "yaml")).collect();
    found.retain(|path| !path.ends_with("network.yaml"));
    found.sort();
    found
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).expect("a file that `plane emit` writes")
}

fn request<'r>(target: &'r str, specification: &'r Path, output: &'r Path) -> EmitRequest<'r> {
    EmitRequest {
        target,
        delay: None,
        clock: "ns",
        recirculation: "port",
        layout: None,
        time_limit: None,
        bmv2: false,
        after: None,
        user_p4: UserP4Files::default(),
        specification: Some(specification),
        output: Some(output),
    }
}

fn check(run: &LucidRun, target: &str) {
    let title = format!("{} for {target}", run.title());
    let out = tempfile::tempdir().expect("a temporary folder");
    let preprocessing = PreprocessorOptions::default();
    let file = ProgramFile { path: &run.program_path, files: &Disk, preprocessing: &preprocessing };
    let request = request(target, &run.specification_path, out.path());
    if let Err(failure) = emit(&file, &request, &Silent) {
        panic!("{title}: {}", failure.text());
    }
    let options = Options {
        target: target_of(Some(target)).unwrap_or_else(|failure| panic!("{}", failure.text())),
        ..Options::default()
    };
    let made = Executor::compiled(EngineChoice::Interpreter, options, Verification::Off, run, None);
    let simulation = match made {
        Ok(Executor::Compiled { simulation, .. }) => simulation,
        Ok(Executor::Reference(_)) => panic!("{title}: it was not compiled"),
        Err(failure) => panic!("{title}: {}", failure.text()),
    };
    let stem = run.program_path.file_stem().expect("a name").to_string_lossy();
    assert_eq!(simulation.compiled().built.print(), read(out.path(), &format!("{stem}.p4")));
    for switch in 0..run.setup.switches() {
        let text = read(out.path(), &format!("device-{switch}.toml"));
        let mut map = SourceMap::new();
        let described = device::configuration::read(map.add("device.toml", text.as_str()), &text);
        let running = simulation.device(switch).expect("a device");
        let of_the_run = running.options();
        let described = DeviceOptions {
            engine: of_the_run.engine,
            seed: of_the_run.seed,
            tap: of_the_run.tap,
            ..described.unwrap_or_else(|wrong| panic!("{title}: {wrong:?}"))
        };
        let device = Device::new(running.program(), described).expect("the file's device");
        assert_eq!(of_the_run, device.options(), "{title}, switch {switch}");
    }
}

#[test]
fn run_has_the_program_and_the_devices_that_emit_writes() {
    let specifications = specifications();
    assert!(specifications.len() >= 17, "only {} runs", specifications.len());
    for specification in &specifications {
        let request = RunRequest { specification: Some(specification), ..RunRequest::from(&Disk) };
        let run = read_run(&request, None).unwrap_or_else(|failure| panic!("{}", failure.text()));
        for target in Backend::ALL.map(Backend::name) {
            check(&run, target);
        }
    }
}

/// Two places look `routes` up, and the run installs an entry at time 0.
#[test]
fn emitted_files_fill_every_copy_of_a_table() {
    let given = tempfile::tempdir().expect("a temporary folder");
    let (program, specification) = (given.path().join("p.dpt"), given.path().join("p.json"));
    let source = "action int give(int port)(int x) { return port; }\n\
                  global Table.t<<int, int, int, int>> routes = Table.create(4, [give], give, 5);\n\
                  event out(int x);\n\
                  event a(int x) { int y = Table.lookup(routes, x, 0); generate_port(1, out(y)); }\n\
                  event b(int x) { int y = Table.lookup(routes, x, 1); generate_port(2, out(y)); }\n";
    std::fs::write(&program, source).expect("a file");
    let run = r#"{"events": [{"type": "command", "name": "Table.install",
        "args": {"table": "routes", "key": [7], "action": "give", "args": [9]}}]}"#;
    std::fs::write(&specification, run).expect("a file");
    for (target, copies) in [("v1model", 1), ("tna", 2)] {
        let out = tempfile::tempdir().expect("a temporary folder");
        let preprocessing = PreprocessorOptions::default();
        let file = ProgramFile { path: &program, files: &Disk, preprocessing: &preprocessing };
        emit(&file, &request(target, &specification, out.path()), &Silent)
            .unwrap_or_else(|failure| panic!("{}", failure.text()));
        let count = |name: &str, text: &str| read(out.path(), name).matches(text).count();
        assert_eq!(count("commands-0.txt", " 0x7&&&0xffffffff => 9 1\n"), copies, "{target}");
        let is_told = count("README.md", "| `routes` | `Ingress.routes`, `Ingress.routes_2` |");
        assert_eq!(is_told, usize::from(copies > 1), "{target}");
        if copies > 1 {
            let added = "key0=0x7, key0_mask=0xffffffff, MATCH_PRIORITY=1, data0_port=9)\n";
            assert_eq!(count("bfrt-0.py", added), copies);
        }
    }
}
