// SPDX-License-Identifier: Apache-2.0
//! Executes one handler: its statements in order, atomically. Effects other than state (generated events,
//! log records, random draws) are collected in [`Output`]; the simulation decides when and where generated
//! events arrive.

use super::arguments::{ArgumentPool, Arguments, event_value};
use super::evaluate::{Frame, SwitchContext, number, store};
use super::prepared::{
    Access, CellAccess, Destination, Generate, Install, Piece, Prepared, PreparedBody, Step, Use,
};
use super::state::{Entry, State};
use super::value::{Group, Place, Value};
use lucid::core::bits::BitWriter;
use lucid::core::{ActionId, EventId, GlobalId, Pattern};
use source::Span;
use std::cell::RefCell;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Source of random numbers.
pub trait RandomSource {
    /// The next number of a statement, at most `mask` (all ones of some width).
    fn draw(&mut self, mask: u128) -> u128;
}

/// Effects of a handler other than state, in order.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// Events, in the order of the statements that generate them.
    pub generated: Vec<Generated>,
    /// Log records.
    pub log: Vec<LogRecord>,
    /// Random numbers drawn.
    pub draws: Vec<u128>,
}

impl Output {
    fn clear(&mut self) {
        self.generated.clear();
        self.log.clear();
        self.draws.clear();
    }
}

/// A generated event.
#[derive(Clone, Debug)]
pub struct Generated {
    /// Which event.
    pub event: EventId,
    /// With these arguments.
    pub arguments: Arguments,
    /// Least time before it is handled, in nanoseconds.
    pub delay_ns: u64,
    /// Its destination.
    pub to: SendTo,
}

/// The evaluated destination of a generated event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendTo {
    /// To this switch.
    Here,
    /// To the switch with this number.
    Switch(u32),
    /// To each of these switches.
    Switches(Group),
    /// Out by this port.
    Port(u32),
    /// Out by each of these ports.
    Ports(Group),
}

/// A log record of a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogRecord {
    /// A line of `printf`.
    Printed(String),
    /// An access to this index, beyond the end of an array, by the statement there.
    OutOfRange(GlobalId, u128, Span),
    /// An install into a full table, by the statement there.
    TableFull(GlobalId, Span),
    /// A call of an extern function: its name and arguments.
    Called(Arc<str>, Vec<CallArgument>),
    /// An access to a cell, or to a pair of cells.
    Accessed {
        /// The array.
        global: GlobalId,
        /// The cell's index.
        index: u128,
        /// The cells before; the second is 0 where there is one.
        before: [u128; 2],
        /// The cells afterwards.
        after: [u128; 2],
        /// The result of the access, if it has one.
        result: Option<u128>,
    },
    /// A lookup in a table.
    LookedUp {
        /// The table.
        table: GlobalId,
        /// The fields of its key.
        key: Vec<u128>,
        /// The action that ran.
        action: ActionId,
        /// Whether an entry matched.
        hit: bool,
    },
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallArgument {
    /// A string of the source.
    Text(Arc<str>),
    /// A value.
    Value(Value),
}

/// Runs handlers; keeps its buffers between runs.
#[derive(Debug, Default)]
pub struct Interpreter {
    words: Vec<u128>,
    objects: Vec<Value>,
    scratch: RefCell<BitWriter>,
    /// Buffers for arguments of generated events.
    pub pool: ArgumentPool,
    /// Effects of the last handler other than state.
    pub output: Output,
    /// Whether to log texts and calls; faults are always logged.
    pub wants_log: bool,
    /// Whether to log each access and lookup.
    pub wants_accesses: bool,
}

