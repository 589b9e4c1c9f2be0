// SPDX-License-Identifier: Apache-2.0
//! `plane run` for Lucid programs: a specification through the reference interpreter, with the
//! reports that were asked for.

use super::captures::Leaving;
use super::inputs::{Ready, Wanted, ready};
use super::machine::Machine;
use super::user_p4;
use crate::arguments::{Engine, Run};
use crate::{Ending, files, output};
use lucid::compile::Options;
use lucid::report::{
    Detail, JsonLines, Observers, TextLog, TimeLine, Verdict, Verdicts, Waiting, counters_table,
    state_json, state_text,
};
use lucid::simulation::schedule::Recorder;
use lucid::simulation::{Observation, ObservationKind, Observer, Outcome};
use lucid::specification::Links;
use source::Diagnostics;
use std::path::{Path, PathBuf};

/// Runs it.
pub fn run(arguments: &Run, quiet: bool) -> Ending {
    if let Err(message) = usage(arguments) {
        output::error(&message);
        return Ending::WrongUsage;
    }
    let lucid = &arguments.lucid;
    let captures = match super::super::run::inputs(&arguments.inputs) {
        Ok(captures) => captures,
        Err(message) => {
            output::error(&message);
            return Ending::WrongUsage;
        }
    };
    let wanted = Wanted {
        program: Some(&arguments.program),
        specification: lucid.spec.as_deref(),
        symbolics: lucid.symbolics.as_deref(),
        until_ps: arguments.until_ps,
        seed: arguments.seed,
        captures: &captures,
    };
    let ready = match ready(&wanted, quiet) {
        Ok(ready) => ready,
        Err(trouble) => return trouble.print(),
    };
    let ran = match &arguments.lucid.replay {
        Some(path) => super::replay::run(arguments, &ready, path, quiet),
        None => run_ready(arguments, &ready, quiet),
    };
    match ran {
        Ok(ending) => ending,
        Err(message) => {
            output::error(&message);
            Ending::WrongInput
        }
    }
}

/// Options of P4 programs mean nothing here.
fn usage(arguments: &Run) -> Result<(), String> {
    let lucid = &arguments.lucid;
    let has_p4 = lucid.user_p4.files().next().is_some();
    for (flag, given) in [
        ("--entries", !arguments.entries.is_empty()),
        ("--after", !arguments.after.is_empty()),
        ("--digests", arguments.digests),
        ("--trace-json", arguments.trace_json),
        ("--cpu-port", arguments.cpu_port.is_some()),
        ("--device", arguments.device.is_some()),
        ("-I", !has_p4 && !arguments.reading.include_dirs.is_empty()),
        ("-D", !has_p4 && !arguments.reading.defines.is_empty()),
    ] {
        if given {
            let program = arguments.program.display();
            return Err(format!("{flag} is for P4 programs, and `{program}` is a Lucid program"));
        }
    }
    let is_compiled = arguments.engine != Some(Engine::Reference) && lucid.replay.is_none();
    if has_p4 && !is_compiled {
        return Err("--p4-before and --p4-after are for compiled programs: leave out --engine \
                    reference and --replay"
            .to_string());
    }
    if has_p4 && lucid.record.is_some() {
        return Err("a schedule has what handlers do and nothing of what P4 of yours does: leave \
                    out --record, or --p4-before and --p4-after"
            .to_string());
    }
    if arguments.engine == Some(Engine::Reference) && lucid.target.is_some() {
        return Err(
            "--target says what to compile for, and the reference interpreter compiles nothing"
                .to_string(),
        );
    }
    if lucid.replay.is_some()
        && (arguments.engine.is_some() || arguments.verify || lucid.target.is_some())
    {
        return Err("--replay runs a schedule by the reference interpreter: leave out --engine, --target and --verify".to_string());
    }
    if arguments.inputs.is_empty() != arguments.out.is_none() {
        return Err(
            "captures come in with --in PORT=FILE and go out with --out DIR: name both".to_string()
        );
    }
    if !arguments.inputs.is_empty() && lucid.replay.is_some() {
        return Err("--replay takes its inputs from the specification, not from --in".to_string());
    }
    let mut written: Vec<&Path> = [&lucid.state_out, &lucid.timeline, &lucid.record, &lucid.replay]
        .into_iter()
        .filter_map(|path| path.as_deref())
        .chain(lucid.user_p4.files().map(PathBuf::as_path))
        .collect();
    written.sort();
    if let Some(pair) = written.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("two options name the file `{}`", pair[0].display()));
    }
    Ok(())
}

