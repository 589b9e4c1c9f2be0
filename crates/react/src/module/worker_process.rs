// SPDX-License-Identifier: Apache-2.0
//! Reactions in a process of their own, which may crash or never return. Nothing that such a call sets reaches the caller;
//! later calls are refused until a restart.

use super::code::{Code, LoadError, StateAfterReload};
use super::mailbox::{Area, Layout, Mailbox, Message, Side, kind};
use super::shape::Shape;
use super::unsafe_calls::{SharedWords, operation};
use super::{Called, Module};
use crate::interface::{Host, Reactions, Stopped};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::Signal;
use std::ffi::OsString;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The argument with which [`WorkerOptions::of_this_command`] starts the command again.
pub const WORKER_ARGUMENT: &str = "react-worker";

/// The limit that a call has without another.
pub const DEFAULT_LIMIT: Duration = Duration::from_secs(1);

/// How often a waiting agent looks whether the process still runs.
const LONGEST_SLEEP: Duration = Duration::from_millis(10);

/// The most messages of a call that a poll answers, so that the caller goes on with its other work.
const MESSAGES_PER_POLL: usize = 64;

/// Names of the signals that end processes with mistakes, or that users send.
const SIGNALS: [(Signal, &str); 11] = [
    (Signal::SEGV, "SIGSEGV"),
    (Signal::FPE, "SIGFPE"),
    (Signal::ABORT, "SIGABRT"),
    (Signal::BUS, "SIGBUS"),
    (Signal::ILL, "SIGILL"),
    (Signal::TRAP, "SIGTRAP"),
    (Signal::SYS, "SIGSYS"),
    (Signal::KILL, "SIGKILL"),
    (Signal::TERM, "SIGTERM"),
    (Signal::PIPE, "SIGPIPE"),
    (Signal::XCPU, "SIGXCPU"),
];

/// How a worker process is started and watched.
#[derive(Clone, Debug)]
pub struct WorkerOptions {
    /// The program, which calls [`super::serve`].
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Additions to its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// How long a call may take, without the time that the host takes to answer it.
    pub limit: Duration,
}

impl WorkerOptions {
    /// Starts the running program again, with [`WORKER_ARGUMENT`] as its first argument.
    ///
    /// # Errors
    ///
    /// The system does not say which program runs.
    pub fn of_this_command() -> io::Result<WorkerOptions> {
        Ok(WorkerOptions {
            program: std::env::current_exe()?,
            arguments: vec![WORKER_ARGUMENT.into()],
            environment: Vec::new(),
            limit: DEFAULT_LIMIT,
        })
    }
}

/// Reactions that run in a process of their own.
pub struct WorkerProcess {
    options: WorkerOptions,
    code: Code,
    process: Result<Process, Stopped>,
    words: Vec<u64>,
    /// When the call began that runs beside the caller.
    began: Instant,
    /// Whether nobody has looked for messages of this call yet.
    is_new: bool,
}

/// A running process.
struct Process {
    child: Child,
    mailbox: Mailbox,
    /// The process ends when this closes.
    _socket: UnixStream,
}

/// Why a wait for a message ended without one.
enum Silence {
    Ended(ExitStatus),
    TooLong,
}

impl WorkerProcess {
    /// Starts a process that loads this code.
    ///
    /// # Errors
    ///
    /// The process does not start, or it does not load the code.
    pub fn start(code: &Code, options: WorkerOptions) -> Result<WorkerProcess, LoadError> {
        let process = Process::start(code, &options)?;
        let code = code.clone();
        let (words, began) = (Vec::new(), Instant::now());
        let is_new = false;
        Ok(WorkerProcess { options, code, process: Ok(process), words, began, is_new })
    }

    /// Returns the process's number while it runs.
    pub fn process_id(&self) -> Option<u32> {
        self.process.as_ref().ok().map(|process| process.child.id())
    }

    /// Sends a call.
    fn send(&mut self, call: Called, input: &[u64], malleables: &[u64]) -> Result<(), Stopped> {
        let process = self.process.as_ref().map_err(|stopped| stopped.clone())?;
        process.mailbox.write(Area::Malleables, malleables);
        match call {
            Called::Init => process.mailbox.send(kind::INIT, &[]),
            Called::Reaction(reaction) => {
                process.mailbox.write(Area::Input, input);
                process.mailbox.send(kind::CALL, &[reaction as u64, input.len() as u64]);
            }
        }
        Ok(())
    }

    /// Runs a call that was sent, until it is done.
    fn complete(&mut self, malleables: &mut [u64], host: &mut dyn Host) -> Result<(), Stopped> {
        let done = self.answer_until_done(malleables, host);
        self.ended(done)
    }

