// SPDX-License-Identifier: Apache-2.0
//! [`LiveNetwork`]: a network in the kernel, from its namespaces to its record, all removed when it is dropped.

use crate::kernel::{self, Interfaces};
use crate::plan::Plan;
use crate::state::{self, Claim, Record};
use crate::system::in_namespace;
use network_file::model::Network;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};

/// A network in the kernel.
#[derive(Debug)]
pub struct LiveNetwork {
    plan: Plan,
    name: String,
    /// The record goes last: what is left after a crash in between is found by it.
    claim: Claim,
}

impl LiveNetwork {
    /// Makes the namespaces and interfaces of a network of this name, and records it.
    ///
    /// # Errors
    ///
    /// What could not be made, for the user. Nothing of the network is left then.
    pub fn make(
        network: &Network,
        name: &str,
        file: &Path,
    ) -> Result<(LiveNetwork, Interfaces), String> {
        let plan = Plan::of(network, name);
        let claim = state::claim(name, file, &plan)?;
        let live = LiveNetwork { plan, name: name.to_string(), claim };
        let interfaces = kernel::make(&live.plan)?;
        Ok((live, interfaces))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder of its record.
    pub fn folder(&self) -> &Path {
        self.claim.folder()
    }

    /// The names in the kernel.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Starts a program in the namespace of a host.
    pub fn start(&self, host: usize, command: &mut Command) -> io::Result<Child> {
        run_in(&kernel::namespace_path(&self.plan.hosts[host].namespace), command)
    }
}

/// Replaces this process by a program in the namespace of a host. Words that are names of hosts become addresses, as in
/// Mininet's shell. Returns only if the program cannot start, with the reason.
pub fn exec(record: &Record, host: &str, words: &[String]) -> String {
    let namespace = match record.namespace(host) {
        Ok(namespace) => namespace,
        Err(message) => return message,
    };
    let address = |word: &String| record.address(word).unwrap_or_else(|| word.clone());
    let Some((program, arguments)) = words.split_first() else {
        return "no program is given".to_string();
    };
    let mut command = Command::new(program);
    command.args(arguments.iter().map(address));
    let failed = in_namespace(&namespace, || -> io::Result<()> { Err(command.exec()) });
    let why = match failed.err() {
        Some(error) if error.kind() == io::ErrorKind::NotFound && namespace.exists() => {
            "there is no such program".to_string()
        }
        Some(error) if error.kind() == io::ErrorKind::NotFound => {
            format!("the network `{}` has ended", record.name)
        }
        error => error.map(|error| source::reason(&error)).unwrap_or_default(),
    };
    format!("cannot start `{program}` on host `{host}`: {why}")
}

/// Starts a program in a namespace.
pub(crate) fn run_in(namespace: &Path, command: &mut Command) -> io::Result<Child> {
    in_namespace(namespace, || command.spawn())
}

impl Drop for LiveNetwork {
    fn drop(&mut self) {
        let namespaces: Vec<String> = self.plan.namespaces().map(str::to_string).collect();
        kernel::remove(&namespaces);
    }
}

/// A name for a network of this file: that of the file, and the number of the process.
pub fn default_name(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    let is_plain = |each: &char| each.is_ascii_alphanumeric() || matches!(each, '-' | '_');
    let stem: String = stem.chars().filter(is_plain).take(32).collect();
    let stem = if stem.is_empty() { "network".to_string() } else { stem };
    format!("{stem}-{}", std::process::id())
}
