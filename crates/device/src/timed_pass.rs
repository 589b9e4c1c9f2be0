// SPDX-License-Identifier: Apache-2.0
//! `TimedPass`: a pass that waits, as an event, for its next stage. `timed_run` runs it.

use crate::pass::Pass;
use interpreter::BlockRun;
use interpreter::trace::Recorder;

/// A pass that takes time, between two of its moments.
#[derive(Debug)]
pub(crate) struct TimedPass {
    pub pass: Pass,
    /// Its number in the order in which passes began.
    pub order: u64,
    /// The suspended run of the current block.
    pub run: Option<BlockRun>,
    pub recorder: Option<Recorder>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_under_way_are_owned_and_can_be_sent() {
        fn is_owned_and_sendable<T: Send + 'static>() {}
        is_owned_and_sendable::<TimedPass>();
    }
}
