// SPDX-License-Identifier: Apache-2.0
//! Generated programs in a switch with machines: ingress and egress, packets of one time at several ports, on both engines. Each half
//! is judged against one pipeline, and ingress against the control as written.

use crate::controls::{PACKETS, declarations, packet, statements};
use crate::v1model::program;
use device::{Device, DeviceOptions, EngineChoice};
use ir::RegisterId;
use pisa::Gress;
use scale::design::Design;
use scale::machine::Settings;
use scale::packet_fields::PacketOptions;
use scale::sharding::{ShardOptions, shard};
use scale::staged::stage_all;
use scale::switch_run::{CycleClock, HalfOutcome, HalfPlan, SwitchRun};
use std::sync::Arc;
use testing::{Choices, seeds, tape};

/// Statements of egress, which accesses one array.
const EGRESS: [&str; 3] = [
    "shared.read(x, (bit<32>)hdr.h.i & 7); shared.write((bit<32>)hdr.h.i & 7, x * 3 + hdr.h.v);",
    "if (hdr.h.v > 20) { shared.read(y, 1); hdr.h.w = y; shared.write(1, y * 5 + 1); }",
    "shared.read(x, 0); if (x < 30) { shared.write(0, x + hdr.h.v); } hdr.h.w = x;",
];

/// Time between cycles, in picoseconds.
const PERIOD_PS: u64 = 1_000;

fn case(choices: &mut Choices, engine: EngineChoice) -> Result<usize, String> {
    let body = statements(choices, 2);
    let egress = EGRESS[choices.below(EGRESS.len())];
    let pipelines = choices.between(1, 5) as usize;
    let ready = program(&declarations(), &body, egress);
    let original = ready.program();
    let mut controls = shard(original, ShardOptions::default(), &|_| None, &|_| 6);
    let is_ingress: Vec<bool> =
        controls.iter().map(|control| control.gress == Gress::Ingress).collect();
    let staged = stage_all(&mut controls).map_err(|error| format!("{error:?}\n{body}"))?;
    let plan = |gress: bool| {
        let at = is_ingress.iter().position(|is_ingress| *is_ingress == gress).expect("a half");
        HalfPlan {
            control: Arc::new(staged[at].clone()),
            design: Design::mp5(5),
            settings: Settings::new(pipelines),
            options: PacketOptions::default(),
        }
    };
    let options = DeviceOptions { engine, ..DeviceOptions::default() };
    let device = |program| Device::new(program, options.clone()).expect("a device");
    let clock = CycleClock { origin_ps: 0, period_ps: PERIOD_PS };
    let cut = device(staged[0].program.clone());
    let mut run = SwitchRun::new(cut, clock, plan(true), Some(plan(false))).expect("a run");
    let mut written = device(original.clone());
    for number in 0..PACKETS as u64 {
        // Several packets a cycle, some at the same time.
        let (port, time_ps) = ((number % 4) as u32, number / 4 * 2 * PERIOD_PS / 3);
        let bytes = packet(choices).to_vec();
        written.inject(port, time_ps, bytes.clone()).expect("a device");
        run.arrive(port, time_ps, bytes).map_err(|error| error.to_string())?;
    }
    written.run_to_completion().expect("a device");
    run.complete(None).map_err(|error| error.to_string())?;
    let (mut device, ingress, egress) = run.finish();
    let egress = egress.expect("egress");
    let said = |what: &str| format!("{what}, {pipelines} pipelines\n{body}\n--\n{egress:?}");
    let is_right = |half: &HalfOutcome| half.verdict.is_equivalent() && half.violations.is_empty();
    if !is_right(&ingress) || !is_right(&egress) {
        return Err(said(&format!("{:?} {:?}", ingress.verdict, egress.verdict)));
    }
    if device.drain_transmitted().len() != written.drain_transmitted().len() {
        return Err(said("another number of packets"));
    }
    let cells = written.cells();
    // Egress changes its array in the order in which packets leave ingress.
    for (at, register) in original.registers.iter().enumerate() {
        let id = RegisterId(at as u32);
        let [found, expected] = [&ingress.cells, &*cells].map(|cells| {
            let cells = cells.register(id).expect("the register");
            (0..cells.size()).map(|index| cells.read(index)).collect::<Vec<_>>()
        });
        if &*register.name != "shared" && found != expected {
            return Err(said(&format!("{} is {found:?}, not {expected:?}", register.name)));
        }
    }
    Ok(ingress.outcome.accesses.len() + egress.outcome.accesses.len())
}

fn cases(count: u64, engine: EngineChoice) {
    let mut accesses = 0;
    for seed in seeds(count) {
        let numbers = tape::from_seed(seed, 500);
        let run = |numbers: &[u32]| case(&mut Choices::from_tape(numbers.to_vec()), engine);
        match run(&numbers) {
            Ok(made) => accesses += made,
            Err(_) => {
                let small =
                    tape::shrink(&numbers, 200, &mut |numbers: &[u32]| run(numbers).is_err());
                panic!("seed {seed}: {}", run(&small).err().unwrap_or_default());
            }
        }
    }
    assert!(accesses > 0, "no case accesses state");
}

#[test]
fn halves_on_several_pipelines_are_one() {
    cases(40, EngineChoice::Interpreter);
}

#[test]
fn halves_on_several_pipelines_are_one_in_machine_code() {
    cases(6, EngineChoice::Jit);
}
