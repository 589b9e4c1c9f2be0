// SPDX-License-Identifier: Apache-2.0
//! `Claims`: which portion owns which entry, default action, member of a value set and calculation. A portion owns an
//! object from its request on, so that no other portion reaches an object of a pending request.

use crate::map::rows::EntryName;
use crate::state_target::StateTarget;
use ir::{
    CalculationId, CounterId, KeyPattern, MatchKind, MeterId, Program, RegisterId, TableId,
    ValueSetId,
};
use state::EntryHandle;
use std::collections::HashMap;
use std::sync::Arc;

/// An array of cells that may be divided between portions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CellArray {
    /// A register.
    Register(RegisterId),
    /// A counter that is not direct.
    Counter(CounterId),
    /// A meter that is not direct.
    Meter(MeterId),
}

/// What a portion owns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Object {
    Entry(EntryName),
    /// The default action of a table.
    Default(TableId),
    /// A member of a value set, in canonical form.
    ValueSetMember(ValueSetId, Vec<KeyPattern>),
    /// The parameters of a calculation.
    Calculation(CalculationId),
}

/// The owner of an object, and its pending requests.
#[derive(Clone, Copy, Debug)]
struct Claim {
    /// `None` for the program's own entries.
    owner: Option<usize>,
    /// Whether the target has the object.
    is_there: bool,
    /// Whether the target has it once all pending requests have succeeded.
    will_be_there: bool,
    /// Pending requests that add or remove it.
    requests: usize,
    /// The handle of the entry, if the target has reported it.
    place: Option<EntryHandle>,
}

impl Claim {
    /// An object without owner and requests.
    const FREE: Claim =
        Claim { owner: None, is_there: false, will_be_there: false, requests: 0, place: None };
}

/// Returns the index of an object of equal name in another program's list.
fn named<T>(before: &[T], after: &[T], at: usize, name: impl Fn(&T) -> &Arc<str>) -> Option<u32> {
    let wanted = name(before.get(at)?);
    after.iter().position(|other| name(other) == wanted).map(|at| at as u32)
}

/// Returns the array of equal name in another program.
pub(super) fn renewed_array(
    array: CellArray,
    before: &Program,
    program: &Program,
) -> Option<CellArray> {
    Some(match array {
        CellArray::Register(id) => CellArray::Register(RegisterId(named(
            &before.registers,
            &program.registers,
            id.index(),
            |array| &array.name,
        )?)),
        CellArray::Counter(id) => CellArray::Counter(CounterId(named(
            &before.counters,
            &program.counters,
            id.index(),
            |array| &array.name,
        )?)),
        CellArray::Meter(id) => CellArray::Meter(MeterId(named(
            &before.meters,
            &program.meters,
            id.index(),
            |array| &array.name,
        )?)),
    })
}

#[derive(Debug, Default)]
pub(super) struct Claims {
    claims: HashMap<Object, Claim>,
    /// Entries by their places.
    places: HashMap<(TableId, EntryHandle), EntryName>,
}

impl Claims {
    /// Creates the claims of a new target: the program's own entries have no owner.
    pub fn of_program(program: &Arc<Program>) -> Claims {
        let mut claims = Claims::default();
        let Ok(initial) = StateTarget::new(program.clone()) else { return claims };
        let configuration = initial.store().configuration();
        for table in (0..program.tables.len() as u32).map(TableId) {
            let state = configuration.table(table).into_iter();
            for entry in state.flat_map(|state| state.entries()) {
                let name = entry_name(program, table, &entry.keys, entry.priority);
                let claim = Claim { is_there: true, will_be_there: true, ..Claim::FREE };
                claims.claims.insert(Object::Entry(name), claim);
            }
        }
        claims
    }

    pub fn owner(&self, object: &Object) -> Option<usize> {
        self.claims.get(object)?.owner
    }

    /// Whether an object exists that this portion does not own.
    pub fn is_foreign(&self, object: &Object, portion: usize) -> bool {
        self.claims.get(object).is_some_and(|claim| claim.owner != Some(portion))
    }

    /// Records a pending request that adds or removes an object.
    pub fn claim(&mut self, object: Object, portion: usize, will_be_there: bool) {
        let claim = self.claims.entry(object).or_insert(Claim::FREE);
        claim.owner = Some(portion);
        claim.will_be_there = will_be_there;
        claim.requests += 1;
    }

    /// A request has been answered: with whether the object is there now, where it changed that.
    pub fn settle(&mut self, object: &Object, is_there: Option<bool>) {
        let Some(claim) = self.claims.get_mut(object) else { return };
        claim.requests = claim.requests.saturating_sub(1);
        claim.is_there = is_there.unwrap_or(claim.is_there);
        if claim.requests == 0 {
            claim.will_be_there = claim.is_there;
            if !claim.is_there {
                self.claims.remove(object);
            }
        }
    }

