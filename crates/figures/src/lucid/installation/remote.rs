// SPDX-License-Identifier: Apache-2.0
//! Flow installation by remote control: a hand-written firewall in P4 whose flows are entries of a match
//! table. The first packet of a flow is reported to a controller in a thread of its own, which writes the
//! entry through the device's control interface. Nothing lies between switch and controller but a channel
//! of this process, so the times are a lower bound of what a remote controller needs.

use super::{FLOWS, internal, seed};
use crate::Measuring;
use control::command::Origin;
use control::target::{Batch, Target};
use control::{ControlError, lookup};
use device::{Burst, Device, DeviceOptions, DeviceTarget};
use ir::ready::ReadyProgram;
use ir::{ActionId, Bits, KeyPattern, Program, TableId};
use p4::interfaces::InterfacesOnly;
use p4::preprocessor::PreprocessorOptions;
use source::{Diagnostics, SourceMap};
use state::{BoundAction, NewEntry, Update};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

const NAME: &str = "remote_firewall.p4";
const TEXT: &str = include_str!("remote_firewall.p4");

const INSIDE_PORT: u32 = 1;
const OUTSIDE_PORT: u32 = 2;
/// Each flow is installed and removed so often; the shortest times count.
const REPETITIONS: u32 = 5;
const FRAME_BYTES: usize = 64;

/// How long one installation took, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Installed {
    /// Writing the entry, until packets see it.
    pub(super) entry_ns: f64,
    /// From the first packet to the entry.
    pub(super) whole_ns: f64,
}

/// The firewall as devices run it.
fn pipeline() -> Result<Arc<Program>, (SourceMap, Diagnostics)> {
    let options = PreprocessorOptions::default();
    let mut compiled = p4::compile::compile(NAME, TEXT.to_string(), &InterfacesOnly, &options);
    match ReadyProgram::of(&mut compiled) {
        Some(ready) => Ok(ready.program().clone()),
        None => Err((compiled.map, compiled.diagnostics)),
    }
}

/// A flow: who is inside, who is outside.
type Flow = (u32, u32);

/// The controller's view of the switch: the names of the program's table and action.
#[derive(Clone)]
struct Controller {
    target: DeviceTarget,
    program: Arc<Program>,
    table: TableId,
    action: ActionId,
}

impl Controller {
    fn new(target: DeviceTarget, program: Arc<Program>) -> Result<Controller, ControlError> {
        let origin = Origin { file: "controller".to_string(), place: String::new() };
        let table = lookup::table(&program, "flows", &origin)?;
        let at = lookup::table_action(&program, table, "pass", &origin)?;
        let action = program.tables[table.index()].actions[at].action;
        Ok(Controller { target, program, table, action })
    }

    fn keys(flow: Flow) -> Vec<KeyPattern> {
        [flow.0, flow.1].map(|one| KeyPattern::Exact(Bits::from_u64(32, one.into()))).to_vec()
    }

    /// Writes a batch; packets see it when this returns.
    fn write(&mut self, update: Update) -> Result<(), Diagnostics> {
        let outcome = self.target.execute(Batch::one(update).made_for(self.program.clone()));
        match outcome.first_fault() {
            None => Ok(()),
            Some((_, fault)) => Err(internal(&format!("the entry is refused: {fault}"))),
        }
    }

    fn install(&mut self, flow: Flow) -> Result<(), Diagnostics> {
        let action = BoundAction { action: self.action, arguments: Vec::new() };
        let entry = NewEntry::direct(Controller::keys(flow), 0, action);
        self.write(Update::InsertEntry { table: self.table, entry })
    }

    fn remove(&mut self, flow: Flow) -> Result<(), Diagnostics> {
        let keys = Controller::keys(flow);
        self.write(Update::DeleteEntry { table: self.table, keys, priority: 0 })
    }

    /// Installs the flows that are reported, until there are no more reports; answers when each entry
    /// was there, and how long writing it took in nanoseconds.
    fn serve(
        &mut self,
        reports: &Receiver<Flow>,
        answers: &Sender<Result<(Instant, f64), Diagnostics>>,
    ) {
        for flow in reports {
            let begin = Instant::now();
            let written = self.install(flow);
            let end = Instant::now();
            let answer = written.map(|()| (end, (end - begin).as_nanos() as f64));
            if answers.send(answer).is_err() {
                return;
            }
        }
    }
}

