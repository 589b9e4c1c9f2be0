// SPDX-License-Identifier: Apache-2.0
//! The text form of programs: complete, so that what is printed parses back to an equal program, and
//! readable enough to write tests in.
//!
//! A text is a list of items, each starting with its keyword on a line of its own; items may stand in
//! any order, and each list of the program is in the order of its items. `//` starts a comment.
//!
//! ```text
//! ir v1model
//! error NoError
//! slot hdr.eth.$valid: bit<1> bool @0
//! slot hdr.eth.type: bit<16> unsigned @0
//! header_type eth_t {
//!   type: bit<16> unsigned
//! }
//! header hdr.eth: eth_t at hdr.eth.$valid
//! region parser MyParser {
//!   block0 start:
//!     extract hdr.eth @1
//!     t0: bit<16> = load hdr.eth.type @2
//!     switch t0 { 16w0x800: block1 } default block2 @2
//!   ...
//! }
//! ```
//!
//! Names that are not plain words are quoted. A reference is a name, or `#` and an index where the name
//! is not unique in its list. Temporaries are `t` and their number, with their type where they are
//! defined; basic blocks are `block` and their number. `@` and a number is the item's origin; an item
//! without one has no source. Values that the parser reads may be up to
//! [`MAX_READABLE_WIDTH_BITS`] wide, beyond what the verifier allows.

mod code_parser;
mod code_printer;
mod cursor;
mod parser;
mod printer;
mod reference;
#[cfg(test)]
mod tests;
mod token;
mod words;

use crate::{ItemRef, Program, RegionId};
use std::collections::HashMap;
use std::fmt;

/// The widest constant that the parser reads.
pub const MAX_READABLE_WIDTH_BITS: u32 = 1 << 20;

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1, in characters.
    pub column: u32,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for TextError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for TextError {}

/// A program and the lines that its items start on.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedText {
    /// The program.
    pub program: Program,
    /// The line of each item, counted from 1.
    pub lines: HashMap<ItemRef, u32>,
}

/// The text of a program.
pub fn print(program: &Program) -> String {
    printer::print(program, true)
}

/// The text of a program without its origins, for people; after parsing it back no item has a source.
pub fn print_without_origins(program: &Program) -> String {
    printer::print(program, false)
}

/// The text of a program's regions alone, without origins.
pub fn print_code(program: &Program) -> String {
    printer::print_regions(program, &program.regions)
}

/// The text of some regions of a program, without origins.
pub fn print_regions(program: &Program, regions: impl IntoIterator<Item = RegionId>) -> String {
    let regions = regions.into_iter().map(|region| &program.regions[region.index()]);
    printer::print_regions(program, regions)
}

/// The program that a text describes. Nothing is verified.
pub fn parse(text: &str) -> Result<Program, Vec<TextError>> {
    parse_with_lines(text).map(|parsed| parsed.program)
}

/// The program that a text describes, and the line of each of its items.
pub fn parse_with_lines(text: &str) -> Result<ParsedText, Vec<TextError>> {
    parser::parse(text)
}
