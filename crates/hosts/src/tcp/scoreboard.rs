// SPDX-License-Identifier: Apache-2.0
//! [`Scoreboard`]: what a sender knows about the segments that it sent and that are not acknowledged: selectively
//! acknowledged, lost, retransmitted (RFC 6675). A segment is sent again with the bounds that it had.

use super::ranges::Ranges;
use std::collections::VecDeque;

/// Segments above a hole until it counts as lost (RFC 6675 section 2, RFC 5681 section 3.2).
pub(super) const DUPLICATE_THRESHOLD: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// On its way.
    InFlight,
    /// Selectively acknowledged.
    Sacked,
    /// Lost, and not yet sent again.
    Lost,
    /// Lost and sent again.
    SentAgain,
}

/// A segment that is not acknowledged.
#[derive(Clone, Copy, Debug)]
struct Sent {
    start: u64,
    length: u32,
    fate: Fate,
    was_sent_again: bool,
    time_ps: u64,
}

impl Sent {
    fn end(&self) -> u64 {
        self.start + u64::from(self.length)
    }
}

/// What an acknowledgement changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Delivered {
    /// Bytes that arrived, by this acknowledgement's knowledge: acknowledged now and not selectively before, or
    /// selectively acknowledged now.
    pub bytes: u64,
    /// Whether a segment was selectively acknowledged.
    pub has_sacked: bool,
    /// When the earliest and the latest of these segments were sent, among those sent once (Karn's algorithm), in
    /// picoseconds.
    pub sent_once_ps: Option<(u64, u64)>,
}

impl Delivered {
    #[inline]
    fn add(&mut self, sent: &Sent) {
        self.bytes += u64::from(sent.length);
        if !sent.was_sent_again {
            let (first, last) = self.sent_once_ps.unwrap_or((sent.time_ps, sent.time_ps));
            self.sent_once_ps = Some((first.min(sent.time_ps), last.max(sent.time_ps)));
        }
    }
}

/// Segments in order of position, with sums.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    segments: VecDeque<Sent>,
    sacked: Ranges,
    /// Bytes on their way: neither acknowledged nor lost, or sent again ("pipe").
    in_flight_bytes: u64,
    /// Bytes lost and not yet sent again.
    lost_bytes: u64,
    /// Below it every segment was examined for loss.
    examined: u64,
    /// Below it no segment waits to be sent again.
    resend_from: u64,
    /// Bytes that duplicate acknowledgements without selective ones stand for.
    guessed_bytes: u64,
}

impl Scoreboard {
    /// Bytes on their way (RFC 6675 section 4, "pipe").
    #[inline]
    pub(super) fn in_flight_bytes(&self) -> u64 {
        self.in_flight_bytes.saturating_sub(self.guessed_bytes)
    }

    /// Bytes lost and not yet sent again.
    #[inline]
    pub(super) fn lost_bytes(&self) -> u64 {
        self.lost_bytes
    }

    /// Notes a segment sent for the first time.
    #[inline]
    pub(super) fn sent(&mut self, start: u64, length: u32, time_ps: u64) {
        let fate = Fate::InFlight;
        self.segments.push_back(Sent { start, length, fate, was_sent_again: false, time_ps });
        self.in_flight_bytes += u64::from(length);
    }

    /// Removes what is acknowledged: everything before a position.
    #[inline]
    pub(super) fn acknowledge(&mut self, position: u64, delivered: &mut Delivered) {
        let guessed = self.guessed_bytes;
        let mut segments = 0u64;
        while let Some(first) = self.segments.front_mut() {
            if first.start >= position {
                break;
            }
            segments += 1;
            let mut part = *first;
            let is_whole = first.end() <= position;
            if is_whole {
                self.segments.pop_front();
            } else {
                // The peer took a part of the segment.
                part.length = (position - part.start) as u32;
                first.length -= part.length;
                first.start = position;
            }
            match part.fate {
                Fate::InFlight | Fate::SentAgain => {
                    self.in_flight_bytes -= u64::from(part.length);
                    delivered.add(&part);
                }
                Fate::Lost => {
                    self.lost_bytes -= u64::from(part.length);
                    delivered.add(&part);
                }
                Fate::Sacked => {}
            }
        }
        if !self.sacked.is_empty() {
            self.sacked.remove_before(position);
        }
        if guessed > 0 {
            // All but one of the acknowledged segments had arrived when the duplicates came.
            let unit = delivered.bytes / segments.max(1);
            let known = delivered.bytes.saturating_sub(unit).min(guessed);
            self.guessed_bytes = (guessed - known).min(self.in_flight_bytes);
            delivered.bytes -= known;
        }
    }

