// SPDX-License-Identifier: Apache-2.0
//! Generated controls on several pipelines, on both engines: the machine runs their stages, the judge compares with one pipeline,
//! and the control as written, which nothing has cut, runs beside it.

use crate::controls::{PACKETS, declarations, packet, statements};
use crate::v1model::program;
use device::{Device, DeviceOptions, EngineChoice};
use ir::{MeterId, Program, RegisterId};
use scale::checker::check;
use scale::design::Design;
use scale::device_pipeline::DevicePipeline;
use scale::device_work::DeviceWork;
use scale::judge::{judge, reference};
use scale::machine::outcome::Arrival;
use scale::machine::{Settings, run};
use scale::sharding::{ControlSharding, ShardOptions, shard};
use scale::staged::{StagedControl, stage};
use scale::trace::Trace;
use state::{MeterConfiguration, TokenRate};
use std::sync::Arc;
use testing::{Choices, seeds, tape};

/// What a case found.
pub enum Found {
    /// Nothing to run.
    Nothing,
    Equal,
    Different(String),
    /// The control cannot be cut into its stages.
    Refused(String),
}

/// A mistake of the transformer: a change of its verdicts, and one of the control in stages.
pub struct Mistake {
    pub verdicts: fn(&mut ControlSharding<'_>),
    pub stages: fn(&mut StagedControl),
}

impl Mistake {
    pub const NONE: Mistake = Mistake { verdicts: |_| (), stages: |_| () };
}

fn device(program: &Arc<Program>, engine: EngineChoice) -> Device {
    let options = DeviceOptions { engine, ..DeviceOptions::default() };
    Device::new(program.clone(), options).expect("a device")
}

/// A device with a pipeline of a control.
fn pipeline(staged: &Arc<StagedControl>, engine: EngineChoice) -> (Device, DevicePipeline) {
    let device = device(&staged.program, engine);
    let pipeline = DevicePipeline::new(&device, staged.clone()).expect("a pipeline");
    (device, pipeline)
}

/// Compares a generated control on several pipelines with one pipeline, and with the control as written.
pub fn case(choices: &mut Choices, engine: EngineChoice, mistake: &Mistake) -> Found {
    let body = statements(choices, 2);
    let (most_stages, pipelines) = (choices.between(1, 8) as usize, choices.between(1, 4) as usize);
    let ready = program(&declarations(), &body, "");
    let original = ready.program();
    let options = ShardOptions { read_only_is_state: choices.flag(), ..ShardOptions::default() };
    let mut controls = shard(original, options, &|_| None, &|_| most_stages);
    let Some(control) = controls.iter_mut().find(|control| !control.groups.is_empty()) else {
        return Found::Nothing;
    };
    (mistake.verdicts)(control);
    let mut staged = match stage(control) {
        Ok(staged) => staged,
        Err(error) => return Found::Refused(format!("{error:?}\n{body}")),
    };
    (mistake.stages)(&mut staged);
    let staged = Arc::new(staged);
    for program in [&staged.program, &staged.front] {
        if let Err(errors) = ir::verify(program) {
            return Found::Different(format!("{errors:?}\n{body}"));
        }
    }
    let (mut cut, first) = pipeline(&staged, engine);
    let mut single = DeviceWork::new(first.another(), 1);
    let mut work = DeviceWork::new(first, pipelines);
    let mut written = device(original, engine);
    let mut as_written = written.executor(written.program_id()).expect("an executor");
    let mut arrivals = Vec::new();
    let mut expected = Vec::new();
    for number in 0..PACKETS {
        let bytes = packet(choices).to_vec();
        let pass = cut.begin(0, number as u64, bytes.clone()).expect("a device").expect("a pass");
        let packet = work.pipelines()[0].enter(pass).expect("the parser runs");
        let (cycle, port) = ((number / pipelines) as u64, (number % pipelines) as u32);
        arrivals.push(Arrival { cycle, port, packet });
        let mut pass = written.begin(0, number as u64, bytes).expect("a device").expect("a pass");
        while pass.next_block().is_some() {
            as_written.run(&mut pass, number as u64).expect("the block runs");
        }
        expected.push(pass.context().storage().to_vec());
    }
    let reference = reference(&mut single, &arrivals);
    let mut trace = Trace::default();
    let design = Design::mp5(if choices.flag() { 7 } else { 100 });
    let outcome = run(&mut work, arrivals, Settings::new(pipelines), &design, &mut trace);
    let verdict = judge(&work, &outcome, &mut single, &reference);
    let said = |what: &str| Found::Different(format!("{what}, {pipelines} pipelines\n{body}"));
    if let Some(error) = work.take_failure() {
        return said(&error.to_string());
    }
    if !verdict.is_equivalent() {
        return said(&format!("{verdict:?}"));
    }
    let violations = check(&trace);
    if !violations.is_empty() {
        return said(&format!("{violations:?}"));
    }
    for departure in &outcome.departures {
        let expected = &expected[departure.sequence as usize];
        if departure.packet.pass.context().storage()[..expected.len()] != expected[..] {
            return said(&format!("packet {} is another one", departure.sequence));
        }
    }
    let all = work.cells(&outcome.map);
    for register in 0..original.registers.len() as u32 {
        let register = RegisterId(register);
        let [found, expected] = [&all, as_written.cells()].map(|cells| {
            let cells = cells.register(register).expect("the register");
            (0..cells.size()).map(|index| cells.read(index)).collect::<Vec<_>>()
        });
        if found != expected {
            let name = &original.registers[register.index()].name;
            return said(&format!("{name} is {found:?}, not {expected:?}"));
        }
    }
    Found::Equal
}

/// Runs generated cases.
fn cases(count: u64, engine: EngineChoice) {
    let mut ran = 0;
    for seed in seeds(count) {
        let numbers = tape::from_seed(seed, 500);
        let run = |numbers: &[u32]| {
            case(&mut Choices::from_tape(numbers.to_vec()), engine, &Mistake::NONE)
        };
        let is_wrong = |found: &Found| matches!(found, Found::Different(_) | Found::Refused(_));
        let found = run(&numbers);
        ran += u64::from(matches!(found, Found::Equal));
        if is_wrong(&found) {
            let small = tape::shrink(&numbers, 200, &mut |numbers| is_wrong(&run(numbers)));
            if let Found::Different(found) | Found::Refused(found) = run(&small) {
                panic!("seed {seed}: {found}");
            }
        }
    }
    assert!(ran > 0, "no case ran");
}

#[test]
fn many_pipelines_are_one() {
    cases(60, EngineChoice::Interpreter);
}

#[test]
fn many_pipelines_are_one_in_machine_code() {
    cases(8, EngineChoice::Jit);
}

/// Runs packets through a program and one pipeline, and compares.
#[test]
fn meters_move_with_their_tokens() {
    let ready = program(
        "meter(8, MeterType.packets) m;",
        "m.execute_meter((bit<32>)hdr.h.i & 7, x); hdr.h.v = x;",
        "",
    );
    let mut controls = shard(ready.program(), ShardOptions::default(), &|_| None, &|_| 8);
    let staged = Arc::new(stage(&mut controls[0]).expect("stages"));
    assert_eq!(staged.groups[0].cells, 8);
    let (mut cut, mut first) = pipeline(&staged, EngineChoice::Interpreter);
    let rate = TokenRate::per_second(1, 3);
    let configuration = Some(MeterConfiguration { committed: rate, peak: rate });
    for index in 0..8 {
        first.cells_mut().configure_meter(MeterId(0), index, configuration, 0);
    }
    let mut single = DeviceWork::new(first.another(), 1);
    let mut work = DeviceWork::new(first, 3);
    let mut arrivals = Vec::new();
    for number in 0..60_u64 {
        // Most packets are of one cell, which moves to where less is to do.
        let cell = if number % 3 == 0 { (number / 3 % 8) as u8 } else { 3 };
        let bytes = [&[cell][..], &[0; 10]].concat();
        let pass = cut.begin(0, number, bytes).expect("a device").expect("a pass");
        let packet = work.pipelines()[0].enter(pass).expect("the parser runs");
        arrivals.push(Arrival { cycle: number / 3, port: (number % 3) as u32, packet });
    }
    let reference = reference(&mut single, &arrivals);
    let design = Design::mp5(2);
    let outcome = run(&mut work, arrivals, Settings::new(3), &design, &mut ());
    assert!(outcome.measures.remaps > 0, "no cell moved");
    assert!(judge(&work, &outcome, &mut single, &reference).is_equivalent());
    let colours = outcome.departures.iter().map(|departure| {
        let context = departure.packet.pass.context();
        context.number(staged.program.slot_named("hdr.h.v").expect("the field"))
    });
    assert!(colours.clone().any(|colour| colour == 0) && colours.clone().any(|colour| colour == 2));
}
