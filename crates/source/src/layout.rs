// SPDX-License-Identifier: Apache-2.0
//! What source formatters share: the widths of lines, a writer of indented lines that aligns
//! trailing comments, and formatting until the text is stable. Where lines break is each language's.

use crate::{Code, Diagnostic, Diagnostics, FileId, Span};

/// Columns after which a line is broken, where it can be.
pub const LINE_WIDTH: usize = 100;

/// Columns of one level of indentation.
pub const INDENT_WIDTH: usize = 4;

/// The limit of formatting passes over one text.
const MAX_ROUNDS: usize = 6;

/// Returns the columns of a text without line ends.
pub fn width_of(text: &str) -> usize {
    text.chars().count()
}

/// Counts the line ends in a text: `\n`, `\r\n`, or a `\r` alone.
pub fn line_ends(text: &str) -> usize {
    let bytes = text.as_bytes();
    let ends = |at: &usize| match bytes[*at] {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    };
    (0..bytes.len()).filter(ends).count()
}

/// Formats `formatted` again until it stays the same.
///
/// # Errors
///
/// Returns the errors of `format`, or an error with `code` if the text does not become stable.
pub fn until_stable(
    mut formatted: String,
    code: Code,
    format: impl Fn(&str) -> Result<String, Diagnostics>,
) -> Result<String, Diagnostics> {
    for _ in 0..MAX_ROUNDS {
        let again = format(&formatted)?;
        if again == formatted {
            return Ok(formatted);
        }
        formatted = again;
    }
    Err(formatter_fault(code, "the layout of this text does not settle, so it is left as it is"))
}

/// Reports a fault of the formatter, which leaves the text as it is.
pub fn formatter_fault(code: Code, message: &str) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(
        Diagnostic::error(code, Span::new(FileId(0), 0, 0), message)
            .note("this is a mistake of the formatter; please report it with the file"),
    );
    diagnostics
}

/// A line of the output.
#[derive(Debug, Default)]
struct Line {
    text: String,
    /// Columns of `text`.
    width: usize,
    /// Columns of indentation.
    indent: usize,
    comment: Option<TrailingComment>,
    /// The line is written to the byte, with blanks at its end.
    is_verbatim: bool,
    /// The line opens or closes a block, so its comment is not aligned with those of other lines.
    is_block_edge: bool,
}

/// A `// ...` at the end of a line.
#[derive(Debug)]
struct TrailingComment {
    text: String,
    /// It continues the comment of the line above.
    is_continued: bool,
}

impl Line {
    fn is_blank(&self) -> bool {
        self.width == 0 && self.comment.is_none() && !self.is_verbatim
    }
}

/// Writes indented lines and aligns the comments at the ends of adjacent ones.
#[derive(Debug, Default)]
pub struct LineWriter {
    lines: Vec<Line>,
    /// The next text begins a line with this indentation, in columns.
    pending: Option<usize>,
}

impl LineWriter {
    /// Ends the line, if something is written on it; the next one is indented by `indent` columns.
    pub fn break_line(&mut self, indent: usize) {
        self.pending = Some(indent);
    }

    /// Adds an empty line, unless there is one or nothing is written yet.
    pub fn blank_line(&mut self) {
        if self.lines.last().is_some_and(|last| !last.is_blank()) {
            self.lines.push(Line::default());
        }
    }

    /// Whether the next text begins a line.
    pub fn at_line_start(&self) -> bool {
        self.pending.is_some() || self.lines.is_empty()
    }

    /// Returns how many columns the current line has.
    pub fn column(&self) -> usize {
        self.pending.unwrap_or_else(|| self.lines.last().map_or(0, |line| line.width))
    }

    /// Returns the indentation of the current line, in columns.
    pub fn indent(&self) -> usize {
        self.pending.unwrap_or_else(|| self.lines.last().map_or(0, |line| line.indent))
    }

