// SPDX-License-Identifier: Apache-2.0
//! [`PortCaptures`]: the captures that a run writes, `PORT.pcap` in one folder for each port that sends. Never overwrites
//! an input, lists captures of earlier runs in the folder, and removes unfinished ones of runs that were killed.

use crate::files::reason;
use device::Transmitted;
use frontend::RunCaptures;
use network::capture::CaptureWriter;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The captures that are being written, by port.
type Writers = Mutex<BTreeMap<u32, CaptureWriter>>;

/// The captures of all runs of this process, for [`complete_all`].
static OPEN: Mutex<Vec<Weak<Writers>>> = Mutex::new(Vec::new());

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Completes the captures of all runs with the packets sent so far, because the process is about to end. Runs cannot
/// write to their captures afterwards: they wait for the end. Returns the files, or why one cannot be completed.
pub fn complete_all() -> Vec<Result<PathBuf, String>> {
    let mut completed = Vec::new();
    for writers in locked(&OPEN).iter().filter_map(Weak::upgrade) {
        let mut open = locked(&writers);
        for writer in std::mem::take(&mut *open).into_values() {
            let path = writer.path().to_path_buf();
            completed.push(writer.finish().map(|_| path).map_err(|error| error.to_string()));
        }
        std::mem::forget(open);
    }
    completed
}

/// The captures of one run.
pub struct PortCaptures {
    folder: PathBuf,
    /// Ports whose capture was there before the run.
    earlier: BTreeSet<u32>,
    by_port: Arc<Writers>,
}

/// The captures in the folder after a run.
pub struct Written {
    /// Captures of this run.
    pub written: Vec<PathBuf>,
    /// Captures of earlier runs.
    pub earlier: Vec<PathBuf>,
}

impl PortCaptures {
    /// Creates the folder if it does not exist. No input may be one of the captures that the run could write, under
    /// this or another name: the run would overwrite it while it reads it.
    ///
    /// # Errors
    ///
    /// The folder cannot be created or read, or has an input.
    pub fn create(captures: &RunCaptures<'_>) -> Result<PortCaptures, String> {
        PortCaptures::in_folder(
            captures.out,
            captures.inputs.iter().map(|(_, path)| path.as_path()),
        )
    }

    /// The same with inputs by their paths.
    ///
    /// # Errors
    ///
    /// The folder cannot be created or read, or has an input.
    pub fn in_folder<'a>(
        folder: &Path,
        inputs: impl Iterator<Item = &'a Path>,
    ) -> Result<PortCaptures, String> {
        if folder.exists() && !folder.is_dir() {
            return Err(format!("`{}` is a file; --out takes a folder", folder.display()));
        }
        let message = |error| format!("cannot make `{}`: {}", folder.display(), reason(&error));
        std::fs::create_dir_all(folder).map_err(message)?;
        let inputs: Vec<PathBuf> = inputs.filter_map(|input| input.canonicalize().ok()).collect();
        let mut earlier = BTreeSet::new();
        let message = |error| format!("cannot read `{}`: {}", folder.display(), reason(&error));
        for entry in std::fs::read_dir(folder).map_err(message)?.flatten() {
            if entry.file_name().to_str().is_some_and(CaptureWriter::is_abandoned) {
                // A file that cannot be removed does no harm.
                let _ = std::fs::remove_file(entry.path());
                continue;
            }
            let Some(port) = entry.file_name().to_str().and_then(port_of) else { continue };
            if entry.path().canonicalize().is_ok_and(|path| inputs.contains(&path)) {
                return Err(format!(
                    "--out {}: packets sent from port {port} would overwrite `{}`, which is an \
                     input: name another folder",
                    folder.display(),
                    entry.path().display()
                ));
            }
            earlier.insert(port);
        }
        let by_port = Arc::new(Writers::default());
        let mut open = locked(&OPEN);
        open.retain(|writers| writers.strong_count() > 0);
        open.push(Arc::downgrade(&by_port));
        Ok(PortCaptures { folder: folder.to_owned(), earlier, by_port })
    }

    /// Adds a packet to the capture of its port, and creates the capture with the first packet. The time is in
    /// picoseconds since 1970.
    pub fn write(&mut self, time_ps: i128, sent: &Transmitted) -> Result<(), String> {
        self.write_bytes(time_ps, sent.port, &sent.bytes)
    }

    /// The same with a port and bytes.
    pub fn write_bytes(&mut self, time_ps: i128, port: u32, bytes: &[u8]) -> Result<(), String> {
        use std::collections::btree_map::Entry;
        let mut open = locked(&self.by_port);
        let writer = match open.entry(port) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let path = capture_path(&self.folder, port);
                entry.insert(CaptureWriter::create(&path).map_err(|error| error.to_string())?)
            }
        };
        writer.write(time_ps, bytes).map_err(|error| error.to_string())
    }

    /// Completes all captures.
    pub fn finish(self) -> Result<Written, String> {
        let path = |port: &u32| capture_path(&self.folder, *port);
        let mut open = locked(&self.by_port);
        let written = open.keys().map(path).collect();
        let not_written = |port: &&u32| !open.contains_key(port);
        let earlier = self.earlier.iter().filter(not_written).map(path).collect();
        for writer in std::mem::take(&mut *open).into_values() {
            writer.finish().map_err(|error| error.to_string())?;
        }
        Ok(Written { written, earlier })
    }
}

fn capture_path(folder: &Path, port: u32) -> PathBuf {
    folder.join(format!("{port}.pcap"))
}

/// Returns the port of a capture by its file name, if [`capture_path`] gives this name.
fn port_of(file_name: &str) -> Option<u32> {
    let port = file_name.strip_suffix(".pcap")?.parse().ok()?;
    (format!("{port}.pcap") == file_name).then_some(port)
}

/// Formats the list of captures.
pub fn written_text(written: &Written) -> String {
    let mut text = String::new();
    let names = |paths: &[PathBuf]| {
        paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    };
    match written.written.is_empty() {
        true => text.push_str("written: nothing, as no packet was sent\n"),
        false => text.push_str(&format!("written: {}\n", names(&written.written))),
    }
    if !written.earlier.is_empty() {
        text.push_str(&format!("not of this run: {}\n", names(&written.earlier)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::port_of;

    #[test]
    fn names_of_captures() {
        for (name, port) in [
            ("1.pcap", Some(1)),
            ("510.pcap", Some(510)),
            ("01.pcap", None),
            ("+1.pcap", None),
            ("1.pcapng", None),
            ("host1.pcap", None),
            ("99999999999.pcap", None),
        ] {
            assert_eq!(port_of(name), port, "{name}");
        }
    }
}
