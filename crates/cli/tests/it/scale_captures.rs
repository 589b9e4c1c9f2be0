// SPDX-License-Identifier: Apache-2.0
//! `plane scale --in`: the examples' captures through machines of several pipelines. What leaves is what one switch sends.

use crate::examples::{commands, root, subfolders};
use network::capture::{CaptureReader, CapturedPacket, LinkType, PcapEncoder};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

pub fn plane(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plane"));
    command.args(words).current_dir(root()).output().expect("plane starts")
}

/// The packets of the captures in a folder, sorted, by port.
pub fn sorted_packets(folder: &Path) -> BTreeMap<String, Vec<Vec<u8>>> {
    let mut ports = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a file").path();
        let reader = CaptureReader::open(&path).expect("a capture");
        let mut packets: Vec<Vec<u8>> =
            reader.map(|packet| packet.expect("a packet").data).collect();
        packets.sort();
        ports.insert(path.file_name().expect("a name").to_string_lossy().into_owned(), packets);
    }
    ports
}

/// Runs `plane scale` with these options behind those of a `plane run`. Returns the report and what left.
fn scaled(words: &[String], options: &[&str]) -> (Value, BTreeMap<String, Vec<Vec<u8>>>) {
    let out = tempfile::tempdir().expect("a temporary folder");
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    let at = words.iter().position(|word| *word == "--out").expect("--out") + 1;
    (words[0], words[at]) = ("scale", out.path().to_str().expect("a path"));
    words.extend(["--format", "json", "--quiet"]);
    words.extend(options);
    let ran = plane(&words);
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{}: {errors}", words.join(" "));
    let report = serde_json::from_slice(&ran.stdout).expect("JSON");
    (report, sorted_packets(out.path()))
}

#[test]
fn examples_on_several_pipelines_send_what_one_switch_sends() {
    let mut examples = subfolders("examples");
    let others = ["lucid", "networks", "react"];
    examples.retain(|folder| others.iter().all(|other| !folder.ends_with(other)));
    assert!(examples.len() > 5, "{examples:?}");
    let mut accesses = 0;
    for (folder, pipelines) in examples.iter().zip(["2", "3", "8"].into_iter().cycle()) {
        let readme = std::fs::read_to_string(folder.join("README.md")).expect("a README");
        for words in commands(&readme) {
            let Some(at) = words.iter().position(|word| word == "--out") else { continue };
            let own = Path::new(&words[at + 1]).file_name().expect("a name");
            let own = folder.join("expected").join(own);
            let is_own = own.is_dir();
            let expected = sorted_packets(&if is_own { own } else { folder.join("expected") });
            // Cycles are long, so that packets meet in the machine; but packets of telemetry carry the length of queues.
            let clock = if folder.ends_with("telemetry") { "1GHz" } else { "40Hz" };
            let (report, left) = scaled(&words, &["--pipelines", pipelines, "--clock", clock]);
            assert!(left == expected, "{} at {clock} sends other packets", words.join(" "));
            assert_eq!(report["equivalent"], true, "{report}");
            accesses += report["accesses"].as_u64().expect("a number");
        }
    }
    assert!(accesses > 0, "no example accesses state");
}

