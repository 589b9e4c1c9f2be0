// SPDX-License-Identifier: Apache-2.0
//! The kinds of control maps under test. Each rewrites a program as written to a program as run and makes the
//! map between both; what several kinds share is in `erased`, `ids`, `rows` and `cells`.

mod cached;
mod cells;
mod constant;
mod counters;
mod doubled;
mod erased;
mod exact_rows;
mod ids;
mod moved_default;
mod renamed;
mod rows;
mod several;
mod split;

pub use erased::Erased;
pub use ids::table_named;

use crate::control_maps::specification::Specification;
use ir::Program;
use std::sync::Arc;
use testing::Choices;

/// Makes the map of a program as written over the program as run.
pub type MakeMap = Box<dyn Fn(&Arc<Program>, &Arc<Program>) -> Erased>;

/// A program as run, and what makes the map from a program as written to it.
pub struct Transformed {
    pub run: Specification,
    pub map: MakeMap,
}

/// Whether a map is as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Right,
    /// With the mistake that [`Kind::mistake`] names.
    Broken,
}

/// A kind of map.
pub struct Kind {
    pub name: &'static str,
    /// What its broken form forgets.
    pub mistake: &'static str,
    /// `None` where the program has nothing for it.
    pub transform: fn(&mut Choices, &Specification, Form) -> Option<Transformed>,
}

/// All kinds.
pub const KINDS: &[Kind] = &[
    renamed::KIND,
    split::KIND,
    several::KIND,
    exact_rows::KIND,
    doubled::KIND,
    moved_default::KIND,
    constant::KIND,
    cells::MOVED,
    cells::SHARDED,
    cached::KIND,
    counters::KIND,
];
