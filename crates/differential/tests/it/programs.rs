// SPDX-License-Identifier: Apache-2.0
//! Programs of the examples with their captures and commands.

use differential::forms::Forms;
use differential::subject::Stimulus;
use network::capture::CaptureReader;
use std::path::Path;

/// A program of the examples, whose captures give the packets.
pub fn example(name: &str) -> (Forms, Vec<Stimulus>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let text = std::fs::read_to_string(folder.join(format!("{name}.p4"))).expect("it is there");
    let forms = Forms::of_text(&text).expect("it compiles");
    let mut stimuli = Vec::new();
    if let Ok(commands) = std::fs::read_to_string(folder.join("commands.txt")) {
        stimuli.extend(commands.lines().map(|line| Stimulus::Command(line.to_string())));
    }
    for port in 1..=4 {
        let file = folder.join("captures").join(format!("host{port}.pcap"));
        if !file.exists() {
            continue;
        }
        let packets = CaptureReader::open(&file).expect("it is a capture");
        for packet in packets.take(30) {
            let bytes = packet.expect("it is whole").data;
            stimuli.push(Stimulus::Packet { port, gap_ps: 1_000_000, bytes });
        }
    }
    (forms, stimuli)
}

/// Examples with captures and commands.
pub const EXAMPLES: [&str; 5] =
    ["learning_switch", "meter_police", "router", "source_routing", "stateful_firewall"];
