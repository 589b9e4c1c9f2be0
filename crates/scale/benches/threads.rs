// SPDX-License-Identifier: Apache-2.0
//! One program on threads: packets a second on one and two workers beside the ordinary run on one thread, the overhead of one
//! worker, the work a packet needs for two workers to pay, and what the cycle-level machine fed with these costs expects of
//! more. A compiled P4 program with its device follows, and locks and RSS by hand in C (`benches/c/threads.c`). Results are
//! compared in each run. Beside times stands the processor time of the busiest thread, its waiting included, which other
//! processes of the computer do not change. `--quick` is shorter.

use device::{Device, DeviceOptions};
use ir::ready::ReadyProgram;
use scale::ahead::{AheadDevice, staged};
use scale::design::Design;
use scale::machine::outcome::Arrival;
use scale::machine::{Settings, run};
use scale::synthetic::{Packet, Program, Step, Synthetic};
use scale::threads::{Window, Workers};
use scale::work::{Access, Group, StageOutcome, Work};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

/// That of `plane`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const FLOWS: u32 = 1024;
const DESTINATIONS: u32 = 64;
/// Work of a packet, in nanoseconds, at which runs are measured.
const WORK_NS: [f64; 7] = [0.0, 125.0, 250.0, 500.0, 1000.0, 2000.0, 4000.0];
/// Work of a packet in the runs of C and of the expectation.
const TYPICAL_NS: f64 = 2000.0;

/// Steps of a computation that nothing shortens; `benches/c/threads.c` has the same.
fn compute(seed: u64, steps: u64) -> u64 {
    let mut x = seed | 1;
    for _ in 0..steps {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    x
}

/// A synthetic program that computes in its first stage.
#[derive(Clone, Debug)]
struct Computing {
    inner: Synthetic,
    steps: u64,
}

impl Work for Computing {
    type Packet = Packet;

    fn stages(&self) -> usize {
        self.inner.stages()
    }

    fn groups(&self) -> &[Group] {
        self.inner.groups()
    }

    fn resolve(&mut self, packet: &mut Packet, accesses: &mut Vec<Access>) {
        self.inner.resolve(packet, accesses);
    }

    fn run(&mut self, stage: usize, pipeline: usize, packet: &mut Packet) -> StageOutcome {
        if stage == 0 {
            black_box(compute(packet.id, self.steps));
        }
        self.inner.run(stage, pipeline, packet)
    }

    fn move_cell(&mut self, access: Access, from: usize, to: usize) {
        self.inner.move_cell(access, from, to);
    }
}

/// A cell of the flow, then one of its destination.
fn program() -> Arc<Program> {
    let group = |name: &str, stage, cells| Group { name: name.to_string(), stage, cells };
    let step = |group, cell| Step::plain(Access { group, cell });
    let flows = (0..FLOWS).map(|flow| vec![step(0, flow), step(1, flow % DESTINATIONS)]);
    let groups = vec![group("flows", 0, FLOWS), group("destinations", 1, DESTINATIONS)];
    Arc::new(Program { stages: 2, groups, flows: flows.collect() })
}

fn packets(count: u64) -> Vec<Packet> {
    (0..count).map(|id| Packet::new(id, (compute(id + 7, 9) % u64::from(FLOWS)) as u32)).collect()
}

/// Nanoseconds a packet of the fastest of some rounds.
fn fastest(rounds: u32, packets: usize, mut round: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..rounds {
        let start = Instant::now();
        round();
        best = best.min(start.elapsed().as_nanos() as f64);
    }
    best / packets as f64
}

/// Nanoseconds that each thread of this process has run on a core, by thread.
fn busy_nanoseconds() -> BTreeMap<OsString, u64> {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let busy = tasks.filter_map(|task| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        Some((task.file_name(), text.split_whitespace().next()?.parse().ok()?))
    });
    busy.collect()
}

/// Nanoseconds of the thread that was busiest since a time.
fn busiest_since(before: &BTreeMap<OsString, u64>) -> f64 {
    let since = |(thread, now): (OsString, u64)| now - before.get(&thread).copied().unwrap_or(0);
    busy_nanoseconds().into_iter().map(since).max().unwrap_or(0) as f64
}