    fn current(&mut self) -> &mut Line {
        if self.at_line_start() {
            let indent = self.pending.take().unwrap_or(0);
            let text = " ".repeat(indent);
            self.lines.push(Line { text, width: indent, indent, ..Line::default() });
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

    /// Writes a text whose further lines are kept to the byte, without indentation.
    pub fn verbatim(&mut self, text: &str, blank: bool) {
        for (at, part) in text.split('\n').enumerate() {
            let indent = self.indent();
            if at > 0 {
                self.lines.push(Line { indent, ..Line::default() });
            }
            self.text(part, blank && at == 0);
            self.current().is_verbatim = true;
        }
    }

    /// Writes a `// ...` behind the text of the current line; one that `is_continued` goes on with
    /// the comment of the line above and stands under it.
    pub fn trailing_comment(&mut self, text: &str, is_continued: bool) {
        let comment = TrailingComment { text: text.to_owned(), is_continued };
        self.current().comment = Some(comment);
    }

    /// Returns the text, with the comments of adjacent lines of one indentation in one column where
    /// they fit.
    pub fn finish(mut self) -> String {
        while self.lines.last().is_some_and(Line::is_blank) {
            self.lines.pop();
        }
        let mut above = (0, false);
        for line in &mut self.lines {
            let Some(comment) = &line.comment else { continue };
            if comment.is_continued {
                (line.indent, line.is_block_edge) = above;
            } else {
                let text = line.text.trim();
                line.is_block_edge = text.starts_with(['}', ')']) || text.ends_with(['{', '(']);
            }
            above = (line.indent, line.is_block_edge);
        }
        let are_aligned = |first: &Line, second: &Line| {
            let (Some(_), Some(comment)) = (&first.comment, &second.comment) else { return false };
            let are_alike =
                first.indent == second.indent && !first.is_block_edge && !second.is_block_edge;
            comment.is_continued || are_alike
        };
        let mut text = String::new();
        for group in self.lines.chunk_by(are_aligned) {
            write_aligned(&mut text, group);
        }
        text
    }
}

/// Writes lines whose comments share a column if all of them fit.
fn write_aligned(out: &mut String, group: &[Line]) {
    let column = group.iter().map(|line| line.width).max().unwrap_or(0) + 1;
    let fits = group.iter().all(|line| {
        column + line.comment.as_ref().map_or(0, |comment| width_of(&comment.text)) <= LINE_WIDTH
    });
    let mut above = column;
    for line in group {
        let text = if line.is_verbatim { &line.text } else { line.text.trim_end() };
        out.push_str(text);
        if let Some(comment) = &line.comment {
            above = match (fits, comment.is_continued) {
                (true, _) => column,
                (false, true) => above,
                (false, false) => line.width + 1,
            };
            out.extend(std::iter::repeat_n(' ', above.saturating_sub(width_of(text))));
            out.push_str(&comment.text);
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_of_adjacent_lines_share_a_column_and_continued_ones_stand_below() {
        let mut writer = LineWriter::default();
        for (text, comment) in [("a;", "// first"), ("longer;", "// second")] {
            writer.break_line(4);
            writer.text(text, false);
            writer.trailing_comment(comment, false);
        }
        writer.break_line(0);
        writer.trailing_comment("// continued", true);
        writer.break_line(0);
        writer.text("}", false);
        writer.trailing_comment("// the end", false);
        let expected =
            "    a;      // first\n    longer; // second\n            // continued\n} // the end\n";
        assert_eq!(writer.finish(), expected);
    }

    #[test]
    fn verbatim_text_keeps_blanks_and_others_lose_them() {
        let mut writer = LineWriter::default();
        writer.text("a ", false);
        writer.blank_line();
        writer.blank_line();
        writer.break_line(0);
        writer.verbatim("#if X \n  kept ", false);
        assert_eq!(writer.finish(), "a\n\n#if X \n  kept \n");
    }

    #[test]
    fn a_layout_that_does_not_settle_is_an_error() {
        let longer = |text: &str| Ok(format!("{text} "));
        assert!(until_stable("x".to_owned(), Code("X-E0001"), longer).is_err());
        assert_eq!(
            until_stable("x".to_owned(), Code("X-E0001"), |_| Ok("x".into())),
            Ok("x".into())
        );
    }
}
