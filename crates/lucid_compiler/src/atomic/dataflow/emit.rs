// SPDX-License-Identifier: Apache-2.0
//! From values and effects back to statements: which variable a value lives in, where it is written,
//! under which guard.

use super::super::branches::{MAX_RULES, new_bit, within};
use super::super::formula::Formula;
use super::super::memory;
use super::super::program::{
    AtomicProgram, HandlerId, Hash, Index, MemoryAccess, Operand, Operation, Statement,
    StatementId, Variable, VariableKind,
};
use super::super::rules::{Rule, rules};
use super::super::translate::same_test;
use super::super::tree::AtomicGraph;
use super::values::{Value, ValueId, Values};
use super::walk::{Effect, EffectKind, Walked};
use lucid::core::Program;
use pisa::{Gress, Guard, VariableId};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Appends a handler's statements.
pub(super) fn emit(
    core: &Program,
    graph: &AtomicGraph,
    program: AtomicProgram,
    handler: HandlerId,
    walked: Walked,
) -> AtomicProgram {
    let event = graph.program.statements.iter().find(|it| it.handler == Some(handler));
    let Some(event) = event.map(|statement| (statement.guard.clone(), statement.gress)) else {
        return program;
    };
    let mut emitter = Emitter {
        core,
        graph,
        program,
        handler,
        event: event.0,
        gress: event.1,
        values: walked.values,
        effects: walked.effects,
        origins: walked.origins,
        homes: HashMap::new(),
        written: HashSet::new(),
        result_homes: HashMap::new(),
        results: HashMap::new(),
        inlined: HashSet::new(),
        only_users: HashMap::new(),
        ready: HashMap::new(),
        done: HashSet::new(),
        at: StatementId(0),
    };
    emitter.find_homes(&walked.fields);
    for effect in 0..emitter.effects.len() {
        emitter.effect(effect as u32);
    }
    for (field, (value, statement)) in walked.fields {
        emitter.at = statement;
        emitter.field(field, value);
    }
    emitter.program
}

pub(super) struct Emitter<'a> {
    core: &'a Program,
    graph: &'a AtomicGraph,
    program: AtomicProgram,
    handler: HandlerId,
    event: Guard,
    gress: Gress,
    pub(super) values: Values,
    pub(super) effects: Vec<Effect>,
    origins: HashMap<ValueId, (VariableId, StatementId)>,
    /// The variable a value lives in.
    homes: HashMap<ValueId, VariableId>,
    /// Values whose variables are written.
    written: HashSet<ValueId>,
    /// Results that live in the variable of the choice that is their only use.
    result_homes: HashMap<ValueId, ValueId>,
    /// Results that something uses, by effect and position.
    results: HashMap<(u32, u32), ValueId>,
    /// The value that is the only use of a value.
    pub(super) only_users: HashMap<ValueId, ValueId>,
    /// Stages after which values are there, as far as is known.
    pub(super) ready: HashMap<ValueId, u32>,
    /// Choices that are part of the only choice that uses them.
    inlined: HashSet<ValueId>,
    /// Effects that are there.
    done: HashSet<u32>,
    /// The statement of the source at hand.
    at: StatementId,
}

/// What uses a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum User {
    Value(ValueId),
    Test,
    Effect(u32),
    Field(VariableId),
}

