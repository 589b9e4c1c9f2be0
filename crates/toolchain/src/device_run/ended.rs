// SPDX-License-Identifier: Apache-2.0
//! `Ended`: the end of a run on captures, which the report and the JSON result read.

use crate::threads::Pipelines;
use device::DigestMessage;
use network::replay::Progress;

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
