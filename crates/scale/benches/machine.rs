// SPDX-License-Identifier: Apache-2.0
//! Simulated cycles a second of the machine at the defaults of MP5 §4.3 (4 pipelines, 16 stages, four arrays of 512 cells, 64 B), with
//! values: alone, and with the run on one pipeline and the judge. Beside it the same machine, specialised by hand in C++
//! (`benches/c/mp5.cc`); both must give the same results. `--quick` is shorter.

use scale::design::Design;
use scale::judge::{judge, reference};
use scale::machine::outcome::{Arrival, Outcome};
use scale::machine::{Settings, run};
use scale::synthetic::{Packet, Program, Synthetic};
use scale::traffic::{Flows, PacketOptions, Pattern, Sharing, Sizes, arrivals, packets, program};
use scale::work::Access;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

const PIPELINES: usize = 4;
const STAGES: usize = 16;
const CELLS: u32 = 512;
const REMAP_EVERY: u64 = 100;
/// Packets of each port in long runs.
const LONG: u32 = 2000;

/// The program and its packets.
fn workload(per_port: u32) -> (Arc<Program>, Vec<Arrival<Packet>>) {
    let sharing = Sharing::Own;
    let flows = Flows { stages: STAGES, stateful: 4, cells: CELLS, sharing }.generate(1);
    let options = PacketOptions {
        ports: 64,
        pipelines: PIPELINES as u32,
        per_port,
        sizes: Sizes::Fixed(64),
        pattern: Pattern::Uniform,
        flows: flows.len() as u32,
    };
    let arrivals = arrivals(&packets(&options, 1), flows.len() as u32);
    (Arc::new(program(STAGES, CELLS, &flows)), arrivals)
}

/// What both sides must agree on.
#[derive(Debug, PartialEq, Eq)]
struct Results {
    last_departure: u64,
    remaps: u64,
    /// A sum over packets that depends on their values and cycles.
    packets: u64,
    /// A sum over cells that depends on their values and pipelines.
    cells: u64,
}

