// SPDX-License-Identifier: Apache-2.0
//! [`AtWork`]: starts the servers before the clock, the clients at their times, and reads their output when they end.

use super::choice::{Choice, Chosen, Program};
use super::{iperf3, ping};
use crate::kernel::namespace_path;
use crate::live_network::{LiveNetwork, run_in};
use crate::system::{Ending, end_group, in_namespace};
use network_run::results::{ApplicationResult, Measured, PartResult};
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a server may take until it listens.
const LISTEN_TIME: Duration = Duration::from_secs(5);
/// How long a flow may take after the end of the run to end and exchange results.
const REPORT_TIME: Duration = Duration::from_secs(1);
/// How long a program may take to end when it is asked to.
const LEAVE_TIME: Duration = Duration::from_secs(2);
/// Between two looks at the programs.
const LOOK_TIME: Duration = Duration::from_millis(2);

/// What a program measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    chosen: Chosen,
    measured: Vec<Measured>,
    /// The error that it reported.
    error: Option<String>,
    /// What a program of the user's printed.
    output: String,
}

/// Whether the run is over.
#[derive(Debug, Default)]
struct EndOfRun {
    is_over: AtomicBool,
    is_interrupted: AtomicBool,
}

/// The programs of a live network. Dropping it ends them.
#[derive(Debug)]
pub struct AtWork {
    servers: Vec<Child>,
    waiting: Vec<(Chosen, PathBuf, PathBuf)>,
    /// Where programs of the user's run.
    folder: PathBuf,
    thread: Option<JoinHandle<Vec<Outcome>>>,
    end: Arc<EndOfRun>,
    has_ended: Arc<AtomicBool>,
}

impl AtWork {
    /// Applies the settings and starts the servers. Returns when they listen.
    ///
    /// # Errors
    ///
    /// A server that does not start, for the user.
    pub fn prepare(live: &LiveNetwork, choice: &Choice, folder: &Path) -> Result<AtWork, String> {
        let namespace = |host: usize| namespace_path(&live.plan().hosts[host].namespace);
        for (host, path, value) in &choice.settings {
            let set = in_namespace(&namespace(*host), || {
                std::fs::write(Path::new("/proc/sys/net").join(path), value)
            });
            set.map_err(|error| {
                let name = &live.plan().hosts[*host].name;
                format!("cannot set {path} of host `{name}`: {}", source::reason(&error))
            })?;
        }
        let mut work = AtWork {
            servers: Vec::new(),
            waiting: Vec::new(),
            folder: folder.to_path_buf(),
            thread: None,
            end: Arc::default(),
            has_ended: Arc::default(),
        };
        let with_servers = choice.programs.iter().filter_map(|chosen| {
            let (host, port) = chosen.server?;
            Some((host, port, chosen.destination.is_some_and(|to| to.is_ipv6())))
        });
        let servers = || with_servers.clone().map(|(host, port, _)| (host, port));
        for (host, port, is_ipv6) in with_servers.clone() {
            let mut command = Command::new("iperf3");
            let version = if is_ipv6 { "-6" } else { "-4" };
            command.args(["-s", "-1", version, "-p", &port.to_string()]);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.process_group(0);
            let child = live.start(host, &mut command).map_err(|error| {
                let name = &live.plan().hosts[host].name;
                format!("cannot start iperf3 on host `{name}`: {}", source::reason(&error))
            })?;
            work.servers.push(child);
        }
        let until = Instant::now() + LISTEN_TIME;
        for (host, port) in servers() {
            while !listens(&namespace(host), port) {
                if Instant::now() > until {
                    let name = &live.plan().hosts[host].name;
                    return Err(format!("iperf3 on host `{name}` does not listen at port {port}"));
                }
                std::thread::sleep(LOOK_TIME);
            }
        }
        for (number, chosen) in choice.programs.iter().enumerate() {
            let output = live.folder().join(format!("program{number}"));
            work.waiting.push((chosen.clone(), namespace(chosen.index.host), output));
        }
        work.waiting.sort_by_key(|(chosen, ..)| chosen.start_ps);
        Ok(work)
    }

