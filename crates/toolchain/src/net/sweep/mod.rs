// SPDX-License-Identifier: Apache-2.0
//! Runs of one network with several seeds, side by side or as shards on several machines, and their results as one.

mod job;
mod kept_console;
mod report;
mod results_file;

use super::NetRun;
use super::prepared::{Prepared, Simulated};
use super::switches::Switches;
use crate::files;
use frontend::{Console, ExitStatus, Failure, Files as _, Work};
use job::Job;
use kept_console::KeptConsole;
use network_file::model::{ApplicationKind, Behaviour, CommandSource, FlowSizes, Network};
use network_run::expectations;
use network_run::tables::tables;
pub use report::Report;
use results_file::{SeedRun, SweepResults, Unmet};
use sha2::{Digest, Sha256};
use source::{Diagnostics, RenderOptions};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Runs with several seeds.
#[derive(Clone, Copy, Debug)]
pub struct Sweep<'r> {
    /// The seeds, in order and different.
    pub seeds: &'r [u64],
    /// Runs at a time.
    pub jobs: usize,
    /// The part of the seeds that runs; `None` is all of them.
    pub shard: Option<Shard>,
    /// The file of results, or a folder for one.
    pub results: Option<&'r Path>,
}

/// A part of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    pub number: usize,
    /// How many parts there are.
    pub count: usize,
}

impl Shard {
    /// The part that Slurm (SLURM_ARRAY_TASK_ID) or Kubernetes (JOB_COMPLETION_INDEX) gives this process. `count` is that
    /// of the user.
    ///
    /// # Errors
    ///
    /// Which variable is missing or wrong.
    pub fn of_environment(
        count: Option<usize>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Shard, String> {
        let number = |name: &str| match variable(name) {
            None => Ok(None),
            Some(text) => match text.trim().parse::<usize>() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(format!("--shard auto: {name} is `{text}`, which is no number")),
            },
        };
        let slurm = match (number("SLURM_ARRAY_TASK_ID")?, number("SLURM_ARRAY_TASK_MIN")?) {
            (Some(id), first) => Some(id.saturating_sub(first.unwrap_or(1)) + 1),
            (None, _) => None,
        };
        let kubernetes = number("JOB_COMPLETION_INDEX")?.map(|index| index + 1);
        let given = count.or(number("SLURM_ARRAY_TASK_COUNT")?.filter(|_| slurm.is_some()));
        match (slurm.or(kubernetes), given) {
            (None, _) => Err(
                "--shard auto: neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set; write --shard I/N"
                    .to_string(),
            ),
            (Some(_), None) => {
                Err("--shard auto: the number of shards is not known; write --shard auto/N".to_string())
            }
            (Some(number), Some(count)) if number == 0 || number > count => {
                Err(format!("--shard auto: this is task {number}, and there are {count} shards"))
            }
            (Some(number), Some(count)) => Ok(Shard { number, count }),
        }
    }

    fn has(self, index: usize) -> bool {
        index % self.count == self.number - 1
    }
}

