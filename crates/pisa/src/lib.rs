// SPDX-License-Identifier: Apache-2.0
//! Stage layout for match-action hardware (Lucid §2.2: PISA): hardware models as data, dependency graphs of programs,
//! two layouters and a checker. A program comes as a [`Problem`]: units (tables, or pieces of handlers that may be merged
//! into tables), arrays, and dependencies between units. A [`Layout`] gives each unit a stage and a table there. No code
//! here runs a program or knows a source language: names and spans come with the units.

#![forbid(unsafe_code)]

pub mod check;
pub mod cost;
pub mod exact;
pub mod graph;
pub mod greedy;
pub mod guard;
pub mod json;
pub mod layout;
pub mod problem;
pub mod report;
pub mod stages;
pub mod svg;
pub mod target;

pub use guard::{Condition, Guard, GuardRule, VariableId};
pub use layout::{Layout, Optimality, PlacedTable, Stage};
pub use problem::{
    Array, ArrayId, Dependency, DependencyKind, Gress, MatchKind, Problem, ProgramKey,
    ProgramTable, Resource, Unit, UnitId, Variable,
};
pub use target::HardwareModel;
