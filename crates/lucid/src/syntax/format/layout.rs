// SPDX-License-Identifier: Apache-2.0
//! Items, bodies and comments, line by line. A body gets separate lines unless it is one statement
//! that was written on the line of what it belongs to. How one long line is broken is in `wrap`.

use super::super::token::Role;
use super::pieces::{Piece, PlacedComment, columns};
use super::spacing::blank_between;
use super::structure::{Block, Node, first_of, flat_width, last_of};
use source::layout::{INDENT_WIDTH, LINE_WIDTH, LineWriter};

/// Returns the text of a whole file.
pub(super) fn write(pieces: &[Piece<'_>], items: &[Vec<Node>]) -> String {
    let mut layout =
        Layout { pieces, writer: LineWriter::default(), trailing_done: 0, leading_done: 0 };
    layout.items(items, 0);
    if let Some(end) = pieces.len().checked_sub(1) {
        layout.comments_on_lines(end, 0, items.is_empty());
    }
    layout.writer.finish()
}

pub(super) struct Layout<'p, 't> {
    pub pieces: &'p [Piece<'t>],
    pub writer: LineWriter,
    /// The comments behind the tokens before this one are written.
    trailing_done: usize,
    /// The comments before the tokens before this one are written.
    leading_done: usize,
}

impl<'p, 't> Layout<'p, 't> {
    /// Items, each from the start of a line.
    fn items(&mut self, items: &[Vec<Node>], indent: usize) {
        for (at, item) in items.iter().enumerate() {
            let Some(first) = item.first().map(first_of) else { continue };
            let stays = self.comments_on_lines(first, indent, at == 0);
            let piece = &self.pieces[first];
            if !stays {
                self.writer.break_line(indent);
                if piece.lines_before > 1 && !(at == 0 && piece.leading.is_empty()) {
                    self.writer.blank_line();
                }
            }
            self.item(item, indent);
        }
    }

    /// The comments before something that begins a line, each on its own. Whether the last one was
    /// written on the line of what follows.
    fn comments_on_lines(&mut self, at: usize, indent: usize, is_first: bool) -> bool {
        self.comments_behind(at, indent);
        if self.leading_done > at {
            return false;
        }
        self.leading_done = at + 1;
        let pieces = self.pieces;
        let mut stays = false;
        for (index, comment) in pieces[at].leading.iter().enumerate() {
            if !stays {
                self.writer.break_line(indent);
                if comment.lines_before > 1 && !(is_first && index == 0) {
                    self.writer.blank_line();
                }
            }
            write_comment(&mut self.writer, comment);
            stays = !comment.is_line && lines_behind(&pieces[at], index) == 0;
        }
        stays
    }

    /// The comments that are left behind the tokens before this one.
    pub fn comments_behind(&mut self, at: usize, indent: usize) {
        let pieces = self.pieces;
        while self.trailing_done < at {
            for comment in &pieces[self.trailing_done].trailing {
                self.beside(comment, indent);
            }
            self.trailing_done += 1;
        }
    }

    /// A comment behind a token on its line.
    fn beside(&mut self, comment: &PlacedComment<'_>, indent: usize) {
        if comment.continued {
            self.writer.break_line(indent);
        }
        write_comment(&mut self.writer, comment);
        if comment.is_line {
            self.writer.break_line(indent);
        }
    }

    /// The comments that are left before this token, in the middle of an item. Lines that they end go
    /// on with this indentation.
    pub fn comments_between(&mut self, at: usize, indent: usize) {
        self.comments_behind(at, indent);
        if self.leading_done > at {
            return;
        }
        self.leading_done = at + 1;
        let pieces = self.pieces;
        for (index, comment) in pieces[at].leading.iter().enumerate() {
            if comment.lines_before > 0 {
                self.writer.break_line(indent);
            }
            write_comment(&mut self.writer, comment);
            if comment.is_line || lines_behind(&pieces[at], index) > 0 {
                self.writer.break_line(indent);
            }
        }
    }

    /// A token with the comments before it. `indent` is for lines that comments end.
    pub fn token(&mut self, at: usize, indent: usize) {
        self.comments_between(at, indent);
        let piece = &self.pieces[at];
        let follows_comment = !piece.leading.is_empty()
            || at.checked_sub(1).is_some_and(|before| !self.pieces[before].trailing.is_empty());
        let blank = follows_comment
            || at.checked_sub(1).is_some_and(|before| blank_between(&self.pieces[before], piece));
        self.writer.text(piece.text, blank);
    }

