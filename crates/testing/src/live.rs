// SPDX-License-Identifier: Apache-2.0
//! Tests with network namespaces of their own need root and programs. Without them a test says NOT RUN; if
//! `PLANEWRIGHT_LIVE_TESTS` is `required`, as in `.ci/run`, it fails.

use crate::programs::{are_installed, lacks, succeeds};

/// Makes tests of live networks required.
const VARIABLE: &str = "PLANEWRIGHT_LIVE_TESTS";

/// Returns whether a test with network namespaces and these programs can run here. Says so if it cannot.
#[track_caller]
pub fn can_run(test: &str, programs: &[&str]) -> bool {
    let probe = format!("planeprobe-{}-{test}", std::process::id());
    let has_namespaces = succeeds("ip", &["netns", "add", &probe])
        && succeeds("ip", &["netns", "exec", &probe, "true"])
        && succeeds("ip", &["netns", "delete", &probe]);
    if !has_namespaces {
        lacks(test, "this user cannot make network namespaces", VARIABLE);
        return false;
    }
    are_installed(test, programs, VARIABLE)
}
