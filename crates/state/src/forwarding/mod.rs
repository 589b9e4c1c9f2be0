// SPDX-License-Identifier: Apache-2.0
//! The forwarding side of the state store: indexes and records for compiled code, derived from the master tables that
//! control planes write.
//!
//! A [`ForwardingState`] is one version: indexes from keys to action records ([`RecordLayout`]), laid out as words
//! for code that reads them by address. [`crate::Store::forwarding`] takes the current version without waiting; a
//! thread takes one version per burst of packets. Versions share unchanged tables. To change a table, a writer brings
//! a spare copy up to date, changes it, and publishes a version with it. It then takes the copy of the old version
//! back as the next spare; while a reader holds that version, the writer uses another spare or a new copy.

mod choice;
mod copies;
pub mod index;
mod parts;
mod publication;
mod record;
mod record_store;
mod state;
mod table;

pub use publication::ForwardingCache;
pub(crate) use publication::Publication;
pub use record::{
    INDIRECT_ACTION, NO_ACTION, PackedBits, PackedLayout, RecordLayout, words_of_width,
};
pub use state::ForwardingState;
pub use table::{ForwardingTable, PACKED_DEFAULT};
