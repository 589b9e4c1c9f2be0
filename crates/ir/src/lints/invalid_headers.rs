// SPDX-License-Identifier: Apache-2.0
//! Fields of headers that no block before makes valid: read, or written to no effect (P4_16 v1.2.5 §8.18).

use super::Lints;
use super::accesses::Access;
use crate::{Operand, Operation, Place, RegionId, SlotId};
use p4::codes::typing::INVALID_HEADER_READ;
use source::{Diagnostic, Span};
use std::collections::{BTreeMap, BTreeSet};

/// A field of a header: its name, the type's, the field's.
type Field<'p> = (&'p str, Option<&'p str>, &'p str);

/// An instruction that accesses a field.
struct FieldUse<'p> {
    /// The place of the statement, or of the table whose key it is.
    span: Span,
    field: Field<'p>,
    is_write: bool,
    is_valid: bool,
}

impl<'p> Lints<'p> {
    pub(super) fn invalid_headers(&mut self) {
        let fields = self.fields();
        let mut uses: Vec<FieldUse<'p>> = Vec::new();
        for region in 0..self.program.regions.len() {
            self.uses_in(RegionId(region as u32), &fields, &mut uses);
        }
        if uses.iter().all(|it| it.is_valid) {
            return;
        }
        // Code that is inlined several times is wrong if it is so each time.
        let mut found: BTreeMap<Span, (bool, &Access, bool)> = BTreeMap::new();
        let suspects: BTreeSet<Span> =
            uses.iter().filter(|it| !it.is_valid).map(|it| it.span).collect();
        for it in uses.iter().filter(|it| suspects.contains(&it.span)) {
            let wanted = |access: &Access| match it.is_write {
                true => access.is_written,
                false => access.is_read,
            };
            if let Some(access) = self.accesses().within(it.span, it.field, wanted) {
                let known = found.entry(access.span).or_insert((false, access, it.is_write));
                known.0 |= it.is_valid;
                known.2 &= it.is_write;
            }
        }
        let warnings = found.into_iter().filter(|(_, (is_valid, ..))| !is_valid).map(
            |(span, (_, access, is_write))| {
                let outcome = match is_write {
                    true => "this write has no effect",
                    false => "its fields have no value",
                };
                let message = format!("header `{}` is never valid here, so {outcome}", access.base);
                let warning = Diagnostic::warning(INVALID_HEADER_READ, span, message)
                    .note("no parser state or statement before makes it valid");
                match is_write {
                    true => warning.help("call its `setValid` before its fields are written"),
                    false => warning,
                }
            },
        );
        let warnings: Vec<Diagnostic> = warnings.collect();
        self.found.extend(warnings);
    }

    /// Fields of headers by their slots, with the validity slots of the headers.
    fn fields(&self) -> BTreeMap<SlotId, (SlotId, Field<'p>)> {
        let mut fields = BTreeMap::new();
        for header in &self.program.headers {
            let ty = &self.program.header_types[header.ty.index()];
            for (at, field) in ty.fields.iter().enumerate() {
                let named: Field<'p> = (&header.name, Some(&ty.name), &field.name);
                fields.insert(header.field_slot(at), (header.valid_slot(), named));
            }
        }
        fields
    }

    fn uses_in(
        &self,
        region: RegionId,
        fields: &BTreeMap<SlotId, (SlotId, Field<'p>)>,
        uses: &mut Vec<FieldUse<'p>>,
    ) {
        let program = self.program;
        for (at, block) in program.regions[region.index()].blocks.iter().enumerate() {
            // Keys stand in the table, not where it is applied.
            let mut key_of = BTreeMap::new();
            for instruction in &block.instructions {
                if let Operation::Apply { table, keys, .. } = &instruction.operation {
                    let span = self.span(program.tables[table.index()].origin);
                    key_of.extend(keys.iter().filter_map(|key| match key {
                        Operand::Temp(temp) => Some((*temp, span)),
                        Operand::Constant(_) => None,
                    }));
                }
            }
            self.analysis.validity().visit(region, at, |index, operation, is_valid| {
                let (place, key, is_write) = match operation {
                    Operation::Load { place, result } => (place, key_of.get(result), false),
                    Operation::Store { place, .. } => (place, None, true),
                    _ => return,
                };
                let slots = crate::effects::place_slots(program, place);
                let known: Vec<_> = slots.iter().filter_map(|slot| fields.get(slot)).collect();
                let Some((_, field)) = known.first() else { return };
                let field = match place {
                    Place::Slot(_) => *field,
                    // The name of the stack stands for each of its elements.
                    Place::Element { stack, .. } => {
                        let name: &'p str = &program.stacks[stack.index()].name;
                        (name, field.1, field.2)
                    }
                };
                let origin = block.instructions[index].origin;
                let span = key.copied().unwrap_or_else(|| self.span(origin));
                let is_valid = known.iter().any(|(valid, _)| is_valid(*valid));
                uses.push(FieldUse { span, field, is_write, is_valid });
            });
        }
    }
}
