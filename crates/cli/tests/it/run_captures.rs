// SPDX-License-Identifier: Apache-2.0
//! `plane run` and the captures that it reads: cut packets, times that go back, standard input, results as JSON, and
//! signals during a run.

use network::capture::{CaptureReader, CapturedPacket, LinkType, PcapEncoder};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Counts packets and bytes, writes `packet_length` into the packet, and sends it to port 2.
const PROGRAM: &str = r#"
#include <core.p4>
#include <v1model.p4>
header h_t { bit<32> length; bit<8> kind; }
struct headers_t { h_t h; }
struct metadata_t { }
struct seen_t { bit<8> kind; }
parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start { packet.extract(hdr.h); transition accept; }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply { } }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    register<bit<64>>(4) last;
    counter(4, CounterType.packets_and_bytes) seen;
    direct_counter(CounterType.packets) by_kind;
    action send() { std.egress_spec = 2; }
    action drop() { mark_to_drop(std); }
    table kinds {
        key = { hdr.h.kind: exact; }
        actions = { send; drop; }
        default_action = send();
        counters = by_kind;
    }
    apply {
        hdr.h.length = std.packet_length;
        seen.count((bit<32>)std.ingress_port);
        last.write(3, 64w0xffff_ffff_ffff_ffff);
        kinds.apply();
        if (hdr.h.kind == 7) { digest<seen_t>(1, { hdr.h.kind }); }
    }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply { } }
control C(inout headers_t hdr, inout metadata_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

const SECOND_PS: i128 = 1_000_000_000_000;

/// A packet of a capture: its time in seconds, the bytes in the file, and its length on the wire.
type Record<'a> = (i128, &'a [u8], u32);

