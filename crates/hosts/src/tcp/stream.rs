// SPDX-License-Identifier: Apache-2.0
//! Bytes of a connection: [`Payload`] of a segment, the sender's unacknowledged bytes ([`SendStream`]) and the receiver's
//! bytes in order ([`ReceiveStream`]). Zeros that no program reads are lengths.

use crate::wire::View;
use std::collections::{BTreeMap, VecDeque};

/// The payload of a segment: stored bytes, and zeros behind them that are not stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Payload {
    /// The stored bytes.
    pub bytes: Vec<u8>,
    /// The number of zero bytes behind them.
    pub absent_bytes: u32,
}

impl Payload {
    /// Returns the number of bytes, stored or not.
    pub fn length(&self) -> u64 {
        self.bytes.len() as u64 + u64::from(self.absent_bytes)
    }

    /// Returns the bytes for a frame.
    pub fn view(&self) -> View<'_> {
        View { bytes: &self.bytes, absent_bytes: self.absent_bytes }
    }
}

/// What an application wrote and the peer has not acknowledged: pieces of stored bytes by position. All other positions
/// are zeros.
#[derive(Clone, Debug, Default)]
pub(super) struct SendStream {
    pieces: VecDeque<(u64, Vec<u8>)>,
}

impl SendStream {
    /// Adds bytes behind all others.
    pub(super) fn write(&mut self, position: u64, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.pieces.push_back((position, bytes.to_vec()));
        }
    }

    /// Forgets the bytes before a position.
    #[inline]
    pub(super) fn release_before(&mut self, position: u64) {
        while let Some((start, bytes)) = self.pieces.front()
            && start + bytes.len() as u64 <= position
        {
            self.pieces.pop_front();
        }
    }

    /// Forgets the bytes from a position on.
    pub(super) fn truncate(&mut self, position: u64) {
        while let Some((start, bytes)) = self.pieces.back_mut()
            && *start + bytes.len() as u64 > position
        {
            if *start >= position {
                self.pieces.pop_back();
            } else {
                bytes.truncate((position - *start) as usize);
            }
        }
    }

    /// Returns the bytes from one position to another.
    #[inline]
    pub(super) fn payload(&self, from: u64, to: u64) -> Payload {
        let mut bytes = Vec::new();
        if !self.pieces.is_empty() {
            let first =
                self.pieces.partition_point(|(start, bytes)| start + bytes.len() as u64 <= from);
            for (start, piece) in self.pieces.range(first..).take_while(|piece| piece.0 < to) {
                let begin = from.max(*start);
                bytes.resize((begin - from) as usize, 0);
                let end = to.min(start + piece.len() as u64);
                bytes.extend_from_slice(&piece[(begin - start) as usize..(end - start) as usize]);
            }
        }
        let absent_bytes = (to - from) as u32 - bytes.len() as u32;
        Payload { bytes, absent_bytes }
    }
}

/// What the receiver keeps for the application.
#[derive(Clone, Debug, Default)]
pub(super) struct ReceiveStream {
    /// Whether bytes are kept; else they are only counted.
    keeps: bool,
    /// Segments that arrived before earlier ones, by position.
    early: BTreeMap<u64, Payload>,
    /// Bytes in order that the application has not read.
    unread: VecDeque<u8>,
    unread_bytes: u64,
}

impl ReceiveStream {
    pub(super) fn new(keeps: bool) -> ReceiveStream {
        ReceiveStream { keeps, ..ReceiveStream::default() }
    }

    /// The bytes in order that the application has not read.
    pub(super) fn unread_bytes(&self) -> u64 {
        self.unread_bytes
    }

    /// Takes the bytes in a window of a segment at a position. They may overlap what arrived before.
    pub(super) fn take(&mut self, position: u64, payload: View<'_>, next: u64, window_end: u64) {
        if !self.keeps {
            return;
        }
        let length = (payload.length() as u64).min(window_end.saturating_sub(position));
        let skipped = next.saturating_sub(position);
        if skipped >= length {
            return;
        }
        let part = payload.take(length as usize).skip(skipped as usize);
        let position = position + skipped;
        let longer = |known: &Payload| known.length() >= part.length() as u64;
        if !self.early.get(&position).is_some_and(longer) {
            let bytes = part.bytes.to_vec();
            self.early.insert(position, Payload { bytes, absent_bytes: part.absent_bytes });
        }
    }

    /// Notes that everything from one position to another is there.
    pub(super) fn advance(&mut self, from: u64, to: u64) {
        self.unread_bytes += to - from;
        let mut at = from;
        while self.keeps && at < to {
            let Some((position, payload)) = self.early.pop_first() else { return };
            let skipped = (at - position.min(at)) as usize;
            let part = payload.view().skip(skipped);
            let length = part.length().min((to - at) as usize);
            let part = part.take(length);
            self.unread.extend(part.bytes);
            let stored = self.unread.len() + part.absent_bytes as usize;
            self.unread.resize(stored, 0);
            at += length as u64;
        }
    }

    /// Reads up to `most` bytes; only their number if bytes are not kept.
    pub(super) fn read(&mut self, most: u64) -> (u64, Vec<u8>) {
        let count = most.min(self.unread_bytes);
        self.unread_bytes -= count;
        let kept = if self.keeps { count as usize } else { 0 };
        (count, self.unread.drain(..kept).collect())
    }
}
