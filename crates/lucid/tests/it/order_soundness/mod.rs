// SPDX-License-Identifier: Apache-2.0
//! The paper's theorem (Lucid §5.2) on generated programs, in both directions: a handler that passes the check
//! accesses no global out of order on any path, and a rejected handler does, or is one of the cases in which
//! the check is documented as conservative. By default the test runs the same few programs each time;
//! `PLANEWRIGHT_CASES` sets a number of new ones. With `--nocapture` it prints their statistics.

mod execute;
mod model;
mod print;

use execute::{Instance, PARAMETER, Place, Reading, Run};
use model::{Program, Stmt, Ty};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use source::{Severity, SourceMap};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What the check said: codes by the name of what each error is about.
type Verdict = BTreeMap<String, BTreeSet<&'static str>>;

fn verdict(text: &str) -> Result<Verdict, String> {
    let mut map = SourceMap::new();
    let file = map.add("generated.dpt", text);
    let (tree, mut found) = lucid::syntax::parse(&map, file);
    let (program, checked) = lucid::check::check(Arc::new(tree));
    found.append(checked);
    if found.has_errors() {
        return Err(source::render_text(&map, &found, Default::default()));
    }
    let mut verdict = Verdict::new();
    for diagnostic in lucid::order::check(&program).iter() {
        assert_eq!(diagnostic.severity, Severity::Error);
        let words: Vec<&str> = diagnostic.message.split(' ').collect();
        let about = match words.as_slice() {
            ["handler" | "function", name, ..] => format!("{} {name}", words[0]),
            ["the", "interface", "of", _, "is", "too", "weak", "for", "function", name] => {
                format!("interface {name}")
            }
            _ => return Err(format!("what is this about? {}", diagnostic.message)),
        };
        verdict.entry(about).or_default().insert(diagnostic.code.0);
    }
    Ok(verdict)
}

/// What came of the programs.
#[derive(Debug, Default)]
struct Counts {
    programs: usize,
    accepted: usize,
    handlers_accepted: usize,
    handlers_rejected: usize,
    /// Of these, those that no execution takes out of order.
    handlers_rejected_conservatively: usize,
    functions_rejected: usize,
    interfaces_rejected: usize,
    instances: usize,
}

fn careful(symbolic: usize) -> Reading {
    Reading { careful: true, symbolic, abstract_length: 3, ..Reading::default() }
}

fn violates(
    program: &Program,
    reading: Reading,
    body: &[Stmt],
    parameters: &[Ty],
    arguments: &[Place],
    module: Option<usize>,
) -> (bool, BTreeSet<Instance>) {
    let mut run = Run::new(program, reading);
    run.body(body, parameters, arguments, module);
    (run.violated, run.made)
}

fn parameters_as_such(count: usize) -> Vec<Place> {
    (0..count).map(|at| vec![PARAMETER + at]).collect()
}

/// Whether some arguments make a function keep the order.
fn can_be_called(program: &Program, function: usize) -> bool {
    let callee = &program.functions[function];
    let module = callee.module.as_ref().map(|(module, _)| *module);
    let mut choices: Vec<Vec<Place>> = vec![Vec::new()];
    for parameter in &callee.parameters {
        let candidates = model::candidates(program, parameter);
        choices = choices
            .iter()
            .flat_map(|choice| {
                candidates.iter().map(|place| {
                    let mut choice = choice.clone();
                    choice.push(place.clone());
                    choice
                })
            })
            .take(300)
            .collect();
    }
    choices.iter().any(|arguments| {
        let declared = callee.declared.is_none_or(|(p, q)| arguments[p] < arguments[q]);
        declared
            && !violates(program, careful(3), &callee.body, &callee.parameters, arguments, module).0
    })
}

/// Whether an interface leaves out what its function needs, with at most two parameters.
fn interface_lacks(program: &Program, function: usize) -> bool {
    let callee = &program.functions[function];
    let Some((module, interface)) = &callee.module else { return false };
    let mut interface = interface.clone();
    if !interface.written {
        (interface.start, interface.end) = (Some(0), Some(0));
    }
    let run = |closed: bool, declared: Option<(usize, usize)>| {
        let reading = Reading { closed, declared, ..careful(3) };
        let arguments = parameters_as_such(callee.parameters.len());
        let mut run = Run::new(program, reading);
        let last = run.body(&callee.body, &callee.parameters, &arguments, Some(*module));
        (run.violated, last)
    };
    if run(false, None).0 {
        // Wrong by itself; what its summary is then does not matter.
        return false;
    }
    let pairs = run(true, interface.ordered).0;
    // Which parameters can come first and last: start or end there, and order the others.
    let firsts = execute::firsts(program, function);
    let reaches = |from: usize, to: usize| from == to || interface.ordered == Some((from, to));
    let start = firsts.iter().any(|p| interface.start.is_none_or(|start| !reaches(start, *p)));
    let lasts = execute::lasts(program, function);
    let end = lasts.iter().any(|p| interface.end.is_none_or(|end| !reaches(*p, end)));
    let touched = !firsts.is_empty();
    touched && (pairs || start || end)
}

