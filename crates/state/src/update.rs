// SPDX-License-Identifier: Apache-2.0
//! Updates, reads, batches of both, and their outcomes: the interface of control planes to a store.

use crate::{
    ActionData, BoundAction, CellRange, CellValues, CloneSession, CounterValue, EntryHandle,
    EntryRecord, Exclusions, Group, GroupId, MemberId, MeterConfiguration, MulticastGroup,
    NewEntry, UpdateError,
};
use ir::{
    ActionProfileId, Bits, CalculationId, CounterId, CrcParameters, KeyPattern, MeterId,
    RegisterId, TableId, ValueSetId,
};
use std::sync::Arc;

/// An entry, or the default action, named by what it matches or by its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryReference {
    /// The table's default action.
    Default,
    /// The entry with these keys, and with this priority where the table has priorities.
    Entry {
        /// One pattern a key, selector keys left out.
        keys: Vec<KeyPattern>,
        /// Priority.
        priority: i64,
    },
    /// The entry that was inserted at this place with this generation. Faster than by keys; refused with
    /// [`UpdateError::EntryChanged`] when that entry is not there any more.
    At {
        /// [`EntryRecord::handle`].
        handle: EntryHandle,
        /// [`EntryRecord::generation`].
        generation: u64,
    },
}

/// An entry, or the default action, as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryTarget {
    /// The table's default action.
    Default,
    /// An entry.
    Entry(Arc<EntryRecord>),
}

/// One change of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The fields are what the variants' documentation names.
pub enum Update {
    /// Adds an entry; one with the same keys and priority must not exist.
    InsertEntry { table: TableId, entry: NewEntry },
    /// Replaces everything but keys, priority and order of an entry.
    ModifyEntry { table: TableId, entry: NewEntry },
    /// Removes an entry.
    DeleteEntry { table: TableId, keys: Vec<KeyPattern>, priority: i64 },
    /// Sets the action of the entry that was inserted at this place with this generation; refused with
    /// [`UpdateError::EntryChanged`] when it is not there any more.
    ModifyEntryAt { table: TableId, handle: EntryHandle, generation: u64, action: ActionData },
    /// Removes the entry that was inserted at this place with this generation; refused with
    /// [`UpdateError::EntryChanged`] when it is not there any more.
    DeleteEntryAt { table: TableId, handle: EntryHandle, generation: u64 },
    /// Removes all entries that the control plane may remove.
    ClearEntries { table: TableId },
    /// Sets the default action; `None` sets it back to the program's.
    SetDefaultAction { table: TableId, action: Option<BoundAction> },
    /// Adds a member to an action profile.
    InsertMember { profile: ActionProfileId, member: MemberId, action: BoundAction },
    /// Changes a member.
    ModifyMember { profile: ActionProfileId, member: MemberId, action: BoundAction },
    /// Removes a member that nothing uses.
    DeleteMember { profile: ActionProfileId, member: MemberId },
    /// Adds a group to an action selector.
    InsertGroup { profile: ActionProfileId, group: GroupId, content: Group },
    /// Changes a group.
    ModifyGroup { profile: ActionProfileId, group: GroupId, content: Group },
    /// Removes a group that nothing uses.
    DeleteGroup { profile: ActionProfileId, group: GroupId },
    /// Adds a member to a value set: one pattern a component.
    InsertValueSetMember { set: ValueSetId, member: Vec<KeyPattern> },
    /// Removes a member of a value set.
    DeleteValueSetMember { set: ValueSetId, member: Vec<KeyPattern> },
    /// Replaces the members of a value set.
    SetValueSet { set: ValueSetId, members: Vec<Vec<KeyPattern>> },
    /// Writes register cells.
    WriteRegister { register: RegisterId, cells: CellRange, values: CellValues<Bits> },
    /// Writes counter cells (not direct).
    WriteCounter { counter: CounterId, cells: CellRange, values: CellValues<CounterValue> },
    /// Configures meter cells (not direct); `None` makes every packet green again.
    WriteMeter { meter: MeterId, cells: CellRange, values: CellValues<Option<MeterConfiguration>> },
    /// Writes an entry's cell of a direct counter.
    WriteDirectCounter { counter: CounterId, entry: EntryReference, value: CounterValue },
    /// Configures an entry's cell of a direct meter.
    WriteDirectMeter {
        meter: MeterId,
        entry: EntryReference,
        configuration: Option<MeterConfiguration>,
    },
    /// Adds a multicast group.
    InsertMulticastGroup { group: u32, content: MulticastGroup },
    /// Changes a multicast group.
    ModifyMulticastGroup { group: u32, content: MulticastGroup },
    /// Removes a multicast group.
    DeleteMulticastGroup { group: u32 },
    /// Adds a clone session.
    InsertCloneSession { session: u32, content: CloneSession },
    /// Changes a clone session.
    ModifyCloneSession { session: u32, content: CloneSession },
    /// Removes a clone session.
    DeleteCloneSession { session: u32 },
    /// Leaves copies with a replication id out for packets with this exclusion id of level 1; `None`
    /// leaves none out.
    SetNodeExclusion { instance: u32, exclusion: Option<u32> },
    /// Leaves copies to these ports out for packets with this exclusion id of level 2, of those copies that
    /// have the packet's replication id.
    SetPortExclusion { exclusion: u32, ports: Vec<u32> },
    /// Sets the parameters of a calculation; `None` sets them back to those of the program.
    SetCrcParameters { calculation: CalculationId, parameters: Option<CrcParameters> },
}

