// SPDX-License-Identifier: Apache-2.0
//! [`NotStaged`]: why a control does not run on several pipelines, as a clause and with its place.

use crate::sharding::declaration;
use ir::Program;
use ir::effects::Location;
use source::{Diagnostics, Span};
use std::fmt;
use std::sync::Arc;

/// Why a control does not run on several pipelines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotStaged {
    /// An array that no machine can move, with the reason.
    Array(Location, Arc<str>, &'static str),
    /// An array that a packet cannot access in the stage that it was given.
    Stage(Location, Arc<str>),
    /// What keeps the control from being cut.
    Cut(Diagnostics),
    /// Nothing is known of the control's values.
    Values,
}

impl NotStaged {
    /// Returns the place that it is about: the declaration of an array, or that of the first obstacle to a cut.
    pub fn span(&self, program: &Program) -> Span {
        match self {
            NotStaged::Array(object, ..) | NotStaged::Stage(object, _) => {
                declaration(program, *object)
            }
            NotStaged::Cut(found) => found.iter().next().map_or(Span::NONE, |it| it.primary.span),
            NotStaged::Values => Span::NONE,
        }
    }
}

impl fmt::Display for NotStaged {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotStaged::Array(_, name, reason) => write!(formatter, "`{name}`: {reason}"),
            NotStaged::Stage(_, name) => {
                write!(formatter, "`{name}`: its accesses do not fit into one stage")
            }
            NotStaged::Cut(found) => match found.iter().next() {
                Some(first) => formatter.write_str(&first.message),
                None => formatter.write_str("its control cannot be cut into stages"),
            },
            NotStaged::Values => {
                formatter.write_str("its control has a loop or too many conditions")
            }
        }
    }
}
