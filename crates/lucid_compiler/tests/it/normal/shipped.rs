// SPDX-License-Identifier: Apache-2.0
//! The examples and the library's tests, each with its run.

use super::oracle::same_after_each_pass;
use lucid_testing::shipped_runs::runs;

#[test]
fn examples_do_the_same_after_each_pass() {
    for shipped in runs() {
        let name = shipped.name;
        match same_after_each_pass(&shipped.program, &shipped.run, &shipped.folder) {
            Ok(observations) => assert!(observations > 2, "{name}: {observations} observations"),
            Err(said) => panic!("{name}: {said}"),
        }
    }
}
