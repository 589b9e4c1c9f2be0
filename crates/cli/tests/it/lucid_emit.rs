// SPDX-License-Identifier: Apache-2.0
//! `plane emit`: the other commands accept the files that it writes, and it reports mistakes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn plane(words: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_plane"))
        .args(words.split_whitespace())
        .current_dir(root())
        .output()
        .expect("plane starts")
}

fn succeeds(words: &str) -> String {
    let output = plane(words);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{words}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn what_is_written_runs() {
    let out = tempfile::tempdir().expect("a temporary folder");
    let folder = out.path().join("nat").display().to_string();
    succeeds(&format!("emit examples/lucid/nat/nat.dpt -o {folder}"));
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .expect("the folder")
        .flatten()
        .map(|file| file.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["README.md", "commands-0.txt", "device-0.toml", "nat.p4"]);
    succeeds(&format!("check {folder}/nat.p4"));
    let said = succeeds(&format!(
        "run {folder}/nat.p4 --entries {folder}/commands-0.txt --device {folder}/device-0.toml \
         --in 1=examples/router/captures/host1.pcap --out {folder}/out"
    ));
    assert!(said.contains("packets"), "{said}");
}

/// A program for BMv2 is the same as with the three choices that it stands for.
#[test]
fn programs_for_bmv2_recirculate_by_the_primitive() {
    let text = succeeds("emit examples/lucid/rip/rip.dpt --bmv2");
    assert!(text.contains("recirculate_preserving_field_list(0)"), "{text}");
    assert_eq!(
        text,
        succeeds(
            "emit examples/lucid/rip/rip.dpt --clock us --delay recirculation --recirculation primitive"
        )
    );
}

#[test]
fn each_switch_of_a_run_has_its_commands() {
    let out = tempfile::tempdir().expect("a temporary folder");
    let folder = out.path().display().to_string();
    succeeds(&format!(
        "emit examples/lucid/sro/sro.dpt --spec examples/lucid/sro/run.yaml -o {folder}"
    ));
    let commands = |switch: u32| {
        std::fs::read_to_string(out.path().join(format!("commands-{switch}.txt")))
            .expect("commands")
    };
    assert!(commands(0).contains("table_set_default configuration configure 0 196"));
    assert!(commands(1).contains("table_set_default configuration configure 1 196"));
    assert!(commands(1).contains("table_add forward forward_to 0 => "));
}

/// The period of the delay queue is the run's.
#[test]
fn the_delay_queue_is_released_as_the_run_says() {
    let out = tempfile::tempdir().expect("a temporary folder");
    let folder = out.path().display().to_string();
    let write =
        |name: &str, text: &str| std::fs::write(out.path().join(name), text).expect("a file");
    let read = |name: &str| std::fs::read_to_string(out.path().join(name)).expect("a file");
    write("tick.dpt", "event tick(); handle tick() { generate Event.delay(tick(), 1000); }\n");
    write("exact.yaml", "max time: 1ms\n");
    write("coarse.yaml", "max time: 1ms\ndelay granularity: 20us\n");
    for target in ["v1model", "tna"] {
        for (run, period, explained) in [
            ("", "100000000ps", "every 100 us"),
            ("--delay queue --spec exact.yaml", "100000000ps", "every 100 us"),
            ("--spec coarse.yaml", "20000000ps", "every 20 us"),
        ] {
            let run = run.replace("--spec ", &format!("--spec {folder}/"));
            succeeds(&format!("emit {folder}/tick.dpt --target {target} {run} -o {folder}"));
            let (device, readme) = (read("device-0.toml"), read("README.md"));
            let count = device.matches("period = ").count();
            assert!(device.contains(&format!("period = \"{period}\"")), "{device}");
            assert_eq!(count > 1, target == "tna", "{device}");
            assert!(readme.contains(explained) && readme.contains("delay granularity"), "{readme}");
            succeeds(&format!(
                "run {folder}/tick.p4 --entries {folder}/commands-0.txt --device \
                 {folder}/device-0.toml --in 1=examples/router/captures/host1.pcap --out {folder}/out"
            ));
        }
        succeeds(&format!(
            "emit {folder}/tick.dpt --target {target} --delay recirculation --spec \
                           {folder}/coarse.yaml -o {folder}"
        ));
        assert!(!read("device-0.toml").contains("period"));
        assert!(!read("README.md").contains("delay granularity"));
    }
}

#[test]
fn passes_are_shown_by_name() {
    let listed = succeeds("emit examples/lucid/rip/rip.dpt --after list");
    let first = listed.split_whitespace().next().expect("a pass");
    assert!(!succeeds(&format!("emit examples/lucid/rip/rip.dpt --after {first}")).is_empty());
    let wrong = plane("emit examples/lucid/rip/rip.dpt --after nothing");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("there is no pass `nothing`"));
}

