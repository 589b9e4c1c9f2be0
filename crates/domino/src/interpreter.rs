// SPDX-License-Identifier: Apache-2.0
//! The reference interpreter: the meaning of programs. Statements run in the order of the text, operands are evaluated from
//! left to right, and each packet runs to its end before the next one begins.

use crate::arithmetic32;
use crate::program::{Expression, ExpressionKind, Operation, Place, Program, Statement};
use crate::syntax::ast::{BinaryOperator, LogicalOperator, Type};

/// The globals of a running program, by their index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The cells of each global; a scalar has one.
    pub cells: Vec<Vec<u32>>,
}

impl State {
    /// Returns the state before the first packet.
    pub fn initial(program: &Program) -> State {
        let cells = program.globals.iter().map(|global| {
            let mut cells = vec![0; global.cells()];
            cells[..global.initial.len()].copy_from_slice(&global.initial);
            cells
        });
        State { cells: cells.collect() }
    }
}

/// What a run meets.
pub trait Observer {
    /// A condition of `if`, `?:`, `&&`, `||` or a loop, with its value.
    fn branch(&mut self, condition: &Expression, is_taken: bool) {
        let _ = (condition, is_taken);
    }

    /// An access of an array's cell by a signed index, which may be outside.
    fn cell(&mut self, global: usize, index: i64) {
        let _ = (global, index);
    }

    /// An operation for which C has no value: a division by 0 or of the smallest `int` by -1, or a shift by 32 or more.
    fn undefined(&mut self) {}
}

/// Observes nothing.
impl Observer for () {}

/// Runs a packet through the program.
pub fn run(program: &Program, state: &mut State, packet: &mut [u32]) {
    run_observed(program, state, packet, &mut ());
}

/// Runs a packet through the program and reports what the run meets.
pub fn run_observed(
    program: &Program,
    state: &mut State,
    packet: &mut [u32],
    observer: &mut dyn Observer,
) {
    let mut machine = Machine { program, state, packet, observer };
    machine.call(program.packet_function, Vec::new());
}

/// Computes a helper that accesses no global.
pub fn helper(program: &Program, helper: usize, arguments: Vec<u32>) -> u32 {
    let mut state = State { cells: Vec::new() };
    let (packet, observer) = (&mut [][..], &mut ());
    Machine { program, state: &mut state, packet, observer }.call(helper, arguments)
}

struct Machine<'m> {
    program: &'m Program,
    state: &'m mut State,
    packet: &'m mut [u32],
    observer: &'m mut dyn Observer,
}

/// The locals of a call.
type Frame = Vec<u32>;

/// A place whose index has been evaluated.
#[derive(Clone, Copy)]
enum Located {
    Field(usize),
    Local(usize),
    /// `None` within is outside of the array.
    Cell(usize, Option<usize>),
}

