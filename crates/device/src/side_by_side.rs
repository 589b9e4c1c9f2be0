// SPDX-License-Identifier: Apache-2.0
//! `SideBySide`: runs a program on both engines packet by packet and reports the first difference. `plane run --verify`
//! uses it.

use crate::options::{DeviceOptions, EngineChoice};
use crate::output::{DeviceError, DigestMessage, LoadError, LogLine, Transmitted};
use crate::statistics::Statistics;
use crate::trace::{PacketTrace, TraceNode};
use crate::{Device, OutputPath};
use interpreter::trace::TraceValue;
use ir::{CounterId, ExternId, Program, RegisterId};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// Number of recent packets kept for reports of differences.
const PACKETS_REMEMBERED: usize = 4096;

/// Largest number of cells of a register or counter that are compared at the end.
const MAX_CELLS_COMPARED: u64 = 1 << 16;

/// Why a run on both engines stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The engines gave different results.
    Difference(Difference),
    /// Both engines stopped with the same error.
    Error(DeviceError),
}

/// The first difference between the engines, for users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Number of the received packet, if the difference belongs to one.
    pub packet: Option<u64>,
    /// Its ingress port and bytes, if it is a recent packet.
    pub input: Option<(u32, Vec<u8>)>,
    /// The kind of output that differs: a transmitted packet, a digest, a statistic.
    pub what: String,
    /// The result of compiled code.
    pub on_jit: String,
    /// The result of the interpreter.
    pub on_interpreter: String,
    /// The first differing byte of a packet, and the header field that contains it.
    pub place: Option<String>,
}

fn hex(bytes: &[u8]) -> String {
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.join(" ")
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.packet {
            Some(packet) => writeln!(formatter, "the engines differ at packet {packet}")?,
            None => writeln!(formatter, "the engines differ at the end of the run")?,
        }
        if let Some((port, bytes)) = &self.input {
            writeln!(formatter, "  input, port {port}, {} bytes: {}", bytes.len(), hex(bytes))?;
        }
        writeln!(formatter, "  {}", self.what)?;
        writeln!(formatter, "  jit:         {}", self.on_jit)?;
        writeln!(formatter, "  interpreter: {}", self.on_interpreter)?;
        if let Some(place) = &self.place {
            writeln!(formatter, "  first difference: {place}")?;
        }
        write!(formatter, "  what the interpreter did: run it again with --trace, without --verify")
    }
}

/// The outputs of a device since they were last taken.
struct Observed {
    transmitted: Vec<Transmitted>,
    digests: Vec<DigestMessage>,
    log: Vec<LogLine>,
    error: Option<DeviceError>,
}

impl Observed {
    fn of(device: &mut Device, result: Result<(), DeviceError>) -> Observed {
        Observed {
            transmitted: device.drain_transmitted(),
            digests: device.drain_digests(),
            log: device.drain_log(),
            error: result.err(),
        }
    }
}

/// Outputs on which both engines agree.
#[derive(Clone, Debug, Default)]
pub struct AgreedOutputs {
    /// Packets sent.
    pub transmitted: Vec<Transmitted>,
    /// Digests.
    pub digests: Vec<DigestMessage>,
    /// Lines of the log.
    pub log: Vec<LogLine>,
}

/// Two devices with equal options, one on each engine.
#[derive(Debug)]
pub struct SideBySide {
    jit: Device,
    /// Records traces, for names of fields.
    interpreter: Device,
    recent: VecDeque<(u64, u32, Vec<u8>)>,
    statistics: Statistics,
}

impl SideBySide {
    /// Makes two devices at time 0 that differ only in the engine.
    pub fn new(program: Arc<Program>, options: DeviceOptions) -> Result<SideBySide, LoadError> {
        let on_jit = DeviceOptions { engine: EngineChoice::Jit, trace: false, ..options.clone() };
        let on_interpreter =
            DeviceOptions { engine: EngineChoice::Interpreter, trace: true, ..options };
        Ok(SideBySide {
            jit: Device::new(program.clone(), on_jit)?,
            interpreter: Device::new(program, on_interpreter)?,
            recent: VecDeque::new(),
            statistics: Statistics::default(),
        })
    }

    /// Returns both devices, the compiled one first, for equal writes.
    pub fn devices_mut(&mut self) -> [&mut Device; 2] {
        [&mut self.jit, &mut self.interpreter]
    }

    /// Returns the device with compiled code.
    pub fn jit(&self) -> &Device {
        &self.jit
    }

    /// Returns the time of both in picoseconds.
    pub fn now_ps(&self) -> u64 {
        self.jit.now_ps()
    }

    /// Advances both devices to the arrival of a packet and runs all events of that time.
    pub fn receive(
        &mut self,
        port: u32,
        time_ps: u64,
        bytes: Vec<u8>,
    ) -> Result<AgreedOutputs, Box<Stop>> {
        let number = self.jit.receptions();
        if self.recent.len() == PACKETS_REMEMBERED {
            self.recent.pop_front();
        }
        self.recent.push_back((number, port, bytes.clone()));
        self.run(Some(number), |device| {
            device.advance(time_ps)?;
            device.inject(port, time_ps, bytes.clone())?;
            device.advance(time_ps)
        })
    }

