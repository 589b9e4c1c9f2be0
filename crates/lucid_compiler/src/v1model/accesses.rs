// SPDX-License-Identifier: Apache-2.0
//! Accesses of arrays, pairs and counters: one read, a computation, one write, which the pipeline IR
//! fuses into one transaction (`ir::transactions`). A cell out of range reads zero.

use super::control::Control;
use crate::expressions::{self, BuiltIn, Environment, wire_bits};
use lucid::core::{
    Access, CONDITION_1, CONDITION_2, Expression, GlobalId, GlobalKind, LocalId, Memop, MemopBody,
    NEW_CELL_1, NEW_CELL_2, Use,
};
use source::Span;

/// Writes one access.
pub(super) fn access(
    control: &mut Control<'_, '_>,
    global: GlobalId,
    index: &Expression,
    access: &Access,
    result: Option<LocalId>,
) {
    let Some((register, cell_bits, is_pair)) = control.context.register(global) else { return };
    let program = control.context.program;
    let declared = &program.globals[global.0 as usize];
    let length = match declared.kind {
        GlobalKind::Array { length, .. } | GlobalKind::PairArray { length, .. } => length,
        _ => 1,
    };
    let index_bits = wire_bits(index.ty);
    let index = match index_bits {
        0..=32 => {
            let leaf = control.leaf(index, &format!("{register}_index"));
            expressions::cast(leaf, index_bits, 32)
        }
        _ => {
            let narrowed = control.narrowed(index, index_bits);
            control.held("bit<32>", &format!("{register}_index"), &narrowed)
        }
    };
    let width_bits = if is_pair { 2 * cell_bits } else { cell_bits };
    let may_miss = index_bits >= 32 || u64::from(index_bits) >= 64 || (1 << index_bits) > length;
    let read = |control: &mut Control<'_, '_>| {
        let ty = format!("bit<{width_bits}>");
        let cell = control.declare(control.span, &ty, &format!("{register}_cell"));
        if may_miss {
            // Otherwise the target decides what a read beyond the end gives.
            control.put(format!("{cell} = 0;"));
        }
        control.put(format!("{register}.read({cell}, {index});"));
        cell
    };
    match access {
        Access::Simple { get, set } => {
            let reads = |one: &Option<Use>| !matches!(one, None | Some(Use::Value(_)));
            let mut arguments = Vec::new();
            for one in [get, set] {
                arguments.push(one.as_ref().map(|one| argument(control, one, &register)));
            }
            let cell = if reads(get) || reads(set) { read(control) } else { String::new() };
            let mut values = Vec::new();
            for (one, argument) in [get, set].into_iter().zip(arguments) {
                let both = one.as_ref().zip(argument);
                values.push(both.map(|(one, argument)| used(control, one, &cell, &argument)));
            }
            let (written, got) = (values.pop().flatten(), values.pop().flatten());
            if let Some(written) = written {
                control.put(format!("{register}.write({index}, {written});"));
            }
            if let (Some(result), Some(got)) = (result, got) {
                let result = control.local(result);
                control.put(format!("{result} = {got};"));
            }
        }
        Access::Complex { memop, arguments, default } => {
            let memop = &program.memops[memop.0 as usize];
            let arguments =
                [control.leaf(&arguments[0], "argument"), control.leaf(&arguments[1], "argument")];
            let default = control.leaf(default, "otherwise");
            let cell = read(control);
            let (written, got) = complex(control, memop, (&cell, is_pair), arguments, &default);
            control.put(format!("{register}.write({index}, {written});"));
            if let Some(result) = result {
                let result = control.local(result);
                control.put(format!("{result} = {got};"));
            }
        }
    }
}

/// The value that a use brings along, before the cell is read.
fn argument(control: &mut Control<'_, '_>, one: &Use, register: &str) -> String {
    match one {
        Use::Old => String::new(),
        Use::Value(value) => control.text(value),
        Use::Add(value) => control.operand(value),
        Use::Memop(_, value) => control.leaf(value, &format!("{register}_argument")),
    }
}

/// What a use makes of the cell.
fn used(control: &mut Control<'_, '_>, one: &Use, cell: &str, argument: &str) -> String {
    match one {
        Use::Old => cell.to_string(),
        Use::Value(_) => argument.to_string(),
        Use::Add(_) => format!("{cell} + {argument}"),
        Use::Memop(memop, _) => {
            let memop = &control.context.program.memops[memop.0 as usize];
            let mut inside = Inside::new(&[(LocalId(0), cell), (LocalId(1), argument)]);
            match &memop.body {
                MemopBody::Return(value) => expressions::text(value, &mut inside),
                MemopBody::If(condition, then, otherwise) => format!(
                    "{} ? {} : {}",
                    expressions::operand(condition, &mut inside),
                    expressions::operand(then, &mut inside),
                    expressions::operand(otherwise, &mut inside)
                ),
                // A complex one at a place for simple ones changes nothing.
                MemopBody::Complex { .. } => cell.to_string(),
            }
        }
    }
}

