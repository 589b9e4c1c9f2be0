// SPDX-License-Identifier: Apache-2.0
//! `plane net`: the example networks, the forms of output, and mistakes that show only when the network is built.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn plane(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plane"));
    command.arg("net").args(words).current_dir(root()).output().expect("plane starts")
}

fn json(words: &[&str]) -> Value {
    let ran = plane(&[words, &["--json", "-q"]].concat());
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{words:?}: {errors}");
    serde_json::from_slice(&ran.stdout).expect("JSON")
}

/// Writes files into a folder, and runs the first one.
fn run_files(files: &[(&str, &str)], words: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    let file = folder.path().join(files[0].0).display().to_string();
    let out = folder.path().join("out").display().to_string();
    let ran = plane(&[&[file.as_str(), "--out", &out], words].concat());
    let text = |bytes: &[u8]| {
        String::from_utf8_lossy(bytes).replace(&folder.path().display().to_string(), "DIR")
    };
    (ran.status.code(), text(&ran.stdout), text(&ran.stderr))
}

/// A router of the examples between two hosts.
fn two_hosts(rest: &str) -> String {
    let router = root().join("examples/router/router.p4").canonicalize().expect("the router");
    format!(
        "topology: {{kind: line, switches: 1, hosts_per_switch: 2, program: {}, rate: 100Mbps, latency: 1us}}\n{rest}",
        router.display()
    )
}

#[test]
fn the_examples_meet_their_expectations_and_repeat() {
    for name in ["fat_tree", "dumbbell"] {
        let file = format!("examples/networks/{name}/network.yaml");
        let out = tempfile::tempdir().expect("a temporary folder");
        let out = out.path().display().to_string();
        let first = json(&[&file, "--out", &out]);
        assert_eq!(first["complete"], Value::Bool(false), "{name}");
        if name == "dumbbell" {
            assert_eq!(first, json(&[&file, "--out", &out]), "{name}");
            let captured = std::fs::metadata(Path::new(&out).join("h8.pcap")).expect("a capture");
            // Requests and replies of 98 bytes, with 16 bytes before each and 24 before all.
            let received = first["ping"][0]["received"].as_u64().expect("a count");
            let packets = (captured.len() - 24) / (98 + 16);
            assert!(packets >= 2 * received && packets <= 40, "{packets} of {received} replies");
        }
    }
}

/// A paced run takes the clock's time, and measures the same.
#[test]
fn a_paced_run_takes_its_time() {
    let file =
        two_hosts("hosts: {h1: {applications: [{ping: {to: h2, count: 3, interval: 100ms}}]}}");
    let run = |words: &[&str]| {
        let began = std::time::Instant::now();
        let words = [&["--json", "-q"], words].concat();
        let (status, text, errors) = run_files(&[("n.yaml", &file)], &words);
        assert_eq!(status, Some(0), "{errors}");
        (text, began.elapsed().as_millis())
    };
    let (text, _) = run(&[]);
    let (paced, time_ms) = run(&["--pace", "0.25"]);
    let results = |text: &str| -> Value {
        serde_json::from_str::<Value>(text).expect("JSON")["ping"].clone()
    };
    assert_eq!(results(&text), results(&paced));
    // The last ping leaves after 200 ms, which are 800 ms of the clock.
    assert!((800..4_000).contains(&time_ms), "{time_ms}");
    let (status, _, errors) = run_files(&[("n.yaml", &file)], &["--pace", "0"]);
    assert_eq!(status, Some(2));
    assert!(errors.contains("a factor is a number"), "{errors}");
}