/// The ordinary run: packets one after the other.
fn one_after_the_other(work: &mut Computing, packets: &[Packet]) -> Vec<Packet> {
    let mut accesses = Vec::new();
    let run = |packet: &Packet| {
        let mut packet = packet.clone();
        accesses.clear();
        work.resolve(&mut packet, &mut accesses);
        for stage in 0..2 {
            work.run(stage, 0, &mut packet);
        }
        packet
    };
    packets.iter().map(run).collect()
}

/// The packets that leave, and the nanoseconds of the busiest thread.
fn on_workers(work: &Computing, workers: usize, packets: &[Packet]) -> (Vec<Packet>, f64) {
    let before = busy_nanoseconds();
    let works = vec![work.clone(); workers];
    let mut workers = Workers::start(works, Window::default()).expect("threads");
    let mut ended = Vec::with_capacity(packets.len());
    for packet in packets {
        if workers.is_full() {
            ended.extend(workers.pop());
        }
        workers.push(packet.clone());
    }
    ended.extend(std::iter::from_fn(|| workers.pop()));
    (ended, busiest_since(&before))
}

/// Nanoseconds a packet: ordinary, on one worker, on two, and of the busiest of the two.
fn measure(rounds: u32, count: u64, steps: u64) -> [f64; 4] {
    let packets = packets(count);
    let work = Computing { inner: Synthetic::new(program(), 1), steps };
    let expected = one_after_the_other(&mut work.clone(), &packets);
    let ordinary = fastest(rounds, packets.len(), || {
        black_box(one_after_the_other(&mut work.clone(), &packets));
    });
    let mut busiest = f64::INFINITY;
    let [one, two] = [1, 2].map(|workers| {
        busiest = f64::INFINITY;
        fastest(rounds, packets.len(), || {
            let (ended, busy) = on_workers(&work, workers, &packets);
            assert!(ended == expected, "another order");
            busiest = busiest.min(busy / packets.len() as f64);
        })
    });
    [ordinary, one, two, busiest]
}

/// Packets that the machine runs at once with this number of pipelines: its cycle is a packet's time on a worker.
fn parallelism(pipelines: usize) -> f64 {
    let program = program();
    let arrivals = packets(20_000).into_iter().map(|packet| Arrival {
        cycle: packet.id / pipelines as u64,
        port: (packet.id % pipelines as u64) as u32,
        packet,
    });
    let arrivals: Vec<Arrival<Packet>> = arrivals.collect();
    let count = arrivals.len() as f64;
    let mut work = Synthetic::new(program, pipelines);
    let outcome =
        run(&mut work, arrivals, Settings::new(pipelines), &Design::mp5(u64::MAX), &mut ());
    count / outcome.measures.cycles as f64
}

fn workers(rounds: u32, count: u64) {
    let steps_for = |work_ns: f64| {
        let steps = 100_000;
        let a_step = fastest(5, steps as usize, || {
            black_box(compute(black_box(1), steps));
        });
        (work_ns / a_step) as u64
    };
    println!(
        "{:>10} {:>10} {:>10} {:>10} {:>10} {:>10}",
        "work ns", "ordinary", "N = 1", "N = 2", "speed-up", "busiest"
    );
    let mut rows = Vec::new();
    for work_ns in WORK_NS {
        let [ordinary, one, two, busiest] = measure(rounds, count, steps_for(work_ns));
        let speed_up = ordinary / two;
        println!(
            "{work_ns:>10.0} {ordinary:>10.0} {one:>10.0} {two:>10.0} {speed_up:>10.2} {busiest:>10.0}"
        );
        rows.push((work_ns, ordinary, one, two, busiest));
    }
    let (_, ordinary, one, ..) = rows[0];
    let overhead = one - ordinary;
    println!("packets/s at {TYPICAL_NS} ns of work:");
    if let Some((_, ordinary, one, two, busiest)) = rows.iter().find(|row| row.0 == TYPICAL_NS) {
        let both_free = ordinary / busiest;
        println!("  N = 2 with both cores free: speed-up {both_free:.2}");
        for (name, ns) in [("ordinary", ordinary), ("N = 1", one), ("N = 2", two)] {
            println!("  {name:<10} {:>12.0}", 1e9 / ns);
        }
    }
    println!("overhead of N = 1: {overhead:.0} ns a packet");
    // Both cores are rarely free: the busiest thread's time is what two workers need then.
    let pays = rows.windows(2).find(|pair| pair[0].4 > pair[0].1 && pair[1].4 <= pair[1].1);
    match pays {
        Some([(low, ordinary, _, _, slow), (high, more, _, _, fast)]) => {
            let (loss, gain) = (slow - ordinary, more - fast);
            let work_ns = low + (high - low) * loss / (loss + gain);
            println!("break-even with both cores free: {work_ns:.0} ns of work a packet");
        }
        _ => println!("break-even: outside of what was measured"),
    }
    println!(
        "expected at {TYPICAL_NS} ns of work (the machine's packets at once, and this overhead):"
    );
    for pipelines in [2, 4, 8, 16] {
        let at_once = parallelism(pipelines);
        let ns = (TYPICAL_NS + overhead) / at_once;
        // The first worker also takes all packets in and out, which bounds the whole.
        let bound = overhead;
        let speed_up = (TYPICAL_NS + ordinary) / ns.max(bound);
        println!(
            "  N = {pipelines:<3} {at_once:>6.2} packets at once, {:>9.0} packets/s, speed-up {speed_up:.2}",
            1e9 / ns.max(bound)
        );
    }
    if let Err(message) = in_c(count, steps_for(TYPICAL_NS)) {
        println!("no comparison with C: {message}");
    }
}

