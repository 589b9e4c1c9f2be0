// SPDX-License-Identifier: Apache-2.0
//! Tables as compiled code: packing keys, and running the action of the record that a key leads to
//! inline. A record is a value here: its address, or where records are packed the record itself. How it leads there is in `lookup`; tables whose entries are constant are in `compared`.

use super::facts::table_actions;
use super::function::FunctionCompiler;
use super::path::{Applied, Way};
use super::values::Val;
use crate::runtime::tables as runtime;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::{Switch, Variable};
use ir::{Bits, MatchKind, Operand, Operation, Program, TableId, Temp, ValueType};
use state::forwarding::index::KeyLayout;
use state::forwarding::{INDIRECT_ACTION, PackedBits, RecordLayout};

mod compared;
mod direct_table;
mod lookup;

use lookup::{Found, Search};

/// Up to so many actions are told apart by comparing, more by a jump table.
const MOST_COMPARED_ACTIONS: usize = 3;

/// The keys of an application, those that are matched and those that choose.
#[derive(Default)]
pub(crate) struct Keys {
    pub matched: Vec<(ValueType, Val)>,
    pub selector: Vec<(ValueType, Val)>,
    /// Where the burst's packets have what was found ahead for these keys.
    pub found_ahead: Option<usize>,
}

/// Where the results of an application go: temporaries, and until it is clear which of them are known,
/// variables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Results {
    hit: Temp,
    action: Temp,
    is_used: (bool, bool),
    hit_variable: Variable,
    action_variable: Variable,
}

/// A way that goes on behind the application of a table.
#[derive(Debug)]
pub(crate) struct Split {
    /// The way.
    pub way: Way,
    /// What is defined there.
    pub results: Results,
}

/// A record at run time: the one to run, and its action's index.
#[derive(Clone, Copy)]
struct Running {
    record: Value,
    action: Value,
    /// Whether the index may be none of the table's.
    may_be_none: bool,
    /// Whether it surely is an entry's, not the default action's.
    is_entry: bool,
}

impl Running {
    /// A record with an action of the table.
    fn new(record: Value, action: Value) -> Running {
        Running { record, action, may_be_none: false, is_entry: false }
    }
}

/// Everything that a table's actions do.
fn action_operations(program: &Program, table: TableId) -> impl Iterator<Item = &Operation> {
    table_actions(program, table)
        .map(|action| &program.regions[program.actions[action.index()].region.index()])
        .flat_map(|region| &region.blocks)
        .flat_map(|block| &block.instructions)
        .map(|instruction| &instruction.operation)
}

impl FunctionCompiler<'_, '_> {
    /// `Operation::Apply`
    pub fn apply(&mut self, table: TableId, keys: &[Operand], hit: Temp, action: Temp) {
        let declared = &self.program.tables[table.index()];
        let outer_entry = self.entry.take();
        let results = self.results(hit, action);
        self.tells_apart = (false, false);
        if declared.keys.is_empty() {
            self.apply_default(table, results);
        } else {
            let found_ahead = match self.is_looked_up(table) {
                true => self.note_lookup(table, keys),
                false => None,
            };
            let keys = self.table_keys(table, keys, found_ahead);
            match compared::entries(self.program, table) {
                Some(entries) => {
                    self.apply_compared(table, &keys, &entries, results);
                }
                None => self.apply_looked_up(table, &keys, results),
            }
        }
        self.entry = outer_entry;
    }

    /// Whether entries of the table are searched for in memory.
    pub fn is_looked_up(&self, table: TableId) -> bool {
        !self.program.tables[table.index()].keys.is_empty()
            && compared::entries(self.program, table).is_none()
    }

    /// Fetches what a lookup of these keys reads first into the cache, where the table is large, and goes on
    /// as if an entry without an effect were found: later tables' keys are often known by now.
    pub fn prefetch_apply(&mut self, table: TableId, keys: &[Operand], hit: Temp, action: Temp) {
        let one = self.number(1);
        self.define(hit, Val::Word(one));
        let first = self.number(0);
        self.define(action, Val::Word(first));
        if self.is_looked_up(table) {
            let is_large = self.is_large(table);
            let joined = self.when(is_large);
            let keys = self.table_keys(table, keys, None);
            self.fetch(table, &keys);
            self.go_on(joined);
        }
    }

    /// The keys of an application. Those that something was found for ahead are not wanted.
    fn table_keys(&mut self, table: TableId, keys: &[Operand], found_ahead: Option<usize>) -> Keys {
        let mut sorted = Keys { found_ahead, ..Keys::default() };
        let declared = &self.program.tables[table.index()].keys;
        for (key, operand) in declared.iter().zip(keys) {
            let values = match (&key.match_kind, found_ahead) {
                (MatchKind::Selector, _) => &mut sorted.selector,
                (_, None) => &mut sorted.matched,
                (_, Some(_)) => continue,
            };
            values.push((self.operand_type(operand), self.operand(operand)));
        }
        sorted
    }

