// SPDX-License-Identifier: Apache-2.0
//! The worker process: loads code and calls reactions for the process that started it, and ends with it.

use super::code::LoadError;
use super::mailbox::{Area, Layout, Mailbox, Side, kind};
use super::unsafe_calls::{LoadedCode, SharedWords, flush_c_streams};
use crate::interface::{Host, TableOperation};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{Resource, Rlimit, Signal, getpid, kill_process, setrlimit};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

/// The worker waits in steps of this time.
const WAIT_TIME: Duration = Duration::from_secs(3600);

/// Serves the process that started this one, and ends with it. The command's first action, before it starts threads.
///
/// # Errors
///
/// This process was not started as a worker.
pub fn serve() -> io::Result<std::convert::Infallible> {
    // A crash of a reaction is expected: no core files.
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    let _ = setrlimit(Resource::Core, none);
    let mut socket = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let (memory, layout) = receive(&socket)?;
    let words = SharedWords::map(memory.as_fd(), layout.words())?;
    drop(memory);
    // Reactions read nothing and print to standard error: standard output is the command's.
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    std::thread::spawn(move || {
        // The other end closes when its process ends.
        while !matches!(socket.read(&mut [0; 16]), Ok(0)) {}
        let _ = kill_process(getpid(), Signal::KILL);
    });
    let mailbox = Mailbox::new(words, layout, Side::Worker);
    let mut worker = Worker { mailbox, loaded: None, input: Vec::new(), malleables: Vec::new() };
    loop {
        worker.serve_one();
    }
}

fn receive(socket: &File) -> io::Result<(OwnedFd, Layout)> {
    let mut bytes = [0; 24];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [IoSliceMut::new(&mut bytes)];
    let received = recvmsg(socket, &mut parts, &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    let files = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut files) => files.next(),
        _ => None,
    });
    let file = files.last().filter(|_| received.bytes == bytes.len());
    let file = file.ok_or_else(|| io::Error::other("this process was not started by an agent"))?;
    Ok((file, Layout::from_bytes(&bytes)))
}

struct Worker {
    mailbox: Mailbox,
    loaded: Option<LoadedCode>,
    input: Vec<u64>,
    malleables: Vec<u64>,
}

impl Worker {
    fn serve_one(&mut self) {
        let Some(message) = self.mailbox.wait(WAIT_TIME) else { return };
        let numbers = message.numbers;
        match message.kind {
            kind::LOAD => match self.load(numbers[0], numbers[1] != 0) {
                Ok(()) => self.mailbox.send(kind::DONE, &[]),
                Err(LoadError(reason)) => {
                    let bytes = self.mailbox.write_text(reason.as_bytes());
                    self.mailbox.send(kind::FAILED, &[bytes]);
                }
            },
            kind::CALL => self.call(Some((numbers[0] as usize, numbers[1] as usize))),
            _ => self.call(None),
        }
    }

    fn load(&mut self, path_bytes: u64, carries_state: bool) -> Result<(), LoadError> {
        let path = self.mailbox.read_text(path_bytes).unwrap_or_default();
        let mut loaded = LoadedCode::open(Path::new(OsStr::from_bytes(&path)))?;
        if let Some(old) = self.loaded.as_ref().filter(|_| carries_state) {
            loaded.carry_state_from(old);
        }
        self.loaded = Some(loaded);
        Ok(())
    }

    /// Calls a reaction with its number of words, or `init`.
    fn call(&mut self, reaction: Option<(usize, usize)>) {
        let loaded = self.loaded.as_mut().expect("the agent loads code before it calls");
        let mailbox = &self.mailbox;
        let fits = "the agent and this process have one layout";
        mailbox.read(Area::Malleables, loaded.malleable_words(), &mut self.malleables).expect(fits);
        let mut host = MailboxHost { mailbox };
        match reaction {
            Some((reaction, words)) => {
                mailbox.read(Area::Input, words, &mut self.input).expect(fits);
                loaded.call(reaction, &self.input, &mut self.malleables, &mut host);
            }
            None => loaded.call_init(&mut self.malleables, &mut host),
        }
        flush_c_streams();
        mailbox.write(Area::Malleables, &self.malleables);
        mailbox.send(kind::DONE, &[]);
    }
}

/// Sends what a reaction asks to the agent.
struct MailboxHost<'m> {
    mailbox: &'m Mailbox,
}

impl MailboxHost<'_> {
    fn ask(&self, kind: u64, numbers: &[u64]) -> u64 {
        self.mailbox.send(kind, numbers);
        loop {
            if let Some(answer) = self.mailbox.wait(WAIT_TIME) {
                return answer.numbers[0];
            }
        }
    }
}

impl Host for MailboxHost<'_> {
    fn table(
        &mut self,
        operation: TableOperation,
        table: usize,
        action: usize,
        words: &[u64],
    ) -> u64 {
        self.mailbox.write(Area::Table, words);
        let numbers = [operation as u64, table as u64, action as u64, words.len() as u64];
        self.ask(kind::TABLE, &numbers)
    }

    fn now_ns(&mut self) -> u64 {
        self.ask(kind::NOW, &[])
    }

    fn log(&mut self, line: &str) {
        let bytes = self.mailbox.write_text(line.as_bytes());
        self.ask(kind::LOG, &[bytes]);
    }

    fn failed_commits(&mut self) -> u64 {
        self.ask(kind::FAILED_COMMITS, &[])
    }
}
