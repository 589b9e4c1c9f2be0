// SPDX-License-Identifier: Apache-2.0
//! Options of runs with reactions: reloads at times, drivers, boot time, watchdog; and reloads in networks.

use crate::net_timeline::page_data;
use network::capture::{CaptureReader, CapturedPacket, LinkType, PcapEncoder};
use std::path::Path;
use std::process::Command;

/// The program of these tests.
pub const PROGRAM: &str = include_str!("net_live/counting.p4r");
const BODY: &str = "n++;\n    ${level} = n;";
const PACKETS: u64 = 400;

/// A folder with the program, a capture of a packet each microsecond, and other versions of the program.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(others: &[(&str, String)]) -> Folder {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, bytes: &[u8]| {
            std::fs::write(folder.path().join(name), bytes).expect("a file");
        };
        write("program.p4r", PROGRAM.as_bytes());
        others.iter().for_each(|(name, text)| write(name, text.as_bytes()));
        let mut encoder = PcapEncoder::new(Vec::new()).expect("a vector takes all");
        for number in 0..PACKETS {
            let mut data = vec![0; 60];
            data[12..14].copy_from_slice(&[0x88, 0xb5]);
            let timestamp_ps = i128::from(number) * 1_000_000;
            let packet = CapturedPacket {
                timestamp_ps,
                data,
                original_length_bytes: 60,
                link_type: LinkType::ETHERNET,
            };
            encoder.write_captured(&packet).expect("it fits");
        }
        write("in.pcap", &encoder.finish().expect("a vector takes all"));
        Folder(folder)
    }

    /// Runs the command; returns its status, and standard output with standard error.
    fn plane(&self, words: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plane"));
        let ran = command.args(words).current_dir(self.0.path()).output().expect("plane starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (ran.status.code(), text(&ran.stdout) + &text(&ran.stderr))
    }

    fn run(&self, words: &[&str]) -> (Option<i32>, String) {
        let base = ["run", "program.p4r", "--in", "1=in.pcap", "--out", "out"];
        self.plane(&[&base[..], words].concat())
    }

    /// The values that packets left with.
    fn levels(&self) -> Vec<u32> {
        let reader = CaptureReader::open(&self.0.path().join("out/2.pcap")).expect("a capture");
        let level = |data: Vec<u8>| u32::from_be_bytes(data[14..18].try_into().expect("4 bytes"));
        reader.map(|packet| level(packet.expect("a packet").data)).collect()
    }
}

fn with_body(body: &str) -> String {
    assert!(PROGRAM.contains(BODY));
    PROGRAM.replace(BODY, body)
}

#[test]
fn reactions_are_exchanged_at_a_time() {
    let new = with_body("n++; ${level} = 1000 + n;");
    let folder = Folder::new(&[("new.p4r", new)]);
    let (status, text) = folder.run(&["--reload", "200us=new.p4r", "--verify"]);
    assert_eq!(status, Some(0), "{text}");
    let carried = folder.levels();
    assert_eq!(carried.len() as u64, PACKETS, "no packet is lost");
    let (before, after): (Vec<u32>, Vec<u32>) = carried.iter().partition(|level| **level < 1000);
    assert!(before.len() > 200 && after.len() > 150, "{carried:?}");
    // Each call counts once, on both sides.
    assert!(after[0] - 1000 - before[before.len() - 1] <= 2, "{carried:?}");
    assert!(text.contains("log: reloaded: state is carried, `init` does not run"), "{text}");
    assert!(text.contains(", 1 reload; "), "{text}");
    let (status, text) = folder.run(&["--reload", "200us=new.p4r,fresh"]);
    assert_eq!(status, Some(0), "{text}");
    let fresh = folder.levels().into_iter().find(|level| *level > 1000);
    assert!(fresh.is_some_and(|level| level <= 1002), "{fresh:?}");
}

#[test]
fn programs_that_do_not_fit_are_refused_before_the_run() {
    let other = PROGRAM.replace("bit<32> level { init = 1; }", "bit<32> level { init = 2; }");
    let broken = with_body("n++ ${level} = n;");
    let folder = Folder::new(&[("other.p4r", other), ("broken.p4r", broken)]);
    let (status, text) = folder.run(&["--reload", "1us=other.p4r"]);
    assert_eq!(status, Some(1));
    assert!(text.contains("the initial value of malleable value `level` differs"), "{text}");
    let (status, text) = folder.run(&["--reload", "1us=broken.p4r"]);
    assert_eq!(status, Some(1));
    assert!(text.contains("broken.p4r:") && text.contains("R-E03"), "{text}");
    for wrong in ["new.p4r", "1us=", "soon=new.p4r"] {
        assert_eq!(folder.run(&["--reload", wrong]).0, Some(2), "{wrong}");
    }
}

#[test]
fn dead_reactions_end_a_simulated_run() {
    for (death, said) in [("for (;;);", "within 50 ms"), ("*(volatile int *)0 = n;", "SIGSEGV")] {
        let folder = Folder::new(&[("program.p4r", with_body(&format!("if (++n == 5) {death}")))]);
        let (status, text) = folder.run(&["--watchdog", "50ms"]);
        assert_eq!(status, Some(1), "{text}");
        assert!(text.contains("reaction `r`: ") && text.contains(said), "{text}");
    }
}

