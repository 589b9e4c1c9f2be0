// SPDX-License-Identifier: Apache-2.0
//! Merges the captures of several ports into one sequence of arrivals, ordered by time stamp, then port, then position in
//! the file. Packets of one capture keep their order, also where its clock steps back.

use super::{CaptureError, CaptureReader, CapturedPacket, Remark};
use std::collections::VecDeque;
use std::io::Read;

/// A packet and the port it arrives at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrivingPacket {
    /// The ingress port.
    pub port: u32,
    /// The packet as it is in its file, or filled up.
    pub packet: CapturedPacket,
    /// Whether its capture has cut it.
    pub is_snapped: bool,
}

#[derive(Debug)]
struct Source<R> {
    port: u32,
    reader: CaptureReader<R>,
    /// Whether the next packet has been read into `head`. A live capture is not read before its last packet has been
    /// handed out.
    is_read: bool,
    /// The packet to hand out next, and when.
    head: Option<(i128, CapturedPacket)>,
    /// The latest time stamp so far, below which the time of this source does not fall.
    latest_ps: i128,
    /// Whether a remark on cut packets was made.
    has_snapped: bool,
    /// Whether a remark on times that go back was made.
    went_back: bool,
}

impl<R: Read> Source<R> {
    fn advance(&mut self, remarks: &mut VecDeque<Remark>) -> Result<(), CaptureError> {
        self.is_read = true;
        let Some(packet) = self.reader.next().transpose()? else { return Ok(()) };
        let (path, record) = (self.reader.path(), self.reader.records_read());
        if packet.is_snapped() && !self.has_snapped {
            self.has_snapped = true;
            remarks.push_back(Remark::snapped(path, record, &packet));
        }
        if packet.timestamp_ps < self.latest_ps && !self.went_back {
            self.went_back = true;
            let back_ps = self.latest_ps - packet.timestamp_ps;
            remarks.push_back(Remark::time_goes_back(path, record, back_ps));
        }
        self.latest_ps = self.latest_ps.max(packet.timestamp_ps);
        self.head = Some((self.latest_ps, packet));
        Ok(())
    }
}

/// Iterates over the packets of several captures by time of arrival, holding one packet a capture.
///
/// A damaged capture yields its error once, after its last good packet, and the others continue.
#[derive(Debug)]
pub struct MergedCaptures<R> {
    sources: Vec<Source<R>>,
    errors: VecDeque<CaptureError>,
    remarks: VecDeque<Remark>,
    fills_up: bool,
}

impl<R: Read> MergedCaptures<R> {
    /// Merges captures, each with the port its packets arrive at. Two captures may have the same
    /// port; of equal times the one named first goes first.
    pub fn new(captures: impl IntoIterator<Item = (u32, CaptureReader<R>)>) -> MergedCaptures<R> {
        let source = |(port, reader)| Source {
            port,
            reader,
            is_read: false,
            head: None,
            latest_ps: i128::MIN,
            has_snapped: false,
            went_back: false,
        };
        let mut sources: Vec<_> = captures.into_iter().map(source).collect();
        sources.sort_by_key(|source| source.port);
        let (errors, remarks) = (VecDeque::new(), VecDeque::new());
        MergedCaptures { sources, errors, remarks, fills_up: false }
    }

    /// Fills packets that their capture has cut with zeros, up to their length on the wire.
    #[must_use]
    pub fn filling_up(mut self, fills_up: bool) -> MergedCaptures<R> {
        self.fills_up = fills_up;
        self
    }

    /// Takes the next remark on the packets read so far.
    pub fn next_remark(&mut self) -> Option<Remark> {
        self.remarks.pop_front()
    }
}

impl<R: Read> Iterator for MergedCaptures<R> {
    type Item = Result<ArrivingPacket, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        for source in self.sources.iter_mut().filter(|source| !source.is_read) {
            if let Err(error) = source.advance(&mut self.remarks) {
                self.errors.push_back(error);
            }
        }
        if let Some(error) = self.errors.pop_front() {
            return Some(Err(error));
        }
        // The sources are in order of port and `min_by_key` keeps the first of equals.
        let source = self
            .sources
            .iter_mut()
            .filter(|source| source.head.is_some())
            .min_by_key(|source| source.head.as_ref().map(|(time_ps, _)| *time_ps))?;
        let (_, mut packet) = source.head.take()?;
        source.is_read = false;
        let is_snapped = packet.is_snapped();
        if self.fills_up {
            packet.fill_up();
        }
        Some(Ok(ArrivingPacket { port: source.port, packet, is_snapped }))
    }
}
