// SPDX-License-Identifier: Apache-2.0
//! Entries of tables: as the control plane hands them in, and as a table keeps them. Matching lives in
//! `table` and `tuple_space`.

use crate::{ActionData, BoundAction};
use ir::{KeyPattern, OriginId};

/// An entry's place in its table. It is free for reuse once the entry is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryHandle(pub u32);

/// An entry as the control plane asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEntry {
    /// One pattern a key, selector keys left out.
    pub keys: Vec<KeyPattern>,
    /// Among matching entries of ternary, range or optional tables the largest wins; other tables
    /// ignore it.
    pub priority: i64,
    /// What the entry does.
    pub action: ActionData,
    /// How long it may go without a hit before it is reported; 0 is for ever.
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

/// An entry as a table keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryRecord {
    /// Its place.
    pub handle: EntryHandle,
    /// Counts insertions: among equal priorities the smaller one wins, and a direct counter's cell
    /// knows by it whose it is. Modifying an entry keeps it.
    pub generation: u64,
    /// One pattern a key in canonical form: a pattern that matches all is [`KeyPattern::Any`], values
    /// are zero outside their masks, and everything has the key's width.
    pub keys: Vec<KeyPattern>,
    /// As in [`NewEntry::priority`].
    pub priority: i64,
    /// What it does.
    pub action: ActionData,
    /// As in [`NewEntry::idle_timeout_ns`].
    pub idle_timeout_ns: u64,
    /// As in [`NewEntry::metadata`].
    pub metadata: Vec<u8>,
    /// As in [`NewEntry::cookie`].
    pub cookie: u64,
    /// When it was inserted, in device time.
    pub inserted_ps: u64,
    /// Where the program declares it, for entries that come with the program.
    pub origin: Option<OriginId>,
}

impl EntryRecord {
    /// The entry as a control plane would ask for it again.
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
