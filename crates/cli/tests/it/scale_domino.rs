// SPDX-License-Identifier: Apache-2.0
//! The four applications of MP5's Figure 8 on captures, with the binding files of `examples/domino`: several pipelines send what one
//! switch sends.

use crate::scale_captures::{plane, scrambled, sorted_packets, write_capture};
use serde_json::Value;
use std::path::Path;

const PACKETS: u64 = 300;

/// A frame of UDP or TCP over IPv4 of a few flows.
pub fn frame(number: u64) -> Vec<u8> {
    let random = |at: u64, bound: u64| (scrambled(number * 16 + at) % bound) as u8;
    let is_udp = !scrambled(number).is_multiple_of(3);
    let (protocol, rest) = if is_udp { (17, 28) } else { (6, 40) };
    let payload = random(1, 40);
    let length = rest + payload;
    let mut bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, random(7, 4), 8, 0];
    bytes.extend([0x45, random(2, 64) << 2, 0, length, 0, 0, 0, 0, 64, protocol, 0, 0]);
    bytes.extend([10, 0, 0, random(3, 6), 224, 0, 0, random(4, 20)]);
    bytes.extend([1, random(5, 4), 2, random(6, 3)]);
    bytes.extend(if is_udp { vec![0, length - 20, 0, 0] } else { vec![0; 16] });
    bytes.extend(vec![number as u8; usize::from(payload)]);
    bytes
}

fn check(program: &str, least_accesses: u64) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    // Packets of both ports at the same times, eight in a cycle's time.
    for port in 1..=2_u64 {
        let packets =
            (0..PACKETS).map(|at| (i128::from(at) * 250_000, frame(at * 2 + port))).collect();
        write_capture(path(&format!("{port}.pcap")).as_ref(), packets);
    }
    let program = format!("examples/domino/{program}.domino");
    let inputs = [1, 2].map(|port| format!("{port}={}", path(&format!("{port}.pcap"))));
    let [one, many] = ["one", "many"].map(path);
    let run = |words: &[&str], out: &str| {
        let inputs = ["--in", &inputs[0], "--in", &inputs[1], "--out", out, "--quiet"];
        let ran = plane(&[&[words[0], &program], &inputs[..], &words[1..]].concat());
        let errors = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(0), "{program}: {errors}");
        (ran.stdout, sorted_packets(Path::new(out)))
    };
    let (_, expected) = run(&["run"], &one);
    for design in ["mp5", "free-by-cell-touch"] {
        let options = ["scale", "--pipelines", "8", "--clock", "1MHz", "--remap-every", "5"];
        let options = [&options[..], &["--design", design, "--format", "json"]].concat();
        let (report, left) = run(&options, &many);
        let report: Value = serde_json::from_slice(&report).expect("JSON");
        assert_eq!(report["equivalent"], true, "{program}: {report}");
        assert_eq!((&report["packets"], &report["lost"]), (&(2 * PACKETS).into(), &0.into()));
        let accesses = report["accesses"].as_u64().expect("a number");
        assert!(accesses >= least_accesses, "{program}: {accesses} accesses");
        assert!(report["queue_entries"].as_u64() > Some(1), "{program}: no packet waits");
        assert!(left == expected, "{program}: other packets leave");
    }
}

#[test]
fn flowlets_on_captures() {
    check("flowlets", 2 * PACKETS);
}

#[test]
fn best_path_on_captures() {
    check("best_path", 2 * PACKETS);
}

#[test]
fn fair_queueing_on_captures() {
    check("fair_queueing", 2 * PACKETS);
}

#[test]
fn sequencer_on_captures() {
    check("sequencer", PACKETS);
}
