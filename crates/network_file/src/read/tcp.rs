// SPDX-License-Identifier: Apache-2.0
//! Reads the options of TCP that several applications share.

use crate::codes;
use crate::format::value::Record;
use crate::model::{CongestionControl, DelayedAck, TcpOptions};
use document::Messages;

/// The payload of the largest IPv4 packet with a TCP header.
const MAX_SEGMENT_BYTES: u64 = 65_495;

/// The largest window with scaling (RFC 7323, 2.3).
const MAX_WINDOW_BYTES: u64 = 1 << 30;

/// Reads the options of an application.
pub(super) fn options(record: &Record, messages: &Messages) -> TcpOptions {
    let default = TcpOptions::default();
    let control = record.word("control").map_or(default.control, |word| match word {
        "reno" => CongestionControl::Reno,
        "linux-reno" => CongestionControl::LinuxReno,
        "dctcp" => CongestionControl::Dctcp,
        _ => CongestionControl::Cubic,
    });
    let is_dctcp = control == CongestionControl::Dctcp;
    if is_dctcp && record.truth("ecn") == Some(false) {
        let message = "`dctcp` needs explicit congestion notification, and `ecn` is false";
        messages.error(codes::CONFLICT, record.span_of("ecn"), message, "leave `ecn` out");
    }
    let bounded = |name: &str, default: u64, most: u64| {
        let value = record.number(name).unwrap_or(default);
        if value == 0 || value > most {
            let message = format!("`{name}` must be from 1 to {most} bytes, not {value}");
            messages.error(codes::BAD_VALUE, record.span_of(name), message, "");
        }
        value.clamp(1, most)
    };
    let segment = bounded("segment", default.segment_bytes.into(), MAX_SEGMENT_BYTES);
    let window = bounded("window", default.window_bytes, MAX_WINDOW_BYTES);
    if window < segment {
        let message = format!("`window` holds no segment of {segment} bytes");
        messages.error(codes::CONFLICT, record.span_of("window"), message, "");
    }
    if record.number("min_rto") == Some(0) {
        let message = "`min_rto` is zero";
        messages.error(codes::BAD_VALUE, record.span_of("min_rto"), message, "");
    }
    TcpOptions {
        control,
        segment_bytes: segment as u32,
        window_bytes: window,
        initial_window: record
            .number("initial_window")
            .map_or(default.initial_window, |it| it as u32),
        min_rto_ps: record.number("min_rto").unwrap_or(default.min_rto_ps),
        delayed_ack: match (record.truth("delayed_ack"), record.number("delayed_ack")) {
            (Some(false), _) | (_, Some(0)) => DelayedAck::Off,
            (_, Some(longest)) => DelayedAck::Longest(longest),
            _ => default.delayed_ack,
        },
        has_ecn: record.truth("ecn").unwrap_or(is_dctcp),
        has_sack: record.truth("sack").unwrap_or(true),
        has_small_queue: record.truth("small_queue").unwrap_or(true),
        port: port(record, "port"),
        tos: tos(record),
    }
}

/// A port of TCP or UDP.
pub(super) fn port(record: &Record, name: &str) -> Option<u16> {
    record.number(name).and_then(|port| u16::try_from(port).ok())
}

/// The type of service byte.
pub(super) fn tos(record: &Record) -> u8 {
    record.number("tos").and_then(|tos| u8::try_from(tos).ok()).unwrap_or(0)
}
