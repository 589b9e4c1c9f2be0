// SPDX-License-Identifier: Apache-2.0
//! Random batches for a program as written, wrong ones among them, and the batch that reads everything.

use control::target::{Batch, Item};
use ir::{ActionId, Bits, CounterId, KeyPattern, MatchKind, Program, RegisterId, TableId};
use state::{
    ActionData, Atomicity, BoundAction, CellRange, CellValues, Configuration, CounterValue,
    EntryHandle, EntryReference, NewEntry, Read, Update,
};
use testing::Choices;

/// Values that packets and entries have often.
pub const PALETTE: &[u64] = &[0, 1, 2, 3, 5, 8, 0x40, 0x81, 0xfe, 0x102, 0x8001];

/// One of the objects, and at times one that does not exist.
fn number(choices: &mut Choices, count: usize) -> u32 {
    let beyond = usize::from(choices.chance(1));
    choices.below(count + beyond) as u32
}

fn width(choices: &mut Choices, width_bits: u32) -> u32 {
    // Narrower values fit; wider ones may not.
    match choices.weighted(&[90, 5, 3]) {
        0 => width_bits,
        1 => (width_bits / 2).max(1),
        _ => width_bits + 4,
    }
}

fn pattern(choices: &mut Choices, kind: &MatchKind, width_bits: u32) -> KeyPattern {
    let at = width(choices, width_bits);
    let value = choices.value(at, PALETTE);
    if choices.chance(3) {
        return KeyPattern::Ternary { value, mask: Bits::from_u64(at, 5) };
    }
    match kind {
        MatchKind::Exact => KeyPattern::Exact(value),
        _ if choices.chance(10) => KeyPattern::Any,
        _ if choices.chance(10) => KeyPattern::Exact(value),
        MatchKind::Lpm => {
            let length_bits = choices.between(0, width_bits);
            KeyPattern::Prefix { value: choices.value(width_bits, PALETTE), length_bits }
        }
        MatchKind::Range => {
            let other = choices.value(at, PALETTE);
            let swaps = value.cmp_unsigned(&other).is_gt() && !choices.chance(2);
            let (low, high) = if swaps { (other, value) } else { (value, other) };
            KeyPattern::Range { low, high }
        }
        _ => {
            let masks = [0, 1, 0x80, 0xf0, 0xff, 0xffff, 0x8001];
            KeyPattern::Ternary { value, mask: Bits::from_u64(at, *choices.pick(&masks)) }
        }
    }
}

fn action(choices: &mut Choices, program: &Program, table: TableId) -> BoundAction {
    let listed = &program.tables[table.index()].actions;
    let action = match choices.chance(2) {
        true => ActionId(number(choices, program.actions.len())),
        false => choices.pick(listed).action,
    };
    let parameters = program.actions.get(action.index()).map(|action| &action.parameters);
    let mut arguments: Vec<Bits> = Vec::new();
    for parameter in parameters.into_iter().flatten() {
        let width_bits = program.slots[parameter.slot.index()].ty.width_bits();
        let value = match width_bits {
            9 => Bits::from_u64(9, *choices.pick(&[1, 2, 4, 4])),
            _ => {
                let width_bits = width(choices, width_bits);
                choices.value(width_bits, PALETTE)
            }
        };
        arguments.push(value);
    }
    if choices.chance(2) {
        arguments.push(Bits::zero(8));
    }
    BoundAction { action, arguments }
}

/// An action of a table that takes no arguments.
pub fn bound(program: &Program, table: TableId, name: &str) -> BoundAction {
    let listed = program.tables[table.index()].actions.iter().map(|listed| listed.action);
    let is_it = |action: &ActionId| program.actions[action.index()].name.ends_with(name);
    let action = { listed }.find(is_it).unwrap_or_else(|| panic!("no action `{name}`"));
    BoundAction { action, arguments: Vec::new() }
}

