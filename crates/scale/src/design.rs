// SPDX-License-Identifier: Apache-2.0
//! Designs of multi-pipelined machines as data: a struct of switches, with presets under the names of the MP5 paper and of
//! what improves on it. The `machine` gives the switches their meaning.

/// A design. Every field is a switch of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    /// How arriving packets are assigned to pipelines.
    pub entry: Entry,
    /// Phantom packets keep the order of accesses (MP5 §3.1 D4).
    pub has_phantoms: bool,
    /// How packets reach the pipeline of a cell.
    pub path: Path,
    /// Which pipeline a packet takes in a stage in which it accesses no cell.
    pub steering: Steering,
    /// What a queue of a stage keeps in order.
    pub queues: Queues,
    /// The pipeline in which each cell is active at the start.
    pub first_map: FirstMap,
    /// Cells that move at intervals.
    pub remap: Remap,
    /// Cells that move when a packet is resolved to them.
    pub touch: Option<Touch>,
    /// A stateful packet that has waited more than so many cycles goes before a stateless one, which is dropped (MP5 §3.4,
    /// starvation).
    pub starvation_threshold: Option<u64>,
    /// Mechanisms of the machine. Tests switch each off to show what it is for.
    pub mechanisms: Mechanisms,
}

/// How arriving packets are assigned to pipelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// In the order of arrival (time, port), round robin, one a pipeline and cycle (MP5 §3.1 D1).
    Sprayed,
    /// A port belongs to a pipeline, port `p` of `ports` to pipeline `p / (ports / pipelines)` (MP5 §2.3). Packets wait in front of
    /// their own pipeline, so packets enter out of the order of arrival.
    BoundPorts {
        /// The number of ports.
        ports: u32,
    },
    /// All packets enter pipeline 0, one a cycle (MP5 §3.1, the naive design).
    FirstPipeline,
}

/// How packets reach the pipeline of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// By a crossbar in front of each stage (MP5 §3.1 D3).
    Crossbars,
    /// By another pass through the pipeline of the cell (MP5 §2.3). Packets that come back enter before or after new ones.
    Recirculation {
        /// Packets that come back go before new ones.
        first: bool,
    },
    /// Not at all: a packet accesses the cells of the pipeline in which it is (MP5 §2.3, no state sharing).
    Local,
}

/// Which pipeline a packet takes in a stage in which it accesses no cell. It is never queued there (MP5 Invariant 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steering {
    /// The pipeline in which it is (MP5 §3.4).
    Lane,
    /// Any pipeline's slot: first of pipelines without a stateful packet to process, then of those with the shortest queue. At
    /// most one packet leaves a pipeline, so there is a slot for each.
    Free(View),
}

/// What free steering knows of the queues of the next stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Everything, packets that enter the queues in this cycle included. Hardware would have to insert packets, select heads and
    /// set the crossbar one after the other within a cycle.
    Immediate,
    /// The queues after the last cycle, as registers of the next stage hold them.
    Late,
    /// The queues after the last cycle, and for each pipeline whether a stateful packet goes there in this cycle. The crossbar that
    /// steers has both as registers at the start of the cycle.
    LateWithArrivals,
}

/// What a queue of a stage keeps in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queues {
    /// All entries: the oldest blocks the others (MP5 §3.2).
    Fifo,
    /// The entries of a cell: the oldest entry that has its packet and none before it of its cell is processed.
    ByCell,
}

/// The pipeline in which each cell is active at the start, by group and cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FirstMap {
    /// Cell `j` in pipeline `j mod k`.
    Modulo,
    /// All cells in pipeline 0.
    FirstPipeline,
    /// As given: a pipeline for each cell of each group.
    Given(Vec<Vec<u8>>),
}

/// Cells that move at intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remap {
    /// Cells stay.
    Never,
    /// MP5 Figure 6: one cell of each group from the pipeline with most accesses to that with fewest.
    Figure6(Figure6),
    /// Figure 6 as hardware has it: a state machine that scans one cell a cycle and sees in-flight counters late
    /// (`machine::scan`).
    Scan {
        /// The number of cycles between two remaps; one begins only if the last is over.
        every: u64,
    },
    /// Figure 6 for several cells at once, cells with packets in flight included: their entries move along.
    Fly {
        /// The number of cycles between two remaps.
        every: u64,
        /// At most so many cells of a group move at once.
        cells: usize,
        /// The least imbalance that is no chance, in tenths of its standard deviation. 0 takes every imbalance.
        significance: u32,
    },
}

