// SPDX-License-Identifier: Apache-2.0
//! `plane run --pipelines N`: captures, statistics, digests, registers, log and order are byte for byte those of one thread,
//! and what cannot be run so says why.

use crate::examples::{captures, commands, subfolders};
use crate::recorded_commands::{plane, without, words};
use network::capture::{CapturedPacket, LinkType, PcapEncoder};
use std::path::Path;

/// Two registers at indices of the packet, of which the first decides about the second, a table, counters, a meter, a digest, a
/// line of the log, random numbers, and copies to a group.
const PROGRAM: &str = r#"
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> flow; bit<8> kind; bit<32> seen; bit<32> odd; bit<16> random; bit<48> time; }
struct headers_t { h_t h; }
struct metadata_t { bit<32> seen; bit<32> odd; }
struct seen_t { bit<8> flow; bit<32> seen; }
parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start { packet.extract(hdr.h); transition accept; }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply { } }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    register<bit<32>>(16) seen;
    register<bit<32>>(4) odd;
    counter(8, CounterType.packets_and_bytes) kinds;
    direct_counter(CounterType.packets) hits;
    meter(32, MeterType.packets) rates;
    action send(bit<9> port) { std.egress_spec = port; }
    action copy(bit<16> group) { std.mcast_grp = group; }
    action drop() { mark_to_drop(std); }
    table ports {
        key = { hdr.h.kind: exact; }
        actions = { send; copy; drop; }
        default_action = send(2);
        counters = hits;
    }
    apply {
        seen.read(meta.seen, (bit<32>)hdr.h.flow & 15);
        meta.seen = meta.seen * 31 + (bit<32>)hdr.h.kind + 1;
        seen.write((bit<32>)hdr.h.flow & 15, meta.seen);
        hdr.h.seen = meta.seen;
        if (meta.seen & 1 == 1) {
            odd.read(meta.odd, (bit<32>)hdr.h.kind & 3);
            meta.odd = meta.odd * 7 + (bit<32>)hdr.h.flow;
            odd.write((bit<32>)hdr.h.kind & 3, meta.odd);
            hdr.h.odd = meta.odd;
        }
        bit<2> colour;
        rates.execute_meter((bit<32>)hdr.h.flow & 31, colour);
        if (colour == 2) { hdr.h.kind = 1; }
        random(hdr.h.random, 0, 1000);
        hdr.h.time = std.ingress_global_timestamp;
        kinds.count((bit<32>)hdr.h.kind & 7);
        if (hdr.h.kind == 5) { digest<seen_t>(1, { hdr.h.flow, meta.seen }); }
        if (hdr.h.kind == 6) { log_msg("flow {} has {}", { hdr.h.flow, meta.seen }); }
        ports.apply();
    }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    register<bit<32>>(1) left;
    bit<32> count;
    apply {
        left.read(count, 0);
        left.write(0, count + 1);
        hdr.h.odd = hdr.h.odd ^ (count << 16);
    }
}
control C(inout headers_t hdr, inout metadata_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

const ENTRIES: &str = "\
mc_mgrp_create 1
mc_node_create 0 3 4
mc_node_associate 1 0
table_add ports send 1 => 5
table_add ports copy 2 => 1
table_add ports drop 3 =>
meter_set_rates rates 3 0.01:1 0.02:2
meter_set_rates rates 8 0.01:1 0.02:2
";

/// Commands between packets, also at the time of one.
const LATER: &str = "\
# at 500500 ns
register_write seen 3 77
table_add ports send 7 => 6
# at 900 us
table_set_default ports send 9
register_write odd 1 5
# at 900001 ns
table_add ports copy 4 => 1
";

const AFTER: &str = "\
register_read seen
register_read odd
register_read left
counter_read kinds 1
counter_read kinds 7
";

/// A capture of packets a microsecond apart; some come together.
fn capture() -> Vec<u8> {
    let mut encoder = PcapEncoder::new(Vec::new()).expect("a vector takes all");
    let mut state = 1_u32;
    for number in 0..1500_i128 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let mut data = vec![(state >> 24) as u8 & 31, (state >> 16) as u8 & 7];
        data.resize(24, 0);
        let packet = CapturedPacket {
            timestamp_ps: number / 3 * 3_000_000,
            original_length_bytes: data.len() as u32,
            data,
            link_type: LinkType::ETHERNET,
        };
        encoder.write_captured(&packet).expect("it fits");
    }
    encoder.finish().expect("a vector takes all")
}

