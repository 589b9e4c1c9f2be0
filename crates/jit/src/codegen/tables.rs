// SPDX-License-Identifier: Apache-2.0
//! `Operation::Apply`: the application of a table as a sequence of arms, one for each action that can run. The
//! caller emits each arm's action; `lookup` and `compared` choose the arm at run time.

use super::function::FunctionCompiler;
use super::path::{ApplyFacts, ApplyResults, Path, PathFacts, SplitPath, UsedResults};
use super::values::{Val, part_count, value_of_parts};
use cranelift_codegen::ir::Value;
use cranelift_codegen::ir::{Block, types};
use ir::{Operand, RegionId, TableId, Temp};

mod buckets;
mod compared;
mod direct_table;
mod keys;
mod lookup;
mod records;
mod search;

use keys::Keys;
use lookup::Found;
use records::Running;
use search::Search;

/// The application of a table under construction.
pub(crate) struct Application {
    table: TableId,
    results: ApplyResults,
    /// The entry of the application around this one.
    outer_entry: Option<(Value, TableId)>,
    /// Arms that are not emitted yet.
    arms: std::vec::IntoIter<Arm>,
    /// Facts where these arms begin.
    before: PathFacts,
    /// The path of a miss, when its arms come after those of a hit.
    miss: Option<(Block, PathFacts)>,
    /// Paths that continue after the actions, for [`FunctionCompiler::end_apply`].
    pub paths: Vec<Path>,
}

/// The code of one action of the table.
struct Arm {
    /// Its first block; `None` is the current block.
    block: Option<Block>,
    /// Index of the action in the table.
    action: usize,
    arguments: Arguments,
}

/// The source of an action's arguments.
enum Arguments {
    /// Fields of a record.
    Record(Running),
    /// Constants of the program.
    Constant(Vec<Val>),
    /// Parameters of the arm's block, after the one that says whether the table was hit.
    Parameters,
}

impl FunctionCompiler<'_, '_> {
    /// Begins the application of a table. [`Self::next_arm`] then returns each action that can run.
    pub fn begin_apply(
        &mut self,
        table: TableId,
        keys: &[Operand],
        hit: Temp,
        action: Temp,
    ) -> Application {
        let declared = &self.program.tables[table.index()];
        let outer_entry = self.entry.take();
        let results = self.results(hit, action);
        self.used_results = UsedResults::default();
        let mut application = Application {
            table,
            results,
            outer_entry,
            arms: Vec::new().into_iter(),
            before: self.path.clone(),
            miss: None,
            paths: Vec::new(),
        };
        if declared.keys.is_empty() {
            self.default_arms(&mut application);
            return application;
        }
        let batch_index = match self.is_looked_up(table) {
            true => self.record_lookup(table, keys),
            false => None,
        };
        let keys = self.table_keys(table, keys, batch_index);
        match compared::entries(self.program, table) {
            Some(entries) => {
                let blocks = self.compare_entries(table, &keys, &entries);
                let arm = |(action, block): (usize, Option<Block>)| {
                    Some(Arm { block: Some(block?), action, arguments: Arguments::Parameters })
                };
                let arms: Vec<Arm> = blocks.into_iter().enumerate().filter_map(arm).collect();
                application.before = self.path.clone();
                application.arms = arms.into_iter();
            }
            None => self.look_up(&mut application, &keys),
        }
        application
    }

    /// Begins the next arm and stores its arguments. Returns the action's region, or `None` after the last arm.
    pub fn next_arm(&mut self, application: &mut Application) -> Option<RegionId> {
        if let Some(arm) = application.arms.next() {
            return Some(self.begin_arm(application, arm));
        }
        let (block, path) = application.miss.take()?;
        self.enter(Path { block, facts: path });
        self.default_arms(application);
        self.next_arm(application)
    }

    /// Continues after the application, on the paths that leave its arms.
    pub fn end_apply(&mut self, application: Application) {
        self.continue_after(application.paths, application.results);
        self.entry = application.outer_entry;
    }

