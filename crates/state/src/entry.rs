// SPDX-License-Identifier: Apache-2.0
//! `NewEntry` and `EntryRecord`: entries as the control plane writes them and as a table holds them. `table` and
//! `tuple_space` match them.

use crate::{ActionData, BoundAction};
use ir::{KeyPattern, OriginId};

/// An entry's place in its table. It is free for reuse once the entry is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryHandle(pub u32);

/// An entry as the control plane writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEntry {
    /// One pattern a key, selector keys left out.
    pub keys: Vec<KeyPattern>,
    /// Among matching entries of ternary, range or optional tables the largest wins; other tables
    /// ignore it.
    pub priority: i64,
    /// The action data.
    pub action: ActionData,
    /// Idle timeout in nanoseconds; 0 is no timeout.
    pub idle_timeout_ns: u64,
    /// The control plane's own bytes, handed back on reading.
    pub metadata: Vec<u8>,
    /// The control plane's own number, handed back on reading.
    pub cookie: u64,
}

impl NewEntry {
    /// An entry that runs `action`, without time limit and metadata.
    pub fn direct(keys: Vec<KeyPattern>, priority: i64, action: BoundAction) -> NewEntry {
        NewEntry {
            keys,
            priority,
            action: ActionData::Direct(action),
            idle_timeout_ns: 0,
            metadata: Vec::new(),
            cookie: 0,
        }
    }
}

/// An entry as a table holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryRecord {
    /// Its place.
    pub handle: EntryHandle,
    /// The number of its insertion. Among equal priorities the smaller one wins; cells of direct counters and meters
    /// identify their entry by it. A modification keeps it.
    pub generation: u64,
    /// One pattern a key in canonical form: a pattern that matches all is [`KeyPattern::Any`], values
    /// are zero outside their masks, and everything has the key's width.
    pub keys: Vec<KeyPattern>,
    /// As in [`NewEntry::priority`].
    pub priority: i64,
    /// The action data.
    pub action: ActionData,
    /// As in [`NewEntry::idle_timeout_ns`].
    pub idle_timeout_ns: u64,
    /// As in [`NewEntry::metadata`].
    pub metadata: Vec<u8>,
    /// As in [`NewEntry::cookie`].
    pub cookie: u64,
    /// When it was inserted, in device time.
    pub inserted_ps: u64,
    /// The declaration in the program, for declared entries.
    pub origin: Option<OriginId>,
}

impl EntryRecord {
    /// Returns the entry as a control plane would write it again.
    pub fn to_new_entry(&self) -> NewEntry {
        NewEntry {
            keys: self.keys.clone(),
            priority: self.priority,
            action: self.action.clone(),
            idle_timeout_ns: self.idle_timeout_ns,
            metadata: self.metadata.clone(),
            cookie: self.cookie,
        }
    }
}
