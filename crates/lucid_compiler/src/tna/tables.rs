// SPDX-License-Identifier: Apache-2.0
//! Tables of a layout as P4_16: merged ones, whose static entries are the cross product of their
//! statements' guards with one action for each set of statements that runs (Lucid §6.2, Figure 8). Each
//! has the stage that the layout gave it. Tables of the program are in `lookups`.

use super::conditions::condition;
use super::context::{Base, Context, Touched, ones};
use super::egress_tables;
use super::keysets::{self, KeyOf};
use super::lookups;
use super::operations::{self, draw_before, sequential};
use super::parts::{Part, SchedulerPart};
use super::scheduler_tables;
use super::wide_ranges;
use crate::atomic::program::{ArrayId, HandlerId, Index, Operation, StatementId};
use pisa::guard::cross_product;
use pisa::{Condition, Gress, Guard, UnitId, VariableId};
use source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Declarations go to the pieces; what stands in `apply` comes back, in order.
pub(super) fn write(context: &mut Context<'_>, gress: Gress) -> Vec<String> {
    let mut apply = Vec::new();
    let mut by_task = egress_tables::ByTask::default();
    for (stage, tables) in context.layout.stages.clone().into_iter().enumerate() {
        let tables: Vec<Vec<UnitId>> = tables
            .tables
            .into_iter()
            .filter(|table| table.gress == gress)
            .map(|table| table.units)
            .collect();
        // Headers go when everything else of the stage is done.
        let part = |units: &Vec<UnitId>| ends(context, units);
        let (mut last, tables): (Vec<_>, Vec<_>) =
            tables.into_iter().partition(|units| part(units).is_some());
        last.sort_by_key(part);
        let tables = tables.into_iter().flat_map(|units| by_index(context, units));
        let tables = tables.flat_map(|units| by_entries(context, units, gress)).collect();
        for units in ordered(context, tables).into_iter().chain(last) {
            let part = units.first().and_then(|unit| context.parts.get(unit.0 as usize)).copied();
            let text = table(context, stage, &units, gress);
            match part.and_then(|part| by_task.of(part)) {
                Some(texts) => texts.extend(text),
                None => apply.extend(text),
            }
        }
    }
    match gress {
        Gress::Ingress => apply,
        Gress::Egress => vec![by_task.around(&apply)],
    }
}

/// The statement of a unit, if it is one of the program's.
fn statement_of(context: &Context<'_>, unit: UnitId) -> Option<StatementId> {
    match context.parts.get(unit.0 as usize) {
        Some(Part::Statement(id)) => Some(*id),
        Some(Part::Scheduler(_)) | None => None,
    }
}

/// The index of a memory operation.
#[derive(PartialEq)]
enum IndexOf<'c> {
    /// The one that the parser sets for an array.
    Parser(ArrayId),
    Own(&'c Index),
}

fn index_of<'c>(context: &'c Context<'_>, id: StatementId) -> Option<IndexOf<'c>> {
    match &context.atomic.statements[id.0 as usize].operation {
        Operation::Memory { array, index, .. } => Some(match context.parser_index(*array, index) {
            Some(_) => IndexOf::Parser(*array),
            None => IndexOf::Own(index),
        }),
        _ => None,
    }
}

/// All memory operations of a table of Tofino have one index. Where a table has several, they come apart from what
/// else it does, into tables of which one runs.
fn by_index(context: &Context<'_>, units: Vec<UnitId>) -> Vec<Vec<UnitId>> {
    let index = |unit: &UnitId| statement_of(context, *unit).and_then(|id| index_of(context, id));
    let mut indexes = units.iter().filter_map(index);
    let first = indexes.next();
    if indexes.all(|index| first.as_ref() == Some(&index)) {
        return vec![units];
    }
    let (with, without): (Vec<_>, Vec<_>) =
        units.into_iter().partition(|unit| index(unit).is_some());
    if without.is_empty() { vec![with] } else { vec![with, without] }
}

