// SPDX-License-Identifier: Apache-2.0
//! Flow installation in the reference interpreter's simulation: a trial fills an empty table with flows
//! at random and installs one more. Its time is from the first packet's handler to the last control
//! event that the installation needs; a round of recirculation takes the paper's 600 ns.

use super::super::flow_table::{event, new_flows, setup};
use super::{FLOWS, Trial, seed};
use crate::Measuring;
use lucid::core::{EventId, Program};
use lucid_reference::simulation::{Observation, ObservationKind, Observer, Simulation};
use lucid_reference::specification::Gap;
use source::Diagnostics;
use std::sync::Arc;

/// From one flow to the next, so that installations do not overlap: 100 us.
const GAP_PS: u64 = 100_000_000;

/// When the last flow came, and when the last control event that it caused was handled.
struct Last {
    packet: EventId,
    failed: EventId,
    came_ps: u64,
    done_ps: u64,
    rounds: u64,
    has_failed: bool,
}

impl Observer for Last {
    fn observe(&mut self, observation: Observation) {
        let ObservationKind::Handled { event, .. } = observation.kind else { return };
        self.done_ps = observation.time_ps;
        if event.event == self.packet {
            (self.came_ps, self.rounds, self.has_failed) = (observation.time_ps, 0, false);
        } else {
            self.rounds += 1;
            self.has_failed |= event.event == self.failed;
        }
    }
}

/// One trial after the other; times in simulated nanoseconds.
pub(super) fn trials(
    program: &Arc<Program>,
    measuring: &mut Measuring<'_>,
    count: u64,
) -> Result<Vec<Trial>, Diagnostics> {
    let (Some(packet), Some(failed)) = (event(program, "packet"), event(program, "failed")) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for trial in 0..count {
        if trial % 50 == 0 {
            (measuring.progress)("figure 17, simulated", trial as f64 / count as f64);
        }
        let flows = new_flows(0, FLOWS + 1, Gap::Constant(GAP_PS));
        let seed = seed(measuring, trial);
        let setup = setup(program, seed, vec![flows], (FLOWS + 2) * GAP_PS)?;
        let mut last =
            Last { packet, failed, came_ps: 0, done_ps: 0, rounds: 0, has_failed: false };
        Simulation::new(Arc::new(setup)).run(&mut last);
        found.push(Trial {
            first_packet_ns: 0.0,
            rest_ns: (last.done_ps - last.came_ps) as f64 / 1e3,
            rounds: last.rounds,
            has_failed: last.has_failed,
        });
    }
    Ok(found)
}
