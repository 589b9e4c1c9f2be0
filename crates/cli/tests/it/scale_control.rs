// SPDX-License-Identifier: Apache-2.0
//! `plane scale --replay-commands`: a control plane reads and writes while packets are in flight, in the order of arrivals.

use crate::scale_captures::{Flows, PACKETS, plane};
use std::path::Path;

/// Commands of a control plane while packets are in flight: they read and write registers, counters and meters, and change a
/// table.
const COMMANDS: &str = "\
# at 20100 ns
register_read I.seen 3
register_write I.seen 3 1000
counter_read I.flows 3
table_add I.ports I.send 3 => 7
# at 45100 ns
register_write I.hot 1 5
register_write I.seen 4 77
counter_write I.flows 4 1000 0
meter_set_rates I.rates 5 0.001:1 0.001:2
table_set_default I.ports I.send 9
# at 70100 ns
register_read I.seen
register_write I.seen 3 5
counter_read I.flows 4
counter_read I.flows 5
";

/// The values that commands have read, such as `5 packets, 70 bytes`.
fn values_read(words: &[String], options: &[&str]) -> Vec<String> {
    let words: Vec<&str> =
        words.iter().map(String::as_str).chain(options.iter().copied()).collect();
    let ran = plane(&words);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{said}");
    let value = |line: &str| {
        let (_, value) = line.split_once(" = ")?;
        // The time until the answer stands behind it.
        value.split(" (").next().map(str::to_string)
    };
    said.lines().filter_map(value).collect()
}

#[test]
fn control_under_load_is_in_the_order_of_arrivals() {
    let flows = Flows::new(0);
    let path = flows.0.path().join("commands.txt");
    std::fs::write(&path, COMMANDS).expect("a file");
    let commands = ["--replay-commands", path.to_str().expect("a path")];
    let expected = flows.of_one_switch(&commands);
    assert!(expected != flows.of_one_switch(&[]), "the commands change nothing");
    let sent = expected.values().map(Vec::len).sum::<usize>() as u64;
    assert!(sent < PACKETS, "the meter drops nothing");
    let out = flows.0.path().join("out");
    let read = values_read(&flows.words("run", &out), &commands);
    assert_eq!(read.len(), 5, "{read:?}");
    for remap_every in ["3", "1000"] {
        let options = ["--keep-order", "h.flow", "--remap-every", remap_every];
        let (report, left) = flows.scaled(&[&commands[..], &options].concat());
        assert!(left == expected, "packets see another order of writes");
        assert_eq!(report["equivalent"], true, "{report}");
        assert_eq!((&report["control_writes"], &report["lost"]), (&6.into(), &0.into()));
        assert_eq!(report["control_reads"], 4 + 64);
        assert_eq!(report["packets"], PACKETS);
        let pipelines = ["--pipelines", "4", "--clock", "1MHz"];
        let all = [&commands[..], &pipelines, &options].concat();
        assert_eq!(values_read(&flows.words("scale", &out), &all), read);
    }
}

#[test]
fn commands_that_several_pipelines_do_not_take_are_refused() {
    let flows = Flows::new(0);
    for (command, said) in [
        (
            "table_add I.ports I.send 3 => 7\ncounter_read I.hits 0",
            "counter `I.hits` belongs to the entries of a table",
        ),
        ("register_write I.fixed 0 1", "register `I.fixed`: no packet writes it"),
    ] {
        let path = flows.0.path().join("commands.txt");
        std::fs::write(&path, format!("# at 5 us\n{command}\n")).expect("a file");
        let mut words = flows.words("scale", Path::new("out"));
        words.truncate(4);
        let path = path.display().to_string();
        words.extend(["--pipelines", "2", "--replay-commands", &path].map(str::to_string));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ran = plane(&words);
        let errors = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(1), "{errors}");
        assert!(errors.contains(said), "{errors}");
    }
}
