// SPDX-License-Identifier: Apache-2.0
//! Messages between the agent and a worker process through memory that both map. One of the two has the turn: it writes the
//! message and gives the turn to the other. Whatever the worker's memory has, the agent reads numbers within bounds.

use super::unsafe_calls::SharedWords;
use rustix::thread::futex;
use rustix::time::Timespec;
use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use std::time::{Duration, Instant};

/// Words of texts: paths, lines of the log, errors.
const TEXT_WORDS: usize = 1024;

/// Waiting this long costs less than going to sleep and waking up.
const SPIN_TIME: Duration = Duration::from_micros(20);

/// Where the other side needs longer, or no core is free for it, spinning is tried once in so many waits.
const WAITS_PER_TRIAL: u32 = 32;

/// Rounds of spinning between two looks at the clock.
const SPIN_ROUNDS: u32 = 50;

/// Word 0 begins with the turn: the number of a side.
const KIND: usize = 1;
const NUMBERS: Range<usize> = 2..6;
/// For each side, whether it sleeps.
const SLEEPERS: [usize; 2] = [6, 7];
const AREAS: usize = 8;

/// A side of a mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The process that calls reactions.
    Agent = 0,
    /// The process that runs them.
    Worker = 1,
}

impl Side {
    fn other(self) -> Side {
        match self {
            Side::Agent => Side::Worker,
            Side::Worker => Side::Agent,
        }
    }
}

/// The numbers of words of the areas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The largest input.
    pub input: usize,
    /// Malleables.
    pub malleables: usize,
    /// The largest operation on a table.
    pub table: usize,
}

/// Parts of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// The input of a reaction.
    Input,
    /// The words of malleables.
    Malleables,
    /// The words of an operation on a table.
    Table,
    /// A text.
    Text,
}

impl Layout {
    /// Returns the number of words of the memory.
    pub fn words(&self) -> usize {
        self.range(Area::Text).end
    }

    fn range(&self, area: Area) -> Range<usize> {
        let malleables = AREAS + self.input;
        let table = malleables + self.malleables;
        let text = table + self.table;
        match area {
            Area::Input => AREAS..malleables,
            Area::Malleables => malleables..table,
            Area::Table => table..text,
            Area::Text => text..text + TEXT_WORDS,
        }
    }

    /// Returns the layout as bytes for the new process.
    pub fn to_bytes(self) -> [u8; 24] {
        let mut bytes = [0; 24];
        let numbers = [self.input, self.malleables, self.table];
        for (bytes, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            bytes.copy_from_slice(&(number as u64).to_ne_bytes());
        }
        bytes
    }

    /// Reads [`Layout::to_bytes`].
    pub fn from_bytes(bytes: &[u8; 24]) -> Layout {
        let number = |index: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[index * 8..index * 8 + 8]);
            u64::from_ne_bytes(word) as usize
        };
        Layout { input: number(0), malleables: number(1), table: number(2) }
    }
}

/// A message: its kind and up to four numbers. Larger parts stand in areas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The kind; see the `kind` of each side.
    pub kind: u64,
    /// What the kind says.
    pub numbers: [u64; 4],
}

/// Kinds of messages.
pub mod kind {
    /// To the worker: load the code at the path in the text; number 0: whether to carry state.
    pub const LOAD: u64 = 1;
    /// To the worker: call the reaction of number 0 with number 1 words.
    pub const CALL: u64 = 2;
    /// To the worker: call `init`.
    pub const INIT: u64 = 3;
    /// To the worker: the result, number 0, of what it asked.
    pub const ANSWER: u64 = 4;
    /// To the agent: the work is done.
    pub const DONE: u64 = 5;
    /// To the agent: the code was not loaded, for the reason in the text of number 0 bytes.
    pub const FAILED: u64 = 6;
    /// To the agent: an operation, table, action and number of words.
    pub const TABLE: u64 = 7;
    /// To the agent: asks for the time.
    pub const NOW: u64 = 8;
    /// To the agent: a line of number 0 bytes.
    pub const LOG: u64 = 9;
    /// To the agent: asks for the number of failed commits.
    pub const FAILED_COMMITS: u64 = 10;
}

/// A side's view of the memory.
pub struct Mailbox {
    words: SharedWords,
    layout: Layout,
    side: Side,
    has_cores: bool,
    /// Waits until spinning is tried again; 0 while it succeeds.
    waits_to_trial: Cell<u32>,
}

