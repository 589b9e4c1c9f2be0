// SPDX-License-Identifier: Apache-2.0
//! [`Dialogue`]: the record of one dialogue, as text for `--trace`.

use super::host::Decided;
use crate::interface::Interface;
use source::quantity::rounded;
use state::Update;
use std::fmt::Write;
use std::sync::Arc;

/// One dialogue. Times are of the device, in picoseconds; 0 for steps that it did not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dialogue {
    /// Its number, from 1.
    pub number: u64,
    /// When it began.
    pub began_ps: u64,
    /// When the flip of the working copy was known.
    pub flipped_ps: u64,
    /// When the packets of the other copy had left.
    pub left_ps: u64,
    /// When the copy was read.
    pub read_ps: u64,
    /// When the reactions had decided.
    pub computed_ps: u64,
    /// When the commit was known; 0 if nothing changed.
    pub committed_ps: u64,
    /// When it ended.
    pub ended_ps: u64,
    /// The reactions that were called, with the words of their inputs.
    pub calls: Vec<(Arc<str>, Vec<u64>)>,
    /// What changed, such as `value_var = 3`.
    pub changes: Vec<String>,
    /// Why the commit failed.
    pub failure: Option<String>,
}

impl Dialogue {
    pub(super) fn note_call(&mut self, name: &Arc<str>, input: &[u64]) {
        self.calls.push((name.clone(), input.to_vec()));
    }

    pub(super) fn note_commit(
        &mut self,
        interface: &Interface,
        before: &[u64],
        decided: &Decided,
        known_ps: u64,
    ) {
        self.committed_ps = known_ps;
        let values = interface.values.iter().map(|value| (&value.name, None));
        let fields = interface.fields.iter().map(|field| (&field.name, Some(&field.alternatives)));
        for (at, (name, alternatives)) in values.chain(fields).enumerate() {
            let value = decided.malleables[at];
            if value != before[at] {
                let text = match alternatives {
                    Some(alternatives) => alternatives[value as usize].to_string(),
                    None => value.to_string(),
                };
                self.changes.push(format!("${{{name}}} = {text}"));
            }
        }
        let count =
            |is_it: fn(&Update) -> bool| decided.updates.iter().filter(|one| is_it(one)).count();
        let kinds = [
            ("entries added", count(|one| matches!(one, Update::InsertEntry { .. }))),
            ("entries modified", count(|one| matches!(one, Update::ModifyEntry { .. }))),
            ("entries deleted", count(|one| matches!(one, Update::DeleteEntry { .. }))),
            ("default actions set", count(|one| matches!(one, Update::SetDefaultAction { .. }))),
        ];
        for (what, count) in kinds {
            if count > 0 {
                self.changes.push(format!("{what}: {count}"));
            }
        }
    }

    /// The record as lines of text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let took_ps = self.ended_ps - self.began_ps;
        let _ = writeln!(
            text,
            "dialogue {} at {}, {}",
            self.number,
            rounded(self.began_ps),
            rounded(took_ps)
        );
        let mut last_ps = self.began_ps;
        let steps = [
            ("flip", self.flipped_ps),
            ("wait", self.left_ps),
            ("read", self.read_ps),
            ("react", self.computed_ps),
            ("commit", self.committed_ps),
        ];
        let mut parts = Vec::new();
        for (name, at_ps) in steps {
            if at_ps > 0 {
                parts.push(format!("{name} {}", rounded(at_ps.saturating_sub(last_ps))));
                last_ps = at_ps.max(last_ps);
            }
        }
        let _ = writeln!(text, "    {}", parts.join(", "));
        for (name, input) in &self.calls {
            let mut words: Vec<String> = input.iter().take(16).map(u64::to_string).collect();
            if input.len() > 16 {
                words.push("...".to_string());
            }
            let _ = writeln!(text, "    {name}({})", words.join(", "));
        }
        match &self.failure {
            Some(why) => {
                let _ = writeln!(text, "    commit failed: {why}");
            }
            None if self.changes.is_empty() => {
                let _ = writeln!(text, "    nothing changed");
            }
            None => {
                let _ = writeln!(text, "    {}", self.changes.join(", "));
            }
        }
        text
    }
}
