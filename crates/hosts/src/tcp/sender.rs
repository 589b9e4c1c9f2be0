// SPDX-License-Identifier: Apache-2.0
//! [`Sender`]: which bytes a connection sends when. Window, loss detection by selective acknowledgements (RFC 6675) or
//! duplicates (RFC 6582), limited transmit (RFC 3042), timeouts (RFC 6298), zero-window probes, and reactions to marks (RFC
//! 3168). Positions count SYN as 0, so the first byte has position 1.

use super::congestion::{self, Acknowledgement, Cause, CongestionControl, Window};
use super::options::TcpOptions;
use super::recovery::{Phase, Reduction};
use super::round_trip::RoundTrip;
use super::scoreboard::{DUPLICATE_THRESHOLD, Delivered, Scoreboard};
use super::statistics::TcpStatistics;

const MILLISECOND_PS: u64 = 1_000_000_000;

/// An acknowledgement in positions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived<'a> {
    pub position: u64,
    /// The position behind the peer's window.
    pub window_end: u64,
    /// Whether it could be a duplicate: no payload, no SYN or FIN, the window unchanged (RFC 5681 section 2).
    pub may_be_duplicate: bool,
    pub echoes_mark: bool,
    /// Selectively acknowledged positions.
    pub sacked: &'a [(u64, u64)],
    /// The round-trip time by the echoed timestamp, in picoseconds.
    pub timestamp_round_trip_ps: Option<u64>,
}

/// A segment to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub start: u64,
    pub end: u64,
    pub is_retransmission: bool,
}

pub(super) struct Sender {
    /// Whether the peer sends selective acknowledgements.
    has_sack: bool,
    nagle: bool,
    segment_bytes: u64,
    /// The first position that is not acknowledged, SND.UNA.
    pub unacknowledged: u64,
    /// The next position to send, SND.NXT.
    pub next: u64,
    /// The position behind all bytes that the application wrote.
    pub written: u64,
    /// Whether FIN follows them.
    pub has_fin: bool,
    window_end: u64,
    largest_peer_window: u64,
    board: Scoreboard,
    window: Window,
    control: Box<dyn CongestionControl>,
    phase: Phase,
    /// No duplicate acknowledgements below count (RFC 6582 section 3.2).
    recover: u64,
    duplicates: u32,
    pub round_trip: RoundTrip,
    /// When the retransmission timer, or the probe timer, expires.
    pub timer_ps: Option<u64>,
    /// Timeouts in a row.
    pub timeouts: u32,
    /// The next new segment has to carry CWR.
    pub must_send_cwr: bool,
    pub statistics: TcpStatistics,
}

impl Sender {
    /// After SYN was sent; nothing is known of the peer.
    pub(super) fn new(options: &TcpOptions, segment_bytes: u64) -> Sender {
        Sender {
            has_sack: false,
            nagle: options.nagle,
            segment_bytes,
            unacknowledged: 0,
            next: 1,
            written: 1,
            has_fin: false,
            window_end: 1,
            largest_peer_window: 0,
            board: Scoreboard::default(),
            window: Window {
                bytes: segment_bytes * u64::from(options.initial_window_segments),
                slow_start_threshold: u64::MAX,
                segment_bytes,
            },
            control: congestion::new(options.control),
            phase: Phase::Open,
            recover: 0,
            duplicates: 0,
            round_trip: RoundTrip::new(options.handshake_timeout_ps, options.least_timeout_ps),
            timer_ps: None,
            timeouts: 0,
            must_send_cwr: false,
            statistics: TcpStatistics::default(),
        }
    }

    /// SYN is acknowledged: what was agreed upon. After a lost SYN the window is one segment (RFC 5681 section 3.1).
    pub(super) fn established(&mut self, options: &TcpOptions, segment_bytes: u64, has_sack: bool) {
        self.has_sack = has_sack;
        self.segment_bytes = segment_bytes;
        self.window.segment_bytes = segment_bytes;
        let lost_syn = self.timeouts > 0;
        let segments = if lost_syn { 1 } else { options.initial_window_segments };
        if lost_syn {
            self.round_trip.handshake_timed_out();
        }
        self.round_trip.reset_back_off();
        self.window.bytes = segment_bytes * u64::from(segments.max(1));
        self.unacknowledged = 1;
        self.timeouts = 0;
        self.timer_ps = None;
    }