    /// The words of the matched keys as the table's index has them.
    fn packed_key(&mut self, layout: &KeyLayout, keys: &[(ValueType, Val)]) -> Vec<Value> {
        let mut packed: Vec<Option<Value>> = vec![None; layout.words()];
        for (field, (ty, value)) in layout.fields.iter().zip(keys) {
            if field.width_bits == 0 {
                continue;
            }
            let words = self.values().words(ty.width_bits(), *value);
            for (at, word) in words.into_iter().enumerate() {
                let first = field.word + at;
                if field.shift == 0 {
                    self.combine(&mut packed[first], word);
                    continue;
                }
                let low = self.builder.ins().ishl_imm_u(word, i64::from(field.shift));
                self.combine(&mut packed[first], low);
                let left_bits = (field.width_bits - 64 * at as u32).min(64);
                if field.shift + left_bits > 64 {
                    let high = self.builder.ins().ushr_imm_u(word, i64::from(64 - field.shift));
                    self.combine(&mut packed[first + 1], high);
                }
            }
        }
        packed
            .into_iter()
            .map(|word| match word {
                Some(word) => word,
                None => self.number(0),
            })
            .collect()
    }

    fn combine(&mut self, into: &mut Option<Value>, word: Value) {
        *into = Some(match *into {
            None => word,
            Some(before) => self.builder.ins().bor(before, word),
        });
    }

    /// Address and number of the words of a key, as the runtime takes it.
    fn key_in_memory(&mut self, words: &[Value]) -> [Value; 2] {
        let address = self.scratch.allocate(&mut self.builder, words.len() as u32);
        for (at, word) in words.iter().enumerate() {
            self.store_word(*word, address, at as i32 * 8);
        }
        [address, self.number(words.len() as u64)]
    }

    /// The index of the action in a record.
    fn action_of(&mut self, table: TableId, record: Value) -> Value {
        match RecordLayout::new(self.program, table).packed {
            Some(packed) => self.packed_bits(record, packed.action),
            None => self.builder.ins().uload32(MemFlagsData::trusted(), record, 0),
        }
    }

    fn packed_bits(&mut self, record: Value, bits: PackedBits) -> Value {
        if bits.width_bits == 0 {
            return self.number(0);
        }
        let shifted = match bits.shift {
            0 => record,
            shift => self.builder.ins().ushr_imm_u(record, i64::from(shift)),
        };
        self.builder.ins().band_imm_u(shifted, (1 << bits.width_bits) - 1)
    }

    fn apply_looked_up(&mut self, table: TableId, keys: &Keys, results: Results) {
        let declared = &self.program.tables[table.index()];
        let found = self.find(table, keys);
        if self.may_split && self.copies.allowed(self.step) > 1 && declared.implementation.is_none()
        {
            return self.apply_hit_or_miss(found, results);
        }
        let Found { record, is_hit } = self.record_of(found);
        self.entry = Some((record, table));
        if declared.idle_timeout || !self.program.automatic_counters(table).is_empty() {
            let joined = self.when(is_hit);
            self.note_entry(table);
            self.go_on(joined);
        }

        let index = self.action_of(table, record);
        let mut running = Running::new(record, index);
        if declared.implementation.is_some() {
            running = self.resolved(table, running, &keys.selector);
        }
        self.builder.def_var(results.hit_variable, is_hit);
        self.builder.def_var(results.action_variable, running.action);
        let ways = self.run_record(table, running);
        self.go_on_after(ways, results);
    }

    /// What happens by itself when an entry is hit.
    fn note_entry(&mut self, table: TableId) {
        if self.program.tables[table.index()].idle_timeout {
            self.note_hit(table);
        }
        for counter in self.program.automatic_counters(table) {
            self.count_direct(counter);
        }
    }

