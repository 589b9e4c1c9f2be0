// SPDX-License-Identifier: Apache-2.0
//! Passes that a caller runs: started by a device, run by executors on other cells and threads, finished in the order of
//! the caller. A device that runs its own passes is the oracle.

use crate::setup::{ENGINES, compile, group, on, replicas, session, write};
use device::{
    CallerPasses, Device, DeviceError, DeviceOptions, DropReason, EngineChoice, Executor, Gress,
    Pass, PassStatus, Statistics, Tapped, Transmitted,
};
use ir::{Program, RegisterId};
use state::{MulticastGroup, Update};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// A v1model program whose packets choose their actions by the first byte.
fn v1model() -> Arc<Program> {
    static PROGRAM: OnceLock<Arc<Program>> = OnceLock::new();
    let program = || compile("program.p4", include_str!("v1model_source/program.p4"), &[]);
    PROGRAM.get_or_init(program).clone()
}

/// The same for TNA.
fn tna() -> Arc<Program> {
    static PROGRAM: OnceLock<Arc<Program>> = OnceLock::new();
    let program = || compile("packet_paths.p4", include_str!("tna/packet_paths.p4"), &[]);
    PROGRAM.get_or_init(program).clone()
}

fn loaded(program: Arc<Program>, options: DeviceOptions) -> Device {
    let device = Device::new(program, options).expect("loads");
    let updates = [
        group(1, &[(2, 11), (3, 12)]),
        group(2, &[(4, 13)]),
        group(9, &[(1, 1), (5, 2), (5, 3)]),
        session(5, &[(7, 1)]),
        session(6, &[(8, 1)]),
    ];
    write(&device, updates);
    device
}

fn options(engine: EngineChoice) -> DeviceOptions {
    DeviceOptions { engine, tap: true, cpu_port: Some(64), ..DeviceOptions::default() }
}

/// Results of a device, with taps by pass.
#[derive(Debug, PartialEq)]
struct Shown {
    transmitted: Vec<Transmitted>,
    digests: Vec<device::DigestMessage>,
    statistics: Statistics,
    taps: BTreeMap<(u64, u64), Vec<Tapped>>,
    traces: Vec<device::PacketTrace>,
}

fn shown(device: &mut Device) -> Shown {
    let mut taps: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for tapped in device.drain_taps() {
        taps.entry((tapped.packet, tapped.pass)).or_default().push(tapped);
    }
    Shown {
        transmitted: device.drain_transmitted(),
        digests: device.drain_digests(),
        statistics: device.statistics(),
        taps,
        traces: device.drain_traces(),
    }
}

/// Packets of each choice, at distinct times.
fn packets() -> Vec<(u64, Vec<u8>)> {
    let packet = |what: u8| [&[what, 4, 0, 0, 0, 0, 0][..], &[0; 8]].concat();
    let whats = (0..9).chain(9..23).map(packet).chain([vec![1, 2]]);
    (0..).step_by(1_000_000).zip(whats).collect()
}

fn run(executor: &mut Executor, pass: &mut Pass, now_ps: u64) {
    while pass.next_block().is_some() {
        let ran = executor.run(pass, now_ps).expect("no assertion fails");
        assert_eq!(ran == PassStatus::Ended, pass.is_ended());
    }
}

/// Runs all passes of a device with one executor.
fn drive(device: &mut Device, executor: &mut Executor) {
    while let Some(time_ps) = device.next_event_ps() {
        device.advance(time_ps).expect("no assertion fails");
        let now_ps = device.now_ps();
        for mut pass in device.take_passes() {
            run(executor, &mut pass, now_ps);
            device.finish(pass).expect("no assertion fails");
        }
    }
}

fn check_same(program: &Arc<Program>, options: &DeviceOptions, passes: CallerPasses) {
    let mut alone = loaded(program.clone(), options.clone());
    let mut driven = loaded(program.clone(), options.clone());
    driven.give_passes(passes);
    let mut executor = driven.executor(driven.program_id()).expect("it is loaded");
    for (time_ps, bytes) in packets() {
        for device in [&mut alone, &mut driven] {
            device.inject(3, time_ps, bytes.clone()).expect("it is later");
        }
    }
    alone.run_to_completion().expect("no assertion fails");
    drive(&mut driven, &mut executor);
    assert_eq!(shown(&mut driven), shown(&mut alone), "{passes:?}, {options:?}");
    // The passes use registers of the executor. Those of the device are unchanged.
    if !program.registers.is_empty() && passes.ingress {
        let values = |cells: &state::Cells| {
            let cells = cells.register(RegisterId(0)).expect("it is there");
            (0..cells.size()).map(|at| cells.read(at)).collect::<Vec<_>>()
        };
        assert_eq!(values(executor.cells()), values(&alone.cells()));
        assert_ne!(values(executor.cells()), values(&driven.cells()));
    }
}

