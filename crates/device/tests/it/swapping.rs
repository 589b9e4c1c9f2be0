// SPDX-License-Identifier: Apache-2.0
//! Swaps of programs under traffic and writes of a control plane: no packet is lost, none mixes two programs, and unused
//! programs are freed.

use crate::hand_built::program;
use crate::setup::{ENGINES, on, replicas, write};
use control::target::{Batch, Fault, Target};
use device::{Burst, Device, EngineChoice, OutputPath};
use ir::{Bits, Program, RegisterId};
use state::{CellRange, MulticastGroup, Read, Reply, Update};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Packets per burst.
const BURST: usize = 8;

/// A program that writes its number into every packet, in ingress and in egress.
fn numbered(number: u64) -> Arc<Program> {
    program(
        |code| {
            code.copy("hdr.h.arg", "standard_metadata.mcast_grp");
            code.set("hdr.h.a", number);
            code.set("standard_metadata.egress_spec", 3);
        },
        |code| code.set("hdr.h.b", number),
    )
}

fn packet(group: u8) -> Vec<u8> {
    vec![0, group, 0, 0, 0, 0, 0, 0, 0, 0, 42]
}

/// The program numbers of ingress and egress in a packet.
fn numbers(bytes: &[u8]) -> (u8, u8) {
    (bytes[5], bytes[9])
}

fn device(engine: EngineChoice) -> Device {
    Device::new(numbered(1), on(engine)).expect("loads")
}

