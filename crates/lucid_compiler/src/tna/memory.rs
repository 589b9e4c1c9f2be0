// SPDX-License-Identifier: Apache-2.0
//! Arrays, pair arrays and counters as registers, and what handlers do with them as register actions:
//! one for each distinct use (Lucid §6.1, "memory operation table"). A stateful ALU works on 8, 16 or
//! 32 bits, so cells of other widths sit in wider ones, whose upper bits stay zero.

use super::codes::TOO_MANY_REGISTER_ACTIONS;
use super::context::{Context, RegisterNames, control_name, resized};
use super::{memops, narrow_cells};
use crate::atomic::program::{
    ArrayId, Index, MemoryAccess, MemoryUse, Operand, Operation, RegisterAction,
};
use crate::compiled::GlobalPlace;
use crate::expressions::{self, Environment};
use lucid::core::{
    CONDITION_1, CONDITION_2, Expression, GlobalId, GlobalKind, LocalId, MemopBody, NEW_CELL_1,
    NEW_CELL_2, Type,
};
use lucid::syntax::ast::BinaryOperator;
use pisa::Gress;
use source::{Diagnostic, Span};

/// Register actions that one register can have (Lucid §6; the stateful ALU holds four programs).
const MAX_REGISTER_ACTIONS: usize = 4;

/// Width of a cell as hardware has it.
fn physical(width_bits: u32) -> u32 {
    match width_bits {
        0..=8 => 8,
        9..=16 => 16,
        17..=32 => 32,
        _ => width_bits,
    }
}

struct Cell {
    width_bits: u32,
    physical_bits: u32,
    is_pair: bool,
    /// Whether anything may be above the program's width; else zeros are.
    is_loose: bool,
}

/// Which half of the switch an array is in: that of the statements that use it.
pub(super) fn gress(context: &Context<'_>, array: ArrayId) -> Option<Gress> {
    context.atomic.statements.iter().find_map(|statement| match statement.operation {
        Operation::Memory { array: of, .. } if of == array => Some(statement.gress),
        _ => None,
    })
}

/// Declares the registers and register actions of one half of the switch.
pub(super) fn write(context: &mut Context<'_>, half: Gress) {
    let arrays = &context.atomic.arrays;
    context.registers.resize(arrays.len(), RegisterNames::default());
    for (at, array) in arrays.iter().enumerate() {
        let id = ArrayId(at as u32);
        if gress(context, id) == Some(half) {
            register(context, id, array.global, &array.register_actions, half);
        }
    }
}

/// Globals that no register stands for.
pub(super) fn absent(context: &mut Context<'_>) {
    for at in 0..context.program.globals.len() {
        let id = GlobalId(at as u32);
        if !context.globals.iter().any(|place| place.global() == id) {
            context.place(GlobalPlace::Absent(id));
        }
    }
    context.globals.sort_by_key(GlobalPlace::global);
}

