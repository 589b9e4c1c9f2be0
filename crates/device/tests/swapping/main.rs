// SPDX-License-Identifier: Apache-2.0
//! Programs swapped while packets flow and a control plane writes: no packet is lost, none sees parts
//! of two programs, and what is not needed any more is gone.

#[path = "../v1model/program.rs"]
#[allow(dead_code)] // Other tests use the rest of it.
mod program;

use device::{Burst, Device, DeviceOptions, EngineChoice, OutputPath, Refusal};
use ir::{Bits, Program, RegisterId};
use program::program;
use state::{Batch, BatchItem, CellRange, MulticastGroup, Read, Replica, Reply, Update};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bursts have so many packets.
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

/// The numbers that a packet has of ingress and of egress.
fn numbers(bytes: &[u8]) -> (u8, u8) {
    (bytes[5], bytes[9])
}

fn device(engine: EngineChoice) -> Device {
    let options = DeviceOptions { engine, ..DeviceOptions::default() };
    Device::new(numbered(1), options).expect("loads")
}

/// One test at a time, as one of them looks at the memory of the process.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Memory of this process in bytes, where the system tells.
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
    let _alone = alone();
    for engine in [EngineChoice::Interpreter, EngineChoice::Jit] {
        let mut device = device(engine);
        if let Some(cells) = device.cells_mut().register_mut(RegisterId(0)) {
            cells.write(2, Bits::from_u64(32, 55));
        }
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
                // These are queued by the old program and leave after the swap.
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
    let _alone = alone();
    for engine in [EngineChoice::Interpreter, EngineChoice::Jit] {
        let mut device = device(engine);
        let handle = device.control_handle();
        let group = |at: u32| {
            // Both copies go to the same port, or a packet would have seen half a write.
            let replica = |instance| Replica { egress_port: 5 + at % 2, instance };
            let replicas = vec![replica(1), replica(2)];
            MulticastGroup { replicas, ..MulticastGroup::default() }
        };
        let insert = Update::InsertMulticastGroup { group: 1, content: group(0) };
        assert!(device.write_batch(Batch::updates(0, [insert])).is_ok());
        let is_over = AtomicBool::new(false);
        let (writes, cell_writes) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            let (is_over, writes, cell_writes) = (&is_over, &writes, &cell_writes);
            let writer = scope.spawn(move || {
                let mut at = 0;
                while !is_over.load(Ordering::Relaxed) {
                    at += 1;
                    let program = handle.program();
                    let content = group(at);
                    let update = Update::ModifyMulticastGroup { group: 1, content };
                    match handle.write(&program, Batch::updates(0, [update])) {
                        Ok(done) => {
                            assert!(done.wait().is_ok_and(|done| done.is_ok()));
                            writes.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(refused) => assert_eq!(refused, Refusal::Swapped),
                    }
                    let values = Bits::from_u64(32, u64::from(at)).into();
                    let (register, cells) = (RegisterId(0), CellRange::one(1));
                    let update = Update::WriteRegister { register, cells, values };
                    let pending = handle.write(&program, Batch::updates(0, [update]));
                    match pending.expect("the device is there").wait() {
                        Ok(done) => {
                            assert!(done.is_ok());
                            cell_writes.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(refused) => assert_eq!(refused, Refusal::Swapped),
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
            // The writer may be waiting for an answer.
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

#[test]
fn handles_read_cells_and_outlive_the_device() {
    let _alone = alone();
    let mut device = device(EngineChoice::Jit);
    let handle = device.control_handle();
    let program = handle.program();
    if let Some(cells) = device.cells_mut().register_mut(RegisterId(0)) {
        cells.write(3, Bits::from_u64(32, 9));
    }
    let read = || {
        let item =
            BatchItem::Read(Read::Register { register: RegisterId(0), cells: CellRange::one(3) });
        let mut batch = Batch::updates(0, []);
        batch.items.push(item);
        handle.write(&program, batch)
    };
    let device::WriteOutcome::Pending(pending) = read().expect("the device is there") else {
        panic!("only the device can read cells")
    };
    assert!(pending.poll().is_none());
    device.advance(5).expect("nothing to do");
    let outcome = pending.wait().expect("answered");
    assert_eq!(outcome.results, [Ok(Reply::Registers(vec![Bits::from_u64(32, 9)]))]);
    device.load_second(numbered(2)).expect("loads");
    assert!(device.swap());
    let stale = handle.write(&program, Batch::updates(0, []));
    assert!(matches!(stale, Err(Refusal::Swapped)));
    let waiting = read().expect("the device is there");
    drop(device);
    assert!(matches!(waiting.wait(), Err(Refusal::DeviceGone)));
    assert!(matches!(read(), Err(Refusal::DeviceGone)));
}
