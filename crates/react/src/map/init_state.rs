// SPDX-License-Identifier: Apache-2.0
//! The state of a pipeline's init tables: the parameters that packets load, and the version that they match.

use super::rows::Row;
use crate::compiler::{InitParameter, PipelinePlan};
use crate::handles;
use crate::language::Gress;
use ir::{ActionId, Bits, KeyPattern, Program, TableId};
use state::{BoundAction, NewEntry};

/// What a parameter of an init table as run loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loaded {
    /// The parameter of this index of the init table as written.
    Written(usize),
    /// The version, which the program as written lacks.
    Version,
}

/// An init table of the program as run.
#[derive(Clone, Debug)]
pub(super) struct RunInit {
    pub(super) table: TableId,
    pub(super) action: ActionId,
    pub(super) parameters: Vec<Loaded>,
}

/// The state of a pipeline's init tables.
#[derive(Clone, Debug)]
pub(super) struct InitState {
    pub(super) gress: Gress,
    /// The master, then the tables behind it.
    pub(super) tables: Vec<RunInit>,
    /// The parameters of the init table as written, as the batches so far leave them.
    pub(super) words: Vec<Bits>,
    /// The malleable fields among the parameters as written, with the indexes of their selectors.
    selectors: Vec<(usize, usize)>,
    /// The version that packets match.
    pub(super) version: u64,
    /// Whether the batch changes rows of malleable tables.
    pub(super) has_prepared: bool,
    /// Whether the batch changes parameters of the master.
    pub(super) has_changed: bool,
    /// The alternatives that packets in flight may have loaded, the latest first.
    pub(super) recent: Vec<Vec<(usize, usize)>>,
}

/// Commits whose packets may be in flight together. The wait of each dialogue leaves two.
const MAX_RECENT: usize = 8;

impl InitState {
    /// The state that the programs begin with.
    ///
    /// # Errors
    ///
    /// The name of an object that a program lacks.
    pub(super) fn new(
        plan: &PipelinePlan,
        written: &Program,
        run: &Program,
    ) -> Result<InitState, String> {
        let name = &plan.inits.first().ok_or("init")?.table;
        let master = &written.tables[handles::table(written, name)?.index()];
        let action = master.actions[master.default_action.action as usize].action;
        let names = &written.actions[action.index()].parameters;
        let (mut tables, mut selectors) = (Vec::new(), Vec::new());
        for init in &plan.inits {
            let action = handles::action(run, &init.action)?;
            let mut parameters = Vec::new();
            for (at, parameter) in run.actions[action.index()].parameters.iter().enumerate() {
                let own = names.iter().position(|name| name.name == parameter.name);
                let is = init.parameters.get(at).map(|(is, _)| is);
                if let (Some(InitParameter::Selector(field)), Some(own)) = (is, own) {
                    selectors.push((*field, own));
                }
                parameters.push(own.map_or(Loaded::Version, Loaded::Written));
            }
            tables.push(RunInit { table: handles::table(run, &init.table)?, action, parameters });
        }
        let mut state = InitState {
            gress: plan.gress,
            tables,
            words: master.default_action.arguments.clone(),
            selectors,
            version: 0,
            has_prepared: false,
            has_changed: false,
            recent: Vec::new(),
        };
        state.note_alternatives();
        Ok(state)
    }

    /// The arguments of an init action of the program as run.
    pub(super) fn action(&self, number: usize) -> BoundAction {
        let table = &self.tables[number];
        let arguments = table.parameters.iter().map(|loaded| match loaded {
            Loaded::Written(at) => self.words[*at].clone(),
            Loaded::Version => Bits::from_u64(1, self.version),
        });
        BoundAction { action: table.action, arguments: arguments.collect() }
    }

    /// Records the alternatives of a commit.
    pub(super) fn note_alternatives(&mut self) {
        let is_latest = |chosen: &Vec<(usize, usize)>| {
            let mut known = chosen.iter().zip(&self.selectors);
            known.all(|((_, at), (_, own))| self.words[*own].low_u64() == *at as u64)
        };
        if self.recent.first().is_some_and(is_latest) {
            return;
        }
        let selectors = self.selectors.iter();
        let chosen: Vec<(usize, usize)> =
            selectors.map(|(field, own)| (*field, self.words[*own].low_u64() as usize)).collect();
        self.recent.retain(|other| *other != chosen);
        self.recent.insert(0, chosen);
        self.recent.truncate(MAX_RECENT);
    }

    /// The place of a row of a table without versions in the order of writes. Packets that loaded later alternatives come
    /// to the table later, so their rows are written first.
    pub(super) fn rank(&self, row: &Row) -> usize {
        let is_loaded = |chosen: &Vec<(usize, usize)>| {
            row.choice.iter().all(|(field, alternative)| {
                chosen.iter().all(|(other, loaded)| other != field || loaded == alternative)
            })
        };
        self.recent.iter().position(is_loaded).unwrap_or(usize::MAX)
    }

    /// The entry of an init table behind the master.
    pub(super) fn entry(&self, number: usize, version: u64) -> NewEntry {
        let keys = vec![KeyPattern::Exact(Bits::from_u64(1, version))];
        NewEntry::direct(keys, 0, self.action(number))
    }
}
