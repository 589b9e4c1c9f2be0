// SPDX-License-Identifier: Apache-2.0
//! Conformance with the P4_16 specification: its clauses, test documents that say which clauses they
//! cover, the runner for these documents, and the report that tells for each clause the code that
//! cites it and the tests that cover it. The documents themselves are in `tests/specification`.

pub mod citations;
pub mod clauses;
pub mod coverage;
pub mod document;
pub mod runner;

pub use coverage::{Report, coverage};
