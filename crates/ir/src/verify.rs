// SPDX-License-Identifier: Apache-2.0
//! The verifier: engines and analyses rely on the invariants below without checking them again. It changes
//! nothing and reports all errors that it finds; a handle out of range hides errors that depend on it.
//!
//! # Invariants
//!
//! Program
//! - P1: every handle is in range.
//! - P2: error 0 is `NoError`; error names are distinct; they number at most 65536.
//! - P3: nothing is wider than [`MAX_WIDTH_BITS`]: slots, fields, keys, cells, constants, temporaries.
//! - P4: the parents of origins form no cycle; merged origins merge no others.
//! - P5: names of slots, tables, registers, counters, meters, action profiles and value sets are
//!   distinct in their list (header types, headers, actions and regions may share names).
//!
//! Storage
//! - S1: a value shown as `bool` has one bit, and the members of a shown enum have the value's width.
//! - S2: at most one field of a header type is a varbit.
//! - S3: a header's slots are consecutive, the validity bit of one bit first, then the fields with
//!   their types; no slot belongs to two headers.
//! - S4: the headers of a stack are in range and element by element of the same types; there is at
//!   least one header an element; `next` has 32 bits.
//! - S5: the members of a union are distinct.
//!
//! State
//! - T1: default action and entries call actions of the table's list, with as many arguments as the
//!   action has parameters and of their widths. A table that lists no action and has no entries needs
//!   no default action.
//! - T2: the default action is not `table_only`, and no entry runs a `default_only` action.
//! - T3: an entry has one pattern for each key that is no selector, of the key's width, and of a form
//!   that the match kind knows: ternary patterns for ternary keys, prefixes for longest-prefix and
//!   ternary keys, ranges for range keys; exact values and `any` for all.
//! - T4: a prefix is not longer than its key and has zeros behind it; a ternary value is zero where its
//!   mask is.
//! - T5: an action runs a region of kind action; its parameters go to distinct `bit` slots.
//! - T6: attached counters and meters are direct, and attached to one table only.
//! - T7: selector keys stand only in tables whose implementation is a selector.
//! - T8: a register's first value has the cell's width.
//! - T9: what is said about keys under T3 holds for value sets too: no selector among them.
//! - T10: a calculation has a width of [`crate::CRC_WIDTHS_BITS`], and parameters of at most that width.
//!
//! Blocks
//! - B1: blocks with one role are controls and follow each other; a block runs a region of its own kind; only a
//!   parser has an error slot, of 16 bits.
//!
//! Code
//! - C1: a region has a block 0; branches go to blocks of the region; switch cases are distinct.
//! - C2: a temporary is defined once, and used only after that in the same basic block. What a
//!   register update's body defines is used only in that update.
//! - C3: operands and results have the types that the operation requires (see [`crate::Operation`]). A
//!   constant may stand for a varbit of at least its width.
//! - C4: instructions and terminators stand only in regions of the kinds that may hold them: extract,
//!   lookahead, advance, packet length and reject in parsers; emit in deparsers; apply in controls and
//!   deparsers; direct counters and meters in actions; exit not in parsers.
//! - C5: the body of a register update is pure and an update does not nest.
//! - C6: an extract gives a length exactly when the header has a varbit field.
//! - C7: counters and meters with an index are not direct; those without are.

mod code;
mod items;

use crate::{ItemRef, MAX_WIDTH_BITS, OriginId, Program};
use std::fmt;

/// A broken invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// The item that breaks it.
    pub item: ItemRef,
    /// The item's origin, if it has one.
    pub origin: Option<OriginId>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.item, self.message)
    }
}

impl std::error::Error for VerifyError {}

/// Checks every invariant.
pub fn verify(program: &Program) -> Result<(), Vec<VerifyError>> {
    let mut verifier = Verifier { program, errors: Vec::new() };
    verifier.items();
    for at in 0..program.regions.len() {
        verifier.region(crate::RegionId(at as u32));
    }
    if verifier.errors.is_empty() { Ok(()) } else { Err(verifier.errors) }
}

struct Verifier<'a> {
    program: &'a Program,
    errors: Vec<VerifyError>,
}

impl Verifier<'_> {
    fn error(&mut self, item: ItemRef, message: impl Into<String>) {
        let origin =
            item.origin(self.program).filter(|origin| origin.index() < self.program.origins.len());
        self.errors.push(VerifyError { item, origin, message: message.into() });
    }

    fn require(&mut self, item: ItemRef, condition: bool, message: impl FnOnce() -> String) {
        if !condition {
            self.error(item, message());
        }
    }

    /// Whether a handle is in range (P1).
    fn handle(&mut self, item: ItemRef, what: &str, index: u32, count: usize) -> bool {
        let fits = (index as usize) < count;
        self.require(item, fits, || format!("there is no {what} #{index}"));
        fits
    }

    fn origin(&mut self, item: ItemRef, origin: OriginId) {
        let fits = origin.index() < self.program.origins.len();
        self.require(item, fits, || format!("there is no origin @{}", origin.0));
    }

    /// P3.
    fn width(&mut self, item: ItemRef, width_bits: u32) {
        self.require(item, width_bits <= MAX_WIDTH_BITS, || {
            format!("{width_bits} bits are more than the limit of {MAX_WIDTH_BITS}")
        });
    }
}
