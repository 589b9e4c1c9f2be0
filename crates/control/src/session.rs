// SPDX-License-Identifier: Apache-2.0
//! A control session: applies commands by name to a target. It keeps the handles and labels that commands use (entries,
//! members, groups, multicast nodes), which targets do not know. `plain` resolves commands without handles, which share
//! batches.

mod counting;
mod handles;
mod multicast;
mod plain;

use crate::command::{Command, Located, Origin};
use crate::entry_handles::{EntryHandles, entry_key};
use crate::error::{BAD_VALUE, ControlError, REFUSED};
use crate::free_numbers::FreeNumbers;
use crate::resolve::Resolver;
use crate::target::{Batch, Fault, Item, Target};
use ir::{ActionProfileId, Bits, KeyPattern, Program, TableId};
use plain::Plain;
use state::{CounterValue, Group, Reply, Update};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// The answer to a command.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Done.
    Done,
    /// A handle for later commands.
    Handle(u64),
    /// Values of register cells.
    Registers(Vec<Bits>),
    /// A counter's cell.
    Counter(CounterValue),
}

#[derive(Clone, Debug)]
struct MulticastNode {
    rid: u32,
    ports: Vec<u32>,
    group: Option<u32>,
}

impl Answer {
    /// Returns what a read of this command found, as text such as `counts[3] = 7`; `None` of other commands.
    pub fn read_text(&self, command: &Command) -> Option<String> {
        let found = match self {
            Answer::Registers(values) => {
                let values: Vec<String> =
                    values.iter().map(|value| value.to_biguint().to_string()).collect();
                values.join(" ")
            }
            Answer::Counter(value) => format!("{} packets, {} bytes", value.packets, value.bytes),
            Answer::Done | Answer::Handle(_) => return None,
        };
        Some(format!("{} = {found}", object_read(command)))
    }
}

/// Returns the object that a command reads, such as `counts[3]`.
fn object_read(command: &Command) -> String {
    match command {
        Command::RegisterRead { register, index: Some(index) } => format!("{register}[{index}]"),
        Command::RegisterRead { register, index: None } => register.clone(),
        Command::CounterRead { counter, index } => format!("{counter}[{index}]"),
        _ => String::new(),
    }
}

/// A session with one target.
#[derive(Clone, Debug)]
pub struct Session {
    program: Arc<Program>,
    /// STF leaves out exact keys that are zero, priorities, and the length of whole prefixes.
    lenient: bool,
    entries: BTreeMap<TableId, EntryHandles>,
    labels: BTreeMap<String, (TableId, u64)>,
    members: BTreeMap<ActionProfileId, u32>,
    groups: BTreeMap<ActionProfileId, Vec<Group>>,
    multicast_nodes: BTreeMap<u64, MulticastNode>,
    free_nodes: FreeNumbers,
    multicast_groups: Vec<u32>,
}

impl Session {
    /// Creates a session for this program.
    pub fn new(program: Arc<Program>) -> Session {
        Session {
            lenient: false,
            entries: EntryHandles::of_program(&program),
            program,
            labels: BTreeMap::new(),
            members: BTreeMap::new(),
            groups: BTreeMap::new(),
            multicast_nodes: BTreeMap::new(),
            free_nodes: FreeNumbers::default(),
            multicast_groups: Vec::new(),
        }
    }

    /// Follows STF: missing exact keys are zero, a priority may be missing, and a value without a length is a prefix as long
    /// as the key.
    pub fn lenient(mut self) -> Session {
        self.lenient = true;
        self
    }

    /// Returns the program of its target.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Applies one command to a target that answers without simulated time.
    pub fn apply(
        &mut self,
        located: &Located,
        target: &mut dyn Target,
    ) -> Result<Answer, ControlError> {
        let mut answers = self.apply_all(std::slice::from_ref(located), target, None);
        answers.pop().unwrap_or(Ok(Answer::Done))
    }

    /// Applies commands to a target that answers without simulated time: in one batch that continues on errors, or in batches
    /// of at most `batch_size` items. Commands with handles end a batch. Returns one answer a command, in order.
    pub fn apply_all(
        &mut self,
        commands: &[Located],
        target: &mut dyn Target,
        batch_size: Option<NonZeroUsize>,
    ) -> Vec<Result<Answer, ControlError>> {
        let mut answers = Vec::with_capacity(commands.len());
        let mut waiting = Waiting::default();
        let limit = batch_size.map_or(usize::MAX, NonZeroUsize::get);
        for located in commands {
            let origin = &located.origin;
            let resolver = Resolver { program: &self.program, origin, lenient: self.lenient };
            match plain::resolve(resolver, &located.command) {
                Some(Ok((item, plain))) => {
                    waiting.places.push((answers.len(), origin, plain));
                    waiting.items.push(item);
                    answers.push(Ok(Answer::Done));
                    if waiting.items.len() >= limit {
                        waiting.send(self, target, &mut answers);
                    }
                }
                Some(Err(error)) => answers.push(Err(error)),
                None => {
                    waiting.send(self, target, &mut answers);
                    let program = self.program.clone();
                    let applying = Applying { session: self, target, origin, program };
                    answers.push(applying.command(&located.command));
                }
            }
        }
        waiting.send(self, target, &mut answers);
        answers
    }