impl Interpreter {
    /// Runs a handler of an event. The output is in `self.output` until the next run.
    pub fn run(
        &mut self,
        program: &Prepared,
        (event, body): (EventId, &PreparedBody),
        arguments: &Arguments,
        state: &mut State,
        context: &SwitchContext<'_>,
        randomness: &mut dyn RandomSource,
    ) {
        self.output.clear();
        self.words.clear();
        self.words.extend_from_slice(&arguments.words);
        self.words.resize(body.words as usize, 0);
        self.objects.clear();
        self.objects.extend_from_slice(&arguments.objects);
        self.objects.extend(body.objects.iter().skip(arguments.objects.len()).cloned());
        if let Some(this) = body.this
            && let Some(prepared) = program.events.get(event.0 as usize)
        {
            let values = arguments.values(&prepared.slots);
            self.objects[this as usize] = Value::Event(event_value(event, values));
        }
        let mut run = Run { interpreter: self, program, state, context, randomness };
        // Whether a `return` was met makes no difference at the end of a handler.
        let _ = run.steps(&body.steps);
    }

    pub(crate) fn frame<'f>(
        words: &'f [u128],
        objects: &'f [Value],
        scratch: &'f RefCell<BitWriter>,
        context: &'f SwitchContext<'f>,
    ) -> Frame<'f> {
        Frame { words, objects, context, scratch }
    }
}

/// Whether every subject matches its pattern.
pub(crate) fn matches(subjects: &[u128], patterns: &[Pattern]) -> bool {
    subjects.iter().zip(patterns).all(|(subject, pattern)| subject & pattern.mask == pattern.value)
}

struct Run<'r> {
    interpreter: &'r mut Interpreter,
    program: &'r Prepared,
    state: &'r mut State,
    context: &'r SwitchContext<'r>,
    randomness: &'r mut dyn RandomSource,
}

