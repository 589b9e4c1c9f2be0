// SPDX-License-Identifier: Apache-2.0
//! A switch with a P4R program for benches: the device, the target of the program as written, and an agent whose reactions
//! run in this process. Needs a C compiler.

use control::map::{Mapped, Virtual};
use control::target::Target;
use device::{Device, DeviceOptions, EngineChoice};
use p4::interfaces::InterfacesOnly;
use p4::preprocessor::PreprocessorOptions;
use react::agent::{Agent, AgentOptions};
use react::c::{Compiler, compile as compile_c};
use react::compiler::{CompiledProgram, Limits, compile};
use react::language::read;
use react::map::MalleableMap;
use react::module::InProcess;
use source::{RenderOptions, render_text};

/// Compiles a program and its reactions.
fn compiled(text: &str) -> (CompiledProgram, InProcess) {
    let shown = |map: &_, found: &_| render_text(map, found, RenderOptions::default());
    let options = PreprocessorOptions::default();
    let program = match read("bench.p4r", text.to_string(), &InterfacesOnly, &options) {
        Ok((program, _)) => program,
        Err((map, found)) => panic!("{}", shown(&map, &found)),
    };
    let compiled = match compile(&program, Limits::of(program.architecture)) {
        Ok(compiled) => compiled,
        Err((found, map)) => panic!("{}", shown(&map, &found)),
    };
    let compiler = Compiler::from_environment();
    let (code, found) = compile_c(&compiled.interface, &program.map, &compiler);
    let code = code.unwrap_or_else(|| panic!("{}", shown(&program.map, &found)));
    (compiled, InProcess::load(&code).expect("code that loads"))
}

fn device(ready: &ir::ready::ReadyProgram) -> Device {
    let options = DeviceOptions { engine: EngineChoice::Jit, ..DeviceOptions::default() };
    Device::new(ready.program().clone(), options).expect("it loads")
}

/// A device that runs the program as written, with the initial values as constants.
#[allow(dead_code)] // Not all benches compare with it.
pub fn as_written(text: &str) -> Device {
    device(&compiled(text).0.written)
}

/// A switch that runs the program as run.
pub struct ReactingSwitch {
    pub device: Device,
    /// The target of the program as written.
    pub target: Box<dyn Target>,
    pub agent: Agent,
}

impl ReactingSwitch {
    /// Sets a switch up; the agent has run its prologue.
    pub fn new(text: &str) -> ReactingSwitch {
        let (compiled, reactions) = compiled(text);
        let device = device(&compiled.run);
        let mut below = device.target();
        let (written, run) = (compiled.written.program().clone(), below.program());
        let map = MalleableMap::new(&compiled.plan, written, run).expect("all objects are there");
        let legacy = map.legacy_writes();
        assert_eq!(below.execute(map.prologue()).first_fault(), None);
        let state = Virtual::new(map).expect("the program is whole");
        let mut target: Box<dyn Target> = Box::new(Mapped::new(state, vec![Box::new(below)]));
        let agent = Agent::new(&compiled, Box::new(reactions), legacy, AgentOptions::default());
        let mut agent = agent.expect("all objects are there");
        agent.prologue(target.as_mut()).expect("it begins");
        ReactingSwitch { device, target, agent }
    }
}