fn register(
    context: &mut Context<'_>,
    array: ArrayId,
    id: GlobalId,
    actions: &[RegisterAction],
    half: Gress,
) {
    let Some(global) = context.program.globals.get(id.0 as usize) else { return };
    let (width_bits, length, is_pair, initial) = match &global.kind {
        GlobalKind::Array { width_bits, length } => (*width_bits, *length, false, 0),
        GlobalKind::PairArray { width_bits, length } => (*width_bits, *length, true, 0),
        GlobalKind::Counter { width_bits, initial } => (*width_bits, 1, false, *initial),
        GlobalKind::Table(_) => return,
    };
    if actions.len() > MAX_REGISTER_ACTIONS {
        let message = format!(
            "`{}` has {} kinds of access, more than the {MAX_REGISTER_ACTIONS} that a stateful \
             ALU holds",
            global.name,
            actions.len()
        );
        let uses: Vec<&str> = actions.iter().map(|action| action.name.as_ref()).collect();
        context.found.push(
            Diagnostic::error(TOO_MANY_REGISTER_ACTIONS, global.span, message)
                .note(format!("the kinds of access are: {}", uses.join(", ")))
                .help("use the same memop with the same operands in several places, or split the array"),
        );
    }
    let physical_bits = physical(width_bits);
    let is_narrow = physical_bits != width_bits;
    let is_loose = is_narrow && narrow_cells::are_loose(context.program, actions);
    let cell = Cell { width_bits, physical_bits, is_pair, is_loose };
    let name = context.names.fresh(&global.name);
    let index_bits = index_bits(context, array, length);
    let ty = if is_pair {
        let ty = context.names.fresh(&format!("{name}_pair_t"));
        context.types.push((
            global.span,
            format!("struct {ty} {{ bit<{physical_bits}> first; bit<{physical_bits}> second; }}"),
        ));
        ty
    } else {
        format!("bit<{physical_bits}>")
    };
    let start = if initial == 0 { String::new() } else { format!(", {initial}") };
    let span = global.span;
    context.put(span, format!("Register<{ty}, bit<{index_bits}>>({length}{start}) {name};"));
    context.place(GlobalPlace::Register {
        global: id,
        name: control_name(super::parts::control(half), &name),
        cell_bits: physical_bits,
        is_pair,
    });
    let mut names = RegisterNames { index_bits, ..RegisterNames::default() };
    for action in actions {
        let returned_bits = cell.returned_bits(action);
        let action_name = context.names.fresh(&format!("{name}_{}", action.name));
        let body = body(context, action, &cell, half);
        let at = use_span(context, array, names.actions.len() as u32).unwrap_or(span);
        // Without a result the interface still has one for `execute`; it is not used.
        let returned =
            if action.returns { format!(", out bit<{returned_bits}> rv") } else { String::new() };
        context.put(
            at,
            format!(
                "RegisterAction<{ty}, bit<{index_bits}>, bit<{returned_bits}>>({name}) {action_name} = {{ \
                 void apply(inout {ty} value{returned}) {{ {body} }} }};"
            ),
        );
        names.actions.push(action_name);
        names.returned_bits.push(returned_bits);
    }
    context.registers[array.0 as usize] = names;
}

/// Where a register action is used first.
fn use_span(context: &Context<'_>, of: ArrayId, number: u32) -> Option<Span> {
    context.atomic.statements.iter().find_map(|statement| match &statement.operation {
        Operation::Memory { array, register_action, .. }
            if *array == of && *register_action == number =>
        {
            Some(statement.span)
        }
        _ => None,
    })
}

/// The widest index that any access has, and bits enough for the array.
fn index_bits(context: &Context<'_>, of: ArrayId, length: u64) -> u32 {
    let needed = 64 - length.saturating_sub(1).leading_zeros();
    let used =
        context.atomic.statements.iter().filter_map(|statement| match &statement.operation {
            Operation::Memory { array, index, .. } if *array == of => Some(match index {
                Index::Operand(Operand::Variable(id)) => context.width(*id),
                Index::Operand(Operand::Constant(value)) => 128 - value.leading_zeros(),
                Index::Hash(hash) => hash.width_bits,
            }),
            _ => None,
        });
    used.max().unwrap_or(1).max(needed).max(1)
}

fn body(context: &Context<'_>, action: &RegisterAction, cell: &Cell, gress: Gress) -> String {
    let returned_bits = cell.returned_bits(action);
    let mut body = Body { context, cell, gress, returned_bits, text: String::new() };
    match &action.access {
        MemoryAccess::Simple { get, set } => {
            let names = vec![cell.read(cell.is_pair.then_some("first"))];
            // What goes out has one source: with one memop for both it is the new cell, whichever branch made it.
            let is_new_cell = get == set && is_either(context, get.as_ref());
            if let (Some(get), true, false) = (get, action.returns, is_new_cell) {
                body.simple(get, "rv", false, &names);
            }
            if let Some(set) = set {
                body.simple(set, &cell.place(), true, &names);
            }
            if action.returns && is_new_cell {
                body.text.push_str(&format!("rv = {};", cell.place()));
            }
        }
        MemoryAccess::Complex { memop, arguments, default } => {
            body.complex(context, memop.0, arguments, *default, action.returns);
        }
    }
    body.text
}