impl<'r> Run<'r> {
    #[inline]
    fn frame(&self) -> Frame<'_> {
        let interpreter = &*self.interpreter;
        Interpreter::frame(
            &interpreter.words,
            &interpreter.objects,
            &interpreter.scratch,
            self.context,
        )
    }

    fn steps(&mut self, steps: &[Step]) -> ControlFlow<()> {
        steps.iter().try_for_each(|step| self.step(step))
    }

    fn step(&mut self, step: &Step) -> ControlFlow<()> {
        match step {
            Step::Assign { local, value } => {
                self.interpreter.words[*local as usize] = self.frame().word(value);
            }
            Step::AssignObject { local, value } => {
                self.interpreter.objects[*local as usize] = self.frame().object(value);
            }
            Step::Access(access) => {
                let value = self.access(access);
                if let Some(local) = access.result {
                    self.interpreter.words[local as usize] = value;
                }
            }
            Step::Lookup { table, key, arguments, results } => {
                let frame = self.frame();
                let key: Vec<u128> = key.iter().map(|field| frame.word(field)).collect();
                let handed: Vec<Value> =
                    arguments.iter().map(|argument| frame.operand(argument)).collect();
                for (slot, value) in results.iter().zip(self.lookup(*table, &key, handed)) {
                    store(&mut self.interpreter.words, &mut self.interpreter.objects, *slot, value);
                }
            }
            Step::Install(install) => self.install(install),
            Step::Random { local, mask } => {
                let value = self.randomness.draw(*mask) & mask;
                self.interpreter.output.draws.push(value);
                self.interpreter.words[*local as usize] = value;
            }
            Step::If { condition, then, otherwise } => {
                let truth = self.frame().word(condition) != 0;
                return self.steps(if truth { then } else { otherwise });
            }
            Step::Match { subjects, branches } => {
                let frame = self.frame();
                let taken = match subjects.as_slice() {
                    [subject] => {
                        let subject = [frame.word(subject)];
                        branches.iter().find(|(patterns, _)| matches(&subject, patterns))
                    }
                    subjects => {
                        let subjects: Vec<u128> =
                            subjects.iter().map(|subject| frame.word(subject)).collect();
                        branches.iter().find(|(patterns, _)| matches(&subjects, patterns))
                    }
                };
                if let Some((_, steps)) = taken {
                    return self.steps(steps);
                }
            }
            Step::IfEvent { value, event, locals, then, otherwise } => {
                let Value::Event(value) = self.frame().object(value) else {
                    return self.steps(otherwise);
                };
                if value.event != *event {
                    return self.steps(otherwise);
                }
                for (slot, argument) in locals.iter().zip(&value.arguments) {
                    let interpreter = &mut *self.interpreter;
                    store(
                        &mut interpreter.words,
                        &mut interpreter.objects,
                        *slot,
                        argument.clone(),
                    );
                }
                return self.steps(then);
            }
            Step::Generate { event, destination } => self.generate(event, destination),
            Step::Print(pieces) => {
                if self.interpreter.wants_log {
                    let text = self.text(pieces);
                    self.interpreter.output.log.push(LogRecord::Printed(text));
                }
            }
            Step::CallExtern { function, arguments } => {
                if self.interpreter.wants_log {
                    let frame = self.frame();
                    let pieces = arguments
                        .iter()
                        .map(|argument| match argument {
                            Piece::Text(text) => CallArgument::Text(text.clone()),
                            Piece::Value(value) => CallArgument::Value(frame.operand(value)),
                        })
                        .collect();
                    self.interpreter.output.log.push(LogRecord::Called(function.clone(), pieces));
                }
            }
            Step::Return => return ControlFlow::Break(()),
        }
        ControlFlow::Continue(())
    }

    /// One access to a cell or a pair. Beyond the end it reads zeros and changes nothing.
    fn access(&mut self, what: &CellAccess) -> u128 {
        let CellAccess { global, access, .. } = what;
        let (global, index) = (*global, self.frame().word(&what.index));
        let Some(old) = self.state.cells(global).and_then(|cells| cells.get(index)) else {
            self.interpreter.output.log.push(LogRecord::OutOfRange(global, index, what.span));
            return self.changed([0, 0], access).1;
        };
        let (new, result) = self.changed(old, access);
        if let Some(new) = new
            && let Some(cells) = self.state.cells_mut(global)
        {
            cells.set(index, new);
        }
        if self.interpreter.wants_accesses {
            let after = self.state.cells(global).and_then(|cells| cells.get(index));
            let (after, result) = (after.unwrap_or(old), what.result.map(|_| result));
            let note = LogRecord::Accessed { global, index, before: old, after, result };
            self.interpreter.output.log.push(note);
        }
        result
    }

    /// The new cells, if they are written, and the result.
    #[inline]
    fn changed(&self, old: [u128; 2], access: &Access) -> (Option<[u128; 2]>, u128) {
        let frame = self.frame();
        match access {
            Access::Simple { get, set } => {
                let used = |cell_use: &Use| match cell_use {
                    Use::Old => old[0],
                    Use::Value(value) => frame.word(value),
                    // The cell cuts it to its width.
                    Use::Add(value) => old[0].wrapping_add(frame.word(value)),
                    Use::Memop(memop, argument) => {
                        let argument = frame.word(argument);
                        let memop = &self.program.memops[*memop as usize];
                        frame.memop(memop, old[0], argument)
                    }
                };
                let new = set.as_ref().map(|set| [used(set), 0]);
                (new, get.as_ref().map_or(0, used))
            }
            Access::Complex { memop, arguments, default } => {
                let [one, other] = arguments.as_ref();
                let arguments = [frame.word(one), frame.word(other)];
                let memop = &self.program.memops[*memop as usize];
                let (new, result) = frame.complex_memop(memop, old, arguments, frame.word(default));
                (Some(new), result)
            }
        }
    }

    /// The results of the action that a key hits, with its installed arguments and those of the lookup.
    fn lookup(&mut self, table: GlobalId, key: &[u128], handed: Vec<Value>) -> Vec<Value> {
        let Some(entry) = self.state.table(table).map(|table| table.lookup(key)) else {
            return Vec::new();
        };
        let (default_action, default_arguments) = &self.program.default_actions[table.0 as usize];
        let (action, installed) = match entry {
            Some(entry) => (entry.action, &entry.arguments),
            None => (*default_action, default_arguments),
        };
        if self.interpreter.wants_accesses {
            let (key, hit) = (key.to_vec(), entry.is_some());
            self.interpreter.output.log.push(LogRecord::LookedUp { table, key, action, hit });
        }
        let Some(action) = self.program.actions.get(action.0 as usize) else { return Vec::new() };
        let (mut words, mut objects) = (Vec::new(), Vec::new());
        for value in installed.iter().cloned().chain(handed) {
            match value {
                Value::Int(word) => words.push(word),
                Value::Bool(truth) => words.push(u128::from(truth)),
                other => objects.push(other),
            }
        }
        let frame = Interpreter::frame(&words, &objects, &self.interpreter.scratch, self.context);
        action.results.iter().map(|result| frame.operand(result)).collect()
    }

    fn install(&mut self, install: &Install) {
        let frame = self.frame();
        let key = install.key.iter().zip(&self.program.key_masks[install.table.0 as usize]);
        let key = key
            .map(|((value, mask), ones)| {
                (frame.word(value), mask.as_ref().map_or(*ones, |mask| frame.word(mask)))
            })
            .collect();
        let arguments = install.arguments.iter().map(|value| frame.operand(value)).collect();
        let action = ActionId(install.action);
        let entry = Entry { key, priority: install.priority, action, arguments };
        let taken = self.state.table_mut(install.table).is_some_and(|table| table.install(entry));
        if !taken {
            self.interpreter.output.log.push(LogRecord::TableFull(install.table, install.span));
        }
    }

    fn generate(&mut self, event: &Generate, destination: &Destination) {
        let mut arguments = self.interpreter.pool.take();
        let frame = self.frame();
        let (event, delay_ns, place) = match event {
            Generate::Made { event, arguments: operands, delay } => {
                for operand in operands {
                    match operand {
                        super::prepared::Operand::Int(word, _)
                        | super::prepared::Operand::Bool(word) => {
                            arguments.words.push(frame.word(word));
                        }
                        super::prepared::Operand::Object(object) => {
                            arguments.objects.push(frame.object(object));
                        }
                    }
                }
                let delay = delay.as_ref().map_or(0, |delay| frame.word(delay));
                (*event, u64::try_from(delay).unwrap_or(u64::MAX), Place::Here)
            }
            Generate::Value(object) => {
                let Value::Event(value) = frame.object(object) else { return };
                let Some(prepared) = self.program.events.get(value.event.0 as usize) else {
                    return;
                };
                arguments.set(&value.arguments, &prepared.slots);
                (value.event, value.delay_ns, value.place.clone())
            }
        };
        let group = |object| match frame.object(object) {
            Value::Group(group) => group,
            _ => Group::of(Vec::new()),
        };
        let to = match destination {
            Destination::Event => match place {
                Place::Here => SendTo::Here,
                Place::Switch(switch) => SendTo::Switch(switch),
                Place::Switches(group) => SendTo::Switches(group),
            },
            Destination::Switch(switch) => SendTo::Switch(number(frame.word(switch))),
            Destination::Switches(switches) => SendTo::Switches(group(switches)),
            Destination::Port(port) => SendTo::Port(number(frame.word(port))),
            Destination::Ports(ports) => SendTo::Ports(group(ports)),
        };
        self.interpreter.output.generated.push(Generated { event, arguments, delay_ns, to });
    }

    fn text(&self, pieces: &[Piece]) -> String {
        let frame = self.frame();
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Value(value) => match frame.operand(value) {
                    Value::Int(value) => drop(write!(text, "{value}")),
                    Value::Bool(value) => drop(write!(text, "{value}")),
                    // Elaboration lets only integers and booleans through.
                    _ => {}
                },
            }
        }
        text
    }
}
