// SPDX-License-Identifier: Apache-2.0
//! The program for v1model in the making: pieces of its text, names, layouts of events, and what the parts of the
//! compiler have to know of each other. Which pieces there are is decided by the other files and by `scheduler`.

use super::codes::NOT_ON_TARGET;
use super::shapes::Shapes;
use crate::compiled::{GlobalPlace, PortGroup};
use crate::names::Names;
use crate::options::Options;
pub(crate) use crate::template::Piece;
use lucid::core::{EventId, ExternId, GlobalId, Program};
use source::{Diagnostic, Diagnostics, Span};
use std::sync::Arc;

/// Stands around the number of a calculation in texts in the making; no P4 has it.
pub(super) const CALCULATION_MARK: char = '\u{1}';

/// The program in the making, with what its parts have to know of each other.
pub(crate) struct Context<'p> {
    pub(crate) program: &'p Program,
    pub(crate) options: &'p Options,
    pub(crate) names: Names,
    pub(crate) shapes: Shapes,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) comments: Vec<(String, String)>,
    pub(crate) found: Diagnostics,
    pub(crate) port_groups: Vec<PortGroup>,
    pub(crate) switch_groups: Vec<PortGroup>,
    pub(crate) floods: bool,
    /// Whether an event leaves by a port, and may have others beside it.
    pub(crate) mixes: bool,
    /// Whether an event is delayed.
    pub(crate) delays: bool,
    /// Calculations, in the order in which they were written; with a polynomial if they are hashes.
    pub(crate) calculations: Vec<Option<u32>>,
    pub(crate) globals: Vec<GlobalPlace>,
    /// Names of the fields of the metadata that hold externs.
    pub(crate) externs: Vec<String>,
    /// Control of each handler that has one: name, and whether it is of egress.
    pub(crate) handlers: Vec<HandlerControl>,
    /// Whether a parser makes an event with a payload that is empty whatever the packet has.
    pub(crate) empties_payload: bool,
    /// Whether packet events go to switches by number.
    pub(crate) addresses_packets: bool,
}

/// The control of one or, where they share a table, several handlers.
pub(crate) struct HandlerControl {
    pub(crate) name: String,
    pub(crate) events: Vec<EventId>,
    pub(crate) egress: bool,
}

impl Context<'_> {
    /// Adds text of the program.
    pub(crate) fn put(&mut self, span: Span, text: impl Into<String>) {
        self.pieces.push((span, text.into()));
    }

    /// What is added meanwhile, apart from the rest.
    pub(crate) fn written(&mut self, write: impl FnOnce(&mut Self)) -> Vec<Piece> {
        let before = std::mem::take(&mut self.pieces);
        write(self);
        std::mem::replace(&mut self.pieces, before)
    }

    /// Says that the target cannot do something.
    pub(crate) fn refuse(&mut self, span: Span, what: impl Into<String>, help: impl Into<String>) {
        self.found.push(Diagnostic::error(NOT_ON_TARGET, span, what).help(help));
    }

    /// What to write in front of a call of `hash`, so that [`super::calculations::unmarked`] finds it.
    pub(crate) fn calculation(&mut self, polynomial: Option<u32>) -> String {
        self.calculations.push(polynomial);
        let mark = CALCULATION_MARK;
        format!("{mark}{}{mark}", self.calculations.len() - 1)
    }

    /// Whether some handler runs in egress.
    pub(crate) fn has_egress_handlers(&self) -> bool {
        self.handlers.iter().any(|handler| handler.egress)
    }

    /// The register of an array, pair array or counter.
    pub(crate) fn register(&self, global: GlobalId) -> Option<(Arc<str>, u32, bool)> {
        self.globals.iter().find_map(|place| match place {
            GlobalPlace::Register { global: of, name, cell_bits, is_pair } if *of == global => {
                Some((name.clone(), *cell_bits, *is_pair))
            }
            _ => None,
        })
    }

    /// The metadata field of an extern.
    pub(crate) fn extern_field(&self, number: ExternId) -> &str {
        &self.externs[number.0 as usize]
    }
}