impl Machine<'_> {
    fn call(&mut self, function: usize, arguments: Vec<u32>) -> u32 {
        let program = self.program;
        let function = &program.functions[function];
        let mut frame = arguments;
        frame.resize(function.locals.len(), 0);
        let run = || self.statements(&function.body, &mut frame);
        stacker::maybe_grow(256 * 1024, 2 * 1024 * 1024, run).unwrap_or(0)
    }

    /// Returns the value of a `return`, if one ended the function.
    fn statements(&mut self, statements: &[Statement], frame: &mut Frame) -> Option<u32> {
        for statement in statements {
            match statement {
                Statement::Evaluate(expression) => {
                    self.expression(expression, frame);
                }
                Statement::Call(function, arguments, _) => {
                    let arguments = self.arguments(arguments, frame);
                    self.call(*function, arguments);
                }
                Statement::Declare(local, value, _) => {
                    frame[*local] = match value {
                        Some(value) => {
                            frame[*local] = 0;
                            self.expression(value, frame)
                        }
                        None => 0,
                    };
                }
                Statement::If(condition, then, otherwise, _) => {
                    let taken = self.condition(condition, frame);
                    let branch = if taken { then } else { otherwise };
                    if let Some(value) = self.statements(branch, frame) {
                        return Some(value);
                    }
                }
                Statement::For(each) => {
                    if let Some(value) = self.statements(&each.begin, frame) {
                        return Some(value);
                    }
                    while self.condition(&each.condition, frame) {
                        if let Some(value) = self.statements(&each.body, frame) {
                            return Some(value);
                        }
                        self.expression(&each.step, frame);
                    }
                }
                Statement::Return(value, _) => {
                    return Some(value.as_ref().map_or(0, |value| self.expression(value, frame)));
                }
            }
        }
        None
    }

    fn arguments(&mut self, arguments: &[Expression], frame: &mut Frame) -> Vec<u32> {
        arguments.iter().map(|argument| self.expression(argument, frame)).collect()
    }

    fn condition(&mut self, condition: &Expression, frame: &mut Frame) -> bool {
        let taken = self.expression(condition, frame) != 0;
        self.observer.branch(condition, taken);
        taken
    }

    fn expression(&mut self, expression: &Expression, frame: &mut Frame) -> u32 {
        match &expression.kind {
            ExpressionKind::Constant(value) => *value,
            ExpressionKind::Read(place) => {
                let located = self.locate(place, frame);
                self.load(located, frame)
            }
            ExpressionKind::Call(function, arguments) => {
                let arguments = self.arguments(arguments, frame);
                self.call(*function, arguments)
            }
            ExpressionKind::Hash(arguments) => {
                arithmetic32::hash(&self.arguments(arguments, frame))
            }
            ExpressionKind::Unary(operator, operand) => {
                arithmetic32::unary(*operator, self.expression(operand, frame))
            }
            ExpressionKind::Binary(operation, left, right) => {
                let left = self.expression(left, frame);
                let right = self.expression(right, frame);
                self.binary(*operation, left, right)
            }
            ExpressionKind::Logical(operator, left, right) => {
                let left = self.condition(left, frame);
                let value = match operator {
                    LogicalOperator::And => left && self.condition(right, frame),
                    LogicalOperator::Or => left || self.condition(right, frame),
                };
                u32::from(value)
            }
            ExpressionKind::Conditional(condition, then, otherwise) => {
                let taken = self.condition(condition, frame);
                self.expression(if taken { then } else { otherwise }, frame)
            }
            ExpressionKind::Assign(place, operation, value) => {
                let located = self.locate(place, frame);
                let value = match operation {
                    None => self.expression(value, frame),
                    Some(operation) => {
                        let old = self.load(located, frame);
                        let right = self.expression(value, frame);
                        self.binary(*operation, old, right)
                    }
                };
                self.store(located, value, frame);
                value
            }
            ExpressionKind::Step(place, step) => {
                let located = self.locate(place, frame);
                let old = self.load(located, frame);
                let new = match step.is_increment {
                    true => old.wrapping_add(1),
                    false => old.wrapping_sub(1),
                };
                self.store(located, new, frame);
                if step.is_prefix { new } else { old }
            }
        }
    }

    fn binary(&mut self, operation: Operation, left: u32, right: u32) -> u32 {
        let is_undefined = match operation.operator {
            BinaryOperator::Divide | BinaryOperator::Remainder => {
                right == 0 || !operation.is_unsigned && left == 1 << 31 && right == u32::MAX
            }
            BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => right >= 32,
            _ => false,
        };
        if is_undefined {
            self.observer.undefined();
        }
        arithmetic32::binary(operation, left, right)
    }

    fn locate(&mut self, place: &Place, frame: &mut Frame) -> Located {
        match place {
            Place::Field(field) => Located::Field(*field),
            Place::Local(local) => Located::Local(*local),
            Place::Scalar(global) => Located::Cell(*global, Some(0)),
            Place::Cell(global, index) => {
                let value = self.expression(index, frame);
                let index = match index.ty {
                    Type::Int => i64::from(value as i32),
                    Type::Unsigned => i64::from(value),
                };
                self.observer.cell(*global, index);
                let size = self.state.cells[*global].len();
                Located::Cell(*global, usize::try_from(index).ok().filter(|index| *index < size))
            }
        }
    }

    fn load(&self, located: Located, frame: &Frame) -> u32 {
        match located {
            Located::Field(field) => self.packet[field],
            Located::Local(local) => frame[local],
            Located::Cell(global, cell) => cell.map_or(0, |cell| self.state.cells[global][cell]),
        }
    }

    fn store(&mut self, located: Located, value: u32, frame: &mut Frame) {
        match located {
            Located::Field(field) => self.packet[field] = value,
            Located::Local(local) => frame[local] = value,
            Located::Cell(global, cell) => {
                if let Some(cell) = cell {
                    self.state.cells[global][cell] = value;
                }
            }
        }
    }
}
