// SPDX-License-Identifier: Apache-2.0
//! The architecture of Tofino 1: its blocks, and what they share. Ingress and egress have headers and
//! metadata of their own; nothing but the packet's bytes goes from one to the other. Its externs are in
//! `tna/objects` and `tna/methods`; how blocks hang together in a switch is the device's matter.
//!
//! Two slots are the description's own: `ig_intr_md_for_tm.$ucast_set` is 1 once the program has set
//! `ucast_egress_port`, and a parser's error number goes to `$error` beside `parser_err`.

mod methods;
mod objects;

use super::{Architecture, TableRole};
use crate::lowering::{Construction, ExternCall, Lowered, Lowering, ObjectKind, Value, bit};
use crate::{Instruction, Operation, Place, SlotId};

/// The description.
pub(super) struct Tna;

/// For the traffic manager, from ingress.
const FOR_TRAFFIC_MANAGER: &str = "ig_intr_md_for_tm";

/// What a block's parameters share with those of others, by the last part of its role.
fn storage_of(role: &str) -> &'static [&'static str] {
    match role {
        "ingress_parser" => &[
            "",
            "ingress.hdr",
            "ingress.md",
            "ig_intr_md",
            FOR_TRAFFIC_MANAGER,
            "ig_intr_md_from_prsr",
        ],
        "ingress" => &[
            "ingress.hdr",
            "ingress.md",
            "ig_intr_md",
            "ig_intr_md_from_prsr",
            "ig_intr_md_for_dprsr",
            FOR_TRAFFIC_MANAGER,
        ],
        "ingress_deparser" => {
            &["", "ingress.hdr", "ingress.md", "ig_intr_md_for_dprsr", "ig_intr_md"]
        }
        "egress_parser" => &["", "egress.hdr", "egress.md", "eg_intr_md", "eg_intr_md_from_prsr"],
        "egress" => &[
            "egress.hdr",
            "egress.md",
            "eg_intr_md",
            "eg_intr_md_from_prsr",
            "eg_intr_md_for_dprsr",
            "eg_intr_md_for_oport",
        ],
        "egress_deparser" => &[
            "",
            "egress.hdr",
            "egress.md",
            "eg_intr_md_for_dprsr",
            "eg_intr_md",
            "eg_intr_md_from_prsr",
        ],
        _ => &[],
    }
}

impl Architecture for Tna {
    fn name(&self) -> &'static str {
        "tna"
    }

    fn storage(&self, role: &str, index: usize) -> Option<&'static str> {
        // Programs for several pipes are several pipelines; one device has one.
        let block = role.strip_prefix("pipe0.")?;
        storage_of(block).get(index).copied().filter(|name| !name.is_empty())
    }

    fn parser_error(&self, _: &str) -> Option<(&'static str, &'static str)> {
        // `parser_err` has bits of its own; see `finish`.
        None
    }

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

    fn table_property(&self, name: &str) -> Option<TableRole> {
        match name {
            "size" => Some(TableRole::Size),
            "idle_timeout" => Some(TableRole::IdleTimeout),
            "implementation" | "counters" | "meters" => Some(TableRole::Object),
            _ => None,
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
        for (role, name) in [
            ("pipe0.ingress_parser", "ig_intr_md_from_prsr.$error"),
            ("pipe0.egress_parser", "eg_intr_md_from_prsr.$error"),
        ] {
            let slot = lowering.fresh_slot(name, 16);
            for block in &mut lowering.program.blocks {
                if &*block.role == role {
                    block.parser_error = Some(slot);
                }
            }
        }
        note_unicast(lowering);
        Ok(())
    }
}

/// The slot that tells whether `ucast_egress_port` was set.
fn unicast_flag(lowering: &mut Lowering<'_>) -> SlotId {
    const NAME: &str = "ig_intr_md_for_tm.$ucast_set";
    match lowering.program.slot_named(NAME) {
        Some(slot) => slot,
        None => lowering.fresh_slot(NAME, 1),
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
