// SPDX-License-Identifier: Apache-2.0
//! `plane net --live`: hosts in network namespaces, real programs, and nothing left afterwards. The tests need root, network
//! namespaces, ping and iperf3 ([`testing::live`]).

use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use testing::json_schema::document_value;
use testing::live::can_run;
use testing::programs::not_run;

fn plane(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plane"));
    command.arg("net").args(words);
    command
}

fn ran(words: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = plane(words).output().expect("plane starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (status.code(), text(&stdout), text(&stderr))
}

/// What a network of this name has in the kernel and on disk.
fn left_of(name: &str) -> Vec<String> {
    let namespaces = std::fs::read_dir("/run/netns").into_iter().flatten().flatten();
    let own = format!("plane.{name}");
    let mut left: Vec<String> = namespaces
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|namespace| *namespace == own || namespace.starts_with(&format!("{own}.")))
        .collect();
    let record = Path::new("/run/planewright").join(name);
    left.extend(record.exists().then(|| record.display().to_string()));
    left
}

/// A process that ends with the test, also if this one fails.
struct Running(Child);

impl std::ops::Deref for Running {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl std::ops::DerefMut for Running {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Ok(None) = self.0.try_wait() {
            // A live network removes its namespaces.
            let _ = Command::new("kill").args(["-TERM", &self.0.id().to_string()]).status();
            let _ = self.0.wait();
        }
    }
}

/// A network file in a folder of its own, and a name for its live network.
struct Network {
    _folder: tempfile::TempDir,
    file: String,
    name: String,
}

fn network(name: &str, text: &str) -> Network {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let router = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/router/router.p4");
    std::fs::copy(router, folder.path().join("router.p4")).expect("the router");
    std::fs::write(folder.path().join("careful.p4"), CAREFUL_ROUTER).expect("a program");
    let path: PathBuf = folder.path().join("n.yaml");
    std::fs::write(&path, text).expect("a file");
    Network {
        file: path.display().to_string(),
        name: format!("{name}-{}", std::process::id()),
        _folder: folder,
    }
}

impl Network {
    /// Runs it to its end, and returns what it measured.
    fn json(&self) -> Value {
        let words = [&self.file, "--live", "--name", &self.name, "--json", "-q"];
        let (status, text, errors) = ran(&words);
        assert_eq!(status, Some(0), "{text}{errors}");
        assert_eq!(left_of(&self.name), Vec::<String>::new());
        serde_json::from_str(&text).expect("JSON")
    }

    /// Starts it, and returns when its hosts are there.
    fn start(&self) -> Running {
        started(&mut plane(&[&self.file, "--live", "--name", &self.name]))
    }
}

/// Starts a network, and returns when its hosts are there.
fn started(command: &mut Command) -> Running {
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut child = Running(child.expect("plane starts"));
    let errors = BufReader::new(child.stderr.take().expect("its messages"));
    let mut seen = Vec::new();
    let mut lines = errors.lines().map_while(Result::ok);
    let is_there = lines.any(|line| {
        seen.push(line);
        seen.last().is_some_and(|line| line.contains("Ctrl-C ends it"))
    });
    assert!(is_there, "it does not start: {seen:?}");
    // Later messages are read, so that the process never waits for a reader.
    std::thread::spawn(move || lines.for_each(drop));
    child
}

