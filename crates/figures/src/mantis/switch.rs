// SPDX-License-Identifier: Apache-2.0
//! [`Switch`]: a device that runs a P4R program, with its agent, in simulated time. Reactions run in this process.

use control::latency::LatencyModel;
use control::map::{Mapped, Virtual};
use control::session::Session;
use control::target::Target;
use device::{Device, DeviceOptions};
use network::replay::Agent as DeviceAgent;
use network_run::controllers::OwnControl;
use p4::interfaces::InterfacesOnly;
use p4::preprocessor::PreprocessorOptions;
use react::agent::{Agent, AgentOptions, AgentStatistics, Dialogue};
use react::c::Compiler;
use react::compiler::{CompiledProgram, Limits};
use react::interface::{Host, Reactions as Callable, Stopped};
use react::map::MalleableMap;
use react::module::{Code, InProcess, Module};
use source::{Diagnostics, RenderOptions, SourceMap, render_text};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The target of a program as written, which the agent and legacy control share.
pub(super) type Shared = Arc<Mutex<Box<dyn Target>>>;

/// A P4R program with the code of its reactions.
pub(super) struct Program {
    pub compiled: CompiledProgram,
    code: Code,
}

fn shown(map: &SourceMap, found: &Diagnostics) -> String {
    render_text(map, found, RenderOptions::default())
}

impl Program {
    /// Compiles a program; `defines` are macros of its text.
    ///
    /// # Errors
    ///
    /// All mistakes in it, or that there is no C compiler.
    pub fn compile(name: &str, text: &str, defines: &[(&str, String)]) -> Result<Program, String> {
        let defines = defines.iter().map(|(name, body)| (name.to_string(), Some(body.clone())));
        let options = PreprocessorOptions { include_dirs: Vec::new(), defines: defines.collect() };
        let read = react::language::read(name, text.to_string(), &InterfacesOnly, &options);
        let (program, _) = read.map_err(|(map, found)| shown(&map, &found))?;
        let limits = Limits::of(program.architecture);
        let compiled = react::compiler::compile(&program, limits);
        let compiled = compiled.map_err(|(found, map)| shown(&map, &found))?;
        let compiler = Compiler::from_environment();
        let (code, found) = react::c::compile(&compiled.interface, &program.map, &compiler);
        let code = code.ok_or_else(|| shown(&program.map, &found))?;
        Ok(Program { compiled, code })
    }
}

/// What an agent did.
#[derive(Default)]
pub(super) struct Record {
    pub dialogues: Vec<Dialogue>,
    pub log: Vec<String>,
    /// The words that each call of a reaction measured.
    pub inputs: Vec<Vec<u64>>,
    pub statistics: AgentStatistics,
}

/// The record of an agent, which is kept beside it.
#[derive(Clone, Default)]
pub(super) struct SharedRecord(Arc<Mutex<Record>>);

impl SharedRecord {
    pub fn get(&self) -> MutexGuard<'_, Record> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reactions in this process, whose inputs are recorded.
struct Recorded {
    code: InProcess,
    record: SharedRecord,
}

impl Callable for Recorded {
    fn call(
        &mut self,
        reaction: usize,
        input: &[u64],
        malleables: &mut [u64],
        host: &mut dyn Host,
    ) -> Result<(), Stopped> {
        self.record.get().inputs.push(input.to_vec());
        self.code.call(reaction, input, malleables, host)
    }

    fn call_init(&mut self, malleables: &mut [u64], host: &mut dyn Host) -> Result<(), Stopped> {
        self.code.call_init(malleables, host)
    }
}

impl Module for Recorded {}

/// The agent of a switch at its target.
pub(super) struct Reactions {
    agent: Agent,
    target: Shared,
    next_ps: Option<u64>,
    record: SharedRecord,
}

impl DeviceAgent for Reactions {
    fn next_ps(&self) -> Option<u64> {
        self.next_ps
    }

