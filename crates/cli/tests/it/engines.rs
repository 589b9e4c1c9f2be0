// SPDX-License-Identifier: Apache-2.0
//! The examples' captures through bursts and through single packets, on compiled code and on the
//! interpreter: outputs, digests, statistics, registers and counters are the same. And what
//! `plane run --verify` and `--engine` say.

use control::session::Session;
use device::{Burst, Device, DeviceOptions, EngineChoice};
use ir::ready::ReadyProgram;
use ir::{CounterId, Program, RegisterId};
use network::capture::{ArrivingPacket, CaptureReader, MergedCaptures};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// So many packets of each example are compared.
const MAX_PACKETS: usize = 400;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The words of the first `plane run` of each example's README.
fn examples() -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let folders = std::fs::read_dir(root().join("examples")).expect("examples").flatten();
    let mut folders: Vec<_> = folders.map(|folder| folder.path()).collect();
    folders.retain(|folder| !folder.ends_with("lucid") && !folder.ends_with("domino"));
    folders.sort();
    for readme in folders.iter().map(|folder| folder.join("README.md")) {
        let Ok(text) = std::fs::read_to_string(readme) else { continue };
        let text = text.replace("\\\n", " ");
        let line = text.lines().find(|line| line.trim_start().starts_with("plane run"));
        let words = line.map(|line| line.split_whitespace().skip(1).map(str::to_string).collect());
        found.extend(words);
    }
    assert!(found.len() >= 9, "only {} examples were found", found.len());
    found
}

fn after<'a>(words: &'a [String], flag: &'a str) -> impl Iterator<Item = &'a str> {
    words.windows(2).filter(move |pair| pair[0] == flag).map(|pair| &*pair[1])
}

fn program(path: &str) -> Arc<Program> {
    let text = std::fs::read_to_string(root().join(path)).expect("a program");
    ReadyProgram::of_text(path, text).expect("it compiles").program().clone()
}

fn packets(words: &[String]) -> Vec<ArrivingPacket> {
    let readers = after(words, "--in").map(|input| {
        let (port, file) = input.split_once('=').expect("PORT=FILE");
        let reader = CaptureReader::open(&root().join(file)).expect("a capture");
        (port.parse().expect("a port"), reader)
    });
    let merged = MergedCaptures::new(readers.collect::<Vec<_>>());
    merged.take(MAX_PACKETS).map(|packet| packet.expect("a packet")).collect()
}

fn device(program: &Arc<Program>, words: &[String], engine: EngineChoice) -> Device {
    let options = DeviceOptions { engine, ..DeviceOptions::default() };
    let device = Device::new(program.clone(), options).expect("it loads");
    let mut session = Session::new(program.clone());
    for path in after(words, "--entries") {
        let text = std::fs::read_to_string(root().join(path)).expect("entries");
        session.run(path, &text, &mut device.target()).expect("the entries fit");
    }
    device
}

/// Everything that a device shows, as text.
fn shown(device: &mut Device, outputs: &[(usize, u32, Vec<u8>)]) -> Vec<String> {
    let mut lines: Vec<String> = outputs.iter().map(|output| format!("{output:?}")).collect();
    lines.extend(device.drain_digests().iter().map(|digest| format!("{digest:?}")));
    lines.extend(device.drain_log().iter().map(|line| format!("{line:?}")));
    lines.push(format!("{:?}", device.statistics()));
    let (program, cells) = (device.program(), device.cells());
    for at in 0..program.registers.len() {
        let Some(register) = cells.register(RegisterId(at as u32)) else { continue };
        let values = (0..register.size().min(5000)).map(|index| register.read(index));
        lines.push(format!("{:?}", values.collect::<Vec<_>>()));
    }
    for at in (0..program.counters.len()).map(|at| CounterId(at as u32)) {
        let values = (0..cells.counter_size(at)).map(|index| cells.counter(at, index));
        lines.push(format!("{:?}", values.collect::<Vec<_>>()));
    }
    lines
}

fn time_ps(packets: &[ArrivingPacket], at: usize) -> u64 {
    let first = packets[0].packet.timestamp_ps;
    u64::try_from(packets[at].packet.timestamp_ps - first).unwrap_or(0)
}

