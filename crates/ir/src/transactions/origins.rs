// SPDX-License-Identifier: Apache-2.0
//! [`MergedOrigins`]: origins of fused accesses. They are collected while the program is only read, and added
//! to it at the end, as far as they are used.

use crate::{Operation, Origin, OriginId, Program};
use std::collections::HashMap;

/// New origins, numbered after those of the program.
pub(super) struct MergedOrigins {
    first: usize,
    added: Vec<Origin>,
    known: HashMap<(OriginId, OriginId), OriginId>,
}

impl MergedOrigins {
    pub(super) fn of(program: &Program) -> MergedOrigins {
        MergedOrigins { first: program.origins.len(), added: Vec::new(), known: HashMap::new() }
    }

    fn get<'o>(&'o self, program: &'o Program, id: OriginId) -> Option<&'o Origin> {
        match id.index().checked_sub(self.first) {
            Some(at) => self.added.get(at),
            None => program.origins.get(id.index()),
        }
    }

    /// The atomic block that an instruction of this origin belongs to.
    pub(super) fn atomic_block(&self, program: &Program, id: OriginId) -> Option<u32> {
        self.get(program, id)?.atomic
    }

    /// The origin of two accesses that become one: the first one's, with the merged origins of both.
    pub(super) fn together(
        &mut self,
        program: &Program,
        (first, second): (OriginId, OriginId),
    ) -> OriginId {
        if let Some(known) = self.known.get(&(first, second)) {
            return *known;
        }
        let mut merged: Vec<OriginId> = Vec::new();
        for id in [first, second] {
            let Some(origin) = self.get(program, id) else { continue };
            let all = if origin.merged.is_empty() { &[id][..] } else { &origin.merged };
            for id in all {
                if !merged.contains(id) {
                    merged.push(*id);
                }
            }
        }
        let id = OriginId((self.first + self.added.len()) as u32);
        let origin = self.get(program, first).cloned();
        let origin = origin.unwrap_or_else(|| Origin::at(source::Span::NONE));
        self.added.push(Origin { merged, ..origin });
        self.known.insert((first, second), id);
        id
    }

    /// Adds those that instructions have, also in the updates of accesses.
    pub(super) fn add_to(self, program: &mut Program) {
        let mut numbers: Vec<Option<OriginId>> = vec![None; self.added.len()];
        let Program { regions, origins, .. } = program;
        let mut add = |id: &mut OriginId| {
            let Some(at) = id.index().checked_sub(self.first) else { return };
            let Some(added) = self.added.get(at) else { return };
            *id = *numbers[at].get_or_insert_with(|| {
                origins.push(added.clone());
                OriginId(origins.len() as u32 - 1)
            });
        };
        let blocks = regions.iter_mut().flat_map(|region| &mut region.blocks);
        for instruction in blocks.flat_map(|block| &mut block.instructions) {
            add(&mut instruction.origin);
            if let Operation::RegisterAccess { update: Some(update), .. } =
                &mut instruction.operation
            {
                update.body.iter_mut().for_each(|inner| add(&mut inner.origin));
            }
        }
    }
}
