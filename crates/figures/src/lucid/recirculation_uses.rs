// SPDX-License-Identifier: Apache-2.0
//! Figure 15: what applications recirculate packets for. It counts every recirculated event, while
//! an application's own run is simulated; which use an event has is written down here.

use crate::{Measuring, Table};
use lucid::core::EventId;
use lucid_reference::simulation::{
    Destination, Observation, ObservationKind, Observer, Setup, Simulation,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Uses of recirculation, as the paper has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    Maintenance,
    FlowSetup,
    Synchronisation,
}

impl Use {
    fn name(self) -> &'static str {
        match self {
            Use::Maintenance => "data structure maintenance",
            Use::FlowSetup => "flow setup",
            Use::Synchronisation => "state synchronization",
        }
    }

    fn rate(self) -> &'static str {
        match self {
            Use::Maintenance => "O(entries / scan interval)",
            Use::FlowSetup => "E[O(flow rate)]",
            Use::Synchronisation => "O(update rate)",
        }
    }

    /// The applications for which the paper names it.
    fn published(self) -> &'static [&'static str] {
        match self {
            Use::Maintenance => &[
                "stateful_firewall",
                "fast_rerouter",
                "distributed_firewall",
                "distributed_firewall_aging",
                "count_min",
                "dns_defense",
                "rip",
            ],
            Use::FlowSetup => &["stateful_firewall", "nat", "starflow", "fast_rerouter"],
            Use::Synchronisation => &["sro", "distributed_firewall", "distributed_firewall_aging"],
        }
    }
}

/// Events of the examples that go round for something else than maintenance.
const USES: &[(&str, &str, Use)] = &[
    ("stateful_firewall", "install", Use::FlowSetup),
    ("fast_rerouter", "route_query", Use::FlowSetup),
    ("fast_rerouter", "route_reply", Use::FlowSetup),
    ("fast_rerouter", "forget_route", Use::FlowSetup),
    ("nat", "install", Use::FlowSetup),
    ("starflow", "fill", Use::FlowSetup),
    ("starflow", "give_back", Use::FlowSetup),
    ("sro", "begin_write", Use::Synchronisation),
    ("sro", "replicate", Use::Synchronisation),
    ("sro", "retry", Use::Synchronisation),
    ("sro", "confirm", Use::Synchronisation),
    ("sro", "finish_write", Use::Synchronisation),
    ("sro", "read_at_tail", Use::Synchronisation),
    ("sro", "finish_read", Use::Synchronisation),
    ("distributed_firewall", "add_flow", Use::Synchronisation),
    ("distributed_firewall_aging", "add_flow", Use::Synchronisation),
];

fn use_of(application: &str, event: &str) -> Use {
    let known = USES.iter().find(|one| one.0 == application && one.1 == event);
    known.map_or(Use::Maintenance, |known| known.2)
}

/// Events that stay in the network and are handled again: they come back by recirculation, or go to
/// another switch.
#[derive(Default)]
struct Rounds {
    by_event: BTreeMap<EventId, u64>,
}

impl Observer for Rounds {
    fn observe(&mut self, observation: Observation) {
        let ObservationKind::Generated { event, destination, .. } = observation.kind else {
            return;
        };
        let goes_round = match destination {
            Destination::Recirculated { .. } | Destination::Switch { .. } => true,
            Destination::Port { to, .. } => to.is_some(),
        };
        if goes_round {
            *self.by_event.entry(event.event).or_default() += 1;
        }
    }
}

/// The figure, for applications by their names with their runs.
pub fn figure_15(measuring: &mut Measuring<'_>, applications: &[(String, Arc<Setup>)]) -> Table {
    let mut table = Table::new(
        "Figure 15: what packets are recirculated for, in the runs of the applications",
        &["application", "use", "published rate", "published", "events", "by event", "a second"],
    );
    for (at, (name, setup)) in applications.iter().enumerate() {
        (measuring.progress)("figure 15", at as f64 / applications.len() as f64);
        let mut rounds = Rounds::default();
        let mut simulation = Simulation::new(setup.clone());
        simulation.run(&mut rounds);
        let seconds = simulation.now_ps().max(1) as f64 * 1e-12;
        let mut by_use: BTreeMap<Use, Vec<(String, u64)>> = BTreeMap::new();
        for (event, count) in &rounds.by_event {
            let event = &setup.program().events[event.0 as usize];
            // A packet event for the next switch is forwarded, not recirculated.
            if event.sort == lucid::syntax::ast::EventSort::Packet {
                continue;
            }
            let kind = use_of(name, &event.declared_name);
            by_use.entry(kind).or_default().push((event.name.to_string(), *count));
        }
        for kind in [Use::Maintenance, Use::FlowSetup, Use::Synchronisation] {
            let is_published = kind.published().contains(&name.as_str());
            let found = by_use.remove(&kind).unwrap_or_default();
            if found.is_empty() && !is_published {
                continue;
            }
            let count: u64 = found.iter().map(|one| one.1).sum();
            let events: Vec<String> =
                found.iter().map(|(event, count)| format!("{event} {count}")).collect();
            table.row([
                name.clone(),
                kind.name().to_string(),
                kind.rate().to_string(),
                if is_published { "yes" } else { "no" }.to_string(),
                count.to_string(),
                events.join(", "),
                format!("{:.0}", count as f64 / seconds),
            ]);
        }
    }
    table.remark(
        "Counted in the reference interpreter, over the run that stands beside each application; rates \
         are simulated time's. An event that goes to another switch counts as one round there.",
    );
    table
}
