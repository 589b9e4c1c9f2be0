// SPDX-License-Identifier: Apache-2.0
//! Designs by name, for command lines and figures. Some need the accesses of a whole run or the number of ports.

use crate::design::{Design, Entry, Figure6, FirstMap, Queues, Remap, Steering, Touch, View};
use crate::maps;

/// What a design by name is made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The number of pipelines.
    pub pipelines: usize,
    /// The number of ports.
    pub ports: u32,
    /// Cycles between two remaps.
    pub remap_every: u64,
    /// The number of accesses of each cell in the whole run, by group.
    pub counts: Vec<Vec<u64>>,
    /// The seed of random maps.
    pub seed: u64,
}

/// A design with a name.
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// It keeps the order of accesses, so its runs without losses equal one pipeline.
    pub is_equivalent: bool,
    /// It is made from the accesses of the whole run.
    pub uses_counts: bool,
    make: fn(&Place) -> Design,
}

impl Preset {
    /// The design.
    pub fn design(&self, place: &Place) -> Design {
        (self.make)(place)
    }

    /// Finds a design by name.
    pub fn find(name: &str) -> Option<&'static Preset> {
        PRESETS.iter().find(|preset| preset.name == name)
    }
}

/// MP5 with the artifact's reading of Figure 6.
fn artifact_remap(place: &Place) -> Design {
    let remap = Remap::Figure6(Figure6::artifact(place.remap_every));
    Design { remap, ..Design::mp5(place.remap_every) }
}

fn bound_ports(place: &Place) -> Entry {
    Entry::BoundPorts { ports: place.ports }
}

/// A cell that moves by touch must gain so many packets in flight.
const TOUCH: Touch = Touch { gain: 1, is_single: false };
/// As [`TOUCH`], one cell out of and one into a pipeline a cycle.
const SINGLE_TOUCH: Touch = Touch { gain: 1, is_single: true };
const FLY: Remap = Remap::Fly { every: 25, cells: 8, significance: 0 };
const FREE: Steering = Steering::Free(View::Immediate);

