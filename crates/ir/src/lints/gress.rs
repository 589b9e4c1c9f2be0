// SPDX-License-Identifier: Apache-2.0
//! Calls and writes that the architecture gives a meaning in another block only: requests that the device carries
//! out elsewhere, metadata that it reads elsewhere, and ports where it looks for the drop port alone.

use super::Lints;
use crate::architecture::{BlockRole, Description, MetadataField};
use crate::codes::lints as codes;
use crate::effects::{Location, of_region};
use crate::{Operand, Operation, OriginId, Place, RegionId};
use source::Diagnostic;

impl<'p> Lints<'p> {
    pub(super) fn gress(&mut self) {
        let Some(description) = crate::architecture::of(self.program) else { return };
        if description.ports.is_none() {
            return;
        }
        for (at, block) in self.program.blocks.iter().enumerate() {
            if let Some(role) = description.block(&block.role) {
                self.requests(description, role, at);
                for field in description.metadata {
                    self.writes(description, role, field, at);
                }
            }
        }
    }

    fn operations(&self, block: usize) -> Vec<(RegionId, &'p Operation, OriginId)> {
        let regions = self.program.regions_of_block(block).into_iter();
        let program = self.program;
        regions
            .flat_map(|region| {
                let blocks = program.regions[region.index()].blocks.iter();
                let instructions = blocks.flat_map(|block| &block.instructions);
                instructions.map(move |it| (region, &it.operation, it.origin))
            })
            .collect()
    }

    /// Whether another block's tables run the region, too.
    fn is_shared(&self, region: RegionId, block: usize) -> bool {
        (0..self.program.blocks.len())
            .any(|other| other != block && self.program.regions_of_block(other).contains(&region))
    }

    fn requests(&mut self, description: &Description, role: &BlockRole, block: usize) {
        for (region, operation, origin) in self.operations(block) {
            let Operation::Request { request, .. } = operation else { continue };
            let name = &*self.program.requests[request.index()].name;
            if !description.requests.contains(&name)
                || role.requests.contains(&name)
                || self.is_shared(region, block)
            {
                continue;
            }
            let others = description.blocks.iter().filter(|it| it.requests.contains(&name));
            let others: Vec<&str> = others.map(|it| it.display_name).collect();
            self.found.push(
                Diagnostic::warning(
                    codes::WRONG_BLOCK,
                    self.span(origin),
                    format!("this call has no meaning in {}", role.display_name),
                )
                .note(format!(
                    "{} defines `{name}` in {}",
                    description.title,
                    joined(&others)
                )),
            );
        }
    }

    fn writes(
        &mut self,
        description: &Description,
        role: &BlockRole,
        field: &MetadataField,
        block: usize,
    ) {
        let Some(slot) = self.program.slot_named(&field.slot_name()) else { return };
        let regions = self.program.regions_of_block(block);
        let is_read = |region: &RegionId| {
            of_region(self.program, *region).reads.contains(&Location::Slot(slot))
        };
        let drop = description.ports.and_then(|ports| ports.drop).map(u64::from);
        let drop_only = drop.filter(|_| role.drop_only.contains(field));
        let is_used = self.analysis.liveness().at_block_end(block).contains(slot);
        if is_used && drop_only.is_none() {
            return;
        }
        let stores: Vec<(RegionId, &Operand, OriginId)> = self
            .operations(block)
            .into_iter()
            .filter_map(|(region, operation, origin)| match operation {
                Operation::Store { place: Place::Slot(written), value } if *written == slot => {
                    Some((region, value, origin))
                }
                _ => None,
            })
            .collect();
        let number = |value: &Operand| match value {
            Operand::Constant(value) => value.to_u64(),
            Operand::Temp(_) => None,
        };
        // Another port takes an earlier drop back.
        let drops = |value: &Operand| drop_only.is_some() && number(value) == drop_only;
        if stores.is_empty()
            || stores.iter().any(|(_, value, _)| drops(value))
            || regions.iter().any(is_read)
        {
            return;
        }
        for (region, value, origin) in stores {
            if self.is_shared(region, block) || (drop_only.is_some() && number(value).is_none()) {
                continue;
            }
            let named = (field.storage, None, field.name);
            let place = self.span(origin);
            let Some(access) = self.accesses().within(place, named, |it| it.is_written) else {
                continue;
            };
            let diagnostic = Diagnostic::warning(
                codes::WRONG_BLOCK,
                access.span,
                format!("a write of `{}` in {} has no effect", field.name, role.display_name),
            );
            let diagnostic = match drop_only {
                Some(drop) => diagnostic.note(format!(
                    "behind {} {} only looks whether it is {drop}, which drops the packet",
                    role.display_name, description.title
                )),
                None => diagnostic.note(reader(description, field)),
            };
            self.found.push(diagnostic);
        }
    }
}

/// Where the device reads a field.
fn reader(description: &Description, field: &MetadataField) -> String {
    let reads = |role: &&BlockRole| {
        role.reads.contains(field) || role.transitions.iter().any(|it| it.reads.contains(field))
    };
    let blocks =
        description.blocks.iter().filter(|role| reads(role) && !role.drop_only.contains(field));
    let blocks: Vec<&str> = blocks.map(|role| role.display_name).collect();
    match blocks.is_empty() {
        true => format!("{} sets it and does not read it", description.title),
        false => format!("{} reads it behind {} only", description.title, joined(&blocks)),
    }
}

fn joined(names: &[&str]) -> String {
    names.join(" and ")
}
