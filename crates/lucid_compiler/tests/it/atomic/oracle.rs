// SPDX-License-Identifier: Apache-2.0
//! Compares an atomic program with a run of the reference interpreter, dispatch by dispatch: the atomic
//! program gets the same event, time, port and random numbers, and has to leave the same cells and
//! generate the same events.

use super::evaluate::{GeneratedEvent, Surroundings, run_in_stages};
use lucid::core::{GlobalId, GlobalKind, NO_PORT, Program};
use lucid_compiler::PortGroup;
use lucid_compiler::atomic::program::{AtomicProgram, Given, StatementId};
use lucid_compiler::atomic::{self, Groups};
use lucid_compiler::normal;
use lucid_compiler::wire::{FIRST_GROUP, OUTSIDE_PORT, PlaceKind};
use lucid_reference::interpreter::{EventValue, Value};
use lucid_reference::simulation::{
    Destination, Observation, ObservationKind, Observer, Setup, Simulation, Stage,
};
use lucid_reference::specification::{Argument, Run};
use pisa::{Gress, HardwareModel};
use source::Span;
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::Arc;

#[derive(Default)]
struct Seen(Vec<Observation>);

impl Observer for Seen {
    fn wants_accesses(&self) -> bool {
        true
    }

    fn observe(&mut self, observation: Observation) {
        self.0.push(observation);
    }
}

/// The state of one switch as the atomic program sees it, and what a dispatch brings.
struct Switch<'a> {
    program: &'a Program,
    run: &'a Run,
    cells: BTreeMap<GlobalId, Vec<[u128; 2]>>,
    number: u32,
    port: u32,
    time_ns: u128,
    dequeue_depth: u128,
    draws: VecDeque<u128>,
    missing_draws: usize,
    /// What each statement drew in this dispatch.
    drawn: BTreeMap<StatementId, u128>,
}

impl<'a> Switch<'a> {
    fn new(program: &'a Program, run: &'a Run, number: u32) -> Switch<'a> {
        let mut cells = BTreeMap::new();
        for (at, global) in program.globals.iter().enumerate() {
            let of = match global.kind {
                GlobalKind::Array { length, .. } | GlobalKind::PairArray { length, .. } => {
                    vec![[0, 0]; length as usize]
                }
                GlobalKind::Counter { initial, .. } => vec![[initial, 0]],
                GlobalKind::Table(_) => continue,
            };
            cells.insert(GlobalId(at as u32), of);
        }
        Switch {
            program,
            run,
            cells,
            number,
            port: 0,
            time_ns: 0,
            dequeue_depth: 0,
            draws: VecDeque::new(),
            missing_draws: 0,
            drawn: BTreeMap::new(),
        }
    }
}

impl Surroundings for Switch<'_> {
    fn given(&mut self, given: Given) -> u128 {
        match given {
            Given::SelfSwitch => u128::from(self.number),
            Given::IngressPort if self.port == NO_PORT => u128::from(OUTSIDE_PORT),
            Given::IngressPort => u128::from(self.port),
            Given::RecirculationPort => u128::from(lucid::core::DEFAULT_RECIRCULATION_PORT),
            Given::Time => self.time_ns,
            Given::DequeueDepth => self.dequeue_depth,
            Given::Extern(id) => {
                let name = &*self.program.externs[id.0 as usize].name;
                let values = self.run.externs.get(name).expect("the run gives it");
                match values.get(self.number as usize).or(values.first()) {
                    Some(Argument::Int(value)) => *value,
                    Some(Argument::Bool(truth)) => u128::from(*truth),
                    other => panic!("{name} is {other:?}"),
                }
            }
        }
    }

    fn cell(&mut self, global: GlobalId, index: u128) -> Option<[u128; 2]> {
        self.cells[&global].get(usize::try_from(index).ok()?).copied()
    }

    fn set_cell(&mut self, global: GlobalId, index: u128, new: [u128; 2]) {
        let width = match self.program.globals[global.0 as usize].kind {
            GlobalKind::Array { width_bits, .. }
            | GlobalKind::PairArray { width_bits, .. }
            | GlobalKind::Counter { width_bits, .. } => width_bits,
            GlobalKind::Table(_) => 0,
        };
        let cut = |value: u128| value & lucid::core::arithmetic::mask(width);
        self.cells.get_mut(&global).expect("an array")[index as usize] = new.map(cut);
    }

    fn random(&mut self, statement: StatementId, _width_bits: u32) -> u128 {
        // In stages the draws come in another order: each statement gets the same number again.
        if let Some(known) = self.drawn.get(&statement) {
            self.draws.pop_front();
            return *known;
        }
        match self.draws.pop_front() {
            Some(draw) => {
                self.drawn.insert(statement, draw);
                draw
            }
            None => {
                self.missing_draws += 1;
                0
            }
        }
    }

    fn lookup(&mut self, _table: GlobalId, _key: &[u128], _arguments: &[u128]) -> Vec<u128> {
        panic!("programs with tables are not compared here")
    }
}

