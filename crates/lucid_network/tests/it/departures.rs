// SPDX-License-Identifier: Apache-2.0
//! Packets that leave the network of a compiled run: port and bytes as the observer sees them, in order of time.

use crate::delays::program_and_run;
use device::EngineChoice;
use lucid::core::{NO_PORT, Program};
use lucid_compiler::{Backend, Compiled, Options, compile, tna};
use lucid_network::options::delay_options;
use lucid_network::{CompiledSimulation, verify};
use lucid_reference::simulation::{Observation, ObservationKind, Observer, Setup};
use source::{RenderOptions, SourceMap, render_text};
use std::sync::Arc;

/// A packet that left: its time in nanoseconds, its port, its bytes as hexadecimal digits.
pub type Departure = (u64, u32, String);

/// Keeps the packets that leave.
#[derive(Default)]
struct Departures {
    found: Vec<Departure>,
}

impl Observer for Departures {
    fn observe(&mut self, observation: Observation) {
        let ObservationKind::Left { port, bytes, .. } = observation.kind else { return };
        let bytes = bytes.iter().flat_map(|bytes| bytes.iter());
        let digits = bytes.map(|byte| format!("{byte:02x}")).collect();
        if port != NO_PORT {
            self.found.push((observation.time_ps / 1000, port, digits));
        }
    }
}

/// A program and a run of it, compiled for a target.
pub fn compiled(source: &str, run: &str, target: Backend) -> (Arc<Setup>, Arc<Compiled>) {
    let (map, program, run): (SourceMap, Program, _) = program_and_run(source, run);
    let setup = Setup::new(Arc::new(program), &run)
        .unwrap_or_else(|said| panic!("{}", render_text(&map, &said, RenderOptions::default())));
    let options = delay_options(&setup, Options { target, ..Options::default() });
    let made = match target {
        Backend::V1Model => compile(setup.program(), &map, &options),
        Backend::Tna => tna::compile_unlimited(setup.program(), map.clone(), &options),
    };
    let made = made
        .unwrap_or_else(|said| panic!("{}", render_text(&map, &said, RenderOptions::default())));
    (Arc::new(setup), Arc::new(made))
}

/// The packets that leave in a run, which is verified besides.
pub fn departures(source: &str, run: &str, target: Backend) -> Vec<Departure> {
    let (setup, compiled) = compiled(source, run, target);
    let made = || {
        CompiledSimulation::new(setup.clone(), compiled.clone(), EngineChoice::Interpreter)
            .unwrap_or_else(|error| panic!("{error}"))
    };
    let mut departures = Departures::default();
    let verified = verify(&mut made(), &mut departures);
    let said = verified.difference.map(|difference| difference.to_string());
    assert_eq!(said, None, "{target:?}: {:#?}\n{}", departures.found, compiled.built.print());
    departures.found
}