    /// Runs to completion, or until a time in picoseconds, and compares statistics, registers, counters and externs too.
    pub fn finish(&mut self, until_ps: Option<u64>) -> Result<AgreedOutputs, Box<Stop>> {
        let agreed = self.run(None, |device| match until_ps {
            Some(until_ps) => device.advance(until_ps),
            None => device.run_to_completion(),
        })?;
        match self.state_difference() {
            Some(difference) => Err(Box::new(Stop::Difference(difference))),
            None => Ok(agreed),
        }
    }

    fn run(
        &mut self,
        packet: Option<u64>,
        mut action: impl FnMut(&mut Device) -> Result<(), DeviceError>,
    ) -> Result<AgreedOutputs, Box<Stop>> {
        let result = action(&mut self.jit);
        let on_jit = Observed::of(&mut self.jit, result);
        let result = action(&mut self.interpreter);
        let on_interpreter = Observed::of(&mut self.interpreter, result);
        let traces = self.interpreter.drain_traces();
        let difference = self.difference(packet, &on_jit, &on_interpreter, &traces);
        if let Some(difference) = difference {
            return Err(Box::new(Stop::Difference(difference)));
        }
        match on_jit.error {
            Some(error) => Err(Box::new(Stop::Error(error))),
            None => {
                let Observed { transmitted, digests, log, .. } = on_jit;
                Ok(AgreedOutputs { transmitted, digests, log })
            }
        }
    }

    fn account(&self, packet: Option<u64>, what: String, texts: [String; 2]) -> Difference {
        let [on_jit, on_interpreter] = texts;
        let input = self.recent.iter().find(|recent| Some(recent.0) == packet);
        let input = input.map(|(_, port, bytes)| (*port, bytes.clone()));
        Difference { packet, input, what, on_jit, on_interpreter, place: None }
    }

    fn difference(
        &mut self,
        packet: Option<u64>,
        on_jit: &Observed,
        on_interpreter: &Observed,
        traces: &[PacketTrace],
    ) -> Option<Difference> {
        let pair = first_pair(&on_jit.transmitted, &on_interpreter.transmitted);
        if let Some((one, other)) = pair {
            let about = [one, other].into_iter().flatten().map(|sent| sent.packet).min();
            let text = |sent: Option<&Transmitted>, device: &Device| match sent {
                Some(sent) => format!(
                    "port {}, queue {}, at {} ps, {} bytes: {}",
                    sent.port,
                    sent.queue,
                    sent.time_ps,
                    sent.bytes.len(),
                    hex(&sent.bytes)
                ),
                None => {
                    let changes = changes(&self.statistics, &device.statistics());
                    format!("nothing more was sent ({changes})")
                }
            };
            let what = "in what was sent:".to_string();
            let texts = [text(one, &self.jit), text(other, &self.interpreter)];
            let mut difference = self.account(about.or(packet), what, texts);
            if let (Some(one), Some(other)) = (one, other) {
                difference.place = place(one, other, traces);
            }
            return Some(difference);
        }
        let text = |digest: Option<&DigestMessage>| {
            digest.map_or("no further digest".to_string(), |digest| {
                let fields = digest.fields.iter();
                let fields: Vec<String> =
                    fields.map(|(name, value)| format!("{name} = {value}")).collect();
                format!("{} of packet {}: {}", digest.name, digest.packet, fields.join(", "))
            })
        };
        if let Some((one, other)) = first_pair(&on_jit.digests, &on_interpreter.digests) {
            let what = "in a digest:".to_string();
            return Some(self.account(packet, what, [text(one), text(other)]));
        }
        if let Some((one, other)) = first_pair(&on_jit.log, &on_interpreter.log) {
            let text = |line: Option<&LogLine>| {
                line.map_or("no further line".to_string(), |line| line.text.clone())
            };
            let what = "in the log:".to_string();
            return Some(self.account(packet, what, [text(one), text(other)]));
        }
        if on_jit.error != on_interpreter.error {
            let text = |error: &Option<DeviceError>| {
                error.as_ref().map_or("the run goes on".to_string(), ToString::to_string)
            };
            let texts = [text(&on_jit.error), text(&on_interpreter.error)];
            return Some(self.account(packet, "in how the run stopped:".to_string(), texts));
        }
        let (one, other) = (self.jit.statistics(), self.interpreter.statistics());
        if one != other {
            let texts = [&one, &other].map(|after| changes(&self.statistics, after));
            let what = "in what was counted and dropped:".to_string();
            return Some(self.account(packet, what, texts));
        }
        self.statistics = one;
        None
    }

