// SPDX-License-Identifier: Apache-2.0
//! `plane run PROG.dpt --in PORT=FILE --out DIR`: captures as inputs of a run of one switch, and captures of the packets
//! that leave it, with times of the input captures' clock.

use crate::port_captures::{PortCaptures, Written};
use lucid::core::NO_PORT;
use lucid_reference::simulation::{Observation, ObservationKind, Observer, Setup, frame_of};
use lucid_reference::specification::{FieldSpans, Input, InputKind, Run};
use network::capture::CaptureReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The default time from the last packet of the captures to the end of the run: 1 ms.
const DEFAULT_TAIL_PS: u64 = 1_000_000_000;

/// The first and last time of captures, in picoseconds since 1970.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    pub first_ps: i128,
    pub last_ps: i128,
}

/// Adds the packets of captures to a run, each at its time since the first packet of all.
pub fn add(run: &mut Run, captures: &[(u32, PathBuf)], ends: bool) -> Result<Times, String> {
    let mut found: Vec<(u32, PathBuf, Option<Times>)> = Vec::new();
    for (port, path) in captures {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        found.push((*port, absolute, times(path)?));
    }
    let of_all = found.iter().filter_map(|one| one.2);
    let first_ps = of_all.clone().map(|times| times.first_ps).min().unwrap_or(0);
    let last_ps = of_all.map(|times| times.last_ps).max().unwrap_or(first_ps);
    for (port, path, times) in found {
        let since_ps = times.map_or(0, |times| times.first_ps - first_ps);
        run.inputs.push(Input {
            time_ps: Some(u64::try_from(since_ps).unwrap_or(u64::MAX)),
            locations: vec![(0, port)],
            kind: InputKind::Capture {
                file: path.display().to_string(),
                event: None,
                time_scale: 1.0,
            },
            field_spans: FieldSpans::default(),
        });
    }
    if ends {
        let length_ps = u64::try_from(last_ps - first_ps).unwrap_or(u64::MAX);
        run.max_time_ps = length_ps.saturating_add(DEFAULT_TAIL_PS);
    }
    Ok(Times { first_ps, last_ps })
}

/// Returns the first and last time of a capture; `None` if it is empty.
fn times(path: &Path) -> Result<Option<Times>, String> {
    let wrong = |error: network::capture::CaptureError| {
        frontend::coded(error.code().0, &error.with_path(path).to_string())
    };
    let mut times: Option<Times> = None;
    for packet in CaptureReader::open(path).map_err(wrong)? {
        let at_ps = packet.map_err(wrong)?.timestamp_ps;
        let known = times.get_or_insert(Times { first_ps: at_ps, last_ps: at_ps });
        known.first_ps = known.first_ps.min(at_ps);
        known.last_ps = known.last_ps.max(at_ps);
    }
    Ok(times)
}

/// Writes the packets that leave the network, a capture for each port.
pub struct Departures {
    setup: Arc<Setup>,
    captures: PortCaptures,
    first_ps: i128,
    problem: Option<String>,
}

impl Departures {
    /// Creates the captures in this folder; inputs are never overwritten.
    pub fn new(
        setup: Arc<Setup>,
        folder: &Path,
        inputs: &[PathBuf],
        times: Times,
    ) -> Result<Departures, String> {
        let inputs = inputs.iter().map(PathBuf::as_path);
        let captures = PortCaptures::in_folder(folder, inputs)?;
        Ok(Departures { setup, captures, first_ps: times.first_ps, problem: None })
    }

    /// Completes the captures.
    pub fn finish(self) -> Result<Written, String> {
        match self.problem {
            Some(problem) => Err(problem),
            None => self.captures.finish(),
        }
    }
}

impl Observer for Departures {
    fn observe(&mut self, observation: Observation) {
        let ObservationKind::Left { event, port, bytes, .. } = observation.kind else { return };
        if port == NO_PORT || self.problem.is_some() {
            return;
        }
        let bytes = bytes.map(|bytes| bytes.to_vec()).or_else(|| frame_of(&self.setup, &event));
        let Some(bytes) = bytes else { return };
        let time_ps = self.first_ps + i128::from(observation.time_ps);
        self.problem = self.captures.write_bytes(time_ps, port, &bytes).err();
    }
}
