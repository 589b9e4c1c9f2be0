// SPDX-License-Identifier: Apache-2.0
//! [`Program`]: a lowered program with its lists of storage, tables, state, code and origins. Items are in
//! files by subject and name each other by typed indices (`ids`).

use crate::{
    Action, ActionProfile, Block, Calculation, CalculationId, Counter, CounterId, Extern,
    FieldList, Header, HeaderId, HeaderType, Meter, Operation, Origin, OriginId, Region, RegionId,
    RegisterArray, Request, Slot, SlotId, Stack, Table, TableId, Union, ValueSet,
};
use std::sync::Arc;

/// A whole lowered program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// Name of the architecture description that lowered it, such as `v1model`; the package's name
    /// when nobody describes it.
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
    /// What the program may ask of its device.
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

/// Hash and checksum algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HashAlgorithm {
    /// CRC-32 (ISO-HDLC).
    Crc32,
    /// CRC-16/ARC.
    Crc16,
    /// A CRC with parameters of its own.
    Custom(CalculationId),
    /// Always the same: 0 (BMv2's `random` is not supported as a hash of its own there either).
    Random,
    /// The input itself: its first 64 bits as a number (as BMv2 has it), or all of a shorter one.
    Identity,
    /// Internet checksum (RFC 1071).
    Csum16,
    /// Exclusive or of 16-bit words.
    Xor16,
    /// One's complement sum as PSA's `ONES_COMPLEMENT16`.
    OnesComplement16,
    /// Toeplitz or target's own choice, as PNA and PSA's `TARGET_DEFAULT`: CRC-32 here.
    TargetDefault,
    /// A CRC with parameters that the program gives.
    Crc(CrcPolynomial),
}

/// What makes a CRC of 1 to 64 bits, in the terms of the catalogues of CRCs; no number is wider than the
/// CRC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CrcPolynomial {
    /// Width in bits.
    pub width_bits: u32,
    /// The polynomial without its highest term, the coefficient of 1 in the lowest bit.
    pub polynomial: u64,
    /// What the register begins with.
    pub initial: u64,
    /// What the register is combined with in the end.
    pub final_xor: u64,
    /// Whether the bits of each input byte, and those of the register in the end, are taken in reverse.
    pub is_reflected: bool,
}

impl CrcPolynomial {
    /// Whether the width is from 1 to 64 and no parameter is wider.
    pub fn is_valid(&self) -> bool {
        let widest = self.polynomial | self.initial | self.final_xor;
        (1..=64).contains(&self.width_bits) && 64 - widest.leading_zeros() <= self.width_bits
    }

    /// What the register of a reflected CRC of up to 32 bits begins with, the term of the highest power in
    /// the lowest bit.
    pub fn initial_register(&self) -> u32 {
        (self.initial << (64 - self.width_bits)).reverse_bits() as u32
    }
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

    /// The block with this role.
    pub fn block_with_role(&self, role: &str) -> Option<&Block> {
        self.blocks.iter().find(|block| &*block.role == role)
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