/// Whether a memop has two branches.
fn is_either(context: &Context<'_>, side: Option<&MemoryUse>) -> bool {
    let Some(MemoryUse::Memop(id, _)) = side else { return false };
    let memop = context.program.memops.get(id.0 as usize);
    memop.is_some_and(|memop| matches!(memop.body, MemopBody::If(..)))
}

impl Cell {
    fn is_narrow(&self) -> bool {
        self.physical_bits != self.width_bits
    }

    /// Width of what a register action returns: that of hardware for what it computes.
    fn returned_bits(&self, action: &RegisterAction) -> u32 {
        match &action.access {
            MemoryAccess::Simple {
                get: Some(MemoryUse::Add(_) | MemoryUse::Memop(..)), ..
            } if self.is_narrow() => self.physical_bits,
            _ => self.width_bits,
        }
    }

    /// The cell, or one of the two, at the width that the program gave it.
    fn read(&self, half: Option<&str>) -> String {
        let field = half.map_or("value".to_string(), |half| format!("value.{half}"));
        resized(&field, self.physical_bits, self.width_bits, self.width_bits)
    }

    /// The same as hardware has it, with zeros above.
    fn whole(&self, half: Option<&str>) -> String {
        half.map_or("value".to_string(), |half| format!("value.{half}"))
    }

    fn place(&self) -> String {
        if self.is_pair { "value.first".into() } else { "value".into() }
    }

    /// A value of the program's width as it is stored.
    fn stored(&self, text: &str) -> String {
        match self.physical_bits == self.width_bits {
            true => text.to_string(),
            false => format!("(bit<{}>)({text})", self.physical_bits),
        }
    }
}

struct Body<'a, 'p> {
    context: &'a Context<'p>,
    cell: &'a Cell,
    gress: Gress,
    returned_bits: u32,
    text: String,
}

/// A value as text, at the width of hardware.
struct Outcome {
    /// Where it wraps around, and what it is there.
    around: Option<(String, String)>,
    value: String,
}

/// What locals of a memop are called in a register action.
struct MemopNames<'a> {
    names: &'a [(LocalId, String)],
}

// The checker admits only locals in memops (Lucid §4.2).
impl Environment for MemopNames<'_> {
    fn local(&mut self, local: LocalId) -> String {
        let found = self.names.iter().find(|(id, _)| *id == local);
        found.map_or_else(|| "0".to_string(), |(_, name)| name.clone())
    }
}

impl Body<'_, '_> {
    fn store(&mut self, target: &str, is_cell: bool, text: &str) {
        let is_physical = is_cell || self.returned_bits == self.cell.physical_bits;
        let text = if is_physical { self.cell.stored(text) } else { text.to_string() };
        self.text.push_str(&format!("{target} = {text};"));
    }

    fn operand(&self, operand: Operand) -> String {
        self.context.operand(operand, self.cell.width_bits, self.gress)
    }

    /// A condition. It sees whole cells, which hardware cannot slice there, unless it computes with them.
    fn condition(
        &self,
        condition: &Expression,
        names: &[(LocalId, String)],
        whole: &[(LocalId, String)],
    ) -> String {
        let is_narrow = self.cell.physical_bits != self.cell.width_bits;
        let condition = memops::without_steps(condition);
        match is_narrow && memops::ignores_width(&condition) {
            true => {
                let condition = memops::at_width(&condition, self.cell.physical_bits);
                expressions::text(&condition, &mut MemopNames { names: whole })
            }
            false => expressions::text(&condition, &mut MemopNames { names }),
        }
    }

