// SPDX-License-Identifier: Apache-2.0
//! Statements of one ALU as P4_16 statements, and the statements of one action in an order in which
//! one after the other gives what all at once would: in a stage everything reads the values from
//! before it, so a statement that writes what another one reads comes after that one.

use super::context::Context;
use super::hashes;
use crate::atomic::draws_before;
use crate::atomic::program::{AluOperator, Index, Operand, Operation, Payload, StatementId};
use crate::expressions::literal;
use lucid::core::GlobalId;
use pisa::{Gress, VariableId};
use source::Span;
use std::collections::BTreeSet;

/// Text of a statement; empty for one that no table does.
pub(super) fn statement(context: &mut Context<'_>, id: StatementId) -> (Span, String) {
    let statement = &context.atomic.statements[id.0 as usize];
    let (gress, span) = (statement.gress, statement.span);
    let text = match &statement.operation {
        Operation::Move { to, from } => {
            let value = context.operand(*from, context.width(*to), gress);
            assignment(context, *to, &value, gress)
        }
        Operation::Compute { to, operator, left, right } => {
            let value = computed(context, *to, *operator, *left, *right, gress);
            assignment(context, *to, &value, gress)
        }
        Operation::Slice { to, from, low, width_bits } => {
            let value = slice(context, *to, *from, *low, *width_bits, gress);
            assignment(context, *to, &value, gress)
        }
        Operation::Concatenate { to, left, right } => {
            let left = context.operand(left.0, left.1, gress);
            let right = context.operand(right.0, right.1, gress);
            assignment(context, *to, &format!("{left} ++ {right}"), gress)
        }
        Operation::Hash { to, hash } => {
            let value = hashes::hash(context, hash, gress, span);
            let width_bits = context.width(*to);
            let value = match hash.width_bits == width_bits {
                true => value,
                false => format!("(bit<{width_bits}>)({value})"),
            };
            assignment(context, *to, &value, gress)
        }
        Operation::Random { to } => {
            let value = hashes::random(context, context.width(*to), span);
            assignment(context, *to, &value, gress)
        }
        Operation::Memory { array, register_action, index, result } => {
            let names = context.registers[array.0 as usize].clone();
            let set = context.parser_index(*array, index).map(|set| {
                let field = format!("ig_md.{}", set.field);
                super::context::resized(&field, set.width_bits, set.width_bits, names.index_bits)
            });
            let index = match index {
                Index::Operand(operand) => {
                    set.unwrap_or_else(|| context.operand(*operand, names.index_bits, gress))
                }
                Index::Hash(hash) => {
                    let value = hashes::hash(context, hash, gress, span);
                    match hash.width_bits == names.index_bits {
                        true => value,
                        false => format!("(bit<{}>)({value})", names.index_bits),
                    }
                }
            };
            let action = names.actions.get(*register_action as usize).cloned().unwrap_or_default();
            let call = format!("{action}.execute({index})");
            match result {
                None => format!("{call};"),
                Some(to) => {
                    let cell_bits =
                        cell_bits(context, context.atomic.arrays[array.0 as usize].global);
                    let width_bits = context.width(*to);
                    let returned_bits = names.returned_bits.get(*register_action as usize).copied();
                    let mut call = call;
                    let mut bits = returned_bits.unwrap_or(cell_bits);
                    // What the cell holds at the program's width, and then at that of the result.
                    for wanted in [cell_bits.min(width_bits), width_bits] {
                        if bits != wanted {
                            call = format!("(bit<{wanted}>){call}");
                            bits = wanted;
                        }
                    }
                    assignment(context, *to, &call, gress)
                }
            }
        }
        Operation::Generate { slot, event, payload } => match gress {
            Gress::Ingress => generate(context, *slot, *event, *payload),
            Gress::Egress => generate_in_egress(context, *event),
        },
        // Tables of the program, and what the deparser does.
        Operation::Lookup { .. } | Operation::Checksum { .. } => String::new(),
    };
    let text = match statement.crosses {
        true => format!("@in_hash {{ {text} }}"),
        false => text,
    };
    (span, text)
}

fn assignment(context: &Context<'_>, to: VariableId, value: &str, gress: Gress) -> String {
    format!("{} = {value};", context.target(to, gress))
}

fn cell_bits(context: &Context<'_>, id: GlobalId) -> u32 {
    use lucid::core::GlobalKind::{Array, Counter, PairArray, Table};
    match context.program.globals.get(id.0 as usize).map(|global| &global.kind) {
        Some(
            Array { width_bits, .. } | PairArray { width_bits, .. } | Counter { width_bits, .. },
        ) => *width_bits,
        Some(Table(_)) | None => 0,
    }
}

