// SPDX-License-Identifier: Apache-2.0
//! `Ended`: the end of a run on captures, which the report and the JSON result read.

use device::DigestMessage;
use network::replay::Progress;
use scale::threads::WorkerCounts;

/// What ran the packets of a run on several pipelines.
pub(super) enum Pipelines {
    /// One thread, for this reason.
    One(String),
    /// A thread each, with what it has done.
    Many(Vec<WorkerCounts>),
}

/// How the packets of a run ended.
pub(super) struct Ended {
    /// Counts of packets, if all were run.
    pub progress: Option<Progress>,
    /// The error that stopped the run.
    pub error: Option<String>,
    /// The digests that the program has sent, if the result is JSON.
    pub digests: Vec<DigestMessage>,
    /// What ran the packets, if the user wants several pipelines.
    pub pipelines: Option<Pipelines>,
}
