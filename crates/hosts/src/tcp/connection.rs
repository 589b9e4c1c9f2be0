// SPDX-License-Identifier: Apache-2.0
//! [`Connection`]: a TCP connection as a state machine over segments (RFC 9293). The caller hands it segments and the time,
//! takes segments to send from [`Connection::poll`], and calls [`Connection::expire`] at [`Connection::next_timer_ps`].
//! `sender` decides which bytes leave, `receiver` what to acknowledge; this file opens, closes and resets.

mod arrival;
mod departure;

use super::options::TcpOptions;
use super::receiver::Receiver;
use super::sender::Sender;
use super::statistics::TcpStatistics;
use super::stream::{Payload, SendStream};
use crate::wire::ipv4::Ecn;
use crate::wire::tcp::{Flags, TIMESTAMPS_BYTES, TcpHeader};

/// Ticks of timestamps: a millisecond (RFC 7323 section 5.4 allows 1 ms to 1 s).
const TICK_PS: u64 = 1_000_000_000;
/// The segment size of a peer that names none (RFC 9293 section 3.7.1).
const DEFAULT_SEGMENT_BYTES: u16 = 536;

/// What happened to a connection since the application looked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpEvents {
    /// Both ends agreed to the connection.
    pub is_connected: bool,
    /// This many bytes arrived in order.
    pub arrived_bytes: u64,
    /// The peer acknowledged this many bytes.
    pub acknowledged_bytes: u64,
    /// The peer sends no more bytes.
    pub is_peer_finished: bool,
    /// The connection is over: closed by both ends, reset, or given up.
    pub is_over: bool,
}

impl TcpEvents {
    /// Whether something happened.
    #[inline]
    pub fn any(&self) -> bool {
        *self != TcpEvents::default()
    }
}

/// A segment to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Its header.
    pub header: TcpHeader,
    /// Its payload.
    pub payload: Payload,
    /// The ECN field of its packet.
    pub ecn: Ecn,
}

/// The states of RFC 9293 section 3.3.2 without LISTEN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpState {
    /// SYN was sent.
    SynSent,
    /// SYN arrived and was answered.
    SynReceived,
    /// Open.
    Established,
    /// This end sent FIN.
    FinWait1,
    /// The peer acknowledged FIN.
    FinWait2,
    /// Both ends sent FIN; this end's is not acknowledged.
    Closing,
    /// Closed; old segments may arrive.
    TimeWait,
    /// The peer sent FIN.
    CloseWait,
    /// The peer sent FIN, then this end did.
    LastAck,
    /// Over.
    Closed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    SynSent,
    SynReceived,
    Open,
    TimeWait { until_ps: u64 },
    Closed,
}

/// A connection.
pub struct Connection {
    options: TcpOptions,
    stage: Stage,
    local_port: u16,
    remote_port: u16,
    /// The sequence numbers of both SYNs.
    local_first: u32,
    remote_first: u32,
    sender: Sender,
    receiver: Receiver,
    stream: SendStream,
    /// Whether FIN follows what was written, as soon as the connection is open.
    has_closed: bool,
    must_send_syn: bool,
    must_send_reset: bool,
    must_probe: bool,
    /// The peer's segment size.
    remote_segment_bytes: u16,
    local_segment_bytes: u16,
    has_timestamps: bool,
    has_sack: bool,
    has_ecn: bool,
    has_window_scaling: bool,
    /// Whether the peer's FIN came before this end's left: no TIME-WAIT follows.
    has_peer_closed_first: bool,
    /// The shifts of the windows in both directions.
    local_shift: u8,
    remote_shift: u8,
    /// The peer's timestamp to echo, TS.Recent.
    echo: u32,
    /// The position of the last acknowledgement sent, Last.ACK.sent.
    last_acknowledged: u64,
    last_window: u16,
    /// Sequence and acknowledgement of the segment that gave the peer's window, SND.WL1 and SND.WL2.
    window_from: (u64, u64),
    events: TcpEvents,
}

