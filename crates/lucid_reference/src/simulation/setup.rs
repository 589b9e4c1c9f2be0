// SPDX-License-Identifier: Apache-2.0
//! `Setup`: a resolved run, with every name looked up in the program and every value converted to its type,
//! or diagnostics.

use super::codes;
use super::inputs::{Input, Source, SourceKind};
use super::resolve::Resolver;
use crate::interpreter::{Arguments, EventValue, Place, Prepared, Value, bytes_of_state, prepare};
use crate::specification::{self, Links, Run};
use lucid::core::{DEFAULT_RECIRCULATION_PORT, EventId, Program};
use network::links::{self, End, LinkOptions, LossModel};
use source::{Diagnostic, Diagnostics, Span};
use std::sync::Arc;

/// Limit of the memory that the arrays of all switches of a run may take, in bytes.
pub const MAX_STATE_BYTES: u128 = 8 << 30;

/// Reads the bytes of a capture by the name in the specification, or returns the reason why it cannot.
pub type ReadCapture<'a> = &'a mut dyn FnMut(&str) -> Result<Vec<u8>, String>;

/// Times, probabilities and limits of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    /// When the run ends, in picoseconds.
    pub max_time_ps: u64,
    /// Least time from generating an event to handling it, in picoseconds.
    pub generate_delay_ps: u64,
    /// The maximal random delay, in picoseconds.
    pub random_delay_range_ps: u64,
    /// How far apart the releases of delayed events are, in picoseconds; 0 for none.
    pub delay_granularity_ps: u64,
    /// Loss of events that go to a switch directly, 0 to 1.
    pub direct_loss: f64,
    /// Whether the run stops at an access beyond the end of an array.
    pub stop_on_out_of_range: bool,
}

/// A run ready to go. Cheap to share; simulations of it begin anew.
#[derive(Clone, Debug)]
pub struct Setup {
    pub(crate) program: Arc<Program>,
    pub(crate) run: Arc<Run>,
    pub(crate) prepared: Arc<Prepared>,
    pub(crate) switches: u32,
    pub(crate) seed: u64,
    pub(crate) timing: Timing,
    pub(crate) recirculation_ports: Vec<u32>,
    /// Values of the program's externs, by switch.
    pub(crate) externs: Vec<Vec<Value>>,
    pub(crate) links: Vec<([End; 2], LinkOptions)>,
    pub(crate) sources: Arc<Vec<Source>>,
    pub(crate) warnings: Diagnostics,
}

impl Setup {
    /// Resolves a specification without captures; see [`Setup::with_captures`].
    pub fn new(program: Arc<Program>, run: &Run) -> Result<Setup, Diagnostics> {
        let reason = "captures are read only where files can be";
        Setup::with_captures(program, run, &mut |_| Err(reason.to_string()))
    }

    /// Resolves a specification; the function reads captures.
    pub fn with_captures(
        program: Arc<Program>,
        run: &Run,
        read_capture: ReadCapture<'_>,
    ) -> Result<Setup, Diagnostics> {
        let mut found = Diagnostics::new();
        let prepared = match prepare(&program) {
            Ok(prepared) => prepared,
            Err(misfit) => {
                let message = format!("the core program does not hold together: {misfit}");
                let help = "this is a mistake in Planewright; please report it with the program";
                found.push(Diagnostic::error(codes::INTERNAL, Span::NONE, message).help(help));
                return Err(found);
            }
        };
        let switches = run.switches.max(1);
        check_memory(&program, switches, &mut found);
        let recirculation_ports: Vec<u32> = (0..switches as usize)
            .map(|at| {
                run.recirculation_ports.get(at).copied().unwrap_or(DEFAULT_RECIRCULATION_PORT)
            })
            .collect();
        let mut resolver = Resolver { program: &program, run, switches, found: &mut found };
        let externs = resolver.externs();
        let links = resolver.links(&recirculation_ports);
        let sources = resolver.sources(read_capture);
        if found.has_errors() {
            return Err(found);
        }
        Ok(Setup {
            prepared: Arc::new(prepared),
            program,
            run: Arc::new(run.clone()),
            switches,
            seed: run.seed,
            timing: Timing {
                max_time_ps: run.max_time_ps,
                generate_delay_ps: run.generate_delay_ps,
                random_delay_range_ps: run.random_delay_range_ps,
                delay_granularity_ps: run.delay_granularity_ps,
                direct_loss: run.drop_chance_percent / 100.0,
                stop_on_out_of_range: run.stop_on_out_of_range,
            },
            recirculation_ports,
            externs,
            links,
            sources: Arc::new(sources),
            warnings: found,
        })
    }

    /// Warnings about the specification.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// The program that runs.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The specification that it was made of.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// The program as the interpreter runs it.
    pub fn prepared(&self) -> &Prepared {
        &self.prepared
    }

    /// Times, probabilities and limits.
    pub fn timing(&self) -> &Timing {
        &self.timing
    }

    /// The seed of everything random.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Values of the program's externs, by switch.
    pub fn externs(&self) -> &[Vec<Value>] {
        &self.externs
    }

    /// Ends of each link, and what it is like.
    pub fn links(&self) -> &[([End; 2], LinkOptions)] {
        &self.links
    }

    /// Looks up the names of a further input, for all its places. Generators and captures are none.
    ///
    /// # Errors
    ///
    /// The input names something that the program or the network does not have.
    pub fn inputs(&self, input: &specification::Input) -> Result<Vec<Input>, Diagnostics> {
        let mut found = Diagnostics::new();
        let (program, run, switches) = (&self.program, &self.run, self.switches);
        let mut resolver = Resolver { program, run, switches, found: &mut found };
        let inputs = resolver.single_inputs(input);
        if found.has_errors() { Err(found) } else { Ok(inputs) }
    }