    /// The end of a call. After a bad one the process ends.
    fn ended(&mut self, done: Result<(), Stopped>) -> Result<(), Stopped> {
        if let Err(stopped) = &done {
            // Dropping the process ends it.
            self.process = Err(Stopped::Gone(format!("{stopped}; it was not started again")));
        }
        done
    }

    /// Looks for messages of a call that runs beside the caller. Returns whether it is done.
    fn answer_what_came(
        &mut self,
        malleables: &mut [u64],
        host: &mut dyn Host,
    ) -> Result<bool, Stopped> {
        for _ in 0..MESSAGES_PER_POLL {
            let process = self.process.as_mut().map_err(|stopped| stopped.clone())?;
            // Short calls end before the caller has done anything else; later looks cost little.
            let message = match std::mem::take(&mut self.is_new) {
                true => process.mailbox.wait(Duration::ZERO),
                false => process.mailbox.look(),
            };
            let Some(message) = message else {
                if let Ok(Some(status)) = process.child.try_wait() {
                    return Err(Stopped::Crashed(ending(status)));
                }
                break;
            };
            if self.handle(message, malleables, host)? {
                return Ok(true);
            }
        }
        match self.began.elapsed() >= self.options.limit {
            true => Err(Stopped::Endless(self.options.limit.as_nanos() as u64)),
            false => Ok(false),
        }
    }

    fn answer_until_done(
        &mut self,
        malleables: &mut [u64],
        host: &mut dyn Host,
    ) -> Result<(), Stopped> {
        let mut left = self.options.limit;
        loop {
            let start = Instant::now();
            let process = self.process.as_mut().map_err(|stopped| stopped.clone())?;
            let message = process.wait(left).map_err(|silence| match silence {
                Silence::Ended(status) => Stopped::Crashed(ending(status)),
                Silence::TooLong => Stopped::Endless(self.options.limit.as_nanos() as u64),
            })?;
            left = left.saturating_sub(start.elapsed());
            if self.handle(message, malleables, host)? {
                return Ok(());
            }
        }
    }

    /// Handles a message of a call. Returns whether the call is done.
    fn handle(
        &mut self,
        message: Message,
        malleables: &mut [u64],
        host: &mut dyn Host,
    ) -> Result<bool, Stopped> {
        let process = self.process.as_mut().map_err(|stopped| stopped.clone())?;
        let overwritten =
            || Stopped::Gone("the reaction overwrote the memory of its process".into());
        if message.kind == kind::DONE {
            process.mailbox.read(Area::Malleables, malleables.len(), &mut self.words);
            if !self.code.shape().accepts(&self.words) {
                return Err(overwritten());
            }
            malleables.copy_from_slice(&self.words);
            return Ok(true);
        }
        let answer = process.answer(message, &mut self.words, self.code.shape(), host);
        process.mailbox.send(kind::ANSWER, &[answer.ok_or_else(overwritten)?]);
        Ok(false)
    }
}

impl Process {
    fn start(code: &Code, options: &WorkerOptions) -> Result<Process, LoadError> {
        let failed = |error: io::Error| {
            let reason = source::reason(&error);
            LoadError(format!("cannot start a process for reactions: {reason}"))
        };
        let mut process = Process::spawn(code.shape(), options).map_err(failed)?;
        process.load(code, StateAfterReload::Fresh, options.limit)?;
        Ok(process)
    }

