// SPDX-License-Identifier: Apache-2.0
//! The thirty programs of packet-transactions/domino-examples, unmodified, against g++. The environment variable
//! `DOMINO_EXAMPLES` names a folder with that repository.

use crate::on_device;
use crate::oracle::{Flavour, Oracle, has_compiler};
use crate::packets::{Reached, packets};
use crate::program;
use domino::Checked;
use domino::interpreter::{State, run_observed};
use std::path::PathBuf;
use testing::programs::not_run;

/// A program with its text.
pub struct Example {
    pub name: String,
    pub text: String,
    pub checked: Checked,
}

pub fn examples() -> Option<Vec<Example>> {
    let folder = PathBuf::from(std::env::var_os("DOMINO_EXAMPLES")?);
    let mut all = Vec::new();
    for part in ["domino_programs", "generalize"] {
        let files = std::fs::read_dir(folder.join(part)).expect("a folder of domino-examples");
        let mut files: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
        files.sort();
        for file in files.into_iter().filter(|file| file.extension().is_some_and(|end| end == "c"))
        {
            let text = std::fs::read_to_string(&file).expect("readable");
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let checked = program::read(&text);
            all.push(Example { name, text, checked });
        }
    }
    Some(all)
}

/// Conditions that no run of a practical length makes true and false, with the reason.
const ONE_WAY: &[(&str, &str, &str)] = &[
    (
        "codel",
        "val > 0",
        "its argument is `count + 1` or 1, and `count` grows by 1 a packet from 0: it wraps after 2^31 - 1 packets",
    ),
    ("heavy_hitters", "sketch_cnt_2[p.sketch2_idx] > low_th", EQUAL_HASHES),
    ("heavy_hitters", "sketch_cnt_3[p.sketch3_idx] > low_th", EQUAL_HASHES),
    ("heavy_hitters", "sketch_cnt_2[p.sketch2_idx] < hi_th", EQUAL_HASHES),
    ("heavy_hitters", "sketch_cnt_3[p.sketch3_idx] < hi_th", EQUAL_HASHES),
    ("learn_filter", "filter2[pkt.filter2_idx]", EQUAL_HASHES),
    ("learn_filter", "filter3[pkt.filter3_idx]", EQUAL_HASHES),
];
const EQUAL_HASHES: &str = "the three hashes are one function, so the three arrays stay equal and the first condition decides";

#[test]
fn the_thirty_programs_are_equal_to_gcc() {
    let Some(examples) = examples() else {
        return not_run("the thirty programs", "DOMINO_EXAMPLES names no folder");
    };
    if !has_compiler("the thirty programs") {
        return;
    }
    assert_eq!(examples.len(), 30);
    let programs: Vec<_> =
        examples.iter().map(|one| (one.text.as_str(), &one.checked.program)).collect();
    let checked = Oracle::compile(&programs, Flavour::Checked);
    let plain = Oracle::compile(&programs, Flavour::Plain);
    let count = testing::cases(40_000u64) as usize;
    let mut totals = [0usize; 4];
    println!("program: packets, in C, both ways/conditions, colliding cells, outside, undefined");
    for (number, example) in examples.iter().enumerate() {
        let (name, program) = (&example.name, &example.checked.program);
        let packets = packets(program, &example.text, count, number as u64);
        let mut state = State::initial(program);
        let mut reached = Reached::of(program);
        let mut ours = Vec::new();
        for packet in &packets {
            let mut packet = packet.clone();
            reached.begin(&packet);
            run_observed(program, &mut state, &mut packet, &mut reached);
            ours.push(packet);
        }
        let theirs = checked.run(number, program, &packets);
        for (at, (ours, theirs)) in ours.iter().zip(&theirs.packets).enumerate() {
            assert_eq!(ours, theirs, "{name}: packet {at} {:?}", packets[at]);
        }
        assert!(theirs.cells.as_ref() == Some(&state.cells), "{name}: cells differ");
        let in_c = plain.run(number, program, &packets);
        for (at, (ours, theirs)) in ours.iter().zip(&in_c.packets).enumerate() {
            assert_eq!(ours, theirs, "{name}: packet {at} {:?} in plain C", packets[at]);
        }
        if let Some(cells) = &in_c.cells {
            assert!(*cells == state.cells, "{name}: cells differ in plain C");
        }
        let (both, all) = reached.both_ways();
        println!(
            "{name}: {count}, {}, {both}/{all}, {}, {}, {}",
            in_c.packets.len(),
            reached.colliding.len(),
            reached.outside,
            reached.undefined
        );
        for (span, ways) in reached.branches.iter().filter(|(_, ways)| ways.contains(&0)) {
            let at = example.checked.map.location(*span).map_or(0, |at| at.line);
            let condition = example.checked.map.slice(*span);
            let known = ONE_WAY.iter().find(|(one, text, _)| one == name && *text == condition);
            let way = ways[1] > 0;
            let (_, _, reason) =
                known.unwrap_or_else(|| panic!("{name}, line {at}: `{condition}` is always {way}"));
            println!("    line {at}: `{condition}` is always {way}: {reason}");
        }
        for (total, more) in totals.iter_mut().zip([count, both, all, reached.colliding.len()]) {
            *total += more;
        }
    }
    let [packets, both, all, colliding] = totals;
    println!(
        "30 programs, {packets} packets, {both} of {all} conditions both ways, {colliding} colliding cells, 0 differences"
    );
}

#[test]
fn the_thirty_programs_are_equal_on_a_device() {
    let Some(examples) = examples() else {
        return not_run("the thirty programs on a device", "DOMINO_EXAMPLES names no folder");
    };
    let mut count = 0;
    for (number, Example { name, text, checked }) in examples.iter().enumerate() {
        let packets = packets(&checked.program, text, 400, number as u64);
        let (ours, our_cells) = on_device::interpreted(checked, &packets);
        for is_interpreted in [true, false] {
            let (left, cells) = on_device::run(checked, &packets, is_interpreted);
            assert_eq!(left, ours, "{name}");
            assert!(cells == our_cells, "{name}: cells differ");
            count += packets.len();
        }
    }
    println!("30 programs on a device, {count} packets, 0 differences");
}
