// SPDX-License-Identifier: Apache-2.0
//! Samples of the P4 compiler p4c that keep state, whole and cut into stages: all packets and all cells are equal. The
//! environment variable `P4C_SAMPLES` names a folder with them (`testdata/p4_16_samples`). Packets and commands are
//! those of a sample's STF test, then random bytes.

use conformance::stf::reader::{LocatedStep, Step, read};
use control::command::Located;
use control::session::Session;
use device::{Device, DeviceOptions, EngineChoice};
use ir::effects::{Location, of_region};
use ir::ready::ReadyProgram;
use ir::{CounterId, Program, RegisterId};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use testing::cuts::{CutCounts, cut_controls};
use testing::programs::not_run;
use testing::{Choices, cases};

/// Random packets for each sample.
const RANDOM_PACKETS: usize = 60;

/// Whether a control for stages accesses state.
fn keeps_state(program: &Program) -> bool {
    let is_state = |location: &Location| {
        matches!(location, Location::Register(_) | Location::Counter(_) | Location::Meter(_))
    };
    let mut blocks = program.blocks.iter();
    blocks.any(|block| {
        let effects = of_region(program, block.region);
        ir::architecture::stages_of(program, block).is_some()
            && effects.reads.union(&effects.writes).any(is_state)
    })
}

/// Everything that a device shows, line by line.
fn observe(program: Arc<Program>, engine: EngineChoice, steps: &[LocatedStep]) -> Vec<String> {
    let options = DeviceOptions { engine, pass_limit: Some(8), ..DeviceOptions::default() };
    let mut device = match Device::new(program.clone(), options) {
        Ok(device) => device,
        Err(error) => return vec![error.to_string()],
    };
    let mut session = Session::new(program.clone()).lenient();
    let mut seen = Vec::new();
    let mut choices = Choices::from_seed(7);
    let mut packets: Vec<(u32, Vec<u8>)> = Vec::new();
    for LocatedStep { origin, step } in steps {
        match step {
            Step::Control(command) => {
                let located = Located { origin: origin.clone(), command: (**command).clone() };
                if let Err(error) = session.apply(&located, &mut device.target()) {
                    seen.push(error.to_string());
                }
            }
            Step::Packet { port, data } => packets.push((*port, data.clone())),
            _ => {}
        }
    }
    for _ in 0..RANDOM_PACKETS {
        let mut bytes: Vec<u8> = (0..14).map(|_| choices.below(3) as u8).collect();
        bytes[12..].copy_from_slice(&[8, 0]);
        bytes.extend([0x45, 0, 0, 40, 0, 1, 0, 0, 64, 6]);
        bytes.extend((0..choices.below(100)).map(|_| choices.below(5) as u8));
        packets.push((choices.between(0, 3), bytes));
    }
    for (at, (port, bytes)) in packets.into_iter().enumerate() {
        let time_ps = device.now_ps().max(at as u64 * 1_000_000_000) + 1_000_000;
        if device.inject(port, time_ps, bytes).is_ok()
            && let Err(error) = device.run_to_completion()
        {
            seen.push(error.to_string());
        }
    }
    seen.extend(device.drain_transmitted().into_iter().map(|sent| format!("{sent:?}")));
    seen.extend(device.drain_digests().into_iter().map(|digest| format!("{digest:?}")));
    seen.extend(device.drain_log().into_iter().map(|line| format!("{line:?}")));
    seen.push(format!("{:?}", device.statistics()));
    let cells = device.cells();
    for at in 0..program.registers.len() as u32 {
        let Some(register) = cells.register(RegisterId(at)) else { continue };
        let values = (0..register.size()).map(|index| register.read(index));
        let other = values
            .enumerate()
            .filter(|(_, value)| value.as_ref() != Some(&program.registers[at as usize].initial));
        seen.extend(other.map(|(index, value)| format!("register {at}[{index}] = {value:?}")));
    }
    for at in (0..program.counters.len() as u32).map(CounterId) {
        for index in 0..cells.counter_size(at) {
            seen.push(format!("counter {}[{index}] = {:?}", at.0, cells.counter(at, index)));
        }
    }
    seen
}

fn samples() -> Option<Vec<PathBuf>> {
    let folder = std::env::var_os("P4C_SAMPLES")?;
    let files = std::fs::read_dir(folder).expect("a folder of p4c's samples");
    let mut files: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "p4"));
    files.sort();
    Some(files)
}

fn steps(file: &Path) -> Vec<LocatedStep> {
    let file = file.with_extension("stf");
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    read(&file.display().to_string(), &text).0
}

#[test]
fn samples_of_p4c_mean_the_same_in_stages() {
    let Some(samples) = samples() else {
        return not_run("samples of p4c in stages", "P4C_SAMPLES names no folder");
    };
    let (mut all, mut programs, mut lines) = (CutCounts::default(), 0, 0);
    for file in samples {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        if !text.contains("v1model.p4") {
            continue;
        }
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let Ok(ready) = ReadyProgram::of_text(&name, text) else { continue };
        let program = ready.program().clone();
        if !keeps_state(&program) {
            continue;
        }
        programs += 1;
        let steps = steps(&file);
        for engine in [EngineChoice::Interpreter, EngineChoice::Jit] {
            let whole = observe(program.clone(), engine, &steps);
            for seed in 0..cases(5u64) {
                let mut cut = Program::clone(&program);
                all.include(&cut_controls(&mut cut, 6 + (seed % 11) as u32, seed));
                let cut = observe(Arc::new(cut), engine, &steps);
                assert_eq!(whole, cut, "{name}, {engine:?}, seed {seed}");
                lines += whole.len();
            }
        }
    }
    println!("{programs} samples of p4c, {lines} observations equal: {all}");
    println!("refused: {:?}", all.refused);
}
