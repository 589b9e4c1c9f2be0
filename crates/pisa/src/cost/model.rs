// SPDX-License-Identifier: Apache-2.0
//! Computes the resources of one table, and caches cross products, which take most of the time.

use super::{Demand, MatchedBits, TableCost, set};
use crate::guard::{Product, VariableId};
use crate::problem::{Array, MatchKind, Problem, ProgramTable, Resource, Unit, UnitId};
use crate::target::{HardwareModel, MatchMemory};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// The costs of a problem's tables on a target.
#[derive(Debug)]
pub struct Model<'a> {
    /// The problem.
    pub problem: &'a Problem,
    /// The hardware.
    pub target: &'a HardwareModel,
    /// Of ascending lists of units; none where there would be too many rules.
    products: RefCell<HashMap<Vec<UnitId>, Option<Rc<Product>>>>,
    /// Of ascending lists of units.
    costs: RefCell<HashMap<Vec<UnitId>, TableCost>>,
}

impl<'a> Model<'a> {
    /// Creates a model with empty caches.
    pub fn new(problem: &'a Problem, target: &'a HardwareModel) -> Model<'a> {
        let (products, costs) = (RefCell::default(), RefCell::default());
        Model { problem, target, products, costs }
    }

    /// Returns the resources of a table of these units. Their order does not matter; the cross product is that of
    /// the units by ascending number.
    pub fn table(&self, units: &[UnitId]) -> TableCost {
        let mut units = units.to_vec();
        units.sort_unstable();
        units.dedup();
        if let Some(known) = self.costs.borrow().get(&units) {
            return known.clone();
        }
        let cost = self.cost(&units);
        self.costs.borrow_mut().insert(units, cost.clone());
        cost
    }

    /// The number of tables whose costs have been computed.
    pub fn computed(&self) -> usize {
        self.costs.borrow().len()
    }

    fn cost(&self, units: &[UnitId]) -> TableCost {
        let known: Vec<&Unit> =
            units.iter().filter_map(|unit| self.problem.units.get(unit.0 as usize)).collect();
        let mut cost = TableCost::default();
        let demand = &mut cost.demand;
        for unit in &known {
            for (resource, amount) in &unit.demand {
                let sum = demand.entry(*resource).or_default();
                *sum = sum.saturating_add(*amount);
            }
        }
        set(demand, Resource::Tables, 1);
        match known.iter().find_map(|unit| Some((unit, unit.table.as_ref()?))) {
            Some((unit, table)) => {
                if !unit.guard.is_always() {
                    add(demand, Resource::Gateways, 1);
                }
                self.program_table(table, &mut cost);
            }
            None => self.static_table(units, &mut cost),
        }
        self.arrays(&known, &mut cost);
        let exact = cost.matched.values().map(|bits| bits.exact).sum();
        let ternary = cost.matched.values().map(|bits| bits.ternary).sum();
        set(&mut cost.demand, Resource::ExactMatchBits, exact);
        set(&mut cost.demand, Resource::TernaryMatchBits, ternary);
        let both = cost.matched.values().map(|bits| bits.exact.max(bits.ternary)).sum();
        set(&mut cost.demand, Resource::MatchBits, both);
        cost
    }

    /// The rules of a table of these units, by ascending number; none if there are more than the
    /// target lets a table have.
    pub fn product(&self, units: &[UnitId]) -> Option<Rc<Product>> {
        let Some((last, before)) = units.split_last() else {
            return Some(Rc::new(Product::new()));
        };
        if let Some(known) = self.products.borrow().get(units) {
            return known.clone();
        }
        let limit = usize::try_from(self.target.entries_limit()).unwrap_or(usize::MAX);
        let product = self.product(before).and_then(|product| {
            let guard = &self.problem.units.get(last.0 as usize)?.guard;
            Some(Rc::new(product.with(guard, limit)?))
        });
        self.products.borrow_mut().insert(units.to_vec(), product.clone());
        product
    }

    fn program_table(&self, table: &ProgramTable, cost: &mut TableCost) {
        let (target, memory) = (self.target, &self.target.memory);
        let entries = table.entries.max(1);
        add(&mut cost.demand, Resource::Actions, u64::from(table.actions));
        add(&mut cost.demand, Resource::ActionDataBits, u64::from(table.action_data_bits));
        let memories: BTreeSet<MatchMemory> =
            table.keys.iter().map(|key| target.matching.memory(key.kind)).collect();
        let ternary = memories.contains(&MatchMemory::Tcam);
        let exact = !ternary && memories.contains(&MatchMemory::Sram);
        for key in &table.keys {
            let factor = match key.kind {
                MatchKind::Range if ternary => target.matching.range_bits_factor,
                _ => 1,
            };
            let bits = u64::from(key.width_bits).saturating_mul(factor);
            let matched = cost.matched.entry(key.variable).or_default();
            if ternary {
                matched.ternary = matched.ternary.saturating_add(bits);
            } else {
                matched.exact = matched.exact.saturating_add(bits);
            }
        }
        let mut sram = 0u64;
        if ternary {
            self.in_tcam(cost, entries);
        } else if exact {
            let key: u64 = table.keys.iter().map(|key| u64::from(key.width_bits)).sum();
            let entry = key.saturating_add(memory.exact_entry_overhead_bits);
            sram = packed_blocks(target, entries, entry);
        }
        if table.action_data_bits > 0 {
            let data = packed_blocks(target, entries, u64::from(table.action_data_bits));
            sram = sram.saturating_add(data);
        }
        add(&mut cost.demand, Resource::SramBlocks, sram);
    }

    fn static_table(&self, units: &[UnitId], cost: &mut TableCost) {
        let target = self.target;
        let width = |variable: VariableId| {
            self.problem.variables.get(variable.0 as usize).map_or(0, |each| each.width_bits)
        };
        let (rules, variables): (u64, BTreeMap<VariableId, bool>) = match self.product(units) {
            Some(product) => {
                add(&mut cost.demand, Resource::Actions, product.actions() as u64);
                (product.len() as u64, product.variables())
            }
            None => {
                let all = units.iter().filter_map(|unit| self.problem.units.get(unit.0 as usize));
                let variables = all.flat_map(|unit| unit.guard.variables());
                let over = target.entries_limit().saturating_add(1);
                (over, variables.map(|variable| (variable, false)).collect())
            }
        };
        // Without keys there is one action, which is the default.
        if variables.is_empty() {
            return;
        }
        cost.rules = rules;
        add(&mut cost.demand, Resource::Entries, rules);
        for (variable, range) in variables {
            let factor = if range { target.matching.range_bits_factor } else { 1 };
            let bits = u64::from(width(variable));
            let matched = match target.matching.compiled {
                MatchMemory::Tcam => MatchedBits { exact: 0, ternary: bits.saturating_mul(factor) },
                MatchMemory::Sram | MatchMemory::Logic => MatchedBits { exact: bits, ternary: 0 },
            };
            cost.matched.insert(variable, matched);
        }
        match target.matching.compiled {
            MatchMemory::Tcam => self.in_tcam(cost, rules),
            MatchMemory::Sram => {
                let key = cost.matched.values().map(|bits| bits.exact).sum();
                add(&mut cost.demand, Resource::SramBlocks, packed_blocks(target, rules, key));
            }
            MatchMemory::Logic => {}
        }
    }

    fn in_tcam(&self, cost: &mut TableCost, entries: u64) {
        let memory = &self.target.memory;
        let bits: u64 = cost.matched.values().map(|bits| bits.ternary).sum();
        let wide = bits.div_ceil(memory.tcam_block_bits).max(1);
        let deep = entries.div_ceil(memory.tcam_block_words).max(1);
        add(&mut cost.demand, Resource::TernaryTables, 1);
        add(&mut cost.demand, Resource::TcamBlocks, wide.saturating_mul(deep));
        add(&mut cost.demand, Resource::SramBlocks, memory.ternary_indirection_blocks);
    }

    fn arrays(&self, units: &[&Unit], cost: &mut TableCost) {
        let mut actions: BTreeMap<_, (BTreeSet<u32>, u64)> = BTreeMap::new();
        for unit in units {
            if let Some(array) = unit.array {
                let (known, further) = actions.entry(array).or_default();
                known.insert(unit.register_action);
                *further += unit.demand.get(&Resource::RegisterActions).copied().unwrap_or(0);
            }
        }
        for (id, (actions, further)) in actions {
            let Some(array) = self.problem.arrays.get(id.0 as usize) else { continue };
            let blocks = array_blocks(self.target, array);
            let mut own = Demand::new();
            set(&mut own, Resource::ArrayBlocks, blocks);
            set(&mut own, Resource::SramBlocks, blocks);
            set(&mut own, Resource::RegisterActions, actions.len() as u64 + further);
            cost.arrays.insert(id, own);
            let taken = blocks.saturating_add(self.target.memory.array_overhead_blocks);
            add(&mut cost.demand, Resource::ArrayBlocks, taken);
            add(&mut cost.demand, Resource::SramBlocks, taken);
            add(&mut cost.demand, Resource::StatefulAlus, 1);
        }
    }
}