    fn begin_arm(&mut self, application: &Application, arm: Arm) -> RegionId {
        let Application { table, results, .. } = *application;
        let Arm { block, action: index, arguments } = arm;
        if let Some(block) = block {
            self.builder.seal_block(block);
            self.enter(Path { block, facts: application.before.clone() });
        }
        let values = match arguments {
            Arguments::Constant(values) => values,
            Arguments::Record(running) => self.record_arguments(table, index, running),
            Arguments::Parameters => self.parameters_of_arm(table, index, results),
        };
        self.path.applied.action = Some(index as u64);
        let program = self.program;
        let action = program.tables[table.index()].actions[index].action;
        let action = &program.actions[action.index()];
        for (parameter, value) in action.parameters.iter().zip(values) {
            self.store_slot(parameter.slot, value);
        }
        action.region
    }

    /// Defines the hit and action of an arm whose block has parameters. Returns its arguments.
    fn parameters_of_arm(
        &mut self,
        table: TableId,
        index: usize,
        results: ApplyResults,
    ) -> Vec<Val> {
        let block = self.builder.current_block();
        let parameters =
            block.map_or(Vec::new(), |block| self.builder.block_params(block).to_vec());
        self.builder.def_var(results.hit_variable, parameters[0]);
        let number = self.number(index as u64);
        self.builder.def_var(results.action_variable, number);
        let mut rest = &parameters[1..];
        let mut values = Vec::new();
        for ty in self.argument_types(table, index) {
            let (parts, others) = rest.split_at(part_count(ty));
            values.push(value_of_parts(ty, parts));
            rest = others;
        }
        values
    }

    /// Whether applications of the table search its entries in memory.
    pub fn is_looked_up(&self, table: TableId) -> bool {
        !self.program.tables[table.index()].keys.is_empty()
            && compared::entries(self.program, table).is_none()
    }

    /// Prefetches what a lookup of these keys reads first, if the table is large, and continues as if an entry
    /// without effect was hit: keys of later tables are often known by now.
    pub fn prefetch_apply(&mut self, table: TableId, keys: &[Operand], hit: Temp, action: Temp) {
        let one = self.number(1);
        self.define(hit, Val::Word(one));
        let first = self.number(0);
        self.define(action, Val::Word(first));
        if self.is_looked_up(table) {
            let is_large = self.is_large(table);
            let joined = self.begin_if(is_large);
            let keys = self.table_keys(table, keys, None);
            self.prefetch_lookup(table, &keys);
            self.end_if(joined);
        }
    }

    fn look_up(&mut self, application: &mut Application, keys: &Keys) {
        let Application { table, results, .. } = *application;
        let declared = &self.program.tables[table.index()];
        let found = self.find(table, keys);
        if self.may_duplicate
            && self.budget.allowed(self.step) > 1
            && declared.implementation.is_none()
        {
            return self.separate_hit_and_miss(application, found);
        }
        let Found { record, is_hit } = self.record_of(found);
        self.entry = Some((record, table));
        if declared.idle_timeout || !self.program.automatic_counters(table).is_empty() {
            let joined = self.begin_if(is_hit);
            self.note_entry(table);
            self.end_if(joined);
        }

        let index = self.action_of(table, record);
        let mut running = Running::new(record, index);
        if declared.implementation.is_some() {
            running = self.resolved(table, running, &keys.selector);
        }
        self.builder.def_var(results.hit_variable, is_hit);
        self.builder.def_var(results.action_variable, running.action);
        self.record_arms(application, running);
    }

    /// Counts a hit of an entry: its time and its automatic counters.
    fn note_entry(&mut self, table: TableId) {
        if self.program.tables[table.index()].idle_timeout {
            self.note_hit(table);
        }
        for counter in self.program.automatic_counters(table) {
            self.count_direct(counter);
        }
    }

