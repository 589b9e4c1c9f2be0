// SPDX-License-Identifier: Apache-2.0
//! Entries files of all formats, applied to the router example.
#![no_main]

use control::session::Session;
use device::{Device, DeviceOptions, EngineChoice};
use libfuzzer_sys::fuzz_target;
use ir::ready::ReadyProgram;
use std::sync::{Arc, LazyLock};

static PROGRAM: LazyLock<Arc<ir::Program>> = LazyLock::new(|| {
    let text = include_str!("../../examples/router/router.p4");
    ReadyProgram::of_text("router.p4", text).expect("the example compiles").lowered().clone()
});

fuzz_target!(|text: &str| {
    let (commands, errors) = control::entries::read("fuzz", text);
    for error in errors {
        let _ = error.to_string();
    }
    let options = DeviceOptions { engine: EngineChoice::Interpreter, ..DeviceOptions::default() };
    // The target reaches the device as long as there is one.
    let device = Device::new(PROGRAM.clone(), options).expect("the example loads");
    let mut target = device.target();
    let mut session = Session::new(PROGRAM.clone());
    for located in commands {
        let _ = session.apply(&located, &mut target);
    }
});
