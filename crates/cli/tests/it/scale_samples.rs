// SPDX-License-Identifier: Apache-2.0
//! Samples of the P4 compiler p4c that keep state, on several pipelines: what leaves is what one switch sends. The environment
//! variable `P4C_SAMPLES` names a folder with them (`testdata/p4_16_samples`). Packets are those of a sample's STF test, then
//! generated ones.

use crate::scale_captures::{plane, scrambled, sorted_packets, write_capture};
use crate::scale_domino::frame;
use conformance::stf::reader::{Step, read};
use serde_json::Value;
use std::path::{Path, PathBuf};
use testing::programs::not_run;

/// Commands for samples whose tables have no entries.
const COMMANDS: &[(&str, &str)] = &[
    (
        "flowlet_switching-bmv2",
        "table_set_default flowlet lookup_flowlet_map\n\
         table_set_default new_flowlet update_flowlet_id\n\
         table_set_default ecmp_group set_ecmp_select 0 4\n\
         table_set_default ecmp_nhop set_nhop 0x0a000001 2\n",
    ),
    ("issue1958", "table_set_default foo2_table foo2_action\n"),
    ("named_meter_1-bmv2", METERED),
    ("named_meter_bmv2", METERED),
];

const METERED: &str = "\
table_add m_table _nop_2 02:00:00:00:00:00 =>
table_add m_table _nop_2 02:00:00:00:00:01 =>
table_add m_table _nop_2 02:00:00:00:00:02 =>
meter_set_rates namedmeter 0 0.001:1 0.001:3
meter_set_rates namedmeter 1 0.001:5 0.001:9
table_add m_filter _drop 2 =>
";

/// Whether a text declares registers, counters or meters.
fn keeps_state(text: &str) -> bool {
    let names = ["register<", "register <", "counter(", "meter(", "meter<", "direct_counter("];
    names.iter().any(|name| text.contains(name))
}

/// Writes the packets of a sample to captures of two ports.
fn write_packets(sample: &Path, folder: &Path) -> Vec<String> {
    let stf = std::fs::read_to_string(sample.with_extension("stf")).unwrap_or_default();
    let steps = read("test.stf", &stf).0;
    let mut packets: Vec<Vec<u8>> = steps
        .into_iter()
        .filter_map(|step| match step.step {
            Step::Packet { data, .. } => Some(data),
            _ => None,
        })
        .collect();
    for number in 0..200_u64 {
        let bytes = (0..80).map(|at| scrambled(number * 97 + at)).map(|random| match random % 3 {
            0 => 0,
            1 => random as u8 % 4,
            _ => random as u8,
        });
        packets.extend([frame(number), bytes.collect()]);
    }
    let mut inputs = Vec::new();
    for port in 1..=2_usize {
        let of_port = packets.iter().skip(port - 1).step_by(2).cloned();
        let timed = (0..).map(|at| at * 250_000).zip(of_port).collect();
        let path = folder.join(format!("{port}.pcap"));
        write_capture(&path, timed);
        inputs.extend(["--in".to_string(), format!("{port}={}", path.display())]);
    }
    inputs
}

/// Runs a sample on one switch and on several pipelines. Returns a line of the table.
fn compare(sample: &Path) -> String {
    let name = sample.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let mut inputs = write_packets(sample, folder.path());
    if let Some((_, commands)) = COMMANDS.iter().find(|(sample, _)| *sample == name) {
        std::fs::write(path("commands.txt"), commands).expect("a file");
        inputs.extend(["--entries".to_string(), path("commands.txt")]);
    }
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let program = sample.display().to_string();
    let sharding = ["scale", &program, "--pipelines", "4", "--quiet", "--read-only-is-state"];
    let machine = ["--clock", "1MHz", "--remap-every", "5", "--format", "json"];
    let many = path("many");
    let ran = plane(&[&sharding[..], &machine, &["--out", &many], &inputs].concat());
    if ran.status.code() != Some(0) {
        let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
        let why = errors.lines().find(|line| line.starts_with("error")).unwrap_or_default();
        assert!(ran.stdout.is_empty() && !why.is_empty(), "{name} differs: {errors}");
        return format!("{name}: refused, {why}");
    }
    let report: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    let halves = [&report, &report["egress"]];
    for half in halves.iter().filter(|half| !half.is_null()) {
        assert_eq!(half["equivalent"], true, "{name}: {report}");
    }
    let accesses: u64 = halves.iter().filter_map(|half| half["accesses"].as_u64()).sum();
    let one = path("one");
    let ran = plane(&[&["run", &program, "--quiet", "--out", &one], &inputs[..]].concat());
    assert_eq!(ran.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&ran.stderr));
    let [one, many] = [one, many].map(|folder| sorted_packets(Path::new(&folder)));
    assert!(one == many, "{name}: other packets leave");
    let ran = plane(&[&sharding[..], &["--format", "json"]].concat());
    let report: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    let mut arrays = Vec::new();
    for control in report["controls"].as_array().into_iter().flatten() {
        for array in control["arrays"].as_array().into_iter().flatten() {
            let name = array["name"].as_str().unwrap_or_default();
            arrays.push(format!("{name} {}", array["rule"].as_str().unwrap_or_default()));
        }
    }
    let packets: usize = one.values().map(Vec::len).sum();
    format!("{name}: ran, {accesses} accesses, {packets} packets leave; {}", arrays.join(", "))
}

#[test]
fn samples_of_p4c_on_several_pipelines_are_one() {
    let Some(folder) = std::env::var_os("P4C_SAMPLES") else {
        return not_run("samples of p4c on several pipelines", "P4C_SAMPLES names no folder");
    };
    let files = std::fs::read_dir(folder).expect("a folder of p4c's samples");
    let mut files: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
    files.sort();
    let mut ran = 0;
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "p4")) {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        if text.contains("v1model.p4") && keeps_state(&text) {
            let line = compare(file);
            ran += usize::from(line.contains(": ran"));
            println!("{line}");
        }
    }
    assert!(ran > 0, "no sample ran");
}