fn new_entry(choices: &mut Choices, program: &Program, table: TableId) -> NewEntry {
    let declared = &program.tables[table.index()];
    let key = |key: &ir::Key| pattern(choices, &key.match_kind, key.width_bits);
    let mut keys: Vec<KeyPattern> = declared.keys.iter().map(key).collect();
    if choices.chance(2) {
        keys.pop();
    }
    let times_out = declared.idle_timeout || choices.chance(2);
    NewEntry {
        keys,
        priority: i64::from(choices.between(1, 4)),
        action: ActionData::Direct(action(choices, program, table)),
        idle_timeout_ns: if times_out { *choices.pick(&[0, 20, 35, 50]) } else { 0 },
        metadata: if choices.chance(30) { vec![choices.below(256) as u8] } else { Vec::new() },
        cookie: choices.below(100) as u64,
    }
}

/// An entry that is there, if there is one.
fn known(
    choices: &mut Choices,
    state: &Configuration,
    table: TableId,
) -> Option<std::sync::Arc<state::EntryRecord>> {
    let entries: Vec<_> = state.table(table)?.entries().cloned().collect();
    (!entries.is_empty()).then(|| choices.pick(&entries).clone())
}

/// The keys of an entry that is there, or of any.
fn name(
    choices: &mut Choices,
    program: &Program,
    state: &Configuration,
    table: TableId,
) -> (Vec<KeyPattern>, i64) {
    match known(choices, state, table) {
        Some(entry) if !choices.chance(5) => (entry.keys.clone(), entry.priority),
        _ => {
            let entry = new_entry(choices, program, table);
            (entry.keys, entry.priority)
        }
    }
}

fn place(choices: &mut Choices, state: &Configuration, table: TableId) -> (EntryHandle, u64) {
    match known(choices, state, table) {
        Some(entry) if !choices.chance(5) => (entry.handle, entry.generation),
        _ => (EntryHandle(choices.between(0, 4)), u64::from(choices.between(1, 9))),
    }
}

fn reference(
    choices: &mut Choices,
    program: &Program,
    state: &Configuration,
    table: TableId,
) -> EntryReference {
    match choices.below(4) {
        0 => EntryReference::Default,
        1 => {
            let (handle, generation) = place(choices, state, table);
            EntryReference::At { handle, generation }
        }
        _ => {
            let (keys, priority) = name(choices, program, state, table);
            EntryReference::Entry { keys, priority }
        }
    }
}

fn range(choices: &mut Choices, size: u64) -> CellRange {
    match choices.below(4) {
        0 => CellRange::all(),
        1 => CellRange::one(choices.below(size as usize + 1) as u64),
        2 => CellRange { first: choices.below(size as usize + 1) as u64, count: None },
        _ => {
            let first = choices.below(size as usize) as u64;
            CellRange::range(first, choices.below((size - first) as usize + 2) as u64)
        }
    }
}

fn count(size: u64, range: CellRange) -> usize {
    range.count.unwrap_or(size.saturating_sub(range.first)) as usize
}

fn values<T: Clone>(
    choices: &mut Choices,
    cells: usize,
    mut value: impl FnMut(&mut Choices) -> T,
) -> CellValues<T> {
    match choices.below(2) {
        0 => CellValues::Same(value(choices)),
        _ => {
            let count = if choices.chance(5) { cells + 1 } else { cells };
            CellValues::Each((0..count).map(|_| value(choices)).collect())
        }
    }
}

fn counter_value(choices: &mut Choices) -> CounterValue {
    CounterValue { packets: choices.below(20) as u64, bytes: choices.below(2000) as u64 }
}