    /// The number of the first segment that starts at a position or behind it.
    fn index(&self, position: u64) -> usize {
        self.segments.partition_point(|sent| sent.start < position)
    }

    /// Marks the segments in a block as selectively acknowledged.
    pub(super) fn sack(&mut self, start: u64, end: u64, delivered: &mut Delivered) {
        let missing: Vec<(u64, u64)> = self.sacked.missing(start, end).collect();
        for (from, to) in missing {
            let mut at = self.index(from);
            let mut covered = (u64::MAX, from);
            while let Some(sent) = self.segments.get_mut(at)
                && sent.end() <= to
            {
                match sent.fate {
                    Fate::InFlight | Fate::SentAgain => {
                        self.in_flight_bytes -= u64::from(sent.length);
                    }
                    Fate::Lost => self.lost_bytes -= u64::from(sent.length),
                    Fate::Sacked => {}
                }
                if sent.fate != Fate::Sacked {
                    sent.fate = Fate::Sacked;
                    delivered.has_sacked = true;
                    delivered.add(sent);
                }
                covered = (covered.0.min(sent.start), sent.end());
                at += 1;
            }
            self.sacked.insert(covered.0, covered.1);
        }
    }

    /// Notes a duplicate acknowledgement without selective ones: some segment arrived.
    pub(super) fn guess_arrival(&mut self, bytes: u64) {
        self.guessed_bytes = (self.guessed_bytes + bytes).min(self.in_flight_bytes);
    }

    /// Marks as lost every segment with enough selectively acknowledged bytes or ranges above it (RFC 6675 section 4,
    /// "IsLost"). Returns whether there were new ones.
    pub(super) fn mark_lost(&mut self, segment_bytes: u32) -> bool {
        let enough_bytes = u64::from(segment_bytes) * u64::from(DUPLICATE_THRESHOLD - 1);
        let (mut bytes, mut count, mut edge) = (0, 0, 0);
        for (start, end) in self.sacked.as_slice().iter().rev() {
            bytes += end - start;
            count += 1;
            if bytes > enough_bytes || count >= DUPLICATE_THRESHOLD {
                edge = *start;
                break;
            }
        }
        if edge <= self.examined {
            return false;
        }
        let from = self.index(self.examined);
        self.examined = edge;
        let mut is_new = false;
        for sent in self.segments.range_mut(from..).take_while(|sent| sent.start < edge) {
            if sent.fate == Fate::InFlight {
                sent.fate = Fate::Lost;
                self.in_flight_bytes -= u64::from(sent.length);
                self.lost_bytes += u64::from(sent.length);
                self.resend_from = self.resend_from.min(sent.start);
                is_new = true;
            }
        }
        is_new
    }

    /// Marks the first segment as lost if it is on its way for the first time.
    pub(super) fn mark_first_lost(&mut self) {
        if let Some(sent) = self.segments.front_mut()
            && sent.fate == Fate::InFlight
        {
            sent.fate = Fate::Lost;
            self.in_flight_bytes -= u64::from(sent.length);
            self.lost_bytes += u64::from(sent.length);
            self.resend_from = self.resend_from.min(sent.start);
        }
    }

    /// After a timeout: marks everything as lost that is not selectively acknowledged. If the peer took its first selective
    /// acknowledgement back, none counts any more (RFC 2018 section 8).
    pub(super) fn mark_all_lost(&mut self) {
        let is_taken_back = self.segments.front().is_some_and(|sent| sent.fate == Fate::Sacked);
        if is_taken_back {
            self.sacked.clear();
        }
        self.guessed_bytes = 0;
        self.in_flight_bytes = 0;
        self.lost_bytes = 0;
        for sent in &mut self.segments {
            if sent.fate != Fate::Sacked || is_taken_back {
                sent.fate = Fate::Lost;
                self.lost_bytes += u64::from(sent.length);
            }
        }
        self.resend_from = 0;
        self.examined = self.segments.back().map_or(0, Sent::end);
    }

    /// The first lost segment that was not sent again, as start and length (RFC 6675 "NextSeg" rule 1).
    pub(super) fn next_lost(&mut self) -> Option<(u64, u32)> {
        if self.lost_bytes == 0 {
            self.resend_from = u64::MAX;
            return None;
        }
        let from = self.index(self.resend_from);
        let sent = self.segments.range(from..).find(|sent| sent.fate == Fate::Lost)?;
        self.resend_from = sent.start;
        Some((sent.start, sent.length))
    }

