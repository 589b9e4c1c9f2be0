// SPDX-License-Identifier: Apache-2.0
//! Names of atoms for people: what a statement says, in the words of the program as far as the IR has
//! them. Also the canonical texts by which register actions and outputs of stateful ALUs are compared.

use super::stage::is_wiring;
use super::walk::Walk;
use ir::{
    BinaryOperation, Operand, Operation, Place, Program, RegisterUpdate, Temp, UnaryOperation,
};
use std::collections::HashMap;

/// How deep an expression is written out.
const MAX_DEPTH: usize = 3;

/// A store: `hdr.ipv4.ttl = hdr.ipv4.ttl - 1`.
pub(super) fn store(walk: &Walk<'_, '_>, target: &Place, value: &Operand) -> String {
    format!("{} = {}", place(walk, target), operand(walk, value))
}

/// An operand with what it is computed by.
pub(super) fn operand(walk: &Walk<'_, '_>, operand: &Operand) -> String {
    expression(walk, operand, MAX_DEPTH)
}

fn place(walk: &Walk<'_, '_>, place: &Place) -> String {
    match place {
        Place::Slot(slot) => match walk.program.slots.get(slot.index()) {
            Some(slot) => slot.name.to_string(),
            None => "?".to_string(),
        },
        Place::Element { stack, .. } => match walk.program.stacks.get(stack.index()) {
            Some(stack) => format!("{}[...]", stack.name),
            None => "?".to_string(),
        },
    }
}

fn expression(walk: &Walk<'_, '_>, operand: &Operand, depth: usize) -> String {
    let Some((_, _, operation)) = walk.operation(operand) else {
        return match operand {
            Operand::Constant(bits) => number(bits),
            Operand::Temp(_) => "...".to_string(),
        };
    };
    let Some(deeper) = depth.checked_sub(1) else { return "...".to_string() };
    let inner = |operand: &Operand| expression(walk, operand, deeper);
    match operation {
        Operation::Load { place: from, .. } => place(walk, from),
        Operation::Unary { operation, operand, .. } => match operation {
            UnaryOperation::Not if walk.width_bits(operand) == 1 => format!("!{}", inner(operand)),
            UnaryOperation::Not => format!("~{}", inner(operand)),
            UnaryOperation::Negate => format!("-{}", inner(operand)),
        },
        Operation::Binary { operation, left, right, .. } => {
            format!("{} {} {}", inner(left), sign(*operation), inner(right))
        }
        Operation::Resize { operand, .. } => expression(walk, operand, depth),
        Operation::Slice { operand, high, low, .. } => {
            format!("{}[{high}:{low}]", inner(operand))
        }
        Operation::Select { condition, then, otherwise, .. } => {
            format!("{} ? {} : {}", inner(condition), inner(then), inner(otherwise))
        }
        Operation::Hash { .. } => "hash(...)".to_string(),
        Operation::Random { .. } => "random(...)".to_string(),
        other => self::operation(walk.program, other),
    }
}

fn number(bits: &ir::Bits) -> String {
    match bits.to_u64() {
        Some(small @ 0..256) => small.to_string(),
        Some(number) => format!("{number:#x}"),
        None => format!("{:#x}", bits.to_biguint()),
    }
}

fn sign(operation: BinaryOperation) -> &'static str {
    use BinaryOperation as B;
    match operation {
        B::Add => "+",
        B::Subtract => "-",
        B::Multiply => "*",
        B::DivideUnsigned => "/",
        B::RemainderUnsigned => "%",
        B::AddSaturatingUnsigned | B::AddSaturatingSigned => "|+|",
        B::SubtractSaturatingUnsigned | B::SubtractSaturatingSigned => "|-|",
        B::And => "&",
        B::Or => "|",
        B::Xor => "^",
        B::ShiftLeft => "<<",
        B::ShiftRightLogical | B::ShiftRightArithmetic => ">>",
        B::Equal => "==",
        B::NotEqual => "!=",
        B::LessUnsigned | B::LessSigned => "<",
        B::LessEqualUnsigned | B::LessEqualSigned => "<=",
        B::Concat => "++",
    }
}