/// One read of a store. A named object that does not exist is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The fields are what the variants' documentation names.
pub enum Read {
    /// All entries of a table: [`Reply::Entries`], in the order of their insertion.
    Entries { table: TableId },
    /// One entry: [`Reply::Entries`] with one element.
    Entry { table: TableId, keys: Vec<KeyPattern>, priority: i64 },
    /// One entry, or the default action and all entries in the order of their insertion, each with its
    /// cells of the table's direct counters and meters: [`Reply::EntriesWithCells`].
    EntriesWithCells { table: TableId, entry: Option<EntryReference> },
    /// The default action: [`Reply::DefaultAction`].
    DefaultAction { table: TableId },
    /// One or all members of an action profile: [`Reply::Members`], by number.
    Members { profile: ActionProfileId, member: Option<MemberId> },
    /// One or all groups of an action selector: [`Reply::Groups`], by number.
    Groups { profile: ActionProfileId, group: Option<GroupId> },
    /// The members of a value set: [`Reply::ValueSet`].
    ValueSet { set: ValueSetId },
    /// Register cells: [`Reply::Registers`].
    Register { register: RegisterId, cells: CellRange },
    /// Counter cells (not direct): [`Reply::Counters`].
    Counter { counter: CounterId, cells: CellRange },
    /// Meter cells (not direct): [`Reply::Meters`].
    Meter { meter: MeterId, cells: CellRange },
    /// Cells of a direct counter, the default action's first: [`Reply::DirectCounters`].
    DirectCounter { counter: CounterId, entry: Option<EntryReference> },
    /// Cells of a direct meter, the default action's first: [`Reply::DirectMeters`].
    DirectMeter { meter: MeterId, entry: Option<EntryReference> },
    /// One or all multicast groups: [`Reply::MulticastGroups`], by number.
    MulticastGroups { group: Option<u32> },
    /// One or all clone sessions: [`Reply::CloneSessions`], by number.
    CloneSessions { session: Option<u32> },
    /// The exclusions of copies, by replication id and by exclusion id: [`Reply::Exclusions`].
    Exclusions,
    /// The parameters of a calculation: [`Reply::Crc`].
    CrcParameters { calculation: CalculationId },
}

/// The result of one item of a batch.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// The update is done.
    Done,
    /// The entry was inserted here.
    Inserted(EntryHandle),
    /// Entries.
    Entries(Vec<Arc<EntryRecord>>),
    /// Entries with their direct cells.
    EntriesWithCells(Vec<EntryWithCells>),
    /// The default action, and whether it is the program's.
    DefaultAction {
        /// The action.
        action: BoundAction,
        /// Whether it is the one the program gives.
        is_initial: bool,
    },
    /// Members by number.
    Members(Vec<(MemberId, BoundAction)>),
    /// Groups by number.
    Groups(Vec<(GroupId, Group)>),
    /// Members of a value set.
    ValueSet(Vec<Vec<KeyPattern>>),
    /// Values of cells in the order of their indexes.
    Registers(Vec<Bits>),
    /// Values of cells in the order of their indexes.
    Counters(Vec<CounterValue>),
    /// Configurations of cells in the order of their indexes.
    Meters(Vec<Option<MeterConfiguration>>),
    /// Values by entry.
    DirectCounters(Vec<(EntryTarget, CounterValue)>),
    /// Configurations by entry.
    DirectMeters(Vec<(EntryTarget, Option<MeterConfiguration>)>),
    /// Multicast groups by number.
    MulticastGroups(Vec<(u32, MulticastGroup)>),
    /// Clone sessions by number.
    CloneSessions(Vec<(u32, CloneSession)>),
    /// Exclusions of copies.
    Exclusions(Arc<Exclusions>),
    /// CRC parameters.
    Crc(CrcParameters),
}

