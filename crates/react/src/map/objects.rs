// SPDX-License-Identifier: Apache-2.0
//! The objects of the program as written and of the program as run, by handles.

use crate::compiler::{KeyPlan, Plan};
use crate::handles::{action, register, table};
use crate::language::Gress;
use control::map::Renamed;
use control::map::{ControlMap, Handles, TargetIndex};
use control::target::{Batch, Item, Notification};
use ir::{ActionId, CounterId, MatchKind, Program, RegisterId, TableId};
use state::{BatchItem, BoundAction, NewEntry, Read, Update};
use std::collections::HashMap;
use std::sync::Arc;

/// An action as written, with the actions as run.
#[derive(Clone, Debug)]
pub(super) struct ActionObjects {
    pub(super) fields: Vec<usize>,
    pub(super) specialised: Vec<ActionId>,
}

/// A table that is applied on a miss.
#[derive(Clone, Debug)]
pub(super) struct DefaultTable {
    pub(super) table: TableId,
    pub(super) selectors: Vec<(usize, u32)>,
}

/// A table that differs from the program as written.
#[derive(Clone, Debug)]
pub struct TableObjects {
    pub(super) written: TableId,
    pub(super) run: TableId,
    pub(super) is_malleable: bool,
    pub(super) gress: Gress,
    pub(super) keys: Vec<KeyPlan>,
    /// Selectors of more than one alternative, with their widths in bits.
    pub(super) selectors: Vec<(usize, u32)>,
    pub(super) actions: HashMap<ActionId, ActionObjects>,
    pub(super) default_table: Option<DefaultTable>,
    pub(super) alternatives: Arc<[usize]>,
    /// Whether entries as written have priorities.
    pub(super) has_priorities: bool,
    /// The longest-prefix key as written.
    pub(super) prefix_key: Option<usize>,
    /// Whether an entry has the same rows with each action. Then a modification keeps counters and hits, and packets find
    /// a row of a table without versions at each moment.
    pub(super) has_fixed_rows: bool,
}

impl TableObjects {
    /// The entries of the program that the control plane may change.
    pub(super) fn changeable_entries(&self, written: &Program) -> Vec<NewEntry> {
        let declared = &written.tables[self.written.index()];
        if declared.const_entries {
            return Vec::new();
        }
        let entry = |entry: &ir::Entry| {
            let listed = &declared.actions[entry.call.action as usize];
            let arguments = entry.call.arguments.clone();
            let action = BoundAction { action: listed.action, arguments };
            NewEntry::direct(entry.keys.clone(), entry.priority, action)
        };
        declared.entries.iter().map(entry).collect()
    }
}

/// All objects.
#[derive(Clone, Debug)]
pub(super) struct Objects {
    pub(super) tables: Vec<Arc<TableObjects>>,
    inits: Vec<TableId>,
    measured: Vec<RegisterId>,
    counted: HashMap<CounterId, (usize, CounterId)>,
    renamed: Renamed,
}

fn bits_of(alternatives: usize) -> u32 {
    alternatives.next_power_of_two().trailing_zeros()
}

