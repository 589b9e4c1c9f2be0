// SPDX-License-Identifier: Apache-2.0
//! Segments that leave a connection: which one is next, and its header.

use super::super::options::Control;
use super::super::stream::Payload;
use super::{Connection, Outgoing, Stage, TICK_PS};
use crate::wire::ipv4::Ecn;
use crate::wire::tcp::{Flags, Options, SackBlocks, TcpHeader};

impl Connection {
    /// Returns the next segment to send now, if there is one; without room in the port none with payload.
    #[inline]
    pub fn poll(&mut self, now_ps: u64, port_has_room: bool) -> Option<Outgoing> {
        if std::mem::take(&mut self.must_send_reset) {
            let flags = Flags::RST | Flags::ACK;
            return Some(self.outgoing(now_ps, flags, self.sender.next, Payload::default()));
        }
        match self.stage {
            Stage::Closed => return None,
            Stage::SynSent | Stage::SynReceived => return self.poll_handshake(now_ps),
            _ => {}
        }
        if let Some(earlier) = self.receiver.earlier.take() {
            let mut outgoing =
                self.outgoing(now_ps, Flags::ACK, self.sender.next, Payload::default());
            outgoing.header.acknowledgement =
                self.remote_first.wrapping_add(earlier.position as u32);
            outgoing.header.flags = match earlier.echoes_mark {
                true => Flags::ACK | Flags::ECE,
                false => Flags::ACK,
            };
            return Some(outgoing);
        }
        if port_has_room && let Some(part) = self.sender.next_part(now_ps) {
            let payload_end = part.end.min(self.sender.written);
            let payload = self.stream.payload(part.start, payload_end);
            let mut flags = Flags::ACK;
            if self.sender.has_fin && part.end > self.sender.written {
                flags = flags | Flags::FIN;
            }
            if payload_end == self.sender.written && payload.length() > 0 {
                flags = flags | Flags::PSH;
            }
            if !part.is_retransmission && std::mem::take(&mut self.sender.must_send_cwr) {
                flags = flags | Flags::CWR;
            }
            self.receiver.acknowledged();
            let is_data = payload.length() > 0 && !part.is_retransmission;
            let mut outgoing = self.outgoing(now_ps, flags, part.start, payload);
            if is_data && self.has_ecn {
                outgoing.ecn = Ecn::Capable0;
            }
            return Some(outgoing);
        }
        if std::mem::take(&mut self.must_probe) {
            // RFC 9293 section 3.8.6.1: an old number makes the peer answer with its window.
            let sequence = self.sender.unacknowledged - 1;
            return Some(self.outgoing(now_ps, Flags::ACK, sequence, Payload::default()));
        }
        if self.receiver.must_acknowledge {
            self.receiver.acknowledged();
            return Some(self.outgoing(now_ps, Flags::ACK, self.sender.next, Payload::default()));
        }
        None
    }

    fn poll_handshake(&mut self, now_ps: u64) -> Option<Outgoing> {
        if !std::mem::take(&mut self.must_send_syn) {
            return None;
        }
        let asks = self.options.asks_for_ecn() && self.has_ecn;
        let is_answer = self.stage == Stage::SynReceived;
        let flags = match (is_answer, asks) {
            (false, false) => Flags::SYN,
            (false, true) => Flags::SYN | Flags::ECE | Flags::CWR,
            (true, false) => Flags::SYN | Flags::ACK,
            (true, true) => Flags::SYN | Flags::ACK | Flags::ECE,
        };
        if self.sender.timeouts > 0 || self.sender.timer_ps.is_some() {
            self.sender.statistics.retransmissions += 1;
        }
        self.sender.timer_ps = Some(now_ps + self.sender.round_trip.timeout_ps());
        let mut outgoing = self.outgoing(now_ps, flags, 0, Payload::default());
        // The window of SYN is not scaled, and its timestamps are there before the peer agrees.
        let window = self.receiver.offer(1).min(0xffff);
        outgoing.header.window = window as u16;
        outgoing.header.options = Options {
            maximum_segment_size: Some(self.local_segment_bytes),
            window_scale: self.has_window_scaling.then_some(self.local_shift),
            sack_permitted: self.has_sack,
            ..outgoing.header.options
        };
        if !is_answer {
            outgoing.header.acknowledgement = 0;
        }
        Some(outgoing)
    }

    #[inline]
    fn outgoing(&mut self, now_ps: u64, flags: Flags, start: u64, payload: Payload) -> Outgoing {
        self.sender.statistics.segments_sent += 1;
        let mut flags = flags;
        if self.has_ecn && self.receiver.echoes_mark && !flags.contains(Flags::SYN) {
            flags = flags | Flags::ECE;
        }
        let timestamps = self.has_timestamps.then_some(((now_ps / TICK_PS) as u32, self.echo));
        let mut sack = SackBlocks::default();
        if self.has_sack {
            for (start, end) in self.receiver.selective() {
                let number = |position: u64| self.remote_first.wrapping_add(position as u32);
                sack.push((number(start), number(end)));
            }
        }
        let window = self.receiver.offer(u64::from(self.local_segment_bytes)) >> self.local_shift;
        self.last_acknowledged = self.receiver.next;
        let is_dctcp = self.has_ecn && self.options.control == Control::Dctcp;
        Outgoing {
            header: TcpHeader {
                source_port: self.local_port,
                destination_port: self.remote_port,
                sequence: self.local_first.wrapping_add(start as u32),
                acknowledgement: self.remote_first.wrapping_add(self.receiver.next as u32),
                flags,
                window: window.min(0xffff) as u16,
                options: Options { timestamps, sack, ..Options::default() },
            },
            payload,
            // RFC 3168 section 6.1.4 and 6.1.5: acknowledgements and retransmissions are not capable; with DCTCP all are.
            ecn: if is_dctcp { Ecn::Capable0 } else { Ecn::NotCapable },
        }
    }
}