/// A random item. `state` is the configuration of a device that runs the program as written.
pub fn item(choices: &mut Choices, program: &Program, state: &Configuration) -> Item {
    let table = TableId(choices.below(program.tables.len()) as u32);
    let direct = &program.tables[table.index()].direct_counters;
    let kind = choices.weighted(&[40, 14, 12, 2, 8, 4, 4, 8, 4, 6, 4, 4, 8, 4, 5, 5]);
    match kind {
        0 => Update::InsertEntry { table, entry: new_entry(choices, program, table) }.into(),
        1 => {
            let (keys, priority) = name(choices, program, state, table);
            let entry = new_entry(choices, program, table);
            Update::ModifyEntry { table, entry: NewEntry { keys, priority, ..entry } }.into()
        }
        2 => {
            let (keys, priority) = name(choices, program, state, table);
            Update::DeleteEntry { table, keys, priority }.into()
        }
        3 => Update::ClearEntries { table }.into(),
        4 => {
            let action = choices.chance(75).then(|| action(choices, program, table));
            Update::SetDefaultAction { table, action }.into()
        }
        5 => {
            let (handle, generation) = place(choices, state, table);
            let action = ActionData::Direct(action(choices, program, table));
            Update::ModifyEntryAt { table, handle, generation, action }.into()
        }
        6 => {
            let (handle, generation) = place(choices, state, table);
            Update::DeleteEntryAt { table, handle, generation }.into()
        }
        7 | 8 => {
            let register = RegisterId(number(choices, program.registers.len()));
            let declared = program.registers.get(register.index());
            let (size, bits) = declared.map_or((4, 8), |one| (one.size, one.width_bits));
            let cells = range(choices, size);
            if kind == 8 {
                return Read::Register { register, cells }.into();
            }
            let values = values(choices, count(size, cells), |choices| {
                let bits = width(choices, bits);
                choices.value(bits, PALETTE)
            });
            Update::WriteRegister { register, cells, values }.into()
        }
        9 | 10 => {
            let indirect = |at: &usize| program.counters[*at].size.is_some();
            let list: Vec<usize> = (0..program.counters.len()).filter(indirect).collect();
            let counter = CounterId(*choices.pick(&list) as u32);
            let size = program.counters[counter.index()].size.unwrap_or(0);
            let cells = range(choices, size);
            if kind == 10 {
                return Read::Counter { counter, cells }.into();
            }
            let values = values(choices, count(size, cells), counter_value);
            Update::WriteCounter { counter, cells, values }.into()
        }
        11 | 12 if !direct.is_empty() => {
            let counter = *choices.pick(direct);
            let entry = reference(choices, program, state, table);
            if kind == 12 {
                let entry = choices.chance(70).then_some(entry);
                return Read::DirectCounter { counter, entry }.into();
            }
            let value = counter_value(choices);
            Update::WriteDirectCounter { counter, entry, value }.into()
        }
        13 => {
            let (keys, priority) = name(choices, program, state, table);
            Read::Entry { table, keys, priority }.into()
        }
        14 => {
            let entry = reference(choices, program, state, table);
            let entry = choices.chance(70).then_some(entry);
            Read::EntriesWithCells { table, entry }.into()
        }
        _ => Read::DefaultAction { table }.into(),
    }
}

/// A random batch.
pub fn batch(choices: &mut Choices, program: &Program, state: &Configuration) -> Batch {
    let atomicity = *choices.pick(&[
        Atomicity::ContinueOnError,
        Atomicity::ContinueOnError,
        Atomicity::RollbackOnError,
        Atomicity::DataplaneAtomic,
    ]);
    let items = (0..choices.between(1, 5)).map(|_| item(choices, program, state));
    Batch::of(items.collect::<Vec<_>>()).with(atomicity)
}

/// Reads everything.
pub fn everything(program: &Program) -> Batch {
    let mut reads = Vec::new();
    for (at, declared) in program.tables.iter().enumerate() {
        let table = TableId(at as u32);
        reads.push(Read::Entries { table });
        reads.push(Read::DefaultAction { table });
        reads.push(Read::EntriesWithCells { table, entry: None });
        let counters = declared.direct_counters.iter();
        reads
            .extend(counters.map(|counter| Read::DirectCounter { counter: *counter, entry: None }));
    }
    for at in 0..program.registers.len() {
        let register = RegisterId(at as u32);
        reads.push(Read::Register { register, cells: CellRange::all() });
    }
    for (at, counter) in program.counters.iter().enumerate() {
        if counter.size.is_some() {
            let counter = CounterId(at as u32);
            reads.push(Read::Counter { counter, cells: CellRange::all() });
        }
    }
    Batch::of(reads)
}