/// Runs a sweep or a part of it. The whole is printed; a part is written to its file only.
pub(super) fn run(
    prepared: &Prepared<'_>,
    sweep: Sweep<'_>,
    until_ps: u64,
    console: &dyn Console,
) -> Result<ExitStatus, Failure> {
    let NetRun { file, json, csv, rows, .. } = *prepared.run;
    let own = sweep.seeds.iter().enumerate();
    let own = own.filter(|(at, _)| sweep.shard.is_none_or(|shard| shard.has(*at)));
    let own: Vec<u64> = own.map(|(_, seed)| *seed).collect();
    let runs = run_seeds(prepared, &own, sweep.jobs, until_ps, console)?;
    if prepared.run.interrupted.load(Ordering::Relaxed) {
        return Err("interrupted: not all seeds were run, so there are no results"
            .to_string()
            .into());
    }
    let results = SweepResults {
        network: file.display().to_string(),
        hash: hash(prepared, until_ps, console)?,
        seeds: sweep.seeds.to_vec(),
        runs,
    };
    if let Some(path) = sweep.results {
        let path = results_path(path, sweep.shard)?;
        std::fs::write(&path, results.text()).map_err(|error| {
            format!("cannot write `{}`: {}", path.display(), source::reason(&error))
        })?;
        if !console.is_quiet() {
            console.note(&format!("wrote {}", path.display()));
        }
    }
    match sweep.shard {
        None => report::print(&results, Report { json, csv, rows }, console),
        Some(Shard { number, count }) => {
            if !console.is_quiet() {
                let (own, all) = (own.len(), sweep.seeds.len());
                console.note(&format!("shard {number} of {count}: {own} of {all} seeds"));
            }
            Ok(ExitStatus::Fine)
        }
    }
}

/// A file, or one in a folder.
fn results_path(path: &Path, shard: Option<Shard>) -> Result<PathBuf, Failure> {
    let is_folder = path.is_dir() || path.as_os_str().to_string_lossy().ends_with('/');
    if !is_folder {
        return Ok(path.to_path_buf());
    }
    std::fs::create_dir_all(path).map_err(|error| {
        format!("cannot make the folder `{}`: {}", path.display(), source::reason(&error))
    })?;
    Ok(path.join(match shard {
        Some(Shard { number, count }) => format!("shard-{number}-of-{count}.json"),
        None => "results.json".to_string(),
    }))
}

/// Runs all seeds, several at a time; results and output are in the order of the seeds.
fn run_seeds(
    prepared: &Prepared<'_>,
    seeds: &[u64],
    jobs: usize,
    until_ps: u64,
    console: &dyn Console,
) -> Result<Vec<SeedRun>, Failure> {
    type Outcome = (Result<SeedRun, Failure>, Vec<String>);
    let next = AtomicUsize::new(0);
    let outcomes: Vec<Mutex<Option<Outcome>>> = seeds.iter().map(|_| Mutex::new(None)).collect();
    let has_failed = std::sync::atomic::AtomicBool::new(false);
    let spinner = console.spinner(Work::Search, console.is_quiet());
    spinner.set_message(format!("{} seeds", seeds.len()));
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, seeds.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(seed) = seeds.get(at) else { return };
                    if has_failed.load(Ordering::Relaxed)
                        || prepared.run.interrupted.load(Ordering::Relaxed)
                    {
                        return;
                    }
                    let kept = KeptConsole::default();
                    let ran = run_seed(prepared, *seed, until_ps, &kept);
                    has_failed.fetch_or(ran.is_err(), Ordering::Relaxed);
                    let outcome = Some((ran, kept.into_lines()));
                    *outcomes[at].lock().unwrap_or_else(PoisonError::into_inner) = outcome;
                }
            });
        }
    });
    drop(spinner);
    let mut runs = Vec::new();
    for (seed, outcome) in seeds.iter().zip(outcomes) {
        let outcome = outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Seeds after a failure or an interrupt.
        let Some((ran, lines)) = outcome else { continue };
        lines.iter().for_each(|line| console.note(&format!("seed {seed}: {line}")));
        runs.push(ran?);
    }
    Ok(runs)
}

fn run_seed(
    prepared: &Prepared<'_>,
    seed: u64,
    until_ps: u64,
    console: &KeptConsole,
) -> Result<SeedRun, Failure> {
    let out = prepared.run.out.join(format!("seed-{seed}"));
    let Simulated { built, results, is_complete } =
        prepared.simulate(seed, until_ps, &out, console)?;
    let unmet = expectations::judge(&built, &results);
    let unmet = unmet.iter().map(|diagnostic| {
        let span = diagnostic.primary.span;
        let place = prepared
            .map
            .location(span)
            .map_or_else(String::new, |place| format!("{place}:{}", place.column));
        let mut alone = Diagnostics::new();
        alone.push(diagnostic.clone());
        let message = source::render_text(&prepared.map, &alone, RenderOptions { color: false });
        Unmet { place, message }
    });
    Ok(SeedRun {
        seed,
        ended_ps: results.ended_ps,
        is_complete,
        events: results.events,
        frames: results.frames,
        unmet: unmet.collect(),
        tables: tables(built.network(), &results),
    })
}

