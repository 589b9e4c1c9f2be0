// SPDX-License-Identifier: Apache-2.0
//! Live networks: the file's switches forward in real time, its hosts are network namespaces, and its applications are
//! programs. Prints what the run measured as a simulation's results are printed.

use super::captures::CaptureFiles;
use super::controller_program::StandardError;
use super::controllers;
use super::reloading::{ReactingSwitch, Reloader};
use super::{NetRun, output};
use device::Device;
use frontend::{Console, ExitStatus, Failure, Work, count};
use network_file::model::{Network, Subject};
use network_live::programs::{self, AtWork, Outcome};
use network_live::{
    Forwarder, Interfaces, LiveNetwork, Pace, StepError, one_switch, state, user_namespace,
};
use network_run::controllers::ControlInputs;
use network_run::{Built, expectations};
use source::{Diagnostic, Diagnostics, SourceMap, quantity};
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::Ordering;

/// How late the switches may be until the user hears of it, in picoseconds.
const LATE_PS: u64 = 20_000_000_000;

/// One switch on interfaces that exist.
#[derive(Clone, Copy, Debug)]
pub struct Only<'r> {
    /// The switch.
    pub switch: &'r str,
    /// Interfaces by port; those of other ports are `eth1` for port 1.
    pub interfaces: &'r [(u32, String)],
}

/// Between two times that the spinner shows, in picoseconds.
const SHOWN_PS: u64 = 100_000_000_000;

/// How a network is live.
#[derive(Clone, Copy, Debug)]
pub struct Live<'r> {
    /// The name of the network; without it that of the file and the process.
    pub name: Option<&'r str>,
    /// Whether the file's applications run.
    pub has_applications: bool,
    /// Whether the switches run with real-time priority on a processor of their own.
    pub is_realtime: bool,
    /// Runs one switch instead of the network.
    pub only: Option<Only<'r>>,
}

/// A network that has been read, with its switches.
pub(super) struct Inputs<'r> {
    pub(super) network: Network,
    pub(super) devices: Vec<Device>,
    pub(super) control: ControlInputs,
    pub(super) reacting: Vec<ReactingSwitch>,
    pub(super) standard_error: StandardError,
    pub(super) map: &'r SourceMap,
}

/// Runs it.
pub(super) fn run(
    inputs: Inputs<'_>,
    live: Live<'_>,
    run: &NetRun<'_>,
    console: &dyn Console,
) -> Result<ExitStatus, Failure> {
    let Inputs { mut network, devices, control, reacting, standard_error, map } = inputs;
    let until_ps = run.until_ps.or(network.until_ps.as_ref().map(|until| until.value));
    let mut found = Diagnostics::new();
    if !live.has_applications {
        leave_out_applications(&mut network, &mut found);
    }
    if live.only.is_none() {
        network_live::check_hosts(&network, &mut found);
    }
    let choice = programs::choose(&mut network, until_ps, &mut found);
    if found.has_errors() {
        return Err(Failure::Found(map.clone(), found));
    }
    show(console, map, &found);
    let captures = network.captures.clone();
    let built = network_run::build_with_external_hosts(network, devices, control)
        .map_err(|found| Failure::Found(map.clone(), found))?;
    let files = CaptureFiles::create(&captures, run.out)?;
    let reloader = Reloader::start(reacting, run.preprocessing);
    let until_ps = until_ps.unwrap_or(u64::MAX);
    let course = Course { until_ps, run, map, console, standard_error, reloader };
    if let Some(only) = live.only {
        let waits = |name: &str| console.note(&format!("waiting for the interface `{name}`"));
        let opened = one_switch::open(built.network(), only.interfaces, run.interrupted, waits)?;
        let Some(interfaces) = opened else { return Ok(ExitStatus::Fine) };
        console.note(&format!("switch `{}` is ready; Ctrl-C ends it", only.switch));
        let machine = Machine { interfaces, live: None, work: None };
        return course.forward(built, machine, files);
    }
    let name = live.name.map_or_else(|| network_live::default_name(run.file), str::to_string);
    let (live, interfaces) = LiveNetwork::make(built.network(), &name, run.file)?;
    course.reloader.listen(live.folder())?;
    let has_programs = !choice.programs.is_empty();
    let work = has_programs
        .then(|| AtWork::prepare(&live, &choice, run.file.parent().unwrap_or(Path::new(""))))
        .transpose()?;
    if !console.is_quiet() {
        console.note(&welcome(&live, built.network()));
    }
    let machine = Machine { interfaces, live: Some(live), work };
    course.forward(built, machine, files)
}

/// What a live network has outside of the simulation.
struct Machine {
    interfaces: Interfaces,
    live: Option<LiveNetwork>,
    work: Option<AtWork>,
}

