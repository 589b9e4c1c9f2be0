// SPDX-License-Identifier: Apache-2.0
//! [`Subject`]: runs a program on commands and packets and returns observations. [`DeviceSubject`] is a subject made of
//! a `device::Device`; the caller chooses which two are compared.

use crate::forms::{Form, Forms};
use control::session::Session;
use control::target::Target;
use device::{Device, DeviceError, DeviceOptions, EngineChoice, PassTiming};
use ir::{CounterId, RegisterId, TableId};
use std::fmt;
use std::sync::Arc;

/// Something that happens to a device from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stimulus {
    /// A line of BMv2's command text.
    Command(String),
    /// A packet.
    Packet {
        /// The port it comes in by.
        port: u32,
        /// How long after the one before, in picoseconds.
        gap_ps: u64,
        /// The packet.
        bytes: Vec<u8>,
    },
}

impl fmt::Display for Stimulus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stimulus::Command(line) => write!(formatter, "command {line}"),
            Stimulus::Packet { port, gap_ps, bytes } => {
                write!(formatter, "packet port {port} after {gap_ps} ps: {}", hex(bytes))
            }
        }
    }
}

/// Bytes as digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Something that a device shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// A packet that left.
    Transmitted(device::Transmitted),
    /// A digest.
    Digest(device::DigestMessage),
    /// A line of the log.
    Log(device::LogLine),
    /// A command was refused, or a run stopped.
    Error(String),
    /// A statistic or a cell at the end: what it is called, and its value.
    Final(String, String),
}

impl fmt::Display for Observation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Observation::Transmitted(sent) => write!(
                formatter,
                "packet {} left by port {} queue {} at {} ps: {}",
                sent.packet,
                sent.port,
                sent.queue,
                sent.time_ps,
                hex(&sent.bytes)
            ),
            Observation::Digest(digest) => {
                write!(formatter, "digest `{}` of packet {}", digest.name, digest.packet)?;
                for (name, value) in &digest.fields {
                    write!(formatter, " {name}={value}")?;
                }
                Ok(())
            }
            Observation::Log(line) => {
                write!(formatter, "log of packet {}: {}", line.packet, line.text)
            }
            Observation::Error(text) => write!(formatter, "error: {text}"),
            Observation::Final(name, value) => write!(formatter, "{name} = {value}"),
        }
    }
}

/// A device under test.
pub trait Subject {
    /// What it is called in reports.
    fn name(&self) -> &str;

    /// Takes a program, in its first state. The error says why it cannot.
    fn load(&mut self, program: &Forms) -> Result<(), String>;

    /// Takes a command or a packet, does all that follows from it, and adds what it saw.
    fn take(&mut self, stimulus: &Stimulus, seen: &mut Vec<Observation>);

    /// Adds statistics and the contents of state.
    fn finish(&mut self, seen: &mut Vec<Observation>);
}

/// A change of the IR before it is loaded.
struct Alteration(Box<dyn Fn(&mut ir::Program)>);

impl fmt::Debug for Alteration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Alteration")
    }
}

/// A [`Device`] with options, on some form of the program.
#[derive(Debug)]
pub struct DeviceSubject {
    name: String,
    form: Form,
    options: DeviceOptions,
    alteration: Option<Alteration>,
    /// Packets arrive at multiples of this time, and observations count time in it.
    slot_ps: Option<u64>,
    running: Option<(Device, Session)>,
}

/// How many passes a packet and its copies may take: more would only take time.
const PASS_LIMIT: u32 = 12;

impl DeviceSubject {
    /// A device with options of its own.
    pub fn new(name: impl Into<String>, form: Form, options: DeviceOptions) -> DeviceSubject {
        DeviceSubject {
            name: name.into(),
            form,
            options,
            alteration: None,
            slot_ps: None,
            running: None,
        }
    }

    /// The same with a change of the IR before it is loaded: a planted mistake, to see that it is found.
    pub fn altered(mut self, alteration: impl Fn(&mut ir::Program) + 'static) -> DeviceSubject {
        self.alteration = Some(Alteration(Box::new(alteration)));
        self
    }