    /// The first segment below a selectively acknowledged one that is still on its way for the first time (rule 3).
    pub(super) fn next_suspect(&self) -> Option<(u64, u32)> {
        let highest = self.sacked.as_slice().last()?.0;
        let from = self.index(self.examined);
        self.segments
            .range(from..)
            .take_while(|sent| sent.start < highest)
            .find(|sent| sent.fate == Fate::InFlight)
            .map(|sent| (sent.start, sent.length))
    }

    /// The last segment, if it is not selectively acknowledged (rule 4: the rescue retransmission).
    pub(super) fn last_unsacked(&self) -> Option<(u64, u32)> {
        let last = self.segments.back().filter(|sent| sent.fate != Fate::Sacked)?;
        Some((last.start, last.length))
    }

    /// The first segment, whatever happened to it.
    #[cfg(test)]
    fn first(&self) -> Option<(u64, u32)> {
        self.segments.front().map(|sent| (sent.start, sent.length))
    }

    /// Notes that the segment that starts here was sent again.
    pub(super) fn sent_again(&mut self, start: u64, time_ps: u64) {
        let at = self.index(start);
        let Some(sent) = self.segments.get_mut(at).filter(|sent| sent.start == start) else {
            return;
        };
        match sent.fate {
            Fate::Lost => {
                self.lost_bytes -= u64::from(sent.length);
                self.in_flight_bytes += u64::from(sent.length);
            }
            Fate::InFlight | Fate::SentAgain | Fate::Sacked => {}
        }
        if sent.fate != Fate::Sacked {
            sent.fate = Fate::SentAgain;
        }
        sent.was_sent_again = true;
        sent.time_ps = time_ps;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten segments of 100 bytes.
    fn ten() -> Scoreboard {
        let mut board = Scoreboard::default();
        (0..10).for_each(|n| board.sent(n * 100, 100, n));
        board
    }

    #[test]
    fn three_segments_above_a_hole_make_it_lost() {
        let mut board = ten();
        let mut delivered = Delivered::default();
        board.sack(200, 400, &mut delivered);
        assert!(!board.mark_lost(100));
        board.sack(200, 500, &mut delivered);
        assert_eq!(delivered.bytes, 300);
        assert!(board.mark_lost(100));
        assert_eq!((board.lost_bytes(), board.in_flight_bytes()), (200, 500));
        assert_eq!(board.next_lost(), Some((0, 100)));
        board.sent_again(0, 50);
        assert_eq!(board.next_lost(), Some((100, 100)));
        board.sent_again(100, 51);
        assert_eq!((board.next_lost(), board.in_flight_bytes()), (None, 700));
        // A cumulative acknowledgement counts only what was not known.
        let mut delivered = Delivered::default();
        board.acknowledge(600, &mut delivered);
        assert_eq!(
            delivered,
            Delivered { bytes: 300, has_sacked: false, sent_once_ps: Some((5, 5)) }
        );
        assert_eq!(board.in_flight_bytes(), 400);
    }

    #[test]
    fn three_ranges_above_a_hole_make_it_lost_even_if_they_are_short() {
        let mut board = Scoreboard::default();
        (0..10).for_each(|n| board.sent(n * 10, 10, n));
        for start in [10, 30, 50] {
            assert!(!board.mark_lost(100));
            board.sack(start, start + 10, &mut Delivered::default());
        }
        assert!(board.mark_lost(100));
        assert_eq!(board.lost_bytes(), 10);
        assert_eq!(board.next_suspect(), Some((20, 10)));
    }

    #[test]
    fn a_timeout_loses_everything_that_is_not_sacked() {
        let mut board = ten();
        board.sack(300, 500, &mut Delivered::default());
        board.mark_all_lost();
        assert_eq!((board.lost_bytes(), board.in_flight_bytes()), (800, 0));
        // The peer takes its selective acknowledgement back: it does not acknowledge what it had.
        board.acknowledge(300, &mut Delivered::default());
        board.mark_all_lost();
        assert_eq!(board.lost_bytes(), 700);
    }

    #[test]
    fn parts_of_segments_are_acknowledged_and_not_sacked() {
        let mut board = ten();
        let mut delivered = Delivered::default();
        board.sack(450, 550, &mut delivered);
        assert_eq!(delivered.bytes, 0);
        board.acknowledge(150, &mut delivered);
        assert_eq!((delivered.bytes, board.first()), (150, Some((150, 50))));
        assert_eq!(board.in_flight_bytes(), 850);
    }
}
