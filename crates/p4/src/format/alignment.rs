// SPDX-License-Identifier: Apache-2.0
//! Trailing comments of a list of fields, members or simple statements in one column. Which comments
//! are trailing ones is decided in `pieces`.

use super::LINE_WIDTH;

/// A comment at the end of an output line.
#[derive(Clone, Copy, Debug)]
pub(super) struct TrailingComment {
    pub(super) line_number: usize,
    /// Where it begins in the output.
    pub(super) start: usize,
    /// Indentation of its line.
    pub(super) indent: usize,
    /// Its line opens or closes a block.
    pub(super) alone: bool,
    /// It goes on with the comment above.
    pub(super) continued: bool,
    /// Columns before it.
    pub(super) column: usize,
    /// Columns of the comment itself.
    pub(super) width: usize,
}

/// Whether the line that an output ends with opens or closes a block.
pub(super) fn stands_alone(out: &str) -> bool {
    let line = out.rsplit('\n').next().unwrap_or("").trim();
    line.starts_with(['}', ')']) || line.ends_with(['{', '('])
}

/// Puts the trailing comments of adjacent lines into one column, where all of them fit.
pub(super) fn align_comments(out: &str, comments: &[TrailingComment]) -> String {
    let mut aligned = String::with_capacity(out.len() + comments.len() * 8);
    let mut copied = 0;
    let belongs = |first: &TrailingComment, second: &TrailingComment| {
        second.line_number == first.line_number + 1
            && second.indent == first.indent
            && (second.continued || (!first.alone && !second.alone))
    };
    for group in comments.chunk_by(belongs) {
        let column = group.iter().map(|comment| comment.column).max().unwrap_or(0);
        let fits = group.iter().all(|comment| column + comment.width <= LINE_WIDTH);
        for comment in group {
            aligned.push_str(&out[copied..comment.start]);
            // Continued comments need their column even when the group does not fit.
            if fits || comment.column == 0 {
                let blanks = column.saturating_sub(comment.column);
                aligned.extend(std::iter::repeat_n(' ', blanks));
            }
            copied = comment.start;
        }
    }
    aligned.push_str(&out[copied..]);
    aligned
}
