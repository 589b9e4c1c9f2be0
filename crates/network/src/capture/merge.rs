// SPDX-License-Identifier: Apache-2.0
//! Merges the captures of several ports into one sequence of arrivals, ordered by time stamp, then port, then position in
//! the file. Packets of one capture keep their order, also where its clock steps back.

use super::{CaptureError, CaptureReader, CapturedPacket};
use std::io::Read;

/// A packet and the port it arrives at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrivingPacket {
    /// The ingress port.
    pub port: u32,
    /// The packet as it is in its file.
    pub packet: CapturedPacket,
}

#[derive(Debug)]
struct Source<R> {
    port: u32,
    reader: CaptureReader<R>,
    /// The packet to hand out next, and when.
    head: Option<(i128, CapturedPacket)>,
    /// The latest time stamp so far, below which the time of this source does not fall.
    latest_ps: i128,
}

impl<R: Read> Source<R> {
    fn advance(&mut self) -> Result<(), CaptureError> {
        self.head = match self.reader.next().transpose()? {
            Some(packet) => {
                self.latest_ps = self.latest_ps.max(packet.timestamp_ps);
                Some((self.latest_ps, packet))
            }
            None => None,
        };
        Ok(())
    }
}

/// Iterates over the packets of several captures by time of arrival, holding one packet a capture.
///
/// A damaged capture yields its error once, after its last good packet, and the others continue.
#[derive(Debug)]
pub struct MergedCaptures<R> {
    sources: Vec<Source<R>>,
    errors: std::collections::VecDeque<CaptureError>,
}

impl<R: Read> MergedCaptures<R> {
    /// Merges captures, each with the port its packets arrive at. Two captures may have the same
    /// port; of equal times the one named first goes first.
    pub fn new(captures: impl IntoIterator<Item = (u32, CaptureReader<R>)>) -> MergedCaptures<R> {
        let mut sources: Vec<_> = captures
            .into_iter()
            .map(|(port, reader)| Source { port, reader, head: None, latest_ps: i128::MIN })
            .collect();
        sources.sort_by_key(|source| source.port);
        let errors = sources.iter_mut().filter_map(|source| source.advance().err()).collect();
        MergedCaptures { sources, errors }
    }
}

impl<R: Read> Iterator for MergedCaptures<R> {
    type Item = Result<ArrivingPacket, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.errors.pop_front() {
            return Some(Err(error));
        }
        // The sources are in order of port and `min_by_key` keeps the first of equals.
        let source = self
            .sources
            .iter_mut()
            .filter(|source| source.head.is_some())
            .min_by_key(|source| source.head.as_ref().map(|(time_ps, _)| *time_ps))?;
        let (_, packet) = source.head.take()?;
        let port = source.port;
        if let Err(error) = source.advance() {
            self.errors.push_back(error);
        }
        Some(Ok(ArrivingPacket { port, packet }))
    }
}
