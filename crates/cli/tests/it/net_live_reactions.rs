// SPDX-License-Identifier: Apache-2.0
//! `plane net --live` with reactions: `plane react reload`, SIGHUP, and reactions that crash or never return while hosts
//! ping each other. The tests need root, network namespaces and ping ([`testing::live`]).

use crate::reactions::PROGRAM;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};
use testing::live::can_run;

const PINGS: u32 = 300;

/// Two hosts at the switch; one pings the other for three seconds.
const NETWORK: &str = "
switches: {s1: {program: program.p4r}}
hosts:
  h1: {address: 10.0.0.1/24, applications: [{ping: {to: h2, count: 300, interval: 10ms}}]}
  h2: {address: 10.0.0.2/24}
links:
  - {ends: [h1, 's1:1'], rate: 100Mbps, latency: 10us}
  - {ends: [h2, 's1:2'], rate: 100Mbps, latency: 10us}
until: 6s
";

/// A live network, and what it prints.
struct Live {
    folder: tempfile::TempDir,
    child: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl Live {
    fn start(body: &str, words: &[&str]) -> Live {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("n.yaml"), NETWORK).expect("a file");
        write(folder.path(), body);
        let mut command = Command::new(env!("CARGO_BIN_EXE_plane"));
        command.args(["net", "n.yaml", "--live", "--json"]).args(words);
        command.env("PLANEWRIGHT_LIVE", folder.path().join("live"));
        command.current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("plane starts");
        let (sender, lines) = mpsc::channel();
        let streams: [Box<dyn std::io::Read + Send>; 2] = [
            Box::new(child.stdout.take().expect("a pipe")),
            Box::new(child.stderr.take().expect("a pipe")),
        ];
        for stream in streams {
            let sender = sender.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    let _ = sender.send(line);
                }
            });
        }
        Live { folder, child, lines, seen: Vec::new() }
    }

    /// Waits for a line that contains this.
    fn wait_for(&mut self, part: &str) {
        let end = Instant::now() + Duration::from_secs(60);
        while let Ok(line) = self.lines.recv_timeout(end.saturating_duration_since(Instant::now()))
        {
            let is_it = line.contains(part);
            self.seen.push(line);
            if is_it {
                return;
            }
        }
        panic!("no {part:?} in {:#?}", self.seen);
    }

    fn reload(&self, body: &str, words: &[&str]) -> (Option<i32>, String) {
        write(self.folder.path(), body);
        let mut command = Command::new(env!("CARGO_BIN_EXE_plane"));
        command.args(["react", "reload"]).args(words);
        command.env("PLANEWRIGHT_LIVE", self.folder.path().join("live"));
        let ran = command.output().expect("plane starts");
        (ran.status.code(), String::from_utf8_lossy(&ran.stderr).into_owned())
    }

    /// Waits for the end; the pings that were answered, and the longest time of one in milliseconds.
    fn pings(mut self) -> (u64, f64, Vec<String>) {
        let status = self.child.wait().expect("it ends");
        self.seen.extend(self.lines.iter());
        assert!(status.success(), "{:#?}", self.seen);
        let json = self.seen.iter().find(|line| line.starts_with('{')).expect("results");
        let results: serde_json::Value = serde_json::from_str(json).expect("JSON");
        let ping = &results["ping"][0];
        let longest_ms = ping["rtt_max_ps"].as_u64().expect("a time") as f64 / 1e9;
        (ping["received"].as_u64().expect("a count"), longest_ms, self.seen.clone())
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
            let _ = self.child.wait();
        }
    }
}

fn write(folder: &std::path::Path, body: &str) {
    let text = PROGRAM.replace("n++;\n    ${level} = n;", body);
    std::fs::write(folder.join("program.p4r"), text).expect("a file");
}

#[test]
fn reactions_are_exchanged_while_hosts_ping() {
    if !can_run("reactions_are_exchanged_while_hosts_ping", &["ping"]) {
        return;
    }
    let mut live = Live::start("n++; if (n == 5) log(\"first\");", &[]);
    live.wait_for("s1: first");
    let (status, text) = live.reload("n++; log(\"second %d\", n > 5); ${level} = 0", &[]);
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("the reactions before go on") && text.contains("program.p4r:"), "{text}");
    let once = "static int told; if (!told++)";
    let (status, text) = live.reload(
        &format!("n++; {once} log(\"second, n above 5: %d\", n > 5);"),
        &["--switch", "s1"],
    );
    assert_eq!(status, Some(0), "{text}");
    live.wait_for("second, n above 5: 1");
    write(live.folder.path(), &format!("n++; {once} log(\"third, n above 5: %d\", n > 5);"));
    let _ = Command::new("kill").args(["-HUP", &live.child.id().to_string()]).status();
    live.wait_for("third, n above 5: 1");
    let (received, longest_ms, seen) = live.pings();
    println!(
        "reload in a live network: {received} of {PINGS} pings answered, the slowest within {longest_ms} ms"
    );
    assert_eq!(received, u64::from(PINGS), "{seen:#?}");
}

#[test]
fn dead_reactions_leave_a_live_switch_forwarding() {
    if !can_run("dead_reactions_leave_a_live_switch_forwarding", &["ping"]) {
        return;
    }
    for (death, said) in [("for (;;);", "within 1000 ms"), ("*(volatile int *)0 = n;", "SIGSEGV")] {
        let mut live = Live::start(&format!("if (++n == 20) {death}"), &[]);
        live.wait_for("forwards with the configuration of the last commit");
        let (status, text) = live.reload("n++; if (n == 3) log(\"alive\");", &[]);
        assert_eq!(status, Some(0), "{text}");
        live.wait_for("s1: alive");
        let (received, longest_ms, seen) = live.pings();
        println!(
            "{death} in a live network: {received} of {PINGS} pings answered, the slowest within {longest_ms} ms"
        );
        // The switch does not wait for the reaction.
        assert!(longest_ms < 900.0, "{longest_ms} ms");
        assert_eq!(received, u64::from(PINGS), "{seen:#?}");
        assert!(seen.iter().any(|line| line.contains(said)), "{seen:#?}");
    }
}
