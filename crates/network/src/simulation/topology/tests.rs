// SPDX-License-Identifier: Apache-2.0
//! Tests of topology files: what is read, and what is said about files that are wrong.

use super::*;

const FILE: &str = r#"{
    "hosts": {
        "h1": {"ip": "10.0.1.1/24", "mac": "08:00:00:00:01:11", "commands": ["route add x"]},
        "h2": {}
    },
    "switches": {
        "s1": {"runtime_json": "s1.json"},
        "s2": {"program": "other.p4", "cpu_port": 510, "priority_queues": "3"}
    },
    "links": [["h1", "s1-p1"], ["s1-p2", "s2-p1", "5us", 0.5], ["h2", "s2-p2", 2]]
}"#;

fn end(name: &str, port: u32) -> (String, u32) {
    (name.to_string(), port)
}

#[test]
fn reads_a_topology() {
    let topology = Topology::parse(FILE).expect("fine");
    assert_eq!(topology.hosts["h1"].mac.as_deref(), Some("08:00:00:00:01:11"));
    assert_eq!(topology.hosts["h1"].commands, ["route add x"]);
    assert_eq!(topology.switches["s1"].runtime_json.as_deref(), Some("s1.json"));
    assert_eq!(topology.switches["s2"].cpu_port, Some(510));
    assert_eq!(
        topology.links,
        [
            LinkDescription { ends: [end("h1", 0), end("s1", 1)], latency_ps: 0, rate_bps: None },
            LinkDescription {
                ends: [end("s1", 2), end("s2", 1)],
                latency_ps: 5_000_000,
                rate_bps: Some(500_000)
            },
            LinkDescription {
                ends: [end("h2", 0), end("s2", 2)],
                latency_ps: 2_000_000_000,
                rate_bps: None
            },
        ]
    );
    let options = topology.traffic_manager("s2");
    assert_eq!(options.ports[&1].rate_bps, Some(500_000));
    assert_eq!(options.ports[&1].queue_count, 3);
    assert_eq!(options.default_port.rate_bps, None);
}

#[test]
fn says_what_is_wrong() {
    let check = |from: &str, to: &str, expected: &str| {
        let wrong = FILE.replacen(from, to, 1);
        assert_ne!(wrong, FILE);
        let error = Topology::parse(&wrong).expect_err("wrong");
        assert_eq!(error.to_string(), expected);
    };
    check(
        r#""s1-p1""#,
        r#""s9-p1""#,
        "links[0]: `s9-p1` is neither a host nor a port of a switch, as `s1-p2`",
    );
    check(r#""s1-p1""#, r#""s1""#, "links[0]: write `s1-pN` for port N of this switch");
    check(r#""s1-p1""#, r#""s1-px""#, "links[0]: `x` in `s1-px` is no port number");
    check(r#""s2-p2""#, r#""s2-p1""#, "links[2]: port 1 of `s2` is in use by links[1]");
    check(
        r#"["h1", "s1-p1"]"#,
        "[1]",
        "links[0]: a link is a list [node, node, latency, bandwidth]",
    );
    check("0.5", "-1", "links[1]: a bandwidth is a positive number of megabits per second");
    check(
        "\"5us\"",
        "\"5 parsecs\"",
        "links[1]: a latency is a number of milliseconds or text such as \"10us\"",
    );
    check("510", "\"a\"", "switches.s2: `cpu_port` should be a number from 0 to 4294967295");
    check("\"s1\":", "\"h1\":", "switches.h1: a host has this name already");
    check(
        "{\"ip\"",
        "[\"ip\"",
        "line 3, column 20: this is no JSON: expected `,` or `]` at line 3 column 20",
    );
    assert_eq!(
        Topology::parse("[]").expect_err("wrong").to_string(),
        "topology: expected an object in braces"
    );
}

#[test]
fn latencies_have_units() {
    let check = |value: &str, expected: Option<u64>| {
        let value: Value = serde_json::from_str(value).expect("JSON");
        assert_eq!(latency_ps(&value, "here").ok(), expected, "{value}");
    };
    check("0", Some(0));
    check("1.5", Some(1_500_000_000));
    check("\"0\"", Some(0));
    check("\"7\"", Some(7_000_000));
    check("\"7ns\"", Some(7_000));
    check("\"0.5 ms\"", Some(500_000_000));
    check("\"1s\"", Some(1_000_000_000_000));
    check("\"-1s\"", None);
    check("1e300", None);
    check("[]", None);
}
