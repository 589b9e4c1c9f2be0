// SPDX-License-Identifier: Apache-2.0
//! The files that `plane emit -o` writes: the program, the control commands and the device file of each switch, and
//! instructions for running it. `lucid_network::deploy` writes commands and device files.

#[cfg(test)]
mod tests;

use crate::files;
use frontend::Failure;
use lucid::core::Program;
use lucid_compiler::{Backend, Compiled, DELAY_PERIOD_PS, GlobalPlace, Recirculation};
use lucid_network::deploy::{self, SwitchSetup};
use lucid_network::script;
use lucid_reference::simulation::Setup;
use source::quantity::in_largest_unit;
use std::path::{Path, PathBuf};

/// The first line below the title of each README that `plane emit` writes; it never overwrites other READMEs.
const MADE_BY: &str = "Made by `plane emit`.";

/// A compiled program and its sources.
pub struct Emitted<'e> {
    /// The file of the Lucid program.
    pub source: &'e Path,
    /// The specification of the run that it was compiled for.
    pub specification: Option<&'e Path>,
    pub program: &'e Program,
    pub compiled: &'e Compiled,
    /// The run.
    pub setup: Option<&'e Setup>,
    /// The number of stages, as text.
    pub stages: Option<String>,
}

impl Emitted<'_> {
    /// Returns the names and contents of the files.
    pub fn texts(&self) -> Vec<(String, String)> {
        let stem = self.stem();
        let sites: Vec<SwitchSetup> = match self.setup {
            Some(setup) => {
                (0..setup.switches()).map(|switch| SwitchSetup::of(setup, switch)).collect()
            }
            None => {
                vec![unconnected_switch(self.compiled.options.recirculation_port, self.program)]
            }
        };
        let mut texts = vec![(format!("{stem}.p4"), self.compiled.built.print())];
        for site in &sites {
            let number = site.number;
            let commands = deploy::commands(self.compiled, self.program, site);
            texts.push((format!("commands-{number}.txt"), commands));
            let device = deploy::device_file(self.compiled, site);
            texts.push((format!("device-{number}.toml"), device));
            if self.compiled.options.target == Backend::Tna {
                let script = script::script(self.compiled, self.program, site, &stem);
                texts.push((format!("bfrt-{number}.py"), script));
            }
        }
        texts.push(("README.md".to_string(), self.readme(sites.len())));
        texts
    }

    fn stem(&self) -> String {
        let stem = self.source.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        stem.filter(|stem| stem != "-").unwrap_or("program".to_string())
    }

    fn readme(&self, switches: usize) -> String {
        let stem = self.stem();
        let options = &self.compiled.options;
        let port = options.recirculation_port;
        let mut text = format!("# {stem}\n\n{MADE_BY}\n\n| file | what it is |\n| --- | --- |\n");
        let mut file = |name: &str, what: &str| text.push_str(&format!("| `{name}` | {what} |\n"));
        let every = if switches == 1 { "" } else { ", the same at every switch" };
        file(&format!("{stem}.p4"), &format!("the program{every}"));
        let what = "what the control plane of switch N sets up before the first packet";
        file("commands-N.txt", what);
        file("device-N.toml", "how a device of Planewright is built for switch N");
        if options.target == Backend::Tna {
            file("bfrt-N.py", "the same as commands-N.txt for the shell of a Tofino");
        }
        text.push_str(&match switches {
            1 => "\nThere is one switch, number 0.\n".to_string(),
            more => format!("\nThere are {more} switches, numbers 0 to {}.\n", more - 1),
        });
        if let Some(stages) = &self.stages {
            text.push_str(&format!("On a Tofino it takes {stages}.\n"));
        }
        text.push_str(&self.copied_tables());
        if self.compiled.delay_period_ps > 0 {
            text.push_str(&format!(
                "\nDelayed events wait in a queue that is released every {} (`period` in device-N.toml). It is \
                 {} unless the run of `--spec` says otherwise, such as `delay granularity: 50us`; with \
                 `--delay recirculation` there is no such queue, and delays are exact to a round.\n",
                in_largest_unit(self.compiled.delay_period_ps),
                in_largest_unit(DELAY_PERIOD_PS),
            ));
        }
        text.push_str(&format!(
            "\n## With Planewright\n\nOne switch with packets from captures, in this folder:\n\n```\n\
             plane run {stem}.p4 --entries commands-0.txt --device device-0.toml \\\n  \
             --in 1=CAPTURE.pcap --out out\n```\n\n`--until TIME` ends a run whose events come again for \
             ever.\n"
        ));
        if options.recirculation == Recirculation::Port {
            let given = if self.source == Path::new("-") {
                "PROGRAM.dpt".into()
            } else {
                self.source.display().to_string()
            };
            let target = match options.target == Backend::default() {
                true => String::new(),
                false => format!(" --target {}", options.target.name()),
            };
            let run = match self.specification {
                Some(specification) => format!(" --spec {}", specification.display()),
                None => " --spec RUN.yaml".to_string(),
            };
            text.push_str(&format!(
                "\nPackets that leave by port {port} come back by \
                 it. `plane run {given}{run}{target}` does all of this by itself, with all switches \
                 and links of the run.\n"
            ));
        }
        match (options.target, options.recirculation) {
            (Backend::V1Model, Recirculation::Primitive) => text.push_str(&format!(
                "\n## With BMv2\n\n```\np4c-bm2-ss {stem}.p4 -o {stem}.json\n\
                 simple_switch -i 1@veth1 -i 2@veth2 {stem}.json &\n\
                 simple_switch_CLI < commands-0.txt\n```\n\nTime stamps are microseconds. Port {port} is \
                 only a number: packets to it are recirculated.\n"
            )),
            (Backend::V1Model, Recirculation::Port) => text.push_str(
                "\nBMv2's ports all lead outside: for BMv2 compile with `--bmv2`.\n",
            ),
            (Backend::Tna, _) => text.push_str(&format!(
                "\n## With a Tofino\n\nCompile `{stem}.p4` for Tofino's native architecture and run \
                 `bfrt-N.py` in the shell of switch N: it sets up multicast groups, routes, the \
                 recirculation port and the packet generator. The script was not tested on hardware.\n",
            )),
        }
        text
    }
}

