// SPDX-License-Identifier: Apache-2.0
//! Action records: what a lookup leads to, as words that compiled code reads. Where records are kept
//! is `record_store`'s matter, which entry has which is the table's.
//!
//! # Layout
//!
//! A record is [`RecordLayout::stride_words`] words of 64 bits:
//!
//! - Word 0, low 32 bits: the action's index in [`ir::Table::actions`]; [`NO_ACTION`] for an action
//!   that the table does not list (a member's, when its profile serves several tables);
//!   [`INDIRECT_ACTION`] when the action is to be found by [`resolve`].
//! - Word 0, high 32 bits: the entry's place + 1 in tables that need identity, else 0; 0 for the
//!   default action.
//! - The generation, at [`RecordLayout::generation_word`], in tables that need identity.
//! - The arguments, each in as many words as its width needs, at least one, the low word first. An
//!   indirect record has here what names its member, group or set.
//!
//! A table *needs identity* when it has direct counters, direct meters or idle timeouts. In the others,
//! entries with equal action and arguments share a record.
//!
//! [`resolve`]: crate::forwarding::ForwardingState::resolve

use crate::BoundAction;
use ir::{ActionId, Program, TableId};

/// Low half of a record's first word: the table does not list the action, and none runs.
pub const NO_ACTION: u32 = u32::MAX;

/// Low half of a record's first word: [`crate::forwarding::ForwardingState::resolve`] tells the action.
pub const INDIRECT_ACTION: u32 = 0xffff_fffe;

/// What an indirect record names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A member's slot in its profile.
    Member(u32),
    /// A group's slot in its profile.
    Group(u32),
    /// A one-shot set's slot in the table.
    OneShot(u32),
}

impl Target {
    pub(super) fn to_word(self) -> u64 {
        let (kind, slot) = match self {
            Target::Member(slot) => (0, slot),
            Target::Group(slot) => (1, slot),
            Target::OneShot(slot) => (2, slot),
        };
        kind << 32 | u64::from(slot)
    }

    pub(super) fn from_word(word: u64) -> Target {
        let slot = word as u32;
        match word >> 32 {
            0 => Target::Member(slot),
            1 => Target::Group(slot),
            _ => Target::OneShot(slot),
        }
    }
}

/// Where things stand in the records of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordLayout {
    /// Length of a record in words.
    pub stride_words: usize,
    /// Where the entry's generation stands; `None` in tables that need no identity.
    pub generation_word: Option<usize>,
    /// The table's actions in order, with the word at which each argument begins.
    actions: Vec<(ActionId, Vec<usize>)>,
}

impl RecordLayout {
    /// The layout of a table's records. A table that the program does not have has records of one word.
    pub fn new(program: &Program, table: TableId) -> RecordLayout {
        let Some(table) = program.tables.get(table.index()) else {
            return RecordLayout { stride_words: 1, generation_word: None, actions: Vec::new() };
        };
        let needs_identity = table.idle_timeout
            || !table.direct_counters.is_empty()
            || !table.direct_meters.is_empty();
        let first_word = 1 + usize::from(needs_identity);
        // A table with an action profile has indirect records, which name their target in one word.
        let mut stride_words = first_word + usize::from(table.implementation.is_some());
        let actions = table
            .actions
            .iter()
            .map(|listed| {
                let mut next = first_word;
                let parameters =
                    program.actions.get(listed.action.index()).map_or(&[][..], |a| &a.parameters);
                let words = parameters
                    .iter()
                    .map(|parameter| {
                        let slot = program.slots.get(parameter.slot.index());
                        let width_bits = slot.map_or(0, |slot| slot.ty.width_bits());
                        let word = next;
                        next += words_of_width(width_bits);
                        word
                    })
                    .collect();
                stride_words = stride_words.max(next);
                (listed.action, words)
            })
            .collect();
        RecordLayout { stride_words, generation_word: needs_identity.then_some(1), actions }
    }

    /// The word at which an argument begins. `action_index` counts in [`ir::Table::actions`],
    /// `parameter` in [`ir::Action::parameters`].
    ///
    /// # Panics
    ///
    /// When the table or the action has no such action or parameter.
    pub fn argument_word(&self, action_index: usize, parameter: usize) -> usize {
        self.actions[action_index].1[parameter]
    }

    /// What a record names, if it is an indirect one.
    pub(super) fn target(&self, record: &[u64]) -> Option<Target> {
        let is_indirect = *record.first()? as u32 == INDIRECT_ACTION;
        is_indirect.then(|| record.get(self.target_word()).copied().map(Target::from_word))?
    }

    /// The word of an indirect record that names its target.
    fn target_word(&self) -> usize {
        1 + usize::from(self.generation_word.is_some())
    }

    /// Index of an action in the table's list; [`NO_ACTION`] when it is not there.
    pub(super) fn action_index(&self, action: ActionId) -> u32 {
        self.actions
            .iter()
            .position(|(listed, _)| *listed == action)
            .map_or(NO_ACTION, |at| at as u32)
    }

    /// Writes an action and its arguments over a record that is zero but for its entry's identity.
    pub(super) fn write_action(&self, record: &mut [u64], index: u32, action: &BoundAction) {
        record[0] |= u64::from(index);
        let Some((_, argument_words)) = self.actions.get(index as usize) else { return };
        for (&at, argument) in argument_words.iter().zip(&action.arguments) {
            let count = words_of_width(argument.width_bits());
            argument.write_words(&mut record[at..at + count]);
        }
    }

    /// Writes the target of an indirect record over one that is zero but for its entry's identity.
    pub(super) fn write_target(&self, record: &mut [u64], target: Target) {
        record[0] |= u64::from(INDIRECT_ACTION);
        record[self.target_word()] = target.to_word();
    }
}

/// Words that a value of this width takes in a record.
pub fn words_of_width(width_bits: u32) -> usize {
    width_bits.div_ceil(64).max(1) as usize
}
