// SPDX-License-Identifier: Apache-2.0
//! Live networks: the file's switches forward in real time, its hosts are network namespaces, and its applications are
//! programs. Prints what the run measured as a simulation's results are printed.

use super::captures::CaptureFiles;
use super::controllers::Controllers;
use super::{NetRun, output};
use device::Device;
use frontend::{Console, ExitStatus, Failure, Work, count};
use network_file::model::{Network, Subject};
use network_live::programs::{self, AtWork, Outcome};
use network_live::{Forwarder, LiveNetwork, Pace, state};
use network_run::{Built, expectations};
use source::{Diagnostic, Diagnostics, SourceMap, quantity};
use std::path::Path;
use std::sync::atomic::Ordering;

/// How late the switches may be until the user hears of it, in picoseconds.
const LATE_PS: u64 = 20_000_000_000;

/// How a network is live.
#[derive(Clone, Copy, Debug)]
pub struct Live<'r> {
    /// The name of the network; without it that of the file and the process.
    pub name: Option<&'r str>,
    /// Whether the file's applications run.
    pub has_applications: bool,
}

/// A network that has been read, with its switches.
pub(super) struct Inputs<'r> {
    pub(super) network: Network,
    pub(super) devices: Vec<Device>,
    pub(super) seed: u64,
    pub(super) map: &'r SourceMap,
    pub(super) folder: &'r Path,
}

/// Runs it.
pub(super) fn run(
    inputs: Inputs<'_>,
    live: Live<'_>,
    run: &NetRun<'_>,
    console: &dyn Console,
) -> Result<ExitStatus, Failure> {
    let Inputs { mut network, devices, seed, map, folder } = inputs;
    let until_ps = run.until_ps.or(network.until_ps.as_ref().map(|until| until.value));
    let mut found = Diagnostics::new();
    if !live.has_applications {
        leave_out_applications(&mut network, &mut found);
    }
    let choice = programs::choose(&mut network, until_ps, &mut found);
    if found.has_errors() {
        return Err(Failure::Found(map.clone(), found));
    }
    console.warnings(map, &found);
    let (captures, controllers) = (network.captures.clone(), network.controllers.clone());
    let mut built = network_run::build_with_external_hosts(network, devices, seed)
        .map_err(|found| Failure::Found(map.clone(), found))?;
    let mut files = CaptureFiles::create(&captures, run.out)?;
    let mut controllers = Controllers::new(&controllers, folder)?;
    let name = live.name.map_or_else(|| network_live::default_name(run.file), str::to_string);
    if !network_live::is_root() {
        let message = "a live network needs the rights of root: it makes network namespaces. Run the command with sudo";
        return Err(Failure::Message(message.to_string()));
    }
    let (live, interfaces) = LiveNetwork::make(built.network(), &name, run.file)?;
    let mut work = AtWork::prepare(&live, &choice)?;
    if !console.is_quiet() {
        console.note(&welcome(&live, built.network()));
    }
    let mut forwarder = Forwarder::start(interfaces);
    work.run(forwarder.started());
    let has_programs = !choice.programs.is_empty();
    let end = End { until_ps: until_ps.unwrap_or(u64::MAX), has_programs };
    let is_complete = advance(
        &mut built,
        &mut forwarder,
        (&mut controllers, &mut files),
        &work,
        &end,
        (run, console),
    )?;
    let outcomes = work.outcomes();
    let pace = forwarder.pace();
    drop(live);
    files.finish(console)?;
    let mut results = built.results();
    results.applications = Outcome::results(&outcomes);
    output::print(&built, &results, (end.until_ps, is_complete), run, console)?;
    console.warnings(map, &failures(built.network(), &outcomes));
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

/// When a live run ends.
struct End {
    until_ps: u64,
    has_programs: bool,
}

/// Runs until the end: the given time, the end of the last program, or the user's interrupt. Returns whether all programs
/// ended by themselves.
fn advance(
    built: &mut Built,
    forwarder: &mut Forwarder,
    (controllers, files): (&mut Controllers, &mut CaptureFiles),
    work: &AtWork,
    end: &End,
    (run, console): (&NetRun<'_>, &dyn Console),
) -> Result<bool, Failure> {
    let spinner = console.spinner(Work::Search, console.is_quiet());
    let mut shown_ps = 0;
    let mut is_interrupted = false;
    loop {
        let next_ps = controllers.next_ps().unwrap_or(u64::MAX);
        forwarder.step(built, next_ps, files)?;
        files.check()?;
        let now_ps = forwarder.now_ps();
        controllers.act(built, now_ps, console)?;
        if now_ps - shown_ps > 100_000_000_000 {
            shown_ps = now_ps;
            let seconds = quantity::seconds(now_ps / 100_000_000_000 * 100_000_000_000);
            spinner.set_message(format!("{seconds}, {} frames from hosts", forwarder.taken()));
        }
        let is_over = now_ps >= end.until_ps;
        if run.interrupted.load(Ordering::Relaxed) && !is_interrupted {
            is_interrupted = true;
            console.note("interrupted: the results are those until then");
            work.interrupt();
        }
        if is_over {
            work.end();
        }
        let is_idle = !end.has_programs || work.has_ended();
        if is_idle && (is_over || is_interrupted || end.has_programs && end.until_ps == u64::MAX) {
            return Ok(!is_interrupted && !is_over);
        }
    }
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

/// Replaces this process by a program on a host of a live network.
///
/// # Errors
///
/// Always: why the program cannot start.
pub fn exec(name: Option<&str>, host: &str, words: &[String]) -> Result<ExitStatus, Failure> {
    let record = state::find(name)?;
    Err(Failure::Message(network_live::exec(&record, host, words)))
}

/// Lets every host of a live network ping every other one, and prints the result as Mininet does.
///
/// # Errors
///
/// There is no such network, or `ping` does not start.
pub fn pingall(name: Option<&str>, console: &dyn Console) -> Result<ExitStatus, Failure> {
    let record = state::find(name)?;
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
