// SPDX-License-Identifier: Apache-2.0
//! `plane net --timeline`: what the page has agrees with the results of the run, which recording does not change.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the tree")
}

/// A network file in a folder of its own.
struct Run {
    folder: tempfile::TempDir,
}

impl Run {
    fn new(text: &str) -> Run {
        let folder = tempfile::tempdir().expect("a folder");
        let text =
            text.replace("ROUTER", &root().join("examples/router/router.p4").display().to_string());
        std::fs::write(folder.path().join("n.yaml"), text).expect("a file");
        Run { folder }
    }

    fn page(&self) -> PathBuf {
        self.folder.path().join("run.html")
    }

    fn plane(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_plane"));
        let command = command.args(["net", "n.yaml"]).args(words).current_dir(self.folder.path());
        command.output().expect("plane starts")
    }

    /// The results with a time line, and what the page has.
    fn recorded(&self, words: &[&str]) -> (Value, Page) {
        let ran = self.plane(&[&["--json", "-q", "--timeline", "run.html"], words].concat());
        let errors = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(0), "{errors}");
        let results = serde_json::from_slice(&ran.stdout).expect("JSON");
        (results, Page::read(&self.page()))
    }
}

/// The data of a page.
struct Page(Value);

/// Numbers of a column.
struct Numbers(Vec<u64>, usize);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.1 += 1;
        self.0[self.1 - 1]
    }

    fn is_at_end(&self) -> bool {
        self.1 == self.0.len()
    }
}

/// The data of a page.
pub fn page_data(path: &Path) -> Value {
    let page = std::fs::read_to_string(path).expect("a page");
    let (_, rest) = page.split_once("type=\"application/json\">").expect("data");
    let (data, _) = rest.split_once("</script>").expect("its end");
    serde_json::from_str(data).expect("JSON")
}

impl Page {
    fn read(path: &Path) -> Page {
        Page(page_data(path))
    }

    fn numbers(&self, column: &str) -> Numbers {
        let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let (mut bits, mut count, mut value, mut shift, mut numbers) =
            (0_u32, 0, 0_u64, 0, Vec::new());
        for character in self.0[column].as_str().expect("a column").bytes() {
            let Some(digit) = digits.iter().position(|digit| *digit == character) else { continue };
            bits = bits << 6 | digit as u32;
            count += 6;
            if count >= 8 {
                count -= 8;
                let byte = u64::from(bits >> count & 0xff);
                value |= (byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    numbers.push(value);
                    (value, shift) = (0, 0);
                }
            }
        }
        Numbers(numbers, 0)
    }

    fn list(&self, name: &str) -> &[Value] {
        self.0[name].as_array().expect("a list")
    }

    /// The sums of each port's eight values over all buckets; of the last two, depths, the least and the largest.
    fn ports(&self) -> BTreeMap<String, [u64; 8]> {
        let mut numbers = self.numbers("series");
        let mut sums = BTreeMap::new();
        for port in self.list("ports") {
            let (_, count) = (numbers.next(), numbers.next());
            let mut sum = [0, 0, 0, 0, 0, 0, u64::MAX, 0];
            for _ in 0..count {
                for (at, sum) in sum.iter_mut().enumerate() {
                    let value = numbers.next();
                    *sum = match at {
                        6 => value.min(*sum),
                        7 => value.max(*sum),
                        _ => value + *sum,
                    };
                }
            }
            sums.insert(port[1].as_str().expect("a name").to_string(), sum);
        }
        sums
    }

    /// Events: kind with reason as words, port, protocol, length.
    fn frames(&self) -> Vec<(u64, String, String, String, u64)> {
        let mut numbers = self.numbers("frames");
        let (mut time_ps, mut frames) = (0, Vec::new());
        while !numbers.is_at_end() {
            time_ps += numbers.next();
            let kind = numbers.next();
            let names = ["sent", "received", "lost", "dropped"];
            let reason = self.list("reasons")[(kind >> 2) as usize].as_str().expect("a reason");
            let kind = format!("{} {reason}", names[(kind & 3) as usize]).trim().to_string();
            let text = |list: &str, number: u64, at: usize| {
                self.list(list)[number as usize][at].as_str().expect("a name").to_string()
            };
            let port = text("ports", numbers.next(), 1);
            let protocol = text("flows", numbers.next(), 2);
            let length_bytes = numbers.next();
            let back = numbers.next();
            assert!(back <= frames.len() as u64, "a cause is an earlier event");
            frames.push((time_ps, kind, port, protocol, length_bytes));
        }
        frames
    }
}

