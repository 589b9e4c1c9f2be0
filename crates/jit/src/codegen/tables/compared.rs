// SPDX-License-Identifier: Apache-2.0
//! Tables whose few entries are constant: instead of a lookup, code that compares the key with each
//! entry in the order in which they win, with the entries' arguments as constants.

use super::super::facts::table_actions;
use super::super::function::FunctionCompiler;
use super::super::values::{Val, part_count, parts_of};
use super::keys::Keys;
use super::records::Running;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types};
use cranelift_frontend::Switch;
use ir::{Bits, Entry, KeyPattern, MatchKind, Operation, Program, Table, TableId, ValueType};
use state::forwarding::index::KeyLayout;

/// Entries that are compared one after another.
const MAX_ENTRIES: usize = 16;

/// Entries when a single switch decides.
const MAX_EXACT_ENTRIES: usize = 64;

/// An entry as tests of the words of the packed key.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ComparedEntry {
    value: Vec<u64>,
    mask: Vec<u64>,
    /// Matched key (of at most 64 bits), lowest, highest.
    ranges: Vec<(usize, u64, u64)>,
    /// Index of the entry in the table.
    entry: usize,
}

impl ComparedEntry {
    fn takes_all(&self) -> bool {
        self.ranges.is_empty() && self.mask.iter().all(|word| *word == 0)
    }
}

/// A pattern in the state store's canonical form, which ranks entries.
fn canonical(kind: &MatchKind, width_bits: u32, pattern: &KeyPattern) -> KeyPattern {
    let is_lpm = *kind == MatchKind::Lpm;
    match pattern {
        KeyPattern::Any if is_lpm => {
            KeyPattern::Prefix { value: Bits::zero(width_bits), length_bits: 0 }
        }
        KeyPattern::Any => KeyPattern::Any,
        KeyPattern::Exact(value) if is_lpm => {
            KeyPattern::Prefix { value: value.clone(), length_bits: width_bits }
        }
        KeyPattern::Exact(value) => KeyPattern::Exact(value.clone()),
        KeyPattern::Prefix { value, length_bits } if *kind == MatchKind::Exact => {
            debug_assert_eq!(*length_bits, width_bits, "the store refuses it");
            KeyPattern::Exact(value.clone())
        }
        KeyPattern::Prefix { .. } => pattern.clone(),
        KeyPattern::Ternary { value, mask } => {
            if *mask == Bits::ones(width_bits) {
                return canonical(kind, width_bits, &KeyPattern::Exact(value.clone()));
            }
            let prefix = |length: &u32| Bits::prefix_mask(width_bits, *length) == *mask;
            match (0..=width_bits).find(prefix).filter(|_| is_lpm) {
                Some(length_bits) => KeyPattern::Prefix { value: value.clone(), length_bits },
                None => pattern.clone(),
            }
        }
        KeyPattern::Range { low, high } => {
            if low == high {
                return canonical(kind, width_bits, &KeyPattern::Exact(low.clone()));
            }
            match low.is_zero() && *high == Bits::ones(width_bits) {
                true => canonical(kind, width_bits, &KeyPattern::Any),
                false => pattern.clone(),
            }
        }
    }
}

fn compared(layout: &KeyLayout, at: usize, entry: &Entry) -> Option<(i64, ComparedEntry)> {
    let keys: Vec<KeyPattern> = layout
        .fields
        .iter()
        .zip(&entry.keys)
        .map(|(field, pattern)| canonical(&field.kind, field.width_bits, pattern))
        .collect();
    let (mut value, mut mask) = (vec![0; layout.words()], vec![0; layout.words()]);
    layout.pack_pattern(&keys, &mut value, &mut mask);
    let mut ranges = Vec::new();
    for (key, pattern) in keys.iter().enumerate() {
        if let KeyPattern::Range { low, high } = pattern {
            if layout.fields[key].width_bits > 64 {
                return None;
            }
            ranges.push((key, low.low_u64(), high.low_u64()));
        }
    }
    let rank = layout.rank(&keys, entry.priority);
    Some((rank, ComparedEntry { value, mask, ranges, entry: at }))
}