    /// Starts the clients at their times on a clock that was 0 then.
    pub fn run(&mut self, started: Instant) {
        let waiting = std::mem::take(&mut self.waiting);
        let folder = std::mem::take(&mut self.folder);
        let (end, has_ended) = (self.end.clone(), self.has_ended.clone());
        has_ended.store(waiting.is_empty(), Ordering::Relaxed);
        if waiting.is_empty() {
            return;
        }
        self.thread = Some(std::thread::spawn(move || {
            let outcomes = run_clients(waiting, &folder, started, &end);
            has_ended.store(true, Ordering::Relaxed);
            outcomes
        }));
    }

    /// Whether all clients have ended.
    pub fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed)
    }

    /// Ends pings, and flows that do not end soon by themselves. The network runs on until [`AtWork::has_ended`], so that
    /// they can report.
    pub fn end(&self) {
        self.end.is_over.store(true, Ordering::Relaxed);
    }

    /// Ends all programs now.
    pub fn interrupt(&self) {
        self.end.is_interrupted.store(true, Ordering::Relaxed);
        self.end();
    }

    /// Returns what all programs measured, in the order of the file.
    pub fn outcomes(mut self) -> Vec<Outcome> {
        self.interrupt();
        let mut outcomes =
            self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        outcomes.sort_by_key(|outcome| outcome.chosen.index);
        outcomes
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.interrupt();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        for server in &mut self.servers {
            end_group(server.id(), Ending::Forced);
            let _ = server.wait();
        }
    }
}

/// Whether something listens at a TCP port in a namespace.
fn listens(namespace: &Path, port: u16) -> bool {
    let of_port = format!(":{port:04X}");
    let has = |text: &str| {
        text.lines().any(|line| {
            let mut words = line.split_whitespace().skip(1);
            // The state of a socket that listens is 0A.
            words.next().is_some_and(|own| own.ends_with(&of_port)) && words.nth(1) == Some("0A")
        })
    };
    in_namespace(namespace, || {
        let tables = ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"];
        Ok(tables.iter().any(|table| std::fs::read_to_string(table).is_ok_and(|text| has(&text))))
    })
    .unwrap_or(false)
}

/// A client that runs.
struct Client {
    chosen: Chosen,
    child: Child,
    started_ps: u64,
    output: PathBuf,
    /// Whether it was asked to end.
    is_ending: bool,
}

fn run_clients(
    waiting: Vec<(Chosen, PathBuf, PathBuf)>,
    folder: &Path,
    started: Instant,
    end: &EndOfRun,
) -> Vec<Outcome> {
    let mut waiting = waiting.into_iter().peekable();
    let (mut running, mut outcomes): (Vec<Client>, Vec<Outcome>) = (Vec::new(), Vec::new());
    let mut over_since: Option<Instant> = None;
    loop {
        let now_ps = u64::try_from(started.elapsed().as_nanos() * 1_000).unwrap_or(u64::MAX);
        if end.is_over.load(Ordering::Relaxed) {
            let over_since = *over_since.get_or_insert_with(Instant::now);
            let is_interrupted = end.is_interrupted.load(Ordering::Relaxed);
            for client in running.iter_mut().filter(|client| !client.is_ending) {
                let is_flow = client.chosen.server.is_some();
                if !is_flow || is_interrupted || over_since.elapsed() > REPORT_TIME {
                    end_group(client.child.id(), Ending::Interrupted);
                    client.is_ending = true;
                }
            }
        }
        while let Some((chosen, namespace, output)) =
            waiting.next_if(|(chosen, ..)| over_since.is_some() || chosen.start_ps <= now_ps)
        {
            // Nothing starts after the end.
            if over_since.is_some() {
                continue;
            }
            match start(&chosen, &namespace, &output, folder) {
                Ok(child) => {
                    let (started_ps, is_ending) = (now_ps, false);
                    running.push(Client { chosen, child, started_ps, output, is_ending });
                }
                Err(error) => outcomes.push(read(chosen, &output, now_ps, Some(error))),
            }
        }
        let is_late = over_since.is_some_and(|since| since.elapsed() > REPORT_TIME + LEAVE_TIME);
        let mut at = 0;
        while at < running.len() {
            if is_late {
                end_group(running[at].child.id(), Ending::Forced);
                let _ = running[at].child.wait();
            }
            match running[at].child.try_wait() {
                Ok(None) => at += 1,
                ended => {
                    let client = running.swap_remove(at);
                    let status = ended.ok().flatten().filter(|status| !status.success());
                    let is_command = client.chosen.program == Program::Command;
                    let failure = status
                        .filter(|_| is_command && !client.is_ending)
                        .map(|status| format!("the program ended with {status}"));
                    outcomes.push(read(client.chosen, &client.output, client.started_ps, failure));
                }
            }
        }
        if running.is_empty() && waiting.peek().is_none() {
            return outcomes;
        }
        std::thread::sleep(LOOK_TIME);
    }
}

