// SPDX-License-Identifier: Apache-2.0
//! `RecordLayout`: the layout of action records, the results of lookups, as words for compiled code. `record_store`
//! holds the records, `table` assigns them to entries.
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
//! entries with equal action and arguments share a record; and where all actions' arguments are short,
//! an entry's leaf is the record ([`PackedLayout`]), and nothing has to be read.
//!
//! [`resolve`]: crate::forwarding::ForwardingState::resolve

use super::index::LEAF_BITS;
use crate::BoundAction;
use ir::{ActionId, Program, TableId, ValueType};

/// Low half of a record's first word: the table does not list the action, and none runs.
pub const NO_ACTION: u32 = u32::MAX;

/// Low half of a record's first word: [`crate::forwarding::ForwardingState::resolve`] finds the action.
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

/// A run of bits of a packed record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedBits {
    /// The lowest of them.
    pub shift: u32,
    /// How many.
    pub width_bits: u32,
}

impl PackedBits {
    fn mask(self) -> u64 {
        (1 << self.width_bits) - 1
    }

    fn read(self, leaf: u32) -> u64 {
        u64::from(leaf) >> self.shift & self.mask()
    }

    fn write(self, number: u64) -> u32 {
        ((number & self.mask()) << self.shift) as u32
    }
}

/// The layout of records that are leaves: the action's index in the lowest bits, above it the action's arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedLayout {
    /// The action's index in [`ir::Table::actions`].
    pub action: PackedBits,
    /// All bits that some record uses.
    pub width_bits: u32,
    /// Of each action in order, by parameter.
    arguments: Vec<Vec<PackedBits>>,
}

impl PackedLayout {
    /// Makes the layout of a table without identity and without action profile; `None` if its records do not fit.
    fn new(program: &Program, table: &ir::Table) -> Option<PackedLayout> {
        let index_bits = table.actions.len().max(1).next_power_of_two().ilog2();
        let action = PackedBits { shift: 0, width_bits: index_bits };
        let mut packed = PackedLayout { action, width_bits: index_bits, arguments: Vec::new() };
        for listed in &table.actions {
            let mut next = index_bits;
            let mut places = Vec::new();
            for parameter in &program.actions.get(listed.action.index())?.parameters {
                let ty = program.slots.get(parameter.slot.index())?.ty;
                let ValueType::Bits(width_bits) = ty else { return None };
                places.push(PackedBits { shift: next, width_bits });
                next = next.checked_add(width_bits).filter(|next| *next <= LEAF_BITS)?;
            }
            packed.width_bits = packed.width_bits.max(next);
            packed.arguments.push(places);
        }
        Some(packed)
    }

    /// Position of an argument, counted as in [`RecordLayout::argument_word`].
    ///
    /// # Panics
    ///
    /// When the table or the action has no such action or parameter.
    pub fn argument(&self, action_index: usize, parameter: usize) -> PackedBits {
        self.arguments[action_index][parameter]
    }

    /// Returns whether only zeros are above an argument in records of its action.
    ///
    /// # Panics
    ///
    /// When the table has no such action.
    pub fn is_topmost(&self, action_index: usize, parameter: usize) -> bool {
        self.arguments[action_index].len() == parameter + 1
    }
}

/// The layout of the records of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordLayout {
    /// Length of a record in words.
    pub stride_words: usize,
    /// The word of the entry's generation; `None` in tables that need no identity.
    pub generation_word: Option<usize>,
    /// The layout of packed records, if records are leaves; the other fields then describe unpacked records.
    pub packed: Option<PackedLayout>,
    /// The table's actions in order, with the word at which each argument begins.
    actions: Vec<(ActionId, Vec<usize>)>,
}

impl RecordLayout {
    /// The layout of a table's records. A table that the program does not have has records of one word.
    pub fn new(program: &Program, table: TableId) -> RecordLayout {
        let Some(table) = program.tables.get(table.index()) else {
            return RecordLayout {
                stride_words: 1,
                generation_word: None,
                packed: None,
                actions: Vec::new(),
            };
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
        let packed = match needs_identity || table.implementation.is_some() {
            true => None,
            false => PackedLayout::new(program, table),
        };
        let generation_word = needs_identity.then_some(1);
        RecordLayout { stride_words, generation_word, packed, actions }
    }

    /// Bits of leaves that lead to the table's records.
    pub fn leaf_bits(&self) -> u32 {
        self.packed.as_ref().map_or(LEAF_BITS, |packed| packed.width_bits)
    }

    /// A record of words as the leaf that it is packed into.
    pub(super) fn pack(&self, packed: &PackedLayout, record: &[u64]) -> u32 {
        let index = record[0] as u32;
        let places = self.places(packed, index);
        places.fold(packed.action.write(u64::from(index)), |leaf, (bits, word)| {
            leaf | bits.write(record[word])
        })
    }

    /// The words of a record that a leaf is.
    pub(super) fn unpack(&self, packed: &PackedLayout, leaf: u32) -> Vec<u64> {
        let mut record = vec![0; self.stride_words];
        record[0] = packed.action.read(leaf);
        let index = record[0] as u32;
        self.places(packed, index).for_each(|(bits, word)| record[word] = bits.read(leaf));
        record
    }

    /// Returns the places of an action's arguments in leaves and in words.
    fn places<'l>(
        &'l self,
        packed: &'l PackedLayout,
        action_index: u32,
    ) -> impl Iterator<Item = (PackedBits, usize)> + 'l {
        let bits = packed.arguments.get(action_index as usize).into_iter().flatten();
        let words = self.actions.get(action_index as usize).into_iter().flat_map(|it| &it.1);
        bits.copied().zip(words.copied())
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
