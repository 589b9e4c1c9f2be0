// SPDX-License-Identifier: Apache-2.0
//! The captures in `examples/`, which tcpdump wrote, read to their end, and writing their packets
//! again gives the same bytes: our writer and tcpdump agree on the format.

use network::capture::{CaptureReader, PcapEncoder};
use std::path::{Path, PathBuf};

fn captures() -> Vec<PathBuf> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut paths: Vec<_> = std::fs::read_dir(examples)
        .expect("the examples")
        .filter_map(|entry| std::fs::read_dir(entry.ok()?.path().join("captures")).ok())
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "pcap"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn tcpdump_files_survive_reading_and_writing() {
    let paths = captures();
    assert!(paths.len() > 20, "only {} captures found", paths.len());
    for path in paths {
        let bytes = std::fs::read(&path).expect("readable");
        let mut encoder = PcapEncoder::new(Vec::new()).expect("to memory");
        for packet in CaptureReader::open(&path).expect("a capture") {
            let packet = packet.unwrap_or_else(|error| panic!("{error}"));
            assert!(!packet.is_snapped());
            encoder.write_captured(&packet).expect("to memory");
        }
        let written = encoder.finish().expect("to memory");
        assert!(written == bytes, "{} differs", path.display());
    }
}
