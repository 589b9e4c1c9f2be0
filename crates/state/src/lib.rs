// SPDX-License-Identifier: Apache-2.0
//! The state store that every engine and every control plane shares.
//!
//! # What is what
//!
//! A [`Configuration`] is one immutable version of everything a packet reads as configuration: table
//! entries, default actions, action profiles, value sets, multicast groups, clone sessions and CRC
//! parameters. [`Store::configuration`] takes the current version in constant time; a packet holds one
//! version for one pass. A [`forwarding::ForwardingState`] says the same for compiled packets, in words
//! and indexes; [`Store::forwarding`] takes it without ever waiting for a writer. [`Cells`] are what
//! packets also write: registers, counters, meters, and the times of the entries' last hits. They belong
//! to one pipeline instance and are never shared.
//!
//! [`Store::write_batch`] applies a batch of a control plane. [`Store::write_configuration`] applies one without
//! cells from another thread than that of the packets; [`Store::write_batch_in_place`] applies one while no packet
//! runs. **Packets see a batch as a whole or not at all**, in every atomicity mode; the modes differ in the effect of
//! a failing update on the others. A failed update changes nothing. [`Store::subscribe`] reports changes of chosen
//! tables.
//!
//! # What is deliberately absent
//!
//! Names: requests address objects by the handles of the program ([`ir::TableId`] and so on). Sockets, files and text
//! forms. Knowledge of any architecture.

mod acceptance;
mod action;
mod cell_range;
mod cells;
mod change;
mod configuration;
mod counter;
mod draft;
mod entry;
mod entry_cells;
mod error;
pub mod externs;
pub mod forwarding;
mod initial;
mod meter;
mod migration;
mod profile;
mod read;
mod register;
mod replication;
mod sharing;
mod store;
mod subscription;
mod table;
mod tuple_space;
mod update;
mod validation;
mod value_set;
mod versions;

pub use action::{ActionData, BoundAction, GroupId, MemberId, WeightedAction};
pub use cell_range::{CellRange, CellValues};
pub use cells::{Cells, MovedCells};
pub use configuration::Configuration;
pub use counter::CounterValue;
pub use entry::{EntryHandle, EntryRecord, NewEntry};
pub use error::{ErrorClass, UpdateError};
pub use meter::{Colour, MeterConfiguration, TokenRate};
pub use migration::migrate;
pub use profile::{ActionProfileState, Group, GroupMember};
pub use register::RegisterCells;
pub use replication::{
    CloneSession, Exclusions, MulticastGroup, PacketExclusion, Replica, Replication,
};
pub use store::Store;
pub use subscription::{Subscription, TableChange};
pub use table::{DefaultAction, TableState};
pub use update::{
    Atomicity, Batch, BatchItem, BatchOutcome, EntryReference, EntryTarget, EntryWithCells, Read,
    Reply, Update,
};
pub use validation::{entry_keys, pattern_text, value_set_member};
pub use value_set::ValueSetState;
pub use versions::VersionStatistics;