fn in_bursts(device: &mut Device, packets: &[ArrivingPacket], size: usize) -> Vec<String> {
    let mut burst = Burst::new(size, 1 << 14);
    let mut outputs = Vec::new();
    for first in (0..packets.len()).step_by(size) {
        let now_ps = time_ps(packets, first).max(device.now_ps());
        device.advance(now_ps).expect("no assertion fails");
        burst.clear();
        for arriving in packets.iter().skip(first).take(size) {
            burst.push(arriving.port, &arriving.packet.data).expect("it fits");
        }
        device.forward(&mut burst).expect("no assertion fails");
        let sent = burst.outputs();
        outputs.extend(sent.map(|sent| (first + sent.packet, sent.port, sent.bytes.to_vec())));
    }
    shown(device, &outputs)
}

fn one_by_one(device: &mut Device, packets: &[ArrivingPacket], size: usize) -> Vec<String> {
    let mut outputs = Vec::new();
    for (at, arriving) in packets.iter().enumerate() {
        let now_ps = time_ps(packets, at - at % size).max(device.now_ps());
        device.advance(now_ps).expect("no assertion fails");
        let bytes = arriving.packet.data.clone();
        device.inject(arriving.port, device.now_ps(), bytes).expect("in order");
        device.run_to_completion().expect("no assertion fails");
        let mut sent = device.drain_transmitted();
        sent.sort_by_key(|sent| sent.sequence);
        outputs.extend(sent.into_iter().map(|sent| (at, sent.port, sent.bytes)));
    }
    shown(device, &outputs)
}

#[test]
fn examples_go_the_same_way_on_both_engines() {
    for words in examples() {
        let program = program(&words[1]);
        let packets = packets(&words);
        let device = |engine| device(&program, &words, engine);
        let size = 16;
        let expected = one_by_one(&mut device(EngineChoice::Interpreter), &packets, size);
        assert!(expected.len() > 1, "{}", words[1]);
        let singly = one_by_one(&mut device(EngineChoice::Jit), &packets, size);
        assert_eq!(singly, expected, "{}", words[1]);
        for engine in [EngineChoice::Jit, EngineChoice::Interpreter] {
            let seen = in_bursts(&mut device(engine), &packets, size);
            assert_eq!(seen, expected, "{} in bursts on {engine:?}", words[1]);
        }
    }
}

fn plane(words: &[String], more: &[&str]) -> (Option<i32>, String, String) {
    let out = tempfile::tempdir().expect("a temporary folder");
    let mut words = words.to_vec();
    let at = words.iter().position(|word| word == "--out").expect("--out") + 1;
    words[at] = out.path().display().to_string();
    let ran = Command::new(env!("CARGO_BIN_EXE_plane"))
        .args(&words)
        .args(more)
        .current_dir(root())
        .output()
        .expect("plane starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (ran.status.code(), text(&ran.stdout), text(&ran.stderr))
}

#[test]
fn both_engines_agree_on_the_examples() {
    for words in examples() {
        let (status, out, errors) = plane(&words, &["--verify"]);
        assert_eq!(status, Some(0), "{}: {out}{errors}", words[1]);
        assert!(out.contains("\nboth engines agree on "), "{out}");
        let first = format!("{} (jit and interpreter side by side)\n", words[1]);
        assert!(out.starts_with(&first), "{out}");
    }
}

#[test]
fn the_summary_says_which_engine_ran() {
    let words = &examples()[0];
    for (more, engine) in
        [(&[][..], "jit"), (&["--engine", "jit"], "jit"), (&["--engine", "interp"], "interpreter")]
    {
        let (status, out, errors) = plane(words, more);
        assert_eq!(status, Some(0), "{errors}");
        assert!(out.starts_with(&format!("{} ({engine})\n", words[1])), "{out}");
        assert_eq!(errors.contains("bytes of machine code"), engine == "jit", "{errors}");
    }
    let (status, out, errors) = plane(words, &["--trace"]);
    assert_eq!(status, Some(0), "{errors}");
    assert!(out.contains(" (interpreter)\n"), "{out}");
    assert!(errors.contains("traces come from the interpreter"), "{errors}");
    assert_eq!(plane(words, &["--verify", "--trace"]).0, Some(2));
}