    fn spawn(shape: &Shape, options: &WorkerOptions) -> io::Result<Process> {
        let layout = Layout {
            input: shape.input_words(),
            malleables: shape.largest_values.len(),
            table: shape.table_words,
        };
        let memory = SharedWords::new_memory(layout.words())?;
        let words = SharedWords::map(memory.as_fd(), layout.words())?;
        let (ours, theirs) = UnixStream::pair()?;
        let child = Command::new(&options.program)
            .args(&options.arguments)
            .envs(options.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            // Signals of the terminal are the command's.
            .process_group(0)
            .spawn()?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let files = [memory.as_fd()];
        ancillary.push(SendAncillaryMessage::ScmRights(&files));
        let mailbox = Mailbox::new(words, layout, Side::Agent);
        let process = Process { child, mailbox, _socket: ours };
        let bytes = layout.to_bytes();
        let parts = [IoSlice::new(&bytes)];
        sendmsg(&process._socket, &parts, &mut ancillary, SendFlags::NOSIGNAL)?;
        Ok(process)
    }

    fn load(
        &mut self,
        code: &Code,
        state: StateAfterReload,
        limit: Duration,
    ) -> Result<(), LoadError> {
        let file = code.file()?;
        let bytes = self.mailbox.write_text(file.path().as_os_str().as_bytes());
        let carries = u64::from(state == StateAfterReload::Carried);
        self.mailbox.send(kind::LOAD, &[bytes, carries]);
        // A process that starts on a busy machine takes longer than a call.
        let message = self.wait(limit.max(Duration::from_secs(20)));
        let reason = match message {
            Ok(Message { kind: kind::DONE, .. }) => return Ok(()),
            Ok(Message { kind: kind::FAILED, numbers }) => {
                let text = self.mailbox.read_text(numbers[0]).unwrap_or_default();
                return Err(LoadError(String::from_utf8_lossy(&text).into_owned()));
            }
            Ok(_) => "sent a wrong message".to_string(),
            Err(Silence::Ended(status)) => format!("ended by {}", ending(status)),
            Err(Silence::TooLong) => "did not answer".to_string(),
        };
        let _ = self.child.kill();
        Err(LoadError(format!("the process for reactions {reason} while it loaded the code")))
    }

    /// Waits for a message of the worker.
    fn wait(&mut self, limit: Duration) -> Result<Message, Silence> {
        let start = Instant::now();
        // A crash is noticed soon at first; a long call costs few looks.
        let mut sleep = Duration::from_micros(500);
        loop {
            let left = limit.saturating_sub(start.elapsed());
            if let Some(message) = self.mailbox.wait(sleep.min(left)) {
                return Ok(message);
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(Silence::Ended(status));
            }
            if start.elapsed() >= limit {
                return Err(Silence::TooLong);
            }
            sleep = (sleep * 2).min(LONGEST_SLEEP);
        }
    }

    /// Answers what a reaction asks; `None` if no reaction can ask it.
    fn answer(
        &self,
        message: Message,
        words: &mut Vec<u64>,
        shape: &Shape,
        host: &mut dyn Host,
    ) -> Option<u64> {
        let [first, table, action, count] = message.numbers;
        match message.kind {
            kind::TABLE => {
                let operation = operation(u32::try_from(first).ok()?)?;
                let (table, action) = (usize::try_from(table).ok()?, usize::try_from(action).ok()?);
                let (_, actions) = shape.tables.get(table)?;
                if action >= (*actions).max(1) {
                    return None;
                }
                self.mailbox.read(Area::Table, usize::try_from(count).ok()?, words)?;
                Some(host.table(operation, table, action, words))
            }
            kind::NOW => Some(host.now_ns()),
            kind::LOG => {
                let text = self.mailbox.read_text(first)?;
                host.log(&String::from_utf8_lossy(&text));
                Some(0)
            }
            kind::FAILED_COMMITS => Some(host.failed_commits()),
            _ => None,
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Errors mean that it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns how a process ended: its signal or its exit status.
fn ending(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(number), _) => match SIGNALS.iter().find(|(signal, _)| signal.as_raw() == number) {
            Some((_, name)) => (*name).to_string(),
            None => format!("signal {number}"),
        },
        (None, Some(code)) => format!("exit({code})"),
        (None, None) => "an unknown cause".to_string(),
    }
}

impl Reactions for WorkerProcess {
    fn call(
        &mut self,
        reaction: usize,
        input: &[u64],
        malleables: &mut [u64],
        host: &mut dyn Host,
    ) -> Result<(), Stopped> {
        self.send(Called::Reaction(reaction), input, malleables)?;
        self.complete(malleables, host)
    }

    fn call_init(&mut self, malleables: &mut [u64], host: &mut dyn Host) -> Result<(), Stopped> {
        self.send(Called::Init, &[], malleables)?;
        self.complete(malleables, host)
    }
}

impl Module for WorkerProcess {
    /// Code that crashes while it is loaded ends the process; the old code is started again, with initial state.
    fn reload(&mut self, code: &Code, state: StateAfterReload) -> Result<(), LoadError> {
        super::check_shape(self.code.shape(), code.shape())?;
        let Ok(process) = &mut self.process else { return self.restart(code) };
        let loaded = process.load(code, state, self.options.limit);
        match loaded {
            Ok(()) => self.code = code.clone(),
            Err(_) if matches!(process.child.try_wait(), Ok(None)) => {}
            Err(_) => {
                let again = Process::start(&self.code, &self.options);
                self.process = again.map_err(|error| Stopped::Gone(error.0));
            }
        }
        loaded
    }

    fn begin(&mut self, call: Called, input: &[u64], malleables: &[u64]) -> Result<(), Stopped> {
        self.began = Instant::now();
        self.is_new = true;
        self.send(call, input, malleables)
    }

    /// The limit of a call includes the time between two polls.
    fn poll(&mut self, malleables: &mut [u64], host: &mut dyn Host) -> Option<Result<(), Stopped>> {
        let done = match self.answer_what_came(malleables, host) {
            Ok(false) => return None,
            Ok(true) => Ok(()),
            Err(stopped) => Err(stopped),
        };
        Some(self.ended(done))
    }

    fn restart(&mut self, code: &Code) -> Result<(), LoadError> {
        let process = Process::start(code, &self.options)?;
        self.process = Ok(process);
        self.code = code.clone();
        Ok(())
    }
}
