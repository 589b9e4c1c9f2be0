// SPDX-License-Identifier: Apache-2.0
//! Programs that differ only in the names and the order of their objects: exchanges handles in batches and outcomes.

use super::{ControlMap, Step, TargetIndex};
use crate::target::{Batch, Fault, Item, Notification, Outcome, Reply};
use ir::{
    ActionId, ActionProfileId, CalculationId, CounterId, MeterId, Program, RegisterId, TableId,
    ValueSetId,
};
use state::{
    ActionData, BatchItem, BoundAction, EntryRecord, EntryTarget, NewEntry, Read,
    Reply as StateReply, Update, UpdateError,
};
use std::collections::HashMap;
use std::sync::Arc;

/// The objects below, by the objects of the program as written: one list a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Handles {
    /// Tables.
    pub tables: Vec<TableId>,
    /// Actions.
    pub actions: Vec<ActionId>,
    /// Registers.
    pub registers: Vec<RegisterId>,
    /// Counters.
    pub counters: Vec<CounterId>,
    /// Meters.
    pub meters: Vec<MeterId>,
    /// Action profiles.
    pub profiles: Vec<ActionProfileId>,
    /// Value sets.
    pub value_sets: Vec<ValueSetId>,
    /// Calculations.
    pub calculations: Vec<CalculationId>,
}

impl Handles {
    /// Finds the objects of a program below whose names `name` gives for those of the program as written. The error is the
    /// first name that the program below lacks.
    pub fn by_name(
        written: &Program,
        below: &Program,
        name: impl Fn(&str) -> String,
    ) -> Result<Handles, String> {
        macro_rules! objects {
            ($list:ident, $id:ident) => {{
                let places: HashMap<&str, usize> =
                    below.$list.iter().enumerate().map(|(at, one)| (&*one.name, at)).collect();
                let find = |wanted: &str| match places.get(&*name(wanted)) {
                    Some(at) => Ok($id(*at as u32)),
                    None => Err(name(wanted)),
                };
                written.$list.iter().map(|one| find(&one.name)).collect::<Result<Vec<_>, _>>()?
            }};
        }
        Ok(Handles {
            tables: objects!(tables, TableId),
            actions: objects!(actions, ActionId),
            registers: objects!(registers, RegisterId),
            counters: objects!(counters, CounterId),
            meters: objects!(meters, MeterId),
            profiles: objects!(action_profiles, ActionProfileId),
            value_sets: objects!(value_sets, ValueSetId),
            calculations: objects!(calculations, CalculationId),
        })
    }
}

/// A map to a program that differs in names and order of objects.
#[derive(Clone, Debug)]
pub struct Renamed {
    program: Arc<Program>,
    handles: Handles,
    /// Handles of the program as written, by those below.
    tables_above: HashMap<TableId, TableId>,
    actions_above: HashMap<ActionId, ActionId>,
    /// Names of the program as written, by those below.
    names_above: HashMap<Arc<str>, Arc<str>>,
    /// Names of digests of the program as written, by those below.
    digests: HashMap<Arc<str>, Arc<str>>,
}

impl Renamed {
    /// Creates a map to a program below with these objects for its own.
    pub fn new(program: Arc<Program>, below: &Program, handles: Handles) -> Renamed {
        let mut names_above = HashMap::new();
        macro_rules! names {
            ($list:ident, $handles:ident) => {
                for (one, handle) in program.$list.iter().zip(&handles.$handles) {
                    if let Some(other) = below.$list.get(handle.0 as usize) {
                        names_above.insert(other.name.clone(), one.name.clone());
                    }
                }
            };
        }
        names!(tables, tables);
        names!(actions, actions);
        names!(registers, registers);
        names!(counters, counters);
        names!(meters, meters);
        names!(action_profiles, profiles);
        names!(value_sets, value_sets);
        let above = |at: usize| at as u32;
        let tables = handles.tables.iter().enumerate();
        let actions = handles.actions.iter().enumerate();
        Renamed {
            tables_above: tables.map(|(at, id)| (*id, TableId(above(at)))).collect(),
            actions_above: actions.map(|(at, id)| (*id, ActionId(above(at)))).collect(),
            names_above,
            digests: HashMap::new(),
            handles,
            program,
        }
    }

    /// Adds digests of different names: those below, and those of the program as written.
    pub fn with_digests(self, names: impl IntoIterator<Item = (Arc<str>, Arc<str>)>) -> Renamed {
        Renamed { digests: names.into_iter().collect(), ..self }
    }