/// Whether this process runs one test only. Else it runs this test in a process of its own, which has to succeed.
fn is_alone(test: &str) -> bool {
    const VARIABLE: &str = "PLANEWRIGHT_TEST_PROCESS";
    if std::env::var_os(VARIABLE).is_some() {
        return true;
    }
    let program = std::env::current_exe().expect("the test program has a path");
    let mut command = std::process::Command::new(program);
    let run = command.args(["--exact", test]).env(VARIABLE, "1").output().expect("it starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
    false
}

/// Memory of this process in bytes. `None` on systems without `/proc`.
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

fn forward(device: &mut Device, burst: &mut Burst, group: u8) -> Vec<(u32, (u8, u8))> {
    burst.clear();
    for port in 0..BURST {
        burst.push(port as u32, &packet(group)).expect("it fits");
    }
    device.forward(burst).expect("no assertion fails");
    burst.outputs().map(|sent| (sent.port, numbers(sent.bytes))).collect()
}

#[test]
fn a_thousand_swaps_under_load() {
    // The test measures the memory of its process.
    if !is_alone("swapping::a_thousand_swaps_under_load") {
        return;
    }
    for engine in ENGINES {
        let mut device = device(engine);
        write_cell(&device, 2, 55);
        let mut burst = Burst::new(BURST, 256);
        let mut first = None;
        let mut held = 0;
        for round in 0..1000u64 {
            let (old, new) = ((round % 2) + 1, ((round + 1) % 2) + 1);
            let expected = |number: u64| vec![(3, (number as u8, number as u8)); BURST];
            assert_eq!(forward(&mut device, &mut burst, 0), expected(old));
            device.load_second(numbered(new)).expect("loads");
            assert_eq!(forward(&mut device, &mut burst, 0), expected(old));
            let holds = round % 50 == 7;
            if holds {
                // The old program enqueues these, and they leave after the swap.
                device.pause(OutputPath::Port(3), None);
                assert_eq!(forward(&mut device, &mut burst, 0), []);
            }
            assert!(device.swap());
            assert_eq!(device.loaded_programs(), if holds { 2 } else { 1 });
            if holds {
                device.resume(OutputPath::Port(3), None);
                device.run_to_completion().expect("no assertion fails");
                let sent = device.drain_transmitted();
                assert_eq!(sent.len(), BURST);
                assert!(sent.iter().all(|sent| numbers(&sent.bytes) == (old as u8, old as u8)));
                held += BURST as u64;
            }
            assert_eq!(forward(&mut device, &mut burst, 0), expected(new));
            assert_eq!(device.loaded_programs(), 1);
            if round == 100 {
                first = resident_bytes();
            }
        }
        let carried = device.cells().register(RegisterId(0)).and_then(|cells| cells.read(2));
        assert_eq!(carried, Some(Bits::from_u64(32, 55)));
        let statistics = device.statistics();
        let sent = statistics.ports[&3].sent_packets;
        assert_eq!((sent, statistics.dropped_packets()), (3000 * BURST as u64 + held, 0));
        if let (Some(first), Some(last)) = (first, resident_bytes()) {
            // Leaked code or state of 900 programs would be far more.
            assert!(last < first + (24 << 20), "{engine:?}: {first} bytes, then {last}");
        }
    }
}

#[test]
fn swaps_while_a_control_plane_writes() {
    for engine in ENGINES {
        let mut device = device(engine);
        let mut target = device.target();
        let group = |at: u32| {
            // Both copies have the same port, so the packet saw a whole write.
            let port = 5 + at % 2;
            let replicas = replicas(&[(port, 1), (port, 2)]);
            MulticastGroup { replicas, ..MulticastGroup::default() }
        };
        write(&device, [Update::InsertMulticastGroup { group: 1, content: group(0) }]);
        let is_over = AtomicBool::new(false);
        let (writes, cell_writes) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            let (is_over, writes, cell_writes) = (&is_over, &writes, &cell_writes);
            let writer = scope.spawn(move || {
                let mut at = 0;
                while !is_over.load(Ordering::Relaxed) {
                    at += 1;
                    let program = target.program();
                    let content = group(at);
                    let update = Update::ModifyMulticastGroup { group: 1, content };
                    let done = target.execute(Batch::one(update).made_for(program.clone()));
                    match done.first_fault() {
                        None => drop(writes.fetch_add(1, Ordering::Relaxed)),
                        Some((_, fault)) => assert_eq!(*fault, Fault::Swapped),
                    }
                    let values = Bits::from_u64(32, u64::from(at)).into();
                    let (register, cells) = (RegisterId(0), CellRange::one(1));
                    let update = Update::WriteRegister { register, cells, values };
                    let done = target.execute(Batch::one(update).made_for(program));
                    match done.first_fault() {
                        None => drop(cell_writes.fetch_add(1, Ordering::Relaxed)),
                        Some((_, fault)) => assert_eq!(*fault, Fault::Swapped),
                    }
                }
            });
            let mut burst = Burst::new(BURST, 256);
            let mut rounds = 0u64;
            while rounds < 200 || cell_writes.load(Ordering::Relaxed) < 20 {
                let new = (rounds + 1) % 2 + 1;
                device.load_second(numbered(new)).expect("loads");
                assert!(device.swap());
                for copies in [0, 1] {
                    let sent = forward(&mut device, &mut burst, copies);
                    assert_eq!(sent.len(), BURST * (1 + usize::from(copies)));
                    assert!(sent.iter().all(|(_, seen)| *seen == (new as u8, new as u8)));
                    for pair in sent.chunks(2).filter(|_| copies == 1) {
                        assert_eq!(pair[0].0, pair[1].0);
                    }
                }
                rounds += 1;
            }
            is_over.store(true, Ordering::Relaxed);
            // The writer may wait for an answer.
            while !writer.is_finished() {
                device.advance(device.now_ps()).expect("nothing to do");
                forward(&mut device, &mut burst, 0);
            }
        });
        assert!(writes.load(Ordering::Relaxed) > 0);
        assert_eq!(device.loaded_programs(), 1);
        assert_eq!(device.statistics().dropped_packets(), 0);
    }
}

fn write_cell(device: &Device, index: u64, value: u64) {
    let (register, cells) = (RegisterId(0), CellRange::one(index));
    let values = Bits::from_u64(32, value).into();
    write(device, [Update::WriteRegister { register, cells, values }]);
}

#[test]
fn an_idle_device_answers_about_cells_without_a_packet() {
    let mut device = device(EngineChoice::Jit);
    let mut target = device.target();
    let program = target.program();
    write_cell(&device, 3, 9);
    let register = RegisterId(0);
    let read = || Batch::one(Read::Register { register, cells: CellRange::one(3) });
    // From another thread, without a call of the device.
    let outcome = std::thread::scope(|scope| {
        let mut target = target.clone();
        scope.spawn(move || target.execute(read())).join().expect("it is answered")
    });
    let nine = vec![Bits::from_u64(32, 9)];
    assert_eq!(outcome.into_reply(), Ok(Reply::Registers(nine)));
    device.load_second(numbered(2)).expect("loads");
    assert!(device.swap());
    let stale = target.execute(read().made_for(program));
    assert_eq!(stale.first_fault(), Some((0, &Fault::Swapped)));
    drop(device);
    assert_eq!(target.execute(read()).first_fault(), Some((0, &Fault::Gone)));
}