/// Output without the table of pipelines, the time of compilation, and the folder.
fn comparable(text: &str, folder: &str) -> String {
    let is_table = |line: &&str| {
        let numbers = line.split_whitespace().map(str::parse::<u64>);
        line.starts_with("pipeline ")
            || numbers.clone().count() == 4 && numbers.flatten().count() == 4
    };
    let lines = text.lines().filter(|line| !is_table(line) && !line.starts_with("compiled in"));
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    lines.join("\n").replace(folder, "OUT")
}

#[test]
fn run_with_commands_in_the_middle_is_that_of_one_thread() {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| scratch.path().join(name).display().to_string();
    for (name, text) in
        [("p.p4", PROGRAM), ("entries", ENTRIES), ("later", LATER), ("after", AFTER)]
    {
        std::fs::write(path(name), text).expect("a file");
    }
    std::fs::write(path("in.pcap"), capture()).expect("a file");
    let run = |out: &str, more: &[&str]| {
        let input = format!("0={}", path("in.pcap"));
        let out_folder = path(out);
        let mut command = words(&["run", &path("p.p4"), "--in", &input, "--out", &out_folder]);
        command.extend(words(&["--entries", &path("entries"), "--after", &path("after")]));
        command.extend(words(&["--replay-commands", &path("later"), "--digests"]));
        command.extend(words(more));
        let (status, text) = plane(&command);
        assert_eq!(status, Some(0), "{text}");
        (comparable(&text, &out_folder), captures(Path::new(&out_folder)))
    };
    for engine in ["jit", "interp"] {
        let expected = run("one", &["--engine", engine]);
        assert!(
            expected.0.contains("digest") && expected.0.contains("log: flow"),
            "{}",
            expected.0
        );
        for workers in ["1", "2", "3", "8"] {
            let found = run(workers, &["--engine", engine, "--pipelines", workers]);
            assert_eq!(found.0, expected.0, "{workers} pipelines, {engine}");
            assert!(found.1 == expected.1, "{workers} pipelines, {engine}: other captures");
        }
    }
    let (text, _) = run("verified", &["--pipelines", "3", "--verify"]);
    assert!(text.contains("pipelines and one thread agree on 1500 packets"), "{text}");
    let (text, _) = run("cut", &["--pipelines", "3", "--until", "1us"]);
    let (expected, _) = run("cut", &["--until", "1us"]);
    assert_eq!(text, expected);
}

#[test]
fn examples_write_the_expected_captures_on_pipelines() {
    let mut folders = subfolders("examples");
    let others = ["lucid", "networks", "react"];
    folders.retain(|folder| others.iter().all(|other| !folder.ends_with(other)));
    let mut on_pipelines = 0;
    for folder in folders {
        let readme = std::fs::read_to_string(folder.join("README.md")).expect("a README");
        for (at, command) in commands(&readme).into_iter().enumerate() {
            let Some(place) = command.iter().position(|word| word == "--out") else { continue };
            let out = tempfile::tempdir().expect("a temporary folder");
            let name = Path::new(&command[place + 1]).file_name().expect("a name").to_os_string();
            let mut command = without(command, "--out");
            let workers = ["2", "3", "8"][at % 3];
            let more = ["--out", &out.path().display().to_string(), "--pipelines", workers];
            command.extend(words(&more));
            let (status, text) = plane(&command);
            assert_eq!(status, Some(0), "{text}");
            on_pipelines += usize::from(!text.contains("pipelines: one thread"));
            let own = folder.join("expected").join(&name);
            let expected = if own.is_dir() { own } else { folder.join("expected") };
            assert!(captures(out.path()) == captures(&expected), "{}", command.join(" "));
        }
    }
    assert!(on_pipelines >= 10, "only {on_pipelines} examples run on pipelines");
}

