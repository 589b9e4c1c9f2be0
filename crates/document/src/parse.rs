// SPDX-License-Identifier: Apache-2.0
//! Parsing of a document in the notation of its messages. `json`, `yaml` and `toml` read one notation each.

use crate::messages::Messages;
use crate::node::{Format, Node, Place};
use source::{Diagnostic, FileId};

impl Messages {
    /// Reads a text into a tree; returns `None`, with diagnostics, if it is not of its notation.
    pub fn parse(&self, file: FileId, text: &str) -> Option<Node> {
        // A byte order mark is no part of the text, but counts in places.
        let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
        let format = self.format;
        let place = Place { text, file, start, format, code: self.conventions.syntax };
        let parsed = match format {
            Format::Json => crate::json::read(&place),
            Format::Yaml => crate::yaml::read(&place),
            Format::Toml => crate::toml::read(&place),
        };
        let help = self.conventions.syntax_help;
        let with_help = |problem: Diagnostic| match help {
            "" => problem,
            help => problem.help(help),
        };
        parsed
            .map_err(|problems| problems.into_iter().for_each(|each| self.push(with_help(each))))
            .ok()
    }
}