    /// The position behind the last one to send, with FIN.
    fn end(&self) -> u64 {
        self.written + u64::from(self.has_fin)
    }

    /// The congestion window in bytes.
    pub(super) fn congestion_window(&self) -> u64 {
        self.window.bytes
    }

    /// The bytes that Linux lets a connection have in its host's port: two segments, or a millisecond of its pacing rate if that
    /// is more: 1.2 windows a round trip, 2 in slow start below half of the threshold.
    pub(super) fn port_limit_bytes(&self) -> u64 {
        let least = 2 * self.segment_bytes;
        let Some(round_trip_ps) = self.round_trip.smoothed_ps() else { return u64::MAX };
        let is_early = self.window.bytes < self.window.slow_start_threshold / 2;
        let tenths = if is_early { 20 } else { 12 };
        let product = u128::from(self.window.bytes) * tenths * u128::from(MILLISECOND_PS / 10);
        (product / u128::from(round_trip_ps.max(1))).min(u64::MAX.into()).max(least.into()) as u64
    }

    /// Whether bytes or lost segments wait to be sent.
    pub(super) fn has_unsent(&self) -> bool {
        self.next < self.end() || self.board.lost_bytes() > 0
    }

    /// Whether FIN left.
    pub(super) fn has_sent_fin(&self) -> bool {
        self.has_fin && self.next == self.end()
    }

    /// Whether everything written, and FIN, is acknowledged.
    pub(super) fn is_done(&self) -> bool {
        self.unacknowledged == self.end()
    }

    /// Takes the peer's window.
    #[inline]
    pub(super) fn update_window(&mut self, window_end: u64, now_ps: u64) {
        self.largest_peer_window =
            self.largest_peer_window.max(window_end.saturating_sub(self.unacknowledged));
        let was_closed = self.window_end <= self.next;
        self.window_end = window_end;
        if was_closed && self.window_end > self.next && self.next == self.unacknowledged {
            self.timer_ps = None;
            self.timeouts = 0;
            self.round_trip.reset_back_off();
        }
        self.arm_probe(now_ps);
    }

    /// Sets the probe timer if data wait for a closed window and nothing else is under way (RFC 9293 section 3.8.6.1).
    fn arm_probe(&mut self, now_ps: u64) {
        let waits = self.next < self.end() && self.window_end <= self.next;
        if waits && self.next == self.unacknowledged && self.timer_ps.is_none() {
            self.timer_ps = Some(now_ps + self.round_trip.timeout_ps());
        }
    }

    /// Takes an acknowledgement of something that was sent.
    pub(super) fn acknowledge(&mut self, now_ps: u64, arrived: &Arrived<'_>) {
        let in_flight_before = self.board.in_flight_bytes();
        let acknowledged_bytes = arrived.position.saturating_sub(self.unacknowledged);
        let is_duplicate =
            acknowledged_bytes == 0 && arrived.may_be_duplicate && self.unacknowledged < self.next;
        let mut delivered = Delivered::default();
        if acknowledged_bytes > 0 {
            self.board.acknowledge(arrived.position, &mut delivered);
            // FIN is no byte of the application.
            let payload_end = arrived.position.min(self.written);
            self.statistics.acknowledged_bytes +=
                payload_end - self.unacknowledged.min(payload_end);
            self.unacknowledged = arrived.position;
            self.duplicates = 0;
            self.timeouts = 0;
        }
        if self.has_sack {
            for (start, end) in arrived.sacked {
                let (start, end) = ((*start).max(self.unacknowledged), (*end).min(self.next));
                if start < end {
                    self.board.sack(start, end, &mut delivered);
                }
            }
        }
        let sample = self.sample(now_ps, acknowledged_bytes > 0, &delivered, arrived);
        if acknowledged_bytes > 0 {
            self.round_trip.reset_back_off();
            // RFC 6298 sections 5.2 and 5.3.
            let is_outstanding = self.unacknowledged < self.next;
            self.timer_ps = is_outstanding.then(|| now_ps + self.round_trip.timeout_ps());
        }
        if self.is_probing() {
            // A peer that answers probes of its closed window keeps the connection.
            self.timeouts = 0;
        }
        self.update_window(arrived.window_end, now_ps);
        if is_duplicate && (!self.has_sack || delivered.has_sacked) {
            self.duplicates += 1;
            if !self.has_sack {
                self.board.guess_arrival(self.segment_bytes);
                delivered.bytes += self.segment_bytes;
            }
        }
        if arrived.echoes_mark {
            self.statistics.echoed_marks += 1;
        }
        let ack = Acknowledgement {
            now_ps,
            acknowledged_bytes,
            echoes_mark: arrived.echoes_mark,
            position: self.unacknowledged,
            sent: self.next,
            round_trip_ps: sample,
        };
        self.control.observe(&mut self.window, &ack);
        self.react(&ack, delivered.bytes, in_flight_before);
    }