    /// Runs the action of a hit or of a miss in code of its own each.
    fn apply_hit_or_miss(&mut self, found: Search, results: Results) {
        let Search { table, hit, leaf, miss } = found;
        let declared = &self.program.tables[table.index()];
        let before = self.path.clone();

        self.enter(Way { block: hit, path: before.clone() });
        self.note_result(results, true);
        let record = self.record_of_leaf(table, leaf);
        self.entry = Some((record, table));
        self.note_entry(table);
        let action = self.action_of(table, record);
        self.builder.def_var(results.action_variable, action);
        let running = Running { is_entry: true, ..Running::new(record, action) };
        let mut ways = self.run_record(table, running);

        self.enter(Way { block: miss, path: before });
        self.note_result(results, false);
        if declared.const_default_action {
            self.entry = None;
            let call = &declared.default_action;
            let values = self.constant_arguments(table, call.action as usize, &call.arguments);
            let index = self.number(u64::from(call.action));
            self.builder.def_var(results.action_variable, index);
            self.path.applied.action = Some(u64::from(call.action));
            ways.extend(self.run_action(table, call.action as usize, &values));
        } else {
            let record = self.default_record(table);
            self.entry = Some((record, table));
            let action = self.action_of(table, record);
            self.builder.def_var(results.action_variable, action);
            ways.extend(self.run_record(table, Running::new(record, action)));
        }
        self.go_on_after(ways, results);
    }

    fn note_result(&mut self, results: Results, is_hit: bool) {
        let number = self.number(u64::from(is_hit));
        self.builder.def_var(results.hit_variable, number);
        self.path.applied.hit = Some(u64::from(is_hit));
    }

    /// Where the results of an application go.
    fn results(&mut self, hit: Temp, action: Temp) -> Results {
        Results {
            hit,
            action,
            is_used: self.tells_apart,
            hit_variable: self.builder.declare_var(types::I64),
            action_variable: self.builder.declare_var(types::I64),
        }
    }

