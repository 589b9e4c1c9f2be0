// SPDX-License-Identifier: Apache-2.0
//! Runs of networks of switches and hosts by their file: [`NetRun`] describes one, [`run`] does it. `network_file` reads the
//! file, `network_run` builds and runs the network; the files that it names are read here.

mod captures;
mod controller_program;
mod controllers;
mod emit;
pub mod live;
mod output;
mod pace;
mod resources;
mod switches;
mod views;

use crate::file_kind::{self, FileKind};
use crate::files::{self, Disk};
use crate::lucid::Lucid;
use crate::lucid::inputs::program_of_file;
use captures::CaptureFiles;
use controller_program::StandardError;
use controllers::ControllerPrograms;
use frontend::{Console, ExitStatus, Failure, NetworkRuns, ProgramFile, Work};
use network_file::model::{Amount, ApplicationKind, Behaviour, Controller, Network};
use network_file::{Format, Kind, Options};
use network_run::controllers::ControlInputs;
pub use network_run::timeline::Window;
use network_run::{Built, add_pingall, expectations};
use p4::preprocessor::PreprocessorOptions;
use pace::Pace;
use source::{SourceMap, quantity};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use switches::Switches;
pub use views::Views;

/// The latest end of a run whose file has none and which may have none.
const DEFAULT_END_PS: u64 = 10_000_000_000_000;
/// Parts of a run between which progress is shown and interrupts are seen.
const SLICES: u64 = 1000;

/// Tools for which a network can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// containerlab.
    Containerlab,
}

/// A run of a network, as its user describes it.
#[derive(Clone, Copy)]
pub struct NetRun<'r> {
    /// The network file.
    pub file: &'r Path,
    /// The program of switches without one.
    pub program: Option<&'r Path>,
    /// How P4 sources are read.
    pub preprocessing: &'r PreprocessorOptions,
    /// The engine of switches without one in the file.
    pub engine: device::EngineChoice,
    /// The end of the run; it replaces that of the file.
    pub until_ps: Option<u64>,
    /// The seed; it replaces that of the file.
    pub seed: Option<u64>,
    /// Let every host ping every other host.
    pub pingall: bool,
    /// Print the results as JSON instead of tables.
    pub json: bool,
    /// The folder for a CSV file of each table.
    pub csv: Option<&'r Path>,
    /// The folder of captures that the file names.
    pub out: &'r Path,
    /// The most rows of a table that are printed.
    pub rows: usize,
    /// Files for people to look at.
    pub views: Views<'r>,
    /// The most simulated seconds a second of the clock; `None` is as fast as possible.
    pub pace: Option<f64>,
    /// Makes the network live instead of simulating it.
    pub live: Option<live::Live<'r>>,
    /// Writes the network for another tool into `out` instead of running it.
    pub emit: Option<Emit>,
    /// Set when the user interrupts the run: it ends and reports what it has.
    pub interrupted: &'r Arc<AtomicBool>,
}

