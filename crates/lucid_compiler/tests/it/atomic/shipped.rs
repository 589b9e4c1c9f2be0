// SPDX-License-Identifier: Apache-2.0
//! The examples and the library's tests, each with its run, as atomic programs.

use super::oracle::same_as_interpreter;
use lucid_testing::shipped_runs::runs;

#[test]
fn examples_do_the_same_as_interpreter() {
    for shipped in runs() {
        let name = shipped.name;
        match same_as_interpreter(&shipped.program, &shipped.run, &shipped.folder) {
            Ok(dispatches) => assert!(dispatches > 0, "{name}: {dispatches} dispatches"),
            Err(said) => panic!("{name}: {said}"),
        }
    }
}
