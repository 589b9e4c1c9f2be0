// SPDX-License-Identifier: Apache-2.0
//! Passes keep the meaning of programs, and give the codelets of the paper's compiler.

use crate::packets::packets;
use crate::{generate, program, thirty};
use domino::Checked;
use domino::core::{Core, flatten_with_calls};
use domino::interpreter::{State, run};
use domino::passes::{self, PASSES, codelets::codelets};

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
        return testing::live::not_run(
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