/// The parameters of MP5's Figure 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure6 {
    /// The number of cycles between two remaps.
    pub every: u64,
    /// A cell with exactly half the difference moves too, and differences are halved rounding down, as in the paper's artifact.
    /// The paper's cells have less than half.
    pub takes_half: bool,
    /// Tries again in each following cycle until a cell moved, as the paper's artifact does.
    pub retries: bool,
    /// The least imbalance that is no chance, in tenths of its standard deviation. 0, the paper's, takes every imbalance.
    pub significance: u32,
}

impl Figure6 {
    /// As in the paper, every `every` cycles.
    pub const fn paper(every: u64) -> Figure6 {
        Figure6 { every, takes_half: false, retries: false, significance: 0 }
    }

    /// As in the paper's artifact.
    pub const fn artifact(every: u64) -> Figure6 {
        Figure6 { every, takes_half: true, retries: true, significance: 0 }
    }
}

/// Cells that move when a packet is resolved to them: a cell without packets in flight goes to the pipeline with fewest packets
/// in flight for its stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// The least difference of packets in flight for which a cell moves, at least 1.
    pub gain: u32,
    /// At most one cell leaves and one enters a pipeline for each group and cycle.
    pub is_single: bool,
}

/// Mechanisms without which the machine is wrong. All are on in every design.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mechanisms {
    /// Entries with one timestamp keep the order of arrival. Off: the order of the rings' numbers.
    pub tie_order: bool,
    /// A packet finds its phantom by the directory. Off: it takes the oldest phantom of its ring.
    pub directory: bool,
    /// A cell with packets in flight stays. Off: it moves.
    pub in_flight_check: bool,
    /// Phantoms whose predicate turns out false are cancelled.
    pub cancel: bool,
    /// The remaining phantoms of a dropped packet are cancelled.
    pub cancel_on_drop: bool,
}

impl Mechanisms {
    /// All mechanisms.
    pub const ALL: Mechanisms = Mechanisms {
        tie_order: true,
        directory: true,
        in_flight_check: true,
        cancel: true,
        cancel_on_drop: true,
    };
}

impl Design {
    /// MP5 as the paper describes it, with remaps every `every` cycles.
    pub fn mp5(every: u64) -> Design {
        Design {
            entry: Entry::Sprayed,
            has_phantoms: true,
            path: Path::Crossbars,
            steering: Steering::Lane,
            queues: Queues::Fifo,
            first_map: FirstMap::Modulo,
            remap: Remap::Figure6(Figure6::paper(every)),
            touch: None,
            starvation_threshold: None,
            mechanisms: Mechanisms::ALL,
        }
    }

    /// All cells and all packets in one of the pipelines (MP5 §3.1, naive).
    pub fn naive() -> Design {
        Design {
            entry: Entry::FirstPipeline,
            first_map: FirstMap::FirstPipeline,
            remap: Remap::Never,
            ..Design::mp5(1)
        }
    }

    /// Cells stay where a map puts them (MP5 §4.3.2, without dynamic sharding).
    pub fn fixed(first_map: FirstMap) -> Design {
        Design { first_map, remap: Remap::Never, ..Design::mp5(1) }
    }

    /// A switch of today: ports bound to pipelines, cells that stay, another pass for each cell in another pipeline (MP5 §2.3).
    pub fn recirculation(ports: u32, first: bool) -> Design {
        Design {
            entry: Entry::BoundPorts { ports },
            has_phantoms: false,
            path: Path::Recirculation { first },
            remap: Remap::Never,
            ..Design::mp5(1)
        }
    }

    /// MP5 without phantoms (MP5 §3.1, D1 to D3).
    pub fn without_order(every: u64) -> Design {
        Design { has_phantoms: false, ..Design::mp5(every) }
    }

    /// The paper's ideal (MP5 §4.3.3): no head-of-line blocking, cells packed for the whole run. It is no upper bound.
    pub fn ideal(packed: Vec<Vec<u8>>) -> Design {
        Design { queues: Queues::ByCell, ..Design::fixed(FirstMap::Given(packed)) }
    }

    /// Free steering and queues by cell; cells stay.
    pub fn free(view: View) -> Design {
        Design {
            steering: Steering::Free(view),
            queues: Queues::ByCell,
            ..Design::fixed(FirstMap::Modulo)
        }
    }
}