fn computed(
    context: &Context<'_>,
    to: VariableId,
    operator: AluOperator,
    left: Operand,
    right: Operand,
    gress: Gress,
) -> String {
    let width_bits = context.width(to);
    let left = context.operand(left, width_bits, gress);
    if let (AluOperator::ShiftLeft | AluOperator::ShiftRight, Operand::Constant(by)) =
        (operator, right)
    {
        if by >= u128::from(width_bits) {
            return literal(0, width_bits);
        }
        let symbol = if operator == AluOperator::ShiftLeft { "<<" } else { ">>" };
        return format!("{left} {symbol} {by}");
    }
    let right = context.operand(right, width_bits, gress);
    let symbol = match operator {
        AluOperator::Add => "+",
        AluOperator::Subtract => "-",
        AluOperator::SaturatingAdd => "|+|",
        AluOperator::SaturatingSubtract => "|-|",
        AluOperator::And => "&",
        AluOperator::Or => "|",
        AluOperator::Xor => "^",
        AluOperator::ShiftLeft => "<<",
        AluOperator::ShiftRight => ">>",
        AluOperator::Minimum => return format!("min({left}, {right})"),
        AluOperator::Maximum => return format!("max({left}, {right})"),
    };
    format!("{left} {symbol} {right}")
}

fn slice(
    context: &Context<'_>,
    to: VariableId,
    from: VariableId,
    low: u32,
    width_bits: u32,
    gress: Gress,
) -> String {
    let base = context.base(from, gress);
    let to_bits = context.width(to);
    let there = base.width_bits.min(context.width(from));
    let taken = width_bits.min(to_bits).min(there.saturating_sub(low));
    if let Some(known) = base.known {
        return literal(known >> low.min(127) & super::context::ones(taken), to_bits);
    }
    if taken == 0 {
        return literal(0, to_bits);
    }
    let text = match low == 0 && taken == base.width_bits {
        true => base.text,
        false => format!("{}[{}:{low}]", base.text, low + taken - 1),
    };
    if taken < to_bits { format!("(bit<{to_bits}>){text}") } else { text }
}

/// The slot holds the event from here on. What no statement writes is said here.
fn generate(
    context: &Context<'_>,
    slot: u32,
    event: lucid::core::EventId,
    payload: Payload,
) -> String {
    let source = if payload == Payload::Cut { "SOURCE_CUT" } else { "SOURCE" };
    let header = context.events.event(event);
    let number = header.number;
    let mut text = format!(
        "hdr.slot{slot}.source_kind = {source}; hdr.slot{slot}.ether_type = ETHERTYPE_LUCID; \
         hdr.slot{slot}.number = {number}; hdr.bridge.slot{slot} = 1;"
    );
    if !super::slots::slot_shapes(context.atomic)[slot as usize].writes_kind {
        text.push_str(&format!("hdr.slot{slot}.place_kind = PLACE_HERE;"));
    }
    text
}

/// The packet is this event from here on; the one that its egress handler ran for goes at the end.
fn generate_in_egress(context: &Context<'_>, event: lucid::core::EventId) -> String {
    let header = context.events.event(event);
    let mut text = format!("eg_md.generated = 1; hdr.frame.number = {};", header.number);
    if header.ty.is_some() {
        text.push_str(&format!("{}.setValid();", context.events.leaving_header(event)));
    }
    text
}

/// Whether one of these draws a random number before one of those.
pub(super) fn draw_before(
    context: &Context<'_>,
    these: &[StatementId],
    those: &[StatementId],
) -> bool {
    let mut firsts = these.iter();
    firsts.any(|first| those.iter().any(|one| draws_before(context.atomic, *first, *one)))
}

/// An order of statements that run at once in which each reads before another one writes, and random
/// numbers are drawn in the source's order; `None` if they write in a circle what others read.
pub(super) fn sequential(
    context: &Context<'_>,
    statements: &[StatementId],
) -> Option<Vec<StatementId>> {
    let mut left: Vec<(StatementId, BTreeSet<VariableId>, BTreeSet<VariableId>)> = statements
        .iter()
        .map(|id| {
            let statement = &context.atomic.statements[id.0 as usize];
            let writes = statement.operation.writes().into_iter().collect();
            (*id, context.atomic.reads(statement), writes)
        })
        .collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        // Whose results no later statement reads.
        let at = left.iter().enumerate().position(|(at, (id, _, writes))| {
            left.iter().enumerate().all(|(other, (before, reads, _))| {
                let is_first = draws_before(context.atomic, *before, *id);
                other == at || (reads.is_disjoint(writes) && !is_first)
            })
        })?;
        order.push(left.remove(at).0);
    }
    Some(order)
}
