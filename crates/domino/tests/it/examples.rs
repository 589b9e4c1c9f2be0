// SPDX-License-Identifier: Apache-2.0
//! The programs in `examples/domino`: the interpreter against g++, the compiled program on a device, and their format.

use crate::on_device;
use crate::oracle::{Flavour, Oracle, has_compiler};
use crate::packets::{Reached, packets};
use crate::program;
use domino::Checked;
use domino::interpreter::{State, run_observed};
use std::path::Path;

pub fn examples() -> Vec<(String, String, Checked)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/domino");
    let mut all = Vec::new();
    for file in std::fs::read_dir(folder).expect("examples/domino").flatten() {
        let path = file.path();
        if path.extension().is_some_and(|end| end == "domino") {
            let text = std::fs::read_to_string(&path).expect("readable");
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let checked = program::read(&text);
            all.push((name, text, checked));
        }
    }
    all.sort_by(|one, other| one.0.cmp(&other.0));
    assert!(all.len() >= 8);
    all
}

#[test]
fn examples_are_equal_to_gcc_and_on_a_device() {
    let examples = examples();
    let programs: Vec<_> =
        examples.iter().map(|(_, text, checked)| (text.as_str(), &checked.program)).collect();
    let oracles = has_compiler("the examples against g++").then(|| {
        [Flavour::Checked, Flavour::Plain].map(|flavour| Oracle::compile(&programs, flavour))
    });
    for (number, (name, text, checked)) in examples.iter().enumerate() {
        let program = &checked.program;
        let packets = packets(program, text, 4000, number as u64);
        let (mut state, mut reached) = (State::initial(program), Reached::of(program));
        let mut ours = Vec::new();
        let mut after_300 = None;
        for (at, packet) in packets.iter().enumerate() {
            let mut packet = packet.clone();
            reached.begin(&packet);
            run_observed(program, &mut state, &mut packet, &mut reached);
            ours.push(packet);
            if at == 299 {
                after_300 = Some(state.cells.clone());
            }
        }
        if let Some([checked, plain]) = &oracles {
            let theirs = checked.run(number, program, &packets);
            assert!(
                ours == theirs.packets && theirs.cells.as_ref() == Some(&state.cells),
                "{name}"
            );
            let in_c = plain.run(number, program, &packets);
            assert!(ours[..in_c.packets.len()] == in_c.packets, "{name} in plain C");
            assert!(in_c.cells.is_none_or(|cells| cells == state.cells), "{name} in plain C");
        }
        let (both, all) = reached.both_ways();
        println!(
            "{name}: {both} of {all} conditions both ways, {} colliding cells",
            reached.colliding.len()
        );
        for is_interpreted in [true, false] {
            let (left, cells) = on_device::run(checked, &packets[..300], is_interpreted);
            let left: Option<Vec<Vec<u32>>> = left.into_iter().collect();
            assert_eq!(left.as_deref(), Some(&ours[..300]), "{name} on a device");
            assert_eq!(Some(cells), after_300, "{name} on a device");
        }
    }
}

#[test]
fn examples_are_formatted() {
    for (name, text, _) in examples() {
        let formatted = domino::format(&text).expect("formatted");
        assert_eq!(formatted, text, "{name}");
    }
}
