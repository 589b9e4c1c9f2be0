// SPDX-License-Identifier: Apache-2.0
//! Externs that a program calls and that its architecture's interface does not declare: a device provides none,
//! so such programs are refused before their first packet.

use crate::output::LoadError;
use ir::{Operation, Program};
use std::collections::BTreeSet;

/// Refuses a program that calls an extern which nothing provides.
pub(crate) fn refuse_externs(program: &Program) -> Result<(), LoadError> {
    let mut names = BTreeSet::new();
    let instructions = program
        .regions
        .iter()
        .flat_map(|region| &region.blocks)
        .flat_map(|block| &block.instructions);
    for instruction in instructions {
        if let Operation::CallExtern { target, method, .. } = &instruction.operation
            && let Some(called) = program.externs.get(target.index())
        {
            names.insert(match (called.instance.is_empty(), method.is_empty()) {
                (true, true) => called.type_name.to_string(),
                (true, false) => format!("{}.{method}", called.type_name),
                (false, _) => {
                    format!("{}.{method} (of {})", called.instance, called.type_name)
                }
            });
        }
    }
    if names.is_empty() {
        Ok(())
    } else {
        Err(LoadError::UnsupportedExterns(names.into_iter().collect()))
    }
}
