// SPDX-License-Identifier: Apache-2.0
//! Test set-up of devices: compiled programs, options, groups and sessions.

use control::target::Batch;
use device::{Device, DeviceOptions, EngineChoice};
use ir::Program;
use ir::ready::ReadyProgram;
use p4::preprocessor::PreprocessorOptions;
use state::{CloneSession, MulticastGroup, Replica, Update};
use std::sync::Arc;

pub const ENGINES: [EngineChoice; 2] = [EngineChoice::Interpreter, EngineChoice::Jit];

/// Compiles P4_16 text with some macros defined as nothing. No access of the program is fused with another.
pub fn compile(name: &str, text: &str, defines: &[&str]) -> Arc<Program> {
    let defines: Vec<_> = defines.iter().map(|name| (*name, None)).collect();
    compile_with(name, text, &defines)
}

/// Compiles P4_16 text with some macros defined.
pub fn compile_with(name: &str, text: &str, defines: &[(&str, Option<&str>)]) -> Arc<Program> {
    let owned =
        |&(name, value): &(&str, Option<&str>)| (name.to_string(), value.map(str::to_string));
    let defines = defines.iter().map(owned).collect();
    let options = PreprocessorOptions { defines, ..PreprocessorOptions::default() };
    let ready = ReadyProgram::of_text_with(name, text, &options);
    ready.unwrap_or_else(|why| panic!("{why}")).lowered().clone()
}

/// The defaults with an engine.
pub fn on(engine: EngineChoice) -> DeviceOptions {
    DeviceOptions { engine, ..DeviceOptions::default() }
}

/// Writes a batch and checks its success.
pub fn write(device: &Device, updates: impl IntoIterator<Item = Update>) {
    let outcome = device.execute(Batch::of(updates));
    assert!(outcome.is_ok(), "{outcome:?}");
}

pub fn replicas(ports_and_instances: &[(u32, u32)]) -> Vec<Replica> {
    let replica = |&(egress_port, instance): &(u32, u32)| Replica { egress_port, instance };
    ports_and_instances.iter().map(replica).collect()
}

/// Makes a multicast group of replicas, each a port and an instance.
pub fn group(group: u32, of: &[(u32, u32)]) -> Update {
    let content = MulticastGroup { replicas: replicas(of), ..MulticastGroup::default() };
    Update::InsertMulticastGroup { group, content }
}

/// Makes a clone session of replicas, each a port and an instance.
pub fn session(session: u32, of: &[(u32, u32)]) -> Update {
    let content = CloneSession { replicas: replicas(of), ..CloneSession::default() };
    Update::InsertCloneSession { session, content }
}
