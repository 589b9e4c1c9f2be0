// SPDX-License-Identifier: Apache-2.0
//! Costs of calls of reactions, in this process and in a process of their own:
//!
//!     cargo bench -p react --bench calls
//!
//! Each reaction copies its input to a malleable. Times are medians of batches, in nanoseconds a call; the ratio is to a call
//! of one word in this process. Needs a C compiler.

use react::c::{Compiler, compile};
use react::interface::{
    Argument, ArgumentKind, CText, Host, Interface, MalleableValue, PathStep, Reaction, Reactions,
    Scalar, TableOperation,
};
use react::module::{InProcess, WORKER_ARGUMENT, WorkerOptions, WorkerProcess, serve};
use source::{SourceMap, Span};
use std::time::{Duration, Instant};

const BATCHES: usize = 15;
const BATCH_TIME: Duration = Duration::from_millis(20);

/// A host that does nothing.
struct Nothing;

impl Host for Nothing {
    fn table(&mut self, _: TableOperation, _: usize, _: usize, _: &[u64]) -> u64 {
        1
    }

    fn now_ns(&mut self) -> u64 {
        0
    }

    fn log(&mut self, _: &str) {}

    fn failed_commits(&mut self) -> u64 {
        0
    }
}

fn interface(arguments: Vec<ArgumentKind>, body: &str) -> Interface {
    let (span, ty) = (Span::NONE, Scalar::unsigned(16));
    let argument = |kind| Argument { name: None, span, kind };
    let value = MalleableValue { name: "v".into(), span, ty, initial: 0 };
    let reaction = Reaction {
        name: "r".into(),
        span,
        arguments: arguments.into_iter().map(argument).collect(),
        validities: Vec::new(),
        body: CText { text: body.into(), span },
        rate_ps: None,
        cost_ps: 0,
    };
    Interface { values: vec![value], reactions: vec![reaction], ..Interface::default() }
}

/// Returns the median time of a call in nanoseconds.
fn measure(reactions: &mut dyn Reactions, input: &[u64]) -> f64 {
    let mut malleables = [0];
    let mut batch = |calls: u32| {
        let begin = Instant::now();
        for _ in 0..calls {
            let called = reactions.call(0, input, &mut malleables, &mut Nothing);
            called.expect("a reaction that returns");
        }
        begin.elapsed()
    };
    let mut calls = 1;
    while batch(calls) < BATCH_TIME {
        calls *= 2;
    }
    let mut times: Vec<f64> =
        (0..BATCHES).map(|_| batch(calls).as_nanos() as f64 / f64::from(calls)).collect();
    times.sort_by(f64::total_cmp);
    times[BATCHES / 2]
}

fn main() {
    if std::env::args().nth(1).as_deref() == Some(WORKER_ARGUMENT) {
        panic!("{}", serve().expect_err("a process that ends with the benchmark"));
    }
    let path = vec![PathStep::Name("meta".into()), PathStep::Name("x".into())];
    let field = || ArgumentKind::Field { path: path.clone(), ty: Scalar::unsigned(16) };
    let register = |cells: u64| ArgumentKind::Register {
        register: "q".into(),
        ty: Scalar::unsigned(32),
        first: 0,
        last: cells - 1,
    };
    let rows = [
        ("one word", vec![field()], "${v} = meta.x;"),
        ("one word, now()", vec![field()], "${v} = meta.x + now();"),
        ("64 cells", vec![register(64)], "${v} = q[63];"),
        ("1,000,000 cells", vec![register(1_000_000)], "${v} = q[999999];"),
    ];
    println!(
        "{:>16} {:>16} {:>8} {:>16} {:>8}",
        "input", "in process, ns", "ratio", "worker, ns", "ratio"
    );
    let mut first = None;
    for (name, arguments, body) in rows {
        let interface = interface(arguments, body);
        let input = vec![7; interface.reactions[0].input_words()];
        let (code, found) = compile(&interface, &SourceMap::new(), &Compiler::from_environment());
        let code = code.unwrap_or_else(|| panic!("{found:?}"));
        let here = measure(&mut InProcess::load(&code).expect("code that loads"), &input);
        let options = WorkerOptions::of_this_command().expect("this command");
        let mut worker = WorkerProcess::start(&code, options).expect("a process");
        let there = measure(&mut worker, &input);
        let one = *first.get_or_insert(here);
        println!("{name:>16} {here:>16.1} {:>8.1} {there:>16.1} {:>8.1}", here / one, there / one);
    }
}
