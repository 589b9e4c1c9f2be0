// SPDX-License-Identifier: Apache-2.0
//! `plane net` with IPv6 and with hosts of several links: a router of IPv6, all applications over it, and refusals.

use serde_json::Value;
use std::path::Path;
use std::process::Command;
use testing::live::can_run;

const ROUTER: &str = r#"
#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header ipv6_t {
    bit<4> version;
    bit<8> traffic_class;
    bit<20> flow_label;
    bit<16> payload_length;
    bit<8> next_header;
    bit<8> hop_limit;
    bit<128> src;
    bit<128> dst;
}
struct headers { ethernet_t ethernet; ipv6_t ipv6; }
struct metadata { }

parser Parse(packet_in packet, out headers h, inout metadata m, inout standard_metadata_t s) {
    state start {
        packet.extract(h.ethernet);
        transition select(h.ethernet.type) { 0x86dd: ipv6; default: accept; }
    }
    state ipv6 { packet.extract(h.ipv6); transition accept; }
}

control Ingress(inout headers h, inout metadata m, inout standard_metadata_t s) {
    action drop() { mark_to_drop(s); }
    action forward(bit<48> mac, bit<48> own, bit<9> port) {
        h.ethernet.src = own;
        h.ethernet.dst = mac;
        h.ipv6.hop_limit = h.ipv6.hop_limit - 1;
        s.egress_spec = port;
    }
    table routes {
        key = { h.ipv6.dst: lpm; }
        actions = { forward; drop; }
        default_action = drop();
    }
    apply {
        if (h.ipv6.isValid() && h.ipv6.hop_limit > 1) { routes.apply(); } else { drop(); }
    }
}

control Egress(inout headers h, inout metadata m, inout standard_metadata_t s) { apply { } }
control Check(inout headers h, inout metadata m) { apply { } }
control Deparse(packet_out packet, in headers h) {
    apply { packet.emit(h.ethernet); packet.emit(h.ipv6); }
}
V1Switch(Parse(), Check(), Ingress(), Egress(), Check(), Deparse()) main;
"#;

const ENTRIES: &str = "
table_add routes forward 2001:db8:1::/64 => 02:00:00:00:00:01 02:01:00:00:00:01 1
table_add routes forward 2001:db8:2::/64 => 02:00:00:00:00:02 02:01:00:00:00:02 2
table_add routes forward 2001:db8:2::77/128 => 02:00:00:00:00:01 02:01:00:00:00:01 1
";

