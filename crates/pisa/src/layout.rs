// SPDX-License-Identifier: Apache-2.0
//! The solution of a problem: stage and table of each unit, and what is proved about the number of stages.

use crate::problem::{Gress, UnitId};
use std::sync::Arc;

/// The places of all units of a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Name of the hardware model.
    pub target: Arc<str>,
    /// From the first stage; the last is not empty.
    pub stages: Vec<Stage>,
    /// What is proved about the number of stages.
    pub optimality: Optimality,
}

/// The tables of one stage.
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

/// What is proved about the least number of stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Optimality {
    /// No layout has fewer stages.
    Optimal,
    /// At least this many stages are needed.
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
