// SPDX-License-Identifier: Apache-2.0
//! Builds networks of switches and hosts from their description ([`build()`]), runs them, and reports what they measured
//! ([`results`], [`tables`]). The caller reads files and makes devices.

mod applications;
mod build;
mod built;
mod cells;
pub mod controllers;
pub mod entries;
pub mod expectations;
mod external;
pub mod json_numbers;
mod numbering;
pub mod picture;
mod pingall;
mod ports;
mod reading;
pub mod results;
pub mod statistics;
mod student;
pub mod summary;
pub mod table;
mod table_data;
pub mod tables;
pub mod timeline;
mod timeline_of_run;
mod unsupported;
mod watch;
mod watched;

pub use applications::Resources;
pub use build::{build, build_with_external_hosts};
pub use built::{Built, RunError};
pub use external::ExternalHost;
pub use pingall::add_pingall;
pub use ports::traffic_manager;
use source::Explanation;
pub use timeline_of_run::FinishedTimeLine;
pub use watch::CaptureSink;

/// The explanations of all codes.
pub fn explanations() -> impl Iterator<Item = &'static Explanation> {
    build::EXPLANATIONS
        .iter()
        .chain(ports::EXPLANATIONS)
        .chain(entries::EXPLANATIONS)
        .chain(unsupported::EXPLANATIONS)
        .chain(expectations::EXPLANATIONS)
        .chain(watch::EXPLANATIONS)
        .chain(controllers::EXPLANATIONS)
}
