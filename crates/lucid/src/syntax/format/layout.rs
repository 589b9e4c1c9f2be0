// SPDX-License-Identifier: Apache-2.0
//! Items, bodies and comments, line by line. A body takes lines of its own unless it is one statement
//! that was written on the line of what it belongs to. How one long line is broken is in `wrap`.

use super::super::token::Role;
use super::LINE_WIDTH;
use super::pieces::{Piece, Remark};
use super::spacing::blank_between;
use super::structure::{Block, Node, first_of, flat_width, last_of};
use super::writer::{Writer, deeper};

/// The text of a whole file.
pub(super) fn write(pieces: &[Piece<'_>], items: &[Vec<Node>]) -> String {
    let mut layout = Layout { pieces, writer: Writer::new(), trailing_done: 0, leading_done: 0 };
    layout.items(items, 0);
    if let Some(end) = pieces.len().checked_sub(1) {
        layout.remarks_on_lines(end, 0, items.is_empty());
    }
    layout.writer.finish()
}

pub(super) struct Layout<'p, 't> {
    pub pieces: &'p [Piece<'t>],
    pub writer: Writer,
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
            let stays = self.remarks_on_lines(first, indent, at == 0);
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
    fn remarks_on_lines(&mut self, at: usize, indent: usize, is_first: bool) -> bool {
        self.remarks_behind(at, indent);
        if self.leading_done > at {
            return false;
        }
        self.leading_done = at + 1;
        let pieces = self.pieces;
        let mut stays = false;
        for (index, remark) in pieces[at].leading.iter().enumerate() {
            if !stays {
                self.writer.break_line(indent);
                if remark.lines_before > 1 && !(is_first && index == 0) {
                    self.writer.blank_line();
                }
            }
            self.writer.remark(remark);
            stays = !remark.is_line && lines_behind(&pieces[at], index) == 0;
        }
        stays
    }

    /// The comments that are left behind the tokens before this one.
    pub fn remarks_behind(&mut self, at: usize, indent: usize) {
        let pieces = self.pieces;
        while self.trailing_done < at {
            for remark in &pieces[self.trailing_done].trailing {
                self.beside(remark, indent);
            }
            self.trailing_done += 1;
        }
    }

    /// A comment behind a token on its line.
    fn beside(&mut self, remark: &Remark<'_>, indent: usize) {
        if remark.continued {
            self.writer.break_line(indent);
        }
        self.writer.remark(remark);
        if remark.is_line {
            self.writer.break_line(indent);
        }
    }

    /// The comments that are left before this token, in the middle of an item. Lines that they end go
    /// on with this indentation.
    pub fn remarks_between(&mut self, at: usize, indent: usize) {
        self.remarks_behind(at, indent);
        if self.leading_done > at {
            return;
        }
        self.leading_done = at + 1;
        let pieces = self.pieces;
        for (index, remark) in pieces[at].leading.iter().enumerate() {
            if remark.lines_before > 0 {
                self.writer.break_line(indent);
            }
            self.writer.remark(remark);
            if remark.is_line || lines_behind(&pieces[at], index) > 0 {
                self.writer.break_line(indent);
            }
        }
    }

    /// A token with the comments before it. `indent` is for lines that comments end.
    pub fn token(&mut self, at: usize, indent: usize) {
        self.remarks_between(at, indent);
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
                let stays = self.remarks_on_lines(first_of(&nodes[from]), indent, true);
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
                self.remarks_between(first_of(first), indent);
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
        self.remarks_behind(block.open + 1, inner);
        self.items(&block.items, inner);
        self.remarks_on_lines(block.close, inner, block.items.is_empty());
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