/// An operation on state, or one that asks something of the device.
pub(super) fn operation(program: &Program, operation: &Operation) -> String {
    match operation {
        Operation::RegisterAccess { register, old, update, .. } => {
            let name = &program.registers[register.index()].name;
            match (old, update) {
                (Some(_), Some(_)) => format!("{name}: read and write"),
                (_, Some(_)) => format!("{name}: write"),
                _ => format!("{name}: read"),
            }
        }
        Operation::Count { counter, .. } | Operation::CountDirect { counter } => {
            format!("{}: count", program.counters[counter.index()].name)
        }
        Operation::Meter { meter, .. } | Operation::MeterDirect { meter, .. } => {
            format!("{}: meter", program.meters[meter.index()].name)
        }
        Operation::Request { request, .. } => program.requests[request.index()].name.to_string(),
        Operation::ShiftStack { stack, by } if *by >= 0 => {
            format!("{}.push_front({by})", program.stacks[stack.index()].name)
        }
        Operation::ShiftStack { stack, by } => {
            format!("{}.pop_front({})", program.stacks[stack.index()].name, by.unsigned_abs())
        }
        Operation::CallExtern { target, method, .. } => {
            let target = &program.externs[target.index()];
            match (target.instance.is_empty(), method.is_empty()) {
                (true, _) => target.type_name.to_string(),
                (false, true) => target.instance.to_string(),
                (false, false) => format!("{}.{method}", target.instance),
            }
        }
        Operation::ValueSetContains { set, .. } => {
            format!("{}: member", program.value_sets[set.index()].name)
        }
        Operation::Apply { table, .. } => program.tables[table.index()].name.to_string(),
        _ => "value".to_string(),
    }
}

/// What a register access does with the cell, the same text for accesses that do the same: names of
/// temporaries and which fields come in do not count.
pub(super) fn register_action(update: Option<&RegisterUpdate>, old: Option<Temp>) -> String {
    let Some(update) = update else { return "read".to_string() };
    let mut names: HashMap<Temp, String> = HashMap::new();
    if let Some(old) = old {
        names.insert(old, "old".to_string());
    }
    let mut inputs = 0;
    let mut text = String::new();
    let mut name = |operand: &Operand, names: &mut HashMap<Temp, String>| match operand {
        Operand::Constant(bits) => bits.to_string(),
        Operand::Temp(temp) => names
            .entry(*temp)
            .or_insert_with(|| {
                inputs += 1;
                format!("input{inputs}")
            })
            .clone(),
    };
    for (number, inner) in update.body.iter().enumerate() {
        let operands: Vec<String> =
            inner.operation.operands().into_iter().map(|it| name(it, &mut names)).collect();
        text.push_str(&format!("{}({}); ", kind(&inner.operation), operands.join(", ")));
        for result in inner.operation.results() {
            names.insert(result, format!("value{number}"));
        }
    }
    text.push_str(&name(&update.value, &mut names));
    text
}

/// A stateful ALU's output: the expression without names of temporaries.
pub(super) fn output(walk: &Walk<'_, '_>, temp: Temp) -> String {
    let mut text = String::new();
    let mut open = vec![Operand::Temp(temp)];
    while let Some(operand) = open.pop() {
        match walk.operation(&operand) {
            None => text.push_str(&format!("{operand:?} ")),
            Some((_, _, Operation::RegisterAccess { .. })) => text.push_str("old "),
            Some((_, _, Operation::Load { place, .. })) => text.push_str(&format!("{place:?} ")),
            // The path from the ALU to the fields cuts and widens.
            Some((_, _, operation)) => {
                if !is_wiring(operation) {
                    text.push_str(&kind(operation));
                    text.push(' ');
                }
                open.extend(operation.operands().into_iter().rev().cloned());
            }
        }
    }
    text
}

/// A hash: equal texts for hashes that one unit can compute for several users.
pub(super) fn hash(walk: &Walk<'_, '_>, operation: &Operation) -> String {
    let Operation::Hash { algorithm, inputs, .. } = operation else { return String::new() };
    let mut text = format!("{algorithm:?}");
    for input in inputs {
        match input {
            Operand::Constant(bits) => text.push_str(&format!(" {bits}")),
            Operand::Temp(temp) => text.push_str(&format!(" {}", output(walk, *temp))),
        }
    }
    text
}

fn kind(operation: &Operation) -> String {
    match operation {
        Operation::Unary { operation, .. } => format!("{operation:?}"),
        Operation::Binary { operation, .. } => format!("{operation:?}"),
        Operation::Resize { kind, .. } => format!("{kind:?}"),
        Operation::Slice { high, low, .. } => format!("[{high}:{low}]"),
        Operation::Select { .. } => "Select".to_string(),
        _ => "?".to_string(),
    }
}