/// The stages that the printed program's tables have.
fn stages_of(text: &str) -> std::collections::BTreeSet<u32> {
    let pragmas = text.lines().filter_map(|line| line.trim().strip_prefix("@stage("));
    pragmas.filter_map(|rest| rest.split(')').next()?.parse().ok()).collect()
}

#[test]
fn stages_are_those_of_the_exact_layout() {
    let program = "examples/lucid/count_min/count_min.dpt";
    let layout = succeeds(&format!("layout {program} --exact --format json"));
    let layout: serde_json::Value = serde_json::from_str(&layout).expect("JSON");
    let least = layout["stages_used"].as_u64().expect("a number");
    let text = succeeds(&format!("emit {program} --target tna --layout exact"));
    assert_eq!(stages_of(&text).len() as u64, least);
    let greedy = succeeds(&format!("emit {program} --target tna --layout greedy"));
    assert_eq!(greedy, succeeds(&format!("emit {program} --target tna")));
    assert!(stages_of(&greedy).len() as u64 >= least);
    let out = tempfile::tempdir().expect("a temporary folder");
    let exact = out.path().join("exact.p4");
    std::fs::write(&exact, text).expect("writable");
    succeeds(&format!("check {}", exact.display()));
}

/// Each command of the README runs as it stands there.
#[test]
fn the_readme_says_how_to_run_it() {
    for target in ["v1model", "tna"] {
        let out = tempfile::tempdir().expect("a temporary folder");
        let folder = out.path().display().to_string();
        succeeds(&format!("emit examples/lucid/nat/nat.dpt --target {target} -o {folder}"));
        let text = std::fs::read_to_string(out.path().join("README.md")).expect("a README");
        assert!(text.contains("There is one switch"), "{text}");
        let command = text.split("```\nplane ").nth(1).and_then(|rest| rest.split("```").next());
        let command = command.expect("a command").replace("\\\n", " ");
        let capture = root().join("examples/router/captures/host1.pcap").display().to_string();
        let ran = Command::new(env!("CARGO_BIN_EXE_plane"))
            .args(command.replace("CAPTURE.pcap", &capture).split_whitespace())
            .current_dir(out.path())
            .output()
            .expect("plane starts");
        assert!(ran.status.success(), "{command}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}

#[test]
fn all_files_are_written_or_none() {
    let out = tempfile::tempdir().expect("a temporary folder");
    let folder = out.path().join("nat");
    // One of the files cannot be written: a folder has its name.
    std::fs::create_dir_all(folder.join("device-0.toml")).expect("a folder");
    let command = format!("emit examples/lucid/nat/nat.dpt -o {}", folder.display());
    let wrong = plane(&command);
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert_eq!(wrong.status.code(), Some(1), "{said}");
    assert!(said.contains("device-0.toml`: it is a directory"), "{said}");
    assert_eq!(std::fs::read_dir(&folder).expect("the folder").count(), 1);
    std::fs::remove_dir(folder.join("device-0.toml")).expect("an empty folder");
    succeeds(&command);
    // What `plane emit` wrote it writes again.
    succeeds(&command);
}

#[test]
fn inputs_are_not_overwritten() {
    let out = tempfile::tempdir().expect("a temporary folder");
    let text = "control before(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t \
                standard_metadata) { apply { } }\n";
    let input = out.path().join("nat.p4");
    std::fs::write(&input, text).expect("writable");
    let folder = out.path().display();
    let emit = format!("emit examples/lucid/nat/nat.dpt --p4-before {folder}/nat.p4 -o {folder}");
    let wrong = plane(&emit);
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert_eq!(wrong.status.code(), Some(1), "{said}");
    assert!(said.contains("is an input"), "{said}");
    assert_eq!(std::fs::read_to_string(&input).expect("still there"), text);
    let layout = plane(&format!("layout {folder}/nat.p4 -o {folder}/nat.p4"));
    assert_eq!(layout.status.code(), Some(1));
    assert_eq!(std::fs::read_to_string(&input).expect("still there"), text);
}

/// `plane emit` removes files of switches that no longer exist, and keeps files that it did not write.
#[test]
fn files_of_earlier_switches_are_removed() {
    let out = tempfile::tempdir().expect("a temporary folder");
    let folder = out.path().join("nat");
    let emit = format!("emit examples/lucid/nat/nat.dpt --target tna -o {}", folder.display());
    succeeds(&emit);
    for (from, to) in [
        ("commands-0.txt", "commands-1.txt"),
        ("device-0.toml", "device-12.toml"),
        ("commands-0.txt", "commands-x.txt"),
    ] {
        std::fs::copy(folder.join(from), folder.join(to)).expect("a file");
    }
    std::fs::write(folder.join("commands-2.txt"), "mine").expect("a file");
    succeeds(&emit.replace(" --target tna", ""));
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let expected = [
        "README.md",
        "commands-0.txt",
        "commands-2.txt",
        "commands-x.txt",
        "device-0.toml",
        "nat.p4",
    ];
    assert_eq!(names, expected);
}

#[test]
fn tables_of_the_scheduler_have_no_line_of_the_program() {
    let text = succeeds("layout examples/lucid/nat/nat.dpt");
    for table in ["switch_values", "dispatch", "forward", "serialise"] {
        assert!(text.contains(&format!("    {table}  (scheduler)")), "{table}: {text}");
    }
    assert!(text.contains("  (examples/lucid/nat/nat.dpt:108)"), "{text}");
}

#[test]
fn ports_that_come_back_are_told_in_the_summary() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path().display();
    succeeds(&format!("emit examples/lucid/dns_defense/dns_defense.dpt -o {folder}"));
    let ran = succeeds(&format!(
        "run {folder}/dns_defense.p4 --entries {folder}/commands-0.txt --device {folder}/device-0.toml \
         --in 1=examples/router/captures/host1.pcap --out {folder}/out"
    ));
    let row = ran.lines().find(|line| line.trim_start().starts_with("196 ")).unwrap_or(&ran);
    assert!(row.ends_with("  (loopback, packet generator)"), "{ran}");
}

/// A program whose event comes again for ever, emitted and run to a time: it ends, and says what was left.
#[test]
fn an_endless_program_runs_until_a_time() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path().display().to_string();
    let program = "global Array.t<32> counts = Array.create(4);\n\
                   memop plus(int stored, int more) { return stored + more; }\n\
                   event tick(int<32> by);\n\
                   packet event data(int<48> a, int<48> b, int<16> c);\n\
                   handle data(int<48> a, int<48> b, int<16> c) { generate tick(1); }\n\
                   handle tick(int<32> by) {\n  Array.setm(counts, 0, plus, by);\n  \
                   generate Event.delay(tick(by), 100000);\n}\n\
                   parser main(bitstring pkt) {\n  int<48> a = read(pkt);\n  int<48> b = read(pkt);\n  \
                   int<16> c = read(pkt);\n  generate(data(a, b, c));\n}\n";
    std::fs::write(Path::new(&folder).join("tick.dpt"), program).expect("a file");
    succeeds(&format!("emit {folder}/tick.dpt --bmv2 -o {folder}"));
    // The second packet of the capture comes later.
    let run = format!(
        "run {folder}/tick.p4 --entries {folder}/commands-0.txt --device {folder}/device-0.toml \
         --in 1=examples/router/captures/host1.pcap --out {folder}/out --until 20us"
    );
    let expected = "the run was over at 20000 ns; packets were in flight; the captures have later \
                    packets\n";
    let plain = succeeds(&run);
    assert!(plain.contains(expected), "{plain}");
    let row = |text: &str| {
        text.lines().find(|line| line.starts_with("recirculated: ")).map(str::to_string)
    };
    let rounds = row(&plain).expect("recirculated");
    let verified = succeeds(&format!("{run} --verify"));
    assert!(verified.contains(expected) && row(&verified) == Some(rounds), "{verified}");
    let readme = std::fs::read_to_string(Path::new(&folder).join("README.md")).expect("README.md");
    assert!(
        readme.contains("`--until TIME` ends a run whose events come again for ever"),
        "{readme}"
    );
}

#[test]
fn a_run_to_a_time_that_leaves_nothing_says_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path().display().to_string();
    let run = "run examples/router/router.p4 --entries examples/router/commands.txt \
               --in 1=examples/router/captures/host1.pcap --out";
    let whole = succeeds(&format!("{run} {folder}"));
    assert_eq!(succeeds(&format!("{run} {folder} --until 1min")), whole);
    let wrong = plane(&format!("{run} {folder} --until soon"));
    assert_eq!(wrong.status.code(), Some(2));
}
