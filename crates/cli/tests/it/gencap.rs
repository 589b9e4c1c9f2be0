// SPDX-License-Identifier: Apache-2.0
//! `plane gencap`: what the capture has, that it is whole or not there, and mistakes.

use network::capture::{CaptureReader, CapturedPacket};
use std::path::Path;
use std::process::{Command, Output};

fn gencap(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plane"));
    command.arg("gencap").args(words).current_dir(folder).output().expect("plane starts")
}

fn packets(file: &Path) -> Vec<CapturedPacket> {
    let reader = CaptureReader::open(file).expect("a capture");
    reader.map(|packet| packet.expect("a packet")).collect()
}

#[test]
fn a_capture_has_the_packets_and_its_summary() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let words =
        ["a.pcap", "--packets", "2.4k", "--flows", "100", "--duration", "2ms", "--seed", "7"];
    let ran = gencap(folder.path(), &words);
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    let summary = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(summary.starts_with("a.pcap: 2400 packets of 100 flows in 0.002 s\n"), "{summary}");
    assert!(summary.contains("flows: 4 packets in the median"), "{summary}");
    let whole = packets(&folder.path().join("a.pcap"));
    assert_eq!(whole.len(), 2400);
    assert!(whole.is_sorted_by_key(|packet| packet.timestamp_ps));
    assert!(whole[2399].timestamp_ps < 2_000_000_000);
    assert!(whole.iter().all(|packet| !packet.is_snapped()));

    // The same packets without their ends.
    let snapped = [&["b.pcap", "--snaplen", "64", "-q"], &words[1..]].concat();
    let ran = gencap(folder.path(), &snapped);
    assert_eq!((ran.status.code(), ran.stdout.len()), (Some(0), 0));
    let heads = packets(&folder.path().join("b.pcap"));
    for (head, packet) in heads.iter().zip(&whole) {
        assert_eq!(head.original_length_bytes, packet.original_length_bytes);
        assert_eq!(head.data, packet.data[..packet.data.len().min(64)]);
    }
    assert_eq!(heads.len(), whole.len());
}

#[test]
fn mistakes_are_usage_errors_and_leave_no_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (words, part) in [
        (&["--flows", "many"][..], "370k or 8.9M"),
        (&["--flows", "1.5"], "370k or 8.9M"),
        (&["--flows", "0"], "1 to 100000000 flows"),
        (&["--packets", "5"], "10000 flows have 10000 to"),
        (&["--median", "30"], "below the mean"),
        (&["--source-net", "10.0.0.0/33"], "an IPv4 prefix"),
        (&["--source-net", "10.0.0.0/24", "--sources", "300"], "254 addresses of hosts"),
        (&["--source-mac", "x"], "an Ethernet address"),
        (&["--snaplen", "13"], "14..=262144"),
    ] {
        let ran = gencap(folder.path(), &[&["a.pcap"], words].concat());
        let errors = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{words:?}: {errors}");
        assert!(errors.contains(part), "{words:?}: {errors}");
    }
    let ran = gencap(folder.path(), &["missing/a.pcap"]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("NET-E0108"));
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 0);
}
