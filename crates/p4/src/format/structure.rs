// SPDX-License-Identifier: Apache-2.0
//! The lines of a file, their indentation, and the role of each token. Decided from the tokens alone,
//! because a file that is not preprocessed need not parse: conditional branches may hold braces that
//! pair up only in one branch.

mod trivia;

use super::bodies::OpenIfs;
use super::pieces::{Piece, PieceKind, Role};
use crate::token::TokenKind as T;
use std::ops::Range;

/// Deeper lines are not indented further.
const INDENT_LIMIT: usize = 50;

/// A line, before it is known whether it fits.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Levels of indentation.
    pub(crate) indent: usize,
    /// Whether an empty line stands before it.
    pub(crate) blank_before: bool,
    /// Which pieces it has.
    pub(crate) pieces: Range<usize>,
}

/// Pieces with their roles known, cut into lines.
#[derive(Debug)]
pub(crate) struct Structured<'t> {
    pub(crate) pieces: Vec<Piece<'t>>,
    pub(crate) lines: Vec<Line>,
    /// For each piece, whether it begins the body of an `if`, `else` or `for` without braces.
    pub(crate) begins_body: Vec<bool>,
}

pub(crate) fn structure(pieces: Vec<Piece<'_>>) -> Structured<'_> {
    let count = pieces.len();
    let mut builder = Builder {
        begins_body: vec![false; count],
        pieces,
        lines: Vec::new(),
        frames: Vec::new(),
        conditions: Vec::new(),
        line: None,
        brace_closed: false,
        after_open: true,
        body_next: false,
        ifs: OpenIfs::default(),
        next_steps: None,
        call_closed: None,
        previous: None,
    };
    for at in 0..count {
        builder.place(at);
    }
    builder.end_line(count);
    Structured { pieces: builder.pieces, lines: builder.lines, begins_body: builder.begins_body }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    Block,
    Names,
    List,
    Paren,
    Bracket,
    Angle,
}

/// Something opened and not yet closed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) kind: FrameKind,
    /// The word its line begins with, or for parentheses the word before them.
    pub(super) word: Option<T>,
    /// The piece that opened it.
    pub(super) opened: usize,
    /// Levels of indentation for the bodies without braces that it is in.
    steps: usize,
    /// `?` whose `:` is still to come.
    questions: u32,
}

/// Where the annotations in front of a line are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Annotations {
    /// None yet, or one has ended.
    Between,
    AfterAt,
    AfterName,
    /// In brackets opened at this depth of frames.
    InBrackets(usize),
    /// The line proper has begun.
    Over,
}

#[derive(Clone, Debug)]
pub(super) struct OpenLine {
    pub(super) start: usize,
    indent: usize,
    /// Levels of it for the bodies without braces that the line is in.
    steps: usize,
    blank_before: bool,
    annotations: Annotations,
    /// The first word after annotations and `typedef`.
    pub(super) word: Option<T>,
    is_typedef: bool,
    /// `=` or `return` outside of parentheses: a brace after it is an expression's.
    pub(super) value_follows: bool,
    /// Depth of frames where it began.
    depth: usize,
    /// `?` outside of everything whose `:` is still to come.
    questions: u32,
    /// The piece that closed the parentheses of `NAME(...)` at the line's start.
    macro_closed: Option<usize>,
}

pub(super) struct Builder<'t> {
    pub(super) pieces: Vec<Piece<'t>>,
    pub(super) begins_body: Vec<bool>,
    lines: Vec<Line>,
    pub(super) frames: Vec<Frame>,
    conditions: Vec<Vec<Frame>>,
    pub(super) line: Option<OpenLine>,
    /// The last piece was the `}` of a block: what comes next may stay on its line.
    brace_closed: bool,
    /// Nothing has been placed since a block was opened.
    after_open: bool,
    /// The next token begins a body without braces.
    body_next: bool,
    ifs: OpenIfs,
    /// Steps of the line that begins next, if they are known.
    next_steps: Option<usize>,
    /// The piece that closed the parentheses of the last `NAME(...)`.
    call_closed: Option<usize>,
    /// The last token placed.
    pub(super) previous: Option<usize>,
}