/// An entry, or the default action, with its cells of direct counters and meters.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryWithCells {
    /// Whose cells these are.
    pub target: EntryTarget,
    /// One value a counter of [`ir::Table::direct_counters`].
    pub counters: Vec<CounterValue>,
    /// One configuration a meter of [`ir::Table::direct_meters`].
    pub meters: Vec<Option<MeterConfiguration>>,
    /// When the entry was last hit, or else inserted, in device time; `None` for the default action and in
    /// tables whose entries cannot time out.
    pub last_hit_ps: Option<u64>,
}

impl Update {
    /// Returns whether it writes registers, counters or meters, which packets write too.
    pub fn touches_cells(&self) -> bool {
        matches!(
            self,
            Update::WriteRegister { .. }
                | Update::WriteCounter { .. }
                | Update::WriteMeter { .. }
                | Update::WriteDirectCounter { .. }
                | Update::WriteDirectMeter { .. }
        )
    }
}

impl Read {
    /// Returns whether it reads registers, counters, meters or times of hits, which packets write.
    pub fn touches_cells(&self) -> bool {
        matches!(
            self,
            Read::EntriesWithCells { .. }
                | Read::Register { .. }
                | Read::Counter { .. }
                | Read::Meter { .. }
                | Read::DirectCounter { .. }
                | Read::DirectMeter { .. }
        )
    }
}

impl BatchItem {
    /// Returns whether it reads or writes state that packets write too.
    pub fn touches_cells(&self) -> bool {
        match self {
            BatchItem::Update(update) => update.touches_cells(),
            BatchItem::Read(read) => read.touches_cells(),
        }
    }
}

/// One item of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchItem {
    /// A change.
    Update(Update),
    /// A read; it sees the updates before it in the batch.
    Read(Read),
}

/// The effect of a failing item on the others, as in P4Runtime.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Atomicity {
    /// The other items are applied.
    #[default]
    ContinueOnError,
    /// The updates before it are undone, the items after it are not tried.
    RollbackOnError,
    /// As `RollbackOnError`. Here both are the same to packets, because they see every batch as a
    /// whole.
    DataplaneAtomic,
}

/// A list of items that takes effect at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Items in order.
    pub items: Vec<BatchItem>,
    /// The effect of a failing item on the others.
    pub atomicity: Atomicity,
    /// Device time of the batch: meters start and idle timeouts begin then.
    pub now_ps: u64,
}

impl Batch {
    /// Makes a batch of updates that continues after errors.
    pub fn updates(now_ps: u64, updates: impl IntoIterator<Item = Update>) -> Batch {
        Batch {
            items: updates.into_iter().map(BatchItem::Update).collect(),
            atomicity: Atomicity::ContinueOnError,
            now_ps,
        }
    }

    /// Returns whether it has updates of the configuration.
    pub(crate) fn changes_configuration(&self) -> bool {
        let changes = |item: &BatchItem| match item {
            BatchItem::Update(update) => !update.touches_cells(),
            BatchItem::Read(_) => false,
        };
        self.items.iter().any(changes)
    }

    /// Whether an error ends it, and what was done before is undone. With a single item there is nothing to
    /// undo, as it checks before it changes; and of reads neither.
    pub(crate) fn stops_on_error(&self) -> bool {
        self.atomicity != Atomicity::ContinueOnError
            && self.items.len() > 1
            && self.items.iter().any(|item| matches!(item, BatchItem::Update(_)))
    }
}

/// The outcome of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchOutcome {
    /// One result an item, in order. After a rollback the items that had worked, or were not tried,
    /// say [`UpdateError::Aborted`].
    pub results: Vec<Result<Reply, UpdateError>>,
    /// Whether the batch was undone.
    pub rolled_back: bool,
}

impl BatchOutcome {
    /// The first error and the index of its item; the cause rather than its consequences.
    pub fn first_error(&self) -> Option<(usize, &UpdateError)> {
        let errors = || {
            self.results
                .iter()
                .enumerate()
                .filter_map(|(at, result)| result.as_ref().err().map(|error| (at, error)))
        };
        errors().find(|(_, error)| **error != UpdateError::Aborted).or_else(|| errors().next())
    }

    /// Whether every item worked.
    pub fn is_ok(&self) -> bool {
        self.results.iter().all(Result::is_ok)
    }
}
