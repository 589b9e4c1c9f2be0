// SPDX-License-Identifier: Apache-2.0
//! [`Act`]: what a controller did or learned, for time lines.

/// The longest text of an act, in characters.
const MAX_LENGTH: usize = 400;

/// An act of a controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Act {
    pub(crate) time_ps: u64,
    pub(crate) controller: String,
    /// The switch that commands reach.
    pub(crate) switch: Option<usize>,
    pub(crate) text: String,
}

/// Acts, if someone wants them.
#[derive(Debug, Default)]
pub(super) struct Journal(Option<Vec<Act>>);

impl Journal {
    /// Begins to keep acts.
    pub fn begin(&mut self) {
        self.0 = Some(Vec::new());
    }

    /// Takes the acts since the last call.
    pub fn take(&mut self) -> Vec<Act> {
        self.0.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Keeps an act.
    pub fn note(&mut self, time_ps: u64, controller: &str, switch: Option<usize>, text: &str) {
        if let Some(acts) = &mut self.0 {
            let text = text.trim().chars().take(MAX_LENGTH).collect();
            acts.push(Act { time_ps, controller: controller.to_string(), switch, text });
        }
    }
}
