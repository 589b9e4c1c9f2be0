// SPDX-License-Identifier: Apache-2.0
//! [`Shape`]: the numbers of a machine that its user chooses.

use crate::codes;
use scale::machine::MAX_PIPELINES;
use source::{Diagnostic, Diagnostics, Span};
use std::ops::RangeInclusive;

/// The shape of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The number of pipelines.
    pub pipelines: usize,
    /// The entries of a ring.
    pub depth: usize,
    /// Cycles between two remaps; nothing if cells stay.
    pub remap_every: Option<u64>,
}

/// The entries of a ring in MP5 §4.2.
pub const PAPER_DEPTH: usize = 8;
/// Cycles between two remaps.
const REMAP_CYCLES: RangeInclusive<u64> = 2..=i32::MAX as u64;
/// The most entries of a ring.
const MAX_DEPTH: usize = 4096;

impl Shape {
    /// Checks the numbers.
    ///
    /// # Errors
    ///
    /// A diagnostic for each number that hardware does not have.
    pub fn check(&self) -> Result<(), Diagnostics> {
        let mut found = Diagnostics::new();
        let cycles = self.remap_every.unwrap_or(*REMAP_CYCLES.start());
        let mut refuse = |is_wrong: bool, message: String, help: &str| {
            if is_wrong {
                found.push(Diagnostic::error(codes::SHAPE, Span::NONE, message).help(help));
            }
        };
        refuse(
            !(1..=MAX_PIPELINES).contains(&self.pipelines),
            format!("{} pipelines: a machine has 1 to {MAX_PIPELINES}", self.pipelines),
            &format!("write a number from 1 to {MAX_PIPELINES}"),
        );
        refuse(
            !(1..=MAX_DEPTH).contains(&self.depth),
            format!("{} entries: a ring has 1 to {MAX_DEPTH}", self.depth),
            &format!("write a number from 1 to {MAX_DEPTH}; the paper's rings have {PAPER_DEPTH}"),
        );
        refuse(
            !REMAP_CYCLES.contains(&cycles),
            format!("{cycles} cycles between two remaps are out of range"),
            &format!("write a number from {} to {}", REMAP_CYCLES.start(), REMAP_CYCLES.end()),
        );
        if found.is_empty() { Ok(()) } else { Err(found) }
    }
}