/// A packet from inside of the first flow's direction, or the answer from outside.
fn frame((inside, outside): Flow, from_inside: bool) -> Vec<u8> {
    let (source, destination) = if from_inside { (inside, outside) } else { (outside, inside) };
    let mut bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x00];
    bytes.extend([0x45, 0, 0, 20, 0, 0, 0, 0, 64, 17, 0, 0]);
    bytes.extend(source.to_be_bytes());
    bytes.extend(destination.to_be_bytes());
    bytes
}

/// The switch at one end of the channel.
struct Switch {
    device: Device,
    burst: Burst,
}

impl Switch {
    /// Forwards one packet; whether it left by the other port.
    fn forward(&mut self, port: u32, bytes: &[u8]) -> Result<bool, Diagnostics> {
        self.burst.clear();
        let pushed = self.burst.push(port, bytes);
        pushed.map_err(|error| internal(&error.to_string()))?;
        let forwarded = self.device.forward(&mut self.burst);
        forwarded.map_err(|error| internal(&error.to_string()))?;
        Ok(self.burst.outputs().any(|sent| sent.port == INSIDE_PORT + OUTSIDE_PORT - port))
    }

    /// The flow that the last packet reported.
    fn report(&mut self) -> Option<Flow> {
        let digest = self.device.drain_digests().pop()?;
        let field = |at: usize| digest.fields.get(at).map(|(_, value)| value.low_u64() as u32);
        Some((field(0)?, field(1)?))
    }
}

/// Installs flows one after the other in a table with as many entries as in the other trials.
pub(super) fn trials(
    measuring: &mut Measuring<'_>,
    count: u64,
) -> Result<Vec<Installed>, (SourceMap, Diagnostics)> {
    let program = pipeline()?;
    measured(program, measuring, count).map_err(|found| (SourceMap::new(), found))
}

fn measured(
    program: Arc<Program>,
    measuring: &mut Measuring<'_>,
    count: u64,
) -> Result<Vec<Installed>, Diagnostics> {
    let device = Device::new(program.clone(), DeviceOptions::default())
        .map_err(|error| internal(&error.to_string()))?;
    let mut controller =
        Controller::new(device.target(), program).map_err(|error| internal(&error.to_string()))?;
    let mut switch = Switch { device, burst: Burst::new(1, FRAME_BYTES) };
    // The hosts inside have numbers from 1, the one outside has the seed's.
    let outside = seed(measuring, 0) as u32;
    for inside in 0..FLOWS as u32 {
        controller.install((inside + 1, outside))?;
    }
    let (reports, reported) = channel();
    let (answers, answered) = channel();
    std::thread::scope(|scope| {
        let mut serving = controller.clone();
        scope.spawn(move || serving.serve(&reported, &answers));
        // Moved in here, so that the controller ends when this does.
        let reports = reports;
        let mut found = Vec::new();
        for trial in 0..count {
            if trial % 50 == 0 {
                (measuring.progress)("figure 17, remote control", trial as f64 / count as f64);
            }
            let flow = ((FLOWS + 1 + trial) as u32, outside);
            let mut best = Installed { entry_ns: f64::INFINITY, whole_ns: f64::INFINITY };
            for _ in 0..REPETITIONS {
                let (first, answer) = (frame(flow, true), frame(flow, false));
                if switch.forward(OUTSIDE_PORT, &answer)? {
                    return Err(internal("a packet came in before the flow was there"));
                }
                let begin = Instant::now();
                switch.forward(INSIDE_PORT, &first)?;
                let report = switch.report().ok_or_else(|| internal("a flow was not reported"))?;
                let sent = reports.send(report);
                sent.map_err(|_| internal("the controller is gone"))?;
                let (there, entry_ns) =
                    answered.recv().map_err(|_| internal("the controller is gone"))??;
                best.entry_ns = best.entry_ns.min(entry_ns);
                best.whole_ns = best.whole_ns.min((there - begin).as_nanos() as f64);
                if !switch.forward(OUTSIDE_PORT, &answer)? {
                    return Err(internal("a flow was installed, and its answer did not pass"));
                }
                controller.remove(flow)?;
            }
            found.push(best);
        }
        Ok(found)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_installed_by_the_controller_and_answers_pass() {
        let mut progress = |_: &str, _: f64| {};
        let mut measuring = Measuring { seed: 1, progress: &mut progress };
        let found = trials(&mut measuring, 3).map_err(|(_, found)| found).expect("it works");
        assert_eq!(found.len(), 3);
        assert!(found.iter().all(|one| one.entry_ns > 0.0 && one.entry_ns < one.whole_ns));
    }
}
