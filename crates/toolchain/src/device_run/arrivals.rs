// SPDX-License-Identifier: Apache-2.0
//! [`Arrivals`]: the packets of a run's captures in the order of arrival. Prints remarks on captures: on cut packets before
//! the first packet where the capture's header tells, others before the packet that they are about.

use frontend::{Console, coded};
use network::capture::{
    ArrivingPacket, CaptureError, CaptureInput, CaptureReader, MergedCaptures, Remark,
    first_snapped,
};
use std::path::{Path, PathBuf};

/// The name of standard input among captures.
const STANDARD_INPUT: &str = "-";

/// The packets of captures.
pub(crate) struct Arrivals<'c> {
    packets: MergedCaptures<CaptureInput>,
    /// Whether cut packets are filled with zeros, which needs no remark.
    pads_snapped: bool,
    /// The remarks that were printed before the first packet.
    printed: Vec<Remark>,
    console: &'c dyn Console,
}

impl<'c> Arrivals<'c> {
    /// Opens captures, each with the port that its packets arrive at.
    ///
    /// # Errors
    ///
    /// A file cannot be opened or is not a capture.
    pub(crate) fn open(
        inputs: &[(u32, PathBuf)],
        pads_snapped: bool,
        console: &'c dyn Console,
    ) -> Result<Arrivals<'c>, String> {
        let (mut readers, mut printed) = (Vec::new(), Vec::new());
        for (port, path) in inputs {
            let refused =
                |error: CaptureError| coded(error.code().0, &error.with_path(path).to_string());
            let is_file = path.as_path() != Path::new(STANDARD_INPUT);
            let reader = match is_file {
                true => CaptureReader::open(path),
                false => CaptureReader::standard_input(),
            };
            readers.push((*port, reader.map_err(refused)?));
            if is_file && path.is_file() && !pads_snapped {
                printed.extend(first_snapped(path).map_err(refused)?);
            }
        }
        for remark in &printed {
            console.warning(&remark.to_string());
        }
        let packets = MergedCaptures::new(readers).filling_up(pads_snapped);
        Ok(Arrivals { packets, pads_snapped, printed, console })
    }
}

impl Iterator for Arrivals<'_> {
    type Item = Result<ArrivingPacket, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.packets.next();
        while let Some(remark) = self.packets.next_remark() {
            let is_needless = self.pads_snapped && remark.is_about_snapped_packets();
            if !is_needless && !self.printed.contains(&remark) {
                self.console.warning(&remark.to_string());
            }
        }
        next
    }
}
