// SPDX-License-Identifier: Apache-2.0
//! Single blocks on both engines: the examples' programs on random packets, without entries. Slots,
//! cursor, emitted bits, requests and outcome have to agree after every block. Whole devices with
//! entries are compared elsewhere.

use interpreter::random::RandomKey;
use interpreter::{Environment, ExternCall, Interpreter, PacketContext};
use ir::Bits;
use ir::ready::ReadyProgram;
use jit::{BoundInstance, Compiled, Unit};
use state::{Cells, Store};
use std::path::Path;
use std::sync::Arc;

#[derive(Default)]
struct Quiet {
    log: Vec<String>,
}

impl Environment for Quiet {
    fn now_ps(&self) -> u64 {
        5_000_000
    }

    fn packet_length_bytes(&self) -> u64 {
        77
    }

    fn random_key(&self) -> RandomKey {
        RandomKey { seed: 1, device: 2, packet: 3, pass: 4 }
    }

    fn log_line(&mut self, line: &str) {
        self.log.push(line.to_string());
    }

    fn call_extern(&mut self, _: ExternCall<'_>) -> Result<Vec<Bits>, String> {
        Err("there are no externs".to_string())
    }
}

fn program(name: &str, text: String) -> Arc<ir::Program> {
    ReadyProgram::of_text(name, text).expect("it compiles").program().clone()
}

/// A small generator of bytes: each packet is the bits of a counter mixed.
fn packet(seed: u64, length: usize, header: &[u8]) -> Vec<u8> {
    let mut state = seed;
    let mut bytes: Vec<u8> = (0..length)
        .map(|_| {
            state =
                state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
            (state >> 33) as u8
        })
        .collect();
    if !seed.is_multiple_of(4) {
        for (byte, header) in bytes.iter_mut().zip(header) {
            *byte = *header;
        }
    }
    bytes
}

fn check(name: &str, program: Arc<ir::Program>, packets: &[Vec<u8>]) {
    let interpreter = Interpreter::new(program.clone());
    let units: Vec<Unit> = (0..program.blocks.len()).map(|at| Unit::block("block", at)).collect();
    let compiled = Compiled::new(program.clone(), &units).expect("it compiles");
    let store = Store::new(program.clone()).expect("its entries fit");
    let mut cells = [Cells::new(&program), Cells::new(&program)];
    let mut instance = BoundInstance::default();
    let forwarding = store.forwarding();
    for (number, bytes) in packets.iter().enumerate() {
        let mut contexts = [PacketContext::new(&program), PacketContext::new(&program)];
        let mut environments = [Quiet::default(), Quiet::default()];
        for context in &mut contexts {
            context.set_packet(bytes);
        }
        for block in 0..program.blocks.len() {
            let what = format!("{name}, packet {number}, block {}", program.blocks[block].name);
            let [left, right] = &mut contexts;
            let [left_cells, right_cells] = &mut cells;
            let [left_environment, right_environment] = &mut environments;
            let expected = interpreter.run_block(
                block,
                left,
                &store.configuration(),
                left_cells,
                left_environment,
                None,
            );
            let found = compiled.run_on_context(
                block,
                right,
                &mut instance,
                &forwarding,
                right_cells,
                right_environment,
            );
            assert_eq!(expected, found, "{what}");
            for (at, slot) in program.slots.iter().enumerate() {
                let id = ir::SlotId(at as u32);
                assert_eq!(left.value(id), right.value(id), "{what}: {}", slot.name);
            }
            assert_eq!(left.cursor_bits, right.cursor_bits, "{what}");
            assert_eq!(left.emitted.as_bytes(), right.emitted.as_bytes(), "{what}");
            assert_eq!(left.requests, right.requests, "{what}");
            assert_eq!(left.draws, right.draws, "{what}");
        }
        assert_eq!(environments[0].log, environments[1].log);
    }
    for (at, register) in program.registers.iter().enumerate() {
        let id = ir::RegisterId(at as u32);
        for index in 0..register.size.min(100) {
            let [left, right] = [&cells[0], &cells[1]]
                .map(|cells| cells.register(id).and_then(|cells| cells.read(index)));
            assert_eq!(left, right, "{name}: {}[{index}]", register.name);
        }
    }
    for (at, counter) in program.counters.iter().enumerate() {
        let id = ir::CounterId(at as u32);
        for index in 0..cells[0].counter_size(id).min(100) {
            assert_eq!(
                cells[0].counter(id, index),
                cells[1].counter(id, index),
                "{}",
                counter.name
            );
        }
    }
}

#[test]
fn examples_agree_block_by_block() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let ipv4 = [
        2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 1, 1, 8, 0, 0x45, 0, 0, 50, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0,
        1, 10, 10, 0, 2, 20,
    ];
    let packets: Vec<Vec<u8>> =
        (0..64).map(|seed| packet(seed, (seed * 7 % 120) as usize, &ipv4)).collect();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the examples are there") {
        let path = entry.expect("readable").path();
        if !path.is_dir() {
            continue;
        }
        let name = path.file_name().expect("a name").to_string_lossy().to_string();
        let source = path.join(format!("{name}.p4"));
        if !source.is_file() {
            // Examples in another language.
            continue;
        }
        let text = std::fs::read_to_string(&source).expect("readable");
        check(&name, program(&name, text), &packets);
        count += 1;
    }
    assert!(count >= 9, "{count} examples");
}

/// What the examples do not have: varbits, headers of part bytes, unions, stacks at indices known only
/// at run time and shifted, values wider than 128 bits.
#[test]
fn rarer_constructs_agree_block_by_block() {
    let text = include_str!("data/rare.p4").to_string();
    let packets: Vec<Vec<u8>> =
        (0..400).map(|seed| packet(seed, (seed * 5 % 90) as usize, &[])).collect();
    check("rare", program("rare.p4", text), &packets);
    let text = include_str!("data/part_bytes.p4").to_string();
    check("part_bytes", program("part_bytes.p4", text), &packets);
}
