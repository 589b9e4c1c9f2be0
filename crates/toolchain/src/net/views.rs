// SPDX-License-Identifier: Apache-2.0
//! Files of a network run for people to look at: the time line.

use crate::files;
use frontend::Console;
use network_run::Built;
use network_run::timeline::Window;
use source::quantity;
use std::path::Path;

/// The files that the user wants.
#[derive(Clone, Copy, Debug, Default)]
pub struct Views<'r> {
    /// The time line, an HTML file.
    pub timeline: Option<&'r Path>,
    /// Which events of single frames it has.
    pub window: Window,
}

impl Views<'_> {
    /// Checks that the files can be written, before the run.
    pub(super) fn check(&self, input: &Path) -> Result<(), String> {
        for path in self.timeline.into_iter() {
            files::not_overwritten(path, std::iter::once(input))?;
            files::check_output(path)?;
        }
        Ok(())
    }

    /// Begins to record.
    pub(super) fn begin(&self, built: &mut Built) {
        if self.timeline.is_some() {
            built.begin_timeline(self.window);
        }
    }

    /// Writes the files.
    pub(super) fn write(
        &self,
        built: &mut Built,
        input: &Path,
        console: &dyn Console,
    ) -> Result<(), String> {
        if let Some(path) = self.timeline
            && let Some(finished) = built.finish_timeline(&input.display().to_string())
        {
            files::write_text(path, &finished.html)?;
            if console.is_quiet() {
                return Ok(());
            }
            console.note(&format!("wrote {}", path.display()));
            if let Some((count, until_ps)) = finished.omitted {
                let until = quantity::rounded(until_ps);
                console.note(&format!(
                    "the time line has single frames until {until}; {count} later ones are only in its sums: \
                     --timeline-from and --timeline-to choose other ones"
                ));
            }
        }
        Ok(())
    }
}