/// A table whose ranges would take too many entries comes apart into as few as hold them. Memory operations stay
/// together.
fn by_entries(context: &Context<'_>, units: Vec<UnitId>, gress: Gress) -> Vec<Vec<UnitId>> {
    let is_memory = |unit: &UnitId| {
        statement_of(context, *unit).is_some_and(|id| index_of(context, id).is_some())
    };
    let fits = |units: &[UnitId]| {
        let ids: Vec<_> = units.iter().filter_map(|unit| statement_of(context, *unit)).collect();
        wide_ranges::fit(context, &ids, gress)
    };
    if units.len() == 1 || fits(&units) {
        return vec![units];
    }
    let (memory, others): (Vec<_>, Vec<_>) = units.into_iter().partition(is_memory);
    let mut tables: Vec<Vec<UnitId>> = Vec::new();
    for part in std::iter::once(memory).chain(others.into_iter().map(|unit| vec![unit])) {
        match tables.last_mut() {
            Some(table) if fits(&[table.as_slice(), &part].concat()) => table.extend(part),
            _ => tables.push(part),
        }
    }
    tables.retain(|table| !table.is_empty());
    tables
}

/// A table for each index, of which one runs.
fn one_of(
    context: &mut Context<'_>,
    stage: usize,
    statements: &[StatementId],
    gress: Gress,
) -> Option<String> {
    let mut groups: Vec<Vec<StatementId>> = Vec::new();
    for id in statements {
        let index = index_of(context, *id);
        match groups.iter_mut().find(|group| index_of(context, group[0]) == index) {
            Some(group) => group.push(*id),
            None => groups.push(vec![*id]),
        }
    }
    let handlers = |context: &Context<'_>, group: &[StatementId]| -> BTreeSet<_> {
        group.iter().map(|id| context.atomic.statements[id.0 as usize].handler).collect()
    };
    let sets: Vec<_> = groups.iter().map(|group| handlers(context, group)).collect();
    let mut text = String::new();
    for (at, group) in groups.iter().enumerate() {
        let apply = merged(context, stage, group, gress)?;
        let is_alone =
            |(other, set): (usize, &BTreeSet<_>)| other == at || set.is_disjoint(&sets[at]);
        let conditions: Vec<String> = match sets.iter().enumerate().all(is_alone) {
            // Of different handlers.
            true => sets[at].iter().flatten().map(|id| runs(context, *id, gress)).collect(),
            false => group
                .iter()
                .filter_map(|id| {
                    condition(context, &context.atomic.statements[id.0 as usize].guard, gress)
                })
                .collect(),
        };
        if at + 1 == groups.len() {
            text.push_str(&format!("{{ {apply} }}"));
        } else {
            let condition = match conditions.as_slice() {
                [one] => one.clone(),
                many => many.iter().map(|one| format!("({one})")).collect::<Vec<_>>().join(" || "),
            };
            text.push_str(&format!("if ({condition}) {{ {apply} }} else "));
        }
    }
    Some(text)
}

/// Whether the handler of an event is to run.
fn runs(context: &Context<'_>, id: HandlerId, gress: Gress) -> String {
    let event = context.atomic.handlers[id.0 as usize].event;
    let metadata = if gress == Gress::Ingress { "ig_md" } else { "eg_md" };
    format!("{metadata}.dispatched == {}", context.events.event(event).number)
}

/// The place of a table among those behind the handlers' own.
fn ends(context: &Context<'_>, units: &[UnitId]) -> Option<u32> {
    units.iter().find_map(|unit| match context.parts.get(unit.0 as usize) {
        Some(Part::Scheduler(SchedulerPart::Keep(slot))) => Some(*slot),
        Some(Part::Scheduler(SchedulerPart::Serialise)) => Some(u32::MAX),
        _ => None,
    })
}

