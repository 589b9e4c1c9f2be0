// SPDX-License-Identifier: Apache-2.0
//! Our side of the comparison: a device with a workload's program and state, forwarding packets from a
//! ring with one of its engines. The same ring is in C in `benches/c/measuring_main.h`.

use super::packets::Packet;
use super::workload::Workload;
use control::target::Batch;
use device::{Burst, Device, DeviceOptions, EngineChoice};
use ir::ready::ReadyProgram;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Packets that are forwarded together.
pub const BURST_PACKETS: usize = 32;

/// An output: place of the packet in what was given, port, bytes.
pub type Output = (u32, u32, Vec<u8>);

/// An engine that forwards.
pub trait Engine {
    /// Takes the packets that [`Engine::forward`] goes round.
    fn load_ring(&mut self, packets: Vec<Packet>);
    /// Forwards the next `count` packets of the ring, as they were in the beginning, and returns how
    /// many outputs there were. `count` is a multiple of [`BURST_PACKETS`].
    fn forward(&mut self, count: u64) -> u64;
    /// Forwards packets once and returns every output, and the number of digests.
    fn outputs(&mut self, packets: &[Packet]) -> (Vec<Output>, usize);
}

/// The names of our engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineName {
    Jit,
    Interpreter,
}

impl EngineName {
    /// The reference is the last one.
    pub const ALL: [EngineName; 2] = [EngineName::Jit, EngineName::Interpreter];

    pub fn name(self) -> &'static str {
        match self {
            EngineName::Jit => "JIT",
            EngineName::Interpreter => "interpreter",
        }
    }
}

/// How long it took to get ready.
#[derive(Clone, Copy, Debug, Default)]
pub struct Preparation {
    /// From source to the pipeline IR.
    pub front_end: Duration,
    /// From the IR to a device.
    pub load: Duration,
    /// Entries, through the control session and in batches.
    pub entries: Duration,
    /// From the IR to machine code, where there is any.
    pub compile: Option<Duration>,
}

/// A device that is ready to forward a workload.
pub fn prepare(workload: &Workload, name: EngineName) -> (Box<dyn Engine>, Preparation) {
    let mut preparation = Preparation::default();
    let start = Instant::now();
    let program = compile(workload);
    preparation.front_end = start.elapsed();
    let start = Instant::now();
    let mut device = Device::new(program, options(name)).unwrap_or_else(|error| {
        eprintln!("{}: {error}", workload.program_file);
        std::process::exit(1);
    });
    preparation.load = start.elapsed();
    let start = Instant::now();
    write_entries(workload, &mut device);
    preparation.entries = start.elapsed();
    preparation.compile = device.compile_time();
    let engine: Box<dyn Engine> = match name {
        EngineName::Jit => {
            Box::new(Jit { device, ring: Vec::new(), pristine: Vec::new(), next: 0 })
        }
        EngineName::Interpreter => Box::new(Interpreter { device, ring: Vec::new(), next: 0 }),
    };
    (engine, preparation)
}

fn options(name: EngineName) -> DeviceOptions {
    let engine = match name {
        EngineName::Jit => EngineChoice::Jit,
        EngineName::Interpreter => EngineChoice::Interpreter,
    };
    DeviceOptions { engine, ..DeviceOptions::default() }
}

fn compile(workload: &Workload) -> Arc<ir::Program> {
    let ready = ReadyProgram::of_text(&workload.program_file, workload.program.clone());
    let ready = ready.unwrap_or_else(|_| {
        eprintln!("{} does not compile; `plane check` says why", workload.program_file);
        std::process::exit(1);
    });
    ready.lowered().clone()
}

fn write_entries(workload: &Workload, device: &mut Device) {
    let program = device.program();
    let mut session = control::session::Session::new(program.clone());
    let (file, text) = &workload.commands;
    session.run(file, text, &mut device.target()).expect("the entries fit");
    for make in &workload.updates {
        let outcome = device.execute(Batch::of(make(&program)));
        for result in outcome.results {
            result.expect("the entries fit");
        }
    }
}

/// Room for the longest packet of a ring.
const BUFFER_BYTES: usize = 2048;
/// So many packets of the next burst are fetched between setting back as many of this one.
const FETCHED_AT_ONCE: usize = 8;
/// What is set back before a packet is forwarded again; all headers lie within.
const RESTORED_BYTES: usize = 64;

