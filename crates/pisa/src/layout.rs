// SPDX-License-Identifier: Apache-2.0
//! The answer to a problem: which unit sits in which stage and table, and how good the answer is
//! known to be.

use crate::problem::{Gress, UnitId};
use std::sync::Arc;

/// Every unit of a problem at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Name of the target it is for.
    pub target: Arc<str>,
    /// From the first stage; the last is not empty.
    pub stages: Vec<Stage>,
    /// How good it is known to be.
    pub optimality: Optimality,
}

/// What sits in one stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stage {
    /// In order of their first units.
    pub tables: Vec<PlacedTable>,
}

/// A table of a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedTable {
    /// Which half.
    pub gress: Gress,
    /// One table of the program, or units merged into one, in order.
    pub units: Vec<UnitId>,
}

/// How many stages fewer there could be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Optimality {
    /// Proved: none fewer.
    Optimal,
    /// Proved: at least this many stages are needed.
    AtLeast(u32),
    /// Nothing was proved.
    Unknown,
}

impl std::fmt::Display for Optimality {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Optimality::Optimal => formatter.write_str("no layout has fewer"),
            Optimality::AtLeast(least) => write!(formatter, "at least {least} are needed"),
            Optimality::Unknown => formatter.write_str("how few there could be is not known"),
        }
    }
}
