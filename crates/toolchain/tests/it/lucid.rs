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
        let device = Device::new(program.clone(), deployment.options.clone()).expect("it loads");
        let console = Recording::default();
        let mut session = Session::new(program);
        let commands = &deployment.commands;
        let control = &mut device.target();
        let done =
            control_files::apply_text("set-up", commands, None, &mut session, control, &console);
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
    let compiled = |target, engine, is_verified| {
        let user_p4 = UserP4Files::default();
        Execution::Compiled(CompiledRun { target, engine, is_verified, user_p4 })
    };
    for (path, execution, passes) in [
        ("count.json", Execution::Reference, true),
        ("count.json", compiled(None, EngineChoice::Interpreter, false), true),
        ("count.json", compiled(Some("tna"), EngineChoice::Jit, true), true),
        ("wrong.json", Execution::Reference, false),
        ("wrong.json", compiled(Some("tna"), EngineChoice::Jit, true), false),
    ] {
        let path = Path::new(path);
        let specification = ProgramFile { path, files: &files, preprocessing: &preprocessing };
        let program = Some(Path::new("count.dpt"));
        assert!(networks.is_test(&specification));
        let test = NetworkTest { specification, program, execution, trace: false };
        let tested = networks.test(&test);
        assert_eq!(tested.failures.is_empty(), passes, "{:?}", tested.failures);
    }
}

#[test]
fn expected_records_may_have_wildcards() {
    let program = "type inner = { int a; bool b; }\ntype outer = { inner i; int<8>[2] v; }\n\
        event e(int x, outer o, group g) { printf(\"%d\", x); }\n";
    let run = |expected: &str| {
        let event = r#"{"name": "e", "args": [1, [[2, true], [3, 4]], [5, 6]]}"#;
        format!(
            "{{\"events\": [{event}], \"expect\": [{{\"handled\": \"e\", \"args\": {expected}}}]}}"
        )
    };
    let preprocessing = PreprocessorOptions::default();
    let networks = language("e.dpt").networks().expect("Lucid has networks");
    for (expected, passes) in [
        (r#"["_", [["_", true], [3, "_"]], "_"]"#, true),
        (r#"["_", ["_", [3, null]], [5, 6]]"#, true),
        (r#"[1, [[2, "_"], "_"], null]"#, true),
        (r#"["_", {"i": {"a": "_", "b": true}, "v": ["_", 4]}, "_"]"#, true),
        (r#"["_", [2, "_", 3, "_"], "_"]"#, true),
        (r#"["_", [["_", false], "_"], "_"]"#, false),
        (r#"["_", ["_", ["_", 5]], "_"]"#, false),
        (r#"["_", [["_", true], "_", "_", "_"], "_"]"#, false),
    ] {
        let run = run(expected);
        let files = MemoryFiles::new([("e.dpt", program), ("e.json", run.as_str())]);
        let specification =
            ProgramFile { path: Path::new("e.json"), files: &files, preprocessing: &preprocessing };
        let execution = Execution::Reference;
        let test = NetworkTest { specification, program: None, execution, trace: false };
        let tested = networks.test(&test);
        assert_eq!(tested.failures.is_empty(), passes, "{expected}: {tested:?}");
    }
}

#[test]
fn an_expectation_may_be_for_some_executions_only() {
    let expectation = |executions: &str| {
        format!("{{\"handled\": \"arrive\", \"count\": 9, \"for\": {executions}}}")
    };
    let run = |executions: &str| {
        let rest = RUN.split("\"expect\"").next().expect("a run");
        format!("{rest}\"expect\": [{}]}}", expectation(executions))
    };
    let preprocessing = PreprocessorOptions::default();
    let networks = language("count.dpt").networks().expect("Lucid has networks");
    let user_p4 = UserP4Files::default();
    let engine = EngineChoice::Jit;
    for (executions, target, judged) in [
        ("\"tna\"", Some("tna"), true),
        ("\"tna\"", Some("v1model"), false),
        ("[\"reference\", \"v1model\"]", Some("v1model"), true),
        ("\"reference\"", None, true),
        ("\"v1model\"", None, false),
        // A wrong name is an error everywhere.
        ("\"tofino\"", None, true),
    ] {
        let run = run(executions);
        let files = MemoryFiles::new([("count.dpt", COUNT), ("count.json", run.as_str())]);
        let path = Path::new("count.json");
        let specification = ProgramFile { path, files: &files, preprocessing: &preprocessing };
        let execution = match target {
            None => Execution::Reference,
            Some(_) => {
                Execution::Compiled(CompiledRun { target, engine, is_verified: false, user_p4 })
            }
        };
        let test = NetworkTest { specification, program: None, execution, trace: false };
        let tested = networks.test(&test);
        // The expectation never holds.
        assert_eq!(!tested.failures.is_empty(), judged, "{executions} {target:?}: {tested:?}");
        assert_eq!(tested.notes.is_empty(), judged, "{executions} {target:?}: {tested:?}");
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
            events: None,
            execution: Execution::Compiled(compiled),
            symbolics: None,
            seed: None,
            until_ps: None,
            trace: false,
            json: false,
            only: &[],
            all_bytes: false,
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
