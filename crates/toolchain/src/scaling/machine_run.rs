// SPDX-License-Identifier: Apache-2.0
//! Packets of any source on the machine: the program in stages, the device with its machines, the report.
//! `capture_run` and `field_run` have the sources.

use super::{Muted, Scaled};
use crate::device_run::load_error_text;
use device::{Device, DeviceOptions};
use frontend::{Console, ExitStatus, Failure};
use network::replay::ReplayError;
use pisa::Gress;
use scale::codes;
use scale::machine::Settings;
use scale::packet_fields::{FlowOrder, PacketField, PacketOptions};
use scale::presets::{PRESETS, Place, Preset};
use scale::report::{MachineReport, RunReport};
use scale::staged::{NotStaged, StagedControl, stage_all};
use scale::switch_run::{CycleClock, HalfOutcome, HalfPlan, SwitchRun};
use source::{Diagnostic, Diagnostics, SourceMap, Span};
use std::sync::Arc;

/// The machine of a run, as its user describes it.
#[derive(Clone, Copy, Debug)]
pub struct MachineRun<'r> {
    /// The design's name.
    pub design: &'r str,
    /// Entries of a ring; `None` for queues without a bound.
    pub depth: Option<u64>,
    /// Cycles between two remaps.
    pub remap_every: u64,
    /// Cycles a second.
    pub clock_hz: u64,
    /// The seed of everything random.
    pub seed: u64,
    /// Mark packets that come to a queue of more entries, in this field or that of IPv4.
    pub ecn: Option<(Option<&'r str>, u64)>,
    /// Flows with equal values of these fields leave in order; without fields those of TCP and UDP over IPv4.
    pub keep_order: Option<&'r [String]>,
}

/// The fastest clock: a cycle of a picosecond.
const MAX_CLOCK_HZ: u64 = 1_000_000_000_000;

impl MachineRun<'_> {
    /// Checks numbers and names.
    pub(super) fn check(&self) -> Diagnostics {
        let mut found = Diagnostics::new();
        let mut wrong = |code, message: String, help: &str| {
            found.push(Diagnostic::error(code, Span::NONE, message).help(help));
        };
        if self.depth == Some(0) {
            wrong(
                codes::DEPTH,
                "--depth 0: no packet has a place in a queue".to_string(),
                "write a number from 1, such as 8, or leave the option out for queues without a bound",
            );
        }
        if self.remap_every == 0 {
            wrong(
                codes::REMAP,
                "--remap-every 0: remaps are some cycles apart".to_string(),
                "write a number from 1, such as 100; the design `static-modulo` has no remaps",
            );
        }
        if !(1..=MAX_CLOCK_HZ).contains(&self.clock_hz) {
            wrong(
                codes::CLOCK,
                format!("--clock {} Hz: no pipeline has this clock", self.clock_hz),
                "write a frequency from 1Hz to 1THz, such as 1GHz",
            );
        }
        if Preset::find(self.design).is_none() {
            let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
            let message = format!("there is no design `{}`", self.design);
            let mut diagnostic = Diagnostic::error(codes::DESIGN, Span::NONE, message);
            if let Some(nearest) = source::nearest(self.design, names.iter().copied()) {
                diagnostic = diagnostic.help(format!("did you mean `{nearest}`?"));
            }
            found.push(diagnostic.note(format!("designs are {}", names.join(", "))));
        }
        found
    }

    /// Returns the length of a cycle in picoseconds.
    pub(super) fn period_ps(&self) -> u64 {
        (MAX_CLOCK_HZ / self.clock_hz.max(1)).max(1)
    }
}

/// A program whose controls are in stages.
pub(super) struct StagedProgram<'s> {
    ingress: Arc<StagedControl>,
    /// Egress, if it accesses state; otherwise the device runs it.
    egress: Option<Arc<StagedControl>>,
    map: &'s SourceMap,
    pipelines: usize,
}

