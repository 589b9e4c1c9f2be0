// SPDX-License-Identifier: Apache-2.0
//! Handles of the entries of malleable tables, and what reactions have added and deleted since the last commit. A handle is
//! never given twice, so an old one reaches no later entry.

use crate::interface::{Interface, KeyKind, ReactionTable, Scalar};
use control::target::{Fault, Item, Reply};
use ir::{ActionId, Bits, KeyPattern, Program, TableId};
use state::{BoundAction, NewEntry, Read, Reply as StateReply, Update};
use std::collections::HashMap;

/// An entry by its keys and priority.
type EntryName = (Vec<KeyPattern>, i64);

#[derive(Clone, Debug)]
struct Table {
    handle: TableId,
    shape: ReactionTable,
    actions: Vec<ActionId>,
    /// The most entries.
    size: Option<u64>,
    by_handle: HashMap<u64, EntryName>,
    by_name: HashMap<EntryName, u64>,
    /// What undoes the changes since the last commit, in order.
    undo: Vec<(u64, EntryName, bool)>,
}

/// All malleable tables.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    tables: Vec<Table>,
    next_handle: u64,
    reading: Vec<usize>,
}

/// The key and the arguments that a call passes as words.
struct Words<'w>(&'w [u64]);

impl Words<'_> {
    fn value(&mut self, ty: Scalar) -> Option<Bits> {
        let words = ty.words();
        let own = self.0.get(..words)?;
        self.0 = &self.0[words..];
        let bits = Bits::from_words(ty.words() as u32 * 64, own);
        Some(match bits.width_bits() == ty.width_bits {
            true => bits,
            false => bits.slice(ty.width_bits - 1, 0),
        })
    }

    fn number(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }
}

impl Tables {
    pub(super) fn new(interface: &Interface, written: &Program) -> Result<Tables, String> {
        let mut tables = Vec::new();
        for shape in &interface.tables {
            let ends = |name: &str, local: &str| {
                name.strip_suffix(local).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            };
            let at = written.tables.iter().position(|table| ends(&table.name, &shape.name));
            let at = at.ok_or_else(|| shape.name.to_string())?;
            let declared = &written.tables[at];
            tables.push(Table {
                handle: TableId(at as u32),
                actions: declared.actions.iter().map(|listed| listed.action).collect(),
                // Entries of the program that are `const` leave no room.
                size: if declared.const_entries { Some(0) } else { declared.size },
                shape: shape.clone(),
                by_handle: HashMap::new(),
                by_name: HashMap::new(),
                undo: Vec::new(),
            });
        }
        Ok(Tables { tables, next_handle: 1, reading: Vec::new() })
    }

    pub(super) fn handles(&self) -> Vec<TableId> {
        self.tables.iter().map(|table| table.handle).collect()
    }

    /// Reads of the entries of these tables.
    pub(super) fn reads(&mut self, changed: &[TableId]) -> Vec<Item> {
        let own = self.tables.iter().enumerate();
        let own = own.filter(|(_, table)| changed.contains(&table.handle));
        self.reading = own.map(|(at, _)| at).collect();
        let read = |at: &usize| Read::Entries { table: self.tables[*at].handle }.into();
        self.reading.iter().map(read).collect()
    }