/// Whether one switch decides: the keys have at most 64 bits together, and every entry matches one value of
/// them or all values.
fn decides_alone(layout: &KeyLayout, entries: &[ComparedEntry]) -> bool {
    let total_bits: u64 = layout.fields.iter().map(|field| u64::from(field.width_bits)).sum();
    let ones = match total_bits {
        1..=64 => u64::MAX >> (64 - total_bits),
        _ => return false,
    };
    entries.iter().all(|entry| entry.takes_all() || entry.ranges.is_empty() && entry.mask == [ones])
}

/// All operations of a table's actions.
fn action_operations(program: &Program, table: TableId) -> impl Iterator<Item = &Operation> {
    table_actions(program, table)
        .map(|action| &program.regions[program.actions[action.index()].region.index()])
        .flat_map(|region| &region.blocks)
        .flat_map(|block| &block.instructions)
        .map(|instruction| &instruction.operation)
}

/// The entries of a table in the order in which they win, up to the first that matches everything, if code
/// should compare keys with them: they are constant and few, and no counter, meter or idle timeout refers to
/// the entry.
pub(super) fn entries(program: &Program, table: TableId) -> Option<Vec<ComparedEntry>> {
    let declared = &program.tables[table.index()];
    let has_identity = declared.idle_timeout
        || !declared.direct_counters.is_empty()
        || !declared.direct_meters.is_empty()
        || action_operations(program, table).any(|operation| {
            matches!(operation, Operation::CountDirect { .. } | Operation::MeterDirect { .. })
        });
    if !declared.const_entries || declared.implementation.is_some() || has_identity {
        return None;
    }
    let layout = KeyLayout::new(declared);
    let mut ranked = declared
        .entries
        .iter()
        .enumerate()
        .map(|(at, entry)| compared(&layout, at, entry))
        .collect::<Option<Vec<_>>>()?;
    // A stable sort: among equal ranks the first entry wins.
    ranked.sort_by_key(|(rank, _)| std::cmp::Reverse(*rank));
    let mut entries: Vec<ComparedEntry> = ranked.into_iter().map(|(_, entry)| entry).collect();
    if let Some(last) = entries.iter().position(ComparedEntry::takes_all) {
        entries.truncate(last + 1);
    }
    let most = match decides_alone(&layout, &entries) {
        true => MAX_EXACT_ENTRIES,
        false => MAX_ENTRIES,
    };
    (entries.len() <= most).then_some(entries)
}

/// The index of an action's first place in the table's list.
fn known_index(table: &Table, index: u32) -> usize {
    let wanted = table.actions[index as usize].action;
    table.actions.iter().position(|listed| listed.action == wanted).unwrap_or(index as usize)
}

/// The first block of each action's arm. Its parameters are whether an entry was hit, and the arguments.
struct Arms {
    blocks: Vec<Option<Block>>,
}

impl FunctionCompiler<'_, '_> {
    /// Emits the tests of the entries. Returns the first blocks of the arms that they jump to, by action of the
    /// table; the caller emits these arms.
    pub(super) fn compare_entries(
        &mut self,
        table: TableId,
        keys: &Keys,
        entries: &[ComparedEntry],
    ) -> Vec<Option<Block>> {
        let declared = &self.program.tables[table.index()];
        let mut arms = Arms { blocks: vec![None; declared.actions.len()] };
        let takes_all = entries.last().is_some_and(ComparedEntry::takes_all);
        let taken: Vec<Block> = entries.iter().map(|_| self.builder.create_block()).collect();
        // The last entry takes all other keys, or the default action does.
        let otherwise = match taken.last() {
            Some(last) if takes_all => *last,
            _ => self.builder.create_block(),
        };
        let tested = &entries[..entries.len() - usize::from(takes_all)];
        self.emit_tests(table, keys, tested, &taken, otherwise);

        for (entry, block) in entries.iter().zip(&taken) {
            self.builder.seal_block(*block);
            self.builder.switch_to_block(*block);
            let call = &declared.entries[entry.entry].call;
            let index = known_index(declared, call.action);
            let values = self.constant_arguments(table, index, &call.arguments);
            self.go_to_arm(&mut arms, table, index, true, &values);
        }
        if !takes_all {
            self.builder.seal_block(otherwise);
            self.builder.switch_to_block(otherwise);
            self.miss(&mut arms, table);
        }
        arms.blocks
    }