/// Counts packets of a flow in ingress and in egress. Those with `hot` meet one cell in between, so they wait.
const FLOWS: &str = "
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> flow; bit<6> hot; bit<2> ecn; bit<16> number; bit<32> seen; bit<32> left; bit<8> again; }
struct headers_t { h_t h; }
struct metadata_t { }
parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start { packet.extract(hdr.h); transition accept; }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply { } }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    register<bit<32>>(64) seen;
    register<bit<32>>(4) hot;
    register<bit<32>>(4) fixed;
    counter(64, CounterType.packets) flows;
    meter(64, MeterType.packets) rates;
    direct_counter(CounterType.packets) hits;
    action send(bit<9> port) { std.egress_spec = port; }
    action spread() { std.egress_spec = (bit<9>)(hdr.h.flow & 3) + 1; }
    table ports {
        key = { hdr.h.flow: exact; }
        actions = { send; spread; }
        default_action = spread();
        counters = hits;
    }
    apply {
        bit<32> value;
        bit<2> colour;
        seen.read(value, (bit<32>)hdr.h.flow & 63);
        value = value * 3 + 1;
        seen.write((bit<32>)hdr.h.flow & 63, value);
        hdr.h.seen = value;
        flows.count((bit<32>)hdr.h.flow & 63);
        if (hdr.h.hot == 1) {
            hot.read(value, 1);
            hot.write(1, value + (bit<32>)hdr.h.number);
        }
        ports.apply();
        fixed.read(value, 0);
        rates.execute_meter((bit<32>)hdr.h.flow & 63, colour);
        if (colour == 2 && value == 0) {
            mark_to_drop(std);
        }
    }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    register<bit<32>>(64) left;
    apply {
        bit<32> value;
        left.read(value, (bit<32>)hdr.h.flow & 63);
        value = value * 5 + (bit<32>)hdr.h.number;
        left.write((bit<32>)hdr.h.flow & 63, value);
        hdr.h.left = value;
        if (hdr.h.again > 0) {
            hdr.h.again = hdr.h.again - 1;
            recirculate_preserving_field_list(0);
        }
    }
}
control C(inout headers_t hdr, inout metadata_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

/// Four packets a microsecond of many flows.
pub const PACKETS: u64 = 400;

/// A folder with the program and a capture.
pub struct Flows(pub tempfile::TempDir);

impl Flows {
    pub fn new(again: u8) -> Flows {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("flows.p4"), FLOWS).expect("a file");
        let mut packets = Vec::new();
        for number in 0..PACKETS {
            let random = scrambled(number);
            let (flow, is_hot) = ((random % 24) as u8, random / 24 % 3 < 2);
            let hot = u8::from(is_hot) << 2 | 1;
            let [high, low] = (number as u16).to_be_bytes();
            let again = if number.is_multiple_of(7) { again } else { 0 };
            let data = [&[flow, hot, high, low][..], &[0; 8], &[again]].concat();
            packets.push((i128::from(number) * 250_000, data));
        }
        write_capture(&folder.path().join("in.pcap"), packets);
        Flows(folder)
    }

    pub fn words(&self, command: &str, out: &Path) -> Vec<String> {
        let path = |name: &str| self.0.path().join(name).display().to_string();
        let input = format!("1={}", path("in.pcap"));
        let out = out.display().to_string();
        [command, &path("flows.p4"), "--in", &input, "--out", &out].map(str::to_string).into()
    }

    /// Runs the machine of four pipelines with a packet a microsecond each.
    pub fn scaled(&self, options: &[&str]) -> (Value, BTreeMap<String, Vec<Vec<u8>>>) {
        let all = [&["--pipelines", "4", "--clock", "1MHz"], options].concat();
        scaled(&self.words("scale", Path::new("out")), &all)
    }

    /// What one switch sends.
    pub fn of_one_switch(&self, options: &[&str]) -> BTreeMap<String, Vec<Vec<u8>>> {
        let out = tempfile::tempdir().expect("a temporary folder");
        let words = self.words("run", out.path());
        let words = words.iter().map(String::as_str).chain(["--quiet"]);
        let words: Vec<&str> = words.chain(options.iter().copied()).collect();
        assert_eq!(plane(&words).status.code(), Some(0));
        sorted_packets(out.path())
    }
}

/// Writes packets with their times in picoseconds.
pub fn write_capture(path: &Path, packets: Vec<(i128, Vec<u8>)>) {
    let mut encoder = PcapEncoder::new(Vec::new()).expect("a vector takes all");
    for (timestamp_ps, data) in packets {
        let packet = CapturedPacket {
            timestamp_ps,
            original_length_bytes: data.len() as u32,
            data,
            link_type: LinkType::ETHERNET,
        };
        encoder.write_captured(&packet).expect("it fits");
    }
    std::fs::write(path, encoder.finish().expect("a vector takes all")).expect("a file");
}

pub fn scrambled(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40
}

#[test]
fn flows_leave_in_order_if_they_are_to() {
    let flows = Flows::new(0);
    let expected = flows.of_one_switch(&[]);
    // Egress counts packets in the order in which they leave ingress.
    let (report, left) = flows.scaled(&[]);
    assert!(left != expected, "no packet overtakes another of its flow");
    assert_eq!(
        (&report["equivalent"], &report["egress"]["equivalent"]),
        (&true.into(), &true.into())
    );
    let (report, left) = flows.scaled(&["--keep-order", "h.flow"]);
    assert!(left == expected, "packets of a flow leave in another order");
    assert_eq!(
        (&report["equivalent"], &report["egress"]["equivalent"]),
        (&true.into(), &true.into())
    );
    assert_eq!(report["egress"]["accesses"], PACKETS * 2);
}

