// SPDX-License-Identifier: Apache-2.0
//! Segments that arrive at a connection (RFC 9293 section 3.10.7).

use super::super::receiver::Incoming;
use super::super::sender::Arrived;
use super::{Connection, Stage, TICK_PS};
use crate::wire::View;
use crate::wire::ipv4::Ecn;
use crate::wire::tcp::{Flags, MAX_SACK_BLOCKS, TcpHeader};

impl Connection {
    /// Takes a segment.
    pub fn receive(&mut self, now_ps: u64, header: &TcpHeader, payload: View<'_>, ecn: Ecn) {
        self.sender.statistics.segments_received += 1;
        self.sender.statistics.marks += u64::from(ecn == Ecn::Congestion);
        match self.stage {
            Stage::Closed => {}
            Stage::SynSent => self.receive_in_syn_sent(now_ps, header),
            _ => self.receive_synchronized(now_ps, header, payload, ecn),
        }
    }

    /// RFC 9293 section 3.10.7.3; simultaneous opens are refused.
    fn receive_in_syn_sent(&mut self, now_ps: u64, header: &TcpHeader) {
        let flags = header.flags;
        if !flags.contains(Flags::ACK) || header.acknowledgement != self.local_first.wrapping_add(1)
        {
            return;
        }
        if flags.contains(Flags::RST) {
            self.finish();
            return;
        }
        if flags.contains(Flags::SYN) {
            let has_ecn = flags.contains(Flags::ECE) && !flags.contains(Flags::CWR);
            self.take_syn(header, has_ecn);
            self.sample_handshake(now_ps, header);
            self.open();
            self.window_from = (0, 1);
            self.receiver.must_acknowledge = true;
        }
    }

    /// The first sample of the round-trip time.
    fn sample_handshake(&mut self, now_ps: u64, header: &TcpHeader) {
        let sample = match (self.syn_sent_ps(), header.options.timestamps) {
            (Some(sent_ps), _) => Some(now_ps - sent_ps),
            (None, Some((_, echo))) => Some(elapsed_ps(now_ps, echo)),
            (None, None) => None,
        };
        if let Some(sample_ps) = sample {
            self.sender.round_trip.sample(sample_ps);
            self.sender.statistics.sample(sample_ps);
        }
    }

    /// When the only SYN was sent: its timer's start. `None` after a timeout.
    fn syn_sent_ps(&self) -> Option<u64> {
        let timer_ps = self.sender.timer_ps.filter(|_| self.sender.timeouts == 0)?;
        timer_ps.checked_sub(self.sender.round_trip.timeout_ps())
    }

    /// The position of a peer's sequence number, near to what is expected.
    #[inline]
    fn remote_position(&self, sequence: u32) -> i64 {
        let expected = self.remote_first.wrapping_add(self.receiver.next as u32);
        self.receiver.next as i64 + i64::from(sequence.wrapping_sub(expected) as i32)
    }

    /// The position of an acknowledged sequence number.
    #[inline]
    fn local_position(&self, sequence: u32) -> i64 {
        let base = self.sender.unacknowledged;
        let expected = self.local_first.wrapping_add(base as u32);
        base as i64 + i64::from(sequence.wrapping_sub(expected) as i32)
    }

    /// RFC 9293 section 3.10.7.4.
    fn receive_synchronized(
        &mut self,
        now_ps: u64,
        header: &TcpHeader,
        payload: View<'_>,
        ecn: Ecn,
    ) {
        let flags = header.flags;
        let has_fin = flags.contains(Flags::FIN);
        let length = payload.length() as u64 + u64::from(has_fin);
        let position = self.remote_position(header.sequence);
        if self.stage == Stage::SynReceived && flags.contains(Flags::SYN) {
            // The answer to SYN was lost.
            self.must_send_syn = true;
            return;
        }
        // RFC 7323 section 5.3: an old duplicate by its timestamp.
        let is_old = self.has_timestamps
            && header.options.timestamps.is_some_and(|(value, _)| is_before(value, self.echo));
        let accepted = u64::try_from(position).ok().filter(|position| {
            self.receiver.accepts(*position, length) && (!is_old || flags.contains(Flags::RST))
        });
        let Some(position) = accepted else {
            self.receiver.must_acknowledge |= !flags.contains(Flags::RST);
            return;
        };
        if flags.contains(Flags::RST) {
            // RFC 5961 section 3.2: only the expected number resets.
            match position == self.receiver.next {
                true => self.finish(),
                false => self.receiver.must_acknowledge = true,
            }
            return;
        }
        if flags.contains(Flags::SYN) {
            // RFC 5961 section 4.2.
            self.receiver.must_acknowledge = true;
            return;
        }
        if !flags.contains(Flags::ACK) {
            return;
        }
        if let Some((value, _)) = header.options.timestamps
            && position <= self.last_acknowledged.max(1)
        {
            self.echo = value;
        }
        if self.stage == Stage::SynReceived {
            if self.local_position(header.acknowledgement) != 1 {
                self.must_send_reset = true;
                return;
            }
            self.sample_handshake(now_ps, header);
            self.open();
            self.window_from = (0, 0);
        }
        self.take_acknowledgement(now_ps, header, position, length == 0);
        if length > 0 {
            self.take_payload(now_ps, position, payload, header, ecn);
        }
        self.close_if_done(now_ps);
    }

