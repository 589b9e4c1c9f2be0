// SPDX-License-Identifier: Apache-2.0
//! The `if` that an `else` belongs to, and the indentation of bodies of `if` and `for` without
//! braces. Where lines end is in `structure`.

/// An `if` whose `else` may still come.
#[derive(Clone, Copy, Debug)]
struct OpenIf {
    /// Depth of frames where it stands.
    depth: usize,
    /// Levels of indentation for the bodies it is in.
    steps: usize,
}

/// The `if`s whose `else` may still come, the innermost last.
#[derive(Debug, Default)]
pub(super) struct OpenIfs(Vec<OpenIf>);

impl OpenIfs {
    pub(super) fn open(&mut self, depth: usize, steps: usize) {
        self.0.push(OpenIf { depth, steps });
    }

    /// Returns the steps of the `if` to which an `else` at this depth belongs.
    pub(super) fn steps_of_else(&self, depth: usize) -> usize {
        self.0.last().filter(|open| open.depth == depth).map_or(0, |open| open.steps)
    }

    /// Goes past an `else`: its `if` can have no other one.
    pub(super) fn pass_else(&mut self, depth: usize) {
        if self.0.last().is_some_and(|open| open.depth == depth) {
            self.0.pop();
        }
    }

    /// No `else` can come any more for what is at this depth or deeper.
    pub(super) fn end(&mut self, depth: usize) {
        while self.0.last().is_some_and(|open| open.depth >= depth) {
            self.0.pop();
        }
    }
}
