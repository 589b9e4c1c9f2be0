// SPDX-License-Identifier: Apache-2.0
//! Domino programs on BMv2: p4c compiles the program that `plane emit` writes, and simple_switch gets the packets of a
//! capture. It must send the packets that `plane run` sends. The programs read no clock, which BMv2 takes from the machine.
//! Needs p4c-bm2-ss, simple_switch and simple_switch_CLI on PATH; says NOT RUN without them.

use crate::bmv2::{Step, Switch, is_missing, sent_by_port};
use crate::examples::root;
use network::capture::CaptureReader;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Programs of `examples/domino` and what their fields stand for here.
const PROGRAMS: &[(&str, &str)] = &[
    (
        "count_min",
        "[fields]\nsource = \"ipv4.source\"\ndestination = \"ipv4.destination\"\nis_heavy = \"drop\"\n[ports]\n1 = 2\n",
    ),
    (
        "bloom_filter",
        "[fields]\nsource = \"l4.source_port\"\ndestination = \"ipv4.destination\"\nwas_seen = \"ipv4.dscp\"\n[ports]\n1 = 3\n",
    ),
    ("sampling", "[fields]\nis_sampled = \"egress_port\"\nnumber = \"ipv4.identification\"\n"),
];

fn plane(folder: &Path, arguments: &[&str]) {
    let ran = Command::new(env!("CARGO_BIN_EXE_plane"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("plane starts");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn domino_programs_send_the_same_packets_on_bmv2() {
    if is_missing("domino_programs_send_the_same_packets_on_bmv2") {
        return;
    }
    let capture = root().join("examples/router/captures/host1.pcap");
    for (name, binding) in PROGRAMS {
        let scratch = tempfile::tempdir().expect("a temporary folder");
        let folder = scratch.path();
        let source = root().join(format!("examples/domino/{name}.domino"));
        std::fs::copy(source, folder.join("program.domino")).expect("a copy");
        std::fs::write(folder.join("program.bind.toml"), binding).expect("writable");
        let input = format!("1={}", capture.display());
        plane(folder, &["run", "program.domino", "--in", &input, "--out", "sent"]);
        plane(folder, &["emit", "program.domino", "-o", "emitted"]);
        let json = folder.join("program.json");
        let compiled = Command::new("p4c-bm2-ss")
            .arg("-o")
            .arg(&json)
            .arg(folder.join("emitted/program.p4"))
            .output()
            .expect("p4c-bm2-ss starts");
        let errors = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success() && errors.is_empty(), "{name}: {errors}");
        let wanted: BTreeMap<u32, Vec<Vec<u8>>> = sent_by_port(&folder.join("sent"))
            .into_iter()
            .map(|(port, packets)| (port, packets.into_iter().map(|one| one.bytes).collect()))
            .filter(|(_, packets): &(u32, Vec<_>)| !packets.is_empty())
            .collect();
        let total = wanted.values().map(Vec::len).sum();
        let packets = CaptureReader::open(&capture).expect("a capture");
        let mut steps: Vec<Step> = packets
            .map(|packet| {
                let bytes = packet.expect("a packet").data;
                Step { commands: Vec::new(), port: 1, bytes, sent: total }
            })
            .collect();
        let first_values = std::fs::read_to_string(folder.join("emitted/program.commands.txt"))
            .unwrap_or_default();
        let lines = first_values.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        // Its queues have 64 places otherwise, and packets of a capture come at once.
        let commands = ["set_queue_depth 100000"].into_iter().chain(lines).map(str::to_string);
        let mut switch = Switch::start(folder, &json, &[1], 8);
        switch.run(&commands.collect::<Vec<_>>());
        switch.replay(&std::mem::take(&mut steps));
        let found = switch.sent();
        println!("{name}: {total} packets by {} ports", wanted.len());
        for (port, wanted) in &wanted {
            let found = found.get(port).map_or(&[][..], Vec::as_slice);
            let same = wanted.iter().zip(found).take_while(|(one, other)| one == other).count();
            assert!(
                found.len() == wanted.len() && same == wanted.len(),
                "{name}, port {port}: {} of {} packets, the first {same} are equal; then {:x?}",
                found.len(),
                wanted.len(),
                [wanted.get(same), found.get(same)]
            );
        }
        assert_eq!(found.len(), wanted.len(), "{name}: packets by other ports");
    }
}
