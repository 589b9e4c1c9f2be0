// SPDX-License-Identifier: Apache-2.0
//! Passes keep the meaning of programs, and give the codelets of the paper's compiler.

use crate::packets::packets;
use crate::{generate, program, thirty};
use atoms::{Point, Words};
use domino::Checked;
use domino::core::{Core, Expression, StatementKind, flatten_with_calls, run_values};
use domino::interpreter::{State, run};
use domino::passes::{self, PASSES, codelets::codelets, transactions::transaction};

/// Compares all passes with the interpreter. Returns the result of the last one, unless an array has two indices.
fn check(name: &str, text: &str, checked: &Checked, count: usize) -> Option<Core> {
    let packets = packets(&checked.program, text, count, 1);
    let mut state = State::initial(&checked.program);
    let expected: Vec<Vec<u32>> = packets
        .iter()
        .map(|packet| {
            let mut packet = packet.clone();
            run(&checked.program, &mut state, &mut packet);
            packet
        })
        .collect();
    let mut last = None;
    for pass in PASSES {
        let core = flatten_with_calls(&checked.program).expect("not too large");
        let core = passes::run(core, Some(pass.name)).expect("a pass").ok()?;
        let mut core_state = State::initial(&checked.program);
        for (at, (packet, expected)) in packets.iter().zip(&expected).enumerate() {
            let mut found = packet.clone();
            domino::core::run(&core, &mut core_state, &mut found);
            assert_eq!(
                found,
                *expected,
                "{name} after {}, packet {at} {packet:?}\n{text}\n{}",
                pass.name,
                passes::print(&core)
            );
        }
        assert!(
            core_state == state,
            "{name} after {}: cells differ\n{text}\n{}",
            pass.name,
            passes::print(&core)
        );
        last = Some(core);
    }
    last
}

#[test]
fn indices_of_equal_values_are_one_index() {
    let cases = [
        ("cells[p.a & 15] = cells[p.a & 15] + 1; p.b = cells[p.a & 15];", true),
        ("int i = p.a % 16; cells[i]++; p.b = cells[p.a % 16];", true),
        ("cells[hash2(p.a, 1) % 16] += p.b; p.b = cells[hash2(p.a, 1) % 16];", true),
        ("p.b = p.a; cells[p.b & 15] = cells[p.a & 15] * 3 + 1;", true),
        ("cells[p.a & 15] += 1; p.a = p.a + 1; p.b = cells[p.a & 15];", false),
        ("cells[p.a & 15] += 1; p.b = cells[p.a & 7];", false),
        ("cells[hash2(p.a, 1) % 16] += 1; p.b = cells[hash2(p.b, 1) % 16];", false),
    ];
    for (body, is_one) in cases {
        let text = format!(
            "#include \"hashes.h\"\nstruct Packet {{ int a; int b; }};\nint cells[16];\n\
             void run(struct Packet p) {{ {body} }}\n"
        );
        let found = check(body, &text, &program::read(&text), 100);
        assert_eq!(found.is_some(), is_one, "{body}");
    }
}

#[test]
fn passes_keep_the_meaning_of_generated_programs() {
    let mut done = 0;
    for seed in testing::seeds(200) {
        let text = generate::program(seed);
        done += usize::from(
            check(&format!("program {seed}"), &text, &program::read(&text), 100).is_some(),
        );
    }
    println!("{done} programs have one index for each array");
}

/// Compares what the stateful codelets do to their cells with the program after the last pass. Returns how many packets
/// reached cells, and in how many cases these changed.
fn check_transactions(name: &str, text: &str, checked: &Checked, core: &Core) -> [usize; 2] {
    let words = Words::new(32);
    let [mut compared, mut changed] = [0, 0];
    for codelet in codelets(core).codelets.iter().filter(|one| !one.states.is_empty()) {
        let Ok(transaction) = transaction(core, codelet) else { continue };
        let mut state = State::initial(&checked.program);
        for packet in packets(&checked.program, text, 60, 3) {
            let before = state.clone();
            let values = run_values(core, &mut state, &packet);
            let cell = |global: &usize| {
                let index = codelet.statements.iter().find_map(|at| match &core.body[*at].kind {
                    StatementKind::Read(_, one, index) | StatementKind::Write(one, index, _)
                        if one == global =>
                    {
                        Some(index)
                    }
                    _ => None,
                });
                match index? {
                    Expression::Constant(index) => Some(*index as usize),
                    Expression::Variable(index) => Some(values[index.index()] as usize),
                    other => panic!("{name}: {other:?} is no index of a cell"),
                }
            };
            let cells: Option<Vec<usize>> = codelet.states.iter().map(cell).collect();
            let read = |state: &State| -> Option<Vec<u32>> {
                let cells = codelet.states.iter().zip(cells.as_ref()?);
                cells.map(|(global, cell)| state.cells[*global].get(*cell).copied()).collect()
            };
            // A cell outside of its array is none of the codelet's.
            let (Some(old), Some(new)) = (read(&before), read(&state)) else { continue };
            // Each variable has one definition, so its value at the end is the only one.
            let inputs = transaction.inputs.iter().map(|variable| values[variable.index()]);
            let point = Point { states: old.clone(), inputs: inputs.collect() };
            let mut computed = point.clone();
            transaction.codelet.compute_inputs(words, &mut computed);
            assert_eq!(computed, point, "{name}\n{}\n{text}", passes::print(core));
            let found = transaction.codelet.next(words, &point);
            assert_eq!(found, new, "{name}: {point:?}\n{}\n{text}", transaction.text);
            compared += 1;
            changed += usize::from(old != new);
        }
    }
    [compared, changed]
}