impl Connection {
    /// Opens a connection. `interface_segment_bytes` is the interface's MTU less 40.
    pub fn connect(
        options: TcpOptions,
        ports: (u16, u16),
        first_sequence: u32,
        interface_segment_bytes: u16,
        keeps_bytes: bool,
    ) -> Connection {
        let local_segment_bytes = options.maximum_segment_bytes.unwrap_or(interface_segment_bytes);
        let shift = match options.window_scaling {
            // The least shift that can say the whole buffer.
            true => (0..14).find(|shift| options.receive_buffer_bytes >> shift <= 0xffff),
            false => Some(0),
        };
        Connection {
            sender: Sender::new(&options, u64::from(local_segment_bytes)),
            receiver: Receiver::new(&options, keeps_bytes),
            stream: SendStream::default(),
            stage: Stage::SynSent,
            local_port: ports.0,
            remote_port: ports.1,
            local_first: first_sequence,
            remote_first: 0,
            has_closed: false,
            must_send_syn: true,
            must_send_reset: false,
            must_probe: false,
            remote_segment_bytes: DEFAULT_SEGMENT_BYTES,
            local_segment_bytes,
            has_timestamps: options.timestamps,
            has_sack: options.sack,
            has_ecn: options.asks_for_ecn(),
            has_window_scaling: options.window_scaling,
            has_peer_closed_first: false,
            local_shift: shift.unwrap_or(14),
            remote_shift: 0,
            echo: 0,
            last_acknowledged: 0,
            last_window: 0,
            window_from: (0, 0),
            events: TcpEvents::default(),
            options,
        }
    }

    /// Answers a SYN. `None` if the segment is none.
    pub fn accept(
        options: TcpOptions,
        syn: &TcpHeader,
        first_sequence: u32,
        interface_segment_bytes: u16,
        keeps_bytes: bool,
    ) -> Option<Connection> {
        if !syn.flags.contains(Flags::SYN) || syn.flags.intersects(Flags::ACK | Flags::RST) {
            return None;
        }
        let ports = (syn.destination_port, syn.source_port);
        let mut connection = Connection::connect(
            options,
            ports,
            first_sequence,
            interface_segment_bytes,
            keeps_bytes,
        );
        connection.stage = Stage::SynReceived;
        // RFC 3168 section 6.1.1: SYN asks with both bits.
        let asks_for_ecn = syn.flags.contains(Flags::ECE | Flags::CWR);
        connection.take_syn(syn, asks_for_ecn);
        Some(connection)
    }

    fn take_syn(&mut self, syn: &TcpHeader, has_ecn: bool) {
        self.remote_first = syn.sequence;
        self.receiver.next = 1;
        self.has_ecn &= has_ecn;
        self.remote_segment_bytes =
            syn.options.maximum_segment_size.unwrap_or(DEFAULT_SEGMENT_BYTES).max(64);
        self.has_timestamps &= syn.options.timestamps.is_some();
        self.has_sack &= syn.options.sack_permitted;
        self.has_window_scaling &= syn.options.window_scale.is_some();
        match syn.options.window_scale.filter(|_| self.has_window_scaling) {
            Some(shift) => self.remote_shift = shift,
            None => self.local_shift = 0,
        }
        if let Some((value, _)) = syn.options.timestamps {
            self.echo = value;
        }
        // The window of SYN is never scaled (RFC 7323 section 2.2).
        self.sender.update_window(1 + u64::from(syn.window), 0);
    }

    fn open(&mut self) {
        let size = self.remote_segment_bytes.min(self.local_segment_bytes);
        // RFC 6691: options that each segment carries are part of the segment size.
        let options = if self.has_timestamps { TIMESTAMPS_BYTES as u16 } else { 0 };
        self.sender.established(&self.options, u64::from(size - options), self.has_sack);
        self.stage = Stage::Open;
        self.sender.has_fin = self.has_closed;
        self.events.is_connected = true;
    }

    /// The state.
    pub fn state(&self) -> TcpState {
        let is_finished = self.receiver.is_finished();
        match self.stage {
            Stage::SynSent => TcpState::SynSent,
            Stage::SynReceived => TcpState::SynReceived,
            Stage::TimeWait { .. } => TcpState::TimeWait,
            Stage::Closed => TcpState::Closed,
            Stage::Open => match (self.has_closed, is_finished, self.sender.is_done()) {
                (false, false, _) => TcpState::Established,
                (false, true, _) => TcpState::CloseWait,
                (true, false, false) => TcpState::FinWait1,
                (true, false, true) => TcpState::FinWait2,
                (true, true, _) if self.has_peer_closed_first => TcpState::LastAck,
                (true, true, _) => TcpState::Closing,
            },
        }
    }

