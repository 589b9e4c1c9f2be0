// SPDX-License-Identifier: Apache-2.0
//! From lines to text: a line that does not fit is broken inside its outermost brackets, one
//! element a line, and before operators. Where lines begin is decided in `structure`.

mod conditionals;
mod widths;

use super::annotations::annotations_end;
use super::pieces::{Piece, PieceKind, Role};
use super::spacing::blank_between;
use super::structure::{Line, Structured};
use crate::parser::operators;
use crate::token::TokenKind as T;
use conditionals::{Conditionals, conditional_part};
use source::layout::{INDENT_WIDTH, LINE_WIDTH, LineWriter, width_of};
use std::ops::Range;
use widths::{aligned_comment, chunk_width, flat_width, width_to_break};

/// Brackets nested deeper are not broken.
const GROUP_DEPTH_LIMIT: usize = 100;
/// How tightly `=` binds.
const ASSIGNMENT: u8 = 0;
/// Elements no wider than this may share lines when there are many.
const SHORT_ELEMENT: usize = 14;
/// How many short elements a list must have to share lines.
const MANY_ELEMENTS: usize = 9;

pub(crate) fn write_lines(structured: &Structured<'_>) -> String {
    let mut writer = Writer::default();
    for line in &structured.lines {
        if line.blank_before {
            writer.lines.blank_line();
        }
        write_line(structured, line, &mut writer);
    }
    writer.lines.finish()
}

fn write_line(structured: &Structured<'_>, line: &Line, writer: &mut Writer) {
    let pieces = &structured.pieces[line.pieces.clone()];
    if let [only] = pieces
        && only.kind == PieceKind::Directive
    {
        writer.lines.break_line(0);
        writer.lines.verbatim(&only.text, false);
        return;
    }
    let indent = line.indent * INDENT_WIDTH;
    let mut rest = line.pieces.clone();
    // Annotations that leave no room on their line have lines of their own.
    let width = || {
        let blanks = pieces.windows(2).filter(|two| blank_between(&two[0], &two[1])).count();
        let code = pieces.iter().filter(|piece| !piece.is_comment());
        indent + blanks + code.map(|piece| width_of(&piece.text)).sum::<usize>()
    };
    if pieces.first().and_then(Piece::token) == Some(T::At) && width() > LINE_WIDTH {
        while let Some(length) = annotations_end(&structured.pieces[rest.clone()]) {
            let end = rest.start + length;
            write_pieces(structured, rest.start..end, indent, writer);
            rest.start = end;
        }
    }
    write_pieces(structured, rest, indent, writer);
}

fn write_pieces(
    structured: &Structured<'_>,
    range: Range<usize>,
    indent: usize,
    writer: &mut Writer,
) {
    let pieces = &structured.pieces[range.clone()];
    let body = &structured.begins_body[range];
    let closed = closed_groups(pieces);
    let nodes = Tree { pieces, body, closed: &closed, at: 0 }.sequence(None, 0);
    writer.lines.break_line(indent);
    writer.must_break = None;
    writer.sequence(pieces, &nodes, indent, 0);
}

/// Where a line may end before a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Break {
    No,
    /// Before an operator or after `=`; the number is how tightly it binds. Where there is a
    /// choice, the looser one breaks.
    Soft(u8),
    /// Before the body of an `if` without braces: there first.
    Body,
}

/// A piece, or brackets with what is in them.
#[derive(Debug)]
struct Node {
    kind: NodeKind,
    blank_before: bool,
    break_before: Break,
    /// Columns when on one line; without the blank before it.
    width: usize,
    /// It holds something that ends a line, such as a comment.
    forced: bool,
}

#[derive(Debug)]
enum NodeKind {
    Piece(usize),
    Group { open: usize, elements: Vec<Element>, close: usize },
}

/// One element in brackets with its separator.
#[derive(Debug)]
struct Element {
    nodes: Vec<Node>,
    separator: Option<usize>,
    /// Comments on the line of the separator.
    trailing: Vec<usize>,
}

struct Tree<'s, 't> {
    pieces: &'s [Piece<'t>],
    body: &'s [bool],
    /// For each piece, whether it opens a group that is closed in this line.
    closed: &'s [bool],
    at: usize,
}

