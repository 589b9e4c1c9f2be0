// SPDX-License-Identifier: Apache-2.0
//! Where a line that is too long is broken: in its last parentheses, behind its `=`, or before its
//! loosest operators.

use super::super::token::{Role, TokenKind};
use super::layout::{Layout, deeper};
use super::structure::{Group, Node, first_of, flat_width, last_of};
use source::layout::{LINE_WIDTH, width_of};

/// The longest word of lists that fill their lines.
const MAX_ATOM_WIDTH: usize = 24;

impl Layout<'_, '_> {
    /// Nodes without bodies, with so many columns behind them.
    pub fn run(&mut self, nodes: &[Node], indent: usize, reserve: usize) {
        if self.fits(nodes, reserve) {
            return self.flat(nodes, deeper(indent));
        }
        let is_assign = |node: &Node| matches!(node, Node::Token(at) if self.pieces[*at].kind == TokenKind::Assign);
        match nodes.iter().position(is_assign) {
            Some(at) if at + 1 < nodes.len() => {
                let (left, right) = nodes.split_at(at + 1);
                self.groups(left, indent, 0);
                self.assigned(right, indent, reserve);
            }
            _ => self.broken(nodes, indent, deeper(indent), reserve),
        }
    }

    /// The value behind `=` that does not fit on its line.
    fn assigned(&mut self, nodes: &[Node], indent: usize, reserve: usize) {
        let group = nodes.iter().rposition(|node| self.is_breakable(node));
        let stays = group.is_some_and(|at| {
            let (head, tail) = (&nodes[..at], &nodes[at + 1..]);
            !nodes.iter().any(|node| self.is_binary(node))
                && (head.is_empty() || self.fits(head, 1))
                && flat_width(self.pieces, tail).is_some()
        });
        if stays {
            return self.groups(nodes, indent, reserve);
        }
        let inner = deeper(indent);
        self.comments_behind(first_of(&nodes[0]), inner);
        self.writer.break_line(inner);
        if self.fits(nodes, reserve) {
            self.flat(nodes, inner);
        } else {
            self.broken(nodes, inner, inner, reserve);
        }
    }

    fn is_binary(&self, node: &Node) -> bool {
        matches!(node, Node::Token(at) if self.pieces[*at].role == Role::Binary)
    }

    /// Nodes that do not fit on the line: broken before the loosest operators if there are any, else in
    /// parentheses. Lines behind the first are indented by `further`.
    fn broken(&mut self, nodes: &[Node], indent: usize, further: usize, reserve: usize) {
        let level = |node: &Node| looseness(self.pieces[first_of(node)].kind);
        let Some(loosest) = nodes.iter().filter(|node| self.is_binary(node)).map(level).max()
        else {
            return self.groups(nodes, indent, reserve);
        };
        let splits: Vec<usize> = (1..nodes.len())
            .filter(|at| self.is_binary(&nodes[*at]) && level(&nodes[*at]) == loosest)
            .chain([nodes.len()])
            .collect();
        let mut from = 0;
        for at in splits {
            let part = &nodes[from..at];
            if from > 0 {
                self.comments_behind(first_of(&part[0]), further);
                self.writer.break_line(further);
            }
            let behind = if at == nodes.len() { reserve } else { 0 };
            if self.fits(part, behind) {
                self.flat(part, further);
            } else if from > 0 && part.len() > 1 {
                // The line break comes before the operator.
                self.token(first_of(&part[0]), further);
                self.broken(&part[1..], further, deeper(further), behind);
            } else {
                self.broken(part, indent, deeper(further), behind);
            }
            from = at;
        }
    }

    /// Whether a node is a group with something in it.
    fn is_breakable(&self, node: &Node) -> bool {
        matches!(node, Node::Group(group) if !group.elements.is_empty() || group.flat.is_none())
    }