impl Builder<'_> {
    pub(super) fn token(&self, at: usize) -> Option<T> {
        self.pieces.get(at).and_then(Piece::token)
    }

    /// Returns the next piece at or after `at` that is no comment.
    pub(super) fn next_token(&self, at: usize) -> Option<T> {
        self.pieces.get(at..)?.iter().find(|piece| !piece.is_trivia()).and_then(Piece::token)
    }

    fn block_depth(&self) -> usize {
        let blocks = |frame: &&Frame| matches!(frame.kind, FrameKind::Block | FrameKind::Names);
        let levels = self.frames.iter().filter(blocks).map(|frame| 1 + frame.steps);
        levels.sum::<usize>().min(INDENT_LIMIT)
    }

    pub(super) fn top(&self) -> Option<FrameKind> {
        self.frames.last().map(|frame| frame.kind)
    }

    pub(super) fn at_block_level(&self) -> bool {
        matches!(self.top(), None | Some(FrameKind::Block | FrameKind::Names))
    }

    fn end_line(&mut self, end: usize) {
        if let Some(line) = self.line.take() {
            self.lines.push(Line {
                indent: line.indent,
                blank_before: line.blank_before,
                pieces: line.start..end,
            });
        }
        self.brace_closed = false;
        self.body_next = false;
        if self.at_block_level()
            && let Some(frame) = self.frames.last_mut()
        {
            frame.questions = 0;
        }
    }

    fn begin_line(&mut self, at: usize) {
        if self.line.is_some() {
            return;
        }
        let closes = self.token(at) == Some(T::CloseBrace);
        let blank_before = self.pieces[at].lines_before >= 2 && !self.after_open && !closes;
        self.after_open = false;
        let depth = self.frames.len();
        let known = self.next_steps.take();
        let steps = match self.token(at) {
            _ if known.is_some() => known.unwrap_or(0),
            Some(T::Else) => self.ifs.steps_of_else(depth),
            Some(_) => {
                self.ifs.end(depth);
                0
            }
            None if self.next_token(at) == Some(T::Else) => self.ifs.steps_of_else(depth),
            None => 0,
        };
        self.line = Some(OpenLine {
            start: at,
            indent: (self.block_depth() + steps).min(INDENT_LIMIT),
            steps,
            blank_before: blank_before && !self.lines.is_empty(),
            annotations: Annotations::Between,
            word: None,
            is_typedef: false,
            value_follows: false,
            depth: self.frames.len(),
            questions: 0,
            macro_closed: None,
        });
    }

    fn place(&mut self, at: usize) {
        if self.brace_closed && !self.joins_closed_brace(at) {
            self.end_line(at);
        }
        let was_closed = std::mem::take(&mut self.brace_closed);
        match self.pieces[at].kind {
            PieceKind::LineComment | PieceKind::BlockComment => self.place_comment(at),
            PieceKind::Directive => self.place_directive(at),
            PieceKind::PragmaLine => {
                if self.at_block_level() {
                    self.end_line(at);
                    self.begin_line(at);
                    self.end_line(at + 1);
                }
            }
            PieceKind::AnnotationBody => {
                self.begin_line(at);
                self.previous = Some(at);
                if let Some(line) = &mut self.line
                    && line.annotations == Annotations::AfterName
                {
                    line.annotations = Annotations::Between;
                }
            }
            PieceKind::Token(kind) => {
                self.break_at_authors_line(at);
                self.break_before_nested_body(kind, at);
                if kind == T::CloseBrace {
                    self.close_brace(at);
                } else {
                    self.begin_line(at);
                    self.place_token(at, kind, was_closed);
                    self.brace_closed |= kind == T::Verbatim;
                }
                self.previous = Some(at);
            }
        }
    }

    /// Whether a piece after the `}` of a block stays on its line.
    fn joins_closed_brace(&self, at: usize) -> bool {
        let piece = &self.pieces[at];
        if piece.is_comment() {
            return piece.lines_before == 0 || piece.role == Role::ContinuedComment;
        }
        match piece.token() {
            // The `else` of an `if` further out stands under that one.
            Some(T::Else) => {
                let steps = self.ifs.steps_of_else(self.frames.len());
                self.line.as_ref().is_some_and(|line| line.steps == steps)
            }
            Some(T::Semicolon | T::Comma | T::CloseParen | T::CloseBracket) => true,
            Some(T::Identifier) => self.line.as_ref().is_some_and(|line| line.is_typedef),
            _ => false,
        }
    }

    fn only_annotations(&self) -> bool {
        self.line.as_ref().is_some_and(|line| {
            matches!(line.annotations, Annotations::Between | Annotations::AfterName)
        })
    }

    /// Ends the line where its author ended it, if what it holds stands alone: annotations, or the
    /// use of a macro without a `;`.
    fn break_at_authors_line(&mut self, at: usize) {
        if self.pieces[at].lines_before == 0 || !self.at_block_level() {
            return;
        }
        let Some(line) = &self.line else { return };
        let Some(kind) = self.token(at) else { return };
        if self.only_annotations() && !matches!(kind, T::OpenBracket | T::OpenParen) {
            let only_comments = self.pieces[line.start..at].iter().all(Piece::is_comment);
            if !only_comments {
                self.end_line(at);
            }
            return;
        }
        let lone_name =
            self.previous == Some(line.start) && self.token(line.start) == Some(T::Identifier);
        let macro_use = line.macro_closed.is_some() && line.macro_closed == self.previous;
        let begins = kind == T::At || kind == T::Identifier || kind.is_keyword();
        let names_instance = kind == T::Identifier && self.next_token(at + 1) == Some(T::Semicolon);
        let ends_value = line.value_follows
            && line.depth == self.frames.len()
            && self.previous.is_some_and(|before| self.ends_operand(before));
        let macro_body = self.call_closed.is_some()
            && self.call_closed == self.previous
            && matches!(line.word, Some(T::If | T::Else | T::For));
        let ends = lone_name || (macro_use && !names_instance) || ends_value || macro_body;
        if ends && begins {
            self.end_line(at);
        }
    }

    /// Whether a value can end with this piece: then a name cannot follow but on the next line,
    /// after a macro.
    fn ends_operand(&self, at: usize) -> bool {
        matches!(self.token(at), Some(T::Identifier | T::Integer | T::CloseParen | T::CloseBracket))
            && self.pieces[at].role != Role::CastClose
    }

    /// An `if` or `for` that is the whole body of another has a line of its own, one step deeper, so
    /// that each `else` stands under its `if`.
    fn break_before_nested_body(&mut self, kind: T, at: usize) {
        let nests = self.body_next
            && matches!(kind, T::If | T::For)
            && self.at_block_level()
            && self.previous_token() != Some(T::Else);
        if nests && let Some(line) = &self.line {
            let steps = (line.steps + 1).min(INDENT_LIMIT);
            self.end_line(at);
            self.next_steps = Some(steps);
        }
    }

    fn close_brace(&mut self, at: usize) {
        // What was opened inside and not closed ends here too.
        while matches!(self.top(), Some(FrameKind::Paren | FrameKind::Bracket | FrameKind::Angle)) {
            self.frames.pop();
        }
        match self.top() {
            Some(FrameKind::List) => {
                self.frames.pop();
                self.begin_line(at);
                return;
            }
            Some(FrameKind::Block | FrameKind::Names) => {
                let is_empty = self.line.is_some()
                    && self.previous.is_some_and(|before| {
                        before + 1 == at
                            && matches!(self.pieces[before].role, Role::BlockOpen | Role::NamesOpen)
                    });
                let closed = self.frames.pop();
                self.ifs.end(self.frames.len() + 1);
                if !is_empty {
                    self.end_line(at);
                    self.next_steps = closed.map(|frame| frame.steps);
                }
            }
            None => self.end_line(at),
            _ => {}
        }
        let was_typedef = self.frame_is_typedef(at);
        self.begin_line(at);
        if let Some(line) = &mut self.line {
            line.annotations = Annotations::Over;
            line.is_typedef |= was_typedef;
        }
        self.brace_closed = true;
    }

    /// Whether the block closed at `at` is the one of a `typedef struct { ... } name;`.
    fn frame_is_typedef(&self, at: usize) -> bool {
        self.token(at + 1) == Some(T::Identifier)
            && matches!(self.token(at + 2), Some(T::Semicolon))
            && self.pieces[at + 1].lines_before == 0
    }

    fn place_token(&mut self, at: usize, kind: T, joined: bool) {
        self.track_annotations(kind);
        if std::mem::take(&mut self.body_next) && !matches!(kind, T::OpenBrace | T::At) {
            self.begins_body[at] = kind != T::If || self.previous_token() != Some(T::Else);
        }
        if joined
            && kind == T::Else
            && let Some(line) = &mut self.line
        {
            line.word = Some(T::Else);
        }
        match kind {
            T::OpenBrace => self.open_brace(at),
            T::OpenParen | T::OpenBracket => {
                let frame =
                    if kind == T::OpenParen { FrameKind::Paren } else { FrameKind::Bracket };
                let word = self.previous_token();
                self.frames.push(Frame { kind: frame, word, opened: at, steps: 0, questions: 0 });
            }
            T::CloseParen => self.close_paren(at),
            T::CloseBracket => {
                self.close(FrameKind::Bracket);
            }
            T::OpenAngle => self.open_angle(at),
            T::CloseAngle | T::ShiftRight => self.close_angle(at, kind),
            T::If if self.at_block_level() => {
                let steps = self.line.as_ref().map_or(0, |line| line.steps);
                self.ifs.open(self.frames.len(), steps);
            }
            T::Else => {
                self.ifs.pass_else(self.frames.len());
                self.body_next = true;
            }
            T::Semicolon => self.semicolon(at),
            T::Comma if self.top() == Some(FrameKind::Names) => self.end_line(at + 1),
            T::Question => {
                self.set_role(at, Role::Binary);
                if let Some(questions) = self.questions() {
                    *questions += 1;
                }
            }
            T::Colon => self.colon(at),
            T::Assign | T::Return => {
                let depth = self.frames.len();
                if let Some(line) = &mut self.line {
                    line.value_follows |= line.depth == depth;
                }
                if kind == T::Assign {
                    self.set_role(at, Role::Binary);
                }
            }
            T::Minus | T::Plus | T::Not | T::Tilde => {
                let unary = !self.after_operand();
                self.set_role(at, if unary { Role::Unary } else { Role::Binary });
            }
            T::Dot if !self.after_operand() => self.set_role(at, Role::LeadingDot),
            _ => {
                let binary = super::spacing::is_always_binary(kind);
                self.set_role(at, if binary { Role::Binary } else { Role::Plain });
            }
        }
    }

    fn set_role(&mut self, at: usize, role: Role) {
        if self.pieces[at].role == Role::Unknown {
            self.pieces[at].role = role;
        }
    }

    pub(super) fn previous_token(&self) -> Option<T> {
        self.previous.and_then(|at| self.token(at))
    }

    fn track_annotations(&mut self, kind: T) {
        let depth = self.frames.len();
        let Some(line) = &mut self.line else { return };
        line.annotations = match (line.annotations, kind) {
            (Annotations::Over, _) => Annotations::Over,
            (Annotations::InBrackets(opened), T::CloseBracket) if depth == opened + 1 => {
                Annotations::Between
            }
            (inside @ Annotations::InBrackets(_), _) => inside,
            (Annotations::AfterAt, _) => Annotations::AfterName,
            (Annotations::AfterName, T::OpenBracket) => Annotations::InBrackets(depth),
            (Annotations::Between | Annotations::AfterName, T::At) => Annotations::AfterAt,
            (Annotations::Between | Annotations::AfterName, T::Typedef) => {
                line.is_typedef = true;
                line.word = None;
                Annotations::Between
            }
            (Annotations::Between | Annotations::AfterName, _) => {
                line.word = Some(kind);
                Annotations::Over
            }
        };
    }

    fn semicolon(&mut self, at: usize) {
        self.set_role(at, Role::Plain);
        while self.top() == Some(FrameKind::Angle) {
            self.frames.pop();
        }
        if self.at_block_level() {
            self.end_line(at + 1);
        }
    }

    fn open_brace(&mut self, at: usize) {
        while self.top() == Some(FrameKind::Angle) {
            self.frames.pop();
        }
        let role = match self.pieces[at].role {
            Role::Unknown => self.brace_role(at),
            known => known,
        };
        self.pieces[at].role = role;
        let kind = match role {
            Role::ListOpen => FrameKind::List,
            Role::NamesOpen => FrameKind::Names,
            _ => FrameKind::Block,
        };
        let property = self.property_word();
        let word = property.or(self.line.as_ref().and_then(|line| line.word));
        let steps = self.line.as_ref().map_or(0, |line| line.steps);
        self.frames.push(Frame { kind, word, opened: at, steps, questions: 0 });
        if kind != FrameKind::List && self.token(at + 1) != Some(T::CloseBrace) {
            self.end_line(at + 1);
            self.after_open = true;
        }
    }

    /// Closes the innermost frame of this kind, if no block lies between.
    fn close(&mut self, kind: FrameKind) -> Option<Frame> {
        let found = self.frames.iter().rposition(|frame| {
            frame.kind == kind || matches!(frame.kind, FrameKind::Block | FrameKind::Names)
        })?;
        if self.frames[found].kind != kind {
            return None;
        }
        let frame = self.frames[found];
        self.frames.truncate(found);
        Some(frame)
    }

    fn close_paren(&mut self, at: usize) {
        let Some(frame) = self.close(FrameKind::Paren) else {
            self.set_role(at, Role::Plain);
            return;
        };
        if frame.word == Some(T::Identifier) {
            self.call_closed = Some(at);
        }
        if matches!(frame.word, Some(T::If | T::For)) {
            self.body_next = self.at_block_level();
        }
        let is_cast = self.closes_cast(&frame, at);
        self.set_role(at, if is_cast { Role::CastClose } else { Role::Plain });
        if let Some(line) = &mut self.line
            && frame.opened == line.start + 1
        {
            let starts = self.pieces[line.start].token() == Some(T::Identifier);
            line.macro_closed = starts.then_some(at);
        }
    }

    /// The open questions of the innermost bracket, or of the line.
    fn questions(&mut self) -> Option<&mut u32> {
        match self.frames.last_mut() {
            Some(frame) => Some(&mut frame.questions),
            None => self.line.as_mut().map(|line| &mut line.questions),
        }
    }

    fn colon(&mut self, at: usize) {
        if let Some(questions) = self.questions().filter(|questions| **questions > 0) {
            *questions -= 1;
            self.set_role(at, Role::ConditionalColon);
            return;
        }
        let at_block_level = self.at_block_level();
        let Some(frame) = self.frames.last() else {
            self.set_role(at, Role::Plain);
            return;
        };
        let (kind, word) = (frame.kind, frame.word);
        if kind == FrameKind::Bracket {
            self.set_role(at, Role::SliceColon);
            return;
        }
        let is_label = at_block_level && word == Some(T::Switch);
        self.set_role(at, Role::Plain);
        let opens = matches!(self.next_token(at + 1), Some(T::OpenBrace | T::At));
        if is_label && !opens {
            self.end_line(at + 1);
        }
    }

    fn open_angle(&mut self, at: usize) {
        let role = match self.pieces[at].role {
            Role::Unknown if self.opens_type_arguments(at) => Role::AngleOpen,
            Role::Unknown => Role::Binary,
            known => known,
        };
        self.pieces[at].role = role;
        if role == Role::AngleOpen {
            let frame =
                Frame { kind: FrameKind::Angle, word: None, opened: at, steps: 0, questions: 0 };
            self.frames.push(frame);
        }
    }

    fn close_angle(&mut self, at: usize, kind: T) {
        if self.top() != Some(FrameKind::Angle) {
            self.set_role(at, Role::Binary);
            return;
        }
        self.frames.pop();
        if kind == T::ShiftRight && self.top() == Some(FrameKind::Angle) {
            self.frames.pop();
        }
        self.set_role(at, Role::AngleClose);
    }
}
