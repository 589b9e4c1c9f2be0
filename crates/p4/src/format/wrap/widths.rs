// SPDX-License-Identifier: Apache-2.0
//! The widths of nodes on one line, and of nodes up to the next possible line end. `wrap` decides where
//! lines end.

use super::{Break, Node, NodeKind, SHORT_ELEMENT};
use source::layout::LINE_WIDTH;

/// Columns of nodes on one line, or something above `enough`.
pub(super) fn flat_width(nodes: &[Node], enough: usize) -> usize {
    let mut width = 0;
    for (at, node) in nodes.iter().enumerate() {
        width += node.width + usize::from(at > 0 && node.blank_before);
        if width > enough {
            break;
        }
    }
    width
}

/// Columns up to the next break that is no tighter than `level`.
pub(super) fn width_to_break(nodes: &[Node], level: u8, tail: usize) -> usize {
    let mut width = 0;
    for (at, node) in nodes.iter().enumerate() {
        let ends = match node.break_before {
            Break::No => false,
            Break::Soft(other) => other <= level,
            Break::Body => true,
        };
        if at > 0 && ends {
            return width;
        }
        width += node.width + usize::from(at > 0 && node.blank_before);
        if width > LINE_WIDTH {
            return width;
        }
    }
    width + tail
}

/// Columns up to where the line can next end: before an operator, or inside brackets.
pub(super) fn chunk_width(nodes: &[Node], tail: usize) -> usize {
    let mut width = 0;
    for node in nodes {
        if node.break_before != Break::No {
            return width;
        }
        width += usize::from(node.blank_before);
        if matches!(node.kind, NodeKind::Group { .. }) && node.width > SHORT_ELEMENT {
            return width + 1;
        }
        width += node.width;
        if width > LINE_WIDTH {
            return width;
        }
    }
    width + tail
}

/// Returns a block comment whose lines begin with `*`, with those under its first one.
pub(super) fn aligned_comment(text: &str, column: usize) -> String {
    let starred = text.lines().skip(1).all(|line| line.trim_start().starts_with('*'));
    let mut lines = text.lines().map(str::trim_end);
    let mut aligned = lines.next().unwrap_or("").to_owned();
    for line in lines {
        aligned.push('\n');
        if starred {
            aligned.extend(std::iter::repeat_n(' ', column + 1));
            aligned.push_str(line.trim_start());
        } else {
            aligned.push_str(line);
        }
    }
    aligned
}