impl Objects {
    pub(super) fn new(
        plan: &Plan,
        written: &Arc<Program>,
        run: &Arc<Program>,
    ) -> Result<Objects, String> {
        let alternatives: Arc<[usize]> = plan.alternatives.as_slice().into();
        let mut tables = Vec::new();
        for planned in &plan.tables {
            let own = table(written, &planned.table)?;
            let declared = &written.tables[own.index()];
            let selectors = |fields: &[usize]| {
                let several = fields.iter().filter(|field| alternatives[**field] > 1);
                several.map(|field| (*field, bits_of(alternatives[*field]))).collect::<Vec<_>>()
            };
            let mut actions = HashMap::new();
            for planned in &planned.actions {
                let specialised = planned.specialised.iter().map(|name| action(run, name));
                let objects = ActionObjects {
                    fields: planned.fields.clone(),
                    specialised: specialised.collect::<Result<_, _>>()?,
                };
                actions.insert(action(written, &planned.action)?, objects);
            }
            let default_table = match &planned.default_table {
                Some(name) => Some(DefaultTable {
                    table: table(run, name)?,
                    selectors: selectors(&planned.default_selectors),
                }),
                None => None,
            };
            tables.push(Arc::new(TableObjects {
                written: own,
                run: table(run, &planned.table)?,
                is_malleable: planned.is_malleable,
                gress: planned.gress,
                keys: planned.keys.clone(),
                selectors: selectors(&planned.selectors),
                actions,
                default_table,
                alternatives: alternatives.clone(),
                has_priorities: declared.has_priorities(),
                has_fixed_rows: !planned.is_malleable
                    || declared.idle_timeout
                    || !declared.direct_counters.is_empty(),
                prefix_key: declared.keys.iter().position(|key| key.match_kind == MatchKind::Lpm),
            }));
        }
        let inits = plan.pipelines.iter().filter_map(|pipeline| pipeline.inits.first());
        let inits = inits.map(|init| table(written, &init.table)).collect::<Result<_, _>>()?;
        let measured = plan.registers.iter().map(|one| register(written, &one.register));
        let measured = measured.collect::<Result<_, _>>()?;
        let mut counted = HashMap::new();
        for (at, objects) in tables.iter().enumerate() {
            let own = &written.tables[objects.written.index()].direct_counters;
            let below = &run.tables[objects.run.index()].direct_counters;
            counted.extend(own.iter().zip(below).map(|(own, below)| (*own, (at, *below))));
        }
        let handles = handles(plan, written, run)?;
        let renamed = Renamed::new(written.clone(), run, handles);
        Ok(Objects { tables, inits, measured, counted, renamed })
    }

    pub(super) fn of_table(&self, table: TableId) -> Option<Arc<TableObjects>> {
        self.tables.iter().find(|objects| objects.written == table).cloned()
    }

    /// The objects of a table of the program as run whose rows are entries.
    pub(super) fn of_table_below(&self, table: TableId) -> Option<Arc<TableObjects>> {
        self.tables.iter().find(|objects| objects.run == table).cloned()
    }

    /// The notification about objects of the program as written.
    pub(super) fn renamed_notification(&mut self, notification: Notification) -> Vec<Notification> {
        self.renamed.notify(TargetIndex(0), notification)
    }

    /// The pipeline whose values and selectors a table of the program as written loads.
    pub(super) fn init_of(&self, table: TableId) -> Option<usize> {
        self.inits.iter().position(|init| *init == table)
    }

    /// The index of a measured register.
    pub(super) fn measured(&self, register: RegisterId) -> Option<usize> {
        self.measured.iter().position(|measured| *measured == register)
    }

    /// The table and the counter as run of a direct counter whose entries multiply.
    pub(super) fn counted(&self, counter: CounterId) -> Option<(Arc<TableObjects>, CounterId)> {
        let (table, below) = self.counted.get(&counter)?;
        Some((self.tables[*table].clone(), *below))
    }

    /// The map to the handles of the program as run.
    pub(super) fn renaming(&mut self) -> &mut Renamed {
        &mut self.renamed
    }

    /// The same update with the handles of the program as run.
    pub(super) fn renamed_update(&mut self, update: Update) -> Item {
        self.renamed(update.into())
    }

    /// The same read with the handles of the program as run.
    pub(super) fn renamed_read(&mut self, read: Read) -> Item {
        self.renamed(read.into())
    }

    fn renamed(&mut self, item: Item) -> Item {
        let mut batch = Batch::one(item);
        self.renamed.pass(&mut batch);
        batch.items.pop().unwrap_or(Item::State(BatchItem::Read(Read::Exclusions)))
    }
}

/// Handles by name; actions that only specialised ones replace lead to the first of these.
fn handles(plan: &Plan, written: &Program, run: &Program) -> Result<Handles, String> {
    let first = |name: &str| {
        let planned = plan.tables.iter().flat_map(|table| &table.actions);
        let mut found = planned.filter(|action| &*action.action == name);
        let is_there = run.actions.iter().any(|action| &*action.name == name);
        match found.find_map(|action| action.specialised.first()) {
            Some(specialised) if !is_there => specialised.to_string(),
            _ => name.to_string(),
        }
    };
    Handles::by_name(written, run, first)
}
