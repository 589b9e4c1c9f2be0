// SPDX-License-Identifier: Apache-2.0
//! Generated controls on several pipelines: the machine runs their stages, the judge compares with one pipeline, and the
//! control as written, which nothing has cut, runs beside it.

use crate::controls::{PACKETS, Silent, declarations, packet, statements};
use crate::v1model::program;
use interpreter::Interpreter;
use interpreter::random::RandomKey;
use ir::RegisterId;
use scale::checker::check;
use scale::design::Design;
use scale::ir_work::{IrPacket, IrWork};
use scale::judge::{judge, reference};
use scale::machine::outcome::Arrival;
use scale::machine::{Settings, run};
use scale::sharding::{ShardOptions, shard};
use scale::staged::{NotStaged, stage};
use scale::trace::Trace;
use state::{Cells, Store};
use std::sync::Arc;
use testing::{Choices, seeds, tape};

/// What a case found.
enum Found {
    /// Nothing to run.
    Nothing,
    Equal,
    Different(String),
}

fn case(choices: &mut Choices) -> Found {
    let body = statements(choices, 2);
    let (most_stages, pipelines) = (choices.between(1, 8) as usize, choices.between(1, 4) as usize);
    let ready = program(&declarations(), &body, "");
    let original = ready.program();
    let options = ShardOptions { read_only_is_state: choices.flag() };
    let mut controls = shard(original, options, &|_| None, &|_| most_stages);
    let Some(control) = controls.iter_mut().find(|control| !control.groups.is_empty()) else {
        return Found::Nothing;
    };
    let staged = match stage(control) {
        Ok(staged) => Arc::new(staged),
        Err(error) => return Found::Different(format!("{error:?}\n{body}")),
    };
    for program in [&staged.program, &staged.front] {
        if let Err(errors) = ir::verify(program) {
            return Found::Different(format!("{errors:?}\n{body}"));
        }
    }
    let store = Store::new(original.clone()).expect("a store");
    let configuration = store.configuration();
    let cells = Cells::new(original);
    let mut work = IrWork::new(staged.clone(), configuration.clone(), &cells, pipelines);
    let mut single = IrWork::new(staged.clone(), configuration.clone(), &cells, 1);
    let (written, mut written_cells) = (Interpreter::new(original.clone()), cells.clone());
    let parser = original.blocks.iter().position(|block| &*block.role == "p").expect("a parser");
    let mut arrivals = Vec::new();
    let mut expected = Vec::new();
    for number in 0..PACKETS {
        let bytes = packet(choices);
        let mut contexts = [work.interpreter(), &written].map(|engine| engine.context());
        for (context, engine) in contexts.iter_mut().zip([work.interpreter(), &written]) {
            context.set_packet(&bytes);
            let cells = &mut written_cells;
            engine.run_block(parser, context, &configuration, cells, &mut Silent, None);
        }
        let [context, mut other] = contexts;
        let packet = IrPacket::new(context, 0, 64, RandomKey::default());
        let (cycle, port) = ((number / pipelines) as u64, (number % pipelines) as u32);
        arrivals.push(Arrival { cycle, port, packet });
        let cells = &mut written_cells;
        written.run_block(control.block, &mut other, &configuration, cells, &mut Silent, None);
        expected.push(other.storage().to_vec());
    }
    let reference = reference(&mut single, &arrivals);
    let mut trace = Trace::default();
    let design = Design::mp5(if choices.flag() { 7 } else { 100 });
    let outcome = run(&mut work, arrivals, Settings::new(pipelines), &design, &mut trace);
    let verdict = judge(&work, &outcome, &mut single, &reference);
    let said = |what: &str| Found::Different(format!("{what}, {pipelines} pipelines\n{body}"));
    if !verdict.is_equivalent() {
        return said(&format!("{verdict:?}"));
    }
    let violations = check(&trace);
    if !violations.is_empty() {
        return said(&format!("{violations:?}"));
    }
    for departure in &outcome.departures {
        let expected = &expected[departure.sequence as usize];
        if departure.packet.context.storage()[..expected.len()] != expected[..] {
            return said(&format!("packet {} is another one", departure.sequence));
        }
    }
    let all = work.cells(&outcome.map);
    for register in 0..original.registers.len() as u32 {
        let register = RegisterId(register);
        let [found, expected] = [&all, &written_cells].map(|cells| {
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

#[test]
fn many_pipelines_are_one() {
    let mut ran = 0;
    for seed in seeds(60) {
        let numbers = tape::from_seed(seed, 500);
        let run = |numbers: &[u32]| case(&mut Choices::from_tape(numbers.to_vec()));
        match run(&numbers) {
            Found::Nothing => {}
            Found::Equal => ran += 1,
            Found::Different(_) => {
                let mut fails = |numbers: &[u32]| matches!(run(numbers), Found::Different(_));
                let small = tape::shrink(&numbers, 200, &mut fails);
                if let Found::Different(found) = run(&small) {
                    panic!("seed {seed}: {found}");
                }
            }
        }
    }
    assert!(ran > 0, "no case ran");
}

#[test]
fn arrays_of_externs_do_not_move() {
    let ready = program(
        "meter(8, MeterType.bytes) m;",
        "m.execute_meter((bit<32>)hdr.h.i & 7, x); hdr.h.v = x;",
        "",
    );
    let mut controls = shard(ready.program(), ShardOptions::default(), &|_| None, &|_| 8);
    assert!(matches!(stage(&mut controls[0]), Err(NotStaged::Array(..))));
}
