// SPDX-License-Identifier: Apache-2.0
//! Emitted hardware of the applications of MP5's Figure 8 beside the simulator, cycle by cycle: flowlet switching, CONGA, fair queueing,
//! sequencer; and a program whose accesses depend on state. Without Verilator the test prints NOT RUN.

use crate::recording::Recording;
use arithmetic::random::keyed;
use device::{Device, DeviceOptions, EngineChoice};
use frontend::ProgramFile;
use ir::Bits;
use rtl::events::{self, Events};
use scale::design::{Design, Remap};
use scale::device_pipeline::{DevicePipeline, StagedPass};
use scale::device_work::DeviceWork;
use scale::machine::outcome::Arrival;
use scale::machine::{Machine, Settings};
use scale::trace::Trace;
use state::Cells;
use std::path::Path;
use std::sync::Arc;
use testing::verilator;
use toolchain::scaling::hardware::{HardwareRequest, Made, made};

/// Cycles of a comparison; packets arrive in all but the last 1,000.
const CYCLES: u64 = 12_000;
const PIPELINES: usize = 2;
const DEPTH: usize = 4;
const REMAP_EVERY: u64 = 100;

/// The hardware of an example.
fn hardware(program: &str) -> Made {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(program);
    let options = p4::preprocessor::PreprocessorOptions::default();
    let file = ProgramFile { path: &path, files: &toolchain::files::Disk, preprocessing: &options };
    let language = toolchain::selection::of(&path).expect("the end of the name says the language");
    let request = HardwareRequest {
        pipelines: PIPELINES as u64,
        stages: None,
        depth: Some(DEPTH as u64),
        remap_every: Some(REMAP_EVERY),
    };
    made(language, &file, &request, &Recording::default())
        .unwrap_or_else(|failure| panic!("{program} is no hardware: {}", failure.text()))
}

/// The packets of a cycle: none, few, many, and many of few flows, in turns.
fn count(cycle: u64) -> u64 {
    match cycle / 500 % 3 {
        0 => keyed(3, &[cycle]) % 2,
        2 => PIPELINES as u64,
        _ => keyed(3, &[cycle]) % (PIPELINES as u64 + 1),
    }
}

