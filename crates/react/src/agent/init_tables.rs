// SPDX-License-Identifier: Apache-2.0
//! The init tables of the program as written, and the updates that set them.

use crate::compiler::{Plan, working_copy_group};
use crate::handles;
use crate::interface::Interface;
use ir::{ActionId, Bits, Program, TableId};
use state::{BoundAction, Update};

/// A parameter of an init action of the program as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parameter {
    /// The working copy of the group of measurements with this number.
    WorkingCopy(usize),
    /// The malleable of this index among values and then fields.
    Malleable(usize),
}

/// A pipeline's init table in the program as written.
#[derive(Clone, Debug)]
pub(super) struct Init {
    pub(super) table: TableId,
    action: ActionId,
    /// What each parameter is, with its width in bits.
    pub(super) parameters: Vec<(Parameter, u32)>,
}

impl Init {
    /// The groups of which its pipeline measures something.
    pub(super) fn groups(&self) -> impl Iterator<Item = usize> {
        self.parameters.iter().filter_map(|(parameter, _)| match parameter {
            Parameter::WorkingCopy(group) => Some(*group),
            Parameter::Malleable(_) => None,
        })
    }

    /// Whether a malleable that it loads differs between two commits.
    pub(super) fn differs(&self, one: &[u64], other: &[u64]) -> bool {
        self.parameters.iter().any(|(parameter, _)| match parameter {
            Parameter::Malleable(index) => one[*index] != other[*index],
            Parameter::WorkingCopy(_) => false,
        })
    }

    /// The update that loads these malleables and the working copies of all groups.
    pub(super) fn update(&self, malleables: &[u64], working_copies: &[u64]) -> Update {
        let arguments = self.parameters.iter().map(|(parameter, width_bits)| {
            let value = match parameter {
                Parameter::WorkingCopy(group) => working_copies[*group],
                Parameter::Malleable(index) => malleables[*index],
            };
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
        let mut parameters = Vec::new();
        for parameter in &written.actions[action.index()].parameters {
            let value = interface.values.iter().position(|value| value.name == parameter.name);
            let field = || {
                let selector = parameter.name.strip_suffix("__alt")?;
                let at = interface.fields.iter().position(|field| &*field.name == selector)?;
                Some(interface.values.len() + at)
            };
            let group = || working_copy_group(&parameter.name).map(Parameter::WorkingCopy);
            let malleable = value.or_else(field).map(Parameter::Malleable);
            let Some(is) = malleable.or_else(group) else {
                return Err(parameter.name.to_string());
            };
            let width_bits = written.slots[parameter.slot.index()].ty.width_bits();
            parameters.push((is, width_bits));
        }
        inits.push(Init { table: handle, action, parameters });
    }
    Ok(inits)
}
