// SPDX-License-Identifier: Apache-2.0
//! Prepares a core program for the interpreter. Elaborated programs have no faults, so an index or type that
//! does not fit is an internal error.

mod expression;

use super::arguments::{Slot, empty_object, slots};
use super::prepared::*;
use super::value::{Group, Value};
use expression::{Scope, object, operand, word};
use lucid::core;
use lucid::core::arithmetic::mask;
use source::Span;

/// An inconsistency of a core program, as text.
pub type PrepareError = String;

/// Prepares a program for the interpreter.
///
/// # Errors
///
/// An inconsistent core program: a mistake of elaboration or of a pass.
pub fn prepare(program: &core::Program) -> Result<Prepared, PrepareError> {
    let memops = program.memops.iter().map(|each| memop(program, each));
    let memops = memops.collect::<Result<_, _>>()?;
    let actions = program.actions.iter().map(|each| action(program, each));
    let actions = actions.collect::<Result<_, _>>()?;
    let events = program.events.iter().map(|each| event(program, each));
    let events = events.collect::<Result<_, _>>()?;
    let parsers = program.parsers.iter().map(|each| parser(program, each));
    let parsers = parsers.collect::<Result<_, _>>()?;
    if let Some(main) = program.main_parser {
        within("parser", main.0, program.parsers.len())?;
    }
    let (mut default_actions, mut key_masks) = (Vec::new(), Vec::new());
    for global in &program.globals {
        let core::GlobalKind::Table(table) = &global.kind else {
            default_actions.push((core::ActionId(0), Vec::new()));
            key_masks.push(Vec::new());
            continue;
        };
        within("action", table.default_action.0, program.actions.len())?;
        let arguments = table.default_arguments.iter().map(constant).collect();
        default_actions.push((table.default_action, arguments));
        key_masks.push(table.key_widths.iter().map(|width| mask(*width)).collect());
    }
    let main_parser = program.main_parser.map(|parser| parser.0);
    Ok(Prepared { events, memops, actions, parsers, main_parser, default_actions, key_masks })
}

fn constant(constant: &core::Constant) -> Value {
    match constant {
        core::Constant::Int(value, width_bits) => Value::Int(value & mask(*width_bits)),
        core::Constant::Bool(value) => Value::Bool(*value),
        core::Constant::Group(members) => Value::Group(Group::of(members.clone())),
    }
}

/// That an index is below a count.
fn within(what: &str, index: u32, count: usize) -> Result<(), PrepareError> {
    if (index as usize) < count {
        Ok(())
    } else {
        Err(format!("there is no {what} number {index} among {count}"))
    }
}

fn event(program: &core::Program, event: &core::Event) -> Result<PreparedEvent, PrepareError> {
    let handler = |handler: &Option<core::Body>| {
        let Some(handler) = handler else { return Ok(None) };
        let parameters = event.parameters.iter().map(|parameter| parameter.ty);
        let heads = handler.locals.iter().map(|local| local.ty);
        if !parameters.eq(heads.take(handler.parameter_count as usize)) {
            return Err(format!("a handler's parameters are not those of event {}", event.name));
        }
        body(program, handler).map(Some)
    };
    Ok(PreparedEvent {
        slots: slots(event.parameters.iter().map(|parameter| &parameter.ty)).0,
        wire_number: event.wire_number,
        ingress: handler(&event.handler)?,
        egress: handler(&event.egress_handler)?,
        control: handler(&event.control_handler)?,
    })
}

fn empty_objects(locals: &[core::Local]) -> Vec<Value> {
    let types = locals.iter().map(|local| local.ty);
    types
        .filter(|ty| !matches!(ty, core::Type::Int(_) | core::Type::Bool))
        .map(empty_object)
        .collect()
}

fn body(program: &core::Program, body: &core::Body) -> Result<PreparedBody, PrepareError> {
    let (slots, words, object_count) = slots(body.locals.iter().map(|local| &local.ty));
    let mut scope = Scope { program, slots: &slots, this: object_count, uses_this: false };
    let steps = steps(&mut scope, &body.statements)?;
    let mut objects = empty_objects(&body.locals);
    let this = scope.uses_this.then_some(object_count);
    if this.is_some() {
        objects.push(empty_object(core::Type::Event));
    }
    Ok(PreparedBody { words, objects, this, steps })
}

fn steps(scope: &mut Scope<'_>, statements: &[core::Statement]) -> Result<Vec<Step>, PrepareError> {
    // Blocks may stand 256 deep.
    stacker::maybe_grow(128 * 1024, 1024 * 1024, || {
        statements.iter().map(|from| step(scope, &from.kind, from.span)).collect()
    })
}

fn words(scope: &mut Scope<'_>, list: &[core::Expression]) -> Result<Vec<Word>, PrepareError> {
    list.iter().map(|each| word(scope, each)).collect()
}