/// Collects lines and prints them in large pieces.
#[derive(Default)]
pub struct Printer {
    text: String,
}

const PRINTED_AT_ONCE: usize = 32 << 10;

impl Printer {
    /// Adds a line or several.
    pub fn add(&mut self, line: &str) {
        self.text.push_str(line);
        if self.text.len() >= PRINTED_AT_ONCE {
            self.flush();
        }
    }

    /// Prints what was collected.
    pub fn flush(&mut self) {
        if !self.text.is_empty() {
            output::print(&self.text);
            self.text.clear();
        }
    }
}

/// A log without what leaves, where that is written to captures.
struct Quieter<'o> {
    log: &'o mut dyn Observer,
    leaves_out: bool,
}

impl Observer for Quieter<'_> {
    fn wants_accesses(&self) -> bool {
        self.log.wants_accesses()
    }

    fn observe(&mut self, observation: Observation) {
        if !(self.leaves_out && matches!(observation.kind, ObservationKind::Left { .. })) {
            self.log.observe(observation);
        }
    }
}

fn run_ready(arguments: &Run, ready: &Ready, quiet: bool) -> Result<Ending, String> {
    let lucid = &arguments.lucid;
    let program = ready.setup.program().clone();
    let options =
        Options { target: lucid.target.unwrap_or_default().target(), ..Options::default() };
    let options = user_p4::with_files(options, &lucid.user_p4, &arguments.reading)?;
    let engine = arguments.engine.unwrap_or(Engine::Jit);
    let mut machine = match Machine::new(engine, options, arguments.verify, ready, quiet) {
        Ok(machine) => machine,
        Err(trouble) => return Ok(trouble.print()),
    };
    // A run that is compared goes through in one piece, without a look at cells on the way.
    let expectations: &[_] = if arguments.verify { &[] } else { &ready.run.expectations };
    let mut verdicts = match Verdicts::new(&program, expectations) {
        Ok(verdicts) => verdicts,
        Err(problems) => {
            output::diagnostics(&ready.map, &problems);
            return Ok(Ending::WrongInput);
        }
    };
    let title = ready.title();
    let mut line = TimeLine::new(&program, title.as_str(), ready.setup.switches(), links(ready));
    let mut printer = Printer::default();
    let mut recorder = Recorder::new();
    let mut waiting = Waiting::new();
    let mut leaving = match &arguments.out {
        Some(folder) => {
            let inputs: Vec<PathBuf> = ready.files().collect();
            Some(Leaving::new(ready.setup.clone(), folder, &inputs, ready.capture_times)?)
        }
        None => None,
    };
    let detail = if arguments.trace { Detail::Everything } else { Detail::Results };
    if !quiet && !lucid.json {
        printer.add(&format!("{title} ({})\n\n", machine.name()));
    }
    let outcome = {
        let mut write = |text: &str| printer.add(text);
        let mut text;
        let mut json;
        let mut quieter;
        let mut observers = Observers::new();
        if lucid.json {
            json = JsonLines::new(&program, arguments.trace, &mut write);
            observers.push(&mut json);
        } else if !quiet || arguments.trace {
            text = TextLog::new(&program, detail, &mut write)
                .with_recirculation_ports(ready.setup.recirculation_ports());
            quieter = Quieter { log: &mut text, leaves_out: leaving.is_some() && !arguments.trace };
            observers.push(&mut quieter);
        }
        // What becomes of generated events is P4's of the user, if there is some.
        if !quiet && lucid.user_p4.files().next().is_none() {
            observers.push(&mut waiting);
        }
        if lucid.timeline.is_some() {
            observers.push(&mut line);
        }
        if lucid.record.is_some() {
            observers.push(&mut recorder);
        }
        if let Some(leaving) = &mut leaving {
            observers.push(leaving);
        }
        machine.observe(&mut verdicts, &mut observers)
    };
    printer.flush();
    let captured = leaving.map(Leaving::finish).transpose()?;
    let counts = machine.counts();
    let verdicts =
        verdicts.finish(&counts, &|switch, global, index| machine.cell(switch, global, index));
    let mut failed = verdicts.iter().any(|verdict| !verdict.passed);
    let mut summary = String::new();
    if !quiet {
        summary.push_str(&format!("\n{}", counters_table(&counts)));
        let state = state_text(&program, machine.states().iter());
        if !state.is_empty() {
            summary.push_str(&format!("\nstate at the end, where it is not zero:\n{state}"));
        }
        if let Some(told) = still_to_happen(ready, &outcome, &waiting, &machine) {
            summary.push_str(&format!("\n{told}\n"));
        }
    }
    if !verdicts.is_empty() {
        summary.push_str(&verdicts_text(&verdicts, quiet));
    }
    // Whoever reads the observations as JSON reads nothing else there.
    if lucid.json {
        if !summary.is_empty() {
            output::note(summary.trim_end());
        }
    } else {
        output::print(&summary);
    }
    if !quiet {
        output::diagnostics(&ready.map, &machine.warnings());
    }
    if let Some(said) = machine.judgement() {
        failed |= said.is_err();
        match said {
            Ok(said) if quiet => drop(said),
            Ok(said) => output::note(&said),
            Err(said) => output::error(&said),
        }
    }
    if let Outcome::Stopped(fault) = outcome {
        let mut list = Diagnostics::new();
        list.push(*fault);
        output::diagnostics(&ready.map, &list);
        failed = true;
    }
    let mut results = Vec::new();
    if let Some(path) = &lucid.state_out {
        let states = machine.states();
        results.push((path, format!("{:#}\n", state_json(&program, states.iter()))));
    }
    if let Some(path) = &lucid.timeline {
        results.push((path, line.html(&counts)));
    }
    if let Some(path) = &lucid.record {
        results.push((path, recorder.schedule().to_json_lines(&program)));
    }
    if let Some(captured) = captured.filter(|_| !quiet) {
        output::note(super::super::run::written_text(&captured).trim_end());
    }
    write_results(&results, ready, quiet)?;
    Ok(if failed { Ending::WrongInput } else { Ending::Fine })
}