#[test]
fn boot_time_and_drivers() {
    let folder = Folder::new(&[]);
    folder.run(&["--boot-time", "100us"]);
    let levels = folder.levels();
    assert!(levels[..100].iter().all(|level| *level == 1), "{levels:?}");
    assert!(levels[399] > 1, "{levels:?}");
    let (status, text) = folder.run(&["--driver", "in-process", "--in-process", "--until", "50ms"]);
    assert_eq!(status, Some(0), "{text}");
    assert!(
        text.contains("no two runs are equal") && text.contains("times are measured"),
        "{text}"
    );
    assert_eq!(folder.levels().len() as u64, PACKETS);
}

#[test]
fn the_trace_says_what_was_read_decided_and_committed() {
    let folder = Folder::new(&[]);
    let (_, text) = folder.run(&["--trace", "--until", "40us"]);
    let dialogue = text.split("dialogue 2 at ").nth(1).expect("a second dialogue");
    let lines: Vec<&str> = dialogue.lines().take(4).map(str::trim).collect();
    assert!(lines[1].contains("flip 3 us") || lines[1].contains("wait 2 us"), "{lines:?}");
    assert!(lines[1].contains("react 500 ns, commit 3 us"), "{lines:?}");
    assert!(lines[2].starts_with("r(seen[0:0] = "), "{lines:?}");
    assert_eq!(lines[3], "${level} = 2", "{lines:?}");
}

/// A network with the program: a second version at 3 ms, and datagrams all the time.
const NETWORK: &str = "
switches: {s1: {program: program.p4r}}
hosts:
  h1: {address: 10.0.0.1/24, applications: [{udp: {to: h2, rate: 8Mbps, duration: 9ms}}]}
  h2: {address: 10.0.0.2/24}
links:
  - {ends: [h1, 's1:1'], rate: 1Gbps, latency: 1us}
  - {ends: [h2, 's1:2'], rate: 1Gbps, latency: 1us}
events: [{at: 3ms, node: s1, reload: new.p4r}]
until: 10ms
";

#[test]
fn networks_exchange_reactions_and_draw_them() {
    let new = with_body("n++; if (n % 100 == 0) ${level} = n;");
    let folder = Folder::new(&[("new.p4r", new), ("n.yaml", NETWORK.to_string())]);
    let (status, text) = folder.plane(&["net", "n.yaml"]);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("s1: reloaded: state is carried, `init` does not run"), "{text}");
    assert!(text.contains("s1: reactions: ") && text.contains(", 1 reload; "), "{text}");
    assert_eq!(folder.plane(&["net", "n.yaml"]).1, text, "runs repeat");
    let (status, _) = folder.plane(&["net", "n.yaml", "--timeline", "run.html"]);
    assert_eq!(status, Some(0));
    let page = page_data(&folder.0.path().join("run.html"));
    assert_eq!(page["activities"].as_array().map(Vec::len), Some(1));
    let own = page["activities"][0][1].as_array().expect("dialogues");
    let summary = text.lines().find(|line| line.starts_with("s1: reactions: ")).expect("a line");
    assert!(summary.contains(&format!("{} dialogues", own.len())), "{summary}, {}", own.len());
    // Before the reload each dialogue but the first commits, after it one of hundred.
    let commits = |after: bool| {
        let of_time = own.iter().filter(|one| (one[0].as_u64() >= Some(3_000_000_000)) == after);
        let all: Vec<_> = of_time.collect();
        (all.len(), all.iter().filter(|one| one[2] == 1).count())
    };
    let (before, committed) = commits(false);
    assert_eq!(before, committed + 1);
    let (after, committed) = commits(true);
    assert!(committed * 90 < after && committed > 0, "{committed} of {after}");
    let text = own.iter().find_map(|one| one[3].as_str().filter(|text| text.contains("reloaded")));
    assert!(text.is_some_and(|text| text.contains("dialogue")), "{text:?}");
}

#[test]
fn events_that_are_no_reloads_are_reported() {
    let check = |event: &str, expected: &str| {
        let text = NETWORK.replace("{at: 3ms, node: s1, reload: new.p4r}", event);
        let folder = Folder::new(&[("new.p4r", PROGRAM.to_string()), ("n.yaml", text)]);
        let (status, text) = folder.plane(&["net", "n.yaml"]);
        assert_eq!(status, Some(1), "{text}");
        assert!(text.contains(expected), "no {expected:?} in {text}");
    };
    check("{at: 3ms, node: h1, reload: new.p4r}", "only switches have reactions");
    check("{at: 3ms, node: s1}", "an event has neither `state` nor `reload`");
    check("{at: 3ms, node: s1, state: down, init: true}", "`init` is of a reload");
    check("{at: 3ms, node: s1, reload: new.p4r, for: 1ms}", "an event has both `reload` and `for`");
    let router = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/router/router.p4");
    let router = router.canonicalize().expect("the router").display().to_string();
    let text = NETWORK.replace("program: program.p4r", &format!("program: '{router}'"));
    let folder = Folder::new(&[("new.p4r", PROGRAM.to_string()), ("n.yaml", text)]);
    let (status, text) = folder.plane(&["net", "n.yaml"]);
    assert_eq!(status, Some(1), "{text}");
    assert!(
        text.contains("error[NW-E0409]: the program of switch `s1` has no reactions"),
        "{text}"
    );
}
