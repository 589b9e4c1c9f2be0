// SPDX-License-Identifier: Apache-2.0
//! [`Receiver`]: what arrived, what the peer may send, and when to acknowledge: every second segment or after a delay, at
//! once out of order (RFC 5681 section 4.2), selectively (RFC 2018), with marks echoed (RFC 3168 section 6.1.3, or RFC
//! 8257 section 3.2). Positions count SYN as 0.

use super::options::{Control, TcpOptions};
use super::ranges::Ranges;
use super::stream::ReceiveStream;
use crate::wire::View;

/// An acknowledgement of earlier segments that leaves before the current one's (RFC 8257 section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EarlierAck {
    pub position: u64,
    pub echoes_mark: bool,
}

/// A segment in positions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Incoming<'a> {
    pub position: u64,
    pub payload: View<'a>,
    pub has_fin: bool,
    pub is_marked: bool,
    pub has_cwr: bool,
}

#[derive(Debug)]
pub(super) struct Receiver {
    /// The next position expected, RCV.NXT.
    pub next: u64,
    early: Ranges,
    /// Positions in the ranges of early segments, the latest first.
    recent: Vec<u64>,
    /// The position of FIN.
    fin: Option<u64>,
    pub stream: ReceiveStream,
    buffer_bytes: u64,
    /// The position behind the window that the peer knows.
    window_end: u64,
    delay_ps: u64,
    /// Segments in order since the last acknowledgement.
    unacknowledged: u32,
    /// When the delayed acknowledgement leaves.
    pub timer_ps: Option<u64>,
    /// Whether an acknowledgement leaves now.
    pub must_acknowledge: bool,
    /// Whether each mark is echoed exactly (DCTCP).
    is_exact: bool,
    /// Whether acknowledgements carry ECE now.
    pub echoes_mark: bool,
    pub earlier: Option<EarlierAck>,
    pub out_of_order: u64,
}

impl Receiver {
    pub(super) fn new(options: &TcpOptions, keeps_bytes: bool) -> Receiver {
        Receiver {
            next: 0,
            early: Ranges::default(),
            recent: Vec::new(),
            fin: None,
            stream: ReceiveStream::new(keeps_bytes),
            buffer_bytes: u64::from(options.receive_buffer_bytes),
            window_end: 0,
            delay_ps: options.acknowledgement_delay_ps,
            unacknowledged: 0,
            timer_ps: None,
            must_acknowledge: false,
            is_exact: options.control == Control::Dctcp,
            echoes_mark: false,
            earlier: None,
            out_of_order: 0,
        }
    }

    /// Whether FIN arrived, and everything before it.
    pub(super) fn is_finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.next > fin)
    }

    /// The window to offer, in bytes. Its end never moves back, and moves on by at least a segment or half of the buffer
    /// (RFC 9293 section 3.8.6.2.2).
    pub(super) fn offer(&mut self, segment_bytes: u64) -> u64 {
        let free = self.buffer_bytes.saturating_sub(self.stream.unread_bytes());
        let end = self.next + free;
        if end >= self.window_end + segment_bytes.min(self.buffer_bytes / 2) {
            self.window_end = end;
        }
        self.window_end.saturating_sub(self.next)
    }

    /// Whether the application read so much that the peer should know (half of the buffer, or a segment after a closed
    /// window).
    pub(super) fn has_news(&self, segment_bytes: u64) -> bool {
        let free = self.buffer_bytes.saturating_sub(self.stream.unread_bytes());
        let grown = (self.next + free).saturating_sub(self.window_end);
        let known = self.window_end.saturating_sub(self.next);
        grown >= self.buffer_bytes / 2 || known < segment_bytes && grown >= segment_bytes
    }

    /// Whether a segment has a part in the window, or none but lies at its begin (RFC 9293 section 3.10.7.4).
    pub(super) fn accepts(&self, position: u64, length: u64) -> bool {
        let window = self.window_end.saturating_sub(self.next);
        match (length, window) {
            (0, 0) => position == self.next,
            (0, _) => (self.next..self.window_end).contains(&position),
            (_, 0) => false,
            _ => position < self.window_end && position + length > self.next,
        }
    }

    /// Takes a segment with payload or FIN that [`Receiver::accepts`]. Returns the bytes that are new and in order.
    pub(super) fn take(&mut self, now_ps: u64, incoming: &Incoming<'_>) -> u64 {
        self.see_mark(incoming);
        let payload_end = incoming.position + incoming.payload.length() as u64;
        let end = (payload_end + u64::from(incoming.has_fin)).min(self.window_end.max(self.next));
        if incoming.has_fin && payload_end < end {
            self.fin = Some(payload_end);
        }
        let start = incoming.position.max(self.next);
        if start >= end {
            // Known already.
            self.must_acknowledge = true;
            return 0;
        }
        self.stream.take(incoming.position, incoming.payload, self.next, end.min(payload_end));
        if incoming.position > self.next {
            self.out_of_order += 1;
            self.early.insert(start, end);
            self.remember(start);
            self.must_acknowledge = true;
            return 0;
        }
        let before = self.next;
        self.next = end;
        let had_gap = !self.early.is_empty();
        if had_gap {
            if let Some(range) = self.early.containing(end) {
                self.next = range.1;
            }
            self.early.remove_before(self.next);
            self.recent.retain(|position| *position >= self.next);
        }
        let is_finished = self.is_finished();
        let payload_next = self.next - u64::from(is_finished);
        self.stream.advance(before, payload_next);
        self.unacknowledged += 1;
        if self.unacknowledged >= 2 || self.delay_ps == 0 || had_gap || is_finished {
            self.must_acknowledge = true;
        } else if self.timer_ps.is_none() {
            self.timer_ps = Some(now_ps + self.delay_ps);
        }
        payload_next - before
    }

    fn see_mark(&mut self, incoming: &Incoming<'_>) {
        if self.is_exact {
            if self.echoes_mark != incoming.is_marked {
                if self.unacknowledged > 0 {
                    let echoes_mark = self.echoes_mark;
                    self.earlier = Some(EarlierAck { position: self.next, echoes_mark });
                    self.acknowledged();
                }
                self.echoes_mark = incoming.is_marked;
            }
            return;
        }
        if incoming.has_cwr {
            self.echoes_mark = false;
        }
        self.echoes_mark |= incoming.is_marked;
    }

    /// Puts the range of a position in front.
    fn remember(&mut self, position: u64) {
        let range = self.early.containing(position);
        let early = &self.early;
        self.recent.retain(|other| early.containing(*other) != range);
        self.recent.insert(0, position);
        self.recent.truncate(crate::wire::tcp::MAX_SACK_BLOCKS);
    }

    /// The ranges to acknowledge selectively, that of the latest segment first (RFC 2018 section 4).
    pub(super) fn selective(&self) -> impl Iterator<Item = (u64, u64)> {
        self.recent.iter().filter_map(|position| self.early.containing(*position))
    }

    /// Notes that a segment with an acknowledgement leaves.
    #[inline]
    pub(super) fn acknowledged(&mut self) {
        self.unacknowledged = 0;
        self.timer_ps = None;
        self.must_acknowledge = false;
    }
}
