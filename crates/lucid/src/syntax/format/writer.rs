// SPDX-License-Identifier: Apache-2.0
//! The lines that come out, with the comments at their ends, which are put into columns when all is
//! written.

use super::pieces::{Remark, columns};
use super::structure::width_of;
use super::{INDENT_WIDTH, LINE_WIDTH};

/// A line of the output.
#[derive(Debug, Default)]
struct Line {
    text: String,
    /// Columns of `text`.
    width: usize,
    indent: usize,
    /// The `// ...` at its end, and whether it goes on with the one above.
    comment: Option<(String, bool)>,
}

/// Writes lines.
#[derive(Debug, Default)]
pub(super) struct Writer {
    lines: Vec<Line>,
    /// What is written next begins a line with this indentation, in columns.
    pending: Option<usize>,
}

impl Writer {
    pub fn new() -> Writer {
        Writer { lines: Vec::new(), pending: Some(0) }
    }

    /// Ends the line; the next one is indented by so many columns.
    pub fn break_line(&mut self, indent: usize) {
        self.pending = Some(indent);
    }

    /// An empty line, if there is none yet and this is not the beginning.
    pub fn blank_line(&mut self) {
        if self.lines.last().is_some_and(|last| last.width > 0 || last.comment.is_some()) {
            self.lines.push(Line::default());
        }
    }

    /// Whether what is written next begins a line.
    pub fn at_line_start(&self) -> bool {
        self.pending.is_some()
    }

    /// How many columns the current line has.
    pub fn column(&self) -> usize {
        match self.pending {
            Some(indent) => indent,
            None => self.lines.last().map_or(0, |line| line.width),
        }
    }

    fn current(&mut self) -> &mut Line {
        if let Some(indent) = self.pending.take() {
            let text = " ".repeat(indent);
            self.lines.push(Line { text, width: indent, indent, comment: None });
        }
        if self.lines.is_empty() {
            self.lines.push(Line::default());
        }
        let last = self.lines.len() - 1;
        &mut self.lines[last]
    }

    /// Writes a text without line ends, after a blank if `blank` and it does not begin the line.
    pub fn text(&mut self, text: &str, blank: bool) {
        let blank = blank && !self.at_line_start();
        let line = self.current();
        if blank {
            line.text.push(' ');
            line.width += 1;
        }
        line.text.push_str(text);
        line.width += width_of(text);
    }

    /// Writes a comment; its further lines keep their place below its first one.
    pub fn remark(&mut self, remark: &Remark<'_>) {
        if remark.is_line {
            let begins = self.at_line_start();
            let line = self.current();
            if begins && !remark.continued {
                line.text.push_str(remark.text);
                line.width += width_of(remark.text);
            } else {
                line.comment = Some((remark.text.to_owned(), remark.continued));
            }
            return;
        }
        let mut lines = remark.text.split('\n').flat_map(|line| {
            // A carriage return alone ends a line too.
            line.strip_suffix('\r').unwrap_or(line).split('\r')
        });
        let first = lines.next().unwrap_or("").trim_end();
        self.text(first, true);
        let column = self.column() - width_of(first);
        for line in lines {
            let content = line.trim_matches(is_blank);
            if content.is_empty() {
                self.lines.push(Line::default());
                continue;
            }
            let before = &line[..line.len() - line.trim_start_matches(is_blank).len()];
            self.break_line((columns(before) + column).saturating_sub(remark.column));
            self.text(content, false);
        }
    }

    /// Everything that was written, with the comments of adjacent lines in one column.
    pub fn finish(mut self) -> String {
        let belongs = |first: &Line, second: &Line| {
            let alone = |line: &Line| {
                let text = line.text.trim_start();
                text.starts_with(['}', ')']) || text.ends_with(['{', '('])
            };
            let continued = second.comment.as_ref().is_some_and(|(_, continued)| *continued);
            let aligned = first.indent == second.indent && !alone(first) && !alone(second);
            first.comment.is_some() && second.comment.is_some() && (continued || aligned)
        };
        let mut text = String::new();
        while self.lines.last().is_some_and(|last| last.width == 0 && last.comment.is_none()) {
            self.lines.pop();
        }
        for group in self.lines.chunk_by(belongs) {
            let column = group.iter().map(|line| line.width).max().unwrap_or(0) + 1;
            let fits = group.iter().all(|line| {
                let comment = line.comment.as_ref().map_or(0, |(comment, _)| width_of(comment));
                column + comment <= LINE_WIDTH
            });
            let mut above = column;
            for line in group {
                text.push_str(line.text.trim_end());
                if let Some((comment, continued)) = &line.comment {
                    let width = match line.text.trim().is_empty() {
                        true => 0,
                        false => line.width,
                    };
                    // A comment that goes on stands below what it goes on with in any case.
                    let place = match (fits, continued) {
                        (true, _) => column,
                        (false, true) => above,
                        (false, false) => line.width + 1,
                    };
                    above = place;
                    text.extend(std::iter::repeat_n(' ', place.saturating_sub(width)));
                    text.push_str(comment);
                }
                text.push('\n');
            }
        }
        text
    }
}

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t')
}

/// The indentation one level deeper.
pub(super) fn deeper(indent: usize) -> usize {
    // Deep nesting leaves no line unreadable for it.
    if indent >= LINE_WIDTH { indent } else { indent + INDENT_WIDTH }
}
