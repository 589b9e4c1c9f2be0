// SPDX-License-Identifier: Apache-2.0
//! Flow installation on our switch: the firewall compiled for v1model on a device of this process, on
//! compiled code. What leaves by the recirculation port comes in again at once, so that the time is what
//! the processor needs for the packets of an installation. Each trial is repeated with the same flows and
//! the result is the shortest time: longer ones include other processes.

use super::super::flow_table::event;
use super::{FLOWS, Trial, internal, seed};
use crate::Measuring;
use arithmetic::random::SplitMix64;
use control::target::Batch;
use device::{Burst, Device, DeviceOptions};
use ir::{Bits, RegisterId};
use lucid::core::{LUCID_ETHER_TYPE, Program};
use lucid_compiler::{Delay, Options, compile, wire};
use lucid_network::deploy::{self, SwitchSetup};
use lucid_network::ready;
use source::{Diagnostics, SourceMap};
use state::{CellRange, Update};
use std::sync::Arc;
use std::time::Instant;

/// How often each trial is repeated.
const REPETITIONS: u32 = 5;
/// The port that flows come in by.
const INSIDE_PORT: u32 = 1;
/// Between two packets, in picoseconds.
const GAP_PS: u64 = 1_000_000;
/// Largest frame of the program's events, in bytes.
const FRAME_BYTES: usize = 128;

struct Firewall {
    device: Device,
    recirculation_port: u32,
    packet_number: u16,
    failed_number: u16,
    burst: Burst,
}

impl Firewall {
    fn new(program: &Arc<Program>, map: &SourceMap) -> Result<Firewall, Diagnostics> {
        // A queue that is released by time would need the time to go on.
        let options = Options { delay: Delay::Recirculation, ..Options::default() };
        let compiled = compile(program, map, &options)?;
        let pipeline = ready(&compiled).map_err(|error| error.diagnostics())?.program().clone();
        let recirculation_port = options.recirculation_port;
        let site = SwitchSetup { recirculation_port, ..SwitchSetup::default() };
        // The measurement brings back what leaves by the recirculation port, at no pace.
        let built = deploy::device_options(&compiled, &site);
        let mut built = DeviceOptions { ingress_interval_ps: 0, ..built };
        if let Some(port) = built.traffic_manager.ports.get_mut(&recirculation_port) {
            (port.loopback, port.rate_bps) = (false, None);
        }
        let device =
            Device::new(pipeline.clone(), built).map_err(|error| internal(&error.to_string()))?;
        let mut session = control::session::Session::new(pipeline);
        let text = deploy::commands(&compiled, program, &site);
        let applied = session.run("commands", &text, &mut device.target());
        applied.map_err(|errors| internal(&errors[0].to_string()))?;
        let number = |name: &str| {
            let found = event(program, name).map(|id| program.events[id.0 as usize].wire_number);
            found.and_then(|number| u16::try_from(number).ok()).unwrap_or(0)
        };
        let (packet_number, failed_number) = (number("packet"), number("failed"));
        let burst = Burst::new(1, FRAME_BYTES);
        Ok(Firewall { device, recirculation_port, packet_number, failed_number, burst })
    }

    /// All flows are forgotten.
    fn reset(&mut self) {
        let program = self.device.program();
        let clear = |(number, register): (usize, &ir::RegisterArray)| Update::WriteRegister {
            register: RegisterId(number as u32),
            cells: CellRange::all(),
            values: Bits::zero(register.width_bits).into(),
        };
        let updates = program.registers.iter().enumerate().map(clear);
        self.device.execute(Batch::of(updates));
    }

    /// The frame of the first packet of a flow.
    fn first_packet(&self, key: u32) -> Vec<u8> {
        let mut bytes = wire::PlaceKind::Here.field().to_be_bytes().to_vec();
        bytes.extend([0; 4]);
        bytes.extend(wire::SOURCE_PREFIX.to_be_bytes());
        bytes.extend([0; 4]);
        bytes.extend(LUCID_ETHER_TYPE.to_be_bytes());
        bytes.extend(self.packet_number.to_be_bytes());
        bytes.extend(key.to_be_bytes());
        bytes
    }

    /// One more flow, to the end of its installation.
    fn install(&mut self, key: u32) -> Result<Trial, Diagnostics> {
        let wrong = |error: &dyn std::fmt::Display| internal(&error.to_string());
        let now_ps = self.device.now_ps() + GAP_PS;
        self.device.advance(now_ps).map_err(|error| wrong(&error))?;
        let bytes = self.first_packet(key);
        self.burst.clear();
        self.burst.push(INSIDE_PORT, &bytes).map_err(|error| wrong(&error))?;
        let begin = Instant::now();
        self.device.forward(&mut self.burst).map_err(|error| wrong(&error))?;
        let mut done = begin.elapsed();
        let mut trial = Trial { first_packet_ns: done.as_nanos() as f64, ..Trial::default() };
        loop {
            let back = self.burst.outputs().find(|sent| sent.port == self.recirculation_port);
            let Some(bytes) = back.map(|sent| sent.bytes.to_vec()) else { break };
            let number = bytes.get(wire::FRAME_BYTES - 2..wire::FRAME_BYTES);
            trial.has_failed |= number == Some(&self.failed_number.to_be_bytes()[..]);
            trial.rounds += 1;
            self.burst.clear();
            let pushed = self.burst.push(self.recirculation_port, &bytes);
            pushed.map_err(|error| wrong(&error))?;
            self.device.forward(&mut self.burst).map_err(|error| wrong(&error))?;
            done = begin.elapsed();
        }
        trial.rest_ns = done.as_nanos() as f64 - trial.first_packet_ns;
        Ok(trial)
    }
}

/// Random numbers other than 0.
struct Keys(SplitMix64);

impl Iterator for Keys {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        Some((self.0.next_number() as u32).max(1))
    }
}

/// One trial after the other; times in nanoseconds of this machine.
pub(super) fn trials(
    program: &Arc<Program>,
    map: &SourceMap,
    measuring: &mut Measuring<'_>,
    count: u64,
) -> Result<Vec<Trial>, Diagnostics> {
    let mut firewall = Firewall::new(program, map)?;
    let mut found = Vec::new();
    for number in 0..count {
        if number % 50 == 0 {
            (measuring.progress)("figure 17, on our switch", number as f64 / count as f64);
        }
        let mut best: Option<Trial> = None;
        for _ in 0..REPETITIONS {
            firewall.reset();
            let mut keys = Keys(SplitMix64::new(seed(measuring, number)));
            for key in keys.by_ref().take(FLOWS as usize) {
                firewall.install(key)?;
            }
            let trial = firewall.install(keys.next().unwrap_or(1))?;
            let all_ns = |trial: &Trial| trial.first_packet_ns + trial.rest_ns;
            if best.as_ref().is_none_or(|best| all_ns(&trial) < all_ns(best)) {
                best = Some(trial);
            }
        }
        found.extend(best);
    }
    Ok(found)
}