    /// Takes round-trip times; returns that of the segment sent last.
    fn sample(
        &mut self,
        now_ps: u64,
        is_new: bool,
        delivered: &Delivered,
        arrived: &Arrived<'_>,
    ) -> Option<u64> {
        let (for_timeout_ps, latest_ps) = match delivered.sent_once_ps {
            Some((first_ps, last_ps)) => (now_ps - first_ps, now_ps - last_ps),
            // Karn's algorithm leaves segments sent twice to timestamps, which tell the two apart.
            None => {
                let by_timestamp_ps = arrived.timestamp_round_trip_ps.filter(|_| is_new)?;
                (by_timestamp_ps, by_timestamp_ps)
            }
        };
        self.round_trip.sample(for_timeout_ps);
        self.statistics.sample(latest_ps);
        Some(latest_ps)
    }

    /// Moves from phase to phase, and sets the window.
    fn react(&mut self, ack: &Acknowledgement, arrived_bytes: u64, in_flight_before: u64) {
        let segment_bytes = self.segment_bytes;
        let is_lossy = match self.has_sack {
            true => self.board.mark_lost(segment_bytes as u32),
            false => {
                let is_third = self.duplicates == DUPLICATE_THRESHOLD;
                is_third && self.unacknowledged > self.recover
            }
        };
        match self.phase {
            Phase::Open | Phase::Marked(_) if is_lossy => self.enter_recovery(ack.sent),
            Phase::Open if ack.echoes_mark => {
                self.reduce(Cause::Mark);
                let flight = self.next - self.unacknowledged;
                self.phase = Phase::Marked(Reduction::new(self.next, flight, false));
                self.must_send_cwr = true;
            }
            Phase::Open => {
                if ack.acknowledged_bytes > 0 && self.was_limited(in_flight_before) {
                    self.control.grow(&mut self.window, ack);
                }
                return;
            }
            Phase::Marked(reduction) | Phase::Recovery(reduction)
                if ack.position >= reduction.until =>
            {
                self.window.bytes = self.window.slow_start_threshold;
                self.phase = Phase::Open;
                if self.board.lost_bytes() > 0 {
                    self.enter_recovery(ack.sent);
                }
                return;
            }
            Phase::Recovery(_) => {
                if !self.has_sack && ack.acknowledged_bytes > 0 {
                    // A partial acknowledgement (RFC 6582 section 3.2 step 5).
                    self.board.mark_first_lost();
                    if let Phase::Recovery(reduction) = &mut self.phase {
                        reduction.must_send = true;
                    }
                }
            }
            Phase::Timeout { until } => {
                if ack.position >= until {
                    self.phase = Phase::Open;
                }
                if ack.acknowledged_bytes > 0 {
                    self.control.grow(&mut self.window, ack);
                }
                return;
            }
            Phase::Marked(_) => {}
        }
        let in_flight = self.board.in_flight_bytes();
        if let Phase::Marked(reduction) | Phase::Recovery(reduction) = &mut self.phase {
            let threshold = self.window.slow_start_threshold;
            self.window.bytes =
                reduction.window(arrived_bytes, in_flight, threshold, segment_bytes);
        }
    }

    /// Whether the window was what limited the sender (RFC 7661 section 4.1, and Linux: in slow start half of it).
    fn was_limited(&self, in_flight_bytes: u64) -> bool {
        match self.window.is_in_slow_start() {
            true => in_flight_bytes * 2 > self.window.bytes,
            false => in_flight_bytes + self.segment_bytes > self.window.bytes,
        }
    }

    fn reduce(&mut self, cause: Cause) {
        let in_flight = self.board.in_flight_bytes();
        self.window.slow_start_threshold = self.control.reduced(&self.window, in_flight, cause);
    }

    fn enter_recovery(&mut self, until: u64) {
        if !matches!(self.phase, Phase::Marked(_)) {
            self.reduce(Cause::Loss);
        }
        if !self.has_sack {
            self.board.mark_first_lost();
        }
        self.statistics.recoveries += 1;
        self.recover = until;
        let flight = self.next - self.unacknowledged;
        self.phase = Phase::Recovery(Reduction::new(until, flight, true));
    }

