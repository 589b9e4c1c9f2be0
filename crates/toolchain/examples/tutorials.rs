// SPDX-License-Identifier: Apache-2.0
//! Runs the exercises of a checkout of the P4 tutorials with their solutions as simulated networks, and checks what their
//! READMEs promise:
//!
//! ```text
//! cargo run -p toolchain --example tutorials -- CHECKOUT
//! ```
//!
//! Each exercise is a network file of ours that completes the exercise's topology. Hosts do what the exercise's scripts do.

use frontend::{Console, ExitStatus, Spinner, Work};
use source::{Diagnostics, RenderOptions, SourceMap};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use toolchain::net::{self, NetRun};

/// An exercise: its folder, its topology, the solution that switches run, and the rest of the network file.
struct Exercise {
    name: &'static str,
    topology: &'static str,
    program: &'static str,
    rest: String,
}

fn exercise(
    name: &'static str,
    topology: &'static str,
    program: &'static str,
    rest: impl Into<String>,
) -> Exercise {
    Exercise { name, topology, program, rest: rest.into() }
}

/// An IPv4 packet in an Ethernet frame, as hexadecimal digits. Options are whole words.
fn ipv4(
    ether: &str,
    (tos, ttl, protocol): (u8, u8, u8),
    to: [u8; 4],
    options: &[u8],
    payload: &[u8],
) -> String {
    let words = 5 + options.len() / 4;
    let length = (words * 4 + payload.len()) as u16;
    let mut header = vec![
        0x40 | words as u8,
        tos,
        (length >> 8) as u8,
        length as u8,
        0,
        1,
        0,
        0,
        ttl,
        protocol,
        0,
        0,
    ];
    header.extend([10, 0, 1, 1]);
    header.extend(to);
    header.extend(options);
    let sum: u32 = header.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    let checksum = !((folded & 0xffff) + (folded >> 16)) as u16;
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    header.extend(payload);
    format!("{ether}{}", hex(&header))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Source and destination port, length, no checksum, and some text.
fn udp(from: u16, to: u16) -> Vec<u8> {
    let mut datagram = Vec::new();
    for word in [from, to, 8 + 6, 0] {
        datagram.extend(word.to_be_bytes());
    }
    datagram.extend(b"P4 is!");
    datagram
}

fn exercises() -> Vec<Exercise> {
    let broadcast = "ffffffffffff080000000111";
    let broadcast_01 = "ffffffffffff080000000101";
    let pings = |pairs: &[(&str, &str, u8)]| {
        let mut text = String::from("hosts:\n");
        for from in ["h1", "h2", "h3", "h4"] {
            let own: Vec<String> = pairs
                .iter()
                .filter(|pair| pair.0 == from)
                .map(|pair| format!("{{ping: {{to: {}, count: 2, interval: 10ms}}}}", pair.1))
                .collect();
            if !own.is_empty() {
                text.push_str(&format!("  {from}: {{applications: [{}]}}\n", own.join(", ")));
            }
        }
        text.push_str("expect:\n");
        for (from, to, ttl) in pairs {
            text.push_str(&format!("  - {{ping: {from}-{to}, received: 2, ttl: {ttl}}}\n"));
        }
        text
    };
    let calculations =
        [("2b", 2), ("2d", 0xffff_ffff_u32), ("26", 5 & 6), ("7c", 5 | 6), ("5e", 5 ^ 6)];
    let mut calc =
        String::from("hosts:\n  h1:\n    applications:\n      - send:\n          frames:\n");
    let mut expected = String::from("expect:\n");
    for (at, (operation, result)) in calculations.iter().enumerate() {
        let (a, b) = match *operation {
            "2b" => (0xffff_ffff_u32, 3),
            "2d" => (1, 2),
            _ => (5, 6),
        };
        let frame = format!(
            "000400000000080000000111{}{}",
            "1234503401",
            format_args!("{operation}{a:08x}{b:08x}0000000020")
        );
        calc.push_str(&format!("            - {{at: {}ms, bytes: \"{frame}\"}}\n", at + 1));
        expected.push_str(&format!("  - {{host: h1, where: {{ethernet.type: 0x1234, \"bytes[17]\": 0x{operation}, \"bytes[26:4]\": {result}}}, count: 1}}\n"));
    }
    let tunnel = |to: [u8; 4], id: u16| {
        let inner = ipv4("", (0, 64, 17), to, &[], &udp(1234, 4321));
        format!("{broadcast_01}12120800{id:04x}{inner}")
    };
    let mri_option = [31_u8, 4, 0, 0];
    let route = |ports: &[u16]| {
        let hops = ports
            .iter()
            .enumerate()
            .map(|(at, port)| format!("{:04x}", u16::from(at + 1 == ports.len()) << 15 | port));
        let inner = ipv4("", (0, 64, 17), [10, 0, 2, 2], &[], &udp(1234, 4321));
        format!("{broadcast_01}1234{}{inner}", hops.collect::<String>())
    };
    let probe_ports: String =
        [4_u8, 1, 4, 1, 3, 2, 3, 2, 1].iter().map(|port| format!("{port:02x}")).collect();
    let flowcache = format!(
        "hosts:
  h1:
    applications:
      - ping: {{to: h2, count: 3, interval: 500ms, start: 100ms}}
      - ping: {{to: h2, count: 1, start: 10s, name: late}}
controllers: {{c: {{switches: all, latency: 1ms, program: [python3, {}/examples/flowcache.py]}}}}
expect:
  - {{application: h1.ping, received: 3}}
  - {{application: late, received: 1}}
  - {{host: h2, where: {{ipv4.protocol: 1, ipv4.ttl: 64, ipv4.tos: 0}}, count: 2}}
  - {{host: h2, where: {{ipv4.protocol: 1, ipv4.ttl: 62, ipv4.tos: 0x14}}, count: 2}}
  - {{host: h1, where: {{ipv4.protocol: 1, ipv4.ttl: 64}}, count: 2}}
  - {{host: h1, where: {{ipv4.protocol: 1, ipv4.ttl: 62, ipv4.tos: 0x14}}, count: 2}}
  - {{counter: egressPktInCounter, switch: s1, index: 1, count: 2}}
  - {{counter: egressPktInCounter, switch: s1, index: 2, count: 2}}
  - {{counter: egressPktInCounter, switch: s2, index: 1, count: 2}}
  - {{counter: egressPktInCounter, switch: s2, index: 2, count: 2}}
  - {{host: h3, where: {{ipv4.protocol: 1}}, count: 0}}
until: 15s
",
        env!("CARGO_MANIFEST_DIR")
    );
    vec![
        // The first packets of each flow come by the controller, and its entries go 3 s after the last one.
        exercise(
            "flowcache",
            "flowcache/topology.json",
            "flowcache/solution/flowcache.p4",
            flowcache,
        ),
        exercise(
            "basic",
            "basic/pod-topo/topology.json",
            "basic/solution/basic.p4",
            pings(&[("h1", "h2", 63), ("h1", "h3", 61), ("h2", "h4", 61), ("h3", "h4", 63), ("h4", "h1", 61), ("h3", "h2", 61)]),
        ),
        exercise(
            "basic (triangle)",
            "basic/triangle-topo/topology.json",
            "basic/solution/basic.p4",
            pings(&[("h1", "h2", 62), ("h2", "h3", 62), ("h3", "h1", 62)]),
        ),
        exercise(
            "basic_tunnel",
            "basic_tunnel/topology.json",
            "basic_tunnel/solution/basic_tunnel.p4",
            format!(
                "hosts:\n  h1:\n    applications:\n      - send:\n          frames:\n            - {{at: 1ms, bytes: \"{}\"}}\n            - {{at: 2ms, bytes: \"{}\"}}\n            - {{at: 3ms, bytes: \"{}\"}}\nexpect:\n  - {{host: h2, where: {{ipv4.dst: 10.0.2.2, ipv4.ttl: 62}}, count: 1}}\n  - {{host: h2, where: {{ethernet.type: 0x1212, \"bytes[26]\": 64}}, count: 2}}\n  - {{host: h2, where: {{ethernet.type: 0x1212, \"bytes[34:4]\": 10.0.3.3}}, count: 1}}\n  - {{host: h3, count: 0}}\n",
                ipv4(&format!("{broadcast_01}0800"), (0, 64, 17), [10, 0, 2, 2], &[], &udp(1234, 4321)),
                tunnel([10, 0, 2, 2], 2),
                tunnel([10, 0, 3, 3], 2),
            ),
        ),
        exercise("calc", "calc/topology.json", "calc/solution/calc.p4", calc + &expected),
        exercise(
            "ecn",
            "ecn/topology.json",
            "ecn/solution/ecn.p4",
            "hosts:
  h1: {applications: [{udp: {to: h2, rate: 1pps, size: 100, count: 30, tos: 1, port: 4321}}]}
  h11: {applications: [{udp: {to: h22, rate: 1.05Mbps, size: 1470, start: 5s, duration: 15s}}]}
expect:
  - {host: h2, where: {ipv4.tos: 1, udp.dst_port: 4321}, after: 0s, before: 5s, count: \"at least 4\"}
  - {host: h2, where: {ipv4.tos: 3}, after: 5s, before: 23s, count: \"2..11\"}
  - {host: h2, where: {ipv4.tos: 1, udp.dst_port: 4321}, after: 23s, count: \"at least 4\"}
until: 31s
",
        ),
        exercise(
            "mri",
            "mri/topology.json",
            "mri/solution/mri.p4",
            format!(
                "hosts:
  h1:
    applications:
      - send:
          frames:
            - {{at: 1s, bytes: \"{}\", count: 30, interval: 1s}}
  h11: {{applications: [{{udp: {{to: h22, rate: 1.05Mbps, size: 1470, start: 5s, duration: 15s}}}}]}}
expect:
  - {{host: h2, where: {{ipv4.ihl: 10, ipv4.ttl: 62, \"bytes[34]\": 31, \"bytes[35]\": 20, \"bytes[36:2]\": 2, \"bytes[38:4]\": 2, \"bytes[42:4]\": 0, \"bytes[46:4]\": 1, \"bytes[50:4]\": 0}}, before: 5s, count: \"at least 3\"}}
  - {{host: h2, where: {{ipv4.ihl: 10, \"bytes[46:4]\": 1, \"bytes[50:4]\": 0}}, after: 8s, before: 19s, count: 0}}
until: 32s
",
                ipv4(&format!("{broadcast}0800"), (0, 64, 17), [10, 0, 2, 2], &mri_option, &udp(1234, 4321)),
            ),
        ),
        exercise(
            "qos",
            "qos/topology.json",
            "qos/solution/qos.p4",
            format!(
                "hosts:
  h1:
    applications:
      - send:
          frames:
            - {{at: 1ms, bytes: \"{}\"}}
            - {{at: 2ms, bytes: \"{}\"}}
expect:
  - {{host: h2, where: {{ipv4.tos: 0xb9, ipv4.protocol: 17}}, count: 1}}
  - {{host: h2, where: {{ipv4.tos: 0xb1, ipv4.protocol: 6}}, count: 1}}
",
                ipv4(&format!("{broadcast}0800"), (1, 64, 17), [10, 0, 2, 2], &[], &udp(1234, 4321)),
                ipv4(&format!("{broadcast}0800"), (1, 64, 6), [10, 0, 2, 2], &[], &[0, 80, 0, 80, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0, 0, 0, 0, 0, 0, 0]),
            ),
        ),
        exercise(
            "firewall",
            "firewall/pod-topo/topology.json",
            "basic/solution/basic.p4",
            "switches: {s1: {program: EXERCISES/firewall/solution/firewall.p4}}
hosts:
  h1: {applications: [{tcp: {to: h2, bytes: 20KB, name: near}}, {tcp: {to: h3, bytes: 20KB, name: out}}]}
  h3:
    applications:
      - {ping: {to: h1, count: 2, interval: 10ms}}
      - {tcp: {to: h4, bytes: 20KB, name: far}}
      - {tcp: {to: h1, bytes: 20KB, name: in, port: 7000, start: 1ms}}
  h4: {applications: [{tcp: {to: h2, bytes: 20KB, name: in2, port: 7001}}]}
expect:
  - {application: near, completed: 1}
  - {application: out, completed: 1}
  - {application: far, completed: 1}
  - {application: in, completed: 0}
  - {application: in2, completed: 0}
  - {ping: h3-h1, received: 2}
until: 2s
",
        ),
        exercise(
            "link_monitor",
            "link_monitor/pod-topo/topology.json",
            "link_monitor/solution/link_monitor.p4",
            format!(
                "hosts:
  h1:
    applications:
      - tcp: {{to: h4, bytes: 1MB, rate: 5Mbps}}
      - send: {{frames: [{{at: 100ms, bytes: \"ffffffffffff080000000111081200{probe_ports}\", count: 3, interval: 500ms}}]}}
expect:
  - {{host: h1, where: {{ethernet.type: 0x812, \"bytes[14]\": 9, \"bytes[15:2]\": 0x0101, \"bytes[33:2]\": 0x0402, \"bytes[51:2]\": 0x0203, \"bytes[69:2]\": 0x0302, \"bytes[87:2]\": 0x0103, \"bytes[105:2]\": 0x0301, \"bytes[123:2]\": 0x0204, \"bytes[141:2]\": 0x0401, \"bytes[159:2]\": 0x8104}}, count: 3}}
until: 3s
"
            ),
        ),
        exercise(
            "load_balance",
            "load_balance/topology.json",
            "load_balance/solution/load_balance.p4",
            {
                let syn = |port: u16| {
                    let mut tcp = port.to_be_bytes().to_vec();
                    tcp.extend(80_u16.to_be_bytes());
                    tcp.extend([0, 0, 0, 1, 0, 0, 0, 0, 0x50, 2, 0x20, 0, 0, 0, 0, 0]);
                    ipv4(&format!("{broadcast}0800"), (0, 64, 6), [10, 0, 0, 1], &[], &tcp)
                };
                let mut text = String::from("hosts:\n  h1:\n    applications:\n      - send:\n          frames:\n");
                for (at, port) in (50_000..50_064).enumerate() {
                    text.push_str(&format!("            - {{at: {}ms, bytes: \"{}\"}}\n", at + 1, syn(port)));
                }
                text.push_str("expect:\n  - {host: h2, where: {ipv4.dst: 10.0.2.2, tcp.src_port: 50000}, count: 1}\n");
                for port in [50_001, 50_002] {
                    text.push_str(&format!("  - {{host: h3, where: {{ipv4.dst: 10.0.3.3, tcp.src_port: {port}}}, count: 1}}\n"));
                }
                text.push_str("  - {host: h2, where: {ipv4.dst: 10.0.2.2}, count: 32}\n  - {host: h3, where: {ipv4.dst: 10.0.3.3}, count: 32}\n");
                text
            },
        ),
        exercise(
            "multicast",
            "multicast/sig-topo/topology.json",
            "multicast/solution/multicast.p4",
            "hosts:
  h1: {applications: [{ping: {to: h4, count: 2, interval: 10ms}}, {ping: {to: h2, count: 2, interval: 10ms}}, {ping: {to: h3, count: 2, interval: 10ms}}]}
  h2: {applications: [{ping: {to: h3, count: 2, interval: 10ms}}]}
expect:
  - {ping: h1-h4, received: 0}
  - {ping: h1-h2, received: 2}
  - {ping: h1-h3, received: 2}
  - {ping: h2-h3, received: 2}
",
        ),
        exercise(
            "multicast (four hosts)",
            "multicast/sig-topo/topology.json",
            "multicast/solution/multicast.p4",
            "switches: {s1: {entries: EXERCISES/multicast/solution/s1-runtime.json}}
hosts:
  h1: {applications: [{ping: {to: h4, count: 2, interval: 10ms}}]}
  h4: {applications: [{ping: {to: h2, count: 2, interval: 10ms}}]}
expect:
  - {ping: h1-h4, received: 2}
  - {ping: h4-h2, received: 2}
",
        ),
        exercise(
            "p4runtime",
            "p4runtime/topology.json",
            "p4runtime/advanced_tunnel.p4",
            {
                // What the exercise's controller writes, two seconds after the start.
                let side = |own: (&str, &str), other: &str, to_id: u16, from_id: u16| {
                    format!(
                        "table_add MyIngress.ipv4_lpm MyIngress.myTunnel_ingress {other}/32 => {to_id}\n\
                         table_add MyIngress.myTunnel_exact MyIngress.myTunnel_forward {to_id} => 2\n\
                         table_add MyIngress.myTunnel_exact MyIngress.myTunnel_egress {from_id} => {} 1\n",
                        own.1
                    )
                };
                let indent = |text: String| text.lines().map(|line| format!("          {line}\n")).collect::<String>();
                format!(
                    "hosts: {{h1: {{applications: [{{ping: {{to: h2, count: 6, interval: 1s}}}}]}}}}
controllers:
  one:
    switches: [s1]
    commands:
      - at: 2500ms
        text: |
{}
  two:
    switches: [s2]
    commands:
      - at: 2500ms
        text: |
{}
expect:
  - {{ping: h1-h2, received: 3, ttl: 64}}
  - {{counter: MyIngress.ingressTunnelCounter, switch: s1, index: 100, count: 3, bytes: 294}}
  - {{counter: MyIngress.egressTunnelCounter, switch: s2, index: 100, count: 3}}
until: 10s
",
                    indent(side(("10.0.1.1", "08:00:00:00:01:11"), "10.0.2.2", 100, 200)),
                    indent(side(("10.0.2.2", "08:00:00:00:02:22"), "10.0.1.1", 200, 100)),
                )
            },
        ),
        exercise(
            "source_routing",
            "source_routing/topology.json",
            "source_routing/solution/source_routing.p4",
            format!(
                "hosts:\n  h1:\n    applications:\n      - send:\n          frames:\n            - {{at: 1ms, bytes: \"{}\"}}\n            - {{at: 2ms, bytes: \"{}\"}}\nexpect:\n  - {{host: h2, where: {{ethernet.type: 0x800, ipv4.ttl: 59}}, count: 1}}\n  - {{host: h2, where: {{ethernet.type: 0x800, ipv4.ttl: 62}}, count: 1}}\n",
                route(&[2, 3, 2, 2, 1]),
                route(&[2, 1]),
            ),
        ),
    ]
}

/// Keeps what a run prints.
#[derive(Default)]
struct Kept(Mutex<RefCell<String>>);

impl Kept {
    fn add(&self, text: &str) {
        if let Ok(kept) = self.0.lock() {
            kept.borrow_mut().push_str(text);
            kept.borrow_mut().push('\n');
        }
    }
}

struct NoSpinner;

impl Spinner for NoSpinner {
    fn set_position(&self, _: u64) {}
    fn set_message(&self, _: String) {}
}

impl Console for Kept {
    fn is_quiet(&self) -> bool {
        true
    }
    fn print(&self, _: &str) {}
    fn note(&self, text: &str) {
        self.add(text);
    }
    fn error(&self, text: &str) {
        self.add(text);
    }
    fn diagnostics(&self, map: &SourceMap, diagnostics: &Diagnostics) {
        self.add(&source::render_text(map, diagnostics, RenderOptions { color: false }));
    }
    fn spinner(&self, _: Work, _: bool) -> Box<dyn Spinner> {
        Box::new(NoSpinner)
    }
}

/// Runs an exercise. Returns what went wrong.
fn run(exercise: &Exercise, exercises: &Path, folder: &Path) -> Result<(), String> {
    let file = folder.join(format!("{}.yaml", exercise.name.replace([' ', '(', ')'], "_")));
    let path = |name: &str| exercises.join(name).display().to_string();
    let text = format!(
        "base: {}\ndefaults: {{switches: {{program: {}}}}}\n{}",
        path(exercise.topology),
        path(exercise.program),
        exercise.rest.replace("EXERCISES", &exercises.display().to_string())
    );
    std::fs::write(&file, text).map_err(|error| error.to_string())?;
    let console = Kept::default();
    let run = NetRun {
        driver_model: None,
        file: &file,
        program: None,
        preprocessing: &Default::default(),
        engine: device::EngineChoice::Jit,
        until_ps: None,
        seed: None,
        pingall: false,
        json: false,
        csv: None,
        out: folder,
        rows: 0,
        views: Default::default(),
        pace: None,
        reactions: Default::default(),
        reload_asked: &AtomicBool::new(false),
        live: None,
        sweep: None,
        emit: None,
        interrupted: &Arc::new(AtomicBool::new(false)),
    };
    let status = net::run(&run, &console);
    let printed = console.0.into_inner().map(RefCell::into_inner).unwrap_or_default();
    match status {
        Ok(ExitStatus::Fine) => Ok(()),
        Ok(_) => Err(printed),
        Err(failure) => Err(printed + &failure.text()),
    }
}

fn main() {
    let Some(checkout) = std::env::args().nth(1).map(PathBuf::from) else {
        eprintln!("usage: tutorials CHECKOUT of p4lang/tutorials");
        std::process::exit(2);
    };
    let exercises_folder = checkout.join("exercises");
    let folder = std::env::temp_dir().join(format!("planewright-tutorials-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let (mut passed, mut failed) = (0, 0);
    let python = std::process::Command::new("python3").arg("--version").output();
    let has_python = python.is_ok_and(|ran| ran.status.success());
    let can_run = |exercise: &Exercise| has_python || exercise.name != "flowcache";
    for exercise in exercises().into_iter().filter(can_run) {
        match run(&exercise, &exercises_folder, &folder) {
            Ok(()) => {
                passed += 1;
                println!("passed  {}", exercise.name);
            }
            Err(why) => {
                failed += 1;
                println!("FAILED  {}", exercise.name);
                why.lines().for_each(|line| println!("  {line}"));
            }
        }
    }
    if !has_python {
        println!("NOT RUN flowcache: its controller needs python3, which does not start");
    }
    println!("{passed} passed, {failed} failed");
    let _ = std::fs::remove_dir_all(&folder);
    std::process::exit(i32::from(failed > 0));
}
