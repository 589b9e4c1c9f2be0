// SPDX-License-Identifier: Apache-2.0
//! Capture files of a network's ports.

use frontend::Console;
use network::capture::CaptureWriter;
use network_file::model::Capture;
use network_run::CaptureSink;
use std::path::{Path, PathBuf};

/// The captures that a run writes.
pub(super) struct CaptureFiles {
    writers: Vec<(PathBuf, CaptureWriter)>,
    error: Option<String>,
}

impl CaptureFiles {
    /// Creates the files in a folder.
    pub(super) fn create(captures: &[Capture], folder: &Path) -> Result<CaptureFiles, String> {
        let mut writers = Vec::new();
        for capture in captures {
            let path = folder.join(&capture.file);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent).map_err(|error| {
                    let why = source::reason(&error);
                    format!("cannot make the folder `{}`: {why}", parent.display())
                })?;
            }
            let writer = CaptureWriter::create(&path).map_err(|error| error.to_string())?;
            writers.push((path, writer));
        }
        Ok(CaptureFiles { writers, error: None })
    }

    /// Returns the first error of a write.
    pub(super) fn check(&mut self) -> Result<(), String> {
        self.error.take().map_or(Ok(()), Err)
    }

    /// Completes the files and names them.
    pub(super) fn finish(self, console: &dyn Console) -> Result<(), String> {
        for (path, writer) in self.writers {
            writer.finish().map_err(|error| error.to_string())?;
            if !console.is_quiet() {
                console.note(&format!("wrote {}", path.display()));
            }
        }
        Ok(())
    }
}

impl CaptureSink for CaptureFiles {
    fn capture(&mut self, number: usize, time_ps: u64, bytes: &[u8]) {
        if let Some((_, writer)) = self.writers.get_mut(number)
            && let Err(error) = writer.write(time_ps.into(), bytes)
        {
            self.error.get_or_insert(error.to_string());
        }
    }
}