/// A live run.
struct Course<'r> {
    until_ps: u64,
    run: &'r NetRun<'r>,
    map: &'r SourceMap,
    console: &'r dyn Console,
    standard_error: StandardError,
    reloader: Reloader,
}

impl Course<'_> {
    /// Runs the network in real time, and prints what it measured.
    fn forward(
        &self,
        mut built: Built,
        machine: Machine,
        mut files: CaptureFiles,
    ) -> Result<ExitStatus, Failure> {
        let Course { until_ps, run, map, console, standard_error, .. } = self;
        let Machine { interfaces, live, mut work } = machine;
        if run.live.is_some_and(|live| live.is_realtime) {
            network_live::run_in_real_time().iter().for_each(|line| console.warning(line));
        }
        let mut forwarder = Forwarder::start(interfaces);
        if let Some(work) = &mut work {
            work.run(forwarder.started());
        }
        let ran = self.advance(&mut built, &mut forwarder, &mut files, work.as_ref());
        built.end_controllers();
        controllers::pass_on(&mut built, standard_error, *console);
        let is_complete = ran?;
        let outcomes = work.map(AtWork::outcomes).unwrap_or_default();
        let pace = forwarder.pace();
        drop(live);
        files.finish(*console)?;
        let mut results = built.results();
        results.applications = Outcome::results(&outcomes);
        output::print(&built, &results, (*until_ps, is_complete), run, *console)?;
        for (index, text) in outcomes.iter().filter_map(Outcome::output) {
            let name = &built.network().hosts[index.host].applications[index.application].name;
            let lines: Vec<String> = text.lines().map(|line| format!("{name}: {line}")).collect();
            console.note(&lines.join("\n"));
        }
        show(*console, map, &failures(built.network(), &outcomes));
        for sentence in in_words(&pace) {
            console.warning(&sentence);
        }
        let unmet = expectations::judge(&built, &results);
        match unmet.has_errors() {
            false => Ok(ExitStatus::Fine),
            true => {
                console.diagnostics(map, &unmet);
                Ok(ExitStatus::WrongInput)
            }
        }
    }

    /// Runs until the end: the given time, the end of the last program, or the user's interrupt. Returns whether all
    /// programs ended by themselves.
    fn advance(
        &self,
        built: &mut Built,
        forwarder: &mut Forwarder,
        files: &mut CaptureFiles,
        work: Option<&AtWork>,
    ) -> Result<bool, Failure> {
        let Course { until_ps, run, map, console, standard_error, reloader } = self;
        let spinner = console.spinner(Work::Search, console.is_quiet());
        let mut shown_ps = 0;
        let mut is_interrupted = false;
        loop {
            let stepped = forwarder.step(built, files);
            controllers::pass_on(built, standard_error, *console);
            reloader.look(run.reload_asked, *console);
            match stepped {
                Ok(()) => {}
                Err(StepError::Interface(message)) => return Err(message.into()),
                Err(StepError::Run(error)) => {
                    if let Some(failure) = controllers::failure(error, map) {
                        return Err(failure);
                    }
                }
            }
            files.check()?;
            let now_ps = forwarder.now_ps();
            if now_ps - shown_ps > SHOWN_PS {
                shown_ps = now_ps;
                let seconds = quantity::seconds(now_ps / SHOWN_PS * SHOWN_PS);
                spinner.set_message(format!("{seconds}, {} frames from hosts", forwarder.taken()));
            }
            let is_over = now_ps >= *until_ps;
            if run.interrupted.load(Ordering::Relaxed) && !is_interrupted {
                is_interrupted = true;
                console.note("interrupted: the results are those until then");
                work.iter().for_each(|work| work.interrupt());
            }
            if is_over {
                work.iter().for_each(|work| work.end());
            }
            let is_idle = work.is_none_or(AtWork::has_ended);
            // Without `until` a network with programs runs until they have ended.
            let is_done = work.is_some() && *until_ps == u64::MAX;
            if is_idle && (is_over || is_interrupted || is_done) {
                return Ok(!is_interrupted && !is_over);
            }
        }
    }
}

/// Prints warnings, also if the console is quiet: the results depend on what they say.
fn show(console: &dyn Console, map: &SourceMap, found: &Diagnostics) {
    if console.shows_warnings() && !found.is_empty() {
        console.diagnostics(map, found);
    }
}

/// Takes the applications out, and the expectations about them.
fn leave_out_applications(network: &mut Network, found: &mut Diagnostics) {
    network.expectations.retain(|expectation| {
        let is_of_application =
            matches!(expectation.subject, Subject::Applications(_) | Subject::Ping { .. });
        if is_of_application {
            let message = "NOT JUDGED: the network runs without applications";
            found.push(Diagnostic::warning(programs::NOT_JUDGED, expectation.span, message));
        }
        !is_of_application
    });
    for host in &mut network.hosts {
        host.applications.clear();
    }
}

