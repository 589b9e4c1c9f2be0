// SPDX-License-Identifier: Apache-2.0
//! Reactions in a process of their own: results as in this process, crashes, endless calls, reloads.

use crate::fixture::{Fixture, Recorder, argument, bits, field, register};
use react::interface::{KeyKind, Reactions, Stopped};
use react::module::{
    Called, InProcess, Module, StateAfterReload, WorkerOptions, WorkerProcess, serve,
};
use std::time::{Duration, Instant};

const VARIABLE: &str = "PLANE_REACT_TEST_WORKER";

/// The worker process of these tests is this program, which runs only this.
#[test]
fn serves_when_started_as_worker() {
    if std::env::var_os(VARIABLE).is_some() {
        panic!("{}", serve().expect_err("a process that ends with the agent"));
    }
}

pub fn options() -> WorkerOptions {
    WorkerOptions {
        program: std::env::current_exe().expect("the program of the test"),
        arguments: ["worker::serves_when_started_as_worker", "--exact", "--nocapture"]
            .map(Into::into)
            .to_vec(),
        environment: vec![(VARIABLE.into(), "1".into())],
        limit: Duration::from_millis(300),
    }
}

fn start(fixture: &Fixture) -> WorkerProcess {
    WorkerProcess::start(&fixture.code(), options()).expect("a process")
}

/// Calls the first reaction of one malleable.
fn call(reactions: &mut dyn Reactions, before: u64) -> (Result<(), Stopped>, u64) {
    let mut malleables = [before];
    let result = reactions.call(0, &[], &mut malleables, &mut Recorder::default());
    (result, malleables[0])
}

#[test]
fn a_worker_does_what_a_reaction_in_process_does() {
    let keys = [("k", bits(48), KeyKind::Ternary), ("w", bits(128), KeyKind::Exact)];
    let arguments = vec![
        argument(field("hdr.a.x", bits(32))),
        argument(register("q", bits(64), 0, 2000)),
        argument(field("hdr.w", bits(128))),
    ];
    let body = r#"
        static int calls;
        ${v} = ++calls + hdr.a.x + q[2000];
        uint64_t h = T_add_a(hdr.a.x, 0xff, hdr.w, 100 + calls, 7);
        if (!T_mod_drop(h)) log("no %llu", (unsigned long long)h);
        log("%s", "a line"); log("");
        ${w} = now() + failed_commits();
        ${f} = ${f} == hdr.b.y ? hdr.a.x : hdr.b.y;
    "#;
    let fixture = Fixture::new()
        .value("v", bits(64))
        .value("w", bits(60))
        .field("f", &["hdr.a.x", "hdr.b.y"])
        .table("T", &keys, &[("port", bits(9))], true)
        .init("${v} = 1000; log(\"init\");")
        .reaction_of(arguments, &["hdr.a"], body);
    let code = fixture.code();
    let mut input: Vec<u64> = (0..2005).collect();
    input[2004] = 1;
    let run = |reactions: &mut dyn Reactions| {
        let mut host = Recorder::default();
        let mut malleables = [0; 3];
        reactions.call_init(&mut malleables, &mut host).expect("init");
        for _ in 0..3 {
            reactions.call(0, &input, &mut malleables, &mut host).expect("a call");
        }
        (malleables, host.operations, host.lines)
    };
    let polled = {
        let mut worker = WorkerProcess::start(&code, options()).expect("a process");
        let mut host = Recorder::default();
        let mut malleables = [0; 3];
        let reaction = Called::Reaction(0);
        for called in [Called::Init, reaction, reaction, reaction] {
            worker.begin(called, &input, &malleables).expect("it runs");
            loop {
                match worker.poll(&mut malleables, &mut host) {
                    None => {}
                    Some(done) => break done.expect("a call"),
                }
            }
        }
        (malleables, host.operations, host.lines)
    };
    let here = run(&mut InProcess::load(&code).expect("code that loads"));
    let there = run(&mut WorkerProcess::start(&code, options()).expect("a process"));
    assert_eq!(here, there);
    assert_eq!(here, polled);
    assert_eq!(here.0[0], 3 + 2001);
    assert_eq!((here.1.len(), here.2.len()), (6, 7));
}

#[test]
fn a_crash_leaves_the_malleables_of_the_caller() {
    for (crash, signal) in [
        ("*(volatile int *)0 = 1;", "SIGSEGV"),
        ("raise(SIGFPE);", "SIGFPE"),
        ("abort();", "SIGABRT"),
        ("exit(3);", "exit(3)"),
        ("raise(SIGKILL);", "SIGKILL"),
    ] {
        let fixture = Fixture::new()
            .value("v", bits(32))
            .shared("\n#include <stdlib.h>\n#include <signal.h>\n")
            .reaction(&format!("static int calls; ${{v}} = 77; if (calls++) {{ {crash} }}"));
        let mut worker = start(&fixture);
        assert_eq!(call(&mut worker, 5), (Ok(()), 77));
        let begin = Instant::now();
        assert_eq!(call(&mut worker, 6), (Err(Stopped::Crashed(signal.to_string())), 6), "{crash}");
        assert!(begin.elapsed() < options().limit, "{:?}", begin.elapsed());
        assert!(matches!(call(&mut worker, 7), (Err(Stopped::Gone(_)), 7)));
        assert_eq!(worker.process_id(), None);
        worker.restart(&fixture.code()).expect("a process");
        assert_eq!(call(&mut worker, 5), (Ok(()), 77));
    }
}