fn end(child: &mut Child, signal: &str) -> Option<i32> {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(sent.expect("kill").success());
    let until = Instant::now() + Duration::from_secs(8);
    loop {
        match child.try_wait().expect("its status") {
            Some(status) => return status.code(),
            None if Instant::now() > until => {
                let _ = child.kill();
                panic!("it does not end");
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Verifies the checksums of IPv4 and of TCP with its payload, and drops what has a wrong one.
const CAREFUL_ROUTER: &str = include_str!("net_live/careful.p4");

#[test]
fn a_ping_passes_a_router_and_takes_the_time_of_the_links() {
    if !can_run("ping", &["ping"]) {
        return;
    }
    let network = network(
        "ping",
        "topology: {kind: line, switches: 2, hosts_per_switch: 1, program: router.p4, latency: 10ms}\n\
         hosts: {h1: {applications: [{ping: {to: h2, count: 10, interval: 50ms}}]}}\n\
         captures: [{port: h2, file: h2.pcap}]\n\
         expect: [{ping: h1-h2, ttl: 62, loss: 0}, {port: \"s1:3\", sent: 10}, \
         {host: h2, where: {ipv4.ttl: 62}, count: 10}]\n",
    );
    let out = network.file.replace("n.yaml", "out");
    let words = [&network.file, "--live", "--name", &network.name, "--json", "-q", "--out", &out];
    let (status, text, errors) = ran(&words);
    assert_eq!(status, Some(0), "{text}{errors}");
    let results: Value = serde_json::from_str(&text).expect("JSON");
    let ping = &results["ping"][0];
    assert_eq!((&ping["sent"], &ping["received"]), (&Value::from(10), &Value::from(10)));
    // Three links of 10 ms there and back. The machine may be late, never early.
    let least_ps = ping["rtt_min_ps"].as_u64().expect("a time");
    assert!((60_000_000_000..75_000_000_000).contains(&least_ps), "{least_ps}");
    let captured = std::fs::metadata(Path::new(&out).join("h2.pcap")).expect("a capture").len();
    assert!(captured >= 24 + 20 * (98 + 16), "{captured}");
    assert_eq!(left_of(&network.name), Vec::<String>::new());
}

/// With offloads the checksums of TCP would be missing, and segments would have 64 KB.
#[test]
fn bulk_tcp_and_udp_pass_a_router_that_verifies_checksums() {
    if !can_run("bulk", &["iperf3", "ping"]) {
        return;
    }
    let network = network(
        "bulk",
        "topology: {kind: line, switches: 1, hosts_per_switch: 2, program: careful.p4, rate: 20Mbps}\n\
         hosts:\n  h1:\n    applications:\n      - tcp: {to: h2, bytes: 2MB, parallel: 2}\n\
         \x20     - udp: {to: h2, rate: 1Mbps, size: 1000, count: 60, start: 1s}\n",
    );
    let results = network.json();
    let flows = results["tcp"].as_array().expect("flows");
    assert_eq!(flows.len(), 2);
    let bytes: u64 = flows.iter().filter_map(|flow| flow["bytes"].as_u64()).sum();
    // iperf3 ends when its socket has the last byte, so some bytes are on the way.
    assert!(bytes > 2_000_000, "{results}");
    let goodput: f64 = flows.iter().filter_map(|flow| flow["goodput_bps"].as_f64()).sum();
    assert!((5e6..20e6).contains(&goodput), "{goodput}");
    assert_eq!(flows[0]["timeouts"], Value::Null);
    let udp = &results["udp"][0];
    assert!(udp["received"].as_u64() >= Some(59), "{udp}");
    let switch = &results["switches"][0];
    // Hosts' kernels may send a frame of another protocol; with offloads, thousands of frames would be wrong.
    assert!(switch["dropped"].as_u64().is_some_and(|dropped| dropped < 10), "{results}");
    // No frame is longer than the MTU and its header.
    let link = &results["links"][0];
    let (frames, bytes) = (link["frames"].as_u64(), link["bytes"].as_u64());
    assert!(bytes <= frames.map(|frames| frames * 1_514), "{link}");
}

#[test]
fn programs_run_in_hosts_and_all_hosts_ping_each_other() {
    if !can_run("exec", &["ping"]) {
        return;
    }
    let network = network(
        "exec",
        "topology: {kind: star, size: 3, program: router.p4}\nhosts: {h9: {address: 10.9.0.1/24}}\n\
         switches: {s9: {program: router.p4}}\nlinks: [[h9, \"s9:1\"]]\n",
    );
    let mut child = network.start();
    let name = network.name.as_str();
    let (status, text, errors) = ran(&["exec", "--name", name, "h1", "ping", "-c", "1", "h2"]);
    assert_eq!(status, Some(0), "{text}{errors}");
    // The name became an address, and the router took one from the time to live.
    assert!(text.contains("from 10.0.1.3") && text.contains("ttl=63"), "{text}");
    let (status, text, _) = ran(&["exec", "--name", name, "h2", "sh", "-c", "ip -br addr; exit 7"]);
    assert_eq!(status, Some(7));
    assert!(text.contains("eth0") && !text.contains("fe80"), "{text}");
    let (status, _, errors) = ran(&["exec", "--name", name, "h4", "true"]);
    assert_eq!(status, Some(1));
    assert!(errors.contains("has no host `h4`"), "{errors}");
    let (status, _, errors) = ran(&["exec", "--name", name, "h1", "no-such-program"]);
    assert_eq!(status, Some(1));
    assert!(errors.contains("there is no such program"), "{errors}");
    let (status, text, _) = ran(&["pingall", "--name", name]);
    assert_eq!(status, Some(1));
    assert!(text.contains("h1 -> h2 h3 X\n") && text.contains("h9 -> X X X\n"), "{text}");
    assert!(text.contains("*** Results: 50% dropped (6/12 received)\n"), "{text}");
    // A second network of the name is refused, and the first one stays.
    let (status, _, errors) = ran(&[&network.file, "--live", "--name", name]);
    assert_eq!(status, Some(1));
    assert!(errors.contains("is running"), "{errors}");
    assert_eq!(end(&mut child, "-TERM"), Some(0));
    assert_eq!(left_of(name), Vec::<String>::new());
    let (status, _, errors) = ran(&["exec", "--name", name, "h1", "true"]);
    assert_eq!(status, Some(1));
    assert!(errors.contains("live network"), "{errors}");
}

#[test]
fn what_a_crash_leaves_is_removed() {
    if !can_run("crash", &[]) {
        return;
    }
    let text = "topology: {kind: line, switches: 1, hosts_per_switch: 2, program: router.p4}\n";
    let (crashed, running) = (network("crash", text), network("keep", text));
    let (mut crash, mut keep) = (crashed.start(), running.start());
    let mut sleeper = plane(&["exec", "--name", &crashed.name, "h1", "sleep", "60"]);
    let mut sleeper = sleeper.spawn().expect("plane starts");
    while !std::fs::read_to_string(format!("/proc/{}/comm", sleeper.id()))
        .expect("it runs")
        .starts_with("sleep")
    {
        std::thread::sleep(Duration::from_millis(5));
    }
    end(&mut crash, "-KILL");
    assert_eq!(left_of(&crashed.name).len(), 4);
    let (status, _, errors) = ran(&["--clean"]);
    assert_eq!(status, Some(0), "{errors}");
    assert!(
        errors.contains(&crashed.name) && !errors.contains(&format!("removed {}", running.name))
    );
    assert_eq!(left_of(&crashed.name), Vec::<String>::new());
    // Its programs have ended, and a network that runs stays.
    assert_eq!(sleeper.wait().expect("it ended").code(), None);
    assert_eq!(left_of(&running.name).len(), 4);
    let (status, text, _) = ran(&["exec", "--name", &running.name, "h1", "ping", "-c", "1", "h2"]);
    assert_eq!(status, Some(0), "{text}");
    assert_eq!(end(&mut keep, "-INT"), Some(0));
    assert_eq!(left_of(&running.name), Vec::<String>::new());
}

#[test]
fn what_cannot_be_live_is_named() {
    let network = network(
        "cannot",
        "topology: {kind: line, switches: 1, hosts_per_switch: 2, program: router.p4}\n\
         applications:\n\
         \x20 - flows: {from: h1, to: h2, sizes: web-search, load: 10%, duration: 1s}\n\
         \x20 - udp: {from: h1, to: h2, rate: 1Mbps, arrivals: poisson, count: 3}\n\
         \x20 - tcp: {from: h1, to: h2, bytes: 1KB, min_rto: 10ms}\n\
         \x20 - tcp: {from: h1, to: h2, bytes: 1KB, port: 80}\n\
         \x20 - tcp: {from: h1, to: h2, bytes: 1KB, port: 80}\n\
         \x20 - tcp: {from: h1, to: 10.77.0.1, bytes: 1KB}\n\
         \x20 - ping: {from: h1, to: h2}\n",
    );
    let (status, _, errors) = ran(&[&network.file, "--live"]);
    assert_eq!(status, Some(1), "{errors}");
    assert_eq!(errors.matches("error[NW-E0501]").count(), 5, "{errors}");
    for words in [
        "no program for `flows`",
        "equal distances",
        "`min_rto`",
        "port 80 of `h2`",
        "no host of the network",
    ] {
        assert!(errors.contains(words), "{words}: {errors}");
    }
    assert!(!errors.contains("h1.ping"), "{errors}");
}

/// A namespace in place of a container.
struct Container {
    name: String,
}

impl Container {
    fn make(name: &str) -> Container {
        let container = Container { name: format!("planebox-{}-{name}", std::process::id()) };
        ip(&format!("netns add {}", container.name));
        container
    }

    /// Runs a command of the topology; the folder is in place of /network.
    fn command(&self, words: &str, folder: &Path) -> Command {
        let words = words.replace("/network/", &format!("{}/", folder.display()));
        let words = words.replacen("plane ", &format!("{} ", env!("CARGO_BIN_EXE_plane")), 1);
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name]).args(words.split(' '));
        command
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        ip(&format!("netns delete {}", self.name));
    }
}

fn ip(words: &str) {
    let ran = Command::new("ip").args(words.split(' ')).status().expect("ip");
    assert!(ran.success(), "ip {words}");
}

/// The topology that `--emit` writes, in namespaces instead of containers: links, switches by their `cmd`, hosts by their
/// `exec`.
#[test]
fn an_emitted_network_works_with_a_process_for_each_switch() {
    if !can_run("emit", &["ping"]) {
        return;
    }
    let network = network(
        "emit",
        "topology: {kind: line, switches: 2, hosts_per_switch: 1, program: router.p4, latency: 10ms}\n\
         expect: [{host: h2, where: {ipv4.ttl: 62}, count: 1}]\n",
    );
    let folder = PathBuf::from(network.file.replace("n.yaml", "lab"));
    let out = folder.display().to_string();
    let (status, _, errors) = ran(&[&network.file, "--emit", "containerlab", "--out", &out]);
    assert_eq!(status, Some(0), "{errors}");
    assert!(errors.contains("for containerlab 0.79") && errors.contains("left out"), "{errors}");
    // The network file beside the topology is a network of its own.
    let emitted = folder.join("network.json").display().to_string();
    let (status, text, errors) = ran(&[&emitted, "--pingall", "--json", "-q"]);
    assert_eq!(status, Some(0), "{errors}");
    let results: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(results["ping"][1]["received"], Value::from(1), "{text}");

    let topology = std::fs::read_to_string(folder.join("n.clab.yml")).expect("the topology");
    let topology = document_value(document::Format::Yaml, &topology);
    let nodes = topology["topology"]["nodes"].as_object().expect("nodes");
    let containers: BTreeMap<&str, Container> =
        nodes.keys().map(|name| (name.as_str(), Container::make(name))).collect();
    let mut switches: Vec<Running> = nodes
        .iter()
        .filter_map(|(name, node)| {
            let mut command = containers[name.as_str()].command(node["cmd"].as_str()?, &folder);
            let switch = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
            Some(Running(switch.expect("a switch")))
        })
        .collect();
    assert_eq!(switches.len(), 2);
    // Containers start before they have links.
    for link in topology["topology"]["links"].as_array().expect("links") {
        let end = |at: usize| link["endpoints"][at].as_str().and_then(|end| end.split_once(':'));
        let ((one, eth), (other, other_eth)) = (end(0).expect("an end"), end(1).expect("an end"));
        let (one, other) = (&containers[one].name, &containers[other].name);
        ip(&format!("link add {eth} netns {one} type veth peer name {other_eth} netns {other}"));
    }
    for (name, node) in nodes {
        for words in node["exec"].as_array().into_iter().flatten() {
            let words = words.as_str().expect("a command");
            // The tests do without ethtool: a switch completes checksums of others.
            if !words.starts_with("ethtool ") {
                let ran = containers[name.as_str()].command(words, &folder).status();
                assert!(ran.expect("ip").success(), "{words}");
            }
        }
    }
    let until = Instant::now() + Duration::from_secs(8);
    let text = loop {
        let ping =
            containers["h1"].command("ping -n -c 10 -i 0.05 -W 1 10.0.2.2", &folder).output();
        let text = String::from_utf8_lossy(&ping.expect("ping").stdout).into_owned();
        if text.contains("bytes from") || Instant::now() > until {
            break text;
        }
    };
    assert!(text.contains("ttl=62"), "{text}");
    // Four of the six links on the way there and back are those of switches.
    let least = text.split_once("mdev = ").and_then(|(_, rest)| rest.split('/').next());
    let time_ms: f64 = least.expect("a summary").parse().expect("a time");
    assert!((40.0..60.0).contains(&time_ms), "{text}");
    for switch in &mut switches {
        end(switch, "-TERM");
    }
    let (status, _, errors) = ran(&[&emitted, "--live", "--only", "s3"]);
    assert_eq!(status, Some(1));
    assert!(errors.contains("no switch `s3`; its switches are s1, s2"), "{errors}");
    let (status, _, errors) = ran(&[&emitted, "--live", "--only", "s1", "--interfaces", "9=eth9"]);
    assert_eq!(status, Some(1));
    assert!(errors.contains("`s1` has no link at port 9"), "{errors}");
}

/// Without root, in a user namespace: the same commands, and nothing left.
#[test]
fn users_who_are_not_root_have_live_networks_too() {
    let user = "54321";
    let words = [
        "--reuid",
        user,
        "--regid",
        user,
        "--clear-groups",
        "unshare",
        "--user",
        "--map-root-user",
        "--net",
        "true",
    ];
    let can_unshare =
        Command::new("setpriv").args(words).status().is_ok_and(|status| status.success());
    if !can_unshare {
        not_run("user", "this system has no user namespaces for users, or the test is not root");
        return;
    }
    if !can_run("user", &["ping"]) {
        return;
    }
    let network = network(
        "user",
        "topology: {kind: line, switches: 1, hosts_per_switch: 2, program: router.p4}\n",
    );
    // A copy that the user may read and run.
    let folder = network._folder.path();
    let plane = folder.join("plane");
    std::fs::copy(env!("CARGO_BIN_EXE_plane"), &plane).expect("a copy");
    let opened = Command::new("chmod").args(["-R", "a+rX"]).arg(folder).status();
    assert!(opened.expect("chmod").success());
    let as_user = |words: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", user, "--regid", user, "--clear-groups"]);
        command.arg(&plane).arg("net").args(words).current_dir(folder);
        command
    };
    let ran = |words: &[&str]| {
        let Output { status, stdout, stderr } = as_user(words).output().expect("plane starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (status.code(), text(&stdout), text(&stderr))
    };
    let mut command = as_user(&["n.yaml", "--live", "--name", &network.name]);
    let mut child = started(&mut command);
    let name = network.name.as_str();
    let (status, text, errors) = ran(&["pingall", "--name", name]);
    assert_eq!(status, Some(0), "{text}{errors}");
    assert!(text.contains("0% dropped (2/2 received)"), "{text}");
    // The program is where its user is, and its host is not the machine.
    let (status, text, errors) =
        ran(&["exec", "--name", name, "h2", "sh", "-c", "pwd; ip -br addr"]);
    assert_eq!(status, Some(0), "{errors}");
    assert!(text.contains(&folder.display().to_string()) && text.contains("10.0.1.3"), "{text}");
    assert_eq!(left_of(name), Vec::<String>::new());
    assert_eq!(end(&mut child, "-TERM"), Some(0));
    let records = PathBuf::from(format!("/tmp/planewright-{user}"));
    assert!(!records.join(name).exists());
    let (status, _, errors) = ran(&["exec", "--name", name, "h1", "true"]);
    assert_eq!(status, Some(1));
    assert!(errors.contains("live network"), "{errors}");
    let _ = std::fs::remove_dir(records);
}

/// Programs of the file: a server and a client, and one that fails.
#[test]
fn commands_of_the_file_run_in_hosts() {
    if !can_run("commands", &["ping"]) {
        return;
    }
    let network = network(
        "commands",
        "topology: {kind: line, switches: 1, hosts_per_switch: 2, program: router.p4}\n\
         hosts:\n  h1: {applications: [command: ping -c 2 -i 0.1 10.0.1.3, {command: {run: \"ls; exit 3\", name: wrong}}]}\n\
         \x20 h2: {applications: [command: sleep 60 & sleep 50]}\nuntil: 1s\n",
    );
    let began = Instant::now();
    let (status, _, errors) = ran(&[&network.file, "--live", "--name", &network.name]);
    assert_eq!(status, Some(0), "{errors}");
    assert!(errors.contains("h1.command: 2 packets transmitted, 2 received"), "{errors}");
    assert!(
        errors.contains("n.yaml\n") && errors.contains("ended with exit status: 3"),
        "{errors}"
    );
    assert!(began.elapsed() < Duration::from_secs(8), "{errors}");
    assert_eq!(left_of(&network.name), Vec::<String>::new());
    let (status, _, errors) = ran(&[&network.file]);
    assert_eq!(status, Some(1));
    assert!(errors.contains("run the network with --live"), "{errors}");
}

/// What a live run does not measure is named, also with -q; what an application's program reports, too.
#[test]
fn expectations_that_cannot_be_judged_are_named() {
    if !can_run("judged", &["iperf3", "ping"]) {
        return;
    }
    let text = "topology: {kind: line, switches: 1, hosts_per_switch: 2, program: router.p4}\n\
                hosts:\n  h1: {applications: [{tcp: {to: h2, bytes: 100KB}}]}\n\
                \x20 h2: {applications: [{ping: {to: 10.99.0.1, count: 1, name: nowhere}}]}\n\
                expect:\n  - {application: h1.tcp, timeouts: 7, goodput: \"> 1kbps\"}\n\
                \x20 - {application: nowhere, received: 1}\nuntil: 1s\n";
    let network = network("judged", text);
    let words = [network.file.as_str(), "--live", "--name", &network.name, "-q"];
    let (status, _, errors) = ran(&words);
    assert_eq!(status, Some(1), "{errors}");
    assert!(errors.contains("NOT JUDGED: iperf3 does not report `timeouts`"), "{errors}");
    assert!(errors.contains("received is 0, expected 1"), "{errors}");
    assert!(!errors.contains("goodput is"), "{errors}");
    let (status, _, errors) = ran(&[&words[..], &["--no-applications"]].concat());
    assert_eq!(status, Some(0), "{errors}");
    assert_eq!(errors.matches("NOT JUDGED: the network runs without applications").count(), 2);
}
