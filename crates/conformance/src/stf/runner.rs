// SPDX-License-Identifier: Apache-2.0
//! Runs an STF test on a device: applies its commands and packets in order, lets the device finish
//! after each packet, and compares what came out of each port with what was expected, byte by byte.

use super::reader::{CounterIndex, Expected, LocatedStep, Nibble, Step};
use control::command::{Command, Located};
use control::session::Session;
use control::target::Target;
use device::{Device, DeviceOptions, DropReason, PacketTrace};
use ir::Program;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

/// Packets are this far apart, so that meters and time stamps see time go by.
const PACKET_GAP_PS: u64 = 1_000_000_000;

/// The maximum number of unexpected packets that are shown for each port.
const MAX_UNEXPECTED: usize = 10;

/// The outcome of a test.
#[derive(Debug, Default, PartialEq)]
pub struct Report {
    /// What is not as expected, one text each; empty when the test passed.
    pub failures: Vec<String>,
    /// What a reader should know though it is no failure: packets stopped by a limit.
    pub notes: Vec<String>,
    /// How many packets went in.
    pub packets_in: usize,
    /// How many packets came out.
    pub packets_out: usize,
    /// What happened to each packet, when asked for.
    pub traces: Vec<PacketTrace>,
}

impl Report {
    /// Whether all was as expected.
    pub fn passed(&self) -> bool {
        self.failures.is_empty()
    }
}

/// Runs a test that has been read without errors.
pub fn run(program: Arc<Program>, steps: &[LocatedStep], trace: bool) -> Report {
    run_with(program, steps, DeviceOptions { trace, ..DeviceOptions::default() })
}

/// The same on a device with options of its own.
pub fn run_with(program: Arc<Program>, steps: &[LocatedStep], options: DeviceOptions) -> Report {
    run_through(program, steps, options, |target| target)
}

/// The same with something in front of the device that its commands go through.
pub fn run_through(
    program: Arc<Program>,
    steps: &[LocatedStep],
    options: DeviceOptions,
    in_front: impl FnOnce(Box<dyn Target>) -> Box<dyn Target>,
) -> Report {
    let mut report = Report::default();
    let device = match Device::new(program.clone(), options) {
        Ok(device) => device,
        Err(error) => {
            report.failures.push(format!("error[{}]: {error}", error.code()));
            return report;
        }
    };
    let session = Session::new(program).lenient();
    let target = in_front(Box::new(device.target()));
    let mut running = Running {
        device,
        target,
        session,
        now_ps: PACKET_GAP_PS,
        expected: BTreeMap::new(),
        received: BTreeMap::new(),
        report,
    };
    for step in steps {
        if let Err(failure) = running.step(step) {
            running.report.failures.push(failure);
        }
    }
    running.compare();
    for reason in [DropReason::PassLimit, DropReason::StepLimit] {
        if let Some(count) = running.device.statistics().drops.get(&reason) {
            running.report.notes.push(format!("{count} packets were stopped by the {reason}"));
        }
    }
    running.report.traces = running.device.drain_traces();
    running.report
}

struct Running {
    device: Device,
    target: Box<dyn Target>,
    session: Session,
    now_ps: u64,
    expected: BTreeMap<u32, Vec<(String, Expected)>>,
    received: BTreeMap<u32, Vec<Vec<u8>>>,
    report: Report,
}

impl Running {
    fn step(&mut self, located: &LocatedStep) -> Result<(), String> {
        let origin = &located.origin;
        match &located.step {
            Step::Control(command) => {
                let located = Located { origin: origin.clone(), command: (**command).clone() };
                let answer = self.session.apply(&located, &mut *self.target);
                answer.map_err(|error| error.to_string())?;
            }
            Step::Packet { port, data } => {
                self.report.packets_in += 1;
                self.now_ps = self.now_ps.max(self.device.now_ps()) + PACKET_GAP_PS;
                let sent = self.device.inject(*port, self.now_ps, data.clone());
                sent.map_err(|error| format!("{origin}: {error}"))?;
                let done = self.device.run_to_completion();
                self.collect();
                done.map_err(|error| format!("{origin}: {error}"))?;
            }
            Step::Expect(expected) => {
                let list = self.expected.entry(expected.port).or_default();
                list.push((origin.to_string(), expected.clone()));
            }
            Step::NoPacket | Step::Wait => {}
            Step::RemoveAll => {
                let program = self.device.program();
                for table in program.tables.iter().filter(|table| !table.const_entries) {
                    let command = Command::TableClear { table: table.name.to_string() };
                    let located = Located { origin: origin.clone(), command };
                    let cleared = self.session.apply(&located, &mut *self.target);
                    cleared.map_err(|error| error.to_string())?;
                }
            }
            Step::CheckCounter { counter, index, bytes, comparison, value } => {
                let index = match index {
                    CounterIndex::Number(number) => *number,
                    CounterIndex::Label(label) => match self.session.labelled(label) {
                        Some((_, handle)) => handle,
                        None => return Err(format!("{origin}: no entry is called `{label}`")),
                    },
                };
                let found = self.session.read_counter(counter, index, origin, &mut *self.target);
                let found = found.map_err(|error| error.to_string())?;
                let (found, unit) =
                    if *bytes { (found.bytes, "bytes") } else { (found.packets, "packets") };
                if !comparison.holds(found, *value) {
                    return Err(format!(
                        "{origin}: counter `{counter}({index})` has {found} {unit}, expected {} {value}",
                        comparison.spelling()
                    ));
                }
            }
        }
        Ok(())
    }

