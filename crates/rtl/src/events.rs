// SPDX-License-Identifier: Apache-2.0
//! What happens in a machine, as lines: the test bench's, and the simulator's in the same form, so that the two can be compared cycle by
//! cycle. Also the bench's input.

use crate::machine::ID_BITS;
use scale::machine::outcome::{Cause, Outcome};
use scale::trace::{Kind, Trace};
use std::collections::BTreeMap;

/// Events by cycle of the simulator, each cycle's lines in alphabetical order. The forms are those of the bench (`crate::bench`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// By cycle.
    pub cycles: BTreeMap<u64, Vec<String>>,
    /// Lines about the end: maps and cells.
    pub end: Vec<String>,
}

impl Events {
    /// Reads a trace that the bench wrote.
    pub fn of_bench(trace: &str) -> Events {
        let mut events = Events::default();
        for line in trace.lines() {
            let timed =
                line.split_once(' ').and_then(|(cycle, event)| Some((cycle.parse().ok()?, event)));
            match timed {
                Some((cycle, event)) => events.add(cycle, event.to_owned()),
                None => events.end.push(line.to_owned()),
            }
        }
        events.sort();
        events
    }

    /// The events of a simulated run, with maps at the end. `header` gives a packet's header as the bench writes it: hexadecimal digits.
    pub fn of_simulator<P>(
        trace: &Trace,
        outcome: &Outcome<P>,
        header: impl Fn(&P) -> String,
    ) -> Events {
        let name = |packet: u64| packet % (1 << ID_BITS);
        let mut events = Events::default();
        for event in &trace.events {
            let line = match event.kind {
                Kind::Processed { packet, stage, pipeline, access } => {
                    format!("P {stage} {pipeline} {} {}", name(packet), u8::from(access.is_some()))
                }
                Kind::Wasted { stage, pipeline } => format!("W {stage} {pipeline}"),
                Kind::PhantomQueued { packet, stage, .. } => format!("Q {stage} {}", name(packet)),
                Kind::Remapped { access, from, to } => {
                    format!("R {} {} {from} {to}", access.group, access.cell)
                }
                _ => continue,
            };
            events.add(event.cycle, line);
        }
        for dropped in &outcome.dropped {
            let kind = if dropped.cause == Cause::Program { 'D' } else { 'L' };
            let line = format!("{kind} {} {}", dropped.stage, name(dropped.sequence));
            events.add(dropped.cycle, line);
        }
        for departure in &outcome.departures {
            let header = header(&departure.packet);
            let line = format!("O {} {header}", name(departure.sequence));
            events.add(departure.cycle - 1, line);
        }
        for (group, map) in outcome.map.iter().enumerate() {
            for (cell, pipeline) in map.iter().enumerate() {
                events.end.push(format!("M {group} {cell} {pipeline}"));
            }
        }
        events.sort();
        events
    }

    fn add(&mut self, cycle: u64, event: String) {
        self.cycles.entry(cycle).or_default().push(event);
    }

    fn sort(&mut self) {
        self.cycles.values_mut().for_each(|lines| lines.sort());
    }

    /// The number of events of each kind.
    pub fn counts(&self) -> BTreeMap<char, usize> {
        let mut counts = BTreeMap::new();
        for line in self.cycles.values().flatten() {
            *counts.entry(line.chars().next().unwrap_or(' ')).or_default() += 1;
        }
        counts
    }

    /// The first difference before a cycle.
    pub fn difference(&self, simulator: &Events, until: u64) -> Option<String> {
        let none = Vec::new();
        (0..until).find_map(|cycle| {
            let ours = self.cycles.get(&cycle).unwrap_or(&none);
            let theirs = simulator.cycles.get(&cycle).unwrap_or(&none);
            (ours != theirs).then(|| {
                let extra: Vec<_> = ours.iter().filter(|line| !theirs.contains(line)).collect();
                let missing: Vec<_> = theirs.iter().filter(|line| !ours.contains(line)).collect();
                format!("cycle {cycle}: only hardware {extra:?}, only simulator {missing:?}")
            })
        })
    }
}

/// A line of the bench's arrivals: the headers of the packets of a cycle, in the order of their ports, as binary digits.
pub fn arrivals(headers: &[String], pipelines: usize, header_bits: usize) -> String {
    let valid: String =
        (0..pipelines).rev().map(|port| if port < headers.len() { '1' } else { '0' }).collect();
    let none = "0".repeat(header_bits);
    let all: String =
        (0..pipelines).rev().map(|port| headers.get(port).unwrap_or(&none).as_str()).collect();
    format!("{valid} {}\n", hexadecimal(&all))
}

/// Binary digits as hexadecimal ones.
pub fn hexadecimal(bits: &str) -> String {
    let padded = format!("{}{bits}", "0".repeat(bits.len().next_multiple_of(4) - bits.len()));
    let digit =
        |digits: &[u8]| digits.iter().fold(0, |value, bit| value * 2 + u32::from(*bit == b'1'));
    let digits = padded.as_bytes().chunks(4).map(digit);
    digits.filter_map(|digit| char::from_digit(digit, 16)).collect()
}
