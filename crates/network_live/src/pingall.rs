// SPDX-License-Identifier: Apache-2.0
//! Pings between all hosts of a live network, one after the other, as Mininet's `pingall` sends them.

use crate::live_network::run_in;
use crate::state::Record;
use std::io::Read as _;
use std::process::{Command, Stdio};

/// The pings of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pinged {
    /// The host.
    pub from: String,
    /// The other hosts, and whether their reply came within a second.
    pub to: Vec<(String, bool)>,
}

/// Lets every host with an address ping every other one once; each host's pings are shown when they are done.
///
/// # Errors
///
/// `ping` cannot start.
pub fn pingall(record: &Record, mut show: impl FnMut(&Pinged)) -> Result<Vec<Pinged>, String> {
    let hosts: Vec<&str> = record
        .hosts
        .iter()
        .filter(|(_, _, addresses)| !addresses.is_empty())
        .map(|(name, ..)| name.as_str())
        .collect();
    let mut all = Vec::new();
    for from in &hosts {
        let mut pinged = Pinged { from: (*from).to_string(), to: Vec::new() };
        for to in hosts.iter().filter(|to| *to != from) {
            pinged.to.push(((*to).to_string(), ping(record, from, to)?));
        }
        show(&pinged);
        all.push(pinged);
    }
    Ok(all)
}

fn ping(record: &Record, from: &str, to: &str) -> Result<bool, String> {
    let namespace = record.namespace(from)?;
    let address = record.address(to).unwrap_or_default();
    let mut command = Command::new("ping");
    command.args(["-n", "-c", "1", "-W", "1", &address]).env("LC_ALL", "C");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let cannot = |error: std::io::Error| match error.kind() {
        // The namespace is there as long as the network is.
        std::io::ErrorKind::NotFound if namespace.exists() => {
            "the program `ping` is missing: install iputils-ping".to_string()
        }
        std::io::ErrorKind::NotFound => format!("the network `{}` has ended", record.name),
        _ => format!("cannot start ping on host `{from}`: {}", source::reason(&error)),
    };
    let mut child = run_in(&namespace, &mut command).map_err(cannot)?;
    let mut text = String::new();
    if let Some(mut output) = child.stdout.take() {
        let _ = output.read_to_string(&mut text);
    }
    let _ = child.wait();
    Ok(text.contains("bytes from"))
}
