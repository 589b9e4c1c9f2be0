// SPDX-License-Identifier: Apache-2.0
//! [`Report`]: what a run or a replay prints and writes: title, log, summary, result files. Texts of verdicts and of
//! events that were still waiting are here too.

use super::executor::Executor;
use super::inputs::LucidRun;
use crate::files;
use frontend::{Console, Failure, NetworkRun};
use lucid::core::EventId;
use lucid_reference::interpreter::State;
use lucid_reference::report::{
    Detail, JsonLines, Observers, OnlyEvents, PendingEvents, ShownBytes, TextLog, TimeLine,
    Verdict, events_named, state_json, state_text,
};
use lucid_reference::simulation::{Counts, Observation, ObservationKind, Observer, Outcome};
use lucid_reference::specification::Links;
use source::quantity::nanoseconds;
use std::collections::HashSet;
use std::path::Path;

/// What a run or a replay prints and writes.
pub struct Report<'r> {
    arguments: &'r NetworkRun<'r>,
    run: &'r LucidRun,
    console: &'r dyn Console,
    printer: Printer<'r>,
    time_line: TimeLine<'r>,
    /// The events of the log; empty for all.
    only: HashSet<EventId>,
}

/// What the log has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct LogContent {
    /// What the text has; `None` is no log as text.
    pub detail: Option<Detail>,
    /// Whether the JSON has accesses of arrays.
    pub accesses: bool,
    /// Whether the text has packets that leave the network.
    pub departures: bool,
}

impl<'r> Report<'r> {
    /// Begins the report with its title.
    ///
    /// # Errors
    ///
    /// The user names an event that the program does not have.
    pub fn new(
        arguments: &'r NetworkRun<'r>,
        run: &'r LucidRun,
        title: &str,
        executor: &str,
        console: &'r dyn Console,
    ) -> Result<Report<'r>, Failure> {
        let program = run.setup.program();
        let only = events_named(program, arguments.only);
        let only = only.map_err(|message| Failure::Usage(format!("--only: {message}")))?;
        let time_line = TimeLine::new(program, title, run.setup.switches(), links(run));
        let mut printer = Printer::new(console, arguments.events.is_some());
        if !console.is_quiet() && !arguments.json {
            printer.add(&format!("{title} ({executor})\n\n"));
        }
        Ok(Report { arguments, run, console, printer, time_line, only })
    }

    /// Prints what the observers of `observe` see, as text or as JSON, and collects it for the time line.
    pub fn log<T>(
        &mut self,
        content: LogContent,
        observe: impl FnOnce(&mut dyn Observer) -> T,
    ) -> T {
        let program = self.run.setup.program();
        let (arguments, printer) = (self.arguments, &mut self.printer);
        let mut write = |text: &str| printer.add(text);
        let only = || self.only.clone();
        let (mut text, mut json) = (None, None);
        let mut observers = Observers::new();
        if arguments.json {
            let lines = JsonLines::new(program, content.accesses, &mut write);
            observers.push(json.insert(OnlyEvents::new(lines, only())));
        } else if let Some(detail) = content.detail {
            let bytes = if arguments.all_bytes { ShownBytes::All } else { ShownBytes::First };
            let log = TextLog::new(program, detail, &mut write)
                .with_recirculation_ports(self.run.setup.recirculation_ports())
                .with_bytes(bytes);
            let log = Log { log, departures: content.departures };
            observers.push(text.insert(OnlyEvents::new(log, only())));
        }
        if arguments.timeline.is_some() {
            observers.push(&mut self.time_line);
        }
        let result = observe(&mut observers);
        drop(observers);
        if let Some(text) = text {
            text.into_inner().log.finish();
        }
        drop(json);
        self.printer.flush();
        result
    }

    /// Prints the summary. Readers of observations as JSON get nothing else on standard output.
    pub fn summary(&self, text: &str) {
        match self.arguments.json {
            true if text.is_empty() => {}
            true => self.console.note(text.trim_end()),
            false => self.console.print(text),
        }
    }

    /// Writes state, time line and schedule to the files that the user named.
    ///
    /// # Errors
    ///
    /// A file cannot be written, or is an input.
    pub fn write(
        self,
        counts: &[Counts],
        states: &[State],
        schedule: impl FnOnce() -> String,
    ) -> Result<(), String> {
        let mut results = Vec::new();
        if let Some(path) = self.arguments.state_out {
            let state = state_json(self.run.setup.program(), states.iter());
            results.push((path, format!("{state:#}\n")));
        }
        if let Some(path) = self.arguments.timeline {
            results.push((path, self.time_line.html(counts)));
        }
        if let Some(path) = self.arguments.record {
            results.push((path, schedule()));
        }
        for (path, text) in &results {
            write(path, text, self.run)?;
        }
        let names: Vec<String> =
            results.iter().map(|(path, _)| path.display().to_string()).collect();
        if !self.console.is_quiet() && !names.is_empty() {
            self.console.note(&format!("written: {}", names.join(", ")));
        }
        Ok(())
    }
}

