// SPDX-License-Identifier: Apache-2.0
//! What runs the packets where the user wants several pipelines, a thread each: [`Plan`] before the run, [`Pipelines`] behind
//! it.

use crate::scaling::{check_memory, check_pipelines};
use device::DeviceOptions;
use frontend::{Compiled, Failure};
use scale::ahead::{self, Obstacle};
use scale::staged::StagedControl;
use scale::threads::WorkerCounts;
use std::sync::Arc;

/// What is to run the packets.
pub(crate) enum Plan {
    /// The user wants no pipelines.
    NotWanted,
    /// One thread, for this reason.
    One(String),
    /// Several pipelines run this ingress.
    Many(Arc<StagedControl>),
}

/// What ran the packets of a run on several pipelines.
pub(crate) enum Pipelines {
    /// One thread, for this reason.
    One(String),
    /// A thread each, with what it has done.
    Many(Vec<WorkerCounts>),
}

/// Decides what runs the packets on a device with these options.
///
/// # Errors
///
/// There are never so many pipelines, or their cells have no room.
pub(crate) fn plan(
    compiled: &Compiled,
    options: &DeviceOptions,
    pipelines: Option<u64>,
) -> Result<Plan, Failure> {
    let Some(pipelines) = pipelines else { return Ok(Plan::NotWanted) };
    let mut found = check_pipelines(pipelines);
    if !found.has_errors() {
        found = check_memory(compiled.ready.program(), pipelines);
    }
    if found.has_errors() {
        return Err(Failure::Found(compiled.map.clone(), found));
    }
    let obstacle = match (&compiled.written, compiled.controllers.is_empty()) {
        (Some(_), _) => Some(Obstacle::new("reactions read and write between packets")),
        (None, false) => Some(Obstacle::new("controllers act between packets")),
        (None, true) => ahead::of_device(options),
    };
    let planned = obstacle.map_or_else(|| ahead::staged(compiled.ready.program()), Err);
    Ok(match planned {
        Ok(control) => Plan::Many(Arc::new(control)),
        Err(Obstacle { reason, span }) => match compiled.map.location(span) {
            Some(place) => Plan::One(format!("{reason} ({place})")),
            None => Plan::One(reason),
        },
    })
}

impl Pipelines {
    /// Returns pipelines with what each has done, or why it was one thread.
    pub(crate) fn text(&self) -> String {
        let workers = match self {
            Pipelines::One(reason) => return format!("pipelines: one thread: {reason}\n"),
            Pipelines::Many(workers) => workers,
        };
        let mut text = format!(
            "\n{:>8} {:>12} {:>14} {:>12}\n",
            "pipeline", "packets", "accesses", "migrations"
        );
        for (number, worker) in workers.iter().enumerate() {
            let WorkerCounts { packets, accesses, migrations } = worker;
            text.push_str(&format!("{number:>8} {packets:>12} {accesses:>14} {migrations:>12}\n"));
        }
        text
    }
}
