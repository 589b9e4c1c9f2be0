// SPDX-License-Identifier: Apache-2.0
//! Entries files of all formats, applied to the router example.
#![no_main]

use control::session::Session;
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
    let store = state::Store::new(PROGRAM.clone()).expect("the program's own entries fit");
    let mut cells = state::Cells::new(&PROGRAM);
    let mut session = Session::new(PROGRAM.clone());
    for located in commands {
        let _ = session.apply(&located, &store, &mut cells, 0);
    }
});
