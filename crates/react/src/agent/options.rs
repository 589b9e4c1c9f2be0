// SPDX-License-Identifier: Apache-2.0
//! How an agent runs: when it begins, what the end of a reaction ends, whether a clock paces it; and what it counts.

use std::time::Duration;

/// How an agent runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct AgentOptions {
    /// When `init` runs and the first dialogue may begin, in picoseconds. At 0 `init` is committed before the first packet
    /// and takes no time.
    pub boot_ps: u64,
    /// What a crash or an endless call of a reaction ends.
    pub stop_ends: StopEnds,
    /// Ties dialogues to a clock; without it, times are those of the target alone, and runs repeat.
    pub pace: Option<Pace>,
    /// Whether the agent polls calls of reactions that run in a process of their own, instead of waiting: a switch that is
    /// served by the same thread goes on meanwhile.
    pub polls_calls: bool,
    /// Whether each dialogue is recorded for [`super::Agent::take_trace`].
    pub is_traced: bool,
}

/// What a crash or an endless call of a reaction ends. Nothing that the call set is written in either case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StopEnds {
    /// The run, with an error.
    #[default]
    Run,
    /// The dialogues, until a reload. The switch forwards with the configuration of the last commit.
    Dialogues,
}

/// Ties dialogues to a clock.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// The time since some moment.
    pub clock: fn() -> Duration,
    /// The share of a processor that the agent takes at most, above 0 and at most 1. After a dialogue it waits until its
    /// work is this share of the time since the dialogue began.
    pub share: f64,
    /// Whether the work of a dialogue takes the time that the clock measures, instead of the costs that reactions declare.
    pub measures: bool,
}

/// What happened so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentStatistics {
    /// Dialogues that ended.
    pub dialogues: u64,
    /// Commits that took effect.
    pub commits: u64,
    /// Commits that failed.
    pub failed_commits: u64,
    /// The sum of the times of dialogues, in picoseconds.
    pub busy_ps: u64,
    /// The longest dialogue, in picoseconds.
    pub longest_ps: u64,
    /// Reloads that took effect.
    pub reloads: u64,
    /// Reloads that failed: the reactions before them went on.
    pub failed_reloads: u64,
    /// Crashes and endless calls of reactions.
    pub stops: u64,
}

/// A mistake that an agent makes on purpose, so that tests of isolation can catch it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mistake {
    /// None.
    #[default]
    None,
    /// The copy that packets write is read.
    NoFlip,
    /// The copy that packets write is read, and flipped afterwards.
    LateFlip,
    /// A copy is read while packets may still write it.
    NoWait,
    /// Cells are taken that no packet has written since they were read last.
    NoTimestamps,
    /// The write counts that were seen are those of either copy.
    SharedTimestamps,
    /// Write counts have two bits.
    ShortTimestamps,
    /// Now and then the cache is lost, but not the write counts that were seen.
    LostCache,
    /// Registers are not read before the first packet.
    NoOriginals,
    /// Fields are taken that no packet has written since they were read last.
    NoSequence,
    /// Every other flip, registers are not read.
    SkippedArrays,
}