    fn collect(&mut self) {
        for sent in self.device.drain_transmitted() {
            self.report.packets_out += 1;
            self.received.entry(sent.port).or_default().push(sent.bytes);
        }
    }

    fn compare(&mut self) {
        self.collect();
        let mut ports: Vec<u32> =
            self.expected.keys().chain(self.received.keys()).copied().collect();
        ports.sort_unstable();
        ports.dedup();
        for port in ports {
            let expected = self.expected.remove(&port).unwrap_or_default();
            let received = self.received.remove(&port).unwrap_or_default();
            // `expect PORT` without data accepts whatever comes.
            if expected.iter().any(|(_, expected)| expected.nibbles.is_none()) {
                if received.is_empty() {
                    let place = &expected[0].0;
                    self.report
                        .failures
                        .push(format!("{place}: expected a packet on port {port}, none came"));
                }
                continue;
            }
            let most = expected.len() + MAX_UNEXPECTED;
            if received.len() > most {
                self.report.failures.push(format!(
                    "port {port}: {} packets came, {} were expected",
                    received.len(),
                    expected.len()
                ));
            }
            for at in 0..expected.len().max(received.len()).min(most) {
                let failure = match (expected.get(at), received.get(at)) {
                    (Some((place, wanted)), Some(bytes)) => {
                        difference(wanted, bytes).map(|difference| {
                            format!("{place}: port {port}, packet {}: {difference}", at + 1)
                        })
                    }
                    (Some((place, wanted)), None) => Some(format!(
                        "{place}: expected on port {port}, but no such packet came\n  expected {}",
                        nibbles_text(wanted)
                    )),
                    (None, Some(bytes)) => Some(format!(
                        "port {port}: a packet came that was not expected\n  received {}",
                        bytes_text(bytes)
                    )),
                    (None, None) => None,
                };
                self.report.failures.extend(failure);
            }
        }
    }
}

/// What differs, or `None`.
fn difference(expected: &Expected, bytes: &[u8]) -> Option<String> {
    let nibbles = expected.nibbles.as_deref().unwrap_or(&[]);
    let received: Vec<u8> = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).collect();
    let wrong = |at: usize, wanted: &Nibble| match (wanted, received.get(at)) {
        (_, None) => true,
        (Some(wanted), Some(found)) => wanted != found,
        (None, Some(_)) => false,
    };
    let first = nibbles.iter().enumerate().find(|(at, wanted)| wrong(*at, wanted));
    let problem = match first {
        Some((at, _)) if at >= received.len() => {
            format!("too short: {} bytes instead of {}", bytes.len(), nibbles.len().div_ceil(2))
        }
        Some((at, _)) => format!("differs first in byte {}", at / 2),
        None if expected.exact_length && received.len() != nibbles.len() => {
            format!("too long: {} bytes instead of {}", bytes.len(), nibbles.len().div_ceil(2))
        }
        None => return None,
    };
    let mut marks = String::new();
    for at in 0..nibbles.len().max(received.len()) {
        let differs = match nibbles.get(at) {
            Some(wanted) => wrong(at, wanted),
            None => expected.exact_length,
        };
        marks.push(if differs { '^' } else { ' ' });
        if at % 2 == 1 {
            marks.push(' ');
        }
    }
    Some(format!(
        "{problem}\n  expected {}\n  received {}\n           {}",
        nibbles_text(expected),
        bytes_text(bytes),
        marks.trim_end()
    ))
}

fn nibbles_text(expected: &Expected) -> String {
    let Some(nibbles) = &expected.nibbles else { return "any packet".to_string() };
    let mut text = String::new();
    for (at, nibble) in nibbles.iter().enumerate() {
        if at > 0 && at % 2 == 0 {
            text.push(' ');
        }
        match nibble {
            // Writing to a string cannot fail.
            Some(value) => drop(write!(text, "{value:x}")),
            None => text.push('*'),
        }
    }
    if !expected.exact_length {
        text.push_str(" ...");
    }
    text
}

fn bytes_text(bytes: &[u8]) -> String {
    let parts: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: &str, bytes: &[u8], wanted: Option<&str>) {
        let (steps, errors) = super::super::reader::read("t.stf", &format!("expect 1 {expected}"));
        assert_eq!(errors, []);
        let Step::Expect(expected) = &steps[0].step else { panic!("no expectation") };
        assert_eq!(difference(expected, bytes).as_deref(), wanted);
    }

    #[test]
    fn packets_compared() {
        check("0102", &[1, 2, 3], None);
        check("01**$", &[1, 2], None);
        check(
            "01**",
            &[2, 2],
            Some("differs first in byte 0\n  expected 01 ** ...\n  received 02 02\n            ^"),
        );
        check(
            "0102$",
            &[1, 2, 3],
            Some(
                "too long: 3 bytes instead of 2\n  expected 01 02\n  received 01 02 03\n                 ^^",
            ),
        );
        check(
            "0102",
            &[1],
            Some(
                "too short: 1 bytes instead of 2\n  expected 01 02 ...\n  received 01\n              ^^",
            ),
        );
    }
}