/// Tables of one stage so that each reads what another one writes before that one runs, and random numbers
/// are drawn in the source's order. Where two tables need each other to be first, one is taken apart.
fn ordered(context: &Context<'_>, mut tables: Vec<Vec<UnitId>>) -> Vec<Vec<UnitId>> {
    let touched = |units: &[UnitId]| {
        let mut reads = BTreeSet::new();
        let mut writes = BTreeSet::new();
        let ids: Vec<_> = units.iter().filter_map(|unit| statement_of(context, *unit)).collect();
        for id in &ids {
            reads.extend(context.atomic.reads(&context.atomic.statements[id.0 as usize]));
            reads.extend(context.atomic.statements[id.0 as usize].guard.variables());
            writes.extend(context.atomic.statements[id.0 as usize].operation.writes());
        }
        (reads, writes, ids)
    };
    let mut order = Vec::new();
    while !tables.is_empty() {
        let all: Vec<_> = tables.iter().map(|units| touched(units)).collect();
        let free = (0..tables.len()).find(|at| {
            (0..tables.len()).all(|other| {
                let draws_first = || draw_before(context, &all[other].2, &all[*at].2);
                other == *at || (all[other].0.is_disjoint(&all[*at].1) && !draws_first())
            })
        });
        match free {
            Some(at) => order.push(tables.remove(at)),
            None => {
                let Some(at) = tables.iter().position(|units| units.len() > 1) else {
                    order.append(&mut tables);
                    break;
                };
                let units = tables.remove(at);
                tables.extend(units.into_iter().map(|unit| vec![unit]));
            }
        }
    }
    order
}

fn table(
    context: &mut Context<'_>,
    stage: usize,
    units: &[UnitId],
    gress: Gress,
) -> Option<String> {
    let [first, ..] = units else { return None };
    let Some(statement) = statement_of(context, *first) else {
        let Some(Part::Scheduler(part)) = context.parts.get(first.0 as usize).copied() else {
            return None;
        };
        return scheduler_tables::table(context, part, stage);
    };
    if let Operation::Lookup { .. } = context.atomic.statements[statement.0 as usize].operation {
        return lookups::lookup(context, stage, *first, statement, gress);
    }
    let statements: Vec<StatementId> =
        units.iter().filter_map(|unit| statement_of(context, *unit)).collect();
    let all_at = |id: &StatementId| index_of(context, *id).is_some();
    if statements.iter().all(all_at)
        && statements.iter().any(|id| index_of(context, *id) != index_of(context, statements[0]))
    {
        return one_of(context, stage, &statements, gress);
    }
    merged(context, stage, &statements, gress)
}

/// How a variable of guards is matched.
struct Key {
    variable: VariableId,
    base: Base,
    width_bits: u32,
    is_range: bool,
}

impl Key {
    fn keysets(&self) -> KeyOf {
        KeyOf { width_bits: self.width_bits, is_range: self.is_range }
    }
}

/// A rule of a table of ours: conditions in the order of its keys, and what it runs.
struct Rule {
    conditions: Vec<Condition>,
    runs: Vec<usize>,
}

