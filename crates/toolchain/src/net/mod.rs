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
mod prepared;
pub mod reloading;
mod resources;
pub mod sweep;
mod switches;
mod views;

use crate::file_kind::{self, FileKind};
use crate::files::{self, Disk};
use crate::lucid::Lucid;
use crate::lucid::inputs::program_of_file;
use controller_program::StandardError;
use frontend::{Console, ControllerOptions, ExitStatus, Failure, NetworkRuns, ProgramFile};
use network_file::{Format, Kind, Options};
pub use network_run::timeline::Window;
use network_run::{add_pingall, expectations};
use p4::preprocessor::PreprocessorOptions;
use prepared::{Prepared, Simulated, end_of_run};
use source::SourceMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use sweep::Sweep;
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
    /// The model of the drivers through which reactions reach their switches.
    pub driver_model: Option<&'r Path>,
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
    /// How the reactions of switches run.
    pub reactions: ControllerOptions,
    /// Set when the user asks running switches to read their reactions again.
    pub reload_asked: &'r AtomicBool,
    /// Makes the network live instead of simulating it.
    pub live: Option<live::Live<'r>>,
    /// Runs with several seeds.
    pub sweep: Option<Sweep<'r>>,
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
    let options =
        Options { program: run.program.map(|program| program.display().to_string()), base };
    let (read, found) = network_file::read(&map, file, format, &options);
    let mut network = match read {
        None => return Err(Failure::Found(map, found)),
        Some(Kind::LucidRun) if run.live.is_some() || run.emit.is_some() => {
            let message =
                format!("{name}: a Lucid run has no hosts; write a network file with the program");
            return Err(Failure::Message(message));
        }
        Some(Kind::LucidRun) if run.sweep.is_some() => {
            let message = format!("{name}: --seeds is for network files, and this is a Lucid run");
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
    let prepared = Prepared::of(run, network, folder, map, console)?;
    if run.emit == Some(Emit::Containerlab) {
        let (devices, ..) = prepared.switches(seed, &StandardError::default(), console)?;
        let Prepared { network, folder, map, .. } = &prepared;
        let controlled = run.reactions;
        let switches = Switches { network, folder, run, map, seed, controlled, console };
        return emit::run(network.clone(), &devices, (run, folder), &switches, console);
    }
    if let Some(live) = run.live {
        let standard_error = StandardError::default();
        let (devices, control, reacting) = prepared.switches(seed, &standard_error, console)?;
        let Prepared { network, map, .. } = prepared;
        let map = &map;
        let inputs = live::Inputs { network, devices, control, reacting, standard_error, map };
        return live::run(inputs, live, run, console);
    }
    let until_ps = end_of_run(run, &prepared.network, &prepared.programs, console);
    if let Some(sweep) = run.sweep {
        return sweep::run(&prepared, sweep, until_ps, console);
    }
    let Simulated { mut built, results, is_complete } =
        prepared.simulate(seed, until_ps, run.out, console)?;
    run.views.write(&mut built, &results, run.file, console)?;
    output::print(&built, &results, (until_ps, is_complete), run, console)?;
    let unmet = expectations::judge(&built, &results);
    let is_met = !unmet.has_errors();
    if !is_met {
        console.diagnostics(&prepared.map, &unmet);
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

/// The explanations of the codes of this module.
pub(crate) fn explanations() -> impl Iterator<Item = &'static source::Explanation> {
    resources::EXPLANATIONS.iter().chain(switches::EXPLANATIONS)
}
