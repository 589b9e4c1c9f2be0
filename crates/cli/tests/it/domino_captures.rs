// SPDX-License-Identifier: Apache-2.0
//! Domino programs on a capture through binding files. The expected packets come from the reference interpreter, with the
//! fields that this file reads from the frames itself: no compiler, parser or device of ours takes part.

use crate::examples::root;
use domino::interpreter::{State, run};
use network::capture::CaptureReader;
use p4::interfaces::InterfacesOnly;
use p4::preprocessor::PreprocessorOptions;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// A frame and its time in microseconds since the first one.
struct Frame {
    time_us: u32,
    bytes: Vec<u8>,
}

fn frames(path: &Path) -> Vec<Frame> {
    let packets = CaptureReader::open(path).expect("a capture").map(|one| one.expect("a packet"));
    let mut first = None;
    packets
        .map(|packet| {
            let since_ps = packet.timestamp_ps - *first.get_or_insert(packet.timestamp_ps);
            Frame { time_us: (since_ps / 1_000_000) as u32, bytes: packet.data }
        })
        .collect()
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |all, byte| all << 8 | u32::from(*byte))
}

/// Whether there is an IPv4 header behind Ethernet.
fn has_ipv4(bytes: &[u8]) -> bool {
    bytes.len() >= 34 && number(&bytes[12..14]) == 0x800
}

/// Whether TCP or UDP follows an IPv4 header without options.
fn has_ports(bytes: &[u8]) -> bool {
    let length = match bytes.get(23) {
        Some(6) => 54,
        Some(17) => 42,
        _ => return false,
    };
    has_ipv4(bytes)
        && bytes[14] == 0x45
        && number(&bytes[20..22]) & 0x1fff == 0
        && bytes.len() >= length
}

/// Sets "congestion experienced" if the sender supports ECN, and the checksum.
fn mark(bytes: &mut [u8], is_marked: bool) {
    if is_marked && bytes[15] & 3 != 0 {
        bytes[15] |= 3;
    }
    if bytes[14] & 15 == 5 {
        bytes[24..26].fill(0);
        let sum: u32 = bytes[14..34].chunks(2).map(number).sum();
        let sum = (sum & 0xffff) + (sum >> 16);
        let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
        bytes[24..26].copy_from_slice(&sum.to_be_bytes());
    }
}

/// Reads the values of the bound fields by name; `None` for a frame that passes without the program.
type ReadFields = fn(&Frame) -> Option<Vec<(&'static str, u32)>>;

/// Writes fields back into the frame; the result is the port, or `None` for a drop.
type WriteFields = fn(&dyn Fn(&str) -> u32, &mut Vec<u8>) -> Option<u32>;

/// What a binding does with a frame: the values of the bound fields, `None` for a frame that passes without the program,
/// and what the fields do to the frame at the end; the result is the port, or `None` for a drop.
struct Binding {
    read: ReadFields,
    write: WriteFields,
    /// The port of frames without the program.
    port: u32,
}

fn expected(program: &Path, capture: &Path, binding: &Binding) -> BTreeMap<u32, Vec<Vec<u8>>> {
    let text = std::fs::read_to_string(program).expect("a program");
    let checked =
        domino::front("x.domino", text.as_str(), &InterfacesOnly, &PreprocessorOptions::default());
    let program = checked.expect("a correct program").program;
    let place = |name: &str| program.fields.iter().position(|field| &*field.name == name);
    let mut state = State::initial(&program);
    let mut ports: BTreeMap<u32, Vec<Vec<u8>>> = BTreeMap::new();
    let mut dropped = 0;
    for frame in frames(capture) {
        let mut bytes = frame.bytes.clone();
        let Some(values) = (binding.read)(&frame) else {
            ports.entry(binding.port).or_default().push(bytes);
            continue;
        };
        let mut packet = vec![0; program.fields.len()];
        values.iter().for_each(|(name, value)| packet[place(name).expect("a field")] = *value);
        run(&program, &mut state, &mut packet);
        let of = |name: &str| packet[place(name).expect("a field")];
        match (binding.write)(&of, &mut bytes) {
            Some(port) => ports.entry(port).or_default().push(bytes),
            None => dropped += 1,
        }
    }
    println!(
        "{} packets by {} ports, {dropped} dropped",
        ports.values().flatten().count(),
        ports.len()
    );
    ports
}

fn check(name: &str, capture: &str, binding: &Binding) {
    let (program, capture) =
        (format!("examples/domino/{name}.domino"), format!("examples/router/captures/{capture}"));
    let wanted = expected(&root().join(&program), &root().join(&capture), binding);
    let out = tempfile::tempdir().expect("a temporary folder");
    for engine in ["jit", "interp"] {
        let folder = out.path().join(engine);
        let ran = Command::new(env!("CARGO_BIN_EXE_plane"))
            .args(["run", &program, "--in", &format!("1={capture}"), "--engine", engine, "--out"])
            .arg(&folder)
            .current_dir(root())
            .output()
            .expect("plane starts");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let mut found: BTreeMap<u32, Vec<Vec<u8>>> = BTreeMap::new();
        for file in std::fs::read_dir(&folder).expect("a folder").flatten() {
            let path = file.path();
            let port = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
            let packets = CaptureReader::open(&path).expect("a capture");
            let packets: Vec<_> = packets.map(|one| one.expect("a packet").data).collect();
            if !packets.is_empty() {
                found.insert(port.expect("a port"), packets);
            }
        }
        assert!(
            found == wanted,
            "{name} on {engine}: other packets leave than the interpreter says"
        );
    }
}

#[test]
fn a_sketch_drops_packets_of_heavy_hitters() {
    let binding = Binding {
        read: |frame| {
            let bytes = &frame.bytes;
            has_ipv4(bytes).then(|| {
                vec![("source", number(&bytes[26..30])), ("destination", number(&bytes[30..34]))]
            })
        },
        write: |of, _| (of("is_heavy") == 0).then_some(2),
        port: 2,
    };
    check("count_min", "host1.pcap", &binding);
}

#[test]
fn a_phantom_queue_marks_packets() {
    let binding = Binding {
        read: |frame| {
            let length = frame.bytes.len() as u32;
            has_ipv4(&frame.bytes).then(|| vec![("time", frame.time_us), ("bytes", length)])
        },
        write: |of, bytes| {
            mark(bytes, of("mark") != 0);
            Some(2)
        },
        port: 2,
    };
    check("phantom_queue", "host1.pcap", &binding);
}

#[test]
fn flowlets_choose_ports() {
    let binding = Binding {
        read: |frame| {
            let bytes = &frame.bytes;
            has_ports(bytes).then(|| {
                let ports = [number(&bytes[34..36]), number(&bytes[36..38])];
                vec![
                    ("source_port", ports[0]),
                    ("destination_port", ports[1]),
                    ("time", frame.time_us),
                    ("path", 1),
                ]
            })
        },
        write: |of, _| Some(of("path") & 0x1ff),
        port: 1,
    };
    check("flowlets", "host1.pcap", &binding);
}
