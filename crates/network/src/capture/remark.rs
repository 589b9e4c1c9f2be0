// SPDX-License-Identifier: Apache-2.0
//! [`Remark`]: properties of a capture that change what a run of its packets means: packets that the snap length cut, and
//! times that go back.

use super::{CaptureError, CaptureReader, CapturedPacket};
use source::Code;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Packets are cut by the capture's snap length.
const SNAPPED: Code = Code("NET-W0101");
/// Times of a capture go back.
const TIME_GOES_BACK: Code = Code("NET-W0102");

/// The shortest snap length that cuts no packet of Ethernet.
const WHOLE_PACKETS_BYTES: u32 = 65_535;

/// A remark on a capture, about the first packet that it applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The stable code.
    pub code: Code,
    /// The file; `None` is standard input.
    pub path: Option<PathBuf>,
    /// The remark and advice.
    text: String,
}

impl Remark {
    /// Remarks that the capture has cut a packet, the record of this number.
    pub(super) fn snapped(path: Option<&Path>, record: u64, packet: &CapturedPacket) -> Remark {
        let text = format!(
            "record {record} has only {} of the packet's {} bytes (snap length)\n  help: capture whole packets \
             (`tcpdump -s 0`), or fill the missing bytes with zeros (`--pad-snapped`); without it, programs see \
             short packets, and lengths and byte counters count the bytes in the file",
            packet.data.len(),
            packet.original_length_bytes
        );
        Remark { code: SNAPPED, path: path.map(Path::to_path_buf), text }
    }

    /// Remarks that a packet, the record of this number, is earlier than the one before it.
    pub(super) fn time_goes_back(path: Option<&Path>, record: u64, back_ps: i128) -> Remark {
        let nanoseconds = back_ps / 1000;
        let by = format!("{}.{:09}", nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000);
        let by = by.trim_end_matches('0').trim_end_matches('.');
        let text = format!(
            "record {record} is {by} s earlier than the latest packet before it\n  help: it arrives at the time of \
             that packet, and so do later ones until the capture's time has caught up; `reordercap` sorts a capture"
        );
        Remark { code: TIME_GOES_BACK, path: path.map(Path::to_path_buf), text }
    }

    /// Whether it is about packets that their capture has cut.
    pub fn is_about_snapped_packets(&self) -> bool {
        self.code == SNAPPED
    }
}

impl std::fmt::Display for Remark {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "warning[{}]: ", self.code)?;
        match &self.path {
            Some(path) => write!(formatter, "`{}`: ", path.display())?,
            None => write!(formatter, "standard input: ")?,
        }
        formatter.write_str(&self.text)
    }
}

/// Looks for a packet that a file's snap length has cut. Files with a snap length that cuts no packet of Ethernet are not
/// searched beyond their first packet.
///
/// # Errors
///
/// The file cannot be opened. A fault in its records ends the search.
pub fn first_snapped(path: &Path) -> Result<Option<Remark>, CaptureError> {
    let mut reader = CaptureReader::open(path)?;
    while let Some(Ok(packet)) = reader.next() {
        if packet.is_snapped() {
            return Ok(Some(Remark::snapped(Some(path), reader.records_read(), &packet)));
        }
        if !may_cut(&reader) {
            break;
        }
    }
    Ok(None)
}

fn may_cut<R: Read>(reader: &CaptureReader<R>) -> bool {
    reader.snap_length_bytes().is_some_and(|bytes| (1..WHOLE_PACKETS_BYTES).contains(&bytes))
}