    fn state_difference(&self) -> Option<Difference> {
        let program = self.jit.program();
        let (one, other) = (self.jit.cells(), self.interpreter.cells());
        for (at, declared) in program.registers.iter().enumerate() {
            let id = RegisterId(at as u32);
            let (Some(one), Some(other)) = (one.register(id), other.register(id)) else { continue };
            for index in 0..one.size().min(MAX_CELLS_COMPARED) {
                let values = [one.read(index), other.read(index)];
                if values[0] != values[1] {
                    let texts =
                        values.map(|value| value.map_or(String::new(), |value| value.to_string()));
                    let what = format!("in register {}[{index}]:", declared.name);
                    return Some(self.account(None, what, texts));
                }
            }
        }
        for (at, declared) in program.counters.iter().enumerate() {
            let id = CounterId(at as u32);
            for index in 0..one.counter_size(id).min(MAX_CELLS_COMPARED) {
                let values = [one.counter(id, index), other.counter(id, index)];
                if values[0] != values[1] {
                    let texts = values.map(|value| {
                        let value = value.unwrap_or_default();
                        format!("{} packets, {} bytes", value.packets, value.bytes)
                    });
                    let what = format!("in counter {}[{index}]:", declared.name);
                    return Some(self.account(None, what, texts));
                }
            }
        }
        for (at, declared) in program.externs.iter().enumerate() {
            let id = ExternId(at as u32);
            let states = [one.extern_snapshot(id), other.extern_snapshot(id)];
            if states[0] != states[1] {
                let texts = states.map(|state| format!("{:02x?}", state.unwrap_or_default()));
                let name = [&declared.instance, &declared.type_name];
                let name = name.into_iter().find(|name| !name.is_empty());
                let what = format!("in extern {}:", name.map_or("", |name| &**name));
                return Some(self.account(None, what, texts));
            }
        }
        None
    }
}

/// Returns the first pair of elements that differ.
fn first_pair<'a, T: PartialEq>(
    one: &'a [T],
    other: &'a [T],
) -> Option<(Option<&'a T>, Option<&'a T>)> {
    (0..one.len().max(other.len()))
        .map(|at| (one.get(at), other.get(at)))
        .find(|(one, other)| one != other)
}

/// Describes the changes of the counters, for users.
fn changes(before: &Statistics, after: &Statistics) -> String {
    let mut parts = Vec::new();
    for (reason, count) in &after.drops {
        let more = count - before.drops.get(reason).copied().unwrap_or(0);
        if more > 0 {
            parts.push(format!("{more} dropped ({reason})"));
        }
    }
    for (port, counters) in &after.ports {
        let more = counters.sent_packets
            - before.ports.get(port).map_or(0, |counters| counters.sent_packets);
        if more > 0 {
            parts.push(format!("{more} sent by {}", OutputPath::Port(*port)));
        }
    }
    let further = [
        ("cloned", after.cloned - before.cloned),
        ("replicated", after.replicated - before.replicated),
        ("resubmitted", after.resubmitted - before.resubmitted),
        ("recirculated", after.recirculated - before.recirculated),
        ("digests", after.digests - before.digests),
    ];
    parts.extend(
        further.iter().filter(|(_, more)| *more > 0).map(|(what, more)| format!("{more} {what}")),
    );
    if parts.is_empty() { "nothing".to_string() } else { parts.join(", ") }
}

/// Describes the first differing byte of two packets, with the field that the interpreter emitted there.
fn place(one: &Transmitted, other: &Transmitted, traces: &[PacketTrace]) -> Option<String> {
    let at = (0..one.bytes.len().max(other.bytes.len()))
        .find(|&at| one.bytes.get(at) != other.bytes.get(at))?;
    let number = other.packet.to_string();
    let trace = traces.iter().find(|trace| trace.name == number);
    let field = trace.and_then(|trace| field_at(trace, other, at));
    Some(match field {
        Some(field) => format!("byte {at}, in {field}"),
        None => format!("byte {at}"),
    })
}

/// Returns the header field at a byte of a packet, from the trace of the pass that transmitted it.
fn field_at(trace: &PacketTrace, sent: &Transmitted, byte: usize) -> Option<String> {
    let is_sending = |pass: &&TraceNode| {
        let mut steps = pass.steps.iter();
        steps.any(|step| {
            let is = |name, number| step.detail(name) == Some(&TraceValue::Number(number));
            step.step == "transmit"
                && is("port", u64::from(sent.port))
                && is("time_ps", sent.time_ps)
        })
    };
    let pass = trace.steps.iter().find(is_sending)?;
    let mut end_bits = 0;
    let mut waiting: Vec<&TraceNode> = vec![pass];
    while let Some(node) = waiting.pop() {
        waiting.extend(node.steps.iter().rev());
        let (true, Some(TraceValue::Record(fields))) = (node.step == "emit", node.detail("fields"))
        else {
            continue;
        };
        for (name, value) in fields {
            let TraceValue::Value(bits, _) = value else { continue };
            end_bits += bits.width_bits() as usize;
            if end_bits > byte * 8 {
                return Some(format!("{}.{name}", node.name));
            }
        }
    }
    Some("the payload".to_string())
}

#[cfg(test)]
mod tests;