fn judge(program: &Program, counts: &mut Counts) -> Result<(), String> {
    let text = print::print(program);
    let verdict = verdict(&text).map_err(|wrong| format!("{wrong}\n{text}"))?;
    let fail = |what: String| Err(format!("{what}\n{text}\n{verdict:#?}"));
    counts.programs += 1;

    let mut clean = true;
    for (at, function) in program.functions.iter().enumerate() {
        let module = function.module.as_ref().map(|(module, _)| *module);
        let name = match module {
            Some(module) => format!("function M{module}.f{at}"),
            None => format!("function f{at}"),
        };
        let arguments = parameters_as_such(function.parameters.len());
        let (wrong, _) =
            violates(program, careful(3), &function.body, &function.parameters, &arguments, module);
        let interface_wrong = verdict.contains_key(&format!("interface f{at}"));
        match verdict.get(&name) {
            Some(codes) => {
                clean = false;
                counts.functions_rejected += 1;
                let contradiction = codes.contains("LU-E0304");
                if !wrong && !contradiction {
                    return fail(format!("{name} is rejected, and no path is out of order"));
                }
                if !wrong && can_be_called(program, at) {
                    return fail(format!("{name} is rejected, and can be called"));
                }
            }
            None if wrong && clean => {
                return fail(format!("{name} is accepted, and a path is out of order"));
            }
            None => {
                if module.is_some() && clean && interface_lacks(program, at) != interface_wrong {
                    return fail(format!("the interface of {name}: {interface_wrong}"));
                }
            }
        }
        if interface_wrong {
            clean = false;
            counts.interfaces_rejected += 1;
        }
    }

    let plain = program
        .handlers
        .iter()
        .enumerate()
        .map(|(at, body)| (format!("handler h{at}"), body, &[][..], careful(3)));
    let events = program.events.iter().enumerate().map(|(at, event)| {
        let reading = Reading { closed: true, declared: event.declared, ..careful(3) };
        (format!("handler ev{at}"), &event.body, &event.parameters[..], reading)
    });
    for (name, body, parameters, reading) in plain.chain(events) {
        let arguments = parameters_as_such(parameters.len());
        let (careful_wrong, _) = violates(program, reading, body, parameters, &arguments, None);
        let exact_wrong = parameters.is_empty()
            && (1..=3).any(|symbolic| {
                let reading = Reading { symbolic, ..Reading::default() };
                violates(program, reading, body, parameters, &arguments, None).0
            });
        if verdict.contains_key(&name) {
            counts.handlers_rejected += 1;
            if !careful_wrong {
                return fail(format!("{name} is rejected, and no path is out of order"));
            }
            if parameters.is_empty() && !exact_wrong {
                counts.handlers_rejected_conservatively += 1;
            }
        } else if clean {
            counts.handlers_accepted += 1;
            if exact_wrong {
                return fail(format!("{name} is accepted, and a path is out of order"));
            }
            if careful_wrong {
                return fail(format!("{name} is accepted, against the documentation"));
            }
        }
    }

    if verdict.is_empty() {
        counts.accepted += 1;
        // Whatever events are made with, their handlers keep the order.
        for symbolic in 1..=3 {
            let reading = Reading { symbolic, ..Reading::default() };
            let mut work: Vec<Instance> = Vec::new();
            let mut seen: BTreeSet<Instance> = BTreeSet::new();
            for body in &program.handlers {
                work.extend(violates(program, reading.clone(), body, &[], &[], None).1);
            }
            while let Some(instance) = work.pop() {
                if !seen.insert(instance.clone()) || seen.len() > 500 {
                    continue;
                }
                counts.instances += 1;
                let (event, arguments) = instance;
                let Program { events, .. } = program;
                let (body, parameters) = (&events[event].body, &events[event].parameters);
                let (wrong, made) =
                    violates(program, reading.clone(), body, parameters, &arguments, None);
                if wrong {
                    return fail(format!("ev{event} with {arguments:?} is out of order"));
                }
                work.extend(made);
            }
        }
    }
    Ok(())
}

#[test]
fn accepted_handlers_keep_the_order_and_rejected_ones_break_it() {
    let config = Config {
        cases: testing::cases(600),
        max_shrink_iters: 20_000,
        failure_persistence: None,
        ..Config::default()
    };
    let counts = RefCell::new(Counts::default());
    let mut runner = match std::env::var_os("PLANEWRIGHT_CASES") {
        Some(_) => TestRunner::new(config),
        None => TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha)),
    };
    let outcome = runner.run(&vec(any::<u16>(), 0..260), |numbers| {
        let program = model::generate(&numbers);
        judge(&program, &mut counts.borrow_mut()).map_err(TestCaseError::fail)
    });
    if let Err(TestError::Fail(reason, _)) = outcome {
        panic!("{reason}");
    }
    let counts = counts.into_inner();
    println!("{counts:#?}");
    // The test is conclusive only if it covers programs of all kinds.
    assert!(counts.accepted * 20 > counts.programs, "{counts:#?}");
    assert!(counts.handlers_rejected * 20 > counts.programs, "{counts:#?}");
    assert!(counts.instances > 0, "{counts:#?}");
}