    /// One memop of two arguments, whose outcome goes to a target.
    fn simple(&mut self, side: &MemoryUse, target: &str, is_cell: bool, cell: &[String]) {
        let old = &cell[0];
        match side {
            // Storing what is there is nothing.
            MemoryUse::Old if is_cell => {}
            MemoryUse::Old => self.store(target, is_cell, old),
            MemoryUse::Value(value) => {
                let value = self.operand(*value);
                self.store(target, is_cell, &value);
            }
            MemoryUse::Add(value) => {
                let ty = Type::Int(self.cell.width_bits);
                let local = |id| Expression::local(LocalId(id), ty, Span::NONE);
                let sum =
                    Expression::binary(BinaryOperator::Add, local(0), local(1), ty, Span::NONE);
                let sum = self.result(&sum, *value, old);
                self.put(target, &sum);
            }
            MemoryUse::Memop(id, argument) => {
                let Some(memop) = self.context.program.memops.get(id.0 as usize) else { return };
                match &memop.body {
                    MemopBody::Return(value) => {
                        let value = self.result(value, *argument, old);
                        self.put(target, &value);
                    }
                    MemopBody::If(condition, then, otherwise) => {
                        let names =
                            [(LocalId(0), old.clone()), (LocalId(1), self.operand(*argument))];
                        let condition = self.condition(condition, &names, &self.whole(*argument));
                        let then = self.result(then, *argument, old);
                        let otherwise = self.result(otherwise, *argument, old);
                        self.put_either(target, &condition, &then, &otherwise);
                    }
                    MemopBody::Complex { .. } => {}
                }
            }
        }
    }

    /// The cell and the argument of a memop of two as hardware has them.
    fn whole(&self, argument: Operand) -> [(LocalId, String); 2] {
        let physical_bits = self.cell.physical_bits;
        let argument = self.context.operand(argument, physical_bits, self.gress);
        let cell = self.cell.whole(self.cell.is_pair.then_some("first"));
        [(LocalId(0), cell), (LocalId(1), argument)]
    }

    /// A value of a memop of two arguments, at the width that a cell or the result has in hardware.
    fn result(&self, value: &Expression, argument: Operand, old: &str) -> Outcome {
        let text = |value: &Expression, names: &[(LocalId, String)]| {
            expressions::text(value, &mut MemopNames { names })
        };
        let whole = self.whole(argument);
        if self.cell.is_loose {
            let value = memops::at_width(value, self.cell.physical_bits);
            return Outcome { around: None, value: text(&value, &whole) };
        }
        let known = narrow_cells::with_argument(value, argument);
        let (width_bits, physical_bits) = (self.cell.width_bits, self.cell.physical_bits);
        if self.cell.is_narrow()
            && let Some(made) = narrow_cells::wrapped(&known, width_bits, physical_bits)
        {
            let around =
                made.around.map(|(when, value)| (text(&when, &whole), text(&value, &whole)));
            return Outcome { around, value: text(&made.value, &whole) };
        }
        let names = [(LocalId(0), old.to_string()), (LocalId(1), self.operand(argument))];
        Outcome { around: None, value: self.cell.stored(&text(value, &names)) }
    }

    fn put(&mut self, target: &str, outcome: &Outcome) {
        let Outcome { around, value } = outcome;
        self.text.push_str(&match around {
            None => format!("{target} = {value};"),
            Some((when, around)) => {
                format!("if ({when}) {{ {target} = {around}; }} else {{ {target} = {value}; }}")
            }
        });
    }

    /// One of two outcomes. Branches of equal values are one: each takes an ALU.
    fn put_either(&mut self, target: &str, condition: &str, then: &Outcome, otherwise: &Outcome) {
        match (&then.around, &otherwise.around) {
            (None, Some((when, around))) if *around == then.value => {
                let around = Some((format!("({condition}) || ({when})"), around.clone()));
                self.put(target, &Outcome { around, value: otherwise.value.clone() });
            }
            (Some((when, around)), None) if *around == otherwise.value => {
                let around = Some((format!("!({condition}) || ({when})"), around.clone()));
                self.put(target, &Outcome { around, value: then.value.clone() });
            }
            _ => {
                self.text.push_str(&format!("if ({condition}) {{"));
                self.put(target, then);
                self.text.push_str("} else {");
                self.put(target, otherwise);
                self.text.push('}');
            }
        }
    }

