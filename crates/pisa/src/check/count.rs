// SPDX-License-Identifier: Apache-2.0
//! Counts, resource by resource, what the tables of a layout take, and compares with the limits. The
//! merged rules themselves come from [`crate::guard`], whose products have tests of their own.

use super::Violation;
use crate::guard::{Condition, VariableId, cross_product_within};
use crate::layout::{Layout, PlacedTable};
use crate::problem::{ArrayId, Gress, MatchKind, Problem, Resource, Unit};
use crate::target::{HardwareModel, MatchMemory};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn limits(
    problem: &Problem,
    target: &HardwareModel,
    layout: &Layout,
    violations: &mut Vec<Violation>,
) {
    for (stage, tables) in layout.stages.iter().enumerate() {
        let counted: Vec<(Gress, Counted<'_>)> = tables
            .tables
            .iter()
            .map(|table| (table.gress, Counted::of(problem, target, table)))
            .collect();
        for (index, (_, table)) in counted.iter().enumerate() {
            for (&resource, &limit) in &target.table {
                let taken = table.takes(resource);
                if taken > limit {
                    let (table, array) = (Some(index), None);
                    violations.push(Violation::Limit {
                        stage,
                        table,
                        array,
                        resource,
                        taken,
                        limit,
                    });
                }
            }
            for array in table.arrays() {
                for (&resource, &limit) in &target.array {
                    let taken = table.array_takes(array, resource);
                    if taken > limit {
                        let (table, array) = (Some(index), Some(array));
                        violations.push(Violation::Limit {
                            stage,
                            table,
                            array,
                            resource,
                            taken,
                            limit,
                        });
                    }
                }
            }
        }
        let halves: &[&[Gress]] = if target.shared {
            &[&[Gress::Ingress, Gress::Egress]]
        } else {
            &[&[Gress::Ingress], &[Gress::Egress]]
        };
        for half in halves {
            let here: Vec<&Counted<'_>> =
                counted.iter().filter(|(gress, _)| half.contains(gress)).map(|(_, t)| t).collect();
            for (&resource, &limit) in &target.stage {
                let taken = stage_takes(&here, resource);
                if taken > limit {
                    let (table, array) = (None, None);
                    violations.push(Violation::Limit {
                        stage,
                        table,
                        array,
                        resource,
                        taken,
                        limit,
                    });
                }
            }
        }
    }
}

/// A crossbar carries a variable once, however many tables match on it.
fn stage_takes(tables: &[&Counted<'_>], resource: Resource) -> u64 {
    let widest = |bits: fn(&Key) -> u64| {
        let mut widths: BTreeMap<VariableId, u64> = BTreeMap::new();
        for key in tables.iter().flat_map(|table| &table.keys) {
            let width = widths.entry(key.variable).or_insert(0);
            *width = bits(key).max(*width);
        }
        widths.values().sum()
    };
    match resource {
        Resource::ExactMatchBits => widest(|key| key.exact),
        Resource::TernaryMatchBits => widest(|key| key.ternary),
        Resource::MatchBits => widest(|key| key.exact.max(key.ternary)),
        _ => sum(tables.iter().map(|table| table.takes(resource))),
    }
}

struct Key {
    variable: VariableId,
    exact: u64,
    ternary: u64,
}

pub(super) struct Counted<'a> {
    problem: &'a Problem,
    target: &'a HardwareModel,
    units: Vec<&'a Unit>,
    keys: Vec<Key>,
    /// Rows of the match memory.
    rows: u64,
    /// Rules and actions, where rules are static.
    rules: u64,
    actions: u64,
    memory: MatchMemory,
}

impl<'a> Counted<'a> {
    pub(super) fn of(
        problem: &'a Problem,
        target: &'a HardwareModel,
        table: &PlacedTable,
    ) -> Counted<'a> {
        let mut ids = table.units.clone();
        ids.sort_unstable();
        let units: Vec<&Unit> =
            ids.iter().filter_map(|unit| problem.units.get(unit.0 as usize)).collect();
        let mut counted = Counted {
            problem,
            target,
            units,
            keys: Vec::new(),
            rows: 0,
            rules: 0,
            actions: 0,
            memory: MatchMemory::Logic,
        };
        if counted.units.iter().any(|unit| unit.table.is_some()) {
            counted.count_own();
        } else {
            counted.count_static();
        }
        counted
    }

    fn count_own(&mut self) {
        let Some(own) = self.units.iter().find_map(|unit| unit.table.as_ref()) else { return };
        let kinds: Vec<MatchMemory> =
            own.keys.iter().map(|key| self.target.matching.memory(key.kind)).collect();
        self.memory = [MatchMemory::Tcam, MatchMemory::Sram]
            .into_iter()
            .find(|memory| kinds.contains(memory))
            .unwrap_or(MatchMemory::Logic);
        let mut widths: BTreeMap<VariableId, u64> = BTreeMap::new();
        for key in &own.keys {
            let range = key.kind == MatchKind::Range && self.memory == MatchMemory::Tcam;
            let factor = if range { self.target.matching.range_bits_factor } else { 1 };
            *widths.entry(key.variable).or_insert(0) += u64::from(key.width_bits) * factor;
        }
        self.keys = keys(widths, self.memory);
        self.rows = own.entries.max(1);
        self.actions = u64::from(own.actions);
    }

    fn count_static(&mut self) {
        let guards: Vec<_> = self.units.iter().map(|unit| &unit.guard).collect();
        let limit = self.target.entries_limit();
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        let Some(rules) = cross_product_within(&guards, most) else {
            self.rules = limit + 1;
            return;
        };
        let mut widths: BTreeMap<VariableId, u64> = BTreeMap::new();
        for (variable, condition) in rules.iter().flat_map(|rule| &rule.conditions) {
            let declared = self.problem.variables.get(variable.0 as usize);
            let bits = declared.map_or(0, |declared| u64::from(declared.width_bits));
            let range = matches!(condition, Condition::Range { .. })
                && self.target.matching.compiled == MatchMemory::Tcam;
            let factor = if range { self.target.matching.range_bits_factor } else { 1 };
            let width = widths.entry(*variable).or_insert(0);
            *width = (*width).max(bits * factor);
        }
        let sets: BTreeSet<&Vec<usize>> =
            rules.iter().map(|rule| &rule.runs).filter(|runs| !runs.is_empty()).collect();
        self.actions = sets.len() as u64;
        if !widths.is_empty() {
            self.memory = self.target.matching.compiled;
            self.rules = rules.len() as u64;
            self.rows = self.rules;
            self.keys = keys(widths, self.memory);
        }
    }

    pub(super) fn takes(&self, resource: Resource) -> u64 {
        let said: u64 = self.units.iter().filter_map(|unit| unit.demand.get(&resource)).sum();
        let own = self.units.iter().find_map(|unit| unit.table.as_ref());
        let ternary: u64 = self.keys.iter().map(|key| key.ternary).sum();
        let exact: u64 = self.keys.iter().map(|key| key.exact).sum();
        let in_tcam = self.memory == MatchMemory::Tcam;
        let memory = &self.target.memory;
        let overhead = memory.array_overhead_blocks;
        let array_blocks: u64 =
            sum(self.arrays().iter().map(|a| self.cells_blocks(*a).saturating_add(overhead)));
        match resource {
            Resource::Tables => 1,
            Resource::TernaryTables => sum([said, u64::from(in_tcam)]),
            Resource::Gateways => {
                let guarded = own.is_some() && self.units.iter().any(|u| !u.guard.is_always());
                sum([said, u64::from(guarded)])
            }
            Resource::TcamBlocks if in_tcam => {
                let across = up(ternary, memory.tcam_block_bits).max(1);
                let blocks = across.saturating_mul(up(self.rows, memory.tcam_block_words).max(1));
                sum([said, blocks])
            }
            Resource::SramBlocks => {
                let keys = match (self.memory, own) {
                    (MatchMemory::Sram, Some(own)) => {
                        let key: u64 = own.keys.iter().map(|key| u64::from(key.width_bits)).sum();
                        self.packed(self.rows, key + memory.exact_entry_overhead_bits)
                    }
                    (MatchMemory::Sram, None) => self.packed(self.rows, exact),
                    (MatchMemory::Tcam, _) => memory.ternary_indirection_blocks,
                    (MatchMemory::Logic, _) => 0,
                };
                let data = own.map_or(0, |own| match own.action_data_bits {
                    0 => 0,
                    bits => self.packed(self.rows.max(1), u64::from(bits)),
                });
                sum([said, keys, data, array_blocks])
            }
            Resource::ArrayBlocks => sum([said, array_blocks]),
            Resource::StatefulAlus => sum([said, self.arrays().len() as u64]),
            Resource::ExactMatchBits => exact,
            Resource::TernaryMatchBits => ternary,
            Resource::MatchBits => self.keys.iter().map(|key| key.exact.max(key.ternary)).sum(),
            Resource::ActionDataBits => {
                sum([said, own.map_or(0, |own| u64::from(own.action_data_bits))])
            }
            Resource::Actions => sum([said, self.actions]),
            Resource::Entries => sum([said, self.rules]),
            Resource::TcamBlocks
            | Resource::HashUnits
            | Resource::HashBits
            | Resource::Instructions
            | Resource::Statements
            | Resource::RegisterActions
            | Resource::Counters => said,
        }
    }

    fn arrays(&self) -> BTreeSet<ArrayId> {
        let known = |array: &ArrayId| self.problem.arrays.get(array.0 as usize).is_some();
        self.units.iter().filter_map(|unit| unit.array).filter(known).collect()
    }

    pub(super) fn array_takes(&self, array: ArrayId, resource: Resource) -> u64 {
        match resource {
            Resource::ArrayBlocks | Resource::SramBlocks => self.cells_blocks(array),
            Resource::RegisterActions => {
                let of = |unit: &&&Unit| unit.array == Some(array);
                let actions: BTreeSet<u32> =
                    self.units.iter().filter(of).map(|unit| unit.register_action).collect();
                let further =
                    self.units.iter().filter(of).map(|unit| {
                        unit.demand.get(&Resource::RegisterActions).copied().unwrap_or(0)
                    });
                actions.len() as u64 + further.sum::<u64>()
            }
            _ => 0,
        }
    }

    fn cells_blocks(&self, array: ArrayId) -> u64 {
        let Some(array) = self.problem.arrays.get(array.0 as usize) else { return 0 };
        let bits = u64::from(array.cell_bits);
        let widths = self.target.stateful_alu.cell_bits.iter();
        let cell = widths.copied().filter(|width| *width >= bits).min().unwrap_or(bits);
        let memory = &self.target.memory;
        let block = memory.sram_block_words * memory.sram_block_bits;
        up(array.length.saturating_mul(cell), block).max(1)
    }

    /// Blocks for so many entries of so many bits: several a row, or several rows each.
    fn packed(&self, entries: u64, bits: u64) -> u64 {
        let memory = &self.target.memory;
        let bits = bits.max(1);
        let a_row = memory.sram_block_bits / bits;
        if a_row >= 1 {
            up(up(entries, a_row), memory.sram_block_words).max(1)
        } else {
            let rows = up(entries, memory.sram_block_words).max(1);
            up(bits, memory.sram_block_bits).saturating_mul(rows)
        }
    }
}

fn keys(widths: BTreeMap<VariableId, u64>, memory: MatchMemory) -> Vec<Key> {
    let key = |(variable, bits)| match memory {
        MatchMemory::Tcam => Key { variable, exact: 0, ternary: bits },
        MatchMemory::Sram | MatchMemory::Logic => Key { variable, exact: bits, ternary: 0 },
    };
    widths.into_iter().map(key).collect()
}

/// Users can write sizes whose sums leave 64 bits.
fn sum(amounts: impl IntoIterator<Item = u64>) -> u64 {
    amounts.into_iter().fold(0, u64::saturating_add)
}

/// Division that rounds up.
fn up(amount: u64, unit: u64) -> u64 {
    amount / unit + u64::from(!amount.is_multiple_of(unit))
}