fn capture(records: &[Record<'_>]) -> Vec<u8> {
    let mut encoder = PcapEncoder::new(Vec::new()).expect("a vector takes all");
    for (seconds, data, original_length_bytes) in records {
        let packet = CapturedPacket {
            timestamp_ps: seconds * SECOND_PS,
            data: data.to_vec(),
            original_length_bytes: *original_length_bytes,
            link_type: LinkType::ETHERNET,
        };
        encoder.write_captured(&packet).expect("it fits");
    }
    encoder.finish().expect("a vector takes all")
}

/// The switch handles a packet when the next one has arrived, because others may arrive at the same time.
const TWO_PACKETS: &[Record<'_>] = &[(1, &[0, 0, 0, 0, 1], 5), (2, &[0, 0, 0, 0, 1], 5)];

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(records: &[Record<'_>]) -> Folder {
        let folder = Folder(tempfile::tempdir().expect("a temporary folder"));
        std::fs::write(folder.path("program.p4"), PROGRAM).expect("written");
        std::fs::write(folder.path("in.pcap"), capture(records)).expect("written");
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plane"));
        command.args(["run", "program.p4", "--out", "out"]).args(words.split_whitespace());
        command.current_dir(self.0.path());
        command
    }

    fn run(&self, words: &str) -> Output {
        self.command(words).output().expect("plane starts")
    }

    fn start_with_open_input(&self, records: &[Record<'_>]) -> Child {
        let mut command = self.command("--in 1=-");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("plane starts");
        let pipe = child.stdin.as_mut().expect("a pipe");
        pipe.write_all(&capture(records)).and_then(|()| pipe.flush()).expect("plane reads");
        child
    }

    /// The names of files in the output folder.
    fn written(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path("out")).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn packets(&self, name: &str) -> Vec<CapturedPacket> {
        let reader = CaptureReader::open(&self.path(name)).expect("a capture");
        reader.map(|packet| packet.expect("a packet")).collect()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn packets_cut_by_the_capture_are_announced_or_filled_up() {
    let whole: &[u8] = &[0, 0, 0, 0, 1, 9];
    let folder = Folder::new(&[(1, whole, 6), (2, whole, 54), (3, whole, 60)]);
    for rest in ["", "-q", "--verify -q"] {
        let ran = folder.run(&format!("--in 1=in.pcap {rest}"));
        let errors = text(&ran.stderr);
        let warning = "warning[NET-W0101]: `in.pcap`: record 2 has only 6 of the packet's 54 bytes";
        assert_eq!(errors.matches(warning).count(), 1, "{rest}: {errors}");
        assert_eq!(errors.matches("NET-W0101").count(), 1, "{rest}: {errors}");
        assert!(errors.contains("--pad-snapped"), "{errors}");
        let lengths: Vec<usize> =
            folder.packets("out/2.pcap").iter().map(|packet| packet.data.len()).collect();
        assert_eq!(lengths, [6, 6, 6]);
    }
    assert!(text(&folder.run("--in 1=in.pcap").stdout).contains(
        "2 packets were cut by their capture (snap length) and were run without the missing bytes"
    ));
    assert!(!text(&folder.run("--in 1=in.pcap --no-warnings").stderr).contains("NET-W0101"));
    for rest in ["", "--verify"] {
        let ran = folder.run(&format!("--in 1=in.pcap --pad-snapped {rest}"));
        assert!(!text(&ran.stderr).contains("NET-W0101"), "{}", text(&ran.stderr));
        let summary = text(&ran.stdout);
        assert!(summary.contains("with zeros for the missing bytes"), "{summary}");
        let sent = folder.packets("out/2.pcap");
        let seen: Vec<(usize, u8)> =
            sent.iter().map(|packet| (packet.data.len(), packet.data[3])).collect();
        assert_eq!(seen, [(6, 6), (54, 54), (60, 60)], "length, and packet_length in the program");
        assert!(sent[1].data[6..].iter().all(|byte| *byte == 0));
    }
}

#[test]
fn a_short_snap_length_is_announced_before_the_first_packet() {
    let whole: &[u8] = &[0, 0, 0, 0, 1, 9];
    let folder = Folder::new(&[]);
    let mut bytes = capture(&[(1, whole, 6), (1, whole, 6), (2, whole, 54)]);
    bytes[16..20].copy_from_slice(&96_u32.to_le_bytes());
    std::fs::write(folder.path("in.pcap"), bytes).expect("written");
    // Both streams go to one pipe, in which the order is kept.
    let out = std::fs::File::create(folder.path("log")).expect("a file");
    let mut command = folder.command("--in 1=in.pcap --trace");
    command.stdout(out.try_clone().expect("a second handle")).stderr(out);
    assert!(command.status().expect("plane starts").success());
    let log = std::fs::read_to_string(folder.path("log")).expect("the log");
    let (warning, packet) = (log.find("NET-W0101"), log.find("packet 0"));
    assert!(warning.is_some() && warning < packet, "{log}");
    assert_eq!(log.matches("NET-W0101").count(), 1, "{log}");
}

#[test]
fn times_that_go_back_are_announced() {
    let bytes: &[u8] = &[0, 0, 0, 0, 1];
    let folder = Folder::new(&[(5, bytes, 5), (3, bytes, 5), (2, bytes, 5), (6, bytes, 5)]);
    let errors = text(&folder.run("--in 1=in.pcap -q").stderr);
    let warning =
        "warning[NET-W0102]: `in.pcap`: record 2 is 2 s earlier than the latest packet before it";
    assert!(errors.contains(warning) && errors.matches("NET-W0102").count() == 1, "{errors}");
    let times: Vec<i128> =
        folder.packets("out/2.pcap").iter().map(|packet| packet.timestamp_ps / SECOND_PS).collect();
    assert_eq!(times, [5, 5, 5, 6]);
}

#[test]
fn a_capture_from_standard_input() {
    let folder = Folder::new(TWO_PACKETS);
    let mut child = folder.start_with_open_input(TWO_PACKETS);
    drop(child.stdin.take());
    let ran = child.wait_with_output().expect("plane ends");
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    assert_eq!(folder.packets("out/2.pcap").len(), 2);
    let ran = folder.run("--in 1=- --in 2=-");
    assert_eq!(ran.status.code(), Some(2));
    assert!(text(&ran.stderr).contains("can be read only once"), "{}", text(&ran.stderr));
}

/// Waits until the run has sent its first packet.
fn wait_for_a_packet(folder: &Folder) {
    let begin = Instant::now();
    while folder.written().is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(60), "no packet was sent");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn signal(child: &Child, name: &str) {
    let arguments = [format!("-{name}"), child.id().to_string()];
    assert!(Command::new("kill").args(arguments).status().expect("kill starts").success());
}

#[test]
fn signals_end_a_run_with_complete_captures() {
    use std::os::unix::process::ExitStatusExt;
    let records = TWO_PACKETS;
    for (name, number) in [("INT", 2), ("TERM", 15)] {
        let folder = Folder::new(records);
        let mut child = folder.start_with_open_input(records);
        // The end of the input would end the run.
        let pipe = child.stdin.take();
        wait_for_a_packet(&folder);
        signal(&child, name);
        let ran = child.wait_with_output().expect("plane ends");
        drop(pipe);
        assert_eq!(ran.status.signal(), Some(number));
        let errors = text(&ran.stderr);
        let line = "interrupted: out/2.pcap with the packets sent until then";
        assert!(errors.contains(line), "{errors}");
        assert_eq!(folder.written(), ["2.pcap"]);
        assert_eq!(folder.packets("out/2.pcap").len(), 1);
    }
}

#[test]
fn the_next_run_removes_captures_of_a_killed_one() {
    let records = TWO_PACKETS;
    let folder = Folder::new(records);
    let mut child = folder.start_with_open_input(records);
    let pipe = child.stdin.take();
    wait_for_a_packet(&folder);
    signal(&child, "KILL");
    child.wait_with_output().expect("plane ends");
    drop(pipe);
    assert!(folder.written()[0].ends_with(".partial"), "{:?}", folder.written());
    // A file of a process that runs is not this run's business.
    let of_another = format!("out/.3.pcap.{}.partial", std::process::id());
    std::fs::write(folder.path(&of_another), "").expect("written");
    assert_eq!(folder.run("--in 1=in.pcap").status.code(), Some(0));
    assert_eq!(folder.written(), [&of_another[4..], "2.pcap"]);
}

#[test]
fn results_as_json() {
    let folder = Folder::new(&[
        (1, &[0, 0, 0, 0, 1], 5),
        (2, &[0, 0, 0, 0, 7, 1], 6),
        (3, &[0, 0, 0, 0, 1], 5),
    ]);
    std::fs::write(folder.path("entries"), "table_add kinds drop 7 =>\n").expect("written");
    let read = |rest: &str| -> Value {
        let ran = folder.run(&format!("--in 1=in.pcap --entries entries --json {rest}"));
        assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
        serde_json::from_slice(&ran.stdout).expect("one JSON object")
    };
    let result = read("");
    let expected = serde_json::json!({
        "program": "program.p4", "engine": "jit", "verified": false, "complete": true, "error": null,
        "ports": [
            {"port": 1, "packets_in": 3, "bytes_in": 16, "packets_out": 0, "bytes_out": 0},
            {"port": 2, "packets_in": 0, "bytes_in": 0, "packets_out": 2, "bytes_out": 10},
        ],
        "total": {"packets_in": 3, "bytes_in": 16, "packets_out": 2, "bytes_out": 10},
        "dropped": {"packets": 1, "reasons": {"ingress drop": 1}},
        "multicast_copies": 0, "clones": 0, "resubmitted": 0, "recirculated": 0, "snapped_packets": 0,
        "counters": [
            {"name": "I.seen", "unit": "packets_and_bytes", "size": 4,
             "cells": [{"packets": 3, "bytes": 16, "index": 1}]},
            {"name": "I.by_kind", "unit": "packets", "entries": [
                {"packets": 1, "bytes": 6, "table": "I.kinds", "keys": {"hdr.h.kind": "7"}},
            ]},
        ],
        "registers": [{"name": "I.last", "width_bits": 64, "size": 4,
            "cells": [{"index": 3, "value": "18446744073709551615"}]}],
        "digests": [{"name": "seen_t", "packet": 1, "time_ps": 1_000_000_000_000_u64, "fields": {"kind": 7}}],
        "captures": {"written": ["out/2.pcap"], "earlier": []},
    });
    assert_eq!(result, expected, "{result:#}");
    let verified = read("--verify -q");
    assert_eq!(verified["verified"], true);
    for part in ["ports", "counters", "registers", "digests"] {
        assert_eq!(verified[part], expected[part]);
    }
    let ran = folder.run("--in 1=in.pcap --json --after entries");
    assert_eq!(ran.status.code(), Some(2), "{}", text(&ran.stderr));
    // The document names every field.
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/run-json.md");
    let document = std::fs::read_to_string(document).expect("the document");
    for field in expected.as_object().expect("an object").keys() {
        assert!(document.contains(&format!("`{field}`")), "{field}");
    }
}