    /// Reads a file of commands in any format and applies them as one batch that continues on errors. Returns all mistakes,
    /// those of the text first.
    pub fn run(
        &mut self,
        file: &str,
        text: &str,
        target: &mut dyn Target,
    ) -> Result<Vec<Answer>, Vec<ControlError>> {
        let (commands, mut errors) = crate::entries::read(file, text);
        let mut answers = Vec::with_capacity(commands.len());
        for answer in self.apply_all(&commands, target, None) {
            match answer {
                Ok(answer) => answers.push(answer),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(answers) } else { Err(errors) }
    }

    /// Returns the handle of an entry; `None` if neither this session nor the program added it.
    pub fn handle_of(&self, table: TableId, keys: &[KeyPattern], priority: i64) -> Option<u64> {
        let key = entry_key(&self.program.tables[table.index()], keys, priority);
        self.entries.get(&table)?.handle_of(&key)
    }

    /// The table and handle of a labelled entry.
    pub fn labelled(&self, label: &str) -> Option<(TableId, u64)> {
        self.labels.get(label).copied()
    }

    /// A counter's cell; of a direct counter, that of the entry with this handle.
    pub fn read_counter(
        &mut self,
        counter: &str,
        index: u64,
        origin: &Origin,
        target: &mut dyn Target,
    ) -> Result<CounterValue, ControlError> {
        let program = self.program.clone();
        Applying { session: self, target, origin, program }.read_counter(counter, index)
    }

    /// Returns the answer to a plain command, and keeps its handle.
    fn settle(
        &mut self,
        plain: Plain,
        result: Result<crate::target::Reply, Fault>,
        origin: &Origin,
    ) -> Result<Answer, ControlError> {
        let reply = result.map_err(|fault| refused(fault, origin))?;
        Ok(match (plain, reply.into_state()) {
            (Plain::Entry { table, keys, priority, label }, _) => {
                let key = entry_key(&self.program.tables[table.index()], &keys, priority);
                let handle = self.entries.entry(table).or_default().insert(key);
                if let Some(label) = label {
                    self.labels.insert(label, (table, handle));
                }
                Answer::Handle(handle)
            }
            (Plain::Registers, Some(Reply::Registers(values))) => Answer::Registers(values),
            (Plain::Counter, Some(Reply::Counters(values))) => {
                Answer::Counter(values.first().copied().unwrap_or_default())
            }
            _ => Answer::Done,
        })
    }
}

fn refused(fault: Fault, origin: &Origin) -> ControlError {
    let code = match fault {
        // Of a device's queues and generators: a value that the device does not have.
        Fault::Unsupported(_) => BAD_VALUE,
        _ => REFUSED,
    };
    ControlError::new(code, origin, fault.to_string())
}

/// Commands that go into the next batch.
#[derive(Default)]
struct Waiting<'c> {
    items: Vec<Item>,
    /// The index of the answer, and the command.
    places: Vec<(usize, &'c Origin, Plain)>,
}

impl Waiting<'_> {
    fn send(
        &mut self,
        session: &mut Session,
        target: &mut dyn Target,
        answers: &mut [Result<Answer, ControlError>],
    ) {
        if self.items.is_empty() {
            return;
        }
        let items = std::mem::take(&mut self.items);
        let outcome = target.execute(Batch::of(items).made_for(session.program.clone()));
        let last = outcome.results.last().cloned();
        let mut results = outcome.results.into_iter();
        for (at, origin, plain) in self.places.drain(..) {
            // A target that has been lost answers once for all items.
            let result = results.next().or_else(|| last.clone()).unwrap_or(Err(Fault::Gone));
            answers[at] = session.settle(plain, result, origin);
        }
    }
}

/// A command that needs the session's handles, or several requests.
struct Applying<'a> {
    session: &'a mut Session,
    target: &'a mut dyn Target,
    origin: &'a Origin,
    program: Arc<Program>,
}

impl Applying<'_> {
    fn resolver(&self) -> Resolver<'_> {
        Resolver { program: &self.program, origin: self.origin, lenient: self.session.lenient }
    }

    fn error(&self, code: source::Code, message: impl Into<String>) -> ControlError {
        ControlError::new(code, self.origin, message)
    }

    fn small(&self, number: u64, what: &str) -> Result<u32, ControlError> {
        self.resolver().small(number, what)
    }

    fn item(&mut self, item: impl Into<Item>) -> Result<Reply, ControlError> {
        let batch = Batch::one(item).made_for(self.program.clone());
        self.target.execute(batch).into_reply().map_err(|fault| refused(fault, self.origin))
    }

    fn update(&mut self, update: Update) -> Result<Answer, ControlError> {
        self.item(update).map(|_| Answer::Done)
    }
}
