// SPDX-License-Identifier: Apache-2.0
//! `plane scale --on` and `--beside`: programs on shares of a switch's pipelines.

use crate::scale_captures::{plane, sorted_packets};
use serde_json::Value;

const FIREWALL: &str = "examples/stateful_firewall/stateful_firewall.p4";
const FIREWALL_INPUTS: [&str; 4] = [
    "--in",
    "1=examples/stateful_firewall/captures/host1.pcap",
    "--in",
    "2=examples/stateful_firewall/captures/host2.pcap",
];
const FIREWALL_COMMANDS: [&str; 2] = ["--entries", "examples/stateful_firewall/commands.txt"];
const METER_POLICE: &str = "examples/meter_police/meter_police.p4";

#[test]
fn programs_that_share_pipelines_are_each_one_pipeline() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = |name: &str| folder.path().join(name).display().to_string();
    let router = "examples/router/router.p4";
    let router_inputs = ["--in", "3=examples/router/captures/host3.pcap"];
    let beside = format!("{router}=1:3:examples/router/commands.txt");
    let shared = out("shared");
    let words = ["scale", FIREWALL, "--pipelines", "4", "--clock", "40Hz", "--format", "json"];
    let own = ["--out", &shared, "--beside", &beside];
    let all = [&words[..], &FIREWALL_INPUTS, &FIREWALL_COMMANDS, &router_inputs, &own].concat();
    let ran = plane(&all);
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    let report: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    let of = |at: usize, what: &str| report["programs"][at][what].clone();
    let places = [0, 1].map(|at| (of(at, "first_pipeline"), of(at, "pipelines")));
    assert_eq!(places, [(0.into(), 3.into()), (3.into(), 1.into())]);
    assert!([0, 1].iter().all(|at| of(*at, "equivalent") == true), "{report}");
    assert!(of(0, "accesses") != 0 && of(0, "packets") != 0 && of(1, "packets") != 0, "{report}");
    // Each sends what it sends alone on a switch.
    let [firewall, routed] = ["firewall", "router"].map(out);
    let entries = ["--entries", "examples/router/commands.txt"];
    for (program, inputs, entries, alone, share) in [
        (FIREWALL, &FIREWALL_INPUTS[..], FIREWALL_COMMANDS, &firewall, "0-stateful_firewall"),
        (router, &router_inputs[..], entries, &routed, "1-router"),
    ] {
        let words = [&["run", program, "--quiet", "--out", alone], inputs, &entries].concat();
        assert_eq!(plane(&words).status.code(), Some(0));
        let own = folder.path().join("shared").join(share);
        assert!(sorted_packets(&own) == sorted_packets(alone.as_ref()), "{program}");
    }
}

#[test]
fn a_share_is_a_number_of_pipelines() {
    let program = "examples/domino/flowlets.domino";
    let packets = ["--packets", "examples/domino/flowlets.csv", "--format", "json"];
    let run = |words: &[&str]| {
        let ran = plane(&[&["scale", program], words, &packets].concat());
        assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
        ran.stdout
    };
    assert_eq!(run(&["--pipelines", "8", "--on", "2"]), run(&["--pipelines", "2"]));
}

#[test]
fn wrong_shares_have_a_code_and_advice() {
    let beside = |pipelines: u64, ports: &str| format!("{METER_POLICE}={pipelines}:{ports}");
    let [two, none, other] = [beside(2, "3"), beside(0, "3"), beside(1, "3,4")];
    for (words, said) in [
        (&["--pipelines", "2", "--on", "3"][..], "the programs take 3"),
        (&["--pipelines", "4", "--on", "3", "--beside", &two], "the programs take 3 and 2"),
        (&["--pipelines", "2", "--beside", &two], "a program has no pipeline"),
        (&["--pipelines", "4", "--beside", &none], "a program has no pipeline"),
        (&["--pipelines", "4", "--beside", &two, "--beside", &other], "port 3 has two programs"),
        (&["--pipelines", "4", "--beside", METER_POLICE], "write PROG=PIPELINES:PORTS"),
    ] {
        let ran = plane(&[&["scale", FIREWALL], words, &FIREWALL_INPUTS].concat());
        let errors = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{words:?}: {errors}");
        assert!(errors.contains(said), "{words:?}: {errors}");
    }
}
