// SPDX-License-Identifier: Apache-2.0
//! Headers that a deparser emits twice, and headers that a parser extracts and no deparser emits although they
//! may still be valid there (P4_16 v1.2.5 §16).

use super::{Lints, last_part};
use crate::codes::lints as codes;
use crate::control_flow::reverse_postorder;
use crate::effects::headers_of;
use crate::{
    Block, BlockKind, HeaderId, HeaderRef, Operand, Operation, OriginId, Place, Program, RegionId,
    RegionKind, SlotId,
};
use source::Diagnostic;
use std::collections::{BTreeMap, BTreeSet};

/// Headers that were emitted since they last changed, each by its last emission.
type Emitted = BTreeMap<HeaderId, OriginId>;

impl<'p> Lints<'p> {
    pub(super) fn emitted_headers(&mut self) {
        let deparsers: Vec<usize> = (0..self.program.blocks.len())
            .filter(|at| self.program.blocks[*at].kind == BlockKind::Deparser)
            .collect();
        for &at in &deparsers {
            self.emitted_twice(self.program.blocks[at].region);
        }
        let emitted: BTreeSet<HeaderId> = deparsers
            .iter()
            .flat_map(|at| operations(self.program, self.program.blocks[*at].region))
            .flat_map(|(operation, _)| match operation {
                Operation::Emit { header } => headers_of(self.program, header),
                _ => Vec::new(),
            })
            .collect();
        if self.adds_headers(&emitted) {
            return;
        }
        for block in self.program.blocks.iter().filter(|it| it.kind == BlockKind::Parser) {
            self.not_emitted(block, &deparsers, &emitted);
        }
    }

    /// Warns where every path has emitted a header before and nothing has changed it since.
    fn emitted_twice(&mut self, region: RegionId) {
        let code = &self.program.regions[region.index()];
        let mut starts: Vec<Option<Emitted>> = vec![None; code.blocks.len()];
        if let Some(first) = starts.first_mut() {
            *first = Some(Emitted::new());
        }
        // Each before its successors; an emission in an earlier round of a loop is not looked for.
        for at in reverse_postorder(code) {
            let Some(mut emitted) = starts[at].take() else { continue };
            for instruction in &code.blocks[at].instructions {
                match &instruction.operation {
                    Operation::Emit { header } => {
                        let Some(header) = only(self.program, header) else { continue };
                        if let Some(before) = emitted.insert(header, instruction.origin) {
                            self.report_twice(header, before, instruction.origin);
                        }
                    }
                    operation => {
                        let effects = crate::effects::of_operation(self.program, operation);
                        let written = effects.slots_written();
                        emitted.retain(|header, _| {
                            let header = HeaderRef::Header(*header);
                            let slots =
                                crate::effects::header_reference_slots(self.program, &header);
                            !slots.iter().any(|slot| written.contains(slot))
                        });
                    }
                }
            }
            for successor in code.blocks[at].terminator.successors() {
                match &mut starts[successor.index()] {
                    Some(known) => known.retain(|header, _| emitted.contains_key(header)),
                    slot => *slot = Some(emitted.clone()),
                }
            }
        }
    }

    fn report_twice(&mut self, header: HeaderId, before: OriginId, again: OriginId) {
        let (first, second) = (self.span(before), self.span(again));
        // One call in a control that is applied twice, or in a loop, may be meant.
        if first == second {
            return;
        }
        let name = last_part(&self.program.headers[header.index()].name);
        self.found.push(
            Diagnostic::warning(
                codes::EMITTED_TWICE,
                second,
                format!("header `{name}` is emitted twice"),
            )
            .label(first, "emitted here before")
            .note("the packet gets the header's bytes once more if it is valid"),
        );
    }

