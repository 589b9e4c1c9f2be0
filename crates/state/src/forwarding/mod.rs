// SPDX-License-Identifier: Apache-2.0
//! The forwarding side of the state store: what compiled packets look up in. Control planes write to
//! the master tables; here lives what is derived from them for speed, and nothing else.
//!
//! A [`ForwardingState`] is one version: indexes from keys to action records ([`RecordLayout`]), laid
//! out as words for code that reads them by address. [`crate::Store::forwarding`] takes the current
//! version without waiting; a thread takes one a burst of packets. There are two copies. Packets read
//! the published one; a writer changes the other and swaps them, and the one that it gets back catches
//! up at the next batch. A reader that holds a version for long makes the writer go on with a new copy.

mod choice;
pub mod index;
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
