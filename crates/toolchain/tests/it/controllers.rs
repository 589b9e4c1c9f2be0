// SPDX-License-Identifier: Apache-2.0
//! A language of the tests whose programs bring controllers, run on captures: packets leave by the port that the
//! controller has written last.

use crate::recording::Recording;
use control::target::{Batch, Target};
use device::{Device, DeviceOptions, EngineChoice};
use frontend::{
    Compiled, Controller, ExitStatus, Failure, Frontend, MemoryFiles, ProgramFile, RunCaptures,
};
use ir::ready::ReadyProgram;
use ir::{Bits, RegisterId};
use network::capture::{CaptureReader, CaptureWriter};
use source::Explanation;
use state::{CellRange, Read, Reply, Update};
use std::path::{Path, PathBuf};
use toolchain::controllers::Controllers;
use toolchain::device_run::{self, DeviceRun, Engines};
use toolchain::reactions::ReactionRun;

const PROGRAM: &str = "
#include <core.p4>
#include <v1model.p4>
struct headers_t { }
struct meta_t { }
parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start { transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply { } }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    register<bit<9>>(1) port;
    apply { port.read(s.egress_spec, 0); }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t s) { apply { } }
control C(inout headers_t h, inout meta_t m) { apply { } }
control D(packet_out p, in headers_t h) { apply { } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

/// Writes port numbers: the first in its prologue, each other in a round of its own.
struct Ports {
    ports: Vec<u64>,
    /// Between two rounds.
    interval_ps: u64,
    written: usize,
}

impl Ports {
    fn new(ports: &[u64], interval_ps: u64) -> Ports {
        Ports { ports: ports.to_vec(), interval_ps, written: 0 }
    }

    fn write(&mut self, switch: &mut dyn Target) -> Result<Option<u64>, String> {
        let Some(port) = self.ports.get(self.written) else {
            return Err("it has no ports left".to_string());
        };
        let value = Bits::from_u64(9, *port);
        let (register, cells) = (RegisterId(0), CellRange::one(0));
        let update = Update::WriteRegister { register, cells, values: value.into() };
        let outcome = switch.execute(Batch::one(update));
        assert!(outcome.is_ok(), "{outcome:?}");
        self.written += 1;
        Ok((self.written < self.ports.len()).then(|| switch.now_ps() + self.interval_ps))
    }
}

impl Controller for Ports {
    fn name(&self) -> &str {
        "ports"
    }

    fn prologue(&mut self, switch: &mut dyn Target) -> Result<Option<u64>, String> {
        assert_eq!(switch.now_ps(), 0);
        self.write(switch)
    }

    fn round(&mut self, switch: &mut dyn Target) -> Result<Option<u64>, String> {
        self.write(switch)
    }

    fn reload(
        &mut self,
        switch: &mut dyn Target,
        program: &ReadyProgram,
    ) -> Result<Option<u64>, String> {
        assert_eq!(*program.program(), switch.program());
        self.write(switch)
    }
}

/// P4_16 whose first line, `// ports 1 2 3`, is a controller.
struct Marked;

const MILLISECOND_PS: u64 = 1_000_000_000;

impl Frontend for Marked {
    fn name(&self) -> &'static str {
        "Marked"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["marked"]
    }

    fn compile(&self, program: &ProgramFile<'_>, _: Option<&str>) -> Result<Compiled, Failure> {
        let text = program.text()?;
        let ports = text.lines().next().and_then(|line| line.strip_prefix("// ports "));
        let ports = ports.unwrap_or_default().split(' ').filter_map(|port| port.parse().ok());
        let controller = Ports::new(&ports.collect::<Vec<u64>>(), MILLISECOND_PS);
        let checked =
            p4::compile::compile(&program.name(), text.clone(), program, program.preprocessing);
        let compiled = Compiled::lower(checked, program)?;
        Ok(Compiled { controllers: vec![Box::new(controller)], ..compiled })
    }

    fn explanations(&self) -> Vec<&'static Explanation> {
        Vec::new()
    }
}

