// SPDX-License-Identifier: Apache-2.0
//! Generated switches whose ingress runs ahead on workers, under a schedule that a seed chooses, against the same switch on one
//! thread: packets, logs, digests, statistics, cells. Egress runs ahead too where it can.

use crate::controls::{PACKETS, declarations, packet, statements};
use crate::v1model::both_controls;
use control::target::Batch;
use device::{Device, DeviceOptions, EngineChoice, PortOptions};
use ir::RegisterId;
use scale::ahead::{AheadDevice, staged};
use scale::threads::{Schedule, Window};
use state::{CloneSession, MulticastGroup, Replica, Update};
use std::sync::Arc;
use testing::{Choices, seeds, tape};

/// Where packets go.
const ROUTES: [&str; 8] = [
    "",
    "sm.egress_spec = (bit<9>)hdr.h.m;",
    "if (hdr.h.i == 3) { mark_to_drop(sm); }",
    "if (hdr.h.i == 3) { sm.mcast_grp = 1; }",
    "if (hdr.h.i == 2) { sm.mcast_grp = 9; }",
    "if (hdr.h.m == 1) { clone(CloneType.I2E, 5); }",
    "if (hdr.h.m == 1) { digest<bit<32>>(1, hdr.h.v); }",
    "sm.priority = hdr.h.m[2:0]; sm.egress_spec = (bit<9>)hdr.h.i;",
];

/// Declarations and statements of egress.
const EGRESS: [(&str, &str); 10] = [
    ("", ""),
    ("", "hdr.h.w = sm.packet_length + (bit<32>)sm.enq_qdepth + (bit<32>)sm.egress_port;"),
    ("", "hdr.h.w = (bit<32>)sm.egress_global_timestamp + sm.enq_timestamp + sm.deq_timedelta;"),
    ("counter(8, CounterType.packets_and_bytes) seen;", "seen.count((bit<32>)hdr.h.i & 7);"),
    ("", "if (hdr.h.j == 2) { mark_to_drop(sm); } hdr.h.w = hdr.h.v;"),
    ("", "if (hdr.h.j == 2) { hdr.h.setInvalid(); }"),
    ("", "log_msg(\"egress {}\", {hdr.h.v}); hdr.h.w = 1;"),
    ("", "shared.read(x, (bit<32>)hdr.h.i & 7); shared.write((bit<32>)hdr.h.i & 7, x * 3 + hdr.h.v);"),
    ("", "random(x, 0, 1000); hdr.h.w = x;"),
    (
        "direct_counter(CounterType.packets) hits;
         action mark(bit<32> with) { hits.count(); hdr.h.w = with; }
         table marked { key = { sm.egress_port : exact; } actions = { mark; NoAction; }
             const entries = { 1 : mark(7); 2 : mark(9); } counters = hits; default_action = NoAction; }",
        "marked.apply();",
    ),
];

/// Some ports have few queues, or take time.
fn options(choices: &mut Choices, engine: EngineChoice) -> DeviceOptions {
    let mut options = DeviceOptions { engine, cpu_port: Some(5), ..DeviceOptions::default() };
    options.traffic_manager.default_port.queue_count = [8, 2][choices.below(2)];
    if choices.below(3) == 0 {
        let rate_bps = Some(1_000_000_000);
        let slow = PortOptions { rate_bps, ..PortOptions::default() };
        options.traffic_manager.ports.insert(choices.below(4) as u32, slow);
    }
    options
}

fn device(program: &Arc<ir::Program>, options: &DeviceOptions) -> Device {
    let device = Device::new(program.clone(), options.clone()).expect("a device");
    let replicas =
        [(2, 1), (3, 2)].map(|(egress_port, instance)| Replica { egress_port, instance });
    let content = MulticastGroup { replicas: replicas.to_vec(), ..MulticastGroup::default() };
    let group = Update::InsertMulticastGroup { group: 1, content };
    let replicas = replicas[..1].to_vec();
    let content = CloneSession { replicas, ..CloneSession::default() };
    let session = Update::InsertCloneSession { session: 5, content };
    let written = device.execute(Batch::of([group, session]));
    assert!(written.is_ok(), "{written:?}");
    device
}

fn case(choices: &mut Choices, engine: EngineChoice) -> Result<(), String> {
    let route = ROUTES[choices.below(ROUTES.len())];
    let body = format!("{} {route}", statements(choices, 2));
    let egress = EGRESS[choices.below(EGRESS.len())];
    let options = options(choices, engine);
    let (workers, batch, packets) =
        (1 + choices.below(3), 1 + choices.below(5), 1 + choices.below(30));
    let ready = both_controls((&declarations(), &body), egress);
    let Ok(control) = staged(ready.program()) else { return Ok(()) };
    let control = Arc::new(control);
    let mut ordinary = device(ready.program(), &options);
    let cut = device(&control.program, &options);
    let mut random = Choices::from_seed(choices.word());
    let schedule: Schedule = Box::new(move |among| random.below(among));
    let window = Window { batch, packets };
    let mut ahead = AheadDevice::scheduled(cut, control, workers, (window, schedule))?;
    let error = |error: device::DeviceError| error.to_string();
    for number in 0..PACKETS as u64 {
        // Several packets arrive at the same time.
        let (port, time_ps) = ((number % 4) as u32, number / 4 * 700_000);
        let bytes = packet(choices).to_vec();
        if ahead.is_full() {
            ahead.finish_next().map_err(error)?;
        }
        ahead.begin(port, time_ps, bytes.clone()).map_err(error)?;
        ordinary.inject(port, time_ps, bytes).map_err(error)?;
    }
    while ahead.finish_next().map_err(error)? {}
    ahead.halt();
    let (mut ahead, _) = ahead.end();
    let [found, expected] = [&mut ahead, &mut ordinary].map(|device| {
        device.run_to_completion().expect("nothing stops it");
        let cells = device.cells();
        let register = |at: usize| {
            let cells = cells.register(RegisterId(at as u32)).expect("the register");
            (0..cells.size()).map(|index| cells.read(index)).collect::<Vec<_>>()
        };
        let registers: Vec<_> = (0..ready.program().registers.len()).map(register).collect();
        drop(cells);
        let sent = device.drain_transmitted();
        (sent, device.drain_log(), device.drain_digests(), device.statistics(), registers)
    });
    let has_counts = ahead.cells().has_counts_of(&ordinary.cells());
    match found == expected && has_counts {
        true => Ok(()),
        false => Err(format!(
            "{workers} workers\n{body}\n--\n{egress:?}\n{found:?}\n{expected:?}, counts {has_counts}"
        )),
    }
}

fn cases(count: u64, engine: EngineChoice) {
    for seed in seeds(count) {
        let numbers = tape::from_seed(seed, 500);
        let run = |numbers: &[u32]| case(&mut Choices::from_tape(numbers.to_vec()), engine);
        if run(&numbers).is_err() {
            let small = tape::shrink(&numbers, 200, &mut |numbers: &[u32]| run(numbers).is_err());
            panic!("seed {seed}: {}", run(&small).err().unwrap_or_default());
        }
    }
}

#[test]
fn switches_that_run_ahead_are_one_thread() {
    cases(60, EngineChoice::Interpreter);
}

#[test]
fn switches_that_run_ahead_are_one_thread_in_machine_code() {
    cases(20, EngineChoice::Jit);
}