#[test]
fn an_endless_call_is_stopped_after_the_limit() {
    let fixture = Fixture::new().value("v", bits(32)).reaction("${v} = 77; for (;;) now();");
    let silent = Fixture::new().value("v", bits(32)).reaction("${v} = 77; for (;;);");
    for fixture in [fixture, silent] {
        let mut worker = start(&fixture);
        let begin = Instant::now();
        let limit = options().limit;
        let stopped = Err(Stopped::Endless(limit.as_nanos() as u64));
        assert_eq!(call(&mut worker, 5), (stopped, 5));
        assert!(begin.elapsed() >= limit);
        assert!(matches!(call(&mut worker, 7), (Err(Stopped::Gone(_)), 7)));
    }
}

#[test]
fn code_is_reloaded_in_the_running_process() {
    let program =
        |state: &str, body: &str| Fixture::new().value("v", bits(32)).state(state).reaction(body);
    let old = program("int n;", "n += 5; ${v} = n;");
    let mut worker = start(&old);
    assert_eq!(call(&mut worker, 0), (Ok(()), 5));
    let process = worker.process_id();
    let new = program("long m = 1; int n = 50;", "n += 100; ${v} = n + m;");
    worker.reload(&new.code(), StateAfterReload::Carried).expect("code that loads");
    assert_eq!(call(&mut worker, 0), (Ok(()), 106));
    let broken = react::module::Code::new(b"no code".to_vec(), old.code().shape().clone());
    worker.reload(&broken, StateAfterReload::Carried).expect_err("no code");
    assert_eq!(call(&mut worker, 0), (Ok(()), 206));
    worker.reload(&new.code(), StateAfterReload::Fresh).expect("code that loads");
    assert_eq!(call(&mut worker, 0), (Ok(()), 151));
    assert_eq!(worker.process_id(), process);
}

#[test]
fn code_that_crashes_while_it_is_loaded_leaves_the_old_code() {
    let old = Fixture::new().value("v", bits(32)).reaction("${v} = 1;");
    let crashes = "\n#include <stdlib.h>\nstatic __attribute__((constructor)) void begin(void) { abort(); }\n";
    let new = Fixture::new().value("v", bits(32)).shared(crashes).reaction("${v} = 2;");
    let mut worker = start(&old);
    worker.reload(&new.code(), StateAfterReload::Carried).expect_err("a crash");
    assert_eq!(call(&mut worker, 0), (Ok(()), 1));
}

#[test]
fn a_program_that_is_no_worker_is_reported() {
    let code = Fixture::new().reaction("").code();
    for program in ["/bin/false", "/no/such/program"] {
        let options = WorkerOptions { program: program.into(), ..options() };
        assert!(WorkerProcess::start(&code, options).is_err());
    }
}

#[test]
fn a_reaction_that_overwrites_shared_memory_is_stopped() {
    // Finds the shared memory by its name. Word 0 is the turn, word 1 the kind of the message.
    let shared = r#"
#include <stdio.h>
#include <string.h>
static volatile uint64_t *words;
static uint64_t count;
static void find(void) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    unsigned long from, to;
    while (fgets(line, sizeof line, maps))
        if (strstr(line, "plane-react") && strstr(line, "rw-s") && sscanf(line, "%lx-%lx", &from, &to) == 2) {
            words = (uint64_t *)from;
            count = (to - from) / 8;
        }
    fclose(maps);
    for (uint64_t i = 1; i < count; i++) words[i] = -1;
}
"#;
    // A message of no kind; the end of a call with a value that the malleable cannot have; a text and an operation that are
    // larger than their areas.
    for kind in [0, 5, 7, 9, 10_000] {
        let body = format!("find(); words[1] = {kind}; words[0] = 0; for (;;);");
        let fixture = Fixture::new().value("v", bits(32)).shared(shared).reaction(&body);
        let mut worker = start(&fixture);
        let (result, value) = call(&mut worker, 5);
        assert!(matches!(result, Err(Stopped::Gone(_))), "{kind}: {result:?}");
        assert_eq!(value, 5);
    }
}

#[test]
fn a_worker_ends_with_its_agent() {
    let mut worker = start(&Fixture::new().value("v", bits(32)).reaction("${v} = 1;"));
    assert_eq!(call(&mut worker, 0), (Ok(()), 1));
    let process = worker.process_id().expect("a process");
    drop(worker);
    assert!(!std::path::Path::new(&format!("/proc/{process}")).exists());
}
