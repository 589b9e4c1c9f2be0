// SPDX-License-Identifier: Apache-2.0
//! Runs compiled programs on a device.

use control::session::Session;
use device::{Device, DeviceOptions, EngineChoice};
use domino::Checked;
use domino::compiler::{self, Layout};
use domino::interpreter::{self, State};
use ir::Program;
use ir::ready::ReadyProgram;
use p4::compile::Compilation;
use source::{RenderOptions, render_text};
use std::sync::Arc;

/// Compiles a program.
pub fn compile(checked: &Checked) -> compiler::Compiled {
    compiler::compile(&checked.core, checked.map.clone(), &Layout::default()).unwrap_or_else(
        |(found, map)| panic!("{}", render_text(&map, &found, RenderOptions { color: false })),
    )
}

/// Packets as they leave, `None` for those that do not, and all cells at the end.
pub type Run = (Vec<Option<Vec<u32>>>, Vec<Vec<u32>>);

/// Runs packets in the interpreter, which drops none.
pub fn interpreted(checked: &Checked, packets: &[Vec<u32>]) -> Run {
    let mut state = State::initial(&checked.program);
    let left = packets.iter().map(|packet| {
        let mut packet = packet.clone();
        interpreter::run(&checked.program, &mut state, &mut packet);
        Some(packet)
    });
    (left.collect(), state.cells)
}

/// Runs packets.
pub fn run(checked: &Checked, packets: &[Vec<u32>], is_interpreted: bool) -> Run {
    run_changed(checked, packets, is_interpreted, |_| {})
}

/// Runs packets on the compiled program after a pass.
pub fn run_changed(
    checked: &Checked,
    packets: &[Vec<u32>],
    is_interpreted: bool,
    pass: impl FnOnce(&mut Program),
) -> Run {
    let compiler::Compiled { built, registers, commands } = compile(checked);
    let mut compilation = Compilation::from(built);
    let ready = ReadyProgram::of(&mut compilation).expect("the compiled program lowers");
    let engine = if is_interpreted { EngineChoice::Interpreter } else { EngineChoice::Jit };
    let options = DeviceOptions { engine, ..DeviceOptions::default() };
    let mut program = ready.program().clone();
    pass(Arc::make_mut(&mut program));
    let mut device = Device::new(program.clone(), options).expect("a device");
    let (commands, errors) = control::entries::read("first values", &commands);
    assert!(errors.is_empty(), "{errors:?}");
    let mut target = device.target();
    for answer in Session::new(program).apply_all(&commands, &mut target, None) {
        answer.expect("a first value");
    }
    let mut left = vec![None; packets.len()];
    for (at, packet) in packets.iter().enumerate() {
        let bytes = packet.iter().flat_map(|word| word.to_be_bytes()).collect();
        device.inject(0, (at as u64 + 1) * 1_000_000, bytes).expect("a packet");
    }
    device.run_to_completion().expect("a run");
    for sent in device.drain_transmitted() {
        assert_eq!(sent.port, 0);
        let words = sent.bytes.chunks_exact(4);
        let words =
            words.map(|word| word.iter().fold(0u32, |all, byte| all << 8 | u32::from(*byte)));
        left[sent.packet as usize] = Some(words.collect());
    }
    let mut state = State::initial(&checked.program);
    let (program, cells) = (device.program(), device.cells());
    for (register, values) in registers.iter().zip(&mut state.cells) {
        let Some(name) = register else { continue };
        let at = program
            .registers
            .iter()
            .position(|one| one.name.rsplit('.').next() == Some(name.as_str()));
        let Some(array) = at.and_then(|at| cells.register(ir::RegisterId(at as u32))) else {
            continue;
        };
        for (index, value) in values.iter_mut().enumerate() {
            *value = array.read(index as u64).map_or(0, |bits| bits.low_u64() as u32);
        }
    }
    (left, state.cells)
}
