// SPDX-License-Identifier: Apache-2.0
//! Instructions a packet, counted by valgrind's callgrind: of the function `counted_packets` only, so
//! that start-up does not count.

use super::processes::{Prepared, Side, on_path};
use std::path::PathBuf;
use std::process::Command;

/// Callgrind, where there is one.
pub struct Callgrind(PathBuf);

impl Callgrind {
    pub fn find() -> Option<Callgrind> {
        on_path(&["valgrind"]).map(Callgrind)
    }

    /// Instructions a packet on the ring of this name.
    pub fn instructions(
        &self,
        prepared: &Prepared,
        side: Side,
        ring: &str,
        packets: u64,
    ) -> Result<f64, String> {
        let line = prepared.command_line(side, true)?;
        let output = Command::new(&self.0)
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .args(["--collect-atstart=no", "--toggle-collect=*counted_packets*"])
            .args(line)
            .args(["count", ring, &packets.to_string()])
            .output()
            .map_err(|error| format!("cannot run {}: {error}", self.0.display()))?;
        let text = String::from_utf8_lossy(&output.stderr);
        let collected = text
            .lines()
            .find_map(|line| line.split_once("Collected :"))
            .and_then(|(_, number)| number.trim().parse::<f64>().ok());
        match collected {
            Some(collected) if output.status.success() && collected > 0.0 => {
                Ok(collected / packets as f64)
            }
            _ => {
                let last = text.lines().last().unwrap_or("it said nothing");
                Err(format!("{} under callgrind: {}: {last}", side.name(), output.status))
            }
        }
    }
}