fn operands(
    scope: &mut Scope<'_>,
    list: &[core::Expression],
) -> Result<Vec<Operand>, PrepareError> {
    list.iter().map(|each| operand(scope, each)).collect()
}

fn table<'a>(scope: &Scope<'a>, global: core::GlobalId) -> Result<&'a core::Table, PrepareError> {
    within("global", global.0, scope.program.globals.len())?;
    let global = &scope.program.globals[global.0 as usize];
    match &global.kind {
        core::GlobalKind::Table(table) => Ok(table),
        _ => Err(format!("{} is not a table", global.name)),
    }
}

fn same_count(what: &str, given: usize, wanted: usize) -> Result<(), PrepareError> {
    if given == wanted { Ok(()) } else { Err(format!("{given} {what} instead of {wanted}")) }
}

fn step(
    scope: &mut Scope<'_>,
    kind: &core::StatementKind,
    span: Span,
) -> Result<Step, PrepareError> {
    use core::StatementKind as From;
    Ok(match kind {
        From::Assign { local, value, no_inline: _ } => match scope.slot(*local)? {
            Slot::Bool(local) | Slot::Int(local, _) => {
                Step::Assign { local, value: word(scope, value)? }
            }
            Slot::Object(local) => Step::AssignObject { local, value: object(scope, value)? },
        },
        From::Access { global, index, access: what, result } => {
            within("global", global.0, scope.program.globals.len())?;
            let result = match result {
                Some(local) => Some(scope.word_slot(*local)?),
                None => None,
            };
            let index = word(scope, index)?;
            let pair = match scope.program.globals[global.0 as usize].kind {
                core::GlobalKind::PairArray { .. } => true,
                core::GlobalKind::Table(_) => return Err("an access to a table".to_string()),
                _ => false,
            };
            let access = access(scope, what, pair)?;
            let global = *global;
            Step::Access(Box::new(CellAccess { global, index, access, result, span }))
        }
        From::Lookup { table: global, key, arguments, results } => {
            let table = table(scope, *global)?;
            same_count("fields of a key", key.len(), table.key_widths.len())?;
            same_count("arguments", arguments.len(), table.argument_types.len())?;
            same_count("results", results.len(), table.result_types.len())?;
            let key = words(scope, key)?;
            let arguments = operands(scope, arguments)?;
            let results =
                results.iter().map(|local| scope.slot(*local)).collect::<Result<_, _>>()?;
            Step::Lookup { table: *global, key, arguments, results }
        }
        From::Install { table: global, key, priority, action, arguments } => {
            let table = table(scope, *global)?;
            same_count("fields of a key", key.len(), table.key_widths.len())?;
            within("action", action.0, scope.program.actions.len())?;
            let wanted = scope.program.actions[action.0 as usize].install_count as usize;
            same_count("arguments", arguments.len(), wanted)?;
            let mut parts = Vec::with_capacity(key.len());
            for (value, mask) in key {
                let value = word(scope, value)?;
                let mask = mask.as_ref().map(|mask| word(scope, mask)).transpose()?;
                parts.push((value, mask));
            }
            Step::Install(Box::new(Install {
                span,
                table: *global,
                key: parts,
                priority: *priority,
                action: action.0,
                arguments: operands(scope, arguments)?,
            }))
        }
        From::Random { local } => match scope.slot(*local)? {
            Slot::Bool(local) => Step::Random { local, mask: 1 },
            Slot::Int(local, width) => Step::Random { local, mask: mask(width) },
            Slot::Object(_) => return Err("a random number into something else".to_string()),
        },
        From::If { condition, then, otherwise } => Step::If {
            condition: word(scope, condition)?,
            then: steps(scope, then)?,
            otherwise: steps(scope, otherwise)?,
        },
        From::Match { subjects, branches } => {
            let subjects = words(scope, subjects)?;
            let mut list = Vec::with_capacity(branches.len());
            for branch in branches {
                same_count("patterns", branch.patterns.len(), subjects.len())?;
                list.push((branch.patterns.clone(), steps(scope, &branch.statements)?));
            }
            Step::Match { subjects, branches: list }
        }
        From::IfEvent { value, event, locals, then, otherwise } => {
            within("event", event.0, scope.program.events.len())?;
            let wanted = scope.program.events[event.0 as usize].parameters.len();
            same_count("locals for an event", locals.len(), wanted)?;
            Step::IfEvent {
                value: object(scope, value)?,
                event: *event,
                locals: locals.iter().map(|local| scope.slot(*local)).collect::<Result<_, _>>()?,
                then: steps(scope, then)?,
                otherwise: steps(scope, otherwise)?,
            }
        }
        From::Generate { event, destination } => generate(scope, event, destination)?,
        From::Print { pieces } => {
            let mut list = Vec::with_capacity(pieces.len());
            for piece in pieces {
                list.push(match piece {
                    core::PrintPiece::Text(text) => Piece::Text(text.clone()),
                    core::PrintPiece::Value(value) => Piece::Value(operand(scope, value)?),
                });
            }
            Step::Print(list)
        }
        From::CallExtern { function, arguments } => {
            within("extern function", function.0, scope.program.extern_functions.len())?;
            let function = scope.program.extern_functions[function.0 as usize].name.clone();
            let mut list = Vec::with_capacity(arguments.len());
            for argument in arguments {
                list.push(match argument {
                    core::ExternArgument::Text(text) => Piece::Text(text.clone()),
                    core::ExternArgument::Value(value) => Piece::Value(operand(scope, value)?),
                });
            }
            Step::CallExtern { function, arguments: list }
        }
        From::Return => Step::Return,
    })
}

