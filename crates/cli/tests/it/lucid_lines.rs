// SPDX-License-Identifier: Apache-2.0
//! What a run of a Lucid program prints: short lines, repeated losses, filters.

use crate::lucid::{folder, plane, text};
use serde_json::Value;

/// A program that sends packets on with a payload, and loses some at a link that is down.
const RELAY: &str = "\
packet event relay(int<16> number, Payload.t rest);
event lost(int<32> number) { skip; }
handle relay(int<16> number, Payload.t rest) {
  printf(\"relayed\");
  generate_port(2, relay(number, rest));
  generate_port(1, lost(7));
}
parser main(bitstring bits) { int<16> number = read(bits); generate relay(number, Payload.parse(bits)); }
";

#[test]
fn lines_are_short_and_can_be_filtered() {
    let packet = format!("0005{}", "ab".repeat(400));
    let specification = format!(
        "switches: 2\nlinks: {{0:1: 1:1}}\nevents:\n  - {{type: link, link: 0:1, state: down}}\n{}",
        format!("  - {{type: packet, bytes: \"{packet}\"}}\n").repeat(3)
    );
    let folder = folder(&[("relay.dpt", RELAY), ("relay.yaml", &specification)]);
    for engine in ["", " --engine reference"] {
        let printed = |words: &str| {
            let ran = plane(folder.path(), &format!("run relay.dpt{engine} --no-warnings{words}"));
            assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
            text(&ran.stdout)
        };
        let short = printed("");
        let first = "left by port 2: relay(number=5, rest=400 bytes abab";
        assert_eq!(short.matches(first).count(), 3, "{short}");
        assert!(short.contains(" as 402 bytes 0005abab"), "{short}");
        assert!(short.lines().all(|line| line.len() < 200), "{short}");
        // Three equal drops are a line and their number.
        assert_eq!(short.matches(" dropped, the link is down: lost(").count(), 1, "{short}");
        let more = "dropped 2 more times until now, the link is down: lost(number=7)";
        assert!(short.contains(more), "{short}");

        assert_eq!(printed(" --all-bytes").matches(&packet).count(), 3);

        let lost = printed(" --only lost");
        assert!(lost.contains("lost(") && !lost.contains("relay("), "{lost}");
        assert!(!lost.contains("relayed"), "{lost}");
        let both = printed(" --only lost --only relay");
        assert!(
            both.contains("lost(") && both.contains("relay(number") && both.contains("relayed")
        );
        let json = printed(" --only relay --json");
        let lines = json.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let lines: Vec<Value> = lines.collect();
        assert!(
            lines.len() >= 6
                && lines.iter().all(|line| line["event"] != "lost" || line["by"] != Value::Null)
        );
    }
    let wrong = plane(folder.path(), "run relay.dpt --only rely");
    assert_eq!(wrong.status.code(), Some(2));
}
