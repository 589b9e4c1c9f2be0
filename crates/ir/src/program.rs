// SPDX-License-Identifier: Apache-2.0
//! [`Program`]: a lowered program with its lists of storage, tables, state, code and origins. Items are in
//! files by subject and name each other by typed indices (`ids`).

use crate::{
    Action, ActionProfile, Block, Calculation, Counter, CounterId, Extern, FieldList, Header,
    HeaderId, HeaderType, Meter, Operation, Origin, OriginId, Region, RegionId, RegisterArray,
    Request, Slot, SlotId, Stack, Table, TableId, Union, ValueSet,
};
use std::sync::Arc;

/// A whole lowered program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// Name of the architecture description that lowered it, such as `v1model`; the package's name
    /// if it has no description.
    pub architecture: Arc<str>,
    /// Error names; index 0 is `NoError`.
    pub errors: Vec<Arc<str>>,
    /// Per-packet storage.
    pub slots: Vec<Slot>,
    /// Header layouts.
    pub header_types: Vec<HeaderType>,
    /// Header instances, stack elements and union members among them.
    pub headers: Vec<Header>,
    /// Header stacks and stacks of unions.
    pub stacks: Vec<Stack>,
    /// Header unions: each lists its members.
    pub unions: Vec<Union>,
    /// Match-action tables.
    pub tables: Vec<Table>,
    /// Actions of tables.
    pub actions: Vec<Action>,
    /// Register arrays.
    pub registers: Vec<RegisterArray>,
    /// Counters, indirect and direct.
    pub counters: Vec<Counter>,
    /// Meters, indirect and direct.
    pub meters: Vec<Meter>,
    /// Action profiles and selectors.
    pub action_profiles: Vec<ActionProfile>,
    /// Parser value sets.
    pub value_sets: Vec<ValueSet>,
    /// CRCs whose parameters can be set, each on its own.
    pub calculations: Vec<Calculation>,
    /// Requests that the program may issue to its device.
    pub requests: Vec<Request>,
    /// Extern objects and functions that no description explains.
    pub externs: Vec<Extern>,
    /// Lists of slots that survive a new pass: v1model's `@field_list(N)` by number.
    pub field_lists: Vec<FieldList>,
    /// Code of blocks and actions.
    pub regions: Vec<Region>,
    /// Programmable blocks in the order of the package's parameters.
    pub blocks: Vec<Block>,
    /// Where items come from.
    pub origins: Vec<Origin>,
}

impl Program {
    /// The atomic block that an instruction of this origin belongs to.
    pub fn atomic_block(&self, origin: OriginId) -> Option<u32> {
        self.origins.get(origin.index())?.atomic
    }

    /// The origins that stand together for this one: those that were merged, or itself.
    pub fn merged_origins(&self, origin: OriginId) -> Vec<OriginId> {
        match self.origins.get(origin.index()) {
            Some(Origin { merged, .. }) if !merged.is_empty() => merged.clone(),
            _ => vec![origin],
        }
    }

    /// The slot with this full name.
    pub fn slot_named(&self, name: &str) -> Option<SlotId> {
        self.slots.iter().position(|slot| &*slot.name == name).map(|at| SlotId(at as u32))
    }

    /// The indices of the blocks with this role, which run in this order on the same storage: several only where a
    /// control is cut into stages ([`crate::stages`]).
    pub fn blocks_with_role(&self, role: &str) -> std::ops::Range<usize> {
        let is_one = |block: &Block| &*block.role == role;
        let first = self.blocks.iter().position(is_one).unwrap_or(0);
        let count = self.blocks[first.min(self.blocks.len())..].iter().take_while(|it| is_one(it));
        first..first + count.count()
    }

    /// The layout of a header.
    pub fn header_type(&self, header: HeaderId) -> &HeaderType {
        &self.header_types[self.headers[header.index()].ty.index()]
    }

    /// Regions that a block runs: its own first, then those of the actions of its tables.
    pub fn regions_of_block(&self, block: usize) -> Vec<RegionId> {
        let own = self.blocks[block].region;
        let mut regions = vec![own];
        for instruction in self.regions[own.index()].blocks.iter().flat_map(|it| &it.instructions) {
            let Operation::Apply { table, .. } = &instruction.operation else { continue };
            for listed in &self.tables[table.index()].actions {
                let region = self.actions[listed.action.index()].region;
                if !regions.contains(&region) {
                    regions.push(region);
                }
            }
        }
        regions
    }

    /// Direct counters of a table that count by themselves on a hit: no action of the table counts
    /// them explicitly ([`Operation::Apply`]).
    pub fn automatic_counters(&self, table: TableId) -> Vec<CounterId> {
        let table = &self.tables[table.index()];
        let regions = table.actions.iter().filter_map(|listed| {
            let action = self.actions.get(listed.action.index())?;
            self.regions.get(action.region.index())
        });
        let explicit: Vec<CounterId> = regions
            .flat_map(|region| &region.blocks)
            .flat_map(|block| &block.instructions)
            .filter_map(|instruction| match &instruction.operation {
                Operation::CountDirect { counter } => Some(*counter),
                _ => None,
            })
            .collect();
        table.direct_counters.iter().copied().filter(|it| !explicit.contains(it)).collect()
    }

    /// The number of an error by name.
    pub fn error_number(&self, name: &str) -> Option<u32> {
        self.errors.iter().position(|error| &**error == name).map(|at| at as u32)
    }
}
