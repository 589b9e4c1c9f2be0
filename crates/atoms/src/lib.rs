// SPDX-License-Identifier: Apache-2.0
//! Atoms of switch stages (Banzai, the machine model of Domino): [`Template`]s with holes as data, [`Codelet`]s, and
//! [`map`], which searches a [`Configuration`] of a template that does what a codelet does. [`check`] checks its verdicts
//! without the solver. Nothing here knows a source language; a compiler makes codelets.

mod check;
mod codelet;
mod graph;
mod refute;
mod samples;
mod setting;
mod synthesis;
mod template;
pub mod text;
mod words;

pub use check::{Check, check};
pub use codelet::{Codelet, Point};
pub use graph::{Graph, HoleId, Node, NodeId};
pub use refute::{MAX_POINTS, Refutation, refutes};
pub use setting::{Connections, Domain, Setting, Wiring};
pub use synthesis::{Answer, Budget, Verdict, map};
pub use template::{Configuration, Hole, Statement, Template};
pub use text::{Items, banzai, read};
pub use words::{Binary, Unary, Words};