    /// Inputs during the run.
    pub fn sources(&self) -> &Arc<Vec<Source>> {
        &self.sources
    }

    /// How many switches there are.
    pub fn switches(&self) -> u32 {
        self.switches
    }

    /// The recirculation port of the first switch, which a program for Tofino has as a constant.
    pub fn recirculation_port(&self) -> u32 {
        self.recirculation_ports.first().copied().unwrap_or(DEFAULT_RECIRCULATION_PORT)
    }

    /// Where the run's delay granularity is written.
    pub fn delay_granularity_place(&self) -> Span {
        self.run.delay_granularity_place
    }

    /// The recirculation port of each switch.
    pub fn recirculation_ports(&self) -> &[u32] {
        &self.recirculation_ports
    }

    /// How far apart the releases of delayed events are, in picoseconds; 0 where each waits as long as it asks.
    pub fn delay_granularity_ps(&self) -> u64 {
        self.timing.delay_granularity_ps
    }

    /// Whether links may lose something, or go down.
    pub fn may_lose(&self) -> bool {
        self.timing.direct_loss > 0.0
            || self.links.iter().any(|(_, quality)| quality.loss != LossModel::NONE)
            || self
                .sources
                .iter()
                .any(|source| matches!(source.kind, SourceKind::Single(Input::Link { .. })))
    }

    /// When the run ends, in picoseconds.
    pub fn max_time_ps(&self) -> u64 {
        self.timing.max_time_ps
    }

    /// An event value as observers see it: its arguments as values, and no place.
    pub fn event_value(
        &self,
        event: EventId,
        arguments: &Arguments,
        delay_ns: u64,
    ) -> Arc<EventValue> {
        let arguments = arguments.values(&self.prepared.events[event.0 as usize].slots);
        Arc::new(EventValue { event, arguments, delay_ns, place: Place::Here })
    }

    /// The run's commands and changes of links, without its events.
    pub fn controls(&self) -> Arc<Vec<Source>> {
        let is_control = |source: &&Source| {
            matches!(source.kind, SourceKind::Single(Input::Command { .. } | Input::Link { .. }))
        };
        Arc::new(self.sources.iter().filter(is_control).cloned().collect())
    }

    /// The links, all of them up.
    pub fn topology(&self) -> links::Links {
        let mut links = links::Links::new(self.seed);
        for (ends, options) in &self.links {
            links.connect(*ends, *options);
        }
        links
    }
}

fn check_memory(program: &Program, switches: u32, found: &mut Diagnostics) {
    let bytes = bytes_of_state(program) * u128::from(switches);
    if bytes <= MAX_STATE_BYTES {
        return;
    }
    let largest = program.globals.iter().max_by_key(|global| match global.kind {
        lucid::core::GlobalKind::Array { length, .. }
        | lucid::core::GlobalKind::PairArray { length, .. } => length,
        _ => 0,
    });
    let span = largest.map_or(Span::NONE, |global| global.span);
    let message = format!(
        "the arrays of {switches} switches need {} MiB, more than the {} MiB a run may take",
        bytes >> 20,
        MAX_STATE_BYTES >> 20
    );
    let diagnostic = Diagnostic::error(codes::TOO_LARGE, span, message).here("the longest one");
    found.push(diagnostic.help("make the arrays shorter, or run fewer switches"));
}

impl Resolver<'_> {
    /// Every pair of ends with a link, and what it is like.
    fn links(&mut self, recirculation_ports: &[u32]) -> Vec<([End; 2], LinkOptions)> {
        let run = self.run;
        // Lucid's links let events overtake each other, and an event waits for the rate in the link.
        let usual = LinkOptions {
            latency_ps: run.propagate_delay_ps,
            jitter_ps: run.random_propagate_range_ps,
            keeps_order: false,
            loss: LossModel::Random(run.drop_chance_percent / 100.0),
            ..LinkOptions::default()
        };
        let mut links = Vec::new();
        match &run.links {
            Links::FullMesh => {
                for one in 0..self.switches {
                    for other in one + 1..self.switches {
                        links.push(([(one, other), (other, one)], usual));
                    }
                }
            }
            Links::List(list) => {
                for link in list {
                    let options = LinkOptions {
                        latency_ps: link.latency_ps.unwrap_or(usual.latency_ps),
                        jitter_ps: link.jitter_ps.unwrap_or(usual.jitter_ps),
                        loss: link.loss.map_or(usual.loss, LossModel::Random),
                        sender_rate_bps: link.rate_bps.filter(|rate_bps| *rate_bps > 0),
                        ..usual
                    };
                    if link.ends.iter().all(|end| self.switch_exists(end.0, Span::NONE)) {
                        links.push((link.ends, options));
                    }
                }
            }
        }
        let in_use = |end: &&End| recirculation_ports.get(end.0 as usize) == Some(&end.1);
        for end in links.iter().flat_map(|link| &link.0).filter(in_use) {
            let (switch, port) = end;
            let message =
                format!("port {port} of switch {switch} has a link and is its recirculation port");
            let help = "give the switch another port in `recirculation_ports`, or the link another";
            let diagnostic = Diagnostic::error(codes::UNKNOWN_PLACE, Span::NONE, message);
            self.found.push(diagnostic.help(help));
        }
        links
    }
}
