// SPDX-License-Identifier: Apache-2.0
//! What comes out of a device: packets, digests, log lines, and the error that stops a run.

use crate::explanation;
use crate::packet::ProgramId;
use ir::{Bits, OriginId};
use source::{Code, Diagnostic, Diagnostics, Span};
use state::UpdateError;
use std::fmt;
use std::sync::Arc;

/// A packet that left by a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmitted {
    /// The port.
    pub port: u32,
    /// When its last bit arrived at the end of the port's latency, in picoseconds.
    pub time_ps: u64,
    /// The packet.
    pub bytes: Vec<u8>,
    /// Number of the received packet it stems from, from 0 in order of reception.
    pub packet: u64,
    /// The queue it was in.
    pub queue: u32,
    /// Position among all packets this device sent.
    pub sequence: u64,
}

/// A message of the data plane to the control plane (v1model's `digest`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DigestMessage {
    /// When, in picoseconds.
    pub time_ps: u64,
    /// The digest's control-plane name.
    pub name: Arc<str>,
    /// Names and values of its fields.
    pub fields: Vec<(Arc<str>, Bits)>,
    /// Number of the received packet it stems from.
    pub packet: u64,
}

/// A line that a packet wrote to the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// When, in picoseconds.
    pub time_ps: u64,
    /// Number of the received packet it stems from.
    pub packet: u64,
    /// The line.
    pub text: String,
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
        /// The block it stands in.
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
    /// A packet was given for a port that the architecture has no number for.
    NoSuchPort {
        /// The port.
        port: u32,
        /// The largest that there is.
        largest: u32,
    },
    /// A pass was given to an executor, or to a device, that has another program, or none of it any more.
    ForeignPass {
        /// Number of the received packet.
        packet: u64,
    },
    /// A packet was given for a time before what the device has done already.
    TimeWentBack {
        /// The device's time in picoseconds.
        now_ps: u64,
        /// The packet's.
        given_ps: u64,
    },
}

impl DeviceError {
    /// The stable code, as in [`crate::EXPLANATIONS`].
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

/// An extern that a device cannot run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternProblem {
    /// The extern, with the method that is called.
    pub name: String,
    /// The call, or the extern's declaration.
    pub span: Span,
    /// What is wrong; `None` when there is no provider.
    pub problem: Option<String>,
}

/// Why a program cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// No device is described for the program's architecture.
    UnsupportedArchitecture {
        /// What the program was written for.
        architecture: Arc<str>,
        /// The architectures that have one.
        supported: Vec<&'static str>,
    },
    /// The program calls externs that this device has no provider of, or that do not fit it.
    UnsupportedExterns(Vec<ExternProblem>),
    /// The program asks for something the architecture does not do.
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
    /// Passes are to take time, on machine code.
    PassTimingOnJit,
    /// The stages that passes are to have do not fit the program: why, in a sentence.
    PassTiming(String),
    /// No program of this number is loaded.
    NoSuchProgram(ProgramId),
    /// The program cannot be unloaded: it is the main program, or the admission rule names it.
    ProgramInUse(ProgramId),
    /// Code cannot be replaced by that of a program with other state: what differs first, in a sentence.
    DifferentShape(String),
}

impl LoadError {
    /// The stable code, as in [`crate::EXPLANATIONS`].
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
    /// What is wrong with which place of the program, each with advice; empty for an error that is about no
    /// place.
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