/// The state at the end as text, with a heading; empty if all of it is zero.
pub fn final_state_text(run: &LucidRun, states: &[State]) -> String {
    let state = state_text(run.setup.program(), states.iter());
    match state.is_empty() {
        true => state,
        false => format!("\nstate at the end, where it is not zero:\n{state}"),
    }
}

/// A log that leaves out packets that leave the network, where captures have them.
struct Log<O> {
    log: O,
    departures: bool,
}

impl<O: Observer> Observer for Log<O> {
    fn wants_accesses(&self) -> bool {
        self.log.wants_accesses()
    }

    fn observe(&mut self, observation: Observation) {
        if self.departures || !matches!(observation.kind, ObservationKind::Left { .. }) {
            self.log.observe(observation);
        }
    }
}

/// Collects lines and prints them in large pieces, or each at once.
struct Printer<'c> {
    console: &'c dyn Console,
    text: String,
    at_once: bool,
}

const PRINTED_AT_ONCE: usize = 32 << 10;

impl<'c> Printer<'c> {
    fn new(console: &'c dyn Console, at_once: bool) -> Printer<'c> {
        Printer { console, text: String::new(), at_once }
    }

    fn add(&mut self, line: &str) {
        self.text.push_str(line);
        if self.at_once || self.text.len() >= PRINTED_AT_ONCE {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.console.print(&self.text);
            self.text.clear();
        }
    }
}

/// Returns what was still to happen when the run's time was over, and how to extend the run.
pub fn still_to_happen(
    run: &LucidRun,
    outcome: &Outcome,
    waiting: &PendingEvents,
    executor: &Executor,
) -> Option<String> {
    if *outcome != Outcome::TimeOver {
        return None;
    }
    if let Some(time_ps) = executor.stopped_by_difference_ps() {
        let time = nanoseconds(time_ps);
        return Some(format!(
            "the run stopped at {time} ns, at the first difference from the reference interpreter; what was to \
             happen later did not run"
        ));
    }
    let setup = &run.setup;
    let still = waiting.text(setup.program(), setup.max_time_ps(), executor.next_input_ps())?;
    let specification = run.specification_path.display();
    let longer = match run.specification_path == run.program_path {
        true => "--until TIME lets it run longer".to_string(),
        false => format!("`max time` in {specification}, or --until TIME, lets it run longer"),
    };
    Some(format!("{still}\n{longer}"))
}

/// Writes a result, never over an input. Creates its folder if it does not exist.
fn write(path: &Path, text: &str, run: &LucidRun) -> Result<(), String> {
    if let Ok(target) = path.canonicalize() {
        let is_target = |input: &Path| input.canonicalize().is_ok_and(|input| input == target);
        let over = run.files().any(|input| is_target(&input));
        if over {
            return Err(format!("`{}` is an input and is not overwritten", path.display()));
        }
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| {
            format!("cannot make `{}`: {}", folder.display(), files::reason(&error))
        })?;
    }
    files::write_text(path, text)
}

