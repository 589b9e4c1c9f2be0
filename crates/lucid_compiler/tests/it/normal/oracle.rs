// SPDX-License-Identifier: Apache-2.0
//! Runs a program and the same program after each pass, and compares all that can be observed: what
//! was handled when and where, drawn, generated, printed and called, and the state in the end.

use lucid::core::Program;
use lucid_compiler::normal;
use lucid_reference::interpreter::State;
use lucid_reference::simulation::{Observation, ObservationKind, Observer, Setup, Simulation};
use lucid_reference::specification::Run;
use std::path::Path;
use std::sync::Arc;

/// What happened, in order, as texts; accesses beyond the end of arrays are not compared, since reads
/// whose value is not used go.
#[derive(Default)]
struct Seen(Vec<String>);

impl Observer for Seen {
    fn observe(&mut self, observation: Observation) {
        if !matches!(observation.kind, ObservationKind::OutOfRange { .. }) {
            self.0.push(format!("{observation:?}"));
        }
    }
}

/// What a run shows and leaves; captures are in a folder.
pub fn observed(program: &Program, run: &Run, folder: &Path) -> (Vec<String>, Vec<State>) {
    let mut captures = |name: &str| {
        std::fs::read(folder.join(name)).map_err(|error| format!("cannot read `{name}`: {error}"))
    };
    let setup = match Setup::with_captures(Arc::new(program.clone()), run, &mut captures) {
        Ok(setup) => setup,
        Err(said) => panic!("{said:?}"),
    };
    let switches = setup.switches();
    let mut simulation = Simulation::new(Arc::new(setup));
    let mut seen = Seen::default();
    simulation.run(&mut seen);
    let states = (0..switches).filter_map(|switch| simulation.state(switch).cloned()).collect();
    (seen.0, states)
}

/// Where two runs differ first; `None` if they do not.
fn difference(
    one: &(Vec<String>, Vec<State>),
    other: &(Vec<String>, Vec<State>),
) -> Option<String> {
    let longest = one.0.len().max(other.0.len());
    for at in 0..longest {
        if one.0.get(at) != other.0.get(at) {
            return Some(format!("{at}: {:?}\n{at}: {:?}", one.0.get(at), other.0.get(at)));
        }
    }
    (one.1 != other.1).then(|| "the states differ".to_owned())
}

/// Runs the program after each pass; what is wrong, with the program's texts. The number of observations
/// is given back, so that a test can see that something happened.
pub fn same_after_each_pass(program: &Program, run: &Run, folder: &Path) -> Result<usize, String> {
    let before = observed(program, run, folder);
    let mut now = program.clone();
    let mut last = lucid::core::print(&now);
    for pass in normal::passes() {
        (pass.run)(&mut now);
        let text = lucid::core::print(&now);
        if let Err(said) = lucid::core::verify(&now) {
            return Err(format!("after `{}`:\n{}\n{text}", pass.name, said.join("\n")));
        }
        if let Some(found) = difference(&before, &observed(&now, run, folder)) {
            let name = pass.name;
            return Err(format!(
                "`{name}` changes the run:\n{found}\nbefore:\n{last}\nafter:\n{text}"
            ));
        }
        last = text;
    }
    match normal::verify(&now) {
        Ok(()) => Ok(before.0.len()),
        Err(said) => Err(format!("no normal form:\n{}\n{last}", said.join("\n"))),
    }
}
