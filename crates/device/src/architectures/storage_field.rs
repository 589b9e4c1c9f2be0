// SPDX-License-Identifier: Apache-2.0
//! A field of an architecture's metadata in a program's storage. Which fields there are is in the `metadata` file of
//! each architecture.

use super::described_program::DescribedProgram;
use crate::output::LoadError;
use interpreter::PacketContext;
use ir::SlotId;

/// The slot of a metadata field and its width; `None` if no block of the program has the field as a parameter.
#[derive(Clone, Copy, Debug)]
pub(super) struct StorageField(Option<(SlotId, u32)>);

impl StorageField {
    /// Finds a field by the name of its storage and its own.
    pub fn of(
        described: DescribedProgram<'_>,
        storage: &str,
        name: &str,
    ) -> Result<StorageField, LoadError> {
        let slots = &described.program.slots;
        let slot = described.field(storage, name)?;
        Ok(StorageField(slot.map(|slot| (slot, slots[slot.index()].ty.width_bits()))))
    }

    /// Stores the low bits of a number that fit.
    pub fn set(self, context: &mut PacketContext, value: u64) {
        if let Some((slot, _)) = self.0 {
            context.set_number(slot, value);
        }
    }

    /// Returns the stored number, or 0 for an absent field.
    pub fn get(self, context: &PacketContext) -> u64 {
        self.0.map_or(0, |(slot, _)| context.number(slot))
    }

    /// Returns the field's slot.
    pub fn slot(self) -> Option<SlotId> {
        self.0.map(|(slot, _)| slot)
    }

    /// Returns the field's width in bits.
    pub fn width_bits(self) -> Option<u32> {
        self.0.map(|(_, width_bits)| width_bits)
    }

    /// Returns the largest value that fits the field and 32 bits.
    pub fn largest(self) -> u32 {
        match self.0 {
            Some((_, width_bits)) if width_bits < 32 => (1 << width_bits) - 1,
            _ => u32::MAX,
        }
    }
}
