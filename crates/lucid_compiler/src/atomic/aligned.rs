// SPDX-License-Identifier: Apache-2.0
//! Sums of which an argument of a generated event is the result, where its field fills no container by itself: an ALU
//! of Tofino writes whole containers. They are computed in variables of their own and moved into the field.

use super::program::{AtomicProgram, Operand, Operation, Variable, VariableKind};
use crate::expressions::wire_bits;
use lucid::core::{EventId, Program};
use pisa::VariableId;

/// The program with such sums computed apart.
pub(super) fn apart(core: &Program, mut program: AtomicProgram) -> AtomicProgram {
    for mut statement in std::mem::take(&mut program.statements) {
        let Operation::Compute { to, operator, .. } = &mut statement.operation else {
            program.statements.push(statement);
            continue;
        };
        let field = *to;
        let variable = program.variables[field.0 as usize].clone();
        let fills = match variable.kind {
            VariableKind::Argument { event, parameter, .. } => {
                fills_containers(core, event, parameter, variable.width_bits)
            }
            _ => true,
        };
        if fills || operator.is_bitwise() {
            program.statements.push(statement);
            continue;
        }
        let sum = VariableId(program.variables.len() as u32);
        let name = format!("{}_sum", variable.name).into();
        program.variables.push(Variable { name, kind: VariableKind::Temporary, ..variable });
        *to = sum;
        let mut moved = statement.clone();
        moved.operation = Operation::Move { to: field, from: Operand::Variable(sum) };
        program.statements.extend([statement, moved]);
    }
    program
}

/// Whether the field of a parameter begins with a byte and has as many bits as a container.
fn fills_containers(core: &Program, event: EventId, parameter: u32, width_bits: u32) -> bool {
    let Some(event) = core.events.get(event.0 as usize) else { return true };
    let before = event.parameters.iter().take(parameter as usize);
    let before_bits: u32 = before.map(|parameter| wire_bits(parameter.ty)).sum();
    before_bits.is_multiple_of(8) && matches!(width_bits, 8 | 16 | 32)
}