    /// The same with one packet a slot of this length, and with times counted in slots: for subjects whose
    /// passes take different times.
    pub fn in_slots(mut self, slot_ps: u64) -> DeviceSubject {
        self.slot_ps = Some(slot_ps);
        self
    }

    /// The same with passes that take time.
    pub fn timed(mut self, timing: PassTiming) -> DeviceSubject {
        self.name.push_str(", timed");
        self.options.pass_timing = Some(timing);
        self
    }

    /// The subjects that have names: `interpreter` (the IR simplified, as `plane run` has it),
    /// `lowered` (the interpreter on the IR as lowered), `reprinted` (the interpreter on the program
    /// printed and read again), `inlined` (the interpreter on the program with its calls inlined),
    /// `rewritten` (the interpreter on the program after edits that change nothing), `jit` (machine code of
    /// the simplified IR), `jit-lowered` (machine code of the IR as lowered) and `jit-inlined` (machine
    /// code of the program with its calls inlined).
    pub fn named(name: &str) -> Option<DeviceSubject> {
        let (form, engine) = match name {
            "interpreter" => (Form::Simplified, EngineChoice::Interpreter),
            "lowered" => (Form::Lowered, EngineChoice::Interpreter),
            "reprinted" => (Form::Reprinted, EngineChoice::Interpreter),
            "inlined" => (Form::Inlined, EngineChoice::Interpreter),
            "jit-inlined" => (Form::Inlined, EngineChoice::Jit),
            "rewritten" => (Form::Rewritten, EngineChoice::Interpreter),
            "jit" => (Form::Simplified, EngineChoice::Jit),
            "jit-lowered" => (Form::Lowered, EngineChoice::Jit),
            _ => return None,
        };
        let options =
            DeviceOptions { engine, pass_limit: Some(PASS_LIMIT), ..DeviceOptions::default() };
        Some(DeviceSubject::new(name, form, options))
    }

    /// The form of the program that it runs.
    pub fn form(&self) -> Form {
        self.form
    }

    /// The names that [`DeviceSubject::named`] knows.
    pub const NAMES: &'static [&'static str] = &[
        "interpreter",
        "lowered",
        "reprinted",
        "inlined",
        "rewritten",
        "jit",
        "jit-lowered",
        "jit-inlined",
    ];
}

/// An error's text; with slots, its time counts slots.
fn error_text(mut error: DeviceError, slot_ps: Option<u64>) -> String {
    if let (
        DeviceError::AssertionFailed { time_ps, .. } | DeviceError::ExternFailed { time_ps, .. },
        Some(slot_ps),
    ) = (&mut error, slot_ps)
    {
        *time_ps /= slot_ps;
    }
    error.to_string()
}

/// Drains a device's outputs. With slots, times count slots; log lines are sorted, and packets are sorted by
/// port and lose their sequence number, because copies of a packet need not run in the same order.
fn collect(device: &mut Device, slot_ps: Option<u64>, seen: &mut Vec<Observation>) {
    let (mut log, mut digests) = (device.drain_log(), device.drain_digests());
    let mut transmitted = device.drain_transmitted();
    if let Some(slot_ps) = slot_ps {
        log.iter_mut().for_each(|line| line.time_ps /= slot_ps);
        digests.iter_mut().for_each(|digest| digest.time_ps /= slot_ps);
        for packet in &mut transmitted {
            packet.time_ps /= slot_ps;
            packet.sequence = 0;
        }
        log.sort_by(|one, other| (one.packet, &one.text).cmp(&(other.packet, &other.text)));
        transmitted.sort_by(|one, other| (one.port, &one.bytes).cmp(&(other.port, &other.bytes)));
    }
    seen.extend(log.into_iter().map(Observation::Log));
    seen.extend(digests.into_iter().map(Observation::Digest));
    seen.extend(transmitted.into_iter().map(Observation::Transmitted));
}

