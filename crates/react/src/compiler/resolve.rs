// SPDX-License-Identifier: Apache-2.0
//! From declarations to control-plane names: the plan speaks of the objects of both lowered programs, and the interface
//! gets the malleable tables.

use super::actions::ExpandedAction;
use super::plan::{ActionPlan, Plan, TablePlan};
use super::tables::{ExpandedTable, MISS};
use super::{MeasuredPack, MeasuredRegister, PipelinePlan, Translation};
use crate::interface::{Interface, KeyKind, ReactionTable, Scalar, TableAction, TableKey};
use crate::language::{Gress, P4rProgram, codes};
use ir::ready::ReadyProgram;
use ir::{MatchKind, OriginId, Program, Table};
use p4::ast::{Declaration, DeclarationKind, NodeId};
use source::{Diagnostic, Diagnostics};
use std::sync::Arc;

/// The node that an origin is of.
fn node_of(program: &Program, origin: OriginId) -> Option<NodeId> {
    program.origins.get(origin.index())?.node
}

/// The control-plane name that ends with a local name.
fn full_name<'n>(mut names: impl Iterator<Item = &'n Arc<str>>, local: &str) -> Arc<str> {
    let is_it = |name: &&Arc<str>| {
        name.strip_suffix(local).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    names.find(is_it).cloned().unwrap_or_else(|| local.into())
}

/// Completes the plan and the interface.
pub(super) fn resolve(
    program: &P4rProgram,
    run: &Translation,
    written: &ReadyProgram,
    ready: &ReadyProgram,
) -> Result<(Plan, Interface), Diagnostics> {
    let as_written = written.program();
    let as_run = ready.program();
    let registers = || as_run.registers.iter().map(|register| &register.name);
    let alternatives =
        program.declarations.fields.iter().map(|field| field.alternatives.len()).collect();
    let groups = super::groups::Groups::of(program).reactions();
    let mut plan = Plan { alternatives, groups, ..Plan::default() };
    for pipeline in &run.parts.pipelines {
        let inits = pipeline.inits.iter().map(|init| super::InitTable {
            table: full_name(as_run.tables.iter().map(|table| &table.name), &init.table),
            action: full_name(as_run.actions.iter().map(|action| &action.name), &init.action),
            parameters: init.parameters.clone(),
        });
        plan.pipelines.push(PipelinePlan { gress: pipeline.gress, inits: inits.collect() });
    }
    for pack in &run.parts.packs {
        plan.packs.push(MeasuredPack {
            words: pack.words.iter().map(|word| full_name(registers(), word)).collect(),
            sequence: full_name(registers(), &pack.sequence),
            ..pack.clone()
        });
    }
    let mut found = Diagnostics::new();
    for (node, register) in &run.parts.registers {
        let mut all = as_run.registers.iter();
        let own = all.find(|one| node_of(as_run, one.origin) == Some(*node));
        let Some(gress) = writer(program, *node, &mut found) else { continue };
        plan.registers.push(MeasuredRegister {
            register: own.map_or(register.name.clone(), |own| own.name.clone()),
            copies: full_name(registers(), &register.copies),
            times: register.times.as_ref().map(|times| full_name(registers(), times)),
            gress,
            ..register.clone()
        });
    }
    let mut interface = program.interface.clone();
    for table in &as_written.tables {
        let node = node_of(as_written, table.origin);
        let Some(expanded) = run.parts.tables.iter().find(|one| Some(one.table) == node) else {
            continue;
        };
        let planned = plan_table(program, expanded, table, as_written, as_run);
        if planned.is_malleable {
            interface.tables.push(reaction_table(program, table, as_written));
        } else {
            let declared = declaration_of(program, as_written, table.origin);
            interface.ordinary_tables.push(c_name(declared, &table.name));
        }
        plan.tables.push(planned);
    }
    for (at, table) in interface.tables.iter().enumerate() {
        if let Some(other) = interface.tables[..at].iter().find(|other| other.name == table.name) {
            let message = format!("two malleable tables are `{}` in C", table.name);
            let error = Diagnostic::error(codes::TABLE_NAME, table.span, message);
            let error = match other.span == table.span {
                true => error
                    .help("apply the control with this table once, or leave the table ordinary"),
                false => error.label(other.span, "the other one").help("rename one of them"),
            };
            found.push(error);
        }
    }
    match found.has_errors() {
        true => Err(found),
        false => Ok((plan, interface)),
    }
}

/// The pipeline that writes a register; an error if both do.
fn writer(program: &P4rProgram, register: NodeId, found: &mut Diagnostics) -> Option<Gress> {
    let usage = super::usage::Usage::of(program);
    let writers = usage.writers(register);
    match writers.as_slice() {
        [Gress::Ingress, Gress::Egress] => {
            let reactions = &program.declarations.reactions;
            let span = reactions.first().map_or(source::Span::NONE, |reaction| reaction.name.span);
            let message = "ingress and egress write a register that is an argument";
            found.push(
                Diagnostic::error(codes::BOTH_PIPELINES, span, message)
                    .help("use a register for each pipeline"),
            );
            None
        }
        [gress] => Some(*gress),
        _ => Some(Gress::Ingress),
    }
}

fn plan_table(
    program: &P4rProgram,
    expanded: &ExpandedTable,
    table: &Table,
    as_written: &Program,
    as_run: &Program,
) -> TablePlan {
    let action_named = |node: NodeId, name: &str| {
        let mut all = as_run.actions.iter();
        // Nested controls may be instantiated more than once; the control's path tells the instances apart.
        let prefix = table.name.rsplit_once('.').map_or("", |(prefix, _)| prefix);
        let is_it = |action: &&ir::Action| node_of(as_run, action.origin) == Some(node);
        let own = all.clone().filter(is_it).find(|action| action.name.starts_with(prefix));
        own.or_else(|| all.find(is_it))
            .map_or_else(|| Arc::from(name), |action| action.name.clone())
    };
    let of = |node: NodeId| -> Option<&ExpandedAction> {
        expanded.actions.iter().find(|action| action.action == node)
    };
    let actions = table.actions.iter().map(|listed| {
        let action = &as_written.actions[listed.action.index()];
        let found = node_of(as_written, action.origin).and_then(of);
        match found {
            Some(found) => ActionPlan {
                action: action.name.clone(),
                fields: found.fields.clone(),
                specialised: found
                    .specialised
                    .iter()
                    .map(|(node, name)| action_named(*node, name))
                    .collect(),
            },
            // `NoAction` of a table without a default action; a table of its own has the miss.
            None => {
                let prefix = table.name.rsplit_once('.').map_or("", |(prefix, _)| prefix);
                let miss: Arc<str> = match prefix {
                    "" => MISS.into(),
                    prefix => format!("{prefix}.{MISS}").into(),
                };
                let is_replaced = expanded.default_table.is_some();
                let specialised = if is_replaced { miss } else { action.name.clone() };
                ActionPlan {
                    action: action.name.clone(),
                    fields: Vec::new(),
                    specialised: vec![specialised],
                }
            }
        }
    });
    let default_table = expanded.default_table.as_ref().map(|(node, name)| {
        let prefix = table.name.rsplit_once('.').map_or("", |(prefix, _)| prefix);
        let is_it = |one: &&Table| node_of(as_run, one.origin) == Some(*node);
        let mut all = as_run.tables.iter();
        let own = all.clone().filter(is_it).find(|one| one.name.starts_with(prefix));
        own.or_else(|| all.find(is_it))
            .map_or_else(|| Arc::from(name.as_str()), |one| one.name.clone())
    });
    let in_egress = as_written.blocks.iter().any(|block| {
        ir::architecture::stages_of(as_written, block) == Some(Gress::Egress)
            && program.pipeline(Gress::Egress).is_some_and(|(control, _)| {
                table.name.split('.').any(|part| *part == *control.name.text)
            })
    });
    TablePlan {
        table: table.name.clone(),
        is_malleable: expanded.is_malleable,
        gress: if in_egress { Gress::Egress } else { Gress::Ingress },
        keys: expanded.keys.clone(),
        selectors: expanded.selectors.clone(),
        actions: actions.collect(),
        default_table,
        default_selectors: expanded.default_selectors.clone(),
    }
}

/// The declaration of a table or an action.
fn declaration_of<'p>(
    program: &'p P4rProgram,
    as_written: &Program,
    origin: OriginId,
) -> Option<&'p Declaration> {
    let node = node_of(as_written, origin)?;
    let all = &program.typed.program.declarations;
    let locals = all.iter().flat_map(|declaration| match &declaration.kind {
        DeclarationKind::Control(control) => control.locals.as_slice(),
        _ => &[],
    });
    all.iter().chain(locals).find(|one| one.id == node)
}