    /// Nodes of which, if they do not fit, one group is broken: the last one before which everything
    /// fits on the line.
    fn groups(&mut self, nodes: &[Node], indent: usize, reserve: usize) {
        if self.fits(nodes, reserve) {
            return self.flat(nodes, deeper(indent));
        }
        let mut chosen = None;
        for (at, node) in nodes.iter().enumerate().filter(|(_, node)| self.is_breakable(node)) {
            if chosen.is_none() || self.fits(&nodes[..at], 1) {
                chosen = Some(at);
            }
            if matches!(node, Node::Group(group) if group.flat.is_none()) {
                break;
            }
        }
        let Some((head, [Node::Group(group), tail @ ..])) = chosen.map(|at| nodes.split_at(at))
        else {
            return self.flat(nodes, deeper(indent));
        };
        self.flat(head, deeper(indent));
        self.group(group, indent);
        if !tail.is_empty() {
            self.groups(tail, indent, reserve);
        }
    }

    /// A group with its elements on lines of their own.
    fn group(&mut self, group: &Group, indent: usize) {
        let inner = deeper(indent);
        self.token(group.open, inner);
        self.comments_behind(group.open + 1, inner);
        self.writer.break_line(inner);
        // The author put these on separate lines.
        let is_record = self.pieces[group.open].role == Role::RecordOpen && group.flat.is_none();
        let together = !is_record && self.fit_together(group, inner);
        let filled = !is_record
            && group.elements.len() > 4
            && group.elements.iter().all(|element| self.is_atom(element));
        for (at, element) in group.elements.iter().enumerate() {
            let Some(first) = element.first().map(first_of) else { continue };
            self.comments_behind(first, inner);
            if at > 0 && !together && !(filled && self.fits(element, 0)) {
                self.writer.break_line(inner);
            }
            self.comments_between(first, inner);
            if self.fits(element, 0) {
                self.flat(element, inner);
            } else {
                self.broken(element, inner, deeper(inner), 0);
            }
        }
        self.comments_between(group.close, inner);
        self.writer.break_line(indent);
        self.writer.text(self.pieces[group.close].text, false);
    }

    /// Whether all elements fit on one line of their own.
    fn fit_together(&self, group: &Group, indent: usize) -> bool {
        if !self.pieces[group.close].leading.is_empty() {
            return false;
        }
        let mut column = indent;
        for element in &group.elements {
            let (Some(first), Some(last)) = (element.first(), element.last()) else { continue };
            let bare = self.pieces[first_of(first)].leading.is_empty()
                && self.pieces[last_of(last)].trailing.is_empty();
            match flat_width(self.pieces, element).filter(|_| bare) {
                Some(width) => column += width + 1,
                None => return false,
            }
        }
        column <= LINE_WIDTH + 1
    }

    /// Whether an element is one short word or number.
    fn is_atom(&self, element: &[Node]) -> bool {
        let is_separator = |node: &Node| {
            matches!(self.pieces[first_of(node)].kind, TokenKind::Comma | TokenKind::Semicolon)
        };
        let mut words = element.iter().filter(|node| !is_separator(node));
        let (Some(Node::Token(at)), None) = (words.next(), words.next()) else { return false };
        let piece = &self.pieces[*at];
        piece.leading.is_empty() && width_of(piece.text) <= MAX_ATOM_WIDTH
    }
}

/// More for operators that bind less tightly.
fn looseness(kind: TokenKind) -> u8 {
    match kind {
        TokenKind::AndAnd | TokenKind::OrOr => 5,
        TokenKind::EqualEqual
        | TokenKind::NotEqual
        | TokenKind::Less
        | TokenKind::Greater
        | TokenKind::LessEqual
        | TokenKind::GreaterEqual => 4,
        TokenKind::Plus
        | TokenKind::Minus
        | TokenKind::SaturatingPlus
        | TokenKind::SaturatingMinus => 3,
        TokenKind::Caret => 2,
        TokenKind::Mask => 0,
        _ => 1,
    }
}