/// All designs by name.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "mp5",
        about: "the paper's machine",
        is_equivalent: true,
        uses_counts: false,
        make: |place| Design::mp5(place.remap_every),
    },
    Preset {
        name: "mp5-artifact-remap",
        about: "MP5 with Figure 6 as the artifact reads it: half the difference moves too, tried in each cycle",
        is_equivalent: true,
        uses_counts: false,
        make: artifact_remap,
    },
    Preset {
        name: "mp5-scan",
        about: "MP5 with Figure 6 as hardware has it: one cell a cycle",
        is_equivalent: true,
        uses_counts: false,
        make: |place| {
            let remap = Remap::Scan { every: place.remap_every };
            Design { remap, ..Design::mp5(place.remap_every) }
        },
    },
    Preset {
        name: "mp5-bound-ports",
        about: "MP5 with ports bound to pipelines and the artifact's remap: packets enter out of order",
        is_equivalent: false,
        uses_counts: false,
        make: |place| Design { entry: bound_ports(place), ..artifact_remap(place) },
    },
    Preset {
        name: "naive",
        about: "all cells and all packets in one pipeline",
        is_equivalent: true,
        uses_counts: false,
        make: |_| Design::naive(),
    },
    Preset {
        name: "naive-sprayed",
        about: "all cells in one pipeline, packets in all",
        is_equivalent: true,
        uses_counts: false,
        make: |_| Design { entry: Entry::Sprayed, ..Design::naive() },
    },
    Preset {
        name: "static-modulo",
        about: "cell j stays in pipeline j mod k",
        is_equivalent: true,
        uses_counts: false,
        make: |_| Design::fixed(FirstMap::Modulo),
    },
    Preset {
        name: "static-random",
        about: "cells stay in random pipelines",
        is_equivalent: true,
        uses_counts: false,
        make: |place| {
            let cells: Vec<usize> = place.counts.iter().map(Vec::len).collect();
            Design::fixed(FirstMap::Given(maps::random(&cells, place.pipelines, place.seed)))
        },
    },
    Preset {
        name: "static-sorted",
        about: "cells stay, sorted by accesses and cut in equal parts, as the artifact's static sharding",
        is_equivalent: true,
        uses_counts: true,
        make: |place| Design::fixed(FirstMap::Given(maps::sorted(&place.counts, place.pipelines))),
    },
    Preset {
        name: "random",
        about: "MP5 from a random map",
        is_equivalent: true,
        uses_counts: false,
        make: |place| {
            let cells: Vec<usize> = place.counts.iter().map(Vec::len).collect();
            let first_map = FirstMap::Given(maps::random(&cells, place.pipelines, place.seed));
            Design { first_map, ..artifact_remap(place) }
        },
    },
    Preset {
        name: "no-order",
        about: "MP5 without phantoms (D1 to D3)",
        is_equivalent: false,
        uses_counts: false,
        make: |place| Design::without_order(place.remap_every),
    },
    Preset {
        name: "recirculation",
        about: "ports bound to pipelines, another pass for each cell elsewhere; packets that come back go first",
        is_equivalent: false,
        uses_counts: false,
        make: |place| Design::recirculation(place.ports, true),
    },
    Preset {
        name: "recirculation-new-first",
        about: "as recirculation; new packets go first",
        is_equivalent: false,
        uses_counts: false,
        make: |place| Design::recirculation(place.ports, false),
    },
    Preset {
        name: "ideal",
        about: "the paper's ideal: queues by cell, cells packed for the whole run; no upper bound",
        is_equivalent: true,
        uses_counts: true,
        make: |place| Design::ideal(maps::packed(&place.counts, place.pipelines)),
    },
    Preset {
        name: "by-cell",
        about: "MP5 with queues by cell",
        is_equivalent: true,
        uses_counts: false,
        make: |place| Design { queues: Queues::ByCell, ..artifact_remap(place) },
    },
    Preset {
        name: "free",
        about: "MP5 with free steering of stateless packets",
        is_equivalent: true,
        uses_counts: false,
        make: |place| Design { steering: FREE, ..artifact_remap(place) },
    },
    Preset {
        name: "free-late",
        about: "as free, from the queues of the last cycle",
        is_equivalent: true,
        uses_counts: false,
        make: |place| Design { steering: Steering::Free(View::Late), ..artifact_remap(place) },
    },
    Preset {
        name: "free-late-arrivals",
        about: "as free, from the queues of the last cycle and the destinations of this one",
        is_equivalent: true,
        uses_counts: false,
        make: |place| Design {
            steering: Steering::Free(View::LateWithArrivals),
            ..artifact_remap(place)
        },
    },
    Preset {
        name: "free-by-cell",
        about: "free steering and queues by cell; cells stay",
        is_equivalent: true,
        uses_counts: false,
        make: |_| Design::free(View::Immediate),
    },
    Preset {
        name: "free-by-cell-remap",
        about: "free steering, queues by cell, Figure 6",
        is_equivalent: true,
        uses_counts: false,
        make: |place| Design {
            remap: artifact_remap(place).remap,
            ..Design::free(View::Immediate)
        },
    },
    Preset {
        name: "free-by-cell-late",
        about: "as free-by-cell, from the queues of the last cycle",
        is_equivalent: true,
        uses_counts: false,
        make: |_| Design::free(View::Late),
    },
    Preset {
        name: "free-by-cell-late-arrivals",
        about: "as free-by-cell, from the queues of the last cycle and the destinations of this one",
        is_equivalent: true,
        uses_counts: false,
        make: |_| Design::free(View::LateWithArrivals),
    },
    Preset {
        name: "free-by-cell-fly",
        about: "free-by-cell; 8 cells every 25 cycles, with their entries",
        is_equivalent: true,
        uses_counts: false,
        make: |_| Design { remap: FLY, ..Design::free(View::Immediate) },
    },
    Preset {
        name: "free-by-cell-touch",
        about: "free-by-cell; a cell without packets in flight moves when a packet is resolved to it",
        is_equivalent: true,
        uses_counts: false,
        make: |_| Design { touch: Some(TOUCH), ..Design::free(View::Immediate) },
    },
    Preset {
        name: "free-by-cell-single-touch",
        about: "as free-by-cell-touch, one cell out of and one into a pipeline a cycle",
        is_equivalent: true,
        uses_counts: false,
        make: |_| Design { touch: Some(SINGLE_TOUCH), ..Design::free(View::Immediate) },
    },
    Preset {
        name: "free-by-cell-late-arrivals-touch",
        about: "what hardware could have: free-by-cell-late-arrivals with single touches",
        is_equivalent: true,
        uses_counts: false,
        make: |_| Design { touch: Some(SINGLE_TOUCH), ..Design::free(View::LateWithArrivals) },
    },
    Preset {
        name: "free-by-cell-touch-fly",
        about: "free-by-cell with touches, and 8 cells every 25 cycles with their entries",
        is_equivalent: true,
        uses_counts: false,
        make: |_| Design { touch: Some(TOUCH), remap: FLY, ..Design::free(View::Immediate) },
    },
    Preset {
        name: "free-by-cell-rare-remap",
        about: "free-by-cell; Figure 6 only if the imbalance is no chance (3 standard deviations)",
        is_equivalent: true,
        uses_counts: false,
        make: |place| {
            let figure = Figure6 { significance: 30, ..Figure6::artifact(place.remap_every) };
            Design { remap: Remap::Figure6(figure), ..Design::free(View::Immediate) }
        },
    },
    Preset {
        name: "touch",
        about: "MP5 with touches in the place of Figure 6",
        is_equivalent: true,
        uses_counts: false,
        make: |place| Design { touch: Some(TOUCH), remap: Remap::Never, ..artifact_remap(place) },
    },
];