    fn act(&mut self, device: &mut Device) -> Result<(), String> {
        let now_ps = device.now_ps();
        if self.next_ps.is_some_and(|next_ps| next_ps <= now_ps) {
            self.next_ps = self.agent.round(&mut self.target)?;
        }
        let mut record = self.record.get();
        record.dialogues.extend(self.agent.take_trace());
        record.log.extend(self.agent.take_log());
        record.statistics = self.agent.statistics();
        Ok(())
    }
}

/// A switch with its agent.
pub(super) struct Switch {
    pub device: Device,
    /// The program as written, for legacy control.
    pub target: Shared,
    pub record: SharedRecord,
    reactions: Reactions,
}

impl Switch {
    /// Makes a switch, installs entries and runs the prologue. The model of the driver holds from then on.
    ///
    /// # Errors
    ///
    /// Why the switch cannot run.
    pub fn new(
        program: &Program,
        options: DeviceOptions,
        model: Option<LatencyModel>,
        entries: &str,
    ) -> Result<Switch, String> {
        let compiled = &program.compiled;
        let device = Device::new(compiled.run.program().clone(), options);
        let mut device = device.map_err(|error| error.to_string())?;
        let missing = |name: String| format!("the compiled program has no `{name}`");
        let mut below = device.target();
        let written = compiled.written.program().clone();
        let map = MalleableMap::new(&compiled.plan, written, below.program()).map_err(missing)?;
        let legacy = map.legacy_writes();
        if let Some((_, fault)) = below.execute(map.prologue()).first_fault() {
            return Err(fault.to_string());
        }
        let state = Virtual::new(map).map_err(|error| error.to_string())?;
        let mut target: Box<dyn Target> = Box::new(Mapped::new(state, vec![Box::new(below)]));
        install(entries, target.as_mut())?;
        let record = SharedRecord::default();
        let code = InProcess::load(&program.code).map_err(|error| error.to_string())?;
        let reactions = Box::new(Recorded { code, record: record.clone() });
        let options = AgentOptions { is_traced: true, ..AgentOptions::default() };
        let mut agent = Agent::new(compiled, reactions, legacy, options).map_err(missing)?;
        let target: Shared = Arc::new(Mutex::new(target));
        let next_ps = agent.prologue(&mut target.clone())?;
        record.get().log.extend(agent.take_log());
        device.set_control_latency(model);
        let reactions =
            Reactions { agent, target: target.clone(), next_ps, record: record.clone() };
        Ok(Switch { device, target, record, reactions })
    }

    /// The same switch, whose agent never acts.
    pub fn without_agent(mut self) -> Switch {
        self.reactions.next_ps = None;
        self
    }

    /// The time of the agent's next action.
    pub fn next_action_ps(&self) -> Option<u64> {
        self.reactions.next_ps
    }

    /// Advances device and agent to a time.
    ///
    /// # Errors
    ///
    /// Why the run cannot go on.
    pub fn run_until(&mut self, until_ps: u64) -> Result<(), String> {
        while let Some(next_ps) = self.reactions.next_ps.filter(|next_ps| *next_ps <= until_ps) {
            self.advance(next_ps.max(self.device.now_ps()))?;
            self.reactions.act(&mut self.device)?;
        }
        self.advance(until_ps)
    }

    /// Lets a packet arrive at a time, which is not before earlier ones.
    ///
    /// # Errors
    ///
    /// Why the run cannot go on.
    pub fn receive(&mut self, port: u32, time_ps: u64, bytes: Vec<u8>) -> Result<(), String> {
        self.run_until(time_ps)?;
        let sent = self.device.inject(port, time_ps, bytes);
        sent.map(|_| ()).map_err(|error| error.to_string())
    }

    fn advance(&mut self, until_ps: u64) -> Result<(), String> {
        self.device.advance(until_ps).map_err(|error| error.to_string())
    }

    /// The switch's device, and its control plane for a network.
    pub fn into_parts(self) -> (Device, OwnControl, SharedRecord) {
        let Switch { device, target, record, reactions } = self;
        let own = OwnControl { target: Box::new(target), agent: Box::new(reactions) };
        (device, own, record)
    }
}

/// Installs the entries of a text of commands.
pub(super) fn install(entries: &str, target: &mut dyn Target) -> Result<Session, String> {
    let mut session = Session::new(target.program());
    let (commands, errors) = control::entries::read("entries", entries);
    if let Some(error) = errors.first() {
        return Err(error.to_string());
    }
    let answers = session.apply_all(&commands, target, None);
    match answers.into_iter().find_map(Result::err) {
        Some(error) => Err(error.to_string()),
        None => Ok(session),
    }
}
