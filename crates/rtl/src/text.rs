// SPDX-License-Identifier: Apache-2.0
//! A text of indented lines under construction.

/// The spaces of a level.
const INDENT: usize = 2;

/// A text under construction.
#[derive(Debug, Default)]
pub struct Text {
    text: String,
    level: usize,
}

impl Text {
    /// Adds lines, each indented by the current level on top of its own indentation.
    pub fn lines(&mut self, lines: &str) {
        for line in lines.lines() {
            if !line.trim().is_empty() {
                self.text.push_str(&" ".repeat(self.level * INDENT));
                self.text.push_str(line.trim_end());
            }
            self.text.push('\n');
        }
    }

    /// Adds lines and indents what follows.
    pub fn open(&mut self, lines: &str) {
        self.lines(lines);
        self.level += 1;
    }

    /// Ends the indentation and adds lines.
    pub fn close(&mut self, lines: &str) {
        self.level -= 1;
        self.lines(lines);
    }

    /// Indents what follows.
    pub fn level_up(&mut self) {
        self.level += 1;
    }

    /// Ends the indentation.
    pub fn level_down(&mut self) {
        self.level -= 1;
    }

    /// Returns the text.
    pub fn finish(self) -> String {
        self.text
    }
}
