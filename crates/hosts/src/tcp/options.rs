// SPDX-License-Identifier: Apache-2.0
//! [`TcpOptions`]: the parameters of a connection, with Linux's defaults.

/// One millisecond in picoseconds.
const MS: u64 = 1_000_000_000;

/// The congestion control of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Control {
    /// Reno that grows once an ACK (RFC 5681 without byte counting), as ns-3's `TcpNewReno`.
    Reno,
    /// Reno that grows by acknowledged segments, as Linux's `reno` and ns-3's `TcpLinuxReno`.
    LinuxReno,
    /// Cubic (RFC 9438) with HyStart at the end of slow start.
    #[default]
    Cubic,
    /// Cubic (RFC 9438) whose slow start ends with the first loss.
    CubicWithoutHystart,
    /// Data Center TCP (RFC 8257). Both ends must have it.
    Dctcp,
}

impl Control {
    /// All of them, with their names in files.
    pub const NAMES: [(&'static str, Control); 5] = [
        ("reno", Control::Reno),
        ("linux-reno", Control::LinuxReno),
        ("cubic", Control::Cubic),
        ("cubic-without-hystart", Control::CubicWithoutHystart),
        ("dctcp", Control::Dctcp),
    ];

    /// Returns the one with a name.
    pub fn named(name: &str) -> Option<Control> {
        Control::NAMES.iter().find(|known| known.0 == name).map(|known| known.1)
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        Control::NAMES.iter().find(|known| known.1 == self).map_or("", |known| known.0)
    }
}

/// The parameters of a connection. Times are in picoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpOptions {
    /// The congestion control of what this end sends.
    pub control: Control,
    /// Whether to use explicit congestion notification (RFC 3168), if the peer does too. DCTCP always asks for it.
    pub ecn: bool,
    /// The most bytes of TCP payload and options of a segment. Default: the interface's MTU less 40.
    pub maximum_segment_bytes: Option<u16>,
    /// The initial congestion window in segments (RFC 6928: 10).
    pub initial_window_segments: u32,
    /// The bytes that may arrive before the application reads them: the largest window offered (Linux: 6 MiB).
    pub receive_buffer_bytes: u32,
    /// The least retransmission timeout (Linux: 200 ms; RFC 6298 and ns-3: 1 s).
    pub least_timeout_ps: u64,
    /// The first timeout of SYN (RFC 6298: 1 s; ns-3: 3 s).
    pub handshake_timeout_ps: u64,
    /// How long an acknowledgement of a single segment waits for a second one (ns-3: 200 ms). 0 acknowledges each segment.
    pub acknowledgement_delay_ps: u64,
    /// Whether to offer selective acknowledgements (RFC 2018).
    pub sack: bool,
    /// Whether to offer timestamps (RFC 7323).
    pub timestamps: bool,
    /// Whether to offer window scaling (RFC 7323).
    pub window_scaling: bool,
    /// Whether a small segment waits until everything sent is acknowledged (Nagle; RFC 9293 section 3.7.4).
    pub nagle: bool,
    /// Whether to limit what the connection has in its host's port (Linux's TCP small queues): two segments, or what it sends
    /// in a millisecond if that is more.
    pub small_queue: bool,
    /// How long the end that closed first keeps the connection's ports (TIME-WAIT); RFC 9293 has four minutes.
    pub time_wait_ps: u64,
    /// Timeouts of one segment in a row until the connection is given up (Linux: 15).
    pub most_timeouts: u32,
    /// Timeouts of SYN in a row until the connection is given up (Linux: 6).
    pub most_handshake_timeouts: u32,
}

impl Default for TcpOptions {
    fn default() -> TcpOptions {
        TcpOptions {
            control: Control::default(),
            ecn: false,
            maximum_segment_bytes: None,
            initial_window_segments: 10,
            receive_buffer_bytes: 6 << 20,
            least_timeout_ps: 200 * MS,
            handshake_timeout_ps: 1000 * MS,
            acknowledgement_delay_ps: 200 * MS,
            sack: true,
            timestamps: true,
            window_scaling: true,
            nagle: false,
            small_queue: true,
            time_wait_ps: 100 * MS,
            most_timeouts: 15,
            most_handshake_timeouts: 6,
        }
    }
}

impl TcpOptions {
    /// Whether it asks for ECN.
    pub fn asks_for_ecn(&self) -> bool {
        self.ecn || self.control == Control::Dctcp
    }
}