    /// Takes the replies to [`Tables::reads`]. Entries that stay keep their handles.
    pub(super) fn take_reads<'r>(
        &mut self,
        replies: &mut impl Iterator<Item = &'r Result<Reply, Fault>>,
    ) {
        for at in std::mem::take(&mut self.reading) {
            let Some(Ok(Reply::State(StateReply::Entries(entries)))) = replies.next() else {
                continue;
            };
            let table = &mut self.tables[at];
            let mut by_name = HashMap::with_capacity(entries.len());
            for entry in entries {
                let name = (entry.keys.clone(), entry.priority);
                let handle = table.by_name.get(&name).copied().unwrap_or_else(|| {
                    self.next_handle += 1;
                    self.next_handle - 1
                });
                by_name.insert(name, handle);
            }
            table.by_handle =
                by_name.iter().map(|(name, handle)| (*handle, name.clone())).collect();
            table.by_name = by_name;
        }
    }

    /// The keys and the priority of a call.
    fn name(&self, table: usize, words: &mut Words<'_>) -> Option<EntryName> {
        let shape = &self.tables[table].shape;
        let mut keys = Vec::with_capacity(shape.keys.len());
        for key in &shape.keys {
            let value = words.value(key.ty)?;
            let width_bits = key.ty.width_bits;
            keys.push(match key.kind {
                KeyKind::Exact => KeyPattern::Exact(value),
                KeyKind::Lpm => {
                    let length_bits = u32::try_from(words.number()?).ok()?.min(width_bits);
                    let mask = Bits::prefix_mask(width_bits, length_bits);
                    let value = value.binary(ir::BinaryOperation::And, &mask);
                    KeyPattern::Prefix { value, length_bits }
                }
                KeyKind::Ternary => {
                    let mask = words.value(key.ty)?;
                    match mask.is_zero() {
                        true => KeyPattern::Any,
                        false => {
                            let value = value.binary(ir::BinaryOperation::And, &mask);
                            KeyPattern::Ternary { value, mask }
                        }
                    }
                }
                KeyKind::Range => {
                    let high = words.value(key.ty)?;
                    match value.is_zero() && high == Bits::ones(width_bits) {
                        true => KeyPattern::Any,
                        false => KeyPattern::Range { low: value, high },
                    }
                }
                KeyKind::Optional => match words.number()? {
                    0 => KeyPattern::Any,
                    _ => KeyPattern::Exact(value),
                },
            });
        }
        let priority = if shape.has_priorities { words.number()? as i64 } else { 0 };
        Some((keys, priority))
    }

    fn bound(&self, table: usize, action: usize, words: &mut Words<'_>) -> Option<BoundAction> {
        let own = &self.tables[table];
        let parameters = &own.shape.actions.get(action)?.parameters;
        let arguments = parameters.iter().map(|(_, ty)| words.value(*ty));
        Some(BoundAction {
            action: *own.actions.get(action)?,
            arguments: arguments.collect::<Option<_>>()?,
        })
    }

    /// Adds an entry: its handle and the update; `None` if the table is full or has it.
    pub(super) fn add(
        &mut self,
        table: usize,
        action: usize,
        words: &[u64],
    ) -> Option<(u64, Update)> {
        let mut words = Words(words);
        let name = self.name(table, &mut words)?;
        let bound = self.bound(table, action, &mut words)?;
        let own = &mut self.tables[table];
        let is_full = own.size.is_some_and(|size| own.by_name.len() as u64 >= size);
        if is_full || own.by_name.contains_key(&name) {
            return None;
        }
        let handle = self.next_handle;
        self.next_handle += 1;
        own.by_name.insert(name.clone(), handle);
        own.by_handle.insert(handle, name.clone());
        own.undo.push((handle, name.clone(), false));
        let entry = NewEntry::direct(name.0, name.1, bound);
        Some((handle, Update::InsertEntry { table: own.handle, entry }))
    }

    /// Gives the entry of a handle an action.
    pub(super) fn modify(&mut self, table: usize, action: usize, words: &[u64]) -> Option<Update> {
        let mut words = Words(words);
        let handle = words.number()?;
        let bound = self.bound(table, action, &mut words)?;
        let own = &self.tables[table];
        let (keys, priority) = own.by_handle.get(&handle)?.clone();
        let entry = NewEntry::direct(keys, priority, bound);
        Some(Update::ModifyEntry { table: own.handle, entry })
    }

    /// Deletes the entry of a handle.
    pub(super) fn delete(&mut self, table: usize, words: &[u64]) -> Option<Update> {
        let handle = *words.first()?;
        let own = &mut self.tables[table];
        let name = own.by_handle.remove(&handle)?;
        own.by_name.remove(&name);
        own.undo.push((handle, name.clone(), true));
        let (keys, priority) = name;
        Some(Update::DeleteEntry { table: own.handle, keys, priority })
    }

    /// The handle of an entry.
    pub(super) fn find(&self, table: usize, words: &[u64]) -> Option<u64> {
        let name = self.name(table, &mut Words(words))?;
        self.tables[table].by_name.get(&name).copied()
    }

    /// Sets the default action, or that of the program.
    pub(super) fn set_default(
        &self,
        table: usize,
        action: Option<usize>,
        words: &[u64],
    ) -> Option<Update> {
        let action = match action {
            Some(action) => Some(self.bound(table, action, &mut Words(words))?),
            None => None,
        };
        Some(Update::SetDefaultAction { table: self.tables[table].handle, action })
    }

    /// The changes are committed.
    pub(super) fn settle(&mut self) {
        self.tables.iter_mut().for_each(|table| table.undo.clear());
    }

    /// The changes are not committed.
    pub(super) fn forget(&mut self) {
        for table in &mut self.tables {
            for (handle, name, was_deleted) in std::mem::take(&mut table.undo).into_iter().rev() {
                match was_deleted {
                    true => {
                        table.by_name.insert(name.clone(), handle);
                        table.by_handle.insert(handle, name);
                    }
                    false => {
                        table.by_name.remove(&name);
                        table.by_handle.remove(&handle);
                    }
                }
            }
        }
    }
}
