// SPDX-License-Identifier: Apache-2.0
//! Lucid by the registry: a compiled program with its deployment, on a device like any other, and a
//! specification as a test.

use crate::recording::Recording;
use control::session::Session;
use device::{Device, EngineChoice};
use frontend::{
    CompiledRun, Execution, ExitStatus, Frontend, MemoryFiles, NetworkRun, NetworkTest,
    ProgramFile, UserP4Files,
};
use p4::preprocessor::PreprocessorOptions;
use std::path::Path;
use toolchain::{control_files, selection};

const COUNT: &str = "
global Array.t<32> seen = Array.create(4);
memop plus(int memval, int x) { return memval + x; }
packet event arrive(int<8> kind) { Array.setm(seen, 1, plus, 1); }
";

const RUN: &str = "{
  \"max time\": 10000,
  \"events\": [{\"name\": \"arrive\", \"args\": [3], \"timestamp\": 100}],
  \"expect\": [{\"array\": \"seen\", \"values\": [0, 1, 0, 0]}]
}";

fn language(name: &str) -> &'static dyn Frontend {
    selection::of(Path::new(name)).expect("a language")
}

#[test]
fn a_compiled_program_loads_as_it_is_deployed() {
    let files = MemoryFiles::new([("count.dpt", COUNT)]);
    let preprocessing = PreprocessorOptions::default();
    let path = Path::new("count.dpt");
    let file = ProgramFile { path, files: &files, preprocessing: &preprocessing };
    for target in language("count.dpt").emitter().expect("an emitter").targets() {
        let compiled = match language("count.dpt").compile(&file, Some(target.name)) {
            Ok(compiled) => compiled,
            Err(failure) => panic!("{}: {}", target.name, failure.text()),
        };
        let [deployment] = compiled.setup.as_slice() else { panic!("one switch") };
        let program = compiled.ready.program().clone();
        let mut device =
            Device::new(program.clone(), deployment.options.clone()).expect("it loads");
        let console = Recording::default();
        let mut session = Session::new(program);
        let mut devices = [(&mut session, &mut device)];
        let commands = &deployment.commands;
        let done = control_files::apply_text("set-up", commands, None, &mut devices, &console);
        assert!(done.is_some_and(|done| done > 0), "{}: {}", target.name, console.text());
    }
}

#[test]
fn an_unknown_target_is_refused() {
    let files = MemoryFiles::new([("count.dpt", COUNT)]);
    let preprocessing = PreprocessorOptions::default();
    let path = Path::new("count.dpt");
    let file = ProgramFile { path, files: &files, preprocessing: &preprocessing };
    let failure = language("count.dpt").compile(&file, Some("fpga")).err().expect("no such target");
    let text = "there is no target `fpga` for Lucid programs: they are v1model and tna";
    assert_eq!(failure.text(), text);
}

#[test]
fn a_specification_is_a_test_of_its_expectations() {
    let wrong = RUN.replace("0, 1, 0, 0", "0, 2, 0, 0");
    let files =
        MemoryFiles::new([("count.dpt", COUNT), ("count.json", RUN), ("wrong.json", &wrong)]);
    let preprocessing = PreprocessorOptions::default();
    let networks = language("count.dpt").networks().expect("Lucid has networks");
    for (path, engine, passes) in [
        ("count.json", None, true),
        ("count.json", Some(EngineChoice::Interpreter), true),
        ("wrong.json", None, false),
    ] {
        let path = Path::new(path);
        let specification = ProgramFile { path, files: &files, preprocessing: &preprocessing };
        let program = Some(Path::new("count.dpt"));
        let tested = networks.test(&NetworkTest { specification, program, engine, trace: false });
        assert_eq!(tested.failures.is_empty(), passes, "{:?}", tested.failures);
    }
}

#[test]
fn a_run_judges_its_expectations() {
    let files = MemoryFiles::new([("count.dpt", COUNT), ("count.json", RUN)]);
    let preprocessing = PreprocessorOptions::default();
    let networks = language("count.dpt").networks().expect("Lucid has networks");
    let path = Path::new("count.dpt");
    let file = ProgramFile { path, files: &files, preprocessing: &preprocessing };
    let specification = Some(Path::new("count.json"));
    for verify in [false, true] {
        let console = Recording::default();
        let compiled = CompiledRun {
            target: None,
            engine: EngineChoice::Jit,
            is_verified: verify,
            user_p4: UserP4Files::default(),
        };
        let run = NetworkRun {
            specification,
            captures: None,
            execution: Execution::Compiled(compiled),
            symbolics: None,
            seed: None,
            until_ps: None,
            trace: false,
            json: false,
            state_out: None,
            timeline: None,
            record: None,
        };
        let ran = networks.run(&file, &run, &console);
        assert!(matches!(ran, Ok(ExitStatus::Fine)), "{}", console.text());
        let text = console.text();
        assert!(text.contains("expectations: 1 passed, 0 failed") || verify, "{text}");
        assert_eq!(text.contains("as the reference interpreter"), verify, "{text}");
    }
}