/// A hash of what the results depend on beside the seed: files and options.
fn hash(prepared: &Prepared<'_>, until_ps: u64, console: &dyn Console) -> Result<String, Failure> {
    let Prepared { run, network, folder, map, programs, .. } = prepared;
    let mut hash = Sha256::new();
    let mut add_bytes = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    for file in named_files(network) {
        let path = folder.join(&file);
        // The words of a program that are no files are its arguments; other files are read before the runs.
        if path.is_file() {
            add_bytes(file.as_bytes());
            add_bytes(&files::Disk.bytes(&path)?);
        }
    }
    let mut add = |text: &str| add_bytes(text.as_bytes());
    for file in 0..map.file_count() as u32 {
        add(map.text(source::FileId(file)));
    }
    add(&format!("{until_ps} {} {} {:?}", run.pingall, run.engine.name(), run.preprocessing));
    add(&format!("{:?}", run.reactions));
    if let Some(path) = run.driver_model {
        add(&files::read_text(path)?);
    }
    for text in programs.sources().values() {
        add(text);
    }
    let switches =
        Switches { network, folder, run, map, seed: 0, controlled: run.reactions, console };
    for file in
        network.switches.iter().flat_map(|switch| switch.entries.iter().chain(&switch.device))
    {
        add(&files::read_text(&switches.locate(&file.value))?);
    }
    let digest = hash.finalize();
    Ok(digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect())
}

/// The captures, files of sizes, files of commands and words of controller programs that a network names.
fn named_files(network: &Network) -> Vec<String> {
    let mut names = Vec::new();
    for application in network.hosts.iter().flat_map(|host| &host.applications) {
        match &application.kind {
            ApplicationKind::Replay { capture, .. } => names.push(capture.value.clone()),
            ApplicationKind::Flows { sizes: FlowSizes::File(file), .. } => {
                names.push(file.value.clone());
            }
            _ => {}
        }
    }
    names.extend(network.reloads.iter().map(|reload| reload.program.value.clone()));
    for controller in &network.controllers {
        match &controller.behaviour {
            Behaviour::Program(words) => names.extend(words.iter().map(|word| word.value.clone())),
            Behaviour::Commands(list) => {
                names.extend(list.iter().filter_map(|commands| match &commands.commands {
                    CommandSource::File(file) => Some(file.value.clone()),
                    CommandSource::Text(_) => None,
                }));
            }
        }
    }
    names.sort();
    names.dedup();
    names
}