/// SRAM blocks for the cells of an array. A cell takes the least width that the stateful ALU has for
/// it.
pub(super) fn array_blocks(target: &HardwareModel, array: &Array) -> u64 {
    let bits = u64::from(array.cell_bits);
    let cell = target.stateful_alu.cell_bits.iter().copied().find(|width| *width >= bits);
    let block = target.memory.sram_block_words.saturating_mul(target.memory.sram_block_bits);
    array.length.saturating_mul(cell.unwrap_or(bits)).div_ceil(block).max(1)
}

/// SRAM blocks for so many entries of so many bits: several entries a row, or several rows an entry.
fn packed_blocks(target: &HardwareModel, entries: u64, entry_bits: u64) -> u64 {
    let (row, words) = (target.memory.sram_block_bits, target.memory.sram_block_words);
    let entry_bits = entry_bits.max(1);
    if entry_bits <= row {
        entries.div_ceil(row / entry_bits).div_ceil(words).max(1)
    } else {
        entry_bits.div_ceil(row).saturating_mul(entries.div_ceil(words).max(1))
    }
}

fn add(demand: &mut Demand, resource: Resource, amount: u64) {
    if amount > 0 {
        let sum = demand.entry(resource).or_default();
        *sum = sum.saturating_add(amount);
    }
}
