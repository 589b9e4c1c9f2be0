// SPDX-License-Identifier: Apache-2.0
//! [`Prepared`]: a network that has been read, with its programs compiled. Each simulation of it is independent, so several
//! may run at once.

use super::captures::CaptureFiles;
use super::controller_program::StandardError;
use super::controllers::{self, ControllerPrograms};
use super::pace::Pace;
use super::reloading::{ReactingSwitch, Reloader};
use super::switches::{CompiledPrograms, MadeSwitch, Switches};
use super::{DEFAULT_END_PS, NetRun, SLICES, resources};
use crate::reactions;
use device::Device;
use frontend::{Console, ControllerOptions, Failure, Work};
use network_file::model::{Amount, ApplicationKind, Behaviour, Controller, Network};
use network_run::controllers::{ControlInputs, TimedCommands};
use network_run::results::Results;
use network_run::{Built, Resources};
use source::{SourceMap, quantity};
use std::path::Path;
use std::sync::atomic::Ordering;

/// A network that has been read.
pub(super) struct Prepared<'r> {
    pub(super) run: &'r NetRun<'r>,
    pub(super) network: Network,
    pub(super) folder: &'r Path,
    pub(super) map: SourceMap,
    pub(super) programs: CompiledPrograms,
    resources: Resources,
    commands: Vec<Vec<TimedCommands>>,
}

/// A simulation that is over.
pub(super) struct Simulated {
    pub(super) built: Built,
    pub(super) results: Results,
    /// Whether nothing is left to happen.
    pub(super) is_complete: bool,
}