/// Which pieces open a group that is properly closed in the same line.
fn closed_groups(pieces: &[Piece<'_>]) -> Vec<bool> {
    let mut closed = vec![false; pieces.len()];
    let mut open: Vec<usize> = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        match piece.token() {
            Some(T::OpenParen | T::OpenBracket | T::OpenBrace) => open.push(at),
            Some(kind @ (T::CloseParen | T::CloseBracket | T::CloseBrace)) => {
                if let Some(opener) = open.pop() {
                    closed[opener] = Tree::closer(&pieces[opener]) == Some(kind);
                }
            }
            _ => {}
        }
    }
    closed
}

impl Tree<'_, '_> {
    /// Returns the token that closes the group which a piece opens.
    fn closer(piece: &Piece<'_>) -> Option<T> {
        match (piece.token()?, piece.role) {
            (T::OpenParen, _) => Some(T::CloseParen),
            (T::OpenBracket, _) => Some(T::CloseBracket),
            (T::OpenBrace, Role::ListOpen) => Some(T::CloseBrace),
            _ => None,
        }
    }

    /// Nodes up to a separator or the token that closes the group, which is not taken.
    fn sequence(&mut self, close: Option<T>, depth: usize) -> Vec<Node> {
        let mut nodes: Vec<Node> = Vec::new();
        let start = self.at;
        while let Some(piece) = self.pieces.get(self.at) {
            let token = piece.token();
            if close.is_some() && (token == close || is_separator(close, token)) {
                break;
            }
            let at = self.at;
            let blank_before = at > start && blank_between(&self.pieces[at - 1], piece);
            let break_before = self.break_before(at, start);
            let opens = Tree::closer(piece);
            let node = match opens {
                Some(closer) if depth < GROUP_DEPTH_LIMIT && self.closed[at] => {
                    self.group(at, closer, depth)
                }
                _ => {
                    self.at += 1;
                    // A comment at the end may go beyond the edge; text of another language is as its author wrote it.
                    let is_verbatim = piece.kind == PieceKind::Token(T::Verbatim);
                    let is_free = is_verbatim || piece.kind == PieceKind::LineComment;
                    let forced = piece.ends_line() || (piece.text.contains('\n') && !is_verbatim);
                    let width = if is_free { 0 } else { width_of(&piece.text) };
                    (NodeKind::Piece(at), width, forced)
                }
            };
            let (kind, width, forced) = node;
            nodes.push(Node { kind, blank_before, break_before, width, forced });
        }
        nodes
    }

    fn break_before(&self, at: usize, start: usize) -> Break {
        if self.body[at] {
            return Break::Body;
        }
        if at == start {
            return Break::No;
        }
        let piece = &self.pieces[at];
        let before = &self.pieces[at - 1];
        if is_assignment(before) {
            // What an expression in braces holds is broken instead.
            let braces = piece.token() == Some(T::OpenBrace);
            return if braces { Break::No } else { Break::Soft(ASSIGNMENT) };
        }
        match piece.role {
            Role::ConditionalColon => Break::Soft(operators::CONDITIONAL),
            Role::Binary if !is_assignment(piece) => Break::Soft(looseness(piece)),
            _ => Break::No,
        }
    }

    fn group(&mut self, open: usize, closer: T, depth: usize) -> (NodeKind, usize, bool) {
        self.at = open + 1;
        let mut elements = Vec::new();
        let mut width = 1;
        let mut forced = false;
        let is_list = closer == T::CloseBrace;
        while self.pieces.get(self.at).is_some_and(|piece| piece.token() != Some(closer)) {
            let nodes = self.sequence(Some(closer), depth + 1);
            let separator = self
                .pieces
                .get(self.at)
                .is_some_and(|piece| is_separator(Some(closer), piece.token()))
                .then_some(self.at);
            let mut trailing = Vec::new();
            if separator.is_some() {
                self.at += 1;
                while let Some(piece) = self.pieces.get(self.at) {
                    let beside_next =
                        self.pieces.get(self.at + 1).is_some_and(|next| next.lines_before == 0);
                    let beside = piece.lines_before == 0 || piece.role == Role::ContinuedComment;
                    let trails = beside
                        && (piece.kind == PieceKind::LineComment
                            || (piece.kind == PieceKind::BlockComment && !beside_next));
                    if !trails {
                        break;
                    }
                    trailing.push(self.at);
                    self.at += 1;
                }
            }
            for node in &nodes {
                width += node.width + usize::from(node.blank_before);
                forced |= node.forced;
            }
            width += if separator.is_some() { 2 } else { 0 };
            forced |= !trailing.is_empty();
            elements.push(Element { nodes, separator, trailing });
        }
        let close = self.at;
        self.at += 1;
        width += 1 + if is_list && !elements.is_empty() { 2 } else { 0 };
        (NodeKind::Group { open, elements, close }, width, forced)
    }
}