impl Emitter<'_> {
    // Where values live.

    fn find_homes(&mut self, fields: &BTreeMap<VariableId, (ValueId, StatementId)>) {
        for (field, (value, _)) in fields {
            let is_new = !matches!(
                self.values.node(*value).value,
                Value::Constant(_) | Value::Input(_) | Value::Undefined | Value::Extend(_)
            );
            let width = self.program.variable(*field).width_bits;
            if is_new && self.values.width(*value) == width {
                self.homes.entry(*value).or_insert(*field);
            }
        }
        let users = self.users(fields);
        let only_user = |value: ValueId| {
            let mut users = users.get(&value)?.iter();
            match (users.next(), users.next()) {
                (Some(User::Value(user)), None) => Some(*user),
                _ => None,
            }
        };
        for value in users.keys() {
            if let Some(user) = only_user(*value) {
                self.only_users.insert(*value, user);
            }
            let is_choice = |id| matches!(self.values.node(id).value, Value::Choice(_));
            match self.values.node(*value).value {
                Value::Result(effect, at) => {
                    self.results.insert((effect, at), *value);
                }
                Value::Choice(_) if only_user(*value).is_some_and(is_choice) => {
                    self.inlined.insert(*value);
                }
                _ => {}
            }
        }
        let mut choices: Vec<ValueId> = users.keys().copied().collect();
        choices.sort();
        for choice in choices {
            if self.inlined.contains(&choice) {
                continue;
            }
            for (formula, leaf) in self.leaves(choice) {
                let Value::Result(effect, _) = self.values.node(leaf).value else { continue };
                let path = self.effects[effect as usize].path;
                let is_only = only_user(leaf)
                    .is_some_and(|user| user == choice || self.inlined.contains(&user));
                if is_only && self.values.formulas.implies(path, formula) {
                    self.result_homes.insert(leaf, choice);
                }
            }
        }
    }

    /// The leaves of a choice, those of choices that only it uses in the place of these. Empty for
    /// other values.
    fn leaves(&mut self, choice: ValueId) -> Vec<(Formula, ValueId)> {
        let Value::Choice(leaves) = self.values.node(choice).value.clone() else {
            return Vec::new();
        };
        let mut found: Vec<(Formula, ValueId)> = Vec::new();
        for (formula, leaf) in leaves {
            let inner = match self.inlined.contains(&leaf) {
                true => self.leaves(leaf),
                false => vec![(Formula::ALWAYS, leaf)],
            };
            for (inside, leaf) in inner {
                let both = self.values.formulas.and(formula, inside);
                match found.iter_mut().find(|(_, known)| *known == leaf) {
                    Some(known) => known.0 = self.values.formulas.or(known.0, both),
                    None => found.push((both, leaf)),
                }
            }
        }
        found
    }

    /// What uses each value, from effects and fields down.
    fn users(
        &self,
        fields: &BTreeMap<VariableId, (ValueId, StatementId)>,
    ) -> HashMap<ValueId, HashSet<User>> {
        let mut users: HashMap<ValueId, HashSet<User>> = HashMap::new();
        let mut open: Vec<(ValueId, User)> = Vec::new();
        for (field, (value, _)) in fields {
            open.push((*value, User::Field(*field)));
        }
        for (at, effect) in self.effects.iter().enumerate() {
            let user = User::Effect(at as u32);
            open.extend(self.values.subjects(effect.path).into_iter().map(|it| (it, User::Test)));
            match &effect.kind {
                EffectKind::Memory { operands, index, .. } => {
                    open.extend(operands.iter().chain([index]).map(|it| (*it, user)));
                }
                EffectKind::Lookup { key, arguments, .. } => {
                    open.extend(key.iter().chain(arguments).map(|it| (*it, user)));
                }
                EffectKind::Random | EffectKind::Generate { .. } => {}
            }
        }
        let mut seen = HashSet::new();
        while let Some((value, user)) = open.pop() {
            users.entry(value).or_default().insert(user);
            if !seen.insert(value) {
                continue;
            }
            let mut tested = HashSet::new();
            if let Value::Choice(leaves) = &self.values.node(value).value {
                for (formula, leaf) in leaves {
                    tested.extend(self.values.subjects(*formula));
                    open.push((*leaf, User::Value(value)));
                }
                open.extend(tested.into_iter().map(|it| (it, User::Test)));
            } else {
                let inner = self.values.operands(value);
                open.extend(inner.into_iter().map(|it| (it, User::Value(value))));
            }
        }
        users
    }

    fn home(&mut self, value: ValueId) -> VariableId {
        if let Some(home) = self.homes.get(&value) {
            return *home;
        }
        let width_bits = self.values.width(value);
        let origin = self.origins.get(&value).copied();
        let (name, span) = match origin {
            Some((variable, _)) => {
                let variable = self.graph.program.variable(variable);
                (Arc::from(last_part(&variable.name)), variable.span)
            }
            None => {
                let statement = &self.graph.program.statements[self.at.0 as usize];
                (Arc::from("t"), statement.span)
            }
        };
        let id = VariableId(self.program.variables.len() as u32);
        let kind = VariableKind::Temporary;
        self.program.variables.push(Variable { name, width_bits, kind, span });
        self.homes.insert(value, id);
        id
    }

    // Statements.

    fn push(&mut self, guard: Guard, operation: Operation) {
        let original = &self.graph.program.statements[self.at.0 as usize];
        self.program.statements.push(Statement {
            handler: Some(self.handler),
            gress: self.gress,
            guard,
            operation,
            crosses: false,
            span: original.span,
            inlined_at: original.inlined_at.clone(),
        });
    }

    /// At the statement that a value comes from.
    fn at<T>(&mut self, value: ValueId, inside: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.at;
        if let Some((_, statement)) = self.origins.get(&value) {
            self.at = *statement;
        }
        let made = inside(self);
        self.at = before;
        made
    }

    /// The value in a variable or as a constant, its statements before this.
    fn need(&mut self, value: ValueId) -> Operand {
        match self.values.node(value).value {
            Value::Constant(constant) => Operand::Constant(constant),
            Value::Undefined => Operand::Constant(0),
            Value::Input(id) => Operand::Variable(id),
            // The reader extends it with zeros.
            Value::Extend(inner) if !self.homes.contains_key(&value) => self.need(inner),
            _ => {
                let home = self.home(value);
                if self.written.insert(value) {
                    stacker::maybe_grow(128 * 1024, 1024 * 1024, || {
                        self.at(value, |emitter| emitter.define(home, value, Formula::ALWAYS));
                    });
                }
                Operand::Variable(home)
            }
        }
    }

    /// As [`Self::need`], for an operand that is cut to this width: low bits need no slice.
    fn need_cut(&mut self, value: ValueId, width_bits: u32) -> Operand {
        match self.values.node(value).value {
            Value::Slice(whole, 0)
                if self.values.width(value) == width_bits && !self.homes.contains_key(&value) =>
            {
                self.need(whole)
            }
            _ => self.need(value),
        }
    }

    fn needs(&mut self, values: &[ValueId]) -> Vec<(Operand, u32)> {
        values.iter().map(|value| (self.need(*value), self.values.width(*value))).collect()
    }

    /// A field of a generated event.
    fn field(&mut self, field: VariableId, value: ValueId) {
        if self.homes.get(&value) == Some(&field) {
            self.need(value);
        } else {
            self.define(field, value, Formula::ALWAYS);
        }
    }

    /// Statements that write `to` where `when` holds.
    fn define(&mut self, to: VariableId, value: ValueId, when: Formula) {
        let operation = match self.values.node(value).value.clone() {
            // Everything starts as zero, and nothing else writes it where this does.
            Value::Undefined | Value::Constant(0) => return,
            Value::Constant(constant) => Operation::Move { to, from: Operand::Constant(constant) },
            Value::Input(id) => Operation::Move { to, from: Operand::Variable(id) },
            // What lives elsewhere is copied where doing it again costs more than an ALU.
            Value::Choice(_) | Value::Hash(..)
                if self.homes.get(&value).is_some_and(|home| *home != to) =>
            {
                let from = self.need(value);
                Operation::Move { to, from }
            }
            Value::Extend(inner) => {
                let from = self.need(inner);
                Operation::Move { to, from }
            }
            Value::Compute(operator, ..) => {
                let (left, right) = self.balanced(value);
                let width_bits = self.values.width(value);
                let left = self.need_cut(left, width_bits);
                let right = self.need_cut(right, width_bits);
                Operation::Compute { to, operator, left, right }
            }
            Value::Slice(from, low) => match self.need(from) {
                Operand::Variable(from) => {
                    let width_bits = self.values.width(value);
                    Operation::Slice { to, from, low, width_bits }
                }
                constant => Operation::Move { to, from: constant },
            },
            Value::Concatenate(left, right) => {
                let sides = self.needs(&[left, right]);
                Operation::Concatenate { to, left: sides[0], right: sides[1] }
            }
            Value::Hash(seed, arguments) => {
                let hash = self.hash(seed, &arguments, self.values.width(value));
                Operation::Hash { to, hash }
            }
            Value::Checksum(arguments) => {
                Operation::Checksum { to, arguments: self.needs(&arguments) }
            }
            Value::Result(effect, _) => {
                if let Some(choice) = self.result_homes.get(&value)
                    && self.homes.get(choice) == Some(&to)
                {
                    return self.effect(effect);
                }
                if self.homes.get(&value) == Some(&to) {
                    return self.effect(effect);
                }
                let from = self.need(value);
                Operation::Move { to, from }
            }
            Value::Choice(_) => {
                let leaves = self.leaves(value);
                for (formula, leaf) in self.settled(leaves) {
                    let inner = self.values.formulas.and(when, formula);
                    self.at(leaf, |emitter| emitter.define(to, leaf, inner));
                }
                return;
            }
        };
        let guard = self.guard(when);
        self.push(guard, operation);
    }

    /// A choice's formulas, with what is undefined given to the leaf whose condition gets simplest.
    fn settled(&mut self, leaves: Vec<(Formula, ValueId)>) -> Vec<(Formula, ValueId)> {
        let mut best: Option<(usize, usize, Formula)> = None;
        for (at, (formula, leaf)) in leaves.iter().enumerate() {
            let mut others = Formula::NEVER;
            for (other, (one, _)) in leaves.iter().enumerate() {
                if other != at {
                    others = self.values.formulas.or(others, *one);
                }
            }
            let rest = self.values.formulas.not(others);
            let before = self.cost(*formula, *leaf);
            let after = self.cost(rest, *leaf);
            let won = before.saturating_sub(after);
            if rest != *formula && best.is_none_or(|(most, ..)| won > most) {
                best = Some((won, at, rest));
            }
        }
        let mut leaves = leaves;
        if let Some((_, at, rest)) = best {
            leaves[at].0 = rest;
        }
        leaves
    }

    /// What testing a formula costs: its rules; nothing for zeros, which need no rule.
    fn cost(&mut self, formula: Formula, leaf: ValueId) -> usize {
        if self.values.as_constant(leaf) == Some(0) {
            return 0;
        }
        self.values.formulas.tests_of(formula).len()
    }

    fn hash(&mut self, seed: u32, arguments: &[ValueId], width_bits: u32) -> Hash {
        Hash { seed, width_bits, arguments: self.needs(arguments) }
    }

    fn effect(&mut self, number: u32) {
        if !self.done.insert(number) {
            return;
        }
        let before = self.at;
        let effect = self.effects[number as usize].clone();
        self.at = effect.statement;
        match effect.kind {
            EffectKind::Random => {
                // Drawn even if it is not used: schedules count draws.
                let to = match self.result(number, 0) {
                    Some(to) => to,
                    None => self.unused_result(effect.statement),
                };
                let guard = self.guard(effect.path);
                self.push(guard, Operation::Random { to });
            }
            EffectKind::Generate { slot, event, payload } => {
                let guard = self.guard(effect.path);
                self.push(guard, Operation::Generate { slot, event, payload });
            }
            EffectKind::Lookup { table, key, arguments, results } => {
                let key = key.iter().map(|part| self.need(*part)).collect();
                let arguments = arguments.iter().map(|part| self.need(*part)).collect();
                let results = (0..results).map(|at| self.result(number, at)).collect();
                let guard = self.guard(effect.path);
                self.push(guard, Operation::Lookup { table, key, arguments, results });
            }
            EffectKind::Memory { array, access, operands, index } => {
                let only_reads = matches!(access, MemoryAccess::Simple { set: None, .. });
                if only_reads && !self.results.contains_key(&(number, 0)) {
                    self.at = before;
                    return;
                }
                let operands: Vec<Operand> =
                    operands.iter().map(|operand| self.need(*operand)).collect();
                let mut operands = operands.into_iter();
                let access = access.map(&mut |old| operands.next().unwrap_or(old));
                let index = match self.values.node(index).value.clone() {
                    Value::Hash(seed, arguments) => {
                        Index::Hash(self.hash(seed, &arguments, self.values.width(index)))
                    }
                    _ => Index::Operand(self.need(index)),
                };
                let result = self.result(number, 0);
                let guard = self.guard(effect.path);
                let actions = &mut self.program.arrays[array.0 as usize].register_actions;
                let register_action =
                    memory::register_action(self.core, actions, access, result.is_some());
                self.push(guard, Operation::Memory { array, register_action, index, result });
            }
        }
        self.at = before;
    }

    /// Where an effect puts a result, if anything uses it.
    fn result(&mut self, effect: u32, at: u32) -> Option<VariableId> {
        let value = *self.results.get(&(effect, at))?;
        if let Some(choice) = self.result_homes.get(&value).copied() {
            return Some(self.home(choice));
        }
        self.written.insert(value);
        Some(self.home(value))
    }

    /// The variable that a statement of the graph writes, for an unused result.
    fn unused_result(&mut self, statement: StatementId) -> VariableId {
        let operation = &self.graph.program.statements[statement.0 as usize].operation;
        let width_bits = (operation.writes().first())
            .map_or(1, |written| self.graph.program.variable(*written).width_bits);
        let id = VariableId(self.program.variables.len() as u32);
        let name = "unused".into();
        let span = self.graph.program.statements[statement.0 as usize].span;
        let kind = VariableKind::Temporary;
        self.program.variables.push(Variable { name, width_bits, kind, span });
        id
    }

    // Guards.

    fn guard(&mut self, when: Formula) -> Guard {
        let mut when = when;
        loop {
            if let Some(found) = rules(&mut self.values.formulas, when, MAX_RULES) {
                return self.named(found);
            }
            when = self.with_part(when);
        }
    }

    fn named(&mut self, found: Vec<Rule>) -> Guard {
        let subjects: BTreeSet<u32> =
            found.iter().flat_map(|(conditions, _)| conditions.keys().copied()).collect();
        let mut names = BTreeMap::new();
        for subject in subjects {
            if let Operand::Variable(id) = self.need(ValueId(subject)) {
                names.insert(subject, id);
            }
        }
        let rules = found.into_iter().map(|(conditions, runs)| {
            let conditions = conditions
                .into_iter()
                .filter_map(|(subject, condition)| Some((*names.get(&subject)?, condition)));
            (conditions.collect(), runs)
        });
        within(&self.event, rules.collect::<Vec<_>>().into_iter())
    }

    /// The formula with one side of its first test in a variable.
    fn with_part(&mut self, when: Formula) -> Formula {
        let Some((test, low, high)) = self.values.formulas.root(when) else { return when };
        let part = if self.values.formulas.root(high).is_some() { high } else { low };
        let span = self.graph.program.statements[self.at.0 as usize].span;
        let bit = new_bit(&mut self.program, span);
        let guard = self.guard(part);
        self.push(guard, Operation::Move { to: bit, from: Operand::Constant(1) });
        let value = self.values.input(bit, 1);
        let named = self.values.formulas.ternary((value.0, 1), 1, 1);
        let (low, high) = if part == high { (low, named) } else { (named, high) };
        let condition = same_test(&mut self.values.formulas, test, test.subject);
        self.values.formulas.choose(condition, high, low)
    }
}

/// The last part of a field's name, without the number that made it unique.
fn last_part(name: &str) -> &str {
    let name = name.split('~').next().unwrap_or(name);
    name.rsplit('.').next().unwrap_or(name)
}
