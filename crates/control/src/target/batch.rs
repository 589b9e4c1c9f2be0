// SPDX-License-Identifier: Apache-2.0
//! Batches of a target: items about the program's state and about the device around it, and their
//! outcomes. Items about state are those of [`state`].

use ir::Program;
use state::{Atomicity, BatchItem, Read, Update, UpdateError};
use std::fmt;
use std::sync::Arc;

/// One item of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A read or an update of the program's state.
    State(BatchItem),
    /// Something about the device: its queues, its packet generator.
    Device(DeviceItem),
}

impl Item {
    /// Whether it changes nothing.
    pub fn is_read(&self) -> bool {
        matches!(
            self,
            Item::State(BatchItem::Read(_))
                | Item::Device(DeviceItem::ReadQueue { .. } | DeviceItem::ReadSettings)
        )
    }
}

impl From<Update> for Item {
    fn from(update: Update) -> Item {
        Item::State(BatchItem::Update(update))
    }
}

impl From<Read> for Item {
    fn from(read: Read) -> Item {
        Item::State(BatchItem::Read(read))
    }
}

impl From<BatchItem> for Item {
    fn from(item: BatchItem) -> Item {
        Item::State(item)
    }
}

impl From<DeviceItem> for Item {
    fn from(item: DeviceItem) -> Item {
        Item::Device(item)
    }
}

/// Whether an item reads or writes what packets write too.
pub fn item_touches_cells(item: &Item) -> bool {
    match item {
        Item::State(BatchItem::Update(update)) => update.touches_cells(),
        Item::State(BatchItem::Read(read)) => read.touches_cells(),
        Item::Device(_) => false,
    }
}

/// A change of the device around the program, or a question about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceItem {
    /// Limits how fast queues drain.
    QueueRate {
        /// Packets per second; 0 is no limit.
        packets_per_second: u64,
        /// Port; `None` is all.
        port: Option<u32>,
        /// Priority; `None` is all.
        priority: Option<u32>,
    },
    /// Limits how many packets queues hold.
    QueueDepth {
        /// Packets.
        packets: u64,
        /// Port; `None` is all.
        port: Option<u32>,
        /// Priority; `None` is all.
        priority: Option<u32>,
    },
    /// What a queue holds: [`Reply::Queue`].
    ReadQueue {
        /// Port.
        port: u32,
        /// Priority.
        priority: u32,
    },
    /// The items that set queues and packet generator as they are: [`Reply::Settings`].
    ReadSettings,
    /// Sets an application of the packet generator, and starts its timer.
    GeneratorTimer(GeneratorTimer),
    /// Stops an application of the packet generator.
    GeneratorStop {
        /// Which.
        application: u64,
    },
}

/// An application of the packet generator that a timer starts, as the device's documentation has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratorTimer {
    /// Which application.
    pub application: u64,
    /// Whether the timer starts again when it is over.
    pub is_periodic: bool,
    /// How long it takes, in nanoseconds.
    pub period_ns: u64,
    /// When it starts first, in nanoseconds from now.
    pub offset_ns: u64,
    /// The port that packets come by; `None` is the generator's.
    pub port: Option<u64>,
    /// Batches each time.
    pub batches: u64,
    /// From the last packet of a batch to the next batch, in nanoseconds.
    pub batch_gap_ns: u64,
    /// Packets of a batch.
    pub packets: u64,
    /// Between packets of a batch, in nanoseconds.
    pub packet_gap_ns: u64,
    /// What follows the generator's header.
    pub bytes: Vec<u8>,
}

/// Items in order. The device time of the batch is the target's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// Items.
    pub items: Vec<Item>,
    /// What a failing item does to the others (P4Runtime v1.4 §12.2).
    pub atomicity: Atomicity,
    /// The program that the items' handles are of. A target that runs another one refuses the batch;
    /// `None` means the program that runs when the batch arrives.
    pub program: Option<Arc<Program>>,
}

impl Batch {
    /// Creates a batch of these items that continues on errors.
    pub fn of(items: impl IntoIterator<Item = impl Into<Item>>) -> Batch {
        Batch { items: items.into_iter().map(Into::into).collect(), ..Batch::default() }
    }

    /// A batch of one item.
    pub fn one(item: impl Into<Item>) -> Batch {
        Batch { items: vec![item.into()], ..Batch::default() }
    }

    /// The same batch in this mode.
    pub fn with(self, atomicity: Atomicity) -> Batch {
        Batch { atomicity, ..self }
    }

    /// The same batch, refused where another program runs.
    pub fn made_for(self, program: Arc<Program>) -> Batch {
        Batch { program: Some(program), ..self }
    }

