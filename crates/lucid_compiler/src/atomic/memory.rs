// SPDX-License-Identifier: Apache-2.0
//! Register actions: which accesses of an array run the same program of its stateful ALU. Whether a
//! stateful ALU can run a program at all is said in [`super::stateful`].

use super::program::{MemoryAccess, MemoryUse, Operand, RegisterAction};
use lucid::core::Program;

/// The number of the register action that does this, added if it is new.
pub(super) fn register_action(
    program: &Program,
    actions: &mut Vec<RegisterAction>,
    access: MemoryAccess,
    returns: bool,
) -> u32 {
    let known =
        actions.iter().position(|action| action.access == access && action.returns == returns);
    if let Some(known) = known {
        return known as u32;
    }
    let base = name(program, &access);
    let mut unique = base.clone();
    let mut number = 2;
    while actions.iter().any(|action| *action.name == *unique) {
        unique = format!("{base}_{number}");
        number += 1;
    }
    actions.push(RegisterAction { name: unique.into(), access, returns });
    actions.len() as u32 - 1
}

/// `get`, `set`, `get_plus`, `setm_plus`, ...
fn name(program: &Program, access: &MemoryAccess) -> String {
    let memop = |id: lucid::core::MemopId| {
        program.memops.get(id.0 as usize).map_or_else(String::new, |memop| memop.name.to_string())
    };
    let part = |side: &MemoryUse| match side {
        MemoryUse::Old => "old".to_owned(),
        MemoryUse::Value(_) => "value".to_owned(),
        MemoryUse::Add(_) => "add".to_owned(),
        MemoryUse::Memop(id, _) => memop(*id),
    };
    match access {
        MemoryAccess::Simple { get, set } => {
            let mut name = Vec::new();
            match get {
                Some(MemoryUse::Old) => name.push("get".to_owned()),
                Some(side) => name.push(format!("get_{}", part(side))),
                None => {}
            }
            match set {
                Some(MemoryUse::Value(_)) => name.push("set".to_owned()),
                Some(side) => name.push(format!("set_{}", part(side))),
                None => {}
            }
            name.join("_")
        }
        MemoryAccess::Complex { memop: id, .. } => format!("update_{}", memop(*id)),
    }
}

impl MemoryAccess {
    /// The operands.
    pub fn operands(&self) -> Vec<Operand> {
        match self {
            MemoryAccess::Simple { get, set } => {
                [get, set].into_iter().flatten().filter_map(MemoryUse::operand).collect()
            }
            MemoryAccess::Complex { arguments, default, .. } => {
                vec![arguments[0], arguments[1], *default]
            }
        }
    }

    /// The same with other operands.
    pub fn map(&self, map: &mut dyn FnMut(Operand) -> Operand) -> MemoryAccess {
        match self {
            MemoryAccess::Simple { get, set } => MemoryAccess::Simple {
                get: get.map(|side| side.map(map)),
                set: set.map(|side| side.map(map)),
            },
            MemoryAccess::Complex { memop, arguments: [first, second], default } => {
                MemoryAccess::Complex {
                    memop: *memop,
                    arguments: [map(*first), map(*second)],
                    default: map(*default),
                }
            }
        }
    }
}

impl MemoryUse {
    /// The operand, if there is one.
    pub fn operand(&self) -> Option<Operand> {
        match self {
            MemoryUse::Old => None,
            MemoryUse::Value(value) | MemoryUse::Add(value) | MemoryUse::Memop(_, value) => {
                Some(*value)
            }
        }
    }

    fn map(self, map: &mut dyn FnMut(Operand) -> Operand) -> MemoryUse {
        match self {
            MemoryUse::Old => MemoryUse::Old,
            MemoryUse::Value(value) => MemoryUse::Value(map(value)),
            MemoryUse::Add(value) => MemoryUse::Add(map(value)),
            MemoryUse::Memop(id, value) => MemoryUse::Memop(id, map(value)),
        }
    }
}
