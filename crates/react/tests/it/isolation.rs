// SPDX-License-Identifier: Apache-2.0
//! Isolation, judged from what packets did and from the log of batches, never from version bits. `history` runs random
//! programs, reactions, legacy updates and traffic; `judge` looks for a serial order. A part of the system with a mistake
//! must be caught with the programs, seeds and packets that the right system passes.

mod broken_map;
mod driver;
mod history;
mod judge;
mod legacy;
mod log;

use crate::compiled::compiled_with;
use crate::generated::{Target as Architecture, Writes, program};
use history::{LegacyMistake, Mistakes, PACKETS, history};
use judge::fault;
use react::agent::Mistake as Agent;
use react::compiler::{BinLimits, Limits};
use testing::{Choices, seeds};

/// Histories of the right system, and the most of a wrong one.
const HISTORIES: u64 = 32;

/// What a history has.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    histories: u64,
    commits: usize,
    failed: usize,
    legacy: usize,
    cells: usize,
    calls: usize,
    /// Calls of the reaction with a rate of its own.
    slow_calls: usize,
    /// Legacy updates that waited and may share a commit.
    waiting: usize,
}

fn judged(seed: u64, mistakes: Mistakes, architecture: Architecture) -> (Option<String>, Counts) {
    let generated = program(&mut Choices::from_seed(seed), Writes::Once, architecture);
    let init = match seed % 4 {
        0 => BinLimits { bits: u32::MAX, items: usize::MAX },
        _ => BinLimits { bits: 18, items: 3 },
    };
    let combinations = if seed % 8 == 7 { 2 } else { 64 };
    let compiled = compiled_with(&generated.text, Some(Limits { init, combinations }));
    let history = history(&compiled, seed, mistakes, architecture);
    let fault = fault(&compiled, &history, architecture);
    let fault = fault.map(|fault| format!("seed {seed}: {fault}\n{}", generated.text));
    let done = history.commits.iter().filter(|commit| commit.is_ok);
    let counts = Counts {
        histories: 1,
        commits: done.clone().filter(|commit| commit.is_agent).count(),
        failed: history.commits.len() - done.clone().count(),
        legacy: done.filter(|commit| !commit.is_agent).count(),
        cells: history.cells.len(),
        calls: history.calls.len(),
        slow_calls: history.calls.iter().filter(|call| call.reaction == 1).count(),
        waiting: history.waiting,
    };
    (fault, counts)
}

#[test]
fn histories_have_a_serial_order() {
    check(Architecture::V1model);
}

#[test]
fn histories_on_tofino_have_a_serial_order() {
    check(Architecture::Tna);
}

fn check(architecture: Architecture) {
    let mut all = Counts::default();
    for seed in seeds(HISTORIES) {
        let (fault, own) = judged(seed, Mistakes::default(), architecture);
        assert_eq!(fault, None);
        all.histories += own.histories;
        all.commits += own.commits;
        all.failed += own.failed;
        all.legacy += own.legacy;
        all.cells += own.cells;
        all.calls += own.calls;
        all.slow_calls += own.slow_calls;
        all.waiting += own.waiting;
    }
    if all.histories == HISTORIES {
        assert!(all.slow_calls > 20 && all.slow_calls < all.calls / 3, "{all:?}");
        assert!(all.waiting > all.legacy / 4, "{all:?}");
    }
    println!(
        "{} histories, {} packets, {} commits of agents, {} of legacy controllers ({} of them waited and may have shared \
         one), {} that failed, {} legacy writes of registers, {} measurements, {} of them of slow reactions",
        all.histories,
        all.histories * u64::from(PACKETS),
        all.commits,
        all.legacy,
        all.waiting,
        all.failed,
        all.cells,
        all.calls,
        all.slow_calls
    );
}

#[test]
fn mistakes_are_caught() {
    let map = |map| Mistakes { map, ..Mistakes::default() };
    let driver = |driver| Mistakes { driver, ..Mistakes::default() };
    let agent = |agent| Mistakes { agent, ..Mistakes::default() };
    let legacy = |legacy| Mistakes { legacy, ..Mistakes::default() };
    use broken_map::Mistake as Map;
    use driver::Mistake as Driver;
    let all = [
        ("no mirror", map(Map::NoMirror)),
        ("no wait before the mirror", map(Map::NoWait)),
        ("a wait only after the mirror", map(Map::WaitAfterMirror)),
        ("commit before prepare", map(Map::CommitFirst)),
        ("commit before the second prepare", map(Map::CommitEarly)),
        ("no versions", map(Map::NoVersions)),
        ("one table outside the commit", map(Map::TableOutside)),
        ("deletions from the primary first", map(Map::DeletePrimaryFirst)),
        ("defaults set in place before the commit", map(Map::DefaultInPlace)),
        ("defaults set in place after the commit", map(Map::DefaultAfterCommit)),
        ("further init tables without versions", map(Map::InitInPlace)),
        ("the master before the other init tables", map(Map::MasterFirst)),
        ("a failed prepare not undone", driver(Driver::NotUndone)),
        ("a memoised handle kept over a delete", driver(Driver::KeptHandles)),
        ("no flip", agent(Agent::NoFlip)),
        ("a late flip", agent(Agent::LateFlip)),
        ("no wait before the read", agent(Agent::NoWait)),
        ("no sequence word", agent(Agent::NoSequence)),
        ("no timestamps", agent(Agent::NoTimestamps)),
        ("one timestamp for both copies", agent(Agent::SharedTimestamps)),
        ("timestamps of two bits", agent(Agent::ShortTimestamps)),
        ("an array skipped at a flip", agent(Agent::SkippedArrays)),
        ("the cache lost, timestamps kept", agent(Agent::LostCache)),
        ("registers not read in the prologue", agent(Agent::NoOriginals)),
        ("a legacy write to one copy at a time", legacy(LegacyMistake::CopyByCopy)),
        ("a second owner of the master entry", legacy(LegacyMistake::Master)),
        ("a legacy write of a register behind the agent", legacy(LegacyMistake::Registers)),
    ];
    catch(&all, Architecture::V1model);
}

#[test]
fn mistakes_on_tofino_are_caught() {
    let map = |map| Mistakes { map, ..Mistakes::default() };
    let agent = |agent| Mistakes { agent, ..Mistakes::default() };
    let all = [
        ("no mirror", map(broken_map::Mistake::NoMirror)),
        ("no wait before the mirror", map(broken_map::Mistake::NoWait)),
        ("one table outside the commit", map(broken_map::Mistake::TableOutside)),
        ("no wait before the read", agent(Agent::NoWait)),
        ("no sequence word", agent(Agent::NoSequence)),
        ("no timestamps", agent(Agent::NoTimestamps)),
        ("an array skipped at a flip", agent(Agent::SkippedArrays)),
    ];
    catch(&all, Architecture::Tna);
}

fn catch(all: &[(&str, Mistakes)], architecture: Architecture) {
    for (name, mistakes) in all.iter().copied() {
        let caught =
            (0..HISTORIES).find_map(|seed| Some((seed, judged(seed, mistakes, architecture).0?)));
        let (seed, fault) = caught.unwrap_or_else(|| panic!("{name}: not caught"));
        let packets = (seed + 1) * u64::from(PACKETS);
        println!("{name:>46} {packets:>6} packets: {}", fault.lines().next().unwrap_or(""));
    }
}