    /// Defines what an application found out, as it is known on the way here.
    pub fn define_results(&mut self, results: Results) {
        let Applied { hit, action } = std::mem::take(&mut self.path.applied);
        for (temp, known, is_used, variable) in [
            (results.hit, hit, results.is_used.0, results.hit_variable),
            (results.action, action, results.is_used.1, results.action_variable),
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

    /// Goes on after the application of a table; ways that stay apart wait.
    fn go_on_after(&mut self, ways: Vec<Way>, results: Results) {
        self.tells_apart = results.is_used;
        let mut groups = self.grouped(ways);
        self.tells_apart = (false, false);
        let first = groups.pop();
        self.splits.extend(groups.into_iter().map(|way| Split { way, results }));
        self.go_on_with(first.into_iter().collect());
        self.define_results(results);
    }

    /// The record that an entry runs: the entry's own, or of an indirect one what the runtime says.
    fn resolved(
        &mut self,
        table: TableId,
        entry: Running,
        selector: &[(ValueType, Val)],
    ) -> Running {
        let asking = self.builder.create_block();
        let joined = self.builder.create_block();
        let record = self.builder.append_block_param(joined, types::I64);
        let is_indirect = self.compare(IntCC::Equal, entry.action, u64::from(INDIRECT_ACTION));
        let own = [entry.record.into()];
        self.builder.ins().brif(is_indirect, asking, &[], joined, &own);
        self.builder.seal_block(asking);
        self.builder.switch_to_block(asking);
        let words = self.words_buffer(selector);
        let surroundings = self.surroundings();
        let number = self.number(u64::from(table.0));
        let arguments = [surroundings, number, entry.record, words];
        let found = self.call_for_word(runtime::resolve(), &arguments);
        self.builder.ins().jump(joined, &[found.into()]);
        self.builder.seal_block(joined);
        self.builder.switch_to_block(joined);
        let action = self.action_of(table, record);
        Running { may_be_none: true, ..Running::new(record, action) }
    }

    /// A table without keys: it is never hit.
    fn apply_default(&mut self, table: TableId, results: Results) {
        let declared = &self.program.tables[table.index()];
        self.note_result(results, false);
        let ways = if declared.const_default_action {
            let call = &declared.default_action;
            let values = self.constant_arguments(table, call.action as usize, &call.arguments);
            let index = self.number(u64::from(call.action));
            self.builder.def_var(results.action_variable, index);
            self.path.applied.action = Some(u64::from(call.action));
            self.run_action(table, call.action as usize, &values)
        } else {
            let record = self.default_record(table);
            self.entry = Some((record, table));
            let action = self.action_of(table, record);
            self.builder.def_var(results.action_variable, action);
            self.run_record(table, Running::new(record, action))
        };
        self.go_on_after(ways, results);
    }

    /// Runs the action of a record with the record's arguments. The ways on which code goes on.
    fn run_record(&mut self, table: TableId, running: Running) -> Vec<Way> {
        let count = self.program.tables[table.index()].actions.len();
        let none = self.builder.create_block();
        let arms: Vec<Block> = (0..count).map(|_| self.builder.create_block()).collect();
        self.dispatch(running, &arms, none);
        self.builder.seal_block(none);
        let before = self.path.clone();
        let mut ways = Vec::new();
        if running.may_be_none || count == 0 {
            ways.push(Way { block: none, path: before.clone() });
        }
        for (index, arm) in arms.into_iter().enumerate() {
            self.builder.seal_block(arm);
            self.enter(Way { block: arm, path: before.clone() });
            self.path.applied.action = Some(index as u64);
            let values = self.record_arguments(table, index, running);
            ways.extend(self.run_action(table, index, &values));
        }
        ways
    }

    /// Goes on where several ways meet.
    fn go_on_with(&mut self, ways: Vec<Way>) {
        match self.joined(ways) {
            Some(way) => self.enter(way),
            None => self.begin_dead(),
        }
    }

    /// Jumps to the arm of the record's action.
    fn dispatch(&mut self, running: Running, arms: &[Block], none: Block) {
        // Without members every record has an action of the table, so the last one needs no test.
        let (tested, last) = match arms.split_last() {
            Some((last, others)) if !running.may_be_none => (others, *last),
            _ => (arms, none),
        };
        if tested.len() < MOST_COMPARED_ACTIONS {
            for (index, arm) in tested.iter().enumerate() {
                let is_it = self.compare(IntCC::Equal, running.action, index as u64);
                let next = self.builder.create_block();
                self.builder.ins().brif(is_it, *arm, &[], next, &[]);
                self.builder.seal_block(next);
                self.builder.switch_to_block(next);
            }
            self.builder.ins().jump(last, &[]);
            return;
        }
        let mut switch = Switch::new();
        for (index, arm) in tested.iter().enumerate() {
            switch.set_entry(index as u128, *arm);
        }
        let index = self.builder.ins().ireduce(types::I32, running.action);
        switch.emit(&mut self.builder, index, last);
    }

    /// Stores arguments and runs an action of the table. The ways on which code goes on.
    fn run_action(&mut self, table: TableId, index: usize, arguments: &[Val]) -> Vec<Way> {
        let program = self.program;
        let action = program.tables[table.index()].actions[index].action;
        let action = &program.actions[action.index()];
        for (parameter, value) in action.parameters.iter().zip(arguments) {
            self.store_slot(parameter.slot, *value);
        }
        self.action_region(action.region)
    }

    /// Types of the arguments of an action of the table.
    fn argument_types(&self, table: TableId, index: usize) -> Vec<ValueType> {
        let action = self.program.tables[table.index()].actions[index].action;
        let parameters = &self.program.actions[action.index()].parameters;
        parameters.iter().map(|it| self.program.slots[it.slot.index()].ty).collect()
    }

    /// Arguments that stand in a record. Records do not change while packets see them.
    fn record_arguments(&mut self, table: TableId, index: usize, running: Running) -> Vec<Val> {
        let Running { record, is_entry, .. } = running;
        let layout = RecordLayout::new(self.program, table);
        let types = self.argument_types(table, index);
        let mut values = Vec::with_capacity(types.len());
        for (parameter, ty) in types.into_iter().enumerate() {
            if let Some(packed) = &layout.packed {
                let bits = packed.argument(index, parameter);
                // The default action's has something above.
                let is_alone = is_entry && packed.is_topmost(index, parameter);
                let argument = match is_alone && bits.width_bits > 0 {
                    true => self.builder.ins().ushr_imm_u(record, i64::from(bits.shift)),
                    false => self.packed_bits(record, bits),
                };
                values.push(Val::Word(argument));
                continue;
            }
            let offset_bytes = layout.argument_word(index, parameter) as i32 * 8;
            values.push(match ty {
                ValueType::Bits(0..=64) => Val::Word(self.load_word(record, offset_bytes)),
                ValueType::Bits(65..=128) => {
                    let low = self.load_word(record, offset_bytes);
                    Val::Pair(low, self.load_word(record, offset_bytes + 8))
                }
                ValueType::Bits(_) => {
                    Val::Memory(self.builder.ins().iadd_imm_s(record, i64::from(offset_bytes)))
                }
                ValueType::Varbit(width_bits) => Val::Varbit {
                    length_bits: self.number(u64::from(width_bits)),
                    words: self.builder.ins().iadd_imm_s(record, i64::from(offset_bytes)),
                },
            });
        }
        values
    }

    /// Arguments that the program gives.
    fn constant_arguments(&mut self, table: TableId, index: usize, given: &[Bits]) -> Vec<Val> {
        let types = self.argument_types(table, index);
        let mut values = Vec::with_capacity(types.len());
        for (ty, bits) in types.into_iter().zip(given) {
            let constant = self.values().constant(bits);
            let found = ValueType::Bits(bits.width_bits());
            values.push(self.values().as_type(ty, found, constant));
        }
        values
    }
}
