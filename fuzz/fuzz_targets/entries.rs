// SPDX-License-Identifier: Apache-2.0
//! Entries files of all formats, applied to the router example.
#![no_main]

use control::session::Session;
use libfuzzer_sys::fuzz_target;
use p4::preprocessor::{IncludeLoader, PreprocessorOptions};
use std::sync::{Arc, LazyLock};

struct NoFiles;

impl IncludeLoader for NoFiles {
    fn load(&self, _path: &str) -> Result<Option<String>, String> {
        Ok(None)
    }
}

static PROGRAM: LazyLock<Arc<ir::Program>> = LazyLock::new(|| {
    let text = include_str!("../../examples/router/router.p4").to_string();
    let options = PreprocessorOptions::default();
    let mut compiled = p4::compile::compile("router.p4", text, &NoFiles, &options);
    let typed = compiled.program.as_ref().expect("the example compiles");
    Arc::new(ir::lowering::lower(typed, &mut compiled.diagnostics).expect("the example lowers"))
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
