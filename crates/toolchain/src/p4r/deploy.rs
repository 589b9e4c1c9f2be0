// SPDX-License-Identifier: Apache-2.0
//! A reacting program on a switch: control map and agent in front of its target. Reactions run in a process of their own
//! if the running command can serve as one.

use super::reloading::{Requests, Running};
use control::latency::{DriverModel, LatencyModel};
use control::map::{Mapped, Virtual};
use control::target::Target;
use frontend::{Controller, ControllerOptions, Deployed, Driver, WrittenProgram};
use ir::ready::ReadyProgram;
use react::agent::{Agent, AgentOptions, Pace, StopEnds};
use react::compiler::CompiledProgram;
use react::map::MalleableMap;
pub use react::module::WORKER_ARGUMENT;
use react::module::{Code, InProcess, LoadError, Module, WorkerOptions, WorkerProcess};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

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

/// The clock of agents that do not wait for simulated time.
fn clock() -> Duration {
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    BEGIN.elapsed()
}

/// A compiled program with the code of its reactions.
pub(super) struct Reacting {
    compiled: Arc<CompiledProgram>,
    code: Code,
}

impl Reacting {
    pub(super) fn new(compiled: CompiledProgram, code: Code) -> Reacting {
        Reacting { compiled: Arc::new(compiled), code }
    }

    fn reactions(&self, options: &ControllerOptions) -> Result<Box<dyn Module>, String> {
        let loaded = |error: LoadError| format!("the reactions do not load: {error}");
        if !runs_in_worker(options) {
            return Ok(Box::new(InProcess::load(&self.code).map_err(loaded)?));
        }
        let mut worker = WorkerOptions::of_this_command()
            .map_err(|error| format!("the process for reactions does not start: {error}"))?;
        worker.limit = options.watchdog.unwrap_or(worker.limit);
        Ok(Box::new(WorkerProcess::start(&self.code, worker).map_err(loaded)?))
    }
}

fn runs_in_worker(options: &ControllerOptions) -> bool {
    !options.in_process && IN_WORKERS.load(Ordering::Relaxed)
}

/// How the agent runs: beside a live switch it survives dead reactions and leaves time to the switch.
fn agent_options(options: &ControllerOptions) -> AgentOptions {
    let measures = options.driver == Driver::InProcess;
    let is_paced = measures || options.live_share.is_some();
    let pace = Pace { clock, share: options.live_share.unwrap_or(1.0), measures };
    AgentOptions {
        boot_ps: options.boot_ps,
        stop_ends: match options.live_share {
            Some(_) => StopEnds::Dialogues,
            None => StopEnds::Run,
        },
        pace: is_paced.then_some(pace),
        polls_calls: options.live_share.is_some() && runs_in_worker(options),
        is_traced: options.records,
    }
}

impl WrittenProgram for Reacting {
    fn program(&self) -> &ReadyProgram {
        &self.compiled.written
    }

    fn deploy(
        &self,
        mut switch: Box<dyn Target>,
        options: &ControllerOptions,
    ) -> Result<Deployed, String> {
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
        let reactions = self.reactions(options)?;
        let agent = Agent::new(&self.compiled, reactions, legacy, agent_options(options));
        let requests = Requests::new(self.compiled.clone());
        let measured = options.driver == Driver::InProcess || options.live_share.is_some();
        let running = Running::new(agent.map_err(missing)?, requests.clone(), measured);
        let controllers: Vec<Box<dyn Controller>> = vec![Box::new(running)];
        Ok(Deployed { target, controllers, reloads: Some(Box::new(requests)) })
    }

    fn driver(&self) -> Option<LatencyModel> {
        Some(DriverModel::pcie_chip().model)
    }
}
