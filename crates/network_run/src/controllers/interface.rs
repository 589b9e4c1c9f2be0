// SPDX-License-Identifier: Apache-2.0
//! What controllers need of their caller: commands at times, interfaces of switches, and running programs.

use control::command::Located;
use control::p4info::P4Info;
use control::session::Session;
use control::target::Target;
use network::replay::Agent as DeviceAgent;
use source::Span;
use std::sync::Arc;

/// Why a program has no further line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoLine {
    /// It cannot go on; what happened and what to do.
    Failed {
        /// What happened, behind the controller's name.
        what: String,
        /// What to do.
        help: String,
    },
    /// The user interrupted the run.
    Interrupted,
}

/// Standard input and output of a running program. Dropping it ends the program.
pub trait Conversation {
    /// Writes a line to the program.
    fn write(&mut self, line: &str) -> Result<(), NoLine>;
    /// Waits for a line of the program.
    fn read(&mut self) -> Result<String, NoLine>;
}

/// Starts the programs of controllers.
pub trait Programs {
    /// Starts the program of a controller, by its index.
    fn start(&mut self, controller: usize) -> Result<Box<dyn Conversation>, NoLine>;
}

/// Commands that a controller applies at a time.
#[derive(Clone, Debug)]
pub struct TimedCommands {
    /// When, in picoseconds.
    pub at_ps: u64,
    /// The commands.
    pub commands: Arc<[Located]>,
    /// The commands as they are written.
    pub text: Arc<str>,
    /// The place in the network file.
    pub span: Span,
}

/// The control plane that a switch's program brings: its commands go to a target of its own, and an agent acts on the
/// switch at times that it chooses.
pub struct OwnControl {
    /// The target of commands: the program as written.
    pub target: Box<dyn Target>,
    /// Controllers of the program.
    pub agent: Box<dyn DeviceAgent>,
}

/// What controllers need beside their description.
pub struct ControlInputs {
    /// The commands of each controller.
    pub commands: Vec<Vec<TimedCommands>>,
    /// For each switch the session that installed its entries.
    pub sessions: Vec<Session>,
    /// For each switch its interface as P4Runtime describes it, if its controller is a program.
    pub interfaces: Vec<Option<Arc<P4Info>>>,
    /// For each switch the control plane that its program brings.
    pub own: Vec<Option<OwnControl>>,
    /// Starts programs.
    pub programs: Box<dyn Programs>,
    /// The seed of the run.
    pub seed: u64,
}