/// Runs a network and prints what it measured.
///
/// # Errors
///
/// Why there is no run. Expectations that are not met are printed.
pub fn run(run: &NetRun<'_>, console: &dyn Console) -> Result<ExitStatus, Failure> {
    if let Some(kind @ FileKind::Program(_)) = FileKind::of_readable(run.file) {
        let is_not = "is not a network file (.yaml, .json, .toml)";
        return Err(Failure::Message(file_kind::wrong(run.file, is_not, kind)));
    }
    run.views.check(run.file)?;
    let mut map = SourceMap::new();
    let text = files::read_text(run.file)?;
    let name = run.file.display().to_string();
    let file = map.add(name.clone(), text.as_str());
    let (folder, format) = (run.file.parent().unwrap_or(Path::new("")), Format::of_name(&name));
    let base = match network_file::base_of(&map, file, format) {
        Some(base) => {
            let path = folder.join(base);
            let text = files::read_text(&path)?;
            Some(map.add(path.display().to_string(), text.as_str()))
        }
        None => None,
    };
    let options = Options {
        program: run.program.map(|program| program.display().to_string()),
        base,
        ..Options::default()
    };
    let (read, found) = network_file::read(&map, file, format, &options);
    let mut network = match read {
        None => return Err(Failure::Found(map, found)),
        Some(Kind::LucidRun) if run.live.is_some() || run.emit.is_some() => {
            let message =
                format!("{name}: a Lucid run has no hosts; write a network file with the program");
            return Err(Failure::Message(message));
        }
        Some(Kind::LucidRun) => return lucid_run(run, console),
        Some(Kind::Network(network)) => *network,
    };
    let mut seed = run.seed.or(network.seed).unwrap_or(0);
    if let Some(only) = run.live.and_then(|live| live.only) {
        let (cut, number) = network_live::one_switch::only(&network, only.switch)?;
        network = cut;
        // Switches of one network draw different numbers, in processes of their own, too.
        seed = seed.wrapping_add((number as u64) << 32);
    }
    if run.pingall {
        add_pingall(&mut network);
    }
    console.warnings(&map, &found);
    if let Some(defaults) = network.defaults_in_words().filter(|_| !console.is_quiet()) {
        console.note(&defaults);
    }
    let resources = resources::read(&network, folder, &map)?;
    let switches = Switches { network: &network, folder, run, map: &map, seed, console };
    let programs = switches.compile()?;
    let (devices, sessions): (Vec<_>, Vec<_>) = switches.make(&programs)?.into_iter().unzip();
    if run.emit == Some(Emit::Containerlab) {
        let (switches, network) = (&switches, network.clone());
        return emit::run(network, &devices, (run, folder), switches, console);
    }
    let standard_error = StandardError::default();
    let controllers = &network.controllers;
    let control = ControlInputs {
        commands: controllers::commands(controllers, folder, console)?,
        sessions,
        interfaces: switches.interfaces(&programs),
        programs: Box::new(ControllerPrograms::new(
            controllers,
            folder,
            run.interrupted,
            &standard_error,
        )),
        seed,
    };
    if let Some(live) = run.live {
        let inputs = live::Inputs { network, devices, control, standard_error, map: &map };
        return live::run(inputs, live, run, console);
    }
    let until_ps = end_of_run(run, &network, console);
    let mut files = CaptureFiles::create(&network.captures, run.out)?;
    let built = network_run::build(network, devices, &resources, control);
    let mut built = built.map_err(|found| Failure::Found(map.clone(), found))?;
    run.views.begin(&mut built);
    let progress = Progress { run, console, map: &map, standard_error: &standard_error };
    let ran = progress.advance(&mut built, until_ps, &mut files);
    built.end_controllers();
    controllers::pass_on(&mut built, &standard_error, console);
    let is_complete = ran?;
    files.finish(console)?;
    let results = built.results();
    run.views.write(&mut built, &results, run.file, console)?;
    output::print(&built, &results, (until_ps, is_complete), run, console)?;
    let unmet = expectations::judge(&built, &results);
    let is_met = !unmet.has_errors();
    if !is_met {
        console.diagnostics(&map, &unmet);
    }
    Ok(match is_met {
        true => ExitStatus::Fine,
        false => ExitStatus::WrongInput,
    })
}

/// Runs a Lucid program by a specification, which `plane run --spec` does too.
fn lucid_run(run: &NetRun<'_>, console: &dyn Console) -> Result<ExitStatus, Failure> {
    if run.views.picture.is_some() {
        let message = "--picture draws network files, and this is the specification of a Lucid run";
        return Err(Failure::Message(message.to_string()));
    }
    let program = program_of_file(run.file, run.program, &Disk)?;
    let file = ProgramFile { path: &program, files: &Disk, preprocessing: run.preprocessing };
    let described = frontend::NetworkRun {
        specification: Some(run.file),
        captures: None,
        execution: frontend::Execution::Compiled(frontend::CompiledRun {
            target: None,
            engine: run.engine,
            is_verified: false,
            user_p4: frontend::UserP4Files::default(),
        }),
        symbolics: None,
        seed: run.seed,
        until_ps: run.until_ps,
        events: None,
        only: &[],
        all_bytes: false,
        trace: false,
        json: run.json,
        state_out: None,
        timeline: run.views.timeline,
        record: None,
    };
    Lucid.run(&file, &described, console)
}

/// When the run ends: as the user says, as the file says, or when nothing happens any more, but no later than
/// [`DEFAULT_END_PS`] if an application never ends or a controller is a program.
fn end_of_run(run: &NetRun<'_>, network: &Network, console: &dyn Console) -> u64 {
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
    if applications.any(|application| is_endless(&application.kind)) || controllers.any(is_program)
    {
        if !console.is_quiet() {
            console.note("the run ends after 10 s; `until` in the file or --until sets its end");
        }
        return DEFAULT_END_PS;
    }
    u64::MAX
}

/// A run that goes on in slices.
struct Progress<'r> {
    run: &'r NetRun<'r>,
    console: &'r dyn Console,
    map: &'r SourceMap,
    standard_error: &'r StandardError,
}

impl Progress<'_> {
    /// Runs to the end, or until the user interrupts. Returns whether nothing is left to happen.
    fn advance(
        &self,
        built: &mut Built,
        until_ps: u64,
        files: &mut CaptureFiles,
    ) -> Result<bool, Failure> {
        let Progress { run, console, .. } = self;
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
            controllers::pass_on(built, self.standard_error, *console);
            let has_more = match ran {
                Ok(has_more) => has_more,
                Err(error) => match controllers::failure(error, self.map) {
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

/// The explanations of the codes of this module.
pub(crate) fn explanations() -> impl Iterator<Item = &'static source::Explanation> {
    resources::EXPLANATIONS.iter()
}
