// SPDX-License-Identifier: Apache-2.0
//! `plane net --seeds`: runs with several seeds, their means, shards and jobs.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A network whose link loses packets, in a folder of its own.
struct Network {
    folder: tempfile::TempDir,
}

/// What a command left: exit status, standard output, standard error.
type Ran = (Option<i32>, String, String);

impl Network {
    fn new(rest: &str) -> Network {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let router = root.join("examples/router/router.p4").canonicalize().expect("the router");
        let file = format!(
            "topology: {{kind: line, switches: 1, hosts_per_switch: 2, program: {}, rate: 100Mbps, latency: 1us, loss: 10%}}
hosts: {{h1: {{applications: [{{ping: {{to: h2, count: 40, interval: 1ms}}}}]}}}}
{rest}",
            router.display()
        );
        let network = Network { folder: tempfile::tempdir().expect("a temporary folder") };
        network.write("n.yaml", &file);
        network
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("a file");
    }

    fn run_with(&self, words: &[&str], environment: &[(&str, &str)]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plane"));
        command.arg("net").args(words).current_dir(self.folder.path());
        let ran = command.envs(environment.iter().copied()).output().expect("plane starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (ran.status.code(), text(&ran.stdout), text(&ran.stderr))
    }

    fn run(&self, words: &[&str]) -> Ran {
        self.run_with(words, &[])
    }

    fn json(&self, words: &[&str]) -> Value {
        let (status, text, errors) = self.run(&[words, &["--json", "-q"]].concat());
        assert_eq!(status, Some(0), "{words:?}: {errors}");
        serde_json::from_str(&text).expect("JSON")
    }
}

#[test]
fn means_are_those_of_single_runs() {
    let network = Network::new("captures: [h2]");
    let all = network.json(&["n.yaml", "--seeds", "3..6,9", "--jobs", "3"]);
    assert_eq!(all, network.json(&["n.yaml", "--seeds", "3..6,9", "--jobs", "1"]));
    let mut received = Vec::new();
    for (at, seed) in ["3", "4", "5", "6", "9"].into_iter().enumerate() {
        let alone = network.json(&["n.yaml", "--seed", seed]);
        assert_eq!(alone["ping"], all["runs"][at]["ping"], "seed {seed}");
        assert_eq!(alone["events"], all["runs"][at]["events"], "seed {seed}");
        received.push(alone["ping"][0]["received"].as_f64().expect("a number"));
        assert!(network.path(&format!("out/seed-{seed}/h2.pcap")).is_file());
    }
    let mean = received.iter().sum::<f64>() / 5.0;
    let squares: f64 = received.iter().map(|value| (value - mean).powi(2)).sum();
    let half_width = 2.776_445 * (squares / 4.0).sqrt() / 5_f64.sqrt();
    let summary = &all["summary"]["ping"][0]["received"];
    assert_eq!((&summary["mean"], &summary["runs"]), (&mean.into(), &5.into()));
    let found = summary["ci95"].as_f64().expect("a number");
    assert!(found > 0.0 && (found - half_width).abs() < 1e-4, "{found} and {half_width}");
}

#[test]
fn expectations_hold_with_every_seed() {
    let network =
        Network::new("expect: [{ping: h1-h2, received: 0..40}, {ping: h1-h2, received: 40}]");
    let (status, text, errors) = network.run(&["n.yaml", "--seeds", "1..3"]);
    assert_eq!(status, Some(1), "{errors}");
    assert!(text.contains("3 runs with seeds 1..3: means, ±"), "{text}");
    assert!(errors.contains("error[NW-E0405]"), "{errors}");
    assert!(errors.contains("note: with seed 1, 2, 3: 3 of 3 runs"), "{errors}");
    assert_eq!(errors.matches("NW-E0405").count(), 1, "{errors}");
}

#[test]
fn shards_merge_to_what_the_whole_prints() {
    let network = Network::new("expect: [{ping: h1-h2, received: 40}]");
    let whole = network.run(&["n.yaml", "--seeds", "1..5"]);
    for (number, variables) in [
        ("1", vec![("SLURM_ARRAY_TASK_ID", "1"), ("SLURM_ARRAY_TASK_COUNT", "2")]),
        ("2", vec![("JOB_COMPLETION_INDEX", "1")]),
    ] {
        let shard = if number == "1" { "auto" } else { "auto/2" };
        let words = ["n.yaml", "--seeds", "1..5", "--shard", shard, "--results", "results/"];
        let (status, text, errors) = network.run_with(&words, &variables);
        assert_eq!((status, text.as_str()), (Some(0), ""), "{errors}");
        assert!(errors.contains(&format!("wrote results/shard-{number}-of-2.json")), "{errors}");
    }
    let (one, two) = ("results/shard-1-of-2.json", "results/shard-2-of-2.json");
    let merged = network.run(&["merge", two, one]);
    let without_defaults = |(status, text, errors): Ran| {
        let errors: String = errors.lines().skip_while(|line| !line.starts_with("error")).collect();
        (status, text, errors)
    };
    assert_eq!(without_defaults(merged), without_defaults(whole));
    let json = network.run(&["n.yaml", "--seeds", "1..5", "--json", "-q"]).1;
    assert_eq!(network.run(&["merge", one, two, "--json", "-q"]).1, json);

    let check = |files: &[&str], expected: &str| {
        let (status, _, errors) = network.run(&[&["merge"], files].concat());
        assert_eq!(status, Some(1), "{errors}");
        assert!(errors.contains(expected), "{expected} in {errors}");
    };
    check(&[one], "2 of 5 seeds are missing: 2, 4");
    check(&[one, one], "seed 1 is in `results/shard-1-of-2.json` and in");
    check(&["n.yaml"], "is not JSON");
    network.write("other.json", "{\"plane_net_results\": 7}");
    check(&["other.json"], "has version 7 of results");
    network.run(&["n.yaml", "--seeds", "1..4", "--shard", "2/2", "--results", "four.json"]);
    check(&[one, "four.json"], "are of sweeps with different seeds");
    let words =
        ["n.yaml", "--until", "1ms", "--seeds", "1..5", "--shard", "2/2", "--results", "c.json"];
    network.run(&words);
    check(&[one, "c.json"], "are of different sweeps");
}

/// Files that the network names by itself count too: sizes of flows, captures, programs of controllers.
#[test]
fn shards_with_other_files_are_refused() {
    let network = Network::new(
        "applications: [{flows: {from: h1, to: h2, count: 1, rate: 1Mbps, sizes: {file: sizes.txt}}}]
controllers: {c: {switches: s1, program: [sh, control.sh]}}
until: 2ms",
    );
    let shard = |part: &str, file: &str| {
        let words = ["n.yaml", "--seeds", "1..2", "--shard", part, "--results", file];
        let (status, _, errors) = network.run(&words);
        assert_eq!(status, Some(0), "{errors}");
    };
    let program = "while read line; do echo '{\"done\": true}'; done\n";
    network.write("sizes.txt", "1000 1\n");
    network.write("control.sh", program);
    shard("1/2", "one.json");
    shard("2/2", "two.json");
    let (status, _, errors) = network.run(&["merge", "one.json", "two.json"]);
    assert_eq!(status, Some(0), "{errors}");
    for (name, other, before) in
        [("sizes.txt", "2000 1\n", "1000 1\n"), ("control.sh", &*format!("{program}#\n"), program)]
    {
        network.write(name, other);
        shard("2/2", "other.json");
        network.write(name, before);
        let (status, _, errors) = network.run(&["merge", "one.json", "other.json"]);
        assert_eq!(status, Some(1), "{name}: {errors}");
        assert!(errors.contains("are of different sweeps"), "{name}: {errors}");
    }
}

#[test]
fn jobs_of_clusters_are_written() {
    let network = Network::new("");
    let words = ["n.yaml", "--seeds", "1..20", "--until", "1ms", "--emit", "job", "--out", "jobs"];
    let (status, _, errors) = network.run(&[&words[..], &["--shard", "auto/5"]].concat());
    assert_eq!(status, Some(0), "{errors}");
    let manifest = std::fs::read_to_string(network.path("jobs/job.yaml")).expect("job.yaml");
    for expected in [
        "apiVersion: batch/v1\nkind: Job\n",
        "  completionMode: Indexed\n  completions: 5\n  parallelism: 5\n",
        "plane net n.yaml --seeds 1..20 --until 1000000000ps --shard auto/5 --results results/",
    ] {
        assert!(manifest.contains(expected), "{expected} in {manifest}");
    }
    let checked = Command::new("sh").arg("-n").arg(network.path("jobs/job.slurm")).status();
    assert!(checked.is_ok_and(|status| status.success()));
    let script = std::fs::read_to_string(network.path("jobs/job.slurm")).expect("job.slurm");
    assert!(script.starts_with("#!/bin/sh\n") && script.contains("#SBATCH --array=1-5\n"));
    // The script runs: the command is that of a task.
    let bin = Path::new(env!("CARGO_BIN_EXE_plane")).parent().expect("a folder");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let mut task = Command::new("sh");
    task.arg("jobs/job.slurm").current_dir(network.folder.path()).env("PATH", path);
    task.env("SLURM_ARRAY_TASK_ID", "2").env("SLURM_ARRAY_TASK_COUNT", "5");
    assert!(task.output().is_ok_and(|ran| ran.status.success()));
    assert!(network.path("results/shard-2-of-5.json").is_file());
}

#[test]
fn wrong_options_are_named() {
    let network = Network::new("");
    let check = |words: &[&str], expected: &str| {
        let (status, _, errors) = network.run(&[&["n.yaml"], words].concat());
        assert_eq!(status, Some(2), "{errors}");
        assert!(errors.contains(expected), "{expected} in {errors}");
    };
    check(&["--seeds", "5..1"], "the first seed is the smaller one");
    check(&["--seeds", "1..2", "--seed", "1"], "cannot be used with");
    check(&["--seeds", "1..2", "--shard", "3/2"], "`3/2` is no shard");
    check(&["--seeds", "1..2", "--shard", "1/2"], "--shard needs --results FILE");
    check(&["--jobs", "2"], "--seeds");
    check(&["--emit", "job"], "--emit job writes a sweep: --seeds 1..20 names its seeds");
    let given = ["--seeds", "1..4", "--shard", "1/2", "--emit", "job"];
    check(&given, "--shard auto/N sets their number");
}