fn start(chosen: &Chosen, namespace: &Path, output: &Path, folder: &Path) -> Result<Child, String> {
    let name = chosen.program.name();
    let create = |path: &Path| File::create(path).map_err(|error| source::reason(&error));
    let (file, errors) = (create(output)?, create(&errors_of(output))?);
    let mut command = Command::new(name);
    command.args(&chosen.arguments).process_group(0);
    match chosen.program {
        Program::Command if folder.as_os_str().is_empty() => {}
        Program::Command => drop(command.current_dir(folder)),
        // Their output is read.
        _ => drop(command.env("LC_ALL", "C")),
    }
    command.stdin(Stdio::null()).stdout(file).stderr(errors);
    run_in(namespace, &mut command)
        .map_err(|error| format!("cannot start {name}: {}", source::reason(&error)))
}

/// The file of error messages beside one of output.
fn errors_of(output: &Path) -> PathBuf {
    output.with_extension("errors")
}

fn read(chosen: Chosen, output: &Path, started_ps: u64, failure: Option<String>) -> Outcome {
    let text = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
    let (text, errors) = (text(output), text(&errors_of(output)));
    let line = errors.lines().find(|line| line.contains(chosen.program.name()));
    let mut output = String::new();
    let (measured, error) = match chosen.program {
        Program::Command => {
            output = text;
            output.push_str(&errors);
            (Vec::new(), None)
        }
        Program::Ping { timeout_ps } => {
            (vec![ping::read(&text, timeout_ps)], line.map(str::to_string))
        }
        Program::Tcp { is_sized } => {
            let (value, error) = iperf3::parse(&text, line);
            (iperf3::tcp(&value, started_ps, is_sized && error.is_none()), error)
        }
        Program::Udp { size_bytes } => {
            let (value, error) = iperf3::parse(&text, line);
            (vec![iperf3::udp(&value, size_bytes)], error)
        }
    };
    Outcome { chosen, measured, error: failure.or(error), output }
}

impl Outcome {
    /// The application and what its program printed, if it is the user's.
    pub fn output(&self) -> Option<(network_file::model::ApplicationIndex, &str)> {
        (!self.output.is_empty()).then_some((self.chosen.index, self.output.as_str()))
    }

    /// The application and the error that its program reported.
    pub fn error(&self) -> Option<(network_file::model::ApplicationIndex, &str)> {
        self.error.as_deref().map(|error| (self.chosen.index, error))
    }

    /// Gathers outcomes by application.
    pub fn results(outcomes: &[Outcome]) -> Vec<ApplicationResult> {
        let mut results: Vec<ApplicationResult> = Vec::new();
        for outcome in outcomes {
            let index = outcome.chosen.index;
            let destination = outcome.chosen.destination;
            let parts = outcome
                .measured
                .iter()
                .map(|measured| PartResult { destination, measured: measured.clone() });
            match results.last_mut().filter(|last| last.index == index) {
                Some(last) => last.parts.extend(parts),
                None => results.push(ApplicationResult { index, parts: parts.collect() }),
            }
        }
        results
    }
}
