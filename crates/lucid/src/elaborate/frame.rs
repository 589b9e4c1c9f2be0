// SPDX-License-Identifier: Apache-2.0
//! What elaboration knows of the function or handler whose statements it elaborates: the effect of its
//! `return`, and how the statements behind a possible `return` are skipped.

use super::values::Value;
use crate::core::LocalId;

/// What a function's `return` does.
#[derive(Clone, Debug, Default)]
pub(super) enum Returns {
    /// Leaves the handler.
    #[default]
    Handler,
    /// Gives no value, or the caller discards the value.
    Nothing,
    /// Assigns the value to these locals.
    Into(Value),
}

/// The function or handler that is elaborated.
#[derive(Default)]
pub(super) struct Frame {
    pub returns: Returns,
    /// The boolean local that is true once the function has returned.
    pub returned: Option<LocalId>,
    /// The number of open statements after which the code tests `returned`.
    pub asked: u32,
    /// How many branches the continuation was pushed into.
    pub pushed: u32,
}

impl Frame {
    pub fn function(returns: Returns) -> Frame {
        Frame { returns, ..Frame::default() }
    }
}