    fn not_emitted(&mut self, parser: &Block, deparsers: &[usize], emitted: &BTreeSet<HeaderId>) {
        let program = self.program;
        let mut reported: BTreeSet<String> = BTreeSet::new();
        for (operation, origin) in operations(program, parser.region) {
            let Operation::Extract { header, .. } = operation else { continue };
            let extracted = headers_of(program, header);
            // A header of the same type may leave in its place.
            let is_emitted = |header: &HeaderId| {
                let ty = program.headers[header.index()].ty;
                emitted.iter().any(|it| program.headers[it.index()].ty == ty)
            };
            if extracted.iter().any(is_emitted)
                || extracted.iter().any(|header| self.is_for_controller(*header))
            {
                continue;
            }
            let valid = |header: &HeaderId| program.headers[header.index()].valid_slot();
            let read = |at: usize| {
                crate::effects::of_region(program, program.blocks[at].region).slots_read()
            };
            let leaves = |at: &&usize| {
                program.blocks[**at].parameters.iter().any(|parameter| {
                    let is_in = |header: &HeaderId| parameter.slots.contains(&valid(header));
                    // Not metadata that comes in front of the packet, and not what the deparser reads for a checksum.
                    emitted.iter().any(is_in)
                        && extracted.iter().any(|header| {
                            is_in(header)
                                && !has_field(program, *header, &read(**at))
                                && self.analysis.validity().at_block_start(**at, valid(header))
                        })
                })
            };
            let Some(deparser) = deparsers.iter().find(leaves) else { continue };
            let name = match header {
                HeaderRef::Header(header) => &program.headers[header.index()].name,
                HeaderRef::Element { stack, .. } => &program.stacks[stack.index()].name,
            };
            if !reported.insert(name.to_string()) {
                continue;
            }
            let name = last_part(name);
            let deparser = &program.blocks[*deparser];
            let diagnostic = Diagnostic::warning(
                codes::NOT_EMITTED,
                self.span(origin),
                format!("header `{name}` is extracted, but never emitted"),
            )
            .note(format!("`{}` leaves its bytes out of the packet", deparser.name))
            .help("emit it, or call its `setInvalid` where the packet loses it");
            self.found.push(diagnostic);
        }
    }
}

impl Lints<'_> {
    /// Whether the program makes headers valid that it emits: then it builds other packets than it parses.
    fn adds_headers(&self, emitted: &BTreeSet<HeaderId>) -> bool {
        let slots: BTreeSet<SlotId> = emitted
            .iter()
            .map(|header| self.program.headers[header.index()].valid_slot())
            .collect();
        let regions = self.program.regions.iter().filter(|it| it.kind != RegionKind::Parser);
        let mut instructions = regions.flat_map(|it| &it.blocks).flat_map(|it| &it.instructions);
        instructions.any(|instruction| match &instruction.operation {
            Operation::Store { place: Place::Slot(slot), value } => {
                let is_zero = matches!(value, Operand::Constant(value) if value.is_zero());
                slots.contains(slot) && !is_zero
            }
            _ => false,
        })
    }

    /// Whether only packets of the controller have the header, which the switch takes off.
    fn is_for_controller(&self, header: HeaderId) -> bool {
        let name = &self.program.header_type(header).name;
        self.typed.program.declarations.iter().any(|declaration| {
            declaration.name.text == *name
                && declaration.annotations.iter().any(|it| &*it.name.text == "controller_header")
        })
    }
}

fn operations(program: &Program, region: RegionId) -> impl Iterator<Item = (&Operation, OriginId)> {
    let blocks = program.regions[region.index()].blocks.iter();
    blocks.flat_map(|block| &block.instructions).map(|it| (&it.operation, it.origin))
}

/// Whether some of these slots are fields of a header.
fn has_field(program: &Program, header: HeaderId, slots: &BTreeSet<SlotId>) -> bool {
    let valid = program.headers[header.index()].valid_slot();
    let all = crate::effects::header_reference_slots(program, &HeaderRef::Header(header));
    all.iter().any(|slot| *slot != valid && slots.contains(slot))
}

/// The header of a reference, if it is always the same.
fn only(program: &Program, header: &HeaderRef) -> Option<HeaderId> {
    match header {
        HeaderRef::Header(header) => Some(*header),
        HeaderRef::Element { stack, member, index: Operand::Constant(index) } => {
            let stack = &program.stacks[stack.index()];
            let element = u32::try_from(index.to_u64()?).ok().filter(|it| *it < stack.size)?;
            let offset = element * stack.headers_per_element + member;
            Some(HeaderId(stack.first_header.0 + offset))
        }
        HeaderRef::Element { .. } => None,
    }
}
