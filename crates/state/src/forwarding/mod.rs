// SPDX-License-Identifier: Apache-2.0
//! The forwarding side of the state store: what compiled packets look up in. Control planes write to
//! the master tables; here lives what is derived from them for speed, and nothing else.
//!
//! A [`ForwardingState`] is one version: indexes from keys to action records ([`RecordLayout`]), laid
//! out as words for code that reads them by address. [`crate::Store::forwarding`] takes the current
//! version without waiting; a thread takes one a burst of packets. Versions share the tables
//! that are the same in both. To change a table, a writer takes a spare copy, which catches up first, changes
//! it, publishes the version that has it, and gets the copy of the version before back as the next spare. A
//! reader that still holds that version makes the writer go on with another spare or a new copy.

mod choice;
mod copies;
pub mod index;
mod parts;
mod publication;
mod record;
mod record_store;
mod state;
mod table;

pub(crate) use publication::Publication;
pub use publication::{ForwardingCache, ForwardingGuard};
pub use record::{
    INDIRECT_ACTION, NO_ACTION, PackedBits, PackedLayout, RecordLayout, words_of_width,
};
pub use state::ForwardingState;
pub use table::{ForwardingTable, PACKED_DEFAULT};