    /// Jumps to the block of the first entry that matches the key.
    fn emit_tests(
        &mut self,
        table: TableId,
        keys: &Keys,
        tested: &[ComparedEntry],
        taken: &[Block],
        otherwise: Block,
    ) {
        let layout = KeyLayout::new(&self.program.tables[table.index()]);
        if tested.is_empty() {
            self.builder.ins().jump(otherwise, &[]);
            return;
        }
        let packed = self.packed_key(&layout, &keys.matched);
        if decides_alone(&layout, tested) {
            let mut switch = Switch::new();
            for (entry, block) in tested.iter().zip(taken) {
                let value = u128::from(entry.value[0]);
                // The first of several entries with equal values wins.
                if !switch.entries().contains_key(&value) {
                    switch.set_entry(value, *block);
                }
            }
            switch.emit(&mut self.builder, packed[0], otherwise);
            return;
        }
        for (entry, block) in tested.iter().zip(taken) {
            let takes = self.emit_test(entry, &packed, &keys.matched);
            let next = self.builder.create_block();
            self.builder.ins().brif(takes, *block, &[], next, &[]);
            self.builder.seal_block(next);
            self.builder.switch_to_block(next);
        }
        self.builder.ins().jump(otherwise, &[]);
    }

    /// Whether an entry that does not match everything matches the key.
    fn emit_test(
        &mut self,
        entry: &ComparedEntry,
        packed: &[Value],
        keys: &[(ValueType, Val)],
    ) -> Value {
        let mut conditions = Vec::new();
        for ((word, value), mask) in packed.iter().zip(&entry.value).zip(&entry.mask) {
            if *mask != 0 {
                let mask = self.number(*mask);
                let masked = self.builder.ins().band(*word, mask);
                conditions.push(self.compare(IntCC::Equal, masked, *value));
            }
        }
        for (key, low, high) in &entry.ranges {
            // A matched range key has at most 64 bits here.
            let (_, value) = keys[*key];
            let low_word = self.number(*low);
            let word = self.values().truth(value);
            let above = self.builder.ins().isub(word, low_word);
            conditions.push(self.compare(IntCC::UnsignedLessThanOrEqual, above, high - low));
        }
        let mut conditions = conditions.into_iter();
        let first = match conditions.next() {
            Some(first) => first,
            None => self.number(1),
        };
        conditions.fold(first, |all, condition| self.builder.ins().band(all, condition))
    }

    fn go_to_arm(
        &mut self,
        arms: &mut Arms,
        table: TableId,
        index: usize,
        is_hit: bool,
        values: &[Val],
    ) {
        let arm = match arms.blocks[index] {
            Some(arm) => arm,
            None => {
                let arm = self.builder.create_block();
                let parts: usize =
                    self.argument_types(table, index).into_iter().map(part_count).sum();
                for _ in 0..=parts {
                    self.builder.append_block_param(arm, types::I64);
                }
                arms.blocks[index] = Some(arm);
                arm
            }
        };
        let is_hit = self.number(u64::from(is_hit));
        let arguments: Vec<BlockArg> = [is_hit]
            .into_iter()
            .chain(values.iter().flat_map(|value| parts_of(*value)))
            .map(BlockArg::from)
            .collect();
        self.builder.ins().jump(arm, &arguments);
    }

    /// Jumps to the arm of the default action.
    fn miss(&mut self, arms: &mut Arms, table: TableId) {
        let declared = &self.program.tables[table.index()];
        let initial = &declared.default_action;
        if declared.const_default_action {
            let index = initial.action as usize;
            let values = self.constant_arguments(table, index, &initial.arguments);
            self.go_to_arm(arms, table, index, false, &values);
            return;
        }
        let candidates: Vec<usize> = (0..declared.actions.len())
            .filter(|&index| {
                !declared.actions[index].table_only || index == initial.action as usize
            })
            .collect();
        let record = self.default_record(table);
        let action = self.action_of(table, record);
        let blocks: Vec<Block> =
            declared.actions.iter().map(|_| self.builder.create_block()).collect();
        // Indices of actions that cannot be the default action jump to one that can.
        let targets: Vec<Block> = (0..blocks.len())
            .map(|index| match candidates.contains(&index) {
                true => blocks[index],
                false => blocks[candidates[0]],
            })
            .collect();
        let running = Running::new(record, action);
        self.dispatch(running, &targets, blocks[candidates[0]]);
        for index in candidates {
            self.builder.seal_block(blocks[index]);
            self.builder.switch_to_block(blocks[index]);
            let values = self.record_arguments(table, index, running);
            self.go_to_arm(arms, table, index, false, &values);
        }
    }
}
