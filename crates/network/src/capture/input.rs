// SPDX-License-Identifier: Apache-2.0
//! The byte-counting input that the readers of both capture formats share, and what a step of reading
//! gives.

use super::{CaptureErrorKind, CapturedPacket};
use std::io::{self, Read};

/// The byte order of the machine that wrote a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteOrder {
    /// Most significant byte first.
    Big,
    /// Least significant byte first.
    Little,
}

impl ByteOrder {
    /// The first two of `bytes` as a number. Shorter input reads as if zeros preceded it; callers
    /// hand over slices of fixed buffers.
    pub(super) fn u16(self, bytes: &[u8]) -> u16 {
        self.number(bytes, 2) as u16
    }

    /// The first four of `bytes` as a number.
    pub(super) fn u32(self, bytes: &[u8]) -> u32 {
        self.number(bytes, 4) as u32
    }

    /// The first eight of `bytes` as a number.
    pub(super) fn u64(self, bytes: &[u8]) -> u64 {
        self.number(bytes, 8)
    }

    fn number(self, bytes: &[u8], size: usize) -> u64 {
        let accumulate = |value: u64, byte: &u8| (value << 8) | u64::from(*byte);
        match self {
            ByteOrder::Big => bytes.iter().take(size).fold(0, accumulate),
            ByteOrder::Little => bytes.iter().take(size).rev().fold(0, accumulate),
        }
    }
}

/// An input that knows where in the file it is.
#[derive(Debug)]
pub(super) struct CountedInput<R> {
    inner: R,
    /// How many bytes have been read.
    pub(super) offset_bytes: u64,
}

impl<R: Read> CountedInput<R> {
    /// The input from its beginning.
    pub(super) fn new(inner: R) -> CountedInput<R> {
        CountedInput { inner, offset_bytes: 0 }
    }

    /// Fills as much of `buffer` as the input has; less than all of it only at the end.
    pub(super) fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, CaptureErrorKind> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.inner.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(CaptureErrorKind::Read(source::reason(&error))),
            }
        }
        self.offset_bytes = self.offset_bytes.saturating_add(filled as u64);
        Ok(filled)
    }

    /// Fills all of `buffer`, or says that the file ends inside `what`.
    pub(super) fn fill_all(
        &mut self,
        buffer: &mut [u8],
        what: &'static str,
    ) -> Result<(), CaptureErrorKind> {
        let filled = self.fill(buffer)?;
        if filled < buffer.len() {
            return Err(CaptureErrorKind::Truncated {
                what,
                needed_bytes: buffer.len() as u64,
                present_bytes: filled as u64,
            });
        }
        Ok(())
    }

    /// Fills all of `buffer` and returns true, or returns false at a clean end of the file.
    pub(super) fn fill_all_or_end(
        &mut self,
        buffer: &mut [u8],
        what: &'static str,
    ) -> Result<bool, CaptureErrorKind> {
        match self.fill(buffer)? {
            0 => Ok(false),
            filled if filled < buffer.len() => Err(CaptureErrorKind::Truncated {
                what,
                needed_bytes: buffer.len() as u64,
                present_bytes: filled as u64,
            }),
            _ => Ok(true),
        }
    }

    /// Reads `length_bytes`, which the caller has checked against a limit, into a new buffer.
    pub(super) fn take(
        &mut self,
        length_bytes: usize,
        what: &'static str,
    ) -> Result<Vec<u8>, CaptureErrorKind> {
        let mut buffer = vec![0; length_bytes];
        self.fill_all(&mut buffer, what)?;
        Ok(buffer)
    }

    /// Passes over `length_bytes` without keeping them.
    pub(super) fn skip(
        &mut self,
        length_bytes: u64,
        what: &'static str,
    ) -> Result<(), CaptureErrorKind> {
        let skipped = io::copy(&mut (&mut self.inner).take(length_bytes), &mut io::sink())
            .map_err(|error| CaptureErrorKind::Read(source::reason(&error)))?;
        self.offset_bytes = self.offset_bytes.saturating_add(skipped);
        if skipped < length_bytes {
            return Err(CaptureErrorKind::Truncated {
                what,
                needed_bytes: length_bytes,
                present_bytes: skipped,
            });
        }
        Ok(())
    }
}

/// What one record of a file gave.
#[derive(Debug)]
pub(super) enum Step {
    /// A packet.
    Packet(CapturedPacket),
    /// Something that is not a packet.
    Other,
    /// The end of the file.
    End,
}

/// Takes the frame check sequence off the end of a packet that carries one: what a switch's
/// program sees does not have it. Of a snapped packet as much as is there goes.
pub(super) fn without_frame_check_sequence(
    data: &mut Vec<u8>,
    original_length_bytes: u32,
    sequence_length_bytes: u32,
) -> u32 {
    let without = original_length_bytes.saturating_sub(sequence_length_bytes);
    data.truncate(usize::try_from(without).unwrap_or(usize::MAX));
    without
}