fn merged(
    context: &mut Context<'_>,
    stage: usize,
    statements: &[StatementId],
    gress: Gress,
) -> Option<String> {
    let statements: Vec<StatementId> = statements
        .iter()
        .copied()
        .filter(|id| {
            let operation = &context.atomic.statements[id.0 as usize].operation;
            !matches!(operation, Operation::Checksum { .. })
        })
        .collect();
    if statements.is_empty() {
        return None;
    }
    let guards: Vec<Guard> = statements
        .iter()
        .map(|id| context.atomic.statements[id.0 as usize].guard.clone())
        .collect();
    let rules = cross_product(&guards.iter().collect::<Vec<&Guard>>());
    let variables: BTreeSet<VariableId> =
        rules.iter().flat_map(|rule| rule.conditions.keys().copied()).collect();
    let mut keys: Vec<Key> = Vec::new();
    for variable in variables {
        let base = context.base(variable, gress);
        let width_bits = base.width_bits.min(context.width(variable));
        let conditions = rules.iter().filter_map(|rule| rule.conditions.get(&variable));
        let is_range = keysets::are_ranges(conditions, width_bits);
        keys.push(Key { variable, base, width_bits, is_range });
    }
    if !wide_ranges::check(context, &statements, gress) {
        return None;
    }
    let rules: Vec<Rule> = rules
        .iter()
        .filter_map(|rule| ruled(&rule.conditions, &keys).map(|conditions| (conditions, rule)))
        .map(|(conditions, rule)| Rule { conditions, runs: rule.runs.clone() })
        .collect();
    let keys_known: Vec<bool> = keys.iter().map(|key| key.base.known.is_some()).collect();
    // An action for each set of statements.
    let mut actions: BTreeMap<Vec<usize>, String> = BTreeMap::new();
    let base_name = context.names.fresh(&table_name(context, &statements, stage));
    for rule in &rules {
        if rule.runs.is_empty() || actions.contains_key(&rule.runs) {
            continue;
        }
        let set: Vec<StatementId> = rule.runs.iter().map(|at| statements[*at]).collect();
        let of = handler_of(context, &set).unwrap_or_else(|| "run".to_string());
        let name = match base_name.ends_with(&of) {
            true => format!("run_{base_name}"),
            false => format!("{base_name}_{of}"),
        };
        let name = context.names.fresh(&name);
        action(context, &name, &set);
        actions.insert(rule.runs.clone(), name);
    }
    if actions.is_empty() {
        return None;
    }
    let span = context.atomic.statements[statements[0].0 as usize].span;
    let needs_nothing = rules.iter().any(|rule| rule.runs.is_empty())
        || rules.last().is_none_or(|rule| rule.conditions.iter().any(asks));
    let ignored = ignored_dependencies(context, &statements, stage, gress, &base_name);
    let mut text = format!("@stage({stage}) {ignored} table {base_name} {{");
    let used: Vec<usize> = (0..keys.len())
        .filter(|at| !keys_known[*at] && rules.iter().any(|rule| asks(&rule.conditions[*at])))
        .collect();
    if used.is_empty() {
        // Always the same.
        let name = rules.first().and_then(|rule| actions.get(&rule.runs))?;
        text.push_str(&format!(
            "actions = {{ {name}; }} const default_action = {name}(); size = 1; }}"
        ));
        context.put(span, text);
        return Some(format!("{base_name}.apply();"));
    }
    text.push_str("key = {");
    for at in &used {
        let key = &keys[*at];
        let field = super::context::resized(
            &key.base.text,
            key.base.width_bits,
            key.width_bits,
            key.width_bits,
        );
        let kind = if key.is_range { "range" } else { "ternary" };
        text.push_str(&format!("{field} : {kind};"));
    }
    text.push_str("} actions = {");
    for name in actions.values() {
        text.push_str(&format!("{name};"));
    }
    if needs_nothing {
        text.push_str("NoAction;");
    }
    text.push_str("} const entries = {");
    let mut entries = 0;
    let mut default = String::from("NoAction()");
    for rule in &rules {
        let name = actions.get(&rule.runs).map_or("NoAction", String::as_str);
        let all: Vec<Vec<String>> = used
            .iter()
            .map(|at| keysets::of(&rule.conditions[*at], &keys[*at].keysets()))
            .collect();
        if !used.iter().any(|at| asks(&rule.conditions[*at])) {
            default = format!("{name}()");
            break;
        }
        for combination in keysets::combinations(&all) {
            let keyset = match combination.as_slice() {
                [one] => one.clone(),
                many => format!("({})", many.join(", ")),
            };
            text.push_str(&format!("{keyset} : {name}();"));
            entries += 1;
        }
    }
    text.push_str(&format!("}} const default_action = {default}; size = {}; }}", entries.max(1)));
    context.put(span, text);
    Some(format!("{base_name}.apply();"))
}

/// Tables of the same stage that write what this one reads or writes: never for the same packet, or
/// the layout would have put them into different stages. Compilers that do not look into entries are
/// told so.
fn ignored_dependencies(
    context: &mut Context<'_>,
    statements: &[StatementId],
    stage: usize,
    gress: Gress,
    name: &str,
) -> String {
    let mut writes = BTreeSet::new();
    let mut reads = BTreeSet::new();
    for id in statements {
        let statement = &context.atomic.statements[id.0 as usize];
        writes.extend(statement.operation.writes().into_iter().map(Touched::Variable));
        reads.extend(context.atomic.reads(statement).into_iter().map(Touched::Variable));
        reads.extend(statement.guard.variables().into_iter().map(Touched::Variable));
        if let Operation::Generate { slot, .. } = statement.operation {
            writes.insert(Touched::Slot(slot));
        }
    }
    let text: Vec<String> = context
        .placed
        .iter()
        .filter(|(of, at, _, _)| *of == gress && *at == stage)
        .filter(|(_, _, _, written)| {
            written.iter().any(|one| reads.contains(one) || writes.contains(one))
        })
        .map(|(_, _, other, _)| {
            format!("@ignore_table_dependency(\"{}.{other}\")", super::parts::control(gress))
        })
        .collect();
    context.placed.push((gress, stage, name.to_string(), writes));
    text.join(" ")
}

