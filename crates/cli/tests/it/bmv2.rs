// SPDX-License-Identifier: Apache-2.0
//! The P4R examples for v1model on BMv2: `plane run` records the commands of a run, p4c compiles the program that
//! `plane emit` writes, and simple_switch gets the packets of the run with the commands between them, in the recorded
//! order. It must send the same packets. Needs p4c-bm2-ss, simple_switch and simple_switch_CLI on PATH; says NOT RUN
//! without them.

use crate::examples::{commands, root};
use crate::recorded_commands::{examples, plane, without, words};
use control::command_text;
use network::capture::{CaptureReader, MergedCaptures};
use std::collections::{BTreeMap, VecDeque};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Ports that the switch has at least.
const PORTS: u32 = 8;
/// How long an answer of the switch may take.
const LIMIT: Duration = Duration::from_secs(20);
/// What packets that are dropped need to leave the switch.
const SETTLE: Duration = Duration::from_millis(20);

/// A process that ends with this value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whether a tool is not on PATH; says that the test is not run.
pub fn is_missing(test: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there =
        |tool: &&str| std::env::split_paths(&path).any(|folder| folder.join(tool).is_file());
    let missing = ["p4c-bm2-ss", "simple_switch", "simple_switch_CLI"];
    let missing = missing.into_iter().find(|tool| !is_there(tool));
    if let Some(missing) = missing {
        testing::programs::not_run(test, &format!("`{missing}` is not on PATH"));
    }
    missing.is_some()
}

/// A packet that enters, and the commands that take effect before it.
pub struct Step {
    pub commands: Vec<String>,
    pub port: u32,
    pub bytes: Vec<u8>,
    /// Packets that have left in our run once this one has.
    pub sent: usize,
}

/// The packets of a run with the recorded commands between them.
fn steps(run: &[String], recorded: &Path, expected: &BTreeMap<u32, Vec<Sent>>) -> Vec<Step> {
    let text = std::fs::read_to_string(recorded).expect("a recording");
    assert!(!text.contains("not a command of BMv2"), "{text}");
    let (commands, errors) = command_text::read_timed("recorded", &text);
    assert!(errors.is_empty(), "{errors:?}");
    let mut commands: VecDeque<(u64, String)> = commands
        .into_iter()
        .map(|(time_ps, located)| {
            (time_ps, command_text::write(&located.command).expect("a command of BMv2"))
        })
        .collect();
    let inputs = run.iter().zip(&run[1..]).filter(|(option, _)| *option == "--in");
    let captures = inputs.map(|(_, input)| {
        let (port, file) = input.split_once('=').expect("PORT=FILE");
        let reader = CaptureReader::open(&root().join(file)).expect("a capture");
        (port.parse().expect("a port"), reader)
    });
    let mut begin_ps = None;
    let mut steps = Vec::new();
    for packet in MergedCaptures::new(captures).filling_up(true) {
        let packet = packet.expect("a packet");
        let arrival_ps = packet.packet.timestamp_ps;
        let time_ps = (arrival_ps - *begin_ps.get_or_insert(arrival_ps)) as u64;
        let mut own = Vec::new();
        while let Some((_, command)) = commands.pop_front_if(|(at_ps, _)| *at_ps <= time_ps) {
            own.push(command);
        }
        let all = expected.values().flatten();
        let sent = all.filter(|sent| sent.time_ps <= arrival_ps).count();
        steps.push(Step { commands: own, port: packet.port, bytes: packet.packet.data, sent });
    }
    steps
}

/// A packet that left.
#[derive(Clone, Debug)]
pub struct Sent {
    time_ps: i128,
    pub bytes: Vec<u8>,
}

/// The packets in a folder's `PORT.pcap`.
pub fn sent_by_port(folder: &Path) -> BTreeMap<u32, Vec<Sent>> {
    let mut ports = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        let port = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok()).expect("a port");
        let packets = CaptureReader::open(&path).expect("a capture").map(|packet| {
            let packet = packet.expect("a packet");
            Sent { time_ps: packet.timestamp_ps, bytes: packet.data }
        });
        ports.insert(port, packets.collect());
    }
    ports
}

/// The packets in a capture that another process writes, as far as they are whole.
fn whole_packets(bytes: &[u8]) -> Vec<Vec<u8>> {
    let (mut packets, mut at) = (Vec::new(), 24);
    while let Some(length) = bytes.get(at + 8..at + 12) {
        let length = u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
        let Some(packet) = bytes.get(at + 16..at + 16 + length) else { break };
        packets.push(packet.to_vec());
        at += 16 + length;
    }
    packets
}