#[test]
fn a_caller_that_runs_passes_gets_what_the_device_gives_alone() {
    for program in [v1model(), tna()] {
        for engine in ENGINES {
            for (ingress, egress) in [(true, false), (false, true), (true, true)] {
                check_same(&program, &options(engine), CallerPasses { ingress, egress });
            }
        }
        let traced = DeviceOptions { trace: true, ..options(EngineChoice::Interpreter) };
        check_same(&program, &traced, CallerPasses { ingress: true, egress: true });
    }
}

#[test]
fn passes_that_run_ahead_are_finished_at_their_arrival() {
    for program in [v1model(), tna()] {
        for engine in ENGINES {
            let options = DeviceOptions { tap: false, ..options(engine) };
            let mut alone = loaded(program.clone(), options.clone());
            let mut ahead = loaded(program.clone(), options);
            let mut executor = ahead.executor(ahead.program_id()).expect("it is loaded");
            let mut begun = Vec::new();
            for (time_ps, bytes) in packets() {
                alone.inject(3, time_ps, bytes.clone()).expect("it is later");
                let pass = ahead.begin_ahead(3, time_ps, bytes).expect("it is later");
                begun.push(pass.expect("nothing ends it"));
            }
            assert_eq!((ahead.now_ps(), ahead.next_event_ps()), (0, None));
            for mut pass in begun {
                let arrives_ps = pass.began_ps();
                run(&mut executor, &mut pass, arrives_ps);
                ahead.finish_ahead(pass).expect("it is on time");
            }
            for device in [&mut alone, &mut ahead] {
                device.run_to_completion().expect("no assertion fails");
            }
            assert_eq!(shown(&mut ahead), shown(&mut alone), "{engine:?}");
            let late = ahead.begin_ahead(3, 0, vec![0]);
            assert!(matches!(late, Err(DeviceError::TimeWentBack { .. })), "{late:?}");
        }
    }
}

#[test]
fn passes_run_on_several_threads_and_instances_and_finish_in_order() {
    const PACKETS: u32 = 12;
    for engine in ENGINES {
        let mut device = loaded(v1model(), on(engine));
        let mut begun = Vec::new();
        for number in 0..PACKETS {
            // Each packet uses the group at its arrival.
            let replicas = replicas(&[(20 + number, 1)]);
            let content = MulticastGroup { replicas, ..MulticastGroup::default() };
            write(&device, [Update::ModifyMulticastGroup { group: 9, content }]);
            let bytes = vec![2, (number % 4) as u8, 0, 0, 0, 0];
            let pass = device.begin(1, u64::from(number), bytes).expect("it is later");
            begun.push(pass.expect("nothing ends it"));
        }
        let id = device.program_id();
        // The first blocks run on one instance, the last on another, each on its own thread.
        let mut instances: Vec<Executor> =
            (0..2).map(|_| device.executor(id).expect("it is loaded")).collect();
        for (stage, executor) in instances.iter_mut().enumerate() {
            begun = std::thread::scope(|scope| {
                let work = move || {
                    for pass in &mut begun {
                        while pass.next_block().is_some_and(|_| {
                            let left = pass.blocks().iter().rev();
                            let is_last = left.clone().next() == pass.next_block().as_ref();
                            is_last == (stage == 1)
                        }) {
                            let ran = executor.run(pass, pass.began_ps());
                            assert_eq!(ran, Ok(PassStatus::Continues));
                        }
                    }
                    begun
                };
                scope.spawn(work).join().expect("no thread panics")
            });
        }
        assert!(device.drain_transmitted().is_empty());
        for pass in begun {
            device.finish(pass).expect("no assertion fails");
        }
        device.run_to_completion().expect("no assertion fails");
        let mut sent = device.drain_transmitted();
        sent.sort_by_key(|sent| sent.sequence);
        let seen: Vec<_> = sent.iter().map(|sent| (sent.packet, sent.port)).collect();
        let expected: Vec<_> = (0..PACKETS).map(|at| (u64::from(at), 20 + at)).collect();
        assert_eq!(seen, expected, "{engine:?}");
        let count = |executor: &Executor| {
            let cells = executor.cells().register(RegisterId(0)).expect("it is there");
            (0..cells.size()).filter_map(|at| cells.read(at)).map(|cell| cell.low_u64()).sum()
        };
        let counts: Vec<u64> = instances.iter().map(count).collect();
        assert_eq!(counts, [0, u64::from(PACKETS)]);
    }
}

