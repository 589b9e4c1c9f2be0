// SPDX-License-Identifier: Apache-2.0
//! The stateful firewall's flow table made ready to be measured: its program with the sizes of a
//! figure, and runs of it. The figures measure them.

use lucid::core::{EventId, Program};
use lucid::elaborate::Symbolics;
use lucid::front;
use lucid::syntax::NoFiles;
use lucid_reference::simulation::Setup;
use lucid_reference::specification::{
    Argument, Draw, FieldSpans, Gap, Generator, Input, InputKind, Run,
};
use source::{Diagnostics, SourceMap};
use std::sync::Arc;

const NAME: &str = "cuckoo_firewall.dpt";
const TEXT: &str = include_str!("cuckoo_firewall.dpt");

/// The program with places for so many flows; each flow is looked at once an interval, and forgotten
/// when it has been idle for so long (both in nanoseconds).
pub(super) fn program(
    map: &mut SourceMap,
    entries: u64,
    interval_ns: u64,
    idle_ns: u64,
) -> Result<Arc<Program>, Diagnostics> {
    let slots = entries / 2;
    let index_bits = u128::from(slots.next_power_of_two().trailing_zeros());
    let values = [
        ("slots", u128::from(slots)),
        ("scan_gap", u128::from(interval_ns / slots.max(1))),
        ("idle", u128::from(idle_ns)),
    ];
    let symbolics = Symbolics {
        sizes: [("index_bits".to_string(), index_bits)].into(),
        values: values.into_iter().map(|(name, value)| (name.to_string(), value)).collect(),
        ..Symbolics::default()
    };
    let compiled = front::compile(map, NAME, TEXT.to_string(), &NoFiles, &symbolics, &[])?;
    Ok(Arc::new(compiled.program))
}

/// The event of this name.
pub(super) fn event(program: &Program, name: &str) -> Option<EventId> {
    let found = program.events.iter().position(|event| &*event.name == name);
    found.map(|found| EventId(found as u32))
}

/// An input of the run at a time.
fn input(time_ps: u64, kind: InputKind) -> Input {
    Input {
        time_ps: Some(time_ps),
        locations: vec![(0, 0)],
        kind,
        field_spans: FieldSpans::default(),
    }
}

/// The scan begins at the beginning.
pub(super) fn scan() -> Input {
    let arguments = vec![Argument::Int(0)];
    input(0, InputKind::Event { name: "scan".to_string(), arguments })
}

/// New flows with keys at random.
pub(super) fn new_flows(from_ps: u64, count: u64, gap: Gap) -> Input {
    let arguments = vec![Draw::Uniform(1, u128::from(u32::MAX))];
    let name = "packet".to_string();
    input(from_ps, InputKind::Generator(Generator { name, arguments, count, gap }))
}

/// A run of the program with these inputs that ends at a time.
pub(super) fn setup(
    program: &Arc<Program>,
    seed: u64,
    inputs: Vec<Input>,
    max_time_ps: u64,
) -> Result<Setup, Diagnostics> {
    let run = Run { seed, inputs, max_time_ps, ..Run::default() };
    Setup::new(program.clone(), &run)
}
