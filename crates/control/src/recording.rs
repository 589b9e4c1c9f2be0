// SPDX-License-Identifier: Apache-2.0
//! [`Recording`]: the updates of a target as commands of BMv2's command line, with the time of each. The commands make the
//! same state again, on BMv2 or on a device of ours: handles and priorities are those that both give. Reading them is
//! [`crate::command_text::read_timed`].

mod commands;

use crate::command::{Command, Priority};
use crate::command_text;
use crate::entry_handles::{EntryHandles, EntryKey};
use crate::free_numbers::FreeNumbers;
use crate::target::{Item, Reply};
use ir::{Program, TableId};
use state::EntryHandle;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Updates of a program as commands.
#[derive(Clone, Debug)]
pub struct Recording {
    program: Arc<Program>,
    entries: BTreeMap<TableId, EntryHandles>,
    /// Entries by their place in the target, for updates that name the place.
    places: HashMap<(TableId, EntryHandle), EntryKey>,
    /// Idle timeouts in nanoseconds, of entries that have one.
    timeouts: HashMap<(TableId, EntryKey), u64>,
    /// The nodes of each multicast group.
    multicast_nodes: BTreeMap<u32, Vec<u64>>,
    free_nodes: FreeNumbers,
    lines: Vec<Line>,
}

/// What one update became.
#[derive(Clone, Debug)]
struct Line {
    time_ps: u64,
    written: Written,
}

#[derive(Clone, Debug)]
enum Written {
    /// A command; the priorities of entries are those of the target.
    Command(Command),
    /// Nothing, as BMv2's command line has no such command: the kind of update.
    Nothing(&'static str),
}

impl Recording {
    /// Creates the recording of a target that has the state with which the program begins.
    pub fn new(program: Arc<Program>) -> Recording {
        Recording {
            entries: EntryHandles::of_program(&program),
            program,
            places: HashMap::new(),
            timeouts: HashMap::new(),
            multicast_nodes: BTreeMap::new(),
            free_nodes: FreeNumbers::default(),
            lines: Vec::new(),
        }
    }

    /// Records an item that took effect at this time, in picoseconds, with the target's reply. Reads leave no trace.
    pub fn record(&mut self, time_ps: u64, item: &Item, reply: &Reply) {
        for written in self.commands(item, reply) {
            self.lines.push(Line { time_ps, written });
        }
    }

    /// Returns the number of commands.
    pub fn command_count(&self) -> usize {
        let is_command = |line: &&Line| matches!(line.written, Written::Command(_));
        self.lines.iter().filter(is_command).count()
    }

    /// Returns the kinds of updates for which BMv2's command line has no command, with their numbers.
    pub fn unwritten(&self) -> BTreeMap<&'static str, usize> {
        let mut kinds = BTreeMap::new();
        for line in &self.lines {
            if let Written::Nothing(kind) = line.written {
                *kinds.entry(kind).or_default() += 1;
            }
        }
        kinds
    }

    /// Returns the commands, one a line, each group behind a comment with its time. Entries of one table keep the order of
    /// their priorities, as numbers from 1 of which the smallest wins.
    pub fn text(&self) -> String {
        let ranks = self.ranks();
        let (mut text, mut last_ps) = (String::new(), None);
        for Line { time_ps, written } in &self.lines {
            if last_ps != Some(*time_ps) {
                text.push_str(&command_text::time_line(*time_ps));
                last_ps = Some(*time_ps);
            }
            match written {
                Written::Command(command) => {
                    text.extend(command_text::write(&ranked(command, &ranks)));
                }
                Written::Nothing(kind) => {
                    text.push_str(&format!("# not a command of BMv2: {kind}"));
                }
            }
            text.push('\n');
        }
        text
    }

    /// The priorities of each table, the largest first.
    fn ranks(&self) -> HashMap<String, Vec<i64>> {
        let mut ranks: HashMap<String, BTreeSet<i64>> = HashMap::new();
        for line in &self.lines {
            if let Written::Command(Command::TableAdd { table, priority, .. }) = &line.written
                && let Priority::LargestWins(priority) = priority
            {
                ranks.entry(table.clone()).or_default().insert(*priority);
            }
        }
        ranks.into_iter().map(|(name, all)| (name, all.into_iter().rev().collect())).collect()
    }
}

/// The same command with a priority that BMv2 takes.
fn ranked(command: &Command, ranks: &HashMap<String, Vec<i64>>) -> Command {
    let mut command = command.clone();
    if let Command::TableAdd { table, priority, .. } = &mut command
        && let Priority::LargestWins(given) = *priority
    {
        let rank = ranks.get(table).map(|all| all.partition_point(|other| *other > given));
        *priority = Priority::SmallestWins(rank.unwrap_or(0) as i64 + 1);
    }
    command
}