impl<'r> Prepared<'r> {
    /// Reads the files that a network names, and compiles its programs.
    pub(super) fn of(
        run: &'r NetRun<'r>,
        network: Network,
        folder: &'r Path,
        map: SourceMap,
        console: &dyn Console,
    ) -> Result<Prepared<'r>, Failure> {
        let resources = resources::read(&network, folder, &map)?;
        let (network_of, map_of) = (&network, &map);
        let controlled = run.reactions;
        let switches = Switches {
            network: network_of,
            folder,
            run,
            map: map_of,
            seed: 0,
            controlled,
            console,
        };
        let programs = switches.compile()?;
        let commands = controllers::commands(&network.controllers, folder, console)?;
        Ok(Prepared { run, network, folder, map, programs, resources, commands })
    }

    /// Makes the switches, what their controllers need, and those whose reactions can be exchanged.
    pub(super) fn switches(
        &self,
        seed: u64,
        standard_error: &StandardError,
        console: &dyn Console,
    ) -> Result<(Vec<Device>, ControlInputs, Vec<ReactingSwitch>), Failure> {
        let Prepared { run, network, folder, map, programs, .. } = self;
        let records = run.views.timeline.is_some();
        let controlled = ControllerOptions { records, ..run.reactions };
        if programs.react() {
            reactions::say_if_not_repeatable(&controlled, console);
        }
        let switches = Switches { network, folder, run, map, seed, controlled, console };
        let mut reacting = Vec::new();
        let mut devices = Vec::new();
        let (mut sessions, mut own) = (Vec::new(), Vec::new());
        for made in switches.make(programs)? {
            let MadeSwitch { device, session, own: control, reports, reloads } = made;
            let name = &network.switches[devices.len()].name;
            devices.push(device);
            sessions.push(session);
            own.push(control);
            if let Some(reports) = reports {
                standard_error.follow(devices.len() - 1, name, reports);
            }
            let switch = reloads.map(|(program, reloads)| ReactingSwitch {
                name: name.clone(),
                program,
                reloads,
            });
            reacting.extend(switch);
        }
        let starter =
            ControllerPrograms::new(&network.controllers, folder, run.interrupted, standard_error);
        let control = ControlInputs {
            commands: self.commands.clone(),
            sessions,
            interfaces: switches.interfaces(programs),
            own,
            programs: Box::new(starter),
            seed,
        };
        Ok((devices, control, reacting))
    }

    /// Simulates the network with a seed, and writes its captures into a folder.
    pub(super) fn simulate(
        &self,
        seed: u64,
        until_ps: u64,
        out: &Path,
        console: &dyn Console,
    ) -> Result<Simulated, Failure> {
        let standard_error = StandardError::default();
        let (devices, control, reacting) = self.switches(seed, &standard_error, console)?;
        let mut files = CaptureFiles::create(&self.network.captures, out)?;
        let built = network_run::build(self.network.clone(), devices, &self.resources, control);
        let mut built = built.map_err(|found| Failure::Found(self.map.clone(), found))?;
        self.run.views.begin(&mut built);
        let reloader = self.run.pace.map(|_| Reloader::start(reacting, self.run.preprocessing));
        let ran =
            self.advance(&mut built, until_ps, &mut files, (&standard_error, reloader, console));
        built.end_controllers();
        controllers::pass_on(&mut built, &standard_error, console);
        let is_complete = ran?;
        files.finish(console)?;
        if let Err(error) = built.finish()
            && let Some(failure) = controllers::failure(error, &self.map)
        {
            return Err(failure);
        }
        let results = built.results();
        Ok(Simulated { built, results, is_complete })
    }

    /// Runs to the end, or until the user interrupts. Returns whether nothing is left to happen.
    fn advance(
        &self,
        built: &mut Built,
        until_ps: u64,
        files: &mut CaptureFiles,
        (standard_error, reloader, console): (&StandardError, Option<Reloader>, &dyn Console),
    ) -> Result<bool, Failure> {
        let run = self.run;
        let spinner = console.spinner(Work::Search, console.is_quiet());
        let slice_ps = match until_ps {
            u64::MAX => DEFAULT_END_PS / SLICES,
            until_ps => (until_ps / SLICES).max(1),
        };
        let pace = run.pace.map(Pace::new);
        let slice_ps = pace.as_ref().map_or(slice_ps, |pace| slice_ps.min(pace.step_ps()));
        let mut now_ps = 0_u64;
        loop {
            now_ps = now_ps.saturating_add(slice_ps).min(until_ps);
            let ran = built.run_until(now_ps, files);
            controllers::pass_on(built, standard_error, console);
            if let Some(reloader) = &reloader {
                reloader.look(run.reload_asked, console);
            }
            let has_more = match ran {
                Ok(has_more) => has_more,
                Err(error) => match controllers::failure(error, &self.map) {
                    Some(failure) => return Err(failure),
                    None => true,
                },
            };
            files.check()?;
            if let Some(pace) = &pace {
                pace.wait(now_ps, run.interrupted);
            }
            if run.interrupted.load(Ordering::Relaxed) {
                console.note("interrupted: the results are those until then");
                return Ok(false);
            }
            if !has_more || now_ps >= until_ps {
                return Ok(!has_more);
            }
            let reached = quantity::rounded(now_ps);
            spinner.set_message(match until_ps {
                u64::MAX => format!("{reached} simulated, {} events", built.simulation.steps()),
                until_ps => format!(
                    "{reached} of {} simulated, {} events",
                    quantity::rounded(until_ps),
                    built.simulation.steps()
                ),
            });
        }
    }
}

/// When the run ends: as the user says, as the file says, or when nothing happens any more, but no later than
/// [`DEFAULT_END_PS`] if an application never ends, a controller is a program or a switch's program reacts.
pub(super) fn end_of_run(
    run: &NetRun<'_>,
    network: &Network,
    programs: &CompiledPrograms,
    console: &dyn Console,
) -> u64 {
    let given = run.until_ps.or(network.until_ps.as_ref().map(|until| until.value));
    if let Some(until_ps) = given {
        return until_ps;
    }
    let is_endless = |kind: &ApplicationKind| match kind {
        ApplicationKind::Tcp { amount, .. }
        | ApplicationKind::Udp { amount, .. }
        | ApplicationKind::Flows { amount, .. }
        | ApplicationKind::MemcachedClient { amount, .. } => *amount == Amount::Unlimited,
        _ => false,
    };
    let mut applications = network.hosts.iter().flat_map(|host| &host.applications);
    let mut controllers = network.controllers.iter();
    let is_program = |one: &Controller| matches!(one.behaviour, Behaviour::Program(_));
    if applications.any(|application| is_endless(&application.kind))
        || controllers.any(is_program)
        || programs.react()
    {
        if !console.is_quiet() {
            console.note("the run ends after 10 s; `until` in the file or --until sets its end");
        }
        return DEFAULT_END_PS;
    }
    u64::MAX
}
