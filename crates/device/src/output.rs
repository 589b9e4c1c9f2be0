// SPDX-License-Identifier: Apache-2.0
//! Outputs of a device: packets, digests, log lines, and the errors of loading and running.

use crate::explanation;
use crate::packet::ProgramId;
use control::target::{Item, Reply};
use ir::{Bits, OriginId, Program};
use source::{Code, Diagnostic, Diagnostics, Span};
use state::UpdateError;
use std::fmt;
use std::sync::Arc;

/// A transmitted packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmitted {
    /// Zeros behind its bytes that are not stored: only of packets that came without them ([`crate::Device::receive`]).
    pub absent_bytes: u32,
    /// The port.
    pub port: u32,
    /// Arrival of its last bit after the port's latency, in picoseconds.
    pub time_ps: u64,
    /// The packet.
    pub bytes: Vec<u8>,
    /// Number of the received packet that caused it, from 0 in order of reception.
    pub packet: u64,
    /// The queue it was in.
    pub queue: u32,
    /// Position among all packets that this device transmitted.
    pub sequence: u64,
}

/// A digest: a message of the data plane to the control plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DigestMessage {
    /// When, in picoseconds.
    pub time_ps: u64,
    /// The digest's control-plane name.
    pub name: Arc<str>,
    /// Names and values of its fields.
    pub fields: Vec<(Arc<str>, Bits)>,
    /// Number of the received packet that caused it.
    pub packet: u64,
}

/// A line that a packet wrote to the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// When, in picoseconds.
    pub time_ps: u64,
    /// Number of the received packet that caused it.
    pub packet: u64,
    /// The line.
    pub text: String,
}

/// An update of a controller that took effect.
#[derive(Clone, Debug, PartialEq)]
pub struct AppliedUpdate {
    /// When, in picoseconds.
    pub time_ps: u64,
    /// The program whose state it changed.
    pub program: Arc<Program>,
    /// The update.
    pub item: Item,
    /// Its reply.
    pub reply: Reply,
}

/// Why a run stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceError {
    /// An `assert` or `assume` did not hold.
    AssertionFailed {
        /// Whether it was `assume`.
        is_assume: bool,
        /// The statement: index into the program's origins, whose span is the place in the source.
        origin: OriginId,
        /// The block of the statement.
        block: Arc<str>,
        /// Number of the received packet.
        packet: u64,
        /// When, in picoseconds.
        time_ps: u64,
    },
    /// An extern could not be called.
    ExternFailed {
        /// Why, in a sentence.
        message: String,
        /// The block that called it.
        block: Arc<str>,
        /// Number of the received packet.
        packet: u64,
        /// When, in picoseconds.
        time_ps: u64,
    },
    /// A block could not be made into machine code.
    NotCompiled {
        /// Why, in a sentence.
        message: String,
    },
    /// The caller named a port above the architecture's largest port.
    NoSuchPort {
        /// The port.
        port: u32,
        /// The largest port.
        largest: u32,
    },
    /// The caller gave a pass to an executor or a device that does not have its program.
    ForeignPass {
        /// Number of the received packet.
        packet: u64,
    },
    /// The caller gave a time before the device's clock.
    TimeWentBack {
        /// The device's time in picoseconds.
        now_ps: u64,
        /// The time of the packet.
        given_ps: u64,
    },
}

impl DeviceError {
    /// Returns the stable code, as in [`crate::EXPLANATIONS`].
    pub fn code(&self) -> Code {
        match self {
            DeviceError::AssertionFailed { .. } => explanation::ASSERTION_FAILED,
            DeviceError::ExternFailed { .. } => explanation::EXTERN_FAILED,
            DeviceError::NotCompiled { .. } => explanation::NOT_COMPILED,
            DeviceError::TimeWentBack { .. } => explanation::TIME_WENT_BACK,
            DeviceError::NoSuchPort { .. } => explanation::NO_SUCH_PORT,
            DeviceError::ForeignPass { .. } => explanation::FOREIGN_PASS,
        }
    }
}

impl fmt::Display for DeviceError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceError::AssertionFailed { is_assume, block, packet, time_ps, .. } => {
                let what = if *is_assume { "assume" } else { "assert" };
                write!(
                    formatter,
                    "`{what}` in `{block}` did not hold for packet {packet} at {time_ps} ps"
                )
            }
            DeviceError::ExternFailed { message, block, packet, time_ps } => {
                write!(formatter, "in `{block}`, packet {packet}, at {time_ps} ps: {message}")
            }
            DeviceError::NotCompiled { message } => write!(
                formatter,
                "the program could not be made into machine code ({message}); run it with the \
                 interpreter"
            ),
            DeviceError::NoSuchPort { port, largest } => {
                write!(formatter, "there is no port {port}: the largest is {largest}")
            }
            DeviceError::ForeignPass { packet } => write!(
                formatter,
                "a pass of packet {packet} was given to an executor or device that does not run its \
                 program or has no such block"
            ),
            DeviceError::TimeWentBack { now_ps, given_ps } => write!(
                formatter,
                "a packet was given for {given_ps} ps, but the device is at {now_ps} ps already"
            ),
        }
    }
}

impl std::error::Error for DeviceError {}

/// An extern that the device cannot run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternProblem {
    /// The extern, with the method that is called.
    pub name: String,
    /// The call, or the extern's declaration.
    pub span: Span,
    /// What is wrong; `None` if there is no provider.
    pub problem: Option<String>,
}

