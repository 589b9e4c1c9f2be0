// SPDX-License-Identifier: Apache-2.0
//! Costs of dialogues of the agent (Mantis §6) with a switch in the same process and on the same thread:
//!
//!     cargo bench -p react --bench dialogues
//!
//! Each dialogue flips the working copy, waits, reads, calls a reaction in this process and commits if something changed.
//! Times are medians of batches, in nanoseconds a dialogue. Idle: no packets. Under load: a burst of 32 packets between two
//! dialogues; the packets/s with dialogues stand beside those of the same program without an agent, and of the program with
//! constants. Needs a C compiler.

mod reacting_switch;

use control::target::Target;
use device::Device;
use react::agent::Agent;
use reacting_switch::{ReactingSwitch, as_written};
use std::fmt::Write;
use std::time::{Duration, Instant};

const BATCHES: usize = 11;
const BATCH_TIME: Duration = Duration::from_millis(30);
/// Packets between two dialogues.
const BURST: u64 = 32;
/// Simulated time from dialogue to dialogue.
const STEP_PS: u64 = 1_000_000;

/// A program that measures this many cells, or one field, and writes this many entries in each dialogue.
fn program(cells: usize, entries: usize) -> String {
    let mut body = String::from("static uint32_t calls; calls++; ");
    let argument = match cells {
        0 => "ing hdr.ip.src".to_string(),
        cells => format!("reg depths[0:{}]", cells - 1),
    };
    match (cells, entries) {
        (_, 0) => body.push_str("(void)calls;"),
        (0, 1) => body.push_str("${level} = calls + hdr.ip.src;"),
        (_, 1) => body.push_str("${level} = calls + depths[0];"),
        (_, entries) => {
            let _ = write!(
                body,
                "static uint64_t handles[{entries}]; for (int i = 0; i < {entries}; i++) {{ if (handles[i]) \
                 t_mod_send(handles[i], calls & 7); else handles[i] = t_add_send(i, 1); }}"
            );
        }
    }
    format!(
        "#include <core.p4>
#include <v1model.p4>
header ip_t {{ bit<32> src; bit<32> dst; }}
struct headers_t {{ ip_t ip; }}
struct meta_t {{ bit<32> level; }}
malleable value bit<32> level {{ init = 1; }}
parser P(packet_in p, out headers_t hdr, inout meta_t meta, inout standard_metadata_t s) {{
    state start {{ p.extract(hdr.ip); transition accept; }}
}}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t s) {{
    register<bit<32>>(256) depths;
    action send(bit<9> port) {{ s.egress_spec = port; }}
    malleable table t {{
        key = {{ hdr.ip.dst: exact; }}
        actions = {{ send; NoAction; }}
        default_action = send(1);
        size = 1024;
    }}
    apply {{
        meta.level = ${{level}};
        depths.write(hdr.ip.src & 255, hdr.ip.dst + meta.level);
        t.apply();
    }}
}}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t s) {{ apply {{ }} }}
control C(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control D(packet_out p, in headers_t hdr) {{ apply {{ p.emit(hdr.ip); }} }}
reaction r({argument}) {{ {body} }}
V1Switch(P(), C(), I(), E(), C(), D()) main;
"
    )
}

/// A switch that runs the program as run, or as written, with an agent or without.
struct Bench {
    device: Device,
    agent: Option<(Agent, Box<dyn Target>)>,
    now_ps: u64,
}

impl Bench {
    fn new(text: &str, is_written: bool, has_agent: bool) -> Bench {
        if is_written {
            return Bench { device: as_written(text), agent: None, now_ps: 0 };
        }
        let ReactingSwitch { device, target, agent } = ReactingSwitch::new(text);
        Bench { device, agent: has_agent.then_some((agent, target)), now_ps: 0 }
    }