/// The name in C: that of the declaration, which `@name` does not change, or the last part of the control-plane name.
fn c_name(declared: Option<&Declaration>, name: &str) -> Arc<str> {
    match declared {
        Some(declared) => declared.name.text.clone(),
        None => name.rsplit('.').next().unwrap_or(name).into(),
    }
}

/// A malleable table as reactions see it.
fn reaction_table(program: &P4rProgram, table: &Table, as_written: &Program) -> ReactionTable {
    let kind = |kind: &MatchKind| match kind {
        MatchKind::Lpm => KeyKind::Lpm,
        MatchKind::Ternary => KeyKind::Ternary,
        MatchKind::Range => KeyKind::Range,
        MatchKind::Optional => KeyKind::Optional,
        _ => KeyKind::Exact,
    };
    let keys = table.keys.iter().map(|key| TableKey {
        name: key.name.clone(),
        ty: Scalar::unsigned(key.width_bits),
        kind: kind(&key.match_kind),
    });
    let actions = table.actions.iter().map(|listed| {
        let action = &as_written.actions[listed.action.index()];
        let parameters = action.parameters.iter().map(|parameter| {
            let ty = &as_written.slots[parameter.slot.index()].ty;
            (parameter.name.clone(), Scalar::unsigned(ty.width_bits()))
        });
        TableAction {
            name: c_name(declaration_of(program, as_written, action.origin), &action.name),
            parameters: parameters.collect(),
            is_for_entries: !listed.default_only,
            is_for_default: !listed.table_only,
        }
    });
    let declared = declaration_of(program, as_written, table.origin);
    ReactionTable {
        name: c_name(declared, &table.name),
        span: declared.map_or(source::Span::NONE, |declared| declared.span),
        keys: keys.collect(),
        actions: actions.collect(),
        has_priorities: table.has_priorities(),
        default_may_change: !table.const_default_action,
    }
}