#[test]
fn wrong_numbers_and_options_are_refused() {
    let program = "examples/router/router.p4";
    let captures = ["--in", "1=examples/router/captures/host1.pcap", "--out", "/nowhere/out"];
    let run = |program: &str, more: &[&str]| {
        let mut command = words(&["run", program]);
        command.extend(words(&captures));
        command.extend(words(more));
        plane(&command)
    };
    for (workers, said) in [
        ("0", "error[SC-E0101]: --pipelines 0: a switch has 1 to 64"),
        ("65", "error[SC-E0101]: --pipelines 65: a switch has 1 to 64"),
    ] {
        let (status, text) = run(program, &["--pipelines", workers]);
        assert_eq!(status, Some(2), "{text}");
        assert!(text.contains(said) && text.contains("a number from 1 to 64"), "{text}");
    }
    let large = "tests/messages/scale-01-memory/sums.p4";
    let (status, text) = run(large, &["--pipelines", "8"]);
    assert_eq!(status, Some(1), "{text}");
    assert!(
        text.contains("error[SC-E0103]: 8 pipelines") && text.contains("sums.p4:32:5"),
        "{text}"
    );
    for (program, more, said) in [
        (program, vec!["--trace"], "cannot be used with '--pipelines <N>'"),
        (program, vec!["--trace-json"], "cannot be used with '--pipelines <N>'"),
        ("examples/lucid/nat/nat.dpt", vec![], "--pipelines"),
    ] {
        let (status, text) = run(program, &[&more[..], &["--pipelines", "2"]].concat());
        assert_eq!(status, Some(2), "{text}");
        assert!(text.contains(said), "{text}");
    }
}

#[test]
fn program_that_needs_one_thread_says_why() {
    let scratch = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| scratch.path().join(name).display().to_string();
    std::fs::write(path("in.pcap"), capture()).expect("a file");
    for (statement, reason) in [
        (
            "if (hdr.h.kind == 7) { hdr.h.kind = 0; recirculate_preserving_field_list(0); }",
            "`recirculate`: its packets come to ingress again, after others that ran ahead of them",
        ),
        (
            "if (std.instance_type == 0) { resubmit_preserving_field_list(0); }",
            "`resubmit`: its packets come to ingress again, after others that ran ahead of them",
        ),
        ("assert(hdr.h.kind < 8);", "an assertion ends the run, and later packets have run ahead"),
    ] {
        let is_egress = statement.contains("recirculate");
        let place =
            if is_egress { "hdr.h.odd = hdr.h.odd ^ (count << 16);" } else { "ports.apply();" };
        let text = PROGRAM.replace(place, &format!("{place}\n{statement}"));
        let line = 1 + text.lines().position(|line| line == statement).expect("the statement");
        std::fs::write(path("p.p4"), text).expect("a file");
        let run = |out: &str, more: &[&str]| {
            let (input, out) = (format!("0={}", path("in.pcap")), path(out));
            let mut command = words(&["run", &path("p.p4"), "--in", &input, "--out", &out]);
            command.extend(words(more));
            let (status, text) = plane(&command);
            assert_eq!(status, Some(0), "{text}");
            (text, captures(Path::new(&out)))
        };
        let (text, found) = run("found", &["--pipelines", "4"]);
        let said = format!("pipelines: one thread: {reason} ({}:{line})", path("p.p4"));
        assert!(text.contains(&said), "{said}\n{text}");
        assert!(found == run("expected", &[]).1);
    }
}