#[test]
fn packets_of_long_queues_are_marked() {
    let flows = Flows::new(0);
    let marked = |left: &BTreeMap<String, Vec<Vec<u8>>>| {
        left.values().flatten().filter(|packet| packet[1] & 3 == 3).count()
    };
    let (report, left) = flows.scaled(&["--ecn", "hdr.h.ecn=20"]);
    assert_eq!(report["equivalent"], true, "{report}");
    let count = marked(&left);
    assert!((1..PACKETS as usize).contains(&count), "{count} packets are marked");
    let (_, left) = flows.scaled(&["--ecn", "hdr.h.ecn=100000"]);
    assert_eq!(marked(&left), 0);
}

#[test]
fn packets_that_come_back_are_new_arrivals() {
    let flows = Flows::new(3);
    let [jit, interpreter] = ["jit", "interpreter"].map(|name| flows.scaled(&["--engine", name]));
    assert!(jit == interpreter, "the engines differ");
    for options in
        [&["--remap-every", "5"][..], &["--design", "free-by-cell-touch"], &["--design", "ideal"]]
    {
        let (report, left) = flows.scaled(options);
        assert_eq!(left.values().map(Vec::len).sum::<usize>() as u64, PACKETS);
        // One packet of seven makes three more passes.
        assert_eq!(report["packets"], PACKETS + PACKETS.div_ceil(7) * 3);
        assert_eq!(report["equivalent"], true, "{report}");
        assert_eq!(report["egress"]["equivalent"], true, "{report}");
    }
}

#[test]
fn packets_without_a_place_are_lost_and_counted() {
    let (report, left) = Flows::new(0).scaled(&["--depth", "1"]);
    let lost = report["lost"].as_u64().expect("a number");
    let lost_in_egress = report["egress"]["lost"].as_u64().expect("a number");
    assert!(lost > 0, "{report}");
    let sent = left.values().map(Vec::len).sum::<usize>() as u64;
    assert_eq!(sent + lost + lost_in_egress, PACKETS);
}

#[test]
fn fields_that_a_program_does_not_have_are_refused() {
    let flows = Flows::new(0);
    for (options, said) in [
        (&["--ecn", "hdr.h.enc=4"][..], "did you mean `hdr.h.ecn`?"),
        (&["--ecn", "4"], "the program has no IPv4 header"),
        (&["--keep-order"], "the program has no IPv4 header"),
        (&["--keep-order", "h.flow,h.none"], "SC-E0110"),
    ] {
        let mut words = flows.words("scale", Path::new("out"));
        words.truncate(4);
        words.extend(["--pipelines", "2"].iter().chain(options).map(ToString::to_string));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ran = plane(&words);
        let errors = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{errors}");
        assert!(errors.contains(said), "{errors}");
    }
}

#[test]
fn lucid_programs_on_several_pipelines_are_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut accesses = 0;
    for program in subfolders("examples/lucid") {
        let name = program.file_name().expect("a name").to_string_lossy().into_owned();
        let file = program.join(format!("{name}.dpt"));
        if !file.exists() {
            continue;
        }
        // Events with random arguments, as frames of ether type 666.
        let mut packets = Vec::new();
        for number in 0..150_u64 {
            let mut data = [&[0; 12][..], &[0x02, 0x9a, 0, (number % 8) as u8]].concat();
            for word in 0..12 {
                let random = scrambled(number * 16 + word);
                let value =
                    if random.is_multiple_of(5) { random as u32 } else { random as u32 % 7 };
                data.extend(value.to_be_bytes());
            }
            packets.push((i128::from(number) * 400_000, data));
        }
        let capture = folder.path().join("in.pcap");
        write_capture(&capture, packets);
        let input = format!("1={}", capture.display());
        let words = ["scale", file.to_str().expect("a path"), "--in", &input, "--out", "out"];
        let words = words.map(str::to_string);
        let options = ["--pipelines", "3", "--clock", "1MHz", "--until", "1ms"];
        let (report, _) = scaled(&words, &options);
        assert_eq!(report["equivalent"], true, "{name}: {report}");
        accesses += report["accesses"].as_u64().expect("a number");
    }
    assert!(accesses > 1000, "{accesses} accesses of state");
}

#[test]
fn captures_that_cannot_be_read_give_an_error_and_no_report() {
    let program = "examples/router/router.p4";
    let ran = plane(&["scale", program, "--pipelines", "2", "--in", "1=examples/nowhere.pcap"]);
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(1), "{errors}");
    assert!(errors.contains("nowhere.pcap"), "{errors}");
    assert!(ran.stdout.is_empty(), "{}", String::from_utf8_lossy(&ran.stdout));
}