/// Where the packets of a run come from.
pub(super) trait PacketSource {
    /// Makes the device, with its options changed for machines, and applies what precedes the first packet.
    ///
    /// # Errors
    ///
    /// What is wrong with the device or the control commands.
    fn device(&self, program: &StagedProgram<'_>, console: &dyn Console)
    -> Result<Device, Failure>;

    /// The time of cycles, and the number of ports.
    fn clock(&self) -> (CycleClock, u32);

    /// Runs all packets, and takes what leaves unless it is a trial.
    ///
    /// # Errors
    ///
    /// What stops the run.
    fn run(
        &mut self,
        run: &mut SwitchRun,
        is_trial: bool,
        console: &dyn Console,
    ) -> Result<(), ReplayError>;
}

impl<'s> StagedProgram<'s> {
    /// Cuts the controls of a program.
    ///
    /// # Errors
    ///
    /// Why no machine runs it.
    pub(super) fn of(scaled: &'s Scaled, pipelines: u64) -> Result<StagedProgram<'s>, Failure> {
        let program = scaled.compiled.ready.program();
        let map = &scaled.compiled.map;
        let mut controls = scaled.controls(program);
        let limits = scaled.limits(program, &controls, pipelines);
        if limits.has_errors() {
            return Err(Failure::Found(map.clone(), limits));
        }
        controls.retain(|control| control.gress == Gress::Ingress || !control.groups.is_empty());
        let is_ingress: Vec<bool> =
            controls.iter().map(|control| control.gress == Gress::Ingress).collect();
        if is_ingress.iter().filter(|is_ingress| **is_ingress).count() != 1 {
            return Err(not_run(
                map,
                Span::NONE,
                "it has not one ingress control that takes stages",
            ));
        }
        let staged = stage_all(&mut controls).map_err(|error| match error {
            NotStaged::Cut(found) => Failure::Found(map.clone(), found),
            error => not_run(map, error.span(program), &error.to_string()),
        })?;
        let mut halves = staged.into_iter().map(Arc::new).zip(is_ingress);
        let (mut ingress, mut egress) = (None, None);
        halves.by_ref().for_each(|(control, is_ingress)| match is_ingress {
            true => ingress = Some(control),
            false => egress = Some(control),
        });
        let ingress = ingress.ok_or_else(|| not_run(map, Span::NONE, "it has no ingress"))?;
        Ok(StagedProgram { ingress, egress, map, pipelines: pipelines as usize })
    }

    /// Returns ingress, and egress if it is in stages.
    pub(super) fn controls(&self) -> impl Iterator<Item = (Gress, &StagedControl)> {
        let egress = self.egress.as_deref().map(|control| (Gress::Egress, control));
        std::iter::once((Gress::Ingress, &*self.ingress)).chain(egress)
    }

    /// Makes a device for the program: machines model the time of the halves that they run.
    ///
    /// # Errors
    ///
    /// What the device does not load.
    pub(super) fn device(&self, options: DeviceOptions) -> Result<Device, Failure> {
        let egress_latency_ps = match self.egress {
            Some(_) => 0,
            None => options.egress_latency_ps,
        };
        let options = DeviceOptions {
            ingress_interval_ps: 0,
            ingress_latency_ps: 0,
            egress_latency_ps,
            ..options
        };
        Device::new(self.ingress.program.clone(), options)
            .map_err(|error| Failure::Message(load_error_text(&error, self.map)))
    }

    /// Runs the packets of a source. The report has an error in words if something stopped the run.
    ///
    /// # Errors
    ///
    /// Why there is no run.
    pub(super) fn run(
        &self,
        source: &mut dyn PacketSource,
        run: &MachineRun<'_>,
        console: &dyn Console,
    ) -> Result<Ran, Failure> {
        let Some(preset) = Preset::find(run.design) else {
            return Err(Failure::Found(SourceMap::new(), run.check()));
        };
        let mut counts = self.halves().map(|half| {
            half.groups.iter().map(|group| vec![0; group.cells as usize]).collect::<Vec<_>>()
        });
        let mut counts = [counts.next().unwrap_or_default(), counts.next().unwrap_or_default()];
        if preset.uses_counts {
            let ran = self.run_once(source, run, &counts, (true, &Muted))?;
            counts = [ran.ingress.counts, ran.egress.map(|half| half.counts).unwrap_or_default()];
        }
        self.run_once(source, run, &counts, (false, console))
    }

    /// Finds the fields that the run names.
    fn packet_options(&self, run: &MachineRun<'_>) -> Result<PacketOptions, Failure> {
        let program = &self.ingress.program;
        let mut found = Diagnostics::new();
        let mut named = |option: &str, name: &str| match PacketField::named(program, name) {
            Ok(field) => Some(field),
            Err(nearest) => {
                let message = format!("{option}: the program has no field `{name}`, or several");
                let mut diagnostic = Diagnostic::error(codes::FIELD, Span::NONE, message);
                diagnostic = diagnostic.help(match nearest {
                    Some(nearest) => format!("did you mean `{nearest}`?"),
                    None => "write a name of the program, such as `hdr.ipv4.ecn`".to_string(),
                });
                found.push(diagnostic);
                None
            }
        };
        let mark = match run.ecn {
            Some((Some(name), _)) => named("--ecn", name),
            Some((None, _)) => PacketField::ecn(program),
            None => None,
        };
        let fields = match run.keep_order {
            Some([]) => Some(PacketField::five_tuple(program)),
            Some(names) => Some(names.iter().filter_map(|it| named("--keep-order", it)).collect()),
            None => None,
        };
        if found.is_empty() {
            let is_missing = [
                ("--ecn", run.ecn.is_some() && mark.is_none()),
                ("--keep-order", fields.as_ref().is_some_and(Vec::is_empty)),
            ];
            for (option, _) in is_missing.iter().filter(|(_, is_missing)| *is_missing) {
                let message = format!("{option}: the program has no IPv4 header");
                let help = "name fields of the program";
                found.push(Diagnostic::error(codes::FIELD, Span::NONE, message).help(help));
            }
        }
        match found.is_empty() {
            true => Ok(PacketOptions { mark, order: fields.map(|fields| FlowOrder { fields }) }),
            false => Err(Failure::Found(self.map.clone(), found)),
        }
    }

    fn halves(&self) -> impl Iterator<Item = &Arc<StagedControl>> {
        [&self.ingress].into_iter().chain(&self.egress)
    }

    fn run_once(
        &self,
        source: &mut dyn PacketSource,
        run: &MachineRun<'_>,
        counts: &[Vec<Vec<u64>>; 2],
        (is_trial, console): (bool, &dyn Console),
    ) -> Result<Ran, Failure> {
        let (clock, ports) = source.clock();
        let options = self.packet_options(run)?;
        let congestion_threshold = run.ecn.map(|(_, threshold)| threshold as usize);
        let depth = run.depth.filter(|_| !is_trial).map(|depth| depth as usize);
        let mut plans = self.halves().zip(counts).map(|(control, counts)| {
            let place = Place {
                pipelines: self.pipelines,
                ports,
                remap_every: run.remap_every,
                counts: counts.clone(),
                seed: run.seed,
            };
            let design = match (Preset::find(run.design), is_trial) {
                (Some(preset), false) => preset.design(&place),
                _ => scale::design::Design::naive(),
            };
            let settings =
                Settings { depth, congestion_threshold, ..Settings::new(self.pipelines) };
            HalfPlan { control: control.clone(), design, settings, options: options.clone() }
        });
        let device = source.device(self, console)?;
        let Some(ingress) = plans.next() else { return Err("no ingress".to_string().into()) };
        let mut switch = SwitchRun::new(device, clock, ingress, plans.next())
            .map_err(|error| load_error_text(&error, self.map))?;
        let ended = source.run(&mut switch, is_trial, console);
        let (device, ingress, egress) = switch.finish();
        Ok(Ran { device, ingress, egress, error: ended.err() })
    }
}

/// A run that ended.
pub(super) struct Ran {
    pub device: Device,
    pub ingress: HalfOutcome,
    pub egress: Option<HalfOutcome>,
    pub error: Option<ReplayError>,
}

impl Ran {
    /// Returns the report, and the status of the command.
    pub(super) fn report(&self, run: &MachineRun<'_>) -> (MachineReport, ExitStatus) {
        let half = |half: &HalfOutcome| {
            let pipelines = half.pipelines;
            let report = RunReport::new(
                run.design,
                pipelines,
                (&half.outcome, &half.arrivals),
                (half.verdict.clone(), half.violations.clone()),
                &half.groups,
            );
            let [arrivals, dropped, lost] = report.packets;
            let packets = [arrivals - half.control.iter().sum::<u64>(), dropped, lost];
            RunReport { packets, control: half.control, ..report }
        };
        let report = MachineReport {
            ingress: half(&self.ingress),
            egress: self
                .egress
                .as_ref()
                .map(|egress| RunReport { is_egress: true, ..half(egress) }),
        };
        let keeps_order = Preset::find(run.design).is_some_and(|preset| preset.is_equivalent);
        let is_wrong = report
            .halves()
            .any(|half| keeps_order && half.is_different() || !half.violations.is_empty());
        let is_wrong = is_wrong || self.error.is_some();
        (report, if is_wrong { ExitStatus::WrongInput } else { ExitStatus::Fine })
    }
}

fn not_run(map: &SourceMap, place: Span, reason: &str) -> Failure {
    let mut found = Diagnostics::new();
    let message = format!("no machine runs the program: {reason}");
    found.push(
        Diagnostic::error(codes::NOT_RUN, place, message)
            .help("`plane scale` without packets reports on each array"),
    );
    Failure::Found(map.clone(), found)
}