    /// An item from here to its end.
    fn item(&mut self, nodes: &[Node], indent: usize) {
        let is_branch =
            |node: &Node| matches!(node, Node::Token(at) if self.pieces[*at].role == Role::Branch);
        let branches: Vec<usize> = (1..nodes.len()).filter(|at| is_branch(&nodes[*at])).collect();
        let mut from = 0;
        for to in branches.into_iter().chain([nodes.len()]) {
            if from > 0 {
                let stays = self.comments_on_lines(first_of(&nodes[from]), indent, true);
                if !stays {
                    self.writer.break_line(indent);
                }
            }
            self.chunk(&nodes[from..to], indent);
            from = to;
        }
    }

    /// A statement, or a branch of one.
    fn chunk(&mut self, nodes: &[Node], indent: usize) {
        let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else { return };
        let was_one_line = self.pieces[first_of(first)].line == self.pieces[last_of(last)].line;
        if was_one_line && self.fits(nodes, 0) {
            self.flat(nodes, indent);
            return;
        }
        let mut rest = nodes;
        while !rest.is_empty() {
            let end = rest.iter().position(|node| self.stands_apart(node)).unwrap_or(rest.len());
            let (run, others) = rest.split_at(end);
            // ` {` follows.
            let reserve = if others.is_empty() { 0 } else { 2 };
            if let Some(first) = run.first() {
                self.comments_between(first_of(first), indent);
                self.run(run, indent, reserve);
            }
            let Some((Node::Block(block), others)) = others.split_first() else { break };
            self.block(block, indent);
            rest = others;
        }
    }

    /// Whether a node is a body that takes lines of its own.
    fn stands_apart(&self, node: &Node) -> bool {
        match node {
            Node::Block(block) if block.is_type => block.flat.is_none(),
            Node::Block(block) => block.flat.is_none() || !block.items.is_empty(),
            Node::Token(_) | Node::Group(_) => false,
        }
    }

    /// Whether nodes fit on the rest of the line with so many columns behind them.
    pub fn fits(&self, nodes: &[Node], reserve: usize) -> bool {
        let Some(first) = nodes.first().map(first_of) else { return true };
        let before = first.checked_sub(1).filter(|_| !self.writer.at_line_start());
        let blank =
            before.is_some_and(|before| blank_between(&self.pieces[before], &self.pieces[first]));
        let is_first_free = self.leading_done > first || self.pieces[first].leading.is_empty();
        let width = flat_width(self.pieces, nodes).filter(|_| is_first_free);
        width.is_some_and(|width| {
            self.writer.column() + usize::from(blank) + width + reserve <= LINE_WIDTH
        })
    }

    /// A body on lines of its own.
    fn block(&mut self, block: &Block, indent: usize) {
        let inner = deeper(indent);
        self.token(block.open, indent);
        self.comments_behind(block.open + 1, inner);
        self.items(&block.items, inner);
        self.comments_on_lines(block.close, inner, block.items.is_empty());
        self.writer.break_line(indent);
        self.writer.text(self.pieces[block.close].text, false);
    }

    /// Nodes one behind the other, on one line but for comments.
    pub fn flat(&mut self, nodes: &[Node], indent: usize) {
        for node in nodes {
            let (open, close, lists) = match node {
                Node::Token(at) => {
                    self.token(*at, indent);
                    continue;
                }
                Node::Group(group) => (group.open, group.close, &group.elements),
                Node::Block(block) => (block.open, block.close, &block.items),
            };
            self.token(open, indent);
            for list in lists {
                self.flat(list, indent);
            }
            self.token(close, indent);
        }
    }
}

/// Line ends between a comment before a token and what follows it.
fn lines_behind(piece: &Piece<'_>, index: usize) -> usize {
    piece.leading.get(index + 1).map_or(piece.lines_before, |next| next.lines_before)
}

/// Writes a comment; its further lines keep their place below its first one.
fn write_comment(writer: &mut LineWriter, comment: &PlacedComment<'_>) {
    let begins = writer.at_line_start();
    if comment.is_line {
        match begins && !comment.continued {
            true => writer.text(comment.text, false),
            false => writer.trailing_comment(comment.text, comment.continued),
        }
        return;
    }
    let column = writer.column() + usize::from(!begins);
    let is_blank = |character| matches!(character, ' ' | '\t');
    // A carriage return alone ends a line too.
    let lines = comment.text.split('\n');
    let mut lines = lines.flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'));
    let mut shifted = lines.next().unwrap_or("").trim_end().to_owned();
    for line in lines {
        shifted.push('\n');
        let content = line.trim_matches(is_blank);
        if !content.is_empty() {
            let before = &line[..line.len() - line.trim_start_matches(is_blank).len()];
            let indent = (columns(before) + column).saturating_sub(comment.column);
            shifted.extend(std::iter::repeat_n(' ', indent));
            shifted.push_str(content);
        }
    }
    writer.verbatim(&shifted, true);
}

/// Returns the indentation one level deeper. Beyond the width of a line it does not grow.
pub(super) fn deeper(indent: usize) -> usize {
    if indent >= LINE_WIDTH { indent } else { indent + INDENT_WIDTH }
}