    fn action_below(&self, action: &mut BoundAction) {
        action.action = below(&self.handles.actions, action.action.index(), ActionId);
    }

    fn data_below(&self, data: &mut ActionData) {
        match data {
            ActionData::Direct(action) => self.action_below(action),
            ActionData::OneShot(list) => {
                list.iter_mut().for_each(|choice| self.action_below(&mut choice.action));
            }
            ActionData::Member(_) | ActionData::Group(_) => {}
        }
    }

    fn update_below(&self, update: &mut Update) {
        let handles = &self.handles;
        let table_below =
            |table: &mut TableId| *table = below(&handles.tables, table.index(), TableId);
        match update {
            Update::InsertEntry { table, entry: NewEntry { action, .. } }
            | Update::ModifyEntry { table, entry: NewEntry { action, .. } }
            | Update::ModifyEntryAt { table, action, .. } => {
                table_below(table);
                self.data_below(action);
            }
            Update::DeleteEntry { table, .. }
            | Update::DeleteEntryAt { table, .. }
            | Update::ClearEntries { table } => table_below(table),
            Update::SetDefaultAction { table, action } => {
                table_below(table);
                action.iter_mut().for_each(|action| self.action_below(action));
            }
            Update::InsertMember { profile, action, .. }
            | Update::ModifyMember { profile, action, .. } => {
                *profile = below(&handles.profiles, profile.index(), ActionProfileId);
                self.action_below(action);
            }
            Update::DeleteMember { profile, .. }
            | Update::InsertGroup { profile, .. }
            | Update::ModifyGroup { profile, .. }
            | Update::DeleteGroup { profile, .. } => {
                *profile = below(&handles.profiles, profile.index(), ActionProfileId);
            }
            Update::InsertValueSetMember { set, .. }
            | Update::DeleteValueSetMember { set, .. }
            | Update::SetValueSet { set, .. } => {
                *set = below(&handles.value_sets, set.index(), ValueSetId);
            }
            Update::WriteRegister { register, .. } => {
                *register = below(&handles.registers, register.index(), RegisterId);
            }
            Update::WriteCounter { counter, .. } | Update::WriteDirectCounter { counter, .. } => {
                *counter = below(&handles.counters, counter.index(), CounterId);
            }
            Update::WriteMeter { meter, .. } | Update::WriteDirectMeter { meter, .. } => {
                *meter = below(&handles.meters, meter.index(), MeterId);
            }
            Update::SetCrcParameters { calculation, .. } => {
                *calculation = below(&handles.calculations, calculation.0 as usize, CalculationId);
            }
            Update::InsertMulticastGroup { .. }
            | Update::ModifyMulticastGroup { .. }
            | Update::DeleteMulticastGroup { .. }
            | Update::InsertCloneSession { .. }
            | Update::ModifyCloneSession { .. }
            | Update::DeleteCloneSession { .. }
            | Update::SetNodeExclusion { .. }
            | Update::SetPortExclusion { .. } => {}
        }
    }

    fn read_below(&self, read: &mut Read) {
        let handles = &self.handles;
        match read {
            Read::Entries { table }
            | Read::Entry { table, .. }
            | Read::EntriesWithCells { table, .. }
            | Read::DefaultAction { table } => {
                *table = below(&handles.tables, table.index(), TableId);
            }
            Read::Members { profile, .. } | Read::Groups { profile, .. } => {
                *profile = below(&handles.profiles, profile.index(), ActionProfileId);
            }
            Read::ValueSet { set } => *set = below(&handles.value_sets, set.index(), ValueSetId),
            Read::Register { register, .. } => {
                *register = below(&handles.registers, register.index(), RegisterId);
            }
            Read::Counter { counter, .. } | Read::DirectCounter { counter, .. } => {
                *counter = below(&handles.counters, counter.index(), CounterId);
            }
            Read::Meter { meter, .. } | Read::DirectMeter { meter, .. } => {
                *meter = below(&handles.meters, meter.index(), MeterId);
            }
            Read::CrcParameters { calculation } => {
                *calculation = below(&handles.calculations, calculation.0 as usize, CalculationId);
            }
            Read::MulticastGroups { .. } | Read::CloneSessions { .. } | Read::Exclusions => {}
        }
    }

    fn action_above(&self, action: &mut BoundAction) {
        if let Some(above) = self.actions_above.get(&action.action) {
            action.action = *above;
        }
    }