#[test]
fn transactions_are_what_codelets_do() {
    let [mut compared, mut changed] = [0, 0];
    for seed in testing::seeds(200) {
        let text = generate::program(seed);
        let checked = program::read(&text);
        let core = flatten_with_calls(&checked.program).expect("not too large");
        if let Some(Ok(core)) = passes::run(core, None) {
            let [more, changes] = check_transactions("generated", &text, &checked, &core);
            compared += more;
            changed += changes;
        }
    }
    println!("{compared} transactions, {changed} changed cells");
    assert!(changed > 100, "{changed} of {compared}");
}

/// Helpers and hashes of state are in the place of their calls.
#[test]
fn transactions_have_helpers_and_hashes_in_place() {
    let text = "#include \"hashes.h\"\nstruct Packet { int a; int b; };\nint s = 7;\nint t;\n\
        int root(int x) { int r = 0; for (int i = 1; i < 9; i++) { if (x < i * i) return r; r = i; } return 9; }\n\
        void func(struct Packet p) { s = root(s + p.a) + hash2(p.a, p.b) % 5; t = hash2(t, p.a); }\n";
    let checked = program::read(text);
    let core = flatten_with_calls(&checked.program).expect("not too large");
    let core = passes::run(core, None).expect("all passes").expect("one index");
    let [compared, changed] = check_transactions("helpers", text, &checked, &core);
    assert!(compared == 120 && changed > 60, "{changed} of {compared}");
}

/// Stages, width and codelets of the thirty programs as the paper's compiler has them.
const TABLE: &[(&str, [usize; 3])] = &[
    ("avq", [7, 3, 12]),
    ("codel", [15, 3, 22]),
    ("conga", [4, 2, 6]),
    ("dns_ttl_change", [6, 3, 10]),
    ("flowlets", [6, 2, 8]),
    ("flowlets_intuitive", [8, 2, 10]),
    ("heavy_hitters", [10, 9, 23]),
    ("hull", [7, 1, 7]),
    ("learn_filter", [4, 3, 8]),
    ("rcp", [3, 3, 7]),
    ("sampling", [4, 2, 5]),
    ("stfq", [4, 2, 6]),
    ("trTCM", [7, 3, 9]),
    ("trTCM_sat_core", [2, 1, 2]),
    ("trTCM_unsat_core", [4, 1, 4]),
    ("blue_decrease", [4, 2, 5]),
    ("blue_increase", [4, 2, 5]),
    ("ftp_monitoring", [7, 4, 13]),
    ("hash_pipe_first_stage", [5, 3, 10]),
    ("hash_pipe_second_stage", [5, 5, 11]),
    ("hula_forwarding", [7, 3, 10]),
    ("hula_probe", [7, 5, 16]),
    ("many_ip_domains", [10, 3, 13]),
    ("marple_new_flow", [2, 2, 3]),
    ("marple_tcp_nmo", [3, 2, 4]),
    ("red", [11, 3, 19]),
    ("snap_heavy_hitter", [3, 2, 4]),
    ("spam-detection", [3, 2, 4]),
    ("stateful_fw", [6, 3, 11]),
    ("superspreader", [10, 4, 14]),
];

#[test]
fn the_thirty_programs_have_the_codelets_of_the_reference() {
    let Some(examples) = thirty::examples() else {
        return testing::programs::not_run(
            "codelets of the thirty programs",
            "DOMINO_EXAMPLES names no folder",
        );
    };
    println!("program: stages, width, codelets");
    let mut different = Vec::new();
    for thirty::Example { name, text, checked } in &examples {
        let core = check(name, text, checked, 500).expect("one index for each array");
        let found = codelets(&core);
        let numbers = [found.stages(), found.width(), found.codelets.len()];
        println!("{name}: {numbers:?}");
        let expected = TABLE.iter().find(|(one, _)| one == name).map(|(_, numbers)| *numbers);
        if expected != Some(numbers) {
            different
                .push(format!("{name}: {numbers:?}, not {expected:?}\n{}", passes::print(&core)));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    println!("{} programs, all as the paper's compiler has them", examples.len());
}
