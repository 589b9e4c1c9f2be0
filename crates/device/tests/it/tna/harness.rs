// SPDX-License-Identifier: Apache-2.0
//! Devices with TNA programs.

use crate::setup::{ENGINES, write};
use device::side_by_side::SideBySide;
use device::{Device, DeviceOptions, EngineChoice, PassTiming};
use ir::Program;
use ir::ready::ReadyProgram;
use p4::interfaces::InterfacesOnly;
use p4::preprocessor::PreprocessorOptions;
use state::Update;
use std::sync::Arc;

/// Diagnostics of a program, and the lowered program on success.
pub fn compiled(text: &str) -> (String, Option<Arc<Program>>) {
    let options = PreprocessorOptions::default();
    let mut compiled =
        p4::compile::compile("program.p4", text.to_string(), &InterfacesOnly, &options);
    let ready = ReadyProgram::of(&mut compiled);
    let report = source::render_text(
        &compiled.map,
        &compiled.diagnostics,
        source::RenderOptions { color: false },
    );
    (report, ready.map(|ready| ready.lowered().clone()))
}

/// Compiles a program without warnings and verifies it.
pub fn program(text: &str) -> Arc<Program> {
    assert_eq!(compiled(text).0, "");
    program_with_warnings(text)
}

/// Compiles and verifies a program.
pub fn program_with_warnings(text: &str) -> Arc<Program> {
    let (report, lowered) = compiled(text);
    let program = lowered.unwrap_or_else(|| panic!("{report}"));
    assert_eq!(ir::verify(&program), Ok(()));
    program
}

/// A device with these entries and groups.
pub fn device(
    program: &Arc<Program>,
    options: &DeviceOptions,
    engine: EngineChoice,
    updates: &[Update],
) -> Device {
    let options = DeviceOptions { engine, ..options.clone() };
    let device = Device::new(program.clone(), options).expect("loads");
    write(&device, updates.to_vec());
    device
}

/// Durations too short for time stamps.
pub fn short_passes() -> PassTiming {
    PassTiming { first_stage_ps: 3, stage_ps: 2, ..PassTiming::default() }
}

/// Runs a scenario independent of time on each engine, and with passes with durations.
pub fn on_both_and_timed(
    program: &Arc<Program>,
    options: &DeviceOptions,
    updates: &[Update],
    scenario: impl Fn(Device),
) {
    on_both(program, options, updates, &scenario);
    let timed = DeviceOptions { pass_timing: Some(short_passes()), ..options.clone() };
    scenario(device(program, &timed, EngineChoice::Interpreter, updates));
}

/// Runs a scenario on each engine.
pub fn on_both(
    program: &Arc<Program>,
    options: &DeviceOptions,
    updates: &[Update],
    scenario: impl Fn(Device),
) {
    for engine in ENGINES {
        scenario(device(program, options, engine, updates));
    }
}

/// Two devices whose results are compared packet by packet.
pub fn side_by_side(
    program: &Arc<Program>,
    options: &DeviceOptions,
    updates: &[Update],
) -> SideBySide {
    let mut both = SideBySide::new(program.clone(), options.clone()).expect("loads");
    for device in both.devices_mut() {
        write(device, updates.to_vec());
    }
    both
}

/// Outputs after a packet, sorted by port.
pub fn sent(device: &mut Device, port: u32, bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
    device.inject(port, device.now_ps(), bytes.to_vec()).expect("not in the past");
    device.run_to_completion().expect("no assertion fails");
    let mut sent = device.drain_transmitted();
    sent.sort_by_key(|packet| packet.port);
    sent.into_iter().map(|packet| (packet.port, packet.bytes)).collect()
}