impl Mailbox {
    /// A view of memory with this layout. The agent has the first turn.
    pub fn new(words: SharedWords, layout: Layout, side: Side) -> Mailbox {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Mailbox { words, layout, side, has_cores: cores > 1, waits_to_trial: Cell::new(0) }
    }

    /// Writes a message and gives the turn away.
    pub fn send(&self, kind: u64, numbers: &[u64]) {
        self.words[KIND].store(kind, Relaxed);
        for (index, word) in NUMBERS.enumerate() {
            self.words[word].store(numbers.get(index).copied().unwrap_or(0), Relaxed);
        }
        let other = self.side.other();
        self.words.turn().store(other as u32, SeqCst);
        if self.words[SLEEPERS[other as usize]].load(SeqCst) != 0 {
            let _ = futex::wake(self.words.turn(), futex::Flags::empty(), 1);
        }
    }

    fn has_turn(&self) -> bool {
        self.words.turn().load(Acquire) == self.side as u32
    }

    /// Waits for the turn, at most for this time. Returns the message if it came. May return early.
    pub fn wait(&self, limit: Duration) -> Option<Message> {
        if self.has_turn() || self.spin() {
            return Some(self.message());
        }
        self.sleep(limit);
        self.has_turn().then(|| self.message())
    }

    /// Returns the message if the turn has come, without waiting.
    pub fn look(&self) -> Option<Message> {
        self.has_turn().then(|| self.message())
    }

    /// Waits awake for a short time. Returns whether the turn came.
    fn spin(&self) -> bool {
        let waits = self.waits_to_trial.get();
        if !self.has_cores || waits > 0 {
            self.waits_to_trial.set(waits.saturating_sub(1));
            return false;
        }
        let start = Instant::now();
        while start.elapsed() < SPIN_TIME {
            for _ in 0..SPIN_ROUNDS {
                if self.has_turn() {
                    return true;
                }
                std::hint::spin_loop();
            }
        }
        self.waits_to_trial.set(WAITS_PER_TRIAL);
        false
    }

    fn sleep(&self, limit: Duration) {
        let timeout = Timespec {
            tv_sec: limit.as_secs().min(1_000_000) as i64,
            tv_nsec: limit.subsec_nanos().into(),
        };
        let sleeper = &self.words[SLEEPERS[self.side as usize]];
        sleeper.store(1, SeqCst);
        let other = self.side.other() as u32;
        // The kernel compares the turn again, so a turn given meanwhile is not missed. Early returns are the caller's.
        let _ = futex::wait(self.words.turn(), futex::Flags::empty(), other, Some(&timeout));
        sleeper.store(0, SeqCst);
    }

    fn message(&self) -> Message {
        let mut numbers = [0; 4];
        for (number, word) in numbers.iter_mut().zip(NUMBERS) {
            *number = self.words[word].load(Relaxed);
        }
        Message { kind: self.words[KIND].load(Relaxed), numbers }
    }

    /// Writes words to the beginning of an area.
    ///
    /// # Panics
    ///
    /// If the area is smaller.
    pub fn write(&self, area: Area, words: &[u64]) {
        let range = self.layout.range(area);
        for (to, word) in self.words[range][..words.len()].iter().zip(words) {
            to.store(*word, Relaxed);
        }
    }

    /// Reads words from the beginning of an area; `None` if it is smaller.
    pub fn read(&self, area: Area, count: usize, words: &mut Vec<u64>) -> Option<()> {
        let from = self.words[self.layout.range(area)].get(..count)?;
        words.clear();
        words.extend(from.iter().map(|word| word.load(Relaxed)));
        Some(())
    }

    /// Writes a text, cut to what fits, and returns its number of bytes.
    pub fn write_text(&self, text: &[u8]) -> u64 {
        let text = &text[..text.len().min(TEXT_WORDS * 8)];
        let words: Vec<u64> = text
            .chunks(8)
            .map(|bytes| {
                let mut word = [0; 8];
                word[..bytes.len()].copy_from_slice(bytes);
                u64::from_ne_bytes(word)
            })
            .collect();
        self.write(Area::Text, &words);
        text.len() as u64
    }

    /// Reads a text; `None` if it would be longer than its area.
    pub fn read_text(&self, bytes: u64) -> Option<Vec<u8>> {
        let bytes = usize::try_from(bytes).ok()?;
        let mut words = Vec::new();
        self.read(Area::Text, bytes.div_ceil(8), &mut words)?;
        let mut text: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        text.truncate(bytes);
        Some(text)
    }
}
