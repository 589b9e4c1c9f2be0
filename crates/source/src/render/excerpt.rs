// SPDX-License-Identifier: Apache-2.0
//! Which lines of a file, and which part of each, a diagnostic shows. Marks that are close share an
//! excerpt; spans over many lines are shown by their first one; long lines are cut around their
//! marks. How an excerpt is drawn is not decided here.

use crate::{FileId, Label, SourceMap, Span};
use std::ops::Range;
use std::sync::Arc;

/// Marks so many lines apart still share an excerpt.
const NEAR_LINES: usize = 12;
/// A span over more lines than this is shown by its first line.
const SPAN_LINES: usize = 8;
/// Of a longer line, only the part around its marks is shown.
const LINE_CHARACTERS: usize = 200;
/// Columns of a cut line before its first mark.
const BEFORE_CHARACTERS: usize = 80;
/// Replaces the cut part of a line.
const CUT: &str = "...";

/// Something to mark.
pub(super) struct Mark<'a> {
    span: Span,
    text: &'a str,
    primary: bool,
}

impl<'a> Mark<'a> {
    pub fn new(label: &'a Label, primary: bool) -> Mark<'a> {
        Mark { span: label.span, text: &label.text, primary }
    }
}

/// Lines of a file with their marks.
pub(super) struct Excerpt<'a> {
    pub file: Arc<str>,
    /// Where the first or primary mark is, from 1; the column in characters.
    pub line: usize,
    pub column: usize,
    /// The number of the excerpt's first line, from 1.
    pub first_line: usize,
    /// The start of a line is left out, so columns in `text` are not those of the file.
    pub cut: bool,
    pub text: String,
    pub annotations: Vec<ExcerptMark<'a>>,
}

/// A mark in the text of an excerpt.
pub(super) struct ExcerptMark<'a> {
    /// Bytes of the excerpt's text.
    pub range: Range<usize>,
    pub text: &'a str,
    pub primary: bool,
}

/// A mark whose place is known to be sound.
struct Placed<'a> {
    file: FileId,
    bytes: Range<usize>,
    lines: Range<usize>,
    text: &'a str,
    primary: bool,
}

/// The excerpts for all marks, the one with the primary mark first.
pub(super) fn excerpts<'a>(map: &SourceMap, marks: &[Mark<'a>]) -> Vec<Excerpt<'a>> {
    let mut placed: Vec<Placed<'a>> = marks.iter().filter_map(|mark| place(map, mark)).collect();
    let primary_file = placed.iter().find(|mark| mark.primary).map(|mark| mark.file);
    placed.sort_by_key(|mark| (Some(mark.file) != primary_file, mark.file, mark.lines.start));
    let mut groups: Vec<Vec<Placed<'a>>> = Vec::new();
    for mark in placed {
        let near = groups.last().and_then(|group| group.last()).is_some_and(|last| {
            last.file == mark.file && mark.lines.start <= last.lines.end + NEAR_LINES
        });
        match groups.last_mut() {
            Some(group) if near => group.push(mark),
            _ => groups.push(vec![mark]),
        }
    }
    groups.sort_by_key(|group| !group.iter().any(|mark| mark.primary));
    groups.into_iter().filter_map(|group| excerpt(map, group)).collect()
}

/// Moves a mark to a sound place: inside the text, at the starts of characters, not too long. The
/// end of a file that ends with a line end becomes the end of its last line with text.
fn place<'a>(map: &SourceMap, mark: &Mark<'a>) -> Option<Placed<'a>> {
    let file = mark.span.file;
    if mark.span.is_none() || file.0 as usize >= map.file_count() {
        return None;
    }
    let text = map.text(file);
    let mut start = boundary_before(text, mark.span.start as usize);
    if start == text.len() {
        start = text.trim_end().len();
    }
    let mut end = boundary_before(text, mark.span.end as usize).max(start);
    let first = map.line_index(file, start as u32);
    // A span that ends with a line end belongs to the line before it.
    let mut last = map.line_index(file, end.saturating_sub(1).max(start) as u32);
    if last - first >= SPAN_LINES {
        last = first;
    }
    let last_line = map.line_range(file, last);
    start = start.min(map.line_range(file, first).end);
    end = end.min(last_line.end).max(start);
    Some(Placed {
        file,
        bytes: start..end,
        lines: first..last + 1,
        text: mark.text,
        primary: mark.primary,
    })
}

fn boundary_before(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn excerpt<'a>(map: &SourceMap, group: Vec<Placed<'a>>) -> Option<Excerpt<'a>> {
    let file = group.first()?.file;
    let whole = map.text(file);
    let first = group.iter().map(|mark| mark.lines.start).min()?;
    let end = group.iter().map(|mark| mark.lines.end).max()?;
    let lead = group.iter().find(|mark| mark.primary).or(group.first())?;
    let lead_line = map.line_range(file, lead.lines.start);
    let column = whole[lead_line.start..lead.bytes.start].chars().count() + 1;
    let line = lead.lines.start + 1;
    let mut ranges: Vec<Range<usize>> = vec![0..0; group.len()];
    let mut text = String::new();
    let mut any_cut = false;
    for line in first..end {
        let bounds = map.line_range(file, line);
        let first_mark = group
            .iter()
            .filter(|mark| mark.lines.start == line)
            .map(|mark| mark.bytes.start)
            .min()
            .unwrap_or(bounds.start);
        let shown = cut(whole, bounds.clone(), first_mark);
        if shown.start > bounds.start {
            text.push_str(CUT);
            any_cut = true;
        }
        let at = text.len();
        text.push_str(&whole[shown.clone()]);
        let moved = |offset: usize| at + offset.clamp(shown.start, shown.end) - shown.start;
        for (range, mark) in ranges.iter_mut().zip(&group) {
            if mark.lines.start == line {
                range.start = moved(mark.bytes.start);
            }
            if mark.lines.end == line + 1 {
                range.end = moved(mark.bytes.end).max(range.start);
            }
        }
        if shown.end < bounds.end {
            text.push_str(CUT);
        }
        text.push('\n');
    }
    let annotations = group
        .into_iter()
        .zip(ranges)
        .map(|(mark, range)| ExcerptMark { range, text: mark.text, primary: mark.primary })
        .collect();
    Some(Excerpt {
        file: map.name(file).clone(),
        line,
        column,
        first_line: first + 1,
        cut: any_cut,
        text,
        annotations,
    })
}

/// The part of a line to show.
fn cut(text: &str, line: Range<usize>, first_mark: usize) -> Range<usize> {
    if line.len() <= LINE_CHARACTERS {
        return line;
    }
    let before = &text[line.start..first_mark];
    let start = before
        .char_indices()
        .rev()
        .nth(BEFORE_CHARACTERS - 1)
        .map_or(line.start, |(at, _)| line.start + at);
    let end = text[start..line.end]
        .char_indices()
        .nth(LINE_CHARACTERS)
        .map_or(line.end, |(at, _)| start + at);
    start..end
}