/// Locks by cell and RSS.
fn in_c(count: u64, steps: u64) -> Result<(), String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/c/threads.c");
    let folder = std::env::temp_dir().join(format!("planewright-threads-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let binary = folder.join("threads");
    let status = Command::new("gcc")
        .args(["-std=gnu11", "-O3", "-march=native", "-pthread", "-o"])
        .args([&binary, &source])
        .status();
    let built = status.map_err(|error| format!("gcc: {error}"))?;
    println!("by hand in C, {count} packets, {} cells:", FLOWS + DESTINATIONS);
    println!(
        "{:>10} {:>8} {:>12} {:>16} {:>14}",
        "", "threads", "ns a packet", "packets differ", "cells differ"
    );
    for threads in ["1", "2", "8"] {
        let output = Command::new(&binary)
            .args([&count.to_string(), threads, &steps.to_string()])
            .output()
            .map_err(|error| error.to_string())?;
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [name, ns, packets, cells] = words[..] else { continue };
            println!("{name:>10} {threads:>8} {ns:>12} {packets:>16} {cells:>14}");
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    if built.success() { Ok(()) } else { Err("gcc failed".to_string()) }
}

/// A program that hashes its header so many times, then updates two registers at indices of the packet.
fn hashing_program(hashes: usize) -> ReadyProgram {
    let mut body = String::new();
    let fields: Vec<String> = (0..16).map(|at| format!("hdr.h.f{at}")).collect();
    for _ in 0..hashes {
        body.push_str(&format!(
            "hash(meta.x, HashAlgorithm.crc32, 32w0, {{ {}, meta.x }}, 64w0x100000000);\n",
            fields.join(", ")
        ));
    }
    let declared: String = (0..16).map(|at| format!("bit<32> f{at}; ")).collect();
    let text = format!(
        "#include <core.p4>
#include <v1model.p4>
header h_t {{ {declared} bit<32> seen; bit<32> mixed; }}
struct headers {{ h_t h; }}
struct metadata {{ bit<32> x; bit<32> i; bit<32> j; bit<32> a; bit<32> b; }}
parser P(packet_in p, out headers hdr, inout metadata meta, inout standard_metadata_t sm) {{
    state start {{ p.extract(hdr.h); transition accept; }}
}}
control V(inout headers hdr, inout metadata meta) {{ apply {{ }} }}
control I(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) {{
    register<bit<32>>({FLOWS}) flows;
    register<bit<32>>({DESTINATIONS}) destinations;
    apply {{
        sm.egress_spec = 1;
        {body}
        hdr.h.mixed = meta.x;
        hash(meta.i, HashAlgorithm.crc16, 32w0, {{ hdr.h.f0, hdr.h.f1 }}, 32w{FLOWS});
        flows.read(meta.a, meta.i);
        meta.a = meta.a * 31 + hdr.h.f2;
        flows.write(meta.i, meta.a);
        hdr.h.seen = meta.a;
        meta.j = hdr.h.f1 & ({DESTINATIONS} - 1);
        destinations.read(meta.b, meta.j);
        meta.b = meta.b * 31 + hdr.h.f2;
        destinations.write(meta.j, meta.b);
        hdr.h.mixed = hdr.h.mixed ^ meta.b;
    }}
}}
control E(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) {{ apply {{ }} }}
control C(inout headers hdr, inout metadata meta) {{ apply {{ }} }}
control D(packet_out p, in headers hdr) {{ apply {{ p.emit(hdr.h); }} }}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"
    );
    ReadyProgram::of_text("hashing.p4", text).expect("the program is right")
}

fn frames(count: u64) -> Vec<Vec<u8>> {
    let frame = |id: u64| {
        let word = |at: u64| (compute(id * 31 + at + 7, 9) >> 8) as u32;
        (0..18).flat_map(|at| word(at).to_be_bytes()).collect()
    };
    (0..count).map(frame).collect()
}

/// Time between packets, in picoseconds.
const GAP_PS: u64 = 1_000_000;

type Sent = Vec<device::Transmitted>;

/// The ordinary run on one thread, as `plane run` has it.
fn on_device(program: &ReadyProgram, frames: &[Vec<u8>]) -> (Sent, f64) {
    let mut device =
        Device::new(program.program().clone(), DeviceOptions::default()).expect("loads");
    let mut sent = Vec::new();
    let start = Instant::now();
    for (time_ps, frame) in (0..).step_by(GAP_PS as usize).zip(frames) {
        device.advance(time_ps).expect("it runs");
        device.inject(0, time_ps, frame.clone()).expect("it is later");
        sent.append(&mut device.drain_transmitted());
    }
    device.run_to_completion().expect("it runs");
    sent.append(&mut device.drain_transmitted());
    (sent, start.elapsed().as_nanos() as f64 / frames.len() as f64)
}

fn on_pipelines(program: &ReadyProgram, workers: usize, frames: &[Vec<u8>]) -> (Sent, f64) {
    let control = Arc::new(staged(program.program()).expect("it runs on pipelines"));
    let device = Device::new(control.program.clone(), DeviceOptions::default()).expect("loads");
    let mut ahead = AheadDevice::start(device, control, workers).expect("threads");
    let mut sent = Vec::new();
    let start = Instant::now();
    for (time_ps, frame) in (0..).step_by(GAP_PS as usize).zip(frames) {
        if ahead.is_full() {
            for _ in 0..ahead.burst() {
                ahead.finish_next().expect("it runs");
            }
            sent.append(&mut ahead.device.drain_transmitted());
        }
        ahead.begin(0, time_ps, frame.clone()).expect("it is later");
    }
    while ahead.finish_next().expect("it runs") {}
    ahead.device.run_to_completion().expect("it runs");
    sent.append(&mut ahead.device.drain_transmitted());
    let taken = start.elapsed().as_nanos() as f64 / frames.len() as f64;
    (sent, taken)
}

fn devices(rounds: u32, count: u64) {
    let frames = frames(count);
    println!("compiled P4 with its device, nanoseconds a packet:");
    println!(
        "{:>12} {:>12} {:>12} {:>12} {:>10}",
        "hashes", "ordinary", "N = 1", "N = 2", "speed-up"
    );
    for hashes in [0, 16, 32, 64, 128, 256] {
        let program = hashing_program(hashes);
        let mut best = [f64::INFINITY; 3];
        for _ in 0..rounds {
            let (expected, ordinary) = on_device(&program, &frames);
            best[0] = best[0].min(ordinary);
            for workers in [1, 2] {
                let (sent, taken) = on_pipelines(&program, workers, &frames);
                assert!(sent == expected, "{workers} workers send other packets");
                best[workers] = best[workers].min(taken);
            }
        }
        let [ordinary, one, two] = best;
        println!("{hashes:>12} {ordinary:>12.0} {one:>12.0} {two:>12.0} {:>10.2}", ordinary / two);
    }
}

fn main() {
    let has = |wanted: &str| std::env::args().any(|argument| argument == wanted);
    let (rounds, count) = if has("--quick") { (3, 20_000) } else { (7, 100_000) };
    if !has("--devices") {
        workers(rounds, count);
    }
    devices(rounds, count);
}