    fn record_above(&self, record: &mut Arc<EntryRecord>) {
        let mut action = record.action.clone();
        match &mut action {
            ActionData::Direct(action) => self.action_above(action),
            ActionData::OneShot(list) => {
                list.iter_mut().for_each(|choice| self.action_above(&mut choice.action));
            }
            ActionData::Member(_) | ActionData::Group(_) => return,
        }
        if action != record.action {
            *record = Arc::new(EntryRecord { action, ..EntryRecord::clone(record) });
        }
    }

    fn target_above(&self, target: &mut EntryTarget) {
        if let EntryTarget::Entry(record) = target {
            self.record_above(record);
        }
    }

    fn reply_above(&self, reply: &mut StateReply) {
        match reply {
            StateReply::Entries(list) => {
                list.iter_mut().for_each(|record| self.record_above(record));
            }
            StateReply::EntriesWithCells(list) => {
                list.iter_mut().for_each(|cells| self.target_above(&mut cells.target));
            }
            StateReply::DefaultAction { action, .. } => self.action_above(action),
            StateReply::Members(list) => {
                list.iter_mut().for_each(|(_, action)| self.action_above(action));
            }
            StateReply::DirectCounters(list) => {
                list.iter_mut().for_each(|(target, _)| self.target_above(target));
            }
            StateReply::DirectMeters(list) => {
                list.iter_mut().for_each(|(target, _)| self.target_above(target));
            }
            _ => {}
        }
    }

    fn batch_below(&self, batch: &mut Batch) {
        for item in &mut batch.items {
            match item {
                Item::State(BatchItem::Update(update)) => self.update_below(update),
                Item::State(BatchItem::Read(read)) => self.read_below(read),
                Item::Device(_) => {}
            }
        }
    }

    fn outcome_above(&self, outcome: &mut Outcome) {
        let rename = |name: &Arc<str>| self.names_above.get(name).unwrap_or(name).clone();
        for result in &mut outcome.results {
            match result {
                Ok(Reply::State(reply)) => self.reply_above(reply),
                Err(Fault::Refused(UpdateError::NoSuchObject { index, .. })) => {
                    *index = number_above(*index);
                }
                Err(Fault::Refused(error)) => *error = error.clone().renamed(&rename),
                _ => {}
            }
        }
    }
}

/// Returns a handle below; a handle of no object becomes a handle of no object there, counted from the end.
fn below<I: Copy>(list: &[I], at: usize, id: fn(u32) -> I) -> I {
    let missing = u32::MAX - u32::try_from(at).unwrap_or(0).min(u32::MAX / 2);
    list.get(at).copied().unwrap_or(id(missing))
}

/// Returns the number of a missing object from its number below.
fn number_above(index: u32) -> u32 {
    if index > u32::MAX / 2 { u32::MAX - index } else { index }
}

impl ControlMap for Renamed {
    /// The batch, until it is submitted; then its outcome is the answer.
    type Plan = Option<Batch>;

    fn program(&self) -> Arc<Program> {
        self.program.clone()
    }

    fn passes_to(&self, _: &Batch) -> Option<TargetIndex> {
        Some(TargetIndex(0))
    }

    fn pass(&mut self, batch: &mut Batch) {
        self.batch_below(batch);
    }

    fn passed(&mut self, outcome: &mut Outcome) {
        self.outcome_above(outcome);
    }

    fn begin(&mut self, mut batch: Batch) -> Option<Batch> {
        self.batch_below(&mut batch);
        Some(batch)
    }

    fn step(&mut self, plan: &mut Option<Batch>, mut seen: Vec<Outcome>) -> Step {
        match (plan.take(), seen.pop()) {
            (Some(batch), _) => Step::Submit(vec![(TargetIndex(0), batch)]),
            (None, Some(mut outcome)) => {
                self.outcome_above(&mut outcome);
                Step::Answer(outcome)
            }
            (None, None) => Step::End,
        }
    }

    fn check(&mut self, batch: &Batch) -> Outcome {
        let results = batch.items.iter().map(|_| Ok(Reply::Done)).collect();
        Outcome { results, ..Outcome::empty(0) }
    }

    fn notify(&mut self, _: TargetIndex, mut notification: Notification) -> Vec<Notification> {
        match &mut notification {
            Notification::Digest { name, .. } => {
                if let Some(above) = self.digests.get(name) {
                    *name = above.clone();
                }
            }
            Notification::IdleTimeout { table, entry, .. } => {
                let Some(above) = self.tables_above.get(table) else { return Vec::new() };
                *table = *above;
                self.record_above(entry);
            }
            // The program as written does not change.
            Notification::Swapped { .. } => return Vec::new(),
            Notification::PacketIn { .. } | Notification::Link { .. } => {}
        }
        vec![notification]
    }
}
