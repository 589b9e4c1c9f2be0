// SPDX-License-Identifier: Apache-2.0
//! The emitted machine beside the simulator, cycle by cycle: which packet is where, entries, losses, drops, remaps, contents of packets
//! that leave, and at the end the map and every cell.

use crate::synthetic::{self, ARRAYS, Packet, Synthetic};
use crate::tools;
use arithmetic::random::keyed;
use rtl::events::{self, Events};
use rtl::{File, Plan};
use scale::design::{Design, Remap};
use scale::machine::outcome::Arrival;
use scale::machine::{Machine, Settings};
use scale::trace::Trace;
use std::collections::BTreeMap;

/// The shape of a test.
pub struct Case {
    pipelines: usize,
    depth: usize,
    remap_every: Option<u64>,
    cycles: u64,
}

impl Case {
    /// Small rings, so that they are full at times.
    pub const TWO_PIPELINES: Case =
        Case { pipelines: 2, depth: 4, remap_every: Some(100), cycles: 12_000 };

    /// The plan of the synthetic program.
    pub fn plan(&self) -> Plan {
        synthetic::plan(self.pipelines, self.depth, self.remap_every)
    }
}

/// Packets in phases of 500 cycles: quiet, full load on all cells, full load on few cells, mostly stateless.
fn packets(pipelines: usize, cycles: u64, seed: u64) -> Vec<Vec<Packet>> {
    let mut id = 0_u16;
    let mut arrive = |cycle: u64, port: u64| {
        let draw = |what: u64, below: u64| keyed(seed, &[cycle, port, what]) % below;
        let phase = cycle / 500 % 4;
        let mut packet = Packet { value: draw(0, 1 << 16) as u16, id, ..Packet::default() };
        id = id.wrapping_add(1);
        for (index, (_, cells)) in ARRAYS.iter().enumerate() {
            let likely = [6, 5, 7, 1][phase as usize];
            // Of the two arrays in stage 3 a packet accesses one.
            if draw(10 + index as u64, 10) < likely && !(index == 3 && packet.cells[2].is_some()) {
                let range = if phase == 2 { u64::from(*cells).min(3) } else { u64::from(*cells) };
                packet.cells[index] = Some(draw(20 + index as u64, range) as u8);
            }
        }
        packet.is_conditional = draw(1, 3) == 0;
        packet.is_droppable = draw(2, 5) == 0;
        packet
    };
    (0..cycles)
        .map(|cycle| {
            let most = pipelines as u64;
            let count = match cycle / 500 % 4 {
                0 => u64::from(keyed(seed, &[cycle, 99]).is_multiple_of(3)),
                _ => keyed(seed, &[cycle, 99]) % (most + 1),
            };
            (0..count).map(|port| arrive(cycle, port)).collect()
        })
        .collect()
}

/// The bench's file of arrivals.
fn arrivals(packets: &[Vec<Packet>], pipelines: usize) -> String {
    let bits = synthetic::header_bits();
    let lines = packets.iter().map(|packets| {
        let headers: Vec<String> = packets.iter().map(Packet::digits).collect();
        events::arrivals(&headers, pipelines, bits)
    });
    lines.collect()
}

/// What the simulator does with the same packets.
fn simulator(case: &Case, packets: &[Vec<Packet>]) -> Events {
    let mut work = Synthetic::new(case.pipelines);
    let settings = Settings { depth: Some(case.depth), ..Settings::new(case.pipelines) };
    let remap = case.remap_every.map_or(Remap::Never, |every| Remap::Scan { every });
    let design = Design { remap, ..Design::mp5(1) };
    let mut trace = Trace::default();
    let mut machine = Machine::new(&work, settings, &design, &mut trace);
    for (cycle, packets) in (0..).zip(packets) {
        for (port, packet) in (0..).zip(packets) {
            machine.offer(Arrival { cycle, port, packet: packet.clone() });
        }
    }
    for _ in 0..case.cycles {
        machine.step(&mut work, &mut trace);
    }
    let header = |packet: &Packet| events::hexadecimal(&packet.digits());
    let mut events = Events::of_simulator(&trace, &machine.finish(), header);
    for (pipeline, arrays) in work.cells.iter().enumerate() {
        for (group, values) in arrays.iter().enumerate() {
            for (cell, value) in values.iter().enumerate() {
                events.end.push(format!("C {group} 0 {pipeline} {cell} {value:04x}"));
            }
        }
    }
    events
}

/// How a machine compares with the simulator.
pub struct Compared {
    /// The first difference.
    pub difference: Option<String>,
    /// Events of the simulator by kind.
    pub counts: BTreeMap<char, usize>,
    /// Warnings of Verilator.
    pub warnings: String,
}

/// Compiles files and compares them with the simulator.
pub fn compare(case: &Case, files: &[File]) -> Compared {
    let folder = tempfile::tempdir().unwrap();
    let warnings = tools::verilate(folder.path(), files, "mp5_bench");
    // The machine drains at the end.
    let packets = packets(case.pipelines, case.cycles - 1_000, 1);
    let arrivals = arrivals(&packets, case.pipelines);
    let trace = testing::verilator::simulate(folder.path(), &arrivals, case.cycles + 10);
    let mut hardware = Events::of_bench(&trace);
    let mut simulator = simulator(case, &packets);
    hardware.end.sort();
    simulator.end.sort();
    let difference = hardware.difference(&simulator, case.cycles).or_else(|| {
        let mut pairs = hardware.end.iter().zip(&simulator.end);
        let differing = pairs.find(|(ours, theirs)| ours != theirs);
        let found =
            differing.map(|(ours, theirs)| format!("at the end: {ours}, simulator {theirs}"));
        let is_longer = hardware.end.len() != simulator.end.len();
        found.or_else(|| is_longer.then(|| "the ends have different lengths".to_owned()))
    });
    let counts = simulator.counts();
    Compared { difference, counts, warnings }
}

#[test]
fn machine_agrees_with_simulator_in_every_cycle() {
    if !testing::verilator::has_tool("verilator", "hardware beside the simulator") {
        return;
    }
    let case = Case::TWO_PIPELINES;
    let Compared { difference, counts, warnings } = compare(&case, &rtl::files(&case.plan()));
    assert_eq!(warnings, "");
    assert_eq!(difference, None);
    println!("{counts:?}");
    for kind in "PWQRLDO".chars() {
        assert!(counts.get(&kind).is_some_and(|count| *count > 10), "{kind}: {counts:?}");
    }
}
