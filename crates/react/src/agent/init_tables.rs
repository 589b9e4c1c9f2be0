// SPDX-License-Identifier: Apache-2.0
//! The init tables of the program as written, and the updates that set them.

use crate::compiler::Plan;
use crate::handles;
use crate::interface::Interface;
use ir::{ActionId, Bits, Program, TableId};
use state::{BoundAction, Update};

/// A pipeline's init table in the program as written.
#[derive(Clone, Debug)]
pub(super) struct Init {
    pub(super) table: TableId,
    action: ActionId,
    /// What each parameter is: the working copy, or a malleable by its index among values and then fields.
    pub(super) parameters: Vec<(Option<usize>, u32)>,
    pub(super) is_measuring: bool,
}

impl Init {
    /// The update that loads these malleables and this working copy.
    pub(super) fn update(&self, malleables: &[u64], working_copy: u64) -> Update {
        let arguments = self.parameters.iter().map(|(malleable, width_bits)| {
            let value = malleable.map_or(working_copy, |index| malleables[index]);
            Bits::from_u64(*width_bits, value)
        });
        let action = BoundAction { action: self.action, arguments: arguments.collect() };
        Update::SetDefaultAction { table: self.table, action: Some(action) }
    }
}

/// The init tables of the program as written.
pub(super) fn inits(
    plan: &Plan,
    interface: &Interface,
    written: &Program,
) -> Result<Vec<Init>, String> {
    let mut inits = Vec::new();
    for pipeline in &plan.pipelines {
        let Some(master) = pipeline.inits.first() else { continue };
        let handle = handles::table(written, &master.table)?;
        let table = &written.tables[handle.index()];
        let action = table.actions[table.default_action.action as usize].action;
        let mut is_measuring = false;
        let mut parameters = Vec::new();
        for parameter in &written.actions[action.index()].parameters {
            let value = interface.values.iter().position(|value| value.name == parameter.name);
            let field = || {
                let selector = parameter.name.strip_suffix("__alt")?;
                let at = interface.fields.iter().position(|field| &*field.name == selector)?;
                Some(interface.values.len() + at)
            };
            let malleable = value.or_else(field);
            is_measuring |= malleable.is_none();
            let width_bits = written.slots[parameter.slot.index()].ty.width_bits();
            parameters.push((malleable, width_bits));
        }
        inits.push(Init { table: handle, action, parameters, is_measuring });
    }
    Ok(inits)
}