fn welcome(live: &LiveNetwork, network: &Network) -> String {
    let name = live.name();
    let (hosts, switches) = (
        count(network.hosts.len(), "host"),
        count(network.switches.len(), "switch").replace("switchs", "switches"),
    );
    let one = network.hosts.first().map_or("HOST", |host| host.name.as_str());
    let other = network.hosts.last().map_or("HOST", |host| host.name.as_str());
    format!(
        "live network `{name}`: {hosts}, {switches}; in another terminal\n  plane net exec {one} ping {other}\n  plane net \
         pingall\nCtrl-C ends it"
    )
}

fn failures(network: &Network, outcomes: &[Outcome]) -> Diagnostics {
    let mut found = Diagnostics::new();
    for (index, error) in outcomes.iter().filter_map(Outcome::error) {
        let application = &network.hosts[index.host].applications[index.application];
        let message = format!("application `{}`: {error}", application.name);
        found.push(Diagnostic::warning(programs::PROGRAM_FAILED, application.span, message));
    }
    found
}

/// Says where the machine was too slow.
fn in_words(pace: &Pace) -> Vec<String> {
    let mut sentences = Vec::new();
    if pace.missed > 0 {
        let frames = count(pace.missed, "frame");
        sentences
            .push(format!("{frames} of hosts were lost: the switches were too busy to take them"));
    }
    if pace.refused > 0 {
        let frames = count(pace.refused, "frame");
        sentences.push(format!("{frames} were lost at interfaces of hosts"));
    }
    if pace.latest_ps > LATE_PS {
        let late = quantity::rounded(pace.latest_ps);
        sentences.push(format!(
            "the switches were up to {late} late: the machine is too slow, or busy with other work"
        ));
    }
    sentences
}

/// Gives this process the rights that a live network needs: root's, or those of root in a user namespace, in which the
/// process runs again with these arguments.
///
/// # Errors
///
/// The system refuses both.
pub fn enter(arguments: &[OsString]) -> Result<(), Failure> {
    user_namespace::enter(arguments).map_err(Failure::Message)
}

/// Replaces this process by a program on a host of a live network.
///
/// # Errors
///
/// Always: why the program cannot start.
pub fn exec(
    name: Option<&str>,
    host: &str,
    words: &[String],
    arguments: &[OsString],
) -> Result<ExitStatus, Failure> {
    let record = state::find(name)?;
    user_namespace::join(&record, arguments)?;
    Err(Failure::Message(network_live::exec(&record, host, words)))
}

/// Lets every host of a live network ping every other one, and prints the result as Mininet does.
///
/// # Errors
///
/// There is no such network, or `ping` does not start.
pub fn pingall(
    name: Option<&str>,
    arguments: &[OsString],
    console: &dyn Console,
) -> Result<ExitStatus, Failure> {
    let record = state::find(name)?;
    user_namespace::join(&record, arguments)?;
    if !console.is_quiet() {
        console.print("*** Ping: testing ping reachability\n");
    }
    let all = network_live::pingall(&record, |pinged| {
        let words = pinged.to.iter().map(|(to, is_answered)| if *is_answered { to } else { "X" });
        let words: Vec<&str> = words.collect();
        if !console.is_quiet() {
            console.print(&format!("{} -> {}\n", pinged.from, words.join(" ")));
        }
    })?;
    let sent: usize = all.iter().map(|pinged| pinged.to.len()).sum();
    let received = all.iter().flat_map(|pinged| &pinged.to).filter(|(_, is_answered)| *is_answered);
    let received = received.count();
    let dropped = (100 * (sent - received)).checked_div(sent).unwrap_or(0);
    console.print(&format!("*** Results: {dropped}% dropped ({received}/{sent} received)\n"));
    Ok(if received == sent { ExitStatus::Fine } else { ExitStatus::WrongInput })
}

/// Removes what crashed live networks left.
///
/// # Errors
///
/// What cannot be removed.
pub fn clean(console: &dyn Console) -> Result<ExitStatus, Failure> {
    let cleaned = state::clean();
    for message in &cleaned.failures {
        console.error(message);
    }
    if !console.is_quiet() {
        let text = match cleaned.networks.is_empty() {
            true => "nothing was left of ended live networks".to_string(),
            false => format!(
                "removed {}: {}",
                cleaned.networks.join(", "),
                count(cleaned.namespaces.len(), "namespace")
            ),
        };
        console.note(&text);
        if !cleaned.running.is_empty() {
            console.note(&format!("still running: {}", cleaned.running.join(", ")));
        }
    }
    Ok(if cleaned.failures.is_empty() { ExitStatus::Fine } else { ExitStatus::WrongInput })
}