/// The time of a ping is 2 (sum of latencies) + 2 n L / R, to the picosecond.
#[test]
fn an_idle_path_takes_its_time() {
    let file =
        two_hosts("hosts: {h1: {applications: [{ping: {to: h2, count: 2, interval: 1ms}}]}}");
    let (status, text, errors) = run_files(&[("n.yaml", &file)], &["--json", "-q"]);
    assert_eq!(status, Some(0), "{errors}");
    let results: Value = serde_json::from_str(&text).expect("JSON");
    // Two links of 1 us there and back, and four times 98 bytes at 100 Mb/s.
    let time_ps = 4 * 1_000_000 + 4 * 98 * 80_000;
    assert_eq!(results["ping"][0]["rtt_min_ps"], Value::from(time_ps));
    assert_eq!(results["ping"][0]["rtt_max_ps"], Value::from(time_ps));
    assert_eq!(results["complete"], Value::Bool(true));
}

/// Eleven frames of 1,000 bits arrive at once at a port of 1 Mb/s: ten wait for a millisecond, nine for the next, and so on.
/// A late datagram ends the run.
#[test]
fn the_99th_percentile_of_a_queue_is_over_the_time_of_the_run() {
    let router = root().join("examples/router/router.p4").canonicalize().expect("the router");
    let text = format!(
        "topology: {{kind: line, switches: 1, hosts_per_switch: 1, program: {}, rate: 1Tbps, latency: 0s}}
hosts:
  h1: {{applications: [{{udp: {{to: h2, rate: 1Gbps, size: 83, count: 11}}}}, {{udp: {{to: h2, rate: 1pps, count: 1, start: LATE}}}}]}}
  h2: {{address: 10.0.9.9/24, gateway: 10.0.9.1}}
links: [{{ends: [\"s1:2\", h2], rate: 1Mbps, latency: 0s}}]
",
        router.display()
    );
    for (late, p99) in [("40ms", 10), ("150ms", 9), ("350ms", 7), ("5s", 0)] {
        let expect = format!("expect: [{{port: \"s1:2\", queue: 10, p99_queue: {p99}}}]\n");
        let file = format!("{}{expect}", text.replace("LATE", late));
        for words in [["-q"].as_slice(), &["-q", "--engine", "interp"]] {
            let (status, out, errors) = run_files(&[("n.yaml", &file)], words);
            assert_eq!(status, Some(0), "{late}: {out}{errors}");
        }
    }
}

#[test]
fn both_engines_agree() {
    let file = two_hosts(
        "hosts: {h1: {applications: [{tcp: {to: h2, bytes: 300KB}}, {udp: {to: h2, rate: 5Mbps, count: 50, arrivals: poisson}}]}}\nseed: 3",
    );
    let run = |engine| run_files(&[("n.yaml", &file)], &["--json", "-q", "--engine", engine]);
    let (status, jit, _) = run("jit");
    assert_eq!(status, Some(0));
    assert_eq!(jit, run("interp").1);
}

#[test]
fn tables_and_csv() {
    let file =
        two_hosts("hosts: {h1: {applications: [{tcp: {to: h2, bytes: 100KB, name: bulk}}]}}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let csv = folder.path().display().to_string();
    let (status, text, _) = run_files(&[("n.yaml", &file)], &["--csv", &csv]);
    assert_eq!(status, Some(0));
    assert!(text.contains("\ntcp\n  name  from  to   bytes"), "{text}");
    assert!(text.contains("nothing is left to happen after"), "{text}");
    let tcp = std::fs::read_to_string(folder.path().join("tcp.csv")).expect("a CSV file");
    assert!(tcp.starts_with("name,from,to,bytes,goodput_bps,completion_ps"), "{tcp}");
    assert!(tcp.contains("\nbulk,h1,h2,100000,"), "{tcp}");
    assert!(folder.path().join("links.csv").is_file());
}

#[test]
fn pingall_pings_all_pairs() {
    let (status, text, _) =
        run_files(&[("n.yaml", &two_hosts(""))], &["--pingall", "--json", "-q"]);
    let results: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((status, results["ping"].as_array().map(Vec::len)), (Some(0), Some(2)));
    assert!(results["ping"].as_array().into_iter().flatten().all(|ping| ping["received"] == 1));
}

/// Commands take effect at their time: a default action drops everything in between.
#[test]
fn a_controller_applies_commands_at_times() {
    let file = two_hosts(
        "hosts: {h1: {applications: [{ping: {to: h2, count: 10, interval: 10ms}}]}}
controllers:
  c:
    switches: [s1]
    commands:
      - {at: 25ms, text: \"table_clear RouterIngress.next_hops\"}
expect: [{ping: h1-h2, received: 3}]
",
    );
    let (status, _, errors) = run_files(&[("n.yaml", &file)], &["-q"]);
    assert_eq!((status, errors.as_str()), (Some(0), ""));
    let (status, _, errors) =
        run_files(&[("n.yaml", &file.replace("next_hops", "nothing"))], &["-q"]);
    assert_eq!(status, Some(1), "{errors}");
    assert!(errors.contains("the commands of controller `c` are wrong"), "{errors}");
}

/// Fields that a simulation would ignore are refused, all at once.
#[test]
fn nothing_of_a_file_is_ignored() {
    let file = two_hosts(
        "hosts: {h1: {applications: [{ping: {to: h2, tos: 4}}, {tcp: {to: h2, bytes: 1KB, tos: 8}}]}}
switches: {s1: {engine: reference}}
",
    );
    let (status, _, errors) = run_files(&[("n.yaml", &file)], &["-q"]);
    assert_eq!(status, Some(1), "{errors}");
    for expected in [
        "switch `s1` is a device, not a reference machine",
        "application `h1.ping`: `tos` has no effect",
        "application `h1.tcp`: `tos` has no effect",
    ] {
        assert!(errors.contains(expected), "{expected} in {errors}");
    }
}

/// Requests leave by port 2 at 0, 1, 2 and 3 ms, with 98 bytes.
#[test]
fn cells_are_read_at_their_times() {
    let file = two_hosts(
        "hosts: {h1: {applications: [{ping: {to: h2, count: 4, interval: 1ms}}]}}
expect:
  - {counter: forwarded, switch: s1, index: 2, at: 1500us, count: 2, bytes: 196}
  - {counter: forwarded, switch: s1, index: 2, count: 4}
  - {counter: forwarded, switch: s1, index: 2, at: 500us, count: 2}
  - {counter: forwarded, switch: s1, index: 2, at: 2s, count: 4}
until: 1s
",
    );
    let (status, _, errors) = run_files(&[("n.yaml", &file)], &["-q"]);
    assert_eq!(status, Some(1), "{errors}");
    assert_eq!(errors.matches("error[").count(), 2, "{errors}");
    assert!(errors.contains("`forwarded[2]` of `s1`: count is 1, expected 2"), "{errors}");
    assert!(errors.contains("`forwarded[2]` of `s1`: nothing was measured for count"), "{errors}");
}

#[test]
fn late_replies_are_lost_and_incast_counts_its_servers() {
    let file = two_hosts(
        "hosts:
  h1: {applications: [{ping: {to: h2, count: 2, interval: 1ms, timeout: 1us}}, {incast: {from: [h2], bytes: 20KB, count: 3}}]}
  h2: {applications: [{memcached_client: {to: h1, rate: 10k/s, count: 50}}]}
",
    );
    let (status, text, errors) = run_files(&[("n.yaml", &file)], &["--json", "-q"]);
    assert_eq!(status, Some(0), "{errors}");
    let results: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(results["ping"][0]["sent"], 2);
    assert_eq!(results["ping"][0]["received"], 0);
    let answered = |row: usize| results["requests"][row]["answered"].as_u64();
    assert_eq!([answered(0), answered(1)], [Some(3), Some(50)]);
    assert_eq!(results["requests"][0]["retransmissions"], 0);
}

#[test]
fn a_program_is_not_a_network() {
    let ran = plane(&["examples/router/router.p4"]);
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(1), "{errors}");
    assert!(errors.contains("is not a network file"), "{errors}");
}

#[test]
fn mistakes_that_show_when_the_network_is_built() {
    let check = |files: &[(&str, &str)], expected: &[&str]| {
        let (status, _, errors) = run_files(files, &["-q"]);
        assert_eq!(status, Some(1), "{errors}");
        for expected in expected {
            assert!(errors.contains(expected), "{expected} in {errors}");
        }
    };
    let expectations = two_hosts(
        "hosts: {h1: {applications: [{ping: {to: h2, count: 2, interval: 1ms}}]}}
expect:
  - {ping: h1-h2, received: \"at least 3\"}
  - {host: h2, where: {ipv4.ttl: 63}, count: 5}
  - {counter: nonsense, switch: s1, index: 0, count: 1}
  - {host: h2, where: {ipv4.tt1: 63}, count: 2}
",
    );
    check(
        &[(
            "n.yaml",
            &expectations.replace("  - {host: h2, where: {ipv4.tt1: 63}, count: 2}\n", ""),
        )],
        &[
            "received is 2, expected at least 3",
            "host `h2`: count is 2, expected 5",
            "the program of `s1` has no counter `nonsense`",
        ],
    );
    check(
        &[("n.yaml", &expectations)],
        &["packets have no field `ipv4.tt1`", "`ipv4.ttl` may be meant"],
    );
    let program = "topology: {kind: line, switches: 2, program: bad.p4}";
    check(
        &[("n.yaml", program), ("bad.p4", "control c() { apply { x = 1; } }\n")],
        &["bad.p4:1:23", "not run: `DIR/bad.p4` has errors"],
    );
    let no_routes = "topology: {kind: line, switches: 1, program: empty.p4}";
    let empty = "#include <core.p4>
#include <v1model.p4>
struct h {} struct m {}
parser P(packet_in p, out h x, inout m y, inout standard_metadata_t s) { state start { transition accept; } }
control V(inout h x, inout m y) { apply {} }
control I(inout h x, inout m y, inout standard_metadata_t s) { apply {} }
control D(packet_out p, in h x) { apply {} }
V1Switch(P(), V(), I(), I(), V(), D()) main;
";
    check(
        &[("n.yaml", no_routes), ("empty.p4", empty)],
        &["has no table for the generated routes"],
    );
    let device = "[port.1]\nrate = \"10Gb/s\"\n";
    let differ = two_hosts("switches: {s1: {device: d.toml}}");
    check(
        &[("n.yaml", &differ), ("d.toml", device)],
        &["the link gives port 1 of `s1` 100 Mb/s, and its device file 10 Gb/s"],
    );
}

/// A generated trace crosses the router with the generated gateway's address; the seed of the network decides it.
#[test]
fn a_host_sends_a_generated_trace() {
    let file = two_hosts(
        "hosts: {h1: {applications: [{trace: {flows: 50, packets: 600, duration: 10ms, destination_net: 10.0.1.3/32}}]}}",
    );
    let run = |words: &[&str]| {
        let words = [&["--json", "-q"], words].concat();
        let (status, text, errors) = run_files(&[("n.yaml", &file)], &words);
        assert_eq!(status, Some(0), "{errors}");
        serde_json::from_str::<Value>(&text).expect("JSON")
    };
    let (first, other) = (run(&[]), run(&["--seed", "5"]));
    assert_eq!(first["frames"][0]["sent"], 600);
    assert_eq!(first["frames"], run(&[])["frames"]);
    assert_ne!(first["frames"][0]["bytes"], other["frames"][0]["bytes"]);
    let arrived = first["links"].as_array().expect("links").iter();
    let arrived = arrived.filter(|link| link["link"] == "s1:2 -> h2");
    assert_eq!(arrived.map(|link| link["frames"].clone()).collect::<Vec<_>>(), [600]);
}