    /// Lets time pass, with packets or without, then runs one dialogue. Returns the time of the dialogue.
    fn step(&mut self, packets: u64) -> Duration {
        self.now_ps += STEP_PS;
        for number in 0..packets {
            let number = (self.now_ps / STEP_PS * packets + number) as u32;
            let mut bytes = vec![0; 64];
            bytes[..4].copy_from_slice(&number.to_be_bytes());
            bytes[4..8].copy_from_slice(&(number % 512).to_be_bytes());
            self.device.inject(0, self.now_ps, bytes).expect("it is taken");
        }
        self.device.advance(self.now_ps).expect("it runs");
        if packets > 0 {
            assert_eq!(self.device.drain_transmitted().len() as u64, packets);
        }
        let Some((agent, target)) = &mut self.agent else { return Duration::ZERO };
        let begin = Instant::now();
        agent.round(target.as_mut()).expect("it reacts");
        begin.elapsed()
    }

    /// The median over batches of what a step and its dialogue take, in nanoseconds.
    fn measure(&mut self, packets: u64) -> (f64, f64) {
        let mut batch = |steps: u32| {
            let (begin, mut dialogues) = (Instant::now(), Duration::ZERO);
            for _ in 0..steps {
                dialogues += self.step(packets);
            }
            (begin.elapsed(), dialogues)
        };
        let mut steps = 1;
        while batch(steps).0 < BATCH_TIME {
            steps *= 2;
        }
        let mut times: Vec<(f64, f64)> = Vec::new();
        for _ in 0..BATCHES {
            let (all, dialogues) = batch(steps);
            let each = |time: Duration| time.as_nanos() as f64 / f64::from(steps);
            times.push((each(all), each(dialogues)));
        }
        times.sort_by(|one, other| one.0.total_cmp(&other.0));
        let all = times[BATCHES / 2].0;
        times.sort_by(|one, other| one.1.total_cmp(&other.1));
        (all, times[BATCHES / 2].1)
    }
}

fn main() {
    println!("{:>10} {:>10} {:>14} {:>14}", "measured", "written", "idle, ns", "loaded, ns");
    let kinds = [(0, 0), (0, 1), (1, 1), (16, 1), (256, 1), (0, 16), (0, 256)];
    // For profilers: the number of one row.
    let chosen = std::env::args().find_map(|argument| argument.parse::<usize>().ok());
    for (number, (cells, entries)) in kinds.into_iter().enumerate() {
        if chosen.is_some_and(|chosen| chosen != number) {
            continue;
        }
        let text = program(cells, entries);
        let mut bench = Bench::new(&text, false, true);
        let (_, idle) = bench.measure(0);
        let (_, loaded) = bench.measure(BURST);
        let (agent, _) = bench.agent.as_mut().expect("an agent");
        let statistics = agent.statistics();
        assert_eq!(statistics.failed_commits, 0, "{:?}", agent.take_log());
        assert_eq!(statistics.commits > 1, entries > 0, "{statistics:?}");
        let measured = match cells {
            0 => "1 field".to_string(),
            cells => format!("{cells} cells"),
        };
        let written = match entries {
            0 => "nothing".to_string(),
            1 => "1 value".to_string(),
            entries => format!("{entries} rows"),
        };
        println!("{measured:>10} {written:>10} {idle:>14.0} {loaded:>14.0}");
    }
    if chosen.is_some() {
        return;
    }
    let text = program(0, 1);
    let rate = |time_ns: f64| BURST as f64 / time_ns * 1e9;
    let without = rate(Bench::new(&text, false, false).measure(BURST).0);
    let written = rate(Bench::new(&text, true, false).measure(BURST).0);
    let (all, dialogue) = Bench::new(&text, false, true).measure(BURST);
    let beside = rate(all - dialogue);
    println!();
    println!("packets/s on one thread, bursts of {BURST}:");
    let row = |what: &str, rate: f64| println!("{what:>40} {rate:>12.0} {:>7.3}", rate / without);
    row("as run, without an agent", without);
    row("as written, without an agent", written);
    row("as run, between dialogues", beside);
    row("as run, with the time of dialogues", rate(all));
}