fn generate(
    scope: &mut Scope<'_>,
    event: &core::Expression,
    destination: &core::Destination,
) -> Result<Step, PrepareError> {
    use core::ExpressionKind as Kind;
    // A constructor with at most a delay and a place around it needs no event value. The outermost
    // delay and place count; a destination of the statement counts more than a place.
    let (mut inner, mut delay, mut place) = (event, None, None);
    loop {
        match &inner.kind {
            Kind::Delay { event, nanoseconds } => {
                delay = delay.or(Some(nanoseconds.as_ref()));
                inner = event;
            }
            Kind::Locate { event, switch } => {
                place = place.or(Some((switch.as_ref(), false)));
                inner = event;
            }
            Kind::LocateMany { event, switches } => {
                place = place.or(Some((switches.as_ref(), true)));
                inner = event;
            }
            _ => break,
        }
    }
    let made = matches!(inner.kind, Kind::Event { .. });
    let destination = match (destination, place) {
        (core::Destination::Event, Some((switch, false))) if made => {
            Destination::Switch(word(scope, switch)?)
        }
        (core::Destination::Event, Some((group, true))) if made => {
            Destination::Switches(object(scope, group)?)
        }
        (core::Destination::Event, _) => Destination::Event,
        (core::Destination::Switch(switch), _) => Destination::Switch(word(scope, switch)?),
        (core::Destination::Switches(switches), _) => {
            Destination::Switches(object(scope, switches)?)
        }
        (core::Destination::Port(port), _) => Destination::Port(word(scope, port)?),
        (core::Destination::Ports(ports), _) => Destination::Ports(object(scope, ports)?),
    };
    let event = match &inner.kind {
        Kind::Event { event, arguments } => {
            scope.constructor(*event, arguments.len())?;
            let delay = delay.map(|delay| word(scope, delay)).transpose()?;
            Generate::Made { event: *event, arguments: operands(scope, arguments)?, delay }
        }
        _ => Generate::Value(object(scope, event)?),
    };
    Ok(Step::Generate { event, destination })
}

fn access(
    scope: &mut Scope<'_>,
    access: &core::Access,
    pair: bool,
) -> Result<Access, PrepareError> {
    let is_pair = |memop: core::MemopId| -> Result<bool, PrepareError> {
        within("memop", memop.0, scope.program.memops.len())?;
        Ok(scope.program.memops[memop.0 as usize].argument_count == 4)
    };
    match access {
        core::Access::Simple { .. } if pair => Err("a simple access to pairs".to_string()),
        core::Access::Simple { get, set } => {
            let get = get.as_ref().map(|each| cell_use(scope, each)).transpose()?;
            let set = set.as_ref().map(|each| cell_use(scope, each)).transpose()?;
            Ok(Access::Simple { get, set })
        }
        core::Access::Complex { memop, arguments, default } => {
            if is_pair(*memop)? != pair {
                return Err("a memop over one cell for pairs, or a memop over pairs for one cell"
                    .to_string());
            }
            let [one, other] = arguments;
            let arguments = Box::new([word(scope, one)?, word(scope, other)?]);
            Ok(Access::Complex {
                memop: memop.0,
                arguments,
                default: Box::new(word(scope, default)?),
            })
        }
    }
}

fn cell_use(scope: &mut Scope<'_>, cell_use: &core::Use) -> Result<Use, PrepareError> {
    Ok(match cell_use {
        core::Use::Old => Use::Old,
        core::Use::Value(value) => Use::Value(word(scope, value)?),
        core::Use::Add(value) => Use::Add(word(scope, value)?),
        core::Use::Memop(memop, argument) => {
            within("memop", memop.0, scope.program.memops.len())?;
            Use::Memop(memop.0, word(scope, argument)?)
        }
    })
}

