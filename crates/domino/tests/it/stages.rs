// SPDX-License-Identifier: Apache-2.0
//! Compiled programs, cut into stages by drawn assignments, against the interpreter of the language, on both engines: the
//! examples, and the thirty programs of domino-examples if `DOMINO_EXAMPLES` names a folder with them.

use crate::packets::packets;
use crate::{examples, on_device, thirty};
use domino::Checked;
use domino::interpreter::{State, run};
use testing::cases;
use testing::cuts::{CutCounts, cut_controls};
use testing::live::not_run;

/// Runs a program in some cuts; returns what they were like, and how many packets ran.
fn cut(
    (name, text, checked): (&str, &str, &Checked),
    (count, cuts): (usize, u64),
) -> (CutCounts, usize) {
    let packets = packets(&checked.program, text, count, 5);
    let mut state = State::initial(&checked.program);
    let ours = packets.iter().map(|packet| {
        let mut packet = packet.clone();
        run(&checked.program, &mut state, &mut packet);
        Some(packet)
    });
    let ours: Vec<Option<Vec<u32>>> = ours.collect();
    let (mut all, mut ran) = (CutCounts::default(), 0);
    for is_interpreted in [true, false] {
        for seed in 0..cases(cuts) {
            let mut counts = CutCounts::default();
            let (left, cells) =
                on_device::run_changed(checked, &packets, is_interpreted, |program| {
                    counts = cut_controls(program, 6 + (seed % 11) as u32, seed);
                });
            assert_eq!(left, ours, "{name}, seed {seed}");
            assert!(cells == state.cells, "{name}, seed {seed}: cells differ");
            all.include(&counts);
            ran += packets.len();
        }
    }
    (all, ran)
}

#[test]
fn examples_mean_the_same_in_stages() {
    let (mut all, mut packets) = (CutCounts::default(), 0);
    for (name, text, checked) in examples::examples() {
        let (counts, ran) = cut((&name, &text, &checked), (60, 1));
        all.include(&counts);
        packets += ran;
    }
    println!("examples of Domino, {packets} packets: {all}");
    assert!(all.refused.is_empty() && all.with_four_stages > 10, "{all}");
}

#[test]
fn the_thirty_programs_mean_the_same_in_stages() {
    let Some(examples) = thirty::examples() else {
        return not_run("the thirty programs in stages", "DOMINO_EXAMPLES names no folder");
    };
    let (mut all, mut packets) = (CutCounts::default(), 0);
    for thirty::Example { name, text, checked } in &examples {
        let (counts, ran) = cut((name, text, checked), (100, 2));
        println!("{name}: {counts}");
        all.include(&counts);
        packets += ran;
    }
    println!("the thirty programs of Domino, {packets} packets, 0 differences: {all}");
}
