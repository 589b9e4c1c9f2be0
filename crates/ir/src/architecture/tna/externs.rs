// SPDX-License-Identifier: Apache-2.0
//! TNA's externs, and what lowering adds to a program for Tofino: the slots `$error` and `$ucast_set`. Objects
//! are constructed in `objects` and called in `methods`.

use super::methods::unicast_flag;
use super::{EGRESS_ERROR, EGRESS_PARSER, FOR_TRAFFIC_MANAGER, INGRESS_ERROR, INGRESS_PARSER};
use super::{methods, objects};
use crate::lowering::{
    Construction, ExternCall, ExternMeaning, Lowered, Lowering, ObjectKind, Value, bit,
};
use crate::{Instruction, Operation, Place};

/// The meaning of TNA's externs.
pub(in crate::architecture) struct Tna;

impl ExternMeaning for Tna {
    fn construct<'a>(
        &self,
        lowering: &mut Lowering<'a>,
        construction: &Construction<'a>,
    ) -> Lowered<Option<ObjectKind>> {
        objects::construct(lowering, construction)
    }

    fn call<'a>(
        &self,
        lowering: &mut Lowering<'a>,
        call: &ExternCall<'a>,
    ) -> Lowered<Option<Value>> {
        match call.object {
            Some(object) => methods::method(lowering, call, object),
            None => methods::function(lowering, call),
        }
    }

    fn finish(&self, lowering: &mut Lowering<'_>) -> Lowered<()> {
        if lowering.program.blocks.iter().any(|block| !block.role.starts_with("pipe0.")) {
            let main = lowering.typed.main.and_then(|main| lowering.declaration_of(main));
            let span = main.map_or(source::Span::NONE, |main| main.span);
            return Err(lowering.error_at(
                span,
                crate::codes::lowering::NOT_EXPRESSIBLE,
                "a switch with programs of their own for its pipes: a device here is one pipe, so give \
                 each pipeline a `Switch` of its own",
            ));
        }
        for (parser, error) in [(INGRESS_PARSER, INGRESS_ERROR), (EGRESS_PARSER, EGRESS_ERROR)] {
            let slot = lowering.fresh_slot(&error.slot_name(), 16);
            for block in &mut lowering.program.blocks {
                if &*block.role == parser.role {
                    block.parser_error = Some(slot);
                }
            }
        }
        note_unicast(lowering);
        Ok(())
    }
}

/// Notes where `ucast_egress_port` is set: without, there is no unicast copy, and 0 is a port.
fn note_unicast(lowering: &mut Lowering<'_>) {
    let Some(Place::Slot(port)) = lowering.shared_slot(FOR_TRAFFIC_MANAGER, "ucast_egress_port")
    else {
        return;
    };
    let slot = unicast_flag(lowering);
    for region in &mut lowering.program.regions {
        for block in &mut region.blocks {
            let mut instructions = Vec::with_capacity(block.instructions.len());
            for instruction in std::mem::take(&mut block.instructions) {
                let is_set = matches!(
                    &instruction.operation,
                    Operation::Store { place: Place::Slot(stored), .. } if *stored == port
                );
                let origin = instruction.origin;
                instructions.push(instruction);
                if is_set {
                    let place = Place::Slot(slot);
                    let operation = Operation::Store { place, value: bit(true) };
                    instructions.push(Instruction { operation, origin });
                }
            }
            block.instructions = instructions;
        }
    }
    for block in &mut lowering.program.blocks {
        for parameter in &mut block.parameters {
            if &*parameter.storage == FOR_TRAFFIC_MANAGER {
                parameter.slots.push(slot);
            }
        }
    }
}