fn results(work: &Synthetic, outcome: &Outcome<Packet>) -> Results {
    let mut packets = 0_u64;
    for left in &outcome.departures {
        let word = left.packet.value.wrapping_add(left.cycle.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        packets = packets.wrapping_add(word.wrapping_mul(left.sequence + 1));
    }
    let mut cells = 0_u64;
    for (group, map) in outcome.map.iter().enumerate() {
        for (cell, pipeline) in map.iter().enumerate() {
            let access = Access { group: group as u32, cell: cell as u32 };
            let value =
                work.value(access, usize::from(*pipeline)).wrapping_add(u64::from(*pipeline));
            cells = cells.wrapping_mul(31).wrapping_add(value);
        }
    }
    let measures = &outcome.measures;
    Results { last_departure: measures.last_departure, remaps: measures.remaps, packets, cells }
}

/// Compiles the C++ and runs it on the workload: its results and the nanoseconds of its fastest round.
fn in_cpp(
    program: &Program,
    arrivals: &[Arrival<Packet>],
    rounds: u32,
) -> Result<(Results, u64), String> {
    let folder = std::env::temp_dir().join(format!("planewright-mp5-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let result = run_in_cpp(&folder, program, arrivals, rounds);
    let _ = std::fs::remove_dir_all(&folder);
    result
}

fn run_in_cpp(
    folder: &Path,
    program: &Program,
    arrivals: &[Arrival<Packet>],
    rounds: u32,
) -> Result<(Results, u64), String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/c/mp5.cc");
    let binary = folder.join("mp5");
    let mut command = Command::new("g++");
    command.args(["-std=c++17", "-O3", "-march=native", "-o"]).arg(&binary);
    command.arg(format!("-DPIPELINES={PIPELINES}")).arg(format!("-DSTAGES={STAGES}"));
    command.arg(format!("-DCELLS={CELLS}")).arg(format!("-DREMAP_EVERY={REMAP_EVERY}"));
    for (index, group) in program.groups.iter().enumerate() {
        command.arg(format!("-DARRAY_{index}={}", group.stage));
    }
    let status = command.arg(&source).status().map_err(|error| format!("g++: {error}"))?;
    if !status.success() {
        return Err("g++ failed".to_string());
    }
    let mut input = String::new();
    let _ = writeln!(input, "{} {} {rounds}", program.flows.len(), arrivals.len());
    for flow in &program.flows {
        let _ = write!(input, "{}", flow.len());
        for step in flow {
            let _ = write!(input, " {} {}", step.access.group, step.access.cell);
        }
        input.push('\n');
    }
    for arrival in arrivals {
        let _ = writeln!(input, "{} {}", arrival.cycle, arrival.packet.flow);
    }
    let file = folder.join("packets.txt");
    std::fs::write(&file, input).map_err(|error| error.to_string())?;
    let output = Command::new(&binary).arg(&file).output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<u64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [last_departure, remaps, packets, cells, nanoseconds] = numbers[..] else {
        return Err(format!("the C++ printed {text}"));
    };
    Ok((Results { last_departure, remaps, packets, cells }, nanoseconds))
}

/// The nanoseconds that this thread has run on its core; other processes do not count.
fn busy_nanoseconds() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or_default()
}

fn main() {
    let is_quick = std::env::args().any(|argument| argument == "--quick");
    let rounds = if is_quick { 3 } else { 9 };
    // The paper's runs are short. In long runs queues grow, and packets in flight no longer fit into the caches near the core.
    measure(100, rounds);
    if !is_quick {
        measure(LONG, rounds);
    }
}

/// Measures with so many packets of each port.
fn measure(per_port: u32, rounds: u32) {
    let (program, arrivals) = workload(per_port);
    let design = Design::mp5(REMAP_EVERY);
    // The time of a thread is exact to a tick of the scheduler, so a round takes many of them.
    let repeats = (LONG / per_port).max(1);
    let mut ours = None;
    let (mut alone, mut judged) = (u64::MAX, u64::MAX);
    let mut cycles = 0;
    for _ in 0..rounds {
        let start = busy_nanoseconds();
        for _ in 0..repeats {
            let mut work = Synthetic::new(program.clone(), PIPELINES);
            let settings = Settings { logs_accesses: false, ..Settings::new(PIPELINES) };
            let outcome = run(&mut work, arrivals.clone(), settings, &design, &mut ());
            cycles = outcome.measures.cycles;
            ours = Some((work, outcome));
        }
        alone = alone.min((busy_nanoseconds() - start) / u64::from(repeats));
        let start = busy_nanoseconds();
        for _ in 0..repeats {
            let mut work = Synthetic::new(program.clone(), PIPELINES);
            let settings = Settings::new(PIPELINES);
            let outcome = run(&mut work, arrivals.clone(), settings, &design, &mut ());
            let mut single = Synthetic::new(program.clone(), 1);
            let expected = reference(&mut single, &arrivals);
            assert!(judge(&work, &outcome, &mut single, &expected).is_equivalent());
        }
        judged = judged.min((busy_nanoseconds() - start) / u64::from(repeats));
    }
    let ours = ours.map(|(work, outcome)| results(&work, &outcome));
    let rate = |nanoseconds: u64| cycles as f64 * 1e9 / nanoseconds as f64;
    println!("{} packets, {cycles} cycles, best of {rounds} rounds", arrivals.len());
    println!("machine with values            {:>12.0} cycles/s", rate(alone));
    println!("with one pipeline and judge    {:>12.0} cycles/s", rate(judged));
    match in_cpp(&program, &arrivals, rounds) {
        Ok((theirs, nanoseconds)) => {
            assert_eq!(ours, Some(theirs), "the C++ gives other results");
            println!("C++, specialised by hand       {:>12.0} cycles/s", rate(nanoseconds));
            println!("machine / C++                  {:>12.2}", nanoseconds as f64 / alone as f64);
        }
        Err(message) => println!("no comparison with C++: {message}"),
    }
}