#[test]
fn a_pass_is_ended_held_and_multiplied() {
    for engine in ENGINES {
        let mut device = loaded(v1model(), on(engine));
        let mut executor = device.executor(device.program_id()).expect("it is loaded");
        let forwarded = vec![1, 0, 0, 0, 0, 0];
        let begin = |device: &mut Device| {
            let pass = device.begin(1, device.now_ps(), forwarded.clone());
            pass.expect("it is on time").expect("nothing ends it")
        };
        let mut ended = begin(&mut device);
        assert_eq!((ended.packet(), ended.number(), ended.gress()), (0, 0, Gress::Ingress));
        ended.end(DropReason::IngressDrop);
        assert_eq!(executor.run(&mut ended, 0), Ok(PassStatus::Ended));
        let mut held = begin(&mut device);
        let mut other = device.fork(&held).expect("the limit is far");
        assert_eq!((other.packet(), other.number(), other.ingress_port()), (1, 1, 1));
        for pass in [&mut held, &mut other] {
            run(&mut executor, pass, 0);
        }
        // Later packets overtake them.
        let mut later = begin(&mut device);
        run(&mut executor, &mut later, 0);
        for pass in [later, other, held, ended] {
            device.finish(pass).expect("no assertion fails");
        }
        device.run_to_completion().expect("no assertion fails");
        let sent = device.drain_transmitted();
        let seen: Vec<_> = sent.iter().map(|sent| (sent.packet, sent.port)).collect();
        assert_eq!(seen, [(2, 3), (1, 3), (1, 3)]);
        assert_eq!(device.statistics().drops, BTreeMap::from([(DropReason::IngressDrop, 1)]));
    }
}

#[test]
fn a_pass_fits_its_own_device_and_program_only() {
    for engine in ENGINES {
        let options = DeviceOptions { engine, pass_limit: Some(2), ..DeviceOptions::default() };
        let mut device = loaded(v1model(), options.clone());
        let mut other = loaded(v1model(), options);
        let mut begin = || device.begin(1, 0, vec![255; 6]).expect("in time").expect("it begins");
        let (mut pass, mut failing) = (begin(), begin());
        let mut stranger = other.executor(other.program_id()).expect("it is loaded");
        let foreign = DeviceError::ForeignPass { packet: 0 };
        assert_eq!(stranger.run(&mut pass, 0), Err(foreign.clone()));
        let mut executor = device.executor(device.program_id()).expect("it is loaded");
        assert_eq!(executor.run_block(&mut pass, 99, 0), Err(foreign.clone()));
        assert!(other.fork(&pass).is_none());
        let second = device.fork(&pass).expect("two passes are allowed");
        assert!(device.fork(&pass).is_none());
        assert_eq!(other.finish(second), Err(foreign));
        // A failed assertion ends the pass. `finish` counts it.
        for _ in 0..2 {
            assert_eq!(executor.run(&mut failing, 0), Ok(PassStatus::Continues));
        }
        let failed = executor.run(&mut failing, 5);
        let Err(DeviceError::AssertionFailed { packet: 1, time_ps: 5, .. }) = failed else {
            panic!("{failed:?}");
        };
        device.finish(failing).expect("the error is known");
        let drops = BTreeMap::from([(DropReason::AssertionFailed, 1), (DropReason::PassLimit, 1)]);
        assert_eq!(device.statistics().drops, drops);
        // A program stays loaded while a pass of it exists.
        device.load_second(v1model()).expect("loads");
        assert!(device.swap());
        assert_eq!(device.loaded_programs(), 2);
        drop(pass);
        assert_eq!(device.loaded_programs(), 1);
    }
}