/// Compares a program's hardware with the simulator. Events of these kinds (`mp5_bench.sv`) must be among those compared.
fn compare(program: &str, kinds: &str) {
    let Made { control, first_values } = hardware(program);
    let header = &control.header;
    let staged = Arc::new(control.staged.clone());
    let options = DeviceOptions { engine: EngineChoice::Interpreter, ..DeviceOptions::default() };
    let mut device = Device::new(staged.program.clone(), options).unwrap();
    let mut cells = Cells::new(&staged.program);
    for (register, values) in &first_values {
        let array = cells.register_mut(*register).unwrap();
        for (index, value) in (0..).zip(values) {
            array.write(index, value.clone());
        }
    }
    let mut first = DevicePipeline::new(&device, staged.clone()).unwrap();
    first.set_cells(&cells);
    let mut work = DeviceWork::new(first, PIPELINES);
    let settings = Settings { depth: Some(DEPTH), ..Settings::new(PIPELINES) };
    let design = Design { remap: Remap::Scan { every: REMAP_EVERY }, ..Design::mp5(1) };
    let mut trace = Trace::default();
    let mut machine = Machine::new(&work, settings, &design, &mut trace);
    let mut arrivals = String::new();
    for cycle in 0..CYCLES - 1_000 {
        let mut headers = Vec::new();
        for port in 0..count(cycle) {
            let pass = device.begin(port as u32, 0, Vec::new()).unwrap().unwrap();
            let mut packet = work.pipelines()[0].enter(pass).unwrap();
            let context = packet.pass.context_mut();
            for (slot, (_, width)) in &header.slots {
                let name = &staged.program.slots[slot.index()].name;
                let draw = keyed(5, &[cycle, port, u64::from(slot.0)]);
                let flows = if cycle / 500 % 3 == 2 { 1 + draw / 512 % 2 } else { 300 };
                let value = match () {
                    () if name.ends_with(".$valid") => 1,
                    () if name.contains("time") => cycle / 4,
                    () if *width >= 32 => draw % flows,
                    () => draw,
                };
                context.set_slot(*slot, &Bits::from_u64(*width as u32, value));
            }
            headers.push(header.digits(|slot| context.value(slot)));
            machine.offer(Arrival { cycle, port: port as u32, packet });
        }
        arrivals += &events::arrivals(&headers, PIPELINES, header.bits);
    }
    for _ in 0..CYCLES {
        machine.step(&mut work, &mut trace);
    }
    assert!(work.take_failure().is_none());
    let digits = |packet: &StagedPass| {
        let context = packet.pass.context();
        events::hexadecimal(&header.digits(|slot| context.value(slot)))
    };
    let outcome = machine.finish();
    let simulator = Events::of_simulator(&trace, &outcome, digits);
    let folder = tempfile::tempdir().unwrap();
    let files = rtl::files(&control.plan);
    let files = files.iter().map(|file| (&*file.name, &*file.text));
    verilator::compile(folder.path(), files, "mp5_bench");
    let text = verilator::simulate(folder.path(), &arrivals, CYCLES + 10);
    let bench = Events::of_bench(&text);
    let counts = simulator.counts();
    println!("{program}, {CYCLES} cycles: {counts:?}");
    for kind in kinds.chars() {
        assert!(counts.get(&kind).is_some_and(|count| *count > 0), "{program}: no {kind}");
    }
    assert_eq!(bench.difference(&simulator, CYCLES), None, "{program}");
    // Each cell where it is active.
    let all = work.cells(&outcome.map);
    for (index, group) in control.plan.groups.iter().enumerate() {
        for (place, register) in staged.groups[index].registers().enumerate() {
            let size = staged.program.registers[register.index()].size;
            for cell in 0..size {
                let mapped = if group.cells > 1 { cell as usize } else { 0 };
                let lane = outcome.map[index][mapped];
                let value = all.register(register).unwrap().read(cell).unwrap();
                let digits = group.arrays[place].width.div_ceil(4);
                let line =
                    format!("C {index} {place} {lane} {cell} {:0digits$x}", value.to_biguint());
                assert!(bench.end.contains(&line), "{program}: {line}");
            }
        }
    }
}

/// Writes an example of Domino with another size of its arrays. Returns its path.
fn smaller(folder: &Path, program: &str, size: &str, other: &str) -> String {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/domino");
    let text = std::fs::read_to_string(examples.join(program)).unwrap();
    assert!(text.contains(size), "{program} has no {size}");
    let path = folder.join(program);
    std::fs::write(&path, text.replace(size, other)).unwrap();
    path.display().to_string()
}

#[test]
fn applications_in_hardware_agree_with_simulator() {
    if !verilator::has_tool("verilator", "applications in hardware beside the simulator") {
        return;
    }
    // Packets that are lost as their ring is full, and remaps, in each.
    const KINDS: &str = "PQLRO";
    compare("examples/domino/sequencer.domino", KINDS);
    if std::env::var("PLANEWRIGHT_RTL_APPLICATIONS").is_err() {
        let why = "they take a minute; PLANEWRIGHT_RTL_APPLICATIONS=1 runs them";
        return testing::programs::not_run("the other applications in hardware", why);
    }
    for program in ["flowlets", "fair_queueing", "best_path", "two_paths"] {
        compare(&format!("examples/domino/{program}.domino"), KINDS);
    }
    // Cancelled accesses too: remaps of few cells part the maps of the two arrays, so that one's ring is full and the other's is not.
    let folder = tempfile::tempdir().unwrap();
    let few_cells = smaller(folder.path(), "flowlets.domino", "FLOWS 4096", "FLOWS 16");
    compare(&few_cells, "PQLROW");
    compare("crates/toolchain/tests/it/hardware/decided.p4", "PQLROW");
}