    /// Whether it changes nothing.
    pub fn only_reads(&self) -> bool {
        self.items.iter().all(Item::is_read)
    }

    /// Whether an item that fails undoes the others. A single item has no others, and reads have nothing to undo.
    pub fn stops_on_error(&self) -> bool {
        self.atomicity != Atomicity::ContinueOnError && self.items.len() > 1 && !self.only_reads()
    }
}

/// What a queue of a device holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueState {
    /// Packets that wait.
    pub depth_packets: u64,
    /// The largest depth so far.
    pub peak_packets: u64,
}

/// The result of an item that succeeded.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// Of an item about state.
    State(state::Reply),
    /// The update of the device is done.
    Done,
    /// What a queue holds.
    Queue(QueueState),
    /// Updates of queues and packet generator through targets that are in force, in the order of their effect.
    Settings(Vec<DeviceItem>),
}

impl Reply {
    /// The reply about state, for items about state.
    pub fn into_state(self) -> Option<state::Reply> {
        match self {
            Reply::State(reply) => Some(reply),
            Reply::Done | Reply::Queue(_) | Reply::Settings(_) => None,
        }
    }
}

/// Why an item was not applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The state store refused it.
    Refused(UpdateError),
    /// The device, or a map, cannot do it; why, in a sentence.
    Unsupported(String),
    /// Another program runs now: tables and registers are others. Make the batch anew for
    /// [`super::Target::program`].
    Swapped,
    /// The target is gone.
    Gone,
    /// The target is not there now; it may come back.
    Away,
    /// The reservation was given up, or never was.
    NotReserved,
    /// The answer takes simulated time; run the device and poll.
    TakesTime,
}

impl Fault {
    /// The item was undone, or not tried, because of another one.
    pub const ABORTED: Fault = Fault::Refused(UpdateError::Aborted);
}

impl From<UpdateError> for Fault {
    fn from(error: UpdateError) -> Fault {
        Fault::Refused(error)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Refused(error) => error.fmt(formatter),
            Fault::Unsupported(why) => formatter.write_str(why),
            Fault::Swapped => formatter
                .write_str("the device runs another program now; make the batch anew for it"),
            Fault::Gone => formatter.write_str("the device is gone"),
            Fault::Away => formatter.write_str("the device is not there now"),
            Fault::NotReserved => formatter.write_str("there is no reservation with this number"),
            Fault::TakesTime => {
                formatter.write_str("the answer takes simulated time; run the device first")
            }
        }
    }
}

impl std::error::Error for Fault {}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// One result an item, in order. After a rollback the items that had worked, or were not tried, say
    /// [`Fault::ABORTED`].
    pub results: Vec<Result<Reply, Fault>>,
    /// Whether the batch was undone.
    pub rolled_back: bool,
    /// Device time of the last effect, in picoseconds.
    pub applied_ps: u64,
    /// When the controller knows, in picoseconds.
    pub known_ps: u64,
}

impl Outcome {
    /// The answer to a request without items.
    pub fn empty(now_ps: u64) -> Outcome {
        Outcome { results: Vec::new(), rolled_back: false, applied_ps: now_ps, known_ps: now_ps }
    }

    /// Every one of so many items failed for one reason.
    pub fn failed(count: usize, fault: Fault, now_ps: u64) -> Outcome {
        Outcome { results: vec![Err(fault); count], ..Outcome::empty(now_ps) }
    }

    /// A batch that was not applied because of the item at `at`.
    pub fn aborted(count: usize, at: usize, fault: Fault, now_ps: u64) -> Outcome {
        let mut outcome = Outcome::failed(count, Fault::ABORTED, now_ps);
        outcome.rolled_back = true;
        if let Some(result) = outcome.results.get_mut(at) {
            *result = Err(fault);
        }
        outcome
    }

    /// Whether every item worked.
    pub fn is_ok(&self) -> bool {
        self.results.iter().all(Result::is_ok)
    }

    /// The first fault and the index of its item; the cause rather than its consequences.
    pub fn first_fault(&self) -> Option<(usize, &Fault)> {
        let faults = || {
            let results = self.results.iter().enumerate();
            results.filter_map(|(at, result)| result.as_ref().err().map(|fault| (at, fault)))
        };
        faults().find(|(_, fault)| **fault != Fault::ABORTED).or_else(|| faults().next())
    }

    /// The reply about state of the only item.
    pub fn into_reply(self) -> Result<state::Reply, Fault> {
        match self.results.into_iter().next() {
            Some(Ok(Reply::State(reply))) => Ok(reply),
            Some(Ok(_)) | None => Ok(state::Reply::Done),
            Some(Err(fault)) => Err(fault),
        }
    }
}