fn number(value: &Value) -> Option<u128> {
    match value {
        Value::Int(value) => Some(*value),
        Value::Bool(truth) => Some(u128::from(*truth)),
        _ => None,
    }
}

/// Whether a slot's place leads there.
fn leads(one: &GeneratedEvent, to: &Destination, at: u32, groups: &Groups) -> bool {
    let kind = match one.place_kind {
        0 => PlaceKind::Here as u128,
        kind => kind - u128::from(lucid_compiler::wire::PLACE_PREFIX),
    };
    let recirculation = u128::from(lucid::core::DEFAULT_RECIRCULATION_PORT);
    let members = |groups: Vec<PortGroup>, number: u128| match groups.get(number as usize) {
        Some(PortGroup::Ports(members)) => members.clone(),
        _ => Vec::new(),
    };
    let is_kind = |of: PlaceKind| kind == of as u128;
    match to {
        Destination::Recirculated { .. } => {
            is_kind(PlaceKind::Here)
                || is_kind(PlaceKind::Port) && one.place == recirculation
                || is_kind(PlaceKind::Switch) && one.place == u128::from(at)
                || is_kind(PlaceKind::Group)
                || is_kind(PlaceKind::Switches)
        }
        Destination::Port { port, .. } => {
            let port = u128::from(*port);
            is_kind(PlaceKind::Port) && one.place == port
                || is_kind(PlaceKind::Flood) && one.place != port
                || is_kind(PlaceKind::Group)
                    && members(groups.port_groups(), one.place - u128::from(FIRST_GROUP))
                        .iter()
                        .any(|member| u128::from(*member) == port)
                // An exit event leaves.
                || is_kind(PlaceKind::Here)
                // To a switch along a path.
                || is_kind(PlaceKind::Switch)
                || is_kind(PlaceKind::Switches)
        }
        Destination::Switch { switch, .. } => {
            is_kind(PlaceKind::Switch) && one.place == u128::from(*switch)
                || is_kind(PlaceKind::Switches)
                    && members(groups.switch_groups(), one.place).contains(switch)
        }
    }
}

/// Whether a slot holds this event.
fn holds(one: &GeneratedEvent, event: &EventValue) -> bool {
    one.event == event.event
        && one.delay_ns == u128::from(event.delay_ns)
        && one.arguments.len() == event.arguments.len()
        && one.arguments.iter().zip(&event.arguments).all(|(slot, value)| match slot {
            Some(slot) => number(value) == Some(*slot),
            None => matches!(value, Value::Payload(_)),
        })
}

/// Compares the slots of a dispatch with what the interpreter generated, in order.
fn compare(
    slots: &[GeneratedEvent],
    generated: &[(Arc<EventValue>, Destination)],
    at: u32,
    groups: &Groups,
) -> Result<(), String> {
    let mut left = generated;
    for one in slots {
        let kind = one.place_kind.checked_sub(u128::from(lucid_compiler::wire::PLACE_PREFIX));
        let is_many = kind.is_some_and(|kind| {
            [PlaceKind::Group, PlaceKind::Flood, PlaceKind::Switches]
                .iter()
                .any(|many| *many as u128 == kind)
        });
        let mut taken = 0;
        let mut last = None;
        while let Some(((event, to), rest)) = left.split_first() {
            if !holds(one, event) || !leads(one, to, at, groups) || (taken > 0 && !is_many) {
                break;
            }
            // Many go in order, each destination once.
            let destination = match to {
                Destination::Port { port, .. } => *port,
                Destination::Switch { switch, .. } => *switch,
                Destination::Recirculated { .. } => 0,
            };
            if last.is_some_and(|last| last >= destination) {
                break;
            }
            last = Some(destination);
            taken += 1;
            left = rest;
        }
        if taken == 0 && !is_many {
            return Err(format!("{one:?}\nis not {:?}", left.first()));
        }
    }
    match left.first() {
        Some(first) => Err(format!("nothing generates {first:?}")),
        None => Ok(()),
    }
}

/// What a pass makes, and the stages in which its statements run.
struct Made {
    name: &'static str,
    atomic: AtomicProgram,
    stages: Vec<Vec<StatementId>>,
}

/// The programs that passes make: in order, and as the greedy layout puts them.
fn made(program: &Program) -> Result<Vec<Made>, String> {
    let text = |said: source::Diagnostics| {
        said.iter().map(|one| format!("{}: {}\n", one.code.0, one.message)).collect::<String>()
    };
    let graph = atomic::translate(program).map_err(text)?;
    let in_order = |name, atomic: AtomicProgram| {
        let stages = (0..atomic.statements.len()).map(|at| vec![StatementId(at as u32)]).collect();
        Made { name, atomic, stages }
    };
    let laid_out = |name, atomic: AtomicProgram| {
        let problem = atomic::problem(program, &atomic, name);
        let target = HardwareModel::named("tofino", Span::NONE).expect("a target we ship");
        let layout = pisa::greedy::greedy_unlimited(&problem, &target).map_err(text)?;
        let units = |stage: &pisa::Stage| {
            let units = stage.tables.iter().flat_map(|table| &table.units);
            units.map(|unit| StatementId(unit.0)).collect()
        };
        Ok::<_, String>(Made { name, stages: layout.stages.iter().map(units).collect(), atomic })
    };
    let branches = atomic::branches(&graph);
    let dataflow = atomic::dataflow(program, &graph);
    Ok(vec![
        in_order("branches", branches),
        in_order("dataflow", dataflow.clone()),
        laid_out("layout", dataflow)?,
    ])
}