    /// Whether it is over and can be removed.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.stage == Stage::Closed
    }

    /// The ports of both ends, this one's first.
    pub fn ports(&self) -> (u16, u16) {
        (self.local_port, self.remote_port)
    }

    /// The counters.
    pub fn statistics(&self) -> TcpStatistics {
        let out_of_order = self.receiver.out_of_order;
        TcpStatistics { out_of_order, ..self.sender.statistics.clone() }
    }

    /// The congestion window, in bytes.
    pub fn congestion_window_bytes(&self) -> u64 {
        self.sender.congestion_window()
    }

    /// The most bytes of payload that it has in its host's port, if it limits them.
    #[inline]
    pub(crate) fn port_limit_bytes(&self) -> Option<u64> {
        self.options.small_queue.then(|| self.sender.port_limit_bytes())
    }

    /// Whether segments with payload wait for the windows or for the port.
    #[inline]
    pub(crate) fn has_unsent(&self) -> bool {
        self.sender.has_unsent()
    }

    /// The smoothed round-trip time, in picoseconds.
    pub fn smoothed_round_trip_ps(&self) -> Option<u64> {
        self.sender.round_trip.smoothed_ps()
    }

    /// Bytes written and not acknowledged.
    pub fn unacknowledged_bytes(&self) -> u64 {
        self.sender.written - self.sender.unacknowledged.clamp(1, self.sender.written)
    }

    /// Takes what happened since the last call.
    #[inline]
    pub fn take_events(&mut self) -> TcpEvents {
        std::mem::take(&mut self.events)
    }

    /// Writes bytes.
    pub fn write(&mut self, bytes: &[u8]) {
        if !self.has_closed {
            self.stream.write(self.sender.written, bytes);
            self.sender.written += bytes.len() as u64;
        }
    }

    /// Writes zeros that are not stored.
    pub fn write_absent(&mut self, bytes: u64) {
        if !self.has_closed {
            self.sender.written += bytes;
        }
    }

    /// Reads up to `most` bytes: their number, and the bytes if the connection keeps them.
    pub fn read(&mut self, most: u64) -> (u64, Vec<u8>) {
        let read = self.receiver.stream.read(most);
        if self.stage == Stage::Open && self.receiver.has_news(self.sender_segment_bytes()) {
            self.receiver.must_acknowledge = true;
        }
        read
    }

    fn sender_segment_bytes(&self) -> u64 {
        u64::from(self.local_segment_bytes)
    }

    /// Forgets what was written and never sent.
    pub fn drop_unsent(&mut self) {
        self.sender.drop_unsent();
        self.stream.truncate(self.sender.written);
    }

    /// Sends FIN behind what was written; bytes may still arrive.
    pub fn close(&mut self) {
        self.has_closed = true;
        self.sender.has_fin |= self.stage == Stage::Open;
    }

    /// Resets the connection.
    pub fn abort(&mut self) {
        if !matches!(self.stage, Stage::Closed | Stage::TimeWait { .. }) {
            self.must_send_reset = self.stage != Stage::SynSent;
            self.finish();
        }
    }

    fn finish(&mut self) {
        self.stage = Stage::Closed;
        self.events.is_over = true;
    }

    /// When [`Connection::expire`] is to be called, in picoseconds.
    #[inline]
    pub fn next_timer_ps(&self) -> Option<u64> {
        match self.stage {
            Stage::Closed => None,
            Stage::TimeWait { until_ps } => Some(until_ps),
            _ => match (self.sender.timer_ps, self.receiver.timer_ps) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            },
        }
    }

    /// Does what is due now.
    pub fn expire(&mut self, now_ps: u64) {
        if let Stage::TimeWait { until_ps } = self.stage
            && until_ps <= now_ps
        {
            self.finish();
        }
        if self.receiver.timer_ps.is_some_and(|due_ps| due_ps <= now_ps) {
            self.receiver.timer_ps = None;
            self.receiver.must_acknowledge = true;
        }
        if self.sender.timer_ps.is_none_or(|due_ps| due_ps > now_ps) {
            return;
        }
        let most = match self.stage {
            Stage::SynSent | Stage::SynReceived => {
                self.must_send_syn = true;
                self.sender.timer_ps = None;
                self.sender.timeouts += 1;
                self.sender.round_trip.back_off();
                self.options.most_handshake_timeouts
            }
            _ => {
                self.must_probe = self.sender.is_probing();
                self.sender.time_out(now_ps);
                self.options.most_timeouts
            }
        };
        if self.sender.timeouts > most {
            self.finish();
        }
    }
}
