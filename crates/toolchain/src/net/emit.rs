// SPDX-License-Identifier: Apache-2.0
//! Writes a network as a topology of containerlab, with the files that its switches need.

use super::NetRun;
use super::switches::Switches;
use crate::files;
use crate::selection;
use device::Device;
use frontend::{Console, ExitStatus, Failure, PrintForm, ProgramFile, count};
use network_file::model::{Behaviour, CommandSource, Network};
use network_live::containerlab::{self, SwitchFiles};
use network_run::entries;
use source::Diagnostics;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Writes the files into the run's folder. Devices are those of the switches, with their entries.
pub(super) fn run(
    mut network: Network,
    devices: &[Device],
    (run, folder): (&NetRun<'_>, &Path),
    switches: &Switches<'_>,
    console: &dyn Console,
) -> Result<ExitStatus, Failure> {
    let mut found = Diagnostics::new();
    network_live::check_hosts(&network, &mut found);
    if found.has_errors() {
        return Err(Failure::Found(switches.map.clone(), found));
    }
    let mut programs: HashMap<PathBuf, String> = HashMap::new();
    let mut all = Vec::new();
    for (number, (switch, device)) in network.switches.iter().zip(devices).enumerate() {
        if switch.is_lucid() {
            return Err(Failure::Message(format!(
                "switch `{}` has a Lucid program: translate it with `plane emit`, and name the P4 program and its commands",
                switch.name
            )));
        }
        let Some(path) = switches.program_of(switch) else { continue };
        let program = match programs.get(&path) {
            Some(text) => text.clone(),
            None => {
                let text = program_text(&path, run, console)?;
                programs.entry(path).or_insert(text).clone()
            }
        };
        let read = |name: &str| {
            let path = switches.locate(name);
            let end = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            files::read_text(&path).map(|text| (end, text))
        };
        let mut entries = Vec::new();
        for file in &switch.entries {
            entries.push(read(&file.value)?);
        }
        if let (Some(routes), true) = (&switch.routes, entries.is_empty()) {
            let text = entries::commands(&device.program(), number, routes).unwrap_or_default();
            entries.push(("txt".to_string(), text));
        }
        let device = switch.device.as_ref().map(|file| read(&file.value)).transpose()?;
        all.push(SwitchFiles { program, entries, device });
    }
    let left_out = left_out(&network);
    take_in_commands(&mut network, folder)?;
    let lab = lab_name(run.file);
    let texts = containerlab::emit(&network, &lab, &all);
    for (name, _) in &texts {
        let path = run.out.join(name);
        let Some(parent) = path.parent() else { continue };
        std::fs::create_dir_all(parent).map_err(|error| {
            format!("cannot make the folder `{}`: {}", parent.display(), source::reason(&error))
        })?;
    }
    files::write_texts(run.out, &texts)?;
    if !console.is_quiet() {
        console.note(&format!(
            "wrote {} into {} for containerlab {}: build the image by its Dockerfile, then `containerlab deploy -t {lab}.clab.yml`",
            count(texts.len(), "file"),
            run.out.display(),
            containerlab::SCHEMA_VERSION
        ));
    }
    if !left_out.is_empty() {
        let what = left_out.join(", ");
        console.warning(&format!("left out, as a topology of containerlab has none: {what}"));
    }
    Ok(ExitStatus::Fine)
}

/// The program as one file: its own includes are in it.
fn program_text(path: &Path, run: &NetRun<'_>, console: &dyn Console) -> Result<String, Failure> {
    let file = ProgramFile { path, files: &files::Disk, preprocessing: run.preprocessing };
    let language = selection::of(path).map_err(Failure::Message)?;
    language.print(&file, PrintForm::default(), console)
}

/// Commands in files become texts of the network file.
fn take_in_commands(network: &mut Network, folder: &Path) -> Result<(), Failure> {
    for controller in &mut network.controllers {
        let Behaviour::Commands(timed) = &mut controller.behaviour else { continue };
        for commands in timed {
            if let CommandSource::File(file) = &commands.commands {
                let mut text = file.clone();
                text.value = files::read_text(&folder.join(&file.value))?;
                commands.commands = CommandSource::Text(text);
            }
        }
    }
    Ok(())
}

fn left_out(network: &Network) -> Vec<String> {
    let applications = network.hosts.iter().map(|host| host.applications.len()).sum::<usize>();
    let is_program =
        |one: &&network_file::model::Controller| matches!(one.behaviour, Behaviour::Program(_));
    let programs = network.controllers.iter().filter(is_program).count();
    let all = [
        (applications, "application"),
        (network.expectations.len(), "expectation"),
        (network.captures.len(), "capture"),
        (network.reloads.len(), "reload"),
        (programs, "controller program"),
    ];
    all.into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| count(number, what))
        .collect()
}

/// The lab's name: that of the file, in letters that containerlab takes.
fn lab_name(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    let is_plain = |each: &char| each.is_ascii_alphanumeric() || matches!(each, '-' | '_');
    let name: String = stem.chars().filter(is_plain).collect();
    let name = name.trim_start_matches(['-', '_']);
    if name.is_empty() { "network".to_string() } else { name.to_string() }
}