/// The header of a capture in microseconds.
fn capture_header() -> Vec<u8> {
    let words: [u32; 6] = [0xa1b2_c3d4, 0x0004_0002, 0, 0, 0xffff, 1];
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// BMv2 with a program, its command line, and the files by which packets enter and leave.
pub struct Switch {
    folder: PathBuf,
    ports: u32,
    /// Pipes of the ports by which packets enter.
    inputs: BTreeMap<u32, File>,
    command_line: (ChildStdin, BufReader<ChildStdout>),
    marks: usize,
    is_missing_packets: bool,
    _processes: [Running; 2],
}

impl Switch {
    pub fn start(folder: &Path, json: &Path, inputs: &[u32], ports: u32) -> Switch {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let thrift = listener.local_addr().expect("an address").port().to_string();
        drop(listener);
        let mut command = Command::new("simple_switch");
        command.args(["--use-files", "0", "--thrift-port", &thrift]);
        for port in 0..ports {
            let path = folder.join(format!("p{port}_in.pcap"));
            match inputs.contains(&port) {
                true => {
                    let made = Command::new("mkfifo").arg(&path).status();
                    assert!(made.is_ok_and(|status| status.success()), "mkfifo");
                }
                false => std::fs::write(&path, capture_header()).expect("a file"),
            }
            command.arg("-i").arg(format!("{port}@p{port}"));
        }
        // A pipe that is open for both does not wait for its reader.
        let open = |port: &u32| {
            let path = folder.join(format!("p{port}_in.pcap"));
            let mut pipe = OpenOptions::new().read(true).write(true).open(path).expect("a pipe");
            pipe.write_all(&capture_header()).expect("it takes the header");
            (*port, pipe)
        };
        let inputs = inputs.iter().map(open).collect();
        let log = File::create(folder.join("switch.log")).expect("a file");
        let errors = log.try_clone().expect("a file");
        let switch = command.arg(json).current_dir(folder).stdout(log).stderr(errors).spawn();
        let switch = Running(switch.expect("simple_switch starts"));
        let begin = Instant::now();
        while std::net::TcpStream::connect(format!("127.0.0.1:{thrift}")).is_err() {
            assert!(begin.elapsed() < LIMIT, "simple_switch takes no commands");
            std::thread::sleep(Duration::from_millis(50));
        }
        let mut command_line = Command::new("simple_switch_CLI")
            .args(["--thrift-port", &thrift])
            .env("PYTHONUNBUFFERED", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("simple_switch_CLI starts");
        let input = command_line.stdin.take().expect("a pipe");
        let output = BufReader::new(command_line.stdout.take().expect("a pipe"));
        Switch {
            folder: folder.to_path_buf(),
            ports,
            inputs,
            command_line: (input, output),
            marks: 0,
            is_missing_packets: false,
            _processes: [Running(command_line), switch],
        }
    }

    /// Runs commands and waits for the last of them.
    pub fn run(&mut self, commands: &[String]) {
        let (input, output) = &mut self.command_line;
        self.marks += 1;
        // The command line repeats unknown words.
        let mark = format!("mark_{}", self.marks);
        let mut text = commands.join("\n");
        text.push_str(&format!("\n{mark}\n"));
        // An empty line would repeat the last command.
        input.write_all(text.trim_start().as_bytes()).expect("it reads commands");
        let mut said = String::new();
        while !said.contains(&mark) {
            let count = output.read_line(&mut said).expect("it answers");
            assert!(count > 0, "simple_switch_CLI ended: {said}");
        }
        let is_wrong = |line: &&str| {
            ["Invalid", "Error", "Unknown", "rror:"].iter().any(|word| line.contains(word))
                && !line.contains(&mark)
        };
        let wrong = said.lines().find(is_wrong);
        assert_eq!(wrong, None, "of {commands:?}: {said}");
    }

    /// The packets that have left by each port.
    pub fn sent(&self) -> BTreeMap<u32, Vec<Vec<u8>>> {
        let read = |port: u32| {
            let path = self.folder.join(format!("p{port}_out.pcap"));
            (port, whole_packets(&std::fs::read(path).unwrap_or_default()))
        };
        (0..self.ports).map(read).filter(|(_, packets)| !packets.is_empty()).collect()
    }

    /// Waits until so many packets have left, unless some were missing before.
    fn wait_for(&mut self, count: usize) {
        let begin = Instant::now();
        let limit = Duration::from_secs(2);
        while !self.is_missing_packets && self.sent().values().map(Vec::len).sum::<usize>() < count
        {
            self.is_missing_packets = begin.elapsed() > limit;
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Sends packets one after the other, with the commands before each. BMv2 takes the earliest of the first packets of
    /// all its files, and then reads the next packet of that file: this one is held back until the commands are done.
    pub fn replay(&mut self, steps: &[Step]) {
        let mut waiting: BTreeMap<u32, VecDeque<Vec<u8>>> = BTreeMap::new();
        for (number, step) in (1u32..).zip(steps) {
            let length = step.bytes.len() as u32;
            let words = [0, number, length, length];
            let mut record: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            record.extend(&step.bytes);
            waiting.entry(step.port).or_default().push_back(record);
        }
        let mut held = *waiting.keys().last().expect("a port");
        let ports: Vec<u32> = waiting.keys().copied().filter(|port| *port != held).collect();
        for port in ports {
            self.put(port, &mut waiting);
        }
        let mut sent = 0;
        for step in steps {
            // A packet that waits for others would find another queue depth than in simulated time.
            self.wait_for(sent);
            if !step.commands.is_empty() {
                std::thread::sleep(SETTLE);
                self.run(&step.commands);
            }
            self.put(held, &mut waiting);
            (held, sent) = (step.port, step.sent);
        }
        self.wait_for(sent);
        std::thread::sleep(SETTLE);
    }

    /// Puts the next packet of a port into its pipe, or closes it behind the last one.
    fn put(&mut self, port: u32, waiting: &mut BTreeMap<u32, VecDeque<Vec<u8>>>) {
        match waiting.get_mut(&port).and_then(VecDeque::pop_front) {
            Some(record) => {
                let pipe = self.inputs.get_mut(&port).expect("a pipe");
                pipe.write_all(&record).expect("the switch reads packets");
            }
            None => {
                self.inputs.remove(&port);
            }
        }
    }
}

#[test]
fn examples_send_the_same_packets_on_bmv2() {
    if is_missing("examples_send_the_same_packets_on_bmv2") {
        return;
    }
    let mut failures = Vec::new();
    for folder in examples() {
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let readme = std::fs::read_to_string(folder.join("README.md")).expect("a README");
        // The rates and the clock of a device file are those of simulated time, which BMv2 does not have.
        let run = without(without(commands(&readme).remove(0), "--out"), "--device");
        let scratch = tempfile::tempdir().expect("a temporary folder");
        let path = |name: &str| scratch.path().join(name);
        let shown = |name: &str| path(name).display().to_string();
        let mut first = run.clone();
        let recording = ["--out", &shown("sent"), "--record-commands", &shown("commands.txt")];
        first.extend(words(&recording));
        let (status, text) = plane(&first);
        assert_eq!(status, Some(0), "{name}: {text}");
        let (status, text) = plane(&words(&["emit", &run[1], "-o", &shown("emitted")]));
        assert_eq!(status, Some(0), "{name}: {text}");
        let json = path("program.json");
        let compiled = Command::new("p4c-bm2-ss")
            .arg("-o")
            .arg(&json)
            .arg(path("emitted").join(format!("{name}.p4")))
            .output()
            .expect("p4c-bm2-ss starts");
        let errors = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success(), "{name}: {errors}");
        let expected = sent_by_port(&path("sent"));
        let steps = steps(&run, &path("commands.txt"), &expected);
        let mut inputs: Vec<u32> = steps.iter().map(|step| step.port).collect();
        inputs.sort_unstable();
        inputs.dedup();
        let largest = expected.keys().chain(&inputs).max().copied().unwrap_or(0);
        let mut switch = Switch::start(scratch.path(), &json, &inputs, PORTS.max(largest + 1));
        switch.replay(&steps);
        let found = switch.sent();
        let wanted: BTreeMap<u32, Vec<Vec<u8>>> = expected
            .iter()
            .map(|(port, packets)| (*port, packets.iter().map(|sent| sent.bytes.clone()).collect()))
            .collect();
        let commands = steps.iter().map(|step| step.commands.len()).sum::<usize>();
        let packets = wanted.values().map(Vec::len).sum::<usize>();
        println!("{name}: {} packets in, {packets} out, {commands} commands", steps.len());
        for (port, wanted) in &wanted {
            let found = found.get(port).map_or(&[][..], Vec::as_slice);
            let same = wanted.iter().zip(found).take_while(|(one, other)| one == other).count();
            if found.len() != wanted.len() || same < wanted.len() {
                let (count, all) = (found.len(), wanted.len());
                let differs = [wanted.get(same), found.get(same)];
                failures.push(format!(
                    "{name}, port {port}: {count} of {all} packets, the first {same} are equal; then {differs:x?}"
                ));
            }
        }
        if let Some(port) = found.keys().find(|port| !wanted.contains_key(port)) {
            failures.push(format!("{name}: packets by port {port}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