/// Whether a condition is one.
fn asks(condition: &Condition) -> bool {
    !matches!(condition, Condition::Ternary { mask: 0, .. })
}

const ANY: Condition = Condition::Ternary { value: 0, mask: 0 };

/// A rule's conditions in the order of the keys, cut to their widths; `None` if it never matches.
fn ruled(conditions: &BTreeMap<VariableId, Condition>, keys: &[Key]) -> Option<Vec<Condition>> {
    let mut list = Vec::new();
    for key in keys {
        let condition = conditions.get(&key.variable).copied().unwrap_or(ANY);
        let all = ones(key.width_bits);
        if let Some(known) = key.base.known {
            if !condition.admits(known & all) {
                return None;
            }
            list.push(ANY);
            continue;
        }
        list.push(match condition {
            Condition::Ternary { value, mask } => {
                if value & !all != 0 {
                    return None;
                }
                Condition::Ternary { value, mask: mask & all }
            }
            Condition::Range { low, high } => {
                if low > all || low > high {
                    return None;
                }
                match (low, high.min(all)) {
                    (0, high) if high == all => ANY,
                    (low, high) => Condition::Range { low, high },
                }
            }
        });
    }
    Some(list)
}

/// The handler that all statements belong to.
fn handler_of(context: &Context<'_>, statements: &[StatementId]) -> Option<String> {
    let mut handlers: Vec<_> =
        statements.iter().map(|id| context.atomic.statements[id.0 as usize].handler).collect();
    handlers.dedup();
    match handlers.as_slice() {
        [Some(one)] => {
            let handler = context.atomic.handlers.get(one.0 as usize)?;
            Some(context.events.event(handler.event).name.clone())
        }
        _ => None,
    }
}

/// Named after its stage, and after its handler or array if all belongs to one.
fn table_name(context: &Context<'_>, statements: &[StatementId], stage: usize) -> String {
    let array =
        statements.iter().find_map(|id| match context.atomic.statements[id.0 as usize].operation {
            Operation::Memory { array, .. } => {
                let global = context.atomic.arrays[array.0 as usize].global;
                let name = &context.program.globals[global.0 as usize].name;
                Some(crate::names::identifier(name))
            }
            _ => None,
        });
    let of = array.or_else(|| handler_of(context, statements));
    format!("stage{stage}_{}", of.unwrap_or_else(|| "merged".to_string()))
}

/// An action that runs these statements at once.
fn action(context: &mut Context<'_>, name: &str, statements: &[StatementId]) {
    let order = sequential(context, statements);
    let is_ordered = order.is_some();
    // In any order then, but random numbers are drawn in the source's.
    let order =
        order.unwrap_or_else(|| BTreeSet::from_iter(statements.to_vec()).into_iter().collect());
    let mut body: Vec<(Span, String)> = Vec::new();
    let mut late: Vec<(Span, String)> = Vec::new();
    for id in order {
        let (span, text) = operations::statement(context, id);
        let writes = context.atomic.statements[id.0 as usize].operation.writes();
        let gress = context.atomic.statements[id.0 as usize].gress;
        // They write in a circle what others read: all values first, then all assignments.
        match writes.first() {
            Some(to) if !is_ordered => {
                let target = context.target(*to, gress);
                let width_bits = context.width(*to);
                let value = text.strip_prefix(&format!("{target} = ")).unwrap_or(&text).to_string();
                let next = format!("next_{}", late.len());
                body.push((span, format!("bit<{width_bits}> {next} = {value}")));
                late.push((span, format!("{target} = {next};")));
            }
            _ => body.push((span, text)),
        }
    }
    let span = body.first().map_or(Span::NONE, |(span, _)| *span);
    context.put(span, format!("action {name}() {{"));
    for (span, text) in body.into_iter().chain(late) {
        context.put(span, text);
    }
    context.put(span, "}");
}