    /// A memop of three or four arguments: old values first, then both cells, then the result.
    fn complex(
        &mut self,
        context: &Context<'_>,
        memop: u32,
        arguments: &[Operand; 2],
        default: Operand,
        returns: bool,
    ) {
        let Some(memop) = context.program.memops.get(memop as usize) else { return };
        let MemopBody::Complex { conditions, cell1, cell2, returned } = &memop.body else { return };
        let is_pair = memop.argument_count == 4;
        let width_bits = self.cell.width_bits;
        let physical_bits = self.cell.physical_bits;
        let default = self.operand(default);
        let [one, other] = arguments.map(|operand| self.operand(operand));
        let old = |name: &str| resized(name, physical_bits, width_bits, width_bits);
        let mut names = vec![(LocalId(0), old("old_1"))];
        let first = self.cell.place();
        self.text.push_str(&format!("bit<{physical_bits}> old_1 = {first};"));
        if is_pair {
            self.text.push_str(&format!("bit<{physical_bits}> old_2 = value.second;"));
            names.extend([(LocalId(1), old("old_2")), (LocalId(2), one), (LocalId(3), other)]);
        } else {
            names.extend([(LocalId(1), one), (LocalId(2), other)]);
        }
        let whole = self.whole_names(is_pair, arguments);
        for (condition, id) in conditions.iter().zip([CONDITION_1, CONDITION_2]) {
            if let Some(condition) = condition {
                let text = self.condition(condition, &names, &whole);
                names.push((id, format!("({text})")));
            }
        }
        let reads_new = |id: LocalId| {
            returned.iter().any(|(guard, value)| {
                let mut found = false;
                for expression in [guard, value] {
                    lucid::core::walk::each_read(expression, &mut |local| {
                        found |= local == id;
                    });
                }
                found
            })
        };
        let wants_scratch = !is_pair && returns && reads_new(NEW_CELL_2);
        self.text.push_str(&format!("bit<{width_bits}> new_1 = {};", old("old_1")));
        self.updates(cell1, "new_1", &names);
        if is_pair || wants_scratch {
            let start = if is_pair { old("old_2") } else { default.clone() };
            self.text.push_str(&format!("bit<{width_bits}> new_2 = {start};"));
            self.updates(cell2, "new_2", &names);
        }
        if is_pair {
            self.store("value.first", true, "new_1");
            self.store("value.second", true, "new_2");
        } else {
            self.store("value", true, "new_1");
        }
        if !returns {
            return;
        }
        names.push((NEW_CELL_1, "new_1".into()));
        names.push((NEW_CELL_2, "new_2".into()));
        self.store("rv", false, &default);
        if let Some((guard, value)) = returned {
            let guard = expressions::text(guard, &mut MemopNames { names: &names });
            let value = expressions::text(value, &mut MemopNames { names: &names });
            self.text.push_str(&format!("if ({guard}) {{ rv = {value}; }}"));
        }
    }

    /// Cells and operands of a memop of three or four arguments as its conditions see them.
    fn whole_names(&self, is_pair: bool, arguments: &[Operand; 2]) -> Vec<(LocalId, String)> {
        let cells = ["old_1", "old_2"].map(String::from).into_iter();
        let cells = cells.take(if is_pair { 2 } else { 1 });
        let width_bits = self.cell.physical_bits;
        let operands =
            arguments.iter().map(|one| self.context.operand(*one, width_bits, self.gress));
        (0..).map(LocalId).zip(cells.chain(operands)).collect()
    }

    /// Guarded updates: the first whose guard holds counts.
    fn updates(
        &mut self,
        updates: &[(Expression, Expression)],
        target: &str,
        names: &[(LocalId, String)],
    ) {
        let mut text = String::new();
        for (at, (guard, value)) in updates.iter().enumerate() {
            let guard = expressions::text(guard, &mut MemopNames { names });
            let value = expressions::text(value, &mut MemopNames { names });
            let start = if at == 0 { "if" } else { "else if" };
            text.push_str(&format!("{start} ({guard}) {{ {target} = {value}; }}"));
        }
        self.text.push_str(&text);
    }
}