/// Runs a program with this first line on packets a millisecond apart, the first at time 0; the ports by which
/// they leave, and what is printed.
fn ports(first_line: &str, packets: u64, verify: bool) -> (ExitStatus, Vec<u32>, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let (input, out) = (folder.path().join("in.pcap"), folder.path().join("out"));
    let mut capture = CaptureWriter::create(&input).expect("a capture");
    for number in 0..packets {
        // Half a round later than the controller, but for the first.
        let time_ps = number * MILLISECOND_PS + if number > 0 { MILLISECOND_PS / 2 } else { 0 };
        capture.write(i128::from(time_ps), &[number as u8; 60]).expect("a packet");
    }
    capture.finish().expect("a capture");
    let text = format!("{first_line}\n{PROGRAM}");
    let files = MemoryFiles::new([("a.marked", text.as_str())]);
    let preprocessing = p4::preprocessor::PreprocessorOptions::default();
    let file =
        ProgramFile { path: Path::new("a.marked"), files: &files, preprocessing: &preprocessing };
    let compiled = match Marked.compile(&file, None) {
        Ok(compiled) => compiled,
        Err(failure) => panic!("{}", failure.text()),
    };
    let captures = [(7, input)];
    let run = DeviceRun {
        driver_model: None,
        program: file.path,
        captures: RunCaptures { inputs: &captures, out: &out },
        entries: &[],
        batch_size: None,
        after: &[],
        record_commands: None,
        replay_commands: None,
        pads_snapped: false,
        digests: false,
        json: false,
        engines: if verify { Engines::SideBySide } else { Engines::One(EngineChoice::Jit) },
        pipelines: None,
        trace: None,
        seed: 0,
        until_ps: None,
        device: None,
        cpu_port: None,
        reactions: ReactionRun {
            options: Default::default(),
            reloads: &[],
            preprocessing: &preprocessing,
        },
    };
    let console = Recording::default();
    let status = match device_run::run(compiled, &run, &console) {
        Ok(status) => status,
        Err(failure) => failure.print(&console),
    };
    let mut left: Vec<(u8, u32)> = Vec::new();
    for port in 0..10 {
        let path: PathBuf = out.join(format!("{port}.pcap"));
        if !path.is_file() {
            continue;
        }
        for packet in CaptureReader::open(&path).expect("a capture") {
            left.push((packet.expect("a packet").data[0], port));
        }
    }
    left.sort_unstable();
    (status, left.into_iter().map(|(_, port)| port).collect(), console.text())
}

#[test]
fn controllers_act_before_the_first_packet_and_between_packets() {
    for verify in [false, true] {
        let (status, ports, text) = ports("// ports 3 1 4 1", 5, verify);
        // The rounds are at 1, 2 and 3 ms; packets at 0, 1.5, 2.5, 3.5, 4.5 ms.
        assert_eq!(ports, [3, 1, 4, 1, 1], "{text}");
        assert_eq!(status, ExitStatus::Fine);
        assert_eq!(text.contains("both engines agree on 5 packets"), verify, "{text}");
    }
}

#[test]
fn controllers_that_fail_end_the_run() {
    for verify in [false, true] {
        // No port for the prologue.
        let (status, _, text) = ports("// no controller", 2, verify);
        assert_eq!(status, ExitStatus::WrongInput);
        assert!(text.contains("controller `ports`: it has no ports left"), "{text}");
    }
}

#[test]
fn a_round_that_does_not_advance_ends_the_run() {
    let ready = ReadyProgram::of_text("a.p4", PROGRAM).expect("it compiles");
    let mut device = Device::new(ready.program().clone(), DeviceOptions::default()).expect("loads");
    let begun = Controllers::start(vec![Box::new(Ports::new(&[1, 2, 3], 0))], &mut [&mut device]);
    let mut controllers = begun.expect("the prologue works");
    let ended = controllers.wake(&mut [&mut device]).expect_err("time stands still");
    assert_eq!(ended, "controller `ports`: its next round is at 0 ns, which is not later than now");
}

#[test]
fn controllers_are_replaced_when_the_program_is() {
    let ready = ReadyProgram::of_text("a.p4", PROGRAM).expect("it compiles");
    let options = DeviceOptions { engine: EngineChoice::Interpreter, ..DeviceOptions::default() };
    let mut device = Device::new(ready.program().clone(), options).expect("loads");
    let first = Box::new(Ports::new(&[1, 2], MILLISECOND_PS));
    let mut controllers =
        Controllers::start(vec![first], &mut [&mut device]).expect("the prologue works");
    assert_eq!(controllers.next_ps(), Some(MILLISECOND_PS));
    let again = ReadyProgram::of_text("a.p4", PROGRAM).expect("it compiles");
    device.load_second(again.program().clone()).expect("it loads");
    assert!(device.swap());
    let second = Box::new(Ports::new(&[5], MILLISECOND_PS));
    controllers.reload(vec![second], &again, &mut [&mut device]).expect("it takes over");
    // The second has no loop.
    assert_eq!(controllers.next_ps(), None);
    let read = Read::Register { register: RegisterId(0), cells: CellRange::one(0) };
    let outcome = device.execute(Batch::one(read));
    assert_eq!(outcome.into_reply(), Ok(Reply::Registers(vec![Bits::from_u64(9, 5)])));
}
