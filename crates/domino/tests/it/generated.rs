// SPDX-License-Identifier: Apache-2.0
//! Generated programs: the interpreter against g++, the program in evaluation order and the compiled program on a device.

use crate::generate;
use crate::on_device;
use crate::oracle::{Flavour, Oracle, has_compiler};
use crate::packets::packets;
use crate::program;
use domino::Checked;
use domino::interpreter::{State, run};

/// Runs packets through the interpreter.
fn interpreted(checked: &Checked, packets: &[Vec<u32>]) -> (Vec<Vec<u32>>, State) {
    let mut state = State::initial(&checked.program);
    let packets = packets.iter().map(|packet| {
        let mut packet = packet.clone();
        run(&checked.program, &mut state, &mut packet);
        packet
    });
    (packets.collect(), state)
}

fn programs(seeds: std::ops::Range<u64>) -> Vec<(String, Checked)> {
    let texts = seeds.map(generate::program);
    texts.map(|text| (text.clone(), program::read(&text))).collect()
}

#[test]
fn generated_programs_are_equal_to_gcc() {
    if !has_compiler("generated programs against g++") {
        return;
    }
    let all = programs(testing::seeds(40));
    let borrowed: Vec<_> =
        all.iter().map(|(text, checked)| (text.as_str(), &checked.program)).collect();
    let checked = Oracle::compile(&borrowed, Flavour::Checked);
    let plain = Oracle::compile(&borrowed, Flavour::Plain);
    let mut plain_packets = 0;
    for (number, (text, program)) in all.iter().enumerate() {
        let packets = packets(&program.program, text, 600, number as u64);
        let (ours, state) = interpreted(program, &packets);
        let theirs = checked.run(number, &program.program, &packets);
        for (at, (ours, theirs)) in ours.iter().zip(&theirs.packets).enumerate() {
            assert_eq!(ours, theirs, "program {number}, packet {at} {:?}\n{text}", packets[at]);
        }
        assert_eq!(theirs.cells.as_ref(), Some(&state.cells), "program {number}\n{text}");
        let in_c = plain.run(number, &program.program, &packets);
        plain_packets += in_c.packets.len();
        for (at, (ours, theirs)) in ours.iter().zip(&in_c.packets).enumerate() {
            assert_eq!(
                ours, theirs,
                "program {number} in plain C, packet {at} {:?}\n{text}",
                packets[at]
            );
        }
    }
    println!(
        "{} programs, {} packets, {plain_packets} in plain C, 0 differences",
        all.len(),
        all.len() * 600
    );
}

#[test]
fn generated_programs_are_equal_in_evaluation_order() {
    for (number, (text, checked)) in programs(testing::seeds(200)).iter().enumerate() {
        let packets = packets(&checked.program, text, 200, number as u64);
        let (expected, state) = interpreted(checked, &packets);
        let mut core_state = State::initial(&checked.program);
        for (at, (packet, expected)) in packets.iter().zip(&expected).enumerate() {
            let mut found = packet.clone();
            domino::core::run(&checked.core, &mut core_state, &mut found);
            assert_eq!(found, *expected, "program {number}, packet {at} {packet:?}\n{text}");
        }
        assert_eq!(core_state, state, "program {number}\n{text}");
    }
}

#[test]
fn generated_programs_are_equal_on_a_device() {
    for (number, (text, checked)) in programs(testing::seeds(24)).iter().enumerate() {
        let packets = packets(&checked.program, text, 100, number as u64);
        let (expected, state) = interpreted(checked, &packets);
        let (found, cells) = on_device::run(checked, &packets, number % 2 == 0);
        for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_eq!(
                found.as_ref(),
                Some(expected),
                "program {number}, packet {at} {:?}\n{text}",
                packets[at]
            );
        }
        assert_eq!(cells, state.cells, "program {number}\n{text}");
    }
}
