// SPDX-License-Identifier: Apache-2.0
//! A run of a machine, cycle by cycle, as plain data: what each stage of each pipeline did, which packets crossed to which
//! pipeline, where cells were active. The machine writes it through [`Recorder`]; the checker and pictures read it.

use crate::work::Access;

/// What a machine has before the first cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// The number of pipelines.
    pub pipelines: usize,
    /// The number of stages behind address resolution.
    pub stages: usize,
    /// The stage of each group.
    pub group_stages: Vec<usize>,
    /// The pipeline in which each cell is active before the first cycle, by group.
    pub first_map: Vec<Vec<u8>>,
}

/// A run of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The machine.
    pub shape: Shape,
    /// What happened, in ascending order of cycles.
    pub events: Vec<Event>,
}

/// Something that happened in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The cycle, from 0.
    pub cycle: u64,
    /// What happened.
    pub kind: Kind,
}

/// What happened. A packet is named by its place in the order of arrival, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A packet's addresses were resolved in a pipeline; it is in front of stage 0.
    Resolved {
        /// The packet.
        packet: u64,
        /// The pipeline.
        pipeline: usize,
    },
    /// A resolved packet has an access, which it may lose to a predicate. Follows `Resolved`.
    Planned {
        /// The packet.
        packet: u64,
        /// The access.
        access: Access,
    },
    /// A packet went over the crossbar in front of a stage.
    Crossed {
        /// The packet.
        packet: u64,
        /// The stage behind the crossbar.
        stage: usize,
        /// The pipeline it came from.
        from: usize,
        /// The pipeline it went to.
        to: usize,
        /// It goes to a queue of the stage; otherwise the stage processes it in this cycle.
        is_queued: bool,
    },
    /// A phantom packet entered a queue.
    PhantomQueued {
        /// The packet it stands for.
        packet: u64,
        /// The stage.
        stage: usize,
        /// The pipeline.
        pipeline: usize,
    },
    /// A stage processed a packet.
    Processed {
        /// The packet.
        packet: u64,
        /// The stage.
        stage: usize,
        /// The pipeline.
        pipeline: usize,
        /// The access that the packet made.
        access: Option<Access>,
    },
    /// A packet in a queue moved to another pipeline with its cell.
    MovedWithCell {
        /// The packet.
        packet: u64,
        /// The stage.
        stage: usize,
        /// The pipeline of the queue.
        from: usize,
        /// The pipeline of its queue from now on.
        to: usize,
    },
    /// A stage spent its cycle on the entry of an access that does not happen.
    Wasted {
        /// The stage.
        stage: usize,
        /// The pipeline.
        pipeline: usize,
    },
    /// An access of a packet will not happen, because of a predicate or a drop.
    Cancelled {
        /// The packet.
        packet: u64,
        /// The access.
        access: Access,
    },
    /// A packet left the machine before its last stage was done, for whatever reason.
    Dropped {
        /// The packet.
        packet: u64,
    },
    /// A packet left behind the last stage.
    Departed {
        /// The packet.
        packet: u64,
    },
    /// A cell became active in another pipeline, before any stage of this cycle.
    Remapped {
        /// The cell.
        access: Access,
        /// The pipeline in which it was active.
        from: usize,
        /// The pipeline in which it is active from now on.
        to: usize,
    },
}

/// Receives what happens in a machine.
pub trait Recorder {
    /// The recorder wants events. Without it the machine runs the stages between two stateful stages at once.
    const IS_ACTIVE: bool = true;

    /// Takes the machine's shape, before the first cycle.
    fn begin(&mut self, shape: Shape);

    /// Takes an event.
    fn record(&mut self, cycle: u64, kind: Kind);
}

/// Records nothing.
impl Recorder for () {
    const IS_ACTIVE: bool = false;

    #[inline]
    fn begin(&mut self, _: Shape) {}

    #[inline]
    fn record(&mut self, _: u64, _: Kind) {}
}

impl Recorder for Trace {
    fn begin(&mut self, shape: Shape) {
        *self = Trace { shape, events: Vec::new() };
    }

    fn record(&mut self, cycle: u64, kind: Kind) {
        self.events.push(Event { cycle, kind });
    }
}