/// A bottleneck with a short queue, a lossy link, a link that fails, and flows of three protocols.
const BUSY: &str = "
topology:
  kind: dumbbell
  hosts_per_side: 3
  program: ROUTER
  rate: 100Mbps
  latency: 100us
  bottleneck: {rate: 10Mbps, queue: 8p, latency: 1ms, loss: 1%}
hosts:
  h1: {applications: [{tcp: {to: h4, bytes: 1MB, name: bulk}}]}
  h2: {applications: [{udp: {to: h5, rate: 8Mbps, duration: 500ms}}]}
  h3: {applications: [{ping: {to: h6, count: 20, interval: 20ms}}]}
events: [{at: 200ms, link: s1-s2, state: down, for: 50ms}]
controllers: {c: {switches: [s1], commands: [{at: 450ms, text: table_clear RouterIngress.next_hops}]}}
seed: 4
until: 1s
";

/// Sums over buckets are the results, whatever their width: frames, bytes, use, losses, full queues, mean and largest depth.
fn check_sums(results: &Value, page: &Page) {
    let ports = page.ports();
    let ended_ps = results["ended_ps"].as_u64().expect("a time");
    let mut queue_full: BTreeMap<&str, u64> = BTreeMap::new();
    let frames = page.frames();
    for (_, _, port, ..) in frames.iter().filter(|frame| frame.1 == "dropped queue full") {
        *queue_full.entry(port).or_default() += 1;
    }
    let links = results["links"].as_array().expect("a table");
    assert!(!links.is_empty());
    for link in links {
        let name = link["link"].as_str().expect("a name");
        let from = name.split(" -> ").next().expect("a port");
        let [frames, bytes, busy_ps, lost, _, waiting_ps, _, most] = ports[from];
        assert_eq!(Value::from(frames), link["frames"], "frames of {name}");
        assert_eq!(Value::from(bytes), link["bytes"], "bytes of {name}");
        let near = |share: f64, expected: &Value| {
            let expected = expected.as_f64().expect("a number");
            assert!((share - expected).abs() < 2e-6, "{share}, not {expected}: {name}");
        };
        near(busy_ps as f64 / ended_ps as f64, &link["use"]);
        let all_lost = link["lost"].as_u64().zip(link["lost_while_down"].as_u64());
        assert_eq!(Some(lost), all_lost.map(|(one, other)| one + other), "lost on {name}");
        assert_eq!(Value::from(*queue_full.get(from).unwrap_or(&0)), link["queue_full"], "{name}");
        // Results do not measure the queues of hosts.
        if from.contains(':') {
            near(waiting_ps as f64 / ended_ps as f64, &link["queue_mean_packets"]);
            assert_eq!(Value::from(most), link["queue_max_packets"], "{name}");
        }
    }
    let total: u64 = ports.values().map(|sums| sums[0]).sum();
    assert_eq!(Value::from(total), results["frames"]);
}

#[test]
fn sums_of_the_time_line_are_those_of_the_results() {
    let run = Run::new(BUSY);
    let (results, page) = run.recorded(&[]);
    check_sums(&results, &page);
    let frames = page.frames();
    let count = |kind: &str| frames.iter().filter(|frame| frame.1 == kind).count() as u64;
    assert_eq!(Value::from(count("sent")), results["frames"]);
    for kind in [
        "received",
        "lost random loss",
        "lost link down",
        "dropped queue full",
        "dropped ingress drop",
    ] {
        assert!(count(kind) > 0, "{kind}");
    }
    // What is sent arrives, is lost, or was on a link at the end of the run.
    let on_links =
        count("sent") - count("received") - count("lost random loss") - count("lost link down");
    assert!(on_links < 20, "{on_links}");
    assert!(frames.is_sorted_by_key(|frame| frame.0));
    for protocol in ["TCP", "UDP", "ICMP"] {
        assert!(frames.iter().any(|frame| frame.3 == protocol), "{protocol}");
    }
    let remarks: Vec<String> = page.list("remarks").iter().map(Value::to_string).collect();
    let expected = [
        "[200000000000,null,8,\"down\"]",
        "[250000000000,null,8,\"up\"]",
        "[450000000000,\"c\",0,\"table_clear RouterIngress.next_hops\"]",
    ];
    assert_eq!(remarks.len(), 3, "{remarks:?}");
    for (remark, expected) in remarks.iter().zip(expected) {
        let of_port = |text: &str| {
            text.split(',').filter(|part| part.parse::<u8>().is_err()).collect::<Vec<_>>().join(",")
        };
        assert_eq!(of_port(remark), of_port(expected));
    }
}

