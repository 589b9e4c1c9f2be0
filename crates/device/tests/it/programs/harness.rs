// SPDX-License-Identifier: Apache-2.0
//! Devices with several variants of `program.p4`, and the program of each packet by its output.

use crate::setup::{compile_with, group, session};
use control::target::{Batch, Target};
use device::{Device, DeviceOptions, EngineChoice, PortOptions, TrafficManagerOptions};
use ir::KeyPattern;
use ir::Program;
use state::{ActionData, BoundAction, NewEntry, Update};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The loopback port of these tests.
pub const LOOPBACK: u32 = 68;
/// The port of controllers.
pub const CPU: u32 = 64;

/// The program with a number, and with further macros.
pub fn program(number: u8, defines: &[(&str, &str)]) -> Arc<Program> {
    type Known = BTreeMap<String, Arc<Program>>;
    static KNOWN: Mutex<Known> = Mutex::new(BTreeMap::new());
    let key = format!("{number} {defines:?}");
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let compile = || {
        let number = number.to_string();
        let mut defines: Vec<_> =
            defines.iter().map(|&(name, value)| (name, Some(value))).collect();
        defines.push(("NUMBER", Some(&number)));
        compile_with("program.p4", include_str!("program.p4"), &defines)
    };
    known.entry(key).or_insert_with(compile).clone()
}

/// A device with program 1. Recirculation and loopback take 1 ns.
pub fn device(engine: EngineChoice, options: DeviceOptions) -> Device {
    let slow = PortOptions { latency_ps: 1000, ..PortOptions::internal() };
    let loopback = PortOptions { loopback: true, latency_ps: 1000, ..PortOptions::default() };
    let traffic_manager = TrafficManagerOptions {
        ports: [(LOOPBACK, loopback)].into_iter().collect(),
        recirculation: slow.clone(),
        resubmission: slow,
        ..TrafficManagerOptions::default()
    };
    let options = DeviceOptions { engine, traffic_manager, cpu_port: Some(CPU), ..options };
    Device::new(program(1, &[]), options).expect("loads")
}

/// Adds session 5 and group 9 with copies to port 7.
pub fn set_copies(target: &mut impl Target) {
    let updates = [group(9, &[(7, 1)]), session(5, &[(7, 1)])];
    assert!(target.execute(Batch::of(updates)).is_ok());
}

/// Sends packets of a key to a port.
pub fn entry(program: &Program, key: u64, port: u64, idle_timeout_ns: u64) -> Update {
    let named = |name: &str| {
        program.actions.iter().position(|action| action.name.ends_with(name)).expect("its name")
    };
    let action = ActionData::Direct(BoundAction {
        action: ir::ActionId(named("forward") as u32),
        arguments: vec![ir::Bits::from_u64(9, port)],
    });
    let keys = vec![KeyPattern::Exact(ir::Bits::from_u64(8, key))];
    let (metadata, cookie) = (Vec::new(), 0);
    let entry = NewEntry { keys, priority: 0, action, idle_timeout_ns, metadata, cookie };
    Update::InsertEntry { table: ir::TableId(0), entry }
}

/// A packet of a choice and a key.
pub fn packet(what: u8, key: u8) -> Vec<u8> {
    vec![what, key, 0, 0, 0, 0, 0, 0, 42]
}

/// An output: number, port, programs in ingress and egress, count.
pub type Left = (u64, u32, (u8, u8), u8);

/// Outputs in order.
pub fn left(device: &mut Device) -> Vec<Left> {
    let sent = device.drain_transmitted();
    let left = |sent: &device::Transmitted| {
        let bytes = &sent.bytes;
        (sent.packet, sent.port, (bytes[2], bytes[3]), bytes[7])
    };
    sent.iter().map(left).collect()
}

/// Runs packets at a port, each to completion before the next.
pub fn run(device: &mut Device, packets: &[(u32, Vec<u8>)]) -> Vec<Left> {
    for (port, bytes) in packets {
        device.inject(*port, device.now_ps(), bytes.clone()).expect("it is on time");
        device.run_to_completion().expect("nothing fails");
    }
    left(device)
}
