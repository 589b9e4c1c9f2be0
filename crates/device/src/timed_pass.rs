// SPDX-License-Identifier: Apache-2.0
//! A pass that takes time, as an event that waits for its next stage. Running it is in `timed_run`.

use crate::pass::Pass;
use interpreter::BlockRun;
use interpreter::trace::Recorder;

/// A pass under way.
#[derive(Debug)]
pub(crate) struct TimedPass {
    pub pass: Pass,
    /// Its number in the order in which passes began.
    pub order: u64,
    /// How far the block that runs has come.
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