fn command(target: &mut dyn Target, session: &mut Session, line: &str) -> Result<(), String> {
    let (commands, errors) = control::command_text::read("commands", line);
    if let Some(error) = errors.first() {
        return Err(error.to_string());
    }
    for located in commands {
        session.apply(&located, target).map_err(|error| error.to_string())?;
    }
    Ok(())
}

impl Subject for DeviceSubject {
    fn name(&self) -> &str {
        &self.name
    }

    fn load(&mut self, program: &Forms) -> Result<(), String> {
        self.running = None;
        let mut program = program.form(self.form).map_err(|error| error.to_string())?;
        if let Some(Alteration(alteration)) = &self.alteration {
            alteration(Arc::make_mut(&mut program));
        }
        let device = Device::new(program.clone(), self.options.clone())
            .map_err(|error| format!("the program does not load: {error}"))?;
        self.running = Some((device, Session::new(program)));
        Ok(())
    }

    fn take(&mut self, stimulus: &Stimulus, seen: &mut Vec<Observation>) {
        let Some((device, session)) = &mut self.running else { return };
        let outcome = match stimulus {
            Stimulus::Command(line) => command(&mut device.target(), session, line),
            Stimulus::Packet { port, gap_ps, bytes } => {
                let time_ps = match self.slot_ps {
                    Some(slot_ps) => (device.now_ps() / slot_ps + 1) * slot_ps,
                    None => device.now_ps() + gap_ps,
                };
                match device.inject(*port, time_ps, bytes.clone()) {
                    Ok(_) => {
                        device.run_to_completion().map_err(|error| error_text(error, self.slot_ps))
                    }
                    Err(error) => Err(error.to_string()),
                }
            }
        };
        collect(device, self.slot_ps, seen);
        seen.extend(outcome.err().map(Observation::Error));
    }

    fn finish(&mut self, seen: &mut Vec<Observation>) {
        let Some((device, _)) = &mut self.running else { return };
        let outcome = device.run_to_completion();
        collect(device, self.slot_ps, seen);
        seen.extend(outcome.err().map(|error| Observation::Error(error_text(error, self.slot_ps))));
        // By name: forms of a program may declare the same things in another order.
        let mut values: Vec<(String, String)> = Vec::new();
        let mut note = |name: String, value: String| values.push((name, value));
        note("statistics".to_string(), format!("{:?}", device.statistics()));
        let program = device.program();
        let cells = device.cells();
        for (at, declared) in program.registers.iter().enumerate() {
            let Some(register) = cells.register(RegisterId(at as u32)) else { continue };
            for index in 0..register.size().min(64) {
                if let Some(value) = register.read(index).filter(|value| *value != declared.initial)
                {
                    note(format!("register {}[{index}]", declared.name), value.to_string());
                }
            }
        }
        for (at, declared) in program.counters.iter().enumerate() {
            let counter = CounterId(at as u32);
            for index in 0..cells.counter_size(counter).min(64) {
                let value = cells.counter(counter, index).unwrap_or_default();
                if value != state::CounterValue::default() {
                    note(format!("counter {}[{index}]", declared.name), format!("{value:?}"));
                }
            }
        }
        let configuration = device.configuration();
        for (at, declared) in program.tables.iter().enumerate() {
            let Some(table) = configuration.table(TableId(at as u32)) else { continue };
            for counter in &declared.direct_counters {
                let name = &program.counters[counter.index()].name;
                let entries = table.entries().map(|entry| Some(&**entry));
                for entry in std::iter::once(None).chain(entries) {
                    let value = cells.direct_counter(*counter, entry);
                    // A form without a table that nothing can reach has no counters of it.
                    if value == state::CounterValue::default() {
                        continue;
                    }
                    let place =
                        entry.map_or("default".to_string(), |entry| entry.handle.0.to_string());
                    note(format!("direct counter {name} of {place}"), format!("{value:?}"));
                }
            }
        }
        values.sort();
        seen.extend(values.into_iter().map(|(name, value)| Observation::Final(name, value)));
    }
}