fn is_assignment(piece: &Piece<'_>) -> bool {
    piece.role == Role::Binary
        && piece
            .token()
            .is_some_and(|kind| kind == T::Assign || operators::assignment_operator(kind).is_some())
}

/// How tightly the operator binds that a piece is.
fn looseness(piece: &Piece<'_>) -> u8 {
    match piece.token() {
        Some(T::Question | T::Mask | T::Range) | None => operators::CONDITIONAL,
        Some(kind) => {
            operators::binary_operator(kind).map_or(operators::CONDITIONAL, operators::precedence)
        }
    }
}

/// Whether a token separates elements: `,`, and `;` in the parentheses of `for`.
fn is_separator(close: Option<T>, token: Option<T>) -> bool {
    match token {
        Some(T::Comma) => close.is_some(),
        Some(T::Semicolon) => close == Some(T::CloseParen),
        _ => false,
    }
}

#[derive(Default)]
struct Writer {
    lines: LineWriter,
    /// A comment or directive has ended the line: the next piece starts one at this indentation.
    must_break: Option<usize>,
}

impl Writer {
    /// Writes one piece; `next` is where the line goes on if this piece ends it.
    fn piece(&mut self, piece: &Piece<'_>, blank_before: bool, next: usize) {
        let continued = piece.role == Role::ContinuedComment;
        if let Some(indent) = self.must_break.take() {
            self.lines.break_line(if continued { 0 } else { indent });
        }
        let begun = self.lines.column() > self.lines.indent();
        let blank = blank_before && begun;
        let trails = continued || (begun && piece.role == Role::TrailingComment);
        match piece.kind {
            PieceKind::Directive => {
                self.lines.break_line(0);
                self.lines.verbatim(&piece.text, false);
            }
            PieceKind::BlockComment => {
                let column = self.lines.column() + usize::from(blank);
                self.lines.verbatim(&aligned_comment(&piece.text, column), blank);
            }
            _ if trails => self.lines.trailing_comment(&piece.text, continued),
            _ if piece.text.contains('\n') => self.lines.verbatim(&piece.text, blank),
            _ => self.lines.text(&piece.text, blank),
        }
        if piece.ends_line() {
            self.must_break = Some(next);
        }
    }

