// SPDX-License-Identifier: Apache-2.0
//! [`Running`]: the agent as a controller. [`Requests`] brings new reactions to it, from any thread.

use control::target::Target;
use frontend::{
    Activity, ActivityKind, Controller, Failure, ProgramFile, ReloadRequest, Reloads, count,
};
use react::agent::{Agent, Dialogue, Reload};
use react::compiler::CompiledProgram;
use react::module::StateAfterReload;
use source::{Diagnostics, SourceMap, quantity};
use std::sync::{Arc, Mutex, PoisonError};

/// Reloads that wait for their times, and the program that they must fit.
#[derive(Clone)]
pub(super) struct Requests {
    program: Arc<CompiledProgram>,
    waiting: Arc<Mutex<Vec<(u64, Reload)>>>,
}

impl Requests {
    pub(super) fn new(program: Arc<CompiledProgram>) -> Requests {
        Requests { program, waiting: Arc::default() }
    }

    fn next_ps(&self) -> Option<u64> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.iter().map(|(at_ps, _)| *at_ps).min()
    }

    /// Takes the reloads of times up to now, in the order of their times.
    fn take(&self, now_ps: u64) -> Vec<Reload> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.sort_by_key(|(at_ps, _)| *at_ps);
        let due = waiting.iter().take_while(|(at_ps, _)| *at_ps <= now_ps).count();
        waiting.drain(..due).map(|(_, reload)| reload).collect()
    }
}

impl Reloads for Requests {
    fn reload(
        &self,
        file: &ProgramFile<'_>,
        request: ReloadRequest,
    ) -> Result<(SourceMap, Diagnostics), Failure> {
        let (compiled, code, map, warnings) = super::compile_with_code(file)?;
        let state = match request.is_fresh {
            true => StateAfterReload::Fresh,
            false => StateAfterReload::Carried,
        };
        let reload = Reload::new(&self.program, &compiled, code, state, request.runs_init);
        let reload = reload.map_err(|what| {
            let name = file.quoted_name();
            let rule = "only C, rates and costs can change while packets flow";
            Failure::Message(format!("{name} cannot replace the running reactions: {what}; {rule}"))
        })?;
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push((request.at_ps, reload));
        Ok((map, warnings))
    }
}

/// The agent as a controller.
pub(super) struct Running {
    agent: Agent,
    requests: Requests,
    /// Whether times are those of the clock.
    is_measured: bool,
}

impl Running {
    pub(super) fn new(agent: Agent, requests: Requests, is_measured: bool) -> Running {
        Running { agent, requests, is_measured }
    }

    /// Returns the time of the next round: the agent's, or that of a reload.
    fn next_ps(&self, agent_ps: Option<u64>, now_ps: u64) -> Option<u64> {
        let reload_ps = self.requests.next_ps().map(|at_ps| at_ps.max(now_ps + 1));
        agent_ps.into_iter().chain(reload_ps).min()
    }
}

impl Controller for Running {
    fn name(&self) -> &str {
        self.agent.name()
    }

    fn prologue(&mut self, switch: &mut dyn Target) -> Result<Option<u64>, String> {
        let next_ps = self.agent.prologue(switch)?;
        Ok(self.next_ps(next_ps, switch.now_ps()))
    }

    fn round(&mut self, switch: &mut dyn Target) -> Result<Option<u64>, String> {
        let now_ps = switch.now_ps();
        for reload in self.requests.take(now_ps) {
            self.agent.reload(reload);
        }
        let next_ps = self.agent.round(switch)?;
        Ok(self.next_ps(next_ps, now_ps))
    }

    fn drain_log(&mut self) -> Vec<String> {
        self.agent.take_log()
    }

    fn drain_activities(&mut self) -> Vec<Activity> {
        self.agent.take_trace().iter().map(activity).collect()
    }

    fn summary(&self) -> Option<String> {
        let statistics = self.agent.statistics();
        let mean_ps = statistics.busy_ps.checked_div(statistics.dialogues)?;
        let mut parts = vec![
            format!(
                "{} of {} on average (longest {})",
                count(statistics.dialogues, "dialogue"),
                quantity::rounded(mean_ps),
                quantity::rounded(statistics.longest_ps)
            ),
            count(statistics.commits, "commit"),
        ];
        let more = [
            (statistics.failed_commits, "failed commit"),
            (statistics.reloads, "reload"),
            (statistics.failed_reloads, "failed reload"),
            (statistics.stops, "dead reaction"),
        ];
        parts.extend(more.into_iter().filter(|(at, _)| *at > 0).map(|(at, what)| count(at, what)));
        let times = match self.is_measured {
            true => "times are measured, and differ from run to run",
            false => "times are those of the cost model",
        };
        Some(format!("reactions: {}; {times}", parts.join(", ")))
    }
}

fn activity(dialogue: &Dialogue) -> Activity {
    let kind = match (&dialogue.failure, dialogue.committed_ps) {
        (Some(_), _) => ActivityKind::Failure,
        (None, 0) => ActivityKind::Idle,
        (None, _) => ActivityKind::Commit,
    };
    let Dialogue { began_ps, ended_ps, .. } = *dialogue;
    Activity { began_ps, ended_ps, kind, text: dialogue.text() }
}