/// Runs the program by the interpreter and what the passes make of it beside; how many dispatches were
/// compared.
pub fn same_as_interpreter(
    program: &Program,
    run_of: &Run,
    folder: &Path,
) -> Result<usize, String> {
    let normal = normal::normalize(program);
    let groups = Groups::of(&normal);
    let mut captures = |name: &str| {
        std::fs::read(folder.join(name)).map_err(|error| format!("cannot read `{name}`: {error}"))
    };
    let setup = Setup::with_captures(Arc::new(normal.clone()), run_of, &mut captures)
        .map_err(|said| format!("{said:?}"))?;
    let switches = setup.switches();
    let mut simulation = Simulation::new(Arc::new(setup));
    let mut seen = Seen::default();
    simulation.run(&mut seen);
    let has_commands = seen.0.iter().any(|it| matches!(it.kind, ObservationKind::Commanded { .. }));
    let mut dispatches = 0;
    let mut drawn: BTreeMap<usize, BTreeMap<StatementId, u128>> = BTreeMap::new();
    for Made { name, atomic, stages } in made(&normal)? {
        let mut here: Vec<Switch<'_>> =
            (0..switches).map(|number| Switch::new(&normal, run_of, number)).collect();
        dispatches = 0;
        for (at, observation) in seen.0.iter().enumerate() {
            let ObservationKind::Handled {
                occurrence,
                event,
                port,
                stage,
                draws,
                dequeue_depth,
                ..
            } = &observation.kind
            else {
                continue;
            };
            let gress = match stage {
                Stage::Ingress => Gress::Ingress,
                Stage::Egress => Gress::Egress,
                Stage::Control => continue,
            };
            let switch = &mut here[observation.switch as usize];
            switch.port = *port;
            switch.time_ns = u128::from(observation.time_ps / 1000);
            switch.dequeue_depth = u128::from(*dequeue_depth);
            switch.draws = draws.iter().copied().collect();
            let parameters: Vec<u128> =
                event.arguments.iter().map(|value| number(value).unwrap_or(0)).collect();
            let mut generated = Vec::new();
            let mut accessed = Vec::new();
            for later in &seen.0[at + 1..] {
                match &later.kind {
                    ObservationKind::Handled { .. } => break,
                    ObservationKind::Generated { by, event, destination, .. }
                        if by == occurrence =>
                    {
                        generated.push((event.clone(), destination.clone()));
                    }
                    ObservationKind::Accessed { by, global, index, before, after, .. }
                        if by == occurrence =>
                    {
                        accessed.push((*global, *index, before, after));
                    }
                    _ => {}
                }
            }
            // Commands may have written in between.
            if has_commands {
                for (global, index, before, _) in &accessed {
                    let old = [before[0], before.get(1).copied().unwrap_or(0)];
                    switch.set_cell(*global, *index, old);
                }
            }
            switch.drawn = match name {
                "layout" => drawn.remove(&at).unwrap_or_default(),
                _ => BTreeMap::new(),
            };
            let handler = (event.event, gress);
            let slots = run_in_stages(&normal, &atomic, &stages, handler, &parameters, switch);
            let context = |what: String| {
                format!(
                    "after `{name}`, {} at {} ps: {what}\n{}\n{}",
                    normal.events[event.event.0 as usize].name,
                    observation.time_ps,
                    lucid::core::print(&normal),
                    atomic::print(&normal, &atomic)
                )
            };
            if switch.missing_draws > 0 || !switch.draws.is_empty() {
                return Err(context("other random numbers are drawn".to_owned()));
            }
            for (global, index, _, after) in accessed {
                let cells = switch.cell(global, index).unwrap_or_default();
                if after.iter().zip(cells).any(|(expected, found)| *expected != found) {
                    let global = &normal.globals[global.0 as usize].name;
                    return Err(context(format!(
                        "{global}[{index}] is {cells:?} and not {after:?}"
                    )));
                }
            }
            drawn.insert(at, std::mem::take(&mut switch.drawn));
            compare(&slots, &generated, observation.switch, &groups).map_err(context)?;
            dispatches += 1;
        }
        if has_commands {
            continue;
        }
        for switch in &here {
            let state = simulation.state(switch.number).ok_or("no such switch")?;
            for (global, cells) in &switch.cells {
                let Some(expected) = state.cells(*global) else { continue };
                for (index, found) in cells.iter().enumerate() {
                    if expected.get(index as u128) != Some(*found) {
                        let global = &normal.globals[global.0 as usize].name;
                        return Err(format!(
                            "after `{name}`: {global}[{index}] differs in the end"
                        ));
                    }
                }
            }
        }
    }
    Ok(dispatches)
}