    /// Emits the arms of a hit; those of a miss follow in separate code.
    fn separate_hit_and_miss(&mut self, application: &mut Application, found: Search) {
        let Application { table, results, .. } = *application;
        let Search { hit, leaf, miss, .. } = found;
        let before = self.path.clone();
        application.miss = Some((miss, before.clone()));
        self.enter(Path { block: hit, facts: before });
        self.note_result(results, true);
        let record = self.record_of_leaf(table, leaf);
        self.entry = Some((record, table));
        self.note_entry(table);
        let action = self.action_of(table, record);
        self.builder.def_var(results.action_variable, action);
        let running = Running { is_entry: true, ..Running::new(record, action) };
        self.record_arms(application, running);
    }

    /// The arms of a miss: the constant default action, or all actions of the table when the control plane can
    /// set the default action.
    fn default_arms(&mut self, application: &mut Application) {
        let Application { table, results, .. } = *application;
        let declared = &self.program.tables[table.index()];
        self.note_result(results, false);
        if declared.const_default_action {
            self.entry = None;
            let call = &declared.default_action;
            let index = call.action as usize;
            let values = self.constant_arguments(table, index, &call.arguments);
            let number = self.number(u64::from(call.action));
            self.builder.def_var(results.action_variable, number);
            let arguments = Arguments::Constant(values);
            let arm = Arm { block: None, action: index, arguments };
            application.arms = vec![arm].into_iter();
        } else {
            let record = self.default_record(table);
            self.entry = Some((record, table));
            let action = self.action_of(table, record);
            self.builder.def_var(results.action_variable, action);
            self.record_arms(application, Running::new(record, action));
        }
    }

    /// The arms of a record: one for each action of the table, with the record's arguments.
    fn record_arms(&mut self, application: &mut Application, running: Running) {
        let count = self.program.tables[application.table.index()].actions.len();
        let none = self.builder.create_block();
        let blocks: Vec<Block> = (0..count).map(|_| self.builder.create_block()).collect();
        self.dispatch(running, &blocks, none);
        self.builder.seal_block(none);
        application.before = self.path.clone();
        if running.may_be_none || count == 0 {
            application.paths.push(Path { block: none, facts: self.path.clone() });
        }
        let arm = |(action, block): (usize, Block)| Arm {
            block: Some(block),
            action,
            arguments: Arguments::Record(running),
        };
        let arms: Vec<Arm> = blocks.into_iter().enumerate().map(arm).collect();
        application.arms = arms.into_iter();
    }

    fn note_result(&mut self, results: ApplyResults, is_hit: bool) {
        let number = self.number(u64::from(is_hit));
        self.builder.def_var(results.hit_variable, number);
        self.path.applied.hit = Some(u64::from(is_hit));
    }

    /// Declares the results of an application.
    fn results(&mut self, hit: Temp, action: Temp) -> ApplyResults {
        ApplyResults {
            hit,
            action,
            used: self.used_results,
            hit_variable: self.builder.declare_var(types::I64),
            action_variable: self.builder.declare_var(types::I64),
        }
    }

    /// Defines the results of an application on this path.
    pub fn define_results(&mut self, results: ApplyResults) {
        let ApplyFacts { hit, action } = std::mem::take(&mut self.path.applied);
        for (temp, known, is_used, variable) in [
            (results.hit, hit, results.used.hit, results.hit_variable),
            (results.action, action, results.used.action, results.action_variable),
        ] {
            if is_used {
                let value = match known {
                    Some(number) => self.number(number),
                    None => self.builder.use_var(variable),
                };
                self.define(temp, Val::Word(value));
            }
        }
    }

    /// Continues after the application of a table; paths that are not merged become pending.
    fn continue_after(&mut self, paths: Vec<Path>, results: ApplyResults) {
        self.used_results = results.used;
        let mut groups = self.merged_by_layout(paths);
        self.used_results = UsedResults::default();
        let first = groups.pop();
        self.split_paths.extend(groups.into_iter().map(|path| SplitPath { path, results }));
        self.continue_merged(first.into_iter().collect());
        self.define_results(results);
    }
}