impl Emitted<'_> {
    /// Says which tables an operator fills for each table of the program that has several copies.
    fn copied_tables(&self) -> String {
        let mut rows = String::new();
        for place in &self.compiled.globals {
            let GlobalPlace::Table { global, copies } = place else { continue };
            if copies.len() > 1 {
                let name = &self.program.globals[global.0 as usize].name;
                let copies: Vec<String> =
                    copies.iter().map(|copy| format!("`{}`", copy.name)).collect();
                rows.push_str(&format!("| `{name}` | {} |\n", copies.join(", ")));
            }
        }
        match rows.is_empty() {
            true => rows,
            false => format!(
                "\nA table of a Tofino belongs to one stage. A Lucid table that several places look up is a \
                 table for each place, and every entry belongs into all of them:\n\n\
                 | in the Lucid program | in the P4 program |\n| --- | --- |\n{rows}"
            ),
        }
    }
}

/// Returns the set-up of a single switch without links.
pub(super) fn unconnected_switch(recirculation_port: u32, program: &Program) -> SwitchSetup {
    let zero = |ty| match ty {
        lucid::core::Type::Bool => lucid_reference::interpreter::Value::Bool(false),
        _ => lucid_reference::interpreter::Value::Int(0),
    };
    let externs = program.externs.iter().map(|one| zero(one.ty)).collect();
    SwitchSetup { recirculation_port, externs, ..SwitchSetup::default() }
}

/// Files of switches: beginning and end of the name, and the first words.
const OF_SWITCHES: [(&str, &str, &str); 3] = [
    ("commands-", ".txt", deploy::COMMANDS_BEGIN),
    ("device-", ".toml", deploy::DEVICE_BEGINS),
    ("bfrt-", ".py", script::SCRIPT_BEGINS),
];

/// Returns the files of earlier programs for further switches or for another target.
fn stale(folder: &Path, texts: &[(String, String)]) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_stale = |path: &PathBuf| {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
        OF_SWITCHES.iter().any(|(begin, end, first)| {
            let number = name.strip_prefix(begin).and_then(|rest| rest.strip_suffix(end));
            number.is_some_and(|number| number.parse::<u32>().is_ok())
                && texts.iter().all(|(written, _)| written != name)
                && path.is_file()
                && files::read_text(path).is_ok_and(|text| text.starts_with(first))
        })
    };
    let mut found: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_stale).collect();
    found.sort();
    found
}

/// Writes all files or none, and removes files of an earlier `plane emit` for further switches. Never overwrites an input
/// or a README of another origin. Returns the removed files.
pub fn write(
    folder: &Path,
    texts: &[(String, String)],
    inputs: &[PathBuf],
) -> Result<Vec<PathBuf>, Failure> {
    for (name, _) in texts {
        files::not_overwritten(&folder.join(name), inputs.iter().map(PathBuf::as_path))?;
    }
    let readme = folder.join("README.md");
    if readme.is_file() && !files::read_text(&readme).is_ok_and(|text| text.contains(MADE_BY)) {
        return Err(Failure::Message(format!(
            "`{}` exists, and `plane emit` did not write it: give another folder with -o",
            readme.display()
        )));
    }
    let stale = match readme.is_file() {
        true => stale(folder, texts),
        false => Vec::new(),
    };
    let stale: Vec<PathBuf> = stale.into_iter().filter(|path| !inputs.contains(path)).collect();
    files::write_texts(folder, texts).map_err(Failure::Message)?;
    for path in &stale {
        std::fs::remove_file(path).map_err(|error| {
            Failure::Message(format!("cannot remove `{}`: {error}", path.display()))
        })?;
    }
    Ok(stale)
}