    /// Writes nodes; `tail` columns follow them on their last line.
    fn sequence(&mut self, pieces: &[Piece<'_>], nodes: &[Node], indent: usize, tail: usize) {
        let deeper = indent + INDENT_WIDTH;
        let mut begun = false;
        let mut conditionals = Conditionals::Unseen;
        for (at, node) in nodes.iter().enumerate() {
            let rest = &nodes[at..];
            let own_line = match node.kind {
                NodeKind::Piece(piece) => {
                    let piece = &pieces[piece];
                    at > 0
                        && piece.lines_before > 0
                        && piece.role != Role::ContinuedComment
                        && (piece.kind == PieceKind::LineComment
                            || piece.kind == PieceKind::PragmaLine)
                }
                NodeKind::Group { .. } => false,
            };
            let next = if begun { deeper } else { indent };
            if self.must_break.is_none() && at > 0 {
                let breaks = own_line
                    || match node.break_before {
                        Break::No => false,
                        Break::Soft(level) => {
                            if let Some(part) = conditional_part(pieces, node) {
                                if conditionals == Conditionals::Unseen {
                                    let here = self.lines.column() + 1;
                                    let fits =
                                        here + flat_width(rest, LINE_WIDTH) + tail <= LINE_WIDTH;
                                    conditionals = Conditionals::of(pieces, rest, fits);
                                }
                                conditionals.break_before(part)
                                    || self.should_break(rest, level, deeper, tail)
                            } else {
                                self.should_break(rest, level, deeper, tail)
                            }
                        }
                        Break::Body => {
                            self.lines.column() + 1 + flat_width(rest, LINE_WIDTH) + tail
                                > LINE_WIDTH
                        }
                    };
                if breaks {
                    self.lines.break_line(next);
                }
            }
            let is_comment = match node.kind {
                NodeKind::Piece(piece) => {
                    pieces[piece].is_comment() || pieces[piece].kind == PieceKind::PragmaLine
                }
                NodeKind::Group { .. } => false,
            };
            begun |= !is_comment;
            let is_directive = matches!(node.kind, NodeKind::Piece(piece)
                if pieces[piece].kind == PieceKind::Directive);
            let next = if begun && !is_directive { deeper } else { indent };
            self.node(pieces, node, next, chunk_width(&rest[1..], tail));
        }
    }

    /// Whether to end the line before the first of these nodes.
    fn should_break(&self, rest: &[Node], level: u8, indent: usize, tail: usize) -> bool {
        let Some(first) = rest.first() else { return false };
        if self.lines.column() <= indent {
            return false;
        }
        let here = self.lines.column() + usize::from(first.blank_before);
        let whole = width_to_break(rest, level, tail);
        if here + whole <= LINE_WIDTH {
            return false;
        }
        if indent + whole <= LINE_WIDTH {
            return true;
        }
        // Too wide for any line: it will be broken inside, here if its beginning fits.
        let group = matches!(first.kind, NodeKind::Group { .. }) && first.width > SHORT_ELEMENT;
        let beginning =
            if group { 1 } else { first.width + chunk_width(rest.get(1..).unwrap_or(&[]), tail) };
        here + beginning > LINE_WIDTH
    }

    fn node(&mut self, pieces: &[Piece<'_>], node: &Node, next: usize, tail: usize) {
        match &node.kind {
            NodeKind::Piece(at) => self.piece(&pieces[*at], node.blank_before, next),
            NodeKind::Group { open, elements, close } => {
                self.piece(&pieces[*open], node.blank_before, next);
                let width = node.width.saturating_sub(1);
                let fits = !node.forced && self.lines.column() + width + tail <= LINE_WIDTH;
                if fits || elements.is_empty() {
                    self.flat_group(pieces, elements, *close);
                } else {
                    stacker::maybe_grow(128 * 1024, 1024 * 1024, || {
                        self.broken_group(pieces, elements, *close);
                    });
                }
            }
        }
    }

    fn flat_group(&mut self, pieces: &[Piece<'_>], elements: &[Element], close: usize) {
        let is_list = pieces[close].token() == Some(T::CloseBrace);
        for (at, element) in elements.iter().enumerate() {
            let blank = if at == 0 { is_list } else { true };
            self.flat(pieces, &element.nodes, blank);
            if let Some(separator) = element.separator {
                self.lines.text(&pieces[separator].text, false);
            }
        }
        if is_list && !elements.is_empty() {
            self.lines.text(" ", false);
        }
        let indent = self.lines.indent();
        self.piece(&pieces[close], false, indent);
    }

    fn flat(&mut self, pieces: &[Piece<'_>], nodes: &[Node], blank: bool) {
        for (at, node) in nodes.iter().enumerate() {
            let blank_before = if at == 0 { blank } else { node.blank_before };
            match &node.kind {
                NodeKind::Piece(piece) => {
                    let indent = self.lines.indent();
                    self.piece(&pieces[*piece], blank_before, indent);
                }
                NodeKind::Group { open, elements, close } => {
                    let indent = self.lines.indent();
                    self.piece(&pieces[*open], blank_before, indent);
                    self.flat_group(pieces, elements, *close);
                }
            }
        }
    }

    fn broken_group(&mut self, pieces: &[Piece<'_>], elements: &[Element], close: usize) {
        let outer = self.lines.indent();
        let inner = outer + INDENT_WIDTH;
        let short = elements.len() >= MANY_ELEMENTS
            && elements.iter().all(|element| {
                element.trailing.is_empty()
                    && flat_width(&element.nodes, SHORT_ELEMENT + 1) <= SHORT_ELEMENT
                    && element.nodes.iter().all(|node| !node.forced)
            });
        for (at, element) in elements.iter().enumerate() {
            let width = flat_width(&element.nodes, LINE_WIDTH) + 1;
            if short && at > 0 && self.lines.column() + 1 + width <= LINE_WIDTH {
                self.lines.text(" ", false);
            } else if self.must_break.take().is_some() || !element.nodes.is_empty() {
                self.lines.break_line(inner);
            }
            self.sequence(pieces, &element.nodes, inner, 1);
            if let Some(separator) = element.separator {
                self.piece(&pieces[separator], false, inner);
            }
            for comment in &element.trailing {
                self.piece(&pieces[*comment], true, inner);
            }
        }
        self.must_break = None;
        self.lines.break_line(outer);
        self.piece(&pieces[close], false, outer);
    }
}