/// Why a device cannot load a program or change its programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// No device runs the program's architecture.
    UnsupportedArchitecture {
        /// The program's architecture.
        architecture: Arc<str>,
        /// The architectures that a device runs.
        supported: Vec<&'static str>,
    },
    /// The program calls externs without a provider, or externs that their provider does not support.
    UnsupportedExterns(Vec<ExternProblem>),
    /// The program issues a request that the architecture does not know.
    UnsupportedRequest(Arc<str>),
    /// The program lacks a block or metadata field of its architecture.
    MissingPart {
        /// The architecture.
        architecture: &'static str,
        /// The part with its name: ``a block `ig` ``.
        part: String,
    },
    /// An entry or default action that the program gives is not possible.
    InitialState(UpdateError),
    /// The program could not be made into machine code; the interpreter can run it.
    NotCompiled(String),
    /// The options ask for timed passes on machine code.
    PassTimingOnJit,
    /// The stages of timed passes do not fit the program: why, in a sentence.
    PassTiming(String),
    /// No program of this number is loaded.
    NoSuchProgram(ProgramId),
    /// The program cannot be unloaded: it is the main program, or the admission rule names it.
    ProgramInUse(ProgramId),
    /// The state of the new code differs from the old one's: the first difference, in a sentence.
    DifferentShape(String),
}

impl LoadError {
    /// Returns the stable code, as in [`crate::EXPLANATIONS`].
    pub fn code(&self) -> Code {
        match self {
            LoadError::UnsupportedArchitecture { .. } => explanation::UNSUPPORTED_ARCHITECTURE,
            LoadError::UnsupportedExterns(_) => explanation::UNSUPPORTED_EXTERNS,
            LoadError::UnsupportedRequest(_) => explanation::UNSUPPORTED_REQUEST,
            LoadError::MissingPart { .. } => explanation::MISSING_PART,
            LoadError::NotCompiled(_) => explanation::NOT_COMPILED,
            LoadError::InitialState(_) => explanation::INITIAL_STATE,
            LoadError::PassTimingOnJit => explanation::PASS_TIMING_ON_JIT,
            LoadError::PassTiming(_) => explanation::PASS_TIMING,
            LoadError::NoSuchProgram(_) => explanation::NO_SUCH_PROGRAM,
            LoadError::ProgramInUse(_) => explanation::PROGRAM_IN_USE,
            LoadError::DifferentShape(_) => explanation::DIFFERENT_SHAPE,
        }
    }
}

impl LoadError {
    /// Returns a diagnostic for each place in the program; empty for an error without a place.
    pub fn diagnostics(&self) -> Diagnostics {
        let mut found = Diagnostics::new();
        let LoadError::UnsupportedExterns(problems) = self else { return found };
        for ExternProblem { name, span, problem } in problems {
            let diagnostic = match problem {
                None => Diagnostic::error(
                    self.code(),
                    *span,
                    format!("the device does not provide the extern `{name}`"),
                )
                .help("give the device a provider of it, or take the call out"),
                Some(problem) => {
                    let message = format!("the extern `{name}` cannot run: {problem}");
                    Diagnostic::error(self.code(), *span, message)
                }
            };
            found.push(diagnostic);
        }
        found
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::UnsupportedArchitecture { architecture, supported } => write!(
                formatter,
                "no device runs programs for `{architecture}`; there are devices for: {}",
                supported.join(", ")
            ),
            LoadError::UnsupportedExterns(problems) => {
                let missing: Vec<&str> = problems
                    .iter()
                    .filter(|problem| problem.problem.is_none())
                    .map(|problem| problem.name.as_str())
                    .collect();
                let wrong: Vec<String> = problems
                    .iter()
                    .filter_map(|it| Some(format!("`{}`: {}", it.name, it.problem.as_ref()?)))
                    .collect();
                let mut separator = "";
                if !missing.is_empty() {
                    let names = missing.join(", ");
                    write!(
                        formatter,
                        "the device does not provide these externs, which the program calls: {names}"
                    )?;
                    separator = "; ";
                }
                if !wrong.is_empty() {
                    write!(formatter, "{separator}these externs cannot run: {}", wrong.join("; "))?;
                }
                Ok(())
            }
            LoadError::UnsupportedRequest(name) => {
                write!(formatter, "the program asks for `{name}`, which the device does not do")
            }
            LoadError::MissingPart { architecture, part } => {
                write!(formatter, "a program for `{architecture}` needs {part}")
            }
            LoadError::NotCompiled(message) => write!(
                formatter,
                "the program could not be made into machine code ({message}); run it with the \
                 interpreter"
            ),
            LoadError::InitialState(error) => {
                write!(formatter, "an entry that the program gives is not possible: {error}")
            }
            LoadError::PassTimingOnJit => formatter.write_str(
                "machine code runs a pass in one moment: passes that take time need the \
                 interpreter (--engine interp)",
            ),
            LoadError::PassTiming(message) => {
                write!(formatter, "the times of passes do not fit the program: {message}")
            }
            LoadError::NoSuchProgram(program) => write!(formatter, "{program} is not loaded"),
            LoadError::ProgramInUse(program) => write!(
                formatter,
                "{program} cannot be unloaded: it is the device's main program, or its admission \
                 rule names it"
            ),
            LoadError::DifferentShape(difference) => write!(
                formatter,
                "the program's code cannot be replaced, as the programs' state is not equal: \
                 {difference}"
            ),
        }
    }
}

impl std::error::Error for LoadError {}