/// A memop of three or four arguments: what is written, and the result.
fn complex(
    control: &mut Control<'_, '_>,
    memop: &Memop,
    (cell, is_pair): (&str, bool),
    arguments: [String; 2],
    default: &str,
) -> (String, String) {
    let MemopBody::Complex { conditions, cell1, cell2, returned } = &memop.body else {
        return (cell.to_string(), default.to_string());
    };
    let ty = format!("bit<{}>", memop.width_bits);
    let name = &memop.name;
    let mut inside = Inside::new(&[]);
    let (old1, old2) = if is_pair {
        let (high, low) = (2 * memop.width_bits - 1, memop.width_bits);
        let first = control.held(&ty, "first", &format!("{cell}[{high}:{low}]"));
        let second = control.held(&ty, "second", &format!("{cell}[{}:0]", low - 1));
        inside.set(LocalId(0), &first);
        inside.set(LocalId(1), &second);
        inside.set(LocalId(2), &arguments[0]);
        inside.set(LocalId(3), &arguments[1]);
        (first, second)
    } else {
        inside.set(LocalId(0), cell);
        inside.set(LocalId(1), &arguments[0]);
        inside.set(LocalId(2), &arguments[1]);
        // The second cell is one that only the memop sees.
        (cell.to_string(), default.to_string())
    };
    for (at, (condition, local)) in conditions.iter().zip([CONDITION_1, CONDITION_2]).enumerate() {
        if let Some(condition) = condition {
            let text = expressions::text(condition, &mut inside);
            let held = control.held("bool", &format!("{name}_condition_{}", at + 1), &text);
            inside.set(local, &held);
        }
    }
    let mut new = Vec::new();
    for (updates, old) in [(cell1, old1), (cell2, old2)] {
        let mut value = old;
        for (guard, update) in updates.iter().rev() {
            let guard = expressions::operand(guard, &mut inside);
            let update = expressions::operand(update, &mut inside);
            value = format!("({guard} ? {update} : {value})");
        }
        new.push(value);
    }
    let mut held = Vec::new();
    for (at, value) in new.iter().enumerate() {
        held.push(match updates_none(at, cell1, cell2) {
            true => value.clone(),
            false => control.held(&ty, &format!("{name}_new_{}", at + 1), value),
        });
    }
    inside.set(NEW_CELL_1, &held[0]);
    inside.set(NEW_CELL_2, &held[1]);
    let got = match returned {
        Some((guard, value)) => format!(
            "{} ? {} : {default}",
            expressions::operand(guard, &mut inside),
            expressions::operand(value, &mut inside)
        ),
        None => default.to_string(),
    };
    let written = if is_pair { format!("{} ++ {}", held[0], held[1]) } else { held[0].clone() };
    (written, got)
}

fn updates_none(
    at: usize,
    cell1: &[(Expression, Expression)],
    cell2: &[(Expression, Expression)],
) -> bool {
    [cell1, cell2][at].is_empty()
}

/// What a memop sees: cells and arguments.
struct Inside {
    names: Vec<String>,
}

impl Inside {
    fn new(known: &[(LocalId, &str)]) -> Inside {
        let mut inside = Inside { names: vec![String::new(); 8] };
        for (local, name) in known {
            inside.set(*local, name);
        }
        inside
    }

    fn set(&mut self, local: LocalId, name: &str) {
        self.names[local.0 as usize] = name.to_string();
    }
}

/// Memops know only cells, arguments and constants (`lucid::memop`).
impl Environment for Inside {
    fn local(&mut self, local: LocalId) -> String {
        self.names.get(local.0 as usize).cloned().unwrap_or_default()
    }

    fn built_in(&mut self, _: BuiltIn, _: Span) -> (String, u32) {
        ("0".to_string(), 0)
    }

    fn hash(&mut self, _: u32, _: &[(String, u32)], _: u32, _: Span) -> String {
        "0".to_string()
    }

    fn checksum(&mut self, _: &[(String, u32)], _: Span) -> String {
        "0".to_string()
    }

    fn impossible(&mut self, _: Span) {}
}