    /// The timer expired.
    pub(super) fn time_out(&mut self, now_ps: u64) {
        self.timeouts += 1;
        self.round_trip.back_off();
        if self.next == self.unacknowledged {
            // A closed window: the probe is the caller's.
            self.timer_ps = None;
            self.arm_probe(now_ps);
            return;
        }
        self.timer_ps = Some(now_ps + self.round_trip.timeout_ps());
        self.statistics.timeouts += 1;
        // RFC 5681 section 3.1: a second timeout of one segment leaves the threshold.
        if !matches!(self.phase, Phase::Timeout { .. }) {
            self.reduce(Cause::Timeout);
        }
        self.window.bytes = self.segment_bytes;
        self.board.mark_all_lost();
        self.duplicates = 0;
        self.recover = self.next;
        self.phase = Phase::Timeout { until: self.next };
    }

    /// Whether a zero-window probe is due when the timer expires.
    pub(super) fn is_probing(&self) -> bool {
        self.next == self.unacknowledged && self.next < self.end() && self.window_end <= self.next
    }

    /// Returns the next segment to send, if there is one.
    #[inline]
    pub(super) fn next_part(&mut self, now_ps: u64) -> Option<Part> {
        let part = self.choose()?;
        if let Phase::Marked(reduction) | Phase::Recovery(reduction) = &mut self.phase {
            reduction.sent(part.end - part.start);
        }
        if part.is_retransmission {
            self.board.sent_again(part.start, now_ps);
            self.statistics.retransmissions += 1;
        } else {
            self.board.sent(part.start, (part.end - part.start) as u32, now_ps);
            self.next = part.end;
        }
        if self.timer_ps.is_none() {
            self.timer_ps = Some(now_ps + self.round_trip.timeout_ps());
        }
        Some(part)
    }

    #[inline]
    fn choose(&mut self) -> Option<Part> {
        let in_flight = self.board.in_flight_bytes();
        let room = self.window.bytes.saturating_sub(in_flight);
        let again = |(start, length): (u64, u32)| Part {
            start,
            end: start + u64::from(length),
            is_retransmission: true,
        };
        if self.board.lost_bytes() > 0
            && let Some((start, length)) = self.board.next_lost()
        {
            let must_send = matches!(self.phase, Phase::Recovery(reduction) if reduction.must_send);
            // Even a window that is too small for one segment lets one out.
            let fits = room >= u64::from(length) || in_flight == 0;
            return (fits || must_send).then(|| again((start, length)));
        }
        let waiting = self.end() - self.next;
        let open = self.window_end.saturating_sub(self.next);
        // FIN may follow a full segment's bytes.
        let is_last = self.has_fin && waiting == self.segment_bytes + 1;
        let length = waiting.min(self.segment_bytes + u64::from(is_last)).min(open);
        if length > 0 {
            if room < length && in_flight > 0 {
                return None;
            }
            let is_small = length < self.segment_bytes;
            // RFC 9293 section 3.8.6.2.1: no part of a segment because the window is small.
            let is_silly = length < waiting && length < self.largest_peer_window / 2;
            let must_wait = self.nagle && length == waiting && !self.has_fin || is_silly;
            if is_small && must_wait && self.unacknowledged < self.next {
                return None;
            }
            let end = self.next + length;
            return Some(Part { start: self.next, end, is_retransmission: false });
        }
        self.choose_suspect(room)
    }

    /// RFC 6675's rules 3 and 4: nothing new can be sent, so that a segment that may be lost is sent again.
    fn choose_suspect(&mut self, room: u64) -> Option<Part> {
        let Phase::Recovery(reduction) = &mut self.phase else { return None };
        let suspect = self.board.next_suspect();
        let (start, length) = match suspect {
            Some(suspect) => suspect,
            None if reduction.has_rescued || !self.has_sack => return None,
            None => self.board.last_unsacked().filter(|last| last.0 < reduction.until)?,
        };
        if room < u64::from(length) {
            return None;
        }
        reduction.has_rescued |= suspect.is_none();
        Some(Part { start, end: start + u64::from(length), is_retransmission: true })
    }

    /// Forgets what the application wrote and that was never sent.
    pub(super) fn drop_unsent(&mut self) {
        self.written = self.written.min(self.next.max(1));
    }
}