fn memop(program: &core::Program, memop: &core::Memop) -> Result<PreparedMemop, PrepareError> {
    let width = memop.width_bits;
    let cell = |at| Slot::Int(at, width);
    let slots =
        [cell(0), cell(1), cell(2), cell(3), Slot::Bool(4), Slot::Bool(5), cell(6), cell(7)];
    let mut scope = Scope { program, slots: &slots, this: 0, uses_this: false };
    let scope = &mut scope;
    Ok(match &memop.body {
        core::MemopBody::Return(value) => PreparedMemop::Return(word(scope, value)?),
        core::MemopBody::If(condition, then, otherwise) => {
            PreparedMemop::If(word(scope, condition)?, word(scope, then)?, word(scope, otherwise)?)
        }
        core::MemopBody::Complex { conditions, cell1, cell2, returned } => {
            let mut optional = |part: &Option<core::Expression>| {
                part.as_ref().map(|part| word(scope, part)).transpose()
            };
            let conditions = [optional(&conditions[0])?, optional(&conditions[1])?];
            let mut pairs = |list: &[(core::Expression, core::Expression)]| {
                list.iter()
                    .map(|(guard, value)| Ok((word(scope, guard)?, word(scope, value)?)))
                    .collect::<Result<Vec<_>, PrepareError>>()
            };
            let cells = [pairs(cell1)?, pairs(cell2)?];
            let returned = returned.as_ref().map(std::slice::from_ref).unwrap_or_default();
            let returned = pairs(returned)?.pop();
            let pair = memop.argument_count == 4;
            PreparedMemop::Complex { pair, conditions, cells, returned }
        }
    })
}

fn action(program: &core::Program, action: &core::Action) -> Result<PreparedAction, PrepareError> {
    let (slots, _, _) = slots(action.parameters.iter().map(|parameter| &parameter.ty));
    let mut scope = Scope { program, slots: &slots, this: 0, uses_this: false };
    let results = operands(&mut scope, &action.results)?;
    Ok(PreparedAction { results })
}

fn parser(program: &core::Program, parser: &core::Parser) -> Result<PreparedParser, PrepareError> {
    let (slots, words, _) = slots(parser.locals.iter().map(|local| &local.ty));
    let mut scope = Scope { program, slots: &slots, this: 0, uses_this: false };
    let block = block(&mut scope, &parser.block)?;
    let objects = empty_objects(&parser.locals);
    let slots = slots.into_iter().take(parser.parameter_count as usize).collect();
    Ok(PreparedParser { words, objects, slots, block })
}

fn block(scope: &mut Scope<'_>, from: &core::ParserBlock) -> Result<PreparedBlock, PrepareError> {
    let mut actions = Vec::with_capacity(from.actions.len());
    for action in &from.actions {
        actions.push(match action {
            core::ParserAction::Read(locals) => {
                let mut fields = Vec::with_capacity(locals.len());
                for local in locals {
                    fields.push(match scope.slot(*local)? {
                        Slot::Bool(at) => (at, 1),
                        Slot::Int(at, width) => (at, width),
                        Slot::Object(_) => return Err("a parser reads no such type".to_string()),
                    });
                }
                ParserStep::Read(fields)
            }
            core::ParserAction::Skip(bits) => ParserStep::Skip(*bits),
            core::ParserAction::Assign(local, value) => match scope.slot(*local)? {
                Slot::Bool(at) | Slot::Int(at, _) => ParserStep::Assign(at, word(scope, value)?),
                Slot::Object(at) => ParserStep::AssignObject(at, object(scope, value)?),
            },
            core::ParserAction::Rest(local) => match scope.slot(*local)? {
                Slot::Object(at) => ParserStep::Rest(at),
                _ => return Err("the rest of a packet is no number".to_string()),
            },
        });
    }
    let end = match &from.step {
        core::ParserStep::Match { subjects, branches } => {
            let subjects = words(scope, subjects)?;
            let mut list = Vec::with_capacity(branches.len());
            for (patterns, inner) in branches {
                same_count("patterns", patterns.len(), subjects.len())?;
                list.push((patterns.clone(), block(scope, inner)?));
            }
            ParserEnd::Match { subjects, branches: list }
        }
        core::ParserStep::Generate(event) => ParserEnd::Generate(object(scope, event)?),
        core::ParserStep::Call { parser, arguments } => {
            within("parser", parser.0, scope.program.parsers.len())?;
            let wanted = scope.program.parsers[parser.0 as usize].parameter_count as usize;
            same_count("arguments", arguments.len(), wanted)?;
            ParserEnd::Call { parser: parser.0, arguments: operands(scope, arguments)? }
        }
        core::ParserStep::LucidEvent => ParserEnd::LucidEvent,
        core::ParserStep::Drop => ParserEnd::Drop,
    };
    Ok(PreparedBlock { actions, end })
}