    fn take_payload(
        &mut self,
        now_ps: u64,
        position: u64,
        payload: View<'_>,
        header: &TcpHeader,
        ecn: Ecn,
    ) {
        if matches!(self.stage, Stage::TimeWait { .. }) {
            self.receiver.must_acknowledge = true;
            return;
        }
        let was_finished = self.receiver.is_finished();
        let incoming = Incoming {
            position,
            payload,
            has_fin: header.flags.contains(Flags::FIN),
            is_marked: self.has_ecn && ecn == Ecn::Congestion,
            has_cwr: header.flags.contains(Flags::CWR),
        };
        let arrived = self.receiver.take(now_ps, &incoming);
        self.sender.statistics.received_bytes += arrived;
        self.events.arrived_bytes += arrived;
        if self.receiver.is_finished() && !was_finished {
            self.events.is_peer_finished = true;
            self.has_peer_closed_first = !self.sender.has_sent_fin();
        }
    }

    fn take_acknowledgement(
        &mut self,
        now_ps: u64,
        header: &TcpHeader,
        position: u64,
        is_empty: bool,
    ) {
        let acknowledged = self.local_position(header.acknowledgement);
        if acknowledged > self.sender.next as i64 {
            self.receiver.must_acknowledge = true;
            return;
        }
        let Some(acknowledged) =
            u64::try_from(acknowledged).ok().filter(|to| *to >= self.sender.unacknowledged)
        else {
            return;
        };
        let offered = u64::from(header.window) << self.remote_shift;
        let is_same_window = header.window == self.last_window;
        // RFC 9293 section 3.10.7.4: only a newer segment's window counts.
        let window_end = match (position, acknowledged) >= self.window_from {
            true => {
                self.window_from = (position, acknowledged);
                self.last_window = header.window;
                acknowledged + offered
            }
            false => self.sender_window_end(acknowledged),
        };
        let mut sacked = [(0, 0); MAX_SACK_BLOCKS];
        let mut count = 0;
        for (start, end) in header.options.sack.as_slice() {
            let (start, end) = (self.local_position(*start), self.local_position(*end));
            if let (Ok(start), Ok(end)) = (u64::try_from(start), u64::try_from(end)) {
                sacked[count] = (start, end);
                count += 1;
            }
        }
        let round_trip = header.options.timestamps.map(|(_, echo)| elapsed_ps(now_ps, echo));
        let before = self.sender.statistics.acknowledged_bytes;
        let arrived = Arrived {
            position: acknowledged,
            window_end,
            may_be_duplicate: is_empty && is_same_window,
            echoes_mark: self.has_ecn && header.flags.contains(Flags::ECE),
            sacked: &sacked[..count],
            timestamp_round_trip_ps: round_trip.filter(|_| self.has_timestamps),
        };
        self.sender.acknowledge(now_ps, &arrived);
        let bytes = self.sender.statistics.acknowledged_bytes - before;
        if bytes > 0 {
            self.events.acknowledged_bytes += bytes;
            self.stream.release_before(acknowledged);
        }
    }

    /// The end of the window known before, seen from an older segment.
    fn sender_window_end(&self, acknowledged: u64) -> u64 {
        let offered = u64::from(self.last_window) << self.remote_shift;
        (self.window_from.1 + offered).max(acknowledged)
    }

    fn close_if_done(&mut self, now_ps: u64) {
        let is_finished = self.receiver.is_finished();
        if self.stage == Stage::Open && self.has_closed && is_finished && self.sender.is_done() {
            if self.has_peer_closed_first {
                self.finish();
            } else {
                self.stage = Stage::TimeWait { until_ps: now_ps + self.options.time_wait_ps };
                self.sender.timer_ps = None;
            }
        }
    }
}

/// Whether a timestamp is older than another one.
fn is_before(value: u32, other: u32) -> bool {
    (value.wrapping_sub(other) as i32) < 0
}

/// The time since a timestamp of this end, in picoseconds.
fn elapsed_ps(now_ps: u64, echo: u32) -> u64 {
    u64::from(((now_ps / TICK_PS) as u32).wrapping_sub(echo)) * TICK_PS
}
