// SPDX-License-Identifier: Apache-2.0
//! Files of a network run for people to look at: the time line and the picture.

use crate::files;
use frontend::Console;
use network_run::Built;
use network_run::picture::picture;
use network_run::results::Results;
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
    /// The picture of the topology, an SVG file.
    pub picture: Option<&'r Path>,
}

impl Views<'_> {
    /// Checks that the files can be written, before the run.
    pub(super) fn check(&self, input: &Path) -> Result<(), String> {
        for path in self.timeline.into_iter().chain(self.picture) {
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
        results: &Results,
        input: &Path,
        console: &dyn Console,
    ) -> Result<(), String> {
        let title = input.display().to_string();
        let note = |text: &str| match console.is_quiet() {
            true => {}
            false => console.note(text),
        };
        if let Some(path) = self.picture {
            files::write_text(path, &picture(built, results, &title))?;
            note(&format!("wrote {}", path.display()));
        }
        if let Some(path) = self.timeline
            && let Some(finished) = built.finish_timeline(&title)
        {
            files::write_text(path, &finished.html)?;
            note(&format!("wrote {}", path.display()));
            if let Some((count, until_ps)) = finished.omitted {
                let until = quantity::rounded(until_ps);
                note(&format!(
                    "the time line has single frames until {until}; {count} later ones are only in its sums: \
                     --timeline-from and --timeline-to choose other ones"
                ));
            }
        }
        Ok(())
    }
}