/// Returns verdicts as text; only failed ones if `quiet`.
pub fn verdicts_text(verdicts: &[Verdict], quiet: bool) -> String {
    let mut text = String::new();
    for verdict in verdicts.iter().filter(|verdict| !quiet || !verdict.passed) {
        let word = if verdict.passed { "ok    " } else { "FAILED" };
        text.push_str(&format!("{word}  {}\n", verdict.expected));
        for line in &verdict.found {
            text.push_str(&format!("        {line}\n"));
        }
    }
    let failed = verdicts.iter().filter(|verdict| !verdict.passed).count();
    let passed = verdicts.len() - failed;
    if text.is_empty() {
        return text;
    }
    format!("\n{text}expectations: {passed} passed, {failed} failed\n")
}

/// Returns all links for the picture of the network; of a full mesh of many switches there are too many to draw.
fn links(run: &LucidRun) -> Vec<[(u32, u32); 2]> {
    const MAX_DRAWN: u32 = 64;
    let switches = run.setup.switches();
    match &run.specification.links {
        Links::List(list) => list.iter().map(|link| link.ends).collect(),
        Links::FullMesh if switches <= MAX_DRAWN => (0..switches)
            .flat_map(|one| (one + 1..switches).map(move |other| [(one, other), (other, one)]))
            .collect(),
        Links::FullMesh => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lucid::executor::Verification;
    use crate::lucid::inputs::{RunRequest, read_run};
    use device::EngineChoice;
    use frontend::MemoryFiles;
    use lucid_compiler::{Options, compile};
    use lucid_network::CompiledSimulation;
    use lucid_network::options::delay_options;
    use lucid_reference::report::Verdicts;
    use std::sync::Arc;

    const COUNT: &str = "
        global Array.t<32> last = Array.create(4);
        event count(int x) { Array.set(last, 0, x); generate Event.delay(count(x + 1), 1000); }";

    fn run_of(program: &str) -> LucidRun {
        let specification = r#"{"max time": 100000, "events": [{"name": "count", "args": [0]}]}"#;
        let files = MemoryFiles::new([("count.dpt", program), ("count.json", specification)]);
        let request =
            RunRequest { specification: Some(Path::new("count.json")), ..RunRequest::from(&files) };
        read_run(&request, None).unwrap_or_else(|failure| panic!("{}", failure.text()))
    }

    /// What a run by its own program, and one by another program in its place, leave to happen.
    #[test]
    fn a_run_that_stops_at_a_difference_does_not_ask_for_more_time() {
        let run = run_of(COUNT);
        for (program, expected) in [
            (COUNT.to_string(), "the run was over at 100000 ns; 1 event was waiting"),
            (COUNT.replace("last, 0, x", "last, 0, x + (x >> 2)"), "the run stopped at 4"),
        ] {
            let other = run_of(&program);
            let options = delay_options(&run.setup, Options::default());
            let compiled = compile(other.setup.program(), &other.map, &options).expect("compiles");
            let engine = EngineChoice::Jit;
            let simulation = CompiledSimulation::new(run.setup.clone(), Arc::new(compiled), engine);
            let simulation = Box::new(simulation.expect("a device"));
            let (target, verification) = (options.target.name(), Verification::Pending);
            let mut executor = Executor::Compiled { target, simulation, verification };
            let mut verdicts = Verdicts::new(run.setup.program(), &[]).expect("nothing expected");
            let mut waiting = PendingEvents::new();
            let mut observers = Observers::new();
            observers.push(&mut waiting);
            let outcome = executor.observe(&mut verdicts, &mut observers);
            drop(observers);
            let still = still_to_happen(&run, &outcome, &waiting, &executor).unwrap_or_default();
            assert!(still.starts_with(expected), "{still}");
            assert_eq!(still.contains("lets it run longer"), program == COUNT, "{still}");
        }
    }
}
