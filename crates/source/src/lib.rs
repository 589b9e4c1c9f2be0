// SPDX-License-Identifier: Apache-2.0
//! Files, spans and diagnostics, for every language Planewright reads.
//!
//! A [`SourceMap`] owns the text of all files of one compilation. A [`Span`] is a byte range in one
//! of them. A [`Diagnostic`] is what a user reads: a stable code, a place, what is wrong and what to
//! do. [`quantity`] reads numbers with units, [`nearest`] suggests spellings, [`parse`] and [`layout`] are what
//! parsers and formatters share. Nothing here knows a language or opens a file: the caller passes text.

mod diagnostic;
pub mod layout;
mod map;
mod nearest;
pub mod parse;
mod printable;
pub mod quantity;
mod reason;
mod render;

pub use diagnostic::{Code, Diagnostic, Diagnostics, Explanation, Label, Severity};
pub use map::{FileId, Library, Location, MacroUse, SourceMap, Span};
pub use nearest::nearest;
pub use printable::printable;
pub use reason::reason;
pub use render::{RenderOptions, render_json, render_text};
