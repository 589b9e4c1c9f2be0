// SPDX-License-Identifier: Apache-2.0
//! Results of a sweep as a file: the runs of some or all seeds, and what the sweep is of.

use network_run::table::Table;
use serde_json::{Value, json};

/// The version of the format.
const VERSION: u64 = 1;

/// An expectation that a run does not meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unmet {
    /// Its place in the network file; runs have it in common.
    pub place: String,
    /// The message with the measured value.
    pub message: String,
}

/// The run of a seed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SeedRun {
    pub seed: u64,
    pub ended_ps: u64,
    pub is_complete: bool,
    pub events: u64,
    pub frames: u64,
    pub tables: Vec<Table>,
    pub unmet: Vec<Unmet>,
}

/// The results of a sweep, or of a part of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SweepResults {
    /// The network file, as the command line has it.
    pub network: String,
    /// A hash of all files and options that the results depend on.
    pub hash: String,
    /// All seeds of the sweep, in order.
    pub seeds: Vec<u64>,
    /// Runs, in the order of their seeds.
    pub runs: Vec<SeedRun>,
}

impl SweepResults {
    /// The file's text.
    pub(super) fn text(&self) -> String {
        let run = |run: &SeedRun| {
            let unmet = run.unmet.iter();
            let unmet = unmet.map(|one| json!({"place": one.place, "message": one.message}));
            json!({
                "seed": run.seed,
                "ended_ps": run.ended_ps,
                "complete": run.is_complete,
                "events": run.events,
                "frames": run.frames,
                "tables": run.tables.iter().map(Table::to_data).collect::<Vec<_>>(),
                "unmet": unmet.collect::<Vec<_>>(),
            })
        };
        let value = json!({
            "plane_net_results": VERSION,
            "network": self.network,
            "hash": self.hash,
            "seeds": self.seeds,
            "runs": self.runs.iter().map(run).collect::<Vec<_>>(),
        });
        format!("{value}\n")
    }

    /// Reads a file. The error is a sentence without the file's name.
    pub(super) fn read(text: &str) -> Result<SweepResults, String> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| format!("is not JSON: {error}"))?;
        match value["plane_net_results"].as_u64() {
            Some(VERSION) => {}
            Some(other) => {
                return Err(format!(
                    "has version {other} of results, and this plane reads version {VERSION}"
                ));
            }
            None => return Err("has no results of `plane net --results`".to_string()),
        }
        SweepResults::of(&value).ok_or_else(|| "is damaged".to_string())
    }

    fn of(value: &Value) -> Option<SweepResults> {
        let text = |value: &Value| value.as_str().map(str::to_string);
        let unmet = |value: &Value| {
            Some(Unmet { place: text(&value["place"])?, message: text(&value["message"])? })
        };
        let run = |value: &Value| {
            Some(SeedRun {
                seed: value["seed"].as_u64()?,
                ended_ps: value["ended_ps"].as_u64()?,
                is_complete: value["complete"].as_bool()?,
                events: value["events"].as_u64()?,
                frames: value["frames"].as_u64()?,
                tables: value["tables"]
                    .as_array()?
                    .iter()
                    .map(Table::of_data)
                    .collect::<Option<_>>()?,
                unmet: value["unmet"].as_array()?.iter().map(unmet).collect::<Option<_>>()?,
            })
        };
        Some(SweepResults {
            network: text(&value["network"])?,
            hash: text(&value["hash"])?,
            seeds: value["seeds"].as_array()?.iter().map(Value::as_u64).collect::<Option<_>>()?,
            runs: value["runs"].as_array()?.iter().map(run).collect::<Option<_>>()?,
        })
    }
}
