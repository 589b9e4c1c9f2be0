// SPDX-License-Identifier: Apache-2.0
//! Tests of topology files: what is read, and what is said about files that are wrong.

use super::*;
use source::SourceMap;

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

/// A topology, or the lines and messages of what is wrong.
fn parse(text: &str) -> Result<Topology, Vec<String>> {
    let mut map = SourceMap::new();
    let file = map.add("topology.json", text);
    Topology::parse(file, text).map_err(|diagnostics| {
        let line = |diagnostic: &Diagnostic| map.location(diagnostic.primary.span).unwrap().line;
        let shown =
            |diagnostic: &Diagnostic| format!("{}: {}", line(diagnostic), diagnostic.message);
        diagnostics.iter().map(shown).collect()
    })
}

fn end(name: &str, port: u32) -> (String, u32) {
    (name.to_string(), port)
}

#[test]
fn reads_a_topology() {
    let topology = parse(FILE).expect("no mistakes");
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
        assert_eq!(parse(&wrong).expect_err("wrong"), [expected]);
    };
    check(r#""s1-p1""#, r#""s9-p1""#, "10: the topology has no host or switch `s9-p1`");
    check(r#""s1-p1""#, r#""s1""#, "10: a link ends at a port of switch `s1`");
    check(r#""s1-p1""#, r#""s1-px""#, "10: `x` in `s1-px` is not a port number");
    check(r#""s2-p2""#, r#""s2-p1""#, "10: port 1 of `s2` has two links");
    check(r#"["h1", "s1-p1"]"#, "[1]", "10: a link has two ends");
    check("0.5", "-1", "10: a bandwidth must be a positive number of megabits per second, not -1");
    check("\"5us\"", "\"5 parsecs\"", "10: a latency has the unknown unit `parsecs`");
    check(
        "\"5us\"",
        "\"soon\"",
        "10: a latency must be a number of milliseconds or a text such as \"10us\", not \"soon\"",
    );
    check("510", "\"a\"", "8: `switches.s2.cpu_port` must be a whole number, not \"a\"");
    check("\"s1\":", "\"h1\":", "7: `h1` is a host and a switch");
    check("{\"ip\"", "[\"ip\"", "3: this is not JSON: expected comma in array");
    assert_eq!(parse("[]").expect_err("wrong"), ["1: a topology must be an object, not a list"]);
}

#[test]
fn several_mistakes_in_one_go() {
    let wrong = FILE.replace("{}", "5").replace("0.5", "0");
    assert_eq!(
        parse(&wrong).expect_err("wrong"),
        [
            "4: `hosts.h2` must be an object, not 5",
            "10: a bandwidth must be a positive number of megabits per second, not 0",
            "10: the topology has no host or switch `h2`",
        ]
    );
}

#[test]
fn explanations_have_examples_that_hold() {
    for explanation in EXPLANATIONS {
        assert!(parse(explanation.wrong).is_err());
        assert!(parse(explanation.right).is_ok());
    }
}

#[test]
fn latencies_have_units() {
    let check = |value: &str, expected: Option<u64>| {
        let messages = Messages::new(&CONVENTIONS, Format::Json);
        let value = messages.parse(FileId(0), value).expect("JSON");
        assert_eq!(latency_ps(&value, &messages), expected, "{value:?}");
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