/// Bursts that stay where they are: each packet has a buffer of its own, as in C.
struct Jit {
    device: Device,
    ring: Vec<Burst>,
    /// First bytes of the packets, in the order of the ring.
    pristine: Vec<[[u8; RESTORED_BYTES]; BURST_PACKETS]>,
    next: usize,
}

impl Engine for Jit {
    fn load_ring(&mut self, packets: Vec<Packet>) {
        self.ring.clear();
        self.pristine.clear();
        self.next = 0;
        for chunk in packets.chunks_exact(BURST_PACKETS) {
            let mut burst = Burst::new(BURST_PACKETS, BUFFER_BYTES);
            for packet in chunk {
                burst.push(packet.ingress_port, &packet.bytes).expect("the packet fits");
            }
            let first_bytes = |at: usize| std::array::from_fn(|byte| chunk[at].bytes[byte]);
            self.pristine.push(std::array::from_fn(first_bytes));
            self.ring.push(burst);
        }
    }

    fn forward(&mut self, count: u64) -> u64 {
        let (mut sent, mut ports) = (0, 0);
        for _ in 0..count / BURST_PACKETS as u64 {
            // As in C: the next packets are prefetched while these are forwarded.
            let ahead = if self.next + 1 < self.ring.len() { self.next + 1 } else { 0 };
            self.ring[self.next].rewind();
            let (parts, _) = self.pristine[self.next].as_chunks::<FETCHED_AT_ONCE>();
            for (at, part) in parts.iter().enumerate() {
                let packets = at * FETCHED_AT_ONCE..(at + 1) * FETCHED_AT_ONCE;
                self.ring[ahead].fetch(packets.clone());
                self.ring[self.next].set_all_first_bytes(packets.start, part);
            }
            let burst = &mut self.ring[self.next];
            self.device.forward(burst).expect("the program asserts nothing");
            for output in burst.outputs() {
                sent += 1;
                ports += u64::from(output.port);
            }
            self.next = ahead;
            if self.next == 0 {
                self.device.drain_digests();
            }
        }
        // The sender inspects every output.
        std::hint::black_box(ports);
        sent
    }

    fn outputs(&mut self, packets: &[Packet]) -> (Vec<Output>, usize) {
        let mut outputs = Vec::new();
        let mut burst = Burst::new(BURST_PACKETS, BUFFER_BYTES);
        let mut first = 0;
        for chunk in packets.chunks(BURST_PACKETS) {
            burst.clear();
            for packet in chunk {
                burst.push(packet.ingress_port, &packet.bytes).expect("the packet fits");
            }
            self.device.forward(&mut burst).expect("the program asserts nothing");
            let output = |sent: device::Output<'_>| {
                ((first + sent.packet) as u32, sent.port, sent.bytes.to_vec())
            };
            outputs.extend(burst.outputs().map(output));
            first += chunk.len();
        }
        (outputs, self.device.drain_digests().len())
    }
}

struct Interpreter {
    device: Device,
    ring: Vec<Packet>,
    next: usize,
}

impl Interpreter {
    fn run(&mut self, packet: Packet) -> Vec<device::Transmitted> {
        let now_ps = self.device.now_ps();
        let bytes = packet.bytes;
        self.device.inject(packet.ingress_port, now_ps, bytes).expect("there is such a port");
        self.device.run_to_completion().expect("the program asserts nothing");
        self.device.drain_transmitted()
    }
}

impl Engine for Interpreter {
    fn load_ring(&mut self, packets: Vec<Packet>) {
        self.ring = packets;
        self.next = 0;
    }

    fn forward(&mut self, count: u64) -> u64 {
        let mut sent = 0;
        for _ in 0..count {
            let packet = self.ring[self.next].clone();
            sent += self.run(packet).len() as u64;
            self.next += 1;
            if self.next == self.ring.len() {
                self.next = 0;
                self.device.drain_digests();
            }
        }
        sent
    }

    fn outputs(&mut self, packets: &[Packet]) -> (Vec<Output>, usize) {
        let mut outputs = Vec::new();
        for (at, packet) in packets.iter().enumerate() {
            let sent = self.run(packet.clone());
            outputs.extend(sent.into_iter().map(|sent| (at as u32, sent.port, sent.bytes)));
        }
        (outputs, self.device.drain_digests().len())
    }
}