/// Two hosts at the router.
fn routed(applications: &str, rest: &str) -> String {
    format!(
        "switches: {{s1: {{program: router.p4, entries: entries.txt}}}}
defaults: {{links: {{rate: 100Mbps, latency: 1ms}}}}
hosts:
  h1:
    address: \"2001:db8:1::1/64\"
    gateway: \"2001:db8:1::fe\"
    arp: {{\"2001:db8:1::fe\": \"02:01:00:00:00:01\"}}
    applications: [{applications}]
  h2:
    address: \"2001:db8:2::1/64\"
    gateway: \"2001:db8:2::fe\"
    arp: {{\"2001:db8:2::fe\": \"02:01:00:00:00:02\"}}
links: [[h1, \"s1:1\"], [h2, \"s1:2\"]]
{rest}"
    )
}

/// Runs a network beside the router. Returns its status, output and errors.
fn run(file: &str, words: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in [("n.yaml", file), ("router.p4", ROUTER), ("entries.txt", ENTRIES)] {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_plane"));
    command.current_dir(folder.path()).args(["net", "n.yaml"]).args(words);
    let ran = command.output().expect("plane starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let html = folder.path().join("run.html");
    let page = if Path::new(&html).exists() {
        std::fs::read_to_string(html).expect("a page")
    } else {
        text(&ran.stdout)
    };
    (ran.status.code(), page, text(&ran.stderr))
}

fn json(file: &str, words: &[&str]) -> Value {
    let (status, text, errors) = run(file, &[&["--json", "-q"], words].concat());
    assert_eq!(status, Some(0), "{errors}");
    serde_json::from_str(&text).expect("JSON")
}

/// All applications cross the router, with equal results on both engines.
#[test]
fn applications_cross_a_router_of_ipv6() {
    let file = routed(
        "{ping: h2}, {ping: {to: \"2001:db8:2::99\", count: 1}}, {tcp: {to: h2, bytes: 100KB, name: bulk}}, \
         {udp: {to: h2, rate: 1Mbps, count: 50}}, {request_response: {to: h2, request: 100, response: 20KB, count: 3}}, \
         {memcached_client: {to: h2, rate: 1k/s, count: 20}}, \
         {flows: {to: h2, sizes: 10KB, rate: 5Mbps, count: 5}}, {incast: {from: h2, bytes: 30KB}}",
        "expect:
  - {ping: h1-h2, loss: 0%, ttl: 63}
  - {application: bulk, bytes: 100KB}
  - {application: h1.udp, loss: 0%}
  - {application: h1.request_response, completed: 3}
  - {application: h1.memcached_client, loss: 0%}
  - {application: h1.flows, completed: 5}
  - {application: h1.incast, bytes: 30KB}
  - {host: h2, where: {ipv6.dst: \"2001:db8:2::1\", ipv6.next_header: 58}, count: 5}
",
    );
    let measured = |words: &[&str]| {
        let mut results = json(&file, words);
        // The interpreter plans no departures, so it needs more events.
        results.as_object_mut().expect("an object").remove("events");
        results
    };
    let jit = measured(&[]);
    assert_eq!(jit, measured(&["--engine", "interp"]));
    // 2001:db8:2::99 is not there: h2 is the only neighbour of the router's second port.
    assert_eq!(jit["ping"][1]["received"], 0);
    assert_eq!(jit["switches"][0]["dropped"], 0);
}

/// The time line knows flows of IPv6 by their ends and applications.
#[test]
fn time_lines_show_flows_of_ipv6() {
    let file = routed("{tcp: {to: h2, bytes: 10KB, name: bulk}}, {ping: h2}", "");
    let (status, page, errors) = run(&file, &["-q", "--timeline", "run.html"]);
    assert_eq!(status, Some(0), "{errors}");
    for part in ["[2001:db8:2::1]:5001", "\"ICMPv6\"", "\"bulk\"", "\"bulk, replies\""] {
        assert!(page.contains(part), "{part}");
    }
}

/// A host on two switches reaches each neighbour by its own link; the router sends one address back.
#[test]
fn a_host_with_two_links_reaches_both_neighbours() {
    let file = "switches: {s1: {program: router.p4, entries: entries.txt}}
hosts:
  h1:
    interfaces:
      - {address: \"2001:db8:1::1/64\"}
      - {address: 10.0.0.1/24}
    gateway: \"2001:db8:1::fe\"
    arp: {\"2001:db8:1::fe\": \"02:01:00:00:00:01\"}
    applications: [{ping: h2}, {ping: h3}, {tcp: {to: h3, bytes: 50KB}}]
  h2: {address: \"2001:db8:2::1/64\", gateway: \"2001:db8:2::fe\", arp: {\"2001:db8:2::fe\": \"02:01:00:00:00:02\"}}
  h3: {address: 10.0.0.3/24}
links: [[h1, \"s1:1\"], [h2, \"s1:2\"], [\"h1:1\", h3]]
events: [{at: 2500ms, link: \"h1:1\", state: down}]
captures: [{port: \"h1:1\", file: second.pcap}]
expect:
  - {ping: h1-h2, loss: 0%, ttl: 63}
  - {ping: h1-h3, received: 3, ttl: 64}
  - {application: h1.tcp, bytes: 50KB}
";
    let results = json(file, &["--out", "out"]);
    let links = results["links"].as_array().expect("links");
    let frames = |name: &str| {
        let link = links.iter().find(|link| link["link"] == name);
        link.unwrap_or_else(|| panic!("{name} of {links:?}"))["frames"].as_u64().expect("a number")
    };
    // Five requests; ARP, the TCP flow and five requests by the other link.
    assert_eq!(frames("h1 -> s1:1"), 5);
    assert!(frames("h1:1 -> h3") > 40);
}

#[test]
fn live_networks_refuse_hosts_with_several_links() {
    let file = "switches: {s1: {program: router.p4, entries: entries.txt}}
hosts: {h1: {interfaces: [{address: 10.0.0.1/24}, {address: 10.0.1.1/24}]}}
links: [[h1, \"s1:1\"], [h1, \"s1:2\"]]
";
    let (status, _, errors) = run(file, &["--emit", "containerlab"]);
    assert_eq!(status, Some(1), "{errors}");
    assert!(errors.contains("error[NW-E0501]") && errors.contains("n.yaml:2:9"), "{errors}");
}

/// The kernel's IPv6: neighbor discovery on a link between two hosts, then ping and iperf3 through the router.
#[test]
fn live_hosts_speak_ipv6() {
    if !can_run("ipv6", &["ping", "iperf3"]) {
        return;
    }
    let name = |end: &str| format!("ipv6-{end}-{}", std::process::id());
    let near = "switches: {s1: {program: router.p4}}
hosts:
  h1: {address: \"2001:db8::1/64\", applications: [{ping: {to: h2, count: 3, interval: 50ms}}]}
  h2: {address: \"2001:db8::2/64\"}
  h3: {address: 10.0.0.1/24}
links: [[h1, h2], [h3, \"s1:1\"]]
expect: [{ping: h1-h2, loss: 0%, ttl: 64}]
";
    json(near, &["--live", "--name", &name("near")]);
    let file = routed(
        "{ping: {to: h2, count: 3, interval: 50ms}}, {udp: {to: h2, rate: 2Mbps, count: 20}}, {tcp: {to: h2, duration: 1s}}",
        "expect: [{ping: h1-h2, loss: 0%, ttl: 63}, {application: h1.tcp, goodput: \">= 5Mbps\"}, \
         {application: h1.udp, received: 20}]",
    );
    json(&file, &["--live", "--name", &name("routed")]);
}
