// SPDX-License-Identifier: Apache-2.0
//! Tokens grouped as they nest: items (statements, declarations, fields) in bodies, elements in
//! parentheses, brackets and braces. Every group stores its width on one line.

use super::super::token::{Role, TokenKind};
use super::pieces::Piece;
use super::spacing::blank_between;
use source::layout::width_of;

/// A part of an item.
#[derive(Debug)]
pub(super) enum Node {
    /// A token by its number.
    Token(usize),
    /// `( ... )`, `[ ... ]`, or the braces of a value.
    Group(Group),
    /// The braces of a body or of a record type.
    Block(Block),
}

/// Parentheses, brackets, or the braces of a value.
#[derive(Debug)]
pub(super) struct Group {
    pub open: usize,
    /// Each with its `,` or `;`.
    pub elements: Vec<Vec<Node>>,
    pub close: usize,
    /// Columns on one line; `None` when a comment or the author breaks it.
    pub flat: Option<usize>,
}

/// The braces of a body or of a record type.
#[derive(Debug)]
pub(super) struct Block {
    pub open: usize,
    pub items: Vec<Vec<Node>>,
    pub close: usize,
    pub is_type: bool,
    /// Columns on one line; `None` when it cannot be on one.
    pub flat: Option<usize>,
}

/// Returns the items of a file; the last piece, its end, is in none.
pub(super) fn structure(pieces: &[Piece<'_>]) -> Vec<Vec<Node>> {
    let mut builder = Builder { pieces, at: 0 };
    let mut items = Vec::new();
    while !builder.at_end() {
        items.push(builder.item());
    }
    items
}

struct Builder<'p, 't> {
    pieces: &'p [Piece<'t>],
    at: usize,
}

impl Builder<'_, '_> {
    fn at_end(&self) -> bool {
        self.at + 1 >= self.pieces.len()
    }

    /// From a beginning to the next.
    fn item(&mut self) -> Vec<Node> {
        let mut nodes = vec![self.node()];
        while !self.at_end() {
            let piece = &self.pieces[self.at];
            if piece.begins || matches!(piece.role, Role::BlockClose | Role::TypeClose) {
                break;
            }
            nodes.push(self.node());
        }
        nodes
    }

    fn node(&mut self) -> Node {
        let piece = &self.pieces[self.at];
        match (piece.role, piece.kind) {
            (Role::BlockOpen | Role::TypeOpen, _) => Node::Block(self.block()),
            (_, TokenKind::OpenParen | TokenKind::OpenBracket | TokenKind::OpenBrace) => {
                Node::Group(self.group())
            }
            _ => {
                self.at += 1;
                Node::Token(self.at - 1)
            }
        }
    }

    fn block(&mut self) -> Block {
        let open = self.at;
        let is_type = self.pieces[open].role == Role::TypeOpen;
        self.at += 1;
        let mut items = Vec::new();
        while !self.at_end()
            && !matches!(self.pieces[self.at].role, Role::BlockClose | Role::TypeClose)
        {
            items.push(self.item());
        }
        let close = self.at.min(self.pieces.len() - 1);
        self.at += 1;
        let mut block = Block { open, items, close, is_type, flat: None };
        block.flat = self.flat_block(&block);
        block
    }

    /// `{}`, `{ return x; }`, `{ int a; int b; }`
    fn flat_block(&self, block: &Block) -> Option<usize> {
        let (open, close) = (&self.pieces[block.open], &self.pieces[block.close]);
        let is_simple = (open.line == close.line || block.items.is_empty())
            && open.trailing.is_empty()
            && close.leading.is_empty()
            && (block.is_type || block.items.len() <= 1);
        if !is_simple {
            return None;
        }
        let mut width = 2;
        for item in &block.items {
            if item.iter().any(|node| matches!(node, Node::Block(_))) {
                return None;
            }
            if has_trailing(self.pieces, item) {
                return None;
            }
            width += 1 + flat_width(self.pieces, item)?;
        }
        Some(if block.items.is_empty() { width } else { width + 1 })
    }

    fn group(&mut self) -> Group {
        let open = self.at;
        self.at += 1;
        let mut elements = Vec::new();
        let mut element = Vec::new();
        while !self.at_end() {
            match self.pieces[self.at].kind {
                TokenKind::CloseParen | TokenKind::CloseBracket | TokenKind::CloseBrace => break,
                TokenKind::Comma | TokenKind::Semicolon => {
                    element.push(self.node());
                    elements.push(std::mem::take(&mut element));
                }
                _ => element.push(self.node()),
            }
        }
        if !element.is_empty() {
            elements.push(element);
        }
        let close = self.at.min(self.pieces.len() - 1);
        self.at += 1;
        let mut group = Group { open, elements, close, flat: None };
        group.flat = self.flat_group(&group);
        group
    }

    fn flat_group(&self, group: &Group) -> Option<usize> {
        let (open, close) = (&self.pieces[group.open], &self.pieces[group.close]);
        if !open.trailing.is_empty() || !close.leading.is_empty() {
            return None;
        }
        // Fields that the author put on separate lines stay there.
        let first = self.pieces.get(group.open + 1);
        if open.role == Role::RecordOpen
            && !group.elements.is_empty()
            && first.is_some_and(|piece| piece.lines_before > 0)
        {
            return None;
        }
        let mut width = 2;
        for (at, element) in group.elements.iter().enumerate() {
            if has_trailing(self.pieces, element) {
                return None;
            }
            width += usize::from(at > 0) + flat_width(self.pieces, element)?;
        }
        Some(width)
    }
}

/// Returns the first token of a node.
pub(super) fn first_of(node: &Node) -> usize {
    match node {
        Node::Token(at) => *at,
        Node::Group(group) => group.open,
        Node::Block(block) => block.open,
    }
}

/// Returns the last token of a node.
pub(super) fn last_of(node: &Node) -> usize {
    match node {
        Node::Token(at) => *at,
        Node::Group(group) => group.close,
        Node::Block(block) => block.close,
    }
}

/// Whether comments follow the last token.
fn has_trailing(pieces: &[Piece<'_>], nodes: &[Node]) -> bool {
    nodes.last().is_some_and(|last| !pieces[last_of(last)].trailing.is_empty())
}

/// Columns of nodes on one line, without the comments before the first and behind the last token;
/// `None` when something between breaks the line.
pub(super) fn flat_width(pieces: &[Piece<'_>], nodes: &[Node]) -> Option<usize> {
    let mut width = 0;
    for (at, node) in nodes.iter().enumerate() {
        let first = first_of(node);
        if at > 0 {
            let before = last_of(&nodes[at - 1]);
            width += usize::from(blank_between(&pieces[before], &pieces[first]));
            width += comments_width(&pieces[before].trailing)?;
            width += comments_width(&pieces[first].leading)?;
        }
        width += match node {
            Node::Token(token) => width_of(pieces[*token].text),
            Node::Group(group) => group.flat?,
            Node::Block(block) => block.flat?,
        };
    }
    Some(width)
}

/// Columns of comments between tokens; `None` when one breaks the line.
fn comments_width(comments: &[super::pieces::PlacedComment<'_>]) -> Option<usize> {
    let mut width = 0;
    for comment in comments {
        if comment.is_line || comment.lines_before > 0 || comment.text.contains(['\n', '\r']) {
            return None;
        }
        width += width_of(comment.text) + 1;
    }
    Some(width)
}
