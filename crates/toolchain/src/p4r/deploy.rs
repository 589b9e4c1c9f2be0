// SPDX-License-Identifier: Apache-2.0
//! A reacting program on a switch: control map and agent in front of its target. Reactions run in a process of their own
//! if the running command can serve as one.

use control::latency::LatencyModel;
use control::map::{Mapped, Virtual};
use control::target::Target;
use frontend::{Controller, Deployed, WrittenProgram, count};
use ir::ready::ReadyProgram;
use react::agent::Agent;
use react::compiler::CompiledProgram;
use react::interface::Reactions;
use react::map::MalleableMap;
pub use react::module::WORKER_ARGUMENT;
use react::module::{Code, InProcess, WorkerOptions, WorkerProcess};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether reactions run in processes of their own.
static IN_WORKERS: AtomicBool = AtomicBool::new(false);

/// Says that the running command calls [`serve_worker`] first if it is started with [`WORKER_ARGUMENT`].
pub fn run_reactions_in_workers() {
    IN_WORKERS.store(true, Ordering::Relaxed);
}

/// Serves reactions for the process that started this one; returns only with an error.
pub fn serve_worker() -> String {
    match react::module::serve() {
        Ok(never) => match never {},
        Err(error) => format!("this process was not started as a worker: {error}"),
    }
}

/// A compiled program with the code of its reactions.
pub(super) struct Reacting {
    compiled: CompiledProgram,
    code: Code,
}

impl Reacting {
    pub(super) fn new(compiled: CompiledProgram, code: Code) -> Reacting {
        Reacting { compiled, code }
    }

    fn reactions(&self) -> Result<Box<dyn Reactions>, String> {
        let loaded =
            |error: react::module::LoadError| format!("the reactions do not load: {error}");
        if !IN_WORKERS.load(Ordering::Relaxed) {
            return Ok(Box::new(InProcess::load(&self.code).map_err(loaded)?));
        }
        let options = WorkerOptions::of_this_command()
            .map_err(|error| format!("the process for reactions does not start: {error}"))?;
        Ok(Box::new(WorkerProcess::start(&self.code, options).map_err(loaded)?))
    }
}

impl WrittenProgram for Reacting {
    fn program(&self) -> &ReadyProgram {
        &self.compiled.written
    }

    fn deploy(&self, mut switch: Box<dyn Target>) -> Result<Deployed, String> {
        let (written, run) = (self.compiled.written.program(), switch.program());
        let missing = |name: String| format!("the compiled program has no `{name}`");
        let map = MalleableMap::new(&self.compiled.plan, written.clone(), run).map_err(missing)?;
        let legacy = map.legacy_writes();
        let begun = switch.execute(map.prologue());
        if let Some((_, fault)) = begun.first_fault() {
            return Err(format!("the tables of the compiled program cannot be set up: {fault}"));
        }
        let state = Virtual::new(map).map_err(|error| error.to_string())?;
        let target = Box::new(Mapped::new(state, vec![switch]));
        let agent = Agent::new(&self.compiled, self.reactions()?, legacy).map_err(missing)?;
        let controllers: Vec<Box<dyn Controller>> = vec![Box::new(Running(agent.with_trace()))];
        Ok(Deployed { target, controllers })
    }

    fn driver(&self) -> Option<LatencyModel> {
        Some(LatencyModel::pcie_chip())
    }
}

/// The agent as a controller.
struct Running(Agent);

impl Controller for Running {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn prologue(&mut self, switch: &mut dyn Target) -> Result<Option<u64>, String> {
        self.0.prologue(switch)
    }

    fn round(&mut self, switch: &mut dyn Target) -> Result<Option<u64>, String> {
        self.0.round(switch)
    }

    fn drain_log(&mut self) -> Vec<String> {
        self.0.take_log()
    }

    fn drain_trace(&mut self) -> Vec<String> {
        self.0.take_trace().iter().map(react::agent::Dialogue::text).collect()
    }

    fn summary(&self) -> Option<String> {
        let statistics = self.0.statistics();
        let mean_ps = statistics.busy_ps.checked_div(statistics.dialogues)?;
        let failed = match statistics.failed_commits {
            0 => String::new(),
            failed => format!(", {}", count(failed, "failed commit")),
        };
        Some(format!(
            "reactions: {} of {} on average (longest {}), {}{failed}; times are those of the cost model",
            count(statistics.dialogues, "dialogue"),
            source::quantity::rounded(mean_ps),
            source::quantity::rounded(statistics.longest_ps),
            count(statistics.commits, "commit")
        ))
    }
}