/// Joins the results of the shards of a sweep and prints what the whole sweep prints.
///
/// # Errors
///
/// A file is no results file, the files are of different sweeps, or seeds are missing or double.
pub fn merge(
    paths: &[PathBuf],
    report: Report<'_>,
    console: &dyn Console,
) -> Result<ExitStatus, Failure> {
    let mut all: Option<SweepResults> = None;
    let mut origins: Vec<(u64, &Path)> = Vec::new();
    for path in paths {
        let name = path.display();
        let read = SweepResults::read(&files::read_text(path)?);
        let read = read.map_err(|why| format!("`{name}` {why}"))?;
        for run in &read.runs {
            if let Some((_, earlier)) = origins.iter().find(|(seed, _)| *seed == run.seed) {
                let earlier = earlier.display();
                let message =
                    format!("seed {} is in `{earlier}` and in `{name}`: leave one out", run.seed);
                return Err(message.into());
            }
            origins.push((run.seed, path));
        }
        let Some(first) = &mut all else {
            all = Some(read);
            continue;
        };
        let earlier = paths[0].display();
        if (&first.hash, &first.network) != (&read.hash, &read.network) {
            return Err(format!(
                "`{earlier}` and `{name}` are of different sweeps: the network (`{}` and `{}`), a file of it, or an option \
                 differs",
                first.network, read.network
            )
            .into());
        }
        if first.seeds != read.seeds {
            return Err(
                format!("`{earlier}` and `{name}` are of sweeps with different seeds").into()
            );
        }
        first.runs.extend(read.runs);
    }
    let Some(mut all) = all else { return Err("there is no file to merge".to_string().into()) };
    let missing: Vec<String> = all
        .seeds
        .iter()
        .filter(|seed| !origins.iter().any(|(known, _)| known == *seed))
        .map(u64::to_string)
        .collect();
    if !missing.is_empty() {
        let (count, seeds) = (missing.len(), missing.join(", "));
        let total = all.seeds.len();
        return Err(format!("{count} of {total} seeds are missing: {seeds}; a shard has not run, or its file is not named").into());
    }
    all.runs.sort_by_key(|run| all.seeds.iter().position(|seed| *seed == run.seed));
    report::print(&all, report, console)
}

/// Writes the sweep as an indexed Job of Kubernetes and as an array of Slurm into a folder.
///
/// # Errors
///
/// The folder cannot be written.
pub fn emit_job(
    network: &Path,
    options: &[String],
    shards: usize,
    folder: &Path,
    console: &dyn Console,
) -> Result<ExitStatus, Failure> {
    let words: Vec<String> = options.iter().map(|word| job::quoted(word)).collect();
    let network = network.display().to_string();
    let job = Job { network: &network, options: &words.join(" "), shards };
    let texts =
        [("job.yaml".to_string(), job.manifest()), ("job.slurm".to_string(), job.slurm_script())];
    files::write_texts(folder, &texts)?;
    if !console.is_quiet() {
        for (name, _) in &texts {
            console.note(&format!("wrote {}", folder.join(name).display()));
        }
    }
    Ok(ExitStatus::Fine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_of_a_task_gives_its_shard() {
        let check = |count: Option<usize>,
                     set: &[(&str, &str)],
                     expected: Result<(usize, usize), &str>| {
            let variable = |name: &str| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_string())
            };
            let found = Shard::of_environment(count, variable);
            match (found, expected) {
                (Ok(shard), Ok(expected)) => assert_eq!((shard.number, shard.count), expected),
                (Err(why), Err(expected)) => assert!(why.contains(expected), "{why}"),
                (found, expected) => panic!("{found:?}, and not {expected:?}"),
            }
        };
        let slurm = [("SLURM_ARRAY_TASK_ID", "3"), ("SLURM_ARRAY_TASK_COUNT", "5")];
        check(None, &slurm, Ok((3, 5)));
        let from_zero = [slurm[0], slurm[1], ("SLURM_ARRAY_TASK_MIN", "0")];
        check(None, &from_zero, Ok((4, 5)));
        check(Some(4), &[("JOB_COMPLETION_INDEX", "0")], Ok((1, 4)));
        check(None, &[("JOB_COMPLETION_INDEX", "0")], Err("write --shard auto/N"));
        check(Some(2), &[("JOB_COMPLETION_INDEX", "2")], Err("this is task 3, and there are 2"));
        check(Some(2), &[("JOB_COMPLETION_INDEX", "x")], Err("`x`, which is no number"));
        check(None, &[], Err("neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX"));
    }

    #[test]
    fn shards_have_every_seed_once() {
        for count in 1..7 {
            for index in 0..20 {
                let having =
                    (1..=count).filter(|number| Shard { number: *number, count }.has(index));
                assert_eq!(having.count(), 1);
            }
        }
    }
}
