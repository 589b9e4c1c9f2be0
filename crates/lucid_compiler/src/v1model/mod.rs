// SPDX-License-Identifier: Apache-2.0
//! From the normal form to P4_16 for v1model: one control a handler, with the user's names and the
//! control flow of the source. Dispatch, serialisation and delay are `scheduler`'s; what the control
//! plane has to set up is decided where compiled programs run.
//!
//! The text is put together piece by piece, each with the place in the Lucid source that it stands
//! for; [`p4::build`] reads and checks it.

mod accesses;
mod calculations;
mod checksums;
pub mod codes;
pub(super) mod context;
mod control;
mod generated;
mod handlers;
mod headers;
mod interface;
mod parsers;
pub(super) mod shapes;
mod tables;
mod user;

use super::names::Names;
use super::scheduler;
use crate::addressed;
use crate::compiled::{Compiled, GlobalPlace, PortGroup};
use crate::options::{Delay, Options};
use codes::INTERNAL;
use context::Context;
use lucid::core::{GlobalId, GlobalKind, Program};
use p4::build::ProgramBuilder;
use shapes::Shapes;
use source::{Diagnostic, Diagnostics, SourceMap};
use std::sync::Arc;
use user::UserDeclarations;
pub use user::add_files;
pub(super) use user::tokens as user_tokens;

/// Compiles a program in normal form. The map has its sources.
///
/// # Errors
///
/// What the target cannot do; spans point into the map.
pub fn compile(
    program: &Program,
    mut map: SourceMap,
    options: &Options,
) -> Result<Compiled, Diagnostics> {
    let program = &checksums::added_up(program);
    let mut names = interface::INTERFACE.names();
    let shapes = Shapes::new(program, &mut names);
    let mut metadata_names = Names::new(&[]);
    let externs =
        program.externs.iter().map(|one| metadata_names.fresh(&format!("extern_{}", one.name)));
    let externs = externs.collect();
    let mut context = Context {
        program,
        options,
        names,
        shapes,
        pieces: Vec::new(),
        comments: Vec::new(),
        found: Diagnostics::new(),
        port_groups: Vec::new(),
        switch_groups: Vec::new(),
        floods: false,
        mixes: false,
        delays: false,
        calculations: Vec::new(),
        globals: Vec::new(),
        externs,
        handlers: Vec::new(),
        empties_payload: false,
        addresses_packets: addressed::sends_packets(program),
    };
    registers(&mut context);
    let registers = std::mem::take(&mut context.pieces);
    parsers::write(&mut context);
    let parser = std::mem::take(&mut context.pieces);
    handlers::write(&mut context);
    let handlers = std::mem::take(&mut context.pieces);
    scheduler::controls(&mut context);
    let scheduler = std::mem::take(&mut context.pieces);
    scheduler::constants(&mut context);
    headers::write(&mut context);
    scheduler::metadata(&mut context);
    context.pieces.extend(registers);
    context.pieces.extend(parser);
    context.pieces.extend(handlers);
    let own = map.clone();
    let user = user::read(&mut context, &mut map);
    context.pieces.extend(scheduler);
    let calculations = calculations::unmarked(&mut context, user.position);
    if context.found.has_errors() {
        return Err(context.found);
    }
    finish(context, (own, map), options, &calculations, &user)
}

/// A register for each array, pair array and counter.
fn registers(context: &mut Context<'_>) {
    let program = context.program;
    for (at, global) in program.globals.iter().enumerate() {
        let id = GlobalId(at as u32);
        let (cell_bits, length, is_pair) = match &global.kind {
            GlobalKind::Array { width_bits, length } => (*width_bits, *length, false),
            GlobalKind::PairArray { width_bits, length } => (*width_bits, *length, true),
            GlobalKind::Counter { width_bits, .. } => (*width_bits, 1, false),
            GlobalKind::Table(_) => {
                context.globals.push(GlobalPlace::Absent(id));
                continue;
            }
        };
        let name = context.names.fresh(&global.name);
        let width_bits = if is_pair { 2 * cell_bits } else { cell_bits };
        context.put(global.span, format!("register<bit<{width_bits}>>({length}) {name};"));
        if *name != *global.name {
            context.comments.push((name.clone(), format!("{}", global.name)));
        }
        let name = Arc::from(name);
        context.globals.push(GlobalPlace::Register { global: id, name, cell_bits, is_pair });
    }
}

/// A builder of the program, with what has been written so far.
fn builder(context: &Context<'_>, map: SourceMap) -> ProgramBuilder {
    let mut builder = ProgramBuilder::new(map, &["core.p4", interface::FILE]);
    for (span, text) in &context.pieces {
        builder.put(*span, text);
    }
    builder
}

/// Reads and checks what was written. The maps are those without and with the user's P4.
fn finish(
    context: Context<'_>,
    (own, map): (SourceMap, SourceMap),
    options: &Options,
    calculations: &calculations::Calculations,
    user: &UserDeclarations,
) -> Result<Compiled, Diagnostics> {
    let mut builder = ProgramBuilder::new(map, &["core.p4", interface::FILE]);
    for (declaration, text) in &context.comments {
        builder.comment(declaration, text.as_str());
    }
    for (number, (span, text)) in context.pieces.iter().enumerate() {
        if number == user.position {
            builder.put_tokens(&user.tokens);
        }
        builder.put(*span, text);
    }
    let built = builder.finish().map_err(|(wrong, _)| {
        let alone = Options { before: None, after: None, ..options.clone() };
        if !user.is_empty() && compile(context.program, own, &alone).is_ok() {
            return user.blamed(&wrong);
        }
        let text: String = context.pieces.iter().map(|(_, text)| format!("{text}\n")).collect();
        internal(&wrong, &text)
    })?;
    Ok(Compiled {
        probes: scheduler::probes::probes(&context),
        hashes: calculations.named(&built.program),
        built,
        warnings: Diagnostics::new(),
        options: options.clone(),
        globals: context.globals,
        port_groups: context.port_groups,
        switch_groups: context.switch_groups,
        floods: context.floods,
        most_generated: context.shapes.slot_count,
        cut_lengths: Vec::new(),
        egress_values: false,
        mixes: context.mixes,
        addresses_packets: context.addresses_packets,
        delay_period_ps: match options.delay {
            Delay::Queue if context.delays => options.delay_period_ps,
            _ => 0,
        },
    })
}

/// The P4_16 checker does not take what was made.
fn internal(wrong: &Diagnostics, text: &str) -> Diagnostics {
    let mut found = Diagnostics::new();
    for one in wrong.iter() {
        let message = format!("the P4_16 program made of this is wrong: {}", one.message);
        let help = "this is a mistake in Planewright; please report it with the program";
        let diagnostic = Diagnostic::error(INTERNAL, one.primary.span, message).help(help);
        found.push(match one.primary.span.is_none() {
            true => diagnostic.note(text.to_string()),
            false => diagnostic,
        });
    }
    found
}

/// The number of a group among those that are known.
pub(super) fn group_number(known: &mut Vec<PortGroup>, group: PortGroup) -> u32 {
    let at = known.iter().position(|one| *one == group).unwrap_or_else(|| {
        known.push(group);
        known.len() - 1
    });
    at as u32
}