/// What was still to happen if the run's time was over, and how to let it run longer.
pub fn still_to_happen(
    ready: &Ready,
    outcome: &Outcome,
    waiting: &Waiting,
    machine: &Machine,
) -> Option<String> {
    if *outcome != Outcome::TimeOver {
        return None;
    }
    let setup = &ready.setup;
    let told = waiting.text(setup.program(), setup.max_time_ps(), machine.next_input_ps())?;
    let specification = ready.specification_path.display();
    let longer = match ready.specification_path == ready.program_path {
        true => "--until TIME lets it run longer".to_string(),
        false => format!("`max time` in {specification}, or --until TIME, lets it run longer"),
    };
    Some(format!("{told}\n{longer}"))
}

/// Writes what was asked for, and says so.
pub fn write_results(
    results: &[(&PathBuf, String)],
    ready: &Ready,
    quiet: bool,
) -> Result<(), String> {
    for (path, text) in results {
        write(path, text, ready)?;
    }
    let names: Vec<String> = results.iter().map(|(path, _)| path.display().to_string()).collect();
    if !quiet && !names.is_empty() {
        output::note(&format!("written: {}", names.join(", ")));
    }
    Ok(())
}

/// Writes a result, never over an input; makes its folder if it is not there.
fn write(path: &Path, text: &str, ready: &Ready) -> Result<(), String> {
    if let Ok(target) = path.canonicalize() {
        let is_target = |input: &Path| input.canonicalize().is_ok_and(|input| input == target);
        let over = ready.files().any(|input| is_target(&input));
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

/// Verdicts for people; only what failed if `quiet`.
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

/// All links, for the picture of the network; a full mesh of many switches has too many to draw.
pub fn links(ready: &Ready) -> Vec<[(u32, u32); 2]> {
    const MOST_DRAWN: u32 = 64;
    let switches = ready.setup.switches();
    match &ready.run.links {
        Links::List(list) => list.iter().map(|link| link.ends).collect(),
        Links::FullMesh if switches <= MOST_DRAWN => (0..switches)
            .flat_map(|one| (one + 1..switches).map(move |other| [(one, other), (other, one)]))
            .collect(),
        Links::FullMesh => Vec::new(),
    }
}
