// SPDX-License-Identifier: Apache-2.0
//! What one control-plane write costs, by the path that it takes to the state of a device:
//!
//!     cargo bench -p conformance --bench control
//!
//! Entries of a table of 10,000 routes are modified one by one on an idle device, in batches of one item. The
//! paths take turns in each round; medians over the rounds are printed, and the ratio to the same write
//! through the device's own target.

use control::map::{Composed, Handles, Identity, Mapped, Renamed};
use control::target::{Batch, Prepared, Target, prepare_entry};
use device::{Device, DeviceOptions};
use ir::ready::ReadyProgram;
use ir::{Bits, KeyPattern, Program, TableId};
use state::{BoundAction, NewEntry, Update};
use std::sync::Arc;
use std::time::Instant;

const ROUTES: u32 = 10_000;
const WRITES_A_ROUND: u32 = 20_000;
const ROUNDS: usize = 31;

/// A path to the device.
struct Path {
    name: &'static str,
    target: Box<dyn Target>,
    prepared: Option<Vec<Prepared>>,
    ns: Vec<f64>,
}

fn main() {
    println!("one route of {ROUTES} modified, batches of one item, idle device, compiled code");
    println!("{:>34} {:>10} {:>8}", "path", "ns", "ratio");
    let device = router();
    let program = device.program();
    let same = || Identity::new(program.clone());
    let boxed = || Box::new(device.target()) as Box<dyn Target>;
    let renamed = || {
        let handles = Handles::by_name(&program, &program, str::to_string).expect("it is the same");
        Renamed::new(program.clone(), &program, handles)
    };
    let composed = Composed::new(same(), same());
    let over_map = Mapped::new(same(), vec![Box::new(Mapped::new(same(), vec![boxed()]))]);
    let mut paths = [
        path("target of the device", boxed()),
        path("identity map", Box::new(Mapped::new(same(), vec![boxed()]))),
        path("map of other names", Box::new(Mapped::new(renamed(), vec![boxed()]))),
        path("two identity maps", Box::new(over_map)),
        path("composition (by plans)", Box::new(Mapped::new(composed, vec![boxed()]))),
        path("prepared operation", boxed()),
    ];
    let prepared = prepared(&program, &mut *paths[5].target);
    paths[5].prepared = Some(prepared);
    // The forwarding side is there, as for a device that has forwarded.
    let mut number = 0u32;
    for round in 0..=ROUNDS {
        for path in &mut paths {
            let batches: Vec<Batch> = (0..WRITES_A_ROUND)
                .map(|_| {
                    number = number.wrapping_add(1);
                    batch(&program, path.prepared.as_deref(), number)
                })
                .collect();
            let start = Instant::now();
            for batch in batches {
                assert!(path.target.execute(batch).is_ok());
            }
            let ns = start.elapsed().as_nanos() as f64 / f64::from(WRITES_A_ROUND);
            if round > 0 {
                path.ns.push(ns);
            }
        }
    }
    let direct = paths[0].ns.clone();
    for path in &mut paths {
        let ratios = path.ns.iter().zip(&direct).map(|(ns, direct)| ns / direct).collect();
        println!("{:>34} {:>10.0} {:>8.3}", path.name, median(path.ns.clone()), median(ratios));
    }
}

fn path(name: &'static str, target: Box<dyn Target>) -> Path {
    Path { name, target, prepared: None, ns: Vec::new() }
}

fn median(mut list: Vec<f64>) -> f64 {
    list.sort_by(f64::total_cmp);
    list[list.len() / 2]
}

fn keys(route: u32) -> Vec<KeyPattern> {
    let value = Bits::from_u64(32, u64::from(0x0a00_0000 + (route << 8)));
    vec![KeyPattern::Prefix { value, length_bits: 24 }]
}

fn entry(program: &Program, route: u32, round: u32) -> NewEntry {
    let action = program.tables[0].actions[0].action;
    let hop = Bits::from_u64(16, u64::from(round % 200));
    NewEntry::direct(keys(route), 0, BoundAction { action, arguments: vec![hop] })
}

fn batch(program: &Arc<Program>, prepared: Option<&[Prepared]>, number: u32) -> Batch {
    let route = number.wrapping_mul(7919) % ROUTES;
    match prepared {
        Some(prepared) => {
            let operation = &prepared[(route % prepared.len() as u32) as usize];
            let hop = Bits::from_u64(16, u64::from(number % 200));
            operation.batch(vec![hop]).expect("it has the right width")
        }
        None => {
            let entry = entry(program, route, number);
            Batch::one(Update::ModifyEntry { table: TableId(0), entry }).made_for(program.clone())
        }
    }
}

fn prepared(program: &Program, target: &mut dyn Target) -> Vec<Prepared> {
    let action = program.tables[0].actions[0].action;
    let prepare = |route| prepare_entry(target, TableId(0), keys(route), 0, action);
    (0..1000).map(prepare).collect::<Result<_, _>>().expect("the entries are there")
}

fn router() -> Device {
    let text = include_str!("../../../benches/p4/router.p4").to_string();
    let ready = ReadyProgram::of_text("router.p4", text).expect("the program compiles");
    let program = ready.program().clone();
    let device = Device::new(program.clone(), DeviceOptions::default()).expect("it loads");
    let insert =
        |route| Update::InsertEntry { table: TableId(0), entry: entry(&program, route, 0) };
    assert!(device.execute(Batch::of((0..ROUTES).map(insert))).is_ok());
    let mut device = device;
    // The first packet makes the forwarding side.
    let mut burst = device::Burst::new(1, 64);
    burst.push(1, &[0; 64]).expect("it fits");
    device.forward(&mut burst).expect("the router asserts nothing");
    device
}