#[test]
fn recording_changes_no_result_on_any_engine() {
    let run = Run::new(BUSY);
    let plain = run.plane(&["--json", "-q"]);
    let plain: Value = serde_json::from_slice(&plain.stdout).expect("JSON");
    assert_eq!(run.recorded(&[]).0, plain);
    let (results, page) = run.recorded(&["--engine", "interp"]);
    assert_eq!(results, plain);
    check_sums(&results, &page);
}

#[test]
fn a_window_has_its_frames_and_all_sums() {
    let run = Run::new(BUSY);
    let (results, whole) = run.recorded(&[]);
    let (_, page) = run.recorded(&["--timeline-from", "100ms", "--timeline-to", "150ms"]);
    assert_eq!(page.ports(), whole.ports());
    let is_in = |frame: &&(u64, String, String, String, u64)| {
        (100_000_000_000..=150_000_000_000).contains(&frame.0)
    };
    let all = whole.frames();
    let expected: Vec<_> = all.iter().filter(is_in).collect();
    assert_eq!(page.frames().iter().collect::<Vec<_>>(), expected);
    assert!(!expected.is_empty() && expected.len() < all.len());
    assert!(results["frames"].as_u64().is_some_and(|frames| frames > 1000));
}

#[test]
fn a_file_that_cannot_be_written_stops_the_run_before_it_begins() {
    let run = Run::new(BUSY);
    for (path, message) in [
        ("nowhere/run.html", "its folder does not exist"),
        (".", "it is a directory"),
        ("n.yaml", "`n.yaml` is an input"),
    ] {
        let ran = run.plane(&["--timeline", path]);
        let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!((ran.status.code(), ran.stdout.len()), (Some(1), 0), "{errors}");
        assert!(errors.contains(message), "{errors}");
    }
    assert!(!run.page().exists());
    let left = std::fs::read_dir(run.folder.path()).expect("the folder").count();
    assert_eq!(left, 1, "only the network file");
}

/// After Ctrl-C both files are whole, with what happened until then.
#[test]
fn an_interrupted_run_writes_whole_files() {
    let text = BUSY.replace("until: 1s", "until: 100000s").replace("450ms", "100000s");
    let run = Run::new(&text.replace("500ms", "100000s"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_plane"));
    let words = ["net", "n.yaml", "-q", "--timeline", "run.html", "--picture", "run.svg"];
    let mut child =
        command.args(words).current_dir(run.folder.path()).spawn().expect("plane starts");
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert!(child.try_wait().expect("its state").is_none(), "the run is not over");
    assert!(!run.page().exists());
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.expect("a signal").success());
    assert_eq!(child.wait().expect("its end").code(), Some(0));
    let frames = Page::read(&run.page()).frames();
    assert!(frames.len() > 1000, "{}", frames.len());
    let picture = std::fs::read_to_string(run.folder.path().join("run.svg")).expect("a picture");
    assert!(picture.ends_with("</svg>\n"));
    let left = std::fs::read_dir(run.folder.path()).expect("the folder").count();
    assert_eq!(left, 3, "the network file and two outputs");
}

/// The picture names nodes, colours links by their use, and says what they carried.
#[test]
fn a_picture_shows_use_and_figures() {
    let run = Run::new(BUSY);
    let ran = run.plane(&["--json", "-q", "--picture", "run.svg"]);
    let results: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    let picture = std::fs::read_to_string(run.folder.path().join("run.svg")).expect("a picture");
    for name in ["s1", "s2", "h1", "h6"] {
        assert!(picture.contains(&format!(">{name}</text>")), "{name}");
    }
    for link in results["links"].as_array().expect("a table") {
        let name = link["link"].as_str().expect("a name").replace("->", "\u{2192}");
        let share = link["use"].as_f64().expect("a share") * 100.0;
        let figures = format!("{name}: use {share:.1} %, {} frames", link["frames"]);
        assert!(picture.contains(&figures), "{figures}");
    }
    assert!(picture.contains("down from 200 ms to 250 ms") && picture.contains("stroke-dasharray"));
}