    /// Entries of a portion that a table has once all pending requests are done, in a fixed order.
    pub fn entries_to_be(&self, table: TableId, portion: usize) -> Vec<EntryName> {
        let is_own = |(object, claim): (&Object, &Claim)| match object {
            Object::Entry(name)
                if name.0 == table && claim.owner == Some(portion) && claim.will_be_there =>
            {
                Some(name.clone())
            }
            _ => None,
        };
        let mut own: Vec<EntryName> = self.claims.iter().filter_map(is_own).collect();
        own.sort_by_key(|name| format!("{name:?}"));
        own
    }

    /// Members of a value set once all pending requests are done, in a fixed order, with their owners.
    pub fn members_to_be(&self, set: ValueSetId) -> Vec<(Vec<KeyPattern>, Option<usize>)> {
        let is_member = |(object, claim): (&Object, &Claim)| match object {
            Object::ValueSetMember(of, member) if *of == set && claim.will_be_there => {
                Some((member.clone(), claim.owner))
            }
            _ => None,
        };
        let mut members: Vec<_> = self.claims.iter().filter_map(is_member).collect();
        members.sort_by_key(|member| format!("{member:?}"));
        members
    }

    /// The claims of a program that took the place of another: objects of equal names keep their owners, and
    /// the new program's own entries have no owner.
    pub fn renewed(self, before: &Program, program: &Arc<Program>) -> Claims {
        let mut renewed = Claims::of_program(program);
        for (object, claim) in self.claims {
            let object = match object {
                Object::Entry((table, keys, priority)) => {
                    named(&before.tables, &program.tables, table.index(), |it| &it.name)
                        .map(|at| entry_name(program, TableId(at), &keys, priority))
                        .map(Object::Entry)
                }
                Object::Default(table) => {
                    named(&before.tables, &program.tables, table.index(), |it| &it.name)
                        .map(|at| Object::Default(TableId(at)))
                }
                Object::ValueSetMember(set, member) => {
                    named(&before.value_sets, &program.value_sets, set.index(), |it| &it.name)
                        .map(|at| Object::ValueSetMember(ValueSetId(at), member))
                }
                Object::Calculation(id) => {
                    named(&before.calculations, &program.calculations, id.index(), |it| &it.name)
                        .map(|at| Object::Calculation(CalculationId(at)))
                }
            };
            if let (Some(object), Some(owner), true) = (object, claim.owner, claim.is_there) {
                let claim = Claim {
                    owner: Some(owner),
                    is_there: true,
                    will_be_there: true,
                    ..Claim::FREE
                };
                renewed.claims.insert(object, claim);
            }
        }
        renewed
    }

    /// Of a table's entries only these are there, at these places.
    pub fn keep_entries(&mut self, table: TableId, entries: HashMap<EntryName, EntryHandle>) {
        self.claims.retain(|object, _| match object {
            Object::Entry(name) if name.0 == table => entries.contains_key(name),
            _ => true,
        });
        for (name, handle) in entries {
            // What is there without a claim came with a swap, or is the program's own.
            let there = Claim { is_there: true, will_be_there: true, ..Claim::FREE };
            self.claims.entry(Object::Entry(name.clone())).or_insert(there);
            self.note_place(handle, &name);
        }
    }

    /// The entry at a place.
    pub fn at(&self, table: TableId, handle: EntryHandle) -> Option<EntryName> {
        self.places.get(&(table, handle)).cloned()
    }

    /// An entry was inserted here.
    pub fn note_place(&mut self, handle: EntryHandle, name: &EntryName) {
        if let Some(claim) = self.claims.get_mut(&Object::Entry(name.clone())) {
            claim.place = Some(handle);
            self.places.insert((name.0, handle), name.clone());
        }
    }

    /// An entry was removed.
    pub fn forget_place(&mut self, name: &EntryName) {
        let claim = self.claims.get_mut(&Object::Entry(name.clone()));
        if let Some(handle) = claim.and_then(|claim| claim.place.take()) {
            self.places.remove(&(name.0, handle));
        }
    }
}

/// The name of an entry, its keys in canonical form; keys that do not fit stay as they are, to be refused.
pub(super) fn entry_name(
    program: &Program,
    table: TableId,
    keys: &[KeyPattern],
    priority: i64,
) -> EntryName {
    let declared = program.tables.get(table.index());
    let canonical = declared.and_then(|declared| state::entry_keys(declared, keys).ok());
    let has_priorities = declared.is_some_and(|table| {
        let kinds = table.keys.iter().map(|key| &key.match_kind);
        { kinds }
            .any(|kind| !matches!(kind, MatchKind::Exact | MatchKind::Lpm | MatchKind::Selector))
    });
    let priority = if has_priorities { priority } else { 0 };
    (table, canonical.unwrap_or_else(|| keys.to_vec()), priority)
}
