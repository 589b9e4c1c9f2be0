// SPDX-License-Identifier: Apache-2.0
//! What a run did, as short lines to compare.

use lucid::core::NO_PORT;
use lucid::core::Program;
use lucid_reference::interpreter::{EventValue, Group, Value};
use lucid_reference::simulation::{
    Observation, ObservationKind, Observer, Outcome, Setup, Simulation, Stage,
};
use lucid_reference::specification::Run;
use std::fmt::Write;
use std::sync::Arc;

/// An observer that writes lines.
pub struct Log {
    program: Arc<Program>,
    pub lines: Vec<String>,
}

fn value(value: &Value) -> String {
    match value {
        Value::Int(value) => value.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Group(Group::Members(members)) => format!("{members:?}"),
        Value::Group(Group::AllBut(port)) => format!("all but {port}"),
        Value::Payload(bytes) => bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        }),
        Value::Event(event) => format!("event {}", event.event.0),
    }
}

impl Log {
    pub fn new(program: Arc<Program>) -> Log {
        Log { program, lines: Vec::new() }
    }

    fn event(&self, event: &EventValue) -> String {
        let name = &self.program.events[event.event.0 as usize].name;
        let arguments: Vec<String> = event.arguments.iter().map(value).collect();
        format!("{name}({})", arguments.join(","))
    }
}

fn port_text(port: u32) -> String {
    if port == NO_PORT { "-".to_string() } else { port.to_string() }
}

impl Observer for Log {
    fn observe(&mut self, observation: Observation) {
        let (ns, rest) = (observation.time_ps / 1000, observation.time_ps % 1000);
        let time = if rest == 0 { ns.to_string() } else { format!("{ns}.{rest:03}") };
        let at = observation.switch;
        let line = match &observation.kind {
            ObservationKind::Handled { event, port, stage, .. } => {
                let stage = match stage {
                    Stage::Ingress => "",
                    Stage::Egress => " egress",
                    Stage::Control => " control",
                };
                format!("{time} {at}:{port}{stage} {}", self.event(event))
            }
            ObservationKind::Printed { text, .. } => format!("{time} {at} \"{text}\""),
            ObservationKind::Left { event, port, bytes, .. } => {
                let mut line =
                    format!("{time} {at}:{} out {}", port_text(*port), self.event(event));
                if let Some(bytes) = bytes {
                    let _ = write!(line, " {}", value(&Value::Payload(bytes.clone())));
                }
                line
            }
            ObservationKind::Dropped { reason, .. } => format!("{time} {at} lost {reason:?}"),
            ObservationKind::Commanded { text, result } => match result {
                Some(result) => format!("{time} {at} {text} = {result}"),
                None => format!("{time} {at} {text}"),
            },
            ObservationKind::OutOfRange { index, .. } => format!("{time} {at} beyond {index}"),
            ObservationKind::TableFull { .. } => format!("{time} {at} full"),
            ObservationKind::LeftAsBytes { port, bytes } => {
                format!("{time} {at}:{} out {bytes:?}", port_text(*port))
            }
            ObservationKind::Link { up, .. } => format!("{time} link {up}"),
            ObservationKind::Generated { .. }
            | ObservationKind::Accessed { .. }
            | ObservationKind::LookedUp { .. }
            | ObservationKind::Called { .. } => return,
        };
        self.lines.push(line);
    }
}

/// Runs to the end; the simulation and what it did.
pub fn run(program: &Arc<Program>, run: &Run) -> (Simulation, Outcome, Vec<String>) {
    let setup = match Setup::new(program.clone(), run) {
        Ok(setup) => setup,
        Err(found) => panic!("the run does not fit the program: {found:?}"),
    };
    let mut simulation = Simulation::new(Arc::new(setup));
    let mut log = Log::new(program.clone());
    let outcome = simulation.run(&mut log);
    (simulation, outcome, log.lines)
}

/// Runs and compares what it did.
#[track_caller]
pub fn check(program: &Arc<Program>, specification: &Run, expected: &[&str]) {
    let (_, _, lines) = run(program, specification);
    assert_eq!(lines, expected);
}
